import type { Samples } from '../../kernel/kind.ts';
import type { Overall } from '../../kernel/view.ts';
import type { Usage } from './modes.ts';
import { agentsOf, isOver, type OrchestrationState } from './state.ts';
import { recordOf } from '../../kernel/steps.ts';

/** What comes too often for events: how far agents are, and how much of the context is used. */

/** The sample of what is used of the context. */
export const usageSample = 'usage';

/** The sample of how far an agent is. */
export const agentSample = (id: string): string => `agent ${id}`;

/** What was measured last: of agents that are at work, in the attempt that runs, and of the context. */
export const sampledOf = (
  { pool, usage }: OrchestrationState,
  samples: Samples,
): { readonly percents: ReadonlyMap<string, number>; readonly usage: Usage | null } => {
  const percents = new Map<string, number>();
  for (const id of pool.running) {
    const { percent, attempt } = samples.get(agentSample(id)) ?? {};
    if (typeof percent === 'number' && attempt === recordOf(pool, id)?.attempt) percents.set(id, percent);
  }
  const { tokens, percentage } = samples.get(usageSample) ?? {};
  const isMeasured = typeof tokens === 'number' && typeof percentage === 'number';
  return { percents, usage: isMeasured ? { tokens, percentage } : usage };
};

/**
 * How far all of it is: the mean over the agents that are not cancelled, else the part of the work that is done. What is not
 * done does not look done. Everything that tells a number tells this one.
 */
export const overallOf = (state: OrchestrationState, samples: Samples): Overall => {
  const { percent, formula } = meanOf(state, samples);
  const isLeft = state.todos.length > 0 || agentsOf(state).some((agent) => !isOver(agent));
  return percent === 100 && isLeft
    ? { percent: 99, formula: `${formula}; at most 99 while anything is left` }
    : { percent, formula };
};

const meanOf = (state: OrchestrationState, samples: Samples): Overall => {
  const { percents } = sampledOf(state, samples);
  const counted = agentsOf(state).filter(({ ended }) => ended !== 'cancelled');
  if (counted.length > 0) {
    const sum = counted.reduce(
      (total, agent) => total + (isOver(agent) ? 100 : (percents.get(agent.id) ?? agent.progress ?? 0)),
      0,
    );
    return {
      percent: Math.round(sum / counted.length),
      formula: `the mean over ${counted.length} ${counted.length === 1 ? 'agent' : 'agents'} that ${counted.length === 1 ? 'is' : 'are'} not cancelled, a complete one counts 100`,
    };
  }
  const done = state.completed.length;
  const all = done + state.todos.length;
  if (all === 0) return { percent: null, formula: `nothing is to be done ${state.hasBegun ? 'any more' : 'yet'}` };
  return { percent: Math.round((100 * done) / all), formula: `${done} of ${all} todos are done` };
};
