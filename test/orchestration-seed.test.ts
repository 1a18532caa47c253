/**
 * The original's page about the state of an orchestrator's session: its own example is entered through the built command, and
 * each of its sentences is quoted, and has a test.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import {
  currentFile,
  completeAgents,
  fileIn,
  historyFile,
  orchestrationIn,
  startAgents,
} from './support/orchestrations.ts';
import { startProgram } from './support/processes.ts';
import { as } from './support/leases.ts';
import {
  createWorld,
  later,
  lines,
  listOf,
  refusedText,
  say,
  shared,
  withoutShared,
  type Printed,
  type Tidying,
  type TestWorld,
} from './support/world.ts';

const file = ['seeds', 'orchestrator-session-state.txt'] as const;
const name = '2025-12-27-abc123';
const key = `orchestration:${name}`;

/** The world at a time of the example's day. */
const at = (world: TestWorld, time: string): TestWorld => world.with({ now: `2025-12-27T${time}:00.000Z` });

/** The example, entered step by step as it is told, to the moment at which it was saved. */
const walkExample = (tidying: Tidying): TestWorld => {
  const world = createWorld(tidying, { name: 'my-project' });
  world.git('checkout', '-q', '-b', 'dev');
  world.write('R/sensitivity.R', 'medci <- NULL\n');
  const step = (time: string, ...args: readonly string[]): unknown => at(world, time).answer(...args);
  step('10:30', 'begin', 'orchestration', '--name', name, '--goal', 'Add sensitivity analysis to RMediation::medci()');
  step('10:30', 'agent', 'start', 'arch-1', '--type', 'arch', '--task', 'Design sensitivity API');
  step(
    ...['10:31', 'note', 'decision', 'Use bootstrap for confidence intervals'],
    ...['--rationale', 'Best balance of accuracy and performance'],
  );
  step(
    ...['10:32', 'agent', 'complete', 'arch-1', '--tokens', '1500'],
    ...['--summary', '3 methods proposed: bootstrap, delta, MCMC'],
  );
  step('10:32', 'decide', 'wave-1', 'continue');
  step(
    ...['10:32', 'agent', 'start', 'code-1', '--type', 'code', '--task', 'Implement primary method'],
    ...['--tokens', '3200', '--ttl', '8h'],
  );
  step('10:33', 'todo', 'add', 'Architecture design');
  step('10:33', 'todo', 'done', '1', '--outcome', '3 methods proposed', '--file', 'R/sensitivity.R');
  for (const task of ['Complete code-1 implementation', 'Add unit tests', 'Update documentation'])
    step('10:34', 'todo', 'add', task);
  step('11:44', 'agent', 'progress', 'code-1', '60', '--ttl', '8h');
  step('11:44', 'usage', 'report', '--tokens', '25000', '--percentage', '20');
  step('11:45', 'save');
  return world;
};

/** The same for every test that only looks; made when the first one does, and removed behind the last one. */
let walked: TestWorld | undefined;
const tidying: (() => void)[] = [];
const walkedExample = (): TestWorld =>
  (walked ??= walkExample({ after: (action: () => void) => void tidying.push(action) }));
after(() => {
  for (const action of tidying) action();
});

/** What the file holds at that moment, in our words. */
const expected = (world: TestWorld) => ({
  schema_version: '1.0',
  session_id: name,
  created: '2025-12-27T10:30:00Z',
  updated: '2025-12-27T11:45:00Z',
  project: { name: 'my-project', path: world.project, git_branch: 'dev' },
  goal: 'Add sensitivity analysis to RMediation::medci()',
  mode: 'default',
  status: 'in_progress',
  agents: [
    {
      id: 'arch-1',
      type: 'arch',
      task: 'Design sensitivity API',
      status: 'complete',
      started: '2025-12-27T10:30:00Z',
      completed: '2025-12-27T10:32:00Z',
      result_summary: '3 methods proposed: bootstrap, delta, MCMC',
      context_tokens: 1500,
    },
    {
      id: 'code-1',
      type: 'code',
      task: 'Implement primary method',
      status: 'in_progress',
      started: '2025-12-27T10:32:00Z',
      progress: 60,
      context_tokens: 3200,
    },
  ],
  completed_work: [{ task: 'Architecture design', outcome: '3 methods proposed', files: ['R/sensitivity.R'] }],
  pending_tasks: ['Complete code-1 implementation', 'Add unit tests', 'Update documentation'],
  decisions_made: [
    {
      decision: 'Use bootstrap for confidence intervals',
      rationale: 'Best balance of accuracy and performance',
      timestamp: '2025-12-27T10:31:00Z',
    },
  ],
  context_usage: { estimated_tokens: 25_000, percentage: 20, last_compression: null },
  errors: [],
});

const printed = (document: unknown): string => JSON.stringify(document, null, 2);

test('the example of the page, entered through verbs, has its file at the moment of the page, byte by byte', () => {
  const world = walkedExample();
  assert.equal(readFileSync(world.path(currentFile), 'utf8'), printed(expected(world)));
});

test(
  'the file is what the page shows, field by field and key by key in its order',
  { skip: withoutShared(...file) },
  () => {
    const [, block = ''] = /```json(?<block>.*?)```/s.exec(readFileSync(join(shared, ...file), 'utf8')) ?? [];
    const shown: Printed = JSON.parse(block);
    const world = walkedExample();
    // The one value that cannot be the same: a path of another machine. A session says where its checkout lies.
    assert.equal(shown.project.path, '/path/to/my-project');
    shown.project.path = world.project;
    assert.equal(printed(fileIn(world)), printed(shown));
  },
);

/** Sentences of the page that promise one thing together. */
interface Promised {
  readonly quotes: readonly string[];
  readonly rule: string;
  /** Why it is not what the sentence says. */
  readonly differs?: string;
  readonly check: (context: TestContext) => void | Promise<void>;
}

const statusOf = (world: TestWorld): string => fileIn(world).status;
const historyOf = (world: TestWorld): readonly string[] =>
  existsSync(world.path('.claude/orchestrator-history')) ? readdirSync(world.path('.claude/orchestrator-history')) : [];
const hasCurrent = (world: TestWorld): boolean => existsSync(world.path(currentFile));

const promises: readonly Promised[] = [
  {
    quotes: [
      '> This skill should be used when the user asks to "save session", "resume session", "continue where I left off", "session history", or needs orchestrator session state persistence including save, load, resume, and history management.',
      'Handles persistent state for orchestrator sessions, enabling resume after disconnects.',
    ],
    rule: 'save, resume, continue and history are verbs, each with its first line of help',
    check: () => {
      const world = walkedExample();
      for (const verb of ['save', 'resume', 'continue', 'history', 'history show', 'history resume'])
        assert.match(say(world, 'help', ...verb.split(' ')), /^usage: stint \w/, verb);
    },
  },
  {
    quotes: [
      'reloading `.claude/orchestrator-session.json` so an in-progress multi-agent orchestration can continue where it left off (see Resume Flow below).',
      'State File Location ``` .claude/orchestrator-session.json # Current session (project-local) .claude/orchestrator-history/ # Session history (project-local) └── 2025-12-27-abc123.json # Archived sessions ```',
    ],
    rule: 'the open session lies in one file of the checkout, one that is over in a file of its own id, and none in both',
    check: (context) => {
      const world = walkExample(context);
      assert.deepEqual([hasCurrent(world), historyOf(world)], [true, []]);
      const before = fileIn(world);
      at(world, '11:50').answer('finish', '--abort');
      assert.deepEqual([hasCurrent(world), historyOf(world)], [false, [`${name}.json`]]);
      const agents = listOf(before.agents).map((agent) =>
        agent.status === 'complete' ? agent : { ...agent, status: 'in_progress' },
      );
      assert.deepEqual(
        { ...fileIn(world, historyFile(name)), agents },
        { ...before, agents, status: 'aborted', updated: '2025-12-27T11:50:00Z' },
      );
    },
  },
  {
    quotes: [
      'Save Session Called automatically on: - Agent completion - User says `save` - Before compression - On abort',
      '| Event | Action | |-------|--------| | Agent starts | Update state, save | | Agent completes | Update result, save | | Agent fails | Log error, save | | Decision made | Log decision, save | | User says `save` | Force save | | Compression | Save before compress | | Session end | Archive |',
      'The orchestrator calls session state operations at key points:',
      'state["updated"] = datetime.now().isoformat()',
      'update_agent_status(state, agent_id, "complete", result)',
    ],
    rule: 'the file is right after every event, with the time of it: start, end, failure, decision, save, compression, the end',
    differs: 'a save where nothing has happened since changes nothing, the time neither',
    check: (context) => {
      const world = orchestrationIn(context);
      let minute = 0;
      const then = (...args: readonly string[]): Printed => {
        minute += 1;
        later(world, minute).answer(...args);
        return hasCurrent(world) ? fileIn(world) : fileIn(world, historyFile('ship'));
      };
      const time = (): string => `2026-03-17T12:${String(minute).padStart(2, '0')}:00Z`;
      const agent = (document: Printed): Printed => document.agents[0];

      const started = then('agent', 'start', 'a', '--type', 'code', '--task', 'Do it');
      assert.deepEqual(
        [started.updated, agent(started).status, agent(started).started],
        [time(), 'in_progress', time()],
      );
      const failed = then('agent', 'fail', 'a', '--error', 'it broke');
      assert.deepEqual(
        [failed.updated, agent(failed).status, failed.errors],
        [time(), 'failed', [{ agent: 'a', message: 'it broke', at: time() }]],
      );
      const decided = then('note', 'decision', 'Try it again', '--rationale', 'it was late');
      assert.deepEqual(
        [decided.updated, decided.decisions_made],
        [time(), [{ decision: 'Try it again', rationale: 'it was late', timestamp: time() }]],
      );
      then('decide', 'wave-1', 'continue');
      then('agent', 'start', 'a');
      const measured = then('agent', 'progress', 'a', '40');
      assert.deepEqual([measured.updated, 'progress' in agent(measured)], ['2026-03-17T12:05:00Z', false]);
      const saved = then('save');
      assert.deepEqual([saved.updated, agent(saved).progress], [time(), 40]);
      assert.deepEqual(then('save'), saved, 'nothing has happened since');
      then('usage', 'report', '--tokens', '90000', '--percentage', '71');
      const compressed = then('compress', 'half of it is done');
      assert.deepEqual(
        [compressed.updated, compressed.context_usage],
        [time(), { estimated_tokens: 90_000, percentage: 71, last_compression: time() }],
      );
    },
  },
  {
    quotes: [
      'Load Session Called when user says `continue`:',
      'print("No session to resume")',
      'return None # Incompatible version',
    ],
    rule: 'without a session continue says that there is none; one of a version that nobody knows counts as one, and is left as it is',
    differs: 'a file that cannot be read is never taken for none',
    check: (context) => {
      const world = createWorld(context);
      assert.equal(
        refusedText(world, 4, 'continue'),
        lines(
          'stint: There is no open session.',
          '  expected: an open session of this checkout, or --session',
          '  try: stint begin KIND',
        ),
      );
      const newer = JSON.stringify({ schema_version: '2.0', session_id: 's', agents: [], goal: 'g' });
      world.write(currentFile, newer);
      for (const verb of ['begin orchestration', 'new'])
        assert.equal(world.run(...verb.split(' '), '--goal', 'g').status, 13, verb);
      assert.equal(readFileSync(world.path(currentFile), 'utf8'), newer);
    },
  },
  {
    quotes: [
      'Archive Session Called on session completion or new session start:',
      'if status == "complete": archive_session(state)',
      'state = create_new_session(goal, mode) save_session(state)',
    ],
    rule: 'one that is complete goes to the history with its end; so does one that a new one makes way for, in the same commit',
    differs: 'a new session never takes the place of an open one that was not put away',
    check: (context) => {
      const world = orchestrationIn(context);
      startAgents(world, 'a');
      completeAgents(world, 'a');
      later(world, 5).answer('finish');
      assert.deepEqual([hasCurrent(world), historyOf(world)], [false, ['ship.json']]);
      const { status, updated } = fileIn(world, historyFile('ship'));
      assert.deepEqual([status, updated], ['complete', '2026-03-17T12:05:00Z']);

      later(world, 6).answer('new', '--name', 'second', '--goal', 'Go on');
      later(world, 7).answer('todo', 'add', 'something');
      later(world, 8).answer('new', '--name', 'third', '--goal', 'Go on with something else');
      assert.deepEqual(historyOf(world).toSorted(), ['second.json', 'ship.json']);
      assert.deepEqual([fileIn(world, historyFile('second')).status, fileIn(world).session_id], ['aborted', 'third']);
    },
  },
  {
    quotes: ['List History', 'def list_history(limit: int = 10) -> list[dict]:'],
    rule: 'the history lists the last ten that are over, the newest first, with id, goal, status and date',
    differs: 'sorted by when they were begun: file names of one day are sorted by chance',
    check: (context) => {
      const world = createWorld(context);
      assert.equal(say(world, 'history'), 'nothing is over yet\n');
      const names = ['z', 'y', 'x', 'w', 'v', 'u', 't', 's', 'r', 'q', 'p', 'o'];
      for (const [minute, one] of names.entries())
        later(world, minute).answer('new', '--name', one, '--goal', `Goal ${one}`);
      const line = (one: string, number: number): string =>
        `${String(number).padEnd(2)}  2026-03-17  ${one}  aborted  Goal ${one}`;
      const over = names.slice(0, -1).toReversed();
      assert.equal(say(world, 'history'), lines(...over.slice(0, 10).map((one, index) => line(one, index + 1))));
      const { sessions, total } = world.answer('history');
      assert.deepEqual([listOf(sessions).length, total], [10, 11]);
      assert.deepEqual(
        ['session_id', 'goal', 'status', 'created'].map((field) => sessions[0][field]),
        ['p', 'Goal p', 'aborted', '2026-03-17T12:10:00.000Z'],
      );
      assert.equal(listOf(world.answer('history', '--limit', '11').sessions).length, 11);
    },
  },
  {
    quotes: [
      'Resume Flow When user says `continue`:',
      'RESUMING SESSION **Session ID**: 2025-12-27-abc123 **Goal**: Add sensitivity analysis to RMediation::medci() **Started**: 2 hours ago **Progress**: 60% complete ### Completed Work - ✅ Architecture design (3 methods proposed) - ✅ Test stubs created ### In Progress - 🔄 code-1: Implement primary method (60%) ### Pending 1. Complete code-1 implementation 2. Add unit tests 3. Update documentation ### Context Budget - Tokens used: ~25,000 (20%) - Last compression: Never **Resuming from code-1...**',
      'if state: resume_from_state(state)',
    ],
    rule: 'whoever continues is told the session, the goal, its age, its progress, what is done, under way and left, the context, and with what to go on',
    differs:
      'the example is not of its own file: progress is the mean over both agents, not that of one, and the test stubs are nowhere in it',
    check: (context) => {
      const world = walkExample(context);
      const said = say(at(world, '12:30'), 'continue');
      const parts = [
        [`session     ${key} (active)`],
        [
          'goal        Add sensitivity analysis to RMediation::medci() (recorded by ana@desk at 2025-12-27T10:30:00.000Z, event 1)',
        ],
        ['started     2 hours ago (2025-12-27T10:30:00.000Z)'],
        ['progress    80% complete: the mean over 2 agents that are not cancelled, a complete one counts 100'],
        [
          'Completed Work',
          '  - arch-1: Design sensitivity API (3 methods proposed: bootstrap, delta, MCMC) (at 2025-12-27T10:32:00.000Z)',
          '  - Architecture design (3 methods proposed)',
          '',
          'In Progress',
        ],
        [
          'Pending',
          '  1. todo 2: Complete code-1 implementation',
          '  2. todo 3: Add unit tests',
          '  3. todo 4: Update documentation',
          '',
        ],
        ['Context Budget', '  - 25000 tokens used (20 %); compressed at 70 %', '  - last compressed: never', ''],
        ['then: code-1 is at work.', `next: stint agent list --session ${key}`],
      ];
      const places = parts.map((part) => said.indexOf(`\n${lines(...part)}`));
      assert.ok(!places.includes(-1), said);
      assert.deepEqual(
        places.toSorted((a, b) => a - b),
        places,
      );
      assert.match(said, /^  - code-1: Implement primary method \(60%\)/m);
      const { progress } = at(world, '12:31').answer('brief');
      assert.equal(progress.percent, 80, 'a complete one counts 100, the other 60');
    },
  },
  {
    quotes: ['[new task] ──► CREATED ──► IN_PROGRESS ──► COMPLETE'],
    rule: 'a session is created, in progress from its first agent or todo on, and complete when it is finished',
    check: (context) => {
      const world = orchestrationIn(context);
      assert.equal(statusOf(world), 'created');
      world.answer('note', 'decision', 'Do it in two steps');
      assert.equal(statusOf(world), 'created', 'nothing was begun yet');
      assert.equal(world.refusal(6, 'finish').code, 'invariant-unmet');
      world.answer('todo', 'add', 'the first step');
      assert.equal(statusOf(world), 'in_progress');
      assert.equal(world.refusal(6, 'finish').code, 'invariant-unmet');
      world.answer('todo', 'done', '1');
      world.answer('finish');
      assert.deepEqual([hasCurrent(world), fileIn(world, historyFile('ship')).status], [false, 'complete']);
    },
  },
  {
    quotes: ['PAUSED ◄── [disconnect]', '[continue]', '└────► IN_PROGRESS'],
    rule: 'one that is paused is in progress again when somebody continues; a program that is gone is noticed, and what it did is in doubt',
    differs:
      'who is disconnected writes nothing any more: the session stays open, and whoever continues is told of the agent',
    check: async (context) => {
      const world = orchestrationIn(context);
      const program = await startProgram(context);
      world.answer('agent', 'start', 'a', '--type', 'code', '--task', 'Do it', '--pid', String(program.pid));
      world.answer('pause');
      assert.deepEqual(
        [statusOf(world), world.refusal(5, 'agent', 'start', 'b', '--type', 't', '--task', 't').hint],
        ['paused', 'stint resume --session orchestration:ship'],
      );
      await program.kill();
      const answer = world.answer('continue');
      assert.deepEqual(
        [answer.was_paused, answer.interrupted, answer.in_doubt],
        [true, [{ id: 'a', attempt: 1, because: 'gone' }], ['a']],
      );
      assert.deepEqual(
        [statusOf(world), fileIn(world).agents[0].status, fileIn(world).agents[0].in_doubt],
        ['in_progress', 'in_progress', true],
      );
    },
  },
  {
    quotes: ['[abort] ──► ABORTED ──► [archive]'],
    rule: 'one can be aborted in every state: it lies in the history then, and continue says which it was and how it goes on',
    check: (context) => {
      const world = orchestrationIn(context);
      const states: readonly (readonly [string, readonly string[]])[] = [
        ['created', []],
        ['in_progress', ['todo', 'add', 'something']],
        ['paused', ['pause']],
      ];
      for (const [state, enter] of states) {
        if (enter.length > 0) world.answer(...enter);
        assert.equal(statusOf(world), state);
        world.answer('finish', '--abort', '--reason', 'the wrong way');
        assert.deepEqual([hasCurrent(world), fileIn(world, historyFile('ship')).status], [false, 'aborted']);
        assert.equal(
          refusedText(later(world, 3), 4, 'continue'),
          lines(
            'stint: No session is open in this checkout; the last one, orchestration:ship, was closed 3 minutes ago (aborted).',
            '  expected: an open session of this checkout, or --session',
            '  legal: stint reopen --session orchestration:ship',
            '  perhaps: orchestration:ship',
            '  try: stint reopen --session orchestration:ship',
          ),
        );
        world.answer('reopen', '--session', 'orchestration:ship');
        assert.deepEqual(historyOf(world), [], 'it lies in one place');
      }
    },
  },
  {
    quotes: ['[archive]'],
    rule: 'one that is over is shown from the history, and goes on from it where it was left',
    check: (context) => {
      const world = orchestrationIn(context);
      startAgents(world, 'a');
      completeAgents(world, 'a');
      world.answer('todo', 'add', 'tests');
      later(world, 1).answer('new', '--name', 'other', '--goal', 'Another goal');
      const lie = (): readonly unknown[] => [fileIn(world).session_id, historyOf(world)];
      assert.deepEqual(lie(), ['other', ['ship.json']]);
      assert.equal(
        say(world, 'history', 'show', '1'),
        lines(
          'orchestration:ship  aborted',
          'goal                Ship it',
          'created             2026-03-17T12:00:00.000Z',
          'updated             2026-03-17T12:01:00.000Z',
          'why                 made way for orchestration:other',
          'mode                default',
          'progress            99 %',
          'a                   complete: a is done',
          'left                tests',
          'next: stint history resume ship',
        ),
      );
      assert.equal(
        say(later(world, 2), 'history', 'resume', '1'),
        lines(
          'goes on  orchestration:ship: 1/1 agents over, 1 to do, wave-1 waits for a decision (open_no_artifact)',
          'next: stint decide wave-1 continue --session orchestration:ship',
          'put away: orchestration:other',
        ),
      );
      assert.deepEqual(lie(), ['ship', ['other.json']]);
      assert.equal(statusOf(world), 'in_progress');
    },
  },
  {
    quotes: ['# On shutdown'],
    rule: 'whoever shuts down leaves the session as it is: it lies in its file, for whoever continues',
    check: (context) => {
      const world = orchestrationIn(context);
      startAgents(world, 'a');
      const before = readFileSync(world.path(currentFile), 'utf8');
      assert.equal(as(world, 'bob').answer('brief').session, 'orchestration:ship');
      assert.equal(readFileSync(world.path(currentFile), 'utf8'), before);
    },
  },
  {
    quotes: [
      'Error Recovery If session file is corrupted:',
      "⚠️ SESSION RECOVERY The previous session file appears corrupted. **Options**: 1. **Start fresh**: Begin new session (old state lost) 2. **View history**: Check archived sessions 3. **Manual recovery**: I'll try to extract what I can Which would you prefer?",
    ],
    rule: 'a file that is damaged is written anew where the session is known; of one that nobody knows the ways are told',
    differs: 'nothing is lost by starting fresh: the file is kept',
    check: (context) => {
      const world = orchestrationIn(context);
      const whole = readFileSync(world.path(currentFile), 'utf8');
      world.write(currentFile, whole.slice(0, 100));
      const { stderr, status } = world.run('todo', 'add', 'tests');
      assert.deepEqual([status, fileIn(world).pending_tasks], [0, ['tests']]);
      assert.match(
        stderr,
        /^stint: warning: orchestrator-session\.json had been changed by somebody else; that version is kept/,
      );

      const other = createWorld(context);
      const torn = whole.slice(0, -40);
      other.write(currentFile, torn);
      const { legal, ways } = other.run('begin', 'orchestration', '--goal', 'g', '--json').json.error;
      assert.deepEqual(legal, [
        'stint import orchestrator --salvage',
        'stint history',
        'stint begin orchestration --fresh --goal=g',
      ]);
      assert.equal(listOf(ways).length, 3);
      other.run('begin', 'orchestration', '--goal', 'g', '--fresh');
      const kept = readdirSync(other.path('.claude')).filter((one) => one.startsWith('orchestrator-session.json.'));
      assert.deepEqual(
        kept.map((one) => readFileSync(other.path('.claude', one), 'utf8')),
        [torn],
      );
    },
  },
];

/** What of the page promises nothing, or is compared as a whole above. */
const headings = [
  'Session State',
  'Session State Manager',
  'Scope — Not to Be Confused With `orchestrate:resume` "Resume" here means resuming **orchestrator-v2 session state**:',
  'This skill has no relationship to the `orchestrate:resume` slash command, which was a separate, fictional 523-line command removed in #239. If a request seems to want "bring back the old `orchestrate:resume` command," that is out of scope for this skill — this skill only manages the session-state JSON files described below.',
  'Session State Schema',
  'Operations',
  'State Transitions',
  'Session Lifecycle',
  'Auto-Save Triggers',
  'Integration with Orchestrator',
];

test(
  'every sentence of the page is quoted, and nothing is quoted that is not in it',
  { skip: withoutShared(...file) },
  () => {
    const page = readFileSync(join(shared, ...file), 'utf8');
    const code = [...page.matchAll(/```python.*?```/gs)].join('\n');
    // Who has written it, and where it is had, says nothing of what it does.
    let rest = page
      .replaceAll(/```(?:json|python).*?```/gs, '')
      .replace(/ - Skill: `.*?(?=# Session State Manager)/s, ' ');
    const quotes = [...promises.flatMap((promise) => promise.quotes), ...headings];
    for (const quote of quotes.toSorted((a, b) => b.length - a.length)) {
      const place = rest.indexOf(quote);
      assert.ok(place >= 0 || code.includes(quote), `it is not there: ${quote}`);
      if (place >= 0) rest = `${rest.slice(0, place)}${rest.slice(place + quote.length)}`;
    }
    assert.equal(rest.replaceAll(/[\s|#`>🔄─│┌┐└┘├┤▼-]/gu, ''), 'markdownmarkdown', 'nothing is left but fences');
  },
);

for (const { rule, differs, check } of promises) {
  test(rule, (context) => {
    if (differs !== undefined) context.diagnostic(`not what the original does: ${differs}`);
    return check(context);
  });
}
