import { chmodSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StoreFailure, type Store } from '../kernel/ports.ts';
import { errnoCode, fileProblem, makeFolders } from '../lib/atomic-file.ts';
import { listCopies, type Copy } from './store-files.ts';

/**
 * Rolling copies: what brings a store back that was deleted with its folder. They lie under the user's state directory, in a
 * folder that is named by the store's id; the id itself also lies beside what `git clean` leaves alone.
 */

/** How many copies are kept of a store. */
const mostCopies = 3;

/** The least time between two copies, in milliseconds: an hour. */
const leastAge = 3_600_000;

/**
 * Keeps a copy of the store as it is now, at most one an hour, and the newest three. What goes wrong is answered as a
 * warning: the verb that it comes after is done.
 */
export const keepCopy = async (store: Store, folder: string, now: string): Promise<string | undefined> => {
  // The clock may have gone back since: then a copy that is named later is not the newest one.
  const isRecent = (copy: Copy): boolean => Math.abs(Date.parse(now) - Date.parse(copy.at)) < leastAge;
  if (listCopies(folder).some(isRecent)) return undefined;
  const path = join(folder, `${now.slice(0, 19).replaceAll(':', '')}Z.db`);
  const temporary = `${path}.${process.pid}`;
  try {
    makeFolders(folder, 0o700);
    rmSync(temporary, { force: true });
    // A copy of what is damaged would sooner or later be the only one.
    if ((await store.verify()).some(({ isDamage }) => isDamage === true))
      return 'no copy of the store was kept: it is damaged (stint doctor)';
    if (!(await store.copyTo(temporary))) return undefined;
    chmodSync(temporary, 0o600);
    renameSync(temporary, path);
    const others = listCopies(folder).filter((copy) => copy.path !== path);
    for (const old of others.slice(mostCopies - 1)) rmSync(old.path, { force: true });
    return undefined;
  } catch (error) {
    removeQuietly(temporary);
    const problem =
      error instanceof StoreFailure
        ? error.refusal.message
        : errnoCode(error) === null
          ? String(error)
          : fileProblem(folder, error).problem;
    return `no copy of the store was kept: ${folder} ${problem}`;
  }
};

const removeQuietly = (path: string): void => {
  try {
    rmSync(path, { force: true });
  } catch {
    // What kept the copy from being made keeps it from being taken away as well.
  }
};
