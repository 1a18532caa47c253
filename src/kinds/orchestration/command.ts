import { resolve } from '../../kernel/address.ts';
import { orderCommandOf } from '../../kernel/command-order.ts';
import type { Order } from '../../kernel/dispatch.ts';
import type { KindCommand, Samples } from '../../kernel/kind.ts';
import type { SessionRow } from '../../kernel/ports.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { ok, type Result } from '../../lib/result.ts';
import type { OrchestrationState } from './state.ts';

/** The orchestration that is meant: the one that is named, else the open one of this checkout. */
export const resolveOrchestration = async (
  world: World,
  session: string | undefined,
): Promise<Result<SessionRow, Refusal>> => resolve(world, session, { command: 'prepare-agent' });

/** The state of an orchestration. */
export const stateOf = ({ folded }: Pick<OpenedSession, 'folded'>): OrchestrationState =>
  folded.state as OrchestrationState;

/** An orchestration as it is now, with what was measured last. */
export const readOrchestration = async (world: World, session: string | undefined): Promise<Result<Read, Refusal>> => {
  const row = await resolveOrchestration(world, session);
  if (!row.ok) return row;
  const { store } = world;
  const opened = await store.load(row.value.key);
  if (opened === undefined) throw new Error(`${row.value.key} has a row and no events`);
  return ok({ row: row.value, opened, state: stateOf(opened), samples: await store.samples(opened.key) });
};

/** An orchestration that was read. */
export interface Read {
  readonly row: SessionRow;
  readonly opened: OpenedSession;
  readonly state: OrchestrationState;
  readonly samples: Samples;
}

/** An order that asks one thing of an orchestration. */
export const orderCommand = async (
  world: World,
  session: string | undefined,
  command: KindCommand,
  answer: (after: OpenedSession) => JsonObject = () => ({}),
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const row = await resolveOrchestration(world, session);
  if (!row.ok) return row;
  return orderCommandOf(world, row.value, command, answer);
};
