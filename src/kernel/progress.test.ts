import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Files, Place, ReadSession } from './ports.ts';
import type { Host } from './process.ts';
import { progressToJson } from './progress.ts';
import { noProgress, type Evidence, type Progress } from './view.ts';

const here: Place = { id: 'here', root: '/project', worktree: 'main', branch: 'main', label: 'project' };
const places = {
  here,
  claim: () => ({ ok: true, value: 'here' }) as const,
  homeOf: () => here,
};

const read = (closedAt: string | null = null): ReadSession => ({
  row: {
    key: 'task:a',
    kind: 'task',
    name: 'a',
    status: closedAt === null ? 'active' : 'closed',
    outcome: closedAt === null ? null : 'aborted',
    branch: 'main',
    place: 'here',
    worktree: 'main',
    position: 'one',
    startedAt: '2026-03-17T10:00:00.000Z',
    updatedAt: closedAt ?? '2026-03-17T11:00:00.000Z',
    closedAt,
    pausedAt: null,
    archivedAt: null,
    seq: 3,
    revision: 3,
    interruptedAt: null,
    flaw: null,
    lease: null,
  },
  common: { goal: null, reason: null, pause: null, notes: 0 },
  view: {
    position: 'one',
    where: {},
    fields: {},
    remaining: [],
    missing: [],
    next: { kind: 'none', text: '', command: null },
    evidence: [],
    completeness: 'open_no_artifact',
  },
  unreadable: undefined,
});

const cycle = (startedAt: string | null, completedAt: string | null = null): Progress => ({
  ...noProgress,
  cycle: { label: 'round 1', startedAt, completedAt },
});

const noFiles: Files = {
  list: () => [],
  exists: () => false,
  read: () => null,
  digest: () => undefined,
};

const host: Host = { name: 'desk', id: null, startOf: () => undefined, observe: () => 'unknown', offsetAt: () => 0 };
const noon = '2026-03-17T12:00:00.000Z';

const show = (session: ReadSession, progress: Progress, files: Files = noFiles, now = noon) =>
  progressToJson(
    session,
    { processes: [], renewal: undefined, atWork: { working: 0, heardAt: null }, abandoned: [], sampled: {} },
    progress,
    {
      places,
      files,
      host,
      caller: { now, process: undefined, actor: 'ana', agent: null, user: () => 'ana', leaseToken: undefined },
    },
    'work/a',
  );

const timesOf = (session: ReadSession, progress: Progress, now = noon) => {
  const { running, elapsed_ms: elapsed } = show(session, progress, noFiles, now);
  return [running, elapsed];
};

test('H10: a round that is not over lasts until now, one that is until it was completed or its session closed', () => {
  assert.deepEqual(timesOf(read(), cycle('2026-03-17T11:43:00.000Z')), [true, 17 * 60_000]);
  assert.deepEqual(timesOf(read(), cycle('2026-03-17T11:00:00.000Z', '2026-03-17T11:30:00.000Z')), [
    false,
    30 * 60_000,
  ]);
  assert.deepEqual(timesOf(read('2026-03-17T11:45:00.000Z'), cycle('2026-03-17T11:00:00.000Z')), [false, 45 * 60_000]);
  assert.deepEqual(timesOf(read(), noProgress), [true, 2 * 3_600_000], 'without rounds the session is meant');
});

test('H10: a start that is not known gives no time, and a clock that went back no negative one', () => {
  assert.deepEqual(timesOf(read(), cycle(null)), [true, null]);
  assert.deepEqual(timesOf(read(), cycle('not a date')), [true, null]);
  assert.deepEqual(timesOf(read(), cycle('2026-03-17T11:43:00.000Z'), 'not a date'), [true, null]);
  assert.deepEqual(timesOf(read(), cycle('2026-03-17T12:00:05.000Z')), [true, 0]);
});

test('how far all of it is need not be the part of the steps that is done', () => {
  const fractionOf = (progress: Partial<Progress>) => show(read(), { ...noProgress, ...progress })['fraction'];
  assert.equal(fractionOf({ done: 1, total: 4 }), 0.25);
  assert.equal(fractionOf({ done: 1, total: 4, overall: { percent: 80, formula: 'the mean' } }), 0.8);
  assert.equal(fractionOf({ done: 1, total: 4, overall: { percent: null, formula: 'nothing' } }), null);
});

test('H08: a session without steps is no part of nothing', () => {
  const { done, total, fraction, steps, counts } = show(read(), noProgress);
  assert.deepEqual(
    { done, total, fraction, steps, counts },
    { done: 0, total: 0, fraction: null, steps: [], counts: [] },
  );
});

const counting: Evidence = {
  label: 'reports',
  path: 'reports',
  atLeast: 2,
  counts: { label: 'findings', pattern: '^- ' },
};
const withEvidence = (...evidence: readonly Evidence[]): Progress => ({
  ...noProgress,
  total: 1,
  steps: [{ name: 'one', label: 'One', state: 'current', evidence }],
});

test('lines are counted in every file of a folder, and what cannot be read is not counted as none', () => {
  const contents: Readonly<Record<string, string>> = {
    '/project/work/a/reports/a.md': '- one\r\n- two\r- three\n',
    '/project/work/a/reports/b.md': 'none',
  };
  const asked: [string, number][] = [];
  const files: Files = {
    ...noFiles,
    exists: () => true,
    list: () => ['a.md', 'b.md', 'c.md'],
    read: (path, limit) => {
      asked.push([path, limit]);
      return contents[path] ?? null;
    },
  };
  const { steps, counts } = show(read(), withEvidence(counting), files);
  assert.deepEqual(steps, [
    {
      name: 'one',
      label: 'One',
      state: 'current',
      evidence: [
        {
          label: 'reports',
          path: 'work/a/reports',
          present: true,
          at_least: 2,
          files_total: 3,
          counts: 'findings',
          files: [
            { name: 'a.md', count: 3 },
            { name: 'b.md', count: 0 },
            { name: 'c.md', count: null },
          ],
        },
      ],
    },
  ]);
  assert.deepEqual(counts, [{ label: 'findings', total: 3, unknown: 1 }]);
  assert.deepEqual([...new Set(asked.map(([, limit]) => limit))], [1024 * 1024]);
});

test('of very many files only the first are looked into, and the others are not passed over', () => {
  const names = Array.from({ length: 70 }, (_, index) => `${index}.md`);
  const files: Files = { ...noFiles, exists: () => true, list: () => names, read: () => '- one' };
  assert.deepEqual(show(read(), withEvidence(counting), files)['counts'], [
    { label: 'findings', total: 50, unknown: 20 },
  ]);
});

test('lines of a single file are counted where it is there; where none is, nothing was counted', () => {
  const single: Evidence = { label: 'list', path: 'list.md', counts: { label: 'files', pattern: '^- ' } };
  const there: Files = { ...noFiles, exists: () => true, read: () => '- one\n- two' };
  assert.deepEqual(show(read(), withEvidence(single), there)['counts'], [{ label: 'files', total: 2, unknown: 0 }]);
  assert.deepEqual(show(read(), withEvidence(single))['counts'], []);
  assert.deepEqual(show(read(), withEvidence(counting))['counts'], []);
});
