/** Steps that are handed out, shown with a kind that has many of them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { openStint, type Stint } from '../../src/postgres.ts';
import { exploreKind } from '../../src/kernel/explore.ts';
import type { JsonObject } from '../../src/lib/canonical-json.ts';
import { isDamagedStore, repairStore } from '../../src/store/repair.ts';
import { openFileWorkplace, runVerb } from '../../src/surfaces/world.ts';
import { next as nextVerb } from '../../src/verbs/next.ts';
import { startProgram } from '../support/processes.ts';
import { storeIn } from '../support/environment.ts';
import {
  createWorld,
  fileOnly,
  listOf,
  repository,
  runWholeProcesses,
  type Printed,
  type TestWorld,
} from '../support/world.ts';
import { defineSheet, verbs } from './sheet/index.ts';

runWholeProcesses();

/** Somebody who works on a sheet at a time. */
interface Hand {
  readonly ask: (verb: string, input?: JsonObject, call?: Parameters<Stint['run']>[2]) => Promise<Printed>;
  /** The refusal that a verb must answer with. */
  readonly refused: (verb: string, input?: JsonObject, call?: Parameters<Stint['run']>[2]) => Promise<Printed>;
}

/** Time, in minutes after noon. */
interface Clock {
  minutes: number;
}

const handIn = (context: TestContext, world: TestWorld, clock: Clock, actor: string, columns: number): Hand => {
  const now = (): string => new Date(Date.parse('2026-03-17T12:00:00Z') + clock.minutes * 60_000).toISOString();
  const kinds = [defineSheet(columns)];
  const opening = openStint({ cwd: world.project, actor, host: 'desk', kinds, verbs, now, ...storeIn(world.env) });
  context.after(async () => {
    const opened = await opening;
    if (opened.ok) await opened.value.close();
  });
  const run: Stint['run'] = async (...call) => {
    const opened = await opening;
    if (!opened.ok) assert.fail(opened.error.message);
    return opened.value.run(...call);
  };
  return {
    ask: async (verb, input = {}, call) => {
      const answer = await run(verb, input, call);
      if (!answer.ok) assert.fail(`${verb}: ${answer.error.refusal.message}`);
      return answer.value;
    },
    refused: async (verb, input = {}, call) => {
      const answer = await run(verb, input, call);
      if (answer.ok) assert.fail(`${verb}: ${JSON.stringify(answer.value)}`);
      const { refusal } = answer.error;
      // What is suggested can be run as it stands.
      for (const text of [refusal.hint ?? 'stint next', ...(refusal.legal ?? [])])
        assert.match(text, /^stint (?:next|resume|lease|process|begin|start|beat)\b/, refusal.message);
      return refusal;
    },
  };
};

/** A sheet that was begun, and two hands on it. */
const sheetOf = async (context: TestContext, columns: number) => {
  const world = createWorld(context);
  const clock: Clock = { minutes: 0 };
  const ana = handIn(context, world, clock, 'ana', columns);
  const bob = handIn(context, world, clock, 'bob', columns);
  await ana.ask('begin', { kind: 'sheet', name: 'x' });
  return { world, clock, ana, bob };
};

const claim = async ({ ask }: Hand, input: JsonObject = {}): Promise<Printed> => {
  const [step] = listOf((await ask('next', { claim: true, ...input })).steps);
  assert.ok(step !== undefined, 'a step is handed out');
  return step;
};

const complete = async ({ ask }: Hand, { id, attempt, token }: Printed): Promise<Printed> =>
  ask('complete-step', { step: id, attempt, token });

const eventsOf = async ({ ask }: Hand): Promise<readonly string[]> =>
  listOf((await ask('log', { session: 'x' })).events)
    .filter(({ type }) => String(type).startsWith('Step'))
    .map(
      ({ type, data }) =>
        `${type} ${data.step} ${data.attempt ?? data.as}${data.because === undefined ? '' : ` ${data.because}`}`,
    );

test('a kind with steps keeps what every kind promises', () => {
  assert.deepEqual(exploreKind(defineSheet(1), 2000).faults, []);
});

test('what is ready is listed in order, in pages, without changing anything', async (context) => {
  const { ana } = await sheetOf(context, 30);
  const first = await ana.ask('next', { limit: 2 });
  assert.deepEqual(first, {
    session: 'sheet:x',
    session_id: 'x',
    steps: [
      { id: 'c-001', type: 'column', name: 'add up c-001', attempt: 1, args: { column: 0 } },
      { id: 'c-002', type: 'column', name: 'add up c-002', attempt: 1, args: { column: 1 } },
    ],
    total: 30,
    running: 0,
    in_doubt: [],
    in_doubt_total: 0,
    abandoned: [],
    abandoned_total: 0,
    next_action: { kind: 'claim', text: 'Add up a column.', command: 'stint next --claim --session sheet:x' },
  });
  const idsOf = async (input: JsonObject): Promise<readonly string[]> =>
    listOf((await ana.ask('next', input)).steps).map(({ id }) => String(id));
  assert.deepEqual(await idsOf({ limit: 2, after: 'c-002' }), ['c-003', 'c-004']);
  assert.equal((await idsOf({})).length, 20);
  assert.deepEqual(await idsOf({ after: 'c-030' }), []);
  assert.deepEqual(await eventsOf(ana), []);
  assert.equal((await ana.refused('next', { ttl: '1h' })).code, 'usage');
  assert.equal((await ana.refused('next', { claim: true, after: 'c-001' })).code, 'usage');
  assert.equal((await ana.refused('next', { claim: true, ttl: '5s' })).code, 'usage');
});

test('a kind without steps answers with none, and with its next action', async (context) => {
  const { ana } = await sheetOf(context, 1);
  await ana.ask('begin', { kind: 'review', name: 'r' });
  for (const input of [{ session: 'r' }, { session: 'r', claim: true }]) {
    const answer = await ana.ask('next', input);
    assert.deepEqual(
      [answer.steps, answer.next_action.command],
      [[], 'stint advance change-context --session review:r'],
    );
  }
});

test('each ready step is handed to one caller, with an attempt and a token that only grows, and done by both', async (context) => {
  const { ana, bob } = await sheetOf(context, 2);
  const a = await claim(ana);
  const b = await claim(bob);
  assert.deepEqual([a.id, a.attempt, b.id, b.attempt], ['c-001', 1, 'c-002', 1]);
  assert.ok(Number.isSafeInteger(a.token) && b.token > a.token);
  assert.equal(a.expires_at, '2026-03-17T12:30:00.000Z');
  const none = await ana.ask('next', { claim: true });
  assert.deepEqual([none.steps, none.running, none.next_action.kind], [[], 2, 'wait']);
  assert.equal((await bob.refused('complete-step', { step: 'c-001', attempt: 1, token: b.token })).code, 'lease');
  assert.equal((await bob.refused('complete-step', { step: 'c-001', attempt: 2, token: a.token })).code, 'lease');
  assert.equal((await bob.refused('complete-step', { step: 'c-9', attempt: 1, token: 1 })).code, 'not-found');
  await complete(ana, a);
  const repeated = await complete(ana, a);
  assert.equal(repeated.position, '1 of 3', 'saying it again changes nothing');
  assert.equal(
    (await ana.refused('complete-step', { step: 'c-001', attempt: 1, token: a.token, failed: true })).code,
    'lease',
  );
  await complete(bob, b);
  const sum = await claim(ana);
  assert.equal(sum.id, 'sum', 'what depends on others comes when they are done');
  await complete(ana, sum);
  assert.equal((await ana.ask('finish')).outcome, 'completed');
  assert.equal((await ana.refused('next', { claim: true, session: 'x' })).code, 'illegal-transition');
});

test('a step that failed comes back as another attempt', async (context) => {
  const { ana } = await sheetOf(context, 1);
  const first = await claim(ana);
  await ana.ask('complete-step', { step: first.id, attempt: first.attempt, token: first.token, failed: true });
  const second = await claim(ana);
  assert.deepEqual([second.id, second.attempt], ['c-001', 2]);
  assert.ok(second.token > first.token);
});

test('a claim that expired is interrupted by the next one: an idempotent step comes back, another is in doubt, and late results are not taken', async (context) => {
  const { ana, bob, clock } = await sheetOf(context, 2);
  const [first, second] = listOf((await ana.ask('next', { claim: true, limit: 2, ttl: '10m' })).steps);
  clock.minutes = 9.9;
  assert.deepEqual((await bob.ask('next', { claim: true })).steps, []);
  clock.minutes = 10;
  const answer = await bob.ask('next', { claim: true });
  assert.deepEqual(answer.interrupted, [
    { id: 'c-001', attempt: 1, because: 'expired' },
    { id: 'c-002', attempt: 1, because: 'expired' },
  ]);
  assert.deepEqual(
    listOf(answer.steps).map(({ id, attempt }) => [id, attempt]),
    [['c-002', 2]],
  );
  assert.deepEqual(answer.in_doubt, ['c-001']);
  for (const step of [first, second]) {
    for (const [verb, input] of [
      ['complete-step', {}],
      ['start', {}],
      ['beat', {}],
    ] as const) {
      const refusal = await ana.refused(verb, { step: step.id, attempt: step.attempt, token: step.token, ...input });
      assert.ok(['lease', 'illegal-transition'].includes(refusal.code), `${verb} ${step.id}: ${refusal.message}`);
    }
  }
  assert.deepEqual(await eventsOf(bob), [
    'StepClaimed c-001 1',
    'StepClaimed c-002 1',
    'StepInterrupted c-001 1 expired',
    'StepInterrupted c-002 1 expired',
    'StepClaimed c-002 2',
  ]);
});

test('a step in doubt is not handed out before somebody says what came of it', async (context) => {
  const { ana, bob, clock } = await sheetOf(context, 11);
  await ana.ask('next', { claim: true, limit: 11, ttl: '10s' });
  clock.minutes = 1;
  const answer = await bob.ask('next', { claim: true, limit: 200 });
  assert.deepEqual(answer.in_doubt, ['c-001', 'c-011']);
  assert.equal(listOf(answer.steps).length, 9);
  for (const step of listOf(answer.steps)) await complete(bob, step);
  const { next_action: next } = await bob.ask('next');
  assert.equal(next.command, 'stint settle-step c-001 --as again --reason R --session sheet:x');
  await bob.ask('settle-step', { step: 'c-001', as: 'done', reason: 'the line is there' });
  await bob.ask('settle-step', { step: 'c-011', as: 'again', reason: 'it is not' });
  await bob.ask('settle-step', { step: 'c-011', as: 'again', reason: 'said again' });
  assert.equal(
    (await bob.refused('settle-step', { step: 'c-002', as: 'again', reason: 'r' })).code,
    'illegal-transition',
  );
  const again = await claim(bob);
  assert.deepEqual([again.id, again.attempt], ['c-011', 2]);
});

test('start and beat keep a claim, for whoever claimed it or shows its token, and nobody else', async (context) => {
  const { ana, bob, clock } = await sheetOf(context, 1);
  const { id, attempt, token } = await claim(ana, { ttl: '10m' });
  clock.minutes = 9;
  const started = await ana.ask('start', { step: id });
  assert.deepEqual([started.attempt, started.token, started.expires_at], [attempt, token, '2026-03-17T12:19:00.000Z']);
  clock.minutes = 18;
  assert.equal((await bob.refused('beat', { step: id })).code, 'lease');
  assert.equal((await bob.refused('beat', { step: id, token: token + 1 })).code, 'lease');
  assert.equal((await bob.refused('beat', { step: id, attempt: 2, token })).code, 'lease');
  assert.equal((await bob.ask('beat', { step: id, token, ttl: '1h' })).expires_at, '2026-03-17T13:18:00.000Z');
  clock.minutes = 77;
  assert.deepEqual((await bob.ask('next', { claim: true })).steps, []);
  await ana.ask('start', { step: id });
  assert.deepEqual(await eventsOf(ana), ['StepClaimed c-001 1', 'StepStarted c-001 1'], 'renewals are no events');
  assert.equal((await ana.refused('beat', { step: 'sum' })).code, 'illegal-transition');
});

test('a sign of life from far ahead keeps no step: it is interrupted, and doctor remarks on the clock as long as it counts', async (context) => {
  const { ana, bob, clock } = await sheetOf(context, 2);
  await ana.ask('next', { claim: true, limit: 2, ttl: '10m' });
  clock.minutes = 9;
  await ana.ask('beat', { step: 'c-002' });
  clock.minutes = 7;
  assert.equal((await bob.ask('doctor')).remarks, undefined, 'clocks may differ by two minutes');
  assert.deepEqual((await bob.ask('next', { claim: true })).interrupted, []);
  clock.minutes = 6.9;
  assert.deepEqual((await bob.ask('doctor')).remarks, [
    {
      subject: 'sheet:x',
      remark: 'its newest time 2026-03-17T12:09:00.000Z is ahead of this clock (2026-03-17T12:06:54.000Z)',
    },
  ]);
  assert.deepEqual((await bob.ask('next', { claim: true })).interrupted, [
    { id: 'c-002', attempt: 1, because: 'its clock was ahead' },
  ]);
  assert.ok((await eventsOf(bob)).includes('StepInterrupted c-002 1 its clock was ahead'));
  assert.equal((await bob.ask('doctor')).remarks, undefined);
});

test('a worker that is gone loses its step at once, one on another machine only by time', async (context) => {
  const { world, ana, bob, clock } = await sheetOf(context, 3);
  const program = await startProgram(context);
  const held = await claim(ana, { pid: program.pid });
  assert.deepEqual((await bob.ask('next', { claim: true })).interrupted, []);
  await program.kill();
  const there = await openStint({
    ...storeIn(world.env),
    cwd: world.project,
    actor: 'eve',
    host: 'elsewhere',
    kinds: [defineSheet(3)],
    verbs,
    now: () => '2026-03-17T12:00:00.000Z',
  });
  assert.ok(there.ok);
  context.after(there.value.close);
  const far = await there.value.run('next', { claim: true });
  assert.ok(far.ok);
  assert.deepEqual(far.value['interrupted'], [], 'from another machine nobody can tell');
  const answer = await bob.ask('next', { claim: true });
  assert.deepEqual(answer.interrupted, [{ id: held.id, attempt: 1, because: 'gone' }]);
  assert.ok((await eventsOf(bob)).includes(`StepInterrupted ${held.id} 1 gone`));
  clock.minutes = 0;
});

test('time alone takes no step from a worker that is seen alive; on purpose it is taken', async (context) => {
  const { ana, bob, clock } = await sheetOf(context, 3);
  const program = await startProgram(context);
  const [, second] = listOf((await ana.ask('next', { claim: true, limit: 2, pid: program.pid, ttl: '10m' })).steps);
  clock.minutes = 60;
  assert.deepEqual((await bob.ask('next')).abandoned, []);
  const { interrupted, steps } = await bob.ask('next', { claim: true });
  assert.deepEqual([interrupted, listOf(steps).map(({ id }) => id)], [[], ['c-003']]);
  await complete(ana, second);
  const taken = await bob.ask('resume', {}, { takeOver: true });
  assert.deepEqual(listOf(taken.interrupted)[0], { id: 'c-001', attempt: 1, because: 'taken over' });
});

test('a process that has ended on record has let go of its steps', async (context) => {
  const { ana, bob } = await sheetOf(context, 2);
  const { id: process } = await ana.ask('process start', { kind: 'instance', session: 'x' });
  const [held] = listOf((await ana.ask('next', { claim: true }, { process: String(process) })).steps);
  await ana.ask('process end', { id: process });
  assert.deepEqual((await bob.ask('next', { claim: true })).interrupted, [
    { id: held?.id, attempt: 1, because: 'gone' },
  ]);
});

test('the token of a step is enough for its step, whoever holds the session; for the next one it takes the lease', async (context) => {
  const { ana, bob } = await sheetOf(context, 3);
  const step = await claim(bob);
  const { token: lease } = await ana.ask('lease claim', { session: 'x' });
  await bob.ask('start', { step: step.id, session: 'x' });
  const older = { leaseToken: Number(lease) - 1 };
  for (const verb of ['start', 'beat'])
    assert.equal(
      (await bob.refused(verb, { step: step.id, session: 'x' }, older)).code,
      'lease',
      'nor with an older one',
    );
  const result = { step: step.id, attempt: step.attempt, token: step.token, session: 'x' };
  assert.equal((await bob.refused('complete-step', result, older)).code, 'lease');
  await bob.ask('complete-step', result);
  assert.equal((await bob.refused('next', { claim: true, session: 'x' })).code, 'lease');
  assert.equal((await bob.refused('next', { claim: true, session: 'x' }, { leaseToken: 5 })).code, 'lease');
  assert.equal(
    listOf((await bob.ask('next', { claim: true, session: 'x' }, { leaseToken: Number(lease) })).steps).length,
    1,
  );
  assert.equal(listOf((await bob.ask('next', { session: 'x' })).steps).length, 1, 'looking needs no lease');
});

/** What everybody is told to do next, by each verb that says it. */
const nextActions = async ({ ask }: Hand): Promise<readonly Printed[]> => {
  const [status, next] = [await ask('status', { session: 'x' }), await ask('next', { session: 'x' })];
  return [status.next_action, next.next_action];
};

test('a worker that is seen alive keeps its step, whatever others have put on record of its process', async (context) => {
  const { ana, bob } = await sheetOf(context, 3);
  const alive = { pid: process.pid };
  const lead = await startProgram(context);
  const { id: supervisor } = await ana.ask('process start', { kind: 'supervisor', session: 'x', pid: lead.pid });
  const startInstance = async (more: JsonObject): Promise<string> =>
    (await ana.ask('process start', { kind: 'instance', parent: supervisor, session: 'x', ...more })).id;
  const ended = await startInstance(alive);
  const swept = await startInstance(alive);
  const unseen = await startInstance({});
  for (const id of [ended, swept, unseen]) await ana.ask('next', { claim: true }, { process: id });
  await bob.ask('process end', { id: ended });
  await lead.kill();
  const { swept: rows } = await bob.ask('process sweep', { session: 'x' });
  assert.deepEqual(
    listOf(rows).map(({ id, status }) => [id, status]),
    [
      [supervisor, 'orphaned'],
      [swept, 'cancelled'],
      [unseen, 'cancelled'],
    ],
  );
  const answer = await bob.ask('next', { claim: true });
  assert.deepEqual([answer.interrupted, answer.steps, answer.running], [[], [], 3]);
  assert.deepEqual((await bob.ask('next')).abandoned, [], 'who was only cancelled has not been heard of');
  for (const { kind } of await nextActions(bob)) assert.equal(kind, 'wait');
});

test('where all that is left to do was abandoned, everybody is told to claim it; while its worker lives, to wait', async (context) => {
  const program = await startProgram(context);
  const ways = [
    { because: 'gone', claims: { pid: program.pid }, minutes: 0 },
    { because: 'expired', claims: { ttl: '10m' }, minutes: 10 },
  ];
  for (const { because, claims, minutes } of ways) {
    const { ana, bob, clock } = await sheetOf(context, 2);
    await complete(ana, await claim(ana));
    const left = await claim(ana, claims);
    const waits = await nextActions(bob);
    assert.deepEqual(
      waits.map(({ kind, command }) => [kind, command]),
      waits.map(() => ['wait', 'stint next --session sheet:x']),
      because,
    );
    assert.deepEqual((await bob.ask('next')).abandoned, []);
    await program.kill();
    clock.minutes = minutes;
    const claimIt = {
      kind: 'claim',
      text: 'Claim: 1 step was left by whoever had it.',
      command: 'stint next --claim --session sheet:x',
    };
    assert.deepEqual(await nextActions(bob), [claimIt, claimIt], because);
    const { abandoned, abandoned_total: total } = await bob.ask('next');
    assert.deepEqual([abandoned, total], [[{ id: left.id, attempt: 1, because }], 1]);
    assert.equal((await claim(bob)).attempt, 2, 'and that hands it out');
    assert.deepEqual((await bob.ask('next')).abandoned, []);
  }
});

test('a clock that is behind takes no step from a worker that is seen alive; where nobody is seen, the record says why', async (context) => {
  const { world, ana, clock } = await sheetOf(context, 3);
  const behind: Clock = { minutes: -3 };
  const bob = handIn(context, world, behind, 'bob', 3);
  const seen = await claim(ana, { pid: process.pid });
  const unseen = await claim(ana);
  behind.minutes = -2;
  assert.deepEqual((await bob.ask('next')).abandoned, [], 'two minutes are nothing');
  behind.minutes = -3;
  const left = [{ id: unseen.id, attempt: 1, because: 'its clock was ahead' }];
  assert.deepEqual((await bob.ask('next')).abandoned, left);
  await bob.ask('lease claim');
  clock.minutes = -5;
  for (const verb of ['start', 'beat']) {
    const { expires_at: until } = await ana.ask(verb, { step: seen.id, session: 'x' });
    assert.equal(until, '2026-03-17T12:25:00.000Z', 'whose own clock went back goes on, also next to a lease');
  }
  const { interrupted, steps } = await bob.ask('next', { claim: true, limit: 9 });
  assert.deepEqual(interrupted, [{ id: unseen.id, attempt: 1, because: 'its clock was ahead' }]);
  assert.deepEqual(
    listOf(steps).map(({ id, attempt }) => [id, attempt]),
    [
      [unseen.id, 2],
      ['c-003', 1],
    ],
  );
  assert.ok((await eventsOf(bob)).includes(`StepInterrupted ${unseen.id} 1 its clock was ahead`));
  await bob.ask('lease release');
  await complete(ana, seen);
});

test('a step whose claim has expired is no authority next to a lease of somebody else; without one its worker goes on, unless somebody else has it', async (context) => {
  const { ana, bob, clock } = await sheetOf(context, 4);
  const eve = await claim(bob, { ttl: '10m' });
  const step = await claim(bob, { ttl: '10m' });
  const { token: lease } = await ana.ask('lease claim', { session: 'x', ttl: '1h' });
  const session = { session: 'x' };
  const speaks = ({ id, attempt, token }: Printed) =>
    ['start', 'beat', 'complete-step'].map((verb) => [verb, { step: id, attempt, token, ...session }] as const);
  const older = { leaseToken: Number(lease) - 1 };
  for (const [verb, input] of speaks(step)) assert.equal((await bob.refused(verb, input, older)).code, 'lease', verb);
  clock.minutes = 10;
  for (const [verb, input] of speaks(step)) {
    const refusal = await bob.refused(verb, input);
    assert.deepEqual([refusal.code, refusal.lease?.holder], ['lease', 'ana'], verb);
    assert.match(refusal.message, /^sheet:x is held by ana on desk /, verb);
  }
  // The token of the lease, or its holder, is authority enough.
  await bob.ask('beat', { step: step.id, ttl: '10s', ...session }, { leaseToken: Number(lease) });
  clock.minutes = 20;
  assert.equal((await bob.refused('beat', { step: step.id, ...session })).code, 'lease');
  await ana.ask('lease release', session);
  for (const [verb, input] of speaks(step)) await bob.ask(verb, input);
  assert.equal(listOf((await ana.ask('next', { claim: true })).interrupted)[0].id, eve.id);
  for (const [verb, input] of speaks(eve))
    assert.ok(['lease', 'illegal-transition'].includes((await bob.refused(verb, input)).code), verb);
});

test(
  'a worker that says who it is keeps its step from a claimer that had looked before',
  { skip: fileOnly },
  async (context) => {
    const { world, ana } = await sheetOf(context, 2);
    const starter = await startProgram(context);
    const step = await claim(ana, { pid: starter.pid });
    await starter.kill();
    const opened = openFileWorkplace(
      {
        cwd: world.project,
        store: undefined,
        kinds: [defineSheet(2)],
        host: 'desk',
        now: () => '2026-03-17T12:00:00.000Z',
      },
      'make',
    );
    assert.ok(opened.ok);
    const { store } = opened.value;
    context.after(async () => store.close());
    const prepared = nextVerb.prepare({ claim: true });
    assert.ok(prepared.ok);
    let saidBefore = 0;
    const commit: typeof store.commit = async (request) => {
      // What the claimer does is planned by now, and its transaction not begun.
      await ana.ask('start', { step: step.id, token: step.token, pid: process.pid });
      saidBefore += 1;
      return store.commit(request);
    };
    const workplace = { ...opened.value, store: { ...store, commit } };
    const claimed = await runVerb(workplace, nextVerb, prepared.value, undefined, { actor: 'bob' });
    assert.ok(claimed.ok);
    assert.equal(saidBefore, 1);
    const { interrupted, steps } = claimed.value.answer;
    assert.deepEqual([interrupted, listOf(steps).map(({ id }) => id)], [[], ['c-002']]);
    await complete(ana, step);
  },
);

test('a process of another session is no sign of who works on a step here', async (context) => {
  const { ana } = await sheetOf(context, 2);
  const step = await claim(ana);
  await ana.ask('begin', { kind: 'sheet', name: 'y', branch: 'other' });
  const { id } = await ana.ask('process start', { kind: 'instance', session: 'y' });
  const calls = [
    ['next', { claim: true, session: 'x' }],
    ['start', { step: step.id, session: 'x' }],
    ['lease claim', { session: 'x' }],
  ] as const;
  for (const [verb, input] of calls)
    assert.deepEqual(
      await ana.refused(verb, input, { process: id }),
      {
        code: 'usage',
        message: `The process ${id} works on sheet:y, not on sheet:x.`,
        expected: 'a process of the session that is claimed, or none (--process, STINT_PROCESS)',
        hint: 'stint process list --session sheet:x',
        retryable: false,
      },
      verb,
    );
});

test('a closed session lists no steps, ready or abandoned', async (context) => {
  const { ana, clock } = await sheetOf(context, 3);
  await claim(ana, { ttl: '10s' });
  await ana.ask('finish', { abort: true });
  clock.minutes = 1;
  const {
    steps,
    total,
    abandoned,
    abandoned_total: left,
    next_action: action,
  } = await ana.ask('next', {
    session: 'x',
  });
  assert.deepEqual([steps, total, abandoned, left, action.kind], [[], 0, [], 0, 'reopen']);
});

test('a dry run hands nothing out, and a request that comes again is answered with what was handed out first', async (context) => {
  const { ana } = await sheetOf(context, 3);
  assert.equal(listOf((await ana.ask('next', { claim: true }, { dryRun: true })).steps).length, 1);
  assert.deepEqual(await eventsOf(ana), []);
  const first = await ana.ask('next', { claim: true }, { requestId: 'r' });
  assert.deepEqual(await ana.ask('next', { claim: true }, { requestId: 'r' }), { ...first, replayed: true });
  assert.equal((await eventsOf(ana)).length, 1);
});

test('a store that is made anew hands out no older token, and keeps what was renewed', async (context) => {
  const { ana, bob, clock } = await sheetOf(context, 2);
  const step = await claim(ana, { ttl: '10m' });
  clock.minutes = 9;
  await ana.ask('beat', { step: step.id });
  await ana.ask('rebuild', { session: 'x' });
  clock.minutes = 15;
  assert.deepEqual((await bob.ask('next', { claim: true })).interrupted, []);
  clock.minutes = -60;
  await bob.ask('settle-step', { step: step.id, as: 'again', reason: 'r' }).catch(() => undefined);
  const [other] = listOf((await bob.ask('log', { session: 'x', limit: 1 })).events);
  assert.ok(other?.data.token > step.token, 'not even by a clock that went back');
});

test(
  'a store that was made anew from an older copy takes no result of an attempt from before',
  { skip: fileOnly },
  async (context) => {
    const { world, ana, bob, clock } = await sheetOf(context, 2);
    const path = world.path('.stint/stint.db');
    const id = readFileSync(world.path('.git/stint-id'), 'utf8').trim();
    const held = await claim(ana, { ttl: '10m' });
    mkdirSync(world.path('copies', id), { recursive: true });
    const copied = new DatabaseSync(path);
    copied.exec(`VACUUM INTO '${world.path('copies', id, '2026-03-17T120000Z.db')}'`);
    clock.minutes = 11;
    const lost = await claim(bob);
    assert.deepEqual([lost.id, lost.attempt], ['c-002', 1], 'the first one is in doubt');
    for (const file of ['stint.db', 'stint.db-wal', 'stint.db-shm']) rmSync(world.path('.stint', file));

    const files = { path, idFile: world.path('.git/stint-id'), copies: world.path('copies'), traces: () => [] };
    const kinds = new Map([['sheet', defineSheet(2)]]);
    assert.ok(repairStore(files, kinds, '2026-03-17T12:12:00.000Z', () => isDamagedStore(files, kinds)) !== undefined);
    clock.minutes = 13;
    const eve = handIn(context, world, clock, 'ana', 2);
    for (const step of [held, lost]) {
      const { id: name, attempt, token } = step;
      assert.equal((await eve.refused('complete-step', { step: name, attempt, token })).code, 'lease');
      assert.equal((await eve.refused('beat', { step: name, attempt, token })).code, 'illegal-transition');
    }
    assert.deepEqual(await eventsOf(eve), ['StepClaimed c-001 1', 'StepInterrupted c-001 1 salvaged']);
    const again = await claim(eve);
    assert.deepEqual([again.id, again.attempt], ['c-002', 1]);
    assert.ok(again.token > lost.token, 'tokens grow also over what is lost');
    copied.close();
  },
);

test('8 workers on 200 steps, two of them killed: each step is completed once, and every attempt that was lost is on record', async (context) => {
  const world = createWorld(context);
  const columns = 199;
  const clock: Clock = { minutes: 0 };
  const ana = handIn(context, world, clock, 'ana', columns);
  await ana.ask('begin', { kind: 'sheet', name: 'race' });
  const effects = world.write('effects.txt', '');
  const workers = Array.from({ length: 8 }, (_, index) =>
    spawn(
      process.execPath,
      [join(repository, 'test/support/sheet-worker.ts'), world.project, String(columns), effects, `worker-${index}`],
      { env: world.env, stdio: ['ignore', 'inherit', 'inherit'] },
    ),
  );
  const ends = workers.map(async (worker) => once(worker, 'exit'));
  for (const index of [2, 5]) {
    // Somewhere in the middle of the work, wherever that worker is.
    while (readFileSync(effects, 'utf8').split('\n').length < 20 * index) await pause(2);
    workers[index]?.kill('SIGKILL');
  }
  let codes: readonly unknown[] = [];
  const settle = async (): Promise<void> => {
    for (const id of (await ana.ask('next', { session: 'race' })).in_doubt)
      await ana.ask('settle-step', { step: id, as: 'again', reason: 'its worker was killed', session: 'race' });
  };
  const all = Promise.all(ends).then((ended) => void (codes = ended.map(([code]) => code)));
  while (codes.length === 0) {
    await settle();
    await Promise.race([all, pause(50)]);
  }
  assert.deepEqual(codes, [0, 0, null, 0, 0, null, 0, 0]);
  await settle();
  // What the last one to be killed left behind.
  for (
    let left = await ana.ask('next', { claim: true, session: 'race' });
    listOf(left.steps).length > 0;
    left = await ana.ask('next', { claim: true, session: 'race' })
  )
    for (const step of listOf(left.steps))
      await ana.ask('complete-step', { step: step.id, attempt: step.attempt, token: step.token, session: 'race' });

  const events = listOf((await ana.ask('log', { session: 'race' })).events);
  const of = (type: string): readonly Printed[] => events.filter((event) => event.type === type);
  assert.equal(new Set(of('StepCompleted').map(({ data }) => data.step)).size, 200);
  assert.equal(of('StepCompleted').length, 200, 'each once');
  const claims = of('StepClaimed').map(({ data }) => `${data.step} ${data.attempt}`);
  assert.equal(new Set(claims).size, claims.length, 'no attempt is handed out twice');
  assert.equal(of('StepInterrupted').length, claims.length - 200, 'what was not completed was interrupted');
  assert.ok(of('StepInterrupted').length <= 2);
  const tokens = of('StepClaimed').map(({ data }) => Number(data.token));
  assert.deepEqual(
    tokens,
    tokens.toSorted((a, b) => a - b),
  );
  const done = readFileSync(effects, 'utf8').trimEnd().split('\n');
  assert.equal(new Set(done).size, done.length, 'no attempt was at work twice');
  assert.equal((await ana.ask('finish', { session: 'race' })).outcome, 'completed');
  assert.equal((await ana.ask('doctor')).healthy, true);
  writeFileSync(effects, '');
});
