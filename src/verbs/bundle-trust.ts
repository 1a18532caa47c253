import * as v from 'valibot';
import { readBundleFile } from '../formats/bundle/file.ts';
import { findRoot } from '../formats/handoff/look.ts';
import { itemsText } from '../formats/handoff/verdict.ts';
import { contradictionIn } from '../formats/policy/choose.ts';
import { trustFlags } from '../formats/policy/trust-flags.ts';
import {
  judgedToJson,
  policyFields,
  refuseUntrusted,
  trustBundle,
  unjudgedToJson,
} from '../formats/policy/trust-bundle.ts';
import { fieldLines, textAt, textsAt } from '../kernel/answer.ts';
import { flag, optionalText, requiredText } from '../kernel/fields.ts';
import { refuse } from '../kernel/refusal.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const bundleTrust = defineVerb({
  name: 'bundle trust',
  summary: 'May this bundle be used here, by the policy of this project?',
  details: `The verdict is trusted, trusted-with-warnings or untrusted (11, with every reason and what can be done about it; --strict-warnings refuses warnings too). Nothing is written, and the file is read once.

What counts is the trust policy in the root of the documents, else in the usual root of this project, by its profile, with what the flags say beside it. Flags narrow it: what they revoke is revoked too, accepted is what both accept. What would accept more than the policy that is checked in, be it a flag, another root, another policy or none, is refused (12) without --override REASON; with it the reason is in the report. A profile that is not there is refused (4), and so is a policy that cannot be used (7).

A signature that is there has to hold, whether one is required or not, and be made with a key that is known here: the shared secret, a pinned fingerprint, or a file of allowed signers. The key that comes with a bundle proves nothing. A signature of version 2 does not cover signer and key id; where the policy revokes some by name, none is accepted. A bundle from the future, by more than two minutes, is not trusted.`,
  examples: [
    'stint bundle trust --bundle work.json',
    'stint bundle trust --bundle work.json --policy-profile prod --strict-warnings --json',
  ],
  input: () =>
    v.strictObject({
      bundle: requiredText('The file of the bundle.'),
      root: optionalText('The folder of the documents. Default: the one of this project.'),
      start_dir: optionalText('The folder to look from. Default: the current one.'),
      ...policyFields(),
      ...trustFlags(),
      strict_warnings: flag('Refuse what is trusted with warnings.'),
    }),
  contradiction: contradictionIn,
  does: {
    apart: async (tools, { bundle: named, root: folder, start_dir, strict_warnings: isStrict, ...input }) => {
      const world = { project: async () => tools.files };
      const root = await findRoot(world, { root: folder, start_dir });
      if (!root.ok) return err({ refusal: root.error });
      const { path, read } = await readBundleFile(world, named);
      if (!read.ok)
        return err({ report: unjudgedToJson(path, 'default', read.error.errors), refusal: read.error.refusal });
      const judged = await trustBundle(tools, root.value, { path, bundle: read.value }, input);
      if (!judged.ok) {
        const { source, errors, refusal } = judged.error;
        return err({ report: unjudgedToJson(path, source, errors), refusal });
      }
      const report = judgedToJson(path, judged.value);
      const { verdict } = judged.value;
      if (verdict.result === 'untrusted') return err({ report, refusal: refuseUntrusted(path, verdict) });
      if (verdict.result === 'trusted' || isStrict !== true) return ok(report);
      const refusal = refuse('untrusted', `${path} is trusted with warnings, and none are accepted.`, {
        expected: 'a bundle without warnings',
        faults: verdict.warnings,
        hint: 'leave out --strict-warnings to accept them',
      });
      return err({ report, refusal });
    },
  },
  text: (answer) =>
    [
      fieldLines(labels.map(([label, key]) => [label, textAt(answer, key)])),
      ...itemsText(answer, 'Warnings', 'warnings'),
      ...itemsText(answer, 'Blocking reasons', 'blocking_reasons'),
      'Next actions:',
      ...(textsAt(answer, 'next_actions').length === 0
        ? ['1. None']
        : textsAt(answer, 'next_actions').map((action, index) => `${index + 1}. ${action}`)),
    ].join('\n'),
});

const labels = [
  ['Result', 'result'],
  ['Bundle', 'bundle_path'],
  ['Task', 'task'],
  ['Status', 'status'],
  ['Updated by', 'updated_by'],
  ['Next owner', 'next_owner'],
  ['Exported at', 'exported_at'],
  ['Lease state', 'lease_state'],
  ['Source readiness verdict', 'source_readiness_verdict'],
  ['Policy source', 'policy_source'],
  ['Policy profile', 'policy_profile'],
  ['Signature present', 'signature_present'],
  ['Signature scheme', 'signature_scheme'],
  ['Signature signer', 'signature_signer'],
  ['Signature key id', 'signature_key_id'],
  ['Signature public key fingerprint', 'signature_public_key_fingerprint'],
  ['Signature verified', 'signature_verified'],
  ['Signature metadata', 'signature_metadata'],
] as const;
