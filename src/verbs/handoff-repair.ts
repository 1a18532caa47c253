import * as v from 'valibot';
import { refuseTime } from '../formats/handoff/edit.ts';
import { orderRepair } from '../formats/handoff/repair.ts';
import { findingsText, refuseDocuments } from '../formats/handoff/verdict.ts';
import { fieldLines, objectAt, objectsAt, textAt, textsAt } from '../kernel/answer.ts';
import { optionalName, optionalText, requiredName } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err } from '../lib/result.ts';

export const handoffRepair = defineVerb({
  name: 'handoff repair',
  summary: 'Put right what can be put right of documents without guessing.',
  details: `Where the two documents that are worked on do not say the same they become one account, as handoff reconcile makes it; a sound pair is left as it is, and so is everything when it is said again. Sections that are missing, empty or out of their order are there again, with what the session says, and what is left of the file stays. A file that is gone or emptied is written. Of pairs that were archived under one stamp the names of each other are put right, and a half that is gone is brought back where it is on record. What needs somebody who knows what is true stays a finding with its file, line and remedy, and is refused (7) with the whole report.`,
  examples: ['stint handoff repair --updated-by ana', 'stint handoff repair --updated-by ana --json'],
  input: () =>
    v.strictObject({
      root: optionalText('The folder of the documents. Default: the one of this project.'),
      start_dir: optionalText('The folder to look from. Default: the current one.'),
      holder: optionalName('Who does it, where that is somebody else than who says so.'),
      updated_by: requiredName('Who says so: a person or an agent.'),
      last_updated: optionalText('When. Default: now.'),
    }),
  actor: ({ holder, updated_by: who }) => holder ?? who,
  creates: true,
  does: {
    writes: async (world, input) => {
      const refusal = refuseTime(input.last_updated);
      return refusal === undefined ? orderRepair(world, input) : err(refusal);
    },
  },
  verdict: (answer) => {
    const findings = objectsAt(objectAt(answer, 'audit'), 'findings');
    return findings.length === 0
      ? undefined
      : refuseDocuments(`The documentation ${textAt(answer, 'docs_root')}`, findings);
  },
  text: (answer) => {
    const pair = objectAt(answer, 'active_pair');
    const repairs = objectAt(answer, 'repairs');
    const audit = objectAt(answer, 'audit');
    return [
      fieldLines([
        ['Docs root', textAt(answer, 'docs_root')],
        ['Result', textAt(answer, 'result')],
        [
          'Pair',
          textAt(pair, 'status') === ''
            ? 'none'
            : `${textAt(pair, 'status')}, next ${textAt(pair, 'next_owner')}: ${pair['changed'] === true ? 'changed' : 'no changes'}`,
        ],
        ['Archived pairs repaired', textsAt(repairs, 'snapshot_pairs_repaired').join(', ') || 'none'],
      ]),
      ...textsAt(repairs, 'notes').map((note) => `NOTE: ${note}`),
      ...textsAt(audit, 'warnings').map((warning) => `WARNING: ${warning}`),
      ...findingsText(audit),
    ].join('\n');
  },
});
