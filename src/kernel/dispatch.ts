import { canonicalJson, type Json, type JsonObject } from '../lib/canonical-json.ts';
import { wellFormedJson } from '../lib/json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { hmacSha256 } from '../lib/sha256.ts';
import { isLifecycle, type DecidedEvent } from './event.ts';
import {
  endedWith,
  holderOf,
  leaseFacts,
  refuseOthers,
  refuseToken,
  type Claim,
  type Holder,
  type LeaseFacts,
} from './lease.ts';
import type { Beside, Caller, Guard, Places, Store, StoredRequest } from './ports.ts';
import type { Host } from './process.ts';
import type { LookAtDocuments, TakenDocuments } from './documents.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Taking } from './taking.ts';
import { isOpened, viewOfSession, type OpenedSession, type Origin, type Session } from './session.ts';

/** What a writing verb wants done; made anew when what it was based on has changed. */
export interface Order<Answer extends JsonObject> {
  /** The session that is written, and those that are written with it; it may turn out that there are none. */
  readonly keys: readonly string[];
  readonly guards?: readonly Guard[];
  /** Whether it appends remarks only, decided from the common state alone. */
  readonly journalOnly?: boolean;
  /** Whether the decision looks at processes: those that run are loaded, and those that are named here. */
  readonly processes?: readonly string[];
  readonly decide: (
    sessions: ReadonlyMap<string, Session>,
    beforehand: Beforehand,
  ) => Result<ReadonlyMap<string, readonly DecidedEvent[]>, Refusal>;
  /** Whether the decision looks at what was renewed of steps. */
  readonly steps?: boolean;
  /** Pure: what is kept with it beside the log. */
  readonly beside?: (after: ReadonlyMap<string, Session>) => readonly Beside[];
  /**
   * What needs the lease of a session that is held: the events that move it, where nothing is said; `joins`: going on with
   * it at all; `own`: nothing, because the decision looks after that itself. A token that is shown and is not the newest is
   * refused in any case but for `several`: it is about one of the sessions, nobody knows which.
   */
  readonly fence?: 'joins' | 'own' | 'several' | undefined;
  /** A session that was seen to have documents: they are looked at ahead of a first try, which would stop at them. */
  readonly documented?: OpenedSession | undefined;
  /** The session that is worked on in this checkout from now on: its documents come along. */
  readonly arrives?: Arrival | undefined;
  /** Whether the caller has an authority of its own over what it does there, for example the token of a step. */
  readonly isAuthorised?: (session: OpenedSession) => boolean;
  /** Pure: what the caller gets, from the sessions before and after. */
  readonly answer: (after: ReadonlyMap<string, Session>, before: ReadonlyMap<string, Session>) => Answer;
  /** What is reported beside a refusal, by a verb whose answer is a verdict. */
  readonly report?: (refusal: Refusal) => JsonObject;
  /**
   * What has to be done first, takes its time and has effects, for example running a program: the order that comes of it is
   * carried out in place of this one. It is done only where this one would not be refused, and in no dry run. Such an order
   * has no guards: it is planned, and its work done, once.
   */
  readonly work?: () => Promise<Result<Worked<Answer>, Refusal>>;
}

/** A session whose documents come to this checkout. */
export interface Arrival {
  readonly key: string;
  /** The digests of what lies in their place there and is nothing of theirs: it is kept beside. */
  readonly replaces: readonly string[];
}

/** What comes of the work of an order. */
export interface Worked<Answer extends JsonObject> {
  readonly order: Order<Answer>;
  /** When it was done: what is written then was not known earlier. */
  readonly at: string;
}

/** How often an order is made anew because what was observed has changed in between; each time somebody else got on. */
const mostAttempts = 50;

/** What was done before an order is decided, in the same commit. */
export interface Beforehand {
  /** What was taken in of the documents of its sessions, by their keys. */
  readonly documents: ReadonlyMap<string, TakenDocuments>;
  /** What the events of the order will say of where they come from. */
  readonly origin: Origin;
}

/** What orders are carried out with. */
export interface Dispatching {
  readonly store: Store;
  readonly caller: Caller;
  readonly places: Places;
  readonly host: Host;
  readonly documents?: LookAtDocuments;
}

/** Says that the documents of a session are to be looked at before anything of it is decided. */
export class Unseen extends Error {
  readonly session: OpenedSession;
  constructor(session: OpenedSession) {
    super(`the documents of ${session.key} were not looked at`);
    this.session = session;
  }
}

/**
 * The only way to write. The order is planned outside the transaction and decided inside it; where a guard no longer holds
 * it is planned again. A request that was carried out before is answered with what was answered then.
 */
export const dispatch = async <Answer extends JsonObject>(
  world: Dispatching,
  request: { readonly verb: string; readonly digest: string },
  plan: () => Promise<Result<Order<Answer>, Refusal>>,
): Promise<Result<JsonObject, Refusal>> => {
  const { store, caller } = world;
  if (store.readOnly !== undefined) return err(store.readOnly);
  const id = caller.requestId ?? caller.freshId();
  const takesOver = caller.takeOver ? (await import('./lease-rules.ts')).takeOver : undefined;

  let taking: Taking | undefined;
  const see = async (session: OpenedSession): Promise<void> => {
    taking ??= (await import('./taking.ts')).createTaking(world);
    await taking.see(session);
  };
  /** One commit of an order; a rehearsal changes nothing. Of a session that has documents these are looked at first. */
  const carryOut = async (order: Order<Answer>, place: string, dryRun: boolean, now = caller.now) => {
    if (taking === undefined && order.documented !== undefined) await see(order.documented);
    for (;;) {
      try {
        return await carryOutOnce(order, place, dryRun, now);
      } catch (error) {
        if (!(error instanceof Unseen)) throw error;
        await see(error.session);
      }
    }
  };
  const carryOutOnce = async (given: Order<Answer>, place: string, dryRun: boolean, now: string) => {
    const origin = { now, actor: caller.actor, place, cause: id };
    const order = taking === undefined ? watching(given, origin) : taking.ahead(given, origin);
    const { keys, guards = [], journalOnly = false, processes, steps, beside, answer } = order;
    const gate = fenceOf(world, order, place, takesOver);
    const outcome = await store.commit({
      keys,
      guards,
      journalOnly,
      processes,
      steps,
      beside,
      origin,
      request: { id, given: caller.requestId !== undefined, ...request },
      expectRevision: caller.expectRevision,
      dryRun,
      decide: gate.decide,
      answer: (after, before): JsonObject => ({
        ...answer(after, before),
        ...gate.taken(after),
        ...(dryRun ? { dry_run: true } : {}),
      }),
    });
    const held = outcome.ok ? undefined : gate.refused();
    if (held !== undefined && !caller.dryRun) await store.countRefusal(held, caller.now);
    return outcome;
  };

  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const order = await plan();
    if (!order.ok) return order;
    // Only an order that is good makes a place where there is none.
    const place = placeOf(world);
    if (!place.ok) return place;
    const { work } = order.value;
    let outcome = await carryOut(order.value, place.value, caller.dryRun || work !== undefined);
    if (work !== undefined && !caller.dryRun && outcome.ok && outcome.value.kind === 'committed') {
      const worked = await work();
      if (!worked.ok) return worked;
      outcome = await carryOut(worked.value.order, place.value, false, worked.value.at);
    }
    if (!outcome.ok) return outcome;
    switch (outcome.value.kind) {
      case 'committed':
        return ok(outcome.value.answer);
      case 'known':
        return replayRequest(outcome.value.request, caller, request);
      case 'stale':
        continue;
    }
  }
  return err(refuse('busy', 'The sessions that this is about kept changing.', { hint: 'run the same command again' }));
};

/** An order that is decided on sessions as they are. */
export type Decided<Answer extends JsonObject> = Omit<Order<Answer>, 'decide'> & {
  readonly decide: (sessions: ReadonlyMap<string, Session>) => ReturnType<Order<Answer>['decide']>;
};

/** An order as long as nobody has looked at documents: it stops where a session has some. */
const watching = <Answer extends JsonObject>(order: Order<Answer>, origin: Origin): Decided<Answer> => ({
  ...order,
  decide: (sessions) => {
    for (const session of sessions.values())
      if (isOpened(session) && session.common.documents !== undefined) throw new Unseen(session);
    return order.decide(sessions, { documents: none, origin });
  },
});

const none: ReadonlyMap<string, TakenDocuments> = new Map();

/** Takes the lease of a session over: the events of both sides, and the claim. */
type TakesOver = (
  facts: LeaseFacts,
  holder: Holder,
) => { readonly events: readonly DecidedEvent[]; readonly claim: Claim };

/**
 * Stands before a decision: of a session that somebody else holds nothing is moved, and whoever shows a token that is not
 * the newest one writes nothing at all. What a write ends of a lease goes on record before it.
 */
const fenceOf = <Answer extends JsonObject>(
  { caller, places, host }: { readonly caller: Caller; readonly places: Places; readonly host: Host },
  { keys, journalOnly = false, fence, isAuthorised, decide }: Decided<Answer>,
  place: string,
  takesOver: TakesOver | undefined,
): {
  readonly decide: Decided<Answer>['decide'];
  /** The session that is held by somebody else, where that is why the order was refused. */
  readonly refused: () => string | undefined;
  /** What the caller is told of leases that were taken over with the order. */
  readonly taken: (after: ReadonlyMap<string, Session>) => JsonObject;
} => {
  let held: string | undefined;
  const taken = new Map<string, { readonly from: string; readonly claim: Claim }>();
  const holder = (): Holder => holderOf({ caller, places, host }, place);
  const refuseFor = (key: string | undefined, refusal: Refusal): Result<never, Refusal> => {
    held = key;
    return err(refusal);
  };
  return {
    refused: () => held,
    taken: (after) =>
      taken.size === 0
        ? {}
        : {
            taken_over: [...taken].map(([session, { from, claim }]) => {
              const isOver = loadedIn(after, session).common?.lease?.token !== claim.token;
              return {
                session,
                from,
                lease_token: isOver ? null : claim.token,
                lease_expires_at: isOver ? null : claim.expiresAt,
              };
            }),
          },
    decide: (sessions) => {
      held = undefined;
      taken.clear();
      const decided = decide(sessions);
      const endings = new Map<string, readonly DecidedEvent[]>();
      for (const session of sessions.values()) {
        if (!isOpened(session)) continue;
        const { key } = session;
        const facts = leaseFacts(session, caller, host);
        const stale = fence === 'several' ? undefined : refuseToken(facts);
        if (stale !== undefined) return refuseFor(key, stale);
        const events = decided.ok ? (decided.value.get(key) ?? []) : [];
        const isMoved = decided.ok
          ? events.some(({ type }) => isLifecycle(type))
          : keys.includes(key) && decided.error.record === undefined;
        const isJoined = fence === 'joins' && key === keys[0];
        if (fence === 'own' || journalOnly || !(isMoved || isJoined)) continue;
        if (facts.claim === null || isAuthorised?.(session) === true) continue;
        const refusal = refuseOthers(facts, holder);
        if (refusal === undefined) {
          endings.set(key, endedWith(facts, holder(), events));
          continue;
        }
        if (takesOver === undefined) return refuseFor(key, refusal);
        const { events: both, claim } = takesOver(facts, holder());
        taken.set(key, { from: facts.claim.holder.actor, claim });
        endings.set(key, [...both, ...endedWith({ ...facts, claim, renewal: undefined }, claim.holder, events)]);
      }
      if (!decided.ok)
        return fence === 'own' && decided.error.lease !== undefined ? refuseFor(keys[0], decided.error) : decided;
      if ([...endings.values()].every((events) => events.length === 0)) return decided;
      // In their order: whoever comes last has the file that several are in.
      const keysInOrder = new Set([...decided.value.keys(), ...endings.keys()]);
      return ok(
        new Map([...keysInOrder].map((key) => [key, [...(endings.get(key) ?? []), ...(decided.value.get(key) ?? [])]])),
      );
    },
  };
};

/** The place that a call is made from; only one that may write makes it where there is none. */
export const placeOf = ({
  caller,
  places,
}: {
  readonly caller: Pick<Caller, 'dryRun'>;
  readonly places: Places;
}): Result<string, Refusal> => (caller.dryRun ? ok(places.here.id ?? 'not made yet') : places.claim());

/** The stored answer of a request that is known, if it is the same one. */
export const replayRequest = (
  known: StoredRequest,
  caller: Pick<Caller, 'actor'>,
  request: { readonly verb: string; readonly digest: string },
): Result<JsonObject, Refusal> =>
  known.actor === caller.actor && known.verb === request.verb && known.digest === request.digest
    ? ok({ ...known.answer, replayed: true })
    : err(
        refuse('conflict', `The request ${known.id} was used before: ${known.verb} by ${known.actor} at ${known.at}.`, {
          expected: 'the same verb, actor and input, or a new request id',
          hint: 'use a new --request-id',
        }),
      );

/** The keyed digest of a raw input: equal inputs have equal digests, and the digest does not give a secret away. */
export const digestInput = (store: Store, input: Json): string =>
  hmacSha256(store.identity.key, canonicalJson(wellFormedJson(input)));

/** Where a session stands: what every writing verb answers. */
export const standingOf = (session: OpenedSession): JsonObject => {
  const view = viewOfSession(session);
  return {
    session: session.key,
    session_id: session.common.name,
    ...view.where,
    position: view.position,
    completeness: view.completeness,
    next_action: { ...view.next },
  };
};

/** An order that writes one session, and answers from what it is afterwards. */
export const orderOne = (
  key: string,
  decide: (session: Session) => Result<readonly DecidedEvent[], Refusal>,
  answer: (after: OpenedSession) => JsonObject,
): Order<JsonObject> => ({
  keys: [key],
  decide: (sessions) => {
    const events = decide(loadedIn(sessions, key));
    return events.ok ? ok(new Map([[key, events.value]])) : events;
  },
  answer: (after) => {
    const session = sessionIn(after, key);
    return { ...answer(session), revision: session.common.revision };
  },
});

/** A session that was loaded with its order; that it was not is a bug. */
export const loadedIn = (sessions: ReadonlyMap<string, Session>, key: string): Session => {
  const session = sessions.get(key);
  if (session === undefined) throw new Error(`${key} was not loaded`);
  return session;
};

/** The same, after a commit that has opened it at the latest. */
export const sessionIn = (sessions: ReadonlyMap<string, Session>, key: string): OpenedSession => {
  const session = loadedIn(sessions, key);
  if (!isOpened(session)) throw new Error(`${key} is not open after its commit`);
  return session;
};
