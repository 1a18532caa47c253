import type { Claim } from '../../kernel/lease.ts';
import type { Json } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { clockSkew } from '../../lib/time.ts';

/** `ACTIVE_LEASE.json`: who works on the pair, as far as a file can say that. */

/** What the file of a lease says. */
export interface LeaseFile {
  readonly state: 'none' | 'active' | 'expired' | 'invalid';
  readonly holder: string | null;
  readonly purpose: string | null;
  readonly acquiredAt: string | null;
  readonly expiresAt: string | null;
  /** The pair that it is about, by the paths of its documents from the root. */
  readonly handover: string | null;
  readonly sessionState: string | null;
  /** What keeps it from being one, a sentence each. */
  readonly problems: readonly string[];
  /** Its version, where that is one. */
  readonly version: number | null;
}

const nothing = {
  holder: null,
  purpose: null,
  acquiredAt: null,
  expiresAt: null,
  handover: null,
  sessionState: null,
  version: null,
};

/** Where there is no file. */
export const noLease: LeaseFile = { state: 'none', ...nothing, problems: [] };

/** Reads the file of a lease, whatever it holds. `isThere` says of a path from the root whether a document lies there. */
export const readLeaseFile = (text: string, now: string, isThere: (path: string) => boolean): LeaseFile => {
  const json = parsed(text);
  if (!isJsonObject(json)) return { state: 'invalid', ...nothing, problems: ['it holds no JSON object'] };
  const { version, holder, purpose, acquired_at: acquired, expires_at: expires, handover, session_state: state } = json;
  const isNamed = (path: unknown): boolean => isLine(path) && isThere(path);
  const problems = [
    ...(version === 1 ? [] : ['its version is not 1']),
    ...(isLine(holder) ? [] : ['its holder is no line of text']),
    ...(isLine(purpose) ? [] : ['its purpose is no line of text']),
    ...(isTime(acquired) ? [] : ['acquired_at is no time with an offset']),
    ...(isTime(expires) ? [] : ['expires_at is no time with an offset']),
    ...(isTime(acquired) && isTime(expires) && Date.parse(expires) <= Date.parse(acquired)
      ? ['it expires before it was acquired']
      : []),
    ...(isTime(acquired) && Date.parse(acquired) > Date.parse(now) + clockSkew
      ? ['it was acquired in the future']
      : []),
    ...(isNamed(handover) || handover === noHandover ? [] : ['its handover is no file below the root']),
    ...(isNamed(state) ? [] : ['its session_state is no file below the root']),
  ];
  const said = {
    holder: isLine(holder) ? holder : null,
    purpose: isLine(purpose) ? purpose : null,
    acquiredAt: isTime(acquired) ? acquired : null,
    expiresAt: isTime(expires) ? expires : null,
    handover: isLine(handover) ? handover : null,
    sessionState: isLine(state) ? state : null,
    version: typeof version === 'number' ? version : null,
  };
  if (problems.length > 0 || !isTime(expires)) return { state: 'invalid', ...said, problems };
  return { state: Date.parse(expires) > Date.parse(now) ? 'active' : 'expired', ...said, problems };
};

/** What stands for the handover of a pair that has none. */
const noHandover = 'None';

/** The file of a claim. */
export const printLease = (
  { holder, purpose, claimedAt, expiresAt }: Claim,
  { handover, sessionState }: { readonly handover: string | null; readonly sessionState: string },
): string =>
  `${JSON.stringify(
    {
      version: 1,
      holder: holder.actor,
      purpose: purpose ?? 'not said',
      acquired_at: claimedAt,
      expires_at: expiresAt,
      handover: handover ?? noHandover,
      session_state: sessionState,
    },
    undefined,
    2,
  )}\n`;

const parsed = (text: string): Json | undefined => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Whether a value is a line of text that says something. */
export const isLine = (value: unknown): value is string =>
  typeof value === 'string' && value.isWellFormed() && value.trim() !== '' && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value);

const isTime = (value: unknown): value is string =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.test(value) &&
  !Number.isNaN(Date.parse(value));
