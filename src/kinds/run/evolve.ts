import { evolveStep, forgetDoubt, isStepEvent, recordOf, type Pool, type StepEvent } from '../../kernel/steps.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { put } from '../../lib/persistent-map.ts';
import type { RunEvent } from './events.ts';
import { importRun, planRun } from './import.ts';
import { outputPathOf } from './paths.ts';
import {
  emptyWork,
  enterBatch,
  isOver,
  isRead,
  workOf,
  type Attempt,
  type Circumstance,
  type Decision,
  type RunState,
  type Work,
} from './state.ts';

/** What the events of a run lead to. */

/** Most characters of an output that are kept for references: a little more than is filled in, so that a cut is told. */
const keptOutput = 17 * 1024;

/** Folds an event. */
export const evolveRun = (state: RunState, event: RunEvent, stored: Circumstance): RunState =>
  entered(changed(state, event, stored));

const changed = (state: RunState, event: RunEvent, stored: Circumstance): RunState => {
  const { seq, at, actor } = stored;
  if (isStepEvent(event))
    return afterStep({ ...state, pool: evolveStep(state.pool, event, at) }, state.pool, event, stored);
  switch (event.type) {
    case 'RunPlanned': {
      const { template_id: id, template_path: path, template_name: name, digest = null, nodes, plan, context } = event;
      return planRun(state, { id, path, name, digest, nodes, plan, context }, stored);
    }
    case 'RunImported':
      return importRun(event, stored);
    case 'NodeSkipped': {
      const work = workOf(state, event.node);
      return withWork(
        { ...state, pool: forgetDoubt(state.pool, event.node), failed: state.failed.filter((id) => id !== event.node) },
        event.node,
        { ...work, status: 'skipped', reason: event.reason },
      );
    }
    case 'NodeRetried': {
      const work = workOf(state, event.node);
      const retries = event.by === 'template' ? work.retries + 1 : 0;
      return withWork({ ...state, failed: state.failed.filter((id) => id !== event.node) }, event.node, {
        ...work,
        status: null,
        retries,
      });
    }
    case 'CheckpointReached': {
      const { node, snapshot_path: snapshotPath, auto_continue: auto } = event;
      const decision: Decision | null = auto ? { answer: 'continue', at, actor, reason: null, auto } : null;
      return passed({
        ...state,
        checkpoints: [...state.checkpoints, { node, savedAt: at, source: seq, snapshotPath, decision }],
      });
    }
    case 'CheckpointDecided': {
      const { node, answer, reason = null } = event;
      return passed({
        ...state,
        checkpoints: state.checkpoints.map((checkpoint) =>
          checkpoint.node === node
            ? { ...checkpoint, decision: { answer, at, actor, reason, auto: false } }
            : checkpoint,
        ),
      });
    }
    case 'CheckpointAsked':
      return {
        ...state,
        checkpoints: state.checkpoints.map((checkpoint) =>
          checkpoint.node === event.node ? { ...checkpoint, decision: null } : checkpoint,
        ),
      };
    case 'SessionClosed':
    case 'SessionPaused':
      return state;
  }
};

const afterStep = (state: RunState, before: Pool, event: StepEvent, stored: Circumstance): RunState => {
  const { seq, at } = stored;
  const { step } = event;
  const work = workOf(state, step);
  const over = (attempt: number, outcome: Attempt['outcome'], error: string | null): Work => ({
    ...work,
    attempts: [...work.attempts, { attempt, outcome, startedAt: work.startedAt, endedAt: at, error }],
  });
  switch (event.type) {
    case 'StepClaimed':
      return withWork(state, step, { ...emptyWork, startedAt: at, retries: work.retries, attempts: work.attempts });
    case 'StepStarted': {
      const started = recordOf(before, step)?.startedAt ?? null;
      const taskId = textIn(event.facts, 'cli_task_id') ?? work.taskId;
      return withWork(
        taskId === null ? state : { ...state, tasks: put(state.tasks, taskId, { step, attempt: event.attempt }) },
        step,
        {
          ...work,
          startedAt: started === null ? at : work.startedAt,
          taskId,
          childSession: textIn(event.facts, 'child_session') ?? work.childSession,
        },
      );
    }
    case 'StepInterrupted':
      return withWork(state, step, over(event.attempt, 'interrupted', event.because));
    case 'StepFailed': {
      const error = textIn(event.result, 'error') ?? 'no reason was given';
      const failed = {
        ...over(event.attempt, 'failed', error),
        ...resultOf(event.result, work),
        status: 'failed',
        error,
      } as const;
      return withWork({ ...state, failed: [...state.failed, step] }, step, failed);
    }
    case 'StepCompleted': {
      const completed = {
        ...over(event.attempt, 'completed', null),
        ...resultOf(event.result, work),
        status: 'completed',
        completedAt: at,
      } as const;
      const output = textIn(event.result, 'output');
      // An output that was put into no file of its own lies in the run's folder.
      const outputPath =
        output === null ? completed.outputPath : (completed.outputPath ?? outputPathOf(nameOf(stored), step));
      return withWork(withOutput(state, step, output, seq), step, { ...completed, outputPath });
    }
    case 'StepSettled':
      return event.as === 'done'
        ? withWork(state, step, { ...work, ...resultOf(event.result, work), status: 'completed', completedAt: at })
        : state;
  }
};

const nameOf = ({ session }: Circumstance): string => session.slice(session.indexOf(':') + 1);

/** What a result says of a node. */
const resultOf = (
  result: JsonObject | undefined,
  work: Work,
): Pick<Work, 'outputPath' | 'childSession' | 'artifacts' | 'exitCode'> => ({
  outputPath: textIn(result, 'output_path') ?? work.outputPath,
  childSession: textIn(result, 'child_session') ?? work.childSession,
  artifacts: Array.isArray(result?.['artifacts']) ? result['artifacts'].map(String) : work.artifacts,
  exitCode: typeof result?.['exit_code'] === 'number' ? result['exit_code'] : work.exitCode,
});

const textIn = (object: JsonObject | null | undefined, key: string): string | null => {
  const value = object?.[key];
  return typeof value === 'string' ? value : null;
};

/** An output is kept as a file; its text is kept too as long as a node to come refers to it. */
const withOutput = (state: RunState, node: string, output: string | null, seq: number): RunState => {
  if (output === null) return state;
  const text = { node, text: output.slice(0, keptOutput) };
  return {
    ...state,
    outputs: [...state.outputs.filter((one) => one.node !== node), { node, source: seq }],
    texts: isRead(state, node, state.at + 1) ? [...state.texts, text] : state.texts,
  };
};

const withWork = (state: RunState, node: string, work: Work): RunState => {
  const before = workOf(state, node);
  const { completed, skipped, checkpoints } = state.counts;
  const plus = (status: Work['status']): number =>
    (work.status === status ? 1 : 0) - (before.status === status ? 1 : 0);
  const isHere = state.plan[state.at]?.nodes.includes(node) ?? false;
  const done = Number(isOver(work)) - Number(isOver(before));
  return {
    ...state,
    works: put(state.works, node, work),
    left: isHere ? state.left - done : state.left,
    counts: { completed: completed + plus('completed'), skipped: skipped + plus('skipped'), checkpoints },
  };
};

/** After something was decided about the last checkpoint: it may be the end of its batch. */
const passed = (state: RunState): RunState => {
  const answer = state.checkpoints.at(-1)?.decision?.answer;
  if (answer === undefined || answer === 'abort') return state;
  return { ...state, left: 0, counts: { ...state.counts, checkpoints: state.counts.checkpoints + 1 } };
};

/** Goes on to the batch in which something is left to be done. */
const entered = (state: RunState): RunState => {
  let next = state;
  while (next.at < next.plan.length && next.left === 0) next = enterBatch(next, next.at + 1);
  return next;
};
