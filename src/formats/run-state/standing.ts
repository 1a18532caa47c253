import type { Json } from '../../lib/canonical-json.ts';
import type { NodeStatus, RunDocument, RunStatus } from './document.ts';
import { isCheckpoint, isDone, type NodeDocument } from './nodes.ts';

/** What follows from the states of nodes. The pointers of a file are compared with it, and never believed. */

/** Where a run is by the states of its nodes. */
export interface Position {
  readonly current_batch: number;
  readonly current_node: string | null;
  readonly last_checkpoint: string | null;
  /** The checkpoint at which a paused run waits for a decision; null for every other run. */
  readonly waitsAt: string | null;
  /** The nodes that may be called the current one: several where a batch is parallel. */
  readonly candidates: readonly string[];
  /** All nodes that are not done. */
  readonly open: readonly string[];
  /** Nodes that were begun although a batch before theirs is not done. */
  readonly ahead: readonly string[];
}

/** What of a run says where it is. */
export type RunFacts = Pick<RunDocument, 'status' | 'execution_plan' | 'node_states'>;

export const positionOf = (run: RunFacts): Position => {
  const { execution_plan: plan } = run;
  const stateOf = (id: string): NodeDocument | undefined => run.node_states[id];
  const isOpen = (id: string): boolean => {
    const node = stateOf(id);
    return node === undefined || !isDone(node);
  };
  const at = plan.findIndex(({ nodes }) => nodes.some(isOpen));
  const next = plan[at]?.nodes.filter(isOpen) ?? [];
  const waitsAt = run.status === 'paused' ? waitingAt(run, at) : null;
  const running = next.find((id) => stateOf(id)?.status === 'running');
  return {
    current_batch:
      plan.find(({ nodes }) => waitsAt !== null && nodes.includes(waitsAt))?.batch ?? (at < 0 ? plan.length : at + 1),
    current_node: waitsAt ?? running ?? next[0] ?? null,
    last_checkpoint:
      plan
        .flatMap(({ nodes }) => nodes)
        .findLast((id) => {
          const node = stateOf(id);
          return node !== undefined && isCheckpoint(node) && node.status === 'completed';
        }) ?? null,
    waitsAt,
    candidates: waitsAt === null ? next : [waitsAt],
    open: plan.flatMap(({ nodes }) => nodes.filter(isOpen)),
    ahead:
      at < 0
        ? []
        : plan
            .slice(at + 1)
            .flatMap(({ nodes }) => nodes.filter((id) => (stateOf(id)?.status ?? 'pending') !== 'pending')),
  };
};

/**
 * The original marks a checkpoint as completed before it asks whether to go on in one of its texts, and after that in
 * another one. So a paused run waits at the completed checkpoint behind which nothing was begun, else at the one that
 * would be next.
 */
const waitingAt = ({ execution_plan: plan, node_states: nodes }: RunFacts, at: number): string | null => {
  const open = at < 0 ? plan.length : at;
  const checkpointIn = (index: number, status: NodeDocument['status']): string | undefined =>
    plan[index]?.nodes.find((id) => {
      const node = nodes[id];
      return node !== undefined && isCheckpoint(node) && node.status === status;
    });
  const isUntouched = (plan[open]?.nodes ?? []).every((id) => nodes[id]?.status === 'pending');
  return (isUntouched ? checkpointIn(open - 1, 'completed') : undefined) ?? checkpointIn(open, 'pending') ?? null;
};

/** The status that the states of nodes speak for, where a file says none that can be believed. */
export const statusOfNodes = (run: Pick<RunDocument, 'execution_plan' | 'node_states'>): RunStatus => {
  const statuses = run.execution_plan.flatMap(({ nodes }) =>
    nodes.map((id) => run.node_states[id]?.status ?? 'pending'),
  );
  const isOver = statuses.length > 0 && statuses.every((status) => status !== 'pending' && status !== 'running');
  if (!isOver) return 'running';
  return statuses.includes('failed') ? 'failed' : 'completed';
};

/** What a run that is taken over would be here. */
export interface Standing {
  readonly status: 'active' | 'closed';
  readonly outcome: 'completed' | 'failed' | 'aborted' | null;
  readonly paused: boolean;
  readonly archived: boolean;
  /** The checkpoint at which it waits for a decision. */
  readonly waitsAt: string | null;
  /** Nodes that were said to be running. Nobody knows whether they still do: they are in doubt. */
  readonly inDoubt: readonly string[];
}

/** The original keeps no other status beside `archived`; what follows its rules and ours may name the one before. */
export const standingOf = (run: {
  readonly document: RunDocument;
  readonly unknown: Readonly<Record<string, Json>>;
  readonly isInArchive: boolean;
}): Standing => {
  const { document, unknown, isInArchive } = run;
  const archived = document.status === 'archived' || isInArchive;
  const outcome = outcomeOf(document, archived, unknown['previous_status']);
  return {
    status: outcome === null ? 'active' : 'closed',
    outcome,
    paused: outcome === null && document.status === 'paused',
    archived,
    waitsAt: outcome === null ? positionOf(document).waitsAt : null,
    inDoubt: Object.entries(document.node_states)
      .filter(([, { status }]) => status === 'running')
      .map(([id]) => id),
  };
};

/**
 * Whoever has put a run into the archive has ended it, whatever else it says: nobody goes on with what lies there. What says
 * that it is completed is so only where nothing is left of it; else it goes on, or, in the archive, was given up.
 */
const outcomeOf = (document: RunDocument, archived: boolean, before: Json | undefined): Standing['outcome'] => {
  const said = document.status === 'archived' ? before : document.status;
  if (said === 'failed' || said === 'aborted') return said;
  const left = leftOf(document);
  if (!archived) {
    if (said !== 'completed') return null;
    if (left.length === 0) return 'completed';
    return left.every((status) => status === 'failed') ? 'failed' : null;
  }
  if (left.length === 0) return 'completed';
  const hasFailed = Object.values(document.node_states).some((node) => node.status === 'failed');
  return hasFailed ? 'failed' : 'aborted';
};

/** The statuses of the nodes that are not done; where there is no plan, of all that are known. */
const leftOf = ({ execution_plan: plan, node_states: nodes }: RunDocument): readonly NodeStatus[] => {
  const ids = plan.length === 0 ? Object.keys(nodes) : plan.flatMap((batch) => batch.nodes);
  return ids.flatMap((id) => {
    const node = nodes[id];
    if (node === undefined) return ['pending'];
    return isDone(node) ? [] : [node.status];
  });
};
