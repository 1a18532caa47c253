import { parseArgs } from 'node:util';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { Verb } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { nearest } from '../../lib/text.ts';
import { fieldOf } from './fields.ts';

/** A flag that verbs have beside their own input. */
export interface Flag {
  readonly name: string;
  readonly type: 'text' | 'number' | 'switch';
  readonly description: string;
}

/** The flags of every verb. */
export const commonFlags: readonly Flag[] = [
  { name: 'json', type: 'switch', description: 'Answer with one JSON document.' },
  { name: 'format', type: 'text', description: 'json or text.' },
  {
    name: 'actor',
    type: 'text',
    description: 'Who acts. Default: STINT_ACTOR, else the agent that runs this, else user@host.',
  },
  {
    name: 'store',
    type: 'text',
    description: 'The store: its file or folder. Default: STINT_STORE, else .stint/ of the main checkout.',
  },
  { name: 'quiet', type: 'switch', description: 'Print nothing but refusals.' },
  { name: 'help', type: 'switch', description: 'Show the help of the verb.' },
];

/** The flags of every verb that writes. */
export const writeFlags: readonly Flag[] = [
  {
    name: 'request-id',
    type: 'text',
    description: 'Names this request: the same one again is answered with what was answered first.',
  },
  { name: 'expect-revision', type: 'number', description: 'Refuse (9) unless the session is at this revision.' },
  { name: 'dry-run', type: 'switch', description: 'Answer as if, and change nothing.' },
  { name: 'no-redact', type: 'switch', description: 'Store the text as it is, secrets too.' },
];

/** The flags of every verb that takes a payload. */
export const payloadFlags: readonly Flag[] = [
  { name: 'stdin', type: 'switch', description: 'Read the payload from standard input; so does - in its place.' },
  { name: 'file', type: 'text', description: 'Read the payload from this file.' },
];

/** A command line, taken apart. */
export interface CommandLine {
  readonly verb: Verb;
  readonly input: JsonObject;
  readonly flags: Flags;
  /** Where the payload comes from: a file's path, or standard input. */
  readonly payload: { readonly file: string } | 'stdin' | undefined;
}

/** The flags that were given. */
export interface Flags {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly actor: string | undefined;
  readonly store: string | undefined;
  readonly requestId: string | undefined;
  readonly expectRevision: number | undefined;
  readonly dryRun: boolean;
  readonly redact: boolean;
}

/** What a command line asks for. */
export type Request =
  | { readonly kind: 'run'; readonly line: CommandLine }
  | { readonly kind: 'help'; readonly verb: Verb | undefined; readonly json: boolean }
  | { readonly kind: 'version'; readonly json: boolean };

/** The flags of a verb that are not its input. */
export const flagsOf = (verb: Verb): readonly Flag[] => [
  ...(verb.payload === undefined ? [] : payloadFlags),
  ...(verb.access === 'writes' ? writeFlags : []),
  ...commonFlags,
];

/** Takes a command line apart, strictly: whatever is not known is refused by its name. */
export const parseCommandLine = (verbs: readonly Verb[], argv: readonly string[]): Result<Request, Refusal> => {
  const json = wantsJson(argv);
  const at = argv.findIndex((argument) => !argument.startsWith('-'));
  const name = argv[at];
  if (name === undefined || name === 'help') {
    const topic = name === undefined ? undefined : argv.slice(at + 1).find((argument) => !argument.startsWith('-'));
    if (name === undefined && argv.includes('--version')) return ok({ kind: 'version', json });
    const unknown =
      name === undefined ? argv.find((argument) => !['--help', '-h', '--json'].includes(argument)) : undefined;
    if (unknown !== undefined)
      return err(refuseUsage(`There is no flag ${shown(unknown)} before the verb.`, 'stint --help'));
    const verb = topic === undefined ? undefined : verbs.find((one) => one.name === topic);
    if (topic !== undefined && verb === undefined) return err(refuseVerb(verbs, topic));
    return ok({ kind: 'help', verb, json });
  }
  const verb = verbs.find((one) => one.name === name);
  if (verb === undefined) return err(refuseVerb(verbs, name));
  return parseVerbLine(verb, [...argv.slice(0, at), ...argv.slice(at + 1)]);
};

/** Whether the answer, even a refusal of the rest, is to be JSON. */
export const wantsJson = (argv: readonly string[]): boolean =>
  argv.includes('--json') || argv.includes('--format=json') || argv[argv.indexOf('--format') + 1] === 'json';

const parseVerbLine = (verb: Verb, argv: readonly string[]): Result<Request, Refusal> => {
  const help = `stint ${verb.name} --help`;
  const own = Object.entries(verb.input.entries).map(([name, schema]) => ({ key: name, ...fieldOf(name, schema) }));
  const flags = flagsOf(verb);
  const options = [
    ...own.map((field) => ({ ...field, isInput: true })),
    ...flags.map((flag) => ({ key: flag.name, ...flag, isInput: false })),
  ];
  const optionByName = new Map(options.map((option) => [option.name, option]));

  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      options.map(({ name, type }) => [name, { type: type === 'switch' ? ('boolean' as const) : ('string' as const) }]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });

  const input: Record<string, string | number | boolean> = {};
  const given: Record<string, string | number | boolean> = {};
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') {
      words.push(token.value);
      continue;
    }
    if (token.name === 'h' || token.name === 'help') return ok({ kind: 'help', verb, json: wantsJson(argv) });
    const option = optionByName.get(token.name);
    if (option === undefined || !token.rawName.startsWith('--')) {
      const names = options.map((known) => `--${known.name}`);
      return err(
        refuseUsage(`${verb.name} has no flag ${shown(token.rawName)}.`, help, {
          legal: names,
          candidates: nearest(token.rawName, names),
        }),
      );
    }
    const value = valueOf(option.type, token.value);
    if (value === undefined) {
      const wanted =
        option.type === 'switch'
          ? 'takes no value'
          : option.type === 'number'
            ? 'takes a whole number'
            : 'needs a value';
      return err(refuseUsage(`${verb.name}: --${option.name} ${wanted}.`, help));
    }
    const into = option.isInput ? input : given;
    if (into[option.key] !== undefined && into[option.key] !== value)
      return err(refuseUsage(`${verb.name}: --${option.name} is given twice.`, help));
    into[option.key] = value;
  }

  const dash = verb.payload === undefined ? -1 : words.indexOf('-');
  if (dash >= 0) {
    words.splice(dash, 1);
    given['stdin'] = true;
  }
  for (const [index, word] of words.entries()) {
    const key = verb.positionals[index];
    const field = own.find((one) => one.key === key);
    if (key === undefined || field === undefined)
      return err(refuseUsage(`${verb.name} does not take ${shown(word)}.`, help));
    const value = valueOf(field.type, word);
    if (value === undefined) return err(refuseUsage(`${verb.name}: ${field.name} is a whole number.`, help));
    if (input[key] !== undefined && input[key] !== value)
      return err(refuseUsage(`${verb.name}: ${field.name} is given twice.`, help));
    input[key] = value;
  }

  const format = given['format'];
  if (format !== undefined && format !== 'json' && format !== 'text')
    return err(refuseUsage(`${verb.name}: --format is json or text.`, help));
  const { file } = given;
  if (verb.payload !== undefined && (file === undefined) === (given['stdin'] === undefined)) {
    return err(
      refuseUsage(`${verb.name} takes ${verb.payload.summary}: from --stdin or from --file, one of them.`, help),
    );
  }
  return ok({
    kind: 'run',
    line: {
      verb,
      input,
      payload: verb.payload === undefined ? undefined : typeof file === 'string' ? { file } : 'stdin',
      flags: {
        json: given['json'] === true || format === 'json',
        quiet: given['quiet'] === true,
        actor: textOf(given['actor']),
        store: textOf(given['store']),
        requestId: textOf(given['request-id']),
        expectRevision: typeof given['expect-revision'] === 'number' ? given['expect-revision'] : undefined,
        dryRun: given['dry-run'] === true,
        redact: given['no-redact'] !== true,
      },
    },
  });
};

const textOf = (value: string | number | boolean | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The value of an option in its type; undefined where it has none or another one. */
const valueOf = (type: Flag['type'], value: string | undefined): string | number | boolean | undefined => {
  if (type === 'switch') return value === undefined ? true : undefined;
  if (type === 'text') return value;
  return value !== undefined && /^-?\d{1,15}$/.test(value) ? Number(value) : undefined;
};

const shown = (argument: string): string =>
  JSON.stringify(argument.length > 60 ? `${argument.slice(0, 60)}...` : argument);

const refuseUsage = (
  message: string,
  hint: string,
  more: { readonly legal?: readonly string[]; readonly candidates?: readonly string[] } = {},
): Refusal => refuse('usage', message, { hint, ...more });

const refuseVerb = (verbs: readonly Verb[], name: string): Refusal => {
  const names = verbs.map((verb) => verb.name);
  return refuse('usage', `There is no verb ${shown(name)}.`, {
    legal: names,
    candidates: nearest(name, names),
    hint: 'stint --help',
  });
};
