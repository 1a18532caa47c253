/** The front door: a whole review as its users see it, and the whole output of every verb once. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { approval, json, name, objection, phases, reviewIn } from './support/reviews.ts';
import {
  createWorld,
  lines,
  listOf,
  runWholeProcesses,
  sorted,
  storeOf,
  type Outcome,
  type Printed,
  type TestWorld,
} from './support/world.ts';

runWholeProcesses();

const folder = `.ocr/sessions/${name}`;

/** Runs verbs whose clock goes on by a minute from one to the next; answers what each one printed, as a transcript. */
const createTranscript = (world: TestWorld) => {
  let minute = 0;
  return (...args: readonly string[]): string => {
    minute += 1;
    const now = new Date(Date.parse('2026-03-17T12:00:00Z') + minute * 60_000).toISOString();
    const { status, stdout, stderr } = world.with({ now, input: json(approval) }).run(...args);
    assert.equal(stderr, '', args.join(' '));
    assert.equal(status, 0, args.join(' '));
    return world.scrub(stdout);
  };
};

test('a review is walked from its begin through two rounds to its end, and every verb says what comes next', (context) => {
  const world = createWorld(context);
  const say = createTranscript(world);

  assert.equal(say('list'), lines('no open sessions', 'next: stint begin KIND, or stint list --all'));
  assert.equal(
    say('begin', 'review'),
    lines(
      `begun  review:${name}: context (1/8), round 1 (open_no_artifact)`,
      `next: stint advance change-context --session review:${name}`,
    ),
  );
  assert.equal(
    say('begin', 'review'),
    lines(
      `goes on  review:${name}: context (1/8), round 1 (open_no_artifact)`,
      `next: stint advance change-context --session review:${name}`,
    ),
  );
  assert.equal(
    say('advance', 'change-context'),
    lines(
      `review:${name}: change-context (2/8), round 1 (open_no_artifact)`,
      `next: stint advance analysis --session review:${name}`,
    ),
  );
  say('advance', 'analysis');
  say('advance', 'reviews');
  for (const file of ['quality-1.md', 'quality-10.md', 'quality-2.md'])
    world.write(`${folder}/rounds/round-1/reviews/${file}`, '# Findings\n');
  assert.equal(
    say('status'),
    lines(
      `review:${name}  active`,
      'position                reviews (4/8), round 1',
      'completeness            open_no_artifact',
      'missing                 round 1 is not completed (still to come: aggregation, discourse, synthesis)',
      'branch                  main',
      'updated                 2026-03-17T12:06:00.000Z',
      `not there               ${folder}/discovered-standards.md`,
      `not there               ${folder}/context.md`,
      `there                   ${folder}/rounds/round-1/reviews (quality-1.md, quality-2.md, quality-10.md; at least 2)`,
      'then: Let the reviewers work side by side, then enter aggregation.',
      `next: stint advance aggregation --session review:${name}`,
    ),
  );
  assert.equal(say('note', 'the build is slow today'), lines(`review:${name}: noted (6)`));
  say('advance', 'aggregation');
  assert.equal(
    say('advance', '--skip', 'discourse', '--reason', 'one reviewer only'),
    lines(
      `review:${name}: synthesis (7/8), round 1 (open_no_artifact)`,
      `next: stint complete-round --file round-meta.json --session review:${name}`,
    ),
  );
  world.write('findings.json', json(objection));
  assert.equal(
    say('complete-round', '--file', 'findings.json'),
    lines(
      `REQUEST CHANGES  review:${name}: complete (8/8), round 1 (open_with_artifact)`,
      `next: stint finish --session review:${name}`,
    ),
  );
  assert.equal(say('finish'), lines(`completed  review:${name}: complete (8/8), round 1 (complete)`));

  assert.equal(
    say('begin', 'review', '--name', name),
    lines(
      `goes on  review:${name}: context (1/8), round 2 (open_no_artifact)`,
      `next: stint advance change-context --session review:${name}`,
    ),
  );
  for (const phase of phases.slice(1, 7)) say('advance', phase);
  assert.equal(
    say('complete-round', '--stdin'),
    lines(
      `APPROVE  review:${name}: complete (8/8), round 2 (open_with_artifact)`,
      `next: stint finish --session review:${name}`,
    ),
  );
  assert.equal(say('finish'), lines(`completed  review:${name}: complete (8/8), round 2 (complete)`));

  assert.equal(
    say('list', '--all'),
    lines(
      'SESSION                 STATUS     POSITION                 BRANCH  WORKTREE  UPDATED',
      `review:${name}  completed  complete (8/8), round 2  main    main      2026-03-17T12:21:00.000Z`,
    ),
  );
  assert.equal(
    say('log', name),
    lines(
      '1   2026-03-17T12:02:00.000Z  SessionOpened    ana@desk  branch=main worktree=main',
      '2   2026-03-17T12:02:00.000Z  RoundStarted     ana@desk  round=1 phase=context phase_number=1',
      '3   2026-03-17T12:04:00.000Z  PhaseEntered     ana@desk  round=1 phase=change-context phase_number=2',
      '4   2026-03-17T12:05:00.000Z  PhaseEntered     ana@desk  round=1 phase=analysis phase_number=3',
      '5   2026-03-17T12:06:00.000Z  PhaseEntered     ana@desk  round=1 phase=reviews phase_number=4',
      '6   2026-03-17T12:08:00.000Z  Noted            ana@desk  text=the build is slow today',
      '7   2026-03-17T12:09:00.000Z  PhaseEntered     ana@desk  round=1 phase=aggregation phase_number=5',
      '8   2026-03-17T12:10:00.000Z  PhaseSkipped     ana@desk  round=1 phase=discourse phase_number=6 reason=one reviewer only',
      '9   2026-03-17T12:10:00.000Z  PhaseEntered     ana@desk  round=1 phase=synthesis phase_number=7',
      '10  2026-03-17T12:11:00.000Z  RoundCompleted   ana@desk  round=1 summary={"verdict":"REQUEST CHANGES","blocker_count":1,"should_fix_count":0,"suggestion_count":0,"reviewer_count":1,"total_finding_count":2}',
      '11  2026-03-17T12:12:00.000Z  SessionClosed    ana@desk  outcome=completed',
      '12  2026-03-17T12:13:00.000Z  SessionReopened  ana@desk  after=completed',
      '13  2026-03-17T12:13:00.000Z  RoundStarted     ana@desk  round=2 phase=context phase_number=1',
      '14  2026-03-17T12:14:00.000Z  PhaseEntered     ana@desk  round=2 phase=change-context phase_number=2',
      '15  2026-03-17T12:15:00.000Z  PhaseEntered     ana@desk  round=2 phase=analysis phase_number=3',
      '16  2026-03-17T12:16:00.000Z  PhaseEntered     ana@desk  round=2 phase=reviews phase_number=4',
      '17  2026-03-17T12:17:00.000Z  PhaseEntered     ana@desk  round=2 phase=aggregation phase_number=5',
      '18  2026-03-17T12:18:00.000Z  PhaseEntered     ana@desk  round=2 phase=discourse phase_number=6',
      '19  2026-03-17T12:19:00.000Z  PhaseEntered     ana@desk  round=2 phase=synthesis phase_number=7',
      '20  2026-03-17T12:20:00.000Z  RoundCompleted   ana@desk  round=2 summary={"verdict":"APPROVE","blocker_count":0,"should_fix_count":0,"suggestion_count":1,"reviewer_count":2,"total_finding_count":1}',
      '21  2026-03-17T12:21:00.000Z  SessionClosed    ana@desk  outcome=completed',
    ),
  );
  assert.equal(
    say('timeline', name),
    lines(
      'FROM                      TIME       POSITION',
      '2026-03-17T12:02:00.000Z  02:00.000  context (1/8), round 1',
      '2026-03-17T12:04:00.000Z  01:00.000  change-context (2/8), round 1',
      '2026-03-17T12:05:00.000Z  01:00.000  analysis (3/8), round 1',
      '2026-03-17T12:06:00.000Z  03:00.000  reviews (4/8), round 1',
      '2026-03-17T12:09:00.000Z  01:00.000  aggregation (5/8), round 1',
      '2026-03-17T12:10:00.000Z  01:00.000  synthesis (7/8), round 1',
      '2026-03-17T12:11:00.000Z  01:00.000  complete (8/8), round 1',
      '2026-03-17T12:13:00.000Z  01:00.000  context (1/8), round 2',
      '2026-03-17T12:14:00.000Z  01:00.000  change-context (2/8), round 2',
      '2026-03-17T12:15:00.000Z  01:00.000  analysis (3/8), round 2',
      '2026-03-17T12:16:00.000Z  01:00.000  reviews (4/8), round 2',
      '2026-03-17T12:17:00.000Z  01:00.000  aggregation (5/8), round 2',
      '2026-03-17T12:18:00.000Z  01:00.000  discourse (6/8), round 2',
      '2026-03-17T12:19:00.000Z  01:00.000  synthesis (7/8), round 2',
      '2026-03-17T12:20:00.000Z  01:00.000  complete (8/8), round 2',
      '                          18:00.000  total',
    ),
  );
  assert.equal(
    say('show', name),
    lines(
      `review:${name}  completed`,
      'position                complete (8/8), round 2',
      'completeness            complete',
      'branch                  main',
      'updated                 2026-03-17T12:21:00.000Z',
      `not there               ${folder}/discovered-standards.md`,
      `not there               ${folder}/context.md`,
      `not there               ${folder}/rounds/round-2/reviews (empty; at least 2)`,
      `not there               ${folder}/rounds/round-2/discourse.md`,
      `not there               ${folder}/rounds/round-2/final.md`,
      'then: Finished. It goes on only under its own name.',
      '17  2026-03-17T12:17:00.000Z  PhaseEntered    ana@desk',
      '18  2026-03-17T12:18:00.000Z  PhaseEntered    ana@desk',
      '19  2026-03-17T12:19:00.000Z  PhaseEntered    ana@desk',
      '20  2026-03-17T12:20:00.000Z  RoundCompleted  ana@desk',
      '21  2026-03-17T12:21:00.000Z  SessionClosed   ana@desk',
      '(16 earlier events: stint log)',
    ),
  );
  assert.equal(
    say('show', name, '--at', '9').split('\n').slice(0, 3).join('\n'),
    ['as it stood at revision 9:', `review:${name}  active`, 'position                synthesis (7/8), round 1'].join(
      '\n',
    ),
  );
  assert.equal(say('doctor'), lines(`healthy: 1 session, 21 events in ${storeOf(world)}`));
  assert.equal(say('rebuild'), lines(`review:${name}  as its events say  0 files written`));
});

test('an aborted review says so, and its reason with it', (context) => {
  const world = createWorld(context);
  const say = createTranscript(world);
  say('begin', 'review');
  assert.equal(
    say('finish', '--abort', '--reason', 'the change was withdrawn'),
    lines(
      `aborted  review:${name}: context (1/8), round 1 (closed_without_artifact)`,
      `next: stint begin review --name ${name}`,
    ),
  );
  assert.deepEqual(say('status', name).split('\n').slice(0, 3), [
    `review:${name}  aborted (the change was withdrawn)`,
    'position                context (1/8), round 1',
    'completeness            closed_without_artifact',
  ]);
});

const where = (phase: (typeof phases)[number], round = 1) => ({
  session: `review:${name}`,
  session_id: name,
  phase,
  phase_number: phases.indexOf(phase) + 1,
  round,
  position: `${phase} (${phases.indexOf(phase) + 1}/8), round ${round}`,
});

const goOn = (next: string, text: string) => ({
  completeness: 'open_no_artifact',
  next_action: { kind: 'advance', text, command: `stint advance ${next} --session review:${name}` },
});

/** A world with a review in its first phase. */
const begun = (context: TestContext): TestWorld => reviewIn(context, 'context');

test('JSON of begin: where it stands, its folder and branch, and whether it went on', (context) => {
  const world = createWorld(context);
  const answer = {
    schema_version: 1,
    ...where('context'),
    ...goOn('change-context', 'Discover the project and its standards, then enter change-context.'),
    resumed: false,
    folder,
    branch: 'main',
    revision: 2,
  };
  assert.deepEqual(world.answer('begin', 'review'), answer);
  assert.deepEqual(world.answer('begin', 'review'), { ...answer, resumed: true });
  assert.equal(existsSync(world.path(folder)), true, 'the folder of the session is there');
});

test('JSON of advance: where it stands now', (context) => {
  assert.deepEqual(begun(context).answer('advance', '--phase', 'change-context'), {
    schema_version: 1,
    ...where('change-context'),
    ...goOn('analysis', 'Gather the context of the change, then enter analysis.'),
    revision: 3,
  });
});

test('JSON of complete-round: where it stands, its counts and where they were written', (context) => {
  const world = reviewIn(context, 'synthesis');
  const path = `${folder}/rounds/round-1/round-meta.json`;
  assert.deepEqual(world.with({ input: json(objection) }).answer('complete-round', '-'), {
    schema_version: 1,
    ...where('complete'),
    completeness: 'open_with_artifact',
    next_action: {
      kind: 'finish',
      text: 'Everything that is required is there: close the session.',
      command: `stint finish --session review:${name}`,
    },
    verdict: 'REQUEST CHANGES',
    blocker_count: 1,
    should_fix_count: 0,
    suggestion_count: 0,
    reviewer_count: 1,
    total_finding_count: 2,
    meta_path: path,
    revision: 9,
  });
  assert.equal(readFileSync(world.path(path), 'utf8'), `${JSON.stringify(objection, null, 2)}\n`);
});

test('JSON of finish: where it stands, how and when it was closed', (context) => {
  const world = reviewIn(context, 'complete');
  const answer = {
    schema_version: 1,
    ...where('complete'),
    completeness: 'complete',
    next_action: { kind: 'none', text: 'Finished. It goes on only under its own name.', command: null },
    outcome: 'completed',
    closed_at: '2026-03-17T12:00:00.000Z',
    revision: 10,
  };
  assert.deepEqual(world.answer('finish'), answer);
  assert.deepEqual(world.answer('finish', '--session', name), answer, 'again, the same way');
});

test('JSON of note: the number of the event and its type', (context) => {
  assert.deepEqual(begun(context).answer('note', 'a remark'), {
    schema_version: 1,
    session: `review:${name}`,
    session_id: name,
    seq: 3,
    at: '2026-03-17T12:00:00.000Z',
    type: 'remark',
    revision: 2,
  });
});

/** What `status` says of the review that `skippedReview` has made. */
const standing = {
  session: `review:${name}`,
  session_id: name,
  kind: 'review',
  status: 'active',
  outcome: null,
  position: 'synthesis (7/8), round 1',
  workflow_type: 'review',
  current_phase: 'synthesis',
  phase_number: 7,
  current_round: 1,
  round_started_at: '2026-03-17T12:00:00.000Z',
  rounds_total: 1,
  rounds: [
    {
      round: 1,
      started_at: '2026-03-17T12:00:00.000Z',
      completed_at: null,
      skipped: [{ phase: 'discourse', reason: 'no dispute' }],
    },
  ],
  started_at: '2026-03-17T12:00:00.000Z',
  updated_at: '2026-03-17T12:00:00.000Z',
  closed_at: null,
  paused: null,
  archived_at: null,
  completeness: 'open_no_artifact',
  missing: ['round 1 is not completed'],
  remaining: ['complete'],
  evidence: [
    { label: 'standards of the project', path: `${folder}/discovered-standards.md`, present: true },
    { label: 'context of the change', path: `${folder}/context.md`, present: false },
    { label: 'reviews', path: `${folder}/rounds/round-1/reviews`, present: false, at_least: 2, files: ['ana-1.md'] },
    { label: 'final review', path: `${folder}/rounds/round-1/final.md`, present: false },
  ],
  next_action: {
    kind: 'complete',
    text: 'Write the final review, then complete the round.',
    command: `stint complete-round --file round-meta.json --session review:${name}`,
  },
  branch: 'main',
  worktree: 'main',
  here: true,
  folder,
  notes: 0,
  journal: { total: 0, counts: {}, blockers: [] },
  events: 8,
  revision: 8,
  completeness_state: 'open_no_artifact',
  has_terminal_artifact: false,
  marked_closed: false,
  dependents_settled: true,
  next_action_kind: 'complete_round',
  remaining_phases: ['complete'],
  activity: 'none',
  activity_since: null,
  processes: [],
  processes_total: 0,
  resume: null,
  lease: null,
};

const skippedReview = (context: TestContext): TestWorld => {
  const world = reviewIn(context, 'aggregation');
  world.answer('advance', '--skip', 'discourse', '--reason', 'no dispute');
  world.write(`${folder}/discovered-standards.md`, '# Standards\n');
  world.write(`${folder}/rounds/round-1/reviews/ana-1.md`, '# Findings\n');
  return world;
};

test('JSON of status and show: the fields of the original under their names, what is missing, and what comes next', (context) => {
  const world = skippedReview(context);
  assert.deepEqual(world.answer('status'), { schema_version: 1, ...standing });

  const shown = world.answer('show');
  const events: readonly Printed[] = shown.events;
  assert.deepEqual(shown, { schema_version: 1, session: standing, events });
  assert.deepEqual(JSON.parse(world.scrub(JSON.stringify(events[6]))), {
    seq: 7,
    type: 'PhaseSkipped',
    v: 1,
    at: '2026-03-17T12:00:00.000Z',
    actor: 'ana@desk',
    place: 'ULID',
    cause: 'ULID',
    data: { round: 1, phase: 'discourse', phase_number: 6, reason: 'no dispute' },
    hash: 'HASH',
  });
  assert.equal(new Set(events.map(({ hash }) => hash)).size, 8);
  assert.equal(events[6].cause, events[7].cause, 'one request, one cause');
});

test('JSON of show --at: the session as it stood then, with the events up to then', (context) => {
  const world = skippedReview(context);
  const shown = world.answer('show', '--at', '3');
  assert.equal(shown.at, 3);
  assert.equal(shown.session.position, 'change-context (2/8), round 1');
  assert.equal(shown.session.revision, 3);
  assert.equal(shown.events.length, 3);
  assert.equal(world.answer('status').revision, 8, 'nothing has changed');
});

test('JSON of list: the columns of every session, open ones only unless all are asked for', (context) => {
  const world = begun(context);
  world.answer('finish', '--abort');
  world.with({ now: '2026-03-17T13:00:00Z' }).answer('begin', 'review', '--name', 'other', '--branch', 'feature/login');
  const open = {
    session: 'review:other',
    session_id: 'other',
    kind: 'review',
    status: 'active',
    outcome: null,
    position: 'context (1/8), round 1',
    branch: 'feature/login',
    worktree: 'main',
    started_at: '2026-03-17T13:00:00.000Z',
    updated_at: '2026-03-17T13:00:00.000Z',
    closed_at: null,
    paused_at: null,
    archived_at: null,
    revision: 2,
    activity: 'none',
    activity_since: null,
    held_by: null,
  };
  const closed = {
    ...open,
    session: `review:${name}`,
    session_id: name,
    status: 'closed',
    outcome: 'aborted',
    branch: 'main',
    started_at: '2026-03-17T12:00:00.000Z',
    updated_at: '2026-03-17T12:00:00.000Z',
    closed_at: '2026-03-17T12:00:00.000Z',
    revision: 3,
  };
  assert.deepEqual(world.answer('list'), { schema_version: 1, sessions: [open], total: 1, all: false });
  assert.deepEqual(world.answer('list', '--all', '--kind', 'review'), {
    schema_version: 1,
    sessions: [open, closed],
    total: 2,
    all: true,
  });
});

test('JSON of log: every event unless a limit is given, which leaves the newest', (context) => {
  const world = begun(context);
  for (let count = 1; count <= 4; count += 1) world.answer('note', `remark ${count}`);
  const all = world.answer('log');
  assert.equal(all.events.length, 6);
  const { events: newest, ...rest } = world.answer('log', '--limit', '2');
  assert.deepEqual(rest, { schema_version: 1, session: `review:${name}`, session_id: name, total: 6 });
  assert.deepEqual(newest, listOf(all.events).slice(-2));
});

test('JSON of timeline: spans that meet, and totals that agree with them and with the log', (context) => {
  const world = createWorld(context);
  const at = (minute: number): TestWorld =>
    world.with({ now: new Date(Date.parse('2026-03-17T12:00:00.000Z') + minute * 60_000).toISOString() });
  at(0).answer('begin', 'review');
  at(7).answer('advance', 'change-context');
  at(8).answer('note', 'a remark is no stretch of its own');
  at(20).answer('finish', '--abort');
  at(60).answer('begin', 'review', '--name', name);
  at(61).answer('advance', 'analysis');
  const timeOfDay = (time: string | null): string => time?.slice(11, 16) ?? '';
  const timeline = at(64).answer('timeline');
  const spans: readonly Printed[] = timeline.spans;
  assert.deepEqual(
    spans.map(({ position, from, to, ms }) => [position, timeOfDay(from), timeOfDay(to), ms / 60_000]),
    [
      ['context (1/8), round 1', '12:00', '12:07', 7],
      ['change-context (2/8), round 1', '12:07', '12:20', 13],
      ['change-context (2/8), round 1', '13:00', '13:01', 1],
      ['analysis (3/8), round 1', '13:01', '', 3],
    ],
  );
  assert.equal(
    timeline.total_ms,
    spans.reduce((total, { ms }) => total + ms, 0),
  );
  assert.deepEqual(Object.keys(timeline), ['schema_version', 'session', 'session_id', 'spans', 'total_ms']);

  const events: readonly Printed[] = world.answer('log').events;
  const timeOf = (seq: number): number => Date.parse(events[seq - 1].at);
  // What is not open time is the stretch between the close (event 5) and the reopening (event 6).
  assert.equal(timeline.total_ms, Date.parse('2026-03-17T13:04:00Z') - timeOf(1) - (timeOf(6) - timeOf(5)));
});

test('JSON of doctor and rebuild: what was looked at, and what was done', (context) => {
  const world = reviewIn(context, 'complete');
  assert.deepEqual(world.answer('doctor'), {
    schema_version: 1,
    healthy: true,
    store: storeOf(world, world.path('.stint/stint.db')),
    sessions: 1,
    events: 9,
    findings: [],
  });
  assert.deepEqual(world.answer('rebuild'), {
    schema_version: 1,
    sessions: [{ session: `review:${name}`, rebuilt: false, files: [], problem: null }],
  });
});

test('help names every verb with its flags and examples, as text and as data, and is the same from both ends', (context) => {
  const world = createWorld(context, { git: false });
  const printed = (outcome: Outcome): string => {
    assert.equal(outcome.status, 0);
    assert.equal(outcome.stderr, '');
    return outcome.stdout;
  };
  const overview = printed(world.run('--help'));
  for (const args of [[], ['help'], ['-h']]) assert.equal(printed(world.run(...args)), overview);
  const data = world.answer('help');
  assert.deepEqual(
    listOf(data.exit_codes).map(({ exit }) => exit),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 130],
  );
  const verbs: readonly Printed[] = data.verbs;
  for (const verb of verbs) {
    assert.ok(overview.includes(`  ${verb.name} `), `${verb.name} is in the overview`);
    const help = printed(world.run(...String(verb.name).split(' '), '--help'));
    assert.ok(help.startsWith(`usage: ${verb.usage}\n\n${verb.summary}\n\n`), verb.name);
    for (const flag of [...verb.fields, ...verb.flags])
      assert.match(help, new RegExp(`^  --${flag.name}( N| TEXT)? +\\S`, 'm'), `${verb.name} --${flag.name}`);
    for (const example of verb.examples) assert.ok(help.includes(`\n  ${example}\n`), example);
  }
  // A verb whose name is the first word of others is one all the same.
  const names = verbs.map((verb) => String(verb.name));
  for (const first of names.filter((one) => names.some((other) => other.startsWith(`${one} `))))
    assert.deepEqual(
      world.answer('help', first).verbs,
      verbs.filter((verb) => verb.name === first),
    );
  const [first] = verbs;
  assert.deepEqual(world.answer('help', first.name).verbs, [first]);
  const help = printed(world.run(first.name, '--help'));
  for (const args of [
    ['help', first.name],
    [first.name, 'whatever', '-h', '--nonsense'],
  ])
    assert.equal(printed(world.run(...args)), help);
  assert.deepEqual(sorted(names), [
    'advance',
    'agent cancel',
    'agent complete',
    'agent continue',
    'agent fail',
    'agent list',
    'agent pause',
    'agent progress',
    'agent start',
    'archive',
    'beat',
    'begin',
    'block',
    'brief',
    'bundle export',
    'bundle import',
    'bundle inspect',
    'bundle sign',
    'bundle trust',
    'bundle verify',
    'complete',
    'complete-map',
    'complete-round',
    'compress',
    'decide',
    'doctor',
    'fail',
    'finish',
    'focus',
    'handoff archive',
    'handoff audit',
    'handoff begin',
    'handoff end',
    'handoff history',
    'handoff lease',
    'handoff locate',
    'handoff new',
    'handoff new-handover',
    'handoff new-state',
    'handoff ready',
    'handoff reconcile',
    'handoff repair',
    'handoff report',
    'handoff restore',
    'handoff root',
    'handoff summarize',
    'handoff update',
    'handoff validate',
    'handoff validate-handover',
    'handoff validate-state',
    'history',
    'history resume',
    'history show',
    'import orchestrator',
    'import review',
    'import workflow-run',
    'init',
    'journal',
    'lease claim',
    'lease release',
    'lease renew',
    'lease show',
    'list',
    'log',
    'mode',
    'new',
    'next',
    'note',
    'pause',
    'policy check-ci',
    'policy check-redaction',
    'policy check-trust',
    'policy ci',
    'policy new-ci',
    'policy new-redaction',
    'policy new-trust',
    'process beat',
    'process bind',
    'process end',
    'process list',
    'process start',
    'process sweep',
    'progress',
    'rebuild',
    'reconcile',
    'reopen',
    'report',
    'resume',
    'run',
    'save',
    'show',
    'skip',
    'start',
    'status',
    'step add',
    'step done',
    'step drop',
    'step move',
    'step start',
    'store copy',
    'task move',
    'template list',
    'template show',
    'template validate',
    'timeline',
    'todo add',
    'todo done',
    'todo drop',
    'unarchive',
    'unblock',
    'usage report',
  ]);
  assert.equal(existsSync(world.path('.stint')), false, 'asking for help makes no store');
});

test('the version is one line, or one JSON document', (context) => {
  const world = createWorld(context, { git: false });
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  assert.equal(world.run('--version').stdout, `stint ${version}\n`);
  assert.deepEqual(world.answer('--version'), { schema_version: 1, version });
});
