import * as v from 'valibot';
import { printBundle, readBundle, signedText } from '../formats/bundle/bundle.ts';
import { readBundleFile } from '../formats/bundle/file.ts';
import { readKeyFile, readSecret, secretFields, usualSecretVariable } from '../formats/bundle/means.ts';
import type { Bundle } from '../formats/bundle/parts.ts';
import {
  hmacOf,
  namespace,
  proven,
  schemes,
  signatureSaying,
  verifySignature,
  type Scheme,
  type SignatureMeans,
  type Signing,
} from '../formats/bundle/signature.ts';
import { timeFault } from '../formats/handoff/document.ts';
import { reportText } from '../formats/handoff/verdict.ts';
import { textAt } from '../kernel/answer.ts';
import { choice, flag, optionalText, requiredName, requiredText } from '../kernel/fields.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { defineVerb, type Apart } from '../kernel/verb.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { readPublicKey } from '../lib/ssh-key.ts';
import { shellWord } from '../lib/text.ts';

/** What is said on the command line. */
interface Input {
  readonly scheme?: Scheme | undefined;
  readonly signer: string;
  readonly key_id: string;
  readonly secret_file?: string | undefined;
  readonly secret_env?: string | undefined;
  readonly private_key_file?: string | undefined;
  readonly public_key_file?: string | undefined;
  readonly signed_at?: string | undefined;
  readonly force?: boolean | undefined;
}

export const bundleSign = defineVerb({
  name: 'bundle sign',
  summary: 'Sign a bundle: say who sends it, and when.',
  details: `The signature is put into the file. hmac-sha256 is made with a secret that both sides share, of --secret-file or of its variable; sshsig with a key of OpenSSH, by ssh-keygen: --private-key-file, with the public one beside it (.pub) or in --public-key-file; or --public-key-file alone, where an agent holds the other half. Nobody is asked for a passphrase.

A bundle of version 3 is signed together with signer, key id, time and key. One of version 2 is signed as the original does, which covers none of them.

The bundle is read as bundle inspect reads it, and what was made is verified before it takes the place of the file, in one step: whatever goes wrong (another public key, a full disk, a time ahead of now), the bundle stays what it was. One that is signed already is refused (9) without --force.`,
  examples: [
    'stint bundle sign --bundle work.json --signer ana --key-id 2026 --secret-file ../secret',
    'stint bundle sign --bundle work.json --signer ana@example.com --key-id laptop --scheme sshsig --private-key-file ~/.ssh/id_ed25519',
  ],
  input: () =>
    v.strictObject({
      bundle: requiredText('The file of the bundle.'),
      signer: requiredName('Who signs.'),
      key_id: requiredName('What the key is called, so that it can be told from the one before and the next one.'),
      scheme: v.optional(choice(schemes, 'How it is signed, the first where nothing is said')),
      ...secretFields(),
      private_key_file: optionalText('The file of the private key, for sshsig.'),
      public_key_file: optionalText(
        'The file of the public key. Default: that of the private one, with .pub behind it.',
      ),
      signed_at: v.optional(
        v.pipe(
          v.string('expected a text'),
          v.check(
            (time) => timeFault(time) === undefined,
            ({ input }) => `is no time: ${typeof input === 'string' ? timeFault(input) : ''}`,
          ),
          v.description('When it is signed: ISO 8601 with an offset. Default: now.'),
        ),
      ),
      force: flag('Replace the signature that is there.'),
    }),
  contradiction: ({ scheme, private_key_file: privateKey, public_key_file: publicKey, secret_file: secret }) => {
    const hasKey = privateKey !== undefined || publicKey !== undefined;
    if (scheme !== 'sshsig') return hasKey ? 'a key is for --scheme sshsig' : undefined;
    if (secret !== undefined) return 'a secret is for --scheme hmac-sha256';
    return hasKey ? undefined : 'sshsig needs --private-key-file, or --public-key-file of a key that an agent holds';
  },
  does: {
    apart: async (tools, { bundle: named, ...input }) => {
      const { path, read } = await readBundleFile({ project: async () => tools.files }, named);
      const { scheme = 'hmac-sha256', signer, key_id: keyId } = input;
      const report = {
        result: 'error',
        bundle_path: path,
        signer,
        key_id: keyId,
        scheme,
        public_key_fingerprint: 'None',
        signed_at: input.signed_at ?? 'None',
        warnings: [],
        errors: [],
      };
      const failed = (refusal: Refusal, errors: readonly string[] = [refusal.message]) =>
        err({ report: { ...report, errors: [...errors] }, refusal });
      if (!read.ok) return failed(read.error.refusal, read.error.errors);
      if (read.value.signature !== undefined && input.force !== true) return failed(refuseSigned(named, path));
      const made = await sign(tools, read.value, scheme, input);
      if (!made.ok) return failed(made.error);
      const problem = replace(tools, path, made.value.text);
      if (problem !== undefined)
        return failed(
          refuse('invariant-unmet', `${path} ${problem}.`, {
            expected: 'a bundle that can be replaced; it is what it was',
          }),
        );
      const { signing, warnings } = made.value;
      return ok({
        ...report,
        result: 'signed',
        public_key_fingerprint: signing.key?.key.fingerprint ?? 'None',
        signed_at: signing.signedAt,
        warnings: [...warnings],
      });
    },
  },
  text: (answer) =>
    reportText(
      answer,
      labels.map(([label, key]) => [label, textAt(answer, key)]),
    ),
});

const labels = [
  ['Result', 'result'],
  ['Bundle', 'bundle_path'],
  ['Signer', 'signer'],
  ['Key id', 'key_id'],
  ['Scheme', 'scheme'],
  ['Public key fingerprint', 'public_key_fingerprint'],
  ['Signed at', 'signed_at'],
] as const;

const refuseSigned = (named: string, path: string): Refusal =>
  refuse('conflict', `${path} is signed already; --force replaces the signature.`, {
    expected: 'a bundle without a signature, or --force',
    hint: `stint bundle verify --bundle ${shellWord(named)}`,
  });

/** A signed bundle: the text of its file, what was signed, and what is to be known of that. */
interface Signed {
  readonly text: string;
  readonly signing: Signing;
  readonly warnings: readonly string[];
}

/** Signs a bundle; the signature holds with what it was made with. */
const sign = async (tools: Apart, bundle: Bundle, scheme: Scheme, input: Input): Promise<Result<Signed, Refusal>> => {
  const { signer, key_id: keyId } = input;
  const { now } = tools.clock;
  const maker = scheme === 'sshsig' ? keyOf(tools, input) : secretOf(tools, input);
  if (!maker.ok) return maker;
  const { key, means, prove, warnings } = maker.value;
  // The original knows no Z.
  const signedAt = input.signed_at ?? (bundle.version === 2 ? now.replace(/\.\d+Z$/, '+00:00') : now);
  const signing = { scheme, signer, keyId, signedAt, key };
  const said = signatureSaying(bundle.version, signing);
  const proof = await prove(signedText(bundle, said));
  if (!proof.ok) return proof;
  const signature = proven(bundle.version, said, scheme, proof.value);
  if (!signature.ok) return err(refuse('invariant-unmet', `What ssh-keygen printed ${signature.error.problem}.`));
  const { signature: _replaced, ...unsigned } = bundle.value;
  const text = printBundle(bundle.version, { ...unsigned, signature: signature.value });
  const again = readBundle(text);
  const verified = again.ok ? verifySignature(again.value, means, now) : err([]);
  if (verified.ok) return ok({ text, signing, warnings });
  return err(
    refuse('invariant-unmet', `The signature would not hold: ${verified.error[0]?.problem ?? 'the bundle changed'}.`, {
      expected: 'a key and its own public key, and a time that has come',
      faults: verified.error.map(({ problem }) => problem),
    }),
  );
};

/** What signs: a key perhaps, what its signatures are verified with, and how it signs a text. */
interface Maker {
  readonly key: Signing['key'];
  readonly means: SignatureMeans;
  readonly prove: (text: string) => Promise<Result<string, Refusal>>;
  readonly warnings: readonly string[];
}

/** A secret that is shorter can be guessed by whoever sees what was signed with it. */
const shortSecret = 16;

const secretOf = (tools: Apart, input: Input): Result<Maker, Refusal> => {
  const secret = readSecret(tools, input);
  if (!secret.ok) return secret;
  const { value } = secret;
  if (value === undefined)
    return err(
      refuse('invariant-unmet', 'There is no secret to sign with.', {
        expected: `--secret-file FILE, or the secret in ${input.secret_env ?? usualSecretVariable}`,
      }),
    );
  return ok({
    key: undefined,
    means: { secret: value },
    prove: async (text) => ok(hmacOf(value, text)),
    warnings:
      value.length < shortSecret
        ? [`the secret has fewer than ${shortSecret} characters: whoever sees the bundle could guess it`]
        : [],
  });
};

const keyOf = (
  tools: Apart,
  { private_key_file: privateKey, public_key_file: publicKey }: Input,
): Result<Maker, Refusal> => {
  const file = publicKey ?? `${privateKey}.pub`;
  const text = readKeyFile(tools.files, file, 'the public key');
  if (!text.ok)
    return privateKey === undefined || text.error.code !== 'not-found'
      ? text
      : err({ ...text.error, hint: `ssh-keygen -y -f ${shellWord(privateKey)} > ${shellWord(file)}` });
  const line = text.value.trim();
  const key = readPublicKey(line);
  if (!key.ok)
    return err(
      refuse('invalid-input', `${file} is not taken as a public key: it ${key.error.problem}.`, {
        expected: 'a line as ssh-keygen writes it to a .pub file',
      }),
    );
  return ok({
    key: { line, key: key.value },
    means: { fingerprints: [key.value.fingerprint] },
    prove: async (signed) => tools.signWithSsh(privateKey ?? file, namespace, signed),
    warnings: [],
  });
};

/** Puts a text in the place of a file, in one step; answers why it was not. */
const replace = ({ files }: Apart, path: string, text: string): string | undefined => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return files.write(path.slice(0, -name.length), name, text);
};
