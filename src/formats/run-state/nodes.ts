import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { member, pathTo, readId, shown, timeAt, type Reading } from '../../lib/lenient.ts';
import {
  nodeStatuses,
  type Batch,
  type CheckpointDocument,
  type NodeStatus,
  type RunDocument,
  type WorkDocument,
} from './document.ts';
import { isElision, optionalTextAt, pathAt, plainPath, textsAt, unknownOf } from './values.ts';

/** What is kept of one node. */
export type NodeDocument = WorkDocument | CheckpointDocument;

/** Whether a node is a checkpoint. */
export const isCheckpoint = (node: NodeDocument): node is CheckpointDocument => 'saved_at' in node;

/** Whether nothing is left to be done about a node. */
export const isDone = ({ status }: NodeDocument): boolean => status === 'completed' || status === 'skipped';

/** A node that was not begun. */
export const pendingNode = (id: string): NodeDocument =>
  isCheckpointId(id)
    ? { status: 'pending', saved_at: null, snapshot_path: null }
    : {
        status: 'pending',
        started_at: null,
        completed_at: null,
        session_id: null,
        output_path: null,
        artifacts: [],
        error: null,
      };

/** The nodes of a file, with what of them is not of the format. */
export interface FoundNodes {
  readonly nodes: RunDocument['node_states'];
  readonly unknown: Readonly<Record<string, JsonObject>>;
}

/** The states of nodes, without those whose ids are no safe names. */
export const readNodes = (states: JsonObject, path: string, reading: Reading): FoundNodes => {
  const nodes: [string, NodeDocument][] = [];
  const unknown: [string, JsonObject][] = [];
  for (const [id, value] of Object.entries(states)) {
    if (isElision(id, value)) continue;
    const at = pathTo(path, id);
    const name = readId(id);
    if (!name.ok) {
      reading.tell(at, `was left out, because its id is no safe name: ${withoutStop(name.error)}`);
      continue;
    }
    const found = readNode(id, value, at, reading);
    nodes.push([id, found.node]);
    if (Object.keys(found.unknown).length > 0) unknown.push([id, found.unknown]);
  }
  return { nodes: Object.fromEntries(nodes), unknown: Object.fromEntries(unknown) };
};

/** A sentence as the end of another one. */
const withoutStop = (sentence: string): string => sentence.replace(/\.$/, '');

const isCheckpointId = (id: string): boolean => id.startsWith('CP-');

const workKeys = new Set([
  'status',
  'started_at',
  'completed_at',
  'session_id',
  'output_path',
  'artifacts',
  'error',
  'cli_task_id',
]);
const checkpointKeys = new Set(['status', 'saved_at', 'snapshot_path', 'auto_continue']);

const readNode = (
  id: string,
  value: Json,
  path: string,
  reading: Reading,
): { readonly node: NodeDocument; readonly unknown: JsonObject } => {
  if (!isJsonObject(value)) {
    reading.tell(path, `is no object: ${shown(value)} was taken as its status`);
    return { node: { ...pendingNode(id), status: statusOf({ status: value }, path, reading) }, unknown: {} };
  }
  if (Object.entries(value).some(([key, item]) => isElision(key, item)))
    reading.tell(path, 'is abbreviated: what it leaves out was taken as empty');
  const has = (...keys: readonly string[]): boolean => keys.some((key) => Object.hasOwn(value, key));
  const isWork = has('started_at', 'output_path', 'artifacts', 'cli_task_id');
  if (isCheckpointId(id) || (has('saved_at', 'snapshot_path') && !isWork))
    return { node: readCheckpoint(value, path, reading), unknown: unknownOf(value, checkpointKeys) };
  return { node: readWork(value, path, reading), unknown: unknownOf(value, workKeys) };
};

const readCheckpoint = (value: JsonObject, path: string, reading: Reading): CheckpointDocument => {
  const status = statusOf(value, path, reading);
  const node: CheckpointDocument = {
    status,
    saved_at: timeAt(value, 'saved_at', path, reading),
    snapshot_path: pathAt(value, 'snapshot_path', path, reading),
  };
  const continues = member(value, 'auto_continue');
  if (typeof continues === 'boolean') return { ...node, auto_continue: continues };
  if (continues === undefined || continues === null) return node;
  const at = pathTo(path, 'auto_continue');
  if (continues === 'true' || continues === 'false') {
    reading.tell(at, `is a text: ${shown(continues)} was taken as what it says`);
    return { ...node, auto_continue: continues === 'true' };
  }
  reading.tell(at, `is neither true nor false: ${shown(continues)} was left out`);
  return node;
};

const readWork = (value: JsonObject, path: string, reading: Reading): WorkDocument => {
  const task = optionalTextAt(value, 'cli_task_id', path, reading);
  const node: WorkDocument = {
    status: statusOf(value, path, reading),
    started_at: timeAt(value, 'started_at', path, reading),
    completed_at: timeAt(value, 'completed_at', path, reading),
    session_id: optionalTextAt(value, 'session_id', path, reading),
    output_path: pathAt(value, 'output_path', path, reading),
    artifacts: textsAt(value, 'artifacts', path, reading).map((text, index) =>
      plainPath(text, `${pathTo(path, 'artifacts')}[${index}]`, reading),
    ),
    error: optionalTextAt(value, 'error', path, reading),
    ...(task === null ? {} : { cli_task_id: task }),
  };
  if (
    node.started_at !== null &&
    node.completed_at !== null &&
    Date.parse(node.completed_at) < Date.parse(node.started_at)
  )
    reading.tell(pathTo(path, 'completed_at'), `lies before its start, at ${node.started_at}`);
  return node;
};

/**
 * The status of a node. Where it is none of ours, it is the one that is meant beyond doubt; else a node that shows signs of
 * work counts as running, which is in doubt here, and never as done.
 */
const statusOf = (node: JsonObject, path: string, reading: Reading): NodeStatus => {
  const value = member(node, 'status');
  const found = nodeStatuses.find((status) => status === value);
  if (found !== undefined) return found;
  const at = pathTo(path, 'status');
  const meant = statusMeant(value, nodeStatuses);
  if (meant !== undefined) {
    reading.tell(at, `is ${shown(value)}, which means ${meant}`);
    return meant;
  }
  const isBegun = ['started_at', 'completed_at', 'saved_at'].some((key) => typeof member(node, key) === 'string');
  const status = isBegun ? 'running' : 'pending';
  reading.tell(
    at,
    `${value === undefined ? 'is missing' : `is ${shown(value)}, which is no status`}: by its times it is ${status}`,
  );
  return status;
};

/** Other words for what a status means beyond doubt. */
const wordToStatus: ReadonlyMap<string, 'completed' | 'running'> = new Map([
  ['done', 'completed'],
  ['complete', 'completed'],
  ['in_progress', 'running'],
] as const);

/** The status that a word means beyond doubt, whatever its case; else undefined. */
export const statusMeant = <Status extends string>(
  value: Json | undefined,
  statuses: readonly Status[],
): Status | undefined => {
  if (typeof value !== 'string' || value.length > 40) return undefined;
  const word = value
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  const meant = wordToStatus.get(word) ?? word;
  return statuses.find((status) => status === meant);
};

/** The batches of a file, with what of them is not of the format, by their new numbers. */
export interface FoundPlan {
  readonly batches: readonly Batch[];
  readonly unknown: Readonly<Record<string, JsonObject>>;
}

const batchKeys = new Set(['batch', 'nodes', 'parallel']);

/** The plan: each node once, in its first batch; batches that hold none are left out, and the others numbered from 1. */
export const readPlan = (plan: readonly Json[], path: string, reading: Reading): FoundPlan => {
  const batches: Batch[] = [];
  const unknown: [string, JsonObject][] = [];
  const batchByNode = new Map<string, number>();
  const numbers: (Json | undefined)[] = [];
  for (const [index, entry] of plan.entries()) {
    const at = pathTo(path, index);
    const batch = isJsonObject(entry) ? entry : { nodes: entry };
    if (batch !== entry) reading.tell(at, 'is no object: it was taken as the nodes of a batch');
    const number = batches.length + 1;
    const nodes = nodesOf(batch, at, reading).filter((id) => {
      const earlier = batchByNode.get(id);
      if (earlier === undefined) batchByNode.set(id, number);
      else reading.tell(at, `names ${id} again, which stays in batch ${earlier}`);
      return earlier === undefined;
    });
    if (nodes.length === 0) {
      reading.tell(at, 'has no node of its own, and was left out');
      continue;
    }
    numbers.push(member(batch, 'batch'));
    batches.push({ batch: number, nodes, parallel: isParallel(batch, nodes, at, reading) });
    const others = unknownOf(batch, batchKeys);
    if (Object.keys(others).length > 0) unknown.push([String(number), others]);
  }
  if (numbers.some((number, index) => number !== index + 1))
    reading.tell(
      path,
      `is numbered ${shown(numbers.map((number) => number ?? null))}: in its order it is numbered from 1`,
    );
  return { batches, unknown: Object.fromEntries(unknown) };
};

const nodesOf = (batch: JsonObject, path: string, reading: Reading): readonly string[] => {
  const value = member(batch, 'nodes');
  const at = pathTo(path, 'nodes');
  if (!Array.isArray(value)) reading.tell(at, 'is no list of nodes');
  const items: readonly Json[] = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  return items.flatMap((item, index) => {
    const itemPath = pathTo(at, index);
    const given = isJsonObject(item) ? member(item, 'id') : item;
    const id = readId(typeof given === 'number' ? String(given) : given);
    if (!id.ok) {
      reading.tell(itemPath, `was left out, because its id is no safe name: ${withoutStop(id.error)}`);
      return [];
    }
    if (id.value !== item) reading.tell(itemPath, `is no text: ${shown(item)} was taken as ${id.value}`);
    return [id.value];
  });
};

const isParallel = (batch: JsonObject, nodes: readonly string[], path: string, reading: Reading): boolean => {
  const value = member(batch, 'parallel');
  if (typeof value === 'boolean') return value;
  const isOne = value === 'true' || (value !== 'false' && nodes.length > 1);
  reading.tell(pathTo(path, 'parallel'), `is ${shown(value)}: it was taken as ${String(isOne)}`);
  return isOne;
};
