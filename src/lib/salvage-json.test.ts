import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from './canonical-json.ts';
import { deepest } from './json-text.ts';
import { salvageJson, type Salvaged } from './salvage-json.ts';

const told = ({ flaws }: Salvaged): readonly string[] =>
  flaws.map(({ path, what, isLoss }) => `${path} ${what}${isLoss ? ' (loss)' : ''}`);

/** What becomes of a text, with what is told of it. */
const check = (text: string, value: Json | undefined, ...flaws: readonly string[]): void => {
  const salvaged = salvageJson(text);
  assert.deepEqual([salvaged.value, told(salvaged)], [value, flaws], text);
};

test('what is JSON is taken as it is', () => {
  const container = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));
  fc.assert(
    fc.property(container, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const salvaged = salvageJson(text);
      assert.deepEqual(salvaged, { value: JSON.parse(text), isClosed: true, flaws: [], untold: 0, end: text.length });
    }),
  );
});

test('commas that are missing or too many change nothing', () => {
  check('{"a": 1,}', { a: 1 }, '$ has a comma behind the last one');
  check('[1, 2,\n]', [1, 2], '$[2] has a comma behind the last one');
  check('{"a": 1,, "b": [,2]}', { a: 1, b: [2] }, '$ has a comma too many', '$.b[0] has a comma too many');
  check(
    '{"a": "x" "b": 2\n"c": [1 2]}',
    { a: 'x', b: 2, c: [1, 2] },
    '$ lacks a comma',
    '$ lacks a comma',
    '$.c[0] lacks a comma',
  );
});

test('a number with commas between its digits is one number in an object, and several in a list', () => {
  check(
    '{"a": 9,166, "b": -1,234,567.5}',
    { a: 9166, b: -1234567.5 },
    ...['a', 'b'].map((key) => `$.${key} has commas between the digits of a number`),
  );
  check('{"a": [9,166,]}', { a: [9, 166] }, '$.a[2] has a comma behind the last one');
});

test('comments are left out, and what looks like one in a text is none', () => {
  check(
    '// of us\n{"a": "x // y" /* z */, # more\n"b": 1}',
    { a: 'x // y', b: 1 },
    ...Array.from({ length: 3 }, () => '$ has a comment, which was left out'),
  );
});

test('a backslash too many is no end and no escape', () => {
  check('{"a": "x\\",\n "b": 1}', { a: 'x', b: 1 }, '$.a has a backslash before the end of a text');
  check('{"a": \\"x",\n "b": 1}', { a: 'x', b: 1 }, '$.a has a backslash before the beginning of a text');
  check('{"a": \\"x\\" y",\n "b": 1}', { a: '"x" y', b: 1 }, '$.a has a backslash before the beginning of a text');
  check('{"a": "C:\\path"}', { a: 'C:\\path' }, '$.a has a backslash that escapes nothing, which was kept');
});

test('a quotation mark that is missing or not escaped is concluded from what stands around it', () => {
  check('{"a": "x,\n "b": 1}', { a: 'x', b: 1 }, '$.a has a text without its closing quotation mark');
  check(
    '{"a": "say "hi", and go", "b": 1}',
    { a: 'say "hi", and go', b: 1 },
    '$.a has a quotation mark in a text that is not escaped',
  );
  check('["x", true, "y"]', ['x', true, 'y']);
  check('{"a": "one\r\ntwo"}', { a: 'one\ntwo' }, '$.a has a line end in a text');
});

test('what other languages write is understood', () => {
  check(
    '{\'a\': True, b: None, "c": NaN, "d": in progress, "e": +.5}',
    { a: true, b: null, c: null, d: 'in progress', e: 0.5 },
    '$ has apostrophes for quotation marks',
    '$.a has True for true',
    '$ has a key without quotation marks',
    '$.b has None for null',
    '$.c has NaN for null',
    '$.d has a text without quotation marks',
    '$.e has a number in another spelling',
  );
});

test('brackets that are missing are concluded, and those that are too many left out', () => {
  check('[{"a": 1, {"a": 2}]', [{ a: 1 }, { a: 2 }], '$[0] lacks a }');
  check('[{"a": 1 {"a": 2}]', [{ a: 1 }, { a: 2 }], '$[0] lacks a }', '$[0] lacks a comma');
  check('{"a": [1, 2, "b": 3}', { a: [1, 2], b: 3 }, '$.a[1] lacks a ]');
  check('{"a": [{"b": 1], "c": 2}', { a: [{ b: 1 }], c: 2 }, '$.a[0] lacks a }');
  check('{"a": {"b": 1]}}', { a: { b: 1 } }, '$.a has a ] too many');
});

test('what is cut off is left out, and everything before it is taken', () => {
  const cut = 'ends in the middle, as a write that was cut off (loss)';
  check('{"a": 1, "b": {"c": [1, 2', { a: 1, b: { c: [1] } }, `$.b.c[1] ${cut}`);
  check('{"a": 1, "b": "x', { a: 1 }, `$.b ${cut}`);
  check('{"a": 1, "b": tru', { a: 1 }, `$.b ${cut}`);
  check('{"a": 1, "b', { a: 1 }, `$ ${cut}`);
  check('{"a": 1,', { a: 1 }, `$ ${cut}`);
  check(
    '{"a": "x\n{"a": 2}',
    {},
    '$.a has a text that does not end, which was left out (loss)',
    '$ ends in the middle, where another document begins (loss)',
  );
});

test('what cannot be read is left out and told, and what stands around it is taken', () => {
  const garbage = 'holds what cannot be read, which was left out (loss)';
  check(
    '{"a": 1, @@@ "b": 2, "c": ###\n}',
    { a: 1, b: 2 },
    `$ ${garbage}`,
    '$.c has a comment, which was left out',
    '$.c has a key without a value, which was left out (loss)',
  );
  check('{"a": 1, "a": 2}', { a: 2 }, '$.a has one key twice in an object, of which the last one counts');
  check('x', undefined);
  check('', undefined);
});

test('nesting is limited, and keys that every object inherits are keys like others', () => {
  const nested = salvageJson('{"a":'.repeat(deepest + 5));
  assert.deepEqual([nested.value, nested.flaws.at(-1)?.what], [undefined, `is nested deeper than ${deepest} levels`]);
  const { value } = salvageJson('{"__proto__": {"x": 1}, "constructor": 2,}');
  assert.deepEqual(Object.keys(value ?? {}), ['__proto__', 'constructor']);
});

test('no more is told than anybody reads, but that something is lost always is', () => {
  const { flaws, untold } = salvageJson(`[${'1,,'.repeat(500)} 2`);
  assert.deepEqual([flaws.length, untold, flaws.at(-1)?.isLoss], [201, 300, true]);
});

test('whatever becomes of a text, nothing is thrown and what is taken is JSON', () => {
  const sound = JSON.stringify({ a: [1, 'x "y" \\ z', { b: null, c: [true, []] }], d: 'é\n', e: 12_345 }, null, 1);
  const edit = fc.record({
    at: fc.nat(sound.length),
    cut: fc.nat(10),
    put: fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '\n', '//', '/*', "'", '9,166'),
    ),
  });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 6 }), (edits) => {
      const text = edits.reduce((was, { at, cut, put }) => was.slice(0, at) + put + was.slice(at + cut), sound);
      const { value, end } = salvageJson(text);
      assert.ok(end <= text.length);
      if (value !== undefined) assert.deepEqual(JSON.parse(JSON.stringify(value)), value);
    }),
    { numRuns: 1000 },
  );
});

test('the time that is needed grows with the text and no faster, whatever it is made of', () => {
  const parts = [
    '"',
    '"a',
    '\\"',
    "'",
    '{',
    '[',
    ',',
    '1,111',
    '//',
    '/*',
    '\n',
    '"\n',
    ' ',
    'x',
    '": ',
    '"a": ',
    '1',
    '}',
    '"a" ',
    '{"a":"b"c"d",',
    '#',
    '\0',
    'é ',
  ];
  for (const prefix of ['{"a": ', '["', '{"a": "', '[']) {
    for (const part of parts) {
      const text = prefix + part.repeat(Math.ceil(1_000_000 / part.length));
      const begun = performance.now();
      salvageJson(text);
      assert.ok(performance.now() - begun < 20_000, `${prefix} ${JSON.stringify(part)}`);
    }
  }
});
