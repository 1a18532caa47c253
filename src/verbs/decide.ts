import * as v from 'valibot';
import { resolveCaller } from '../kernel/address.ts';
import { standingText, textAt } from '../kernel/answer.ts';
import { orderOne, standingOf } from '../kernel/dispatch.ts';
import { choice, optionalText, requiredName, sessionField } from '../kernel/fields.ts';
import { decideCommand } from '../kernel/lifecycle.ts';
import { resolveSaid } from '../kernel/step-orders.ts';
import { defineVerb } from '../kernel/verb.ts';
import { withoutUndefined } from '../lib/json.ts';
import { ok } from '../lib/result.ts';

export const decide = defineVerb({
  name: 'decide',
  summary: 'Decide how it goes on at a checkpoint.',
  details: `A checkpoint that does not go on by itself stops the run until somebody decides: continue goes on, pause stops it until stint resume, abort closes it. Who has decided, when and why stays on record.

The first answer counts: the same one again changes nothing, another one is a conflict (9) that names the first. No lease is needed.`,
  examples: ['stint decide CP-02 continue', 'stint decide CP-02 pause --reason "wait for the release"'],
  input: () =>
    v.strictObject({
      node: requiredName('The checkpoint.'),
      answer: choice(['continue', 'pause', 'abort'], 'How it goes on'),
      reason: optionalText('Why.'),
      session: sessionField(),
    }),
  positionals: ['node', 'answer'],
  does: {
    writes: async (world, { session, ...wish }) => {
      const row = await resolveSaid({ ...world, joins: undefined }, session, 'decide');
      if (!row.ok) return row;
      const process = await resolveCaller(world);
      if (!process.ok) return process;
      return ok({
        // An abort closes the session.
        processes: [],
        isAuthorised: () => true,
        ...orderOne(
          row.value.key,
          (found) => decideCommand(found, withoutUndefined({ type: 'decide' as const, ...wish }), process.value),
          (after) => ({ ...standingOf(after), node: wish.node, answer: wish.answer }),
        ),
      });
    },
  },
  text: (answer) => `${textAt(answer, 'node')}: ${textAt(answer, 'answer')}\n${standingText(answer)}`,
});
