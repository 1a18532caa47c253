import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { kind as review } from '../kinds/review/index.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { genesis, hashEvent, kernelEvent, type DecidedEvent, type StoredEvent } from './event.ts';
import type { Kinds } from './kind.ts';
import { decideBegin, decideCommand } from './lifecycle.ts';
import { absentSession, appendEvents, type Session } from './session.ts';
import { decidedAs, decideLog, logAs } from './travel.ts';

const key = 'review:shipped';
const kinds: Kinds = new Map([['review', review]]);
const now = '2026-03-17T12:00:00.000Z';
const absent = absentSession(review, key);
const origin = { now: '2026-03-17T10:00:00.000Z', actor: 'ana', place: 'there', cause: 'c' };

/** A session that was begun, advanced and noted elsewhere, with its events. */
const elsewhere = (more: readonly DecidedEvent[] = []): { readonly session: Session; readonly log: StoredEvent[] } => {
  const begun = decideBegin(absent, { branch: 'main', worktree: 'main' });
  assert.ok(begun.ok);
  const first = appendEvents(absent, begun.value, origin);
  const moved = decideCommand(first.session, { type: 'advance', phase: 'change-context' });
  assert.ok(moved.ok);
  const second = appendEvents(
    first.session,
    [...moved.value, kernelEvent('Noted', { text: 'a remark' }), ...more],
    origin,
  );
  return { session: second.session, log: [...first.events, ...second.events] };
};

/** The same events with others in the place of some, chained anew as whoever forges them would. */
const forged = (log: readonly StoredEvent[], change: (event: StoredEvent) => Partial<StoredEvent>): StoredEvent[] => {
  let hash = genesis;
  return log.map((event) => {
    const made = { ...event, ...change(event) };
    hash = hashEvent(hash, made);
    return { ...made, hash };
  });
};

const take = (session: Session, events: readonly StoredEvent[], here?: Pick<StoredEvent, 'hash'>) =>
  decideLog(kinds, session, { events, here, processes: [] }, now);

const refusedWith = (taken: ReturnType<typeof decideLog>): string => (taken.ok ? 'taken' : taken.error.code);

suite('a log that travels', () => {
  test('it lands with its numbers, times and hashes, and comes to the same session', () => {
    const { session, log } = elsewhere();
    const taken = take(absent, log);
    assert.ok(taken.ok);
    const { session: landed, events } = appendEvents(absent, taken.value.events, { ...origin, actor: 'ben', now });
    assert.deepEqual(events, log);
    assert.equal(landed.hash, session.hash);
    assert.deepEqual(landed.common, session.common);
    assert.equal(landed.folded.freeze(), session.folded.freeze());
  });

  test('what is here already is gone on with, and again nothing is new', () => {
    const { session, log } = elsewhere();
    const known = appendEvents(absent, log.slice(0, 2).map(decidedAs), origin).session;
    const taken = take(known, log);
    assert.ok(taken.ok);
    assert.deepEqual(
      taken.value.events.map(({ written }) => written?.seq),
      log.slice(2).map(({ seq }) => seq),
    );
    const again = take(session, log, log.at(-1));
    assert.ok(again.ok);
    assert.deepEqual(again.value.events, []);
    const older = take(session, log.slice(0, 2), log[1]);
    assert.ok(older.ok && older.value.events.length === 0, 'an older bundle brings nothing');
  });

  test('a log that has gone on in another way is refused, on whichever side it is longer', () => {
    const { session, log } = elsewhere();
    const other = appendEvents(absent, log.slice(0, 2).map(decidedAs), origin).session;
    const apart = appendEvents(other, [kernelEvent('Noted', { text: 'here' })], origin);
    assert.equal(refusedWith(take(apart.session, log)), 'conflict');
    assert.equal(refusedWith(take(session, [...log.slice(0, 2), ...apart.events], log[2])), 'conflict');
  });

  test('somebody who writes it meanwhile is waited for', () => {
    const { session, log } = elsewhere();
    assert.equal(refusedWith(take(session, log.slice(0, 2))), 'busy');
  });

  test('somebody who has brought the same meanwhile has left nothing to do', () => {
    const { session, log } = elsewhere();
    const taken = take(session, log);
    assert.ok(taken.ok);
    assert.deepEqual(taken.value.events, []);
    const [last] = log.slice(-1);
    assert.ok(last);
    const other = forged(log, ({ seq }) => (seq === last.seq ? { actor: 'mallory' } : {}));
    assert.equal(refusedWith(take(session, other)), 'conflict');
  });

  test('events that were changed, left out or put in are no chain', () => {
    const { log } = elsewhere();
    const [first, ...others] = log;
    assert.ok(first);
    const hostile: Readonly<Record<string, readonly StoredEvent[]>> = {
      empty: [],
      changed: log.map((event) => (event.seq === 2 ? { ...event, actor: 'eve' } : event)),
      missing: log.filter(({ seq }) => seq !== 2),
      headless: others,
      twice: [...log, ...log.slice(-1)],
      'of another session': forged(log, () => ({ session: 'review:other' })),
      'back in time': forged(log, ({ seq }) => (seq === 3 ? { at: '2020-01-01T00:00:00.000Z' } : {})),
      'in times to come': forged(log, () => ({ at: '2999-01-01T00:00:00.000Z' })),
      'without a beginning': forged(others, ({ seq }) => ({ seq: seq - 1 })),
      'of no shape': forged(log, ({ seq }) => (seq === 2 ? { data: { round: 'x' } } : {})),
      'about a process that nobody started': forged(log, ({ type }) =>
        type === 'Noted' ? { type: 'ProcessEnded', data: { process: 'p', outcome: 'done' } } : {},
      ),
      'that folds to nothing': forged(log, ({ type }) =>
        type === 'Noted' ? { data: { text: 'x', output: 'x' } } : {},
      ),
    };
    assert.deepEqual(
      Object.entries(hostile).map(([name, events]) => [name, refusedWith(take(absent, events))]),
      Object.keys(hostile).map((name) => [name, 'invalid-input']),
    );
  });

  test('what a newer program wrote is left to a newer program', () => {
    const { log } = elsewhere();
    const newer = (change: Partial<StoredEvent>): readonly StoredEvent[] =>
      forged(log, ({ type }) => (type === 'Noted' ? change : {}));
    assert.equal(refusedWith(take(absent, newer({ type: 'Levitated' }))), 'newer-version');
    assert.equal(refusedWith(take(absent, newer({ v: 99 }))), 'newer-version');
  });

  test('a process that works on another session here is not taken from it', () => {
    const data = { process: 'p1', kind: 'instance', host: 'desk' } satisfies JsonObject;
    const { log } = elsewhere([kernelEvent('ProcessStarted', data)]);
    const taken = (session: string) =>
      refusedWith(decideLog(kinds, absent, { events: log, here: undefined, processes: [{ id: 'p1', session }] }, now));
    assert.equal(taken('review:other'), 'conflict');
    assert.equal(taken(key), 'taken');
  });

  test('a duplicate under another name says the same, with processes of its own and a chain of its own', () => {
    const data = { process: 'p1', kind: 'instance', host: 'desk' } satisfies JsonObject;
    const ended = { process: 'p1', outcome: 'done' } satisfies JsonObject;
    const { session, log } = elsewhere([kernelEvent('ProcessStarted', data), kernelEvent('ProcessEnded', ended)]);
    const copy = absentSession(review, 'review:copied');
    const events = logAs(log, copy.key);
    const taken = decideLog(kinds, copy, { events, here: undefined, processes: [{ id: 'p1', session: key }] }, now);
    assert.ok(taken.ok);
    assert.equal(taken.value.session.folded.freeze(), session.folded.freeze());
    assert.notEqual(taken.value.session.hash, session.hash);
    assert.equal(new Set(taken.value.session.processes.keys()).size, 1);
    assert.equal(taken.value.session.processes.has('p1'), false);
    assert.deepEqual(logAs(log, copy.key), events, 'the same log makes the same duplicate');
  });
});
