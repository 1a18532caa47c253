import type { Json } from './canonical-json.ts';
import { findInCommands } from './secret-commands.ts';
import { commonNames, findNamed, hasStem, type Vocabulary } from './secret-names.ts';
import { MARK, SHORT, type Span, type Stretch } from './secret-scan.ts';
import { findTokens } from './secret-tokens.ts';
import { wordsOf } from './secret-values.ts';

/**
 * Finds secrets in text and takes them out before the text is stored or leaves. One search goes by the published prefixes
 * of tokens, one by names such as `password`, one by programs that are given a password; each is led by one expression
 * without repetition, and a short text without a trigger does not even need that. What is looked at behind a trigger is
 * either taken out, and then skipped, or bounded, or ends where the next trigger of its kind begins. So the work grows
 * linearly with the text, whoever wrote it.
 */

/** How often each rule fired, by its name in kebab case; only rules that fired, in the order of the text. */
type Found = Readonly<Record<string, number>>;

/** What there is to redact beyond the common rules, and what is to stay: what a policy comes to. */
export type ExtraRules = {
  /** Names that are those of secrets too. */
  readonly names: Vocabulary | undefined;
  /** Adds what is a secret in a text too. */
  readonly find: (text: string, spans: Span[]) => void;
  /** What is said of the path that begins with this name. */
  readonly paths: (root: string) => PathRules;
  /** The lines that stay in one piece in a text whose form matters. */
  readonly headings: (text: string) => readonly Stretch[];
};

/** What is said of one place in a JSON value. */
export type PathRules = {
  readonly verdict: 'allow' | 'deny' | undefined;
  readonly form: 'fixed' | 'shaped' | undefined;
  readonly child: (key: string) => PathRules;
};

/**
 * Replaces each secret in a text by `[REDACTED]` and counts them by rule. A password in a URL, a header and a name with
 * its value keep what is around the secret. Redacting twice is the same as redacting once.
 *
 * @param keeps the lines that stay in one piece: a secret that reaches over them is taken out around them
 */
export function redact(
  text: string,
  extra?: ExtraRules,
  keeps?: ExtraRules['headings'],
): { readonly text: string; readonly found: Found } {
  const found: Record<string, number> = {};
  let clean = text;
  // What was glued to a secret may be one too, and only stands free when that is gone. More passes than these only
  // serve somebody who counts on them.
  for (let pass = 0; pass < 4; pass += 1) {
    const spans: Span[] = [];
    findTokens(clean, spans);
    if (clean.length > SHORT || hasStem(clean)) findNamed(clean, commonNames, spans);
    findInCommands(clean, spans);
    if (extra?.names !== undefined) findNamed(clean, extra.names, spans);
    extra?.find(clean, spans);
    if (spans.length === 0) break;
    clean = replaced(clean, keeps === undefined ? spans : around(clean, spans, keeps(clean)), found);
  }
  return { text: clean, found };
}

/** Tokens come first in `spans` and the sort is stable, so a token behind a name counts as that token. */
function replaced(text: string, spans: readonly Span[], found: Record<string, number>): string {
  let clean = '';
  let end = 0;
  for (const span of spans.toSorted(byStart)) {
    if (span.start >= end) {
      clean += text.slice(end, span.start) + MARK;
      count(found, span.rule);
    }
    end = Math.max(end, span.end);
  }
  return clean + text.slice(end);
}

const byStart = (a: Span, b: Span): number => a.start - b.start;

const count = (found: Record<string, number>, rule: string, times = 1): void => {
  found[rule] = (found[rule] ?? 0) + times;
};

/** The stretches without the lines that they reach over; what is blank then, or redacted already, is none. */
function around(text: string, spans: readonly Span[], kept: readonly Stretch[]): readonly Span[] {
  const pieces: Span[] = [];
  const add = (start: number, end: number, rule: string): void => {
    const piece = text.slice(start, end);
    const from = start + piece.length - piece.trimStart().length;
    const to = start + piece.trimEnd().length;
    if (to > from && piece.trim() !== MARK) pieces.push({ start: from, end: to, rule });
  };
  let first = 0;
  for (const { start, end, rule } of spans.toSorted(byStart)) {
    while ((kept[first]?.end ?? Number.POSITIVE_INFINITY) <= start) first += 1;
    let at = start;
    for (
      let line = kept[first], next = first + 1;
      line !== undefined && line.start < end;
      line = kept[next], next += 1
    ) {
      if (line.start <= start && line.end >= end) break;
      // What begins within a line takes the rest of it along.
      add(at, line.start < start ? line.end : line.start, rule);
      at = line.end;
    }
    add(at, end, rule);
  }
  return pieces;
}

/**
 * Redacts every string of a JSON value, keys included, and leaves the rest and the order of keys as they are. A string
 * whose key names a secret is taken out whole, as is what stands beside such a name as its `value`, or behind it as an
 * argument. A key that would become equal to an earlier one gets a number behind it. A value without secrets is returned
 * itself. Any depth will do.
 *
 * Of the extra rules, paths decide first: what is allowed stays with all below, what is denied becomes one mark. What has
 * a form is never replaced as a whole, whatever else is said.
 *
 * @param root what the paths of the extra rules begin with
 */
export function redactJson(
  value: Json,
  extra?: ExtraRules,
  root = '',
): { readonly value: Json; readonly found: Found } {
  const found: Record<string, number> = {};
  let renamed = 1;
  const redactText = (text: string, keeps?: ExtraRules['headings']): string => {
    const clean = redact(text, extra, keeps);
    for (const [rule, times] of Object.entries(clean.found)) count(found, rule, times);
    return clean.text;
  };
  const marked = (from: Json, rule: string): Json => {
    if (from !== MARK) count(found, rule);
    return MARK;
  };
  const isName = (words: readonly string[]): boolean =>
    commonNames.isName(words) || extra?.names?.isName(words) === true;
  const nameOf = (written: string): readonly string[] =>
    extra?.names !== undefined || hasStem(written) ? wordsOf(written) : [];

  /** The containers from the root to where the walk stands, each with how far its members are copied. */
  const path: Frame[] = [];
  const copied = (from: Json, name: readonly string[], rules: PathRules | undefined, isDenied: boolean): Json => {
    if (rules?.verdict === 'allow') return from;
    const isContainer = from !== null && typeof from === 'object';
    if (rules?.form === 'fixed' && !isContainer) return from;
    const denies = isDenied || rules?.verdict === 'deny';
    if (denies && rules?.form === undefined) return marked(from, 'deny-path');
    if (isContainer) {
      const frame: Frame = {
        to: Array.isArray(from) ? [] : {},
        members: membersOf(from, name),
        next: 0,
        rules,
        denies,
      };
      path.push(frame);
      return frame.to;
    }
    if (rules?.form !== undefined) {
      if (typeof from !== 'string') return from;
      if (!denies) return redactText(from, extra?.headings);
      const whole = { start: 0, end: from.length, rule: 'deny-path' };
      return replaced(from, around(from, [whole], extra?.headings(from) ?? []), found);
    }
    if (typeof from === 'number' && extra?.names?.isName(name) === true) return marked(from, 'sensitive-key');
    if (typeof from !== 'string') return from;
    const rule =
      name.length === 0
        ? undefined
        : (commonNames.ruleOf(from, 'quoted', name, '') ?? extra?.names?.ruleOf(from, 'quoted', name, ''));
    return rule === undefined ? redactText(from) : marked(from, rule);
  };

  const membersOf = (from: readonly Json[] | Readonly<Record<string, Json>>, name: readonly string[]): Member[] => {
    if (Array.isArray(from)) {
      return from.map((item: Json, index) => {
        const before: Json | undefined = from[index - 1];
        const flag = typeof before === 'string' && /^--?[\w-]+$/.test(before) ? nameOf(before) : [];
        const isArgument = isName(flag) && typeof item === 'string' && !item.startsWith('-');
        return [String(index), item, isArgument ? flag : name];
      });
    }
    const members = Object.entries(from);
    const label = members.some(([key]) => VALUE.test(key)) ? members.find(([key]) => LABEL.test(key))?.[1] : undefined;
    const labelled = typeof label === 'string' ? nameOf(redact(label, extra).text) : [];
    return members.map(([key, member]) => [key, member, VALUE.test(key) && isName(labelled) ? labelled : undefined]);
  };

  const copy = copied(value, [], extra?.paths(root), false);
  for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
    const member = frame.members[frame.next];
    frame.next += 1;
    if (member === undefined) {
      path.pop();
      continue;
    }
    const [key, from, name] = member;
    const rules = frame.rules?.child(key);
    if (Array.isArray(frame.to)) {
      frame.to.push(copied(from, name ?? [], rules, frame.denies));
      continue;
    }
    const clean = rules?.form !== undefined || rules?.verdict === 'allow' ? key : redactText(key);
    const free = Object.hasOwn(frame.to, clean) ? `${clean} ${(renamed += 1)}` : clean;
    const child = copied(from, name ?? nameOf(clean), rules, frame.denies);
    // Assigning to `__proto__` would not make a member.
    Object.defineProperty(frame.to, free, { value: child, writable: true, enumerable: true, configurable: true });
  }
  return Object.keys(found).length === 0 ? { value, found } : { value: copy, found };
}

/** What in an object says the name of what stands beside it, and how that is called. */
const LABEL = /^(?:name|key|header|variable|field)$/i;
const VALUE = /^val(?:ue)?$/i;

/** Without a name it is that of the key. */
type Member = readonly [key: string, value: Json, name: readonly string[] | undefined];

type Frame = {
  readonly to: Json[] | Record<string, Json>;
  readonly members: readonly Member[];
  readonly rules: PathRules | undefined;
  readonly denies: boolean;
  next: number;
};
