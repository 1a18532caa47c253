import type { AgentDocument } from '../../formats/orchestrator/document.ts';
import type { Common } from '../../kernel/common.ts';
import { mostCharacters } from '../../kernel/journal.ts';
import { refuseClosed } from '../../kernel/lifecycle.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { emptyPool, type Pool } from '../../kernel/steps.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { put } from '../../lib/persistent-map.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { truncate } from '../../lib/text.ts';
import type { OrchestrationCommand, OrchestrationEvent } from './events.ts';
import { takeOwnKeys } from './own-keys.ts';
import { emptyOrchestration, newAgent, type Agent, type Circumstance, type OrchestrationState } from './state.ts';

/** Orchestrations that another program has left. */

/** Takes one over, also again; whether it has gone on here since is for whoever asks. */
export const decideImport = (
  state: OrchestrationState,
  found: Extract<OrchestrationCommand, { readonly type: 'import' }>,
  common: Common | undefined,
): Result<readonly OrchestrationEvent[], Refusal> => {
  if (state.origin?.digest === found.digest) return ok([]);
  if (common?.status === 'closed') return err(refuseClosed(common));
  if (state.hasBegun && state.origin === null)
    return err(
      refuse('conflict', `${common?.key ?? 'The orchestration'} was begun here.`, {
        expected: 'one that was taken over, or a name that nobody has',
      }),
    );
  return ok([{ ...found, type: 'OrchestrationImported' }]);
};

/**
 * An orchestration as it was left. Of an agent that was at work there nobody knows what it has done: it is in doubt. The
 * decisions that were made, and errors of no agent, stand in the journal, where the import puts them.
 */
export const imported = (
  before: OrchestrationState,
  {
    digest,
    is_over: isOver,
    document,
    unknown: found,
  }: Extract<OrchestrationEvent, { readonly type: 'OrchestrationImported' }>,
  { seq }: Circumstance,
): OrchestrationState => {
  const { project, context_usage: usage } = document;
  const { unknown, ...own } = takeOwnKeys(found);
  const agents = document.agents.map((agent) => ({ ...agentFrom(agent), ...own.agents[agent.id] }));
  const doubtful = document.agents.filter(({ status }) => status === 'in_progress').map(({ id }) => id);
  const ended = (one: Agent['ended']): number => agents.filter((agent) => agent.ended === one).length;
  return {
    ...emptyOrchestration,
    focus: own.focus ?? before.focus,
    mode: document.mode,
    project: { name: project.name ?? '', path: project.path ?? '' },
    agents: agents.reduce((map, agent) => put(map, agent.id, agent), emptyOrchestration.agents),
    order: agents.map(({ id }) => id),
    pool: doubtful.reduce(withDoubt, emptyPool),
    counts: { complete: ended('complete'), failed: ended('failed'), cancelled: ended('cancelled') },
    todos: document.pending_tasks.map((text, at) => ({ id: at + 1, text })),
    lastTodo: document.pending_tasks.length,
    completed: document.completed_work,
    failures: document.errors.flatMap(({ agent, message, at = document.updated }, place) =>
      agent === undefined
        ? []
        : [{ seq, agent, attempt: 1, error: message, class: own.errorClasses[`${place}`] ?? null, at }],
    ),
    usage:
      usage.estimated_tokens === null && usage.percentage === null
        ? null
        : { tokens: usage.estimated_tokens ?? 0, percentage: usage.percentage ?? 0 },
    compression: usage.last_compression === null ? null : { at: usage.last_compression, summary: '' },
    hasBegun: document.status !== 'created',
    origin: {
      digest,
      schemaVersion: document.schema_version,
      seq,
      sessionId: document.session_id,
      created: document.created,
      wasOpen: !isOver,
      unknown,
      unknownByText: Object.fromEntries([
        ...textsOf(
          document.decisions_made.map(({ decision }) => decision),
          unknown.decisions_made,
        ),
        ...textsOf(
          document.errors.map(({ message }) => message),
          unknown.errors,
        ),
      ]),
    },
  };
};

/** What is not of the format beside texts, which the journal keeps no longer than this. */
const textsOf = (
  texts: readonly string[],
  unknown: Readonly<Record<string, JsonObject>>,
): readonly (readonly [string, JsonObject])[] =>
  Object.entries(unknown).map(([at, keys]) => [truncate(texts[Number(at)] ?? '', mostCharacters), keys]);

const agentFrom = (found: AgentDocument): Agent => {
  const { status } = found;
  const ended = status === 'pending' || status === 'in_progress' ? null : status;
  const isFailed = ended === 'failed';
  return {
    ...newAgent(found.id, found.type, found.task),
    ended,
    startedAt: found.started,
    endedAt: found.completed ?? null,
    progress: found.progress ?? (ended === 'complete' ? 100 : null),
    summary: found.result_summary ?? null,
    tokens: found.context_tokens ?? null,
    error: found.error ?? null,
    failures: isFailed ? 1 : 0,
    failuresInARow: isFailed ? 1 : 0,
    failedAt: isFailed ? (found.completed ?? null) : null,
  };
};

/** A pool in which nobody knows what the first attempt of an agent has done. */
const withDoubt = (pool: Pool, id: string): Pool => ({
  ...pool,
  records: put(pool.records, id, {
    attempt: 1,
    state: 'interrupted',
    token: 0,
    claim: null,
    startedAt: null,
    facts: null,
    digest: null,
    inDoubt: true,
  }),
  doubtful: [...pool.doubtful, id],
});
