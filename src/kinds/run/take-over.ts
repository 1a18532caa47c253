import { kernelEvent, type DecidedEvent } from '../../kernel/event.ts';
import type { KindCommand } from '../../kernel/kind.ts';
import { decideCommand } from '../../kernel/lifecycle.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import { appendEvents, isOpened, type Session } from '../../kernel/session.ts';
import { standingOf } from '../../formats/run-state/standing.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { ok, type Result } from '../../lib/result.ts';
import type { RunToTake } from './found-runs.ts';

/** What becomes of a session for which a run of another program was found. */
export interface TakenOver {
  readonly result: 'imported' | 'updated' | 'unchanged' | 'left';
  /** Why it was left alone. */
  readonly why: string | null;
  readonly events: readonly DecidedEvent[];
}

/** From where a run comes, in the words of its session. */
const sourceOf = ({ found }: RunToTake): string => `workflow-run ${found.document.session_id}`;

/**
 * Takes over a run as another program has left it: whole, or, where an earlier version of it was taken and nothing has
 * happened to it here since, anew. Each event happened when the file says so.
 */
export const decideTakeOver = (session: Session, run: RunToTake, worktree: string): Result<TakenOver, Refusal> => {
  const left = (why: string): Result<TakenOver, Refusal> => ok({ result: 'left', why, events: [] });
  const command = commandOf(run);
  if (isOpened(session)) {
    const { imported, revision } = session.common;
    if (imported?.source !== sourceOf(run)) return left('A session of this name was begun here.');
    const asked = decideCommand(session, command);
    if (asked.ok && asked.value.length === 0) return ok({ result: 'unchanged', why: null, events: [] });
    if (imported.revision !== revision) return left('It has gone on here since it was taken over.');
    if (takenOf(run) < imported.taken) return left('A newer version of it was taken over.');
  }
  const events = eventsOf(session, run, command, worktree);
  return events.ok
    ? ok({ result: isOpened(session) ? 'updated' : 'imported', why: null, events: events.value })
    : events;
};

const commandOf = ({ found, digest, nodes, template }: RunToTake): KindCommand => ({
  type: 'import',
  digest,
  is_over: standingOf(found).status === 'closed',
  // It was read from JSON, and is as plain.
  document: found.document as unknown as JsonObject,
  nodes: nodes.map((node) => ({ ...node })),
  ...(template === undefined ? {} : { template: template.json, template_digest: template.digest }),
  unknown: found.unknown,
  unknown_of_nodes: found.unknownOfNodes,
  unknown_of_batches: found.unknownOfBatches,
});

/** What tells how far a file reaches. */
const takenOf = ({ found }: RunToTake): number => Date.parse(found.document.updated_at);

const eventsOf = (
  session: Session,
  run: RunToTake,
  command: KindCommand,
  worktree: string,
): Result<readonly DecidedEvent[], Refusal> => {
  const { found, problems, files } = run;
  const { document } = found;
  const standing = standingOf(found);
  const events: DecidedEvent[] = [];
  let after = session;
  const take = (decided: readonly DecidedEvent[], time: string): void => {
    const at = instantOf(time);
    const timed = decided.map((event) => ({ ...event, happened: at }));
    events.push(...timed);
    if (timed.length > 0) after = appendEvents(after, timed, { now: at, actor: '', place: '', cause: '' }).session;
  };
  const { created_at: created, updated_at: updated } = document;
  if (isOpened(session)) {
    const { archivedAt, status, outcome, pause } = session.common;
    if (archivedAt !== null) take([kernelEvent('SessionUnarchived', {})], updated);
    if (status === 'closed') take([kernelEvent('SessionReopened', { after: outcome })], updated);
    if (pause !== null) take([kernelEvent('SessionResumed', {})], updated);
  } else take([kernelEvent('SessionOpened', { branch: null, worktree })], created);
  const decided = decideCommand(after, command);
  if (!decided.ok) return decided;
  take(decided.value, updated);
  const ended = document.completed_at ?? updated;
  if (standing.paused) {
    const { waitsAt } = standing;
    take([kernelEvent('SessionPaused', waitsAt === null ? {} : { reason: `at the checkpoint ${waitsAt}` })], updated);
  }
  if (standing.outcome !== null) {
    const reason = reasonOf(run);
    take([kernelEvent('SessionClosed', { outcome: standing.outcome, ...(reason === null ? {} : { reason }) })], ended);
  }
  if (standing.archived) take([kernelEvent('SessionArchived', { outcome: standing.outcome })], ended);
  const isRunning = standing.status === 'active' && !standing.paused;
  events.push(
    kernelEvent('Imported', {
      source: sourceOf(run),
      taken: takenOf(run),
      // Nobody is known to work on it, and that is when somebody was heard of.
      ...(isRunning ? { interrupted_at: instantOf(updated) } : {}),
      ...(problems.length === 0 ? {} : { problems }),
      ...(files.length === 0 ? {} : { files }),
    }),
  );
  return ok(events);
};

/** Why a run was closed, as far as its file tells. */
const reasonOf = ({ found }: RunToTake): string | null => {
  const { outcome } = standingOf(found);
  const { status, node_states: nodes } = found.document;
  const failed = Object.entries(nodes).find(([, node]) => node.status === 'failed');
  if (outcome === 'failed' && failed !== undefined) {
    const [id, node] = failed;
    const error = 'error' in node ? node.error : null;
    return `${id} failed${error === null ? '' : `: ${error}`}`;
  }
  return outcome === 'aborted' && status !== 'aborted' ? 'it was put into the archive unfinished' : null;
};

/** A time of a file as events have it, with milliseconds. */
const instantOf = (time: string): string => time.replace(/(?<!\.\d{3})Z$/, '.000Z');
