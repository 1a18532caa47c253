import * as v from 'valibot';
import { resolve, resolveCaller } from '../kernel/address.ts';
import { orderOne, standingOf } from '../kernel/dispatch.ts';
import { decideFinish } from '../kernel/lifecycle.ts';
import { defineVerb } from '../kernel/verb.ts';
import { ok } from '../lib/result.ts';
import { flag, optionalText, sessionField } from '../kernel/fields.ts';
import { standingText, textAt } from '../kernel/answer.ts';

export const finish = defineVerb({
  name: 'finish',
  summary: 'Close the session: completed, or aborted.',
  details: `Refuses (6) while something is missing, and lists it. --abort closes a session that is given up, with its reason on the record; it can be reopened under its name. Finishing again the same way changes nothing.

Instances and utilities that still run on it are cancelled in the same transaction, but not the process that finishes it (--process), and no supervisor: how it ends it says itself.`,
  examples: ['stint finish', 'stint finish --abort --reason "the change was withdrawn"'],
  input: () =>
    v.strictObject({
      abort: flag('Close it unfinished.'),
      reason: optionalText('Why it is closed unfinished.'),
      session: sessionField(),
    }),
  aliases: [{ name: 'state finish', flags: { 'session-id': 'session' } }],
  retired: ['state close'],
  keepsCopy: true,
  contradiction: ({ abort, reason }) =>
    reason !== undefined && abort !== true ? '--reason goes with --abort' : undefined,
  does: {
    writes: async (world, { session, abort, reason }) => {
      const row = await resolve(world, session);
      if (!row.ok) return row;
      const process = await resolveCaller(world);
      if (!process.ok) return process;
      return ok({
        // What runs is cancelled with the session; whoever closes it is not.
        processes: [],
        ...orderOne(
          row.value.key,
          (found) => decideFinish(found, { abort: abort === true, reason: reason ?? null, process: process.value }),
          (after) => ({ ...standingOf(after), outcome: after.common.outcome, closed_at: after.common.closedAt }),
        ),
      });
    },
  },
  text: (answer) => `${textAt(answer, 'outcome')}  ${standingText(answer)}`,
});
