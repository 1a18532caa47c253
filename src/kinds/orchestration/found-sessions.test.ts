import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOrchestratorFile } from '../../formats/orchestrator/read.ts';
import { planSessionFiles } from '../../formats/orchestrator/session-files.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import type { Clock } from '../../lib/written-time.ts';
import { decideSessions, type ReadFile, type Wishes } from './found-sessions.ts';
import { leftSession } from './left-session.ts';

const clock: Clock = { now: '2026-06-01T00:00:00Z', offsetAt: () => 0 };
const current = '.claude/orchestrator-session.json';
const inHistory = (id: string): string => `.claude/orchestrator-history/${id}.json`;

const file = (id: string, more: JsonObject = {}): JsonObject => ({
  schema_version: '1.0',
  session_id: id,
  created: '2026-05-02T08:00:00Z',
  updated: '2026-05-02T09:00:00Z',
  goal: `Goal of ${id}`,
  status: 'in_progress',
  agents: [{ id: 'pour-1', type: 'code', task: 'Pour', status: 'in_progress', started: '2026-05-02T08:01:00Z' }],
  completed_work: [],
  pending_tasks: [],
  decisions_made: [{ decision: 'Green', rationale: 'late', timestamp: '2026-05-02T08:30:00Z' }],
  context_usage: {},
  errors: [{ agent: 'pour-1', message: 'spilt' }],
  ...more,
});

const read = (path: string, content: string | JsonObject, more: Partial<ReadFile> = {}): ReadFile => ({
  path: `/p/${path}`,
  shown: path,
  typed: path,
  isListed: true,
  digest: `digest of ${path}`,
  around: [],
  found: readOrchestratorFile(typeof content === 'string' ? content : JSON.stringify(content, null, 2), {
    path,
    clock,
  }),
  ...more,
});

const decide = (files: readonly ReadFile[], wishes: Wishes = {}) => {
  const { sessions, ignored } = decideSessions(files, wishes);
  return {
    sessions: sessions.map(({ path, found }) => [path, found.document.session_id]),
    ignored: ignored.map(({ path, is, why, problem, line }) => ({ path, is, why, problem, line })),
  };
};

test('the files of a checkout are the current one, those of its history, and what a hook has left', () => {
  const listing = {
    own: ['settings.json', 'orchestrator-session.json', 'orchestrator-session.json.bak'],
    history: ['a.json', 'README.md', 'b.json'],
    cache: ['last-orchestration.json', 'x.json'],
  };
  assert.deepEqual(
    planSessionFiles('/p', listing).map(({ path, isListed }) => [path, isListed]),
    [
      ['/p/.claude/orchestrator-session.json', true],
      ['/p/.claude/orchestrator-history/a.json', true],
      ['/p/.claude/orchestrator-history/b.json', true],
      ['/p/.craft/cache/last-orchestration.json', true],
    ],
  );
  assert.deepEqual(planSessionFiles('/p', { own: ['settings.json'], history: [], cache: [] }), []);
});

test('the current session comes first, then those of the history, the newest first', () => {
  const old = (id: string, created: string) => read(inHistory(id), file(id, { created, status: 'complete' }));
  const { sessions, ignored } = decide([
    old('2026-05-01-zzz', '2026-05-01T08:00:00Z'),
    old('2026-05-01-aaa', '2026-05-01T10:00:00Z'),
    read(current, file('now', { created: '2020-01-01T00:00:00Z' })),
  ]);
  assert.deepEqual(
    sessions.map(([, id]) => id),
    ['now', '2026-05-01-aaa', '2026-05-01-zzz'],
  );
  assert.deepEqual(ignored, []);
});

test('of several files of one session the one that was written last counts, else the one of the history', () => {
  const twice = (updated: string) =>
    decide([read(current, file('s', { updated })), read(inHistory('s'), file('s', { status: 'complete' }))]);
  assert.deepEqual(twice('2026-05-02T10:00:00Z').sessions, [[current, 's']]);
  assert.deepEqual(twice('2026-05-02T08:30:00Z').sessions, [[inHistory('s'), 's']]);
  const same = twice('2026-05-02T09:00:00Z');
  assert.deepEqual(same.sessions, [[inHistory('s'), 's']]);
  assert.deepEqual(same.ignored, [
    {
      path: current,
      is: 'another file of the session s',
      why: `It is taken from ${inHistory('s')}.`,
      problem: undefined,
      line: undefined,
    },
  ]);
});

test('what is not taken is told with the reason, and keeps nothing else away', () => {
  const { sessions, ignored } = decide([
    read(current, ''),
    read(inHistory('newer'), file('newer', { schema_version: '2.0' })),
    read(inHistory('other'), { steps: [], complete: true }),
    read(inHistory('fine'), file('fine')),
    read('.craft/cache/last-orchestration.json', { total_agents: 0, agents: [], timestamp: '2026-05-02T08:00:00Z' }),
  ]);
  assert.deepEqual(sessions, [[inHistory('fine'), 'fine']]);
  assert.deepEqual(
    ignored.map(({ path, is, problem }) => [path, is ?? problem]),
    [
      [current, 'It is empty.'],
      [inHistory('newer'), 'It was written by a newer version: its schema is "2.0", and 1 is what is understood here.'],
      [inHistory('other'), 'a status of the flow coordinator'],
      ['.craft/cache/last-orchestration.json', 'the summary that a hook made of an orchestration'],
    ],
  );
});

test('the summary of a hook is taken where somebody names it', () => {
  const summary = { total_agents: 0, agents: [], timestamp: '2026-05-02T08:00:00Z' };
  assert.equal(decide([read('x.json', summary, { isListed: false })]).sessions.length, 1);
});

test('a file of which something is lost is taken on request only, and what may still have it is named', () => {
  const torn = JSON.stringify(file('s'), null, 2).slice(0, -60);
  const around = ['orchestrator-session.json', 'orchestrator-session.json.bak', 'orchestrator-history/s.json'];
  const [ignored] = decideSessions([read(current, torn, { around })], {}).ignored;
  assert.partialDeepStrictEqual(ignored, {
    path: current,
    hint: `What is left of it is taken with stint import orchestrator ${current} --salvage.`,
    copies: [
      { path: 'orchestrator-session.json.bak', is: 'a backup' },
      { path: 'orchestrator-history/s.json', is: 'a file of the history' },
    ],
  });
  assert.match(
    JSON.stringify(ignored?.['more']),
    /left are 1 agent, 0 pieces of completed work, 0 pending tasks, 1 decision/,
  );
  const { sessions } = decideSessions([read(current, torn)], { salvage: true });
  assert.match(sessions[0]?.problems[0] ?? '', /^It ends in the middle, .* at line \d+, column \d+\.$/);
});

test('of several files of one session a whole one counts, whatever their times and names', () => {
  const torn = JSON.stringify(file('s', { updated: '2026-05-02T10:00:00Z' }), null, 2).slice(0, -60);
  const { sessions } = decideSessions(
    [read(inHistory('a'), torn), read(inHistory('b'), file('s')), read(inHistory('c'), torn)],
    { salvage: true },
  );
  assert.deepEqual(
    sessions.map(({ path }) => path),
    [inHistory('b')],
  );
});

test('a file with a git conflict is left alone with both sides told, and the line', () => {
  const text = JSON.stringify(file('s'), null, 2).replace(
    '  "status": "in_progress",',
    '<<<<<<< HEAD\n  "status": "in_progress",\n=======\n  "status": "paused",\n>>>>>>> topic',
  );
  const { sessions, ignored } = decideSessions([read(current, text)], {});
  assert.deepEqual(sessions, []);
  assert.partialDeepStrictEqual(ignored[0], {
    problem: 'It has a git conflict at line 7.',
    line: 7,
    sides: [
      { side: 'ours', label: 'HEAD', status: 'in_progress', is_whole: true },
      { side: 'theirs', label: 'topic', status: 'paused', is_whole: true },
    ],
    hint: `Say which one counts: ours or theirs. stint import orchestrator ${current} --choose ours`,
  });
});

const leftOf = (path: string, more: JsonObject = {}) => {
  const [session] = decideSessions([read(path, file('s', more))], {}).sessions;
  return leftSession(session ?? assert.fail(), 'main');
};

test('what is open comes open or paused, and what lies in the history closed, with its times', () => {
  const at = '2026-05-02T09:00:00Z';
  const done = { agents: [{ id: 'a', status: 'complete' }], status: 'complete' };
  const standing = (path: string, more: JsonObject = {}) => {
    const { paused, closed, isArchived, isInterrupted } = leftOf(path, more);
    return { paused: paused !== null, closed: closed?.outcome ?? null, isArchived, isInterrupted };
  };
  assert.deepEqual(standing(current), { paused: false, closed: null, isArchived: false, isInterrupted: true });
  assert.deepEqual(standing(current, { status: 'paused' }), {
    paused: true,
    closed: null,
    isArchived: false,
    isInterrupted: false,
  });
  assert.deepEqual(standing(current, done), {
    paused: false,
    closed: 'completed',
    isArchived: false,
    isInterrupted: false,
  });
  assert.deepEqual(standing(inHistory('s'), done), {
    paused: false,
    closed: 'completed',
    isArchived: true,
    isInterrupted: false,
  });
  assert.deepEqual(leftOf(inHistory('s')).closed, {
    outcome: 'aborted',
    reason: 'it lay in the history unfinished',
    at,
  });
});

test('a session is taken with its document, what it holds beside, and its decisions', () => {
  const left = leftOf(current, { x_team: 'red', project: { name: 'tea', path: '/srv/tea', git_branch: 'dev' } });
  assert.deepEqual(left.opening, { branch: 'dev', worktree: 'main', goal: 'Goal of s' });
  assert.deepEqual(left.entries, [{ at: '2026-05-02T08:30:00Z', entry: 'decision', text: 'Green', rationale: 'late' }]);
  assert.equal(left.source, 'orchestrator s');
  assert.partialDeepStrictEqual(left.command, {
    type: 'import',
    digest: `digest of ${current}`,
    is_over: false,
    document: { session_id: 's', status: 'in_progress' },
    unknown: { file: { x_team: 'red' } },
  });
});
