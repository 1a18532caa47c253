import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { textAt, wholeTextAt, objectAt } from '../kernel/answer.ts';
import { orderOne } from '../kernel/dispatch.ts';
import {
  choice,
  optionalCount,
  optionalDuration,
  optionalText,
  optionalTexts,
  requiredText,
  sessionField,
} from '../kernel/fields.ts';
import { entryTypes, namesFile, type EntryType } from '../kernel/journal.ts';
import { decideNote } from '../kernel/lifecycle.ts';
import { defineVerb } from '../kernel/verb.ts';
import { ok } from '../lib/result.ts';

/** The fields of every entry. */
const everyFlag: ReadonlySet<string> = new Set(['text', 'type', 'supersedes', 'session']);

/** The flags that say something about an entry of a type. */
const flagsByType: Readonly<Record<EntryType, readonly string[]>> = {
  remark: [],
  decision: ['rationale', 'alternative'],
  assumption: ['rationale', 'alternative'],
  file: ['path'],
  command: ['exit_code', 'output_file', 'run', 'timeout'],
  validation: ['path', 'exit_code', 'output_file', 'run', 'timeout'],
  artifact: ['path'],
  error: ['path', 'exit_code', 'output_file'],
};

export const note = defineVerb({
  name: 'note',
  summary: 'Write an entry into the journal: a remark, a decision, what was done.',
  details: `An entry does not move the session or its revision, and needs no lease of a session that is named: without --session or STINT_SESSION it is refused (10) where somebody else holds it. A closed session takes it too. Without a type it is a remark. Secrets in it are redacted before it is stored. It is known by its id, the number of its event; --supersedes ID says whose place it takes, one of the same type: decisions and assumptions may take each other's place, and one that was superseded is not superseded again (5).

decision, assumption: with --rationale and --alternative.

file, artifact: a file, by its --path or, without one, by the text. Paths are taken from where the caller is, lie in the checkout (6) and are kept relative to its root. Size and SHA-256 are noted with it. An artifact must be there and not be empty (6), a file may be gone.

command, validation, error: with --exit-code, and --output-file for what was printed, of which SHA-256, size and the end are kept. A validation is what somebody says of it, and --path names the evidence, which must be there.

A text that is too long for a command line comes from --text-file or standard input; one that begins with a dash, or is the word of a type, stands behind --.

command, validation with --run: everything behind -- is run where the caller is, with nothing on its standard input, and was_run says so. It is noted whatever comes of it: stint exits 0, and exit_code says how the program ended (128 and the number of the signal that killed it; 124 where --timeout stopped it with everything it had started). Its output is not shown but for its end. It is run only where the entry will be taken, and in no dry run; what cannot be started is refused (4, 6).`,
  everyday: true,
  examples: [
    'stint note "the second reviewer waits for the build"',
    'stint note decision "tokens live in the store" --rationale "one place to revoke" --alternative "signed cookies"',
    'stint note artifact dist/app.tgz',
    'stint note validation "the migration works on a copy" --exit-code 0 --output-file migrate.log',
    'stint note validation --run --timeout 30m -- npm test',
  ],
  input: () =>
    v.strictObject({
      text: v.optional(
        requiredText('What is noted. Of a file or an artifact also its path, of what is run the command.'),
      ),
      type: v.optional(choice(entryTypes, 'What it is')),
      rationale: optionalText('Why it was decided, or is assumed.'),
      alternative: optionalTexts('What else might have been decided.'),
      path: optionalText('The file that it is about.'),
      exit_code: optionalCount('How the program ended.', 0, 2 ** 31 - 1),
      output_file: optionalText('The file that holds what the program printed.'),
      run: optionalTexts('Run what stands behind --, and note how it ended.'),
      timeout: optionalDuration('How long it may run, for example 90s, 30m, 2h.', 1000, 604_800_000, 'from 1s to 7d'),
      supersedes: optionalCount('The entry that it takes the place of.'),
      session: sessionField(),
    }),
  forms: { field: 'type', words: entryTypes },
  textFrom: { field: 'text', file: 'text-file' },
  behind: 'run',
  raw: ['path', 'output_file', 'run'],
  positionals: ['text'],
  contradiction: (input) => {
    const { type = 'remark', text, path, exit_code: exitCode, output_file: output, run, timeout } = input;
    const flags = flagsByType[type];
    const odd = Object.keys(input).find((key) => !everyFlag.has(key) && !flags.includes(key));
    if (odd !== undefined)
      return `${flagOf(odd)} does not go with ${type}, which takes ${[...flags, 'supersedes'].map(flagOf).join(', ')}`;
    if (run !== undefined && (exitCode !== undefined || output !== undefined))
      return `--run finds out what ${exitCode === undefined ? '--output-file' : '--exit-code'} says`;
    if (run !== undefined && (run[0] ?? '').trim() === '') return '--run needs a program';
    if (timeout !== undefined && run === undefined) return '--timeout goes with --run';
    const isSaid = run !== undefined || (path !== undefined && namesFile(type));
    if (text !== undefined || isSaid) return undefined;
    return input.type === undefined
      ? 'text is missing'
      : `text is missing; stint note -- ${type} is a remark of that word`;
  },
  does: {
    writes: async (world, { session, type = 'remark', ...said }, _payload, clean) => {
      const row = await resolve(world, session, { beside: type === 'remark' ? 'note TEXT' : `note ${type} TEXT` });
      if (!row.ok) return row;
      const { text = '', supersedes } = said;
      if (type !== 'remark' || supersedes !== undefined) {
        const { orderEntry } = await import('../kernel/journal-orders.ts');
        return orderEntry(world, row.value, { type, ...said }, clean);
      }
      // Nearly all entries are remarks; they are written as every program has read them.
      return ok({
        journalOnly: true,
        ...orderOne(
          row.value.key,
          (found) => decideNote(found, text),
          ({ common }) => ({
            session: common.key,
            session_id: common.name,
            seq: common.seq,
            at: common.updatedAt,
            type,
          }),
        ),
      });
    },
  },
  text: (answer) => {
    const type = textAt(answer, 'type');
    const exit = textAt(answer, 'exit_code');
    const tail = wholeTextAt(objectAt(answer, 'output'), 'tail').trimEnd();
    return [
      `${textAt(answer, 'session')}: ${type === 'remark' ? '' : `${type} `}noted (${textAt(answer, 'seq')})${exit === '' ? '' : `, exit ${exit}`}${answer['timed_out'] === true ? ' after the timeout' : ''}`,
      ...(exit === '' || exit === '0' || tail === '' ? [] : tail.split('\n').map((line) => `  | ${line}`)),
    ].join('\n');
  },
});

const flagOf = (key: string): string => `--${key.replaceAll('_', '-')}`;
