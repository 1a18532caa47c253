import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fileOf, planRunFile, planRunFiles, runFolders, type Twin } from './run-files.ts';

const paths = (tree: Parameters<typeof planRunFiles>[2], names: readonly string[] = []): readonly string[] =>
  planRunFiles('s', names, tree).files.map(({ path }) => path);

test('runs are looked for in the checkout, in its workflow folder, and in the folder itself', () => {
  assert.deepEqual(runFolders('/p/'), ['/p/.workflow/sessions', '/p/sessions', '/p']);
});

test('files that may hold the state of a session are looked at, others are not', () => {
  assert.deepEqual(
    paths(
      [
        { id: 'WFR-a', files: ['artifacts/N-1.json', 'notes.md', 'session-state.json'] },
        { id: 'WFS-b', files: ['workflow-session.json', 'plan.json'] },
        { id: 'coord-c', files: ['walker-state.json', 'graph-snapshot.json'] },
      ],
      ['manifest.json', 'README.md'],
    ),
    ['s/coord-c/walker-state.json', 's/manifest.json', 's/WFR-a/session-state.json', 's/WFS-b/workflow-session.json'],
  );
});

test('numbers are in the order of their values, and the archive comes last', () => {
  const session = (id: string) => ({ id, files: ['session-state.json'] });
  assert.deepEqual(
    paths([
      { id: 'archive', files: ['WFR-2/session-state.json'] },
      session('WFR-10'),
      session('WFR-2'),
      session('WFR-1'),
    ]),
    [
      's/WFR-1/session-state.json',
      's/WFR-2/session-state.json',
      's/WFR-10/session-state.json',
      's/archive/WFR-2/session-state.json',
    ],
  );
});

test('snapshots come with the run that they lie beside, by number', () => {
  const checkpoints = ['checkpoints/CP-10.json', 'checkpoints/CP-2.json', 'checkpoints/notes.md'];
  const plan = planRunFiles('s', [], [{ id: 'WFR-a', files: [...checkpoints, 'session-state.json', 'status.json'] }]);
  assert.deepEqual(plan.files, [
    {
      path: 's/WFR-a/session-state.json',
      folder: 's/WFR-a',
      snapshots: ['s/WFR-a/checkpoints/CP-2.json', 's/WFR-a/checkpoints/CP-10.json'],
    },
    { path: 's/WFR-a/status.json', folder: 's/WFR-a', snapshots: [] },
  ]);
});

test('the folder of a single run, and a single file, are looked at as well', () => {
  assert.deepEqual(
    planRunFiles('s/WFR-a/', ['session-state.json'], [{ id: 'checkpoints', files: ['CP-1.json', 'state.json'] }]),
    {
      files: [
        {
          path: 's/WFR-a/session-state.json',
          folder: 's/WFR-a',
          snapshots: ['s/WFR-a/checkpoints/CP-1.json', 's/WFR-a/checkpoints/state.json'],
        },
      ],
      ignored: [],
    },
  );
  assert.deepEqual(planRunFile('x/old.json').files, [{ path: 'x/old.json', folder: 'x', snapshots: [] }]);
});

test('a folder that is named as that of a run and holds none is told', () => {
  const { ignored } = planRunFiles(
    's',
    [],
    [
      { id: 'WFR-a', files: ['checkpoints/CP-1.json'] },
      { id: 'WFR-empty', files: [] },
      { id: 'archive', files: ['WFR-b/artifacts/x.md'] },
      { id: 'WFR-c', files: ['session-state.json'] },
      { id: 'other', files: [] },
    ],
  );
  assert.deepEqual(
    ignored.map(({ path }) => path),
    ['s/WFR-a', 's/WFR-empty', 's/archive/WFR-b'],
  );
});

test('any tree is planned the same, in whatever order it is listed', () => {
  const file = fc.constantFrom('session-state.json', 'WFR-1/state.json', 'checkpoints/CP-1.json', 'a/../b', '/', '');
  const folder = fc.record({
    id: fc.oneof(fc.constantFrom('WFR-1', 'WFR-10', 'archive'), fc.string({ unit: 'binary' })),
    files: fc.uniqueArray(fc.oneof(file, fc.string())),
  });
  fc.assert(
    fc.property(fc.uniqueArray(folder, { selector: ({ id }) => id }), (tree) => {
      const mirrored = tree.toReversed().map(({ id, files }) => ({ id, files: files.toReversed() }));
      assert.deepEqual(planRunFiles('s', [], mirrored), planRunFiles('s', [], tree));
    }),
  );
});

test('of several files of a run the one in the folder of its name counts, then one that is not archived, then the newest', () => {
  const twin = (folder: string, minute: number, digest = folder): Twin => ({
    path: `/p/sessions/${folder}/session-state.json`,
    updatedAt: `2026-05-02T08:0${minute}:00Z`,
    digest,
  });
  const chosen = (...twins: readonly Twin[]) => fileOf('WFR-tea', twins)?.digest;
  assert.equal(chosen(twin('WFR-tea', 1)), 'WFR-tea');
  assert.equal(chosen(twin('WFR-tea-backup', 2), twin('WFR-tea', 1)), 'WFR-tea');
  assert.equal(chosen(twin('WFR-tea-backup', 2), twin('archive/WFR-tea', 1)), 'archive/WFR-tea');
  assert.equal(chosen(twin('WFR-tea', 1), twin('archive/WFR-tea', 2)), 'WFR-tea');
  assert.equal(chosen(twin('a', 1), twin('b', 3), twin('c', 2)), 'b');
  assert.equal(chosen(twin('a', 1), twin('b', 2), twin('c', 2)), undefined);
  assert.equal(chosen(twin('a', 1), twin('b', 2, 'same'), twin('c', 2, 'same')), 'same');
});
