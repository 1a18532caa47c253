import * as v from 'valibot';
import { usualSecretVariable } from '../formats/bundle/means.ts';
import { policyText, trustFile, writeFields, writePolicy } from '../formats/policy/files.ts';
import { flagFields, newTrustPolicy, presets, type Flag } from '../formats/policy/new-trust.ts';
import { trustFlags } from '../formats/policy/trust-flags.ts';
import { optionalText, optionalTexts } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';
import { withoutUndefined } from '../lib/json.ts';

const flags = Object.keys(flagFields) as readonly Flag[];

/** A flag for each field of a profile. */
const profileFlags = (): Readonly<Record<`profile_${Flag}`, ReturnType<typeof optionalTexts>>> =>
  // Made of all flags.
  Object.fromEntries(
    flags.map((flag) => [
      `profile_${flag}`,
      optionalTexts(`What --${flag.replaceAll('_', '-')} says in a profile: PROFILE=VALUE.`),
    ]),
  ) as Record<`profile_${Flag}`, ReturnType<typeof optionalTexts>>;

export const policyNewTrust = defineVerb({
  name: 'policy new-trust',
  summary: 'Write whose bundles this project trusts, and in which state.',
  details: `The flags say the root of the policy; each --profile-name adds a profile that begins with what the root says. One that is called ${Object.keys(presets).join(', ')}, or that --profile-template names as one, says what such an environment usually does: dev accepts what is under way and needs no signature, staging accepts an expired lease and 48 hours, prod nothing but what is ready, within 24 hours; both require sshsig.

Whatever could not be used is refused before anything is written (2): negative hours, schemes and fingerprints that are none, profiles that no --profile-name declares, a list of a profile that accepts nothing of the root's. Where sshsig is named and no key is pinned it is written, and warnings say what has to be filled in before policy check-trust accepts it. Where a policy is there already nothing is written (9) without --force.`,
  examples: [
    'stint policy new-trust --require-signature --profile-name dev --profile-name prod --profile-allowed-public-key-fingerprint prod=SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8',
    'stint policy new-trust --profile-name review --profile-template review=staging --profile-max-age-hours review=6',
  ],
  input: () =>
    v.strictObject({
      ...trustFlags(),
      allowed_signers_file: optionalText('A file of OpenSSH that says whose keys are whose, below the documents.'),
      signature_secret_env: optionalText(
        `The variable with the secret of hmac-sha256 signatures. Default: ${usualSecretVariable}.`,
      ),
      profile_name: optionalTexts('A profile to be made.'),
      profile_template: optionalTexts('What a profile usually is: PROFILE=dev, staging or prod.'),
      default_profile: optionalText('The profile that counts where nobody names one.'),
      ...profileFlags(),
      ...writeFields(),
    }),
  does: {
    apart: async (tools, input) => {
      const root = withoutUndefined(Object.fromEntries(flags.map((flag) => [flag, input[flag]])));
      const made = newTrustPolicy({
        root,
        profiles: input.profile_name ?? [],
        templates: input.profile_template ?? [],
        values: new Map(flags.map((flag) => [flag, input[`profile_${flag}`] ?? []])),
        defaultProfile: input.default_profile,
      });
      return writePolicy(tools, input, trustFile, made);
    },
  },
  text: (answer) => policyText(answer, ['warnings', 'errors']),
});
