import { columnsOf, endsCluster } from './graphemes.ts';

/**
 * Makes a text safe to show on a terminal: C0 and C1 control characters go, except tab and newline, and so do the
 * characters that reorder what is shown (U+202A to U+202E, U+2066 to U+2069). CRLF becomes a newline.
 */
export function stripControls(text: string): string {
  return text.replaceAll(/[^\t\n\u0020-\u007e\u00a0-\u2029\u202f-\u2065\u206a-\uffff]/g, '');
}

/** The text with each lone surrogate replaced by U+FFFD, so that it can be written as UTF-8 and read by anybody. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}

/**
 * The text itself when it has at most `max` UTF-16 code units, else its beginning and `…`, together at most `max`. It
 * is never cut inside what a reader sees as one character: a surrogate pair, a letter with its marks, an emoji
 * sequence. When not even the first one fits, only `…` is left, and nothing when `max` is below 1.
 */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max < 1) return '';
  let end = Math.floor(max) - 1;
  while (end > 0 && !isBorder(text, end)) end -= 1;
  return `${text.slice(0, end)}…`;
}

/** The same from the other end: `…` and how the text ends, together at most `max`. */
export function truncateStart(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max < 1) return '';
  let start = text.length - Math.floor(max) + 1;
  while (start < text.length && !isBorder(text, start)) start += 1;
  return `…${text.slice(start)}`;
}

/**
 * How many columns a text takes on a terminal: 2 for East Asian wide characters and emoji, 0 for controls and for marks
 * that combine with the character before, else 1.
 */
export function displayWidth(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : columnsOf(text);
}

/** The text with spaces behind it up to `columns` terminal columns; unchanged when it is wider. */
export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)));
}

/** The text on one line: each run of white space, newlines and tabs too, becomes one space, and the edges are trimmed. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/**
 * A text from outside as a terminal is given it: well-formed, without control characters and without those that reorder
 * what is shown, hide in it, or say something to machines alone (U+200B, U+200E, U+200F, U+061C, U+FEFF, tags).
 */
export function plainText(text: string): string {
  if (/^[\t\n -~]*$/.test(text)) return text;
  return stripControls(text.toWellFormed()).replaceAll(
    /[\u061c\u200b\u200e\u200f\u2060-\u2064\ufeff\u{e0000}-\u{e007f}]/gu,
    '',
  );
}

/** The same as a part of a line. */
export function plainLine(text: string): string {
  return oneLine(plainText(text));
}

/** JSON that says the same; what a terminal is not given stands in it as escapes. */
export function plainJson(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu,
    (character) =>
      character
        .split('')
        .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join(''),
  );
}

/** How many bytes a text has as UTF-8. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

/** The text itself when it has at most `max` bytes as UTF-8, else as much of its beginning as `truncate` leaves whole. */
export function truncateBytes(text: string, max: number): string {
  if (text.length <= max && utf8Length(text) <= max) return text;
  let cut = truncate(text, max);
  for (let size = utf8Length(cut); size > max; size = utf8Length(cut))
    cut = truncate(text, Math.min(cut.length - 1, Math.floor((cut.length * max) / size)));
  return cut;
}

/** A number of bytes for a person: `300 bytes`, `12 KB`, `1.5 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** The text as one word of a command line that a shell takes apart. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Whether a text may be cut before the code unit at `end`. */
function isBorder(text: string, end: number): boolean {
  const before = text.charCodeAt(end - 1);
  const after = text.charCodeAt(end);
  return before < 0x80 && after < 0x80 ? !(before === 0x0d && after === 0x0a) : endsCluster(text, end);
}

/** The order of names as people have it: numbers by their value. */
export function compareNames(a: string, b: string): number {
  return compareStamps(a, b) ?? (collator ??= new Intl.Collator('en', { numeric: true })).compare(a, b);
}

let collator: Intl.Collator | undefined;

/**
 * The same for names that differ first in a letter, or in numbers of one length, or of which one begins with a number, as
 * stamps do: without the tables of languages, which cost more to read than most verbs. Undefined for others.
 */
function compareStamps(a: string, b: string): number | undefined {
  if (!/^[ -~]*$/.test(a) || !/^[ -~]*$/.test(b)) return undefined;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  const [letter, another] = [letterAt(a, at), letterAt(b, at)];
  if (letter !== 0 && another !== 0 && letter !== another) return letter - another;
  const [end, other] = [digitsEnd(a, at), digitsEnd(b, at)];
  const begins = at === 0 && (letter !== 0 || end > 0) && (another !== 0 || other > 0) && (end === 0) !== (other === 0);
  return begins || (end === other && end > at) ? (a < b ? -1 : 1) : undefined;
}

/** The code of the letter at a place in a text, as a small one; 0 where none is. */
function letterAt(text: string, at: number): number {
  const code = text.charCodeAt(at) | 32;
  return code >= 97 && code <= 122 ? code : 0;
}

/** Where the digits end that begin at a place in a text. */
function digitsEnd(text: string, start: number): number {
  let end = start;
  for (let code = text.charCodeAt(end); code >= 48 && code <= 57; code = text.charCodeAt(end)) end += 1;
  return end;
}
