/** Runs whose last word is said twice, whose workers sit in another checkout, whose tasks share an id, whose folder was moved. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkpoint, claimStep, templateOf, work, writeTemplate } from './support/runs.ts';
import { createWorld, fileOnly, listOf, refusedText, type Tidying, type TestWorld } from './support/world.ts';

const begunIn = (tidying: Tidying, rows = [[work('A')]], ...names: readonly string[]): TestWorld => {
  const world = createWorld(tidying);
  world.git('commit', '-q', '--allow-empty', '-m', 'begun');
  writeTemplate(world, 'flow', templateOf(rows));
  for (const name of names.length === 0 ? ['one'] : names) world.answer('run', 'flow', '--name', name);
  return world;
};

test('the word that has closed a run may be said again without naming it; another one is refused and kept', (context) => {
  const world = begunIn(context);
  claimStep(world);
  const first = world.answer('complete', 'A', '--output', 'done');
  assert.equal(first.completeness, 'complete');
  assert.equal(world.answer('complete', 'A', '--output', 'done').revision, first.revision);
  assert.match(refusedText(world, 5, 'complete', 'A', '--output', 'other'), /is not running/);
  const { events } = world.answer('log', '--session', 'one');
  assert.equal(listOf(events).at(-1).type, 'ResultRefused');
});

test('an abort at a checkpoint may be said again without naming the run; of several closed runs none is guessed', (context) => {
  const world = begunIn(context, [[checkpoint('CP', false)], [work('A')]]);
  const first = world.answer('decide', 'CP', 'abort');
  assert.equal(world.answer('decide', 'CP', 'abort').revision, first.revision);
  world.answer('run', 'flow', '--name', 'two');
  world.answer('decide', 'CP', 'abort', '--session', 'two');
  assert.match(refusedText(world, 3, 'decide', 'CP', 'abort'), /Several sessions are closed/);
});

test('where another kind of session is open, it is not said that none is', (context) => {
  const world = createWorld(context);
  world.answer('begin', 'review', '--name', 'r');
  assert.match(refusedText(world, 4, 'complete', 'A'), /There is no open session that this is about\./);
});

test('from another checkout results are left, and files kept, where they are found', { skip: fileOnly }, (context) => {
  const world = begunIn(context, [[work('A')], [work('B', { args_template: '{A.output_path}' })]]);
  world.git('worktree', 'add', '-q', '../second');
  const second = world.with({ cwd: join(world.root, 'second') });
  const step = claimStep(second, '--session', 'one');
  assert.equal(step.result_path, world.path('.workflow/sessions/one/artifacts/A.attempt-1.result.json'));
  mkdirSync(join(world.root, 'second/made'));
  writeFileSync(join(world.root, 'second/made/app.txt'), 'it');
  second.answer('complete', 'A', '--output-path', 'made/app.txt', '--artifact', 'made/app.txt', '--session', 'one');
  const state = JSON.parse(readFileSync(world.path('.workflow/sessions/one/session-state.json'), 'utf8'));
  const { output_path: path, artifacts } = state.node_states.A;
  assert.deepEqual(
    [path, artifacts],
    [join(world.root, 'second/made/app.txt'), [join(world.root, 'second/made/app.txt')]],
  );
  assert.ok(existsSync(path));
  assert.equal(listOf(world.answer('next', '--session', 'one').steps)[0].args, path);
});

test('a background task that works on a node of one run is not taken for one of another', (context) => {
  const world = begunIn(context, [[work('A')]], 'one', 'two');
  for (const name of ['one', 'two']) claimStep(world, '--session', name);
  world.answer('start', 'A', '--cli-task-id', 'same', '--session', 'one');
  assert.match(
    refusedText(world, 9, 'start', 'A', '--cli-task-id', 'same', '--session', 'two'),
    /The task same works on A of run:one\./,
  );
  world.answer('complete', '--cli-task-id', 'same', '--exit-code', '0');
  assert.equal(world.answer('status', 'one').outcome, 'completed');
  assert.equal(world.answer('status', 'two').status, 'active');
});

test(
  'an open run whose folder was put into the archive by hand is told, and taken out again',
  { skip: fileOnly },
  (context) => {
    const world = begunIn(context);
    const sessions = (...parts: readonly string[]): string => world.path('.workflow/sessions', ...parts);
    mkdirSync(sessions('archive'));
    renameSync(sessions('one'), sessions('archive', 'one'));
    assert.match(
      world.run('next', '--claim').stderr,
      /lies in \.workflow\/sessions\/archive\/one, not in .*: stint doctor says what helps/,
    );
    const [finding] = listOf(JSON.parse(world.run('doctor', '--json').stdout).findings);
    assert.equal(finding.fix, 'stint unarchive --session run:one');
    const answer = world.answer('unarchive', '--session', 'run:one');
    assert.equal(answer.folder, '.workflow/sessions/one');
    assert.equal(existsSync(sessions('one', 'session-state.json')), true);
    assert.equal(existsSync(sessions('archive', 'one')), false);
    assert.equal(world.answer('doctor').healthy, true);
    assert.equal(world.answer('complete', 'A').completeness, 'complete');
  },
);
