import { placeOf, type Order } from '../../kernel/dispatch.ts';
import type { DecidedEvent } from '../../kernel/event.ts';
import {
  holderOf,
  leaseFacts,
  leaseToJson as sessionLeaseToJson,
  longestClaim,
  type Holder,
  type LeaseFacts,
} from '../../kernel/lease.ts';
import { decideClaim, decideRelease, wishOf, type Claimed, type ClaimWish } from '../../kernel/lease-rules.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { OpenedSession, Origin } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { shellWord } from '../../lib/text.ts';
import { findLease, refuseFile, type FoundLease } from './found-lease.ts';
import { describedSession } from './live.ts';
import { leaseToJson } from './summary.ts';
import { currentPath, leasePath, locateLive, type Look } from './workspace.ts';
import { behind } from './write.ts';

/**
 * Who works on the documents below a root. The lease of the session that they describe says it; where nobody holds that,
 * a file says it which another program has written.
 */

/** What is known of it before a commit. */
export interface Held extends FoundLease {
  /** The session that is described; undefined where none of this store is. */
  readonly session: OpenedSession | undefined;
  /** What is known of its lease. */
  readonly facts: LeaseFacts | undefined;
  /** Whether what lies in the place of the file is something else. */
  readonly isBarred: boolean;
}

/** Looks who works on the documents. `root` is their root from that of the checkout; undefined outside of it. */
export const lookWhoHolds = async (world: World, look: Look, root: string | undefined): Promise<Held> => {
  const { store, caller, host } = world;
  const session = root === undefined ? undefined : await describedSession(world, root);
  const facts =
    session === undefined
      ? undefined
      : leaseFacts({ common: session.common, renewals: await store.renewals(session.key) }, caller, host);
  return {
    ...(await findLease(world, look, root)),
    session,
    facts,
    isBarred: !(await world.project()).isPlain(look.root, leasePath),
  };
};

/** How a lease is answered, whoever says it; None stands for what nobody said. */
export const heldToJson = ({ look, session, facts, file, exists }: Held): JsonObject => {
  const own = facts === undefined ? null : sessionLeaseToJson(facts);
  const { documents } = session?.common ?? {};
  const live = locateLive(look);
  const isOver = own !== null && file.state !== 'none';
  const base = {
    docs_root: look.root,
    lease_path: `${look.root}/${leasePath}`,
    exists: exists || own !== null,
  };
  if (own !== null)
    return {
      ...base,
      state: own.state,
      holder: own.holder,
      purpose: own.purpose ?? 'None',
      acquired_at: own.claimed_at,
      expires_at: own.expires_at,
      handover: documents?.handover ?? 'None',
      session_state: documents?.sessionState ?? 'None',
      warnings: isOver
        ? [
            `${leasePath} says that ${file.holder ?? 'nobody'} holds it, which has no power over the lease of ${session?.key}`,
          ]
        : [],
      errors: [],
      version: 1,
      session: session?.key ?? null,
      alive: own.alive,
    };
  const isSound = file.state === 'active' || file.state === 'expired';
  return {
    ...base,
    ...leaseToJson(file),
    handover: file.handover ?? 'None',
    session_state: file.sessionState ?? 'None',
    warnings: isSound
      ? [
          ...(file.sessionState === currentPath ? [] : [`its session_state is not ${currentPath}`]),
          ...(live !== undefined && file.handover !== live.handover ? ['it is about another handover'] : []),
        ]
      : [],
    errors: [...file.problems],
    ...(file.version === null ? {} : { version: file.version }),
    session: session?.key ?? null,
  };
};

/** What is reported beside a refusal. */
export const refusedToJson = (held: Held, refusal: Refusal, more: JsonObject = {}): JsonObject => ({
  ...heldToJson(held),
  errors: [...faultsOf(refusal)],
  ...more,
  result: 'error',
});

/** A refusal as the faults of a report. */
export const faultsOf = ({ message, faults = [] }: Refusal): readonly string[] => [
  message,
  ...faults.filter((fault) => !message.includes(fault)),
];

/** The usual time of a claim and the longest one, in minutes. */
export const minutes = { usual: 30, most: longestClaim / 60_000 };

/** Refuses a time that no claim lasts. */
export const refuseTtl = (ttl: number | undefined): Refusal | undefined =>
  ttl === undefined || (ttl >= 1 && ttl <= minutes.most)
    ? undefined
    : refuse('invalid-input', `A lease does not last ${ttl} minutes.`, {
        expected: `1 to ${minutes.most} minutes`,
        hint: 'leave --ttl-minutes out: 30',
      });

/** Refuses to go on where the file of the lease is none: what a link names is another file. */
export const refuseBarred = ({ look, isBarred }: Held): Refusal | undefined =>
  isBarred
    ? refuse('invariant-unmet', `${look.root}/${leasePath} is no file itself.`, {
        expected: 'a file, or nothing',
        hint: `take it away: ${look.root}/${leasePath}`,
      })
    : undefined;

/** What a claim is to be. */
export interface ClaimInput {
  readonly purpose: string;
  readonly ttl?: number | undefined;
  readonly takeOver: boolean;
}

/** A claim of the session of the documents as a part of an order. */
export interface Claiming {
  /** Its events, and the session behind them. */
  readonly decide: (
    session: OpenedSession,
    origin: Origin,
  ) => Result<{ readonly events: readonly DecidedEvent[]; readonly session: OpenedSession }, Refusal>;
  /** The order that it is a part of. */
  readonly within: (order: Order<JsonObject>) => Order<JsonObject>;
  /** What is known of the lease: before it was decided on, and of a session behind it. */
  readonly newest: () => LeaseFacts | undefined;
  readonly behind: (session: OpenedSession) => LeaseFacts;
}

/** Prepares a claim for whoever calls. */
export const claimSession = async (
  world: World,
  held: Held,
  key: string,
  { purpose, ttl = minutes.usual, takeOver }: ClaimInput,
): Promise<Result<Claiming, Refusal>> => {
  const wish = await wishOf(world, key, { purpose });
  if (!wish.ok) return wish;
  const place = placeOf(world);
  if (!place.ok) return place;
  const factsOf = (session: OpenedSession): LeaseFacts => leaseFacts(session, world.caller, world.host);
  let newest = held.facts;
  let claimed: Claimed | undefined;
  return ok({
    newest: () => newest,
    behind: (session) => {
      const facts = factsOf(session);
      return { ...facts, renewal: claimed?.renewal ?? facts.renewal };
    },
    decide: (session, origin) => {
      newest = factsOf(session);
      claimed = undefined;
      const holder = holderOf(world, place.value);
      const decided = decideHold(newest, held, { ...wish.value, ttl: ttl * 60_000, holder }, takeOver);
      if (!decided.ok) return decided;
      claimed = decided.value;
      return ok({ events: claimed.events, session: behind(session, claimed.events, origin) });
    },
    within: (order) => ({
      ...order,
      fence: 'own',
      beside: () => {
        const renewal = claimed?.renewal ?? null;
        return renewal === null ? [] : [{ session: key, step: '', renewal }];
      },
    }),
  });
};

/** Where nobody holds the session what another program has written counts, and stands in the event that takes its place. */
const decideHold = (
  facts: LeaseFacts,
  held: Pick<Held, 'file' | 'digest' | 'look'>,
  wish: ClaimWish,
  takeOver: boolean,
): Result<Claimed, Refusal> => {
  const counts = facts.claim === null && held.file.state !== 'none';
  const refusal = counts && !takeOver ? refuseFile(held, wish.holder.actor) : undefined;
  if (refusal !== undefined) return err(refusal);
  const instead = counts ? { ...leaseToJson(held.file), file: held.digest } : undefined;
  return decideClaim(facts, wish, { takeOver, anew: true, instead });
};

/** The same order, refused with the flag that a verb itself has for whoever is kept out: `way` is its command line, that flag last. */
export const withForce = (order: Order<JsonObject>, way: string): Order<JsonObject> => ({
  ...order,
  decide: (sessions, beforehand) => {
    const decided = order.decide(sessions, beforehand);
    if (decided.ok || decided.error.hint === undefined) return decided;
    const { hint, expected = '' } = decided.error;
    const isKeptOut = decided.error.code === 'lease' || expected.includes('--take-over');
    if (!isKeptOut) return decided;
    const flagged = expected.replace('--take-over', way.slice(way.lastIndexOf(' ') + 1));
    return err({ ...decided.error, expected: flagged, legal: [hint, way] });
  },
});

/** Gives the session of the documents back. Who does is to be said, where somebody holds it. */
export const decideLetGo = (
  facts: LeaseFacts,
  holder: Holder,
  { takeOver, isNamed }: { readonly takeOver: boolean; readonly isNamed: boolean },
): ReturnType<typeof decideRelease> =>
  facts.claim !== null && !takeOver && !isNamed
    ? err(refuseUnnamed(facts.claim.holder.actor))
    : decideRelease(facts, holder, { takeOver });

/** That nobody is named who gives it back. */
export const refuseUnnamed = (holder: string): Refusal =>
  refuse('lease', `Who gives the lease of ${holder} back is not said.`, {
    expected: '--holder, or --force',
    hint: `stint handoff lease release --holder ${shellWord(holder)}`,
  });

/** An order behind which what another program has written is gone. */
export const takingAway = (world: World, look: Look, order: Order<JsonObject>): Order<JsonObject> => ({
  ...order,
  work: async () => {
    const problem = (await world.project()).remove(look.root, leasePath);
    return problem === undefined
      ? ok({ order, at: world.caller.now })
      : err(refuse('invariant-unmet', `${look.root}/${leasePath} ${problem}.`, { expected: 'a file that may go' }));
  },
});
