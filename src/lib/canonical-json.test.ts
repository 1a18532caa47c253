import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, type Json } from './canonical-json.ts';

/** JSON values as a parser yields them, with well-formed text only. */
const json = fc.jsonValue({ stringUnit: 'binary' }).map((value) => JSON.parse(JSON.stringify(value)) as Json);

const shuffled = (value: Json): Json => {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(shuffled);
  const entries = Object.entries(value).map(([key, member]): [string, Json] => [key, shuffled(member)]);
  return Object.fromEntries(entries.toReversed());
};

test('parsing the canonical text gives the value back', () => {
  fc.assert(fc.property(json, (value) => assert.deepEqual(JSON.parse(canonicalJson(value)), value)));
});

test('the order of keys does not matter', () => {
  fc.assert(fc.property(json, (value) => assert.equal(canonicalJson(shuffled(value)), canonicalJson(value))));
});

test('the example of RFC 8785 section 3.2.2 comes out as printed there', () => {
  const value: Json = JSON.parse(String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`);
  assert.equal(
    canonicalJson(value),
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

test('keys are sorted by UTF-16 code unit, so a surrogate pair comes before U+FB33', () => {
  assert.equal(canonicalJson({ '\ufb33': 1, '😀': 2, '€': 3, 1: 4 }), '{"1":4,"€":3,"😀":2,"\ufb33":1}');
});

test('what JSON cannot hold is a TypeError, never undefined', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const values: readonly unknown[] = [
    undefined,
    () => 1,
    Symbol('s'),
    1n,
    [1n],
    Number.NaN,
    { x: Infinity },
    '\ud83d',
    { '\ude00': 1 },
    circle,
  ];
  for (const value of values) assert.throws(() => canonicalJson(value as Json), TypeError);
});

test('a member without a value is left out, as when it is stored', () => {
  assert.equal(canonicalJson({ a: 1, b: undefined } as unknown as Json), '{"a":1}');
});

test('nesting of 20,000 levels does not overflow the stack', () => {
  let value: Json = 1;
  for (let depth = 0; depth < 20_000; depth += 1) value = [value];
  assert.equal(canonicalJson(value), `${'['.repeat(20_000)}1${']'.repeat(20_000)}`);
});
