import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Kinds } from '../kernel/kind.ts';
import { StoreFailure, type Damage, type Store } from '../kernel/ports.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { errnoCode, fileProblem } from '../lib/atomic-file.ts';
import { prepareFolder } from './own-folder.ts';
import { refuseFolder } from './places.ts';
import { gatherRemains, type Remains } from './remains.ts';
import { refuseMissing, type StoreFiles } from './store-files.ts';
import { openDatabase, type Database } from './sqlite/database.ts';
import { migrate, openFile, openMemory, refuseNoFile } from './sqlite/open.ts';
import { readWhole } from './sqlite/kept-files.ts';
import { forgetUnfinished, markUnfinished } from './sqlite/unfinished.ts';
import { fillStore } from './sqlite/restore.ts';
import { checkFile, createSqliteStore } from './sqlite/store.ts';
import { keepTip } from './sqlite/tip.ts';
import { verifyStore } from './sql/verify.ts';

/** A store in memory that holds the remains, to be read and not written. */
export const openRemains = (remains: Remains, kinds: Kinds, name: string, refusal: Refusal, now: string): Store => {
  const { database } = openMemory();
  fillStore(database, kinds, remains, now, { onRecord: false });
  return createSqliteStore(database, kinds, { name, readOnly: refusal });
};

/** The same for whoever looks after the store. */
export const describeRemains = ({ sessions, lost }: Remains, refusal: Refusal): Damage => ({
  refusal,
  sessions: sessions.map(({ key, events, flaw, source }) => ({ key, events: events.length, flaw, source })),
  lost,
});

/** Whether a store is damaged so that its projections made anew would not help. */
export const isDamagedStore = (files: StoreFiles, kinds: Kinds): boolean => {
  const size = statSync(files.path, { throwIfNoEntry: false })?.size;
  if (refuseMissing(files, size) !== undefined) return true;
  try {
    // Left open: closing it would write the log into a file that may be damaged, before anything was saved of either.
    const { database } = openFile(files.path, { create: false, anyFileSystem: true });
    const check = () => checkFile(files.path);
    return database.do(verifyStore({ check }, kinds)).some(({ isDamage }) => isDamage === true);
  } catch (error) {
    if (error instanceof StoreFailure) return error.refusal.code === 'damaged';
    throw error;
  }
};

/** What a repair has done. */
export interface Repair {
  readonly remains: Remains;
  /** The folder in which the damaged files are kept; null where there were none. */
  readonly kept: string | null;
}

/**
 * Makes the store anew from its remains and puts it in the place of the damaged one, whose files are kept aside. Nobody
 * repairs at the same time; whoever waits for the old store finds that it was replaced. Killed at any moment it leaves
 * either the old files or the new ones, and what the next repair needs to go on. Undefined where somebody else was faster.
 */
export const repairStore = (
  files: StoreFiles,
  kinds: Kinds,
  now: string,
  isDamaged: () => boolean,
): Repair | undefined => {
  const { path } = files;
  const noFile = refuseNoFile(path);
  if (noFile !== undefined) throw new StoreFailure(noFile);
  if (files.idFile !== undefined) {
    // The folder may have gone with the store.
    const prepared = prepareFolder(dirname(path));
    if (!prepared.ok) throw new StoreFailure(refuseFolder(prepared.error));
  }
  try {
    return repairLocked(files, kinds, now, isDamaged);
  } catch (error) {
    // A full disk, a folder that may not be written: nothing was put in the place of anything.
    if (errnoCode(error) === null || error instanceof StoreFailure) throw error;
    throw new StoreFailure(refuseFolder(fileProblem(path, error)), error);
  }
};

const repairLocked = (files: StoreFiles, kinds: Kinds, now: string, isDamaged: () => boolean): Repair | undefined => {
  const { path } = files;
  // A lock that ends with the process that holds it, whatever became of the store.
  closeSync(openSync(`${path}-repair`, 'a', 0o600));
  const lock = openDatabase(`${path}-repair`, { readOnly: false });
  // Nothing is ever written into it: no journal has to outlive whoever is killed.
  lock.exec('PRAGMA journal_mode = MEMORY');
  try {
    return lock.write(() => {
      if (!isDamaged()) {
        // The last repair was killed when it was all but done.
        forgetUnfinished(path);
        return { commit: false, value: undefined };
      }
      return { commit: false, value: whileNobodyWrites(path, () => remake(files, kinds, now)) };
    });
  } finally {
    lock.close();
  }
};

const remake = (files: StoreFiles, kinds: Kinds, now: string): Repair => {
  const { path } = files;
  const remains = gatherRemains(files, kinds);
  if (remains.sessions.length === 0 && files.idFile === undefined) {
    throw new StoreFailure(
      refuse('damaged', `Nothing of a store can be read in ${path}; it is left as it is.`, {
        expected: 'a store of stint',
        hint: 'name another one with --store',
      }),
    );
  }
  const fresh = `${path}-new`;
  for (const suffix of ['', '-wal', '-shm']) rmSync(fresh + suffix, { force: true });
  // Made with its mode before SQLite opens it, which gives its companions the same mode.
  closeSync(openSync(fresh, 'a', 0o600));
  const database = openDatabase(fresh, { readOnly: false });
  try {
    migrate(database);
    fillStore(database, kinds, remains, now);
  } finally {
    // Closing writes the log into the file and takes it away.
    database.close();
  }
  return { remains, kept: replaceStore(path, fresh, now) };
};

const companions = ['', '-wal', '-shm', '-tip'];

/**
 * Puts a new store into place, and keeps the old one aside. The file goes before its log, which would be written into another
 * one, and a file without its log would pass for an older state of the store. Whoever comes in between finds the mark.
 */
const replaceStore = (path: string, fresh: string, now: string): string | null => {
  const kept = keepAside(path, now);
  if (kept !== null) markUnfinished(path, kept);
  for (const suffix of companions) rmSync(path + suffix, { force: true });
  keepTip(path, new Map(), true);
  renameSync(fresh, path);
  forgetUnfinished(path);
  return kept;
};

/**
 * Does something while nobody else writes a store, as far as it can still be locked: what is written after its remains were
 * read would be lost. The connection stays open: closing it would write the log into the file.
 */
const whileNobodyWrites = <Value>(path: string, action: () => Value): Value => {
  const old = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0 ? openQuietly(path) : undefined;
  if (old === undefined) return action();
  let isLocked = false;
  try {
    return old.write(() => {
      isLocked = true;
      return { commit: false, value: action() };
    });
  } catch (error) {
    // Where it cannot even be locked, nobody can write it.
    if (!isLocked && error instanceof StoreFailure && error.refusal.code === 'damaged') return action();
    throw error;
  }
};

const openQuietly = (path: string): Database | undefined => {
  try {
    return openDatabase(path, { readOnly: false });
  } catch (error) {
    if (error instanceof StoreFailure) return undefined;
    throw error;
  }
};

/** Keeps the files of a store under a name of their own; null where there are none. */
const keepAside = (path: string, now: string): string | null => {
  const there = companions.filter((suffix) => existsSync(path + suffix));
  if (there.length === 0) return null;
  const base = `${path}.damaged-${now.slice(0, 19).replaceAll(/[:-]/g, '')}`;
  let kept = base;
  for (let number = 2; existsSync(kept); number += 1) kept = `${base}-${number}`;
  mkdirSync(kept, { mode: 0o700 });
  for (const suffix of there) {
    const target = join(kept, basename(path) + suffix);
    try {
      linkSync(path + suffix, target);
    } catch {
      writeFileSync(target, readWhole(path + suffix), { mode: 0o600 });
    }
  }
  return kept;
};
