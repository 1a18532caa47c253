import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseStrictJson } from './strict-json.ts';

const limits = { depth: 64, values: 100_000, keys: 1000 };

const faultOf = (text: string, given = limits): string => {
  const parsed = parseStrictJson(text, given);
  return parsed.ok ? 'no fault' : `${parsed.error.path} ${parsed.error.problem}`;
};

test('what JSON.parse takes and every program reads alike is taken as it does', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      const parsed = parseStrictJson(text, limits);
      if (parsed.ok) assert.deepEqual(parsed.value, JSON.parse(text));
      else assert.match(parsed.error.problem, /digits|twice|half/);
    }),
  );
});

test('a text is taken or refused, and what is taken is JSON', () => {
  const pieces = ['{', '}', '[', ']', ',', ':', '"', '\\', 'u12', '1', '-', '.', 'e', 'true', 'nul', ' ', '\n', '"a"'];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      const parsed = parseStrictJson(text, limits);
      if (parsed.ok) assert.deepEqual(parsed.value, JSON.parse(text));
      else if (parsed.error.problem.includes('is not JSON')) assert.throws(() => JSON.parse(text));
    }),
    { numRuns: 3000 },
  );
});

test('a key that stands twice in an object is a fault, however it is written', () => {
  assert.equal(faultOf('{"a": {"b": 1, "\\u0062": 2}}'), '$.a.b is there twice');
  assert.equal(faultOf('[{"a": 1}, {"a": 2}, {"a": 1, "c": 2, "a": 3}]'), '$[2].a is there twice');
  assert.equal(faultOf('{"__proto__": 1, "__proto__": 2}'), '$.__proto__ is there twice');
});

test('a number that would come out as another one is a fault', () => {
  for (const number of ['9007199254740993', '-1180591620717411303424', '1e999', '1e300', '9'.repeat(5000)])
    assert.equal(faultOf(`{"n": ${number}}`), '$.n is a number with more digits than can be kept', number);
  for (const number of ['NaN', 'Infinity', '-Infinity', '01', '+1', '.5', '1.', '0x10', '-', '1e'])
    assert.match(faultOf(`{"n": ${number}}`), /^\$\.n is not JSON at line 1, column \d+$/, number);
  for (const number of ['0', '-0', '9007199254740991', '0.1', '1.5e3', '1e-7'])
    assert.equal(faultOf(number), 'no fault');
});

test('half of a character is a fault, a whole one in two escapes is none', () => {
  assert.equal(faultOf('{"a": "\\ud800"}'), '$.a holds half of a character');
  assert.equal(faultOf('["\\udc00\\ud800"]'), '$[0] holds half of a character');
  assert.equal(faultOf('{"\\ud800": 1}'), '$ holds half of a character in a key');
  assert.equal(faultOf('"\ud800"'), '$ holds half of a character');
  assert.equal(faultOf('"\\ud83d\\ude00"'), 'no fault');
});

test('what is cut off, goes on behind its end, or begins with a mark is a fault with its place', () => {
  assert.equal(faultOf('{"a": [1,\n 2'), '$.a[1] is not JSON at line 2, column 3');
  assert.equal(faultOf('{"a": 1} {"a": 2}'), '$ is not JSON at line 1, column 10');
  assert.equal(faultOf('\ufeff{}'), '$ is not JSON at line 1, column 1');
  assert.equal(faultOf(''), '$ is not JSON at line 1, column 1');
  assert.equal(faultOf('"a\nb"'), '$ is not JSON at line 1, column 1');
  assert.equal(faultOf('{"a": 1,}'), '$.a is not JSON at line 1, column 9');
});

test('depth and number of values end where they are said to, before anything is made of them', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  assert.equal(faultOf(nested(64)), 'no fault');
  assert.equal(faultOf(nested(65)), '$ is nested deeper than 64 levels');
  assert.equal(faultOf('['.repeat(5_000_000)), '$ is nested deeper than 64 levels');
  assert.equal(faultOf('{"a":'.repeat(1_000_000)), '$ is nested deeper than 64 levels');
  assert.equal(faultOf(`[${'[],'.repeat(200_000)}[]]`), '$ holds more than 100000 values');
  const keys = (count: number): string => Array.from({ length: count }, (_, at) => `"${at}": 0`).join();
  assert.equal(faultOf(`{"a": {${keys(1000)}}}`), 'no fault');
  assert.equal(faultOf(`{"a": {${keys(1001)}}}`), '$.a holds more than 1000 keys');
});

test('a fault repeats nothing of the text but its keys, shortened', () => {
  const secret = `hunter2${'x'.repeat(5000)}`;
  assert.ok(!faultOf(`{"password": ${secret}`).includes('hunter2'));
  assert.ok(faultOf(`{"${'k'.repeat(5000)}": 1e999}`).length < 200);
});
