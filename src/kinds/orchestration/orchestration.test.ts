import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DecidedEvent, StoredEvent } from '../../kernel/event.ts';
import type { KindCommand, Samples } from '../../kernel/kind.ts';
import { decidePause, decideResume } from '../../kernel/lifecycle-rules.ts';
import { decideBegin, decideCommand, decideFinish, decideReopen } from '../../kernel/lifecycle.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import {
  absentSession,
  appendEvents,
  applyEvent,
  isOpened,
  viewOfSession,
  type OpenedSession,
  type Session,
} from '../../kernel/session.ts';
import { modes, type Mode } from '../../formats/orchestrator/document.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import type { Result } from '../../lib/result.ts';
import { kind } from './index.ts';
import { backoffSeconds, levelOf } from './modes.ts';
import { agentSample, overallOf, usageSample } from './samples.ts';
import { agentOf, circuitOf, standingOf, type OrchestrationState } from './state.ts';

type Decided = Result<readonly DecidedEvent[], Refusal>;

/** An orchestration that is asked one thing after the other; time passes only where somebody waits. */
interface Orchestration {
  readonly session: () => OpenedSession;
  readonly state: () => OrchestrationState;
  readonly events: () => readonly StoredEvent[];
  readonly now: () => string;
  readonly wait: (seconds: number) => void;
  /** What happened because of it, by type; a refusal fails the test. */
  readonly ask: (command: KindCommand) => readonly string[];
  readonly refused: (command: KindCommand) => Refusal;
  readonly kernel: (decide: (session: OpenedSession) => Decided) => readonly string[];
  readonly decidedStart: (agent: string, said?: JsonObject) => Decided;
  readonly start: (agent: string, said?: JsonObject) => readonly string[];
  readonly notStarted: (agent: string) => Refusal;
  readonly complete: (agent: string, result?: JsonObject) => readonly string[];
  readonly fail: (agent: string, errorClass?: string) => readonly string[];
  readonly interrupt: (agent: string) => readonly string[];
  readonly decide: (answer: 'continue' | 'pause' | 'abort', more?: JsonObject) => readonly string[];
  readonly measure: (samples: Samples) => void;
  readonly standing: (agent: string) => string;
}

const holder = { actor: 'ana', host: 'desk', user: 'ana', place: 'here', worktree: 'main' };
const begun = '2026-03-17T12:00:00.000Z';

const goesOn = (session: OpenedSession): Decided => decideResume(session, { actor: 'ana', place: 'here', data: {} });

/** What starts an agent, one command after the other, as `agent start` does. */
const startOf = (session: Session, agent: string, now: string, said: JsonObject = {}): Decided => {
  const events: DecidedEvent[] = [];
  let after = session;
  const take = (command: KindCommand): Refusal | undefined => {
    const decided = decideCommand(after, command);
    if (!decided.ok) return decided.error;
    events.push(...decided.value);
    after = appendEvents(after, decided.value, { now, actor: 'ana', place: 'here', cause: 'c' }).session;
    return undefined;
  };
  const refusal = take({ type: 'prepare-agent', agent, agent_type: 'code', task: `do ${agent}`, ...said, now });
  if (refusal !== undefined) return { ok: false, error: refusal };
  const { steps } = after.folded;
  const { attempt = 1 } = steps?.ready({ limit: 1, only: agent }).steps[0] ?? {};
  const token = (steps?.token() ?? 0) + 1;
  const expires = new Date(Date.parse(now) + 1_800_000).toISOString();
  const claim = { type: 'claim-step', step: agent, attempt, token, holder, claimed_at: now, expires_at: expires };
  const late = take(claim) ?? take({ type: 'start-step', step: agent, attempt });
  return late === undefined ? { ok: true, value: events } : { ok: false, error: late };
};

const orchestrationIn = (mode: Mode = 'default'): Orchestration => {
  let session = absentSession(kind, 'orchestration:o');
  let seconds = 0;
  const events: StoredEvent[] = [];
  const now = (): string => new Date(Date.parse(begun) + seconds * 1000).toISOString();
  const append = (decided: Decided): readonly string[] => {
    if (!decided.ok) assert.fail(decided.error.message);
    const made = appendEvents(session, decided.value, {
      now: now(),
      actor: 'ana',
      place: 'here',
      cause: `c-${events.length}`,
    });
    ({ session } = made);
    events.push(...made.events);
    return decided.value.map(({ type }) => type);
  };
  const refusalOf = (decided: Decided, what: string): Refusal => {
    if (decided.ok) assert.fail(`${what} is not refused`);
    return decided.error;
  };
  const opened = (): OpenedSession => {
    if (!isOpened(session)) assert.fail('it is not open');
    return session;
  };
  const state = (): OrchestrationState => session.folded.state as OrchestrationState;
  const end = (step: string, outcome: string, result: JsonObject): readonly string[] =>
    append(decideCommand(session, { type: 'end-step', step, outcome, result, digest: JSON.stringify(result) }));
  const orchestration: Orchestration = {
    session: opened,
    state,
    events: () => events,
    now,
    wait: (more) => {
      seconds += more;
    },
    ask: (command) => append(decideCommand(session, command)),
    refused: (command) => refusalOf(decideCommand(session, command), command.type),
    kernel: (decide) => append(decide(opened())),
    decidedStart: (agent, said) => startOf(session, agent, now(), said),
    start: (agent, said) => append(startOf(session, agent, now(), said)),
    notStarted: (agent) => refusalOf(startOf(session, agent, now()), `the start of ${agent}`),
    complete: (agent, result) => end(agent, 'completed', result ?? { summary: `${agent} is done` }),
    fail: (agent, errorClass) =>
      end(agent, 'failed', { error: 'it broke', ...(errorClass === undefined ? {} : { class: errorClass }) }),
    interrupt: (step) => {
      const { attempt = 1 } = session.folded.steps?.running().find(({ id }) => id === step) ?? {};
      return orchestration.ask({ type: 'interrupt-step', step, attempt, because: 'gone' });
    },
    decide: (answer, more = {}) => {
      const node = state().checkpoints.at(-1)?.node ?? 'none';
      return orchestration.ask({ type: 'decide', node, answer, ...more });
    },
    measure: (samples) => {
      session = { ...session, samples };
    },
    standing: (agent) => {
      const found = agentOf(state(), agent);
      return found === undefined ? 'unknown' : standingOf(state(), found);
    },
  };
  append(
    decideBegin(
      session,
      { branch: 'main', worktree: 'main', goal: 'ship it' },
      { mode, project: { name: 'shop', path: '/srv/shop' } },
    ),
  );
  return orchestration;
};

const started = ['AgentPrepared', 'StepClaimed', 'StepStarted'];
const missingIn = ({ session }: Orchestration): readonly string[] => viewOfSession(session()).missing;
const nextIn = ({ session }: Orchestration) => viewOfSession(session()).next;
const fieldIn = ({ session }: Orchestration, field: string): unknown => viewOfSession(session()).fields[field];
const readyIn = ({ session }: Orchestration): readonly string[] =>
  session()
    .folded.steps?.ready({ limit: 100 })
    .steps.map(({ id }) => id) ?? [];

/** What each mode allows, as the original says it. */
const allowed: Readonly<Record<Mode, { readonly agents: number; readonly retries: number }>> = {
  default: { agents: 2, retries: 3 },
  debug: { agents: 1, retries: 5 },
  optimize: { agents: 4, retries: 2 },
  release: { agents: 4, retries: 1 },
};

for (const mode of modes)
  test(`in the mode ${mode} at most ${allowed[mode].agents} agents are at work at once, and one more may be started later`, () => {
    const it = orchestrationIn(mode);
    const { agents } = allowed[mode];
    for (let count = 1; count <= agents; count += 1) assert.deepEqual(it.start(`code-${count}`), started);
    const refusal = it.notStarted('one-more');
    assert.deepEqual([refusal.code, refusal.retryable], ['illegal-transition', true]);
    assert.match(refusal.message, new RegExp(`^No agent is started: ${agents} (?:is|are) at work .* ${mode} allows`));
    assert.equal(it.standing('one-more'), 'unknown', 'nobody hears of an agent that was not started');
    it.complete('code-1');
    if (mode !== 'optimize' && it.state().checkpoints.length > 0) it.decide('continue');
    assert.deepEqual(it.start('one-more'), started);
  });

test('in default a wave ends when nobody is at work any more, and nobody is started before somebody has decided', () => {
  const it = orchestrationIn();
  it.start('arch-1');
  it.start('code-1');
  assert.deepEqual(it.complete('arch-1'), ['StepCompleted']);
  assert.deepEqual(it.complete('code-1'), ['StepCompleted', 'WaveEnded']);
  const refusal = it.notStarted('code-2');
  assert.deepEqual(
    [refusal.code, refusal.retryable, refusal.hint],
    ['illegal-transition', false, 'stint decide wave-1 continue --session orchestration:o'],
  );
  assert.equal(it.standing('code-2'), 'unknown');
  assert.deepEqual(it.decide('continue'), ['CheckpointDecided']);
  assert.deepEqual(it.start('code-2'), started);
  assert.deepEqual(it.complete('code-2'), ['StepCompleted', 'WaveEnded']);
  assert.equal(it.state().checkpoints.at(-1)?.node, 'wave-2');
});

for (const mode of ['debug', 'release'] as const)
  test(`in ${mode} every end of an agent makes a checkpoint, whoever else is at work, and one that waits stands for all`, () => {
    const it = orchestrationIn(mode);
    it.start('code-1');
    if (mode === 'release') it.start('code-2');
    assert.deepEqual(it.complete('code-1'), ['StepCompleted', 'WaveEnded']);
    assert.equal(it.state().checkpoints.at(-1)?.why, 'agent');
    if (mode === 'release') assert.deepEqual(it.complete('code-2'), ['StepCompleted'], 'one that waits stands for all');
    it.decide('continue');
    it.start('code-3');
    assert.deepEqual(it.complete('code-3'), ['StepCompleted', 'WaveEnded']);
  });

test('optimize goes on by itself after a wave in which nothing has failed, and asks after any other', () => {
  const it = orchestrationIn('optimize');
  for (const agent of ['a', 'b', 'c', 'd']) it.start(agent);
  for (const agent of ['a', 'b', 'c']) assert.deepEqual(it.complete(agent), ['StepCompleted']);
  assert.deepEqual(it.complete('d'), ['StepCompleted', 'WaveEnded']);
  const { decision } = it.state().checkpoints.at(-1) ?? {};
  assert.deepEqual([decision?.answer, decision?.auto, decision?.actor], ['continue', true, 'ana']);
  for (const answer of ['continue', 'abort']) {
    const late = it.refused({ type: 'decide', node: 'wave-1', answer });
    assert.deepEqual([late.code, late.message], ['conflict', `wave-1 went on by itself at ${begun}.`]);
  }

  it.start('e');
  it.start('f');
  assert.deepEqual(it.fail('e', 'logical'), ['StepFailed']);
  assert.deepEqual(it.start('e'), ['StepClaimed', 'StepStarted']);
  assert.deepEqual(it.complete('e'), ['StepCompleted']);
  assert.deepEqual(it.complete('f'), ['StepCompleted', 'WaveEnded']);
  assert.equal(it.state().checkpoints.at(-1)?.decision, null, 'a failure that was made good is a failure all the same');
});

test('a failure is told at once where the mode says so: a permanent one in default and optimize, any in debug and release', () => {
  const classes = ['transient', 'resource', 'configuration', 'logical', 'permanent', undefined] as const;
  for (const mode of modes)
    for (const one of classes) {
      const it = orchestrationIn(mode);
      it.start('a');
      if (mode !== 'debug') it.start('b');
      const isTold = mode === 'debug' || mode === 'release' || one === 'permanent';
      assert.deepEqual(it.fail('a', one), isTold ? ['StepFailed', 'WaveEnded'] : ['StepFailed'], `${mode}, ${one}`);
      if (isTold) assert.equal(it.state().checkpoints.at(-1)?.why, 'failure', `${mode}, ${one}`);
    }
});

/** Lets an agent fail as often as its mode starts it, each time after it was left alone long enough; answers how often. */
const failAsOften = (it: Orchestration, agent: string): number => {
  for (let count = 0; count < 10; count += 1) {
    it.wait(61);
    const decided = it.decidedStart(agent);
    if (!decided.ok) return count;
    it.start(agent);
    if (it.fail(agent).includes('WaveEnded')) it.decide('continue');
  }
  return Infinity;
};

for (const mode of modes)
  test(`in the mode ${mode} an agent that fails is started again ${allowed[mode].retries} times, and then only where the mode changes`, () => {
    const it = orchestrationIn(mode);
    assert.equal(failAsOften(it, 'code-1'), allowed[mode].retries + 1);
    const refusal = it.notStarted('code-1');
    assert.deepEqual([refusal.code, refusal.retryable], ['illegal-transition', false]);
    assert.match(refusal.message, new RegExp(`has failed ${allowed[mode].retries + 1} times`));
    assert.deepEqual(readyIn(it), []);
    assert.equal(nextIn(it).command, 'stint agent cancel code-1 --session orchestration:o');
    const helps = refusal.legal?.includes('stint mode debug --session orchestration:o');
    assert.equal(helps, mode !== 'debug', 'debug allows most');
    if (mode !== 'debug') {
      it.ask({ type: 'change-mode', mode: 'debug' });
      assert.deepEqual(it.start('code-1'), ['StepClaimed', 'StepStarted']);
    }
  });

test('an agent that was cancelled, and one that was in doubt, has no more tries than before', () => {
  const cancelled = orchestrationIn('release');
  assert.equal(failAsOften(cancelled, 'a'), 2);
  cancelled.ask({ type: 'cancel-agent', agent: 'a' });
  const refusal = cancelled.notStarted('a');
  assert.match(refusal.message, /has failed 2 times/);
  assert.deepEqual(refusal.legal, ['stint mode debug --session orchestration:o'], 'it cannot be cancelled twice');

  const doubtful = orchestrationIn('default');
  for (const _ of [1, 2]) {
    doubtful.start('a');
    doubtful.fail('a');
    doubtful.decide('continue');
  }
  doubtful.start('a');
  doubtful.interrupt('a');
  doubtful.decide('continue');
  doubtful.ask({ type: 'change-mode', mode: 'release' });
  doubtful.ask({ type: 'settle-step', step: 'a', as: 'again', reason: 'nothing was written' });
  assert.match(doubtful.notStarted('a').message, /has failed 2 times/);
  assert.deepEqual(readyIn(doubtful), []);
});

test('after three failures in a row the circuit is open for 60 seconds, then one try is made: it opens again, or closes', () => {
  const it = orchestrationIn('debug');
  const circuit = (): string => {
    const agent = agentOf(it.state(), 'a');
    return agent === undefined ? 'none' : circuitOf(agent, it.now());
  };
  const failOnce = (): void => {
    it.start('a');
    it.fail('a');
    it.decide('continue');
  };
  failOnce();
  failOnce();
  assert.equal(circuit(), 'closed');
  failOnce();
  assert.equal(circuit(), 'open');
  const refusal = it.notStarted('a');
  assert.deepEqual(
    [refusal.message, refusal.retryable],
    [
      'The agent a is not started: it has failed 3 times in a row, and is left alone until 2026-03-17T12:01:00.000Z.',
      true,
    ],
  );
  assert.match(nextIn(it).text, /left alone until 2026-03-17T12:01:00\.000Z/);
  assert.deepEqual(it.start('b'), started, 'the circuit is that of one agent');
  it.complete('b');
  it.decide('continue');
  it.wait(59);
  assert.equal(circuit(), 'open');
  it.wait(1);
  assert.equal(circuit(), 'half-open');
  failOnce();
  assert.equal(circuit(), 'open', 'one try, no more');
  it.wait(60);
  it.start('a');
  it.complete('a');
  assert.equal(circuit(), 'closed');
});

test('an agent whose circuit is open is not handed out at that time, and keeps nobody else from it', () => {
  const it = orchestrationIn('debug');
  for (const _ of [1, 2, 3]) {
    it.start('a');
    it.fail('a');
    it.decide('continue');
  }
  const readyAt = (now: string | undefined): readonly string[] =>
    it
      .session()
      .folded.steps?.ready({ limit: 5, now })
      .steps.map(({ id }) => id) ?? [];
  assert.deepEqual(readyAt(it.now()), []);
  it.start('b');
  it.interrupt('b');
  it.ask({ type: 'settle-step', step: 'b', as: 'again', reason: 'nothing was written' });
  it.decide('continue');
  assert.deepEqual(readyAt(it.now()), ['b']);
  it.ask({ type: 'change-mode', mode: 'default' });
  assert.deepEqual(readyAt(it.now()), ['b']);
  assert.deepEqual(readyAt(undefined), ['b', 'a'], 'whoever asks for no time is told of both, and of that one last');
  assert.match(nextIn(it).command ?? '', /^stint agent start b /);
  it.wait(60);
  assert.deepEqual(readyAt(it.now()), ['b', 'a']);
});

test('a clock that was wrong when an agent failed does not keep it from being started', () => {
  const it = orchestrationIn('debug');
  it.wait(86_400);
  for (const _ of [1, 2, 3]) {
    it.start('a');
    it.fail('a');
    it.decide('continue');
  }
  it.wait(-86_400);
  assert.deepEqual(it.start('a'), ['StepClaimed', 'StepStarted']);
});

test('whoever starts a failed agent again is told to wait 0, 2, 4, 8, then 16 seconds first', () => {
  assert.deepEqual([1, 2, 3, 4, 5, 6, 99].map(backoffSeconds), [0, 2, 4, 8, 16, 16, 16]);
  const it = orchestrationIn('debug');
  it.start('a');
  it.fail('a');
  it.decide('continue');
  assert.equal(nextIn(it).text, 'Start a: do a. It has failed once.');
  it.start('a');
  it.fail('a');
  it.decide('continue');
  assert.equal(nextIn(it).text, 'Start a: do a. It has failed 2 times; wait 2 s first.');
});

test('what an agent has completed is never done again, whatever is said of it', () => {
  const it = orchestrationIn('optimize');
  it.start('a');
  it.complete('a');
  it.start('b');
  const refusal = it.notStarted('a');
  assert.equal(
    refusal.message,
    `The agent a is not started: it has completed at ${begun}, and what is finished is not done again.`,
  );
  for (const command of [
    { type: 'cancel-agent', agent: 'a' },
    { type: 'pause-agent', agent: 'a' },
    { type: 'continue-agent', agent: 'a' },
    { type: 'settle-step', step: 'a', as: 'again', reason: 'r' },
    { type: 'end-step', step: 'a', outcome: 'failed', result: { error: 'e' }, digest: 'e' },
  ])
    assert.equal(it.refused(command).code, 'illegal-transition', command.type);
  assert.deepEqual(readyIn(it), []);
  assert.deepEqual(it.complete('a'), [], 'the same result again changes nothing');
  assert.equal(it.standing('a'), 'complete');
});

test('a new agent says its type and its task; started again it keeps them, or says others', () => {
  const it = orchestrationIn('optimize');
  const bare = { type: 'prepare-agent', agent: 'code-1', now: begun };
  assert.match(it.refused(bare).message, /--type and --task are missing/);
  assert.match(it.refused({ ...bare, agent_type: 'code' }).message, /--task is missing/);
  it.start('code-1', { agent_type: 'code', task: 'write it' });
  it.fail('code-1');
  it.decide('continue');
  assert.deepEqual(it.start('code-1', { agent_type: 'code', task: 'write it' }), ['StepClaimed', 'StepStarted']);
  it.fail('code-1');
  it.decide('continue');
  assert.deepEqual(it.start('code-1', { agent_type: 'code', task: 'write it better' }), started);
  assert.equal(agentOf(it.state(), 'code-1')?.task, 'write it better');
  const unknown = it.refused({ type: 'cancel-agent', agent: 'code-2' });
  assert.deepEqual([unknown.code, unknown.candidates], ['not-found', ['code-1']]);
});

test('what was interrupted is in doubt, and is neither done nor started again before somebody says which', () => {
  const it = orchestrationIn('optimize');
  for (const agent of ['a', 'b', 'c']) {
    it.start(agent);
    it.interrupt(agent);
  }
  assert.deepEqual([it.standing('a'), readyIn(it)], ['in doubt', []]);
  assert.deepEqual(it.notStarted('a').legal, [
    'stint resume --rerun a --session orchestration:o',
    'stint resume --done a --session orchestration:o',
  ]);
  assert.deepEqual([nextIn(it).kind, nextIn(it).command], ['settle', 'stint resume --session orchestration:o']);
  assert.deepEqual(missingIn(it), ['a, b, c are in doubt: nobody knows what they have done']);
  const late = it.refused({
    type: 'end-step',
    step: 'a',
    attempt: 1,
    token: 1,
    outcome: 'failed',
    result: { error: 'e' },
  });
  assert.deepEqual([late.code, late.record?.[0]?.type], ['lease', 'ResultRefused']);
  it.ask({ type: 'settle-step', step: 'a', as: 'again', reason: 'nothing was written' });
  it.ask({ type: 'settle-step', step: 'b', as: 'done', reason: 'its file is there' });
  it.ask({ type: 'cancel-agent', agent: 'c' });
  assert.deepEqual(['a', 'b', 'c'].map(it.standing), ['pending', 'complete', 'cancelled']);
  assert.deepEqual(it.session().folded.steps?.inDoubt(), []);
  assert.deepEqual(it.start('a'), ['StepClaimed', 'StepStarted']);
  assert.equal(it.session().folded.steps?.running()[0]?.attempt, 2);
});

test('of an agent in doubt whoever knows it says what it has done, which settles the doubt; of an attempt that was superseded nobody does', () => {
  const it = orchestrationIn('optimize');
  const result = { summary: '14 files', files: ['a.ts'], tokens: 900 };
  const said = { type: 'end-step', step: 'a', outcome: 'completed', result, digest: 'd' } as const;
  it.start('a');
  it.interrupt('a');
  assert.deepEqual(it.ask(said), ['StepSettled'], 'without a token');
  assert.deepEqual(it.events().at(-1)?.data, {
    step: 'a',
    as: 'done',
    reason: 'its result was told afterwards',
    result,
    digest: 'd',
  });
  const { summary, files, tokens } = agentOf(it.state(), 'a') ?? {};
  assert.deepEqual([it.standing('a'), summary, files, tokens], ['complete', '14 files', ['a.ts'], 900]);
  assert.deepEqual([it.ask(said), it.session().folded.steps?.inDoubt()], [[], []], 'the same again changes nothing');
  assert.equal(it.refused({ ...said, result: { summary: 'other' }, digest: 'e' }).code, 'illegal-transition');

  it.start('b');
  const token = it.session().folded.steps?.token() ?? 0;
  it.interrupt('b');
  it.ask({ type: 'settle-step', step: 'b', as: 'again', reason: 'nothing was written' });
  const late = it.refused({ ...said, step: 'b', attempt: 1, token });
  assert.deepEqual([late.code, late.record?.[0]?.type], ['lease', 'ResultRefused'], 'it is to be done again');
  it.start('b');
  it.interrupt('b');
  for (const old of [{ token }, { attempt: 1 }])
    assert.equal(it.refused({ ...said, ...old, step: 'b' }).record?.[0]?.type, 'ResultRefused', 'that was attempt 1');
  assert.deepEqual(it.ask({ ...said, step: 'b', token: token + 1 }), ['StepSettled'], 'with its own token');
});

test('what somebody says who settles a doubt is what is told of the agent', () => {
  const it = orchestrationIn();
  it.start('a');
  it.interrupt('a');
  it.ask({ type: 'settle-step', step: 'a', as: 'done', reason: '14 files' });
  assert.equal(agentOf(it.state(), 'a')?.summary, '14 files');
});

test('a refusal about an agent speaks of agents, and says what helps for one that is at work, in doubt, or over', () => {
  const it = orchestrationIn();
  const told = (outcome: string, step: string): unknown => {
    const { message, expected, legal, hint } = it.refused({ type: 'end-step', step, outcome, result: {} });
    return { message, expected, legal, hint };
  };
  const list = 'stint agent list --session orchestration:o';
  it.start('a');
  it.complete('a');
  it.decide('continue');
  assert.deepEqual(told('failed', 'a'), {
    message: 'The agent a is not running: attempt 1 is completed.',
    expected: 'an agent that was handed out',
    legal: [list],
    hint: list,
  });
  it.start('b');
  const running = it.refused({ type: 'end-step', step: 'b', outcome: 'completed', token: 1, result: {} });
  assert.deepEqual(running.legal, [list, 'stint agent cancel b --session orchestration:o']);
  it.interrupt('b');
  const settle = ['resume --done', 'resume --rerun', 'agent cancel'].map(
    (command) => `stint ${command} b --session orchestration:o`,
  );
  assert.deepEqual(told('failed', 'b'), {
    message: 'The agent b is not running: attempt 1 is in doubt.',
    expected: 'an agent that was handed out',
    legal: settle,
    hint: settle[0],
  });
});

test('an agent that is cancelled counts as over: its result is not taken any more, and it may be started again', () => {
  const it = orchestrationIn();
  it.start('a');
  it.start('b');
  assert.deepEqual(it.ask({ type: 'cancel-agent', agent: 'a', reason: 'not needed' }), [
    'StepInterrupted',
    'AgentCancelled',
  ]);
  assert.deepEqual(it.ask({ type: 'cancel-agent', agent: 'a' }), [], 'cancelled again changes nothing');
  assert.deepEqual([it.standing('a'), it.session().folded.steps?.inDoubt()], ['cancelled', []]);
  const late = it.refused({ type: 'end-step', step: 'a', attempt: 1, token: 1, outcome: 'completed', result: {} });
  assert.equal(late.record?.[0]?.type, 'ResultRefused');
  assert.deepEqual(readyIn(it), []);
  assert.deepEqual(it.start('a'), started);
  assert.equal(it.standing('a'), 'in_progress');
  it.ask({ type: 'cancel-agent', agent: 'a' });
  assert.deepEqual(it.ask({ type: 'cancel-agent', agent: 'b' }), ['StepInterrupted', 'AgentCancelled', 'WaveEnded']);
});

test('a paused agent does not count as at work, its result is taken, and it goes on only where there is room', () => {
  const it = orchestrationIn();
  it.start('a');
  it.start('b');
  assert.deepEqual(it.ask({ type: 'pause-agent', agent: 'a', reason: 'wait' }), ['AgentPaused']);
  assert.deepEqual(it.ask({ type: 'pause-agent', agent: 'a' }), []);
  it.start('c');
  const refusal = it.refused({ type: 'continue-agent', agent: 'a' });
  assert.deepEqual([refusal.code, refusal.retryable], ['illegal-transition', true]);
  it.ask({ type: 'pause-agent', agent: 'b' });
  assert.deepEqual(it.ask({ type: 'continue-agent', agent: 'a' }), ['AgentContinued']);
  assert.deepEqual(it.ask({ type: 'continue-agent', agent: 'a' }), []);
  assert.deepEqual(it.complete('b'), ['StepCompleted'], 'also of one that is paused');
  assert.deepEqual(it.complete('a'), ['StepCompleted']);
  assert.equal(it.refused({ type: 'pause-agent', agent: 'a' }).code, 'illegal-transition');
});

test('nobody is said to be at work who is paused, and where all are, one is put to work again', () => {
  const it = orchestrationIn();
  for (const agent of ['a', 'b']) {
    it.start(agent);
    it.ask({ type: 'pause-agent', agent });
  }
  it.start('c');
  const { position, where } = viewOfSession(it.session());
  assert.equal(position, '0/3 agents over, 1 at work, 2 paused');
  assert.deepEqual(where['agents'], { total: 3, complete: 0, running: 1, paused: 2 });
  assert.deepEqual(missingIn(it), ['c is at work', 'a, b are paused']);
  assert.equal(nextIn(it).text, 'c is at work.');
  assert.deepEqual(
    it
      .session()
      .folded.steps?.running()
      .map(({ id, isPaused }) => [id, isPaused]),
    [
      ['a', true],
      ['b', true],
      ['c', false],
    ],
  );
  it.ask({ type: 'pause-agent', agent: 'c' });
  assert.equal(nextIn(it).command, 'stint agent continue a --session orchestration:o');
  assertNextIsTaken(it);
});

test('an agent that is paused does not keep a wave from ending', () => {
  const it = orchestrationIn();
  it.start('a');
  it.start('b');
  it.ask({ type: 'pause-agent', agent: 'a' });
  assert.deepEqual(it.complete('b'), ['StepCompleted', 'WaveEnded']);
  assert.match(it.refused({ type: 'continue-agent', agent: 'a' }).message, /wave-1 waits for a decision/);
  it.decide('continue');
  it.ask({ type: 'continue-agent', agent: 'a' });
  assert.deepEqual(it.complete('a'), ['StepCompleted', 'WaveEnded'], 'it is one of the next wave');
});

test('a todo is written down once, is missing until it is done or dropped, and its number is never given again', () => {
  const it = orchestrationIn();
  const add = (text: string): readonly string[] => it.ask({ type: 'add-todo', text });
  const numbers = (): readonly number[] => it.state().todos.map(({ id }) => id);
  assert.deepEqual([add('tests'), add('docs'), add('tests')], [['TodoAdded'], ['TodoAdded'], []]);
  assert.deepEqual(missingIn(it), ['todo 1 (tests), todo 2 (docs) are to be done']);
  const done = { type: 'end-todo', todo: 1, as: 'done', outcome: '14 tests', files: ['t.ts'] };
  assert.deepEqual([it.ask(done), it.ask(done)], [['TodoEnded'], []]);
  assert.deepEqual(it.ask({ type: 'end-todo', todo: 2, as: 'dropped', reason: 'out of scope' }), ['TodoEnded']);
  assert.deepEqual(it.state().completed, [{ task: 'tests', outcome: '14 tests', files: ['t.ts'] }]);
  assert.deepEqual(missingIn(it), []);
  add('tests');
  assert.deepEqual(numbers(), [3]);
  const unknown = it.refused({ type: 'end-todo', todo: 4, as: 'done' });
  assert.deepEqual([unknown.code, unknown.candidates], ['not-found', ['3: tests']]);
});

test('what was done without an agent, or given up, does not look as if nothing was begun', () => {
  const position = (it: Orchestration): string => viewOfSession(it.session()).position;
  const it = orchestrationIn();
  assert.equal(position(it), 'nothing begun');
  for (const text of ['tests', 'docs']) it.ask({ type: 'add-todo', text });
  it.ask({ type: 'end-todo', todo: 1, as: 'done' });
  assert.equal(position(it), '1 done, 1 to do');
  it.ask({ type: 'end-todo', todo: 2, as: 'done' });
  assert.equal(position(it), '2 done');

  const dropped = orchestrationIn();
  dropped.ask({ type: 'add-todo', text: 'tests' });
  dropped.ask({ type: 'end-todo', todo: 1, as: 'dropped' });
  assert.equal(position(dropped), 'nothing left to do');

  const cancelled = orchestrationIn();
  assert.equal(overallOf(cancelled.state(), new Map()).formula, 'nothing is to be done yet');
  cancelled.start('a');
  cancelled.ask({ type: 'cancel-agent', agent: 'a' });
  assert.equal(overallOf(cancelled.state(), new Map()).formula, 'nothing is to be done any more');
});

test('another mode counts from the next start on: whoever is at work goes on', () => {
  const it = orchestrationIn('optimize');
  for (const agent of ['a', 'b', 'c']) it.start(agent);
  assert.deepEqual(it.ask({ type: 'change-mode', mode: 'default' }), ['ModeChanged']);
  assert.deepEqual(it.ask({ type: 'change-mode', mode: 'default' }), []);
  assert.deepEqual(fieldIn(it, 'limits'), { agents: 2, retries: 3, checkpoints: 'wave', compress_at: 70 });
  assert.match(it.notStarted('d').message, /3 are at work \(a, b, c\), and the mode default allows 2 at once/);
  it.complete('a');
  it.notStarted('d');
  it.complete('b');
  assert.deepEqual(it.start('d'), started);
});

test('the focus is what somebody said last, and can be taken away', () => {
  const it = orchestrationIn();
  assert.deepEqual(it.ask({ type: 'focus', on: null }), []);
  assert.deepEqual(it.ask({ type: 'focus', on: 'the flaky test' }), ['FocusChanged']);
  assert.deepEqual(it.ask({ type: 'focus', on: 'the flaky test' }), []);
  assert.equal(fieldIn(it, 'focus'), 'the flaky test');
  it.ask({ type: 'focus', on: null });
  assert.equal(fieldIn(it, 'focus'), null);
});

const atCheckpoint = (): Orchestration => {
  const it = orchestrationIn();
  it.start('a');
  it.complete('a');
  it.ask({ type: 'add-todo', text: 'tests' });
  return it;
};

test('of the answers to a checkpoint the first counts: the same again changes nothing, another is told of the first', () => {
  const it = atCheckpoint();
  assert.equal(nextIn(it).command, 'stint decide wave-1 continue --session orchestration:o');
  const unknown = it.refused({ type: 'decide', node: 'wave-7', answer: 'continue' });
  assert.deepEqual([unknown.code, unknown.candidates], ['not-found', ['wave-1']]);
  assert.deepEqual(it.decide('continue', { reason: 'fine' }), ['CheckpointDecided']);
  assert.deepEqual(it.decide('continue'), []);
  const late = it.refused({ type: 'decide', node: 'wave-1', answer: 'abort' });
  assert.deepEqual([late.code, late.message], ['conflict', `wave-1 was decided at ${begun} by ana: continue.`]);
  const early = it.refused({ type: 'decide', node: 'wave-2', answer: 'continue' });
  assert.equal(early.code, 'illegal-transition', 'what was not reached yet is not decided about');
});

test('a pause at a checkpoint pauses the session, and resuming it is to go on', () => {
  const it = atCheckpoint();
  assert.deepEqual(it.decide('pause', { reason: 'lunch' }), ['CheckpointDecided', 'SessionPaused']);
  assert.equal(it.session().common.pause?.reason, 'at wave-1: lunch');
  assert.equal(it.notStarted('b').hint, 'stint resume --session orchestration:o');
  it.kernel(goesOn);
  assert.deepEqual(it.start('b'), started);
});

test('a checkpoint of a session that is closed waits for nobody', () => {
  const it = atCheckpoint();
  assert.match(viewOfSession(it.session()).position, /wave-1 waits for a decision/);
  it.kernel((session) => decideFinish(session, { abort: true, reason: null }));
  assert.doesNotMatch(viewOfSession(it.session()).position, /waits/);
});

test('an abort at a checkpoint closes the session, and who reopens it is asked again', () => {
  const it = atCheckpoint();
  assert.deepEqual(it.decide('abort', { reason: 'wrong way' }), ['CheckpointDecided', 'SessionClosed']);
  const { outcome, reason } = it.session().common;
  assert.deepEqual([outcome, reason], ['aborted', 'at wave-1: wrong way']);
  const reopened = it.kernel((session) => decideReopen(session, null));
  assert.deepEqual(reopened, ['SessionReopened', 'CheckpointAsked']);
  assert.match(it.notStarted('b').message, /wave-1 waits for a decision/);
  assert.deepEqual(it.decide('continue'), ['CheckpointDecided']);
  assert.deepEqual(it.start('b'), started);
});

test('what was closed in another way is reopened where it was left, also with a checkpoint that waits', () => {
  const it = atCheckpoint();
  it.kernel((session) => decideFinish(session, { abort: true, reason: null }));
  assert.deepEqual(
    it.kernel((session) => decideReopen(session, null)),
    ['SessionReopened'],
  );
  assert.match(it.notStarted('b').message, /wave-1 waits for a decision/);
});

const samplesOf = (percent: number, attempt: number, percentage = 20): Samples =>
  new Map([
    [agentSample('a'), { percent, attempt }],
    [usageSample, { tokens: 25_000, percentage }],
  ]);

test('what was measured last is shown at once, and goes on record with whatever happens next', () => {
  const it = orchestrationIn('optimize');
  it.start('a');
  it.measure(samplesOf(60, 1));
  assert.equal(agentOf(it.state(), 'a')?.progress, null);
  const { folded, common, samples } = it.session();
  assert.deepEqual(
    [folded.sampled(common, samples)['progress'], folded.sampled(common, samples)['context_usage']],
    [60, { estimated_tokens: 25_000, percentage: 20, level: 'ok' }],
  );
  assert.deepEqual(it.ask({ type: 'add-todo', text: 'tests' }), ['Sampled', 'TodoAdded']);
  assert.deepEqual([agentOf(it.state(), 'a')?.progress, it.state().usage], [60, { tokens: 25_000, percentage: 20 }]);
  assert.deepEqual(it.ask({ type: 'add-todo', text: 'docs' }), ['TodoAdded'], 'once');
  assert.deepEqual(it.ask({ type: 'add-todo', text: 'docs' }), [], 'what changes nothing keeps nothing');
  it.measure(samplesOf(80, 1));
  assert.deepEqual(it.ask({ type: 'save' }), ['Sampled']);
  assert.deepEqual(it.ask({ type: 'save' }), []);
  it.measure(samplesOf(90, 1, 30));
  assert.deepEqual(it.complete('a'), ['Sampled', 'StepCompleted', 'WaveEnded']);
  assert.equal(it.state().usage?.percentage, 30);
});

test('what was measured of an attempt that is over is not taken for the progress of the next one', () => {
  const it = orchestrationIn('optimize');
  it.start('a');
  it.measure(samplesOf(60, 1));
  it.fail('a');
  it.decide('continue');
  it.start('a');
  assert.equal(overallOf(it.state(), samplesOf(60, 1)).percent, 0);
  assert.equal(overallOf(it.state(), samplesOf(5, 2)).percent, 5);
  assert.deepEqual(it.ask({ type: 'save' }), []);
});

test('before the context is compressed everything that was measured is saved, and the summary stands on record', () => {
  const it = orchestrationIn();
  it.start('a');
  it.measure(samplesOf(60, 1, 71));
  it.wait(90);
  const compress = { type: 'compress', summary: 'half of it is done' };
  assert.deepEqual(it.ask(compress), ['Sampled', 'Compressed']);
  const compressed = it.events().at(-1);
  assert.deepEqual(compressed?.data, {
    summary: 'half of it is done',
    usage: { tokens: 25_000, percentage: 71 },
  });
  it.wait(90);
  assert.deepEqual(it.ask(compress), [], 'the same summary again is the same compression');
  assert.deepEqual(it.state().compression, { at: '2026-03-17T12:01:30.000Z', summary: 'half of it is done' });
});

test('overall progress is the mean over the agents that are not cancelled, a complete one counting 100', () => {
  const it = orchestrationIn('optimize');
  const overall = () => overallOf(it.state(), it.session().samples);
  assert.deepEqual(overall(), { percent: null, formula: 'nothing is to be done yet' });
  it.start('arch');
  it.complete('arch');
  it.start('a');
  it.measure(samplesOf(60, 1));
  assert.deepEqual(overall(), {
    percent: 80,
    formula: 'the mean over 2 agents that are not cancelled, a complete one counts 100',
  });
  it.start('b');
  assert.equal(overall().percent, 53, 'one that has not said how far it is counts 0');
  it.ask({ type: 'cancel-agent', agent: 'b' });
  assert.equal(overall().percent, 80);
});

test('what is not done never looks done, and the formula says why', () => {
  const it = orchestrationIn('optimize');
  it.start('a');
  it.complete('a');
  const mean = 'the mean over 1 agent that is not cancelled, a complete one counts 100';
  const overall = () => {
    const { folded, common, samples } = it.session();
    return folded.progress(common, samples).overall;
  };
  assert.deepEqual(overall(), { percent: 100, formula: mean });
  it.ask({ type: 'add-todo', text: 'tests' });
  assert.deepEqual(overall(), { percent: 99, formula: `${mean}; at most 99 while anything is left` });
});

test('without agents progress is the part of the todos that is done', () => {
  const it = orchestrationIn();
  for (const text of ['a', 'b', 'c']) it.ask({ type: 'add-todo', text });
  it.ask({ type: 'end-todo', todo: 1, as: 'done' });
  const overall = () => overallOf(it.state(), new Map());
  assert.deepEqual(overall(), { percent: 33, formula: '1 of 3 todos are done' });
  it.start('x');
  it.ask({ type: 'cancel-agent', agent: 'x' });
  assert.equal(overall().percent, 33, 'a cancelled agent is none');
});

test('a context is to be compressed from the percentage of its mode on, and warned of 15 points before', () => {
  const at = { default: 70, debug: 90, optimize: 60, release: 85 } as const;
  const level = (mode: Mode, percentage: number): string => levelOf(mode, { tokens: 0, percentage }).level;
  for (const mode of modes) {
    const compress = at[mode];
    assert.deepEqual(
      [compress - 15.1, compress - 15, compress - 0.1, compress, 100].map((percentage) => level(mode, percentage)),
      ['ok', 'warn', 'warn', 'compress', 'compress'],
      mode,
    );
  }
});

test('long talks and large replies are reasons to warn, and never alone to compress', () => {
  const small = { tokens: 0, percentage: 1 };
  assert.equal(levelOf('default', small, { exchanges: 20, reply: 3000 }).level, 'ok');
  assert.deepEqual(levelOf('default', small, { exchanges: 21, reply: 3001 }), {
    level: 'warn',
    compressAt: 70,
    warnAt: 55,
    reasons: ['21 exchanges since it was compressed', 'a reply of 3001 tokens'],
  });
  const used = levelOf('default', { tokens: 0, percentage: 70 }, { exchanges: 21 });
  assert.deepEqual(
    [used.level, used.reasons],
    ['compress', ['70 % of the context is used', '21 exchanges since it was compressed']],
  );
});

test('nothing that is unfinished is finished: agents at work, failed or in doubt, todos, and what was never begun', () => {
  const it = orchestrationIn('optimize');
  const finish = () => decideFinish(it.session(), { abort: false, reason: null });
  assert.deepEqual(missingIn(it), ['nothing was begun: no agent, and nothing to do']);
  assert.equal(finish().ok, false);
  for (const agent of ['a', 'b', 'c']) it.start(agent);
  it.fail('b');
  it.interrupt('c');
  it.ask({ type: 'add-todo', text: 'tests' });
  assert.deepEqual(missingIn(it), [
    'a is at work',
    'b has failed',
    'c is in doubt: nobody knows what it has done',
    'todo 1 (tests) is to be done',
  ]);
  it.complete('a');
  it.ask({ type: 'cancel-agent', agent: 'b' });
  it.ask({ type: 'settle-step', step: 'c', as: 'done', reason: 'its file is there' });
  assert.equal(finish().ok, false);
  it.ask({ type: 'end-todo', todo: 1, as: 'done' });
  assert.deepEqual([missingIn(it), nextIn(it).kind, finish().ok], [[], 'finish', true]);
});

test('a closed orchestration is moved by nothing, and what comes too late is kept', () => {
  const it = orchestrationIn();
  it.start('a');
  it.ask({ type: 'add-todo', text: 'tests' });
  it.kernel((session) => decideFinish(session, { abort: true, reason: 'enough' }));
  for (const command of [
    { type: 'prepare-agent', agent: 'b', agent_type: 'code', task: 't', now: begun },
    { type: 'cancel-agent', agent: 'a' },
    { type: 'pause-agent', agent: 'a' },
    { type: 'add-todo', text: 'docs' },
    { type: 'end-todo', todo: 1, as: 'done' },
    { type: 'change-mode', mode: 'debug' },
    { type: 'focus', on: 'x' },
    { type: 'save' },
    { type: 'compress', summary: 's' },
  ])
    assert.equal(it.refused(command).code, 'illegal-transition', command.type);
  const late = it.refused({ type: 'end-step', step: 'a', outcome: 'completed', result: { summary: 's' } });
  assert.equal(late.record?.[0]?.type, 'ResultRefused');
});

test('a paused orchestration begins nothing, and takes what is said of work that is under way', () => {
  const it = orchestrationIn();
  it.start('a');
  it.start('b');
  it.ask({ type: 'add-todo', text: 'tests' });
  it.kernel((session) => decidePause(session, 'lunch'));
  for (const command of [
    { type: 'prepare-agent', agent: 'c', agent_type: 'code', task: 't', now: begun },
    { type: 'add-todo', text: 'docs' },
    { type: 'change-mode', mode: 'debug' },
    { type: 'focus', on: 'x' },
  ])
    assert.equal(it.refused(command).hint, 'stint resume --session orchestration:o', command.type);
  assert.deepEqual(it.complete('a'), ['StepCompleted']);
  assert.deepEqual(it.ask({ type: 'pause-agent', agent: 'b' }), ['AgentPaused']);
  assert.deepEqual(it.ask({ type: 'cancel-agent', agent: 'b' }), ['StepInterrupted', 'AgentCancelled', 'WaveEnded']);
  assert.deepEqual(it.ask({ type: 'end-todo', todo: 1, as: 'done' }), ['TodoEnded']);
  assert.deepEqual(it.ask({ type: 'save' }), []);
});

/** What the log says of an agent, told by the log alone. */
interface Told {
  runs: boolean;
  isPaused: boolean;
  isComplete: boolean;
  isDoubtful: boolean;
  failures: number;
  inARow: number;
  failedAt: number;
}

/** Asserts that every start of a log was one that the mode allowed when it was made; told by the log alone. */
const assertAllowed = (events: readonly StoredEvent[]): void => {
  const agents = new Map<string, Told>();
  let mode: Mode = 'default';
  let isAwaited = false;
  for (const { type, data, at } of events) {
    const id = String(data['step'] ?? data['agent'] ?? '');
    const agent: Told = agents.get(id) ?? {
      runs: false,
      isPaused: false,
      isComplete: false,
      isDoubtful: false,
      failures: 0,
      inARow: 0,
      failedAt: 0,
    };
    agents.set(id, agent);
    const atWork = [...agents.values()].filter((one) => one.runs && !one.isPaused).length;
    const what = `${type} ${id} in ${mode} at ${at}`;
    if (type === 'OrchestrationBegun' || type === 'ModeChanged') mode = data['mode'] as Mode;
    if (type === 'WaveEnded' || type === 'CheckpointAsked') isAwaited = data['goes_on'] !== true;
    if (type === 'CheckpointDecided') isAwaited = false;
    if (type === 'StepClaimed') {
      assert.ok(!agent.isComplete, `${what}: what is completed is not done again`);
      assert.ok(!agent.runs, `${what}: one attempt at a time`);
      assert.ok(!agent.isDoubtful, `${what}: nobody knows what it has done`);
      assert.ok(!isAwaited, `${what}: somebody is asked first`);
      assert.ok(atWork < allowed[mode].agents, `${what}: no more at once than the mode allows`);
      assert.ok(agent.failures <= allowed[mode].retries, `${what}: no more tries than the mode allows`);
      if (agent.inARow >= 3) assert.ok(Date.parse(at) - agent.failedAt >= 60_000, `${what}: its circuit is open`);
      Object.assign(agent, { runs: true, isPaused: false });
    }
    if (type === 'AgentContinued') {
      assert.ok(!isAwaited && atWork < allowed[mode].agents, `${what}: no more at once than the mode allows`);
      agent.isPaused = false;
    }
    if (type === 'AgentPaused') agent.isPaused = true;
    if (type === 'StepCompleted' || (type === 'StepSettled' && data['as'] === 'done')) {
      assert.ok(!agent.isComplete, `${what}: it completes once`);
      Object.assign(agent, { runs: false, isComplete: true, isDoubtful: false });
    }
    if (type === 'StepFailed')
      Object.assign(agent, {
        runs: false,
        failures: agent.failures + 1,
        inARow: agent.inARow + 1,
        failedAt: Date.parse(at),
      });
    if (type === 'StepInterrupted') Object.assign(agent, { runs: false, isDoubtful: data['in_doubt'] === true });
    if (type === 'StepSettled' || type === 'AgentCancelled') agent.isDoubtful = false;
  }
};

/** Asserts that what is said to come next is taken. */
const assertNextIsTaken = (it: Orchestration): void => {
  const session = it.session();
  const { kind: next, command, text } = viewOfSession(session).next;
  const [, , , word = ''] = (command ?? '').split(' ');
  const later = new Date(Date.parse(it.now()) + 60_000).toISOString();
  const taken = (decided: Decided): void => {
    if (!decided.ok) assert.fail(`${text} ${command}: ${decided.error.message}`);
    assert.ok(decided.value.length > 0, `${text} ${command}: something happens`);
  };
  const asked = (more: KindCommand): void => taken(decideCommand(session, more));
  switch (next) {
    case 'claim':
      return taken(startOf(session, word, later));
    case 'decide':
      return asked({ type: 'decide', node: command?.split(' ')[2] ?? '', answer: 'continue' });
    case 'settle': {
      const [doubtful] = session.folded.steps?.inDoubt() ?? [];
      return asked(
        doubtful === undefined
          ? { type: 'cancel-agent', agent: word }
          : { type: 'settle-step', step: doubtful, as: 'again', reason: 'r' },
      );
    }
    case 'complete':
      return asked({ type: 'end-todo', todo: Number(word), as: 'done' });
    case 'wait':
      return assert.ok((session.folded.steps?.running() ?? []).length > 0, text);
    case 'advance':
      return asked(
        command?.startsWith('stint agent continue ') === true
          ? { type: 'continue-agent', agent: word }
          : { type: 'add-todo', text: 'what is next' },
      );
    case 'resume':
      return taken(goesOn(session));
    case 'unblock':
      return assert.fail('nobody has raised a blocker');
    case 'finish':
      return taken(decideFinish(session, { abort: false, reason: null }));
    case 'reopen':
    case 'none':
      return taken(decideReopen(session, null));
  }
};

test('whatever is asked in whatever order and at whatever time: limits hold, nothing is done twice, nothing is stuck', () => {
  const agent = fc.constantFrom('a', 'a', 'a', 'a', 'b', 'b', 'c', 'd', 'e', 'f');
  const of = (what: string) => fc.record({ what: fc.constant(what), agent });
  const move = fc.oneof(
    { weight: 6, arbitrary: of('start') },
    { weight: 3, arbitrary: of('complete') },
    {
      weight: 6,
      arbitrary: fc.record({ what: fc.constant('fail'), agent, class: fc.constantFrom('logical', 'permanent') }),
    },
    ...['interrupt', 'again', 'done', 'cancel', 'pause', 'continue', 'late'].map((what) => ({
      weight: 1,
      arbitrary: of(what),
    })),
    {
      weight: 4,
      arbitrary: fc.record({
        what: fc.constant('decide'),
        answer: fc.constantFrom('continue', 'continue', 'continue', 'pause', 'abort'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ what: fc.constant('mode'), mode: fc.constantFrom(...modes) }) },
    { weight: 2, arbitrary: fc.record({ what: fc.constant('wait'), seconds: fc.constantFrom(1, 30, 60) }) },
    { weight: 1, arbitrary: fc.record({ what: fc.constant('todo'), text: fc.constantFrom('t', 'u') }) },
    { weight: 1, arbitrary: fc.record({ what: fc.constant('end-todo'), todo: fc.integer({ min: 1, max: 4 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({ what: fc.constant('measure'), percent: fc.integer({ min: 0, max: 100 }), agent }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ what: fc.constantFrom('save', 'reopen', 'resume', 'rest', 'finish', 'stop') }),
    },
  );
  fc.assert(
    fc.property(fc.constantFrom(...modes), fc.array(move, { minLength: 20, maxLength: 80 }), (mode, moves) => {
      const it = orchestrationIn(mode);
      for (const one of moves as readonly JsonObject[]) {
        const id = String(one['agent'] ?? '');
        const before = it.session().folded.freeze();
        const attempt =
          it
            .session()
            .folded.steps?.running()
            .find((running) => running.id === id)?.attempt ?? 1;
        const end = { type: 'end-step', step: id };
        const ways: Readonly<Record<string, () => Decided>> = {
          start: () => it.decidedStart(id),
          complete: () =>
            decideCommand(it.session(), { ...end, outcome: 'completed', result: { summary: 's' }, digest: 's' }),
          fail: () =>
            decideCommand(it.session(), {
              ...end,
              outcome: 'failed',
              result: { error: 'e', class: one['class'] ?? 'logical' },
              digest: 'e',
            }),
          late: () =>
            decideCommand(it.session(), {
              ...end,
              attempt: 1,
              token: 1,
              outcome: 'completed',
              result: {},
              digest: 'l',
            }),
          interrupt: () => decideCommand(it.session(), { type: 'interrupt-step', step: id, attempt, because: 'gone' }),
          again: () => decideCommand(it.session(), { type: 'settle-step', step: id, as: 'again', reason: 'r' }),
          done: () => decideCommand(it.session(), { type: 'settle-step', step: id, as: 'done', reason: 'r' }),
          cancel: () => decideCommand(it.session(), { type: 'cancel-agent', agent: id }),
          pause: () => decideCommand(it.session(), { type: 'pause-agent', agent: id }),
          continue: () => decideCommand(it.session(), { type: 'continue-agent', agent: id }),
          decide: () =>
            decideCommand(it.session(), {
              type: 'decide',
              node: it.state().checkpoints.at(-1)?.node ?? 'wave-1',
              answer: one['answer'] ?? 'continue',
            }),
          mode: () => decideCommand(it.session(), { type: 'change-mode', mode: one['mode'] ?? 'default' }),
          todo: () => decideCommand(it.session(), { type: 'add-todo', text: one['text'] ?? 't' }),
          'end-todo': () => decideCommand(it.session(), { type: 'end-todo', todo: one['todo'] ?? 1, as: 'done' }),
          save: () => decideCommand(it.session(), { type: 'save' }),
          reopen: () => decideReopen(it.session(), null),
          resume: () => goesOn(it.session()),
          rest: () => decidePause(it.session(), null),
          finish: () => decideFinish(it.session(), { abort: false, reason: null }),
          stop: () => decideFinish(it.session(), { abort: true, reason: null }),
        };
        if (one['what'] === 'wait') it.wait(Number(one['seconds']));
        else if (one['what'] === 'measure')
          it.measure(new Map([[agentSample(id), { percent: one['percent'] ?? 0, attempt }]]));
        else {
          const decided = ways[String(one['what'])]?.();
          if (decided === undefined) assert.fail(`there is no ${String(one['what'])}`);
          assert.equal(it.session().folded.freeze(), before, 'deciding changes nothing');
          if (decided.ok) it.kernel(() => decided);
        }
        assertNextIsTaken(it);
      }
      assertAllowed(it.events());
      const replayed = it.events().reduce<Session>(applyEvent, absentSession(kind, 'orchestration:o'));
      assert.deepEqual(replayed.common, it.session().common);
      assert.equal(replayed.folded.freeze(), it.session().folded.freeze(), 'a replay gives the same');
      const { counts, order } = it.state();
      const ended = order.map((id) => agentOf(it.state(), id)?.ended);
      for (const one of ['complete', 'failed', 'cancelled'] as const)
        assert.equal(counts[one], ended.filter((other) => other === one).length, `${one} is counted`);
    }),
    { numRuns: 400 },
  );
});
