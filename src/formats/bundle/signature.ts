import { wholeTextAt } from '../../kernel/answer.ts';
import { findSigner, type AllowedSigner } from '../../lib/allowed-signers.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { isSameText } from '../../lib/constant-time.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { hmacSha256 } from '../../lib/sha256.ts';
import { readPublicKey, type SshFault, type SshPublicKey } from '../../lib/ssh-key.ts';
import { readSshSignature, unarmored, verifySshSignature, type SshSignature } from '../../lib/ssh-signature.ts';
import { base64Bytes } from '../../lib/ssh-wire.ts';
import { clockSkew } from '../../lib/time.ts';
import { timeFault } from '../handoff/document.ts';
import { isLine } from '../handoff/lease-file.ts';
import { signedText } from './bundle.ts';
import type { Bundle } from './parts.ts';

/**
 * The signature of a bundle: who said when that this is what he sends. Whether it holds is one thing, whose key it is made
 * with another: a key that comes with the bundle is nobody's until somebody else vouches for it.
 */

/** How bundles are signed: with a secret that both sides share, or with a key of OpenSSH. */
export const schemes = ['hmac-sha256', 'sshsig'] as const;

/** One of them. */
export type Scheme = (typeof schemes)[number];

/** What signatures with a key of OpenSSH are for, so that none that was made for something else is one of a bundle. */
export const namespace = 'handoff-bundle';

/** What a signature says of itself, as far as it does. In version 2 anybody may have changed it. */
export interface SaidSignature {
  readonly scheme: string | undefined;
  readonly signer: string | undefined;
  readonly keyId: string | undefined;
  readonly signedAt: string | undefined;
  readonly fingerprint: string | undefined;
}

/** What a signature is checked with. */
export interface SignatureMeans {
  /** The secret that is shared. */
  readonly secret?: string | undefined;
  /** The fingerprints of the keys that count. Together with `signers` both have to vouch. */
  readonly fingerprints?: readonly string[] | undefined;
  /** Which keys are whose. */
  readonly signers?: readonly AllowedSigner[] | undefined;
  /** What it has to say of itself. */
  readonly required?: { readonly [Said in 'scheme' | 'signer' | 'keyId']?: string | undefined } | undefined;
}

/** A signature that holds, made with a key that somebody vouches for. */
export interface VerifiedSignature {
  readonly said: SaidSignature;
  /** Who vouches for the key: whoever shares the secret, whoever named its fingerprint, or a file of signers. */
  readonly vouchedBy: 'secret' | 'fingerprint' | 'allowed-signers';
  /** Whether it covers what it says of itself: signer, key id and time. */
  readonly coversItself: boolean;
}

/** What is wrong with a signature. Of a key for which nobody vouches everything else was found right. */
export interface SignatureFault {
  readonly code:
    | 'unsigned'
    | 'scheme'
    | 'field'
    | 'time'
    | 'future'
    | 'required'
    | 'key'
    | 'no-secret'
    | 'broken'
    | 'not-allowed'
    | 'unvouched';
  /** A sentence without its full stop. */
  readonly problem: string;
}

/** What the signature of a bundle says of itself. */
export const signatureOf = ({ signature }: Bundle): SaidSignature => {
  const said = (key: string): string | undefined => {
    const value = signature?.[key];
    return isField(key, value) ? value : undefined;
  };
  return {
    scheme: said('scheme'),
    signer: said('signer'),
    keyId: said('key_id'),
    signedAt: said('signed_at'),
    fingerprint: said('public_key_fingerprint'),
  };
};

/**
 * Whether the signature of a bundle holds and is made with a key that somebody vouches for. First comes what it says of
 * itself, where everything that is wrong is told; what it proves is looked at where nothing is.
 */
export const verifySignature = (
  bundle: Bundle,
  means: SignatureMeans,
  now: string,
): Result<VerifiedSignature, readonly SignatureFault[]> => {
  const { signature, version } = bundle;
  if (signature === undefined) return err([fault('unsigned', 'the bundle is not signed')]);
  const said = signatureOf(bundle);
  const scheme = schemes.find((one) => one === said.scheme);
  const faults = [...faultsOfFields(signature, version, scheme), ...faultsSaid(said, means, now)];
  const proof = scheme === undefined ? undefined : proofs[scheme](bundle, signature, means);
  faults.push(...(proof?.faults ?? []));
  if (proof === undefined || faults.length > 0) return err(faults);
  const vouchedBy = proof.prove(said, now);
  return vouchedBy.ok ? ok({ said, vouchedBy: vouchedBy.value, coversItself: version === 3 }) : err([vouchedBy.error]);
};

const fault = (code: SignatureFault['code'], problem: string): SignatureFault => ({ code, problem });

const commonFields: readonly string[] = ['scheme', 'signer', 'key_id', 'signed_at'];

/** Names are shown, and stay short; keys and what they sign with have their own limits. */
const isField = (field: string, value: unknown): value is string =>
  isLine(value) && value.length <= (commonFields.includes(field) ? 1024 : 65_536);

/** The fields that come with a scheme, by version; the last one holds what proves it. */
const fieldsOf = {
  2: {
    'hmac-sha256': ['digest'],
    sshsig: ['namespace', 'public_key', 'public_key_type', 'public_key_fingerprint', 'signature_blob_base64'],
  },
  3: { 'hmac-sha256': ['value'], sshsig: ['public_key', 'public_key_fingerprint', 'value'] },
} as const;

const faultsOfFields = (
  signature: JsonObject,
  version: Bundle['version'],
  scheme: Scheme | undefined,
): readonly SignatureFault[] => {
  const fields: readonly string[] = [...commonFields, ...(scheme === undefined ? [] : fieldsOf[version][scheme])];
  const missing = fields.filter((field) => !isField(field, signature[field]));
  return [
    ...missing.map((field) => fault('field', `its ${field} is missing, or no line of text that is short enough`)),
    ...(scheme !== undefined && Object.keys(signature).some((key) => !fields.includes(key))
      ? [fault('field', `it holds a key that no signature with ${scheme} has`)]
      : []),
  ];
};

const faultsSaid = (
  { scheme, signer, keyId, signedAt }: SaidSignature,
  { required = {} }: SignatureMeans,
  now: string,
): readonly SignatureFault[] => {
  const differs = (what: string, said: string | undefined, wanted: string | undefined): readonly SignatureFault[] =>
    wanted === undefined || said === undefined || said === wanted
      ? []
      : [fault('required', `its ${what} is ${JSON.stringify(said)}, and ${JSON.stringify(wanted)} is required`)];
  const isKnown = scheme === undefined || schemes.some((one) => one === scheme);
  const time = signedAt === undefined ? undefined : timeFault(signedAt);
  const isAhead = signedAt !== undefined && momentOf(signedAt) > Date.parse(now) + clockSkew;
  return [
    ...(isKnown ? [] : [fault('scheme', `its scheme is none that is known: ${schemes.join(' or ')} is`)]),
    ...(time === undefined ? [] : [fault('time', `its signed_at is no time: ${time}`)]),
    ...(time === undefined && isAhead ? [fault('future', `it was signed in the future, at ${signedAt}`)] : []),
    ...differs('scheme', scheme, required.scheme),
    ...differs('signer', signer, required.signer),
    ...differs('key id', keyId, required.keyId),
  ];
};

/** The moment of a time without a fault; a comma may stand before its fraction. */
const momentOf = (time: string): number => Date.parse(time.replace(',', '.'));

/** What a scheme has to say of a signature: what is wrong before anything is computed, and then whether it proves itself. */
interface Proof {
  readonly faults: readonly SignatureFault[];
  readonly prove: (said: SaidSignature, now: string) => Result<VerifiedSignature['vouchedBy'], SignatureFault>;
}

const hmacProof = (
  bundle: Bundle,
  signature: JsonObject,
  { secret, fingerprints, signers }: SignatureMeans,
): Proof => ({
  faults:
    fingerprints === undefined && signers === undefined
      ? []
      : [fault('required', 'it is made with a shared secret, and a key that is known is required')],
  prove: () => {
    if (secret === undefined || secret === '')
      return err(fault('no-secret', 'the secret that it was made with is not given'));
    const digest = hmacOf(secret, signedText(bundle, saidOf(signature)));
    return isSameText(digest, wholeTextAt(signature, proofField(bundle.version, 'hmac-sha256')))
      ? ok('secret')
      : err(fault('broken', 'it is not one with this secret: that is another one, or something was changed'));
  },
});

const sshProof = (bundle: Bundle, signature: JsonObject, means: SignatureMeans): Proof => {
  const { version } = bundle;
  const written = readPublicKey(wholeTextAt(signature, 'public_key'));
  const faults = [
    ...(written.ok ? [] : [fault('key', `its public key ${written.error.problem}`)]),
    ...(written.ok && wholeTextAt(signature, 'public_key_fingerprint') !== written.value.fingerprint
      ? [fault('key', 'its fingerprint is not that of its public key')]
      : []),
    ...(version === 2 && written.ok && wholeTextAt(signature, 'public_key_type') !== written.value.type
      ? [fault('key', 'its public_key_type is not that of its public key')]
      : []),
    ...(version === 2 && wholeTextAt(signature, 'namespace') !== namespace
      ? [fault('field', `its namespace is not ${namespace}`)]
      : []),
    ...(written.ok && means.fingerprints?.includes(written.value.fingerprint) === false
      ? [fault('required', `its key is ${written.value.fingerprint}, and another one is required`)]
      : []),
  ];
  return {
    faults,
    prove: (said, now) => {
      const field = proofField(version, 'sshsig');
      const made = sshSignatureIn(version, wholeTextAt(signature, field));
      if (!made.ok) return err(fault('broken', `its ${field} ${made.error.problem}`));
      const key = made.value.publicKey;
      if (!written.ok || key.fingerprint !== written.value.fingerprint)
        return err(fault('key', 'it was made with another key than the one that it names'));
      const text = signedText(bundle, saidOf(signature));
      const verified = verifySshSignature(made.value, text, namespace);
      if (!verified.ok) return err(fault('broken', `it ${verified.error.problem}`));
      return vouch(key, said, means, now);
    },
  };
};

const proofs: Readonly<Record<Scheme, typeof sshProof>> = { 'hmac-sha256': hmacProof, sshsig: sshProof };

/** Who vouches for the key of a signature that holds. */
const vouch = (
  { fingerprint }: SshPublicKey,
  { signer: principal = '', signedAt = '' }: SaidSignature,
  { fingerprints, signers }: SignatureMeans,
  now: string,
): Result<VerifiedSignature['vouchedBy'], SignatureFault> => {
  if (signers === undefined)
    return fingerprints === undefined
      ? err(fault('unvouched', `its key ${fingerprint} came with the bundle, and nobody here vouches for it`))
      : ok('fingerprint');
  // Whoever signs says when: a key that has expired since could be used for a signature of before.
  const at = [momentOf(signedAt), Date.parse(now)];
  const found = findSigner(signers, { principal, fingerprint, namespace, at });
  return found.ok
    ? ok('allowed-signers')
    : err(fault('not-allowed', `the allowed signers do not vouch for its key ${fingerprint}: ${found.error}`));
};

/** What is needed to sign. */
export interface Signing {
  readonly scheme: Scheme;
  readonly signer: string;
  readonly keyId: string;
  readonly signedAt: string;
  /** The key and the line of its file; undefined for a shared secret. */
  readonly key: { readonly line: string; readonly key: SshPublicKey } | undefined;
}

/** What a signature says of itself; `proven` makes it whole. */
export const signatureSaying = (
  version: Bundle['version'],
  { scheme, signer, keyId, signedAt, key }: Signing,
): JsonObject => ({
  scheme,
  signer,
  key_id: keyId,
  signed_at: signedAt,
  ...(key === undefined
    ? {}
    : version === 2
      ? {
          namespace,
          public_key: key.line,
          public_key_type: key.key.type,
          public_key_fingerprint: key.key.fingerprint,
        }
      : { public_key: key.line, public_key_fingerprint: key.key.fingerprint }),
});

/** The signature with what proves it: the digest of a shared secret, or what `ssh-keygen -Y sign` printed. */
export const proven = (
  version: Bundle['version'],
  said: JsonObject,
  scheme: Scheme,
  proof: string,
): Result<JsonObject, SshFault> => {
  const field = proofField(version, scheme);
  if (scheme === 'hmac-sha256') return ok({ ...said, [field]: proof });
  if (version === 2) return ok({ ...said, [field]: Buffer.from(proof.trim()).toString('base64') });
  const bytes = unarmored(proof);
  return bytes.ok ? ok({ ...said, [field]: Buffer.from(bytes.value).toString('base64') }) : bytes;
};

/** The digest of a text with a shared secret, in hex. */
export const hmacOf = (secret: string, text: string): string => hmacSha256(Buffer.from(secret).toString('hex'), text);

/** What of a signature its text may cover: all but what proves it. */
const saidOf = ({ value: _value, ...said }: JsonObject): JsonObject => said;

const proofField = (version: Bundle['version'], scheme: Scheme): string => fieldsOf[version][scheme].at(-1) ?? '';

/** The signature that `ssh-keygen` made: version 2 holds it with its armor. */
const sshSignatureIn = (version: Bundle['version'], text: string): Result<SshSignature, SshFault> => {
  const bytes = base64Bytes(text);
  if (bytes === undefined) return err({ code: 'malformed', problem: 'is not base64' });
  const blob = version === 2 ? unarmored(bytes.toString()) : ok(bytes);
  return blob.ok ? readSshSignature(blob.value) : blob;
};
