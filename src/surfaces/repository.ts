import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Fingerprints, Repository, RepositoryLook } from '../kernel/outside.ts';
import { errnoCode } from '../lib/atomic-file.ts';
import { gitIn, readStatus, type Git, type Printed, type Variables } from './git.ts';
import { digestOf } from './project-files.ts';

/** A checkout for whoever works on elsewhere: what is checked out, what is changed, and fingerprints of both. */

/** Changes may be large, and somebody waits for all of them. */
const patience = { milliseconds: 30_000, bytes: 128 * 1024 * 1024 };

/** Most files that git does not know of which the content is looked at. */
const mostUntracked = 5000;

/** What git would do otherwise where somebody has set it so. */
const plain = [
  'status.branch=false',
  'status.showStash=false',
  'status.aheadBehind=false',
  'status.renames=true',
  'status.relativePaths=true',
  'diff.noprefix=false',
  'diff.mnemonicPrefix=false',
  'diff.context=3',
  'diff.algorithm=myers',
  'diff.renames=true',
  'diff.submodule=short',
].flatMap((setting) => ['-c', setting]);

/** Looks at the checkout of a root. No program that its settings name is started. */
export const lookAtRepository = async (env: Variables, root: string): Promise<RepositoryLook> => {
  if (!existsSync(join(root, '.git'))) return { available: false, because: undefined };
  const git: Git = async (...args) => gitIn(root, env, patience)(...plain, ...args);
  const diff = ['diff', '--no-ext-diff', '--no-textconv', '--no-color'];
  const asked = await Promise.all([
    git('rev-parse', '--abbrev-ref', 'HEAD'),
    git('rev-parse', '--verify', 'HEAD'),
    git('status', '--porcelain=v2', '-z', '--untracked-files=all'),
    git('status', '--short'),
    git(...diff, 'HEAD', '--'),
    git(...diff, '--numstat', '-z', 'HEAD', '--'),
    git(...diff, '--numstat', 'HEAD', '--'),
  ]);
  const unanswered = asked.find(({ kind }) => kind !== 'printed');
  if (unanswered !== undefined) return { available: false, because: reasonOf(unanswered) };
  const [branch, commit, status, short, patch, summary, numbers] = asked.map((one) =>
    one.kind === 'printed' ? one : { text: '', bytes: Buffer.alloc(0) },
  ) as [Output, Output, Output, Output, Output, Output, Output];
  const { paths, untracked } = readStatus(status.text);
  return {
    available: true,
    branch: branch.text.trim(),
    commit: commit.text.trim(),
    dirtyPaths: paths,
    changes: changesIn(summary.text),
    fingerprints: fingerprintsOf(root, status.bytes, patch.bytes, summary.bytes, untracked),
    originalFingerprints: originalOf(short.text, patch.text, numbers.text),
    patch: patch.text,
  };
};

interface Output {
  readonly text: string;
  readonly bytes: Buffer;
}

const reasonOf = (printed: Printed): string => {
  switch (printed.kind) {
    case 'failed':
      return printed.said.trim();
    case 'no-git':
      return 'git is not installed here';
    case 'too-long':
    case 'printed':
      return 'git took too long, or printed too much';
  }
};

const changesIn = (text: string): Repository['changes'] => {
  const changes: { path: string; added: number | null; deleted: number | null }[] = [];
  const parts = text.split('\0');
  for (let at = 0; at < parts.length; at += 1) {
    const [, added = '', deleted = '', named = ''] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(parts[at] ?? '') ?? [];
    if (added === '') continue;
    // What was renamed has both of its names behind it.
    const path = named === '' ? parts[(at += 2)] : named;
    const lines = (count: string): number | null => (count === '-' ? null : Number(count));
    if (path !== undefined) changes.push({ path, added: lines(added), deleted: lines(deleted) });
  }
  return changes;
};

const createSha256 = () => process.getBuiltinModule('node:crypto').createHash('sha256');

const fingerprintsOf = (
  root: string,
  status: Buffer,
  patch: Buffer,
  summary: Buffer,
  untracked: readonly string[],
): Fingerprints => {
  if (status.length === 0) return { dirty: undefined, status: undefined, patchSummary: undefined };
  const hash = createSha256().update('status\0').update(status).update('\0diff\0').update(patch);
  for (const [index, path] of untracked.entries())
    hash.update(`\0${path}\0${index < mostUntracked ? contentOf(join(root, path)) : ''}`);
  return {
    dirty: hash.digest('hex'),
    status: createSha256().update(status).digest('hex'),
    patchSummary: summary.length === 0 ? undefined : createSha256().update(summary).digest('hex'),
  };
};

/** What tells the content of a file from another one; of a link, where it leads. */
const contentOf = (path: string): string => {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return '';
    if (found.isSymbolicLink()) return readlinkSync(path);
    const digest = found.isFile() ? digestOf(path) : undefined;
    return digest?.ok === true ? digest.value.sha256 : '';
  } catch (error) {
    if (errnoCode(error) === null) throw error;
    return '';
  }
};

const originalOf = (short: string, patch: string, numbers: string): Fingerprints => {
  const [status, diff, summary] = [short.trim(), patch.trim(), numbers.trim()];
  const digest = (text: string): string => createSha256().update(text).digest('hex');
  return {
    dirty: status === '' ? undefined : digest(`STATUS\n${status}\nDIFF\n${diff}`),
    status: status === '' ? undefined : digest(status),
    patchSummary: summary === '' ? undefined : digest(summary),
  };
};
