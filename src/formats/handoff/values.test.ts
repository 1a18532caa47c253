import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstLine, isNone, labelled, listItems, plainValue } from './values.ts';

test('a value is what is meant by it', () => {
  for (const [text, value] of [
    ['  in-progress ', 'in-progress'],
    ['`src/a.ts`', 'src/a.ts'],
    ['<src/a.ts>', 'src/a.ts'],
    ['[here](../handovers/x.md)', '../handovers/x.md'],
    ['`a.ts` and `b.ts`', '`a.ts` and `b.ts`'],
    ['a <b> c', 'a <b> c'],
  ] as const)
    assert.equal(plainValue(text), value, text);
  assert.equal(firstLine('\n\n- Ship it\nmore\n'), 'Ship it');
});

test('none is none in any case, with backticks or without; what only begins so is not', () => {
  for (const text of ['None', ' none ', '`None`', '', '``']) assert.ok(isNone(text), text);
  for (const text of ['None yet', 'nonesuch', 'no']) assert.ok(!isNone(text), text);
});

test('the items of a list keep the lines that go on with them, whatever marks them', () => {
  assert.deepEqual(listItems('1. first\n   goes on\n2) second\n- `third`\n* fourth\n+ None\n'), [
    'first\ngoes on',
    'second',
    'third',
    'fourth',
  ]);
  assert.deepEqual(listItems('- one\u2028more\n'), ['one\u2028more'], 'a line ends with a line feed alone');
  assert.deepEqual(listItems('1. None\n'), []);
  assert.deepEqual(listItems('no list\n'), []);
});

test('what stands behind a label ends at the next one', () => {
  const body =
    '- First file to open: `src/a.ts`\n- Prerequisites:\n  export A\n  export B\n- Next command to run: None\n';
  assert.deepEqual(labelled(body, 'First file to open'), ['src/a.ts']);
  assert.deepEqual(labelled(body, 'Prerequisites'), ['export A', 'export B']);
  assert.deepEqual(labelled(body, 'Next command to run'), []);
  assert.deepEqual(labelled(body, 'Nothing'), []);
});
