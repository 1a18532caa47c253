import { err, ok, type Result } from '../lib/result.ts';
import type { Resumed } from './common.ts';
import { kernelEvent, type DecidedEvent } from './event.ts';
import { isOverForGood, refuseClosed, wayBack } from './lifecycle.ts';
import { refuse, type Refusal } from './refusal.ts';
import { viewOfSession, type OpenedSession } from './session.ts';

/** Pausing and archiving, the same for every kind; no other verb is started with it. */

type Decision = Result<readonly DecidedEvent[], Refusal>;

/** Stops a session: what is under way may end, nothing new is begun. Pausing it again changes nothing. */
export const decidePause = (session: OpenedSession, reason: string | null): Decision => {
  const { common } = session;
  if (common.status === 'closed') return err(refuseClosed(common, wayBack(session)));
  return ok(common.pause === null ? [kernelEvent('SessionPaused', reason === null ? {} : { reason })] : []);
};

/** Who goes on with a session, from where, and what is checked out there; what of that is not known is left out. */
export interface Resumption {
  readonly actor: string;
  readonly place: string;
  readonly data: { readonly root?: string; readonly branch?: string; readonly head?: string };
}

/**
 * Goes on with a session, on the record, and ends a pause where there is one. The same actor in the same place changes nothing
 * by saying it again, as long as nothing else has happened since, and what is checked out there is still the same.
 */
export const decideResume = (session: OpenedSession, { actor, place, data }: Resumption): Decision => {
  const { common } = session;
  const { status, pause, resumed, seq, key, archivedAt } = common;
  if (status === 'closed') {
    const isPlain = archivedAt === null && !isOverForGood(session);
    const reopen = isPlain ? `stint reopen --session ${key}` : wayBack(session);
    return err({ ...refuseClosed(common), legal: [reopen], hint: reopen });
  }
  const isRepeat =
    pause === null &&
    resumed?.actor === actor &&
    resumed.place === place &&
    resumed.until === seq &&
    !differs(resumed, data);
  return ok(
    isRepeat ? [] : [kernelEvent('SessionResumed', { ...data, ...(pause === null ? {} : { was_paused: true }) })],
  );
};

/** Whether something else is checked out than when somebody resumed it, as far as that is known. */
const differs = (before: Resumed, { root, branch, head }: Resumption['data']): boolean =>
  (root ?? before.root) !== before.root ||
  (branch ?? before.branch) !== before.branch ||
  (head ?? before.head) !== before.head;

/** Puts a closed session away. How it ended stays what it is. `isTaken`: something lies where its folder is to go. */
export const decideArchive = (session: OpenedSession, to: string, isTaken: boolean): Decision => {
  const { common } = session;
  const { key } = common;
  if (common.archivedAt !== null) return ok([]);
  if (common.status === 'active')
    return err(
      refuse('illegal-transition', `${key} is open: only what is over is archived.`, {
        expected: 'a closed session',
        ...closing(session),
      }),
    );
  return isTaken ? err(refuseTaken(key, to)) : ok([kernelEvent('SessionArchived', { outcome: common.outcome })]);
};

/** What closes an open session as it stands: it is finished only where nothing is missing and nobody has paused it. */
export const closing = (session: OpenedSession): { readonly legal: readonly string[]; readonly hint: string } => {
  const finish = `stint finish --session ${session.key}`;
  const abort = `stint finish --abort --session ${session.key}`;
  const isComplete = session.common.pause === null && viewOfSession(session).missing.length === 0;
  return isComplete ? { legal: [finish, abort], hint: finish } : { legal: [abort], hint: abort };
};

/** Takes a session out of the archive; one that is not in it where its folder is (`isMisplaced`): somebody has moved that. */
export const decideUnarchive = (
  { common }: OpenedSession,
  to: string,
  isTaken: boolean,
  isMisplaced = false,
): Decision => {
  if (common.archivedAt === null && !isMisplaced) return ok([]);
  return isTaken ? err(refuseTaken(common.key, to)) : ok([kernelEvent('SessionUnarchived', {})]);
};

const refuseTaken = (key: string, to: string): Refusal =>
  refuse('conflict', `${key} is not moved: ${to} is there already, and nothing is overwritten.`, {
    expected: `no ${to}`,
    hint: `move ${to} away, then run the same command again`,
  });
