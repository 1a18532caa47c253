import { err, ok, type Result } from '../lib/result.ts';
import type { Common } from './common.ts';
import {
  type PhaseCommand,
  type PhaseEvent,
  type PhaseState,
  type PhaseWorkflow,
  atRound,
  completing,
  currentOf,
  enter,
  firstOf,
  indexOf,
  isDone,
  legalMoves,
  refuseWithout,
  remainingOf,
  roundName,
  roundOf,
  startRound,
} from './phase-table.ts';
import { refuse, refusePayload, type Refusal } from './refusal.ts';
import { reopenCommand } from './view.ts';

type Complete = Extract<PhaseCommand, { type: 'complete' }>;
type Import = Extract<PhaseCommand, { type: 'import' }>;

export const complete = (
  workflow: PhaseWorkflow,
  state: PhaseState,
  wish: Complete,
  common: Common | undefined,
): Result<readonly PhaseEvent[], Refusal> => {
  const { completion } = workflow;
  const checked = completion.check(wish.payload);
  if (!checked.ok) return err(refusePayload(completion.verb, checked.error));

  const current = roundOf(state);
  const wanted = wish.round ?? current;
  const round = state.rounds.find((known) => known.round === wanted);
  if (isDone(round)) {
    if (round.completed.digest === wish.digest) return ok([]);
    return err(
      refuse(
        'conflict',
        `The ${roundName(workflow)} ${wanted} was completed at ${round.completed.at} with another payload.`,
        {
          expected: `the same payload, or the next ${roundName(workflow)}`,
          hint:
            common?.status === 'closed'
              ? reopenCommand(common)
              : `stint advance ${firstOf(workflow).name} --round ${current + 1}${common === undefined ? '' : ` --session ${common.key}`}`,
        },
      ),
    );
  }
  if (wanted !== current || round === undefined) {
    return err(
      refuse(
        'illegal-transition',
        `Only the current ${roundName(workflow)} (${current}) can be completed, not ${wanted}.`,
        {
          legal: legalMoves(workflow, state, common),
        },
      ),
    );
  }
  if (common?.status !== 'active') return err(refuseWithout(workflow, common));
  if (state.phase !== completing(workflow).name) {
    return err(
      refuse(
        'invariant-unmet',
        `The ${roundName(workflow)} is in ${state.phase}; it is completed from ${completing(workflow).name}.`,
        {
          expected: `the phase ${completing(workflow).name}`,
          faults: remainingOf(workflow, state)
            .slice(0, -1)
            .map((phase) => `not entered yet: ${phase}`),
          legal: legalMoves(workflow, state, common),
        },
      ),
    );
  }
  if (wish.final === false) {
    return err(
      refuse('invariant-unmet', `The final document is missing: ${atRound(completion.finalPath, current)}.`, {
        expected: atRound(completion.finalPath, current),
      }),
    );
  }
  const { unproved = [] } = wish;
  if (unproved.length > 0) {
    return err(
      refuse('invariant-unmet', `What the payload claims does not hold: ${unproved[0] ?? ''}.`, {
        expected: 'files that are there as they are claimed to be, and no other checks',
        faults: unproved,
        legal: legalMoves(workflow, state, common),
      }),
    );
  }
  const { payload, summary } = checked.value;
  return ok([{ type: 'RoundCompleted', round: current, digest: wish.digest, summary, payload }]);
};

/**
 * What happened in another system is taken as it happened there, phases that were jumped over too; but a round is the
 * current or the next one, and the last phase is still reached by a completion alone.
 */
export const takeOver = (
  workflow: PhaseWorkflow,
  state: PhaseState,
  wish: Import,
  common: Common | undefined,
): Result<readonly PhaseEvent[], Refusal> => {
  if (common?.status !== 'active') return err(refuseWithout(workflow, common));
  const illegal = (message: string): Result<never, Refusal> =>
    err(refuse('illegal-transition', message, { legal: legalMoves(workflow, state, common) }));
  const current = roundOf(state);
  if (wish.what === 'round') {
    if (state.rounds.some(({ round }) => round === wish.round)) return ok([]);
    if (wish.round !== current + 1) return illegal(`After ${roundName(workflow)} ${current} comes none ${wish.round}.`);
    return ok([startRound(workflow, state, wish.round)]);
  }
  if (wish.round !== current) return illegal(`The current ${roundName(workflow)} is ${current}, not ${wish.round}.`);
  if (wish.what === 'completed') {
    if (isDone(currentOf(state))) return ok([]);
    const { round, summary = {}, payload } = wish;
    return ok([{ type: 'RoundImported', round, summary, ...(payload === undefined ? {} : { payload }) }]);
  }
  const index = indexOf(workflow, wish.phase ?? '');
  const entering = workflow.phases[index];
  if (entering === undefined || index === workflow.phases.length - 1)
    return illegal(`A ${workflow.name} has no such phase to be in.`);
  if (isDone(currentOf(state))) return illegal(`The ${roundName(workflow)} ${current} is complete.`);
  if (entering.name === state.phase) return ok([]);
  // What was jumped over there was not done: it is not to look as if it had been.
  const jumped = workflow.phases.slice(indexOf(workflow, state.phase) + 1, index);
  return ok([
    ...jumped.map((phase): PhaseEvent => ({
      type: 'PhaseSkipped',
      round: current,
      phase: phase.name,
      phase_number: indexOf(workflow, phase.name) + 1,
      reason: 'never entered in the system that it was taken over from',
    })),
    enter(current, entering, index),
  ]);
};

/** One import of every sort, so that what they lead to is explored with everything else. */
export const importExamples = (workflow: PhaseWorkflow): readonly PhaseCommand[] => [
  { type: 'import', what: 'round', round: 2 },
  { type: 'import', what: 'phase', round: 1, phase: completing(workflow).name },
  { type: 'import', what: 'completed', round: 1, summary: {} },
  { type: 'import', what: 'completed', round: 1, summary: {}, payload: {} },
];
