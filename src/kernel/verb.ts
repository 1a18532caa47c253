import * as v from 'valibot';
import type { Json, JsonObject } from '../lib/canonical-json.ts';
import { isJsonObject, wellFormedJson } from '../lib/json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { mayHoldSecret } from '../lib/secret-hint.ts';
import type { Clock } from '../lib/written-time.ts';
import { digestInput, dispatch, replayRequest, type Order } from './dispatch.ts';
import type { LookAtDocuments } from './documents.ts';
import type { Kinds } from './kind.ts';
import type { LookAtRepository, LookOutside } from './outside.ts';
import type { Care, Caller, Digested, Files, Payload, Places, RunProgram, Store, Unread } from './ports.ts';
import type { Host } from './process.ts';
import { refuse, refusePayload, type Refusal } from './refusal.ts';

/** What a verb works with. */
export interface World {
  readonly store: Store;
  readonly kinds: Kinds;
  readonly caller: Caller;
  readonly places: Places;
  readonly files: Files;
  /** The files of the project as few verbs need them: loaded when it is asked for. */
  readonly project: () => Promise<ProjectFiles>;
  readonly host: Host;
  /** What was done around a session: loaded, and git started, when it is asked for. */
  readonly outside: LookOutside;
  /** What git has of a checkout: loaded, and git started, when it is asked for. */
  readonly repository: LookAtRepository;
  /** Runs a program for the caller, where he is: loaded when it is asked for. */
  readonly runProgram: RunProgram;
  /** A variable of the environment by the name that the caller gives; undefined where it is not set. */
  readonly variable: (name: string) => string | undefined;
  readonly care: Care;
  /** Looks at the documents of a session: loaded when one has some. */
  readonly documents: LookAtDocuments;
  /** What `stint.json` of the checkout says of kinds, by their names. */
  readonly declared: Readonly<Record<string, JsonObject>>;
  /** What it says of handing work over. */
  readonly handoffRules: JsonObject;
  /** Whether the session that is resolved is to be written. */
  readonly joins?: true | undefined;
}

/** What a verb works with that is not about the store of this checkout. */
export interface Apart {
  /** The root of the checkout. */
  readonly root: string;
  /** The store that the command line names (`--store`). */
  readonly named: string | undefined;
  /** Opens a store by its name: a path, the address of a server, or `env:NAME`. It is the verb's to close. */
  readonly open: (name: string, missing: 'make' | 'refuse-named') => Promise<Result<Store, Refusal>>;
  readonly files: ProjectFiles;
  readonly clock: Clock;
  readonly variable: World['variable'];
  readonly signWithSsh: SignWithSsh;
  readonly ask: Ask;
}

/** Asks another verb, one that only looks, about the store of the checkout. Loaded when it is asked for. */
export type Ask = (verb: Verb, input: JsonObject) => Promise<Result<JsonObject, VerbRefusal>>;

/**
 * Signs a text with a key of OpenSSH, through its own program: the file of a private key, or of a public one whose other
 * half an agent holds. Answers the signature in its armor. Nobody is asked for anything. Loaded when it is asked for.
 */
export type SignWithSsh = (keyFile: string, namespace: string, text: string) => Promise<Result<string, Refusal>>;

/** Files that people write and verbs read whole, as UTF-8 without its mark. */
export interface WrittenFiles {
  /** A file of at most `limit` bytes by its path from the root of the checkout; never one outside, where links lead either. */
  readonly read: (path: string, limit: number) => Result<string, Unread>;
  /** The names of the files in a folder of the checkout, sorted with numbers by value; none where there is no such folder. */
  readonly list: (folder: string) => readonly string[];
  /** A file that the caller names from where he is, wherever it lies. `path` is that from the root, where it is below it. */
  readonly readNamed: (path: string, limit: number) => Result<{ readonly path: string; readonly text: string }, Unread>;
}

/** A file that the caller names from where he is, whether it is there or not. */
export interface NamedFile {
  /** Its absolute path: where it is looked for. */
  readonly full: string;
  /** Its path from the root of the checkout, `/` between parts; undefined where it leads out of that. */
  readonly path: string | undefined;
  /** What it is, read piece by piece, however large. */
  readonly read: () => Result<Digested, Unread>;
}

/** The files of a project, whatever is to be known of them. */
export interface ProjectFiles extends WrittenFiles {
  /** A file that the caller names from where he is. */
  readonly named: (path: string) => NamedFile;
  /** What the caller names from where he is, as an absolute path with `/` between its parts. */
  readonly resolve: (path: string) => string;
  /** The folders in a folder, each with its files at any depth, relative to it with `/` between parts; both sorted. */
  readonly tree: (folder: string) => readonly { readonly id: string; readonly files: readonly string[] }[];
  /** Whole tables of another program's SQLite database, which is not touched. A table that is not there has no rows. */
  readonly tables: (
    path: string,
    names: readonly string[],
  ) => Promise<Result<Readonly<Record<string, readonly JsonObject[]>>, Refusal>>;
  /** Whether anything lies at a path below a folder; an empty folder is nothing. */
  readonly holds: (folder: string, path: string) => boolean;
  /** The text of a file of at most `limit` bytes below a folder, as strict UTF-8, or what keeps it from being read; links that lead out of it are not followed. */
  readonly text: (folder: string, path: string, limit: number) => Result<string, Unread>;
  /** The same for many files below one folder, whose own folders are looked at once. */
  readonly texts: (folder: string) => (path: string, limit: number) => Result<string, Unread>;
  /** The same with its byte order mark, where it has one. */
  readonly whole: (folder: string, path: string, limit: number) => Result<string, Unread>;
  /** The bytes of a file of at most `limit` bytes below a folder. */
  readonly bytes: (folder: string, path: string, limit: number) => Result<Uint8Array, Unread>;
  /** Writes a file below a folder, whole, in one step; answers why it was not written. Links that lead out of it are not followed. */
  readonly write: (folder: string, path: string, content: string | Uint8Array) => string | undefined;
  /** The same where nothing lies yet: of several who do it at once exactly one does. Null where something does. */
  readonly create: (folder: string, path: string, content: string | Uint8Array) => string | undefined | null;
  /** Whether a path is that of a folder; links are followed. */
  readonly isFolder: (path: string) => boolean;
  /** When a file or folder was changed, in milliseconds; undefined where there is none. */
  readonly changedAt: (path: string) => number | undefined;
  /** Whether nothing lies at a path below a folder, or a file itself: no link, no folder. */
  readonly isPlain: (folder: string, path: string) => boolean;
  /** Takes such a file away, if it is there; answers why it was not. */
  readonly remove: (folder: string, path: string) => string | undefined;
  /** Makes a folder below another one, with those on the way to it; answers why it was not made. */
  readonly makeFolder: (folder: string, path: string) => string | undefined;
}

/** The input of a verb: a flat object of texts, numbers, switches and lists of texts, each with a description. */
export type InputSchema = v.StrictObjectSchema<v.ObjectEntries, undefined>;

/** A refusal; a verb whose answer is a verdict gives its full report with it. */
export interface VerbRefusal {
  readonly refusal: Refusal;
  readonly report?: JsonObject;
}

/** Another name of a verb: the command line of another system, taken as it is. */
export interface Alias {
  readonly name: string;
  /** What its flags are called here: flag to field, both as they are written. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Fields that the name itself says. */
  readonly sets?: JsonObject;
  /** Flags with a value that the other system takes and does not look at. */
  readonly ignores?: readonly string[];
  /** The field of the answer that is printed alone, because scripts of the other system read it off the output. */
  readonly prints?: string;
}

/** A verb that takes a JSON payload: what it must be, checked before anything is looked up. */
export interface PayloadRule {
  readonly summary: string;
  /** Faults and notes are lines that begin with a JSON path. */
  readonly check: (payload: unknown) => Result<{ readonly notes: readonly string[] }, readonly string[]>;
}

/** A text field that the command line also takes whole from elsewhere: from a file, or from standard input (`--stdin`, `-`). */
export interface TextFrom<Field = string> {
  readonly field: Field;
  /** The flag that names the file. */
  readonly file: string;
}

/** A list field of `NAME=VALUE`: on the command line it takes every free word of that shape too, wherever it stands. */
export interface Pairs<Field = string> {
  readonly field: Field;
  /** The flag that names a file with more of them, as a JSON object of texts; what the command line says itself comes later. */
  readonly file?: string;
}

/** A field whose values are also second words of the verb: `note decision TEXT` is `note --type decision TEXT`. */
export interface Forms<Field = string> {
  readonly field: Field;
  readonly words: readonly string[];
}

/** The fields of an input that hold such a value. */
type FieldsWith<Value, Input> = {
  readonly [Key in keyof Input & string]: Exclude<Input[Key], undefined> extends Value ? Key : never;
}[keyof Input & string] &
  string;

/** What a frame is made for. */
export interface FrameLook {
  readonly columns: number;
  /** Most lines; what does not fit is counted in the last one. */
  readonly rows?: number;
  /** Whether colours are shown; without them there is not one escape sequence. */
  readonly colour: boolean;
  /** Lines about the reading itself, below the rest. */
  readonly remarks?: readonly string[];
}

/** How a verb is shown on a terminal where it may be watched. */
export interface Screen {
  /** One frame: lines no wider than the terminal. Without an answer, what there is to say instead of one. */
  readonly frame: (answer: JsonObject | undefined, look: FrameLook) => string;
  /** What of an answer does not change by time alone: another one is worth a new frame where none can be painted over. */
  readonly still: (answer: JsonObject) => string;
}

/** A verb that is asked again and again on a terminal, unless its field `once` says otherwise. */
export interface Live<Field = string> {
  readonly once: Field;
  /** Loaded where a frame is shown, so that no other verb starts with it. */
  readonly screen: () => Promise<Screen>;
}

/** A verb that may go on for ever: where its switch `on` is given, the command line follows the log of a session, or of all. */
export interface Follows<Field = string> {
  readonly on: Field;
  /** The switch that says all sessions, the cursor, and how many events are enough. */
  readonly all: Field;
  readonly after: Field;
  readonly limit: Field;
  /** One event for a person. */
  readonly text: (event: JsonObject) => string;
}

/** What a verb's author writes: a value. Help, parsing, routes and reference pages are functions of it. */
export interface VerbDefinition<Schema extends InputSchema> {
  readonly name: string;
  /** One line, for lists. */
  readonly summary: string;
  /** What it does, when it refuses, what it answers: paragraphs of plain text. */
  readonly details: string;
  /** Whether agents call it at every step: it is loaded before anything else is looked at. */
  readonly everyday?: true;
  /** Command lines that show it. */
  readonly examples: readonly string[];
  /** The names that it has in the systems that stint replaces. */
  readonly aliases?: readonly Alias[];
  /** The names that it had in older versions of them, which these refuse too. */
  readonly retired?: readonly string[];
  /** Made when it is asked for: no verb is checked but the one that is called. */
  readonly input: () => Schema;
  /** The fields that may be given by position, in order. */
  readonly positionals?: readonly (keyof v.InferOutput<Schema> & string)[];
  /** Not together with a payload: there is one standard input. */
  readonly textFrom?: TextFrom<FieldsWith<string, v.InferOutput<Schema>>>;
  readonly pairs?: Pairs<FieldsWith<readonly string[], v.InferOutput<Schema>>>;
  readonly forms?: Forms<FieldsWith<string, v.InferOutput<Schema>>>;
  /** A list field that takes every word behind `--`, where its flag is given: `--run -- npm test`. */
  readonly behind?: FieldsWith<readonly string[], v.InferOutput<Schema>>;
  /** Fields that are used as they are given; what is stored of them the verb cleans itself. */
  readonly raw?: readonly (keyof v.InferOutput<Schema> & string)[];
  /** Fields that do not go together, as a sentence; asked before anything is read. */
  readonly contradiction?: (input: v.InferOutput<Schema>) => string | undefined;
  /** Who acts, where the input says so. */
  readonly actor?: (input: v.InferOutput<Schema>) => string | undefined;
  /** Whether it may make a store where there is none. */
  readonly creates?: boolean;
  /** Whether it also runs on what is left of a damaged store; every verb that reads does. */
  readonly cares?: boolean;
  /** What is reported where the store cannot even be opened, beside the refusal; for a verb whose answer is a verdict. */
  readonly unopened?: (refusal: Refusal) => JsonObject;
  /** That the answer is a no, although what was asked was done: it is then the report beside this refusal. */
  readonly verdict?: (answer: JsonObject) => Refusal | undefined;
  /** Whether its text is one value for a script, so that remarks go to standard error. */
  readonly printsValue?: boolean;
  /** Whether the store is worth a copy afterwards. */
  readonly keepsCopy?: boolean;
  readonly payload?: PayloadRule;
  readonly does: VerbBody<v.InferOutput<Schema>>;
  /** The answer for a person: short aligned lines, and what to do next. */
  readonly text: (answer: JsonObject) => string;
  readonly live?: Live<keyof v.InferOutput<Schema> & string>;
  readonly follows?: Follows<keyof v.InferOutput<Schema> & string>;
}

/**
 * A verb reads; or it writes, and then all of it is an order to the dispatcher; or it maintains the store: it makes derived
 * things anew and appends nothing; or it works apart from the store of the checkout.
 */
export type VerbBody<Input> =
  | { readonly reads: (world: World, input: Input) => Promise<Result<JsonObject, VerbRefusal>> }
  | { readonly maintains: (world: World, input: Input) => Promise<Result<JsonObject, VerbRefusal>> }
  | { readonly apart: (tools: Apart, input: Input) => Promise<Result<JsonObject, VerbRefusal>> }
  | {
      readonly writes: (
        world: World,
        input: Input,
        payload: Payload | undefined,
        clean: Clean,
      ) => Promise<Result<Order<JsonObject>, Refusal | VerbRefusal>>;
      /** What it does instead where `isReading` says so of its input: it then needs no store that may be written. */
      readonly orReads?: (world: World, input: Input) => Promise<Result<JsonObject, VerbRefusal>>;
      readonly isReading?: (input: Input) => boolean;
    };

/** A text that was read elsewhere, as it may be stored; what is found in it counts as what the input held. */
export type Clean = (text: string) => Promise<string>;

/** A verb as the surfaces see it: the types of its input are closed over. */
export interface Verb {
  readonly name: string;
  readonly summary: string;
  readonly details: string;
  readonly examples: readonly string[];
  readonly aliases: readonly Alias[];
  readonly retired: readonly string[];
  readonly input: InputSchema;
  readonly positionals: readonly string[];
  readonly textFrom: TextFrom | undefined;
  readonly pairs: Pairs | undefined;
  readonly forms: Forms | undefined;
  readonly behind: string | undefined;
  readonly access: 'reads' | 'writes' | 'maintains' | 'apart';
  /** Whether it may make a store where there is none. */
  readonly creates: boolean;
  /** Whether it also runs on what is left of a damaged store. */
  readonly cares: boolean;
  readonly unopened: ((refusal: Refusal) => JsonObject) | undefined;
  /** Whether its text is one value for a script, so that remarks go to standard error. */
  readonly printsValue: boolean;
  /** Whether the store is worth a copy afterwards. */
  readonly keepsCopy: boolean;
  readonly payload: PayloadRule | undefined;
  readonly text: (answer: JsonObject) => string;
  readonly live: Live | undefined;
  readonly follows: Follows | undefined;
  /** Checks the input before anything is looked up, and gives back the call to be made. */
  readonly prepare: (input: JsonObject) => Result<PreparedCall, Refusal>;
}

/** A call whose input is legal. */
export interface PreparedCall {
  /** What this call does: a verb that writes may only read with some input. */
  readonly access: Verb['access'];
  readonly run: (world: World, payload?: Json) => Promise<Result<VerbResult, VerbRefusal>>;
  /** Runs it without a store being opened for it; of a verb that works apart this alone is called. */
  readonly apart: ((tools: Apart) => Promise<Result<JsonObject, VerbRefusal>>) | undefined;
}

/** What a verb answers, and the sessions that it wrote, or would have if it had not been a repeat. */
export interface VerbResult {
  readonly answer: JsonObject;
  readonly sessions: readonly string[];
  /** That the answer is a no. */
  readonly verdict?: Refusal | undefined;
}

/** Closes over the types of a verb's author. */
export const defineVerb = <const Schema extends InputSchema>(definition: VerbDefinition<Schema>): Verb => {
  const { does } = definition;
  let schema: Schema | undefined;
  const inputSchema = (): Schema => (schema ??= definition.input());

  const parse = (input: JsonObject): Result<v.InferOutput<Schema>, Refusal> => {
    const parsed = v.safeParse(inputSchema(), input);
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
      : err(refuse('usage', `${definition.name}: ${contradiction}.`, { hint: `stint ${definition.name} --help` }));
  };

  const write = async (
    world: World,
    writes: Extract<typeof does, { readonly writes: unknown }>['writes'],
    input: JsonObject,
    parsed: v.InferOutput<Schema>,
    given: Json | undefined,
  ): Promise<Result<VerbResult, VerbRefusal>> => {
    const notes: string[] = [];
    if (definition.payload !== undefined) {
      const checked = definition.payload.check(given);
      if (!checked.ok) return refused(refusePayload(definition.name, checked.error));
      notes.push(...checked.value.notes);
    }
    const { caller, store } = world;
    // Only a request whose id the caller knows can come again.
    const digest =
      caller.requestId === undefined
        ? ''
        : digestInput(store, given === undefined ? input : { ...input, payload: given });
    const request = { verb: definition.name, digest };
    const known = caller.requestId === undefined ? undefined : await store.recall(caller.requestId);
    if (known !== undefined) {
      const replay = replayRequest(known, caller, request);
      return replay.ok ? ok({ answer: replay.value, sessions: sessionsOf(replay.value) }) : refused(replay.error);
    }

    const clean = await cleanInput(input, caller.redact, definition.raw);
    const cleanPayload = given === undefined ? undefined : await cleanJson(given, caller.redact);
    const final = clean.value === input ? ok(parsed) : parse(clean.value);
    if (!final.ok) return refused(final.error);
    const found = addCounts(clean.found, cleanPayload?.found ?? {});
    const payload =
      cleanPayload === undefined ? undefined : { json: cleanPayload.value, digest: digestInput(store, given ?? null) };
    const joining = { ...world, joins: true } as const;
    let report: JsonObject | undefined;
    let reportOn: Order<JsonObject>['report'];
    const answer = await dispatch(world, request, async () => {
      let all = found;
      const order = await writes(joining, final.value, payload, async (text) => {
        const cleaned = await cleanText(text, caller.redact);
        all = addCounts(all, cleaned.found);
        return cleaned.value;
      });
      if (order.ok) {
        ({ report: reportOn } = order.value);
        return ok(remarked(order.value, notes, () => all));
      }
      if (!('refusal' in order.error)) return err(order.error);
      ({ report } = order.error);
      return err(order.error.refusal);
    });
    if (!answer.ok) {
      const told = report ?? reportOn?.(answer.error);
      return err({ refusal: answer.error, ...(told === undefined ? {} : { report: told }) });
    }
    const verdict = definition.verdict?.(answer.value);
    return ok({ answer: answer.value, sessions: caller.dryRun ? [] : sessionsOf(answer.value), verdict });
  };

  const access = 'writes' in does ? 'writes' : 'maintains' in does ? 'maintains' : 'apart' in does ? 'apart' : 'reads';

  const prepare = (input: JsonObject): Result<PreparedCall, Refusal> => {
    const parsed = parse(input);
    if (!parsed.ok) return parsed;
    const isWriting = 'writes' in does && does.isReading?.(parsed.value) !== true;
    return ok({
      access: access === 'writes' && !isWriting ? 'reads' : access,
      apart: 'apart' in does ? async (tools) => does.apart(tools, parsed.value) : undefined,
      run: async (world, payload) => {
        if (isWriting) {
          const actor = definition.actor?.(parsed.value);
          const acting = actor === undefined ? world : { ...world, caller: { ...world.caller, actor } };
          return write(acting, does.writes, input, parsed.value, payload);
        }
        const look =
          'writes' in does
            ? does.orReads
            : 'reads' in does
              ? does.reads
              : 'maintains' in does
                ? does.maintains
                : undefined;
        if (look === undefined) throw new Error(`${definition.name} does not say how it works with a store`);
        const answer = await look(world, parsed.value);
        return answer.ok ? ok({ answer: answer.value, sessions: [] }) : answer;
      },
    });
  };

  return {
    name: definition.name,
    summary: definition.summary,
    // Asked for when they are shown: of everyday verbs they lie apart from the program.
    get details() {
      return definition.details;
    },
    get examples() {
      return definition.examples;
    },
    aliases: definition.aliases ?? [],
    retired: definition.retired ?? [],
    get input() {
      return inputSchema();
    },
    positionals: definition.positionals ?? [],
    textFrom: definition.textFrom,
    pairs: definition.pairs,
    forms: definition.forms,
    behind: definition.behind,
    creates: definition.creates ?? false,
    cares: definition.cares ?? ('reads' in does || 'orReads' in does),
    unopened: definition.unopened,
    printsValue: definition.printsValue ?? false,
    keepsCopy: definition.keepsCopy ?? false,
    access,
    payload: definition.payload,
    text: definition.text,
    live: definition.live,
    follows: definition.follows,
    prepare,
  };
};

/** A fault of the input: fields are named as in help. */
const faultOf = (issue: v.BaseIssue<unknown>): string => {
  const [key, at] = issue.path?.map((item): unknown => item.key) ?? [];
  const name = typeof key === 'string' ? key.replaceAll('_', '-') : 'the input';
  const field = typeof at === 'number' ? `${name}[${at}]` : name;
  if (issue.type !== 'strict_object') return `${field} ${issue.message}`;
  return issue.expected === 'never' ? `there is no field ${field}` : `${field} is missing`;
};

/** The sessions that an answer is about: their mirrors are looked after, also when the answer is a repeat. */
const sessionsOf = (answer: JsonObject): readonly string[] =>
  [answer['session'], answer['aborted']].filter((key) => typeof key === 'string');

const refused = (refusal: Refusal): { readonly ok: false; readonly error: VerbRefusal } => err({ refusal });

/** An order that answers with what was found in its input, and what there is to say about it. */
const remarked = (
  { answer, work, ...order }: Order<JsonObject>,
  notes: readonly string[],
  found: () => Found,
): Order<JsonObject> => ({
  ...order,
  ...(work === undefined
    ? {}
    : {
        work: async () => {
          const worked = await work();
          return worked.ok ? ok({ ...worked.value, order: remarked(worked.value.order, notes, found) }) : worked;
        },
      }),
  answer: (after, before) => ({
    ...answer(after, before),
    ...(notes.length === 0 ? {} : { notes: [...notes] }),
    ...(Object.keys(found()).length === 0 ? {} : { redacted: found() }),
  }),
});

/** The fields that name what is there already: they are looked up, not stored, and stay what they are. */
const addresses: ReadonlySet<string> = new Set(['session', 'kind', 'phase', 'skip', 'step']);

/**
 * Fields as they may be stored: well-formed, and without secrets unless the caller wants them kept. Fields that need
 * nothing are answered themselves.
 */
const cleanInput = async (
  input: JsonObject,
  redact: boolean,
  raw: readonly string[] = [],
): Promise<{ readonly value: JsonObject; readonly found: Found }> => {
  const stored = Object.entries(input).filter(([key]) => !addresses.has(key) && !raw.includes(key));
  const isClean = stored.every(([, value]) =>
    (Array.isArray(value) ? value : [value]).every(
      (item: Json) => typeof item !== 'string' || (item.isWellFormed() && !(redact && mayHoldSecret(item))),
    ),
  );
  if (isClean) return { value: input, found: {} };
  const { value, found } = await cleanJson(Object.fromEntries(stored), redact);
  return { value: { ...input, ...(isJsonObject(value) ? value : {}) }, found };
};

const cleanText = async (text: string, redact: boolean): Promise<{ readonly value: string; readonly found: Found }> => {
  const value = text.toWellFormed();
  if (!redact || !mayHoldSecret(value)) return { value, found: {} };
  const { text: clean, found } = (await import('../lib/redact.ts')).redact(value);
  return { value: clean, found };
};

/** JSON as it may be stored, with what was found in it. */
export const cleanJson = async (
  json: Json,
  redact: boolean,
): Promise<{ readonly value: Json; readonly found: Found }> => {
  const value = wellFormedJson(json);
  if (!redact) return { value, found: {} };
  const { redactJson } = await import('../lib/redact.ts');
  return redactJson(value);
};

/** How often each rule of the scanner fired. */
type Found = Readonly<Record<string, number>>;

const addCounts = (some: Found, more: Found): Found => ({
  ...some,
  ...Object.fromEntries(Object.entries(more).map(([rule, count]) => [rule, count + (some[rule] ?? 0)])),
});
