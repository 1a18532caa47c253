import type { Json } from './canonical-json.ts';
import { pathTo } from './lenient.ts';
import { err, ok, type Result } from './result.ts';

/** JSON that others may have made to do harm: one meaning only, and never more work than its length. */

/** How much is followed. */
export interface JsonLimits {
  /** The deepest nesting. */
  readonly depth: number;
  /** Most values, at any depth. */
  readonly values: number;
  /** Most keys of one object. */
  readonly keys: number;
}

/** What is wrong with a text. */
export interface StrictFault {
  /** The JSON path of the value that it is about. */
  readonly path: string;
  /** Completes a sentence that begins with the path, and repeats nothing of the text. */
  readonly problem: string;
}

/**
 * Parses JSON of which two programs could not think differently: no key twice in an object, no number that comes out as
 * another one, no half of a character, nothing around it, no byte order mark. The text is gone over once, without recursion,
 * and no value is made of it before it is known to be sound.
 */
export const parseStrictJson = (text: string, limits: JsonLimits): Result<Json, StrictFault> => {
  const fault = findFault(text, limits);
  if (fault !== undefined) return err(fault);
  const value: Json = JSON.parse(text);
  return ok(value);
};

/** An object or a list that is open. */
interface Open {
  /** The keys of an object so far; undefined for a list. */
  readonly keys: Set<string> | undefined;
  /** The member that is read. */
  at: string | number;
}

const findFault = (text: string, limits: JsonLimits): StrictFault | undefined => {
  const open: Open[] = [];
  let values = 0;
  let at = 0;
  const fault = (problem: string, depth = open.length): StrictFault => ({
    path: open.slice(0, depth).reduce<string>((path, one) => pathTo(path, one.at), '$'),
    problem,
  });
  const broken = (): StrictFault => fault(`is not JSON at ${placeIn(text, at)}`);
  if (!text.isWellFormed()) return fault('holds half of a character', 0);

  /** What may come next: a value, the first member of what was just opened, a key, or what goes on or ends. */
  let expects: 'value' | 'first' | 'key' | 'more' = 'value';
  for (;;) {
    at = afterBlanks(text, at);
    const code = text.charCodeAt(at);
    const inner = open.at(-1);
    if (expects === 'more') {
      if (inner === undefined) return at === text.length ? undefined : broken();
      if (code === COMMA) {
        if (inner.keys === undefined && typeof inner.at === 'number') inner.at += 1;
        expects = inner.keys === undefined ? 'value' : 'key';
      } else if (code === (inner.keys === undefined ? LIST_END : OBJECT_END)) open.pop();
      else return broken();
      at += 1;
      continue;
    }
    if (expects === 'first' && code === (inner?.keys === undefined ? LIST_END : OBJECT_END)) {
      open.pop();
      expects = 'more';
      at += 1;
      continue;
    }
    if (inner?.keys !== undefined && expects !== 'value') {
      const end = code === QUOTE ? endOfText(text, at) : at;
      if (end === HALF) return fault('holds half of a character in a key', open.length - 1);
      if (end <= at) return broken();
      const key: string = JSON.parse(text.slice(at, end));
      inner.at = key;
      if (inner.keys.has(key)) return fault('is there twice');
      if (inner.keys.size === limits.keys) return fault(`holds more than ${limits.keys} keys`, open.length - 1);
      inner.keys.add(key);
      at = afterBlanks(text, end);
      if (text.charCodeAt(at) !== COLON) return broken();
      at += 1;
      expects = 'value';
      continue;
    }
    values += 1;
    if (values > limits.values) return fault(`holds more than ${limits.values} values`, 0);
    if (code === OBJECT || code === LIST) {
      if (open.length === limits.depth) return fault(`is nested deeper than ${limits.depth} levels`, 0);
      open.push({ keys: code === OBJECT ? new Set() : undefined, at: 0 });
      expects = 'first';
      at += 1;
      continue;
    }
    expects = 'more';
    if (code === QUOTE) {
      const end = endOfText(text, at);
      if (end === HALF) return fault('holds half of a character');
      if (end <= at) return broken();
      at = end;
      continue;
    }
    const word = wordAt(text, at);
    if (word !== undefined) {
      at += word.length;
      continue;
    }
    let end = at;
    while (isOfNumber(text.charCodeAt(end))) end += 1;
    if (end - at > LONGEST_NUMBER) return fault('is a number with more digits than can be kept');
    const digits = text.slice(at, end);
    if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(digits)) return broken();
    const number = Number(digits);
    if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number)))
      return fault('is a number with more digits than can be kept');
    at = end;
  }
};

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OBJECT, OBJECT_END, LIST, LIST_END] = [0x7b, 0x7d, 0x5b, 0x5d];

const wordAt = (text: string, at: number): string | undefined =>
  ['true', 'false', 'null'].find((word) => text.startsWith(word, at));

/** No number that is kept exactly needs more. */
const LONGEST_NUMBER = 40;

const isOfNumber = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2b || code === 0x2e || code === 0x65 || code === 0x45;

const afterBlanks = (text: string, start: number): number => {
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
};

/** Answered where a text is none, and where it holds one half of a character alone. */
const NONE = -1;
const HALF = -2;

/** Where the text ends that begins with a quotation mark. */
const endOfText = (text: string, start: number): number => {
  for (let at = start + 1; ; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    // Behind the end there is no code.
    if (!(code >= 0x20)) return NONE;
    if (code !== BACKSLASH) continue;
    at += 1;
    const escaped = text.charAt(at);
    if (escaped !== 'u') {
      if (escaped === '' || !'"\\/bfnrt'.includes(escaped)) return NONE;
      continue;
    }
    const unit = unitAt(text, at + 1);
    if (unit === undefined) return NONE;
    at += 4;
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const low = text.startsWith('\\u', at + 1) ? unitAt(text, at + 3) : undefined;
    if (unit > 0xdbff || low === undefined || low < 0xdc00 || low > 0xdfff) return HALF;
    at += 6;
  }
};

/** The four digits of an escape; undefined where they are none. */
const unitAt = (text: string, start: number): number | undefined => {
  const digits = text.slice(start, start + 4);
  return /^[\da-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : undefined;
};

const placeIn = (text: string, offset: number): string => {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', end + 1)) {
    line += 1;
    start = end + 1;
  }
  return `line ${line}, column ${offset - start + 1}`;
};
