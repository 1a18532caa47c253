import { isLifecycle, type StoredEvent } from './event.ts';
import type { Kind } from './kind.ts';
import { absentSession, applyEvent, type Session } from './session.ts';

/** Events that are no lifecycle, and after which a session may stand somewhere else. */
export const blockerTypes: readonly string[] = ['BlockerRaised', 'BlockerCleared'];

/** One stretch of time in which a session stood at one position. */
export interface Span {
  readonly position: string;
  readonly from: string;
  /** Null while it lasts. */
  readonly to: string | null;
  /** Until `to`, or until now while it lasts. */
  readonly ms: number;
}

/**
 * How long a session stood where: one span for each stretch at one position, from its lifecycle events and its blockers in
 * order. The time between a close and a reopening belongs to none. A span that lasts is counted up to `now`.
 */
export const spansOf = (kind: Kind, key: string, events: readonly StoredEvent[], now: string): readonly Span[] => {
  const spans: { position: string; from: string; to: string | null }[] = [];
  let session: Session = absentSession(kind, key);
  events.forEach((event, index) => {
    const opened = applyEvent(session, event);
    session = opened;
    // Events of one request happened at once, unless it took over what happened elsewhere: only where the last of them leads
    // counts.
    const next = events[index + 1];
    const isLast = next?.cause !== event.cause || next.at !== event.at;
    if (!isLast || !(isLifecycle(event.type) || blockerTypes.includes(event.type))) return;
    const open = spans.at(-1);
    const position = opened.common.status === 'active' ? opened.folded.view(opened.common).position : null;
    if (open !== undefined && open.to === null && open.position !== position) open.to = event.at;
    if (position !== null && (open === undefined || open.to !== null))
      spans.push({ position, from: event.at, to: null });
  });
  return spans.map((span) => ({ ...span, ms: Math.max(0, Date.parse(span.to ?? now) - Date.parse(span.from)) }));
};

/** A span of milliseconds as `[h:]mm:ss.mmm`: exact, so that sums that are printed agree. */
export const durationText = (milliseconds: number): string => {
  const pad = (value: number, digits: number): string => String(value).padStart(digits, '0');
  const hours = Math.floor(milliseconds / 3_600_000);
  const minutes = Math.floor(milliseconds / 60_000) % 60;
  const seconds = Math.floor(milliseconds / 1000) % 60;
  return `${hours === 0 ? '' : `${hours}:`}${pad(minutes, 2)}:${pad(seconds, 2)}.${pad(milliseconds % 1000, 3)}`;
};
