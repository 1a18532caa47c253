/** What can be told of a hand-off as a whole on the command line: what came before, everything in one answer, whether it is ready. */
import assert from 'node:assert/strict';
import { readFileSync, utimesSync } from 'node:fs';
import { suite, test } from 'node:test';
import { handover, sessionState } from '../src/formats/handoff/document.ts';
import { archivedPair, sample } from '../src/formats/handoff/samples.ts';
import { codesIn, current, paired, root } from './support/documents.ts';
import { treeOf } from './support/stores.ts';
import { createWorld, later, lines, listOf, refusedText, say, type Printed, type TestWorld } from './support/world.ts';

/** Writes documents below a root. */
const write = (world: TestWorld, files: Readonly<Record<string, string>>, below = root): void => {
  for (const [path, text] of Object.entries(files)) world.write(`${below}/${path}`, text);
};

/** Documents that hide no other: of another program, broken, not there yet. */
const junk = {
  'handovers/junk.md': '# Handover\n',
  'handovers/README.md': 'read me\n',
  'handovers/.swp.md': '# Handover\n',
  'session-state/.swp.md': 'x',
  'session-state/notes.txt': 'x',
};

suite('what came before', () => {
  test('is listed, the newest first, with what is wrong', (context) => {
    const world = paired(context, { 'Task summary': 'Ship it' });
    write(world, { ...archivedPair('20260310_0900'), ...archivedPair('99999999_9999'), ...junk });
    assert.equal(
      say(world, 'handoff', 'history'),
      lines(
        'Docs root      ROOT/project/docs/tests',
        'Active source  current-pointer',
        'Task           Ship it',
        'Kind           live',
        'Status         in-progress',
        'Last updated   2026-03-12T10:15:00+01:00',
        'Next owner     ben',
        'Handover       ROOT/project/docs/tests/handovers/20260312_0915_handover.md',
        'Session-state  ROOT/project/docs/tests/session-state/CURRENT.md',
        'History:',
        '1. 20260310_0900 | snapshot | in-progress | ben | None',
        '   ROOT/project/docs/tests/handovers/20260310_0900_handover.md',
        '   ROOT/project/docs/tests/session-state/20260310_0900_session-state.md',
        '2. untimestamped | snapshot | None | None | None',
        '   ROOT/project/docs/tests/handovers/junk.md',
        '   None',
        `   WARNING: 21 sections, ${handover.sections.join(', ')}, are missing`,
        '   WARNING: there is no session state that belongs to it',
        '3. untimestamped | snapshot | in-progress | ben | None',
        '   ROOT/project/docs/tests/handovers/99999999_9999_handover.md',
        '   ROOT/project/docs/tests/session-state/99999999_9999_session-state.md',
        '   WARNING: the stamp in its name is no time',
      ),
    );
    const { schema_version: _, ...answer } = world.answer('handoff', 'history', '--limit', '1');
    assert.deepEqual(Object.keys(answer), ['docs_root', 'active_source', 'active', 'history']);
    const [entry, ...others] = listOf(answer.history);
    assert.deepEqual(others, []);
    assert.deepEqual(Object.keys(entry), [
      'stamp',
      'task',
      'status',
      'last_updated',
      'next_owner',
      'handover',
      'session_state',
      'kind',
      'is_active',
      'warnings',
    ]);
  });

  test('is refused where there is nothing, and so is a limit below nothing', (context) => {
    const world = createWorld(context);
    assert.match(refusedText(world, 4, 'handoff', 'history'), /No hand-off pair can be told: there is none in ROOT/);
    for (const [verb, limit] of [
      ['history', '--limit'],
      ['report', '--history-limit'],
      ['ready', '--history-limit'],
    ] as const)
      assert.match(world.refusal(2, 'handoff', verb, `${limit}=-1`).message, /expected at least 0/);
  });
});

suite('all of it in one answer', () => {
  test('is told for a person', (context) => {
    const world = paired(context, {
      'Task summary': 'Ship it',
      'Remaining steps': '1. Check it',
      'Current step': 'Write',
    });
    write(world, archivedPair('20260310_0900'));
    assert.equal(
      say(world, 'handoff', 'report'),
      lines(
        'Docs root         ROOT/project/docs/tests',
        'Result            clean',
        'Task              Ship it',
        'Status            in-progress',
        'Last updated      2026-03-12T10:15:00+01:00',
        'Updated by        ana',
        'Next owner        ben',
        'Current step      Write',
        'Next command      None',
        'Handover          ROOT/project/docs/tests/handovers/20260312_0915_handover.md',
        'Session-state     ROOT/project/docs/tests/session-state/CURRENT.md',
        'Lease             none',
        'Lease holder      None',
        'Lease purpose     None',
        'Lease expires at  None',
        'Workspace health  clean: 0 errors, 0 warnings',
        'Remaining steps:',
        '- Check it',
        'Recent history:',
        '1. 20260310_0900 | snapshot | in-progress | ben | None',
      ),
    );
  });

  test('is of one root, wherever it is asked', (context) => {
    const world = paired(context, { 'Task summary': 'Of the project' });
    write(
      world,
      {
        'session-state/CURRENT.md': sample(sessionState),
        'handovers/20260312_0915_handover.md': sample(handover, { 'Task summary': 'Of the other' }),
      },
      'other',
    );
    write(world, archivedPair('20260310_0900', { 'Task summary': 'Before the other' }), 'other');
    const report = world.answer('handoff', 'report', '--root', 'other');
    const roots = [report, report.audit, report.history].map((one) => world.scrub(one.docs_root));
    assert.deepEqual(new Set(roots), new Set(['ROOT/project/other']));
    assert.deepEqual(
      [report.summary.task, report.history.active.task, report.history.history[0].task],
      ['Of the other', 'Of the other', 'Before the other'],
    );
    assert.doesNotMatch(JSON.stringify(report), /Of the project|docs\/tests/);
    const ready = world.answer('handoff', 'ready', '--root', 'other');
    assert.doesNotMatch(JSON.stringify(ready), /Of the project|docs\/tests/);
    assert.deepEqual(world.answer('handoff', 'history', '--root', 'other'), { schema_version: 1, ...report.history });
    write(world, { 'handovers/x.md': '' }, 'deep/docs/tests');
    const start = world.answer('handoff', 'report', '--start-dir', 'deep');
    assert.equal(world.scrub(start.docs_root), 'ROOT/project/docs/tests');
  });

  test('has every part although one is broken, and tells each fault once', (context) => {
    const world = paired(context);
    write(world, { ...junk, 'session-state/CURRENT.md': sample(sessionState).replace('## Blockers\nNone\n\n', '') });
    for (const verb of ['report', 'ready']) {
      const { json } = world.run('handoff', verb, '--json');
      const report = verb === 'report' ? json : json.report;
      assert.deepEqual(
        [report.result, report.summary.status, report.history.active.stamp],
        ['error', 'in-progress', '20260312_0915'],
      );
      assert.deepEqual(
        listOf(report.errors).map((error) => String(error).split(':')[0]),
        ['handovers/junk.md', 'session-state/CURRENT.md'],
      );
      assert.deepEqual(report.warnings, []);
    }
    const outcome = world.run('handoff', 'report');
    assert.equal(outcome.status, 7);
    assert.match(
      outcome.stdout,
      /^ERROR: session-state\/CURRENT\.md: the section Blockers is missing; write "## Blockers" behind/m,
    );
    assert.match(outcome.stderr, /^stint: The documentation \S+ is not sound: 2 findings\./);
  });

  test('is told, with what is there, where no pair is, and where the root is a file it is refused', (context) => {
    const world = createWorld(context);
    const outcome = world.run('handoff', 'report');
    assert.deepEqual([outcome.status, outcome.stdout.split('\n')[1]], [4, 'Result            warning']);
    assert.match(outcome.stderr, /^stint: No hand-off pair can be told/);
    const { status, json } = world.run('handoff', 'report', '--json');
    assert.deepEqual([status, json.summary, json.audit.result, json.error.code], [4, null, 'warning', 'not-found']);
    world.write(root, 'a file');
    for (const verb of ['history', 'report', 'ready'])
      assert.match(world.refusal(6, 'handoff', verb).message, /docs\/tests is a file/);
  });
});

suite('whether it is ready', () => {
  test('is said with each reason and what clears it', (context) => {
    const world = paired(context, { 'Task summary': 'Ship it', 'Files touched': '- src/gone.ts' });
    const outcome = world.run('handoff', 'ready', '--actor', 'ana');
    assert.equal(outcome.status, 6);
    assert.equal(
      world.scrub(outcome.stdout),
      lines(
        'Verdict       not-ready',
        'Docs root     ROOT/project/docs/tests',
        'Task          Ship it',
        'Status        in-progress',
        'Next owner    ben',
        'Lease state   none',
        'Lease holder  None',
        'Blocking reasons:',
        '- it names the file src/gone.ts as touched, which is not there; one that was deleted is named with that word',
        '  stint handoff update --updated-by ana --file-touched None',
        'Warnings:',
        '- None',
        'Notes:',
        '- nothing says what was validated',
        '  stint handoff update --updated-by ana && stint note validation --run -- COMMAND',
      ),
    );
    assert.equal(
      outcome.stderr,
      lines(
        'stint: The work is not ready to be handed over: 1 reason.',
        '  expected: no blocking reasons',
        '  try: stint handoff update --updated-by ana --file-touched None',
      ),
    );
    world.write('src/gone.ts', '');
    const { schema_version: _, report, reasons, ...answer } = world.answer('handoff', 'ready');
    assert.deepEqual(Object.keys(report), [
      'docs_root',
      'result',
      'summary',
      'lease',
      'audit',
      'history',
      'warnings',
      'errors',
      'findings',
    ]);
    assert.deepEqual(
      listOf(reasons).map(({ code, severity }) => [code, severity]),
      [
        ['validation-missing', 'note'],
        ['tree-dirty', 'note'],
      ],
    );
    assert.deepEqual(
      { ...answer, docs_root: world.scrub(answer.docs_root) },
      {
        docs_root: 'ROOT/project/docs/tests',
        verdict: 'ready',
        ready: true,
        task: 'Ship it',
        status: 'in-progress',
        next_owner: 'ben',
        session: null,
        lease: { state: 'none', holder: 'None', purpose: 'None', acquired_at: 'None', expires_at: 'None' },
        blocking_reasons: [],
        warnings: [],
        next_actions: [],
      },
    );
  });

  test('with warnings is ready, unless --strict-warnings says otherwise', (context) => {
    const world = paired(context);
    write(world, { 'session-state/20260310_0900_session-state.md': sample(sessionState) });
    const { verdict, ready, warnings } = world.answer('handoff', 'ready');
    assert.deepEqual([verdict, ready, listOf(warnings).length], ['ready-with-warnings', true, 1]);
    const { status, json } = world.run('handoff', 'ready', '--strict-warnings', '--json');
    assert.deepEqual([status, json.verdict, json.error.expected], [6, 'ready-with-warnings', 'no warnings']);
  });

  test('is not-ready where no pair is, as text and as JSON', (context) => {
    const world = createWorld(context);
    const { status, json } = world.run('handoff', 'ready', '--json');
    assert.deepEqual([status, json.verdict, codesIn(json)], [6, 'not-ready', ['pair-missing']]);
    assert.match(world.run('handoff', 'ready').stdout, /^Verdict {7}not-ready$/m);
  });

  test('tells where a secret stands, and repeats it nowhere', (context) => {
    const world = paired(context, {
      'Commands to resume': '- curl -H "Authorization: Bearer abcdefghij0123456789abcd"',
    });
    const { status, stdout, json } = world.run('handoff', 'ready', '--json');
    assert.deepEqual([status, codesIn(json)], [6, ['secret', 'validation-missing']]);
    assert.match(
      json.blocking_reasons[0],
      /^session-state\/CURRENT\.md:36: the section Commands to resume holds a secret \(/,
    );
    assert.doesNotMatch(stdout, /abcdefghij/);
    const other = createWorld(context);
    other.answer('handoff', 'new', '--task', 'Ship it', '--updated-by', 'ana', '--next-owner', 'ben');
    const written = readFileSync(other.path(current), 'utf8');
    other.write(current, written.replace('- Decision: None', '- Decision: password=hunter2hunter2'));
    other.answer('handoff', 'update', '--updated-by', 'ana', '--current-step', 'Write');
    const after = other.run('handoff', 'ready', '--json');
    assert.deepEqual(
      codesIn(after.json),
      ['secret', 'validation-missing'],
      'what its session was not told of stays in the file',
    );
    assert.doesNotMatch(after.stdout, /hunter2/);
  });

  test('depends on what the project requires in stint.json, and what that cannot say is refused', (context) => {
    const world = paired(context);
    world.write('stint.json', '{"handoff": {"require": ["validation", "clean-tree"]}}');
    const { status, json } = world.run('handoff', 'ready', '--json');
    assert.deepEqual([status, codesIn(json)], [6, ['validation-missing', 'tree-dirty']]);
    for (const [said, message] of [
      ['{"handoff": []}', /\$\.handoff: expected an object/],
      ['{"handoff": {"require": ["tests"]}}', /\$\.handoff\.require\[0\] must be one of validation, clean-tree/],
      ['{"handoff": {"require": "validation"}}', /\$\.handoff\.require expected a list/],
      ['{"handoff": {"requires": []}}', /\$\.handoff\.requires/],
    ] as const) {
      world.write('stint.json', said);
      assert.match(world.refusal(7, 'handoff', 'ready').message, message);
    }
  });

  test('goes by what its session has on record: who holds it, what blocks it, what was validated, what it does not know', (context) => {
    const world = createWorld(context);
    world.write('src/a.ts', 'one\n');
    utimesSync(world.path('src/a.ts'), new Date('2026-03-17T11:00:00Z'), new Date('2026-03-17T11:00:00Z'));
    const begun = ['--updated-by', 'ana', '--next-owner', 'ben', '--file-touched', 'src/a.ts'];
    world.answer('handoff', 'new', '--task', 'Ship it', ...begun);
    const judged = (): Printed => world.run('handoff', 'ready', '--json').json;
    assert.deepEqual([judged().verdict, judged().session], ['ready', 'task:2026-03-17-main']);
    world.answer('note', 'validation', '--run', '--', 'true');
    assert.deepEqual([judged().verdict, codesIn(judged())], ['ready', ['tree-dirty']]);
    world.answer('lease', 'claim', '--purpose', 'edit');
    assert.match(judged().blocking_reasons[0], /holder ana@desk on desk until .*, for: edit/);
    world.answer('lease', 'release');
    world.answer('block', 'no token');
    assert.deepEqual(codesIn(judged())[0], 'blocker-without-needs');
    world.answer('unblock');
    utimesSync(world.path('src/a.ts'), new Date('2026-03-17T13:00:00Z'), new Date('2026-03-17T13:00:00Z'));
    assert.deepEqual(codesIn(judged())[0], 'validation-old');
    const after = later(world, 90);
    after.answer('note', 'validation', '--run', '--', 'true');
    const found = (): Printed => after.run('handoff', 'ready', '--json').json;
    assert.deepEqual(found().verdict, 'ready');
    const path = world.path(current);
    world.write(current, readFileSync(path, 'utf8').replace('\nben\n', '\ncleo\n'));
    assert.deepEqual(codesIn(found()), ['pair-owner', 'edit-not-taken', 'tree-dirty']);
  });

  test('is only looked at: no file is made or changed', (context) => {
    const world = paired(context);
    const before = treeOf(world.project);
    for (const verb of ['history', 'report', 'ready']) world.answer('handoff', verb);
    assert.deepEqual(treeOf(world.project), before);
  });
});
