import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  publicOf,
  sharedSecret as secret,
  signed as signedWith,
  taken,
  type SignedBy,
} from '../../../test/support/signed-bundles.ts';
import { armored, createKey, sshsig, type SigningKey } from '../../../test/support/ssh.ts';
import { readAllowedSigners } from '../../lib/allowed-signers.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { readPublicKey } from '../../lib/ssh-key.ts';
import { readBundle, sealBundle, signedText, takeBundle } from './bundle.ts';
import { sampleBundle2, sampleBundle3 } from './samples.ts';
import { hmacOf, namespace, proven, schemes, verifySignature, type Scheme, type SignatureMeans } from './signature.ts';

const now = '2026-03-12T12:00:00.000Z';
const key = createKey('ed25519');
const samples = { 2: sampleBundle2, 3: sampleBundle3 } as const;
const versions = [2, 3] as const;

/** What counts as good for a signature that is made here. */
const meansOf: Readonly<Record<Scheme, SignatureMeans>> = {
  'hmac-sha256': { secret },
  sshsig: { fingerprints: [publicOf(key).fingerprint] },
};

/** A bundle that is signed with a scheme: with one key, where nothing else is said. */
const signed = (
  scheme: Scheme,
  unsigned: JsonObject,
  { signing = key, ...said }: Omit<SignedBy, 'with'> & { readonly signing?: SigningKey } = {},
): JsonObject =>
  signedWith(unsigned, { signedAt: '2026-03-12T11:00:00Z', ...said, with: scheme === 'sshsig' ? signing : undefined });

/** What comes of it: who vouches, or the codes of the faults. */
const verdictOf = (value: JsonObject, means: SignatureMeans, at = now): string => {
  const bundle = takeBundle(value);
  if (!bundle.ok) return `no bundle: ${bundle.error[0]?.stage}`;
  const verified = verifySignature(bundle.value, means, at);
  return verified.ok
    ? `${verified.value.vouchedBy}${verified.value.coversItself ? '' : ', as it says'}`
    : verified.error.map(({ code }) => code).join(' ');
};

const changed = (value: JsonObject, field: string, to: Json | undefined): JsonObject => {
  const { [field]: _before, ...rest } = value['signature'] as JsonObject;
  return { ...value, signature: to === undefined ? rest : { ...rest, [field]: to } };
};

test('a signature that is made holds, and version 3 covers what it says of itself', () => {
  for (const version of versions)
    for (const scheme of schemes) {
      const vouchedBy = scheme === 'sshsig' ? 'fingerprint' : 'secret';
      const verdict = verdictOf(signed(scheme, samples[version]()), meansOf[scheme]);
      assert.equal(verdict, version === 3 ? vouchedBy : `${vouchedBy}, as it says`);
    }
});

test('in version 3 whatever a signature says of itself cannot be changed; in version 2 it can, and that is told', () => {
  for (const scheme of schemes) {
    const fields = [
      ['signer', 'release-bot'],
      ['key_id', 'prod-2026'],
      ['signed_at', '2026-03-12T11:30:00Z'],
    ] as const;
    for (const [field, to] of fields) {
      const means = { ...meansOf[scheme], required: { signer: field === 'signer' ? to : undefined } };
      assert.equal(verdictOf(changed(signed(scheme, sampleBundle3()), field, to), means), 'broken', field);
      assert.match(verdictOf(changed(signed(scheme, sampleBundle2()), field, to), means), /, as it says$/);
    }
  }
});

test('a signature of one bundle is none of another, or of the same one that was changed', () => {
  for (const version of versions)
    for (const scheme of schemes) {
      const { signature } = signed(scheme, samples[version]());
      const other = samples[version]({ redaction: { enabled: false } });
      assert.equal(verdictOf({ ...other, signature: signature ?? null }, meansOf[scheme]), 'broken');
    }
});

test('a signature of one version is none of the other', () => {
  for (const scheme of schemes) {
    for (const version of versions) {
      const { signature } = signed(scheme, samples[version === 2 ? 3 : 2]());
      assert.match(verdictOf({ ...samples[version](), signature: signature ?? null }, meansOf[scheme]), /^field/);
    }
  }
});

test("a key that came with the bundle is nobody's, whatever the signer is called", () => {
  for (const version of versions) {
    const stranger = signed('sshsig', samples[version](), { signer: 'release-bot', signing: createKey('ed25519') });
    assert.equal(verdictOf(stranger, {}), 'unvouched');
    assert.equal(
      verdictOf(stranger, { required: { signer: 'release-bot', keyId: 'k1', scheme: 'sshsig' } }),
      'unvouched',
    );
    assert.equal(verdictOf(stranger, meansOf.sshsig), 'required');
    assert.equal(verdictOf(stranger, { fingerprints: [] }), 'required');
    assert.equal(verdictOf(stranger, { signers: [] }), 'not-allowed');
  }
});

test('a file of signers vouches for a key by the name of its signer; with a fingerprint both have to', () => {
  const signersOf = (text: string): NonNullable<SignatureMeans['signers']> => {
    const signers = readAllowedSigners(text, () => 0);
    assert.ok(signers.ok);
    return signers.value;
  };
  const bundle = signed('sshsig', sampleBundle3());
  const signers = signersOf(`ana namespaces="${namespace}" ${key.line}`);
  assert.equal(verdictOf(bundle, { signers }), 'allowed-signers');
  assert.equal(verdictOf(bundle, { signers, ...meansOf.sshsig }), 'allowed-signers');
  assert.equal(verdictOf(bundle, { signers, fingerprints: ['SHA256:x'] }), 'required');
  assert.equal(verdictOf(bundle, { signers: signersOf(`ben ${key.line}`), ...meansOf.sshsig }), 'not-allowed');
  assert.equal(verdictOf(bundle, { signers: signersOf(`ana namespaces="git" ${key.line}`) }), 'not-allowed');
  assert.equal(verdictOf(bundle, { signers: signersOf(`ana ${createKey('ecdsa256').line}`) }), 'not-allowed');
});

test('where keys are rotated each counts from when it is valid until it is not any more', () => {
  const next = createKey('ecdsa256');
  const signers = readAllowedSigners(
    `ana valid-before="20260312120000Z" ${key.line}\nana valid-after="20260312100000Z" ${next.line}`,
    () => 0,
  );
  assert.ok(signers.ok);
  const rows = [
    [key, '2026-03-12T11:00:00Z', '2026-03-12T11:30:00.000Z', 'allowed-signers'],
    [next, '2026-03-12T11:00:00Z', '2026-03-12T11:30:00.000Z', 'allowed-signers'],
    // Who has the old key can say any time.
    [key, '2026-03-12T11:00:00Z', '2026-03-12T12:30:00.000Z', 'not-allowed'],
    [next, '2026-03-12T11:00:00Z', '2026-03-12T12:30:00.000Z', 'allowed-signers'],
    [next, '2026-03-12T09:00:00Z', '2026-03-12T12:30:00.000Z', 'not-allowed'],
  ] as const;
  for (const [signing, signedAt, at, verdict] of rows)
    assert.equal(
      verdictOf(signed('sshsig', sampleBundle3(), { signing, signedAt }), { signers: signers.value }, at),
      verdict,
      `${signing.line} ${signedAt} ${at}`,
    );
});

test('a clock may be two minutes ahead, and no more', () => {
  for (const scheme of schemes)
    for (const [signedAt, isFuture] of [
      ['2026-03-12T12:02:00Z', false],
      ['2026-03-12T13:02:00+01:00', false],
      ['2026-03-12T12:02:01Z', true],
      ['2199-01-01T00:00:00Z', true],
      ['2199-01-01T00:00:00,5+0100', true],
      ['2026-03-12T12:00:00,123456789Z', false],
    ] as const) {
      const verdict = verdictOf(signed(scheme, sampleBundle3(), { signedAt }), meansOf[scheme]);
      assert.equal(verdict === 'future', isFuture, signedAt);
    }
});

test('what stands for a signature and is none is told by its kind, and is never taken for no signature', () => {
  const bundle = sampleBundle3();
  const whole = signed('hmac-sha256', bundle);
  const ssh = signed('sshsig', bundle);
  const saying = { signer: 'ana', key_id: 'k1', signed_at: '2026-03-12T11:00:00Z' };
  const rows: readonly (readonly [JsonObject, string])[] = [
    [bundle, 'unsigned'],
    [{ ...bundle, signature: null }, 'no bundle: shape'],
    [{ ...bundle, signature: '' }, 'no bundle: shape'],
    [{ ...bundle, signature: {} }, 'field field field field'],
    [{ ...bundle, signature: { ...saying, scheme: 'none', value: '' } }, 'scheme'],
    [{ ...bundle, signature: { ...saying, scheme: 'constructor', value: 'x' } }, 'scheme'],
    [changed(whole, 'value', undefined), 'field'],
    [changed(whole, 'value', ''), 'field'],
    [changed(whole, 'value', '00'), 'broken'],
    [changed(whole, 'value', hmacOf(secret, '')), 'broken'],
    [changed(whole, 'covers', []), 'field'],
    [changed(whole, 'scheme', 'sshsig'), 'field field key'],
    [changed(whole, 'signed_at', '2026-03-12T11:00:00'), 'time'],
    [changed(whole, 'signed_at', '2026-02-30T11:00:00Z'), 'time'],
    [changed(whole, 'signer', 7), 'field'],
    [changed(whole, 'signer', ' '), 'field'],
    [changed(whole, 'signer', 'x'.repeat(2000)), 'field'],
    [changed(whole, 'signer', 'ana\nSigned at: now'), 'field'],
    [changed(ssh, 'public_key_fingerprint', 'SHA256:x'), 'key'],
    [changed(ssh, 'public_key', 'ssh-ed25519 AAAA'), 'key'],
    [changed(ssh, 'public_key', createKey('rsa-short').line), 'key'],
    [changed(ssh, 'value', 'AAAA'), 'broken'],
    [changed(ssh, 'value', 'x y'), 'broken'],
  ];
  for (const [value, verdict] of rows)
    assert.equal(verdictOf(value, { secret }), verdict, JSON.stringify(value['signature']));
});

test('a signature made with another key than it names, or for something else, does not hold', () => {
  for (const version of versions) {
    const whole = signed('sshsig', samples[version]());
    const field = version === 2 ? 'signature_blob_base64' : 'value';
    const bundle = taken(whole);
    const { [field]: _value, ...said } = whole['signature'] as JsonObject;
    const text = signedText(bundle, said);
    const rows = [
      [sshsig(createKey('ed25519'), text, { namespace }), 'key'],
      [sshsig(key, text, { namespace: 'git' }), 'broken'],
      [sshsig(createKey('ed25519'), text, { namespace, key: key.blob }), 'broken'],
    ] as const;
    for (const [bytes, verdict] of rows) {
      const made = proven(version, said, 'sshsig', armored(bytes));
      assert.ok(made.ok);
      assert.equal(verdictOf({ ...whole, signature: made.value }, meansOf.sshsig), verdict);
    }
  }
  const other = changed(signed('sshsig', sampleBundle2()), 'namespace', 'git');
  assert.equal(verdictOf(other, meansOf.sshsig), 'field');
  const type = changed(signed('sshsig', sampleBundle2()), 'public_key_type', 'ssh-rsa');
  assert.equal(verdictOf(type, meansOf.sshsig), 'key');
});

test('what is required and not so is told at once, and a shared secret is no key', () => {
  const bundle = signed('hmac-sha256', sampleBundle3());
  const required = { signer: 'zed', keyId: 'k2', scheme: 'sshsig' };
  assert.equal(verdictOf(bundle, { secret, required }), 'required required required');
  assert.equal(verdictOf(bundle, { secret, required: { signer: 'ana', keyId: 'k1' } }), 'secret');
  assert.equal(verdictOf(bundle, { secret, fingerprints: [publicOf(key).fingerprint] }), 'required');
  assert.equal(verdictOf(bundle, { secret, signers: [] }), 'required');
  assert.equal(verdictOf(bundle, {}), 'no-secret');
  assert.equal(verdictOf(bundle, { secret: '' }), 'no-secret');
  assert.equal(verdictOf(bundle, { secret: 'no' }), 'broken');
});

test('whatever stands in a signature, nothing is thrown and nothing verifies', () => {
  const fields = ['scheme', 'signer', 'key_id', 'signed_at', 'namespace', 'public_key', 'public_key_type', 'value'];
  const known: readonly JsonObject[] = versions.flatMap((version) =>
    schemes.map((scheme) => signed(scheme, samples[version]())),
  );
  const more = [...fields, 'digest', 'public_key_fingerprint', 'signature_blob_base64'];
  fc.assert(
    fc.property(
      fc.constantFrom(...known),
      fc.constantFrom(...more),
      fc.oneof(fc.string({ maxLength: 20 }), fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('__proto__', '\ud800')),
      (bundle, field, value) => {
        const signature = bundle['signature'] as JsonObject;
        if (signature[field] === value) return;
        const spoiled = changed(bundle, field, value as Json);
        const version = bundle['bundle_version'];
        const isUncovered = version === 2 && ['signer', 'key_id', 'signed_at', 'public_key'].includes(field);
        for (const means of Object.values(meansOf)) {
          const verdict = verdictOf(spoiled, means);
          assert.ok(isUncovered || !/^(?:secret|fingerprint)/.test(verdict), `${field}: ${verdict}`);
        }
      },
    ),
    { numRuns: 400 },
  );
});

const folder = '../shared/fixtures/handoff';

test('bundles that the original signed hold', { skip: existsSync(folder) ? false : 'there is no ../shared' }, () => {
  const read = (name: string): string => readFileSync(`${folder}/${name}`, 'utf8');
  const line = readPublicKey(read('ssh-signing-key.pub'));
  assert.ok(line.ok);
  for (const [name, means] of [
    ['bundle-signed-hmac.json', { secret: read('hmac-secret.txt').trim() }],
    ['bundle-signed-sshsig.json', { fingerprints: [line.value.fingerprint] }],
  ] as const) {
    const bundle = readBundle(read(name));
    assert.ok(bundle.ok);
    const verified = verifySignature(bundle.value, means, '2026-03-13T12:00:00.000Z');
    assert.ok(verified.ok, name);
    assert.equal(verified.value.coversItself, false);
    // One byte more, under checksums that fit.
    const { source } = bundle.value;
    const forged = sealBundle(2, { ...bundle.value.value, source: { ...source, resolution: 'x' } });
    assert.equal(verdictOf(forged, means, '2026-03-13T12:00:00.000Z'), 'broken');
  }
});
