import * as v from 'valibot';
import { valueOf } from '../formats/handoff/document.ts';
import { settle } from '../formats/handoff/live.ts';
import { meantPair } from '../formats/handoff/look.ts';
import { examinePair, findingToJson } from '../formats/handoff/summary.ts';
import { findingsText, refuseDocuments } from '../formats/handoff/verdict.ts';
import { textAt, textsAt } from '../kernel/answer.ts';
import { optionalText } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const handoffValidate = defineVerb({
  name: 'handoff validate',
  summary: 'Are both documents of a hand-off sound, and do they say the same?',
  details: `Both as validate-state and validate-handover look at them; where each is sound, their status, who updated them and when, who is next, and whether they name each other. What is wrong is told with its file, its line and a remedy (7). Without --handover and --session-state it is the pair that was worked on last; of one that is named it is the one that it names.`,
  examples: [
    'stint handoff validate',
    'stint handoff validate --session-state docs/tests/session-state/CURRENT.md --json',
  ],
  input: () =>
    v.strictObject({
      handover: optionalText('The handover.'),
      session_state: optionalText('The session state.'),
    }),
  does: {
    reads: async (world, input) => {
      const meant = await meantPair(world, input);
      if (!meant.ok) return err({ refusal: meant.error });
      const { pair } = meant.value;
      const { look, stale } = await settle(world, meant.value.look);
      const { handover: one, findings } = examinePair(look, pair);
      const report = {
        valid: findings.length === 0,
        status: one.document === undefined ? null : valueOf(one.document, 'Status'),
        next_owner: one.document === undefined ? null : valueOf(one.document, 'Next owner'),
        handover: `${look.root}/${pair.handover}`,
        session_state: `${look.root}/${pair.sessionState}`,
        findings: findings.map(({ tag, path, finding }) => ({ tag, ...findingToJson(path, finding) })),
        stale: stale.map(({ text, command }) => `${text}: ${command}`),
      };
      return report.valid ? ok(report) : err({ report, refusal: refuseDocuments('The pair', report.findings) });
    },
  },
  text: (answer) =>
    answer['valid'] === true
      ? [
          `Valid handoff pair: status=${textAt(answer, 'status')}, next_owner=${textAt(answer, 'next_owner')}`,
          `Handover: ${textAt(answer, 'handover')}`,
          `Session-state: ${textAt(answer, 'session_state')}`,
          ...textsAt(answer, 'stale').map((line) => `WARNING: ${line}`),
        ].join('\n')
      : findingsText(answer).join('\n'),
});
