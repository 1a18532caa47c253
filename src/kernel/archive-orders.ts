import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { loadedIn, sessionIn, standingOf, type Order } from './dispatch.ts';
import type { DecidedEvent } from './event.ts';
import { folderOf } from './kind.ts';
import { loadKind, whenLoaded } from './kinds.ts';
import { decideOpened } from './lifecycle.ts';
import { closing, decideArchive, decideUnarchive } from './lifecycle-rules.ts';
import type { SessionRow } from './ports.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { OpenedSession } from './session.ts';
import type { World } from './verb.ts';

/** Orders that put sessions into the archive and take them out of it; no other verb is started with them. */

/** Which way a session goes: what is decided of it, and what becomes of `archivedAt` with that. */
const ways = {
  archive: { decide: decideArchive, archivedAt: 'archived' },
  unarchive: { decide: decideUnarchive, archivedAt: null },
} as const;

/**
 * Puts a session away, or takes it out of the archive. Sessions of other kinds that lie in the same folder go along, because
 * that moves as a whole. What is recorded here is done to the files after the commit (`mirror/sync.ts`).
 */
export const orderMove = async (
  { store, kinds, places, project }: World,
  row: SessionRow,
  way: keyof typeof ways,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const { decide, archivedAt } = ways[way];
  const kind = await loadKind(kinds, row.kind);
  const home = places.homeOf(row);
  const ofThisName = await store.rows({ name: row.name });
  const isAlong = (other: SessionRow): boolean =>
    other.key !== row.key &&
    kind !== undefined &&
    kinds.get(other.kind)?.folder(row.name) === kind.folder(row.name) &&
    (home.isElsewhere === true ? other.place === row.place : places.homeOf(other).root === home.root) &&
    (other.archivedAt === null) === (row.archivedAt === null);
  const along = await whenLoaded(() => ofThisName.filter(isAlong).map(({ key }) => key));
  const to = kind === undefined ? '' : folderOf(kind, { name: row.name, archivedAt });
  const from = kind === undefined ? '' : folderOf(kind, row);
  // A tree that lies there, with nothing at its own place, was moved by hand: that is recorded. Files of another machine are
  // looked at there.
  const files = await project();
  const isTaken =
    home.isElsewhere !== true && to !== from && files.holds(home.root, to) && files.holds(home.root, from);

  const archived = kind === undefined ? '' : folderOf(kind, { name: row.name, archivedAt: 'archived' });
  const isMisplaced =
    home.isElsewhere !== true &&
    row.archivedAt === null &&
    files.holds(home.root, archived) &&
    !files.holds(home.root, from);

  const keys = [row.key, ...along];
  return ok({
    keys,
    guards: [{ filter: { name: row.name }, keys: ofThisName.map(({ key }) => key) }],
    ...(along.length === 0 ? {} : { fence: 'several' as const }),
    decide: (sessions) => {
      const events = new Map<string, readonly DecidedEvent[]>();
      for (const key of keys) {
        const decided = decideOpened(loadedIn(sessions, key), (session) =>
          key !== row.key && way === 'archive' && session.common.status === 'active'
            ? err(refuseOpen(session, row.key))
            : decide(session, to, isTaken, isMisplaced),
        );
        if (!decided.ok) return decided;
        // Where it is there already, nothing goes along.
        if (key === row.key && decided.value.length === 0) return ok(new Map());
        events.set(key, decided.value);
      }
      return ok(events);
    },
    answer: (after, before): JsonObject => {
      const session = sessionIn(after, row.key);
      return {
        ...standingOf(session),
        outcome: session.common.outcome,
        archived_at: session.common.archivedAt,
        folder: folderOf(session.kind, session.common),
        along: along.filter((key) => loadedIn(after, key) !== loadedIn(before, key)),
        revision: session.common.revision,
      };
    },
  });
};

const refuseOpen = (session: OpenedSession, mover: string): Refusal =>
  refuse(
    'illegal-transition',
    `${session.key} lies in the folder of ${mover} and is open: only what is over is archived.`,
    {
      expected: 'a folder whose sessions are all closed',
      ...closing(session),
    },
  );
