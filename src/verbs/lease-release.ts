import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { textAt } from '../kernel/answer.ts';
import { sessionField } from '../kernel/fields.ts';
import { decideRelease, orderLease } from '../kernel/lease-rules.ts';
import { defineVerb } from '../kernel/verb.ts';

export const leaseRelease = defineVerb({
  name: 'lease release',
  summary: 'Give the session back.',
  details: `Where nobody holds it nothing changes. A lease of somebody else is only given back when it has expired, when its holder is proved to be gone, or with --take-over. Closing a session ends its lease too.`,
  examples: ['stint lease release', 'stint lease release --session review:2026-03-17-main --take-over'],
  input: () => v.strictObject({ session: sessionField() }),
  does: {
    writes: async (world, input) => {
      const row = await resolve({ ...world, joins: undefined }, input.session);
      if (!row.ok) return row;
      const { takeOver } = world.caller;
      return orderLease(world, row.value, (facts, holder) => decideRelease(facts, holder, { takeOver }), {
        answer: (after, { events }) => ({
          session: after.key,
          session_id: after.common.name,
          released: events.length > 0,
          lease: null,
        }),
      });
    },
  },
  text: (answer) => `${textAt(answer, 'session')}: ${answer['released'] === true ? 'released' : 'nobody holds it'}`,
});
