/** Tasks on the command line: how one is begun, moved, blocked, reviewed, handed on and done. */
import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { createWorld, later, lines, listOf, refusedText, say, type TestWorld } from './support/world.ts';

const begun = (context: TestContext): TestWorld => {
  const world = createWorld(context);
  say(world, 'begin', 'task', '--name', 'importer', '--goal', 'Ship the importer');
  return world;
};

/** A task with everything done but its end. */
const reviewed = (context: TestContext): TestWorld => {
  const world = begun(context);
  say(world, 'task', 'move', 'in-progress');
  say(world, 'task', 'move', 'ready-for-review');
  return world;
};

const declare = (world: TestWorld, transitions: object): void =>
  void world.write('stint.json', JSON.stringify({ kinds: { task: { transitions } } }));

suite('a task is begun', () => {
  test('with what it is to come to, and says what is next', (context) => {
    const world = createWorld(context);
    assert.equal(
      refusedText(world, 2, 'begin', 'task'),
      lines(
        'stint: begin: a session of the kind task says what it is to come to.',
        '  expected: --goal GOAL',
        '  try: stint begin task --goal GOAL',
      ),
    );
    assert.equal(
      say(world, 'begin', 'task', '--goal', 'Ship the importer'),
      lines(
        'begun  task:2026-03-17-main: not-started (open_no_artifact)',
        'next: stint task move in-progress --session task:2026-03-17-main',
      ),
    );
  });

  test('anew beside one that is done, under the next free name; one that is open or was given up goes on', (context) => {
    const world = createWorld(context);
    const begin = (goal: string) => world.answer('begin', 'task', '--goal', goal);
    assert.equal(begin('first').session_id, '2026-03-17-main');
    assert.equal(begin('first').resumed, true);
    assert.equal(world.refusal(9, 'begin', 'task', '--goal', 'second').hint, 'stint begin task --fresh --goal GOAL');
    world.answer('finish', '--abort');
    assert.deepEqual([begin('first').session_id, begin('first').task_status], ['2026-03-17-main', 'not-started']);
    world.answer('task', 'move', 'ready-for-review', '--override', 'it was done before');
    world.answer('finish');
    assert.deepEqual([begin('second').session_id, begin('second').resumed], ['2026-03-17-main-2', true]);
  });
});

suite('the status of a task', () => {
  test('follows the transitions; what is none is refused with those that are, and done with a reason', (context) => {
    const world = begun(context);
    assert.equal(
      refusedText(world, 5, 'task', 'move', 'done'),
      lines(
        'stint: done does not follow not-started.',
        '  expected: in-progress, blocked',
        '  legal: stint task move in-progress --session task:importer, stint task move blocked --blocker WHAT --session task:importer, stint task move done --override REASON --session task:importer',
        '  try: stint task move in-progress --session task:importer',
      ),
    );
    assert.equal(
      say(world, 'task', 'move', 'ready-for-review', '--override', 'it was written elsewhere', '--next-owner', 'qa'),
      lines(
        'task:importer: ready-for-review, next: qa (open_with_artifact)',
        'next: stint finish --session task:importer',
      ),
    );
    const { overrides, next_owner, may_become } = world.answer('status');
    assert.deepEqual(
      [listOf(overrides).map((one) => one.reason), next_owner, may_become],
      [['it was written elsewhere'], 'qa', ['in-progress', 'done']],
    );
    assert.match(say(world, 'log'), /StatusChanged .* from=not-started to=ready-for-review override=it was written/);
  });

  test('is a word of the list, and goes with what belongs to it', (context) => {
    const world = begun(context);
    assert.match(refusedText(world, 2, 'task', 'move', 'finished'), /must be one of not-started, in-progress, blocked/);
    assert.match(refusedText(world, 2, 'task', 'move', 'done', '--next-owner', 'qa'), /nobody is to act next/);
    assert.match(refusedText(world, 2, 'task', 'move', 'in-progress', '--blocker', 'x'), /--blocker goes with blocked/);
    assert.match(refusedText(world, 2, 'task', 'move', 'blocked', '--needs', 'x'), /--needs goes with --blocker/);
    assert.match(refusedText(world, 2, 'task', 'move', 'done', '--override', ' '), /override must not be blank/);
  });

  test('moved again is answered, and changes nothing; a revision that is not the newest is a conflict', (context) => {
    const world = begun(context);
    const { revision } = world.answer('task', 'move', 'in-progress');
    assert.equal(world.answer('task', 'move', 'in-progress').revision, revision);
    world.refusal(9, 'task', 'move', 'ready-for-review', '--expect-revision', '1');
    world.answer('task', 'move', 'ready-for-review', '--expect-revision', String(revision), '--dry-run');
    assert.equal(world.answer('status').task_status, 'in-progress');
  });

  test('is for the holder of its lease to move, while everybody may say what blocks it', (context) => {
    const world = begun(context);
    world.answer('lease', 'claim', '--actor', 'ben');
    const { hint } = world.refusal(10, 'task', 'move', 'in-progress', '--session', 'importer', '--actor', 'cleo');
    assert.match(hint, /lease/);
    world.answer('block', 'no token', '--session', 'importer', '--actor', 'cleo');
    assert.equal(world.answer('status').task_status, 'blocked');
  });

  test('of one that is paused is not moved before it is resumed', (context) => {
    const world = begun(context);
    world.answer('pause');
    assert.equal(world.refusal(5, 'task', 'move', 'in-progress').hint, 'stint resume --session task:importer');
  });
});

suite('what blocks a task', () => {
  test('makes it blocked, whichever verb says so, and it goes on when that is cleared', (context) => {
    const world = begun(context);
    say(world, 'task', 'move', 'in-progress');
    assert.equal(
      say(world, 'task', 'move', 'blocked', '--blocker', 'no token', '--needs', 'a token from ops'),
      lines('task:importer: blocked: no token (open_no_artifact)', 'next: stint unblock 4 --session task:importer'),
    );
    assert.equal(
      refusedText(world, 6, 'task', 'move', 'in-progress'),
      lines(
        'stint: task:importer would still be blocked: no token.',
        '  expected: no open blocker',
        '  legal: stint unblock 4 --session task:importer',
        '  try: stint unblock 4 --session task:importer',
      ),
    );
    assert.match(say(world, 'list'), /task:importer {2}active {2}blocked: no token/);
    assert.match(say(world, 'brief'), /Blockers\n {2}- no token; it needs a token from ops/);
    say(later(world, 5), 'unblock', '--how', 'ops has sent one');
    assert.equal(world.answer('status').task_status, 'in-progress');
    assert.equal(
      say(later(world, 7), 'timeline'),
      lines(
        'FROM                      TIME       POSITION',
        '2026-03-17T12:00:00.000Z  00:00.000  not-started',
        '2026-03-17T12:00:00.000Z  00:00.000  in-progress',
        '2026-03-17T12:00:00.000Z  05:00.000  blocked: no token',
        '2026-03-17T12:05:00.000Z  02:00.000  in-progress (now)',
        '                          07:00.000  total',
      ),
    );
  });

  test('keeps it from being done, whatever the reason', (context) => {
    const world = reviewed(context);
    say(world, 'block', 'the reviewer is away');
    for (const line of [['finish'], ['task', 'move', 'done'], ['task', 'move', 'done', '--override', 'now']])
      assert.deepEqual(world.refusal(6, ...line).faults, ['blocker 5: the reviewer is away']);
    say(world, 'unblock');
    assert.equal(world.answer('task', 'move', 'done').completeness, 'complete');
  });
});

suite('the steps of a task', () => {
  test('are written down, done, dropped and put in order, and say what is next', (context) => {
    const world = begun(context);
    for (const text of ['Write the parser', 'Write its tests', 'Document it']) say(world, 'step', 'add', text);
    assert.equal(
      say(world, 'step', 'start'),
      lines(
        'step 1  task:importer: in-progress: Write the parser (0/3 steps done) (open_no_artifact)',
        'next: stint step done 1 --session task:importer',
      ),
    );
    say(world, 'step', 'move', '3', '--before', '2');
    world.write('src/parser.ts', 'export {};\n');
    say(world, 'step', 'done', '1', '--outcome', 'it parses', '--file', 'src/parser.ts');
    say(world, 'step', 'drop', '3', '--reason', 'nobody reads it');
    assert.equal(
      say(world, 'status'),
      lines(
        'task:importer  active',
        'goal           Ship the importer',
        'position       in-progress (1/2 steps done)',
        'completeness   open_no_artifact',
        'missing        it is in-progress, and has to be ready-for-review before it is done; step 2 is left',
        'branch         main',
        'updated        2026-03-17T12:00:00.000Z',
        'then: Begin step 2: Write its tests.',
        'next: stint step start 2 --session task:importer',
      ),
    );
    assert.equal(
      say(world, 'progress', '--once').split('\n').slice(2, 9).join('\n'),
      [
        '[############------------]  50%  2/4  Write its tests',
        '',
        '[x] 1                 Write the parser',
        '[-] 3                 Document it (skipped)',
        '[>] 2                 Write its tests',
        '[ ] ready-for-review  Bring it to ready-for-review',
        '',
      ].join('\n'),
    );
    const brief = say(world, 'brief');
    assert.match(brief, /progress +50% complete: 1 of 2 steps done; it is in-progress/);
    assert.match(brief, /1: Write the parser \(it parses\)/);
    assert.match(brief, /src\/parser\.ts: step 1/);
  });

  test('name files that are there, and steps that are', (context) => {
    const world = begun(context);
    say(world, 'step', 'add', 'Write the parser');
    const { faults } = world.refusal(6, 'step', 'done', '1', '--file', 'src/parser.ts');
    assert.equal(faults.length, 1);
    assert.deepEqual(world.refusal(4, 'step', 'done', '7').candidates, ['1']);
    assert.match(refusedText(world, 2, 'step', 'move', '1'), /either --before or --last/);
    assert.match(refusedText(world, 2, 'step', 'done', 'one'), /step/);
    assert.deepEqual(world.refusal(6, 'finish').legal[0], 'stint step start 1 --session task:importer');
  });
});

suite('a task that is done', () => {
  test('is over: every verb that would move it says how it goes on, with a reason that stays on record', (context) => {
    const world = reviewed(context);
    assert.equal(say(world, 'task', 'move', 'done'), lines('task:importer: done (complete)'));
    const way = 'stint reopen --override REASON --session task:importer';
    for (const line of [
      ['task', 'move', 'in-progress'],
      ['step', 'add', 'more'],
      ['reopen', '--reason', 'it was wrong'],
      ['begin', 'task', '--name', 'importer'],
      ['block', 'no token'],
      ['finish', '--abort'],
    ])
      assert.equal(
        world.refusal(5, ...line, ...(line[0] === 'begin' ? [] : ['--session', 'importer'])).hint,
        way,
        line.join(' '),
      );
    say(world, 'reopen', '--override', 'a bug was found', '--session', 'importer');
    const { task_status: status, overrides } = world.answer('status');
    const override = listOf(overrides).at(-1);
    assert.deepEqual([status, override.reason, override.from], ['in-progress', 'a bug was found', 'done']);
  });
});

suite('what a project declares in stint.json', () => {
  test('is how its tasks go from then on, and what is wrong with it is told by its place', (context) => {
    const world = createWorld(context);
    declare(world, { 'in-progress': ['blocked', 'done'] });
    say(world, 'begin', 'task', '--name', 'small', '--goal', 'Fix the typo');
    say(world, 'task', 'move', 'in-progress');
    assert.match(refusedText(world, 5, 'task', 'move', 'ready-for-review'), /expected: blocked, done/);
    declare(world, { 'in-progress': ['done'] });
    assert.deepEqual(world.refusal(7, 'task', 'move', 'done').faults, [
      '$.kinds.task.transitions must let blocked follow in-progress: blockers come up in work',
    ]);
    declare(world, { done: ['in-progress'] });
    assert.equal(world.answer('task', 'move', 'ready-for-review').task_status, 'ready-for-review');
    say(world, 'finish');
    say(world, 'reopen', '--session', 'small');
    assert.deepEqual([world.answer('status').task_status, world.answer('status').overrides], ['in-progress', []]);
  });

  test('of a kind that has nothing to declare is refused, and does not keep others from their work', (context) => {
    const world = createWorld(context);
    world.write('stint.json', '{"kinds": {"review": {"phases": []}}}');
    assert.match(refusedText(world, 7, 'begin', 'review'), /there is nothing to be said of it/);
    say(world, 'begin', 'task', '--goal', 'Fix the typo');
    world.write('stint.json', '{"kinds": ["task"]}');
    assert.match(refusedText(world, 7, 'status'), /\$\.kinds: expected an object/);
  });
});
