/** Runs of thousands of nodes: they are validated, planned, done, interrupted and gone on with as small ones are. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { openStint } from '../src/index.ts';
import { decideCommand } from '../src/kernel/lifecycle.ts';
import type { DecidedEvent } from '../src/kernel/event.ts';
import { loadedIn } from '../src/kernel/dispatch.ts';
import { appendEvents, type Session } from '../src/kernel/session.ts';
import { kinds } from '../src/kinds/registry.gen.ts';
import { ok } from '../src/lib/result.ts';
import type { JsonObject } from '../src/lib/canonical-json.ts';
import { openFileWorkplace } from '../src/surfaces/world.ts';
import { startProgram } from './support/processes.ts';
import { createWorld, fileOnly, listOf, noon, type Printed } from './support/world.ts';

const key = 'run:large';
const nodeAt = (number: number): string => `N-${String(number).padStart(4, '0')}`;

/** A run that was begun from a template of these nodes and edges. */
const runOf = async (context: TestContext, count: number, more: (id: string) => object, edges: readonly object[]) => {
  const world = createWorld(context);
  const ids = Array.from({ length: count }, (_, number) => nodeAt(number));
  const work = { name: 'a step', type: 'command', executor: 'work', args_template: '{goal} after {prev_output}' };
  const nodes = ids.map((id) => ({ id, ...work, ...more(id) }));
  const goal = { type: 'string', required: true };
  world.write(
    'large.json',
    JSON.stringify({ template_id: 'wft-large', name: 'Large', context_schema: { goal }, nodes, edges }),
  );
  const opened = openStint({ cwd: world.project, actor: 'ana', host: 'desk', now: () => noon });
  assert.ok(opened.ok);
  const stint = opened.value;
  context.after(stint.close);
  const ask = async (verb: string, input: JsonObject = {}): Promise<Printed> => {
    const answer = await stint.run(verb, input);
    if (!answer.ok) assert.fail(`${verb}: ${answer.error.refusal.message}`);
    return answer.value;
  };
  const complete = async ({ id, token }: Printed): Promise<Printed> =>
    ask('complete', { step: id, token, output: `${id} is done`, session: key });
  const claim = async (wish: JsonObject = {}): Promise<readonly Printed[]> =>
    listOf((await ask('next', { claim: true, session: key, ...wish })).steps);
  const state = (): Printed =>
    JSON.parse(readFileSync(world.path('.workflow/sessions/large/session-state.json'), 'utf8'));

  const valid = await ask('template validate', { template: './large.json' });
  const begun = await ask('run', { template: './large.json', context: ['goal=grow'], name: 'large' });
  return { world, ask, claim, complete, state, ids, valid, begun };
};

/** Skips nodes, as `stint skip` does one by one, in one commit. */
const skipAll = async (project: string, steps: readonly string[]): Promise<void> => {
  const workplace = openFileWorkplace(
    { cwd: project, store: undefined, kinds: [...kinds], host: 'desk', now: () => noon },
    'make',
  );
  assert.ok(workplace.ok);
  const { store, places } = workplace.value;
  const origin = { now: noon, actor: 'ana', place: places.here.id ?? '', cause: steps.join().slice(0, 20) };
  const outcome = await store.commit({
    keys: [key],
    guards: [],
    origin,
    request: { id: origin.cause, given: false, verb: 'skip', digest: '' },
    expectRevision: undefined,
    dryRun: false,
    journalOnly: false,
    decide: (sessions) => {
      let session: Session = loadedIn(sessions, key);
      const events: DecidedEvent[] = [];
      for (const step of steps) {
        const decided = decideCommand(session, { type: 'skip-step', step, reason: 'it is one of many' });
        if (!decided.ok) return decided;
        events.push(...decided.value);
        ({ session } = appendEvents(session, decided.value, origin));
      }
      return ok(new Map([[key, events]]));
    },
    answer: () => ({}),
  });
  assert.ok(outcome.ok);
  await store.close();
};

test(
  'a chain of 5,000 nodes is validated, planned, done, interrupted in its middle and gone on with to its end',
  { skip: fileOnly },
  async (context) => {
    const count = 5000;
    const edges = Array.from({ length: count - 1 }, (_, at) => ({ from: nodeAt(at), to: nodeAt(at + 1) }));
    const { world, ask, claim, complete, state, ids, valid, begun } = await runOf(context, count, () => ({}), edges);
    assert.deepEqual([valid.valid, valid.nodes, listOf(valid.batches).length], [true, count, count]);
    assert.deepEqual(
      listOf(begun.plan).map(({ batch, id }) => `${batch} ${id}`),
      ids.map((id, at) => `${at + 1} ${id}`),
    );

    for (const id of ids.slice(0, 2)) {
      const [step] = await claim();
      assert.equal(step?.id, id);
      assert.equal(step?.args, id === ids[0] ? 'grow after ' : 'grow after N-0000 is done');
      await complete(step);
    }
    await skipAll(world.project, ids.slice(2, 2500));
    const worker = await startProgram(context);
    const [held] = await claim({ pid: worker.pid });
    assert.deepEqual([held?.id, held?.args], ['N-2500', 'grow after N-0001 is done']);
    await worker.kill();

    const resumed = await ask('resume', { session: key });
    assert.deepEqual([resumed.current_node, resumed.done, resumed.in_doubt], ['N-2500', 2500, ['N-2500']]);
    assert.deepEqual(resumed.interrupted, [{ id: 'N-2500', attempt: 1, because: 'gone' }]);
    await ask('resume', { session: key, rerun: ['N-2500'], reason: 'it has done nothing' });
    const [again] = await claim();
    assert.deepEqual([again?.id, again?.attempt], ['N-2500', 2]);
    const { position } = await complete(again);
    assert.equal(position, 'N-2501 (batch 2502/5000, 2501/5000 nodes done)');
    const { node_states: states, current_node: current } = state();
    assert.deepEqual([current, states['N-2500'].status, states['N-2501'].status], ['N-2501', 'completed', 'pending']);

    await skipAll(world.project, ids.slice(2501, -1));
    const [last] = await claim();
    assert.deepEqual([last?.id, last?.args], ['N-4999', 'grow after N-2500 is done']);
    assert.equal((await complete(last)).completeness, 'complete');
    const { status, node_states: ended } = state();
    const counts = Map.groupBy(Object.values<Printed>(ended), (node) => node.status);
    assert.deepEqual([status, counts.get('completed')?.length, counts.get('skipped')?.length], ['completed', 4, 4996]);
    assert.equal((await ask('doctor')).healthy, true, 'what is replayed from the log is what is stored');
  },
);

test(
  'a batch of 2,000 nodes is handed out whole, interrupted and gone on with; what comes behind it waits for each of them',
  { skip: fileOnly },
  async (context) => {
    const count = 2002;
    const members = Array.from({ length: count - 2 }, (_, at) => nodeAt(at + 1));
    const edges = members.flatMap((id) => [
      { from: nodeAt(0), to: id },
      { from: id, to: nodeAt(count - 1) },
    ]);
    const inGroup = (id: string) => (members.includes(id) ? { parallel_group: 'all', args_template: '{goal}' } : {});
    const { world, ask, claim, complete, state, valid, begun } = await runOf(context, count, inGroup, edges);
    assert.deepEqual(
      listOf(valid.batches).map(({ batch, nodes, parallel }) => [batch, listOf(nodes).length, parallel]),
      [
        [1, 1, false],
        [2, 2000, true],
        [3, 1, false],
      ],
    );
    assert.equal(listOf(begun.plan).length, count);

    const [first] = await claim();
    await complete(first);
    const worker = await startProgram(context);
    const held: Printed[] = [];
    for (let page = 0; page < 10; page += 1) held.push(...(await claim({ limit: 200, pid: worker.pid })));
    assert.deepEqual(
      held.map(({ id }) => id),
      members,
      'each once, in the order of the plan',
    );
    const busy = await ask('next', { session: key });
    assert.deepEqual([busy.steps, busy.total, busy.running], [[], 0, 2000]);
    for (const step of held.slice(0, 3)) await complete(step);
    await worker.kill();

    const { interrupted, in_doubt: named, in_doubt_total: doubts } = await ask('resume', { session: key });
    assert.deepEqual([listOf(interrupted).length, listOf(named).length, doubts], [1997, 20, 1997]);
    await ask('resume', {
      session: key,
      rerun: members.slice(3, 1000),
      done: members.slice(1000),
      reason: 'looked up',
    });
    const [again, other] = await claim({ limit: 2 });
    assert.deepEqual([again?.id, again?.attempt, other?.id], ['N-0004', 2, 'N-0005']);
    const { position } = await complete(again);
    assert.equal(position, 'N-0005 (batch 2/3, 1005/2002 nodes done)');
    await skipAll(world.project, members.slice(5, 1000));
    assert.equal((await ask('next', { session: key })).total, 0, 'one of them runs still');
    await complete(other);
    const [last] = await claim();
    assert.equal(last?.id, nodeAt(count - 1));
    assert.equal((await complete(last)).completeness, 'complete');
    assert.equal(state().status, 'completed');
    assert.equal((await ask('doctor')).healthy, true, 'what is replayed from the log is what is stored');
  },
);
