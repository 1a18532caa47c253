import { isAsImported, type Common } from '../../kernel/common.ts';
import type { Mirror } from '../../kernel/kind.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { printTime } from '../../lib/written-time.ts';
import {
  nothingUnknown,
  schemaVersion,
  type AgentDocument,
  type OrchestratorDocument,
  type UnknownKeys,
} from '../../formats/orchestrator/document.ts';
import { printOrchestrator } from '../../formats/orchestrator/print.ts';
import { foreignKeysOf, type ForeignKeys } from './foreign-keys.ts';
import { overallOf } from './samples.ts';
import { agentsOf, isOver, standingOf, type Agent, type OrchestrationState } from './state.ts';

/** The files of an orchestration: those of the orchestrator, at every moment. */

/** The name of the kind, and what a session of it is called that nobody has named. */
export const kindName = 'orchestration';
export const nameFor = (now: string, random: string): string => `${now.slice(0, 10)}-${random.slice(-6).toLowerCase()}`;

/** The folder in which the sessions of a checkout lie, the file of the open one, and that of one that is over. */
export const home = '.claude';
const currentPath = 'orchestrator-session.json';
/** The folder of those that are over, relative to the checkout's root. */
export const historyFolder = `${home}/orchestrator-history`;

const historyPath = (name: string): string => `orchestrator-history/${name}.json`;

/** The file of the open session, relative to the checkout's root. */
export const currentFile = `${home}/${currentPath}`;

/** Most agents that the file tells of: the orchestrator reads all of it, each time. */
const mostAgents = 200;

/**
 * An open session lies in the file of the current one, and one that is over among the earlier ones: in one of them, never in
 * both. One that was taken over has the file of its original until something happens to it here.
 */
export const mirrorsOf = (state: OrchestrationState, common: Common): readonly Mirror[] => {
  if ((state.project === null && state.origin === null && !state.hasBegun) || isAsImported(common)) return [];
  const source = sourceOf(common);
  const original = state.origin === null ? {} : { original: state.origin.digest };
  const render = (): string => printDocument(state, common);
  const isOpen = common.status === 'active';
  const [place, left] = isOpen ? [currentPath, historyPath(common.name)] : [historyPath(common.name), currentPath];
  return [
    { path: place, source, render, ...original },
    // The file of the history is nobody else's. In that of the current one another session's may lie, where this one was over
    // when it was taken over.
    {
      path: left,
      source,
      render: () => '',
      isGone: true,
      ...original,
      ...(isOpen || state.origin?.wasOpen !== false ? {} : { isOriginalAlone: true as const }),
    },
  ];
};

/** The event that the file is made from: the newest that moves the session, stands in its journal, or adds to its file. */
const sourceOf = ({ revision, journal, added }: Common): number =>
  Math.max(revision, journal?.newest ?? 0, added?.event ?? 0);

/** The whole of an orchestration as its file holds it. */
const printDocument = (state: OrchestrationState, common: Common): string => {
  const agents = agentsOf(state);
  const shown = shownOf(agents);
  const errors = errorsOf(state, common);
  const foreign = foreignKeysOf(state, common);
  return printOrchestrator(documentOf(state, common, shown, errors), {
    ...unknownOf(state, common, foreign),
    file: {
      ...totalsOf(common, agents),
      ...(state.focus === null ? {} : { focus: state.focus }),
      ...foreign('file'),
      ...progressBeside(state, foreign),
    },
    agents: Object.fromEntries(
      shown.map((agent) => [agent.id, { ...besideOf(state, agent), ...foreign('agents', agent.id) }]),
    ),
    errors: Object.fromEntries(
      errors.map(({ message, class: errorClass }, at) => [
        at,
        { ...(errorClass === null ? {} : { class: errorClass }), ...foreign('text', message) },
      ]),
    ),
  });
};

const documentOf = (
  state: OrchestrationState,
  common: Common,
  agents: readonly Agent[],
  errors: readonly Mistake[],
): OrchestratorDocument => {
  const { origin, project, usage, compression } = state;
  return {
    schema_version: origin?.schemaVersion ?? schemaVersion,
    session_id: origin?.sessionId ?? common.name,
    created: origin?.created ?? printTime(common.startedAt),
    updated: printTime(common.updatedAt),
    project: { name: project?.name ?? '', path: project?.path ?? '', git_branch: common.branch },
    goal: common.goal ?? '',
    mode: state.mode,
    status: statusOf(state, common),
    agents: agents.map((agent) => agentToDocument(state, agent)),
    completed_work: state.completed,
    pending_tasks: state.todos.map(({ text }) => text),
    decisions_made: (common.journal?.recent.decision ?? []).map(({ text, rationale = '', at }) => ({
      decision: text,
      rationale,
      timestamp: printTime(at),
    })),
    context_usage: {
      estimated_tokens: usage?.tokens ?? 0,
      percentage: usage?.percentage ?? 0,
      last_compression: timeOf(compression?.at ?? null),
    },
    errors: errors.map(({ agent, message, at }) => ({
      ...(agent === null ? {} : { agent }),
      message,
      at: printTime(at),
    })),
  };
};

const timeOf = (at: string | null): string | null => (at === null ? null : printTime(at));

/** What other programs have put into the file that is not of the format. */
const unknownOf = (
  { completed, todos }: OrchestrationState,
  { journal }: Common,
  foreign: ForeignKeys,
): UnknownKeys => ({
  ...nothingUnknown,
  project: foreign('project'),
  context_usage: foreign('context_usage'),
  completed_work: byPlace(completed, (_, at) => foreign('completed_work', at)),
  pending_tasks: byPlace(todos, ({ id }) => foreign('pending_tasks', id - 1)),
  decisions_made: byPlace(journal?.recent.decision ?? [], ({ text }) => foreign('text', text)),
});

const byPlace = <Part>(
  list: readonly Part[],
  keysOf: (part: Part, at: number) => JsonObject,
): Readonly<Record<string, JsonObject>> => Object.fromEntries(list.map((part, at) => [at, keysOf(part, at)]));

/** A file that said how far all of it is goes on saying so, as a share of 1 or in per cent as before. */
const progressBeside = (state: OrchestrationState, foreign: ForeignKeys): JsonObject => {
  const { progress: said } = foreign('file');
  const { percent } = overallOf(state, new Map());
  if (typeof said !== 'number' || percent === null) return {};
  return { progress: said > 1 ? percent : percent / 100 };
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

const agentToDocument = (state: OrchestrationState, agent: Agent): AgentDocument => {
  const standing = standingOf(state, agent);
  const isRunning = standing === 'in_progress' || standing === 'in doubt';
  return {
    id: agent.id,
    type: agent.type,
    task: agent.task,
    status: standing === 'in doubt' ? 'in_progress' : standing,
    started: timeOf(agent.startedAt),
    ...(agent.endedAt === null ? {} : { completed: printTime(agent.endedAt) }),
    ...(isRunning && agent.progress !== null ? { progress: agent.progress } : {}),
    ...(agent.summary === null ? {} : { result_summary: agent.summary }),
    ...(agent.tokens === null ? {} : { context_tokens: agent.tokens }),
    ...(agent.error === null ? {} : { error: agent.error }),
  };
};

/** What is to be known of an agent that the format has no key for. */
const besideOf = (state: OrchestrationState, agent: Agent): JsonObject => ({
  ...(agent.files.length === 0 ? {} : { files: [...agent.files] }),
  ...(agent.resultPath === null ? {} : { result_file: agent.resultPath }),
  ...(agent.vendorSession === null ? {} : { vendor_session: agent.vendorSession }),
  ...(agent.isPaused ? { paused: true } : {}),
  ...(standingOf(state, agent) === 'in doubt' ? { in_doubt: true } : {}),
});

/** Something that went wrong. */
interface Mistake {
  readonly agent: string | null;
  readonly message: string;
  readonly class: string | null;
  readonly at: string;
}

/** What agents have failed of, and the errors of the journal, in the order in which they happened. */
const errorsOf = ({ failures }: OrchestrationState, { journal }: Common): readonly Mistake[] => {
  const ofAgents = failures.map(({ seq, agent, error, class: errorClass, at }) => ({
    seq,
    agent,
    message: error,
    class: errorClass,
    at,
  }));
  const noted = (journal?.recent.error ?? []).map(({ id, text, at }) => ({
    seq: id,
    agent: null,
    message: text,
    class: null,
    at,
  }));
  return [...ofAgents, ...noted].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at) || a.seq - b.seq);
};
