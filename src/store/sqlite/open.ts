import { accessSync, closeSync, constants, lstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { StoreFailure, type Store } from '../../kernel/ports.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import { fileProblem } from '../../lib/atomic-file.ts';
import { randomHex } from '../../lib/id.ts';
import { applicationId, copyId, pageSizeOfStores, schemaVersion } from '../header.ts';
import { migrationsFrom } from '../migrations.ts';
import { openDatabase, type Database } from './database.ts';
import {
  refuseCopy,
  refuseDamaged,
  refuseDeadLink,
  refuseLogAlone,
  refuseMaking,
  refuseNameless,
  refuseNewer,
  refuseNonFile,
  refuseNoFolder,
  refuseReadOnly,
  refuseStranger,
  refuseUnfinished,
} from './failures.ts';
import { refuseFileSystem, systemMounts, type MountTable } from './file-system.ts';
import { readStart } from './kept-files.ts';
import { privateCopy } from './private-copy.ts';
import { describeLog } from './salvage/wal.ts';
import { keepTip, readNewestTip, readTip, type Tip } from './tip.ts';
import { unfinishedRepairs } from './unfinished.ts';
import { sleep } from './waiting.ts';

/** An open store file, ready for this program. */
export interface OpenedFile {
  readonly database: Database;
  /** Why it may not be written, where that is so. */
  readonly readOnly: Refusal | undefined;
  /** Whether its schema was brought up to date now, so that its rows are of an older shape. */
  readonly isRaised?: boolean;
}

/** How a store file is opened. */
export interface FileOptions {
  /** Make it where there is none. */
  readonly create: boolean;
  /** Open it wherever it lies. */
  readonly anyFileSystem?: boolean;
  readonly mounts?: MountTable;
}

/**
 * Opens a store file. With `create` it is made where there is none, in a folder that is there; without, a missing file
 * reads as an empty store. A newer one is opened read-only, and so is one that may not be written.
 */
export const openFile = (path: string, options: FileOptions): OpenedFile => {
  if (path === ':memory:') return openMemory();
  const unsafe =
    options.anyFileSystem === true ? undefined : refuseFileSystem(dirname(path), options.mounts ?? systemMounts);
  if (unsafe !== undefined) throw new StoreFailure(unsafe);
  const there = statSync(path, { throwIfNoEntry: false });
  const size = there?.size;
  const noFile = there?.isFile() === true ? undefined : refuseNoFile(path);
  if (noFile !== undefined) throw new StoreFailure(noFile);
  // SQLite would take an empty or missing file for a new database, and throw away the log beside it. While a store is made
  // the file is filled before its log is, so that a second look at it tells.
  if ((size ?? 0) === 0 && (sizeOf(`${path}-wal`) ?? 0) > 0 && (sizeOf(path) ?? 0) === 0) {
    throw new StoreFailure(refuseLogAlone(path, size === undefined));
  }
  if ((size ?? 0) === 0 && unfinishedRepairs(path).length > 0 && (sizeOf(path) ?? 0) === 0) {
    throw new StoreFailure(refuseUnfinished(path));
  }
  if (size === undefined) {
    // A repair may have put it there since.
    if (!options.create) return sizeOf(path) === undefined ? openMemory() : openFile(path, options);
    const folder = dirname(path);
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw new StoreFailure(refuseNoFolder(folder));
    if (!mayWrite(folder)) throw new StoreFailure(refuseReadOnly(path));
    // Made with its mode before SQLite opens it, which gives its companions the same mode.
    makeFile(path);
  } else if (!mayWrite(path) || !mayWrite(dirname(path))) {
    return { ...openReadOnly(path), readOnly: refuseReadOnly(path) };
  }
  const database = openDatabase(path, {
    readOnly: false,
    onAppended: (newest, isFresh) => keepTip(path, newest, isFresh),
  });
  database.exec('PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0');
  // The header of the file alone would not do: a newer program may have raised the version in the log.
  const version = versionOf(database);
  checkLog(database);
  // From here on it is left open where it cannot be used: closing it could write the log into the file, and take it away.
  if (markOf(database) === copyId) throw new StoreFailure(refuseCopy(path));
  if (!isOurs(database, version)) throw new StoreFailure(refuseStranger(path));
  if (version > schemaVersion) return { ...openReadOnly(path), readOnly: refuseNewer(path, version) };
  if (version < schemaVersion) {
    migrate(database);
    // A file without its log is then at least a store that knows what it is.
    database.emptyLog();
    keepTip(path, new Map(), false);
  }
  return { database, readOnly: undefined, isRaised: version > 0 && version < schemaVersion };
};

/** Why what lies there can be no store; undefined where there is a file, or nothing. Opening a pipe could wait for ever. */
export const refuseNoFile = (path: string): Refusal | undefined => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const end = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || end?.isFile() === true) return undefined;
  return end === undefined ? refuseDeadLink(path) : refuseNonFile(path);
};

const makeFile = (path: string): void => {
  try {
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    const { problem } = fileProblem(path, error);
    throw new StoreFailure(refuseMaking(path, problem), error);
  }
};

/** A store in memory. */
export const openMemory = (): OpenedFile => {
  const database = openDatabase(':memory:', { readOnly: false });
  migrate(database);
  return { database, readOnly: undefined };
};

/**
 * Reads a store that may not be written. SQLite needs the companions of the file for that; where they are not there and
 * cannot be made, a private copy is read.
 */
const openReadOnly = (path: string): Omit<OpenedFile, 'readOnly'> => {
  try {
    const database = openDatabase(path, { readOnly: true });
    const version = versionOf(database);
    checkLog(database);
    if (version >= schemaVersion) return { database };
    database.close();
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error;
  }
  const copy = privateCopy(path);
  const database = openDatabase(copy.path, { readOnly: false });
  checkLog(database);
  // An older store is brought up to date where that touches nobody's file.
  if (versionOf(database) < schemaVersion && isMarked(database)) migrate(database);
  const close = (): void => {
    database.close();
    copy.remove();
  };
  return { database: { ...database, close } };
};

/** Whether the log is what was written: what SQLite cannot follow any more it would leave out without a word. */
const checkLog = (database: Database): void => {
  const broken = brokenLog(database.path);
  const problem = broken === undefined || isAllThere(database) ? lostEvent(database) : broken;
  if (problem !== undefined) throw new StoreFailure(refuseDamaged(database.path, problem));
};

const brokenLog = (path: string): string | undefined => {
  const size = sizeOf(`${path}-wal`) ?? 0;
  if (size <= logHeader) return undefined;
  const shown = shownFrames(path);
  const frames = Math.floor((size - logHeader) / (pageSizeOfStores + frameHeader));
  // Frames behind those that SQLite shows are mostly what a killed writer left: only then are they looked at.
  if (shown === undefined || frames <= shown) return undefined;
  let log = describeLog(readFileSync(`${path}-wal`));
  for (let attempt = 0; log.broken; attempt += 1) {
    // Somebody may write while it is read: only what stays broken is.
    if ((shownFrames(path) ?? 0) > log.recoveredFrames) return undefined;
    if (attempt === 3) break;
    sleep(5);
    log = describeLog(readFileSync(`${path}-wal`));
  }
  if (!log.broken) return undefined;
  return `its log breaks off after ${log.recoveredFrames} of ${log.committedFrames} pages that were committed${log.lastOnly ? '; only the last command is concerned' : ''}`;
};

/** Sizes of the parts of a log (https://www.sqlite.org/fileformat2.html, 4.1 and 4.2). */
const logHeader = 32;
const frameHeader = 24;

/** How many frames of the log SQLite shows: `mxFrame` in its index (https://www.sqlite.org/walformat.html, 2.1). */
const shownFrames = (path: string): number | undefined => {
  const header = readStart(`${path}-shm`, 20);
  if (header === undefined || header.length < 20) return undefined;
  // Written in the order of the machine's own bytes; the first number tells which.
  return header.readUInt32LE(0) === 3_007_000 ? header.readUInt32LE(16) : header.readUInt32BE(16);
};

/**
 * Whether every event that was answered since the log was begun is there. A writer that is killed when its commit stands in
 * the log, and nobody was shown it yet, has answered nobody: whoever writes next begins in its place, and where that is
 * shorter the rest of it stands behind, as if something were broken there.
 */
const isAllThere = (database: Database): boolean => {
  const answered = readTip(database.path);
  return answered.length > 0 && answered.every((tip) => isThere(database, tip));
};

/** The end of a log may be gone so that nothing of it shows that: then the newest events that were answered are not there. */
const lostEvent = (database: Database): string | undefined => {
  const newest = readNewestTip(database.path);
  if (newest === undefined || isThere(database, newest)) return undefined;
  const { session, seq } = newest;
  return `event ${seq} of ${session} was answered and is not in it: its log ${basename(database.path)}-wal was lost or cut`;
};

const isThere = (database: Database, { session, seq }: Tip): boolean =>
  database.get('SELECT 1 FROM event WHERE session = ? AND seq = ?', session, seq) !== undefined;

const mayWrite = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * A store carries our mark; one that is being made holds nothing yet. Another process may make it between two looks, so
 * the mark is looked for once more where something is there.
 */
const isOurs = (database: Database, version: number): boolean =>
  version >= 0 && (isMarked(database) || isEmpty(database) || isMarked(database));

const isMarked = (database: Database): boolean => markOf(database) === applicationId;

const markOf = (database: Database): number => Number(database.get('PRAGMA application_id')?.['application_id']);

const isEmpty = (database: Database): boolean => database.get('SELECT 1 FROM sqlite_master') === undefined;

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size;

const versionOf = (database: Database): number => Number(database.get('PRAGMA user_version')?.['user_version'] ?? 0);

/** Brings the schema up to date, in one step that rechecks under the lock: several processes may come first at once. */
export const migrate = (database: Database): void => {
  database.exec('PRAGMA journal_mode = WAL');
  database.write(() => {
    const from = versionOf(database);
    if (from >= schemaVersion) return { commit: false, value: undefined };
    for (const step of migrationsFrom(from)) database.exec(step);
    if (from === 0) {
      database.run('INSERT INTO meta VALUES (?, ?)', 'id', randomHex(16));
      database.run('INSERT INTO meta VALUES (?, ?)', 'key', randomHex(32));
      database.exec(`PRAGMA application_id = ${applicationId}`);
    }
    database.exec(`PRAGMA user_version = ${schemaVersion}`);
    return { commit: true, value: undefined };
  });
};

/** The store's own id, and the secret with which inputs are digested. */
export const readIdentity = (database: Database): Store['identity'] => {
  const values = new Map(
    database.all('SELECT key, value FROM meta').map((row) => [String(row['key']), String(row['value'])]),
  );
  const id = values.get('id');
  const key = values.get('key');
  if (id !== undefined && key !== undefined) return { id, key };
  throw new StoreFailure(refuseNameless(database.path));
};
