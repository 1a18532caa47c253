/** Copying everything from one store into another, as users do it. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { after, before, test, type TestContext } from 'node:test';
import { claim } from './support/leases.ts';
import { startServer, type TestServer } from './support/postgres.ts';
import { startProcess } from './support/processes.ts';
import { approval, json, reviewIn } from './support/reviews.ts';
import { dumpStore } from './support/stores.ts';
import { createWorld, fileOnly, listOf, type TestWorld } from './support/world.ts';

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(async () => server.remove());

/** A store with everything in it: two sessions, a process, a lease that was renewed, a request, a journal, a mirror, secrets of its own. */
const everything = (context: TestContext): TestWorld => {
  const world = reviewIn(context, 'synthesis');
  world.with({ input: json(approval) }).answer('complete-round', '-');
  world.answer('begin', 'map', '--name', 'mapped');
  startProcess(world, 'supervisor', '--session', 'mapped');
  claim(world, '--session', 'mapped', '--ttl', '1h');
  world.with({ now: '2026-03-17T12:10:00.000Z' }).answer('lease', 'renew', '--session', 'mapped');
  world.answer('note', 'once', '--session', 'mapped', '--request-id', 'r1');
  world.answer('note', 'decision', 'kept', '--rationale', 'r', '--session', 'mapped');
  world.answer('block', 'x', '--needs', 'y', '--session', 'mapped');
  return world;
};

/** What a store holds, but for what is its own: ids of rows, what files looked like, how far a snapshot reaches. */
const contentOf = (world: TestWorld, folder?: string): unknown => {
  const {
    event = [],
    session = [],
    process: processes = [],
    request = [],
    lease = [],
    mirror = [],
  } = dumpStore(world, folder);
  return {
    event: event
      .map((one) => ({ ...one, id: undefined }))
      .toSorted((a, b) => (`${a.session} ${a.seq}` < `${b.session} ${b.seq}` ? -1 : 1)),
    session: session
      .map(({ key, hash, common, view, lease: held }) => ({ key, hash, common, view, lease: held }))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    process: processes.map((one) => ({ ...one, rowid: undefined })),
    request,
    lease: lease.map(({ session: key, step, token, renewed_at: at, expires_at: until }) => ({
      key,
      step,
      token,
      at,
      until,
    })),
    mirror: mirror
      .map(({ path, source, digest }) => ({ path, source, digest }))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  };
};

test(
  'everything goes to a server and back, and is verified; again it changes nothing',
  { skip: fileOnly },
  (context) => {
    const world = everything(context);
    const onServer = world.with({ env: { TEAM: server.url, STINT_PROJECT: 'round-trip' } });
    const there = onServer.answer('store', 'copy', '.stint', 'env:TEAM');
    assert.deepEqual(
      listOf(there.sessions).map(({ session, result }) => [session, result]),
      [
        ['map:mapped', 'copied'],
        ['review:2026-03-17-main', 'copied'],
      ],
    );
    assert.deepEqual([there.verified, there.same_key, there.requests], [true, true, 1]);
    const team = onServer.with({ env: { STINT_STORE: 'env:TEAM' } });
    assert.equal(team.answer('note', 'once', '--session', 'mapped', '--request-id', 'r1').replayed, true);
    const again = team.with({ input: json(approval) }).answer('complete-round', '-', '--session', '2026-03-17-main');
    assert.equal(again.completeness, 'open_with_artifact', 'the same payload is known there');
    assert.deepEqual(team.answer('lease', 'show', 'mapped').expires_at, '2026-03-17T13:10:00.000Z');
    const back = onServer.answer('store', 'copy', 'env:TEAM', '../back.db');
    assert.equal(back.verified, true);
    world.answer('doctor', '--store', '../back.db');
    assert.deepEqual(
      world.answer('log', '--store', '../back.db', '--session', 'mapped').events,
      world.answer('log', '--session', 'mapped').events,
    );
    const repeated = onServer.answer('store', 'copy', '.stint', 'env:TEAM');
    assert.equal(repeated.events_copied, 0);
  },
);

test('a copy is the same in everything that counts', { skip: fileOnly }, (context) => {
  const world = everything(context);
  world.answer('store', 'copy', '.stint', '../stint.db');
  const copied = world.with({ env: { STINT_STORE: '../stint.db' } });
  assert.equal(copied.answer('doctor').healthy, true);
  assert.deepEqual(contentOf(world, world.root), contentOf(world));
});

test(
  'what goes on is gone on with; what has gone on there is refused and left alone, and keeps no other one away',
  { skip: fileOnly },
  (context) => {
    const world = everything(context);
    const copied = world.with({ env: { STINT_STORE: '../stint.db' } });
    world.answer('store', 'copy', '.stint', '../stint.db');
    world.answer('note', 'more', '--session', 'mapped');
    const more = world.answer('store', 'copy', '.stint', '../stint.db');
    assert.deepEqual(
      listOf(more.sessions).map(({ session, result, copied: count }) => [session, result, count]),
      [
        ['map:mapped', 'gone on with', 1],
        ['review:2026-03-17-main', 'unchanged', 0],
      ],
    );
    copied.answer('note', 'there', '--session', 'mapped');
    world.answer('note', 'here', '--session', 'mapped');
    world.answer('finish', '--session', '2026-03-17-main');
    const earlier = dumpStore(world, world.root)['event'];
    const outcome = world.run('store', 'copy', '.stint', '../stint.db');
    assert.equal(outcome.status, 9);
    assert.match(outcome.stderr, /^stint: map:mapped has gone on in another way there: event 9 is another one\.\n/);
    assert.match(outcome.stdout, /^map:mapped +refused .*\nreview:2026-03-17-main +gone on with/);
    const now = listOf(dumpStore(world, world.root)['event']);
    assert.deepEqual(
      now.filter(({ session }) => session === 'map:mapped'),
      listOf(earlier).filter(({ session }) => session === 'map:mapped'),
    );
    assert.equal(copied.answer('doctor').healthy, true);
  },
);

test('a copy that is killed at any moment is gone on with', { skip: fileOnly }, async (context) => {
  const world = everything(context);
  for (let count = 0; count < 30; count += 1) world.answer('note', `remark ${count}`, '--session', 'mapped');
  for (let kill = 0; kill < 12; kill += 1) {
    const { child, outcome } = world.start('store', 'copy', '.stint', '../stint.db', '--json');
    setTimeout(() => void child.kill('SIGKILL'), 60 + kill * 12);
    await outcome;
  }
  const last = world.answer('store', 'copy', '.stint', '../stint.db');
  assert.equal(last.verified, true);
  assert.deepEqual(contentOf(world, world.root), contentOf(world));
});

test(
  'one store under two names, and stores that are not there or none, are refused by name',
  { skip: fileOnly },
  (context) => {
    const world = everything(context);
    assert.equal(
      world.refusal(2, 'store', 'copy', '.stint', '.stint/stint.db').message,
      'Both names are of one store.',
    );
    assert.equal(world.refusal(4, 'store', 'copy', 'nowhere', 'x.db').code, 'not-found');
    writeFileSync(world.path('text'), 'no store');
    assert.equal(world.refusal(14, 'store', 'copy', 'text', 'x.db').code, 'damaged');
    assert.equal(
      world.refusal(4, 'store', 'copy', '.stint', 'no/such/folder/x.db').hint,
      `mkdir -p ${world.path('no/such/folder')}`,
    );
    assert.equal(world.refusal(2, 'store', 'copy', '.stint', 'env:NOT_SET').code, 'usage');
  },
);

test('stint.json says where the store is; it is written once, holds no password, and is refused where it cannot be used', (context) => {
  const world = createWorld(context).with({
    env: { STINT_STORE: undefined, STINT_PROJECT: undefined, TEAM: server.url },
  });
  assert.deepEqual(world.answer('init', '--store', 'env:TEAM', '--project', 'said'), {
    schema_version: 1,
    path: 'stint.json',
    store: 'env:TEAM',
    project: 'said',
    written: true,
  });
  assert.equal(world.answer('init', '--store', 'env:TEAM', '--project', 'said').written, false);
  world.refusal(9, 'init', '--store', 'env:OTHER', '--project', 'said');
  world.refusal(9, 'init', '--store', 'env:TEAM', '--project', 'another');
  world.refusal(2, 'init', '--store', server.url, '--project', 'said');
  world.refusal(2, 'init', '--project', 'said');
  world.refusal(2, 'init', '--store', 'env:TEAM', '--project', 'Not Legal');
  assert.deepEqual(world.answer('list').sessions, []);
  world.answer('begin', 'review', '--name', 'here');
  assert.equal(existsSync(world.path('.stint/stint.db')), false, 'nothing is kept here');
  assert.match(world.answer('doctor').store, /\(project said\)$/);
  assert.equal(world.with({ env: { TEAM: undefined } }).refusal(2, 'status').code, 'usage');
  for (const [text, problem] of [
    ['{', 'Expected'],
    ['[]', '$: expected an object'],
    ['{"store": 1}', '$.store: expected a text'],
    ['{"project": ""}', '$.project: expected a text'],
    ['{"store": "postgres://a:secret@host/db"}', 'it holds a password, and git sees this file'],
  ] as const) {
    world.write('stint.json', text);
    const message = String(world.refusal(7, 'status').message);
    assert.ok(message.includes(problem), message);
    assert.ok(!message.includes('secret'), message);
  }
  world.write('stint.json', '\uFEFF{"store": "inside", "other": true}');
  assert.equal(world.refusal(4, 'status').code, 'not-found', 'a path is meant from where the file lies');
});
