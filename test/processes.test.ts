/** Processes of a session, by whole runs of the verbs: real programs that are killed, and what everybody then sees. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { openStint } from '../src/index.ts';
import { hashEvent } from '../src/kernel/event.ts';
import type { JsonObject } from '../src/lib/canonical-json.ts';
import { processesOf, startProcess, startProgram } from './support/processes.ts';
import { advanceTo, completeRound, name, reviewIn, session } from './support/reviews.ts';
import { assertSound, dumpStore, eventsOf, tamper } from './support/stores.ts';
import { createWorld, fileOnly, later, listOf, noon, say, type Printed, type TestWorld } from './support/world.ts';

/** The events about processes, without those of the session itself. */
const processEvents = (world: TestWorld, key = session): readonly Printed[] =>
  eventsOf(world, key).filter(({ type }) => String(type).startsWith('Process'));

/** Who has ended, and how. */
const endsOf = (world: TestWorld): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.values(processesOf(world))
      .filter(({ status }) => status !== 'running')
      .map(({ called, status }) => [called, status]),
  );

suite('process start', () => {
  test('answers the row of the process: the keys of the original, and ours', async (context) => {
    const world = reviewIn(context, 'reviews');
    const { pid } = await startProgram(context);
    const lead = startProcess(world, 'supervisor', '--role', 'lead');
    const { id, ...row } = world.answer(
      ...['process', 'start', '--kind', 'instance', '--role', 'reviewer', '--persona', 'principal'],
      ...['--instance', '2', '--vendor', 'claude-code', '--model', 'm-1', '--phase', 'reviews', '--pid', String(pid)],
      ...['--note', 'the second one'],
    );
    assert.match(id, /^[0-9A-HJKMNP-TV-Z]{26}$/);
    assert.deepEqual(row, {
      schema_version: 1,
      session,
      workflow_id: name,
      vendor: 'claude-code',
      vendor_session_id: null,
      persona: 'principal',
      instance_index: 2,
      name: null,
      role: 'reviewer',
      resolved_model: 'm-1',
      phase: 'reviews',
      status: 'running',
      liveness: 'alive',
      kind: 'instance',
      parent: lead,
      host: 'desk',
      pid,
      started_at: noon,
      last_heartbeat_at: noon,
      ended_at: null,
      exit_code: null,
      notes: 'the second one',
      called: 'principal-2',
      resume_command: null,
      revision: row.revision,
    });
    assert.equal(row.revision, world.answer('status').revision, 'the session has not moved');
    assert.equal(say(world, 'process', 'start', '--kind', 'utility'), 'ULID\n', 'its id alone, for scripts');
    const again = world.run('process', 'start', '--kind', 'utility', '--request-id', 'r', '--quiet');
    assert.equal(again.stdout, '');
    const repeated = world.run('process', 'start', '--kind', 'utility', '--request-id', 'r');
    assert.match(repeated.stdout, /^[0-9A-Z]{26}\n$/, 'a remark about it is no part of the id');
    assert.match(repeated.stderr, /^stint: this request was carried out before/);
    assertSound(world);
  });

  test('takes what is needed to know whom it is about, and refuses everything else by its name', async (context) => {
    const world = reviewIn(context, 'context');
    const before = dumpStore(world);
    const opened = openStint({ cwd: world.project });
    assert.ok(opened.ok);
    const table: readonly (readonly [RegExp, JsonObject])[] = [
      [/kind is missing/, {}],
      [/kind must be one of supervisor, instance, utility/, { kind: 'lead' }],
      [/pid expected at least 1/, { kind: 'instance', pid: 0 }],
      [/pid expected at most 2147483647/, { kind: 'instance', pid: 2 ** 31 }],
      [/pid expected a whole number/, { kind: 'instance', pid: 1.5 }],
      [/instance expected at least 1/, { kind: 'instance', instance: 0 }],
      [/there is no field exit-code/, { kind: 'instance', exit_code: 1 }],
      ...['role', 'persona', 'name', 'vendor', 'model', 'phase'].flatMap((field): [RegExp, JsonObject][] => [
        [new RegExp(`${field} must not be blank`), { kind: 'instance', [field]: ' ' }],
        [new RegExp(`${field} must be one line`), { kind: 'instance', [field]: 'a\nnext: b' }],
        [new RegExp(`${field} must be one line`), { kind: 'instance', [field]: 'a'.repeat(201) }],
      ]),
    ];
    for (const [message, input] of table) {
      const refused = await opened.value.run('process start', input);
      assert.ok(!refused.ok, String(message));
      assert.equal(refused.error.refusal.code, 'usage');
      assert.match(refused.error.refusal.message, message);
    }
    await opened.value.close();
    assert.match(world.refusal(2, 'process', 'start', '--pid', 'x').message, /--pid takes a whole number/);
    assert.deepEqual(dumpStore(world), before);
  });

  test('is refused where there is no such session, pid or supervisor, where several are open, and where it has moved', async (context) => {
    const world = reviewIn(context, 'context');
    const start = ['process', 'start', '--kind', 'instance'];
    const before = dumpStore(world);
    assert.equal(world.refusal(4, ...start, '--session', 'nobody').code, 'not-found');
    const gone = await startProgram(context);
    await gone.kill();
    const noPid = world.refusal(4, ...start, '--pid', String(gone.pid));
    assert.equal(noPid.message, `No process ${gone.pid} runs on desk.`);
    const noParent = world.refusal(4, ...start, '--parent', 'nobody');
    assert.deepEqual([noParent.message, noParent.candidates], ['No supervisor nobody runs here.', []]);
    assert.equal(world.refusal(9, ...start, '--expect-revision', '7').code, 'conflict');
    assert.deepEqual(dumpStore(world), before);
    world.answer('begin', 'review', '--name', 'other', '--branch', 'other');
    assert.equal(world.refusal(3, ...start).code, 'ambiguous');
    assert.equal(world.with({ env: { STINT_SESSION: 'other' } }).answer(...start).session, 'review:other');
  });

  test('is refused on a closed session, which says how it goes on', (context) => {
    const world = reviewIn(context, 'context');
    world.answer('finish', '--abort');
    const { code, legal } = world.refusal(5, 'process', 'start', '--kind', 'instance', '--session', name);
    assert.deepEqual([code, legal], ['illegal-transition', [`stint begin review --name ${name}`]]);
    world.answer('begin', 'review', '--name', name);
    startProcess(world, 'instance');
  });

  test('redacts secrets in remarks, and shows no control character of what it was told', (context) => {
    const world = reviewIn(context, 'context');
    const token = `ghp_${'A1b2C3d4E5f6'.repeat(3)}`;
    const { notes, redacted } = world.answer(
      'process',
      'start',
      '--kind',
      'utility',
      '--note',
      `with ${token}\u001b[2J`,
    );
    assert.match(notes, /^with \[REDACTED\]/);
    assert.equal(Object.keys(redacted).length, 1);
    assert.doesNotMatch(world.run('process', 'list').stdout, /\u001b/);
  });
});

suite('process beat', () => {
  test('keeps when a process was last heard of, and no event; a clock that went back takes nothing away', (context) => {
    const world = reviewIn(context, 'context');
    const id = startProcess(world, 'instance');
    const events = eventsOf(world, session).length;
    assert.equal(later(world, 3).answer('process', 'beat', id).last_heartbeat_at, '2026-03-17T12:03:00.000Z');
    assert.equal(later(world, 2).answer('process', 'beat', id).last_heartbeat_at, '2026-03-17T12:03:00.000Z');
    assert.equal(say(later(world, 4), 'process', 'beat', id), 'ULID  heard of at 2026-03-17T12:04:00.000Z\n');
    assert.equal(eventsOf(world, session).length, events);
    assertSound(world);
  });

  test('means the process by its id, the first characters of it, or STINT_PROCESS, and never guesses', (context) => {
    const world = reviewIn(context, 'context');
    const [first, second] = [startProcess(world, 'instance'), startProcess(later(world, 1), 'instance')];
    const unique = Array.from(second).findIndex((character, at) => character !== first[at]) + 1;
    assert.equal(world.answer('process', 'beat', second.slice(0, unique)).id, second);
    assert.equal(world.with({ env: { STINT_PROCESS: first } }).answer('process', 'beat').id, first);
    assert.equal(world.answer('process', 'beat', '--process', first).id, first);
    assert.equal(world.with({ env: { STINT_PROCESS: first } }).answer('process', 'beat', second).id, second);
    const several = world.refusal(3, 'process', 'beat', second.slice(0, 6));
    assert.deepEqual([several.code, several.candidates], ['ambiguous', [first, second]]);
    assert.equal(world.refusal(2, 'process', 'beat').message, 'No process is named.');
    for (const id of ['nobody', first.slice(0, 3), `${first}X`]) {
      const { code, candidates } = world.refusal(4, 'process', 'beat', id);
      assert.deepEqual([code, candidates], ['not-found', [first, second]], id);
    }
  });

  test('is refused of a process that has ended, and where there is no store', (context) => {
    const world = reviewIn(context, 'context');
    const id = startProcess(world, 'instance');
    world.answer('process', 'end', id);
    const before = dumpStore(world);
    const { code, message, legal } = later(world, 5).refusal(5, 'process', 'beat', id);
    assert.deepEqual(
      [code, message, legal],
      [
        'illegal-transition',
        `The process ${id} ended at ${noon}: done.`,
        [`stint process start --kind instance --session ${session}`],
      ],
    );
    assert.deepEqual(dumpStore(world), before);
    assert.equal(createWorld(context).refusal(4, 'process', 'beat', id).code, 'not-found');
  });
});

suite('process bind', () => {
  test('binds once: the same id again changes nothing, another one is a conflict, an ended process is refused', (context) => {
    const world = reviewIn(context, 'context');
    const id = startProcess(world, 'instance', '--vendor', 'codex');
    const first = world.answer('process', 'bind', id, 'v-1');
    assert.deepEqual([first.vendor_session_id, first.resume_command], ['v-1', 'codex resume v-1']);
    assert.deepEqual(world.answer('process', 'bind', id, 'v-1'), first);
    assert.equal(say(world, 'process', 'bind', id, 'v-1'), 'ULID  bound to v-1\n');
    const { code, message } = world.refusal(9, 'process', 'bind', id, 'v-2');
    assert.deepEqual([code, message], ['conflict', `The process ${id} is already bound to v-1.`]);
    world.answer('process', 'end', id);
    world.answer('process', 'bind', id, 'v-1');
    world.refusal(9, 'process', 'bind', id, 'v-2');
    const other = startProcess(world, 'instance');
    world.answer('process', 'end', other);
    assert.equal(world.refusal(5, 'process', 'bind', other, 'v-3').code, 'illegal-transition');
    assert.equal(processEvents(world).filter(({ type }) => type === 'ProcessBound').length, 1);
  });

  test('takes no id that means something to a shell, and is a sign of life', (context) => {
    const world = reviewIn(context, 'context');
    const id = startProcess(world, 'instance');
    for (const vendor of ['a b', '$(x)', 'a;b', `a'b`, 'a/b', 'ü', '_x', 'a'.repeat(257), ' '])
      assert.equal(world.refusal(2, 'process', 'bind', id, vendor).code, 'usage', vendor);
    assert.equal(world.refusal(2, 'process', 'bind', id, '--', '-x').code, 'usage');
    assert.equal(world.refusal(2, 'process', 'bind', id).code, 'usage');
    const longest = `a${'._:-'.repeat(63)}xyz`;
    const bound = later(world, 9).answer('process', 'bind', id, longest);
    assert.deepEqual([bound.vendor_session_id, bound.last_heartbeat_at], [longest, '2026-03-17T12:09:00.000Z']);
  });

  test('status and list say how the newest bound process is gone on with, whatever became of it', (context) => {
    const world = reviewIn(context, 'context');
    assert.equal(world.answer('status').resume, null);
    const table = [
      ['claude-code', 'claude --resume v-1'],
      ['opencode', 'opencode --session v-2'],
      ['somebody', null],
    ] as const;
    for (const [index, [vendor, command]] of table.entries()) {
      const id = startProcess(world, 'instance', '--vendor', vendor);
      startProcess(world, 'instance', '--vendor', 'codex');
      world.answer('process', 'bind', id, `v-${index + 1}`);
      world.answer('process', 'end', id, '--outcome', 'crashed');
      assert.deepEqual(world.answer('status').resume, {
        process: id,
        vendor,
        vendor_session_id: `v-${index + 1}`,
        command,
      });
      assert.equal(processesOf(world)[id].resume_command, command);
      const shown = /^resume with +(.*)$/m.exec(say(world, 'status'))?.[1] ?? null;
      assert.equal(shown, command);
    }
  });
});

suite('process end', () => {
  test('says what is known: the outcome by the exit code where it is not given, and no code that nobody knows', (context) => {
    const world = reviewIn(context, 'context');
    const table = [
      [[], 'done', null],
      [['--exit-code', '0'], 'done', 0],
      [['--exit-code', '137'], 'crashed', 137],
      [['--outcome', 'crashed'], 'crashed', null],
      [['--outcome', 'cancelled'], 'cancelled', null],
      [['--outcome', 'cancelled', '--exit-code', '130'], 'cancelled', 130],
    ] as const;
    for (const [flags, outcome, code] of table) {
      const id = startProcess(world, 'instance', '--note', 'before');
      const answer = later(world, 1).answer('process', 'end', id, ...flags);
      const { status, exit_code: exitCode, ended_at: endedAt, liveness, notes } = answer;
      assert.deepEqual(
        [status, exitCode, endedAt, liveness, notes],
        [outcome, code, '2026-03-17T12:01:00.000Z', 'ended', 'before'],
      );
      const line = `ULID  ${outcome}${code === null ? '' : `, exit code ${code}`}\n`;
      assert.equal(say(later(world, 2), 'process', 'end', id, ...flags), line, 'and again');
      assert.equal(processesOf(world)[id].ended_at, '2026-03-17T12:01:00.000Z');
    }
    assert.equal(processEvents(world).filter(({ type }) => type === 'ProcessEnded').length, table.length);
    assertSound(world);
  });

  test('saying something else of an end is a conflict, and nobody says of himself that he is orphaned', (context) => {
    const world = reviewIn(context, 'context');
    const id = startProcess(world, 'instance');
    world.answer('process', 'end', id, '--exit-code', '3', '--note', 'out of memory');
    const before = dumpStore(world);
    for (const flags of [[], ['--exit-code', '4'], ['--outcome', 'cancelled'], ['--outcome', 'done']]) {
      const { code, message } = world.refusal(9, 'process', 'end', id, ...flags);
      assert.deepEqual([code, message], ['conflict', `The process ${id} ended at ${noon}: crashed, exit code 3.`]);
    }
    assert.equal(world.refusal(2, 'process', 'end', id, '--outcome', 'orphaned').code, 'usage');
    assert.equal(world.refusal(2, 'process', 'end', id, '--exit-code', '-9').code, 'usage');
    assert.equal(world.refusal(4, 'process', 'end', 'nobody').code, 'not-found');
    assert.equal(world.refusal(2, 'process', 'end').code, 'usage');
    assert.deepEqual(dumpStore(world), before);
  });

  test('a supervisor that crashed takes its instances along and interrupts the session; one that is done does neither', (context) => {
    for (const outcome of ['crashed', 'done']) {
      const world = reviewIn(context, 'reviews');
      const lead = startProcess(world, 'supervisor', '--name', 'lead');
      startProcess(world, 'instance', '--name', 'ada');
      world.with({ env: { STINT_PROCESS: lead } }).answer('process', 'end', '--outcome', outcome);
      const { activity, activity_since: since, status } = world.answer('status');
      const isLost = outcome === 'crashed';
      assert.deepEqual(endsOf(world), isLost ? { lead: 'crashed', ada: 'cancelled' } : { lead: 'done' });
      assert.deepEqual(
        [activity, since, status],
        isLost ? ['interrupted', noon, 'active'] : ['running', null, 'active'],
      );
      if (isLost) {
        const ends = processEvents(world).filter(({ type }) => type === 'ProcessEnded');
        assert.equal(new Set(ends.map(({ cause }) => cause)).size, 1, 'in one request');
      }
    }
  });
});

test('a request that comes again is carried out once, whatever the verb', async (context) => {
  const world = reviewIn(context, 'context');
  const program = await startProgram(context);
  const twice = (id: string, ...args: readonly string[]): Printed => {
    const first = world.answer(...args, '--request-id', id);
    const before = dumpStore(world);
    assert.deepEqual(world.answer(...args, '--request-id', id), { ...first, replayed: true });
    assert.deepEqual(dumpStore(world), before);
    return first;
  };
  const lead = twice('r1', 'process', 'start', '--kind', 'supervisor', '--pid', String(program.pid));
  const other = twice('r2', 'process', 'start', '--kind', 'instance');
  assert.notEqual(lead.id, other.id);
  assert.equal(world.refusal(9, 'process', 'start', '--kind', 'utility', '--request-id', 'r2').code, 'conflict');
  twice('r3', 'process', 'bind', other.id, 'v-1');
  twice('r4', 'process', 'end', other.id);
  assert.deepEqual(twice('r5', 'process', 'sweep').swept, []);
  await program.kill();
  assert.deepEqual(world.answer('process', 'sweep', '--request-id', 'r5').swept, [], 'what was answered then');
  assert.equal(twice('r6', 'process', 'sweep').swept[0].id, lead.id);
  assert.equal(processEvents(world).length, 5);
});

test('a dry run says what would be, and leaves everything as it was', async (context) => {
  const world = reviewIn(context, 'context');
  const program = await startProgram(context);
  const lead = startProcess(world, 'supervisor', '--pid', String(program.pid), '--name', 'lead');
  const part = startProcess(world, 'instance', '--name', 'part');
  await program.kill();
  const before = dumpStore(world);
  const dry = (...args: readonly string[]): Printed => {
    const answer = world.answer('process', ...args, '--dry-run');
    assert.equal(answer.dry_run, true);
    assert.deepEqual(dumpStore(world), before);
    return answer;
  };
  assert.equal(dry('start', '--kind', 'instance').status, 'running');
  assert.equal(dry('bind', lead, 'v-1').vendor_session_id, 'v-1');
  assert.equal(dry('end', part, '--exit-code', '1').status, 'crashed');
  assert.deepEqual(
    listOf(dry('sweep').swept).map(({ id, status }) => [id, status]),
    [
      [lead, 'orphaned'],
      [part, 'cancelled'],
    ],
  );
  assert.match(
    say(world, 'process', 'sweep', '--dry-run'),
    /^ULID  lead .*\nULID  part .*\ndry run: nothing was changed\n$/,
  );
  assert.equal(dry('beat', part).id, part);
});

test('the verbs of the original review workflow are understood as they are', (context) => {
  const world = reviewIn(context, 'reviews');
  const { id, kind, persona, phase } = world.answer(
    ...['session', 'start-instance', '--workflow', name, '--vendor', 'claude', '--persona', 'principal'],
    ...['--instance', '1', '--name', 'p-1', '--model', 'm', '--phase', 'reviews', '--note', 'n'],
  );
  assert.deepEqual([kind, persona, phase], ['instance', 'principal', 'reviews']);
  assert.equal(world.answer('session', 'bind-vendor-id', id, 'v-1').vendor_session_id, 'v-1');
  assert.equal(later(world, 1).answer('session', 'beat', id).last_heartbeat_at, '2026-03-17T12:01:00.000Z');
  assert.equal(world.answer('session', 'list', '--workflow', name).processes[0].id, id);
  assert.equal(
    world.answer('session', 'end-instance', id, '--status', 'crashed', '--exit-code', '2').status,
    'crashed',
  );
  assert.equal(world.answer('session', 'list').processes[0].exit_code, 2);
});

suite('process list', () => {
  test('shows those of all open sessions, of one, or of all, each as it looks now', async (context) => {
    const world = reviewIn(context, 'reviews');
    const program = await startProgram(context);
    startProcess(world, 'supervisor', '--name', 'lead', '--pid', String(program.pid));
    startProcess(world, 'instance', '--persona', 'principal', '--instance', '1');
    world.answer('begin', 'review', '--name', 'other', '--branch', 'other');
    const gone = startProcess(world, 'instance', '--name', 'gone', '--session', 'other');
    world.answer('process', 'end', gone, '--exit-code', '137');
    const called = (...flags: readonly string[]): readonly string[] =>
      listOf(world.answer('process', 'list', ...flags).processes).map((one) => `${one.called} ${one.liveness}`);
    assert.deepEqual(called(), ['lead alive', 'principal-1 unknown', 'gone ended']);
    assert.deepEqual(called('--session', name), ['lead alive', 'principal-1 unknown']);
    world.answer('finish', '--abort', '--session', 'other');
    assert.deepEqual(called(), ['lead alive', 'principal-1 unknown']);
    assert.deepEqual(called('--all'), ['lead alive', 'principal-1 unknown', 'gone ended']);
    assert.deepEqual(called('--session', 'other'), ['gone ended']);
    assert.equal(world.refusal(4, 'process', 'list', '--session', 'nobody').code, 'not-found');
    assert.equal(
      say(world, 'process', 'list', '--all').replaceAll(String(program.pid), 'PID').replaceAll(/ +/g, ' '),
      [
        'ID PROCESS KIND STATUS SESSION HOST PID HEARD OF',
        `ULID lead supervisor running (alive) ${session} desk PID ${noon}`,
        `ULID principal-1 instance running (unknown) ${session} desk ${noon}`,
        `ULID gone instance crashed (137) review:other desk ${noon}`,
        '',
      ].join('\n'),
    );
  });

  test('of no process it says so, also where there is no store, and makes none', (context) => {
    const world = createWorld(context);
    assert.deepEqual(world.answer('process', 'list').processes, []);
    assert.equal(say(world, 'process', 'list'), 'no processes\nnext: stint process start --kind KIND\n');
    assert.deepEqual(world.answer('list', '--all').sessions, []);
  });

  test('every worktree sees the same ones', async (context) => {
    const world = reviewIn(context, 'reviews');
    world.git('worktree', 'add', '-q', '../second');
    const second = world.with({ cwd: join(world.root, 'second') });
    const program = await startProgram(context);
    const here = startProcess(world, 'supervisor', '--pid', String(program.pid));
    second.answer('begin', 'review');
    const there = startProcess(second, 'instance');
    assert.equal(processesOf(second)[there].session, 'review:2026-03-17-second', 'each works on its own');
    assert.deepEqual(processesOf(second), processesOf(world));
    await program.kill();
    assert.equal(second.answer('process', 'sweep').swept[0].id, here, 'and sweeps for all');
    assert.equal(world.answer('process', 'beat', there).id, there);
  });
});

suite('who is dead', () => {
  /** A review with a supervisor that is a program, and two reviewers of whom only the supervisor knows. */
  const led = async (context: Parameters<typeof reviewIn>[0]) => {
    const world = reviewIn(context, 'reviews');
    const program = await startProgram(context);
    const lead = startProcess(world, 'supervisor', '--name', 'lead', '--pid', String(program.pid));
    const ada = startProcess(later(world, 1), 'instance', '--name', 'ada', '--phase', 'reviews');
    const bea = startProcess(later(world, 2), 'instance', '--name', 'bea');
    return { world: later(world, 5), program, lead, ada, bea };
  };

  test('a supervisor that was killed takes its reviewers along: all see it before a sweep, and after it the same', async (context) => {
    const { world, program, lead, ada, bea } = await led(context);
    const looked = (): Printed => {
      const { activity, activity_since: since, status } = world.answer('status');
      const [row] = world.answer('list').sessions;
      const [shown] = world.answer('progress').sessions;
      assert.deepEqual([row.activity, row.activity_since], [activity, since], 'list says what status says');
      assert.deepEqual([shown.activity, shown.activity_since], [activity, since], 'and so does progress');
      return [activity, since, status];
    };
    assert.deepEqual(looked(), ['running', null, 'active']);
    assert.match(say(world, 'status'), /^activity +running \(lead alive, ada unknown, bea unknown\)$/m);

    await program.kill();
    const since = '2026-03-17T12:02:00.000Z';
    assert.deepEqual(looked(), ['interrupted', since, 'active']);
    assert.deepEqual(
      Object.values(processesOf(world)).map(({ status, liveness }) => [status, liveness]),
      [
        ['running', 'dead'],
        ['running', 'dead'],
        ['running', 'dead'],
      ],
    );
    const next = world.answer('status').next_action;
    assert.equal(next.kind, 'advance');
    assert.match(next.text, /^Gone without a word: lead, ada, bea \(stint process sweep records it\)\. /);
    assert.match(
      say(world, 'status'),
      new RegExp(`^activity +interrupted since ${since} \\(lead dead, ada dead, bea dead\\)$`, 'm'),
    );
    assert.match(say(world, 'list'), new RegExp(`interrupted since ${since}`));
    const frame = say(world, 'progress');
    assert.match(frame, new RegExp(`^active, interrupted since ${since}, open 05:00`, 'm'));
    assert.match(frame, /^ {6}lead +dead, last heard of 2026-03-17T12:00:00.000Z$/m);

    const swept: readonly Printed[] = later(world, 60).answer('process', 'sweep').swept;
    assert.deepEqual(
      swept.map((one) => [one.id, one.status, one.exit_code, one.notes]),
      [
        [lead, 'orphaned', null, `found dead: pid ${program.pid} is gone on desk`],
        [ada, 'cancelled', null, `its supervisor ${lead} is gone; what it was doing is interrupted`],
        [bea, 'cancelled', null, `its supervisor ${lead} is gone; what it was doing is interrupted`],
      ],
    );
    assert.deepEqual(looked(), ['interrupted', since, 'active'], 'since when does not depend on when it was found');
    assert.doesNotMatch(world.answer('status').next_action.text, /Gone/);
    const ends = processEvents(world).filter(({ type }) => type === 'ProcessEnded');
    assert.equal(new Set(ends.map(({ cause }) => cause)).size, 1, 'in one transaction');
    const before = dumpStore(world);
    assert.deepEqual(world.answer('process', 'sweep').swept, []);
    assert.equal(say(world, 'process', 'sweep'), 'no process is known to be dead\n');
    assert.deepEqual(dumpStore(world), before, 'finding nobody changes nothing');
    assertSound(world);

    startProcess(world, 'supervisor');
    assert.deepEqual(looked(), ['running', null, 'active'], 'who starts anew ends the interruption');
  });

  test('a session that moves on is not interrupted any more', async (context) => {
    const { world, program } = await led(context);
    await program.kill();
    world.answer('process', 'sweep');
    world.answer('note', 'the lead was out of memory');
    assert.equal(world.answer('status').activity, 'interrupted', 'a remark is no work');
    world.answer('advance', 'aggregation');
    assert.equal(world.answer('status').activity, 'none');
  });

  test('who is on record as gone answers nothing any more', async (context) => {
    const { world, program, lead, ada } = await led(context);
    await program.kill();
    world.answer('process', 'sweep');
    for (const id of [lead, ada]) {
      world.refusal(5, 'process', 'beat', id);
      world.refusal(5, 'process', 'bind', id, 'v-1');
      world.refusal(9, 'process', 'end', id);
      world.refusal(4, 'process', 'start', '--kind', 'instance', '--parent', id);
    }
  });

  test('an old heartbeat means quiet after 15 minutes, and never dead', (context) => {
    const world = reviewIn(context, 'reviews');
    startProcess(world, 'instance', '--name', 'ada');
    const look = (minutes: number): Printed => {
      const { activity, activity_since: since } = later(world, minutes).answer('status');
      return [activity, since];
    };
    assert.deepEqual(look(15), ['running', null]);
    assert.deepEqual(look(15.01), ['quiet', noon]);
    assert.match(say(later(world, 16), 'status'), new RegExp(`^activity +quiet since ${noon} \\(ada quiet\\)$`, 'm'));
    assert.match(say(later(world, 16), 'progress'), new RegExp(`^active, quiet since ${noon}, open 16:00`, 'm'));
    assert.match(say(later(world, 16), 'list'), new RegExp(`quiet since ${noon}`));
    const years = later(world, 60 * 24 * 800);
    assert.deepEqual(years.answer('process', 'sweep').swept, []);
    assert.deepEqual(look(60 * 24 * 800), ['quiet', noon]);
    years.answer('process', 'beat', String(Object.keys(processesOf(world))[0]));
    assert.deepEqual(look(60 * 24 * 800 + 1), ['running', null]);
  });

  test('a process without a pid, and one of another machine, are never found dead', async (context) => {
    const world = reviewIn(context, 'reviews');
    const program = await startProgram(context);
    const away = world.with({ env: { STINT_HOST: 'build-b' } });
    startProcess(away, 'supervisor', '--name', 'far', '--pid', String(program.pid));
    startProcess(world, 'instance', '--name', 'near', '--parent', String(Object.keys(processesOf(world))[0]));
    await program.kill();
    for (const host of ['desk', 'build-a']) {
      const here = world.with({ env: { STINT_HOST: host } });
      assert.deepEqual(here.answer('process', 'sweep').swept, []);
      assert.equal(here.answer('status').activity, 'running');
      assert.match(say(here, 'status'), /far unknown on build-b/);
      assert.match(say(here, 'progress'), /^ {6}far +unknown on build-b$/m);
    }
    assert.equal(later(world, 16).answer('status').activity, 'quiet');
    assert.equal(listOf(away.answer('process', 'sweep').swept).length, 2, 'its own machine knows');
  });

  test('one sweep is of all sessions, open or closed; with --session of one', async (context) => {
    const world = reviewIn(context, 'reviews');
    world.answer('begin', 'review', '--name', 'other', '--branch', 'other');
    world.answer('begin', 'review', '--name', 'third', '--branch', 'third');
    const program = await startProgram(context);
    const alive = await startProgram(context);
    const pid = ['--pid', String(program.pid)];
    const keys = [session, 'review:other', 'review:third'];
    const dead = keys.map((key) => startProcess(world, 'supervisor', ...pid, '--session', key));
    startProcess(world, 'instance', '--pid', String(alive.pid), '--session', 'third', '--name', 'alive');
    startProcess(world, 'supervisor', '--pid', String(alive.pid), '--session', 'other', '--name', 'second lead');
    world.answer('finish', '--abort', '--session', 'other');
    await program.kill();
    const sweep = (...flags: readonly string[]): readonly string[] =>
      listOf(world.answer('process', 'sweep', ...flags).swept).map(({ id, status }) => `${id} ${status}`);
    assert.deepEqual(
      sweep('--session', 'third').toSorted(),
      [
        `${dead[2]} orphaned`,
        `${Object.values(processesOf(world)).find(({ called }) => called === 'alive').id} cancelled`,
      ].toSorted(),
    );
    assert.deepEqual(sweep(), [`${dead[0]} orphaned`, `${dead[1]} orphaned`]);
    const causes = keys.map((key) => eventsOf(world, key).at(-1).cause);
    assert.equal(causes[0], causes[1], 'together or not at all');
    const states = listOf(world.answer('list', '--all').sessions).map((one) => [one.session_id, one.activity]);
    assert.deepEqual(Object.fromEntries(states), { [name]: 'interrupted', other: 'running', third: 'interrupted' });
    assertSound(world);
  });

  test(
    'a session that this program may not write is left, told, and keeps no other one from being swept',
    { skip: fileOnly },
    async (context) => {
      const world = reviewIn(context, 'reviews');
      world.answer('begin', 'review', '--name', 'newer', '--branch', 'newer');
      const program = await startProgram(context);
      for (const key of [name, 'newer'])
        startProcess(world, 'supervisor', '--pid', String(program.pid), '--session', key);
      await program.kill();
      tamper(world, (database) => {
        const row = database.prepare(`SELECT common FROM session WHERE key = 'review:newer'`).get();
        const common = JSON.parse(String(row?.['common']));
        database
          .prepare(`UPDATE session SET common = ?, checksum = 0 WHERE key = 'review:newer'`)
          .run(JSON.stringify({ ...common, types: { ...common.types, Foretold: 1 } }));
        const last: Printed = database
          .prepare(`SELECT * FROM event WHERE session = 'review:newer' ORDER BY seq DESC`)
          .get();
        const { session: key, seq, at, actor, place, cause } = last;
        const event = { session: key, seq: seq + 1, type: 'Foretold', v: 1, at, actor, place, cause, data: {} };
        database
          .prepare(
            `INSERT INTO event (session, seq, type, v, lifecycle, at, actor, place, cause, data, hash)
           VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, '{}', ?)`,
          )
          .run(key, event.seq, event.type, event.v, at, actor, place, cause, hashEvent(last.hash, event));
      });
      const before = processEvents(world, 'review:newer');
      const { swept, left } = world.answer('process', 'sweep');
      assert.deepEqual(
        listOf(swept).map((one) => one.session),
        [session],
      );
      assert.equal(left[0].session, 'review:newer');
      assert.match(left[0].reason, /^review:newer holds the event Foretold/);
      assert.match(say(world, 'process', 'sweep'), /^left  review:newer  review:newer holds the event Foretold/);
      assert.equal(world.refusal(13, 'process', 'sweep', '--session', 'newer').code, 'newer-version');
      assert.deepEqual(processEvents(world, 'review:newer'), before);
    },
  );
});

suite('next action', () => {
  test('everybody waits for the instances at work, but none for himself, and nobody for a supervisor', (context) => {
    const world = reviewIn(context, 'reviews');
    const lead = startProcess(world, 'supervisor', '--name', 'lead');
    const kindFor = (process?: string): string =>
      world.with({ env: { STINT_PROCESS: process } }).answer('status').next_action.kind;
    assert.deepEqual([kindFor(), kindFor(lead)], ['advance', 'advance']);
    const ada = startProcess(world, 'instance', '--name', 'ada');
    assert.deepEqual([kindFor(), kindFor(lead), kindFor(ada)], ['wait', 'wait', 'advance']);
    assert.equal(world.answer('status', '--process', ada).next_action.kind, 'advance');
    const bea = startProcess(later(world, 1), 'instance', '--name', 'bea');
    assert.deepEqual([kindFor(lead), kindFor(ada), kindFor(bea)], ['wait', 'wait', 'wait']);
    const { next_action: next, completeness_state: state, dependents_settled: settled } = world.answer('status');
    assert.match(next.text, /^Wait for ada, bea\. Then: /);
    assert.equal(next.command, `stint process list --session ${session}`);
    assert.deepEqual([state, settled], ['in_flight', false]);
    world.answer('process', 'end', ada);
    world.answer('process', 'end', bea);
    assert.deepEqual([kindFor(lead), world.answer('status').dependents_settled], ['advance', true]);
  });

  test('at the end a supervisor is told to finish, not to wait for itself', (context) => {
    const world = reviewIn(context, 'complete');
    const lead = startProcess(world, 'supervisor');
    assert.equal(world.with({ env: { STINT_PROCESS: lead } }).answer('status').next_action.kind, 'finish');
    assert.equal(world.answer('status').next_action.kind, 'finish');
  });
});

suite('closing a session', () => {
  const staffed = (world: TestWorld): Readonly<Record<string, string>> =>
    Object.fromEntries(
      [
        ['lead', 'supervisor'],
        ['ada', 'instance'],
        ['bea', 'instance'],
        ['tool', 'utility'],
      ].map(([called = '', kind = '']) => [called, startProcess(world, kind, '--name', called)]),
    );

  test('finish and abort cancel who still works on it, but neither who calls nor a supervisor', (context) => {
    for (const args of [['finish'], ['finish', '--abort']]) {
      const world = reviewIn(context, 'complete');
      const { lead = '', ada = '' } = staffed(world);
      world.with({ env: { STINT_PROCESS: ada } }).answer(...args);
      assert.deepEqual(endsOf(world), { bea: 'cancelled', tool: 'cancelled' });
      const ends = eventsOf(world, session).slice(-3);
      assert.deepEqual(
        ends.map(({ type }) => type),
        ['SessionClosed', 'ProcessEnded', 'ProcessEnded'],
      );
      assert.equal(new Set(ends.map(({ cause }) => cause)).size, 1, 'in one transaction');
      // How those end who were spared they say themselves.
      world.answer('process', 'beat', ada);
      assert.equal(world.answer('process', 'end', ada).status, 'done');
      assert.equal(world.answer('process', 'end', lead, '--exit-code', '0').status, 'done');
      assertSound(world);
    }
  });

  test('the first characters of an id spare its process, too; an id that nobody has is refused, and nothing is closed', (context) => {
    const world = reviewIn(context, 'complete');
    const ada = startProcess(world, 'instance', '--name', 'ada');
    startProcess(later(world, 60 * 24 * 400), 'instance', '--name', 'bea');
    const before = dumpStore(world);
    for (const args of [['finish'], ['begin', 'review', '--fresh']]) {
      assert.equal(world.refusal(4, ...args, '--process', 'nobody').code, 'not-found');
      assert.deepEqual(dumpStore(world), before);
    }
    world.answer('finish', '--process', ada.slice(0, 10));
    assert.deepEqual(endsOf(world), { bea: 'cancelled' });
  });

  test('begin --fresh cancels who works on the one that it aborts, and spares who calls', (context) => {
    const world = reviewIn(context, 'reviews');
    const { ada = '' } = staffed(world);
    const { session: fresh, aborted } = world
      .with({ env: { STINT_PROCESS: ada } })
      .answer('begin', 'review', '--fresh');
    assert.equal(aborted, session);
    assert.deepEqual(endsOf(world), { bea: 'cancelled', tool: 'cancelled' });
    assert.deepEqual(processEvents(world, fresh), []);
    assertSound(world);
  });

  test('finishing twice cancels once, and a dead supervisor of a closed session is swept without interrupting it', async (context) => {
    const world = reviewIn(context, 'complete');
    const program = await startProgram(context);
    startProcess(world, 'supervisor', '--name', 'lead', '--pid', String(program.pid));
    startProcess(world, 'instance', '--name', 'ada');
    world.answer('finish');
    const before = dumpStore(world);
    world.answer('finish', '--session', name);
    assert.deepEqual(dumpStore(world), before);
    assert.equal(world.answer('status', name).activity, 'running', 'its supervisor still is');
    await program.kill();
    assert.equal(world.answer('status', name).activity, 'none');
    assert.deepEqual(
      listOf(world.answer('process', 'sweep').swept).map(({ called }) => called),
      ['lead'],
    );
    const { activity, outcome, completeness } = world.answer('status', name);
    assert.deepEqual([activity, outcome, completeness], ['none', 'completed', 'complete']);
  });

  test('what was left alone is closed where only the dead are on record, and not while somebody may be at work', async (context) => {
    const world = reviewIn(context, 'reviews');
    const program = await startProgram(context);
    startProcess(world, 'supervisor', '--name', 'lead', '--pid', String(program.pid));
    const ada = startProcess(world, 'instance', '--name', 'ada');
    const weeks = later(world, 60 * 24 * 20);
    assert.deepEqual(weeks.answer('reconcile').closed, [], 'the lead lives');
    await program.kill();
    later(world, 60 * 24 * 20 - 5).answer('process', 'beat', ada);
    assert.deepEqual(
      listOf(weeks.answer('reconcile').closed).map((one) => one.session),
      [session],
      'a reviewer goes down with its lead',
    );
    assert.deepEqual(endsOf(world), { ada: 'cancelled' });
  });

  test('what has had no event for long is not closed while its processes were heard of in that time, wherever they run', (context) => {
    const world = reviewIn(context, 'reviews');
    const ada = startProcess(world.with({ env: { STINT_HOST: 'build-b' } }), 'instance', '--name', 'ada');
    const days = (count: number): TestWorld => later(world, 60 * 24 * count);
    days(14).answer('process', 'beat', ada);
    assert.equal(days(20).answer('status').activity, 'quiet');
    assert.deepEqual(days(20).answer('reconcile').closed, []);
    assert.equal(listOf(days(21.1).answer('reconcile').closed).length, 1);
    assert.deepEqual(endsOf(world), { ada: 'cancelled' });
  });
});

test(
  'a damaged row of a process is refused by name by who writes, read past, and healed by rebuild',
  { skip: fileOnly },
  (context) => {
    const world = reviewIn(context, 'reviews');
    const id = startProcess(world, 'instance', '--name', 'ada');
    later(world, 2).answer('process', 'beat', id);
    tamper(world, (database) => database.exec(`UPDATE process SET data = replace(data, 'ada', 'eve')`));
    for (const args of [
      ['process', 'end', id],
      ['process', 'beat', id],
      ['process', 'sweep'],
      ['finish', '--abort'],
    ]) {
      const { code, message, hint } = world.refusal(14, ...args);
      assert.deepEqual(
        [code, message, hint],
        ['damaged', `What the store says of the process ${id} was damaged.`, 'stint rebuild'],
      );
    }
    const { activity, warnings } = JSON.parse(world.run('status', '--json').stdout);
    assert.equal(activity, 'running', 'what the events say is shown');
    assert.match(warnings[0], new RegExp(`process ${id} was damaged`));
    world.answer('rebuild');
    const { called, last_heartbeat_at: heard } = processesOf(world)[id];
    assert.deepEqual([called, heard], ['ada', '2026-03-17T12:02:00.000Z']);
    assertSound(world);
  },
);

test('processes change nothing of a review: it goes on and is completed with them as without them', (context) => {
  const [plain, staffed] = [reviewIn(context, 'context'), reviewIn(context, 'context')];
  const lead = startProcess(staffed, 'supervisor');
  for (const world of [plain, staffed]) {
    advanceTo(world, 'synthesis');
    completeRound(world);
    world.answer('finish', ...(world === staffed ? ['--process', lead] : []));
  }
  const facts = (world: TestWorld): Printed => {
    const {
      events: _,
      revision: _r,
      processes: _p,
      processes_total: _t,
      activity: _a,
      ...rest
    } = world.answer('status', name);
    return rest;
  };
  assert.deepEqual(facts(staffed), facts(plain));
});
