import type { Json } from './canonical-json.ts';
import { deepest } from './json-text.ts';
import { pathTo } from './lenient.ts';

/**
 * Takes what can be taken of a text that should be JSON and is not, in linear time. What hands and programs commonly do to
 * such a text is mended, what cannot be understood is left out, and every place is told. Nothing is thrown.
 */

/** A place at which a text is not JSON, and what was made of it. */
export interface Flaw {
  readonly offset: number;
  /** The JSON path of the value at which it is. */
  readonly path: string;
  /** Completes a sentence about the text: `lacks a comma`. */
  readonly what: string;
  /** Whether something that stood there, or should have, may be lost. */
  readonly isLoss: boolean;
}

/** What was taken of a text. */
export interface Salvaged {
  /** Undefined where no object or list begins. */
  readonly value: Json | undefined;
  /** Whether the text goes on to the end of the value. */
  readonly isClosed: boolean;
  readonly flaws: readonly Flaw[];
  /** How many flaws there are beyond those that are told. */
  readonly untold: number;
  /** The offset behind what was read. */
  readonly end: number;
}

/** Most flaws that are told of one text. */
const mostFlaws = 200;

/** What becomes of a flaw that is found. */
type Tell = (what: string, isLoss: boolean, offset: number) => void;

/** An object or a list that is being read. */
interface Frame {
  /** Of a list. */
  readonly items: Json[] | undefined;
  /** Of an object. */
  readonly members: Map<string, Json>;
  key: string | undefined;
  awaits: 'key' | 'colon' | 'value' | 'comma';
  /** Whether the last thing that was read is a comma. */
  isContinued: boolean;
}

const blanks = /[\s\uFEFF]*/y;
const comment = /\/\/[^\r\n]*|\/\*[^]*?(?:\*\/|$)|#[^\r\n]*/y;
const unreadable = /[^,}\]\r\n"]+/y;
const bareKey = /[\p{L}\d_$-]+(?=[ \t]*:)/uy;
const bareStart = /[\p{L}\d_$.+-]/u;
const bareText = /[^,}\]\r\n]+/y;
const thousands = /-?\d{1,3}(?:,\d{3}){1,10}(?:\.\d+)?(?=[ \t]*(?:[,}\]\r\n]|$))/y;
const number = /[+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.:-])/y;
const plainNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const word = /[A-Za-z]+(?=[ \t]*(?:[,}\]\r\n]|$))/y;

/** What a sticky pattern finds at an offset. */
const matchAt = (pattern: RegExp, text: string, offset: number): string => {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0] ?? '';
};

/** Takes the object or list that begins at an offset or behind the blanks and comments there. */
export const salvageJson = (text: string, start = 0): Salvaged => {
  const frames: Frame[] = [];
  const flaws: Flaw[] = [];
  let untold = 0;
  let hasLoss = false;
  let isBrokenOff = false;
  let whole: Json | undefined;
  let at = start;

  const tell: Tell = (what, isLoss, offset) => {
    // That something is lost is told in any case.
    if (flaws.length < mostFlaws || (isLoss && !hasLoss)) flaws.push({ offset, path: pathOf(frames), what, isLoss });
    else untold += 1;
    hasLoss ||= isLoss;
  };

  const skipBlanks = (): void => {
    for (;;) {
      at += matchAt(blanks, text, at).length;
      const found = matchAt(comment, text, at).length;
      if (found === 0) return;
      tell('has a comment, which was left out', false, at);
      at += found;
    }
  };

  /** Takes a value into the innermost object or list. */
  const place = (value: Json, offset: number): void => {
    const frame = frames.at(-1);
    if (frame === undefined) {
      whole = value;
      return;
    }
    if (frame.items !== undefined) frame.items.push(value);
    else if (frame.key !== undefined) {
      if (frame.members.has(frame.key))
        tell('has one key twice in an object, of which the last one counts', false, offset);
      frame.members.set(frame.key, value);
    }
    frame.key = undefined;
    frame.awaits = 'comma';
  };

  /** Ends the innermost object or list. */
  const close = (): void => {
    const frame = frames.pop();
    if (frame !== undefined) place(frame.items ?? Object.fromEntries(frame.members), at);
  };

  /** Ends what the text breaks off. */
  const breakOff = (what: string, offset: number): void => {
    tell(what, true, offset);
    isBrokenOff = true;
    if (what === cutOff) at = text.length;
    while (frames.length > 0) close();
  };

  const open = (): void => {
    const isList = text[at] === '[';
    frames.push({
      items: isList ? [] : undefined,
      members: new Map(),
      key: undefined,
      awaits: isList ? 'value' : 'key',
      isContinued: false,
    });
    at += 1;
  };

  /** Reads a bracket that ends something; it may be that of something further out, or of nothing. */
  const readEnd = (frame: Frame): void => {
    const endsList = text[at] === ']';
    if (endsList === (frame.items !== undefined)) {
      if (frame.isContinued) tell('has a comma behind the last one', false, at);
      at += 1;
      close();
    } else if (frames.some(({ items }) => endsList === (items !== undefined))) {
      tell(`lacks a ${endsList ? '}' : ']'}`, false, at);
      close();
    } else {
      tell(`has a ${text[at]} too many`, false, at);
      at += 1;
    }
  };

  const leaveOut = (): void => {
    tell('holds what cannot be read, which was left out', true, at);
    at += Math.max(1, matchAt(unreadable, text, at).length);
  };

  /** Reads a text in quotation marks; undefined where it does not end. */
  const readQuoted = (role: Role): string | undefined => {
    const read = readText(text, at, role, tell);
    at = read.end;
    return read.value;
  };

  /** A text that begins with an escaped quotation mark: its own is missing, or the backslash is too many. */
  const readEscaped = (role: Role): string | undefined => {
    tell('has a backslash before the beginning of a text', false, at);
    at -= 1;
    const value = readQuoted(role);
    return value?.lastIndexOf('"') === 0 ? value.slice(1) : value;
  };

  const readKey = (frame: Frame): void => {
    const offset = at;
    const sign = text[at];
    if (sign === ',') {
      tell('has a comma too many', false, at);
      at += 1;
      return;
    }
    const outer = frames.at(-2);
    if (sign === '{' && frame.isContinued && outer?.items !== undefined) {
      tell('lacks a }', false, at);
      close();
      outer.awaits = 'value';
      return;
    }
    if (sign === '"' || sign === "'") {
      if (sign === "'") tell('has apostrophes for quotation marks', false, at);
      const key = readQuoted('key');
      if (key === undefined) {
        if (at >= text.length) breakOff(cutOff, offset);
        else tell('has a key that does not end, which was left out', true, offset);
        return;
      }
      frame.key = key;
    } else {
      const bare = matchAt(bareKey, text, at);
      if (bare === '') {
        leaveOut();
        return;
      }
      tell('has a key without quotation marks', false, at);
      frame.key = bare;
      at += bare.length;
    }
    frame.awaits = 'colon';
    frame.isContinued = false;
  };

  const readColon = (frame: Frame): void => {
    const sign = text[at];
    if (sign === ':') at += 1;
    else if (sign === ',' || sign === '}' || sign === ']') {
      tell('has a key without a value, which was left out', true, at);
      frame.key = undefined;
      frame.awaits = 'comma';
      return;
    } else tell('lacks a colon', false, at);
    frame.awaits = 'value';
  };

  const readValue = (frame: Frame): void => {
    const offset = at;
    const sign = text[at] ?? '';
    const isMember = frame.items === undefined;
    if (sign === ',') {
      if (isMember) {
        tell('has a key without a value, which was left out', true, at);
        frame.key = undefined;
        frame.awaits = 'comma';
      } else {
        tell('has a comma too many', false, at);
        at += 1;
      }
      return;
    }
    if (sign === '}' || sign === ']') {
      if (isMember) tell('has a key without a value, which was left out', true, at);
      readEnd(frame);
      return;
    }
    frame.isContinued = false;
    if (sign === '{' || sign === '[') {
      open();
      return;
    }
    if (sign === '"' || sign === "'" || text.startsWith('\\"', at)) {
      if (sign === "'") tell('has apostrophes for quotation marks', false, at);
      const role = isMember ? 'member' : 'item';
      const value = sign === '\\' ? readEscaped(role) : readQuoted(role);
      if (value !== undefined) place(value, offset);
      else if (at >= text.length) breakOff(cutOff, offset);
      else {
        tell('has a text that does not end, which was left out', true, offset);
        frame.key = undefined;
        frame.awaits = 'comma';
      }
      return;
    }
    const bare = readBare(text, at, isMember);
    if (bare === undefined) {
      leaveOut();
      frame.key = undefined;
      frame.awaits = 'comma';
    } else if (bare.end >= text.length) breakOff(cutOff, offset);
    else {
      if (bare.what !== undefined) tell(bare.what, false, at);
      at = bare.end;
      place(bare.value, offset);
    }
  };

  const readComma = (frame: Frame): void => {
    const sign = text[at] ?? '';
    const last = frame.items?.at(-1);
    if (sign === ',') {
      at += 1;
      frame.isContinued = true;
    } else if (sign === '}' || sign === ']') {
      readEnd(frame);
      return;
    } else if (sign === ':' && frames.at(-2)?.items === undefined && typeof last === 'string') {
      // The last item was the key of what follows the list.
      frame.items?.pop();
      tell('lacks a ]', false, at);
      close();
      const outer = frames.at(-1);
      if (outer === undefined) return;
      outer.key = last;
      outer.awaits = 'colon';
      return;
    } else if (sign === '{' && frame.items === undefined && frames.at(-2)?.items !== undefined) {
      tell('lacks a }', false, at);
      close();
      return;
    } else if (frame.items === undefined ? /["']/.test(sign) || matchAt(bareKey, text, at) !== '' : isStart(sign))
      tell('lacks a comma', false, at);
    else {
      leaveOut();
      return;
    }
    frame.awaits = frame.items === undefined ? 'key' : 'value';
  };

  skipBlanks();
  if (text[at] === '{' || text[at] === '[') open();
  while (frames.length > 0) {
    skipBlanks();
    const frame = frames.at(-1);
    if (frame === undefined) break;
    if (frames.length > deepest) {
      tell(`is nested deeper than ${deepest} levels`, true, at);
      return { value: undefined, isClosed: false, flaws, untold, end: at };
    }
    const isNewDocument = text[at] === '{' && text[at - 1] === '\n';
    if (at >= text.length) breakOff(cutOff, at);
    else if (isNewDocument && frame.items === undefined && frame.awaits !== 'value')
      breakOff('ends in the middle, where another document begins', at);
    else
      switch (frame.awaits) {
        case 'key':
          if (text[at] === '}' || text[at] === ']') readEnd(frame);
          else readKey(frame);
          break;
        case 'colon':
          readColon(frame);
          break;
        case 'value':
          readValue(frame);
          break;
        case 'comma':
          readComma(frame);
          break;
      }
  }
  return { value: whole, isClosed: whole !== undefined && !isBrokenOff, flaws, untold, end: at };
};

const cutOff = 'ends in the middle, as a write that was cut off';

const isStart = (sign: string): boolean => /["'{[]/.test(sign) || bareStart.test(sign);

const pathOf = (frames: readonly Frame[]): string =>
  frames.reduce<string>((path, { items, key, awaits }) => {
    if (items !== undefined) return pathTo(path, awaits === 'comma' ? items.length - 1 : items.length);
    return key === undefined ? path : pathTo(path, key);
  }, '$');

/** Reads a value without quotation marks; undefined where none begins. It may be longer where it ends with the text. */
const readBare = (
  text: string,
  at: number,
  isMember: boolean,
): { readonly value: Json; readonly end: number; readonly what?: string } | undefined => {
  // In a list they may be several numbers.
  const grouped = isMember ? matchAt(thousands, text, at) : '';
  if (grouped !== '')
    return {
      value: Number(grouped.replaceAll(',', '')),
      end: at + grouped.length,
      what: 'has commas between the digits of a number',
    };
  const digits = matchAt(number, text, at);
  if (digits !== '') {
    const value = Number(digits.replaceAll('_', ''));
    const end = at + digits.length;
    if (!Number.isFinite(value)) return { value: null, end, what: 'holds a number that is too large' };
    return plainNumber.test(digits) ? { value, end } : { value, end, what: 'has a number in another spelling' };
  }
  const name = matchAt(word, text, at);
  const known = words.get(name);
  if (known !== undefined) {
    const isPlain = name === 'true' || name === 'false' || name === 'null';
    const spelling = { value: known, end: at + name.length };
    return isPlain ? spelling : { ...spelling, what: `has ${name} for ${String(known)}` };
  }
  if (!bareStart.test(text[at] ?? '')) return undefined;
  const bare = matchAt(bareText, text, at);
  return { value: bare.trimEnd(), end: at + bare.length, what: 'has a text without quotation marks' };
};

/** What programs of other languages write for the three words of JSON, and for numbers that it does not have. */
const words: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
  ['True', true],
  ['False', false],
  ['None', null],
  ['undefined', null],
  ['NaN', null],
  ['Infinity', null],
]);

/** What a text in quotation marks is there. */
type Role = 'key' | 'member' | 'item';

const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
const inQuotes = /[^"\\\u0000-\u001f]*/y;
const inApostrophes = /[^'\\\u0000-\u001f]*/y;
const unicode = /[\da-fA-F]{4}/y;
const memberAhead = /[ \t]*(?:["'][^"'\\\r\n]{0,200}["'][ \t]*:|[}\]])/y;
const itemAhead = /[ \t]*["'{}[\]]/y;
const endAhead = /[ \t]*(?:$|[\r\n}\]]|\/[/*]|,[ \t]*(?:$|["'{[\]}\r\n/\d-]|(?:true|false|null|True|False|None)\b))/y;
const memberBehind = /[ \t]*["'][^"'\\\r\n]{0,200}["'][ \t]*:/y;
const itemBehind = /[ \t]*["'{[:]/y;

/** Reads a text from its opening quotation mark on, or from the place where that is missing. Without a value it does not end in the text, or before another line begins. */
const readText = (
  text: string,
  from: number,
  role: Role,
  tell: Tell,
): { readonly value: string | undefined; readonly end: number } => {
  const quote = text[from] === "'" ? "'" : '"';
  const told = new Set<string>();
  const tellOnce = (what: string, offset: number): void => {
    if (!told.has(what)) tell(what, false, offset);
    told.add(what);
  };
  const isJsonAhead = (offset: number): boolean =>
    offset >= text.length || matchAt(role === 'item' ? itemAhead : memberAhead, text, offset) !== '';
  let value = '';
  let at = from + 1;
  /** The last quotation mark that was escaped, and the text before it. */
  let escaped: { readonly at: number; readonly value: string } | undefined;
  for (;;) {
    const plain = matchAt(quote === '"' ? inQuotes : inApostrophes, text, at);
    value += plain;
    at += plain.length;
    const sign = text[at];
    if (sign === undefined) return { value: undefined, end: at };
    if (sign === quote) {
      if (role === 'key' || isEnd(text, at + 1, role)) return { value, end: at + 1 };
      tellOnce('has a quotation mark in a text that is not escaped', at);
      value += sign;
      at += 1;
    } else if (sign === '\\') {
      const next = text[at + 1] ?? '';
      const code = next === 'u' ? matchAt(unicode, text, at + 2) : '';
      const meant = code === '' ? (escapes.get(next) ?? (next === quote ? next : undefined)) : fromCode(code);
      if (next === quote) escaped = { at, value };
      if (meant === undefined) tellOnce('has a backslash that escapes nothing, which was kept', at);
      value += meant ?? sign;
      at += meant === undefined ? 1 : 2 + code.length;
    } else if (sign === '\n' || sign === '\r') {
      const next = at + (text.startsWith('\r\n', at) ? 2 : 1);
      if (role === 'key' || text[next] === '{') return { value: undefined, end: at };
      if (isJsonAhead(next)) return endOfLine(text, at, value, escaped, tell);
      tellOnce('has a line end in a text', at);
      value += '\n';
      at = next;
    } else {
      tellOnce('has a control character in a text', at);
      value += sign;
      at += 1;
    }
  }
};

const fromCode = (code: string): string => String.fromCharCode(Number.parseInt(code, 16));

/** Whether a quotation mark ends its text, by what stands behind it. */
const isEnd = (text: string, behind: number, role: Role): boolean => {
  if (isThere(endAhead, text, behind)) return true;
  return isThere(role === 'item' ? itemBehind : memberBehind, text, behind);
};

const isThere = (pattern: RegExp, text: string, offset: number): boolean => {
  pattern.lastIndex = offset;
  return pattern.test(text);
};

/** A text that must have ended before the end of its line: its last quotation mark was escaped, or is missing. */
const endOfLine = (
  text: string,
  end: number,
  value: string,
  escaped: { readonly at: number; readonly value: string } | undefined,
  tell: Tell,
): { readonly value: string; readonly end: number } => {
  if (escaped !== undefined && end - escaped.at < 40 && /^..[ \t]*[,}\]]*[ \t]*$/.test(text.slice(escaped.at, end))) {
    tell('has a backslash before the end of a text', false, escaped.at);
    return { value: escaped.value, end: escaped.at + 2 };
  }
  tell('has a text without its closing quotation mark', false, end);
  const line = blanksBefore(text, end);
  const own = text[line - 1] === ',' ? blanksBefore(text, line - 1) : line;
  return { value: value.slice(0, value.length - (end - own)), end: own };
};

const blanksBefore = (text: string, offset: number): number => {
  let at = offset;
  while (text[at - 1] === ' ' || text[at - 1] === '\t') at -= 1;
  return at;
};
