import type { Json, JsonObject } from '../lib/canonical-json.ts';
import { isJsonObject } from '../lib/json.ts';
import { displayWidth, oneLine, padEnd } from '../lib/text.ts';
import { pauseText } from './view.ts';

/**
 * The text of a field, as a part of a line: nothing where it is null or absent. Whoever wrote it, it stays on that line, and
 * cannot look like one of ours.
 */
export const textAt = (object: JsonObject, key: string): string => oneLine(textOf(object[key]));

/** The text of a field as it is, with all its lines: for what is more than a part of one. */
export const wholeTextAt = (object: JsonObject, key: string): string => textOf(object[key]);

const textOf = (value: Json | undefined): string =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** The objects of a list field. */
export const objectsAt = (object: JsonObject, key: string): readonly JsonObject[] => {
  const value = object[key];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
};

/** The object of a field; an empty one where there is none. */
export const objectAt = (object: JsonObject, key: string): JsonObject => {
  const value = object[key];
  return isJsonObject(value) ? value : {};
};

/** The texts of a list field, each as a part of a line. */
export const textsAt = (object: JsonObject, key: string): readonly string[] => {
  const value = object[key];
  return Array.isArray(value) ? value.map(textOf).map(oneLine) : [];
};

/** The texts of a list field in a line, and how many there are beside, where `KEY_total` says that there are more. */
export const namesText = (object: JsonObject, key: string): string => {
  const names = textsAt(object, key);
  const more = moreIn(object, key);
  return `${names.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
};

/** How many more there are than a list field names, as `KEY_total` says. */
export const moreIn = (object: JsonObject, key: string): number => {
  const [value, total] = [object[key], object[`${key}_total`]];
  return Array.isArray(value) && typeof total === 'number' ? Math.max(0, total - value.length) : 0;
};

/** Rows with their columns aligned, two blanks between them, each line behind the indent. */
export const table = (rows: readonly (readonly string[])[], indent = ''): string => {
  const clean = rows.map((row) => row.map(oneLine));
  const widths = (clean[0] ?? []).map((_, column) => Math.max(...clean.map((row) => displayWidth(row[column] ?? ''))));
  return clean
    .map(
      (row) =>
        indent +
        row
          .map((cell, column) => padEnd(cell, widths[column] ?? 0))
          .join('  ')
          .trimEnd(),
    )
    .join('\n');
};

/** `name  value` lines with the names aligned; those without a value are left out. */
export const fieldLines = (fields: readonly (readonly [string, string])[]): string =>
  table(fields.filter(([, value]) => value !== ''));

/** The next action as a line, where there is one. */
export const nextText = (answer: JsonObject): readonly string[] => {
  const next = objectAt(answer, 'next_action');
  const command = textAt(next, 'command');
  return command === '' ? [] : [`next: ${command}`];
};

/** Where a session stands, in two lines: the session with its position, and what to do next. */
export const standingText = (answer: JsonObject): string =>
  [
    `${textAt(answer, 'session')}: ${textAt(answer, 'position')} (${textAt(answer, 'completeness')})`,
    ...nextText(answer),
  ].join('\n');

/** Where a session stands whose folder was moved, and where that is now. */
export const movedText = (what: string, answer: JsonObject): string =>
  [
    `${what}  ${standingText(answer)}`,
    ...textsAt(answer, 'along').map((key) => `along with it: ${key}`),
    `folder: ${textAt(answer, 'folder')}`,
  ].join('\n');

/** What is not known of the session of an answer, as a line below it. */
export const flawText = (answer: JsonObject): readonly string[] => {
  const flaw = textAt(answer, 'flaw');
  return flaw === '' ? [] : [`not whole: ${flaw}`];
};

/** Since when, by whom and why a session is paused; empty where it is not. */
export const pausedText = (answer: JsonObject): string => {
  const pause = objectAt(answer, 'paused');
  const [at, actor, reason] = [textAt(pause, 'at'), textAt(pause, 'actor'), textAt(pause, 'reason')];
  return at === '' ? '' : pauseText({ at, actor, reason: reason === '' ? null : reason });
};

/** Who holds a session, and how that stands, in a line; empty where nobody does. */
export const leaseText = (lease: JsonObject): string => {
  const holder = textAt(lease, 'holder');
  if (holder === '') return '';
  const purpose = textAt(lease, 'purpose');
  const until = textAt(lease, 'expires_at');
  const why = textAt(lease, 'alive') === 'dead' ? 'its process is gone' : 'its clock was ahead';
  const state = { active: `until ${until}`, stale: `until ${until}, but ${why}` }[textAt(lease, 'state')];
  return `${holder} on ${textAt(lease, 'host')} ${state ?? `(expired at ${until})`}${purpose === '' ? '' : `, for: ${purpose}`}`;
};
