/** The files of an orchestrator of agents in each form and damage that is known, and those of its neighbours. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { printOrchestrator } from '../src/formats/orchestrator/print.ts';
import { readOrchestratorFile, type Found, type FoundSession } from '../src/formats/orchestrator/read.ts';
import { standingOf } from '../src/formats/orchestrator/standing.ts';
import type { Clock } from '../src/lib/written-time.ts';
import { shared, withoutShared } from './support/world.ts';

const clock: Clock = { now: '2026-11-30T00:00:00Z', offsetAt: () => -60 };
const folder = 'synthetic/synthetic-craft-dialects';
const path = '.claude/orchestrator-session.json';

const textOf = (...parts: readonly string[]): string => readFileSync(join(shared, 'fixtures', ...parts), 'utf8');
const find = (name: string, choice?: string): Found =>
  readOrchestratorFile(textOf(folder, name), { path, clock, choice });

/** A diagnosis in a few lines. */
const said = (found: Found): readonly string[] => {
  switch (found.what) {
    case 'session': {
      const { dialect, document, faults, lost } = found.session;
      const { status, outcome, inDoubt } = standingOf(found.session);
      const doubt = inDoubt.length > 0 ? `, in doubt ${inDoubt.join(' ')}` : '';
      return [
        `${dialect}: ${document.session_id} ${document.status}, ${outcome ?? status}${doubt}`,
        ...faults.map(({ problem, line, column }) => `${line}:${column} ${problem}`),
        ...lost.slice(1),
      ];
    }
    case 'undecided':
      return [found.problem, ...found.sides.flatMap((side) => said(side.found).map((line) => `${side.name}: ${line}`))];
    case 'newer':
      return [`newer: ${found.version} ${String(found.id)}`];
    case 'neighbour':
      return [found.is];
    case 'damaged':
      return [`${found.line ?? '-'}:${found.column ?? '-'} ${found.problem}`];
  }
};

const sound = 'schema 1.0: 2025-12-28-z9y8x7 in_progress, active, in doubt code-1';

/** What each file is found to be. */
const diagnoses: Readonly<Record<string, readonly string[]>> = {
  'd0-no-schema-version.json': ['without version: 2025-12-20-q1w2e3 paused, active, in doubt code-1'],
  'd1-schema-1.0.json': [sound],
  'd2-schema-1.0.0-guide.json': ['guide: 2026-01-19-m4n5o6 in_progress, active, in doubt code-1'],
  'd3-teleport.json': ['cross-device: 77aa11-88bb22 in_progress, active, in doubt code-1'],
  'd4-last-orchestration.json': ['hook summary: 2026-01-18-192c79 paused, active'],
  'x1-torn-write.json': [
    sound,
    '40:20 It ends in the middle, as a write that was cut off ($.agents[2].completed).',
    'What it said of completed_work, pending_tasks, decisions_made, context_usage, errors may have stood behind line 40.',
  ],
  'x2-nul-tail.json': [sound, '77:1 It holds NUL bytes, as a write leaves them that a crash cut off.'],
  'x3-double-document.json': [sound, '77:1 It holds another document, which was left out.'],
  'x4-merge-conflict.json': [
    'It has a git conflict at line 13.',
    `ours: ${sound}`,
    `theirs: ${sound.replace('in_progress', 'complete')}`,
  ],
  'x5-markdown-fence.json': [sound, '1:1 It is wrapped in a fence of Markdown.'],
  'x6-bom-crlf.json': [sound],
  'x7-future-version.json': ['newer: 2.0 2025-12-28-z9y8x7'],
  'x8-hostile-id.json': [sound.replace('2025-12-28-z9y8x7', 'tmp-escape-f980bd')],
  'x9-empty.json': ['1:1 It is empty.'],
};

const skip = withoutShared('fixtures', folder);

test('each form and each damage that is known has its diagnosis', { skip }, () => {
  const names = readdirSync(join(shared, 'fixtures', folder));
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, said(find(name))])), diagnoses);
});

const sessionIn = (name: string, choice?: string): FoundSession => {
  const found = find(name, choice);
  return found.what === 'session' ? found.session : assert.fail(said(found).join('\n'));
};

test('what was mended says the same as what was sound', { skip }, () => {
  const { document, problems, unknown } = sessionIn('d1-schema-1.0.json');
  for (const name of ['x2-nul-tail.json', 'x3-double-document.json', 'x5-markdown-fence.json', 'x6-bom-crlf.json']) {
    const session = sessionIn(name);
    assert.deepEqual(
      [session.document, session.problems, session.unknown, session.lost],
      [document, problems, unknown, []],
    );
  }
  assert.deepEqual(sessionIn('x4-merge-conflict.json', 'ours').document, document);
  assert.equal(sessionIn('x4-merge-conflict.json', 'theirs').document.status, 'complete');
  assert.equal(sessionIn('x8-hostile-id.json').unknown.file['imported_session_id'], '../../../../tmp/escape');
  const { agents, ...torn } = sessionIn('x1-torn-write.json').document;
  assert.deepEqual([agents.length, torn.goal, torn.pending_tasks], [3, document.goal, []]);
});

test('a file in schema 1.0 is printed as it was, but for a time without a zone', { skip }, () => {
  const { document, unknown } = sessionIn('d1-schema-1.0.json');
  const text = textOf(folder, 'd1-schema-1.0.json').trimEnd();
  assert.equal(
    printOrchestrator(document, unknown),
    text.replace('2025-12-28T09:41:12.004511', '2025-12-28T10:41:12.004Z'),
  );
});

test('every form is read as the same after it was printed', { skip }, () => {
  for (const name of Object.keys(diagnoses).filter((one) => one.startsWith('d'))) {
    const { document, unknown } = sessionIn(name);
    const again = readOrchestratorFile(printOrchestrator(document, unknown), { path, clock });
    assert.ok(again.what === 'session');
    assert.deepEqual([again.session.document, again.session.unknown], [document, unknown], name);
  }
});

test(
  'no file of another program is taken for a session, damaged or not',
  { skip: withoutShared('fixtures', 'real') },
  () => {
    for (const group of ['real', 'synthetic/synthetic-wfr']) {
      const files = readdirSync(join(shared, 'fixtures', group), { recursive: true, encoding: 'utf8' });
      for (const file of files.filter((one) => one.endsWith('.json'))) {
        const found = readOrchestratorFile(textOf(group, file), { path: file, clock });
        assert.ok(
          found.what === 'neighbour' && !found.is.includes('another kind'),
          `${file}: ${said(found).join(' ')}`,
        );
      }
    }
  },
);

test(
  'H13: nothing of a shape of its own is shown with a word of our own innards',
  { skip: withoutShared('cases') },
  () => {
    const phases = [
      ['plan', 'build'],
      [{ name: 'plan', status: 'done' }, { name: 'build' }],
      { plan: { status: 'done' } },
    ];
    for (const pending_tasks of phases) {
      const text = JSON.stringify({ session_id: 's', goal: 'g', agents: [], updated: 'not a date', pending_tasks });
      const found = readOrchestratorFile(text, { path, clock });
      assert.ok(found.what === 'session');
      assert.equal(found.session.document.pending_tasks[0], 'plan');
      assert.doesNotMatch(JSON.stringify(found), /\[object|undefined|NaN|Invalid Date/);
    }
  },
);
