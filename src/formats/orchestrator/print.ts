import type { JsonObject } from '../../lib/canonical-json.ts';
import { nothingUnknown, type OrchestratorDocument, type UnknownKeys } from './document.ts';

/**
 * A document as the original writes it: two blanks a level, no line end behind it, and characters beyond ASCII escaped.
 * The original reads its file in the encoding of whoever runs it, in which nothing else is the same everywhere. Keys that
 * are not of the format stand behind those that are.
 */
export const printOrchestrator = (document: OrchestratorDocument, unknown: UnknownKeys = nothingUnknown): string => {
  const whole = {
    schema_version: document.schema_version,
    session_id: document.session_id,
    created: document.created,
    updated: document.updated,
    project: { ...inOrder(document.project, projectKeys), ...unknown.project },
    goal: document.goal,
    mode: document.mode,
    status: document.status,
    agents: document.agents.map((agent) => ({ ...inOrder(agent, agentKeys), ...ownOf(unknown.agents, agent.id) })),
    completed_work: document.completed_work.map((work, index) => ({
      ...inOrder(work, workKeys),
      ...ownOf(unknown.completed_work, `${index}`),
    })),
    pending_tasks: document.pending_tasks.map((task, index) => {
      const beside = ownOf(unknown.pending_tasks, `${index}`);
      return Object.keys(beside).length === 0 ? task : { task, ...beside };
    }),
    decisions_made: document.decisions_made.map((decision, index) => ({
      ...inOrder(decision, decisionKeys),
      ...ownOf(unknown.decisions_made, `${index}`),
    })),
    context_usage: { ...inOrder(document.context_usage, usageKeys), ...unknown.context_usage },
    errors: document.errors.map((error, index) => ({
      ...inOrder(error, errorKeys),
      ...ownOf(unknown.errors, `${index}`),
    })),
    ...unknown.file,
  };
  return JSON.stringify(whole, null, 2).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
};

/** The keys of each part, in the order of the original. */
export const projectKeys = ['name', 'path', 'git_branch'] as const;
export const agentKeys = [
  'id',
  'type',
  'task',
  'status',
  'started',
  'completed',
  'progress',
  'result_summary',
  'context_tokens',
  'error',
] as const;
export const workKeys = ['task', 'outcome', 'files'] as const;
export const decisionKeys = ['decision', 'rationale', 'timestamp'] as const;
export const usageKeys = ['estimated_tokens', 'percentage', 'last_compression'] as const;
export const errorKeys = ['agent', 'message', 'at'] as const;

const inOrder = <Part extends object>(part: Part, keys: readonly (keyof Part)[]): Partial<Part> =>
  // A list of entries has one type of value; these are those of the part.
  Object.fromEntries(keys.flatMap((key) => (part[key] === undefined ? [] : [[key, part[key]]]))) as Partial<Part>;

const ownOf = (unknown: Readonly<Record<string, JsonObject>>, key: string): JsonObject =>
  Object.hasOwn(unknown, key) ? (unknown[key] ?? {}) : {};
