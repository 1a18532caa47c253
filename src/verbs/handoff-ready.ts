import * as v from 'valibot';
import { findRoot } from '../formats/handoff/look.ts';
import { readReadiness } from '../formats/handoff/readiness.ts';
import { fieldLines, objectAt, objectsAt, textAt, textsAt } from '../kernel/answer.ts';
import { flag, optionalCount, optionalText } from '../kernel/fields.ts';
import { refuse } from '../kernel/refusal.ts';
import { defineVerb } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok } from '../lib/result.ts';

export const handoffReady = defineVerb({
  name: 'handoff ready',
  summary: 'Can the work be handed over as it stands, and what keeps it from that?',
  details: `The verdict is ready, ready-with-warnings or not-ready (6; --strict-warnings refuses warnings too). reasons has each reason with its code, its severity and its command: what clears it. Capital words in it are for you to fill in, and where only somebody who knows can write what is true it opens the file.

Not ready: what handoff audit finds broken; a lease that is held, or was left behind; a blocker without what it takes to go on ("Needed to unblock: ..." behind it); a done with steps or blockers left; a step in doubt; a file that is named as touched or to be opened first and is not there, unless it is said to be deleted; a validation that is older than the files it covers; a secret in the pair; a time that has not come; edits of the documents that their session does not know; a file of the pair that is gone, older than what its session says, or not written yet. not-started, and blocked with what it needs, are no reasons.

Warnings: those of the audit; where only the documents tell of a validation, files that changed after they were written; a failed validation of work that is done or ready for review. Notes change no verdict: nothing was validated, the working tree is not clean, the state is old. A project that requires a validation or a clean tree says so in stint.json: {"handoff": {"require": ["validation", "clean-tree"]}}.

What the session of the documents has on record counts: its lease, blockers, steps, validations and files. Without one the documents stand alone, with the file of the lease. report is what handoff report says, with the same --history-limit.`,
  examples: ['stint handoff ready', 'stint handoff ready --strict-warnings --json'],
  input: () =>
    v.strictObject({
      history_limit: optionalCount('Show so many handovers at most, beside the active one. Default: 3.', 0),
      strict_warnings: flag('Refuse what is ready with warnings.'),
      root: optionalText('The folder of the documents. Default: the one of this project.'),
      start_dir: optionalText('The folder to look from. Default: the current one.'),
    }),
  does: {
    reads: async (world, { history_limit: historyLimit = 3, strict_warnings: isStrict, ...where }) => {
      const root = await findRoot(world, where);
      if (!root.ok) return err({ refusal: root.error });
      const isNamed = where.root !== undefined || where.start_dir !== undefined;
      const report = await readReadiness(world, root.value, { historyLimit, isNamed });
      if (!report.ok) return err({ refusal: report.error });
      const blocking = textsAt(report.value, 'blocking_reasons');
      const warnings = textsAt(report.value, 'warnings');
      const faults = blocking.length > 0 ? blocking : isStrict === true ? warnings : [];
      if (faults.length === 0) return ok(report.value);
      const count = `${faults.length} ${faults.length === 1 ? 'reason' : 'reasons'}`;
      const refusal = refuse('invariant-unmet', `The work is not ready to be handed over: ${count}.`, {
        expected: blocking.length > 0 ? 'no blocking reasons' : 'no warnings',
        hint: textsAt(report.value, 'next_actions')[0] ?? 'stint handoff report',
      });
      return err({ report: report.value, refusal });
    },
  },
  text: (answer) => {
    const lease = objectAt(answer, 'lease');
    return [
      fieldLines([
        ['Verdict', textAt(answer, 'verdict')],
        ['Docs root', textAt(answer, 'docs_root')],
        ['Session', textAt(answer, 'session')],
        ['Task', textAt(answer, 'task')],
        ['Status', textAt(answer, 'status')],
        ['Next owner', textAt(answer, 'next_owner')],
        ['Lease state', textAt(lease, 'state')],
        ['Lease holder', textAt(lease, 'holder')],
      ]),
      ...reasonsText(answer, 'Blocking reasons', 'blocking'),
      ...reasonsText(answer, 'Warnings', 'warning'),
      ...reasonsText(answer, 'Notes', 'note'),
    ].join('\n');
  },
});

/** The reasons of a severity, each with its command below it. */
const reasonsText = (answer: JsonObject, label: string, severity: string): readonly string[] => {
  const reasons = objectsAt(answer, 'reasons').filter((reason) => reason['severity'] === severity);
  return [
    `${label}:`,
    ...(reasons.length === 0
      ? ['- None']
      : reasons.flatMap((reason) => [`- ${textAt(reason, 'text')}`, `  ${textAt(reason, 'command')}`])),
  ];
};
