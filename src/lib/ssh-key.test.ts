import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { createKey, keyFiles, mpint, withoutSsh } from '../../test/support/ssh.ts';
import { readKeyBlob, readPublicKey } from './ssh-key.ts';
import { messageOf } from './ssh-wire.ts';

const types = ['ed25519', 'ecdsa256', 'ecdsa384', 'ecdsa521', 'rsa', 'rsa-256', 'ed25519-sk', 'ecdsa-sk'] as const;

test('a key of each type is read from its line, and knows its signature from any other', () => {
  for (const type of types) {
    const made = createKey(type);
    const key = readPublicKey(`${made.line}\n`);
    assert.ok(key.ok, `${type}: ${JSON.stringify(key)}`);
    assert.equal(`${key.value.type} ${Buffer.from(key.value.blob).toString('base64')}`, made.line.replace(/ \S+$/, ''));
    assert.equal(key.value.comment, `${type}@here`);
    const message = Buffer.from('a text');
    assert.deepEqual(key.value.verify(message, made.sign(message)), { ok: true, value: undefined }, type);
    for (const other of [made.sign(Buffer.from('another text')), createKey(type).sign(message)]) {
      const verified = key.value.verify(message, other);
      // Keys of RSA are made once here, so that the other key is the same one.
      if (type.startsWith('rsa') && verified.ok) continue;
      assert.equal(verified.ok ? '' : verified.error.code, 'mismatch', type);
    }
  }
});

test('a key that is weak, of another kind or a certificate is refused by its name', () => {
  const short = createKey('rsa-short');
  const named = (type: string): string => `${type} ${messageOf(type, 'x').toString('base64')}`;
  const rows = [
    [short.line, /RSA key of 1024 bits, and 2048 to 16384 are taken/],
    [named('ssh-dss'), /of the type ssh-dss, which is not taken: ssh-ed25519/],
    [named('ssh-ed25519-cert-v01@openssh.com'), /certificate \(ssh-ed25519-cert-v01@openssh\.com\)/],
    [named('a\u001b[2J'), /of no type that is known/],
  ] as const;
  for (const [line, problem] of rows) {
    const key = readPublicKey(line);
    assert.ok(!key.ok, line);
    assert.equal(key.error.code, 'unsupported');
    assert.match(key.error.problem, problem);
  }
});

test('an RSA signature with SHA-1 is none, whatever its key', () => {
  const made = createKey('rsa-sha1');
  const key = readPublicKey(made.line);
  assert.ok(key.ok);
  const verified = key.value.verify(Buffer.from('a'), made.sign(Buffer.from('a')));
  assert.deepEqual(verified, {
    ok: false,
    error: { code: 'unsupported', problem: 'is in a format that is not taken: rsa-sha2-256 or rsa-sha2-512 is' },
  });
});

test('what is no key is malformed: cut off, too long, of another type, no point of its curve, no number', () => {
  const { line, blob } = createKey('ed25519');
  const { blob: ecdsa } = createKey('ecdsa256');
  const point = Buffer.from(ecdsa.subarray(-65));
  point[64] = (point[64] ?? 0) ^ 1;
  const rsaOf = (e: Uint8Array, n: Uint8Array): Buffer => messageOf('ssh-rsa', e, n);
  const odd = Buffer.alloc(256, 0xc1);
  const blobs: readonly Buffer[] = [
    Buffer.alloc(0),
    blob.subarray(0, -1),
    Buffer.concat([blob, Buffer.alloc(1)]),
    Buffer.concat([blob, messageOf('more')]),
    Buffer.from([0xff, 0xff, 0xff, 0xff, 1]),
    messageOf('ssh-ed25519', Buffer.alloc(31)),
    messageOf('ecdsa-sha2-nistp256', 'nistp256', point),
    messageOf('ecdsa-sha2-nistp256', 'nistp384', ecdsa.subarray(-65)),
    messageOf('ecdsa-sha2-nistp256', 'nistp256', Buffer.concat([Buffer.from([2]), point.subarray(1, 33)])),
    rsaOf(Buffer.alloc(0), mpint(odd)),
    rsaOf(Buffer.from([1, 0, 1]), odd),
    rsaOf(Buffer.from([0, 1, 0, 1]), mpint(odd)),
  ];
  for (const [index, bad] of blobs.entries()) {
    const key = readKeyBlob(bad);
    assert.equal(key.ok ? 'a key' : key.error.code, 'malformed', `blob ${index}`);
  }
  const lines = [
    '',
    'ssh-ed25519',
    `ssh-rsa ${line.split(' ')[1]}`,
    `${line}\nmore`,
    line.replace(/.( \S+)$/, '$1'),
    `x ${line}`,
  ];
  for (const bad of lines) {
    const key = readPublicKey(bad);
    assert.equal(key.ok ? 'a key' : key.error.code, 'malformed', bad);
  }
});

test('an exponent of RSA that would be slow, or is none, is refused', () => {
  for (const exponent of [Buffer.from([2]), Buffer.from([1]), mpint(Buffer.alloc(9, 0x7f))]) {
    const key = readKeyBlob(messageOf('ssh-rsa', exponent, mpint(Buffer.alloc(256, 0xc1))));
    assert.deepEqual(key.ok ? '' : key.error.code, 'unsupported');
  }
});

test('whatever stands for a key or a signature: nothing is thrown, and nothing verifies', () => {
  const made = types.map((type) => createKey(type));
  const message = Buffer.from('a text');
  const spoiled = fc
    .tuple(fc.nat(made.length - 1), fc.nat(), fc.integer({ min: 1, max: 255 }), fc.boolean())
    .map(([index, at, change, cuts]) => ({ index, at, change, cuts }));
  fc.assert(
    fc.property(spoiled, ({ index, at, change, cuts }) => {
      const one = made[index];
      assert.ok(one !== undefined);
      const spoil = (bytes: Buffer): Buffer => {
        if (cuts) return bytes.subarray(0, at % bytes.length);
        const copy = Buffer.from(bytes);
        copy[at % copy.length] = (copy[at % copy.length] ?? 0) ^ change;
        return copy;
      };
      const key = readKeyBlob(one.blob);
      assert.ok(key.ok);
      const signature = one.sign(message);
      assert.ok(!key.value.verify(message, spoil(signature)).ok);
      const other = readKeyBlob(spoil(one.blob));
      assert.ok(!other.ok || !other.value.verify(message, signature).ok);
    }),
    { numRuns: 400 },
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => !readKeyBlob(bytes).ok));
});

test('fingerprints are those that ssh-keygen prints', { skip: withoutSsh }, (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-ssh-'));
  context.after(() => rmSync(folder, { recursive: true }));
  for (const [type, bits] of [['ed25519'], ['ecdsa', '256'], ['ecdsa', '384'], ['ecdsa', '521'], ['rsa', '3072']]) {
    const path = join(folder, `${type}-${bits}`);
    const key = readPublicKey(keyFiles(path, type ?? '', ...(bits === undefined ? [] : ['-b', bits])));
    const printed = execFileSync('ssh-keygen', ['-l', '-f', path], { encoding: 'utf8' });
    assert.ok(key.ok);
    assert.equal(key.value.fingerprint, printed.split(' ')[1]);
    assert.equal(key.value.comment, 'made here');
  }
});
