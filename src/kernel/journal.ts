import type { Json, JsonObject } from '../lib/canonical-json.ts';
import { truncate } from '../lib/text.ts';
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
  /** What that file was when it was noted; `null`: there was none, or it could not be read. */
  readonly file?: { readonly sha256: string; readonly size: number } | null;
  readonly exitCode?: number;
  /** SHA-256 of the output that came with it, and how it ended. */
  readonly output?: { readonly sha256: string; readonly size: number; readonly tail: string };
  /** Whether stint ran it itself: else it is what somebody said. */
  readonly wasRun?: true;
  /** The entry that it takes the place of. */
  readonly supersedes?: number;
}

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

/** Most characters that are kept of a text with its session. */
export const mostCharacters = 1000;

/** Most blockers that may be open at once. */
export const mostBlockers = 100;

/** Folds an event of the journal: `Noted`, `BlockerRaised` or `BlockerCleared`. */
export const foldJournal = (before: Journal | undefined, event: StoredEvent): Journal => {
  const { seq: id, at, actor, data } = event;
  const journal = { ...(before ?? emptyJournal), newest: id };
  if (event.type === 'BlockerCleared')
    return { ...journal, blockers: journal.blockers.filter((blocker) => blocker.id !== data['blocker']) };
  if (event.type === 'BlockerRaised') {
    const blocker = { id, at, actor, reason: kept(data['reason']) ?? '', needs: kept(data['needs']) ?? null };
    return { ...journal, counts: counted(journal, 'blocker'), blockers: [...journal.blockers, blocker] };
  }
  const entry = entryOf(event);
  const { supersedes } = entry;
  const recent = [...(journal.recent[entry.type] ?? []).filter((one) => one.id !== supersedes), entry];
  return {
    ...journal,
    counts: counted(journal, entry.type),
    recent: { ...journal.recent, [entry.type]: recent.slice(-recentLimits[entry.type]) },
  };
};

const counted = ({ counts }: Journal, type: EntryType | 'blocker'): Journal['counts'] => ({
  ...counts,
  [type]: (counts[type] ?? 0) + 1,
});

/** The entry that an event tells of, whole unless `limit` says how many characters are kept of a text. */
export const entryOf = ({ seq, at, actor, data }: StoredEvent, limit = mostCharacters): Entry => {
  const { alternatives, exit_code: exitCode, file, output, supersedes } = data;
  const text = (value: Json | undefined) => kept(value, limit);
  const rationale = text(data['rationale']);
  const path = text(data['path']);
  return {
    id: seq,
    type: entryTypes.find((type) => type === data['entry']) ?? 'remark',
    at,
    actor,
    text: text(data['text']) ?? '',
    ...(rationale === undefined ? {} : { rationale }),
    ...(Array.isArray(alternatives) ? { alternatives: alternatives.slice(0, 10).map((one) => text(one) ?? '') } : {}),
    ...(path === undefined ? {} : { path }),
    ...(file === undefined ? {} : { file: file as NonNullable<Entry['file']> | null }),
    ...(typeof exitCode === 'number' ? { exitCode } : {}),
    ...(output === undefined ? {} : { output: output as NonNullable<Entry['output']> }),
    ...(data['was_run'] === true ? { wasRun: true as const } : {}),
    ...(typeof supersedes === 'number' ? { supersedes } : {}),
  };
};

const kept = (value: Json | undefined, limit = mostCharacters): string | undefined =>
  typeof value === 'string' ? truncate(value, limit) : undefined;

/** How many entries a journal holds of a type. */
export const countIn = (journal: Journal | undefined, type: EntryType | 'blocker'): number =>
  journal?.counts[type] ?? 0;

/** An entry as it is shown. */
export const entryToJson = ({ id, type, at, actor, text, exitCode, wasRun, ...more }: Entry): JsonObject => ({
  id,
  type,
  at,
  actor,
  text,
  ...more,
  ...(exitCode === undefined ? {} : { exit_code: exitCode }),
  ...(wasRun === undefined ? {} : { was_run: true }),
});
