import * as v from 'valibot';
import { orderArchive } from '../formats/handoff/archiving.ts';
import { fieldLines, textAt } from '../kernel/answer.ts';
import { flag, optionalText } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';

export const handoffArchive = defineVerb({
  name: 'handoff archive',
  summary: 'Keep a copy of a pair of documents, as it stands now.',
  details: `Of the pair of this checkout, or of the one that is named: two files with a stamp in their names, which differ from it in nothing but the paths with which they name each other. The pair itself stays what it is. The stamp is a minute in UTC: the next free one, unless --timestamp says another; one that is in no calendar is refused (2). A copy of the pair of a session is on its record, so handoff restore knows whose it is.

A pair that is not sound is refused (7): it could not be restored. Files that are there are refused (9) without --force: with it an earlier copy is replaced, and kept beside where somebody has edited it. What is copied is never written over, nor is a document of another session.`,
  examples: ['stint handoff archive', 'stint handoff archive --timestamp 20260312_0915'],
  input: () =>
    v.strictObject({
      handover: optionalText('The handover of the pair.'),
      session_state: optionalText('The session state of the pair.'),
      timestamp: optionalText('The stamp: YYYYMMDD_HHMM, in UTC. Default: the next free minute.'),
      handover_output: optionalText('The file of the handover. Default: one with the stamp in its name.'),
      session_output: optionalText('The file of the session state. Default: one with the stamp in its name.'),
      force: flag('Replace what is there.'),
    }),
  creates: true,
  does: { writes: async (world, input) => orderArchive(world, input) },
  text: (answer) =>
    [
      `Archived handoff pair: timestamp=${textAt(answer, 'timestamp')}`,
      fieldLines([
        ...(textAt(answer, 'handover') === '' ? [] : [['Handover', textAt(answer, 'handover')] as const]),
        ['Session-state', textAt(answer, 'session_state')] as const,
      ]),
    ].join('\n'),
});
