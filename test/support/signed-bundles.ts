/** Bundles that are signed as the verb signs them, without a program being run. */
import assert from 'node:assert/strict';
import { signedText, takeBundle } from '../../src/formats/bundle/bundle.ts';
import type { Bundle } from '../../src/formats/bundle/parts.ts';
import { hmacOf, namespace, proven, signatureSaying } from '../../src/formats/bundle/signature.ts';
import type { JsonObject } from '../../src/lib/canonical-json.ts';
import { readPublicKey, type SshPublicKey } from '../../src/lib/ssh-key.ts';
import { armored, sshsig, type SigningKey } from './ssh.ts';

/** The secret that bundles are signed with, where nothing else is said. */
export const sharedSecret = 'a secret that both sides share';

/** The public half of a key. */
export const publicOf = ({ line }: SigningKey): SshPublicKey => {
  const key = readPublicKey(line);
  assert.ok(key.ok);
  return key.value;
};

/** A bundle that is sound. */
export const taken = (value: JsonObject): Bundle => {
  const bundle = takeBundle(value);
  assert.ok(bundle.ok, JSON.stringify(bundle));
  return bundle.value;
};

/** Who signs, when, and with what. */
export interface SignedBy {
  /** A key; without one the secret. */
  readonly with?: SigningKey | undefined;
  readonly signer?: string;
  readonly keyId?: string;
  readonly signedAt?: string;
  readonly by?: string;
}

/** A bundle that somebody has signed, ana where nothing else is said, with a key or with the secret. */
export const signed = (
  unsigned: JsonObject,
  { with: key, signer = 'ana', keyId = 'k1', signedAt = '2026-03-12T10:30:00Z', by = sharedSecret }: SignedBy = {},
): JsonObject => {
  const bundle = taken(unsigned);
  const scheme = key === undefined ? 'hmac-sha256' : 'sshsig';
  const own = key === undefined ? undefined : { line: key.line, key: publicOf(key) };
  const said = signatureSaying(bundle.version, { scheme, signer, keyId, signedAt, key: own });
  const text = signedText(bundle, said);
  const proof = key === undefined ? hmacOf(by, text) : armored(sshsig(key, text, { namespace }));
  const signature = proven(bundle.version, said, scheme, proof);
  assert.ok(signature.ok);
  return { ...unsigned, signature: signature.value };
};
