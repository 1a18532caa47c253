import type { StoredEvent } from '../../kernel/event.ts';
import type { TaskEvent } from './events.ts';
import type { LeftStep, OverStep, TaskState } from './state.ts';

/** Most steps that are over, and most overrides, that are kept. */
const kept = { over: 50, overrides: 10 };

/** Folds an event. */
export const evolveTask = (
  state: TaskState,
  event: TaskEvent,
  { at, actor }: Pick<StoredEvent, 'at' | 'actor'>,
): TaskState => {
  switch (event.type) {
    case 'TaskBegun':
      return event.transitions === undefined ? state : { ...state, transitions: event.transitions };
    case 'TransitionsChanged':
      return { ...state, transitions: event.transitions };
    case 'StatusChanged': {
      const { from, to, override } = event;
      const isLegal = state.transitions[from].includes(to);
      return {
        ...state,
        // What is blocked goes on as work in progress.
        status: to === 'blocked' ? 'in-progress' : to,
        blockedBefore: event.blocked_before ?? state.blockedBefore,
        owner: to === 'done' ? null : state.owner,
        overrides:
          override === undefined || isLegal
            ? state.overrides
            : [...state.overrides, { from, to, reason: override, at, actor }].slice(-kept.overrides),
      };
    }
    case 'OwnerNamed':
      return { ...state, owner: event.owner };
    case 'StepAdded':
      return {
        ...state,
        left: placed(state.left, { id: event.step, text: event.text }, event.before ?? null),
        lastStep: event.step,
      };
    case 'StepTaken':
      return { ...state, current: event.step };
    case 'StepFinished':
      return ended(state, event.step, {
        as: 'done',
        at,
        actor,
        note: event.outcome ?? null,
        files: event.files ?? [],
      });
    case 'StepDropped':
      return ended(state, event.step, { as: 'dropped', at, actor, note: event.reason ?? null, files: [] });
    case 'StepPlaced': {
      const step = state.left.find(({ id }) => id === event.step);
      return step === undefined ? state : { ...state, left: placed(state.left, step, event.before) };
    }
    case 'SessionClosed':
    case 'BlockerRaised':
      // The kernel folds its own.
      return state;
  }
};

/** The steps that are left, with one of them before another, or at the end. */
export const placed = (left: readonly LeftStep[], step: LeftStep, before: number | null): readonly LeftStep[] => {
  const others = left.filter(({ id }) => id !== step.id);
  const at = before === null ? -1 : others.findIndex(({ id }) => id === before);
  return at === -1 ? [...others, step] : others.toSpliced(at, 0, step);
};

const ended = (state: TaskState, id: number, how: Omit<OverStep, 'id' | 'text'>): TaskState => {
  const step = state.left.find((one) => one.id === id);
  if (step === undefined) return state;
  const { left, over, counts, current } = state;
  return {
    ...state,
    left: left.filter((one) => one.id !== id),
    over: [...over, { ...step, ...how }].slice(-kept.over),
    counts: { ...counts, [how.as]: counts[how.as] + 1 },
    current: current === id ? null : current,
  };
};
