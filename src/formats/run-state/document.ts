import type { JsonObject } from '../../lib/canonical-json.ts';

/**
 * The files of a workflow run as the original workflow player keeps them: `session-state.json` and the snapshots in
 * `checkpoints/`. Keys are the original's; seconds are enough for it, so that times are printed without milliseconds
 * where there are none.
 */

/** What a session of the original may be in; `archived` says nothing about how it ended. */
export const runStatuses = ['running', 'paused', 'completed', 'failed', 'aborted', 'archived'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** What a node may be in. */
export const nodeStatuses = ['pending', 'running', 'completed', 'skipped', 'failed'] as const;
export type NodeStatus = (typeof nodeStatuses)[number];

/** Nodes that are done together: in parallel, or one alone. Numbered from 1 without gaps. */
export interface Batch {
  readonly batch: number;
  readonly nodes: readonly string[];
  readonly parallel: boolean;
}

/** `session-state.json`. */
export interface RunDocument {
  readonly session_id: string;
  readonly template_id: string;
  readonly template_path: string;
  readonly template_name: string;
  readonly status: RunStatus;
  readonly context: Readonly<Record<string, string>>;
  readonly execution_plan: readonly Batch[];
  readonly current_batch: number;
  /** Null once nothing is left to be done. */
  readonly current_node: string | null;
  readonly last_checkpoint: string | null;
  readonly node_states: Readonly<Record<string, WorkDocument | CheckpointDocument>>;
  readonly created_at: string;
  readonly updated_at: string;
  readonly completed_at: string | null;
}

/** What is kept of a node that does work. */
export interface WorkDocument {
  readonly status: NodeStatus;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  /** The session that the node has started: `child_session` everywhere else. */
  readonly session_id: string | null;
  readonly output_path: string | null;
  readonly artifacts: readonly string[];
  readonly error: string | null;
  /** Only of a node that a background command line works on. */
  readonly cli_task_id?: string;
}

/** What is kept of a checkpoint. */
export interface CheckpointDocument {
  readonly status: NodeStatus;
  readonly saved_at: string | null;
  readonly snapshot_path: string | null;
  readonly auto_continue?: boolean;
}

/** `checkpoints/<id>.json`. */
export interface SnapshotDocument {
  readonly session_id: string;
  readonly checkpoint_id: string;
  readonly checkpoint_name: string;
  readonly saved_at: string;
  readonly context_snapshot: Readonly<Record<string, string>>;
  readonly node_states_snapshot: RunDocument['node_states'];
  readonly last_completed_node: string | null;
  readonly next_node: string | null;
}

/** A document as its file holds it; keys that are not of the format stand behind those that are. */
export const printDocument = (document: RunDocument | SnapshotDocument, unknown: JsonObject = {}): string =>
  `${JSON.stringify({ ...document, ...unknown }, null, 2)}\n`;
