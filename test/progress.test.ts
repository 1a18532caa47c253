/** The live view: what it shows of real situations, once and as it goes on. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import * as v from 'valibot';
import { defineKind, type Kind } from '../src/index.ts';
import { kinds } from '../src/kinds/registry.gen.ts';
import { runCommandLine } from '../src/surfaces/cli/run.ts';
import { renderFrame } from '../src/surfaces/tui/frame.ts';
import type { Signal, Terminal } from '../src/surfaces/tui/terminal.ts';
import { allVerbs } from '../src/surfaces/verbs.ts';
import { displayWidth } from '../src/lib/text.ts';
import { kind as release } from './kinds/release/index.ts';
import { caseFile } from './support/cases.ts';
import { advanceTo, approval, completeRound, json, name, objection, reviewIn, session } from './support/reviews.ts';
import { command, createWorld, listOf, runWholeProcesses, withoutShared, type TestWorld } from './support/world.ts';

runWholeProcesses();

const skip = withoutShared('cases');
const folder = `.ocr/sessions/${name}`;

/** Runs a verb that must succeed; answers what it printed. */
const say = (world: TestWorld, ...args: readonly string[]): string => {
  const { status, stdout, stderr } = world.run(...args);
  assert.deepEqual([stderr, status], ['', 0], args.join(' '));
  return stdout;
};

const writeReviews = (world: TestWorld, round = 1): void => {
  const reviews = `${folder}/rounds/round-${round}/reviews`;
  world.write(
    `${reviews}/principal-1.md`,
    '# Review\n\n## Findings\n\n### Finding 1: the lock\n\n### Issue: the name\n\n## Suggestion\n\nFinding: none\n',
  );
  world.write(`${reviews}/quality-10.md`, '## FINDING 1\r\n\r\ntext\r\n');
};

const done = `[x] context         Discover the project and its standards
      not there: discovered-standards.md
[x] change-context  Gather the context of the change
      not there: context.md
[x] analysis        Analyse the change and guide the reviewers`;

test('without a session it waits for one, also where there is no store, and makes none', (context) => {
  const world = createWorld(context);
  const waiting = 'stint progress\n\nWaiting for a session of this checkout.\nnext: stint begin KIND\n';
  assert.equal(say(world, 'progress'), waiting);
  assert.ok(!existsSync(world.path('.stint')));
  assert.deepEqual(world.answer('progress', '--once'), {
    schema_version: 1,
    now: '2026-03-17T12:00:00.000Z',
    sessions: [],
    total: 0,
  });
  assert.equal(world.refusal(4, 'progress', '--store', 'elsewhere').code, 'not-found');
  assert.equal(world.refusal(4, 'progress', 'nobody').code, 'not-found');
});

test('a fresh review stands at its first step', (context) => {
  const world = reviewIn(context, 'context');
  assert.equal(
    say(world, 'progress', '--once'),
    `stint progress  ${session}
active, running 00:00, last change 00:00 ago
[------------------------]   0%  0/8  Discover the project and its standards

[>] context         Discover the project and its standards
      not there: discovered-standards.md
[ ] change-context  Gather the context of the change
[ ] analysis        Analyse the change and guide the reviewers
[ ] reviews         Let the reviewers work side by side
[ ] aggregation     Aggregate the findings
[ ] discourse       Let the reviewers discuss the findings
[ ] synthesis       Write the final review
[ ] complete        The round is complete

missing: round 1 is not completed (still to come: change-context, analysis, reviews, aggregation, discourse, synthesis)
then: Discover the project and its standards, then enter change-context.
next: stint advance change-context --session ${session}
`,
  );
});

test('H10: while reviewers work it tells who has written how many findings, and for how long the round runs', (context) => {
  const world = reviewIn(context, 'reviews').with({ now: '2026-03-17T12:17:05.000Z' });
  writeReviews(world);
  const frame = say(world, 'progress');
  assert.equal(
    frame,
    `stint progress  ${session}
active, running 17:05, last change 17:05 ago
[#########---------------]  37%  3/8  Let the reviewers work side by side

${done}
[>] reviews         Let the reviewers work side by side
      principal-1.md  findings 3
      quality-10.md   findings 1
[ ] aggregation     Aggregate the findings
[ ] discourse       Let the reviewers discuss the findings
[ ] synthesis       Write the final review
[ ] complete        The round is complete

findings in files: 4
missing: round 1 is not completed (still to come: aggregation, discourse, synthesis)
then: Let the reviewers work side by side, then enter aggregation.
next: stint advance aggregation --session ${session}
`,
  );
  assert.doesNotMatch(frame, /\u001b/, 'a pipe gets no escape sequence');

  const answered = world.answer('progress');
  assert.equal(answered.total, 1);
  const { steps, ...rest } = answered.sessions[0];
  const status = world.answer('status');
  for (const key of Object.keys(status).filter((one) => one !== 'schema_version' && one !== 'evidence'))
    assert.deepEqual(rest[key], status[key], `${key} is that of status`);
  assert.deepEqual(
    listOf(steps).map(({ name: phase, state }) => `${phase} ${state}`),
    [
      'context done',
      'change-context done',
      'analysis done',
      'reviews current',
      'aggregation pending',
      'discourse pending',
      'synthesis pending',
      'complete pending',
    ],
  );
  assert.deepEqual(steps[3], {
    name: 'reviews',
    label: 'Let the reviewers work side by side',
    state: 'current',
    evidence: [
      {
        label: 'reviews',
        path: `${folder}/rounds/round-1/reviews`,
        present: true,
        at_least: 2,
        files_total: 2,
        counts: 'findings',
        files: [
          { name: 'principal-1.md', count: 3 },
          { name: 'quality-10.md', count: 1 },
        ],
      },
    ],
  });
  const own = Object.fromEntries(Object.entries(rest).filter(([key]) => !(key in status)));
  assert.deepEqual(own, {
    done: 3,
    total: 8,
    fraction: 0.375,
    cycle: { label: 'round 1', started_at: '2026-03-17T12:00:00.000Z', completed_at: null },
    running: true,
    elapsed_ms: 1_025_000,
    since_update_ms: 1_025_000,
    earlier: [],
    summary: {},
    counts: [{ label: 'findings', total: 4, unknown: 0 }],
    results: [],
  });
});

test('files that are too large, no files or named to deceive are shown as what they are', (context) => {
  const world = reviewIn(context, 'reviews');
  const reviews = `${folder}/rounds/round-1/reviews`;
  world.write(`${reviews}/large-1.md`, '## Finding\n'.repeat(100_000));
  world.write(`${reviews}/odd\u001b[2J\nnext: rm.md`, '## Finding\n');
  world.write(`${reviews}/binary-1.md`, Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
  const frame = say(world, 'progress');
  assert.match(frame, /^ {6}large-1\.md +findings \?$/m);
  assert.match(frame, /^ {6}odd\[2J next: rm\.md +findings 1$/m);
  assert.match(frame, /^findings in files: 1 and \? in 1 file$/m);
  const listed = listOf(world.answer('progress').sessions[0].steps[3].evidence[0].files);
  assert.deepEqual(
    listed.map(({ count }) => count),
    [0, null, 1],
  );
});

test('a step that was skipped says so, and a completed round shows its result and where it lies', (context) => {
  const world = reviewIn(context, 'aggregation');
  world.answer('advance', '--skip', 'discourse', '--reason', 'quick');
  world.write(`${folder}/rounds/round-1/final.md`, '# Final\n');
  completeRound(world.with({ now: '2026-03-17T13:00:00.000Z' }), objection);
  const later = world.with({ now: '2026-03-17T15:00:00.000Z' });
  const frame = say(later, 'progress');
  assert.equal(
    frame,
    `stint progress  ${session}
active, took 1:00:00, last change 2:00:00 ago
[########################] 100%  8/8  complete (8/8), round 1

${done}
[x] reviews         Let the reviewers work side by side
      0 of at least 2 reviews
[x] aggregation     Aggregate the findings
[-] discourse       Let the reviewers discuss the findings (skipped)
[x] synthesis       Write the final review
[x] complete        The round is complete

round 1: REQUEST CHANGES, blocker 1, should fix 0, suggestion 0, reviewer 1, total finding 2
final review: ${folder}/rounds/round-1/final.md
data: ${folder}/rounds/round-1/round-meta.json
then: Everything that is required is there: close the session.
next: stint finish --session ${session}
`,
  );
  later.answer('finish');
  const closed = say(later.with({ now: '2026-03-20T15:00:00.000Z' }), 'progress');
  assert.match(closed, /^completed, took 1:00:00, closed 2026-03-17T15:00:00\.000Z\n\[#{24}\] 100%/m);
  assert.match(closed, /^round 1: REQUEST CHANGES/m, 'the last session is shown with its result');
  assert.doesNotMatch(closed, /^next: /m);
});

test('a map tells how many files its topology names, in lists and in tables', (context) => {
  const world = createWorld(context);
  world.answer('begin', 'map', '--name', 'mapped');
  const topology =
    '# Topology\n\nThe `core` is in src.\n\n- `src/a.ts`: entry\n* [`src/b.ts`](b)\n\n| `src/c.ts` | 3 |\n| --- | --- |\n1. `README.md`\n';
  world.write('.ocr/sessions/mapped/map/runs/run-1/topology.md', topology);
  const [shown] = listOf(world.answer('progress', '--once').sessions);
  assert.deepEqual(shown.counts, [{ label: 'paths', total: 4, unknown: 0 }]);
  assert.match(say(world, 'progress'), /topology\.md +paths 4/);
});

test('a second round names itself and what came of the ones before', (context) => {
  const world = reviewIn(context, 'complete');
  world.answer('advance', 'context', '--round', '2');
  world.answer('advance', 'context', '--round', '3');
  advanceTo(world, 'reviews');
  writeReviews(world, 1);
  const frame = say(world.with({ now: '2026-03-19T13:01:02.000Z' }), 'progress');
  assert.match(frame, /^active, round 3, running 2d 01:01:02, last change 2d 01:01:02 ago$/m);
  assert.match(frame, /^round 1: APPROVE, blocker 0, should fix 0, suggestion 1, reviewer 2, total finding 1$/m);
  assert.match(frame, /^round 2: not completed$/m);
  assert.match(frame, /^ {6}0 of at least 2 reviews$/m, 'files of another round are not taken for those of this one');
  assert.doesNotMatch(frame, /principal|findings in files/);
});

test('an aborted review shows where it was left and how it goes on', (context) => {
  const world = reviewIn(context, 'analysis');
  world.with({ now: '2026-03-17T12:01:00.000Z' }).answer('finish', '--abort', '--reason', 'no time');
  const frame = say(world, 'progress');
  assert.match(frame, /^aborted \(no time\), took 01:00, closed 2026-03-17T12:01:00\.000Z$/m);
  assert.match(frame, /^\[>\] analysis /m);
  assert.match(frame, new RegExp(`^next: stint begin review --name ${name}$`, 'm'));
});

test('several open sessions are shown side by side, each in two lines, and one that is named alone', (context) => {
  const world = reviewIn(context, 'reviews');
  world.answer('begin', 'review', '--name', 'other');
  assert.equal(
    say(world, 'progress'),
    `stint progress  2 sessions are open in this checkout

${session}  active, running 00:00
  [#########---------------]  37%  3/8  Let the reviewers work side by side

review:other  active, running 00:00
  [------------------------]   0%  0/8  Discover the project and its standards
`,
  );
  assert.equal(world.answer('progress').total, 2);
  assert.match(say(world, 'progress', 'other'), /^stint progress {2}review:other\n/);
  assert.match(say(world, 'progress', '--session', session), new RegExp(`^stint progress {2}${session}\n`));
  const chosen = world.with({ env: { STINT_SESSION: 'other' } });
  assert.match(say(chosen, 'progress'), /^stint progress {2}review:other\n/);
  world.answer('finish', '--abort', '--session', 'other');
  assert.match(say(world, 'progress'), new RegExp(`^stint progress {2}${session}\n`), 'the open one is left');
});

test('sessions of another checkout are not shown, and the store that was named is named in what is suggested', (context) => {
  const world = reviewIn(context, 'context');
  world.git('worktree', 'add', '-q', '../second', '-b', 'second');
  const second = world.with({ cwd: `${world.root}/second` });
  assert.match(say(second, 'progress'), /Waiting for a session/);
  assert.match(say(second, 'progress', session), /^stint progress .*\nactive,.* worktree main\n/);
  const next = world.answer('progress', '--store', '.stint').sessions[0].next_action.command;
  assert.equal(next, `stint advance change-context --session ${session} --store .stint`);
});

test('with --quiet nothing is printed, and --json is one document', (context) => {
  const world = reviewIn(context, 'context');
  assert.equal(say(world, 'progress', '--quiet'), '');
  assert.equal(world.answer('progress').sessions.length, 1);
});

// On a terminal.

/** A terminal that is not one: what is written is kept, and time passes when it is told to. */
const createTerminal = () => {
  const size = { columns: 80, rows: 40 };
  const written: string[] = [];
  const listeners = {
    tick: new Set<() => void>(),
    resize: new Set<() => void>(),
    signal: new Set<(s: Signal) => void>(),
  };
  const listen =
    <Listener>(set: Set<Listener>) =>
    (listener: Listener) => {
      set.add(listener);
      return () => void set.delete(listener);
    };
  let suspended = 0;
  const terminal: Terminal = {
    columns: () => size.columns,
    rows: () => size.rows,
    write: (text) => {
      written.push(text);
      return true;
    },
    onResize: listen(listeners.resize),
    onSignal: listen(listeners.signal),
    every: (_, tick) => listen(listeners.tick)(tick),
    suspend: () => void (suspended += 1),
  };
  return {
    terminal,
    size,
    suspended: () => suspended,
    listeners: () => [...listeners.tick, ...listeners.resize, ...listeners.signal].length,
    /** Everything that was written since the last time. */
    written: (): string => written.splice(0).join(''),
    /** Waits until something is written. */
    next: async (): Promise<string> => {
      while (written.length === 0) await turn();
      // Whatever belongs to it is written at once.
      return written.splice(0).join('');
    },
    /** Lets a second pass; answers what was written. Nothing in a look waits for anything but its own turn. */
    second: async (): Promise<string> => {
      for (const tick of listeners.tick) tick();
      for (let count = 0; count < 10; count += 1) await turn();
      return written.splice(0).join('');
    },
    resize: (): string => {
      for (const listener of listeners.resize) listener();
      return written.splice(0).join('');
    },
    signal: (signal: Signal): string => {
      for (const listener of [...listeners.signal]) listener(signal);
      return written.splice(0).join('');
    },
  };
};

/** The frame of what was painted: without what moves the cursor. */
const frameOf = (painted: string): string => painted.replaceAll(/\u001b\[[?\d]*[a-zA-Z]|\r/g, '');

/** Starts `progress` in this process, on that terminal. */
const watchIn = async (
  world: TestWorld,
  screen: ReturnType<typeof createTerminal>,
  changes: { readonly argv?: readonly string[]; readonly colour?: boolean; readonly kinds?: readonly Kind[] } = {},
) => {
  const clock = { now: '2026-03-17T12:00:00.000Z' };
  const exit = runCommandLine({
    argv: ['progress', ...(changes.argv ?? [])],
    cwd: world.project,
    env: {},
    verbs: allVerbs,
    kinds: changes.kinds ?? kinds,
    version: '0',
    now: () => clock.now,
    actor: () => 'ana',
    user: () => 'ana',
    agent: undefined,
    colour: changes.colour ?? true,
    terminal: async () => screen.terminal,
  });
  let first = await screen.next();
  // The cursor is hidden before the first look.
  if (frameOf(first) === '') first += await screen.next();
  return { exit, clock, first };
};

const interrupt = async (screen: ReturnType<typeof createTerminal>, exit: Promise<number>): Promise<void> => {
  screen.signal('SIGINT');
  assert.equal(await exit, 130);
};

test('it is begun before the first session and catches up, paints only what changed, and leaves the last frame', async (context) => {
  const world = createWorld(context);
  const screen = createTerminal();
  const { exit, clock, first } = await watchIn(world, screen);
  assert.ok(first.startsWith('\u001b[?25l'), 'the cursor is hidden');
  assert.match(frameOf(first), /^stint progress\n\nWaiting for a session/);
  assert.ok(!existsSync(world.path('.stint')));
  assert.equal(await screen.second(), '', 'what did not change is not painted again');

  world.answer('begin', 'review');
  const begun = await screen.second();
  assert.ok(begun.startsWith('\u001b[4A\r'), 'it is painted over the four lines before');
  assert.match(frameOf(begun), new RegExp(`^stint progress {2}${session}\nactive, running 00:00,`));
  assert.equal(await screen.second(), '');

  clock.now = '2026-03-17T12:00:01.000Z';
  assert.match(frameOf(await screen.second()), /\nactive, running 00:01, last change 00:01 ago\n/);
  world.answer('advance', 'change-context');
  assert.match(frameOf(await screen.second()), /^\[x\] context .*\n.*\n\[>\] change-context/m);
  advanceTo(world, 'reviews');
  writeReviews(world);
  assert.match(frameOf(await screen.second()), /^ {6}quality-10\.md {3}findings 1$/m);
  advanceTo(world, 'synthesis');
  completeRound(world);
  assert.match(frameOf(await screen.second()), /^round 1: APPROVE/m);
  world.answer('finish');
  assert.match(frameOf(await screen.second()), /\ncompleted, took 00:00, closed /);
  world.answer('begin', 'review', '--name', name);
  assert.match(frameOf(await screen.second()), /\nactive, round 2, running/);
  world.answer('begin', 'review', '--name', 'other');
  assert.match(frameOf(await screen.second()), /^stint progress {2}2 sessions/);

  assert.equal(screen.signal('SIGINT'), '\r\u001b[J\u001b[?25h', 'the cursor is shown, the frame stays');
  assert.equal(await exit, 130);
  assert.equal(screen.listeners(), 0);
  assert.equal(await screen.second(), '');
});

/** Takes a store away on purpose: without its id nobody misses it. */
const forgetStore = (world: TestWorld): void => {
  rmSync(world.path('.stint'), { recursive: true });
  rmSync(world.path('.git/stint-id'));
};

test('a store that is deleted and made anew, or damaged for a while, does not end it', async (context) => {
  const world = reviewIn(context, 'reviews');
  const screen = createTerminal();
  const { exit, first } = await watchIn(world, screen);
  assert.match(frameOf(first), /^\[>\] reviews/m);
  forgetStore(world);
  assert.match(frameOf(await screen.second()), /Waiting for a session/);
  world.answer('begin', 'review', '--name', 'anew');
  assert.match(frameOf(await screen.second()), /^stint progress {2}review:anew\n/);

  forgetStore(world);
  world.answer('begin', 'review', '--name', 'between');
  assert.match(frameOf(await screen.second()), /^stint progress {2}review:between\n/, 'also between two looks');

  const [store, aside] = [world.path('.stint/stint.db'), world.path('.stint/aside.db')];
  renameSync(store, aside);
  writeFileSync(store, 'no database at all'.repeat(1000));
  const damaged = frameOf(await screen.second());
  assert.match(damaged, /^stint progress {2}review:between\n/, 'what was read last is still shown');
  assert.match(
    damaged,
    /\nwarning: The store \S+stint\.db is damaged: file is\n {2}not a database\. This is what can be read/,
  );
  rmSync(store);
  renameSync(aside, store);
  const healed = frameOf(await screen.second());
  assert.match(healed, /^stint progress {2}review:between\n/);
  assert.doesNotMatch(healed, /^stint: /m);
  world.answer('advance', 'change-context', '--session', 'between');
  assert.match(frameOf(await screen.second()), /^\[>\] change-context/m);
  await interrupt(screen, exit);
});

test('a session that is named is waited for, and goes when it is gone', async (context) => {
  const world = createWorld(context);
  const screen = createTerminal();
  const { exit, first } = await watchIn(world, screen, { argv: ['--session', 'soon'] });
  assert.equal(frameOf(first), 'stint progress\nstint: There is no session soon.\n');
  world.answer('begin', 'review', '--name', 'soon');
  assert.match(frameOf(await screen.second()), /^stint progress {2}review:soon\n/);
  forgetStore(world);
  assert.equal(frameOf(await screen.second()), frameOf(first), 'what is gone is not shown any longer');
  await interrupt(screen, exit);
});

test('another size is painted at once, over all that the narrower terminal made of the frame, and cut at its height', async (context) => {
  const world = reviewIn(context, 'context');
  const screen = createTerminal();
  const { exit, first } = await watchIn(world, screen);
  const wide = frameOf(first).trimEnd().split('\n');
  screen.size.columns = 40;
  const narrow = screen.resize();
  const rows = wide.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 40)), 0);
  assert.ok(narrow.startsWith(`\u001b[${rows}A\r`), JSON.stringify(narrow.slice(0, 10)));
  for (const line of frameOf(narrow).split('\n')) assert.ok(line.length <= 40, line);
  screen.size.rows = 6;
  const low = frameOf(screen.resize()).trimEnd().split('\n');
  assert.equal(low.length, 5, 'one line is left for the cursor');
  assert.match(low.at(-1) ?? '', /^\.\.\. \d+ more lines$/);
  assert.equal(screen.resize(), '', 'the same size is nothing new');
  await interrupt(screen, exit);
});

test('a stopped process gives the cursor back and paints anew when it goes on; the end of the system ends it', async (context) => {
  const world = reviewIn(context, 'context');
  const screen = createTerminal();
  const { exit } = await watchIn(world, screen);
  assert.match(screen.signal('SIGTSTP'), /\u001b\[\?25h$/);
  assert.equal(screen.suspended(), 1);
  const on = screen.signal('SIGCONT');
  assert.match(on, /^\u001b\[\?25l\r/, 'nothing that was written meanwhile is painted over');
  assert.match(frameOf(on), /^stint progress {2}review/);
  screen.signal('SIGTERM');
  assert.equal(await exit, 143);
  const hung = createTerminal();
  const other = await watchIn(world, hung);
  hung.signal('SIGHUP');
  assert.equal(await other.exit, 129);
});

test('without colours there is not one escape sequence: a frame follows another when more than the time has changed', async (context) => {
  const world = reviewIn(context, 'context');
  const screen = createTerminal();
  const { exit, clock, first } = await watchIn(world, screen, { colour: false });
  clock.now = '2026-03-17T12:00:05.000Z';
  assert.equal(await screen.second(), '');
  world.answer('advance', 'change-context');
  const changed = await screen.second();
  assert.match(changed, /^\nstint progress {2}review.*\nactive, running 00:05,/);
  assert.equal(screen.resize(), '');
  const last = screen.signal('SIGINT');
  assert.doesNotMatch(first + changed + last, /\u001b|\r/);
  assert.equal(await exit, 130);
});

/** Runs a verb on a terminal of so many columns; undefined where there is no script(1). */
const onTerminal = (world: TestWorld, columns: number, verb: string) => {
  const line = `stty cols ${columns}; exec ${process.execPath} ${command} ${verb}`;
  const script = spawnSync('script', ['-qfec', line, '/dev/null'], {
    cwd: world.project,
    env: world.env,
    encoding: 'utf8',
    input: '',
  });
  return script.error === undefined ? script : undefined;
};

test('H08: with --once a terminal of any width gets one frame, and a document with --json', (context) => {
  const world = reviewIn(context, 'context');
  for (const [columns, widest] of [
    [30, 30],
    [1, 1],
    // It does not know how wide it is.
    [0, 80],
  ] as const) {
    const script = onTerminal(world, columns, 'progress --once');
    if (script === undefined) return context.skip('there is no script(1)');
    assert.equal(script.status, 0, script.stdout);
    assert.doesNotMatch(script.stdout, /\u001b\[[^0-9]|\u001b\[\d+[^m\d]/, 'nothing moves the cursor');
    const lines = script.stdout.replaceAll(/\u001b\[\d+m|\r/g, '').split('\n');
    assert.ok(lines.length > 15);
    for (const line of lines) assert.ok(displayWidth(line) <= widest, line);
    assert.ok(lines.some((line) => displayWidth(line) > widest / 2));
  }
  const document = onTerminal(world, 30, 'progress --json');
  assert.match(document?.stdout ?? '', /^\{"schema_version":1,"now".*\}\r\n$/);
});

test('a call that is wrong is refused at once, also on a terminal', (context) => {
  const world = createWorld(context);
  const script = onTerminal(world.with({ env: { STINT_SESSION: '../x' } }), 80, 'progress');
  if (script === undefined) return context.skip('there is no script(1)');
  assert.equal(script.status, 2, script.stdout);
  assert.match(script.stdout, /\u001b\[\?25hstint: The session is not legal\./, 'the cursor is given back before');
});

test('on a real terminal it is watched until Ctrl-C, which gives the cursor back', async (context) => {
  const world = reviewIn(context, 'context');
  const script = spawn('script', ['-qfec', `exec ${process.execPath} ${command} progress`, '/dev/null'], {
    cwd: world.project,
    env: { ...world.env, TERM: 'xterm' },
  });
  let printed = '';
  const ended = new Promise<number | null>((resolve, reject) => {
    script.on('error', reject);
    script.on('close', resolve);
    script.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes('\u001b[J') && script.stdin.writable) script.stdin.end('\u0003');
    });
  });
  const status = await ended.catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (status === undefined) return context.skip('there is no script(1)');
  assert.equal(status, 130, printed);
  assert.match(printed, /^\u001b\[\?25l/);
  assert.match(printed, /\u001b\[\?25h$/);
});

// What every kind gives.

/** A kind that tells of no steps. */
const bare: Kind = defineKind({
  name: 'bare',
  summary: 'nothing to tell of',
  stateVersion: 1,
  commands: v.variant('type', [v.object({ type: v.literal('begin') }), v.object({ type: v.literal('continue') })]),
  events: v.object({ type: v.literal('Begun') }),
  eventVersions: { Begun: 1 },
  initial: 0,
  evolve: (count: number) => count + 1,
  decide: () => ({ ok: true, value: [] }),
  view: () => ({
    position: 'somewhere',
    where: {},
    fields: {},
    remaining: [],
    missing: ['everything'],
    next: { kind: 'advance', text: 'Go on.', command: 'stint advance' },
    evidence: [],
  }),
  folder: (one) => `bare/${one}`,
  mirrors: () => [],
  examples: [{ type: 'begin' }, { type: 'continue' }],
});

/** Begins a session of a kind that the built command does not know. */
const beginIn = async (world: TestWorld, kind: Kind): Promise<void> => {
  const { openStint } = await import('../src/index.ts');
  const stint = openStint({ cwd: world.project, kinds: [kind], now: () => '2026-03-17T12:00:00.000Z' });
  assert.ok(stint.ok);
  const begun = await stint.value.run('begin', { kind: kind.name, name: 'first' });
  assert.ok(begun.ok);
  await stint.value.close();
};

test('H08: nothing to do yet is 0/0, on a terminal of any width', async (context) => {
  const world = createWorld(context);
  await beginIn(world, bare);
  const screen = createTerminal();
  const { exit, first } = await watchIn(world, screen, { kinds: [bare] });
  assert.equal(
    frameOf(first),
    `stint progress  bare:first
active, running 00:00, last change 00:00 ago
[------------------------]    -  0/0  somewhere

missing: everything
then: Go on.
next: stint advance
`,
  );
  for (const columns of [3, 1, 1000]) {
    screen.size.columns = columns;
    const frame = frameOf(screen.resize());
    assert.doesNotMatch(frame, /NaN|undefined|Infinity/);
    for (const line of frame.split('\n')) assert.ok(line.length <= columns);
  }
  await interrupt(screen, exit);
});

test('another table of phases has its own words, without another edit; a kind that is not known is shown as it was left', async (context) => {
  const world = createWorld(context);
  await beginIn(world, release);
  const screen = createTerminal();
  const { exit, first } = await watchIn(world, screen, { kinds: [release] });
  assert.match(frameOf(first), /^\[>\] draft {4}Write the notes\n {6}not there: attempt-1\/notes\.md$/m);
  await interrupt(screen, exit);
  const unknown = say(world, 'progress');
  assert.match(unknown, /^stint progress {2}release:first\n.*\n\[-{24}\] {4}- {2}0\/0 {2}draft \(1\/4\), attempt 1\n/);
  assert.match(unknown, /^read only: /m);
});

test('H13: nothing of our own innards is shown in any situation of a review', (context) => {
  const world = reviewIn(context, 'reviews');
  const frames: string[] = [];
  const look = (): void => void frames.push(say(world, 'progress'), world.run('progress', '--json').stdout);
  look();
  writeReviews(world);
  look();
  advanceTo(world, 'synthesis');
  world.with({ input: json(approval) }).answer('complete-round', '-');
  look();
  world.answer('finish');
  look();
  for (const frame of frames) assert.doesNotMatch(frame, /\[object Object\]|undefined|NaN|Invalid Date|Infinity/);
});

test('H13: phases as texts, as objects and as a map are shown without a word of our own innards', { skip }, () => {
  for (const file of ['phases-strings.json', 'phases-objects.json', 'phases-map.json']) {
    const { phases, ...rest } = JSON.parse(readFileSync(caseFile('H13', file), 'utf8'));
    for (const key of ['steps', 'missing', 'earlier', 'summary', 'counts', 'results', 'next_action', 'elapsed_ms']) {
      const odd = { session: 'review:a', ...rest, closed_at: rest.updated_at, [key]: phases };
      const frame = renderFrame({ sessions: [odd], total: phases }, { columns: 80, colour: false });
      assert.doesNotMatch(frame, /\[object Object\]|undefined|NaN|Invalid Date|Infinity/, `${file}: ${key}`);
      assert.match(frame, /^stint progress {2}review:a$/m);
    }
  }
});

test('the library answers the JSON of one frame', async (context) => {
  const world = reviewIn(context, 'reviews');
  const { openStint } = await import('../src/index.ts');
  const stint = openStint({ cwd: world.project, now: () => '2026-03-17T12:00:00.000Z' });
  assert.ok(stint.ok);
  context.after(stint.value.close);
  const answered = await stint.value.run('progress', { once: true });
  assert.ok(answered.ok);
  const { schema_version: _, ...printed } = world.answer('progress');
  assert.deepEqual(answered.value, printed);
});
