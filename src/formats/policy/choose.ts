import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { nearest } from '../../lib/text.ts';
import type { TrustPolicy } from './trust.ts';

/** Which rules count for a caller. */

/** That a policy has no profile of that name. */
export const refuseProfile = (policy: TrustPolicy, profile = ''): Refusal => {
  const names = Object.keys(policy.profiles ?? {});
  return refuse('not-found', `The trust policy has no profile ${JSON.stringify(profile)}.`, {
    expected: names.length === 0 ? 'no profile: it has none' : 'one of its profiles',
    legal: names,
    candidates: nearest(profile, names),
    hint: 'stint policy check-trust',
  });
};
