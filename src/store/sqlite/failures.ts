import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { StoreFailure } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { schemaVersion } from '../header.ts';
import { repairHint, roomHint } from '../hints.ts';
import { patience } from './waiting.ts';

/** What a statement that failed with a result code means for the caller; undefined where it can only be a bug of ours. */
export const failureOf = (path: string, code: number | 'out-of-range', error: unknown): StoreFailure | undefined => {
  const refusal =
    code === 'out-of-range'
      ? refuseDamaged(path, 'a number in it is none of ours')
      : refusalOf(path, code, error instanceof Error ? error.message : '');
  return refusal === undefined ? undefined : new StoreFailure(refusal, error);
};

/**
 * What SQLite says where the file system does not take locks, or does not share memory between processes: PROTOCOL, NOLFS,
 * and of IOERR: UNLOCK, RDLOCK, CHECKRESERVEDLOCK, LOCK, SHMOPEN, SHMLOCK, SHMMAP.
 */
const lockFailures: ReadonlySet<number> = new Set([15, 22, 2058, 2314, 3594, 3850, 4618, 5130, 5386]);

/**
 * What SQLite says where the system takes no more, for whatever reason (a full disk, a quota, a limit of the process): FULL,
 * and of IOERR: WRITE, FSYNC, DIR_FSYNC, TRUNCATE, SHMSIZE.
 */
const writeFailures: ReadonlySet<number> = new Set([13, 778, 1034, 1290, 1546, 4874]);

/** The refusal that an error of SQLite stands for; undefined where it can only be a bug of ours. */
export const refusalOf = (path: string, code: number, message: string): Refusal | undefined => {
  if (lockFailures.has(code)) {
    return refuse('invariant-unmet', `File locks do not work where the store ${path} is: ${message}.`, {
      expected: 'a disk of this machine',
      hint: 'name a store on another disk with --store or STINT_STORE',
    });
  }
  if (writeFailures.has(code)) {
    return refuse('invariant-unmet', `There is no room left where the store ${path} is; nothing was changed.`, {
      expected: 'free space on that disk, and no limit on the size of files',
      hint: roomHint,
    });
  }
  switch (code & 0xff) {
    case 5:
    case 6: {
      const holder = lockHolder(path);
      const by =
        holder === undefined ? '' : holder === null ? ', and no process is seen that holds it' : ` by ${holder}`;
      return refuse('busy', `The store ${path} is locked${by}; waited ${patience / 1000} s.`, {
        hint: `run the same command again${
          // Some file systems answer every lock with "held".
          holder === null
            ? '; where that never helps, file locks do not work there: name another store with --store'
            : ''
        }`,
      });
    }
    case 8:
      return refuseReadOnly(path);
    case 19:
      return refuse('damaged', `The store ${path} holds rows that do not belong together: ${message}.`, {
        hint: repairHint,
      });
    case 10:
      return refuse('damaged', `The store ${path} could not be read or written: ${message}.`, { hint: repairHint });
    case 1:
      // Our statements are fixed and tested: what they name is gone only where the schema was damaged.
      return /no such|malformed|already exists|duplicate column|unsupported|has no column|no column/.test(message)
        ? refuseDamaged(path, message)
        : undefined;
    case 11:
    case 18:
    case 20:
    case 24:
    case 26:
      return refuseDamaged(path, message);
    case 14:
      return refuse('damaged', `The store ${path} cannot be opened: ${message}.`, { hint: repairHint });
    default:
      return undefined;
  }
};

/** The refusal of a store whose file cannot be what was written. */
export const refuseDamaged = (path: string, problem: string): Refusal =>
  refuse('damaged', `The store ${path} is damaged: ${problem}.`, { hint: repairHint });

/** The refusal of a link in the place of a store that leads nowhere. */
export const refuseDeadLink = (path: string): Refusal =>
  refuse('damaged', `The store ${path} is a link to nothing.`, { hint: 'remove the link, or put back what it names' });

/** The refusal of a folder, a pipe or the like in the place of a store. */
export const refuseNonFile = (path: string): Refusal =>
  refuse('damaged', `The store ${path} is no file.`, {
    expected: 'the file of a store',
    hint: 'take it away, or name another file with --store',
  });

/** The refusal of a log that lies beside no store, or beside an empty one. */
export const refuseLogAlone = (path: string, isMissing: boolean): Refusal =>
  refuse(
    'damaged',
    `The store ${path} is ${isMissing ? 'missing' : 'empty'}, but its log ${basename(path)}-wal is there.`,
    { hint: repairHint },
  );

/** The refusal of a store in whose place a repair has not put the new one yet. */
export const refuseUnfinished = (path: string): Refusal =>
  refuse('damaged', `The store ${path} is being made anew, or its repair was interrupted.`, { hint: repairHint });

/** The refusal of a copy that somebody has put in the place of its store. */
export const refuseCopy = (path: string): Refusal =>
  refuse('damaged', `The store ${path} is a copy: what happened after it was made is not in it.`, { hint: repairHint });

/** The refusal of a database of another program. */
export const refuseStranger = (path: string): Refusal =>
  refuse('damaged', `${path} is a database, but no store of stint.`, {
    expected: 'a store, or a file that is not there yet',
    hint: 'name another file with --store',
  });

/** The refusal of a store that does not say any more which it is. */
export const refuseNameless = (path: string): Refusal =>
  refuse('damaged', `The store ${path} has lost its own id.`, { hint: repairHint });

/** The refusal to write a store of a newer program. */
export const refuseNewer = (path: string, version: number): Refusal =>
  refuse(
    'newer-version',
    `The store ${path} was written by a newer stint (schema ${version}, this program knows ${schemaVersion}); it can be read, not written.`,
    {
      expected: `a store of schema ${schemaVersion} or older`,
      hint: 'use the newer stint',
    },
  );

/** The refusal to make a store in a folder that is not there. */
export const refuseNoFolder = (folder: string): Refusal =>
  refuse('not-found', `The folder ${folder} of the store is not there.`, { hint: `mkdir -p ${folder}` });

/** The refusal of a store whose file cannot be made. */
export const refuseMaking = (path: string, problem: string): Refusal =>
  refuse('invariant-unmet', `The store ${path} cannot be made: it ${problem}.`, {
    expected: 'a folder in which this process may make files',
    hint: 'name another store with --store or STINT_STORE',
  });

/** The refusal of a command whose store went away under it. */
export const refuseReplaced = (path: string): Refusal =>
  refuse(
    'busy',
    `The store ${path} was replaced or taken away while this command waited for it; nothing was changed.`,
    {
      hint: 'run the same command again',
    },
  );

/** The refusal to write where the folder or the file is read-only. */
export const refuseReadOnly = (path: string): Refusal =>
  refuse('invariant-unmet', `The store ${path} cannot be written: its folder or file is read-only.`, {
    expected: 'a store folder that this process may write',
    hint: 'make the folder writable, or name another store with --store or STINT_STORE',
  });

/**
 * Who holds the write lock, where the system tells: on Linux, `/proc/locks` names the process that locks byte 120 of the
 * WAL index (https://www.sqlite.org/walformat.html, section 2.3.1) or the database file itself. Null where nobody is seen,
 * undefined where the system does not tell.
 */
const lockHolder = (path: string): string | null | undefined => {
  try {
    const inodes = [`${path}-shm`, path].flatMap((file) => {
      const found = statSync(file, { throwIfNoEntry: false });
      return found === undefined ? [] : [`:${found.ino}`];
    });
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      const [, , , access, pid, file] = line.trim().split(/\s+/);
      if (access !== 'WRITE' || pid === undefined || file === undefined || pid === String(process.pid)) continue;
      if (!inodes.some((inode) => file.endsWith(inode))) continue;
      return `process ${pid} (${readlinkSync(`/proc/${pid}/exe`).split('/').at(-1)})`;
    }
    return null;
  } catch {
    // Not Linux, or not allowed to look.
  }
  return undefined;
};
