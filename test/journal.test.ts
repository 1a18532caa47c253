/** Entries of the journal and blockers, on the command line and in the library. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { suite, test } from 'node:test';
import { openStint } from '../src/postgres.ts';
import { entryTypes } from '../src/kernel/journal.ts';
import { caseFile } from './support/cases.ts';
import { storeIn } from './support/environment.ts';
import { as } from './support/leases.ts';
import { completeRound, name, reviewIn, session } from './support/reviews.ts';
import { claimStep, templateOf, work, writeTemplate } from './support/runs.ts';
import { assertSound, dumpStore, eventsOf } from './support/stores.ts';
import {
  assertAnswer,
  command,
  createWorld,
  lines as textOf,
  listOf,
  noon,
  refusedText,
  say,
  sorted,
  withoutShared,
  type Printed,
  type TestWorld,
} from './support/world.ts';

const skip = withoutShared('cases');

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** The entries of the journal, without what is the same in all of them. */
const entriesIn = (world: TestWorld, ...flags: readonly string[]): readonly Printed[] =>
  listOf(world.answer('journal', ...flags).entries).map((entry) => {
    const { at: _, actor: __, ...rest } = entry;
    return rest;
  });

/** A line that runs a program; what stands behind `--` is its. */
const runLine = (flags: readonly string[], program: readonly string[]): readonly string[] => [
  'note',
  ...flags,
  '--json',
  '--run',
  '--',
  ...program,
];

/** What is answered where a program is run. */
const ran = (world: TestWorld, flags: readonly string[], ...program: readonly string[]): Printed =>
  assertAnswer(world.run(...runLine(flags, program)), program);

/** The same of a program of the shell. */
const shell = (world: TestWorld, flags: readonly string[], script: string): Printed =>
  ran(world, flags, 'sh', '-c', script);

/** The refusal of a line that would run a program of the shell. */
const refusedRun = (
  world: TestWorld,
  exit: number,
  flags: readonly string[],
  ...program: readonly string[]
): Printed => {
  const { status, json } = world.run(...runLine(flags, program));
  assert.equal(status, exit, program.join(' '));
  return json.error;
};

suite('entries', () => {
  test('every type is noted under its name, told whole and in order, and moves nothing', (context) => {
    const world = reviewIn(context, 'context');
    world.write('report.md', 'fine\n');
    world.write('test.log', 'one\ntwo\n');
    const file = { sha256: sha256('fine\n'), size: 5 };
    const output = { sha256: sha256('one\ntwo\n'), size: 8, tail: 'one\ntwo\n' };
    const lines = [
      ['a remark'],
      ['remark', 'another one'],
      ['decision', 'use a file', '--rationale', 'it is there', '--alternative', 'a server', '--alternative', 'none'],
      ['assumption', 'it is small', '--rationale', 'it was'],
      ['file', 'gone.txt'],
      ['file', 'read for the review', '--path', 'report.md'],
      ['command', 'npm test', '--exit-code', '1', '--output-file', 'test.log'],
      ['validation', 'the tests pass', '--exit-code', '0', '--path', 'report.md'],
      ['artifact', 'report.md'],
      ['error', 'the build failed', '--exit-code', '2'],
      ['decision', 'use a server', '--supersedes', '5'],
    ];
    const answers = lines.map((line) => world.answer('note', ...line));
    assert.deepEqual(
      answers.map(({ seq, revision }) => [seq, revision]),
      lines.map((_, index) => [index + 3, 2]),
    );
    const { session: _, session_id: __, ...ninth } = answers[8];
    assert.deepEqual(ninth, {
      schema_version: 1,
      seq: 11,
      at: noon,
      type: 'artifact',
      path: 'report.md',
      file,
      revision: 2,
    });
    assert.deepEqual(entriesIn(world), [
      { id: 3, type: 'remark', text: 'a remark' },
      { id: 4, type: 'remark', text: 'another one' },
      {
        id: 5,
        type: 'decision',
        text: 'use a file',
        rationale: 'it is there',
        alternatives: ['a server', 'none'],
        superseded_by: 13,
      },
      { id: 6, type: 'assumption', text: 'it is small', rationale: 'it was' },
      { id: 7, type: 'file', text: 'gone.txt', path: 'gone.txt', file: null },
      { id: 8, type: 'file', text: 'read for the review', path: 'report.md', file },
      { id: 9, type: 'command', text: 'npm test', output, exit_code: 1 },
      { id: 10, type: 'validation', text: 'the tests pass', path: 'report.md', file, exit_code: 0 },
      { id: 11, type: 'artifact', text: 'report.md', path: 'report.md', file },
      { id: 12, type: 'error', text: 'the build failed', exit_code: 2 },
      { id: 13, type: 'decision', text: 'use a server', supersedes: 5 },
    ]);
    assert.deepEqual(
      eventsOf(world, session)
        .slice(2, 5)
        .map(({ type, v }) => [type, v]),
      [
        ['Noted', 1],
        ['Noted', 1],
        ['Noted', 2],
      ],
      'remarks are written as older programs read them',
    );
    const { notes, journal } = world.answer('status');
    assert.equal(notes, 11);
    assert.deepEqual(journal, {
      total: 11,
      counts: { remark: 2, decision: 2, assumption: 1, file: 2, command: 1, validation: 1, artifact: 1, error: 1 },
      blockers: [],
    });
    assert.equal(
      say(world, 'journal', '--type', 'decision', '--type', 'command', '--type', 'file'),
      [
        '5   2026-03-17T12:00:00.000Z  decision  ana@desk  use a file (superseded by 13)',
        '    because: it is there',
        '    or: a server',
        '    or: none',
        '7   2026-03-17T12:00:00.000Z  file      ana@desk  gone.txt (not there)',
        '8   2026-03-17T12:00:00.000Z  file      ana@desk  read for the review',
        '    file: report.md',
        '9   2026-03-17T12:00:00.000Z  command   ana@desk  npm test (said: exit 1)',
        '13  2026-03-17T12:00:00.000Z  decision  ana@desk  use a server',
        '    in place of: 5',
        '',
      ].join('\n'),
    );
    assertSound(world);
  });

  test('a journal is told in part: by type, behind an event, the newest of it', (context) => {
    const world = reviewIn(context, 'context');
    for (let index = 0; index < 6; index += 1) world.answer('note', index % 2 === 0 ? 'decision' : 'error', `${index}`);
    const texts = (...flags: readonly string[]): readonly string[] =>
      entriesIn(world, ...flags).map(({ text }) => text);
    assert.deepEqual(texts('--type', 'error'), ['1', '3', '5']);
    assert.deepEqual(texts('--since', '5'), ['3', '4', '5']);
    assert.deepEqual(texts('--limit', '2'), ['4', '5']);
    assert.deepEqual(texts('--type', 'decision', '--since', '3', '--limit', '1'), ['4']);
    assert.deepEqual(texts('--type', 'blocker'), []);
    assert.equal(world.answer('journal', '--type', 'error', '--limit', '1').total, 3);
    assert.equal(say(world, 'journal', '--type', 'blocker'), 'no entries\n');
    assert.match(refusedText(world, 2, 'journal', '--type', 'dream'), /type\[0\] must be one of remark, decision/);
  });

  test('a long journal is read in pages, with what became of its entries', async (context) => {
    const world = reviewIn(context, 'context');
    const opened = await openStint({ cwd: world.project, actor: 'ana', now: () => noon, ...storeIn(world.env) });
    assert.ok(opened.ok);
    const count = 1100;
    for (let index = 0; index < count; index += 1) {
      const answer = await opened.value.run('note', {
        type: 'decision',
        text: `${index}`,
        ...(index === 1050 ? { supersedes: 3 } : {}),
      });
      assert.ok(answer.ok);
    }
    const late = await opened.value.run('note', { type: 'decision', text: 'late', supersedes: 3 });
    assert.ok(!late.ok, 'one that was superseded long ago is known to be');
    assert.match(late.error.refusal.message, /superseded by entry 1053\.$/);
    await opened.value.close();
    const entries = entriesIn(world);
    assert.deepEqual(
      entries.map(({ text }) => text),
      Array.from({ length: count }, (_, index) => `${index}`),
    );
    assert.equal(entries[0].superseded_by, 1053);
    assert.equal(entriesIn(world, '--limit', '1050').length, 1050);
  });

  test('a flag that says nothing about a type is refused with those that do', (context) => {
    const world = reviewIn(context, 'context');
    const before = dumpStore(world);
    const legal: Readonly<Record<string, readonly string[]>> = {
      remark: [],
      decision: ['rationale', 'alternative'],
      assumption: ['rationale', 'alternative'],
      file: ['path'],
      command: ['exit-code', 'output-file', 'run', 'timeout'],
      validation: ['path', 'exit-code', 'output-file', 'run', 'timeout'],
      artifact: ['path'],
      error: ['path', 'exit-code', 'output-file'],
    };
    const values = { rationale: 'r', alternative: 'a', path: 'p', 'exit-code': '1', 'output-file': 'o', timeout: '1m' };
    for (const type of entryTypes)
      for (const [flag, value] of Object.entries(values)) {
        if (legal[type]?.includes(flag) === true) continue;
        const { message } = world.refusal(2, 'note', type, 'x', `--${flag}`, value);
        const takes = [...(legal[type] ?? []), 'supersedes'].map((one) => `--${one}`).join(', ');
        assert.equal(message, `note: --${flag} does not go with ${type}, which takes ${takes}.`);
      }
    for (const line of [
      ['decision'],
      ['validation', '--exit-code', '0'],
      ['file'],
      ['--type', 'decision', 'x', '--type', 'error'],
      ['decision', 'x', '--type', 'error'],
      ['decisions', 'x'],
      ['command', 'x', '--timeout', '1m'],
      ['command', 'x', '--run'],
      ['command', 'x', '--run=true'],
    ])
      world.refusal(2, 'note', ...line);
    assert.equal(
      world.refusal(2, 'note', 'error').message,
      'note: text is missing; stint note -- error is a remark of that word.',
    );
    refusedRun(world, 2, ['command']);
    refusedRun(world, 2, ['command'], ' ');
    for (const flags of [['x'], ['command', '--exit-code', '0'], ['command', '--timeout', '0s']])
      refusedRun(world, 2, flags, 'true');
    assert.deepEqual(world.refusal(2, 'note', 'decison', 'x').candidates, ['decision']);
    assert.deepEqual(dumpStore(world), before);
  });

  test('what stands behind -- is text where nothing is run, and no flag of ours', (context) => {
    const world = reviewIn(context, 'context');
    assert.equal(world.run('note', '--type', 'decision', '--', 'decision').stdout, `${session}: decision noted (3)\n`);
    assert.equal(world.run('note', '--', '--json').stdout, `${session}: noted (4)\n`);
    assert.equal(
      world.run('note', 'command', '--run', '--', 'true', '--json').stdout,
      `${session}: command noted (5), exit 0\n`,
    );
    assert.deepEqual(
      entriesIn(world).map(({ type, text }) => [type, text]),
      [
        ['decision', 'decision'],
        ['remark', '--json'],
        ['command', 'true --json'],
      ],
    );
  });

  test('a text comes from a file or standard input as well, whole, however long it is', (context) => {
    const world = reviewIn(context, 'context');
    const long = `${'x'.repeat(1_000_000)}\nand "quotes", --flags, 👩‍👩‍👧‍👦\n`;
    world.write('long.txt', long);
    world.answer('note', '--text-file', 'long.txt');
    world.answer('note', 'decision', '--text-file', 'long.txt', '--rationale', '-');
    for (const way of ['-', '--stdin']) world.with({ input: long }).answer('note', 'error', way);
    for (const text of ['-', '- a list']) assert.equal(world.run('note', '--', text).status, 0);
    assert.deepEqual(
      entriesIn(world).map(({ type, text }) => [type, text]),
      [
        ['remark', long],
        ['decision', long],
        ['error', long],
        ['error', long],
        ['remark', '-'],
        ['remark', '- a list'],
      ],
    );
    assert.ok(world.run('status', '--json').stdout.length < 5000, 'where it stands is told shortly all the same');
    world.refusal(2, 'note', 'x', '--text-file', 'long.txt');
    world.refusal(2, 'note', 'decision', '-', '--stdin');
    world.refusal(4, 'note', '--text-file', 'gone.txt');
    world.with({ input: ' \n' }).refusal(2, 'note', '-');
    assertSound(world);
  });

  test('a request that comes again is answered as it was, whatever has become of the files', (context) => {
    const world = reviewIn(context, 'context');
    world.write('report.md', 'one');
    const lines = [
      ['note', 'artifact', 'report.md', '--request-id', 'a'],
      ['block', 'x', '--request-id', 'b'],
      ['unblock', '--request-id', 'c'],
    ];
    const answers = lines.map((line) => world.answer(...line));
    const before = dumpStore(world);
    world.write('report.md', '');
    world.answer('finish', '--abort');
    for (const [index, line] of lines.entries())
      assert.deepEqual(world.answer(...line), { ...answers[index], replayed: true });
    world.refusal(9, 'note', 'artifact', 'other.md', '--request-id', 'a');
    assert.deepEqual(dumpStore(world)['event']?.length, (before['event']?.length ?? 0) + 1, 'the close');
  });

  test('a paused session is noted in, blocked and unblocked; one in the archive is noted in', (context) => {
    const world = reviewIn(context, 'context');
    const moves = (): void => {
      world.answer('note', 'decision', 'x', '--session', session);
      world.answer('note', 'x', '--session', session);
    };
    world.answer('pause');
    moves();
    assert.equal(world.answer('block', 'x').next_action.kind, 'resume');
    assert.equal(world.answer('unblock').next_action.kind, 'resume');
    world.answer('finish', '--abort');
    world.answer('archive', '--session', session);
    moves();
    assert.equal(world.refusal(5, 'block', 'x', '--session', session).legal[0], `stint unarchive --session ${session}`);
    assert.equal(world.answer('status', '--session', session).notes, 4);
    assertSound(world);
  });

  test('what is to be superseded must be there and hold, and is named where it does not', (context) => {
    const world = reviewIn(context, 'context');
    world.answer('note', 'decision', 'one');
    world.answer('note', 'remark', 'x');
    world.answer('note', 'assumption', 'two');
    const missing = world.refusal(4, 'note', 'decision', 'x', '--supersedes', '99');
    assert.equal(missing.message, `There is no entry 99 in the journal of ${session}.`);
    assert.deepEqual(missing.candidates, ['3', '5']);
    assert.equal(world.refusal(4, 'note', 'decision', 'x', '--supersedes', '2').code, 'not-found', 'no entry');
    assert.match(world.refusal(5, 'note', 'decision', 'x', '--supersedes', '4').message, /^Entry 4 of .* is a remark/);
    world.answer('note', 'assumption', 'three', '--supersedes', '3');
    const again = world.refusal(5, 'note', 'decision', 'x', '--supersedes', '3');
    assert.equal(again.message, `Entry 3 of ${session} was superseded by entry 6.`);
    assert.deepEqual(again.candidates, ['5', '6']);
    world.answer('begin', 'map', '--name', 'other');
    world.refusal(4, 'note', 'decision', 'x', '--supersedes', '6', '--session', 'other');
    world.refusal(4, 'note', 'decision', 'itself', '--supersedes', '3', '--session', 'other');
    world.answer('note', 'decision', 'first', '--session', 'other');
    world.refusal(2, 'note', 'decision', 'x', '--supersedes', '0', '--session', 'other');
  });

  test('a closed session is noted in, and nobody needs the lease of one that is held', (context) => {
    const world = reviewIn(context, 'context');
    world.answer('lease', 'claim', '--actor', 'bob');
    world.answer('note', 'decision', 'x', '--session', session);
    world.answer('block', 'x', '--session', session);
    world.answer('unblock', '--session', session);
    world.answer('finish', '--abort', '--take-over', '--session', session);
    world.answer('note', 'error', 'x', '--session', session);
    assert.equal(world.answer('status', '--session', session).notes, 2);
  });

  test('whoever names no session does not write into one that somebody else holds, and is told to name it', (context) => {
    const world = createWorld(context);
    world.answer('begin', 'review', '--name', 'login');
    world.answer('lease', 'claim');
    const bob = as(world, 'bob');
    assert.equal(
      refusedText(bob, 10, 'note', 'the build is red'),
      textOf(
        'stint: review:login is held by ana@desk on desk (worktree main) since 2026-03-17T12:00:00.000Z until 2026-03-17T12:30:00.000Z; whether it is alive is not known.',
        '  expected: its name: what is written beside the work needs no lease of a session that is named',
        '  legal: stint note TEXT --session review:login, stint lease show --session review:login, stint lease claim --take-over --session review:login',
        '  try: stint note TEXT --session review:login',
      ),
    );
    for (const [args, offered] of [
      [['note', 'decision', 'one file'], 'note decision TEXT'],
      [['block', 'no key'], 'block REASON'],
      [['unblock', '4'], 'unblock 4'],
      [['process', 'start', '--kind', 'instance'], 'process start --kind instance'],
    ] as const)
      assert.equal(bob.refusal(10, ...args).hint, `stint ${offered} --session review:login`);
    for (const args of [['note', 'the build is red'], ['block', 'no key'], ['unblock']])
      bob.answer(...args, '--session', 'review:login');
    assert.equal(bob.refusal(10, 'advance', 'change-context').hint, 'stint lease show --session review:login');
  });

  test('the library has the same, with the fields that help lists', async (context) => {
    const world = reviewIn(context, 'context');
    const opened = await openStint({ cwd: world.project, actor: 'ana', ...storeIn(world.env) });
    assert.ok(opened.ok);
    const { run, close } = opened.value;
    const ask = async (verb: string, input = {}): Promise<Printed> => {
      const answer = await run(verb, input);
      return answer.ok ? answer.value : assert.fail(answer.error.refusal.message);
    };
    const sum = await ask('note', { type: 'validation', run: [process.execPath, '-p', '1+1'] });
    assert.deepEqual([sum.exit_code, sum.output.tail], [0, '2\n']);
    await ask('block', { reason: 'x' });
    assert.equal((await ask('unblock')).blocker.reason, 'x');
    assert.equal((await ask('journal', { type: ['validation'] })).total, 1);
    assert.equal((await ask('journal', { type: [] })).total, 0);
    const empty = await run('note', { type: 'command', run: [] });
    assert.ok(!empty.ok && empty.error.refusal.code === 'usage');
    // What no command line can hold.
    for (const input of [
      { type: 'command', run: ['a\0b'] },
      { type: 'file', path: 'a\0b', text: 'x' },
      { type: 'artifact', text: 'a\0b' },
    ]) {
      const answer = await run('note', input);
      assert.ok(!answer.ok && answer.error.refusal.code === 'invariant-unmet', JSON.stringify(input));
    }
    const unreadable = await run('note', { type: 'command', text: 'x', output_file: 'a\0b' });
    assert.ok(!unreadable.ok && unreadable.error.refusal.code === 'invalid-input');
    await close();
  });

  test('the help of note has every type and every flag', (context) => {
    const help = createWorld(context).run('help', 'note').stdout;
    assert.match(
      help,
      /^usage: stint note \[remark\|decision\|assumption\|file\|command\|validation\|artifact\|error\] \[text\|--text-file F\|--stdin\] \[flags\] \[--run -- WORD \.\.\.\]\n/,
    );
    for (const flag of ['rationale TEXT', 'alternative TEXT ...', 'exit-code N', 'run -- WORD ...', 'supersedes N'])
      assert.ok(help.includes(`  --${flag} `), flag);
  });
});

suite('files', () => {
  test('E09: a path is taken from where the caller is, and kept from the root of the checkout', { skip }, (context) => {
    const world = reviewIn(context, 'context');
    const content = 'ok';
    world.write('sub/out/ok.md', content);
    const below = world.with({ cwd: world.path('sub') });
    const file = { sha256: sha256(content), size: 2 };
    for (const path of ['out/ok.md', './out/../out/ok.md', world.path('sub/out/ok.md')]) {
      const answer = below.answer('note', 'artifact', path);
      assert.deepEqual([answer.path, answer.file], ['sub/out/ok.md', file], path);
    }
    assert.equal(below.answer('note', 'file', '../new.md').path, 'new.md');
    const { message } = below.refusal(6, 'note', 'artifact', 'ok.md');
    assert.equal(world.scrub(message), 'The artifact ROOT/project/sub/ok.md does not exist.');

    const { paths }: { readonly paths: readonly string[] } = JSON.parse(
      readFileSync(caseFile('E09', 'artifacts.json'), 'utf8'),
    );
    symlinkSync('/etc', world.path('sub/etc'));
    symlinkSync('/etc/hostname', world.path('sub/name.md'));
    for (const type of ['artifact', 'file'])
      for (const path of [
        '../../x.md',
        '/etc/passwd',
        'etc/passwd',
        'name.md',
        '..',
        '/',
        ...paths.filter((one) => !one.includes('ok')),
      ])
        assert.match(below.refusal(6, 'note', type, path).message, /leads out of the checkout\.$/, `${type} ${path}`);
  });

  test('a checkout that is named through a link is the same checkout', (context) => {
    const world = reviewIn(context, 'context');
    world.write('a/report.md', 'fine');
    const link = join(world.root, 'link');
    symlinkSync(world.project, link);
    for (const path of [join(link, 'a/report.md'), world.path('a/report.md'), 'report.md'])
      assert.equal(world.with({ cwd: join(link, 'a') }).answer('note', 'artifact', path).path, 'a/report.md', path);
    assert.equal(world.with({ cwd: join(link, 'a') }).answer('note', 'file', join(link, 'a/new.md')).path, 'a/new.md');
  });

  test('a file of another checkout than that of the session is kept with its whole path', (context) => {
    const world = reviewIn(context, 'context');
    world.git('commit', '-q', '--allow-empty', '-m', 'begun');
    world.git('worktree', 'add', '-q', '../second');
    const second = world.with({ cwd: join(world.root, 'second') });
    const path = join(world.root, 'second/report.md');
    writeFileSync(path, 'fine');
    for (const type of ['artifact', 'file'])
      assert.equal(second.answer('note', type, 'report.md', '--session', session).path, path);
  });

  test('H04: evidence that is not there, or empty, is refused, and nothing is noted', { skip }, (context) => {
    const world = reviewIn(context, 'context');
    const before = dumpStore(world);
    world.write('empty.log', '');
    mkdirSync(world.path('folder'));
    const messages = ['artifact', 'validation'].flatMap((type) =>
      ['gone.log', 'empty.log', 'folder'].map((path) => {
        const { message, expected } = world.refusal(6, 'note', type, 'it passes', '--path', path);
        assert.equal(expected, 'a file of this checkout that is there and not empty, named from where you are');
        return world.scrub(message);
      }),
    );
    assert.deepEqual(messages, [
      'The artifact ROOT/project/gone.log does not exist.',
      'The artifact ROOT/project/empty.log is empty.',
      'The artifact ROOT/project/folder is a folder, not a file.',
      'The evidence ROOT/project/gone.log does not exist.',
      'The evidence ROOT/project/empty.log is empty.',
      'The evidence ROOT/project/folder is a folder, not a file.',
    ]);
    assert.equal(
      world.scrub(world.refusal(4, 'note', 'validation', 'x', '--output-file', 'gone.log').message),
      'The output ROOT/project/gone.log does not exist.',
    );
    assert.deepEqual(dumpStore(world), before);
    assert.equal(world.answer('note', 'error', 'it is gone', '--path', 'gone.log').file, null, 'an error may be that');
    for (const type of ['file', 'error'])
      assert.equal(
        world.scrub(world.refusal(6, 'note', type, 'x', '--path', 'folder').message),
        'The file ROOT/project/folder is a folder, not a file.',
      );
    assert.equal(world.answer('note', 'file', 'empty.log').file.size, 0);
  });

  test('a file of any size is hashed in little memory, and what becomes of it later changes no entry', (context) => {
    const world = reviewIn(context, 'context');
    const size = 200_000_000;
    world.write('large.bin', '');
    truncateSync(world.path('large.bin'), size);
    const small = world.with({ env: { NODE_OPTIONS: '--max-old-space-size=64' } });
    const { file } = small.answer('note', 'artifact', 'large.bin');
    assert.deepEqual(file, { sha256: sha256(Buffer.alloc(size)), size });
    world.write('large.bin', 'small');
    assert.deepEqual(entriesIn(world)[0].file, file);
  });

  test('of an output its digest, its size and its end are kept, however long it is', (context) => {
    const world = reviewIn(context, 'context');
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} \u001b[32mgreen\u001b[0m 🔥\r\n`).join(
      '',
    );
    const path = join(world.temporary, 'long.log');
    writeFileSync(path, lines);
    const { output } = world.answer('note', 'command', 'make', '--output-file', path);
    assert.equal(output.sha256, sha256(lines));
    assert.equal(output.size, Buffer.byteLength(lines));
    assert.ok(output.tail.length <= 2000);
    assert.match(output.tail, /^…[^\u001b\r]*line 19999 green 🔥\n$/u);
    writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00, 0x41]));
    assert.equal(world.answer('note', 'command', 'x', '--output-file', path).output.tail, '\ufffd\ufffd\u0000A');
  });

  test('J01: an output that is cut within a character has no half of one', { skip }, (context) => {
    const world = reviewIn(context, 'context');
    const path = join(world.temporary, 'emoji.log');
    for (let length = 0; length < 8; length += 1) {
      writeFileSync(path, `${'x'.repeat(length)}${'👩‍👩‍👧‍👦🔥'.repeat(4000)}`);
      const tail = String(world.answer('note', 'command', 'x', '--output-file', path).output.tail);
      assert.ok(tail.isWellFormed() && !tail.includes('\ufffd'));
      assert.match(tail, /^…(?:👩‍👩‍👧‍👦|🔥)+$/u);
    }
  });
});

suite('what stint runs itself', () => {
  test('is noted whatever comes of it, with its exit code and what it printed on both streams', (context) => {
    const world = reviewIn(context, 'context');
    world.write('sub/here', '');
    const {
      seq,
      at: _,
      session: __,
      session_id: ___,
      ...passed
    } = shell(world.with({ cwd: world.path('sub') }), ['validation'], 'ls; cat; echo err >&2');
    assert.equal(seq, 3);
    assert.deepEqual(passed, {
      schema_version: 1,
      type: 'validation',
      exit_code: 0,
      output: { sha256: sha256('here\nerr\n'), size: 9, tail: 'here\nerr\n' },
      was_run: true,
      revision: 2,
    });
    assert.equal(
      say(world, 'note', 'command', 'the build', '--run', '--', 'sh', '-c', 'echo one; echo two >&2; exit 3'),
      `${session}: command noted (4), exit 3\n  | one\n  | two\n`,
    );
    assert.deepEqual(
      entriesIn(world).map(({ text, exit_code: exit, was_run: wasRun }) => [text, exit, wasRun]),
      [
        [`sh -c 'ls; cat; echo err >&2'`, 0, true],
        ['the build', 3, true],
      ],
    );
  });

  test('no shell looks at it, and it may run stint itself', (context) => {
    const world = reviewIn(context, 'context');
    const { output } = ran(world, ['command'], 'printf', '%s|', '$HOME', '*', 'a b', ';', '');
    assert.equal(output.tail, '$HOME|*|a b|;||');
    ran(world, ['command', 'nested'], process.execPath, command, 'note', 'from inside');
    assert.deepEqual(
      entriesIn(world).map(({ text }) => text),
      [`printf '%s|' '$HOME' '*' 'a b' ';' ''`, 'from inside', 'nested'],
    );
  });

  test('H07: what a signal has ended has 128 and its number', { skip }, (context) => {
    const world = reviewIn(context, 'context');
    assert.equal(shell(world, ['validation'], 'kill -9 $$').exit_code, 137);
    assert.equal(shell(world, ['validation'], 'kill -TERM $$').exit_code, 143);
    assert.equal(entriesIn(world)[0].exit_code, 137);
  });

  test('what takes too long is stopped with everything that it has started', async (context) => {
    const world = reviewIn(context, 'context');
    const answer = shell(world, ['validation', '--timeout', '1s'], 'sleep 100 & wait');
    assert.deepEqual([answer.exit_code, answer.timed_out, answer.was_run], [124, true, true]);
    assert.equal(
      say(world, 'note', 'command', '--timeout', '1s', '--run', '--', 'sh', '-c', 'echo begun; sleep 100'),
      `${session}: command noted (4), exit 124 after the timeout\n  | begun\n`,
    );
    shell(world, ['command', '--timeout', '1s'], '(sleep 2; touch late) & wait');
    await pause(1500);
    assert.equal(existsSync(world.path('late')), false);
  });

  test('the time that is set is over when the program ends, whatever it leaves behind', (context) => {
    const world = reviewIn(context, 'context');
    const answer = shell(world, ['command', '--timeout', '1s'], 'sleep 60 & sleep 0.5');
    assert.deepEqual([answer.exit_code, answer.timed_out], [0, undefined]);
  });

  test('is noted when it has ended, at that time', async (context) => {
    const world = reviewIn(context, 'context');
    const soon = '2026-03-17T12:30:00.000Z';
    const now = (): string => (existsSync(world.path('done')) ? soon : noon);
    const opened = await openStint({ cwd: world.project, actor: 'ana', now, ...storeIn(world.env) });
    assert.ok(opened.ok);
    const answer = await opened.value.run('note', { type: 'command', run: ['touch', 'done'] });
    await opened.value.close();
    assert.equal(answer.ok && answer.value['at'], soon);
  });

  test('meanwhile others go on: it is noted all the same, but not against what was expected', async (context) => {
    const world = reviewIn(context, 'context');
    world.answer('note', 'assumption', 'it works');
    const begin = (mark: string, ...flags: readonly string[]) =>
      world.start(...runLine([...flags], ['sh', '-c', `touch ${mark}.begun; until test -e go; do sleep 0.05; done`]));
    const running = [
      begin('plain', 'validation'),
      begin('expecting', 'validation', '--expect-revision', '2'),
      begin('late', 'command'),
    ];
    for (const mark of ['plain', 'expecting', 'late']) while (!existsSync(world.path(`${mark}.begun`))) await pause(20);
    world.answer('advance', 'change-context');
    world.answer('block', 'meanwhile');
    world.answer('finish', '--abort');
    world.answer('archive', '--session', session);
    world.write('go', '');
    const [plain, expecting, late] = await Promise.all(running.map(async ({ outcome }) => outcome));
    assert.deepEqual([plain?.status, expecting?.status, late?.status], [0, 9, 0]);
    assert.deepEqual(sorted(entriesIn(world, '--session', session).map(({ type }) => type)), [
      'assumption',
      'blocker',
      'command',
      'validation',
    ]);
    assertSound(world);
  });

  test('one that ends and leaves a program behind is not waited for', (context) => {
    const world = reviewIn(context, 'context');
    const before = Date.now();
    const { exit_code: exit, output } = shell(world, ['command'], 'sleep 60 & echo begun');
    assert.deepEqual([exit, output.tail], [0, 'begun\n']);
    assert.ok(Date.now() - before < 30_000);
  });

  test('a long output takes no memory', (context) => {
    const world = reviewIn(context, 'context');
    const size = 300_000_000;
    const small = world.with({ env: { NODE_OPTIONS: '--max-old-space-size=64' } });
    const { output } = shell(small, ['command'], `head -c ${size} /dev/zero | tr '\\0' 'x'`);
    assert.deepEqual([output.size, output.tail.length], [size, 2000]);
  });

  test('is run once, and only where it will be noted: not for who is refused, nor in a dry run', (context) => {
    const world = reviewIn(context, 'context');
    const script = 'echo x >> ran';
    const refused = (exit: number, ...flags: readonly string[]): Printed =>
      refusedRun(world, exit, ['command', ...flags], 'sh', '-c', script);
    refused(9, '--expect-revision', '7');
    refused(4, '--supersedes', '9');
    world.answer('lease', 'claim');
    refused(10, '--lease-token', '5');
    refused(4, '--session', 'nobody');
    const dry = shell(world, ['command', '--dry-run'], script);
    assert.deepEqual([dry.dry_run, dry.was_run, dry.exit_code], [true, undefined, undefined]);
    assert.equal(existsSync(world.path('ran')), false);
    assert.deepEqual(entriesIn(world), []);
    const once = ['command', '--request-id', 'once', '--expect-revision', '2'];
    const first = shell(world, once, script);
    assert.deepEqual(shell(world, once, script), { ...first, replayed: true });
    assert.equal(readFileSync(world.path('ran'), 'utf8'), 'x\n');
    assert.equal(first.dry_run, undefined);
  });

  test('what cannot be started is refused, and nothing is noted', (context) => {
    const world = reviewIn(context, 'context');
    world.write('plain.txt', 'x');
    assert.equal(
      refusedRun(world, 4, ['command'], 'no-such-program').message,
      'There is no program "no-such-program" here.',
    );
    assert.match(refusedRun(world, 6, ['command'], './plain.txt').message, /cannot be started \(EACCES\)/);
    assert.deepEqual(entriesIn(world), []);
  });

  test('whoever interrupts stint interrupts the program, and nothing is noted', async (context) => {
    const world = reviewIn(context, 'context');
    const { child, outcome } = world.start(
      'note',
      'command',
      '--run',
      '--',
      'sh',
      '-c',
      'echo $$ > its; mv its pid; exec sleep 600',
    );
    while (!existsSync(world.path('pid'))) await pause(20);
    child.kill('SIGINT');
    assert.equal((await outcome).signal, 'SIGINT');
    const pid = Number(readFileSync(world.path('pid'), 'utf8'));
    for (let looks = 0; existsSync(`/proc/${pid}/exe`); looks += 1) {
      assert.ok(looks < 500, 'the program is interrupted too');
      await pause(20);
    }
    assert.deepEqual(entriesIn(world), []);
    assertSound(world);
  });

  test(
    'M01: no secret of an output, a command line or a path is stored or answered, and each is counted',
    { skip },
    (context) => {
      const world = reviewIn(context, 'context');
      const encoded = caseFile('M01', 'secrets.b64');
      const text = Buffer.from(readFileSync(encoded, 'utf8'), 'base64').toString();
      const [token = ''] = text.split('\n');
      const secrets = text.split('\n').filter((line) => line !== '' && !/^-----|^MII/.test(line));
      const shown = secrets.map((line) => line.split(/[=:\s]+/).at(-1) ?? line);
      const answers = [
        ran(world, ['validation'], 'base64', '-d', encoded),
        shell(world, ['command'], `seq 1 5000; base64 -d '${encoded}'`),
        ran(world, ['command'], 'echo', token),
        world.answer('note', 'file', 'x', '--path', `${token}.txt`),
        world.answer('note', 'decision', token, '--rationale', token, '--alternative', token),
      ];
      for (const answer of answers) assert.ok(Object.values(answer.redacted).length > 0);
      assert.equal(answers[2].exit_code, 0, 'what is run is run as it was given');
      assert.equal(answers[2].output.sha256, sha256(`${token}\n`));
      const stored = JSON.stringify([dumpStore(world), answers, world.answer('journal'), world.answer('status')]);
      for (const secret of shown) assert.ok(!stored.includes(secret));
      assert.ok(JSON.stringify(ran(world, ['command', '--no-redact'], 'echo', token)).includes(token));
    },
  );
});

test('of keys that were cut by what is kept of an output, nothing is stored', (context) => {
  const world = reviewIn(context, 'context');
  const body = Array.from({ length: 40 }, (_, line) => sha256(`${line}`)).join('\n');
  const key = `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n`;
  for (const shift of [0, 1000, 2000]) {
    world.write('keys.pem', `${key.repeat(60)}${'x'.repeat(shift)}\n`);
    for (const answer of [
      world.answer('note', 'command', 'x', '--output-file', 'keys.pem'),
      ran(world, ['command'], 'cat', 'keys.pem'),
    ])
      assert.ok(answer.redacted['private-key'] > 0);
  }
  const stored = JSON.stringify([dumpStore(world)['event'], world.answer('journal')]);
  for (const line of body.split('\n')) assert.ok(!stored.includes(line), line);
});

test('no secret of a blocker is stored or answered', (context) => {
  const world = reviewIn(context, 'context');
  const token = `ghp_${'a1B2'.repeat(9)}`;
  const raised = world.answer('block', `no access with ${token}`, '--needs', token);
  assert.equal(raised.blocker.reason, 'no access with [REDACTED]');
  assert.equal(world.answer('block', `no access with ${token}`, '--needs', token).blocker.id, raised.blocker.id);
  const cleared = world.answer('unblock', '--how', `with ${token}`);
  assert.ok(!JSON.stringify([dumpStore(world), raised, cleared, world.answer('journal')]).includes(token));
});

suite('blockers', () => {
  test('are shown until they are cleared, and keep a session from being finished', (context) => {
    const world = reviewIn(context, 'synthesis');
    const raised = world.answer('block', 'the staging database is down.', '--needs', 'somebody of ops');
    const blocker = {
      id: raised.blocker.id,
      at: noon,
      actor: 'ana@desk',
      reason: 'the staging database is down.',
      needs: 'somebody of ops',
    };
    assert.deepEqual(raised.blocker, blocker);
    assert.equal(raised.next_action.kind, 'complete', 'the work that can be done is done');
    const revision = raised.revision;
    completeRound(world);
    const line = `blocker ${blocker.id}: the staging database is down (needs somebody of ops)`;
    const status = world.answer('status');
    assert.deepEqual(status.journal, { total: 0, counts: { blocker: 1 }, blockers: [blocker] });
    assert.deepEqual(status.missing, [line]);
    assert.deepEqual([status.completeness, status.has_terminal_artifact], ['open_no_artifact', false]);
    assert.deepEqual(status.next_action, {
      kind: 'unblock',
      text: `Nothing is left but what keeps it from being finished: ${line}.`,
      command: `stint unblock ${blocker.id} --session ${session}`,
    });
    assert.match(
      world.run('status').stdout,
      /\nblocked +\d+: the staging database is down\. \(needs somebody of ops\), since 2026-03-17T12:00:00\.000Z by ana@desk\n/,
    );
    const refused = world.refusal(6, 'finish');
    assert.deepEqual(refused.faults, [line]);
    assert.equal(refused.hint, `stint unblock ${blocker.id} --session ${session}`);
    assert.deepEqual(refused.legal, [refused.hint, `stint finish --abort --session ${session}`]);

    const cleared = world.answer('unblock', '--how', 'it was restarted');
    assert.deepEqual([cleared.blocker, cleared.blockers], [blocker, 0]);
    assert.equal(cleared.next_action.kind, 'finish');
    assert.equal(cleared.revision, world.answer('status').revision);
    assert.ok(cleared.revision > revision, 'by the round, not by the blocker');
    assert.equal(world.answer('finish').outcome, 'completed');
    assert.deepEqual(entriesIn(world, '--session', session), [
      {
        id: blocker.id,
        type: 'blocker',
        text: blocker.reason,
        needs: blocker.needs,
        cleared: { id: blocker.id + 2, at: noon, actor: 'ana@desk', how: 'it was restarted' },
      },
    ]);
    assertSound(world);
  });

  test('a blocker that is raised or cleared again is the same one, and nothing is written', (context) => {
    const world = reviewIn(context, 'context');
    const first = world.answer('block', 'one');
    const before = dumpStore(world);
    assert.equal(world.answer('block', 'one').blocker.id, first.blocker.id);
    assert.deepEqual(dumpStore(world), before);
    world.answer('block', 'one', '--needs', 'more');
    assert.deepEqual(world.refusal(3, 'unblock').candidates, ['3', '4']);
    assert.deepEqual(world.refusal(4, 'unblock', '2').candidates, ['3', '4']);
    assert.deepEqual(world.refusal(4, 'unblock', '99').legal, [
      `stint unblock 3 --session ${session}`,
      `stint unblock 4 --session ${session}`,
    ]);
    world.answer('unblock', '3');
    const cleared = dumpStore(world);
    assert.equal(world.answer('unblock', '3').blocker.reason, 'one');
    assert.deepEqual(dumpStore(world), cleared);
    assert.equal(
      say(world, 'unblock').split('\n')[0],
      `unblocked (4)  ${session}: context (1/8), round 1 (open_no_artifact)`,
    );
    world.answer('finish', '--abort');
    assert.equal(world.refusal(5, 'block', 'x', '--session', session).code, 'illegal-transition');
  });

  test('one that was raised before a close is there after it, and a closed session is unblocked', (context) => {
    const world = reviewIn(context, 'context');
    world.answer('block', 'one');
    world.answer('block', 'two');
    world.answer('finish', '--abort');
    world.answer('unblock', '3', '--session', session);
    world.answer('reopen');
    assert.deepEqual(
      listOf(world.answer('status').journal.blockers).map(({ reason }) => reason),
      ['two'],
    );
    assert.equal(
      world.answer('show', session, '--at', '2').session.journal.blockers.length,
      0,
      'what was then is told of then',
    );
    assertSound(world);
  });

  test('a run whose last node is done stays open while something blocks it', (context) => {
    const world = createWorld(context);
    writeTemplate(world, 'flow', templateOf([[work('N-1')]]));
    world.answer('run', 'flow', '--name', 'flow');
    world.answer('block', 'nobody has looked at it');
    const { id, token } = claimStep(world);
    const done = world.answer('complete', id, '--token', String(token));
    assert.deepEqual([done.position, done.next_action.kind], ['all 1 nodes done', 'unblock']);
    assert.equal(world.refusal(6, 'finish').code, 'invariant-unmet');
    for (const line of [['resume'], ['next', '--claim']])
      assert.equal(world.answer(...line).next_action.kind, 'unblock', line.join(' '));
    assert.equal(world.answer('unblock').next_action.kind, 'finish');
    assert.equal(world.answer('finish').outcome, 'completed');
    assertSound(world);
  });

  test('an orchestration whose work is all done is not finished while something blocks it', (context) => {
    const world = createWorld(context);
    world.answer('begin', 'orchestration', '--name', 'work', '--goal', 'Ship it');
    world.answer('todo', 'add', 'Do it');
    const { id } = world.answer('block', 'nobody has looked at it').blocker;
    assert.equal(
      world.answer('todo', 'done', '1').next_action.command,
      `stint unblock ${id} --session orchestration:work`,
    );
    assert.equal(world.refusal(6, 'finish').hint, `stint unblock ${id} --session orchestration:work`);
    assert.equal(world.answer('unblock', String(id)).next_action.kind, 'finish');
    assert.equal(world.answer('finish').outcome, 'completed');
    assertSound(world);
  });

  test('one that stands in the way of a close proves nothing of the work', (context) => {
    const world = reviewIn(context, 'synthesis');
    completeRound(world);
    world.answer('block', 'x');
    world.answer('finish', '--abort');
    world.write(`.ocr/sessions/${name}/rounds/round-1/final.md`, 'done');
    assert.deepEqual(world.answer('reconcile').unproved, [], 'its completion is on record');
  });
});

suite('many at once', () => {
  const racers = Array.from({ length: 8 }, (_, index) => String(index));
  const race = async (world: TestWorld, line: (racer: string) => readonly string[]) =>
    Promise.all(racers.map(async (racer) => world.start(...line(racer), '--json').outcome));

  test('8 processes that note and block at once lose nothing', async (context) => {
    const world = reviewIn(context, 'context');
    const outcomes = [
      ...(await race(world, (racer) => ['note', 'decision', `by ${racer}`])),
      ...(await race(world, (racer) => ['block', `reason ${racer}`])),
    ];
    for (const outcome of outcomes) assertAnswer(outcome, 'race');
    const { journal, missing } = world.answer('status');
    assert.deepEqual([journal.counts, journal.blockers.length], [{ decision: 8, blocker: 8 }, 8]);
    assert.equal(missing.length, 9);
    assert.equal(new Set(entriesIn(world).map(({ text }) => text)).size, 16);
    assertSound(world);
  });

  test('8 that raise the same blocker raise one, and 8 that clear it clear it once', async (context) => {
    const world = reviewIn(context, 'context');
    const raised = (await race(world, () => ['block', 'the same'])).map((outcome) => assertAnswer(outcome, 'block'));
    assert.deepEqual(new Set(raised.map(({ blocker }) => blocker.id)), new Set([3]));
    for (const outcome of await race(world, () => ['unblock', '3'])) assertAnswer(outcome, 'unblock');
    assert.deepEqual(
      eventsOf(world, session)
        .slice(2)
        .map(({ type }) => type),
      ['BlockerRaised', 'BlockerCleared'],
    );
  });

  test('of 8 decisions that take the place of one, one does', async (context) => {
    const world = reviewIn(context, 'context');
    world.answer('note', 'decision', 'the first');
    const outcomes = await race(world, (racer) => ['note', 'decision', racer, '--supersedes', '3']);
    assert.deepEqual(
      outcomes.map(({ status }) => status).toSorted((a, b) => Number(a) - Number(b)),
      [0, 5, 5, 5, 5, 5, 5, 5],
    );
  });
});
