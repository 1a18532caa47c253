import * as v from 'valibot';
import { standingText } from '../kernel/answer.ts';
import { optionalCount, requiredName, requiredText, sessionField } from '../kernel/fields.ts';
import { orderEndStep, resolveSaid } from '../kernel/step-orders.ts';
import { defineVerb } from '../kernel/verb.ts';
import { withoutUndefined } from '../lib/json.ts';

export const fail = defineVerb({
  name: 'fail',
  summary: 'Record that a step has failed.',
  details: `The attempt that runs is meant, or --attempt; who may say it, and what becomes of what does not count, is as for complete. Every attempt stays on record with its error.

What a failure means says the template of a run: retry begins the node anew, once; skip goes on without it; abort closes the run as failed, and stint reopen goes on from there. In a batch the siblings finish first.`,
  examples: [
    'stint fail N-002 --error "the tests do not pass" --json',
    'stint fail N-002 --attempt 1 --token 1773748822000 --error "killed" --exit-code 137',
  ],
  input: () =>
    v.strictObject({
      step: requiredName('The id of the step.'),
      error: requiredText('What went wrong.'),
      attempt: optionalCount('The attempt. Default: the one that runs.'),
      token: optionalCount('Its token, as next --claim gave it.'),
      exit_code: optionalCount('How its program ended.', 0, 2 ** 31 - 1),
      session: sessionField(),
    }),
  positionals: ['step'],
  does: {
    writes: async (world, { step, attempt, token, session, ...result }) => {
      const row = await resolveSaid({ ...world, joins: undefined }, session, 'end-step');
      if (!row.ok) return row;
      return orderEndStep(world, row.value, {
        step,
        attempt,
        token,
        outcome: 'failed',
        result: withoutUndefined(result),
      });
    },
  },
  text: standingText,
});
