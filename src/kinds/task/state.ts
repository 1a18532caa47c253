import type { Common } from '../../kernel/common.ts';
import { blockersOf, countIn } from '../../kernel/journal.ts';
import type { Status } from '../../formats/handoff/statuses.ts';
import { usualTransitions, type Transitions } from './workflow.ts';

/** A task as its events tell it. What is blocked tells the journal: see `statusOf`. */
export interface TaskState {
  /** Where it stands apart from blockers: never `blocked`. */
  readonly status: Exclude<Status, 'blocked'>;
  /** How often it had been blocked when it was not started. */
  readonly blockedBefore: number;
  readonly transitions: Transitions;
  /** Who is to act next, where somebody said so. */
  readonly owner: string | null;
  /** The steps that are left, in the order in which they are to be done, and the number of the last one that was added. */
  readonly left: readonly LeftStep[];
  readonly lastStep: number;
  /** The step that somebody is at; null where nobody said so. */
  readonly current: number | null;
  /** The steps that are over, the newest at most. */
  readonly over: readonly OverStep[];
  readonly counts: Readonly<Record<'done' | 'dropped', number>>;
  /** Changes of the status that were no transitions, the newest at most. */
  readonly overrides: readonly Override[];
}

/** A step that is left to be done. */
export interface LeftStep {
  readonly id: number;
  readonly text: string;
}

/** A step that is over. */
export interface OverStep extends LeftStep {
  readonly as: 'done' | 'dropped';
  readonly at: string;
  readonly actor: string;
  /** What came of it, or why it was dropped. */
  readonly note: string | null;
  readonly files: readonly string[];
}

/** A change of the status that was no transition, with its reason. */
export interface Override {
  readonly from: Status;
  readonly to: Status;
  readonly reason: string;
  readonly at: string;
  readonly actor: string;
}

/** A task before anything happened. */
export const emptyTask: TaskState = {
  status: 'not-started',
  blockedBefore: 0,
  transitions: usualTransitions,
  owner: null,
  left: [],
  lastStep: 0,
  current: null,
  over: [],
  counts: { done: 0, dropped: 0 },
  overrides: [],
};

/** What of the common state says how it stands with a task. */
export type Standing = Pick<Common, 'outcome' | 'journal'>;

/**
 * The status of a task. It is blocked exactly while it has an open blocker, as far as blocked may follow where it stands: so
 * neither can be told without the other. One that was blocked before it was started goes on as work in progress.
 */
export const statusOf = (state: TaskState, common: Standing): Status => {
  if (common.outcome === 'completed') return 'done';
  const stands = standsAt(state, common);
  return blockersOf(common).length > 0 && state.transitions[stands].includes('blocked') ? 'blocked' : stands;
};

/** The status of a task when its blockers are cleared. */
export const standsAt = (state: TaskState, { journal }: Pick<Common, 'journal'>): TaskState['status'] => {
  const { status, transitions, blockedBefore } = state;
  if (status !== 'not-started') return status;
  const mayBlock = transitions[status].includes('blocked') && !transitions.blocked.includes(status);
  return mayBlock && countIn(journal, 'blocker') > blockedBefore ? 'in-progress' : status;
};

/** The step that somebody is at. */
export const currentStep = ({ left, current }: TaskState): LeftStep | undefined =>
  left.find(({ id }) => id === current);
