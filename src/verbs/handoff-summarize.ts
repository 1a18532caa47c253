import * as v from 'valibot';
import { settle } from '../formats/handoff/live.ts';
import { meantPair } from '../formats/handoff/look.ts';
import { summaryToJson } from '../formats/handoff/summary.ts';
import { itemsText, refuseDocuments } from '../formats/handoff/verdict.ts';
import { fieldLines, objectAt, objectsAt, textAt, textsAt } from '../kernel/answer.ts';
import { flag, optionalText } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const handoffSummarize = defineVerb({
  name: 'handoff summarize',
  summary: 'What do the two documents of a hand-off say, in short?',
  details: `For whoever takes over: the task, how it stands, who is next, what is left, what to open and to run first, who holds the lease of the folder, and what is wrong with the documents as warnings, which --strict makes a refusal (7). None stands for what nobody said.`,
  examples: ['stint handoff summarize', 'stint handoff summarize --strict --json'],
  input: () =>
    v.strictObject({
      handover: optionalText('The handover. Default: that of the pair that was worked on last.'),
      session_state: optionalText('The session state.'),
      strict: flag('Refuse a pair with warnings.'),
    }),
  does: {
    reads: async (world, { strict, ...input }) => {
      const meant = await meantPair(world, input);
      if (!meant.ok) return err({ refusal: meant.error });
      const { pair } = meant.value;
      const { look, stale } = await settle(world, meant.value.look);
      const summary = summaryToJson(look, pair, world.caller.now);
      const warnings = [...textsAt(summary, 'warnings'), ...stale.map(({ text, command }) => `${text}: ${command}`)];
      const report = { ...summary, warnings };
      if (strict !== true || warnings.length === 0) return ok(report);
      const findings = objectsAt(report, 'findings');
      const said = findings.length > 0 ? findings : [{ file: 'ACTIVE_LEASE.json', text: warnings[0] ?? '' }];
      return err({ report, refusal: refuseDocuments('The pair', said) });
    },
  },
  text: (answer) => {
    const resume = objectAt(answer, 'resume');
    const documents = objectAt(answer, 'documents');
    const lease = objectAt(answer, 'lease');
    return [
      fieldLines([
        ['Task', textAt(answer, 'task')],
        ['Status', textAt(answer, 'status')],
        ['Last updated', textAt(answer, 'last_updated')],
        ['Updated by', textAt(answer, 'updated_by')],
        ['Next owner', textAt(answer, 'next_owner')],
        ['Last completed step', textAt(answer, 'last_completed_step')],
        ['Current step', textAt(answer, 'current_step')],
        ['First file', textAt(resume, 'first_file')],
        ['Next command', textAt(resume, 'next_command')],
        ['Lease', textAt(lease, 'state')],
        ['Lease holder', textAt(lease, 'holder')],
        ['Lease expires at', textAt(lease, 'expires_at')],
        ['Handover', textAt(documents, 'handover')],
        ['Session-state', textAt(documents, 'session_state')],
      ]),
      ...itemsText(answer, 'Remaining steps', 'remaining_steps'),
      ...itemsText(answer, 'Blockers', 'blockers'),
      ...itemsText(answer, 'What was done', 'what_was_done'),
      ...itemsText(answer, 'Warnings', 'warnings'),
    ].join('\n');
  },
});
