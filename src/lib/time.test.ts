import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { timeText } from './time.ts';

test('a time is written as the language writes it', () => {
  fc.assert(fc.property(fc.date({ noInvalidDate: true }), (date) => timeText(date.getTime()) === date.toISOString()));
  fc.assert(fc.property(fc.nat({ max: 253_402_300_799_999 }), (at) => timeText(at) === new Date(at).toISOString()));
  for (const at of [0, 999, -1, 8.64e15, -8.64e15]) assert.equal(timeText(at), new Date(at).toISOString());
  assert.throws(() => timeText(Number.NaN), RangeError);
});
