import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject, withoutUndefined } from './json.ts';

test('fields that are undefined are left out, others are kept', () => {
  assert.deepEqual(withoutUndefined({ a: undefined, b: null, c: 0 }), { b: null, c: 0 });
});

test('a list and null are no objects', () => {
  assert.deepEqual([{}, [], null, 'x', undefined].map(isJsonObject), [true, false, false, false, false]);
});
