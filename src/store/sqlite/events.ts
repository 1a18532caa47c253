import type { StoredEvent } from '../../kernel/event.ts';
import { genesis, hashEvent, isLifecycle } from '../../kernel/event.ts';
import { StoreFailure, type EventQuery } from '../../kernel/ports.ts';
import { refuse } from '../../kernel/refusal.ts';
import { repairHint, type Database, type Row } from './database.ts';
import { number, parseStored, text, textOrNull } from './values.ts';

const columns = 'session, seq, type, v, at, actor, place, cause, data, hash';
const previousHash =
  '(SELECT earlier.hash FROM event earlier WHERE earlier.session = event.session AND earlier.seq = event.seq - 1) AS previous';

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

/**
 * The events of a session, in order, each proved by its hash and the one before: what was damaged on the disk is never shown
 * as what happened.
 */
export const selectProved = (database: Database, key: string, query: EventQuery): readonly StoredEvent[] => {
  const { sql, values } = statementOf(key, query, `${columns}, ${previousHash}`);
  const events = database.all(sql, ...values).map((row) => {
    const event = rowToEvent(row);
    const previous = event.seq === 1 ? genesis : textOrNull(row, 'previous');
    if (previous === null) throw brokenChain(key, event.seq - 1, 'is missing');
    if (hashEvent(previous, event) !== event.hash) throw brokenChain(key, event.seq, 'differs from its hash');
    return event;
  });
  const newest = events.at(query.last === undefined ? -1 : 0)?.seq ?? query.after ?? 0;
  if (query.until !== undefined && query.lifecycleOnly !== true && newest < query.until) {
    throw brokenChain(key, newest + 1, 'is missing');
  }
  return query.last === undefined ? events : events.toReversed();
};

/** The failure of a session whose chain does not hold. */
export const brokenChain = (key: string, seq: number, problem: string): StoreFailure =>
  new StoreFailure(refuse('damaged', `The chain of ${key} is broken: event ${seq} ${problem}.`, { hint: repairHint }));

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
  selected = columns,
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
  return { sql: `SELECT ${selected} FROM event WHERE ${conditions.join(' AND ')}${tail}`, values };
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
