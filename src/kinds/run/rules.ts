import type { Common } from '../../kernel/common.ts';
import type { ReadyStep, Situation, StepPage } from '../../kernel/kind.ts';
import { refuseClosed } from '../../kernel/lifecycle.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { decideStep, isFree, isStepCommand, nextAttempt, nextIn, recordOf } from '../../kernel/steps.ts';
import { resolveArgs, tokenize, type NodeResult, type ReferenceLookup } from '../../formats/run-state/references.ts';
import { valueIn } from '../../lib/persistent-map.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { nearest } from '../../lib/nearest.ts';
import { nodeStatesOf, sameTime } from './documents.ts';
import type { Node, RunCommand, RunEvent } from './events.ts';
import { snapshotPathOf } from './paths.ts';
import { awaited, checkpointOf, currentNodes, nodeOf, workOf, type RunState } from './state.ts';
import { evolveRun } from './evolve.ts';
import { asTakenOver } from './import.ts';

type Decided = Result<readonly RunEvent[], Refusal>;

/** The rules of a run. What follows of itself (a checkpoint is reached, a failure is settled, the end) follows at once. */
export const decideRun = (state: RunState, command: RunCommand, { common }: Situation): Decided => {
  const decided = decideAlone(state, command, common);
  // A run that was taken over closed may stand before a checkpoint that was not reached.
  if (!decided.ok || (decided.value.length === 0 && command.type !== 'continue')) return decided;
  const name = common?.name ?? '';
  if (command.type === 'import') return ok(withDecision(state, decided.value, command, name));
  const events = withConsequences(state, decided.value, name);
  return ok(decided.value.length === 0 ? events.filter(({ type }) => type !== 'SessionClosed') : events);
};

/**
 * What follows from a run that was taken over. One that is closed stays as it was, and none is closed because nothing is
 * left of it. One that was paused before a checkpoint has been paused there: whoever resumes it goes on.
 */
const withDecision = (
  before: RunState,
  decided: readonly RunEvent[],
  { is_over: isOver, document }: Extract<RunCommand, { readonly type: 'import' }>,
  name: string,
): readonly RunEvent[] => {
  if (isOver || decided.length === 0) return decided;
  const isOpen = ({ type }: RunEvent): boolean => type !== 'SessionClosed';
  const reached = withConsequences(before, decided, name).filter(isOpen);
  const waiting = document.status === 'paused' ? awaited(stateAfter(before, reached, name)) : undefined;
  if (waiting === undefined) return reached;
  const paused: RunEvent = { type: 'CheckpointDecided', node: waiting.node, answer: 'pause', reason: asTakenOver };
  return withConsequences(before, [...reached, paused], name).filter(isOpen);
};

const decideAlone = (state: RunState, command: RunCommand, common: Common | undefined): Decided => {
  if (isStepCommand(command)) {
    const node = nodeOf(state, command.step);
    if (node?.type === 'checkpoint')
      return err(
        refuse('illegal-transition', `${command.step} is a checkpoint: it is reached, and decided about.`, {
          expected: 'a node that does work',
          legal: [decideCommand(command.step, common)],
          hint: decideCommand(command.step, common),
        }),
      );
    if (node === undefined) return err(refuseUnknown(state, command.step, common));
    const taken = command.type === 'start-step' ? taskOfOthers(state, command) : undefined;
    if (taken !== undefined) return err(taken);
    return decideStep(state.pool, command, { common }, () => ({
      isReady: isReady(state, node),
      isIdempotent: node.idempotent,
    }));
  }
  switch (command.type) {
    case 'begin':
      return ok([]);
    case 'continue':
      return ok(goOn(state));
    case 'plan': {
      if (common !== undefined && common.status === 'closed') return err(refuseClosed(common));
      const { type: _, ...plan } = command;
      // What was taken over may have had a plan without a batch.
      return state.plan.length === 0
        ? ok([{ type: 'RunPlanned', ...plan }])
        : refusePlanned(state.template?.id === plan.template_id, common);
    }
    case 'import':
      return takeOver(state, command, common);
    case 'skip-step':
      return skip(state, command, common);
    case 'decide':
      return decide(state, command, common);
  }
};

/** A background task says by its id alone what it has worked on, so that it works on one node. */
const taskOfOthers = (
  { tasks }: RunState,
  { step, facts }: Extract<RunCommand, { readonly type: 'start-step' }>,
): Refusal | undefined => {
  const task: unknown = facts?.['cli_task_id'];
  const known = typeof task === 'string' ? valueIn(tasks, task) : undefined;
  if (known === undefined || known.step === step) return undefined;
  return refuse(
    'conflict',
    `The task ${String(task)} is known to work on attempt ${known.attempt} of ${known.step} already.`,
    { expected: 'the id of a task that works on nothing else' },
  );
};

/** What a run that was closed unfinished takes up again: what has failed, and the question that was answered with abort. */
const goOn = (state: RunState): readonly RunEvent[] => {
  const last = state.checkpoints.at(-1);
  return [
    ...state.failed.map((node): RunEvent => ({ type: 'NodeRetried', node, by: 'reopening' })),
    ...(last?.decision?.answer === 'abort' ? [{ type: 'CheckpointAsked', node: last.node } as const] : []),
  ];
};

const refusePlanned = (isSame: boolean, common: Common | undefined): Decided =>
  err(
    refuse('conflict', `${common?.key ?? 'The run'} has a plan${isSame ? '' : ', of another template'}.`, {
      expected: 'a run without a plan, or another name',
      hint: `stint resume${common === undefined ? '' : ` --session ${common.key}`}`,
    }),
  );

/** A run is taken over as it was left elsewhere, also again; whether it has gone on here since is for whoever asks. */
const takeOver = (
  state: RunState,
  command: Extract<RunCommand, { readonly type: 'import' }>,
  common: Common | undefined,
): Decided => {
  const { type: _, ...found } = command;
  const isKnown = found.template_digest === undefined || found.template_digest === state.template?.digest;
  if (state.origin?.digest === found.digest && isKnown) return ok([]);
  if (common?.status === 'closed') return err(refuseClosed(common));
  if (state.template !== null && state.origin === null) return refusePlanned(false, common);
  return ok([{ type: 'RunImported', ...found }]);
};

const skip = (
  state: RunState,
  { step: id, reason }: Extract<RunCommand, { readonly type: 'skip-step' }>,
  common: Common | undefined,
): Decided => {
  const node = nodeOf(state, id);
  if (node === undefined) return err(refuseUnknown(state, id, common));
  const illegal = (why: string, ...legal: readonly string[]): Decided =>
    err(
      refuse('illegal-transition', `${id} is not skipped: ${why}.`, {
        expected: 'a node that does not run and is not done',
        legal,
        ...(legal[0] === undefined ? {} : { hint: legal[0] }),
      }),
    );
  if (node.type === 'checkpoint') return illegal('it is a checkpoint', decideCommand(id, common));
  const { status } = workOf(state, id);
  if (status === 'skipped') return ok([]);
  if (status === 'completed') return illegal('it is completed', nextIn(common));
  if (recordOf(state.pool, id)?.state === 'running')
    return illegal(
      'it is running',
      `stint fail ${id} --error E${sessionFlag(common)}`,
      `stint resume --take-over${sessionFlag(common)}`,
    );
  if (common?.status === 'closed') return err(refuseClosed(common));
  return ok([{ type: 'NodeSkipped', node: id, reason, by: 'caller' }]);
};

const decide = (
  state: RunState,
  { node: id, answer, reason }: Extract<RunCommand, { readonly type: 'decide' }>,
  common: Common | undefined,
): Decided => {
  const node = nodeOf(state, id);
  if (node === undefined) return err(refuseUnknown(state, id, common));
  const checkpoint = checkpointOf(state, id);
  const waiting = awaited(state);
  const legal = [waiting === undefined ? nextIn(common) : decideCommand(waiting.node, common)];
  if (checkpoint === undefined)
    return err(
      refuse(
        'illegal-transition',
        node.type === 'checkpoint' ? `The checkpoint ${id} is not reached yet.` : `${id} is no checkpoint.`,
        { expected: 'a checkpoint that waits for a decision', legal, hint: legal[0] ?? '' },
      ),
    );
  const { decision } = checkpoint;
  if (decision !== null) {
    if (decision.answer === answer && !decision.auto) return ok([]);
    return err(
      refuse(
        'conflict',
        decision.auto
          ? `The checkpoint ${id} goes on by itself, and has at ${decision.at}.`
          : `The checkpoint ${id} was decided at ${decision.at} by ${decision.actor}: ${decision.answer}.`,
        { expected: 'a checkpoint that waits for a decision', legal, hint: legal[0] ?? '' },
      ),
    );
  }
  if (common?.status === 'closed') return err(refuseClosed(common));
  const why = reason === undefined ? {} : { reason };
  const said: RunEvent = { type: 'CheckpointDecided', node: id, answer, ...why };
  if (answer === 'continue') return ok([said]);
  const because = `at the checkpoint ${id}${reason === undefined ? '' : `: ${reason}`}`;
  return ok([
    said,
    answer === 'abort'
      ? { type: 'SessionClosed', outcome: 'aborted', reason: because }
      : { type: 'SessionPaused', reason: because },
  ]);
};

/** Everything that follows of itself, after what was decided. */
const withConsequences = (before: RunState, decided: readonly RunEvent[], name: string): readonly RunEvent[] => {
  const events = [...decided];
  let state = stateAfter(before, decided, name);
  for (;;) {
    if (events.some(({ type }) => type === 'SessionClosed')) return events;
    const following = followingOf(state, name);
    // What was paused with its last node is closed by whoever resumes and finishes it.
    const isPaused = events.some(({ type }) => type === 'SessionPaused');
    if (following.length === 0 || (isPaused && following[0]?.type === 'SessionClosed')) return events;
    events.push(...following);
    state = stateAfter(state, following, name);
  }
};

/** Numbers are those of nobody, and the time is not known yet: nothing is decided by them. */
const stateAfter = (before: RunState, events: readonly RunEvent[], name: string): RunState =>
  events.reduce(
    (state, event) => evolveRun(state, event, { session: `run:${name}`, seq: 0, at: sameTime, actor: '' }),
    before,
  );

/** What follows next; nothing where somebody is waited for. */
const followingOf = (state: RunState, name: string): readonly RunEvent[] => {
  if (state.plan.length === 0) return [];
  if (state.at >= state.plan.length) return [{ type: 'SessionClosed', outcome: 'completed' }];
  const first = nodeOf(state, state.plan[state.at]?.nodes[0] ?? '');
  if (first?.type === 'checkpoint')
    return checkpointOf(state, first.id) === undefined ? [reach(state, first, name)] : [];
  // Siblings finish before it is decided what a failure means.
  return state.failed.length > 0 && state.failed.length === state.left ? settleFailures(state) : [];
};

/** What the failures of a batch mean, in the order of the plan; the first one that aborts ends it. */
const settleFailures = (state: RunState): readonly RunEvent[] => {
  const events: RunEvent[] = [];
  for (const { id, on_fail: policy } of currentNodes(state)) {
    if (!state.failed.includes(id)) continue;
    const { error, retries } = workOf(state, id);
    if (policy === 'skip')
      events.push({ type: 'NodeSkipped', node: id, reason: `it failed: ${error}`, by: 'template' });
    else if (policy === 'retry' && retries === 0) events.push({ type: 'NodeRetried', node: id, by: 'template' });
    else return [...events, { type: 'SessionClosed', outcome: 'failed', reason: `${id} failed: ${error}` }];
  }
  return events;
};

const reach = (state: RunState, { id, name, auto_continue: auto }: Node, run: string): RunEvent => {
  const done = state.plan.slice(0, state.at).flatMap(({ nodes }) => nodes);
  return {
    type: 'CheckpointReached',
    node: id,
    name,
    auto_continue: auto,
    snapshot_path: snapshotPathOf(run, id),
    node_states: nodeStatesOf(
      state,
      done.flatMap((node) => nodeOf(state, node) ?? []),
    ),
    last_completed_node: done.findLast((node) => workOf(state, node).status === 'completed') ?? null,
    next_node: state.plan[state.at + 1]?.nodes[0] ?? null,
  };
};

/** Whether a node may be handed out, as far as its attempts do not say otherwise. */
const isReady = (state: RunState, node: Node): boolean =>
  isLeft(state, node) && (state.plan[state.at]?.nodes.includes(node.id) ?? false);

/** Whether a node does work of which nothing has come so far. */
const isLeft = (state: RunState, { id, type }: Node): boolean =>
  type !== 'checkpoint' && workOf(state, id).status === null;

/** The nodes that can be handed out, in the order of the plan. */
export const readyNodes = (
  state: RunState,
  { limit, after, only }: StepPage,
): { readonly steps: readonly ReadyStep[]; readonly total: number } => {
  const order = state.plan[state.at]?.nodes ?? [];
  const from = after === undefined ? -1 : order.indexOf(after);
  const page: Node[] = [];
  let total = 0;
  for (const [at, id] of order.entries()) {
    const node = nodeOf(state, id);
    if (node === undefined || !isLeft(state, node) || !isFree(state.pool, id)) continue;
    if (only !== undefined && id !== only) continue;
    total += 1;
    if (at > from && page.length < limit) page.push(node);
  }
  return { steps: page.map((node) => stepOf(state, node)), total };
};

const stepOf = (state: RunState, node: Node): ReadyStep => {
  const { text, warnings } = resolveArgs(tokenize(node.args), lookupOf(state));
  return {
    id: node.id,
    type: node.type,
    name: node.name,
    args: text,
    attempt: nextAttempt(state.pool, node.id),
    details: {
      executor: node.executor,
      ...node.details,
      on_fail: node.on_fail,
      idempotent: node.idempotent,
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  };
};

/** What the references of the nodes see that are ready now. */
const lookupOf = (state: RunState): ReferenceLookup => ({
  context: (name) => (Object.hasOwn(state.context, name) ? state.context[name] : undefined),
  result: (id) => (nodeOf(state, id) === undefined ? undefined : resultOf(state, id)),
  previous: previousOf(state),
});

/** The nearest earlier batch of which something has completed. */
const previousOf = (state: RunState): ReferenceLookup['previous'] => {
  for (let at = state.at - 1; at >= 0; at -= 1) {
    const completed = (state.plan[at]?.nodes ?? []).filter((id) => workOf(state, id).status === 'completed');
    if (completed.length > 0) return completed.map((id) => ({ id, result: resultOf(state, id) }));
  }
  return [];
};

const resultOf = (state: RunState, id: string): NodeResult => {
  const work = workOf(state, id);
  return {
    status: work.status ?? 'pending',
    session_id: work.childSession,
    output_path: work.outputPath,
    output: state.texts.find(({ node }) => node === id)?.text ?? null,
    artifacts: work.artifacts,
  };
};

const refuseUnknown = (state: RunState, id: string, common: Common | undefined): Refusal =>
  refuse('not-found', `There is no node ${id}.`, {
    expected: 'a node of the plan',
    hint: nextIn(common),
    candidates: nearest(
      id,
      state.nodes.map((node) => node.id),
    ),
  });

/** The command that goes on at a checkpoint. */
export const decideCommand = (node: string, common: { readonly key: string } | undefined): string =>
  `stint decide ${node} continue${sessionFlag(common)}`;

const sessionFlag = (common: { readonly key: string } | undefined): string =>
  common === undefined ? '' : ` --session ${common.key}`;
