import * as v from 'valibot';
import { orderMaking } from '../formats/handoff/begin.ts';
import { contentFields, newFields } from '../formats/handoff/edit.ts';
import { pairFieldsOf } from '../formats/handoff/fields.ts';
import { outputIn } from '../formats/handoff/outputs.ts';
import { freeHandover } from '../formats/handoff/stamps.ts';
import { describedSession } from '../formats/handoff/live.ts';
import { currentPath, pathBetween } from '../formats/handoff/workspace.ts';
import { textAt } from '../kernel/answer.ts';
import { optionalName, optionalText, optionalTexts } from '../kernel/fields.ts';
import { groundFor } from '../formats/handoff/write.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err } from '../lib/result.ts';

export const handoffNewHandover = defineVerb({
  name: 'handoff new-handover',
  summary: 'Write a handover for whoever takes over.',
  details: `Beside the CURRENT.md of the session that it describes, which names it from now on; the handover that was the live one before is archived with what it told of, and says so. What is not said (the task, the status, who is next) stays what the session says. Where there is no CURRENT.md yet, or another --session-state-pointer is given, the file is written, and describes no session. What is there already is refused (9) without --force.`,
  examples: ['stint handoff new-handover --task-summary "Ship the parser" --updated-by ana --next-owner ben'],
  input: () => {
    const { what_was_done: done, last_completed_step: last, current_step: current, ...content } = contentFields();
    return v.strictObject({
      task_summary: optionalText('What it is to come to. Default: what the session is to come to.'),
      holder: optionalName('Who does it, where that is somebody else than who says so.'),
      ...newFields(),
      next_owner: optionalName('Who is to act next. Default: whom the session names.'),
      what_was_done: done,
      last_completed_step: last,
      current_step: current,
      remaining_work: optionalTexts('A step that is left, in the order in which they are to be done.'),
      first_file: content.first_file,
      next_command: content.next_command,
      session_state_pointer: optionalText('The session state, as the handover names it. Default: CURRENT.md.'),
      output: optionalText('The file. Default: one with the time in its name.'),
    });
  },
  actor: ({ holder, updated_by: who }) => holder ?? who,
  creates: true,
  does: {
    writes: async (world, input) => {
      const ground = await groundFor(world, input);
      if (!ground.ok) return ground;
      const { look } = ground.value;
      const usual = await freeHandover(world, ground.value);
      const handover = await outputIn(world, ground.value, input.output, usual);
      if (!handover.ok) return handover;
      const described = await describedSession(world, ground.value.root);
      const said = described === undefined ? undefined : pairFieldsOf(described).task;
      const { task_summary: task = said, remaining_work: left, session_state_pointer: pointer, ...change } = input;
      const isLive = world.files.exists(`${look.root}/${currentPath}`);
      const isNamed = pointer === undefined || pointer === pathBetween(handover.value, currentPath);
      const goesOn = described !== undefined && isLive && isNamed;
      if (task === undefined || (change.next_owner === undefined && !goesOn)) return err(refuseUnsaid());
      return orderMaking(
        world,
        ground.value,
        {
          task,
          change: { ...change, remaining_step: left },
          paths: { handover: handover.value, sessionState: currentPath },
          halves: ['handover'],
          force: input.force === true,
          pointer,
        },
        { isLive: isLive && isNamed },
      );
    },
  },
  text: (answer) => textAt(answer, 'handover'),
});

const refuseUnsaid = (): Refusal =>
  refuse('usage', 'What it is to come to, and who is to act next, has to be said: no session says it.', {
    expected: '--task-summary and --next-owner',
    hint: 'stint handoff new-handover --task-summary TASK --updated-by WHO --next-owner WHO',
  });
