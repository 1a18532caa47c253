import * as v from 'valibot';
import { checkFields, checkPolicy, ciFile, policyText } from '../formats/policy/files.ts';
import { defineVerb } from '../kernel/verb.ts';
import { ok } from '../lib/result.ts';

export const policyCheckCi = defineVerb({
  name: 'policy check-ci',
  summary: 'Is the CI policy of this project one?',
  details: `Every fault is told at once with its JSON path (7). policy shows what is required: require_portable_bundle_policies requires both of the others.`,
  examples: ['stint policy check-ci', 'stint policy check-ci --json'],
  input: () => v.strictObject(checkFields()),
  does: {
    apart: async ({ files }, input) => checkPolicy(files, input, ciFile, (policy) => ok({ ...policy })),
  },
  text: (answer) => policyText(answer, ['errors']),
});
