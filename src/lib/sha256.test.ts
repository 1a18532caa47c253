import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { hmacSha256, sha256, sha256Bytes } from './sha256.ts';

/** Any UTF-16 code units at all, so lone surrogates too. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.array(fc.integer({ min: 0, max: 0xff_ff }), { maxLength: 300 }).map((units) => String.fromCharCode(...units)),
  fc.string({ unit: fc.constantFrom('\ud83d', '\ude00', 'a', 'é'), maxLength: 80 }),
);

const expected = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

test('any text has the digest that node:crypto gives its UTF-8 bytes', () => {
  fc.assert(fc.property(anyText, (text) => assert.equal(sha256(text), expected(Buffer.from(text, 'utf8')))));
});

test('a lone surrogate is hashed as U+FFFD', () => {
  assert.equal(sha256('cut \ud83d'), sha256('cut \ufffd'));
});

test('any bytes have the digest that node:crypto gives', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => assert.equal(sha256Bytes(bytes), expected(bytes))),
  );
});

test('every length around the block borders is padded rightly', () => {
  for (let length = 0; length <= 200; length += 1) {
    const text = 'z'.repeat(length);
    assert.equal(sha256(text), expected(text), `length ${length}`);
  }
});

test('a view into a larger buffer is hashed from its own start to its own end', () => {
  const view = new Uint8Array(300).fill(7).subarray(3, 250);
  assert.equal(sha256Bytes(view), expected(view));
});

test('both sides of the threshold agree with node:crypto', () => {
  for (const length of [65_535, 65_536, 65_537, 300_000]) {
    const text = 'ab€d'.repeat(length / 4);
    assert.equal(sha256(text), expected(text), `length ${length}`);
    const bytes = new Uint8Array(length).fill(0xa5);
    assert.equal(sha256Bytes(bytes), expected(bytes), `bytes ${length}`);
  }
});

test('only a long input loads node:crypto', () => {
  const program = (length: number): string => `
    const asked = [];
    const load = process.getBuiltinModule;
    process.getBuiltinModule = (id) => { asked.push(id); return load(id); };
    const { sha256 } = await import(${JSON.stringify(pathToFileURL(`${import.meta.dirname}/sha256.ts`).href)});
    sha256('a'.repeat(${length}));
    console.log(JSON.stringify(asked));`;
  const run = (length: number): string =>
    spawnSync(process.execPath, ['--input-type=module', '-e', program(length)], { encoding: 'utf8' }).stdout.trim();
  assert.equal(run(65_536), '[]');
  assert.equal(run(65_537), '["node:crypto"]');
});

test('an HMAC with any key is that of node:crypto', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), anyText, (key, text) => {
      const hex = Buffer.from(key).toString('hex');
      assert.equal(hmacSha256(hex, text), createHmac('sha256', key).update(text).digest('hex'));
    }),
  );
  for (const length of [0, 1, 63, 64, 65, 66, 131]) {
    const key = new Uint8Array(length).fill(0xaa);
    const ofNode = createHmac('sha256', key).update('text').digest('hex');
    assert.equal(hmacSha256(Buffer.from(key).toString('hex'), 'text'), ofNode, `key of ${length} bytes`);
  }
});

test('an HMAC of a long text is that of node:crypto', () => {
  const text = 'long '.repeat(40_000);
  assert.equal(hmacSha256('00FF', text), createHmac('sha256', Buffer.from('00ff', 'hex')).update(text).digest('hex'));
});

test('a key that is not hex is a defect', () => {
  assert.throws(() => hmacSha256('abc', ''), TypeError);
  assert.throws(() => hmacSha256('zz', ''), TypeError);
});

const vectorsPath = '../shared/handoff-pack/canonical-vectors.json';

test('the published hand-off vectors hold', { skip: !existsSync(vectorsPath) && `${vectorsPath} is absent` }, () => {
  const vectors = JSON.parse(readFileSync(vectorsPath, 'utf8'));
  const keyHex = Buffer.from(vectors.hmac_key, 'utf8').toString('hex');
  assert.ok(vectors.canonical.length > 10);
  for (const vector of vectors.canonical) {
    assert.equal(sha256(vector.msg), vector.sha256);
    assert.equal(hmacSha256(keyHex, vector.msg), vector.hmac);
  }
});
