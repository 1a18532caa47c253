import type { StoredEvent } from '../../kernel/event.ts';
import { emptyPool, recordOf, type Pool } from '../../kernel/steps.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { emptyMap, valueIn, type PersistentMap } from '../../lib/persistent-map.ts';
import type { Project } from './events.ts';
import type { Mode, UnknownKeys } from '../../formats/orchestrator/document.ts';
import { circuit, limits, type ErrorClass, type Usage } from './modes.ts';

/** An orchestration as its events tell it. */
export interface OrchestrationState {
  readonly mode: Mode;
  readonly project: Project | null;
  /** What is looked at now, where somebody said so. */
  readonly focus: string | null;
  readonly agents: PersistentMap<Agent>;
  /** Their ids, in the order in which they came. */
  readonly order: readonly string[];
  readonly pool: Pool;
  readonly counts: Readonly<Record<'complete' | 'failed' | 'cancelled', number>>;
  /** What is to be done, in its order, and the number of the last one that was added. */
  readonly todos: readonly Todo[];
  readonly lastTodo: number;
  readonly completed: readonly CompletedWork[];
  readonly wave: Wave;
  /** The ends of waves that somebody was asked about, the newest at most. */
  readonly checkpoints: readonly Checkpoint[];
  /** What agents have failed of, the newest at most. */
  readonly failures: readonly Failure[];
  readonly usage: Usage | null;
  readonly compression: { readonly at: string; readonly summary: string } | null;
  /** Whether anything was done yet. */
  readonly hasBegun: boolean;
  /** The file that it was taken from; null where it began here. */
  readonly origin: Origin | null;
}

/** Where an orchestration was taken over from, and what its file holds that is not of the format. */
export interface Origin {
  /** SHA-256 of the file. */
  readonly digest: string;
  /** The version of its format: one that is the same but for keys that are not known here. */
  readonly schemaVersion: string;
  readonly seq: number;
  /** The name that it had there, and when it was begun. */
  readonly sessionId: string;
  readonly created: string;
  /** Whether it was open there. */
  readonly wasOpen: boolean;
  readonly unknown: UnknownKeys;
  /** Of decisions and errors by their texts: in the journal they have no places of a list. */
  readonly unknownByText: Readonly<Record<string, JsonObject>>;
}

/** An agent, whatever became of it. */
export interface Agent {
  readonly id: string;
  readonly type: string;
  readonly task: string;
  /** What became of it; null before anything did: it is to be started, runs, or is in doubt. */
  readonly ended: 'complete' | 'failed' | 'cancelled' | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** In per cent, as it was measured last before something happened. */
  readonly progress: number | null;
  readonly summary: string | null;
  readonly files: readonly string[];
  readonly resultPath: string | null;
  /** Tokens of its context. */
  readonly tokens: number | null;
  /** The conversation of its vendor. */
  readonly vendorSession: string | null;
  readonly error: string | null;
  readonly errorClass: ErrorClass | null;
  /** Whether somebody has told it to stop for now. */
  readonly isPaused: boolean;
  /** How often it has failed, in all and in a row, and when the last time. */
  readonly failures: number;
  readonly failuresInARow: number;
  readonly failedAt: string | null;
}

export interface Todo {
  readonly id: number;
  readonly text: string;
}

/** Work that is done. */
export interface CompletedWork {
  readonly task: string;
  readonly outcome: string;
  readonly files: readonly string[];
}

/** The agents that are at work together, from the first one until nobody is any more, or somebody was asked. */
export interface Wave {
  readonly number: number;
  readonly started: number;
  /** Those that have failed in it. */
  readonly failed: readonly string[];
}

/** The end of a wave. */
export interface Checkpoint {
  readonly node: string;
  readonly at: string;
  readonly why: 'wave' | 'agent' | 'failure';
  /** Null while somebody is waited for. */
  readonly decision: Decision | null;
}

/** What was decided; `auto`: its mode goes on by itself. */
export interface Decision {
  readonly answer: 'continue' | 'pause' | 'abort';
  readonly at: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly auto: boolean;
}

/** An agent's failure. */
export interface Failure {
  readonly seq: number;
  readonly agent: string;
  readonly attempt: number;
  readonly error: string;
  readonly class: ErrorClass | null;
  readonly at: string;
}

/** An orchestration before anything happened. */
export const emptyOrchestration: OrchestrationState = {
  mode: 'default',
  project: null,
  focus: null,
  agents: emptyMap,
  order: [],
  pool: emptyPool,
  counts: { complete: 0, failed: 0, cancelled: 0 },
  todos: [],
  lastTodo: 0,
  completed: [],
  wave: { number: 1, started: 0, failed: [] },
  checkpoints: [],
  failures: [],
  usage: null,
  compression: null,
  hasBegun: false,
  origin: null,
};

/** An agent that nobody has started yet. */
export const newAgent = (id: string, type: string, task: string): Agent => ({
  id,
  type,
  task,
  ended: null,
  startedAt: null,
  endedAt: null,
  progress: null,
  summary: null,
  files: [],
  resultPath: null,
  tokens: null,
  vendorSession: null,
  error: null,
  errorClass: null,
  isPaused: false,
  failures: 0,
  failuresInARow: 0,
  failedAt: null,
});

/** The agent of that id; undefined where there is none. */
export const agentOf = ({ agents }: OrchestrationState, id: string): Agent | undefined => valueIn(agents, id);

/** All agents, in the order in which they came. */
export const agentsOf = (state: OrchestrationState): readonly Agent[] =>
  state.order.flatMap((id) => agentOf(state, id) ?? []);

/** How it stands with an agent, in one word: the original's, and `in doubt` where nobody knows what it has done. */
export type Standing = 'pending' | 'in_progress' | 'in doubt' | 'complete' | 'failed' | 'cancelled';

/** How it stands with an agent. */
export const standingOf = ({ pool }: OrchestrationState, { id, ended }: Agent): Standing => {
  if (ended !== null) return ended;
  const record = recordOf(pool, id);
  if (record?.inDoubt === true) return 'in doubt';
  return record?.state === 'running' ? 'in_progress' : 'pending';
};

/** Whether nothing is left to be done about an agent. */
export const isOver = ({ ended }: Agent): boolean => ended === 'complete' || ended === 'cancelled';

/** Whether somebody has told the agent of that id to stop for now. */
export const isPaused = (state: OrchestrationState, id: string): boolean => agentOf(state, id)?.isPaused === true;

/** The agents that are at work and that nobody has told to stop for now, and those that somebody has. */
export const atWork = (state: OrchestrationState): readonly string[] =>
  state.pool.running.filter((id) => !isPaused(state, id));
export const pausedAgents = (state: OrchestrationState): readonly string[] =>
  state.pool.running.filter((id) => isPaused(state, id));

/** The end of the time for which an agent is left alone since it has failed too often in a row; null where it has not. */
export const restOf = ({ failuresInARow, failedAt }: Agent): string | null =>
  failuresInARow < circuit.failures || failedAt === null
    ? null
    : new Date(Date.parse(failedAt) + circuit.restMs).toISOString();

/** Until when an agent is left alone that has failed too often in a row; null where it may be tried. */
export const restsUntil = (agent: Agent, now: string): string | null => {
  const until = restOf(agent);
  if (until === null) return null;
  const left = Date.parse(until) - Date.parse(now);
  // A failure that is still to come was told by a clock that is wrong.
  return left > 0 && left <= 2 * circuit.restMs ? until : null;
};

/** How it stands with the circuit of an agent: while it is open the agent is left alone, half open it is tried once. */
export const circuitOf = (agent: Agent, now: string): 'closed' | 'open' | 'half-open' =>
  agent.failuresInARow < circuit.failures ? 'closed' : restsUntil(agent, now) === null ? 'half-open' : 'open';

/** How often an agent may still be started. */
export const triesLeft = ({ mode }: OrchestrationState, { failures }: Agent): number =>
  Math.max(0, limits[mode].retries + 1 - failures);

/** The checkpoint that waits for somebody's decision. */
export const awaited = ({ checkpoints }: OrchestrationState): Checkpoint | undefined => {
  const last = checkpoints.at(-1);
  return last?.decision === null ? last : undefined;
};

/** What the end of a wave is called. */
export const nodeOf = (wave: number): string => `wave-${wave}`;

/** What of a stored event counts beside what it says. */
export type Circumstance = Pick<StoredEvent, 'seq' | 'at' | 'actor'>;
