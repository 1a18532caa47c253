import * as v from 'valibot';
import { orderMaking } from '../formats/handoff/begin.ts';
import { contentFields, refuseTime, standingFields } from '../formats/handoff/edit.ts';
import { groundOf } from '../formats/handoff/live.ts';
import { outputIn } from '../formats/handoff/outputs.ts';
import { pairText } from '../formats/handoff/pair-answer.ts';
import { currentPath, freeStamp } from '../formats/handoff/workspace.ts';
import { flag, optionalText, requiredName, requiredText } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err } from '../lib/result.ts';

export const handoffNew = defineVerb({
  name: 'handoff new',
  summary: 'Begin a task with the pair of documents that describes it.',
  details: `CURRENT.md and a handover, which name each other; from now on they are kept as the session stands, and what people write in them is taken in. A task of the same goal that is open here goes on. What is there already is refused (9) without --force: then the pair that stood there is archived, and its handover says so.

With another --session-output than CURRENT.md the two files are written, and describe no session.`,
  examples: [
    'stint handoff new --task "Ship the parser" --updated-by ana --next-owner ben --remaining-step "Write its tests"',
  ],
  input: () =>
    v.strictObject({
      root: optionalText('The folder of the documents. Default: the one of this project.'),
      task: requiredText('What it is to come to.'),
      ...standingFields(),
      next_owner: requiredName('Who is to act next.'),
      ...contentFields(),
      handover_output: optionalText('The file of the handover. Default: one with the time in its name.'),
      session_output: optionalText('The file of the session state. Default: session-state/CURRENT.md.'),
      force: flag('Replace what is there.'),
    }),
  actor: ({ updated_by: who }) => who,
  creates: true,
  does: {
    writes: async (world, input) => {
      const refusal = refuseTime(input.last_updated);
      if (refusal !== undefined) return err(refusal);
      const ground = await groundOf(world, input);
      if (!ground.ok) return ground;
      const { look } = ground.value;
      const usual = `handovers/${freeStamp(look, world.caller.now)}_handover.md`;
      const handover = await outputIn(world, ground.value, input.handover_output, usual);
      if (!handover.ok) return handover;
      const sessionState = await outputIn(world, ground.value, input.session_output, currentPath);
      if (!sessionState.ok) return sessionState;
      const { task: _, ...change } = input;
      return orderMaking(world, ground.value, {
        task: input.task,
        change,
        paths: { handover: handover.value, sessionState: sessionState.value },
        halves: ['handover', 'session_state'],
        force: input.force === true,
      });
    },
  },
  text: (answer) => pairText('Generated handoff pair', answer),
});
