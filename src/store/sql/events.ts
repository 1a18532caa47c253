import type { StoredEvent } from '../../kernel/event.ts';
import { genesis, hashEvent, isLifecycle } from '../../kernel/event.ts';
import { StoreFailure, type EventQuery } from '../../kernel/ports.ts';
import { refuse } from '../../kernel/refusal.ts';
import { repairHint } from '../hints.ts';
import { number, parseStored, text, textOrNull } from './values.ts';
import { all, get, run, type Row, type Work } from './work.ts';

const columns = 'session, seq, type, v, at, actor, place, cause, data, hash';
const previousHash =
  '(SELECT earlier.hash FROM event earlier WHERE earlier.session = event.session AND earlier.seq = event.seq - 1) AS previous';

/** Appends events, in order. */
export function* insertEvents(events: readonly { readonly event: StoredEvent; readonly data: string }[]): Work<void> {
  for (const { event, data } of events) {
    yield* run(
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
  }
}

/**
 * The events of a session, in order, each proved by its hash and the one before: what was damaged on the disk is never shown
 * as what happened.
 */
export function* selectProved(key: string, query: EventQuery): Work<readonly StoredEvent[]> {
  const { sql, values } = statementOf(key, query, `${columns}, ${previousHash}`);
  const events = (yield* all(sql, ...values)).map((row) => {
    const event = rowToEvent(row);
    const previous = event.seq === 1 ? genesis : textOrNull(row, 'previous');
    if (previous === null) throw brokenChain(key, event.seq - 1, 'is missing');
    if (hashEvent(previous, event) !== event.hash) throw brokenChain(key, event.seq, 'differs from its hash');
    return event;
  });
  const newest = events.at(query.last === undefined ? -1 : 0)?.seq ?? query.after ?? 0;
  const isWhole = query.first === undefined || events.length < query.first;
  const isOfAll = query.lifecycleOnly !== true && query.types === undefined;
  if (query.until !== undefined && isOfAll && newest < query.until && isWhole) {
    throw brokenChain(key, newest + 1, 'is missing');
  }
  return query.last === undefined ? events : events.toReversed();
}

/** The failure of a session whose chain does not hold. */
export const brokenChain = (key: string, seq: number, problem: string): StoreFailure =>
  new StoreFailure(refuse('damaged', `The chain of ${key} is broken: event ${seq} ${problem}.`, { hint: repairHint }));

/** How many events are read at a time: a log may be longer than memory is large. */
const pageOfEvents = 1000;

/** Does something with each event of a session, in order, and with the size of its data. */
export function* eachEvent(
  key: string,
  query: EventQuery,
  take: (event: StoredEvent, size: number) => void,
): Work<void> {
  for (let after = query.after ?? 0; ;) {
    const { sql, values } = statementOf(key, { ...query, after }, columns, pageOfEvents);
    const rows = yield* all(sql, ...values);
    for (const row of rows) {
      const event = rowToEvent(row);
      take(event, text(row, 'data').length);
      after = event.seq;
    }
    if (rows.length < pageOfEvents) return;
  }
}

/** Whether what a commit was to append is there: one of its events, by its hash, for they were appended together or not at all. */
export function* wasAppended(event: Pick<StoredEvent, 'session' | 'seq' | 'hash'> | undefined): Work<boolean> {
  return event !== undefined && (yield* selectEvent(event.session, event.seq))?.hash === event.hash;
}

/** One event. */
export function* selectEvent(key: string, seq: number): Work<StoredEvent | undefined> {
  const row = yield* get(`SELECT ${columns} FROM event WHERE session = ? AND seq = ?`, key, seq);
  return row === undefined ? undefined : rowToEvent(row);
}

const statementOf = (
  key: string,
  query: EventQuery,
  selected: string,
  limit?: number,
): { readonly sql: string; readonly values: readonly (string | number)[] } => {
  const conditions = ['session = ?'];
  const values: (string | number)[] = [key];
  if (query.lifecycleOnly === true) conditions.push('lifecycle = 1');
  if (query.types !== undefined) {
    conditions.push(`type IN (${query.types.map(() => '?').join(', ')})`);
    values.push(...query.types);
  }
  if (query.after !== undefined) {
    conditions.push('seq > ?');
    values.push(query.after);
  }
  if (query.until !== undefined) {
    conditions.push('seq <= ?');
    values.push(query.until);
  }
  const most = query.last ?? query.first ?? limit;
  if (most !== undefined) values.push(most);
  const tail = ` ORDER BY seq${query.last === undefined ? '' : ' DESC'}${most === undefined ? '' : ' LIMIT ?'}`;
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
