import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { textAt } from '../kernel/answer.ts';
import { optionalCount, optionalName, sessionField } from '../kernel/fields.ts';
import { leaseToJson } from '../kernel/lease.ts';
import { decideClaim, orderLease, ttlField, wishOf } from '../kernel/lease-rules.ts';
import { defineVerb } from '../kernel/verb.ts';

export const leaseClaim = defineVerb({
  name: 'lease claim',
  summary: 'Hold the session: nobody else moves it.',
  details: `Of several that claim at once one gets it; the others are refused (10) and told who holds it, since when, until when, from where and for what. Answers a token: whoever shows it (--lease-token, STINT_LEASE_TOKEN), or is the same actor in the same conversation, else on the same machine as the same user in the same checkout, is the holder. The holder who claims again keeps the token, and the time begins anew.

While it is held, others read the session and write remarks, and everything that would move it is refused (10). A lease ends when it is released, when the session is closed, or when it was not renewed for its --ttl. Whoever is named with --pid or --process and is proved to be gone, on this machine, is replaced at once; everybody else only after that time, or with --take-over. Both sides are on the record.`,
  examples: [
    'stint lease claim --purpose "round 2" --ttl 1h --json',
    'stint lease claim --take-over --session review:2026-03-17-main',
  ],
  input: () =>
    v.strictObject({
      purpose: optionalName('What for.'),
      ttl: ttlField,
      pid: optionalCount('The pid of the program that holds it, on this machine.', 1, 2 ** 31 - 1),
      session: sessionField(),
    }),
  does: {
    writes: async (world, input) => {
      // Who claims comes to work on it: whether it may is decided with the claim.
      const row = await resolve({ ...world, joins: undefined }, input.session);
      if (!row.ok) return row;
      const wish = await wishOf(world, row.value.key, input);
      if (!wish.ok) return wish;
      const { takeOver } = world.caller;
      return orderLease(
        world,
        row.value,
        (facts, holder) => decideClaim(facts, { holder, ...wish.value }, { takeOver }),
        {
          mustBeOpen: true,
          answer: (after, claimed, facts) => ({
            session: after.key,
            session_id: after.common.name,
            ...leaseToJson(facts),
            renewed: claimed.events.length === 0,
            ...(claimed.lost === null
              ? {}
              : {
                  after: {
                    holder: claimed.lost.claim.holder.actor,
                    token: claimed.lost.claim.token,
                    because: claimed.lost.loss,
                  },
                }),
          }),
        },
      );
    },
  },
  text: (answer) =>
    `${textAt(answer, 'session')}: ${answer['renewed'] === true ? 'still held' : 'held'} by ${textAt(answer, 'holder')} until ${textAt(answer, 'expires_at')}, token ${textAt(answer, 'token')}`,
});
