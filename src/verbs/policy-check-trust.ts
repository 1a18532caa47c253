import * as v from 'valibot';
import { checkFields, checkPolicy, policyText, trustFile } from '../formats/policy/files.ts';
import { refuseProfile } from '../formats/policy/choose.ts';
import { rulesOf, rulesToJson } from '../formats/policy/trust.ts';
import { signersFaults } from '../formats/policy/trust-bundle.ts';
import { optionalText } from '../kernel/fields.ts';
import { refuse } from '../kernel/refusal.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const policyCheckTrust = defineVerb({
  name: 'policy check-trust',
  summary: 'Is the trust policy of this project one?',
  details: `Every fault is told at once with its JSON path (7): fields that are none, values that are of no use, a default profile that is not there, a profile whose list accepts nothing that the root accepts, sshsig where no key is pinned, a file of signers that cannot be used. The whole file is looked at; policy shows what counts for the profile, the lists of the root taken in. A profile that is not there is refused (4).`,
  examples: ['stint policy check-trust', 'stint policy check-trust --profile prod --json'],
  input: () =>
    v.strictObject({
      profile: optionalText('The profile to show. Default: the default profile of the policy, else its root.'),
      ...checkFields(),
    }),
  does: {
    apart: async (tools, { profile, ...where }) =>
      checkPolicy(tools.files, where, trustFile, (policy, root) => {
        const [fault, ...more] = signersFaults(tools, root, policy);
        if (fault !== undefined)
          return err(
            refuse('invalid-input', fault, { expected: 'files of signers that can be used', faults: [fault, ...more] }),
          );
        const rules = rulesOf(policy, profile);
        return rules === undefined ? err(refuseProfile(policy, profile)) : ok(rulesToJson(rules));
      }),
  },
  text: (answer) => policyText(answer, ['errors']),
});
