import { createHash, createPublicKey, verify, type JsonWebKey, type KeyObject } from 'node:crypto';
import { err, ok, type Result } from './result.ts';
import { base64Bytes, fieldsOf, messageOf } from './ssh-wire.ts';

/** A public key of OpenSSH. */
export interface SshPublicKey {
  /** As its line begins: `ssh-ed25519`. */
  readonly type: string;
  /** The key as it is sent and hashed. */
  readonly blob: Uint8Array;
  /** `SHA256:` and the digest of the blob in base64, as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
  /** What stands behind it in its line. */
  readonly comment: string;
  /** Whether a signature, as SSH writes it, is one of this key over a message. */
  readonly verify: (message: Uint8Array, signature: Uint8Array) => Result<undefined, SshFault>;
}

/** What is wrong with a key or a signature. */
export interface SshFault {
  /** Not what it has to be; or right, perhaps, and not known or not safe; or of another key, text or purpose. */
  readonly code: 'malformed' | 'unsupported' | 'mismatch';
  /** Completes a sentence that begins with what it is about. */
  readonly problem: string;
}

/** Reads a public key as its file holds it: one line of its type, the key in base64, and perhaps a comment. */
export const readPublicKey = (text: string): Result<SshPublicKey, SshFault> => {
  const [, type = '', base64 = '', comment = ''] =
    /^([^ \t\r\n]+)[ \t]+([^ \t\r\n]+)(?:[ \t]+([^\r\n]*))?\r?\n?$/.exec(text.trimStart()) ?? [];
  const blob = base64Bytes(base64);
  if (blob === undefined) return fault('malformed', 'is no line of a type and a key in base64');
  const key = readKeyBlob(blob);
  if (!key.ok) return key;
  if (key.value.type !== type) return fault('malformed', 'names another type than its key has');
  return ok({ ...key.value, comment: comment.trim() });
};

/** Reads a public key as it is sent. What cannot be verified with it is refused by name. */
export const readKeyBlob = (blob: Uint8Array): Result<SshPublicKey, SshFault> => {
  const [name, ...fields] = fieldsOf(blob) ?? [];
  if (name === undefined) return fault('malformed', 'is cut off, or longer than it says');
  const type = name.toString('latin1');
  const algorithm = algorithms.get(type);
  if (algorithm === undefined) return fault('unsupported', unsupported(type));
  if (fields.length !== algorithm.fields) return fault('malformed', `is no key of the type ${type}`);
  const key = algorithm.key(fields);
  if (!key.ok) return key;
  return ok({
    type,
    blob,
    fingerprint: fingerprintOf(blob),
    comment: '',
    verify: (message, signature) => algorithm.verify(key.value, fields, message, signature),
  });
};

const fingerprintOf = (blob: Uint8Array): string =>
  `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;

const unsupported = (type: string): string => {
  if (!/^[\w@.-]{1,64}$/.test(type)) return 'is of no type that is known';
  if (type.includes('-cert-v0')) return `is a certificate (${type}), and certificates are not followed`;
  return `is of the type ${type}, which is not taken: ${[...algorithms.keys()].join(', ')} are`;
};

/** How keys of a type are read and used. */
interface Algorithm {
  /** How many fields stand behind the type. */
  readonly fields: number;
  readonly key: (fields: readonly Buffer[]) => Result<KeyObject, SshFault>;
  readonly verify: (
    key: KeyObject,
    fields: readonly Buffer[],
    message: Uint8Array,
    signature: Uint8Array,
  ) => Result<undefined, SshFault>;
}

/** How signatures of a format are checked: the hash of the message, and the signature as the platform takes it. */
interface Format {
  readonly hash: string | null;
  readonly raw: (signature: Buffer, key: KeyObject) => Buffer | undefined;
}

const ed25519 = (): Algorithm => ({
  fields: 1,
  key: ([point]) =>
    point?.length === 32 ? keyOf({ kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') }) : noPoint,
  verify: signedAs({
    'ssh-ed25519': { hash: null, raw: (signature) => (signature.length === 64 ? signature : undefined) },
  }),
});

const ecdsa = (curve: string, crv: string, hash: string, size: number): Algorithm => ({
  fields: 2,
  key: ([name, point]) => {
    const isPoint = name?.toString('latin1') === curve && point?.length === 1 + 2 * size && point[0] === 4;
    if (!isPoint) return noPoint;
    const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)];
    return keyOf({ kty: 'EC', crv, x: x.toString('base64url'), y: y.toString('base64url') });
  },
  verify: signedAs({
    [`ecdsa-sha2-${curve}`]: {
      hash,
      raw: (signature) => {
        const numbers = fieldsOf(signature)?.map(positive);
        const [r, s] = numbers ?? [];
        if (numbers?.length !== 2 || r === undefined || s === undefined || r.length > size || s.length > size)
          return undefined;
        return Buffer.concat([padded(r, size), padded(s, size)]);
      },
    },
  }),
});

/** The bits that are enough, and those up to which a signature is checked in no time. */
const rsaBits = { least: 2048, most: 16_384 };

const rsa = (): Algorithm => {
  const raw: Format['raw'] = (signature, key) => {
    const size = Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
    return signature.length > size ? undefined : padded(signature, size);
  };
  return {
    fields: 2,
    key: ([exponent, modulus]) => {
      const [e, n] = [positive(exponent), positive(modulus)];
      if (e === undefined || n === undefined) return fault('malformed', 'holds no numbers of an RSA key');
      const bits = n.length * 8 - Math.clz32(n[0] ?? 0) + 24;
      if (bits < rsaBits.least || bits > rsaBits.most)
        return fault('unsupported', `is an RSA key of ${bits} bits, and ${rsaBits.least} to ${rsaBits.most} are taken`);
      // A public exponent of any size would make the check as slow as its maker likes; an even one is none.
      if (e.length > 8 || (e.at(-1) ?? 0) % 2 === 0 || (e.length === 1 && e[0] === 1))
        return fault('unsupported', 'is an RSA key with an exponent that is not taken');
      return keyOf({ kty: 'RSA', n: n.toString('base64url'), e: e.toString('base64url') });
    },
    verify: signedAs({ 'rsa-sha2-256': { hash: 'sha256', raw }, 'rsa-sha2-512': { hash: 'sha512', raw } }),
  };
};

/**
 * A key that lies in a security key: its application stands behind it, and it signs the digests of that and of the message
 * with what the device says of the touch and its count (PROTOCOL.u2f of OpenSSH). As for `ssh-keygen -Y verify` it does not
 * matter whether somebody touched it.
 */
const inDevice = (type: string, format: string, plain: Algorithm): readonly [string, Algorithm] => [
  type,
  {
    fields: plain.fields + 1,
    key: (fields) => plain.key(fields.slice(0, -1)),
    verify: (key, fields, message, signature) => {
      const bytes = Buffer.from(signature);
      const [name, value, ...more] = fieldsOf(bytes.subarray(0, -5)) ?? [];
      if (name?.toString('latin1') !== type || value === undefined || more.length > 0)
        return fault('malformed', `is none in the format ${type}`);
      const signed = [sha256(fields.at(-1) ?? ''), bytes.subarray(-5), sha256(message)];
      return plain.verify(key, fields.slice(0, -1), Buffer.concat(signed), messageOf(format, value));
    },
  },
];

/** Checks a signature in one of the formats that a type of keys has. */
const signedAs =
  (formats: Readonly<Record<string, Format>>): Algorithm['verify'] =>
  (key, _fields, message, signature) => {
    const [name, value, ...more] = fieldsOf(signature) ?? [];
    if (name === undefined || value === undefined || more.length > 0)
      return fault('malformed', 'is cut off, or longer than it says');
    const format = new Map(Object.entries(formats)).get(name.toString('latin1'));
    if (format === undefined)
      return fault('unsupported', `is in a format that is not taken: ${Object.keys(formats).join(' or ')} is`);
    const raw = format.raw(value, key);
    if (raw === undefined) return fault('malformed', `is none in the format ${name.toString('latin1')}`);
    return verify(format.hash, message, { key, dsaEncoding: 'ieee-p1363' }, raw)
      ? ok(undefined)
      : fault('mismatch', 'is not one of this key over this text');
  };

const algorithms: ReadonlyMap<string, Algorithm> = new Map([
  ['ssh-ed25519', ed25519()],
  ['ecdsa-sha2-nistp256', ecdsa('nistp256', 'P-256', 'sha256', 32)],
  ['ecdsa-sha2-nistp384', ecdsa('nistp384', 'P-384', 'sha384', 48)],
  ['ecdsa-sha2-nistp521', ecdsa('nistp521', 'P-521', 'sha512', 66)],
  ['ssh-rsa', rsa()],
  inDevice('sk-ssh-ed25519@openssh.com', 'ssh-ed25519', ed25519()),
  inDevice('sk-ecdsa-sha2-nistp256@openssh.com', 'ecdsa-sha2-nistp256', ecdsa('nistp256', 'P-256', 'sha256', 32)),
]);

/** The platform takes no point that does not lie on its curve. */
const keyOf = (key: JsonWebKey): Result<KeyObject, SshFault> => {
  try {
    return ok(createPublicKey({ key, format: 'jwk' }));
  } catch {
    return noPoint;
  }
};

const fault = (code: SshFault['code'], problem: string): { readonly ok: false; readonly error: SshFault } =>
  err({ code, problem });

const noPoint = fault('malformed', 'holds no point of its curve');

/** A number that is above zero and written as short as it can be, without the byte that only says so. */
const positive = (field: Buffer | undefined): Buffer | undefined => {
  const [first = 0x80, second = 0] = field ?? [];
  if (first > 0 && first < 0x80) return field;
  return first === 0 && second >= 0x80 ? field?.subarray(1) : undefined;
};

const padded = (bytes: Buffer, size: number): Buffer => Buffer.concat([Buffer.alloc(size - bytes.length), bytes]);

const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest();
