import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { kind } from '../kinds/review/index.ts';
import type { NewEvent, StoredEvent } from './event.ts';
import { spansOf } from './query.ts';
import { absentSession, appendEvents, type Session } from './session.ts';

const opened: readonly NewEvent[] = [
  { type: 'SessionOpened', v: 1, data: { branch: 'main', worktree: 'main' } },
  { type: 'RoundStarted', v: 1, data: { round: 1, phase: 'context', phase_number: 1 } },
];
const entered = (phase: string, number: number): NewEvent => ({
  type: 'PhaseEntered',
  v: 1,
  data: { round: 1, phase, phase_number: number },
});
const closed: NewEvent = { type: 'SessionClosed', v: 1, data: { outcome: 'aborted' } };
const reopened: NewEvent = { type: 'SessionReopened', v: 1, data: { after: 'aborted' } };
const noted: NewEvent = { type: 'Noted', v: 1, data: { text: 'x' } };

const at = (seconds: number): string => new Date(Date.UTC(2026, 2, 29, 0, 59, 0) + seconds * 1000).toISOString();

const history = (...steps: readonly (readonly [number, readonly NewEvent[]])[]): readonly StoredEvent[] => {
  let session: Session = absentSession(kind, 'review:a');
  return steps.flatMap(([seconds, decided], index) => {
    const appended = appendEvents(session, decided, {
      now: at(seconds),
      actor: 'ana',
      place: 'here',
      cause: `c${index}`,
    });
    ({ session } = appended);
    return appended.events;
  });
};

const spans = (events: readonly StoredEvent[], now: number) =>
  spansOf(kind, 'review:a', events, at(now)).map(({ position, ms, to }) => [
    position.split(' ')[0],
    ms / 1000,
    to === null,
  ]);

test('each stretch at one position is one span, and the last one lasts until now', () => {
  const events = history(
    [0, opened],
    [10, [entered('change-context', 2)]],
    [10, [noted]],
    [40, [entered('analysis', 3)]],
  );
  assert.deepEqual(spans(events, 100), [
    ['context', 10, false],
    ['change-context', 30, false],
    ['analysis', 60, true],
  ]);
});

test('the time between a close and a reopening belongs to no span', () => {
  const events = history([0, opened], [10, [closed]], [1000, [reopened]]);
  assert.deepEqual(spans(events, 1005), [
    ['context', 10, false],
    ['context', 5, true],
  ]);
  assert.deepEqual(spans(history([0, opened], [10, [closed]]), 9999), [['context', 10, false]]);
});

test('a clock that went back makes no negative time', () => {
  assert.deepEqual(spans(history([50, opened]), 10), [['context', 0, true]]);
});

test('spans follow each other without overlap, and their sum is the time that the session was open', () => {
  const phase = fc.constantFrom(entered('change-context', 2), entered('analysis', 3), entered('reviews', 4));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(5000), phase), { maxLength: 30 }), (steps) => {
      let clock = 0;
      const moves = steps.map(([pause, event]): readonly [number, readonly NewEvent[]] => {
        clock += pause;
        return [clock, [event]];
      });
      const found = spansOf(kind, 'review:a', history([0, opened], ...moves), at(clock + 7));
      found.slice(1).forEach((span, index) => assert.equal(found[index]?.to, span.from));
      assert.equal(
        found.reduce((total, { ms }) => total + ms, 0),
        (clock + 7) * 1000,
      );
    }),
  );
});
