import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { nameProblem } from '../../lib/name.ts';
import { ok, type Result } from '../../lib/result.ts';
import { schemes } from '../bundle/signature.ts';
import { fault, hasFields, isSwitch, isText, isTexts, orNull, readPolicy, within } from './fields.ts';
import type { Check, PlacedFault, PolicyFault } from './fields.ts';

/** Whose bundles a project trusts, and in which state, as a file. */

/** What may be accepted that is not accepted otherwise. */
export const allowances = [
  'allow_inspection_warnings',
  'allow_source_not_ready',
  'allow_active_lease',
  'allow_expired_lease',
] as const;

/** Lists of what is accepted; an empty one accepts anything. */
export const allowLists = [
  'allowed_updated_by',
  'allowed_next_owner',
  'allowed_signature_schemes',
  'allowed_signers',
  'allowed_key_ids',
  'allowed_public_key_fingerprints',
] as const;

/** Lists of what is never accepted. */
export const revocations = ['revoked_signers', 'revoked_key_ids', 'revoked_public_key_fingerprints'] as const;

export type Allowance = (typeof allowances)[number];
export type AllowList = (typeof allowLists)[number];
export type Revocation = (typeof revocations)[number];

/** What the root of a policy and each of its profiles may say. */
export type TrustFields = Readonly<
  Partial<
    Record<Allowance | 'require_signature', boolean> &
      Record<AllowList | Revocation, readonly string[]> & {
        max_age_hours: number | null;
        /** The variable with the secret of shared-secret signatures. */
        signature_secret_env: string | null;
        /** A file of OpenSSH that says whose keys are whose, by its path from the root of the documents. */
        allowed_signers_file: string | null;
      }
  >
>;

/** A trust policy as its file says it. */
export type TrustPolicy = TrustFields & {
  readonly default_profile?: string | null;
  readonly profiles?: Readonly<Record<string, TrustFields>>;
};

/** What counts: all lists that bear on it taken together. */
export interface TrustRules {
  readonly allows: ReadonlySet<Allowance>;
  readonly max_age_hours: number | null;
  readonly require_signature: boolean;
  /** A list that is not there accepts anything. */
  readonly allowed: ReadonlyMap<AllowList, readonly string[]>;
  readonly revoked: ReadonlyMap<Revocation, readonly string[]>;
  readonly signature_secret_env: string | null;
  /** Each of them has to name the key. */
  readonly allowed_signers_files: readonly string[];
}

/** What counts where no policy says anything. */
export const defaultRules: TrustRules = {
  allows: new Set(),
  max_age_hours: null,
  require_signature: false,
  allowed: new Map(),
  revoked: new Map(),
  signature_secret_env: null,
  allowed_signers_files: [],
};

/**
 * Rules with what somebody says on top of them. What is accepted by both lists is accepted, what is revoked by one is
 * revoked; of everything else the later word counts.
 */
export const withFields = (rules: TrustRules, said: TrustFields): TrustRules => ({
  allows: new Set(allowances.filter((name) => said[name] ?? rules.allows.has(name))),
  max_age_hours: said.max_age_hours === undefined ? rules.max_age_hours : said.max_age_hours,
  require_signature: said.require_signature ?? rules.require_signature,
  allowed: new Map(
    allowLists.flatMap((name) => {
      const [before, more = []] = [rules.allowed.get(name), said[name]];
      const both = before === undefined || more.length === 0 ? before : more.filter((item) => before.includes(item));
      const list = both ?? (more.length === 0 ? undefined : more);
      return list === undefined ? [] : [[name, list] as const];
    }),
  ),
  revoked: new Map(
    revocations.map((name) => [name, [...new Set([...(rules.revoked.get(name) ?? []), ...(said[name] ?? [])])]]),
  ),
  signature_secret_env:
    said.signature_secret_env === undefined ? rules.signature_secret_env : said.signature_secret_env,
  allowed_signers_files: [
    ...new Set([
      ...rules.allowed_signers_files,
      ...(typeof said.allowed_signers_file === 'string' ? [said.allowed_signers_file] : []),
    ]),
  ],
});

/** The rules of a policy, of the profile that is named, else of its default one, else of its root; undefined where there is no such profile. */
export const rulesOf = (policy: TrustPolicy, profile = policy.default_profile ?? undefined): TrustRules | undefined => {
  const root = withFields(defaultRules, policy);
  if (profile === undefined) return root;
  const { profiles = {} } = policy;
  const said = Object.hasOwn(profiles, profile) ? profiles[profile] : undefined;
  return said === undefined ? undefined : withFields(root, said);
};

/** In which fields some rules accept what others do not. */
export const looserThan = (rules: TrustRules, others: TrustRules): readonly string[] => {
  const covers = (some: readonly string[], more: readonly string[]): boolean =>
    more.every((item) => some.includes(item));
  const [age, limit] = [rules.max_age_hours, others.max_age_hours];
  return [
    ...allowances.filter((name) => rules.allows.has(name) && !others.allows.has(name)),
    ...(limit !== null && (age === null || age > limit) ? ['max_age_hours'] : []),
    ...(others.require_signature && !rules.require_signature ? ['require_signature'] : []),
    ...allowLists.filter((name) => {
      const [list, narrow] = [rules.allowed.get(name), others.allowed.get(name)];
      return narrow !== undefined && (list === undefined || !covers(narrow, list));
    }),
    ...revocations.filter((name) => !covers(rules.revoked.get(name) ?? [], others.revoked.get(name) ?? [])),
    ...(covers(rules.allowed_signers_files, others.allowed_signers_files) ? [] : ['allowed_signers_file']),
  ];
};

/** Whether rules say whose SSH keys count. */
const pinsKeys = ({ allowed, allowed_signers_files: files }: TrustRules): boolean =>
  allowed.has('allowed_public_key_fingerprints') || files.length > 0;

/** Rules as they are reported. */
export const rulesToJson = (rules: TrustRules): JsonObject => {
  // A list that accepts nothing is null: an empty one accepts anything.
  const listOf = (name: AllowList): Json => {
    const list = rules.allowed.get(name);
    return list?.length === 0 ? null : [...(list ?? [])];
  };
  return {
    allow_inspection_warnings: rules.allows.has('allow_inspection_warnings'),
    allowed_source_readiness: [...readinessOf(rules)],
    allowed_lease_states: [...leaseStatesOf(rules)],
    max_age_hours: rules.max_age_hours,
    allowed_updated_by: listOf('allowed_updated_by'),
    allowed_next_owner: listOf('allowed_next_owner'),
    require_signature: rules.require_signature,
    allowed_signature_schemes: listOf('allowed_signature_schemes'),
    allowed_signers: listOf('allowed_signers'),
    allowed_key_ids: listOf('allowed_key_ids'),
    allowed_public_key_fingerprints: listOf('allowed_public_key_fingerprints'),
    ...Object.fromEntries(revocations.map((name) => [name, [...(rules.revoked.get(name) ?? [])]])),
    signature_secret_env: rules.signature_secret_env,
    allowed_signers_files: [...rules.allowed_signers_files],
  };
};

/** The verdicts about its source with which a bundle is accepted. */
export const readinessOf = ({ allows }: TrustRules): readonly string[] => [
  'ready',
  'ready-with-warnings',
  ...(allows.has('allow_source_not_ready') ? ['not-ready'] : []),
];

/** The states of the lease in which a bundle is accepted. */
export const leaseStatesOf = ({ allows }: TrustRules): readonly string[] => [
  'none',
  ...(allows.has('allow_active_lease') ? ['active'] : []),
  ...(allows.has('allow_expired_lease') ? ['expired'] : []),
];

/** Reads a trust policy. */
export const readTrustPolicy = (text: string): Result<TrustPolicy, readonly PlacedFault[]> => {
  const policy = readPolicy(text, checkTrustPolicy);
  // The check vouches for its fields.
  return policy.ok ? ok(policy.value as TrustPolicy) : policy;
};

/** What is wrong with a trust policy: its fields first, then what they come to together. */
export const checkTrustPolicy: Check = (value) => {
  const faults = hasTrustFields(value);
  // The check vouches for its fields.
  return faults.length > 0 ? faults : contradictionsIn(value as TrustPolicy);
};

const hoursProblem: Check = (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? []
    : [fault('must be a whole number of hours, 0 or more, or null')];

const isName = (text: string): string | undefined =>
  /^[^\p{Cc}\p{Cs}\u2028\u2029]{1,200}$/u.test(text) ? undefined : 'must be one line of at most 200 characters';

/** The unpadded base64 of 32 bytes ends in one of sixteen characters. */
const isFingerprint = (text: string): string | undefined =>
  /^SHA256:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]$/.test(text)
    ? undefined
    : 'must be the fingerprint of a key as ssh-keygen -l shows it: SHA256: and 43 characters of base64';

const isScheme = (text: string): string | undefined =>
  schemes.some((scheme) => scheme === text) ? undefined : `must be one of ${schemes.join(', ')}`;

const isVariable = (text: string): string | undefined =>
  /^[A-Za-z_]\w{0,199}$/.test(text) ? undefined : 'must be the name of an environment variable';

const isInside = (text: string): string | undefined =>
  /^[^/\\:\p{Cc}\p{Cs}][^\\:\p{Cc}\p{Cs}]{0,499}$/u.test(text) && !text.split('/').includes('..')
    ? undefined
    : 'must be a path from the root of the documents that stays below it, with / between its parts';

const fieldChecks: Readonly<Record<keyof TrustFields, Check>> = {
  allow_inspection_warnings: isSwitch,
  allow_source_not_ready: isSwitch,
  allow_active_lease: isSwitch,
  allow_expired_lease: isSwitch,
  max_age_hours: orNull(hoursProblem),
  allowed_updated_by: isTexts(isName),
  allowed_next_owner: isTexts(isName),
  require_signature: isSwitch,
  allowed_signature_schemes: isTexts(isScheme),
  allowed_signers: isTexts(isName),
  allowed_key_ids: isTexts(isName),
  allowed_public_key_fingerprints: isTexts(isFingerprint),
  revoked_signers: isTexts(isName),
  revoked_key_ids: isTexts(isName),
  revoked_public_key_fingerprints: isTexts(isFingerprint),
  signature_secret_env: orNull(isText(isVariable)),
  allowed_signers_file: orNull(isText(isInside)),
};

/** What is wrong with the fields of a profile, or of what a caller says. */
export const checkTrustFields = hasFields(fieldChecks, 'a profile');

const isProfiles: Check = (value) =>
  isJsonObject(value)
    ? Object.entries(value).flatMap(([name, profile]) => {
        const problem = nameProblem(name);
        return within(name, [
          ...(problem === undefined ? [] : [fault(`is no name. ${problem}`)]),
          ...checkTrustFields(profile),
        ]);
      })
    : [fault('must be an object of profiles by their names')];

const hasRootFields = hasFields(
  { ...fieldChecks, default_profile: orNull(isText(() => undefined)), profiles: isProfiles },
  'a trust policy',
);

const hasTrustFields: Check = (value) => {
  const faults = hasRootFields(value);
  if (!isJsonObject(value)) return faults;
  const { default_profile: name, profiles = {} } = value;
  const isThere = typeof name !== 'string' || !isJsonObject(profiles) || Object.hasOwn(profiles, name);
  return isThere ? faults : [...faults, ...within('default_profile', [fault('names a profile that is not there')])];
};

/** What no bundle could ever meet. */
const contradictionsIn = (policy: TrustPolicy): readonly PolicyFault[] => {
  const root = withFields(defaultRules, policy);
  return [
    ...unpinnedIn(policy, root),
    ...Object.entries(policy.profiles ?? {}).flatMap(([name, profile]) => {
      const rules = withFields(root, profile);
      const empty = allowLists.filter((list) => rules.allowed.get(list)?.length === 0);
      return within(
        'profiles',
        within(name, [
          ...unpinnedIn(profile, rules),
          ...empty.flatMap((list) => within(list, [fault(`accepts nothing that the ${list} of the root accept`)])),
        ]),
      );
    }),
  ];
};

/** The key of an SSH signature comes with it: without one that is known here it proves nothing. */
const unpinnedIn = (said: TrustFields, rules: TrustRules): readonly PolicyFault[] =>
  said.allowed_signature_schemes?.includes('sshsig') !== true || pinsKeys(rules)
    ? []
    : [
        {
          keys: ['allowed_signature_schemes'],
          problem: 'names sshsig, and no key is pinned: add allowed_public_key_fingerprints or allowed_signers_file',
          isIncomplete: true,
        },
      ];
