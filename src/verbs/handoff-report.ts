import * as v from 'valibot';
import { entriesText } from '../formats/handoff/history.ts';
import { settledLook } from '../formats/handoff/live.ts';
import { findRoot, lookBelow, refusePair } from '../formats/handoff/look.ts';
import { lookOnce } from '../formats/handoff/workspace.ts';
import { reportToJson } from '../formats/handoff/report.ts';
import { findingsText, itemsText, refuseDocuments } from '../formats/handoff/verdict.ts';
import { fieldLines, objectAt, objectsAt, textAt, textsAt } from '../kernel/answer.ts';
import { optionalCount, optionalText } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const handoffReport = defineVerb({
  name: 'handoff report',
  summary: 'Everything about a hand-off in one answer: what it says, who holds it, what is broken, what came before.',
  details: `What handoff summarize, audit and history say, of one root and of one look at every file. errors and warnings are those of the audit, each once. A broken document is told with file, line and remedy (7), and hides nothing else. Where no pair can be told summary is null (4), and the rest is there.`,
  examples: ['stint handoff report', 'stint handoff report --history-limit 10 --json'],
  input: () =>
    v.strictObject({
      history_limit: optionalCount('Show so many handovers at most, beside the active one. Default: 3.', 0),
      root: optionalText('The folder of the documents. Default: the one of this project.'),
      start_dir: optionalText('The folder to look from. Default: the current one.'),
    }),
  does: {
    reads: async (world, { history_limit: limit = 3, ...where }) => {
      const root = await findRoot(world, where);
      if (!root.ok) return err({ refusal: root.error });
      const report = reportToJson(
        await settledLook(world, lookOnce(await lookBelow(world, root.value))),
        world.caller.now,
        limit,
      );
      const findings = objectsAt(report, 'findings');
      if (report['summary'] === null) return err({ report, refusal: refusePair(`there is none in ${root.value}`) });
      return findings.length === 0
        ? ok(report)
        : err({ report, refusal: refuseDocuments(`The documentation ${root.value}`, findings) });
    },
  },
  text: (answer) => {
    const summary = objectAt(answer, 'summary');
    const documents = objectAt(summary, 'documents');
    const lease = objectAt(answer, 'lease');
    return [
      fieldLines([
        ['Docs root', textAt(answer, 'docs_root')],
        ['Result', textAt(answer, 'result')],
        ['Task', textAt(summary, 'task')],
        ['Status', textAt(summary, 'status')],
        ['Last updated', textAt(summary, 'last_updated')],
        ['Updated by', textAt(summary, 'updated_by')],
        ['Next owner', textAt(summary, 'next_owner')],
        ['Current step', textAt(summary, 'current_step')],
        ['Next command', textAt(objectAt(summary, 'resume'), 'next_command')],
        ['Handover', textAt(documents, 'handover')],
        ['Session-state', textAt(documents, 'session_state')],
        ['Lease', textAt(lease, 'state')],
        ['Lease holder', textAt(lease, 'holder')],
        ['Lease purpose', textAt(lease, 'purpose')],
        ['Lease expires at', textAt(lease, 'expires_at')],
        [
          'Workspace health',
          `${textAt(objectAt(answer, 'audit'), 'result')}: ${textsAt(answer, 'errors').length} errors, ${textsAt(answer, 'warnings').length} warnings`,
        ],
      ]),
      ...itemsText(summary, 'Remaining steps', 'remaining_steps'),
      'Recent history:',
      ...entriesText(objectsAt(objectAt(answer, 'history'), 'history'), 'lines'),
      ...textsAt(answer, 'warnings').map((warning) => `WARNING: ${warning}`),
      ...findingsText(answer),
    ].join('\n');
  },
});
