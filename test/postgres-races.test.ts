/** Many processes with one server: what holds for a file holds there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killFirstBegins, killVerbs, raceClaims, workMixed, writeNotes } from './support/campaigns.ts';
import { useWorldsOnServer } from './support/postgres.ts';
import { advanceTo, approval, json } from './support/reviews.ts';
import { assertSound, eventsOf } from './support/stores.ts';
import { assertAnswer, createWorld, runWholeProcesses, sorted, type Outcome } from './support/world.ts';

runWholeProcesses();

useWorldsOnServer();

/** Starts a verb in 8 processes at once, and waits for all. */
const race = async (start: (racer: number) => { readonly outcome: Promise<Outcome> }): Promise<readonly Outcome[]> =>
  Promise.all(Array.from({ length: 8 }, async (_, racer) => start(racer).outcome));

test('8 processes that begin a review of one branch without a name get one session, and one of them has begun it', async (context) => {
  for (let round = 0; round < 3; round += 1) {
    const world = createWorld(context);
    const outcomes = await race(() => world.start('begin', 'review', '--json'));
    const answers = outcomes.map((outcome) => assertAnswer(outcome, 'begin'));
    assert.equal(new Set(answers.map((answer) => answer.session)).size, 1);
    assert.equal(answers.filter(({ resumed }) => resumed === false).length, 1);
    assert.equal(world.answer('list', '--all').total, 1);
    assertSound(world);
  }
});

test('8 processes that complete one round complete it once, and all get the same answer; with other payloads they are told', async (context) => {
  const world = createWorld(context);
  for (const [name, payloads, statuses] of [
    ['same', Array.from({ length: 8 }, () => approval), ['0', '0', '0', '0', '0', '0', '0', '0']],
    [
      'other',
      Array.from({ length: 8 }, (_, racer) => ({ ...approval, head_sha: String(racer) })),
      ['0', '9', '9', '9', '9', '9', '9', '9'],
    ],
  ] as const) {
    world.answer('begin', 'review', '--name', name, '--branch', name);
    advanceTo(world, 'synthesis', '--session', name);
    const outcomes = await race((racer) =>
      world.with({ input: json(payloads[racer]) }).start('complete-round', '-', '--session', name, '--json'),
    );
    assert.deepEqual(sorted(outcomes.map(({ status }) => String(status))), statuses);
    assert.equal(new Set(outcomes.filter(({ status }) => status === 0).map(({ stdout }) => stdout)).size, 1);
    const events = eventsOf(world, `review:${name}`);
    assert.equal(events.filter(({ type }) => type === 'RoundCompleted').length, 1);
  }
  assertSound(world);
});

test('8 processes that send one request carry it out once, and of 8 that expect one revision one gets on', async (context) => {
  const world = createWorld(context);
  const { session } = world.answer('begin', 'review');
  const noted = await race(() => world.start('note', 'once', '--request-id', 'once', '--json'));
  const answers = noted.map((outcome) => assertAnswer(outcome, 'note'));
  assert.equal(answers.filter(({ replayed }) => replayed === true).length, 7);
  assert.deepEqual(new Set(answers.map(({ seq }) => seq)), new Set([3]));
  const moved = await race(() => world.start('advance', 'change-context', '--expect-revision', '2', '--json'));
  assert.deepEqual(sorted(moved.map(({ status }) => String(status))), ['0', '9', '9', '9', '9', '9', '9', '9']);
  assert.equal(eventsOf(world, session).length, 4);
});

test('of 8 processes that claim one session at once exactly one gets it, 20 times over', async (context) => {
  await raceClaims(context, 8, 20);
});

test('8 processes that write 15 remarks each lose none, fail never, and number them without a gap', async (context) => {
  const world = createWorld(context);
  await writeNotes(world, 8, 15);
  assertSound(world);
});

test('kill -9 at any moment of any verb: what was acknowledged is there, what was not is whole or absent', async (context) => {
  const { kills, acknowledged, unanswered } = await killVerbs(context, 24);
  assert.equal(acknowledged + unanswered, kills);
  assert.ok(unanswered > 0, 'some were dead before they could answer');
  context.diagnostic(`${kills} kills, ${unanswered} before the answer`);
});

test('kill -9 at any moment of the very first verb: the next one makes the project', async (context) => {
  const { kills, unanswered } = await killFirstBegins(context, 6);
  context.diagnostic(`${kills} kills, ${unanswered} before the answer`);
});

test('8 workers that share sessions are refused for good reason only, and what they were told is there', async (context) => {
  const end = performance.now() + 5000;
  const { verbs, refused } = await workMixed(createWorld(context), 8, () => performance.now() > end);
  context.diagnostic(`${verbs} verbs, ${refused} refused`);
});
