import type { Common } from '../../kernel/common.ts';
import { refuseClosed } from '../../kernel/lifecycle.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import type { OrchestrationCommand, OrchestrationEvent } from './events.ts';
import type { Circumstance, OrchestrationState } from './state.ts';

/** Orchestrations that another program has left. */

/** Takes one over, also again; whether it has gone on here since is for whoever asks. */
export const decideImport = (
  state: OrchestrationState,
  { type: _, ...found }: Extract<OrchestrationCommand, { readonly type: 'import' }>,
  common: Common | undefined,
): Result<readonly OrchestrationEvent[], Refusal> => {
  if (state.origin?.digest === found.digest) return ok([]);
  if (common?.status === 'closed') return err(refuseClosed(common));
  if (state.hasBegun && state.origin === null)
    return err(refuse('conflict', `${common?.key ?? 'The orchestration'} was begun here.`));
  return ok([{ type: 'OrchestrationImported', ...found }]);
};

/** An orchestration as it was left. */
export const imported = (
  state: OrchestrationState,
  { digest }: Extract<OrchestrationEvent, { readonly type: 'OrchestrationImported' }>,
  { seq }: Circumstance,
): OrchestrationState => ({
  ...state,
  hasBegun: true,
  origin: { digest, seq, sessionId: null, created: null, unknown: {} },
});
