import * as v from 'valibot';
import type { Json, JsonObject } from '../lib/canonical-json.ts';
import { isJsonObject } from '../lib/json.ts';
import { redactJson } from '../lib/redact.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { wellFormed } from '../lib/text.ts';
import { digestInput, dispatch, replayRequest, type Order } from './dispatch.ts';
import type { Kinds } from './kind.ts';
import type { Caller, Files, Payload, Places, Store } from './ports.ts';
import { refuse, refusePayload, type Refusal } from './refusal.ts';

/** What a verb works with. */
export interface World {
  readonly store: Store;
  readonly kinds: Kinds;
  readonly caller: Caller;
  readonly places: Places;
  readonly files: Files;
}

/** The input of a verb: a flat object of texts, whole numbers and switches, each with a description. */
export type InputSchema = v.StrictObjectSchema<v.ObjectEntries, undefined>;

/** A refusal; a verb whose answer is a verdict gives its full report with it. */
export interface VerbRefusal {
  readonly refusal: Refusal;
  readonly report?: JsonObject;
}

/** A verb that takes a JSON payload: what it must be, checked before anything is looked up. */
export interface PayloadRule {
  readonly summary: string;
  /** Faults and notes are lines that begin with a JSON path. */
  readonly check: (payload: unknown) => Result<{ readonly notes: readonly string[] }, readonly string[]>;
}

/** What a verb's author writes: a value. Help, parsing, routes and reference pages are functions of it. */
export interface VerbDefinition<Schema extends InputSchema> {
  readonly name: string;
  /** One line, for lists. */
  readonly summary: string;
  /** What it does, when it refuses, what it answers: paragraphs of plain text. */
  readonly details: string;
  /** Command lines that show it. */
  readonly examples: readonly string[];
  readonly input: Schema;
  /** The fields that may be given by position, in order. */
  readonly positionals?: readonly (keyof v.InferOutput<Schema> & string)[];
  /** Fields that do not go together, as a sentence; asked before anything is read. */
  readonly contradiction?: (input: v.InferOutput<Schema>) => string | undefined;
  readonly payload?: PayloadRule;
  readonly does: VerbBody<v.InferOutput<Schema>>;
  /** The answer for a person: short aligned lines, and what to do next. */
  readonly text: (answer: JsonObject) => string;
}

/**
 * A verb reads; or it writes, and then all of it is an order to the dispatcher; or it maintains the store: it makes derived
 * things anew and appends nothing.
 */
export type VerbBody<Input> =
  | { readonly reads: (world: World, input: Input) => Promise<Result<JsonObject, VerbRefusal>> }
  | { readonly maintains: (world: World, input: Input) => Promise<Result<JsonObject, VerbRefusal>> }
  | {
      readonly writes: (
        world: World,
        input: Input,
        payload: Payload | undefined,
      ) => Promise<Result<Order<JsonObject>, Refusal>>;
    };

/** A verb as the surfaces see it: the types of its input are closed over. */
export interface Verb {
  readonly name: string;
  readonly summary: string;
  readonly details: string;
  readonly examples: readonly string[];
  readonly input: InputSchema;
  readonly positionals: readonly string[];
  readonly access: 'reads' | 'writes' | 'maintains';
  readonly payload: PayloadRule | undefined;
  readonly text: (answer: JsonObject) => string;
  /** Refuses input that is not legal, before anything is looked up. */
  readonly check: (input: JsonObject) => Refusal | undefined;
  readonly run: (world: World, call: VerbCall) => Promise<Result<VerbResult, VerbRefusal>>;
}

/** One call of a verb, as it was given. */
export interface VerbCall {
  readonly input: JsonObject;
  readonly payload?: Json;
}

/** What a verb answers, and the sessions that it wrote, or would have if it had not been a repeat. */
export interface VerbResult {
  readonly answer: JsonObject;
  readonly sessions: readonly string[];
}

/** Closes over the types of a verb's author. */
export const defineVerb = <const Schema extends InputSchema>(definition: VerbDefinition<Schema>): Verb => {
  const { does } = definition;

  const parse = (input: JsonObject): Result<v.InferOutput<Schema>, Refusal> => {
    const parsed = v.safeParse(definition.input, input);
    if (!parsed.success) {
      return err(
        refuse('usage', `${definition.name}: ${parsed.issues.map(faultOf).join('; ')}.`, {
          hint: `stint ${definition.name} --help`,
        }),
      );
    }
    const contradiction = definition.contradiction?.(parsed.output);
    return contradiction === undefined
      ? ok(parsed.output)
      : err(refuse('usage', `${definition.name}: ${contradiction}`, { hint: `stint ${definition.name} --help` }));
  };

  const run = async (world: World, call: VerbCall): Promise<Result<VerbResult, VerbRefusal>> => {
    const raw: JsonObject = call.payload === undefined ? call.input : { ...call.input, payload: call.payload };
    const given = parse(call.input);
    if (!given.ok) return refused(given.error);
    if (!('writes' in does)) {
      const answer = await ('reads' in does ? does.reads : does.maintains)(world, given.value);
      return answer.ok ? ok({ answer: answer.value, sessions: [] }) : answer;
    }

    const notes: string[] = [];
    if (definition.payload !== undefined) {
      const checked = definition.payload.check(call.payload);
      if (!checked.ok) return refused(refusePayload(definition.name, checked.error));
      notes.push(...checked.value.notes);
    }
    const { caller } = world;
    // Only a request whose id the caller knows can come again.
    const request = {
      verb: definition.name,
      digest: caller.requestId === undefined ? '' : digestInput(world.store, raw),
    };
    const known = caller.requestId === undefined ? undefined : await world.store.recall(caller.requestId);
    if (known !== undefined) {
      const replay = replayRequest(known, caller, request);
      return replay.ok ? ok({ answer: replay.value, sessions: sessionsOf(replay.value) }) : refused(replay.error);
    }

    const clean = cleanInput(raw, caller.redact);
    const { payload: json, ...fields } = clean.value;
    const input = parse(fields);
    if (!input.ok) return refused(input.error);
    const payload = json === undefined ? undefined : { json, digest: digestInput(world.store, call.payload ?? null) };
    const remarks = {
      ...(notes.length === 0 ? {} : { notes }),
      ...(Object.keys(clean.found).length === 0 ? {} : { redacted: clean.found }),
    };
    const receipt = await dispatch(world, request, async () => {
      const order = await does.writes(world, input.value, payload);
      if (!order.ok) return order;
      return ok({
        ...order.value,
        answer: (session, before) => ({ ...order.value.answer(session, before), ...remarks }),
      });
    });
    return receipt.ok
      ? ok({ answer: receipt.value, sessions: caller.dryRun ? [] : sessionsOf(receipt.value) })
      : refused(receipt.error);
  };

  return {
    name: definition.name,
    summary: definition.summary,
    details: definition.details,
    examples: definition.examples,
    input: definition.input,
    positionals: definition.positionals ?? [],
    access: 'writes' in does ? 'writes' : 'maintains' in does ? 'maintains' : 'reads',
    payload: definition.payload,
    text: definition.text,
    check: (input) => {
      const parsed = parse(input);
      return parsed.ok ? undefined : parsed.error;
    },
    run,
  };
};

/** A fault of the input: fields are named as in help. */
const faultOf = (issue: v.BaseIssue<unknown>): string => {
  const field = String(issue.path?.[0]?.key ?? '').replaceAll('_', '-');
  if (issue.type !== 'strict_object') return `${field} ${issue.message}`;
  return issue.expected === 'never' ? `there is no field ${field}` : `${field} is missing`;
};

/** The sessions that an answer is about: their mirrors are looked after, also when the answer is a repeat. */
const sessionsOf = (answer: JsonObject): readonly string[] =>
  [answer['session'], answer['aborted']].filter((key) => typeof key === 'string');

const refused = (refusal: Refusal): { readonly ok: false; readonly error: VerbRefusal } => err({ refusal });

/** Text as it may be stored: well-formed, and without secrets unless the caller wants them kept. */
const cleanInput = (
  input: JsonObject,
  redact: boolean,
): { readonly value: JsonObject; readonly found: Readonly<Record<string, number>> } => {
  const formed = formText(input);
  if (!redact) return { value: objectOf(formed), found: {} };
  const { value, found } = redactJson(formed);
  return { value: objectOf(value), found };
};

const objectOf = (value: Json): JsonObject => (isJsonObject(value) ? value : {});

const formText = (value: Json): Json => {
  if (typeof value === 'string') return wellFormed(value);
  if (Array.isArray(value)) return value.map(formText);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]: [string, Json]) => [wellFormed(key), formText(item)]),
    );
  }
  return value;
};
