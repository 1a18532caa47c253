import type { Order } from '../../kernel/dispatch.ts';
import { kernelEvent } from '../../kernel/event.ts';
import { refuse } from '../../kernel/refusal.ts';
import { isOpened } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok } from '../../lib/result.ts';
import { decideLeave } from './archive-event.ts';
import { describedSession } from './live.ts';
import { lookBelow } from './look.ts';
import { whereToData } from './take-in.ts';
import { unknownBeside } from './told.ts';
import { freeHandover } from './stamps.ts';
import { currentPath } from './workspace.ts';

/** The documents of a checkout go over to the session that somebody works on there. */
export const takeAlong = async (
  world: World,
  order: Order<JsonObject>,
  key: string,
  root: string,
): Promise<Order<JsonObject>> => {
  const described = await describedSession(world, root);
  if (described?.key === key) return order;
  const look = await lookBelow(world, `${world.places.here.root}/${root}`);
  const ground = { look, root };
  const before = (await world.store.load(key))?.common.documents;
  const paths = [currentPath, ...(typeof before?.handover === 'string' ? [before.handover] : [])];
  const replaces = before === undefined ? [] : await unknownBeside(world, ground, key, paths);
  const arriving = { ...order, arrives: { key, replaces } };
  // What another program keeps there is its own.
  if (described === undefined) return arriving;
  const fresh = await freeHandover(world, ground);
  return {
    ...arriving,
    keys: [...order.keys.filter((one) => one !== described.key), described.key],
    decide: (sessions, beforehand) => {
      const decided = order.decide(sessions, beforehand);
      if (!decided.ok) return decided;
      const left = sessions.get(described.key);
      const place = described.common.documents?.place ?? '';
      if (left === undefined || !isOpened(left) || left.common.documents?.place !== place)
        return err(
          refuse('busy', 'The documents of this checkout went over to another session.', {
            hint: 'run the same command again',
          }),
        );
      const own = sessions.get(key)?.common?.documents;
      const handover = own?.handover ?? fresh;
      const leave = decideLeave(world, ground, left, beforehand, handover);
      // Who leaves comes first: a file that both are in is that of the other one afterwards.
      const events = new Map([[left.key, decided.value.get(left.key) ?? []], ...decided.value]);
      events.set(left.key, [...(events.get(left.key) ?? []), ...leave]);
      if (own === undefined) {
        const where = { place, root, handover, sessionState: currentPath };
        const taken = kernelEvent('DocumentEdited', { ...whereToData(where), origin: 'verb', texts: {} });
        events.set(key, [...(events.get(key) ?? []), taken]);
      }
      return ok(events);
    },
  };
};
