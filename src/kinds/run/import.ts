import type { StepRecord } from '../../kernel/steps.ts';
import type { CheckpointDocument, RunDocument, WorkDocument } from '../../formats/run-state/document.ts';
import { put } from '../../lib/persistent-map.ts';
import type { RunEvent } from './events.ts';
import { enterBatch, plannedRun, type Checkpoint, type Circumstance, type RunState, type Work } from './state.ts';

type RunImported = Extract<RunEvent, { readonly type: 'RunImported' }>;

/**
 * A run as another program has left it. What runs there is in doubt here: nobody knows whether it still does. What has failed
 * while the run went on may be begun anew.
 */
export const importRun = (event: RunImported, stored: Circumstance): RunState => {
  const { document, digest, nodes, template_digest: templateDigest, unknown, unknown_of_nodes: ofNodes } = event;
  const isOver = document.status === 'failed' || document.status === 'archived';
  let state: RunState = plannedRun({
    id: document.template_id,
    path: document.template_path,
    name: document.template_name,
    digest: templateDigest ?? null,
    nodes,
    plan: document.execution_plan,
    context: document.context,
  });
  state = { ...state, origin: { digest, seq: stored.seq }, unknown: { file: unknown, nodes: ofNodes } };
  for (const { id, type } of nodes) {
    const known = document.node_states[id];
    if (known === undefined) continue;
    state = isWork(known, type)
      ? withWork(state, id, known, isOver)
      : withCheckpoint(state, id, known, document, stored);
  }
  return enterBatch(state, 0);
};

const isWork = (known: WorkDocument | CheckpointDocument, type: string): known is WorkDocument =>
  type !== 'checkpoint' && 'output_path' in known;

const withWork = (state: RunState, id: string, known: WorkDocument, isOver: boolean): RunState => {
  const { status, error } = known;
  if (status === 'pending') return state;
  const hasFailed = status === 'failed';
  const isGone = status === 'running';
  const work: Work = {
    status: isGone || (hasFailed && !isOver) ? null : status,
    startedAt: known.started_at,
    completedAt: known.completed_at,
    childSession: known.session_id,
    outputPath: known.output_path,
    artifacts: known.artifacts,
    error,
    taskId: known.cli_task_id ?? null,
    exitCode: null,
    reason: status === 'skipped' ? (error ?? 'skipped where it was taken over from') : null,
    retries: 0,
    attempts:
      status === 'skipped'
        ? []
        : [
            {
              attempt: 1,
              outcome: isGone ? 'interrupted' : status,
              startedAt: known.started_at,
              endedAt: known.completed_at,
              error,
            },
          ],
  };
  const record: StepRecord = {
    attempt: 1,
    state: isGone ? 'interrupted' : hasFailed ? 'failed' : 'completed',
    token: 0,
    claim: null,
    startedAt: known.started_at,
    facts: null,
    digest: null,
    inDoubt: isGone,
  };
  const { counts, pool, tasks } = state;
  return {
    ...state,
    works: put(state.works, id, work),
    // A node that was skipped was handed out to nobody.
    pool:
      status === 'skipped'
        ? pool
        : {
            ...pool,
            records: put(pool.records, id, record),
            doubtful: isGone ? [...pool.doubtful, id] : pool.doubtful,
          },
    failed: hasFailed && isOver ? [...state.failed, id] : state.failed,
    tasks: work.taskId === null ? tasks : put(tasks, work.taskId, { step: id, attempt: 1 }),
    counts: {
      ...counts,
      completed: counts.completed + Number(status === 'completed'),
      skipped: counts.skipped + Number(status === 'skipped'),
    },
  };
};

const withCheckpoint = (
  state: RunState,
  node: string,
  known: WorkDocument | CheckpointDocument,
  { status, current_node: current, updated_at: updatedAt }: RunDocument,
  { at, actor }: Circumstance,
): RunState => {
  if (known.status !== 'completed' || !('saved_at' in known)) return state;
  const answer = status === 'paused' && current === node ? 'pause' : 'continue';
  const checkpoint: Checkpoint = {
    node,
    savedAt: known.saved_at ?? updatedAt,
    source: null,
    snapshotPath: known.snapshot_path,
    decision: { answer, at, actor, reason: 'as it was taken over', auto: known.auto_continue ?? false },
  };
  return {
    ...state,
    checkpoints: [...state.checkpoints, checkpoint],
    counts: { ...state.counts, checkpoints: state.counts.checkpoints + 1 },
  };
};
