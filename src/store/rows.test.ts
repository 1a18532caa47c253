import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kind } from '../kinds/review/index.ts';
import { decideBegin, decideCommand } from '../kernel/lifecycle.ts';
import { absentSession, appendEvents, isOpened, type OpenedSession } from '../kernel/session.ts';
import { isIntact, sessionToStored, storedToSession, type StoredSession } from './rows.ts';

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

/** A session of so many rounds, stored after each, and how often a snapshot was taken. */
const stored = (
  rounds: number,
  added: number,
): { readonly session: OpenedSession; readonly row: StoredSession; readonly snapshots: number } => {
  let session: OpenedSession | undefined;
  let row: StoredSession | undefined;
  let snapshots = 0;
  for (let round = 1; round <= rounds; round += 1) {
    session = step(session, round);
    const next = sessionToStored(session, row, added);
    if (next.snapshotSeq !== (row?.snapshotSeq ?? 0)) snapshots += 1;
    row = next;
  }
  assert.ok(session !== undefined && row !== undefined);
  return { session, row, snapshots };
};

test('a short tail takes no snapshot, a long one does', () => {
  assert.equal(stored(3, 100).row.snapshot, null);
  assert.equal(stored(1, 5000).row.snapshotSeq, 2);
});

test('snapshots grow apart with the state, so that appending stays cheap: each tail outgrows the last snapshot', () => {
  const { snapshots, row } = stored(400, 100);
  assert.ok(row.snapshot !== null && row.tailBytes < Math.max(4096, row.snapshot.length));
  assert.ok(snapshots < 12, `${snapshots} snapshots`);
});

test('a snapshot gives back the state that it was taken of', () => {
  const { session, row } = stored(50, 5000);
  const thawed = storedToSession(row, kind);
  assert.equal(thawed?.after, session.common.seq);
  assert.equal(thawed?.session.folded.freeze(), session.folded.freeze());
});

test('a row whose projections were damaged, or that has another version, is not believed', () => {
  const { row } = stored(1, 5000);
  assert.ok(isIntact(row, kind));
  for (const damage of [
    { view: row.view.replace('context', 'complete') },
    { common: row.common.replace('active', 'closed') },
    { hash: 'x' },
    { viewVersion: '0.0' },
  ]) {
    assert.equal(isIntact({ ...row, ...damage }, kind), false, JSON.stringify(damage));
    assert.equal(storedToSession({ ...row, ...damage }, kind), undefined);
  }
});

test('a snapshot that was damaged, or that has another version, is replayed', () => {
  const { row } = stored(1, 5000);
  for (const damage of [{ snapshot: String(row.snapshot).replace('context', 'reviews') }, { snapshotVersion: 0 }]) {
    assert.equal(storedToSession({ ...row, ...damage }, kind)?.after, 0, JSON.stringify(damage));
  }
});

test('after remarks alone the view and the snapshot stay what they were', () => {
  const { session, row } = stored(2, 5000);
  const noted = appendEvents(session, [{ type: 'Noted', v: 1, data: { text: 'x' } }], {
    now: '2026-03-17T10:00:01.000Z',
    actor: 'ana',
    place: 'here',
    cause: 'n',
  }).session;
  assert.ok(isOpened(noted));
  const after = sessionToStored(noted, row, undefined);
  assert.deepEqual(
    [after.view, after.snapshot, after.tailBytes, after.seq],
    [row.view, row.snapshot, row.tailBytes, row.seq + 1],
  );
  assert.ok(isIntact(after, kind));
});
