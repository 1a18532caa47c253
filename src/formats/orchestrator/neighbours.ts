import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { member } from '../../lib/lenient.ts';
import {
  agentSession,
  neighbourByKeys,
  neighbourOf as neighbourOfRun,
  type Neighbour,
} from '../run-state/neighbours.ts';

/** What lies beside the files of an orchestrator and is none of them: known by what it holds, not by its name. */

/** Which neighbour a value is; undefined where it is none that is known. */
export const neighbourOf = (value: Json): Neighbour | undefined => {
  const own = isJsonObject(value) ? neighbours.find(({ fits }) => fits(value)) : undefined;
  if (own !== undefined) return own;
  // Anybody may begin an id as another program does; what has agents is a session all the same.
  const known = isSession(value) && has(value, 'agents') ? neighbourByKeys(value) : neighbourOfRun(value);
  return known === agentSession ? undefined : known;
};

/** JSON of which nothing is known. */
export const otherJson: Neighbour = {
  is: 'JSON of another kind',
  why: 'It has neither the agents of an orchestrator nor a goal with what is done and left to do.',
};

/** Whether a value is what an orchestrator keeps of a session, in any of the forms that were in use. */
export const isSession = (value: Json): value is JsonObject => {
  if (!isJsonObject(value)) return false;
  if (isSummary(value)) return true;
  const agents = member(value, 'agents');
  const hasAgents = typeof agents === 'object' && agents !== null;
  const known = telling.filter((key) => Object.hasOwn(value, key)).length;
  return hasAgents ? known > 0 : known > 2;
};

/** Whether a value is the summary that a hook leaves behind, of a session that it does not name. */
export const isSummary = (value: JsonObject): boolean =>
  Object.hasOwn(value, 'total_agents') && Array.isArray(member(value, 'agents')) && !Object.hasOwn(value, 'session_id');

const telling = [
  'goal',
  'completed_work',
  'pending_tasks',
  'next_actions',
  'decisions_made',
  'context_usage',
  'schema_version',
  'session_id',
];

const has = (object: JsonObject, ...keys: readonly string[]): boolean =>
  keys.every((key) => Object.hasOwn(object, key));

const neighbours: readonly (Neighbour & { readonly fits: (object: JsonObject) => boolean })[] = [
  {
    is: 'a run of the workflow player',
    why: 'It has a plan of batches: stint import workflow-run takes it.',
    fits: (object) => has(object, 'execution_plan', 'node_states'),
  },
  {
    is: 'a report of the tokens that an orchestration used',
    why: 'It counts, and tells nothing of what was done.',
    fits: (object) => has(object, 'run_id', 'agents') && !has(object, 'goal'),
  },
  {
    is: 'the status of a single agent',
    why: 'It is about one agent, and names no session.',
    fits: (object) => has(object, 'agent', 'status') && !has(object, 'agents'),
  },
  {
    is: 'the settings of an agent program',
    why: 'They say what may be done, and nothing of what was.',
    fits: (object) => ['permissions', 'hooks', 'mcpServers'].some((key) => has(object, key)) && !has(object, 'agents'),
  },
];
