import * as v from 'valibot';
import { orderMaking } from '../formats/handoff/begin.ts';
import { contentFields, newFields } from '../formats/handoff/edit.ts';
import { outputIn } from '../formats/handoff/outputs.ts';
import { pairText } from '../formats/handoff/pair-answer.ts';
import { freeHandover } from '../formats/handoff/stamps.ts';
import { currentPath } from '../formats/handoff/workspace.ts';
import { optionalText, requiredText } from '../kernel/fields.ts';
import { groundFor } from '../formats/handoff/write.ts';
import { defineVerb } from '../kernel/verb.ts';

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
      task: requiredText('What it is to come to.'),
      ...newFields(),
      ...contentFields(),
      handover_output: optionalText('The file of the handover. Default: one with the time in its name.'),
      session_output: optionalText('The file of the session state. Default: session-state/CURRENT.md.'),
    }),
  actor: ({ updated_by: who }) => who,
  creates: true,
  does: {
    writes: async (world, input) => {
      const ground = await groundFor(world, input);
      if (!ground.ok) return ground;
      const usual = await freeHandover(world, ground.value);
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
