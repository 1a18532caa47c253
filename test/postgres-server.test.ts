/** What one server does for many: projects, roles, clocks, poolers, and who is not let in. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import pg from 'pg';
import { randomHex } from '../src/lib/id.ts';
import { defineSheet, verbs } from './kinds/sheet/index.ts';
import { listenFor } from './support/pg-frames.ts';
import { openPooler } from './support/pooler.ts';
import { administer, askServer, startServer, useDatabase, useServer } from './support/postgres.ts';
import { approval, phases } from './support/reviews.ts';
import { handAt, turnedAway, type Hand } from './support/server-hands.ts';
import { assertAnswer, createWorld, listOf, noon, repository, type TestWorld } from './support/world.ts';

const server = useServer();

/** The world of somebody whose store lies on a server. */
const worldOn = (context: TestContext, url: string, project: string | undefined = 'shared'): TestWorld =>
  createWorld(context).with({ env: { STINT_STORE: url, STINT_PROJECT: project } });

/** An address with another user. */
const urlOf = (url: string, user: string): string => {
  const address = new URL(url);
  address.username = user;
  return address.href;
};

test('20 processes that come first to an empty database at once all begin, in one store that was made once', async (context) => {
  const url = await useDatabase(context, server);
  const world = worldOn(context, url);
  const comers = Array.from({ length: 20 }, (_, comer) => comer);
  const outcomes = await Promise.all(
    comers.map(
      async (comer) =>
        world.start('begin', 'review', '--name', `c-${comer}`, '--branch', `b-${comer}`, '--json').outcome,
    ),
  );
  for (const outcome of outcomes) assertAnswer(outcome, 'begin');
  assert.equal(world.answer('list').total, 20);
  assert.deepEqual(
    (await askServer(url, 'SELECT key FROM stint_shared.meta ORDER BY key')).map(({ key }) => key),
    ['id', 'key', 'schema'],
  );
  assert.equal(world.answer('doctor').healthy, true);
});

test('20 who open an empty database at once, each on a line of its own, find one identity', async (context) => {
  const url = await useDatabase(context, server);
  const { readAddress } = await import('../src/store/postgres/address.ts');
  const { openPostgresStore } = await import('../src/store/postgres/store.ts');
  const address = readAddress(url, 'shared');
  assert.ok(address.ok);
  const opened = await Promise.all(
    Array.from({ length: 20 }, async () => openPostgresStore(address.value, new Map(), { create: true })),
  );
  assert.equal(new Set(opened.map((one) => JSON.stringify(one?.store.identity))).size, 1);
  await Promise.all(opened.map(async (one) => one?.store.close()));
});

test('a store of a newer schema is read, not written', async (context) => {
  const url = await useDatabase(context, server);
  const world = worldOn(context, url);
  world.answer('begin', 'review', '--name', 'newer');
  await administer(url, `UPDATE stint_shared.meta SET value = '99' WHERE key = 'schema'`);
  assert.equal(world.answer('status').session_id, 'newer');
  assert.equal(world.answer('log').total, 2);
  const error = world.refusal(13, 'note', 'never');
  assert.match(
    error.message,
    /was written by a newer stint \(schema 99, this program knows \d+\); it can be read, not written\.$/,
  );
  world.refusal(13, 'begin', 'review', '--name', 'another');
  await administer(url, `UPDATE stint_shared.meta SET value = 'x' WHERE key = 'schema'`);
  world.refusal(14, 'status');
});

test('events are not changed, deleted or cut off, not even by the owner of the tables', async (context) => {
  const url = await useDatabase(context, server);
  const world = worldOn(context, url);
  world.answer('begin', 'review', '--name', 'kept');
  for (const statement of [
    `UPDATE stint_shared.event SET data = '{}'`,
    'DELETE FROM stint_shared.event',
    'TRUNCATE stint_shared.event',
    'TRUNCATE stint_shared.session CASCADE',
  ])
    await assert.rejects(administer(url, statement), /events are immutable, and kept/);
  assert.equal(world.answer('log').total, 2);
});

test('two projects in one database do not see each other', async (context) => {
  const url = await useDatabase(context, server);
  const cwd = createWorld(context).project;
  const [one, two] = [
    await handAt(context, url, { cwd, project: 'one' }),
    await handAt(context, url, { cwd, project: 'two-2_x' }),
  ];
  for (const [hand, text] of [
    [one, 'in one'],
    [two, 'in two'],
  ] as const) {
    await hand.ask('begin', { kind: 'review', name: 'same' });
    await hand.ask('note', { text }, { requestId: 'same' });
  }
  await one.ask('begin', { kind: 'review', name: 'only-one', branch: 'b' });
  assert.equal((await two.ask('list', { all: true })).total, 1);
  assert.equal((await two.refused('status', { session: 'only-one' })).code, 'not-found');
  assert.deepEqual(listOf((await two.ask('log', { session: 'same' })).events).at(-1).data, { text: 'in two' });
});

test('a store on a server needs the name of a project, a legal one', (context) => {
  const world = (project: string | undefined) =>
    worldOn(context, 'postgres://nobody@127.0.0.1:1/none', project).with({ env: { STINT_PROJECT: project } });
  assert.match(world(undefined).refusal(2, 'list').message, /none was named/);
  for (const name of ['Upper', '-x', 'a b', 'x"; DROP SCHEMA public; --', 'a.b', 'ä', 'x'.repeat(51)])
    assert.equal(world(name).refusal(2, 'list').message, 'The name of the project is not legal.');
});

test('one store that is opened twice in a process stays open until both have closed it', async (context) => {
  const url = await useDatabase(context, server);
  const cwd = createWorld(context).project;
  const [one, two] = await Promise.all([handAt(context, url, { cwd }), handAt(context, url, { cwd })]);
  await one.ask('begin', { kind: 'review', name: 'twice' });
  await one.close();
  await two.ask('note', { text: 'still open' });
  await two.close();
  assert.equal((await two.refused('note', { text: 'closed' })).code, 'usage');
});

/** Everything that verbs do with a store. */
const doEverything = async (hand: Hand): Promise<void> => {
  const ask: Hand['ask'] = async (...call) => {
    const answer = await hand.ask(...call);
    assert.equal(answer.warnings, undefined, call[0]);
    return answer;
  };
  await ask('begin', { kind: 'review', name: 'r' }, { requestId: 'begun' });
  const { token } = await ask('lease claim', { session: 'r' });
  const held = { leaseToken: token };
  await ask('lease renew', { session: 'r' }, held);
  for (const phase of phases.slice(1, -1)) await ask('advance', { phase, session: 'r' }, held);
  await ask('note', { text: 'a remark', session: 'r' }, held);
  await ask('complete-round', { session: 'r' }, { ...held, payload: approval });
  const lead = await ask('process start', { kind: 'supervisor', session: 'r' }, held);
  await ask('process beat', { id: lead.id }, held);
  await ask('process bind', { id: lead.id, vendor_session: 'v' }, held);
  await ask('process end', { id: lead.id }, held);
  await ask('process sweep');
  await ask('lease release', { session: 'r' }, held);
  await ask('finish', { session: 'r' });
  await ask('begin', { kind: 'sheet', name: 's' });
  const { steps } = await ask('next', { claim: true, session: 's' });
  const [{ id: step, attempt, token: mine }] = steps;
  await ask('start', { step, attempt, token: mine, session: 's' });
  await ask('beat', { step, attempt, token: mine, session: 's' });
  await ask('complete-step', { step, attempt, token: mine, session: 's' });
  await lookAtEverything({ ask });
  await ask('rebuild');
};

const lookAtEverything = async ({ ask }: Pick<Hand, 'ask'>): Promise<void> => {
  for (const verb of ['list', 'process list', 'doctor']) await ask(verb);
  for (const verb of ['status', 'log', 'show', 'timeline', 'lease show', 'next']) await ask(verb, { session: 's' });
};

/** What the guide for teams grants: those who work with a project, and those who only look. */
const grantsOf = (group: 'agents' | 'watchers') => {
  const guide = readFileSync(join(repository, 'docs/guides/teams.md'), 'utf8');
  const block = [...guide.matchAll(/```sql\n(.*?)```/gs)]
    .map(([, sql = '']) => sql)
    .find((sql) => sql.includes(` TO ${group};`));
  assert.ok(block !== undefined, group);
  const statements = block.split(';').filter((statement) => statement.trim() !== '');
  return (role: string): readonly string[] =>
    statements.map((statement) =>
      statement.replaceAll('stint_shop', 'stint_shared').replace(` TO ${group}`, ` TO ${role}`),
    );
};

const grantsToWrite = grantsOf('agents');
const grantsToRead = grantsOf('watchers');

/** Roles for a test that go with it, in a database with an empty project. */
const rolesIn = async (context: TestContext, count: number) => {
  const names = Array.from({ length: count }, () => `role_${randomHex(6)}`);
  const admin = new URL(server.url);
  // What is tidied up first is registered first: the database goes before its roles.
  const url = await useDatabase(context, server);
  for (const name of names) await administer(admin.href, `CREATE ROLE ${name} LOGIN`);
  context.after(async () => {
    for (const name of names) await administer(admin.href, `DROP ROLE ${name}`);
  });
  return { url, names };
};

const sheets = { kinds: [defineSheet(2)], verbs };

test('a role with the grants that are listed runs every verb, and one that only reads is told so when it writes', async (context) => {
  const {
    url,
    names: [writer = '', reader = '', stranger = ''],
  } = await rolesIn(context, 3);
  const cwd = createWorld(context).project;
  await handAt(context, url, { cwd, ...sheets });
  await administer(url, ...grantsToWrite(writer), ...grantsToRead(reader));
  const worker = await handAt(context, urlOf(url, writer), { cwd, ...sheets });
  await doEverything(worker);
  await administer(url, 'UPDATE stint_shared.process SET checksum = 0');
  assert.deepEqual(
    listOf((await worker.ask('rebuild')).sessions).map(({ session, rebuilt }) => [session, rebuilt]),
    [
      ['sheet:s', false],
      ['review:r', true],
    ],
  );
  await assert.rejects(administer(urlOf(url, writer), 'DELETE FROM stint_shared.event'), /permission denied/);
  const looker = await handAt(context, urlOf(url, reader), { cwd, ...sheets });
  await lookAtEverything(looker);
  for (const [verb, input] of [
    ['note', { text: 'never', session: 's' }],
    ['begin', { kind: 'review', name: 'never' }],
    ['lease claim', { session: 's' }],
    ['process start', { kind: 'instance', session: 's' }],
  ] as const) {
    const refusal = await looker.refused(verb, input);
    assert.equal(refusal.code, 'invariant-unmet', verb);
    assert.match(refusal.message, /is not open to this user for that: permission denied for table /);
  }
  const refusal = await turnedAway(context, urlOf(url, stranger), { cwd });
  assert.equal(refusal.code, 'invariant-unmet');
  assert.match(refusal.message, /is not open to this user for that: permission denied for schema /);
});

test('a role that owns nothing but a schema that was made for it makes its project there, and in no other one', async (context) => {
  const {
    url,
    names: [owner = ''],
  } = await rolesIn(context, 1);
  await administer(url, `CREATE SCHEMA stint_shared AUTHORIZATION ${owner}`);
  const cwd = createWorld(context).project;
  await doEverything(await handAt(context, urlOf(url, owner), { cwd, ...sheets }));
  const refusal = await turnedAway(context, urlOf(url, owner), { cwd, project: 'another' });
  assert.equal(refusal.code, 'invariant-unmet');
  assert.match(refusal.message, /permission denied for database/);
});

/** Variables with which the clock of a machine is so many minutes ahead. */
const clockAhead = (minutes: number): Readonly<Record<string, string | undefined>> => ({
  STINT_NOW: undefined,
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    `const now = Date.now; Date.now = () => now() + ${minutes * 60_000};`,
  )}`,
});

test('times are those of the server, however wrong the clock of a machine is, unless the clock is fixed', async (context) => {
  const url = await useDatabase(context, server);
  const world = worldOn(context, url);
  const late = world.with({ env: { ...clockAhead(-60), STINT_ACTOR: 'late' } });
  const early = world.with({ env: { ...clockAhead(180), STINT_ACTOR: 'early' } });
  const start = Date.now();
  late.answer('begin', 'review', '--name', 'timed');
  late.answer('lease', 'claim', '--ttl', '10m');
  early.refusal(10, 'lease', 'claim', '--session', 'timed');
  early.answer('note', 'from a machine that is ahead', '--session', 'timed');
  late.answer('note', 'from one that is behind', '--session', 'timed');
  const { events } = world.answer('log', '--session', 'timed');
  for (const { at } of listOf(events)) {
    assert.ok(Date.parse(at) > start - 5000, at);
    assert.ok(Date.parse(at) < Date.now() + 5000, at);
  }
  const fixed = world.with({ env: { ...clockAhead(180), STINT_NOW: noon } });
  fixed.answer('begin', 'review', '--name', 'fixed', '--branch', 'fixed');
  assert.equal(listOf(fixed.answer('log', '--session', 'fixed').events)[0].at, noon);
});

test('everything works where each transaction runs on another connection that remembers nothing', async (context) => {
  const url = await useDatabase(context, server);
  const pooler = await openPooler(url);
  context.after(pooler.close);
  const cwd = createWorld(context).project;
  const [ana, bob] = await Promise.all([
    handAt(context, pooler.url, { cwd, ...sheets }),
    handAt(context, `${pooler.url}?application_name=bob`, { cwd, ...sheets }),
  ]);
  await doEverything(ana);
  await ana.ask('begin', { kind: 'review', name: 'both', branch: 'both' });
  await Promise.all(
    [ana, bob].flatMap((hand) =>
      Array.from({ length: 20 }, async (_, index) => hand.ask('note', { text: `remark ${index}`, session: 'both' })),
    ),
  );
  assert.equal((await bob.ask('log', { session: 'both' })).total, 42);
  assert.equal((await bob.ask('doctor')).healthy, true);
  assert.ok(pooler.moves() > 100, 'transactions were moved');
  assert.deepEqual([...pooler.left], ['"$user", public 0 0 0 0 0 0'], 'nothing is left behind');
});

test('who is not let in is told why, at once', async (context) => {
  const secret = randomHex(8);
  const guarded = await startServer({ password: secret });
  context.after(guarded.remove);
  const changed = (part: 'password' | 'username' | 'pathname', text: string): string => {
    const address = new URL(guarded.url);
    address[part] = text;
    return address.href;
  };
  const table: readonly (readonly [exit: number, message: RegExp, url: string])[] = [
    [6, /password authentication failed/, changed('password', 'wrong')],
    [6, /password must be a string/, changed('password', '')],
    [6, /password authentication failed/, changed('username', 'nobody')],
    [6, /database "none" does not exist/, changed('pathname', '/none')],
    [6, /does not support SSL/, `${guarded.url}?sslmode=require`],
    [6, /does not support SSL/, `${guarded.url}?sslmode=verify-full`],
    [2, /ENOENT/, `${guarded.url}?sslmode=verify-full&sslrootcert=/nowhere/root.crt`],
    [2, /cannot be read/, 'postgres://127.0.0.1:99999/none'],
    [2, /of no server that is known/, 'mysql://127.0.0.1/none'],
  ];
  for (const [exit, message, url] of table) {
    const world = worldOn(context, url);
    for (const args of [['status'], ['begin', 'review']]) {
      const start = performance.now();
      const error = world.refusal(exit, ...args);
      assert.match(error.message, message);
      assert.ok(!JSON.stringify(error).includes(secret), 'no password is told');
      assert.ok(performance.now() - start < 5000, 'nobody is waited for');
    }
  }
  worldOn(context, guarded.url).answer('begin', 'review');
});

test('where no server answers the store is busy, and says what to do', async (context) => {
  const silent = createServer(() => {});
  const chatty = createServer((socket) => void socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const closed = createServer();
  const from = 'postgres://ana@127.0.0.1/none';
  for (const listener of [silent, chatty]) context.after(() => void listener.close());
  const urls = [await listenFor(from, silent), await listenFor(from, chatty), await listenFor(from, closed)];
  closed.close();
  await once(closed, 'close');
  for (const url of urls) {
    const start = performance.now();
    const refusal = await turnedAway(context, url, { patience: 600 });
    assert.deepEqual([refusal.code, refusal.retryable, refusal.hint], ['busy', true, 'run the same command again']);
    assert.match(refusal.message, /cannot be reached: \S.*\.$/);
    assert.ok(performance.now() - start < 5000, url);
  }
});

test('where all connections are taken one that becomes free is waited for', async (context) => {
  const {
    url,
    names: [crowded = ''],
  } = await rolesIn(context, 1);
  await administer(
    url,
    `ALTER ROLE ${crowded} CONNECTION LIMIT 1`,
    `CREATE SCHEMA stint_shared AUTHORIZATION ${crowded}`,
  );
  const other = new pg.Client({ connectionString: urlOf(url, crowded) });
  await other.connect();
  const refusal = await turnedAway(context, urlOf(url, crowded), { patience: 300 });
  assert.deepEqual([refusal.code, refusal.retryable], ['busy', true]);
  const coming = handAt(context, urlOf(url, crowded), { patience: 5000 });
  await other.end();
  await (await coming).ask('begin', { kind: 'review', name: 'in' });
});

test('stint.json names the variable that has the address, and the project', async (context) => {
  const url = await useDatabase(context, server);
  const world = createWorld(context).with({
    env: { TEAM_STORE: url, STINT_STORE: undefined, STINT_PROJECT: undefined },
  });
  world.write('stint.json', JSON.stringify({ store: 'env:TEAM_STORE', project: 'team' }));
  world.with({ cwd: world.project }).answer('begin', 'review', '--name', 'named');
  assert.equal((await askServer(url, 'SELECT count(*)::int AS n FROM stint_team.event'))[0].n, 2);
  assert.match(
    world.with({ env: { TEAM_STORE: undefined } }).refusal(2, 'status').message,
    /"TEAM_STORE", which is not set/,
  );
});
