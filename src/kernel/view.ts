import type { JsonObject } from '../lib/canonical-json.ts';
import { oneLine, truncate } from '../lib/text.ts';
import type { Common, Pause } from './common.ts';
import { blockersOf, type Blocker } from './journal.ts';

/** What to do next, as a closed list of kinds, a sentence, and the command. */
export interface NextAction {
  readonly kind:
    | 'advance'
    | 'claim'
    | 'complete'
    | 'decide'
    | 'settle'
    | 'resume'
    | 'unblock'
    | 'finish'
    | 'reopen'
    | 'wait'
    | 'none';
  readonly text: string;
  /** The command to run as it stands, or null where nothing is to be done. */
  readonly command: string | null;
}

/** A file that is expected by now. It is looked for when somebody asks; its presence never counts as done. */
export interface Evidence {
  /** What it is, for a person. */
  readonly label: string;
  /** Relative to the session's own folder, `/` between parts. A folder where `atLeast` is set. */
  readonly path: string;
  /** The least number of files that the folder must hold. */
  readonly atLeast?: number;
  /** Lines of the files that are counted when somebody asks how far the work is. */
  readonly counts?: LineCount;
}

/** Which lines count, and what they are called. */
export interface LineCount {
  /** What is counted, for a person, in the plural: `findings`. */
  readonly label: string;
  /** A regular expression for one line, regardless of case; it must not take more than linear time. */
  readonly pattern: string;
}

/** How far the work is, step by step: made when somebody asks, never stored. */
export interface Progress {
  /** The work in order, at most 50 steps. */
  readonly steps: readonly Step[];
  readonly done: number;
  /** Nothing where the work has no steps yet. */
  readonly total: number;
  /** How far all of it is, where that is not the part of the steps that is done. */
  readonly overall?: Overall;
  /** The current round or run; null where a kind has none. */
  readonly cycle: {
    /** For a person: `round 2`. */
    readonly label: string;
    readonly startedAt: string | null;
    readonly completedAt: string | null;
  } | null;
  /** Earlier rounds with what came of them, at most 20, oldest first. */
  readonly earlier: readonly {
    readonly label: string;
    readonly completedAt: string | null;
    readonly summary: JsonObject;
  }[];
  /** What came of the current round, once it is complete. */
  readonly summary: JsonObject;
  /** The files that hold it, relative to the session's own folder. */
  readonly results: readonly { readonly label: string; readonly path: string }[];
}

/** How far the work is, and how that was worked out. */
export interface Overall {
  /** From 0 to 100; 100 only where nothing is left. Null where it cannot be told. */
  readonly percent: number | null;
  /** As part of a sentence, with the numbers: `3 of 8 steps done`. */
  readonly formula: string;
}

/** One step of the work. */
export interface Step {
  readonly name: string;
  /** What is done in it, for a person. */
  readonly label: string;
  /** `failed`: it was done in vain, and is not what is done now. */
  readonly state: 'done' | 'current' | 'pending' | 'skipped' | 'failed';
  readonly evidence: readonly Evidence[];
}

/** The progress of a kind that has no steps to tell of. */
export const noProgress: Progress = {
  steps: [],
  done: 0,
  total: 0,
  cycle: null,
  earlier: [],
  summary: {},
  results: [],
};

/** What a kind says of a session: a pure, bounded summary of its state, stored at every commit. */
export interface KindView {
  /** Where it stands, for lists: for example `reviews (4/8), round 1`. */
  readonly position: string;
  /** Where it stands, as every writing verb answers it. */
  readonly where: JsonObject;
  /** The original system's fields under their names, for `status` and `show`. */
  readonly fields: JsonObject;
  /** At most 20 steps that are left, the next one first. */
  readonly remaining: readonly string[];
  /** What must happen before the session may finish; empty when it may. */
  readonly missing: readonly string[];
  /** The next step of the work; the kernel adds what every kind has (finish, reopen). */
  readonly next: NextAction;
  readonly evidence: readonly Evidence[];
}

/** A kind's view with what the kernel knows of every session. */
export interface View extends KindView {
  readonly completeness: Completeness;
}

/** How complete a session is; the first three values are the original review workflow's. */
export type Completeness = 'complete' | 'closed_without_artifact' | 'open_no_artifact' | 'open_with_artifact';

/** Most steps that a view names. */
export const remainingLimit = 20;

/** Most steps and most earlier rounds that progress tells of. */
export const progressLimits = { steps: 50, earlier: 20 };

/**
 * The view of a session: the kind's, with completeness and next action as they are for every kind. What keeps the work from
 * going on is missing, whatever the kind says.
 */
export const viewOf = (common: Common, view: KindView): View => {
  const blockers = blockersOf(common);
  const missing = blockers.length === 0 ? view.missing : [...view.missing, ...blockerTexts(blockers)];
  const completeness: Completeness =
    common.status === 'active'
      ? missing.length === 0
        ? 'open_with_artifact'
        : 'open_no_artifact'
      : common.outcome === 'completed'
        ? 'complete'
        : 'closed_without_artifact';
  return {
    ...view,
    remaining: view.remaining.slice(0, remainingLimit),
    missing,
    completeness,
    next: nextAction(common, view, completeness),
  };
};

const nextAction = (common: Common, view: KindView, completeness: Completeness): NextAction => {
  if (common.pause !== null)
    return {
      kind: 'resume',
      text: `Paused ${pauseText(common.pause)}. Nothing new is begun before it is resumed.`,
      command: resumeCommand(common),
    };
  switch (completeness) {
    case 'open_no_artifact': {
      const [blocker] = view.missing.length === 0 ? blockersOf(common) : [];
      return blocker === undefined ? view.next : unblocking(common, blocker);
    }
    case 'open_with_artifact':
      return {
        kind: 'finish',
        text: 'Everything that is required is there: close the session.',
        command: `stint finish --session ${common.key}`,
      };
    case 'complete':
      return { kind: 'none', text: 'Finished. It goes on only under its own name.', command: null };
    case 'closed_without_artifact':
      return {
        kind: 'reopen',
        text: 'It was closed unfinished: it goes on where it was left when it is reopened.',
        command: reopenCommand(common),
      };
  }
};

const unblocking = (common: Common, blocker: Blocker): NextAction => ({
  kind: 'unblock',
  text: `Nothing is left but what keeps it from being finished: ${blockerText(blocker)}.`,
  command: unblockCommand(common, blocker.id),
});

/** Open blockers as a view names them among what is missing. */
export const blockerTexts = (blockers: readonly Blocker[]): readonly string[] => [
  ...blockers.slice(0, shownBlockers).map(blockerText),
  ...(blockers.length > shownBlockers ? [`${blockers.length - shownBlockers} more blockers`] : []),
];

/** Most blockers that a view names. */
const shownBlockers = 20;

/** A blocker in a line. */
const blockerText = ({ id, reason, needs }: Blocker): string => {
  const short = (text: string): string => truncate(oneLine(text), blockerLimit).replace(/\.$/, '');
  return `blocker ${id}: ${short(reason)}${needs === null ? '' : ` (needs ${short(needs)})`}`;
};

/** Most characters of a blocker's reason in a line. */
const blockerLimit = 200;

/** The command that clears a blocker. */
export const unblockCommand = ({ key }: Pick<Common, 'key'>, id: number): string =>
  `stint unblock ${id} --session ${key}`;

/** Since when, by whom and why a session is paused. */
export const pauseText = ({ at, actor, reason }: Pause): string =>
  `since ${at} by ${actor}${reason === null ? '' : `: ${oneLine(reason).replace(/\.$/, '')}`}`;

/** The command that ends a pause. */
export const resumeCommand = ({ key }: Pick<Common, 'key'>): string => `stint resume --session ${key}`;

/** The command with which a closed session goes on; one in the archive is taken out of it first. */
export const reopenCommand = ({ key, kind, name, archivedAt }: Common): string =>
  archivedAt === null ? `stint begin ${kind} --name ${name}` : `stint unarchive --session ${key}`;
