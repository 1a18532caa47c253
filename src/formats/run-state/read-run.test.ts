import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { nameProblem } from '../../lib/name.ts';
import type { Clock } from '../../lib/written-time.ts';
import { nodeStatuses, printDocument, runStatuses, type RunDocument } from './document.ts';
import { printRun } from './print-run.ts';
import { largestRunFile, readRunFile, readSnapshotFile, type Found, type FoundRun } from './read-run.ts';
import { standingOf, type Standing } from './standing.ts';

const clock: Clock = { now: '2026-06-01T00:00:00Z', offsetAt: () => 120 };
const id = 'WFR-tea-20260502-080000';
const place = { path: `.workflow/sessions/${id}/session-state.json`, folder: `.workflow/sessions/${id}` };

const work = (status: string, fields: JsonObject = {}): JsonObject => ({
  status,
  started_at: status === 'pending' ? null : '2026-05-02T08:01:00Z',
  completed_at: status === 'completed' ? '2026-05-02T08:05:00Z' : null,
  session_id: null,
  output_path: null,
  artifacts: [],
  error: null,
  ...fields,
});

const checkpoint = (status: string, name: string): JsonObject => ({
  status,
  saved_at: status === 'completed' ? '2026-05-02T08:05:01Z' : null,
  snapshot_path: status === 'completed' ? `${place.folder}/checkpoints/${name}.json` : null,
});

const plan = [
  { batch: 1, nodes: ['N-001'], parallel: false },
  { batch: 2, nodes: ['CP-01'], parallel: false },
  { batch: 3, nodes: ['N-002a', 'N-002b'], parallel: true },
  { batch: 4, nodes: ['CP-02'], parallel: false },
  { batch: 5, nodes: ['N-003'], parallel: false },
];

/** The nodes of the plan with these statuses, in its order. */
const nodes = (...statuses: readonly string[]): JsonObject =>
  Object.fromEntries(
    plan
      .flatMap((batch) => batch.nodes)
      .map((node, index) => {
        const status = statuses[index] ?? 'pending';
        return [node, node.startsWith('CP') ? checkpoint(status, node) : work(status)];
      }),
  );

const done = 'completed';

/** A file as the original writes it: its first checkpoint behind it, both nodes of batch 3 running. */
const file = (fields: JsonObject = {}): JsonObject => ({
  session_id: id,
  template_id: 'wft-tea-20260401',
  template_path: '.workflow/templates/tea.json',
  template_name: 'Tea',
  status: 'running',
  context: { goal: 'Brew it', scope: 'kitchen' },
  execution_plan: plan,
  current_batch: 3,
  current_node: 'N-002a',
  last_checkpoint: 'CP-01',
  node_states: nodes(done, done, 'running', 'running'),
  created_at: '2026-05-02T08:00:00Z',
  updated_at: '2026-05-02T08:06:00Z',
  completed_at: null,
  ...fields,
});

const fileWithout = (key: string, fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(file(fields)).filter(([name]) => name !== key));

const find = (text: string | JsonObject, where = place): Found =>
  readRunFile(typeof text === 'string' ? text : JSON.stringify(text), where, clock);

const runIn = (text: string | JsonObject, where = place): FoundRun => {
  const found = find(text, where);
  assert.equal(found.what, 'run', JSON.stringify(found));
  return found.what === 'run' ? found.run : assert.fail();
};

const problemsOf = (fields: JsonObject, where = place): readonly string[] => runIn(file(fields), where).problems;
const documentOf = (fields: JsonObject): RunDocument => runIn(file(fields)).document;
const standing = (fields: JsonObject, where = place): Standing => standingOf(runIn(file(fields), where));
const statusesOf = ({ node_states }: RunDocument): readonly string[] =>
  Object.values(node_states).map(({ status }) => status);

test('a sound file is read as it is, and printing it gives the same bytes', () => {
  const text = `${JSON.stringify(file(), null, 2)}\n`;
  const run = runIn(text);
  assert.deepEqual([run.problems, run.unknown, run.unknownOfNodes, run.unknownOfBatches], [[], {}, {}, {}]);
  assert.equal(printDocument(run.document), text);
});

test('a byte order mark and other line ends make no difference', () => {
  const text = JSON.stringify(file(), null, 2);
  assert.deepEqual(runIn(`\uFEFF${text.replaceAll('\n', '\r\n')}`), runIn(text));
});

test('what has every key of the format is a run, whatever its id', () => {
  assert.equal(runIn(file({ session_id: 'release-1.2.0' })).document.session_id, 'release-1.2.0');
  assert.equal(runIn(fileWithout('completed_at', { session_id: 'job-7' })).document.session_id, 'job-7');
  assert.equal(find(file({ session_id: '../x' })).what, 'damaged');
});

test('an end that is not written yet is none, and no problem', () => {
  const { completed_at: _, ...fresh } = file();
  assert.deepEqual([runIn(fresh).document.completed_at, runIn(fresh).problems], [null, []]);
});

test('a file is known by what it holds, not by its name', () => {
  assert.equal(find(file(), { path: 'x/status.json', folder: '' }).what, 'run');
  assert.deepEqual(find({ session_id: 'MCP-tea', current_round: 0, max_rounds: 3, created_at: '2026-05-02' }), {
    what: 'neighbour',
    is: 'a session of the multi-cli planner',
    why: 'It is a discussion in rounds, without a plan of batches.',
  });
});

test('each neighbour is named in words, with the reason why it is left alone', () => {
  const neighbours: readonly (readonly [RegExp, Json])[] = [
    [/snapshot of a checkpoint/, { session_id: id, checkpoint_id: 'CP-01', node_states_snapshot: {} }],
    [/^a template/, { template_id: 'wft-tea', nodes: [], edges: [], context_schema: {} }],
    [/list of the templates/, { templates: [] }],
    [/draft of the workflow composer/, { session_id: 'WFD-tea-20260502', steps: [] }],
    [/graph walker/, { session_id: 'c', graph_id: 'g', current_node: 'n', history: [] }],
    [/session document of Maestro/, { session_id: 'm', orchestration: {}, lifecycle: {} }],
    [/run of one step/, { run_id: 'r', attempt: 1 }],
    [/command coordinator/, { session_id: 'ccw-coord-1', command_chain: [] }],
    [/session of a team/, { session_id: 'TLS-tea', team_name: 'tea' }],
    [/flow coordinator/, { id: 'fc-1', steps: [], complete: false }],
    [/chain of Maestro/, { session_id: 'ralph-1', steps: [], current_step: 0 }],
    [/flow executor/, { nodeStates: {}, logs: [] }],
    [/orchestrator of agents/, { session_id: '2026-a', goal: 'Tea', agents: [] }],
    [/hook remembers/, { firstLoad: 'x', loadCount: 1 }],
    [/^a lease$/, { session_id: id, holder: 'ana', token: 't' }],
    [/workflow session of tasks/, { session_id: 'WFS-tea', status: 'planning' }],
    [/archived workflow sessions/, { sessions: [{ session_id: 'WFS-tea', archive_path: 'x' }] }],
    [/archived workflow sessions/, [{ session_id: 'WFS-tea', archive_path: 'x' }]],
    [/another kind/, { hello: 1 }],
    [/another kind/, 7],
    [/another kind/, null],
    [/run of another tool/, fileWithout('context', { session_id: 'job-7' })],
  ];
  for (const [name, value] of neighbours) {
    const found = find(JSON.stringify(value));
    assert.ok(found.what === 'neighbour', JSON.stringify(found));
    assert.match(found.is, name);
    assert.match(found.why, /^Its? .*\.$/);
  }
});

test('what is not JSON is told with line and column, and what it was', () => {
  const text = JSON.stringify(file(), null, 2);
  const lines = text.split('\n');
  const end = lines.length + 1;
  const lineOf = (key: string): number => lines.findIndex((line) => line.startsWith(`  "${key}"`)) + 1;
  const cases: readonly (readonly [string, string, number, number])[] = [
    ['', 'It is empty.', 1, 1],
    [' \r\n', 'It holds nothing but blanks.', 1, 1],
    ['\0\0\0', 'It holds NUL bytes, as a write leaves them that a crash cut off.', 1, 1],
    [`${text}\n\0\0`, 'It holds NUL bytes, as a write leaves them that a crash cut off.', end, 1],
    [
      text.slice(0, text.indexOf('"Tea"') + 3),
      'It ends in the middle, as a write that was cut off.',
      lineOf('template_name'),
      20,
    ],
    [
      text.slice(0, text.indexOf('"Tea"')),
      'It ends in the middle, as a write that was cut off.',
      lineOf('template_name'),
      20,
    ],
    [text.replace('"running",\n  "context"', '"running"\n  "context"'), 'It is not JSON.', lineOf('context'), 3],
    [text.replace('"current_batch": 3', '"current_batch": 3,000'), 'It is not JSON.', lineOf('current_batch'), 22],
    [`${text}\n${text}`, 'It goes on behind the end of its document.', end, 1],
    [
      text.replace('  "status"', '<<<<<<< ours\n  "status"'),
      'It holds the marks of a merge conflict.',
      lineOf('status'),
      1,
    ],
  ];
  const hint = 'If it is that of a run, restore it from a copy, or begin the run anew.';
  for (const [damaged, problem, line, column] of cases) {
    const found = find(damaged);
    const known = damaged.includes('session_id') ? ` What can be read of it is of the run ${id}.` : '';
    assert.deepEqual(found, { what: 'damaged', problem: `${problem}${known}`, line, column, hint });
  }
  assert.equal(
    JSON.stringify(find(text.slice(0, 25))).includes('of the run'),
    false,
    'an id that may be cut off is not told',
  );
  assert.match(JSON.stringify(find(`\`\`\`json\n${text}`)), /fence of Markdown/);
  assert.match(JSON.stringify(find('{"session_id": "WFS-a", "lines": 9,166}')), /a workflow session of tasks/);
  assert.match(JSON.stringify(find(text.replaceAll(/(?<=.)/gs, '\0'))), /UTF-16/);
});

test('what is too large or too deep is left alone with a reason', () => {
  assert.deepEqual(find(' '.repeat(largestRunFile + 1)), {
    what: 'damaged',
    problem: 'It is larger than 16 MiB, and was not read.',
  });
  assert.deepEqual(find('['.repeat(200) + ']'.repeat(200)), {
    what: 'damaged',
    problem: 'It is nested deeper than 100 levels.',
  });
});

test('a run without a plan or without states is damaged: from nothing it would begin anew', () => {
  for (const fields of [{ execution_plan: null }, { execution_plan: 'all' }, { node_states: [] }]) {
    const found = find(file(fields));
    assert.ok(found.what === 'damaged' && found.problem.includes('cannot be told'), JSON.stringify(found));
  }
  const { node_states: _, ...stateless } = file();
  assert.equal(find(stateless).what, 'damaged');
});

test('an id that is no safe name is a refusal of its file, never a path', () => {
  for (const bad of ['../../x', '', 'undefined', 'null', 'CON', '__proto__', 'WFR-a/b', 'WFR-a..b', 7, null, {}]) {
    const found = find(file({ session_id: bad }));
    assert.ok(found.what === 'damaged' && found.problem.startsWith('$.session_id is '), JSON.stringify(found));
  }
});

test('a node whose id is no safe name is left out of plan and states, with the reason', () => {
  for (const bad of ['../../x', '', 'undefined', 'lpt1', '__proto__', 'a b']) {
    const text = JSON.stringify(
      file({
        execution_plan: [...plan, { batch: 6, nodes: [bad, 'N-004'], parallel: false }],
        node_states: { ...nodes(done), ['@bad@']: work('running') },
      }),
    ).replace('"@bad@"', JSON.stringify(bad));
    const { document, problems } = runIn(text);
    assert.deepEqual(document.execution_plan.at(-1)?.nodes, ['N-004']);
    assert.ok(!Object.hasOwn(document.node_states, bad));
    assert.equal(problems.filter((problem) => problem.includes('its id is no safe name')).length, 2, bad);
  }
});

test('ids that every object inherits are ids like others', () => {
  const { document } = runIn(
    file({
      execution_plan: [{ batch: 1, nodes: ['constructor', 'toString'], parallel: true }],
      node_states: { toString: work('running') },
    }),
  );
  assert.deepEqual(statusesOf(document), ['pending', 'running']);
  assert.equal(document.current_node, 'toString');
});

test('a status is the one that is meant beyond doubt, and that is told', () => {
  for (const [said, meant] of [
    ['DONE', 'completed'],
    ['complete', 'completed'],
    ['In Progress', 'running'],
    ['in-progress', 'running'],
    ['Failed', 'failed'],
  ] as const) {
    const { document, problems } = runIn(file({ node_states: { ...nodes(done, done), 'N-002a': work(said) } }));
    assert.equal(document.node_states['N-002a']?.status, meant);
    assert.ok(problems.includes(`$.node_states["N-002a"].status is "${said}", which means ${meant}.`));
  }
  assert.equal(documentOf({ status: 'done', node_states: nodes(done, done, done, done, done, done) }).status, done);
});

test('a node whose status says nothing is never done: it is in doubt where it was begun', () => {
  const { document, problems } = runIn(
    file({
      node_states: {
        ...nodes(done, done),
        'N-002a': work('partial-complete', { completed_at: '2026-05-02T08:05:00Z' }),
        'N-002b': { status: 'phase-1' },
        'N-003': {},
      },
    }),
  );
  assert.deepEqual(statusesOf(document).slice(2, 4), ['running', 'pending']);
  assert.equal(document.node_states['N-003']?.status, 'pending');
  assert.equal(problems.filter((problem) => /by its times it is (?:running|pending)\.$/.test(problem)).length, 3);
});

test('a run whose status says nothing has the one that its nodes speak for, and that is told', () => {
  const status = 'running | paused | completed | failed | aborted | archived';
  const { document, problems } = runIn(file({ status }));
  assert.equal(document.status, 'running');
  assert.ok(
    problems.includes(
      '$.status is the list of all statuses and not one of them: by the states of its nodes the run is running.',
    ),
  );
  const all = (last: string) =>
    documentOf({ status: 'phase-9', node_states: nodes(done, done, done, done, done, last) });
  assert.equal(all('skipped').status, 'completed');
  assert.equal(all('failed').status, 'failed');
  assert.equal(all('pending').status, 'running');
  assert.equal(documentOf({ status: null, execution_plan: [], node_states: {} }).status, 'running');
});

test('a literal "..." stands for what was left out, and is no key', () => {
  const run = runIn(
    file({
      '...': '...',
      context: { goal: 'Brew it', '...': '...' },
      node_states: { ...nodes(done, done), 'N-002a': { status: 'pending', '...': '...' }, '...': '...' },
    }),
  );
  assert.deepEqual([run.unknown, run.unknownOfNodes, run.document.context], [{}, {}, { goal: 'Brew it' }]);
  assert.deepEqual(run.document.node_states['N-002a'], work('pending'));
  assert.ok(run.problems.some((problem) => problem.startsWith('$.node_states["N-002a"] is abbreviated')));
});

test('keys that are not of the format are kept: of the file, of nodes and of batches', () => {
  const [first, ...others] = plan;
  const run = runIn(
    file({
      schema_version: '3.1',
      x_team: { lead: 'ana', rota: [1, 2] },
      execution_plan: [{ ...first, x_note: 'hot' }, ...others],
      node_states: { ...nodes(done, done), 'N-003': work('pending', { x_cost: 1.25 }) },
    }),
  );
  assert.deepEqual(run.unknown, { schema_version: '3.1', x_team: { lead: 'ana', rota: [1, 2] } });
  assert.deepEqual(run.unknownOfNodes, { 'N-003': { x_cost: 1.25 } });
  assert.deepEqual(run.unknownOfBatches, { 1: { x_note: 'hot' } });
  assert.deepEqual(runIn(printRun(run)), run, 'they survive being printed');
});

test('a node without a state is pending, a state without a node is kept, and both are told', () => {
  const { document, problems } = runIn(file({ node_states: { ...nodes(done), 'CP-02': 'pending' } }));
  assert.equal(document.node_states['CP-02']?.status, 'pending');
  assert.ok(problems.some((problem) => problem.startsWith('$.node_states["CP-02"] is no object')));

  const extra = runIn(file({ node_states: { 'N-999': work('running'), 'N-001': work(done) } }));
  assert.deepEqual(Object.keys(extra.document.node_states), [
    'N-001',
    'CP-01',
    'N-002a',
    'N-002b',
    'CP-02',
    'N-003',
    'N-999',
  ]);
  assert.deepEqual(extra.document.node_states['CP-01'], checkpoint('pending', 'CP-01'));
  assert.deepEqual(standingOf(extra).inDoubt, ['N-999']);
  assert.ok(
    extra.problems.includes(
      '$.node_states has no state of CP-01, N-002a, N-002b, CP-02, N-003: they were taken as pending.',
    ),
  );
  assert.ok(extra.problems.includes('$.node_states["N-999"] is of no batch of the plan, and was kept.'));
});

test('a node that two batches name stays in the first, and batches are numbered anew', () => {
  const { document, problems } = runIn(
    file({
      execution_plan: [
        { batch: 2, nodes: ['N-001', 'N-001'], parallel: false },
        { batch: 5, nodes: ['N-001'], parallel: false },
        { batch: 9, nodes: ['N-002a', 'N-001'] },
        'CP-02',
        7,
      ],
    }),
  );
  assert.deepEqual(document.execution_plan, [
    { batch: 1, nodes: ['N-001'], parallel: false },
    { batch: 2, nodes: ['N-002a'], parallel: false },
    { batch: 3, nodes: ['CP-02'], parallel: false },
    { batch: 4, nodes: ['7'], parallel: false },
  ]);
  assert.equal(problems.filter((problem) => problem.includes('names N-001 again, which stays in batch 1')).length, 3);
  assert.ok(problems.includes('$.execution_plan[1] has no node of its own, and was left out.'));
  assert.ok(problems.some((problem) => problem.startsWith('$.execution_plan is numbered [2,9,null,null]')));
});

test('values of another type are kept as their JSON text, and told', () => {
  const { document, problems } = runIn(
    file({
      template_name: 7,
      template_id: null,
      context: { goal: { text: 'tea' }, cups: 2 },
      node_states: {
        ...nodes(done),
        'N-002a': work('failed', { error: { code: 3 }, artifacts: 'a.md', session_id: 5 }),
      },
    }),
  );
  assert.deepEqual([document.template_name, document.template_id], ['7', '']);
  assert.deepEqual(document.context, { goal: '{"text":"tea"}', cups: '2' });
  const node = document.node_states['N-002a'];
  assert.deepEqual(node, work('failed', { error: '{"code":3}', artifacts: ['a.md'], session_id: '5' }));
  for (const path of ['template_name', 'template_id', 'context.goal', 'context.cups'])
    assert.ok(
      problems.some((problem) => problem.startsWith(`$.${path} is `)),
      path,
    );
  for (const key of ['error', 'artifacts', 'session_id'])
    assert.ok(
      problems.some((problem) => problem.startsWith(`$.node_states["N-002a"].${key} is no`)),
      key,
    );
  assert.deepEqual(documentOf({ context: 'just tea' }).context, { context: 'just tea' });
  assert.deepEqual(documentOf({ context: null }).context, {});
  const said = { ...nodes(), 'CP-01': { status: 'pending', auto_continue: 'true' } };
  assert.equal(
    (documentOf({ node_states: said }).node_states['CP-01'] as JsonObject | undefined)?.['auto_continue'],
    true,
  );
});

test('half of a character becomes U+FFFD, and a key that stands twice counts once; both are told', () => {
  const text = JSON.stringify(file({ context: { goal: '@' }, x_half: ['@'] }))
    .replaceAll('@', String.raw`\udcaf`)
    .replace('"status":"running"', '"status":"failed","status":"running"');
  const { document, unknown, problems } = runIn(text);
  assert.deepEqual(
    [document.context, unknown, document.status],
    [{ goal: '\uFFFD' }, { x_half: ['\uFFFD'] }, 'running'],
  );
  assert.ok(problems.includes('$.context.goal holds half of a character, for which U+FFFD stands.'));
  assert.ok(problems.includes('$.x_half[0] holds half of a character, for which U+FFFD stands.'));
  assert.match(problems[0] ?? '', /^\$ holds a key twice in one object, at line 1, column \d+: the last one counts\.$/);
});

test('a number that cannot be kept exactly is told', () => {
  const problems = runIn(JSON.stringify(file({ x_id: 1 })).replace('"x_id":1', '"x_id":12345678901234567890')).problems;
  assert.deepEqual(problems, ['$.x_id is a number with more digits than can be kept.']);
});

test('pointers are concluded from the states of the nodes, and a difference is told', () => {
  const fields = { current_batch: 5, current_node: 'N-003', last_checkpoint: 'CP-02' };
  const { document, problems } = runIn(file(fields));
  assert.deepEqual([document.current_batch, document.current_node, document.last_checkpoint], [3, 'N-002a', 'CP-01']);
  assert.deepEqual(problems, [
    '$.current_batch is 5: by the states of the nodes it is 3.',
    '$.current_node is "N-003", which is pending: by the states of the nodes it is N-002a.',
    '$.last_checkpoint is "CP-02", which is pending: by the states of the nodes it is CP-01.',
  ]);
  assert.equal(documentOf({ current_node: 'N-002b' }).current_node, 'N-002b', 'any open node of the batch will do');
});

test('a running node is the current one before one that waits beside it', () => {
  const fields = { node_states: nodes(done, done, 'pending', 'running'), current_node: null };
  assert.equal(documentOf(fields).current_node, 'N-002b');
});

test('what was done after the last checkpoint stays done', () => {
  const { document, problems } = runIn(
    file({ node_states: nodes(done, done, done, 'running'), current_node: 'N-002b' }),
  );
  assert.deepEqual([statusesOf(document)[2], document.current_node, problems], [done, 'N-002b', []]);
});

test('when everything is done, no node is the current one', () => {
  const fields = {
    node_states: nodes(done, done, done, 'skipped', done, done),
    status: 'completed',
    current_node: null,
  };
  const { current_batch, current_node, last_checkpoint } = documentOf(fields);
  assert.deepEqual([current_batch, current_node, last_checkpoint], [5, null, 'CP-02']);
  assert.deepEqual(documentOf({ execution_plan: [], node_states: {} }).current_batch, 0);
});

test('a node that was begun before what comes before it was done is told', () => {
  const problems = problemsOf({
    node_states: nodes(done, done, done, done, 'pending', 'running'),
    current_batch: 4,
    current_node: 'CP-02',
  });
  assert.deepEqual(problems, ['$.node_states shows N-003 begun, although CP-02 before is not done.']);
});

test('a paused run waits at its checkpoint, whether that is marked as completed or not', () => {
  const paused = { status: 'paused', current_batch: 4, current_node: 'CP-02' };
  const marked = { ...paused, last_checkpoint: 'CP-02', node_states: nodes(done, done, done, 'skipped', done) };
  assert.deepEqual(problemsOf(marked), []);
  assert.equal(standing(marked).waitsAt, 'CP-02');
  assert.deepEqual([documentOf(marked).current_node, documentOf(marked).current_batch], ['CP-02', 4]);
  const unmarked = { ...paused, node_states: nodes(done, done, done, done) };
  assert.deepEqual(problemsOf(unmarked), []);
  assert.equal(standing(unmarked).waitsAt, 'CP-02');
  assert.deepEqual(standing(unmarked), {
    status: 'active',
    outcome: null,
    paused: true,
    archived: false,
    waitsAt: 'CP-02',
    inDoubt: [],
  });
  const astray = { status: 'paused', node_states: nodes(done, done, 'running', 'pending') };
  assert.equal(standing(astray).waitsAt, null);
  assert.ok(problemsOf(astray).includes('$.status is paused, although the run is at no checkpoint.'));
});

test('how a run ended is what its file says, and what was running is in doubt', () => {
  const whole = nodes(done, done, done, done, done, done);
  const ended = (status: string, states: JsonObject = whole) => {
    const { status: now, outcome } = standing({ status, node_states: states });
    return [now, outcome];
  };
  assert.deepEqual(ended('running', nodes(done)), ['active', null]);
  assert.deepEqual(ended('completed'), ['closed', 'completed']);
  assert.deepEqual(ended('failed'), ['closed', 'failed']);
  assert.deepEqual(ended('aborted'), ['closed', 'aborted']);
  assert.deepEqual(standing({}).inDoubt, ['N-002a', 'N-002b']);
});

test('a run that says it is completed is so only where nothing of it is left', () => {
  const ended = (status: string, where: typeof place, ...statuses: readonly string[]) =>
    standing({ status, previous_status: 'completed', node_states: nodes(...statuses) }, where).outcome;
  const archive = { ...place, folder: `.workflow/sessions/archive/${id}` };
  assert.equal(ended('completed', place, done, done, done, 'skipped', done, done), 'completed');
  assert.equal(ended('completed', place, done, done, 'running'), null);
  assert.equal(ended('completed', place, done, done, 'failed'), null);
  assert.equal(ended('completed', place, done, done, 'failed', done, done, done), 'failed');
  assert.equal(ended('completed', archive, done, done), 'aborted');
  assert.equal(ended('completed', archive, done, done, 'failed'), 'failed');
  assert.equal(ended('archived', place, done, done), 'aborted');
  assert.equal(standing({ status: 'completed', execution_plan: [] }).outcome, null);
  assert.equal(standing({ status: 'completed', execution_plan: [], node_states: {} }).outcome, 'completed');
});

test('an archived run ended as its nodes speak for, or as it says itself', () => {
  const archived = (...statuses: readonly string[]) =>
    standing({ status: 'archived', node_states: nodes(...statuses) }).outcome;
  assert.equal(archived(done, done, done, 'skipped', done, done), 'completed');
  assert.equal(archived(done, done, 'failed'), 'failed');
  assert.equal(archived(done, done), 'aborted');
  const told = {
    status: 'archived',
    previous_status: 'failed',
    node_states: nodes(done, done, done, done, done, done),
  };
  assert.equal(standing(told).outcome, 'failed');
  assert.ok(
    problemsOf(told).includes('$.status is archived, which does not say how it ended: it was taken as failed.'),
  );
});

test('what lies in the archive is archived, and paths to where it lay before are kept and told', () => {
  const archive = { ...place, folder: `.workflow/sessions/archive/${id}` };
  const fields = {
    status: 'completed',
    node_states: nodes(done, done, done, done, done, done),
    last_checkpoint: 'CP-02',
  };
  const at = { ...fields, current_batch: 5, current_node: null, completed_at: '2026-05-02T08:06:00Z' };
  assert.deepEqual(problemsOf(at, archive), [
    '$.status is completed, although the file lies in the archive.',
    '$.node_states["CP-01"] points to where the run lay before it was archived, and was kept.',
    '$.node_states["CP-02"] points to where the run lay before it was archived, and was kept.',
  ]);
  assert.ok(standing(at, archive).archived);
  assert.deepEqual(problemsOf(at), []);
  assert.deepEqual(documentOf(at).node_states['CP-01'], checkpoint(done, 'CP-01'));
});

test('what contradicts itself is told and taken as it is', () => {
  const whole = nodes(done, done, done, done, done, done);
  const told = (fields: JsonObject): string => problemsOf(fields).join('\n');
  assert.match(
    told({ status: 'completed' }),
    /^\$\.status is completed, although N-002a, .* are not done: it was taken as running\.$/m,
  );
  assert.match(told({ node_states: whole }), /^\$\.status is running, although every node is done\.$/m);
  assert.match(
    told({ completed_at: '2026-05-02T08:06:00Z' }),
    /^\$\.completed_at is .*, although the run is running\.$/m,
  );
  assert.match(told({ updated_at: '2026-05-02T08:03:00Z' }), /^\$\.updated_at lies before what the file tells of/m);
  const early = { ...nodes(), 'N-001': work(done, { completed_at: '2026-05-02T07:00:00Z' }) };
  assert.match(told({ node_states: early }), /^\$\.node_states\["N-001"\]\.completed_at lies before its start/m);
  const unsaved = { ...nodes(done), 'CP-01': { status: done, saved_at: null } };
  assert.match(told({ node_states: unsaved }), /^\$\.node_states\["CP-01"\] is a completed checkpoint that names no/m);
  const copy = { path: 'x', folder: 'elsewhere/WFR-copy' };
  assert.deepEqual(problemsOf({}, copy), [`$.session_id is ${id}, and the folder of the file is called "WFR-copy".`]);
});

test('times are moments in UTC, and what was assumed of them is told', () => {
  const { document, problems } = runIn(
    file({
      created_at: '2026-05-02T08:00:00',
      updated_at: '2026-05-02T13:36:00.1234567+05:30',
      node_states: { ...nodes(done, done, 'running', 'running'), 'N-002a': work('running', { started_at: 'noon' }) },
    }),
  );
  assert.deepEqual([document.created_at, document.updated_at], ['2026-05-02T06:00:00Z', '2026-05-02T08:06:00.123Z']);
  assert.deepEqual(problems, [
    '$.node_states["N-002a"].started_at is no time: "noon" was left out.',
    '$.created_at has no zone and was taken as local time: "2026-05-02T08:00:00" is 2026-05-02T06:00:00Z.',
    '$.updated_at is finer than a millisecond and was cut: "2026-05-02T13:36:00.1234567+05:30" is 2026-05-02T08:06:00.123Z.',
  ]);
});

test('a creation that is not known is the earliest time that is told, else that of the id, else now', () => {
  assert.equal(documentOf({ created_at: null }).created_at, '2026-05-02T08:01:00Z');
  const blank = { created_at: null, updated_at: null, node_states: {} };
  assert.equal(documentOf(blank).created_at, '2026-05-02T06:00:00Z');
  assert.equal(documentOf({ ...blank, session_id: 'WFR-tea' }).created_at, clock.now);
  assert.equal(documentOf({ updated_at: null }).updated_at, '2026-05-02T08:05:01Z');
  assert.ok(problemsOf({ created_at: null }).some((problem) => problem.startsWith('$.created_at is not known')));
});

test('paths lose the prefix of Windows that means nothing, and are never looked at otherwise', () => {
  const run = runIn(
    file({
      template_path: String.raw`\\?\C:\p\tea.json`,
      node_states: {
        ...nodes(),
        'N-001': work('pending', { output_path: '../../../etc/passwd', artifacts: [String.raw`\\?\UNC\s\a`] }),
      },
    }),
  );
  assert.equal(run.document.template_path, String.raw`C:\p\tea.json`);
  assert.deepEqual(
    run.document.node_states['N-001'],
    work('pending', { output_path: '../../../etc/passwd', artifacts: [String.raw`\\s\a`] }),
  );
});

test('no more is told of one file than anybody reads', () => {
  const states = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`N-${index}`, work('odd')]));
  const { problems } = runIn(file({ node_states: states }));
  assert.equal(problems.length, 201);
  assert.match(problems.at(-1) ?? '', /^\$ has \d+ more of such problems\.$/);
});

const snapshot = (fields: JsonObject = {}): JsonObject => ({
  session_id: id,
  checkpoint_id: 'CP-01',
  checkpoint_name: 'Water is hot',
  saved_at: '2026-05-02T08:05:01Z',
  context_snapshot: { goal: 'Brew it' },
  node_states_snapshot: nodes(done, done),
  last_completed_node: 'N-001',
  next_node: 'N-002a',
  ...fields,
});

const readSnapshot = (value: Json) =>
  readSnapshotFile(JSON.stringify(value), { path: 'checkpoints/CP-01.json', folder: 'checkpoints' }, clock);

test('a sound snapshot is read as it is, and its context and next node may be left out', () => {
  const read = readSnapshot(snapshot({ x_note: 'hot' }));
  assert.ok(read.ok);
  assert.deepEqual(read.value, { document: snapshot(), unknown: { x_note: 'hot' }, unknownOfNodes: {}, problems: [] });
  const { context_snapshot: _, next_node: __, ...short } = snapshot();
  const other = readSnapshot(short);
  assert.ok(other.ok);
  assert.deepEqual([other.value.document, other.value.problems], [short, []]);
});

test('a snapshot without a name or a time has them concluded, and another name of its file is told', () => {
  const read = readSnapshot(snapshot({ checkpoint_id: 'CP-07', checkpoint_name: null, saved_at: null }));
  assert.ok(read.ok);
  assert.deepEqual(
    [read.value.document.checkpoint_name, read.value.document.saved_at],
    ['CP-07', '2026-05-02T08:05:01Z'],
  );
  assert.equal(read.value.problems.length, 3);
});

test('what is no snapshot is refused with the reason', () => {
  for (const value of [7, file(), snapshot({ checkpoint_id: '../x' }), snapshot({ session_id: null })]) {
    const read = readSnapshot(value);
    assert.ok(!read.ok && read.error.problem.length > 0);
  }
  const torn = readSnapshotFile('{"session_id": ', place, clock);
  assert.deepEqual(torn.ok ? null : [torn.error.line, torn.error.column], [1, 16]);
});

/** What must hold of whatever is found. */
const check = (found: Found): void => {
  if (found.what !== 'run') return;
  const { document, problems } = found.run;
  assert.equal(nameProblem(document.session_id), undefined);
  assert.ok(runStatuses.includes(document.status));
  const planned = document.execution_plan.flatMap((batch) => batch.nodes);
  assert.equal(new Set(planned).size, planned.length);
  assert.deepEqual(
    document.execution_plan.map(({ batch }) => batch),
    document.execution_plan.map((_, index) => index + 1),
  );
  assert.deepEqual(
    Object.keys(document.node_states).toSorted(),
    [...new Set([...planned, ...Object.keys(document.node_states)])].toSorted(),
  );
  for (const [node, { status }] of Object.entries(document.node_states)) {
    assert.equal(nameProblem(node), undefined);
    assert.ok(nodeStatuses.includes(status));
  }
  for (const time of [document.created_at, document.updated_at]) assert.match(time, /^\d{4}-\d\d-\d\dT.*Z$/);
  for (const problem of problems) assert.match(problem, /^\$[^\n]*\.$/);
  assert.ok(JSON.stringify(found).isWellFormed());
  standingOf(found.run);
  const again = readRunFile(printRun(found.run), place, clock);
  assert.ok(again.what === 'run');
  assert.deepEqual(
    { ...again.run, problems },
    found.run,
    'what is printed is read as the same, with everything that is not of the format',
  );
};

test('a file that is cut off anywhere is damaged, with a place and no throw', () => {
  const bytes = Buffer.from(JSON.stringify(file({ context: { goal: 'Tee für zwei' } }), null, 1));
  for (let end = 0; end < bytes.length; end += 1) {
    const found = find(bytes.toString('utf8', 0, end));
    assert.ok(found.what === 'damaged' && found.line !== undefined && found.column !== undefined, String(end));
  }
});

test('whatever a file holds, nothing is thrown and what is found can be said', () => {
  const keys = fc.constantFrom(...Object.keys(file()), '...', '__proto__', 'constructor', 'x');
  const anything = fc.oneof(
    { depthSize: 'small' },
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom<unknown>('N-001', 'CP-01', 'completed', '...', '2026-05-02', '\uD800', 1e300, {}, []),
  );
  const batch = fc.record(
    {
      batch: anything,
      nodes: fc.oneof(fc.array(fc.oneof(fc.constantFrom('N-001', 'CP-01'), anything)), anything),
      parallel: anything,
    },
    { requiredKeys: [] },
  );
  const node = fc.dictionary(
    fc.constantFrom('status', 'started_at', 'saved_at', 'artifacts', 'error', 'auto_continue', '...', 'x'),
    fc.oneof(fc.constantFrom('completed', 'DONE', 'running', '2026-05-02T08:00:00', '...'), anything),
  );
  const states = fc.dictionary(
    fc.oneof(fc.constantFrom('N-001', 'CP-01', 'N-002a', '__proto__'), fc.string()),
    fc.oneof(node, anything),
  );
  fc.assert(
    fc.property(
      fc.record({ execution_plan: fc.array(fc.oneof(batch, anything)), node_states: states }, { requiredKeys: [] }),
      fc.dictionary(keys, anything),
      fc.oneof(fc.constantFrom(...runStatuses), anything),
      (shape, fields, status) => {
        check(find(JSON.stringify({ ...file(), ...shape, status })));
        check(find(JSON.stringify({ ...file(), ...fields })));
        check(find(JSON.stringify(fields)));
      },
    ),
    { numRuns: 300 },
  );
});

test('whatever becomes of the bytes of a file, nothing is thrown', () => {
  const text = JSON.stringify(file(), null, 1);
  const edit = fc.record({
    at: fc.nat(text.length),
    cut: fc.nat(40),
    put: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\0', '"', '{', ',', '9,166', '\uFEFF')),
  });
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
      const edited = edits.reduce((was, { at, cut, put }) => was.slice(0, at) + put + was.slice(at + cut), text);
      const found = find(edited);
      check(found);
      readSnapshotFile(edited, place, clock);
      assert.ok(found.what !== 'damaged' || found.problem.endsWith('.'));
    }),
    { numRuns: 500 },
  );
});
