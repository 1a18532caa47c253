import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checksum } from './checksum.ts';

test('a checksum tells every change of one character, and where one text ends and the next begins', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, unit: 'binary' }),
      fc.nat(),
      fc.integer({ min: 1, max: 0xffff }),
      (text, at, flip) => {
        const index = at % text.length;
        const changed =
          text.slice(0, index) + String.fromCharCode(text.charCodeAt(index) ^ flip) + text.slice(index + 1);
        return checksum(text) !== checksum(changed);
      },
    ),
  );
  assert.notEqual(checksum('ab', 'c'), checksum('a', 'bc'));
});

test('a checksum is an unsigned 32-bit number and stays what it was: stores hold it', () => {
  assert.equal(checksum('review:a', '{}'), 3398609750);
});
