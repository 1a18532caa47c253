import type { Json } from './canonical-json.ts';
import { findInCommands } from './secret-commands.ts';
import { findNamed, hasStem } from './secret-names.ts';
import { MARK, type Span } from './secret-scan.ts';
import { findTokens } from './secret-tokens.ts';
import { ruleOf, wordsOf } from './secret-values.ts';

/**
 * Finds secrets in text and takes them out before the text is stored. One search goes by the published prefixes of
 * tokens, one by names such as `password`; each is led by one expression without repetition, and a short text without a
 * trigger does not even need that. What is looked at behind a trigger is either taken out, and then skipped, or bounded,
 * or ends where the next trigger of its kind begins. So the work grows linearly with the text, whoever wrote it.
 *
 * A name alone is no proof: "token: an integer", `token = getToken()` and `password: string` must survive. What stands
 * behind a name is judged by how it is written there; see `looksSecret`.
 */

/** How often each rule fired, by its name in kebab case; only rules that fired, in the order of the text. */
type Found = Readonly<Record<string, number>>;

/**
 * Replaces each secret in a text by `[REDACTED]` and counts them by rule. A password in a URL, a header and a name with
 * its value keep what is around the secret. Redacting twice is the same as redacting once.
 */
export function redact(text: string): { readonly text: string; readonly found: Found } {
  const found: Record<string, number> = {};
  let clean = text;
  // What was glued to a secret may be one too, and only stands free when that is gone. More passes than these only
  // serve somebody who counts on them.
  for (let pass = 0; pass < 4; pass += 1) {
    const spans: Span[] = [];
    findTokens(clean, spans);
    findNamed(clean, spans);
    findInCommands(clean, spans);
    if (spans.length === 0) break;
    clean = replaced(clean, spans, found);
  }
  return { text: clean, found };
}

/** Tokens come first in `spans` and the sort is stable, so a token behind a name counts as that token. */
function replaced(text: string, spans: readonly Span[], found: Record<string, number>): string {
  let clean = '';
  let end = 0;
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    if (span.start >= end) {
      clean += text.slice(end, span.start) + MARK;
      found[span.rule] = (found[span.rule] ?? 0) + 1;
    }
    end = Math.max(end, span.end);
  }
  return clean + text.slice(end);
}

/**
 * Redacts every string of a JSON value, keys included, and leaves the rest and the order of keys as they are. A string
 * whose key names a secret is taken out whole, as `assigned-secret`. A key that would become equal to an earlier one
 * gets a number behind it. A value without secrets is returned itself. Any depth will do.
 */
export function redactJson(value: Json): { readonly value: Json; readonly found: Found } {
  const found: Record<string, number> = {};
  let renamed = 1;
  const redactText = (text: string): string => {
    const clean = redact(text);
    for (const [rule, count] of Object.entries(clean.found)) found[rule] = (found[rule] ?? 0) + count;
    return clean.text;
  };

  /** The containers from the root to where the walk stands, each with how far its members are copied. */
  const path: Frame[] = [];
  const copied = (from: Json, name: readonly string[]): Json => {
    if (typeof from === 'string') {
      const rule = name.length === 0 ? undefined : ruleOf(from, 'quoted', name, '');
      if (rule === undefined) return redactText(from);
      found[rule] = (found[rule] ?? 0) + 1;
      return MARK;
    }
    if (from === null || typeof from !== 'object') return from;
    const frame: Frame = Array.isArray(from)
      ? { to: [], name, members: from.map((item): Member => ['', item]), next: 0 }
      : { to: {}, name, members: Object.entries(from), next: 0 };
    path.push(frame);
    return frame.to;
  };

  const copy = copied(value, []);
  for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
    const member = frame.members[frame.next];
    frame.next += 1;
    if (member === undefined) {
      path.pop();
    } else if (Array.isArray(frame.to)) {
      frame.to.push(copied(member[1], frame.name));
    } else {
      const clean = redactText(member[0]);
      const key = Object.hasOwn(frame.to, clean) ? `${clean} ${(renamed += 1)}` : clean;
      const child = copied(member[1], hasStem(clean) ? wordsOf(clean) : []);
      // Assigning to `__proto__` would not make a member.
      Object.defineProperty(frame.to, key, { value: child, writable: true, enumerable: true, configurable: true });
    }
  }
  return Object.keys(found).length === 0 ? { value, found } : { value: copy, found };
}

type Member = readonly [key: string, value: Json];

type Frame = {
  readonly to: Json[] | Record<string, Json>;
  readonly name: readonly string[];
  readonly members: readonly Member[];
  next: number;
};
