import type { JsonObject } from '../lib/canonical-json.ts';
import { ok, type Result } from '../lib/result.ts';
import { resolveCaller } from './address.ts';
import { orderOne, standingOf, type Order } from './dispatch.ts';
import type { KindCommand } from './kind.ts';
import { decideCommand } from './lifecycle.ts';
import type { SessionRow } from './ports.ts';
import type { Refusal } from './refusal.ts';
import type { OpenedSession } from './session.ts';
import type { World } from './verb.ts';

/** An order that asks one thing of the kind of a session; it answers where the session stands then, and `answer` beside it. */
export const orderCommandOf = async (
  world: World,
  { key }: Pick<SessionRow, 'key'>,
  command: KindCommand,
  answer: (after: OpenedSession) => JsonObject,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  // Who closes it is not cancelled with it.
  const process = await resolveCaller(world);
  if (!process.ok) return process;
  return ok({
    processes: [],
    ...orderOne(
      key,
      (found) => decideCommand(found, command, process.value),
      (after) => ({ ...standingOf(after), ...answer(after) }),
    ),
  });
};
