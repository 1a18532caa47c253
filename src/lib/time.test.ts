import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { agoText } from './ago.ts';
import { isDay, timeText } from './time.ts';

test('a time is written as the language writes it', () => {
  fc.assert(fc.property(fc.date({ noInvalidDate: true }), (date) => timeText(date.getTime()) === date.toISOString()));
  fc.assert(fc.property(fc.nat({ max: 253_402_300_799_999 }), (at) => timeText(at) === new Date(at).toISOString()));
  for (const at of [0, 999, -1, 8.64e15, -8.64e15]) assert.equal(timeText(at), new Date(at).toISOString());
  assert.throws(() => timeText(Number.NaN), RangeError);
});

test('how long ago a time was is told in its largest unit, and one that has not come as what it is', () => {
  const now = '2026-03-17T12:00:00.000Z';
  for (const [at, text] of [
    [now, 'just now'],
    ['2026-03-17T11:59:59.001Z', 'just now'],
    ['2026-03-17T11:59:59.000Z', '1 second ago'],
    ['2026-03-17T11:00:01.000Z', '59 minutes ago'],
    ['2026-03-17T10:00:00.000Z', '2 hours ago'],
    ['2026-03-17T10:30:00.000+05:30', '7 hours ago'],
    ['2025-03-17T12:00:00.000Z', '365 days ago'],
    ['2026-03-17T12:00:30.000Z', 'just now'],
    ['2026-03-17T12:01:00.000Z', 'in the future by 1 minute: a clock is wrong'],
    ['2027-03-17T12:00:00.000Z', 'in the future by 365 days: a clock is wrong'],
    ['lunch', 'at a time that is not known'],
    ['', 'at a time that is not known'],
  ] as const)
    assert.equal(agoText(at, now), text, at);
});

test('a day is one that its month has, in leap years too', () => {
  const two = (value: number): string => String(value).padStart(2, '0');
  for (const year of [1900, 2000, 2023, 2024])
    for (let month = 0; month <= 13; month += 1)
      for (let day = 0; day <= 32; day += 1) {
        const date = new Date(Date.UTC(year, month - 1, day));
        const isOne = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
        assert.equal(isDay(String(year), two(month), two(day)), isOne, `${year}-${month}-${day}`);
      }
});
