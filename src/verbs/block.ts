import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { objectAt, standingText, textAt } from '../kernel/answer.ts';
import { orderOne, standingOf } from '../kernel/dispatch.ts';
import { requiredText, sessionField } from '../kernel/fields.ts';
import { blockersOf } from '../kernel/journal.ts';
import { decideBlock, findBlocker } from '../kernel/journal-rules.ts';
import { defineVerb } from '../kernel/verb.ts';
import { ok } from '../lib/result.ts';

export const block = defineVerb({
  name: 'block',
  summary: 'Put on record what keeps the work from going on.',
  details: `A blocker is known by its id. While one is open it counts as missing: the session is not finished (6), and a kind that closes its sessions by itself leaves it open; everything else goes on. It moves neither the session nor its revision, and needs no lease of a session that is named: without --session or STINT_SESSION it is refused (10) where somebody else holds it.

What is open already with the same words is not raised again: its id is answered. At most 100 may be open (6). A closed session is refused (5).`,
  examples: [
    'stint block "the staging database is down"',
    'stint block "no key for the scanner" --needs "a key from ops"',
  ],
  input: () =>
    v.strictObject({
      reason: requiredText('What keeps the work from going on.'),
      needs: v.optional(requiredText('What it would take to go on.')),
      session: sessionField(),
    }),
  positionals: ['reason'],
  does: {
    writes: async (world, { session, reason, needs = null }) => {
      const row = await resolve(world, session, { beside: 'block REASON' });
      if (!row.ok) return row;
      return ok({
        fence: 'own',
        ...orderOne(
          row.value.key,
          (found) => decideBlock(found, reason, needs),
          (after) => {
            const { common } = after;
            const blocker = findBlocker(common, reason, needs);
            return {
              ...standingOf(after),
              blocker: blocker === undefined ? null : { ...blocker },
              blockers: blockersOf(common).length,
            };
          },
        ),
      });
    },
  },
  text: (answer) => `blocked (${textAt(objectAt(answer, 'blocker'), 'id')})  ${standingText(answer)}`,
});
