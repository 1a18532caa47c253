import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Result } from '../lib/result.ts';
import type { DecidedEvent, StoredEvent } from './event.ts';
import {
  claimFromData,
  endedWith,
  foldLease,
  holderToData,
  isHeld,
  leaseToJson,
  lossOfClaim,
  observeSign,
  refuseFenced,
  standingOfClaim,
  type Claim,
  type Holder,
  type LeaseFacts,
  type LeaseState,
  type Renewal,
} from './lease.ts';
import {
  claimToData,
  decideClaim,
  decideRelease,
  decideRenew,
  nextToken,
  renewalBy,
  takeOver,
  type ClaimWish,
} from './lease-rules.ts';
import type { Refusal } from './refusal.ts';

const noon = Date.parse('2026-03-17T12:00:00.000Z');

/** The time so many seconds after noon. */
const at = (seconds: number): string => new Date(noon + seconds * 1000).toISOString();

const minutes = 60;
const halfAnHour = 30 * minutes * 1000;

const person = (actor: string, more: Partial<Holder> = {}): Holder => ({
  actor,
  agent: null,
  host: 'desk',
  user: 'u',
  place: 'here',
  worktree: 'main',
  ...more,
});

const ana = person('ana');
const bob = person('bob');

/** A program of this machine that was named with a claim. */
const program = (pid: number): NonNullable<Claim['sign']> => ({
  process: null,
  host: 'desk',
  hostId: 'desk.boot',
  pid,
  pidStart: '1',
});

/** The claim of ana at noon, for half an hour. */
const claimed = (more: Partial<Claim> = {}): Claim => ({
  token: noon,
  holder: ana,
  purpose: null,
  claimedAt: at(0),
  expiresAt: at(30 * minutes),
  sign: null,
  ...more,
});

/** What is known a minute after noon, while ana holds it. */
const given = (more: Partial<LeaseFacts> = {}): LeaseFacts => ({
  key: 'review:a',
  claim: claimed(),
  token: noon,
  renewal: undefined,
  now: at(60),
  observe: () => 'unknown',
  shown: undefined,
  ...more,
});

const unclaimed = { claim: null, token: 0 } as const;

const wish = (holder: Holder, more: Partial<ClaimWish> = {}): ClaimWish => ({
  holder,
  purpose: null,
  ttl: halfAnHour,
  sign: null,
  ...more,
});

const valueOf = <Value>(decided: Result<Value, Refusal>): Value => {
  assert.ok(decided.ok, decided.ok ? '' : decided.error.message);
  return decided.value;
};

const refusalOf = (decided: Result<unknown, Refusal>): Refusal => {
  assert.ok(!decided.ok, 'it is refused');
  assert.equal(decided.error.code, 'lease');
  return decided.error;
};

const claim = (facts: LeaseFacts, by: ClaimWish, takesOver = false) => decideClaim(facts, by, { takeOver: takesOver });

const release = (facts: LeaseFacts, by: Holder, takesOver = false) => decideRelease(facts, by, { takeOver: takesOver });

/** An event as it is stored, as far as a lease has use for it. */
const stored = ({ type, data }: Pick<DecidedEvent, 'type' | 'data'>, now: string): StoredEvent => ({
  session: 'review:a',
  seq: 1,
  type,
  v: 1,
  at: now,
  actor: 'x',
  place: 'here',
  cause: 'c',
  data,
  hash: '',
});

const fold = (before: LeaseState, events: readonly DecidedEvent[], now: string): LeaseState =>
  events.reduce((state, event) => foldLease(state, stored(event, now)), before);

const typesOf = (events: readonly DecidedEvent[]): readonly string[] => events.map(({ type }) => type);

suite('a token', () => {
  test('is the time in milliseconds, or one more than the last one where that is later', () => {
    assert.equal(nextToken(0, at(0)), noon);
    assert.equal(nextToken(noon - 1, at(0)), noon);
    assert.equal(nextToken(noon, at(0)), noon + 1, 'twice in a millisecond');
    assert.equal(nextToken(noon, at(-3600)), noon + 1, 'a clock that went back');
  });
});

suite('how a claim stands', () => {
  test('it is live until the moment at which it expires', () => {
    const stands = (now: string): string => standingOfClaim(claimed(), undefined, now).state;
    assert.deepEqual(
      [stands(at(0)), stands(at(30 * minutes - 0.001)), stands(at(30 * minutes))],
      ['live', 'live', 'expired'],
    );
  });

  test('a renewal counts for its own token, and for no other', () => {
    const renewal: Renewal = { token: noon, at: at(60), expiresAt: at(7200) };
    assert.deepEqual(standingOfClaim(claimed(), renewal, at(3600)), {
      state: 'live',
      at: at(60),
      expiresAt: at(7200),
    });
    const other = { ...renewal, token: noon - 1 };
    assert.equal(standingOfClaim(claimed(), other, at(3600)).state, 'expired');
    const earlier = { ...renewal, at: at(-1) };
    assert.equal(
      standingOfClaim(claimed(), earlier, at(3600)).state,
      'live',
      'also by a clock that went back a little',
    );
    const shorter = { ...renewal, expiresAt: at(70) };
    assert.equal(standingOfClaim(claimed(), shorter, at(70)).state, 'expired', 'it may also be for less');
  });

  test('a claim or a renewal from more than two minutes ahead counts for nothing; up to there it holds', () => {
    const from = (seconds: number): Claim => claimed({ claimedAt: at(seconds), expiresAt: at(seconds + 600) });
    const stands = (one: Claim, renewal?: Renewal): string => standingOfClaim(one, renewal, at(0)).state;
    assert.deepEqual([stands(from(30)), stands(from(120)), stands(from(120.001))], ['live', 'live', 'ahead']);
    assert.equal(stands(claimed(), { token: noon, at: at(121), expiresAt: at(721) }), 'ahead');
    assert.equal(isHeld(given({ claim: from(121), now: at(0) })), false);
    assert.equal(isHeld(given({ claim: from(120), now: at(0) })), true);
  });
});

suite('the fold', () => {
  const before: LeaseState = { lease: null, token: 5 };

  test('given a claim, it is there with everything that was said, and its token is the newest', () => {
    const full = claimed({
      holder: person('ana', { agent: 'conversation-1' }),
      purpose: 'round 2',
      sign: { ...program(7), process: 'p1' },
    });
    for (const one of [full, claimed()]) {
      const after = foldLease(before, stored({ type: 'LeaseClaimed', data: claimToData(one) }, at(0)));
      assert.deepEqual(after, { lease: one, token: one.token });
    }
  });

  test('given an older token than the newest one, the newest one stays what it is', () => {
    const after = foldLease(
      { lease: null, token: noon + 7 },
      stored({ type: 'LeaseClaimed', data: claimToData(claimed()) }, at(0)),
    );
    assert.equal(after.token, noon + 7);
  });

  test('given that it was released or lost, nobody holds it, and the newest token is remembered', () => {
    const held: LeaseState = { lease: claimed(), token: noon };
    for (const type of ['LeaseReleased', 'LeaseLost'])
      assert.deepEqual(foldLease(held, stored({ type, data: {} }, at(60))), { lease: null, token: noon });
    assert.equal(foldLease(held, stored({ type: 'Noted', data: { text: 'x' } }, at(60))), held);
  });

  test('given that the session was saved from damage, nobody holds it, and no token from before counts, whatever the clock says', () => {
    const held: LeaseState = { lease: claimed(), token: noon };
    for (const seconds of [3600, 0, -3600]) {
      const { lease, token } = foldLease(held, stored({ type: 'Salvaged', data: { lost: 'x' } }, at(seconds)));
      assert.equal(lease, null);
      assert.ok(token > noon, `${seconds}: ${token}`);
      assert.ok(token >= noon + seconds * 1000, 'nor one that was handed out later and is lost');
    }
  });

  test('given that the process of the claim has ended, that is known of it; not of one that was cancelled, nor of another', () => {
    const held: LeaseState = { lease: claimed({ sign: { ...program(7), process: 'p1' } }), token: noon };
    const after = (process: string, outcome: string): LeaseState =>
      foldLease(held, stored({ type: 'ProcessEnded', data: { process, outcome } }, at(60)));
    for (const outcome of ['done', 'crashed', 'orphaned'])
      assert.equal(after('p1', outcome).lease?.sign?.hasEnded, true, outcome);
    for (const same of [after('p1', 'cancelled'), after('p2', 'done')]) assert.equal(same, held);
    const unsigned: LeaseState = { lease: claimed(), token: noon };
    const ended = stored({ type: 'ProcessEnded', data: { process: 'p1', outcome: 'done' } }, at(60));
    assert.equal(foldLease(unsigned, ended), unsigned);
  });

  test('given data that are no claim, nobody holds it', () => {
    for (const data of [{}, { ...claimToData(claimed()), token: 'x' }, { token: 1, claimed_at: at(0) }])
      assert.equal(claimFromData(data), null);
  });
});

suite('what can be seen of a holder', () => {
  const look = (seen: 'alive' | 'dead' | 'unknown', hasEnded: boolean): string =>
    observeSign({ ...program(7), process: 'p1', hasEnded }, { observe: () => seen });

  test('given that it is seen, that counts, whatever is on record; given that it is not, the record does', () => {
    assert.deepEqual([look('alive', true), look('dead', false)], ['alive', 'dead']);
    assert.deepEqual([look('unknown', true), look('unknown', false)], ['dead', 'unknown']);
    assert.equal(observeSign(null, { observe: () => 'dead' }), 'unknown', 'nobody was named');
  });

  test('given who is seen alive, only time ends its claim; whose clock was ahead is lost where nobody is seen', () => {
    const when = [at(60), at(30 * minutes), at(-200)];
    const losses = (seen: 'alive' | 'dead' | 'unknown'): readonly unknown[] =>
      when.map((now) => lossOfClaim(claimed({ sign: program(7) }), undefined, now, () => seen));
    assert.deepEqual(losses('alive'), [undefined, 'expired', undefined]);
    assert.deepEqual(losses('dead'), ['gone', 'expired', 'gone']);
    assert.deepEqual(losses('unknown'), [undefined, 'expired', 'its clock was ahead']);
  });
});

suite('the fence', () => {
  const fenced = (facts: LeaseFacts, by: Holder): Refusal | undefined => refuseFenced(facts, () => by);

  test('given a live lease, its holder gets through and nobody else, unless the token is shown', () => {
    assert.equal(fenced(given(), ana), undefined);
    assert.equal(fenced(given(), bob)?.code, 'lease');
    assert.equal(fenced(given({ shown: noon }), bob), undefined);
  });

  test('given one actor in another place, as another user, on another host or in another conversation, it is another holder', () => {
    for (const other of [{ place: 'there' }, { user: 'v' }, { host: 'lap' }, { agent: 'c1' }])
      assert.equal(fenced(given(), person('ana', other))?.code, 'lease', JSON.stringify(other));
    assert.equal(
      fenced(given(), person('ana', { worktree: 'renamed' })),
      undefined,
      'what a worktree is called says nothing',
    );
    const inConversation = given({ claim: claimed({ holder: person('ana', { agent: 'c1' }) }) });
    const moved = { agent: 'c1', place: 'there', host: 'lap', user: 'v' };
    assert.equal(fenced(inConversation, person('ana', moved)), undefined, 'a conversation is one wherever it goes on');
    assert.equal(fenced(inConversation, person('bob', moved))?.code, 'lease');
    assert.equal(fenced(inConversation, person('ana', { agent: 'c2' }))?.code, 'lease');
    assert.equal(fenced(inConversation, ana)?.code, 'lease');
  });

  test('given an older token or a made up one, nobody gets through: not while it is held, nor expired, nor released', () => {
    const facts = [
      given(),
      given({ now: at(3600) }),
      given({ claim: null }),
      given({ claim: claimed({ claimedAt: at(600) }), now: at(0) }),
    ];
    for (const one of facts)
      for (const shown of [noon - 1, noon + 1, 0])
        assert.match(fenced({ ...one, shown }, ana)?.message ?? '', /does not count for/);
    assert.equal(
      fenced(given({ ...unclaimed, shown: 7 }), bob),
      undefined,
      'where none was ever handed out none is older',
    );
  });

  test('given that it has expired, was released or comes from a clock that is ahead, everybody gets through', () => {
    for (const facts of [
      given({ now: at(30 * minutes) }),
      given({ claim: null }),
      given({ claim: claimed({ claimedAt: at(600) }), now: at(0) }),
      given(unclaimed),
    ])
      assert.equal(fenced(facts, bob), undefined);
  });

  test('given a holder that is gone, others are told so, and how to go on; before that, until when to wait', () => {
    const facts = given({ claim: claimed({ sign: program(7), purpose: 'round 1' }) });
    const refusal = fenced({ ...facts, observe: () => 'dead' }, bob);
    assert.equal(
      refusal?.message,
      'review:a is held by ana on desk (worktree main) since 2026-03-17T12:00:00.000Z until 2026-03-17T12:30:00.000Z, for: round 1; its process is gone.',
    );
    assert.equal(refusal?.hint, 'stint lease claim --session review:a');
    const alive = fenced({ ...facts, observe: () => 'alive' }, bob);
    assert.match(alive?.message ?? '', /; it is alive\.$/);
    assert.equal(alive?.hint, 'stint lease show --session review:a');
    const conversation = given({ claim: claimed({ holder: person('ana', { agent: 'c1' }) }) });
    assert.match(fenced(conversation, bob)?.message ?? '', /ana on desk \(worktree main, conversation c1\)/);
  });
});

suite('what a write ends', () => {
  const moved: DecidedEvent = { type: 'Moved', v: 1, data: {} };
  const closed: DecidedEvent = { type: 'SessionClosed', v: 1, data: {} };
  const ended = (facts: LeaseFacts, by: Holder, ...events: readonly DecidedEvent[]) =>
    endedWith(facts, by, events).map(({ type, data }) => [type, data]);

  test('given a claim of somebody else that does not count any more, it is lost, why, and by whom it was found so', () => {
    const lost = (because: string) => [
      ['LeaseLost', { token: noon, holder: holderToData(ana), because, to: holderToData(bob) }],
    ];
    assert.deepEqual(ended(given({ now: at(30 * minutes) }), bob, moved), lost('expired'));
    assert.deepEqual(ended(given({ now: at(30 * minutes) }), bob, closed), lost('expired'));
    assert.deepEqual(ended(given({ now: at(-200) }), bob, moved), lost('its clock was ahead'));
    assert.deepEqual(ended(given({ now: at(30 * minutes) }), bob), [], 'not by a write of nothing');
    assert.deepEqual(ended(given(unclaimed), bob, closed), []);
  });

  test('given one’s own claim, a close gives it back, and nothing else ends it, also after its time', () => {
    for (const now of [at(60), at(30 * minutes)]) {
      assert.deepEqual(ended(given({ now }), ana, moved), []);
      const released = { token: noon, holder: holderToData(ana), by: holderToData(ana) };
      assert.deepEqual(ended(given({ now }), ana, moved, closed), [['LeaseReleased', released]]);
    }
    const byToken = { token: noon, holder: holderToData(ana), by: holderToData(bob) };
    assert.deepEqual(ended(given({ shown: noon }), bob, closed), [['LeaseReleased', byToken]]);
  });
});

suite('a claim', () => {
  test('given nobody, it is the next token, from now on for its time', () => {
    const {
      events,
      claim: made,
      lost,
      renewal,
    } = valueOf(claim(given({ ...unclaimed, token: 7 }), wish(bob, { purpose: 'p', ttl: 10_000, sign: program(3) })));
    assert.deepEqual(made, {
      token: noon + 60_000,
      holder: bob,
      purpose: 'p',
      claimedAt: at(60),
      expiresAt: at(70),
      sign: program(3),
    });
    assert.deepEqual(
      [typesOf(events), events[0]?.data, lost, renewal],
      [['LeaseClaimed'], claimToData(made), null, null],
    );
  });

  test('given its own live lease, the token stays, the time begins anew, and nothing is an event that says nothing new', () => {
    const again = valueOf(claim(given(), wish(ana, { ttl: 10_000 })));
    assert.deepEqual([again.events, again.renewal], [[], { token: noon, at: at(60), expiresAt: at(70) }]);
    const more = valueOf(claim(given(), wish(ana, { purpose: 'now for that' })));
    assert.deepEqual(typesOf(more.events), ['LeaseClaimed']);
    assert.deepEqual(
      [more.claim.token, more.claim.purpose, more.claim.expiresAt],
      [noon, 'now for that', at(31 * minutes)],
    );
    const signed = given({ claim: claimed({ sign: program(7), purpose: 'p' }) });
    assert.deepEqual(valueOf(claim(signed, wish(ana))).events, [], 'what was said before still holds');
    assert.equal(valueOf(claim(signed, wish(ana, { sign: program(8) }))).claim.sign?.pid, 8);
  });

  test('given its own lease, and that whoever was named with it is gone, the next claim does not name them any more', () => {
    const dead = given({
      claim: claimed({ sign: program(7) }),
      observe: ({ sign }) => (sign === null ? 'unknown' : 'dead'),
    });
    const again = valueOf(claim(dead, wish(ana)));
    assert.deepEqual([typesOf(again.events), again.claim.token, again.claim.sign], [['LeaseClaimed'], noon, null]);
  });

  test('given that its token is shown, it stays the lease of who claimed it', () => {
    const again = valueOf(claim(given({ shown: noon }), wish(bob, { purpose: 'p' })));
    assert.deepEqual([again.claim.holder, again.claim.token], [ana, noon]);
  });

  test('given a live lease of somebody else, it is refused; taken over, both sides are on record', () => {
    refusalOf(claim(given(), wish(bob)));
    const { events, lost, claim: made } = valueOf(claim(given(), wish(bob), true));
    assert.deepEqual(
      events.map(({ type, data }) => [type, data]),
      [
        [
          'LeaseLost',
          {
            token: noon,
            holder: { actor: 'ana', host: 'desk', user: 'u', place: 'here', worktree: 'main' },
            because: 'taken over',
            to: { actor: 'bob', host: 'desk', user: 'u', place: 'here', worktree: 'main' },
          },
        ],
        [
          'LeaseClaimed',
          {
            ...claimToData(made),
            after: { token: noon, holder: { actor: 'ana', host: 'desk', user: 'u', place: 'here', worktree: 'main' } },
          },
        ],
      ],
    );
    assert.equal(lost?.loss, 'taken over');
    assert.ok(made.token > noon);
  });

  test('given that the other one has expired, is gone, or came from a clock that is ahead, it is replaced without asking, and the record says why', () => {
    const gone = given({ claim: claimed({ sign: program(7) }), observe: () => 'dead' });
    const ahead = given({
      claim: claimed({ claimedAt: at(900), expiresAt: at(9000), token: noon + 900_000 }),
      token: noon + 900_000,
    });
    for (const [facts, because] of [
      [given({ now: at(30 * minutes) }), 'expired'],
      [gone, 'gone'],
      [ahead, 'its clock was ahead'],
      [{ ...given({ now: at(30 * minutes) }), observe: () => 'dead' } as LeaseFacts, 'expired'],
    ] as const)
      for (const takesOver of [false, true]) {
        const { events, lost, claim: made } = valueOf(claim(facts, wish(bob), takesOver));
        assert.deepEqual([events[0]?.data['because'], lost?.loss], [because, because]);
        assert.ok(made.token > facts.token, 'and the token grows');
      }
    refusalOf(claim({ ...gone, observe: () => 'unknown' }, wish(bob)));
    refusalOf(claim({ ...gone, observe: () => 'alive' }, wish(bob)));
  });

  test('given that its own has expired, it is a new claim with a new token: somebody may have come in between', () => {
    const { events, claim: made } = valueOf(claim(given({ now: at(3600), shown: noon }), wish(ana)));
    assert.deepEqual([typesOf(events), made.token], [['LeaseLost', 'LeaseClaimed'], noon + 3_600_000]);
  });

  test('given an older token, it is refused, also with take-over', () => {
    refusalOf(claim(given({ shown: noon - 1 }), wish(ana), true));
    refusalOf(claim(given({ claim: null, shown: noon - 1 }), wish(bob)));
  });

  test('taking over with another order is a claim for the usual time', () => {
    const { events, claim: made } = takeOver(given(), bob);
    assert.deepEqual(
      [typesOf(events), made.holder, made.expiresAt],
      [['LeaseLost', 'LeaseClaimed'], bob, at(31 * minutes)],
    );
  });
});

suite('a renewal', () => {
  test('given its own live lease, it lasts from now on for as long as before, or as is said', () => {
    const { renewal, events } = valueOf(decideRenew(given(), ana, undefined));
    assert.deepEqual([renewal, events], [{ token: noon, at: at(60), expiresAt: at(31 * minutes) }, []]);
    assert.equal(valueOf(decideRenew(given(), ana, 10_000)).renewal.expiresAt, at(70));
    const renewed = given({ renewal: { token: noon, at: at(30), expiresAt: at(130) } });
    assert.equal(valueOf(decideRenew(renewed, ana, undefined)).renewal.expiresAt, at(160), 'as the last renewal');
    assert.equal(valueOf(decideRenew(given({ shown: noon }), bob, undefined)).renewal.token, noon);
  });

  test('given that its own clock went back, it may go on: by then it ends sooner', () => {
    const { renewal } = valueOf(decideRenew(given({ now: at(-3600) }), ana, undefined));
    assert.deepEqual(renewal, { token: noon, at: at(-3600), expiresAt: at(-30 * minutes) });
  });

  test('given that it has expired, or is nobody’s or somebody else’s, or that the token is older, it is refused', () => {
    assert.equal(
      refusalOf(decideRenew(given({ now: at(30 * minutes) }), ana, undefined)).message,
      'The lease of review:a expired at 2026-03-17T12:30:00.000Z.',
    );
    assert.equal(refusalOf(decideRenew(given({ claim: null }), ana, undefined)).message, 'Nobody holds review:a.');
    assert.match(refusalOf(decideRenew(given(), bob, undefined)).message, /is held by ana/);
    assert.match(refusalOf(decideRenew(given({ shown: noon - 1 }), ana, undefined)).message, /does not count for/);
  });

  test('a sign of life renews the live lease that was claimed with that process, and no other', () => {
    const facts = given({ claim: claimed({ sign: { ...program(7), process: 'p1' } }) });
    assert.deepEqual(renewalBy(facts, 'p1'), { token: noon, at: at(60), expiresAt: at(31 * minutes) });
    assert.equal(renewalBy(facts, 'p2'), undefined);
    assert.equal(renewalBy(given(), 'p1'), undefined);
    assert.equal(renewalBy({ ...facts, now: at(30 * minutes) }, 'p1'), undefined);
  });
});

suite('a release', () => {
  test('given its own, live or expired, or its token, it is on record from whom and by whom', () => {
    for (const facts of [given(), given({ now: at(3600) })])
      assert.deepEqual(typesOf(valueOf(release(facts, ana)).events), ['LeaseReleased']);
    const { events } = valueOf(release(given({ shown: noon }), bob));
    assert.deepEqual(events[0]?.data, { token: noon, holder: holderToData(ana), by: holderToData(bob) });
  });

  test('given nobody, nothing changes', () => {
    assert.deepEqual(valueOf(release(given({ claim: null }), ana)).events, []);
  });

  test('given somebody else’s, it is refused while it is live, and lost on record where it is not, or on purpose', () => {
    refusalOf(release(given(), bob));
    for (const [facts, takesOver, because] of [
      [given(), true, 'taken over'],
      [given({ now: at(3600) }), false, 'expired'],
      [given({ observe: () => 'dead' }), false, 'gone'],
    ] as const) {
      const { events } = valueOf(release(facts, bob, takesOver));
      assert.deepEqual([typesOf(events), events[0]?.data['because']], [['LeaseLost'], because]);
    }
    refusalOf(release(given({ shown: noon - 1 }), bob, true));
  });
});

test('every refusal about a lease suggests commands, and one of a claim that ends by itself may be tried again and shows it', () => {
  const dead = given({ claim: claimed({ sign: program(7) }), observe: () => 'dead' });
  const ahead = given({ now: at(-200), claim: claimed({ sign: program(7) }), observe: () => 'alive' });
  const held = [
    refusalOf(claim(given(), wish(bob))),
    refusalOf(claim(ahead, wish(bob))),
    ...[given(), dead, ahead].map((facts) => refusalOf(decideRenew(facts, bob, undefined))),
  ];
  const others = [
    refusalOf(claim(given({ shown: 7 }), wish(ana))),
    refusalOf(decideRenew(given({ claim: null }), ana, undefined)),
    refusalOf(decideRenew(given({ now: at(3600) }), ana, undefined)),
  ];
  for (const refusal of [...held, ...others])
    for (const text of [refusal.hint ?? '', ...(refusal.legal ?? [])])
      assert.match(text, /^stint lease (?:show|claim)(?: --take-over)? --session review:a$/, refusal.message);
  for (const refusal of held)
    assert.deepEqual([refusal.retryable, refusal.lease?.['holder']], [true, 'ana'], refusal.message);
  for (const { retryable, lease } of others) assert.deepEqual([retryable, lease], [false, undefined]);
});

test('what is shown of a lease: live, or stale where its holder is gone, or expired, also where the clock is the reason', () => {
  const stateOf = (facts: LeaseFacts): unknown => leaseToJson(facts)?.state;
  assert.deepEqual(
    [
      stateOf(given()),
      stateOf(given({ observe: () => 'dead' })),
      stateOf(given({ now: at(3600) })),
      stateOf(given({ now: at(3600), observe: () => 'dead' })),
      stateOf(given({ now: at(-200) })),
      stateOf(given({ now: at(-200), observe: () => 'alive' })),
      stateOf(given({ now: at(-200), observe: () => 'dead' })),
      leaseToJson(given({ claim: null })),
    ],
    ['active', 'stale', 'expired', 'expired', 'stale', 'active', 'stale', null],
  );
  const shows = (facts: LeaseFacts): boolean => Object.hasOwn(leaseToJson(facts) ?? {}, 'clock_ahead');
  assert.deepEqual([given(), given({ now: at(-200) }), given({ now: at(-120) })].map(shows), [false, true, false]);
});

suite('whatever several do', () => {
  type Shows = 'nothing' | 'its newest token' | 'its first token';
  type Step =
    | {
        readonly does: 'claim';
        readonly who: number;
        readonly shows: Shows;
        readonly seconds: number;
        readonly takesOver: boolean;
        readonly named: boolean;
      }
    | { readonly does: 'renew'; readonly who: number; readonly shows: Shows; readonly seconds: number }
    | { readonly does: 'release'; readonly who: number; readonly shows: Shows; readonly takesOver: boolean }
    | { readonly does: 'write'; readonly who: number; readonly shows: Shows }
    | { readonly does: 'wait'; readonly seconds: number }
    | { readonly does: 'die'; readonly who: number }
    | { readonly does: 'save' };

  const who = fc.nat(2);
  const shows = fc.constantFrom<Shows>('nothing', 'nothing', 'its newest token', 'its first token');
  const seconds = fc.constantFrom(10, 60, 600);
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        does: fc.constant('claim'),
        who,
        shows,
        seconds,
        takesOver: fc.nat(3).map((one) => one === 0),
        named: fc.boolean(),
      }),
    },
    { weight: 3, arbitrary: fc.record({ does: fc.constant('renew'), who, shows, seconds }) },
    {
      weight: 1,
      arbitrary: fc.record({ does: fc.constant('release'), who, shows, takesOver: fc.nat(3).map((one) => one === 0) }),
    },
    { weight: 3, arbitrary: fc.record({ does: fc.constant('write'), who, shows }) },
    {
      weight: 3,
      arbitrary: fc.record({
        does: fc.constant('wait'),
        seconds: fc.constantFrom(0.001, 5, 10, 59, 300, 600, -1, -100, -3600),
      }),
    },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('die'), who }) },
    { weight: 1, arbitrary: fc.constant({ does: 'save' } as const) },
  );

  /** Who was promised what, and nothing else: what must hold is read from this alone. */
  interface Promised {
    readonly who: number;
    readonly token: number;
    readonly at: number;
    readonly until: number;
    readonly pid: number | null;
  }

  test('there is one live holder at most, tokens grow, an older one never gets in, and a live lease is lost by take-over, death or release alone', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const holders = [ana, bob, person('ana', { place: 'there' })];
        const own: number[][] = [[], [], []];
        const lives = [0, 0, 0];
        const dead = new Set<number>();
        let now = noon;
        let state: LeaseState = { lease: null, token: 0 };
        let renewal: Renewal | undefined;
        let promised: Promised | undefined;
        let newest = 0;
        /** Every token up to this one was handed out before the store was damaged. */
        let lost = 0;

        const pidOf = (one: number): number => one * 1000 + (lives[one] ?? 0);
        const factsFor = (shown: number | undefined): LeaseFacts => ({
          key: 'review:a',
          claim: state.lease,
          token: state.token,
          renewal,
          now: new Date(now).toISOString(),
          observe: ({ sign }) => (sign === null ? 'unknown' : dead.has(sign.pid ?? 0) ? 'dead' : 'alive'),
          shown,
        });
        const keep = (made: { readonly events: readonly DecidedEvent[]; readonly renewal: Renewal | null }): void => {
          state = fold(state, made.events, new Date(now).toISOString());
          renewal = made.renewal ?? renewal;
        };
        const keepPromise = (one: number, length: number, pid: number | null): void => {
          assert.ok(state.lease !== null);
          const standing = standingOfClaim(state.lease, renewal, new Date(now).toISOString());
          const until = Date.parse(standing.expiresAt);
          assert.deepEqual([Date.parse(standing.at), until], [now, now + length]);
          promised = { who: one, token: state.lease.token, at: now, until, pid };
        };

        for (const one of steps) {
          const isOver = promised === undefined || now >= promised.until;
          const isDead = promised !== undefined && promised.pid !== null && dead.has(promised.pid);
          // A clock that was ahead is believed as long as somebody is seen, alive or dead.
          const isAhead = promised !== undefined && promised.at - now > 120_000 && promised.pid === null;
          const isLive = !isOver && !isAhead;
          if (one.does === 'wait') now += one.seconds * 1000;
          else if (one.does === 'die') {
            dead.add(pidOf(one.who));
            lives[one.who] = (lives[one.who] ?? 0) + 1;
          } else if (one.does === 'save') {
            state = foldLease(state, stored({ type: 'Salvaged', data: { lost: 'x' } }, new Date(now).toISOString()));
            promised = undefined;
            lost = newest;
          } else {
            const tokens = own[one.who] ?? [];
            const shown = { nothing: undefined, 'its newest token': tokens.at(-1), 'its first token': tokens[0] }[
              one.shows
            ];
            const holder = holders[one.who] ?? ana;
            const isOlder = shown !== undefined && (shown !== newest || shown <= lost);
            const isHolders = promised !== undefined && (promised.who === one.who || shown === promised.token);
            const facts = factsFor(shown);
            assert.equal(isHeld(facts), isLive);
            if (one.does === 'write') {
              const isRefused = refuseFenced(facts, () => holder) !== undefined;
              assert.equal(isRefused, isOlder || (isLive && !isHolders));
            } else if (one.does === 'renew') {
              const renewed = decideRenew(facts, holder, one.seconds * 1000);
              assert.equal(renewed.ok, !isOlder && !isOver && isHolders);
              if (renewed.ok && promised !== undefined) {
                keep(renewed.value);
                keepPromise(promised.who, one.seconds * 1000, promised.pid);
              }
            } else if (one.does === 'release') {
              const released = decideRelease(facts, holder, { takeOver: one.takesOver });
              assert.equal(released.ok, !isOlder && (isHolders || !isLive || isDead || one.takesOver));
              if (released.ok) {
                keep(released.value);
                promised = undefined;
              }
            } else {
              const sign = one.named ? program(pidOf(one.who)) : null;
              const made = decideClaim(
                facts,
                { holder, purpose: null, ttl: one.seconds * 1000, sign },
                { takeOver: one.takesOver },
              );
              assert.equal(made.ok, !isOlder && (!isLive || isHolders || isDead || one.takesOver));
              if (!made.ok) continue;
              keep(made.value);
              const { token } = made.value.claim;
              if (!isOver && isHolders && promised !== undefined) {
                assert.equal(token, promised.token);
                keepPromise(promised.who, one.seconds * 1000, sign?.pid ?? (isDead ? null : promised.pid));
              } else {
                assert.ok(token > newest, 'a token grows');
                newest = token;
                tokens.push(token);
                keepPromise(one.who, one.seconds * 1000, sign?.pid ?? null);
              }
            }
          }
          assert.equal(state.lease === null, promised === undefined);
          assert.equal(state.lease?.token, promised?.token);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
