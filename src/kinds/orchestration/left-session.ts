import type { KindCommand } from '../../kernel/kind.ts';
import type { LeftEntry, LeftSession } from '../../kernel/take-over.ts';
import { standingOf } from '../../formats/orchestrator/standing.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import type { SessionToTake } from './found-sessions.ts';

/** A session as an orchestrator has left it, for one that is opened in a worktree. */
export const leftSession = (session: SessionToTake, worktree: string): LeftSession => {
  const { found, problems } = session;
  const { document, isInHistory } = found;
  const { session_id: id, created, updated, goal, project, status } = document;
  const { outcome, paused, isInterrupted } = standingOf(found);
  const reason = outcome === 'aborted' && status !== 'aborted' ? 'it lay in the history unfinished' : null;
  return {
    source: `orchestrator ${id}`,
    opening: { branch: project.git_branch, worktree, ...(goal === '' ? {} : { goal }) },
    command: commandOf(session),
    created,
    updated,
    entries: entriesOf(session),
    paused: paused ? { reason: null } : null,
    closed: outcome === null ? null : { outcome, reason, at: updated },
    isArchived: isInHistory && outcome !== null,
    isInterrupted,
    problems,
    lost: found.lost,
    files: [],
  };
};

const commandOf = ({ found, digest }: SessionToTake): KindCommand => ({
  type: 'import',
  digest,
  is_over: standingOf(found).status === 'closed',
  // It was read from JSON, and is as plain.
  document: found.document as unknown as JsonObject,
  unknown: { ...found.unknown },
});

/** What was decided, and what went wrong without an agent, at its time; what has none stands where the file was written last. */
const entriesOf = ({ found: { document } }: SessionToTake): readonly LeftEntry[] => [
  ...document.decisions_made.map(({ decision, rationale, timestamp }): LeftEntry => ({
    at: timestamp ?? document.updated,
    entry: 'decision',
    text: decision,
    ...(rationale === '' ? {} : { rationale }),
  })),
  ...document.errors
    .filter(({ agent }) => agent === undefined)
    .map(({ message, at }): LeftEntry => ({ at: at ?? document.updated, entry: 'error', text: message })),
];
