import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { Alias, Verb } from '../../kernel/verb.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { nearest } from '../../lib/nearest.ts';
import { truncate } from '../../lib/text.ts';
import { namesOf, refuseVerb } from '../verb-names.ts';
import { fieldIn, flagNameOf, type Flag } from './fields.ts';

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
  { name: 'process', type: 'text', description: 'The process that acts, by its id. Default: STINT_PROCESS.' },
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
  {
    name: 'lease-token',
    type: 'number',
    description: 'The token of the lease that the caller holds. Default: STINT_LEASE_TOKEN.',
  },
  { name: 'take-over', type: 'switch', description: 'Take over a lease of somebody else, on the record.' },
  { name: 'dry-run', type: 'switch', description: 'Answer as if, and change nothing.' },
  { name: 'no-redact', type: 'switch', description: 'Store the text as it is, secrets too.' },
];

/** The flags of every verb that takes a payload. */
export const payloadFlags: readonly Flag[] = [
  { name: 'stdin', type: 'switch', description: 'Read the payload from standard input; so does - in its place.' },
  { name: 'file', type: 'text', description: 'Read the payload from this file.' },
];

/** The flags by which a verb takes a field from elsewhere. */
export const sourceFlags = ({ textFrom, pairs }: Verb): readonly Flag[] => [
  ...(textFrom === undefined
    ? []
    : [
        {
          name: textFrom.file,
          type: 'text' as const,
          description: `Read --${flagNameOf(textFrom.field)} from this file, whole.`,
        },
        {
          name: 'stdin',
          type: 'switch' as const,
          description: `Read --${flagNameOf(textFrom.field)} from standard input, whole; so does - in its place.`,
        },
      ]),
  ...(pairs?.file === undefined
    ? []
    : [
        {
          name: pairs.file,
          type: 'text' as const,
          description: `Read more of --${flagNameOf(pairs.field)} from this file, a JSON object of texts.`,
        },
      ]),
];

/** Where something is read: a file's path, or standard input. */
export type Source = { readonly file: string } | 'stdin';

/** A field of the input that stands elsewhere: a text, or more `NAME=VALUE` of a list. */
export interface Elsewhere {
  readonly field: string;
  readonly holds: 'text' | 'pairs';
  readonly source: Source;
}

/** A command line, taken apart. */
export interface CommandLine {
  readonly verb: Verb;
  readonly input: JsonObject;
  readonly flags: Flags;
  /** The field of the answer that is printed alone; undefined for the verb's own text. */
  readonly prints: string | undefined;
  /** Where the payload comes from. */
  readonly payload: Source | undefined;
  /** What the input does not have yet. */
  readonly elsewhere: readonly Elsewhere[];
}

/** The flags that were given. */
export interface Flags {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly actor: string | undefined;
  readonly store: string | undefined;
  readonly process: string | undefined;
  readonly requestId: string | undefined;
  readonly expectRevision: number | undefined;
  readonly leaseToken: number | undefined;
  readonly takeOver: boolean;
  readonly dryRun: boolean;
  readonly redact: boolean;
}

/** What a command line asks for. */
export type Request =
  | { readonly kind: 'run'; readonly line: CommandLine }
  | {
      readonly kind: 'help';
      readonly verb: Verb | undefined;
      readonly group: string | undefined;
      readonly json: boolean;
    }
  | { readonly kind: 'version'; readonly json: boolean };

/** The flags of a verb that are not its input. */
export const flagsOf = (verb: Verb): readonly Flag[] => [
  ...(verb.payload === undefined ? [] : payloadFlags),
  ...sourceFlags(verb),
  ...(verb.access === 'writes' ? writeFlags : []),
  // A verb with more forms of its text has a field of that name.
  ...commonFlags.filter(({ name }) => verb.input.entries[name] === undefined),
];

/** Takes a command line apart, strictly: whatever is not known is refused by its name. */
export const parseCommandLine = (verbs: readonly Verb[], argv: readonly string[]): Result<Request, Refusal> => {
  const json = wantsJson(argv);
  const at = findVerb(argv);
  const word = argv[at];
  if (word === undefined || word === 'help') {
    const topic =
      word === undefined
        ? ''
        : argv
            .slice(at + 1)
            .filter((argument) => !argument.startsWith('-'))
            .join(' ');
    if (asksVersion(argv)) return ok({ kind: 'version', json });
    const unknown =
      word === undefined ? argv.find((argument) => !['--help', '-h', '--json'].includes(argument)) : undefined;
    if (unknown !== undefined)
      return err(refuseUsage(`There is no flag ${quoted(unknown)} before the verb.`, 'stint --help'));
    if (topic === '') return ok({ kind: 'help', verb: undefined, group: undefined, json });
    // A verb may have the first word of others as its name.
    const found = findNamed(verbs, topic);
    if (found !== undefined) return ok({ kind: 'help', verb: found.verb, group: undefined, json });
    return isGroup(verbs, topic)
      ? ok({ kind: 'help', verb: undefined, group: topic, json })
      : err(refuseVerb(verbs, topic));
  }
  for (const name of namesIn(argv)) {
    const found = findNamed(verbs, name);
    const count = name.split(' ').length;
    if (found !== undefined) return parseVerbLine(found, [...argv.slice(0, at), ...argv.slice(at + count)]);
  }
  const rest = argv.slice(at + 1);
  if (isGroup(verbs, word) && rest.some((argument) => argument === '--help' || argument === '-h'))
    return ok({ kind: 'help', verb: undefined, group: word, json });
  const [second = ''] = rest;
  const both = /^\w/.test(second) ? `${word} ${second}` : word;
  return err(refuseVerb(verbs, isGroup(verbs, word) ? both : word, both));
};

/** Whether a command line asks for the version alone. */
const asksVersion = (argv: readonly string[]): boolean =>
  argv[findVerb(argv)] === undefined && argv.includes('--version');

/** Whether these verbs are all that a command line needs. */
export const isAmong = (verbs: readonly Verb[], argv: readonly string[]): boolean =>
  asksVersion(argv) || namesIn(argv).some((name) => findNamed(verbs, name) !== undefined);

/** What the verb of a command line may be called: names of verbs have two words or one. */
export const namesIn = (argv: readonly string[]): readonly string[] => {
  const at = findVerb(argv);
  return [argv.slice(at, at + 2).join(' '), argv.slice(at, at + 1).join(' ')];
};

/** A verb under one of its names. */
interface Named {
  readonly verb: Verb;
  readonly alias: Alias | undefined;
}

const findNamed = (verbs: readonly Verb[], name: string): Named | undefined => {
  for (const verb of verbs) {
    const alias = verb.aliases.find((one) => one.name === name) ?? formOf(verb, name);
    if (verb.name === name || alias !== undefined) return { verb, alias };
  }
  return undefined;
};

/** A name whose second word says a field. */
const formOf = ({ name: verb, forms }: Verb, name: string): Alias | undefined => {
  const word = forms?.words.find((one) => name === `${verb} ${one}`);
  return forms === undefined || word === undefined ? undefined : { name, sets: { [forms.field]: word } };
};

/** Whether a word is the first one of several verbs. */
const isGroup = (verbs: readonly Verb[], word: string): boolean =>
  namesOf(verbs).some((name) => name.startsWith(`${word} `));

/** Whether the answer, even a refusal of the rest, is to be JSON. */
export const wantsJson = (argv: readonly string[]): boolean => {
  const end = argv.indexOf('--');
  const flags = end < 0 ? argv : argv.slice(0, end);
  return (
    flags.includes('--json') ||
    flags.includes('--format=json') ||
    flags.some((argument, index) => argument === 'json' && flags[index - 1] === '--format')
  );
};

/** The position of the verb: the first word that is not the value of a flag before it. */
const findVerb = (argv: readonly string[]): number => {
  for (let at = 0; at < argv.length; at += 1) {
    const argument = argv[at] ?? '';
    if (!argument.startsWith('-')) return at;
    const flag = [...commonFlags, ...writeFlags, ...payloadFlags].find(({ name }) => argument === `--${name}`);
    if (argument === '--session' || (flag !== undefined && flag.type !== 'switch')) at += 1;
  }
  return argv.length;
};

/** A flag with where its value goes; nowhere without a key. */
type Option = Flag & { readonly key: string | undefined; readonly isInput: boolean };

const parseVerbLine = ({ verb, alias }: Named, argv: readonly string[]): Result<Request, Refusal> => {
  const help = `stint ${verb.name} --help`;
  const optionOf = (given: string): Option | undefined => {
    const name = alias?.flags?.[given] ?? given;
    const key = name.replaceAll('-', '_');
    const schema = verb.input.entries[key];
    if (schema !== undefined) return { ...fieldIn(verb, key), key, isInput: true };
    if (alias?.ignores?.includes(given) === true)
      return { name, type: 'text', description: '', key: undefined, isInput: false };
    const flag = flagsOf(verb).find((one) => one.name === name);
    return flag === undefined ? undefined : { ...flag, key: name, isInput: false };
  };
  const tokens = tokenize(argv, (name) => optionOf(name)?.type);

  const input: Record<string, Json> = { ...alias?.sets };
  const given: Record<string, string | number | boolean> = {};
  const lists: Record<string, string[]> = {};
  const words: string[] = [];
  const { pairs, textFrom } = verb;
  const takesStdin = verb.payload !== undefined || textFrom !== undefined;
  for (const token of tokens) {
    if (token.flag === undefined) {
      // A flag comes before what stands behind `--`.
      const behind = token.isBehind ? lists[verb.behind ?? ''] : undefined;
      if (behind !== undefined) behind.push(token.word);
      else if (token.word === '-' && !token.isBehind && takesStdin && given['stdin'] === undefined)
        given['stdin'] = true;
      else if (pairs !== undefined && pairShape.test(token.word)) (lists[pairs.field] ??= []).push(token.word);
      else words.push(token.word);
      continue;
    }
    if (token.flag === '--help' || token.flag === '-h')
      return ok({ kind: 'help', verb, group: undefined, json: wantsJson(argv) });
    const option = token.flag.startsWith('--') ? optionOf(token.flag.slice(2)) : undefined;
    if (option === undefined) {
      const names = [
        ...Object.keys(alias?.flags ?? {}),
        ...Object.keys(verb.input.entries),
        ...flagsOf(verb).map((flag) => flag.name),
      ].map((known) => `--${flagNameOf(known)}`);
      return err(
        refuseUsage(`${verb.name} has no flag ${quoted(token.flag)}.`, help, {
          legal: names,
          candidates: nearest(token.flag, names),
        }),
      );
    }
    const value = valueOf(option.type, token.value);
    if (value === undefined || (value === '' && !option.isInput)) {
      return err(refuseUsage(`${verb.name}: --${option.name} ${wantedBy[option.type]}.`, help));
    }
    if (option.key === undefined) continue;
    if (option.type === 'rest') {
      lists[option.key] ??= [];
      continue;
    }
    if (option.type === 'texts') {
      (lists[option.key] ??= []).push(String(value));
      continue;
    }
    const into: Record<string, Json> = option.isInput ? input : given;
    if (into[option.key] !== undefined && into[option.key] !== value)
      return err(refuseUsage(`${verb.name}: --${option.name} is given twice.`, help));
    into[option.key] = value;
  }

  Object.assign(input, lists);
  const { behind = '' } = verb;
  if (lists[behind]?.length === 0) {
    const flag = `--${flagNameOf(behind)}`;
    return err(
      refuseUsage(`${verb.name}: ${flag} takes what stands behind --.`, help, { legal: [`${flag} -- WORD ...`] }),
    );
  }

  for (const [index, word] of words.entries()) {
    const key = verb.positionals[index];
    const field = key === undefined ? undefined : optionOf(key);
    if (key === undefined || field === undefined) {
      const forms = verb.forms?.words ?? [];
      return err(
        refuseUsage(`${verb.name} does not take ${quoted(word)}.`, help, {
          legal: forms.map((form) => `stint ${verb.name} ${form}`),
          candidates: nearest(words[0] ?? '', forms),
        }),
      );
    }
    const value = valueOf(field.type, word);
    if (value === undefined)
      return err(
        refuseUsage(`${verb.name}: ${field.name} is a ${field.type === 'decimal' ? '' : 'whole '}number.`, help),
      );
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
  const payload = verb.payload === undefined ? undefined : sourceOf(file);
  const elsewhere: Elsewhere[] = [];
  if (textFrom !== undefined) {
    const { field } = textFrom;
    const path = given[textFrom.file];
    const count = [input[field], path, given['stdin']].filter((way) => way !== undefined).length;
    const { name, required } = fieldIn(verb, field);
    if (count > 1 || (count === 0 && required)) {
      const ways = `--${name}, --${textFrom.file} or --stdin`;
      return err(refuseUsage(`${verb.name} takes the ${name} from ${ways}, one of them.`, help));
    }
    if (count === 1 && input[field] === undefined) elsewhere.push({ field, holds: 'text', source: sourceOf(path) });
  }
  const more = pairs?.file === undefined ? undefined : given[pairs.file];
  if (pairs !== undefined && more !== undefined)
    elsewhere.push({ field: pairs.field, holds: 'pairs', source: sourceOf(more) });
  if ([payload, ...elsewhere.map(({ source }) => source)].filter((source) => source === 'stdin').length > 1)
    return err(refuseUsage(`${verb.name}: standard input is read once.`, help));
  return ok({
    kind: 'run',
    line: {
      verb,
      input,
      prints: alias?.prints,
      payload,
      elsewhere,
      flags: {
        json: given['json'] === true || format === 'json' || input['format'] === 'json',
        quiet: given['quiet'] === true,
        actor: textOf(given['actor']),
        store: textOf(given['store']),
        process: textOf(given['process']),
        requestId: textOf(given['request-id']),
        expectRevision: typeof given['expect-revision'] === 'number' ? given['expect-revision'] : undefined,
        leaseToken: typeof given['lease-token'] === 'number' ? given['lease-token'] : undefined,
        takeOver: given['take-over'] === true,
        dryRun: given['dry-run'] === true,
        redact: given['no-redact'] !== true,
      },
    },
  });
};

/** What a word that says a value by its name looks like. A path does not. */
const pairShape = /^[^\s=/\\-][^\s=/\\]*=/;

const sourceOf = (path: string | number | boolean | undefined): Source =>
  typeof path === 'string' && path !== '-' ? { file: path } : 'stdin';

/** A piece of a command line: a flag with its value, or a word. */
type Token =
  | { readonly flag: undefined; readonly word: string; readonly isBehind: boolean }
  | { readonly flag: string; readonly value: string | undefined };

/**
 * Takes a command line into flags and words: `--name value`, `--name=value`, `--switch`; all behind `--` are words, and so
 * is `-`. Loading `parseArgs` of `node:util` would cost a verb 1 ms, a twenty-fifth of a bare Node's start.
 */
const tokenize = (argv: readonly string[], typeOf: (name: string) => Flag['type'] | undefined): readonly Token[] => {
  const tokens: Token[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const argument = argv[at] ?? '';
    if (argument === '--')
      return [...tokens, ...argv.slice(at + 1).map((word) => ({ flag: undefined, word, isBehind: true }))];
    if (argument === '-' || !argument.startsWith('-')) {
      tokens.push({ flag: undefined, word: argument, isBehind: false });
      continue;
    }
    const equals = argument.indexOf('=');
    const flag = equals < 0 ? argument : argument.slice(0, equals);
    const type = typeOf(flag.slice(2));
    if (equals >= 0) tokens.push({ flag, value: argument.slice(equals + 1) });
    else if (type === undefined || type === 'switch' || type === 'rest') tokens.push({ flag, value: undefined });
    else {
      at += 1;
      tokens.push({ flag, value: argv[at] });
    }
  }
  return tokens;
};

const textOf = (value: string | number | boolean | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The value of an option in its type; undefined where it has none or another one. */
const valueOf = (type: Flag['type'], value: string | undefined): string | number | boolean | undefined => {
  if (type === 'switch' || type === 'rest') return value === undefined ? true : undefined;
  if (type === 'text' || type === 'texts') return value;
  const shape = type === 'decimal' ? /^-?\d{1,15}(?:\.\d{1,15})?$/ : /^-?\d{1,15}$/;
  return value !== undefined && shape.test(value) ? Number(value) : undefined;
};

const wantedBy: Readonly<Record<Flag['type'], string>> = {
  switch: 'takes no value',
  rest: 'takes no value',
  number: 'takes a whole number',
  decimal: 'takes a number',
  text: 'needs a value',
  texts: 'needs a value',
};

const refuseUsage = (
  message: string,
  hint: string,
  more: { readonly legal?: readonly string[]; readonly candidates?: readonly string[] } = {},
): Refusal => refuse('usage', message, { hint, ...more });

const quoted = (argument: string): string => JSON.stringify(truncate(argument, 60));
