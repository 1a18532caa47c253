import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deepest, guessJson, parseJson, readJson } from './json-text.ts';

const faultOf = (text: string): string => {
  const parsed = parseJson(text);
  return 'fault' in parsed ? parsed.fault : 'no fault';
};

test('what JSON can hold is parsed as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      assert.deepEqual(parseJson(text), { value: JSON.parse(text) });
    }),
  );
});

test('a fault in JSON is named by line and column', () => {
  assert.match(faultOf('{\n  "a": 1,\n  "b": tru\n}'), /line 3, column 8$/);
  assert.match(faultOf('{"a": 1,}'), /line 1, column 9$/);
  assert.match(faultOf('[1,\n2'), /line 2, column 2$/);
  assert.match(faultOf('x'), /line 1, column 1$/);
});

test('a fault does not repeat what was sent: it may be long or secret', () => {
  const secret = `hunter2${'x'.repeat(5000)}`;
  assert.ok(!faultOf(`{"password": ${secret}`).includes('hunter2'));
});

test('nesting is limited, so that nothing that walks a value overflows', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  assert.ok('value' in parseJson(nested(deepest)));
  assert.match(faultOf(nested(deepest + 1)), /nested deeper/);
  assert.match(faultOf(nested(100_000)), /nested deeper|not JSON/);
});

test('a number beyond all bounds and a key that stands twice are faults: nothing is guessed', () => {
  assert.match(faultOf('{"a": [1, -1e999]}'), /too large/);
  assert.equal(faultOf('{"a": 1,\n "b": {"a": 2}, "a": 3}'), 'has one key twice in an object, at line 2, column 17');
  assert.ok('value' in parseJson('{"a": {"a": 1}, "b": {"a": 1}}'));
});

test('a file is read as far as it goes: a key that stands twice is told with its place, and the last one counts', () => {
  assert.deepEqual(readJson('{"a": 1,\n "a": 2}'), { value: { a: 2 }, repeated: { line: 2, column: 2 } });
  assert.deepEqual(readJson('{"a": 1}'), { value: { a: 1 }, repeated: undefined });
  assert.deepEqual(readJson('{"a": 1,\n "b": tru}'), { fault: 'is not JSON', place: { line: 2, column: 7 } });
  assert.deepEqual(readJson('[1e999]'), { fault: 'holds a number that is too large', place: undefined });
});

test('what is not JSON is guessed as far as it can be followed, and nothing is thrown', () => {
  assert.deepEqual(guessJson('{"a": 1, "b": {"c": 9,166'), { a: 1, b: { c: 9 } });
  assert.equal(guessJson('['.repeat(1_000_000)), undefined);
  assert.equal(guessJson(''), undefined);
  fc.assert(fc.property(fc.string(), (text) => void guessJson(text)));
});
