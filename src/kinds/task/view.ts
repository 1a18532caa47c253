import type { Common } from '../../kernel/common.ts';
import { blockersOf } from '../../kernel/journal.ts';
import { briefSteps, type BriefStep, type KindBrief } from '../../kernel/kind-brief.ts';
import {
  progressLimits,
  remainingLimit,
  unblockCommand,
  type KindView,
  type NextAction,
  type Progress,
  type Step,
} from '../../kernel/view.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { oneLine, truncate } from '../../lib/text.ts';
import { leftText, movesFrom } from './rules.ts';
import { currentStep, standsAt, statusOf, type LeftStep, type OverStep, type TaskState } from './state.ts';
import type { Status } from '../../formats/handoff/statuses.ts';
import { wayToDone } from './workflow.ts';

/** Most characters of a text in a view, and in a line of one. */
const most = { characters: 300, line: 60 };

/** What a task says of itself. */
export const viewOfTask = (state: TaskState, common: Common): KindView => {
  const status = statusOf(state, common);
  const { left, counts } = state;
  return {
    position: positionOf(state, common, status),
    where: {
      task_status: status,
      next_owner: ownerOf(state, status),
      steps: { done: counts.done, left: left.length },
    },
    fields: fieldsOf(state, common, status),
    remaining: left.slice(0, remainingLimit).map(({ id, text }) => `${id}: ${truncate(text, most.characters)}`),
    missing: missingOf(state, common, status),
    next: nextOf(state, common, status),
    evidence: [],
  };
};

/** Who is to act next: nobody once it is done. */
const ownerOf = ({ owner }: TaskState, status: Status): string | null => (status === 'done' ? null : owner);

const positionOf = (state: TaskState, common: Common, status: Status): string => {
  const { left, counts } = state;
  const [blocker] = status === 'blocked' ? blockersOf(common) : [];
  const what = blocker?.reason ?? (common.status === 'active' ? currentStep(state)?.text : undefined);
  const total = counts.done + left.length;
  const owner = ownerOf(state, status);
  return [
    status,
    ...(what === undefined ? [] : [`: ${truncate(oneLine(what), most.line)}`]),
    ...(total === 0 ? [] : [` (${counts.done}/${total} steps done)`]),
    ...(owner === null ? [] : [`, next: ${truncate(owner, most.line)}`]),
  ].join('');
};

/** The status that comes right before done, on the shortest way there. */
const lastBeforeDone = ({ transitions }: TaskState, from: Status): Status =>
  wayToDone(transitions, from)?.at(-2) ?? from;

/** Whether nothing but its steps and blockers keeps a task from being done. */
const isNearDone = (state: TaskState, common: Common): boolean => {
  const stands = standsAt(state, common);
  return stands === 'done' || common.outcome === 'completed' || state.transitions[stands].includes('done');
};

const missingOf = (state: TaskState, common: Common, status: Status): readonly string[] => [
  ...(isNearDone(state, common)
    ? []
    : [`it is ${status}, and has to be ${lastBeforeDone(state, standsAt(state, common))} before it is done`]),
  ...(state.left.length === 0 || status === 'done' ? [] : [leftText(state)]),
];

const nextOf = (state: TaskState, common: Common, status: Status): NextAction => {
  const session = `--session ${common.key}`;
  const [blocker] = blockersOf(common);
  if (status === 'blocked' && blocker !== undefined)
    return {
      kind: 'unblock',
      text: `It is blocked: ${truncate(oneLine(blocker.reason), 100).replace(/\.$/, '')}.`,
      command: unblockCommand(common, blocker.id),
    };
  const current = currentStep(state);
  if (current !== undefined)
    return {
      kind: 'complete',
      text: `Do step ${current.id}: ${truncate(oneLine(current.text), 100)}. Then say that it is done.`,
      command: `stint step done ${current.id} ${session}`,
    };
  const [first] = state.left;
  if (first !== undefined)
    return {
      kind: 'advance',
      text: `Begin step ${first.id}: ${truncate(oneLine(first.text), 100)}.`,
      command: `stint step start ${first.id} ${session}`,
    };
  const [next] = wayToDone(state.transitions, standsAt(state, common)) ?? [];
  return {
    kind: 'advance',
    text:
      status === 'not-started'
        ? 'Begin the work, and add the steps that it takes.'
        : `No step is left: say that it is ${next ?? 'done'}, or add what is left to be done.`,
    command: `stint task move ${next ?? 'done'} ${session}`,
  };
};

const fieldsOf = (state: TaskState, common: Common, status: Status): JsonObject => {
  const { left, counts, over, overrides, transitions } = state;
  const current = currentStep(state);
  const last = over.findLast(({ as }) => as === 'done');
  return {
    task_status: status,
    next_owner: ownerOf(state, status),
    last_completed_step: last === undefined ? null : truncate(last.text, most.characters),
    current_step: current === undefined ? null : stepToJson(current),
    remaining_steps: left.slice(0, remainingLimit).map(stepToJson),
    step_counts: { done: counts.done, dropped: counts.dropped, left: left.length },
    may_become: [...transitions[status]],
    moves: common.status === 'active' ? [...movesFrom({ state, common })] : [],
    overrides: overrides.map((one) => ({ ...one, reason: truncate(one.reason, most.characters) })),
  };
};

const stepToJson = ({ id, text }: LeftStep): JsonObject => ({ id, text: truncate(text, most.characters) });

/** How far a task is: its steps in their order, and the status that comes before done. */
export const progressOfTask = (state: TaskState, common: Common): Progress => {
  const { left, over, counts } = state;
  const isOpen = common.status === 'active';
  const current = isOpen ? (currentStep(state) ?? left[0])?.id : undefined;
  const isNear = isNearDone(state, common);
  const before = lastBeforeDone(state, standsAt(state, common));
  const isFree = blockersOf(common).length === 0;
  const label = (text: string, id: number): string => truncate(oneLine(text), 100) || String(id);
  const steps: readonly Step[] = [
    ...over.map(({ id, text, as }) => ({
      name: String(id),
      label: label(text, id),
      state: as === 'done' ? ('done' as const) : ('skipped' as const),
      evidence: [],
    })),
    ...left.map(({ id, text }) => ({
      name: String(id),
      label: label(text, id),
      state: id === current ? ('current' as const) : ('pending' as const),
      evidence: [],
    })),
    {
      name: before,
      label: isNear && !isFree ? 'Clear what blocks it' : `Bring it to ${before}`,
      state: isNear && isFree ? 'done' : isOpen && current === undefined ? 'current' : 'pending',
      evidence: [],
    },
  ];
  const from = Math.max(0, Math.min(over.length - 10, steps.length - progressLimits.steps));
  const ended = counts.done + counts.dropped;
  return {
    steps: steps.slice(from, from + progressLimits.steps),
    done: ended + (isNear && isFree ? 1 : 0),
    total: ended + left.length + 1,
    cycle: null,
    earlier: [],
    summary: {},
    results: [],
  };
};

/** What whoever goes on with a task is to know beside what every brief says. */
export const briefOfTask = (state: TaskState, common: Common): Partial<KindBrief> => {
  const { left, over, counts } = state;
  const isOpen = common.status === 'active';
  const current = isOpen ? currentStep(state) : undefined;
  const others = left.filter((step) => step !== current);
  const total = counts.done + left.length;
  const percent = total === 0 ? null : Math.floor((100 * counts.done) / total);
  const status = statusOf(state, common);
  const owner = ownerOf(state, status);
  return {
    done: { steps: over.map(doneStep), total: counts.done + counts.dropped },
    current: current === undefined ? { steps: [], total: 0 } : { steps: [leftStep(current)], total: 1 },
    remaining: { steps: others.slice(0, briefSteps).map(leftStep), total: others.length },
    // What is not done does not look done.
    progress: {
      percent: percent === 100 && status !== 'done' ? 99 : percent,
      formula: `${counts.done} of ${total} steps done; it is ${status}${owner === null ? '' : `, and ${owner} is to act next`}`,
    },
    files: filesOf(over),
  };
};

const doneStep = ({ id, text, as, at, actor, note }: OverStep): BriefStep => {
  const told = as === 'dropped' ? `dropped${note === null ? '' : `: ${note}`}` : note;
  return {
    id: String(id),
    text,
    at,
    by: actor,
    ...(told === null ? {} : { note: told }),
    ...(as === 'dropped' ? { wasSkipped: true as const } : {}),
  };
};

const leftStep = ({ id, text }: LeftStep): BriefStep => ({ id: String(id), text });

/** What steps have left, the newest first, each once. */
const filesOf = (over: readonly OverStep[]): KindBrief['files'] => {
  const labelByPath = new Map<string, string>();
  for (const { id, files } of over.toReversed())
    for (const path of files) if (!labelByPath.has(path) && labelByPath.size < 20) labelByPath.set(path, `step ${id}`);
  return [...labelByPath].map(([path, label]) => ({ path, label }));
};
