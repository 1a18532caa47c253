import { optionalText } from '../../kernel/fields.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { WrittenFiles } from '../../kernel/verb.ts';
import { readAllowedSigners } from '../../lib/allowed-signers.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import type { Clock } from '../../lib/written-time.ts';
import type { SignatureMeans } from './signature.ts';

/** What a caller brings to have a signature checked, or to sign with: secrets and files of keys. */

/** The variable that holds the shared secret where nobody names another one. */
export const usualSecretVariable = 'HANDOFF_BUNDLE_SIGNING_SECRET';

/** The fields that say where a shared secret is. */
export const secretFields = () => ({
  secret_file: optionalText('The file with the secret that both sides share.'),
  secret_env: optionalText(`The variable with the secret, where no file has it. Default: ${usualSecretVariable}.`),
});

/** What such fields say. */
export interface SecretInput {
  readonly secret_file?: string | undefined;
  readonly secret_env?: string | undefined;
}

/** What is asked for secrets and files. */
export interface Keyring {
  readonly files: Pick<WrittenFiles, 'readNamed'>;
  readonly variable: (name: string) => string | undefined;
}

/** The shared secret, without the white space around it; undefined where its variable says none. */
export const readSecret = (
  { files, variable }: Keyring,
  { secret_file: file, secret_env: name = usualSecretVariable }: SecretInput,
): Result<string | undefined, Refusal> => {
  if (file === undefined) {
    const secret = variable(name)?.trim();
    return ok(secret === '' ? undefined : secret);
  }
  const text = readKeyFile(files, file, 'the secret');
  if (!text.ok) return text;
  const secret = text.value.trim();
  return secret === ''
    ? err(refuse('invalid-input', `The file of the secret ${file} is empty.`, { expected: 'the secret in a line' }))
    : ok(secret);
};

/** The keys of a file of allowed signers. */
export const readSigners = (
  files: Keyring['files'],
  file: string,
  { offsetAt }: Clock,
): Result<NonNullable<SignatureMeans['signers']>, Refusal> => {
  const text = readKeyFile(files, file, 'the allowed signers');
  if (!text.ok) return text;
  const signers = readAllowedSigners(text.value, offsetAt);
  return signers.ok
    ? signers
    : err(
        refuse('invalid-input', `${file} is no file of allowed signers: ${signers.error[0] ?? ''}.`, {
          expected: 'lines of ALLOWED SIGNERS in ssh-keygen(1): names, options perhaps, and a public key',
          faults: signers.error,
        }),
      );
};

/** A file of a secret or of keys is no larger. */
const mostBytes = 1024 * 1024;

/** The text of a file that holds a secret, or keys. */
export const readKeyFile = (files: Keyring['files'], file: string, what: string): Result<string, Refusal> => {
  const read = files.readNamed(file, mostBytes);
  if (read.ok) return ok(read.value.text);
  const { problem, isMissing } = read.error;
  return err(
    refuse(isMissing ? 'not-found' : 'invalid-input', `The file of ${what} ${file} ${problem}.`, {
      expected: `a file with ${what}`,
    }),
  );
};
