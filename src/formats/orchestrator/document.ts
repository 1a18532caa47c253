import type { JsonObject } from '../../lib/canonical-json.ts';

/**
 * The file of an orchestrator of agents, `.claude/orchestrator-session.json`, in its schema 1.0. A file of its history,
 * `.claude/orchestrator-history/<id>.json`, is the same. Keys are the original's, in its order.
 */

/** The version that is written; the original reads no other one. */
export const schemaVersion = '1.0';

/** What a session may be in. */
export const sessionStatuses = ['created', 'in_progress', 'paused', 'complete', 'aborted'] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/** What an agent may be in. */
export const agentStatuses = ['pending', 'in_progress', 'complete', 'failed', 'cancelled'] as const;
export type AgentStatus = (typeof agentStatuses)[number];

/** How an orchestrator works. */
export const modes = ['default', 'debug', 'optimize', 'release'] as const;
export type Mode = (typeof modes)[number];

/** A whole file. */
export interface OrchestratorDocument {
  readonly schema_version: string;
  readonly session_id: string;
  readonly created: string;
  readonly updated: string;
  readonly project: ProjectDocument;
  readonly goal: string;
  readonly mode: Mode;
  readonly status: SessionStatus;
  readonly agents: readonly AgentDocument[];
  readonly completed_work: readonly WorkDocument[];
  readonly pending_tasks: readonly string[];
  readonly decisions_made: readonly DecisionDocument[];
  readonly context_usage: UsageDocument;
  readonly errors: readonly ErrorDocument[];
}

/** What the session is about; null is what is not known. */
export interface ProjectDocument {
  readonly name: string | null;
  readonly path: string | null;
  readonly git_branch: string | null;
}

/** An agent, which is known by an id of its own. */
export interface AgentDocument {
  readonly id: string;
  readonly type: string;
  readonly task: string;
  readonly status: AgentStatus;
  /** Null where it was not begun, or where that is not known. */
  readonly started: string | null;
  readonly completed?: string;
  /** A whole number of percent. */
  readonly progress?: number;
  readonly result_summary?: string;
  readonly context_tokens?: number;
  /** Why it failed; the original shows no key for that, and its users write this one. */
  readonly error?: string;
}

/** Something that is done. */
export interface WorkDocument {
  readonly task: string;
  readonly outcome: string;
  readonly files: readonly string[];
}

/** Something that was decided. */
export interface DecisionDocument {
  readonly decision: string;
  readonly rationale: string;
  readonly timestamp: string | null;
}

/** How much of the context of the orchestrator is used; null is what is not known. */
export interface UsageDocument {
  readonly estimated_tokens: number | null;
  readonly percentage: number | null;
  readonly last_compression: string | null;
}

/** Something that went wrong. The original never shows one. */
export interface ErrorDocument {
  readonly agent?: string;
  readonly message: string;
  readonly at?: string;
}

/** Keys that are not of the format, as they were found: they survive every rewriting. */
export interface UnknownKeys {
  readonly file: JsonObject;
  readonly project: JsonObject;
  readonly context_usage: JsonObject;
  /** By the ids of agents. */
  readonly agents: Readonly<Record<string, JsonObject>>;
  /** By the places in their lists, from 0. */
  readonly completed_work: Readonly<Record<string, JsonObject>>;
  readonly pending_tasks: Readonly<Record<string, JsonObject>>;
  readonly decisions_made: Readonly<Record<string, JsonObject>>;
  readonly errors: Readonly<Record<string, JsonObject>>;
}

/** Of a file that holds what the format has and nothing else. */
export const nothingUnknown: UnknownKeys = {
  file: {},
  project: {},
  context_usage: {},
  agents: {},
  completed_work: {},
  pending_tasks: {},
  decisions_made: {},
  errors: {},
};
