import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parsePaths, parsePattern } from './linear-pattern.ts';

const whole = { begins: true, ends: true };

/** What a pattern finds in a text, as the texts themselves. */
const foundBy = (source: string, text: string, edges = whole): readonly string[] => {
  const pattern = parsePattern(source);
  assert.ok(pattern.ok, `${source}: ${JSON.stringify(pattern)}`);
  return pattern.value.find(text, 0, text.length, edges).map(({ start, end }) => text.slice(start, end));
};

test('what matches is found, as Python and JavaScript write it', () => {
  const rows: readonly (readonly [source: string, text: string, ...found: string[]])[] = [
    ['zz-[a-z]+', 'a zz-hidden, zz-x', 'zz-hidden', 'zz-x'],
    ['ab', 'abab', 'ab', 'ab'],
    ['(?i)secret', 'a SeCrEt', 'SeCrEt'],
    ['(?i)[a-c]+', 'xABCx', 'ABC'],
    [String.raw`\d{3}-\d{2,}`, '12-34 123-4567', '123-4567'],
    [String.raw`x{2}y{,2}z?`, 'xxyyz', 'xxyyz'],
    ['x{', 'x{', 'x{'],
    ['a.c', 'abc a\nc', 'abc'],
    ['(?s)a.c', 'a\nc', 'a\nc'],
    ['^ab', 'ab\nab', 'ab'],
    ['(?m)^ab$', 'ab\nab\nabc', 'ab', 'ab'],
    ['ab$', 'ab ab\n', 'ab'],
    [String.raw`ab\Z`, 'ab ab\n'],
    [String.raw`\Aab`, 'ab ab', 'ab'],
    [String.raw`\bkey\b`, 'key keys monkey key', 'key', 'key'],
    [String.raw`\Bkey`, 'key monkey', 'key'],
    ['(?P<name>a|b)(?:c|d)(?<other>e)', 'ace bde abe', 'ace', 'bde'],
    ['foo|foobar', 'foobar', 'foobar'],
    ['[^;]+;', 'a;bc;', 'a;', 'bc;'],
    ['[]a-]+', 'x]-a', ']-a'],
    [String.raw`[\w.]+@[\w.]+`, 'mail a.b@c.d now', 'a.b@c.d'],
    [String.raw`[\]\\\-]+`, String.raw`a]\-b`, String.raw`]\-`],
    [String.raw`\x41\u0042\t`, 'AB\t', 'AB\t'],
    ['(a*)*b', 'aaab', 'aaab'],
    ['(a|a)*b', 'aab', 'aab'],
    ['é+', 'caféé', 'éé'],
    ['😀.', 'a😀😀b', '😀😀b'],
    [String.raw`\w+`, 'naïve ключ', 'naïve', 'ключ'],
  ];
  for (const [source, text, ...found] of rows) assert.deepEqual(foundBy(source, text), found, source);
});

test('matches that overlap are one, so that nothing of any of them is left', () => {
  assert.deepEqual(foundBy('aba', 'xababay'), ['ababa']);
  assert.deepEqual(foundBy('a|abcd|bc', 'abcd'), ['abcd']);
});

test('where a text goes on behind a mark, no anchor and no word ends', () => {
  for (const source of ['^a', String.raw`\ba`, String.raw`\Ba`, String.raw`\Aa`, '(?m)^a'])
    assert.deepEqual(foundBy(source, 'a', { begins: false, ends: true }), [], source);
  for (const source of ['a$', String.raw`a\b`, String.raw`a\B`, String.raw`a\Z`, '(?m)a$'])
    assert.deepEqual(foundBy(source, 'a', { begins: true, ends: false }), [], source);
  assert.deepEqual(foundBy('a', 'a', { begins: false, ends: false }), ['a']);
});

test('what is not legal is refused by its name and place', () => {
  const rows: readonly (readonly [source: string, construct: string, at: number])[] = [
    ['a(?=b)', 'look-ahead', 1],
    ['a(?!b)', 'look-ahead', 1],
    ['(?<=b)a', 'look-behind', 0],
    ['(?<!b)a', 'look-behind', 0],
    [String.raw`(a)\1`, 'back-reference', 3],
    [String.raw`(?<x>a)\k<x>`, 'back-reference', 7],
    ['(?P<x>a)(?P=x)', 'back-reference', 8],
    ['(?>a)', 'atomic group', 0],
    ['(a)?(?(1)b|c)', 'conditional', 4],
    ['a(?#x)', 'comment', 1],
    ['(?R)a', 'recursion', 0],
    ['a*?', 'a lazy quantifier', 1],
    ['a{2,3}?', 'a lazy quantifier', 1],
    ['a*+', 'a possessive quantifier', 1],
    ['a**', 'a quantifier of a quantifier', 2],
    ['a{2}{3}', 'a quantifier of a quantifier', 4],
    ['*a', 'a quantifier behind nothing', 0],
    ['^*a', 'a quantifier behind an anchor', 1],
    ['a{3,2}', 'a repetition whose limits are turned round', 0],
    ['(?x)a', 'the flag x', 0],
    ['a(?i:b)', 'flags inside of a pattern', 1],
    ['a(?i)b', 'flags inside of a pattern', 1],
    [String.raw`\p{L}`, 'a Unicode property', 0],
    [String.raw`\q`, String.raw`the escape \q`, 0],
    ['[[:alpha:]]', 'a POSIX class', 1],
    ['[', 'a class that is not closed', 0],
    ['[z-a]', 'a range that is none', 2],
    ['(a', 'a group that is not closed', 0],
    ['a)', 'a bracket that closes nothing', 1],
    ['a\\', 'a backslash at the end', 1],
    ['', 'a pattern that matches the empty text', 0],
    ['a*', 'a pattern that matches the empty text', 0],
    ['a|', 'a pattern that matches the empty text', 0],
    [String.raw`\b$`, 'a pattern that matches the empty text', 0],
    ['a{1001}', 'a pattern that is too large', 0],
    ['((a{99}){99}){99}', 'a pattern that is too large', 0],
    ['('.repeat(101) + 'a' + ')'.repeat(101), 'groups that lie too deep', 100],
  ];
  for (const [source, construct, at] of rows) {
    const pattern = parsePattern(source);
    assert.ok(!pattern.ok, source);
    assert.deepEqual([pattern.error.construct, pattern.error.at], [construct, at], source);
    assert.ok(pattern.error.hint.length > 5);
  }
});

test('any text is a pattern or refused', () => {
  const piece = fc.constantFrom(...Array.from('ab()[]{}*+?|^$\\.,-1d:<=!P#'), '(?', '(?:', '[^', '{2,3}', '\\b');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.string(), (pieces, text) => {
      const pattern = parsePattern(pieces.join(''));
      if (pattern.ok) pattern.value.find(text, 0, text.length, whole);
      else assert.ok(pattern.error.construct !== '' && pattern.error.at <= pieces.join('').length);
    }),
    { numRuns: 5000 },
  );
});

test('what is found is what some match of JavaScript covers', () => {
  const atom = fc.constantFrom('a', 'b', '[ab]', '[^a]', '.', String.raw`\w`, 'ab', '(?:a|bb)', '(?:ab?)');
  const quantified = fc
    .tuple(atom, fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,2}'))
    .map((pair) => pair.join(''));
  const source = fc
    .tuple(fc.constantFrom('', '', '^', String.raw`\b`), fc.array(quantified, { minLength: 1, maxLength: 4 }))
    .map(([anchor, parts]) => anchor + parts.join(''))
    .chain((branch) => fc.constantFrom(branch, `${branch}|ba`, `(?:${branch})+b`));
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'c'), maxLength: 9 });
  fc.assert(
    fc.property(source, text, (pattern, subject) => {
      const parsed = parsePattern(pattern);
      if (!parsed.ok) return;
      const covered = Array.from(subject, () => false);
      for (let start = 0; start < subject.length; start += 1) {
        for (let end = start + 1; end <= subject.length; end += 1) {
          // The match from here to there, if there is one, with what stands around it.
          const here = new RegExp(`(?:${pattern})(?<=^[^]{${end}})`, 'y');
          here.lastIndex = start;
          if (here.exec(subject)?.[0].length === end - start) covered.fill(true, start, end);
        }
      }
      const found = Array.from(subject, () => false);
      for (const { start, end } of parsed.value.find(subject, 0, subject.length, whole)) found.fill(true, start, end);
      assert.deepEqual(found, covered, `${pattern} in ${JSON.stringify(subject)}`);
    }),
    { numRuns: 3000 },
  );
});

test('each character is looked at as often however long the text is', () => {
  const texts = ['a', 'ab', 'x ', 'aaaa b'];
  for (const source of ['(a*)*b', '(a|a)*c', 'x.*y|x', '(?:a+)+$', 'a{1,50}b', String.raw`\b\w+\s*\w+!`]) {
    const pattern = parsePattern(source);
    assert.ok(pattern.ok);
    for (const unit of texts) {
      const looks = (length: number): number => {
        const text = unit.repeat(length / unit.length);
        let count = 0;
        const codePointAt: unknown = Reflect.get(String.prototype, 'codePointAt');
        assert.ok(typeof codePointAt === 'function');
        Reflect.set(String.prototype, 'codePointAt', function counting(this: string, at: number) {
          count += 1;
          return Reflect.apply(codePointAt, this, [at]);
        });
        try {
          pattern.value.find(text, 0, text.length, whole);
        } finally {
          Reflect.set(String.prototype, 'codePointAt', codePointAt);
        }
        return count;
      };
      const [once, twice] = [looks(12_000), looks(24_000)];
      assert.ok(twice <= once * 2 + 100, `${source} in ${unit}: ${once}, then ${twice}`);
      assert.ok(once <= 12_000 * 4);
    }
  }
});

test('a path is matched as a shell does it, piece by piece', () => {
  const rows: readonly (readonly [glob: string, path: string, matches: boolean])[] = [
    ['bundle.documents.handover_markdown', 'bundle.documents.handover_markdown', true],
    ['bundle.documents.handover_markdown', 'bundle.documents', false],
    ['bundle.*', 'bundle.report.summary.steps.0', true],
    ['*.steps.?', 'bundle.report.steps.0', true],
    ['*.steps.?', 'bundle.report.steps.10', false],
    ['b[ax]r', 'bar', true],
    ['b[!ax]r', 'bar', false],
    ['b[!ax]r', 'bor', true],
    ['b[a-f]r', 'bcr', true],
    ['b[]]r', 'b]r', true],
    ['b[ar', 'b[ar', true],
    ['Bundle', 'bundle', false],
    ['', '', true],
    ['a+(b)', 'a+(b)', true],
  ];
  for (const [glob, path, matches] of rows) {
    const paths = parsePaths([glob]);
    assert.equal(paths.accepts(paths.step(paths.start, path)), matches, `${glob} and ${path}`);
    let state = paths.start;
    for (const character of path) state = paths.step(state, character);
    assert.equal(paths.accepts(state), matches);
  }
  const several = parsePaths(['a', 'b*']);
  assert.deepEqual(
    ['a', 'bc', 'c'].map((path) => several.accepts(several.step(several.start, path))),
    [true, true, false],
  );
  const none = parsePaths([]);
  assert.equal(none.accepts(none.step(none.start, '')), false);
});
