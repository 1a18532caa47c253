import * as v from 'valibot';
import { withDocumentsAlong } from '../formats/handoff/along.ts';
import { namesText, objectAt, objectsAt, standingText, textAt } from '../kernel/answer.ts';
import { briefFields, wishOfBrief } from '../kernel/brief-fields.ts';
import { briefIn, printBrief } from '../kernel/brief-forms.ts';
import { optionalText, optionalTexts, sessionField } from '../kernel/fields.ts';
import { resolveToGoOn } from '../kernel/going-on.ts';
import { orderResume } from '../kernel/step-orders.ts';
import { defineVerb } from '../kernel/verb.ts';
import { ok } from '../lib/result.ts';

export const resume = defineVerb({
  name: 'resume',
  summary: 'Go on exactly where it was left.',
  details: `Records who goes on with the session, ends a pause, and gives the brief (stint brief): what it is for, where it stands, what binds, what changed outside since, and what comes next; what is finished is not done again. Said again by the same actor in the same place, with nothing in between, it changes nothing.

Without a session it is the only open one of this checkout; of several none is guessed (3), and what each is about is told. Where none is open, the one that was closed last is named (4); a closed session is refused (5): stint reopen goes on with it.

Of steps that were under way: a result that was left in a file (result_path of next --claim) is taken; one whose claim has not expired, or whose worker is alive, is left alone, and whose it is is said (--take-over interrupts it); any other is interrupted. An interrupted step whose template does not call it idempotent is in doubt: it is neither done again nor taken for done before --rerun or --done says which, on the record.

A template that has changed since is told, and changes nothing.`,
  examples: [
    'stint resume --json',
    'stint resume --rerun N-002 --reason "nothing was written"',
    'stint resume --done N-002 --take-over',
  ],
  input: () =>
    v.strictObject({
      rerun: optionalTexts('A step in doubt that is to be done again.'),
      done: optionalTexts('A step in doubt that is done.'),
      reason: optionalText('How that is known.'),
      ...briefFields,
      session: sessionField(),
    }),
  aliases: [{ name: 'continue' }],
  positionals: ['session'],
  contradiction: ({ rerun = [], done = [], reason }) => {
    const both = rerun.find((step) => done.includes(step));
    if (both !== undefined) return `${both} is either to be done again or done`;
    return reason !== undefined && rerun.length + done.length === 0
      ? '--reason goes with --rerun or --done'
      : undefined;
  },
  does: {
    writes: async (world, input) => {
      const row = await resolveToGoOn(world, { verb: 'resume', input });
      if (!row.ok) return row;
      const { rerun = [], done = [], reason } = input;
      const order = await orderResume(
        world,
        row.value,
        {
          again: rerun,
          done,
          reason: reason ?? `said by ${world.caller.actor}`,
          takesOver: world.caller.takeOver,
        },
        wishOfBrief(world.caller, input),
      );
      return order.ok ? ok(await withDocumentsAlong(world, order.value, row.value.key)) : order;
    },
  },
  text: (answer) => {
    const doubtful = namesText(answer, 'in_doubt');
    return [
      `${answer['was_paused'] === true ? 'goes on' : 'resumed'}  ${standingText(answer)}`,
      ...objectsAt(answer, 'adopted').map(
        (one) =>
          `taken: ${textAt(one, 'id')}, attempt ${textAt(one, 'attempt')} has ${textAt(one, 'outcome')} (${textAt(one, 'path')})`,
      ),
      ...objectsAt(answer, 'interrupted').map(
        (one) => `interrupted: ${textAt(one, 'id')}, attempt ${textAt(one, 'attempt')} (${textAt(one, 'because')})`,
      ),
      ...objectsAt(answer, 'still_running').map(
        (one) =>
          `running: ${textAt(one, 'id')}, attempt ${textAt(one, 'attempt')} of ${textAt(one, 'held_by')} on ${textAt(one, 'host')} until ${textAt(one, 'expires_at')}`,
      ),
      ...(doubtful === '' ? [] : [`in doubt: ${doubtful} (say --rerun STEP, or --done STEP)`]),
      ...('brief' in answer ? ['', printBrief(briefIn(objectAt(answer, 'brief')))] : []),
    ].join('\n');
  },
});
