import type { JsonObject } from '../../lib/canonical-json.ts';
import { ok, type Result } from '../../lib/result.ts';
import { hasFields, isSwitch, readPolicy, type Check, type PlacedFault } from './fields.ts';

/** Which policies a project requires of its continuous integration, as a file. */

/** What has to be there. */
export interface CiPolicy {
  readonly require_trust_policy: boolean;
  readonly require_redaction_policy: boolean;
  /** Both of them. */
  readonly require_portable_bundle_policies: boolean;
}

/** What is wrong with a CI policy. */
const checkCiPolicy: Check = hasFields(
  {
    require_trust_policy: isSwitch,
    require_redaction_policy: isSwitch,
    require_portable_bundle_policies: isSwitch,
  },
  'a CI policy',
);

/** Reads a CI policy. */
export const readCiPolicy = (text: string): Result<CiPolicy, readonly PlacedFault[]> => {
  const policy = readPolicy(text, checkCiPolicy);
  return policy.ok ? ok(ciPolicyOf(policy.value)) : policy;
};

/** What is required, with what follows from it. */
export const ciPolicyOf = (said: JsonObject): CiPolicy => {
  const both = said['require_portable_bundle_policies'] === true;
  return {
    require_trust_policy: both || said['require_trust_policy'] === true,
    require_redaction_policy: both || said['require_redaction_policy'] === true,
    require_portable_bundle_policies: both,
  };
};
