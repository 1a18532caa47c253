import * as v from 'valibot';
import { readBundleFile } from '../formats/bundle/file.ts';
import { readSecret, readSigners, secretFields } from '../formats/bundle/means.ts';
import {
  schemes,
  signatureOf,
  verifySignature,
  type SignatureFault,
  type SignatureMeans,
} from '../formats/bundle/signature.ts';
import { itemsText } from '../formats/handoff/verdict.ts';
import { fieldLines, textAt, textsAt } from '../kernel/answer.ts';
import { choice, optionalText, requiredText } from '../kernel/fields.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { defineVerb, type Apart } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { shellWord } from '../lib/text.ts';

/** What is said on the command line. */
interface Input {
  readonly secret_file?: string | undefined;
  readonly secret_env?: string | undefined;
  readonly allowed_signers?: string | undefined;
  readonly required_signer?: string | undefined;
  readonly required_key_id?: string | undefined;
  readonly required_scheme?: string | undefined;
  readonly required_public_key_fingerprint?: string | undefined;
}

export const bundleVerify = defineVerb({
  name: 'bundle verify',
  summary: 'Does the signature of a bundle hold, and who vouches for its key?',
  details: `Nothing is written. Where the answer is no (11), errors and faults have every reason, and what is wrong with what the signature says of itself comes before anything is computed.

hmac-sha256 needs the secret, of --secret-file or of its variable. sshsig is verified by stint itself, and needs somebody who vouches for the key, because anybody can make one and call himself whatever he likes: --required-public-key-fingerprint, or --allowed-signers with a file as ssh-keygen -Y verify reads it (names with * and ?, namespaces="handoff-bundle", valid-after, valid-before; the key has to be valid now and when it signed; a certificate authority vouches for nobody). Keys of the types ssh-ed25519, ecdsa-sha2-nistp256, -384 and -521, ssh-rsa with 2048 bits or more and SHA-2, and those of security keys are taken.

In version 3 the signature covers signer, key id, time and key (metadata is authenticated). In version 2 anybody may have changed these: a warning says so, and what is sure is the key alone. A time more than two minutes ahead is refused.`,
  examples: [
    'stint bundle verify --bundle work.json --secret-file ../secret',
    'stint bundle verify --bundle work.json --required-public-key-fingerprint SHA256:itm4L3OHsZjl0wjkPFNubvGcINnc0y3EZororS//s88',
    'stint bundle verify --bundle work.json --allowed-signers .github/allowed_signers --required-signer ana@example.com',
  ],
  input: () =>
    v.strictObject({
      bundle: requiredText('The file of the bundle.'),
      ...secretFields(),
      allowed_signers: optionalText('The file that says which keys are whose.'),
      required_signer: optionalText('Who has to have signed it.'),
      required_key_id: optionalText('The key id that it has to say.'),
      required_scheme: v.optional(choice(schemes, 'How it has to be signed')),
      required_public_key_fingerprint: optionalText(
        'The key that it has to be signed with, as ssh-keygen -l prints it.',
      ),
    }),
  does: {
    apart: async (tools, { bundle: named, ...input }) => {
      const { path, read } = await readBundleFile({ project: async () => tools.files }, named);
      const unread = { ...nothingSaid, bundle_path: path };
      if (!read.ok) return err({ report: { ...unread, errors: [...read.error.errors] }, refusal: read.error.refusal });
      const bundle = read.value;
      const said = signatureOf(bundle);
      const report = {
        ...unread,
        signer: said.signer ?? 'unknown',
        key_id: said.keyId ?? 'unknown',
        scheme: said.scheme ?? 'unknown',
        public_key_fingerprint: said.fingerprint ?? 'unknown',
        signed_at: said.signedAt ?? 'unknown',
        bundle_version: bundle.version,
      };
      const means = meansOf(tools, input, said.scheme);
      if (!means.ok) return err({ report: { ...report, errors: [means.error.message] }, refusal: means.error });
      const verified = verifySignature(bundle, means.value, tools.clock.now);
      if (!verified.ok) {
        const faults = verified.error.map(({ code, problem }) => ({ code, problem }));
        const errors = faults.map(({ problem }) => problem);
        return err({ report: { ...report, errors, faults }, refusal: refuseSignature(named, path, verified.error) });
      }
      const { vouchedBy, coversItself } = verified.value;
      return ok({
        ...report,
        result: 'verified',
        vouched_by: vouchedBy,
        metadata: coversItself ? 'authenticated' : 'unauthenticated',
        warnings: coversItself
          ? []
          : ['a signature of version 2 does not cover signer, key id and time: they may have been changed'],
      });
    },
  },
  text: (answer) =>
    [
      fieldLines(labels.map(([label, key]) => [label, textAt(answer, key)])),
      ...(textsAt(answer, 'warnings').length === 0 ? [] : itemsText(answer, 'Warnings', 'warnings')),
      ...itemsText(answer, 'Errors', 'errors'),
    ].join('\n'),
});

const labels = [
  ['Result', 'result'],
  ['Bundle', 'bundle_path'],
  ['Signer', 'signer'],
  ['Key id', 'key_id'],
  ['Scheme', 'scheme'],
  ['Public key fingerprint', 'public_key_fingerprint'],
  ['Signed at', 'signed_at'],
  ['Vouched by', 'vouched_by'],
  ['Metadata', 'metadata'],
] as const;

/** What is reported where nothing is known. */
const nothingSaid = {
  result: 'error',
  signer: 'unknown',
  key_id: 'unknown',
  scheme: 'unknown',
  public_key_fingerprint: 'unknown',
  signed_at: 'unknown',
  bundle_version: 'unknown' as number | string,
  vouched_by: null as string | null,
  metadata: null as string | null,
  warnings: [] as readonly string[],
  errors: [] as readonly string[],
  faults: [] as readonly JsonObject[],
} satisfies JsonObject;

/** What the command line brings; of a secret only where the signature is made with one. */
const meansOf = (tools: Apart, input: Input, scheme: string | undefined): Result<SignatureMeans, Refusal> => {
  const secret = scheme === 'hmac-sha256' ? readSecret(tools, input) : ok(undefined);
  if (!secret.ok) return secret;
  const { allowed_signers: file, required_public_key_fingerprint: fingerprint } = input;
  const signers = file === undefined ? ok(undefined) : readSigners(tools.files, file, tools.clock);
  if (!signers.ok) return signers;
  return ok({
    secret: secret.value,
    signers: signers.value,
    fingerprints: fingerprint === undefined ? undefined : [fingerprint],
    required: { scheme: input.required_scheme, signer: input.required_signer, keyId: input.required_key_id },
  });
};

const refuseSignature = (named: string, path: string, faults: readonly SignatureFault[]): Refusal => {
  const [first] = faults;
  const others = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
  return refuse('untrusted', `${path} is not verified: ${first?.problem ?? ''}${others}.`, {
    expected: 'a signature that holds, with a key that somebody vouches for',
    faults: faults.map(({ problem }) => problem),
    ...hintFor(first?.code, shellWord(named)),
  });
};

const hintFor = (code: SignatureFault['code'] | undefined, bundle: string): { readonly hint?: string } => {
  const verify = `stint bundle verify --bundle ${bundle}`;
  switch (code) {
    case 'unsigned':
      return { hint: `stint bundle sign --bundle ${bundle} --signer NAME --key-id ID` };
    case 'no-secret':
      return { hint: `${verify} --secret-file FILE` };
    case 'unvouched':
      return {
        hint: `ask the signer for the fingerprint of the key, then ${verify} --required-public-key-fingerprint FINGERPRINT`,
      };
    case 'not-allowed':
    case 'required':
    case 'scheme':
    case 'field':
    case 'time':
    case 'future':
    case 'key':
    case 'broken':
    case undefined:
      return {};
  }
};
