/** Sessions that are put away with their folders, and taken out again. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { killAtEachStep } from './support/campaigns.ts';
import { ordinary, withoutUser } from './support/permissions.ts';
import { approval, json, name, reviewIn, session } from './support/reviews.ts';
import { endings, runIn } from './support/tidy-runs.ts';
import { dumpStore, eventsOf } from './support/stores.ts';
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
  storeOf,
  type Printed,
  type TestWorld,
} from './support/world.ts';

const home = `.ocr/sessions/${name}`;
const away = `.ocr/sessions/archive/${name}`;
const meta = 'rounds/round-1/round-meta.json';
const since = '2026-03-17T12:01:00.000Z';

/** Everything below a folder of the project, with what the files say. */
const treeOf = (world: TestWorld, folder: string): Readonly<Record<string, string>> => {
  const found: Record<string, string> = {};
  for (const path of readdirSync(world.path(folder), { recursive: true, encoding: 'utf8' })) {
    const full = world.path(folder, path);
    if (!lstatSync(full).isDirectory()) found[path] = readFileSync(full, 'utf8');
  }
  return found;
};

/** A review that was completed, with a file in its folder that somebody else has put there. */
const completedIn = (context: TestContext): TestWorld => {
  const world = reviewIn(context, 'complete');
  world.answer('finish');
  world.write(`${home}/notes/theirs.md`, '# Theirs\n');
  return later(world, 1);
};

const abortedIn = (context: TestContext): TestWorld => {
  const world = reviewIn(context, 'reviews');
  world.answer('finish', '--abort', '--reason', 'withdrawn');
  return later(world, 1);
};

/** Asserts where the folder of the review is, and that it is nowhere else. */
const assertLies = (world: TestWorld, folder: string): void =>
  assert.deepEqual(
    [existsSync(world.path(home)), existsSync(world.path(away))],
    [folder === home, folder === away],
    `it lies in ${folder}`,
  );

test('a session is put away with everything in its folder, is told of there, and comes back as it was', (context) => {
  const world = completedIn(context);
  const before = treeOf(world, home);
  assert.deepEqual(sorted(Object.keys(before)), ['notes/theirs.md', meta]);
  assert.equal(
    say(world, 'archive'),
    lines(`archived  ${session}: complete (8/8), round 1 (complete)`, `folder: ${away}`),
  );
  assertLies(world, away);
  assert.deepEqual(treeOf(world, away), before);
  const at = later(world, 2);
  assert.equal(
    say(at, 'status', name),
    lines(
      `${session}  completed`,
      `archived                since ${since}`,
      'position                complete (8/8), round 1',
      'completeness            complete',
      'branch                  main',
      `updated                 ${since}`,
      `not there               ${away}/discovered-standards.md`,
      `not there               ${away}/context.md`,
      `not there               ${away}/rounds/round-1/reviews (empty; at least 2)`,
      `not there               ${away}/rounds/round-1/discourse.md`,
      `not there               ${away}/rounds/round-1/final.md`,
      'then: Finished. It goes on only under its own name.',
    ),
  );
  assert.equal(
    say(at, 'list', '--all'),
    lines(
      'SESSION                 STATUS               POSITION                 BRANCH  WORKTREE  UPDATED',
      `${session}  completed, archived  complete (8/8), round 1  main    main      ${since}`,
    ),
  );
  assert.match(say(at, 'progress', '--once', name), /^completed, archived, took 00:00, closed /m);
  assert.match(say(at, 'doctor'), /^healthy: /);
  at.answer('note', 'still worth reading', '--session', name);
  assertLies(at, away);
  assert.equal(
    say(at, 'unarchive'),
    lines(`out of the archive  ${session}: complete (8/8), round 1 (complete)`, `folder: ${home}`),
  );
  assertLies(at, home);
  assert.deepEqual(treeOf(at, home), before);
  assert.equal(at.answer('reopen').position, 'context (1/8), round 2');
  assert.equal(at.answer('doctor').healthy, true);
});

for (const [what, make] of [
  ['completed', completedIn],
  ['aborted', abortedIn],
] as const)
  test(`how a session ended that is ${what} stays what it is, in and out of the archive`, (context) => {
    const world = make(context);
    const outcome = () => {
      const { status, outcome: ended, reason, closed_at, position, completeness } = world.answer('status', name);
      return { status, ended, reason, closed_at, position, completeness };
    };
    const before = outcome();
    const events = eventsOf(world, session);
    const archived = world.answer('archive');
    assert.deepEqual(
      [archived.outcome, archived.archived_at, archived.folder, archived.along],
      [what, since, away, []],
    );
    assert.deepEqual(outcome(), before);
    assert.deepEqual(eventsOf(world, session).slice(0, -1), events, 'its history is what it was');
    const status = world.answer('status', name);
    assert.deepEqual([status.folder, status.archived_at], [away, since]);
    for (const { path, present } of listOf(status.evidence)) assert.equal(present, existsSync(world.path(path)), path);
    const back = world.answer('unarchive');
    assert.deepEqual([back.outcome, back.archived_at, back.folder], [what, null, home]);
    assert.deepEqual(outcome(), before);
    assert.deepEqual(listOf(world.answer('rebuild').sessions)[0].files, [], 'nothing had to be made anew');
    world.answer('reopen');
    assert.equal(world.answer('doctor').healthy, true);
  });

const runHome = '.workflow/sessions/tidy';
const runAway = '.workflow/sessions/archive/tidy';

for (const [outcome, end] of Object.entries(endings))
  test(`a run that has ${outcome} goes in and out of the archive: every path resolves, how it ended stays`, (context) => {
    const world = later(runIn(context), 1);
    end(world);
    const stateIn = (folder: string): Printed =>
      JSON.parse(readFileSync(world.path(folder, 'session-state.json'), 'utf8'));
    const pathsOf = (state: Printed): readonly string[] =>
      Object.values<Printed>(state.node_states).flatMap(({ output_path: output, snapshot_path: snapshot }) =>
        [output, snapshot].filter((path) => typeof path === 'string'),
      );
    const before = treeOf(world, runHome);
    const state = stateIn(runHome);
    assert.equal(state.status, outcome);
    assert.ok(pathsOf(state).length >= 2);
    assert.equal(world.answer('archive').folder, runAway);
    assert.equal(existsSync(world.path(runHome)), false);
    const archived = stateIn(runAway);
    assert.deepEqual([archived.status, archived.previous_status], ['archived', outcome]);
    for (const path of pathsOf(archived)) assert.ok(path.startsWith(runAway) && existsSync(world.path(path)), path);
    assert.deepEqual(Object.keys(treeOf(world, runAway)), Object.keys(before), 'nothing was set aside');
    assert.equal(world.answer('status', 'tidy').outcome, outcome);
    assert.equal(world.answer('doctor').healthy, true);
    world.answer('unarchive');
    assert.equal(existsSync(world.path(runAway)), false);
    const { updated_at: _, ...back } = stateIn(runHome);
    const { updated_at: __, ...first } = state;
    assert.deepEqual(back, first);
    assert.deepEqual(Object.keys(treeOf(world, runHome)), Object.keys(before));
    for (const path of pathsOf(back)) assert.ok(existsSync(world.path(path)), path);
    assert.equal(world.answer('doctor').healthy, true);
  });

test('only what is closed is archived', (context) => {
  const world = reviewIn(context, 'reviews');
  const before = dumpStore(world);
  const expected = lines(
    `stint: ${session} is open: only what is over is archived.`,
    '  expected: a closed session',
    `  legal: stint finish --abort --session ${session}`,
    `  try: stint finish --abort --session ${session}`,
  );
  assert.equal(refusedText(world, 5, 'archive', name), expected);
  assert.equal(world.refusal(4, 'archive').code, 'not-found', 'an open one is not meant where none is named');
  assert.deepEqual(dumpStore(world), before);
  world.answer('pause');
  assert.equal(refusedText(world, 5, 'archive', name), expected);
});

test('one in the archive goes on only after it was taken out', (context) => {
  const world = completedIn(context);
  world.answer('archive');
  const before = dumpStore(world);
  for (const args of [
    ['reopen', name],
    ['begin', 'review', '--name', name],
    ['finish', '--abort', '--session', name],
  ])
    assert.equal(world.refusal(5, ...args).hint, `stint unarchive --session ${session}`, args.join(' '));
  assert.equal(world.refusal(5, 'pause', '--session', name).hint, `stint unarchive --session ${session}`);
  assert.deepEqual(dumpStore(world), before);
  assertLies(world, away);
});

test('twice is once, and to take out what is not in the archive changes nothing', (context) => {
  const world = completedIn(context);
  const closed = dumpStore(world);
  assert.equal(world.answer('unarchive', name).archived_at, null);
  assert.deepEqual(dumpStore(world), closed);
  assert.equal(world.answer('archive', '--dry-run').archived_at, since);
  assert.deepEqual(dumpStore(world), closed);
  assertLies(world, home);
  const first = world.answer('archive', name, '--request-id', 'once');
  const archived = dumpStore(world);
  assert.deepEqual(later(world, 5).answer('archive', name), first);
  assert.deepEqual(dumpStore(world), archived);
  assert.deepEqual(world.answer('archive', name, '--request-id', 'once'), { ...first, replayed: true });
  world.answer('unarchive');
  assertLies(world, home);
  world.answer('unarchive', name);
  assertLies(world, home);
});

test('nothing is overwritten: what lies there already is named, and nothing changes', (context) => {
  const world = completedIn(context);
  world.write(`${away}/older.md`, 'older');
  const before = dumpStore(world);
  assert.equal(
    refusedText(world, 9, 'archive'),
    lines(
      `stint: ${session} is not moved: ${away} is there already, and nothing is overwritten.`,
      `  expected: no ${away}`,
      `  try: move ${away} away, then run the same command again`,
    ),
  );
  assert.deepEqual(dumpStore(world), before);
  assert.deepEqual(treeOf(world, away), { 'older.md': 'older' });
  rmSync(world.path(away, 'older.md'));
  world.answer('archive');
  assertLies(world, away);

  world.write(`${home}/newer.md`, 'newer');
  assert.match(world.refusal(9, 'unarchive').message, new RegExp(`${home} is there already`));
  assert.deepEqual(treeOf(world, home), { 'newer.md': 'newer' });
  assert.ok(existsSync(world.path(away, meta)));
  rmSync(world.path(home), { recursive: true });
  mkdirSync(world.path(home));
  world.answer('unarchive');
  assertLies(world, home);
});

test('a folder that was moved by hand is understood: nothing is made in its place, and archiving records it', (context) => {
  const world = reviewIn(context, 'complete');
  mkdirSync(world.path('.ocr/sessions/archive'));
  renameSync(world.path(home), world.path(away));
  const before = treeOf(world, away);
  const told = world.run('finish');
  assert.equal(told.status, 0);
  assert.match(told.stderr, new RegExp(`warning: the folder of .* lies in ${away}, not in ${home}: stint doctor`));
  assertLies(world, away);
  assert.deepEqual(listOf(world.run('doctor', '--json').json.findings), [
    {
      subject: session,
      problem: `its folder lies in ${away}, not in ${home}`,
      fix: `stint archive --session ${session}`,
    },
  ]);
  assert.equal(world.answer('archive').folder, away);
  assert.deepEqual(treeOf(world, away), before);
  assert.equal(world.answer('doctor').healthy, true);
  assertLies(world, away);

  renameSync(world.path(away), world.path(home));
  assert.match(
    world.run('note', 'x', '--session', name).stderr,
    new RegExp(`lies in ${home}, not in ${away}: stint doctor`),
  );
  assertLies(world, home);
  assert.equal(listOf(world.run('doctor', '--json').json.findings)[0].fix, `stint unarchive --session ${session}`);
  assert.equal(world.answer('unarchive').folder, home);
  assert.deepEqual(treeOf(world, home), before);
  assert.equal(world.answer('doctor').healthy, true);
});

test('a folder that cannot be moved now is a warning: doctor tells it, nothing is half there, and any verb moves it', (context) => {
  for (const heal of [
    ['list'],
    ['note', 'x', '--session', name],
    ['rebuild'],
    ['doctor', '--fix'],
    ['begin', 'map', '--name', 'other'],
  ]) {
    const world = completedIn(context);
    const before = treeOf(world, home);
    world.write('.ocr/sessions/archive', 'a file where the folder of archived ones goes');
    const outcome = world.run('archive');
    assert.equal(outcome.status, 0, outcome.stderr);
    assert.match(outcome.stderr, /warning: the folder of review:/);
    assert.match(outcome.stdout, /^archived /);
    assert.deepEqual(treeOf(world, home), before, 'nothing was moved');
    assert.equal(world.run('doctor').status, 6);
    rmSync(world.path('.ocr/sessions/archive'));
    assert.deepEqual(listOf(world.run('doctor', '--json').json.findings), [
      {
        subject: session,
        problem: `its folder still lies in ${home}, not in ${away}`,
        fix: `stint rebuild --session ${session}`,
      },
    ]);
    assertLies(world, home);
    world.answer(...heal);
    assertLies(world, away);
    assert.deepEqual(treeOf(world, away), before, heal.join(' '));
    assert.equal(world.answer('doctor').healthy, true);
  }
});

test('a read-only folder is a warning, and so on the way back', { skip: withoutUser }, (context) => {
  const world = ordinary(completedIn(context));
  const folder = world.path('.ocr/sessions');
  chmodSync(folder, 0o555);
  const outcome = world.run('archive');
  assert.equal(outcome.status, 0, outcome.stderr);
  assert.match(outcome.stderr, /warning: the folder of review:.*EACCES/);
  assertLies(world, home);
  chmodSync(folder, 0o755);
  assert.equal(world.run('list').stderr, '');
  assertLies(world, away);
  chmodSync(folder, 0o555);
  assert.match(world.run('unarchive').stderr, /warning: the folder of review:.*EACCES/);
  assertLies(world, away);
  chmodSync(folder, 0o755);
  assert.equal(world.run('list').stderr, '');
  assertLies(world, home);
});

test('what comes into the way between the record and the move is not overwritten, and doctor names it', (context) => {
  const world = completedIn(context);
  world.write('.ocr/sessions/archive', 'in the way');
  world.run('archive');
  rmSync(world.path('.ocr/sessions/archive'));
  world.write(`${away}/theirs.md`, 'theirs');
  const before = treeOf(world, home);
  for (const args of [['list'], ['note', 'x', '--session', name]]) {
    assert.match(world.run(...args).stderr, /something lies there already, and nothing is overwritten/);
    assert.deepEqual([treeOf(world, home), treeOf(world, away)], [before, { 'theirs.md': 'theirs' }]);
  }
  assert.match(
    listOf(world.run('doctor', '--json').json.findings)[0].problem,
    new RegExp(`its folder ${home} cannot be moved: something lies in ${away}`),
  );
  assert.equal(world.run('rebuild').status, 6);
  rmSync(world.path(away), { recursive: true });
  world.answer('rebuild');
  assertLies(world, away);
  assert.deepEqual(treeOf(world, away), before);
});

test('a link never leads a folder out of the checkout', (context) => {
  const world = completedIn(context);
  const outside = join(world.root, 'outside');
  mkdirSync(outside);
  symlinkSync(outside, world.path('.ocr/sessions/archive'));
  assert.match(world.run('archive').stderr, /a link leads out of the checkout/);
  assert.deepEqual(readdirSync(outside), []);
  assert.ok(existsSync(world.path(home, meta)));
  assert.match(listOf(world.run('doctor', '--json').json.findings)[0].problem, /link that leads out of the checkout/);
  rmSync(world.path('.ocr/sessions/archive'));
  world.answer('list');
  assertLies(world, away);

  const linked = completedIn(context);
  cpSync(linked.path(home), join(linked.root, 'elsewhere'), { recursive: true });
  rmSync(linked.path(home), { recursive: true });
  symlinkSync(join(linked.root, 'elsewhere'), linked.path(home));
  assert.match(linked.run('archive').stderr, /warning: the folder of review:.*no folder/);
  assert.ok(lstatSync(linked.path(home)).isSymbolicLink());
  assert.equal(existsSync(linked.path(away)), false);
});

test('a mirror that somebody had changed goes along, and is kept beside the right one', (context) => {
  const world = completedIn(context);
  writeFileSync(world.path(home, meta), 'mine');
  assert.match(world.run('archive').stderr, /had been changed by somebody else/);
  const kept = readdirSync(world.path(away, 'rounds/round-1')).filter((file) => file.includes('.kept-'));
  assert.deepEqual(
    kept.map((file) => readFileSync(world.path(away, 'rounds/round-1', file), 'utf8')),
    ['mine'],
  );
  assert.deepEqual(JSON.parse(readFileSync(world.path(away, meta), 'utf8')), approval);
});

test('sessions of two kinds in one folder go together, and only when both are closed', (context) => {
  const world = completedIn(context);
  world.answer('begin', 'map', '--name', name);
  const refusal = world.refusal(5, 'archive', '--session', session);
  assert.match(refusal.message, new RegExp(`map:${name} lies in the folder of ${session} and is open`));
  world.answer('finish', '--abort', '--session', `map:${name}`);
  assert.equal(
    say(world, 'archive', session),
    lines(`archived  ${session}: complete (8/8), round 1 (complete)`, `along with it: map:${name}`, `folder: ${away}`),
  );
  assertLies(world, away);
  assert.equal(world.answer('status', `map:${name}`).archived_at, since);
  assert.equal(world.answer('doctor').healthy, true);
  assert.deepEqual(world.answer('unarchive', `map:${name}`).along, [session]);
  assertLies(world, home);
  assert.equal(world.answer('doctor').healthy, true);
});

test('a name that is begun anew for another kind has a folder of its own while the other is in the archive', (context) => {
  const world = completedIn(context);
  world.answer('archive');
  world.answer('begin', 'map', '--name', name);
  assert.ok(existsSync(world.path(home)) && existsSync(world.path(away, meta)));
  world.write(`${home}/map/notes.md`, 'of the map');
  world.answer('note', 'x', '--session', session);
  assert.equal(world.answer('doctor').healthy, true);
  assert.match(world.refusal(9, 'unarchive', session).message, new RegExp(`${home} is there already`));
  world.answer('finish', '--abort', '--session', `map:${name}`);
  assert.match(world.refusal(9, 'archive', `map:${name}`).message, new RegExp(`${away} is there already`));
  assert.deepEqual(treeOf(world, home), { 'map/notes.md': 'of the map' });
});

test('a folder is not moved under a session of another kind that was begun in it meanwhile', (context) => {
  const world = completedIn(context);
  world.write('.ocr/sessions/archive', 'in the way');
  world.run('archive');
  world.run('begin', 'map', '--name', name);
  rmSync(world.path('.ocr/sessions/archive'));
  assert.match(world.run('list').stderr, /is that of another session too/);
  assertLies(world, home);
  world.run('finish', '--abort', '--session', `map:${name}`);
  world.answer('archive', `map:${name}`);
  assertLies(world, away);
  assert.equal(world.answer('doctor').healthy, true);
});

test('no session is named as the folder of archived ones, of whatever kind', (context) => {
  const world = createWorld(context);
  for (const kind of ['review', 'map', 'run'])
    for (const given of ['archive', 'Archive'])
      assert.match(world.refusal(2, 'begin', kind, '--name', given).message, /folder in which archived sessions lie/);
  world.write('.ocr/sessions/archive/2026-01-01-old/rounds/round-1/final.md', '# Final\n');
  const imported = world.answer('import', 'review');
  assert.deepEqual(imported.sessions, []);
  assert.match(listOf(imported.ignored)[0].reason, /archived sessions/);
});

test('two at once: one record, one folder', async (context) => {
  for (const [first, second] of [
    ['archive', 'archive'],
    ['archive', 'rebuild'],
    ['archive', 'list'],
  ] as const) {
    const world = completedIn(context);
    const before = treeOf(world, home);
    const both = [
      world.start(first, '--session', name, '--json'),
      world.start(second, ...(second === 'list' ? [] : ['--session', name]), '--json'),
    ];
    for (const { outcome } of both) assertAnswer(await outcome, `${first} and ${second}`);
    assertLies(world, away);
    assert.deepEqual(treeOf(world, away), before);
    assert.equal(eventsOf(world, session).filter(({ type }) => type === 'SessionArchived').length, 1);
    assert.equal(world.answer('doctor').healthy, true);
  }
});

test('in and out by many at once: the folder is where the last one has put it, whole', async (context) => {
  const world = completedIn(context);
  const before = treeOf(world, home);
  const verbs = ['archive', 'unarchive', 'archive', 'unarchive', 'archive', 'unarchive'];
  const outcomes = await Promise.all(verbs.map(async (verb) => world.start(verb, '--session', name, '--json').outcome));
  for (const { status, stdout } of outcomes) assert.ok(status === 0 || status === 9, stdout);
  world.answer('list');
  const folder = world.answer('status', name).folder;
  assertLies(world, folder);
  assert.deepEqual(treeOf(world, folder), before);
  assert.equal(world.answer('doctor').healthy, true);
});

test(
  'kill -9 before any change on disk of archive: whole or not at all, and the next verb moves the folder',
  { skip: fileOnly },
  (context) => {
    const archive = { args: ['archive', '--session', name], types: ['SessionArchived'] };
    const world = reviewIn(context, 'complete');
    world.answer('finish');
    context.diagnostic(`${killAtEachStep(context, world, archive)} kills`);
  },
);

test(
  'kill -9 before any change on disk of unarchive: whole or not at all, and the next verb moves the folder',
  { skip: fileOnly },
  (context) => {
    const unarchive = { args: ['unarchive', '--session', name], types: ['SessionUnarchived'] };
    const world = reviewIn(context, 'complete');
    world.answer('finish');
    world.answer('archive');
    context.diagnostic(`${killAtEachStep(context, world, unarchive)} kills`);
  },
);

/** The store of a world, as a command line names it. */
const storeNameOf = (world: TestWorld): string =>
  world.env['STINT_STORE'] ?? storeOf(world, world.path('.stint/stint.db'));

test('one in the archive outlives rebuild, repair and a copy of the store', (context) => {
  const world = completedIn(context);
  world.answer('archive');
  const before = treeOf(world, away);
  rmSync(world.path(away), { recursive: true });
  assert.deepEqual(listOf(world.answer('rebuild').sessions)[0].files, [`${away}/${meta}`]);
  assertLies(world, away);
  assert.equal(readFileSync(world.path(away, meta), 'utf8'), before[meta]);

  const copy = join(world.root, 'copied.db');
  world.answer('store', 'copy', storeNameOf(world), copy);
  const onCopy = world.with({ env: { STINT_STORE: copy } });
  assert.equal(onCopy.answer('status', name).folder, away);
  onCopy.answer('note', 'in the copy', '--session', name);
  assert.equal(onCopy.answer('doctor').healthy, true);
  assertLies(world, away);
});

/** Takes the store of a world away, as `git clean` does. */
const loseStore = (world: TestWorld): void => {
  for (const file of ['stint.db', 'stint.db-wal', 'stint.db-tip']) rmSync(world.path('.stint', file), { force: true });
};

test('archiving leaves a copy of the store, from which it comes back archived', { skip: fileOnly }, (context) => {
  const world = completedIn(context).with({ now: '2026-03-17T15:00:00.000Z' });
  world.answer('archive');
  loseStore(world);
  assert.equal(world.answer('doctor', '--fix').healthy, true);
  const status = world.answer('status', name);
  assert.deepEqual(
    [status.outcome, status.archived_at, status.folder],
    ['completed', '2026-03-17T15:00:00.000Z', away],
  );
  assertLies(world, away);
});

test(
  'an older copy that knows nothing of the archive makes no second folder, and says what to do',
  { skip: fileOnly },
  (context) => {
    const world = completedIn(context);
    world.answer('archive');
    const before = treeOf(world, away);
    loseStore(world);
    const { findings } = world.run('doctor', '--fix', '--json').json;
    assert.deepEqual(
      listOf(findings).map(({ fix }) => fix),
      [`stint archive --session ${session}`],
    );
    assertLies(world, away);
    world.answer('archive');
    assert.equal(world.answer('doctor').healthy, true);
    assert.deepEqual(treeOf(world, away), before);
  },
);

test('what was completed and put away is completed again only after it came back', (context) => {
  const world = completedIn(context);
  world.answer('archive');
  const given = world.with({ input: json(approval) });
  const repeated = given.run('complete-round', '-', '--session', name, '--json');
  assert.ok([0, 5].includes(repeated.status ?? 1), repeated.stdout);
  assertLies(world, away);
});
