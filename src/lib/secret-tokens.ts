import {
  HEAD,
  type IsPart,
  isAlnum,
  isBase64,
  isDigit,
  isHex,
  isUpper,
  isUrlSafe,
  isWord,
  MARK,
  runEnd,
  SHORT,
  type Span,
  trimmedEnd,
} from './secret-scan.ts';
import { isTemplate } from './secret-values.ts';

/**
 * Secrets that give themselves away by how they begin: the published prefixes of tokens, URLs, blocks of keys. The table
 * is what there is; a vendor is a row of it.
 */

/** Where the secret begins that a prefix announced, and where it ends; `undefined` when it is none. */
type Finder = (text: string, at: number, body: number) => readonly [start: number, end: number] | undefined;

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
  // As a manual writes it.
  const isNamed = /^[A-Z_]*PASS(?:WORD)?$/.test(password);
  return isNamed || password.includes(MARK) || isTemplate(password.slice(0, HEAD)) ? undefined : [colon + 1, sign];
};

/** A PEM block in base64, as Kubernetes configurations hold it: "PRIVATE KEY" in each of the three alignments. */
const findEncodedKey: Finder = (text, at, body) => {
  const label = text.slice(body, body + 72);
  if (!/UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW/.test(label)) return undefined;
  return [at, runEnd(text, body, isBase64)];
};

const KEY_BEGIN = /BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}/y;
const KEY_END = /END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?(?: ?-{1,5})?/g;

const KEY_GOES_ON = /^["'`][\s+,.]{1,16}["'`](?:\\+n)?[A-Za-z\d+/]{24}/;

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
    // A literal that ends here is code about keys, unless the key goes on in another one.
    if (/["'`]/.test(text.charAt(header)) && !KEY_GOES_ON.test(text.slice(header, header + 64))) return undefined;
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

/** A token whose parts are joined by dots. */
const atLeastDotted =
  (least: number): Finder =>
  (text, at, body) => {
    if (isInsideWord(text, at)) return undefined;
    const end = trimmedEnd(
      text,
      body,
      runEnd(text, body, (unit) => isUrlSafe(unit) || unit === 0x2e),
    );
    return end - body >= least ? [at, end] : undefined;
  };

/**
 * The id of an access key, and the secret key where it stands right behind, as in the file that the console hands out:
 * 40 characters of base64 are nothing else there.
 */
const findAwsKey: Finder = (text, at, body) => {
  const id = exactly(16, (unit) => isUpper(unit) || isDigit(unit))(text, at, body);
  if (id === undefined) return undefined;
  AWS_SECRET.lastIndex = id[1];
  return AWS_SECRET.test(text) ? [at, AWS_SECRET.lastIndex] : id;
};

const AWS_SECRET =
  /["']?[ \t]{0,8}[,;:|/]?[ \t]{0,8}["']?(?=[^a-z]{0,39}[a-z])(?=[^A-Z]{0,39}[A-Z])[A-Za-z\d+/]{40}(?![A-Za-z\d+/=])/y;

/** What signs a URL, in its query: whoever has the URL has what it opens. */
const findSignature: Finder = (text, at, body) => {
  if (!/(?:[?&;]|\\u0026)$/.test(text.slice(Math.max(0, at - 6), at))) return undefined;
  const end = runEnd(text, body, (unit) => isBase64(unit) || isUrlSafe(unit) || unit === 0x25);
  return end - body >= 32 ? [body, end] : undefined;
};

/** A client secret of Entra ID: three characters and a digit stand before the trigger. */
const findAzureSecret: Finder = (text, at, body) => {
  const isPart: IsPart = (unit) => isUrlSafe(unit) || unit === 0x7e || unit === 0x2e;
  const start = at - 4;
  if (start < 0 || !isDigit(text.charCodeAt(at - 1)) || runEnd(text, start, isPart, 4) !== at) return undefined;
  const end = trimmedEnd(text, body, runEnd(text, body, isPart, 40));
  return end - body >= 31 && !isInsideWord(text, start) ? [start, end] : undefined;
};

/** The id of the bot stands before the colon, 33 characters behind. */
const findTelegramToken: Finder = (text, at, body) => {
  const end = runEnd(text, body, isUrlSafe, 34);
  if (end - body !== 33) return undefined;
  const start = [10, 9, 8]
    .map((length) => at - length)
    .find((from) => from >= 0 && runEnd(text, from, isDigit, at - from) === at && !isInsideWord(text, from));
  return start === undefined ? undefined : [start, end];
};

/** 14 characters stand before the trigger, 60 and more behind it. */
const findTerraformToken: Finder = (text, at, body) => {
  const start = at - 14;
  if (start < 0 || runEnd(text, start, isAlnum) !== at || isInsideWord(text, start)) return undefined;
  const end = runEnd(text, body, isUrlSafe);
  return end - body >= 60 ? [start, end] : undefined;
};

/** The private lines of a key as PuTTY writes it. */
const findPuttyKey: Finder = (text, at, body) => {
  const start = runEnd(text, body, isDigit, 4);
  const end = start === body ? start : unfinishedKeyEnd(text, start);
  if (end === start || isInsideWord(text, at)) return undefined;
  GAP.lastIndex = start;
  return GAP.test(text) && !text.startsWith(MARK, GAP.lastIndex) ? [GAP.lastIndex, end] : undefined;
};

/** What a finder looks for behind each of its prefixes, under the name that the answer has for it. */
type TokenRule = { readonly rule: string; readonly find: Finder; readonly prefixes: readonly string[] };

/** Lengths are the least that the vendors hand out, or less, where what is kept may be cut off. */
const TOKENS: readonly TokenRule[] = [
  { rule: 'github-token', find: atLeast(20, isAlnum), prefixes: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'] },
  { rule: 'github-fine-grained-token', find: atLeast(20, isWord), prefixes: ['github_pat_'] },
  { rule: 'gitlab-token', find: atLeastDotted(20), prefixes: ['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glsoat-'] },
  {
    rule: 'gitlab-token',
    find: atLeast(20, isUrlSafe),
    prefixes: ['glcbt-', 'glffct-', 'glft-', 'glimt-', 'glagent-'],
  },
  { rule: 'gitlab-token', find: atLeast(20, isUrlSafe), prefixes: ['gloas-'] },
  { rule: 'aws-access-key', find: findAwsKey, prefixes: ['AKIA', 'ASIA', 'ABIA', 'ACCA'] },
  { rule: 'aws-bedrock-key', find: atLeast(40, isBase64), prefixes: ['ABSKQmVkcm9ja0FQSUtleS'] },
  { rule: 'azure-client-secret', find: findAzureSecret, prefixes: ['Q~'] },
  { rule: 'signed-url', find: findSignature, prefixes: ['sig=', 'X-Amz-Signature=', 'X-Goog-Signature='] },
  { rule: 'anthropic-key', find: atLeast(20, isUrlSafe), prefixes: ['sk-ant-'] },
  { rule: 'openai-key', find: findOpenaiKey, prefixes: ['sk-'] },
  { rule: 'stripe-key', find: atLeast(16, isAlnum), prefixes: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'] },
  { rule: 'stripe-key', find: atLeast(16, isBase64), prefixes: ['whsec_'] },
  {
    rule: 'slack-token',
    find: atLeast(10, (unit) => isAlnum(unit) || unit === 0x2d),
    prefixes: ['xoxa-', 'xoxb-', 'xoxc-', 'xoxd-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-1-', 'xwfp-'],
  },
  {
    rule: 'slack-token',
    find: atLeast(10, (unit) => isAlnum(unit) || unit === 0x2d),
    prefixes: ['xoxe.xoxb-', 'xoxe.xoxp-'],
  },
  {
    rule: 'slack-webhook',
    find: atLeastBehind(8, (unit) => isUrlSafe(unit) || unit === 0x2f),
    prefixes: ['hooks.slack.com/services/', 'hooks.slack.com/workflows/', 'hooks.slack.com/triggers/'],
  },
  {
    rule: 'discord-webhook',
    find: findDiscordWebhook,
    prefixes: ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
  },
  { rule: 'telegram-token', find: findTelegramToken, prefixes: [':AA'] },
  { rule: 'npm-token', find: exactly(36, isAlnum), prefixes: ['npm_'] },
  { rule: 'pypi-token', find: atLeast(20, isUrlSafe), prefixes: ['pypi-AgE'] },
  { rule: 'rubygems-key', find: exactly(48, isHex), prefixes: ['rubygems_'] },
  { rule: 'nuget-key', find: exactly(43, isAlnum), prefixes: ['oy2'] },
  { rule: 'artifactory-key', find: atLeast(60, isAlnum), prefixes: ['AKCp'] },
  { rule: 'docker-token', find: atLeast(20, isUrlSafe), prefixes: ['dckr_pat_', 'dckr_oat_'] },
  { rule: 'google-api-key', find: atLeast(20, isUrlSafe), prefixes: ['AIza'] },
  { rule: 'google-oauth-token', find: atLeast(20, isUrlSafe), prefixes: ['GOCSPX-', 'ya29.'] },
  { rule: 'google-oauth-token', find: atLeast(40, isUrlSafe), prefixes: ['1//0'] },
  { rule: 'huggingface-token', find: atLeast(30, isAlnum), prefixes: ['hf_'] },
  { rule: 'sendgrid-api-key', find: findSendgridKey, prefixes: ['SG.'] },
  {
    rule: 'mailchimp-api-key',
    find: findMailchimpKey,
    prefixes: ['-us1', '-us2', '-us3', '-us4', '-us5', '-us6', '-us7', '-us8', '-us9'],
  },
  { rule: 'shopify-admin-token', find: exactly(32, isHex), prefixes: ['shpat_', 'shpca_', 'shppa_', 'shpss_'] },
  { rule: 'twilio-api-key', find: exactly(32, isHex), prefixes: ['SK'] },
  { rule: 'square-token', find: atLeast(22, isUrlSafe), prefixes: ['sq0atp-', 'sq0csp-'] },
  { rule: 'postman-api-key', find: atLeast(20, (unit) => isHex(unit) || unit === 0x2d), prefixes: ['PMAK-'] },
  {
    rule: 'hubspot-token',
    find: atLeast(36, (unit) => isHex(unit) || unit === 0x2d),
    prefixes: ['pat-na1-', 'pat-eu1-'],
  },
  { rule: 'digitalocean-token', find: atLeast(40, isHex), prefixes: ['dop_v1_', 'doo_v1_', 'dor_v1_'] },
  { rule: 'heroku-key', find: atLeast(30, isUrlSafe), prefixes: ['HRKU-'] },
  { rule: 'netlify-token', find: atLeast(36, isAlnum), prefixes: ['nfp_'] },
  {
    rule: 'fly-token',
    find: atLeast(40, (unit) => isBase64(unit) || isUrlSafe(unit)),
    prefixes: ['fo1_', 'fm1r_', 'fm1a_', 'fm2_'],
  },
  { rule: 'alibaba-access-key', find: atLeast(16, isAlnum), prefixes: ['LTAI'] },
  { rule: 'databricks-token', find: exactly(32, isHex), prefixes: ['dapi'] },
  { rule: 'planetscale-token', find: atLeastDotted(32), prefixes: ['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'] },
  { rule: 'supabase-key', find: atLeast(40, isHex), prefixes: ['sbp_'] },
  { rule: 'supabase-key', find: atLeast(20, isUrlSafe), prefixes: ['sb_secret_'] },
  { rule: 'tailscale-key', find: atLeast(20, isUrlSafe), prefixes: ['tskey-'] },
  { rule: 'vault-token', find: atLeast(24, isUrlSafe), prefixes: ['hvs.', 'hvb.', 'hvr.'] },
  { rule: 'terraform-token', find: findTerraformToken, prefixes: ['.atlasv1.'] },
  { rule: 'pulumi-token', find: exactly(40, isHex), prefixes: ['pul-'] },
  { rule: 'doppler-token', find: atLeastDotted(40), prefixes: ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.', 'dp.scim.'] },
  {
    rule: 'atlassian-token',
    find: atLeast(28, (unit) => isUrlSafe(unit) || unit === 0x3d),
    prefixes: ['ATATT3xFfGF0', 'ATCTT3xFfGF0', 'ATBB'],
  },
  { rule: 'linear-key', find: atLeast(32, isAlnum), prefixes: ['lin_api_', 'lin_oauth_'] },
  { rule: 'notion-token', find: atLeast(40, isAlnum), prefixes: ['ntn_'] },
  { rule: 'notion-token', find: exactly(43, isAlnum), prefixes: ['secret_'] },
  { rule: 'figma-token', find: atLeast(32, isUrlSafe), prefixes: ['figd_'] },
  { rule: 'circleci-token', find: atLeast(30, isWord), prefixes: ['CCIPAT_', 'CCIPRJ_'] },
  { rule: 'grafana-token', find: atLeast(20, isWord), prefixes: ['glsa_', 'glc_'] },
  {
    rule: 'sentry-token',
    find: atLeast(40, (unit) => isBase64(unit) || unit === 0x5f),
    prefixes: ['sntrys_', 'sntryu_'],
  },
  { rule: 'newrelic-key', find: atLeast(27, isAlnum), prefixes: ['NRAK-'] },
  { rule: 'dynatrace-token', find: atLeastDotted(60), prefixes: ['dt0c01.', 'dt0s01.', 'dt0s16.'] },
  { rule: 'mapbox-token', find: atLeastDotted(40), prefixes: ['sk.eyJ'] },
  { rule: 'groq-key', find: atLeast(40, isAlnum), prefixes: ['gsk_'] },
  { rule: 'xai-key', find: atLeast(40, isAlnum), prefixes: ['xai-'] },
  { rule: 'perplexity-key', find: atLeast(40, isAlnum), prefixes: ['pplx-'] },
  { rule: 'replicate-token', find: exactly(37, isAlnum), prefixes: ['r8_'] },
  { rule: 'nvidia-key', find: atLeast(40, isUrlSafe), prefixes: ['nvapi-'] },
  { rule: 'age-key', find: atLeast(50, isAlnum), prefixes: ['AGE-SECRET-KEY-1'] },
  { rule: 'jwt', find: findJwt, prefixes: ['eyJ'] },
  { rule: 'private-key', find: findEncodedKey, prefixes: ['LS0tLS1CRUdJTi'] },
  { rule: 'private-key', find: findPuttyKey, prefixes: ['Private-Lines: '] },
  { rule: 'url-password', find: findUrlPassword, prefixes: ['://', String.raw`:\/\/`] },
];

/** What announces a token, a block of a key aside. */
export const tokenPrefixes = (): readonly string[] => TOKENS.flatMap(({ prefixes }) => prefixes);

type TokenTable = {
  readonly trigger: RegExp;
  readonly byPrefix: ReadonlyMap<string, Pick<TokenRule, 'rule' | 'find'>>;
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

function hasPrefix(text: string): boolean {
  const isThere = (prefix: string): boolean => text.includes(prefix);
  return (
    TOKENS.some(({ rule, prefixes }) =>
      // Without an `@` no URL has a password, and URLs are common.
      rule === 'url-password' ? text.includes('@') && prefixes.some(isThere) : prefixes.some(isThere),
    ) || text.includes(KEY_TRIGGER)
  );
}

/** Adds the tokens, URLs and keys of a text to `spans`, in their order. */
export function findTokens(text: string, spans: Span[]): void {
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
