import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createDigest } from './digest.ts';

const digested = (pieces: readonly Uint8Array[]) => {
  const digest = createDigest();
  for (const piece of pieces) digest.take(piece);
  return digest.end();
};

test('bytes are the same in whatever pieces they come', () => {
  const size = fc.oneof(fc.nat(300), fc.nat(200_000));
  fc.assert(
    fc.property(fc.array(size, { maxLength: 12 }), fc.nat(255), (sizes, seed) => {
      const whole = Buffer.alloc(
        sizes.reduce((sum, one) => sum + one, 0),
        Uint8Array.from({ length: 251 }, (_, index) => (index === 0 ? 10 : 32 + ((index * seed) % 90))),
      );
      let at = 0;
      const pieces = sizes.map((one) => whole.subarray(at, (at += one)));
      const { tail, lead, ...rest } = digested(pieces);
      assert.deepEqual({ tail, lead, ...rest }, digested([whole]));
      assert.deepEqual(rest, { sha256: createHash('sha256').update(whole).digest('hex'), size: whole.length });
      assert.ok(whole.toString().endsWith(tail));
      const isCut = tail.length < whole.length;
      assert.equal(lead, isCut ? tail.length - 16 * 1024 : 0, 'what comes before the end is there to be looked at');
    }),
    { numRuns: 60 },
  );
});

test('a text that holds no line end begins with a whole character', () => {
  for (let shift = 0; shift < 4; shift += 1) {
    const { tail, lead } = digested([Buffer.from(`${'x'.repeat(shift)}${'🔥'.repeat(60_000)}`)]);
    assert.match(tail, /^(?:🔥)+$/u);
    assert.ok(lead > 0 && lead < tail.length);
  }
});
