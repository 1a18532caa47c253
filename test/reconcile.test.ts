/** What `reconcile` closes because it was left alone, and what it only names. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { makeOcrProject } from './support/ocr-databases.ts';
import { name, reviewIn, session } from './support/reviews.ts';
import { assertSound, dumpStore, eventsOf } from './support/stores.ts';
import { createWorld, listOf, sorted, type Printed } from './support/world.ts';

/** So many days after the reviews of these tests were touched last. */
const after = (days: number, milliseconds = 0): string =>
  new Date(Date.parse('2026-03-17T12:00:00.000Z') + days * 86_400_000 + milliseconds).toISOString();

const closedIn = (answer: Printed): readonly string[] => listOf(answer.closed).map((one) => one.session);

test('a session is left alone once its last event is more than seven days old, and not a moment before', (context) => {
  const world = reviewIn(context, 'reviews');
  assert.deepEqual(closedIn(world.with({ now: after(7) }).answer('reconcile')), []);
  const late = world.with({ now: after(7, 1) });
  const { closed } = late.answer('state', 'reconcile');
  assert.deepEqual(closed, [{ session, last_event_at: '2026-03-17T12:00:00.000Z' }]);
  const status = late.answer('status', name);
  assert.deepEqual(
    [status.outcome, status.reason, status.completeness],
    ['aborted', 'nothing happened for 7 days', 'closed_without_artifact'],
  );
  assert.equal(late.answer('begin', 'review', '--name', name).phase, 'reviews', 'it goes on where it was left');
});

test('a remark is an event: the seven days begin anew', (context) => {
  const world = reviewIn(context, 'reviews');
  world.with({ now: after(5) }).answer('note', 'still at it');
  assert.deepEqual(closedIn(world.with({ now: after(10) }).answer('reconcile')), []);
  assert.deepEqual(closedIn(world.with({ now: after(13) }).answer('reconcile')), [session]);
});

test('--days says how many days it takes', (context) => {
  const world = reviewIn(context, 'reviews').with({ now: after(29) });
  assert.deepEqual(closedIn(world.answer('reconcile', '--days', '30')), []);
  assert.equal(world.run('reconcile', '--days', '0').status, 2);
  assert.deepEqual(closedIn(world.answer('reconcile', '--days', '28')), [session]);
  assert.equal(world.answer('status', name).reason, 'nothing happened for 28 days');
});

test('a preview tells what would be closed, and changes nothing; doing it twice closes once', (context) => {
  const world = reviewIn(context, 'reviews').with({ now: after(8) });
  const before = dumpStore(world);
  const preview = world.answer('reconcile', '--dry-run');
  assert.deepEqual(dumpStore(world), before);
  const done = world.answer('reconcile');
  assert.deepEqual({ ...done, dry_run: true }, preview);
  const once = dumpStore(world);
  assert.deepEqual(world.answer('reconcile'), { ...done, closed: [] });
  assert.deepEqual(dumpStore(world), once);
  assertSound(world);
});

test('a program that runs here keeps its session open, however long nothing happened', (context) => {
  const world = reviewIn(context, 'reviews');
  const { id } = world.answer('process', 'start', '--kind', 'supervisor', '--pid', String(process.pid));
  const late = world.with({ now: after(400) });
  assert.deepEqual(closedIn(late.answer('reconcile')), []);
  late.answer('process', 'end', id);
  assert.deepEqual(closedIn(late.answer('reconcile')), [], 'its end was an event');
  assert.deepEqual(closedIn(world.with({ now: after(408) }).answer('reconcile')), [session]);
});

test('a process without a pid keeps its session open while it was heard of in the last days', (context) => {
  const world = reviewIn(context, 'reviews');
  const { id } = world.answer('process', 'start', '--kind', 'instance');
  // A heartbeat is no event.
  world.with({ now: after(6) }).answer('process', 'beat', id);
  assert.deepEqual(closedIn(world.with({ now: after(8) }).answer('reconcile')), []);
  const late = world.with({ now: after(14) });
  assert.deepEqual(closedIn(late.answer('reconcile')), [session]);
  assert.equal(listOf(late.answer('process', 'list', '--all').processes)[0].status, 'cancelled');
});

test('a process that is proved dead keeps nothing open, however late it was heard of', async (context) => {
  const world = reviewIn(context, 'reviews');
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
  context.after(() => void child.kill());
  const { id } = world.answer('process', 'start', '--kind', 'supervisor', '--pid', String(child.pid));
  const late = world.with({ now: after(8) });
  late.answer('process', 'beat', id);
  assert.deepEqual(closedIn(late.answer('reconcile')), [], 'it lives');
  const gone = once(child, 'exit');
  child.stdin.end();
  await gone;
  assert.deepEqual(closedIn(late.answer('reconcile')), [session]);
});

test('what nothing proves is named and stays what it is', (context) => {
  const world = reviewIn(context, 'synthesis');
  world.answer('finish', '--abort');
  assert.deepEqual(world.answer('reconcile').unproved, []);
  world.write(`.ocr/sessions/${name}/rounds/round-1/final.md`, '# Final\n');
  const before = dumpStore(world);
  const unproved = [{ session, file: 'rounds/round-1/final.md' }];
  for (const args of [['--dry-run'], [], []]) assert.deepEqual(world.answer('reconcile', ...args).unproved, unproved);
  assert.deepEqual(dumpStore(world), before);
  assert.match(world.run('reconcile').stdout, /^unproved {2}review:\S+ {2}rounds\/round-1\/final\.md is there, a comp/);
});

test('of what was taken over, what its completion proves is not named, and what only a file tells of is', (context) => {
  const done = reviewIn(context, 'complete');
  done.answer('finish');
  done.write(`.ocr/sessions/${name}/rounds/round-1/final.md`, '# Final\n');
  assert.deepEqual(done.answer('reconcile').unproved, []);

  const world = createWorld(context);
  const row = { status: 'closed', current_phase: 'complete', started_at: '2026-03-01 10:00:00' };
  makeOcrProject(world.project, {
    version: 14,
    sessions: [
      { id: 'proved', ...row },
      { id: 'legacy', ...row },
    ],
    events: [
      { session_id: 'proved', event_type: 'session_created', phase: 'context', round: 1 },
      { session_id: 'proved', event_type: 'round_completed', phase: 'synthesis', round: 1, metadata: '{}' },
      { session_id: 'proved', event_type: 'session_closed' },
      { session_id: 'legacy', event_type: 'session_legacy_import' },
    ],
  });
  for (const file of ['rounds/round-2/final.md', 'map/runs/run-1/map.md', 'rounds/round-1/reviews/a-1.md'])
    world.write(`.ocr/sessions/files/${file}`, '# Found\n');
  for (const id of ['proved', 'legacy']) world.write(`.ocr/sessions/${id}/rounds/round-1/final.md`, '# Final\n');
  world.answer('import', 'review');
  assert.deepEqual(sorted(listOf(world.answer('reconcile').unproved).map((one) => `${one.session} ${one.file}`)), [
    'map:files map/runs/run-1/map.md',
    'review:files rounds/round-2/final.md',
    'review:legacy rounds/round-1/final.md',
  ]);
});

test('what is open and left alone is closed all at once, and the rest stays open', (context) => {
  const world = createWorld(context);
  for (const day of [1, 2, 3])
    world.with({ now: `2026-02-0${day}T12:00:00Z` }).answer('begin', 'review', '--name', `old-${day}`, '--branch', 'b');
  world.answer('begin', 'map', '--name', 'new');
  const late = world.with({ now: after(1) });
  assert.deepEqual(closedIn(late.answer('reconcile')), ['review:old-3', 'review:old-2', 'review:old-1']);
  assert.equal(late.answer('list').sessions[0].session, 'map:new');
  const causes = [1, 2, 3].map((day) => eventsOf(world, `review:old-${day}`).at(-1).cause);
  assert.equal(new Set(causes).size, 1);
});

test('a session that moves while others are reconciled is not closed', async (context) => {
  const world = reviewIn(context, 'reviews');
  const late = world.with({ now: after(30) });
  const [moved, reconciled] = await Promise.all([
    late.start('advance', 'aggregation', '--session', name, '--json').outcome,
    late.start('reconcile', '--json').outcome,
  ]);
  // Whichever came first: either it moved and stays open, or it was closed and the move was refused.
  const wasClosed = closedIn(reconciled.json).length === 1;
  assert.equal(moved.status, wasClosed ? 5 : 0, `${moved.stdout}${reconciled.stdout}`);
  assert.equal(late.answer('status', name).status, wasClosed ? 'closed' : 'active');
});

test('without a store, and in an empty one, there is nothing to reconcile', (context) => {
  const world = createWorld(context);
  mkdirSync(world.path('.ocr/sessions/ghost'), { recursive: true });
  assert.deepEqual(closedIn(world.answer('reconcile')), []);
  assert.equal(world.run('reconcile').stdout, 'nothing to reconcile\n');
});
