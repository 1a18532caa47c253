import type { StoredEvent } from '../../kernel/event.ts';
import { isLifecycle } from '../../kernel/event.ts';
import type { EventQuery } from '../../kernel/ports.ts';
import type { Database, Row } from './database.ts';
import { number, parseStored, text } from './values.ts';

const columns = 'session, seq, type, v, at, actor, place, cause, data, hash';

/** Appends events of one session, in order. */
export const insertEvents = (
  database: Database,
  events: readonly { readonly event: StoredEvent; readonly data: string }[],
): void => {
  for (const { event, data } of events) {
    database.run(
      `INSERT INTO event (session, seq, type, v, lifecycle, at, actor, place, cause, data, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      event.session,
      event.seq,
      event.type,
      event.v,
      isLifecycle(event.type) ? 1 : 0,
      event.at,
      event.actor,
      event.place,
      event.cause,
      data,
      event.hash,
    );
    database.appended(event.session, event.seq);
  }
};

/** The events of a session, in order. */
export const selectEvents = (database: Database, key: string, query: EventQuery): readonly StoredEvent[] => {
  const { sql, values } = statementOf(key, query);
  const events = database.all(sql, ...values).map(rowToEvent);
  return query.last === undefined ? events : events.toReversed();
};

/** The events of a session, one at a time. */
export function* eachEvent(database: Database, key: string, query: EventQuery): Iterable<StoredEvent> {
  const { sql, values } = statementOf(key, query);
  for (const row of database.each(sql, ...values)) yield rowToEvent(row);
}

/** The keys of sessions whose events are there, but whose row is not. */
export const selectOrphans = (database: Database): readonly string[] =>
  database
    .all('SELECT DISTINCT session FROM event WHERE session NOT IN (SELECT key FROM session)')
    .map((row) => text(row, 'session'));

/** One event. */
export const selectEvent = (database: Database, key: string, seq: number): StoredEvent | undefined => {
  const row = database.get(`SELECT ${columns} FROM event WHERE session = ? AND seq = ?`, key, seq);
  return row === undefined ? undefined : rowToEvent(row);
};

const statementOf = (
  key: string,
  query: EventQuery,
): { readonly sql: string; readonly values: readonly (string | number)[] } => {
  const conditions = ['session = ?'];
  const values: (string | number)[] = [key];
  if (query.lifecycleOnly === true) conditions.push('lifecycle = 1');
  if (query.after !== undefined) {
    conditions.push('seq > ?');
    values.push(query.after);
  }
  if (query.until !== undefined) {
    conditions.push('seq <= ?');
    values.push(query.until);
  }
  let tail = ' ORDER BY seq';
  if (query.last !== undefined) {
    tail = ' ORDER BY seq DESC LIMIT ?';
    values.push(query.last);
  }
  return { sql: `SELECT ${columns} FROM event WHERE ${conditions.join(' AND ')}${tail}`, values };
};

const rowToEvent = (row: Row): StoredEvent => ({
  session: text(row, 'session'),
  seq: number(row, 'seq'),
  type: text(row, 'type'),
  v: number(row, 'v'),
  at: text(row, 'at'),
  actor: text(row, 'actor'),
  place: text(row, 'place'),
  cause: text(row, 'cause'),
  data: parseStored(row, 'data'),
  hash: text(row, 'hash'),
});
