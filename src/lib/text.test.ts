import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  compareNames,
  displayWidth,
  oneLine,
  padEnd,
  plainJson,
  plainLine,
  plainText,
  sizeText,
  stripControls,
  truncate,
  truncateBytes,
  utf8Length,
  wellFormed,
} from './text.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 100 });

/** Any UTF-16 code units at all, so lone surrogates too. */
const anyUnits = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xff_ff }).map((unit) => String.fromCharCode(unit)),
    fc.constantFrom('\ud83d', '\ude00', 'a', '\r', '\n'),
  ),
  maxLength: 60,
});

const FAMILY = '👩\u200d👩\u200d👧\u200d👦';
const RAINBOW = '🏳\ufe0f\u200d🌈';

/** Text made of whole characters, many of them long. */
const characters = fc.constantFrom(
  FAMILY,
  RAINBOW,
  '👍🏽',
  '☝🏽',
  '🇩🇪',
  '1\ufe0f\u20e3',
  'e\u0301',
  '각',
  '\u1112\u1161\u11ab',
  'क्षि',
  'क',
  'นำ',
  '修',
  'a',
  ' ',
  '\r\n',
);
const sound = fc.string({ unit: characters, maxLength: 40 });

/** The same with pieces of characters strewn in. */
const clusters = fc.string({
  unit: fc.oneof(
    characters,
    fc.constantFrom(
      '🇫',
      '\u200d',
      '\ufe0f',
      '\u0301',
      '\u1100',
      '\u1161',
      '\u11a8',
      '\u094d',
      '\u0600',
      '\u0e33',
      '🏽',
      '🔥',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 40,
});

test('controls go, tab and newline stay, CRLF becomes a newline', () => {
  assert.equal(stripControls('a\u001b[31mb\u0007\u009b\u007f\0'), 'a[31mb');
  assert.equal(stripControls('a\tb\r\nc\rd\n'), 'a\tb\ncd\n');
  assert.equal(stripControls('WFR-x\u202egnp\u2066y\u2069'), 'WFR-xgnpy');
  assert.equal(stripControls('zero\u200dwidth joiner, ü, 修, 🔥 stay'), 'zero\u200dwidth joiner, ü, 修, 🔥 stay');
});

test('of all code units, those and only those that control a terminal go', () => {
  const isControl = (unit: number): boolean =>
    (unit < 0x20 && unit !== 9 && unit !== 10) ||
    (unit >= 0x7f && unit <= 0x9f) ||
    (unit >= 0x20_2a && unit <= 0x20_2e) ||
    (unit >= 0x20_66 && unit <= 0x20_69);
  for (let unit = 0; unit <= 0xff_ff; unit += 1) {
    const character = String.fromCharCode(unit);
    assert.equal(stripControls(`a${character}b`), isControl(unit) ? 'ab' : `a${character}b`, unit.toString(16));
  }
});

test('a lone surrogate becomes U+FFFD and nothing else changes', () => {
  assert.equal(wellFormed('cut \ud83d, \ude00, 😀'), 'cut \ufffd, \ufffd, 😀');
  fc.assert(
    fc.property(anyUnits, (text) => assert.equal(wellFormed(text), Buffer.from(text, 'utf8').toString('utf8'))),
  );
});

test('a short text is not cut, a long one ends in an ellipsis and fits', () => {
  assert.equal(truncate('abc', 3), 'abc');
  assert.equal(truncate('abcd', 3), 'ab…');
  assert.equal(truncate('abcd', 1), '…');
  assert.equal(truncate('abcd', 0), '');
  assert.equal(truncate('abcd', -5), '');
  assert.equal(truncate('abcd', 3.9), 'ab…');
  assert.equal(truncate('', 0), '');
});

test('a cut never tears apart what a reader sees as one character', () => {
  assert.equal(truncate('🔥🔥', 3), '🔥…');
  assert.equal(truncate('🔥🔥', 2), '…');
  assert.equal(truncate(`${FAMILY} family`, 10), '…');
  assert.equal(truncate(`${FAMILY} family`, FAMILY.length + 1), `${FAMILY}…`);
  assert.equal(truncate('🇩🇪🇫🇷🇮🇹', 8), '🇩🇪…');
  assert.equal(truncate('abcde\u0301f', 6), 'abcd…');
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
  const bordersOf = (text: string, max: number): readonly number[] =>
    [...segmenter.segment(text)].map(({ index }) => index).filter((index) => index < max);
  const max = fc.integer({ min: 1, max: 60 });
  fc.assert(
    fc.property(clusters, max, (text, most) => {
      const cut = truncate(text, most);
      if (text.length <= most) return assert.equal(cut, text);
      assert.ok(cut.length <= most && cut.endsWith('…') && text.startsWith(cut.slice(0, -1)));
      assert.ok(bordersOf(text, most).includes(cut.length - 1), `torn at ${cut.length - 1}`);
      assert.doesNotMatch(cut, /\u200d…$/, 'no joiner is left dangling');
    }),
    { numRuns: 10_000 },
  );
  fc.assert(
    fc.property(sound, max, (text, most) => {
      const cut = truncate(text, most);
      if (text.length > most)
        assert.equal(cut, `${text.slice(0, bordersOf(text, most).at(-1))}…`, 'no more than needed');
    }),
    { numRuns: 10_000 },
  );
});

test('cutting a flood of marks or half flags takes one pass', () => {
  assert.equal(truncate(`a${'\u0301'.repeat(300_000)}`, 250_000), '…');
  assert.equal(truncate('🇩🇪'.repeat(100_000), 300_003).length, 300_001);
});

const goalsPath = '../shared/cases/J01-lone-surrogate/goals.txt';

test(
  'the goals of case J01, cut anywhere, hold no half character',
  { skip: !existsSync(goalsPath) && `${goalsPath} is absent` },
  () => {
    const goals = readFileSync(goalsPath, 'utf8').trimEnd().split('\n');
    assert.ok(goals.length > 2);
    for (const goal of [...goals, goals.join(' ')]) {
      for (let max = 1; max <= 64; max += 1) {
        const cut = truncate(goal, max);
        assert.ok(cut.isWellFormed() && cut.length <= max);
      }
    }
  },
);

test('width is counted in terminal columns', () => {
  const widths: readonly (readonly [string, number])[] = [
    ['', 0],
    ['abc', 3],
    ['äöü', 3],
    ['修复登录', 8],
    ['긴제목', 6],
    ['\u1112\u1161\u11ab', 2],
    ['ｆｕｌｌ', 8],
    ['ｶﾅ', 2],
    ['e\u0301', 1],
    ['\u0301', 0],
    ['a\u200bb\ufeff', 2],
    ['a\tb\n', 2],
    ['🔥', 2],
    [FAMILY, 2],
    [RAINBOW, 2],
    ['👍🏽', 2],
    ['☝🏽', 2],
    ['🏽', 2],
    ['🇩🇪🇫🇷', 4],
    ['1\ufe0f\u20e3', 2],
    ['❤', 1],
    ['❤\ufe0f', 2],
    ['a\ufe0f', 1],
    ['✅ done', 7],
    ['…', 1],
    ['\ud83d', 1],
    ['कि', 2],
    ['न\u0947', 1],
    ['𠀀', 2],
  ];
  for (const [text, width] of widths) assert.equal(displayWidth(text), width, JSON.stringify(text));
});

test('width never exceeds two columns a code point and adds up over a space', () => {
  fc.assert(
    fc.property(clusters, clusters, (a, b) => {
      assert.ok(displayWidth(a) >= 0 && displayWidth(a) <= Array.from(a).length * 2);
      assert.equal(displayWidth(`${a} |${b}`), displayWidth(`${a} `) + displayWidth(`|${b}`));
    }),
    { numRuns: 2000 },
  );
});

test('padding reaches the wanted column and never cuts', () => {
  assert.equal(padEnd('修', 4), '修  ');
  assert.equal(padEnd('abcdef', 3), 'abcdef');
  fc.assert(
    fc.property(anyText, fc.integer({ min: 0, max: 80 }), (text, columns) => {
      const padded = padEnd(text, columns);
      assert.ok(padded.startsWith(text));
      assert.equal(displayWidth(padded), Math.max(columns, displayWidth(text)));
    }),
  );
});

test('one line has no breaks, no runs of space and no edges', () => {
  assert.equal(oneLine('  a\n\n\tb \r\n c\t'), 'a b c');
  fc.assert(
    fc.property(anyText, (text) => {
      const line = oneLine(text);
      assert.doesNotMatch(line, /[^\S ]|  |^ | $/);
      assert.equal(line.replaceAll(' ', ''), text.replaceAll(/\s/g, ''));
    }),
  );
});

test('a plain line has no breaks, no controls, nothing that hides, and no half characters', () => {
  assert.equal(plainLine(' a\r\n\u0000b\u202e \u200bc \u{e0041} d\ufeff \ud83d '), 'a b c d \ufffd');
  assert.equal(plainLine(FAMILY), FAMILY, 'what joins an emoji stays');
  fc.assert(
    fc.property(anyUnits, (text) => {
      const plain = plainLine(text);
      assert.ok(plain.isWellFormed());
      assert.doesNotMatch(plain, /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
      assert.equal(plainLine(plain), plain);
    }),
  );
});

test('JSON for a terminal says the same, and holds nothing that the terminal is not given', () => {
  assert.equal(plainJson(JSON.stringify('a\u009b\u202e\u{e0041}é')), String.raw`"a\u009b\u202e\udb40\udc41é"`);
  fc.assert(
    fc.property(anyUnits, (text) => {
      const json = plainJson(JSON.stringify(text));
      assert.equal(JSON.parse(json), text);
      assert.equal(plainText(json), json);
    }),
  );
});

test('a text that is cut to a number of bytes has no more of them, and is cut between characters', () => {
  assert.equal(truncateBytes('short', 5), 'short');
  assert.equal(truncateBytes('修复登录', 9), '修复…');
  assert.equal(truncateBytes(FAMILY.repeat(3), 40), `${FAMILY}…`);
  fc.assert(
    fc.property(anyText, fc.integer({ min: 3, max: 60 }), (text, max) => {
      const cut = truncateBytes(text, max);
      assert.ok(utf8Length(cut) <= max);
      assert.ok(cut === text || cut.endsWith('…'));
    }),
  );
});

test('a number of bytes is told as a person would', () => {
  assert.deepEqual([0, 1023, 1024, 700_000, 1_100_000].map(sizeText), [
    '0 bytes',
    '1023 bytes',
    '1 KB',
    '684 KB',
    '1.0 MB',
  ]);
});

test('names are ordered as the tables of languages have it, numbers by their value', () => {
  assert.deepEqual(['r10.md', 'R2.md', 'r1.md', '20260101_0100', '20251231_2359'].toSorted(compareNames), [
    '20251231_2359',
    '20260101_0100',
    'r1.md',
    'R2.md',
    'r10.md',
  ]);
  const { compare } = new Intl.Collator('en', { numeric: true });
  const name = fc.array(fc.constantFrom('0', '1', '12', '9', 'a', 'B', '_', '-', '.', 'é', '\u0301', '٣'), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(name, name, name, (start, one, other) => {
      const [a, b] = [[...start, ...one].join(''), [...start, ...other].join('')];
      assert.equal(Math.sign(compareNames(a, b)), Math.sign(compare(a, b)), `${a} ${b}`);
    }),
    { numRuns: 5000 },
  );
});
