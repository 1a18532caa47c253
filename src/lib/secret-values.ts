import { HEAD, MARK } from './secret-scan.ts';

/**
 * What names and values say of themselves: whether a name is that of a secret, and whether what stands behind it is one.
 * A name alone is no proof: "token: an integer", `token = getToken()` and `password: string` must survive.
 */

/** The mark without its bracket, which as the end of a value does not count as part of it. */
const BARE_MARK = MARK.slice(0, -1);

/** How a value is written behind its name; see `looksSecret`. */
export type Shape = 'quoted' | 'assigned' | 'spaced' | 'listed' | 'followed';

/** The words of a name, in lower case: `apiKey`, `API_KEY` and `x-api-key` all end in `api`, `key`. */
export function wordsOf(name: string): readonly string[] {
  return name
    .slice(-LONGEST_NAME)
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .map((word) => word.replace(/\d+$/, ''))
    .filter((word) => word !== '');
}

export const LONGEST_NAME = 96;

const SECRET_WORD =
  /(?:password|passwd|passphrase|passcode|secret|token|credentials?|apikey|accesskey|secretkey|privatekey|accountkey|authorization|.pwd)$/;
const SECRET_KEY = /^(?:api|access|secret|private|account|auth|signing|encryption|master|storage|webhook|role)$/;

/** Tokens of parsers, language models, pages of a list and leases: no secrets, however they are called. */
const OTHER_TOKEN =
  /^(?:lease|step|fence|fencing|page|next|prev|previous|continuation|sync|start|end|first|last|current|unexpected|expected|min|max|special|stop|bos|eos|pad|unk|mask|sep|cls|cancel|cancellation)$/;

/**
 * The rule by which a value behind a name is a secret, if it is one. Behind the name of a secret a value has to look like
 * one; behind a name that only may be one's, it has to look like nothing else.
 *
 * @param next the beginning of what follows the value
 */
export function ruleOf(value: string, shape: Shape, name: readonly string[], next: string): string | undefined {
  if (isSecretName(name)) return looksSecret(value, shape, name, next) ? 'assigned-secret' : undefined;
  const last = name.at(-1) ?? '';
  if (value.includes(BARE_MARK)) return undefined;
  if (last === 'auth' && isBasic(value)) return 'basic-auth';
  if (last === 'cookie') return value.split(/[;=\s]+/, 64).some(looksRandom) ? 'session-cookie' : undefined;
  if (/^(?:pass|pwd)$/.test(last) && (shape === 'quoted' || shape === 'assigned') && looksChosen(value))
    return 'assigned-secret';
  return mayNameSecret(name) && looksRandom(value) ? 'high-entropy' : undefined;
}

/** Whether somebody may have thought of a value as a password: letters and digits, and no word of the trade. */
export const looksChosen = (value: string): boolean =>
  /^\S{6,64}$/.test(value) &&
  /\d/.test(value) &&
  /[A-Za-z]/.test(value) &&
  !TERM.test(value) &&
  !isPlaceholder(value) &&
  !isReference(value, 'assigned', '');

/** How long a value is that only its randomness gives away, and the bits that each of its characters holds at least. */
const RANDOM_LENGTH = 20;
const RANDOM_BITS = 3.5;

/**
 * Whether a value is made by chance: of the characters of base64, upper and lower case and digits among them, with the
 * entropy of its own characters, and not for the most part words. What is hexadecimal, a UUID, a digest or a public key
 * never is.
 */
function looksRandom(value: string): boolean {
  const head = value.slice(0, HEAD);
  if (!/^[A-Za-z\d+/_=~-]+$/.test(head) || /^(?:sha\d|md5)|^AAAA[BCE]/i.test(head)) return false;
  const rest = head.replaceAll(/[\da-f]{8}(?:-?[\da-f]{4}){2,}[\da-f-]*/gi, '');
  if (rest.length < RANDOM_LENGTH || !/\d/.test(rest) || !/[a-z]/.test(rest) || !/[A-Z]/.test(rest)) return false;
  if (rest.replaceAll(/[a-z]{3,}|[A-Z]{4,}/g, '').length * 2 < rest.length) return false;
  const counts = new Map<string, number>();
  for (const character of rest) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / rest.length) * Math.log2(count / rest.length);
  return bits >= RANDOM_BITS;
}

const SECRET_PART = /(?:key|token|secret|password|passwd|cred|credential)s?$|^(?:auth|pass|pwd)$/;

/** What is shown to everybody, or only tells things apart. */
const PUBLIC_PART =
  /^(?:pub|public|pubkey|publickey|cache|primary|foreign|sort|partition|idempotency|routing|host|known|id|ids|kid|hash|hashes|sha|digest|checksum|fingerprint|signature|integrity|etag|name|names|path|file|type|version|url|uri|cert|certificate|next|previous|lease|step|page|sync|continuation|cursor)$/;

/** Whether a name may be a secret's: one of its words is, and none says that it is not. */
const mayNameSecret = (words: readonly string[]): boolean =>
  words.some((word) => SECRET_PART.test(word)) && !words.some((word) => PUBLIC_PART.test(word));

/** Whether a name is that of a secret: its last words are. `token_count`, `secret_name` and `password_policy` are not. */
export function isSecretName(words: readonly string[]): boolean {
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
export function isPlaceholder(value: string): boolean {
  return isTemplate(value) || PLACEHOLDER.test(value);
}

/** A mask, a variable or a template; of a template with more around it, the rest may be a secret. */
export function isTemplate(value: string): boolean {
  if (/^[*.•#_\-…?]+$|^[xX]+$|^%[A-Za-z_]+%?$|^\$[A-Za-z_][\w:.]*$|^<.*>$|^\{[A-Za-z_][\w.]*(?:![ars])?$/s.test(value))
    return true;
  const rest = value.replaceAll(/\$\{[^{}]*\}|\{\{[^{}]*\}\}|\$\([^()]*\)|\{[A-Za-z_][\w.]*(?:![ars])?\}/g, '');
  return rest === value ? /^\$[({]|^\{\{/.test(value) : rest.length < 6;
}

const PLACEHOLDER =
  /^(?:(?:your|insert|replace|enter|example|placeholder|dummy|change[-_ ]?me|todo)[-_ a-z]*|pass(?:word|wd|phrase|code)|secret|token|api[-_ ]?key|string|number|boolean|object|undefined|unknown|symbol|bigint|required|optional|nullable|enabled|disabled|present|absent|missing|invalid|expired?s?|revoked|rotated|unchanged|changed|hashed|encrypted|masked|hidden|redacted|removed|deleted|default|inherit|include|same-origin|prompt|nothing|buffer|varchar|bearer)$/i;

/** Code that yields the secret instead of being it: a call, a member, a variable, a file, an address. */
export function isReference(value: string, shape: Shape, next: string): boolean {
  // The name of an environment variable stands in quotes too.
  if (/^[A-Z][A-Z\d]*(?:_[A-Z\d]+)+$/.test(value) && isSecretName(wordsOf(value))) return true;
  if (/^(?:process\.env|import\.meta\.env|os\.environ|os\.getenv|Deno\.env|ENV\[)/.test(value)) return true;
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(value)) return true;
  if (/^(?:\.{0,2}|~|[A-Za-z]:)[/\\]/.test(value) && /^[\w./\\@~:+ -]+$/.test(value)) return !isDense(value);
  // A colour of a theme.
  if (/^#(?:[\da-f]{3}){1,2}$/i.test(value)) return true;
  // A version range behind the name of a package, and what stands between two literals.
  if (/^[~^<>=v]*\d+(?:\.[\dx*]+)+(?:[-+][\w.]+)?$/.test(value) || /^\s*[+,&.)]\s/.test(value)) return true;
  if (shape === 'quoted') return /^[A-Za-z_$][\w$.]*\([^()]*\)$/.test(value);

  if (/^[\w.-]+(?:\/[\w.-]+)*\.(?:txt|pem|key|json|ya?ml|env|md|ts|js|py|go|rs)$/.test(value)) return true;
  // A regular expression.
  if (/^\/[\^([\\].*\/[dgimsuvy]*$/.test(value)) return true;
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

/** Base64 of printable `user:password` (RFC 7617). */
export function isBasic(text: string): boolean {
  if (text.length < 8 || text.length > 512 || !/^[A-Za-z0-9+/_-]+=*$/.test(text)) return false;
  const plain = Buffer.from(text, 'base64').toString('latin1');
  return /^[\u0020-\u007e\u00a0-\u00ff]*$/.test(plain) && plain.includes(':');
}
