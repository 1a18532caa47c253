import { textsAt, wholeTextAt } from '../../kernel/answer.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import type { Result } from '../../lib/result.ts';
import { clockSkew } from '../../lib/time.ts';
import type { Inspection } from '../bundle/inspect.ts';
import type { SignatureFault, VerifiedSignature } from '../bundle/signature.ts';
import { timeFault } from '../handoff/document.ts';
import { leaseStatesOf, readinessOf, type AllowList, type Revocation, type TrustRules } from './trust.ts';

/** Whether a bundle is trusted. Pure: what was inspected, what became of its signature, the rules, the time. */

/** What became of the signature of a bundle; undefined where it has none. */
export type CheckedSignature = Result<VerifiedSignature, readonly SignatureFault[]> | undefined;

/** What keeps a bundle from being trusted. */
export interface TrustReason {
  readonly code: ReasonCode;
  readonly text: string;
  /** What can be done about it. */
  readonly action: string;
}

type ReasonCode = keyof typeof actions;

/** The verdict, with all of its reasons. */
export interface TrustVerdict {
  readonly result: 'trusted' | 'trusted-with-warnings' | 'untrusted';
  readonly reasons: readonly TrustReason[];
  readonly warnings: readonly string[];
}

/** Judges a bundle. A signature that is there has to hold, whether one is required or not. */
export const judgeTrust = (
  inspection: Inspection,
  signature: CheckedSignature,
  rules: TrustRules,
  now: string,
): TrustVerdict => {
  const warnings = textsAt(inspection, 'warnings');
  const reasons = [
    ...textsAt(inspection, 'errors').map((error) => reason('inspection', error)),
    ...(warnings.length > 0 && !rules.allows.has('allow_inspection_warnings')
      ? [reason('warnings', 'it was inspected with warnings, and they are not accepted')]
      : []),
    ...stateReasons(inspection, rules),
    ...ageReasons(wholeTextAt(inspection, 'exported_at'), rules, now),
    ...signatureReasons(inspection, signature, rules),
  ];
  return {
    result: reasons.length > 0 ? 'untrusted' : warnings.length > 0 ? 'trusted-with-warnings' : 'trusted',
    reasons,
    warnings,
  };
};

const reason = (code: ReasonCode, text: string): TrustReason => ({ code, text, action: actions[code] });

/** What can be done about a reason. */
const actions = {
  inspection: 'have it exported again; stint bundle inspect says what is wrong with it',
  warnings: 'look at the warnings, and accept them with --allow-inspection-warnings',
  readiness: 'have the work made ready where it comes from, or accept it with --allow-source-not-ready',
  lease:
    'have the lease released and the bundle exported again, or accept it with --allow-active-lease or --allow-expired-lease',
  'updated-by': 'ask who may send this, and have the policy say so',
  'next-owner': 'ask whom this is for, and have the policy say so',
  time: 'set right the clock that is wrong, and have it exported again',
  age: 'have it exported again',
  unsigned: 'have it signed with stint bundle sign',
  signature: 'have it signed again; stint bundle verify says what is wrong with it',
  secret: 'give the secret with --secret-file or --secret-env',
  key: 'ask the signer for their key another way, and pin it with --allowed-public-key-fingerprint or in the trust policy',
  scheme: 'have it signed with a scheme that the policy accepts',
  signer: 'have it signed by somebody whom the policy accepts',
  'key-id': 'have it signed with a key that the policy accepts',
  fingerprint: 'have it signed with a key that the policy accepts',
  revoked: 'have it signed with a key that is not revoked',
  unauthenticated: 'have it exported in version 3 and signed again, or revoke the fingerprint of the key instead',
} as const;

/** A value that is none of a list, where the list does not accept any. */
const unlisted = (
  code: ReasonCode,
  what: string,
  said: string,
  rules: TrustRules,
  name: AllowList,
): readonly TrustReason[] =>
  rules.allowed.get(name)?.includes(said) === false
    ? [reason(code, `the ${what} is '${said}', and the policy does not accept that`)]
    : [];

const stateReasons = (inspection: Inspection, rules: TrustRules): readonly TrustReason[] => {
  const said = (key: string): string => wholeTextAt(inspection, key);
  const [readiness, lease] = [said('source_readiness_verdict'), said('lease_state')];
  // Whether work is ready is a question about documents.
  const hasDocuments = said('session_state_name') !== 'None';
  return [
    ...(readinessOf(rules).includes(readiness) || (readiness === 'None' && !hasDocuments)
      ? []
      : [reason('readiness', `where it comes from the work was '${readiness}', and that is not accepted`)]),
    ...(leaseStatesOf(rules).includes(lease)
      ? []
      : [reason('lease', `the lease is '${lease}', and that is not accepted`)]),
    ...unlisted('updated-by', 'last writer', said('updated_by'), rules, 'allowed_updated_by'),
    ...unlisted('next-owner', 'next owner', said('next_owner'), rules, 'allowed_next_owner'),
  ];
};

const hour = 3_600_000;

const ageReasons = (exportedAt: string, { max_age_hours: limit }: TrustRules, now: string): readonly TrustReason[] => {
  const fault = timeFault(exportedAt);
  if (fault !== undefined) return [reason('time', `the time of its export is none: ${fault}`)];
  const age = Date.parse(now) - Date.parse(exportedAt);
  if (age < -clockSkew) return [reason('time', `it was exported in the future, at ${exportedAt}`)];
  return limit !== null && age > limit * hour
    ? [reason('age', `it was exported at ${exportedAt}, more than ${limit === 1 ? 'an hour' : `${limit} hours`} ago`)]
    : [];
};

/** The lists that nothing unsigned is on. */
const signatureLists = [
  'allowed_signature_schemes',
  'allowed_signers',
  'allowed_key_ids',
  'allowed_public_key_fingerprints',
] as const;

const signatureReasons = (
  inspection: Inspection,
  signature: CheckedSignature,
  rules: TrustRules,
): readonly TrustReason[] => {
  const said = (key: string): string => wholeTextAt(inspection, `signature_${key}`);
  if (signature === undefined) {
    const isBound = rules.allowed_signers_files.length > 0 || signatureLists.some((name) => rules.allowed.has(name));
    if (!rules.require_signature && !isBound) return [];
    const why = rules.require_signature ? 'a signature is required' : 'the policy accepts some signatures alone';
    return [reason('unsigned', `it is unsigned, and ${why}`)];
  }
  const accepted = [
    ...unlisted('scheme', 'signature scheme', said('scheme'), rules, 'allowed_signature_schemes'),
    ...unlisted('signer', 'signer', said('signer'), rules, 'allowed_signers'),
    ...unlisted('key-id', 'key id', said('key_id'), rules, 'allowed_key_ids'),
    ...unlisted('fingerprint', 'key', said('public_key_fingerprint'), rules, 'allowed_public_key_fingerprints'),
  ];
  const revoked = (what: string, name: Revocation, value: string): readonly TrustReason[] =>
    rules.revoked.get(name)?.includes(value) === true ? [reason('revoked', `the ${what} '${value}' is revoked`)] : [];
  const revokesNames = (['revoked_signers', 'revoked_key_ids'] as const).some(
    (name) => (rules.revoked.get(name) ?? []).length > 0,
  );
  return [
    ...(signature.ok
      ? []
      : signature.error.filter(({ code }) => code !== 'required' || accepted.length === 0).map(faultReason)),
    ...accepted,
    ...revoked('signer', 'revoked_signers', said('signer')),
    ...revoked('key id', 'revoked_key_ids', said('key_id')),
    ...revoked('key', 'revoked_public_key_fingerprints', said('public_key_fingerprint')),
    // Whoever passes it on can write another name into it, and so get around a name that is revoked.
    ...(signature.ok && !signature.value.coversItself && revokesNames
      ? [
          reason(
            'unauthenticated',
            'its signature does not cover signer and key id, and the policy revokes some by name',
          ),
        ]
      : []),
  ];
};

const faultReason = ({ code, problem }: SignatureFault): TrustReason => {
  const about = { 'no-secret': 'secret', unvouched: 'key', 'not-allowed': 'key', future: 'time' } as const;
  return reason(code in about ? about[code as keyof typeof about] : 'signature', `its signature: ${problem}`);
};

/** The verdict as it is reported. */
export const verdictToJson = ({ result, reasons, warnings }: TrustVerdict): JsonObject => ({
  result,
  warnings: [...warnings],
  blocking_reasons: reasons.map(({ text }) => text),
  next_actions: [...new Set(reasons.map(({ action }) => action))],
  reasons: reasons.map((one) => ({ ...one })),
});
