import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { objectAt, standingText, textAt } from '../kernel/answer.ts';
import { orderOne, standingOf } from '../kernel/dispatch.ts';
import { optionalText, sessionField } from '../kernel/fields.ts';
import { decideOpened } from '../kernel/lifecycle.ts';
import { decidePause } from '../kernel/lifecycle-rules.ts';
import { defineVerb } from '../kernel/verb.ts';
import { ok } from '../lib/result.ts';

export const pause = defineVerb({
  name: 'pause',
  summary: 'Stop an open session for now: nothing new is begun before it is resumed.',
  details: `The session stays open, and says since when, by whom and why it is paused. Whatever would move it is refused (5) with the command that resumes it; begin shows it as it stands. Steps that were handed out may still end, and a remark, a lease, a process and finish --abort are taken as ever. reconcile leaves a paused session alone, however long.

Pausing it again changes nothing, the reason neither. A closed session is refused (5), and so is one that somebody else holds (10).`,
  examples: ['stint pause', 'stint pause --reason "until the release is out"'],
  input: () => v.strictObject({ reason: optionalText('Why it is paused.'), session: sessionField() }),
  does: {
    writes: async (world, { session, reason }) => {
      const row = await resolve(world, session);
      if (!row.ok) return row;
      return ok(
        orderOne(
          row.value.key,
          (found) => decideOpened(found, (opened) => decidePause(opened, reason ?? null)),
          (after) => ({
            ...standingOf(after),
            paused: after.common.pause === null ? null : { ...after.common.pause },
          }),
        ),
      );
    },
  },
  text: (answer) => `paused since ${textAt(objectAt(answer, 'paused'), 'at')}  ${standingText(answer)}`,
});
