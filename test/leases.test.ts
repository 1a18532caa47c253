/** Leases, by whole runs of the verbs: who holds a session, who is kept out, and what everybody is told. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { openStint } from '../src/index.ts';
import { mapped } from '../src/kinds/map/examples.ts';
import { runLimited, runLines } from './support/damage.ts';
import { as, claim, heldKinds, leaseEvents, sessionOf, showing } from './support/leases.ts';
import { startProcess, startProgram } from './support/processes.ts';
import { approval, json } from './support/reviews.ts';
import { assertSound, dumpStore, eventsOf } from './support/stores.ts';
import {
  assertAnswer,
  command,
  createWorld,
  fileOnly,
  later,
  lines,
  listOf,
  noon,
  refusedText,
  say,
  type Printed,
  type TestWorld,
} from './support/world.ts';

/** The phase behind the first one. */
const second = { review: 'change-context', map: 'topology' } as const;

const noonToken = Date.parse(noon);

/** What the lease of ana is shown as, claimed at noon without a word more. */
const leaseOfAna = {
  state: 'active',
  holder: 'ana@desk',
  host: 'desk',
  user: 'ana',
  worktree: 'main',
  agent_session: null,
  purpose: null,
  token: noonToken,
  claimed_at: noon,
  renewed_at: null,
  expires_at: '2026-03-17T12:30:00.000Z',
  process: null,
  pid: null,
  alive: 'unknown',
};

/** The holder of an event as it is on record, without the id of the place. */
const placeless = ({ place, ...holder }: Printed): Printed => {
  assert.match(place, /^[0-9A-HJKMNP-TV-Z]{26}$/);
  return holder;
};

const onRecord = (actor: string): Printed => ({ actor, host: 'desk', user: 'ana', worktree: 'main' });

/** Verbs that move a session, whatever it answers: a refusal of a lease comes before what else is wrong. */
const movingVerbs = (world: TestWorld, kind: (typeof heldKinds)[number]): readonly (readonly string[])[] => {
  const payload = kind === 'map' ? mapped : approval;
  const file = world.write('../payload.json', json(payload));
  return [
    ['advance', second[kind]],
    ['advance', 'complete'],
    ['advance', '--skip', kind === 'map' ? 'requirements-mapping' : 'discourse', '--reason', 'r'],
    [kind === 'map' ? 'complete-map' : 'complete-round', '--file', file],
    ['finish'],
    ['finish', '--abort', '--reason', 'r'],
  ];
};

for (const kind of heldKinds)
  suite(kind, () => {
    test('claim says who holds it until when, and everybody sees it; the session has not moved', (context) => {
      const { world, key } = sessionOf(context, kind);
      const { revision } = world.answer('status');
      const { place, ...claimed } = world.answer('lease', 'claim', '--request-id', 'r');
      assert.match(place, /^[0-9A-HJKMNP-TV-Z]{26}$/);
      assert.deepEqual(claimed, {
        schema_version: 1,
        session: key,
        session_id: 'held',
        ...leaseOfAna,
        renewed: false,
        revision,
      });
      const [event, ...more] = leaseEvents(world, key);
      assert.deepEqual(more, []);
      assert.deepEqual(
        { ...event, holder: placeless(event.holder) },
        {
          type: 'LeaseClaimed',
          token: noonToken,
          holder: onRecord('ana@desk'),
          claimed_at: noon,
          expires_at: '2026-03-17T12:30:00.000Z',
        },
      );
      assert.equal(
        say(later(world, 1), 'lease', 'claim', '--ttl', '1h', '--purpose', 'round 1'),
        lines(`${key}: held by ana@desk until 2026-03-17T13:01:00.000Z, token ${noonToken}`),
      );
      assert.equal(
        say(later(world, 2), 'lease', 'claim'),
        lines(`${key}: still held by ana@desk until 2026-03-17T12:32:00.000Z, token ${noonToken}`),
      );
      const status = as(world, 'bob').answer('status');
      assert.deepEqual(
        [status.lease.holder, status.lease.purpose, status.activity, status.revision],
        ['ana@desk', 'round 1', 'running', revision],
      );
      assert.equal(status.next_action.kind, 'wait');
      assert.match(
        say(as(world, 'bob'), 'status'),
        /^held by {2,}ana@desk on desk until 2026-03-17T12:32:00\.000Z, for: round 1$/m,
      );
      assert.equal(world.answer('list').sessions[0].held_by, 'ana@desk');
      assert.match(say(world, 'list'), /held by ana@desk/);
      assertSound(world);
    });

    test('show says who, from where, for what, since and until when, and how often others were refused', async (context) => {
      const { world, key } = sessionOf(context, kind);
      assert.deepEqual(world.answer('lease', 'show'), {
        schema_version: 1,
        session: key,
        session_id: 'held',
        state: 'none',
      });
      assert.equal(
        say(world, 'lease', 'show'),
        lines(`${key}: nobody holds it`, `next: stint lease claim --session ${key}`),
      );
      const { pid } = await startProgram(context);
      const holder = as(world, 'ana', { STINT_AGENT_SESSION: 'conversation-1' });
      claim(holder, '--purpose', 'round 1', '--pid', String(pid));
      later(holder, 5).answer('lease', 'renew');
      const bob = as(later(world, 6), 'bob');
      for (let count = 0; count < 2; count += 1) bob.refusal(10, 'advance', second[kind], '--session', 'held');
      const { place, ...shown } = bob.answer('lease', 'show', 'held');
      assert.equal(typeof place, 'string');
      assert.deepEqual(shown, {
        schema_version: 1,
        session: key,
        session_id: 'held',
        ...leaseOfAna,
        holder: 'ana',
        agent_session: 'conversation-1',
        purpose: 'round 1',
        renewed_at: '2026-03-17T12:05:00.000Z',
        expires_at: '2026-03-17T12:35:00.000Z',
        pid,
        alive: 'alive',
        mine: false,
        refused: 2,
        last_refused_at: '2026-03-17T12:06:00.000Z',
      });
      assert.equal(
        say(later(holder, 6), 'lease', 'show'),
        lines(
          `${key}    active, yours`.replace(/ {4}/, '  '.padEnd(Math.max(2, 14 - key.length))),
          ...[
            ['holder', 'ana'],
            ['from', 'ana on desk, worktree main'],
            ['conversation', 'conversation-1'],
            ['for', 'round 1'],
            ['token', String(noonToken)],
            ['claimed', noon],
            ['renewed', '2026-03-17T12:05:00.000Z'],
            ['expires', '2026-03-17T12:35:00.000Z'],
            ['process', `pid ${pid}`],
            ['alive', 'alive'],
            ['refused', '2 writes of others, the last at 2026-03-17T12:06:00.000Z'],
          ].map(([label = '', text]) => label.padEnd(14) + text),
        ),
      );
    });

    test('renew keeps it for as long as before, or as is said, and is no event', (context) => {
      const { world, key } = sessionOf(context, kind);
      claim(world, '--ttl', '10m');
      const before = eventsOf(world, key);
      const { place, revision, ...renewed } = later(world, 5).answer('lease', 'renew');
      assert.deepEqual([typeof place, revision], ['string', world.answer('status').revision]);
      assert.deepEqual(renewed, {
        schema_version: 1,
        session: key,
        session_id: 'held',
        ...leaseOfAna,
        renewed_at: '2026-03-17T12:05:00.000Z',
        expires_at: '2026-03-17T12:15:00.000Z',
      });
      assert.equal(
        say(later(world, 6), 'lease', 'renew', '--ttl', '2h'),
        lines(`${key}: held until 2026-03-17T14:06:00.000Z`),
      );
      assert.equal(
        later(world, 7).answer('lease', 'renew').expires_at,
        '2026-03-17T14:07:00.000Z',
        'as long as the last time',
      );
      assert.deepEqual(eventsOf(world, key), before);
      as(later(world, 100), 'bob').refusal(10, 'advance', second[kind], '--session', 'held');
    });

    test('renew is refused where it has expired, where nobody holds it, and for everybody else', (context) => {
      const { world, key } = sessionOf(context, kind);
      const claimIt = [
        '  expected: a lease that is live',
        `  legal: stint lease claim --session ${key}`,
        `  try: stint lease claim --session ${key}`,
      ];
      assert.equal(
        refusedText(world, 10, 'lease', 'renew'),
        lines(`stint: Nobody holds ${key}.`, '  expected: a lease', ...claimIt.slice(1)),
      );
      claim(world);
      assert.match(refusedText(as(world, 'bob'), 10, 'lease', 'renew'), /is held by ana@desk/);
      const before = dumpStore(world);
      assert.equal(
        refusedText(later(world, 30), 10, 'lease', 'renew'),
        lines(`stint: The lease of ${key} expired at 2026-03-17T12:30:00.000Z.`, ...claimIt),
      );
      later(world, 30).refusal(10, 'lease', 'renew', ...showing(noonToken));
      assert.deepEqual(dumpStore(world), before);
    });

    test('release gives it back, on record; where nobody holds it nothing changes; somebody else’s only on purpose or when it has run out', (context) => {
      const { world, key } = sessionOf(context, kind);
      const { revision } = world.answer('status');
      claim(world);
      const bob = as(world, 'bob');
      bob.refusal(10, 'lease', 'release');
      assert.equal(say(world, 'lease', 'release'), lines(`${key}: released`));
      const before = dumpStore(world);
      assert.equal(say(world, 'lease', 'release'), lines(`${key}: nobody holds it`));
      assert.deepEqual(bob.answer('lease', 'release'), {
        schema_version: 1,
        session: key,
        session_id: 'held',
        released: false,
        lease: null,
        revision,
      });
      assert.deepEqual(dumpStore(world), before);
      claim(world);
      assert.equal(bob.answer('lease', 'release', '--take-over').released, true);
      claim(world);
      assert.equal(later(bob, 30).answer('lease', 'release').released, true);
      assert.deepEqual(
        leaseEvents(world, key).map((event) => [event.type, event.because, event.by?.actor, event.to?.actor]),
        [
          ['LeaseClaimed', undefined, undefined, undefined],
          ['LeaseReleased', undefined, 'ana@desk', undefined],
          ['LeaseClaimed', undefined, undefined, undefined],
          ['LeaseLost', 'taken over', undefined, 'bob'],
          ['LeaseClaimed', undefined, undefined, undefined],
          ['LeaseLost', 'expired', undefined, 'bob'],
        ],
      );
      bob.answer('advance', second[kind]);
    });

    test('what moves the session is for its holder: everybody else is refused, whatever else would be wrong, counted, and has changed nothing', (context) => {
      const { world, key } = sessionOf(context, kind);
      claim(world);
      const before = { ...dumpStore(world), lease: [] };
      const verbs = [
        ...movingVerbs(world, kind).map((args) => [...args, '--session', 'held']),
        ['begin', kind, '--name', 'held'],
        ['begin', kind, '--name', 'held', '--fresh'],
      ];
      const outcomes = runLines(
        world,
        verbs.map((args) => [...args, '--actor', 'bob', '--json']),
      );
      for (const [index, { status, json: answer }] of outcomes.entries()) {
        const what = `${verbs[index]?.join(' ')}: ${JSON.stringify(answer)}`;
        assert.equal(status, 10, what);
        assert.ok(
          String(answer.error.message).startsWith(`${key} is held by ana@desk on desk (worktree main) since`),
          what,
        );
      }
      assert.deepEqual({ ...dumpStore(world), lease: [] }, before);
      const shown = world.answer('lease', 'show');
      assert.deepEqual([shown.refused, shown.last_refused_at], [verbs.length, noon]);
      // Its holder is told what else is wrong, or gets on.
      for (const args of movingVerbs(world, kind)) assert.notEqual(world.run(...args).status, 10, args.join(' '));
    });

    test('what is written down beside it needs no lease: remarks, processes, sweeps, and what makes things anew', (context) => {
      const { world, key } = sessionOf(context, kind);
      claim(world);
      const bob = as(world, 'bob', { STINT_SESSION: 'held' });
      bob.answer('note', 'a remark');
      const id = startProcess(bob, 'instance');
      for (const args of [
        ['process', 'beat', id],
        ['process', 'bind', id, 'v-1'],
        ['process', 'sweep'],
        ['process', 'end', id],
        ['rebuild'],
        ['doctor', '--fix'],
        ['reconcile'],
        ['next', '--claim'],
      ])
        bob.answer(...args);
      bob.refusal(9, 'process', 'end', id, '--outcome', 'crashed');
      assert.equal(bob.answer('lease', 'show').refused, 0, 'what is wrong with a remark is no matter of the lease');
      assert.equal(leaseEvents(world, key).length, 1);
    });

    test('everybody reads a session that is held, also without naming it, and with whatever token', (context) => {
      const { world } = sessionOf(context, kind);
      claim(world);
      const before = dumpStore(world);
      for (const args of [
        ['status'],
        ['show'],
        ['log'],
        ['timeline'],
        ['list'],
        ['next'],
        ['progress'],
        ['lease', 'show'],
        ['process', 'list'],
        ['doctor'],
      ])
        for (const token of [undefined, '7']) as(world, 'bob', { STINT_LEASE_TOKEN: token }).answer(...args);
      assert.deepEqual(dumpStore(world), before);
    });

    test('whoever shows the token is let in, wherever and whoever it is', (context) => {
      const { world } = sessionOf(context, kind);
      const token = claim(world);
      const elsewhere = as(world, 'bob', { STINT_HOST: 'lap', USER: 'bob' });
      elsewhere.refusal(10, 'advance', second[kind], '--session', 'held');
      elsewhere.answer('lease', 'renew', ...showing(token));
      elsewhere.with({ env: { STINT_LEASE_TOKEN: String(token) } }).answer('advance', second[kind]);
      assert.equal(elsewhere.answer('begin', kind, '--name', 'held', ...showing(token)).resumed, true);
      assert.equal(elsewhere.answer('lease', 'release', ...showing(token)).released, true);
    });

    test('whoever shows an older token writes nothing at all: not while the newer one is held, nor expired, released, or ended with the session', (context) => {
      const { world, key } = sessionOf(context, kind);
      const program = startProcess(world, 'instance');
      const old = claim(world, '--ttl', '10s');
      const bob = as(later(world, 1), 'bob');
      const newer = claim(bob);
      assert.ok(newer > old);
      const verbs = [
        ...movingVerbs(world, kind).map((args) => [...args, '--session', 'held']),
        ['begin', kind, '--name', 'held'],

        ['lease', 'claim', '--session', 'held'],
        ['lease', 'claim', '--session', 'held', '--take-over'],
        ['lease', 'renew', '--session', 'held'],
        ['lease', 'release', '--session', 'held'],
        ['note', 'x', '--session', 'held'],
        ['process', 'start', '--kind', 'instance', '--session', 'held'],
        ['process', 'beat', program],
        ['process', 'bind', program, 'v-1'],
        ['process', 'end', program],
      ];
      const refuseAll = (at: TestWorld, when: string): void => {
        const before = { ...dumpStore(world), lease: [] };
        const outcomes = runLines(
          at,
          verbs.map((args) => [...args, ...showing(old), '--json']),
        );
        for (const [index, outcome] of outcomes.entries()) {
          const what = `${when}: ${verbs[index]?.join(' ')}: ${outcome.stdout}${outcome.stderr}`;
          assert.equal(outcome.status, 10, what);
          assert.ok(
            String(outcome.json.error.message).startsWith(`The lease token ${old} does not count for ${key}:`),
            what,
          );
        }
        assert.deepEqual({ ...dumpStore(world), lease: [] }, before, when);
      };
      refuseAll(later(world, 1), 'held by another one');
      refuseAll(later(world, 600), 'expired as well');
      refuseAll(world, 'the clock went back');
      bob.answer('lease', 'release');
      refuseAll(later(world, 2), 'released');
      later(world, 3).answer('finish', '--abort', '--session', 'held');
      refuseAll(later(world, 4), 'closed');
      later(world, 5).answer('note', 'without a token', '--session', 'held');
    });

    test('take-over is explicit, with a claim, with begin or with the verb itself, and stands on the record of both sides', (context) => {
      const { world, key } = sessionOf(context, kind);
      const takes: readonly (readonly [string, readonly string[]])[] = [
        ['bob', ['lease', 'claim', '--take-over']],
        ['eve', ['begin', kind, '--name', 'held', '--take-over']],
        ['ana@desk', ['advance', second[kind], '--take-over']],
        ['bob', ['finish', '--abort', '--take-over']],
      ];
      const tokens = [claim(world)];
      const { revision } = world.answer('status');
      let holder = 'ana@desk';
      for (const [actor, args] of takes) {
        const answer = as(world, actor).answer(...args);
        const [lost, claimed] = leaseEvents(world, key).slice(args[0] === 'finish' ? -3 : -2);
        assert.deepEqual(
          { ...lost, holder: placeless(lost.holder), to: placeless(lost.to) },
          {
            type: 'LeaseLost',
            token: tokens.at(-1),
            holder: onRecord(holder),
            because: 'taken over',
            to: onRecord(actor),
          },
        );
        assert.deepEqual(
          [claimed.type, claimed.holder.actor, claimed.after.token, claimed.after.holder.actor],
          ['LeaseClaimed', actor, tokens.at(-1), holder],
        );
        assert.ok(claimed.token > (tokens.at(-1) ?? 0));
        if (args[0] === 'lease')
          assert.deepEqual(answer.after, { holder, token: tokens.at(-1), because: 'taken over' });
        else {
          const [token, expires] = args[0] === 'finish' ? [null, null] : [claimed.token, claimed.expires_at];
          const told = { session: key, from: holder, lease_token: token, lease_expires_at: expires };
          assert.deepEqual(answer.taken_over, [told], 'what ends with it is not promised');
        }
        if (args[0] === 'begin') assert.equal(answer.revision, revision, 'nothing but its holder has changed');
        tokens.push(claimed.token);
        holder = actor;
      }
      assert.equal(world.answer('status', 'held').lease, null, 'who closes it has no use for it any more');
      assertSound(world);
    });

    test('nobody’s and one’s own lease are not taken over: the flag changes nothing then', (context) => {
      const { world, key } = sessionOf(context, kind);
      assert.equal(world.answer('advance', second[kind], '--take-over').taken_over, undefined);
      assert.deepEqual(leaseEvents(world, key), []);
      const token = claim(world, '--take-over');
      assert.equal(claim(later(world, 1), '--take-over'), token);
      assert.equal(leaseEvents(world, key).length, 1);
    });

    test('whoever was named with the claim and is gone is replaced at once, from its own machine alone', async (context) => {
      const { world, key } = sessionOf(context, kind);
      const program = await startProgram(context);
      claim(world, '--pid', String(program.pid));
      const bob = as(world, 'bob');
      bob.refusal(10, 'lease', 'claim');
      await program.kill();
      const far = as(world, 'eve', { STINT_HOST: 'lap' });
      assert.match(far.refusal(10, 'lease', 'claim').message, /whether it is alive is not known\.$/);
      assert.equal(far.answer('lease', 'show').state, 'active');
      assert.equal(world.answer('lease', 'show').state, 'stale');
      assert.match(say(world, 'list'), /interrupted/);
      assert.match(say(bob, 'status'), /^then: Claim it: the process of ana@desk on desk is gone/m);
      const refusal = bob.refusal(10, 'advance', second[kind], '--session', 'held');
      assert.match(refusal.message, /its process is gone\.$/);
      assert.equal(refusal.hint, `stint lease claim --session ${key}`);
      const claimed = bob.answer('lease', 'claim');
      assert.deepEqual(claimed.after, { holder: 'ana@desk', token: noonToken, because: 'gone' });
      bob.answer('advance', second[kind]);
      world.refusal(10, 'lease', 'claim', '--pid', String(process.pid));
      assert.equal(bob.refusal(4, 'lease', 'claim', '--pid', '4194303').code, 'not-found', 'who is gone holds nothing');
    });

    test('a process that has ended on record has let go; while it runs its heartbeat renews the lease that was claimed with it', (context) => {
      const { world, key } = sessionOf(context, kind);
      const id = startProcess(world, 'supervisor', '--role', 'lead');
      const other = startProcess(world, 'instance');
      const lead = world.with({ env: { STINT_PROCESS: id } });
      assert.equal(lead.answer('lease', 'claim', '--ttl', '10m').process, id);
      later(world, 4).answer('process', 'beat', other);
      assert.equal(world.answer('lease', 'show').renewed_at, null, 'somebody else’s heartbeat says nothing');
      later(lead, 5).answer('process', 'beat');
      const { renewed_at: renewed, expires_at: expires } = world.answer('lease', 'show');
      assert.deepEqual([renewed, expires], ['2026-03-17T12:05:00.000Z', '2026-03-17T12:15:00.000Z']);
      later(lead, 15).answer('process', 'beat');
      assert.equal(world.answer('lease', 'show').renewed_at, renewed, 'what has expired is not brought back');
      const bob = as(later(world, 6), 'bob');
      bob.refusal(10, 'lease', 'claim');
      later(lead, 6).answer('process', 'end');
      assert.equal(bob.answer('lease', 'claim').after.because, 'gone');
      assert.equal(
        later(lead, 7).refusal(5, 'lease', 'claim').code,
        'illegal-transition',
        'and holds nothing any more',
      );
      assert.equal(leaseEvents(world, key).length, 3);
    });

    test('begin, and every verb that finds its session by itself, does not go on beside the holder; begin --read-only shows it', (context) => {
      const { world, key } = sessionOf(context, kind);
      const bob = as(world, 'bob');
      claim(world, '--purpose', 'round 1');
      const before = { ...dumpStore(world), lease: [] };
      const held = `stint: ${key} is held by ana@desk on desk (worktree main) since ${noon} until 2026-03-17T12:30:00.000Z, for: round 1; whether it is alive is not known.\n`;
      const joining = [
        ['begin', kind],
        ['note', 'x'],
        ['process', 'start', '--kind', 'instance'],
        ['advance', second[kind]],
        ['finish', '--abort'],
      ];
      for (const args of joining) assert.ok(refusedText(bob, 10, ...args).startsWith(held), args.join(' '));
      assert.equal(world.answer('lease', 'show').refused, joining.length, 'each of them is counted');
      bob.refusal(10, 'note', 'x', '--dry-run');
      assert.equal(world.answer('lease', 'show').refused, joining.length, 'who only asks is not');
      assert.deepEqual({ ...dumpStore(world), lease: [] }, before);

      const looked = bob.answer('begin', kind, '--name', 'held', '--read-only');
      assert.deepEqual([looked.read_only, looked.resumed, looked.lease.holder], [true, true, 'ana@desk']);
      assert.match(
        say(bob, 'begin', kind, '--read-only'),
        new RegExp(`^held by ana@desk on desk until .*\nnot gone on with {2}${key}: .*\nnext: stint lease show `),
      );
      assert.deepEqual({ ...dumpStore(world), lease: [] }, before);
      bob.refusal(2, 'begin', kind, '--read-only', '--fresh');
      bob.refusal(4, 'begin', kind, '--name', 'nobody', '--read-only');

      bob.answer('note', 'x', '--take-over');
      assert.equal(leaseEvents(world, key).length, 1, 'a remark needs no lease, and takes none');
      const id = startProcess(bob, 'instance', '--session', 'held');
      bob.with({ env: { STINT_PROCESS: id } }).answer('note', 'who works there is no stranger');
      world.answer('begin', kind);
      world.answer('note', 'its holder');
    });

    test('the end of the session ends the lease, and who begins it again claims it anew, with a token that has grown', (context) => {
      const { world, key } = sessionOf(context, kind);
      const first = claim(world);
      world.answer('finish', '--abort', '--session', 'held');
      assert.equal(world.answer('lease', 'show', 'held').state, 'none');
      assert.equal(world.refusal(5, 'lease', 'claim', '--session', 'held').code, 'illegal-transition');
      world.refusal(10, 'lease', 'renew', '--session', 'held');
      assert.deepEqual(
        leaseEvents(world, key).map(({ type }) => type),
        ['LeaseClaimed', 'LeaseReleased'],
      );
      const bob = as(world, 'bob');
      bob.answer('begin', kind, '--name', 'held');
      assert.ok(claim(bob) > first);
    });

    test('a token grows whatever the clock does, and through release, take-over, expiry and a rebuild', (context) => {
      const { world } = sessionOf(context, kind);
      const back = later(world, -60);
      const steps: readonly (() => number)[] = [
        () => claim(world),
        () => (world.answer('lease', 'release'), claim(world)),
        () => (back.answer('lease', 'release'), claim(back)),
        () => claim(as(back, 'bob'), '--take-over'),
        () => claim(as(later(world, 600), 'eve')),
        () => (world.answer('rebuild'), claim(as(back, 'bob'), '--take-over')),
      ];
      const tokens = steps.map((step) => step());
      assert.deepEqual(
        tokens,
        [...new Set(tokens)].toSorted((a, b) => a - b),
      );
      assert.equal(tokens[4], noonToken + 600 * 60_000, 'it is the time where that is later');
    });

    test('a session is left alone by reconcile while somebody holds it', (context) => {
      const { world, key } = sessionOf(context, kind);
      const weeks = later(world, 14 * 24 * 60);
      later(world, 5 * 24 * 60).answer('lease', 'claim', '--ttl', '7d');
      later(world, 11 * 24 * 60).answer('lease', 'renew', '--ttl', '7d');
      assert.deepEqual(weeks.answer('reconcile').closed, []);
      assert.deepEqual(as(weeks, 'bob').answer('reconcile', '--days', '1').closed, []);
      const after = later(world, 18 * 24 * 60);
      assert.deepEqual(
        listOf(after.answer('reconcile').closed).map((one) => one.session),
        [key],
      );
    });

    test('a preview claims, renews and releases nothing, and counts nobody', (context) => {
      const { world } = sessionOf(context, kind);
      assert.equal(world.answer('lease', 'claim', '--dry-run').dry_run, true);
      assert.equal(world.answer('lease', 'show').state, 'none');
      claim(world);
      const before = dumpStore(world);
      later(world, 1).answer('lease', 'renew', '--dry-run');
      world.answer('lease', 'release', '--dry-run');
      const bob = as(world, 'bob');
      assert.equal(bob.answer('lease', 'claim', '--take-over', '--dry-run').after.holder, 'ana@desk');
      bob.answer('advance', second[kind], '--take-over', '--dry-run', '--session', 'held');
      bob.refusal(10, 'advance', second[kind], '--dry-run', '--session', 'held');
      assert.deepEqual(dumpStore(world), before);
    });
  });

test('a lease lasts from ten seconds to seven days: everything else is no time for it', (context) => {
  const { world } = sessionOf(context, 'review');
  const verbs = ['claim', 'renew'] as const;
  for (const ttl of ['10s', '1m', '7d', '168h', '604800s']) world.answer('lease', 'claim', '--ttl', ttl, '--dry-run');
  claim(world, '--ttl', '10s');
  world.answer('lease', 'renew', '--ttl', '7d', '--dry-run');
  const before = dumpStore(world);
  const wrong = ['9s', '0s', '7.5d', '8d', '169h', '604801s', '-1m', '10', '10 s', '1w', '', '1e9s'];
  const outcomes = runLines(
    world,
    wrong.flatMap((ttl) => verbs.map((verb) => ['lease', verb, `--ttl=${ttl}`, '--json'])),
  );
  for (const { status, stdout } of outcomes) assert.equal(status, 2, stdout);
  assert.equal(
    world.refusal(2, 'lease', 'claim', '--ttl', '9s').message,
    'lease claim: ttl expected a number with s, m, h or d, from 10s to 7d.',
  );
  assert.deepEqual(dumpStore(world), before);
  as(later(world, 9 / 60), 'bob').refusal(10, 'lease', 'claim');
  claim(as(later(world, 10 / 60), 'bob'));
});

test('one actor in two worktrees is two holders, in two shells of one worktree one', (context) => {
  const { world } = sessionOf(context, 'review');
  world.git('worktree', 'add', '-q', '../other');
  const other = world.with({ cwd: join(world.root, 'other') });
  claim(world);
  const { message } = other.refusal(10, 'advance', 'change-context', '--session', 'held');
  assert.match(message, /^review:held is held by ana@desk on desk \(worktree main\)/);
  other.refusal(10, 'lease', 'claim', '--session', 'held');
  world.with({ env: { SHLVL: '2', TERM: 'xterm' }, cwd: world.path('.git') }).run('status');
  world.write('src/deep/file', '');
  world.with({ cwd: world.path('src/deep') }).answer('advance', 'change-context');
  assert.equal(other.answer('lease', 'show', 'held').mine, false);
  assert.equal(world.answer('lease', 'show', 'held').mine, true);
});

test('one actor in two conversations of an agent is two holders, also in one worktree; a conversation is one holder in both', (context) => {
  const { world } = sessionOf(context, 'review');
  world.git('worktree', 'add', '-q', '../other');
  const other = join(world.root, 'other');
  for (const name of ['STINT_AGENT_SESSION', 'CLAUDE_CODE_SESSION_ID', 'CODEX_THREAD_ID']) {
    const first = as(world, 'agent', { [name]: 'one' });
    const two = as(world, 'agent', { [name]: 'two' });
    assert.equal(first.answer('lease', 'claim').agent_session, 'one', name);
    assert.match(
      two.refusal(10, 'lease', 'claim').message,
      /^review:held is held by agent on desk \(worktree main, conversation one\)/,
    );
    as(world, 'agent').refusal(10, 'lease', 'claim');
    assert.equal(first.with({ cwd: other }).answer('lease', 'claim', '--session', 'held').renewed, true, name);
    first.answer('lease', 'release');
  }
  // Who is named after the conversation is not told twice which one it is.
  const named = world.with({ env: { CLAUDE_CODE_SESSION_ID: 'abc' } });
  named.answer('lease', 'claim');
  assert.match(
    world.refusal(10, 'lease', 'claim').message,
    /^review:held is held by claude-code\/abc on desk \(worktree main\)/,
  );
});

test('another user, another machine and another actor are other holders', (context) => {
  const { world } = sessionOf(context, 'review');
  const ana = as(world, 'ana');
  claim(ana);
  for (const other of [as(world, 'bob'), as(world, 'ana', { USER: 'bob' }), as(world, 'ana', { STINT_HOST: 'lap' })])
    other.refusal(10, 'lease', 'claim');
  assert.equal(ana.answer('lease', 'claim').renewed, true);
});

test('the token of the environment counts as the one of the flag, which wins; one that is none is refused', (context) => {
  const { world } = sessionOf(context, 'review');
  const token = claim(world);
  const bob = as(world, 'bob', { STINT_LEASE_TOKEN: String(token) });
  bob.answer('advance', 'change-context');
  bob.refusal(10, 'note', 'x', ...showing(token - 1));
  as(world, 'bob', { STINT_LEASE_TOKEN: '7' }).answer('note', 'x', ...showing(token));
  as(world, 'bob', { STINT_LEASE_TOKEN: '' }).refusal(10, 'advance', 'analysis', '--session', 'held');
  for (const wrong of ['newest', '0', '-1', '1.5', '12345678901234567', '9007199254740993']) {
    const given = as(world, 'bob', { STINT_LEASE_TOKEN: wrong });
    for (const args of [
      ['note', 'x'],
      ['next', '--claim'],
      ['begin', 'review'],
    ])
      assert.equal(given.refusal(2, ...args).message, 'STINT_LEASE_TOKEN is no lease token.', wrong);
    for (const args of [
      ['status'],
      ['next'],
      ['begin', 'review', '--read-only'],
      ['lease', 'show'],
      ['doctor'],
      ['rebuild'],
    ])
      given.answer(...args);
    given.answer('note', 'the flag is enough', ...showing(token));
  }
  for (const wrong of ['newest', '1.5', '9007199254740993', '-9007199254740993'])
    assert.equal(
      bob.refusal(2, 'note', 'x', '--lease-token', wrong).message,
      'note: --lease-token takes a whole number.',
    );
});

test('a claim that comes again under its request id is answered with what was answered then, and gives nobody the lease back', (context) => {
  const { world, key } = sessionOf(context, 'review');
  const first = world.answer('lease', 'claim', '--ttl', '10s', '--request-id', 'r');
  const bob = as(later(world, 1), 'bob');
  const newer = claim(bob);
  const again = later(world, 2).answer('lease', 'claim', '--ttl', '10s', '--request-id', 'r');
  assert.deepEqual(again, { ...first, replayed: true });
  later(world, 2).refusal(10, 'advance', 'change-context', '--session', 'held', ...showing(first.token));
  assert.equal(bob.answer('lease', 'show').token, newer);
  assert.equal(leaseEvents(world, key).length, 3);
});

test('a rebuild keeps the holder, what was renewed, and the newest token', (context) => {
  const { world } = sessionOf(context, 'review');
  claim(world, '--ttl', '10m');
  later(world, 5).answer('lease', 'renew');
  const shown = later(world, 6).answer('lease', 'show');
  world.answer('rebuild');
  assert.deepEqual(later(world, 6).answer('lease', 'show'), shown);
  world.answer('lease', 'release');
  world.answer('rebuild');
  as(world, 'bob').refusal(10, 'note', 'x', ...showing(noonToken - 1));
  assert.ok(claim(world) > noonToken);
});

test(
  'a refusal that cannot be counted, because the disk is full, is the same refusal',
  { skip: fileOnly },
  (context) => {
    const { world } = sessionOf(context, 'review');
    claim(world);
    for (const args of [
      ['begin', 'review'],
      ['note', 'x'],
      ['finish', '--abort', '--session', 'held'],
    ]) {
      const refused = runLimited(as(world, 'bob'), 40, ...args);
      assert.equal(refused.status, 10, `${args.join(' ')}: ${refused.stderr}`);
      assert.match(refused.stderr, /^stint: review:held is held by ana@desk /);
    }
    assert.equal(world.answer('lease', 'show').refused, 0);
    assertSound(world);
  },
);

test('a list says who holds a session now, and of one whose holder is late or gone what else is known', async (context) => {
  const { world } = sessionOf(context, 'review');
  const program = await startProgram(context);
  claim(world, '--pid', String(program.pid), '--ttl', '10m');
  startProcess(world, 'instance');
  const stateOf = (at: TestWorld): readonly unknown[] => {
    const [row] = at.answer('list').sessions;
    return [row.held_by, row.activity, say(at, 'list').split('\n')[1]?.split('  ')[1]];
  };
  assert.deepEqual(stateOf(world), ['ana@desk', 'running', 'held by ana@desk']);
  assert.deepEqual(stateOf(later(world, 11)), [null, 'running', 'running']);
  later(world, 9).answer('lease', 'renew');
  assert.deepEqual(stateOf(later(world, 11)), ['ana@desk', 'running', 'held by ana@desk']);
  await program.kill();
  assert.deepEqual(stateOf(later(world, 11)), [null, 'running', 'running']);
});

test('a verb about several sessions leaves out none because of a lease that is not concerned', async (context) => {
  const { world } = sessionOf(context, 'review');
  world.answer('begin', 'map', '--name', 'other');
  const program = await startProgram(context);
  startProcess(world, 'instance', '--pid', String(program.pid), '--session', 'other');
  await program.kill();
  claim(world, '--session', 'review:held');
  assert.equal(listOf(as(world, 'bob').answer('process', 'sweep').swept).length, 1);
});

test('the token of one session is no reason to leave out others: sweep, reconcile and import are about all of them', async (context) => {
  const { world } = sessionOf(context, 'review');
  world.answer('begin', 'map', '--name', 'other');
  const program = await startProgram(context);
  startProcess(world, 'instance', '--pid', String(program.pid), '--session', 'other');
  await program.kill();
  // Both have tokens of their own.
  claim(world, '--session', 'map:other');
  world.answer('lease', 'release', '--session', 'map:other');
  const token = claim(later(world, 1), '--session', 'review:held', '--ttl', '7d');
  const holder = world.with({ env: { STINT_LEASE_TOKEN: String(token) } });
  assert.deepEqual(
    listOf(holder.answer('process', 'sweep').swept).map((one) => one.session),
    ['map:other'],
  );
  later(holder, 6 * 24 * 60).answer('lease', 'renew', '--session', 'review:held');
  assert.deepEqual(
    listOf(later(holder, 8 * 24 * 60).answer('reconcile').closed).map((one) => one.session),
    ['map:other'],
  );
  world.write('.ocr/sessions/older/rounds/round-1/final.md', '# Old');
  world.write('.ocr/sessions/other/map/runs/run-1/map.md', '# Old');
  const { sessions } = holder.answer('import', 'review');
  assert.deepEqual(
    listOf(sessions)
      .filter(({ result }) => result === 'imported')
      .map((one) => one.session),
    ['review:older'],
  );
});

test('whoever takes over is told whose lease it was, and the token of the new one, or that it ended with that', (context) => {
  const { world, key } = sessionOf(context, 'review');
  const bob = as(world, 'bob');
  const first = claim(world);
  const told = (from: string, token: number): string =>
    `the lease of ${key} was taken over from ${from}: yours until 2026-03-17T12:30:00.000Z, token ${token}`;
  assert.equal(
    say(bob, 'advance', 'change-context', '--take-over'),
    lines(
      `${key}: change-context (2/8), round 1 (open_no_artifact)`,
      `next: stint advance analysis --session ${key}`,
      told('ana@desk', first + 1),
    ),
  );
  assert.equal(
    say(world, 'begin', 'review', '--take-over'),
    lines(
      `goes on  ${key}: change-context (2/8), round 1 (open_no_artifact)`,
      `next: stint advance analysis --session ${key}`,
      told('bob', first + 2),
    ),
  );
  assert.equal(
    say(bob, 'finish', '--abort', '--take-over'),
    lines(
      `aborted  ${key}: change-context (2/8), round 1 (closed_without_artifact)`,
      'next: stint begin review --name held',
      `the lease of ${key} was taken over from ana@desk: it ended with that`,
    ),
  );
  world.answer('begin', 'review', '--name', 'held');
  const last = claim(world, '--session', 'held');
  bob.refusal(10, 'begin', 'review', '--name', 'held', '--fresh');
  const fresh = bob.answer('begin', 'review', '--name', 'held', '--fresh', '--take-over');
  assert.deepEqual(
    [fresh.session, fresh.aborted, fresh.taken_over],
    ['review:held-2', key, [{ session: key, from: 'ana@desk', lease_token: null, lease_expires_at: null }]],
  );
  assert.deepEqual(
    leaseEvents(world, key)
      .slice(-3)
      .map(({ type, token }) => [type, token]),
    [
      ['LeaseLost', last],
      ['LeaseClaimed', last + 1],
      ['LeaseReleased', last + 1],
    ],
  );
  assert.equal(
    refusedText(world, 2, 'lease', 'renew', '--take-over', '--session', 'held-2'),
    lines('stint: lease renew: --take-over takes nothing over here.', '  try: stint lease claim --take-over'),
  );
  assertSound(world);
});

test('what a refusal of a lease suggests can be run as it stands, in the store that was named', async (context) => {
  const world = createWorld(context);
  const elsewhere = ['--store', 'other store.db'];
  world.answer('begin', 'review', '--name', 'held', ...elsewhere);
  const program = await startProgram(context);
  const bob = as(world, 'bob');
  const named = ['--session', 'held', ...elsewhere];
  const suggested = new Set<string>();
  const refuse = (at: TestWorld, isHeld: boolean, ...args: readonly string[]): void => {
    const error = at.refusal(10, ...args);
    assert.deepEqual([error.retryable, error.lease?.holder], isHeld ? [true, 'ana@desk'] : [false, undefined]);
    for (const text of [error.hint, ...listOf(error.legal)]) {
      assert.match(text, /^stint [a-z].* --store 'other store\.db'$/, args.join(' '));
      suggested.add(text);
    }
  };
  const refuseAll = (): void => {
    for (const args of [
      ['advance', 'change-context', ...named],
      ['lease', 'renew', ...named],
      ['begin', 'review', '--name', 'held', ...elsewhere],
      ['note', 'x', ...elsewhere],
    ])
      refuse(bob, true, ...args);
  };
  refuse(bob, false, 'lease', 'renew', ...named);
  const token = claim(world, '--pid', String(program.pid), ...named);
  refuseAll();
  refuse(bob, true, 'lease', 'claim', ...named);
  refuse(later(world, 30), false, 'lease', 'renew', ...named);
  refuse(bob, false, 'note', 'x', ...showing(token - 1), ...named);
  await program.kill();
  refuseAll();
  assert.deepEqual(
    [...suggested].toSorted(),
    ['lease claim', 'lease claim --take-over', 'lease show', 'note TEXT'].map(
      (words) => `stint ${words} --session review:held --store 'other store.db'`,
    ),
  );
  for (const text of suggested) {
    const shell = spawnSync('sh', ['-c', text.replace('stint', '"$0" "$1"'), process.execPath, command], {
      cwd: world.project,
      env: bob.env,
      encoding: 'utf8',
    });
    assert.deepEqual([shell.status, shell.stderr], [0, ''], text);
  }
});

test(
  'options of a call that are not legal are refused as such, and change nothing',
  { skip: fileOnly },
  async (context) => {
    const { world } = sessionOf(context, 'review');
    const opened = openStint({ cwd: world.project, actor: 'ana', host: 'desk', now: () => noon });
    assert.ok(opened.ok);
    context.after(opened.value.close);
    const before = dumpStore(world);
    const line = 'a text of 1 to 200 characters without control characters';
    const wrong: readonly (readonly [name: string, value: unknown, expected: string])[] = [
      ...['actor', 'session', 'process', 'agent'].flatMap((name) =>
        [null, 7, '', 'a\ud800', 'a\nb', 'x'.repeat(201)].map((value) => [name, value, line] as const),
      ),
      ...[null, '7', 1.5, 2 ** 53, Number.NaN].flatMap((value) =>
        ['leaseToken', 'expectRevision'].map((name) => [name, value, 'a whole number'] as const),
      ),
      ...[null, 'no', 0].flatMap((value) =>
        ['takeOver', 'dryRun', 'redact'].map((name) => [name, value, 'true or false'] as const),
      ),
      ...[null, '', 'x y', 'x'.repeat(201)].map(
        (value) => ['requestId', value, '1 to 200 visible ASCII characters'] as const,
      ),
      ['user', 'ana', 'a function'],
      ...['lease_token', 'toString', 'constructor', '__proto__'].map(
        (name) => [name, 'x', 'an option of a call'] as const,
      ),
    ];
    for (const [name, value, expected] of wrong)
      for (const [verb, input] of [
        ['note', { text: 'x' }],
        ['status', {}],
      ] as const) {
        const call = JSON.parse(`{${JSON.stringify(name)}: 0}`);
        Object.defineProperty(call, name, { value, enumerable: true });
        const answer = await opened.value.run(verb, input, call);
        assert.deepEqual(
          answer.ok ? answer.value : answer.error.refusal,
          { code: 'usage', message: `The option ${name} of the call is not legal.`, retryable: false, expected },
          `${verb}, ${name}: ${String(value)}`,
        );
      }
    assert.deepEqual(dumpStore(world), before);
    const longest = { actor: '\u{1F525}'.repeat(200), agent: 'x'.repeat(200), process: undefined };
    assert.ok((await opened.value.run('note', { text: 'x' }, longest)).ok);
  },
);

test(
  'the library shows tokens, names conversations and takes over as the command line does',
  { skip: fileOnly },
  async (context) => {
    const { world } = sessionOf(context, 'review');
    const opened = openStint({ cwd: world.project, actor: 'ana', host: 'desk', now: () => noon });
    assert.ok(opened.ok);
    context.after(opened.value.close);
    const { run } = opened.value;
    const claimed = await run('lease claim', { session: 'held' }, { agent: 'one' });
    assert.ok(claimed.ok);
    const token = Number(claimed.value['token']);
    const codeOf = async (...call: Parameters<typeof run>): Promise<string> => {
      const answer = await run(...call);
      return answer.ok ? 'ok' : answer.error.refusal.code;
    };
    const advance = { phase: 'change-context', session: 'held' };
    assert.equal(await codeOf('advance', advance), 'lease');
    assert.equal(await codeOf('advance', advance, { agent: 'two' }), 'lease');
    assert.equal(await codeOf('advance', advance, { agent: 'one' }), 'ok');
    assert.equal(await codeOf('note', { text: 'x', session: 'held' }, { leaseToken: token - 1 }), 'lease');
    assert.equal(await codeOf('advance', { ...advance, phase: 'analysis' }, { leaseToken: token }), 'ok');
    assert.equal(await codeOf('advance', { ...advance, phase: 'reviews' }, { takeOver: true }), 'ok');
    assert.equal(await codeOf('lease renew', { session: 'held' }, { leaseToken: token }), 'lease');
    const status = assertAnswer(world.run('status', 'held', '--json'), 'status');
    assert.deepEqual([status.lease.holder, status.lease.agent_session], ['ana', null]);
  },
);
