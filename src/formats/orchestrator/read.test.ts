import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { nameProblem } from '../../lib/name.ts';
import type { Clock } from '../../lib/written-time.ts';
import { agentStatuses, modes, nothingUnknown, sessionStatuses, type OrchestratorDocument } from './document.ts';
import { printOrchestrator } from './print.ts';
import { largestOrchestratorFile, readOrchestratorFile, type Found, type FoundSession } from './read.ts';
import { standingOf, type Standing } from './standing.ts';

const clock: Clock = { now: '2026-06-01T00:00:00Z', offsetAt: () => 120 };
const current = '.claude/orchestrator-session.json';
const id = '2026-05-02-t3a9b1';
const archived = `.claude/orchestrator-history/${id}.json`;

const agent = (name: string, status: string, more: JsonObject = {}): JsonObject => ({
  id: name,
  type: 'code',
  task: `Do ${name}`,
  status,
  started: '2026-05-02T08:01:00Z',
  ...more,
});

/** A file as the original writes it: one agent is done, one is at work. */
const file = (more: JsonObject = {}): JsonObject => ({
  schema_version: '1.0',
  session_id: id,
  created: '2026-05-02T08:00:00Z',
  updated: '2026-05-02T09:00:00Z',
  project: { name: 'tea', path: '/srv/tea', git_branch: 'dev' },
  goal: 'Brew it',
  mode: 'optimize',
  status: 'in_progress',
  agents: [
    agent('boil-1', 'complete', { completed: '2026-05-02T08:05:00Z', result_summary: 'Hot', context_tokens: 900 }),
    agent('pour-1', 'in_progress', { progress: 60 }),
  ],
  completed_work: [{ task: 'Water', outcome: 'hot', files: ['kettle.md'] }],
  pending_tasks: ['Pour', 'Serve'],
  decisions_made: [{ decision: 'Green', rationale: 'It is late', timestamp: '2026-05-02T08:02:00Z' }],
  context_usage: { estimated_tokens: 25_000, percentage: 20, last_compression: null },
  errors: [{ agent: 'pour-1', message: 'spilt', at: '2026-05-02T08:30:00Z' }],
  ...more,
});

const without = (...keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(file()).filter(([key]) => !keys.includes(key)));

const find = (value: string | Json, path = current, choice?: string): Found =>
  readOrchestratorFile(typeof value === 'string' ? value : JSON.stringify(value, null, 2), { path, clock, choice });

const sessionIn = (value: string | Json, path = current, choice?: string): FoundSession => {
  const found = find(value, path, choice);
  return found.what === 'session' ? found.session : assert.fail(JSON.stringify(found));
};

const documentOf = (more: JsonObject): OrchestratorDocument => sessionIn(file(more)).document;
const problemsOf = (more: JsonObject, path = current): readonly string[] => sessionIn(file(more), path).problems;

test('a sound file is read as it is, and printing it gives the same bytes', () => {
  const text = JSON.stringify(file(), null, 2);
  const { raw, faults, lost, problems, unknown, document, dialect } = sessionIn(text);
  assert.deepEqual([raw, faults, lost, problems, unknown, dialect], [{}, [], [], [], nothingUnknown, 'schema 1.0']);
  assert.equal(printOrchestrator(document), text);
});

test('a file is known by what it holds, not by its name', () => {
  assert.equal(find(file(), 'x.json').what, 'session');
  const others: readonly (readonly [RegExp, Json])[] = [
    [/run of the workflow player/, { session_id: 'WFR-a', execution_plan: [], node_states: {}, agents: [], goal: 'x' }],
    [/report of the tokens/, { run_id: 'r', mode: 'default', agents: [], max_turns: 3 }],
    [/status of a single agent/, { agent: 'code-1', status: 'running' }],
    [/settings/, { permissions: { allow: [] }, hooks: {} }],
    [/session of a team/, { session_id: 'TLS-x', team_name: 'x', agents: [], goal: 'x' }],
    [/chain of Maestro/, { session_id: 'maestro-1', steps: [], goal: 'x', schema_version: '1.0' }],
    [/another kind/, { session_id: 'x', agents_total: 3 }],
    [/another kind/, { agents: [], mode: 'default' }],
    [/another kind/, []],
    [/another kind/, 7],
  ];
  for (const [is, value] of others) {
    const found = find(value);
    assert.ok(found.what === 'neighbour', JSON.stringify(found));
    assert.match(found.is, is);
    assert.match(found.why, /\.$/);
  }
});

test('every form in which the file was ever written is read, in the words of schema 1.0', () => {
  const old = sessionIn({
    session_id: id,
    started: '2026-05-02T08:00:00Z',
    goal: 'Brew it',
    agents: [agent('boil-1', 'complete')],
    completed_work: ['✅ Water', 'Leaves'],
    next_actions: ['Pour'],
  });
  assert.equal(old.dialect, 'without version');
  assert.partialDeepStrictEqual(old.document, {
    created: '2026-05-02T08:00:00Z',
    updated: '2026-05-02T08:01:00Z',
    status: 'paused',
    mode: 'default',
    completed_work: [
      { task: 'Water', outcome: '', files: [] },
      { task: 'Leaves', outcome: '', files: [] },
    ],
    pending_tasks: ['Pour'],
  });

  const guide = sessionIn({
    schema_version: '1.0.0',
    session_id: id,
    status: 'in_progress',
    goal: 'Brew it',
    started_at: '2026-05-02T08:00:00Z',
    agents: [
      { id: 'boil-1', type: 'cook', status: 'completed', output: 'Hot', progress: 1 },
      { id: 'pour-1', type: 'cook', status: 'running', progress: 0.35 },
    ],
    completed_work: [{ task: 'Water', status: 'completed', output: 'hot' }],
    pending_tasks: [{ task: 'Pour', status: 'pending' }],
    context_usage: { tokens_used: 31_000, percentage: 19.5 },
  });
  assert.equal(guide.dialect, 'guide');
  assert.partialDeepStrictEqual(guide.document, {
    schema_version: '1.0',
    agents: [
      { status: 'complete', result_summary: 'Hot', progress: 100 },
      { status: 'in_progress', progress: 35 },
    ],
    completed_work: [{ task: 'Water', outcome: 'hot' }],
    pending_tasks: ['Pour'],
    context_usage: { estimated_tokens: 31_000, percentage: 19.5 },
  });
  assert.deepEqual(guide.unknown.pending_tasks, { 0: { status: 'pending' } });

  const devices = sessionIn({
    session_id: id,
    created_at: '2026-05-02T08:00:00Z',
    updated_at: '2026-05-02T09:00:00Z',
    project: '/srv/tea',
    goal: 'Brew it',
    status: 'in_progress',
    progress: 0.65,
    agents: [
      {
        id: 'boil-1',
        status: 'completed',
        started_at: '2026-05-02T08:01:00Z',
        completed_at: '2026-05-02T08:05:00Z',
        duration_seconds: 240,
        result: 'success',
        blocking_on: null,
      },
    ],
    files_modified: ['kettle.md'],
    teleportation: { enabled: true },
  });
  assert.equal(devices.dialect, 'cross-device');
  assert.deepEqual(devices.document.project, { name: 'tea', path: '/srv/tea', git_branch: null });
  assert.partialDeepStrictEqual(devices.document.agents[0], {
    completed: '2026-05-02T08:05:00Z',
    result_summary: 'success',
  });
  assert.deepEqual(devices.unknown.file, {
    progress: 0.65,
    files_modified: ['kettle.md'],
    teleportation: { enabled: true },
  });
  assert.deepEqual(devices.unknown.agents, { 'boil-1': { duration_seconds: 240, blocking_on: null } });
});

test('the summary of a hook names no session and gets a name that stays, and what it lacks is told', () => {
  const summary = (status: string): JsonObject => ({
    timestamp: '2026-05-02T09:00:00+02:00',
    total_agents: 2,
    mode: 'default',
    agents: [{ agent: 'Task', status, start_time: '2026-05-02T08:00:00+02:00' }],
    log_file: 'log',
  });
  const { document, dialect, problems, raw } = sessionIn(summary('running'));
  assert.deepEqual(
    [dialect, document.created, document.updated],
    ['hook summary', '2026-05-02T06:00:00Z', '2026-05-02T07:00:00Z'],
  );
  assert.match(document.session_id, /^2026-05-02-[\da-f]{6}$/);
  assert.equal(sessionIn(summary('completed')).document.session_id, document.session_id);
  assert.deepEqual(
    document.agents.map((one) => [one.id, one.type]),
    [['task-1', 'Task']],
  );
  assert.ok(problems.includes('$.total_agents is 2, and of 1 something is said.'));
  assert.equal(raw['$.timestamp'], '2026-05-02T09:00:00+02:00');
});

test('a status is the one that is meant; one that nobody knows is paused, kept, and told', () => {
  const statusOf = (status: Json) => documentOf({ status }).status;
  for (const [said, is] of [
    ['COMPLETE', 'complete'],
    ['Completed', 'complete'],
    ['done', 'complete'],
    ['In Progress', 'in_progress'],
    ['running', 'in_progress'],
    ['CREATED', 'created'],
    ['Paused', 'paused'],
    ['abandoned', 'aborted'],
  ] as const)
    assert.equal(statusOf(said), is);
  const { document, unknown, problems, raw } = sessionIn(file({ status: 'Error' }));
  assert.deepEqual([document.status, unknown.file, raw['$.status']], ['paused', { imported_status: 'Error' }, 'Error']);
  assert.ok(problems.includes('$.status is "Error", which is no status: the session was taken as paused.'));
  assert.equal(sessionIn(without('status')).document.status, 'paused');
  assert.equal(statusOf({ a: 1 }), 'paused');
});

test('an agent whose status says nothing is never done: it is in doubt where it was begun', () => {
  const { document, unknown } = sessionIn(
    file({
      agents: [
        agent('a', 'phase-1'),
        { id: 'b', status: 'phase-1' },
        { id: 'c', completed: '2026-05-02T08:05:00Z' },
        { id: 'd', status: 'error' },
        { id: 'e', status: 'canceled' },
        { id: 'f', status: 'starting' },
      ],
    }),
  );
  assert.deepEqual(
    document.agents.map(({ status }) => status),
    ['in_progress', 'pending', 'in_progress', 'failed', 'cancelled', 'in_progress'],
  );
  assert.deepEqual(unknown.agents, { a: { imported_status: 'phase-1' }, b: { imported_status: 'phase-1' } });
});

test('progress is percent, whether it was written as that or as a share of 1', () => {
  const progressOf = (...all: readonly Json[]) =>
    documentOf({ agents: all.map((progress, index) => ({ id: `a${index}`, status: 'running', progress })) }).agents.map(
      ({ progress }) => progress,
    );
  assert.deepEqual(progressOf(60, 1, 0, 100), [60, 1, 0, 100]);
  assert.deepEqual(progressOf(0.6, 1, 0, 60), [60, 100, 0, 60]);
  assert.deepEqual(progressOf(0.29, 12.7, 250, '45%'), [29, 13, 100, 45]);
  assert.deepEqual(progressOf(null, 'much', -5, [], true), Array.from({ length: 5 }));
});

test('more than all of the context is all of it, and told', () => {
  const usage = (percentage: Json) =>
    file({ context_usage: { estimated_tokens: 1, percentage, last_compression: null } });
  for (const [said, taken] of [
    [100, 100],
    [99.5, 99.5],
    [100.5, 100],
    [500, 100],
    ['500%', 100],
    [1e300, 100],
  ] as const)
    assert.equal(sessionIn(usage(said)).document.context_usage.percentage, taken, String(said));
  const { problems, raw } = sessionIn(usage(500));
  assert.deepEqual(problems, ['$.context_usage.percentage is 500, more than all: it was taken as 100 percent.']);
  assert.deepEqual(raw, { '$.context_usage.percentage': 500 });
  assert.deepEqual(sessionIn(usage(100)).problems, []);
});

test('times without a zone are local ones, those of the future are kept, and what was written is kept beside', () => {
  const { document, problems, raw } = sessionIn(
    file({
      created: '2026-05-02T08:00:00',
      updated: '2027-01-01T00:00:00Z',
      decisions_made: [{ decision: 'Green', timestamp: 'noon' }],
    }),
  );
  assert.deepEqual(
    [document.created, document.updated, document.decisions_made[0]?.timestamp],
    ['2026-05-02T06:00:00Z', '2027-01-01T00:00:00Z', null],
  );
  assert.deepEqual(raw, { '$.created': '2026-05-02T08:00:00', '$.decisions_made[0].timestamp': 'noon' });
  assert.deepEqual(problems, [
    '$.decisions_made[0].timestamp is no time: "noon" was left out.',
    '$.created has no zone and was taken as local time: "2026-05-02T08:00:00" is 2026-05-02T06:00:00Z.',
    '$.updated lies in the future: "2027-01-01T00:00:00Z" is 2027-01-01T00:00:00Z.',
  ]);
});

test('times that are not known are concluded from the others, else from the id, else from the clock', () => {
  assert.equal(sessionIn(without('created')).document.created, '2026-05-02T08:01:00Z');
  assert.equal(sessionIn(without('updated')).document.updated, '2026-05-02T08:30:00Z');
  const bare = { session_id: id, goal: 'x', agents: [] };
  assert.deepEqual(
    [sessionIn(bare).document.created, sessionIn(bare).document.updated],
    ['2026-05-02T00:00:00Z', '2026-05-02T00:00:00Z'],
  );
  assert.equal(sessionIn({ ...bare, session_id: 'x' }).document.created, clock.now);
  assert.ok(
    problemsOf({ updated: '2026-05-02T07:00:00Z' }).some((problem) =>
      problem.startsWith('$.updated lies before its beginning'),
    ),
  );
});

test('an id that is no safe name becomes one, and what it was is kept in the file', () => {
  const idOf = (session_id: Json, path = current) => sessionIn(file({ session_id }), path).document.session_id;
  for (const bad of [
    '../../../../tmp/escape',
    'a/b',
    'con',
    'archive',
    'x'.repeat(200),
    '..',
    '\u0000',
    '😀',
    {},
    true,
  ]) {
    const { document, unknown } = sessionIn(file({ session_id: bad }));
    assert.equal(nameProblem(document.session_id), undefined);
    assert.match(document.session_id, /-[\da-f]{6}$/);
    assert.deepEqual(unknown.file, { imported_session_id: bad });
  }
  assert.match(idOf('../../../../tmp/escape'), /^tmp-escape-/);
  assert.notEqual(idOf('a/b'), idOf('a?b'));
  assert.equal(idOf(7), '7');
  for (const unset of [null, '', 'undefined']) {
    assert.match(idOf(unset), /^2026-05-02-[\da-f]{6}$/);
    assert.equal(idOf(unset, archived), id, 'a file of the history is called as its session');
  }
});

test('agents have ids of their own, whatever their file says', () => {
  const { document, unknown } = sessionIn(
    file({
      agents: [
        agent('a', 'pending'),
        agent('a', 'complete'),
        { type: 'Arch', status: 'pending' },
        agent('../x', 'pending'),
        'Sweep up',
      ],
    }),
  );
  assert.deepEqual(
    document.agents.map((one) => one.id.replace(/[\da-f]{6}$/, '#')),
    ['a', 'a-2', 'arch-3', 'x-#', 'agent-5'],
  );
  assert.deepEqual(unknown.agents['a-2'], { imported_id: 'a' });
  assert.partialDeepStrictEqual(document.agents[4], { task: 'Sweep up', status: 'pending' });
});

test('lists that are written as objects, and entries of any shape, become texts that people understand', () => {
  const { document, raw } = sessionIn(
    file({
      goal: { title: 'Brew it', cups: 2 },
      agents: { 'boil-1': { type: 'cook', status: 'done' }, 'pour-1': 'running', 'serve-1': 'Serve it' },
      completed_work: { Water: 'hot', Leaves: { outcome: 'green', files: 'leaves.md' } },
      pending_tasks: [{ name: 'Pour' }, 7, ['a', 'b'], { x: { y: 1 } }],
      decisions_made: ['Green', { choice: 'Cup', why: 'no mugs' }],
      errors: ['spilt', { error: 'cold', timestamp: '2026-05-02T08:40:00Z' }, { code: 3 }],
    }),
  );
  assert.equal(document.goal, 'Brew it');
  assert.deepEqual(raw['$.goal'], { title: 'Brew it', cups: 2 });
  assert.deepEqual(
    document.agents.map((one) => [one.id, one.status, one.task]),
    [
      ['boil-1', 'complete', ''],
      ['pour-1', 'in_progress', ''],
      ['serve-1', 'pending', 'Serve it'],
    ],
  );
  assert.deepEqual(document.completed_work, [
    { task: 'Water', outcome: 'hot', files: [] },
    { task: 'Leaves', outcome: 'green', files: ['leaves.md'] },
  ]);
  assert.deepEqual(document.pending_tasks, ['Pour', '7', 'a, b', '{"x":{"y":1}}']);
  assert.deepEqual(document.decisions_made, [
    { decision: 'Green', rationale: '', timestamp: null },
    { decision: 'Cup', rationale: 'no mugs', timestamp: null },
  ]);
  assert.deepEqual(document.errors, [
    { message: 'spilt' },
    { message: 'cold', at: '2026-05-02T08:40:00Z' },
    { message: '{"code":3}' },
  ]);
  assert.ok(!JSON.stringify(document).includes('[object'));
});

test('keys that are not of the format are kept wherever they stand, and survive being printed', () => {
  const session = sessionIn(
    file({
      schema_version: '1.3',
      x_team: { lead: 'ana', rota: [1, { a: null }] },
      project: { name: 'tea', path: '/srv/tea', git_branch: 'dev', x_remote: 'origin' },
      agents: [agent('boil-1', 'complete', { x_cost: 1.25 })],
      completed_work: [{ task: 'Water', outcome: 'hot', files: [], x_by: 'ana' }],
      decisions_made: [{ decision: 'Green', rationale: '', timestamp: null, x_votes: [1] }],
      context_usage: { estimated_tokens: 1, percentage: 2, last_compression: null, x_window: 128_000 },
      errors: [{ message: 'spilt', x_code: 3 }],
    }),
  );
  assert.deepEqual(session.unknown, {
    ...nothingUnknown,
    file: { x_team: { lead: 'ana', rota: [1, { a: null }] } },
    project: { x_remote: 'origin' },
    context_usage: { x_window: 128_000 },
    agents: { 'boil-1': { x_cost: 1.25 } },
    completed_work: { 0: { x_by: 'ana' } },
    decisions_made: { 0: { x_votes: [1] } },
    errors: { 0: { x_code: 3 } },
  });
  assert.equal(session.document.schema_version, '1.3', 'a version is never lowered');
  assert.deepEqual(sessionIn(printOrchestrator(session.document, session.unknown)), session);
});

test('a version that begins with another number is newer, and nothing of it is taken', () => {
  for (const schema_version of ['2.0', '2', 2, 'v3.1', '10.0.0']) {
    const found = find(file({ schema_version }));
    assert.ok(found.what === 'newer', JSON.stringify(found));
    assert.deepEqual([found.id, found.version], [id, String(schema_version)]);
    assert.match(found.problem, /newer version/);
  }
  const versionOf = (schema_version: Json) => documentOf({ schema_version }).schema_version;
  for (const same of ['1.0', '1', 1, '1.0.0', 'v1.0', '0.9', null]) assert.equal(versionOf(same), '1.0');
  assert.equal(versionOf('1.2.3'), '1.2.3');
  assert.deepEqual(sessionIn(file({ schema_version: 'latest' })).unknown.file, { imported_schema_version: 'latest' });
});

test('a file that is cut off gives what stands before, and says what is lost and where', () => {
  const text = JSON.stringify(file(), null, 2);
  const { document, faults, lost } = sessionIn(text.slice(0, text.indexOf('"Pour"') + 3));
  const line = text.split('\n').findIndex((one) => one.includes('"Pour"')) + 1;
  assert.deepEqual([document.agents.length, document.completed_work.length, document.pending_tasks], [2, 1, []]);
  assert.deepEqual(faults, [
    {
      problem: 'It ends in the middle, as a write that was cut off ($.pending_tasks[0]).',
      isLoss: true,
      line,
      column: 5,
    },
  ]);
  assert.deepEqual(lost, [
    `It ends in the middle, as a write that was cut off ($.pending_tasks[0]), at line ${line}, column 5.`,
    `What it said of decisions_made, context_usage, errors may have stood behind line ${line}.`,
  ]);
});

test('what is too little to be a session is damaged, with what helps', () => {
  const text = JSON.stringify(file(), null, 2);
  const found = find(text.slice(0, text.indexOf('"created"')));
  assert.partialDeepStrictEqual(found, { what: 'damaged', line: 4 });
  assert.match(JSON.stringify(found), new RegExp(`of the session ${id}\\.`));
  for (const nothing of ['', '  \n', '\0\0', 'hello', '{', '{"a']) {
    const { what, hint } = { hint: '', ...find(nothing) };
    assert.ok(what === 'damaged' && hint.includes('history'), nothing);
  }
  assert.deepEqual(find(' '.repeat(largestOrchestratorFile + 1)), {
    what: 'damaged',
    problem: 'It is larger than 16 MiB, and was not read.',
  });
});

test('what can be mended without a loss is mended, and told with its place', () => {
  const text = JSON.stringify(file(), null, 2);
  const sound = sessionIn(text);
  const damages: readonly (readonly [string, RegExp])[] = [
    [text.replace('"goal": "Brew it",', '"goal": "Brew it"'), /^12:3 It lacks a comma/],
    [text.replace('"errors": [', '"errors": [,').replace(/\}$/, ',}'), /has a comma/],
    [text.replace('25000', '25,000'), /commas between the digits .*estimated_tokens/],
    [text.replace('"Brew it"', '"Brew it\\"'), /backslash before the end of a text \(\$\.goal\)/],
    [`// mine\n${text}`, /^1:1 It has a comment/],
    [`\`\`\`json\n${text}\n\`\`\``, /^1:1 It is wrapped in a fence/],
    [`${text}\n\0\0`, /NUL bytes/],
    [`${text}\n${text.slice(0, 100)}`, /another document/],
  ];
  for (const [damaged, fault] of damages) {
    const { document, faults, lost } = sessionIn(damaged);
    assert.deepEqual([document, lost], [sound.document, []], damaged);
    assert.ok(
      faults.some(({ problem, line, column }) => fault.test(`${line}:${column} ${problem}`)),
      JSON.stringify(faults),
    );
  }
  assert.deepEqual(sessionIn(`\uFEFF${text.replaceAll('\n', '\r\n')}`), sound);
});

test('of a git conflict no side is chosen but the one that is named', () => {
  const conflicted = JSON.stringify(file(), null, 2).replace(
    '  "status": "in_progress",',
    '<<<<<<< HEAD\n  "status": "in_progress",\n||||||| base\n  "status": "created",\n=======\n  "status": "complete"\n>>>>>>> topic',
  );
  const found = find(conflicted);
  assert.ok(found.what === 'undecided');
  assert.match(found.problem, /git conflict at line \d+\.$/);
  assert.equal(found.hint, 'Say which one counts: ours or base or theirs.');
  const sides = found.sides.map(({ name, label, found: side }) =>
    side.what === 'session' ? [name, label, side.session.document.status, side.session.faults.length] : assert.fail(),
  );
  assert.deepEqual(sides, [
    ['ours', 'HEAD', 'in_progress', 0],
    ['base', 'base', 'created', 0],
    ['theirs', 'topic', 'complete', 1],
  ]);
  assert.equal(sessionIn(conflicted, current, 'theirs').document.status, 'complete');
  const torn = find(conflicted.slice(0, conflicted.indexOf('>>>>>>>')));
  assert.ok(
    torn.what === 'undecided' &&
      torn.sides.every((side) => side.found.what === 'session' && side.found.session.lost.length > 0),
  );
});

test('where a session stands follows from its file, and what is not over is never completed', () => {
  const standing = (more: JsonObject, path = current): Standing => standingOf(sessionIn(file(more), path));
  const over = { agents: [agent('a', 'complete'), agent('b', 'failed'), agent('c', 'cancelled')] };
  assert.deepEqual(standing({}), {
    status: 'active',
    outcome: null,
    paused: false,
    isInterrupted: true,
    inDoubt: ['pour-1'],
  });
  assert.partialDeepStrictEqual(standing({ status: 'paused' }), {
    status: 'active',
    paused: true,
    isInterrupted: false,
  });
  assert.partialDeepStrictEqual(standing({ status: 'complete', ...over }), {
    status: 'closed',
    outcome: 'completed',
    inDoubt: [],
  });
  assert.partialDeepStrictEqual(standing({ status: 'complete' }), { status: 'active', isInterrupted: true });
  assert.partialDeepStrictEqual(standing({ status: 'aborted' }), { status: 'closed', outcome: 'aborted' });
  assert.partialDeepStrictEqual(standing({ status: 'complete', ...over }, archived), { outcome: 'completed' });
  assert.partialDeepStrictEqual(standing({}, archived), { status: 'closed', outcome: 'aborted' });
  assert.ok(problemsOf({ status: 'complete' }).includes('$.status is complete, although pour-1 is not: it goes on.'));
  assert.ok(
    problemsOf({}, archived).includes(
      '$.status is in_progress, although the file lies in the history: it was taken as aborted.',
    ),
  );
});

/** What must hold of whatever is found. */
const check = (found: Found): void => {
  if (found.what === 'undecided') for (const side of found.sides) check(side.found);
  if (found.what !== 'session') return;
  const { document, unknown, problems } = found.session;
  assert.equal(nameProblem(document.session_id), undefined);
  assert.ok(sessionStatuses.includes(document.status) && modes.includes(document.mode));
  const ids = document.agents.map((one) => one.id);
  assert.equal(new Set(ids).size, ids.length);
  for (const one of document.agents) {
    assert.equal(nameProblem(one.id), undefined);
    assert.ok(agentStatuses.includes(one.status));
    assert.ok(
      one.progress === undefined || (Number.isInteger(one.progress) && one.progress >= 0 && one.progress <= 100),
    );
  }
  for (const time of [document.created, document.updated]) assert.match(time, /^\d{4}-\d\d-\d\dT.*Z$/);
  for (const problem of problems) assert.match(problem, /^\$[^\n]*\.$/);
  assert.ok(!JSON.stringify(document).includes('[object'));
  standingOf(found.session);
  const again = readOrchestratorFile(printOrchestrator(document, unknown), { path: current, clock });
  assert.ok(again.what === 'session');
  assert.deepEqual(
    [again.session.document, again.session.unknown],
    [document, unknown],
    'what is printed is read as the same',
  );
};

test('whatever a file holds, nothing is thrown, and what is found can be printed and read again', () => {
  const anything = fc.oneof(
    { depthSize: 'small' },
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom<unknown>(
      'complete',
      'DONE',
      '2026-05-02',
      '2026-05-02T08:00:00+02:00',
      '\uD800',
      0.5,
      1,
      -0,
      '45%',
      '',
      {},
      [],
      null,
    ),
  );
  const keysOf = (...objects: readonly JsonObject[]) => objects.flatMap((one) => Object.keys(one));
  const aliases = [
    'started',
    'started_at',
    'completed_at',
    'created_at',
    'updated_at',
    'next_actions',
    'output',
    'result',
    'tokens_used',
    'title',
    'name',
    'at',
    'imported_id',
    'imported_status',
    'imported_session_id',
    'total_agents',
    'teleportation',
    'timestamp',
    '__proto__',
    'constructor',
    'x',
  ];
  const part = fc.dictionary(
    fc.constantFrom(
      ...aliases,
      ...keysOf(agent('a', ''), {
        progress: 0,
        completed: '',
        files: 0,
        rationale: 0,
        message: 0,
        agent: 0,
        outcome: 0,
        decision: 0,
      }),
    ),
    anything,
  );
  const list = fc.oneof(
    fc.array(fc.oneof(part, anything), { maxLength: 4 }),
    fc.dictionary(fc.string(), fc.oneof(part, anything)),
    anything,
  );
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...keysOf(file()), ...aliases), fc.oneof(list, part, anything)),
      (fields) => {
        check(find(JSON.stringify({ ...file(), ...fields })));
        check(find(JSON.stringify({ agents: [], goal: 'x', ...fields })));
        check(find(JSON.stringify(fields), archived));
      },
    ),
    { numRuns: 1000 },
  );
});

test('a session is one whatever its id begins with: other programs have files of other keys', () => {
  const ids = ['fc-tea', 'player-2', 'maestro-x', 'ralph-1', 'goal-mode-1', 'WFD-a', 'MCP-a', 'TLS-a', 'WFS-a', 'TC-a'];
  for (const name of [...ids, 'ccw-coord-1'])
    assert.equal(documentOf({ session_id: name }).session_id.toLowerCase(), name.toLowerCase());
});

test('any document is read as it was printed', () => {
  const time = fc
    .date({ min: new Date('2000-01-01'), max: new Date('2026-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString());
  const text = fc.string({ unit: 'grapheme' });
  const name = fc
    .stringMatching(/^[a-z][a-z0-9-]{0,20}[a-z0-9]$/)
    .filter((one) => nameProblem(one) === undefined && !/^(?:undefined|null|nan|archive)$/.test(one));
  const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
  const document = fc.record({
    schema_version: fc.constantFrom('1.0', '1.4', '1.2.3'),
    session_id: name,
    created: time,
    updated: time,
    project: fc.record({ name: maybe(text), path: maybe(text), git_branch: maybe(text) }),
    goal: text,
    mode: fc.constantFrom(...modes),
    status: fc.constantFrom(...sessionStatuses),
    agents: fc.uniqueArray(
      fc.record(
        {
          id: name,
          type: text,
          task: text,
          status: fc.constantFrom(...agentStatuses),
          started: maybe(time),
          completed: time,
          progress: fc.nat(100),
          result_summary: text,
          context_tokens: fc.nat(),
          error: text,
        },
        { requiredKeys: ['id', 'type', 'task', 'status', 'started'] },
      ),
      { selector: (one) => one.id, maxLength: 5 },
    ),
    completed_work: fc.array(fc.record({ task: text, outcome: text, files: fc.array(text) })),
    pending_tasks: fc.array(text),
    decisions_made: fc.array(fc.record({ decision: text, rationale: text, timestamp: maybe(time) })),
    context_usage: fc.record({
      estimated_tokens: maybe(fc.nat()),
      percentage: maybe(fc.double({ min: 0, max: 100, noNaN: true }).map((one) => one + 0)),
      last_compression: maybe(time),
    }),
    errors: fc.array(fc.record({ agent: text, message: text, at: time }, { requiredKeys: ['message'] })),
  });
  fc.assert(
    fc.property(document, (one) => {
      const { document: again, problems } = sessionIn(printOrchestrator(one));
      // What is made for a test has no prototype.
      assert.deepEqual(again, structuredClone(one));
      assert.ok(
        problems.every((problem) => /^\$\.(?:status|updated) /.test(problem)),
        problems.join('\n'),
      );
    }),
  );
});

test('whatever becomes of the bytes of a file, nothing is thrown', () => {
  const text = JSON.stringify(file(), null, 1);
  const edit = fc.record({
    at: fc.nat(text.length),
    cut: fc.nat(40),
    put: fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\0',
        '"',
        '{',
        '}',
        ',',
        '9,166',
        '\uFEFF',
        '\n<<<<<<< a\n',
        '\n=======\n',
        '\n>>>>>>> b\n',
        '\n```\n',
        `\n${text}\n`,
      ),
    ),
  });
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) =>
      check(find(edits.reduce((was, { at, cut, put }) => was.slice(0, at) + put + was.slice(at + cut), text))),
    ),
    { numRuns: 500 },
  );
});

test('a file that is cut off anywhere is taken as far as it goes or is damaged, with a place', () => {
  const text = JSON.stringify(file({ goal: 'Tee für zwei' }), null, 1);
  for (let end = 0; end < text.length; end += 1) {
    const found = find(text.slice(0, end));
    check(found);
    if (found.what === 'session') assert.ok(found.session.lost.length > 0, String(end));
    else assert.ok(found.what === 'damaged' && found.line !== undefined, JSON.stringify(found));
  }
});

test('a large file is read in a time that its size explains', () => {
  const agents = Array.from({ length: 60_000 }, (_, index) =>
    agent(`a-${index}`, index % 2 === 0 ? 'done' : 'odd', { x: [1, '2'] }),
  );
  const text = JSON.stringify(file({ agents }), null, 2);
  assert.ok(text.length > 10_000_000);
  for (const one of [text, text.slice(0, -20)]) {
    const begun = performance.now();
    assert.equal(sessionIn(one).document.agents.length, agents.length);
    assert.ok(performance.now() - begun < 20_000);
  }
});
