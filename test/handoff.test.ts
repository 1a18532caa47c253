/** The documents of a hand-off on the command line: where they are, whether they are sound, what they say. */
import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { handover, sessionState } from '../src/formats/handoff/document.ts';
import { sample } from '../src/formats/handoff/samples.ts';
import { current, paired, transfer } from './support/documents.ts';
import { treeOf } from './support/stores.ts';
import { createWorld, lines, listOf, refusedText, say, shared, withoutShared, type Printed } from './support/world.ts';

const codesOf = (document: Printed): readonly Printed[] => listOf(document.findings).map((one) => one.code);

suite('where the documents are', () => {
  test('is the first of the usual folders that is there, from any folder of the checkout, else the usual one', (context) => {
    const world = createWorld(context);
    assert.equal(say(world, 'handoff', 'root'), 'ROOT/project/docs/tests\n');
    world.write('test-docs/x', '');
    world.write('src/deep/x', '');
    assert.equal(say(world.with({ cwd: world.path('src/deep') }), 'handoff', 'root'), 'ROOT/project/test-docs\n');
    world.write('docs/test/x', '');
    const found = world.answer('handoff', 'root', '--start-dir', 'src');
    assert.deepEqual([world.scrub(found.docs_root), found.exists], ['ROOT/project/docs/test', true]);
    assert.equal(world.scrub(world.answer('handoff', 'root', '--root', 'other').docs_root), 'ROOT/project/other');
    world.write('docs/tests', 'a file');
    assert.match(world.refusal(6, 'handoff', 'root').message, /docs\/tests is a file/);
  });

  test('and which two are meant is told with how they were found', (context) => {
    const world = paired(context);
    assert.equal(
      say(world, 'handoff', 'locate'),
      lines(
        'Docs root      ROOT/project/docs/tests',
        'Handover       ROOT/project/docs/tests/handovers/20260312_0915_handover.md',
        'Session-state  ROOT/project/docs/tests/session-state/CURRENT.md',
        'Source         current-pointer',
      ),
    );
    assert.equal(world.refusal(4, 'handoff', 'locate', '--root', 'elsewhere').code, 'not-found');
  });
});

suite('whether they are sound', () => {
  test('is said in a line where they are', (context) => {
    const world = paired(context);
    assert.equal(
      say(world, 'handoff', 'validate'),
      lines(
        'Valid handoff pair: status=in-progress, next_owner=ben',
        'Handover: ROOT/project/docs/tests/handovers/20260312_0915_handover.md',
        'Session-state: ROOT/project/docs/tests/session-state/CURRENT.md',
      ),
    );
    assert.match(say(world, 'handoff', 'validate-state', current), /^Valid session state: /);
    assert.match(say(world, 'handoff', 'validate-handover', transfer), /^Valid handover: /);
    assert.equal(world.answer('handoff', 'validate', '--handover', transfer).valid, true);
  });

  test('is told with file, line and remedy where they are not, in the report and in the refusal', (context) => {
    const world = paired(context);
    world.write(current, sample(sessionState, { Status: 'finished' }));
    const outcome = world.run('handoff', 'validate');
    assert.equal(outcome.status, 7);
    assert.match(
      outcome.stdout,
      /^ERROR: session-state\/CURRENT\.md:6: the status is none of the five; write one of not-started, /m,
    );
    assert.match(outcome.stderr, /^stint: The pair is not sound: 2 findings\./);
    const { status, json } = world.run('handoff', 'validate-state', current, '--json');
    assert.deepEqual([status, json.valid, codesOf(json), json.error.code], [7, false, ['doc-status'], 'invalid-input']);
    assert.equal(world.run('handoff', 'validate-state', 'docs/tests/none.md', '--json').status, 4);
  });

  test('does not depend on other files beside them, and one that is broken does not hide the others', (context) => {
    const world = paired(context);
    world.write('docs/tests/handovers/junk.md', '# Handover\n');
    world.write('docs/tests/handovers/.swp.md', 'x');
    world.write('docs/tests/handovers/README.md', 'read me\n');
    assert.equal(world.answer('handoff', 'validate').valid, true);
    world.write(current, '<<<<<<< HEAD\n# Session State\n=======\n>>>>>>> other\n');
    const { status, json } = world.run(
      'handoff',
      'validate',
      '--session-state',
      current,
      '--handover',
      transfer,
      '--json',
    );
    assert.deepEqual([status, codesOf(json)], [7, ['ptr-conflict', 'doc-conflict']]);
  });

  test('looks at nothing outside of the documentation, and shows nothing of what it finds', (context) => {
    const world = paired(context, { 'Handover pointer': '../handovers/link.md' });
    writeFileSync(join(world.root, 'secret.md'), 'TOPSECRET=abc123\n');
    symlinkSync(join(world.root, 'secret.md'), world.path('docs/tests/handovers/link.md'));
    for (const pointer of [
      '../handovers/link.md',
      join(world.root, 'secret.md'),
      '../../../../secret.md',
      '../handovers',
    ]) {
      world.write(current, sample(sessionState, { 'Handover pointer': pointer }));
      const outcome = world.run('handoff', 'validate-state', current, '--json');
      assert.equal(outcome.status, 7, pointer);
      assert.doesNotMatch(outcome.stdout, /TOPSECRET/);
    }
  });
});

suite('whether any of them is broken', () => {
  test('is told for all at once, and a broken one hides no other', (context) => {
    const world = paired(context);
    assert.equal(
      say(world, 'handoff', 'audit'),
      lines(
        'Docs root      ROOT/project/docs/tests',
        'Result         clean',
        'Handover       ROOT/project/docs/tests/handovers/20260312_0915_handover.md',
        'Session-state  ROOT/project/docs/tests/session-state/CURRENT.md',
        'Lease          none',
        'Totals         1 handovers, 1 session states, 0 archived pairs',
      ),
    );
    world.write('docs/tests/handovers/20260310_0900_handover.md', sample(handover, { Status: 'blocked' }));
    world.write('docs/tests/handovers/junk.md', '# Handover\n');
    const { status, json } = world.run('handoff', 'audit', '--json');
    assert.deepEqual(
      [status, json.result, codesOf(json), json.active_pair.source, json.totals.orphan_handovers, json.error.exit],
      [7, 'error', ['doc-section-missing'], 'current-pointer', 1, 7],
    );
  });
});

suite('what they say', () => {
  test('is summarized under the names of the original', (context) => {
    const world = paired(context, {
      Task: 'Ship the widget',
      'Task summary': 'Ship the widget',
      'Remaining steps': '1. Check it\n   twice\n2. Merge it',
      Blockers: '- No token\n- Needed to unblock: ops',
      'Files touched': '- `src/a.ts`',
      'Commands to resume': '- npm test',
      'Resume instructions':
        '- First file to open: `src/a.ts`\n- Next command to run: `npm test`\n- Prerequisites:\n  export A',
    });
    world.write(
      'docs/tests/session-state/ACTIVE_LEASE.json',
      '{"version":1,"holder":"codex","purpose":"edit","acquired_at":"2026-03-17T11:50:00Z","expires_at":"2026-03-17T12:20:00Z","handover":"handovers/20260312_0915_handover.md","session_state":"session-state/CURRENT.md"}',
    );
    const { schema_version: _, documents: __, findings: ___, ...summary } = world.answer('handoff', 'summarize');
    assert.deepEqual(summary, {
      task: 'Ship the widget',
      status: 'in-progress',
      last_updated: '2026-03-12T10:15:00+01:00',
      updated_by: 'ana',
      next_owner: 'ben',
      last_completed_step: 'None',
      current_step: 'None',
      remaining_steps: ['Check it\ntwice', 'Merge it'],
      what_was_done: [],
      blockers: ['No token', 'Needed to unblock: ops'],
      files_touched: ['src/a.ts'],
      resume: { first_file: 'src/a.ts', next_command: 'npm test', prerequisites: ['export A'], commands: ['npm test'] },
      lease: {
        state: 'active',
        holder: 'codex',
        purpose: 'edit',
        acquired_at: '2026-03-17T11:50:00Z',
        expires_at: '2026-03-17T12:20:00Z',
      },
      warnings: [],
    });
    assert.match(
      say(world, 'handoff', 'summarize'),
      /Remaining steps:\n- Check it twice\n- Merge it\nBlockers:\n- No token/,
    );
  });

  test('is told with warnings where something is wrong, which --strict refuses', (context) => {
    const world = paired(context);
    world.write(transfer, sample(handover, { Status: 'ready-for-review' }));
    const { warnings } = world.answer('handoff', 'summarize');
    assert.match(
      listOf(warnings)[0],
      /^HANDOVER: handovers\/20260312_0915_handover\.md:63: Status mismatch: it is ready/,
    );
    const { status, json } = world.run('handoff', 'summarize', '--strict', '--json');
    assert.deepEqual([status, json.task, listOf(json.warnings).length], [7, 'None', 2]);
    assert.match(refusedText(createWorld(context), 4, 'handoff', 'summarize'), /No hand-off pair can be told/);
  });

  test('is only looked at: no file is made or changed', (context) => {
    const world = paired(context);
    const before = treeOf(world.project);
    for (const verb of ['root', 'locate', 'validate', 'summarize', 'audit']) world.answer('handoff', verb);
    assert.deepEqual(treeOf(world.project), before);
  });
});

test(
  'a session state reads the same with other line ends and a byte order mark; one that is UTF-16 is named',
  { skip: withoutShared('cases', 'J03-crlf-and-bom') },
  (context) => {
    const world = createWorld(context);
    const read = (name: string): Printed => {
      world.write(current, readFileSync(join(shared, 'cases/J03-crlf-and-bom', name)));
      world.write('docs/tests/handovers/20260317_1430_handover.md', sample(handover));
      return world.run('handoff', 'summarize', '--session-state', current, '--json').json;
    };
    const plain = read('CURRENT-lf.md');
    assert.notEqual(plain.current_step, 'None');
    for (const name of ['CURRENT-crlf.md', 'CURRENT-bom-crlf.md', 'CURRENT-mixed.md'])
      assert.deepEqual(read(name), plain);
    assert.match(read('CURRENT-utf16.md').error.message, /is UTF-16, not UTF-8/);
  },
);

test(
  'documents that the original has written are sound',
  { skip: withoutShared('fixtures', 'handoff', 'docs-updated') },
  (context) => {
    const world = createWorld(context);
    for (const folder of ['docs-generated', 'docs-updated', 'docs-imported', 'docs-final']) {
      const from = join(shared, 'fixtures/handoff', folder, 'session-state/CURRENT.md');
      assert.equal(world.answer('handoff', 'validate', '--session-state', from).valid, true, folder);
    }
  },
);
