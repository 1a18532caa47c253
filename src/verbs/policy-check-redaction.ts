import * as v from 'valibot';
import { checkFields, checkPolicy, policyText, redactionFile } from '../formats/policy/files.ts';
import { redactionToJson } from '../formats/policy/redaction.ts';
import { defineVerb } from '../kernel/verb.ts';
import { ok } from '../lib/result.ts';

export const policyCheckRedaction = defineVerb({
  name: 'policy check-redaction',
  summary: 'Is the redaction policy of this project one?',
  details: `Every fault is told at once with its JSON path (7): fields that are none, lists that hold something else than texts, keywords without a letter, patterns that cannot be matched in one pass.`,
  examples: ['stint policy check-redaction', 'stint policy check-redaction --json'],
  input: () => v.strictObject(checkFields()),
  does: {
    apart: async ({ files }, input) =>
      checkPolicy(files, input, redactionFile, (policy) => ok(redactionToJson(policy))),
  },
  text: (answer) => policyText(answer, ['errors']),
});
