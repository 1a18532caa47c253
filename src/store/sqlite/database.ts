import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { StoreFailure } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { repairHint, roomHint } from '../hints.ts';
import type { Transaction } from '../sql/backend.ts';
import type { Row, Work } from '../sql/work.ts';

/** An open SQLite database: prepared statements kept by their text, and one kind of transaction. */
export interface Database {
  readonly path: string;
  readonly all: (sql: string, ...values: readonly SQLInputValue[]) => readonly Row[];
  readonly get: (sql: string, ...values: readonly SQLInputValue[]) => Row | undefined;
  readonly run: (sql: string, ...values: readonly SQLInputValue[]) => void;
  /** Does work, statement by statement. */
  readonly do: <Result>(work: Work<Result>) => Result;
  readonly exec: (sql: string) => void;
  /** One `BEGIN IMMEDIATE` transaction; rolled back unless the body says `commit`, and when it throws. Does not nest. */
  readonly write: <Value>(body: () => Transaction<Value>) => Value;
  /** The same, but undefined, without waiting, where somebody else is writing. */
  readonly writeAtOnce: <Value>(body: () => Transaction<Value>) => Value | undefined;
  /** Writes the log into the file and empties it, unless a reader still needs it: nobody is waited for. */
  readonly emptyLog: () => void;
  /** Reads that see one state. */
  readonly snapshot: <Value>(body: () => Value) => Value;
  readonly close: () => void;
}

/** The size, in bytes, from which on the log is emptied: reading it costs every verb, emptying it costs one verb 3 syncs. */
const longestLog = 60 * 4120;

/** From so many commits on a process counts as one that goes on. */
const fewCommits = 16;

/** After so many commits of one process what was in the log at first is in the file. */
const manyCommits = 4096;

/** How long a writer waits for its turn, in milliseconds, before the store counts as busy. */
const patience = 10_000;

/** How long one statement waits inside SQLite before the wait is taken up here, with jitter. */
const statementTimeout = 500;

/** The module, where this Node has it; without the warning that it is experimental. */
const sqliteModule = () => {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
};

/** How a database is opened. */
export interface OpenOptions {
  readonly readOnly: boolean;
  readonly patience?: number;
  /**
   * Called after a commit that appended events, with the newest of each session; `isFresh` where it began the log anew, or
   * where that is as good as long ago.
   */
  readonly onAppended?: (newest: ReadonlyMap<string, number>, isFresh: boolean) => void;
}

/** Opens a database file. The timeout is set before anything else: a pragma that meets another process would fail. */
export const openDatabase = (path: string, options: OpenOptions): Database => {
  const deadline = options.patience ?? patience;
  const { DatabaseSync } = sqliteModule();
  const connection = translate(
    path,
    () => new DatabaseSync(path, { timeout: Math.min(statementTimeout, deadline), readOnly: options.readOnly }),
  );
  connections.add(connection);
  const statements = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const fresh = connection.prepare(sql);
    statements.set(sql, fresh);
    return fresh;
  };

  /** Runs what may meet a lock again and again until the deadline. */
  const patiently = <Value>(action: () => Value): Value => {
    let start = 0;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return action();
      } catch (error) {
        // The clock is only read by who has to wait: loading it costs a verb 2 ms.
        if (attempt === 0) start = performance.now();
        if (!isBusy(error) || performance.now() - start > deadline) throw asFailure(path, error);
        sleep(Math.random() * Math.min(50, 2 ** attempt));
      }
    }
  };

  const logSize = (): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

  let commits = 0;
  const file = inodeOf(path);

  /** Once a write has its turn: is the file that was opened still the store? What is written to another one is lost. */
  const recheckFile = (): void => {
    if (path === ':memory:' || options.readOnly || inodeOf(path) === file) return;
    throw new StoreFailure(refuseReplaced(path));
  };

  const emptyLog = (): void => {
    connection.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
    connection.exec(`PRAGMA busy_timeout = ${statementTimeout}`);
  };

  /** Runs a body in the transaction that has begun, and ends it. */
  const within = <Value>(body: () => Transaction<Value>): Value => {
    try {
      const { commit, value, appended } = body();
      if (commit) {
        // The first commit of a process, or the one behind a migration, which leaves an empty log.
        const size = commits <= 1 ? logSize() : undefined;
        patiently(() => connection.exec('COMMIT'));
        commits += 1;
        if (appended !== undefined && appended.size > 0)
          options.onAppended?.(appended, size === 0 || commits % manyCommits === 0);
        // SQLite's own checkpoint does not shorten the log: every process that comes alone recovers it, forgets how much
        // of it was checkpointed, and appends to its end, so that each verb would read a longer one.
        if (commits === 1 && (size ?? 0) > longestLog) emptyLog();
        // A process that goes on is better off with it: a log that is written over again syncs faster than one that grows.
        if (commits === fewCommits) connection.exec('PRAGMA wal_autocheckpoint = 1000');
      } else connection.exec('ROLLBACK');
      return value;
    } catch (error) {
      rollBack(connection);
      throw asFailure(path, error);
    }
  };

  const database: Database = {
    path,
    all: (sql, ...values) => patiently(() => statement(sql).all(...values)),
    get: (sql, ...values) => patiently(() => statement(sql).get(...values)),
    run: (sql, ...values) => patiently(() => void statement(sql).run(...values)),
    do: (work) => {
      let step = work.next();
      while (step.done !== true) {
        const { sql, values } = step.value;
        let rows: readonly Row[];
        try {
          rows = database.all(sql, ...values);
        } catch (error) {
          step = work.throw(error);
          continue;
        }
        step = work.next(rows);
      }
      return step.value;
    },
    exec: (sql) => patiently(() => connection.exec(sql)),
    emptyLog,
    write: (body) => {
      patiently(() => connection.exec('BEGIN IMMEDIATE'));
      return within(() => {
        recheckFile();
        return body();
      });
    },
    writeAtOnce: (body) => {
      connection.exec('PRAGMA busy_timeout = 0');
      try {
        connection.exec('BEGIN IMMEDIATE');
      } catch (error) {
        if (isBusy(error)) return undefined;
        throw asFailure(path, error);
      } finally {
        connection.exec(`PRAGMA busy_timeout = ${statementTimeout}`);
      }
      return within(() => {
        recheckFile();
        return body();
      });
    },
    snapshot: (body) => {
      patiently(() => connection.exec('BEGIN'));
      return within(() => ({ commit: false, value: body() }));
    },
    close: () => {
      connections.delete(connection);
      connection.close();
    },
  };
  return database;
};

/**
 * Whatever is open. A connection that nobody holds any more would be collected, and with that closed: the last one to close
 * writes the log into the file and takes it away. That would be a change behind everybody's back, and of a log that is
 * damaged the end of what can be saved. So a connection that must not be closed is just left alone.
 */
const connections = new Set<DatabaseSync>();

/** The number of a file; undefined where there is none, or where the file system has no such numbers. */
const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;

/** After some failures SQLite has rolled back by itself; what went wrong first is what counts. */
const rollBack = (connection: DatabaseSync): void => {
  try {
    if (connection.isTransaction) connection.exec('ROLLBACK');
  } catch {
    // The transaction is gone either way.
  }
};

/** Waits without doing anything. */
export const sleep = (milliseconds: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

const translate = <Value>(path: string, action: () => Value): Value => {
  try {
    return action();
  } catch (error) {
    throw asFailure(path, error);
  }
};

/** The result code of an error that SQLite raised, with its details (https://www.sqlite.org/rescode.html). */
const codeOf = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined;

const isBusy = (error: unknown): boolean => {
  const code = codeOf(error);
  return code !== undefined && ((code & 0xff) === 5 || (code & 0xff) === 6);
};

/** Node refuses whole numbers that are larger than ours can get: only damage makes them. */
const isOutOfRange = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_OUT_OF_RANGE';

/** What a failed statement means for the caller; anything else is a defect and stays what it is. */
const asFailure = (path: string, error: unknown): unknown => {
  if (isOutOfRange(error)) return new StoreFailure(refuseDamaged(path, 'a number in it is none of ours'), error);
  const code = codeOf(error);
  if (code === undefined) return error;
  const refusal = refusalOf(path, code, error instanceof Error ? error.message : '');
  return refusal === undefined ? error : new StoreFailure(refusal, error);
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

const refuseReplaced = (path: string): Refusal =>
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
