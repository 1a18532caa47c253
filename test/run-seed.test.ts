/**
 * The original's reference of the state of a workflow run: its own example is a template here, and is walked by the built
 * command to the moment that the reference shows. Each of its sentences is quoted, and has a test.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import type { JsonObject } from '../src/lib/canonical-json.ts';
import {
  checkpoint,
  claimStep,
  flowIn,
  runFolder,
  templateOf,
  work,
  writeTemplate,
  type Hand,
} from './support/runs.ts';
import { createWorld, shared, withoutShared, type Printed, type Tidying, type TestWorld } from './support/world.ts';

const file = ['seeds', 'workflow-run-state.txt'] as const;
const name = 'WFR-feature-tdd-review-20260317-143022';
const folder = `.workflow/sessions/${name}`;
const planFile = '.workflow/sessions/WFS-plan-20260317/IMPL_PLAN.md';

/** The example's workflow as a template. */
const example = templateOf(
  [
    [work('N-001', { name: 'Plan', executor: 'workflow-plan', args_template: '{goal} in {scope}' })],
    [{ ...checkpoint('CP-01', true), name: 'After Plan' }],
    [
      work('N-002', {
        name: 'Build',
        type: 'cli',
        executor: 'ccw cli',
        cli_tool: 'gemini',
        cli_mode: 'write',
        args_template: '{prev_output_path}',
      }),
    ],
    [{ ...checkpoint('CP-02', false), name: 'Before Review' }],
    [
      work('N-003a', { name: 'Review', executor: 'review-cycle', args_template: '{N-002.output_path}' }),
      work('N-003b', { name: 'Test', executor: 'workflow-test-fix', args_template: '{N-002.output_path}' }),
    ],
    [work('N-004', { name: 'Close', type: 'agent', executor: 'general-purpose', args_template: '{prev_outputs}' })],
  ],
  {
    template_id: 'wft-feature-tdd-review-20260310',
    name: 'Feature TDD with Review',
    context_schema: {
      goal: { type: 'string', required: true, description: 'What is to be built' },
      scope: { type: 'path', required: true, description: 'Where' },
    },
  },
);

/** The world at a time of the example's half hour. */
const at = (world: TestWorld, time: string): TestWorld => world.with({ now: `2026-03-17T14:${time}.000Z` });

/** The example, begun at 14:30:22. */
const begunExample = (context: Tidying): TestWorld => {
  const world = createWorld(context);
  writeTemplate(world, 'feature-tdd-review', example);
  const answer = at(world, '30:22').answer(
    ...['run', 'feature-tdd-review', '--context', 'goal=Implement user authentication', 'scope=src/auth'],
  );
  assert.equal(answer.session_id, name);
  return world;
};

/** The example at the moment that the reference shows: N-002 is at work in the background since 14:35:14. */
const walkExample = (context: Tidying): TestWorld => {
  const world = begunExample(context);
  world.write(planFile, 'the plan\n');
  assert.equal(claimStep(at(world, '30:25')).id, 'N-001');
  at(world, '35:10').answer(
    ...['complete', 'N-001', '--output-path', planFile, '--artifact', planFile, '--child-session', 'WFS-plan-20260317'],
  );
  assert.equal(claimStep(at(world, '35:14')).id, 'N-002');
  at(world, '35:14').answer('start', 'N-002', '--cli-task-id', 'gem-143514-x7k2');
  return world;
};

/** The same for every test that only looks; made when the first one does, and removed behind the last one. */
let walked: TestWorld | undefined;
const tidying: (() => void)[] = [];
const walkedExample = (): TestWorld =>
  (walked ??= walkExample({ after: (action: () => void) => void tidying.push(action) }));
after(() => {
  for (const action of tidying) action();
});

const textOf = (world: TestWorld, ...path: readonly string[]): string => readFileSync(world.path(...path), 'utf8');
const documentOf = (world: TestWorld, ...path: readonly string[]): Printed => JSON.parse(textOf(world, ...path));

const untouched = {
  status: 'pending',
  started_at: null,
  completed_at: null,
  session_id: null,
  output_path: null,
  artifacts: [],
  error: null,
};

const planned = {
  status: 'completed',
  started_at: '2026-03-17T14:30:25Z',
  completed_at: '2026-03-17T14:35:10Z',
  session_id: 'WFS-plan-20260317',
  output_path: planFile,
  artifacts: [planFile],
  error: null,
};

const pendingCheckpoint = { status: 'pending', saved_at: null, snapshot_path: null };

/** What `session-state.json` holds at that moment, in our words. */
const expectedState = {
  session_id: name,
  template_id: 'wft-feature-tdd-review-20260310',
  template_path: '.workflow/templates/feature-tdd-review.json',
  template_name: 'Feature TDD with Review',
  status: 'running',
  context: { goal: 'Implement user authentication', scope: 'src/auth' },
  execution_plan: [
    { batch: 1, nodes: ['N-001'], parallel: false },
    { batch: 2, nodes: ['CP-01'], parallel: false },
    { batch: 3, nodes: ['N-002'], parallel: false },
    { batch: 4, nodes: ['CP-02'], parallel: false },
    { batch: 5, nodes: ['N-003a', 'N-003b'], parallel: true },
    { batch: 6, nodes: ['N-004'], parallel: false },
  ],
  current_batch: 3,
  current_node: 'N-002',
  last_checkpoint: 'CP-01',
  node_states: {
    'N-001': planned,
    'CP-01': {
      status: 'completed',
      // The checkpoint is saved in the transaction that ends the batch before it, and not two seconds later.
      saved_at: '2026-03-17T14:35:10Z',
      snapshot_path: `${folder}/checkpoints/CP-01.json`,
      auto_continue: true,
    },
    'N-002': {
      ...untouched,
      status: 'running',
      started_at: '2026-03-17T14:35:14Z',
      cli_task_id: 'gem-143514-x7k2',
    },
    'CP-02': pendingCheckpoint,
    'N-003a': untouched,
    'N-003b': untouched,
    'N-004': untouched,
  },
  created_at: '2026-03-17T14:30:22Z',
  updated_at: '2026-03-17T14:35:14Z',
  completed_at: null,
};

/** What the snapshot of the first checkpoint holds, in our words. */
const expectedSnapshot = {
  session_id: name,
  checkpoint_id: 'CP-01',
  checkpoint_name: 'After Plan',
  saved_at: '2026-03-17T14:35:10Z',
  context_snapshot: { goal: 'Implement user authentication', scope: 'src/auth' },
  node_states_snapshot: {
    'N-001': planned,
    'CP-01': pendingCheckpoint,
    'N-002': untouched,
    'CP-02': pendingCheckpoint,
    'N-003a': untouched,
    'N-003b': untouched,
    'N-004': untouched,
  },
  last_completed_node: 'N-001',
  next_node: 'N-002',
};

const printed = (document: unknown): string => `${JSON.stringify(document, null, 2)}\n`;

test('the example of the reference, run as a template, has its state and its snapshot at the moment that the reference shows, byte by byte', () => {
  const world = walkedExample();
  assert.equal(textOf(world, folder, 'session-state.json'), printed(expectedState));
  assert.equal(textOf(world, folder, 'checkpoints/CP-01.json'), printed(expectedSnapshot));
});

/** The blocks of JSON in the reference, without what stands for the rest of something. */
const blocksOf = (): readonly Printed[] =>
  [...readFileSync(join(shared, ...file), 'utf8').matchAll(/```json\n(.*?)```/gs)].map(([, block = '']) =>
    JSON.parse(block.replaceAll(/\/\*.*?\*\//g, '')),
  );

test(
  'the state is what the reference shows, field by field and key by key in its order',
  { skip: withoutShared(...file) },
  () => {
    const [shown] = blocksOf();
    assert.ok(shown !== undefined);
    const ours = documentOf(walkedExample(), folder, 'session-state.json');
    // The reference lists every status there is in the place of one.
    assert.equal(shown.status, 'running | paused | completed | failed | aborted | archived');
    shown.status = 'running';
    // Known difference: a checkpoint is saved in the transaction that ends the batch before it, at the time of `complete`.
    assert.equal(shown.node_states['CP-01'].saved_at, '2026-03-17T14:35:12Z');
    shown.node_states['CP-01'].saved_at = shown.node_states['N-001'].completed_at;
    for (const state of Object.values<Printed>(shown.node_states)) {
      // It shows one node that was not touched in full, and leaves out what is the same of the others.
      if (state['...'] === undefined) continue;
      delete state['...'];
      Object.assign(state, { ...shown.node_states['N-003a'], ...state });
    }
    assert.equal(printed(ours), printed(shown));
  },
);

test(
  'a snapshot has the keys that the reference shows, in its order, and what they hold there',
  { skip: withoutShared(...file) },
  () => {
    const [, shown] = blocksOf();
    // Left out there: the nodes, and the context, which is that of the state.
    const pattern = readFileSync(join(shared, ...file), 'utf8');
    assert.ok(pattern.includes('"node_states_snapshot": { /* full node_states at this point */ }'));
    assert.ok(shown !== undefined);
    const ours = documentOf(walkedExample(), folder, 'checkpoints/CP-01.json');
    assert.deepEqual(Object.keys(ours), Object.keys(shown));
    assert.deepEqual(Object.keys(ours.context_snapshot), Object.keys(shown.context_snapshot));
    assert.deepEqual(Object.keys(ours.node_states_snapshot), Object.keys(expectedState.node_states));
    const { session_id: id, saved_at: _, context_snapshot: __, node_states_snapshot: ___, ...same } = shown;
    assert.equal(id, 'WFR-<id>');
    assert.deepEqual({ ...ours, ...same }, ours);
  },
);

/** Sentences of the reference that promise one thing together. */
interface Promised {
  readonly quotes: readonly string[];
  readonly rule: string;
  /** Why it is not what the sentence says. */
  readonly differs?: string;
  readonly check: (context: TestContext) => void | Promise<void>;
}

const statusOf = (world: TestWorld): string => documentOf(world, runFolder, 'session-state.json').status;
const nodeOf = (world: TestWorld, id: string): Printed =>
  documentOf(world, runFolder, 'session-state.json').node_states[id];

/** Claims the next step and completes it. */
const doNext = async (hand: Hand, result: JsonObject = {}): Promise<string> => {
  const { id } = await hand.claim();
  await hand.ask('complete', { step: id, ...result });
  return id;
};

const promises: readonly Promised[] = [
  {
    quotes: ['`.workflow/sessions/WFR-<slug>-<date>-<time>/session-state.json`'],
    rule: 'the file of a run lies in a folder that is named after its template, its date and its time',
    check: (context) => {
      const world = begunExample(context);
      assert.deepEqual(
        readdirSync(world.path('.workflow/sessions')).filter((entry) => !entry.startsWith('.')),
        [name],
      );
      assert.equal(documentOf(world, folder, 'session-state.json').session_id, name);
    },
  },
  {
    quotes: ['| `running` | Active execution in progress |'],
    rule: 'a run is running from its begin on, also between two nodes',
    check: async (context) => {
      const { world, ana } = await flowIn(context, [[work('A')], [work('B')]]);
      assert.equal(statusOf(world), 'running');
      await ana.claim();
      assert.equal(statusOf(world), 'running');
      await ana.ask('complete', { step: 'A' });
      assert.equal(statusOf(world), 'running');
    },
  },
  {
    quotes: ['| `paused` | User paused at checkpoint — resume with `--resume` |'],
    rule: 'whoever pauses at a checkpoint finds the run paused, and goes on with run --resume behind the checkpoint',
    check: async (context) => {
      const { world, ana } = await flowIn(context, [[work('A')], [checkpoint('CP', false)], [work('B')]]);
      await doNext(ana);
      await ana.ask('decide', { node: 'CP', answer: 'pause' });
      assert.equal(statusOf(world), 'paused');
      const resumed = await ana.ask('run', { resume: 'flow' });
      assert.deepEqual([resumed.was_paused, resumed.current_node], [true, 'B']);
      assert.equal(statusOf(world), 'running');
    },
  },
  {
    quotes: ['| `completed` | All nodes executed successfully |'],
    rule: 'a run whose last node is completed is completed, with the time and no current node',
    check: async (context) => {
      const { world, ana, clock } = await flowIn(context, [[work('A')], [checkpoint('CP', true)], [work('B')]]);
      assert.equal(await doNext(ana), 'A');
      clock.minutes = 7;
      assert.equal(await doNext(ana), 'B');
      const state = documentOf(world, runFolder, 'session-state.json');
      assert.deepEqual(
        [state.status, state.completed_at, state.current_node, state.current_batch],
        ['completed', '2026-03-17T12:07:00Z', null, 3],
      );
    },
  },
  {
    quotes: ['| `failed` | A node failed and abort was chosen |'],
    rule: 'a run of which a node failed that is to abort it is failed',
    check: async (context) => {
      const { world, ana } = await flowIn(context, [[work('A', { on_fail: 'abort' })], [work('B')]]);
      await ana.claim();
      await ana.ask('fail', { step: 'A', error: 'it broke' });
      assert.equal(statusOf(world), 'failed');
    },
  },
  {
    quotes: ['| `aborted` | User aborted at checkpoint |'],
    rule: 'a run that is aborted at a checkpoint is aborted, and so is one that is aborted at any other moment',
    check: async (context) => {
      const rows = [[work('A')], [checkpoint('CP', false)], [work('B')]];
      const { world, ana } = await flowIn(context, rows);
      await doNext(ana);
      await ana.ask('decide', { node: 'CP', answer: 'abort' });
      const { world: other, ana: bob } = await flowIn(context, rows);
      await bob.ask('finish', { abort: true });
      assert.deepEqual([statusOf(world), statusOf(other)], ['aborted', 'aborted']);
    },
  },
  {
    quotes: ['| `pending` | Not yet started |'],
    rule: 'a node that was not begun is pending, also one that is ready',
    check: async (context) => {
      const { world } = await flowIn(context, [[work('A')], [work('B')]]);
      assert.deepEqual([nodeOf(world, 'A'), nodeOf(world, 'B')], [untouched, untouched]);
    },
  },
  {
    quotes: ['| `running` | Currently executing (may be waiting for CLI callback) |'],
    rule: 'a node is running from its claim on, and while a background task works on it, which is named',
    check: async (context) => {
      const { world, ana } = await flowIn(context, [[work('A')]]);
      await ana.claim();
      const running = { ...untouched, status: 'running', started_at: '2026-03-17T12:00:00Z' };
      assert.deepEqual(nodeOf(world, 'A'), running);
      await ana.ask('start', { step: 'A', cli_task_id: 'gem-120000-abcd' });
      assert.deepEqual(nodeOf(world, 'A'), { ...running, cli_task_id: 'gem-120000-abcd' });
      await ana.ask('complete', { cli_task_id: 'gem-120000-abcd', exit_code: 0 });
      assert.deepEqual([nodeOf(world, 'A').status, nodeOf(world, 'A').cli_task_id], ['completed', 'gem-120000-abcd']);
    },
  },
  {
    quotes: ['| `completed` | Successfully finished |'],
    rule: 'a node is completed with its first good result, and holds the times of its begin and its end',
    check: async (context) => {
      const { world, ana, clock } = await flowIn(context, [[work('A')]]);
      await ana.claim();
      clock.minutes = 3;
      await ana.ask('complete', { step: 'A' });
      assert.deepEqual(nodeOf(world, 'A'), {
        ...untouched,
        status: 'completed',
        started_at: '2026-03-17T12:00:00Z',
        completed_at: '2026-03-17T12:03:00Z',
      });
    },
  },
  {
    quotes: ['| `skipped` | Skipped due to `on_fail: skip` |'],
    rule: 'a node that failed and is to be skipped is skipped and keeps its error; so is one that somebody leaves out',
    check: async (context) => {
      const { world, ana } = await flowIn(context, [[work('A', { on_fail: 'skip' })], [work('B')], [work('C')]]);
      await ana.claim();
      await ana.ask('fail', { step: 'A', error: 'it broke' });
      await ana.ask('skip', { step: 'B', reason: 'not needed' });
      assert.deepEqual(nodeOf(world, 'A'), {
        ...untouched,
        status: 'skipped',
        started_at: '2026-03-17T12:00:00Z',
        error: 'it broke',
      });
      assert.deepEqual([nodeOf(world, 'B').status, nodeOf(world, 'C').status], ['skipped', 'pending']);
    },
  },
  {
    quotes: ['| `failed` | Execution error |'],
    rule: 'a node that failed is failed, with its error, until somebody goes on',
    check: async (context) => {
      const { world, ana } = await flowIn(context, [[work('A')]]);
      await ana.claim();
      await ana.ask('fail', { step: 'A', error: 'it broke' });
      assert.deepEqual(nodeOf(world, 'A'), {
        ...untouched,
        status: 'failed',
        started_at: '2026-03-17T12:00:00Z',
        error: 'it broke',
      });
    },
  },
  {
    quotes: [
      '`.workflow/sessions/<wfr-id>/checkpoints/<CP-id>.json`:',
      '+-- checkpoints/             # Checkpoint snapshots',
    ],
    rule: 'each checkpoint that was reached has its snapshot, which the state names, and no other has one',
    check: async (context) => {
      const { world, ana } = await flowIn(context, [
        [work('A')],
        [checkpoint('CP-01', true)],
        [work('B')],
        [checkpoint('CP-02', false)],
        [work('C')],
      ]);
      assert.equal(existsSync(world.path(runFolder, 'checkpoints')), false);
      await doNext(ana);
      assert.deepEqual(readdirSync(world.path(runFolder, 'checkpoints')), ['CP-01.json']);
      const first = textOf(world, runFolder, 'checkpoints/CP-01.json');
      await doNext(ana);
      // Saved before anybody decides: it is pending, and its snapshot is there.
      assert.deepEqual(nodeOf(world, 'CP-02'), {
        status: 'pending',
        saved_at: '2026-03-17T12:00:00Z',
        snapshot_path: `${runFolder}/checkpoints/CP-02.json`,
        auto_continue: false,
      });
      assert.deepEqual(documentOf(world, runFolder, 'checkpoints/CP-02.json').next_node, 'C');
      await ana.ask('decide', { node: 'CP-02', answer: 'continue' });
      assert.deepEqual(nodeOf(world, 'CP-02').status, 'completed');
      assert.equal(textOf(world, runFolder, 'checkpoints/CP-01.json'), first, 'a snapshot is never written again');
    },
  },
  {
    quotes: [
      '.workflow/sessions/WFR-<slug>-<date>-<time>/',
      '+-- session-state.json       # Main state file, updated after every node',
    ],
    rule: 'the state file is right after every node, and when one begins',
    check: async (context) => {
      const { world, ana } = await flowIn(context, [[work('A'), work('B')], [work('C')]]);
      const seen = (): readonly string[] => ['A', 'B', 'C'].map((id) => String(nodeOf(world, id).status));
      for (const [verb, input, states] of [
        ['next', { claim: true }, ['running', 'pending', 'pending']],
        ['next', { claim: true }, ['running', 'running', 'pending']],
        ['complete', { step: 'B' }, ['running', 'completed', 'pending']],
        ['complete', { step: 'A' }, ['completed', 'completed', 'pending']],
        ['next', { claim: true }, ['completed', 'completed', 'running']],
      ] as const) {
        await ana.ask(verb, input);
        assert.deepEqual(seen(), states, `${verb} ${JSON.stringify(input)}`);
      }
    },
  },
  {
    quotes: ['+-- artifacts/               # Optional: copies of key artifacts'],
    rule: 'the output of a node that was put into no file of its own lies among the artifacts, and is its output_path',
    differs: 'what lies in a file already is not copied: the state names where it is',
    check: async (context) => {
      const { world, ana } = await flowIn(context, [[work('A')], [work('B')]]);
      world.write('out/report.md', 'the report\n');
      await doNext(ana, { output: 'it is done\n' });
      await doNext(ana, { output_path: 'out/report.md' });
      assert.deepEqual(readdirSync(world.path(runFolder, 'artifacts')), ['A-output.md']);
      assert.equal(textOf(world, runFolder, 'artifacts/A-output.md'), 'it is done\n');
      assert.deepEqual(
        [nodeOf(world, 'A').output_path, nodeOf(world, 'B').output_path],
        [`${runFolder}/artifacts/A-output.md`, 'out/report.md'],
      );
    },
  },
];

/** What of the reference promises nothing, or is compared as a whole above. */
const headings = [
  'Session State Schema',
  'File Location',
  'Full Schema',
  'Status Values',
  '| Status | Description |',
  'Node State Status Values',
  '| Status | Description |',
  'Checkpoint Snapshot Schema',
  'Session Directory Structure',
  '|   +-- CP-01.json',
  '|   +-- CP-02.json',
  '    +-- N-001-output.md',
  // Archiving is tested where its verbs are.
  '| `archived` | Completed and moved to archive/ |',
];

test(
  'every sentence of the reference is quoted, and nothing is quoted that is not in it',
  { skip: withoutShared(...file) },
  () => {
    let rest = readFileSync(join(shared, ...file), 'utf8').replaceAll(/```json\n.*?```/gs, '');
    const quotes = [...promises.flatMap((promise) => promise.quotes), ...headings];
    for (const quote of quotes.toSorted((a, b) => b.length - a.length)) {
      const place = rest.indexOf(quote);
      assert.ok(place >= 0, `it is not there: ${quote}`);
      rest = `${rest.slice(0, place)}${rest.slice(place + quote.length)}`;
    }
    assert.equal(rest.replaceAll(/[\s|#`-]/g, ''), '', 'nothing is left');
  },
);

for (const { rule, differs, check } of promises) {
  test(rule, (context) => {
    if (differs !== undefined) context.diagnostic(`not what the original does: ${differs}`);
    return check(context);
  });
}
