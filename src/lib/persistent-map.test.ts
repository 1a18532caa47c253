import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { emptyMap, entriesOf, put, valueIn, type PersistentMap } from './persistent-map.ts';

const key = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString', 'a', 'b'), fc.string({ maxLength: 3 }));

test('whatever is put, it holds what a map would, also after it was written and read', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.nat()), { maxLength: 200 }), (entries) => {
      const expected = new Map(entries);
      const made = entries.reduce((map, [name, value]) => put(map, name, value), emptyMap as PersistentMap<number>);
      const read: PersistentMap<number> = JSON.parse(JSON.stringify(made));
      assert.equal(read.size, expected.size);
      assert.deepEqual(new Map(entriesOf(read)), expected);
      for (const [name, value] of expected) assert.equal(valueIn(read, name), value);
      assert.equal(valueIn(read, 'absent'), undefined);
    }),
  );
});

test('a map that was made before stays what it was', () => {
  const one = put(emptyMap as PersistentMap<number>, 'a', 1);
  put(put(one, 'a', 2), 'b', 3);
  assert.deepEqual(entriesOf(one), [['a', 1]]);
  assert.deepEqual(entriesOf(emptyMap), []);
});

test('buckets stay small, so that a change copies little', () => {
  let map: PersistentMap<number> = emptyMap;
  for (let at = 0; at < 5000; at += 1) map = put(map, `N-${at}`, at);
  assert.ok(Math.max(...map.buckets.map((bucket) => bucket.length)) < 40);
  assert.ok(map.buckets.length < 2000);
});
