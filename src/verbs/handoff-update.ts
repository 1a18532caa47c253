import * as v from 'valibot';
import { changeFields, refuseTime, standingFields } from '../formats/handoff/edit.ts';
import { groundOf, liveTarget, orderDocuments } from '../formats/handoff/live.ts';
import { pairAnswer, pairText } from '../formats/handoff/pair-answer.ts';
import { orderNamed } from '../formats/handoff/named.ts';
import { refuseUntaken } from '../formats/handoff/seen.ts';
import { decideChange } from '../formats/handoff/write.ts';
import { optionalText, requiredText } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const handoffUpdate = defineVerb({
  name: 'handoff update',
  summary: 'Write into the documents of the session what has changed.',
  details: `Into the pair of this checkout; of a pair of another program, which no session here describes yet, a task is begun first. Only the sections are touched that are named: everything else stays as it is, byte by byte. What somebody has written there meanwhile is taken in before; where a merge has left a conflict nothing is written, and both sides are told (9).

A list takes the place of the one that is there; a single None empties it. A task becomes what is written: its status (a transition, or with --override), its steps, its blockers; what was decided, the files and the commands go into the journal too. With --handover or --session-state another pair is changed, which describes no session.`,
  examples: [
    'stint handoff update --updated-by ana --current-step "Writing the tests" --remaining-step "Review"',
    'stint handoff update --updated-by ana --status blocked --blocker "no token" --needs "a token from ops"',
  ],
  input: () =>
    v.strictObject({
      handover: optionalText('The handover of the pair.'),
      session_state: optionalText('The session state of the pair.'),
      ...standingFields(),
      task: v.optional(requiredText('What it is to come to.')),
      ...changeFields(),
      override: v.optional(requiredText('Why the status is taken although that is no transition.')),
    }),
  actor: ({ updated_by: who }) => who,
  creates: true,
  does: {
    writes: async (world, input) => {
      const refusal = refuseTime(input.last_updated);
      if (refusal !== undefined) return err(refusal);
      const named = await orderNamed(world, input, { ...input });
      if (named !== undefined) return named;
      const ground = await groundOf(world, {});
      if (!ground.ok) return ground;
      const target = await liveTarget(world, ground.value);
      if (!target.ok) return target;
      return ok(
        orderDocuments(
          world,
          target.value,
          (worked, seen, { origin }) => {
            const untaken = refuseUntaken(seen, 'Nothing can be written into the two documents');
            return untaken === undefined ? decideChange(worked, input, input, origin) : err(untaken);
          },
          (session) => pairAnswer(world, session),
        ),
      );
    },
  },
  text: (answer) => pairText('Updated handoff pair', answer),
});
