/** Following the log: every event once and in order, whatever happens to the reader, the server or the file. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { after, before, test, type TestContext } from 'node:test';
import { openStint, StoreFailure, type JsonObject, type Stint, type Watched } from '../src/index.ts';
import { writeFileAtomic } from '../src/lib/atomic-file.ts';
import { openStint as openServerStint } from '../src/postgres.ts';
import { settle } from './support/damage.ts';
import { assertInOrder, startFollower, writeNotes } from './support/follower.ts';
import { makeDatabase, startServer, type TestServer } from './support/postgres.ts';
import { startProcess } from './support/processes.ts';
import { dumpStore, holdLock } from './support/stores.ts';
import { command, createWorld, listOf, runWholeProcesses, type Printed, type TestWorld } from './support/world.ts';

runWholeProcesses();

let server: TestServer | undefined;
before(async () => {
  server = await startServer();
});
after(async () => server?.remove());

/** A world whose store is a file, also where the tests of other files have theirs on a server. */
const fileWorld = (context: TestContext): TestWorld =>
  createWorld(context).with({ env: { STINT_STORE: undefined, STINT_PROJECT: undefined } });

/** A world whose store lies on a server. */
const serverWorld = async (context: TestContext, url: string): Promise<TestWorld> => {
  const database = await makeDatabase(url);
  context.after(async () => database.drop());
  return createWorld(context).with({ env: { STINT_STORE: database.url, STINT_PROJECT: 'test' } });
};

const begin = (world: TestWorld, ...names: readonly string[]): void => {
  for (const name of names) world.answer('begin', 'review', '--name', name, '--branch', name);
};

/** Follows to an end: so many events. */
const take = (world: TestWorld, count: number, ...flags: readonly string[]): readonly Printed[] => {
  const { status, stdout, stderr } = world.run('log', '--follow', '--json', '--limit', String(count), ...flags);
  assert.deepEqual([stderr, status], ['', 0], flags.join(' '));
  const given = stdout
    .trimEnd()
    .split('\n')
    .map((line): Printed => JSON.parse(line));
  assert.equal(given.length, count);
  return given;
};

test('each event is a line; with --json a document with everything that log has of it, its session and a cursor', (context) => {
  const world = fileWorld(context);
  begin(world, 'a');
  world.answer('note', 'first\nsecond \u001b[31m');
  const { stdout, status, stderr } = world.run('log', '--follow', '--limit', '3');
  assert.deepEqual([stderr, status], ['', 0]);
  assert.equal(
    stdout,
    [
      'review:a 1 2026-03-17T12:00:00.000Z SessionOpened ana@desk branch=a worktree=main',
      'review:a 2 2026-03-17T12:00:00.000Z RoundStarted ana@desk round=1 phase=context phase_number=1',
      'review:a 3 2026-03-17T12:00:00.000Z Noted ana@desk text=first second [31m',
      '',
    ].join('\n'),
  );
  const given = take(world, 3);
  const events = listOf(world.answer('log').events);
  assert.deepEqual(
    given,
    events.map((event) => ({
      schema_version: 1,
      session: 'review:a',
      ...event,
      cursor: `review:a@${event.seq}.${String(event.hash).slice(0, 8)}`,
    })),
  );
  for (const [index, { cursor }] of given.slice(0, -1).entries())
    assert.deepEqual(take(world, 2 - index, '--after', cursor), given.slice(index + 1));
});

test('one session, the only open one or all: who follows all goes on with the cursor of all', (context) => {
  const world = fileWorld(context);
  begin(world, 'a', 'b');
  assert.equal(world.refusal(3, 'log', '--follow').code, 'ambiguous');
  assert.equal(world.refusal(4, 'log', '--follow', '--session', 'nobody').code, 'not-found');
  const b = take(world, 2, '--session', 'b');
  assert.deepEqual(
    b.map(({ session, seq }) => `${session} ${seq}`),
    ['review:b 1', 'review:b 2'],
  );
  const all = take(world, 4, '--all');
  assertInOrder(all);
  assert.match(all[3]?.cursor, /^review:a@2\.[0-9a-f]{8},review:b@2\.[0-9a-f]{8}$/);
  world.answer('note', 'more', '--session', 'a');
  assert.deepEqual(
    take(world, 1, '--all', '--after', all[3]?.cursor).map(({ data }) => data.text),
    ['more'],
  );
  // A cursor of more sessions than are followed keeps the others.
  const [one] = take(world, 1, '--session', 'a', '--after', all[3]?.cursor);
  assert.match(one?.cursor, /^review:a@3\.[0-9a-f]{8},review:b@2\.[0-9a-f]{8}$/);
  writeFileSync(world.path('cursor'), `${String(one?.cursor)}\n`);
  world.answer('note', 'still more', '--session', 'b');
  assert.deepEqual(
    take(world, 1, '--all', '--after', '@cursor').map(({ data }) => data.text),
    ['still more'],
  );
});

test('cursors that are none are refused before anything is looked at, and those of another history with what they say', (context) => {
  const world = fileWorld(context);
  begin(world, 'a');
  for (const cursor of [
    'nonsense',
    'review:a',
    'review:a@-1',
    'review:a@1e3',
    'review:a@1.5',
    'review:a@01',
    'review:a@9999999999999999999999',
    'a@1',
    'review:../a@1',
    'review:a@1,',
    ',',
    'review:a@1,review:a@2',
    'review:a@1.8F14E45F',
    'review:a@1;DROP',
    '{"review:a":1}',
    'x'.repeat(100_000),
  ]) {
    const refusal = world.refusal(2, 'log', '--follow', '--all', `--after=${cursor}`);
    assert.equal(refusal.code, 'usage', cursor);
    assert.ok(refusal.message.length < 200);
  }
  assert.equal(world.refusal(4, 'log', '--follow', '--all', '--after', '@nowhere').code, 'not-found');
  for (const cursor of ['review:a@3', 'review:a@999999', 'review:a@1.00000000', 'review:a@2.00000000']) {
    const refusal = world.refusal(9, 'log', '--follow', '--all', '--after', cursor);
    assert.match(refusal.message, /^Event \d+ of review:a is not the one that the cursor stands behind\.$/);
  }
  assert.equal(take(world, 2, '--all', '--after', '').length, 2);
  assert.equal(take(world, 2, '--all', '--after', 'review:a@0').length, 2);
  assert.equal(take(world, 1, '--all', '--after', 'review:a@1').length, 1);
  const unknown = world.run('log', '--follow', '--all', '--json', '--limit', '2', '--after', 'review:x@7');
  assert.equal(unknown.status, 0);
  assert.match(unknown.stderr, /^stint: the cursor names review:x of which there is nothing in this store\n$/);
});

test('what does not go together is refused', (context) => {
  const world = fileWorld(context);
  begin(world, 'a');
  for (const flags of [
    ['--all'],
    ['--after', 'now'],
    ['--follow', '--all', '--session', 'a'],
    ['--follow', '--quiet'],
    ['--follow', '--limit', '0'],
  ])
    assert.equal(world.refusal(2, 'log', ...flags).code, 'usage', flags.join(' '));
  assert.equal(world.refusal(4, 'log', '--follow', '--all', '--store', 'elsewhere').code, 'not-found');
});

test('it waits for what is to come, also for a store, sees sessions that begin later, and ends with 130', async (context) => {
  const world = fileWorld(context);
  const follower = startFollower(context, world, '--all');
  begin(world, 'a');
  await follower.until(2);
  begin(world, 'b');
  world.answer('note', 'x', '--session', 'a');
  startProcess(world, 'instance', '--session', 'b');
  await follower.until(6);
  assertInOrder(follower.given);
  assert.equal(await follower.end('SIGINT'), 130);
  assert.equal(follower.said(), '');

  const later = startFollower(context, world, '--all', '--after', follower.given[5]?.cursor);
  world.answer('note', 'y', '--session', 'b');
  await later.until(1);
  assert.equal(await later.end('SIGTERM'), 143);
  assert.deepEqual(
    later.given.map(({ data }) => data.text),
    ['y'],
  );
});

test('with --after now only what is still to come is given', async (context) => {
  const world = fileWorld(context);
  begin(world, 'a');
  const follower = startFollower(context, world, '--after', 'now');
  // It says nothing when it has looked: so it is written to until something comes.
  let written = 0;
  while (follower.given.length === 0) {
    written += 1;
    world.answer('note', String(written));
    await Promise.race([follower.until(1), pause(100)]);
  }
  assert.ok(follower.given[0]?.seq > 2);
  await follower.end('SIGINT');
});

test('a reader who goes away ends it without a word, and one who takes his time does not keep it from ending', async (context) => {
  const world = fileWorld(context);
  begin(world, 'a');
  const left = spawn(
    'bash',
    ['-c', '("$0" "$1" log --follow; echo "exit $?" >&2) | head -n 1', process.execPath, command],
    {
      cwd: world.project,
      env: world.env,
    },
  );
  let said = '';
  left.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(left.stdout, 'data');
  const ended = once(left, 'close');
  while (left.exitCode === null) {
    world.answer('note', 'x');
    await Promise.race([ended, pause(100)]);
  }
  await ended;
  assert.equal(said, 'exit 0\n');

  for (let count = 0; count < 4; count += 1) world.with({ input: undefined }).answer('note', 'x'.repeat(100_000));
  const slow = spawn(process.execPath, [command, 'log', '--follow'], {
    cwd: world.project,
    env: world.env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  slow.stdout.pause();
  await once(slow.stdout, 'readable');
  slow.kill('SIGINT');
  const [status, signal] = await once(slow, 'exit');
  assert.ok(status === 130 || signal === 'SIGINT', `${status} ${signal}`);
});

test('a remark of a megabyte comes whole, and others behind it', async (context) => {
  const world = fileWorld(context);
  begin(world, 'a');
  const opened = openStint({ cwd: world.project });
  assert.ok(opened.ok);
  const text = `${'é€𝄞 '.repeat(100_000)}end`;
  for (const one of [text, 'small', text]) assert.ok((await opened.value.run('note', { text: one, session: 'a' })).ok);
  await opened.value.close();
  const given = take(world, 5);
  assert.deepEqual(
    given.slice(2).map(({ data }) => data.text),
    [text, 'small', text],
  );
});

test('a cursor of many sessions stands on some lines, on the last one always, and from each of them it goes on', async (context) => {
  const world = fileWorld(context);
  const opened = openStint({ cwd: world.project });
  assert.ok(opened.ok);
  for (let count = 0; count < 300; count += 1) {
    const name = `one-of-the-sessions-${count}`;
    assert.ok((await opened.value.run('begin', { kind: 'review', name, branch: name })).ok);
  }
  await opened.value.close();
  const given = take(world, 600, '--all');
  assertInOrder(given);
  const at = given.flatMap(({ cursor }, index) => (cursor === undefined ? [] : [index]));
  assert.ok(at.length > 50 && at.length < 400, String(at.length));
  assert.equal(at.at(-1), 599);
  for (const index of [at[0], at[Math.floor(at.length / 2)], at.at(-2)]) {
    assert.ok(index !== undefined);
    world.write('cursor', given[index]?.cursor);
    const rest = take(world, 599 - index, '--all', '--after', '@cursor');
    assert.deepEqual(
      rest.map(({ session, seq }) => `${session} ${seq}`).toSorted(),
      given
        .slice(index + 1)
        .map(({ session, seq }) => `${session} ${seq}`)
        .toSorted(),
    );
  }
});

/** Kills who follows again and again while others write, and asserts that he got everything once. */
const killWhileWriting = async (context: TestContext, world: TestWorld): Promise<void> => {
  const names = ['a', 'b', 'c', 'd'];
  begin(world, ...names);
  const writers = 8;
  const each = 50;
  const total = 2 * names.length + writers * each;
  const writing = Promise.all(
    Array.from({ length: writers }, async (_, index) =>
      writeNotes(context, world, `review:${names[index % names.length] ?? ''}`, `w${index}`, each),
    ),
  );
  const given: Printed[] = [];
  for (let round = 0; round < 6 && given.length < total; round += 1) {
    const cursor = given.at(-1)?.cursor;
    const follower = startFollower(context, world, '--all', ...(cursor === undefined ? [] : ['--after', cursor]));
    const left = total - given.length;
    // Killed five times, at some moment of what is left; then not any more.
    await follower.until(round === 5 ? left : Math.floor(1 + (Math.random() * left) / 3));
    await follower.end('SIGKILL');
    assert.equal(follower.said(), '');
    given.push(...follower.given);
  }
  await writing;
  assert.equal(given.length, total);
  assertInOrder(given);
  for (const name of names)
    assert.deepEqual(
      given.filter(({ session }) => session === `review:${name}`).map(({ seq, hash }) => ({ seq, hash })),
      listOf(world.answer('log', '--session', name).events).map(({ seq, hash }) => ({ seq, hash })),
    );
};

test('8 writers, and a reader who is killed five times: every event once and in order, in a file', async (context) => {
  await killWhileWriting(context, fileWorld(context));
});

test('8 writers, and a reader who is killed five times: every event once and in order, on a server', async (context) => {
  await killWhileWriting(context, await serverWorld(context, server?.url ?? ''));
});

test('a server that is killed and started again while others write: every event once and in order', async (context) => {
  const own = await startServer();
  context.after(async () => own.remove());
  const database = await makeDatabase(own.url);
  const world = createWorld(context).with({ env: { STINT_STORE: database.url, STINT_PROJECT: 'test' } });
  begin(world, 'a', 'b');
  const follower = startFollower(context, world, '--all');
  await follower.until(4);
  const writing = Promise.all(
    ['a', 'a', 'b', 'b'].map(async (name, index) => writeNotes(context, world, `review:${name}`, `w${index}`, 40)),
  );
  for (const count of [20, 60, 100]) {
    await follower.until(count);
    await own.kill();
    await own.start();
  }
  await writing;
  await follower.until(4 + 160);
  assertInOrder(follower.given);
  // While it is away for longer it is waited for, with a word.
  await own.kill();
  await follower.untilSaid(/^stint: waiting: The store postgres:\/\/\S+ \(project test\) cannot be reached: /m);
  await own.start();
  begin(world, 'c');
  await follower.until(4 + 160 + 2);
  await follower.untilSaid(/^stint: the store is there again$/m);
  assertInOrder(follower.given);
  assert.equal(await follower.end('SIGINT'), 130);
});

const overwriteStart = (world: TestWorld): void => {
  settle(world);
  const path = world.path('.stint/stint.db');
  writeFileSync(path, readFileSync(path).fill('garbage', 0, 4096));
};

test('a file that a repair replaces is gone on with, and nothing comes twice', async (context) => {
  const world = fileWorld(context);
  begin(world, 'a', 'b');
  const follower = startFollower(context, world, '--all');
  await follower.until(4);
  overwriteStart(world);
  // Once it is seen damaged, and once it is repaired before anybody looks again, perhaps.
  await follower.untilSaid(/^stint: waiting: The store \S+ is damaged: /m);
  assert.equal(world.run('doctor', '--fix').status, 0);
  world.answer('note', 'after a repair', '--session', 'a');
  await follower.until(5);
  overwriteStart(world);
  assert.equal(world.run('doctor', '--fix').status, 0);
  world.answer('note', 'after another repair', '--session', 'b');
  await follower.until(6);
  assert.equal(await follower.end('SIGINT'), 130);
  assertInOrder(follower.given);
  assert.deepEqual(
    follower.given.map(({ session, hash }) => `${session} ${hash}`).toSorted(),
    listOf(dumpStore(world)['event'])
      .map(({ session, hash }) => `${session} ${hash}`)
      .toSorted(),
  );
  assert.equal(take(world, 6, '--all').length, 6);
});

test('of a session that came back without its newest events those that stand there now are given, with a word', async (context) => {
  const world = fileWorld(context);
  begin(world, 'a', 'b');
  settle(world);
  const path = world.path('.stint/stint.db');
  const old = readFileSync(path);
  for (let count = 0; count < 3; count += 1) world.answer('note', `lost ${count}`, '--session', 'a');
  const follower = startFollower(context, world, '--all');
  await follower.until(7);
  assert.equal(await follower.end('SIGINT'), 130);
  const { cursor } = follower.given[6];
  // The file of before, without its log: what the tip names is not there any more.
  writeFileSync(path, old);
  spawnSync('rm', ['-f', `${path}-wal`, `${path}-shm`]);
  assert.equal(world.refusal(14, 'log', '--follow', '--all', '--after', cursor).code, 'damaged');
  const fixed = world.run('doctor', '--fix', '--json');
  assert.equal(fixed.status, 0, fixed.stdout);
  world.answer('note', 'after the repair', '--session', 'a');
  const events = listOf(world.answer('log', '--session', 'a').events);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['SessionOpened', 'RoundStarted', 'Salvaged', 'Noted'],
  );
  const again = startFollower(context, world, '--all', '--after', cursor);
  await again.untilSaid(
    /^stint: review:a was brought back from a damaged store: its events from 3 on follow as they are now$/m,
  );
  await again.until(2);
  assert.equal(await again.end('SIGINT'), 130);
  assert.deepEqual(
    again.given.map(({ session, seq, type }) => `${session} ${seq} ${type}`),
    ['review:a 3 Salvaged', 'review:a 4 Noted'],
  );
});

test('a store that is locked does not disturb a reader', async (context) => {
  const world = fileWorld(context);
  begin(world, 'a');
  const holder = await holdLock(world);
  assert.equal(take(world, 2).length, 2);
  await holder.release();
});

/** What a loop over it gets, up to so many events. */
const watchSome = async (stint: Stint, count: number, options: Parameters<Stint['watch']>[0] = {}) => {
  const watched: Watched[] = [];
  for await (const one of stint.watch(options)) {
    watched.push(one);
    if (watched.length === count) break;
  }
  return watched;
};

const texts = (watched: readonly Watched[]): readonly unknown[] => watched.map(({ event }) => event.data['text']);

/** What the library promises, over either store. */
const testLibrary = async (stint: Stint): Promise<void> => {
  const run = async (verb: string, input: JsonObject): Promise<void> => {
    const answer = await stint.run(verb, input);
    assert.ok(answer.ok, JSON.stringify(answer));
  };
  await run('begin', { kind: 'review', name: 'a', branch: 'a' });
  await run('begin', { kind: 'review', name: 'b', branch: 'b' });
  const four = await watchSome(stint, 4);
  assert.deepEqual(
    four.map(({ event }) => `${event.session} ${event.seq}`),
    ['review:a 1', 'review:a 2', 'review:b 1', 'review:b 2'],
  );
  const { cursor = '' } = four[2] ?? {};
  await run('note', { text: 'one', session: 'a' });
  assert.deepEqual(
    (await watchSome(stint, 2, { cursor })).map(({ event }) => `${event.session} ${event.seq}`),
    ['review:b 2', 'review:a 3'],
    'what is read at once comes in the order in which it happened',
  );

  // A session that is not there yet, and one that nobody asked for.
  const later = watchSome(stint, 2, { sessions: ['review:c'] });
  await run('note', { text: 'two', session: 'a' });
  await run('begin', { kind: 'review', name: 'c', branch: 'c' });
  assert.deepEqual(
    (await later).map(({ event }) => event.session),
    ['review:c', 'review:c'],
  );

  // Two at once do not know of each other.
  const cursorNow = (await watchSome(stint, 8)).at(-1)?.cursor ?? '';
  const both = [watchSome(stint, 3, { cursor: cursorNow }), watchSome(stint, 3, { cursor: cursorNow })];
  for (const text of ['x', 'y', 'z']) await run('note', { text, session: 'a' });
  for (const one of both) assert.deepEqual(texts(await one), ['x', 'y', 'z']);

  // It ends when it is told to, before, while and after it waits.
  assert.deepEqual(await watchSome(stint, 99, { signal: AbortSignal.abort() }), []);
  const ending = new AbortController();
  const seen: Watched[] = [];
  for await (const one of stint.watch({ signal: ending.signal })) {
    seen.push(one);
    if (seen.length === 11) setImmediate(() => ending.abort());
  }
  assert.equal(seen.length, 11);

  for (const options of [{ cursor: 'nonsense' }, { sessions: ['a'] }, { sessions: ['review:../a'] }])
    await assert.rejects(
      async () => watchSome(stint, 1, options),
      (error) => error instanceof StoreFailure && error.refusal.code === 'usage',
    );
  await assert.rejects(
    async () => watchSome(stint, 1, { cursor: 'review:a@99' }),
    (error) => error instanceof StoreFailure && error.refusal.code === 'conflict',
  );

  const open = watchSome(stint, 99);
  await run('note', { text: 'last', session: 'b' });
  await stint.close();
  assert.ok((await open).length <= 12);
  assert.deepEqual(await watchSome(stint, 1), []);
};

test('whoever keeps the cursor with what he made of an event makes it once, however often he begins anew', async (context) => {
  const world = fileWorld(context);
  begin(world, 'a', 'b');
  const opened = openStint({ cwd: world.project });
  assert.ok(opened.ok);
  const stint = opened.value;
  const place = world.write('counted.json', '{"counts":{},"cursor":""}');
  for (let run = 0; run < 4; run += 1) {
    world.answer('note', `of run ${run}`, '--session', 'b');
    const { counts, cursor: kept }: Printed = JSON.parse(readFileSync(place, 'utf8'));
    for await (const { event, cursor } of stint.watch({ cursor: kept })) {
      counts[event.type] = (counts[event.type] ?? 0) + 1;
      writeFileAtomic(place, JSON.stringify({ counts, cursor }));
      if (event.type === 'Noted') break;
    }
  }
  await stint.close();
  const { counts }: Printed = JSON.parse(readFileSync(place, 'utf8'));
  assert.deepEqual(counts, { SessionOpened: 2, RoundStarted: 2, Noted: 4 });
});

test('the library watches a file', async (context) => {
  const opened = openStint({ cwd: fileWorld(context).project });
  assert.ok(opened.ok);
  await testLibrary(opened.value);
});

test('the library watches a server', async (context) => {
  const database = await makeDatabase(server?.url ?? '');
  context.after(async () => database.drop());
  const opened = await openServerStint({ cwd: fileWorld(context).project, store: database.url, project: 'test' });
  assert.ok(opened.ok);
  await testLibrary(opened.value);
});
