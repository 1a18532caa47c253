import { resolve, resolveCaller } from '../../kernel/address.ts';
import { orderOne, standingOf, type Order } from '../../kernel/dispatch.ts';
import type { KindCommand } from '../../kernel/kind.ts';
import { decideCommand } from '../../kernel/lifecycle.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { ok, type Result } from '../../lib/result.ts';
import type { TaskState } from './state.ts';

/** The state of a task. */
export const stateOf = ({ folded }: Pick<OpenedSession, 'folded'>): TaskState => folded.state as TaskState;

/** An order that asks one thing of a task: the one that is named, else the open one of this checkout. */
export const orderTask = async (
  world: World,
  session: string | undefined,
  command: KindCommand,
  answer: (after: OpenedSession) => JsonObject = () => ({}),
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const row = await resolve(world, session, { command: command.type });
  if (!row.ok) return row;
  // Who closes it is not cancelled with it.
  const process = await resolveCaller(world);
  if (!process.ok) return process;
  return ok({
    processes: [],
    ...orderOne(
      row.value.key,
      (found) => decideCommand(found, command, process.value),
      (after) => ({ ...standingOf(after), ...answer(after) }),
    ),
  });
};
