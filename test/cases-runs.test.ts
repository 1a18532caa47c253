/** The public cases about workflow runs; the table of all cases is in support/cases.ts. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, rmdirSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import type { JsonObject } from '../src/lib/canonical-json.ts';
import { caseFile, caseLines } from './support/cases.ts';
import { startProgram } from './support/processes.ts';
import {
  checkpoint,
  flowIn,
  handsIn,
  runFolder,
  runKey,
  stepEvents,
  templateOf,
  work,
  writeTemplate,
  type Hand,
  type NodeJson,
} from './support/runs.ts';
import { createWorld, listOf, say, type Printed, type TestWorld, withoutShared } from './support/world.ts';

const skip = withoutShared('cases');

const documentOf = (id: string, file: string): Printed => JSON.parse(readFileSync(caseFile(id, file), 'utf8'));

const stateOf = (world: TestWorld): Printed =>
  JSON.parse(readFileSync(world.path(runFolder, 'session-state.json'), 'utf8'));

/** The rows of a template with the plan of a case's state. */
const rowsOf = ({ execution_plan: plan, node_states: states }: Printed): readonly (readonly NodeJson[])[] =>
  listOf(plan).map(({ nodes }) =>
    listOf(nodes).map((id) =>
      String(id).startsWith('CP-') ? checkpoint(String(id), states[id].auto_continue === true) : work(String(id)),
    ),
  );

/** A run of the plan of a case, walked as far as its state says: N-001 is completed, and N-002 runs. */
const walkedAsIn = async (context: TestContext, id: string, claim: JsonObject = {}) => {
  const state = documentOf(id, 'session-state.json');
  const flow = await flowIn(context, rowsOf(state));
  assert.equal((await flow.ana.claim()).id, 'N-001');
  await flow.ana.ask('complete', { step: 'N-001', output: 'the plan' });
  const step = await flow.ana.claim(claim);
  assert.equal(step.id, state.current_node);
  return { ...flow, state, step };
};

const idsOf = (list: Printed): readonly string[] => listOf(list).map(({ id }) => String(id));

test(
  'G02: with N-001 and CP-01 completed resume says that N-002 is next, and N-001 is never begun again, by whoever goes on and wherever',
  { skip },
  async (context) => {
    const { world, clock, ana, bob, state } = await walkedAsIn(context, 'G02', { ttl: '10m' });
    const shown = stateOf(world);
    for (const key of ['current_batch', 'current_node', 'last_checkpoint'] as const)
      assert.deepEqual(shown[key], state[key], key);
    assert.deepEqual(shown.execution_plan, state.execution_plan);
    clock.minutes = 11;
    const [snapshotBefore, planBefore] = [
      readFileSync(world.path(runFolder, 'checkpoints/CP-01.json'), 'utf8'),
      shown.node_states['N-001'],
    ];
    const resumed = await bob.ask('resume', { rerun: ['N-002'], reason: 'it was killed' });
    assert.equal(resumed.current_node, 'N-002');
    assert.deepEqual(idsOf((await bob.ask('next')).steps), ['N-002']);
    // In a copy of the folder, by a process of its own, in another conversation.
    const copy = createWorld(context, { from: world });
    const elsewhere = copy.with({ now: '2026-03-17T13:00:00.000Z', env: { STINT_ACTOR: 'eve' } });
    assert.equal(elsewhere.answer('resume').current_node, 'N-002');
    assert.deepEqual(idsOf(elsewhere.answer('next').steps), ['N-002']);
    // Also where what is made from the events is made anew.
    await bob.ask('rebuild');
    assert.equal((await bob.claim()).id, 'N-002');
    const begun = (await stepEvents(ana)).filter((event) => event.startsWith('StepClaimed'));
    assert.deepEqual(begun, ['StepClaimed N-001 1', 'StepClaimed N-002 1', 'StepClaimed N-002 2']);
    assert.deepEqual(stateOf(world).node_states['N-001'], planBefore);
    assert.equal(readFileSync(world.path(runFolder, 'checkpoints/CP-01.json'), 'utf8'), snapshotBefore);
  },
);

for (const verb of ['resume', 'next'] as const)
  test(
    `G06: of five results that were left one cannot be read: ${verb} takes the other four, tells which, and gets it the next time`,
    { skip },
    async (context) => {
      const [{ match, times }] = documentOf('G06', 'faults.json');
      assert.deepEqual([match, times], ['s3', 1]);
      const { world, clock, ana, bob } = await flowIn(context, [['s1', 's2', 's3', 's4', 's5'].map((id) => work(id))]);
      const { steps } = await ana.ask('next', { claim: true, limit: 5, ttl: '10m' });
      clock.minutes = 11;
      let unreadable = '';
      for (const { id, token, result_path: path } of listOf(steps)) {
        if (id !== match) world.write(path, JSON.stringify({ token, exit_code: 0 }));
        else {
          unreadable = String(path);
          mkdirSync(world.path(unreadable), { recursive: true });
        }
      }
      const ask = async (): Promise<Printed> => bob.ask(verb, verb === 'next' ? { claim: true } : {});
      const first = await ask();
      assert.deepEqual(idsOf(first.adopted), ['s1', 's2', 's4', 's5']);
      assert.deepEqual(first.notes, [`${unreadable} is not taken: it cannot be read, or is too large.`]);
      assert.deepEqual(
        [first.interrupted, first.in_doubt, first.running],
        [[], [], 1],
        'what is in it is not given up',
      );
      rmdirSync(world.path(unreadable));
      world.write(unreadable, JSON.stringify({ token: listOf(steps)[2]?.token, exit_code: 0 }));
      const second = await ask().catch((error: unknown) => assert.fail(String(error)));
      assert.deepEqual([idsOf(second.adopted), second.notes], [['s3'], undefined]);
      assert.equal((await bob.ask('status', { session: runKey })).outcome, 'completed');
    },
  );

test(
  'G10: a run stands where its newest event left it, 15 events behind its checkpoint, and without the snapshot too',
  { skip },
  async (context) => {
    const { at_seq: saved } = documentOf('G10', 'CP-01.json');
    const behind = caseLines('G10', 'events.jsonl').length - Number(saved);
    const { world, ana, bob } = await flowIn(context, [
      [work('A')],
      [checkpoint('CP-01', true)],
      ...Array.from({ length: 10 }, (_, index) => [work(`N-${index}`)]),
    ]);
    await ana.claim();
    await ana.ask('complete', { step: 'A' });
    const sequence = async (): Promise<number> => listOf((await ana.ask('log', { session: runKey })).events).length;
    const at = await sequence();
    // Two events each: what is claimed and what is completed; the last one runs.
    for (let count = 0; (await sequence()) < at + behind; count += 1) {
      const { id } = await ana.claim();
      if ((await sequence()) < at + behind) await ana.ask('complete', { step: id });
    }
    assert.equal((await sequence()) - at, behind);
    const standing = async (): Promise<readonly unknown[]> => {
      const { position, current_node: node, last_checkpoint: checkpointed } = await bob.ask('status');
      const resumed = await bob.ask('resume');
      return [position, node, checkpointed, resumed.position, idsOf(resumed.still_running), stateOf(world)];
    };
    const before = await standing();
    assert.deepEqual(before.slice(0, 5), [
      'N-7 (batch 10/12, 9/12 nodes done)',
      'N-7',
      'CP-01',
      'N-7 (batch 10/12, 9/12 nodes done)',
      ['N-7'],
    ]);
    rmSync(world.path(runFolder, 'checkpoints'), { recursive: true });
    assert.deepEqual(await standing(), before);
  },
);

test(
  'H01: a run whose worker has been gone for 18 days is interrupted since it was heard of last at the first call, everywhere, with what to do, and can be closed',
  { skip },
  async (context) => {
    const { renewed_at: renewed } = documentOf('H01', 'lease.json');
    const { updated_at: updated } = documentOf('H01', 'session-state.json');
    assert.equal(updated, renewed);
    const world = createWorld(context).with({ now: renewed });
    writeTemplate(world, 'flow', templateOf(rowsOf(documentOf('H01', 'session-state.json'))));
    world.answer('run', 'flow', '--name', 'flow');
    const program = await startProgram(context);
    world.answer('next', '--claim', '--ttl', '7d', '--pid', String(program.pid));
    for (const answer of [world.answer('status'), listOf(world.answer('list').sessions)[0]])
      assert.deepEqual([answer?.activity, answer?.activity_since], ['running', null]);
    await program.kill();
    const now = world.with({ now: '2026-03-17T14:35:14Z' });
    const since = '2026-02-27T14:35:14.000Z';
    const status = now.answer('status');
    const [shown] = listOf(now.answer('progress').sessions);
    for (const answer of [status, listOf(now.answer('list').sessions)[0], shown])
      assert.deepEqual([answer?.activity, answer?.activity_since], ['interrupted', since]);
    for (const answer of [status, shown, now.answer('next')])
      assert.deepEqual(
        [answer?.next_action.kind, answer?.next_action.command],
        ['settle', 'stint resume --session run:flow'],
      );
    for (const verb of ['list', 'status', 'progress'])
      assert.match(say(now, verb), new RegExp(`interrupted since ${since}`), verb);
    assert.equal(now.answer('finish', '--abort').outcome, 'aborted');
    assert.equal(now.answer('status', runKey).activity, 'none');
  },
);

test('H08: a run without a plan is 0/0, and says that it needs one', { skip }, async (context) => {
  assert.deepEqual(documentOf('H08', 'session-state.json').execution_plan, []);
  const world = createWorld(context);
  const ana = handsIn(context, world, { minutes: 0 })('ana');
  await ana.ask('begin', { kind: 'run', name: 'empty' });
  assert.equal(
    say(world, 'progress'),
    `stint progress  run:empty
active, running 00:00, last change 00:00 ago
[------------------------]    -  0/0  without a plan

missing: it has no plan
then: Give it a plan.
next: stint run TEMPLATE --name empty
`,
  );
  const { done, total } = listOf((await ana.ask('progress')).sessions)[0] ?? {};
  assert.deepEqual([done, total], [0, 0]);
  assert.deepEqual((await ana.ask('next')).steps, []);
  assert.deepEqual((await ana.ask('next', { claim: true })).steps, []);
  assert.equal((await ana.refused('finish')).code, 'invariant-unmet');
  writeTemplate(world, 'flow', templateOf([[work('A')]]));
  await ana.ask('run', { template: 'flow', name: 'empty' });
  assert.equal((await ana.claim()).id, 'A', 'it can be given one');
});

test(
  'H10: a run that is not over has lasted until now and says so; one that is over as long as it did',
  { skip },
  async (context) => {
    assert.equal(documentOf('H10', 'session-state.json').completed_at, null);
    const { world, clock, ana } = await flowIn(context, [[work('A')]]);
    clock.minutes = 17;
    const shown = async (): Promise<Printed> => listOf((await ana.ask('progress', { session: runKey })).sessions)[0];
    const frame = say(world.with({ now: '2026-03-17T12:17:05.000Z' }), 'progress');
    assert.match(frame, /^active, running 17:05, last change 17:05 ago$/m);
    await ana.claim();
    await ana.ask('complete', { step: 'A' });
    clock.minutes = 600;
    const over = say(world.with({ now: '2026-03-17T22:00:00.000Z' }), 'progress');
    assert.match(over, /^completed, took 17:00/m);
    assert.doesNotMatch(`${frame}${over}${JSON.stringify(await shown())}`, /NaN|undefined|Infinity|-\d+:\d/);
  },
);

/** What a template with these nodes and edges is refused with, and that nothing is begun with it. */
const faultsOf = async (hand: Hand, world: TestWorld, graph: JsonObject): Promise<readonly string[]> => {
  world.write(
    '.workflow/templates/odd.json',
    JSON.stringify({ template_id: 'wft-odd', context_schema: {}, ...graph }, null, 2),
  );
  const [began, validated] = [
    await hand.refused('run', { template: 'odd' }),
    await hand.refused('template validate', { template: 'odd' }),
  ];
  assert.deepEqual([began.code, validated.code], ['invalid-input', 'invalid-input']);
  const faults = listOf(began.faults).map(String);
  for (const fault of faults) assert.match(fault, /^\.workflow\/templates\/odd\.json:\d+:\d+: /);
  return faults.map((fault) => fault.replace(/^.*?:\d+:\d+: /, ''));
};

/** The graph of nodes that name those which they wait for, as the cases have them. */
const graphOf = (nodes: readonly { readonly id: string; readonly needs?: readonly string[] }[]): JsonObject => ({
  nodes: nodes.map(({ id }) => ({ id, type: 'skill', executor: 'w' })),
  edges: nodes.flatMap(({ id, needs = [] }) => needs.map((from) => ({ from, to: id }))),
});

const emptyProject = (context: TestContext) => {
  const world = createWorld(context);
  return { world, ana: handsIn(context, world, { minutes: 0 })('ana') };
};

test('O01: ids that stand twice, in a ring and of themselves, are named as faults', { skip }, async (context) => {
  const { world, ana } = emptyProject(context);
  const records = caseLines('O01', 'events-loop.jsonl').map((line): Printed => JSON.parse(line));
  const faults = await faultsOf(
    ana,
    world,
    graphOf(records.map(({ id, parent }) => ({ id, needs: parent === null ? [] : [parent] }))),
  );
  assert.deepEqual(faults, [
    'The id h is taken: nodes[1] has it.',
    'The nodes wait for each other in a ring: h > u2 > h.',
    'The node self waits for itself: self > self.',
  ]);
  assert.deepEqual(listOf((await ana.ask('list', { all: true })).sessions), []);
});

test('O03: validate and run refuse a ring of nodes, and name it', { skip }, async (context) => {
  const { world, ana } = emptyProject(context);
  const { nodes } = documentOf('O03', 'template.json');
  assert.deepEqual(await faultsOf(ana, world, graphOf(nodes)), [
    'The nodes wait for each other in a ring: A > B > C > A.',
  ]);
  assert.deepEqual(listOf((await ana.ask('list', { all: true })).sessions), []);
});

test(
  'O05: a node that needs itself, one that is not there and one that stands twice are faults of their own',
  { skip },
  async (context) => {
    const { world, ana } = emptyProject(context);
    for (const [file, said] of [
      ['self.json', 'The node A waits for itself: A > A.'],
      ['unknown.json', 'The edge Z > A dangles: there is no node Z.'],
      ['twin.json', 'The id A is taken: nodes[0] has it.'],
    ] as const)
      assert.deepEqual(await faultsOf(ana, world, graphOf(documentOf('O05', file).nodes)), [said]);
  },
);

test('O05: a chain of 5,000 nodes is validated, begun, listed, handed out and gone on with', async (context) => {
  const { world, ana } = emptyProject(context);
  const chain = Array.from({ length: 5000 }, (_, at) => ({ id: `N${at}`, needs: at === 0 ? [] : [`N${at - 1}`] }));
  writeTemplate(world, 'chain', { template_id: 'wft-chain', context_schema: {}, ...graphOf(chain) });
  assert.equal((await ana.ask('template validate', { template: 'chain' })).nodes, 5000);
  await ana.ask('run', { template: 'chain', name: 'flow' });
  for (const id of ['N0', 'N1', 'N2']) {
    assert.equal((await ana.claim()).id, id);
    const { total } = await ana.ask('complete', { step: id });
    assert.equal(total, 5000);
  }
  assert.equal((await ana.ask('resume')).current_node, 'N3');
});
