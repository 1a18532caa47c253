import type { JsonObject } from '../lib/canonical-json.ts';
import { ok, type Result } from '../lib/result.ts';
import { truncate } from '../lib/text.ts';
import type { Outcome } from './common.ts';
import { kernelEvent, type DecidedEvent } from './event.ts';
import { mostCharacters } from './journal.ts';
import type { KindCommand } from './kind.ts';
import { decideCommand } from './lifecycle.ts';
import type { Refusal } from './refusal.ts';
import { appendEvents, isOpened, type Session } from './session.ts';

/** Sessions that another program has left in files, taken over whole. */

/** A session as another program has left it; times are those of its file. */
export interface LeftSession {
  /** What tells it from all others, in the words of its session. */
  readonly source: string;
  /** What it is opened with. */
  readonly opening: JsonObject;
  /** What its kind is asked to take. */
  readonly command: KindCommand;
  readonly created: string;
  readonly updated: string;
  /** What was written down beside the work, in its order. */
  readonly entries: readonly LeftEntry[];
  /** Why it is paused; null where it is not, or where nobody says. */
  readonly paused: { readonly reason: string | null } | null;
  readonly closed: { readonly outcome: Outcome; readonly reason: string | null; readonly at: string } | null;
  readonly isArchived: boolean;
  /** Whether somebody was at work on it. Nobody is known to be any more. */
  readonly isInterrupted: boolean;
  readonly problems: readonly string[];
  /** What of it is or may be lost, as sentences; empty where it is whole. */
  readonly lost: readonly string[];
  /** The other files of its folder. */
  readonly files: readonly string[];
}

/** An entry of the journal. */
export interface LeftEntry {
  readonly at: string;
  readonly entry: 'decision' | 'error';
  readonly text: string;
  readonly rationale?: string;
}

/** What becomes of a session for which one of another program was found. */
export interface TakenOver {
  readonly result: 'imported' | 'updated' | 'unchanged' | 'left';
  /** Why it was left alone. */
  readonly why: string | null;
  readonly events: readonly DecidedEvent[];
}

/**
 * Takes over a session as another program has left it: whole, or, where an earlier version of it was taken and nothing has
 * happened to it here since, anew: what is whole instead of what is not, whatever their times, and never the other way. Each
 * event happened when the file says so.
 */
export const decideTakeOver = (session: Session, left: LeftSession): Result<TakenOver, Refusal> => {
  const leave = (why: string): Result<TakenOver, Refusal> => ok({ result: 'left', why, events: [] });
  if (isOpened(session)) {
    const { imported, revision } = session.common;
    if (imported?.source !== left.source) return leave('A session of this name was begun here.');
    const asked = decideCommand(session, left.command);
    if (asked.ok && asked.value.length === 0) return ok({ result: 'unchanged', why: null, events: [] });
    if (imported.revision !== revision) return leave('It has gone on here since it was taken over.');
    if (left.lost.length > 0)
      return leave('Something of this file is lost, and what was taken over of the session before stays.');
    if (imported.lost === undefined && takenOf(left) < imported.taken)
      return leave('A newer version of it was taken over.');
  }
  const events = eventsOf(session, left);
  return events.ok
    ? ok({ result: isOpened(session) ? 'updated' : 'imported', why: null, events: events.value })
    : events;
};

/** What tells how far a file reaches. */
const takenOf = ({ updated }: LeftSession): number => Date.parse(updated);

const eventsOf = (session: Session, left: LeftSession): Result<readonly DecidedEvent[], Refusal> => {
  const { source, opening, command, created, updated, paused, closed, isArchived, problems, lost, files } = left;
  const events: DecidedEvent[] = [];
  let after = session;
  const take = (decided: readonly DecidedEvent[], time: string): void => {
    const at = instantOf(time);
    const timed = decided.map((event) => ({ ...event, happened: at }));
    events.push(...timed);
    if (timed.length > 0) after = appendEvents(after, timed, { now: at, actor: '', place: '', cause: '' }).session;
  };
  if (isOpened(session)) {
    const { archivedAt, status, outcome, pause } = session.common;
    if (archivedAt !== null) take([kernelEvent('SessionUnarchived', {})], updated);
    if (status === 'closed') take([kernelEvent('SessionReopened', { after: outcome })], updated);
    if (pause !== null) take([kernelEvent('SessionResumed', {})], updated);
  } else take([kernelEvent('SessionOpened', opening)], created);
  for (const { at, ...entry } of newEntries(session, left.entries)) take([kernelEvent('Noted', entry)], at);
  const decided = decideCommand(after, command);
  if (!decided.ok) return decided;
  take(decided.value, updated);
  if (paused !== null && closed === null)
    take([kernelEvent('SessionPaused', paused.reason === null ? {} : { reason: paused.reason })], updated);
  if (closed !== null) {
    const { outcome, reason, at } = closed;
    take([kernelEvent('SessionClosed', { outcome, ...(reason === null ? {} : { reason }) })], at);
    if (isArchived) take([kernelEvent('SessionArchived', { outcome })], at);
  }
  events.push(
    kernelEvent('Imported', {
      source,
      taken: takenOf(left),
      // Nobody is known to work on it, and that is when somebody was heard of.
      ...(left.isInterrupted ? { interrupted_at: instantOf(updated) } : {}),
      ...(problems.length === 0 ? {} : { problems }),
      ...(lost.length === 0 ? {} : { lost }),
      ...(files.length === 0 ? {} : { files }),
    }),
  );
  return ok(events);
};

/** What was written down behind the last entry that was taken over before; such lists only grow. */
const newEntries = (session: Session, entries: readonly LeftEntry[]): readonly LeftEntry[] => {
  const recent = isOpened(session) ? session.common.journal?.recent : undefined;
  const fresh = (['decision', 'error'] as const).flatMap((type) => {
    const own = entries.filter(({ entry }) => entry === type);
    const known = new Set((recent?.[type] ?? []).map(({ text }) => text));
    return own.slice(own.findLastIndex(({ text }) => known.has(truncate(text, mostCharacters))) + 1);
  });
  return fresh.toSorted((some, other) => Date.parse(some.at) - Date.parse(other.at));
};

/** A time of a file as events have it, with milliseconds. */
const instantOf = (time: string): string => time.replace(/(?<!\.\d{3})Z$/, '.000Z');
