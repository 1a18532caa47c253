/** What `import review` takes over of an original: all of it, once, as it was; and what it leaves alone. */
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { openStint, type JsonObject } from '../src/index.ts';
import { as, claim } from './support/leases.ts';
import { makeOcrProject, ocrVersions, type NewRow, type OcrContents } from './support/ocr-databases.ts';
import { advanceTo, approval, completeRound, finding, json, objection } from './support/reviews.ts';
import { dumpStore, eventsOf, treeOf } from './support/stores.ts';
import { assertAnswer, command, createWorld, listOf, type Printed, type TestWorld } from './support/world.ts';

const reviewPhases = ['change-context', 'analysis', 'reviews', 'aggregation', 'discourse', 'synthesis'];
const mapPhases = ['topology', 'flow-analysis', 'requirements-mapping', 'synthesis'];

const verdict = {
  verdict: 'REQUEST CHANGES',
  blocker_count: 1,
  should_fix_count: 2,
  suggestion_count: 3,
  reviewer_count: 2,
  total_finding_count: 6,
};

/** A minute of the day on which everything happens, as the original writes it. */
const at = (minute: number): string =>
  `2026-03-01 ${String(10 + Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}:00`;

const rowOf = (id: string, more: NewRow = {}): NewRow => ({ id, started_at: at(0), updated_at: at(59), ...more });

/** The events of a session, one a minute from `from` on. */
const told = (session: string, from: number, ...events: readonly NewRow[]): readonly NewRow[] =>
  events.map((event, index) => ({ session_id: session, created_at: at(from + index), ...event }));

const created = (phase: string): NewRow => ({ event_type: 'session_created', phase, round: 1 });
const entered =
  (round: number) =>
  (phase: string): NewRow => ({ event_type: 'phase_transition', phase, round });

const reviewed = (round: number): readonly NewRow[] => [
  ...reviewPhases.map(entered(round)),
  { event_type: 'round_completed', phase: 'synthesis', round, metadata: json(verdict) },
  entered(round)('complete'),
];

const closed: NewRow = { event_type: 'session_closed', phase: 'complete', round: 1 };

/** A finished review, an open one in its second round, and a finished map; processes where the schema knows them. */
const everything = (version: number): OcrContents => ({
  version,
  sessions: [
    rowOf('done', { status: 'closed', current_phase: 'complete', phase_number: 8 }),
    rowOf('open', { branch: 'feature/login', current_phase: 'reviews', phase_number: 4, current_round: 2 }),
    rowOf('mapped', { workflow_type: 'map', status: 'closed', current_phase: 'complete', phase_number: 6 }),
  ],
  events: [
    ...told('done', 0, created('context'), ...reviewed(1), closed),
    ...told(
      'open',
      10,
      created('context'),
      ...reviewed(1),
      { event_type: 'round_started', phase: 'context', round: 2 },
      ...reviewPhases.slice(0, 3).map(entered(2)),
    ),
    ...told(
      'mapped',
      30,
      created('map-context'),
      ...mapPhases.map(entered(1)),
      {
        event_type: 'map_completed',
        phase: 'synthesis',
        round: 1,
        metadata: json({ section_count: 2, file_count: 5 }),
      },
      entered(1)('complete'),
      closed,
    ),
  ],
  executions: version < 10 ? [{ command: 'ocr review', started_at: at(5) }] : processesOf(version),
});

const processesOf = (version: number): readonly NewRow[] =>
  [
    { id: 'a', name: 'ended', persona: 'principal', instance_index: 1, exit_code: 0, ended: at(20) },
    { id: 'b', name: 'killed', persona: 'quality', instance_index: 1, exit_code: null, ended: at(20) },
    { id: 'c', name: 'cancelled', persona: 'security', instance_index: 1, exit_code: -4, ended: at(20) },
    // Its pid is that of a program that runs, and says nothing here.
    {
      id: 'd',
      name: 'running',
      persona: 'security',
      instance_index: 2,
      exit_code: null,
      ended: null,
      pid: process.pid,
    },
    { id: 'e', name: 'gone', persona: 'security', instance_index: 3, exit_code: null, ended: null, pid: 4_000_000 },
  ].map(({ id, ended, ...row }) => ({
    ...row,
    workflow_id: 'open',
    vendor: 'claude',
    vendor_session_id: `conversation-${id}`,
    started_at: at(15),
    last_heartbeat_at: at(16),
    ...(version === 10 ? { id, ended_at: ended } : { uid: id, command: 'session-instance:x-1', finished_at: ended }),
  }));

const sessionIn = (answer: Printed, key: string): Printed =>
  listOf(answer.sessions).find(({ session }) => session === key);

const resultsOf = (answer: Printed): readonly (readonly [string, string])[] =>
  listOf(answer.sessions).map(({ session, result }) => [session, result]);

/** Adds to an original as its own programs would. */
const grow = (
  world: TestWorld,
  action: (insert: (table: string, row: NewRow) => void, database: DatabaseSync) => void,
) => {
  const database = new DatabaseSync(world.path('.ocr/data/ocr.db'));
  action((table, row) => {
    const columns = Object.keys(row);
    database
      .prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
      .run(...Object.values(row));
  }, database);
  database.close();
};

for (const version of ocrVersions) {
  test(`an original of schema ${version} is previewed, taken once, and not touched`, async (context) => {
    const world = createWorld(context);
    makeOcrProject(world.project, everything(version));
    world.write('.ocr/sessions/done/rounds/round-1/final.md', '# Final\n');
    const original = treeOf(world.path('.ocr'));

    const preview = world.answer('import', 'review', '--dry-run');
    assert.equal(existsSync(world.path('.stint')), false, 'a preview leaves nothing behind');
    const taken = world.answer('import', 'review');
    assert.deepEqual({ ...taken, dry_run: true }, preview);
    assert.equal(taken.schema, version);
    const stint = openStint({ cwd: world.project });
    assert.ok(stint.ok);
    const ask = async (verb: string, input: JsonObject = {}): Promise<Printed> => {
      const answer = await stint.value.run(verb, input);
      assert.ok(answer.ok, verb);
      return answer.value;
    };
    assert.deepEqual(
      listOf(taken.sessions).map(({ session, result, status, position, problems }) => [
        session,
        result,
        status,
        position,
        problems,
      ]),
      [
        ['review:done', 'imported', 'completed', 'complete (8/8), round 1', []],
        ['review:open', 'imported', 'active', 'reviews (4/8), round 2', []],
        ['map:mapped', 'imported', 'completed', 'complete (6/6), map run 1', []],
      ],
    );
    const before = dumpStore(world);
    const again = await ask('import review');
    assert.deepEqual(new Set(resultsOf(again).map(([, result]) => result)), new Set(['unchanged']));
    assert.deepEqual(dumpStore(world), before, 'doing it again changes nothing');
    assert.deepEqual(treeOf(world.path('.ocr')), original);

    const done = await ask('status', { session: 'review:done' });
    assert.partialDeepStrictEqual(done.rounds[0], verdict);
    assert.deepEqual(
      [done.started_at, done.closed_at, done.round_started_at],
      ['2026-03-01T10:00:00.000Z', '2026-03-01T10:09:00.000Z', '2026-03-01T10:00:00.000Z'],
    );
    const map = await ask('status', { session: 'map:mapped' });
    assert.partialDeepStrictEqual(map.rounds[0], { section_count: 2, file_count: 5 });
    assert.equal((await ask('status', { session: 'review:open' })).branch, 'feature/login');
    assert.equal(listOf((await ask('process list', { all: true })).processes).length, version < 10 ? 0 : 5);
    assert.equal(taken.unlinked_executions, version < 10 ? 1 : 0);
    assert.equal((await ask('doctor')).healthy, true);
    await stint.value.close();
  });
}

/** Healthy; what an original has left in its folders is no litter of ours. */
const assertHealthy = (world: TestWorld): void => assert.equal(world.answer('doctor').healthy, true);

test('a folder, the folder that holds it, and the checkout’s own name the same original', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.path('elsewhere'), everything(14));
  for (const path of ['elsewhere', 'elsewhere/.ocr', world.path('elsewhere')])
    assert.equal(listOf(world.answer('import', 'review', path, '--dry-run').sessions).length, 3);
  makeOcrProject(world.project, { version: 14, sessions: [rowOf('mine')] });
  mkdirSync(world.path('src'));
  const below = world.with({ cwd: world.path('src') });
  assert.deepEqual(resultsOf(below.answer('import', 'review')), [['review:mine', 'imported']]);
});

/** Another program that has an original open, with one session in its log alone and another one that is not committed. */
const openedByOthers = async (context: TestContext, path: string): Promise<ChildProcess> => {
  const insert = (id: string): string =>
    `INSERT INTO sessions (id, branch, workflow_type, session_dir) VALUES ('${id}', 'main', 'review', 'x')`;
  const program = `
    const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(process.argv[1]);
    database.exec("PRAGMA wal_autocheckpoint = 0; ${insert('late')}; BEGIN IMMEDIATE; ${insert('never')}");
    process.stdout.write('open');
    process.stdin.resume();
  `;
  const child = spawn(process.execPath, ['--no-warnings', '-e', program, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  context.after(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
};

for (const wasKilled of [false, true]) {
  const name = wasKilled ? 'has left open when it was killed' : 'holds open';
  test(`an original that another program ${name} is read with what lies in its log, and no byte of it changes`, async (context) => {
    const world = createWorld(context);
    const child = await openedByOthers(context, makeOcrProject(world.project, everything(14)));
    if (wasKilled) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    const original = treeOf(world.path('.ocr'));
    assert.deepEqual(
      Object.keys(original).filter((file) => file.startsWith('data/')),
      ['data/ocr.db', 'data/ocr.db-shm', 'data/ocr.db-wal'],
    );
    const taken = world.answer('import', 'review');
    assert.equal(sessionIn(taken, 'review:late').result, 'imported');
    assert.equal(sessionIn(taken, 'review:never'), undefined, 'what was not committed is not there');
    assert.deepEqual(treeOf(world.path('.ocr')), original);
  });
}

test('an original whose files and folders may not be written is read', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, everything(14));
  const path = world.path('.ocr/data/ocr.db');
  const paths = pathsBelow(world.path('.ocr'));
  const isRoot = process.getuid?.() === 0;
  const user = { uid: 65_534, gid: 65_534 };
  if (isRoot) for (const one of pathsBelow(world.root)) chownSync(one, user.uid, user.gid);
  for (const one of paths) chmodSync(one, lstatSync(one).mode & 0o555);
  const original = treeOf(world.path('.ocr'));
  const reader = isRoot ? world.with({ user }) : world;
  // Somewhere else, since the mirrors of this checkout lie beside the original.
  const outcome = reader.run('import', 'review', '--json', '--store', join(world.root, 'home'));
  assert.equal(outcome.json.error, undefined, outcome.stdout);
  assert.equal(listOf(outcome.json.sessions).length, 3);
  assert.deepEqual(treeOf(world.path('.ocr')), original);
  if (isRoot) {
    chmodSync(path, 0);
    const error = reader.refusal(6, 'import', 'review', '--store', join(world.root, 'home'));
    assert.match(error.message, /ocr\.db/);
  }
  for (const one of paths) chmodSync(one, lstatSync(one).mode | 0o700);
});

const pathsBelow = (folder: string): readonly string[] => [
  ...readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? pathsBelow(path) : [path];
  }),
  folder,
];

test('of an original that has grown only what is new is taken, and it is what was previewed', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, everything(14));
  world.answer('import', 'review');
  const before = eventsOf(world, 'review:open');
  grow(world, (insert) => {
    insert('orchestration_events', {
      session_id: 'open',
      created_at: '2026-03-18 10:40:00',
      ...entered(2)('aggregation'),
    });
    insert('sessions', { branch: 'main', workflow_type: 'review', session_dir: 'x', ...rowOf('new') });
  });
  const later = world.with({ now: '2026-03-19T12:00:00Z' });
  const preview = later.answer('import', 'review', '--dry-run');
  const taken = later.answer('import', 'review');
  assert.deepEqual({ ...taken, dry_run: true }, preview);
  assert.deepEqual(resultsOf(taken), [
    ['review:done', 'unchanged'],
    ['review:open', 'imported'],
    ['map:mapped', 'unchanged'],
    ['review:new', 'imported'],
  ]);
  const after = eventsOf(world, 'review:open');
  assert.deepEqual(after.slice(0, before.length), before);
  assert.deepEqual(
    after.slice(before.length).map(({ type, data, at: time }) => [type, data.phase, time]),
    [
      ['PhaseEntered', 'aggregation', '2026-03-18T10:40:00.000Z'],
      ['Imported', undefined, '2026-03-19T12:00:00.000Z'],
    ],
  );
  assert.ok(resultsOf(world.answer('import', 'review')).every(([, result]) => result === 'unchanged'));
  assertHealthy(world);
});

test('what has grown is not taken into a session that somebody else holds, and told; the others are taken, and its holder takes it', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, everything(14));
  world.answer('import', 'review');
  grow(world, (insert) => {
    insert('orchestration_events', told('open', 40, entered(2)('aggregation'))[0] ?? {});
    insert('sessions', { branch: 'main', workflow_type: 'review', session_dir: 'x', ...rowOf('new') });
  });
  claim(world, '--session', 'open');
  const others = as(world, 'bob').answer('import', 'review');
  const held = sessionIn(others, 'review:open');
  assert.equal(held.result, 'refused');
  assert.match(String(listOf(held.problems).at(-1)), /^review:open is held by ana@desk /);
  assert.equal(sessionIn(others, 'review:new').result, 'imported');
  assert.equal(sessionIn(world.answer('import', 'review'), 'review:open').result, 'imported');
  assertHealthy(world);
});

test('a session that the original closes, or opens again for a next round, later on is closed and opened here too', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, everything(14));
  world.answer('import', 'review');
  grow(world, (insert, database) => {
    for (const event of told('open', 40, ...reviewPhases.slice(3).map(entered(2)), ...reviewed(2).slice(6), closed))
      insert('orchestration_events', event);
    for (const event of told('done', 40, { event_type: 'round_started', phase: 'context', round: 2 }))
      insert('orchestration_events', event);
    database.exec(
      `UPDATE sessions SET status = CASE id WHEN 'done' THEN 'active' ELSE 'closed' END WHERE workflow_type = 'review'`,
    );
  });
  const taken = world.answer('import', 'review');
  assert.deepEqual(
    ['review:done', 'review:open'].map((key) => {
      const { status, position } = sessionIn(taken, key);
      return [status, position];
    }),
    [
      ['active', 'context (1/8), round 2'],
      ['completed', 'complete (8/8), round 2'],
    ],
  );
  assertHealthy(world);
});

test('what became of processes meanwhile is taken, also where no event tells of it', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, everything(14));
  world.answer('import', 'review');
  grow(world, (insert, database) => {
    database.exec(`UPDATE command_executions SET finished_at = '${at(30)}', exit_code = 0 WHERE uid = 'd'`);
    const row = { command: 'session-instance:x-9', workflow_id: 'open', started_at: at(31) };
    insert('command_executions', { uid: 'f', ...row });
    insert('command_executions', { uid: 'g', ...row, finished_at: at(32), exit_code: 3 });
  });
  assert.equal(sessionIn(world.answer('import', 'review'), 'review:open').result, 'imported');
  const outcomes = Object.fromEntries(
    listOf(world.answer('process', 'list').processes).map(({ id, status, exit_code: code }) => [id, [status, code]]),
  );
  assert.deepEqual(
    [outcomes['d'], outcomes['f'], outcomes['g']],
    [
      ['done', 0],
      ['running', null],
      ['crashed', 3],
    ],
  );
  assert.equal(sessionIn(world.answer('import', 'review'), 'review:open').result, 'unchanged');
  assertHealthy(world);
});

test('a row that the original closes without an event is closed here too, once', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, { version: 5, sessions: [rowOf('a')], events: told('a', 0, created('context')) });
  world.answer('import', 'review');
  grow(world, (_, database) => database.exec(`UPDATE sessions SET status = 'closed', current_phase = 'complete'`));
  const { result, status } = sessionIn(world.answer('import', 'review'), 'review:a');
  assert.deepEqual([result, status], ['imported', 'aborted']);
  assert.equal(sessionIn(world.answer('import', 'review'), 'review:a').result, 'unchanged');
});

test('a session that has gone on here is left alone when the original grows, and that is told', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, everything(14));
  world.answer('import', 'review');
  world.answer('advance', 'aggregation', '--session', 'review:open');
  assert.equal(sessionIn(world.answer('import', 'review'), 'review:open').result, 'unchanged');
  grow(world, (insert) =>
    insert('orchestration_events', { session_id: 'open', created_at: at(40), ...entered(2)('aggregation') }),
  );
  const before = dumpStore(world);
  const { result, position } = sessionIn(world.answer('import', 'review'), 'review:open');
  assert.deepEqual([result, position], ['it has gone on here', 'aggregation (5/8), round 2']);
  assert.deepEqual(dumpStore(world), before);
});

test('a session that somebody else holds is not written by an import, and that is told; all others are taken', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, everything(14));
  world.answer('import', 'review');
  const token = claim(world, '--session', 'review:open', '--purpose', 'round 2');
  grow(world, (insert) => {
    insert('orchestration_events', { session_id: 'open', created_at: at(40), ...entered(2)('aggregation') });
    insert('sessions', { branch: 'main', workflow_type: 'review', session_dir: 'x', ...rowOf('new') });
  });
  const before = eventsOf(world, 'review:open');
  const bob = as(world, 'bob');
  const taken = bob.answer('import', 'review');
  assert.deepEqual(resultsOf(taken), [
    ['review:done', 'unchanged'],
    ['review:open', 'refused'],
    ['map:mapped', 'unchanged'],
    ['review:new', 'imported'],
  ]);
  assert.equal(
    listOf(sessionIn(taken, 'review:open').problems).at(-1),
    'review:open is held by ana@desk on desk (worktree main) since 2026-03-17T12:00:00.000Z until 2026-03-17T12:30:00.000Z, for: round 2; whether it is alive is not known.',
  );
  assert.equal(taken.taken_over, undefined);
  assert.deepEqual(eventsOf(world, 'review:open'), before);

  const forced = bob.answer('import', 'review', '--take-over');
  assert.deepEqual(
    resultsOf(forced).map(([, result]) => result),
    ['unchanged', 'imported', 'unchanged', 'unchanged'],
  );
  const { lease_token: newer, ...over } = forced.taken_over[0];
  assert.deepEqual(
    [over, forced.taken_over.length],
    [{ session: 'review:open', from: 'ana@desk', lease_expires_at: '2026-03-17T12:30:00.000Z' }, 1],
  );
  assert.ok(newer > token);
  assert.equal(bob.answer('lease', 'show', 'review:open').mine, true);
  assertHealthy(world);
});

test('its holder imports into a session as before', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, everything(14));
  world.answer('import', 'review');
  const token = claim(world, '--session', 'review:open');
  grow(world, (insert) =>
    insert('orchestration_events', { session_id: 'open', created_at: at(40), ...entered(2)('aggregation') }),
  );
  const shown = as(world, 'bob').with({ env: { STINT_LEASE_TOKEN: String(token) } });
  assert.equal(sessionIn(shown.answer('import', 'review', '--dry-run'), 'review:open').result, 'imported');
  assert.equal(sessionIn(world.answer('import', 'review'), 'review:open').result, 'imported');
  assert.equal(world.answer('lease', 'show', 'review:open').token, token);
});

test('a remark or a heartbeat here is not going on: what the original adds is still taken', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, everything(14));
  world.answer('import', 'review');
  world.answer('note', 'seen', '--session', 'review:open');
  world.answer('process', 'beat', 'd');
  grow(world, (insert) =>
    insert('orchestration_events', { session_id: 'open', created_at: at(40), ...entered(2)('aggregation') }),
  );
  assert.equal(sessionIn(world.answer('import', 'review'), 'review:open').result, 'imported');
});

test('a session that was begun here under the name of one of the original stays what it is, and that is told', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, everything(14));
  world.answer('begin', 'review', '--name', 'open', '--branch', 'mine');
  const before = eventsOf(world, 'review:open');
  assert.deepEqual(resultsOf(world.answer('import', 'review')), [
    ['review:done', 'imported'],
    ['review:open', 'another one of this name is here'],
    ['map:mapped', 'imported'],
  ]);
  assert.deepEqual(eventsOf(world, 'review:open'), before);
});

test('a session of the same name from another original is not mixed with the first one', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.path('one'), { version: 14, sessions: [rowOf('a')] });
  makeOcrProject(world.path('two'), {
    version: 14,
    sessions: [rowOf('a', { started_at: at(7) })],
    events: told('a', 7, created('context'), entered(1)('change-context')),
  });
  world.answer('import', 'review', 'one');
  assert.deepEqual(resultsOf(world.answer('import', 'review', 'two')), [
    ['review:a', 'another one of this name is here'],
  ]);
});

test('a process that is on record for another session is left out, and that is told', (context) => {
  const world = createWorld(context);
  const executions = (id: string): readonly NewRow[] => [
    { uid: 'u', workflow_id: id, command: 'session-instance:x-1', started_at: at(1) },
  ];
  for (const id of ['a', 'b'])
    makeOcrProject(world.path(id), { version: 14, sessions: [rowOf(id)], executions: executions(id) });
  world.answer('import', 'review', 'a');
  const { problems } = sessionIn(world.answer('import', 'review', 'b'), 'review:b');
  assert.deepEqual(problems, ['The process u is on record for review:a: it was left out.']);
  assertHealthy(world);
});

test('a file alone completes nothing: neither of a session that only its folder tells of, nor of an open one', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, {
    version: 14,
    sessions: [rowOf('open', { current_phase: 'synthesis' }), rowOf('chart', { workflow_type: 'map' })],
    events: [
      ...told('open', 0, created('context'), ...reviewPhases.map(entered(1))),
      ...told('chart', 0, created('map-context'), ...mapPhases.map(entered(1))),
    ],
  });
  const files = {
    'rounds/round-1/final.md': '# Final\n\nAPPROVE\n',
    'rounds/round-1/round-meta.json': json(approval),
    'map/runs/run-1/map.md': '# Map\n',
    'map/runs/run-1/map-meta.json': json({ schema_version: 1, sections: [] }),
    'state.json': json({ status: 'closed', current_phase: 'complete' }),
  };
  for (const [path, text] of Object.entries(files)) {
    for (const id of ['open', 'chart', 'both']) world.write(`.ocr/sessions/${id}/${path}`, text);
    // Each file alone, too.
    world.write(`.ocr/sessions/only-${path.split('/').at(-1)?.replace('.', '-')}/${path}`, text);
  }
  const taken = world.answer('import', 'review');
  for (const { session, result } of listOf(taken.sessions)) {
    assert.equal(result, 'imported');
    const status = world.answer('status', session);
    assert.equal(status.has_terminal_artifact, false, session);
    assert.notEqual(status.outcome, 'completed', session);
    assert.deepEqual(
      eventsOf(world, session).filter(({ type }) => /Completed|RoundImported/.test(type)),
      [],
    );
  }
  assert.deepEqual(
    listOf(taken.sessions)
      .filter(({ status }) => status === 'active')
      .map(({ session }) => session),
    ['review:open', 'map:chart'],
  );
  assert.equal(sessionIn(taken, 'review:both').status, 'aborted');
  assert.equal(sessionIn(taken, 'map:both').status, 'aborted');
  const { reason } = world.answer('status', 'review:both');
  assert.equal(reason, 'found as files only: nothing on record says that it was completed');
});

test('what the original’s own reconcile concluded from a file is no completion', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, {
    version: 14,
    sessions: [rowOf('a', { status: 'closed', current_phase: 'complete' })],
    events: told('a', 0, created('context'), {
      event_type: 'round_completed',
      round: 1,
      metadata: json({ source: 'reconciled', synthesized_from: 'final.md' }),
    }),
  });
  assert.equal(sessionIn(world.answer('import', 'review'), 'review:a').status, 'aborted');
});

test('an imported round keeps its verdict and counts, and the original’s file of it is never rewritten', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, everything(14));
  const meta = world.write('.ocr/sessions/open/rounds/round-1/round-meta.json', '{ "schema_version": 1, "odd": true }');
  const original = readFileSync(meta, 'utf8');
  world.answer('import', 'review');
  advanceTo(world, 'synthesis', '--session', 'review:open');
  completeRound(world, approval, '--session', 'review:open');
  world.answer('rebuild');
  world.answer('doctor', '--fix');
  world.answer('finish', '--session', 'review:open');
  const { rounds } = world.answer('status', 'review:open');
  assert.partialDeepStrictEqual(rounds[0], { round: 1, ...verdict });
  assert.equal(rounds[1].verdict, 'APPROVE');
  assert.equal(readFileSync(meta, 'utf8'), original);
  assert.deepEqual(readdirSync(world.path('.ocr/sessions/open/rounds/round-1')), ['round-meta.json']);
  assert.ok(existsSync(world.path('.ocr/sessions/open/rounds/round-2/round-meta.json')));
});

test('what a round found comes over from its file where it agrees with the completion, and not where it does not', (context) => {
  const summary = {
    verdict: 'REQUEST CHANGES',
    blocker_count: 1,
    should_fix_count: 0,
    suggestion_count: 0,
    reviewer_count: 1,
    total_finding_count: 2,
  };
  const contents: OcrContents = {
    version: 14,
    sessions: [rowOf('a')],
    events: told('a', 0, created('context'), {
      event_type: 'round_completed',
      phase: 'synthesis',
      round: 1,
      metadata: json(summary),
    }),
  };
  const payloadWith = (file: unknown): unknown => {
    const world = createWorld(context);
    makeOcrProject(world.project, contents);
    world.write('.ocr/sessions/a/rounds/round-1/round-meta.json', json(file));
    world.answer('import', 'review');
    return eventsOf(world, 'review:a').find(({ type }) => type === 'RoundImported').data.payload;
  };
  assert.deepEqual(payloadWith(objection), objection);
  assert.equal(payloadWith(approval), undefined, 'another verdict');
  assert.equal(payloadWith('rubbish'), undefined);
});

test('an open session goes on here: it is advanced, completed and finished', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, everything(14));
  world.answer('import', 'review');
  const ours = ['--session-id', 'open'];
  assert.equal(world.refusal(6, 'state', 'finish', ...ours).code, 'invariant-unmet');
  for (const phase of ['aggregation', 'discourse', 'synthesis'])
    world.answer('state', 'advance', '--phase', phase, ...ours);
  world.with({ input: json(approval) }).answer('state', 'complete-round', '--stdin', ...ours);
  assert.equal(world.answer('state', 'finish', ...ours).outcome, 'completed');
  assert.equal(
    world.answer('state', 'begin', '--session-id', 'done', '--branch', 'main', '--workflow-type', 'review').round,
    2,
    'and a finished one has its next round',
  );
  assertHealthy(world);
});

test('processes come over as they ended, one that was killed without an exit code too, and none is judged by its pid', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, everything(14));
  world.answer('import', 'review');
  const rows = listOf(world.answer('process', 'list', '--all').processes);
  assert.deepEqual(
    rows.map(({ id, status, exit_code: code, ended_at: ended, liveness, host }) => [
      id,
      status,
      code,
      ended === null ? null : String(ended).slice(11, 16),
      liveness,
      host,
    ]),
    [
      ['a', 'done', 0, '10:20', 'ended', 'unknown'],
      ['b', 'crashed', null, '10:20', 'ended', 'unknown'],
      ['c', 'cancelled', null, '10:20', 'ended', 'unknown'],
      ['d', 'running', null, null, 'quiet', 'unknown'],
      ['e', 'running', null, null, 'quiet', 'unknown'],
    ],
  );
  const swept = world.with({ env: { STINT_HOST: 'unknown' } }).answer('process', 'sweep').swept;
  assert.deepEqual(swept, [], 'also not on a machine that is called so');
  assert.equal(world.answer('status', 'review:open').resume.vendor_session_id, 'conversation-e');
});

test('a process that was there before its session does not make the session older', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, {
    version: 14,
    sessions: [rowOf('a', { started_at: at(5) })],
    events: told('a', 5, created('context')),
    // The dashboard writes exact times, the rest of the original whole seconds.
    executions: [
      {
        uid: 'u',
        workflow_id: 'a',
        command: 'ocr review',
        started_at: '2026-03-01T10:04:59.700Z',
        last_heartbeat_at: '2026-03-01T10:04:59.800Z',
        finished_at: '2026-03-01 10:04:59',
        exit_code: 0,
      },
    ],
  });
  world.answer('import', 'review');
  assert.equal(world.answer('status', 'review:a').started_at, '2026-03-01T10:05:00.000Z');
  const [row] = listOf(world.answer('process', 'list').processes);
  assert.deepEqual([row.kind, row.status, row.exit_code], ['supervisor', 'done', 0]);
});

test('times of the original are UTC, whatever the zone of the machine and however they are written', (context) => {
  const seen = new Set<string>();
  for (const zone of ['UTC', 'Asia/Kolkata', 'America/New_York']) {
    const world = createWorld(context).with({ env: { TZ: zone } });
    makeOcrProject(world.project, {
      version: 14,
      sessions: [{ id: 'night', started_at: '2026-03-08 06:30:00', updated_at: '2026-03-08T08:00:00.250+00:00' }],
      events: [
        { session_id: 'night', created_at: '2026-03-08 06:30:00', ...created('context') },
        // New York had no clock time between 02:00 and 03:00 that night.
        { session_id: 'night', created_at: '2026-03-08 07:30:00', ...entered(1)('change-context') },
        { session_id: 'night', created_at: '2026-03-08T13:30:00.5+05:30', ...entered(1)('analysis') },
        { session_id: 'night', created_at: '2026-03-08T08:30:00Z', event_type: 'session_aborted' },
      ],
    });
    world.answer('import', 'review');
    const spans = listOf(world.answer('timeline', 'night').spans).map(({ from, ms }) => [from, ms]);
    seen.add(JSON.stringify(spans));
    for (const { at: time } of eventsOf(world, 'review:night'))
      assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
  assert.deepEqual(
    [...seen],
    [
      JSON.stringify([
        ['2026-03-08T06:30:00.000Z', 3_600_000],
        ['2026-03-08T07:30:00.000Z', 1_800_500],
        ['2026-03-08T08:00:00.500Z', 1_799_500],
      ]),
    ],
  );
});

test('a database of a newer schema is read as far as it is known, and that is told', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, everything(23));
  grow(world, (insert, database) => {
    insert('schema_version', { version: 31, description: 'from the future' });
    database.exec('ALTER TABLE sessions ADD COLUMN mood TEXT; DROP TABLE user_notes');
  });
  const taken = world.answer('import', 'review');
  assert.equal(taken.schema, 31);
  assert.deepEqual(taken.problems, ['The schema 31 is newer than the newest known one (23).']);
  assert.ok(resultsOf(taken).every(([, result]) => result === 'imported'));
});

test('a damaged database, one that is empty or another program’s, is refused, and its folders are not taken in its stead', (context) => {
  const damage: readonly ((path: string) => void)[] = [
    (path) => writeFileSync(path, 'no database at all, but long enough to be looked at as one'),
    (path) => writeFileSync(path, ''),
    (path) => {
      rmSync(path);
      const database = new DatabaseSync(path);
      database.exec('CREATE TABLE sessions (id TEXT)');
      database.close();
    },
    (path) => {
      const whole = readFileSync(path);
      writeFileSync(path, whole.fill(0x5a, 4096));
    },
  ];
  for (const spoil of damage) {
    const world = createWorld(context);
    const path = makeOcrProject(world.project, everything(11));
    world.write('.ocr/sessions/done/rounds/round-1/final.md', '# Final\n');
    spoil(path);
    const original = treeOf(world.path('.ocr'));
    const error = world.refusal(14, 'import', 'review');
    assert.match(error.message, /\.ocr\/data\/ocr\.db /);
    assert.equal(String(error.message).includes(world.temporary), false, 'the path of a copy is nobody’s business');
    assert.equal(existsSync(world.path('.stint')), false);
    assert.deepEqual(treeOf(world.path('.ocr')), original);
    assert.deepEqual(readdirSync(world.temporary), [], 'no copy is left behind');
  }
});

test('without a database the folders are taken, closed; without both there is nothing to take', (context) => {
  const world = createWorld(context);
  world.write('plain.txt', 'x');
  mkdirSync(world.path('empty/.ocr'), { recursive: true });
  for (const path of [undefined, 'plain.txt', 'empty', 'empty/.ocr', 'nowhere'])
    assert.equal(world.refusal(4, 'import', 'review', ...(path === undefined ? [] : [path])).code, 'not-found');
  assert.equal(existsSync(world.path('.stint')), false);
  world.write('.ocr/sessions/2026-03-01-feature-x/context.md', '# Context\n');
  const taken = world.answer('import', 'review');
  assert.equal(taken.schema, null);
  const { status } = sessionIn(taken, 'review:2026-03-01-feature-x');
  assert.equal(status, 'aborted');
  assert.equal(world.answer('status', 'review:2026-03-01-feature-x').branch, 'feature-x');
});

test('a folder that does not say its kind belongs to the session of its name, also to one that was begun here', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, { version: 14, sessions: [rowOf('theirs', { workflow_type: 'map' })] });
  world.answer('begin', 'map', '--name', 'ours');
  for (const id of ['theirs', 'ours', 'nobodys'])
    world.write(`.ocr/sessions/${id}/discovered-standards.md`, '# Standards\n');
  assert.deepEqual(resultsOf(world.answer('import', 'review')), [
    ['map:theirs', 'imported'],
    ['review:nobodys', 'imported'],
    ['review:ours', 'another one of this name is here'],
  ]);
  assert.equal(world.answer('status', 'ours').session, 'map:ours', 'its name still means one');
});

test('ids that are no names are told and not taken, and lead nowhere', (context) => {
  const world = createWorld(context);
  const hostile = ['../../evil', '..', 'a/b', '-rf', 'con', 'a..b', 'x\ny', 'ü', ' ', 'a'.repeat(200)];
  makeOcrProject(world.project, {
    version: 14,
    sessions: [...hostile, 'good'].map((id) => rowOf(id)),
    events: hostile.flatMap((id) => told(id, 0, created('context'), ...reviewed(1), closed)),
  });
  for (const id of ['-x', 'a..c', 'nul']) world.write(`.ocr/sessions/${id}/final.md`, '# Final\n');
  const taken = world.answer('import', 'review');
  assert.deepEqual(resultsOf(taken), [['review:good', 'imported']]);
  assert.equal(listOf(taken.ignored).length, hostile.length - 1 + 3, 'a blank id is no id at all');
  assert.deepEqual(taken.problems, ['A session without an id was left out.', ...listOf(taken.problems).slice(1)]);
  assert.deepEqual(Object.keys(treeOf(world.root, (path) => /^(?:home|tmp|project\/\.(?:git|ocr|stint))/.test(path))), [
    'project',
  ]);
  const { stdout } = world.run('import', 'review');
  assert.doesNotMatch(stdout, /x\ny/);
});

test('secrets in what others wrote are redacted as everywhere, and told', (context) => {
  const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  const summary = {
    verdict: 'APPROVE',
    blocker_count: 0,
    should_fix_count: 0,
    suggestion_count: 1,
    reviewer_count: 1,
    total_finding_count: 1,
  };
  const contents: OcrContents = {
    version: 14,
    sessions: [rowOf('a')],
    events: told(
      'a',
      0,
      created('context'),
      { event_type: 'session_resumed', metadata: json({ kind: 'forward_resume', note: secret }) },
      { event_type: 'round_completed', phase: 'synthesis', round: 1, metadata: json(summary) },
    ),
    executions: [{ uid: 'u', workflow_id: 'a', command: 'session-instance:x-1', started_at: at(1), notes: secret }],
  };
  const payload = {
    ...approval,
    reviewers: [{ type: 'a', instance: 1, findings: [finding('A key was found here', 'suggestion', secret)] }],
  };
  for (const [flags, found] of [
    [[], { 'github-token': 3 }],
    [['--no-redact'], undefined],
  ] as const) {
    const world = createWorld(context);
    makeOcrProject(world.project, contents);
    world.write('.ocr/sessions/a/rounds/round-1/round-meta.json', json(payload));
    assert.deepEqual(world.answer('import', 'review', ...flags).redacted, found);
    assert.equal(JSON.stringify(dumpStore(world)).includes(secret), found === undefined);
    assert.equal('redacted' in world.answer('import', 'review', ...flags), false, 'nothing was taken, nothing is told');
    assertHealthy(world);
  }
});

test('rounds before the first one that is on record are there, and not complete', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, {
    version: 4,
    sessions: [rowOf('a', { current_round: 3, current_phase: 'reviews' })],
    events: told('a', 0, entered(3)('reviews')),
  });
  const { position, problems } = sessionIn(world.answer('import', 'review'), 'review:a');
  assert.equal(position, 'reviews (4/8), round 3');
  assert.deepEqual(problems, ['The rounds before 3 are not on record.']);
  const { rounds } = world.answer('status', 'review:a');
  assert.deepEqual(
    listOf(rounds).map((one) => [one.round, one.completed_at]),
    [
      [1, null],
      [2, null],
      [3, null],
    ],
  );
  assert.equal(sessionIn(world.answer('import', 'review'), 'review:a').result, 'unchanged');
});

test('phases that the original was never in are shown as skipped, not as done', (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, {
    version: 4,
    sessions: [rowOf('a', { current_phase: 'reviews' })],
    events: told('a', 0, created('context'), entered(1)('reviews')),
  });
  world.answer('import', 'review');
  const { rounds } = world.answer('status', 'review:a');
  assert.deepEqual(
    listOf(listOf(rounds)[0]?.skipped).map((one) => one.phase),
    ['change-context', 'analysis'],
  );
  const steps = listOf(listOf(world.answer('progress', '--session', 'review:a').sessions)[0]?.steps);
  assert.deepEqual(
    steps.slice(0, 4).map(({ name: step, state }) => [step, state]),
    [
      ['context', 'done'],
      ['change-context', 'skipped'],
      ['analysis', 'skipped'],
      ['reviews', 'current'],
    ],
  );
});

test('a thousand sessions are taken in one go, in a time that grows with their number alone', (context) => {
  const timed = (count: number): number => {
    const world = createWorld(context);
    makeOcrProject(world.project, {
      version: 14,
      sessions: Array.from({ length: count }, (_, index) =>
        rowOf(`s-${index}`, { status: 'closed', current_phase: 'complete' }),
      ),
      events: Array.from({ length: count }, (_, index) =>
        told(`s-${index}`, 0, created('context'), ...reviewed(1), closed),
      ).flat(),
    });
    const start = performance.now();
    const taken = world.answer('import', 'review');
    const time = performance.now() - start;
    assert.equal(resultsOf(taken).filter(([, result]) => result === 'imported').length, count);
    const { healthy, events } = world.answer('doctor');
    assert.deepEqual([healthy, events], [true, count * 11]);
    assert.equal(world.answer('list', '--all').total, count);
    return time;
  };
  const [some, many] = [timed(100), timed(1000)];
  context.diagnostic(`100: ${Math.round(some)} ms, 1000: ${Math.round(many)} ms`);
  assert.ok(many < 40 * some, `${some} ms became ${many} ms`);
});

test('kill -9 in the middle of an import leaves all of it or nothing, and the next one puts it right', (context) => {
  const template = createWorld(context);
  makeOcrProject(template.project, everything(14));
  const original = treeOf(template.path('.ocr'));
  const preload = join(import.meta.dirname, 'support/kill-at-step.ts');
  const killed = (target: number) => {
    const world = createWorld(context, { from: template });
    const child = spawnSync(process.execPath, ['--no-warnings', '--import', preload, command, 'import', 'review'], {
      cwd: world.project,
      env: { ...world.env, ...(target === 0 ? {} : { STINT_TEST_STEP: String(target) }) },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      encoding: 'utf8',
    });
    return { signal: child.signal, steps: Number(child.output[3]), world };
  };
  const eventsIn = (world: TestWorld): number =>
    existsSync(world.path('.stint/stint.db')) ? listOf(dumpStore(world)['event'] ?? []).length : 0;
  const { steps, world: whole } = killed(0);
  const all = eventsIn(whole);
  const found = new Set<number>();
  // The last step is the moment before the process leaves.
  for (let target = steps; target > 0; target -= Math.ceil(steps / 12)) {
    const { signal, world } = killed(target);
    assert.equal(signal, 'SIGKILL', `before change ${target} of ${steps}`);
    found.add(eventsIn(world));
    assertAnswer(world.run('import', 'review', '--json'), `after change ${target} of ${steps}`);
    assert.equal(eventsIn(world), all);
    assertHealthy(world);
    assert.deepEqual(treeOf(world.path('.ocr')), original);
    rmSync(world.root, { recursive: true });
  }
  assert.deepEqual([...found], [all, 0], 'nothing before the commit, all of it after');
});

test('two imports at once take everything once', async (context) => {
  const world = createWorld(context);
  makeOcrProject(world.project, everything(14));
  const outcomes = await Promise.all(
    Array.from({ length: 4 }, async () =>
      assertAnswer(await world.start('import', 'review', '--json').outcome, 'import'),
    ),
  );
  const taken = outcomes.filter((answer) => resultsOf(answer).some(([, result]) => result === 'imported'));
  assert.equal(taken.length, 1);
  const alone = createWorld(context);
  makeOcrProject(alone.project, everything(14));
  alone.answer('import', 'review');
  assert.equal(listOf(dumpStore(world)['event']).length, listOf(dumpStore(alone)['event']).length);
});
