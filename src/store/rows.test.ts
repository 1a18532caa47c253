import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kind } from '../kinds/review/index.ts';
import { decideBegin, decideCommand } from '../kernel/lifecycle.ts';
import { absentSession, appendEvents, isOpened, type OpenedSession } from '../kernel/session.ts';
import {
  isHeavy,
  isIntact,
  proveSnapshot,
  sessionToStored,
  storedToSession,
  takeSnapshot,
  type StoredSnapshot,
} from './rows.ts';

const step = (session: OpenedSession | undefined, round: number): OpenedSession => {
  const before = session ?? absentSession(kind, 'review:a');
  const decided =
    session === undefined
      ? decideBegin(before, { branch: 'main', worktree: 'main' })
      : decideCommand(before, { type: 'advance', phase: 'context', round });
  assert.ok(decided.ok);
  const after = appendEvents(before, decided.value, {
    now: '2026-03-17T10:00:00.000Z',
    actor: 'ana',
    place: 'here',
    cause: 'c',
  }).session;
  assert.ok(isOpened(after));
  return after;
};

/** A session of so many rounds. */
const folded = (rounds: number): OpenedSession => {
  let session: OpenedSession | undefined;
  for (let round = 1; round <= rounds; round += 1) session = step(session, round);
  assert.ok(session !== undefined);
  return session;
};

test('a snapshot is taken when the tail has outgrown a thirty-second part of the last one, and never of a short tail', () => {
  for (const [snapshot, tail, expected] of [
    [0, 4095, false],
    [0, 4096, true],
    [131_072, 4096, true],
    [3_200_000, 99_999, false],
    [3_200_000, 100_000, true],
  ] as const)
    assert.equal(isHeavy({ snapshot, tail }), expected, `${snapshot} ${tail}`);
});

test('snapshots grow apart with the state, so that appending stays cheap', () => {
  let session: OpenedSession | undefined;
  let snapshot = 0;
  let tail = 0;
  let written = 0;
  for (let round = 1; round <= 400; round += 1) {
    session = step(session, round);
    tail += 100;
    if (!isHeavy({ snapshot, tail })) continue;
    snapshot = takeSnapshot(session).state.length;
    tail = 0;
    written += snapshot;
  }
  assert.ok(written < 400 * 100 * 33, `${written} written`);
});

test('a snapshot gives back the state that it was taken of', () => {
  const session = folded(50);
  const thawed = storedToSession(sessionToStored(session), takeSnapshot(session), kind);
  assert.equal(thawed.after, session.common.seq);
  assert.equal(thawed.session.folded.freeze(), session.folded.freeze());
});

test('a row whose projections were damaged, or that has another version, is not believed', () => {
  const row = sessionToStored(folded(1));
  assert.ok(isIntact(row, kind));
  for (const damage of [
    { view: row.view.replace('context', 'complete') },
    { common: row.common.replace('active', 'closed') },
    { hash: 'x' },
    { viewVersion: '0.0' },
    { pausedAt: '2026-03-17T10:00:00.000Z' },
    { archivedAt: '2026-03-17T10:00:00.000Z' },
  ])
    assert.equal(isIntact({ ...row, ...damage }, kind), false, JSON.stringify(damage));
});

test('a snapshot that was damaged, that has another version, or that is of another session or of later, is replayed', () => {
  const session = folded(1);
  const row = sessionToStored(session);
  const snapshot = takeSnapshot(session);
  assert.equal(storedToSession(row, snapshot, kind).after, snapshot.seq);
  const replaced = takeSnapshot({ ...session, key: 'review:b' });
  const later = takeSnapshot({ ...session, common: { ...session.common, seq: session.common.seq + 1 } });
  for (const damaged of [
    { ...snapshot, state: snapshot.state.replace('context', 'reviews') },
    { ...snapshot, seq: snapshot.seq - 1 },
    { ...snapshot, version: 0 },
    { ...snapshot, checksum: snapshot.checksum + 1 },
    { ...replaced, session: 'review:a' },
    later,
  ])
    assert.equal(storedToSession(row, damaged, kind).after, 0, JSON.stringify(damaged));
});

test('a snapshot is proved by a replay that passes what it says, and by nothing else', () => {
  const first = folded(1);
  const second = step(first, 2);
  const proved = (snapshot: StoredSnapshot): boolean => {
    const { pass, isProved } = proveSnapshot(snapshot, kind);
    for (const session of [first, second]) pass(session);
    return isProved();
  };
  const { seq } = second.common;
  assert.ok(proved(takeSnapshot(first)) && proved(takeSnapshot(second)));
  assert.equal(proved(takeSnapshot({ ...first, common: { ...first.common, seq } })), false, 'an older state');
  assert.equal(proved(takeSnapshot({ ...second, common: { ...second.common, seq: seq + 1 } })), false, 'of later');
  assert.equal(proved({ ...takeSnapshot(second), checksum: 1 }), false);
  assert.ok(proved({ ...takeSnapshot(second), version: 0 }), 'one of another shape says nothing');
});

test('after remarks alone the view stays what it was', () => {
  const session = folded(2);
  const row = sessionToStored(session);
  const noted = appendEvents(session, [{ type: 'Noted', v: 1, data: { text: 'x' } }], {
    now: '2026-03-17T10:00:01.000Z',
    actor: 'ana',
    place: 'here',
    cause: 'n',
  }).session;
  assert.ok(isOpened(noted));
  // The state of its kind is not folded then.
  const after = sessionToStored({ ...noted, folded: kind.empty }, row);
  assert.deepEqual([after.view, after.position, after.seq], [row.view, row.position, row.seq + 1]);
  assert.ok(isIntact(after, kind));
});
