/** Keys of OpenSSH made here, and signatures as its programs would make them, so that hostile ones can be made too. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { messageOf } from '../../src/lib/ssh-wire.ts';

/** Set where the programs of OpenSSH are not installed, so that what needs them is skipped and says so. */
export const withoutSsh: string | false =
  spawnSync('ssh-keygen', ['-?'], { stdio: 'ignore' }).error === undefined ? false : 'ssh-keygen is not installed here';

/** A key of whoever signs. */
export interface SigningKey {
  /** The line of its public file. */
  readonly line: string;
  readonly blob: Buffer;
  /** A signature over bytes, as SSH writes it. */
  readonly sign: (message: Uint8Array) => Buffer;
}

/** Makes a key of a type that `ssh-keygen -t` makes, or of a security key. */
export const createKey = (type: string): SigningKey => {
  const make = makers[type];
  if (make === undefined) throw new Error(`no key of the type ${type} is made here`);
  const { fields, sign: signWith } = make();
  const name = String(fields[0]);
  const blob = messageOf(...fields);
  return { line: `${name} ${blob.toString('base64')} ${type}@here`, blob, sign: signWith };
};

/** What a signature of a file is made of. */
export interface Parts {
  readonly key?: Uint8Array;
  readonly namespace?: string;
  readonly reserved?: string;
  readonly hash?: string;
  readonly version?: number;
  readonly signature?: Uint8Array;
}

/** The bytes of a signature of a file; what `parts` says of it is said although it is not so. */
export const sshsig = (key: SigningKey, message: string | Uint8Array, parts: Parts = {}): Buffer => {
  const { namespace = 'test', reserved = '', hash = 'sha512', version = 1 } = parts;
  const digest = createHash(hash === 'sha256' ? 'sha256' : 'sha512')
    .update(message)
    .digest();
  const signed = Buffer.concat([Buffer.from('SSHSIG'), messageOf(namespace, reserved, hash, digest)]);
  return Buffer.concat([
    Buffer.from('SSHSIG'),
    Buffer.from([0, 0, 0, version]),
    messageOf(parts.key ?? key.blob, namespace, reserved, hash, parts.signature ?? key.sign(signed)),
  ]);
};

/** The same in the armor of its file. */
export const armored = (bytes: Uint8Array): string =>
  [
    '-----BEGIN SSH SIGNATURE-----',
    ...(Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,70}/g) ?? []),
    '-----END SSH SIGNATURE-----',
    '',
  ].join('\n');

/** A key in files, made by `ssh-keygen`. */
export const keyFiles = (path: string, type: string, ...more: readonly string[]): string => {
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', 'made here', ...more, '-f', path]);
  return readFileSync(`${path}.pub`, 'utf8');
};

interface Made {
  readonly fields: readonly (string | Uint8Array)[];
  readonly sign: (message: Uint8Array) => Buffer;
}

const jwkBytes = (key: KeyObject, name: 'x' | 'y' | 'n' | 'e'): Buffer =>
  Buffer.from(key.export({ format: 'jwk' })[name] ?? '', 'base64url');

const madeEd25519 = (): Made => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return {
    fields: ['ssh-ed25519', jwkBytes(publicKey, 'x')],
    sign: (message) => messageOf('ssh-ed25519', sign(null, message, privateKey)),
  };
};

const madeEcdsa = (curve: string, namedCurve: string, hash: string, size: number) => (): Made => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve });
  const type = `ecdsa-sha2-${curve}`;
  const point = Buffer.concat([Buffer.from([4]), jwkBytes(publicKey, 'x'), jwkBytes(publicKey, 'y')]);
  return {
    fields: [type, curve, point],
    sign: (message) => {
      const raw = sign(hash, message, { key: privateKey, dsaEncoding: 'ieee-p1363' });
      return messageOf(type, messageOf(mpint(raw.subarray(0, size)), mpint(raw.subarray(size))));
    },
  };
};

const madeRsa = (bits: number, format: string, hash: string) => (): Made => {
  const { publicKey, privateKey } = rsaPair(bits);
  return {
    fields: ['ssh-rsa', mpint(jwkBytes(publicKey, 'e')), mpint(jwkBytes(publicKey, 'n'))],
    sign: (message) => messageOf(format, sign(hash, message, privateKey)),
  };
};

/** Keys of RSA take long to make. */
const rsaPairs = new Map<number, { readonly publicKey: KeyObject; readonly privateKey: KeyObject }>();
const rsaPair = (bits: number) => {
  const made = rsaPairs.get(bits) ?? generateKeyPairSync('rsa', { modulusLength: bits });
  rsaPairs.set(bits, made);
  return made;
};

/** What a device answers: its application, that somebody touched it, and the fourth signature of it. */
const inDevice = (type: string, make: () => Made) => (): Made => {
  const { fields, sign: signPlain } = make();
  const application = 'ssh:';
  const state = Buffer.from([1, 0, 0, 0, 4]);
  return {
    fields: [type, ...fields.slice(1), application],
    sign: (message) => {
      const signed = signPlain(Buffer.concat([digestOf(application), state, digestOf(message)]));
      const name = 4 + signed.readUInt32BE(0);
      return Buffer.concat([messageOf(type), signed.subarray(name), state]);
    },
  };
};

const digestOf = (bytes: string | Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** A number as SSH writes it: as short as it can be, and never one below zero. */
export const mpint = (bytes: Uint8Array): Buffer => {
  const start = bytes.findIndex((byte) => byte !== 0);
  const short = Buffer.from(start < 0 ? [] : bytes.subarray(start));
  return (short[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), short]) : short;
};

const makers: Readonly<Record<string, () => Made>> = {
  ed25519: madeEd25519,
  ecdsa256: madeEcdsa('nistp256', 'P-256', 'sha256', 32),
  ecdsa384: madeEcdsa('nistp384', 'P-384', 'sha384', 48),
  ecdsa521: madeEcdsa('nistp521', 'P-521', 'sha512', 66),
  rsa: madeRsa(2048, 'rsa-sha2-512', 'sha512'),
  'rsa-256': madeRsa(2048, 'rsa-sha2-256', 'sha256'),
  'rsa-sha1': madeRsa(2048, 'ssh-rsa', 'sha1'),
  'rsa-short': madeRsa(1024, 'rsa-sha2-512', 'sha512'),
  'ed25519-sk': inDevice('sk-ssh-ed25519@openssh.com', madeEd25519),
  'ecdsa-sk': inDevice('sk-ecdsa-sha2-nistp256@openssh.com', madeEcdsa('nistp256', 'P-256', 'sha256', 32)),
};
