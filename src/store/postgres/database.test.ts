import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import pg from 'pg';
import { openPooler } from '../../../test/support/pooler.ts';
import { administer, askServer, useDatabase, useServer } from '../../../test/support/postgres.ts';
import { StoreFailure } from '../../kernel/ports.ts';
import { sha256 } from '../../lib/sha256.ts';
import { all, get, run, type Row, type Work } from '../sql/work.ts';
import { readAddress } from './address.ts';
import { openDatabase } from './database.ts';

const server = useServer();

/** A database whose schema has one table with one number. */
const numberIn = async (context: TestContext, patience: number) => {
  const url = await useDatabase(context, server);
  await administer(url, 'CREATE SCHEMA stint_shared', 'CREATE TABLE stint_shared.counted (n int)');
  await administer(url, 'INSERT INTO stint_shared.counted VALUES (0)');
  const address = readAddress(url, 'shared');
  if (!address.ok) throw new Error(address.error.message);
  const database = openDatabase(address.value, patience);
  context.after(database.close);
  return { url, database, read: async () => Number((await askServer(url, 'SELECT n FROM stint_shared.counted'))[0].n) };
};

function* increase(): Work<{ readonly commit: boolean; readonly value: undefined }> {
  yield* run('UPDATE counted SET n = n + 1');
  return { commit: true, value: undefined };
}

const locks = { alone: ['one'], shared: ['store'] };

/** Somebody who holds a lock by hand. */
const holdLock = async (context: TestContext, url: string, name: string) => {
  const client = new pg.Client({ connectionString: url });
  // The database may be taken away before it.
  client.on('error', () => {});
  await client.connect();
  context.after(async () => client.end());
  const key = BigInt.asIntN(64, BigInt(`0x${sha256(`stint_shared\n${name}`).slice(0, 16)}`));
  await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${key})`);
  return async () => client.query('ROLLBACK');
};

/** Resolves when somebody waits for a lock. */
const someoneWaits = async (url: string): Promise<void> => {
  while ((await askServer(url, `SELECT 1 FROM pg_locks WHERE NOT granted`)).length === 0);
};

const refusalOf = async (action: Promise<unknown>) => {
  try {
    await action;
  } catch (error) {
    assert.ok(error instanceof StoreFailure, String(error));
    return error.refusal;
  }
  assert.fail('it was done');
};

test('a lock that is given back in time is waited for', async (context) => {
  const { url, database, read } = await numberIn(context, 10_000);
  const release = await holdLock(context, url, 'one');
  const writing = database.write(locks, increase);
  await someoneWaits(url);
  assert.equal(await database.writeAtOnce(locks, increase), undefined, 'who does not want to wait does not');
  await release();
  await writing;
  assert.equal(await read(), 1);
});

test('a lock that is held past the deadline is busy, and nothing was written', async (context) => {
  const { url, database, read } = await numberIn(context, 400);
  for (const name of ['one', 'store']) {
    const release = await holdLock(context, url, name);
    const start = performance.now();
    const refusal = await refusalOf(database.write(locks, increase));
    assert.equal(refusal.code, 'busy');
    assert.match(refusal.message, /is busy: canceling statement due to lock timeout\.$/);
    assert.ok(performance.now() - start < 5000, 'not as long as usual');
    await release();
  }
  assert.equal(await read(), 0);
});

test('a write that fell silent in the middle is thrown out by the server, and done again', async (context) => {
  const { database, read } = await numberIn(context, 1000);
  let isStopped = false;
  await database.write(locks, function* stopped() {
    yield* run('UPDATE counted SET n = n + 1');
    // As a process that is stopped, and goes on.
    if (!isStopped) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
    isStopped = true;
    yield* run('UPDATE counted SET n = n + 10');
    return { commit: true, value: undefined };
  });
  assert.equal(await read(), 11);
});

test('what a database says of itself does not loosen what is promised', async (context) => {
  const { url, database } = await numberIn(context, 1000);
  const { pathname } = new URL(url);
  const name = pathname.slice(1);
  await administer(
    url,
    `ALTER DATABASE ${name} SET synchronous_commit = off`,
    `ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`,
  );
  function* look(): Work<{ readonly commit: boolean; readonly value: Row | undefined }> {
    const value = yield* get(
      `SELECT current_setting('synchronous_commit') AS sync, current_setting('transaction_isolation') AS isolation,
         current_setting('search_path') AS path`,
    );
    return { commit: false, value };
  }
  assert.deepEqual(await database.write(locks, look), {
    sync: 'on',
    isolation: 'read committed',
    path: 'stint_shared',
  });
});

test('after a statement that failed the whole transaction has failed, whoever looks away', async (context) => {
  const { database, read } = await numberIn(context, 1000);
  const failing = database.write(locks, function* looksAway() {
    yield* run('UPDATE counted SET n = n + 1');
    try {
      yield* all('SELECT 1 FROM not_there');
    } catch (error) {
      assert.ok(error instanceof StoreFailure);
      assert.equal(error.refusal.code, 'damaged');
    }
    try {
      yield* all('SELECT 1');
    } catch (error) {
      assert.ok(error instanceof StoreFailure, 'it is the same failure, and no bug of ours');
    }
    return { commit: true, value: undefined };
  });
  await assert.rejects(failing, /a transaction that had failed was to be committed/);
  assert.equal(await read(), 0);
});

test('statements without an answer are carried out in their order, before what is asked next and before the end', async (context) => {
  const { database, read } = await numberIn(context, 5000);
  const seen = await database.write(locks, function* saysMuch() {
    for (let n = 1; n <= 40; n += 1) yield* run('UPDATE counted SET n = n + ? WHERE n = ?', 1, n - 1);
    const row = yield* get('SELECT n FROM counted WHERE n >= ?', 0);
    yield* run('UPDATE counted SET n = n + ? WHERE n = ?', 1, 40);
    // Without values it may be several statements.
    yield* run('UPDATE counted SET n = n * 2; UPDATE counted SET n = n + 1');
    yield* run('UPDATE counted SET n = n + ? WHERE n = ?', 1, 83);
    return { commit: true, value: row?.['n'] };
  });
  assert.equal(seen, 40);
  assert.equal(await read(), 84);
});

for (const where of ['before the end', 'before a question'])
  test(`that a statement failed which nobody waited for is heard as its failure, ${where}`, async (context) => {
    const { database, read } = await numberIn(context, 1000);
    const failing = database.write(locks, function* waitsForNothing() {
      yield* run('UPDATE counted SET n = n + ?', 1);
      yield* run('SELECT 1 FROM not_there WHERE n = ?', 1);
      yield* run('UPDATE counted SET n = n + ?', 1);
      if (where === 'before a question') yield* get('SELECT n FROM counted');
      return { commit: true, value: undefined };
    });
    const refusal = await refusalOf(failing);
    assert.equal(refusal.code, 'damaged');
    assert.match(refusal.message, /relation "not_there" does not exist\.$/);
    assert.equal(await read(), 0);
  });

test('behind a pooler, who goes on at once after a failure is answered at once', async (context) => {
  const { url, read } = await numberIn(context, 1000);
  await administer(
    url,
    `CREATE FUNCTION stint_shared.no_room() RETURNS trigger LANGUAGE plpgsql
       AS $$ BEGIN RAISE 'no room for %', NEW.n USING ERRCODE = 'disk_full'; END $$`,
    `CREATE CONSTRAINT TRIGGER no_room AFTER UPDATE ON stint_shared.counted DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW WHEN (NEW.n % 10 = 0) EXECUTE FUNCTION stint_shared.no_room()`,
  );
  const pooler = await openPooler(url);
  context.after(pooler.close);
  const address = readAddress(pooler.url, 'shared');
  if (!address.ok) throw new Error(address.error.message);
  const database = openDatabase(address.value);
  context.after(database.close);
  const start = performance.now();
  const failing: readonly (() => Promise<unknown>)[] = [
    async () => database.look('SELECT 1 FROM not_there'),
    async () => database.ask(() => get('SELECT 1 FROM not_there WHERE n = ?', 1)),
    async () =>
      database.write(locks, function* unable(): Work<never> {
        throw new Error(String((yield* get('SELECT 1 FROM not_there WHERE n = ?', 1))?.['n']));
      }),
    // Only the commit finds out.
    async () =>
      database.write(locks, function* fill() {
        yield* run('UPDATE counted SET n = ?', 10);
        return { commit: true, value: undefined };
      }),
  ];
  for (const action of failing) {
    await assert.rejects(action, StoreFailure);
    await database.write(locks, increase);
  }
  assert.equal(await read(), failing.length);
  assert.ok(performance.now() - start < 9000, 'nobody waits for an answer that does not come');
});

test('what is thrown beside the server is no fault of the line: it is not done again', async (context) => {
  const { database } = await numberIn(context, 5000);
  let times = 0;
  const failing = database.write(locks, function* throwing(): Work<never> {
    times += 1;
    yield* run('SELECT 1');
    throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
  });
  await assert.rejects(failing, /no such file/);
  assert.equal(times, 1);
});

test('how far the clock of the server is ahead is seen with each transaction, whoever was waited for', async (context) => {
  const { url, database } = await numberIn(context, 10_000);
  context.mock.timers.enable({ apis: ['Date'], now: Date.now() - 3_600_000 });
  const release = await holdLock(context, url, 'one');
  const writing = database.write(locks, increase);
  await someoneWaits(url);
  await release();
  await writing;
  assert.ok(Math.abs(database.ahead() - 3_600_000) < 60_000);
  context.mock.timers.setTime(Date.now() + 2 * 3_600_000);
  await database.snapshot(function* nothing() {
    yield* run('SELECT 1');
  });
  assert.ok(Math.abs(database.ahead() + 3_600_000) < 60_000);
});
