import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from './canonical-json.ts';
import { readTime, type Clock, type ReadTime } from './written-time.ts';

/** Two hours ahead of UTC in summer, one in winter. */
const clock: Clock = {
  now: '2026-08-01T00:00:00Z',
  offsetAt: (local) => (local >= '2026-03-29T02:00:00' && local < '2026-10-25T03:00:00' ? 120 : 60),
};

const read = (value: Json): ReadTime => readTime(value, clock);
const at = (value: Json): string => {
  const time = read(value);
  return 'at' in time ? time.at : time.fault;
};

test('a time in UTC is kept as it is written', () => {
  for (const text of ['2026-05-02T08:00:00Z', '2026-05-02T08:00:00.000Z', '2026-05-02T08:00:00.250Z'])
    assert.deepEqual(read(text), { at: text, remarks: [] });
});

test('an offset is converted, and nothing is told: the moment is the same', () => {
  assert.deepEqual(read('2026-05-02T08:00:00+05:30'), { at: '2026-05-02T02:30:00Z', remarks: [] });
  assert.deepEqual(read('2026-05-02 08:00:00.5 -0700'), { at: '2026-05-02T15:00:00.500Z', remarks: [] });
  assert.equal(at('2026-05-02T08:00+02'), '2026-05-02T06:00:00Z');
});

test('a time without a zone is the local time of whoever reads, in summer and in winter, and is told', () => {
  assert.deepEqual(read('2026-05-02T08:00:00'), {
    at: '2026-05-02T06:00:00Z',
    remarks: ['has no zone and was taken as local time'],
  });
  assert.equal(at('2026-01-02 08:00:00'), '2026-01-02T07:00:00Z');
});

test('a day is its midnight, finer fractions are cut, and both are told', () => {
  assert.deepEqual(read('2026-05-02'), {
    at: '2026-05-01T22:00:00Z',
    remarks: ['has no time of day and was taken as midnight', 'has no zone and was taken as local time'],
  });
  assert.deepEqual(read('2026-05-02T08:00:00.1234567+00:00'), {
    at: '2026-05-02T08:00:00.123Z',
    remarks: ['is finer than a millisecond and was cut'],
  });
  assert.deepEqual(read('2026-05-02T08:00:00.1230000Z'), { at: '2026-05-02T08:00:00.123Z', remarks: [] });
});

test('a number is seconds or milliseconds since 1970 by its size', () => {
  assert.equal(at(1_773_757_825), '2026-03-17T14:30:25Z');
  assert.equal(at(1_773_757_825_000), '2026-03-17T14:30:25Z');
  assert.equal(at('1773757825000'), '2026-03-17T14:30:25Z');
  assert.equal(at(7), 'is no time');
});

test('a time that lies ahead is kept, and told', () => {
  assert.deepEqual(read('2026-08-01T00:00:01Z'), { at: '2026-08-01T00:00:01Z', remarks: ['lies in the future'] });
  assert.deepEqual(read('2026-08-01T00:00:00Z'), { at: '2026-08-01T00:00:00Z', remarks: [] });
});

test('what is no moment is none', () => {
  const rubbish: readonly Json[] = ['soon', '2026-13-01', '2026-02-30T08:00:00Z', '2026-05-02T24:00:00Z', true, {}, []];
  for (const value of [...rubbish, '2026-05-02T08:00:00+24:00', '0000-01-01T00:00:00+10:00'])
    assert.ok('fault' in read(value), JSON.stringify(value));
});

test('whatever is read, a moment can be parsed again and none is thrown', () => {
  const digits = fc.stringMatching(/^[\d:TZ+., -]{0,30}$/);
  const local = fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 19));
  const offsets = fc.oneof(fc.integer(), fc.double(), fc.constant(Number.NaN));
  fc.assert(
    fc.property(fc.oneof(digits, local, fc.string(), fc.double(), fc.date().map(String)), offsets, (value, offset) => {
      const time = readTime(value, { ...clock, offsetAt: () => offset });
      if ('at' in time) assert.match(new Date(time.at).toISOString(), /^\d{4}-/);
    }),
  );
});
