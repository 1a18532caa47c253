import { otherExits, refusals } from '../../kernel/refusal.ts';
import type { Alias, Verb } from '../../kernel/verb.ts';
import { table } from '../../kernel/answer.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { commonFlags, flagsOf } from './arguments.ts';
import { fieldIn, type Flag } from './fields.ts';

/** The verbs whose names, or names in other systems, begin with that word; all of them without one. */
export const verbsOf = (verbs: readonly Verb[], group: string | undefined): readonly Verb[] =>
  group === undefined
    ? verbs
    : verbs.filter(({ name, aliases }) =>
        [name, ...aliases.map((alias) => alias.name)].some((one) => one.startsWith(`${group} `)),
      );

/** The help of the whole program, or of a group of verbs under the names that begin with its word. */
export const helpText = (verbs: readonly Verb[], group?: string): string =>
  [
    'stint keeps the state of long, many-agent work, so that anyone can stop, crash, hand over and resume.',
    '',
    `usage: stint ${group === undefined ? '' : `${group} `}VERB [flags]`,
    '',
    table(
      verbs.flatMap((verb) =>
        [verb.name, ...verb.aliases.map((alias) => alias.name)]
          .filter((name) => (group === undefined ? name === verb.name : name.startsWith(`${group} `)))
          .map((name) => [name, verb.summary]),
      ),
      '  ',
    ),
    '',
    'flags of every verb:',
    table(
      commonFlags.map((flag) => [`--${flag.name}`, flag.description]),
      '  ',
    ),
    '',
    'more: stint VERB --help, stint help --json',
  ].join('\n');

/** The help of a verb. */
export const verbHelpText = (verb: Verb): string => {
  const fields = fieldsOf(verb);
  return [
    `usage: ${usageOf(verb)}`,
    '',
    verb.summary,
    '',
    wrap(verb.details, 100),
    '',
    'flags:',
    table(
      [...fields, ...flagsOf(verb)].map((flag) => [`--${flag.name}${valueName(flag.type)}`, flag.description]),
      '  ',
    ),
    '',
    'examples:',
    ...verb.examples.map((example) => `  ${example}`),
    ...(verb.aliases.length === 0 ? [] : ['', `also called: ${verb.aliases.map(aliasText).join('; ')}`]),
  ].join('\n');
};

/** Another name with what it calls its flags. */
export const aliasText = ({ name, flags = {} }: Alias): string => {
  const renamed = Object.entries(flags).map(([from, to]) => `--${from} for --${to}`);
  return renamed.length === 0 ? name : `${name} (${renamed.join(', ')})`;
};

/** `stint begin <kind> [flags]`. */
export const usageOf = (verb: Verb): string => {
  const fields = new Map(fieldsOf(verb).map((field) => [field.key, field]));
  const { positionals, textFrom, pairs, forms, behind } = verb;
  const words = positionals
    .filter((key) => key !== textFrom?.field)
    .map((key) => {
      const field = fields.get(key);
      return field?.required === true ? `<${field.name}>` : `[${field?.name ?? key}]`;
    });
  const text = fields.get(textFrom?.field ?? '');
  const isWord = positionals.includes(text?.key ?? '');
  const ways = `${isWord ? text?.name : `--${text?.name ?? ''} TEXT`}|--${textFrom?.file ?? ''} F|--stdin`;
  return [
    'stint',
    verb.name,
    ...(forms === undefined ? [] : [`[${forms.words.join('|')}]`]),
    ...words,
    ...(text === undefined ? [] : [text.required ? ways : `[${ways}]`]),
    ...(verb.payload === undefined ? [] : ['--stdin|--file F']),
    ...(pairs === undefined ? [] : ['[NAME=VALUE ...]']),
    '[flags]',
    ...(behind === undefined ? [] : [`[--${fields.get(behind)?.name ?? behind} -- WORD ...]`]),
  ].join(' ');
};

/** Verbs, flags and exit codes as data. */
export const helpToJson = (verbs: readonly Verb[]): JsonObject => ({
  verbs: verbs.map((verb) => ({
    name: verb.name,
    summary: verb.summary,
    usage: usageOf(verb),
    access: verb.access,
    aliases: verb.aliases.map(({ name, flags = {} }) => ({ name, flags: { ...flags } })),
    fields: fieldsOf(verb).map(({ key, name, type, required, description }) => ({
      name,
      type,
      required,
      description,
      ...(verb.textFrom?.field === key ? { or: [verb.textFrom.file, 'stdin'] } : {}),
      ...(verb.pairs?.field === key ? { words: 'NAME=VALUE' } : {}),
      ...(verb.forms?.field === key ? { second_words: [...verb.forms.words] } : {}),
    })),
    flags: flagsOf(verb).map(({ name, type, description }) => ({ name, type, description })),
    examples: [...verb.examples],
  })),
  exit_codes: exitTable().map(({ name, exit, when }) => ({ name, exit, when })),
});

/** All exit codes in order. */
export const exitTable = (): readonly { readonly name: string; readonly exit: number; readonly when: string }[] =>
  [...Object.entries(otherExits), ...Object.entries(refusals)]
    .map(([name, { exit, when }]) => ({ name, exit, when }))
    .toSorted((a, b) => a.exit - b.exit);

/** The input fields of a verb, as flags. */
export const fieldsOf = (verb: Verb) => Object.keys(verb.input.entries).map((key) => ({ key, ...fieldIn(verb, key) }));

/** Paragraphs with their lines broken at blanks. */
const wrap = (text: string, columns: number): string =>
  text
    .split('\n')
    .map((paragraph) => {
      const lines = [''];
      for (const word of paragraph.split(' ')) {
        const line = lines.at(-1) ?? '';
        if (line !== '' && line.length + 1 + word.length > columns) lines.push(word);
        else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
      }
      return lines.join('\n');
    })
    .join('\n');

const valueName = (type: Flag['type']): string =>
  ({ text: ' TEXT', texts: ' TEXT ...', rest: ' -- WORD ...', number: ' N', decimal: ' N', switch: '' })[type];
