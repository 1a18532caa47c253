import type { Common } from '../../kernel/common.ts';
import { runningOf } from '../../kernel/steps.ts';
import {
  progressLimits,
  remainingLimit,
  type KindView,
  type NextAction,
  type Progress,
  type Step,
} from '../../kernel/view.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { truncate } from '../../lib/text.ts';
import { currentBatch, currentNode, pathNow, statusOf } from './documents.ts';
import type { Node } from './events.ts';
import { decideCommand, readyNodes } from './rules.ts';
import { awaited, checkpointOf, currentNodes, isDone, nodeOf, workOf, type RunState } from './state.ts';

/** Most nodes that a view tells of, and most characters of a value in it. */
const most = { nodes: 20, characters: 300, values: 50 };

/** What a run says of itself. */
export const viewOfRun = (state: RunState, common: Common): KindView => {
  const { plan } = state;
  const total = state.nodes.length;
  const done = doneIn(state);
  const left = leftIn(state, remainingLimit);
  const waiting = awaited(state);
  return {
    position:
      plan.length === 0
        ? 'without a plan'
        : done === total
          ? `all ${total} nodes done`
          : `${currentNode(state) ?? ''} (batch ${currentBatch(state)}/${plan.length}, ${done}/${total} nodes done)`,
    where: { current_batch: currentBatch(state), current_node: currentNode(state), done, total },
    fields: state.template === null ? {} : fieldsOf(state, common),
    remaining: left.map(({ id }) => id),
    missing:
      plan.length === 0
        ? ['it has no plan']
        : done === total
          ? []
          : [
              `${total - done} of ${total} nodes are not done (${left.map(({ id }) => id).join(', ')}${total - done > left.length ? ', ...' : ''})`,
              ...(waiting === undefined ? [] : [`${waiting.node} waits for a decision`]),
              ...underWay(state, common),
            ],
    next: nextOf(state, common),
    evidence: [],
  };
};

/** What became of nodes that were handed out and are not done, with their names. What runs on after a close is over with it. */
const underWay = ({ pool, failed }: RunState, { status }: Common): readonly string[] => {
  const isOpen = status === 'active';
  const settled = isOpen
    ? failed.length === 1
      ? ', and is settled when its siblings have ended'
      : ', and are settled when their siblings have ended'
    : '';
  return [
    ...(isOpen && pool.running.length > 0 ? [`${named(pool.running)} ${isAre(pool.running)} under way`] : []),
    ...(failed.length > 0 ? [`${named(failed)} ${hasHave(failed)} failed${settled}`] : []),
    ...(pool.doubtful.length > 0 ? [`nobody knows what ${named(pool.doubtful)} ${hasHave(pool.doubtful)} done`] : []),
  ];
};

/** Most nodes that a line names. */
const mostNamed = 5;

const named = (ids: readonly string[]): string =>
  `${ids.slice(0, mostNamed).join(', ')}${ids.length > mostNamed ? ` and ${ids.length - mostNamed} more` : ''}`;

const isAre = ({ length }: readonly string[]): string => (length === 1 ? 'is' : 'are');
const hasHave = ({ length }: readonly string[]): string => (length === 1 ? 'has' : 'have');

const doneIn = ({ counts }: RunState): number => counts.completed + counts.skipped + counts.checkpoints;

/** The first nodes that are not done, in the order of the plan. */
const leftIn = (state: RunState, limit: number): readonly Node[] => {
  const left: Node[] = [];
  for (let at = state.at; at < state.plan.length && left.length < limit; at += 1)
    for (const id of state.plan[at]?.nodes ?? []) {
      const node = nodeOf(state, id);
      if (node !== undefined && !isDone(state, node)) left.push(node);
    }
  return left.slice(0, limit);
};

const fieldsOf = (state: RunState, common: Common): JsonObject => {
  const { template, counts, pool, checkpoints } = state;
  const waiting = awaited(state);
  const running = pool.running.length;
  return {
    template_id: template?.id ?? '',
    template_path: template?.path ?? '',
    template_name: template?.name ?? '',
    template_digest: template?.digest ?? null,
    context: Object.fromEntries(
      Object.entries(state.context)
        .slice(0, most.values)
        .map(([name, value]) => [name, truncate(value, most.characters)]),
    ),
    current_batch: currentBatch(state),
    batches: state.plan.length,
    current_node: currentNode(state),
    last_checkpoint: checkpoints.at(-1)?.node ?? null,
    node_counts: {
      total: state.nodes.length,
      completed: counts.completed + counts.checkpoints,
      skipped: counts.skipped,
      running,
      in_doubt: pool.doubtful.length,
      failed: state.failed.length,
      pending: state.nodes.length - doneIn(state) - running - pool.doubtful.length - state.failed.length,
    },
    nodes: currentNodes(state)
      .slice(0, most.nodes)
      .map((node) => nodeToJson(state, node, common)),
    checkpoint:
      waiting === undefined
        ? null
        : { node: waiting.node, saved_at: waiting.savedAt, snapshot_path: pathNow(waiting.snapshotPath, common) },
    decisions: checkpoints
      .slice(-most.nodes)
      .flatMap(({ node, decision }) => (decision === null ? [] : [{ node, ...decision }])),
  };
};

const nodeToJson = (state: RunState, node: Node, common: Common): JsonObject => {
  const { id, name, type } = node;
  if (type === 'checkpoint')
    return { id, name, type, status: statusOf(state, node), saved_at: checkpointOf(state, id)?.savedAt ?? null };
  const work = workOf(state, id);
  const running = runningOf(state.pool, id);
  return {
    id,
    name,
    type,
    status: statusOf(state, node),
    attempt: running?.attempt ?? work.attempts.at(-1)?.attempt ?? 0,
    attempts: work.attempts.slice(-5).map(({ attempt, outcome, startedAt, endedAt, error }) => ({
      attempt,
      outcome,
      started_at: startedAt,
      ended_at: endedAt,
      error: error === null ? null : truncate(error, most.characters),
    })),
    ...(running === undefined ? {} : { held_by: running.claim.holder.actor }),
    ...(work.taskId === null ? {} : { cli_task_id: work.taskId }),
    child_session: work.childSession,
    output_path: pathNow(work.outputPath, common),
    error: work.error === null ? null : truncate(work.error, most.characters),
  };
};

const nextOf = (state: RunState, { key, name }: Common): NextAction => {
  const session = `--session ${key}`;
  if (state.plan.length === 0)
    return { kind: 'advance', text: 'Give it a plan.', command: `stint run TEMPLATE --name ${name}` };
  const waiting = awaited(state);
  if (waiting !== undefined)
    return {
      kind: 'decide',
      text: `The checkpoint ${waiting.node} waits for a decision: continue, pause or abort.`,
      command: decideCommand(waiting.node, { key }),
    };
  const { steps, total } = readyNodes(state, { limit: 1 });
  if (total > 0)
    return {
      kind: 'claim',
      text: `${total === 1 ? `${steps[0]?.id ?? 'A node'} is` : `${total} nodes are`} ready to be done.`,
      command: `stint next --claim ${session}`,
    };
  const [doubtful] = state.pool.doubtful;
  if (doubtful !== undefined)
    return {
      kind: 'settle',
      // Whoever follows commands without looking does not have it done twice.
      text: `Nobody knows what ${doubtful} has done: look, then say stint resume --rerun ${doubtful}, or --done ${doubtful}.`,
      command: `stint resume ${session}`,
    };
  return { kind: 'wait', text: 'Every node that is ready is at work.', command: `stint next ${session}` };
};

/** How far a run is: its nodes in the order of the plan, those around the current one where there are many. */
export const progressOfRun = (state: RunState, common: Common): Progress => {
  const all = state.plan.flatMap(({ nodes }) => nodes);
  const current = nodeAtWork(state, common);
  const at = current ?? currentNode(state);
  const from = Math.max(
    0,
    Math.min((at === null ? all.length : all.indexOf(at)) - 10, all.length - progressLimits.steps),
  );
  const steps = all.slice(from, from + progressLimits.steps).flatMap((id): readonly Step[] => {
    const node = nodeOf(state, id);
    if (node === undefined) return [];
    const isSkipped = node.type !== 'checkpoint' && workOf(state, id).status === 'skipped';
    const progress = isSkipped
      ? 'skipped'
      : isDone(state, node)
        ? 'done'
        : id === current
          ? 'current'
          : state.failed.includes(id)
            ? 'failed'
            : 'pending';
    return [{ name: id, label: node.name === '' ? id : node.name, state: progress, evidence: [] }];
  });
  return {
    steps,
    done: doneIn(state),
    total: state.nodes.length,
    cycle:
      state.template === null
        ? null
        : {
            label: 'run',
            startedAt: common.startedAt,
            completedAt: common.outcome === 'completed' ? common.closedAt : null,
          },
    earlier: [],
    summary: {},
    results: [],
  };
};

/** The node that is being done: the first one of the batch that is neither done nor has failed. */
const nodeAtWork = (state: RunState, { status }: Common): string | null =>
  currentNodes(state).find((node) => !isDone(state, node) && !state.failed.includes(node.id))?.id ??
  (status === 'active' ? currentNode(state) : null);
