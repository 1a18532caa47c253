import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as v from 'valibot';
import { ok, type Result } from '../lib/result.ts';
import { kind as review } from '../kinds/review/index.ts';
import type { DecidedEvent } from './event.ts';
import { entryTypes, mostBlockers, recentLimits, type Entry } from './journal.ts';
import { decideBlock, decideEntry, decideUnblock } from './journal-rules.ts';
import { defineKind, type Kind } from './kind.ts';
import { decideBegin, decideCommand, decideFinish, decideReopen } from './lifecycle.ts';
import type { Refusal } from './refusal.ts';
import { absentSession, appendEvents, isOpened, viewOfSession, type OpenedSession } from './session.ts';
import type { KindView } from './view.ts';

type Decision = Result<readonly DecidedEvent[], Refusal>;
type Move = (session: OpenedSession) => Decision;

/** A session of a kind after a few moves. */
const given = (kind: Kind, ...moves: readonly Move[]): OpenedSession => {
  const begun = absentSession(kind, `${kind.name}:a`);
  const origin = { now: '2026-03-17T12:00:00.000Z', actor: 'ana', place: 'here', cause: 'c' };
  const taken = (session: typeof begun, decided: Decision): OpenedSession => {
    assert.ok(decided.ok, decided.ok ? '' : decided.error.message);
    const { session: after } = appendEvents(session, decided.value, origin);
    assert.ok(isOpened(after));
    return after;
  };
  const opened = taken(begun, decideBegin(begun, { branch: 'main', worktree: 'main' }));
  return moves.reduce((session, move) => taken(session, move(session)), opened);
};

/** What was decided: the events with their data, or the code of the refusal with what it names. */
const then = (decided: Decision): unknown =>
  decided.ok
    ? decided.value.map(({ type, data }) => [type, data])
    : [decided.error.code, decided.error.candidates ?? decided.error.hint ?? null];

const noted =
  (type: Entry['type'], supersedes?: Entry): Move =>
  (session) =>
    decideEntry(
      session,
      type,
      { text: 'x', ...(supersedes === undefined ? {} : { supersedes: supersedes.id }) },
      supersedes,
    );
const blocked =
  (reason: string, needs: string | null = null): Move =>
  (session) =>
    decideBlock(session, reason, needs);
const unblocked =
  (id?: number): Move =>
  (session) =>
    decideUnblock(session, id === undefined ? undefined : { id, raised: undefined }, null);
const aborted: Move = (session) => decideFinish(session, { abort: true, reason: null });
const finished: Move = (session) => decideFinish(session, { abort: false, reason: null });

/** An entry that stands in the log. */
const entry = (id: number, type: Entry['type']): Entry => ({ id, type, at: '', actor: '', text: 'x' });

suite('an entry that takes the place of another', () => {
  test('takes that of one of its type; decisions and assumptions take each other’s', () => {
    for (const type of entryTypes)
      for (const other of entryTypes) {
        const session = given(review, noted(other));
        const like = [type, other].every((one) => one === 'decision' || one === 'assumption');
        const decided = noted(type, entry(3, other))(session);
        assert.equal(decided.ok, type === other || like, `${type} for ${other}`);
        if (!decided.ok) assert.equal(decided.error.code, 'illegal-transition');
      }
  });

  test('is refused where another one has taken it, with those that hold', () => {
    const session = given(review, noted('decision'), noted('assumption'), noted('decision', entry(3, 'decision')));
    assert.deepEqual(then(noted('decision', entry(3, 'decision'))(session)), ['illegal-transition', ['5', '4']]);
    assert.match(
      (noted('decision', entry(3, 'decision'))(session) as { error: Refusal }).error.message,
      /^Entry 3 of review:a was superseded by entry 5\.$/,
    );
  });

  test('one that is older than what is kept is not taken for superseded', () => {
    const many = Array.from({ length: recentLimits.decision + 5 }, () => noted('decision'));
    const session = given(review, ...many);
    assert.ok(noted('decision', entry(4, 'decision'))(session).ok);
    const later = given(review, ...many, noted('decision', entry(20, 'decision')));
    assert.deepEqual(noted('decision', entry(20, 'decision'))(later).ok, false, 'but one within that is');
    const meanwhile = given(review, ...many, noted('decision', entry(4, 'decision')));
    assert.deepEqual(noted('decision', entry(4, 'decision'))(meanwhile).ok, false, 'and one whose successor is kept');
  });

  test('a closed session takes entries, one that is not there does not', () => {
    assert.deepEqual(then(noted('error')(given(review, aborted))), [['Noted', { entry: 'error', text: 'x' }]]);
    const nobody = absentSession(review, 'review:b');
    assert.deepEqual(then(decideEntry(nobody, 'error', {}, undefined)), ['not-found', 'stint list --all']);
  });
});

suite('blockers', () => {
  test('one is raised once for the same words, as often as they differ, and not in a closed session', () => {
    const session = given(review, blocked('no database', 'ops'));
    assert.deepEqual(then(blocked('no database', 'ops')(session)), []);
    assert.deepEqual(then(blocked('no database')(session)), [['BlockerRaised', { reason: 'no database' }]]);
    assert.deepEqual(then(blocked('no network', 'ops')(session)), [
      ['BlockerRaised', { reason: 'no network', needs: 'ops' }],
    ]);
    assert.deepEqual(then(blocked('x')(given(review, aborted))), ['illegal-transition', 'stint begin review --name a']);
    const again = given(review, blocked('no database'), unblocked());
    assert.deepEqual(then(blocked('no database')(again)), [['BlockerRaised', { reason: 'no database' }]]);
    const long = 'x'.repeat(5000);
    assert.deepEqual(then(blocked(long)(given(review, blocked(long)))), []);
  });

  test(`at most ${mostBlockers} are open`, () => {
    const full = given(review, ...Array.from({ length: mostBlockers }, (_, index) => blocked(`reason ${index}`)));
    const refused = blocked('one more')(full);
    assert.ok(!refused.ok && refused.error.code === 'invariant-unmet');
    assert.ok(blocked('reason 7')(full).ok, 'what is open is answered all the same');
    assert.ok(JSON.stringify(viewOfSession(full)).length < 8000, 'the view stays small');
  });

  test('one is cleared by its id, the only one without it, and none is guessed of several', () => {
    const one = given(review, blocked('a'));
    assert.deepEqual(then(unblocked()(one)), [['BlockerCleared', { blocker: 3 }]]);
    assert.deepEqual(then(decideUnblock(one, undefined, 'by hand')), [
      ['BlockerCleared', { blocker: 3, how: 'by hand' }],
    ]);
    const two = given(review, blocked('a'), blocked('b'));
    assert.deepEqual(then(unblocked()(two)), ['ambiguous', ['3', '4']]);
    assert.deepEqual(then(unblocked(4)(two)), [['BlockerCleared', { blocker: 4 }]]);
    assert.deepEqual(then(unblocked(2)(two)), ['not-found', ['3', '4']]);
    assert.deepEqual(then(unblocked()(given(review))), [
      'not-found',
      'stint journal --session review:a --type blocker',
    ]);
    const raised = {
      session: '',
      seq: 3,
      type: 'BlockerRaised',
      v: 1,
      at: '',
      actor: '',
      place: '',
      cause: '',
      data: {},
      hash: '',
    };
    assert.deepEqual(then(decideUnblock(given(review, blocked('a'), unblocked()), { id: 3, raised }, null)), []);
    assert.deepEqual(then(unblocked()(given(review, blocked('a'), aborted))), [['BlockerCleared', { blocker: 3 }]]);
  });
});

const view = (isDone: boolean): KindView => ({
  position: 'here',
  where: {},
  fields: {},
  remaining: [],
  missing: isDone ? [] : ['it is not done'],
  next: { kind: 'complete', text: 'Do it.', command: 'stint complete' },
  evidence: [],
});

/** A kind that completes its sessions by itself, as soon as all is done. */
const eager = defineKind({
  name: 'eager',
  summary: 'for tests',
  stateVersion: 1,
  commands: v.variant('type', [
    v.object({ type: v.literal('begin') }),
    v.object({ type: v.literal('continue') }),
    v.object({ type: v.literal('do') }),
    v.object({ type: v.literal('give-up') }),
  ]),
  events: v.variant('type', [
    v.object({ type: v.literal('Done') }),
    v.object({ type: v.literal('SessionClosed'), outcome: v.picklist(['completed', 'failed']) }),
  ]),
  eventVersions: { Done: 1 },
  initial: { isDone: false },
  evolve: (state, event) => (event.type === 'Done' ? { isDone: true } : state),
  decide: ({ isDone }, { type }) => {
    const closed = { type: 'SessionClosed', outcome: 'completed' } as const;
    if (type === 'give-up') return ok([{ ...closed, outcome: 'failed' as const }]);
    if (type === 'continue') return ok(isDone ? [closed] : []);
    return ok(type === 'begin' ? [] : [{ type: 'Done' as const }, closed]);
  },
  view: ({ isDone }) => view(isDone),
  folder: (name) => `eager/${name}`,
  mirrors: () => [],
  examples: [{ type: 'begin' }, { type: 'continue' }, { type: 'do' }, { type: 'give-up' }],
});

suite('a session with an open blocker', () => {
  const done: Move = (session) => decideCommand(session, { type: 'do' });

  test('is not complete, says why, and says how to clear it once nothing else is missing', () => {
    const before = viewOfSession(given(eager, blocked('no database', 'ops'), blocked('b')));
    assert.deepEqual(before.missing, ['it is not done', 'blocker 2: no database (needs ops)', 'blocker 3: b']);
    assert.equal(before.next.kind, 'complete', 'what is left is done first');
    const session = given(eager, blocked('no database', 'ops'), done);
    const { missing, completeness, next } = viewOfSession(session);
    assert.deepEqual(missing, ['blocker 2: no database (needs ops)']);
    assert.equal(completeness, 'open_no_artifact');
    assert.deepEqual([next.kind, next.command], ['unblock', 'stint unblock 2 --session eager:a']);
    const refused = finished(session);
    assert.ok(!refused.ok && refused.error.code === 'invariant-unmet');
    assert.deepEqual(refused.error.faults, missing);
    assert.equal(refused.error.hint, 'stint unblock 2 --session eager:a');
  });

  test('is not completed by its kind, but by who clears it and finishes it', () => {
    assert.deepEqual(then(done(given(eager, blocked('a')))), [['Done', {}]]);
    const cleared = given(eager, blocked('a'), done, unblocked());
    assert.equal(cleared.common.status, 'active', 'nor by being cleared');
    assert.equal(viewOfSession(cleared).next.kind, 'finish');
    assert.equal(given(eager, blocked('a'), done, unblocked(), finished).common.outcome, 'completed');
    assert.equal(given(eager, done).common.outcome, 'completed', 'without one the kind does it');
    assert.equal(given(eager, blocked('a'), unblocked(), done).common.outcome, 'completed');
  });

  test('is closed unfinished all the same, and blocked still when it goes on', () => {
    const failed: Move = (session) => decideCommand(session, { type: 'give-up' });
    assert.equal(given(eager, blocked('a'), failed).common.outcome, 'failed');
    const reopened: Move = (session) => decideReopen(session, null);
    const again = given(eager, blocked('a'), done, aborted, reopened);
    assert.equal(again.common.status, 'active', 'going on does not complete it either');
    assert.deepEqual(viewOfSession(again).missing, ['blocker 2: a']);
  });
});
