import { err, ok, type Result } from './result.ts';
import { readPublicKey, type SshPublicKey } from './ssh-key.ts';

/** Files that say which keys are whose: `allowed_signers`, as `ssh-keygen(1)` describes them under ALLOWED SIGNERS. */
export interface AllowedSigner {
  readonly line: number;
  /** Patterns of names, `,` between them. */
  readonly principals: string;
  /** A key; or, as the end of a sentence, why what stands there vouches for nobody here. */
  readonly key: SshPublicKey | { readonly unusable: string };
  /** Patterns of what its signatures are for; undefined where any will do. */
  readonly namespaces: string | undefined;
  /** When it begins and ends to be valid, in milliseconds. */
  readonly validAfter: number;
  readonly validBefore: number;
}

/** What a signature is looked up by. */
export interface SignerQuestion {
  readonly principal: string;
  readonly fingerprint: string;
  readonly namespace: string;
  /** The times at which the key has to be valid, in milliseconds. */
  readonly at: readonly number[];
}

/**
 * Reads such a file; what is wrong with it comes as one phrase for each line. Times without a zone are local ones, as
 * `offsetAt` has them: how many minutes a local time `YYYY-MM-DDTHH:MM:SS` is ahead of UTC.
 */
export const readAllowedSigners = (
  text: string,
  offsetAt: (local: string) => number,
): Result<readonly AllowedSigner[], readonly string[]> => {
  const signers: AllowedSigner[] = [];
  const faults: string[] = [];
  for (const [index, written] of text.split(/\r?\n/).entries()) {
    const line = written.trim();
    if (line === '' || line.startsWith('#')) continue;
    const signer = readLine(line, offsetAt);
    if (signer.ok) signers.push({ line: index + 1, ...signer.value });
    else faults.push(`line ${index + 1} ${signer.error}`);
  }
  return faults.length > 0 ? err(faults) : ok(signers);
};

/** Who of the file vouches that a key is that of a signer; else why nobody does, as a sentence without its beginning. */
export const findSigner = (
  signers: readonly AllowedSigner[],
  { principal, fingerprint, namespace, at }: SignerQuestion,
): Result<AllowedSigner, string> => {
  const named = signers.filter(({ principals }) => matchesList(principal, principals));
  const reasons = named.map((signer) => {
    const { key, line, namespaces, validAfter, validBefore } = signer;
    if ('unusable' in key) return `line ${line} ${key.unusable}`;
    if (key.fingerprint !== fingerprint) return undefined;
    if (namespaces !== undefined && !matchesList(namespace, namespaces))
      return `line ${line} is not for the namespace ${namespace}`;
    if (at.some((time) => time < validAfter)) return `the key of line ${line} is not valid yet`;
    if (at.some((time) => time > validBefore)) return `the key of line ${line} is not valid any more`;
    return signer;
  });
  const found = reasons.find((one) => typeof one === 'object');
  if (found !== undefined) return ok(found);
  const reason = reasons.find((one) => typeof one === 'string');
  return err(reason ?? (named.length === 0 ? 'no line names the signer' : 'it has other keys for the signer'));
};

type ReadLine = Omit<AllowedSigner, 'line'>;

/** Names, options perhaps, and a key. Options are told from a key by that: what can be read as a key is one. */
const readLine = (line: string, offsetAt: (local: string) => number): Result<ReadLine, string> => {
  const [, quoted, plain, rest = ''] = /^(?:"([^"]*)"|([^\s"]\S*))\s+(.*)$/.exec(line) ?? [];
  const principals = quoted ?? plain ?? '';
  if (principals === '') return err('does not begin with names and go on with a key');
  const key = keyAt(rest);
  if (key !== undefined) return ok({ principals, key, ...anything });
  const [written = ''] = /^(?:"(?:\\"|[^"])*"|[^\s"])+/.exec(rest) ?? [];
  const options = readOptions(written, offsetAt);
  if (!options.ok) return options;
  const { isAuthority, ...limits } = options.value;
  const behind = keyAt(rest.slice(written.length).trimStart());
  if (behind === undefined) return err('holds no public key');
  return ok({
    principals,
    key: isAuthority ? { unusable: 'names a certificate authority, and certificates are not followed' } : behind,
    ...limits,
  });
};

/** The key at the beginning of a text; undefined where there is none, so that options may stand there. */
const keyAt = (text: string): AllowedSigner['key'] | undefined => {
  const key = readPublicKey(text);
  if (key.ok) return key.value;
  // A key that is well formed and not taken vouches for nobody, and leaves the rest of the file alone.
  return key.error.code === 'unsupported' ? { unusable: `has a key that ${key.error.problem}` } : undefined;
};

interface Options extends Pick<AllowedSigner, 'namespaces' | 'validAfter' | 'validBefore'> {
  readonly isAuthority: boolean;
}

const anything = { namespaces: undefined, validAfter: -Infinity, validBefore: Infinity };

const readOptions = (text: string, offsetAt: (local: string) => number): Result<Options, string> => {
  const given = new Map<string, string | undefined>();
  for (let rest = text; rest !== '';) {
    const [whole = '', name = '', value] = /^([\w-]+)(?:="((?:\\"|[^"])*)")?(?:,(?=.)|$)/.exec(rest) ?? [];
    const option = name.toLowerCase();
    if (takesValue.get(option) !== (value !== undefined))
      return err('has an option that is not known, or no public key');
    if (given.has(option)) return err(`has the option ${option} twice`);
    given.set(option, value);
    rest = rest.slice(whole.length);
  }
  const validAfter = momentOf(given.get('valid-after'), offsetAt, anything.validAfter);
  const validBefore = momentOf(given.get('valid-before'), offsetAt, anything.validBefore);
  if (validAfter === undefined || validBefore === undefined) return err('has a time that is none');
  if (validAfter > validBefore) return err('ends to be valid before it begins to');
  const namespaces = given.get('namespaces')?.replaceAll(String.raw`\"`, '"');
  return ok({ isAuthority: given.has('cert-authority'), namespaces, validAfter, validBefore });
};

/** The options, and whether they take a value. */
const takesValue: ReadonlyMap<string, boolean> = new Map([
  ['cert-authority', false],
  ['namespaces', true],
  ['valid-after', true],
  ['valid-before', true],
]);

/** `YYYYMMDD[HHMM[SS]]`, local unless `Z` or `UTC` stands behind it. */
const momentOf = (
  text: string | undefined,
  offsetAt: (local: string) => number,
  otherwise: number,
): number | undefined => {
  if (text === undefined) return otherwise;
  const [, year, month, day, hour = '00', minute = '00', second = '00', zone] =
    /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z|UTC)?$/i.exec(text) ?? [];
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const time = Date.parse(`${local}Z`);
  // A day that the month does not have would silently become one of the next month.
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(local)) return undefined;
  return zone === undefined ? time - offsetAt(local) * 60_000 : time;
};

/** Whether a list of patterns names a text: one of them does, and none behind a `!`. */
const matchesList = (text: string, list: string): boolean => {
  let matches = false;
  for (const pattern of list.split(',')) {
    if (!matchesPattern(text, pattern.startsWith('!') ? pattern.slice(1) : pattern)) continue;
    if (pattern.startsWith('!')) return false;
    matches = true;
  }
  return matches;
};

/** `*` stands for any text and `?` for one character. It goes back to the last `*` only, so that no pattern is slow. */
const matchesPattern = (text: string, pattern: string): boolean => {
  let [at, next, star, retry] = [0, 0, -1, 0];
  while (at < text.length) {
    if (pattern[next] === '*') {
      star = next;
      retry = at;
      next += 1;
    } else if (pattern[next] === '?' || (next < pattern.length && pattern[next] === text[at])) {
      at += 1;
      next += 1;
    } else if (star >= 0) {
      retry += 1;
      at = retry;
      next = star + 1;
    } else return false;
  }
  while (pattern[next] === '*') next += 1;
  return next === pattern.length;
};
