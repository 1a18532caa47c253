import * as v from 'valibot';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { stepCommands, stepEvents, stepEventVersions } from '../../kernel/steps.ts';
import { modes } from './modes.ts';

/** What may be asked of an orchestration, and what can have happened to it. */

const text = v.pipe(v.string(), v.minLength(1));
const count = v.pipe(v.number(), v.integer(), v.minValue(1));
const texts = v.array(v.string());
const object = v.custom<JsonObject>(
  (input) => typeof input === 'object' && input !== null && !Array.isArray(input),
  'expected an object',
);

const project = v.strictObject({ name: v.string(), path: v.string() });
const mode = v.picklist(modes);
const agent = { agent: text, agent_type: text, task: text };
const reason = { reason: v.optional(text) };
const decided = { node: text, answer: v.picklist(['continue', 'pause', 'abort']), ...reason };
const outcome = { outcome: v.optional(text), files: v.optional(texts) };
const usage = v.strictObject({ tokens: v.number(), percentage: v.number() });

/** An orchestration as another program has left it. */
const imported = {
  /** SHA-256 of the file that it was taken from. */
  digest: text,
  /** Whether it is closed. */
  is_over: v.boolean(),
  document: object,
  unknown: v.optional(object),
  raw: v.optional(object),
};

const makeCommandSchema = () =>
  v.variant('type', [
    v.strictObject({ type: v.literal('begin'), mode: v.optional(mode), project: v.optional(project) }),
    v.strictObject({ type: v.literal('continue'), after: v.nullable(v.string()) }),
    v.strictObject({ type: v.literal('change-mode'), mode }),
    v.strictObject({ type: v.literal('focus'), on: v.nullable(text) }),
    /** Who is started next, and on what; what is left out stays what it was. */
    v.strictObject({
      type: v.literal('prepare-agent'),
      agent: text,
      agent_type: v.optional(text),
      task: v.optional(text),
      now: text,
    }),
    v.strictObject({ type: v.literal('cancel-agent'), agent: text, ...reason }),
    v.strictObject({ type: v.literal('pause-agent'), agent: text, ...reason }),
    v.strictObject({ type: v.literal('continue-agent'), agent: text }),
    v.strictObject({ type: v.literal('add-todo'), text }),
    v.strictObject({
      type: v.literal('end-todo'),
      todo: count,
      as: v.picklist(['done', 'dropped']),
      ...outcome,
      ...reason,
    }),
    v.strictObject({ type: v.literal('decide'), ...decided }),
    v.strictObject({ type: v.literal('save') }),
    v.strictObject({ type: v.literal('compress'), summary: text }),
    v.strictObject({ type: v.literal('import'), ...imported }),
    ...stepCommands,
  ]);

const makeEventSchema = () =>
  v.variant('type', [
    v.strictObject({ type: v.literal('OrchestrationBegun'), mode, project: v.optional(project) }),
    v.strictObject({ type: v.literal('OrchestrationImported'), ...imported }),
    v.strictObject({ type: v.literal('ModeChanged'), mode }),
    v.strictObject({ type: v.literal('FocusChanged'), on: v.nullable(text) }),
    v.strictObject({ type: v.literal('AgentPrepared'), ...agent }),
    v.strictObject({ type: v.literal('AgentCancelled'), agent: text, ...reason }),
    v.strictObject({ type: v.literal('AgentPaused'), agent: text, ...reason }),
    v.strictObject({ type: v.literal('AgentContinued'), agent: text }),
    v.strictObject({ type: v.literal('TodoAdded'), todo: count, text }),
    v.strictObject({
      type: v.literal('TodoEnded'),
      todo: count,
      as: v.picklist(['done', 'dropped']),
      ...outcome,
      ...reason,
    }),
    v.strictObject({
      type: v.literal('WaveEnded'),
      wave: count,
      why: v.picklist(['wave', 'agent', 'failure']),
      goes_on: v.boolean(),
    }),
    v.strictObject({ type: v.literal('CheckpointDecided'), ...decided }),
    v.strictObject({ type: v.literal('CheckpointAsked'), node: text }),
    /** What was measured last, so that it is kept with what happened. */
    v.strictObject({
      type: v.literal('Sampled'),
      progress: v.array(v.strictObject({ agent: text, percent: v.number() })),
      usage: v.nullable(usage),
    }),
    v.strictObject({ type: v.literal('Compressed'), summary: text, usage: v.nullable(usage) }),
    ...stepEvents,
  ]);

/** The versions of the shapes of events. */
export const eventVersions = {
  ...stepEventVersions,
  OrchestrationBegun: 1,
  OrchestrationImported: 1,
  ModeChanged: 1,
  FocusChanged: 1,
  AgentPrepared: 1,
  AgentCancelled: 1,
  AgentPaused: 1,
  AgentContinued: 1,
  TodoAdded: 1,
  TodoEnded: 1,
  WaveEnded: 1,
  CheckpointDecided: 1,
  CheckpointAsked: 1,
  Sampled: 1,
  Compressed: 1,
} as const;

export type Project = v.InferOutput<typeof project>;
export type OrchestrationCommand = v.InferOutput<ReturnType<typeof makeCommandSchema>>;

/** What a decision leads to: events of the orchestration, and what the kernel does with the session. */
export type OrchestrationEvent =
  | v.InferOutput<ReturnType<typeof makeEventSchema>>
  | { readonly type: 'SessionClosed'; readonly outcome: 'completed' | 'failed' | 'aborted'; readonly reason?: string }
  | { readonly type: 'SessionPaused'; readonly reason?: string };

/** The schemas are made when something is parsed. */
const schemas: { command?: ReturnType<typeof makeCommandSchema>; event?: ReturnType<typeof makeEventSchema> } = {};
export const commandSchema = v.lazy(() => (schemas.command ??= makeCommandSchema()));
export const eventSchema = v.lazy(() => (schemas.event ??= makeEventSchema()));
