import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { historyPath, home } from './documents.ts';

/** Files in the folder of earlier sessions that no session here has written. */
export const unreadFiles = async (world: World, known: ReadonlySet<string>): Promise<readonly JsonObject[]> => {
  const { root } = world.places.here;
  const folder = `${home}/${historyPath('x').replace(/\/[^/]*$/, '')}`;
  return world.files
    .list(`${root}/${folder}`)
    .filter((file) => file.endsWith('.json') && !known.has(file.slice(0, -'.json'.length)))
    .map((file) => ({ path: `${folder}/${file}`, problem: null }));
};
