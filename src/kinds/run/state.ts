import type { StoredEvent } from '../../kernel/event.ts';
import type { TaskAttempt } from '../../kernel/kind.ts';
import { emptyPool, type Pool } from '../../kernel/steps.ts';
import type { Batch, RunDocument } from '../../formats/run-state/document.ts';
import { tokenize } from '../../formats/run-state/references.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { emptyMap, valueIn, type PersistentMap } from '../../lib/persistent-map.ts';
import type { Node } from './events.ts';

/** A run as its events tell it. What is large and never changes (nodes, plan) is shared by all states of it. */
export interface RunState {
  /** Null before it has a plan. */
  readonly template: Template | null;
  readonly nodes: readonly Node[];
  readonly plan: readonly Batch[];
  readonly context: Readonly<Record<string, string>>;
  /** The batch in which something is left to be done; as many as there are at the end. */
  readonly at: number;
  /** How many nodes of that batch are not done. */
  readonly left: number;
  /** Those of them that have failed, in the order in which they did, until it is decided what that means. */
  readonly failed: readonly string[];
  readonly pool: Pool;
  /** What came of the nodes that do work, as far as they were touched. */
  readonly works: PersistentMap<Work>;
  /** The checkpoints that were reached, in their order. */
  readonly checkpoints: readonly Checkpoint[];
  readonly counts: Counts;
  /** Which attempt a background task works on, or has worked on. */
  readonly tasks: PersistentMap<TaskAttempt>;
  /** The outputs that a node to come refers to. */
  readonly texts: readonly Text[];
  /** The files that outputs lie in, each with the event that it is made from. */
  readonly outputs: readonly { readonly node: string; readonly source: number }[];
  /** The file that it was taken from: its digest, and the event; null where it began here. */
  readonly origin: { readonly digest: string; readonly seq: number } | null;
  /** What an imported file holds that is not of the format. */
  readonly unknown: Unknown;
}

/** Keys that are not of the format, and the states of nodes that are of no batch: they are kept for whoever reads them. */
export interface Unknown {
  readonly file: JsonObject;
  readonly nodes: Readonly<Record<string, JsonObject>>;
  /** By their numbers. */
  readonly batches: Readonly<Record<string, JsonObject>>;
  readonly unplanned: RunDocument['node_states'];
}

/** Where the plan comes from. */
export interface Template {
  readonly id: string;
  readonly path: string;
  readonly name: string;
  /** SHA-256 of its file as it was then; null where that was not known. */
  readonly digest: string | null;
  /** The last batch that refers to the output of the work before it; -1 where none does. */
  readonly lastPrevious: number;
  /** The last batch that refers to the output of a node, by its id. */
  readonly lastReaders: Readonly<Record<string, number>>;
}

/** What came of a node that does work. */
export interface Work {
  /** Null while nothing has come of it. */
  readonly status: 'completed' | 'skipped' | 'failed' | null;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  readonly childSession: string | null;
  readonly outputPath: string | null;
  readonly artifacts: readonly string[];
  readonly error: string | null;
  readonly taskId: string | null;
  readonly exitCode: number | null;
  /** Why it was skipped. */
  readonly reason: string | null;
  /** How often it was begun anew because its template says so. */
  readonly retries: number;
  /** The attempts that are over. */
  readonly attempts: readonly Attempt[];
}

/** An attempt that is over. */
export interface Attempt {
  readonly attempt: number;
  readonly outcome: 'completed' | 'failed' | 'interrupted';
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly error: string | null;
}

/** A checkpoint that was reached. */
export interface Checkpoint {
  readonly node: string;
  readonly savedAt: string;
  /** The event that its snapshot is made from; null for one that was saved elsewhere. */
  readonly source: number | null;
  readonly snapshotPath: string | null;
  /** Null while somebody is waited for. */
  readonly decision: Decision | null;
}

/** What was decided at a checkpoint; `auto`: its template has decided it. */
export interface Decision {
  readonly answer: 'continue' | 'pause' | 'abort';
  readonly at: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly auto: boolean;
}

interface Counts {
  readonly completed: number;
  readonly skipped: number;
  readonly checkpoints: number;
}

interface Text {
  readonly node: string;
  readonly text: string;
}

/** A run before its plan. */
export const emptyRun: RunState = {
  template: null,
  nodes: [],
  plan: [],
  context: {},
  at: 0,
  left: 0,
  failed: [],
  pool: emptyPool,
  works: emptyMap,
  checkpoints: [],
  counts: { completed: 0, skipped: 0, checkpoints: 0 },
  tasks: emptyMap,
  texts: [],
  outputs: [],
  origin: null,
  unknown: { file: {}, nodes: {}, batches: {}, unplanned: {} },
};

/** Of a node that was not touched. */
export const emptyWork: Work = {
  status: null,
  startedAt: null,
  completedAt: null,
  childSession: null,
  outputPath: null,
  artifacts: [],
  error: null,
  taskId: null,
  exitCode: null,
  reason: null,
  retries: 0,
  attempts: [],
};

/** What came of a node. */
export const workOf = ({ works }: RunState, node: string): Work => valueIn(works, node) ?? emptyWork;

/** A node of the plan by its id. */
export const nodeOf = ({ nodes }: RunState, id: string): Node | undefined => {
  let known = nodesById.get(nodes);
  if (known === undefined) {
    known = new Map(nodes.map((node) => [node.id, node]));
    nodesById.set(nodes, known);
  }
  return known.get(id);
};

const nodesById = new WeakMap<readonly Node[], ReadonlyMap<string, Node>>();

/** The checkpoint of that name, once it was reached. */
export const checkpointOf = ({ checkpoints }: RunState, node: string): Checkpoint | undefined =>
  checkpoints.findLast((checkpoint) => checkpoint.node === node);

/** The checkpoint that waits for somebody's decision. */
export const awaited = (state: RunState): Checkpoint | undefined => {
  const last = state.checkpoints.at(-1);
  return last?.decision === null ? last : undefined;
};

/** Whether nothing is left to be done about a node. */
export const isDone = (state: RunState, { id, type }: Node): boolean => {
  if (type !== 'checkpoint') return isOver(workOf(state, id));
  const decision = checkpointOf(state, id)?.decision ?? null;
  return decision !== null && decision.answer !== 'abort';
};

/** Whether nothing is left to be done about a node that does work. */
export const isOver = ({ status }: Work): boolean => status === 'completed' || status === 'skipped';

/** The nodes of the batch in which something is left to be done. */
export const currentNodes = (state: RunState): readonly Node[] =>
  (state.plan[state.at]?.nodes ?? []).flatMap((id) => nodeOf(state, id) ?? []);

/** What of a stored event counts beside what it says. */
export type Circumstance = Pick<StoredEvent, 'session' | 'seq' | 'at' | 'actor'>;

/** A run before anything of its plan was done. */
export const plannedRun = ({
  id,
  path,
  name,
  digest,
  ...plan
}: Pick<RunState, 'nodes' | 'plan' | 'context'> & Omit<Template, 'lastPrevious' | 'lastReaders'>): RunState => ({
  ...emptyRun,
  ...plan,
  template: { id, path, name, digest, ...readersOf(plan) },
});

/** Whether a node refers to the output of another one from a batch on. */
export const isRead = ({ template }: RunState, node: string, from: number): boolean =>
  template !== null && (template.lastPrevious >= from || (template.lastReaders[node] ?? -1) >= from);

const readersOf = ({
  nodes,
  plan,
}: Pick<RunState, 'nodes' | 'plan'>): Pick<Template, 'lastPrevious' | 'lastReaders'> => {
  const batchOf = new Map(plan.flatMap((batch, at) => batch.nodes.map((id) => [id, at])));
  const lastReaders = new Map<string, number>();
  let lastPrevious = -1;
  for (const { id, args } of nodes) {
    const at = batchOf.get(id) ?? -1;
    for (const token of args.includes('output') ? tokenize(args) : []) {
      if (token.kind === 'previous' && token.field !== 'prev_session_id') lastPrevious = Math.max(lastPrevious, at);
      if (token.kind === 'node' && token.field === 'output')
        lastReaders.set(token.node, Math.max(lastReaders.get(token.node) ?? -1, at));
    }
  }
  return { lastPrevious, lastReaders: Object.fromEntries(lastReaders) };
};

/** The run in one of its batches, with what is left in that. */
export const enterBatch = (state: RunState, at: number): RunState => {
  const moved = { ...state, at };
  const texts = state.texts.filter(({ node }) => isRead(state, node, at));
  return { ...moved, texts, left: currentNodes(moved).filter((node) => !isDone(moved, node)).length };
};
