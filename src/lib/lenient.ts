import type { Json, JsonObject } from './canonical-json.ts';
import { isJsonObject } from './json.ts';
import { nameProblem } from './name.ts';
import { err, ok, type Result } from './result.ts';
import { oneLine, stripControls, truncate } from './text.ts';
import { readTime, type Clock } from './written-time.ts';

/**
 * Files that programs and people wrote, read leniently: what cannot be taken as it is, is told. Nothing here throws,
 * whatever the file holds.
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

/** An id that is the name of a file everywhere; else what keeps it from being one, as a sentence. */
export const readId = (value: Json | undefined): Result<string, string> => {
  if (value === undefined || value === null) return err('There is none.');
  if (typeof value !== 'string') return err('A name is a text.');
  // What a program writes that was given no id.
  if (/^(?:undefined|null|nan)$/i.test(value)) return err('This name stands for one that was never set.');
  const problem = nameProblem(value);
  return problem === undefined ? ok(value) : err(problem);
};

/** The value without halves of characters, and without numbers that come out as others: both are told. */
export const wellFormedAt = (value: Json, path: string, reading: Reading): Json => {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) reading.tell(path, 'holds half of a character, for which U+FFFD stands');
    return value.toWellFormed();
  }
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    reading.tell(path, 'is a number with more digits than can be kept');
  if (Array.isArray(value)) return value.map((item: Json, index) => wellFormedAt(item, pathTo(path, index), reading));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const at = pathTo(path, key);
      if (!key.isWellFormed()) reading.tell(at, 'has half of a character in its key, for which U+FFFD stands');
      return [key.toWellFormed(), wellFormedAt(item, at, reading)];
    }),
  );
};
