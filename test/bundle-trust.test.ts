/** Whether a bundle is trusted, by the files of a checkout and what the command line says beside them. */
import assert from 'node:assert/strict';
import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { printBundle } from '../src/formats/bundle/bundle.ts';
import { sampleBundle3 } from '../src/formats/bundle/samples.ts';
import { namespace } from '../src/formats/bundle/signature.ts';
import type { JsonObject } from '../src/lib/canonical-json.ts';
import { sharedSecret, signed } from './support/signed-bundles.ts';
import { createKey } from './support/ssh.ts';
import { createWorld, listOf, say, sorted, type Printed, type Tidying, type TestWorld } from './support/world.ts';

const policyPath = 'docs/tests/handoff-bundle-trust-policy.json';
const key = createKey('ed25519');

/** A checkout with a bundle `b.json`, and what `bundle trust` says of it: exit code and document. */
const worldWith = (context: Tidying, bundle: JsonObject, policy?: JsonObject): TestWorld => {
  const world = createWorld(context);
  world.write('b.json', printBundle(3, bundle));
  world.write('secret', `${sharedSecret}\n`);
  if (policy !== undefined) world.write(policyPath, JSON.stringify(policy));
  return world;
};

const trust = (world: TestWorld, ...flags: readonly string[]): Printed => {
  const { status, json, stderr } = world.run('bundle', 'trust', '--bundle', 'b.json', '--json', ...flags);
  assert.equal(stderr, '');
  return { exit: status, ...json };
};

const codesOf = (answer: Printed): readonly string[] => listOf(answer.reasons).map(({ code }) => String(code));

const filesIn = (world: TestWorld): readonly string[] =>
  sorted(readdirSync(world.project, { recursive: true, encoding: 'utf8' }));

test('bundle trust answers the keys of the original and ours, trusted or not, and writes nothing', (context) => {
  const world = worldWith(context, sampleBundle3());
  const before = filesIn(world);
  const keys = [
    ...['result', 'bundle_path', 'task', 'status', 'updated_by', 'next_owner', 'exported_at', 'lease_state'],
    ...['source_readiness_verdict', 'policy_source', 'policy_profile', 'override', 'signature_present'],
    ...['signature_scheme', 'signature_signer', 'signature_key_id', 'signature_public_key_fingerprint'],
    ...['signature_verified', 'signature_metadata', 'vouched_by', 'policy', 'warnings', 'blocking_reasons'],
    ...['next_actions', 'reasons', 'inspection'],
  ];
  const yes = trust(world);
  assert.deepEqual(Object.keys(yes), ['exit', 'schema_version', ...keys]);
  assert.deepEqual([yes.exit, yes.result, yes.policy_source], [0, 'trusted', 'default']);
  const no = trust(world, '--require-signature', '--max-age-hours', '24');
  assert.deepEqual(Object.keys(no), ['exit', 'schema_version', ...keys, 'error']);
  assert.deepEqual(
    [no.exit, no.result, no.error.code, codesOf(no), no.next_actions.length],
    [11, 'untrusted', 'untrusted', ['age', 'unsigned'], 2],
  );
  assert.deepEqual(no.error.faults, no.blocking_reasons);
  assert.match(say(world, 'bundle', 'trust', '--bundle', 'b.json'), /^Result +trusted\nBundle .*\n[^]*\n1\. None\n$/);

  world.refusal(4, 'bundle', 'trust', '--bundle', 'none.json');
  world.write('b.json', '{"bundle_version": 3}');
  const broken = trust(world);
  assert.deepEqual([broken.exit, broken.result, broken.inspection], [7, 'untrusted', null]);
  assert.deepEqual(filesIn(world), before);
});

test('N36: the policy that is checked in counts without a flag, with the profile that it names, or another one of it', (context) => {
  const policy = {
    require_signature: true,
    default_profile: 'dev',
    profiles: { dev: { require_signature: false }, prod: {} },
  };
  const world = worldWith(context, sampleBundle3(), policy);
  const usual = trust(world);
  assert.deepEqual([usual.exit, usual.policy_profile, usual.policy_source], [0, 'dev', world.path(policyPath)]);
  assert.deepEqual(codesOf(trust(world, '--policy-profile', 'prod')), ['unsigned']);
});

test('N80: a profile that is not there is an error, also where there is no policy at all', (context) => {
  const world = worldWith(context, sampleBundle3());
  for (const policy of [undefined, { profiles: { prod: {} } }]) {
    if (policy !== undefined) world.write(policyPath, JSON.stringify(policy));
    const { exit, result, error } = trust(world, '--policy-profile', 'prodd');
    assert.deepEqual([exit, result, error.code], [4, 'untrusted', 'not-found']);
  }
  assert.equal(trust(world, '--policy-profile', 'prod', '--no-policy-file').exit, 2);
});

test('a caller narrows the policy that is checked in; what widens it is refused without a reason, and reported with it', (context) => {
  const policy = { max_age_hours: 200, require_signature: true, revoked_key_ids: ['k1'], allowed_signers: ['ana'] };
  const world = worldWith(context, signed(sampleBundle3()), policy);
  const secret = ['--secret-file', 'secret'];
  const codes = (...flags: readonly string[]): readonly string[] => codesOf(trust(world, ...secret, ...flags));
  assert.deepEqual(codes('--revoked-key-id', 'other', '--allowed-signer', 'ana'), ['revoked']);
  assert.deepEqual(codes('--allowed-signer', 'zed'), ['signer', 'revoked']);
  assert.deepEqual(codes('--max-age-hours', '1'), ['age', 'revoked']);

  world.write('lax.json', '{}');
  world.write('strict.json', JSON.stringify({ ...policy, max_age_hours: 1 }));
  const widening = [
    [['--allow-active-lease'], ['allow_active_lease']],
    [['--max-age-hours', '201'], ['max_age_hours']],
    [['--no-policy-file'], ['max_age_hours', 'require_signature', 'allowed_signers', 'revoked_key_ids']],
    [
      ['--policy-file', 'lax.json'],
      ['max_age_hours', 'require_signature', 'allowed_signers', 'revoked_key_ids'],
    ],
  ] as const;
  for (const [flags, loosened] of widening) {
    const refused = trust(world, ...secret, ...flags);
    assert.deepEqual([refused.exit, refused.result, refused.error.code], [12, 'untrusted', 'policy'], flags.join(' '));
    for (const field of loosened)
      assert.match(refused.error.message, new RegExp(field), `${flags.join(' ')}: ${field}`);
    const allowed = trust(world, ...secret, ...flags, '--override', 'the lab agreed');
    assert.notEqual(allowed.exit, 12);
    assert.deepEqual(allowed.override, { reason: 'the lab agreed', loosened });
  }
  assert.deepEqual(codes('--policy-file', 'strict.json'), ['age', 'revoked'], 'a stricter one needs no reason');
  assert.equal(trust(world, ...secret, '--override', 'for nothing').override, null);
  assert.equal(trust(world, ...secret, '--allow-active-lease', '--override', ' ').exit, 2);
});

test('another root of documents is no way around the policy of the project', (context) => {
  const policy = { require_signature: true, allowed_signers_file: 'keys/signers' };
  const world = worldWith(context, signed(sampleBundle3(), { with: key }), policy);
  world.write('docs/tests/keys/signers', `ana ${key.line}\n`);
  const elsewhere = trust(world, '--root', 'elsewhere');
  assert.deepEqual([elsewhere.exit, elsewhere.policy_source], [0, world.path(policyPath)]);
  world.write('b.json', printBundle(3, sampleBundle3()));
  assert.equal(trust(world, '--root', 'elsewhere').exit, 11);
  world.write('elsewhere/handoff-bundle-trust-policy.json', '{}');
  assert.equal(trust(world, '--root', 'elsewhere').exit, 12);
  world.write('elsewhere/handoff-bundle-trust-policy.json', JSON.stringify({ ...policy, max_age_hours: 1 }));
  world.write('elsewhere/keys/signers', '');
  assert.deepEqual(codesOf(trust(world, '--root', 'elsewhere')), ['age', 'unsigned'], 'its own, which is stricter');
});

test('a policy that cannot be used trusts nothing, and neither does leaving it out', (context) => {
  const world = worldWith(context, sampleBundle3(), { bogus: 1 });
  const broken = trust(world);
  assert.deepEqual([broken.exit, broken.result], [7, 'untrusted']);
  assert.match(broken.blocking_reasons[0], /^\$\.bogus is no field/);
  assert.equal(trust(world, '--no-policy-file').exit, 12);
  assert.equal(trust(world, '--policy-file', 'gone.json').exit, 4);
  assert.equal(trust(world, '--no-policy-file', '--override', 'it is being written').exit, 0);
  assert.equal(trust(world, '--allowed-signature-scheme', 'rot13').exit, 2);
});

test('a signature is checked with the secret of a file or a variable, and its lack is told', (context) => {
  const world = worldWith(context, signed(sampleBundle3()), { signature_secret_env: 'LAB' });
  assert.deepEqual(trust(world, '--secret-file', 'secret').vouched_by, 'secret');
  assert.equal(trust(world.with({ env: { LAB: sharedSecret } })).signature_verified, true);
  assert.equal(trust(world.with({ env: { OTHER: sharedSecret } }), '--secret-env', 'OTHER').exit, 0);
  const { exit, reasons } = trust(world);
  assert.deepEqual([exit, reasons[0].code], [11, 'secret']);
  assert.equal(trust(world, '--secret-file', 'gone').exit, 4);
});

test('a file of signers below the documents vouches for a key; one that leads out is not read', (context) => {
  const world = worldWith(context, signed(sampleBundle3(), { with: key }), {
    require_signature: true,
    allowed_signature_schemes: ['sshsig'],
    allowed_signers_file: 'keys/signers',
  });
  assert.equal(trust(world).exit, 4);
  world.write('docs/tests/keys/signers', `ana namespaces="${namespace}" ${key.line}\n`);
  assert.deepEqual([trust(world).exit, trust(world).vouched_by], [0, 'allowed-signers']);
  world.write('own', `zed ${key.line}\n`);
  assert.deepEqual(trust(world, '--allowed-signers', 'own').reasons[0].code, 'key', 'both have to vouch');
  world.write('own', `* ${key.line}\n`);
  assert.equal(trust(world, '--allowed-signers', 'own').exit, 0);
  world.write('docs/tests/keys/signers', `zed ${key.line}\n`);
  assert.deepEqual([trust(world).exit, trust(world).reasons[0].code], [11, 'key']);
  world.write('b.json', printBundle(3, sampleBundle3()));
  world.write(policyPath, '{}');
  assert.equal(trust(world).exit, 0);
  assert.equal(trust(world, '--allowed-signers', 'own').reasons[0].code, 'unsigned');
  world.write('b.json', printBundle(3, signed(sampleBundle3(), { with: key })));
  world.write(policyPath, JSON.stringify({ allowed_signers_file: 'keys/link' }));
  world.write('outside', `ana ${key.line}\n`);
  symlinkSync(join(world.project, 'outside'), world.path('docs/tests/keys/link'));
  assert.equal(trust(world).exit, 7);
});
