/** Runs that are gone on with: what is left alone, what is taken, what is interrupted, and what nobody knows. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test, type TestContext } from 'node:test';
import type { JsonObject } from '../src/lib/canonical-json.ts';
import { startProgram } from './support/processes.ts';
import {
  checkpoint,
  flowIn,
  handsIn,
  runFolder,
  runKey,
  stepEvents,
  templateOf,
  work,
  writeTemplate,
  type Hand,
} from './support/runs.ts';
import { createWorld, lines, listOf, say, type Printed, type TestWorld } from './support/world.ts';

const stateOf = (world: TestWorld): Printed =>
  JSON.parse(readFileSync(world.path(runFolder, 'session-state.json'), 'utf8'));

/** A run of A and B, of which A is claimed for ten minutes by ana. */
const claimed = async (context: TestContext, more: JsonObject = {}) => {
  const flow = await flowIn(context, [[work('A', more)], [work('B')]]);
  const step = await flow.ana.claim({ ttl: '10m' });
  return { ...flow, step };
};

/** The same, whose claim has expired. */
const expired = async (context: TestContext, more: JsonObject = {}) => {
  const flow = await claimed(context, more);
  flow.clock.minutes = 11;
  return flow;
};

const idsOf = (list: Printed): readonly string[] => listOf(list).map(({ id }) => String(id));

/** What is said before the brief. */
const standing = (text: string): string => `${text.split('\n\n')[0] ?? ''}\n`;

suite('whoever is at work is left alone', () => {
  test('a claim that has not expired is left alone, and its owner is named', async (context) => {
    const { world, clock, bob } = await claimed(context);
    clock.minutes = 9;
    const answer = await bob.ask('resume');
    assert.deepEqual([answer.interrupted, answer.adopted, answer.in_doubt], [[], [], []]);
    assert.deepEqual(answer.still_running, [
      {
        id: 'A',
        attempt: 1,
        held_by: 'ana',
        host: 'desk',
        pid: null,
        process: null,
        alive: 'unknown',
        claimed_at: '2026-03-17T12:00:00.000Z',
        expires_at: '2026-03-17T12:10:00.000Z',
      },
    ]);
    assert.equal(
      standing(say(world.with({ now: '2026-03-17T12:09:00.000Z' }), 'resume')),
      lines(
        'resumed  run:flow: A (batch 1/2, 0/2 nodes done) (open_no_artifact)',
        'next: stint next --session run:flow',
        'running: A, attempt 1 of ana on desk until 2026-03-17T12:10:00.000Z',
      ),
    );
    assert.equal(stateOf(world).node_states.A.status, 'running');
  });

  test('a worker that is seen alive is left alone, however long ago its claim has expired', async (context) => {
    const { clock, ana, bob } = await flowIn(context, [[work('A')]]);
    const program = await startProgram(context);
    await ana.claim({ ttl: '10s', pid: program.pid });
    clock.minutes = 24 * 60;
    const { still_running: running, interrupted } = await bob.ask('resume');
    assert.deepEqual(interrupted, []);
    assert.deepEqual([running[0].pid, running[0].alive], [program.pid, 'alive']);
  });

  test('with --take-over it is interrupted all the same, on record, and its late result is not taken', async (context) => {
    const { world, ana, bob, step } = await claimed(context);
    const answer = await bob.ask('resume', {}, { takeOver: true });
    assert.deepEqual(
      [answer.interrupted, answer.still_running, answer.in_doubt],
      [[{ id: 'A', attempt: 1, because: 'taken over' }], [], ['A']],
    );
    assert.equal(
      (await ana.refused('complete', { step: 'A', attempt: 1, token: step.token, output: 'late' })).code,
      'lease',
    );
    assert.equal(stateOf(world).node_states.A.status, 'failed');
    assert.deepEqual((await stepEvents(ana)).slice(2, 5), [
      'StepClaimed A 1',
      'SessionResumed',
      'StepInterrupted A 1 taken over',
    ]);
    assert.equal((await stepEvents(ana)).at(-1)?.startsWith('ResultRefused A 1'), true);
  });
});

suite('what nobody works on any more is interrupted', () => {
  test('a worker whose process is gone is interrupted at once, and its node is in doubt', async (context) => {
    const { world, ana, bob } = await flowIn(context, [[work('A')]]);
    const program = await startProgram(context);
    await ana.claim({ ttl: '7d', pid: program.pid });
    await program.kill();
    const answer = await bob.ask('resume');
    assert.deepEqual(
      [answer.interrupted, answer.in_doubt, answer.in_doubt_total],
      [[{ id: 'A', attempt: 1, because: 'gone' }], ['A'], 1],
    );
    assert.deepEqual(answer.next_action, {
      kind: 'settle',
      text: 'Nobody knows what A has done: look, then say stint resume --rerun A, or --done A.',
      command: 'stint resume --session run:flow',
    });
    assert.deepEqual(
      [stateOf(world).node_states.A.status, stateOf(world).node_states.A.error],
      ['failed', 'interrupted: nobody knows what it has done'],
    );
    assert.deepEqual((await bob.ask('next', { claim: true })).steps, [], 'it is not handed out');
  });

  test('a claim that has expired is interrupted, and who is told what to say', async (context) => {
    const { world } = await expired(context);
    assert.equal(
      standing(say(world.with({ now: '2026-03-17T12:11:00.000Z' }), 'resume')),
      lines(
        'resumed  run:flow: A (batch 1/2, 0/2 nodes done) (open_no_artifact)',
        'next: stint resume --session run:flow',
        'interrupted: A, attempt 1 (expired)',
        'in doubt: A (say --rerun STEP, or --done STEP)',
      ),
    );
  });

  test('at a revision that is past nobody is seen at work, whoever is now', async (context) => {
    const { world, bob } = await claimed(context);
    const revision = world.answer('status').revision;
    const { activity, activity_since: since } = world.answer('status');
    assert.deepEqual([activity, since], ['running', null]);
    const then = world.answer('show', '--at', String(revision)).session;
    assert.deepEqual([then.activity, then.activity_since, then.processes_total], ['none', null, 0]);
    await bob.ask('process start', { kind: 'instance', name: 'now' });
    assert.equal(world.answer('show', '--at', String(revision)).session.activity, 'none');
    assert.equal(world.answer('show').session.processes_total, 1);
  });

  test('a node that is idempotent comes back as the next attempt, and nobody is asked', async (context) => {
    const { ana, bob, step } = await expired(context, { idempotent: true });
    const answer = await bob.ask('resume');
    assert.deepEqual([idsOf(answer.interrupted), answer.in_doubt], [['A'], []]);
    const again = await bob.claim();
    assert.deepEqual([again.id, again.attempt], ['A', 2]);
    assert.equal(
      (await ana.refused('complete', { step: 'A', attempt: 1, token: step.token })).code,
      'lease',
      'the result of the first attempt is late',
    );
  });

  test('what is completed is not done again, in whatever batch the rest is', async (context) => {
    const { clock, ana, bob } = await flowIn(context, [[work('A'), work('B'), work('C')], [work('D')]]);
    await ana.ask('next', { claim: true, limit: 3, ttl: '10m' });
    await ana.ask('complete', { step: 'B' });
    clock.minutes = 11;
    assert.deepEqual(idsOf((await bob.ask('resume')).interrupted), ['A', 'C']);
    await bob.ask('resume', { rerun: ['A', 'C'] });
    assert.deepEqual(idsOf((await bob.ask('next', { claim: true, limit: 5 })).steps), ['A', 'C']);
  });

  test('resuming again changes nothing', async (context) => {
    const { bob } = await expired(context);
    const { revision } = await bob.ask('resume');
    const again = await bob.ask('resume');
    assert.deepEqual([again.interrupted, again.in_doubt, again.revision], [[], ['A'], revision]);
  });

  test('next --claim recovers the same as resume, in the transaction that hands out', async (context) => {
    const { clock, ana, bob } = await flowIn(context, [[work('A', { idempotent: true }), work('B')]]);
    await ana.ask('next', { claim: true, limit: 2, ttl: '10m' });
    clock.minutes = 11;
    const listed = await bob.ask('next');
    assert.deepEqual(
      listOf(listed.abandoned).map(({ id, because }) => [id, because]),
      [
        ['A', 'expired'],
        ['B', 'expired'],
      ],
    );
    assert.equal(listed.next_action.kind, 'claim', 'who only looks is told that it is to be claimed anew');
    const answer = await bob.ask('next', { claim: true });
    assert.deepEqual(
      [idsOf(answer.interrupted), idsOf(answer.steps), answer.steps[0].attempt, answer.in_doubt],
      [['A', 'B'], ['A'], 2, ['B']],
    );
  });
});

suite('a result that was left in a file is taken', () => {
  const leave = (world: TestWorld, { result_path: path }: Printed, content: unknown): void =>
    void world.write(String(path), typeof content === 'string' ? content : JSON.stringify(content));

  for (const verb of ['resume', 'next'] as const)
    test(`${verb} takes what the worker has left under its token, whether it is late or not`, async (context) => {
      for (const minutes of [5, 11]) {
        const { world, clock, bob, step } = await claimed(context);
        world.write('dist/app.tgz', 'x');
        const { token } = step;
        leave(world, step, {
          token,
          exit_code: 0,
          output: 'it is built\n',
          artifacts: ['dist/app.tgz'],
          child_session: 'WFS-build',
        });
        clock.minutes = minutes;
        const answer = await bob.ask(verb, verb === 'next' ? { claim: true } : {});
        assert.deepEqual(answer.adopted, [{ id: 'A', attempt: 1, outcome: 'completed', path: step.result_path }]);
        assert.deepEqual([answer.interrupted, answer.in_doubt, answer.notes], [[], [], undefined]);
        const { A: node } = stateOf(world).node_states;
        assert.deepEqual(
          [node.status, node.session_id, node.artifacts, node.output_path],
          ['completed', 'WFS-build', ['dist/app.tgz'], `${runFolder}/artifacts/A-output.md`],
        );
        assert.equal(readFileSync(world.path(node.output_path), 'utf8'), 'it is built\n');
      }
    });

  test('one that says it has failed is a failure, and the template says what follows', async (context) => {
    for (const [content, error] of [
      [{ exit_code: 3 }, 'exit code 3'],
      [{ exit_code: 0, error: 'it is broken' }, 'it is broken'],
      [{ exit_code: 137, error: 'killed' }, 'killed'],
    ] as const) {
      const { world, bob, step } = await expired(context, { on_fail: 'skip' });
      leave(world, step, { token: step.token, ...content });
      const answer = await bob.ask('resume');
      assert.deepEqual([answer.adopted[0].outcome, answer.in_doubt], ['failed', []]);
      assert.deepEqual(
        [stateOf(world).node_states.A.status, stateOf(world).node_states.A.error, stateOf(world).current_node],
        ['skipped', error, 'B'],
      );
    }
  });

  test('one that begins with a byte order mark is taken', async (context) => {
    const { world, bob, step } = await expired(context);
    world.write(step.result_path, `\uFEFF${JSON.stringify({ token: step.token, exit_code: 0 })}`);
    assert.deepEqual(idsOf((await bob.ask('resume')).adopted), ['A']);
  });

  test('one that is of another attempt, no JSON, or says nonsense is not taken, and that is told', async (context) => {
    for (const [content, why] of [
      [(token: number) => ({ token: token - 1, exit_code: 0 }), 'it does not hold the token of the attempt.'],
      [() => ({ exit_code: 0 }), 'it has no token.'],
      [() => '{"token": 1', /^it is not valid JSON|^it is cut|^it /],
      [() => '', /^it /],
      [() => '[]', 'it is no object.'],
      [(token: number) => ({ token, exit_code: 'zero' }), 'its exit_code is no number.'],
      [(token: number) => ({ token, output: 7 }), 'its output is no text.'],
      [(token: number) => ({ token, artifacts: [7] }), 'its artifacts are no texts.'],
      [(token: number) => ({ token: String(token) }), 'it has no token.'],
    ] as const) {
      const { world, bob, step } = await expired(context);
      leave(world, step, content(Number(step.token)));
      const answer = await bob.ask('resume');
      const [note, ...others] = listOf(answer.notes).map(String);
      assert.deepEqual(others, []);
      const said = note?.slice(`${step.result_path} is not taken: `.length) ?? '';
      if (typeof why === 'string') assert.equal(said, why);
      else assert.match(said, why);
      assert.deepEqual([answer.adopted, idsOf(answer.interrupted), answer.in_doubt], [[], ['A'], ['A']]);
    }
  });

  test('files that a result names and that are not there refuse it, as they do on the command line', async (context) => {
    const { world, bob, step } = await expired(context);
    leave(world, step, { token: step.token, exit_code: 0, artifacts: ['nowhere.tgz'] });
    const answer = await bob.ask('resume');
    assert.deepEqual([answer.adopted, answer.in_doubt], [[], ['A']]);
    assert.equal(
      answer.notes[0],
      `${step.result_path} is not taken: "nowhere.tgz" is not there, or leads out of the checkout.`,
    );
  });

  test('what is in doubt is not resolved by a file that comes later: somebody says so', async (context) => {
    const { world, bob, step } = await expired(context);
    await bob.ask('resume');
    leave(world, step, { token: step.token, exit_code: 0 });
    assert.deepEqual((await bob.ask('resume')).in_doubt, ['A']);
  });
});

suite('who knows what came of a node in doubt says so', () => {
  const settled = async (hand: Hand): Promise<readonly Printed[]> =>
    listOf((await hand.ask('log', { session: runKey })).events)
      .filter(({ type }) => type === 'StepSettled')
      .map(({ actor, data }) => ({ actor, ...data }));

  test('--rerun hands it out again as another attempt, on record with its reason', async (context) => {
    const { world, bob } = await expired(context);
    await bob.ask('resume');
    const answer = await bob.ask('resume', { rerun: ['A'], reason: 'nothing was written' });
    assert.deepEqual([answer.in_doubt, answer.next_action.kind], [[], 'claim']);
    assert.deepEqual(await settled(bob), [{ actor: 'bob', step: 'A', as: 'again', reason: 'nothing was written' }]);
    assert.equal((await bob.claim()).attempt, 2);
    await bob.ask('complete', { step: 'A' });
    assert.equal(stateOf(world).current_node, 'B');
  });

  test('--done makes it done, on record with its reason, and the run goes on behind it', async (context) => {
    const { world, bob } = await expired(context);
    const answer = await bob.ask('resume', { done: ['A'] });
    assert.deepEqual(idsOf(answer.interrupted), ['A'], 'in one call with what makes it doubtful');
    assert.deepEqual(await settled(bob), [{ actor: 'bob', step: 'A', as: 'done', reason: 'said by bob' }]);
    assert.deepEqual(
      [stateOf(world).node_states.A.status, stateOf(world).node_states.A.completed_at, (await bob.claim()).id],
      ['completed', '2026-03-17T12:11:00Z', 'B'],
    );
  });

  test('what is not in doubt, runs or is not there is refused, and nothing else of the call happens', async (context) => {
    const { world, ana, bob } = await claimed(context);
    const before = stateOf(world);
    for (const [input, code] of [
      [{ rerun: ['A'] }, 'illegal-transition'],
      [{ done: ['A'] }, 'illegal-transition'],
      [{ rerun: ['B'] }, 'illegal-transition'],
      [{ done: ['Z'] }, 'not-found'],
      [{ rerun: ['A'], done: ['A'] }, 'usage'],
      [{ reason: 'r' }, 'usage'],
    ] as const)
      assert.equal((await bob.refused('resume', input)).code, code, JSON.stringify(input));
    assert.equal((await bob.refused('resume', { rerun: ['B'] }, { takeOver: true })).code, 'illegal-transition');
    assert.deepEqual(stateOf(world), before, 'also what --take-over would have interrupted runs on');
    await ana.ask('complete', { step: 'A' });
  });

  test('a step that is left out is no question any more', async (context) => {
    const { world, bob } = await expired(context);
    await bob.ask('resume');
    await bob.ask('skip', { step: 'A', reason: 'not needed' });
    assert.deepEqual((await bob.ask('resume')).in_doubt, []);
    assert.equal(stateOf(world).node_states.A.status, 'skipped');
  });
});

suite('who may go on', () => {
  test('beside a live holder of the session a stranger is refused, and told what can be read', async (context) => {
    const { ana, bob } = await claimed(context);
    await ana.ask('lease claim', { session: runKey });
    for (const [verb, input] of [
      ['resume', {}],
      ['resume', { session: runKey }],
      ['run', { resume: 'flow' }],
    ] as const) {
      const refusal = await bob.refused(verb, input);
      assert.equal(refusal.code, 'lease', verb);
      assert.match(refusal.message, /^run:flow is held by ana on desk/);
      assert.deepEqual(refusal.legal, [
        'stint lease show --session run:flow',
        'stint lease claim --take-over --session run:flow',
      ]);
    }
    for (const verb of ['next', 'status', 'log']) await bob.ask(verb, { session: runKey });
    assert.equal((await ana.ask('resume')).resumed, true, 'the holder goes on');
  });

  test('the holder goes on without naming the session, also in a process that was there before its place was', async (context) => {
    const world = createWorld(context);
    const hand = handsIn(context, world, { minutes: 0 });
    const [ana, again] = [hand('ana'), hand('ana')];
    writeTemplate(world, 'flow', templateOf([[work('A')]]));
    assert.deepEqual(listOf((await again.ask('list')).sessions), []);
    await ana.ask('run', { template: 'flow', name: 'flow' });
    await ana.ask('lease claim', { session: runKey });
    for (const either of [ana, again]) assert.equal((await either.ask('resume')).resumed, true);
  });

  test('with --take-over a stranger gets the session, on record', async (context) => {
    const { ana, bob } = await claimed(context);
    const { token } = await ana.ask('lease claim', { session: runKey });
    const answer = await bob.ask('resume', { session: runKey }, { takeOver: true });
    assert.deepEqual(
      [answer.taken_over[0].session, answer.taken_over[0].from, idsOf(answer.interrupted)],
      [runKey, 'ana', ['A']],
    );
    assert.ok(answer.taken_over[0].lease_token > token);
    const types = new Set(listOf((await bob.ask('log', { session: runKey })).events).map(({ type }) => String(type)));
    for (const type of ['LeaseLost', 'LeaseClaimed', 'StepInterrupted']) assert.ok(types.has(type), type);
    assert.equal((await ana.refused('resume', { session: runKey })).code, 'lease');
  });

  test('a lease that has expired keeps nobody out', async (context) => {
    const { clock, ana, bob } = await claimed(context);
    await ana.ask('lease claim', { session: runKey, ttl: '10m' });
    clock.minutes = 11;
    assert.equal((await bob.ask('resume')).resumed, true);
  });

  test('a closed run is not resumed, however it ended, and it is said what is legal', async (context) => {
    const failed = await flowIn(context, [[work('A')]]);
    await failed.ana.claim();
    await failed.ana.ask('fail', { step: 'A', error: 'e' });
    const aborted = await flowIn(context, [[work('A')]]);
    await aborted.ana.ask('finish', { abort: true });
    const completed = await flowIn(context, [[work('A')]]);
    await completed.ana.claim();
    await completed.ana.ask('complete', { step: 'A' });
    for (const { ana } of [failed, aborted, completed])
      for (const [verb, input] of [
        ['resume', { session: runKey }],
        ['run', { resume: 'flow' }],
      ] as const) {
        const refusal = await ana.refused(verb, input);
        assert.deepEqual([refusal.code, listOf(refusal.legal).length], ['illegal-transition', 1]);
      }
  });

  test('a paused run goes on where it was, and resuming one that is not paused is no fault', async (context) => {
    const { world, clock, ana, bob } = await flowIn(context, [[work('A')], [checkpoint('CP', false)], [work('B')]]);
    await ana.claim();
    await ana.ask('complete', { step: 'A' });
    await ana.ask('decide', { node: 'CP', answer: 'pause' });
    clock.minutes = 60;
    assert.equal(
      standing(say(world.with({ now: '2026-03-17T13:00:00.000Z' }), 'resume')),
      lines(
        'goes on  run:flow: B (batch 3/3, 2/3 nodes done) (open_no_artifact)',
        'next: stint next --claim --session run:flow',
      ),
    );
    assert.equal((await bob.ask('resume')).was_paused, false);
    assert.equal((await bob.claim()).id, 'B');
  });

  test('where a settlement is refused, the run stays paused and is to be resumed; a review has nothing to settle', async (context) => {
    const { ana } = await flowIn(context, [[work('A')]]);
    await ana.ask('pause', {});
    const { hint, legal } = await ana.refused('resume', { done: ['A'] });
    assert.deepEqual([hint, legal], [`stint resume --session ${runKey}`, [hint]]);
    await ana.ask('begin', { kind: 'review', name: 'r' });
    const refusal = await ana.refused('resume', { rerun: ['X'], session: 'review:r' });
    assert.equal(refusal.message, 'A review hands out no steps, so that none of review:r is in doubt.');
    assert.equal(refusal.hint, 'stint resume --session review:r');
  });

  test('a node that was at work when the run was paused may end, and is not interrupted by the pause', async (context) => {
    const { world, clock, ana, bob } = await flowIn(context, [[work('A')], [checkpoint('CP', false)], [work('B')]]);
    await ana.claim();
    await ana.ask('complete', { step: 'A' });
    await ana.ask('decide', { node: 'CP', answer: 'pause' });
    await ana.ask('resume');
    await ana.claim({ ttl: '10m' });
    clock.minutes = 5;
    assert.deepEqual(idsOf((await bob.ask('resume')).still_running), ['B']);
    await ana.ask('complete', { step: 'B' });
    assert.equal(stateOf(world).status, 'completed');
  });
});
