import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { textAt } from '../kernel/answer.ts';
import { durationOf, sessionField } from '../kernel/fields.ts';
import { leaseToJson } from '../kernel/lease.ts';
import { decideRenew, orderLease, renewalField } from '../kernel/lease-rules.ts';
import { refuse } from '../kernel/refusal.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err } from '../lib/result.ts';

export const leaseRenew = defineVerb({
  name: 'lease renew',
  summary: 'Hold the session for longer.',
  details: `From now on, for --ttl, else for as long as it was claimed or renewed for the last time. Kept beside the log: a renewal is no event. A lease that has expired is not renewed (10), because somebody else may have come to work on the session: it is claimed again.`,
  examples: ['stint lease renew', 'stint lease renew --ttl 2h --lease-token 1773748822000'],
  input: () => v.strictObject({ ttl: renewalField, session: sessionField() }),
  does: {
    writes: async (world, input) => {
      if (world.caller.takeOver)
        return err(
          refuse('usage', 'lease renew: --take-over takes nothing over here.', {
            hint: 'stint lease claim --take-over',
          }),
        );
      const row = await resolve({ ...world, joins: undefined }, input.session);
      if (!row.ok) return row;
      const milliseconds = input.ttl === undefined ? undefined : durationOf(input.ttl);
      return orderLease(world, row.value, (facts, holder) => decideRenew(facts, holder, milliseconds), {
        answer: (after, _, facts) => ({ session: after.key, session_id: after.common.name, ...leaseToJson(facts) }),
      });
    },
  },
  text: (answer) => `${textAt(answer, 'session')}: held until ${textAt(answer, 'expires_at')}`,
});
