import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { ProjectFiles } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { withoutUndefined } from '../../lib/json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { nearest } from '../../lib/nearest.ts';
import { faultText } from './fields.ts';
import { bearingOn, namedPolicy, trustFile, type Checked, type FoundPolicy } from './files.ts';
import { flagFields, type Flag } from './new-trust.ts';
import { checkTrustFields, defaultRules, looserThan, rulesOf, withFields } from './trust.ts';
import type { TrustFields, TrustPolicy, TrustRules } from './trust.ts';

/** Which rules count for a caller: those of the policy that is checked in, and what he says on top of them. */

/** What a caller says: which policy, and, as flags, what is to count beside it. */
export interface TrustCall extends Readonly<Partial<Record<Flag, unknown>>> {
  readonly policy_file?: string | undefined;
  readonly policy_profile?: string | undefined;
  readonly no_policy_file?: boolean | undefined;
  readonly override?: string | undefined;
}

/** The rules that count. */
export interface ChosenRules {
  readonly rules: TrustRules;
  /** The root below which the files lie that they name. */
  readonly root: string;
  /** The file that they are of; `default` where none is. */
  readonly source: string;
  readonly profile: string | null;
  /** What is accepted although the policy that is checked in does not accept it, and why; null where nothing is. */
  readonly override: { readonly reason: string; readonly loosened: readonly string[] } | null;
}

/** Why no rules can be told, and the file that it is about. */
export interface NoRules {
  readonly source: string;
  readonly errors: readonly string[];
  readonly refusal: Refusal;
}

/** What contradicts itself in a call, as a sentence. */
export const contradictionIn = ({
  policy_file: file,
  policy_profile: profile,
  no_policy_file: none,
}: TrustCall): string | undefined => {
  if (none !== true) return undefined;
  if (file !== undefined) return '--policy-file names a policy, and --no-policy-file says that there is none';
  return profile === undefined
    ? undefined
    : '--policy-profile is about a policy, and --no-policy-file says that there is none';
};

/**
 * The rules that count below a root of documents: those of the policy in it, else of the one that this project has in its
 * usual root. Whoever calls may narrow what the policy of the project accepts. What widens it, be it another root, another
 * policy, none, or a flag, is refused without a reason, and reported with it.
 */
export const chooseRules = async (
  files: ProjectFiles,
  root: string,
  call: TrustCall,
): Promise<Result<ChosenRules, NoRules>> => {
  const said = fieldsSaid(call);
  const wrong = checkTrustFields(said).map(faultText);
  if (wrong.length > 0)
    return err({
      source: 'default',
      errors: wrong,
      refusal: refuse('usage', `${wrong.join('; ')}.`, { faults: wrong }),
    });
  const { standing, own, root: ownRoot } = await bearingOn(files, root, trustFile);
  const found =
    call.policy_file !== undefined
      ? namedPolicy(files, call.policy_file, trustFile)
      : call.no_policy_file === true
        ? ok(undefined)
        : own;
  if (!found.ok) {
    const { path, faults, refusal } = found.error;
    return err({ source: path, errors: faults.map(({ text }) => text), refusal });
  }
  const used = found.value;
  const source = used?.path ?? 'default';
  const base = used === undefined ? profileless(call.policy_profile) : rulesIn(used, call.policy_profile);
  if (!base.ok) return err({ source, errors: [base.error.message], refusal: base.error });
  const rules = withFields(base.value, said);
  const loosened = widened(rules, standing, call.policy_profile);
  const { override: reason } = call;
  if (loosened.length > 0 && reason === undefined) {
    const refusal = refuse(
      'policy',
      `The trust policy of this project does not accept what this would: ${loosened.join(', ')}.`,
      {
        expected: 'rules that accept no more than the policy that is checked in',
        candidates: [standing.ok ? (standing.value?.path ?? root) : standing.error.path],
        hint: 'leave that out, or say why with --override REASON: it is reported',
      },
    );
    return err({ source, errors: [refusal.message], refusal });
  }
  return ok({
    rules,
    root: found === own ? ownRoot : root,
    source,
    profile: used === undefined ? null : (call.policy_profile ?? used.policy.default_profile ?? null),
    override: loosened.length === 0 || reason === undefined ? null : { reason, loosened },
  });
};

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

const rulesIn = ({ policy }: FoundPolicy<TrustPolicy>, profile: string | undefined): Result<TrustRules, Refusal> => {
  const rules = rulesOf(policy, profile);
  return rules === undefined ? err(refuseProfile(policy, profile)) : ok(rules);
};

const profileless = (profile: string | undefined): Result<TrustRules, Refusal> =>
  profile === undefined
    ? ok(defaultRules)
    : err(
        refuse('not-found', `There is no trust policy, and so no profile ${JSON.stringify(profile)}.`, {
          expected: 'a policy that is checked in, or named with --policy-file',
          hint: 'stint policy new-trust',
        }),
      );

/** In what some rules accept more than the policy that is checked in; one that cannot be read accepts nothing. */
const widened = (rules: TrustRules, standing: Checked<TrustPolicy>, profile: string | undefined): readonly string[] => {
  if (!standing.ok) return ['a policy that is there and cannot be read'];
  if (standing.value === undefined) return [];
  const { policy } = standing.value;
  const base = rulesOf(policy, profile) ?? rulesOf(policy);
  return base === undefined ? [] : looserThan(rules, base);
};

/** What the flags of a call say, as fields; a switch that is not on says nothing. */
const fieldsSaid = (call: TrustCall): TrustFields & JsonObject =>
  withoutUndefined(
    Object.fromEntries(
      (Object.keys(flagFields) as readonly Flag[]).map((flag) => [
        flagFields[flag],
        call[flag] === false ? undefined : call[flag],
      ]),
    ) as TrustFields & JsonObject,
  );
