/** The public cases about processes and who is thought to be alive; the table of all cases is in support/cases.ts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { caseFile, caseLines } from './support/cases.ts';
import { processesOf, startProcess, startProgram } from './support/processes.ts';
import { name, reviewIn, session } from './support/reviews.ts';
import { assertSound, dumpStore, eventsOf } from './support/stores.ts';
import { assertAnswer, createWorld, listOf, sorted, withoutShared, type Printed } from './support/world.ts';

const skip = withoutShared('cases');

/** The lease of a case, of which the holder's host and times are taken. */
const leaseOf = (id: string): Printed => JSON.parse(readFileSync(caseFile(id, 'lease.json'), 'utf8'));

test(
  'B05: a holder on build-b is never judged by its pid on build-a, is shown there, and its own machine finds it dead',
  { skip },
  async (context) => {
    const { host, holder } = leaseOf('B05');
    const world = reviewIn(context, 'reviews');
    const program = await startProgram(context);
    const away = world.with({ env: { STINT_HOST: host } });
    const id = startProcess(away, 'supervisor', '--name', holder, '--pid', String(program.pid));
    const here = world.with({ env: { STINT_HOST: 'build-a' } });
    await program.kill();
    const before = dumpStore(world);
    assert.deepEqual(here.answer('process', 'sweep').swept, []);
    const { activity, processes } = here.answer('status');
    assert.deepEqual(
      [activity, processes[0].liveness, processes[0].host, processes[0].here],
      ['running', 'unknown', 'build-b', false],
    );
    assert.match(here.run('status').stdout, /codex unknown on build-b/);
    const days = here.with({ now: '2026-04-17T12:00:00Z' });
    assert.equal(days.answer('status').activity, 'quiet', 'nothing was heard of it, and that is all that is known');
    assert.deepEqual(days.answer('process', 'sweep').swept, []);
    assert.deepEqual(dumpStore(world), before);
    assert.deepEqual(
      listOf(away.answer('process', 'sweep').swept).map((one) => one.id),
      [id],
    );
  },
);

test('K04: a heartbeat from the future keeps nobody alive whose process is gone, and doctor remarks on the clock', async (context) => {
  const world = reviewIn(context, 'reviews');
  const [gone, alive] = [await startProgram(context), await startProgram(context)];
  const year = world.with({ now: '2027-03-17T12:00:00Z' });
  const ahead = startProcess(year, 'instance', '--pid', String(gone.pid));
  const soon = world.with({ now: '2026-03-17T12:00:30Z' });
  const held = startProcess(soon, 'instance', '--pid', String(alive.pid));
  await gone.kill();
  const processes = processesOf(world);
  assert.deepEqual([processes[ahead].liveness, processes[held].liveness], ['dead', 'alive']);
  const report = world.answer('doctor');
  assert.equal(report.healthy, true, 'a wrong clock is no damage');
  assert.deepEqual(sorted(listOf(report.remarks).map(({ subject }) => subject)), sorted([session, ahead, held]));
  assert.match(world.run('doctor').stdout, /is ahead of this clock \(2026-03-17T12:00:00\.000Z\)/);
  assert.deepEqual(
    listOf(world.answer('process', 'sweep').swept).map(({ id }) => id),
    [ahead],
  );
  assert.equal(year.answer('doctor').remarks, undefined, 'seen from there all is in order');
});

test('C11: a session whose process went without doing anything is in the way of no other, and asks nobody to discard work', async (context) => {
  const world = createWorld(context);
  world.answer('begin', 'review', '--name', 'first');
  const program = await startProgram(context);
  startProcess(world, 'supervisor', '--pid', String(program.pid));
  await program.kill();
  assert.equal(world.answer('begin', 'review', '--name', 'second', '--branch', 'second').resumed, false);
  assert.equal(world.answer('begin', 'review', '--name', 'third').resumed, false, 'of the same branch, too');
  const rows = Object.fromEntries(listOf(world.answer('list').sessions).map((row) => [row.session_id, row]));
  assert.deepEqual([rows.first.activity, rows.first.status, rows.second.activity], ['interrupted', 'active', 'none']);
  const { missing, next_action: next } = world.answer('status', 'first');
  assert.match(missing[0], /^round 1 is not completed/);
  assert.doesNotMatch(next.text, /discard|lose|abort/i);
  assert.equal(world.answer('finish', '--abort', '--session', 'first').outcome, 'aborted');
  assert.equal(world.answer('list').total, 2);
  assertSound(world);
});

test(
  'H01: a session whose holder has been gone for 18 days is interrupted since then at the first call, everywhere, and can be closed',
  { skip },
  async (context) => {
    const { holder, renewed_at: renewed } = leaseOf('H01');
    const then = createWorld(context).with({ now: renewed });
    then.answer('begin', 'review');
    const program = await startProgram(context);
    const id = startProcess(then, 'supervisor', '--name', holder, '--pid', String(program.pid));
    await program.kill();
    const world = then.with({ now: '2026-03-17T14:35:14Z' });
    const since = '2026-02-27T14:35:14.000Z';
    const [row] = world.answer('list').sessions;
    const status = world.answer('status');
    const [shown] = world.answer('progress').sessions;
    for (const answer of [row, status, shown])
      assert.deepEqual([answer.activity, answer.activity_since], ['interrupted', since]);
    for (const answer of [status, shown]) {
      assert.equal(answer.next_action.kind, 'advance');
      assert.match(answer.next_action.text, /^Gone without a word: codex /);
    }
    for (const verb of ['list', 'status', 'progress'])
      assert.match(world.run(verb).stdout, new RegExp(`interrupted since ${since}`), verb);
    assert.match(world.run('progress').stdout, /^active, interrupted since [^,]+, open 18d 00:00:00,/m);
    assert.equal(world.answer('finish', '--abort').outcome, 'aborted');
    assert.equal(world.answer('process', 'sweep').swept[0].id, id);
    assert.equal(world.answer('status', '2026-02-27-main').activity, 'none');
    assertSound(world);
  },
);

test(
  'H07: who ended without an exit code has ended, who was killed without a word is found, and both codes stay unknown',
  { skip },
  async (context) => {
    const [ended, killed] = caseLines('H07', 'journal.jsonl').map((line): Printed => JSON.parse(line));
    const world = reviewIn(context, 'reviews').with({ now: ended.started_at });
    const first = startProcess(world, ended.kind, '--name', ended.id);
    const program = await startProgram(context);
    const second = startProcess(world, killed.kind, '--name', killed.id, '--pid', String(program.pid));
    await program.kill();
    const later = world.with({ now: ended.finished_at });
    later.answer('process', 'end', first, '--outcome', 'crashed');
    const before = processesOf(later);
    assert.deepEqual(
      [before[first].status, before[first].exit_code, before[first].ended_at],
      ['crashed', null, '2026-03-17T14:05:00.000Z'],
    );
    assert.deepEqual([before[second].status, before[second].liveness], ['running', 'dead']);
    assert.equal(later.answer('status').activity, 'interrupted');
    later.answer('process', 'sweep');
    const after = processesOf(later);
    assert.deepEqual([after[second].status, after[second].exit_code], ['orphaned', null]);
    assert.ok(after[second].ended_at !== null);
    assert.equal(later.answer('status').dependents_settled, true, 'both count as ended');
    for (const { data } of eventsOf(world, session).filter(({ type }) => type === 'ProcessEnded'))
      assert.ok(!('exit_code' in data), 'no code is stored');
  },
);

test('H11: a process that ends itself and with its session has one end, in both orders and at once', async (context) => {
  const end = (id: string): readonly string[] => ['process', 'end', id, '--outcome', 'cancelled'];
  const finish = ['finish', '--session', name];
  for (const order of ['finish first', 'end first', 'at once']) {
    const world = reviewIn(context, 'complete');
    const id = startProcess(world, 'instance');
    const verbs = order === 'finish first' ? [finish, end(id)] : [end(id), finish];
    if (order === 'at once')
      await Promise.all(verbs.map(async (args) => assertAnswer(await world.start(...args, '--json').outcome, args)));
    else for (const args of verbs) world.answer(...args);
    const types = eventsOf(world, session).map(({ type }) => type);
    for (const type of ['SessionClosed', 'ProcessEnded'])
      assert.equal(types.filter((one) => one === type).length, 1, `${order}: ${type}`);
    const stored = processesOf(world)[id];
    world.with({ now: '2026-03-18T12:00:00Z' }).answer(...end(id));
    assert.deepEqual(processesOf(world)[id], stored, 'the same end');
    assert.equal(world.answer('list', '--all').total, 1);
  }
});
