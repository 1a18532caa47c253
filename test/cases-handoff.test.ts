/** The public cases about the documents of a hand-off; the table of all cases is in support/cases.ts. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { handover, readDocument, sessionState, valueOf } from '../src/formats/handoff/document.ts';
import { sample } from '../src/formats/handoff/samples.ts';
import { readSections } from '../src/formats/handoff/sections.ts';
import { openStint } from '../src/postgres.ts';
import { current, root, textOf } from './support/documents.ts';
import { caseFile, caseLines } from './support/cases.ts';
import { storeIn } from './support/environment.ts';
import { createWorld, later, listOf, noon, withoutShared, type Printed, type TestWorld } from './support/world.ts';

const skip = withoutShared('cases');

const transfer = `${root}/handovers/20260317_1430_handover.md`;
const signed = ['--updated-by', 'ana', '--next-owner', 'ben'] as const;

const begin = (world: TestWorld, task: string, ...more: readonly string[]): Printed =>
  world.answer('handoff', 'new', `--task=${task}`, ...signed, '--handover-output', transfer, ...more);

/** A task with its documents, in a checkout. */
const begun = (context: TestContext, task = 'Add login'): TestWorld => {
  const world = createWorld(context);
  begin(world, task);
  return world;
};

test(
  'E09: documents are named from where the caller is, and name each other from where they are',
  { skip },
  (context) => {
    const world = begun(context);
    world.write('sub/out/x', '');
    const below = world.with({ cwd: world.path('sub') });
    assert.equal(below.answer('handoff', 'validate', '--session-state', `../${current}`).valid, true);
    const { handover: copied } = below.answer(
      'handoff',
      'archive',
      '--handover-output',
      `../${root}/handovers/copy.md`,
    );
    assert.equal(world.scrub(copied), `ROOT/project/${root}/handovers/copy.md`);
    const { message } = below.refusal(4, 'handoff', 'validate-state', current);
    assert.ok(world.scrub(message).includes(`ROOT/project/sub/${current}`), `the whole path is told: ${message}`);
    for (const path of [current, transfer, `${root}/handovers/copy.md`])
      assert.ok(!textOf(world, path).includes(world.root), `${path} names no place of this machine`);

    const { paths }: { readonly paths: readonly string[] } = JSON.parse(
      readFileSync(caseFile('E09', 'artifacts.json'), 'utf8'),
    );
    symlinkSync('/etc/hostname', world.path(root, 'handovers/name.md'));
    for (const pointer of [
      ...paths.filter((one) => !one.includes('ok')),
      '/etc/passwd',
      '../../../x.md',
      '../handovers/name.md',
    ]) {
      world.write('other/session-state/CURRENT.md', sample(sessionState, { 'Handover pointer': pointer }));
      const { status, json } = world.run('handoff', 'validate-state', 'other/session-state/CURRENT.md', '--json');
      assert.equal(status, 7, pointer);
      assert.match(listOf(json.findings)[0].code, /^ptr-/, pointer);
      const outcome = world.run(
        'handoff',
        'new-state',
        '--root',
        'other',
        '--task',
        'x',
        ...signed,
        '--output',
        'other/session-state/y.md',
        `--handover-pointer=${pointer}`,
      );
      assert.notEqual(outcome.status, 1, pointer);
    }
  },
);

test('I07: documents that a checkout has given other line ends say the same, and are not taken for changed', (context) => {
  const world = begun(context);
  const before = listOf(world.answer('journal').entries);
  for (const path of [current, transfer]) world.write(path, textOf(world, path).replaceAll('\n', '\r\n'));
  assert.equal(world.answer('handoff', 'validate').valid, true);
  const { verdict, reasons } = world.answer('handoff', 'ready');
  assert.deepEqual([verdict, listOf(reasons).filter(({ code }) => code === 'edit-not-taken')], ['ready', []]);
  assert.deepEqual(listOf(world.answer('handoff', 'audit').errors), []);
  later(world, 1).answer('note', 'a remark');
  assert.equal(listOf(world.answer('journal').entries).length, before.length + 1, 'the remark, and nothing else');
  assert.ok(!textOf(world, current).replaceAll('\r\n', '').includes('\n'), 'the line ends stay');
  world.write(current, textOf(world, current).replace('## Current step\r\nNone', '## Current step\r\nWriting'));
  assert.deepEqual(
    listOf(world.run('handoff', 'ready', '--json').json.reasons).filter(({ code }) => code === 'edit-not-taken').length,
    1,
    'what somebody writes is',
  );
});

/** Text as strict readers see it. */
const assertWhole = (world: TestWorld, path: string, what: string): void => {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(world.path(path)));
  assert.ok(text.isWellFormed(), what);
};

test(
  'J01: goals of emoji, cut at every length, and half a character give no half character in a document',
  { skip },
  async (context) => {
    const world = createWorld(context);
    const opened = await openStint({ cwd: world.project, ...storeIn(world.env), actor: 'ana', now: () => noon });
    assert.ok(opened.ok);
    const emoji = caseLines('J01', 'goals.txt').join('');
    const task = { updated_by: 'ana', next_owner: 'ben' };
    assert.ok(
      (await opened.value.run('handoff new', { ...task, task: emoji.repeat(20), handover_output: transfer })).ok,
    );
    for (let length = 1; length <= 64; length += 1) {
      const cut = `${'x'.repeat(length % 7)}${emoji.repeat(20)}`.slice(0, length);
      const answer = await opened.value.run('handoff update', {
        ...task,
        task: cut,
        current_step: cut,
        remaining_step: [cut],
        decision: cut,
      });
      assert.ok(answer.ok, answer.ok ? '' : answer.error.refusal.message);
      const whole = cut.toWellFormed().replaceAll(/\s+/g, ' ').trim();
      for (const path of [current, transfer]) assertWhole(world, path, `${length} in ${path}`);
      const summary = await opened.value.run('handoff summarize');
      assert.ok(summary.ok);
      const { task: said, current_step: step } = summary.value as Printed;
      assert.deepEqual([said, step], [whole, whole], `${length}`);
    }
    await opened.value.close();
    // A file with half a character is no text, and stays as it is.
    const bytes = Buffer.concat([readFileSync(world.path(current)), Buffer.from([0xed, 0xa0, 0xbd])]);
    writeFileSync(world.path(current), bytes);
    assert.equal(world.run('handoff', 'validate').status, 7);
    assert.equal(later(world, 1).run('note', 'goes on').status, 0);
    assert.deepEqual(readFileSync(world.path(current)), bytes);
  },
);

test(
  'J03: a pair with any line ends, with a byte order mark, is worked on as it is; UTF-16 is refused by its name',
  { skip },
  (context) => {
    const forms = ['CURRENT-lf.md', 'CURRENT-crlf.md', 'CURRENT-bom-crlf.md', 'CURRENT-mixed.md'];
    const summaries = forms.map((form) => {
      const world = createWorld(context);
      const bytes = readFileSync(caseFile('J03', form));
      world.write(current, bytes);
      world.write(
        transfer,
        sample(handover, { 'Session-state pointer': '../session-state/CURRENT.md', 'Next owner': 'ana' }),
      );
      world.answer('handoff', 'update', '--updated-by', 'codex', '--current-step', 'Test it');
      const [was, now] = [readSections(bytes.toString('utf8')), readSections(textOf(world, current))];
      assert.equal(now.head, was.head, form);
      for (const [at, section] of was.sections.entries())
        if (!['Last updated', 'Updated by', 'Current step'].includes(section.name))
          assert.equal(
            (now.sections[at]?.heading ?? '') + (now.sections[at]?.body ?? ''),
            section.heading + section.body,
            `${form}: ${section.name}`,
          );
      const { documents: _, findings: __, warnings: ___, ...summary } = world.answer('handoff', 'summarize');
      return summary;
    });
    for (const summary of summaries) assert.deepEqual(summary, summaries[0]);
    const world = createWorld(context);
    const bytes = readFileSync(caseFile('J03', 'CURRENT-utf16.md'));
    world.write(current, bytes);
    world.write(transfer, sample(handover));
    for (const args of [
      ['validate'],
      ['update', '--updated-by', 'ana'],
      ['reconcile', '--updated-by', 'ana'],
      ['new', '--task', 'X', ...signed, '--force'],
    ]) {
      const { status, stdout, stderr } = world.run('handoff', ...args);
      assert.ok(status !== 0 && status !== 1, args.join(' '));
      assert.match(stdout + stderr, /UTF-16, not UTF-8|conflict|no pair/i, args.join(' '));
    }
    assert.match(world.run('handoff', 'validate-state', current).stdout, /is UTF-16, not UTF-8/);
    assert.deepEqual(readFileSync(world.path(current)), bytes);
  },
);

test(
  'J04: documents are UTF-8 whatever the locale says, and one in another encoding is refused with its line',
  { skip },
  (context) => {
    const [text = ''] = caseLines('J04', 'goal-utf8.txt');
    for (const env of [{ LC_ALL: 'C' }, { LANG: 'zh_CN.GBK', LC_ALL: 'zh_CN.GBK' }]) {
      const world = createWorld(context).with({ env });
      begin(world, text, '--current-step', text);
      for (const path of [current, transfer])
        assert.ok(readFileSync(world.path(path)).includes(Buffer.from(text, 'utf8')), path);
      assert.equal(world.answer('handoff', 'summarize').task, text);
      assert.ok(world.run('handoff', 'summarize').stdout.includes(text));
    }
    const world = createWorld(context);
    const bytes = Buffer.concat([
      Buffer.from('# Session State\n\n## Task\n'),
      Buffer.from([0xd0, 0xde, 0xb8, 0xb4, 0x0a]),
    ]);
    world.write(current, bytes);
    const { status, json } = world.run('handoff', 'validate-state', current, '--json');
    assert.deepEqual([status, listOf(json.findings)[0].code], [7, 'file-unreadable']);
    assert.match(listOf(json.findings)[0].text, /is not UTF-8 \(line 4\)/);
    assert.deepEqual(readFileSync(world.path(current)), bytes);
  },
);

test('J05: whatever a task is called, its documents have short names, and say the whole of it', { skip }, (context) => {
  const goals = caseLines('J05', 'goals.txt').filter((line) => line.trim() !== '');
  for (const goal of [...goals, '長'.repeat(400), 'CON', 'trailing...', '🔥']) {
    const world = createWorld(context);
    const { session_id: id } = world.answer('handoff', 'new', `--task=${goal}`, ...signed);
    assert.match(id, /^2026-03-17-[A-Za-z0-9][A-Za-z0-9._-]*$/);
    assert.ok(Buffer.byteLength(id) <= 100, id);
    assert.deepEqual(readdirSync(world.path(root, 'handovers')), ['20260317_1200_handover.md']);
    assert.equal(world.answer('handoff', 'summarize').task, goal.replaceAll(/\s+/g, ' ').trim());
    assert.equal(world.answer('status').goal, goal.trim(), 'the whole of it is kept');
  }
});

test(
  'J07: a task is read back from its documents as it was said, and forges no section of them',
  { skip },
  (context) => {
    const goals = caseLines('J07', 'goals.txt').map((line) => line.replaceAll(String.raw`\n`, '\n'));
    for (const goal of [...goals, '## Status', '```', '- a: "b"', "key: 'it''s' # no", '| a | b |'].filter(
      (one) => one !== '```',
    )) {
      const world = begun(context, goal);
      const line = goal.replaceAll(/\s+/g, ' ').trim();
      assert.equal(world.answer('handoff', 'summarize').task, line);
      for (const [kind, path, name] of [
        [sessionState, current, 'Task'],
        [handover, transfer, 'Task summary'],
      ] as const) {
        const document = readDocument(kind, textOf(world, path));
        assert.deepEqual(
          document.sections.map((section) => section.name),
          kind.sections,
          goal,
        );
        assert.equal(valueOf(document, name), line);
        assert.equal(valueOf(document, 'Status'), 'in-progress', goal);
      }
      assert.equal(world.answer('handoff', 'validate').valid, true);
      later(world, 1).answer('handoff', 'update', '--updated-by', 'ana', '--current-step', goal);
      assert.equal(world.answer('handoff', 'summarize').current_step, line);
      // Taken over elsewhere it is the same task.
      const elsewhere = createWorld(context);
      for (const path of [current, transfer]) elsewhere.write(path, textOf(world, path));
      elsewhere.answer('handoff', 'update', '--updated-by', 'cem', '--next-owner', 'dora');
      assert.equal(elsewhere.answer('status').goal, line);
      assert.equal(elsewhere.answer('handoff', 'summarize').task, line);
    }
  },
);

test('N03: of a git conflict in a document file and line are told, nothing is chosen, each side can be, and other sessions work', (context) => {
  for (const style of ['merge', 'diff3']) {
    const world = createWorld(context);
    world.answer('begin', 'review', '--name', 'other', '--branch', 'other');
    begin(world, 'Add login');
    const before = textOf(world, current);
    const side = (step: string): string => `## Current step\n${step}\n`;
    const marks = [
      '<<<<<<< HEAD\n',
      side('Ours'),
      ...(style === 'diff3' ? ['||||||| base\n', side('None')] : []),
      '=======\n',
      side('Theirs'),
      '>>>>>>> feature/x\n',
    ];
    const conflict = before.replace(side('None'), marks.join(''));
    const line = conflict.split('\n').indexOf('<<<<<<< HEAD') + 1;
    world.write(current, conflict);
    const place = `${current}:${line}: a merge has left a conflict`;
    for (const args of [
      ['validate'],
      ['audit'],
      ['report'],
      ['ready'],
      ['summarize', '--strict'],
      ['reconcile', '--updated-by', 'ana'],
      ['repair', '--updated-by', 'ana'],
      ['update', '--updated-by', 'ana', '--next-owner', 'cem'],
    ]) {
      const { status, stdout, stderr } = world.run('handoff', ...args);
      assert.ok(status !== 0 && status !== 1, `${style}: ${args.join(' ')}: ${status}`);
      assert.ok(
        (stdout + stderr).includes(place.slice(root.length + 1)),
        `${style}: ${args.join(' ')}: ${stdout}${stderr}`,
      );
    }
    const { status: noted, stdout: said } = later(world, 1).run('note', 'on', '--session', 'task:2026-03-17-main');
    assert.deepEqual([noted, said.includes(place)], [0, true], `${style}: a note goes on, and tells it`);
    assert.equal(textOf(world, current), conflict, 'nothing of it is chosen');
    assert.equal(later(world, 2).run('note', 'elsewhere', '--session', 'review:other').status, 0);
    assert.equal(later(world, 2).run('list', '--json').json.total, 2);

    world.write(current, before.replace(side('None'), side(style === 'merge' ? 'Ours' : 'Theirs')));
    const { documents } = later(world, 3).answer('handoff', 'update', '--updated-by', 'ana', '--next-owner', 'cem');
    assert.deepEqual(documents, [`what was written in ${current} was taken in`]);
    const summary = world.answer('handoff', 'summarize');
    assert.deepEqual([summary.current_step, summary.next_owner], [style === 'merge' ? 'Ours' : 'Theirs', 'cem']);
    assert.deepEqual(listOf(world.answer('handoff', 'audit').errors), []);
  }
});

test('N05: a checkout with an older copy of the documents is told so, and opens nothing that is over', (context) => {
  const world = begun(context);
  const key = 'task:2026-03-17-main';
  world.git('add', 'docs');
  world.git('commit', '-qm', 'documents');
  const second = join(world.root, 'second');
  world.git('worktree', 'add', '-q', '-b', 'second', second);
  for (const [minutes, status] of [
    [1, 'ready-for-review'],
    [2, 'done'],
  ] as const)
    later(world, minutes).answer('handoff', 'update', '--updated-by', 'ana', '--status', status);
  const before = later(world, 3).answer('show', key);
  assert.equal(before.session.status, 'closed');
  const there = later(world, 4).with({ cwd: second });
  const copy = readFileSync(join(second, current), 'utf8');
  const told = /task:2026-03-17-main(?:, which has gone on elsewhere since| is over \(completed\))/;
  for (const args of [
    ['validate'],
    ['ready'],
    ['update', '--updated-by', 'ben', '--current-step', 'x'],
    ['reconcile', '--updated-by', 'ben'],
    ['begin', '--holder', 'ben', '--purpose', 'x'],
  ]) {
    const { status, stdout, stderr } = there.run('handoff', ...args);
    assert.match(stdout + stderr, told, args.join(' '));
    if (args[0] !== 'validate') assert.ok(status !== 0 && status !== 1, args.join(' '));
  }
  for (const args of [['handoff', 'repair', '--updated-by', 'ben'], ['doctor'], ['rebuild'], ['reconcile'], ['list']])
    there.run(...args);
  const { revision, status, outcome } = world.answer('show', key).session;
  assert.deepEqual([revision, status, outcome], [before.session.revision, 'closed', 'completed']);
  assert.equal(readFileSync(join(second, current), 'utf8'), copy, 'and the copy is left as it is');
  assert.equal(valueOf(readDocument(sessionState, textOf(world, current)), 'Status'), 'done');
});
