import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { randomHex, ulid } from './id.ts';

test('a ULID has 26 characters of its alphabet, and sorts by its time', () => {
  const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
  fc.assert(
    fc.property(time, time, (a, b) => {
      assert.match(ulid(a), /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
      if (a < b) assert.ok(ulid(a) < ulid(b));
    }),
  );
});

test('ULIDs of one millisecond differ', () => {
  assert.equal(new Set(Array.from({ length: 2000 }, () => ulid(1_700_000_000_000))).size, 2000);
});

test('random hex has two characters a byte', () => {
  assert.match(randomHex(16), /^[0-9a-f]{32}$/);
  assert.notEqual(randomHex(16), randomHex(16));
});
