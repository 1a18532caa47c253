import type { StepRecord } from '../../kernel/steps.ts';
import type { CheckpointDocument, RunDocument, WorkDocument } from '../../formats/run-state/document.ts';
import { put } from '../../lib/persistent-map.ts';
import type { RunEvent } from './events.ts';
import {
  emptyWork,
  enterBatch,
  nodeOf,
  plannedRun,
  type Attempt,
  type Checkpoint,
  type Circumstance,
  type RunState,
  type Work,
} from './state.ts';

type RunImported = Extract<RunEvent, { readonly type: 'RunImported' }>;

/** Why something is said of a node, or decided about a checkpoint, where the file says no reason. */
export const asTakenOver = 'as it was taken over';

/**
 * A run as another program has left it. What runs there is in doubt here: nobody knows whether it still does. What has failed
 * while the run went on may be begun anew.
 */
export const importRun = (event: RunImported, stored: Circumstance): RunState => {
  const { document, digest, nodes, template_digest: templateDigest, is_over: isOver } = event;
  let state: RunState = plannedRun({
    id: document.template_id,
    path: document.template_path,
    name: document.template_name,
    digest: templateDigest ?? null,
    nodes,
    plan: document.execution_plan,
    context: document.context,
  });
  const isPlanned = new Set(document.execution_plan.flatMap((batch) => batch.nodes));
  state = {
    ...state,
    origin: { digest, seq: stored.seq },
    unknown: {
      file: event.unknown,
      nodes: event.unknown_of_nodes,
      batches: event.unknown_of_batches,
      unplanned: Object.fromEntries(Object.entries(document.node_states).filter(([id]) => !isPlanned.has(id))),
    },
  };
  return enterBatch(withStates(state, document, isOver, stored), 0);
};

/** A run gets a plan. What was taken over without one keeps what is known of the nodes that are of the plan now. */
export const planRun = (
  before: RunState,
  planned: Parameters<typeof plannedRun>[0],
  stored: Circumstance,
): RunState => {
  const { origin, unknown } = before;
  const isPlanned = new Set(planned.plan.flatMap((batch) => batch.nodes));
  const unplanned = Object.fromEntries(Object.entries(unknown.unplanned).filter(([id]) => !isPlanned.has(id)));
  const state: RunState = { ...plannedRun(planned), origin, unknown: { ...unknown, unplanned } };
  const found = {
    status: 'running',
    current_node: null,
    node_states: unknown.unplanned,
    updated_at: stored.at,
  } as const;
  return enterBatch(withStates(state, found, false, stored), 0);
};

/** What of a file says how far its nodes are. */
type FoundStates = Pick<RunDocument, 'status' | 'current_node' | 'node_states' | 'updated_at'>;

/** The run with what is known of the nodes of its plan. */
const withStates = (before: RunState, found: FoundStates, isOver: boolean, stored: Circumstance): RunState => {
  let state = before;
  for (const id of before.plan.flatMap((batch) => batch.nodes)) {
    const known = Object.hasOwn(found.node_states, id) ? found.node_states[id] : undefined;
    if (known === undefined) continue;
    const isCheckpoint = nodeOf(state, id)?.type === 'checkpoint';
    if ('saved_at' in known) {
      const isPassed = known.status === 'completed' || known.status === 'skipped';
      if (isCheckpoint && isPassed) state = withCheckpoint(state, id, known, found, stored);
    } else if (!isCheckpoint) state = withWork(state, id, known, isOver);
  }
  return state;
};

const withWork = (state: RunState, id: string, known: WorkDocument, isOver: boolean): RunState => {
  const { status, error } = known;
  const work: Work = {
    ...emptyWork,
    startedAt: known.started_at,
    completedAt: known.completed_at,
    childSession: known.session_id,
    outputPath: known.output_path,
    artifacts: known.artifacts,
    error,
    taskId: known.cli_task_id ?? null,
  };
  switch (status) {
    case 'pending':
      // The original leaves what it knew of an attempt that it has taken back.
      return JSON.stringify(work) === JSON.stringify(emptyWork)
        ? state
        : { ...state, works: put(state.works, id, work) };
    case 'skipped':
      // It was handed out to nobody.
      return {
        ...state,
        works: put(state.works, id, { ...work, status, reason: error ?? asTakenOver }),
        counts: { ...state.counts, skipped: state.counts.skipped + 1 },
      };
    case 'completed':
      return {
        ...withAttempt(state, id, { ...work, status }, status),
        counts: { ...state.counts, completed: state.counts.completed + 1 },
      };
    case 'failed': {
      const failed = withAttempt(state, id, { ...work, status: isOver ? status : null }, status);
      return isOver ? { ...failed, failed: [...failed.failed, id] } : failed;
    }
    case 'running':
      return withAttempt(state, id, work, 'interrupted');
  }
};

/** A node that was handed out once. */
const withAttempt = (state: RunState, id: string, work: Work, outcome: Attempt['outcome']): RunState => {
  const { startedAt, completedAt, error, taskId } = work;
  const inDoubt = outcome === 'interrupted';
  const record: StepRecord = {
    attempt: 1,
    state: outcome,
    token: 0,
    claim: null,
    startedAt,
    facts: null,
    digest: null,
    inDoubt,
  };
  const { pool, tasks } = state;
  return {
    ...state,
    works: put(state.works, id, {
      ...work,
      attempts: [{ attempt: 1, outcome, startedAt, endedAt: completedAt, error }],
    }),
    pool: {
      ...pool,
      records: put(pool.records, id, record),
      doubtful: inDoubt ? [...pool.doubtful, id] : pool.doubtful,
    },
    tasks: taskId === null ? tasks : put(tasks, taskId, { step: id, attempt: 1 }),
  };
};

/** A checkpoint that was passed; the one at which the run was paused was answered so. */
const withCheckpoint = (
  state: RunState,
  node: string,
  known: CheckpointDocument,
  { status, current_node: current, updated_at: updatedAt }: FoundStates,
  { at, actor }: Circumstance,
): RunState => {
  const isPausedHere = status === 'paused' && current === node;
  const checkpoint: Checkpoint = {
    node,
    savedAt: known.saved_at ?? updatedAt,
    source: null,
    snapshotPath: known.snapshot_path,
    decision: {
      answer: isPausedHere ? 'pause' : 'continue',
      at,
      actor,
      reason: asTakenOver,
      auto: !isPausedHere && known.auto_continue === true,
    },
  };
  return {
    ...state,
    checkpoints: [...state.checkpoints, checkpoint],
    counts: { ...state.counts, checkpoints: state.counts.checkpoints + 1 },
  };
};
