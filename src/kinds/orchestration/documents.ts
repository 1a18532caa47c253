import type { Common } from '../../kernel/common.ts';
import type { Mirror } from '../../kernel/kind.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { agentsOf, isOver, standingOf, type Agent, type OrchestrationState } from './state.ts';

/** The files of an orchestration: those of the orchestrator, at every moment. */

/** The name of the kind, and what a session of it is called that nobody has named. */
export const kindName = 'orchestration';
export const nameFor = (now: string, random: string): string => `${now.slice(0, 10)}-${random.slice(-6).toLowerCase()}`;

/** The folder in which the sessions of a checkout lie, the file of the open one, and that of one that is over. */
export const home = '.claude';
const currentPath = 'orchestrator-session.json';
export const historyPath = (name: string): string => `orchestrator-history/${name}.json`;

/** The file of the open session, relative to the checkout's root. */
export const currentFile = `${home}/${currentPath}`;

/** Most agents that the file tells of: the orchestrator reads all of it, each time. */
const mostAgents = 200;

/** An open session lies in the file of the current one, and one that is over among the earlier ones: in one of them, never in both. */
export const mirrorsOf = (state: OrchestrationState, common: Common): readonly Mirror[] => {
  if (state.project === null && state.origin === null && !state.hasBegun) return [];
  const source = sourceOf(common);
  const original = state.origin === null ? {} : { original: state.origin.digest };
  const render = (): string => printDocument(state, common);
  const isOpen = common.status === 'active';
  const [place, left] = isOpen ? [currentPath, historyPath(common.name)] : [historyPath(common.name), currentPath];
  return [
    { path: place, source, render, ...original },
    { path: left, source, render: () => '', isGone: true },
  ];
};

/** The event that the file is made from: the newest that moves the session, or stands in its journal. */
const sourceOf = ({ revision, journal }: Common): number => Math.max(revision, journal?.newest ?? 0);

/** The whole of an orchestration as its file holds it. */
const printDocument = (state: OrchestrationState, common: Common): string =>
  `${JSON.stringify(documentOf(state, common), null, 2)}\n`;

const documentOf = (state: OrchestrationState, common: Common): JsonObject => {
  const { origin, project, usage, compression } = state;
  const agents = agentsOf(state);
  const decisions = common.journal?.recent.decision ?? [];
  return {
    schema_version: '1.0',
    session_id: origin?.sessionId ?? common.name,
    created: origin?.created ?? common.startedAt,
    updated: common.updatedAt,
    project: {
      name: project?.name ?? '',
      path: project?.path ?? '',
      git_branch: common.branch,
    },
    goal: common.goal ?? '',
    mode: state.mode,
    status: statusOf(state, common),
    agents: shownOf(agents).map((agent) => agentToDocument(state, agent)),
    completed_work: state.completed.map(({ task, outcome, files, unknown }) => ({
      task,
      outcome,
      files: [...files],
      ...unknown,
    })),
    pending_tasks: state.todos.map(({ text }) => text),
    decisions_made: decisions.map(({ text, rationale = '', at }) => ({
      decision: text,
      rationale,
      timestamp: at,
    })),
    context_usage: {
      estimated_tokens: usage?.tokens ?? 0,
      percentage: usage?.percentage ?? 0,
      last_compression: compression?.at ?? null,
    },
    errors: errorsOf(state, common),
    ...totalsOf(common, agents),
    ...(state.focus === null ? {} : { focus: state.focus }),
    ...origin?.unknown,
  };
};

/** How many there are in all, of what is told of in part only. */
const totalsOf = ({ journal }: Common, agents: readonly Agent[]): JsonObject => {
  const decisions = journal?.counts.decision ?? 0;
  const shown = journal?.recent.decision?.length ?? 0;
  return {
    ...(agents.length > mostAgents ? { agents_total: agents.length } : {}),
    ...(decisions > shown ? { decisions_total: decisions } : {}),
  };
};

/** The word of the orchestrator for where a session stands. */
export const statusOf = (
  { hasBegun }: OrchestrationState,
  { status, outcome, pause }: Common,
): 'created' | 'in_progress' | 'paused' | 'complete' | 'aborted' => {
  if (status === 'closed') return outcome === 'completed' ? 'complete' : 'aborted';
  if (pause !== null) return 'paused';
  return hasBegun ? 'in_progress' : 'created';
};

/** Those that are not over, and the newest of the others, in their order. */
const shownOf = (agents: readonly Agent[]): readonly Agent[] => {
  if (agents.length <= mostAgents) return agents;
  const open = agents.filter((agent) => !isOver(agent)).slice(0, mostAgents);
  const room = mostAgents - open.length;
  const over = room === 0 ? [] : agents.filter(isOver).slice(-room);
  const shown = new Set([...open, ...over]);
  return agents.filter((agent) => shown.has(agent));
};

const agentToDocument = (state: OrchestrationState, agent: Agent): JsonObject => {
  const standing = standingOf(state, agent);
  const isRunning = standing === 'in_progress' || standing === 'in doubt';
  return {
    id: agent.id,
    type: agent.type,
    task: agent.task,
    status: standing === 'in doubt' ? 'in_progress' : standing,
    ...(agent.startedAt === null ? {} : { started: agent.startedAt }),
    ...(agent.endedAt === null ? {} : { completed: agent.endedAt }),
    ...(isRunning && agent.progress !== null ? { progress: agent.progress } : {}),
    ...(agent.summary === null ? {} : { result_summary: agent.summary }),
    ...(agent.tokens === null ? {} : { context_tokens: agent.tokens }),
    ...(agent.files.length === 0 ? {} : { files: [...agent.files] }),
    ...(agent.resultPath === null ? {} : { result_file: agent.resultPath }),
    ...(agent.vendorSession === null ? {} : { vendor_session: agent.vendorSession }),
    ...(agent.error === null ? {} : { error: agent.error }),
    ...(agent.isPaused ? { paused: true } : {}),
    ...(standing === 'in doubt' ? { in_doubt: true } : {}),
    ...agent.unknown,
  };
};

/** What agents have failed of, and the errors of the journal, in the order in which they happened. */
const errorsOf = ({ failures }: OrchestrationState, { journal }: Common): readonly JsonObject[] => {
  const ofAgents = failures.map(({ seq, agent, error, class: errorClass, at }) => ({
    seq,
    json: { agent, error, ...(errorClass === null ? {} : { class: errorClass }), timestamp: at },
  }));
  const noted = (journal?.recent.error ?? []).map(({ id, text, at }) => ({
    seq: id,
    json: { error: text, timestamp: at },
  }));
  return [...ofAgents, ...noted].toSorted((a, b) => a.seq - b.seq).map(({ json }) => json);
};
