import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { nameFrom, nameProblem } from './name.ts';

const casesFolder = '../shared/cases';
const skip = !existsSync(casesFolder) && `${casesFolder} is absent`;
const linesOf = (path: string): readonly string[] =>
  readFileSync(`${casesFolder}/${path}`, 'utf8').replace(/\n$/, '').split('\n');

const nameCharacter = fc.constantFrom(...Array.from('abzAZ019._-'));

test('an ordinary name has no problem', () => {
  const names = [
    'a',
    '2026-03-17-main',
    'WFR-add-login-20260317-143022',
    'v1.2_x',
    'console',
    'com10',
    'COM',
    'nulls.txt',
  ];
  for (const name of names) assert.equal(nameProblem(name), undefined, name);
  assert.equal(nameProblem('a'.repeat(128)), undefined);
});

test('each way to be wrong is told in a sentence', () => {
  const problems: Readonly<Record<string, RegExp>> = {
    '': /empty/,
    [`a${'b'.repeat(128)}`]: /at most 128 .* 129/,
    '-rf': /begins with/,
    '.hidden': /begins with/,
    'a b': /made of/,
    'a/b': /made of/,
    ümlaut: /begins with/,
    'name\n': /made of/,
    'a..b': /two dots/,
    'a.': /end in a dot/,
  };
  for (const [name, problem] of Object.entries(problems)) assert.match(nameProblem(name) ?? 'none', problem, name);
});

test('a Windows device is refused with any extension and in any case', () => {
  for (const device of ['CON', 'prn', 'Aux', 'NUL', 'com0', 'COM9', 'lpt0', 'LPT9', 'CONIN$', 'conout$']) {
    assert.match(nameProblem(device) ?? 'none', /device/);
    assert.match(nameProblem(`${device}.tar.gz`) ?? 'none', /device/);
    assert.match(nameProblem(`${device.toLowerCase()}.x`) ?? 'none', /device/);
  }
});

test('only what the rule allows is without a problem', () => {
  const any = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: nameCharacter, maxLength: 140 }));
  fc.assert(
    fc.property(any, (text) => {
      if (nameProblem(text) !== undefined) return;
      assert.match(text, /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/);
      assert.ok(!text.includes('..') && !text.endsWith('.'));
    }),
  );
});

test('a name made of any text is legal, short and always the same', () => {
  const any = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ unit: nameCharacter, maxLength: 200 }),
    fc.constantFrom('con', 'NUL', 'lpt1.').chain((device) => fc.string({ maxLength: 90 }).map((rest) => device + rest)),
  );
  fc.assert(
    fc.property(any, (text) => {
      const name = nameFrom(text);
      assert.equal(nameProblem(name), undefined, name);
      assert.ok(name.length <= 80);
      assert.equal(nameFrom(text), name);
      assert.equal(nameFrom(name), name, 'a name stays as it is');
    }),
    { numRuns: 1000 },
  );
});

test('a name says what the text said', () => {
  const names: Readonly<Record<string, string>> = {
    'feature/äö x': 'feature-x',
    'feat/login': 'feat-login',
    'release/v1.2_rc--1': 'release-v1.2_rc--1',
    긴제목긴제목: 'unnamed',
    '🔥🔥🔥': 'unnamed',
    '   ': 'unnamed',
    '': 'unnamed',
    '../../etc': 'etc',
    'a..b': 'a-b',
    CON: 'x-CON',
    'aux.md': 'x-aux.md',
    'trailing dot.': 'trailing-dot',
    __init__: 'init',
  };
  for (const [text, name] of Object.entries(names)) assert.equal(nameFrom(text), name);
  assert.equal(nameFrom(`${'a'.repeat(79)}.tail`), 'a'.repeat(79), 'no dot is left at the cut');
  assert.equal(nameFrom(`con.${'a'.repeat(100)}`), `x-con.${'a'.repeat(74)}`);
  assert.equal(nameFrom(`con.${'a'.repeat(73)}.bb`), `x-con.${'a'.repeat(73)}`);
});

test('no identifier of case M05 is a name', { skip }, () => {
  const ids = linesOf('M05-id-traversal/ids.txt');
  assert.ok(ids.length > 10);
  for (const id of ids) assert.notEqual(nameProblem(id), undefined, id);
});

test('every goal of case J05 gives a safe name', { skip }, () => {
  const goals = linesOf('J05-name-too-long/goals.txt');
  assert.ok(goals.length > 5);
  for (const goal of goals) {
    const name = nameFrom(goal);
    assert.equal(nameProblem(name), undefined, name);
    assert.ok(Buffer.byteLength(name) <= 100);
  }
});
