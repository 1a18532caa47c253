import * as v from 'valibot';
import { ciPolicyOf } from '../formats/policy/ci.ts';
import { ciFile, policyText, writeFields, writePolicy } from '../formats/policy/files.ts';
import { flag } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';
import { withoutUndefined } from '../lib/json.ts';

export const policyNewCi = defineVerb({
  name: 'policy new-ci',
  summary: 'Write which policies this project requires.',
  details: `policy ci fails where one that is required is not checked in. Where a policy is there already nothing is written (9) without --force.`,
  examples: ['stint policy new-ci --require-portable-bundle-policies'],
  input: () =>
    v.strictObject({
      require_trust_policy: flag('A trust policy has to be there.'),
      require_redaction_policy: flag('A redaction policy has to be there.'),
      require_portable_bundle_policies: flag('Both have to be there.'),
      ...writeFields(),
    }),
  does: {
    apart: async (tools, { output, force, root, start_dir, ...said }) =>
      writePolicy(tools, { output, force, root, start_dir }, ciFile, {
        policy: { ...ciPolicyOf(withoutUndefined(said)) },
        warnings: [],
        errors: [],
      }),
  },
  text: (answer) => policyText(answer, ['warnings', 'errors']),
});
