import {
  HEAD,
  isBase64,
  isLinePart,
  type IsPart,
  isSpace,
  isUrlSafe,
  isWord,
  MARK,
  runEnd,
  type Span,
  type Stretch,
  trimmedEnd,
} from './secret-scan.ts';
import {
  isBasic,
  isPlaceholder,
  isReference,
  isSecretName,
  LONGEST_NAME,
  looksChosen,
  ruleOf,
  type Shape,
  wordsOf,
} from './secret-values.ts';

/** Secrets that go by what somebody calls them: a name such as `password`, and what stands behind it. */

/** The stems of all names that may name a secret, and the two schemes of HTTP that carry one. */
const NAME_STEMS = ['pass', 'pwd', 'secret', 'token', 'key', 'auth', 'cred', 'cookie', 'bearer', 'basic'];

/** What names a secret, and how a value behind such a name is judged. */
export type Vocabulary = {
  /** What stands in every such name; a global expression. */
  readonly trigger: RegExp;
  /** Whether the words of a name name a secret. */
  readonly isName: (words: readonly string[]) => boolean;
  /** The rule by which a value is a secret. */
  readonly ruleOf: typeof ruleOf;
};

/** The names that everybody uses. */
export const commonNames: Vocabulary = {
  trigger: new RegExp(NAME_STEMS.join('|'), 'gi'),
  isName: isSecretName,
  ruleOf,
};

/** Behind a name: what closes it, the sign, and emphasis and white space in front of the value. */
const SIGN =
  /(?:\[(?!REDACTED)\w{0,16}\])?[\\"'`*\])]{0,6}([ \t]{0,16})(:=|[?+]=|={1,3}>?|:(?!:))\*{0,2}([ \t]{0,16})/y;

/** The type between a name and the value that is assigned to it. */
const TYPE = /[&*]?[A-Za-z_][\w.<>[\]?|&, ]{0,60}=[ \t]{0,4}(?=["'`])/y;

/** The opening quote of a value, behind a prefix as in Python, and as written inside another string. */
const OPENING = /[bBrRuUfF@$]{0,2}(\\{0,3}["'`])/y;

/** Adds the values of a text that stand behind the name of a secret to `spans`, in their order. */
export function findNamed(text: string, names: Vocabulary, spans: Span[]): void {
  const { trigger } = names;
  const look: Look = { text, names, bareEnd: createBareEnd(text), known: new Map() };
  trigger.lastIndex = 0;
  for (let hit = trigger.exec(text); hit !== null; hit = trigger.exec(text)) {
    const resume = runEnd(text, hit.index, isNamePart);
    let end = resume;
    while (!isWord(text.charCodeAt(end - 1))) end -= 1;
    const span = findValue(look, nameStart(text, end), end);
    if (span !== undefined) spans.push(span);
    // A name behind `bearer` may have a value of its own.
    trigger.lastIndex = span !== undefined && !isOfScheme(span) ? Math.max(resume, span.end) : resume;
  }
}

/** A text that is searched, and by what names. */
type Look = {
  readonly text: string;
  readonly names: Vocabulary;
  readonly bareEnd: BareEnd;
  /** The words of the names that were met: most come again and again. */
  readonly known: Map<string, readonly string[]>;
};

const isOfScheme = ({ rule }: Span): boolean => rule === 'bearer-token' || rule === 'basic-auth';

/** Whether a text has the beginning of such a name at all. */
export function hasStem(text: string): boolean {
  const lower = text.toLowerCase();
  return NAME_STEMS.some((stem) => lower.includes(stem));
}

const isNamePart: IsPart = (unit) => isUrlSafe(unit) || unit === 0x2e;

/** Where the name that ends before `end` begins; of a long one only what counts. */
function nameStart(text: string, end: number): number {
  let start = end;
  while (end - start < LONGEST_NAME && isNamePart(text.charCodeAt(start - 1))) {
    // In `\npassword`, as a string literal has it, the name is `password`.
    if (text.charAt(start - 2) === '\\' && /[nrt]/.test(text.charAt(start - 1))) break;
    start -= 1;
  }
  return start;
}

/** What may stand behind a name that has no sign. */
const BEHIND_NAME = ' \t>"\'`\\\n\r|*';

/** The secret that belongs to the name from `start` to `end`, if it names one and one is there. */
function findValue(look: Look, start: number, end: number): Span | undefined {
  const { text, names, bareEnd, known } = look;
  const written = text.slice(start, end);
  const scheme = /(?<!\w)(?:bearer|basic)$/i.exec(written)?.[0].toLowerCase();
  if (scheme !== undefined) return findCredential(text, end, scheme, false);

  SIGN.lastIndex = end;
  const sign = SIGN.exec(text);
  if (sign === null && (end === text.length || !BEHIND_NAME.includes(text.charAt(end)))) return undefined;
  // "API key", as prose has it, is a name of two words.
  const before =
    text.charCodeAt(start - 1) === 0x20
      ? (/[A-Za-z]{1,16} $/.exec(text.slice(Math.max(0, start - 17), start))?.[0] ?? '')
      : '';
  const name = known.get(before + written) ?? wordsOf(before + written);
  known.set(before + written, name);
  if (sign === null) return names.isName(name) ? findUnsigned(look, start, end, name) : undefined;

  let from = SIGN.lastIndex;
  // RFC 9110 section 11.4: the name of a scheme, and behind it what it needs.
  if (name.at(-1) === 'authorization') {
    SCHEME.lastIndex = from;
    const ofHeader = SCHEME.exec(text)?.[1]?.toLowerCase();
    if (ofHeader !== undefined) return findCredential(text, SCHEME.lastIndex, ofHeader, true);
  }
  let shape: Shape = sign[1] === '' && sign[3] === '' ? 'assigned' : 'spaced';
  if (sign[2] === ':') {
    // `DB_PASSWORD: word` is how a configuration sets a variable.
    shape = /^[A-Z0-9]+_[A-Z0-9_]+$/.test(written) ? 'assigned' : 'listed';
    TYPE.lastIndex = from;
    if (TYPE.test(text)) from = TYPE.lastIndex;
    BLOCK.lastIndex = from;
    const indent = BLOCK.exec(text)?.[1];
    if (indent !== undefined) return names.isName(name) ? findBlock(look, BLOCK.lastIndex, indent, name) : undefined;
    if (name.at(-1) === 'cookie') return findCookies(look, from, name);
  }
  const value = valueAt(text, from, shape, bareEnd);
  const content = headOf(text, value);
  // What is compared with a name, or returned for it, is code, unless it is a literal that is no word.
  const isBare = value.shape !== 'quoted';
  const isCode = sign[2] === '=>' ? isBare : (sign[2] ?? '').includes('==') && (isBare || /^[A-Za-z]+$/.test(content));
  return isCode ? undefined : judged(look, value, name);
}

type Value = Stretch & { readonly shape: Shape };

/** A value as what is to be replaced, if it is a secret behind that name. */
function judged({ text, names }: Look, { start, end, shape }: Value, name: readonly string[]): Span | undefined {
  const rule = names.ruleOf(headOf(text, { start, end }), shape, name, text.slice(end, end + 32));
  return rule === undefined ? undefined : { start, end, rule };
}

/** The first cookie of a header, and its value with all that follows. */
const COOKIE = /[\w.-]{1,64}=/y;

/** All cookies of a header but the name of the first, if one looks like a session; judged by the beginning. */
function findCookies(look: Look, from: number, name: readonly string[]): Span | undefined {
  COOKIE.lastIndex = from;
  if (!COOKIE.test(look.text)) return undefined;
  const start = COOKIE.lastIndex;
  const span = judged(look, { start, end: runEnd(look.text, start, isCookiePart, HEAD), shape: 'listed' }, name);
  return span === undefined ? undefined : { ...span, end: runEnd(look.text, span.end, isCookiePart) };
}

const isCookiePart: IsPart = (unit) => isLinePart(unit) && unit !== 0x22 && unit !== 0x27 && unit !== 0x5c;

/** A value that stands in the lines behind its name, further in, as in YAML. */
const BLOCK = /[|>][+-]?[ \t]{0,8}\r?\n([ \t]{1,64})(?=\S)/y;

function findBlock(look: Look, start: number, indent: string, name: readonly string[]): Span | undefined {
  const { text } = look;
  let end = runEnd(text, start, isLinePart);
  if (judged(look, { start, end, shape: 'assigned' }, name) === undefined) return undefined;
  while (text.startsWith(`\n${indent}`, end)) end = runEnd(text, end + 1, isLinePart);
  return { start, end, rule: 'assigned-secret' };
}

/**
 * Where a name and its value belong together without a sign, by what stands between them: a member that is called
 * `value`, an argument of its own, a cell of a table, a line of `.netrc`, "is".
 */
type Bond = {
  /** Whether it may be one, by the name as it is written, what stands before it and what behind; no expression is needed. */
  readonly mayHold: (written: string, before: string, behind: string) => boolean;
  readonly behind: RegExp;
  /** What has to stand before the name. */
  readonly before?: RegExp;
  readonly shape: Shape;
  /** Whether its value has to look more like a password than most. */
  readonly isProse?: true;
};

const BONDS: readonly Bond[] = [
  {
    mayHold: (_written, _before, behind) => behind.toLowerCase().includes('val'),
    behind:
      /\\{0,3}["'`]?[ \t,]{0,16}(?:\r?\n[ \t,]{0,64})?\\{0,3}["'`]?val(?:ue)?\\{0,3}["'`]?[ \t]{0,16}[:=][ \t]{0,16}/iy,
    shape: 'assigned',
  },
  {
    mayHold: (written, _before, behind) => written.startsWith('-') && behind.includes(','),
    behind: /\\{0,3}["'`][ \t]{0,16},[ \t]{0,16}(?:\r?\n[ \t]{0,64})?(?=\\{0,3}["'`][^-])/y,
    shape: 'quoted',
  },
  {
    mayHold: (written, before, behind) => isPassword(written) && before.includes('|') && behind.includes('|'),
    behind: /[ \t`*]{0,64}\|[ \t]{0,64}/y,
    before: /\|[ \t`*]*$/,
    shape: 'listed',
    isProse: true,
  },
  {
    mayHold: (written, before) => written === 'password' && before.includes('login'),
    behind: /[ \t]{1,16}(?!is\b)/y,
    before: /\blogin[ \t]+\S+[ \t]+$/,
    shape: 'assigned',
  },
  {
    mayHold: (written, _before, behind) => isPassword(written) && behind.trimStart().startsWith('is'),
    behind: /[ \t]{1,4}is[ \t]{1,4}/y,
    shape: 'spaced',
    isProse: true,
  },
  {
    mayHold: (written) => written.startsWith('-') || /^[A-Z][A-Z0-9_]+$/.test(written),
    behind: /[ \t]{1,16}(?!-)/y,
    shape: 'followed',
  },
];

const isPassword = (written: string): boolean => written.toLowerCase().startsWith('pass');

/** A value without a sign: `<password>value</password>`, `--token value`, `ENV PASSWORD value`, and the like. */
function findUnsigned(look: Look, start: number, end: number, name: readonly string[]): Span | undefined {
  const { text, bareEnd } = look;
  if (text.charAt(end) === '>') {
    if (text.charAt(start - 1) !== '<') return undefined;
    const close = runEnd(text, end + 1, (unit) => unit !== 0x3c && unit !== 0x0a && !Number.isNaN(unit));
    return text.startsWith('</', close)
      ? judged(look, { start: end + 1, end: close, shape: 'quoted' }, name)
      : undefined;
  }
  const written = text.slice(start, end);
  const before = text.slice(Math.max(0, start - 80), start);
  const after = text.slice(end, end + 120);
  const bond = BONDS.find((each) => {
    each.behind.lastIndex = end;
    return each.mayHold(written, before, after) && each.behind.test(text) && each.before?.test(before) !== false;
  });
  if (bond === undefined) return undefined;
  const value = valueAt(text, bond.behind.lastIndex, bond.shape, bareEnd);
  return bond.isProse === true && !looksChosen(headOf(text, value)) ? undefined : judged(look, value, name);
}

const SCHEME =
  /(?:\\{0,3}["'`])?(bearer|basic|token|apikey|api-key|key|bot|ssws|digest|negotiate|hmac|oauth|aws4-hmac-sha256)(?=[ \t])/iy;

/** The credential behind a scheme. Outside a header "bearer of bad news" and "basic auth" are prose. */
function findCredential(text: string, from: number, scheme: string, isHeader: boolean): Span | undefined {
  const start = runEnd(text, from, isSpace, 16);
  if (start === from) return undefined;
  const head = text.slice(start, start + HEAD);
  if (head.startsWith(MARK) || isPlaceholder(/^\S*/.exec(head)?.[0] ?? '')) return undefined;
  // What is the name of a secret is no credential: what stands behind it is one.
  const named = (/^([A-Za-z][\w-]*)[ \t]{0,16}[:=]/.exec(head) ?? /^--([A-Za-z][\w-]*)[ \t]/.exec(head))?.[1];
  if (named !== undefined && isSecretName(wordsOf(named))) return undefined;
  // What a server asks for names its parameters.
  if (/^[a-z_]+=["\\]/.test(head) && scheme === 'bearer') return undefined;
  // These schemes have a list of parameters; the signature is among them.
  const isList = /^(?:digest|hmac|oauth|aws4)/.test(scheme);
  const end = isList
    ? runEnd(text, start, (unit) => isLinePart(unit) && unit !== 0x27 && unit !== 0x5c)
    : trimmedEnd(text, start, runEnd(text, start, isCredentialPart));
  const credential = text.slice(start, Math.min(end, start + 513));
  if (credential.length < 6) return undefined;
  const rule = { bearer: 'bearer-token', basic: 'basic-auth' }[scheme] ?? 'assigned-secret';
  // A header ends its line or its literal; "authorization: bearer tokens are accepted" goes on.
  if (isHeader) {
    const isProse =
      /^[A-Za-z]+(?:-[A-Za-z]+)*$/.test(credential) && !/^(?:$|[\n\r"'`\\])/.test(text.slice(end, end + 1));
    return isProse ? undefined : { start, end, rule };
  }
  const isMadeUp = /\d|[a-z][A-Z]|[_/+=]|^[^-]{24}/.test(credential) && !isReference(credential, 'listed', '');
  return (scheme === 'basic' ? isBasic(credential) : isMadeUp) ? { start, end, rule } : undefined;
}

/** token68 of RFC 9110. */
const isCredentialPart: IsPart = (unit) => isBase64(unit) || isUrlSafe(unit) || unit === 0x2e || unit === 0x7e;

/** Where the value at `from` lies; a quoted one without its quotes, whole. */
function valueAt(text: string, from: number, shape: Shape, bareEnd: BareEnd): Value {
  OPENING.lastIndex = from;
  const quote = OPENING.exec(text)?.[1];
  if (quote === undefined) return { start: from, end: bareEnd(from), shape };
  const start = OPENING.lastIndex;
  const end = closingQuote(text, start, quote);
  if (end !== undefined) return { start, end, shape: 'quoted' };
  // A text that was cut off; but a single quote may as well be an apostrophe, and a double one the end of a literal.
  const isCutOff = quote.endsWith('"') && isWord(text.charCodeAt(start));
  if (isCutOff) return { start, end: runEnd(text, start, isLinePart), shape: 'quoted' };
  return { start, end: bareEnd(start), shape };
}

/** Where the quote that was opened before `from` closes on the same line. */
function closingQuote(text: string, from: number, quote: string): number | undefined {
  for (let at = from; isLinePart(text.charCodeAt(at)); at += 1) {
    if (text.startsWith(quote, at)) return at;
    if (quote.length === 1 && text.charAt(at) === '\\') at += 1;
  }
  return undefined;
}

type BareEnd = (from: number) => number;

/**
 * Finds where values without quotes end: at white space, a quote, an angle bracket or an escape, and at a comma,
 * semicolon or ampersand behind which another value or nothing follows. The ends of sentences and brackets do not
 * belong to a value. Names may follow each other without a space, and then their values end at the same place, which is
 * looked for once.
 */
function createBareEnd(text: string): BareEnd {
  let first = 0;
  let stop = -1;
  let end = -1;
  return (from) => {
    if (from < first || from > stop) {
      first = from;
      stop = from;
      while (stop < text.length && !isStop(text, stop)) stop += 1;
      end = stop;
      while (end > from && /[.,:;)\]}]/.test(text.charAt(end - 1))) end -= 1;
    }
    return Math.max(from, end);
  };
}

function isStop(text: string, at: number): boolean {
  const character = text.charAt(at);
  if (/[\s"'`<>]/.test(character)) return true;
  if (character === '\\') return /[nrtu"'`\\]/.test(text.charAt(at + 1));
  return /[,;&]/.test(character) && /^.(?:[\s,;&"'`}\])]|$|[\w.-]{1,40}[=:]|amp;)/.test(text.slice(at, at + 44));
}

const headOf = (text: string, value: Stretch): string =>
  text.slice(value.start, Math.min(value.end, value.start + HEAD));
