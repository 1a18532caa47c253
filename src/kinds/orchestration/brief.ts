import type { Common } from '../../kernel/common.ts';
import { briefSteps, type BriefStep, type KindBrief } from '../../kernel/kind-brief.ts';
import type { Samples } from '../../kernel/kind.ts';
import { doubtsOf, runningOf } from '../../kernel/steps.ts';
import { levelOf } from './modes.ts';
import { sampledOf } from './samples.ts';
import { agentOf, agentsOf, standingOf, triesLeft, type Agent, type OrchestrationState } from './state.ts';

/** Most files that are named. */
const mostFiles = 20;

/** What whoever goes on with an orchestration is to know beside what every brief says. */
export const briefOfOrchestration = (
  state: OrchestrationState,
  common: Common,
  samples: Samples,
): Partial<KindBrief> => {
  const agents = agentsOf(state);
  const isOpen = common.status === 'active';
  const those = (...wanted: readonly string[]): readonly Agent[] =>
    agents.filter((agent) => wanted.includes(standingOf(state, agent)));
  const done = [
    ...those('complete', 'cancelled').map(doneStep),
    ...state.completed.map(({ task, outcome }) => ({ text: task, ...(outcome === '' ? {} : { note: outcome }) })),
  ];
  const current = isOpen ? those('in_progress').map((agent) => currentStep(state, agent, samples)) : [];
  const left = [
    ...those('pending', 'failed').map((agent) => leftStep(state, agent)),
    ...state.todos.map(({ id, text }) => ({ id: `todo ${id}`, text })),
  ];
  return {
    focus: state.focus,
    root: state.project?.path ?? null,
    done: { steps: done.slice(-briefSteps), total: done.length },
    current: { steps: current.slice(0, briefSteps), total: current.length },
    inDoubt: doubtsOf(state.pool, (id) => agentOf(state, id)?.task),
    remaining: { steps: left.slice(0, briefSteps), total: left.length },
    files: filesOf(agents),
    usage: usageLines(state, samples),
    lost: common.imported?.lost ?? [],
  };
};

const doneStep = ({ id, task, ended, summary, error, endedAt }: Agent): BriefStep => {
  const note = ended === 'cancelled' ? `cancelled${error === null ? '' : `: ${error}`}` : summary;
  return { id, text: task, ...(note === null ? {} : { note }), ...(endedAt === null ? {} : { at: endedAt }) };
};

const currentStep = (state: OrchestrationState, agent: Agent, samples: Samples): BriefStep => {
  const { id, task, startedAt, isPaused, progress } = agent;
  const percent = sampledOf(state, samples).percents.get(id) ?? progress;
  const by = runningOf(state.pool, id)?.claim.holder.actor;
  return {
    id,
    text: task,
    ...(isPaused ? { note: 'paused' } : {}),
    ...(percent === null ? {} : { percent }),
    ...(by === undefined ? {} : { by }),
    ...(startedAt === null ? {} : { at: startedAt }),
  };
};

const leftStep = (state: OrchestrationState, agent: Agent): BriefStep => {
  const { id, task, ended, error } = agent;
  if (ended !== 'failed') return { id, text: task };
  const tries = triesLeft(state, agent);
  return {
    id,
    text: task,
    note: `failed${error === null ? '' : `: ${error}`}; ${tries} ${tries === 1 ? 'try' : 'tries'} left`,
  };
};

/** What agents have left, the newest first, each once. */
const filesOf = (agents: readonly Agent[]): KindBrief['files'] => {
  const labelByPath = new Map<string, string>();
  for (const { id, files, resultPath } of agents.toReversed())
    for (const path of [...(resultPath === null ? [] : [resultPath]), ...files])
      if (!labelByPath.has(path) && labelByPath.size < mostFiles) labelByPath.set(path, `left by ${id}`);
  return [...labelByPath].map(([path, label]) => ({ path, label }));
};

const usageLines = (state: OrchestrationState, samples: Samples): readonly string[] => {
  const { usage } = sampledOf(state, samples);
  const compressed = `last compressed: ${state.compression?.at ?? 'never'}`;
  if (usage === null) return state.compression === null ? [] : [compressed];
  const { level, compressAt } = levelOf(state.mode, usage);
  const advice = { ok: '', warn: ', soon to be compressed', compress: ', to be compressed now' }[level];
  return [`${usage.tokens} tokens used (${usage.percentage} %)${advice}; compressed at ${compressAt} %`, compressed];
};
