import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { nameProblem } from '../../lib/name.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { oneLine, stripControls, truncate } from '../../lib/text.ts';
import { readTime, type Clock } from './times.ts';

/**
 * Values of a file that programs and people wrote, read leniently: what is of another type than the format says is taken as
 * its JSON text, and told. Nothing here throws, whatever the file holds.
 */

/** Where a reading tells what could not be taken as it was. */
export interface Reading {
  readonly clock: Clock;
  /** Tells of the value at a JSON path; `what` is the rest of a sentence that begins with the path. */
  readonly tell: (path: string, what: string) => void;
  /** What was told so far, at most 200 sentences and one that counts the others. */
  readonly problems: () => readonly string[];
}

/** Most sentences that are told of one file. */
const mostProblems = 200;

export const startReading = (clock: Clock): Reading => {
  const told: string[] = [];
  let untold = 0;
  return {
    clock,
    tell: (path, what) => {
      if (told.length < mostProblems) told.push(`${path} ${what}.`);
      else untold += 1;
    },
    problems: () => (untold === 0 ? told : [...told, `$ has ${untold} more of such problems.`]),
  };
};

/** The JSON path of a member. */
export const pathTo = (path: string, key: string | number): string => {
  if (typeof key === 'number') return `${path}[${key}]`;
  return /^[A-Za-z_]\w{0,60}$/.test(key) ? `${path}.${key}` : `${path}[${shown(key)}]`;
};

/** Any value as a sentence may show it: on one line, without control characters, cut. */
export const shown = (value: Json | undefined): string =>
  truncate(oneLine(stripControls((JSON.stringify(value) ?? 'nothing').toWellFormed())), 60);

/** A member that an object has itself: every object inherits some. */
export const member = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** Whether a member stands for what was left out: the documents of the original abbreviate so. */
export const isElision = (key: string, value: Json): boolean => key === '...' && value === '...';

/** The members that are not of the format. */
export const unknownOf = (object: JsonObject, known: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key, value]) => !known.has(key) && !isElision(key, value)));

/** A text that must be there. */
export const textAt = (object: JsonObject, key: string, path: string, reading: Reading): string => {
  const text = optionalTextAt(object, key, path, reading);
  if (text === null) reading.tell(pathTo(path, key), 'is missing');
  return text ?? '';
};

/** A text; null where there is none. */
export const optionalTextAt = (object: JsonObject, key: string, path: string, reading: Reading): string | null => {
  const value = member(object, key);
  return value === undefined || value === null ? null : textOf(value, pathTo(path, key), reading);
};

/** The texts of a list. */
export const textsAt = (object: JsonObject, key: string, path: string, reading: Reading): readonly string[] => {
  const value = member(object, key);
  const at = pathTo(path, key);
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.map((item: Json, index) => textOf(item, pathTo(at, index), reading));
  reading.tell(at, 'is no list: it was taken as the only item of one');
  return [typeof value === 'string' ? value : JSON.stringify(value)];
};

/** An object whose values are texts. */
export const textByKeyAt = (
  object: JsonObject,
  key: string,
  path: string,
  reading: Reading,
): Readonly<Record<string, string>> => {
  const value = member(object, key);
  const at = pathTo(path, key);
  if (value === undefined || value === null) {
    reading.tell(at, 'is missing');
    return {};
  }
  if (!isJsonObject(value)) {
    reading.tell(at, 'is no object: it was taken as the only value of one');
    return { [key]: typeof value === 'string' ? value : JSON.stringify(value) };
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, item]) => !isElision(name, item))
      .map(([name, item]) => [name, textOf(item, pathTo(at, name), reading)]),
  );
};

const textOf = (value: Json, path: string, reading: Reading): string => {
  if (typeof value === 'string') return value;
  reading.tell(path, `is no text: ${shown(value)} was kept as its JSON`);
  return JSON.stringify(value);
};

/** A moment in UTC; null where there is none, or where it cannot be read. */
export const timeAt = (object: JsonObject, key: string, path: string, reading: Reading): string | null => {
  const value = member(object, key);
  if (value === undefined || value === null || value === '') return null;
  const time = readTime(value, reading.clock);
  const at = pathTo(path, key);
  if ('fault' in time) {
    reading.tell(at, `${time.fault}: ${shown(value)} was left out`);
    return null;
  }
  if (time.remarks.length > 0) reading.tell(at, `${time.remarks.join(', ')}: ${shown(value)} is ${time.at}`);
  return time.at;
};

/** A path, which is kept as a text and never followed. */
export const pathAt = (object: JsonObject, key: string, path: string, reading: Reading): string | null => {
  const text = optionalTextAt(object, key, path, reading);
  return text === null ? null : plainPath(text, pathTo(path, key), reading);
};

/** A path without the prefix by which Windows takes it verbatim: with and without it, it is the same file. */
export const plainPath = (text: string, path: string, reading: Reading): string => {
  const plain = text.replace(/^\\\\\?\\UNC\\/i, '\\\\').replace(/^\\\\\?\\(?=[A-Za-z]:)/, '');
  if (plain !== text) reading.tell(path, 'was freed of the prefix of verbatim paths');
  return plain;
};

/** An id that is the name of a file everywhere; else what keeps it from being one, as a sentence. */
export const readId = (value: Json | undefined): Result<string, string> => {
  if (value === undefined || value === null) return err('There is none.');
  if (typeof value !== 'string') return err('A name is a text.');
  // What a program writes that was given no id.
  if (/^(?:undefined|null|nan)$/i.test(value)) return err('This name stands for one that was never set.');
  const problem = nameProblem(value);
  return problem === undefined ? ok(value) : err(problem);
};
