import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decideBegin, decideCommand, decideFinish } from '../../kernel/lifecycle.ts';
import { decideArchive, decidePause } from '../../kernel/lifecycle-rules.ts';
import type { KindCommand, ReadyStep } from '../../kernel/kind.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { StoredEvent } from '../../kernel/event.ts';
import { absentSession, appendEvents, isOpened, viewOfSession, type OpenedSession } from '../../kernel/session.ts';
import type { Result } from '../../lib/result.ts';
import type { DecidedEvent } from '../../kernel/event.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import type { Batch } from '../../formats/run-state/document.ts';
import type { Node } from './events.ts';
import { kind } from './index.ts';

/** A run that is asked one thing after the other, a minute apart. */
interface Run {
  readonly session: () => OpenedSession;
  readonly events: () => readonly StoredEvent[];
  /** What happened because of it, by type; a refusal fails the test. */
  readonly ask: (command: KindCommand) => readonly string[];
  readonly refused: (command: KindCommand) => Refusal;
  readonly kernel: (decide: (session: OpenedSession) => Result<readonly DecidedEvent[], Refusal>) => readonly string[];
  readonly ready: () => readonly ReadyStep[];
  readonly claim: (step: string) => ReadyStep;
  readonly complete: (step: string, result?: JsonObject) => readonly string[];
  readonly fail: (step: string, error?: string) => readonly string[];
}

const work = (id: string, more: Partial<Node> = {}): Node => ({
  id,
  name: `do ${id}`,
  type: 'skill',
  executor: 'worker',
  args: '{goal}',
  on_fail: 'abort',
  idempotent: false,
  auto_continue: false,
  details: {},
  ...more,
});

const checkpoint = (id: string, auto_continue: boolean): Node =>
  work(id, { type: 'checkpoint', executor: null, args: '', auto_continue });

const sample = { goal: 'g' } as const;

/** A run of these nodes, each row of ids a batch. */
const runOf = (nodes: readonly Node[], rows: readonly (readonly string[])[], context: JsonObject = sample): Run => {
  let session = absentSession(kind, 'run:r');
  const events: StoredEvent[] = [];
  const append = (decided: readonly DecidedEvent[]): readonly string[] => {
    const now = new Date(Date.parse('2026-03-17T12:00:00Z') + events.length * 60_000).toISOString();
    const made = appendEvents(session, decided, { now, actor: 'ana', place: 'here', cause: `c-${events.length}` });
    ({ session } = made);
    events.push(...made.events);
    return decided.map(({ type }) => type);
  };
  const opened = (): OpenedSession => {
    if (!isOpened(session)) assert.fail('it is not open');
    return session;
  };
  const decided = (result: Result<readonly DecidedEvent[], Refusal>): readonly string[] => {
    if (!result.ok) assert.fail(result.error.message);
    return append(result.value);
  };
  const run: Run = {
    session: opened,
    events: () => events,
    ask: (command) => decided(decideCommand(session, command)),
    refused: (command) => {
      const result = decideCommand(session, command);
      if (result.ok) assert.fail(`${command.type} is not refused`);
      return result.error;
    },
    kernel: (decide) => decided(decide(opened())),
    ready: () => session.folded.steps?.ready({ limit: 100 }).steps ?? [],
    claim: (step) => {
      const found = run.ready().find(({ id }) => id === step);
      if (found === undefined) assert.fail(`${step} is not ready`);
      const token = (session.folded.steps?.token() ?? 0) + 1;
      run.ask({
        type: 'claim-step',
        step,
        attempt: found.attempt,
        token,
        holder: { actor: 'ana', host: 'desk', user: 'ana', place: 'here', worktree: 'main' },
        claimed_at: '2026-03-17T12:00:00.000Z',
        expires_at: '2026-03-17T13:00:00.000Z',
      });
      return found;
    },
    complete: (step, result = {}) =>
      run.ask({
        type: 'end-step',
        step,
        outcome: 'completed',
        result,
        digest: `${step} ${JSON.stringify(result).length}`,
      }),
    fail: (step, error = 'it broke') =>
      run.ask({ type: 'end-step', step, outcome: 'failed', result: { error }, digest: error }),
  };
  decided(decideBegin(session, { branch: 'main', worktree: 'main' }));
  const plan: Batch[] = rows.map((row, index) => ({ batch: index + 1, nodes: row, parallel: row.length > 1 }));
  run.ask({
    type: 'plan',
    template_id: 'wft-t',
    template_path: '.workflow/templates/t.json',
    template_name: 'T',
    nodes: nodes.map((node) => ({ ...node })),
    plan: plan.map((batch) => ({ ...batch, nodes: [...batch.nodes] })),
    context,
  });
  return run;
};

const idsOf = (run: Run): readonly string[] => run.ready().map(({ id }) => id);
const positionOf = (run: Run): JsonObject => viewOfSession(run.session()).where;
const stateOf = (run: Run): JsonObject => {
  const { common, folded } = run.session();
  const mirror = folded.mirrors(common).at(-1);
  const newest = run.events().at(-1);
  if (mirror === undefined || newest === undefined) assert.fail('there is no state');
  return JSON.parse(mirror.render(newest));
};
const nodeIn = (run: Run, id: string): JsonObject => {
  const { node_states: states }: { node_states?: Record<string, JsonObject> } = JSON.parse(
    JSON.stringify(stateOf(run)),
  );
  return states?.[id] ?? {};
};

test('batches follow each other, and the members of one are ready together', () => {
  const run = runOf([work('A'), work('B'), work('C'), work('D')], [['A'], ['B', 'C'], ['D']]);
  assert.deepEqual(idsOf(run), ['A']);
  run.claim('A');
  assert.deepEqual(idsOf(run), []);
  run.complete('A');
  assert.deepEqual(idsOf(run), ['B', 'C']);
  run.claim('C');
  run.complete('C');
  assert.deepEqual(idsOf(run), ['B']);
  assert.deepEqual(positionOf(run), { current_batch: 2, current_node: 'B', done: 2, total: 4 });
  run.claim('B');
  run.complete('B');
  run.claim('D');
  assert.deepEqual(run.complete('D'), ['StepCompleted', 'SessionClosed']);
  assert.equal(run.session().common.outcome, 'completed');
  assert.deepEqual(
    [stateOf(run)['status'], stateOf(run)['current_batch'], stateOf(run)['current_node']],
    ['completed', 3, null],
  );
});

test('siblings finish before a failure is settled, and the policies apply in the order of the plan', () => {
  const run = runOf(
    [work('A', { on_fail: 'skip' }), work('B', { on_fail: 'retry' }), work('C'), work('D')],
    [['A', 'B', 'C'], ['D']],
  );
  for (const id of ['A', 'B', 'C']) run.claim(id);
  assert.deepEqual(run.fail('B'), ['StepFailed']);
  assert.deepEqual(run.fail('A'), ['StepFailed']);
  assert.deepEqual(run.complete('C'), ['StepCompleted', 'NodeSkipped', 'NodeRetried']);
  assert.deepEqual(
    run.ready().map(({ id, attempt }) => `${id} ${attempt}`),
    ['B 2'],
  );
  run.claim('B');
  assert.deepEqual(run.complete('B'), ['StepCompleted']);
  assert.deepEqual(idsOf(run), ['D']);
  assert.deepEqual(nodeIn(run, 'A'), {
    status: 'skipped',
    started_at: '2026-03-17T12:02:00Z',
    completed_at: null,
    session_id: null,
    output_path: null,
    artifacts: [],
    error: 'it broke',
  });
});

const progressIn = (run: Run): ReturnType<OpenedSession['folded']['progress']> => {
  const { common, folded, samples } = run.session();
  return folded.progress(common, samples);
};
const drawn = (run: Run): string =>
  progressIn(run)
    .steps.map(({ name, state }) => `${name} ${state}`)
    .join(', ');

test('while a batch runs it is told which of it have failed, are under way, and in doubt', () => {
  const run = runOf([work('A', { on_fail: 'skip' }), work('B'), work('C'), work('D')], [['A', 'B', 'C'], ['D']]);
  for (const id of ['A', 'B', 'C']) run.claim(id);
  const missing = (): readonly string[] => viewOfSession(run.session()).missing.slice(1);
  assert.deepEqual(missing(), ['A, B, C are under way']);
  run.fail('A');
  run.ask({ type: 'interrupt-step', step: 'C', attempt: 1, because: 'gone' });
  assert.deepEqual(missing(), [
    'B is under way',
    'A has failed, and is settled when its siblings have ended',
    'nobody knows what C has done',
  ]);
  assert.equal(drawn(run), 'A failed, B current, C pending, D pending');
  run.fail('B');
  assert.match(missing()[0] ?? '', /^A, B have failed, and are settled when/);
  run.kernel((session) => decideFinish(session, { abort: true, reason: null }));
  assert.deepEqual(missing(), ['A, B have failed', 'nobody knows what C has done']);
});

test('a run that has failed or was aborted was completed at no time, and the node that has failed is drawn as such', () => {
  const failed = runOf([work('A'), work('B')], [['A'], ['B']]);
  failed.claim('A');
  failed.fail('A');
  assert.deepEqual([failed.session().common.outcome, drawn(failed)], ['failed', 'A failed, B pending']);
  assert.equal(progressIn(failed).cycle?.completedAt, null);
  const completed = runOf([work('A')], [['A']]);
  completed.claim('A');
  completed.complete('A');
  assert.equal(progressIn(completed).cycle?.completedAt, completed.session().common.closedAt);
});

test('a node is retried once by itself, then the run fails; reopened, it is begun anew and nothing else is', () => {
  const run = runOf([work('A'), work('B', { on_fail: 'retry' })], [['A'], ['B']]);
  run.claim('A');
  run.complete('A');
  run.claim('B');
  assert.deepEqual(run.fail('B'), ['StepFailed', 'NodeRetried']);
  run.claim('B');
  assert.deepEqual(run.fail('B', 'again'), ['StepFailed', 'SessionClosed']);
  const { outcome, reason } = run.session().common;
  assert.deepEqual([outcome, reason], ['failed', 'B failed: again']);
  run.kernel((session) => decideBegin(session, { branch: null, worktree: 'main' }));
  assert.deepEqual(
    run.ready().map(({ id, attempt }) => `${id} ${attempt}`),
    ['B 3'],
  );
  run.claim('B');
  assert.deepEqual(run.fail('B'), ['StepFailed', 'NodeRetried']);
  const { nodes } = viewOfSession(run.session()).fields;
  const [b] = Array.isArray(nodes) ? nodes : [];
  assert.equal(JSON.stringify(b).match(/"outcome":"failed"/g)?.length, 3);
});

test('an abort leaves the siblings that were retried to the next start', () => {
  const run = runOf([work('A', { on_fail: 'retry' }), work('B')], [['A', 'B']]);
  run.claim('A');
  run.claim('B');
  run.fail('A');
  assert.deepEqual(run.fail('B'), ['StepFailed', 'NodeRetried', 'SessionClosed']);
  assert.deepEqual(
    run.kernel((session) => decideBegin(session, { branch: null, worktree: 'main' })),
    ['SessionReopened', 'NodeRetried'],
  );
  assert.deepEqual(idsOf(run), ['A', 'B']);
});

test('a checkpoint that goes on by itself is saved with the end of the batch before it', () => {
  const run = runOf([work('A'), checkpoint('CP-01', true), work('B')], [['A'], ['CP-01'], ['B']]);
  run.claim('A');
  assert.deepEqual(run.complete('A'), ['StepCompleted', 'CheckpointReached']);
  assert.deepEqual(idsOf(run), ['B']);
  assert.deepEqual(nodeIn(run, 'CP-01'), {
    status: 'completed',
    saved_at: '2026-03-17T12:03:00Z',
    snapshot_path: '.workflow/sessions/r/checkpoints/CP-01.json',
    auto_continue: true,
  });
  assert.equal(stateOf(run)['last_checkpoint'], 'CP-01');
  const conflict = run.refused({ type: 'decide', node: 'CP-01', answer: 'continue' });
  assert.deepEqual(
    [conflict.code, conflict.message],
    ['conflict', 'The checkpoint CP-01 goes on by itself, and has at 2026-03-17T12:03:00.000Z.'],
  );
});

test('a checkpoint that asks stops the run until the first answer, which names who gave it', () => {
  const run = runOf([work('A'), checkpoint('CP', false), work('B')], [['A'], ['CP'], ['B']]);
  assert.equal(run.refused({ type: 'decide', node: 'CP', answer: 'continue' }).code, 'illegal-transition');
  run.claim('A');
  run.complete('A');
  assert.deepEqual(idsOf(run), []);
  assert.deepEqual(viewOfSession(run.session()).next, {
    kind: 'decide',
    text: 'The checkpoint CP waits for a decision: continue, pause or abort.',
    command: 'stint decide CP continue --session run:r',
  });
  assert.equal(nodeIn(run, 'CP')['status'], 'pending');
  assert.equal(nodeIn(run, 'CP')['snapshot_path'], '.workflow/sessions/r/checkpoints/CP.json');
  assert.deepEqual(run.ask({ type: 'decide', node: 'CP', answer: 'continue', reason: 'fine' }), ['CheckpointDecided']);
  assert.deepEqual(run.ask({ type: 'decide', node: 'CP', answer: 'continue' }), []);
  const late = run.refused({ type: 'decide', node: 'CP', answer: 'abort' });
  assert.equal(late.code, 'conflict');
  assert.match(late.message, /was decided at 2026-03-17T12:05:00\.000Z by ana: continue/);
  assert.deepEqual(idsOf(run), ['B']);
});

test('a pause at a checkpoint goes on when it is resumed; an abort closes, and asks again when it is reopened', () => {
  const paused = runOf([checkpoint('CP', false), work('B')], [['CP'], ['B']]);
  assert.deepEqual(paused.ask({ type: 'decide', node: 'CP', answer: 'pause' }), ['CheckpointDecided', 'SessionPaused']);
  assert.equal(stateOf(paused)['status'], 'paused');
  assert.deepEqual(idsOf(paused), ['B']);
  assert.equal(paused.refused({ type: 'claim-step', step: 'B' }).code, 'illegal-transition');

  const aborted = runOf([checkpoint('CP', false), work('B')], [['CP'], ['B']]);
  assert.deepEqual(aborted.ask({ type: 'decide', node: 'CP', answer: 'abort', reason: 'too late' }), [
    'CheckpointDecided',
    'SessionClosed',
  ]);
  assert.deepEqual(
    [aborted.session().common.outcome, aborted.session().common.reason],
    ['aborted', 'at the checkpoint CP: too late'],
  );
  assert.deepEqual(
    aborted.kernel((session) => decideBegin(session, { branch: null, worktree: 'main' })),
    ['SessionReopened', 'CheckpointAsked'],
  );
  assert.deepEqual(aborted.ask({ type: 'decide', node: 'CP', answer: 'continue' }), ['CheckpointDecided']);
});

test('what was interrupted is in doubt, and is handed out again only when somebody says so, unless it is idempotent', () => {
  const run = runOf([work('A'), work('B', { idempotent: true })], [['A', 'B']]);
  run.claim('A');
  run.claim('B');
  run.ask({ type: 'interrupt-step', step: 'A', attempt: 1, because: 'gone' });
  run.ask({ type: 'interrupt-step', step: 'B', attempt: 1, because: 'gone' });
  assert.deepEqual(
    run.ready().map(({ id, attempt }) => `${id} ${attempt}`),
    ['B 2'],
  );
  assert.deepEqual(run.session().folded.steps?.inDoubt(), ['A']);
  assert.deepEqual(
    [nodeIn(run, 'A')['status'], nodeIn(run, 'A')['error']],
    ['failed', 'interrupted: nobody knows what it has done'],
  );
  run.ask({ type: 'settle-step', step: 'A', as: 'again', reason: 'nothing was written' });
  assert.deepEqual(idsOf(run), ['A', 'B']);
});

test('a step in doubt that is said to be done is done, and one that is skipped is no question any more', () => {
  const run = runOf([work('A'), work('B'), work('C')], [['A', 'B'], ['C']]);
  for (const id of ['A', 'B']) {
    run.claim(id);
    run.ask({ type: 'interrupt-step', step: id, attempt: 1, because: 'gone' });
  }
  run.ask({ type: 'settle-step', step: 'A', as: 'done', reason: 'its file is there' });
  run.ask({ type: 'skip-step', step: 'B', reason: 'not needed' });
  assert.deepEqual(run.session().folded.steps?.inDoubt(), []);
  assert.deepEqual(idsOf(run), ['C']);
});

test('a result that comes too late is kept on record and not applied; the same one again changes nothing', () => {
  const run = runOf([work('A', { idempotent: true }), work('B')], [['A'], ['B']]);
  run.claim('A');
  run.ask({ type: 'interrupt-step', step: 'A', attempt: 1, because: 'expired' });
  run.claim('A');
  const late = run.refused({
    type: 'end-step',
    step: 'A',
    attempt: 1,
    token: 1,
    outcome: 'completed',
    result: { output: 'old' },
  });
  assert.equal(late.code, 'lease');
  const [kept] = late.record ?? [];
  assert.deepEqual([kept?.type, kept?.data['result'], kept?.data['attempt']], ['ResultRefused', { output: 'old' }, 1]);
  run.complete('A', { output: 'new' });
  assert.deepEqual(run.complete('A', { output: 'new' }), []);
  const other = run.refused({
    type: 'end-step',
    step: 'A',
    outcome: 'completed',
    result: { output: 'x' },
    digest: 'x',
  });
  assert.equal(other.code, 'illegal-transition');
  assert.equal(other.record?.length, 1);
  assert.equal(run.refused({ type: 'end-step', step: 'B', outcome: 'completed' }).code, 'illegal-transition');
});

test('after the end of a run a result is kept on record and moves nothing', () => {
  const run = runOf([work('A')], [['A']]);
  run.claim('A');
  run.kernel((session) => decideFinish(session, { abort: true, reason: 'no longer needed' }));
  const late = run.refused({ type: 'end-step', step: 'A', outcome: 'completed', result: { output: 'x' } });
  assert.equal(late.record?.[0]?.type, 'ResultRefused');
});

test('what a refusal about a step suggests works: of a paused run to resume it, of a closed one to reopen it', () => {
  const late = { type: 'end-step', step: 'A', attempt: 7, token: 7, outcome: 'completed', result: {} } as const;
  const run = runOf([work('A'), work('B')], [['A'], ['B']]);
  run.claim('A');
  const suggested = (command: KindCommand): unknown => {
    const { legal, hint } = run.refused(command);
    return [legal, hint];
  };
  const list = 'stint next --session run:r';
  assert.deepEqual(suggested(late), [[list, 'stint next --claim --session run:r'], list]);
  run.kernel((session) => decidePause(session, null));
  for (const command of [
    late,
    { type: 'start-step', step: 'B', attempt: 1 },
    { type: 'settle-step', step: 'B', as: 'done', reason: 'r' },
  ])
    assert.deepEqual(suggested(command), [['stint resume --session run:r'], 'stint resume --session run:r']);
  run.kernel((session) => decideFinish(session, { abort: true, reason: null }));
  assert.deepEqual(suggested(late), [['stint begin run --name r'], 'stint begin run --name r']);
  run.kernel((session) => decideArchive(session, 'x', false));
  assert.equal(run.refused(late).hint, 'stint unarchive --session run:r');
});

test('what is skipped is on record with its reason, and only what is neither done nor running is', () => {
  const run = runOf([work('A'), work('B'), checkpoint('CP', false)], [['A'], ['B'], ['CP']]);
  assert.deepEqual(run.ask({ type: 'skip-step', step: 'B', reason: 'not here' }), ['NodeSkipped']);
  assert.deepEqual(run.ask({ type: 'skip-step', step: 'B', reason: 'not here' }), []);
  run.claim('A');
  assert.equal(run.refused({ type: 'skip-step', step: 'A', reason: 'r' }).code, 'illegal-transition');
  assert.deepEqual(run.complete('A'), ['StepCompleted', 'CheckpointReached']);
  assert.equal(run.refused({ type: 'skip-step', step: 'A', reason: 'r' }).code, 'illegal-transition');
  assert.equal(run.refused({ type: 'skip-step', step: 'CP', reason: 'r' }).code, 'illegal-transition');
  const unknown = run.refused({ type: 'skip-step', step: 'C', reason: 'r' });
  assert.deepEqual([unknown.code, unknown.candidates], ['not-found', ['CP']]);
});

test('a task is known by its id, also the task of an earlier attempt, which is not the one that runs', () => {
  const run = runOf([work('A', { idempotent: true })], [['A']]);
  run.claim('A');
  run.ask({ type: 'start-step', step: 'A', attempt: 1, facts: { cli_task_id: 'gem-1' } });
  run.ask({ type: 'interrupt-step', step: 'A', attempt: 1, because: 'gone' });
  run.claim('A');
  assert.equal(nodeIn(run, 'A')['cli_task_id'], undefined);
  run.ask({ type: 'start-step', step: 'A', attempt: 2, facts: { cli_task_id: 'gem-2', child_session: 'WFS-plan' } });
  const { steps } = run.session().folded;
  assert.deepEqual(steps?.byTask('gem-1'), { step: 'A', attempt: 1 });
  assert.deepEqual(steps?.byTask('gem-2'), { step: 'A', attempt: 2 });
  assert.equal(steps?.byTask('gem-3'), undefined);
  assert.deepEqual([nodeIn(run, 'A')['cli_task_id'], nodeIn(run, 'A')['session_id']], ['gem-2', 'WFS-plan']);
});

test('references see the results of earlier nodes, and of skipped ones nothing, with a warning', () => {
  const run = runOf(
    [
      work('A'),
      work('B', { on_fail: 'skip' }),
      work('C', { args: '{A.session_id}|{A.output_path}|{A.artifacts[0]}|{A.output}|{prev_output}|{B.output}' }),
    ],
    [['A'], ['B'], ['C']],
  );
  run.claim('A');
  run.complete('A', {
    child_session: 'WFS-x',
    output_path: 'out/plan.md',
    artifacts: ['out/plan.md'],
    output: 'the plan',
  });
  run.claim('B');
  run.fail('B');
  const [c] = run.ready();
  assert.equal(c?.args, 'WFS-x|out/plan.md|out/plan.md|the plan|the plan|');
  assert.match(JSON.stringify(c?.details?.['warnings']), /W-REF-EMPTY: \{B\.output\}/);
});

test('a value of the context comes out byte by byte, whatever it is', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.constantFrom('$(x)', '`x`', '"\'\n', '{N.session_id}', '$&', '{{', '}}', '{goal}'),
        fc.string({ unit: 'binary' }),
      ),
      (goal) => {
        const run = runOf([work('A', { args: 'a {goal} b' })], [['A']], { goal });
        assert.equal(run.ready()[0]?.args, `a ${goal} b`);
      },
    ),
  );
});

test('the output of a node is kept for references as long as a node to come refers to it, and no longer', () => {
  const run = runOf(
    [work('A'), work('B', { args: '{prev_output}' }), work('C', { args: '{A.output}' }), work('D')],
    [['A'], ['B'], ['C'], ['D']],
  );
  for (const id of ['A', 'B', 'C']) {
    run.claim(id);
    run.complete(id, { output: `of ${id}` });
  }
  assert.equal(run.session().folded.freeze().includes('of A'), false);
  assert.equal(run.session().folded.freeze().includes('of C'), false);
  const outputs = run
    .session()
    .folded.mirrors(run.session().common)
    .flatMap(({ path, source, render }) => {
      const event = run.events()[source - 1];
      return path.includes('/artifacts/') && event !== undefined ? [`${path}: ${render(event)}`] : [];
    });
  assert.deepEqual(
    outputs,
    ['A', 'B', 'C'].map((id) => `.workflow/sessions/r/artifacts/${id}-output.md: of ${id}`),
  );
  assert.equal(nodeIn(run, 'A')['output_path'], '.workflow/sessions/r/artifacts/A-output.md');
});

test('a snapshot holds every node as it was, also after the run has gone on', () => {
  const run = runOf([work('A'), checkpoint('CP-01', true), work('B')], [['A'], ['CP-01'], ['B']]);
  run.claim('A');
  run.complete('A', { output_path: 'a.md' });
  const printed = (): string => {
    const { common, folded } = run.session();
    const mirror = folded.mirrors(common).find(({ path }) => path.endsWith('checkpoints/CP-01.json'));
    const event = run.events()[(mirror?.source ?? 0) - 1];
    if (mirror === undefined || event === undefined) assert.fail('there is no snapshot');
    return mirror.render(event);
  };
  const then = printed();
  run.claim('B');
  run.complete('B');
  assert.equal(printed(), then);
  const pending = {
    status: 'pending',
    started_at: null,
    completed_at: null,
    session_id: null,
    output_path: null,
    artifacts: [],
    error: null,
  };
  assert.deepEqual(JSON.parse(then), {
    session_id: 'r',
    checkpoint_id: 'CP-01',
    checkpoint_name: 'do CP-01',
    saved_at: '2026-03-17T12:03:00Z',
    context_snapshot: { goal: 'g' },
    node_states_snapshot: {
      A: {
        ...pending,
        status: 'completed',
        started_at: '2026-03-17T12:02:00Z',
        completed_at: '2026-03-17T12:03:00Z',
        output_path: 'a.md',
      },
      'CP-01': { status: 'pending', saved_at: null, snapshot_path: null },
      B: pending,
    },
    last_completed_node: 'A',
    next_node: 'B',
  });
});

test('whatever is asked in whatever order: no node completes twice, and nothing is handed out before what it waits for', () => {
  const nodes = [
    work('A', { on_fail: 'retry' }),
    work('B', { on_fail: 'skip' }),
    work('C', { idempotent: true }),
    checkpoint('CP', false),
    work('D'),
  ];
  const rows = [['A'], ['B', 'C'], ['CP'], ['D']];
  const id = fc.constantFrom('A', 'B', 'C', 'D', 'CP');
  const move = fc.oneof(
    fc.record({ what: fc.constant('claim' as const), id }),
    fc.record({ what: fc.constantFrom('complete', 'fail', 'interrupt', 'again', 'done', 'skip', 'late'), id }),
    fc.record({ what: fc.constantFrom('continue', 'pause', 'abort', 'reopen', 'resume'), id: fc.constant('CP') }),
  );
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
      const run = runOf(nodes, rows);
      const attempt = (step: string): number =>
        run
          .session()
          .folded.steps?.running()
          .find((one) => one.id === step)?.attempt ?? 1;
      for (const { what, id: step } of moves) {
        const commands: Readonly<Record<string, () => KindCommand>> = {
          complete: () => ({ type: 'end-step', step, outcome: 'completed', result: {}, digest: 'x' }),
          fail: () => ({ type: 'end-step', step, outcome: 'failed', result: { error: 'e' }, digest: 'e' }),
          late: () => ({
            type: 'end-step',
            step,
            attempt: 1,
            token: 1,
            outcome: 'completed',
            result: {},
            digest: 'late',
          }),
          interrupt: () => ({ type: 'interrupt-step', step, attempt: attempt(step), because: 'gone' }),
          again: () => ({ type: 'settle-step', step, as: 'again', reason: 'r' }),
          done: () => ({ type: 'settle-step', step, as: 'done', reason: 'r' }),
          skip: () => ({ type: 'skip-step', step, reason: 'r' }),
          continue: () => ({ type: 'decide', node: step, answer: 'continue' }),
          pause: () => ({ type: 'decide', node: step, answer: 'pause' }),
          abort: () => ({ type: 'decide', node: step, answer: 'abort' }),
        };
        if (what === 'claim') {
          if (
            run.session().common.pause === null &&
            run.session().common.status === 'active' &&
            idsOf(run).includes(step)
          )
            run.claim(step);
        } else if (what === 'reopen') {
          run.kernel((session) => decideBegin(session, { branch: null, worktree: 'main' }));
        } else if (what === 'resume') {
          if (run.session().common.pause !== null)
            run.kernel(() => ({ ok: true, value: [{ type: 'SessionResumed', v: 1, data: {} }] }));
        } else {
          const command = commands[what]?.();
          const result = command && decideCommand(run.session(), command);
          if (command !== undefined && result?.ok === true) run.ask(command);
        }
        const done = new Set<string>();
        for (const { type, data } of run.events()) {
          const node = String(data['step'] ?? data['node'] ?? '');
          const ends =
            type === 'StepCompleted' || type === 'NodeSkipped' || (type === 'StepSettled' && data['as'] === 'done');
          if (ends) {
            assert.ok(!done.has(node), `${node} is done twice`);
            done.add(node);
          }
          if (type === 'StepClaimed') {
            assert.ok(!done.has(node), `${node} is handed out though it is done`);
            const before = rows
              .slice(
                0,
                rows.findIndex((row) => row.includes(node)),
              )
              .flat();
            for (const other of before.filter((one) => one !== 'CP'))
              assert.ok(done.has(other), `${node} did not wait for ${other}`);
          }
        }
        const { common } = run.session();
        const view = viewOfSession(run.session());
        if (common.outcome === 'completed') assert.deepEqual(view.missing, []);
        if (common.status === 'active') assert.notEqual(view.next.command, null);
      }
    }),
    { numRuns: 300 },
  );
});

test('a node that was at work when its run was closed does not look as if it still were', () => {
  const run = runOf([work('A'), work('B')], [['A'], ['B']]);
  run.claim('A');
  assert.equal(nodeIn(run, 'A')['status'], 'running');
  run.kernel((session) => decideFinish(session, { abort: true, reason: 'no longer needed' }));
  assert.deepEqual(
    [stateOf(run)['status'], nodeIn(run, 'A')['status'], nodeIn(run, 'A')['error'], nodeIn(run, 'B')['status']],
    ['aborted', 'failed', 'interrupted: nobody knows what it has done', 'pending'],
  );
});

test('a pause at the last checkpoint pauses, and does not close the run', () => {
  const run = runOf([work('A'), checkpoint('CP', false)], [['A'], ['CP']]);
  run.claim('A');
  run.complete('A');
  assert.deepEqual(run.ask({ type: 'decide', node: 'CP', answer: 'pause' }), ['CheckpointDecided', 'SessionPaused']);
  assert.deepEqual(
    [run.session().common.status, stateOf(run)['status'], viewOfSession(run.session()).next.kind],
    ['active', 'paused', 'resume'],
  );
});
