/** What `import workflow-run` takes over of the files of workflow runs: all that can be read, once, as it was. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openStint } from '../src/index.ts';
import { caseFile } from './support/cases.ts';
import { as, claim } from './support/leases.ts';
import { ordinary, whileProtected, withoutUser } from './support/permissions.ts';
import { dumpStore, eventsOf, treeOf } from './support/stores.ts';
import {
  assertAnswer,
  command,
  createWorld,
  fileOnly,
  listOf,
  say,
  shared,
  sorted,
  withoutShared,
  type Printed,
  type TestWorld,
} from './support/world.ts';

const id = 'WFR-tea-20260301-080000';
const key = `run:${id}`;
const home = `.workflow/sessions/${id}`;
const stateFile = `${home}/session-state.json`;

const at = (minute: number): string => `2026-03-01T08:${String(minute).padStart(2, '0')}:00Z`;

const work = (status: string, more: Printed = {}): Printed => ({
  status,
  started_at: null,
  completed_at: null,
  session_id: null,
  output_path: null,
  artifacts: [],
  error: null,
  ...more,
});
const checkpoint = (status: string, more: Printed = {}): Printed => ({
  status,
  saved_at: null,
  snapshot_path: null,
  ...more,
});

const boiled = work('completed', { started_at: at(1), completed_at: at(5) });
const saved = checkpoint('completed', { saved_at: at(6), snapshot_path: `${home}/checkpoints/CP-01.json` });

/** A run that boils, passes a checkpoint, and is pouring and laying the table side by side; then it asks, and serves. */
const document = (more: Printed = {}, states: Printed = {}): Printed => ({
  session_id: id,
  template_id: 'wft-tea-20260228',
  template_path: '.workflow/templates/tea.json',
  template_name: 'Tea',
  status: 'running',
  context: { cups: '2' },
  execution_plan: [
    { batch: 1, nodes: ['boil'], parallel: false },
    { batch: 2, nodes: ['CP-01'], parallel: false },
    { batch: 3, nodes: ['pour', 'lay'], parallel: true },
    { batch: 4, nodes: ['CP-02'], parallel: false },
    { batch: 5, nodes: ['serve'], parallel: false },
  ],
  current_batch: 3,
  current_node: 'pour',
  last_checkpoint: 'CP-01',
  node_states: {
    boil: boiled,
    'CP-01': saved,
    pour: work('running', { started_at: at(7), cli_task_id: 'gem-1' }),
    lay: work('pending'),
    'CP-02': checkpoint('pending'),
    serve: work('pending'),
    ...states,
  },
  created_at: at(0),
  updated_at: at(7),
  completed_at: null,
  ...more,
});

const template = (more: Printed = {}): Printed => ({
  template_id: 'wft-tea-20260228',
  name: 'Tea',
  context_schema: { cups: { type: 'string', required: true, description: 'How many' } },
  nodes: [
    { id: 'boil', name: 'Boil', type: 'command', executor: 'kettle', args_template: 'on' },
    { id: 'CP-01', name: 'Hot', type: 'checkpoint', auto_continue: true },
    {
      id: 'pour',
      name: 'Pour',
      type: 'command',
      executor: 'pot',
      args_template: 'pour {cups}',
      parallel_group: 'table',
      on_fail: 'retry',
    },
    { id: 'lay', name: 'Lay', type: 'command', executor: 'hand', args_template: '{cups}', parallel_group: 'table' },
    { id: 'CP-02', name: 'Ready', type: 'checkpoint', auto_continue: false },
    { id: 'serve', name: 'Serve', type: 'command', executor: 'hand', args_template: '' },
  ],
  edges: [
    { from: 'boil', to: 'CP-01' },
    { from: 'CP-01', to: 'pour' },
    { from: 'CP-01', to: 'lay' },
    { from: 'pour', to: 'CP-02' },
    { from: 'lay', to: 'CP-02' },
    { from: 'CP-02', to: 'serve' },
  ],
  ...more,
});

const snapshot = (name: string, more: Printed = {}): string =>
  JSON.stringify({
    session_id: id,
    checkpoint_id: name,
    checkpoint_name: name,
    saved_at: at(6),
    context_snapshot: { cups: '2' },
    node_states_snapshot: { boil: boiled },
    last_completed_node: 'boil',
    next_node: 'pour',
    ...more,
  });

const put = (world: TestWorld, file: string, content: Printed): string =>
  world.write(file, `${JSON.stringify(content, null, 2)}\n`);

/** A world in which the player has left a run. */
const worldWith = (context: TestContext, content: Printed = document()): TestWorld => {
  const world = createWorld(context);
  put(world, stateFile, content);
  world.write(`${home}/checkpoints/CP-01.json`, snapshot('CP-01'));
  put(world, '.workflow/templates/tea.json', template());
  return world;
};

/** Imports, and answers what became of the only run. */
const take = (world: TestWorld, ...args: readonly string[]): Printed => {
  const { sessions } = world.answer('import', 'workflow-run', ...args);
  assert.equal(listOf(sessions).length, 1);
  return sessions[0];
};

/** Runs a verb that is the first to move a run that was taken over: the original is kept, and that is said. */
const move = (world: TestWorld, ...args: readonly string[]): Printed => {
  const outcome = world.run(...args, '--json');
  assert.equal(outcome.status, 0, outcome.stdout);
  assert.match(
    outcome.stderr,
    /^stint: warning: session-state\.json of the original is kept as session-state\.json\.kept-\w+\n$/,
  );
  return outcome.json;
};

const problemsOf = (taken: Printed): readonly string[] => listOf(taken.problems).map(String);

/** Healthy as far as doctor can tell. */
const assertHealthy = (world: TestWorld): void => assert.equal(world.answer('doctor').healthy, true);

/** What the checkout holds beside the store and git. */
const filesIn = (world: TestWorld): Readonly<Record<string, string>> =>
  treeOf(world.project, (path) => path === '.git' || path === '.stint');

const without = (...parts: readonly string[]) => ({ skip: withoutShared('fixtures', ...parts) });
const wfr = 'synthetic/synthetic-wfr';

const noTemplate = 'Nobody knows what its nodes do: the template .workflow/templates/nightly-audit.json is not there.';
const noSnapshot = 'The snapshot of CP-01 is not in the folder checkpoints beside the file.';
const noPlan = '1 file that its nodes name is not in this checkout: .workflow/active/WFS-audit-20260401/IMPL_PLAN.md.';
const noPlanAndOut =
  '2 files that its nodes name are not in this checkout: .workflow/active/WFS-audit-20260401/IMPL_PLAN.md, out/a.md.';
const nothingBegun = '$.node_states has no state of CP-01, N-002a, N-002b, CP-02, N-003: they were taken as pending.';

/** Position, status, what is in doubt, and the next action of each synthetic run, and what of it could not be taken as it was. */
const outcomes: Readonly<Record<string, readonly [string, string, readonly string[], string, ...string[]]>> = {
  's1-fresh-phase2-no-completed_at': ['N-001 (batch 1/5, 0/6 nodes done)', 'active', [], 'claim', noTemplate],
  's2-parallel-two-running-one-cli': [
    'N-002a (batch 3/5, 2/6 nodes done)',
    'active',
    ['N-002a', 'N-002b'],
    'settle',
    noSnapshot,
    noPlan,
    noTemplate,
  ],
  // Paused at CP-02: whoever resumes it goes on behind it.
  's3-paused-checkpoint-already-marked-completed': [
    'N-003 (batch 5/5, 5/6 nodes done)',
    'paused',
    [],
    'resume',
    'The snapshots of CP-01, CP-02 are not in the folder checkpoints beside the file.',
    noPlanAndOut,
    noTemplate,
  ],
  // CP-02 was not passed, whatever was done behind it: it is asked about, and what was done stays.
  's4-last_checkpoint-points-to-missing-snapshot': [
    'CP-02 (batch 4/5, 4/6 nodes done)',
    'active',
    ['N-003'],
    'decide',
    '$.current_batch is 5: by the states of the nodes it is 4.',
    '$.current_node is "N-003", which is running: by the states of the nodes it is CP-02.',
    '$.last_checkpoint is "CP-02", which is pending: by the states of the nodes it is CP-01.',
    '$.node_states shows N-003 begun, although CP-02 before is not done.',
    noSnapshot,
    noPlan,
    noTemplate,
  ],
  's5-work-done-after-last-checkpoint': [
    'N-002b (batch 3/5, 3/6 nodes done)',
    'active',
    ['N-002b'],
    'settle',
    noSnapshot,
    noPlanAndOut,
    noTemplate,
  ],
  's6-failed': [
    'N-003 (batch 5/5, 5/6 nodes done)',
    'failed',
    [],
    'reopen',
    '$.node_states["CP-02"] is a completed checkpoint that names no snapshot.',
    noSnapshot,
    noPlan,
    noTemplate,
  ],
  's7-archived-stale-paths': [
    'all 6 nodes done',
    'completed, archived',
    [],
    'none',
    '$.status is archived, which does not say how it ended: it was taken as completed.',
    '$.node_states["CP-01"] points to where the run lay before it was archived, and was kept.',
    '$.node_states["CP-02"] points to where the run lay before it was archived, and was kept.',
    'The snapshots of CP-01, CP-02 are not in the folder checkpoints beside the file.',
    noPlan,
    noTemplate,
  ],
  's8-abbreviated-node-state': [
    'N-002a (batch 3/5, 3/6 nodes done)',
    'active',
    [],
    'claim',
    '$.node_states["N-002a"] is abbreviated: what it leaves out was taken as empty.',
    '$.node_states["N-003"].status is "DONE", which means completed.',
    '$.node_states has no state of N-002b, CP-02: they were taken as pending.',
    '$.node_states shows N-003 begun, although N-002a, N-002b before are not done.',
    noSnapshot,
    noPlan,
    noTemplate,
  ],
  's9-plan-node-without-state-and-vice-versa': [
    'N-001 (batch 1/5, 0/6 nodes done)',
    'active',
    [],
    'claim',
    nothingBegun,
    '$.node_states["N-999"] is of no batch of the plan, and was kept.',
    noTemplate,
  ],
  's10-status-enum-literal': [
    'N-001 (batch 1/5, 0/6 nodes done)',
    'active',
    [],
    'claim',
    nothingBegun,
    '$.status is the list of all statuses and not one of them: by the states of its nodes the run is running.',
    noTemplate,
  ],
};

for (const [name, expected] of Object.entries(outcomes)) {
  test(`${name} comes over as it was, and what nobody knows of it is told`, without(wfr), (context) => {
    const world = createWorld(context).with({ now: '2026-04-02T00:00:00.000Z' });
    const path = '.workflow/sessions/WFR-nightly-audit-20260401-091500/session-state.json';
    world.write(path, readFileSync(join(shared, 'fixtures', wfr, `${name}.json`)));
    const taken = take(world);
    const { position, status, archived, in_doubt: inDoubt, next_action: next, problems } = taken;
    assert.deepEqual(
      [position, archived === true ? `${status}, archived` : status, inDoubt, next.kind, ...problems],
      expected,
    );
    assert.equal(taken.result, 'imported');
    assert.equal(take(world).result, 'unchanged');
    assertHealthy(world);
  });
}

const folders = [
  'synthetic/synthetic-wfr',
  'synthetic/synthetic-craft-dialects',
  'real/ccw-coordinators',
  'real/ccw-wfs',
  'real/maestro-flow',
];

for (const folder of folders) {
  test(
    `every file of ${folder} has a diagnosis, alone and with all others, and nothing is written beside the store`,
    without(folder),
    async (context) => {
      const source = join(shared, 'fixtures', folder);
      const names = readdirSync(source);
      const original = treeOf(source);
      const world = createWorld(context);
      for (const name of names) {
        mkdirSync(world.path('.workflow/sessions', name), { recursive: true });
        copyFileSync(join(source, name), world.path('.workflow/sessions', name, 'session-state.json'));
      }
      const before = filesIn(world);
      const around = (): readonly string[] => readdirSync(world.root).toSorted();
      const beside = around();
      const outcome = world.run('import', 'workflow-run', '--json');
      const all = outcome.json;
      // What is of another program is no harm; what is of a run and cannot be taken is.
      const worst = listOf(all.ignored).find(({ code }) => code !== undefined)?.code;
      assert.deepEqual([outcome.status === 0, all.error?.code], [worst === undefined, worst]);
      const diagnosed = [...listOf(all.sessions), ...listOf(all.ignored)].map(({ path }) => String(path));
      assert.deepEqual(sorted(diagnosed), sorted(names.map((name) => `.workflow/sessions/${name}/session-state.json`)));
      for (const { is, why, problem } of listOf(all.ignored))
        assert.ok(typeof problem === 'string' ? problem !== '' : is !== '' && why !== '', 'it is said why');
      // Ten files of one run, all of the same moment and in folders of other names: nobody knows which one counts.
      const isRun = (name: string): boolean => /^s\d+-/.test(name);
      assert.deepEqual(all.sessions, []);
      assert.deepEqual(filesIn(world), before);
      assert.deepEqual(around(), beside);

      const stint = openStint({ cwd: world.project });
      assert.ok(stint.ok);
      for (const name of names) {
        const answer = await stint.value.run('import workflow-run', { path: join(source, name) });
        const report: Printed = answer.ok ? answer.value : answer.error.report;
        const { sessions, ignored }: Printed = report;
        assert.deepEqual([listOf(sessions).length, listOf(ignored).length], isRun(name) ? [1, 0] : [0, 1], name);
        assert.equal(
          answer.ok,
          listOf(ignored).every(({ code }) => code === undefined),
          name,
        );
      }
      await stint.value.close();
      assert.deepEqual(treeOf(source), original);
    },
  );
}

const withoutCases = withoutShared('cases');

/** A world in which the player has left the file of a case. */
const caseWorld = (context: TestContext, name: string, file = 'session-state.json'): TestWorld => {
  const world = createWorld(context).with({ now: '2026-03-17T15:00:00.000Z' });
  mkdirSync(world.path('.workflow/sessions/WFR-add-login-20260317-143022/checkpoints'), { recursive: true });
  const folder = world.path('.workflow/sessions/WFR-add-login-20260317-143022');
  copyFileSync(caseFile(name, file), join(folder, 'session-state.json'));
  return world;
};
const login = 'run:WFR-add-login-20260317-143022';

test(
  'G02: what was done before the import is never handed out again, in this process, in another one, or in a copied folder',
  { skip: withoutCases },
  (context) => {
    const world = caseWorld(context, 'G02');
    assert.equal(take(world).position, 'N-002 (batch 3/5, 2/6 nodes done)');
    const resumed = move(world, 'resume', '--session', login, '--rerun', 'N-002', '--reason', 'it is gone');
    assert.equal(resumed.current_node, 'N-002');
    for (const one of [
      world,
      as(world, 'bob'),
      createWorld(context, { from: world }).with({ now: '2026-03-17T15:00:00.000Z' }),
    ]) {
      assert.deepEqual(
        listOf(one.answer('next', '--session', login).steps).map((step) => [step.id, step.attempt]),
        [['N-002', 2]],
      );
    }
    const about = eventsOf(world, login).filter(({ data }) => data.step === 'N-001');
    assert.deepEqual(about, [], 'nothing has begun N-001');
  },
);

test(
  'G09: the links of a node to the outside are taken over as they are, and a snapshot that lies beside it is read',
  { skip: withoutCases },
  (context) => {
    const world = caseWorld(context, 'G09');
    copyFileSync(
      caseFile('G09', 'CP-01.json'),
      world.path('.workflow/sessions/WFR-add-login-20260317-143022/checkpoints/CP-01.json'),
    );
    const taken = take(world);
    assert.deepEqual(taken.in_doubt, ['N-002']);
    assert.ok(problemsOf(taken).some((text) => text.includes('CP-01.json: $.checkpoint_name is missing')));
    assert.equal(world.answer('status', login).nodes[0].cli_task_id, 'task-7');
    // Done again, it is another attempt, without the link of the first.
    move(world, 'resume', '--session', login, '--rerun', 'N-002', '--reason', 'look');
    world.answer('next', '--claim', '--session', login);
    assert.equal(world.answer('status', login).nodes[0].cli_task_id, undefined);
  },
);

test(
  'H01: a run that says running for ever is interrupted since it was last written, at the first call, everywhere, and can be closed',
  { skip: withoutCases },
  (context) => {
    const world = caseWorld(context, 'H01');
    copyFileSync(caseFile('H01', 'lease.json'), world.path('.workflow/sessions/lease.json'));
    take(world);
    const since = '2026-02-27T14:35:14.000Z';
    const [row] = world.answer('list').sessions;
    const status = world.answer('status', login);
    const [progress] = world.answer('progress', '--session', login).sessions;
    for (const answer of [row, status, progress])
      assert.deepEqual([answer.activity, answer.activity_since], ['interrupted', since]);
    assert.deepEqual([status.next_action.kind, progress.next_action.kind], ['settle', 'settle']);
    assert.equal(move(world, 'finish', '--abort', '--session', login).outcome, 'aborted');
  },
);

test(
  'H08: a run without a batch is 0/0, is not finished, and can be given a plan',
  { skip: withoutCases },
  (context) => {
    const world = caseWorld(context, 'H08');
    const taken = take(world);
    assert.deepEqual([taken.position, taken.status, taken.next_action.kind], ['without a plan', 'active', 'advance']);
    const [progress] = world.answer('progress', '--session', login).sessions;
    assert.deepEqual([progress.done, progress.total, progress.fraction], [0, 0, null]);
    for (const columns of ['0', '1'])
      assert.match(
        world.with({ env: { COLUMNS: columns } }).run('progress', '--once', '--session', login).stdout,
        / 0\/0 /,
      );
    world.refusal(6, 'finish', '--session', login);
    put(world, '.workflow/templates/tea.json', template());
    const begun = move(world, 'run', 'tea', '--context', 'cups=2', '--name', login.slice('run:'.length));
    assert.equal(begun.current_node, 'boil');
  },
);

test(
  'H10: a run without an end lasts until now; one whose start is not known since the first time that it tells of',
  { skip: withoutCases },
  (context) => {
    for (const [file, milliseconds] of [
      ['session-state.json', 29 * 60_000 + 38_000],
      ['no-start.json', 29 * 60_000 + 35_000],
    ] as const) {
      const world = caseWorld(context, 'H10', file);
      take(world);
      const [progress] = world.answer('progress', '--session', login).sessions;
      assert.deepEqual([progress.running, progress.elapsed_ms], [true, milliseconds]);
    }
  },
);

test('a run comes over with its own times, and the nodes of its template as that is now', (context) => {
  const world = worldWith(context);
  const preview = world.answer('import', 'workflow-run', '--dry-run');
  assert.equal(existsSync(world.path('.stint')), false, 'a preview leaves nothing behind');
  const before = filesIn(world);
  const answer = world.answer('import', 'workflow-run');
  assert.deepEqual({ ...answer, dry_run: true }, preview);
  const [taken] = answer.sessions;
  assert.deepEqual([taken.problems, taken.in_doubt, taken.path], [[], ['pour'], stateFile]);
  assert.deepEqual(taken.notes, [
    'What its nodes do is taken from the template .workflow/templates/tea.json as it is now.',
  ]);
  assert.deepEqual(
    eventsOf(world, key).map(({ type, at: time }) => [type, time]),
    [
      ['SessionOpened', '2026-03-01T08:00:00.000Z'],
      ['RunImported', '2026-03-01T08:07:00.000Z'],
      ['Imported', '2026-03-17T12:00:00.000Z'],
    ],
  );
  // What is in doubt keeps nobody from its sibling.
  assert.partialDeepStrictEqual(world.answer('next').steps, [{ id: 'lay', executor: 'hand', args: '2' }]);
  assert.deepEqual(filesIn(world), before, 'the original is not touched');
  assertHealthy(world);
});

test('a run that was taken over is done to its end, and nothing of it twice', (context) => {
  const world = worldWith(context);
  take(world);
  assert.equal(move(world, 'resume', '--done', 'pour', '--reason', 'the cups are full').in_doubt_total, 0);
  world.answer('next', '--claim');
  world.answer('complete', 'lay');
  world.answer('decide', 'CP-02', 'continue');
  world.answer('next', '--claim');
  assert.equal(world.answer('complete', 'serve').position, 'all 6 nodes done');
  const claimed = eventsOf(world, key).flatMap(({ type, data }) => (type === 'StepClaimed' ? [data.step] : []));
  assert.deepEqual(claimed, ['lay', 'serve']);
  const written = JSON.parse(readFileSync(world.path(stateFile), 'utf8'));
  assert.deepEqual([written.status, written.created_at, written.node_states.boil], ['completed', at(0), boiled]);
  assertHealthy(world);
});

test('a callback of a task that the player has started does not end a node in doubt, and is kept', (context) => {
  const world = worldWith(context);
  take(world);
  world.refusal(10, 'complete', '--cli-task-id', 'gem-1', '--exit-code', '0');
  assert.deepEqual(world.answer('status').position, 'pour (batch 3/5, 2/6 nodes done)');
  assert.ok(eventsOf(world, key).some(({ type }) => type === 'ResultRefused'));
});

test('a node that has failed is ready again as its next attempt while the run goes on; of a closed run once that is reopened', (context) => {
  const failed = { pour: work('failed', { error: 'no water', started_at: at(7) }) };
  const world = worldWith(context, document({}, failed));
  assert.deepEqual(take(world).in_doubt, []);
  const ready = (): Printed => listOf(world.answer('next').steps).map((step) => [step.id, step.attempt]);
  assert.deepEqual(ready(), [
    ['pour', 2],
    ['lay', 1],
  ]);
  assert.partialDeepStrictEqual(world.answer('status').nodes[0].attempts, [{ outcome: 'failed', error: 'no water' }]);

  const closed = worldWith(context, document({ status: 'failed', completed_at: at(9) }, failed));
  assert.deepEqual([take(closed).status, closed.answer('status', key).reason], ['failed', 'pour failed: no water']);
  assert.equal(closed.answer('status', key).closed_at, '2026-03-01T08:09:00.000Z');
  closed.refusal(5, 'next', '--claim', '--session', key);
  move(closed, 'begin', 'run', '--name', id);
  assert.partialDeepStrictEqual(closed.answer('next', '--session', key).steps, [
    { id: 'pour', attempt: 2 },
    { id: 'lay', attempt: 1 },
  ]);
});

test('a run that is paused before a checkpoint goes on behind it when it is resumed', (context) => {
  const served = { pour: boiled, lay: boiled };
  const world = worldWith(context, document({ status: 'paused', current_batch: 4, current_node: 'CP-02' }, served));
  assert.equal(take(world).status, 'paused');
  assert.match(world.answer('status').paused.reason, /at the checkpoint CP-02/);
  assert.equal(move(world, 'resume').current_node, 'serve');
  assert.partialDeepStrictEqual(world.answer('next').steps, [{ id: 'serve' }]);
  assert.equal(JSON.parse(readFileSync(world.path(`${home}/checkpoints/CP-02.json`), 'utf8')).checkpoint_id, 'CP-02');
});

test('a run that has come to a checkpoint waits for the decision, unless the checkpoint goes on by itself', (context) => {
  const served = { pour: boiled, lay: boiled };
  const world = worldWith(context, document({}, served));
  assert.deepEqual(take(world).next_action.kind, 'decide');
  const going = worldWith(context, document({}, served));
  const nodes = listOf(template().nodes).map((node) => (node.id === 'CP-02' ? { ...node, auto_continue: true } : node));
  put(going, '.workflow/templates/tea.json', template({ nodes }));
  assert.deepEqual(take(going).position, 'serve (batch 5/5, 5/6 nodes done)');
});

test('a closed run that has come to a checkpoint asks about it once it is reopened', (context) => {
  const world = worldWith(context, document({ status: 'aborted', completed_at: at(9) }, { pour: boiled, lay: boiled }));
  assert.equal(take(world).status, 'aborted');
  assert.equal(move(world, 'begin', 'run', '--name', id).next_action.kind, 'decide');
});

test('a run whose nodes are all done and that says running stays open, with nothing missing', (context) => {
  const all = Object.fromEntries(['pour', 'lay', 'serve'].map((node) => [node, boiled]));
  const world = worldWith(context, document({}, { ...all, 'CP-02': checkpoint('completed', { saved_at: at(8) }) }));
  const taken = take(world);
  assert.deepEqual([taken.status, taken.position, taken.next_action.kind], ['active', 'all 6 nodes done', 'finish']);
  assert.equal(move(world, 'finish').outcome, 'completed');
});

const strange = {
  ...document(
    { zz_file: { deep: [1] }, previous_status: 'none', ü: 'kept' },
    {
      lay: work('pending', { zz_node: true, cli_task_id: 'old' }),
      'CP-02': checkpoint('pending', { zz_check: null, auto_continue: false }),
      gone: work('completed', { zz_gone: 1 }),
    },
  ),
};
strange.execution_plan = listOf(strange.execution_plan).map((batch, index) => ({ ...batch, zz_batch: index }));

/** The paths of all keys of a value. */
const keysOf = (value: Printed, path = '$'): readonly string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, item]) => [`${path}.${name}`, ...keysOf(item, `${path}.${name}`)]);

test('once something happens to the run here its file is ours, without the loss of a key, and the original is kept beside it', (context) => {
  const world = worldWith(context, strange);
  const original = readFileSync(world.path(stateFile), 'utf8');
  take(world);
  world.answer('note', 'looked at it', '--session', key);
  assert.equal(readFileSync(world.path(stateFile), 'utf8'), original, 'a remark moves nothing');
  move(world, 'resume', '--rerun', 'pour');
  const written = JSON.parse(readFileSync(world.path(stateFile), 'utf8'));
  const lost = keysOf(strange).filter((path) => !keysOf(written).includes(path));
  // It says how an archived run had ended, and this one is not archived.
  assert.deepEqual(lost, [
    '$.previous_status',
    ...keysOf(strange)
      .filter((path) => path.endsWith('.pour.cli_task_id'))
      .slice(1),
  ]);
  assert.deepEqual(
    [written.zz_file, written.node_states.gone, written.ü],
    [{ deep: [1] }, strange.node_states.gone, 'kept'],
  );
  assert.equal(written.execution_plan[3].zz_batch, 3);
  const kept = readdirSync(world.path(home)).filter((name) => name.includes('.kept-'));
  assert.deepEqual(
    kept.map((name) => readFileSync(world.path(home, name), 'utf8')),
    [original],
  );
  assertHealthy(world);
  // What somebody writes later is not the original.
  world.write(stateFile, original.replace('"Tea"', '"Tea time"'));
  const { stderr } = world.run('skip', 'lay', '--reason', 'no cloth');
  assert.match(stderr, /session-state\.json had been changed by somebody else; that version is kept as /);
});

test('the same file is taken once, under whatever path it is named', (context) => {
  const world = worldWith(context);
  const answer = world.answer('import', 'workflow-run');
  assert.equal(answer.source, '.workflow/sessions');
  const before = dumpStore(world);
  mkdirSync(world.path('src'));
  const below = world.with({ cwd: world.path('src') });
  for (const [one, path] of [
    [world, '.'],
    [world, world.project],
    [world, '.workflow'],
    [world, '.workflow/sessions/'],
    [world, home],
    [world, stateFile],
    [below, '..'],
    [below, `../${stateFile}`],
  ] as const)
    assert.equal(take(one, path).result, 'unchanged', path);
  assert.equal(take(below).result, 'unchanged');
  assert.deepEqual(dumpStore(world), before);
});

test('a newer version is taken as long as nothing has happened to the run here, an older one is not', (context) => {
  const world = worldWith(context);
  take(world);
  const newer = document(
    { updated_at: at(20), status: 'completed', completed_at: at(20) },
    {
      pour: boiled,
      lay: boiled,
      'CP-02': checkpoint('completed', { saved_at: at(19) }),
      serve: boiled,
    },
  );
  put(world, stateFile, newer);
  const preview = world.answer('import', 'workflow-run', '--dry-run');
  const taken = world.answer('import', 'workflow-run');
  assert.deepEqual({ ...taken, dry_run: true }, preview);
  assert.deepEqual([taken.sessions[0].result, taken.sessions[0].status], ['updated', 'completed']);
  assert.equal(take(world).result, 'unchanged');
  // And open again, as the player can be made to.
  put(world, stateFile, document({ updated_at: at(30) }));
  assert.deepEqual([take(world).result, world.answer('status').status], ['updated', 'active']);
  put(world, stateFile, document({ updated_at: at(25) }));
  const older = take(world);
  assert.deepEqual([older.result, older.why], ['left', 'A newer version of it was taken over.']);
  assertHealthy(world);
});

test('a run that has gone on here, or was begun here, is left alone, and told', (context) => {
  const world = worldWith(context);
  take(world);
  move(world, 'resume', '--rerun', 'pour', '--session', key);
  put(world, 'copy/WFR-x/session-state.json', document({ updated_at: at(30) }));
  const before = dumpStore(world);
  const moved = take(world, 'copy');
  assert.deepEqual([moved.result, moved.why], ['left', 'It has gone on here since it was taken over.']);
  assert.deepEqual(dumpStore(world), before);

  const other = createWorld(context);
  put(other, '.workflow/templates/tea.json', template());
  other.answer('run', 'tea', '--context', 'cups=3', '--name', id);
  put(other, 'copy/WFR-x/session-state.json', document());
  const begun = take(other, 'copy');
  assert.deepEqual([begun.result, begun.why], ['left', 'A session of this name was begun here.']);
  assert.equal(begun.position, 'boil (batch 1/5, 0/6 nodes done)');
});

for (const [whose, ...named] of [['of our own name'], ['named by somebody', '--name', 'release-1.2.0']]) {
  test(`our own files, found again, are not taken for those of another: ${whose}`, (context) => {
    const world = createWorld(context);
    put(world, '.workflow/templates/tea.json', template());
    world.answer('run', 'tea', '--context', 'cups=3', ...named);
    const before = dumpStore(world);
    const { result, why } = take(world);
    assert.deepEqual([result, why], ['left', 'A session of this name was begun here.']);
    assert.deepEqual(dumpStore(world), before);
  });
}

test('a run that somebody else holds is not taken anew, and told; the others are', (context) => {
  const world = worldWith(context);
  take(world);
  claim(world, '--session', key);
  put(world, stateFile, document({ updated_at: at(30) }));
  put(world, '.workflow/sessions/WFR-more/session-state.json', document({ session_id: 'WFR-more' }));
  const { sessions } = as(world, 'bob').answer('import', 'workflow-run');
  assert.deepEqual(
    listOf(sessions).map(({ session, result }) => [session, result]),
    [
      ['run:WFR-more', 'imported'],
      [key, 'left'],
    ],
  );
  assert.match(String(sessions[1].why), /is held by ana@desk/);
});

test('of a run that lies in the archive too the live one is taken, and the other told', (context) => {
  const world = worldWith(context);
  put(world, `.workflow/sessions/archive/${id}/session-state.json`, document({ status: 'archived' }));
  const { sessions, ignored } = world.answer('import', 'workflow-run');
  assert.deepEqual([listOf(sessions).length, sessions[0].status], [1, 'active']);
  assert.deepEqual(ignored, [
    {
      path: `.workflow/sessions/archive/${id}/session-state.json`,
      is: `another file of the run ${id}`,
      why: `It is taken from ${stateFile}.`,
    },
  ]);
});

test('of a run and its copies the one in the folder of its name is taken, else the newest, else none, and the others are told', (context) => {
  const world = createWorld(context);
  const sessions = '.workflow/sessions';
  const old = document({ updated_at: at(30), node_states: {} });
  // The path of a copy may stand before, and a copy may have been touched later.
  put(world, `${sessions}/${id.slice(0, 8)}-backup/session-state.json`, old);
  put(world, stateFile, document());
  const copies = ['WFR-a', 'WFR-b', 'WFR-c', 'WFR-d'].map((name) => `${sessions}/${name}/session-state.json`);
  copies.forEach((path, index) => {
    const isNewer = index % 2 === 1;
    const minute = index < 2 ? 7 + index : 7;
    put(world, path, document({ session_id: index < 2 ? 'WFR-newest' : 'WFR-alike', updated_at: at(minute), isNewer }));
  });
  const answer = world.answer('import', 'workflow-run');
  assert.deepEqual(
    listOf(answer.sessions).map(({ path }) => path),
    [copies[1], stateFile],
  );
  const alike = `Nobody knows which one counts, and none was taken: ${copies[2]}, ${copies[3]}. Name the one to take: stint import workflow-run PATH.`;
  assert.deepEqual(
    listOf(answer.ignored).map(({ path, why }) => [path, why]),
    [
      [copies[0], `It is taken from ${copies[1]}.`],
      [copies[2], alike],
      [copies[3], alike],
      [`${sessions}/${id.slice(0, 8)}-backup/session-state.json`, `It is taken from ${stateFile}.`],
    ],
  );
  assert.equal(take(world, copies[2] ?? '').result, 'imported');
});

test('a copy is not taken by itself for a file that cannot be read any more', (context) => {
  const world = createWorld(context);
  const copy = `.workflow/sessions/${id}-backup/session-state.json`;
  put(world, copy, document());
  world.write(stateFile, JSON.stringify(document()).slice(0, -9));
  const { status, json } = world.run('import', 'workflow-run', '--json');
  assert.deepEqual([status, json.error.code, json.sessions], [14, 'damaged', []]);
  assert.deepEqual(
    listOf(json.ignored).find(({ path }) => path === copy)?.why,
    `It may be older than ${stateFile}, which cannot be read, and was not taken. Name the one to take: stint import workflow-run PATH.`,
  );
  assert.equal(take(world, copy).result, 'imported');

  const archived = worldWith(context);
  archived.write(`.workflow/sessions/archive/${id}/session-state.json`, '{');
  assert.equal(take(archived).path, stateFile, 'the one in the folder of its name can be read');
});

for (const [where, folder] of [
  ['in the archive', `.workflow/sessions/archive/${id}`],
  ['outside of it', home],
] as const) {
  test(`a run that is archived and lies ${where} comes archived, stays where it is, and comes back whole`, (context) => {
    const world = createWorld(context);
    const original = document({ status: 'archived', previous_status: 'failed', completed_at: at(9), zz: 1 });
    put(world, `${folder}/session-state.json`, original);
    world.write(`${folder}/artifacts/boil.md`, 'hot\n');
    const before = filesIn(world);
    const taken = take(world);
    assert.deepEqual([taken.status, taken.archived], ['failed', true]);
    world.answer('note', 'seen', '--session', key);
    assert.deepEqual(filesIn(world), before);
    assertHealthy(world);
    const outcome = world.run('unarchive', '--session', key, '--json');
    assert.equal(outcome.status, 0, outcome.stdout);
    assert.equal(readFileSync(world.path(home, 'artifacts/boil.md'), 'utf8'), 'hot\n');
    assert.equal(existsSync(world.path(`.workflow/sessions/archive/${id}`)), false);
    const written = JSON.parse(readFileSync(world.path(stateFile), 'utf8'));
    assert.deepEqual([written.status, written.zz, written.previous_status], ['failed', 1, undefined]);
    assertHealthy(world);
  });
}

test('a run that lies in the archive unfinished is over, as far as its nodes tell how', (context) => {
  const world = createWorld(context);
  put(world, `.workflow/sessions/archive/${id}/session-state.json`, document());
  const taken = take(world);
  assert.deepEqual([taken.status, taken.archived], ['aborted', true]);
  assert.ok(
    problemsOf(taken).includes('$.status is running, although the file lies in the archive: it was taken as aborted.'),
  );
});

test('a run that says it is completed and is not goes on, or was given up in the archive, and never looks finished', (context) => {
  const world = worldWith(context, document({ status: 'completed', completed_at: at(9) }));
  const taken = take(world);
  assert.deepEqual([taken.status, taken.next_action.kind, taken.in_doubt], ['active', 'claim', ['pour']]);
  assert.ok(
    problemsOf(taken).includes(
      '$.status is completed, although pour, lay, CP-02, serve are not done: it was taken as running.',
    ),
  );
  assert.equal(world.answer('status').completeness, 'open_no_artifact');

  const archived = createWorld(context);
  const failed = document({ status: 'completed', completed_at: at(9) }, { pour: work('failed', { error: 'spilt' }) });
  put(archived, `.workflow/sessions/archive/${id}/session-state.json`, failed);
  const over = take(archived);
  assert.deepEqual([over.status, over.archived], ['failed', true]);
  const status = archived.answer('status', key);
  assert.deepEqual([status.completeness, status.outcome], ['closed_without_artifact', 'failed']);
});

const templates: readonly (readonly [string, Printed, RegExp])[] = [
  ['is not there', undefined, /the template \.workflow\/templates\/tea\.json is not there\.$/],
  ['is not JSON', '{', /tea\.json is not valid \(\.workflow\/templates\/tea\.json:1:2: .*\)\.$/],
  [
    'has a node more',
    template({ nodes: [...template().nodes, { ...template().nodes[5], id: 'wash' }] }),
    /has wash too|is not valid/,
  ],
  [
    'takes a checkpoint for work',
    JSON.parse(JSON.stringify(template()).replaceAll('"serve"', '"CP-03"')),
    /has no serve\.$/,
  ],
];

for (const [name, content, expected] of templates) {
  test(`where the template ${name} nobody knows what the nodes do, and that is said again to whoever resumes`, (context) => {
    const world = worldWith(context);
    const path = world.path('.workflow/templates/tea.json');
    if (content === undefined) rmSync(path);
    else writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    const problems = problemsOf(take(world));
    assert.match(problems.find((text) => text.startsWith('Nobody knows')) ?? '', expected);
    assert.partialDeepStrictEqual(world.answer('next').steps, [
      { id: 'lay', type: 'unknown', args: '', executor: null },
    ]);
    const resumed = move(world, 'resume', '--rerun', 'pour');
    assert.deepEqual(resumed.notes, [
      `${key} was taken over without its template .workflow/templates/tea.json: nobody knows what its steps do.`,
    ]);
  });
}

test('a template that is found later is taken into a run to which nothing has happened', (context) => {
  const world = worldWith(context);
  const [there, away] = [world.path('.workflow/templates/tea.json'), world.path('tea.json')];
  renameSync(there, away);
  take(world);
  renameSync(away, there);
  assert.equal(take(world).result, 'updated');
  assert.equal(take(world).result, 'unchanged');
  assert.partialDeepStrictEqual(world.answer('next').steps, [{ id: 'lay', executor: 'hand' }]);
});

test('a path that a file names is never followed out of the project', (context) => {
  const world = createWorld(context);
  writeFileSync(join(world.root, 'tea.json'), JSON.stringify(template()));
  for (const path of ['../tea.json', join(world.root, 'tea.json'), '..\\tea.json', '']) {
    const name = `WFR-${path.length}`;
    put(
      world,
      `.workflow/sessions/${name}/session-state.json`,
      document(
        { session_id: name, template_path: path },
        {
          boil: work('completed', { output_path: '../../etc/passwd', artifacts: ['/etc/passwd', 'C:\\x'] }),
        },
      ),
    );
  }
  const { sessions } = world.answer('import', 'workflow-run');
  for (const one of listOf(sessions)) {
    assert.ok(
      problemsOf(one).some((text) => text.startsWith('Nobody knows')),
      one.session,
    );
    assert.ok(problemsOf(one).some((text) => text.startsWith('3 files that its nodes name are not in this checkout')));
  }
});

test('snapshots that are missing, of others, of nothing or damaged are told', (context) => {
  const world = worldWith(context);
  const folder = `${home}/checkpoints`;
  rmSync(world.path(folder, 'CP-01.json'));
  world.write(`${folder}/CP-02.json`, snapshot('CP-02'));
  world.write(`${folder}/CP-09.json`, snapshot('CP-09'));
  world.write(`${folder}/other.json`, snapshot('CP-01', { session_id: 'WFR-other' }));
  world.write(`${folder}/torn.json`, '{"session_id":');
  assert.deepEqual(problemsOf(take(world)), [
    `${folder}/CP-02.json belongs to a checkpoint that the run has not passed: CP-02 is pending.`,
    `${folder}/CP-09.json is of CP-09, which is no checkpoint of the run.`,
    `${folder}/other.json is of another run, WFR-other.`,
    `${folder}/torn.json: It ends in the middle, as a write that was cut off.`,
    'The snapshot of CP-01 is not in the folder checkpoints beside the file.',
  ]);
});

test('what cannot be read is told by name and place, and keeps no other away', (context) => {
  const world = worldWith(context);
  const sessions = '.workflow/sessions';
  world.write(`${sessions}/gbk/session-state.json`, Buffer.from([0x7b, 0x22, 0xc4, 0xe3, 0xba, 0xc3, 0x22, 0x7d]));
  world.write(`${sessions}/utf16/session-state.json`, Buffer.from('\uFEFF{"a":1}', 'utf16le'));
  world.write(`${sessions}/empty/session-state.json`, '');
  world.write(`${sessions}/comma/session-state.json`, `{"session_id": "WFR-a",\n "x": 9,166}`);
  world.write(`${sessions}/large/session-state.json`, ' '.repeat(16 * 1024 * 1024 + 1));
  world.write(`${sessions}/deep/session-state.json`, '['.repeat(200_000));
  mkdirSync(world.path(sessions, 'WFR-empty'));
  const answer = world.answer('import', 'workflow-run');
  assert.equal(listOf(answer.sessions).length, 1);
  const told = Object.fromEntries(
    listOf(answer.ignored).map(({ path, problem, why, line, column }) => [
      basename(String(path)) === 'session-state.json' ? String(path).split('/').at(-2) : basename(String(path)),
      [problem ?? why, line, column],
    ]),
  );
  assert.match(told['deep'][0], /^It ends in the middle/);
  const hinted = listOf(answer.ignored).flatMap(({ path, hint }) =>
    hint === undefined ? [] : [String(path).split('/').at(-2) ?? ''],
  );
  assert.deepEqual(sorted(hinted), ['comma', 'deep', 'empty']);
  assert.match(
    say(world, 'import', 'workflow-run'),
    /of the run WFR-a\. If it is that of a run, restore it from a copy/,
  );
  assert.deepEqual(
    { ...told, deep: undefined },
    {
      gbk: ['It is not UTF-8 (line 1).', undefined, undefined],
      utf16: ['It is UTF-16, not UTF-8.', undefined, undefined],
      empty: ['It is empty.', 1, 1],
      comma: ['It is not JSON. What can be read of it is of the run WFR-a.', 2, 9],
      large: ['It is larger than 16 MiB.', undefined, undefined],
      'WFR-empty': ['It holds no session-state.json: snapshots alone do not make a run.', undefined, undefined],
      deep: undefined,
    },
  );
});

test('hostile ids come over nowhere, and write nothing anywhere', (context) => {
  const world = createWorld(context);
  const hostile = [
    'WFR-../../x',
    'WFR-a/b',
    'WFR-a\\b',
    'WFR-\u0000',
    `WFR-${'x'.repeat(200)}`,
    'WFR-',
    'WFR-a..b',
    'WFR-\u202etxt',
  ];
  hostile.forEach((name, index) => {
    put(world, `.workflow/sessions/h${index}/session-state.json`, document({ session_id: name }));
  });
  const nodes = ['__proto__', 'constructor', '../up', 'a b', 'toString'];
  world.write(
    `.workflow/sessions/nodes/session-state.json`,
    JSON.stringify(
      document({ session_id: 'WFR-nodes', execution_plan: [{ batch: 1, nodes, parallel: true }] }),
    ).replace('"boil":', `"__proto__":${JSON.stringify(boiled)},"constructor":${JSON.stringify(boiled)},"boil":`),
  );
  const before = filesIn(world);
  const { sessions, ignored } = world.answer('import', 'workflow-run');
  assert.deepEqual(
    listOf(sessions).map(({ session }) => session),
    ['run:WFR-', 'run:WFR-nodes'].slice(listOf(sessions).length === 1 ? 1 : 0),
  );
  assert.equal(listOf(ignored).length + listOf(sessions).length, hostile.length + 1);
  assert.equal(world.answer('status', 'run:WFR-nodes').position, 'toString (batch 1/1, 1/2 nodes done)');
  assert.deepEqual(filesIn(world), before);
});

test('links out of the folder are not followed, and neither are circles', (context) => {
  const world = worldWith(context);
  const outside = join(world.root, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'session-state.json'), JSON.stringify(document({ session_id: 'WFR-outside' })));
  symlinkSync(outside, world.path('.workflow/sessions/WFR-outside'));
  mkdirSync(world.path('.workflow/sessions/WFR-file'));
  symlinkSync(join(outside, 'session-state.json'), world.path('.workflow/sessions/WFR-file/session-state.json'));
  symlinkSync('..', world.path('.workflow/sessions/WFR-circle'));
  const answer = world.answer('import', 'workflow-run');
  assert.deepEqual(
    listOf(answer.sessions).map(({ session }) => session),
    [key],
  );
});

test('times without a zone are those of the machine that imports, in summer and in winter', (context) => {
  const times = { created_at: '2026-01-15T08:00:00', updated_at: '2026-07-15 08:00:00' };
  for (const [zone, created, updated] of [
    ['UTC', '2026-01-15T08:00:00.000Z', '2026-07-15T08:00:00.000Z'],
    ['Europe/Berlin', '2026-01-15T07:00:00.000Z', '2026-07-15T06:00:00.000Z'],
    ['Asia/Shanghai', '2026-01-15T00:00:00.000Z', '2026-07-15T00:00:00.000Z'],
  ] as const) {
    const world = worldWith(context, document(times)).with({ now: '2026-08-01T00:00:00.000Z', env: { TZ: zone } });
    const taken = take(world);
    assert.ok(
      problemsOf(taken).some((text) => text.startsWith('$.created_at has no zone and was taken as local time')),
    );
    assert.deepEqual(
      eventsOf(world, key)
        .slice(0, 2)
        .map(({ at: time }) => time),
      [created, updated],
    );
  }
});

test('times from the future count as now, and are told', (context) => {
  const world = worldWith(
    context,
    document({ created_at: '2031-01-01T00:00:00Z', updated_at: '2031-01-01T00:00:00Z' }),
  );
  assert.ok(problemsOf(take(world)).some((text) => text.includes('lies in the future')));
  assert.equal(world.answer('status').started_at, '2026-03-17T12:00:00.000Z');
  assert.equal(world.answer('status').activity, 'interrupted');
});

test('runs of another project are taken without its files, which are told as missing once', (context) => {
  const world = createWorld(context);
  const states = { boil: { ...boiled, output_path: 'out/a.md', artifacts: ['out/a.md', 'out/b.md'] } };
  put(world, `../other/${stateFile}`, document({}, states));
  world.write('../other/out/a.md', 'a');
  put(world, '../other/.workflow/templates/tea.json', template());
  const other = treeOf(join(world.root, 'other'));
  const before = filesIn(world);
  const taken = take(world, '../other');
  assert.deepEqual(
    problemsOf(taken).filter((text) => text.includes('in this checkout')),
    ['2 files that its nodes name are not in this checkout: out/a.md, out/b.md.'],
  );
  assert.partialDeepStrictEqual(world.answer('next').steps, [{ id: 'lay', executor: 'hand' }]);
  assert.deepEqual([treeOf(join(world.root, 'other')), filesIn(world)], [other, before]);
  world.answer('resume', '--rerun', 'pour');
  assert.equal(JSON.parse(readFileSync(world.path(stateFile), 'utf8')).session_id, id);
  assert.deepEqual(treeOf(join(world.root, 'other')), other);
});

test('secrets in a file are not stored, and counted', (context) => {
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const world = worldWith(context, document({ context: { cups: secret }, note: secret }));
  assert.ok(Object.keys(world.answer('import', 'workflow-run').redacted).length > 0);
  assert.doesNotMatch(JSON.stringify(dumpStore(world)), new RegExp(secret));
});

test('where there is nothing, that is refused with what was looked for', (context) => {
  const world = createWorld(context);
  const error = world.refusal(4, 'import', 'workflow-run');
  assert.equal(error.message, 'There is no workflow run: .workflow/sessions is not there.');
  assert.equal(world.refusal(4, 'import', 'workflow-run', 'nowhere').code, 'not-found');
  mkdirSync(world.path('bare'));
  world.refusal(4, 'import', 'workflow-run', 'bare');
  assert.equal(existsSync(world.path('.stint')), false);
});

test('for a person it is short, aligned, and says what to do next', (context) => {
  const world = worldWith(context, document({ current_batch: 1 }));
  world.write('.workflow/sessions/WFR-torn/session-state.json', '{"session_id": "WFR-torn", "x": 1, "y"');
  assert.equal(
    say(world, 'import', 'workflow-run'),
    `imported  ${key}  pour (batch 3/5, 2/6 nodes done)  active
  in doubt: pour
  $.current_batch is 1: by the states of the nodes it is 3.
  What its nodes do is taken from the template .workflow/templates/tea.json as it is now.
ignored: .workflow/sessions/WFR-torn/session-state.json:1:39: It ends in the middle, as a write that was cut off. What can be read of it is of the run WFR-torn. If it is that of a run, restore it from a copy, or begin the run anew.
next: stint resume --session ${key}
`,
  );
});

test(
  'a folder that may only be read is imported into a store elsewhere',
  { skip: withoutUser === false ? fileOnly : withoutUser },
  (context) => {
    const world = ordinary(worldWith(context));
    whileProtected(world, () => {
      const outcome = world.run('import', 'workflow-run', '--json', '--store', join(world.root, 'home'));
      assert.equal(outcome.status, 0, outcome.stdout);
      assert.equal(outcome.json.sessions[0].result, 'imported');
    });
  },
);

test('a run of 5,000 nodes is taken in a moment, and so is the next look at it', (context) => {
  const names = Array.from({ length: 5000 }, (_, index) => (index % 50 === 49 ? `CP-${index}` : `N-${index}`));
  const states = Object.fromEntries(
    names.map((name, index) => [
      name,
      name.startsWith('CP-')
        ? checkpoint(index < 2500 ? 'completed' : 'pending')
        : { ...(index < 2500 ? boiled : work('pending')), zz: index },
    ]),
  );
  const content = document({
    execution_plan: names.map((name, index) => ({ batch: index + 1, nodes: [name], parallel: false })),
    node_states: states,
  });
  const world = worldWith(context, content);
  const started = performance.now();
  assert.equal(take(world).position, 'N-2500 (batch 2501/5000, 2500/5000 nodes done)');
  const taken = performance.now() - started;
  assert.equal(take(world).result, 'unchanged');
  const looked = performance.now() - started - taken;
  context.diagnostic(`${Math.round(taken)} ms, then ${Math.round(looked)} ms`);
  assert.ok(taken < 10_000 && looked < 10_000);
});

test(
  'kill -9 in the middle of an import leaves all of it or nothing, and the next one puts it right',
  { skip: fileOnly },
  (context) => {
    const left = worldWith(context);
    put(left, '.workflow/sessions/WFR-more/session-state.json', document({ session_id: 'WFR-more', status: 'failed' }));
    const original = filesIn(left);
    const preload = join(import.meta.dirname, 'support/kill-at-step.ts');
    const killed = (target: number) => {
      const world = createWorld(context, { from: left });
      const child = spawnSync(
        process.execPath,
        ['--no-warnings', '--import', preload, command, 'import', 'workflow-run'],
        {
          cwd: world.project,
          env: { ...world.env, ...(target === 0 ? {} : { STINT_TEST_STEP: String(target) }) },
          stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
          encoding: 'utf8',
        },
      );
      return { signal: child.signal, steps: Number(child.output[3]), world };
    };
    const eventsIn = (world: TestWorld): number =>
      existsSync(world.path('.stint/stint.db')) ? listOf(dumpStore(world)['event'] ?? []).length : 0;
    const { steps, world: whole } = killed(0);
    const all = eventsIn(whole);
    const found = new Set<number>();
    for (let target = steps; target > 0; target -= Math.ceil(steps / 8)) {
      const { signal, world } = killed(target);
      assert.equal(signal, 'SIGKILL', `before change ${target} of ${steps}`);
      found.add(eventsIn(world));
      assertAnswer(world.run('import', 'workflow-run', '--json'), `after change ${target} of ${steps}`);
      assert.equal(eventsIn(world), all);
      assertHealthy(world);
      assert.deepEqual(filesIn(world), original);
      rmSync(world.root, { recursive: true });
    }
    assert.deepEqual([...found], [all, 0], 'nothing before the commit, all of it after');
  },
);

test('two imports at once take everything once', async (context) => {
  const world = worldWith(context);
  const answers = await Promise.all(
    Array.from({ length: 4 }, async () =>
      assertAnswer(await world.start('import', 'workflow-run', '--json').outcome, 'import'),
    ),
  );
  assert.equal(answers.filter(({ sessions }) => sessions[0].result === 'imported').length, 1);
  assert.equal(eventsOf(world, key).length, 3);
});
