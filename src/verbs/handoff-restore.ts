import * as v from 'valibot';
import { orderRestore } from '../formats/handoff/restoring.ts';
import { statuses } from '../formats/handoff/statuses.ts';
import { fieldLines, objectAt, textAt } from '../kernel/answer.ts';
import { choice, flag, optionalName, optionalText, requiredName } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';

export const handoffRestore = defineVerb({
  name: 'handoff restore',
  summary: 'Make an archived pair of documents the live one again.',
  details: `Its texts are those of CURRENT.md and of a new handover, with a new time, who restored it and, where that is said, another status and next owner. The archived pair stays what it is.

The session whose pair it was becomes what it says: status, steps and blockers, with "restored from STAMP" on the record; blockers that it does not name are cleared, and what is done goes back to work where it says so. Of another kind than a task the status follows from its work. Where another session has the documents now, it leaves them to that one; a pair that no session here has made begins a task.

What stood there before is archived with the stamp of its handover, which says so: nothing of it is lost. CURRENT.md that is there is refused (9) without --force. With another --session-output two files are written, which describe no session.`,
  examples: [
    'stint handoff restore --timestamp 20260312_0915 --updated-by ana --force',
    'stint handoff restore --handover docs/tests/handovers/20260312_0915_handover.md --updated-by ana --status in-progress',
  ],
  input: () =>
    v.strictObject({
      root: optionalText(
        'The folder of the documents. Default: the one of this project, or of the pair that is named.',
      ),
      start_dir: optionalText('The folder to look from. Default: the current one.'),
      timestamp: optionalText('The stamp of the archived pair: YYYYMMDD_HHMM.'),
      handover: optionalText('Its handover, in place of a stamp.'),
      session_state: optionalText('Its session state.'),
      updated_by: requiredName('Who restores it: a person or an agent.'),
      last_updated: optionalText('When, for example 2026-03-12T09:01:15+01:00. Default: now.'),
      restore_timestamp: optionalText('The stamp of the new handover, in UTC. Default: the next free minute.'),
      status: v.optional(choice(statuses, 'The status, in place of the archived one')),
      next_owner: optionalName('Who is to act next, in place of the archived one.'),
      handover_output: optionalText('The file of the handover. Default: one with the stamp in its name.'),
      session_output: optionalText('The file of the session state. Default: session-state/CURRENT.md.'),
      force: flag('Replace what is there.'),
    }),
  actor: ({ updated_by: who }) => who,
  creates: true,
  contradiction: ({ timestamp, handover, session_state: state }) =>
    (timestamp === undefined) === (handover === undefined && state === undefined)
      ? 'either --timestamp, or --handover or --session-state, says which pair is meant'
      : undefined,
  does: { writes: async (world, input) => orderRestore(world, input) },
  text: (answer) => {
    const source = objectAt(answer, 'source');
    return [
      `Restored handoff pair: status=${textAt(answer, 'status')}, next_owner=${textAt(answer, 'next_owner') || 'None'}`,
      fieldLines([
        ['Source handover', textAt(source, 'handover')],
        ['Source session-state', textAt(source, 'session_state')],
        ['Handover', textAt(answer, 'handover')],
        ['Session-state', textAt(answer, 'session_state')],
      ]),
    ].join('\n');
  },
});
