import type { Common } from '../../kernel/common.ts';
import { blockersOf } from '../../kernel/journal.ts';
import type { HandoffEdit, HandoffSide } from '../../kernel/kind.ts';
import { statuses } from '../../formats/handoff/statuses.ts';
import type { TaskCommand } from './events.ts';
import { currentStep, statusOf, type TaskState } from './state.ts';

/** A task in the documents of a hand-off: they may be written in, and it becomes what was written. */
export const handoff: HandoffSide<TaskState> = {
  status: statusOf,
  owner: ({ owner }, common) => (common.outcome === 'completed' ? null : owner),
  takes: (state, common, edit) => [...stepCommands(state, edit), ...moveCommands(state, common, edit)],
};

/** What nobody has said, in a sentence for the journal. */
const notSaid = 'It was not said what blocks it';

const moveCommands = (
  state: TaskState,
  common: Common,
  { status, owner, override }: HandoffEdit,
): readonly TaskCommand[] => {
  if (status === undefined && owner === undefined) return [];
  const to = statuses.find((one) => one === status) ?? statusOf(state, common);
  const isUnexplained = to === 'blocked' && blockersOf(common).length === 0;
  return [
    {
      type: 'move-task',
      to,
      ...(owner === undefined ? {} : { owner }),
      ...(isUnexplained ? { blocker: notSaid } : {}),
      ...(override === undefined ? {} : { override }),
    },
  ];
};

/** Steps that came are added, those that went are done or dropped, and those that are left are put in their order. */
const stepCommands = (state: TaskState, { remaining, lastCompleted, current }: HandoffEdit): readonly TaskCommand[] => {
  const idByText = new Map(state.left.map(({ id, text }) => [text, id]));
  const commands: TaskCommand[] = [];
  const now = new Set(remaining?.now);
  const gone = new Set(remaining?.was.filter((text) => !now.has(text)));
  const isDone = (text: string): boolean => text === lastCompleted;
  for (const { id, text } of state.left) {
    if (isDone(text) && !now.has(text)) commands.push({ type: 'finish-step', step: id });
    else if (gone.has(text) && text !== current)
      commands.push({ type: 'drop-step', step: id, reason: 'taken out of the document' });
  }
  let { lastStep } = state;
  for (const text of now) {
    if (idByText.has(text)) continue;
    lastStep += 1;
    idByText.set(text, lastStep);
    commands.push({ type: 'add-step', text });
  }
  if (remaining !== undefined) commands.push(...orderCommands(state, [...now], idByText));
  const taken = current === undefined ? undefined : idByText.get(current);
  if (taken !== undefined && currentStep(state)?.id !== taken) commands.push({ type: 'take-step', step: taken });
  return commands;
};

/** Puts the steps that are named in the order in which they are named, behind those that are not. */
const orderCommands = (
  { left }: TaskState,
  texts: readonly string[],
  idByText: ReadonlyMap<string, number>,
): readonly TaskCommand[] => {
  const ids = texts.flatMap((text) => idByText.get(text) ?? []);
  const before = left.map(({ id }) => id).filter((id) => ids.includes(id));
  const isInOrder = before.every((id, at) => id === ids[at]);
  return isInOrder ? [] : ids.map((step) => ({ type: 'place-step', step, before: null }));
};
