import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { kind } from '../kinds/review/index.ts';
import type { Result } from '../lib/result.ts';
import { kernelEvent, type DecidedEvent } from './event.ts';
import { folderMarkOf, folderOf } from './kind.ts';
import { decideBegin, decideCommand, decideFinish, decideNote, decideReopen } from './lifecycle.ts';
import { decideArchive, decidePause, decideResume, decideUnarchive } from './lifecycle-rules.ts';
import type { Refusal } from './refusal.ts';
import { absentSession, appendEvents, isOpened, viewOfSession, type OpenedSession, type Session } from './session.ts';

type Decision = Result<readonly DecidedEvent[], Refusal>;
type Move = (session: OpenedSession) => Decision;

/** The session after a few moves, one minute from one to the next, the first one at noon. */
const given = (...moves: readonly Move[]): OpenedSession => {
  const begun: Session = absentSession(kind, 'review:a');
  const opening = { branch: 'main', worktree: 'main' };
  return moves.reduce(
    (session, move, index) => after(session, move(session), index + 1),
    after(begun, decideBegin(begun, opening), 0),
  );
};

const after = (session: Session, decided: Decision, minute: number): OpenedSession => {
  assert.ok(decided.ok, decided.ok ? '' : decided.error.message);
  const now = `2026-03-17T12:${String(minute).padStart(2, '0')}:00.000Z`;
  const appended = appendEvents(session, decided.value, { now, actor: 'ana', place: 'here', cause: `c-${minute}` });
  assert.ok(isOpened(appended.session));
  return appended.session;
};

/** What was decided: the events with their data, or the code of the refusal and what it hints at. */
const then = (decided: Decision): unknown =>
  decided.ok ? decided.value.map(({ type, data }) => [type, data]) : [decided.error.code, decided.error.hint ?? null];

const paused: Move = (session) => decidePause(session, 'lunch');
const resumed: Move = (session) => decideResume(session, { actor: 'ana', place: 'here', data: {} });
const aborted: Move = (session) => decideFinish(session, { abort: true, reason: null });
const archived: Move = (session) => decideArchive(session, '.ocr/sessions/archive/a', false);
const unarchived: Move = (session) => decideUnarchive(session, '.ocr/sessions/a', false);
const reopened: Move = (session) => decideReopen(session, null);

suite('pausing', () => {
  test('an open session is paused with the reason, and without one', () => {
    assert.deepEqual(then(decidePause(given(), 'lunch')), [['SessionPaused', { reason: 'lunch' }]]);
    assert.deepEqual(then(decidePause(given(), null)), [['SessionPaused', {}]]);
    const { at, actor, reason } = given(paused).common.pause ?? {};
    assert.deepEqual([at, actor, reason], ['2026-03-17T12:01:00.000Z', 'ana', 'lunch']);
  });

  test('to pause a paused session changes nothing, and to resume it ends the pause', () => {
    assert.deepEqual(then(decidePause(given(paused), 'another reason')), []);
    assert.deepEqual(then(resumed(given(paused))), [['SessionResumed', { was_paused: true }]]);
    assert.equal(given(paused, resumed).common.pause, null);
  });

  test('that somebody goes on is recorded, with what is checked out; the same again changes nothing', () => {
    const data = { root: '/project', branch: 'main', head: 'abc' };
    assert.deepEqual(then(decideResume(given(), { actor: 'ana', place: 'here', data })), [['SessionResumed', data]]);
    const session = given(resumed);
    assert.deepEqual(then(resumed(session)), []);
    for (const other of [
      { actor: 'bob', place: 'here', data: {} },
      { actor: 'ana', place: 'there', data: {} },
    ])
      assert.deepEqual(then(decideResume(session, other)), [['SessionResumed', {}]]);
    const at =
      (more: Readonly<Record<string, string>>): Move =>
      (one) =>
        decideResume(one, { actor: 'ana', place: 'here', data: more });
    const known = given(at(data));
    for (const more of [data, {}, { head: 'abc' }]) assert.deepEqual(then(at(more)(known)), [], 'nothing differs');
    for (const more of [{ root: '/moved' }, { branch: 'feature' }, { head: 'def' }])
      assert.deepEqual(then(at(more)(known)), [['SessionResumed', more]], 'something else is checked out');
    const noted = after(session, decideNote(session, 'a remark'), 5);
    assert.deepEqual(then(resumed(noted)), [['SessionResumed', {}]], 'something has happened since');
    const { event, until, root } = given(paused, resumed).common.resumed ?? {};
    assert.deepEqual([event, until, root], [4, 4, null]);
  });

  test('what is decided together with a resume is no later happening', () => {
    const session = given();
    const both = decideResume(session, { actor: 'ana', place: 'here', data: {} });
    const remark = decideNote(session, 'interrupted something');
    assert.ok(both.ok && remark.ok);
    const together = after(session, { ok: true, value: [...both.value, ...remark.value] }, 3);
    assert.deepEqual(then(resumed(together)), []);
  });

  test('what is not known of a session is not known any better because somebody goes on', () => {
    const session = given();
    const salvaged = after(session, { ok: true, value: [kernelEvent('Salvaged', { lost: 'events 3 to 5' })] }, 3);
    assert.equal(after(salvaged, resumed(salvaged), 4).common.flaw, 'events 3 to 5');
  });

  test('a closed session is neither paused nor resumed', () => {
    assert.deepEqual(then(paused(given(aborted))), ['illegal-transition', 'stint begin review --name a']);
    assert.deepEqual(then(resumed(given(aborted))), ['illegal-transition', 'stint reopen --session review:a']);
  });

  test('what would move a paused session is refused with the command that resumes it, what does not is taken', () => {
    const session = given(paused);
    const refused = ['illegal-transition', 'stint resume --session review:a'];
    assert.deepEqual(then(decideCommand(session, { type: 'advance', phase: 'change-context' })), refused);
    assert.deepEqual(then(decideFinish(session, { abort: false, reason: null })), refused);
    assert.deepEqual(then(decideNote(session, 'still here')), [['Noted', { text: 'still here' }]]);
    assert.deepEqual(then(decideBegin(session, { branch: 'main', worktree: 'main' })), []);
    assert.deepEqual(then(decideReopen(session, null)), []);
    assert.deepEqual(then(aborted(session)), [['SessionClosed', { outcome: 'aborted' }]]);
  });

  test('a close ends the pause', () => {
    assert.equal(given(paused, aborted).common.pause, null);
    assert.equal(given(paused, aborted, reopened).common.pause, null);
  });

  test('the next action of a paused session is to resume it', () => {
    const { next } = viewOfSession(given(paused));
    assert.deepEqual([next.kind, next.command], ['resume', 'stint resume --session review:a']);
  });
});

suite('the archive', () => {
  test('only what is closed is archived, with how it ended', () => {
    // What is suggested is what works: an open review whose round is not completed is not finished.
    for (const session of [given(), given(paused)])
      assert.deepEqual(then(archived(session)), ['illegal-transition', 'stint finish --abort --session review:a']);
    assert.deepEqual(then(archived(given(aborted))), [['SessionArchived', { outcome: 'aborted' }]]);
  });

  test('how it ended, when and why stay what they are, in and out', () => {
    const outcome = ({ common }: OpenedSession) => [common.status, common.outcome, common.closedAt, common.reason];
    const closed: Move = (session) => decideFinish(session, { abort: true, reason: 'withdrawn' });
    const before = outcome(given(closed));
    assert.deepEqual(outcome(given(closed, archived)), before);
    assert.deepEqual(outcome(given(closed, archived, unarchived)), before);
  });

  test('twice is once, and to take out what is not in it changes nothing', () => {
    assert.deepEqual(then(archived(given(aborted, archived))), []);
    assert.deepEqual(then(unarchived(given(aborted, archived))), [['SessionUnarchived', {}]]);
    assert.deepEqual(then(unarchived(given(aborted, archived, unarchived))), []);
    assert.deepEqual(then(unarchived(given())), []);
  });

  test('nothing is overwritten: the refusal names the path; what is decided already is not refused', () => {
    const taken = ['conflict', 'move there away, then run the same command again'];
    assert.deepEqual(then(decideArchive(given(aborted), 'there', true)), taken);
    assert.deepEqual(then(decideUnarchive(given(aborted, archived), 'there', true)), taken);
    assert.deepEqual(then(decideArchive(given(aborted, archived), 'there', true)), []);
    assert.deepEqual(then(decideUnarchive(given(aborted), 'there', true)), []);
  });

  test('one in the archive is neither begun nor reopened before it is taken out', () => {
    const session = given(aborted, archived);
    const refused = ['illegal-transition', 'stint unarchive --session review:a'];
    assert.deepEqual(then(reopened(session)), refused);
    assert.deepEqual(then(decideBegin(session, { branch: 'main', worktree: 'main' })), refused);
    assert.deepEqual(then(decideFinish(session, { abort: false, reason: null })), refused);
    assert.equal(given(aborted, archived, unarchived, reopened).common.status, 'active');
  });

  test('the folder of one in it lies in archive beside the others, and says so until the next move', () => {
    const folderAfter = (...moves: readonly Move[]) => {
      const { common, folded } = given(...moves);
      const mark = folded.mirrors(common).find(({ path }) => path === folderMarkOf('review:a'));
      return [folderOf(kind, common), mark?.source ?? null];
    };
    assert.deepEqual(folderAfter(aborted), ['.ocr/sessions/a', null]);
    assert.deepEqual(folderAfter(aborted, archived), ['.ocr/sessions/archive/a', 4]);
    assert.deepEqual(folderAfter(aborted, archived, unarchived), ['.ocr/sessions/a', 5]);
    assert.deepEqual(folderAfter(aborted, archived, unarchived, reopened), ['.ocr/sessions/a', 5], 'it stays there');
  });
});

suite('reopening', () => {
  test('a closed session goes on with the reason on record, an open one as it stands', () => {
    const [first] = then(decideReopen(given(aborted), 'it was needed')) as readonly unknown[];
    assert.deepEqual(first, ['SessionReopened', { after: 'aborted', reason: 'it was needed' }]);
    assert.deepEqual(then(decideReopen(given(), 'it was needed')), []);
  });
});
