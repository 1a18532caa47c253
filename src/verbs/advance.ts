import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { orderOne, standingOf } from '../kernel/dispatch.ts';
import { decideCommand } from '../kernel/lifecycle.ts';
import { defineVerb } from '../kernel/verb.ts';
import { withoutUndefined } from '../lib/json.ts';
import { ok } from '../lib/result.ts';
import { optionalCount, optionalText, sessionField } from '../kernel/fields.ts';
import { standingText } from '../kernel/answer.ts';

export const advance = defineVerb({
  name: 'advance',
  summary: 'Enter the next phase.',
  details: `Checked against the phases of the session's kind; the phase's number follows from its name. Entering the phase in which it is already changes nothing. The last phase is reached only by completing the round.

--round N+1 with the first phase starts the next round; other rounds than the current and the next one are refused. --skip passes over a phase that may be passed over, on the record and with a reason, and enters the one behind it.`,
  everyday: true,
  examples: [
    'stint advance change-context',
    'stint advance --phase reviews --json',
    'stint advance --skip discourse --reason "two reviewers, no dispute"',
    'stint advance context --round 2',
  ],
  input: () =>
    v.strictObject({
      phase: optionalText('The phase to enter; with --skip it may be left out.'),
      round: optionalCount('The round: the current one, or the next one to start it.'),
      skip: optionalText('The phase to pass over.'),
      reason: optionalText('Why it is passed over.'),
      session: sessionField(),
    }),
  aliases: [
    {
      name: 'state advance',
      flags: { 'session-id': 'session', 'current-round': 'round', 'current-map-run': 'round' },
      // The number follows from the name.
      ignores: ['phase-number'],
    },
  ],
  retired: ['state transition'],
  positionals: ['phase'],
  contradiction: ({ phase, round, skip, reason }) => {
    if (phase === undefined && skip === undefined)
      return 'the phase is missing: it is named, so that a repeat changes nothing';
    if (skip !== undefined && round !== undefined) return '--skip and --round do not go together';
    if (skip !== undefined && (reason ?? '').trim() === '') return '--skip needs a --reason';
    if (skip === undefined && reason !== undefined) return '--reason goes with --skip';
    return undefined;
  },
  does: {
    writes: async (world, { session, ...wish }) => {
      const row = await resolve(world, session, { command: 'advance', position: wish.phase ?? wish.skip });
      if (!row.ok) return row;
      return ok(
        orderOne(
          row.value.key,
          (found) => decideCommand(found, withoutUndefined({ type: 'advance', ...wish })),
          (after) => standingOf(after),
        ),
      );
    },
  },
  text: standingText,
});
