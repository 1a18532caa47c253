/** The files of workflow runs and of their neighbours as people committed or damaged them: each has its diagnosis. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { readRunFile, readSnapshotFile, type Found, type FoundRun } from '../src/formats/run-state/read-run.ts';
import { planRunFiles, runFolders } from '../src/formats/run-state/run-files.ts';
import { standingOf } from '../src/formats/run-state/standing.ts';
import type { Clock } from '../src/lib/written-time.ts';
import { files } from '../src/surfaces/files.ts';
import { createProjectFiles } from '../src/surfaces/project-files.ts';
import { caseFile } from './support/cases.ts';
import { shared, withoutShared } from './support/world.ts';

const clock: Clock = { now: '2026-11-30T00:00:00Z', offsetAt: () => 480 };

const find = (path: string, folder = ''): Found => readRunFile(readFileSync(path, 'utf8'), { path, folder }, clock);

const runIn = (path: string): FoundRun => {
  const found = find(path);
  return found.what === 'run' ? found.run : assert.fail(JSON.stringify(found));
};

/** A diagnosis in one line. */
const said = (found: Found): string => {
  switch (found.what) {
    case 'run': {
      const { document } = found.run;
      const { status, outcome, waitsAt, inDoubt } = standingOf(found.run);
      const place = `${document.current_batch} ${document.current_node ?? '-'} after ${document.last_checkpoint ?? '-'}`;
      const doubt = inDoubt.length > 0 ? `, in doubt ${inDoubt.join(' ')}` : '';
      return `${document.status}: ${outcome ?? status} at ${place}${waitsAt === null ? '' : ', waits'}${doubt}`;
    }
    case 'neighbour':
      return found.is;
    case 'damaged':
      return `${found.line ?? '-'}:${found.column ?? '-'} ${found.problem}`;
  }
};

const agents = 'a session of an orchestrator of agents';
const agentsToo = `What can be read of it is ${agents}.`;
const tasks = 'a workflow session of tasks';
const chain = 'a chain of Maestro Flow';
const cutOff = 'It ends in the middle, as a write that was cut off.';
const nothingBegun = '$.node_states has no state of CP-01, N-002a, N-002b, CP-02, N-003: they were taken as pending.';

/** What each file of a folder is found to be, and for runs what is told of them. */
const diagnoses: Readonly<Record<string, Readonly<Record<string, readonly [string, ...string[]]>>>> = {
  'synthetic/synthetic-wfr': {
    's1-fresh-phase2-no-completed_at.json': ['running: active at 1 N-001 after -'],
    's2-parallel-two-running-one-cli.json': ['running: active at 3 N-002a after CP-01, in doubt N-002a N-002b'],
    's3-paused-checkpoint-already-marked-completed.json': ['paused: active at 4 CP-02 after CP-02, waits'],
    's4-last_checkpoint-points-to-missing-snapshot.json': [
      'running: active at 4 CP-02 after CP-01, in doubt N-003',
      '$.current_batch is 5: by the states of the nodes it is 4.',
      '$.current_node is "N-003", which is running: by the states of the nodes it is CP-02.',
      '$.last_checkpoint is "CP-02", which is pending: by the states of the nodes it is CP-01.',
      '$.node_states shows N-003 begun, although CP-02 before is not done.',
    ],
    's5-work-done-after-last-checkpoint.json': ['running: active at 3 N-002b after CP-01, in doubt N-002b'],
    's6-failed.json': [
      'failed: failed at 5 N-003 after CP-02',
      '$.node_states["CP-02"] is a completed checkpoint that names no snapshot.',
    ],
    's7-archived-stale-paths.json': [
      'archived: completed at 5 - after CP-02',
      '$.status is archived, which does not say how it ended: it was taken as completed.',
      '$.node_states["CP-01"] points to where the run lay before it was archived, and was kept.',
      '$.node_states["CP-02"] points to where the run lay before it was archived, and was kept.',
    ],
    's8-abbreviated-node-state.json': [
      'running: active at 3 N-002a after CP-01',
      '$.node_states["N-002a"] is abbreviated: what it leaves out was taken as empty.',
      '$.node_states["N-003"].status is "DONE", which means completed.',
      '$.node_states has no state of N-002b, CP-02: they were taken as pending.',
      '$.node_states shows N-003 begun, although N-002a, N-002b before are not done.',
    ],
    's9-plan-node-without-state-and-vice-versa.json': [
      'running: active at 1 N-001 after -',
      nothingBegun,
      '$.node_states["N-999"] is of no batch of the plan, and was kept.',
    ],
    's10-status-enum-literal.json': [
      'running: active at 1 N-001 after -',
      nothingBegun,
      '$.status is the list of all statuses and not one of them: by the states of its nodes the run is running.',
    ],
    't1-template.json': ['a template of the workflow player'],
    't2-template-cycle.json': ['a template of the workflow player'],
    't3-template-dangling-edge-duplicate-id.json': ['a template of the workflow player'],
    't4-template-dependency-inside-parallel-group.json': ['a template of the workflow player'],
  },
  'synthetic/synthetic-craft-dialects': {
    'd0-no-schema-version.json': [agents],
    'd1-schema-1.0.json': [agents],
    'd2-schema-1.0.0-guide.json': [agents],
    'd3-teleport.json': [agents],
    'd4-last-orchestration.json': [agents],
    'x1-torn-write.json': [`40:20 ${cutOff} ${agentsToo}`],
    'x2-nul-tail.json': [`77:1 It holds NUL bytes, as a write leaves them that a crash cut off. ${agentsToo}`],
    'x3-double-document.json': [`77:1 It goes on behind the end of its document. ${agentsToo}`],
    'x4-merge-conflict.json': [`13:1 It holds the marks of a merge conflict. ${agentsToo}`],
    'x5-markdown-fence.json': [`1:1 It is wrapped in a fence of Markdown. ${agentsToo}`],
    'x6-bom-crlf.json': [agents],
    'x7-future-version.json': [agents],
    'x8-hostile-id.json': [agents],
    'x9-empty.json': ['1:1 It is empty.'],
  },
  'real/ccw-coordinators': {
    '16-ccw-coordinator-running.json': ['a session of the command coordinator'],
    '17-ccw-coordinator-completed.json': ['a session of the command coordinator'],
    '18-flow-coordinator-status.json': ['a status of the flow coordinator'],
    '19-multi-cli-session-state.json': ['a session of the multi-cli planner'],
    '20-team-session.json': ['a session of a team'],
  },
  'real/ccw-wfs': {
    '04-corrupt-number-archived.json': [`14:22 It is not JSON. What can be read of it is ${tasks}.`],
    '05-rich-completed-in-active.json': [tasks],
    '06-phase-status.json': [tasks],
    '09-archived-but-planning.json': [tasks],
    '13-archived-but-active.json': [tasks],
    '14-manifest-object-form.json': ['the list of archived workflow sessions'],
  },
  'real/maestro-flow': {
    '22-mojibake-lone-surrogates-failed.json': [chain],
    '23-ralph-paused.json': [chain],
    '24-aborted.json': [chain],
    '25-zombie-running.json': [chain],
    '26-status-done.json': [chain],
    '27-corrupt-goal-mode.json': [`127:15 It is not JSON. What can be read of it is ${chain}.`],
    '28-corrupt-missing-comma.json': [`225:5 It is not JSON. What can be read of it is ${chain}.`],
    '29-session-json-sealed.json': ['a session document of Maestro Flow'],
    '30-session-json-large.json': ['a session document of Maestro Flow'],
  },
};

for (const [folder, expected] of Object.entries(diagnoses)) {
  test(`every file of ${folder} is found to be what it is`, { skip: withoutShared('fixtures', folder) }, () => {
    const path = join(shared, 'fixtures', folder);
    const found = Object.fromEntries(
      readdirSync(path).map((name) => {
        const one = find(join(path, name));
        return [name, [said(one), ...(one.what === 'run' ? one.run.problems : [])]];
      }),
    );
    assert.deepEqual(found, expected);
  });
}

const withoutFixtures = withoutShared('fixtures', 'synthetic', 'synthetic-wfr');
const withoutCases = withoutShared('cases');

test('whatever becomes of the bytes of these files, each has a diagnosis', { skip: withoutFixtures }, () => {
  const texts = Object.entries(diagnoses).flatMap(([folder, expected]) =>
    Object.keys(expected).map((name) => readFileSync(join(shared, 'fixtures', folder, name), 'utf8')),
  );
  const damage = fc.record({
    text: fc.constantFrom(...texts),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat(200),
    put: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\0\0', '"', '{', '}', ',', '9,166', '\\"')),
  });
  fc.assert(
    fc.property(damage, ({ text, at, cut, put }) => {
      const from = Math.floor(at * text.length);
      const damaged = text.slice(0, from) + put + text.slice(from + cut);
      const found = readRunFile(damaged, { path: 'a', folder: '' }, clock);
      assert.match(said(found), /\S/);
      readSnapshotFile(damaged, { path: 'a', folder: '' }, clock);
    }),
    { numRuns: 500 },
  );
});

test('G02: what was done is done, and what was running is next and in doubt', { skip: withoutCases }, () => {
  const run = runIn(caseFile('G02', 'session-state.json'));
  assert.equal(said({ what: 'run', run }), 'running: active at 3 N-002 after CP-01, in doubt N-002');
  const { 'N-001': first, 'N-002': second } = run.document.node_states;
  assert.deepEqual([first?.status, second?.status], ['completed', 'running']);
});

test('G09: a snapshot without a name is read, with the states that it holds', { skip: withoutCases }, () => {
  const path = caseFile('G09', 'CP-01.json');
  assert.equal(said(find(path)), 'the snapshot of a checkpoint');
  const read = readSnapshotFile(readFileSync(path, 'utf8'), { path, folder: '' }, clock);
  assert.ok(read.ok);
  assert.deepEqual(
    [read.value.document.next_node, Object.keys(read.value.document.node_states_snapshot), read.value.problems],
    ['N-002', ['N-001'], ['$.checkpoint_name is missing: its id stands for it.']],
  );
  assert.equal(read.value.document.context_snapshot, undefined);
});

test('H01: a run that says running for ever is active, and its node in doubt', { skip: withoutCases }, () => {
  const run = runIn(caseFile('H01', 'session-state.json'));
  assert.deepEqual(standingOf(run).inDoubt, ['N-002']);
  assert.match(run.problems[0] ?? '', /^\$\.updated_at lies before/);
  assert.equal(said(find(caseFile('H01', 'lease.json'))), 'a lease');
});

test('H08: a run with nothing to do has no current node', { skip: withoutCases }, () => {
  assert.equal(said(find(caseFile('H08', 'session-state.json'))), 'running: active at 0 - after -');
});

test('H10: a creation that is not known is concluded, and an end that is not is none', { skip: withoutCases }, () => {
  const { document, problems } = runIn(caseFile('H10', 'no-start.json'));
  assert.deepEqual([document.created_at, document.completed_at], ['2026-03-17T14:30:25Z', null]);
  assert.match(problems[0] ?? '', /^\$\.created_at is not known: the earliest time that is told/);
});

test('the files to look at are those that a folder has, as the port tells of them', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'stint-runs-'));
  context.after(() => rmSync(root, { recursive: true }));
  const put = (path: string): void => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), '{}');
  };
  put('.workflow/sessions/WFR-b-10/session-state.json');
  put('.workflow/sessions/WFR-b-9/session-state.json');
  put('.workflow/sessions/WFR-b-9/checkpoints/CP-01.json');
  put('.workflow/sessions/archive/WFR-a/session-state.json');
  put('.workflow/sessions/m/session.json');
  put('.workflow/sessions/WFR-gone/artifacts/N-001.md');
  const folder = runFolders(root).find((path) => files.exists(path)) ?? '';
  const plan = planRunFiles(folder, files.list(folder), createProjectFiles(root, root).tree(folder));
  assert.deepEqual(
    plan.files.map(({ path, snapshots }) => [path.slice(folder.length), ...snapshots.map((file) => basename(file))]),
    [
      ['/m/session.json'],
      ['/WFR-b-9/session-state.json', 'CP-01.json'],
      ['/WFR-b-10/session-state.json'],
      ['/archive/WFR-a/session-state.json'],
    ],
  );
  assert.deepEqual(
    plan.ignored.map(({ path }) => basename(path)),
    ['WFR-gone'],
  );
});
