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
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  let base = '';
  let baseWidth = 0;
  let joined = false;
  let halfFlag = false;
  for (const character of text) {
    const grows = baseWidth === 1 && (character === EMOJI_STYLE ? /^\p{Emoji}/u : classes().skinCarrier).test(base);
    if (character === EMOJI_STYLE || (classes().skinTone.test(character) && classes().skinCarrier.test(base))) {
      // A character that is narrow by itself is drawn as an emoji because of this one.
      if (grows) width += 1;
      if (grows) baseWidth = 2;
    } else if (classes().noColumn.test(character)) {
      joined = character === JOINER;
    } else if (joined && /^\p{Extended_Pictographic}/u.test(character)) {
      joined = false;
    } else if (halfFlag && classes().halfFlag.test(character)) {
      halfFlag = false;
    } else {
      base = character;
      baseWidth = classes().twoColumns.test(character) ? 2 : 1;
      width += baseWidth;
      joined = false;
      halfFlag = classes().halfFlag.test(character);
    }
  }
  return width;
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

/**
 * Whether a text may be cut before the code unit at `end`. These are the rules of UAX #29 for grapheme clusters, written
 * out because the first use of `Intl.Segmenter` takes longer than an everyday verb.
 */
function isBorder(text: string, end: number): boolean {
  const unitBefore = text.charCodeAt(end - 1);
  const unitAfter = text.charCodeAt(end);
  if (unitBefore < 0x80 && unitAfter < 0x80) return !(unitBefore === 0x0d && unitAfter === 0x0a);
  if (isHighSurrogate(unitBefore) && isLowSurrogate(unitAfter)) return false;

  const before = characterBefore(text, end);
  const after = String.fromCodePoint(text.codePointAt(end) ?? 0);
  if (classes().staysBehind.test(after) || before === JOINER || classes().staysBefore.test(before)) return false;
  if (classes().leadingJamo.test(before) && classes().hangul.test(after)) return false;
  if (classes().halfFlag.test(before) && classes().halfFlag.test(after)) return halfFlagsBefore(text, end) % 2 === 0;
  return !(/^\p{L}/u.test(after) && isLinked(text, end));
}

/** Whether the marks before `end` hold a virama, which ties a consonant to the next one (rule GB9c). */
function isLinked(text: string, end: number): boolean {
  // More marks than this on one letter are no writing.
  for (let at = end, marks = 0; marks < 32; marks += 1) {
    const mark = characterBefore(text, at);
    if (classes().virama.test(mark)) return true;
    if (!classes().staysBehind.test(mark)) return false;
    at -= mark.length;
  }
  return false;
}

function halfFlagsBefore(text: string, end: number): number {
  let count = 0;
  for (let at = end; classes().halfFlag.test(characterBefore(text, at)); at -= 2) count += 1;
  return count;
}

/** The code point that ends before `end`, as a string; empty at the beginning. */
function characterBefore(text: string, end: number): string {
  const isPair = isHighSurrogate(text.charCodeAt(end - 2)) && isLowSurrogate(text.charCodeAt(end - 1));
  return text.slice(Math.max(0, end - (isPair ? 2 : 1)), end);
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd8_00 && unit <= 0xdb_ff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc_00 && unit <= 0xdf_ff;

const JOINER = '\u200d';
const EMOJI_STYLE = '\ufe0f';
/**
 * Classes of characters, made at their first use: making them reads Unicode's tables, which would cost every verb a
 * thirtieth of a bare Node's start.
 */
const makeClasses = () => ({
  halfFlag: /^\p{Regional_Indicator}/u,
  skinTone: /^\p{Emoji_Modifier}/u,
  skinCarrier: /^\p{Emoji_Modifier_Base}/u,

  /** Marks and format characters, controls, and the Hangul vowels and finals that melt into the syllable before. */
  noColumn: /^(?!\u00ad)[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11ff]/u,

  /** East_Asian_Width W and F of Unicode 16 (EastAsianWidth.txt), unassigned code points between them included. */
  twoColumns:
    /^[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u,

  /** What never begins a cluster: GCB Extend, SpacingMark, ZWJ, and Hangul vowels and finals. */
  staysBehind: /^[\p{Grapheme_Extend}\p{M}\p{Emoji_Modifier}\u200d\u0e33\u0eb3\u1160-\u11ff\ud7b0-\ud7fb]/u,

  /** What never ends a cluster: GCB Prepend. */
  staysBefore:
    /^[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\u{110bd}\u{110cd}\u{111c2}\u{111c3}\u{113d1}\u{1193f}\u{11941}\u{11a3a}\u{11a84}-\u{11a89}\u{11d46}\u{11f02}]/u,

  leadingJamo: /^[\u1100-\u115f\ua960-\ua97c]/u,
  hangul: /^[\u1100-\u115f\ua960-\ua97c\uac00-\ud7a3]/u,

  /** Indic_Conjunct_Break=Linker of Unicode 16. */
  virama:
    /^[\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d\u1039\u17d2\u1a60\u1b44\u1bab\ua9c0\uaaf6\u{10a3f}\u{11133}\u{113d0}\u{1193e}\u{11a47}\u{11a99}\u{11f42}]/u,
});

let made: ReturnType<typeof makeClasses> | undefined;

const classes = (): ReturnType<typeof makeClasses> => {
  made ??= makeClasses();
  return made;
};

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
  const [letter = '', another = ''] = [a, b].map((name) => /^[a-z]/.exec(name.slice(at, at + 1).toLowerCase())?.[0]);
  if (letter !== '' && another !== '' && letter !== another) return letter < another ? -1 : 1;
  const [end, other] = [digitsEnd(a, at), digitsEnd(b, at)];
  const begins = at === 0 && /^[0-9a-z]/i.test(a) && /^[0-9a-z]/i.test(b) && (end === 0) !== (other === 0);
  return begins || (end === other && end > at) ? (a < b ? -1 : 1) : undefined;
}

/** Where the digits end that begin at a place in a text. */
function digitsEnd(text: string, start: number): number {
  let end = start;
  for (let code = text.charCodeAt(end); code >= 48 && code <= 57; code = text.charCodeAt(end)) end += 1;
  return end;
}
