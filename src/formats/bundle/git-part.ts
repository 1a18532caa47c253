import type { Fingerprints, Repository, RepositoryLook } from '../../kernel/outside.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';

/** What a bundle says of the checkout that it comes from, under the names of the original. */

/** Most paths that are named, and most files of which lines are counted one by one. */
const most = { paths: 100, changes: 50 };

/** Of what is not known there is the word that the original has for it. */
const unknown = 'None';

/** The checkout in a bundle of version 2; `root` is that of the project. */
export const gitPart2 = (look: RepositoryLook, root: string): JsonObject => {
  if (look.available) {
    const { fields, changes } = seen(look, look.originalFingerprints);
    return { available: true, project_root: root, ...fields, ...changes, error: unknown };
  }
  const { fields, changes } = notSeen;
  return look.because === undefined
    ? { available: false, project_root: root, ...fields, error: unknown }
    : { available: false, project_root: root, ...fields, ...changes, error: look.because };
};

/** The same in version 3: no path is absolute, fingerprints are those of bytes, and the changes come along where that is asked for. */
export const gitPart3 = (look: RepositoryLook, withPatch: boolean): JsonObject => {
  if (look.available) {
    const { fields, changes } = seen(look, look.fingerprints);
    return { available: true, ...fields, ...changes, error: unknown, patch: withPatch ? look.patch : null };
  }
  const { fields, changes } = notSeen;
  return { available: false, ...fields, ...changes, error: look.because ?? unknown, patch: null };
};

const seen = (look: Repository, { dirty, status, patchSummary }: Fingerprints) => {
  const count = (key: 'added' | 'deleted'): number =>
    look.changes.reduce((lines, change) => lines + (change[key] ?? 0), 0);
  return {
    fields: {
      branch: look.branch,
      commit_sha: look.commit,
      is_dirty: look.dirtyPaths.length > 0,
      dirty_paths: look.dirtyPaths.slice(0, most.paths),
      dirty_fingerprint: dirty ?? 'clean',
      status_fingerprint: status ?? 'clean',
    },
    changes: {
      patch_summary_fingerprint: patchSummary ?? 'clean',
      changed_file_count: look.changes.length,
      added_line_count: count('added'),
      deleted_line_count: count('deleted'),
      patch_summary: look.changes
        .slice(0, most.changes)
        .map(({ path, added, deleted }) => ({ path, added: added ?? 0, deleted: deleted ?? 0 })),
    },
  };
};

const notSeen = {
  fields: {
    branch: unknown,
    commit_sha: unknown,
    is_dirty: false,
    dirty_paths: [],
    dirty_fingerprint: unknown,
    status_fingerprint: unknown,
  },
  changes: {
    patch_summary_fingerprint: unknown,
    changed_file_count: 0,
    added_line_count: 0,
    deleted_line_count: 0,
    patch_summary: [],
  },
};
