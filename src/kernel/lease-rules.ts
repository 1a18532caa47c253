import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { kernelEvent, type DecidedEvent } from './event.ts';
import {
  holderOf,
  holderToData,
  isMine,
  leaseFacts,
  longestClaim,
  lossOfClaim,
  lostEvent,
  refuseHeld,
  refuseToken,
  releasedEvent,
  standingOfClaim,
  type Claim,
  type Holder,
  type LeaseFacts,
  type Loss,
  type Renewal,
  type Standing,
} from './lease.ts';
import { resolveProcess } from './address.ts';
import { durationOf, optionalDuration } from './fields.ts';
import { refuseEnded, refusePid } from './process-rules.ts';
import { known } from './process.ts';
import { decideOpened } from './lifecycle.ts';
import { orderOne, placeOf, type Order } from './dispatch.ts';
import type { SessionRow } from './ports.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { OpenedSession } from './session.ts';
import type { World } from './verb.ts';

/** What the verbs about leases decide; no other verb is started with it. */

/** The least and the most that a claim lasts, and what it lasts where nobody says so, in milliseconds. */
export const ttl = { least: 10_000, most: longestClaim, usual: 30 * 60_000 };

/** The token of the next claim: it grows also where the one before is not known any more. */
export const nextToken = (previous: number, now: string): number => Math.max(previous + 1, Date.parse(now));

const ttlNamed = (usual: string) =>
  optionalDuration(
    `How long it lasts without being renewed, for example 90s, 30m, 2h or 7d. Default: ${usual}.`,
    ttl.least,
    ttl.most,
    'from 10s to 7d',
  );

/** The field of verbs that claim, and of those that renew. */
export const ttlField = ttlNamed('30m');
export const renewalField = ttlNamed('as long as it lasted before');

/** A claim made by somebody, with what tells later whether they are gone. */
export const wishOf = async (
  world: World,
  session: string,
  input: {
    readonly purpose?: string | undefined;
    readonly ttl?: string | undefined;
    readonly pid?: number | undefined;
  },
): Promise<Result<Omit<ClaimWish, 'holder'>, Refusal>> => {
  const { host, caller } = world;
  const process = caller.process === undefined ? undefined : await resolveProcess(world, undefined);
  if (process?.ok === false) return process;
  if (process !== undefined && process.value.endedAt !== null) return err(refuseEnded(process.value));
  if (process !== undefined && process.value.session !== session)
    return err(
      refuse('usage', `The process ${process.value.id} works on ${process.value.session}, not on ${session}.`, {
        expected: 'a process of the session that is claimed, or none (--process, STINT_PROCESS)',
        hint: `stint process list --session ${session}`,
      }),
    );
  const given = input.pid === undefined ? undefined : host.startOf(input.pid);
  if (input.pid !== undefined && given === undefined) return err(refusePid(input.pid, host));
  const wish = {
    purpose: input.purpose ?? null,
    ttl: input.ttl === undefined ? ttl.usual : (durationOf(input.ttl) ?? 0),
  };
  if (input.pid !== undefined) {
    const sign = { process: process?.value.id ?? null, host: host.name, hostId: host.id, pid: input.pid };
    return ok({ ...wish, sign: { ...sign, pidStart: given ?? null } });
  }
  if (process === undefined) return ok({ ...wish, sign: null });
  const { id, host: name, hostId, pid, pidStart } = process.value;
  return ok({ ...wish, sign: { process: id, host: name, hostId, pid, pidStart } });
};

/** What a claimer says. */
export interface ClaimWish {
  readonly holder: Holder;
  readonly purpose: string | null;
  /** Milliseconds. */
  readonly ttl: number;
  readonly sign: Claim['sign'];
}

/** The claim that a wish makes. */
export const claimOf = (wish: ClaimWish, token: number, now: string): Claim => ({
  token,
  holder: wish.holder,
  purpose: wish.purpose,
  claimedAt: now,
  expiresAt: later(now, wish.ttl),
  sign: wish.sign,
});

/** The renewal that keeps a claim for so long from now on. */
export const renewalOf = ({ token }: Claim, now: string, milliseconds: number): Renewal => ({
  token,
  at: now,
  expiresAt: later(now, milliseconds),
});

const later = (now: string, milliseconds: number): string => new Date(Date.parse(now) + milliseconds).toISOString();

/** What a claim leads to: events, or only a renewal. */
export interface Claimed extends Made {
  readonly claim: Claim;
  /** The claim that was ended for it. */
  readonly lost: { readonly claim: Claim; readonly loss: Loss } | null;
}

/**
 * Claims a session. Whoever holds it keeps its token and its time begins anew. From somebody else it is taken where that one
 * is expired or proved to be gone, or on purpose; both sides stand in the events. `anew`: a claim that is made again is on
 * record again, with its times. `instead`: what of another program it takes the place of, where nobody holds the session.
 */
export const decideClaim = (
  facts: LeaseFacts,
  wish: ClaimWish,
  {
    takeOver,
    anew = false,
    instead,
  }: { readonly takeOver: boolean; readonly anew?: boolean; readonly instead?: JsonObject | undefined },
): Result<Claimed, Refusal> => {
  const stale = refuseToken(facts);
  if (stale !== undefined) return err(stale);
  const { claim, now } = facts;
  const fresh = claimOf(wish, nextToken(facts.token, now), now);
  if (claim === null) {
    const { data, ...event } = claimedEvent(fresh);
    const said = instead === undefined ? data : { ...data, instead_of: instead };
    return ok({ events: [{ ...event, data: said }], claim: fresh, renewal: null, lost: null });
  }
  const { state } = standingOfClaim(claim, facts.renewal, now);
  if (state !== 'expired' && isMine(facts, wish.holder)) {
    // Who is named with nobody now is not taken for whoever was named before and is gone.
    const before = facts.observe(claim) === 'dead' ? null : claim.sign;
    const said = { ...wish, purpose: wish.purpose ?? claim.purpose, sign: wish.sign ?? before };
    const again = { ...claimOf(said, claim.token, now), holder: claim.holder };
    const isSame = !anew && sameText(again.purpose, claim.purpose) && sameText(again.sign, claim.sign);
    // Kept beside the log in either case: what was renewed of this token before does not outlive it.
    const renewal = renewalOf(claim, now, wish.ttl);
    return ok(
      isSame
        ? { events: [], claim, renewal, lost: null }
        : { events: [claimedEvent(again)], claim: again, renewal, lost: null },
    );
  }
  const loss = lossOf(facts, takeOver);
  if (loss === undefined) return err(refuseHeld(facts));
  return ok({
    events: [lostEvent(claim, loss, wish.holder), claimedEvent(fresh, claim)],
    claim: fresh,
    renewal: null,
    lost: { claim, loss },
  });
};

/** Why a claim of somebody else may be ended now; undefined where it may not. */
const lossOf = ({ claim, renewal, now, observe }: LeaseFacts, takesOver: boolean): Loss | undefined =>
  claim === null ? undefined : (lossOfClaim(claim, renewal, now, observe) ?? (takesOver ? 'taken over' : undefined));

/** Renews a claim that the caller holds and that has not expired. */
export const decideRenew = (
  facts: LeaseFacts,
  holder: Holder,
  milliseconds: number | undefined,
): Result<Made & { readonly renewal: Renewal }, Refusal> => {
  const stale = refuseToken(facts);
  if (stale !== undefined) return err(stale);
  const { claim, now, key } = facts;
  if (claim === null) return err(refuseNone(facts));
  if (!isMine(facts, holder)) return err(refuseHeld(facts));
  const standing = standingOfClaim(claim, facts.renewal, now);
  if (standing.state === 'expired') {
    return err(
      refuse('lease', `The lease of ${key} expired at ${standing.expiresAt}.`, {
        expected: 'a lease that is live',
        legal: [`stint lease claim --session ${key}`],
        hint: `stint lease claim --session ${key}`,
      }),
    );
  }
  return ok({ events: [], renewal: renewalOf(claim, now, milliseconds ?? lengthOf(standing)) });
};

/** Gives a claim back. Where there is none nothing changes; somebody else's is given back only on purpose. */
export const decideRelease = (
  facts: LeaseFacts,
  holder: Holder,
  { takeOver }: { readonly takeOver: boolean },
): Result<Made, Refusal> => {
  const stale = refuseToken(facts);
  if (stale !== undefined) return err(stale);
  const { claim } = facts;
  const made = (...events: readonly DecidedEvent[]): Result<Made, never> => ok({ events, renewal: null });
  if (claim === null) return made();
  if (isMine(facts, holder)) return made(releasedEvent(claim, holder));
  const loss = lossOf(facts, takeOver);
  return loss === undefined ? err(refuseHeld(facts)) : made(lostEvent(claim, loss, holder));
};

const sameText = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const refuseNone = ({ key }: LeaseFacts): Refusal =>
  refuse('lease', `Nobody holds ${key}.`, {
    expected: 'a lease',
    legal: [`stint lease claim --session ${key}`],
    hint: `stint lease claim --session ${key}`,
  });

/** The data of a claim, as events hold it. */
export const claimToData = (claim: Claim): JsonObject => ({
  token: claim.token,
  holder: holderToData(claim.holder),
  ...(claim.purpose === null ? {} : { purpose: claim.purpose }),
  claimed_at: claim.claimedAt,
  expires_at: claim.expiresAt,
  ...(claim.sign === null ? {} : { sign: signToData(claim.sign) }),
});

/** What tells later whether somebody is gone, as events hold it. */
export const signToData = ({ process, host, hostId, pid, pidStart }: NonNullable<Claim['sign']>): JsonObject =>
  known({ process, host, host_id: hostId, pid, pid_start: pidStart });

const claimedEvent = (claim: Claim, before?: Claim): DecidedEvent =>
  kernelEvent('LeaseClaimed', {
    ...claimToData(claim),
    ...(before === undefined ? {} : { after: { token: before.token, holder: holderToData(before.holder) } }),
  });

/** Takes the lease of a session over with another order: for the usual time, and on the record of both sides. */
export const takeOver = (
  facts: LeaseFacts,
  holder: Holder,
): { readonly events: readonly DecidedEvent[]; readonly claim: Claim } => {
  const claimed = decideClaim(facts, { holder, purpose: null, ttl: ttl.usual, sign: null }, { takeOver: true });
  if (!claimed.ok) throw new Error(claimed.error.message);
  return claimed.value;
};

/** What a sign of life of a process renews: the live lease that was claimed with it, for as long as it lasted before. */
export const renewalBy = ({ claim, renewal, now }: LeaseFacts, process: string): Renewal | undefined => {
  if (claim === null || claim.sign?.process !== process) return undefined;
  const standing = standingOfClaim(claim, renewal, now);
  return standing.state === 'expired' ? undefined : renewalOf(claim, now, lengthOf(standing));
};

/** How long a claim lasts, in milliseconds. */
export const lengthOf = ({ at, expiresAt }: Standing): number => Date.parse(expiresAt) - Date.parse(at);

/** What an order about a lease comes to. */
interface Made {
  readonly events: readonly DecidedEvent[];
  /** What is kept beside the log; nothing where it stays what it is. */
  readonly renewal: Renewal | null;
}

/** An order about the lease of one session, for whoever calls. */
export const orderLease = <Outcome extends Made>(
  world: World,
  row: Pick<SessionRow, 'key'>,
  decide: (facts: LeaseFacts, holder: Holder) => Result<Outcome, Refusal>,
  {
    mustBeOpen = false,
    answer,
  }: {
    readonly mustBeOpen?: boolean;
    readonly answer: (after: OpenedSession, made: Outcome, facts: LeaseFacts) => JsonObject;
  },
): Result<Order<JsonObject>, Refusal> => {
  const { caller, host } = world;
  const place = placeOf(world);
  if (!place.ok) return place;
  const factsOf = (session: OpenedSession): LeaseFacts => leaseFacts(session, caller, host);
  let made: Outcome | undefined;
  const outcome = (): Outcome => {
    if (made === undefined) throw new Error(`nothing was decided about the lease of ${row.key}`);
    return made;
  };
  return ok({
    journalOnly: true,
    fence: 'own',
    beside: () => {
      const { renewal } = outcome();
      return renewal === null ? [] : [{ session: row.key, step: '', renewal }];
    },
    ...orderOne(
      row.key,
      (session) =>
        decideOpened(
          session,
          (opened) => {
            const decided = decide(factsOf(opened), holderOf(world, place.value));
            if (!decided.ok) return decided;
            made = decided.value;
            return ok(made.events);
          },
          { mustBeOpen },
        ),
      (after) => {
        const facts = factsOf(after);
        return answer(after, outcome(), { ...facts, renewal: outcome().renewal ?? facts.renewal });
      },
    ),
  });
};
