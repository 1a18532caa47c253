import { resolve } from '../../kernel/address.ts';
import { orderCommandOf } from '../../kernel/command-order.ts';
import type { Order } from '../../kernel/dispatch.ts';
import type { KindCommand } from '../../kernel/kind.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import type { Result } from '../../lib/result.ts';
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
  return orderCommandOf(world, row.value, command, answer);
};
