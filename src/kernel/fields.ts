import * as v from 'valibot';
import { addressProblem } from '../lib/name.ts';

/** An input field that may be left out: a text. */
export const optionalText = (description: string) =>
  v.optional(v.pipe(v.string('expected a text'), v.description(description)));

/** An input field that must be given: any text, an empty one too. */
export const anyText = (description: string) =>
  v.pipe(
    v.string((issue) => (issue.received === 'undefined' ? 'is missing' : 'expected a text')),
    v.description(description),
  );

/** An input field that may be left out: a list of texts. On the command line its flag may be repeated. */
export const optionalTexts = (description: string) =>
  v.optional(v.pipe(v.array(v.string('expected a text'), 'expected a list of texts'), v.description(description)));

/** The same, of texts that each say a value by its name: `NAME=VALUE`. */
export const optionalPairs = (description: string) =>
  v.optional(
    v.pipe(
      v.array(
        v.pipe(v.string('expected a text'), v.regex(/^[^=]+=/, 'expected NAME=VALUE')),
        'expected a list of texts',
      ),
      v.description(description),
    ),
  );

/** The values of a list of `NAME=VALUE` by their names; of two with one name (`twiceIn`) the later one. */
export const pairsOf = (texts: readonly string[]): ReadonlyMap<string, string> => new Map(texts.map(splitPair));

/** The first name of a list of `NAME=VALUE` that is given two values. */
export const twiceIn = (texts: readonly string[]): string | undefined => {
  const known = new Map<string, string>();
  for (const [name, value] of texts.map(splitPair)) {
    if ((known.get(name) ?? value) !== value) return name;
    known.set(name, value);
  }
  return undefined;
};

const splitPair = (text: string): readonly [string, string] => {
  const equals = text.indexOf('=');
  return [text.slice(0, equals), text.slice(equals + 1)];
};

/** An input field that may be left out: what something is called, in a line. */
export const optionalName = (description: string) => v.optional(requiredName(description));

/** The same that must be there. */
export const requiredName = (description: string) =>
  v.pipe(
    v.string((issue) => (issue.received === 'undefined' ? 'is missing' : 'expected a text')),
    v.check((text) => text.trim() !== '', 'must not be blank'),
    // What Unicode calls controls and separators of lines: classes by their names would be looked up for a tenth of a verb.
    v.regex(/^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]{0,200}$/u, 'must be one line of at most 200 characters'),
    v.description(description),
  );

/** An input field that must be given: a text that is not blank. */
export const requiredText = (description: string) =>
  v.pipe(
    v.string((issue) => (issue.received === 'undefined' ? 'is missing' : 'expected a text')),
    v.check((text) => text.trim() !== '', 'must not be blank'),
    v.description(description),
  );

/** An input field that may be left out: a whole number of at least `least`. */
export const optionalCount = (description: string, least = 1, most = Number.MAX_SAFE_INTEGER) =>
  v.optional(
    v.pipe(
      v.number('expected a whole number'),
      v.integer('expected a whole number'),
      v.minValue(least, `expected at least ${least}`),
      v.maxValue(most, `expected at most ${most}`),
      v.description(description),
    ),
  );

/** An input field that may be left out: a whole number that the verb judges itself. */
export const wholeNumber = (description: string) => optionalCount(description, Number.MIN_SAFE_INTEGER);

/** One of a few words; which ones stands in the fault. */
export const choice = <const Word extends string>(words: readonly Word[], description: string) =>
  v.pipe(
    v.picklist(words, (issue) =>
      issue.received === 'undefined' ? 'is missing' : `must be one of ${words.join(', ')}`,
    ),
    v.description(`${description}: ${words.join(', ')}.`),
  );

/** An input field that may be left out: a list of a few words. On the command line its flag may be repeated. */
export const choices = <const Word extends string>(words: readonly Word[], description: string) =>
  v.optional(
    v.pipe(
      v.array(choice(words, description), 'expected a list of texts'),
      v.description(`${description}: ${words.join(', ')}.`),
    ),
  );

/** A switch. */
export const flag = (description: string) =>
  v.optional(v.pipe(v.boolean('expected true or false'), v.description(description)));

/** A field that names the session: refused before anything is looked up where it can name none. */
const sessionOr = (fallback: string) =>
  v.optional(
    v.pipe(
      v.string('expected a text'),
      v.check(
        (address) => addressProblem(address) === undefined,
        // The sentence that it becomes part of ends with its own full stop.
        ({ input }) => `is not legal. ${typeof input === 'string' ? addressProblem(input)?.replace(/\.$/, '') : ''}`,
      ),
      v.description(
        `The session: <kind>:<name>, its bare name, or the first 4 or more characters of it. Default: ${fallback}.`,
      ),
    ),
  );

/** The same for a verb that is about one session. */
export const sessionField = () => sessionOr('STINT_SESSION, else the only open one of this checkout');

/** The same for a verb that is about a closed session. */
export const closedField = () => sessionOr('STINT_SESSION, else the only closed one of this checkout');

/** The same for a verb that is about one in the archive. */
export const archivedField = () => sessionOr('STINT_SESSION, else the only archived one of this checkout');

/** The same for a verb that is about all sessions of the store, unless one is named. */
export const sessionFilter = () => sessionOr('all of this store');

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** How many milliseconds a text like `90s`, `30m`, `2h` or `7d` says; undefined where it says none. */
export const durationOf = (text: string): number | undefined => {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return count === undefined || unit === undefined ? undefined : Number(count) * (units[unit] ?? 0);
};

/** An input field that may be left out: how long something lasts, between two limits in milliseconds. */
export const optionalDuration = (description: string, least: number, most: number, limits: string) =>
  v.optional(
    v.pipe(
      v.string('expected a text'),
      v.check((text) => {
        const duration = durationOf(text);
        return duration !== undefined && duration >= least && duration <= most;
      }, `expected a number with s, m, h or d, ${limits}`),
      v.description(description),
    ),
  );
