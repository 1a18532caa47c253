import { createHash } from 'node:crypto';
import { err, ok, type Result } from './result.ts';
import { readKeyBlob, type SshFault, type SshPublicKey } from './ssh-key.ts';
import { base64Bytes, fieldsOf, longestMessage, messageOf } from './ssh-wire.ts';

/** Signatures of files as `ssh-keygen -Y sign` makes them (PROTOCOL.sshsig of OpenSSH). */
export interface SshSignature {
  readonly publicKey: SshPublicKey;
  /** What it is a signature for, so that none that was made for something else is one. */
  readonly namespace: string;
  readonly hash: 'sha256' | 'sha512';
  /** The signature itself, as SSH writes it. */
  readonly signature: Uint8Array;
}

const armor = { begin: '-----BEGIN SSH SIGNATURE-----', end: '-----END SSH SIGNATURE-----' };
const magic = 'SSHSIG';

/** The bytes of a signature in its armor: base64 between two lines. */
export const unarmored = (text: string): Result<Uint8Array, SshFault> => {
  const body = text.trim();
  const bytes =
    body.length <= 2 * longestMessage && body.startsWith(armor.begin) && body.endsWith(armor.end)
      ? base64Bytes(body.slice(armor.begin.length, -armor.end.length).replaceAll(/[\r\n]/g, ''))
      : undefined;
  return bytes === undefined ? malformed('is not in the armor of an SSH signature') : ok(bytes);
};

/** Reads the bytes of a signature. */
export const readSshSignature = (bytes: Uint8Array): Result<SshSignature, SshFault> => {
  const blob = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const body = magic.length + 4;
  if (blob.length < body || blob.toString('latin1', 0, magic.length) !== magic) return malformed('is no SSH signature');
  const version = blob.readUInt32BE(magic.length);
  if (version !== 1) return unsupported(`is an SSH signature of version ${version}, and 1 is taken`);
  const [key, namespace, reserved, hash, signature, ...more] = fieldsOf(blob.subarray(body)) ?? [];
  if (key === undefined || namespace === undefined || signature === undefined || more.length > 0)
    return malformed('is cut off, or longer than it says');
  if (reserved?.length !== 0) return unsupported('holds something where nothing is known to stand');
  const hashName = hashes.find((name) => name === hash?.toString('latin1'));
  if (hashName === undefined) return unsupported(`is made with a hash that is not taken: ${hashes.join(' or ')} is`);
  const publicKey = readKeyBlob(key);
  if (!publicKey.ok) return err({ ...publicKey.error, problem: `is of a key that ${publicKey.error.problem}` });
  return ok({ publicKey: publicKey.value, namespace: namespace.toString('utf8'), hash: hashName, signature });
};

const hashes = ['sha256', 'sha512'] as const;

/** Whether a signature is one over a message, for a purpose. Whose the key is it does not say. */
export const verifySshSignature = (
  { publicKey, namespace, hash, signature }: SshSignature,
  message: string | Uint8Array,
  purpose: string,
): Result<undefined, SshFault> => {
  if (namespace !== purpose)
    return err({
      code: 'mismatch',
      problem: `is for the namespace ${JSON.stringify(namespace.slice(0, 64))}, not ${purpose}`,
    });
  const digest = createHash(hash).update(message).digest();
  return publicKey.verify(Buffer.concat([Buffer.from(magic), messageOf(purpose, '', hash, digest)]), signature);
};

const malformed = (problem: string): { readonly ok: false; readonly error: SshFault } =>
  err({ code: 'malformed', problem });

const unsupported = (problem: string): { readonly ok: false; readonly error: SshFault } =>
  err({ code: 'unsupported', problem });
