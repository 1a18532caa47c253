import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { armored, createKey, keyFiles, sshsig, withoutSsh, type Parts } from '../../test/support/ssh.ts';
import { readSshSignature, unarmored, verifySshSignature } from './ssh-signature.ts';

const message = 'a text, and another line\n';

/** What becomes of a signature: the code of its fault, or `verified`. */
const verdictOf = (bytes: Uint8Array, text = message, namespace = 'test'): string => {
  const signature = readSshSignature(bytes);
  if (!signature.ok) return signature.error.code;
  const verified = verifySshSignature(signature.value, text, namespace);
  return verified.ok ? 'verified' : verified.error.code;
};

test('a signature holds over its text and for its purpose, and for no other', () => {
  for (const type of ['ed25519', 'ecdsa256', 'ecdsa384', 'ecdsa521', 'rsa', 'rsa-256', 'ed25519-sk', 'ecdsa-sk']) {
    const key = createKey(type);
    for (const hash of ['sha256', 'sha512']) {
      const bytes = sshsig(key, message, { hash });
      assert.equal(verdictOf(bytes), 'verified', `${type} ${hash}`);
      assert.equal(verdictOf(bytes, `${message} `), 'mismatch');
      assert.equal(verdictOf(bytes, message, 'another'), 'mismatch');
      const unwrapped = unarmored(armored(bytes));
      assert.ok(unwrapped.ok);
      assert.deepEqual(Buffer.from(unwrapped.value), bytes);
    }
  }
});

test('a signature with something else in it is refused, each by its kind', () => {
  const key = createKey('ed25519');
  const other = createKey('ed25519');
  const rows: readonly (readonly [Parts, string])[] = [
    [{ version: 2 }, 'unsupported'],
    [{ hash: 'sha1' }, 'unsupported'],
    [{ hash: 'md5' }, 'unsupported'],
    [{ reserved: 'x' }, 'unsupported'],
    [{ namespace: '' }, 'mismatch'],
    [{ key: other.blob }, 'mismatch'],
    [{ key: Buffer.from('x') }, 'malformed'],
    [{ key: createKey('ecdsa256').blob }, 'unsupported'],
    [{ key: createKey('rsa-short').blob }, 'unsupported'],
    [{ signature: Buffer.alloc(0) }, 'malformed'],
  ];
  for (const [parts, code] of rows) assert.equal(verdictOf(sshsig(key, message, parts)), code, JSON.stringify(parts));
  assert.equal(verdictOf(Buffer.concat([sshsig(key, message), Buffer.alloc(1)])), 'malformed');
  assert.equal(verdictOf(Buffer.alloc(0)), 'malformed');
});

test('what is not in its armor is none', () => {
  const text = armored(sshsig(createKey('ed25519'), message));
  const bad = [
    '',
    text.replace('BEGIN', 'begin'),
    text.slice(0, -8),
    text.replace('\n', '\n=\n'),
    text.replace('U1NI', 'U1N '),
    `-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----`,
    `-----BEGIN SSH SIGNATURE-----`,
    `-----BEGIN SSH SIGNATURE-----\n${'A'.repeat(100_000)}\n-----END SSH SIGNATURE-----`,
  ];
  for (const one of bad) assert.equal(unarmored(one).ok, false, one.slice(0, 80));
  assert.equal(unarmored(text.replaceAll('\n', '\r\n')).ok, true);
});

test('whatever byte is changed, cut off or added: nothing is thrown, and it does not hold', () => {
  for (const type of ['ed25519', 'ecdsa521', 'rsa', 'ed25519-sk']) {
    const bytes = sshsig(createKey(type), message);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const copy = Buffer.from(bytes);
        copy[at] = (copy[at] ?? 0) ^ change;
        assert.notEqual(verdictOf(copy), 'verified');
        assert.notEqual(verdictOf(bytes.subarray(0, at)), 'verified');
        assert.notEqual(verdictOf(Buffer.concat([bytes, copy.subarray(at)])), 'verified');
      }),
      { numRuns: 150 },
    );
  }
});

test(
  'what ssh-keygen signs holds here, and what is made here holds for ssh-keygen',
  { skip: withoutSsh },
  (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'stint-ssh-'));
    context.after(() => rmSync(folder, { recursive: true }));
    for (const [type, bits] of [['ed25519'], ['ecdsa', '256'], ['ecdsa', '384'], ['ecdsa', '521'], ['rsa', '2048']]) {
      const path = join(folder, `${type}-${bits}`);
      keyFiles(path, type ?? '', ...(bits === undefined ? [] : ['-b', bits]));
      for (const hash of ['sha256', 'sha512']) {
        const signed = execFileSync('ssh-keygen', ['-Y', 'sign', '-f', path, '-n', 'test', '-O', `hashalg=${hash}`], {
          input: message,
          stdio: ['pipe', 'pipe', 'ignore'],
          encoding: 'utf8',
        });
        const bytes = unarmored(signed);
        assert.ok(bytes.ok);
        assert.equal(verdictOf(bytes.value), 'verified', `${type} ${hash}`);
        assert.equal(verdictOf(bytes.value, 'another'), 'mismatch');
      }
    }
    for (const type of ['ed25519', 'ecdsa256', 'ecdsa384', 'ecdsa521', 'rsa', 'rsa-256', 'ed25519-sk', 'ecdsa-sk']) {
      const key = createKey(type);
      const [allowed, signature] = [join(folder, 'allowed'), join(folder, 'signature')];
      writeFileSync(allowed, `ana ${key.line}\n`);
      writeFileSync(signature, armored(sshsig(key, message)));
      const verified = spawnSync(
        'ssh-keygen',
        ['-Y', 'verify', '-f', allowed, '-I', 'ana', '-n', 'test', '-s', signature],
        {
          input: message,
          encoding: 'utf8',
        },
      );
      assert.equal(verified.status, 0, `${type}: ${verified.stdout}${verified.stderr}`);
    }
  },
);
