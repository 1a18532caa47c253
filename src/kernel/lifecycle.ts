import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import type { Common } from './common.ts';
import { kernelEvent, type DecidedEvent } from './event.ts';
import { blockersOf } from './journal.ts';
import type { KindCommand } from './kind.ts';
import { decideClose } from './process.ts';
import { refuse, type Refusal } from './refusal.ts';
import { isOpened, viewOfSession, type OpenedSession, type Session } from './session.ts';
import { pauseText, reopenCommand, resumeCommand } from './view.ts';

type Decision = Result<readonly DecidedEvent[], Refusal>;

/**
 * Opens a session, goes on with an open one without an event, or reopens a closed one; what that means for the work is the
 * kind's answer to `begin` and `continue`.
 */
export const decideBegin = (
  session: Session,
  opening: { readonly branch: string | null; readonly worktree: string; readonly goal?: string },
  {
    mode,
    project,
    declared,
  }: {
    readonly mode?: string | undefined;
    readonly project?: { readonly name: string; readonly path: string };
    readonly declared?: JsonObject | undefined;
  } = {},
): Decision => {
  const unreadable = refuseUnreadable(session);
  if (unreadable !== undefined) return err(unreadable);
  if (!isOpened(session)) {
    if (session.kind.needsGoal && opening.goal === undefined) return err(refuseAimless(session));
    const begin = {
      type: 'begin',
      ...(mode === undefined ? {} : { mode }),
      // The file of the current session says whose it is.
      ...(project === undefined || session.kind.current === undefined ? {} : { project }),
      ...(declared === undefined ? {} : { declared }),
    };
    return prepend(kernelEvent('SessionOpened', opening), askKind(session, begin));
  }
  const { goal } = session.common;
  if (opening.goal !== undefined && goal !== opening.goal) return err(refuseOtherGoal(session, goal));
  const { mode: known } = viewOfSession(session).where;
  if (mode !== undefined && typeof known === 'string' && mode !== known) return err(refuseOtherMode(session, known));
  return session.common.status === 'active' ? ok([]) : decideReopen(session, null);
};

const refuseAimless = ({ kind }: Session): Refusal =>
  refuse('usage', `begin: a session of the kind ${kind.name} says what it is to come to.`, {
    expected: '--goal GOAL',
    hint: `stint begin ${kind.name} --goal GOAL`,
  });

const refuseOtherGoal = ({ key, kind }: Session, goal: string | null): Refusal =>
  refuse('conflict', `${key} is there, with ${goal === null ? 'no goal' : 'another goal'}.`, {
    expected: 'its own goal, or none to go on with it',
    hint: kind.current?.successor ?? `stint begin ${kind.name} --fresh --goal GOAL`,
  });

const refuseOtherMode = ({ common }: OpenedSession, mode: string): Refusal =>
  refuse('conflict', `${common.key} is there, in the mode ${mode}.`, {
    expected: 'its own mode, or none to go on with it',
    hint: common.status === 'active' ? resumeCommand(common) : reopenCommand(common),
  });

/**
 * Goes on with a closed session: a completed one with what comes after it, any other where it was left. `override`: why one
 * goes on that is over for good.
 */
export const decideReopen = (session: OpenedSession, reason: string | null, override?: string): Decision => {
  const { key, status, outcome, archivedAt } = session.common;
  if (status === 'active') return ok([]);
  if (archivedAt !== null)
    return err(
      refuse('illegal-transition', `${key} lies in the archive since ${archivedAt}.`, {
        expected: 'a session that is not archived',
        legal: [reopenCommand(session.common)],
        hint: reopenCommand(session.common),
      }),
    );
  const why = reason ?? override;
  return prepend(
    kernelEvent('SessionReopened', { after: outcome, ...(why === undefined ? {} : { reason: why }) }),
    askKind(session, {
      type: 'continue',
      after: outcome,
      ...(override === undefined || !session.kind.endsForGood ? {} : { override }),
    }),
  );
};

/** Closes a session: completed only with nothing missing, aborted at any time. Closing it again the same way changes nothing. */
export const decideFinish = (
  session: Session,
  wish: { readonly abort: boolean; readonly reason: string | null; readonly process?: string | undefined },
): Decision => {
  const unreadable = refuseUnreadable(session);
  if (unreadable !== undefined) return err(unreadable);
  if (!isOpened(session)) return err(refuseAbsent(session.key));
  const outcome = wish.abort ? 'aborted' : 'completed';
  const { common } = session;
  if (common.status === 'closed') {
    if (common.outcome === outcome) return ok([]);
    return err(
      refuse('illegal-transition', `${session.key} is closed already: ${common.outcome}.`, {
        expected: 'an open session',
        legal: [wayBack(session)],
        hint: wayBack(session),
      }),
    );
  }
  if (!wish.abort) {
    if (common.pause !== null) return err(refusePaused(common));
    const { missing, next } = viewOfSession(session);
    if (missing.length > 0) {
      return err(
        refuse('invariant-unmet', `${session.key} is not complete: ${missing.join('; ')}.`, {
          expected: 'nothing missing',
          faults: missing,
          legal: [next.command ?? '', `stint finish --abort --session ${session.key}`].filter(
            (command) => command !== '',
          ),
          ...(next.command === null ? {} : { hint: next.command }),
        }),
      );
    }
  }
  return ok([
    kernelEvent('SessionClosed', { outcome, ...(wish.reason === null ? {} : { reason: wish.reason }) }),
    ...decideClose([...session.processes.values()], wish.process),
  ]);
};

/**
 * Asks the kind. Whether a closed session may answer at all (to a repeat) is the kind's to say. Where it closes the session,
 * that is a close as any other: who runs on it is cancelled, but not the process that acts.
 */
export const decideCommand = (session: Session, command: KindCommand, process?: string): Decision => {
  const unreadable = refuseUnreadable(session);
  if (unreadable !== undefined) return err(unreadable);
  if (!isOpened(session)) return err(refuseAbsent(session.key));
  if (!session.kind.commandTypes.includes(command.type)) {
    return err(
      refuse('illegal-transition', `A ${session.kind.name} has no ${command.type}.`, {
        expected: 'a session of a kind that has it',
        legal: [`stint status --session ${session.key}`],
        hint: `stint status --session ${session.key}`,
      }),
    );
  }
  const isUnderWay = underWay.has(command.type) || session.kind.whilePaused.includes(command.type);
  if (session.common.pause !== null && !isUnderWay) return err(refusePaused(session.common));
  const decided = askKind(session, command);
  const closes = decided.ok && decided.value.some(({ type }) => type === 'SessionClosed');
  return closes ? ok([...decided.value, ...decideClose([...session.processes.values()], process)]) : decided;
};

/** What a paused session still takes: what is said of work that is under way, and what is decided about it. */
const underWay: ReadonlySet<string> = new Set([
  'start-step',
  'end-step',
  'interrupt-step',
  'settle-step',
  'skip-step',
  'decide',
  'import',
]);

/** What a paused session says to a command that would move it. */
export const refusePaused = (common: Common): Refusal =>
  refuse(
    'illegal-transition',
    `${common.key} is paused${common.pause === null ? '' : ` ${pauseText(common.pause)}`}.`,
    {
      expected: 'a session that is not paused',
      legal: [resumeCommand(common)],
      hint: resumeCommand(common),
    },
  );

/** A remark in the journal; a closed session takes it too. */
export const decideNote = (session: Session, text: string): Decision => {
  if (!isOpened(session)) return err(refuseAbsent(session.key));
  const unreadable = refuseUnreadable(session);
  if (unreadable !== undefined) return err(unreadable);
  return ok([{ ...kernelEvent('Noted', { text }), v: 1 }]);
};

/** What is not known any more of a session that was saved from a damaged store is kept with it. */
export const decideSalvaged = (session: Session, lost: string): Decision =>
  isOpened(session) ? ok([kernelEvent('Salvaged', { lost })]) : err(refuseAbsent(session.key));

/** What is decided of a session that is there and can be folded; open, where it must be. */
export const decideOpened = (
  session: Session,
  decide: (session: OpenedSession) => Decision,
  { mustBeOpen = false } = {},
): Decision => {
  if (!isOpened(session)) return err(refuseAbsent(session.key));
  const unreadable = refuseUnreadable(session);
  if (unreadable !== undefined) return err(unreadable);
  if (mustBeOpen && session.common.status === 'closed') return err(refuseClosed(session.common, wayBack(session)));
  return decide(session);
};

/** Whether a session is over for good: it goes on with a reason only. */
export const isOverForGood = ({ common, kind }: OpenedSession): boolean =>
  kind.endsForGood && common.outcome === 'completed';

/** The command with which a closed session goes on. */
export const wayBack = (session: OpenedSession): string => {
  const { common } = session;
  return isOverForGood(session) && common.archivedAt === null
    ? `stint reopen --override REASON --session ${common.key}`
    : reopenCommand(common);
};

/** What a closed session says to a command that would move it. */
export const refuseClosed = (common: Common, way = reopenCommand(common)): Refusal =>
  refuse('illegal-transition', `${common.key} is closed (${common.outcome}): nothing but a new start moves it.`, {
    expected: 'an open session',
    legal: [way],
    hint: way,
  });

/** A kind that completes a session by itself does not know of what keeps it open: that is left to whoever clears it. */
const askKind = (session: Session, command: KindCommand): Decision => {
  const { common } = session;
  const decided = session.folded.decide(command, { common, samples: session.samples });
  if (!decided.ok || common === undefined || blockersOf(common).length === 0) return decided;
  return ok(decided.value.filter(({ type, data }) => type !== 'SessionClosed' || data['outcome'] !== 'completed'));
};

const prepend = (event: DecidedEvent, decision: Decision): Decision =>
  decision.ok ? ok([event, ...decision.value]) : decision;

const refuseAbsent = (key: string): Refusal =>
  refuse('not-found', `There is no session ${key}.`, { hint: 'stint list --all' });

const refuseUnreadable = ({ key, unreadable }: Session): Refusal | undefined => {
  if (unreadable === undefined) return undefined;
  const { type, v, seq, reason } = unreadable;
  return reason === 'newer'
    ? refuse(
        'newer-version',
        `${key} holds the event ${type} (version ${v}, event ${seq}), which this program does not know; it can be read, not written.`,
        {
          expected: 'events that this program knows',
          hint: 'use the newer stint that wrote it',
        },
      )
    : refuse('damaged', `${key} cannot be folded: event ${seq} (${type}) breaks its own schema.`, {
        hint: 'stint doctor',
      });
};
