import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { armored, createKey, sshsig, withoutSsh } from '../../test/support/ssh.ts';
import { findSigner, readAllowedSigners } from './allowed-signers.ts';
import { readPublicKey } from './ssh-key.ts';
import { messageOf } from './ssh-wire.ts';

const { line: key, sign: signWith, blob } = createKey('ed25519');
const [type, base64] = key.split(' ');
const bare = `${type} ${base64}`;
const other = createKey('ecdsa256').line;
const utc = (): number => 0;
const noon = '2026-06-15T12:00:00.000Z';

/** Why a file does not vouch for the key; `line N` where it does. */
const verdictOf = (file: string, principal: string, at = noon, offsetAt = utc): string => {
  const signers = readAllowedSigners(file, offsetAt);
  if (!signers.ok) return signers.error.join('; ');
  const parsed = readPublicKey(key);
  assert.ok(parsed.ok);
  const { fingerprint } = parsed.value;
  const found = findSigner(signers.value, { principal, fingerprint, namespace: 'test', at: [Date.parse(at)] });
  return found.ok ? `line ${found.value.line}` : found.error;
};

/** Files, who is asked for, and what comes of it. */
const rows: readonly (readonly [file: string, principal: string, verdict: string])[] = [
  [`ana ${key}`, 'ana', 'line 1'],
  [`\n# ana\n\n  ana\t${key}\r\n`, 'ana', 'line 4'],
  [`"ana,ben" ${key}`, 'ben', 'line 1'],
  [`ana,ben ${bare}`, 'ben', 'line 1'],
  [`ana ${key}`, 'Ana', 'no line names the signer'],
  [`ana ${key}`, 'anab', 'no line names the signer'],
  [`ana ${key}`, '', 'no line names the signer'],
  [`*@example.com ${key}`, 'ana@example.com', 'line 1'],
  [`*@example.com ${key}`, 'ana@example.com.evil', 'no line names the signer'],
  [`a?a ${key}`, 'ana', 'line 1'],
  [`*,!ana ${key}`, 'ana', 'no line names the signer'],
  [`*,!ana ${key}`, 'ben', 'line 1'],
  [`!ana ${key}`, 'ben', 'no line names the signer'],
  [`ana ${other}`, 'ana', 'it has other keys for the signer'],
  [`ana ${other}\nana ${key}`, 'ana', 'line 2'],
  [`ana namespaces="test" ${key}`, 'ana', 'line 1'],
  [`ana namespaces="git,te*" ${key}`, 'ana', 'line 1'],
  [`ana namespaces="git" ${key}`, 'ana', 'line 1 is not for the namespace test'],
  [`ana namespaces="*,!test" ${key}`, 'ana', 'line 1 is not for the namespace test'],
  [`ana NAMESPACES="test",valid-after="20260101Z" ${key}`, 'ana', 'line 1'],
  [`ana valid-after="20260101Z",valid-before="20270101Z" ${key}`, 'ana', 'line 1'],
  [`ana valid-after="20260701Z" ${key}`, 'ana', 'the key of line 1 is not valid yet'],
  [`ana valid-before="202606151159Z" ${key}`, 'ana', 'the key of line 1 is not valid any more'],
  [`ana valid-before="20260615120000Z" ${key}`, 'ana', 'line 1'],
  [`ana valid-before="20260101Z" ${key}\nana ${key}`, 'ana', 'line 2'],
  [`ana cert-authority ${key}`, 'ana', 'line 1 names a certificate authority, and certificates are not followed'],
  [`ana cert-authority ${key}\nana ${key}`, 'ana', 'line 2'],
  [`ana ssh-dss ${messageOf('ssh-dss', 'x').toString('base64')}\nana ${key}`, 'ana', 'line 2'],
];

test('a file of signers vouches for a key by names, negated ones, purposes and times', () => {
  for (const [file, principal, verdict] of rows) assert.equal(verdictOf(file, principal), verdict, file);
});

test('a time without a zone is a local one', () => {
  const file = `ana valid-after="202606151300" ${key}`;
  assert.equal(
    verdictOf(file, 'ana', noon, () => 120),
    'line 1',
  );
  assert.equal(verdictOf(file, 'ana', noon, utc), 'the key of line 1 is not valid yet');
});

test('a line that says nothing makes the file one that is not taken, and each is told', () => {
  const bad: readonly (readonly [string, string])[] = [
    ['ana', 'line 1 does not begin with names and go on with a key'],
    [`"ana ${key}`, 'line 1 does not begin with names and go on with a key'],
    [key, 'line 1 has an option that is not known, or no public key'],
    [`ana ssh-ed25519 AAAA`, 'line 1 has an option that is not known, or no public key'],
    [`ana namespaces=test ${key}`, 'line 1 has an option that is not known, or no public key'],
    [`ana namespaces="test ${key}`, 'line 1 has an option that is not known, or no public key'],
    [`ana namespaces="test", ${key}`, 'line 1 has an option that is not known, or no public key'],
    [`ana cert-authority="x" ${key}`, 'line 1 has an option that is not known, or no public key'],
    [`ana namespaces="a",namespaces="test" ${key}`, 'line 1 has the option namespaces twice'],
    [`ana valid-after="20260230Z" ${key}`, 'line 1 has a time that is none'],
    [`ana valid-after="2026Z" ${key}`, 'line 1 has a time that is none'],
    [`ana valid-after="20270101Z",valid-before="20260101Z" ${key}`, 'line 1 ends to be valid before it begins to'],
  ];
  for (const [file, fault] of bad) assert.equal(verdictOf(file, 'ana'), fault, file);
  assert.equal(
    verdictOf(`ana\nben ${key}\nana namespaces="test"`, 'ben'),
    'line 1 does not begin with names and go on with a key; line 3 holds no public key',
  );
});

test('a pattern made to be slow is not', () => {
  const stars = '*a'.repeat(2000);
  assert.equal(verdictOf(`${stars}b ${key}`, 'a'.repeat(20_000)), 'no line names the signer');
});

test('ssh-keygen says the same of every file', { skip: withoutSsh }, (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-ssh-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const [allowed, signature] = [join(folder, 'allowed'), join(folder, 'signature')];
  writeFileSync(signature, armored(sshsig({ line: key, blob, sign: signWith }, 'a text')));
  const time = noon.replaceAll(/[-:T]|\.000/g, '');
  for (const [file, principal, verdict] of rows.filter(([, name]) => name !== '')) {
    writeFileSync(allowed, `${file}\n`);
    const words = ['-Y', 'verify', '-f', allowed, '-I', principal, '-n', 'test', '-s', signature];
    const { status } = spawnSync('ssh-keygen', [...words, `-Overify-time=${time}`], { input: 'a text' });
    assert.equal(status === 0, /^line \d+$/.test(verdict), `${file}: ${verdict}, ssh-keygen ended with ${status}`);
  }
});
