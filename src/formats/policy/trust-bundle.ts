import { optionalName, optionalText, flag } from '../../kernel/fields.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { Apart } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { inspectBundle, unreadInspection, type Inspection } from '../bundle/inspect.ts';
import type { Bundle } from '../bundle/parts.ts';
import { readSecret, readSigners, secretFields, type SecretInput } from '../bundle/means.ts';
import { verifySignature, type SignatureMeans } from '../bundle/signature.ts';
import { chooseRules, type ChosenRules, type NoRules, type TrustCall } from './choose.ts';
import { judgeTrust, verdictToJson, type CheckedSignature, type TrustVerdict } from './judge.ts';
import { rulesToJson, withFields, type TrustPolicy, type TrustRules } from './trust.ts';

/** Whether a bundle that was read is trusted here, by the policy that is checked in and what the caller says beside it. */

/** The fields that say which policy counts, and where a secret is. */
export const policyFields = () => ({
  policy_file: optionalText('The trust policy. Default: the one in the root of the documents.'),
  policy_profile: optionalText('The profile of the policy. Default: the default profile of the policy, else its root.'),
  no_policy_file: flag('Go by the flags alone.'),
  allowed_signers: optionalText('A file of OpenSSH that says whose keys are whose, beside that of the policy.'),
  override: optionalName('Why more is accepted than the policy that is checked in accepts. It is put on record.'),
  ...secretFields(),
});

/** What a caller brings. */
export type TrustInput = TrustCall & SecretInput & { readonly allowed_signers?: string | undefined };

/** What is asked for files, secrets and the time. */
export type TrustTools = Pick<Apart, 'files' | 'variable' | 'clock'>;

/** A bundle that was judged. */
export interface JudgedBundle {
  readonly inspection: Inspection;
  readonly signature: CheckedSignature;
  readonly chosen: ChosenRules;
  readonly verdict: TrustVerdict;
}

/** Judges a bundle; what keeps it from being judged, a policy or a secret that cannot be read, is no verdict. */
export const trustBundle = async (
  tools: TrustTools,
  root: string,
  { path, bundle }: { readonly path: string; readonly bundle: Bundle },
  input: TrustInput,
): Promise<Result<JudgedBundle, NoRules>> => {
  const chosen = await chooseRules(tools.files, root, input);
  if (!chosen.ok) return chosen;
  const { source } = chosen.value;
  // Whoever names the signers that count means that one of them has signed.
  const rules =
    input.allowed_signers === undefined
      ? chosen.value.rules
      : withFields(chosen.value.rules, { require_signature: true });
  const { now } = tools.clock;
  const inspection = inspectBundle(bundle, path, now);
  const signature = checkSignature(tools, chosen.value.root, bundle, rules, input);
  if (!signature.ok) return err({ source, errors: [signature.error.message], refusal: signature.error });
  const verdict = judgeTrust(inspection, signature.value, rules, now);
  return ok({ inspection, signature: signature.value, chosen: { ...chosen.value, rules }, verdict });
};

/** What becomes of a signature by the keys that are known; each file of signers has to vouch for it. */
const checkSignature = (
  { files, variable, clock }: TrustTools,
  root: string,
  bundle: Bundle,
  rules: TrustRules,
  { secret_file, secret_env = rules.signature_secret_env ?? undefined, allowed_signers: own }: TrustInput,
): Result<CheckedSignature, Refusal> => {
  if (bundle.signature === undefined) return ok(undefined);
  const isShared = bundle.signature['scheme'] === 'hmac-sha256';
  const secret = isShared ? readSecret({ files, variable }, { secret_file, secret_env }) : ok(undefined);
  if (!secret.ok) return secret;
  const means: SignatureMeans = {
    secret: secret.value,
    fingerprints: rules.allowed.get('allowed_public_key_fingerprints'),
  };
  let checked: CheckedSignature;
  for (const signers of [
    ...(own === undefined ? [] : [readSigners(files, own, clock)]),
    ...rules.allowed_signers_files.map((file) => readSigners(filesBelow(files, root), file, clock)),
  ]) {
    if (!signers.ok) return signers;
    checked = verifySignature(bundle, { ...means, signers: signers.value }, clock.now);
    if (!checked.ok) return ok(checked);
  }
  return ok(checked ?? verifySignature(bundle, means, clock.now));
};

/** Why the files of signers that a policy names cannot be used, a sentence each. */
export const signersFaults = (
  { files, clock }: Pick<TrustTools, 'files' | 'clock'>,
  root: string,
  policy: TrustPolicy,
): readonly string[] => {
  const named = [policy, ...Object.values(policy.profiles ?? {})].flatMap(
    ({ allowed_signers_file: file }) => file ?? [],
  );
  return [...new Set(named)].flatMap((file) => {
    const signers = readSigners(filesBelow(files, root), file, clock);
    return signers.ok ? [] : [signers.error.message];
  });
};

/** Files by their paths from a folder, which no link leads out of. */
const filesBelow = (files: TrustTools['files'], root: string): Parameters<typeof readSigners>[0] => ({
  readNamed: (path, limit) => {
    const text = files.text(root, path, limit);
    return text.ok ? ok({ path, text: text.value }) : text;
  },
});

/** The report about a bundle that was judged. */
export const judgedToJson = (path: string, { inspection, signature, chosen, verdict }: JudgedBundle): JsonObject => ({
  ...reportOf(path, inspection, chosen.source),
  ...verdictToJson(verdict),
  policy_profile: chosen.profile,
  override: chosen.override === null ? null : { ...chosen.override, loosened: [...chosen.override.loosened] },
  signature_verified: signature?.ok === true,
  signature_metadata:
    signature?.ok !== true ? null : signature.value.coversItself ? 'authenticated' : 'unauthenticated',
  vouched_by: signature?.ok === true ? signature.value.vouchedBy : null,
  policy: rulesToJson(chosen.rules),
  inspection,
});

/** The report about one that could not be judged: it is not trusted. */
export const unjudgedToJson = (
  path: string,
  source: string,
  errors: readonly string[],
  inspection: Inspection = unreadInspection(path, errors),
): JsonObject => ({
  ...reportOf(path, inspection, source),
  blocking_reasons: [...errors],
});

const reportOf = (path: string, inspection: Inspection, source: string): JsonObject => ({
  result: 'untrusted',
  bundle_path: path,
  task: inspection['task'] ?? null,
  status: inspection['status'] ?? null,
  updated_by: inspection['updated_by'] ?? null,
  next_owner: inspection['next_owner'] ?? null,
  exported_at: inspection['exported_at'] ?? null,
  lease_state: inspection.lease_state,
  source_readiness_verdict: inspection['source_readiness_verdict'] ?? null,
  policy_source: source,
  policy_profile: null,
  override: null,
  signature_present: inspection['signature_present'] ?? false,
  signature_scheme: inspection['signature_scheme'] ?? null,
  signature_signer: inspection['signature_signer'] ?? null,
  signature_key_id: inspection['signature_key_id'] ?? null,
  signature_public_key_fingerprint: inspection['signature_public_key_fingerprint'] ?? null,
  signature_verified: false,
  signature_metadata: null,
  vouched_by: null,
  policy: null,
  warnings: [],
  blocking_reasons: [],
  next_actions: [],
  reasons: [],
  inspection: null,
});

/** That a bundle is not trusted. */
export const refuseUntrusted = (path: string, { reasons }: TrustVerdict): Refusal => {
  const [first] = reasons;
  const others = reasons.length > 1 ? ` (and ${reasons.length - 1} more)` : '';
  return refuse('untrusted', `${path} is not trusted: ${first?.text ?? ''}${others}.`, {
    expected: 'a bundle that the trust policy accepts',
    faults: reasons.map(({ text }) => text),
    ...(first === undefined ? {} : { hint: first.action }),
  });
};
