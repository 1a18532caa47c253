import { textAt } from '../../kernel/answer.ts';
import type { Common } from '../../kernel/common.ts';
import type { Samples } from '../../kernel/kind.ts';
import { recordOf, runningOf } from '../../kernel/steps.ts';
import {
  progressLimits,
  remainingLimit,
  type KindView,
  type NextAction,
  type Progress,
  type Step,
} from '../../kernel/view.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { oneLine, shellWord, truncate } from '../../lib/text.ts';
import { backoffSeconds, levelOf, limits } from './modes.ts';
import { decideCommand, readyAgents } from './rules.ts';
import { overallOf, sampledOf } from './samples.ts';
import {
  agentOf,
  agentsOf,
  atWork,
  awaited,
  isOver,
  pausedAgents,
  restOf,
  standingOf,
  triesLeft,
  type Agent,
  type OrchestrationState,
} from './state.ts';

/** Most agents and todos that a view tells of, and most characters of a text in it. */
const most = { agents: 20, todos: 20, characters: 300 };

const nothingMeasured: Samples = new Map();

/** What an orchestration says of itself. */
export const viewOfOrchestration = (state: OrchestrationState, common: Common): KindView => {
  const agents = agentsOf(state);
  const left = agents.filter((agent) => !isOver(agent));
  const todos = state.todos.map(({ id, text }) => `todo ${id}: ${truncate(text, most.characters)}`);
  return {
    position: positionOf(state, common),
    where: {
      mode: state.mode,
      agents: {
        total: agents.length,
        complete: state.counts.complete,
        running: atWork(state).length,
        paused: pausedAgents(state).length,
      },
      todos: state.todos.length,
    },
    fields: fieldsOf(state, agents),
    remaining: [...left.map(({ id }) => id), ...todos].slice(0, remainingLimit),
    missing: missingOf(state, left),
    next: nextOf(state, common, left),
    evidence: [],
  };
};

const positionOf = (state: OrchestrationState, { status }: Common): string => {
  const { order, counts, pool, todos, completed } = state;
  // Nobody is asked any more about one that is closed.
  const waiting = status === 'closed' ? undefined : awaited(state);
  const working = atWork(state).length;
  const paused = pausedAgents(state).length;
  const parts = [
    ...(order.length > 0 || completed.length === 0 ? [] : [`${completed.length} done`]),
    ...(order.length === 0 ? [] : [`${counts.complete + counts.cancelled}/${order.length} agents over`]),
    ...(working === 0 ? [] : [`${working} at work`]),
    ...(paused === 0 ? [] : [`${paused} paused`]),
    ...(counts.failed === 0 ? [] : [`${counts.failed} failed`]),
    ...(pool.doubtful.length === 0 ? [] : [`${pool.doubtful.length} in doubt`]),
    ...(todos.length === 0 ? [] : [`${todos.length} to do`]),
    ...(waiting === undefined ? [] : [`${waiting.node} waits for a decision`]),
  ];
  if (parts.length > 0) return parts.join(', ');
  return state.hasBegun ? 'nothing left to do' : 'nothing begun';
};

const missingOf = (state: OrchestrationState, left: readonly Agent[]): readonly string[] => {
  const { pool, todos } = state;
  if (!state.hasBegun) return ['nothing was begun: no agent, and nothing to do'];
  const named = (...wanted: readonly string[]): readonly string[] =>
    left.filter((agent) => wanted.includes(standingOf(state, agent))).map(({ id }) => id);
  const line = (ids: readonly string[], one: string, several: string): readonly string[] =>
    ids.length === 0
      ? []
      : [
          `${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ` and ${ids.length - 5} more` : ''} ${ids.length === 1 ? one : several}`,
        ];
  return [
    ...line(atWork(state), 'is at work', 'are at work'),
    ...line(pausedAgents(state), 'is paused', 'are paused'),
    ...line(named('pending'), 'is to be started', 'are to be started'),
    ...line(named('failed'), 'has failed', 'have failed'),
    ...line(
      pool.doubtful,
      'is in doubt: nobody knows what it has done',
      'are in doubt: nobody knows what they have done',
    ),
    ...line(
      todos.map(({ id, text }) => `todo ${id} (${truncate(text, 60)})`),
      'is to be done',
      'are to be done',
    ),
  ];
};

const nextOf = (
  state: OrchestrationState,
  common: Pick<Common, 'key' | 'goal'>,
  left: readonly Agent[],
): NextAction => {
  const session = `--session ${common.key}`;
  // Whoever decides how it goes on is to know what has been done.
  const [doubtful] = state.pool.doubtful;
  if (doubtful !== undefined)
    return {
      kind: 'settle',
      text: `Nobody knows what ${doubtful} has done: look, then say stint resume --rerun ${doubtful}, or --done ${doubtful}.`,
      command: `stint resume ${session}`,
    };
  const waiting = awaited(state);
  if (waiting !== undefined)
    return {
      kind: 'decide',
      text: `${waiting.node} waits for a decision: continue, pause or abort.`,
      command: decideCommand(waiting.node, common),
    };
  const [ready] = readyAgents(state, { limit: 1 }).steps;
  if (ready !== undefined) {
    const agent = agentOf(state, ready.id);
    return {
      kind: 'claim',
      text: `Start ${ready.id}: ${truncate(ready.name, 100)}.${agent === undefined ? '' : waitText(agent)}`,
      command: `stint agent start ${shellWord(ready.id)} ${session}`,
    };
  }
  const working = atWork(state);
  if (working.length > 0)
    return {
      kind: 'wait',
      text: `${working.join(', ')} ${working.length === 1 ? 'is' : 'are'} at work.`,
      command: `stint agent list ${session}`,
    };
  const [paused] = pausedAgents(state);
  if (paused !== undefined)
    return {
      kind: 'advance',
      text: `${paused} is paused: put it to work again, or give it up.`,
      command: `stint agent continue ${shellWord(paused)} ${session}`,
    };
  const failed = left.find(({ ended }) => ended === 'failed');
  if (failed !== undefined)
    return {
      kind: 'settle',
      text: `${failed.id} has failed ${failed.failures} times, and is not started again in the mode ${state.mode}.`,
      command: `stint agent cancel ${shellWord(failed.id)} ${session}`,
    };
  const [todo] = state.todos;
  if (todo !== undefined)
    return {
      kind: 'complete',
      text: `Do ${todo.id}: ${truncate(todo.text, 100)}. Start an agent for it, or say that it is done.`,
      command: `stint todo done ${todo.id} ${session}`,
    };
  return {
    kind: 'advance',
    text: 'Say what is to be done, or start an agent.',
    command: `stint todo add ${shellWord(truncate(oneLine(common.goal ?? 'what is to be done'), 100))} ${session}`,
  };
};

/** How long to wait before an agent that has failed is started again. */
const waitText = (agent: Agent): string => {
  const { failures, failuresInARow } = agent;
  const rest = restOf(agent);
  if (rest !== null) return ` It has failed ${failuresInARow} times in a row, and is left alone until ${rest}.`;
  if (failures === 0) return '';
  const wait = backoffSeconds(failures);
  return ` It has failed ${failures === 1 ? 'once' : `${failures} times`}${wait === 0 ? '' : `; wait ${wait} s first`}.`;
};

const fieldsOf = (state: OrchestrationState, agents: readonly Agent[]): JsonObject => {
  const { mode, focus, todos, completed, compression, project } = state;
  const { agents: atOnce, retries, checkpoints, compressAt } = limits[mode];
  const shown = shownOf(agents);
  const waiting = awaited(state);
  return {
    mode,
    focus,
    project: project === null ? null : { ...project },
    limits: { agents: atOnce, retries, checkpoints, compress_at: compressAt },
    agents: shown.map((agent) => agentToJson(state, agent, nothingMeasured)),
    agents_total: agents.length,
    pending_tasks: todos.slice(0, most.todos).map(({ id, text }) => ({ id, text: truncate(text, most.characters) })),
    pending_total: todos.length,
    completed_total: completed.length,
    checkpoint: waiting === undefined ? null : { node: waiting.node, why: waiting.why, at: waiting.at },
    last_compression: compression?.at ?? null,
    ...measuredFields(state, nothingMeasured),
  };
};

/** The agents that are told of where not all are: those that are not over, then the newest of the others. */
const shownOf = (agents: readonly Agent[]): readonly Agent[] => {
  if (agents.length <= most.agents) return agents;
  const open = agents.filter((agent) => !isOver(agent));
  const over = agents.filter(isOver);
  const room = Math.max(0, most.agents - open.length);
  const shown = new Set([...open.slice(0, most.agents), ...(room === 0 ? [] : over.slice(-room))].map(({ id }) => id));
  return agents.filter(({ id }) => shown.has(id));
};

/** What depends on what was measured last, laid over the view when somebody asks. */
export const measuredOf = (state: OrchestrationState, _common: Common, samples: Samples): JsonObject => ({
  agents: shownOf(agentsOf(state)).map((agent) => agentToJson(state, agent, samples)),
  ...measuredFields(state, samples),
});

const measuredFields = (state: OrchestrationState, samples: Samples): JsonObject => {
  const { usage } = sampledOf(state, samples);
  const { percent, formula } = overallOf(state, samples);
  return {
    progress: percent,
    progress_formula: formula,
    context_usage:
      usage === null
        ? null
        : {
            estimated_tokens: usage.tokens,
            percentage: usage.percentage,
            level: levelOf(state.mode, usage).level,
          },
  };
};

/** An agent as it is shown. */
export const agentToJson = (state: OrchestrationState, agent: Agent, samples: Samples): JsonObject => {
  const { id, type, task, error, errorClass, vendorSession, summary } = agent;
  const record = recordOf(state.pool, id);
  const running = runningOf(state.pool, id);
  return {
    id,
    type,
    task: truncate(task, most.characters),
    status: standingOf(state, agent).replace(' ', '_'),
    attempt: record?.attempt ?? 0,
    ...(running === undefined ? {} : { held_by: running.claim.holder.actor, paused: agent.isPaused }),
    progress: agent.ended === 'complete' ? 100 : (sampledOf(state, samples).percents.get(id) ?? agent.progress),
    started_at: agent.startedAt,
    ended_at: agent.endedAt,
    summary: summary === null ? null : truncate(summary, most.characters),
    files: agent.files.slice(0, most.agents),
    result_path: agent.resultPath,
    context_tokens: agent.tokens,
    vendor_session: vendorSession,
    error: error === null ? null : truncate(error, most.characters),
    ...(errorClass === null ? {} : { class: errorClass }),
    failures: agent.failures,
    tries_left: triesLeft(state, agent),
  };
};

/** How it stands with an agent that is shown, for a person. */
export const agentWord = (agent: JsonObject): string =>
  agent['paused'] === true ? 'paused' : textAt(agent, 'status').replaceAll('_', ' ');

/** How a step is called of which the agent has ended so, or not yet. */
const words = { complete: 'done', cancelled: 'skipped', failed: 'failed', pending: 'pending' } as const;

/** The agent that is told of as the current one: the first that is at work, else the first that is to be. */
const currentOf = (state: OrchestrationState, agents: readonly Agent[]): string | undefined => {
  const left = agents.filter((agent) => !isOver(agent));
  const first = (...wanted: readonly string[]) => left.find((agent) => wanted.includes(standingOf(state, agent)));
  return (first('in_progress') ?? first('pending', 'in doubt') ?? left[0])?.id;
};

/** How far an orchestration is: its agents in their order, then what is to be done. */
export const progressOfOrchestration = (state: OrchestrationState, common: Common, samples: Samples): Progress => {
  const agents = agentsOf(state);
  const current = currentOf(state, agents);
  const stateOf = (agent: Agent): Step['state'] =>
    agent.id === current ? 'current' : (words[agent.ended ?? 'pending'] ?? 'pending');
  const step = (name: string, text: string, one: Step['state']): Step => ({
    name,
    label: truncate(oneLine(text), 100) || name,
    state: one,
    evidence: [],
  });
  const steps = [
    ...agents.map((agent) => step(agent.id, agent.task, stateOf(agent))),
    ...state.completed.map(({ task }, at) => step(`work ${at + 1}`, task, 'done')),
    ...state.todos.map(({ id, text }) =>
      step(`todo ${id}`, text, current === undefined && id === state.todos[0]?.id ? 'current' : 'pending'),
    ),
  ];
  const first = steps.findIndex(({ state: one }) => one !== 'done' && one !== 'skipped');
  const from = Math.max(0, Math.min((first === -1 ? steps.length : first) - 10, steps.length - progressLimits.steps));
  return {
    steps: steps.slice(from, from + progressLimits.steps),
    done: state.counts.complete + state.counts.cancelled + state.completed.length,
    total: agents.length + state.todos.length + state.completed.length,
    overall: overallOf(state, samples),
    cycle: state.hasBegun
      ? {
          label: `wave ${state.wave.number}`,
          startedAt: common.startedAt,
          completedAt: common.outcome === 'completed' ? common.closedAt : null,
        }
      : null,
    earlier: [],
    summary: {},
    results: [],
  };
};
