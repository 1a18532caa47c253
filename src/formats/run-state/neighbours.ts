import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { member } from '../../lib/lenient.ts';

/**
 * Files that lie beside those of a workflow run and are none, some under the same name. They are known by what they hold:
 * the keys that only they have, else the prefix of their ids.
 */

/** What a file is, in words, and why it is left alone. */
export interface Neighbour {
  readonly is: string;
  readonly why: string;
}

interface KnownNeighbour extends Neighbour {
  /** Whether it has the keys that only they have. */
  readonly fits?: (object: JsonObject) => boolean;
  /** How their ids begin. */
  readonly id?: RegExp;
}

/** Which neighbour a value is; undefined where it is none that is known. An id tells where no keys do: anybody may begin one so. */
export const neighbourOf = (value: Json | undefined): Neighbour | undefined =>
  neighbourByKeys(value) ??
  (isJsonObject(value) ? neighbours.find(({ id }) => id !== undefined && hasId(value, id)) : undefined);

/** The same by its keys alone. */
export const neighbourByKeys = (value: Json | undefined): Neighbour | undefined => {
  const entries = Array.isArray(value) ? value : isJsonObject(value) ? member(value, 'sessions') : undefined;
  if (Array.isArray(entries) && entries.some((entry: Json) => isJsonObject(entry) && has(entry, 'archive_path')))
    return manifest;
  return isJsonObject(value) ? neighbours.find(({ fits }) => fits?.(value) === true) : undefined;
};

const manifest: Neighbour = {
  is: 'the list of archived workflow sessions',
  why: 'It tells where sessions were put, and of none how far it came.',
};

const has = (object: JsonObject, ...keys: readonly string[]): boolean =>
  keys.every((key) => Object.hasOwn(object, key));

const hasOne = (object: JsonObject, ...keys: readonly string[]): boolean =>
  keys.some((key) => Object.hasOwn(object, key));

const hasId = (object: JsonObject, prefix: RegExp): boolean =>
  [member(object, 'session_id'), member(object, 'id')].some((id) => typeof id === 'string' && prefix.test(id));

/** A file that is read by the format of its own. */
export const agentSession: KnownNeighbour = {
  is: 'a session of an orchestrator of agents',
  why: 'It is about agents and what they have done, without a plan of batches.',
  fits: (object) => has(object, 'agents') && hasOne(object, 'completed_work', 'goal', 'total_agents', 'mode'),
};

/** The first that fits counts. */
const neighbours: readonly KnownNeighbour[] = [
  {
    is: 'the snapshot of a checkpoint',
    why: 'It is read together with the run that it belongs to, and alone it is none.',
    fits: (object) => has(object, 'checkpoint_id', 'node_states_snapshot'),
  },
  {
    is: 'a template of the workflow player',
    why: 'It says what is to be done, and nothing of what was.',
    fits: (object) => has(object, 'template_id', 'nodes', 'edges'),
  },
  {
    is: 'the list of the templates of the workflow player',
    why: 'It names templates, and no run.',
    fits: (object) => Array.isArray(member(object, 'templates')),
  },
  {
    is: 'a draft of the workflow composer',
    why: 'It is the design of a template, and no run of one.',
    id: /^WFD-/,
  },
  {
    is: 'the state of the graph walker of Maestro Flow',
    why: 'It walks a graph and keeps a history, without a plan of batches.',
    fits: (object) => has(object, 'graph_id', 'history'),
  },
  {
    is: 'a session document of Maestro Flow',
    why: 'Its chain of steps and their runs lie in files of their own, without the states of nodes.',
    fits: (object) => has(object, 'orchestration', 'lifecycle'),
  },
  {
    is: 'the run of one step of Maestro Flow',
    why: 'It is one attempt at one step, and no plan.',
    fits: (object) => has(object, 'run_id') && hasOne(object, 'attempt', 'step_id', 'command'),
  },
  {
    is: 'a session of the command coordinator',
    why: 'It is a chain of commands and their results, without the states of nodes.',
    fits: (object) => has(object, 'command_chain'),
    id: /^ccw-coord-/,
  },
  {
    is: 'a session of the multi-cli planner',
    why: 'It is a discussion in rounds, without a plan of batches.',
    fits: (object) => has(object, 'current_round') && hasOne(object, 'max_rounds', 'cli_tools'),
    id: /^MCP-/,
  },
  {
    is: 'a session of a team',
    why: 'It is about what roles have delivered, without a plan of batches.',
    fits: (object) => hasOne(object, 'team_name', 'pipeline_progress'),
    id: /^TLS-/,
  },
  {
    is: 'a status of the flow coordinator',
    why: 'It is a list of steps, without the states of nodes.',
    fits: (object) => has(object, 'steps', 'complete'),
    id: /^fc-/,
  },
  {
    is: 'a chain of Maestro Flow',
    why: 'It is a list of steps, without the states of nodes.',
    fits: (object) => has(object, 'steps') && hasOne(object, 'chain_name', 'current_step', 'lifecycle_position'),
    id: /^(?:maestro|ralph|player|goal-mode)-/,
  },
  {
    is: 'an execution of the flow executor',
    why: 'It is the log of an execution in another form, without a plan of batches.',
    fits: (object) => has(object, 'nodeStates'),
  },
  agentSession,
  {
    is: 'what a hook remembers of a conversation',
    why: 'It counts prompts, and nothing in it is about a run.',
    fits: (object) => has(object, 'firstLoad', 'loadCount'),
  },
  {
    is: 'a lease',
    why: 'It says who held something, and nothing of how far that came.',
    fits: (object) => has(object, 'holder', 'token'),
  },
  {
    is: 'a workflow session of tasks',
    why: 'It is about a project and its tasks, which lie in other files; it has no plan of batches.',
    id: /^(?:WFS|TC)-/,
  },
];
