/** Orchestrations on the command line: what is begun, started, said and refused, and what their files say of it. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { as } from './support/leases.ts';
import {
  assertLegal,
  completeAgents,
  currentFile,
  fileIn,
  historyFile,
  orchestrationIn,
  orchestrationKey,
  standingsIn,
  startAgents,
} from './support/orchestrations.ts';
import { assertSound, dumpStore, eventsOf } from './support/stores.ts';
import { createWorld, later, lines, listOf, refusedText, say, sorted, type TestWorld } from './support/world.ts';

const session = `--session ${orchestrationKey}`;
const work = ['--type', 'code', '--task', 'work'] as const;
const typesOf = (world: TestWorld, key = orchestrationKey): readonly string[] =>
  eventsOf(world, key).map(({ type }) => String(type));

/** What each mode allows. */
const modes = {
  default: { agents: 2, retries: 3, compressAt: 70 },
  debug: { agents: 1, retries: 5, compressAt: 90 },
  optimize: { agents: 4, retries: 2, compressAt: 60 },
  release: { agents: 4, retries: 1, compressAt: 85 },
} as const;
const modeNames = ['default', 'debug', 'optimize', 'release'] as const;

suite('one session is open at a time', () => {
  test('begun again it goes on, also with its own goal and mode; another goal, mode or name is refused', (context) => {
    const world = createWorld(context);
    const begin = ['begin', 'orchestration', '--goal', 'Ship it'];
    assert.equal(
      refusedText(world, 2, 'begin', 'orchestration'),
      lines(
        'stint: begin: a session of the kind orchestration says what it is to come to.',
        '  expected: --goal GOAL',
        '  try: stint begin orchestration --goal GOAL',
      ),
    );
    assert.equal(
      refusedText(world, 2, ...begin, '--mode', 'fast'),
      lines(
        'stint: begin: there is no mode of that name.',
        '  expected: one of its modes',
        '  legal: default, debug, optimize, release',
      ),
    );
    assert.equal(existsSync(world.path('.claude')), false, 'nothing was begun');
    assert.equal(
      say(world, ...begin, '--name', 'ship', '--mode', 'debug'),
      lines(
        'begun  orchestration:ship: nothing begun (open_no_artifact)',
        "next: stint todo add 'Ship it' --session orchestration:ship",
      ),
    );
    const before = dumpStore(world);
    for (const same of [['begin', 'orchestration'], begin, [...begin, '--name', 'ship', '--mode', 'debug']])
      assert.match(say(later(world, 1), ...same), /^goes on {2}orchestration:ship: nothing begun/);
    assert.equal(
      refusedText(world, 9, 'begin', 'orchestration', '--goal', 'Another goal'),
      lines(
        'stint: orchestration:ship is there, with another goal.',
        '  expected: its own goal, or none to go on with it',
        '  try: stint new --goal GOAL',
      ),
    );
    assert.equal(
      refusedText(world, 9, 'begin', 'orchestration', '--mode', 'release'),
      lines(
        'stint: orchestration:ship is there, in the mode debug.',
        '  expected: its own mode, or none to go on with it',
        '  try: stint resume --session orchestration:ship',
      ),
    );
    assert.equal(
      refusedText(world, 9, ...begin, '--name', 'other'),
      lines(
        'stint: orchestration:ship is open in this checkout, which has one at a time.',
        '  expected: no other open session of the kind',
        '  legal: stint resume --session orchestration:ship, stint new --goal GOAL, stint finish --abort --session orchestration:ship',
        '  perhaps: orchestration:ship',
        '  try: stint resume --session orchestration:ship',
      ),
    );
    assertLegal(context, world, world.refusal(9, ...begin, '--name', 'other'));
    assert.deepEqual(dumpStore(world), before, 'nothing has changed');
  });

  test('new puts the open one away in the same commit, completed where nothing is missing, else aborted', (context) => {
    const world = orchestrationIn(context);
    world.answer('todo', 'add', 'tests');
    assert.equal(
      say(later(world, 1), 'new', '--goal', 'Another goal', '--name', 'second'),
      lines(
        'begun  orchestration:second: nothing begun (open_no_artifact)',
        "next: stint todo add 'Another goal' --session orchestration:second",
        'put away: orchestration:ship (aborted); stint history shows it',
      ),
    );
    const causes = (key: string): readonly string[] => eventsOf(world, key).map(({ cause }) => String(cause));
    assert.equal(new Set([...causes('orchestration:ship').slice(-2), ...causes('orchestration:second')]).size, 1);
    assert.deepEqual([fileIn(world).session_id, fileIn(world, historyFile('ship')).status], ['second', 'aborted']);
    startAgents(world, 'a');
    completeAgents(world, 'a');
    assert.equal(later(world, 2).answer('new', '--goal', 'A third goal', '--name', 'third').put_away_as, 'completed');
    assert.equal(fileIn(world, historyFile('second')).status, 'complete');

    const before = dumpStore(world);
    assert.equal(
      world.refusal(9, 'new', '--goal', 'g', '--name', 'ship').message,
      'orchestration:ship is there already.',
    );
    assert.equal(world.refusal(2, 'new').message, 'new: goal is missing.');
    assert.equal(world.refusal(2, 'new', '--goal', 'g', '--mode', 'fast').code, 'usage');
    assert.equal(world.answer('new', '--goal', 'g', '--dry-run').dry_run, true);
    assert.deepEqual(dumpStore(world), before, 'nothing has changed');
    assertSound(world);
  });

  test('a name is never taken twice: one that is begun anew under it gets a number, and the first keeps its file', (context) => {
    const world = orchestrationIn(context);
    world.answer('begin', 'orchestration', '--fresh', '--name', 'ship', '--goal', 'Another goal');
    assert.deepEqual([fileIn(world).session_id, fileIn(world, historyFile('ship')).goal], ['ship-2', 'Ship it']);
    const first = readFileSync(world.path(historyFile('ship')), 'utf8');
    world.answer('finish', '--abort');
    assert.equal(readFileSync(world.path(historyFile('ship')), 'utf8'), first);
    assert.deepEqual(sorted(readdirSync(world.path('.claude/orchestrator-history'))), ['ship-2.json', 'ship.json']);

    // The same session closed twice has one file, of its newest end; what somebody else has put there is kept.
    world.answer('reopen', '--session', 'orchestration:ship');
    world.write(historyFile('ship'), 'not ours\n');
    const { stderr } = later(world, 5).run('finish', '--abort', '--session', 'orchestration:ship');
    assert.match(stderr, /ship\.json .*is kept as/);
    assert.equal(fileIn(world, historyFile('ship')).updated, '2026-03-17T12:05:00Z');
    const kept = readdirSync(world.path('.claude/orchestrator-history')).find((name) => name.includes('.kept-'));
    assert.equal(readFileSync(world.path('.claude/orchestrator-history', kept ?? ''), 'utf8'), 'not ours\n');
  });

  test('each worktree has its own, and continue in one of them never takes that of another', (context) => {
    const world = orchestrationIn(context);
    const path = join(world.root, 'tree');
    world.git('worktree', 'add', '-q', path);
    const tree = world.with({ cwd: path });
    assert.equal(tree.refusal(4, 'continue').code, 'not-found');
    assert.equal(tree.refusal(4, 'todo', 'add', 'tests').code, 'not-found');
    assert.equal(
      tree.answer('begin', 'orchestration', '--name', 'theirs', '--goal', 'Theirs').session,
      'orchestration:theirs',
    );
    const first = tree.answer('agent', 'start', 'a', ...work);
    const second = world.answer('agent', 'start', 'a', ...work);
    assert.deepEqual(
      [first.result_path, second.result_path],
      [
        '.claude/orchestrator-results/theirs/a.attempt-1.result.json',
        '.claude/orchestrator-results/ship/a.attempt-1.result.json',
      ],
      'results lie in the project, each under its session',
    );
    assert.deepEqual(
      [fileIn(world).session_id, JSON.parse(readFileSync(join(path, currentFile), 'utf8')).session_id],
      ['ship', 'theirs'],
    );
    tree.answer('agent', 'complete', 'a', '--summary', 'done');
    assert.deepEqual([standingsIn(tree), standingsIn(world)], [{ a: 'complete' }, { a: 'in_progress' }]);

    // One that is over is listed where it was, and is not opened beside another.
    tree.answer('new', '--goal', 'Next', '--name', 'next');
    assert.deepEqual(
      [listOf(tree.answer('history').sessions).length, listOf(world.answer('history').sessions).length],
      [1, 0],
    );
    tree.answer('finish', '--abort');
    tree.answer('new', '--goal', 'Last', '--name', 'last');
    world.answer('finish', '--abort');
    for (const args of [
      ['begin', 'orchestration', '--name', 'next'],
      ['reopen', '--session', 'orchestration:next'],
    ])
      assert.equal(
        world.refusal(9, ...args).message,
        'orchestration:last is open in this checkout, which has one at a time.',
        args.join(' '),
      );
    assertSound(world);
  });

  test('one that is over is moved by nothing until it is reopened, and every verb says how', (context) => {
    const world = orchestrationIn(context);
    startAgents(world, 'a', 'b');
    completeAgents(world, 'a');
    world.answer('todo', 'add', 'tests');
    world.answer('finish', '--abort', '--reason', 'the wrong way');
    const before = readFileSync(world.path(historyFile('ship')), 'utf8');
    for (const args of [
      ['agent', 'start', 'c', ...work],
      ['agent', 'cancel', 'b'],
      ['agent', 'pause', 'b'],
      ['todo', 'add', 'more'],
      ['todo', 'done', '1'],
      ['mode', 'debug'],
      ['focus', 'something'],
      ['save'],
      ['compress', 'a summary'],
      ['usage', 'report', '--tokens', '1'],
    ]) {
      assert.equal(world.refusal(4, ...args).code, 'not-found', args.join(' '));
      const error = world.refusal(5, ...args, '--session', orchestrationKey);
      assert.match(error.message, /^orchestration:ship is closed \(aborted\)/, args.join(' '));
      assert.deepEqual(error.legal, ['stint begin orchestration --name ship'], args.join(' '));
    }
    assertLegal(context, world, world.refusal(5, 'save', '--session', orchestrationKey));
    assert.equal(readFileSync(world.path(historyFile('ship')), 'utf8'), before);

    // Whoever was at work is told that it counts no more, and what it says is kept.
    const late = world.refusal(5, 'agent', 'complete', 'b', '--summary', 'too late', '--session', orchestrationKey);
    assert.equal(late.code, 'illegal-transition');
    const [refused] = eventsOf(world, orchestrationKey).slice(-1);
    assert.deepEqual([refused.type, refused.data.result], ['ResultRefused', { summary: 'too late' }]);
    assert.deepEqual(
      world.answer('agent', 'complete', 'a', '--summary', 'a is done', '--session', orchestrationKey).outcome,
      'completed',
    );

    world.answer('reopen', '--session', orchestrationKey);
    assert.deepEqual(fileIn(world).status, 'in_progress');
    assertSound(world);
  });
});

suite('agents', () => {
  test('an agent is started with an attempt and a token, and its file says what came of it, in words of the format alone', (context) => {
    const world = orchestrationIn(context, '--mode', 'optimize');
    assert.deepEqual(
      world.answer('agent', 'start', 'a', ...work, '--tokens', '12', '--vendor-session', 'v-1', '--ttl', '1h'),
      {
        schema_version: 1,
        session: orchestrationKey,
        session_id: 'ship',
        step: 'a',
        attempt: 1,
        token: 1773748800000,
        expires_at: '2026-03-17T13:00:00.000Z',
        result_path: '.claude/orchestrator-results/ship/a.attempt-1.result.json',
        running: 1,
        in_doubt: [],
        in_doubt_total: 0,
        next_action: { kind: 'wait', text: 'a is at work.', command: `stint agent list ${session}` },
        revision: 5,
      },
    );
    startAgents(world, 'b', 'c', 'd');
    completeAgents(world, 'b');
    later(world, 1).answer('agent', 'fail', 'c', '--error', 'it broke', '--class', 'transient', '--tokens', '99');
    later(world, 1).answer('agent', 'cancel', 'd', '--reason', 'not needed');
    later(world, 31).answer('resume');
    startAgents(later(world, 31), 'e');
    later(world, 62).answer('resume');
    later(world, 62).answer('resume', '--rerun', 'e');
    assert.deepEqual(Object.fromEntries(listOf(fileIn(world).agents).map(({ id, status }) => [id, status])), {
      a: 'in_progress',
      b: 'complete',
      c: 'failed',
      d: 'cancelled',
      e: 'pending',
    });
    assert.deepEqual(standingsIn(world), { a: 'in_doubt', b: 'complete', c: 'failed', d: 'cancelled', e: 'pending' });
    const [a, , c, d] = listOf(fileIn(world).agents);
    assert.deepEqual([a.context_tokens, a.vendor_session, a.in_doubt], [12, 'v-1', true]);
    assert.deepEqual([c.error, c.context_tokens, c.completed], ['it broke', 99, '2026-03-17T12:01:00Z']);
    assert.deepEqual([d.error, d.completed], ['not needed', '2026-03-17T12:01:00Z']);
    assert.deepEqual(fileIn(world).errors, [
      { agent: 'c', message: 'it broke', at: '2026-03-17T12:01:00Z', class: 'transient' },
    ]);
    assert.equal(
      say(later(world, 62), 'agent', 'list'),
      lines(
        'a  code  in doubt          attempt 1  work',
        'b  code  complete   100 %  attempt 1  b is done',
        'c  code  failed            attempt 1  it broke',
        'd  code  cancelled         attempt 1  not needed',
        'e  code  pending           attempt 1  Do e',
        'next: stint resume --session orchestration:ship',
      ),
    );
    const ids = (status: string): readonly string[] =>
      listOf(world.answer('agent', 'list', '--status', status).agents).map(({ id }) => String(id));
    assert.deepEqual([ids('failed'), ids('in_doubt'), ids('in_progress')], [['c'], ['a'], []]);
    assert.equal(world.refusal(2, 'agent', 'list', '--status', 'running').code, 'usage');
  });

  test('a new agent says its type and its task; an id becomes a part of file names, and is no path', (context) => {
    const world = orchestrationIn(context);
    assert.equal(
      refusedText(world, 2, 'agent', 'start', 'a'),
      lines(
        'stint: agent start: a is a new agent; --type and --task are missing.',
        '  expected: the type and the task of an agent that is started for the first time',
        `  try: stint agent start a --type TYPE --task TASK ${session}`,
      ),
    );
    for (const id of ['../../escape', '/etc/passwd', '.hidden', 'con', 'a/b', 'a..b', 'x'.repeat(129), ''])
      assert.equal(world.refusal(2, 'agent', 'start', id, ...work).code, 'usage', id);
    for (const name of ['../../../../tmp/escape', 'a/b', 'archive', 'nul', '']) {
      assert.equal(world.refusal(2, 'new', '--goal', 'g', '--name', name).code, 'usage', name);
      assert.notEqual(world.run('history', 'show', name).status, 0, name);
    }
    assert.deepEqual(sorted(readdirSync(world.root)), ['home', 'project', 'tmp']);
    assert.deepEqual(standingsIn(world), {});
  });

  test('a history that leads out of the checkout is not written to', (context) => {
    const world = orchestrationIn(context);
    const outside = join(world.root, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, world.path('.claude/orchestrator-history'));
    const { status, stderr } = world.run('finish', '--abort');
    assert.equal(status, 0);
    const unwritten = 'was not written: a link leads out of the checkout, or a file is where a folder should be';
    assert.equal(stderr, lines(`stint: warning: ${historyFile('ship')} ${unwritten}`));
    assert.deepEqual(readdirSync(outside), []);
    assert.equal(world.run('history').stdout, '1  2026-03-17  ship  aborted  Ship it\n');
    rmSync(world.path('.claude/orchestrator-history'));
    const { status: healed } = world.run('history', 'resume', '1');
    assert.deepEqual([healed, fileIn(world).status], [0, 'created']);
    assertSound(world);
  });

  test('what is said of an agent that is unknown, at work, or complete is refused, with what can be done instead', (context) => {
    const world = orchestrationIn(context);
    startAgents(world, 'a');
    assert.equal(
      refusedText(world, 5, 'agent', 'start', 'a'),
      lines(
        'stint: The agent a is not started: it is at work.',
        '  expected: an agent that is not at work',
        `  legal: stint agent complete a --summary SUMMARY ${session}, stint agent fail a --error ERROR ${session}, stint resume --take-over ${session}`,
        `  try: stint agent list ${session}`,
      ),
    );
    assertLegal(context, world, world.refusal(5, 'agent', 'start', 'a'));
    assert.equal(
      refusedText(world, 4, 'agent', 'complete', 'aa', '--summary', 's'),
      lines(
        'stint: There is no agent aa.',
        '  expected: the id of an agent',
        `  legal: stint agent start aa --type TYPE --task TASK ${session}`,
        '  perhaps: a',
        `  try: stint agent list ${session}`,
      ),
    );
    assertLegal(context, world, world.refusal(4, 'agent', 'complete', 'aa', '--summary', 's'));
    for (const verb of [['fail', '--error', 'e'], ['cancel'], ['pause'], ['continue'], ['progress', '5']]) {
      const [word = '', ...more] = verb;
      assert.deepEqual(world.refusal(4, 'agent', word, 'aa', ...more).candidates, ['a'], word);
    }
    completeAgents(world, 'a');
    world.answer('decide', 'wave-1', 'continue');
    assert.equal(
      refusedText(world, 5, 'agent', 'start', 'a'),
      lines(
        'stint: The agent a is not started: it has completed at 2026-03-17T12:00:00.000Z, and what is finished is not done again.',
        '  expected: an agent that has not completed, or another id',
        `  legal: stint agent list ${session}`,
        `  try: stint agent list ${session}`,
      ),
    );
    for (const verb of [['cancel'], ['pause'], ['continue']])
      assertLegal(context, world, world.refusal(5, 'agent', ...verb, 'a'));
    for (const [args, message] of [
      [['progress', 'a', '101'], 'agent progress: percent expected at most 100.'],
      [['progress', 'a', '5.5'], 'agent progress: percent is a whole number.'],
      [['progress', 'a'], 'agent progress: percent is missing.'],
      [['complete', 'a'], 'agent complete: summary is missing.'],
      [['fail', 'a'], 'agent fail: error is missing.'],
      [
        ['fail', 'a', '--error', 'e', '--class', 'critical'],
        'agent fail: class must be one of transient, resource, configuration, logical, permanent.',
      ],
    ] as const)
      assert.equal(world.refusal(2, 'agent', ...args).message, message);
  });

  test('the same result twice changes nothing; another one is refused and kept, and so is that of an attempt which counts no more', (context) => {
    const world = orchestrationIn(context);
    startAgents(world, 'a', 'b');
    completeAgents(world, 'a');
    const before = dumpStore(world);
    completeAgents(later(world, 1), 'a');
    assert.deepEqual(dumpStore(world), before, 'nothing has changed');
    assert.equal(
      refusedText(world, 5, 'agent', 'complete', 'a', '--summary', 'something else'),
      lines(
        'stint: The agent a is not running: attempt 1 is completed.',
        '  expected: an agent that was handed out',
        `  legal: stint agent list ${session}`,
        `  try: stint agent list ${session}`,
      ),
    );
    assertLegal(context, world, world.refusal(5, 'agent', 'complete', 'a', '--summary', 'something else'));
    assert.equal(world.refusal(5, 'agent', 'fail', 'a', '--error', 'broken after all').code, 'illegal-transition');
    assert.equal(fileIn(world).agents[0].result_summary, 'a is done');
    assert.equal(world.refusal(10, 'agent', 'complete', 'b', '--summary', 's', '--attempt', '2').code, 'lease');
    assert.equal(world.refusal(10, 'agent', 'complete', 'b', '--summary', 's', '--token', '7').code, 'lease');
    const refused = eventsOf(world, orchestrationKey).filter(({ type }) => type === 'ResultRefused');
    assert.equal(refused.length, 5);
    assert.equal(standingsIn(world)['b'], 'in_progress');

    world.answer('agent', 'cancel', 'b', '--reason', 'not needed');
    assert.equal(world.refusal(5, 'agent', 'complete', 'b', '--summary', 'late').code, 'illegal-transition');
    assert.deepEqual(standingsIn(world), { a: 'complete', b: 'cancelled' });
  });

  test('only whoever has started an agent speaks for it, or who has its token', (context) => {
    const world = orchestrationIn(context);
    const { token } = startAgents(world, 'a');
    const bob = as(world, 'bob');
    for (const args of [
      ['complete', 'a', '--summary', 's'],
      ['fail', 'a', '--error', 'e'],
      ['progress', 'a', '5'],
    ])
      assert.equal(bob.refusal(10, 'agent', ...args).code, 'lease', args[0]);
    assert.equal(bob.answer('agent', 'progress', 'a', '5', '--token', String(token)).progress, 5);
    assert.equal(
      refusedText(bob, 10, 'agent', 'complete', 'a', '--summary', 's'),
      lines(
        'stint: Attempt 1 of a is held by ana@desk on desk since 2026-03-17T12:00:00.000Z.',
        '  expected: the attempt that runs, with its token: --token TOKEN',
        `  legal: stint agent list ${session}, stint agent cancel a ${session}`,
        `  try: stint agent list ${session}`,
      ),
    );
    assertLegal(context, bob, bob.refusal(10, 'agent', 'progress', 'a', '5'));
    bob.answer('agent', 'complete', 'a', '--summary', 's', '--token', String(token));
    assert.deepEqual(standingsIn(world), { a: 'complete' });
    const late = bob.refusal(5, 'agent', 'progress', 'a', '5');
    assert.equal(late.message, 'No attempt of the agent a runs.');
    assertLegal(context, bob, late);
  });

  test('what an agent in doubt has done is said by whoever knows it, and stands in its file and in the brief', (context) => {
    const world = orchestrationIn(context);
    const { token } = startAgents(world, 'a', 'b');
    world.write('src/b.ts', 'b\n');
    const bob = later(as(world, 'bob'), 40);
    assert.deepEqual(bob.answer('resume').in_doubt, ['a', 'b']);
    const failed = bob.refusal(5, 'agent', 'fail', 'a', '--error', 'e');
    assertLegal(context, bob, failed);
    assertLegal(context, bob, bob.refusal(5, 'agent', 'progress', 'b', '5'));
    assert.equal(bob.refusal(10, 'agent', 'complete', 'a', '--summary', 's', '--token', String(token)).code, 'lease');
    bob.answer('resume', '--done', 'a', '--reason', '12 files');
    bob.answer('agent', 'complete', 'b', '--summary', '14 files', '--file', 'src/b.ts', '--tokens', '900');
    const [a, b] = fileIn(world).agents;
    assert.deepEqual(
      [a.status, a.result_summary, b.status, b.result_summary, b.files, b.context_tokens],
      ['complete', '12 files', 'complete', '14 files', ['src/b.ts'], 900],
    );
    assert.deepEqual(
      eventsOf(world, orchestrationKey).flatMap(({ type, actor, data }) =>
        type === 'StepSettled' ? [[actor, data.step, data.reason]] : [],
      ),
      [
        ['bob', 'a', '12 files'],
        ['bob', 'b', 'its result was told afterwards'],
      ],
    );
    const before = dumpStore(world);
    bob.answer('agent', 'complete', 'b', '--summary', '14 files', '--file', 'src/b.ts', '--tokens', '900');
    assert.deepEqual(dumpStore(world), before, 'said again it changes nothing');
    for (const text of ['12 files', '14 files']) assert.ok(say(bob, 'brief').includes(text), text);
  });

  test('files that an agent is said to have made are there, and a result that it has left is taken by whoever resumes', (context) => {
    const world = orchestrationIn(context);
    const { token, result_path: path } = startAgents(world, 'a', 'b');
    for (const file of ['nowhere.txt', '../outside.txt', '/etc/passwd'])
      assert.equal(
        world.refusal(6, 'agent', 'complete', 'a', '--summary', 's', '--file', file).code,
        'invariant-unmet',
        file,
      );
    assert.equal(
      world.refusal(6, 'agent', 'complete', 'a', '--summary', 's', '--result-file', 'no.md').code,
      'invariant-unmet',
    );
    world.write('src/a.ts', 'a\n');
    world.write('a.md', 'all of it\n');
    world.answer('agent', 'complete', 'a', '--summary', 's', '--file', 'src/a.ts', '--result-file', 'a.md');
    assert.deepEqual([fileIn(world).agents[0].files, fileIn(world).agents[0].result_file], [['src/a.ts'], 'a.md']);

    world.write(path, JSON.stringify({ token, output: 'left behind' }));
    const { adopted, in_doubt: doubtful } = later(as(world, 'bob'), 40).answer('resume');
    assert.deepEqual([adopted, doubtful], [[{ id: 'b', attempt: 1, outcome: 'completed', path }], []]);
    assert.equal(fileIn(world).agents[1].result_summary, 'left behind');
  });

  test('of an agent whose worker is gone everybody is told to resume, and that asks what it has done', (context) => {
    const world = orchestrationIn(context);
    startAgents(world, 'a', 'b');
    const bob = later(as(world, 'bob'), 40);
    const left = {
      kind: 'settle',
      text: 'a, b were left by whoever had them: resume, then say what they have done.',
      command: `stint resume ${session}`,
    };
    for (const verb of ['status', 'next', 'brief']) assert.deepEqual(bob.answer(verb).next_action, { ...left }, verb);
    assert.deepEqual(bob.answer('resume').in_doubt, ['a', 'b']);
  });

  test('a paused agent leaves its place to another, and waits for one to go on', (context) => {
    const world = orchestrationIn(context);
    startAgents(world, 'a', 'b');
    assert.equal(
      say(world, 'agent', 'pause', 'a', '--reason', 'until the schema is decided'),
      lines(
        'orchestration:ship: 0/2 agents over, 1 at work, 1 paused (open_no_artifact)',
        `next: stint agent list ${session}`,
      ),
    );
    assert.equal(fileIn(world).agents[0].paused, true);
    const before = dumpStore(world);
    world.answer('agent', 'pause', 'a');
    assert.deepEqual(dumpStore(world), before, 'paused again it stays as it is');
    startAgents(world, 'c');
    const full = world.refusal(5, 'agent', 'continue', 'a');
    assert.equal(full.message, 'No agent is started: 2 are at work (b, c), and the mode default allows 2 at once.');
    assertLegal(context, world, full);
    completeAgents(world, 'b');
    world.answer('agent', 'continue', 'a');
    assert.equal('paused' in fileIn(world).agents[0], false);
    world.answer('agent', 'pause', 'a');
    completeAgents(world, 'a');
    assert.deepEqual(standingsIn(world), { a: 'complete', b: 'complete', c: 'in_progress' });
  });

  test('a dry run starts nobody, a request is answered once, and a revision that is past starts nobody', (context) => {
    const world = orchestrationIn(context);
    const { revision } = world.answer('status');
    const before = dumpStore(world);
    assert.equal(world.answer('agent', 'start', 'a', ...work, '--dry-run').dry_run, true);
    assert.deepEqual(dumpStore(world), before);
    const asked = ['agent', 'start', 'a', ...work, '--request-id', 'r-1', '--expect-revision', String(revision)];
    const first = world.answer(...asked);
    const { replayed, ...again } = later(world, 1).answer(...asked);
    assert.deepEqual([replayed, again], [true, first]);
    assert.equal(
      world.refusal(9, 'agent', 'start', 'b', ...work, '--expect-revision', String(revision)).code,
      'conflict',
    );
    assert.deepEqual(standingsIn(world), { a: 'in_progress' });
  });

  test('nobody works on an orchestration whose agents are all paused, and lists and the report say paused', (context) => {
    const world = orchestrationIn(context);
    startAgents(world, 'a');
    assert.equal(world.answer('status').activity, 'running');
    world.answer('agent', 'pause', 'a');
    const { activity, next_action: next } = world.answer('status');
    assert.deepEqual([activity, next.command], ['none', `stint agent continue a ${session}`]);
    assert.match(say(world, 'agent', 'list'), /^a +code +paused +attempt 1 +Do a$/m);
    assert.match(say(world, 'report'), /^a +code +paused +\d+ s +Do a$/m);
    assert.deepEqual(world.answer('agent', 'list', '--status', 'in_progress').agents[0].paused, true);
  });

  test('a secret is not kept, in no field of an agent and in no file', (context) => {
    const world = orchestrationIn(context);
    const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
    world.answer('agent', 'start', 'a', '--type', 'code', '--task', `use ${secret}`);
    world.answer('agent', 'fail', 'a', '--error', `denied: ${secret}`);
    world.answer('todo', 'add', `rotate ${secret}`);
    world.answer('compress', `used ${secret}`);
    assert.doesNotMatch(readFileSync(world.path(currentFile), 'utf8'), /ghp_/);
    assert.doesNotMatch(JSON.stringify(dumpStore(world)), /ghp_/);
  });
});

suite('modes', () => {
  for (const mode of modeNames) {
    const { agents, retries, compressAt } = modes[mode];
    test(`${mode}: ${agents} at once, ${retries} retries, compressed at ${compressAt} %`, (context) => {
      const world = orchestrationIn(context, '--mode', mode);
      const ids = Array.from({ length: agents }, (_, index) => `a${index + 1}`);
      startAgents(world, ...ids);
      const full = world.refusal(5, 'agent', 'start', 'more', ...work);
      assert.deepEqual(
        [full.message, full.expected],
        [
          `No agent is started: ${agents} ${agents === 1 ? 'is' : 'are'} at work (${ids.join(', ')}), and the mode ${mode} allows ${agents} at once.`,
          `fewer than ${agents} agents at work`,
        ],
      );
      assert.deepEqual(
        full.legal,
        [`stint agent list ${session}`, ...(agents < 4 ? [`stint mode optimize ${session}`] : [])],
        'a mode that allows more',
      );
      assertLegal(context, world, full);

      // One fails until nobody starts it any more; the others are over first.
      let minute = 0;
      const decided = (): void => {
        const { checkpoint } = world.answer('show').session;
        if (checkpoint !== null) later(world, minute).answer('decide', checkpoint.node, 'continue');
      };
      for (const id of ids.slice(1)) {
        completeAgents(world, id);
        decided();
      }
      for (let failures = 1; failures <= retries + 1; failures += 1) {
        later(world, minute).answer('agent', 'fail', 'a1', '--error', 'it broke');
        decided();
        minute += 2;
        if (failures <= retries) later(world, minute).answer('agent', 'start', 'a1');
      }
      const over = later(world, minute).refusal(5, 'agent', 'start', 'a1');
      assert.equal(
        over.message,
        `The agent a1 is not started: it has failed ${retries + 1} times, and the mode ${mode} starts an agent ${retries + 1} times at most.`,
      );
      assert.deepEqual(over.legal, [
        `stint agent cancel a1 ${session}`,
        ...(mode === 'debug' ? [] : [`stint mode debug ${session}`]),
      ]);
      assertLegal(context, later(world, minute), over);

      const level = (percentage: number): string =>
        world.answer('usage', 'report', '--tokens', '1000', '--percentage', String(percentage)).level;
      assert.deepEqual([compressAt - 15.1, compressAt - 15, compressAt - 0.1, compressAt, 100].map(level), [
        'ok',
        'warn',
        'warn',
        'compress',
        'compress',
      ]);
    });
  }

  test('in default somebody decides after each wave; what is decided is on record, and is not decided otherwise', (context) => {
    const world = orchestrationIn(context);
    startAgents(world, 'a', 'b');
    completeAgents(world, 'a');
    assert.equal(
      say(world, 'agent', 'complete', 'b', '--summary', 'b is done'),
      lines(
        'orchestration:ship: 2/2 agents over, wave-1 waits for a decision (open_with_artifact)',
        `next: stint finish ${session}`,
      ),
    );
    assert.equal(
      refusedText(world, 5, 'agent', 'start', 'c', ...work),
      lines(
        'stint: No agent is started: wave-1 waits for a decision.',
        '  expected: continue, pause or abort',
        `  legal: stint decide wave-1 continue ${session}`,
        `  try: stint decide wave-1 continue ${session}`,
      ),
    );
    assertLegal(context, world, world.refusal(5, 'agent', 'start', 'c', ...work));
    assert.deepEqual(standingsIn(world), { a: 'complete', b: 'complete' }, 'nobody hears of one that was not started');
    assert.equal(
      refusedText(world, 4, 'decide', 'wave-2', 'continue'),
      lines(
        'stint: There is no checkpoint wave-2 to be decided about.',
        '  expected: a checkpoint that waits for a decision',
        `  legal: stint decide wave-1 continue ${session}`,
        '  perhaps: wave-1',
        `  try: stint decide wave-1 continue ${session}`,
      ),
    );
    assert.equal(world.refusal(2, 'decide', 'wave-1', 'perhaps').code, 'usage');
    assert.equal(
      say(world, 'decide', 'wave-1', 'pause', '--reason', 'lunch'),
      lines(
        'wave-1: pause',
        'orchestration:ship: 2/2 agents over (open_with_artifact)',
        `next: stint resume ${session}`,
      ),
    );
    assert.equal(fileIn(world).status, 'paused');
    assert.equal(
      world.refusal(9, 'decide', 'wave-1', 'abort').message,
      'wave-1 was decided at 2026-03-17T12:00:00.000Z by ana@desk: pause.',
    );
    world.answer('continue');
    startAgents(world, 'c');
    completeAgents(world, 'c');
    world.answer('decide', 'wave-2', 'abort', '--reason', 'the wrong way');
    assert.deepEqual([fileIn(world, historyFile('ship')).status, world.run('continue').status], ['aborted', 4]);

    // Gone on with, the question that was answered with abort is asked again.
    world.answer('reopen', '--session', orchestrationKey);
    assert.equal(world.answer('show').session.checkpoint.node, 'wave-2');
    world.answer('decide', 'wave-2', 'continue');
    startAgents(world, 'd');
    const said = eventsOf(world, orchestrationKey).filter(({ type }) => type === 'CheckpointDecided');
    assert.deepEqual(
      said.map(({ data }) => [data.node, data.answer]),
      [
        ['wave-1', 'pause'],
        ['wave-2', 'abort'],
        ['wave-2', 'continue'],
      ],
    );
    assertSound(world);
  });

  test('debug and release ask after every agent, and release after every failure; optimize goes on by itself after a clean wave', (context) => {
    const waiting = (world: TestWorld): unknown => world.answer('show').session.checkpoint?.why ?? null;
    const release = orchestrationIn(context, '--mode', 'release');
    startAgents(release, 'a', 'b', 'c');
    completeAgents(release, 'a');
    assert.equal(waiting(release), 'agent');
    release.answer('decide', 'wave-1', 'continue');
    release.answer('agent', 'fail', 'b', '--error', 'it broke', '--class', 'transient');
    assert.equal(waiting(release), 'failure', 'every failure, not only a permanent one');

    const optimize = orchestrationIn(context, '--mode', 'optimize');
    startAgents(optimize, 'a', 'b');
    completeAgents(optimize, 'a', 'b');
    assert.equal(waiting(optimize), null);
    startAgents(optimize, 'c', 'd');
    optimize.answer('agent', 'fail', 'c', '--error', 'it broke', '--class', 'logical');
    assert.equal(waiting(optimize), null, 'others are at work');
    completeAgents(optimize, 'd');
    assert.equal(waiting(optimize), 'wave');
    optimize.answer('decide', 'wave-2', 'continue');
    startAgents(optimize, 'e', 'f');
    optimize.answer('agent', 'fail', 'e', '--error', 'it broke', '--class', 'permanent');
    assert.equal(waiting(optimize), 'failure', 'a permanent one is told at once');

    const debug = orchestrationIn(context, '--mode', 'debug');
    startAgents(debug, 'a');
    completeAgents(debug, 'a');
    assert.equal(waiting(debug), 'agent');
  });

  test('after a failure the next action says how long to wait; after three in a row the agent is left alone for a minute', (context) => {
    const world = orchestrationIn(context, '--mode', 'debug');
    const waits: string[] = [];
    for (let failures = 1; failures <= 3; failures += 1) {
      later(world, failures).answer('agent', 'start', 'a', ...work);
      later(world, failures).answer('agent', 'fail', 'a', '--error', 'it broke');
      later(world, failures).answer('decide', `wave-${failures}`, 'continue');
      waits.push(later(world, failures).answer('status').next_action.text);
    }
    assert.deepEqual(waits.slice(0, 2), [
      'Start a: work. It has failed once.',
      'Start a: work. It has failed 2 times; wait 2 s first.',
    ]);
    const at = (seconds: number): TestWorld =>
      world.with({ now: new Date(Date.parse('2026-03-17T12:03:00Z') + seconds * 1000).toISOString() });
    assert.equal(
      refusedText(at(59), 5, 'agent', 'start', 'a'),
      lines(
        'stint: The agent a is not started: it has failed 3 times in a row, and is left alone until 2026-03-17T12:04:00.000Z.',
        '  expected: a start after 2026-03-17T12:04:00.000Z',
        `  legal: stint agent cancel a ${session}`,
        `  try: stint agent list ${session}`,
      ),
    );
    assertLegal(context, at(59), at(59).refusal(5, 'agent', 'start', 'a'));
    const circuit = (seconds: number): unknown => at(seconds).answer('agent', 'list').agents[0].circuit;
    assert.deepEqual([circuit(59), circuit(60)], ['open', 'half-open']);
    at(60).answer('agent', 'start', 'a');
    at(61).answer('agent', 'fail', 'a', '--error', 'it broke again');
    assert.equal(circuit(62), 'open', 'one try was made');
    at(61).answer('decide', 'wave-4', 'continue');
    at(130).answer('agent', 'start', 'a');
    at(130).answer('agent', 'complete', 'a', '--summary', 'done');
    assert.equal(circuit(131), 'closed');
  });

  test('the mode may be changed while agents are at work: from the next start on its limits hold', (context) => {
    const world = orchestrationIn(context, '--mode', 'optimize');
    startAgents(world, 'a', 'b', 'c');
    assert.equal(
      say(world, 'mode', 'debug'),
      lines(
        'mode debug  orchestration:ship: 0/3 agents over, 3 at work (open_no_artifact)',
        `next: stint agent list ${session}`,
      ),
    );
    assert.match(
      world.refusal(5, 'agent', 'start', 'd', ...work).message,
      /3 are at work \(a, b, c\), and the mode debug allows 1/,
    );
    const before = dumpStore(world);
    world.answer('mode', 'debug');
    assert.deepEqual(dumpStore(world), before, 'the mode that it has changes nothing');
    assert.equal(world.refusal(2, 'mode', 'fast').code, 'usage');
    assert.equal(fileIn(world).mode, 'debug');
  });
});

suite('what is used, what is to be done, what was done', () => {
  test('usage is reported as often as anybody likes without an event, and is kept with what happens next', (context) => {
    const world = orchestrationIn(context);
    startAgents(world, 'a');
    const events = typesOf(world).length;
    const { revision } = world.answer('status');
    assert.equal(
      say(world, 'usage', 'report', '--tokens', '90000', '--exchanges', '21', '--reply-tokens', '3001'),
      lines(
        'compress  compressed at 70 %',
        '70.3 % of the context is used',
        '21 exchanges since it was compressed',
        'a reply of 3001 tokens',
        `next: stint compress ${session}`,
      ),
    );
    assert.equal(
      world.answer('usage', 'report', '--tokens', '90000', '--window', '200000').context_usage.percentage,
      45,
    );
    assert.equal(world.answer('usage', 'report', '--tokens', '1', '--exchanges', '21').level, 'warn');
    assert.equal(world.answer('usage', 'report', '--tokens', '90000', '--percentage', '19.5').level, 'ok');
    for (let percent = 1; percent <= 5; percent += 1) world.answer('agent', 'progress', 'a', String(percent));
    assert.deepEqual([typesOf(world).length, world.answer('status').revision], [events, revision]);
    assert.equal(fileIn(world).context_usage.percentage, 0);
    assert.deepEqual(
      [world.answer('report').context_usage.percentage, world.answer('agent', 'list').agents[0].progress],
      [19.5, 5],
    );
    world.answer('todo', 'add', 'tests');
    assert.deepEqual(fileIn(world).context_usage, {
      estimated_tokens: 90_000,
      percentage: 19.5,
      last_compression: null,
    });
    assert.equal(fileIn(world).agents[0].progress, 5);
    for (const args of [
      ['--percentage', '5'],
      ['--tokens', '-1'],
      ['--tokens', '1.5'],
      ['--tokens', '1', '--percentage', '101'],
      ['--tokens', '1', '--percentage', '5', '--window', '10'],
    ])
      assert.equal(world.refusal(2, 'usage', 'report', ...args).code, 'usage', args.join(' '));
  });

  test('a compression is an event with its summary: that of a text, of a file, or the brief', (context) => {
    const world = orchestrationIn(context);
    world.answer('usage', 'report', '--tokens', '90000', '--percentage', '71');
    assert.equal(
      say(later(world, 1), 'compress', 'Half of it is done.'),
      lines(
        'compressed  orchestration:ship: nothing begun (open_no_artifact)',
        `next: stint todo add 'Ship it' ${session}`,
        '',
        'Half of it is done.',
      ),
    );
    const [sampled, compressed] = eventsOf(world, orchestrationKey).slice(-2);
    assert.deepEqual(
      [sampled.type, compressed.type, compressed.data],
      ['Sampled', 'Compressed', { summary: 'Half of it is done.', usage: { tokens: 90_000, percentage: 71 } }],
    );
    const events = typesOf(world).length;
    later(world, 2).answer('compress', 'Half of it is done.');
    assert.equal(typesOf(world).length, events, 'the same text again');
    world.write('summary.md', 'of a file\n');
    assert.equal(later(world, 3).answer('compress', '--summary', 'summary.md').summary, 'of a file\n');
    assert.match(later(world, 4).answer('compress').summary, /^## .*RESUMING SESSION\n\n\*\*Session ID\*\*: ship\n/);
    assert.equal(fileIn(world).context_usage.last_compression, '2026-03-17T12:04:00Z');
    assert.equal(world.refusal(2, 'compress', ' ').code, 'usage');
  });

  test('a todo is added once and done once; what is done goes to the completed work, what is dropped nowhere', (context) => {
    const world = orchestrationIn(context);
    assert.equal(
      say(world, 'todo', 'add', 'tests'),
      lines('todo 1  orchestration:ship: 1 to do (open_no_artifact)', `next: stint todo done 1 ${session}`),
    );
    world.answer('todo', 'add', 'docs');
    const before = dumpStore(world);
    assert.equal(world.answer('todo', 'add', 'tests').todo, 1);
    assert.deepEqual(dumpStore(world), before, 'the same text is there');
    world.write('test/a.test.ts', 'test\n');
    assert.equal(world.refusal(6, 'todo', 'done', '1', '--file', 'test/b.test.ts').code, 'invariant-unmet');
    world.answer('todo', 'done', '1', '--outcome', '14 tests', '--file', 'test/a.test.ts');
    const events = typesOf(world).length;
    for (const again of [
      ['done', '1', '--outcome', 'another'],
      ['drop', '1'],
    ])
      world.answer('todo', ...again);
    assert.equal(typesOf(world).length, events, 'one that is over is left as it is');
    assert.deepEqual(
      [fileIn(world).pending_tasks, fileIn(world).completed_work],
      [['docs'], [{ task: 'tests', outcome: '14 tests', files: ['test/a.test.ts'] }]],
    );
    assert.equal(
      refusedText(world, 4, 'todo', 'done', '7'),
      lines(
        'stint: There is no todo 7.',
        '  expected: the number of a todo',
        '  perhaps: 2: docs',
        `  try: stint status ${session}`,
      ),
    );
    assert.equal(world.answer('report').progress, 50, 'without agents: the part of the todos that is done');
    world.answer('todo', 'drop', '2', '--reason', 'out of scope');
    assert.deepEqual([fileIn(world).pending_tasks, listOf(fileIn(world).completed_work).length], [[], 1]);
    assert.equal(world.answer('todo', 'add', 'docs').todo, 3, 'a number is given once');
    const unfinished = world.refusal(6, 'finish');
    assert.equal(unfinished.message, 'orchestration:ship is not complete: todo 3 (docs) is to be done.');
    assertLegal(context, world, unfinished);
  });

  test('progress is the mean over the agents that are not cancelled, and says so; what is not done never looks done', (context) => {
    const world = orchestrationIn(context, '--mode', 'optimize');
    const overall = (): readonly unknown[] => {
      const { progress, progress_formula: formula } = world.answer('report');
      return [progress, formula];
    };
    assert.deepEqual(overall(), [null, 'nothing is to be done yet']);
    startAgents(world, 'a', 'b', 'c');
    completeAgents(world, 'a');
    world.answer('agent', 'progress', 'b', '60');
    assert.deepEqual(overall(), [53, 'the mean over 3 agents that are not cancelled, a complete one counts 100']);
    world.answer('agent', 'cancel', 'c');
    assert.deepEqual(overall(), [80, 'the mean over 2 agents that are not cancelled, a complete one counts 100']);
    assert.equal(world.answer('brief').progress.percent, 80, 'the brief says the same');
    completeAgents(world, 'b');
    world.answer('todo', 'add', 'tests');
    const formula =
      'the mean over 2 agents that are not cancelled, a complete one counts 100; at most 99 while anything is left';
    assert.deepEqual(overall(), [99, formula]);
  });

  test('whoever tells how far it is tells the same number, by the same formula', (context) => {
    const world = orchestrationIn(context, '--mode', 'optimize');
    startAgents(world, 'a', 'b');
    completeAgents(world, 'a');
    world.answer('todo', 'add', 'tests');
    const assertEverywhere = (percent: number, formula: string): void => {
      const { progress, progress_formula: stated } = world.answer('status');
      const { progress: reported, progress_formula: reportedBy } = world.answer('report');
      const [live] = listOf(world.answer('progress', '--once').sessions);
      const [drawn] = /\d+%/.exec(say(world, 'progress', '--once')) ?? [];
      assert.deepEqual(
        { progress, reported, live: live.fraction, drawn, brief: world.answer('brief').progress },
        {
          progress: percent,
          reported: percent,
          live: percent / 100,
          drawn: `${percent}%`,
          brief: { percent, formula },
        },
      );
      assert.deepEqual([stated, reportedBy], [formula, formula]);
    };
    const mean = 'the mean over 2 agents that are not cancelled, a complete one counts 100';
    assertEverywhere(50, mean);
    world.answer('agent', 'progress', 'b', '16');
    assertEverywhere(58, mean);
    completeAgents(world, 'b');
    assertEverywhere(99, `${mean}; at most 99 while anything is left`);
    world.answer('todo', 'done', '1');
    assertEverywhere(100, mean);
    world.answer('finish');
    const [over] = listOf(world.answer('history').sessions);
    assert.deepEqual([over.progress, world.answer('report', orchestrationKey).progress], [100, 100]);
  });

  test('the report has all of it, of an open one and of one that is over', (context) => {
    const world = orchestrationIn(context);
    startAgents(world, 'a', 'b');
    later(world, 2).answer('agent', 'complete', 'a', '--summary', 'a is done');
    later(world, 3).answer('agent', 'fail', 'b', '--error', 'it broke');
    world.answer('note', 'decision', 'Leave b out', '--rationale', 'nobody needs it');
    world.answer('todo', 'add', 'tests');
    world.answer('todo', 'add', 'docs');
    world.answer('todo', 'done', '1', '--outcome', '14 tests');
    world.answer('usage', 'report', '--tokens', '25000', '--percentage', '20');
    world.answer('block', 'no key', '--needs', 'one from ops');
    const report = (status: string): string =>
      lines(
        `orchestration:ship  ${status}`,
        'goal                Ship it',
        'mode                default',
        'took                300 s',
        'progress            50 % (the mean over 2 agents that are not cancelled, a complete one counts 100)',
        'context             20 % (25000 tokens)',
        'a  code  complete  120 s  a is done',
        'b  code  failed    180 s  it broke',
        'done: tests (14 tests)',
        'left: docs',
        'blocked: no key (needs one from ops)',
        'decided: Leave b out (nobody needs it)',
        'failed: b, attempt 1: it broke',
      );
    assert.equal(say(later(world, 5), 'report'), report('in_progress'));
    later(world, 5).answer('finish', '--abort');
    assert.equal(say(later(world, 9), 'report', orchestrationKey), report('aborted'));
  });

  test('nobody knows how long an agent in doubt has worked, and the report does not count on', (context) => {
    const world = orchestrationIn(context);
    startAgents(world, 'a');
    assert.equal(later(world, 5).answer('report').agents[0].seconds, 300);
    later(world, 40).answer('resume');
    assert.equal(later(world, 50).answer('report').agents[0].seconds, null);
  });
});

suite('the history', () => {
  test('it is sorted by when sessions were begun, whatever they are called; a number shows one', (context) => {
    const world = createWorld(context);
    later(world, 1).answer('new', '--goal', 'First', '--name', '2026-03-17-zzzzzz');
    later(world, 2).answer('new', '--goal', 'Second', '--name', '2026-03-17-aaaaaa');
    later(world, 3).answer('new', '--goal', 'Third', '--name', '2026-03-17-mmmmmm', '--mode', 'debug');
    later(world, 4).answer('finish', '--abort');
    assert.equal(
      say(world, 'history'),
      lines(
        '1  2026-03-17  2026-03-17-mmmmmm  aborted  Third',
        '2  2026-03-17  2026-03-17-aaaaaa  aborted  Second',
        '3  2026-03-17  2026-03-17-zzzzzz  aborted  First',
      ),
    );
    const second = say(world, 'history', 'show', '2');
    assert.match(second, /^orchestration:2026-03-17-aaaaaa {2}aborted\ngoal/);
    for (const same of [
      ['history', '2'],
      ['history', 'show', '2026-03-17-aaaaaa'],
      ['history', 'show', 'orchestration:2026-03-17-aaaaaa'],
    ])
      assert.equal(say(world, ...same), second, same.join(' '));
    assert.equal(
      refusedText(world, 4, 'history', 'show', '4'),
      lines(
        'stint: There is no orchestration 4 that is over.',
        '  expected: a number from 1 to 3, or a name',
        '  try: stint history',
      ),
    );
    assert.deepEqual(
      world.refusal(4, 'history', 'resume', '2026-03-17-aaaaab').candidates[0],
      'orchestration:2026-03-17-aaaaaa',
    );
    assert.equal(world.refusal(2, 'history', '2', '--limit', '1').code, 'usage');
  });

  test('one that was complete goes on too, and is complete again with what was added', (context) => {
    const world = orchestrationIn(context);
    startAgents(world, 'a');
    completeAgents(world, 'a');
    world.answer('finish');
    assert.equal(
      refusedText(later(world, 1), 4, 'continue'),
      lines(
        'stint: No session is open in this checkout; the last one, orchestration:ship, was closed 1 minute ago (completed).',
        '  expected: an open session of this checkout, or --session',
        '  legal: stint reopen --session orchestration:ship',
        '  perhaps: orchestration:ship',
        '  try: stint reopen --session orchestration:ship',
      ),
    );
    assertLegal(context, world, world.refusal(4, 'continue'));
    later(world, 2).answer('history', 'resume', '1', '--reason', 'one thing is missing');
    assert.deepEqual(fileIn(world).status, 'in_progress');
    assert.equal(
      world.refusal(5, 'agent', 'start', 'a').code,
      'illegal-transition',
      'what is finished is not done again',
    );
    world.answer('todo', 'add', 'the one thing');
    world.answer('todo', 'done', '1');
    world.answer('finish');
    const { status, completed_work: done } = fileIn(world, historyFile('ship'));
    assert.deepEqual([status, done[0].task], ['complete', 'the one thing']);
  });

  test('a file that could not be written costs nothing: the verb is answered, and the next one writes it', (context) => {
    const world = orchestrationIn(context);
    rmSync(world.path('.claude'), { recursive: true });
    world.write('.claude', 'a file stands in the way\n');
    const { status, stderr } = world.run('todo', 'add', 'tests');
    assert.equal(status, 0);
    assert.match(stderr, /^stint: warning: /);
    rmSync(world.path('.claude'));
    world.answer('todo', 'add', 'docs');
    assert.deepEqual(fileIn(world).pending_tasks, ['tests', 'docs']);
    assertSound(world);
  });
});
