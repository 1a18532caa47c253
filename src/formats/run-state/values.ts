import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { member, pathTo, shown, type Reading } from '../../lib/lenient.ts';

/**
 * Values of a file that programs and people wrote, read leniently: what is of another type than the format says is taken as
 * its JSON text, and told.
 */

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
