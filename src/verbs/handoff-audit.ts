import * as v from 'valibot';
import { auditToJson } from '../formats/handoff/audit.ts';
import { settledLook } from '../formats/handoff/live.ts';
import { findRoot, lookBelow } from '../formats/handoff/look.ts';
import { lookOnce } from '../formats/handoff/workspace.ts';
import { findingsText, refuseDocuments } from '../formats/handoff/verdict.ts';
import { fieldLines, objectAt, objectsAt, textAt, textsAt } from '../kernel/answer.ts';
import { optionalText } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const handoffAudit = defineVerb({
  name: 'handoff audit',
  summary: 'Is any document of a hand-off broken, archived ones too?',
  details: `Every session state and every handover below the root as validate-state and validate-handover look at them, the pair that was worked on last, those that were archived under one stamp, and the file of the lease. One that is broken hides no other; each finding has its file, line and remedy (7). Warnings: no active pair, an archived document without the other one, a lease that has expired or is about another handover. A handover that another has taken the place of need not say what CURRENT.md says now; files that are no such documents are left alone.`,
  examples: ['stint handoff audit', 'stint handoff audit --root docs/tests --json'],
  input: () =>
    v.strictObject({
      root: optionalText('The folder of the documents. Default: the one of this project.'),
      start_dir: optionalText('The folder to look from. Default: the current one.'),
    }),
  does: {
    reads: async (world, input) => {
      const root = await findRoot(world, input);
      if (!root.ok) return err({ refusal: root.error });
      const report = auditToJson(
        await settledLook(world, lookOnce(await lookBelow(world, root.value))),
        world.caller.now,
      );
      const findings = objectsAt(report, 'findings');
      return findings.length === 0
        ? ok(report)
        : err({ report, refusal: refuseDocuments(`The documentation ${root.value}`, findings) });
    },
  },
  text: (answer) => {
    const pair = objectAt(answer, 'active_pair');
    const totals = objectAt(answer, 'totals');
    return [
      fieldLines([
        ['Docs root', textAt(answer, 'docs_root')],
        ['Result', textAt(answer, 'result')],
        ['Handover', textAt(pair, 'handover')],
        ['Session-state', textAt(pair, 'session_state')],
        ['Lease', textAt(objectAt(answer, 'lease'), 'state')],
        [
          'Totals',
          `${textAt(totals, 'handover_files')} handovers, ${textAt(totals, 'session_state_files')} session states, ${textAt(totals, 'snapshot_pairs')} archived pairs`,
        ],
      ]),
      ...textsAt(answer, 'warnings').map((warning) => `WARNING: ${warning}`),
      ...findingsText(answer),
    ].join('\n');
  },
});
