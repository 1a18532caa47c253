import * as v from 'valibot';
import { findRoot, lookBelow, refusePair } from '../formats/handoff/look.ts';
import { locatePair } from '../formats/handoff/workspace.ts';
import { fieldLines, textAt } from '../kernel/answer.ts';
import { optionalText } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const handoffLocate = defineVerb({
  name: 'handoff locate',
  summary: 'Which two documents tell where the work stands?',
  details: `source says how they were found: current-pointer (CURRENT.md names a handover that is there), current-plus-latest-handover (it names none: the newest one), latest-handover-pointer (there is no CURRENT.md: the newest handover, and what that names), latest-snapshots (the newest of both). A CURRENT.md that is broken is the one that is meant all the same. The newest is the one with the latest stamp in its name; a stamp that is no time is none. Where there is no pair it is refused (4).`,
  examples: ['stint handoff locate --json'],
  input: () =>
    v.strictObject({
      root: optionalText('The folder of the documents. Default: the one of this project.'),
      start_dir: optionalText('The folder to look from. Default: the current one.'),
    }),
  does: {
    reads: async (world, input) => {
      const root = await findRoot(world, input);
      if (!root.ok) return err({ refusal: root.error });
      const pair = locatePair(await lookBelow(world, root.value));
      if (pair === undefined) return err({ refusal: refusePair(`there is none in ${root.value}`) });
      return ok({
        docs_root: root.value,
        handover: `${root.value}/${pair.handover}`,
        session_state: `${root.value}/${pair.sessionState}`,
        source: pair.source,
      });
    },
  },
  text: (answer) =>
    fieldLines([
      ['Docs root', textAt(answer, 'docs_root')],
      ['Handover', textAt(answer, 'handover')],
      ['Session-state', textAt(answer, 'session_state')],
      ['Source', textAt(answer, 'source')],
    ]),
});
