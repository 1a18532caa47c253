/** What a store, a folder or a caller may do to the program on purpose or by accident, and what it answers. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { approval, completeRound, finding, json, objection, reviewIn, session } from './support/reviews.ts';
import { dumpStore, holdLock, tamper } from './support/stores.ts';
import { command, createWorld, listOf, type TestWorld } from './support/world.ts';

const meta = '.ocr/sessions/2026-03-17-main/rounds/round-1/round-meta.json';

const pipe = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  assert.equal(spawnSync('mkfifo', [path]).status, 0);
};

const problems = (world: TestWorld): string => {
  const outcome = world.run('doctor', '--json');
  assert.equal(outcome.status, 6, outcome.stderr);
  return JSON.stringify(outcome.json.findings);
};

test('a pipe in the place of a mirror holds nobody up: the verb is done, the file is a warning', (context) => {
  const world = reviewIn(context, 'synthesis');
  pipe(world.path(meta));
  const completed = world.with({ input: json(approval) }).run('complete-round', '-');
  assert.equal(completed.status, 0);
  assert.match(completed.stderr, /round-meta\.json could not be written \(it is no regular file\)/);
  assert.equal(world.run('status').status, 0);
  assert.equal(world.run('rebuild').status, 6);
  rmSync(world.path(meta));
  assert.equal(world.run('rebuild').status, 0);
  assert.ok(readFileSync(world.path(meta), 'utf8').startsWith('{'));
});

test('a pipe in the place of the place file or of .gitignore is named', (context) => {
  for (const name of ['place', '.gitignore']) {
    const world = reviewIn(context, 'context');
    pipe(world.path(`.stint/${name}`));
    if (name === 'place') assert.match(world.refusal(14, 'note', 'x').message, /place is no file/);
    else assert.equal(world.run('note', 'x').status, 0, 'the folder is there already');
  }
});

test('a reading verb waits for no writer, also where a mirror was not written yet', async (context) => {
  const world = reviewIn(context, 'synthesis');
  mkdirSync(world.path(meta), { recursive: true });
  assert.equal(world.with({ input: json(approval) }).run('complete-round', '-').status, 0);
  const holder = await holdLock(world);
  const before = process.hrtime.bigint();
  assert.equal(world.run('list').status, 0);
  assert.equal(world.run('status').status, 0);
  const waited = Number(process.hrtime.bigint() - before) / 1e9;
  await holder.release();
  assert.ok(waited < 9, 'less than one verb would wait for a writer');
});

test('a row that was changed by hand is not believed, found by doctor, and made anew by rebuild', (context) => {
  for (const change of [
    `status = 'closed', outcome = 'completed', closed_at = '2026-03-17T13:00:00.000Z'`,
    'revision = 40',
    `branch = 'other'`,
    `place = 'elsewhere'`,
    `paused_at = '2026-03-17T13:00:00.000Z'`,
    `archived_at = '2026-03-17T13:00:00.000Z'`,
    `position = 'complete (8/8), round 1'`,
    `view = replace(view, 'context', 'complete')`,
  ]) {
    const world = reviewIn(context, 'context');
    tamper(world, (database) => database.exec(`UPDATE session SET ${change}`));
    assert.match(problems(world), /its row differs from its events/, change);
    assert.equal(world.answer('status', session).status, 'active', change);
    world.answer('rebuild');
    assert.equal(world.run('doctor').status, 0, change);
  }
});

test('a snapshot that was changed by hand is made anew by rebuild, and then doctor is content', (context) => {
  const world = reviewIn(context, 'synthesis');
  const findings = Array.from({ length: 40 }, (_, index) => finding(`The finding ${index}`));
  completeRound(world, { ...approval, reviewers: [{ type: 'principal', instance: 1, findings }] });
  const read = (): string => JSON.stringify([world.answer('status'), world.answer('progress', '--once')]);
  const whole = read();
  assert.equal(dumpStore(world)['snapshot']?.length, 1, 'a session of that size has a snapshot');
  for (const change of [
    `UPDATE snapshot SET state = '{}'`,
    `UPDATE snapshot SET state = replace(state, '1', '2')`,
    'UPDATE snapshot SET seq = 3',
    'UPDATE snapshot SET seq = 3000',
    'UPDATE snapshot SET checksum = 1',
    // Of a program with another shape: no finding, and no help.
    'UPDATE snapshot SET version = version + 1',
  ]) {
    tamper(world, (database) => database.exec(change));
    if (!change.includes('version')) assert.match(problems(world), /its snapshot differs from its events/, change);
    assert.equal(read(), whole, change);
    world.answer('rebuild');
    assert.equal(world.run('doctor').status, 0, change);
    assert.equal(read(), whole, change);
  }
});

test('a log that was cut is damage, which rebuild does not cover up', (context) => {
  const world = reviewIn(context, 'analysis');
  tamper(world, (database) => {
    database.exec('DROP TRIGGER event_is_kept; DELETE FROM event WHERE seq = (SELECT max(seq) FROM event)');
  });
  const lost = /event 4 of review:2026-03-17-main was answered and is not in it/;
  assert.match(world.refusal(14, 'rebuild').message, lost);
  assert.match(world.run('doctor').stdout, /the events? from 4|event 4 is lost/);
  assert.match(world.refusal(14, 'rebuild').message, lost);
});

test('an event that is marked as a remark by hand is found', (context) => {
  const world = reviewIn(context, 'analysis');
  tamper(world, (database) => {
    database.exec(`DROP TRIGGER event_is_immutable; UPDATE event SET lifecycle = 0 WHERE type = 'PhaseEntered'`);
  });
  assert.match(problems(world), /PhaseEntered are marked wrongly/);
});

test('the database of another program is no store, whatever version it carries, and is left as it is', (context) => {
  for (const version of [0, 1, 7, -1]) {
    const world = createWorld(context);
    const path = world.path('theirs.db');
    const database = new DatabaseSync(path);
    database.exec(`CREATE TABLE theirs (a); PRAGMA user_version = ${version}`);
    database.close();
    const before = readFileSync(path);
    for (const verb of [['list'], ['begin', 'review']]) {
      assert.match(
        world.refusal(14, ...verb, '--store', path).message,
        /is a database, but no store of stint/,
        String(version),
      );
    }
    assert.deepEqual(readFileSync(path), before);
  }
});

test('a refused verb and a rehearsed one leave no store behind', (context) => {
  const world = createWorld(context);
  for (const [status, ...args] of [
    [4, 'note', 'x'],
    [4, 'finish'],
    [4, 'begin', 'bogus'],
    [2, 'begin', 'review', '--name', '../x'],
    [9, 'begin', 'review', '--expect-revision', '5'],
    [0, 'begin', 'review', '--dry-run'],
  ] as const) {
    assert.equal(world.run(...args).status, status, args.join(' '));
    assert.equal(existsSync(world.path('.stint')), false, args.join(' '));
  }
});

test('what a refusal suggests moves the session that it was about, in the store that was named', (context) => {
  const world = createWorld(context);
  world.answer('begin', 'review', '--name', 'a', '--branch', 'a', '--store', 'other.db');
  const refusal = world.refusal(5, 'advance', 'synthesis', '--session', 'a', '--store', 'other.db');
  assert.equal(refusal.hint, 'stint advance change-context --session review:a --store other.db');
  const [, ...words] = String(refusal.hint).split(' ');
  assert.equal(
    world.answer(...words).next_action.command,
    'stint advance analysis --session review:a --store other.db',
  );
  // What somebody wrote is no suggestion of ours, whatever it looks like.
  world.answer('note', 'stint advance reviews', '--store', 'other.db');
  assert.equal(listOf(world.answer('log', '--store', 'other.db').events).at(-1).data.text, 'stint advance reviews');
});

test('the repeat of an older completion answers about that round, where the session has gone on', (context) => {
  const world = reviewIn(context, 'synthesis');
  completeRound(world, objection);
  world.answer('advance', 'context', '--round', '2');
  const again = world.with({ input: json(objection) }).answer('complete-round', '-', '--round', '1');
  assert.deepEqual(
    [again.round, again.phase, again.position, again.verdict],
    [1, 'complete', 'complete (8/8), round 1', 'REQUEST CHANGES'],
  );
});

test('a time before 1970 ends a verb as any other', (context) => {
  const world = reviewIn(context, 'context');
  assert.equal(world.with({ env: { STINT_NOW: '1969-12-31T23:59:59Z' } }).run('note', 'old').status, 0);
  assert.equal(listOf(world.answer('log').events).at(-1).data.text, 'old');
});

test(
  'an output that takes nothing is told, and what was asked for is done',
  { skip: !existsSync('/dev/full') && 'this system has no /dev/full' },
  (context) => {
    const world = reviewIn(context, 'context');
    const full = openSync('/dev/full', 'w');
    const run = spawnSync(process.execPath, [command, 'note', 'kept'], {
      cwd: world.project,
      env: world.env,
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    assert.equal(run.status, 6);
    assert.equal(run.stderr, 'stint: the answer could not be written (ENOSPC); what was asked for is done.\n');
    assert.equal(listOf(world.answer('log').events).at(-1).data.text, 'kept');
  },
);

test('a payload that says a thing twice or beyond all bounds is refused: nothing is guessed', (context) => {
  const world = reviewIn(context, 'synthesis');
  const twice = json(approval).replace('{', '{"reviewers":[],');
  assert.match(world.with({ input: twice }).refusal(7, 'complete-round', '-').message, /one key twice/);
  const huge = json(approval).replace('"schema_version":1', '"schema_version":1,"extra":1e999');
  assert.match(world.with({ input: huge }).refusal(7, 'complete-round', '-').message, /too large/);
  writeFileSync(world.path('p.json'), json(approval));
  assert.equal(world.run('complete-round', '--file', 'p.json').status, 0);
});
