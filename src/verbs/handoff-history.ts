import * as v from 'valibot';
import { entriesText, historyToJson } from '../formats/handoff/history.ts';
import { settledLook } from '../formats/handoff/live.ts';
import { findRoot, lookBelow, refusePair } from '../formats/handoff/look.ts';
import { lookOnce } from '../formats/handoff/workspace.ts';
import { fieldLines, objectAt, objectsAt, textAt, textsAt } from '../kernel/answer.ts';
import { optionalCount, optionalText } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const handoffHistory = defineVerb({
  name: 'handoff history',
  summary: 'Which handovers are there, the newest first?',
  details: `The pair that was worked on last, then the handovers beside it: by the stamp in the name, the newest first, those without one last. kind says whether its session state is CURRENT.md (live) or an archived one (snapshot); without CURRENT.md the newest pair is active and in the list too. What is wrong with a handover stands in its warnings, and hides no other; handoff audit looks at everything. Files that are no handovers are left alone. Only what is shown is read, so that --limit makes it cheap. Where there is no handover at all it is refused (4).`,
  examples: ['stint handoff history --limit 5', 'stint handoff history --root docs/tests --json'],
  input: () =>
    v.strictObject({
      limit: optionalCount('Show so many handovers at most, beside the active one.', 0),
      root: optionalText('The folder of the documents. Default: the one of this project.'),
      start_dir: optionalText('The folder to look from. Default: the current one.'),
    }),
  does: {
    reads: async (world, { limit, ...where }) => {
      const root = await findRoot(world, where);
      if (!root.ok) return err({ refusal: root.error });
      const history = historyToJson(await settledLook(world, lookOnce(await lookBelow(world, root.value))), limit);
      return history['active'] === null && objectsAt(history, 'history').length === 0 && limit !== 0
        ? err({ refusal: refusePair(`there is none in ${root.value}`) })
        : ok(history);
    },
  },
  text: (answer) => {
    const active = objectAt(answer, 'active');
    return [
      fieldLines([
        ['Docs root', textAt(answer, 'docs_root')],
        ['Active source', textAt(answer, 'active_source')],
        ['Task', textAt(active, 'task')],
        ['Kind', textAt(active, 'kind')],
        ['Status', textAt(active, 'status')],
        ['Last updated', textAt(active, 'last_updated')],
        ['Next owner', textAt(active, 'next_owner')],
        ['Handover', textAt(active, 'handover')],
        ['Session-state', textAt(active, 'session_state')],
      ]),
      ...textsAt(active, 'warnings').map((warning) => `WARNING: ${warning}`),
      'History:',
      ...entriesText(objectsAt(answer, 'history'), 'whole'),
    ].join('\n');
  },
});
