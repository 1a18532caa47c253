import { evolveStep, forgetDoubt, isStepEvent, type StepEvent } from '../../kernel/steps.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { put } from '../../lib/persistent-map.ts';
import type { OrchestrationEvent } from './events.ts';
import { imported } from './taken-over.ts';
import { errorClasses, type ErrorClass } from './modes.ts';
import { agentOf, newAgent, nodeOf, type Agent, type Circumstance, type OrchestrationState } from './state.ts';

/** Most checkpoints and failures that are kept. */
const kept = { checkpoints: 50, failures: 30 };

/** Folds an event. */
export const evolveOrchestration = (
  state: OrchestrationState,
  event: OrchestrationEvent,
  stored: Circumstance,
): OrchestrationState => {
  const { at, actor } = stored;
  if (isStepEvent(event)) {
    const pool = evolveStep(state.pool, event, at);
    return { ...afterStep({ ...state, pool }, event, stored), hasBegun: true };
  }
  switch (event.type) {
    case 'OrchestrationBegun':
      return { ...state, mode: event.mode, project: event.project ?? null };
    case 'OrchestrationImported':
      return imported(state, event, stored);
    case 'ModeChanged':
      return { ...state, mode: event.mode };
    case 'FocusChanged':
      return { ...state, focus: event.on };
    case 'AgentPrepared': {
      const { agent: id, agent_type: type, task } = event;
      if (agentOf(state, id) !== undefined) {
        const ended = (agent: Agent) => (agent.ended === 'cancelled' ? null : agent.ended);
        return withAgent(state, id, (agent) => ({ ...agent, type, task, ended: ended(agent) }));
      }
      return {
        ...state,
        agents: put(state.agents, id, newAgent(id, type, task)),
        order: [...state.order, id],
        hasBegun: true,
      };
    }
    case 'AgentCancelled':
      return withAgent({ ...state, pool: forgetDoubt(state.pool, event.agent) }, event.agent, (agent) => ({
        ...agent,
        ended: 'cancelled',
        endedAt: at,
        isPaused: false,
        error: event.reason ?? agent.error,
      }));
    case 'AgentPaused':
      return withAgent(state, event.agent, (agent) => ({ ...agent, isPaused: true }));
    case 'AgentContinued':
      return withAgent(state, event.agent, (agent) => ({ ...agent, isPaused: false }));
    case 'TodoAdded':
      return {
        ...state,
        todos: [...state.todos, { id: event.todo, text: event.text }],
        lastTodo: event.todo,
        hasBegun: true,
      };
    case 'TodoEnded': {
      const todo = state.todos.find(({ id }) => id === event.todo);
      const { as, outcome = '', files = [] } = event;
      return {
        ...state,
        todos: state.todos.filter(({ id }) => id !== event.todo),
        completed:
          todo === undefined || as === 'dropped'
            ? state.completed
            : [...state.completed, { task: todo.text, outcome, files }],
      };
    }
    case 'WaveEnded': {
      const decision = event.goes_on ? { answer: 'continue' as const, at, actor, reason: null, auto: true } : null;
      const checkpoint = { node: nodeOf(event.wave), at, why: event.why, decision };
      const checkpoints = [...state.checkpoints, checkpoint].slice(-kept.checkpoints);
      return event.goes_on ? nextWave({ ...state, checkpoints }) : { ...state, checkpoints };
    }
    case 'CheckpointDecided': {
      const { node, answer, reason = null } = event;
      const checkpoints = state.checkpoints.map((checkpoint) =>
        checkpoint.node === node ? { ...checkpoint, decision: { answer, at, actor, reason, auto: false } } : checkpoint,
      );
      return answer === 'abort' ? { ...state, checkpoints } : nextWave({ ...state, checkpoints });
    }
    case 'CheckpointAsked':
      return {
        ...state,
        checkpoints: state.checkpoints.map((checkpoint) =>
          checkpoint.node === event.node ? { ...checkpoint, decision: null } : checkpoint,
        ),
      };
    case 'Sampled':
      return event.progress.reduce(
        (next, { agent: id, percent }) => withAgent(next, id, (agent) => ({ ...agent, progress: percent })),
        { ...state, usage: event.usage ?? state.usage },
      );
    case 'Compressed':
      return { ...state, usage: event.usage ?? state.usage, compression: { at, summary: event.summary } };
    case 'SessionClosed':
    case 'SessionPaused':
      return state;
  }
};

/** Who is at work goes on, in the next wave. */
const nextWave = (state: OrchestrationState): OrchestrationState => ({
  ...state,
  wave: { number: state.wave.number + 1, started: state.pool.running.length, failed: [] },
});

const afterStep = (state: OrchestrationState, event: StepEvent, { seq, at }: Circumstance): OrchestrationState => {
  const { step } = event;
  switch (event.type) {
    case 'StepClaimed': {
      const { wave } = state;
      return withAgent({ ...state, wave: { ...wave, started: wave.started + 1 } }, step, (agent) => ({
        ...agent,
        ended: null,
        startedAt: at,
        endedAt: null,
        progress: null,
        summary: null,
        error: null,
        errorClass: null,
        isPaused: false,
      }));
    }
    case 'StepStarted':
      return withAgent(state, step, (agent) => ({ ...agent, ...contextOf(event.facts, agent) }));
    case 'StepInterrupted':
      return withAgent(state, step, (agent) => ({ ...agent, isPaused: false }));
    case 'StepCompleted':
      return withAgent(state, step, (agent) => complete(agent, event.result, at));
    case 'StepSettled':
      return event.as === 'done'
        ? withAgent(state, step, (agent) => complete(agent, { summary: event.reason, ...event.result }, at))
        : state;
    case 'StepFailed': {
      const error = textIn(event.result, 'error') ?? 'no reason was given';
      const errorClass = classIn(event.result);
      const failure = { seq, agent: step, attempt: event.attempt, error, class: errorClass, at };
      const { wave } = state;
      const failed = {
        ...state,
        wave: { ...wave, failed: [...wave.failed, step] },
        failures: [...state.failures, failure].slice(-kept.failures),
      };
      return withAgent(failed, step, (agent) => ({
        ...agent,
        ...contextOf(event.result, agent),
        ended: 'failed',
        endedAt: at,
        isPaused: false,
        error,
        errorClass,
        failures: agent.failures + 1,
        failuresInARow: agent.failuresInARow + 1,
        failedAt: at,
      }));
    }
  }
};

const complete = (agent: Agent, result: JsonObject | undefined, at: string): Agent => ({
  ...agent,
  ...contextOf(result, agent),
  ended: 'complete',
  endedAt: at,
  progress: 100,
  isPaused: false,
  summary: textIn(result, 'summary') ?? textIn(result, 'output') ?? agent.summary,
  files: textsIn(result, 'files') ?? textsIn(result, 'artifacts') ?? agent.files,
  resultPath: textIn(result, 'output_path') ?? agent.resultPath,
  failuresInARow: 0,
});

/** What is said of the context of an agent. */
const contextOf = (said: JsonObject | undefined, agent: Agent): Pick<Agent, 'tokens' | 'vendorSession'> => ({
  tokens: typeof said?.['tokens'] === 'number' ? said['tokens'] : agent.tokens,
  vendorSession: textIn(said, 'vendor_session') ?? textIn(said, 'child_session') ?? agent.vendorSession,
});

const textIn = (object: JsonObject | undefined, key: string): string | null => {
  const value = object?.[key];
  return typeof value === 'string' ? value : null;
};

const textsIn = (object: JsonObject | undefined, key: string): readonly string[] | null => {
  const value = object?.[key];
  return Array.isArray(value) ? value.map(String) : null;
};

const classIn = (result: JsonObject | undefined): ErrorClass | null =>
  errorClasses.find((one) => one === result?.['class']) ?? null;

/** Changes an agent, and what is counted of all. */
const withAgent = (state: OrchestrationState, id: string, change: (agent: Agent) => Agent): OrchestrationState => {
  const before = agentOf(state, id);
  if (before === undefined) return state;
  const after = change(before);
  const { counts } = state;
  const more = (ended: Agent['ended']): number => Number(after.ended === ended) - Number(before.ended === ended);
  return {
    ...state,
    agents: put(state.agents, id, after),
    counts: {
      complete: counts.complete + more('complete'),
      failed: counts.failed + more('failed'),
      cancelled: counts.cancelled + more('cancelled'),
    },
  };
};
