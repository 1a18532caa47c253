import type { Pool, PoolClient, PoolConfig } from 'pg';
import { setTimeout as pause } from 'node:timers/promises';
import { StoreFailure } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { sha256 } from '../../lib/sha256.ts';
import type { Locks, Transaction } from '../sql/backend.ts';
import type { Row, Work } from '../sql/work.ts';
import type { Address } from './address.ts';
import { asFailure, codeOf, isConflict, isConnectionLost } from './failures.ts';

/** A database on a server: one kind of transaction, and the server's clock. */
export interface Database {
  /** Reads that see one state. */
  readonly snapshot: <Value>(work: () => Work<Value>) => Promise<Value>;
  readonly write: <Value>(
    locks: Locks,
    work: () => Work<Transaction<Value>>,
    wasDone?: () => Work<boolean>,
  ) => Promise<Value>;
  readonly writeAtOnce: <Value>(locks: Locks, work: () => Work<Transaction<Value>>) => Promise<Value | undefined>;
  /** By how many milliseconds the clock of the server is ahead of this machine's, as it was seen last. */
  readonly ahead: () => number;
  readonly close: () => Promise<void>;
}

/** How long a caller waits for the server, for a lock, or for its turn, in milliseconds, before the store counts as busy. */
const patience = 10_000;

/** The most connections of one process. */
const mostConnections = 4;

/**
 * Said at the begin of each transaction and for it alone, so that it also holds behind a pooler that gives each one to
 * another connection: nothing is left behind in a session of the server.
 */
const settings = (schema: string): string =>
  [
    `SET LOCAL search_path = "${schema}"`,
    `SET LOCAL lock_timeout = ${patience}`,
    `SET LOCAL statement_timeout = ${2 * patience}`,
    `SET LOCAL idle_in_transaction_session_timeout = ${2 * patience}`,
  ].join('; ');

/** Connects to a server when something is asked of it for the first time. */
export const openDatabase = async ({ url, schema, shown }: Address): Promise<Database> => {
  const { default: pg } = await import('pg');
  const config: PoolConfig = {
    connectionString: url,
    max: mostConnections,
    connectionTimeoutMillis: patience,
    allowExitOnIdle: true,
    // Whole numbers come as text, because they may be larger than ours can get: those of a store are not.
    types: {
      getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
    },
  };
  const pool: Pool = new pg.Pool(config);
  // That a connection was lost is heard by whoever asks something of it; nobody else needs to know.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  let ahead = 0;

  /** Begins a transaction under its locks, in one message, and looks at the clock with it. */
  const begin = async (client: PoolClient, mode: string, locks: string): Promise<void> => {
    const asked = Date.now();
    const results: unknown = await client.query(
      `BEGIN ${mode}; ${settings(schema)}; ${locks}SELECT clock_timestamp() AS now`,
    );
    const answered = Date.now();
    const now = rowsOf(Array.isArray(results) ? results.at(-1) : results)[0]?.['now'];
    // Where nobody was waited for, the time is that of the middle of the way there and back.
    if (now instanceof Date) ahead = now.getTime() - (locks === '' ? (asked + answered) / 2 : answered);
  };

  /** One try. A connection whose transaction did not end as it should is not used again. */
  const attempt = async <Value>(
    mode: string,
    locks: string,
    body: (client: PoolClient) => Promise<Transaction<Value>>,
    beforeCommit: (made: Transaction<Value>) => void = () => {},
  ): Promise<Value> => {
    const client = await pool.connect();
    let isClean = false;
    try {
      await begin(client, mode, locks);
      const made = await body(client);
      if (made.commit) beforeCommit(made);
      await client.query(made.commit ? 'COMMIT' : 'ROLLBACK');
      isClean = true;
      return made.value;
    } catch (error) {
      isClean = !isConnectionLost(causeOf(error)) && (await rollBack(client));
      throw error;
    } finally {
      client.release(!isClean);
    }
  };

  const perform = async <Value>(client: PoolClient, work: Work<Value>): Promise<Value> => {
    let step = work.next();
    while (step.done !== true) {
      const { sql, values } = step.value;
      let rows: readonly Row[];
      try {
        rows = rowsOf(await client.query(numbered(sql), [...values]));
      } catch (error) {
        step = work.throw(asFailure(shown, error));
        continue;
      }
      step = work.next(rows);
    }
    return step.value;
  };

  /** Does a transaction again, until the time is over, where others were in its way or the connection was lost. */
  const patiently = async <Value>(action: () => Promise<Value>, isInDoubt: () => boolean): Promise<Value> => {
    const start = performance.now();
    for (let tries = 0; ; tries += 1) {
      try {
        return await action();
      } catch (error) {
        const cause = causeOf(error);
        const isLost = isConnectionLost(cause);
        if (!(isLost || isConflict(cause)) || performance.now() - start > patience)
          throw isLost && isInDoubt() ? new StoreFailure(refuseDoubtful(shown), error) : asFailure(shown, cause);
        await pause(Math.random() * Math.min(1000, 10 * 2 ** tries));
      }
    }
  };

  return {
    snapshot: async (work) =>
      patiently(
        async () =>
          attempt('ISOLATION LEVEL REPEATABLE READ READ ONLY', '', async (client) => ({
            commit: false,
            value: await perform(client, work()),
          })),
        () => false,
      ),
    write: async <Value>(
      locks: Locks,
      work: () => Work<Transaction<Value>>,
      wasDone?: () => Work<boolean>,
    ): Promise<Value> => {
      /** What is being committed: as long as nothing was heard of it, nobody knows whether it was. */
      let doubtful: Transaction<Value> | undefined;
      return patiently(
        async () =>
          attempt(
            '',
            lockStatements(schema, locks),
            async (client) => {
              // Under the same locks whoever was lost has ended, one way or the other.
              if (doubtful !== undefined && wasDone !== undefined && (await perform(client, wasDone())))
                return { commit: false, value: doubtful.value };
              doubtful = undefined;
              return perform(client, work());
            },
            (made) => {
              doubtful = made;
            },
          ),
        () => doubtful !== undefined,
      );
    },
    writeAtOnce: async (locks, work) => {
      try {
        return await attempt('', `SET LOCAL lock_timeout = 1; ${lockStatements(schema, locks)}`, async (client) =>
          perform(client, work()),
        );
      } catch (error) {
        if (codeOf(error) === '55P03') return undefined;
        throw asFailure(shown, causeOf(error));
      }
    },
    ahead: () => ahead,
    close: async () => pool.end(),
  };
};

/** The statements that take locks, in an order that is the same for everybody. They end with the transaction. */
const lockStatements = (schema: string, { shared, alone }: Locks): string => {
  const number = (name: string): bigint => BigInt.asIntN(64, BigInt(`0x${sha256(`${schema}\n${name}`).slice(0, 16)}`));
  return [
    ...shared.map((name) => `SELECT pg_advisory_xact_lock_shared(${number(name)}); `),
    ...alone.map((name) => `SELECT pg_advisory_xact_lock(${number(name)}); `),
  ].join('');
};

/** A statement as PostgreSQL takes it: its values are numbered, and nobody asks it to leave an index aside. */
const numbered = (sql: string): string => {
  const known = numberedBySql.get(sql);
  if (known !== undefined) return known;
  let count = 0;
  const fresh = sql.replaceAll(' NOT INDEXED', '').replaceAll('?', () => `$${(count += 1)}`);
  numberedBySql.set(sql, fresh);
  return fresh;
};

const numberedBySql = new Map<string, string>();

const rowsOf = (result: unknown): readonly Row[] =>
  typeof result === 'object' && result !== null && 'rows' in result && Array.isArray(result.rows) ? result.rows : [];

const rollBack = async (client: PoolClient): Promise<boolean> => {
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    // The connection is given up either way.
    return false;
  }
};

/** What went wrong first. */
const causeOf = (error: unknown): unknown =>
  error instanceof StoreFailure && error.cause !== undefined ? error.cause : error;

const refuseDoubtful = (shown: string): Refusal =>
  refuse(
    'busy',
    `The connection to the store ${shown} was lost, and nobody knows whether the command was carried out.`,
    {
      expected: 'a server that answers',
      hint: 'run the same command again with the same --request-id; without one, look at stint log first',
    },
  );
