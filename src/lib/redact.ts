import type { Json } from './canonical-json.ts';

/**
 * Finds secrets in text and takes them out before the text is stored. One search goes by the published prefixes of
 * tokens, one by names such as `password`; each is led by one expression without repetition, and a short text without a
 * trigger does not even need that. What is looked at behind a trigger is either taken out, and then skipped, or bounded,
 * or ends where the next trigger of its kind begins. So the work grows linearly with the text, whoever wrote it.
 *
 * A name alone is no proof: "token: an integer", `token = getToken()` and `password: string` must survive. What stands
 * behind a name is judged by how it is written there; see `looksSecret`.
 */

/** What stands where a secret was. */
const MARK = '[REDACTED]';

/** The same without the bracket, which as the end of a value does not count as part of it. */
const BARE_MARK = '[REDACTED';

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
      if (!isSecretName(name) || !looksSecret(from, 'quoted', name, '')) return redactText(from);
      found['assigned-secret'] = (found['assigned-secret'] ?? 0) + 1;
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

/** A stretch of the text that is to be replaced. */
type Span = { readonly start: number; readonly end: number; readonly rule: string };

type Member = readonly [key: string, value: Json];

type Frame = {
  readonly to: Json[] | Record<string, Json>;
  readonly name: readonly string[];
  readonly members: readonly Member[];
  next: number;
};

// Tokens: what its first characters give away.

/** Where the secret begins that a prefix announced, and where it ends; `undefined` when it is none. */
type Finder = (text: string, at: number, body: number) => readonly [start: number, end: number] | undefined;

type IsPart = (unit: number) => boolean;

const isDigit: IsPart = (unit) => unit >= 0x30 && unit <= 0x39;
const isUpper: IsPart = (unit) => unit >= 0x41 && unit <= 0x5a;
const isLower: IsPart = (unit) => unit >= 0x61 && unit <= 0x7a;
const isAlnum: IsPart = (unit) => isLower(unit) || isUpper(unit) || isDigit(unit);
const isHex: IsPart = (unit) => isDigit(unit) || ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x66);
const isWord: IsPart = (unit) => isAlnum(unit) || unit === 0x5f;
const isUrlSafe: IsPart = (unit) => isWord(unit) || unit === 0x2d;
const isBase64: IsPart = (unit) => isAlnum(unit) || unit === 0x2b || unit === 0x2f || unit === 0x3d;

function runEnd(text: string, from: number, isPart: IsPart, most = Number.POSITIVE_INFINITY): number {
  let at = from;
  while (at - from < most && isPart(text.charCodeAt(at))) at += 1;
  return at;
}

const atLeast =
  (least: number, isPart: IsPart): Finder =>
  (text, at, body) => {
    if (isInsideWord(text, at)) return undefined;
    const end = runEnd(text, body, isPart);
    return end - body >= least ? [at, end] : undefined;
  };

const exactly =
  (length: number, isPart: IsPart): Finder =>
  (text, at, body) => {
    if (isInsideWord(text, at)) return undefined;
    const end = runEnd(text, body, isPart, length);
    return end - body === length && !isAlnum(text.charCodeAt(end)) ? [at, end] : undefined;
  };

/** Like `atLeast`, but only what comes behind the prefix is secret. */
const atLeastBehind =
  (least: number, isPart: IsPart): Finder =>
  (text, _at, body) => {
    const end = runEnd(text, body, isPart);
    return end - body >= least ? [body, end] : undefined;
  };

/**
 * `sk-` also begins names like `sk-loading-indicator-container`: a key has a stretch that is too long for a word, or a
 * digit in a stretch of some length.
 */
const findOpenaiKey: Finder = (text, at, body) => {
  if (isInsideWord(text, at) || text.charCodeAt(at - 1) === 0x2d) return undefined;
  const end = runEnd(text, body, isUrlSafe);
  const parts = text.slice(body, Math.min(end, body + 256)).split(/[-_]/);
  const isKey = end - body >= 20 && parts.some((part) => part.length >= 20 || (part.length >= 10 && /\d/.test(part)));
  return isKey ? [at, end] : undefined;
};

/** JSON Web Signature and Encryption in compact form (RFC 7515, 7516), also cut off behind the second part. */
const findJwt: Finder = (text, at, body) => {
  if (isInsideWord(text, at) || text.charCodeAt(at - 1) === 0x2d) return undefined;
  const head = runEnd(text, body, isUrlSafe);
  if (head - at < 10) return undefined;
  let end = head;
  let parts = 1;
  for (; parts < 5 && text.charCodeAt(end) === 0x2e; parts += 1) {
    const next = runEnd(text, end + 1, isUrlSafe);
    if (next === end + 1) break;
    end = next;
  }
  return parts >= 3 || (parts === 2 && text.startsWith('eyJ', head + 1)) ? [at, end] : undefined;
};

const findSendgridKey: Finder = (text, at, body) => {
  const dot = runEnd(text, body, isUrlSafe);
  if (isInsideWord(text, at) || dot - body < 16 || text.charCodeAt(dot) !== 0x2e) return undefined;
  const end = runEnd(text, dot + 1, isUrlSafe);
  return end - dot > 16 ? [at, end] : undefined;
};

/** 32 hex digits stand before the data centre whose beginning is the trigger. */
const findMailchimpKey: Finder = (text, at, body) => {
  const end = runEnd(text, body, isDigit, 1);
  const start = at - 32;
  const isKey = start >= 0 && runEnd(text, start, isHex) === at && !isAlnum(text.charCodeAt(end));
  return isKey && !isInsideWord(text, start) ? [start, end] : undefined;
};

const findDiscordWebhook: Finder = (text, _at, body) => {
  const slash = runEnd(text, body, isDigit);
  if (slash - body < 16 || text.charCodeAt(slash) !== 0x2f) return undefined;
  const end = runEnd(text, slash + 1, isUrlSafe);
  return end > slash + 1 ? [body, end] : undefined;
};

/** The password between the first colon and the last `@` of a URL's authority (RFC 3986 section 3.2). */
const findUrlPassword: Finder = (text, at, body) => {
  if (!isAlnum(text.charCodeAt(at - 1))) return undefined;
  let colon = -1;
  let sign = -1;
  let isPort = true;
  for (let end = body; end < text.length; end += 1) {
    const character = text.charAt(end);
    if (/[\s"'`<>\\/]/.test(character)) break;
    // A password may hold these unescaped, behind a host or a port they end the authority.
    if (/[?#]/.test(character) && (colon < 0 || isPort)) break;
    if (character === '@') sign = end;
    else if (character === ':' && colon < 0) colon = end;
    else if (colon >= 0 && sign < 0 && !isDigit(character.charCodeAt(0))) isPort = false;
  }
  if (colon < 0 || sign <= colon + 1) return undefined;
  // `image:tag@sha256:...` names a container image.
  if (/^sha\d+:/.test(text.slice(sign + 1, sign + 8))) return undefined;
  const password = text.slice(colon + 1, sign);
  return password.includes(MARK) || isTemplate(password.slice(0, HEAD)) ? undefined : [colon + 1, sign];
};

/** A PEM block in base64, as Kubernetes configurations hold it: "PRIVATE KEY" in each of the three alignments. */
const findEncodedKey: Finder = (text, at, body) => {
  const label = text.slice(body, body + 72);
  if (!/UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW/.test(label)) return undefined;
  return [at, runEnd(text, body, isBase64)];
};

const KEY_BEGIN = /BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}/y;
const KEY_END = /END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?(?: ?-{1,5})?/g;

/** No key is longer than this; an end marker further away belongs to another block. */
const LONGEST_KEY = 65_536;

/**
 * PEM (RFC 7468), OpenPGP (RFC 9580) and SSH2 blocks of private keys. A block whose end is missing goes as far as it
 * looks like a key. A header with nothing behind it is prose about keys.
 */
const createKeyFinder = (): Finder => {
  // One search serves all headers before the end it finds, so that many headers do not search the same text again.
  let lastEnd: { readonly start: number; readonly end: number } | undefined = { start: -1, end: -1 };
  const nextEnd = (text: string, from: number): typeof lastEnd => {
    if (lastEnd === undefined || lastEnd.start >= from) return lastEnd;
    KEY_END.lastIndex = from;
    const hit = KEY_END.exec(text);
    lastEnd = hit === null ? undefined : { start: hit.index, end: KEY_END.lastIndex };
    return lastEnd;
  };
  return (text, at) => {
    KEY_BEGIN.lastIndex = at;
    const dashes = /-{4,5} ?$/.exec(text.slice(Math.max(0, at - 6), at));
    if (dashes === null || !KEY_BEGIN.test(text)) return undefined;
    const start = at - dashes[0].length;
    const header = KEY_BEGIN.lastIndex;
    const close = nextEnd(text, header);
    if (close !== undefined && close.start - header <= LONGEST_KEY) return [start, close.end];
    const end = unfinishedKeyEnd(text, header);
    return end > header ? [start, end] : undefined;
  };
};

/** White space, written out or as the escape of a string literal. */
const GAP = /(?:\s|\\+[nrt])+/y;

/**
 * How far a block without an end goes on, word by word: base64, a word that has its line for itself, or a PEM header;
 * and a few words of a log's own at the beginning of a line, if base64 follows.
 */
function unfinishedKeyEnd(text: string, from: number): number {
  let end = from;
  let at = from;
  let strange = 0;
  let isHeader = false;
  for (;;) {
    GAP.lastIndex = at;
    const gap = GAP.exec(text)?.[0] ?? '';
    const startsLine = /\n|\\n/.test(gap);
    if (startsLine) isHeader = false;
    at += gap.length;
    const word = runEnd(text, at, isKeyWord);
    if (word === at) return end;
    GAP.lastIndex = word;
    // Where no gap follows, the text or the literal that the key stands in ends.
    const endsLine = /\n|\\n/.test(GAP.exec(text)?.[0] ?? '\n');
    const content = text.slice(at, Math.min(word, at + 128));
    const isMaterial = /^[+>|]?[A-Za-z0-9+/=_-]{16,}$/.test(content) && (strange === 0 || /[a-z]/.test(content));
    isHeader ||= startsLine && /^(?:Proc-Type|DEK-Info|Comment|Version|Charset|Hash|Subject):$/.test(content);
    if (isMaterial || isHeader || (startsLine && endsLine)) {
      end = word;
      strange = 0;
    } else if (strange === 4 || word - at > 64 || (!startsLine && strange === 0)) {
      return end;
    } else {
      strange += 1;
    }
    at = word;
  }
}

/** Anything but white space, quotes and a backslash. */
const isKeyWord: IsPart = (unit) =>
  unit > 0x20 && unit !== 0x22 && unit !== 0x27 && unit !== 0x5c && unit !== 0x60 && !(unit >= 0x7f && unit <= 0xa0);

/** Published prefixes of tokens, by rule. Lengths are the least that the vendors hand out, or what the hand-off spec has. */
const TOKENS: readonly { readonly rule: string; readonly find: Finder; readonly prefixes: readonly string[] }[] = [
  { rule: 'github-token', find: atLeast(20, isAlnum), prefixes: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'] },
  { rule: 'github-fine-grained-token', find: atLeast(20, isWord), prefixes: ['github_pat_'] },
  { rule: 'gitlab-token', find: atLeast(20, isUrlSafe), prefixes: ['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glsoat-'] },
  { rule: 'aws-access-key', find: exactly(16, (unit) => isUpper(unit) || isDigit(unit)), prefixes: ['AKIA', 'ASIA'] },
  { rule: 'anthropic-key', find: atLeast(20, isUrlSafe), prefixes: ['sk-ant-'] },
  { rule: 'openai-key', find: findOpenaiKey, prefixes: ['sk-'] },
  { rule: 'stripe-key', find: atLeast(16, isAlnum), prefixes: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'] },
  { rule: 'stripe-key', find: atLeast(16, isBase64), prefixes: ['whsec_'] },
  {
    rule: 'slack-token',
    find: atLeast(10, (unit) => isAlnum(unit) || unit === 0x2d),
    prefixes: ['xoxa-', 'xoxb-', 'xoxc-', 'xoxd-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-1-'],
  },
  {
    rule: 'slack-webhook',
    find: atLeastBehind(8, (unit) => isUrlSafe(unit) || unit === 0x2f),
    prefixes: ['hooks.slack.com/services/'],
  },
  {
    rule: 'discord-webhook',
    find: findDiscordWebhook,
    prefixes: ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
  },
  { rule: 'npm-token', find: exactly(36, isAlnum), prefixes: ['npm_'] },
  { rule: 'pypi-token', find: atLeast(20, isUrlSafe), prefixes: ['pypi-AgE'] },
  { rule: 'docker-token', find: atLeast(20, isUrlSafe), prefixes: ['dckr_pat_'] },
  { rule: 'google-api-key', find: atLeast(20, isUrlSafe), prefixes: ['AIza'] },
  { rule: 'google-oauth-token', find: atLeast(20, isUrlSafe), prefixes: ['GOCSPX-', 'ya29.'] },
  { rule: 'huggingface-token', find: atLeast(30, isAlnum), prefixes: ['hf_'] },
  { rule: 'sendgrid-api-key', find: findSendgridKey, prefixes: ['SG.'] },
  {
    rule: 'mailchimp-api-key',
    find: findMailchimpKey,
    prefixes: ['-us1', '-us2', '-us3', '-us4', '-us5', '-us6', '-us7', '-us8', '-us9'],
  },
  { rule: 'shopify-admin-token', find: exactly(32, isHex), prefixes: ['shpat_', 'shpca_', 'shppa_', 'shpss_'] },
  { rule: 'twilio-api-key', find: exactly(32, isHex), prefixes: ['SK'] },
  { rule: 'postman-api-key', find: atLeast(20, (unit) => isHex(unit) || unit === 0x2d), prefixes: ['PMAK-'] },
  { rule: 'digitalocean-token', find: atLeast(40, isHex), prefixes: ['dop_v1_', 'doo_v1_', 'dor_v1_'] },
  { rule: 'vault-token', find: atLeast(24, isUrlSafe), prefixes: ['hvs.', 'hvb.'] },
  { rule: 'grafana-token', find: atLeast(20, isWord), prefixes: ['glsa_', 'glc_'] },
  { rule: 'groq-key', find: atLeast(40, isAlnum), prefixes: ['gsk_'] },
  { rule: 'xai-key', find: atLeast(40, isAlnum), prefixes: ['xai-'] },
  { rule: 'age-key', find: atLeast(50, isAlnum), prefixes: ['AGE-SECRET-KEY-1'] },
  { rule: 'jwt', find: findJwt, prefixes: ['eyJ'] },
  { rule: 'private-key', find: findEncodedKey, prefixes: ['LS0tLS1CRUdJTi'] },
  { rule: 'url-password', find: findUrlPassword, prefixes: ['://', String.raw`:\/\/`] },
];

type TokenTable = {
  readonly trigger: RegExp;
  readonly byPrefix: ReadonlyMap<string, { readonly rule: string; readonly find: Finder }>;
};

let tokenTable: TokenTable | undefined;

/** Made when the first text has a prefix: compiling the expression takes longer than all else here. */
function createTokenTable(): TokenTable {
  const byPrefix = new Map(TOKENS.flatMap((token) => token.prefixes.map((prefix) => [prefix, token] as const)));
  // The longest first: `sk-ant-` before `sk-`.
  const prefixes = [...byPrefix.keys(), KEY_TRIGGER].toSorted((a, b) => b.length - a.length);
  const escaped = (character: string): string => (isWord(character.charCodeAt(0)) ? character : `\\${character}`);
  const pattern = prefixes.map((prefix) => Array.from(prefix, escaped).join('')).join('|');
  return { trigger: new RegExp(pattern, 'g'), byPrefix };
}

const KEY_TRIGGER = 'BEGIN ';

/** Up to this length a text is asked for each trigger by itself, which is faster than compiling an expression. */
const SHORT = 4096;

function hasPrefix(text: string): boolean {
  const isThere = (prefix: string): boolean => text.includes(prefix);
  return (
    TOKENS.some(({ rule, prefixes }) =>
      // Without an `@` no URL has a password, and URLs are common.
      rule === 'url-password' ? text.includes('@') && prefixes.some(isThere) : prefixes.some(isThere),
    ) || text.includes(KEY_TRIGGER)
  );
}

function hasStem(text: string): boolean {
  const lower = text.toLowerCase();
  return NAME_STEMS.some((stem) => lower.includes(stem));
}

function findTokens(text: string, spans: Span[]): void {
  if (text.length <= SHORT && !hasPrefix(text)) return;
  tokenTable ??= createTokenTable();
  const { trigger, byPrefix } = tokenTable;
  const key = { rule: 'private-key', find: createKeyFinder() };
  trigger.lastIndex = 0;
  for (let hit = trigger.exec(text); hit !== null; hit = trigger.exec(text)) {
    const body = trigger.lastIndex;
    const { rule, find } = byPrefix.get(hit[0]) ?? key;
    const place = find(text, hit.index, body);
    if (place === undefined) continue;
    const [start, end] = place;
    spans.push({ start, end, rule });
    // The user in a URL may be a token too.
    trigger.lastIndex = rule === 'url-password' ? body : Math.max(body, end);
  }
}

/** Whether a word goes on at `at`, so that what looks like a prefix is the middle of something else. */
function isInsideWord(text: string, at: number): boolean {
  return isWord(text.charCodeAt(at - 1)) && !ESCAPE_BEFORE.test(text.slice(Math.max(0, at - 8), at));
}

/** An escape of a string literal, a URL or a terminal ends in word characters that belong to no word. */
const ESCAPE_BEFORE = /(?:\\[bfnrtv0]|\\x[\dA-Fa-f]{2}|\\u[\dA-Fa-f]{4}|%[\dA-Fa-f]{2}|\[[\d;]{0,5}m)$/;

// Names: what somebody calls a secret.

/** The stems of all names that may name a secret, and the two schemes of HTTP that carry one. */
const NAME_STEMS = ['pass', 'pwd', 'secret', 'token', 'key', 'auth', 'credential', 'bearer', 'basic'];
const NAME_TRIGGER = new RegExp(NAME_STEMS.join('|'), 'gi');

/** Behind a name: what closes it, the sign, and emphasis and white space in front of the value. */
const SIGN =
  /(?:\[(?!REDACTED)\w{0,16}\])?[\\"'`*\])]{0,6}([ \t]{0,16})(:=|[?+]=|={1,3}>?|:(?!:))\*{0,2}([ \t]{0,16})/y;

/** The type between a name and the value that is assigned to it. */
const TYPE = /[&*]?[A-Za-z_][\w.<>[\]?|&, ]{0,60}=[ \t]{0,4}(?=["'`])/y;

/** The opening quote of a value, behind a prefix as in Python, and as written inside another string. */
const OPENING = /[bBrRuUfF@$]{0,2}(\\{0,3}["'`])/y;

/** How a value is written behind its name; see `looksSecret`. */
type Shape = 'quoted' | 'assigned' | 'spaced' | 'listed' | 'followed';

function findNamed(text: string, spans: Span[]): void {
  const bareEnd = createBareEnd(text);
  if (text.length <= SHORT && !hasStem(text)) return;
  NAME_TRIGGER.lastIndex = 0;
  for (let hit = NAME_TRIGGER.exec(text); hit !== null; hit = NAME_TRIGGER.exec(text)) {
    const resume = runEnd(text, hit.index, isNamePart);
    let end = resume;
    while (!isWord(text.charCodeAt(end - 1))) end -= 1;
    const span = findValue(text, nameStart(text, end), end, bareEnd);
    if (span !== undefined) spans.push(span);
    // A name behind `bearer` may have a value of its own.
    NAME_TRIGGER.lastIndex = span?.rule === 'assigned-secret' ? Math.max(resume, span.end) : resume;
  }
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

/** The secret that belongs to the name from `start` to `end`, if it names one and one is there. */
function findValue(text: string, start: number, end: number, bareEnd: BareEnd): Span | undefined {
  const written = text.slice(start, end);
  const scheme = /(?<!\w)(?:bearer|basic)$/i.exec(written)?.[0].toLowerCase();
  if (scheme !== undefined) return findCredential(text, end, scheme, false);

  SIGN.lastIndex = end;
  const sign = SIGN.exec(text);
  if (sign === null && !isSpace(text.charCodeAt(end)) && text.charAt(end) !== '>') return undefined;
  // "API key", as prose has it, is a name of two words.
  const before =
    text.charCodeAt(start - 1) === 0x20
      ? (/[A-Za-z]{1,16} $/.exec(text.slice(Math.max(0, start - 17), start))?.[0] ?? '')
      : '';
  const name = wordsOf(before + written);
  if (!isSecretName(name)) return undefined;
  if (sign === null) return findUnsigned(text, start, end, name, bareEnd);

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
  }
  const value = valueAt(text, from, shape, bareEnd);
  const content = headOf(text, value);
  // What is compared with a name, or returned for it, is code, unless it is a literal that is no word.
  const isBare = value.shape !== 'quoted';
  const isCode = sign[2] === '=>' ? isBare : (sign[2] ?? '').includes('==') && (isBare || /^[A-Za-z]+$/.test(content));
  if (isCode || !looksSecret(content, value.shape, name, text.slice(value.end, value.end + 32))) return undefined;
  return { start: value.start, end: value.end, rule: 'assigned-secret' };
}

/** A value without a sign: `<password>value</password>`, `--token value`, `ENV PASSWORD value`. */
function findUnsigned(
  text: string,
  start: number,
  end: number,
  name: readonly string[],
  bareEnd: BareEnd,
): Span | undefined {
  const rule = 'assigned-secret';
  if (text.charAt(end) === '>') {
    if (text.charAt(start - 1) !== '<') return undefined;
    const close = runEnd(text, end + 1, (unit) => unit !== 0x3c && unit !== 0x0a && !Number.isNaN(unit));
    const isElement = text.startsWith('</', close) && looksSecret(text.slice(end + 1, close), 'quoted', name, '');
    return isElement ? { start: end + 1, end: close, rule } : undefined;
  }
  const written = text.slice(start, end);
  if (!written.startsWith('--') && !/^[A-Z][A-Z0-9_]+$/.test(written)) return undefined;
  const value = valueAt(text, runEnd(text, end, isSpace, 16), 'followed', bareEnd);
  const isSecret =
    text.charAt(value.start) !== '-' &&
    looksSecret(headOf(text, value), value.shape, name, text.slice(value.end, value.end + 32));
  return isSecret ? { start: value.start, end: value.end, rule } : undefined;
}

const isSpace: IsPart = (unit) => unit === 0x20 || unit === 0x09;

const SCHEME =
  /(?:\\{0,3}["'`])?(bearer|basic|token|apikey|api-key|key|bot|ssws|digest|negotiate|hmac|oauth|aws4-hmac-sha256)(?=[ \t])/iy;

/** The credential behind a scheme. Outside a header "bearer of bad news" and "basic auth" are prose. */
function findCredential(text: string, from: number, scheme: string, isHeader: boolean): Span | undefined {
  const start = runEnd(text, from, isSpace, 16);
  if (start === from) return undefined;
  const head = text.slice(start, start + HEAD);
  if (head.startsWith(MARK) || isPlaceholder(/^\S*/.exec(head)?.[0] ?? '')) return undefined;
  // What is the name of a secret is no credential: what stands behind it is one.
  const named = /^([A-Za-z][\w-]*)[ \t]{0,16}[:=]/.exec(head)?.[1];
  if (named !== undefined && isSecretName(wordsOf(named))) return undefined;
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

/** The end of a sentence does not belong to a credential. */
function trimmedEnd(text: string, from: number, end: number): number {
  let trimmed = end;
  while (trimmed > from && text.charCodeAt(trimmed - 1) === 0x2e) trimmed -= 1;
  return trimmed;
}

/** token68 of RFC 9110. */
const isCredentialPart: IsPart = (unit) => isBase64(unit) || isUrlSafe(unit) || unit === 0x2e || unit === 0x7e;

/** Base64 of printable `user:password` (RFC 7617). */
function isBasic(text: string): boolean {
  if (text.length < 8 || text.length > 512 || !/^[A-Za-z0-9+/_-]+=*$/.test(text)) return false;
  const plain = Buffer.from(text, 'base64').toString('latin1');
  return /^[\u0020-\u007e\u00a0-\u00ff]*$/.test(plain) && plain.includes(':');
}

/** Where the value at `from` lies; a quoted one without its quotes, whole. */
function valueAt(
  text: string,
  from: number,
  shape: Shape,
  bareEnd: BareEnd,
): { readonly start: number; readonly end: number; readonly shape: Shape } {
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

const isLinePart: IsPart = (unit) => unit !== 0x0a && unit !== 0x0d && !Number.isNaN(unit);

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

/** Enough of a value to judge it by. It is a bound because names without a space between them share one long value. */
const HEAD = 128;

const headOf = (text: string, value: { readonly start: number; readonly end: number }): string =>
  text.slice(value.start, Math.min(value.end, value.start + HEAD));

/** The words of a name, in lower case: `apiKey`, `API_KEY` and `x-api-key` all end in `api`, `key`. */
function wordsOf(name: string): readonly string[] {
  return name
    .slice(-LONGEST_NAME)
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .map((word) => word.replace(/\d+$/, ''))
    .filter((word) => word !== '');
}

const LONGEST_NAME = 96;

const SECRET_WORD =
  /(?:password|passwd|passphrase|passcode|secret|token|credentials?|apikey|accesskey|secretkey|privatekey|accountkey|authorization|.pwd)$/;
const SECRET_KEY = /^(?:api|access|secret|private|account|auth|signing|encryption|master|storage|webhook|role)$/;

/** Tokens of parsers, language models, pages of a list and leases: no secrets, however they are called. */
const OTHER_TOKEN =
  /^(?:lease|step|fence|fencing|page|next|prev|previous|continuation|sync|start|end|first|last|current|unexpected|expected|min|max|special|stop|bos|eos|pad|unk|mask|sep|cls|cancel|cancellation)$/;

/** Whether a name is that of a secret: its last words are. `token_count`, `secret_name` and `password_policy` are not. */
function isSecretName(words: readonly string[]): boolean {
  const last = words.at(-1) ?? '';
  const before = words.at(-2) ?? '';
  if (last.endsWith('token')) return !OTHER_TOKEN.test(before) && last !== 'cancellationtoken';
  if (SECRET_WORD.test(last)) return last !== 'oldpwd';
  if (last === 'key') return SECRET_KEY.test(before);
  if (last === 'base') return before === 'key' && words.at(-3) === 'secret';
  if (last === 'pwd') return before !== '' && before !== 'old';
  return (
    last === 'pass' &&
    /^(?:db|database|smtp|mail|email|imap|mysql|pg|postgres|redis|ftp|root|user|admin|proxy)$/.test(before)
  );
}

/**
 * Whether a value behind the name of a secret looks like one. A value in quotes, or glued to its name by `=`, is one
 * unless it says that it is not. Behind `name: ` prose, types and configurations look alike, behind ` = ` code does; there
 * a value must look made up, and more so when the sentence goes on behind it.
 *
 * @param next the beginning of what follows the value
 */
function looksSecret(whole: string, shape: Shape, name: readonly string[], next: string): boolean {
  const value = whole.slice(0, HEAD);
  if (value.length < 6 || value.includes(BARE_MARK) || isPlaceholder(value)) return false;
  // The secret keys of AWS are 40 characters of base64 and may begin with a slash.
  const isAwsKey = value.length === 40 && name.at(-2) === 'access';
  if (!isAwsKey && isReference(value, shape, next)) return false;
  // Counts, limits and the numbers of leases.
  const isToken = name.at(-1)?.endsWith('token') ?? false;
  if (/^\d+$/.test(value) && isToken) return false;
  if (shape === 'quoted') return true;
  // A name that is passed on: `login(password=typed)`.
  if (shape === 'assigned') return !(/^[A-Za-z_]+$/.test(value) && /^[),]/.test(next));

  if (/^[[({|!>]/.test(value) || TERM.test(value)) return false;
  const isMadeUp = /\d/.test(value) || /[!@#$%^&*~+=]/.test(value);
  if (shape === 'spaced') return isMadeUp || /^\w+(?:-\w+)+$/.test(value);
  if (shape === 'followed') {
    return (isMadeUp && !value.includes('|')) || /[a-z][A-Z]|_/.test(value) || /^[ \t]+--?[a-z]/.test(next);
  }

  const endsLine = /^[ \t]*(?:$|[\n\r,;}\])#|"'`*<]|\/\/|\\[nr])/.test(next);
  if (/^\d+$/.test(value)) return endsLine;
  if (!isMadeUp) return endsLine && /^(?=.{24})\w+(?:-\w+){3,}$/.test(value);
  return endsLine || value.length >= 12 || (name.at(-1) ?? '').startsWith('pass');
}

/** Words of the trade that hold a digit, dates, versions and measures. */
const TERM =
  /^(?:(?:u?int|float|sha|md|aes|rsa|base|utf|bcrypt|argon|pbkdf|scrypt|oauth|ed|hs|rs|ps|es|x|v|hmac|ipv|iso|rfc|http|tls|secp)[-_]?\d{1,5}(?:[-_]?(?:bit|byte|char|array|string|encoded|url|hash|hashed|id|sum|cbc|gcm|k\d|r\d|\d{3}))*s?|v?\d+(?:\.\d+)+|\d{4}-\d\d-\d\d(?:T.*)?|\d+-?(?:bits?|bytes?|chars?|characters?|digits?|days?|hours?|minutes?|seconds?|words?|letters?)(?:-.*)?)$/i;

/** What stands where a secret will be, or says that there is none. */
function isPlaceholder(value: string): boolean {
  return isTemplate(value) || PLACEHOLDER.test(value);
}

/** A mask, a variable or a template; of a template with more around it, the rest may be a secret. */
function isTemplate(value: string): boolean {
  if (/^[*.•#_\-…?]+$|^[xX]+$|^%[A-Za-z_]+%?$|^\$[A-Za-z_][\w:.]*$|^<.*>$/s.test(value)) return true;
  const rest = value.replaceAll(/\$\{[^{}]*\}|\{\{[^{}]*\}\}|\$\([^()]*\)|\{[A-Za-z_][\w.]*\}/g, '');
  return rest === value ? /^\$[({]|^\{\{/.test(value) : rest.length < 6;
}

const PLACEHOLDER =
  /^(?:(?:your|insert|replace|enter|example|placeholder|dummy|change[-_ ]?me|todo)[-_ a-z]*|pass(?:word|wd|phrase|code)|secret|token|api[-_ ]?key|string|number|boolean|object|undefined|unknown|symbol|bigint|required|optional|nullable|enabled|disabled|present|absent|missing|invalid|expired?s?|revoked|rotated|unchanged|changed|hashed|encrypted|masked|hidden|redacted|removed|deleted|default|inherit|include|same-origin|prompt|nothing|buffer|varchar|bearer)$/i;

/** Code that yields the secret instead of being it: a call, a member, a variable, a file, an address. */
function isReference(value: string, shape: Shape, next: string): boolean {
  // The name of an environment variable stands in quotes too.
  if (/^[A-Z][A-Z\d]*(?:_[A-Z\d]+)+$/.test(value) && isSecretName(wordsOf(value))) return true;
  if (/^(?:process\.env|import\.meta\.env|os\.environ|os\.getenv|Deno\.env|ENV\[)/.test(value)) return true;
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(value)) return true;
  if (/^(?:\.{0,2}|~|[A-Za-z]:)[/\\]/.test(value) && /^[\w./\\@~:+ -]+$/.test(value)) return !isDense(value);
  // A version range behind the name of a package, and what stands between two literals.
  if (/^[~^<>=v]*\d+(?:\.[\dx*]+)+(?:[-+][\w.]+)?$/.test(value) || /^\s*[+,&.)]\s/.test(value)) return true;
  if (shape === 'quoted') return /^[A-Za-z_$][\w$.]*\([^()]*\)$/.test(value);

  if (/^[\w.-]+(?:\/[\w.-]+)*\.(?:txt|pem|key|json|ya?ml|env|md|ts|js|py|go|rs)$/.test(value)) return true;
  const callee = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*[([]/.exec(value)?.[0];
  // The value ends early where the arguments hold a quote or a space, and does not where a password holds a bracket.
  if (callee !== undefined) return /[)\]]/.test(value + next.slice(0, 1)) || /^[ \t]*[^\s]/.test(next);
  if (/^[A-Za-z_$]+(?:\??\.[A-Za-z_$]+)+$/.test(value)) return true;
  const isVariable = /^[a-z]+(?:[A-Z][a-z]+)+$|^[a-z]+(?:_[a-z]+)+$|^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(
    value,
  );
  return isVariable && isSecretName(wordsOf(value));
}

/** Whether a part of a path is no name that somebody chose: base64 may begin with a slash. */
function isDense(path: string): boolean {
  return path
    .split(/[/\\]/)
    .some((part) => part.length >= 12 && /\d/.test(part) && /[a-z]/.test(part) && /[A-Z]/.test(part));
}
