import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { kinds } from '../src/kinds/registry.gen.ts';
import { createStint } from '../src/surfaces/library.ts';
import { openWorkplace } from '../src/surfaces/world.ts';
import { completeAtOnce, writeNotes } from './support/campaigns.ts';
import { storeIn } from './support/environment.ts';
import { startProcess, startProgram } from './support/processes.ts';
import { approval, json, name, reviewIn, session } from './support/reviews.ts';
import { assertSound, dumpStore, eventsOf, holdLock } from './support/stores.ts';
import {
  assertAnswer,
  assertErrorKeys,
  createWorld,
  fileOnly,
  listOf,
  noon,
  sorted,
  type Outcome,
  type Printed,
} from './support/world.ts';

/** How many processes race; more than this machine has cores, so that they are interrupted everywhere. */
const racers = Array.from({ length: 8 }, (_, index) => index);

/** Starts a verb in several processes at once, and waits for all. */
const race = async (start: (racer: number) => { readonly outcome: Promise<Outcome> }): Promise<readonly Outcome[]> =>
  Promise.all(racers.map(async (racer) => start(racer).outcome));

const answersOf = (outcomes: readonly Outcome[], what: string): readonly Printed[] =>
  outcomes.map((outcome) => assertAnswer(outcome, what));

test('9.1 fresh begins: 8 processes that begin different sessions in a folder without a store all succeed, 20 times over', async (context) => {
  for (let round = 0; round < 20; round += 1) {
    const world = createWorld(context);
    const answers = answersOf(
      await race((racer) =>
        world.start('begin', 'review', '--name', `race-${racer}`, '--branch', `b${racer}`, '--json'),
      ),
      `round ${round}`,
    );
    assert.deepEqual(
      answers.map((answer) => ({ session: answer.session, resumed: answer.resumed, revision: answer.revision })),
      racers.map((racer) => ({ session: `review:race-${racer}`, resumed: false, revision: 2 })),
    );
    const events = answers.flatMap((answer) => eventsOf(world, answer.session));
    assert.equal(events.length, 16);
    assert.equal(new Set(events.map(({ place }) => place)).size, 1, 'the checkout is one place, whoever came first');
    assertSound(world, `round ${round}`);
  }
});

test('8 processes that begin a review of one branch without a name get one session, and one of them has begun it', async (context) => {
  for (let round = 0; round < 3; round += 1) {
    const world = createWorld(context);
    const answers = answersOf(await race(() => world.start('begin', 'review', '--json')), 'begin');
    assert.deepEqual(new Set(answers.map((answer) => answer.session)), new Set([session]));
    assert.equal(answers.filter(({ resumed }) => resumed === false).length, 1);
    assert.deepEqual(
      eventsOf(world, session).map(({ type }) => type),
      ['SessionOpened', 'RoundStarted'],
    );
    assert.equal(world.answer('list', '--all').total, 1);
    assertSound(world);
  }
});

test('8 processes that begin anew abort each session once and leave one open', async (context) => {
  const world = reviewIn(context, 'context');
  const answers = answersOf(await race(() => world.start('begin', 'review', '--fresh', '--json')), 'begin --fresh');
  assert.equal(new Set(answers.map((answer) => answer.session)).size, 8, 'everybody has begun a session of their own');
  assert.equal(new Set(answers.map(({ aborted }) => aborted)).size, 8, 'everybody has aborted another one');
  const { sessions }: { sessions: readonly Printed[] } = world.answer('list', '--all');
  assert.equal(sessions.length, 9);
  assert.equal(sessions.filter(({ status }) => status === 'active').length, 1);
  for (const { session: key, status } of sessions) {
    const closes = eventsOf(world, key).filter(({ type }) => type === 'SessionClosed');
    assert.equal(closes.length, status === 'active' ? 0 : 1);
  }
  assertSound(world);
});

test('8 processes in 8 worktrees begin 8 sessions in the store that they share', async (context) => {
  const world = createWorld(context);
  for (const racer of racers) world.git('worktree', 'add', '-q', '-b', `b${racer}`, `../tree-${racer}`);
  const answers = answersOf(
    await race((racer) => world.with({ cwd: join(world.root, `tree-${racer}`) }).start('begin', 'review', '--json')),
    'begin',
  );
  assert.deepEqual(
    answers.map((answer) => ({ session: answer.session, branch: answer.branch })),
    racers.map((racer) => ({ session: `review:2026-03-17-b${racer}`, branch: `b${racer}` })),
  );
  assert.equal(world.answer('list').total, 8);
  assertSound(world);
});

test('9.1 one completion: 8 processes that complete one round complete it once, and all get the same answer, 20 times over', async (context) => {
  await completeAtOnce(context, racers.length, 20);
});

test('of 8 processes that complete one round with different payloads one wins, and the others are told', async (context) => {
  const world = reviewIn(context, 'synthesis');
  const outcomes = await race((racer) =>
    world.with({ input: json({ ...approval, head_sha: String(racer) }) }).start('complete-round', '--stdin', '--json'),
  );
  assert.deepEqual(sorted(outcomes.map(({ status }) => String(status))), ['0', '9', '9', '9', '9', '9', '9', '9']);
  const [completion, ...others] = eventsOf(world, session).filter(({ type }) => type === 'RoundCompleted');
  assert.deepEqual(others, []);
  assert.equal(completion?.data.payload.head_sha, String(outcomes.findIndex(({ status }) => status === 0)));
  assertSound(world);
});

test('9.1 one close: 8 processes that finish a session close it once, and all succeed', async (context) => {
  for (let round = 0; round < 3; round += 1) {
    const copy = reviewIn(context, 'complete');
    const outcomes = await race(() => copy.start('finish', '--session', name, '--json'));
    answersOf(outcomes, 'finish');
    assert.equal(new Set(outcomes.map(({ stdout }) => stdout)).size, 1, 'every caller gets the same answer');
    const closes = eventsOf(copy, session).filter(({ type }) => type === 'SessionClosed');
    assert.equal(closes.length, 1);
    assertSound(copy, `round ${round}`);
  }
});

test('8 processes that send one request carry it out once, and seven are answered with what was answered first', async (context) => {
  const world = reviewIn(context, 'context');
  const answers = answersOf(await race(() => world.start('note', 'once', '--request-id', 'once', '--json')), 'note');
  assert.equal(answers.filter(({ replayed }) => replayed === true).length, 7);
  assert.deepEqual(new Set(answers.map(({ seq }) => seq)), new Set([3]));
  assert.equal(eventsOf(world, session).length, 3);
});

test('of 8 processes that expect one revision one gets on, and the others are told', async (context) => {
  const world = reviewIn(context, 'context');
  const outcomes = await race(() => world.start('advance', 'change-context', '--expect-revision', '2', '--json'));
  assert.deepEqual(sorted(outcomes.map(({ status }) => String(status))), ['0', '9', '9', '9', '9', '9', '9', '9']);
  assert.equal(eventsOf(world, session).length, 3);
});

test('8 processes that sweep, finish, end and start at once give every process one end, in the log once, and agree about it, 20 times over', async (context) => {
  const template = reviewIn(context, 'complete');
  const program = await startProgram(context);
  const solo = startProcess(template, 'instance', '--name', 'solo');
  const lead = startProcess(template, 'supervisor', '--name', 'lead', '--pid', String(program.pid));
  const ada = startProcess(template, 'instance', '--name', 'ada');
  const others = ['bea', 'tool'].map((called) => startProcess(template, 'utility', '--name', called));
  await program.kill();
  const racing = [
    ['process', 'sweep'],
    ['finish', '--session', name],
    ['process', 'end', ada, '--exit-code', '0'],
    ['process', 'end', lead, '--outcome', 'crashed', '--exit-code', '137'],
    ['process', 'start', '--kind', 'instance', '--name', 'late', '--session', name],
    ['process', 'sweep'],
    ['process', 'end', solo, '--exit-code', '3'],
    ['finish', '--session', name],
  ] as const;
  /** What may be refused: the end of a process that has ended otherwise, and a start on a session that is closed. */
  const legal: readonly (readonly number[])[] = [[0], [0], [0, 9], [0, 9], [0, 5], [0], [0, 9], [0]];
  for (let round = 0; round < 20; round += 1) {
    const world = createWorld(context, { from: template });
    // Each round somebody else comes first.
    const order = racers.map((racer) => (racer * 3 + round) % racers.length);
    const raced = await race((racer) => world.start(...(racing[order[racer] ?? 0] ?? []), '--json'));
    const outcomes = racers.map((racer) => raced[order.indexOf(racer)]);
    for (const [racer, outcome] of outcomes.entries()) {
      const what = `round ${round}: ${racing[racer]?.join(' ')}: ${outcome?.stdout}`;
      assert.equal(outcome?.stderr, '', what);
      assert.ok((legal[racer] ?? []).includes(outcome.status ?? -1), what);
    }
    const events = eventsOf(world, session);
    const late = outcomes[4]?.status === 0 ? [outcomes[4].json.id] : [];
    const ends = events.filter(({ type }) => type === 'ProcessEnded');
    assert.deepEqual(
      sorted(ends.map(({ data }) => data.process)),
      sorted([solo, lead, ada, ...others, ...late]),
      `round ${round}: one end for each`,
    );
    assert.equal(events.filter(({ type }) => type === 'SessionClosed').length, 1);
    const endOf = (id: string): Printed => ends.find(({ data }) => data.process === id)?.data;
    const said: readonly (readonly [number, string, string, number])[] = [
      [2, ada, 'done', 0],
      [3, lead, 'crashed', 137],
      [6, solo, 'crashed', 3],
    ];
    for (const [racer, id, outcome, code] of said) {
      const isStored = endOf(id).outcome === outcome && endOf(id).exit_code === code;
      assert.equal(outcomes[racer]?.status === 0, isStored, `round ${round}: what was acknowledged is stored`);
    }
    const swept = [0, 5].flatMap((racer) => listOf(outcomes[racer]?.json.swept));
    assert.equal(new Set(swept.map(({ id }) => id)).size, swept.length, `round ${round}: nobody is swept twice`);
    for (const { id, status } of swept) assert.equal(endOf(id).outcome, status);
    assert.equal(outcomes[1]?.stdout, outcomes[7]?.stdout, 'who finishes gets the same answer');
    const processes: readonly Printed[] = world.answer('process', 'list', '--all').processes;
    for (const { id, status, exit_code: code } of processes)
      assert.deepEqual([status, code ?? undefined], [endOf(id).outcome, endOf(id).exit_code], `round ${round}`);
    assertSound(world, `round ${round}`);
  }
});

// These mostly wait: for a lock, or for each other.
suite('side by side', { concurrency: true }, () => {
  test(
    'B03: a lock that is held for 3 seconds is waited for, and no writer fails',
    { skip: fileOnly },
    async (context) => {
      const world = reviewIn(context, 'context');
      const holder = await holdLock(world);
      const enough = pause(3000);
      const writers = Array.from({ length: 8 }, async (_, writer) =>
        assertAnswer(await world.start('note', `remark ${writer}`, '--json').outcome, 'note'),
      );
      const read = assertAnswer(await world.start('status', '--json').outcome, 'status');
      assert.equal(read.notes, 0, 'reading does not wait for the lock');
      await enough;
      await holder.release();
      await Promise.all(writers);
      assert.equal(eventsOf(world, session).filter(({ type }) => type === 'Noted').length, 8);
      assertSound(world);
    },
  );

  test(
    'B03: a lock that is held past the deadline is busy: 8, the holder named, nothing printed, stored or mirrored (9.1 nothing on disk)',
    { skip: fileOnly },
    async (context) => {
      const world = reviewIn(context, 'synthesis');
      const before = dumpStore(world);
      const holder = await holdLock(world);
      const [text, data, begun] = await Promise.all([
        world.start('note', 'too late').outcome,
        world.with({ input: json(approval) }).start('complete-round', '-', '--json').outcome,
        world.start('begin', 'review', '--name', 'another', '--json').outcome,
      ]);
      await holder.release();
      const message = `The store ROOT/project/.stint/stint.db is locked by process ${holder.pid} (node); waited 10 s.`;
      assert.equal(text.status, 8);
      assert.equal(text.stdout, '');
      assert.equal(world.scrub(text.stderr), `stint: ${message}\n  try: run the same command again\n`);
      for (const outcome of [data, begun]) {
        assert.equal(outcome.status, 8);
        assert.equal(outcome.stderr, '');
        assertErrorKeys(outcome.json);
        assert.equal(outcome.json.error.code, 'busy');
        assert.equal(outcome.json.error.retryable, true);
        assert.equal(world.scrub(outcome.json.error.message), message);
      }
      assert.deepEqual(dumpStore(world), before);
      assert.equal(existsSync(world.path('.ocr/sessions/another')), false);
      assert.equal(existsSync(world.path(`.ocr/sessions/${name}/rounds`)), false);
      world.answer('note', 'in time');
    },
  );

  test('B01: 8 processes that write 50 remarks each lose none, fail never, and number them without a gap; a reader sees them grow', async (context) => {
    const world = reviewIn(context, 'context');
    const writing = new AbortController();
    const read = async (): Promise<readonly number[]> => {
      const lengths: number[] = [];
      while (!writing.signal.aborted) {
        const { events } = assertAnswer(await world.start('log', '--json').outcome, 'log');
        lengths.push(listOf(events).length);
      }
      return lengths;
    };
    const [reads] = await Promise.all([read(), writeNotes(world, racers.length, 50).finally(() => writing.abort())]);
    assert.deepEqual(
      reads,
      reads.toSorted((a, b) => a - b),
      'what was read once is read again',
    );
    const logged = world.answer('log');
    assert.equal(logged.total, 402);
    assert.equal(listOf(logged.events).length, 402, 'the log prints all, however many they are');
    assertSound(world);
  });
});

test('readers never see a state that was not: what show and log print agrees with itself while somebody writes', async (context) => {
  const world = reviewIn(context, 'context');
  const writing = new AbortController();
  const read = async (): Promise<number> => {
    let reads = 0;
    for (; !writing.signal.aborted; reads += 1) {
      const shown = assertAnswer(await world.start('show', '--json').outcome, 'show');
      assert.equal(shown.events.length, shown.session.events, 'show prints the events of the state that it prints');
      const logged = assertAnswer(await world.start('log', '--json').outcome, 'log');
      assert.equal(logged.events.length, logged.total, 'log prints as many events as it says there are');
    }
    return reads;
  };
  const readers = Promise.allSettled([read(), read(), read()]);
  try {
    await Promise.all(
      ['one', 'two', 'three'].map(async (text) => {
        for (let count = 0; count < 15; count += 1)
          assertAnswer(await world.start('note', text, '--json').outcome, 'note');
      }),
    );
  } finally {
    writing.abort();
  }
  for (const reads of await readers) {
    if (reads.status === 'rejected') throw reads.reason;
    assert.ok(reads.value > 0);
  }
});

test('a session that is begun while it is looked for is found, and no damage', async (context) => {
  const world = createWorld(context);
  world.answer('begin', 'review', '--name', 'late');
  const location = { cwd: world.project, store: undefined, ...storeIn(world.env), kinds, now: () => noon };
  const opened = await openWorkplace(location, 'make');
  assert.ok(opened.ok);
  context.after(async () => opened.value.store.close());
  const { store } = opened.value;
  let looks = 0;
  // The looks under its name and under its first characters come too early.
  const rows: typeof store.rows = async (filter) => {
    looks += 1;
    return looks <= 2 ? [] : store.rows(filter);
  };
  const stint = createStint(location, { ...opened.value, store: { ...store, rows } }, {});
  const answer = await stint.run('note', { text: 'found', session: 'late' });
  assert.ok(answer.ok, answer.ok ? '' : answer.error.refusal.message);
});
