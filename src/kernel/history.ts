import { err, ok, type Result } from '../lib/result.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import type { Outcome } from './common.ts';
import { kernelEvent, type DecidedEvent } from './event.ts';
import { decideCommand } from './lifecycle.ts';
import type { Refusal } from './refusal.ts';
import { appendEvents, isOpened, type Session } from './session.ts';

/** Something that happened to a session in another system. */
export type HistoryItem = { readonly at: string } & (
  | Moved
  | { readonly what: 'closed'; readonly outcome: Outcome; readonly reason: string | null }
  | { readonly what: 'reopened' }
  | { readonly what: 'remark'; readonly text: string }
  /** What a process did: an event of the kernel as it would have been decided here. */
  | { readonly what: 'process'; readonly event: DecidedEvent }
);

/** What moved the work itself; the kind says what it means. */
export type Moved =
  | { readonly what: 'round'; readonly round: number }
  | { readonly what: 'phase'; readonly round: number; readonly phase: string }
  | {
      readonly what: 'completed';
      readonly round: number;
      readonly summary: JsonObject;
      /** What the round found, where the other system's file says it and agrees. */
      readonly payload?: JsonObject;
    };

/** Where a history comes from, and how far it reaches. */
export interface HistorySource {
  readonly source: string;
  /** The number of its newest event there. */
  readonly taken: number;
  readonly branch: string | null;
  readonly worktree: string;
  /** What of it could not be taken as it was, as sentences. */
  readonly problems: readonly string[];
  /** Files that were found and say nothing about the state, relative to the session's folder. */
  readonly files: readonly string[];
}

/**
 * Takes over what happened in another system, item by item in the order of the times; each is decided on what the ones
 * before it have led to, so that nothing gets in that this program could not fold. The event `Imported` at the end says
 * where it came from.
 */
export const decideImport = (
  session: Session,
  items: readonly HistoryItem[],
  from: HistorySource,
): Result<readonly DecidedEvent[], Refusal> => {
  const events: DecidedEvent[] = [];
  let after = session;
  const take = (decided: readonly DecidedEvent[], at: string): void => {
    const timed = decided.map((event) => ({ ...event, happened: at }));
    events.push(...timed);
    if (timed.length > 0) after = appendEvents(after, timed, { now: at, actor: '', place: '', cause: '' }).session;
  };
  const [first] = items;
  if (!isOpened(session)) {
    const { branch, worktree } = from;
    take([kernelEvent('SessionOpened', { branch, worktree })], first?.at ?? '');
  }
  for (const item of items) {
    const { at } = item;
    const decided = decideItem(after, item);
    if (!decided.ok) return err(decided.error);
    take(decided.value, at);
  }
  const { source, taken, problems, files } = from;
  events.push(
    kernelEvent('Imported', {
      source,
      taken,
      ...(problems.length === 0 ? {} : { problems }),
      ...(files.length === 0 ? {} : { files }),
    }),
  );
  return ok(events);
};

const decideItem = (session: Session, item: HistoryItem): Result<readonly DecidedEvent[], Refusal> => {
  const closed = isOpened(session) && session.common.status === 'closed';
  switch (item.what) {
    case 'closed': {
      const { outcome, reason } = item;
      return ok(closed ? [] : [kernelEvent('SessionClosed', { outcome, ...(reason === null ? {} : { reason }) })]);
    }
    case 'reopened':
      return ok(closed ? [kernelEvent('SessionReopened', { after: session.common.outcome })] : []);
    case 'remark':
      return ok([kernelEvent('Noted', { text: item.text })]);
    case 'process':
      return ok([item.event]);
    default: {
      const { at: _, ...moved } = item;
      return decideCommand(session, { type: 'import', ...moved });
    }
  }
};
