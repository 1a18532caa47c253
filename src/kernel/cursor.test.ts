import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cursorToText, positionOf, textToCursor } from './cursor.ts';

const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{3,40}$/);

const cursors = fc
  .array(
    fc.tuple(
      fc.tuple(name, name).map(([kind, session]) => `${kind}x:${session}x`),
      fc.record({
        seq: fc.integer({ min: 0, max: 999_999_999_999_999 }),
        sign: fc.oneof(fc.constant(''), fc.stringMatching(/^[0-9a-f]{8}$/)),
      }),
    ),
  )
  .map((entries) => new Map(entries));

test('a cursor is one text without anything that a shell would take for its own, and says the same again', () => {
  fc.assert(
    fc.property(cursors, (cursor) => {
      const text = cursorToText(cursor);
      assert.match(text, /^[\w@.:,-]*$/);
      const again = textToCursor(`${text}\n`);
      assert.ok(again.ok);
      assert.equal(JSON.stringify([...again.value]), JSON.stringify([...cursor]));
    }),
  );
});

test('whatever text is given, it is a cursor or a refusal of usage', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[a-c:@,.0-9]{0,30}$/)), (text) => {
      const cursor = textToCursor(text);
      if (cursor.ok) assert.deepEqual(textToCursor(cursorToText(cursor.value)), cursor);
      else assert.equal(cursor.error.code, 'usage');
    }),
  );
});

test('a position has the beginning of the hash, which tells another history', () => {
  assert.deepEqual(positionOf({ seq: 3, hash: '8f14e45fceea167a' }), { seq: 3, sign: '8f14e45f' });
});
