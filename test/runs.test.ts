/** Workflow runs on the command line: how one is begun, what is handed out, what is taken and what is refused. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { checkpoint, flowIn, runFolder, runKey, stepEvents, templateOf, work, writeTemplate } from './support/runs.ts';
import { dumpStore, treeOf } from './support/stores.ts';
import {
  createWorld,
  later,
  lines,
  listOf,
  refusedText,
  say,
  sorted,
  type Printed,
  type Tidying,
  type TestWorld,
} from './support/world.ts';

const plain = templateOf(
  [[work('A', { args_template: 'do {goal} in {scope}' })], [checkpoint('CP', false)], [work('B')]],
  {
    context_schema: {
      goal: { type: 'string', required: true, description: 'What is to be done' },
      scope: { type: 'path', required: true, description: 'Where' },
      deep: { type: 'boolean', required: false, description: 'Whether to look twice', default: 'false' },
    },
  },
);

const given = ['--context', 'goal=tidy up', 'scope=src'];

const projectIn = (tidying: Tidying): TestWorld => {
  const world = createWorld(tidying);
  writeTemplate(world, 'flow', plain);
  return world;
};

const stateOf = (world: TestWorld, folder = runFolder): Printed =>
  JSON.parse(readFileSync(world.path(folder, 'session-state.json'), 'utf8'));

suite('a run is begun', () => {
  test('it says what is to be done first, and is called after its template, the day and the time', (context) => {
    const world = projectIn(context);
    assert.equal(
      say(world, 'run', 'flow', ...given),
      lines(
        'begun  run:WFR-flow-20260317-120000: A (batch 1/3, 0/3 nodes done) (open_no_artifact)',
        'next: stint next --claim --session run:WFR-flow-20260317-120000',
      ),
    );
    assert.equal(
      say(world, 'next'),
      lines(
        'A  skill  do A  attempt 1',
        'A: do tidy up in src',
        'then: A is ready to be done.',
        'next: stint next --claim --session run:WFR-flow-20260317-120000',
      ),
    );
  });

  test('what is missing is listed with the command that gives it, and nothing is begun', (context) => {
    const world = projectIn(context);
    assert.equal(
      refusedText(world, 2, 'run', 'flow', '--context', 'deep=true'),
      lines(
        'stint: The context of flow is not complete: goal (string) is missing: What is to be done (and 1 more).',
        '  goal (string) is missing: What is to be done',
        '  scope (path) is missing: Where',
        '  missing: --context goal=VALUE (What is to be done)',
        '  missing: --context scope=VALUE (Where)',
        '  expected: a value for each that is required (--context NAME=VALUE, --context-file F)',
        '  try: stint run flow --context goal=... --context scope=...',
      ),
    );
    const { status, json } = world.run('run', 'flow', '--json');
    assert.equal(status, 2);
    assert.deepEqual(json.error.asks, [
      { field: 'context', name: 'goal', description: 'What is to be done' },
      { field: 'context', name: 'scope', description: 'Where' },
    ]);
    assert.equal(existsSync(world.path('.workflow/sessions')), false);
    assert.equal(existsSync(world.path('.stint')), false);
  });

  test('a name that the template does not know, and a value that is none of its type, are faults, and are not asked for', (context) => {
    const world = projectIn(context);
    for (const [value, said] of [
      ['scop=src', 'The template has no field scop: perhaps scope; it takes goal, scope, deep.'],
      ['scope=../..', 'The value of scope leads out of the project (..).'],
      ['deep=yes', 'The value of deep is neither true nor false.'],
    ] as const) {
      const { status, json } = world.run(
        'run',
        'flow',
        'goal=tidy up',
        ...(value.startsWith('scope=') ? [] : ['scope=src']),
        value,
        '--json',
      );
      assert.equal(status, 2, value);
      assert.deepEqual(json.error.faults, [said]);
      assert.match(json.error.message, /^The context of flow is not valid: /);
      assert.deepEqual([json.error.asks, json.error.hint], [undefined, 'stint template show flow']);
    }
  });

  test('two values of one name contradict each other; the same one twice does not, nor a file that says otherwise', (context) => {
    const world = projectIn(context);
    const { message } = world.refusal(2, 'run', 'flow', ...given, 'goal=another');
    assert.equal(message, 'run: "goal" is given two values.');
    world.write('values.json', JSON.stringify({ goal: 'of the file', scope: 'lib' }));
    const run = world.answer('run', 'flow', ...given, 'scope=src', '--context-file', 'values.json', '--dry-run');
    assert.deepEqual(run.context, { goal: 'tidy up', scope: 'src', deep: 'false' });
  });

  test('a template with faults is refused, each with file, line and column', (context) => {
    const world = createWorld(context);
    world.write(
      '.workflow/templates/ring.json',
      lines(
        '{ "template_id": "wft-ring", "context_schema": {},',
        '  "nodes": [ { "id": "A", "type": "skill", "executor": "w", "args_template": "{nothing}" },',
        '             { "id": "B", "type": "skill", "executor": "w" } ],',
        '  "edges": [ { "from": "A", "to": "B" },',
        '             { "from": "B", "to": "A" } ] }',
      ),
    );
    assert.equal(
      refusedText(world, 7, 'run', 'ring'),
      lines(
        'stint: The template ring is not valid: it has 2 faults.',
        '  .workflow/templates/ring.json:2:78: In A: {nothing} is not declared in context_schema; {{ and }} are braces.',
        '  .workflow/templates/ring.json:5:14: The nodes wait for each other in a ring: A > B > A.',
        '  expected: a template without faults',
        '  try: stint template validate ring',
      ),
    );
  });

  test('a template that is not there is not found, and what is nearly called so is named and not taken', (context) => {
    const world = projectIn(context);
    assert.equal(
      refusedText(world, 4, 'run', 'flwo', ...given),
      lines(
        'stint: There is no template flwo.',
        '  expected: the slug of a template, its template_id, or a path that is absolute or begins with a dot',
        '  legal: flow',
        '  perhaps: flow',
        '  try: stint template show flow',
      ),
    );
  });

  test('a dry run tells the plan line by line, and changes nothing', (context) => {
    const world = projectIn(context);
    world.answer('run', 'flow', ...given, '--name', 'first');
    const looked = () => [treeOf(world.project, (path) => path.startsWith('.stint')), dumpStore(world)] as const;
    const before = looked();
    assert.equal(
      say(world, 'run', 'flow', ...given, '--dry-run'),
      lines(
        'goal = "tidy up"',
        'scope = "src"',
        'deep = "false"',
        '1.  batch 1  A   skill       worker         do tidy up in src',
        '2.  batch 2  CP  checkpoint  waits for you',
        '3.  batch 3  B   skill       worker         tidy up',
        'would begin  run:WFR-flow-20260317-120000: A (batch 1/3, 0/3 nodes done) (open_no_artifact)',
        'next: stint next --claim --session run:WFR-flow-20260317-120000',
        'dry run: nothing was changed',
      ),
    );
    assert.deepEqual(looked(), before);
  });

  test('a dry run in a project without a store makes none', (context) => {
    const world = projectIn(context);
    world.answer('run', 'flow', ...given, '--dry-run');
    assert.equal(existsSync(world.path('.workflow/sessions')), false);
    assert.equal(existsSync(world.path('.stint')), false);
  });

  test('two that are begun in one second have two names, and each its own folder', (context) => {
    const world = projectIn(context);
    const names = [1, 2, 3].map(() => String(world.answer('run', 'flow', ...given).session_id));
    assert.deepEqual(names, ['WFR-flow-20260317-120000', 'WFR-flow-20260317-120000-2', 'WFR-flow-20260317-120000-3']);
    for (const name of names) assert.equal(stateOf(world, `.workflow/sessions/${name}`).session_id, name);
  });

  test('runs that processes begin in one second get as many names', async (context) => {
    const world = projectIn(context);
    world.answer('run', 'flow', ...given);
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, async () => world.start('run', 'flow', ...given, '--json').outcome),
    );
    const names = outcomes.map(({ status, json, stdout }) => {
      assert.equal(status, 0, stdout);
      return String(json.session_id);
    });
    assert.equal(new Set(names).size, 6);
    assert.equal(listOf(world.answer('list').sessions).length, 7);
  });

  test('a name that is taken is a conflict, whatever became of that run, and one that is no name is refused', async (context) => {
    const { ana } = await flowIn(context, [[work('A')]]);
    assert.deepEqual(
      [(await ana.refused('run', { template: 'flow', name: 'flow' })).code, await stepEvents(ana)],
      ['conflict', ['SessionOpened', 'RunPlanned']],
    );
    await ana.ask('finish', { abort: true });
    const { code, hint } = await ana.refused('run', { template: 'flow', name: 'flow' });
    assert.deepEqual([code, hint], ['conflict', 'stint begin run --name flow']);
    assert.equal((await ana.ask('status', { session: runKey })).status, 'closed', 'it is not reopened by that');
    for (const name of ['CON', '../x', 'a/b', '', '.', '__proto__'])
      assert.equal((await ana.refused('run', { template: 'flow', name })).code, 'usage', name);
  });

  test('templates are listed, also in a project that has none', (context) => {
    const world = createWorld(context);
    assert.deepEqual(listOf(world.answer('run', '--list').templates), []);
    writeTemplate(world, 'flow', plain);
    assert.equal(say(world, 'run', '--list'), lines('flow  Flow    2 nodes, 1 checkpoint'));
    assert.equal(existsSync(world.path('.stint')), false);
  });

  test('a template, --resume and --list do not go together, and without any of them nothing is begun', (context) => {
    const world = projectIn(context);
    for (const flags of [
      [],
      ['flow', '--list'],
      ['flow', '--resume', 'x'],
      ['--list', '--resume', 'x'],
      ['--name', 'x'],
    ])
      assert.equal(world.refusal(2, 'run', ...flags).code, 'usage', flags.join(' '));
    assert.equal(world.refusal(4, 'run', '--resume', 'nobody').code, 'not-found');
  });

  test('a template that was edited or deleted is told when the run is resumed, and changes nothing about it', async (context) => {
    const { world, ana } = await flowIn(context, [[work('A')], [work('B')]]);
    const before = stateOf(world);
    assert.equal((await ana.ask('resume')).notes, undefined);
    writeTemplate(world, 'flow', templateOf([[work('Z')]]));
    assert.deepEqual((await ana.ask('resume')).notes, [
      'The template .workflow/templates/flow.json has changed since; run:flow goes on with what it was.',
    ]);
    rmSync(world.path('.workflow/templates/flow.json'));
    assert.deepEqual((await ana.ask('run', { resume: 'flow' })).notes, [
      'The template .workflow/templates/flow.json is not there any more; run:flow goes on with what it was.',
    ]);
    assert.deepEqual(stateOf(world), before);
    assert.equal((await ana.claim()).id, 'A');
  });
});

suite('nodes are handed out and done', () => {
  test('a node that is claimed has its attempt, its token and its arguments, and nobody else gets it', async (context) => {
    const { ana, bob } = await flowIn(context, [
      [work('A', { type: 'cli', cli_tool: 'gemini', cli_mode: 'write' })],
      [work('B')],
    ]);
    const answer = await ana.ask('next', { claim: true, ttl: '10m' });
    assert.deepEqual(answer.steps, [
      {
        id: 'A',
        type: 'cli',
        name: 'do A',
        attempt: 1,
        args: 'the goal',
        executor: 'worker',
        cli_tool: 'gemini',
        cli_mode: 'write',
        cli_rule: null,
        on_fail: 'abort',
        idempotent: false,
        token: answer.steps[0].token,
        expires_at: '2026-03-17T12:10:00.000Z',
        result_path: `${runFolder}/artifacts/A.attempt-1.result.json`,
      },
    ]);
    const none = await bob.ask('next', { claim: true });
    assert.deepEqual([none.steps, none.running, none.next_action.kind], [[], 1, 'wait']);
  });

  test('what is not running takes no result, no start and no failure', async (context) => {
    const { ana } = await flowIn(context, [[work('A')], [checkpoint('CP', false)], [work('B')]]);
    for (const [verb, input] of [
      ['complete', {}],
      ['start', {}],
      ['fail', { error: 'e' }],
    ] as const) {
      for (const [step, code] of [
        ['A', 'illegal-transition'],
        ['B', 'illegal-transition'],
        ['CP', 'illegal-transition'],
        ['Z', 'not-found'],
      ] as const)
        assert.equal((await ana.refused(verb, { step, ...input })).code, code, `${verb} ${step}`);
    }
    for (const [step, code] of [
      ['CP', 'illegal-transition'],
      ['Z', 'not-found'],
    ] as const)
      assert.equal((await ana.refused('skip', { step, reason: 'r' })).code, code);
  });

  test('a list begins behind a step that the run has, else it is refused with what is nearly called so', async (context) => {
    const { ana } = await flowIn(context, [[work('alpha'), work('beta')]]);
    const { steps } = await ana.ask('next', { after: 'alpha' });
    assert.deepEqual(
      listOf(steps).map(({ id }) => id),
      ['beta'],
    );
    const { code, candidates, hint } = await ana.refused('next', { after: 'alpa' });
    assert.deepEqual([code, candidates, hint], ['not-found', ['alpha'], `stint next --session ${runKey}`]);
  });

  test('a person is told what would be legal', async (context) => {
    const { world } = await flowIn(context, [[work('A')], [checkpoint('CP', false)], [work('build')]]);
    assert.equal(
      refusedText(world, 5, 'complete', 'A'),
      lines(
        'stint: The step A is not running: it was never handed out.',
        '  expected: a step that was handed out',
        '  legal: stint next --session run:flow, stint next --claim --session run:flow',
        '  try: stint next --session run:flow',
      ),
    );
    assert.equal(
      refusedText(world, 4, 'skip', 'biuld', '--reason', 'r'),
      lines(
        'stint: There is no node biuld.',
        '  expected: a node of the plan',
        '  perhaps: build',
        '  try: stint next --session run:flow',
      ),
    );
    assert.equal(
      refusedText(world, 5, 'decide', 'CP', 'continue'),
      lines(
        'stint: The checkpoint CP is not reached yet.',
        '  expected: a checkpoint that waits for a decision',
        '  legal: stint next --session run:flow',
        '  try: stint next --session run:flow',
      ),
    );
  });

  test('a late, a foreign and another result are on record as such, and change nothing', async (context) => {
    const { world, ana, bob } = await flowIn(context, [[work('A')], [work('B')]]);
    const { attempt, token } = await ana.claim();
    const running = stateOf(world);
    assert.equal((await bob.refused('complete', { step: 'A', output: 'foreign' })).code, 'lease');
    assert.equal((await ana.refused('complete', { step: 'A', attempt: 2, output: 'early' })).code, 'lease');
    assert.equal((await ana.refused('fail', { step: 'A', token: token + 1, error: 'wrong token' })).code, 'lease');
    assert.deepEqual(stateOf(world), running);
    await ana.ask('complete', { step: 'A', attempt, token, output: 'right' });
    const completed = stateOf(world);
    const same = await ana.ask('complete', { step: 'A', attempt, token, output: 'right' });
    assert.equal(same.current_node, 'B', 'the same result again changes nothing');
    assert.equal((await ana.refused('complete', { step: 'A', attempt, token, output: 'other' })).code, 'lease');
    assert.equal((await ana.refused('fail', { step: 'A', error: 'late' })).code, 'illegal-transition');
    assert.deepEqual(stateOf(world), completed);
    assert.deepEqual(await stepEvents(ana), [
      'SessionOpened',
      'RunPlanned',
      'StepClaimed A 1',
      `ResultRefused A completed Attempt 1 of A is held by ana on desk since 2026-03-17T12:00:00.000Z.`,
      'ResultRefused A 2 Attempt 2 of A does not run; attempt 1 does.',
      'ResultRefused A failed Attempt 1 of A is held by ana on desk since 2026-03-17T12:00:00.000Z.',
      'StepCompleted A 1',
      `ResultRefused A 1 Attempt 1 of A with the token ${token} does not count any more: attempt 1 is completed.`,
      'ResultRefused A failed The step A is not running: attempt 1 is completed.',
    ]);
    const { events } = await ana.ask('log', { session: runKey, limit: 2 });
    assert.deepEqual(events[0].data.result, { output: 'other' });
    assert.equal(readFileSync(world.path(runFolder, 'artifacts/A-output.md'), 'utf8'), 'right');
  });

  test('a result that comes after the run was aborted is on record and moves nothing', async (context) => {
    const { world, ana } = await flowIn(context, [[work('A')], [work('B')]]);
    const { attempt, token } = await ana.claim();
    await ana.ask('start', { step: 'A', cli_task_id: 'gem-1' });
    await ana.ask('finish', { abort: true });
    const closed = stateOf(world);
    for (const input of [
      { step: 'A', attempt, token, output: 'late', session: runKey },
      { cli_task_id: 'gem-1', exit_code: 0 },
      { cli_task_id: 'gem-1', exit_code: 1, session: runKey },
    ])
      assert.equal((await ana.refused('complete', input)).code, 'illegal-transition');
    assert.deepEqual(stateOf(world), closed);
    assert.deepEqual(
      (await stepEvents(ana)).slice(-4).map((event) => event.split(' ').slice(0, 3).join(' ')),
      ['SessionClosed aborted', 'ResultRefused A 1', 'ResultRefused A 1', 'ResultRefused A 1'],
    );
  });

  test('a failure is retried once, skipped or the end, and every attempt stays on record', async (context) => {
    const { world, clock, ana } = await flowIn(context, [
      [work('A', { on_fail: 'skip' })],
      [work('B', { on_fail: 'retry' })],
      [work('C')],
    ]);
    await ana.claim();
    await ana.ask('fail', { step: 'A', error: 'no' });
    assert.equal((await ana.claim()).attempt, 1);
    clock.minutes = 1;
    await ana.ask('fail', { step: 'B', error: 'once' });
    assert.deepEqual([(await ana.claim()).attempt, stateOf(world).node_states.B.status], [2, 'running']);
    await ana.ask('fail', { step: 'B', error: 'twice', exit_code: 137 });
    const { status, outcome, nodes } = await ana.ask('status', { session: runKey });
    assert.deepEqual([status, outcome, stateOf(world).status], ['closed', 'failed', 'failed']);
    assert.deepEqual(
      listOf(nodes[0].attempts).map(({ attempt, outcome: came, error }) => [attempt, came, error]),
      [
        [1, 'failed', 'once'],
        [2, 'failed', 'twice'],
      ],
    );
  });

  test('of a batch the siblings finish before it is settled what a failure means, in the order of the plan', async (context) => {
    const { world, ana } = await flowIn(context, [
      [work('A', { on_fail: 'abort' }), work('B', { on_fail: 'skip' }), work('C')],
      [work('D')],
    ]);
    await ana.ask('next', { claim: true, limit: 5 });
    await ana.ask('fail', { step: 'B', error: 'b' });
    await ana.ask('fail', { step: 'A', error: 'a' });
    assert.equal(stateOf(world).status, 'running');
    await ana.ask('complete', { step: 'C' });
    assert.equal(stateOf(world).status, 'failed');
    assert.deepEqual((await stepEvents(ana)).slice(-3), [
      'StepFailed A 1',
      'StepCompleted C 1',
      'SessionClosed failed',
    ]);
  });
});

suite('a background task says by its id alone what it has done', () => {
  test('two of one batch are told apart, a failure fails, and the same again changes nothing', async (context) => {
    const { world, ana, bob } = await flowIn(context, [
      [work('A', { type: 'cli' }), work('B', { type: 'cli', on_fail: 'skip' })],
      [work('C')],
    ]);
    await ana.ask('next', { claim: true, limit: 2 });
    await ana.ask('start', { step: 'A', cli_task_id: 'gem-a' });
    await ana.ask('start', { step: 'B', cli_task_id: 'gem-b' });
    await bob.ask('complete', { cli_task_id: 'gem-b', exit_code: 3 });
    assert.deepEqual(
      [stateOf(world).node_states.A.status, stateOf(world).node_states.B.status, stateOf(world).node_states.B.error],
      ['running', 'failed', 'exit code 3'],
    );
    await bob.ask('complete', { cli_task_id: 'gem-a', exit_code: 0 });
    const { revision } = await bob.ask('complete', { cli_task_id: 'gem-a', exit_code: 0 });
    assert.equal((await bob.ask('complete', { cli_task_id: 'gem-b', exit_code: 3 })).revision, revision);
    assert.deepEqual([stateOf(world).current_node, stateOf(world).node_states.B.status], ['C', 'skipped']);
    assert.equal((await bob.refused('complete', { cli_task_id: 'gem-a', exit_code: 1 })).code, 'lease');
    assert.equal((await stepEvents(ana)).at(-1)?.startsWith('ResultRefused A 1'), true);
  });

  test('an id that nobody was told is not found; with a step or an attempt beside it, it is refused', async (context) => {
    const { ana } = await flowIn(context, [[work('A')]]);
    await ana.claim();
    for (const task of ['gem-x', '__proto__', 'constructor', 'toString'])
      assert.equal((await ana.refused('complete', { cli_task_id: task, exit_code: 0 })).code, 'not-found', task);
    assert.equal((await ana.refused('complete', { cli_task_id: 'g', step: 'A' })).code, 'usage');
    assert.equal((await ana.refused('complete', { cli_task_id: 'g', attempt: 1 })).code, 'usage');
    assert.equal((await ana.refused('complete', {})).code, 'usage');
  });

  test('a task works on one node: the id of another one is a conflict, of an earlier attempt of the same it is not', async (context) => {
    const { ana } = await flowIn(context, [[work('A'), work('B', { on_fail: 'retry' })]]);
    await ana.ask('next', { claim: true, limit: 2 });
    await ana.ask('start', { step: 'A', cli_task_id: 'gem-a' });
    await ana.ask('start', { step: 'B', cli_task_id: 'gem-b' });
    const refusal = await ana.refused('start', { step: 'B', cli_task_id: 'gem-a' });
    assert.deepEqual(
      [refusal.code, refusal.message],
      ['conflict', 'The task gem-a is known to work on attempt 1 of A already.'],
    );
    await ana.ask('complete', { step: 'A' });
    await ana.ask('fail', { step: 'B', error: 'e' });
    assert.equal((await ana.claim()).attempt, 2);
    await ana.ask('start', { step: 'B', cli_task_id: 'gem-b' });
    assert.equal((await ana.ask('complete', { cli_task_id: 'gem-b', exit_code: 0 })).done, 2);
  });

  test('the result of the task of an earlier attempt is late, and not that of the one that runs', async (context) => {
    const { world, ana } = await flowIn(context, [[work('A', { on_fail: 'retry' })]]);
    await ana.claim();
    await ana.ask('start', { step: 'A', cli_task_id: 'gem-1' });
    await ana.ask('fail', { step: 'A', error: 'lost' });
    await ana.claim();
    await ana.ask('start', { step: 'A', cli_task_id: 'gem-2' });
    assert.equal((await ana.refused('complete', { cli_task_id: 'gem-1', exit_code: 0 })).code, 'lease');
    assert.equal(stateOf(world).node_states.A.status, 'running');
    assert.equal((await stepEvents(ana)).at(-1), 'ResultRefused A 1 Attempt 1 of A does not run; attempt 2 does.');
  });

  test('among several runs the one is found that it works on, and no other one can claim it meanwhile', async (context) => {
    const { world, ana } = await flowIn(context, [[work('A')], [work('B')]]);
    await ana.ask('run', { template: 'flow', name: 'other' });
    for (const session of ['flow', 'other']) await ana.ask('next', { claim: true, session });
    await ana.ask('start', { step: 'A', session: 'flow', cli_task_id: 'gem-1' });
    const refusal = await ana.refused('start', { step: 'A', session: 'other', cli_task_id: 'gem-1' });
    assert.equal(refusal.code, 'conflict');
    assert.equal(stateOf(world).node_states.A.status, 'running');
    assert.equal((await ana.ask('complete', { cli_task_id: 'gem-1', exit_code: 0 })).session, 'run:flow');
    await ana.ask('start', { step: 'A', session: 'other', cli_task_id: 'gem-1' });
    const found = await ana.ask('complete', { cli_task_id: 'gem-1', exit_code: 0 });
    assert.equal(found.session, 'run:other', 'the one that still runs');
  });
});

suite('what is said to be there is looked at', () => {
  test('a file that is missing, empty, a folder or outside refuses the result, and the node runs on', async (context) => {
    const { world, ana } = await flowIn(context, [[work('A')]]);
    await ana.claim();
    world.write('empty.md', '');
    world.write('folder/there.md', 'x');
    writeFileSync(`${world.root}/outside.md`, 'x');
    symlinkSync(`${world.root}/outside.md`, world.path('link.md'));
    for (const path of ['missing.md', 'empty.md', 'folder', '../outside.md', `${world.root}/outside.md`, 'link.md']) {
      for (const input of [{ output_path: path }, { artifact: ['folder/there.md', path] }]) {
        const refusal = await ana.refused('complete', { step: 'A', ...input });
        assert.deepEqual([refusal.code, listOf(refusal.faults).length], ['invariant-unmet', 1], path);
      }
    }
    assert.equal(stateOf(world).node_states.A.status, 'running');
    await ana.ask('complete', { step: 'A', output_path: 'folder/there.md', artifact: ['folder/there.md'] });
    assert.deepEqual(stateOf(world).node_states.A.artifacts, ['folder/there.md']);
  });

  test('of a failure nothing is asked for', async (context) => {
    const { ana } = await flowIn(context, [[work('A', { on_fail: 'skip' })]]);
    await ana.claim();
    const { outcome } = await ana.ask('complete', { step: 'A', exit_code: 1, output_path: 'missing.md' });
    assert.equal(outcome, 'failed');
  });

  test('an output is kept byte by byte, from a flag, a file or standard input', async (context) => {
    const texts: Readonly<Record<string, string>> = {
      'line ends': 'a\r\nb\rc\n\n',
      'no end': 'no line end',
      'marks and signs': 'ü 🔥 "quotes" $(rm) `x` {N-001.output} $& {{',
      'control characters': 'a\tb\u001b[31mred\u0007',
    };
    const { world, ana } = await flowIn(
      context,
      Object.keys(texts).map((_, index) => [work(`N-${index}`)]),
    );
    for (const [index, [what, text]] of Object.entries(texts).entries()) {
      const { id } = await ana.claim();
      assert.equal(id, `N-${index}`);
      const by = world.with({ env: { STINT_ACTOR: 'ana' }, input: text });
      world.write('given.md', text);
      const flags = [['--output', text], ['--output-file', 'given.md'], ['--stdin'], ['--stdin']][index] ?? [];
      by.answer('complete', id, ...flags);
      const kept = readFileSync(world.path(runFolder, `artifacts/${id}-output.md`), 'utf8');
      assert.equal(kept, text, what);
    }
  });

  test('an empty output is an output, and none is none', async (context) => {
    const { world, ana } = await flowIn(context, [[work('A')], [work('B')]]);
    await ana.claim();
    const by = world.with({ env: { STINT_ACTOR: 'ana' } });
    by.answer('complete', 'A', '--stdin');
    await ana.claim();
    by.answer('complete', 'B');
    const { A: a, B: b } = stateOf(world).node_states;
    assert.deepEqual([a.output_path, b.output_path], [`${runFolder}/artifacts/A-output.md`, null]);
    assert.equal(readFileSync(world.path(a.output_path), 'utf8'), '');
  });

  test('an output of 16 MiB is taken whole, one of a byte more is refused with the limit', async (context) => {
    const { world, ana } = await flowIn(context, [[work('A')], [work('B', { args_template: '{A.output}' })]]);
    await ana.claim();
    const by = world.with({ env: { STINT_ACTOR: 'ana' } });
    const whole = 'x'.repeat(16 * 1024 * 1024);
    const refusal = by.with({ input: `${whole}y` }).refusal(7, 'complete', 'A', '--stdin');
    assert.match(refusal.message, /16 MiB/);
    by.with({ input: whole }).answer('complete', 'A', '--stdin');
    assert.equal(readFileSync(world.path(runFolder, 'artifacts/A-output.md'), 'utf8'), whole);
    const { args } = await ana.claim();
    assert.equal(
      args,
      `${'x'.repeat(16 * 1024)}\n[cut after 16 KiB; all of it is in ${runFolder}/artifacts/A-output.md]`,
    );
  });
});

suite('a checkpoint waits for a decision', () => {
  const rows = [[work('A')], [checkpoint('CP', false)], [work('B')]] as const;
  const waiting = async (context: Parameters<typeof flowIn>[0]) => {
    const flow = await flowIn(context, rows);
    await flow.ana.claim();
    await flow.ana.ask('complete', { step: 'A' });
    return flow;
  };

  test('it is offered as the next action everywhere, and nothing behind it is handed out', async (context) => {
    const { world, ana } = await waiting(context);
    const decide = 'stint decide CP continue --session run:flow';
    for (const verb of ['next', 'status', 'resume'])
      assert.deepEqual(
        [(await ana.ask(verb)).next_action.kind, (await ana.ask(verb)).next_action.command],
        ['decide', decide],
        verb,
      );
    assert.deepEqual((await ana.ask('next', { claim: true })).steps, []);
    assert.equal(
      say(world, 'next'),
      lines(
        'run:flow: no step is ready (0 running)',
        'then: The checkpoint CP waits for a decision: continue, pause or abort.',
        `next: ${decide}`,
      ),
    );
  });

  test('the first answer wins among eight that give one at once; who and when is on record, and told to the others', async (context) => {
    const { world, ana } = await waiting(context);
    const answers = ['continue', 'pause', 'abort', 'continue', 'pause', 'abort', 'pause', 'abort'];
    const outcomes = await Promise.all(
      answers.map(
        async (answer, index) =>
          world
            .with({ env: { STINT_ACTOR: `agent-${index}` } })
            .start('decide', 'CP', answer, '--reason', `because ${index}`, '--session', runKey, '--json').outcome,
      ),
    );
    const decided = listOf((await ana.ask('log', { session: runKey })).events).filter(
      ({ type }) => type === 'CheckpointDecided',
    );
    assert.equal(decided.length, 1);
    const { actor, at, data } = decided[0] ?? assert.fail();
    const winner = Number(String(actor).split('-')[1]);
    assert.deepEqual(
      [data.answer, data.reason, at],
      [answers[winner], `because ${winner}`, '2026-03-17T12:00:00.000Z'],
    );
    for (const [index, { status, json, stdout }] of outcomes.entries()) {
      if (answers[index] === data.answer) assert.equal(status, 0, `${index}: the same answer: ${stdout}`);
      else {
        assert.equal(status, 9, `${index}: ${stdout}`);
        assert.equal(json.error.message, `The checkpoint CP was decided at ${at} by ${actor}: ${data.answer}.`);
      }
    }
    const { decisions } = await ana.ask('status', { session: runKey });
    assert.deepEqual(decisions, [
      { node: 'CP', answer: data.answer, at, actor, reason: `because ${winner}`, auto: false },
    ]);
  });

  test('continue goes on, pause waits for resume, abort is the end', async (context) => {
    const going = await waiting(context);
    await going.ana.ask('decide', { node: 'CP', answer: 'continue' });
    assert.equal((await going.ana.claim()).id, 'B');
    const paused = await waiting(context);
    await paused.ana.ask('decide', { node: 'CP', answer: 'pause', reason: 'for the night' });
    assert.equal((await paused.ana.refused('next', { claim: true })).code, 'illegal-transition');
    assert.deepEqual((await paused.ana.ask('next')).steps, []);
    assert.equal((await paused.ana.ask('resume')).was_paused, true);
    assert.equal((await paused.ana.claim()).id, 'B');
    const aborted = await waiting(context);
    await aborted.ana.ask('decide', { node: 'CP', answer: 'abort', reason: 'wrong plan' });
    assert.equal(stateOf(aborted.world).status, 'aborted');
    assert.equal((await aborted.ana.refused('next', { claim: true, session: runKey })).code, 'illegal-transition');
  });

  test('what is no checkpoint, is not reached, goes on by itself or is not known is refused', async (context) => {
    const { ana } = await flowIn(context, [
      [work('A')],
      [checkpoint('CP-1', true)],
      [work('B')],
      [checkpoint('CP-2', false)],
    ]);
    for (const [node, code] of [
      ['A', 'illegal-transition'],
      ['CP-1', 'illegal-transition'],
      ['CP-3', 'not-found'],
      ['__proto__', 'not-found'],
    ] as const)
      assert.equal((await ana.refused('decide', { node, answer: 'continue' })).code, code, node);
    await ana.claim();
    await ana.ask('complete', { step: 'A' });
    const refusal = await ana.refused('decide', { node: 'CP-1', answer: 'abort' });
    assert.deepEqual(
      [refusal.code, refusal.message],
      ['conflict', 'The checkpoint CP-1 goes on by itself, and has at 2026-03-17T12:00:00.000Z.'],
    );
    assert.equal((await ana.refused('decide', { node: 'CP-2', answer: 'maybe' })).code, 'usage');
  });
});

suite('what users write is text', () => {
  const hostile: Readonly<Record<string, string>> = {
    'a command in dollars': '$(touch pwned)',
    'a command in backticks': '`touch pwned`',
    quotes: `'"'"'; touch pwned; "`,
    'line ends': 'one\ntwo\r\nthree\n\n',
    'a reference to a node': '{N-001.session_id} {N-001.output} {prev_output}',
    'a pattern of replacements': "$& $1 $` $' $$",
    braces: '{{ }} { } {{goal}} }}',
    'the value itself': '{goal}',
    signs: '🔥 👩‍👩‍👧 ü \u202e אב \u2028',
    'control characters': 'a\u001b]0;title\u0007\u001b[2Jb\u0008\u007f\u009b1m',
    'a lot': 'x'.repeat(1024 * 1024),
    'an option': '--claim',
  };

  for (const [what, value] of Object.entries(hostile))
    test(`a value that holds ${what} comes out of next as it went in, and harmless on a terminal`, async (context) => {
      const { world, ana } = await flowIn(
        context,
        [
          [work('N-001', { args_template: 'before {goal} after' })],
          [work('N-002', { args_template: '{N-001.output}' })],
        ],
        { values: [`goal=${value}`] },
      );
      const { json, stdout } = world.run('next', '--json');
      assert.equal(json.steps[0].args, `before ${value} after`);
      assert.equal(stdout.trimEnd().split('\n').length, 1);
      const shown = say(world, 'next');
      assert.equal(shown.split('\n').length, 5, 'it forges no line');
      assert.doesNotMatch(shown, /(?!\n)\p{Cc}|\u202e|\u2028/u, 'it moves no cursor');
      assert.equal(stateOf(world).context.goal, value);
      await ana.claim();
      await ana.ask('complete', { step: 'N-001', output: value });
      const { args } = await ana.claim();
      assert.equal(String(args).slice(0, 16 * 1024), value.slice(0, 16 * 1024), 'nor is an output looked into');
      if (value.length <= 16 * 1024) assert.equal(args, value);
      assert.equal(existsSync(world.path('pwned')), false);
    });

  test('a value comes through a shell, a flag and a file as what it is', (context) => {
    const world = createWorld(context);
    writeTemplate(world, 'flow', templateOf([[work('A')]]));
    const value = `$(touch pwned) \`touch pwned\` '"' $& {{ {N-001.session_id}\nend`;
    world.write('values.json', JSON.stringify({ goal: value }));
    const ask = (...flags: readonly string[]): void => {
      world.answer('run', 'flow', '--name', 'x', ...flags);
      assert.equal(world.answer('next', '--session', 'x').steps[0].args, value);
    };
    ask('--context', `goal=${value}`);
    const other = createWorld(context);
    writeTemplate(other, 'flow', templateOf([[work('A')]]));
    other.write('values.json', JSON.stringify({ goal: value }));
    other.answer('run', 'flow', '--name', 'x', '--context-file', 'values.json');
    const [step] = listOf(other.answer('next', '--session', 'x').steps);
    assert.equal(step?.args, value);
    // What next gives is given on by an argument, and by no shell.
    const passed = spawnSync(process.execPath, ['-e', 'process.stdout.write(process.argv[1])', String(step?.args)], {
      cwd: other.project,
      encoding: 'utf8',
    });
    assert.equal(passed.stdout, value);
    assert.equal(existsSync(other.path('pwned')) || existsSync(world.path('pwned')), false);
  });

  test('half a character becomes U+FFFD before it is stored', async (context) => {
    const { world, ana } = await flowIn(context, [[work('A')]], { values: ['goal=a\ud800b'] });
    assert.equal((await ana.ask('next')).steps[0].args, 'a\ufffdb');
    assert.equal(stateOf(world).context.goal, 'a\ufffdb');
  });

  test('ids that are names of the language are ids like others', async (context) => {
    const ids = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'then'];
    const { world, ana } = await flowIn(
      context,
      ids.map((id) => [work(id, { args_template: `{goal}` })]),
    );
    for (const id of ids) {
      assert.equal((await ana.claim()).id, id);
      await ana.ask('complete', { step: id, output: `out of ${id}` });
      assert.equal(stateOf(world).node_states[id].output_path, `${runFolder}/artifacts/${id}-output.md`);
    }
    assert.deepEqual(Object.keys(stateOf(world).node_states), ids);
    assert.equal((await ana.ask('status', { session: runKey })).outcome, 'completed');
  });

  test('context names that are names of the language are names like others', async (context) => {
    const { world, ana } = await flowIn(context, [[work('A', { args_template: '{__proto__} {constructor}' })]], {
      template: {
        context_schema: JSON.parse(
          '{"__proto__":{"type":"string","required":true,"description":"d"},"constructor":{"type":"string","required":false,"description":"d","default":"c"}}',
        ),
      },
      values: ['__proto__=p'],
    });
    assert.equal((await ana.claim()).args, 'p c');
    const text = readFileSync(world.path(runFolder, 'session-state.json'), 'utf8');
    assert.match(text, /"context": \{\n    "__proto__": "p",\n    "constructor": "c"\n  \}/);
  });

  test('an id that is no name of a file begins nothing, and touches nothing outside', (context) => {
    const world = createWorld(context);
    for (const id of [
      '__proto__',
      'CON',
      '../x',
      'a/b',
      'a\\b',
      '..',
      '',
      ' ',
      'nul.txt',
      'a\u0000b',
      'x'.repeat(200),
    ]) {
      for (const node of [work(id), checkpoint(id, true)]) {
        writeTemplate(world, 'flow', templateOf([[work('A')], [node]]));
        assert.equal(world.refusal(7, 'run', 'flow').code, 'invalid-input', JSON.stringify(id));
        if (id.length > 3) break;
      }
    }
    assert.equal(existsSync(world.path('.workflow/sessions')), false);
  });

  test('control characters in names, reasons and errors move no cursor', async (context) => {
    const evil = 'x\u001b[2J\u0007\r\nnext: rm -rf \u009b';
    const { world, ana } = await flowIn(
      context,
      [
        [work('A', { name: evil, on_fail: 'skip', executor: evil })],
        [{ ...checkpoint('CP', false), name: evil }],
        [work('B', { name: evil })],
      ],
      { template: { name: evil } },
    );
    await ana.ask('next', { claim: true });
    const said: string[] = [];
    for (const verb of [
      ['next'],
      ['status'],
      ['progress'],
      ['log'],
      ['list'],
      ['template', 'show', 'flow'],
      ['run', '--list'],
      ['run', 'flow', '--dry-run'],
      ['fail', 'A', '--error', evil],
      ['status'],
      ['log'],
      ['decide', 'CP', 'continue', '--reason', evil],
      ['next', '--claim'],
      ['resume'],
      ['progress'],
    ])
      said.push(say(world.with({ env: { STINT_ACTOR: 'ana' } }), ...verb));
    for (const text of said) {
      assert.doesNotMatch(text, /(?!\n)\p{Cc}/u);
      assert.doesNotMatch(text, /^next: rm/m, 'nobody is told to do what a name says');
    }
  });
});

suite('runs beside each other and beside other kinds', () => {
  test('without --session several open runs are ambiguous, and named', (context) => {
    const world = projectIn(context);
    for (const name of ['one', 'two']) world.answer('run', 'flow', ...given, '--name', name);
    for (const verb of [['next'], ['next', '--claim'], ['complete', 'A'], ['decide', 'CP', 'continue'], ['resume']]) {
      const refusal = world.refusal(3, ...verb);
      assert.deepEqual(sorted(listOf(refusal.candidates)), ['run:one', 'run:two'], verb.join(' '));
    }
  });

  test('a verb about steps passes by the sessions that have none', async (context) => {
    const { ana } = await flowIn(context, [[work('A')]]);
    await ana.ask('begin', { kind: 'review', name: 'r' });
    await ana.ask('next', { claim: true, session: 'flow' });
    assert.equal((await ana.ask('complete', { step: 'A' })).session, runKey);
  });
});

test('a name is kept whole on record of who decides, also where the clock goes on', async (context) => {
  const { world, clock, ana, bob } = await flowIn(context, [[work('A')], [checkpoint('CP', false)]]);
  await ana.claim();
  await ana.ask('complete', { step: 'A' });
  clock.minutes = 61;
  await bob.ask('decide', { node: 'CP', answer: 'continue', reason: 'it is right' });
  const { decisions } = later(world, 62).answer('status', '--session', runKey);
  assert.deepEqual(decisions, [
    {
      node: 'CP',
      answer: 'continue',
      at: '2026-03-17T13:01:00.000Z',
      actor: 'bob',
      reason: 'it is right',
      auto: false,
    },
  ]);
});
