import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { usualSecretVariable } from '../bundle/means.ts';
import { faultText } from './fields.ts';
import { checkTrustPolicy, type TrustFields } from './trust.ts';

/** Trust policies as a verb makes them. */

/** The flags that say a field, and the field: of a list a flag says one item. */
export const flagFields = {
  allow_inspection_warnings: 'allow_inspection_warnings',
  allow_source_not_ready: 'allow_source_not_ready',
  allow_active_lease: 'allow_active_lease',
  allow_expired_lease: 'allow_expired_lease',
  max_age_hours: 'max_age_hours',
  allowed_updated_by: 'allowed_updated_by',
  allowed_next_owner: 'allowed_next_owner',
  require_signature: 'require_signature',
  allowed_signature_scheme: 'allowed_signature_schemes',
  allowed_signer: 'allowed_signers',
  allowed_key_id: 'allowed_key_ids',
  allowed_public_key_fingerprint: 'allowed_public_key_fingerprints',
  revoked_signer: 'revoked_signers',
  revoked_key_id: 'revoked_key_ids',
  revoked_public_key_fingerprint: 'revoked_public_key_fingerprints',
  signature_secret_env: 'signature_secret_env',
  allowed_signers_file: 'allowed_signers_file',
} as const satisfies Record<string, keyof TrustFields>;

/** What a flag says. */
export type Flag = keyof typeof flagFields;

/** What usual environments say; everything else is that of the root. */
export const presets = {
  dev: {
    allow_inspection_warnings: true,
    allow_source_not_ready: true,
    allow_active_lease: true,
    allow_expired_lease: true,
    max_age_hours: null,
    require_signature: false,
    allowed_signature_schemes: [],
  },
  staging: {
    allow_inspection_warnings: false,
    allow_source_not_ready: false,
    allow_active_lease: false,
    allow_expired_lease: true,
    max_age_hours: 48,
    require_signature: true,
    allowed_signature_schemes: ['sshsig'],
  },
  prod: {
    allow_inspection_warnings: false,
    allow_source_not_ready: false,
    allow_active_lease: false,
    allow_expired_lease: false,
    max_age_hours: 24,
    require_signature: true,
    allowed_signature_schemes: ['sshsig'],
  },
} as const satisfies Record<string, TrustFields>;

type Preset = keyof typeof presets;

/** What a policy is made of. Values of profiles are `PROFILE=VALUE`, by their flags. */
export interface TrustOrder {
  readonly root: Readonly<Partial<Record<Flag, Json>>>;
  readonly profiles: readonly string[];
  readonly templates: readonly string[];
  readonly values: ReadonlyMap<Flag, readonly string[]>;
  readonly defaultProfile: string | undefined;
}

/** What comes of it: errors are what keeps it from being a policy, warnings what still has to be filled in. */
export interface NewPolicy {
  readonly policy: JsonObject;
  readonly warnings: readonly string[];
  readonly errors: readonly string[];
}

/** Makes a trust policy. */
export const newTrustPolicy = (order: TrustOrder): NewPolicy => {
  const names = [...new Set(order.profiles)];
  const errors: string[] = [];
  /** The values of a flag, each with its profile, which has to be declared. */
  const pairsOf = (flag: string, texts: readonly string[]): readonly (readonly [string, string])[] =>
    texts.flatMap((text) => {
      const at = text.indexOf('=');
      const [name, value] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
      if (names.includes(name) && value !== '') return [[name, value] as const];
      errors.push(
        at < 1 || value === ''
          ? `--${flag} ${JSON.stringify(text)} is not PROFILE=VALUE`
          : `--${flag} is about the profile ${JSON.stringify(name)}, which no --profile-name declares`,
      );
      return [];
    });

  const templates = new Map<string, Preset>();
  for (const [name, value] of pairsOf('profile-template', order.templates)) {
    const preset = presetNamed(value);
    if (preset === undefined)
      errors.push(`--profile-template ${name}: must be one of ${Object.keys(presets).join(', ')}`);
    else templates.set(name, preset);
  }
  const own = new Map<string, Record<string, Json>>(names.map((name) => [name, {}]));
  for (const [flag, texts] of order.values) {
    for (const [name, text] of pairsOf(`profile-${flag.replaceAll('_', '-')}`, texts)) {
      const said = own.get(name) ?? {};
      const field = flagFields[flag];
      const list = said[field];
      said[field] = Array.isArray(emptyPolicy[field])
        ? [...(Array.isArray(list) ? list : []), text]
        : valueOf(field, text);
      own.set(name, said);
    }
  }
  const { defaultProfile = null } = order;
  const isDeclared = defaultProfile !== null && names.includes(defaultProfile);
  if (defaultProfile !== null && !isDeclared)
    errors.push(`--default-profile ${JSON.stringify(defaultProfile)} is declared by no --profile-name`);

  const root: JsonObject = {
    ...emptyPolicy,
    ...Object.fromEntries(Object.entries(order.root).map(([flag, value]) => [flagFields[flag as Flag], value])),
  };
  const profiles = names.map((name) => {
    const preset = templates.get(name) ?? presetNamed(name.toLowerCase().replaceAll('_', '-'));
    return [name, { ...root, ...(preset === undefined ? {} : presets[preset]), ...own.get(name) }] as const;
  });
  const policy: JsonObject = {
    ...root,
    ...(names.length === 0
      ? {}
      : { default_profile: isDeclared ? defaultProfile : null, profiles: Object.fromEntries(profiles) }),
  };
  const faults = checkTrustPolicy(policy);
  return {
    policy,
    warnings: faults.filter(({ isIncomplete }) => isIncomplete).map(faultText),
    errors: [...errors, ...faults.filter(({ isIncomplete }) => isIncomplete !== true).map(faultText)],
  };
};

const presetNamed = (text: string): Preset | undefined =>
  (['dev', 'staging', 'prod'] as const).find((preset) => preset === text);

/** What is written of fields that nobody says. */
const emptyPolicy: Readonly<Record<string, Json>> = {
  allow_inspection_warnings: false,
  allow_source_not_ready: false,
  allow_active_lease: false,
  allow_expired_lease: false,
  max_age_hours: null,
  allowed_updated_by: [],
  allowed_next_owner: [],
  require_signature: false,
  allowed_signature_schemes: [],
  allowed_signers: [],
  allowed_key_ids: [],
  allowed_public_key_fingerprints: [],
  revoked_signers: [],
  revoked_key_ids: [],
  revoked_public_key_fingerprints: [],
  signature_secret_env: usualSecretVariable,
  allowed_signers_file: null,
};

/** A value of a profile as its field holds it; what is none is told by the check of the whole. */
const valueOf = (field: string, text: string): Json => {
  if (field === 'max_age_hours') return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  return typeof emptyPolicy[field] === 'boolean' && /^(?:true|false)$/.test(text) ? text === 'true' : text;
};
