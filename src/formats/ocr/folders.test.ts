import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { planFolders, type FolderSession } from './folders.ts';

const planOne = (id: string, ...files: readonly string[]): FolderSession => {
  const [session] = planFolders([{ id, files }]).sessions;
  assert.ok(session !== undefined);
  return session;
};

const round = (number: number, ...files: readonly string[]) => ({
  number,
  files,
  hasFinal: false,
  hasMeta: false,
  reviews: [],
});

test('rounds are in the order of their numbers, and a ghost is no session (case H06)', () => {
  const numbers = [4, 8, 9, 10, 7, 1, 6, 2, 5, 3, 11];
  const { sessions, ignored } = planFolders([
    { id: '2026-03-17-main', files: numbers.map((number) => `rounds/round-${number}/final.md`) },
    { id: '2026-01-01-ghost', files: ['.keep', 'rounds/round-1/.keep'] },
  ]);
  assert.deepEqual(
    sessions[0]?.rounds.map(({ number }) => number),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
  );
  assert.deepEqual(ignored, [{ id: '2026-01-01-ghost', reason: 'It holds no .md and no .json file.' }]);
});

test('what looks like a round and is none is told', () => {
  const names = ['round-x', 'round-03', 'round-0', 'round--1', 'round-1.5', 'round-', 'Round-2', 'run-2', 'round-1001'];
  const session = planOne('a', 'rounds/round-2/final.md', ...names.map((name) => `rounds/${name}/final.md`));
  assert.deepEqual(
    session.rounds.map(({ number }) => number),
    [2],
  );
  assert.deepEqual(
    session.ignored.map(({ path }) => path),
    names.map((name) => `rounds/${name}`).toSorted(),
  );
});

test('a file beside the rounds is neither a round nor a fault', () => {
  const session = planOne('a', 'rounds/round-1', 'rounds/notes.md', 'map/runs/run-1');
  assert.deepEqual([session.rounds, session.runs, session.ignored], [[], [], []]);
});

test('rounds make a review, map makes a map, both make both, neither is taken for a review', () => {
  const kinds = (...files: readonly string[]) => planOne('a', ...files).kinds;
  assert.deepEqual(kinds('rounds/round-1/final.md'), ['review']);
  assert.deepEqual(kinds('map/runs/run-1/map.md'), ['map']);
  assert.deepEqual(kinds('map/runs/run-1/map.md', 'rounds/round-x/a.md'), ['review', 'map']);
  assert.deepEqual(kinds('context.md'), ['review']);
});

test('what was found of a round is told as facts', () => {
  const session = planOne(
    'a',
    'state.json',
    'rounds/round-1/reviews/security-1.md',
    'rounds/round-1/reviews/principal-1.md',
    'rounds/round-1/final.md',
    'rounds/round-1/round-meta.json',
    'rounds/round-2/discourse.md',
    'map/runs/run-1/map-meta.json',
    'map/runs/run-1/map.md',
  );
  assert.ok(session.hasStateFile);
  assert.deepEqual(session.rounds, [
    {
      number: 1,
      files: ['final.md', 'reviews/principal-1.md', 'reviews/security-1.md', 'round-meta.json'],
      hasFinal: true,
      hasMeta: true,
      reviews: ['principal-1.md', 'security-1.md'],
    },
    round(2, 'discourse.md'),
  ]);
  assert.deepEqual(session.runs, [{ ...round(1, 'map-meta.json', 'map.md'), hasFinal: true, hasMeta: true }]);
});

test('the branch is what follows the date', () => {
  assert.equal(planOne('2026-03-17-feature-login', 'a.md').branch, 'feature-login');
  assert.equal(planOne('login', 'a.md').branch, null);
  assert.equal(planOne('2026-03-17', 'a.md').branch, null);
  assert.equal(planOne('login', 'rounds/state.json').hasStateFile, false);
});

test('a folder whose name cannot be that of a session is none, and says why', () => {
  const { sessions, ignored } = planFolders(['.hidden', 'a b', 'CON', 'x..y'].map((id) => ({ id, files: ['a.md'] })));
  assert.deepEqual(sessions, []);
  assert.equal(ignored.length, 4);
  assert.match(ignored.find(({ id }) => id === 'CON')?.reason ?? '', /reserved for a device/);
});

test('any tree at all is planned the same, in whatever order it is listed', () => {
  const file = fc.constantFrom(
    'a.md',
    'rounds/round-2/x.md',
    'rounds/round-11/x.md',
    'rounds//a.json',
    'map/',
    '/',
    '',
  );
  const folder = fc.record({
    id: fc.oneof(fc.constantFrom('a', 'b'), fc.string({ unit: 'binary' })),
    files: fc.uniqueArray(fc.oneof(file, fc.string())),
  });
  fc.assert(
    fc.property(fc.uniqueArray(folder, { selector: ({ id }) => id }), (tree) => {
      const plan = planFolders(tree);
      assert.equal(plan.sessions.length + plan.ignored.length, tree.length);
      assert.deepEqual(
        planFolders(tree.toReversed().map(({ id, files }) => ({ id, files: files.toReversed() }))),
        plan,
      );
    }),
  );
});
