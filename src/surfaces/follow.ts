import { setTimeout as pause } from 'node:timers/promises';
import { cursorToText, positionOf, type Cursor, type Position } from '../kernel/cursor.ts';
import type { StoredEvent } from '../kernel/event.ts';
import { StoreFailure, type Store, type Stretch } from '../kernel/ports.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { createKeeper } from './keep.ts';
import { openWorkplace, type Location } from './world.ts';

/** What is followed, and from where. */
export interface Following {
  readonly location: Location;
  /** The keys of the sessions; undefined for all of the store, those that begin later too. */
  readonly sessions: readonly string[] | undefined;
  /** Behind what was read before; or behind all that is there now. */
  readonly from: Cursor | 'now';
  readonly signal?: AbortSignal | undefined;
  /** Is told what somebody who waits for events may want to know: that it waits for the store, and why; what was made anew. */
  readonly remark: (text: string) => void;
}

/** An event, and the cursor behind it, made when somebody asks: with many sessions it is a long text. */
export interface Followed {
  readonly event: StoredEvent;
  readonly cursor: () => string;
}

/** How long to wait between two looks, in milliseconds. */
const pauses = { file: 250, server: 500, trouble: 1000 } as const;

/** For how long damage may be a repair that is still at work, in milliseconds. */
const longestRepair = 10_000;

/** How many events are read at once. */
const enough = 500;

/**
 * Gives every event of the sessions once and in the order of each session, what was read at once together; ends when it is
 * told to. Nothing is kept between two looks but the cursor: the store is asked whether anything was committed, and where
 * it was, which sessions have come further. So it does not matter who answers: the same connection, another one, a server
 * that was started again, or another file. Whatever no waiting mends is thrown as a `StoreFailure`.
 */
export async function* follow({
  location,
  sessions,
  from,
  signal,
  remark,
}: Following): AsyncGenerator<readonly Followed[], void, undefined> {
  const trouble = createTrouble(remark);
  const source = createSource(location);
  let cursor: Map<string, Position> | undefined = from === 'now' ? undefined : new Map(from);
  let isFirst = true;
  let seen: { readonly store: Store; readonly stamp: string } | undefined;
  const isOver = (): boolean => signal?.aborted === true;
  try {
    while (!isOver()) {
      try {
        const store = await source.open();
        // Asked first: what is committed after it shows the next time.
        const stamp = await store.stamp();
        if (store !== seen?.store || stamp !== seen.stamp) {
          const heads = await store.heads(sessions);
          cursor ??= new Map(heads);
          if (isFirst) remarkUnknown(cursor, heads, sessions, remark);
          for (
            let behind = stretchesBehind(cursor, heads);
            behind.length > 0;
            behind = stretchesBehind(cursor, heads)
          ) {
            const { events, strayed } = await store.readOn(behind, enough);
            const batch = inTime(events).map((event) => ({ event, after: positionOf(event) }));
            if (batch.length > 0) {
              const before: Cursor = new Map(cursor);
              for (const { event, after } of batch) cursor.set(event.session, after);
              yield batch.map(({ event }, index) => ({
                event,
                cursor: () =>
                  cursorToText(
                    batch
                      .slice(0, index + 1)
                      .reduce((moved, one) => moved.set(one.event.session, one.after), new Map(before)),
                  ),
              }));
              if (isOver()) return;
            }
            if (strayed !== undefined) {
              const { session, salvaged } = strayed;
              if (isFirst && salvaged === null) throw new StoreFailure(refuseStrayed(session, cursor.get(session)));
              cursor.set(session, { seq: (salvaged ?? 1) - 1, sign: '' });
              remark(
                salvaged === null
                  ? `${session} is not the session any more that was read before: all of its events follow`
                  : `${session} was brought back from a damaged store: its events from ${salvaged} on follow as they are now`,
              );
            }
          }
          isFirst = false;
          seen = { store, stamp };
        }
        trouble.isOver();
      } catch (error) {
        if (!(error instanceof StoreFailure)) throw error;
        seen = undefined;
        if (error.refusal.code === 'damaged') source.abandon();
        if (!trouble.isWorthWaiting(error.refusal, isFirst)) throw error;
      }
      const time = trouble.isThere() ? pauses.trouble : source.isOnServer() ? pauses.server : pauses.file;
      await pause(time, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    }
  } finally {
    await source.close();
  }
}

/** Where the store comes from: the file that lies there now, or a server, whose connections come back by themselves. */
const createSource = (location: Location) => {
  let keeper = createKeeper();
  let server: Store | undefined;
  return {
    isOnServer: (): boolean => server !== undefined,
    open: async (): Promise<Store> => {
      if (server !== undefined) return server;
      const opened = await openWorkplace(location, 'refuse-named', keeper.open);
      if (!opened.ok) throw new StoreFailure(opened.error);
      const { store, isOnServer } = opened.value;
      if (isOnServer) server = store;
      return store;
    },
    /** Leaves a damaged file alone: closing it would write its log into it. */
    abandon: (): void => {
      keeper = createKeeper();
    },
    close: async (): Promise<void> => {
      await keeper.forget();
      await server?.close();
    },
  };
};

/** What each session has that was not read, in the order of their keys. */
const stretchesBehind = (cursor: Cursor, heads: Cursor): readonly Stretch[] =>
  [...heads].flatMap(([session, { seq, sign }]) => {
    const from = cursor.get(session) ?? { seq: 0, sign: '' };
    return from.seq === seq && (from.sign === '' || from.sign === sign) ? [] : [{ session, from, until: seq }];
  });

/** What was read at once, in the order in which it happened; within a session no time goes back. */
const inTime = (events: readonly StoredEvent[]): readonly StoredEvent[] =>
  events.toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1));

const remarkUnknown = (
  cursor: Cursor,
  heads: Cursor,
  sessions: readonly string[] | undefined,
  remark: (text: string) => void,
): void => {
  const unknown = [...cursor.keys()].filter((key) => !heads.has(key) && sessions?.includes(key) !== false);
  const [first] = unknown;
  if (first !== undefined)
    remark(
      `the cursor names ${unknown.length === 1 ? first : `${unknown.length} sessions, for example ${first},`} of which there is nothing in this store`,
    );
};

/** What keeps the store from being read, from when on, and whether it was told. */
const createTrouble = (remark: (text: string) => void) => {
  let told: string | undefined;
  let damagedSince: number | undefined;
  return {
    isThere: (): boolean => told !== undefined,
    isOver: (): void => {
      if (told !== undefined) remark('the store is there again');
      told = undefined;
      damagedSince = undefined;
    },
    /** A store that nobody has seen yet is worth waiting for only where it says that it is busy. */
    isWorthWaiting: ({ code, message }: Refusal, isFirst: boolean): boolean => {
      const now = performance.now();
      const mayReturn = code === 'damaged' || code === 'not-found';
      if (code !== 'busy' && (isFirst || !mayReturn)) return false;
      if (mayReturn) damagedSince ??= now;
      else damagedSince = undefined;
      if (damagedSince !== undefined && now - damagedSince > longestRepair) return false;
      if (told !== message) remark(`waiting: ${message}`);
      told = message;
      return true;
    },
  };
};

const refuseStrayed = (session: string, at: Position | undefined): Refusal =>
  refuse('conflict', `Event ${at?.seq} of ${session} is not the one that the cursor stands behind.`, {
    expected: 'a cursor of this store, from the time since its sessions were begun',
    hint: 'stint log --follow without --after, which begins with the first event',
  });
