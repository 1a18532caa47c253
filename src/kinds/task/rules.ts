import type { Common } from '../../kernel/common.ts';
import { blockersOf, countIn } from '../../kernel/journal.ts';
import { findBlocker, raiseBlocker } from '../../kernel/journal-rules.ts';
import type { Situation } from '../../kernel/kind.ts';
import { refuseClosed } from '../../kernel/lifecycle.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { unblockCommand } from '../../kernel/view.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { shellWord } from '../../lib/text.ts';
import type { TaskCommand, TaskEvent } from './events.ts';
import { evolveTask, placed } from './evolve.ts';
import { currentStep, standsAt, statusOf, type TaskState } from './state.ts';
import type { Status } from '../../formats/handoff/statuses.ts';
import { isSameTable, usualTransitions, wayToDone } from './workflow.ts';

type Decided = Result<readonly TaskEvent[], Refusal>;
type CommandOf<Type extends TaskCommand['type']> = Extract<TaskCommand, { readonly type: Type }>;
/** A task that is there. */
interface Known {
  readonly state: TaskState;
  readonly common: Common;
}

/** The rules of a task. Every change of its status is a transition, or has its reason on the record. */
export const decideTask = (state: TaskState, command: TaskCommand, { common }: Situation): Decided => {
  if (command.type === 'begin') {
    const transitions = command.declared?.transitions;
    return ok([{ type: 'TaskBegun', ...(transitions === undefined ? {} : { transitions }) }]);
  }
  if (common === undefined) throw new Error(`${command.type} is asked of a task before it is begun`);
  const task = { state, common };
  switch (command.type) {
    case 'continue':
      return command.after === 'completed' ? reopen(task, command.override) : ok([]);
    case 'move-task':
      return move(task, command);
    case 'add-step':
      return addStep(task, command);
    case 'take-step':
      return takeStep(task, command.step);
    case 'finish-step':
    case 'drop-step':
      return endStep(task, command);
    case 'place-step':
      return placeStep(task, command);
  }
};

/** A task that is done goes on where its workflow says so, else with the reason on the record. */
const reopen = ({ state, common }: Known, override: string | undefined): Decided => {
  const [first] = state.transitions.done;
  const to = first === undefined || state.transitions.done.includes('in-progress') ? 'in-progress' : first;
  if (first === undefined && override === undefined) return err(refuseDone(common));
  return ok([{ type: 'StatusChanged', from: 'done', to, ...withOverride(override) }]);
};

const refuseDone = ({ key }: Pick<Common, 'key'>): Refusal =>
  refuse('illegal-transition', `${key} is done, and nothing follows that.`, {
    expected: 'another task, or the reason why this one goes on',
    legal: [`stint begin task --fresh --goal GOAL`, `stint reopen --override REASON --session ${key}`],
    hint: `stint reopen --override REASON --session ${key}`,
  });

const withOverride = (override: string | undefined) => (override === undefined ? {} : { override });

/** Moves a task to a status, with what its project declares of transitions now, and says who is to act next. */
const move = (before: Known, command: CommandOf<'move-task'>): Decided => {
  const { common } = before;
  const { declared, owner } = command;
  const table = declared === undefined ? before.state.transitions : (declared.transitions ?? usualTransitions);
  const changed: readonly TaskEvent[] = isSameTable(table, before.state.transitions)
    ? []
    : [{ type: 'TransitionsChanged', transitions: table }];
  const state = changed.reduce((now, event) => evolveTask(now, event, { at: '', actor: '' }), before.state);
  const moved = decideMove({ state, common }, command);
  if (!moved.ok) return moved;
  const named: readonly TaskEvent[] =
    owner === undefined || owner === state.owner || command.to === 'done' ? [] : [{ type: 'OwnerNamed', owner }];
  const events = [...named, ...moved.value];
  if (common.status === 'closed') return events.length === 0 ? ok([]) : err(refuseOver(before));
  return ok(events.length === 0 && changed.length === 0 ? [] : [...changed, ...events]);
};

const refuseOver = ({ common }: Known): Refusal =>
  common.outcome === 'completed' ? refuseDone(common) : refuseClosed(common);

const decideMove = (task: Known, { to, override, blocker, needs }: CommandOf<'move-task'>): Decided => {
  const { state, common } = task;
  const from = statusOf(state, common);
  if (to === from && to !== 'blocked') return ok([]);
  if (common.status === 'closed') return to === from ? ok([]) : err(refuseOver(task));
  const open = blockersOf(common);
  const isLegal = state.transitions[from].includes(to);
  switch (to) {
    case 'blocked': {
      const isKnown = blocker === undefined || findBlocker(common, blocker, needs ?? null) !== undefined;
      const raised = isKnown ? ok([]) : raiseBlocker(common, blocker, needs ?? null);
      if (!raised.ok) return raised;
      const raises: readonly TaskEvent[] = isKnown
        ? []
        : [{ type: 'BlockerRaised', reason: blocker, ...(needs === undefined ? {} : { needs }) }];
      if (from === 'blocked') return ok(raises);
      if (!isLegal && override === undefined) return err(refuseMove(task, from, to));
      if (open.length === 0 && raises.length === 0) return err(refuseNoBlocker(common, isLegal));
      // Where blocked may follow, the blocker alone says it.
      return ok(isLegal ? raises : [{ type: 'StatusChanged', from, to, ...withOverride(override) }, ...raises]);
    }
    case 'done': {
      if (!isLegal && override === undefined) return err(refuseMove(task, from, to));
      const faults = unfinished(task);
      if (faults.length > 0) return err(refuseUnfinished(task, faults));
      return ok([
        { type: 'StatusChanged', from, to, ...withOverride(override) },
        { type: 'SessionClosed', outcome: 'completed' },
      ]);
    }
    case 'not-started':
    case 'in-progress':
    case 'ready-for-review': {
      if (!isLegal && override === undefined) return err(refuseMove(task, from, to));
      // It would be blocked again at once.
      if (from === 'blocked' && state.transitions[to].includes('blocked')) return err(refuseBlocked(common));
      const blockedBefore =
        to === 'not-started' ? { blocked_before: countIn(common.journal, 'blocker') - open.length } : {};
      return ok([{ type: 'StatusChanged', from, to, ...withOverride(override), ...blockedBefore }]);
    }
  }
};

/** What is not over of a task, a line each. */
const unfinished = ({ state, common }: Known): readonly string[] => [
  ...(state.left.length === 0 ? [] : [leftText(state)]),
  ...blockersOf(common).map(({ id, reason }) => `blocker ${id}: ${reason}`),
];

/** Which steps are left, in a line. */
export const leftText = ({ left }: Pick<TaskState, 'left'>): string => {
  const ids = left.slice(0, 5).map(({ id }) => id);
  const which = `${ids.join(', ')}${left.length > ids.length ? ', ...' : ''}`;
  return left.length === 1 ? `step ${which} is left` : `${left.length} steps are left (${which})`;
};

/** A change that is no transition, with those that are. */
const refuseMove = (task: Known, from: Status, to: Status): Refusal => {
  const { state, common } = task;
  const { key } = common;
  const hasBlocker = blockersOf(common).length > 0;
  const forced =
    to === 'blocked' && !hasBlocker
      ? `stint task move blocked --blocker WHAT --override REASON --session ${key}`
      : `stint task move ${to} --override REASON --session ${key}`;
  // An override is about the transition alone: nothing is done with something left, or goes on while it is blocked.
  const isForceable =
    to === 'done' ? unfinished(task).length === 0 : from !== 'blocked' || !state.transitions[to].includes('blocked');
  const legal = [...movesFrom(task), ...(isForceable ? [forced] : [])];
  return refuse('illegal-transition', `${to} does not follow ${from}.`, {
    expected: state.transitions[from].join(', ') || 'nothing: it is over',
    legal,
    ...(legal[0] === undefined ? {} : { hint: legal[0] }),
  });
};

/** The commands that lead on from where a task stands, as they can be carried out now, the one towards its end first. */
export const movesFrom = (task: Known): readonly string[] => {
  const { state, common } = task;
  const from = statusOf(state, common);
  if (from === 'blocked')
    return blockersOf(common)
      .slice(0, 5)
      .map(({ id }) => unblockCommand(common, id));
  const [next] = wayToDone(state.transitions, from) ?? [];
  return state.transitions[from]
    .toSorted((a, b) => Number(b === next) - Number(a === next))
    .filter((to) => to !== 'done' || unfinished(task).length === 0)
    .map(
      (to) =>
        `stint task move ${to}${to === 'blocked' && blockersOf(common).length === 0 ? ' --blocker WHAT' : ''} --session ${common.key}`,
    );
};

const refuseBlocked = (common: Common): Refusal => {
  const open = blockersOf(common);
  return refuse(
    'invariant-unmet',
    `${common.key} would still be blocked: ${open[0]?.reason.replace(/\.$/, '')}${open.length > 1 ? ` (and ${open.length - 1} more)` : ''}.`,
    {
      expected: 'no open blocker',
      faults: open.map(({ id, reason }) => `blocker ${id}: ${reason}`),
      legal: open.slice(0, 5).map(({ id }) => unblockCommand(common, id)),
      ...(open[0] === undefined ? {} : { hint: unblockCommand(common, open[0].id) }),
    },
  );
};

const refuseNoBlocker = ({ key }: Common, isLegal: boolean): Refusal => {
  const command = `stint task move blocked --blocker WHAT${isLegal ? '' : ' --override REASON'} --session ${key}`;
  return refuse('invariant-unmet', `${key} is not blocked by anything that is on record.`, {
    expected: 'what blocks it',
    legal: [command],
    hint: command,
  });
};

const refuseUnfinished = ({ state, common }: Known, faults: readonly string[]): Refusal => {
  const [step] = state.left;
  const open = blockersOf(common);
  const legal = [
    ...open.slice(0, 5).map(({ id }) => unblockCommand(common, id)),
    ...(step === undefined
      ? []
      : [
          `stint step done ${step.id} --session ${common.key}`,
          `stint step drop ${step.id} --reason REASON --session ${common.key}`,
        ]),
  ];
  return refuse('invariant-unmet', `${common.key} is not done: ${faults.join('; ')}.`, {
    expected: 'no step that is left, and no open blocker',
    faults,
    legal,
    ...(legal[0] === undefined ? {} : { hint: legal[0] }),
  });
};

// Steps.

const addStep = ({ state, common }: Known, { text, before }: CommandOf<'add-step'>): Decided => {
  if (state.left.some((step) => step.text === text)) return ok([]);
  if (common.status === 'closed') return err(refuseOver({ state, common }));
  if (before !== undefined && !isLeft(state, before)) return err(refuseStep({ state, common }, before));
  const added = { type: 'StepAdded', step: state.lastStep + 1, text } as const;
  return ok([{ ...added, ...(before === undefined ? {} : { before }) }]);
};

/** Says which step somebody is at: the first that is left, where none is named and nobody is at one. */
const takeStep = (task: Known, named: number | undefined): Decided => {
  const { state, common } = task;
  const step = named ?? currentStep(state)?.id ?? state.left[0]?.id;
  if (step !== undefined && state.current === step) return ok([]);
  if (common.status === 'closed') return err(refuseOver(task));
  if (step === undefined)
    return err(
      refuse('invariant-unmet', `${common.key} has no step that is left.`, {
        expected: 'a step that is left',
        legal: [`stint step add TEXT --session ${common.key}`],
        hint: `stint step add TEXT --session ${common.key}`,
      }),
    );
  if (!isLeft(state, step)) return err(refuseStep(task, step));
  return ok([...begun(task), { type: 'StepTaken', step }]);
};

/** Work on a step is work in progress, where that may follow. */
const begun = ({ state, common }: Known): readonly TaskEvent[] => {
  const from = statusOf(state, common);
  return standsAt(state, common) === 'not-started' && state.transitions[from].includes('in-progress')
    ? [{ type: 'StatusChanged', from, to: 'in-progress' }]
    : [];
};

const endStep = (task: Known, command: CommandOf<'finish-step' | 'drop-step'>): Decided => {
  const { state, common } = task;
  const { step } = command;
  const as = command.type === 'finish-step' ? 'done' : 'dropped';
  if (!isLeft(state, step)) {
    const known = state.over.find(({ id }) => id === step);
    // Of one that was over long ago it is not known any more how.
    const isSaid = step <= state.lastStep && (known === undefined || known.as === as);
    return isSaid ? ok([]) : err(refuseStep(task, step));
  }
  if (common.status === 'closed') return err(refuseOver(task));
  if (command.type === 'drop-step')
    return ok([{ type: 'StepDropped', step, ...(command.reason === undefined ? {} : { reason: command.reason }) }]);
  const { outcome, files } = command;
  return ok([
    ...begun(task),
    {
      type: 'StepFinished',
      step,
      ...(outcome === undefined ? {} : { outcome }),
      ...(files === undefined ? {} : { files }),
    },
  ]);
};

const placeStep = (task: Known, { step: id, before }: CommandOf<'place-step'>): Decided => {
  const { state, common } = task;
  const step = state.left.find((one) => one.id === id);
  if (step === undefined) return err(refuseStep(task, id));
  if (before !== null && !isLeft(state, before)) return err(refuseStep(task, before));
  const isThere = before === id || placed(state.left, step, before).every((one, at) => one.id === state.left[at]?.id);
  if (isThere) return ok([]);
  return common.status === 'closed' ? err(refuseOver(task)) : ok([{ type: 'StepPlaced', step: id, before }]);
};

const isLeft = ({ left }: TaskState, step: number): boolean => left.some(({ id }) => id === step);

const refuseStep = ({ state, common }: Known, step: number): Refusal => {
  const known = state.over.find(({ id }) => id === step);
  const list = `stint progress --once --session ${common.key}`;
  const candidates = state.left.slice(0, 20).map(({ id }) => String(id));
  if (known === undefined && step > state.lastStep)
    return refuse('not-found', `${common.key} has no step ${step}.`, {
      expected: 'the number of a step that is left',
      candidates,
      hint: list,
    });
  const again = known === undefined ? [] : [`stint step add ${shellWord(known.text)} --session ${common.key}`];
  return refuse('illegal-transition', `Step ${step} is ${known?.as === 'dropped' ? 'dropped' : 'done'} already.`, {
    expected: 'a step that is left',
    candidates,
    legal: common.status === 'closed' || common.pause !== null || again.length === 0 ? [list] : again,
    hint: list,
  });
};
