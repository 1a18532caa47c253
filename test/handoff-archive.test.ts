/** Pairs of documents that are archived and restored: what becomes of the files, of the sessions, and of what stood there. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { handover, sessionState } from '../src/formats/handoff/document.ts';
import { sample } from '../src/formats/handoff/samples.ts';
import { current, root, stateOf, textOf, transferOf, valueIn } from './support/documents.ts';
import { killAtEachStep } from './support/campaigns.ts';
import { as } from './support/leases.ts';
import { ordinary, withoutUser } from './support/permissions.ts';
import { treeOf } from './support/stores.ts';
import {
  assertAnswer,
  createWorld,
  fileOnly,
  later,
  lines,
  listOf,
  refusedText,
  say,
  sorted,
  type Printed,
  type Tidying,
  type TestWorld,
} from './support/world.ts';

const ship = ['--task', 'Ship the parser', '--updated-by', 'ana', '--next-owner', 'ben'];

/** A project with a task and its pair: a handover of 09:00, two steps. */
const begun = (context: Tidying, ...more: readonly string[]): TestWorld => {
  const world = createWorld(context);
  const steps = ['--remaining-step', 'Parse', '--remaining-step', 'Print', '--current-step', 'Reading'];
  world.answer('handoff', 'new', ...ship, ...steps, '--handover-output', transferOf('20260317_0900'), ...more);
  return world;
};

/** The same with a copy of 10:00, after which the work goes on and is blocked. */
const drifted = (context: Tidying): TestWorld => {
  const world = begun(context);
  world.answer('handoff', 'archive', '--timestamp', '20260317_1000');
  const said = ['--status', 'blocked', '--blocker', 'no token', '--needs', 'a token', '--next-owner', 'ops'];
  later(world, 10).answer('handoff', 'update', '--updated-by', 'ana', ...said, '--remaining-step', 'Wait');
  return later(world, 20);
};

/** All files but those of the store. */
const filesOf = (world: TestWorld): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(treeOf(world.root)).filter(([path]) => !path.includes('.stint/stint.db')));

/** What a verb that succeeds warns of. */
const warningsOf = (world: TestWorld, ...args: readonly string[]): string => {
  const { status, stderr } = world.run(...args);
  assert.equal(status, 0, stderr);
  return world.scrub(stderr);
};

const restore = (stamp: string, ...more: readonly string[]): readonly string[] => [
  'handoff',
  'restore',
  '--timestamp',
  stamp,
  '--updated-by',
  'cem',
  '--force',
  ...more,
];

const auditOf = (world: TestWorld): Printed => {
  const { result, warnings, errors } = world.run('handoff', 'audit', '--json').json;
  return [result, warnings, errors];
};
const clean = ['clean', [], []];

/** The events of a session, each with what is asked of its data. */
const eventsOf = (world: TestWorld, session: string, ...types: readonly string[]): readonly Printed[] =>
  listOf(world.answer('log', session).events).filter(({ type }) => types.includes(String(type)));

const task = 'task:2026-03-17-main';

suite('an archived copy', () => {
  test('differs from its pair in the two paths alone, and the pair stays what it was, byte by byte', (context) => {
    const world = begun(context);
    world.write(
      current,
      `${textOf(world, current).replaceAll('\n', '\r\n')}\r\n## Ours\r\n\`\`\`\r\n## no section\r\n\`\`\`\r\n`,
    );
    world.answer('note', 'seen');
    const [state, transfer] = [textOf(world, current), textOf(world, transferOf('20260317_0900'))];
    assert.match(state, /## Ours\r\n```\r\n## no section\r\n/);
    assert.equal(
      say(world, 'handoff', 'archive'),
      lines(
        'Archived handoff pair: timestamp=20260317_1200',
        `Handover       ROOT/project/${transferOf('20260317_1200')}`,
        `Session-state  ROOT/project/${stateOf('20260317_1200')}`,
      ),
    );
    assert.equal(textOf(world, current), state);
    assert.equal(textOf(world, transferOf('20260317_0900')), transfer);
    assert.equal(textOf(world, stateOf('20260317_1200')), state.replace('20260317_0900', '20260317_1200'));
    assert.equal(
      textOf(world, transferOf('20260317_1200')),
      transfer.replace('session-state/CURRENT.md', 'session-state/20260317_1200_session-state.md'),
    );
    assert.deepEqual(auditOf(world), clean);
  });

  test('has what was written by hand until then', (context) => {
    const world = begun(context);
    world.write(current, textOf(world, current).replace('\nReading\n', '\nWriting\n'));
    const answer = world.answer('handoff', 'archive');
    assert.deepEqual(answer.documents, [`what was written in ${current} was taken in`]);
    assert.equal(valueIn(world, stateOf('20260317_1200'), 'Current step'), 'Writing');
  });

  test('has the next free minute as its stamp, in UTC wherever it is made', (context) => {
    const world = createWorld(context);
    world.answer('handoff', 'new', ...ship);
    assert.ok(existsSync(world.path(transferOf('20260317_1200'))));
    const stamps = ['America/New_York', 'Asia/Kolkata', 'Pacific/Kiritimati'].map(
      (zone) => world.with({ env: { TZ: zone } }).answer('handoff', 'archive').timestamp,
    );
    assert.deepEqual(stamps, ['20260317_1201', '20260317_1202', '20260317_1203']);
    assert.deepEqual(auditOf(world), clean);
  });

  test('has a stamp of its own, however many are made at once', async (context) => {
    const world = begun(context);
    const outcomes = await Promise.all(
      Array.from({ length: 4 }, async () => world.start('handoff', 'archive', '--json').outcome),
    );
    const stamps = outcomes.map((outcome) => assertAnswer(outcome, 'archive').timestamp);
    assert.deepEqual(sorted(stamps), ['20260317_1200', '20260317_1201', '20260317_1202', '20260317_1203']);
    assert.deepEqual(auditOf(world), clean);
  });

  test('is refused under a stamp that is no minute of the calendar, and nothing is written anywhere', (context) => {
    const world = begun(context);
    const before = filesOf(world);
    for (const stamp of [
      '../../../evil/x',
      '20260312_0915/../../x',
      '99999999_9999',
      '20260230_1200',
      '20261301_0000',
      '20260312_2460',
      '20260312_2400',
      '20260312-0915',
      '２０２６０３１２_０９１５',
      '20260312_0915\n',
    ])
      for (const args of [
        ['archive', '--timestamp', stamp],
        restore('20260317_0900', '--restore-timestamp', stamp).slice(1),
        restore(stamp).slice(1),
      ])
        assert.equal(world.refusal(2, 'handoff', ...args).code, 'usage', stamp);
    assert.deepEqual(filesOf(world), before);
    assert.equal(
      refusedText(world, 2, 'handoff', 'archive', '--timestamp', '20260230_1200'),
      lines(
        'stint: --timestamp: that is no stamp.',
        '  expected: a minute in UTC as YYYYMMDD_HHMM, for example 20260312_0915',
        '  try: leave --timestamp out for the next free minute',
      ),
    );
  });

  test('takes the place of an earlier one by force alone, and keeps what somebody wrote in that beside', (context) => {
    const world = begun(context);
    const archive = ['handoff', 'archive', '--timestamp', '20260317_1000'];
    world.answer(...archive);
    later(world, 5).answer('handoff', 'update', '--updated-by', 'ana', '--current-step', 'Later');
    assert.deepEqual(
      listOf(world.refusal(9, ...archive).candidates).map((path) => world.scrub(String(path))),
      [transferOf('20260317_1000'), stateOf('20260317_1000')].map((path) => `ROOT/project/${path}`),
    );
    world.write(stateOf('20260317_1000'), `${textOf(world, stateOf('20260317_1000'))}## Ours\nmine\n`);
    assert.match(
      warningsOf(world, ...archive, '--force'),
      /^stint: warning: 20260317_1000_session-state\.md had been changed by somebody else; that version is kept as /,
    );
    assert.equal(valueIn(world, stateOf('20260317_1000'), 'Current step'), 'Later');
    const kept = readdirSync(world.path(root, 'session-state')).find((name) => name.includes('.kept-')) ?? '';
    assert.match(textOf(world, `${root}/session-state/${kept}`), /## Ours\nmine\n$/);
    assert.deepEqual(auditOf(world), clean);
    // What is a version of ours leaves nothing behind.
    world.answer(...archive, '--force');
    assert.equal(readdirSync(world.path(root, 'handovers')).length, 2);
  });

  test('never takes the place of what it is made of, of the other half, or of a document of another session', (context) => {
    const world = begun(context);
    world.answer('handoff', 'archive', '--timestamp', '20260317_1000');
    const force = (...args: readonly string[]) => world.refusal(9, 'handoff', 'archive', '--force', ...args).message;
    assert.match(force('--timestamp', '20260317_0900'), /20260317_0900_handover\.md is what is to be archived/);
    assert.match(force('--session-output', current), /CURRENT\.md is what is to be archived/);
    const same = `${root}/handovers/x.md`;
    assert.match(force('--session-output', same, '--handover-output', same), /the same file/);
    later(world, 5).answer(
      'handoff',
      'new',
      '--task',
      'Another',
      '--updated-by',
      'ana',
      '--next-owner',
      'ben',
      '--force',
    );
    assert.match(force('--timestamp', '20260317_1000'), new RegExp(`is a document of ${task}\\.$`));
    const elsewhere = world.refusal(6, 'handoff', 'archive', '--handover-output', 'elsewhere.md');
    assert.match(elsewhere.message, /is no place for a document/);
  });

  test('of a task that is done says where its other half lies', (context) => {
    const world = createWorld(context);
    world.answer('handoff', 'new', ...ship);
    world.answer('handoff', 'update', '--updated-by', 'ana', '--status', 'ready-for-review');
    world.answer('handoff', 'update', '--updated-by', 'ana', '--status', 'done');
    assert.equal(valueIn(world, transferOf('20260317_1200'), 'Session-state pointer'), 'None');
    world.answer('handoff', 'archive');
    assert.equal(
      valueIn(world, transferOf('20260317_1201'), 'Session-state pointer'),
      '../session-state/20260317_1201_session-state.md',
    );
    assert.deepEqual(auditOf(world), clean);
  });

  test('is on the record of its session, whoever holds that', (context) => {
    const world = begun(context);
    world.answer('lease', 'claim');
    const { session, revision } = as(world, 'eve').answer('handoff', 'archive');
    const [event] = eventsOf(world, session, 'PairArchived');
    assert.equal(event.actor, 'eve');
    assert.equal(event.data.handover, 'handovers/20260317_1200_handover.md');
    assert.ok(event.seq > revision, 'it moves nothing');
  });

  test('of a pair that describes no session is two files, and begins none', (context) => {
    const world = createWorld(context);
    world.write(current, sample(sessionState, { [sessionState.pointer]: '../handovers/x.md' }));
    world.write(`${root}/handovers/x.md`, sample(handover));
    const before = [current, `${root}/handovers/x.md`].map((path) => textOf(world, path));
    const answer = world.answer('handoff', 'archive', '--timestamp', '20260312_0915');
    assert.equal(answer.session, null);
    assert.deepEqual(
      [current, `${root}/handovers/x.md`].map((path) => textOf(world, path)),
      before,
    );
    assert.equal(textOf(world, stateOf('20260312_0915')), sample(sessionState));
    const named = world.answer('handoff', 'archive', '--handover', transferOf('20260312_0915'));
    assert.deepEqual(
      [named.timestamp, world.scrub(named.source.session_state)],
      ['20260317_1200', `ROOT/project/${stateOf('20260312_0915')}`],
    );
    assert.equal(
      valueIn(world, stateOf('20260317_1200'), 'Handover pointer'),
      '../handovers/20260317_1200_handover.md',
    );
    assert.deepEqual(world.answer('list', '--all').sessions, []);
  });

  test('of a pair that is not sound is refused before anything is written', (context) => {
    const world = begun(context);
    world.write(current, textOf(world, current).replace('## Artifacts\n- None\n\n', ''));
    const { faults } = world.refusal(7, 'handoff', 'archive');
    assert.deepEqual(faults, [
      'the session state: the section Artifacts is missing; write "## Artifacts" behind the section Validation snapshot',
    ]);
    assert.deepEqual(readdirSync(world.path(root, 'session-state')), ['CURRENT.md']);
  });
});

suite('a restored pair', () => {
  test('has the texts of the archived one, which stays, and its session becomes what they say', (context) => {
    const world = drifted(context);
    const [state, transfer] = [stateOf('20260317_1000'), transferOf('20260317_1000')].map((path) =>
      textOf(world, path),
    );
    const stamped = ['--restore-timestamp', '20260317_1330', '--last-updated', '2026-03-17T13:30:00+01:00'];
    assert.equal(
      say(world, ...restore('20260317_1000', ...stamped)),
      lines(
        'Restored handoff pair: status=in-progress, next_owner=ben',
        `Source handover       ROOT/project/${transferOf('20260317_1000')}`,
        `Source session-state  ROOT/project/${stateOf('20260317_1000')}`,
        `Handover              ROOT/project/${transferOf('20260317_1330')}`,
        `Session-state         ROOT/project/${current}`,
      ),
    );
    const anew = (text = ''): string =>
      text
        .replace('2026-03-17T12:00:00.000Z', '2026-03-17T13:30:00+01:00')
        .replace('## Updated by\nana', '## Updated by\ncem');
    assert.equal(textOf(world, current), anew(state).replace('20260317_1000', '20260317_1330'));
    assert.equal(
      textOf(world, transferOf('20260317_1330')),
      anew(transfer).replace('20260317_1000_session-state.md', 'CURRENT.md'),
    );
    assert.deepEqual(
      [textOf(world, stateOf('20260317_1000')), textOf(world, transferOf('20260317_1000'))],
      [state, transfer],
    );
    assert.equal(world.answer('status').position, 'in-progress (0/2 steps done), next: ben');
    const cleared = eventsOf(world, task, 'BlockerCleared', 'StatusChanged').map(
      ({ data }) => data.how ?? data.override,
    );
    assert.ok(cleared.includes('restored from 20260317_1000'));
    assert.deepEqual(auditOf(world), clean);
  });

  test('says what it has replaced: that lies under the stamp of its handover, which says so', (context) => {
    const world = drifted(context);
    const before = textOf(world, current);
    const { superseded, source } = world.answer(...restore('20260317_1000'));
    assert.deepEqual(
      [superseded.session, world.scrub(superseded.handover), world.scrub(source.handover)],
      [task, `ROOT/project/${transferOf('20260317_0900')}`, `ROOT/project/${transferOf('20260317_1000')}`],
    );
    assert.equal(textOf(world, stateOf('20260317_0900')), before);
    assert.match(textOf(world, transferOf('20260317_0900')), /^# Handover\n\n> Superseded: /);
    assert.equal(
      valueIn(world, transferOf('20260317_0900'), 'Session-state pointer'),
      '../session-state/20260317_0900_session-state.md',
    );
    // What was superseded comes back as it was, blocker and all, and is superseded no more.
    const back = world.answer(...restore('20260317_0900'));
    assert.equal(back.status, 'blocked');
    assert.equal(valueIn(world, current, 'Blockers'), '- no token\n- Needed to unblock: a token');
    assert.doesNotMatch(readFileSync(back.handover, 'utf8'), /Superseded/);
    const raised = eventsOf(world, task, 'BlockerRaised').map(({ data }) => [data.reason, data.needs]);
    assert.deepEqual(raised, [
      ['no token', 'a token'],
      ['no token', 'a token'],
    ]);
    assert.deepEqual(auditOf(world), clean);
  });

  test('and a new one, time after time, leave documents that are clean', (context) => {
    const world = drifted(context);
    const steps: readonly (readonly string[])[] = [
      restore('20260317_1000'),
      ['handoff', 'new', ...ship, '--force'],
      restore('20260317_1000'),
      ['handoff', 'new', '--task', 'Another', '--updated-by', 'ana', '--next-owner', 'ben', '--force'],
      restore('20260317_1000'),
      ['handoff', 'new-handover', '--task-summary', 'Ship the parser', '--updated-by', 'ana', '--next-owner', 'ben'],
      ['handoff', 'archive'],
      restore('20260317_1000', '--handover-output', `${root}/handovers/plain.md`),
      restore('20260317_1000'),
      restore('20260317_1000', '--handover-output', `${root}/handovers/plain.md`),
    ];
    for (const [at, step] of steps.slice(0, -1).entries()) {
      world.answer(...step);
      assert.equal(world.answer('handoff', 'ready').verdict, 'ready', `after step ${at}: ${step.join(' ')}`);
      assert.deepEqual(auditOf(world), clean, `after step ${at}: ${step.join(' ')}`);
    }
    // A handover of another pair is not written over.
    assert.match(world.refusal(9, ...(steps.at(-1) ?? [])).message, /plain\.md is a document of task:/);
  });

  test('takes the place of the live handover by force too, and keeps the pair that was there', (context) => {
    const world = drifted(context);
    const before = textOf(world, current);
    const { superseded } = world.answer(...restore('20260317_1000', '--handover-output', transferOf('20260317_0900')));
    assert.equal(world.scrub(superseded.session_state), `ROOT/project/${stateOf('20260317_1220')}`);
    assert.equal(textOf(world, stateOf('20260317_1220')), before.replace('20260317_0900', '20260317_1220'));
    assert.deepEqual(auditOf(world), clean);
  });

  test('of a task that is done reopens it where it says so, with the reason on the record', (context) => {
    const world = createWorld(context);
    world.answer('handoff', 'new', ...ship, '--handover-output', transferOf('20260317_0900'));
    world.answer('handoff', 'archive', '--timestamp', '20260317_1000');
    world.answer('handoff', 'update', '--updated-by', 'ana', '--status', 'ready-for-review');
    world.answer('handoff', 'update', '--updated-by', 'ana', '--status', 'done');
    world.answer('handoff', 'archive', '--timestamp', '20260317_1100');
    assert.equal(world.answer(...restore('20260317_1000')).status, 'in-progress');
    const [reopened] = eventsOf(world, task, 'SessionReopened');
    assert.equal(reopened.data.reason, 'restored from 20260317_1000');
    assert.deepEqual(auditOf(world), clean);
    const done = world.answer(...restore('20260317_1100'));
    assert.deepEqual([done.status, done.next_owner], ['done', 'None']);
    assert.equal(eventsOf(world, task, 'SessionClosed').length, 2);
    assert.equal(world.answer(...restore('20260317_1100', '--restore-timestamp', '20260317_1500')).status, 'done');
    assert.equal(eventsOf(world, task, 'SessionReopened').length, 1);
    // A status that is said counts, and then somebody is to act next.
    const again = world.answer(...restore('20260317_1100', '--status', 'ready-for-review'));
    assert.deepEqual([again.status, again.next_owner], ['ready-for-review', 'cem']);
    assert.deepEqual(auditOf(world), clean);
  });

  test('of another session is taken up with that, and the one that was there leaves in the same commit', (context) => {
    const world = begun(context);
    world.answer('handoff', 'archive', '--timestamp', '20260317_1000');
    world.answer('finish', '--abort', '--reason', 'no time');
    const other = later(world, 5).answer(
      'handoff',
      'new',
      '--task',
      'Another',
      '--updated-by',
      'ana',
      '--next-owner',
      'ben',
      '--force',
    );
    const edited = textOf(world, current).replace('## Current step\nNone', '## Current step\nBy hand');
    world.write(current, edited);
    const answer = later(world, 6).answer(...restore('20260317_1000'));
    assert.deepEqual([answer.session, answer.superseded.session, answer.status], [task, other.session, 'in-progress']);
    assert.equal(valueIn(world, current, 'Task'), 'Ship the parser');
    assert.equal(valueIn(world, current, 'Current step'), 'Reading');
    const archived = readFileSync(answer.superseded.session_state, 'utf8');
    assert.match(archived, /## Current step\nBy hand\n/);
    assert.deepEqual(
      eventsOf(world, task, 'SessionReopened').map(({ data }) => data.reason),
      ['restored from 20260317_1000'],
    );
    assert.deepEqual(auditOf(world), clean);
    // From now on it is the session that is written there.
    later(world, 7).answer('handoff', 'update', '--updated-by', 'ana', '--current-step', 'Going on');
    assert.equal(eventsOf(world, other.session, 'DocumentEdited').at(-1)?.at, '2026-03-17T12:06:00.000Z');
    assert.deepEqual(auditOf(world), clean);
  });

  test('is refused while somebody else holds one of the sessions; the file of a lease goes with its session', (context) => {
    const world = begun(context);
    world.answer('handoff', 'archive', '--timestamp', '20260317_1000');
    const other = later(world, 5).answer(
      'handoff',
      'new',
      '--task',
      'Another',
      '--updated-by',
      'ana',
      '--next-owner',
      'ben',
      '--force',
    );
    const ana = as(later(world, 6), 'ana');
    ana.answer('lease', 'claim', '--session', other.session);
    const lease = `${root}/session-state/ACTIVE_LEASE.json`;
    assert.ok(existsSync(world.path(lease)));
    assert.match(later(world, 6).refusal(10, ...restore('20260317_1000')).message, /is held by ana /);
    ana.answer('handoff', 'restore', '--timestamp', '20260317_1000', '--updated-by', 'ana', '--force');
    assert.ok(!existsSync(world.path(lease)), 'nobody holds the session that is there now');
    ana.answer('lease', 'claim', '--session', task);
    const named = (): Printed => JSON.parse(textOf(world, lease)).handover;
    const before = named();
    const { handover: path } = ana.answer(
      'handoff',
      'restore',
      '--timestamp',
      '20260317_1000',
      '--updated-by',
      'ana',
      '--force',
    );
    assert.notEqual(named(), before);
    assert.equal(world.path(root, named()), path);
    assert.deepEqual(auditOf(ana), clean);
  });

  test('that is taken over with its lease has the file of that, and not of the one that left', (context) => {
    const world = begun(context);
    world.answer('handoff', 'archive', '--timestamp', '20260317_1000');
    const other = ['--task', 'Another', '--updated-by', 'ana', '--next-owner', 'ben', '--force'];
    const { session } = later(world, 5).answer('handoff', 'new', ...other);
    const cem = as(later(world, 6), 'cem');
    cem.answer('lease', 'claim', '--session', session);
    as(later(world, 6), 'ana').answer('lease', 'claim', '--session', task);
    cem.answer(...restore('20260317_1000', '--take-over'));
    const lease: Printed = JSON.parse(textOf(world, `${root}/session-state/ACTIVE_LEASE.json`));
    assert.deepEqual([lease.holder, lease.handover], ['cem', 'handovers/20260317_1206_handover.md']);
    assert.deepEqual(auditOf(cem), clean);
  });

  test('leaves both documents saying what the session says, where a merge has mixed two archived pairs', (context) => {
    const world = drifted(context);
    const [state, transfer] = [stateOf('20260317_1000'), transferOf('20260317_1000')];
    world.write(state, textOf(world, state).replace('Print\n', 'Print\n3. Sign\n'));
    world.write(transfer, textOf(world, transfer).replace('Print\n', 'Deliver\n'));
    world.answer('handoff', 'restore', '--timestamp', '20260317_1000', '--updated-by', 'ana', '--force');
    const stepsIn = (path: string, section: string): readonly string[] =>
      sorted(Array.from(valueIn(world, path, section).matchAll(/^\d+\. (.*)$/gm), ([, step = '']) => step));
    const [live = ''] = readdirSync(world.path(root, 'handovers')).toSorted().toReversed();
    const steps = stepsIn(current, 'Remaining steps');
    for (const step of ['Sign', 'Deliver']) assert.ok(steps.includes(step), `${step}: ${steps.join(', ')}`);
    assert.deepEqual(stepsIn(`${root}/handovers/${live}`, 'Remaining work'), steps);
  });

  test('that no session here has made begins a task with what it says', (context) => {
    const world = createWorld(context);
    const said = {
      Task: 'Ship it',
      'Task summary': 'Ship it',
      Status: 'blocked',
      'Remaining steps': '1. One\n2. Two',
      'Remaining work': '1. One\n2. Two',
      Blockers: '- no token\n- Needed to unblock: a token',
      'Blockers and decisions':
        '- Blockers:\n  no token (needed to unblock: a token)\n- Decisions:\n  SQL\n- Assumptions:\n  None',
      'Decisions and assumptions': '- Decision: SQL\n- Assumption: None',
      [sessionState.pointer]: '../handovers/20260312_0915_handover.md',
      [handover.pointer]: '../session-state/20260312_0915_session-state.md',
    };
    world.write(stateOf('20260312_0915'), `${sample(sessionState, said)}\n## Ours\nmine\n`);
    world.write(transferOf('20260312_0915'), sample(handover, said));
    const answer = world.answer('handoff', 'restore', '--timestamp', '20260312_0915', '--updated-by', 'cem');
    assert.deepEqual(
      [answer.session, answer.status, answer.next_owner, answer.superseded],
      [task, 'blocked', 'ben', null],
    );
    const types = listOf(world.answer('log', task).events).map(({ type, data }) =>
      [type, data.text ?? data.reason ?? data.goal].flat(),
    );
    assert.deepEqual(
      types,
      [
        ['SessionOpened', 'Ship it'],
        ['TaskBegun', undefined],
        ['BlockerRaised', 'no token'],
        ['Noted', 'SQL'],
        ['StepAdded', 'One'],
        ['StepAdded', 'Two'],
        ['OwnerNamed', undefined],
        ['DocumentEdited', undefined],
      ].map(([type, text]) => [type, text]),
    );
    assert.match(textOf(world, current), /\n## Ours\nmine\n$/);
    assert.deepEqual(auditOf(world), clean);
  });

  test('makes a session of what another program has left there, and keeps what is none beside', (context) => {
    const world = createWorld(context);
    const pointer = { [sessionState.pointer]: '../handovers/20260312_1000_handover.md' };
    world.write(current, sample(sessionState, { ...pointer, Task: 'Foreign' }));
    world.write(transferOf('20260312_1000'), sample(handover, { 'Task summary': 'Foreign' }));
    const foreign = textOf(world, current);
    world.answer('handoff', 'archive', '--timestamp', '20260312_0915');
    const answer = world.answer(...restore('20260312_0915'));
    assert.deepEqual([answer.session, answer.superseded.session], ['task:2026-03-17-main-2', task]);
    assert.equal(textOf(world, stateOf('20260312_1000')), foreign);
    assert.match(textOf(world, transferOf('20260312_1000')), /> Superseded/);
    assert.deepEqual(
      readdirSync(world.path(root, 'session-state')).filter((name) => name.includes('.kept-')),
      [],
    );
    assert.deepEqual(auditOf(world), clean);

    const broken = createWorld(context);
    broken.write(stateOf('20260312_0915'), textOf(world, stateOf('20260312_0915')));
    broken.write(transferOf('20260312_0915'), textOf(world, transferOf('20260312_0915')));
    broken.write(current, '<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> other\n');
    assert.match(
      warningsOf(broken, ...restore('20260312_0915')),
      /^stint: warning: CURRENT\.md had been changed by somebody else; that version is kept as CURRENT\.md\.kept-/,
    );
    assert.deepEqual(auditOf(broken), clean);
  });

  test('is made of what is on record where its files are gone', (context) => {
    const world = drifted(context);
    rmSync(world.path(stateOf('20260317_1000')));
    rmSync(world.path(transferOf('20260317_1000')));
    assert.equal(world.answer(...restore('20260317_1000')).status, 'in-progress');
    assert.equal(valueIn(world, current, 'Remaining steps'), '1. Parse\n2. Print');
  });

  test('describes no session where it goes elsewhere', (context) => {
    const world = drifted(context);
    const [tip] = listOf(world.answer('list').sessions);
    const outputs = [
      '--session-output',
      `${root}/session-state/copy.md`,
      '--handover-output',
      `${root}/handovers/copy.md`,
    ];
    const answer = world.answer(...restore('20260317_1000', ...outputs, '--next-owner', 'dora'));
    assert.deepEqual([answer.session, answer.next_owner, answer.superseded], [null, 'dora', null]);
    assert.equal(valueIn(world, `${root}/session-state/copy.md`, 'Handover pointer'), '../handovers/copy.md');
    assert.equal(valueIn(world, `${root}/handovers/copy.md`, 'Next owner'), 'dora');
    assert.deepEqual(listOf(world.answer('list').sessions)[0], tip);
  });

  test('of a session of another kind keeps the status that follows from its work', (context) => {
    const world = begun(context);
    later(world, 1).answer('begin', 'review', '--name', 'look');
    later(world, 2).answer('handoff', 'update', '--updated-by', 'ana', '--current-step', 'Reading all of it');
    later(world, 3).answer('handoff', 'archive', '--timestamp', '20260317_1000');
    later(world, 4).answer('advance', 'change-context', '--session', 'review:look');
    later(world, 5).answer('finish', '--abort', '--session', 'review:look');
    const answer = later(world, 6).answer(...restore('20260317_1000'));
    assert.deepEqual([answer.session, answer.status], ['review:look', 'blocked']);
    assert.equal(valueIn(world, current, 'Current step'), 'Reading all of it');
    assert.equal(world.answer('status', '--session', 'review:look').status, 'closed');
    const { code } = later(world, 7).refusal(5, ...restore('20260317_1000', '--status', 'done'));
    assert.equal(code, 'illegal-transition');
    assert.deepEqual(auditOf(world), clean);
  });

  test('is refused where it would write over something, says nothing twice, or is not sound', (context) => {
    const world = drifted(context);
    const before = filesOf(world);
    const { message, candidates } = world.refusal(
      9,
      ...restore('20260317_1000', '--handover-output', transferOf('20260317_0900')).filter((arg) => arg !== '--force'),
    );
    assert.equal(listOf(candidates).length, 2);
    assert.match(
      world.scrub(message),
      /^ROOT\/project\/docs\/tests\/handovers\/20260317_0900_handover\.md and ROOT\/.*CURRENT\.md are there already\.$/,
    );
    assert.match(
      world.refusal(9, ...restore('20260317_1000', '--restore-timestamp', '20260317_1000')).message,
      /is what is to be restored/,
    );
    assert.match(
      world.refusal(9, 'handoff', 'restore', '--session-state', current, '--updated-by', 'cem', '--force').message,
      /is what is to be restored/,
    );
    world.refusal(2, 'handoff', 'restore', '--updated-by', 'cem');
    world.refusal(2, ...restore('20260317_1000', '--handover', transferOf('20260317_1000')));
    world.refusal(2, ...restore('20260317_1000', '--last-updated', 'yesterday'));
    const missing = world.refusal(4, ...restore('20260101_0000'));
    assert.deepEqual(missing.candidates, ['20260317_1000', '20260317_0900']);
    assert.deepEqual(filesOf(world), before);
    world.write(stateOf('20260317_1000'), textOf(world, stateOf('20260317_1000')).replace('in-progress', 'under way'));
    const { faults } = world.refusal(7, ...restore('20260317_1000'));
    assert.match(String(listOf(faults)[0]), /^the session state, line 6: the status is none of the five; /);
    assert.equal(world.answer(...restore('20260317_1000', '--status', 'in-progress')).status, 'in-progress');
  });

  test('looks at nothing outside of the documents, wherever a link leads', (context) => {
    const world = drifted(context);
    world.write('../secret.md', sample(sessionState, { Task: 'TOPSECRET' }));
    rmSync(world.path(stateOf('20260317_1000')));
    symlinkSync(join(world.root, 'secret.md'), world.path(stateOf('20260317_1000')));
    const outcome = world.run(...restore('20260317_1000'), '--json');
    assert.equal(outcome.status, 4);
    assert.doesNotMatch(outcome.stdout, /TOPSECRET/);
  });
});

suite('a pair that makes way for a new one', () => {
  const byHand = (world: TestWorld): string => {
    const text = textOf(world, current).replace('2. Print', '2. Print\n3. By hand');
    world.write(current, text);
    return text;
  };

  test('takes what was written in it along, and the new one has nothing of it, whoever makes way for whom', (context) => {
    const next: readonly (readonly string[])[] = [
      ['handoff', 'new', '--task', 'Another', '--updated-by', 'ana', '--next-owner', 'ben', '--force'],
      ['begin', 'review', '--name', 'look'],
    ];
    for (const step of next) {
      const world = begun(context);
      byHand(world);
      const { session } = later(world, 1).answer(...step);
      const steps = (path: string): string => valueIn(world, path, 'Remaining steps');
      assert.equal(steps(stateOf('20260317_0900')), '1. Parse\n2. Print\n3. By hand', step.join(' '));
      later(world, 2).answer('note', 'going on', '--session', session);
      assert.doesNotMatch(steps(current), /By hand/);
      assert.deepEqual(auditOf(world), clean);
    }
  });

  test('leaves the status of a task that goes on as it is, and a status that is said follows from it', (context) => {
    const next = ['handoff', 'new-handover', '--task-summary', 'Ship the parser', ...ship.slice(2)];
    const status = (world: TestWorld): string => valueIn(world, current, 'Status');
    for (const [stands, ...said] of [
      ['blocked', '--blocker', 'no token'],
      ['ready-for-review', '--remaining-step', 'None'],
    ] as const) {
      const world = begun(context);
      world.answer('handoff', 'update', '--updated-by', 'ana', '--status', stands, ...said);
      assert.equal(later(world, 1).answer(...next).status, stands);
      assert.equal(status(world), stands);
      later(world, 2).answer('handoff', 'new', ...ship, '--force');
      assert.equal(status(world), stands);
    }
    const world = begun(context);
    world.refusal(5, ...next, '--status', 'done');
    assert.equal(status(world), 'in-progress');
  });

  test('is what another program has left there: it becomes a task of its own', (context) => {
    const world = createWorld(context);
    world.write(current, sample(sessionState, { Task: 'Foreign' }));
    world.write(transferOf('20260312_0915'), sample(handover, { 'Task summary': 'Foreign' }));
    const foreign = textOf(world, current);
    const answer = world.answer('handoff', 'new', ...ship, '--force');
    assert.equal(answer.superseded, task);
    assert.equal(textOf(world, stateOf('20260312_0915')), foreign.replace('CURRENT', '20260312_0915'));
    assert.equal(valueIn(world, current, 'Task'), 'Ship the parser');
    world.answer('note', 'going on', '--session', answer.session);
    assert.equal(valueIn(world, current, 'Task'), 'Ship the parser');
    assert.deepEqual(auditOf(world), clean);
  });

  test('stays while another program says that somebody works with it', (context) => {
    const world = createWorld(context);
    world.write(current, sample(sessionState));
    world.write(transferOf('20260312_0915'), sample(handover));
    world.answer('handoff', 'archive', '--timestamp', '20260312_1000');
    const lease = {
      version: 1,
      holder: 'dora',
      purpose: 'look',
      acquired_at: '2026-03-17T11:50:00+00:00',
      expires_at: '2026-03-17T12:20:00+00:00',
      handover: 'handovers/20260312_0915_handover.md',
      session_state: 'session-state/CURRENT.md',
    };
    world.write(`${root}/session-state/ACTIVE_LEASE.json`, JSON.stringify(lease));
    const before = filesOf(world);
    for (const step of [restore('20260312_1000'), ['handoff', 'new', ...ship, '--force']])
      assert.match(refusedText(world, 10, ...step), /^stint: The documents are held by dora /);
    assert.deepEqual(filesOf(world), before);
    assert.equal(later(world, 30).answer(...restore('20260312_1000')).superseded.session, task);
  });

  test('stays while somebody else holds its session', (context) => {
    const world = begun(context);
    as(world, 'ana').answer('lease', 'claim');
    const before = textOf(world, current);
    const other = ['--task', 'Another', '--updated-by', 'eve', '--next-owner', 'ben', '--force'];
    assert.match(world.refusal(10, 'handoff', 'new', ...other).message, / is held by ana /);
    assert.equal(textOf(world, current), before);
  });

  test('what was taken in once is an older version from then on, and no news when it comes back', (context) => {
    const world = begun(context);
    const edited = byHand(world);
    later(world, 1).answer('note', 'one');
    later(world, 2).answer('handoff', 'update', '--updated-by', 'ana', '--remaining-step', 'All of it');
    const now = textOf(world, current);
    world.write(current, `${now}\n## Ours\nmine\n`);
    later(world, 3).answer('note', 'two');
    world.write(current, edited);
    const { documents } = later(world, 4).answer('note', 'three');
    assert.equal(documents, undefined);
    assert.equal(valueIn(world, current, 'Remaining steps'), '1. All of it');
    assert.match(textOf(world, current), /\n## Ours\nmine\n$/);
  });
});

suite('whoever is interrupted', () => {
  const filesIn = (world: TestWorld): readonly string[] =>
    ['handovers', 'session-state'].flatMap((folder) =>
      readdirSync(world.path(root, folder)).map((name) => `${name}\n${textOf(world, `${root}/${folder}/${name}`)}`),
    );
  const killed = (tidying: Tidying, world: TestWorld, args: readonly string[], types: readonly string[]): number => {
    const whole = createWorld(tidying, { from: world }).with({ now: world.env['STINT_NOW'] ?? '' });
    whole.answer(...args);
    const [before, after] = [filesIn(world), filesIn(whole)];
    const healed = (left: TestWorld, wasCommitted: boolean, what: string): void =>
      assert.deepEqual(filesIn(left), wasCommitted ? after : before, what);
    return killAtEachStep(tidying, world, { args, types, left: () => {}, healed }, 3);
  };

  test(
    'while a pair is archived leaves it whole or not at all when the next verb has run',
    { skip: fileOnly },
    (context) => {
      const kills = killed(context, begun(context), ['handoff', 'archive'], ['PairArchived']);
      context.diagnostic(`${kills} kills`);
    },
  );

  test(
    'while one is restored leaves the one or the other when the next verb has run',
    { skip: fileOnly },
    (context) => {
      const world = begun(context);
      world.answer('handoff', 'archive', '--timestamp', '20260317_1000');
      world.answer('handoff', 'update', '--updated-by', 'ana', '--current-step', 'Later');
      const kills = killed(context, world, restore('20260317_1000'), ['PairArchived', 'DocumentEdited']);
      context.diagnostic(`${kills} kills`);
    },
  );

  test(
    'by a folder that may not be written is told, and the next verb that can writes the files',
    { skip: withoutUser },
    (context) => {
      const world = ordinary(begun(context));
      const folder = world.path(root, 'handovers');
      chmodSync(folder, 0o555);
      assert.match(warningsOf(world, 'handoff', 'archive'), /could not be written/);
      // The next one does not take the stamp that is on record.
      assert.equal(world.run('handoff', 'archive', '--json').json.timestamp, '20260317_1201');
      chmodSync(folder, 0o755);
      world.answer('note', 'going on');
      assert.deepEqual(readdirSync(folder), [
        '20260317_0900_handover.md',
        '20260317_1200_handover.md',
        '20260317_1201_handover.md',
      ]);
      assert.deepEqual(auditOf(world), clean);
    },
  );

  test('by that leaves no stamp that another session takes', { skip: withoutUser }, (context) => {
    const world = createWorld(context);
    world.answer('handoff', 'new', ...ship, '--handover-output', `${root}/handovers/a.md`);
    const user = ordinary(world);
    const folders = ['handovers', 'session-state'].map((folder) => world.path(root, folder));
    for (const folder of folders) chmodSync(folder, 0o555);
    const other = ['--task', 'Another', '--updated-by', 'ana', '--next-owner', 'ben', '--force'];
    user.run('handoff', 'new', ...other, '--handover-output', `${root}/handovers/b.md`);
    assert.equal(user.run('handoff', 'archive', '--json').json.timestamp, '20260317_1201');
    for (const folder of folders) chmodSync(folder, 0o755);
    user.answer('note', 'going on', '--session', `${task}-2`);
    assert.equal(valueIn(world, stateOf('20260317_1200'), 'Task'), 'Ship the parser');
    assert.equal(valueIn(world, stateOf('20260317_1201'), 'Task'), 'Another');
    assert.deepEqual(auditOf(user), clean);
  });
});
