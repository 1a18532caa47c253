import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { shared, withoutShared } from '../../../test/support/world.ts';
import type { Result } from '../../lib/result.ts';
import { readCiPolicy } from './ci.ts';
import type { PlacedFault } from './fields.ts';
import { newTrustPolicy, type TrustOrder } from './new-trust.ts';
import { readRedactionPolicy } from './redaction.ts';
import { looserThan, readTrustPolicy, rulesOf, rulesToJson, withFields, defaultRules } from './trust.ts';
import type { TrustFields, TrustPolicy, TrustRules } from './trust.ts';

const [one, other] = [`SHA256:${'a'.repeat(42)}A`, `SHA256:${'b'.repeat(42)}A`] as const;

/** The faults of a policy, each behind its line. */
const faultsIn = (read: Result<unknown, readonly PlacedFault[]>): readonly string[] =>
  read.ok ? [] : read.error.map(({ line, text }) => `${line}: ${text}`);

const rulesFor = (policy: TrustPolicy, profile?: string): TrustRules => {
  const read = readTrustPolicy(JSON.stringify(policy));
  assert.ok(read.ok, faultsIn(read).join('\n'));
  const rules = rulesOf(read.value, profile);
  assert.ok(rules !== undefined);
  return rules;
};

test('a trust policy tells all of its faults at once, each with its JSON path and line', () => {
  const text = `{
    "allow_active_lease": "yes",
    "max_age_hours": 1.5,
    "require_signatures": true,
    "allowed_signers": ["ana", " ", 7, "two\\nlines"],
    "allowed_signature_schemes": ["rot13"],
    "revoked_public_key_fingerprints": ["nonsense"],
    "signature_secret_env": "a b",
    "allowed_signers_file": "../keys",
    "default_profile": "prod",
    "profiles": {
      "../x": { "profiles": {} },
      "dev": { "max_age_hours": -1, "require_signature": null }
    },
    "bogus": 1
  }`;
  assert.deepEqual(faultsIn(readTrustPolicy(text)), [
    '2: $.allow_active_lease must be true or false',
    '3: $.max_age_hours must be a whole number of hours, 0 or more, or null',
    '4: $.require_signatures is no field of a trust policy; require_signature is one',
    '5: $.allowed_signers[1] must not be blank',
    '5: $.allowed_signers[2] must be a text',
    '5: $.allowed_signers[3] must be one line of at most 200 characters',
    '6: $.allowed_signature_schemes[0] must be one of hmac-sha256, sshsig',
    '7: $.revoked_public_key_fingerprints[0] must be the fingerprint of a key as ssh-keygen -l shows it: SHA256: and 43 characters of base64',
    '8: $.signature_secret_env must be the name of an environment variable',
    '9: $.allowed_signers_file must be a path from the root of the documents that stays below it, with / between its parts',
    '12: $.profiles["../x"] is no name. A name begins with a letter or a digit.',
    '12: $.profiles["../x"].profiles is no field of a profile',
    '13: $.profiles.dev.max_age_hours must be a whole number of hours, 0 or more, or null',
    '13: $.profiles.dev.require_signature must be true or false',
    '15: $.bogus is no field of a trust policy',
    '10: $.default_profile names a profile that is not there',
  ]);
  assert.deepEqual(faultsIn(readTrustPolicy('{"require_signature": true,\n"require_signature": false}')), [
    '2: $.require_signature is there twice',
  ]);
  assert.deepEqual(faultsIn(readTrustPolicy('[]')), ['1: $ must be an object with the fields of a trust policy']);
  assert.deepEqual(faultsIn(readTrustPolicy('{\n"require_signature": true,}')), ['2: $ is not JSON']);
  assert.deepEqual(faultsIn(readTrustPolicy('{"profiles": {"__proto__": {}, "constructor": 1}}')), [
    '1: $.profiles.__proto__ is no name. A name begins with a letter or a digit.',
    '1: $.profiles.constructor must be an object with the fields of a profile',
  ]);
});

test('of a file that is no policy so many faults are told, and how many there are beside', () => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, at]));
  const faults = faultsIn(readTrustPolicy(JSON.stringify(many)));
  assert.deepEqual([faults.length, faults.at(-1)], [101, '1: $ has 19900 more faults']);
  assert.equal(faultsIn(readCiPolicy(`{${'"a": 1, '.repeat(5000)}"a": 1}`)).length, 101);
  const patterns = Array.from({ length: 1001 }, (_, at) => `a{1,9}${at}`);
  assert.deepEqual(faultsIn(readRedactionPolicy(JSON.stringify({ extra_redaction_regexes: patterns }))), [
    '1: $.extra_redaction_regexes must have 1000 entries at most',
  ]);
});

test('whatever a text is, reading it as a policy answers', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      for (const read of [readTrustPolicy, readRedactionPolicy, readCiPolicy]) {
        const policy = read(text);
        assert.ok(policy.ok || policy.error.length > 0);
      }
    }),
  );
});

test('W3: sshsig without a pinned key is no policy, whoever names it; a key or a file of signers of the root is enough', () => {
  const unpinned = (keys: string): string =>
    `1: $${keys}.allowed_signature_schemes names sshsig, and no key is pinned: add allowed_public_key_fingerprints or allowed_signers_file`;
  const ssh: TrustFields = { require_signature: true, allowed_signature_schemes: ['sshsig'], allowed_signers: ['ana'] };
  const faults = (policy: TrustPolicy): readonly string[] => faultsIn(readTrustPolicy(JSON.stringify(policy)));
  assert.deepEqual(faults(ssh), [unpinned('')]);
  assert.deepEqual(faults({ profiles: { prod: ssh } }), [unpinned('.profiles.prod')]);
  assert.deepEqual(faults({ ...ssh, allowed_public_key_fingerprints: [one] }), []);
  assert.deepEqual(faults({ ...ssh, allowed_signers_file: 'keys/allowed_signers' }), []);
  assert.deepEqual(faults({ allowed_public_key_fingerprints: [one], profiles: { prod: ssh } }), []);
});

test('N38: a profile inherits from the root; revocations are taken together, of allow-lists what both accept', () => {
  const policy: TrustPolicy = {
    require_signature: true,
    max_age_hours: 12,
    allow_expired_lease: true,
    allowed_signers: ['ana', 'ben'],
    revoked_key_ids: ['old'],
    allowed_signers_file: 'a',
    profiles: {
      empty: {},
      own: {
        require_signature: false,
        max_age_hours: null,
        allowed_signers: ['ben', 'cyd'],
        allowed_key_ids: ['k1'],
        revoked_key_ids: ['older'],
        allowed_signers_file: 'b',
      },
      any: { allowed_signers: [], revoked_key_ids: [] },
    },
  };
  const json = (profile?: string): unknown => rulesToJson(rulesFor(policy, profile));
  const root = json();
  assert.deepEqual(json('empty'), root);
  assert.deepEqual(json('any'), root);
  assert.deepEqual(json('own'), {
    allow_inspection_warnings: false,
    allowed_source_readiness: ['ready', 'ready-with-warnings'],
    allowed_lease_states: ['none', 'expired'],
    max_age_hours: null,
    allowed_updated_by: [],
    allowed_next_owner: [],
    require_signature: false,
    allowed_signature_schemes: [],
    allowed_signers: ['ben'],
    allowed_key_ids: ['k1'],
    allowed_public_key_fingerprints: [],
    revoked_signers: [],
    revoked_key_ids: ['old', 'older'],
    revoked_public_key_fingerprints: [],
    signature_secret_env: null,
    allowed_signers_files: ['a', 'b'],
  });
  assert.equal(rulesOf(policy, 'nope'), undefined);
  assert.equal(rulesOf(policy, 'toString'), undefined);
  assert.deepEqual(
    faultsIn(readTrustPolicy('{"allowed_signers": ["ana"], "profiles": {"qa": {"allowed_signers": ["zed"]}}}')),
    ['1: $.profiles.qa.allowed_signers accepts nothing that the allowed_signers of the root accept'],
  );
});

test('what is said on top of rules is looser exactly where something new would be accepted', () => {
  const rules = withFields(defaultRules, {
    max_age_hours: 12,
    require_signature: true,
    allowed_signers: ['ana', 'ben'],
    revoked_key_ids: ['old'],
    allowed_signers_file: 'keys',
  });
  const looser = (said: TrustFields): readonly string[] => looserThan(withFields(rules, said), rules);
  assert.deepEqual(looser({}), []);
  assert.deepEqual(
    looser({ max_age_hours: 1, allowed_signers: ['ana'], allowed_key_ids: ['k'], revoked_key_ids: ['k0'] }),
    [],
  );
  assert.deepEqual(looser({ allowed_signers: ['zed'], revoked_key_ids: ['other'] }), []);
  assert.deepEqual(looser({ max_age_hours: 13, allow_active_lease: true }), ['allow_active_lease', 'max_age_hours']);
  assert.deepEqual(looser({ max_age_hours: null, require_signature: false }), ['max_age_hours', 'require_signature']);
  assert.deepEqual(looserThan(defaultRules, rules), [
    'max_age_hours',
    'require_signature',
    'allowed_signers',
    'revoked_key_ids',
    'allowed_signers_file',
  ]);
});

const making = (order: Partial<TrustOrder>): ReturnType<typeof newTrustPolicy> =>
  newTrustPolicy({ root: {}, profiles: [], templates: [], values: new Map(), defaultProfile: undefined, ...order });

test('N55: what could not be used is refused when it is made, all of it at once', () => {
  assert.deepEqual(
    making({
      root: { allowed_signature_scheme: ['rot13'], revoked_public_key_fingerprint: ['SHA256:short'] },
      profiles: ['prod'],
      templates: ['prod=production', 'qa=dev'],
      values: new Map([
        ['max_age_hours', ['prod=-6', '7']],
        ['require_signature', ['prod=perhaps']],
        ['allowed_signer', ['qa=zed']],
      ]),
      defaultProfile: 'dev',
    }).errors,
    [
      '--profile-template is about the profile "qa", which no --profile-name declares',
      '--profile-template prod: must be one of dev, staging, prod',
      '--profile-max-age-hours "7" is not PROFILE=VALUE',
      '--profile-allowed-signer is about the profile "qa", which no --profile-name declares',
      '--default-profile "dev" is declared by no --profile-name',
      '$.allowed_signature_schemes[0] must be one of hmac-sha256, sshsig',
      '$.revoked_public_key_fingerprints[0] must be the fingerprint of a key as ssh-keygen -l shows it: SHA256: and 43 characters of base64',
      '$.profiles.prod.max_age_hours must be a whole number of hours, 0 or more, or null',
      '$.profiles.prod.require_signature must be true or false',
      '$.profiles.prod.revoked_public_key_fingerprints[0] must be the fingerprint of a key as ssh-keygen -l shows it: SHA256: and 43 characters of base64',
    ],
  );
  const [stray] = making({ values: new Map([['allowed_signer', ['prod=zed']]]) }).errors;
  assert.match(stray ?? '', /which no --profile-name declares/);
});

test('a profile that is made begins with the root, then its preset, then its own flags; one that needs a key says so', () => {
  const made = making({
    root: { allowed_signer: ['ana', 'rel'], max_age_hours: 12 },
    profiles: ['dev', 'PROD', 'review'],
    templates: ['review=staging'],
    values: new Map([
      ['max_age_hours', ['PROD=6']],
      ['allowed_signer', ['PROD=rel']],
      ['allow_active_lease', ['PROD=true']],
    ]),
    defaultProfile: 'dev',
  });
  assert.deepEqual(made.errors, []);
  const { default_profile: usual, profiles }: TrustPolicy = made.policy;
  assert.equal(usual, 'dev');
  assert.deepEqual(
    Object.entries(profiles ?? {}).map(([name, said]) => [
      name,
      said.max_age_hours,
      said.require_signature,
      said.allow_active_lease,
      said.allow_expired_lease,
      said.allowed_signature_schemes,
      said.allowed_signers,
    ]),
    [
      ['dev', null, false, true, true, [], ['ana', 'rel']],
      ['PROD', 6, true, true, false, ['sshsig'], ['rel']],
      ['review', 48, true, false, true, ['sshsig'], ['ana', 'rel']],
    ],
  );
  assert.deepEqual(
    made.warnings.map((warning) => warning.slice(0, warning.indexOf(' '))),
    ['$.profiles.PROD.allowed_signature_schemes', '$.profiles.review.allowed_signature_schemes'],
  );
  const pinned = making({ root: { allowed_public_key_fingerprint: [one, other] }, profiles: ['prod'] });
  assert.deepEqual([pinned.errors, pinned.warnings], [[], []]);
  assert.deepEqual(faultsIn(readTrustPolicy(JSON.stringify(pinned.policy))), []);
});

test('a redaction policy tells what it cannot use by list and place; a CI policy says what follows from what', () => {
  assert.deepEqual(faultsIn(readRedactionPolicy('{"deny_path": [], "allow_paths": ["a", ""]}')), [
    '1: $.deny_path is no field of a redaction policy; deny_paths is one',
    '1: $.allow_paths[1] must not be blank',
  ]);
  const [first = '', second = ''] = faultsIn(
    readRedactionPolicy('{"extra_sensitive_keywords": ["--"],\n"extra_redaction_regexes": ["ok", "("]}'),
  ).toSorted();
  assert.match(first, /^1: \$\.extra_sensitive_keywords\[0\] holds a keyword without a letter/);
  assert.match(second, /^2: \$\.extra_redaction_regexes\[1\] holds /);
  const read = readRedactionPolicy('{"extra_redaction_regexes": [" zz-[a-z]+ "]}');
  assert.deepEqual(read.ok && read.value.patterns, ['zz-[a-z]+']);

  assert.deepEqual(faultsIn(readCiPolicy('{"require_trust_policy": 1, "require_trust": true}')), [
    '1: $.require_trust_policy must be true or false',
    '1: $.require_trust is no field of a CI policy; require_trust_policy is one',
  ]);
  const ci = readCiPolicy('{"require_portable_bundle_policies": true}');
  assert.ok(ci.ok && ci.value.require_trust_policy && ci.value.require_redaction_policy);
});

test('the policies of the original are read', { skip: withoutShared('fixtures/handoff') }, () => {
  const textOf = (name: string): string =>
    readFileSync(join(shared, 'fixtures/handoff', `handoff-bundle-${name}-policy.json`), 'utf8');
  const trust = readTrustPolicy(textOf('trust'));
  assert.ok(trust.ok);
  assert.deepEqual(rulesOf(trust.value, 'prod')?.allowed.get('allowed_key_ids'), ['ssh-primary']);
  assert.deepEqual(rulesOf(trust.value)?.allowed.get('allowed_signature_schemes'), ['sshsig']);
  assert.deepEqual(faultsIn(readRedactionPolicy(textOf('redaction'))), []);
  assert.deepEqual(faultsIn(readCiPolicy(textOf('ci'))), []);
});
