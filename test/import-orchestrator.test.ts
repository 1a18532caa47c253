/** What `import orchestrator` takes over of the sessions of an orchestrator of agents: all that can be read, once, as it was. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { caseFile, caseLines } from './support/cases.ts';
import { as, claim } from './support/leases.ts';
import { ordinary, withoutUser } from './support/permissions.ts';
import { dumpStore, eventsOf, treeOf } from './support/stores.ts';
import {
  assertAnswer,
  command,
  createWorld,
  fileOnly,
  later,
  listOf,
  say,
  shared,
  sorted,
  withoutShared,
  type Printed,
  type TestWorld,
} from './support/world.ts';

const id = '2026-03-01-tea123';
const key = `orchestration:${id}`;
const current = '.claude/orchestrator-session.json';
const historyOf = (name: string): string => `.claude/orchestrator-history/${name}.json`;

const at = (minute: number): string => `2026-03-01T08:${String(minute).padStart(2, '0')}:00Z`;

/** A session in which water was boiled, tea is being poured, and the table is to be laid. */
const document = (more: Printed = {}): Printed => ({
  schema_version: '1.0',
  session_id: id,
  created: at(0),
  updated: at(10),
  project: { name: 'tea', path: '/srv/tea', git_branch: 'green' },
  goal: 'Serve tea',
  mode: 'optimize',
  status: 'in_progress',
  agents: [
    {
      id: 'boil-1',
      type: 'code',
      task: 'Boil water',
      status: 'complete',
      started: at(1),
      completed: at(4),
      result_summary: 'Hot',
      context_tokens: 900,
    },
    { id: 'pour-1', type: 'code', task: 'Pour', status: 'in_progress', started: at(5), progress: 60 },
  ],
  completed_work: [{ task: 'Water', outcome: 'hot', files: ['kettle.md'] }],
  pending_tasks: ['Lay the table'],
  decisions_made: [{ decision: 'Green tea', rationale: 'late', timestamp: at(3) }],
  context_usage: { estimated_tokens: 61000, percentage: 48, last_compression: at(6) },
  errors: [
    { agent: 'pour-1', message: 'spilt', at: at(7) },
    { message: 'no milk', at: at(8) },
  ],
  ...more,
});

const text = (content: Printed): string => `${JSON.stringify(content, null, 2)}\n`;
const put = (world: TestWorld, path: string, content: Printed): string => world.write(path, text(content));

/** A world in which an orchestrator has left a session. */
const worldWith = (context: TestContext, content: Printed = document()): TestWorld => {
  const world = createWorld(context);
  put(world, current, content);
  return world;
};

const importIn = (world: TestWorld, ...args: readonly string[]): Printed =>
  world.answer('import', 'orchestrator', ...args);

/** Imports where nothing can be taken: that has the exit code of what is wrong, and the report all the same. */
const leaveIn = (world: TestWorld, exit: number, ...args: readonly string[]): Printed => {
  const { status, json } = world.run('import', 'orchestrator', ...args, '--json');
  assert.deepEqual([status, json.error.exit, json.sessions], [exit, exit, []]);
  return json;
};

/** Imports, and answers what became of the only session. */
const take = (world: TestWorld, ...args: readonly string[]): Printed => {
  const { sessions } = importIn(world, ...args);
  assert.equal(listOf(sessions).length, 1);
  return sessions[0];
};

/** Runs a verb that is the first to move a session that was taken over: the original is kept, and that is said. */
const move = (world: TestWorld, ...args: readonly string[]): Printed => {
  const outcome = world.run(...args, '--json');
  assert.equal(outcome.status, 0, outcome.stdout);
  assert.match(
    outcome.stderr,
    /^stint: warning: \S+\.json of the original is kept as \S+\.json\.kept-[\da-f]{8}\n$/,
    args.join(' '),
  );
  return outcome.json;
};

/** The contents of the files that were set aside. */
const keptIn = (world: TestWorld, folder = '.claude'): readonly string[] =>
  readdirSync(world.path(folder))
    .filter((name) => name.includes('.kept-'))
    .map((name) => readFileSync(world.path(folder, name), 'utf8'));

const written = (world: TestWorld, path = current): Printed => JSON.parse(readFileSync(world.path(path), 'utf8'));

const assertHealthy = (world: TestWorld): void => assert.equal(world.answer('doctor').healthy, true);

/** What the checkout holds beside the store and git. */
const filesIn = (world: TestWorld): Readonly<Record<string, string>> =>
  treeOf(world.project, (path) => path === '.git' || path === '.stint');

/** The paths of all keys of a value. */
const keysOf = (value: Printed, path = '$'): readonly string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, item]) => [`${path}.${name}`, ...keysOf(item, `${path}.${name}`)]);

const dialects = 'synthetic/synthetic-craft-dialects';
const withDialects = { skip: withoutShared('fixtures', dialects) };
const fixture = (name: string): Buffer => readFileSync(join(shared, 'fixtures', dialects, name));

/** A world in which a file of another time or of another condition lies where the current session does, or in the history. */
const worldOf = (context: TestContext, name: string, path: string): TestWorld => {
  const world = createWorld(context);
  world.write(path, fixture(name));
  return world;
};

const ledger = '2025-12-28-z9y8x7';
const noZone =
  '$.updated has no zone and was taken as local time, is finer than a millisecond and was cut: "2025-12-28T09:41:12.004511" is 2025-12-28T09:41:12.004Z.';
const ledgerIs = (...problems: readonly string[]): Taken => [
  ledger,
  '1/3 agents over, 1 failed, 1 in doubt, 2 to do',
  'active',
  'settle',
  ...problems,
];

/** Id, position, status and next action of the current session, and what could not be taken as it was. */
type Taken = readonly [id: string, position: string, status: string, next: string, ...problems: string[]];

const taken: Readonly<Record<string, Taken>> = {
  'd0-no-schema-version': [
    '2025-12-20-q1w2e3',
    '1/2 agents over, 1 in doubt, 2 to do',
    'paused',
    'resume',
    '$.completed_work[0] begins with a mark, which was left out.',
    '$.status is missing: the session was taken as paused.',
    '$.started has no zone and was taken as local time: "2025-12-20T09:15:00" is 2025-12-20T09:15:00Z.',
    '$.updated is not known: 2025-12-20T09:15:00Z, the last time that is told, stands for it.',
  ],
  'd1-schema-1.0': ledgerIs(noZone),
  'd2-schema-1.0.0-guide': [
    '2026-01-19-m4n5o6',
    '1/2 agents over, 1 in doubt, 1 to do',
    'active',
    'settle',
    '$.schema_version is "1.0.0", which is 1.0.',
    '$.agents[0].status is "completed", which means complete.',
    '$.agents[1].progress is 0.35, a share of 1: it was taken as 35 percent.',
    '$.updated is not known: 2026-01-19T10:00:00Z, the last time that is told, stands for it.',
  ],
  'd3-teleport': [
    '77aa11-88bb22',
    '1/2 agents over, 1 in doubt, 1 to do',
    'active',
    'settle',
    '$.agents[0].status is "completed", which means complete.',
    '$.agents[1].progress is 0.5, a share of 1: it was taken as 50 percent.',
    '$.project is no object: {project} was taken as its path.',
  ],
  'x2-nul-tail': ledgerIs(
    'It holds NUL bytes, as a write leaves them that a crash cut off, at line 77, column 1.',
    noZone,
  ),
  'x3-double-document': ledgerIs('It holds another document, which was left out, at line 77, column 1.', noZone),
  'x5-markdown-fence': ledgerIs('It is wrapped in a fence of Markdown, at line 1, column 1.', noZone),
  'x6-bom-crlf': ledgerIs(noZone),
  'x8-hostile-id': [
    'tmp-escape-f980bd',
    ...(ledgerIs().slice(1) as [string, string, string]),
    noZone,
    '$.session_id is "../../../../tmp/escape", which is no safe name, and became tmp-escape-f980bd.',
  ],
};

/** What is told of a file that is not taken. */
const left: Readonly<Record<string, Printed>> = {
  'd4-last-orchestration': {
    is: 'the summary that a hook made of an orchestration',
    why: `It does not say of which one, and was not taken: stint import orchestrator ${current} takes it.`,
  },
  'x1-torn-write': {
    code: 'damaged',
    problem: 'Something of it is lost: 2 places.',
    line: 40,
    column: 20,
    more: [
      'It ends in the middle, as a write that was cut off ($.agents[2].completed), at line 40, column 20.',
      'What it said of completed_work, pending_tasks, decisions_made, context_usage, errors may have stood behind line 40.',
      'left are 3 agents, 0 pieces of completed work, 0 pending tasks, 0 decisions',
    ],
    hint: `What is left of it is taken with stint import orchestrator ${current} --salvage.`,
  },
  'x4-merge-conflict': {
    code: 'invariant-unmet',
    problem: 'It has a git conflict at line 13.',
    line: 13,
    column: 1,
    sides: ['ours', 'theirs'].map((side) => ({
      side,
      label: side === 'ours' ? 'HEAD' : 'other',
      line: 13,
      session_id: ledger,
      status: side === 'ours' ? 'in_progress' : 'complete',
      updated: '2025-12-28T09:41:12.004Z',
      is_whole: true,
    })),
    more: [
      'ours (HEAD): in_progress, updated 2025-12-28T09:41:12.004Z, 3 agents, 1 piece of completed work, 2 pending tasks, 1 decision',
      'theirs (other): complete, updated 2025-12-28T09:41:12.004Z, 3 agents, 1 piece of completed work, 2 pending tasks, 1 decision',
    ],
    hint: `Say which one counts: ours or theirs. stint import orchestrator ${current} --choose ours`,
  },
  'x7-future-version': {
    code: 'newer-version',
    problem: 'It was written by a newer version: its schema is "2.0", and 1 is what is understood here.',
    hint: 'It is left as it is. A newer stint may read it.',
  },
  'x9-empty': {
    code: 'damaged',
    problem: 'It is empty.',
    line: 1,
    column: 1,
    hint: 'If it is that of a session, restore it from a copy, or look into the history beside it.',
  },
};

test('every form and every damage that is known has its outcome here', withDialects, () => {
  assert.deepEqual(
    readdirSync(join(shared, 'fixtures', dialects)).toSorted(),
    sorted([...Object.keys(taken), ...Object.keys(left)].map((name) => `${name}.json`)),
  );
});

/** A problem with what its file says of its project. */
const inWordsOf = (name: string, problem: string): string =>
  problem.includes('{project}')
    ? problem.replace('{project}', JSON.stringify(JSON.parse(fixture(`${name}.json`).toString()).project))
    : problem;

for (const [name, [session, position, status, next, ...problems]] of Object.entries(taken)) {
  test(
    `${name} comes over as the current session as it was, once, and its file stays until something happens here`,
    withDialects,
    (context) => {
      const world = worldOf(context, `${name}.json`, current);
      const outside = () => readdirSync(world.root).toSorted();
      const [before, beside] = [filesIn(world), outside()];
      const preview = importIn(world, '--dry-run');
      assert.equal(existsSync(world.path('.stint')), false, 'a preview leaves nothing behind');
      const answer = importIn(world);
      assert.deepEqual({ ...answer, dry_run: true }, preview);
      const [one] = answer.sessions;
      assert.deepEqual(
        [one.session, one.position, one.status, one.next_action.kind, ...one.problems],
        [`orchestration:${session}`, position, status, next, ...problems.map((problem) => inWordsOf(name, problem))],
      );
      assert.deepEqual([one.result, one.in_doubt, answer.ignored], ['imported', ['code-1'], []]);
      world.answer('note', 'looked at it', '--session', one.session);
      assert.equal(take(world).result, 'unchanged');
      assert.deepEqual([filesIn(world), outside()], [before, beside], 'nothing is written beside the store');
      assertHealthy(world);

      move(world, 'resume', '--rerun', 'code-1', '--reason', 'nothing of it is there', '--session', one.session);
      assert.deepEqual(keptIn(world), [fixture(`${name}.json`).toString()]);
      const ours = written(world);
      assert.deepEqual([ours.schema_version, ours.session_id, ours.status], ['1.0', session, 'in_progress']);
      assert.deepEqual(outside(), beside);
      assertHealthy(world);
    },
  );
}

/** What each of them comes to where nothing else can be taken. */
const exits: Readonly<Record<string, number>> = { damaged: 14, 'invariant-unmet': 6, 'newer-version': 13 };

for (const name of Object.keys(left)) {
  test(
    `${name} is left alone where the current session is, and it is told why and what helps`,
    withDialects,
    (context) => {
      const world = worldOf(context, `${name}.json`, current);
      const before = filesIn(world);
      const exit = exits[left[name].code] ?? 0;
      const answer = exit === 0 ? importIn(world) : leaveIn(world, exit);
      assert.deepEqual([answer.sessions, answer.ignored], [[], [{ path: current, ...left[name] }]]);
      assert.deepEqual(filesIn(world), before);
      const { stdout, stderr } = world.run('import', 'orchestrator');
      assert.match(stderr, exit === 0 ? /^$/ : /^stint: Nothing was taken over\. \.claude\/orchestrator-session\.json/);
      assert.match(
        stdout.replaceAll(world.root, 'ROOT'),
        /^nothing to import in ROOT\/project\nignored: \.claude\/orchestrator-session\.json/,
      );
    },
  );
}

test('in the history each is over, by its name or not, and all of them come at once', withDialects, (context) => {
  const world = createWorld(context);
  const names = [...Object.keys(taken), ...Object.keys(left)];
  for (const name of names) world.write(historyOf(name), fixture(`${name}.json`));
  const before = filesIn(world);
  const answer = importIn(world);
  assert.deepEqual(
    listOf(answer.sessions).map(({ session, status, archived }) => [
      String(session).slice('orchestration:'.length),
      status,
      archived,
    ]),
    [
      ['77aa11-88bb22', 'aborted', true],
      ['2026-01-19-m4n5o6', 'aborted', true],
      ['tmp-escape-f980bd', 'aborted', true],
      [ledger, 'aborted', true],
      ['2025-12-20-q1w2e3', 'aborted', true],
    ],
  );
  const ignored = listOf(answer.ignored);
  assert.equal(ignored.length, names.length - 5);
  for (const { path, problem, is, why } of ignored) {
    const [, name = ''] = /history\/(.+)\.json$/.exec(path) ?? [];
    if (name in left) assert.deepEqual([problem, is], [left[name].problem, left[name].is]);
    // Four files of one session, of one moment: they say the same.
    else assert.match(`${is}: ${why}`, new RegExp(`^another file of the session ${ledger}: It is taken from `));
  }
  assert.deepEqual(filesIn(world), before);
  assertHealthy(world);
  assert.equal(world.answer('history', '--limit', '50').total, 5);
});

test('goal, times, agents, work, usage, decisions and errors come over, each where it belongs here', (context) => {
  const world = worldWith(context);
  take(world);
  const status = world.answer('status');
  assert.deepEqual(
    [status.session, status.goal, status.mode, status.branch, status.started_at, status.activity],
    [key, 'Serve tea', 'optimize', 'green', '2026-03-01T08:00:00.000Z', 'interrupted'],
  );
  assert.equal(status.activity_since, '2026-03-01T08:10:00.000Z');
  const report = world.answer('report');
  assert.deepEqual(
    listOf(report.agents).map((agent) => [agent.id, agent.status, agent.summary, agent.context_tokens]),
    [
      ['boil-1', 'complete', 'Hot', 900],
      ['pour-1', 'in_doubt', null, null],
    ],
  );
  assert.deepEqual(report.completed_work, [{ task: 'Water', outcome: 'hot', files: ['kettle.md'] }]);
  assert.deepEqual(
    listOf(report.pending_tasks).map((todo) => todo.text),
    ['Lay the table'],
  );
  assert.deepEqual(report.context_usage, { estimated_tokens: 61000, percentage: 48 });
  assert.equal(report.last_compression, at(6));
  assert.deepEqual(
    listOf(report.errors).map((error) => [error.agent, error.error]),
    [['pour-1', 'spilt']],
  );
  assert.deepEqual(
    listOf(world.answer('journal').entries).map((entry) => [entry.type, entry.text, entry.rationale, entry.at]),
    [
      ['decision', 'Green tea', 'late', '2026-03-01T08:03:00.000Z'],
      ['error', 'no milk', undefined, '2026-03-01T08:08:00.000Z'],
    ],
  );
  assert.deepEqual(
    eventsOf(world, key).map(({ type, at: time }) => [type, time]),
    [
      ['SessionOpened', '2026-03-01T08:00:00.000Z'],
      ['Noted', '2026-03-01T08:03:00.000Z'],
      ['Noted', '2026-03-01T08:08:00.000Z'],
      ['OrchestrationImported', '2026-03-01T08:10:00.000Z'],
      ['Imported', '2026-03-17T12:00:00.000Z'],
    ],
  );
});

test('G01: of an agent that was at work nobody knows what it has done: it is neither done again nor taken for done unasked', (context) => {
  const world = worldWith(context);
  take(world);
  assert.match(world.answer('status').next_action.text, /^Nobody knows what pour-1 has done: /);
  assert.equal(world.refusal(5, 'agent', 'start', 'pour-1').code, 'illegal-transition');
  assert.equal(world.refusal(6, 'finish').code, 'invariant-unmet');
  move(world, 'resume', '--rerun', 'pour-1', '--reason', 'the cups are empty');
  assert.equal(world.answer('agent', 'start', 'pour-1').attempt, 2);
  world.answer('agent', 'complete', 'pour-1', '--summary', 'Poured');
  world.answer('todo', 'done', '1');
  assert.equal(world.answer('finish').outcome, 'completed');
  const over = written(world, historyOf(id));
  assert.deepEqual([over.status, over.created, over.agents[0].result_summary], ['complete', at(0), 'Hot']);
  assert.equal(existsSync(world.path(current)), false, 'it is in one of the two places');
  assertHealthy(world);
});

const strange = document({
  zz_file: { deep: [1, { é: null }] },
  project: { name: 'tea', path: '/srv/tea', git_branch: 'green', zz_project: true },
  agents: listOf(document().agents).map((agent) => ({ ...agent, zz_agent: agent.id })),
  completed_work: [{ ...document().completed_work[0], zz_work: 1 }],
  pending_tasks: ['Lay the table', { task: 'Serve', zz_task: 'warm' }],
  decisions_made: [{ ...document().decisions_made[0], zz_decision: ['x'] }],
  context_usage: { ...document().context_usage, zz_usage: 'a lot' },
  errors: [
    { agent: 'pour-1', message: 'spilt', at: at(7), zz_error: 1 },
    { message: 'no milk', at: at(8), zz_error: 2 },
  ],
});

test('once something happens here the file is ours, without the loss of a key, and the original is kept beside it', (context) => {
  const world = worldWith(context, strange);
  take(world);
  move(world, 'todo', 'add', 'Wash up');
  const ours = written(world);
  const lost = keysOf(strange).filter((path) => !keysOf(ours).includes(path));
  assert.deepEqual(lost, []);
  assert.deepEqual([ours.zz_file, ours.pending_tasks[1].zz_task], [strange.zz_file, 'warm']);
  assert.deepEqual(
    listOf(ours.errors).map((error) => error.zz_error),
    [1, 2],
  );
  assert.deepEqual(keptIn(world), [text(strange)]);
  // It keeps them when the list changes around them, and in the history.
  world.answer('todo', 'done', '1');
  world.answer('note', 'decision', 'Honey');
  assert.equal(written(world).pending_tasks[0].zz_task, 'warm');
  world.answer('finish', '--abort');
  const over = written(world, historyOf(id));
  assert.deepEqual([over.zz_file, over.decisions_made[0].zz_decision], [strange.zz_file, ['x']]);
  assert.deepEqual(over.decisions_made[1], {
    decision: 'Honey',
    rationale: '',
    timestamp: '2026-03-17T12:00:00Z',
  });
  assert.deepEqual(keptIn(world), [text(strange)]);
});

for (const [name, args] of [
  ['finished', ['finish', '--abort']],
  ['put away for a new one', ['new', 'Serve coffee']],
  ['begun anew', ['begin', 'orchestration', '--fresh', '--goal', 'Serve coffee']],
] as const) {
  test(`a session whose first move here is that it is ${name} leaves its place, and the original is kept`, (context) => {
    const world = worldWith(context);
    take(world);
    const outcome = world.run(...args, '--json');
    assert.equal(outcome.status, 0, outcome.stdout);
    assert.deepEqual(keptIn(world), [text(document())]);
    assert.equal(written(world, historyOf(id)).status, 'aborted');
    if (args[0] === 'finish') assert.equal(existsSync(world.path(current)), false);
    else assert.equal(written(world).goal, 'Serve coffee');
    assertHealthy(world);
    world.answer('rebuild');
    assertHealthy(world);
  });
}

test('a session that was over comes closed, is in the way of none, and goes on from the history', (context) => {
  const world = worldWith(context, document({ status: 'complete', agents: [document().agents[0]] }));
  const one = take(world);
  assert.deepEqual([one.status, one.archived], ['completed', false]);
  const begun = world.run('begin', 'orchestration', '--goal', 'Serve coffee', '--json');
  assert.equal(begun.status, 0, begun.stdout);
  assert.match(
    begun.stderr,
    new RegExp(
      `^stint: warning: \\S+\\.json of the original is kept as \\S+\\.kept-[\\da-f]{8}; ${key} lies in the history now\\n$`,
    ),
  );
  assert.deepEqual(keptIn(world), [text(document({ status: 'complete', agents: [document().agents[0]] }))]);
  assert.equal(written(world).goal, 'Serve coffee');
  assert.deepEqual(
    [written(world, historyOf(id)).status, written(world, historyOf(id)).goal],
    ['complete', 'Serve tea'],
  );
  assert.equal(world.answer('history').total, 1);
  assert.equal(world.answer('history', 'resume', id).put_away, begun.json.session);
  assert.equal(written(world).session_id, id);
  assert.equal(existsSync(world.path(historyOf(id))), false);
  assertHealthy(world);
});

for (const [name, args] of [
  ['new', ['new', 'Serve coffee', '--name', 'coffee']],
  ['begin --fresh', ['begin', 'orchestration', '--fresh', '--goal', 'Serve coffee', '--name', 'coffee']],
  ['an import from elsewhere and its first move', ['todo', 'add', 'Grind', '--session', 'orchestration:coffee']],
] as const)
  test(`a session that was over when it was taken over goes from the current file to the history by ${name}`, (context) => {
    const over = document({ status: 'complete', agents: [document().agents[0]] });
    const world = worldWith(context, over);
    take(world);
    put(world, 'copy/coffee.json', document({ session_id: 'coffee', goal: 'Serve coffee' }));
    if (args[0] === 'todo') assert.equal(take(world, 'copy').result, 'imported');
    assert.equal(existsSync(world.path(historyOf(id))), false);
    const { status, stderr } = world.run(...args);
    assert.equal(status, 0, stderr);
    assert.match(stderr, / of the original is kept as .* lies in the history now$/m);
    assert.deepEqual([written(world).session_id, written(world, historyOf(id)).goal], ['coffee', 'Serve tea']);
    assert.deepEqual(keptIn(world), [text(over)]);
    world.answer('rebuild');
    assertHealthy(world);
    assert.deepEqual(
      listOf(world.answer('history').sessions).map(({ session_id: one, status: how }) => [one, how]),
      [[id, 'complete']],
    );
  });

test('what lies in the history is over as far as it says how, and its file is ours once it goes on and ends again', (context) => {
  const world = createWorld(context);
  put(world, historyOf(id), document({ zz: 1 }));
  put(
    world,
    historyOf('2026-02-01-done12'),
    document({ session_id: '2026-02-01-done12', status: 'complete', agents: [] }),
  );
  const before = filesIn(world);
  const { sessions } = importIn(world);
  const updatedOf = (entry: string) => world.answer('history', 'show', entry).updated;
  assert.deepEqual(
    [updatedOf(id), listOf(world.answer('history').sessions).map(({ updated }) => updated)],
    ['2026-03-01T08:10:00.000Z', Array.from({ length: 2 }, () => '2026-03-01T08:10:00.000Z')],
    'it was written when its file says so',
  );
  assert.deepEqual(
    listOf(sessions).map(({ session, status, archived }) => [session, status, archived]),
    [
      [key, 'aborted', true],
      ['orchestration:2026-02-01-done12', 'completed', true],
    ],
  );
  assert.equal(world.answer('status', key).reason, 'it lay in the history unfinished');
  assert.deepEqual(filesIn(world), before);
  assert.deepEqual(world.answer('history').files, [], 'what is taken over is not listed twice');
  move(world, 'history', 'resume', id);
  assert.deepEqual([written(world).session_id, written(world).zz], [id, 1]);
  assert.equal(existsSync(world.path(historyOf(id))), false, 'it is in one of the two places');
  assert.deepEqual(world.answer('history').files, [], 'nor is what goes on');
  world.answer('resume', '--rerun', 'pour-1');
  world.answer('finish', '--abort');
  assert.match(updatedOf(id), /^2026-03-17T/);
  assert.equal(written(world, historyOf(id)).zz, 1);
  assert.equal(existsSync(world.path(current)), false);
  assert.deepEqual(keptIn(world, '.claude/orchestrator-history'), [text(document({ zz: 1 }))]);
  assertHealthy(world);
});

test('the same file is taken once, under whatever path it is named, from wherever', (context) => {
  const world = worldWith(context);
  importIn(world);
  const before = dumpStore(world);
  mkdirSync(world.path('src'));
  const below = world.with({ cwd: world.path('src') });
  for (const [one, path] of [
    [world, '.'],
    [world, world.project],
    [world, '.claude'],
    [world, '.claude/'],
    [world, current],
    [below, '..'],
    [below, `../${current}`],
  ] as const)
    assert.equal(take(one, path).result, 'unchanged', path);
  assert.equal(take(below).result, 'unchanged');
  assert.deepEqual(dumpStore(world), before);
});

test('from a folder below, what helps is a command that works from there', withDialects, (context) => {
  const world = worldOf(context, 'x1-torn-write.json', current);
  mkdirSync(world.path('a b'));
  const below = world.with({ cwd: world.path('a b') });
  const [, typed = ''] = /with stint (import .* --salvage)\.$/.exec(leaveIn(below, 14).ignored[0].hint) ?? [];
  assert.equal(take(below, ...typed.split(' ').slice(2)).result, 'imported');
});

test('a newer version is taken as long as nothing has happened here, an older one is not, and what was written down since comes once', (context) => {
  const world = worldWith(context);
  take(world);
  const decisions = [...document().decisions_made, { decision: 'Honey', rationale: 'sweet', timestamp: at(19) }];
  put(world, current, document({ updated: at(20), decisions_made: decisions, agents: [document().agents[0]] }));
  const preview = importIn(world, '--dry-run');
  const answer = importIn(world);
  assert.deepEqual({ ...answer, dry_run: true }, preview);
  assert.deepEqual([answer.sessions[0].result, answer.sessions[0].in_doubt], ['updated', []]);
  assert.equal(take(world).result, 'unchanged');
  assert.deepEqual(
    listOf(world.answer('journal', '--type', 'decision').entries).map((entry) => entry.text),
    ['Green tea', 'Honey'],
  );
  put(world, current, document({ updated: at(15) }));
  const before = dumpStore(world);
  const older = take(world);
  assert.deepEqual([older.result, older.why], ['left', 'A newer version of it was taken over.']);
  assert.deepEqual(dumpStore(world), before);
  // Paused, over, and open again, as an orchestrator can make it.
  for (const [minute, status, expected] of [
    [30, 'paused', 'paused'],
    [31, 'aborted', 'aborted'],
    [32, 'in_progress', 'active'],
  ] as const) {
    put(world, current, document({ updated: at(minute), status }));
    const one = take(world);
    assert.deepEqual([one.result, one.status], ['updated', expected]);
  }
  assertHealthy(world);
});

test('what has gone on here, or was begun here, is left alone, and its file is never written over', (context) => {
  const world = worldWith(context);
  take(world);
  move(world, 'resume', '--rerun', 'pour-1');
  put(world, 'copy/x.json', document({ updated: at(50) }));
  const before = dumpStore(world);
  const moved = take(world, 'copy');
  assert.deepEqual([moved.result, moved.why], ['left', 'It has gone on here since it was taken over.']);
  assert.deepEqual(dumpStore(world), before);
  // Our own file, found again, is that of a session here.
  assert.equal(take(world).result, 'left');

  const other = createWorld(context);
  other.answer('begin', 'orchestration', '--goal', 'Serve coffee', '--name', id);
  put(other, 'copy/x.json', document());
  const begun = take(other, 'copy');
  assert.deepEqual([begun.result, begun.why], ['left', 'A session of this name was begun here.']);
  assert.equal(written(other).goal, 'Serve coffee');
});

test('the original that goes on after the session has gone on here is set aside by the next write, with its name told', (context) => {
  const world = worldWith(context);
  take(world);
  move(world, 'resume', '--rerun', 'pour-1');
  put(world, current, document({ updated: at(50) }));
  const { stderr } = world.run('todo', 'add', 'Wash up');
  assert.match(stderr, /orchestrator-session\.json had been changed by somebody else; that version is kept as /);
  assert.deepEqual(sorted(keptIn(world)), sorted([text(document()), text(document({ updated: at(50) }))]));
});

test('what the original has written since the import is told before anything happens here, with what takes it, and then kept', (context) => {
  const world = worldWith(context);
  take(world);
  assert.equal(world.answer('status').not_taken, undefined, 'what was taken is no news');
  const newer = text(document({ goal: 'Serve coffee', updated: at(50) }));
  world.write(current, newer);
  const told = `${current} holds a session that is not taken over: Serve coffee, in progress, updated ${at(50)}.`;
  assert.deepEqual(world.answer('status').not_taken, [`${told} First: stint import orchestrator`]);
  assert.match(say(world, 'status'), /\nnot taken +\.claude\/.* updated \S+\. First: stint import orchestrator\n/);
  assert.ok(say(world, 'brief', '--budget', 'full').includes(`${told} First: stint import orchestrator`));
  const taking = createWorld(context, { from: world });
  assert.equal(take(taking).result, 'updated');
  assert.equal(taking.answer('status').not_taken, undefined);
  const { json } = world.run('resume', '--json');
  assert.deepEqual(json.notes, [`${told} It is kept aside.`]);
  assert.ok(keptIn(world).includes(newer));
  assert.equal(world.answer('status').not_taken, undefined);
  // An older one is nothing to take.
  taking.write(current, text(document({ goal: 'Serve coffee', updated: at(20) })));
  assert.match(
    taking.answer('status').not_taken[0],
    /, which is older than what was taken over\. First: stint history$/,
  );
});

test('a version of the same format is written back as it was', (context) => {
  const world = worldWith(context, document({ schema_version: '1.3' }));
  take(world);
  move(world, 'resume', '--rerun', 'pour-1');
  assert.equal(written(world).schema_version, '1.3');
});

test('a checkout has one open session: a second one is left alone, until the first is over', (context) => {
  const world = createWorld(context);
  const { session } = world.answer('begin', 'orchestration', '--goal', 'Serve coffee');
  put(world, 'copy/a.json', document());
  put(world, 'copy/b.json', document({ session_id: 'b', status: 'aborted' }));
  const { sessions } = importIn(world, 'copy');
  assert.deepEqual(
    listOf(sessions).map((one) => [one.session, one.result, one.why]),
    [
      ['orchestration:b', 'imported', undefined],
      [key, 'left', `${session} is open in this checkout, which has one at a time.`],
    ],
  );
  world.answer('finish', '--abort', '--session', session);
  assert.deepEqual(
    listOf(importIn(world, 'copy').sessions).map(({ result }) => result),
    ['unchanged', 'imported'],
  );
});

test('two open ones in one folder: the newest comes, and the other is left alone', (context) => {
  const world = createWorld(context);
  put(world, 'copy/a.json', document({ session_id: 'a', created: at(0) }));
  put(world, 'copy/b.json', document({ session_id: 'b', created: at(1) }));
  assert.deepEqual(
    listOf(importIn(world, 'copy').sessions).map(({ session, result }) => [session, result]),
    [
      ['orchestration:b', 'imported'],
      ['orchestration:a', 'left'],
    ],
  );
});

test('a session that somebody else holds is not taken anew, and told', (context) => {
  const world = worldWith(context);
  take(world);
  claim(world, '--session', key);
  put(world, current, document({ updated: at(30) }));
  const one = take(as(world, 'bob'));
  assert.equal(one.result, 'left');
  assert.match(one.why, /is held by ana@desk/);
});

test('of several files of one session the one counts that was written last, of equal ones that of the history', (context) => {
  const world = worldWith(context, document({ updated: at(20) }));
  put(world, historyOf(id), document({ status: 'complete' }));
  assert.equal(take(world, '--dry-run').path, current);
  put(world, historyOf(id), document({ updated: at(20), status: 'aborted' }));
  const answer = importIn(world);
  assert.deepEqual([answer.sessions[0].path, answer.sessions[0].status], [historyOf(id), 'aborted']);
  assert.deepEqual(answer.ignored, [
    { path: current, is: `another file of the session ${id}`, why: `It is taken from ${historyOf(id)}.` },
  ]);
});

// What does not speak for itself.

test('of a conflict the side is taken that somebody chooses, and of two documents too', withDialects, (context) => {
  const world = worldOf(context, 'x4-merge-conflict.json', current);
  assert.equal(take(world, '--choose', 'ours').status, 'active');
  const theirs = worldOf(context, 'x4-merge-conflict.json', current);
  const one = take(theirs, '--choose', 'theirs');
  assert.equal(one.status, 'active', 'it says complete, and is not');
  assert.ok(listOf(one.problems).some((problem) => String(problem).startsWith('$.status is complete, although ')));
  const neither = worldOf(context, 'x4-merge-conflict.json', current);
  leaveIn(neither, 2, '--choose', 'middle');
  const both = createWorld(context);
  both.write(current, text(document()) + text(document({ goal: 'Serve coffee' })));
  assert.match(leaveIn(both, 6).ignored[0].hint, /--choose first$/);
  take(both, '--choose', 'second');
  assert.equal(both.answer('status').goal, 'Serve coffee');
});

test(
  'of what is lost the rest is taken on request, and what is lost is told and stays on record',
  withDialects,
  (context) => {
    const world = worldOf(context, 'x1-torn-write.json', current);
    const one = take(world, '--salvage');
    assert.deepEqual([one.result, one.in_doubt], ['imported', ['code-1']]);
    assert.deepEqual(listOf(one.problems).slice(0, 2), listOf(left['x1-torn-write'].more).slice(0, 2));
    const imported = eventsOf(world, one.session).find(({ type }) => type === 'Imported');
    assert.deepEqual(imported.data.problems, one.problems);
    const { sections } = world.answer('brief', '--budget', 'full');
    assert.deepEqual(
      listOf(listOf(sections).find((section) => section.name === 'lost')?.facts).map((fact) => fact.text),
      listOf(left['x1-torn-write'].more).slice(0, 2),
    );
    move(world, 'resume', '--rerun', 'code-1', '--session', one.session);
    assert.deepEqual(keptIn(world), [fixture('x1-torn-write.json').toString()]);
    leaveIn(worldOf(context, 'x7-future-version.json', current), 13, '--salvage');
    leaveIn(worldOf(context, 'x9-empty.json', current), 14, '--salvage');
    world.refusal(2, 'import', 'orchestrator', '--salvage', '--last-good');
  },
);

test('a whole session is not taken anew from a torn file, and a salvaged one is from a whole file', (context) => {
  const world = worldWith(context);
  take(world);
  const before = world.answer('report');
  const torn = text(document({ updated: at(50) })).slice(0, -200);
  world.write(current, torn);
  const [one] = listOf(importIn(world, '--salvage').sessions);
  assert.deepEqual([one.result, one.problems.length > 0], ['left', true]);
  assert.match(one.why, /^Something of this file is lost/);
  assert.deepEqual(world.answer('report'), before);

  const salvaged = worldWith(context);
  salvaged.write(current, torn);
  take(salvaged, '--salvage');
  put(salvaged, `${current}.bak`, document());
  assert.deepEqual(
    listOf(importIn(salvaged, '--last-good').sessions).map(({ result }) => result),
    ['updated'],
  );
  assert.deepEqual(salvaged.answer('report').agents, before.agents);
});

const diff3 = (name: string): Printed => document({ goal: name, session_id: '2026-03-01-three3' });

test(
  'N03: of a git conflict file and line are told, nothing is chosen silently, each of its sides can be, and other sessions work',
  { skip: withoutShared('cases') },
  (context) => {
    const world = createWorld(context);
    world.write(current, readFileSync(caseFile('N03', 'session-state.json')));
    put(world, historyOf(id), document());
    const answer = importIn(world);
    assert.deepEqual(
      listOf(answer.ignored).map(({ path, problem, line, sides }) => [
        path,
        problem,
        line,
        listOf(sides).map(({ side }) => side),
      ]),
      [[current, 'It has a git conflict at line 3.', 3, ['ours', 'base', 'theirs']]],
    );
    assert.deepEqual(
      listOf(answer.sessions).map(({ session }) => session),
      [key],
    );
    const [ours, base, theirs] = ['ours', 'base', 'theirs'].map((name) => text(diff3(name)));
    for (const side of ['ours', 'base', 'theirs']) {
      world.write(current, `<<<<<<< HEAD\n${ours}||||||| base\n${base}=======\n${theirs}>>>>>>> feature/x\n`);
      const one = createWorld(context, { from: world });
      assert.equal(listOf(importIn(one, '--choose', side).sessions)[0].result, 'imported');
      assert.equal(one.answer('status').goal, side);
    }
  },
);

for (const [unit, said, expected] of [
  ['a share of 1', 0.5, 0.8],
  ['per cent', 50, 80],
] as const)
  test(`a file that says how far all of it is says so of what is so now, in ${unit}`, (context) => {
    const world = worldWith(context, document({ progress: said }));
    take(world);
    assert.equal(world.run('todo', 'add', 'Fetch cups').status, 0);
    assert.equal(world.answer('status').progress, 80);
    assert.equal(JSON.parse(readFileSync(world.path(current), 'utf8')).progress, expected);
  });

test('of very many in doubt, import, next and resume name some and count the others', (context) => {
  const agents = Array.from({ length: 25 }, (_, index) => ({
    id: `pour-${index + 1}`,
    type: 'code',
    task: 'Pour',
    status: 'in_progress',
    started: at(5),
  }));
  const world = worldWith(context, document({ agents, errors: [] }));
  const named = agents.slice(0, 20).map((agent) => agent.id);
  const told = `in doubt: ${named.join(', ')} and 5 more`;
  const lineOf = (printed: string): string | undefined =>
    printed.split('\n').find((line) => line.includes('in doubt: '));
  assert.equal(lineOf(say(createWorld(context, { from: world }), 'import', 'orchestrator')), `  ${told}`);
  const { in_doubt: doubtful, in_doubt_total: total } = take(world);
  assert.deepEqual([doubtful, total], [named, 25]);
  assert.equal(lineOf(say(world, 'next')), told);
  assert.equal(lineOf(world.run('resume').stdout), `${told} (say --rerun STEP, or --done STEP)`);
});

test('what changed outside counts from when the file was written last, and the project may lie elsewhere now', (context) => {
  const world = worldWith(context, document({ updated: '2026-03-17T12:10:00Z' }));
  const dated = (minute: number): TestWorld => {
    const time = `2026-03-17T12:${minute}:00Z`;
    return world.with({ env: { GIT_AUTHOR_DATE: time, GIT_COMMITTER_DATE: time } });
  };
  dated(20).git('commit', '-q', '--allow-empty', '-m', 'Since');
  const there = later(world, 30);
  importIn(there);
  const outside = (brief: Printed): readonly unknown[] =>
    listOf(listOf(brief.sections).find(({ name }) => name === 'outside').facts)
      .map(({ text: told }) => told)
      .slice(0, 4);
  const told = [
    `the project was moved: it lay at /srv/tea when it was begun, and lies at ${world.project} now`,
    'main is checked out, and it is about green',
    `1 commit since it was written last, 20 minutes ago, behind ${world.git('rev-parse', 'main~1').slice(0, 12)}`,
    'Since',
  ];
  assert.deepEqual(outside(there.answer('brief')), told);
  const { brief } = JSON.parse(there.run('resume', '--json').stdout);
  assert.deepEqual(outside(brief), told);
  assert.deepEqual(outside(later(world, 40).answer('brief')).slice(0, 2), [
    told[1],
    'nothing was committed since it was written last, 10 minutes ago',
  ]);
});

test('H08: a session without an agent and without work is 0/0, not finished, and can be finished', (context) => {
  const world = worldWith(context, document({ agents: [], completed_work: [], pending_tasks: [], errors: [] }));
  assert.equal(take(world).status, 'active');
  const [progress] = world.answer('progress').sessions;
  assert.deepEqual([progress.done, progress.total, progress.fraction], [0, 0, null]);
  for (const columns of ['0', '1']) {
    const { status, stdout } = world.with({ env: { COLUMNS: columns } }).run('progress', '--once');
    assert.equal(status, 0);
    assert.doesNotMatch(stdout, /NaN|undefined/);
  }
  assert.equal(world.run('finish', '--abort').status, 0);
});

for (const [name, path] of [
  ['a backup', `${current}.bak`],
  ['a version that was set aside', `${current}.kept-0123abcd`],
  ['a file of the history', historyOf(ledger)],
] as const) {
  test(`instead of a torn file ${name} is taken that is whole, on request, and both stay`, withDialects, (context) => {
    const world = worldOf(context, 'x1-torn-write.json', current);
    world.write(path, fixture('d1-schema-1.0.json'));
    const before = filesIn(world);
    const one = listOf(importIn(world, '--last-good').sessions)[0];
    assert.deepEqual([one.result, one.path, one.session], ['imported', path, `orchestration:${ledger}`]);
    // What lies in the history is over.
    assert.equal(one.status, name === 'a file of the history' ? 'aborted' : 'active');
    assert.deepEqual(filesIn(world), before);
    if (one.status !== 'active') return;
    const { status, stderr } = world.run('todo', 'add', 'x', '--json');
    assert.equal(status, 0);
    assert.match(stderr, /is kept as orchestrator-session\.json\.kept-/);
    assert.ok(keptIn(world).includes(fixture('x1-torn-write.json').toString()));
    assert.deepEqual(readFileSync(world.path(path)), fixture('d1-schema-1.0.json'));
  });
}

test(
  'no copy is taken that is torn itself or of another session, and a whole file needs none',
  withDialects,
  (context) => {
    const world = worldOf(context, 'x1-torn-write.json', current);
    world.write(`${current}.bak`, fixture('x1-torn-write.json'));
    put(world, `${current}.old`, document());
    world.write(`${current}~`, fixture('x9-empty.json'));
    const { ignored } = leaveIn(world, 14, '--last-good');
    assert.equal(ignored[0].path, current);
    assert.equal(listOf(ignored[0].copies).length, 3);
    // Of an empty one nobody knows whose it was: a backup may be it, a file of the history is that of another.
    const empty = worldOf(context, 'x9-empty.json', current);
    put(empty, historyOf(id), document());
    assert.deepEqual(
      listOf(importIn(empty, '--last-good', '--dry-run').sessions).map(({ path, status }) => [path, status]),
      [[historyOf(id), 'aborted']],
    );
    put(empty, `${current}.bak`, document());
    assert.equal(importIn(empty, '--last-good', current).sessions[0].path, `${current}.bak`);
    // Of several the newest counts, whatever they are called.
    put(empty, `${current}.kept-01234567`, document({ updated: at(9) }));
    put(empty, `${current}.old`, document({ updated: at(12) }));
    assert.equal(importIn(empty, '--last-good', current, '--dry-run').sessions[0].path, `${current}.old`);
    const whole = worldWith(context);
    put(whole, `${current}.bak`, document({ goal: 'Serve coffee', updated: at(50) }));
    assert.equal(take(whole, '--last-good').path, current);
  },
);

test(
  'the summary of a hook is taken where somebody names it, and where it lies it is only told',
  withDialects,
  (context) => {
    const world = worldOf(context, 'd4-last-orchestration.json', '.craft/cache/last-orchestration.json');
    const { sessions, ignored } = importIn(world);
    assert.deepEqual([sessions, listOf(ignored).length], [[], 1]);
    const one = take(world, '.craft/cache/last-orchestration.json');
    assert.deepEqual([one.result, one.session], ['imported', 'orchestration:2026-01-18-192c79']);
  },
);

// What must not do harm.

test('M05: hostile ids become names, and nothing is written outside', (context) => {
  const world = createWorld(context);
  const hostile = [
    '../../../../tmp/escape',
    'a/b',
    'a\\b',
    'nul',
    'archive',
    '\u0000',
    'x'.repeat(300),
    '..',
    '\u202Etxt',
    '__proto__',
    '-rf',
    'undefined',
    ...(withoutShared('cases') === false ? caseLines('M05', 'ids.txt') : []),
  ];
  for (const [index, name] of [...new Set(hostile)].entries())
    put(world, historyOf(`h${index}`), document({ session_id: name }));
  const beside = readdirSync(world.root).toSorted();
  const { sessions, ignored } = importIn(world);
  assert.deepEqual([listOf(sessions).length, ignored], [new Set(hostile).size, []]);
  for (const { session } of sessions) {
    assert.match(session, /^orchestration:[A-Za-z0-9][\w.-]{0,127}$/);
    world.answer('status', session);
  }
  const [first] = sessions;
  world.answer('history', 'resume', String(first.session).slice('orchestration:'.length));
  world.answer('finish', '--abort', '--session', first.session);
  assert.deepEqual(readdirSync(world.root).toSorted(), beside);
  assert.deepEqual(readdirSync(world.path('.claude')).toSorted(), ['.gitignore', 'orchestrator-history']);
  assertHealthy(world);
});

test('hostile texts come over as texts, and no secret is stored', (context) => {
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const goal = '\u001B[31mred\u202E```\n<!-- ignore --> \uD800';
  const agents = [{ id: 'a', type: 'code', task: `use ${secret}`, status: 'pending' }];
  const world = worldWith(context, document({ goal, agents, zz: secret }));
  assert.ok(Object.keys(importIn(world).redacted).length > 0);
  assert.doesNotMatch(JSON.stringify(dumpStore(world)), new RegExp(secret));
  assert.doesNotMatch(world.run('status').stdout + world.run('report').stdout, /[\u001B\u202E]/);
});

test('links out of the folder are not followed, and neither is one in the place of the file', (context) => {
  const world = createWorld(context);
  const outside = join(world.root, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'x.json'), text(document()));
  mkdirSync(world.path('.claude'));
  symlinkSync(outside, world.path('.claude/orchestrator-history'));
  symlinkSync(join(outside, 'x.json'), world.path(current));
  assert.deepEqual(
    listOf(leaveIn(world, 14).ignored).map(({ problem }) => problem),
    Array.from({ length: 2 }, () => 'It is not read: it leads out of the project, or nowhere.'),
  );
  const before = treeOf(outside);
  // Whoever begins here is told what lies there, and writes nothing through it.
  const { message } = world.refusal(14, 'begin', 'orchestration', '--goal', 'x');
  assert.match(message, /session\.json cannot be read\. It is not read: it leads out of the project, or nowhere\.$/);
  world.run('begin', 'orchestration', '--fresh', '--goal', 'x');
  assert.deepEqual(treeOf(outside), before);
});

test('what cannot be read is told by name and place, and keeps no other away', { skip: withoutUser }, (context) => {
  const made = createWorld(context);
  put(made, historyOf('sound'), document());
  made.write(historyOf('gbk'), Buffer.from([0x7b, 0x22, 0xc4, 0xe3, 0xba, 0xc3, 0x22, 0x7d]));
  made.write(historyOf('utf16'), Buffer.from('\uFEFF{"a":1}', 'utf16le'));
  made.write(historyOf('large'), ' '.repeat(16 * 1024 * 1024 + 1));
  made.write(historyOf('deep'), '['.repeat(200_000));
  made.write(historyOf('other'), '{"permissions": {}}');
  made.write(historyOf('secret'), '{}');
  const world = ordinary(made);
  chmodSync(world.path(historyOf('secret')), 0);
  const { sessions, ignored } = importIn(world);
  assert.equal(listOf(sessions).length, 1);
  const told = Object.fromEntries(
    listOf(ignored).map(({ path, problem, is }) => [/history\/(.+)\.json/.exec(path)?.[1], problem ?? is]),
  );
  assert.match(told['secret'], /^It is not accessible: permission denied\.$/);
  assert.deepEqual(
    { ...told, secret: '' },
    {
      gbk: 'It is not UTF-8 (line 1).',
      utf16: 'It is UTF-16, not UTF-8.',
      large: 'It is larger than 16 MiB.',
      other: 'the settings of an agent program',
      deep: 'It is nested deeper than 100 levels.',
      secret: '',
    },
  );
});

test('where there is nothing, that is refused with what was looked for, and no store is made', (context) => {
  const world = createWorld(context);
  assert.equal(
    world.refusal(4, 'import', 'orchestrator').message,
    `There is no session of an orchestrator: ${world.project} holds no .claude/orchestrator-session.json and no history.`,
  );
  world.refusal(4, 'import', 'orchestrator', 'nowhere');
  assert.equal(existsSync(world.path('.stint')), false);
});

test('two imports at once take it once, and so do an import and a begin', async (context) => {
  const world = worldWith(context);
  put(world, historyOf('h1'), document({ session_id: 'h1' }));
  const outcomes = await Promise.all(
    Array.from({ length: 4 }, async () => world.start('import', 'orchestrator', '--json').outcome),
  );
  const results = outcomes.map((outcome) =>
    listOf(assertAnswer(outcome, 'import').sessions)
      .map(({ result }) => result)
      .join(' '),
  );
  assert.deepEqual(results.toSorted(), [
    'imported imported',
    ...Array.from({ length: 3 }, () => 'unchanged unchanged'),
  ]);
  assert.equal(eventsOf(world, key).filter(({ type }) => type === 'OrchestrationImported').length, 1);
  assertHealthy(world);

  const racing = worldWith(context);
  const [imported, begun] = await Promise.all([
    racing.start('import', 'orchestrator', '--json').outcome,
    racing.start('begin', 'orchestration', '--fresh', '--goal', 'Serve coffee', '--json').outcome,
  ]);
  assert.ok(imported.status === 0 && begun.status === 0, imported.stdout + begun.stdout);
  const open = listOf(racing.answer('list').sessions);
  assert.equal(open.length, 1, 'one is open, whoever came first');
  assert.deepEqual(keptIn(racing), [text(document())]);
  assertHealthy(racing);
});

/** Kills a verb before each change that it makes on disk, every time in a copy of a world. */
const killEach = (
  context: TestContext,
  from: TestWorld,
  args: readonly string[],
  after: (world: TestWorld, what: string) => void,
): void => {
  const run = (world: TestWorld, target: number) =>
    spawnSync(
      process.execPath,
      ['--no-warnings', '--import', join(import.meta.dirname, 'support/kill-at-step.ts'), command, ...args, '--json'],
      {
        cwd: world.project,
        env: { ...world.env, ...(target === 0 ? {} : { STINT_TEST_STEP: String(target) }) },
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
        encoding: 'utf8',
      },
    );
  const counted = run(createWorld(context, { from }), 0);
  assert.equal(counted.status, 0, counted.stdout);
  const steps = Number(counted.output[3]);
  assert.ok(steps > 3, 'its changes were counted');
  for (let target = 1; target <= steps; target += 1) {
    const world = createWorld(context, { from });
    assert.equal(run(world, target).signal, 'SIGKILL');
    after(world, `killed before change ${target} of ${steps}`);
    rmSync(world.root, { recursive: true });
  }
  context.diagnostic(`${steps} kills`);
};

test(
  'kill -9 before any change on disk of an import: whole or not at all, the original untouched, and again it is whole',
  { skip: fileOnly },
  (context) => {
    const world = worldWith(context);
    put(world, historyOf('h1'), document({ session_id: 'h1' }));
    const before = filesIn(world);
    killEach(context, world, ['import', 'orchestrator'], (one, what) => {
      assert.deepEqual(filesIn(one), before, what);
      const results = listOf(importIn(one).sessions).map(({ result }) => result);
      assert.ok(
        ['imported imported', 'unchanged unchanged'].includes(results.join(' ')),
        `${what}: ${results.join(' ')}`,
      );
      assert.deepEqual(filesIn(one), before, what);
    });
  },
);

test(
  'kill -9 before any change on disk of the first move: the original is in its place or kept, and what comes next writes ours',
  { skip: fileOnly },
  (context) => {
    const world = worldWith(context);
    take(world);
    const original = text(document());
    killEach(context, world, ['resume', '--rerun', 'pour-1'], (one, what) => {
      const here = existsSync(one.path(current)) ? readFileSync(one.path(current), 'utf8') : '';
      assert.ok(here === original || keptIn(one).includes(original), `${what}: nothing of it is lost`);
      // Whoever comes next heals the file, or does again what did not happen.
      one.run('list');
      one.run('resume', '--rerun', 'pour-1');
      assert.deepEqual(keptIn(one), [original], what);
      assert.deepEqual([written(one).session_id, written(one).agents[1].status], [id, 'pending'], what);
      assertHealthy(one);
    });
  },
);

test('for a person it is short, aligned, and says what to do next', (context) => {
  const world = worldWith(context, document({ status: 'running' }));
  world.write(historyOf('torn'), '{"session_id": "torn", "x": 1, "y"');
  assert.equal(
    say(world, 'import', 'orchestrator'),
    `imported  ${key}  1/2 agents over, 1 in doubt, 1 to do  active
  in doubt: pour-1
  $.status is "running", which means in_progress.
ignored: .claude/orchestrator-history/torn.json:1:35: It ends in the middle, as a write that was cut off ($.y). What can be read of it is of the session torn. If it is that of a session, restore it from a copy, or look into the history beside it.
next: stint resume --session ${key}
`,
  );
});

test('the original of one that was over is kept aside with the first thing that happens to it, and a file of others is not', (context) => {
  const over = document({ status: 'complete', agents: [document().agents[0]] });
  const world = worldWith(context, over);
  assert.equal(take(world).status, 'completed');
  move(world, 'archive', '--session', key);
  assert.equal(existsSync(world.path(current)), false);
  assert.deepEqual(keptIn(world), [text(over)]);
  assert.equal(written(world, historyOf(id)).session_id, id);

  const other = worldWith(context, over);
  take(other);
  const theirs = document({ session_id: '2026-03-02-other1' });
  put(other, current, theirs);
  other.answer('archive', '--session', key);
  assert.equal(
    readFileSync(other.path(current), 'utf8'),
    text(theirs),
    'what another program has put there since is its own',
  );
  assert.deepEqual(keptIn(other), []);
});
