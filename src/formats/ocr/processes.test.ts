import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readProcesses, type OcrProcess } from './processes.ts';
import type { OcrRow } from './row-values.ts';

const fallback = '2026-03-17T09:00:00.000Z';

/** A row of `command_executions`, as version 14 has it. */
const row = (change: OcrRow = {}): OcrRow => ({
  id: 7,
  command: 'session-instance:principal-1',
  args: '[]',
  exit_code: 0,
  started_at: '2026-03-17 14:00:00',
  finished_at: '2026-03-17 14:05:00',
  pid: 4711,
  uid: 'u-1',
  workflow_id: 'a',
  vendor: 'claude',
  vendor_session_id: 'v-1',
  persona: 'principal',
  instance_index: 1,
  name: 'principal-1',
  resolved_model: 'opus',
  last_heartbeat_at: '2026-03-17T14:04:00.250Z',
  notes: null,
  ...change,
});

const read = (...rows: readonly OcrRow[]): { processes: readonly OcrProcess[]; problems: readonly string[] } => {
  const problems: string[] = [];
  return { processes: readProcesses(rows, fallback, (problem) => void problems.push(problem)), problems };
};

const one = (change: OcrRow): Partial<OcrProcess> => read(row(change)).processes[0] ?? {};

test('a process is read with everything that is known of it', () => {
  assert.deepEqual(read(row()), {
    processes: [
      {
        id: 'u-1',
        kind: 'instance',
        vendor: 'claude',
        vendorSessionId: 'v-1',
        persona: 'principal',
        instance: 1,
        name: 'principal-1',
        model: 'opus',
        pid: 4711,
        startedAt: '2026-03-17T14:00:00.000Z',
        lastHeartbeatAt: '2026-03-17T14:04:00.250Z',
        endedAt: '2026-03-17T14:05:00.000Z',
        outcome: 'done',
        exitCode: 0,
        note: null,
      },
    ],
    problems: [],
  });
});

test('what a process was is told by its command and its heartbeat', () => {
  assert.equal(one({ command: 'session-instance' }).kind, 'instance');
  assert.equal(one({ command: 'session-instances' }).kind, 'supervisor');
  assert.equal(one({ command: 'ocr review' }).kind, 'supervisor');
  assert.equal(one({ command: 'ocr progress', last_heartbeat_at: null }).kind, 'utility');
});

/** The code on record, and what it means. */
const endings: readonly (readonly [number | string | null, OcrProcess['outcome'], number | null, RegExp | null])[] = [
  [0, 'done', 0, null],
  [1, 'crashed', 1, null],
  [137, 'crashed', 137, null],
  [-1, 'crashed', -1, null],
  [-2, 'cancelled', null, /cancelled by its user/],
  [-3, 'orphaned', null, /found gone/],
  [-4, 'cancelled', null, /its session was closed/],
  [-5, 'cancelled', null, /watchdog/],
  [null, 'crashed', null, /^ended without an exit code$/],
];

for (const [code, outcome, exitCode, note] of endings) {
  test(`a process that ended with ${code} on record was ${outcome}`, () => {
    const found = one({ exit_code: code });
    assert.deepEqual([found.outcome, found.exitCode], [outcome, exitCode]);
    if (note === null) assert.equal(found.note, null);
    else assert.match(found.note ?? '', note);
  });
}

test('a process that neither ended nor has an exit code has not ended; with one it has (case H07)', () => {
  const running = one({ exit_code: null, finished_at: null });
  assert.deepEqual([running.outcome, running.endedAt], [null, null]);
  const ended = one({ exit_code: 3, finished_at: null });
  assert.deepEqual([ended.outcome, ended.endedAt], ['crashed', '2026-03-17T14:04:00.250Z']);
});

test('what the original noted is kept before what is added', () => {
  assert.equal(
    one({ exit_code: -4, notes: 'closed by parent\u0007' }).note,
    'closed by parent; ended because its session was closed',
  );
});

test('the agents of schema 10 are instances, and end as their status says', () => {
  const agent = (change: OcrRow): OcrRow => ({
    id: 'agent-1',
    workflow_id: 'a',
    vendor: 'claude',
    status: 'running',
    started_at: '2026-03-17 14:00:00',
    last_heartbeat_at: '2026-03-17 14:04:00',
    ended_at: null,
    exit_code: null,
    ...change,
  });
  const [running] = read(agent({})).processes;
  assert.deepEqual([running?.id, running?.kind, running?.outcome], ['agent-1', 'instance', null]);
  const [lost] = read(agent({ status: 'orphaned', ended_at: '2026-03-17 14:06:00' })).processes;
  assert.deepEqual([lost?.outcome, lost?.endedAt, lost?.note], ['orphaned', '2026-03-17T14:06:00.000Z', null]);
});

test('what cannot be read of a process is told and replaced', () => {
  const { processes, problems } = read(
    row({ uid: null, started_at: 'then', last_heartbeat_at: null, finished_at: 'now', exit_code: 'x', pid: 'y' }),
  );
  const [found] = processes;
  assert.deepEqual(
    [found?.id, found?.startedAt, found?.endedAt, found?.outcome, found?.pid],
    ['execution-7', fallback, fallback, 'crashed', null],
  );
  assert.match(problems.join('\n'), /finished_at of the process execution-7 is "now": no time/);
  assert.match(problems.join('\n'), /started_at .* "then"/);
  assert.match(problems.join('\n'), /exit_code of the process execution-7 is "x": no number/);
});

test('a process whose start is not known began at the first time that is', () => {
  assert.equal(one({ started_at: null }).startedAt, '2026-03-17T14:04:00.250Z');
  assert.equal(one({ started_at: null, last_heartbeat_at: null }).startedAt, '2026-03-17T14:05:00.000Z');
});

test('a process that is there twice counts once', () => {
  const { processes, problems } = read(row(), row({ exit_code: 1 }));
  assert.deepEqual(
    processes.map(({ outcome }) => outcome),
    ['done'],
  );
  assert.match(problems.join('\n'), /u-1 is there twice/);
});
