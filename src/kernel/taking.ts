import type { JsonObject } from '../lib/canonical-json.ts';
import { ok } from '../lib/result.ts';
import { Unseen, type Arrival, type Decided, type Dispatching, type Order } from './dispatch.ts';
import type { Documents, SeenDocuments, TakenDocuments } from './documents.ts';
import { kernelEvent, type DecidedEvent } from './event.ts';
import { holderOf, isMine, leaseFacts } from './lease.ts';
import { isOpened, type OpenedSession, type Origin } from './session.ts';

/** Takes in, ahead of what an order decides, what was written in the documents of its sessions. Loaded where one has some. */
export interface Taking {
  /** Looks at the documents of a session. */
  readonly see: (session: OpenedSession) => Promise<void>;
  /** The order that is decided on what comes of what was written. Of a session that is held its holder takes it in. */
  readonly ahead: <Answer extends JsonObject>(order: Order<Answer>, origin: Origin) => Decided<Answer>;
}

/** The documents of a session come to the checkout in which it is worked on. */
const moved = (
  { root, handover, sessionState }: Documents,
  { place }: Origin,
  { replaces }: Pick<Arrival, 'replaces'>,
): DecidedEvent =>
  kernelEvent('DocumentEdited', {
    place,
    root,
    handover,
    session_state: sessionState,
    origin: 'verb',
    texts: {},
    ...(replaces.length === 0 ? {} : { replaces: [...replaces] }),
  });

/** Makes it for one request. */
export const createTaking = (world: Dispatching): Taking => {
  const seen = new Map<string, SeenDocuments>();
  const mayTake = (session: OpenedSession, { place }: Origin): boolean =>
    session.common.lease === null || isMine(leaseFacts(session, world.caller, world.host), holderOf(world, place));

  return {
    see: async (session) => {
      if (world.documents === undefined) throw new Error(`the documents of ${session.key} cannot be looked at here`);
      seen.set(session.key, await world.documents(session));
    },
    ahead: (order, origin) => {
      let notes: readonly string[] = [];
      const isEdited = [...seen.values()].some((one) => one.isEdited);
      return {
        ...order,
        ...(isEdited ? { journalOnly: false, processes: order.processes ?? [] } : {}),
        decide: (sessions) => {
          const taken = new Map<string, TakenDocuments>();
          for (const session of sessions.values()) {
            if (!isOpened(session) || session.common.documents === undefined) continue;
            const found = seen.get(session.key);
            if (found === undefined || found.seq !== session.common.documents.seq) throw new Unseen(session);
            taken.set(session.key, mayTake(session, origin) ? found.takeIn(session, origin) : found.leave(session));
          }
          const ahead = new Map([...sessions].map(([key, session]) => [key, taken.get(key)?.session ?? session]));
          const decided = order.decide(ahead, { documents: taken, origin });
          if (!decided.ok) return decided;
          // Who writes the documents themselves has seen what could not be taken in, and may have said to replace it.
          notes = [...taken].flatMap(([key, { events: own, notes: told, problems }]) => {
            const written = (decided.value.get(key) ?? []).filter(({ type }) => type === 'DocumentEdited');
            const isReplaced = written.some(({ data }) => data['replaces'] !== undefined);
            if (own.length === 0 && written.length > 0) return isReplaced ? [] : problems;
            return [...problems, ...told];
          });
          const events = new Map(decided.value);
          for (const [key, one] of taken) {
            const arrival = order.arrives?.key === key ? order.arrives : undefined;
            const { documents } = one.session.common;
            const come =
              arrival === undefined || documents === undefined || documents.place === origin.place
                ? []
                : [moved(documents, origin, arrival)];
            events.set(key, [...one.events, ...(events.get(key) ?? []), ...come]);
          }
          return ok(events);
        },
        answer: (after, before) => ({
          ...order.answer(after, before),
          ...(notes.length === 0 ? {} : { documents: [...notes] }),
        }),
      };
    },
  };
};
