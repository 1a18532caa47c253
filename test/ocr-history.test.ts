import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { ocrPhases, readHistory, type OcrTables } from '../src/formats/ocr/history.ts';
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
