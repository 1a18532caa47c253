import type { AgentStatus, OrchestratorDocument } from './document.ts';

/** What follows from a file for a session that is taken over. */

/** What a session would be here. */
export interface Standing {
  readonly status: 'active' | 'closed';
  readonly outcome: 'completed' | 'aborted' | null;
  readonly paused: boolean;
  /** Whether it was being worked on. Nobody is known to do so any more. */
  readonly isInterrupted: boolean;
  /** Agents that were said to be at work. Nobody knows what they have done: they are in doubt. */
  readonly inDoubt: readonly string[];
}

export const standingOf = (session: {
  readonly document: OrchestratorDocument;
  readonly isInHistory: boolean;
}): Standing => {
  const { document } = session;
  const outcome = outcomeOf(session);
  const isOpen = outcome === null;
  return {
    status: isOpen ? 'active' : 'closed',
    outcome,
    paused: isOpen && document.status === 'paused',
    isInterrupted: isOpen && document.status !== 'paused' && document.status !== 'created',
    inDoubt: document.agents.filter(({ status }) => status === 'in_progress').map(({ id }) => id),
  };
};

/**
 * What says that it is complete is so only where no agent is left; else it goes on. What lies in the history has ended,
 * whatever else it says: the original puts it there when it begins another one.
 */
const outcomeOf = ({
  document: { status, agents },
  isInHistory,
}: {
  readonly document: OrchestratorDocument;
  readonly isInHistory: boolean;
}): Standing['outcome'] => {
  if (status === 'aborted') return 'aborted';
  if (status === 'complete' && agents.every((agent) => isOver(agent.status))) return 'completed';
  return isInHistory ? 'aborted' : null;
};

/** Whether nothing is left to be done by an agent, well or not. */
export const isOver = (status: AgentStatus): boolean => status !== 'pending' && status !== 'in_progress';
