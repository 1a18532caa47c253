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
import { prepareFolder } from './place.ts';
import { refuseFolder } from './places.ts';
import { copiesFolder, listCopies, readStoreId, refuseMissing, type StoreFiles } from './store-files.ts';
import { openDatabase, type Database } from './sqlite/database.ts';
import { migrate, openFile, openMemory } from './sqlite/open.ts';
import { readWhole } from './sqlite/kept-files.ts';
import { forgetUnfinished, markUnfinished, unfinishedRepairs } from './sqlite/unfinished.ts';
import { fillStore, type RestoredSession, type RestoredStore } from './sqlite/restore.ts';
import { salvageStore, type Salvaged, type SalvagedSession } from './sqlite/salvage/events.ts';
import { createSqliteStore } from './sqlite/store.ts';
import { readTip } from './sqlite/tip.ts';
import { verifyStore } from './sqlite/verify.ts';

/** What is left of a store, from all that can be found of it. */
export interface Remains extends RestoredStore {
  readonly sessions: readonly RemainingSession[];
  /** Sessions of which there are traces, and no events that can be proved. */
  readonly lost: readonly string[];
  /** The copy that was used; null where none was. */
  readonly copy: string | null;
}

/** A session with its events, and where they were found. */
export interface RemainingSession extends RestoredSession {
  readonly source: 'store' | 'copy';
  /** When the copy was made that it comes from. */
  readonly copy?: string;
}

/**
 * Reads what can be read: the pages of the store and of its log, of a repair that was interrupted, and of the rolling
 * copies. Of each session the longest chain of events that holds together is taken.
 */
export const gatherRemains = (files: StoreFiles): Remains => {
  const paths = [files.path, ...unfinishedRepairs(files.path)];
  const own = paths.map((path) => read(path));
  // What was answered is known by its number, where its log is lost.
  const answered = new Map<string, number>();
  for (const { session, seq } of paths.flatMap((path) => readTip(path)))
    answered.set(session, Math.max(seq, answered.get(session) ?? 0));
  const id = own.map(({ identity }) => identity.id).find((found) => found !== null);
  const folder = copiesFolder(files, id);
  // The newest one may be damaged as well, or named wrongly by a clock that went back.
  const copies = (folder === undefined ? [] : listCopies(folder)).map((copy) => ({ ...copy, ...read(copy.path) }));

  const best = new Map<string, RemainingSession>();
  const traces = new Set<string>(answered.keys());
  for (const { sessions, named } of own) {
    for (const key of named) traces.add(key);
    for (const session of sessions) {
      traces.add(session.key);
      keepLonger(best, {
        key: session.key,
        events: session.events,
        flaw: flawOf(session, answered.get(session.key) ?? 0),
        source: 'store',
      });
    }
  }
  for (const copy of copies) {
    for (const session of copy.sessions) {
      traces.add(session.key);
      const found = own.flatMap(({ sessions }) => sessions).filter(({ key }) => key === session.key);
      const expected = Math.max(answered.get(session.key) ?? 0, ...found.map((one) => one.expected ?? 0));
      const flaw =
        expected === session.events.length && session.certain
          ? null
          : `it comes from the copy of ${copy.at}: ${
              expected > session.events.length
                ? lostText(session.events.length + 1, expected)
                : 'whatever happened to it later is lost'
            }`;
      keepLonger(best, { key: session.key, events: session.events, flaw, source: 'copy', copy: copy.at });
    }
  }
  const sources = [...own, ...copies];
  const sessions = [...best.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return {
    identity: {
      id: id ?? copies[0]?.identity.id ?? (files.idFile === undefined ? null : (readStoreId(files.idFile) ?? null)),
      key: sources.map(({ identity }) => identity.key).find((key) => key !== null) ?? null,
    },
    sessions,
    requests: uniqueBy(
      sources.flatMap(({ requests }) => requests),
      (request) => request.id,
    ),
    // The last one that is recorded counts as the newest.
    mirrors: uniqueBy(
      sources.flatMap(({ mirrors }) => mirrors).toSorted((a, b) => a.source - b.source),
      (mirror) => `${mirror.place}\n${mirror.path}\n${mirror.source}\n${mirror.digest}`,
    ),
    lost: [...traces].filter((key) => (best.get(key)?.events.length ?? 0) === 0),
    copy: sessions.find(({ source }) => source === 'copy')?.copy ?? null,
  };
};

const keepLonger = (best: Map<string, RemainingSession>, found: RemainingSession): void => {
  const known = best.get(found.key);
  if (found.events.length > 0 && (known === undefined || isBetter(found, known))) best.set(found.key, found);
};

const isBetter = (found: RemainingSession, known: RemainingSession): boolean => {
  // A copy may be of a history that was given up, as when an older copy was put back: it only goes on where the store ends.
  const isOther = found.events[known.events.length - 1]?.hash !== known.events.at(-1)?.hash;
  if (found.source === 'copy' && known.source === 'store' && (known.flaw === null || isOther)) return false;
  return (
    found.events.length > known.events.length ||
    (found.events.length === known.events.length && known.flaw !== null && found.flaw === null)
  );
};

/** What is not known of a session that was read from damaged pages. */
const flawOf = ({ certain, lost, expected, events }: SalvagedSession, answered: number): string | null => {
  const known = Math.max(expected ?? 0, answered);
  if (known > events.length) return lostText(events.length + 1, known);
  if (certain) return null;
  if (lost !== null) return `the events from ${lost.fromSeq} on are lost (${lost.reason})`;
  return `whether it had events behind ${events.length} is not known: its row is lost`;
};

const lostText = (from: number, to: number): string =>
  from === to ? `event ${from} is lost` : `the events from ${from} to ${to} are lost`;

const uniqueBy = <Value>(values: readonly Value[], keyOf: (value: Value) => string): readonly Value[] => [
  ...new Map(values.map((value) => [keyOf(value), value])).values(),
];

const read = (path: string): Salvaged => salvageStore({ database: readWhole(path), log: readWhole(`${path}-wal`) });

/** A store in memory that holds the remains, to be read and not written. */
export const openRemains = (remains: Remains, kinds: Kinds, name: string, refusal: Refusal, now: string): Store => {
  const { database } = openMemory();
  fillStore(database, kinds, remains, now);
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
    return verifyStore(database, kinds).some(({ isDamage }) => isDamage === true);
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
  // Nothing is ever written into it, and a killed repair leaves no journal of that.
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
  const remains = gatherRemains(files);
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
  migrate(database);
  fillStore(database, kinds, remains, now);
  // Closing writes the log into the file and takes it away.
  database.close();
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
