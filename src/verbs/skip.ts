import * as v from 'valibot';
import { resolveCaller } from '../kernel/address.ts';
import { standingText } from '../kernel/answer.ts';
import { orderOne, standingOf } from '../kernel/dispatch.ts';
import { requiredName, requiredText, sessionField } from '../kernel/fields.ts';
import { decideCommand } from '../kernel/lifecycle.ts';
import { resolveSaid } from '../kernel/step-orders.ts';
import { defineVerb } from '../kernel/verb.ts';
import { ok } from '../lib/result.ts';

export const skip = defineVerb({
  name: 'skip',
  summary: 'Go on without a step, on the record.',
  details: `A step that is not done and does not run is left out, with its reason: one that was never begun, one that has failed, and one of which nobody knows what it has done. Those behind it go on; what they refer to of it is empty. Skipping it again changes nothing.`,
  examples: ['stint skip N-003b --reason "the scanner is not installed here"'],
  input: () =>
    v.strictObject({
      step: requiredName('The id of the step.'),
      reason: requiredText('Why it is left out.'),
      session: sessionField(),
    }),
  positionals: ['step'],
  does: {
    writes: async (world, { session, ...wish }) => {
      const row = await resolveSaid(world, session, 'skip-step');
      if (!row.ok) return row;
      const process = await resolveCaller(world);
      if (!process.ok) return process;
      return ok({
        // The last step may close the session.
        processes: [],
        ...orderOne(
          row.value.key,
          (found) => decideCommand(found, { type: 'skip-step', ...wish }, process.value),
          (after) => ({ ...standingOf(after), step: wish.step, outcome: 'skipped' }),
        ),
      });
    },
  },
  text: standingText,
});
