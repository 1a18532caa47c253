import { err, ok, type Result } from './result.ts';
import type { Stretch } from './secret-scan.ts';

/**
 * Regular expressions and path patterns of others, matched in one pass: all matches are followed at the same time, so
 * the work is at most the length of the text times the size of the pattern, whoever wrote either.
 *
 * What is found is every stretch that some match covers; matches that overlap are one. So it makes no difference which of
 * several matches an engine would choose, and what only chooses among them, as a lazy quantifier, is not legal here. Nor
 * is what no single pass can do, as a back-reference.
 */
export type LinearPattern = {
  /**
   * Finds all stretches between two places of a text, in order.
   *
   * @param edges whether the text begins and ends at these places; elsewhere no anchor and no word ends there
   */
  readonly find: (text: string, from: number, to: number, edges: Edges) => readonly Stretch[];
};

type Edges = { readonly begins: boolean; readonly ends: boolean };

/** Why a pattern is not taken: what of it is not legal, where, and what to write instead. */
export type PatternFault = { readonly construct: string; readonly at: number; readonly hint: string };

/**
 * Reads a regular expression as Python and JavaScript write it: literals, `.`, classes, `\d \w \s \b` and their
 * opposites, anchors, groups, alternatives, greedy quantifiers, and the flags `i`, `m` and `s` in front.
 */
export const parsePattern = (source: string): Result<LinearPattern, PatternFault> => {
  const parser = createParser(source);
  try {
    const search = createSearch(compile(parser.parse(), LARGEST));
    return ok({ find: (text, from, to, edges) => search({ text, from, to, edges }) });
  } catch (error) {
    if (error instanceof Fault) return err({ construct: error.message, at: error.at, hint: error.hint });
    throw error;
  }
};

/** Paths that one of several shell patterns matches: `*` for any text, dots too, `?`, `[...]` and `[!...]`. */
export type PathMatcher = {
  /** Where a path that has just begun stands. */
  readonly start: PathState;
  /** Where it stands when a piece more of it is known. */
  readonly step: (state: PathState, piece: string) => PathState;
  /** Whether the path as far as it is known is one of them. */
  readonly accepts: (state: PathState) => boolean;
};

/** What is still possible of a path; nothing is when it is empty. */
export type PathState = readonly number[];

/** Reads shell patterns. Every text is one: a bracket that is never closed stands for itself. */
export const parsePaths = (sources: readonly string[]): PathMatcher => {
  const program = compile({ any: sources.map(globToNode) }, Number.POSITIVE_INFINITY);
  const closed = createClosure(program);
  const none = (): boolean => false;
  return {
    start: sources.length === 0 ? [] : closed([0], none),
    step: (state, piece) => {
      let states = state;
      for (const character of piece) {
        if (states.length === 0) return states;
        const code = character.codePointAt(0) ?? 0;
        states = closed(
          states.filter((at) => program[at]?.has?.(code) === true).map((at) => at + 1),
          none,
        );
      }
      return states;
    },
    accepts: (state) => state.some((at) => program[at]?.isEnd === true),
  };
};

// What a pattern means.

/** Whether a code point is one of a set. */
type CharacterSet = (code: number) => boolean;

type Anchor = 'textStart' | 'textEnd' | 'lastLineEnd' | 'lineStart' | 'lineEnd' | 'wordEdge' | 'noWordEdge';

type Node =
  | { readonly has: CharacterSet }
  | { readonly anchor: Anchor }
  | { readonly all: readonly Node[] }
  | { readonly any: readonly Node[] }
  | { readonly part: Node; readonly least: number; readonly most: number };

/** Whether a pattern may match nothing at all. */
const isNullable = (node: Node): boolean => {
  if ('has' in node) return false;
  if ('all' in node) return node.all.every(isNullable);
  if ('any' in node) return node.any.some(isNullable);
  return 'anchor' in node || node.least === 0 || isNullable(node.part);
};

class Fault extends Error {
  readonly at: number;
  readonly hint: string;
  constructor(construct: string, at: number, hint: string) {
    super(construct);
    this.at = at;
    this.hint = hint;
  }
}

// The language.

/** What looks like a group and is not legal, by how it begins; the longest first. */
const FOREIGN_GROUPS: readonly (readonly [begin: string, construct: string, hint: string])[] = [
  ['(?<=', 'look-behind', 'put what stands in front into the pattern; it is redacted too'],
  ['(?<!', 'look-behind', 'say what may stand in front with a class'],
  ['(?P=', 'back-reference', 'say what is repeated once more'],
  ['(?P>', 'recursion', 'say it as often as it may be nested'],
  ['(?=', 'look-ahead', 'put what follows into the pattern; it is redacted too'],
  ['(?!', 'look-ahead', 'say what may follow with a class'],
  ['(?>', 'atomic group', 'use a plain group, (?:...)'],
  ['(?(', 'conditional', 'use two patterns'],
  ['(?#', 'comment', 'leave it out'],
  ['(?|', 'branch reset', 'use a plain group, (?:...)'],
  ['(?&', 'recursion', 'say it as often as it may be nested'],
  ['(?R', 'recursion', 'say it as often as it may be nested'],
];

const CONTROLS: Readonly<Record<string, number>> = { n: 0x0a, r: 0x0d, t: 0x09, f: 0x0c, v: 0x0b, a: 0x07, '0': 0x00 };

const isDigit: CharacterSet = (code) => (code >= 0x30 && code <= 0x39) || (code > 0x7f && /\p{Nd}/u.test(textOf(code)));
const isWord: CharacterSet = (code) =>
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x5f ||
  (code > 0x7f && /[\p{L}\p{N}]/u.test(textOf(code)));
const isSpace: CharacterSet = (code) =>
  code === 0x20 || (code >= 0x09 && code <= 0x0d) || (code > 0x7f && /\s/.test(textOf(code)));
const isAny: CharacterSet = () => true;

const textOf = (code: number): string => String.fromCodePoint(code);
const not =
  (has: CharacterSet): CharacterSet =>
  (code) =>
    !has(code);

const CLASSES: Readonly<Record<string, CharacterSet>> = {
  d: isDigit,
  D: not(isDigit),
  w: isWord,
  W: not(isWord),
  s: isSpace,
  S: not(isSpace),
};

const ANCHORS: Readonly<Record<string, Anchor>> = {
  b: 'wordEdge',
  B: 'noWordEdge',
  A: 'textStart',
  Z: 'textEnd',
  z: 'textEnd',
};

/** No pattern is bigger than this when its counted repetitions are written out. */
const LARGEST = 1000;

/** No group lies deeper. */
const DEEPEST = 100;

const createParser = (source: string): { readonly parse: () => Node } => {
  let at = 0;
  let depth = 0;
  const flags = new Set<string>();

  const isNext = (text: string): boolean => source.startsWith(text, at);
  const take = (text: string): boolean => {
    if (!isNext(text)) return false;
    at += text.length;
    return true;
  };
  const folded = (has: CharacterSet): CharacterSet => {
    if (!flags.has('i')) return has;
    return (code) => {
      const text = textOf(code);
      return (
        has(code) || has(text.toLowerCase().codePointAt(0) ?? code) || has(text.toUpperCase().codePointAt(0) ?? code)
      );
    };
  };
  const single = (code: number): Node => ({ has: remembered(folded((other) => other === code)) });

  const parse = (): Node => {
    for (
      let head = /^\(\?([a-zL]+)\)/.exec(source.slice(at));
      head !== null;
      head = /^\(\?([a-zL]+)\)/.exec(source.slice(at))
    ) {
      for (const flag of head[1] ?? '') {
        if (!/[ims]/.test(flag)) throw new Fault(`the flag ${flag}`, at, 'only i, m and s are known');
        flags.add(flag);
      }
      at += head[0].length;
    }
    const node = parseAlternatives();
    if (at < source.length)
      throw new Fault('a bracket that closes nothing', at, String.raw`write \) for the character`);
    if (isNullable(node)) throw new Fault('a pattern that matches the empty text', 0, 'say what has to be there');
    return node;
  };

  const parseAlternatives = (): Node => {
    depth += 1;
    if (depth > DEEPEST) throw new Fault('groups that lie too deep', at, `${DEEPEST} are enough`);
    const branches = [parseSequence()];
    while (take('|')) branches.push(parseSequence());
    depth -= 1;
    return { any: branches };
  };

  const parseSequence = (): Node => {
    const parts: Node[] = [];
    while (at < source.length && !isNext('|') && !isNext(')')) parts.push(parseQuantified());
    return { all: parts };
  };

  const parseQuantified = (): Node => {
    const start = at;
    const part = parseAtom();
    const quantifier = /^(?:[*+?]|\{(?:\d{1,9}(?:,\d{0,9})?|,\d{1,9})\})/.exec(source.slice(at, at + 24))?.[0];
    if (quantifier === undefined) return part;
    if ('anchor' in part) throw new Fault('a quantifier behind an anchor', at, 'leave it out');
    at += quantifier.length;
    if (isNext('?'))
      throw new Fault(
        'a lazy quantifier',
        at - quantifier.length,
        'use a class that ends by itself, as [^;]* for .*?;',
      );
    if (isNext('+')) throw new Fault('a possessive quantifier', at - quantifier.length, 'leave out the second +');
    if (/^[*{]/.test(source.slice(at)) && !/^\{(?!\d|,\d)/.test(source.slice(at)))
      throw new Fault('a quantifier of a quantifier', at, 'put the first one into a group, (?:...)');
    const [, low, comma, high] = /^\{(\d*)(,?)(\d*)\}$/.exec(quantifier) ?? [];
    const least = low === undefined ? (quantifier === '+' ? 1 : 0) : Number(low);
    const most =
      low === undefined
        ? quantifier === '?'
          ? 1
          : Infinity
        : comma === ''
          ? least
          : high === ''
            ? Infinity
            : Number(high);
    if (most < least)
      throw new Fault('a repetition whose limits are turned round', start, 'put the smaller number first');
    return { part, least, most };
  };

  const parseAtom = (): Node => {
    const start = at;
    const character = textOf(source.codePointAt(at) ?? 0);
    at += character.length;
    switch (character) {
      case '(':
        return parseGroup(start);
      case '[':
        return { has: remembered(parseClass(start)) };
      case '\\':
        return parseEscape(start);
      case '.':
        return { has: flags.has('s') ? isAny : (code) => code !== 0x0a };
      case '^':
        return { anchor: flags.has('m') ? 'lineStart' : 'textStart' };
      case '$':
        return { anchor: flags.has('m') ? 'lineEnd' : 'lastLineEnd' };
      case '*':
      case '+':
      case '?':
        throw new Fault('a quantifier behind nothing', start, `write \\${character} for the character`);
      default:
        return single(character.codePointAt(0) ?? 0);
    }
  };

  const parseGroup = (start: number): Node => {
    const foreign = FOREIGN_GROUPS.find(([begin]) => source.startsWith(begin, start));
    if (foreign !== undefined) throw new Fault(foreign[1], start, foreign[2]);
    if (isNext('?')) {
      const kind = /^\?(?::|P?<[A-Za-z_]\w*>)/.exec(source.slice(at))?.[0];
      if (kind === undefined) throw new Fault('flags inside of a pattern', start, 'put flags in front of it, as (?i)');
      at += kind.length;
    }
    const node = parseAlternatives();
    if (!take(')')) throw new Fault('a group that is not closed', start, String.raw`write \( for the character`);
    return node;
  };

  const parseEscape = (start: number): Node => {
    const letter = source.charAt(at);
    const anchor = Object.hasOwn(ANCHORS, letter) ? ANCHORS[letter] : undefined;
    if (anchor !== undefined) {
      at += 1;
      return { anchor };
    }
    const has = parseClassEscape(start);
    return typeof has === 'number' ? single(has) : { has: remembered(folded(has)) };
  };

  /** Behind a backslash: a set, or the code of one character. */
  const parseClassEscape = (start: number): CharacterSet | number => {
    const letter = textOf(source.codePointAt(at) ?? 0);
    if (at >= source.length) throw new Fault('a backslash at the end', start, String.raw`write \\ for the character`);
    const hex = /^(?:x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8})/.exec(source.slice(at, at + 9))?.[0];
    at += hex?.length ?? letter.length;
    const code = hex === undefined ? undefined : Number.parseInt(hex.slice(1), 16);
    if (code !== undefined && code <= 0x10_ffff) return code;
    const set = Object.hasOwn(CLASSES, letter) ? CLASSES[letter] : undefined;
    if (set !== undefined) return set;
    const control = Object.hasOwn(CONTROLS, letter) ? CONTROLS[letter] : undefined;
    if (control !== undefined) return control;
    if (/[1-9kg]/.test(letter)) throw new Fault('back-reference', start, 'say what is repeated once more');
    if (/[pP]/.test(letter)) throw new Fault('a Unicode property', start, String.raw`use \w, \d, \s or a class`);
    if (/[A-Za-z]/.test(letter)) throw new Fault(`the escape \\${letter}`, start, 'leave out the backslash');
    return letter.codePointAt(0) ?? 0;
  };

  const parseClass = (start: number): CharacterSet => {
    const isNegated = take('^');
    const sets: CharacterSet[] = [];
    const member = (): CharacterSet | number => {
      const begin = at;
      if (/^\[[:.=]/.test(source.slice(at, at + 2))) throw new Fault('a POSIX class', at, String.raw`use \w, \d or \s`);
      if (take('\\')) return isNext('b') && take('b') ? 0x08 : parseClassEscape(begin);
      const code = source.codePointAt(at) ?? 0;
      at += textOf(code).length;
      return code;
    };
    for (let isFirst = true; isFirst || !isNext(']'); isFirst = false) {
      if (at >= source.length)
        throw new Fault('a class that is not closed', start, String.raw`write \[ for the character`);
      const low = member();
      const isRange = isNext('-') && at + 1 < source.length && source.charAt(at + 1) !== ']';
      if (!isRange) {
        sets.push(typeof low === 'number' ? (code) => code === low : low);
        continue;
      }
      const dash = at;
      at += 1;
      const high = member();
      if (typeof low !== 'number' || typeof high !== 'number' || high < low)
        throw new Fault('a range that is none', dash, String.raw`write \- for the character`);
      sets.push((code) => code >= low && code <= high);
    }
    at += 1;
    const has = folded((code) => sets.some((set) => set(code)));
    return isNegated ? not(has) : has;
  };

  return { parse };
};

/** A set that knows what it has said of ASCII. */
const remembered = (has: CharacterSet): CharacterSet => {
  const known = Uint8Array.from({ length: 0x80 }, (_, code) => (has(code) ? 1 : 0));
  return (code) => (code < 0x80 ? known[code] === 1 : has(code));
};

const globToNode = (glob: string): Node => {
  const all: Node[] = [];
  for (let at = 0; at < glob.length;) {
    const character = textOf(glob.codePointAt(at) ?? 0);
    const close = character === '[' ? glob.indexOf(']', at + (glob.charAt(at + 1) === '!' ? 3 : 2)) : -1;
    if (character === '*') all.push({ part: { has: isAny }, least: 0, most: Infinity });
    else if (character === '?') all.push({ has: isAny });
    else if (close > 0) all.push({ has: globClass(glob.slice(at + 1, close)) });
    else all.push({ has: (code) => code === character.codePointAt(0) });
    at = close > 0 ? close + 1 : at + character.length;
  }
  return { all };
};

const globClass = (written: string): CharacterSet => {
  const isNegated = written.startsWith('!');
  const codes = Array.from(isNegated ? written.slice(1) : written, (character) => character.codePointAt(0) ?? 0);
  const sets: CharacterSet[] = [];
  for (let at = 0; at < codes.length; at += 1) {
    const low = codes[at] ?? 0;
    const high = codes[at + 1] === 0x2d ? codes[at + 2] : undefined;
    sets.push((code) => code >= low && code <= (high ?? low));
    if (high !== undefined) at += 2;
  }
  const has: CharacterSet = (code) => sets.some((set) => set(code));
  return isNegated ? not(has) : has;
};

// The machine.

/** One step: takes a character of a set and goes on, goes on at several places, or only at an anchor. */
type Instruction = {
  readonly has?: CharacterSet;
  readonly to?: readonly number[];
  readonly anchor?: Anchor;
  readonly isEnd?: true;
};

/** A part with a counted repetition is written out as often as it may stand there. */
const compile = (node: Node, largest: number): readonly Instruction[] => {
  const program: Instruction[] = [];
  const put = (instruction: Instruction): number => {
    if (program.length >= largest)
      throw new Fault(
        'a pattern that is too large',
        0,
        `say it with fewer or smaller repetitions; ${largest} steps are possible`,
      );
    return program.push(instruction) - 1;
  };
  const emit = (part: Node): void => {
    if ('has' in part) put({ has: part.has });
    else if ('anchor' in part) put({ anchor: part.anchor });
    else if ('all' in part) for (const each of part.all) emit(each);
    else if ('any' in part) emitAny(part.any);
    else emitRepeated(part.part, part.least, part.most);
  };
  const emitAny = (branches: readonly Node[]): void => {
    const fork = put({});
    const starts: number[] = [];
    const exits: number[] = [];
    for (const branch of branches) {
      starts.push(program.length);
      emit(branch);
      exits.push(put({}));
    }
    program[fork] = { to: starts };
    for (const exit of exits) program[exit] = { to: [program.length] };
  };
  const emitRepeated = (part: Node, least: number, most: number): void => {
    for (let count = 0; count < least; count += 1) emit(part);
    if (most === Infinity) {
      const fork = put({});
      emit(part);
      put({ to: [fork] });
      program[fork] = { to: [fork + 1, program.length] };
      return;
    }
    const forks: number[] = [];
    for (let count = least; count < most; count += 1) {
      forks.push(put({}));
      emit(part);
    }
    for (const fork of forks) program[fork] = { to: [fork + 1, program.length] };
  };
  emit(node);
  program.push({ isEnd: true });
  return program;
};

/** Follows what takes no character; in the order given, each place once. */
const createClosure = (
  program: readonly Instruction[],
): ((places: readonly number[], holds: (anchor: Anchor) => boolean) => number[]) => {
  const seen = new Uint32Array(program.length);
  let turn = 0;
  return (places, holds) => {
    turn += 1;
    const reached: number[] = [];
    const open = places.toReversed();
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (seen[place] === turn) continue;
      seen[place] = turn;
      const instruction = program[place];
      if (instruction?.to !== undefined) for (const next of instruction.to.toReversed()) open.push(next);
      else if (instruction?.anchor === undefined) reached.push(place);
      else if (holds(instruction.anchor)) open.push(place + 1);
    }
    return reached;
  };
};

/** Where a search runs: a part of a text between two edges, each that of the text or of a mark. */
type Field = { readonly text: string; readonly from: number; readonly to: number; readonly edges: Edges };

/**
 * Finds all stretches. A fast pass over the whole knows only whether matches are under way and whether one ends; where one
 * has ended, the stretch in which they were under way is gone over again to see where they began.
 */
const createSearch = (program: readonly Instruction[]): ((field: Field) => readonly Stretch[]) => {
  const watch = createWatch(program);
  const trace = createTrace(program);
  return (field) => {
    const { text, from, to } = field;
    const found: Found[] = [];
    let state = watch.start(field);
    let begin = from;
    let hasEnded = false;
    for (let at = from; at < to;) {
      const code = text.codePointAt(at) ?? 0;
      const { next, ends } = watch.move(state, code, at, field);
      hasEnded ||= ends;
      at += code > 0xffff ? 2 : 1;
      state = next;
      if (state.places.length > 0) continue;
      if (hasEnded) trace(field, begin, at, found);
      begin = at;
      hasEnded = false;
    }
    if (hasEnded || watch.endsAt(state, field)) trace(field, begin, to, found);
    return found;
  };
};

type Found = { readonly start: number; readonly end: number };

/** What stands before a place, as far as an anchor asks. */
type Before = 'start' | 'mark' | 'lineEnd' | 'word' | 'other';

/** Which places of the program are under way, beside that at which a match may begin anywhere; and where it leads. */
type State = {
  readonly places: readonly number[];
  readonly before: Before;
  /** Where the characters of ASCII lead, and all others. */
  readonly moves: (Move | undefined)[];
  readonly wideMoves: Map<number, Move>;
};

type Move = { readonly next: State; readonly ends: boolean };

/** As many states are remembered as most patterns ever have; a text that makes more of them has them made again. */
const MOST_STATES = 1000;

/** Follows a text without knowing where matches began: then what is under way is one of few states. */
const createWatch = (program: readonly Instruction[]) => {
  const closed = createClosure(program);
  const hasAnchor = program.some(({ anchor }) => anchor !== undefined);
  const states = new Map<string, State>();
  const stateOf = (places: readonly number[], before: Before): State => {
    const seen = hasAnchor ? before : 'other';
    const key = `${seen} ${places.join(' ')}`;
    const known = states.get(key);
    if (known !== undefined) return known;
    if (states.size >= MOST_STATES) {
      for (const { moves, wideMoves } of states.values()) {
        moves.fill(undefined);
        wideMoves.clear();
      }
      states.clear();
    }
    const state: State = { places, before: seen, moves: Array.from({ length: 0x80 }), wideMoves: new Map() };
    states.set(key, state);
    return state;
  };
  const reachedBy = ({ places, before }: State, code: number, isLast: boolean, isFree: boolean): readonly number[] =>
    closed([...places, 0], (anchor) => holds(anchor, before, code, isLast, isFree));
  const hasEnd = (reached: readonly number[]): boolean => reached.some((place) => program[place]?.isEnd === true);

  return {
    start: ({ edges }: Field): State => stateOf([], edges.begins ? 'start' : 'mark'),
    /** What a character leads to, and whether a match ends before it. */
    move: (state: State, code: number, at: number, { to, edges }: Field): Move => {
      // The last line feed of a text is the only character that means something else there.
      const isLast = code === 0x0a && at === to - 1 && edges.ends;
      const known = code < 0x80 ? state.moves[code] : state.wideMoves.get(code);
      if (known !== undefined && !isLast) return known;
      const reached = reachedBy(state, code, isLast, true);
      const places = reached.filter((place) => program[place]?.has?.(code) === true).map((place) => place + 1);
      const move = { next: stateOf(places, beforeOf(code)), ends: hasEnd(reached) };
      if (code >= 0x80 && state.wideMoves.size < MOST_STATES) state.wideMoves.set(code, move);
      else if (code < 0x80 && !isLast) state.moves[code] = move;
      return move;
    },
    endsAt: (state: State, { edges }: Field): boolean => hasEnd(reachedBy(state, NOTHING, false, edges.ends)),
  };
};

const beforeOf = (code: number): Before => (code === 0x0a ? 'lineEnd' : isWord(code) ? 'word' : 'other');

/** Stands for the character behind the last one. */
const NOTHING = -1;

/**
 * Whether an anchor holds between what stands before and a character. At the edge of a mark none does: nobody knows what
 * stood there.
 *
 * @param isLast whether it is the last character of the text
 * @param isFree whether the text ends where the character is `NOTHING`
 */
const holds = (anchor: Anchor, before: Before, code: number, isLast: boolean, isFree: boolean): boolean => {
  if (before === 'mark' || (code === NOTHING && !isFree)) return false;
  switch (anchor) {
    case 'textStart':
      return before === 'start';
    case 'textEnd':
      return code === NOTHING;
    case 'lastLineEnd':
      return code === NOTHING || isLast;
    case 'lineStart':
      return before === 'start' || before === 'lineEnd';
    case 'lineEnd':
      return code === NOTHING || code === 0x0a;
    default:
      return ((before === 'word') !== (code !== NOTHING && isWord(code))) === (anchor === 'wordEdge');
  }
};

/**
 * Follows a stretch in which no match begins before and none goes on behind, and adds what is found. Each place of the
 * program is held by the match that began first; those are always followed first, so that who is there first is the one.
 */
const createTrace = (
  program: readonly Instruction[],
): ((field: Field, begin: number, stop: number, found: Found[]) => void) => {
  const seen = new Uint32Array(program.length);
  const open: number[] = [];
  let turn = 0;
  return ({ text, from, to, edges }, begin, stop, found) => {
    /** What is reached where the search stands, and where each of these matches began. */
    let places: number[] = [];
    let starts: number[] = [];
    let before: Before = begin > from ? beforeOf(codeBefore(text, begin)) : edges.begins ? 'start' : 'mark';

    const follow = (place: number, start: number, at: number, code: number): void => {
      open.push(place);
      for (let here = open.pop(); here !== undefined; here = open.pop()) {
        if (seen[here] === turn) continue;
        seen[here] = turn;
        const instruction = program[here];
        if (instruction?.to !== undefined) open.push(...instruction.to);
        else if (instruction?.anchor !== undefined) {
          const isLast = code === 0x0a && at === to - 1 && edges.ends;
          if (holds(instruction.anchor, before, code, isLast, edges.ends)) open.push(here + 1);
        } else if (instruction?.isEnd === true) {
          // Earlier ones that this one reaches into are part of it.
          let first = start;
          for (let last = found.at(-1); last !== undefined && last.end > start; last = found.at(-1)) {
            first = Math.min(first, last.start);
            found.pop();
          }
          found.push({ start: first, end: at });
        } else {
          places.push(here);
          starts.push(start);
        }
      }
    };

    let heldPlaces: readonly number[] = [];
    let heldStarts: readonly number[] = [];
    for (let at = begin; at <= stop;) {
      const code = at < to ? (text.codePointAt(at) ?? 0) : NOTHING;
      turn += 1;
      for (let index = 0; index < heldPlaces.length; index += 1)
        follow(heldPlaces[index] ?? 0, heldStarts[index] ?? 0, at, code);
      if (at === stop) break;
      follow(0, at, at, code);
      const [nextPlaces, nextStarts]: [number[], number[]] = [[], []];
      for (let index = 0; index < places.length; index += 1) {
        const place = places[index] ?? 0;
        if (program[place]?.has?.(code) !== true) continue;
        nextPlaces.push(place + 1);
        nextStarts.push(starts[index] ?? 0);
      }
      heldPlaces = nextPlaces;
      heldStarts = nextStarts;
      places = [];
      starts = [];
      before = beforeOf(code);
      at += code > 0xffff ? 2 : 1;
    }
  };
};

const codeBefore = (text: string, at: number): number => {
  const low = text.charCodeAt(at - 1);
  return low >= 0xdc00 && low <= 0xdfff && at > 1 ? (text.codePointAt(at - 2) ?? low) : low;
};
