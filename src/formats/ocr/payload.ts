import type * as v from 'valibot';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { stripControls, truncate } from '../../lib/text.ts';

/** What the payloads of the Open Code Review workflow have in common: how faults read, how free texts are cleaned. */

/** Most characters of a free text; longer ones are cut, and the cut is reported. */
export const longestText = 4096;

/** The fault of a value that is not what it should be, or of a key that is missing. */
export const expected =
  (what: string) =>
  (issue: v.BaseIssue<unknown>): string =>
    issue.received === 'undefined'
      ? `is missing: expected ${what}`
      : `expected ${what}, found ${shown(issue.received)}`;

/** The fault of an object, which also stands for a key that it lacks. */
export const expectedObject = (issue: v.BaseIssue<unknown>): string =>
  issue.received === 'undefined' ? 'is missing' : `expected an object, found ${shown(issue.received)}`;

/** A value from a payload as a fault may show it. */
export const shown = (received: string): string => truncate(received, 60);

/** A free text without control characters and without the prefix that the original's own output carries. */
export const cleanText = (text: string): string => stripControls(text).replace(/^\s*\[ocr\]\s*/i, '');

/** What is done to the texts of a payload, beside keeping them. */
export interface Cleaning {
  /** The keys whose texts are free: they are cleaned wherever they are found. */
  readonly freeTexts: ReadonlySet<string>;
  /** What stands instead of the text at a JSON path. */
  readonly instead?: Readonly<Record<string, string>>;
  /** Where a cut is told, as a line that begins with a JSON path. */
  readonly notes: string[];
}

/** The payload as it was given, key by key in its order, with its free texts cleaned. */
export const cleanPayload = (input: object, { freeTexts, instead = {}, notes }: Cleaning): JsonObject => {
  const walk = (value: Json, path: string, key: string): Json => {
    if (typeof value === 'string') {
      const other = instead[path];
      if (other !== undefined) return other;
      if (!freeTexts.has(key)) return value;
      const clean = cleanText(value);
      if (clean.length > longestText) notes.push(`${path} was cut to ${longestText} characters`);
      return truncate(clean, longestText);
    }
    if (Array.isArray(value)) return value.map((item: Json, index) => walk(item, `${path}[${index}]`, ''));
    if (typeof value === 'object' && value !== null) return objectOf(value, path);
    return value;
  };
  const objectOf = (value: object, path: string): JsonObject =>
    Object.fromEntries(
      Object.entries(value).map(([key, item]: [string, Json]) => [key, walk(item, `${path}.${key}`, key)]),
    );
  return objectOf(input, '$');
};

/** The file's text: pretty JSON with two spaces, as the original writes it. */
export const printPayload = (payload: JsonObject): string => `${JSON.stringify(payload, null, 2)}\n`;
