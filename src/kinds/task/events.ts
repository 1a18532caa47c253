import * as v from 'valibot';
import { statuses } from '../../formats/handoff/statuses.ts';
import { transitionsSchema } from './workflow.ts';

/** What may be asked of a task, and what can have happened to it. */

const text = v.pipe(v.string(), v.minLength(1));
const count = v.pipe(v.number(), v.integer(), v.minValue(1));
const status = v.picklist(statuses);
const outcome = { outcome: v.optional(text), files: v.optional(v.array(v.string())) };
/** What the project declares, as the caller has found it; without it nothing is said about that. */
const declared = { declared: v.optional(v.strictObject({ transitions: v.optional(transitionsSchema) })) };

const makeCommandSchema = () =>
  v.variant('type', [
    v.strictObject({ type: v.literal('begin'), ...declared }),
    v.strictObject({ type: v.literal('continue'), after: v.nullable(v.string()), override: v.optional(text) }),
    v.strictObject({
      type: v.literal('move-task'),
      to: status,
      owner: v.optional(text),
      blocker: v.optional(text),
      needs: v.optional(text),
      override: v.optional(text),
      ...declared,
    }),
    v.strictObject({ type: v.literal('add-step'), text, before: v.optional(count) }),
    v.strictObject({ type: v.literal('take-step'), step: v.optional(count) }),
    v.strictObject({ type: v.literal('finish-step'), step: count, ...outcome }),
    v.strictObject({ type: v.literal('drop-step'), step: count, reason: v.optional(text) }),
    v.strictObject({ type: v.literal('place-step'), step: count, before: v.nullable(count) }),
  ]);

const makeEventSchema = () =>
  v.variant('type', [
    v.strictObject({ type: v.literal('TaskBegun'), transitions: v.optional(transitionsSchema) }),
    v.strictObject({ type: v.literal('TransitionsChanged'), transitions: transitionsSchema }),
    v.strictObject({
      type: v.literal('StatusChanged'),
      from: status,
      to: status,
      /** Why it was changed although that is no transition. */
      override: v.optional(text),
      /** How often it had been blocked, and was not any more, when it was set back to not started. */
      blocked_before: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
    }),
    v.strictObject({ type: v.literal('OwnerNamed'), owner: text }),
    v.strictObject({ type: v.literal('StepAdded'), step: count, text, before: v.optional(count) }),
    v.strictObject({ type: v.literal('StepTaken'), step: count }),
    v.strictObject({ type: v.literal('StepFinished'), step: count, ...outcome }),
    v.strictObject({ type: v.literal('StepDropped'), step: count, reason: v.optional(text) }),
    v.strictObject({ type: v.literal('StepPlaced'), step: count, before: v.nullable(count) }),
  ]);

/** The versions of the shapes of events. */
export const eventVersions = {
  TaskBegun: 1,
  TransitionsChanged: 1,
  StatusChanged: 1,
  OwnerNamed: 1,
  StepAdded: 1,
  StepTaken: 1,
  StepFinished: 1,
  StepDropped: 1,
  StepPlaced: 1,
} as const;

export type TaskCommand = v.InferOutput<ReturnType<typeof makeCommandSchema>>;

/** What a decision leads to: events of the task, and what the kernel does with the session. */
export type TaskEvent =
  | v.InferOutput<ReturnType<typeof makeEventSchema>>
  | { readonly type: 'SessionClosed'; readonly outcome: 'completed' }
  | { readonly type: 'BlockerRaised'; readonly reason: string; readonly needs?: string };

/** The schemas are made when something is parsed. */
const schemas: { command?: ReturnType<typeof makeCommandSchema>; event?: ReturnType<typeof makeEventSchema> } = {};
export const commandSchema = v.lazy(() => (schemas.command ??= makeCommandSchema()));
export const eventSchema = v.lazy(() => (schemas.event ??= makeEventSchema()));
