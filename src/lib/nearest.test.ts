import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { nearest } from './nearest.ts';

test('near names are found, closest first', () => {
  const verbs = ['status', 'start', 'stop', 'show', 'list', 'resume', 'handoff', 'checkpoint', 'restore', 'doctor'];
  assert.deepEqual(nearest('stauts', verbs), ['status', 'start']);
  assert.deepEqual(nearest('STATUS', verbs), ['status']);
  assert.deepEqual(nearest('stat', verbs, 2), ['status', 'start']);
  assert.deepEqual(nearest('chekpiont', verbs), ['checkpoint']);
  assert.deepEqual(nearest('restroe', verbs), ['restore']);
  assert.deepEqual(nearest('hand', verbs), ['handoff']);
  assert.deepEqual(nearest('sto', verbs), ['stop']);
  assert.deepEqual(nearest('stat', ['a', 'xstat', 'stat', 'stat']), ['stat', 'xstat']);
  assert.equal(nearest('st', verbs).length, 3);
});

test('a far name is not offered', () => {
  const verbs = ['status', 'list', 'rm'];
  for (const word of ['', 'x', 'xy', 'deploy', 'l', 'completely different', 'a'.repeat(500)]) {
    assert.deepEqual(nearest(word, verbs), [], word);
  }
  assert.deepEqual(nearest('a', ['b', 'ab']), ['ab']);
  assert.deepEqual(nearest('a'.repeat(200), ['a'.repeat(201)]), []);
});

test('one typing slip in a word of four letters or more is forgiven', () => {
  const word = fc.stringMatching(/^[a-z]{4,12}$/);
  fc.assert(
    fc.property(
      word,
      fc.nat({ max: 11 }),
      fc.constantFrom('drop', 'double', 'swap', 'replace'),
      (name, place, slip) => {
        const at = place % (name.length - 1);
        const [before, hit, next, rest] = [name.slice(0, at), name.charAt(at), name.charAt(at + 1), name.slice(at + 2)];
        const middle = { drop: next, double: hit + hit + next, swap: next + hit, replace: `7${next}` }[slip];
        assert.deepEqual(nearest(before + middle + rest, [name, '0123456789']), [name]);
      },
    ),
  );
});
