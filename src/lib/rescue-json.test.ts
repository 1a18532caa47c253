import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from './canonical-json.ts';
import { isJsonObject } from './json.ts';
import { rescueJson, type Rescued } from './rescue-json.ts';

const isDocument = (value: Json): boolean => isJsonObject(value) && 'id' in value;
const rescue = (text: string, choice?: string): Rescued => rescueJson(text, { choice, isDocument });

/** The faults of a document that could be taken, each with its place. */
const check = (text: string, value: Json, ...faults: readonly string[]): void => {
  const rescued = rescue(text);
  if (rescued.what !== 'document') assert.fail(JSON.stringify(rescued));
  const told = rescued.faults.map(
    ({ problem, isLoss, line, column }) => `${line}:${column} ${problem}${isLoss ? ' (loss)' : ''}`,
  );
  assert.deepEqual([rescued.value, told], [value, faults], text);
};

const document = '{\n  "id": 1,\n  "a": "x"\n}';
const value = { id: 1, a: 'x' };
const nul = 'It holds NUL bytes, as a write leaves them that a crash cut off.';
const other = 'It holds another document, which was left out.';
const behind = 'It goes on behind the end of its document.';

test('a sound file is its document, and a byte order mark and other line ends make no difference', () => {
  check(document, value);
  check(`\uFEFF${document.replaceAll('\n', '\r\n')}\r\n`, value);
  check('{"id": 1, "id": 2}', { id: 2 }, '1:11 It has one key twice in an object, of which the last one counts.');
});

test('a file without a document is told, with the reason and the place', () => {
  const reasons = [
    ['', 'It is empty.'],
    [' \r\n', 'It holds nothing but blanks.'],
    ['\0\0', 'It holds nothing but NUL bytes, as a write leaves them that a crash cut off.'],
    ['{\0"\0', 'It is not UTF-8: it looks like UTF-16.'],
    ['hello', 'It is not JSON.'],
    ['{"a":'.repeat(200), 'It is nested deeper than 100 levels.'],
  ] as const;
  for (const [text, problem] of reasons)
    assert.partialDeepStrictEqual(rescue(text), { what: 'nothing', problem, line: 1 });
});

test('NUL bytes behind a document are nothing, and in it they cut it off', () => {
  check(`${document}\n\0\0\0`, value, `5:1 ${nul}`);
  check(
    document.replace('"x"', '"\0\0x"'),
    { id: 1 },
    '3:8 It ends in the middle, as a write that was cut off ($.a). (loss)',
    `3:9 ${nul} (loss)`,
  );
});

test('a fence of Markdown and texts around a document are left out', () => {
  check(`\`\`\`json\n${document}\n\`\`\`\n`, value, '1:1 It is wrapped in a fence of Markdown.');
  check(`Here it is:\n\n~~~\n${document}`, value, '1:1 It is wrapped in a fence of Markdown.');
  check(
    `Here it is:\n${document}\nThat was it.`,
    value,
    '1:1 It has a text before its document, which was left out.',
    `6:1 ${behind}`,
  );
});

test('what is left of a longer file behind a document is no second one', () => {
  check(`${document}  "b": 1 }\n`, value, `4:4 ${behind}`);
  check(`${document} {"b": 1}\n`, value, `4:3 ${other}`);
});

test('a second document that says the same, or begins to, changes nothing', () => {
  check(`${document}\n${document}`, value, `5:1 ${other}`);
  check(`${document}\n${document.slice(0, -6)}`, value, `5:1 ${other}`);
});

test('of a document that is whole and one that is cut off the whole one counts, and the other may be lost', () => {
  const newer = '{\n  "id": 2,\n  "a"';
  check(`${document}\n${newer}`, value, `5:1 ${other} (loss)`);
  check(`${newer}\n${document}`, value, `1:1 ${other} (loss)`);
});

test('of several documents that differ none is chosen but the one that is named', () => {
  const both = `${document}\n${document.replace('1', '2')}`;
  const found = rescue(both);
  assert.ok(found.what === 'several');
  assert.equal(found.problem, 'It holds 2 documents that differ.');
  assert.deepEqual(found.sides, [
    { name: 'first', label: '', line: 1, value, faults: [] },
    { name: 'second', label: '', line: 5, value: { id: 2, a: 'x' }, faults: [] },
  ]);
  assert.partialDeepStrictEqual(rescue(both, 'second'), {
    what: 'document',
    value: { id: 2 },
    faults: [{ problem: other, isLoss: false }],
  });
  assert.equal(rescue(both, 'third').what, 'several');
});

const conflict = [
  '{',
  '  "id": 1,',
  '<<<<<<< HEAD',
  '  "a": "ours",',
  '||||||| 1234567',
  '  "a": "base",',
  '=======',
  '  "a": "theirs"',
  '  "b": 1,',
  '>>>>>>> topic/x',
  '  "c": 2',
  '}',
];

test('a git conflict is told with its sides, what is wrong with each, and the line, and none is chosen', () => {
  const faults = [{ problem: 'It lacks a comma.', isLoss: false, line: 9, column: 3 }];
  assert.deepEqual(rescue(conflict.join('\n')), {
    what: 'several',
    problem: 'It has a git conflict at line 3.',
    sides: [
      { name: 'ours', label: 'HEAD', line: 3, value: { id: 1, a: 'ours', c: 2 }, faults: [] },
      { name: 'base', label: '1234567', line: 3, value: { id: 1, a: 'base', c: 2 }, faults: [] },
      { name: 'theirs', label: 'topic/x', line: 3, value: { id: 1, a: 'theirs', b: 1, c: 2 }, faults },
    ],
  });
});

test('the marks of a conflict are longer where a file was renamed', () => {
  const longer = conflict.map((line) => line.replace(/^([<|=>])\1{6}/, '$&$1'));
  assert.deepEqual(rescue(longer.join('\n')), rescue(conflict.join('\n')));
});

test('the side of a conflict that is named is taken, in every place of it', () => {
  const twice = `${conflict.slice(0, -1).join('\r\n')}\r\n<<<<<<< HEAD\r\n, "d": 1\r\n=======\r\n>>>>>>> topic/x\r\n}`;
  assert.deepEqual(rescue(twice, 'ours'), {
    what: 'document',
    value: { id: 1, a: 'ours', c: 2, d: 1 },
    faults: [
      { problem: 'It has the marks of a git conflict, of which ours was taken.', isLoss: false, line: 3, column: 1 },
    ],
  });
  assert.partialDeepStrictEqual(rescue(twice, 'theirs'), {
    what: 'document',
    value: { id: 1, a: 'theirs', b: 1, c: 2 },
  });
});

test('a conflict whose sides say the same is none', () => {
  const same = ['{', '<<<<<<< HEAD', '"id": 1', '=======', '  "id":1', '>>>>>>> x', '}'].join('\n');
  check(same, { id: 1 }, '2:1 It has the marks of a git conflict, whose sides say the same.');
});

test('marks of a conflict that lack their other half are lines that cannot be read', () => {
  const half = ['{', '"id": 1,', '=======', '"a": 2', '>>>>>>> x', '}'].join('\n');
  const rescued = rescue(half);
  assert.ok(rescued.what === 'document' && rescued.faults.some(({ isLoss }) => isLoss));
});

test('whatever becomes of a file, nothing is thrown, and the places are in it', () => {
  const edit = fc.record({
    at: fc.nat(200),
    cut: fc.nat(20),
    put: fc.constantFrom(
      '',
      '\0',
      '```\n',
      '<<<<<<< a\n',
      '=======\n',
      '>>>>>>> b\n',
      `\n${document}\n`,
      '{',
      '}',
      '"',
      '\n',
      '\uFEFF',
    ),
  });
  const sound = conflict.filter((line) => !/^[<|=>]/.test(line)).join('\n');
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 8 }), fc.constantFrom(undefined, 'ours', 'second'), (edits, choice) => {
      const text = edits.reduce((was, { at, cut, put }) => was.slice(0, at) + put + was.slice(at + cut), sound);
      const rescued = rescue(text, choice);
      const lines = text.split('\n').length;
      const faults =
        rescued.what === 'document'
          ? rescued.faults
          : rescued.what === 'several'
            ? rescued.sides.flatMap((side) => side.faults)
            : [];
      for (const { line, column, problem } of faults) {
        assert.ok(line >= 1 && line <= lines && column >= 1, problem);
        assert.match(problem, /^It .*\.$/);
      }
      if (rescued.what === 'several') assert.ok(rescued.sides.length > 1);
    }),
    { numRuns: 1000 },
  );
});

test('a large file takes no more time than its size, whole or damaged', () => {
  const items = Array.from({ length: 60_000 }, (_, index) => ({ id: index, a: 'x'.repeat(100), b: [1, 2, 3] }));
  const large = JSON.stringify({ id: 1, items }, null, 2);
  assert.ok(large.length > 10_000_000);
  const damaged = [
    large,
    large.slice(0, -9),
    `${large}\n${large}`,
    large.replaceAll(',\n', '\n'),
    `<<<<<<< a\n${large}\n=======\n{}\n>>>>>>> b`,
  ];
  for (const text of damaged) {
    const begun = performance.now();
    rescue(text);
    assert.ok(performance.now() - begun < 20_000, text.slice(0, 10));
  }
});
