/** What verbs do when the line to the server is cut, falls silent, or is not there: their effect happens once, or not at all. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { kernelEvent } from '../src/kernel/event.ts';
import { refuse } from '../src/kernel/refusal.ts';
import { kind as review } from '../src/kinds/review/index.ts';
import { readAddress } from '../src/store/postgres/address.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { openProxy, type CommitFate } from './support/cuttable-proxy.ts';
import { askServer, useDatabase, useServer } from './support/postgres.ts';
import { approval, phases } from './support/reviews.ts';
import { handAt, turnedAway, type Coming, type Hand } from './support/server-hands.ts';
import { createWorld, listOf, type Printed } from './support/world.ts';
import { defineSheet, verbs } from './kinds/sheet/index.ts';

const server = useServer();

/** A project on a server, and a line to it that can be cut. */
const lineTo = async (context: TestContext) => {
  const url = await useDatabase(context, server);
  const proxy = await openProxy(url);
  context.after(proxy.close);
  return { url, proxy };
};

/** Somebody whose server is behind a line that can be cut, and somebody who looks at it directly. */
const cuttable = async (context: TestContext, coming: Coming = {}) => {
  const { url, proxy } = await lineTo(context);
  const options = {
    cwd: createWorld(context).project,
    kinds: [defineSheet(3)],
    verbs,
    ...coming,
  };
  const ana = await handAt(context, proxy.url, { patience: 4000, ...options });
  const looker = await handAt(context, url, options);
  await ana.ask('begin', { kind: 'review', name: 'cut' });
  return { url, proxy, ana, looker };
};

const eventsOf = async (looker: Hand, session = 'review:cut'): Promise<readonly Printed[]> =>
  listOf((await looker.ask('log', { session })).events);

const count = (events: readonly Printed[], type: string): number =>
  events.filter((event) => event.type === type).length;

/** Verbs whose effect is one event of a type, and what stands before them. */
const cases: readonly {
  readonly verb: string;
  readonly type: string;
  readonly input: Printed;
  readonly payload?: Printed;
  readonly session?: string;
  readonly prepare?: (hand: Hand) => Promise<void>;
}[] = [
  { verb: 'note', type: 'Noted', input: { text: 'once', session: 'cut' } },
  { verb: 'advance', type: 'PhaseEntered', input: { phase: 'change-context', session: 'cut' } },
  {
    verb: 'complete-round',
    type: 'RoundCompleted',
    input: { session: 'cut' },
    payload: approval,
    prepare: async ({ ask }) => {
      for (const phase of phases.slice(1, -1)) await ask('advance', { phase, session: 'cut' });
    },
  },
  { verb: 'lease claim', type: 'LeaseClaimed', input: { session: 'cut' } },
  {
    verb: 'next',
    type: 'StepClaimed',
    input: { claim: true, session: 'sheet:steps' },
    session: 'sheet:steps',
    prepare: async ({ ask }) => void (await ask('begin', { kind: 'sheet', name: 'steps' })),
  },
];

for (const fate of ['lost', 'unheard'] as const satisfies readonly CommitFate[])
  for (const given of [true, false])
    test(`a refusal whose commit is ${fate} is on record once${given ? ', also under a request id' : ''}`, async (context) => {
      const { proxy, looker } = await cuttable(context);
      const address = readAddress(proxy.url, 'shared');
      assert.ok(address.ok);
      const kinds = new Map([['review', review]]);
      const opened = await openPostgresStore(address.value, kinds, { create: false, patience: 4000 });
      assert.ok(opened !== undefined);
      context.after(opened.store.close);
      const error = refuse('conflict', 'Too late.', { record: [kernelEvent('ResultRefused', {})] });
      let isMet = false;
      proxy.meetCommit(fate, () => {
        isMet = true;
      });
      const outcome = await opened.store.commit({
        keys: ['review:cut'],
        guards: [],
        origin: { now: '2026-03-17T10:00:00.000Z', actor: 'ana', place: 'here', cause: 'c' },
        request: { id: 'c', verb: 'complete', digest: '', given },
        journalOnly: false,
        expectRevision: undefined,
        dryRun: false,
        decide: () => ({ ok: false, error }),
        answer: () => ({}),
      });
      assert.deepEqual(outcome, { ok: false, error });
      assert.ok(isMet);
      assert.equal(count(await eventsOf(looker), 'ResultRefused'), 1);
    });

for (const fate of ['lost', 'unheard'] as const satisfies readonly CommitFate[])
  for (const { verb, type, input, payload, session = 'review:cut', prepare } of cases)
    for (const requestId of ['given', undefined])
      test(`${verb}: a commit that is ${fate} happens once${requestId === undefined ? '' : ', under its request id'}, and the answer is what is stored`, async (context) => {
        const { proxy, ana, looker } = await cuttable(context);
        await prepare?.(ana);
        const before = count(await eventsOf(looker, session), type);
        let isMet = false;
        proxy.meetCommit(fate, () => {
          isMet = true;
        });
        const answer = await ana.ask(verb, input, { payload, requestId });
        assert.ok(isMet, 'the line was cut');
        assert.equal(answer.replayed, undefined, 'it is the first answer');
        const events = await eventsOf(looker, session);
        assert.equal(count(events, type) - before, 1);
        const status = await looker.ask('status', { session });
        if ('revision' in answer) assert.equal(answer.revision, status.revision);
        if ('seq' in answer) assert.equal(answer.seq, events.at(-1).seq);
        if ('token' in answer) assert.equal(answer.token, events.at(-1).data.token);
        assert.equal((await looker.ask('doctor')).healthy, true);
        if (requestId === undefined) return;
        const { replayed, ...again } = await ana.ask(verb, input, { payload, requestId });
        assert.equal(replayed, true);
        // Whether it was the first one who got it, or whether the answer speaks of the state in which it was done.
        assert.deepEqual(again, { ...answer, ...('warnings' in again ? { warnings: again.warnings } : {}) });
        assert.equal(count(await eventsOf(looker, session), type) - before, 1);
      });

test('a server that stays away after a commit is busy: with a request id it can be asked again, without one somebody has to look', async (context) => {
  const { proxy, ana, looker } = await cuttable(context, { patience: 1500 });
  for (const requestId of ['given', undefined]) {
    const before = count(await eventsOf(looker), 'Noted');
    proxy.meetCommit('unheard', () => proxy.refuse(true));
    const refusal = await ana.refused('note', { text: 'once' }, { requestId });
    assert.equal(refusal.code, 'busy');
    assert.match(refusal.message, /was lost, and nobody knows whether the command was carried out\.$/);
    assert.equal(refusal.retryable, requestId !== undefined);
    assert.match(
      refusal.hint ?? '',
      requestId === undefined ? /^look at stint log before/ : /^run the same command again$/,
    );
    proxy.refuse(false);
    if (requestId !== undefined) assert.equal((await ana.ask('note', { text: 'once' }, { requestId })).replayed, true);
    assert.equal(count(await eventsOf(looker), 'Noted') - before, 1);
  }
});

test('a server that stays away before a commit is busy, and nothing was done', async (context) => {
  const { proxy, ana, looker } = await cuttable(context, { patience: 1000 });
  proxy.refuse(true);
  proxy.cut();
  const refusal = await ana.refused('note', { text: 'never' });
  assert.deepEqual([refusal.code, refusal.retryable, refusal.hint], ['busy', true, 'run the same command again']);
  assert.match(refusal.message, /^The store .* cannot be reached: \S.*\.$/);
  assert.equal(count(await eventsOf(looker), 'Noted'), 0);
  proxy.refuse(false);
  await ana.ask('note', { text: 'now' });
});

test('a line that is cut while nobody speaks, or while a lock is waited for, costs nothing', async (context) => {
  const { url, proxy, ana, looker } = await cuttable(context);
  proxy.cut();
  await ana.ask('note', { text: 'after the cut' });
  const holder = await holdEverything(context, url);
  const waiting = ana.ask('note', { text: 'waited' });
  await holder.isWaitedFor();
  proxy.cut();
  await holder.isWaitedFor(2);
  await holder.release();
  await waiting;
  assert.equal(count(await eventsOf(looker), 'Noted'), 2);
});

for (const direction of ['to-server', 'to-client', 'both'] as const)
  test(`a line that swallows everything ${direction} is busy within the patience, for who writes, reads and comes`, async (context) => {
    const { proxy, ana } = await cuttable(context, { patience: 1000 });
    proxy.swallow(direction);
    const start = performance.now();
    const refusals = await Promise.all([
      ana.refused('note', { text: 'never heard' }),
      ana.refused('status'),
      turnedAway(context, `${proxy.url}?application_name=another`, { patience: 1000 }),
    ]);
    assert.deepEqual(
      refusals.map(({ code }) => code),
      ['busy', 'busy', 'busy'],
    );
    assert.ok(performance.now() - start < 10_000, 'nobody waits for ever');
    proxy.swallow('nothing');
    await ana.ask('note', { text: 'heard' });
  });

test('a commit that is never heard of is looked for on another line, under the locks of who was lost', async (context) => {
  const { proxy, ana, looker } = await cuttable(context, { patience: 2000 });
  proxy.meetCommit('silent');
  await ana.ask('note', { text: 'once' });
  assert.equal(count(await eventsOf(looker), 'Noted'), 1);
});

test('a request that somebody else has carried out while the first one was lost is answered as theirs', async (context) => {
  const { url, proxy, ana, looker } = await cuttable(context);
  const cwd = createWorld(context).project;
  const bob = await handAt(context, url, { cwd, actor: 'ana' });
  let theirs: Promise<Printed> | undefined;
  const comeFirst = async (): Promise<Printed> => {
    await bob.ask('note', { text: 'another', session: 'cut' });
    const first = await bob.ask('note', { text: 'once', session: 'cut' }, { requestId: 'same' });
    proxy.refuse(false);
    return first;
  };
  proxy.meetCommit('lost', () => {
    proxy.refuse(true);
    theirs = comeFirst();
  });
  const answer = await ana.ask('note', { text: 'once', session: 'cut' }, { requestId: 'same' });
  const first = await theirs;
  assert.ok(first !== undefined);
  assert.deepEqual(answer, { ...first, replayed: true });
  assert.equal(count(await eventsOf(looker), 'Noted'), 2);
});

/** Holds the lock on all sessions by hand. */
const holdEverything = async (context: TestContext, url: string) => {
  const { default: pg } = await import('pg');
  const { sha256 } = await import('../src/lib/sha256.ts');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let isOpen = true;
  const release = async (): Promise<void> => {
    if (isOpen) await client.end();
    isOpen = false;
  };
  context.after(release);
  const key = BigInt.asIntN(64, BigInt(`0x${sha256('stint_shared\nstore').slice(0, 16)}`));
  await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${key})`);
  return {
    release,
    /** Resolves when at least so many wait for it. */
    isWaitedFor: async (atLeast = 1): Promise<void> => {
      for (;;) {
        const rows = await askServer(url, `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`);
        if (rows.length >= atLeast) return;
      }
    },
  };
};
