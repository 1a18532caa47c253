import type { KindCommand } from '../../kernel/kind.ts';
import type { LeftSession } from '../../kernel/take-over.ts';
import { standingOf } from '../../formats/run-state/standing.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import type { RunToTake } from './found-runs.ts';

/** A run as another program has left it, for a session that is opened in a worktree. */
export const leftRun = (run: RunToTake, worktree: string): LeftSession => {
  const { found, problems, files } = run;
  const { session_id: id, created_at: created, updated_at: updated, completed_at: completed } = found.document;
  const { status, outcome, paused, archived, waitsAt } = standingOf(found);
  return {
    source: `workflow-run ${id}`,
    opening: { branch: null, worktree },
    command: commandOf(run),
    created,
    updated,
    entries: [],
    paused: paused ? { reason: waitsAt === null ? null : `at the checkpoint ${waitsAt}` } : null,
    closed: outcome === null ? null : { outcome, reason: reasonOf(run), at: completed ?? updated },
    isArchived: archived,
    isInterrupted: status === 'active' && !paused,
    problems,
    lost: [],
    files,
  };
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
