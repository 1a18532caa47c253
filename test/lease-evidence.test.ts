/** What is seen of the holder of a session, by whose clock, and what everybody is told of it: the same everywhere. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { as, claim, heldKinds, leaseEvents, sessionOf, showing } from './support/leases.ts';
import { ordinary, whileProtected, withoutUser } from './support/permissions.ts';
import { startProcess, startProgram } from './support/processes.ts';
import { assertSound, dumpStore, treeOf } from './support/stores.ts';
import { later, lines, listOf, noon, say, type Printed, type TestWorld } from './support/world.ts';

/** The phase behind the first one. */
const second = { review: 'change-context', map: 'topology' } as const;

/** What somebody is told to do next, by each verb that says it; they all say the same. */
const nextAction = (world: TestWorld, kind: string): Printed => {
  const [first, ...more] = [['status'], ['next'], ['begin', kind, '--read-only']].map(
    (args) => world.answer(...args).next_action,
  );
  for (const other of more) assert.deepEqual(other, first);
  return first;
};

for (const kind of heldKinds)
  suite(kind, () => {
    test('where its holder is gone everybody is told to claim it, where another one holds it to wait, by every verb alike', async (context) => {
      const { world, key } = sessionOf(context, kind);
      const bob = as(world, 'bob');
      const { kind: own, text, command } = nextAction(bob, kind);
      const program = await startProgram(context);
      claim(world, '--pid', String(program.pid), '--purpose', 'round 1');
      assert.deepEqual(nextAction(bob, kind), {
        kind: 'wait',
        text: `Held by ana@desk on desk until 2026-03-17T12:30:00.000Z. Then: ${text}`,
        command: `stint lease show --session ${key}`,
      });
      assert.deepEqual(nextAction(world, kind), { kind: own, text, command }, 'its holder goes on');
      const held = 'held by ana@desk on desk until 2026-03-17T12:30:00.000Z';
      const standing = (next: string): readonly string[] => [
        `not gone on with  ${key}: ${world.answer('status').position} (open_no_artifact)`,
        `next: ${next}`,
      ];
      assert.equal(
        say(bob, 'begin', kind, '--read-only'),
        lines(`${held}, for: round 1`, ...standing(`stint lease show --session ${key}`)),
      );
      await program.kill();
      const claimIt = `stint lease claim --session ${key}`;
      assert.deepEqual(nextAction(bob, kind), {
        kind: 'claim',
        text: `Claim it: the process of ana@desk on desk is gone. Then: ${text}`,
        command: claimIt,
      });
      assert.equal(
        say(bob, 'begin', kind, '--read-only'),
        lines(`${held}, but its process is gone, for: round 1`, ...standing(claimIt)),
      );
      assert.deepEqual(nextAction(later(bob, 30), kind), {
        kind: own,
        text: `Nobody works on it: the lease of ana@desk on desk expired at 2026-03-17T12:30:00.000Z (${claimIt}). ${text}`,
        command,
      });
    });

    test('a clock that is behind takes no session from a holder that is seen alive, and its own clock may go back', async (context) => {
      const { world, key } = sessionOf(context, kind);
      const program = await startProgram(context);
      const token = claim(world, '--pid', String(program.pid));
      const bob = as(later(world, -3), 'bob');
      const shown = bob.answer('lease', 'show');
      assert.deepEqual([shown.state, shown.clock_ahead, shown.alive], ['active', true, 'alive']);
      const refusal = bob.refusal(10, 'advance', second[kind], '--session', 'held');
      assert.match(refusal.message, /; it is alive, and its clock is ahead of this one\.$/);
      bob.refusal(10, 'lease', 'claim');
      assert.equal(nextAction(bob, kind).kind, 'wait');
      const back = later(world, -60).answer('lease', 'renew');
      assert.deepEqual([back.token, back.expires_at], [token, '2026-03-17T11:30:00.000Z']);
      assert.equal(later(as(world, 'bob'), -59).answer('lease', 'show').clock_ahead, undefined, 'as said last');
      assert.equal(leaseEvents(world, key).length, 1);
    });

    test('where nobody is seen, a claim from a clock that is ahead counts for nothing: it is shown as such, and the next write puts that on record', (context) => {
      const { world, key } = sessionOf(context, kind);
      const token = claim(world);
      const near = as(later(world, -2), 'bob');
      near.refusal(10, 'advance', second[kind], '--session', 'held');
      assert.equal(near.answer('lease', 'show').clock_ahead, undefined, 'two minutes are nothing');

      const bob = as(later(world, -3), 'bob');
      const shown = bob.answer('lease', 'show');
      assert.deepEqual([shown.state, shown.clock_ahead, shown.alive], ['stale', true, 'unknown']);
      assert.equal(say(bob, 'lease', 'show').split('\n')[0]?.replace(/ +/, ' '), `${key} stale, its clock is ahead`);
      assert.match(say(bob, 'status'), /^held by {2,}ana@desk on desk until [^,]+, but its clock was ahead$/m);
      const { kind: own, text } = nextAction(bob, kind);
      assert.notEqual(own, 'wait');
      assert.match(text, /^Nobody works on it: the clock of ana@desk on desk was ahead when it was claimed \(/);
      const now = '2026-03-17T11:57:00.000Z';
      const status = bob.answer('status');
      assert.deepEqual([status.activity, status.activity_since], ['interrupted', now], 'not since what has not come');
      assert.equal(listOf(bob.answer('list').sessions)[0].activity_since, now);

      bob.answer('advance', second[kind], '--session', 'held');
      const [, lost, ...more] = leaseEvents(world, key);
      assert.deepEqual(
        [lost.type, lost.token, lost.holder.actor, lost.because, lost.to.actor, more],
        ['LeaseLost', token, 'ana@desk', 'its clock was ahead', 'bob', []],
      );
      world.refusal(10, 'lease', 'renew');
      assertSound(world);
    });

    test('what a write finds ended goes on record once, with both sides, and before what it is ended for', (context) => {
      const { world, key } = sessionOf(context, kind);
      const token = claim(world, '--ttl', '10m');
      const bob = as(later(world, 10), 'bob');
      bob.answer('begin', kind, '--name', 'held');
      bob.answer('note', 'a remark');
      bob.answer('advance', second[kind], '--dry-run');
      assert.equal(leaseEvents(world, key).length, 1, 'nothing that moves it was written');
      const types = (): readonly string[] => listOf(bob.answer('log', 'held').events).map(({ type }) => type);
      const before = types().length;
      bob.answer('advance', second[kind]);
      assert.deepEqual(types().slice(before), ['LeaseLost', 'PhaseEntered']);
      bob.answer('advance', second[kind]);
      as(bob, 'eve').answer('finish', '--abort');
      bob.answer('begin', kind, '--name', 'held');

      const newer = claim(as(bob, 'eve'));
      for (let count = 0; count < 2; count += 1)
        as(bob, 'eve').answer('finish', '--abort', '--reason', 'r', '--session', 'held');
      assert.deepEqual(types().slice(-2), ['LeaseReleased', 'SessionClosed']);
      const events = leaseEvents(world, key);
      assert.deepEqual(
        events.map((event) => [
          event.type,
          event.token,
          event.holder.actor,
          event.because,
          (event.to ?? event.by)?.actor,
        ]),
        [
          ['LeaseClaimed', token, 'ana@desk', undefined, undefined],
          ['LeaseLost', token, 'ana@desk', 'expired', 'bob'],
          ['LeaseClaimed', newer, 'eve', undefined, undefined],
          ['LeaseReleased', newer, 'eve', undefined, 'eve'],
        ],
      );
      assertSound(world);
    });
  });

test('a holder that is seen alive holds, whatever others have put on record of its process; one that is not has let go by its own word alone', async (context) => {
  const alive = ['--pid', String(process.pid)];
  const ways: readonly {
    readonly what: string;
    readonly flags: readonly string[];
    readonly ends: (world: TestWorld, id: string, lead: { readonly kill: () => Promise<void> }) => Promise<void>;
    readonly seen: readonly [state: string, alive: string, words: string];
  }[] = [
    {
      what: 'alive, and ended by somebody else',
      flags: alive,
      ends: async (world, id) => void as(world, 'bob').answer('process', 'end', id),
      seen: ['active', 'alive', 'it is alive'],
    },
    {
      what: 'alive, and cancelled with its supervisor',
      flags: alive,
      ends: async (world, _, lead) => {
        await lead.kill();
        as(world, 'bob').answer('process', 'sweep');
      },
      seen: ['active', 'alive', 'it is alive'],
    },
    {
      what: 'not seen, and cancelled with its supervisor',
      flags: [],
      ends: async (world, _, lead) => {
        await lead.kill();
        as(world, 'bob').answer('process', 'sweep');
      },
      seen: ['active', 'unknown', 'whether it is alive is not known'],
    },
    {
      what: 'not seen, and done',
      flags: [],
      ends: async (world, id) => void world.answer('process', 'end', id),
      seen: ['stale', 'dead', 'its process is gone'],
    },
  ];
  for (const { what, flags, ends, seen } of ways) {
    const [state, life, words] = seen;
    const { world, key } = sessionOf(context, 'review');
    const lead = await startProgram(context);
    const supervisor = startProcess(world, 'supervisor', '--pid', String(lead.pid));
    const id = startProcess(world, 'instance', '--parent', supervisor, ...flags);
    const token = claim(world, '--process', id);
    await ends(world, id, lead);
    const { processes } = world.answer('process', 'list', '--all');
    assert.notEqual(listOf(processes).find((one) => one.id === id)?.status, 'running', what);

    const bob = as(world, 'bob');
    const shown = bob.answer('lease', 'show');
    const status = bob.answer('status');
    for (const lease of [shown, status.lease, bob.answer('begin', 'review', '--read-only').lease])
      assert.deepEqual([lease.state, lease.alive], [state, life], what);
    assert.equal(nextAction(bob, 'review').kind, state === 'active' ? 'wait' : 'claim', what);
    const refusal = bob.refusal(10, 'advance', 'change-context', '--session', 'held');
    assert.ok(String(refusal.message).endsWith(`; ${words}.`), `${what}: ${refusal.message}`);
    assert.deepEqual([refusal.lease.state, refusal.lease.alive], [state, life], what);
    if (state === 'active') {
      assert.equal(status.activity, 'running', what);
      bob.refusal(10, 'lease', 'claim');
      assert.equal(leaseEvents(world, key).length, 1, what);
    } else {
      const { after } = bob.answer('lease', 'claim');
      assert.deepEqual(after, { holder: 'ana@desk', token, because: 'gone' }, what);
    }
  }
});

test('begin --read-only asks for no token and no revision, takes nothing over, and changes nothing', (context) => {
  const { world } = sessionOf(context, 'review');
  const token = claim(world);
  const newer = claim(as(world, 'bob'), '--take-over');
  assert.ok(newer > token);
  const looking = ['begin', 'review', '--read-only'];
  const before = dumpStore(world);
  const seen = world.answer(...looking);
  assert.deepEqual([seen.read_only, seen.revision, seen.lease.token], [true, 2, newer]);
  for (const flags of [
    showing(token),
    ['--expect-revision', '99'],
    ['--take-over'],
    ['--request-id', 'r'],
    ['--dry-run'],
  ])
    assert.deepEqual(world.answer(...looking, ...flags), seen, flags.join(' '));
  for (const shown of [String(token), 'nonsense', '9007199254740993'])
    assert.deepEqual(world.with({ env: { STINT_LEASE_TOKEN: shown } }).answer(...looking), seen, shown);
  assert.deepEqual(dumpStore(world), before);
  world.refusal(9, 'begin', 'review', '--name', 'held', '--expect-revision', '99', '--take-over');
});

test('begin --read-only and next look at a store that may not be written', { skip: withoutUser }, (context) => {
  const { world: mine } = sessionOf(context, 'review');
  claim(mine);
  const world = ordinary(mine);
  whileProtected(world, () => {
    const before = treeOf(world.root);
    const bob = as(world, 'bob');
    assert.deepEqual(nextAction(bob, 'review').command, 'stint lease show --session review:held');
    assert.equal(bob.answer('begin', 'review', '--read-only', ...showing(7)).lease.holder, 'ana@desk');
    assert.notEqual(bob.run('begin', 'review').status, 0);
    assert.deepEqual(treeOf(world.root), before, 'no litter');
  });
  assert.equal(mine.answer('lease', 'show').claimed_at, noon);
});
