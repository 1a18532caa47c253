import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Batch } from './document.ts';
import { lookupFor, resolveArgs, tokenize, type NodeResult } from './references.ts';

const completed = (more: Partial<NodeResult> = {}): NodeResult => ({
  status: 'completed',
  session_id: null,
  output_path: null,
  output: null,
  artifacts: [],
  ...more,
});

const batch = (number: number, ...nodes: readonly string[]): Batch => ({
  batch: number,
  nodes,
  parallel: nodes.length > 1,
});

/** Fills in a template with what is known of the context and of nodes, as the node `Z` behind all of them sees it. */
const fill = (
  argsTemplate: string,
  context: Readonly<Record<string, string>> = {},
  results: Readonly<Record<string, NodeResult>> = {},
) => {
  const ids = Object.keys(results);
  const batches = [...ids.map((id, index) => batch(index + 1, id)), batch(ids.length + 1, 'Z')];
  return resolveArgs(tokenize(argsTemplate), lookupFor('Z', batches, context, new Map(Object.entries(results))));
};

/** What is hostile to those who look at a value twice, or let a pattern, a shell or a format look at it. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('{', '}', '$', '&', '`', "'", '"', '\n', '\\', 'a', '.', '\uD800', '\0') }),
  fc.constantFrom(
    '$(touch x)',
    '`id`',
    '{N-001.session_id}',
    '$&',
    "$'",
    '$1',
    '{{',
    '}}',
    '{goal}',
    '\r\n',
    '__proto__',
  ),
);

test('a value comes out byte for byte, whatever it is and wherever it stands', () => {
  fc.assert(
    fc.property(hostile, hostile, hostile, (goal, session, output) => {
      const results = { 'N-001': completed({ session_id: session, output, output_path: goal, artifacts: [output] }) };
      const { text, warnings } = fill(
        '{goal}|{N-001.session_id}|{N-001.output_path}|{N-001.artifacts[0]}|{prev_session_id}|{goal}',
        { goal },
        results,
      );
      assert.equal(text, [goal, session, goal, output, session, goal].join('|'));
      assert.deepEqual(warnings, []);
    }),
  );
});

test('a text without braces is one part and stays what it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const plain = text.replaceAll(/[{}]/g, '');
      assert.equal(fill(plain).text, plain);
    }),
  );
});

test('a template is taken apart without losing anything: braces that are doubled come out as they were', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('{', '}', 'a', '.', '1', ' ', '"', ':') }), (text) => {
      const escaped = text.replaceAll('{', '{{').replaceAll('}', '}}');
      // Each brace of the text is one of a pair there, in the order of the text.
      assert.equal(fill(escaped).text, text);
      assert.ok(tokenize(escaped).every(({ kind }) => kind === 'text'));
    }),
  );
});

test('JSON stays as it is, with references filled in, and doubled braces in it are braces', () => {
  const context = { goal: 'x' };
  const cases: readonly (readonly [string, string])[] = [
    ['{"a": 1}', '{"a": 1}'],
    ['{"a":{"b":{}}}', '{"a":{"b":{}}}'],
    ['{"a":{"b":{goal}}}', '{"a":{"b":x}}'],
    ['{{"a":1}}', '{"a":1}'],
    ['{{"a":{{"b":{goal}}}}}', '{"a":{"b":x}}'],
    ['{{"a":{"b":1}}}', '{"a":{"b":1}}'],
    ['{{{goal}}}', '{x}'],
    ['{{goal}}', '{goal}'],
    ['{ goal }', '{ goal }'],
    ['{}', '{}'],
    ['{', '{'],
    ['}', '}'],
    ['a{3,5}b{1}', 'a{3,5}b{1}'],
    ['{goal', '{goal'],
  ];
  for (const [template, expected] of cases) assert.equal(fill(template, context).text, expected, template);
});

test('names of fields may be those of the language', () => {
  const context = Object.fromEntries([
    ['__proto__', 'p'],
    ['constructor', 'c'],
  ]);
  assert.equal(fill('{__proto__}{constructor}', context).text, 'pc');
  const nothing = fill('{toString}{__proto__}');
  assert.equal(nothing.text, '');
  assert.deepEqual(nothing.warnings, [
    'W-REF-EMPTY: {toString} is empty: the context has no toString.',
    'W-REF-EMPTY: {__proto__} is empty: the context has no __proto__.',
  ]);
});

test('an id may hold dots: the field is what stands behind the last one', () => {
  assert.equal(fill('{build.v2.output}', {}, { 'build.v2': completed({ output: 'o' }) }).text, 'o');
});

test('what has no value is empty, and told with W-REF-EMPTY', () => {
  const results = { A: completed({ artifacts: ['one.md'] }) };
  const cases: readonly (readonly [string, RegExp])[] = [
    ['{A.artifacts[1]}', /^W-REF-EMPTY: \{A\.artifacts\[1\]\} is empty: A has 1 artifact, from \[0\] on\.$/],
    ['{A.session_id}', /A is completed and has left no session_id\.$/],
    ['{B.output}', /B has no result\.$/],
    ['{A.length}', /nothing is known of a node as length\.$/],
    ['{prev_output}', /A is completed and has left no output\.$/],
    ['{prev_outputs}', /has left no output\.$/],
  ];
  for (const [template, warning] of cases) {
    const { text, warnings } = fill(`<${template}>`, {}, results);
    assert.equal(text, '<>', template);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', warning);
  }
  assert.match(fill('{prev_session_id}').warnings[0] ?? '', /nothing before it has completed\.$/);
  assert.deepEqual(fill('{A.status}{A.artifacts[0]}', {}, results), { text: 'completedone.md', warnings: [] });
});

test('the work before is the nearest that has completed: no checkpoint, nothing skipped or failed, no sibling', () => {
  const batches = [batch(1, 'A'), batch(2, 'B'), batch(3, 'CP'), batch(4, 'C', 'D', 'E'), batch(5, 'F')];
  const seen = (node: string, done: Readonly<Record<string, string>>): string => {
    const results = new Map(
      Object.entries(done).map(([id, status]) => [id, completed({ status, output: `of ${id}` })]),
    );
    return resolveArgs(tokenize('{prev_output}'), lookupFor(node, batches, {}, results)).text;
  };
  assert.equal(seen('B', { A: 'completed' }), 'of A');
  assert.equal(seen('C', { A: 'completed', B: 'completed' }), 'of B', 'over a checkpoint');
  assert.equal(seen('C', { A: 'completed', B: 'skipped' }), 'of A', 'over what was skipped');
  assert.equal(seen('D', { A: 'completed', B: 'failed', C: 'completed' }), 'of A', 'a sibling is not before');
  assert.equal(seen('F', { B: 'completed', C: 'completed', D: 'completed', E: 'failed' }), 'of D');
  assert.equal(seen('F', { B: 'completed', C: 'failed', D: 'running', E: 'pending' }), 'of B');
  assert.equal(seen('A', { B: 'completed' }), '');
});

test('behind a group all outputs are had with their ids, in the order of the plan', () => {
  const results = new Map([
    ['D', completed({ output: 'second' })],
    ['C', completed({ output: 'first' })],
    ['E', completed({ status: 'failed', output: 'third' })],
  ]);
  const lookup = lookupFor('F', [batch(1, 'C', 'D', 'E'), batch(2, 'F')], {}, results);
  assert.equal(resolveArgs(tokenize('{prev_outputs}'), lookup).text, 'C:\nfirst\n\nD:\nsecond');
});

test('an output is filled in up to 16 KiB, then its path is named, and no character is cut in two', () => {
  const limit = 16 * 1024;
  const whole = 'é'.repeat(limit / 2);
  assert.equal(fill('{A.output}', {}, { A: completed({ output: whole }) }).text, whole);
  const long = `x${'é'.repeat(limit / 2)}`;
  const cut = fill('{prev_output}', {}, { A: completed({ output: long, output_path: 'artifacts/A.md' }) }).text;
  assert.equal(cut, `x${'é'.repeat(limit / 2 - 1)}\n[cut after 16 KiB; all of it is in artifacts/A.md]`);
  const pairs = fill('{A.output}', {}, { A: completed({ output: `xxx${'😀'.repeat(5000)}` }) }).text;
  assert.ok(pairs.isWellFormed());
  assert.match(pairs, /\n\[cut after 16 KiB\]$/);
});

test('a long template with nothing but braces is taken apart in a moment', () => {
  const started = performance.now();
  for (const unit of ['{', '}', '{a', '{a.', '{a}', '}}{{{', '{a.a']) tokenize(unit.repeat(200_000));
  tokenize(`{${'a.'.repeat(200_000)}`);
  tokenize(`{${'a'.repeat(400_000)}`);
  assert.ok(performance.now() - started < 20_000);
});
