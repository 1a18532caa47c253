import { resolve } from '../../kernel/address.ts';
import { folderIn, loadKind } from '../../kernel/kinds.ts';
import type { SessionRow } from '../../kernel/ports.ts';
import { progressToJson } from '../../kernel/progress.ts';
import { surroundingsOf } from '../../kernel/query.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { VerbRefusal, World } from '../../kernel/verb.ts';
import { noProgress } from '../../kernel/view.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { sessionToRead } from '../../kernel/query.ts';

/** Most sessions that one answer tells of. */
const mostSessions = 20;

/** The progress of the sessions that are meant: one, all open ones of this checkout, or none. */
export const readProgress = async (
  world: World,
  given: string | undefined,
): Promise<Result<JsonObject, VerbRefusal>> => {
  const rows = await meantRows(world, given);
  if (!rows.ok) return err({ refusal: rows.error });
  const sessions: JsonObject[] = [];
  for (const row of rows.value.slice(0, mostSessions)) {
    const session = await readOne(world, row);
    if (session !== undefined) sessions.push(session);
  }
  return ok({ now: world.caller.now, sessions, total: rows.value.length });
};

const meantRows = async (world: World, given: string | undefined): Promise<Result<readonly SessionRow[], Refusal>> => {
  const address = given ?? world.caller.session;
  if (address !== undefined) {
    const row = await resolve(world, address);
    return row.ok ? ok([row.value]) : row;
  }
  const isHere = (row: SessionRow): boolean => world.places.homeOf(row).root === world.places.here.root;
  const open = (await world.store.rows({ status: 'active' })).filter(isHere);
  if (open.length > 0) return ok(open);
  const last = (await world.store.rows({ status: 'closed' })).find(isHere);
  return ok(last === undefined ? [] : [last]);
};

const readOne = async (world: World, row: SessionRow): Promise<JsonObject | undefined> => {
  const { key } = row;
  const kind = await loadKind(world.kinds, row.kind);
  const found = await world.store.read(key);
  if (found === undefined) return undefined;
  const surroundings = await surroundingsOf(world, found);
  // What this program cannot fold shows where its own program left it.
  if (kind === undefined || found.unreadable !== undefined)
    return progressToJson(found, surroundings, noProgress, world, await folderIn(world.kinds, row));
  const session = await world.store.load(key);
  if (session === undefined) return undefined;
  // Made of one state, also where the session has moved since it was found.
  return progressToJson(
    sessionToRead(session),
    surroundings,
    session.folded.progress(session.common, kind.isSampled ? await world.store.samples(key) : new Map()),
    world,
    await folderIn(world.kinds, row),
  );
};
