import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectAt, objectsAt, textAt, textsAt } from '../../kernel/answer.ts';
import { handover, sessionState } from './document.ts';
import { historyToJson } from './history.ts';
import { reportToJson } from './report.ts';
import { archivedPair, lookAt, sample } from './samples.ts';
import { currentPath, type Look } from './workspace.ts';

const transfer = 'handovers/20260312_0915_handover.md';
const sound = { [currentPath]: sample(sessionState), [transfer]: sample(handover) };

const listed = (look: Look, limit?: number) => {
  const answer = historyToJson(look, limit);
  return {
    active: textAt(objectAt(answer, 'active'), 'stamp'),
    history: objectsAt(answer, 'history').map((one) => [textAt(one, 'stamp'), textsAt(one, 'warnings').join('; ')]),
  };
};

test('the newest stamp comes first, one that is no time counts as none, and those without one come last', () => {
  const files = {
    ...sound,
    ...archivedPair('20251231_2359'),
    ...archivedPair('20260310_0900'),
    ...archivedPair('99999999_9999'),
    ...archivedPair('20260230_0900'),
    'handovers/second.md': sample(handover, {
      'Session-state pointer': '../session-state/20260310_0900_session-state.md',
    }),
  };
  assert.deepEqual(listed(lookAt(files)), {
    active: '20260312_0915',
    history: [
      ['20260310_0900', ''],
      ['20251231_2359', ''],
      ['untimestamped', ''],
      ['untimestamped', 'the stamp in its name is no time'],
      ['untimestamped', 'the stamp in its name is no time'],
    ],
  });
});

test('what is broken is shown with what is wrong and hides no other; what is no document is left alone', () => {
  const files = {
    ...sound,
    ...archivedPair('20260310_0900'),
    'handovers/20260311_0900_handover.md': '# Notes\n',
    'handovers/junk.md': '# Handover\n',
    'handovers/README.md': 'read me\n',
    'handovers/.swp.md': '# Handover\n',
    'handovers/list.txt': '# Handover\n',
  };
  const { active, history } = listed(lookAt(files));
  assert.equal(active, '20260312_0915');
  assert.deepEqual(
    history.map(([stamp]) => stamp),
    ['20260311_0900', '20260310_0900', 'untimestamped'],
  );
  assert.match(history[0]?.[1] ?? '', /^line 1: a handover begins with "# Handover"; .*there is no session state/);
  assert.match(history[2]?.[1] ?? '', /21 sections, .* are missing/);
});

test('a handover is shown with the session state that it names, else with the one of its stamp', () => {
  const files = {
    ...sound,
    'handovers/20260311_0900_handover.md': sample(handover),
    'handovers/20260310_0900_handover.md': sample(handover, { 'Session-state pointer': '../session-state/gone.md' }),
    'session-state/20260310_0900_session-state.md': sample(sessionState),
    'handovers/20260309_0900_handover.md': sample(handover, { 'Session-state pointer': '../../../../etc/passwd' }),
    'handovers/20260308_0900_handover.md': sample(handover, { 'Session-state pointer': 'a\0b' }),
  };
  assert.deepEqual(
    objectsAt(historyToJson(lookAt(files), undefined), 'history').map((one) => [
      textAt(one, 'session_state'),
      textAt(one, 'kind'),
      textsAt(one, 'warnings'),
    ]),
    [
      ['/docs/session-state/CURRENT.md', 'live', ['another handover has taken its place']],
      ['/docs/session-state/20260310_0900_session-state.md', 'snapshot', ['what it names is not there']],
      ['None', 'snapshot', ['what it names is not there', 'there is no session state that belongs to it']],
      ['None', 'snapshot', ['what it names is not there', 'there is no session state that belongs to it']],
    ],
  );
});

test('without a live pair the newest one is active and in the list; without any nothing is', () => {
  const files = { ...archivedPair('20260310_0900'), ...archivedPair('20260311_0900', { Status: 'done' }) };
  const answer = historyToJson(lookAt(files), undefined);
  assert.deepEqual(
    objectsAt(answer, 'history').map((one) => [one['stamp'], one['is_active'], one['kind']]),
    [
      ['20260311_0900', true, 'snapshot'],
      ['20260310_0900', false, 'snapshot'],
    ],
  );
  assert.equal(objectAt(answer, 'active')['is_active'], true);
  assert.deepEqual(historyToJson(lookAt({}), undefined), {
    docs_root: '/docs',
    active_source: null,
    active: null,
    history: [],
  });
});

/** A look that keeps count of how often each file is read. */
const counting = (files: Readonly<Record<string, string>>) => {
  const look = lookAt(files);
  const reads = new Map<string, number>();
  const read = (path: string) => {
    reads.set(path, (reads.get(path) ?? 0) + 1);
    return look.read(path);
  };
  return { look: { ...look, read }, reads };
};

const many = {
  ...sound,
  ...Object.assign({}, ...['01', '02', '03', '04'].map((day) => archivedPair(`202601${day}_0900`))),
};

test('no more is read than is shown, and nothing is read twice', () => {
  const { look, reads } = counting(many);
  historyToJson(look, 2);
  assert.deepEqual(
    [...reads.keys()].toSorted(),
    ['handovers/20260103_0900_handover.md', 'handovers/20260104_0900_handover.md', transfer, currentPath].toSorted(),
  );
  const report = counting(many);
  reportToJson(report.look, '2026-03-12T10:00:00Z', 3);
  assert.deepEqual(new Set(report.reads.values()), new Set([1]));
});

test('a report tells each error and each warning once', () => {
  const files = {
    ...many,
    [transfer]: sample(handover, { Status: 'blocked' }),
    'handovers/20260201_0900_handover.md': sample(handover),
    'session-state/ACTIVE_LEASE.json': '{}',
  };
  const report = reportToJson(lookAt(files), '2026-03-12T10:00:00Z', 1);
  const told = [...textsAt(report, 'errors'), ...textsAt(report, 'warnings')];
  assert.equal(new Set(told).size, told.length);
  assert.deepEqual(textsAt(report, 'warnings'), [
    'handovers/20260201_0900_handover.md: there is no session state with its stamp',
  ]);
  assert.equal(report['result'], 'error');
  assert.equal(objectsAt(objectAt(report, 'history'), 'history').length, 1);
  for (const part of ['summary', 'audit', 'history']) assert.ok(JSON.stringify(report[part]).includes('/docs'), part);
});
