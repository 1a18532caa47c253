/** The public cases about claims and leases; the table of all cases is in support/cases.ts. */
import assert from 'node:assert/strict';
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { caseFile } from './support/cases.ts';
import { as, claim, leaseEvents, showing } from './support/leases.ts';
import { startProgram } from './support/processes.ts';
import { assertSound, dumpStore, eventsOf } from './support/stores.ts';
import {
  createWorld,
  fileOnly,
  listOf,
  refusedText,
  say,
  type Printed,
  type TestWorld,
  withoutShared,
} from './support/world.ts';

const skip = withoutShared('cases');

/** The lease of a case: its holder, its times and its length. */
const leaseOf = (id: string, file = 'lease.json'): Printed => JSON.parse(readFileSync(caseFile(id, file), 'utf8'));

/** So many seconds after a time. */
const after = (time: string, seconds: number): string => new Date(Date.parse(time) + seconds * 1000).toISOString();

/** A review of the name of a case, and its holder, who has claimed it when the case says so. */
const heldAsIn = (
  context: TestContext,
  { session_id: name, holder, claimed_at: at, ttl_seconds: ttl }: Printed,
  flags: readonly string[] = [],
) => {
  const world = createWorld(context).with({ now: at });
  world.answer('begin', 'review', '--name', name);
  const owner = as(world, holder);
  const token = claim(owner, '--ttl', `${ttl}s`, ...flags);
  return { world, owner, token, key: `review:${name}`, name: String(name) };
};

/** The world of somebody else at that time. */
const bobAt = (world: TestWorld, now: string): TestWorld => as(world.with({ now }), 'bob');

test(
  'B05: who holds a session on build-b is not replaced from build-a because its pid means nothing there, only when its time is over',
  { skip },
  async (context) => {
    const lease = leaseOf('B05');
    const program = await startProgram(context);
    const world = createWorld(context).with({ now: lease.claimed_at });
    world.answer('begin', 'review', '--name', 'held');
    const away = as(world, lease.holder, { STINT_HOST: lease.host });
    claim(away, '--ttl', `${lease.ttl_seconds}s`, '--pid', String(program.pid));
    const here = as(world, 'bob', { STINT_HOST: 'build-a' });
    await program.kill();
    assert.match(here.refusal(10, 'lease', 'claim').message, / on build-b .*; whether it is alive is not known\.$/);
    assert.equal(here.answer('lease', 'show').alive, 'unknown');
    assert.equal(away.answer('lease', 'show').alive, 'dead');
    const over = here.with({ now: after(lease.claimed_at, lease.ttl_seconds) });
    assert.equal(over.answer('lease', 'claim').after.because, 'expired');
  },
);

test(
  'C03: the lease of a process that is gone is stale at once, and the next claim gets it, on the record with the old holder',
  { skip },
  async (context) => {
    const lease = leaseOf('C03');
    const program = await startProgram(context);
    const { world, owner, key, token } = heldAsIn(context, lease, ['--pid', String(program.pid)]);
    owner.with({ now: lease.renewed_at }).answer('lease', 'renew');
    const bob = bobAt(world, after(lease.renewed_at, 1));
    bob.refusal(10, 'lease', 'claim');
    await program.kill();
    assert.equal(bob.answer('lease', 'show').state, 'stale');
    assert.equal(bob.answer('status').activity, 'interrupted');
    assert.match(say(bob, 'status'), /Claim it: the process of codex on desk is gone/);
    const claimed = bob.answer('lease', 'claim');
    assert.deepEqual(claimed.after, { holder: 'codex', token, because: 'gone' });
    const lost = leaseEvents(world, key).find(({ type }) => type === 'LeaseLost');
    assert.deepEqual([lost.holder.actor, lost.because, lost.to.actor], ['codex', 'gone', 'bob']);
    owner.refusal(10, 'advance', 'change-context', ...showing(token));
    assertSound(world);
  },
);

test(
  'C05: who is alive and renews in time keeps a session for three times its length and longer; who is alive and does not is replaced',
  { skip },
  async (context) => {
    const lease = leaseOf('C05');
    const { pid } = await startProgram(context);
    const { world, owner, token, name } = heldAsIn(context, lease, ['--pid', String(pid)]);
    let heard = lease.claimed_at;
    for (let round = 0; round < 4; round += 1) {
      heard = after(heard, lease.ttl_seconds - 1);
      owner.with({ now: heard }).answer('lease', 'renew');
      const bob = bobAt(world, after(heard, lease.ttl_seconds - 0.001));
      assert.match(bob.refusal(10, 'lease', 'claim').message, /; it is alive\.$/);
      bob.refusal(10, 'advance', 'change-context', '--session', name);
    }
    const over = after(heard, lease.ttl_seconds);
    assert.equal(bobAt(world, over).answer('lease', 'claim').after.because, 'expired');
    owner.with({ now: over }).refusal(10, 'lease', 'renew', ...showing(token));
    owner.with({ now: over }).refusal(10, 'note', 'still here', ...showing(token));
  },
);

test(
  'C06: a session whose lease ran out is interrupted since then, goes on from where it was, and a claim or a release ends that at once',
  { skip },
  (context) => {
    const lease = leaseOf('C06');
    for (const way of ['claim', 'release'] as const) {
      const { world, owner, key } = heldAsIn(context, lease);
      owner.answer('advance', 'change-context');
      for (let at = lease.claimed_at; at < lease.renewed_at; at = after(at, lease.ttl_seconds / 2))
        owner.with({ now: at }).answer('lease', 'renew');
      owner.with({ now: lease.renewed_at }).answer('lease', 'renew');
      const ended = after(lease.renewed_at, lease.ttl_seconds);
      const bob = bobAt(world, after(ended, 3600));
      const status = bob.answer('status');
      const [row] = bob.answer('list').sessions;
      for (const answer of [status, row])
        assert.deepEqual([answer.status, answer.activity, answer.activity_since], ['active', 'interrupted', ended]);
      assert.deepEqual(
        [status.lease.state, status.next_action.kind, status.next_action.command],
        ['expired', 'advance', `stint advance analysis --session ${key}`],
      );
      assert.match(status.next_action.text, /^Nobody works on it: the lease of codex on desk expired at /);
      bob.answer('lease', way);
      const then = bob.answer('status');
      assert.deepEqual(
        [then.activity, then.lease?.holder ?? null],
        way === 'claim' ? ['running', 'bob'] : ['none', null],
      );
      assert.equal(then.current_phase, 'change-context');
      const [lost, ...more] = eventsOf(world, key).filter(({ type }) => type === 'LeaseLost');
      assert.deepEqual([lost?.data.because, more.length], ['expired', 0]);
      assert.equal(bob.answer('advance', 'analysis').phase, 'analysis');
      assertSound(world);
    }
  },
);

test(
  'C08: a holder whose claim expired writes nothing once its successor has claimed, and the successor goes on',
  { skip },
  (context) => {
    const steps: readonly (readonly [string, string?, string?])[] = JSON.parse(
      readFileSync(caseFile('C08', 'steps.json'), 'utf8'),
    );
    let world = createWorld(context);
    world.answer('begin', 'review', '--name', 'held');
    const tokens: Record<string, number> = {};
    for (const [what, who = '', expected] of steps) {
      if (what === 'expire') world = world.with({ now: after(world.env['STINT_NOW'] ?? '', 30 * 60) });
      else if (what === 'claim') tokens[who] = claim(as(world, who));
      else {
        const args = ['advance', 'change-context', ...showing(tokens[who] ?? 0)];
        const before = { ...dumpStore(world), lease: [] };
        if (expected === 'expect:ok') as(world, who).answer(...args);
        else {
          assert.match(as(world, who).refusal(10, ...args).message, /does not count for .*: B holds it since/);
          assert.deepEqual({ ...dumpStore(world), lease: [] }, before);
          const shown = world.answer('lease', 'show');
          assert.deepEqual(
            [shown.refused, shown.last_refused_at],
            [1, world.env['STINT_NOW']],
            'it is told who was fenced off',
          );
        }
      }
    }
    assert.ok((tokens['B'] ?? 0) > (tokens['A'] ?? 0));
    assert.equal(world.answer('status').current_phase, 'change-context');
  },
);

test('C11: a session that was claimed and left without doing anything is in the way of no other, and is closed by whoever wants', async (context) => {
  const world = createWorld(context);
  world.answer('begin', 'review', '--name', 'first');
  const program = await startProgram(context);
  claim(world, '--pid', String(program.pid));
  await program.kill();
  const bob = as(world, 'bob');
  assert.equal(bob.answer('begin', 'review', '--name', 'second', '--branch', 'second').resumed, false);
  assert.equal(bob.answer('begin', 'review', '--name', 'third').resumed, false, 'of the same branch, too');
  const first = listOf(bob.answer('list').sessions).find((row) => row.session_id === 'first');
  assert.deepEqual([first.activity, first.status], ['interrupted', 'active']);
  bob.answer('lease', 'claim', '--session', 'first');
  assert.equal(bob.answer('finish', '--abort', '--session', 'first').outcome, 'aborted');
  assertSound(world);
});

test('C12: leases of two worktrees of one commit do not clash', (context) => {
  const world = createWorld(context);
  world.git('worktree', 'add', '-q', '../second');
  const second = world.with({ cwd: join(world.root, 'second') });
  for (const one of [world, second]) {
    one.answer('begin', 'review');
    claim(one, '--purpose', 'mine');
  }
  for (const one of [world, second]) {
    one.answer('begin', 'review');
    one.answer('advance', 'change-context');
    assert.equal(one.answer('lease', 'show').mine, true);
  }
  const other = world.answer('status').session;
  const error = second.refusal(10, 'advance', 'analysis', '--session', other);
  assert.match(error.message, /\(worktree main\)/, 'and the other one is named by its worktree');
});

test(
  'D01: who goes on without naming a session is told who is at work on it, since when and for what, and writes nothing into it; take-over is on record',
  { skip },
  async (context) => {
    const lease = leaseOf('D01');
    const state: Printed = JSON.parse(readFileSync(caseFile('D01', 'session-state.json'), 'utf8'));
    const { pid } = await startProgram(context);
    const { world, owner, key, token } = heldAsIn(context, lease, [
      '--pid',
      String(pid),
      '--purpose',
      state.context.goal,
    ]);
    const renewed = after(lease.claimed_at, 300);
    owner.with({ now: renewed }).answer('lease', 'renew');
    const other = bobAt(world, after(renewed, 60));
    const before = dumpStore(world)['event'];
    const until = after(renewed, lease.ttl_seconds);
    for (const args of [
      ['begin', 'review'],
      ['note', 'mine'],
      ['advance', 'change-context'],
      ['finish', '--abort'],
    ]) {
      const [message] = refusedText(other, 10, ...args).split('\n');
      assert.equal(
        message,
        `stint: ${key} is held by codex on desk (worktree main) since ${after(lease.claimed_at, 0)} until ${until}, for: Add login; it is alive.`,
      );
    }
    assert.deepEqual(dumpStore(world)['event'], before);
    assert.equal(other.answer('begin', 'review', '--read-only').lease.purpose, 'Add login');
    assert.deepEqual(dumpStore(world)['event'], before);
    assert.equal(other.answer('begin', 'review', '--take-over').resumed, true);
    const [lost] = leaseEvents(world, key).slice(-2);
    assert.deepEqual(
      [lost.type, lost.holder.actor, lost.because, lost.to.actor],
      ['LeaseLost', 'codex', 'taken over', 'bob'],
    );
    owner.with({ now: after(renewed, 61) }).refusal(10, 'note', 'mine', ...showing(token));
  },
);

test(
  'D07: a session that could not be gone on with, because it was held or its store was away, is neither closed nor spoilt, and goes on afterwards',
  { skip: fileOnly },
  (context) => {
    const world = createWorld(context);
    world.answer('begin', 'review', '--name', 'held');
    world.answer('advance', 'change-context');
    const before = eventsOf(world, 'review:held');
    const resume = ['begin', 'review', '--name', 'held'];

    renameSync(world.path('.stint/stint.db'), world.path('away'));
    assert.equal(world.run(...resume).status, 14);
    renameSync(world.path('away'), world.path('.stint/stint.db'));
    assert.equal(world.answer(...resume).phase, 'change-context');

    claim(world);
    const bob = as(world, 'bob');
    bob.refusal(10, ...resume);
    assert.equal(bob.answer('status').status, 'active');
    assert.equal(bob.answer('lease', 'show').refused, 1, 'the attempt is told');
    world.answer('lease', 'release');
    assert.equal(bob.answer(...resume).phase, 'change-context');
    assert.deepEqual(eventsOf(world, 'review:held').slice(0, before.length), before);
    assert.ok(eventsOf(world, 'review:held').every(({ type }) => type !== 'SessionClosed'));
    bob.answer('advance', 'analysis');
    assertSound(world);
  },
);

test(
  'K04: a claim or a renewal from far ahead keeps nobody out, one from half a minute ahead does, and doctor remarks on the clock',
  { skip },
  async (context) => {
    const lease = leaseOf('K04', 'lease-year.json');
    const far = lease.renewed_at;
    const claimedAhead = heldAsIn(context, { ...lease, claimed_at: far });
    const renewedAhead = heldAsIn(context, lease);
    const ahead = after(lease.claimed_at, lease.ttl_seconds - 1);
    renewedAhead.owner.with({ now: ahead }).answer('lease', 'renew', '--ttl', '7d');
    for (const { world, key, at } of [
      { ...claimedAhead, at: far },
      { ...renewedAhead, at: ahead },
    ]) {
      const bob = bobAt(world, after(lease.claimed_at, 60));
      const shown = bob.answer('lease', 'show');
      assert.deepEqual([shown.state, shown.clock_ahead], ['stale', true]);
      const report = bob.answer('doctor');
      assert.equal(report.healthy, true, 'a wrong clock is no damage');
      assert.deepEqual(report.remarks, [
        {
          subject: key,
          remark: `its newest time ${after(at, 0)} is ahead of this clock (${after(lease.claimed_at, 60)})`,
        },
      ]);
      bob.answer('advance', 'change-context');
      const lost = leaseEvents(world, key).find(({ type }) => type === 'LeaseLost');
      assert.deepEqual([lost.because, lost.to.actor], ['its clock was ahead', 'bob'], 'whoever goes on says so');
      bob.answer('lease', 'claim');
      assert.equal(bob.answer('lease', 'show').expires_at, after(lease.claimed_at, 60 + 30 * 60));
    }
    assert.equal(
      bobAt(renewedAhead.world, after(lease.claimed_at, 60)).answer('doctor').remarks,
      undefined,
      'that lease is over',
    );

    const soon = leaseOf('K04', 'lease-30s.json');
    const held = heldAsIn(context, soon);
    held.owner.with({ now: after(soon.claimed_at, 90) }).answer('lease', 'renew');
    const bob = bobAt(held.world, after(soon.claimed_at, 60));
    assert.match(bob.refusal(10, 'lease', 'claim').message, /whether it is alive is not known/);
    assert.equal(bob.answer('doctor').remarks, undefined);
    // As far as clocks may differ it holds, and no longer than that beyond its length.
    held.owner.with({ now: after(soon.claimed_at, 180) }).answer('lease', 'renew');
    bob.refusal(10, 'lease', 'claim');
    held.owner.with({ now: after(soon.claimed_at, 180.001) }).answer('lease', 'renew');
    bob.answer('lease', 'claim');
  },
);
