import * as v from 'valibot';
import { standingText } from '../../kernel/answer.ts';
import { choice, optionalCount, optionalName, requiredText, sessionField } from '../../kernel/fields.ts';
import { orderEndStep } from '../../kernel/step-orders.ts';
import { defineVerb } from '../../kernel/verb.ts';
import { withoutUndefined } from '../../lib/json.ts';
import { errorClasses } from './modes.ts';
import { resolveOrchestration } from './command.ts';
import { agentField, attemptFields } from './fields.ts';

export const agentFail = defineVerb({
  name: 'agent fail',
  summary: 'Record that an agent has failed.',
  details: `It may be started again as often as the mode allows; the next action says how long to wait first (0, 2, 4, 8, 16 seconds). After three failures in a row it is left alone for 60 seconds, then tried once. A failure of a class that the mode escalates (permanent in default and optimize, all in debug and release) makes a checkpoint at once, which waits for a decision: stint decide.`,
  examples: ['stint agent fail code-1 --error "the tests do not compile" --class logical'],
  input: () =>
    v.strictObject({
      agent: agentField,
      error: requiredText('What went wrong.'),
      class: v.optional(choice(errorClasses, 'What sort of error it is')),
      tokens: optionalCount('How large its context was, in tokens.', 0),
      vendor_session: optionalName('The conversation of its vendor.'),
      ...attemptFields,
      session: sessionField(),
    }),
  positionals: ['agent'],
  does: {
    writes: async (world, { agent, attempt, token, session, ...said }) => {
      const row = await resolveOrchestration({ ...world, joins: undefined }, session);
      if (!row.ok) return row;
      const result = withoutUndefined(said);
      return orderEndStep(world, row.value, { step: agent, attempt, token, outcome: 'failed', result });
    },
  },
  text: standingText,
});
