import * as v from 'valibot';
import { orderMaking } from '../formats/handoff/begin.ts';
import { contentFields, newFields } from '../formats/handoff/edit.ts';
import { handoverAt, outputIn } from '../formats/handoff/outputs.ts';
import { currentPath } from '../formats/handoff/workspace.ts';
import { textAt } from '../kernel/answer.ts';
import { optionalName, optionalText, requiredText } from '../kernel/fields.ts';
import { groundFor } from '../formats/handoff/write.ts';
import { defineVerb } from '../kernel/verb.ts';

export const handoffNewState = defineVerb({
  name: 'handoff new-state',
  summary: 'Begin a task with the session state that describes it.',
  details: `CURRENT.md without a handover, which handoff new-handover makes later; with --handover-pointer it goes with one that lies there. A task of the same goal that is open here goes on. With another --output the file is written, and describes no session. What is there already is refused (9) without --force.`,
  examples: ['stint handoff new-state --task "Ship the parser" --updated-by ana --next-owner ben'],
  input: () => {
    const { what_was_done: _done, first_file: _file, next_command: _command, ...content } = contentFields();
    return v.strictObject({
      task: requiredText('What it is to come to.'),
      holder: optionalName('Who does it, where that is somebody else than who says so.'),
      ...newFields(),
      ...content,
      handover_pointer: optionalText('The handover, as the session state names it: ../handovers/NAME.md.'),
      output: optionalText('The file. Default: session-state/CURRENT.md.'),
    });
  },
  actor: ({ holder, updated_by: who }) => holder ?? who,
  creates: true,
  does: {
    writes: async (world, input) => {
      const ground = await groundFor(world, input);
      if (!ground.ok) return ground;
      const sessionState = await outputIn(world, ground.value, input.output, currentPath);
      if (!sessionState.ok) return sessionState;
      const { task, handover_pointer: pointer, ...change } = input;
      const handover = handoverAt(ground.value, pointer, sessionState.value);
      if (!handover.ok) return handover;
      return orderMaking(world, ground.value, {
        task,
        change,
        paths: { handover: handover.value, sessionState: sessionState.value },
        halves: ['session_state'],
        force: input.force === true,
        pointer,
      });
    },
  },
  text: (answer) => textAt(answer, 'session_state'),
});
