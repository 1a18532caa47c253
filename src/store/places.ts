import { refuse, type Refusal } from '../kernel/refusal.ts';
import type { Place, Places } from '../kernel/ports.ts';
import type { FileProblem } from '../lib/atomic-file.ts';
import { basename } from 'node:path';
import { err, ok, type Result } from '../lib/result.ts';
import { sha256 } from '../lib/sha256.ts';
import { listCheckouts, type Checkout } from './checkout.ts';
import { ensurePlace } from './new-place.ts';
import { readPlace, tidyPlace } from './place.ts';

/**
 * The places of a project, seen from one checkout; `isShared` where other machines have some too. The other checkouts are only
 * looked for when a session is not from here.
 */
export const createPlaces = (
  checkout: Checkout,
  freshId: () => string,
  { isShared = false } = {},
): Result<Places, Refusal> => {
  const read = readPlace(checkout.placeFolder);
  if (!read.ok) return err(refuseFolder(read.error));
  let claimed = read.value;
  const here: Place = {
    // Who keeps a store open for long may have been there before the place was made, by itself or by somebody else.
    get id() {
      if (claimed === null) {
        const found = readPlace(checkout.placeFolder);
        if (found.ok) claimed = found.value;
      }
      return claimed;
    },
    root: checkout.root,
    worktree: checkout.worktree,
    // A detached head is about its commit, so that work on another commit is not taken for it.
    branch: checkout.branch ?? (checkout.head === null ? null : `detached-${checkout.head.slice(0, 12)}`),
    label: basename(checkout.root),
  };
  let others: readonly Place[] | undefined;
  const all = (): readonly Place[] => {
    others ??= listCheckouts(checkout).map((listed) => ({
      id: listed.placeId,
      root: listed.root,
      worktree: listed.worktree,
      branch: listed.branch,
      label: basename(listed.root),
    }));
    return others;
  };
  let tidied = false;
  return ok({
    here,
    claim: () => {
      if (!tidied) tidyPlace(checkout.placeFolder);
      tidied = true;
      if (claimed !== null) return ok(claimed);
      const made = ensurePlace(checkout.placeFolder, freshId());
      if (!made.ok) {
        const refusal = refuseFolder(made.error);
        // A checkout that may not be written, used with a store elsewhere, goes by its path.
        return refusal.code === 'damaged' ? err(refusal) : ok(`at-${sha256(checkout.root).slice(0, 24)}`);
      }
      claimed = made.value;
      return made;
    },
    homeOf: (session) => {
      if (session.place === here.id) return here;
      const places = all();
      const own = places.find((place) => place.id === session.place);
      if (own !== undefined) return own;
      if (isShared) return elsewhere(session);
      return (
        places.find((place) => place.branch !== null && place.branch === session.branch) ??
        places.find((place) => place.worktree === 'main') ??
        here
      );
    },
  });
};

/** A checkout of another machine, as far as anything is known of it: no path leads there. */
const elsewhere = ({ place, branch }: { readonly place: string; readonly branch: string | null }): Place => ({
  id: place,
  // Nothing can lie below it.
  root: '/dev/null',
  worktree: 'elsewhere',
  branch,
  label: 'elsewhere',
  isElsewhere: true,
});

/** A folder that cannot be used, as a refusal that names it and the way out. */
export const refuseFolder = ({ path, problem, code }: FileProblem): Refusal =>
  code === 'ENOSPC' || code === 'EDQUOT'
    ? refuse('invariant-unmet', `There is no room left: ${path} ${problem}.`, {
        expected: 'free space on that disk',
        hint: 'make room and run the same command again',
      })
    : code === 'EACCES' || code === 'EPERM' || code === 'EROFS'
      ? refuse('invariant-unmet', `The store folder cannot be used: ${path} ${problem}.`, {
          expected: 'a store folder that this process may read and write',
          hint: 'change the rights of the folder, or name another store with --store or STINT_STORE',
        })
      : refuse('damaged', `${path} ${problem}.`, {
          hint: 'put it right, or name another store with --store or STINT_STORE',
        });
