import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { ocrPhases, readHistory, type OcrTables } from '../src/formats/ocr/history.ts';
import { importOfRow } from '../src/formats/ocr/import.ts';
import { decideImport } from '../src/kernel/history.ts';
import { decideBegin } from '../src/kernel/lifecycle.ts';
import { absentSession, appendEvents, isOpened, viewOfSession } from '../src/kernel/session.ts';
import { kinds } from '../src/kinds/registry.gen.ts';
import { makeOcrProject, ocrVersions, type OcrContents } from './support/ocr-databases.ts';

const readBack = (t: TestContext, contents: OcrContents): OcrTables => {
  const project = mkdtempSync(join(tmpdir(), 'stint-ocr-'));
  t.after(() => rmSync(project, { recursive: true, force: true }));
  const database = new DatabaseSync(makeOcrProject(project, contents), { readOnly: true });
  try {
    const all = (sql: string) => database.prepare(sql).all();
    return {
      version: Number(database.prepare('SELECT max(version) AS newest FROM schema_version').get()?.['newest']),
      sessions: all('SELECT * FROM sessions'),
      events: all('SELECT * FROM orchestration_events'),
      executions: all(`SELECT * FROM ${contents.version === 10 ? 'agent_sessions' : 'command_executions'}`),
    };
  } finally {
    database.close();
  }
};

for (const version of ocrVersions) {
  test(`a database of schema ${version} is read as it was written`, (t) => {
    const tables = readBack(t, {
      version,
      sessions: [{ id: 'a', status: 'closed', current_phase: 'complete' }],
      events: [
        { session_id: 'a', event_type: 'session_created', phase: 'context', round: 1 },
        { session_id: 'a', event_type: 'phase_transition', phase: 'synthesis', round: 1 },
        {
          session_id: 'a',
          event_type: 'round_completed',
          round: 1,
          metadata: JSON.stringify({
            verdict: 'APPROVE',
            blocker_count: 0,
            should_fix_count: 0,
            suggestion_count: 0,
            reviewer_count: 1,
            total_finding_count: 0,
          }),
        },
        { session_id: 'a', event_type: 'session_closed', phase: 'complete', round: 1 },
      ],
      executions:
        version >= 10
          ? [
              {
                ...(version === 10 ? { id: 'u', status: 'done' } : { uid: 'u', command: 'session-instance:a-1' }),
                workflow_id: 'a',
                exit_code: 0,
              },
            ]
          : [{ command: 'ocr review' }],
    });
    const { sessions, problems, unlinkedExecutions } = readHistory(tables);
    const [session] = sessions;
    assert.deepEqual(problems, []);
    assert.deepEqual(session?.problems, []);
    assert.deepEqual(
      session?.history.map(({ what }) => what),
      ['round', 'phase', 'completed', 'closed'],
    );
    assert.equal(session?.lastEventId, 4);
    assert.deepEqual(
      session?.processes.map(({ id, kind, outcome }) => [id, kind, outcome]),
      version >= 10 ? [['u', 'instance', 'done']] : [],
    );
    assert.equal(unlinkedExecutions, version >= 10 ? 0 : 1);
  });
}

test('the phases that are read are those of the kinds', () => {
  for (const kind of kinds) {
    if (kind.name !== 'review' && kind.name !== 'map') continue;
    const absent = absentSession(kind, `${kind.name}:a`);
    const begun = decideBegin(absent, { branch: null, worktree: 'main' });
    assert.ok(begun.ok);
    const origin = { now: '2026-03-17T10:00:00.000Z', actor: 'ana', place: 'here', cause: 'c' };
    const { session } = appendEvents(absent, begun.value, origin);
    assert.ok(isOpened(session));
    const { where, remaining } = viewOfSession(session);
    assert.deepEqual([where['phase'], ...remaining], ocrPhases[kind.name]);
  }
});

/** Rows as the original might have written them, and some that it never would. */
const anyTables = (): fc.Arbitrary<OcrTables> => {
  const time = fc
    .integer({ min: 0, max: 3600 })
    .map((second) => new Date(Date.UTC(2026, 2, 17, 10) + second * 1000).toISOString());
  const phase = fc.constantFrom(...ocrPhases.review, ...ocrPhases.map, null);
  const number = fc.constantFrom(1, 1, 2, 3, 7, 0, null, 'x');
  const maybe = (values: fc.Arbitrary<unknown>) => fc.option(values, { freq: 10 });
  const session = fc.record({
    id: fc.constant('a'),
    branch: fc.constant('main'),
    workflow_type: fc.constantFrom('review', 'map'),
    status: fc.constantFrom('active', 'closed', null),
    current_phase: phase,
    current_round: number,
    current_map_run: number,
    started_at: maybe(time),
    updated_at: maybe(time),
  });
  const event = fc.record({
    session_id: fc.constant('a'),
    event_type: fc.constantFrom(
      ...['session_created', 'session_resumed', 'round_started', 'phase_transition', 'phase_transition'],
      ...['round_completed', 'map_completed', 'session_closed', 'session_aborted', 'session_synced'],
    ),
    phase,
    round: number,
    metadata: fc.constantFrom(null, '{"kind":"forward_resume"}', '{"source":"reconciled"}', '{"verdict":"APPROVE"}'),
    created_at: maybe(time),
  });
  const execution = fc.record({
    uid: fc.constantFrom('u', 'v', 'w'),
    command: fc.constantFrom('session-instance:a-1', 'ocr review'),
    workflow_id: fc.constant('a'),
    exit_code: fc.constantFrom(null, 0, 1, -2, -3, -4),
    started_at: maybe(time),
    finished_at: maybe(time),
    last_heartbeat_at: maybe(time),
  });
  return fc.record({
    version: fc.constant(14),
    sessions: session.map((row) => [row]),
    events: fc
      .array(event, { maxLength: 25 })
      .map((rows) => rows.map((row, index) => Object.assign({ id: index + 1 }, row))),
    executions: fc.array(execution, { maxLength: 4 }),
  });
};

test('any history of an original can be taken over whole, and what it says is then what is on record', () => {
  fc.assert(
    fc.property(anyTables(), (tables) => {
      const [found] = readHistory(tables).sessions;
      assert.ok(found !== undefined);
      const { items, source, taken, branch, problems, files } = importOfRow(found, [], () => undefined);
      const kind = kinds.find((one) => one.name === found.kind);
      assert.ok(kind !== undefined);
      const absent = absentSession(kind, `${found.kind}:a`);
      const decided = decideImport(absent, items, { source, taken, branch, worktree: 'main', problems, files });
      assert.ok(decided.ok, decided.ok ? '' : decided.error.message);
      const now = '2026-03-18T10:00:00.000Z';
      const { session } = appendEvents(absent, decided.value, { now, actor: '', place: '', cause: '' });
      assert.ok(isOpened(session));
      const { status, startedAt } = session.common;
      const completed = new Set(found.history.flatMap((one) => (one.what === 'completed' ? [one.round] : [])));
      const rounds = found.history.flatMap((one) => (one.what === 'round' ? [one.round] : []));
      const { fields } = viewOfSession(session);
      assert.deepEqual([status, startedAt], [found.status, found.history[0]?.at]);
      assert.equal(fields['rounds_total'], Math.max(...rounds));
      assert.deepEqual(
        decided.value.flatMap(({ type, data }) => (type === 'RoundImported' ? [data['round']] : [])),
        [...completed],
        'complete is what the original recorded as complete, and nothing else',
      );
      for (const process of found.processes) {
        const taker = session.processes.get(process.id);
        assert.deepEqual(
          [taker?.outcome, taker?.exitCode, taker?.host],
          [process.outcome, process.exitCode, 'unknown'],
          process.id,
        );
        assert.equal(taker?.endedAt === null, process.endedAt === null);
      }
    }),
    { numRuns: 1000 },
  );
});
