import type { JsonObject } from '../lib/canonical-json.ts';
import type { Common } from './common.ts';
import { kernelEvent, type DecidedEvent, type StoredEvent } from './event.ts';
import type { Caller, Places, SessionRow } from './ports.ts';
import type { Host, Sign } from './process.ts';
import { refuse, type Refusal } from './refusal.ts';

/**
 * Leases: a claim on a session, or on one step of it, that ends by itself. A claim, its end and its loss are events; that it
 * was renewed is kept beside the log. Of all claims that were ever made of one thing, only the newest counts, and its token
 * tells it from all others (a fencing token: https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html).
 */

/** Who holds a claim. The same actor from two places, or in two conversations of an agent, is two holders. */
export interface Holder {
  readonly actor: string;
  /** The id of the agent's own conversation; null where it has none. */
  readonly agent: string | null;
  readonly host: string;
  readonly user: string;
  /** The id of the checkout, and what its worktree is called. */
  readonly place: string;
  readonly worktree: string;
}

/** A claim as its event says it. */
export interface Claim {
  readonly token: number;
  readonly holder: Holder;
  readonly purpose: string | null;
  /** When it was claimed and until when, by the clock of the claimer: UTC, RFC 3339, milliseconds. */
  readonly claimedAt: string;
  readonly expiresAt: string;
  /** What tells later whether the holder is gone; null where nothing was given on purpose. */
  readonly sign: HolderSign | null;
}

/** A pid, a process on record, or both. */
export type HolderSign = Sign & {
  readonly process: string | null;
  /** Whether that process has ended on record since, by its own word or because it was found dead. */
  readonly hasEnded?: boolean;
};

/** A claim that was renewed since: kept beside the log. */
export interface Renewal {
  readonly token: number;
  readonly at: string;
  readonly expiresAt: string;
}

/** A time that is further ahead than this, in milliseconds, was told by a clock that is wrong, and counts for nothing. */
const clockTolerance = 120_000;

/** The longest that a claim lasts, in milliseconds: 7 days. */
export const longestClaim = 7 * 86_400_000;

/** Whether a renewal is one that this program could have written. */
export const isRenewal = ({ token, at, expiresAt }: Renewal): boolean => {
  const length = Date.parse(expiresAt) - Date.parse(at);
  return Number.isSafeInteger(token) && length >= 0 && length <= longestClaim;
};

/** Whether something is a claim, as far as a program has to know before it uses it. */
export const isClaim = (value: unknown): value is Claim => {
  const claim = fieldsOf(value);
  const holder = fieldsOf(claim?.['holder']);
  return (
    Number.isSafeInteger(claim?.['token']) &&
    typeof holder?.['actor'] === 'string' &&
    typeof holder['host'] === 'string' &&
    !Number.isNaN(Date.parse(String(claim?.['claimedAt']))) &&
    !Number.isNaN(Date.parse(String(claim?.['expiresAt']))) &&
    claim?.['sign'] !== undefined
  );
};

/** How a claim stands by the clock. `ahead`: it says that it was made in the future. */
export interface Standing {
  readonly state: 'live' | 'expired' | 'ahead';
  /** When it was claimed or renewed last. */
  readonly at: string;
  readonly expiresAt: string;
}

/** How a claim stands, with what was renewed of it. */
export const standingOfClaim = (claim: Claim, renewal: Renewal | undefined, now: string): Standing => {
  // What is kept of a token is the newest that was said about it, whatever the clock showed then.
  const isNewer = renewal !== undefined && renewal.token === claim.token;
  const { at, expiresAt } = isNewer ? renewal : { at: claim.claimedAt, expiresAt: claim.expiresAt };
  const isAhead = Date.parse(at) - Date.parse(now) > clockTolerance;
  return { state: isAhead ? 'ahead' : now < expiresAt ? 'live' : 'expired', at, expiresAt };
};

/** What can be seen of whoever was named with a claim. What is seen alive is alive, whatever is on record. */
export const observeSign = (sign: Claim['sign'], { observe }: Pick<Host, 'observe'>): 'alive' | 'dead' | 'unknown' => {
  if (sign === null) return 'unknown';
  const seen = observe(sign);
  return seen === 'unknown' && sign.hasEnded === true ? 'dead' : seen;
};

/** Why a claim may be ended that its holder did not give back. */
export type Loss = 'expired' | 'gone' | 'its clock was ahead' | 'taken over' | 'left behind';

/**
 * Why a claim does not count any more, as far as can be seen; undefined where it does. One that was made by a clock that is
 * ahead counts only while whoever was named with it is seen alive: else nobody knows when it ends.
 */
export const lossOfClaim = (
  claim: Claim,
  renewal: Renewal | undefined,
  now: string,
  observe: (claim: Claim) => 'alive' | 'dead' | 'unknown',
): Exclude<Loss, 'taken over' | 'left behind'> | undefined => {
  const { state } = standingOfClaim(claim, renewal, now);
  if (state === 'expired') return 'expired';
  const seen = observe(claim);
  if (seen === 'dead') return 'gone';
  return state === 'ahead' && seen === 'unknown' ? 'its clock was ahead' : undefined;
};

/** Whether two are one holder: by the agent's conversation where there is one, else by host, user and place. */
export const isSameHolder = (a: Holder, b: Holder): boolean =>
  a.actor === b.actor &&
  a.agent === b.agent &&
  (a.agent !== null || (a.host === b.host && a.user === b.user && a.place === b.place));

/** What is known of the claim on a session when somebody wants it. */
export interface LeaseFacts {
  readonly key: string;
  readonly claim: Claim | null;
  /** The newest token that was ever handed out. */
  readonly token: number;
  readonly renewal: Renewal | undefined;
  readonly now: string;
  /** Whether whoever was named with a claim lives; looked at only when it is asked. */
  readonly observe: (claim: Claim) => 'alive' | 'dead' | 'unknown';
  /** The token that the caller shows. */
  readonly shown: number | undefined;
}

/** Who calls, as a holder. */
export const holderOf = (
  {
    caller,
    places,
    host,
  }: {
    readonly caller: Pick<Caller, 'actor' | 'agent' | 'user'>;
    readonly places: Places;
    readonly host: Pick<Host, 'name'>;
  },
  place: string,
): Holder => ({
  actor: caller.actor,
  agent: caller.agent,
  host: host.name,
  user: caller.user(),
  place,
  worktree: places.here.worktree,
});

/** What is known of the lease of a session when somebody calls. */
export const leaseFacts = (
  {
    common,
    renewals,
  }: { readonly common: Pick<Common, 'key' | 'lease' | 'token'>; readonly renewals: ReadonlyMap<string, Renewal> },
  caller: Pick<Caller, 'now' | 'leaseToken'>,
  host: Pick<Host, 'observe'>,
): LeaseFacts => ({
  key: common.key,
  claim: common.lease,
  token: common.token,
  renewal: renewals.get(''),
  now: caller.now,
  observe: ({ sign }) => observeSign(sign, host),
  shown: caller.leaseToken,
});

/** The same from a row: it knows the newest token as long as somebody holds the session. */
export const rowLeaseFacts = (
  row: Pick<SessionRow, 'key' | 'lease'>,
  renewal: Renewal | undefined,
  caller: Pick<Caller, 'now' | 'leaseToken'>,
  host: Pick<Host, 'observe'>,
): LeaseFacts =>
  leaseFacts(
    {
      common: { key: row.key, lease: row.lease, token: row.lease?.token ?? 0 },
      renewals: new Map(renewal === undefined ? [] : [['', renewal]]),
    },
    caller,
    host,
  );

/** Whether somebody holds the session, whoever it is. Who is gone holds it until somebody claims it, or its time is over. */
export const isHeld = ({ claim, renewal, now, observe }: LeaseFacts): boolean => {
  if (claim === null) return false;
  const loss = lossOfClaim(claim, renewal, now, observe);
  return loss === undefined || loss === 'gone';
};

/** Why a caller may not move a session: a token that is not the newest one, or a lease of somebody else. */
export const refuseFenced = (facts: LeaseFacts, holder: () => Holder): Refusal | undefined =>
  refuseToken(facts) ?? refuseOthers(facts, holder);

/** Why somebody who shows no token of this session may not move it: a lease of somebody else. */
export const refuseOthers = (facts: LeaseFacts, holder: () => Holder): Refusal | undefined =>
  !isHeld(facts) || isMine(facts, holder()) ? undefined : refuseHeld(facts);

/** What a write leads to for a claim that stands: one of somebody else that does not count is lost, one's own ends with a close. */
export const endedWith = (
  facts: LeaseFacts,
  holder: Holder,
  events: readonly DecidedEvent[],
): readonly DecidedEvent[] => {
  const { claim, renewal, now, observe } = facts;
  if (claim === null || events.length === 0) return [];
  if (!isMine(facts, holder)) {
    const loss = lossOfClaim(claim, renewal, now, observe);
    return loss === undefined ? [] : [lostEvent(claim, loss, holder)];
  }
  return events.some(({ type }) => type === 'SessionClosed') ? [releasedEvent(claim, holder)] : [];
};

/** Whoever shows another token than the newest one has lost the lease, whatever the clock says. */
export const refuseToken = ({ key, claim, token, shown }: LeaseFacts): Refusal | undefined => {
  if (shown === undefined || token === 0 || shown === token) return undefined;
  const since =
    claim === null ? 'nobody holds it' : `${claim.holder.actor} holds it since ${claim.claimedAt} with another one`;
  return refuse('lease', `The lease token ${shown} does not count for ${key}: ${since}.`, {
    expected: 'the newest token of this session, or none (--lease-token, STINT_LEASE_TOKEN)',
    legal: [`stint lease show --session ${key}`],
    hint: `stint lease show --session ${key}`,
  });
};

/** Whether a claim is the caller's: who shows its token, or is its holder. */
export const isMine = ({ claim, shown }: LeaseFacts, holder: Holder): boolean =>
  claim !== null && (shown === claim.token || isSameHolder(claim.holder, holder));

/** What a claim of somebody else says to whoever wants in. */
export const refuseHeld = (facts: LeaseFacts): Refusal => {
  const { key, claim, renewal, now } = facts;
  if (claim === null) throw new Error(`${key} is not held`);
  const { state, expiresAt } = standingOfClaim(claim, renewal, now);
  const evidence = facts.observe(claim);
  const life = { alive: 'it is alive', dead: 'its process is gone', unknown: 'whether it is alive is not known' }[
    evidence
  ];
  const claimIt = `stint lease claim --session ${key}`;
  return refuse(
    'lease',
    `${key} is held by ${holderText(claim.holder)} since ${claim.claimedAt} until ${expiresAt}${
      claim.purpose === null ? '' : `, for: ${claim.purpose}`
    }; ${life}${state === 'ahead' ? ', and its clock is ahead of this one' : ''}.`,
    {
      expected:
        evidence === 'dead' ? 'its lease, which may be claimed' : `its lease, or its token; it ends at ${expiresAt}`,
      legal: [
        `stint lease show --session ${key}`,
        evidence === 'dead' ? claimIt : `stint lease claim --take-over --session ${key}`,
      ],
      hint: evidence === 'dead' ? claimIt : `stint lease show --session ${key}`,
      retryable: true,
      lease: leaseToJson(facts),
    },
  );
};

/** A holder in words: who, where, and in which conversation. */
const holderText = ({ actor, agent, host, worktree }: Holder): string =>
  `${actor} on ${host} (worktree ${worktree}${agent === null || actor.endsWith(agent) ? '' : `, conversation ${agent}`})`;

/** A holder as events hold it. */
export const holderToData = ({ agent, ...holder }: Holder): JsonObject => ({
  ...holder,
  ...(agent === null ? {} : { agent }),
});

/** The event that a claim was given back, by whom. */
export const releasedEvent = ({ token, holder }: Claim, by: Holder): DecidedEvent =>
  kernelEvent('LeaseReleased', { token, holder: holderToData(holder), by: holderToData(by) });

/** The event that a claim was lost, why, and to whom. */
export const lostEvent = ({ token, holder }: Claim, because: Loss, to: Holder): DecidedEvent =>
  kernelEvent('LeaseLost', { token, holder: holderToData(holder), because, to: holderToData(to) });

/** A claim from the data of an event; null where it is none. */
export const claimFromData = (data: JsonObject): Claim | null => {
  const { token, holder, purpose, claimed_at: claimedAt, expires_at: expiresAt, sign } = data;
  if (typeof token !== 'number' || typeof claimedAt !== 'string' || typeof expiresAt !== 'string') return null;
  const who = fieldsOf(holder);
  const mark = fieldsOf(sign);
  return {
    token,
    holder: {
      actor: textIn(who, 'actor') ?? '',
      agent: textIn(who, 'agent'),
      host: textIn(who, 'host') ?? '',
      user: textIn(who, 'user') ?? '',
      place: textIn(who, 'place') ?? '',
      worktree: textIn(who, 'worktree') ?? '',
    },
    purpose: typeof purpose === 'string' ? purpose : null,
    claimedAt,
    expiresAt,
    sign:
      mark === undefined
        ? null
        : {
            process: textIn(mark, 'process'),
            host: textIn(mark, 'host') ?? '',
            hostId: textIn(mark, 'host_id'),
            pid: typeof mark['pid'] === 'number' ? mark['pid'] : null,
            pidStart: textIn(mark, 'pid_start'),
          },
  };
};

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;

const textIn = (fields: Readonly<Record<string, unknown>> | undefined, key: string): string | null => {
  const value = fields?.[key];
  return typeof value === 'string' ? value : null;
};

/** What the log says of the lease of a session. */
export interface LeaseState {
  readonly lease: Claim | null;
  /** The newest token that was ever handed out; 0 before the first. */
  readonly token: number;
}

/** Folds an event of a lease into what is known of it. */
export const foldLease = (before: LeaseState, event: StoredEvent): LeaseState => {
  switch (event.type) {
    case 'LeaseClaimed': {
      const lease = claimFromData(event.data);
      return { lease, token: Math.max(before.token, lease?.token ?? 0) };
    }
    case 'LeaseReleased':
    case 'LeaseLost':
      return { ...before, lease: null };
    case 'ProcessEnded': {
      const { lease } = before;
      const sign = lease?.sign ?? null;
      // A process that was cancelled with its supervisor has not been heard of; it may go on.
      const isWord = event.data['outcome'] !== 'cancelled';
      if (lease === null || sign === null || sign.process !== event.data['process'] || !isWord) return before;
      return { ...before, lease: { ...lease, sign: { ...sign, hasEnded: true } } };
    }
    case 'Salvaged':
      // Who has claimed it since is not known: no token from before counts any more, also where the clock stands still.
      return { lease: null, token: Math.max(before.token, Date.parse(event.at)) + 1 };
    default:
      return before;
  }
};

/** A lease as it is shown. */
export const leaseToJson = (facts: LeaseFacts) => {
  const { claim } = facts;
  if (claim === null) return null;
  const { state, at, expiresAt } = standingOfClaim(claim, facts.renewal, facts.now);
  const alive = facts.observe(claim);
  const loss = lossOfClaim(claim, facts.renewal, facts.now, facts.observe);
  return {
    state: loss === undefined ? ('active' as const) : loss === 'expired' ? ('expired' as const) : ('stale' as const),
    ...(state === 'ahead' ? { clock_ahead: true } : {}),
    holder: claim.holder.actor,
    host: claim.holder.host,
    user: claim.holder.user,
    place: claim.holder.place,
    worktree: claim.holder.worktree,
    agent_session: claim.holder.agent,
    purpose: claim.purpose,
    token: claim.token,
    claimed_at: claim.claimedAt,
    renewed_at: at === claim.claimedAt ? null : at,
    expires_at: expiresAt,
    process: claim.sign?.process ?? null,
    pid: claim.sign?.pid ?? null,
    alive,
  };
};
