import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DecidedEvent, StoredEvent } from '../../kernel/event.ts';
import { blockersOf } from '../../kernel/journal.ts';
import { decideBlock, decideUnblock } from '../../kernel/journal-rules.ts';
import type { KindCommand } from '../../kernel/kind.ts';
import { kindBriefOf } from '../../kernel/kind-brief.ts';
import { decidePause, decideResume } from '../../kernel/lifecycle-rules.ts';
import { decideBegin, decideCommand, decideFinish, decideOpened, decideReopen } from '../../kernel/lifecycle.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import { absentSession, appendEvents, isOpened, viewOfSession, type OpenedSession } from '../../kernel/session.ts';
import { spansOf } from '../../kernel/spans.ts';
import type { Result } from '../../lib/result.ts';
import { stateOf } from './command.ts';
import { kind } from './index.ts';
import { statusOf } from './state.ts';
import { statuses, type Status } from '../../formats/handoff/statuses.ts';
import { usualTransitions, type Transitions } from './workflow.ts';

type Decision = Result<readonly DecidedEvent[], Refusal>;

/** A task that is asked one thing after the other, a minute apart. */
interface Task {
  readonly session: () => OpenedSession;
  readonly events: () => readonly StoredEvent[];
  /** Carries something out; answers the events, or the refusal. */
  readonly attempt: (decide: (session: OpenedSession) => Decision) => Result<readonly string[], Refusal>;
  /** What happened because of it, by type; a refusal fails the test. */
  readonly ask: (command: KindCommand) => readonly string[];
  readonly kernel: (decide: (session: OpenedSession) => Decision) => readonly string[];
  readonly refused: (decide: KindCommand | ((session: OpenedSession) => Decision)) => Refusal;
  readonly status: () => Status;
}

const key = 'task:t';

const taskOf = (declared?: Transitions): Task => {
  let session = absentSession(kind, key);
  const events: StoredEvent[] = [];
  const append = (decided: readonly DecidedEvent[]): readonly string[] => {
    const now = new Date(Date.parse('2026-03-17T12:00:00Z') + events.length * 60_000).toISOString();
    const made = appendEvents(session, decided, { now, actor: 'ana', place: 'here', cause: `c-${events.length}` });
    ({ session } = made);
    events.push(...made.events);
    return decided.map(({ type }) => type);
  };
  const opened = (): OpenedSession => {
    if (!isOpened(session)) assert.fail('it is not open');
    return session;
  };
  const attempt: Task['attempt'] = (decide) => {
    const decided = decide(opened());
    return decided.ok ? { ok: true, value: append(decided.value) } : decided;
  };
  const kernel: Task['kernel'] = (decide) => {
    const done = attempt(decide);
    if (!done.ok) assert.fail(done.error.message);
    return done.value;
  };
  const begun = decideBegin(
    session,
    { branch: 'main', worktree: 'main', goal: 'Ship it' },
    { declared: declared === undefined ? undefined : { transitions: declared } },
  );
  if (!begun.ok) assert.fail(begun.error.message);
  append(begun.value);
  return {
    session: opened,
    events: () => events,
    attempt,
    kernel,
    ask: (command) => kernel((found) => decideCommand(found, command)),
    refused: (asked) => {
      const result = typeof asked === 'function' ? asked(opened()) : decideCommand(opened(), asked);
      if (result.ok) assert.fail('it is not refused');
      return result.error;
    },
    status: () => statusOf(stateOf(session), opened().common),
  };
};

const move = (to: Status, more: Partial<KindCommand> = {}): KindCommand => ({ type: 'move-task', to, ...more });
const add = (text: string, before?: number): KindCommand => ({
  type: 'add-step',
  text,
  ...(before === undefined ? {} : { before }),
});
const block = (reason: string) => (session: OpenedSession) => decideBlock(session, reason, null);
const unblock = (session: OpenedSession) => decideUnblock(session, undefined, null);
const finish = (session: OpenedSession) => decideFinish(session, { abort: false, reason: null });
const leftOf = ({ session }: Task): readonly string[] => stateOf(session()).left.map(({ text }) => text);
const newest = ({ events }: Task, type: string) => events().findLast((event) => event.type === type)?.data;

test('each status follows as the table says, and every other move is refused with those that may follow', () => {
  const ways: Readonly<Record<Exclude<Status, 'done'>, readonly KindCommand[]>> = {
    'not-started': [],
    'in-progress': [move('in-progress')],
    blocked: [move('blocked', { blocker: 'no token' })],
    'ready-for-review': [move('in-progress'), move('ready-for-review')],
  };
  for (const [from, way] of Object.entries(ways)) {
    const legal = usualTransitions[statuses.find((one) => one === from) ?? 'done'];
    for (const to of statuses.filter((one) => one !== from)) {
      const task = taskOf();
      for (const step of way) task.ask(step);
      assert.equal(task.status(), from);
      const wish = move(to, to === 'blocked' ? { blocker: 'no answer' } : {});
      if (from === 'blocked' && to === 'in-progress') {
        assert.equal(task.refused(wish).code, 'invariant-unmet');
        task.kernel(unblock);
      } else if (legal.includes(to)) task.ask(wish);
      else {
        const { code, message, legal: said = [] } = task.refused(wish);
        assert.deepEqual([code, message], ['illegal-transition', `${to} does not follow ${from}.`]);
        for (const one of legal)
          assert.ok(
            from === 'blocked'
              ? said.includes(`stint unblock 3 --session ${key}`)
              : said.some((line) => line.startsWith(`stint task move ${one} `)),
            `${one} is not told: ${said.join(', ')}`,
          );
        continue;
      }
      assert.equal(task.status(), to);
    }
  }
});

test('a move that is no transition is done with a reason, which stays on the record', () => {
  const task = taskOf();
  assert.deepEqual(task.ask(move('ready-for-review', { override: 'it was done elsewhere' })), ['StatusChanged']);
  assert.deepEqual(newest(task, 'StatusChanged'), {
    from: 'not-started',
    to: 'ready-for-review',
    override: 'it was done elsewhere',
  });
  const { overrides } = viewOfSession(task.session()).fields;
  assert.deepEqual(overrides, [
    {
      from: 'not-started',
      to: 'ready-for-review',
      reason: 'it was done elsewhere',
      at: '2026-03-17T12:02:00.000Z',
      actor: 'ana',
    },
  ]);
});

test('a reason does not make a task done of which something is left', () => {
  const task = taskOf();
  task.ask(move('in-progress'));
  task.ask(add('Write it'));
  task.kernel(block('no token'));
  const { code, faults, legal } = task.refused(move('done', { override: 'now' }));
  assert.deepEqual([code, faults], ['invariant-unmet', ['step 1 is left', 'blocker 5: no token']]);
  assert.deepEqual(legal, [
    `stint unblock 5 --session ${key}`,
    `stint step done 1 --session ${key}`,
    `stint step drop 1 --reason REASON --session ${key}`,
  ]);
});

test('what is done is closed with it, and goes on only with a reason', () => {
  const task = taskOf();
  task.ask(move('in-progress'));
  task.ask(move('ready-for-review', { owner: 'qa' }));
  assert.deepEqual(task.ask(move('done')), ['StatusChanged', 'SessionClosed']);
  assert.deepEqual(
    [task.session().common.outcome, viewOfSession(task.session()).where['next_owner']],
    ['completed', null],
  );
  assert.deepEqual(task.ask(move('done')), []);
  for (const wish of [move('in-progress'), add('more'), { type: 'take-step' }])
    assert.equal(task.refused(wish).hint, `stint reopen --override REASON --session ${key}`);
  assert.equal(task.refused((session) => decideReopen(session, 'why not')).code, 'illegal-transition');
  const again = task.kernel((session) => decideReopen(session, null, 'a bug was found'));
  assert.deepEqual([again, task.status()], [['SessionReopened', 'StatusChanged'], 'in-progress']);
  assert.deepEqual(newest(task, 'StatusChanged'), { from: 'done', to: 'in-progress', override: 'a bug was found' });
  assert.equal(newest(task, 'SessionReopened')?.['reason'], 'a bug was found');
});

test('finish makes a task done from where done follows, and from nowhere else', () => {
  const task = taskOf();
  task.ask(move('in-progress'));
  const { code, faults } = task.refused(finish);
  assert.deepEqual(
    [code, faults],
    ['invariant-unmet', ['it is in-progress, and has to be ready-for-review before it is done']],
  );
  task.ask(move('ready-for-review'));
  task.kernel(finish);
  assert.equal(task.status(), 'done');
  assert.equal(task.refused((session) => decideReopen(session, null)).code, 'illegal-transition');
});

test('a task that was given up goes on where it was left, without a reason', () => {
  const task = taskOf();
  task.ask(move('in-progress'));
  task.kernel((session) => decideFinish(session, { abort: true, reason: 'no money' }));
  assert.equal(task.status(), 'in-progress');
  assert.deepEqual(
    task.kernel((session) => decideReopen(session, null)),
    ['SessionReopened'],
  );
  assert.equal(task.status(), 'in-progress');
});

test('a task is blocked exactly while it has an open blocker, whoever raised it', () => {
  const task = taskOf();
  task.ask(move('in-progress'));
  task.kernel(block('no token'));
  assert.equal(task.status(), 'blocked');
  assert.equal(viewOfSession(task.session()).position, 'blocked: no token');
  assert.equal(viewOfSession(task.session()).next.command, `stint unblock 4 --session ${key}`);
  assert.deepEqual(task.ask(move('blocked', { blocker: 'no token' })), []);
  assert.deepEqual(task.ask(move('blocked', { blocker: 'no answer' })), ['BlockerRaised']);
  task.kernel((session) => decideUnblock(session, { id: 4, raised: undefined }, null));
  assert.equal(task.status(), 'blocked');
  task.kernel(unblock);
  assert.equal(task.status(), 'in-progress');
  const { code, legal } = task.refused(move('blocked'));
  assert.deepEqual([code, legal], ['invariant-unmet', [`stint task move blocked --blocker WHAT --session ${key}`]]);
});

test('a task that was blocked before it was started is in progress when that is cleared', () => {
  const task = taskOf();
  task.kernel(block('no token'));
  assert.equal(task.status(), 'blocked');
  task.kernel(unblock);
  assert.equal(task.status(), 'in-progress');
  task.ask(move('not-started', { override: 'it was not begun after all' }));
  assert.equal(task.status(), 'not-started');
});

test('what is ready for review stays that with a blocker, and is not done before it is cleared', () => {
  const task = taskOf();
  task.ask(move('in-progress'));
  task.ask(move('ready-for-review'));
  task.kernel(block('the reviewer is away'));
  assert.equal(task.status(), 'ready-for-review');
  assert.deepEqual(task.refused(finish).faults, ['blocker 5: the reviewer is away']);
  assert.equal(viewOfSession(task.session()).next.kind, 'unblock');
  task.ask(move('in-progress'));
  assert.equal(task.status(), 'blocked');
});

test('steps are done in their order, which can be changed, and are numbered for good', () => {
  const task = taskOf();
  for (const text of ['parse', 'print', 'test']) task.ask(add(text));
  task.ask(add('read', 1));
  assert.deepEqual(leftOf(task), ['read', 'parse', 'print', 'test']);
  assert.deepEqual(task.ask(add('read')), []);
  assert.deepEqual(task.ask({ type: 'take-step' }), ['StatusChanged', 'StepTaken']);
  assert.deepEqual(task.ask({ type: 'take-step' }), []);
  task.ask({ type: 'place-step', step: 3, before: 4 });
  task.ask({ type: 'place-step', step: 2, before: null });
  assert.deepEqual(leftOf(task), ['test', 'read', 'parse', 'print']);
  assert.deepEqual(task.ask({ type: 'place-step', step: 2, before: null }), []);
  task.ask({ type: 'finish-step', step: 4, outcome: 'it is short', files: ['notes.md'] });
  task.ask({ type: 'drop-step', step: 2, reason: 'nobody prints' });
  assert.deepEqual(task.ask({ type: 'finish-step', step: 4 }), []);
  assert.equal(task.refused({ type: 'finish-step', step: 2 }).code, 'illegal-transition');
  assert.equal(task.refused({ type: 'take-step', step: 4 }).code, 'illegal-transition');
  assert.equal(task.refused({ type: 'drop-step', step: 9 }).code, 'not-found');
  task.ask(add('print'));
  assert.deepEqual(
    stateOf(task.session()).left.map(({ id }) => id),
    [3, 1, 5],
  );
  const { done, remaining, progress, files } = kindBriefOf(task.session(), viewOfSession(task.session()), '.');
  assert.deepEqual(
    done.steps.map(({ id, note }) => [id, note]),
    [
      ['4', 'it is short'],
      ['2', 'dropped: nobody prints'],
    ],
  );
  assert.deepEqual([remaining.total, progress.percent], [3, 25]);
  assert.deepEqual(files, [{ path: 'notes.md', label: 'step 4' }]);
});

test('how long a task stood where counts what blocked it too', () => {
  const task = taskOf();
  task.ask(move('in-progress'));
  task.kernel(block('no token'));
  task.kernel(unblock);
  assert.deepEqual(
    spansOf(kind, key, task.events(), '2026-03-17T12:10:00.000Z').map(({ position, ms }) => [position, ms / 60_000]),
    [
      ['not-started', 2],
      ['in-progress', 1],
      ['blocked: no token', 1],
      ['in-progress', 6],
    ],
  );
});

test('a project declares the rows that differ; what would leave a task stuck is refused by its place', () => {
  const said = (transitions: object) => kind.declared({ transitions: transitions as Record<string, string[]> });
  const reviewed = said({ 'in-progress': ['blocked', 'done'] });
  assert.ok(reviewed.ok);
  assert.deepEqual(reviewed.value, { transitions: { ...usualTransitions, 'in-progress': ['blocked', 'done'] } });
  for (const [wrong, fault] of [
    [{ 'in-progress': ['finished'] }, /^\$\.transitions\["in-progress"\]\[0\] must be one of not-started/],
    [{ started: ['done'] }, /^\$\.transitions\.started /],
    [{ 'in-progress': ['blocked'] }, /^\$\.transitions leaves a task stuck: nothing leads from not-started to done/],
    [{ 'in-progress': ['done'] }, /must let blocked follow in-progress/],
    [{ blocked: [] }, /must let in-progress follow blocked/],
    [{ 'ready-for-review': ['blocked', 'done'] }, /must let ready-for-review follow blocked/],
    [{ done: ['done'] }, /lets done follow itself/],
  ] as const) {
    const result = said(wrong);
    assert.match(result.ok ? 'it is taken' : result.error.join('; '), fault);
  }
});

test('a task follows what its project declares, from its begin on or from the next move on', () => {
  const table: Transitions = { ...usualTransitions, 'in-progress': ['blocked', 'done'], done: ['in-progress'] };
  const task = taskOf(table);
  task.ask(move('in-progress'));
  assert.equal(task.refused(move('ready-for-review')).code, 'illegal-transition');
  task.kernel(finish);
  assert.equal(task.status(), 'done');
  task.kernel((session) => decideReopen(session, null));
  assert.equal(task.status(), 'in-progress');
  assert.deepEqual(task.ask(move('ready-for-review', { declared: {} })), ['TransitionsChanged', 'StatusChanged']);
  assert.equal(task.refused({ ...move('blocked'), blocker: 'x', declared: {} }).code, 'illegal-transition');
});

// Whatever is asked in whatever order.

/** Carries out a command line as a refusal or a next action names it. */
const typed = (task: Task, line: string): Result<readonly string[], Refusal> => {
  const words = line.replace(` --session ${key}`, '').split(' ');
  const flag = (name: string): string | undefined => {
    const at = words.indexOf(`--${name}`);
    return at === -1
      ? undefined
      : words
          .slice(at + 1)
          .join(' ')
          .replace(/ --.*/, '');
  };
  const [, verb = '', second = '', third = ''] = words;
  const command = (given: KindCommand) => task.attempt((session) => decideCommand(session, given));
  const override = flag('override');
  switch (verb) {
    case 'task': {
      const to = statuses.find((one) => one === third);
      if (to === undefined) break;
      const blocker = flag('blocker');
      return command(
        move(to, {
          ...(override === undefined ? {} : { override }),
          ...(blocker === undefined ? {} : { blocker }),
        }),
      );
    }
    case 'step': {
      if (second === 'add') return command(add(words.slice(3).join(' ').replaceAll("'", '')));
      const type = { start: 'take-step', done: 'finish-step', drop: 'drop-step' }[second];
      if (type !== undefined) return command({ type, step: Number(third) });
      break;
    }
    case 'unblock':
      return task.attempt((session) => decideUnblock(session, { id: Number(second), raised: undefined }, null));
    case 'finish':
      return task.attempt((session) => decideFinish(session, { abort: words.includes('--abort'), reason: null }));
    case 'reopen':
      return task.attempt((session) => decideReopen(session, null, override));
    case 'begin':
      return { ok: true, value: [] };
    case 'progress':
      return { ok: true, value: [] };
    case 'resume':
      return task.attempt((session) =>
        decideOpened(session, (opened) => decideResume(opened, { actor: 'ana', place: 'here', data: {} })),
      );
  }
  return assert.fail(`what is ${line}?`);
};

/** A table that may be declared: any rows that let a task be blocked, and leave none stuck. */
const tables: fc.Arbitrary<Transitions> = fc
  .record({
    'not-started': fc.subarray<Status>(['in-progress', 'blocked', 'ready-for-review', 'done']),
    'in-progress': fc.subarray<Status>(['not-started', 'blocked', 'ready-for-review', 'done']),
    blocked: fc.subarray<Status>(['not-started', 'in-progress', 'ready-for-review', 'done']),
    'ready-for-review': fc.subarray<Status>(['not-started', 'in-progress', 'blocked', 'done']),
    done: fc.subarray<Status>(['in-progress', 'ready-for-review']),
  })
  .filter((table) => kind.declared({ transitions: table }).ok);

type Action = readonly [name: string, (task: Task) => Result<readonly string[], Refusal>];

const actions: fc.Arbitrary<Action> = fc.oneof(
  { arbitrary: movesAtRandom(), weight: 6 },
  {
    arbitrary: fc
      .constantFrom(
        'stint step add a',
        'stint step add b',
        'stint step start 1',
        'stint step done 1',
        'stint step done 2',
        'stint step drop 1',
        'stint finish',
        'stint finish --abort',
        'stint reopen',
        'stint reopen --override because',
        'stint resume',
      )
      .map((line): Action => [line, (task) => typed(task, line)]),
    weight: 6,
  },
  fc.constant<Action>(['block', (task) => task.attempt(block('no token'))]),
  fc.constant<Action>(['unblock', (task) => task.attempt(unblock)]),
  fc.constant<Action>([
    'pause',
    (task) => task.attempt((session) => decideOpened(session, (opened) => decidePause(opened, null))),
  ]),
);

function movesAtRandom(): fc.Arbitrary<Action> {
  return fc.tuple(fc.constantFrom(...statuses), fc.boolean(), fc.boolean()).map(([to, isForced, isSaid]): Action => {
    const more = {
      ...(isForced ? { override: 'because' } : {}),
      ...(isSaid && to === 'blocked' ? { blocker: 'no answer' } : {}),
    };
    return [
      `move ${to} ${JSON.stringify(more)}`,
      (task) => task.attempt((session) => decideCommand(session, move(to, more))),
    ];
  });
}

test('whatever is asked in whatever order: a status follows by a transition or with a reason, agrees with blockers and steps, and leads on', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.constant(usualTransitions), tables),
      fc.array(actions, { maxLength: 25 }),
      (table, asked) => {
        const task = taskOf(table);
        for (const [name, act] of asked) {
          const before = task.status();
          const seen = task.events().length;
          const result = act(task);
          const after = task.status();
          if (!result.ok) {
            assert.equal(after, before, `${name} was refused, and moves it`);
            checkLegal(task, result.error);
            continue;
          }
          checkMove(table, before, after, task.events().slice(seen), name);
          checkAgreement(table, task);
        }
        checkNotStuck(task);
      },
    ),
    { numRuns: 500 },
  );
});

/** From one status to another it goes by transitions, or a reason is on the record. */
const checkMove = (
  table: Transitions,
  before: Status,
  after: Status,
  events: readonly StoredEvent[],
  name: string,
): void => {
  let at: string = before;
  for (const { type, data } of events) {
    if (type !== 'StatusChanged') continue;
    const { from, to, override } = data;
    assert.equal(from, at, `${name} starts somewhere else`);
    const isLegal = statuses.some((one) => one === from && table[one].some((next) => next === to));
    assert.ok(isLegal || typeof override === 'string', `${name}: ${at} is not followed by ${JSON.stringify(to)}`);
    at = statuses.find((one) => one === to) ?? '';
  }
  const isSame = at === after;
  const follows = statuses.some((one) => one === at && table[one].includes(after));
  assert.ok(isSame || follows, `${name}: ${after} does not follow ${at}`);
};

const checkAgreement = (table: Transitions, task: Task): void => {
  const { common } = task.session();
  const status = task.status();
  const isBlocked = blockersOf(common).length > 0;
  if (status === 'blocked') assert.ok(isBlocked, 'it is blocked by nothing');
  else if (table[status].includes('blocked')) assert.ok(!isBlocked, `it is ${status} with a blocker`);
  assert.equal(status === 'done', common.outcome === 'completed');
  if (status === 'done') assert.deepEqual([isBlocked, leftOf(task)], [false, []]);
};

/** Whoever does what a refusal says is not refused: each of the commands is tried, and nothing kept. */
const checkLegal = (task: Task, { legal = [], message }: Refusal): void => {
  for (const line of legal) {
    const { session } = task;
    const copy: Task = {
      ...task,
      attempt: (decide) => {
        const decided = decide(session());
        return decided.ok ? { ok: true, value: decided.value.map(({ type }) => type) } : decided;
      },
    };
    const result = typed(copy, line);
    if (!result.ok) assert.fail(`${message} says ${line}, and that is refused: ${result.error.message}`);
  }
};

/** Whoever does what is said to be next comes to an end. */
const checkNotStuck = (task: Task): void => {
  if (task.session().common.status === 'closed') {
    const again = typed(task, 'stint reopen --override because');
    assert.ok(again.ok, 'what is closed does not go on, whatever the reason');
  }
  for (let count = 0; count < 30; count += 1) {
    if (task.session().common.status === 'closed') break;
    const { command } = viewOfSession(task.session()).next;
    const result = typed(task, command ?? '');
    if (!result.ok) assert.fail(`the next action ${command} is refused: ${result.error.message}`);
    assert.ok(result.value.length > 0, `the next action ${command} changes nothing`);
  }
  assert.equal(task.status(), 'done');
};
