import type { Order } from '../../kernel/dispatch.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { currentIn, rootsInOrder } from './roots.ts';

/**
 * The order of whoever begins a session, or goes on with one, in this checkout: where it has documents, these describe that
 * session from then on. Mostly there are none, and nothing else is loaded.
 */
export const withDocumentsAlong = async (
  world: World,
  order: Order<JsonObject>,
  key: string,
): Promise<Order<JsonObject>> => {
  const { here } = world.places;
  const arriving = { ...order, arrives: { key, replaces: [] } };
  const root =
    here.id === null ? undefined : rootsInOrder.find((one) => world.files.exists(`${here.root}/${currentIn(one)}`));
  return root === undefined ? arriving : (await import('./take-along.ts')).takeAlong(world, arriving, key, root);
};
