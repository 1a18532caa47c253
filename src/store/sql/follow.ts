import { positionOf, type Cursor, type Position } from '../../kernel/cursor.ts';
import type { kernelEvents, StoredEvent } from '../../kernel/event.ts';
import type { ReadOn, Stretch } from '../../kernel/ports.ts';
import { selectProved } from './events.ts';
import { number, numberOrNull, text } from './values.ts';
import { all, get, type Row, type Work } from './work.ts';

/** Where the newest event of each session is. */
export function* selectHeads(sessions: readonly string[] | undefined): Work<Cursor> {
  const heads = new Map<string, Position>();
  const select = 'SELECT key, seq, hash FROM session';
  const take = (row: Row): unknown =>
    heads.set(text(row, 'key'), positionOf({ seq: number(row, 'seq'), hash: text(row, 'hash') }));
  if (sessions === undefined) for (const row of yield* all(`${select} ORDER BY key`)) take(row);
  else {
    for (const key of sessions) {
      const row = yield* get(`${select} WHERE key = ?`, key);
      if (row !== undefined) take(row);
    }
  }
  return heads;
}

/** How many events are read at a time to be handed on: one may be a megabyte large. */
const handful = 32;

/** How many bytes of data are enough for once. */
const enoughBytes = 1024 * 1024;

/** Reads stretches, one after the other, until it is enough for once. */
export function* readOn(stretches: readonly Stretch[], enough: number): Work<ReadOn> {
  const events: StoredEvent[] = [];
  let bytes = 0;
  for (const { session, from, until } of stretches) {
    if (until < from.seq || !(yield* isAt(session, from))) {
      const row = yield* get(
        'SELECT min(seq) AS seq FROM event WHERE session = ? AND type = ?',
        session,
        'Salvaged' satisfies keyof typeof kernelEvents,
      );
      return { events, strayed: { session, salvaged: row === undefined ? null : numberOrNull(row, 'seq') } };
    }
    for (let after = from.seq; after < until;) {
      const read = yield* selectProved(session, { after, until, first: Math.min(handful, enough - events.length) });
      for (const event of read) {
        events.push(event);
        bytes += JSON.stringify(event.data).length;
        after = event.seq;
      }
      if (events.length >= enough || bytes >= enoughBytes) return { events, strayed: undefined };
    }
  }
  return { events, strayed: undefined };
}

/** Whether a session has the event behind which somebody stands. */
function* isAt(session: string, { seq, sign }: Stretch['from']): Work<boolean> {
  if (seq === 0 || sign === '') return true;
  const row = yield* get('SELECT hash FROM event WHERE session = ? AND seq = ?', session, seq);
  return row !== undefined && text(row, 'hash').startsWith(sign);
}
