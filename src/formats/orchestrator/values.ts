import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { member, pathTo, shown, startReading, type Reading } from '../../lib/lenient.ts';
import { readTime, type Clock } from '../../lib/written-time.ts';

/** Values of an orchestrator's file, which came to have many names and shapes, read leniently. Nothing here throws. */

/** A reading that keeps what it could not take as it was. */
export interface Reader extends Reading {
  /** Whether the file was written here: then no name but that of the format stands for anything. */
  readonly isOurs: boolean;
  /** Keeps a value that is taken as something else. */
  readonly keep: (path: string, value: Json) => void;
  /** The same, and tells of it. */
  readonly change: (path: string, value: Json, what: string) => void;
  /** The values that were taken as something else, by their JSON paths. */
  readonly raw: () => Readonly<Record<string, Json>>;
}

export const startReader = (clock: Clock, isOurs = false): Reader => {
  const reading = startReading(clock);
  const raw = new Map<string, Json>();
  const keep = (path: string, value: Json): void => {
    if (!raw.has(path)) raw.set(path, value);
  };
  return {
    ...reading,
    isOurs,
    keep,
    change: (path, value, what) => {
      reading.tell(path, what);
      keep(path, value);
    },
    raw: () => Object.fromEntries(raw),
  };
};

/** An object whose keys are taken one by one. */
export interface Fields {
  readonly object: JsonObject;
  readonly path: string;
  readonly taken: Set<string>;
  readonly reader: Reader;
}

/** The fields of an object; the keys of the format are never unknown ones. */
export const fieldsOf = (object: JsonObject, path: string, own: readonly string[], reader: Reader): Fields => ({
  object,
  path,
  taken: new Set(own),
  reader,
});

/** The members that were not taken. */
export const untaken = ({ object, taken }: Fields): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !taken.has(key)));

/** Takes the first of several names under which there is something that can be read; the first one is that of the format. */
const take = <Value>(
  { object, path, taken, reader }: Fields,
  names: readonly string[],
  read: (value: Json, at: string, isOwn: boolean) => Value | undefined,
): Value | undefined => {
  for (const [index, name] of names.slice(0, reader.isOurs ? 1 : names.length).entries()) {
    const value = member(object, name);
    if (value === undefined || value === null) continue;
    const found = read(value, pathTo(path, name), index === 0);
    if (found === undefined) continue;
    taken.add(name);
    return found;
  }
  return undefined;
};

/** A text; null where there is none. */
export const textOf = (fields: Fields, ...names: readonly string[]): string | null =>
  take(fields, names, (value, at) => plainText(value, at, fields.reader)) ?? null;

/** A value as a text; what is none is put into words, and told. */
export const plainText = (value: Json, at: string, reader: Reader): string => {
  if (typeof value === 'string') return value;
  const text = inWords(value);
  reader.change(at, value, `is no text: ${shown(value)} was taken as ${shown(text)}`);
  return text;
};

/** The keys under which an object says what it is. */
const speaking = ['task', 'title', 'name', 'message', 'text', 'description', 'summary', 'goal', 'decision', 'id'];

/** Any value in words that a reader understands. */
export const inWords = (value: Json): string => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.every(isScalar) ? value.map(String).join(', ') : JSON.stringify(value);
  if (!isJsonObject(value)) return JSON.stringify(value);
  const said = speaking.map((key) => member(value, key)).find((text) => typeof text === 'string' && text !== '');
  return typeof said === 'string' ? said : JSON.stringify(value);
};

const isScalar = (value: Json): value is string | number | boolean | null =>
  typeof value !== 'object' || value === null;

/** A moment in UTC; null where there is none that can be read. */
export const timeOf = (fields: Fields, ...names: readonly string[]): string | null =>
  take(fields, names, (value, at, isOwn) => {
    if (value === '') return undefined;
    const { reader } = fields;
    const time = readTime(value, reader.clock);
    if ('fault' in time) {
      const what = `${time.fault}: ${shown(value)} was left out`;
      if (isOwn) reader.change(at, value, what);
      else reader.tell(at, what);
      return undefined;
    }
    if (time.at !== value) reader.keep(at, value);
    if (time.remarks.length > 0) reader.tell(at, `${time.remarks.join(', ')}: ${shown(value)} is ${time.at}`);
    return time.at;
  }) ?? null;

/** A number that is not negative; null where there is none that can be read. */
export const numberOf = (fields: Fields, ...names: readonly string[]): number | null =>
  take(fields, names, (value, at, isOwn) => {
    const { reader } = fields;
    const number = plainNumber(value);
    if (number === undefined) {
      const what = `is no number that it can be: ${shown(value)} was left out`;
      if (isOwn) reader.change(at, value, what);
      else reader.tell(at, what);
      return undefined;
    }
    if (typeof value !== 'number') reader.change(at, value, `is no number: ${shown(value)} was taken as ${number}`);
    return number;
  }) ?? null;

/** A value that is a number, or is one in words: `31,000`, `~60%`. */
const plainNumber = (value: Json): number | undefined => {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value + 0 : undefined;
  if (typeof value !== 'string' || value.length > 40) return undefined;
  const [, digits] = /^\s*~?\s*(\d{1,3}(?:[,_ ]\d{3})+|\d{1,15}(?:\.\d{1,10})?)\s*(?:%|tokens)?\s*$/.exec(value) ?? [];
  return digits === undefined ? undefined : Number(digits.replaceAll(/[,_ ]/g, ''));
};

/** One of the entries of a list. */
export interface Item {
  readonly value: Json;
  readonly path: string;
  /** Its key, where the list is written as an object. */
  readonly key: string | undefined;
}

/** The entries of a list, which may be written as an object or as its only entry; none where there is nothing. */
export const itemsOf = (fields: Fields, ...names: readonly string[]): readonly Item[] =>
  take(fields, names, (value, at): readonly Item[] => {
    if (Array.isArray(value))
      return value.map((item: Json, index) => ({ value: item, path: pathTo(at, index), key: undefined }));
    if (isJsonObject(value)) {
      fields.reader.tell(at, 'is an object: its members were taken as a list');
      return Object.entries(value).map(([key, item]) => ({ value: item, path: pathTo(at, key), key }));
    }
    fields.reader.tell(at, 'is no list: it was taken as the only entry of one');
    return [{ value, path: at, key: undefined }];
  }) ?? [];

/** The texts of a list. */
export const textsOf = (fields: Fields, ...names: readonly string[]): readonly string[] =>
  itemsOf(fields, ...names).map(({ value, path, key }) => key ?? plainText(value, path, fields.reader));
