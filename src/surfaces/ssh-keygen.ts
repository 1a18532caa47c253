import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { resolve as resolvePath } from 'node:path';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import type { SignWithSsh } from '../kernel/verb.ts';
import { errnoCode, fileProblem } from '../lib/atomic-file.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { oneLine, shellWord, truncate } from '../lib/text.ts';

/** How long a signature is waited for, in milliseconds: a person may have to touch a device, or to confirm it to an agent. */
const patience = 60_000;

/** How much of what it prints is kept. */
const mostPrinted = 65_536;

/** Who calls it, and from where. */
interface Caller {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Signs with `ssh-keygen -Y sign`. It runs without a terminal and without a window for passphrases, so that it fails where
 * it would ask: a key with a passphrase has to be held by an agent.
 */
export const signWithSsh = async (
  { cwd, env }: Caller,
  ...[keyFile, namespace, text]: Parameters<SignWithSsh>
): Promise<Result<string, Refusal>> => {
  const path = resolvePath(cwd, keyFile);
  const unusable = refuseKeyFile(path, keyFile);
  if (unusable !== undefined) return err(unusable);
  const end = await run(['-Y', 'sign', '-f', path, '-n', namespace], { cwd, env }, text);
  if (end.kind === 'no program')
    return err(
      refuse('invariant-unmet', 'There is no ssh-keygen here, which signs with the keys of OpenSSH.', {
        expected: 'ssh-keygen on the PATH',
        hint: 'install the client of OpenSSH, or sign with --scheme hmac-sha256',
      }),
    );
  if (end.kind === 'too long') return err(refuse('busy', 'ssh-keygen did not sign in a minute, and was stopped.'));
  return end.code === 0 ? ok(end.printed) : err(refuseFailure(keyFile, end.said));
};

/** A private key that others may read is one that ssh-keygen does not use; it says so in six lines. */
const refuseKeyFile = (path: string, keyFile: string): Refusal | undefined => {
  const isPublic = path.endsWith('.pub');
  const expected = `the file of a ${isPublic ? 'public' : 'private'} key`;
  try {
    const found = statSync(path);
    if (!found.isFile()) return refuse('invalid-input', `${keyFile} is no file.`, { expected });
    const { uid, mode } = found;
    if (isPublic || uid !== process.getuid?.() || (mode & 0o077) === 0) return undefined;
    return refuse('invariant-unmet', `Others may read the private key ${keyFile}.`, {
      expected: 'a private key that nobody else may read',
      hint: `chmod 600 ${shellWord(keyFile)}`,
    });
  } catch (error) {
    const { problem, code } = fileProblem(keyFile, error);
    return refuse(code === 'ENOENT' ? 'not-found' : 'invalid-input', `${keyFile} ${problem}.`, { expected });
  }
};

/** What ssh-keygen says where it does not sign, and what that means. */
const refuseFailure = (keyFile: string, said: string): Refusal => {
  const addKey = `ssh-add ${shellWord(keyFile.replace(/\.pub$/, ''))}`;
  if (/passphrase/i.test(said))
    return refuse('invariant-unmet', `The private key ${keyFile} has a passphrase, and nobody is asked for it.`, {
      expected: 'a key without a passphrase, or one that an agent holds',
      hint: addKey,
    });
  if (/no private key found for public key/i.test(said))
    return refuse('invariant-unmet', `No agent holds the private key of ${keyFile}.`, {
      expected: 'an agent that holds it (SSH_AUTH_SOCK), or --private-key-file',
      hint: addKey,
    });
  const [reason = 'it does not say why'] = said
    .trim()
    .split('\n')
    .map((line) => oneLine(line))
    .toReversed();
  return refuse('invariant-unmet', `ssh-keygen did not sign with ${keyFile}: ${truncate(reason, 200)}.`, {
    expected: 'a key that ssh-keygen can sign with',
  });
};

type End =
  | { readonly kind: 'ended'; readonly code: number | null; readonly printed: string; readonly said: string }
  | { readonly kind: 'no program' }
  | { readonly kind: 'too long' };

const run = async (args: readonly string[], { cwd, env }: Caller, input: string): Promise<End> =>
  new Promise((resolve, reject) => {
    const child = spawn('ssh-keygen', args, {
      cwd,
      env: { ...env, LC_ALL: 'C', SSH_ASKPASS_REQUIRE: 'never' },
      stdio: 'pipe',
      // Its own session has no terminal.
      detached: true,
      windowsHide: true,
    });
    let [printed, said] = ['', ''];
    child.stdout
      .setEncoding('utf8')
      .on('data', (piece: string) => void (printed = (printed + piece).slice(0, mostPrinted)));
    child.stderr.setEncoding('utf8').on('data', (piece: string) => void (said = (said + piece).slice(0, mostPrinted)));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      resolve({ kind: 'too long' });
    }, patience);
    child.once('error', (error) => {
      clearTimeout(timer);
      if (errnoCode(error) === 'ENOENT') resolve({ kind: 'no program' });
      else reject(error);
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ kind: 'ended', code, printed, said });
    });
    // It may end before it has read everything, and says why itself.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
