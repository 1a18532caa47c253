import { historyOf } from '../../formats/orchestrator/history.ts';
import { keyOf } from '../../kernel/address.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { plainLine, truncate } from '../../lib/text.ts';
import { historyFolder, kindName } from './documents.ts';
import { openReader } from './found-sessions.ts';

/** Most files that are looked into: those that are called after the newest days. */
const mostFiles = 100;

/** Largest one of them, in bytes: where somebody takes them over, larger ones are read too. */
const largest = 1024 * 1024;

/** Files in the folder of earlier sessions that are of no session here, the newest first, with what is wrong with them. */
export const filesBeside = async (world: World, names: readonly string[]): Promise<JsonObject> => {
  const { root } = world.places.here;
  const known = new Set((await world.store.rows({ kind: kindName })).map(({ key }) => key));
  const isKnown = (id: string | null): boolean => id !== null && known.has(keyOf(kindName, id));
  const others = names.filter((name) => !isKnown(name.slice(0, -'.json'.length))).toReversed();
  const read = await openReader(world, root, { limit: largest });
  const found = historyOf(
    others.slice(0, mostFiles).map((name) => {
      const path = `${historyFolder}/${name}`;
      return { path, found: read({ path: `${root}/${path}`, isListed: true }).found };
    }),
    // What of a session that is known cannot be read may tell more of it than is known.
  ).filter(({ id, created }) => created === null || !isKnown(id));
  return {
    files: found.map(({ path, id, goal, status, created, updated, problem }) => ({
      path,
      session_id: id,
      goal: goal === null ? null : truncate(plainLine(goal), 200),
      status,
      created,
      updated,
      problem,
    })),
    files_total: found.length + Math.max(0, others.length - mostFiles),
  };
};
