import type { Json } from './canonical-json.ts';
import { parsePaths, parsePattern, type PathState, type PatternFault } from './linear-pattern.ts';
import { type ExtraRules, type PathRules, redact, redactJson } from './redact.ts';
import { err, ok, type Result } from './result.ts';
import type { Vocabulary } from './secret-names.ts';
import { MARK, type Stretch } from './secret-scan.ts';
import { isPlaceholder, wordsOf } from './secret-values.ts';

/** What a project says about redaction beyond the common rules. */
export type RedactionLists = {
  /** What stays as it is, with all below: shell patterns of paths such as `bundle.documents.*`. */
  readonly allowPaths?: readonly string[];
  /** What is taken out whole. Where a path is allowed too, it stays. */
  readonly denyPaths?: readonly string[];
  /** What names of secrets hold, however they are written. Any value behind such a name is one. */
  readonly keywords?: readonly string[];
  /** Regular expressions of `parsePattern`; all that matches is taken out. */
  readonly patterns?: readonly string[];
};

/** What a caller has to find again in what is redacted, as paths; no list of a policy overrules them. */
export type RedactionForm = {
  /** What stays as it is, as digests and file names do. Of an object or a list that it stays one. */
  readonly fixed?: readonly string[];
  /** What is redacted, but not replaced: an object or a list stays one, and a text keeps the lines that are headings. */
  readonly shaped?: readonly string[];
};

/** What is wrong with an entry of a list. */
export type PolicyFault = PatternFault & { readonly list: keyof RedactionLists; readonly index: number };

/** The redaction with a policy: the common rules and those of its lists. */
export type RedactionPolicy = {
  /** See `redact`. */
  readonly redact: (text: string) => ReturnType<typeof redact>;
  /** See `redactJson`; the paths of the policy begin with `root`. */
  readonly redactJson: (value: Json, root: string) => ReturnType<typeof redactJson>;
};

/** Reads the lists of a policy. All that is wrong with them is told at once. */
export const createRedactionPolicy = (
  lists: RedactionLists,
  form: RedactionForm = {},
): Result<RedactionPolicy, readonly PolicyFault[]> => {
  const faults: PolicyFault[] = [];
  const patterns = (lists.patterns ?? []).flatMap((source, index) => {
    const pattern = parsePattern(source);
    if (pattern.ok) return [{ rule: `extra-regex-${index + 1}`, find: pattern.value.find }];
    faults.push({ list: 'patterns', index, ...pattern.error });
    return [];
  });
  const keywords = (lists.keywords ?? []).map((keyword, index) => {
    const words = wordsOf(keyword);
    if (words.length === 0)
      faults.push({ list: 'keywords', index, construct: 'a keyword without a letter', at: 0, hint: 'write a name' });
    return words;
  });
  if (faults.length > 0) return err(faults);

  const extra: ExtraRules = {
    names: keywords.length === 0 ? undefined : vocabularyOf(keywords),
    find: (text, spans) => {
      if (patterns.length === 0) return;
      const pieces = piecesOf(text);
      for (const { rule, find } of patterns) {
        for (const { start, end } of pieces) {
          const edges = { begins: start === 0, ends: end === text.length };
          for (const stretch of find(text, start, end, edges)) spans.push({ ...stretch, rule });
        }
      }
    },
    paths: pathsOf(lists, form),
    headings,
  };
  return ok({
    redact: (text) => redact(text, extra),
    redactJson: (value, root) => redactJson(value, extra, root),
  });
};

/** What is left of a text between the marks: what was taken out there has no part in what is found later. */
const piecesOf = (text: string): readonly Stretch[] => {
  const pieces: Stretch[] = [];
  let start = 0;
  for (let mark = text.indexOf(MARK); mark >= 0; mark = text.indexOf(MARK, start)) {
    pieces.push({ start, end: mark });
    start = mark + MARK.length;
  }
  return [...pieces, { start, end: text.length }];
};

/** A name is one when it holds the words of a keyword; `resume_code` is in `RESUME-CODE` and in `lastResumeCode`. */
const vocabularyOf = (keywords: readonly (readonly string[])[]): Vocabulary => {
  const joined = keywords.map((words) => words.join(''));
  // The words of a name are letters and digits of ASCII: nothing in them means something else in an expression.
  const trigger = new RegExp(keywords.map((words) => words.join('[-_.]?')).join('|'), 'gi');
  return {
    trigger,
    isName: (words) => {
      const name = words.join('');
      return joined.some((keyword) => name.includes(keyword));
    },
    // Whoever named it wants it gone, whatever it looks like.
    ruleOf: (value, _shape, name) =>
      value !== '' &&
      !value.includes(MARK.slice(0, -1)) &&
      !isPlaceholder(value) &&
      joined.some((keyword) => name.join('').includes(keyword))
        ? 'sensitive-key'
        : undefined,
  };
};

/** The lines of a Markdown document that begin a section. */
const headings = (text: string): readonly Stretch[] =>
  Array.from(text.matchAll(/^#{1,6}[ \t].*$/gm), ({ 0: line, index }) => ({ start: index, end: index + line.length }));

/** Follows all paths of the lists at once, key by key, so that a path is not matched anew at each place below it. */
const pathsOf = (lists: RedactionLists, form: RedactionForm): ExtraRules['paths'] => {
  const allow = parsePaths(lists.allowPaths ?? []);
  const deny = parsePaths(lists.denyPaths ?? []);
  const fixed = parsePaths(form.fixed ?? []);
  const shaped = parsePaths(form.shaped ?? []);
  const rulesAt = (states: PathStates): PathRules => ({
    verdict: allow.accepts(states.allow) ? 'allow' : deny.accepts(states.deny) ? 'deny' : undefined,
    form: fixed.accepts(states.fixed) ? 'fixed' : shaped.accepts(states.shaped) ? 'shaped' : undefined,
    child: (key) => stepped(states, `.${key}`),
  });
  const stepped = (states: PathStates, piece: string): PathRules =>
    rulesAt({
      allow: allow.step(states.allow, piece),
      deny: deny.step(states.deny, piece),
      fixed: fixed.step(states.fixed, piece),
      shaped: shaped.step(states.shaped, piece),
    });
  return (root) => stepped({ allow: allow.start, deny: deny.start, fixed: fixed.start, shaped: shaped.start }, root);
};

type PathStates = Readonly<Record<'allow' | 'deny' | 'fixed' | 'shaped', PathState>>;
