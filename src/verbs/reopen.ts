import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { standingText } from '../kernel/answer.ts';
import { orderOne, standingOf } from '../kernel/dispatch.ts';
import { closedField, optionalText, requiredText } from '../kernel/fields.ts';
import { folderOf } from '../kernel/kind.ts';
import { orderBeside } from '../kernel/current.ts';
import { decideOpened, decideReopen } from '../kernel/lifecycle.ts';
import { defineVerb } from '../kernel/verb.ts';
import { ok } from '../lib/result.ts';

export const reopen = defineVerb({
  name: 'reopen',
  summary: 'Go on with a closed session, on the record.',
  details: `A session that was aborted or has failed goes on where it was left, a completed one with what comes next, for example another round: as begin with its name does, with a reason on the record. The answer is that of begin.

Without --session it is the only closed session of this checkout that is not in the archive; of several none is guessed, and the refusal (4) lists them. A task that is done is over for good (5), unless its project says otherwise in stint.json: --override goes on with it, with its reason on the record. An open session answers with where it stands, and nothing changes. One in the archive is refused (5): stint unarchive comes first.`,
  examples: ['stint reopen --session 2026-03-17-main', 'stint reopen --reason "the fix was not enough"'],
  input: () =>
    v.strictObject({
      reason: optionalText('Why it goes on.'),
      override: v.optional(requiredText('Why one goes on that is over for good.')),
      session: closedField(),
    }),
  positionals: ['session'],
  does: {
    writes: async (world, { session, reason, override }) => {
      const row = await resolve(world, session, { standing: 'closed' });
      if (!row.ok) return row;
      const beside = await orderBeside(world, row.value);
      if (!beside.ok) return beside;
      return ok({
        guards: beside.value,
        fence: 'joins' as const,
        ...orderOne(
          row.value.key,
          (found) => decideOpened(found, (opened) => decideReopen(opened, reason ?? null, override)),
          (after) => ({
            ...standingOf(after),
            resumed: true,
            folder: folderOf(after.kind, after.common),
            branch: after.common.branch,
          }),
        ),
      });
    },
  },
  text: (answer) => `goes on  ${standingText(answer)}`,
});
