import * as v from 'valibot';
import { objectAt, wholeTextAt } from '../../kernel/answer.ts';
import { isAsImported, type Common } from '../../kernel/common.ts';
import type { StoredEvent } from '../../kernel/event.ts';
import { folderOf, type Mirror } from '../../kernel/kind.ts';
import { recordOf } from '../../kernel/steps.ts';
import {
  printDocument,
  type CheckpointDocument,
  type NodeStatus,
  type RunDocument,
  type RunStatus,
  type SnapshotDocument,
  type WorkDocument,
} from '../../formats/run-state/document.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { printTime } from '../../lib/written-time.ts';
import { eventSchema, type Node } from './events.ts';
import { folderOfRun, outputFile, placePath, snapshotFile } from './paths.ts';
import { checkpointOf, currentNodes, emptyRun, isDone, nodeOf, workOf, type RunState, type Unknown } from './state.ts';

/** The files of a run, as the original workflow player keeps them. */

/** The time of what was decided together with an event; that is known once it is stored. */
export const sameTime = '';

/** The status of a node. What was interrupted has not completed, and does not run. */
export const statusOf = (state: RunState, node: Node): NodeStatus | 'in_doubt' => {
  if (node.type === 'checkpoint') return isDone(state, node) ? 'completed' : 'pending';
  const { status } = workOf(state, node.id);
  if (status !== null) return status;
  const record = recordOf(state.pool, node.id);
  if (record?.inDoubt === true) return 'in_doubt';
  return record?.state === 'running' ? 'running' : 'pending';
};

/** The states of nodes, as the original's files hold them, while the run goes on or when it is over. Paths are those of a run that is not in the archive. */
export const nodeStatesOf = (state: RunState, nodes: readonly Node[], isOver = false): RunDocument['node_states'] =>
  Object.fromEntries(
    nodes.map((node) => [
      node.id,
      {
        ...(node.type === 'checkpoint' ? checkpointDocument(state, node) : workDocument(state, node, isOver)),
        ...state.unknown.nodes[node.id],
      },
    ]),
  );

const workDocument = (state: RunState, node: Node, isOver: boolean): WorkDocument => {
  const work = workOf(state, node.id);
  const status = statusOf(state, node);
  // What runs on after the end of its run has not completed, and nobody waits for it.
  const isUnclear = status === 'in_doubt' || (isOver && status === 'running');
  return {
    status: isUnclear ? 'failed' : status,
    started_at: timeOf(work.startedAt),
    completed_at: timeOf(work.completedAt),
    session_id: work.childSession,
    output_path: work.outputPath,
    artifacts: work.artifacts,
    error: isUnclear ? 'interrupted: nobody knows what it has done' : work.error,
    ...(work.taskId === null ? {} : { cli_task_id: work.taskId }),
  };
};

const checkpointDocument = (state: RunState, node: Node): CheckpointDocument => {
  const checkpoint = checkpointOf(state, node.id);
  return {
    status: isDone(state, node) ? 'completed' : 'pending',
    saved_at: timeOf(checkpoint?.savedAt ?? null),
    snapshot_path: checkpoint?.snapshotPath ?? null,
    // The original says it from the start, in one of its texts.
    ...(checkpoint === undefined && state.origin === null ? {} : { auto_continue: node.auto_continue }),
  };
};

const timeOf = (at: string | null): string | null => (at === null ? null : printTime(at));

/** All nodes in the order of the plan. */
const planned = (state: RunState): readonly Node[] =>
  state.plan.flatMap(({ nodes }) => nodes.flatMap((id) => nodeOf(state, id) ?? []));

const statusOfRun = ({ status, outcome, pause, archivedAt }: Common): RunStatus => {
  if (archivedAt !== null) return 'archived';
  if (status === 'closed') return outcome ?? 'aborted';
  return pause === null ? 'running' : 'paused';
};

/** The first node of the current batch that is not done; null at the end. */
export const currentNode = (state: RunState): string | null =>
  currentNodes(state).find((node) => !isDone(state, node))?.id ?? null;

/** The number of the current batch: the last one at the end, 0 where there is none. */
export const currentBatch = ({ at, plan }: RunState): number => Math.min(at + 1, plan.length);

/** `session-state.json`. */
const stateDocument = (state: RunState, common: Common, folder: string): RunDocument => ({
  session_id: common.name,
  template_id: state.template?.id ?? '',
  template_path: state.template?.path ?? '',
  template_name: state.template?.name ?? '',
  status: statusOfRun(common),
  context: state.context,
  execution_plan: state.plan.map((batch) => ({ ...batch, ...state.unknown.batches[`${batch.batch}`] })),
  current_batch: currentBatch(state),
  current_node: currentNode(state),
  last_checkpoint: state.checkpoints.at(-1)?.node ?? null,
  node_states: placedIn(
    { ...nodeStatesOf(state, planned(state), common.status === 'closed'), ...unplannedOf(state.unknown) },
    common.name,
    folder,
  ),
  created_at: printTime(common.startedAt),
  updated_at: printTime(common.movedAt),
  completed_at: common.closedAt === null ? null : printTime(common.closedAt),
});

/**
 * The text of it, which is asked for twice: for its digest with the commit, and when the file is written. What the kernel
 * knows of a session is made anew with each event, so that it stands for the state.
 */
const printState = (state: RunState, common: Common, folder: string): string => {
  const known = printed.get(common);
  if (known?.state === state && known.folder === folder) return known.text;
  const text = printDocument(stateDocument(state, common, folder), keysBeside(state, common));
  printed.set(common, { state, folder, text });
  return text;
};

const printed = new WeakMap<Common, { readonly state: RunState; readonly folder: string; readonly text: string }>();

/** The states of nodes that are of no batch, as they were found. */
const unplannedOf = ({ unplanned, nodes }: Unknown): RunDocument['node_states'] =>
  Object.fromEntries(Object.entries(unplanned).map(([id, state]) => [id, { ...state, ...nodes[id] }]));

/** What is said beside what the original's format has room for: what another one has said, and how an archived session ended. */
const keysBeside = ({ unknown }: RunState, { archivedAt, outcome }: Common): JsonObject => {
  const { archived_at: _, previous_status: __, ...others } = unknown.file;
  return {
    ...others,
    ...(archivedAt === null ? {} : { archived_at: printTime(archivedAt), previous_status: outcome }),
  };
};

/** The states with the paths of what lies in the run's own folder, which moves into the archive and out of it. */
const placedIn = (states: RunDocument['node_states'], name: string, folder: string): RunDocument['node_states'] => {
  if (folder === folderOfRun(name)) return states;
  const placed = (path: string | null): string | null => placePath(path, name, folder);
  return Object.fromEntries(
    Object.entries(states).map(([id, state]) => [
      id,
      'snapshot_path' in state
        ? { ...state, snapshot_path: placed(state.snapshot_path) }
        : {
            ...state,
            output_path: placed(state.output_path),
            artifacts: state.artifacts.map((path) => placed(path) ?? path),
          },
    ]),
  );
};

/** A path on record, where it is now: what lies in the folder of a run moves with that. */
export const pathNow = (
  path: string | null,
  { name, archivedAt }: Pick<Common, 'name' | 'archivedAt'>,
): string | null => placePath(path, name, folderOf({ folder: folderOfRun }, { name, archivedAt }));

/** `checkpoints/<id>.json`, from the event that the checkpoint was reached. */
const snapshotDocument = (
  state: RunState,
  { name }: Common,
  folder: string,
  { at, data }: StoredEvent,
): SnapshotDocument => {
  const reached = v.parse(eventSchema, { ...data, type: 'CheckpointReached' });
  if (reached.type !== 'CheckpointReached') throw new Error('a snapshot is made from another event');
  const { node_states: touched } = reached;
  const untouched = { ...emptyRun, plan: state.plan, nodes: state.nodes };
  return {
    session_id: name,
    checkpoint_id: reached.node,
    checkpoint_name: reached.name,
    saved_at: printTime(at),
    context_snapshot: state.context,
    node_states_snapshot: placedIn({ ...nodeStatesOf(untouched, planned(state)), ...timed(touched, at) }, name, folder),
    last_completed_node: reached.last_completed_node,
    next_node: reached.next_node,
  };
};

/** The states with the time of their event where they were decided together with it. */
const timed = (states: RunDocument['node_states'], at: string): RunDocument['node_states'] => {
  const known = (time: string | null): string | null => (time === sameTime ? printTime(at) : time);
  return Object.fromEntries(
    Object.entries(states).map(([id, state]) => [
      id,
      'saved_at' in state
        ? { ...state, saved_at: known(state.saved_at) }
        : { ...state, started_at: known(state.started_at), completed_at: known(state.completed_at) },
    ]),
  );
};

/**
 * The files of a run in the order in which they are written: the state comes behind what it names. Those of a run that was
 * taken over are the original's, and stay untouched until something happens to it here.
 */
export const mirrorsOf = (state: RunState, common: Common, folder: string): readonly Mirror[] =>
  state.template === null || isAsImported(common)
    ? []
    : [
        ...state.outputs.map(({ node, source }) => ({
          path: outputFile(node),
          source,
          render: ({ data }: StoredEvent): string => wholeTextAt(objectAt(data, 'result'), 'output'),
        })),
        ...state.checkpoints.flatMap(({ node, source }) =>
          source === null
            ? []
            : [
                {
                  path: snapshotFile(node),
                  source,
                  render: (event: StoredEvent): string => printDocument(snapshotDocument(state, common, folder, event)),
                },
              ],
        ),
        {
          path: 'session-state.json',
          source: common.revision,
          render: (): string => printState(state, common, folder),
          ...(state.origin === null ? {} : { original: state.origin.digest }),
        },
      ];
