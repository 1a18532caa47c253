import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { oneLine, stripControls, truncate } from '../../lib/text.ts';

/** What the original's columns hold, read leniently: SQLite enforces no types, and every column may be missing. */

/** A row of a table as SQLite gives it, whatever columns its version has. */
export type OcrRow = Readonly<Record<string, unknown>>;

/** A text that says something, else null. */
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value : null;

/** What names a row: a text, or a number where somebody stored one. */
export const idOf = (value: unknown): string | null =>
  typeof value === 'number' || typeof value === 'bigint' ? String(value) : textOf(value);

/** A whole number that JavaScript holds exactly, also where it was stored as a text; else null. */
export const wholeOf = (value: unknown): number | null => {
  if (typeof value === 'string') return /^\s*-?\d{1,15}\s*$/.test(value) ? Number(value) + 0 : null;
  const number = typeof value === 'bigint' ? Number(value) : value;
  // The sum makes a negative zero, which JSON cannot hold, an ordinary one.
  return typeof number === 'number' && Number.isSafeInteger(number) ? number + 0 : null;
};

/**
 * A time in RFC 3339, UTC, with milliseconds; null for rubbish. The original writes `YYYY-MM-DD HH:MM:SS` in UTC, its
 * dashboard ISO texts: one without a zone is UTC as well, never the local time of whoever reads it.
 */
export const timeOf = (value: unknown): string | null => {
  const parts =
    typeof value === 'string'
      ? /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d\d:?\d\d)?)?$/i.exec(
          value.trim(),
        )
      : null;
  if (parts === null) return null;
  const [, day = '', minute = '00:00', second = '00', fraction = '', zone = 'Z'] = parts;
  const written = `${day}T${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
  const moment = Date.parse(written);
  // A day that the month does not have would silently become one of the next month.
  if (Number.isNaN(moment) || new Date(moment).toISOString() !== written) return null;
  const utc = new Date(moment - offsetOf(zone)).toISOString();
  return /^\d{4}-/.test(utc) ? utc : null;
};

/** The offset of a zone in milliseconds. */
const offsetOf = (zone: string): number => {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
};

/** The object in a column of JSON text; an empty one where there is none. */
export const objectOf = (value: unknown): JsonObject => {
  try {
    const parsed: Json = typeof value === 'string' ? JSON.parse(value) : (value as Json);
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
};

/** A text from a row as it may be shown and stored: one line without control characters, of bounded length. */
export const shownText = (text: string, longest = 1000): string =>
  truncate(oneLine(stripControls(text.toWellFormed())), longest);

/** A text that says something as it may be shown and stored, else null. */
export const shownOf = (value: unknown, longest: number): string | null => {
  const text = textOf(value);
  return text === null ? null : shownText(text, longest);
};

/** Any value from a row as it may be shown in a sentence. */
export const shownValue = (value: unknown): string => {
  if (typeof value === 'string') return shownText(`"${value}"`, 60);
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  return value === undefined || value === null ? 'nothing' : 'an object';
};
