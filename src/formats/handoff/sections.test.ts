import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bodyLines, conflictIn, printSections, readSections, rootHeading, sidesIn, withBody } from './sections.ts';

const namesOf = (text: string): readonly string[] => readSections(text).sections.map(({ name }) => name);

/** Lines as documents have them: headings, fences, marks of merges, blank ones, with either end or none. */
const line = fc.oneof(
  fc.constantFrom(
    '# Session State',
    '## Status',
    '## Blockers',
    '## ',
    '### more',
    ' ## no',
    '```',
    '```ts',
    '~~~~',
    '',
  ),
  fc.constantFrom(
    'in-progress',
    '- one',
    '  goes on',
    '1. first',
    '<<<<<<< HEAD',
    '=======',
    '>>>>>>> main',
    '\u2028## X',
  ),
  fc.string({ maxLength: 12 }),
);
const documents = fc
  .tuple(fc.boolean(), fc.array(fc.tuple(line, fc.constantFrom('\n', '\n', '\r\n')), { maxLength: 30 }), line)
  .map(([mark, lines, last]) => `${mark ? '\uFEFF' : ''}${lines.map((one) => one.join('')).join('')}${last}`);

test('a document is printed as it was read, whatever it holds', () => {
  fc.assert(
    fc.property(fc.oneof(documents, fc.string()), (text) => {
      assert.equal(printSections(readSections(text)), text);
    }),
    { numRuns: 2000 },
  );
});

test('other lines in one section leave every other byte as it was, and are read back, or are refused', () => {
  const wanted = fc.array(line, { maxLength: 4 }).map((lines) => lines.map((one) => one.replaceAll(/[\r\n]/g, '')));
  fc.assert(
    fc.property(documents, wanted, fc.nat(), (text, lines, pick) => {
      const before = readSections(text);
      const at = pick % Math.max(1, before.sections.length);
      const name = before.sections[at]?.name ?? 'Status';
      const after = withBody(before, name, lines);
      if (!after.ok) return;
      const again = readSections(printSections(after.value));
      assert.equal(again.head, before.head);
      assert.deepEqual(
        again.sections.filter((section) => section.name !== name).map(({ heading, body }) => heading + body),
        before.sections.filter((section) => section.name !== name).map(({ heading, body }) => heading + body),
      );
      const body = again.sections.find((section) => section.name === name)?.body ?? '';
      assert.deepEqual(bodyLines(body), bodyLines(lines.join('\n')));
    }),
    { numRuns: 2000 },
  );
});

test('what is written has the line ends of its section, and the blank lines around it stay', () => {
  const text = '\uFEFF# Session State\r\n\r\n## Task\r\nold\r\nlines\r\n\r\n\r\n## Notes\nmine\n';
  const changed = withBody(readSections(text), 'Task', ['new', '- two']);
  assert.ok(changed.ok);
  assert.equal(
    printSections(changed.value),
    '\uFEFF# Session State\r\n\r\n## Task\r\nnew\r\n- two\r\n\r\n\r\n## Notes\nmine\n',
  );
});

test('lines that would open a section, or hide the next one, are refused, and so is a section that is there twice', () => {
  const document = readSections('# S\n\n## A\na\n\n## B\nb\n\n## B\nb\n');
  for (const [name, lines] of [
    ['A', ['## Status', 'done']],
    ['A', ['```', 'open']],
    ['B', ['b']],
    ['C', ['c']],
  ] as const)
    assert.equal(withBody(document, name, lines).ok, false, name);
  assert.equal(withBody(document, 'A', ['```', '## Status', '```']).ok, true);
});

test('a section opens at a line that begins with two hashes and a blank, and not inside of a fenced block', () => {
  assert.deepEqual(namesOf('## A\n### B\n ## C\n##D\n##  E \n'), ['A', 'E']);
  assert.deepEqual(namesOf('## A\n```\n## no\n```\n## B\n~~~\n```\n## no\n~~~~\n## C\n'), ['A', 'B', 'C']);
  assert.deepEqual(namesOf('## A\n````\n```\n## no\n````\n## B\n'), ['A', 'B']);
  assert.deepEqual(namesOf('## A\n`` `x` ``\n```a`b\n## B\n'), ['A', 'B']);
  assert.deepEqual(namesOf('## A\r\nx\u2028## no\r\n## B\r\n'), ['A', 'B']);
});

test('the root heading is the first line that says something', () => {
  for (const text of ['# Handover\n', '\uFEFF# Handover\r\n', '\n  \n# Handover  \n\n## A\n'])
    assert.equal(rootHeading(readSections(text)), '# Handover');
  assert.equal(rootHeading(readSections('## A\n')), '');
});

test('a conflict is told by its first line, in either style; rules and headings are none', () => {
  assert.equal(conflictIn('a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> main\n'), 2);
  assert.equal(conflictIn('<<<<<<< HEAD\r\nb\r\n||||||| base\r\n=======\r\nc\r\n>>>>>>> main\r\n'), 1);
  assert.equal(conflictIn('a\n<<<<<<<< HEAD:a.md\nb\n========\nc\n>>>>>>>> main:b.md\n'), 2);
  assert.deepEqual(sidesIn('a\n<<<<<<<< HEAD:a.md\nb\n|||||||| 12\n0\n========\nc\n>>>>>>>> main:b.md\n'), [
    { line: 2, ours: 'b', theirs: 'c' },
  ]);
  assert.equal(conflictIn('Title\n=======\n'), undefined);
  assert.equal(conflictIn('<<<<<<< and nothing more\n'), undefined);
});
