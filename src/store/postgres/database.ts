import pg, { type Pool, type PoolClient, type PoolConfig, type QueryConfig } from 'pg';
import { StoreFailure } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { sha256 } from '../../lib/sha256.ts';
import type { Doubt, Locks, Transaction } from '../sql/backend.ts';
import type { Row, Work } from '../sql/work.ts';
import type { Address } from './address.ts';
import { asFailure, codeOf, isConnectionLost, isPassing } from './failures.ts';

/** A database on a server: one kind of transaction, and the server's clock. */
export interface Database {
  /** Reads whose statements need not see one state: each is a transaction of its own, without a word before or after it. */
  readonly ask: <Value>(work: () => Work<Value>) => Promise<Value>;
  /** One statement without values, in one message with what is said at the begin of a transaction; it tells `theTime`. */
  readonly look: (sql: string) => Promise<readonly Row[]>;
  /** Reads that see one state. */
  readonly snapshot: <Value>(work: () => Work<Value>) => Promise<Value>;
  readonly write: <Value>(locks: Locks, work: () => Work<Transaction<Value>>, doubt?: Doubt<Value>) => Promise<Value>;
  readonly writeAtOnce: <Value>(locks: Locks, work: () => Work<Transaction<Value>>) => Promise<Value | undefined>;
  /** By how many milliseconds the clock of the server is ahead of this machine's, as it was seen last. */
  readonly ahead: () => number;
  readonly close: () => Promise<void>;
}

/** How long a caller waits for the server, for a lock, or for its turn, in milliseconds, before the store counts as busy. */
const usualPatience = 10_000;

/** What a statement tells the time with: as seconds, because a date is made with the help of tables of time zones. */
export const theTime = 'extract(epoch FROM clock_timestamp()) AS now';

/** The most connections of one process. */
const mostConnections = 4;

/** The most statements whose answers nobody waits for, so that what is sent last is answered in time too. */
const mostUnheard = 16;

/**
 * Said at the begin of each transaction and for it alone, so that it also holds behind a pooler that gives each one to
 * another connection: nothing is left behind in a session of the server. Whoever falls silent in a transaction is thrown out
 * before those that wait for it give up. What was answered is on disk, whatever the server does elsewhere.
 */
const settings = (schema: string, patience: number, left: number): string =>
  [
    `SET LOCAL search_path = "${schema}"`,
    `SET LOCAL lock_timeout = ${Math.ceil(left)}`,
    // A little longer, so that it is the lock that is told.
    `SET LOCAL statement_timeout = ${Math.ceil(patience * 1.125)}`,
    `SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(patience / 2)}`,
    `SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'`,
  ].join('; ');

/** Connects to a server when something is asked of it for the first time. */
export const openDatabase = ({ url, schema, shown }: Address, patience: number = usualPatience): Database => {
  const config: PoolConfig = {
    connectionString: url,
    max: mostConnections,
    // What is sent behind something else does not wait here for the answer to that.
    pipeline: true,
    // Half of it, so that there is time for another try.
    connectionTimeoutMillis: patience / 2,
    allowExitOnIdle: true,
    // Whole numbers come as text, because they may be larger than ours can get: those of a store are not.
    types: {
      getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
    },
  };
  const translate = createTranslation(schema);
  const pool: Pool = new pg.Pool(config);
  // That a connection was lost is heard by whoever asks something of it; nobody else needs to know.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  let ahead = 0;

  /** Waits for the server. What it or the way to it says is a failure of the store, and nothing else is. */
  const heard = async <Value>(asked: Promise<Value>): Promise<Value> => {
    try {
      return await asked;
    } catch (error) {
      throw asFailure(shown, error);
    }
  };

  const connect = async (): Promise<PoolClient> => {
    let connecting: Promise<PoolClient>;
    try {
      connecting = pool.connect();
    } catch (error) {
      // The parameters of the address are read when a client is made, with the files that they name.
      throw new StoreFailure(refuseAddress(shown, error));
    }
    return heard(connecting);
  };

  /** Asks a server that may have fallen silent: then the connection counts as lost after so many milliseconds. */
  const ask = async (client: PoolClient, text: string, wait: number, values?: unknown[]): Promise<unknown> =>
    heard(queryWithin(wait, client, text, values));

  /**
   * Sends one message: what is said at the begin of a transaction, and what that is for. Its last statement tells the time.
   * That a lock is held by others is for the server to say.
   */
  const say = async (
    client: PoolClient,
    left: number,
    message: { readonly before: string; readonly after: string; readonly isWaiting: boolean },
  ): Promise<readonly Row[]> => {
    const { before, after, isWaiting } = message;
    const asked = Date.now();
    const wait = isWaiting ? left + patience / 4 : patience / 2;
    const results = await ask(client, `${before}${settings(schema, patience, left)}; ${after}`, wait);
    const answered = Date.now();
    const rows = rowsOf(Array.isArray(results) ? results.at(-1) : results);
    const now = rows[0]?.['now'];
    // Where nobody was waited for, the time is that of the middle of the way there and back.
    if (now !== undefined) ahead = 1000 * Number(now) - (isWaiting ? answered : (asked + answered) / 2);
    return rows;
  };

  /**
   * One try. A connection whose transaction did not end as it should is not used again: of a failure is heard before the
   * server waits for the next message, and a pooler that gets one by then loses it.
   */
  const attempt = async <Value>(
    mode: string,
    locks: string,
    left: number,
    body: (line: Line) => Promise<Transaction<Value>>,
    commits: { readonly begins: (made: Transaction<Value>) => void; readonly ends: () => void } = notedByNobody,
  ): Promise<Value> => {
    const client = await connect();
    const line: Line = { client, unheard: [] };
    let isClean = false;
    /** What comes of it, as long as the transaction stands. */
    const standing = async (): Promise<Transaction<Value>> => {
      try {
        return await body(line);
      } catch (error) {
        isClean = !isConnectionLost(causeOf(error)) && (await rollBack(client, patience * 1.25));
        throw error;
      }
    };
    try {
      const begun = say(client, left, {
        before: `BEGIN ISOLATION LEVEL ${mode}; `,
        after: `${locks}SELECT ${theTime}`,
        isWaiting: locks !== '',
      });
      leave(line, begun);
      const made = await standing();
      if (made.commit) commits.begins(made);
      leave(line, ask(client, made.commit ? 'COMMIT' : 'ROLLBACK', patience * 1.25));
      try {
        const ended = await hearAll(line);
        if (made.commit) assertCommitted(ended);
      } catch (error) {
        if (!isConnectionLost(causeOf(error))) commits.ends();
        throw error;
      }
      isClean = true;
      return made.value;
    } finally {
      client.release(!isClean);
    }
  };

  /** One try of what needs no transaction around it. As there, a connection is not used again after a failure. */
  const apart = async <Value>(body: (client: PoolClient) => Promise<Value>): Promise<Value> => {
    const client = await connect();
    let isClean = false;
    try {
      const value = await body(client);
      isClean = true;
      return value;
    } finally {
      client.release(!isClean);
    }
  };

  const perform = async <Value>(line: Line, work: Work<Value>): Promise<Value> => {
    let failure: unknown;
    let step = work.next();
    while (step.done !== true) {
      const { sql, values, isSaid } = step.value;
      let rows: readonly Row[] = [];
      try {
        // After a statement that failed the server takes no other one of the transaction.
        if (failure === undefined) {
          leave(line, ask(line.client, translate(sql), patience * 1.25, [...values]));
          if (isSaid !== true || line.unheard.length > mostUnheard) rows = rowsOf(await hearAll(line));
        }
      } catch (error) {
        failure = error;
      }
      step = failure === undefined ? work.next(rows) : work.throw(failure);
    }
    return step.value;
  };

  /**
   * Does a transaction again, until the time is over, where others were in its way or the connection was lost. Whether one
   * that may have been committed was is worth a little more time.
   */
  const patiently = async <Value>(
    action: (left: number) => Promise<Value>,
    isInDoubt: () => boolean = () => false,
    isRepeatable = true,
  ): Promise<Value> => {
    let deadline = clock() + patience;
    let wasInDoubt = false;
    for (let tries = 0; ; tries += 1) {
      try {
        return await action(Math.max(1, deadline - clock()));
      } catch (error) {
        if (!(error instanceof StoreFailure)) throw error;
        if (isInDoubt() && !wasInDoubt) {
          wasInDoubt = true;
          deadline = Math.max(deadline, clock() + patience / 2);
        }
        if (!isPassing(error.cause) || clock() > deadline)
          throw isInDoubt() ? new StoreFailure(refuseDoubtful(shown, isRepeatable), error.cause) : error;
        await pause(Math.random() * Math.min(1000, 10 * 2 ** tries));
      }
    }
  };

  return {
    ask: async (work) => patiently(async () => apart(async (client) => perform({ client, unheard: [] }, work()))),
    look: async (sql) =>
      patiently(async (left) =>
        apart(async (client) => say(client, left, { before: '', after: translate(sql), isWaiting: false })),
      ),
    snapshot: async (work) =>
      patiently(async (left) =>
        attempt('REPEATABLE READ READ ONLY', '', left, async (line) => ({
          commit: false,
          value: await perform(line, work()),
        })),
      ),
    write: async <Value>(locks: Locks, work: () => Work<Transaction<Value>>, doubt?: Doubt<Value>): Promise<Value> => {
      /** What is being committed: as long as nothing was heard of it, nobody knows whether it was. */
      let doubtful: Transaction<Value> | undefined;
      return patiently(
        async (left) =>
          attempt(
            'READ COMMITTED',
            lockStatements(schema, locks),
            left,
            async (line) => {
              // Under the same locks whoever was lost has ended, one way or the other.
              if (doubtful !== undefined && doubt !== undefined && (await perform(line, doubt.wasDone(doubtful))))
                return { commit: false, value: doubtful.value };
              doubtful = undefined;
              return perform(line, work());
            },
            {
              begins: (made) => {
                doubtful = made;
              },
              ends: () => {
                doubtful = undefined;
              },
            },
          ),
        () => doubtful !== undefined,
        doubt?.isRepeatable,
      );
    },
    writeAtOnce: async (locks, work) => {
      try {
        return await attempt('READ COMMITTED', lockStatements(schema, locks), 1, async (line) => perform(line, work()));
      } catch (error) {
        if (codeOf(causeOf(error)) === '55P03') return undefined;
        throw error;
      }
    },
    ahead: () => ahead,
    close: async () => pool.end(),
  };
};

/** A connection in a transaction, with the answers that nobody has waited for yet. */
interface Line {
  readonly client: PoolClient;
  readonly unheard: Promise<unknown>[];
}

/** Leaves an answer for later: that it is a failure is not lost. */
const leave = ({ unheard }: Line, answer: Promise<unknown>): void => {
  answer.catch(() => {});
  unheard.push(answer);
};

/** Waits for all answers, in their order: what went wrong first is what counts. Gives the last one. */
const hearAll = async ({ unheard }: Line): Promise<unknown> => {
  let last: unknown;
  for (const answer of unheard.splice(0)) last = await answer;
  return last;
};

const queryWithin = async (wait: number, client: PoolClient, text: string, values?: unknown[]): Promise<unknown> => {
  const query: QueryConfig & { readonly query_timeout: number } = {
    text,
    query_timeout: wait,
    ...(values === undefined ? {} : { values }),
  };
  return client.query(query);
};

/** As that of `node:timers/promises`, which would have to be loaded by every verb. */
const pause = async (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/** Milliseconds on a clock that is never set. Loading the one of `performance` would cost a verb as much as an answer does. */
const clock = (): number => process.uptime() * 1000;

const notedByNobody = { begins: () => {}, ends: () => {} };

/** A transaction in which a statement failed is rolled back by the server when it is to be committed. */
const assertCommitted = (result: unknown): void => {
  if (typeof result === 'object' && result !== null && 'command' in result && result.command === 'COMMIT') return;
  throw new Error('a transaction that had failed was to be committed');
};

/** The statements that take locks, in an order that is the same for everybody. They end with the transaction. */
const lockStatements = (schema: string, { shared, alone }: Locks): string => {
  const number = (name: string): bigint => BigInt.asIntN(64, BigInt(`0x${sha256(`${schema}\n${name}`).slice(0, 16)}`));
  return [
    ...shared.map((name) => `SELECT pg_advisory_xact_lock_shared(${number(name)}); `),
    ...alone.map((name) => `SELECT pg_advisory_xact_lock(${number(name)}); `),
  ].join('');
};

/**
 * Statements as PostgreSQL takes them: their values are numbered, their tables are those of the schema, and nobody asks it to
 * leave an index aside.
 */
const createTranslation = (schema: string): ((sql: string) => string) => {
  const translated = new Map<string, string>();
  return (sql) => {
    const known = translated.get(sql);
    if (known !== undefined) return known;
    let count = 0;
    const fresh = sql
      .replaceAll(' NOT INDEXED', '')
      .replaceAll('?', () => `$${(count += 1)}`)
      .replaceAll(
        /\b(FROM|JOIN|INTO|UPDATE) (meta|session|event|request|mirror|process|lease|snapshot|sample)\b/g,
        (_, verb: string, table: string) => `${verb} "${schema}".${table}`,
      );
    translated.set(sql, fresh);
    return fresh;
  };
};

const rowsOf = (result: unknown): readonly Row[] =>
  typeof result === 'object' && result !== null && 'rows' in result && Array.isArray(result.rows) ? result.rows : [];

const rollBack = async (client: PoolClient, wait: number): Promise<boolean> => {
  try {
    await queryWithin(wait, client, 'ROLLBACK');
    return true;
  } catch {
    // The connection is given up either way.
    return false;
  }
};

/** What went wrong first. */
const causeOf = (error: unknown): unknown => (error instanceof StoreFailure ? error.cause : undefined);

const refuseAddress = (shown: string, error: unknown): Refusal =>
  refuse('usage', `The address of the store ${shown} cannot be used: ${error instanceof Error ? error.message : ''}.`, {
    expected:
      'postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters percent-encoded, and files that are there',
    hint: 'check the address of the store (STINT_STORE, or the variable that stint.json names)',
  });

const refuseDoubtful = (shown: string, isRepeatable: boolean): Refusal =>
  refuse(
    'busy',
    `The connection to the store ${shown} was lost, and nobody knows whether the command was carried out.`,
    {
      expected: 'a server that answers',
      retryable: isRepeatable,
      hint: isRepeatable
        ? 'run the same command again'
        : 'look at stint log before it is run again; with a --request-id it could be run again at once',
    },
  );
