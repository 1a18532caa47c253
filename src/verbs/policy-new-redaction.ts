import * as v from 'valibot';
import { faultText } from '../formats/policy/fields.ts';
import { policyText, redactionFile, writeFields, writePolicy } from '../formats/policy/files.ts';
import { checkRedactionPolicy, redactionToJson } from '../formats/policy/redaction.ts';
import { optionalTexts } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';

export const policyNewRedaction = defineVerb({
  name: 'policy new-redaction',
  summary: 'Write what is taken out of bundles beyond the usual secrets.',
  details: `The lists of the policy are those of the guide on secrets; all of them are checked before anything is written (2). Where a policy is there already nothing is written (9) without --force.`,
  examples: ['stint policy new-redaction --deny-redaction-path bundle.git.patch --extra-sensitive-keyword resume_code'],
  input: () =>
    v.strictObject({
      allow_redaction_path: optionalTexts('A path that stays as it is, with all below.'),
      deny_redaction_path: optionalTexts('A path that is taken out whole.'),
      extra_sensitive_keyword: optionalTexts('What names of secrets hold.'),
      extra_redaction_regex: optionalTexts('A pattern; all that it matches is taken out.'),
      ...writeFields(),
    }),
  does: {
    apart: async (tools, input) => {
      const policy = redactionToJson({
        allowPaths: input.allow_redaction_path ?? [],
        denyPaths: input.deny_redaction_path ?? [],
        keywords: input.extra_sensitive_keyword ?? [],
        patterns: input.extra_redaction_regex ?? [],
      });
      const errors = checkRedactionPolicy(policy).map(faultText);
      return writePolicy(tools, input, redactionFile, { policy, warnings: [], errors });
    },
  },
  text: (answer) => policyText(answer, ['warnings', 'errors']),
});
