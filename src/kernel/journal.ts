import type { Json, JsonObject } from '../lib/canonical-json.ts';
import { truncate, truncateStart } from '../lib/text.ts';
import type { StoredEvent } from './event.ts';

/** What is written down beside the work: entries that move neither state nor revision. */

/** What an entry of the journal may be. */
export const entryTypes = [
  'remark',
  'decision',
  'assumption',
  'file',
  'command',
  'validation',
  'artifact',
  'error',
] as const;
export type EntryType = (typeof entryTypes)[number];

/** An entry of the journal, as much of it as is kept with its session; all of it stands in the log. */
export interface Entry {
  /** The number of its event: `--supersedes` and `unblock` name it by that. */
  readonly id: number;
  readonly type: EntryType;
  readonly at: string;
  readonly actor: string;
  readonly text: string;
  /** Why it was decided, or assumed. */
  readonly rationale?: string;
  /** What else might have been decided. */
  readonly alternatives?: readonly string[];
  /** The file that it is about, as it was named. */
  readonly path?: string;
  /** What that file was when it was noted; `null`: there was none. */
  readonly file?: { readonly sha256: string; readonly size: number } | null;
  readonly exitCode?: number;
  /** SHA-256 of the output that came with it, and how it ended. */
  readonly output?: { readonly sha256: string; readonly size: number; readonly tail: string };
  /** Whether stint ran it itself: else it is what somebody said. */
  readonly wasRun?: true;
  /** Whether it was stopped because it took too long. */
  readonly timedOut?: true;
  /** The entry that it takes the place of. */
  readonly supersedes?: number;
}

/** Whether an entry is about a file, which its text names where nothing else does. */
export const namesFile = (type: EntryType): boolean => type === 'file' || type === 'artifact';

/** Something that keeps the work from going on. */
export interface Blocker {
  /** The number of its event. */
  readonly id: number;
  readonly at: string;
  readonly actor: string;
  readonly reason: string;
  /** What it would take to go on. */
  readonly needs: string | null;
}

/** What is kept of the journal with its session: counts of all, and the newest of each type. */
export interface Journal {
  /** The number of the newest event of the journal. */
  readonly newest: number;
  /** How many entries of each type were ever written; `blocker`: how often the work was blocked. */
  readonly counts: Readonly<Partial<Record<EntryType | 'blocker', number>>>;
  /** The newest entries of each type, the oldest first. Decisions and assumptions are those that hold: none that was superseded. */
  readonly recent: Readonly<Partial<Record<EntryType, readonly Entry[]>>>;
  /** Those that are not cleared, the oldest first. */
  readonly blockers: readonly Blocker[];
}

/** Before anything was written. */
export const emptyJournal: Journal = { newest: 0, counts: {}, recent: {}, blockers: [] };

/** How many entries of each type are kept with a session. */
export const recentLimits: Readonly<Record<EntryType, number>> = {
  remark: 5,
  decision: 30,
  assumption: 15,
  file: 15,
  command: 8,
  validation: 4,
  artifact: 10,
  error: 15,
};

/** Most characters that are kept of a text with its session; of what goes with it less. */
export const mostCharacters = 1000;

/** Most alternatives that are kept with a session. */
const mostAlternatives = 10;

/** Most blockers that may be open at once. */
export const mostBlockers = 100;

/** Folds an event of the journal: `Noted`, `BlockerRaised` or `BlockerCleared`. */
export const foldJournal = (before: Journal | undefined, event: StoredEvent): Journal => {
  const { seq: id, data } = event;
  const journal = { ...(before ?? emptyJournal), newest: id };
  if (event.type === 'BlockerCleared')
    return { ...journal, blockers: journal.blockers.filter((blocker) => blocker.id !== data['blocker']) };
  if (event.type === 'BlockerRaised') {
    const blocker = blockerOf(event, mostCharacters);
    return { ...journal, counts: counted(journal, 'blocker'), blockers: [...journal.blockers, blocker] };
  }
  const entry = entryOf(event, mostCharacters);
  const standing = entry.supersedes === undefined ? journal.recent : without(journal.recent, entry.supersedes);
  const recent = [...(standing[entry.type] ?? []), entry].slice(-recentLimits[entry.type]);
  return { ...journal, counts: counted(journal, entry.type), recent: { ...standing, [entry.type]: recent } };
};

/** What holds without an entry that was superseded: a decision may take the place of an assumption. */
const without = (recent: Journal['recent'], id: number): Journal['recent'] =>
  Object.fromEntries(Object.entries(recent).map(([type, entries]) => [type, entries.filter((one) => one.id !== id)]));

const counted = ({ counts }: Journal, type: EntryType | 'blocker'): Journal['counts'] => ({
  ...counts,
  [type]: (counts[type] ?? 0) + 1,
});

/** The entry that an event tells of: whole, or cut where a limit says how many characters of its text are wanted. */
export const entryOf = ({ seq, at, actor, data }: StoredEvent, limit = Number.POSITIVE_INFINITY): Entry => {
  const { exit_code: exitCode, file, output, supersedes } = data;
  const alternatives: readonly Json[] | undefined = Array.isArray(data['alternatives'])
    ? data['alternatives']
    : undefined;
  const text = kept(data['text'], limit);
  const rationale = kept(data['rationale'], limit / 2);
  const path = kept(data['path'], limit);
  return {
    id: seq,
    type: entryTypes.find((type) => type === data['entry']) ?? 'remark',
    at,
    actor,
    text: text ?? '',
    ...(rationale === undefined ? {} : { rationale }),
    ...(alternatives === undefined
      ? {}
      : {
          alternatives: alternatives
            .slice(0, limit === Number.POSITIVE_INFINITY ? undefined : mostAlternatives)
            .map((one) => kept(one, limit / 5) ?? ''),
        }),
    ...(path === undefined ? {} : { path }),
    ...(file === undefined ? {} : { file: file as NonNullable<Entry['file']> | null }),
    ...(typeof exitCode === 'number' ? { exitCode } : {}),
    ...(output === undefined ? {} : { output: withTail(output as NonNullable<Entry['output']>, limit / 2) }),
    ...(data['was_run'] === true ? { wasRun: true as const } : {}),
    ...(data['timed_out'] === true ? { timedOut: true as const } : {}),
    ...(typeof supersedes === 'number' ? { supersedes } : {}),
  };
};

/** The blocker that an event tells of, whole or cut as an entry is. */
export const blockerOf = ({ seq: id, at, actor, data }: StoredEvent, limit = Number.POSITIVE_INFINITY): Blocker => ({
  id,
  at,
  actor,
  reason: kept(data['reason'], limit) ?? '',
  needs: kept(data['needs'], limit) ?? null,
});

const kept = (value: Json | undefined, limit: number): string | undefined =>
  typeof value === 'string' ? truncate(value, limit) : undefined;

/** How an output ended is told by its last characters. */
const withTail = (output: NonNullable<Entry['output']>, limit: number): NonNullable<Entry['output']> =>
  output.tail.length <= limit ? output : { ...output, tail: truncateStart(output.tail, limit) };

/** How many entries a journal holds of a type. */
export const countIn = (journal: Journal | undefined, type: EntryType | 'blocker'): number =>
  journal?.counts[type] ?? 0;

/** The blockers that are open. */
export const blockersOf = ({ journal }: { readonly journal?: Journal | undefined }): readonly Blocker[] =>
  journal?.blockers ?? [];

/** An entry as it is shown. */
export const entryToJson = ({ exitCode, wasRun, timedOut, ...entry }: Entry): JsonObject => ({
  ...entry,
  ...(exitCode === undefined ? {} : { exit_code: exitCode }),
  ...(wasRun === undefined ? {} : { was_run: true }),
  ...(timedOut === undefined ? {} : { timed_out: true }),
});
