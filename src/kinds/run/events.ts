import * as v from 'valibot';
import type { RunDocument } from '../../formats/run-state/document.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { stepCommands, stepEvents, stepEventVersions } from '../../kernel/steps.ts';

/** What may be asked of a run, and what can have happened to it. */

const text = v.pipe(v.string(), v.minLength(1));
const count = v.pipe(v.number(), v.integer(), v.minValue(1));
const object = v.custom<JsonObject>(
  (input) => typeof input === 'object' && input !== null && !Array.isArray(input),
  'expected an object',
);

/** A value for each name; a name may be anything, of which `v.record` would drop `constructor` and the like. */
const isRecordOf =
  <Value>(isValue: (value: unknown) => value is Value) =>
  (input: unknown): input is Readonly<Record<string, Value>> =>
    v.is(object, input) && Object.values(input).every(isValue);
const texts = v.custom<Readonly<Record<string, string>>>(
  isRecordOf((value) => typeof value === 'string'),
  'expected a text for each name',
);
const objects = v.custom<Readonly<Record<string, JsonObject>>>(
  isRecordOf((value) => v.is(object, value)),
  'expected an object for each name',
);

const states = v.custom<RunDocument['node_states']>((input) => v.is(v.record(v.string(), object), input));

/** A node as a plan holds it. `args` is the template of its arguments; a checkpoint has none. */
const node = v.strictObject({
  id: text,
  name: v.string(),
  type: text,
  executor: v.nullable(v.string()),
  args: v.string(),
  on_fail: v.picklist(['abort', 'skip', 'retry']),
  idempotent: v.boolean(),
  auto_continue: v.boolean(),
  /** What is particular to its type, as its template says it. */
  details: object,
});
export type Node = v.InferOutput<typeof node>;

const batch = v.strictObject({ batch: count, nodes: v.pipe(v.array(text), v.minLength(1)), parallel: v.boolean() });

const planned = {
  template_id: v.string(),
  template_path: v.string(),
  template_name: v.string(),
  /** SHA-256 of the template's file as it was. */
  digest: v.optional(text),
  /** The template as it was, whole. */
  template: v.optional(object),
  nodes: v.array(node),
  plan: v.array(batch),
  context: texts,
};

/** A run as another program has left it. */
const imported = {
  /** SHA-256 of the file that it was taken from. */
  digest: text,
  /** Whether it is closed: what has failed in it stays failed, and no checkpoint is reached. */
  is_over: v.boolean(),
  document: v.custom<RunDocument>((input) => v.is(object, input)),
  /** Its nodes as their template has them, as far as that is known. */
  nodes: v.array(node),
  template: v.optional(object),
  template_digest: v.optional(text),
  /** Keys that are not of the format: of the file, of single nodes, and of batches by their numbers. */
  unknown: object,
  unknown_of_nodes: objects,
  unknown_of_batches: objects,
};

const answers = ['continue', 'pause', 'abort'] as const;
const decided = { node: text, answer: v.picklist(answers), reason: v.optional(text) };

const makeCommandSchema = () =>
  v.variant('type', [
    v.strictObject({ type: v.literal('begin') }),
    v.strictObject({ type: v.literal('continue'), after: v.nullable(v.string()) }),
    v.strictObject({ type: v.literal('plan'), ...planned }),
    v.strictObject({ type: v.literal('import'), ...imported }),
    v.strictObject({ type: v.literal('skip-step'), step: text, reason: text }),
    v.strictObject({ type: v.literal('decide'), ...decided }),
    ...stepCommands,
  ]);

const makeEventSchema = () =>
  v.variant('type', [
    v.strictObject({ type: v.literal('RunPlanned'), ...planned }),
    v.strictObject({ type: v.literal('RunImported'), ...imported }),
    v.strictObject({
      type: v.literal('NodeSkipped'),
      node: text,
      reason: text,
      by: v.picklist(['template', 'caller']),
    }),
    v.strictObject({ type: v.literal('NodeRetried'), node: text, by: v.picklist(['template', 'reopening']) }),
    v.strictObject({
      type: v.literal('CheckpointReached'),
      node: text,
      name: v.string(),
      auto_continue: v.boolean(),
      snapshot_path: v.string(),
      /** The states of the nodes that were touched, as the snapshot holds them; all others are pending. */
      node_states: states,
      last_completed_node: v.nullable(v.string()),
      next_node: v.nullable(v.string()),
    }),
    v.strictObject({ type: v.literal('CheckpointDecided'), ...decided }),
    v.strictObject({ type: v.literal('CheckpointAsked'), node: text }),
    ...stepEvents,
  ]);

/** The versions of the shapes of events. */
export const eventVersions = {
  ...stepEventVersions,
  RunPlanned: 1,
  RunImported: 1,
  NodeSkipped: 1,
  NodeRetried: 1,
  CheckpointReached: 1,
  CheckpointDecided: 1,
  CheckpointAsked: 1,
} as const;

export type RunCommand = v.InferOutput<ReturnType<typeof makeCommandSchema>>;

/** What a decision leads to: events of the run, and what the kernel does with the session. */
export type RunEvent = v.InferOutput<ReturnType<typeof makeEventSchema>> | Closing;

/** The kernel's own events, where a run asks for them. */
type Closing =
  | { readonly type: 'SessionClosed'; readonly outcome: 'completed' | 'failed' | 'aborted'; readonly reason?: string }
  | { readonly type: 'SessionPaused'; readonly reason?: string };

/** The schemas are made when something is parsed. */
const schemas: { command?: ReturnType<typeof makeCommandSchema>; event?: ReturnType<typeof makeEventSchema> } = {};
export const commandSchema = v.lazy(() => (schemas.command ??= makeCommandSchema()));
export const eventSchema = v.lazy(() => (schemas.event ??= makeEventSchema()));
