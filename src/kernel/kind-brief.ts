import type { OpenedSession } from './session.ts';
import type { Overall, Progress, Step, View } from './view.ts';

/** What only a kind knows of a session, for whoever goes on with it. Texts may be of any length: a brief shortens them. */
export interface KindBrief {
  /** What the session is to come to, where the kind knows that and nobody said it when it was opened. */
  readonly goal: string | null;
  /** What is looked at now, where somebody said so. */
  readonly focus: string | null;
  /** The root of the checkout that it was begun in, where the kind keeps that. */
  readonly root: string | null;
  /** What is done; where not all of it is named, the newest of it. The newest comes last. */
  readonly done: BriefSteps;
  /** What somebody is at, or what is to be done now. */
  readonly current: BriefSteps;
  /** What was interrupted, and of which nobody knows what it has done. */
  readonly inDoubt: BriefSteps;
  /** What is left behind that, the next one first. */
  readonly remaining: BriefSteps;
  readonly progress: Overall;
  /** Files to read first. */
  readonly files: readonly BriefFile[];
  /** Commands to start with, beside that of the next action. */
  readonly commands: readonly string[];
  /** What was used up of a budget, a line each: tokens, and when they were last compressed. */
  readonly usage: readonly string[];
  /** What could not be restored of it, a sentence each. */
  readonly lost: readonly string[];
}

/** Steps of a brief, and how many there are in all. */
export interface BriefSteps {
  readonly steps: readonly BriefStep[];
  readonly total: number;
}

/** One step as a brief tells it: `id: text (60%)`, `text (note)`. */
export interface BriefStep {
  /** What verbs call it; without one its text stands alone. */
  readonly id?: string;
  readonly text: string;
  /** What came of it, or what is to be known of it. */
  readonly note?: string;
  /** How far it is, from 0 to 100, where that is known. */
  readonly percent?: number;
  /** Who holds it, or who did it, and since when, or when. */
  readonly by?: string;
  readonly at?: string;
  /** Whether it is over without being done. */
  readonly wasSkipped?: true;
}

/** A file to read first. */
export interface BriefFile {
  /** Relative to the checkout's root, `/` between parts. */
  readonly path: string;
  /** What it is, for a person. */
  readonly label?: string;
}

/** Most steps of each sort that a kind is asked for. */
export const briefSteps = 50;

/**
 * What a kind says for a brief. What it does not say itself is made of its view, its progress and the steps that it hands out:
 * of those only what was claimed is under way, and what is in doubt is neither that nor left to be done.
 */
export const kindBriefOf = (
  { folded, common, samples }: Pick<OpenedSession, 'folded' | 'common' | 'samples'>,
  view: View,
  folder: string,
): KindBrief => ({
  ...fromProgress({ folded, common, samples }, view, folder),
  ...folded.brief(common, samples),
});

const fromProgress = (
  { folded, common, samples }: Pick<OpenedSession, 'folded' | 'common' | 'samples'>,
  view: View,
  folder: string,
): KindBrief => {
  const progress = folded.progress(common, samples);
  const { steps, done, total, earlier, cycle, results } = progress;
  const isOpen = common.status === 'active';
  const running = isOpen ? (folded.steps?.running() ?? []) : [];
  const doubtful = folded.steps?.inDoubt() ?? [];
  const labels = new Map(steps.map(({ name, label }) => [name, label]));
  const atWork: readonly BriefStep[] =
    folded.steps === undefined
      ? steps.filter(({ state }) => isOpen && state === 'current').map(stepOf)
      : running.map(({ id, claim }) => ({
          id,
          text: labels.get(id) ?? id,
          by: claim.holder.actor,
          at: claim.claimedAt,
        }));
  const taken = new Set([...atWork.flatMap(({ id }) => id ?? []), ...doubtful]);
  const left =
    total === 0
      ? view.remaining.map((text) => ({ text }))
      : steps.filter(({ name, state }) => state !== 'done' && state !== 'skipped' && !taken.has(name)).map(stepOf);
  const finished = steps.filter(({ state }) => state === 'done' || state === 'skipped').map(stepOf);
  const before = earlier.map(({ label, completedAt, summary }) => ({
    text: label,
    note: [completedAt === null ? 'left unfinished' : 'completed', ...summaryTexts(summary)].join(', '),
    ...(completedAt === null ? {} : { at: completedAt }),
  }));
  return {
    goal: null,
    focus: null,
    root: null,
    done: { steps: [...before, ...finished].slice(-briefSteps), total: before.length + done },
    current: { steps: atWork.slice(0, briefSteps), total: atWork.length },
    inDoubt: {
      steps: doubtful.slice(0, briefSteps).map((id) => ({ id, text: labels.get(id) ?? id })),
      total: doubtful.length,
    },
    remaining: {
      steps: left.slice(0, briefSteps),
      total: total === 0 ? left.length : Math.max(left.length, total - done - taken.size),
    },
    progress: progress.overall ?? overallOf(progress, cycle?.label),
    files: [...results, ...view.evidence].map(({ label, path }) => ({ label, path: `${folder}/${path}` })),
    commands: [],
    usage: [],
    lost: [],
  };
};

const stepOf = ({ name, label, state }: Step): BriefStep => ({
  ...(name === label ? {} : { id: name }),
  text: label,
  ...(state === 'skipped' || state === 'failed' ? { note: state } : {}),
  ...(state === 'skipped' ? { wasSkipped: true as const } : {}),
});

/** The short values of what came of a round. */
const summaryTexts = (summary: Progress['summary']): readonly string[] =>
  Object.entries(summary)
    .flatMap(([key, value]) =>
      typeof value === 'number' || typeof value === 'string' ? `${key.replaceAll('_', ' ')} ${value}` : [],
    )
    .slice(0, 6);

const overallOf = ({ done, total }: Progress, cycle: string | undefined): Overall => ({
  // What is not done does not look done.
  percent: total === 0 ? null : Math.floor((100 * done) / total),
  formula: `${done} of ${total} steps done${cycle === undefined ? '' : ` in ${cycle}`}`,
});
