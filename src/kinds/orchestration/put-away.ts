import type { DecidedEvent } from '../../kernel/event.ts';
import { decideFinish, decideOpened, decideReopen } from '../../kernel/lifecycle.ts';
import { decideArchive, decideUnarchive } from '../../kernel/lifecycle-rules.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import { appendEvents, isOpened, viewOfSession, type OpenedSession, type Session } from '../../kernel/session.ts';
import { ok, type Result } from '../../lib/result.ts';
import { home } from './documents.ts';

/** Putting an orchestration away, and taking it up again, each in one commit. */

type Decision = Result<readonly DecidedEvent[], Refusal>;

/** Closes the open session and puts it into the archive: as completed where nothing is missing, else as aborted, and why. */
export const putAway = (session: Session, reason: string, process: string | undefined): Decision =>
  decideInTurn(
    session,
    (opened) => {
      if (opened.common.status === 'closed') return ok([]);
      const isComplete = opened.common.pause === null && viewOfSession(opened).missing.length === 0;
      return decideFinish(opened, { abort: !isComplete, reason: isComplete ? null : reason, process });
    },
    (opened) => decideArchive(opened, home, false),
  );

/** Takes a closed session out of the archive, and goes on with it where it was left. */
export const takeUp = (session: Session, reason: string | null): Decision =>
  decideInTurn(
    session,
    (opened) => decideUnarchive(opened, home, false),
    (opened) => (opened.common.status === 'active' ? ok([]) : decideReopen(opened, reason)),
  );

/** One decision after the other, each on what the one before has led to. */
const decideInTurn = (
  session: Session,
  first: (session: OpenedSession) => Decision,
  second: (session: OpenedSession) => Decision,
): Decision =>
  decideOpened(session, (opened) => {
    const before = first(opened);
    if (!before.ok) return before;
    // Numbers and hashes are those of nobody: what is appended is decided by the store.
    const origin = { now: opened.common.updatedAt, actor: '', place: '', cause: '' };
    const after = appendEvents(opened, before.value, origin).session;
    const then = isOpened(after) ? second(after) : ok([]);
    return then.ok ? ok([...before.value, ...then.value]) : then;
  });
