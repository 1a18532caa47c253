import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { textAt } from '../kernel/answer.ts';
import { durationOf, optionalCount, requiredName, sessionField } from '../kernel/fields.ts';
import { renewalField } from '../kernel/lease-rules.ts';
import { orderRenewStep } from '../kernel/step-orders.ts';
import { defineVerb } from '../kernel/verb.ts';

export const beat = defineVerb({
  name: 'beat',
  summary: 'Say that a claimed step is still worked on.',
  details: `Renews its claim from now on, for --ttl, else for as long as it lasted before. Kept beside the log: it is no event. An attempt that was handed out again, or has its result, is refused (10, 5). For a process there is process beat, for the lease of a session lease renew.`,
  examples: ['stint beat build --attempt 1 --token 1773748822000'],
  input: () =>
    v.strictObject({
      step: requiredName('The id of the step.'),
      attempt: optionalCount('The attempt. Default: the one that runs.'),
      token: optionalCount('Its token, as next --claim gave it.'),
      ttl: renewalField,
      session: sessionField(),
    }),
  positionals: ['step'],
  does: {
    writes: async (world, { step, attempt, token, ttl, session }) => {
      const row = await resolve({ ...world, joins: undefined }, session);
      if (!row.ok) return row;
      return orderRenewStep(world, row.value, {
        step,
        attempt,
        token,
        ttl: ttl === undefined ? undefined : durationOf(ttl),
        command: undefined,
      });
    },
  },
  text: (answer) => `${textAt(answer, 'step')}: claimed until ${textAt(answer, 'expires_at')}`,
});
