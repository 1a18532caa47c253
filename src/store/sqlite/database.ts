import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { statSync } from 'node:fs';
import { StoreFailure } from '../../kernel/ports.ts';
import type { Transaction } from '../sql/backend.ts';
import type { Row, Work } from '../sql/work.ts';
import { failureOf, refuseReplaced } from './failures.ts';
import { patience, sleep, statementTimeout } from './waiting.ts';

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

const translate = <Value>(path: string, action: () => Value): Value => {
  try {
    return action();
  } catch (error) {
    throw asFailure(path, error);
  }
};

/** What a failed statement means for the caller; anything else stays what it is: a defect, or that a kind is not loaded yet. */
const asFailure = (path: string, error: unknown): unknown => {
  const code = codeOf(error);
  return code === undefined ? error : (failureOf(path, code, error) ?? error);
};

const isBusy = (error: unknown): boolean => {
  const code = codeOf(error);
  return typeof code === 'number' && ((code & 0xff) === 5 || (code & 0xff) === 6);
};

/**
 * The result code of an error that SQLite raised, with its details (https://www.sqlite.org/rescode.html). Node itself refuses
 * whole numbers that are larger than ours can get: only damage makes them.
 */
const codeOf = (error: unknown): number | 'out-of-range' | undefined => {
  if (!(error instanceof Error)) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode;
  return 'code' in error && error.code === 'ERR_OUT_OF_RANGE' ? 'out-of-range' : undefined;
};
