import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import * as v from 'valibot';
import { positionOf, type Position } from '../kernel/cursor.ts';
import { findBrokenLink } from '../kernel/chain.ts';
import type { NewEvent, StoredEvent } from '../kernel/event.ts';
import { defineKind, type Kind, type Kinds } from '../kernel/kind.ts';
import { createKinds } from '../kernel/kinds.ts';
import { claimFromData, type Renewal } from '../kernel/lease.ts';
import type { CommitRequest, MirrorFile, MirrorRecord, Store } from '../kernel/ports.ts';
import { processOf } from '../kernel/process.ts';
import { refuse } from '../kernel/refusal.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { ok, type Result } from '../lib/result.ts';
import type { Refusal } from '../kernel/refusal.ts';
import type { Session } from '../kernel/session.ts';

/** How a backend is put under the suite. */
export interface StoreFixture {
  /** What the backend is called in the names of the tests. */
  readonly name: string;
  /** Opens an empty store that knows these kinds, and takes it away after the test. */
  readonly open: (t: TestContext, kinds: Kinds) => Promise<Store>;
}

/**
 * The promises of the `Store` port, as tests for `node:test`. Every backend runs this suite; what only one backend does is
 * tested beside it.
 */
export const testStore = ({ name, open }: StoreFixture): void => {
  const promise = (rule: string, body: (store: Store, t: TestContext) => Promise<void>): void =>
    void test(`${name}: ${rule}`, async (t) => body(await open(t, new Map([[tally.name, tally]])), t));

  promise('events are numbered, timed, chained, and read as they were written', async (store) => {
    await openTally(store, 'a');
    await add(store, 'a', 2, { now: '2026-03-17T10:00:01.000Z' });
    await add(store, 'a', 3, { now: '2026-03-17T09:00:00.000Z' });
    const events = await store.events('tally:a', {});
    assert.deepEqual(
      events.map(({ seq, type, at, actor, place, data }) => [seq, type, at, actor, place, data]),
      [
        [1, 'SessionOpened', '2026-03-17T10:00:00.000Z', 'ana', 'here', { branch: 'main', worktree: 'main' }],
        [2, 'Added', '2026-03-17T10:00:01.000Z', 'ana', 'here', { amount: 2 }],
        // A clock that went back does not take the session with it.
        [3, 'Added', '2026-03-17T10:00:01.000Z', 'ana', 'here', { amount: 3 }],
      ],
    );
    assert.equal(findBrokenLink(events), undefined);
    assert.equal(sumOf(await store.load('tally:a')), 5);
  });

  promise('the order of keys and every character of data survive', async (store) => {
    await openTally(store, 'a');
    const data = { z: 1, a: { '10': 'x', '9': 'y' }, text: '\u0000 \u2028 🔥 "\\', list: [1.5, null, true] };
    await commit(store, 'a', [{ type: 'Marked', v: 1, data }]);
    const [event] = await store.events('tally:a', { last: 1 });
    assert.equal(JSON.stringify(event?.data), JSON.stringify(data));
  });

  promise('a refusal, a throw and a dry run leave everything as it was', async (store) => {
    await openTally(store, 'a');
    const before = await everything(store, 'a');
    const refused = await store.commit(request('a', () => ({ ok: false, error: refuse('policy', 'No.') })));
    assert.equal(refused.ok ? '' : refused.error.code, 'policy');
    await assert.rejects(async () =>
      store.commit(
        request('a', () => {
          throw new Error('a defect');
        }),
      ),
    );
    const dry = await store.commit({ ...request('a', () => decided('a', [added(1)])), dryRun: true });
    assert.deepEqual(dry.ok && dry.value.kind === 'committed' && dry.value.answer, { sum: 1 });
    assert.deepEqual(await everything(store, 'a'), before);
    await add(store, 'a', 4);
    assert.equal(sumOf(await store.load('tally:a')), 4);
  });

  promise(
    'a refusal that is put on record is a journal event of the first session, and changes nothing else',
    async (store) => {
      await openTally(store, 'a');
      await openTally(store, 'b');
      await add(store, 'b', 2);
      const record: readonly NewEvent[] = [
        { type: 'ResultRefused', v: 1, data: { why: 'too late' } },
        { type: 'Noted', v: 1, data: { text: 'x' } },
      ];
      const refusal = refuse('conflict', 'Too late.', { record });
      const refusing = {
        ...request('b', () => ({ ok: false, error: refusal })),
        keys: ['tally:b', 'tally:a'],
        request: { id: 'r1', verb: 'add', digest: 'd', given: true },
      };
      const before = await everything(store, 'a');
      const beforeB = await everything(store, 'b');
      assert.deepEqual(await store.commit({ ...refusing, dryRun: true }), { ok: false, error: refusal });
      assert.deepEqual([await everything(store, 'a'), await everything(store, 'b')], [before, beforeB]);

      for (const [journalOnly, seq] of [
        [false, 4],
        [true, 6],
      ] as const) {
        // The same request again: it was not carried out, so it is decided anew.
        assert.deepEqual(await store.commit({ ...refusing, journalOnly }), { ok: false, error: refusal });
        assert.deepEqual((await store.events('tally:b', {})).map(({ type }) => type).slice(seq - 2), [
          'ResultRefused',
          'Noted',
        ]);
        const session = await store.load('tally:b');
        assert.deepEqual([session?.common.seq, session?.common.revision, sumOf(session)], [seq, 2, 2]);
      }
      assert.equal(await store.recall('r1'), undefined);
      assert.equal((await store.events('tally:a', {})).length, 1);
      assert.equal((await store.event('tally:b', 3))?.cause, refusing.origin.cause);
      assert.equal(findBrokenLink(await store.events('tally:b', {})), undefined);
      assert.deepEqual(await store.verify(), []);
      await add(store, 'b', 3);
      assert.equal(sumOf(await store.load('tally:b')), 5);
    },
  );

  promise('what moves a session, or is of none, is never put on record of a refusal', async (store) => {
    await openTally(store, 'a');
    const before = await everything(store, 'a');
    for (const [of, record] of [
      ['a', [added(1)]],
      [
        'a',
        [
          { type: 'Noted', v: 1, data: {} },
          { type: 'SessionClosed', v: 1, data: {} },
        ],
      ],
      ['nobody', [{ type: 'Noted', v: 1, data: {} }]],
    ] as const) {
      const error = refuse('conflict', 'No.', { record });
      await assert.rejects(async () => store.commit(request(of, () => ({ ok: false, error }))), /refusal/);
      assert.deepEqual(await everything(store, 'a'), before);
    }
  });

  promise('several sessions are written together or not at all', async (store) => {
    await openTally(store, 'a');
    await openTally(store, 'b');
    const both = await store.commit({
      ...request('a', () =>
        ok(
          new Map([
            ['tally:a', [added(1)]],
            ['tally:b', [added(2)]],
          ]),
        ),
      ),
      keys: ['tally:b', 'tally:a', 'tally:b'],
      answer: () => ({}),
    });
    assert.ok(both.ok);
    assert.deepEqual([sumOf(await store.load('tally:a')), sumOf(await store.load('tally:b'))], [1, 2]);
    await assert.rejects(async () =>
      store.commit({
        ...request('a', () =>
          ok(
            new Map([
              ['tally:a', [added(1)]],
              ['tally:unloaded', [added(2)]],
            ]),
          ),
        ),
        keys: ['tally:a'],
      }),
    );
    assert.equal(sumOf(await store.load('tally:a')), 1);
  });

  promise('concurrent commits of one session are decided one after the other', async (store) => {
    await openTally(store, 'a');
    await Promise.all(Array.from({ length: 40 }, async (_, index) => add(store, 'a', index)));
    const events = await store.events('tally:a', {});
    assert.equal(events.length, 41);
    assert.equal(findBrokenLink(events), undefined);
    assert.equal(sumOf(await store.load('tally:a')), 780);
  });

  test(`${name}: work that meets a kind which is not loaded is left, and done again with it`, async (t) => {
    let loaded = 0;
    const load = async () => {
      loaded += 1;
      return { kind: tally };
    };
    const store = await open(t, createKinds([{ name: tally.name, load }]));
    assert.equal((await store.rows({})).length, 0);
    assert.deepEqual([loaded], [0]);
    await Promise.all([openTally(store, 'a'), openTally(store, 'b')]);
    await add(store, 'a', 2);
    assert.equal(sumOf(await store.load('tally:a')), 2);
    const all = [...(await store.events('tally:a', {})), ...(await store.events('tally:b', {}))];
    assert.deepEqual(
      all.map(({ session, seq }) => [session, seq]),
      [
        ['tally:a', 1],
        ['tally:a', 2],
        ['tally:b', 1],
      ],
    );
    // Those who ask at once may both load it, nobody does later.
    assert.ok([1, 2].includes(loaded));
  });

  promise('a guard that no longer holds makes the commit stale, and nothing is written', async (store) => {
    const guards = [{ filter: { kind: 'tally', name: 'a' }, keys: [] }];
    const first = await store.commit({ ...request('a', () => decided('a', [opened])), guards });
    assert.equal(first.ok ? first.value.kind : '', 'committed');
    const second = await store.commit({ ...request('a', () => decided('a', [added(1)])), guards });
    assert.equal(second.ok ? second.value.kind : '', 'stale');
    assert.equal((await store.events('tally:a', {})).length, 1);
  });

  promise('an expected revision is compared inside the commit; remarks do not move it', async (store) => {
    await openTally(store, 'a');
    await commit(store, 'a', [{ type: 'Noted', v: 1, data: { text: 'x' } }]);
    const right = await store.commit({ ...request('a', () => decided('a', [added(1)])), expectRevision: 1 });
    assert.ok(right.ok);
    const wrong = await store.commit({ ...request('a', () => decided('a', [added(1)])), expectRevision: 1 });
    assert.equal(wrong.ok ? '' : wrong.error.code, 'conflict');
    assert.equal((await store.load('tally:a'))?.common.revision, 3);
  });

  promise('a request with a given id is carried out once, also when it changes nothing', async (store) => {
    await openTally(store, 'a');
    const mark = { id: 'r1', verb: 'add', digest: 'd', given: true };
    const first = await store.commit({ ...request('a', () => decided('a', [added(1)])), request: mark });
    assert.ok(first.ok && first.value.kind === 'committed');
    const again = await store.commit({ ...request('a', () => decided('a', [added(1)])), request: mark });
    assert.ok(again.ok && again.value.kind === 'known');
    assert.deepEqual(again.value.request.answer, { sum: 1 });
    assert.deepEqual(await store.recall('r1'), again.value.request);
    const idle = await store.commit({ ...request('a', () => decided('a', [])), request: { ...mark, id: 'r2' } });
    assert.ok(idle.ok);
    assert.deepEqual((await store.recall('r2'))?.answer, { sum: 1 });
    assert.equal(await store.recall('r3'), undefined);
    assert.equal(sumOf(await store.load('tally:a')), 1);
  });

  promise('a request is forgotten after 30 days, not before', async (store) => {
    await openTally(store, 'a');
    const given = (id: string, now: string) =>
      store.commit({
        ...request('a', () => decided('a', [added(1)]), { now }),
        request: { id, verb: 'add', digest: 'd', given: true },
      });
    await given('old', '2026-03-17T10:00:00.000Z');
    await given('young', '2026-04-16T09:59:59.000Z');
    assert.notEqual(await store.recall('old'), undefined);
    await given('new', '2026-04-16T10:00:01.000Z');
    assert.equal(await store.recall('old'), undefined);
    assert.notEqual(await store.recall('young'), undefined);
  });

  promise('rows answer for kind, name, prefix, status and branch, those changed last first', async (store) => {
    await openTally(store, 'main-1', { now: '2026-03-17T10:00:00.000Z' });
    await openTally(store, 'main-2', { now: '2026-03-17T11:00:00.000Z', branch: 'x' });
    await openTally(store, 'Main-3', { now: '2026-03-17T12:00:00.000Z', branch: null });
    await commit(store, 'main-1', [{ type: 'SessionClosed', v: 1, data: { outcome: 'aborted' } }], {
      now: '2026-03-17T13:00:00.000Z',
    });
    const names = async (filter: Parameters<Store['rows']>[0]) => (await store.rows(filter)).map((row) => row.name);
    assert.deepEqual(await names({}), ['main-1', 'Main-3', 'main-2']);
    assert.deepEqual(await names({ status: 'active' }), ['Main-3', 'main-2']);
    assert.deepEqual(await names({ status: 'closed' }), ['main-1']);
    assert.deepEqual(await names({ namePrefix: 'main-' }), ['main-1', 'main-2']);
    assert.deepEqual(await names({ name: 'main-2' }), ['main-2']);
    assert.deepEqual(await names({ branch: null }), ['Main-3']);
    assert.deepEqual(await names({ branch: 'x', kind: 'tally' }), ['main-2']);
    assert.deepEqual(await names({ kind: 'other' }), []);
  });

  promise('a row says since when a session is paused, and since when it lies in the archive', async (store) => {
    await openTally(store, 'a');
    const of = async () => {
      const [row] = await store.rows({ thorough: true });
      const read = await store.read('tally:a');
      assert.deepEqual([read?.row.pausedAt, read?.row.archivedAt], [row?.pausedAt, row?.archivedAt]);
      return [row?.pausedAt, row?.archivedAt, read?.common.pause];
    };
    const told = async (type: string, data: JsonObject, now: string) =>
      commit(store, 'a', [{ type, v: 1, data }], { now });
    assert.deepEqual(await of(), [null, null, null]);
    await told('SessionPaused', { reason: 'lunch' }, '2026-03-17T11:00:00.000Z');
    assert.deepEqual(await of(), [
      '2026-03-17T11:00:00.000Z',
      null,
      { at: '2026-03-17T11:00:00.000Z', actor: 'ana', reason: 'lunch' },
    ]);
    assert.equal((await store.read('tally:a', 1))?.common.pause, null);
    await told('SessionResumed', {}, '2026-03-17T12:00:00.000Z');
    assert.deepEqual(await of(), [null, null, null]);
    await told('SessionClosed', { outcome: 'aborted' }, '2026-03-17T13:00:00.000Z');
    await told('SessionArchived', {}, '2026-03-17T14:00:00.000Z');
    assert.deepEqual(await of(), [null, '2026-03-17T14:00:00.000Z', null]);
    assert.deepEqual(await store.verify(), []);
    await told('SessionUnarchived', {}, '2026-03-17T15:00:00.000Z');
    assert.deepEqual(await of(), [null, null, null]);
  });

  promise('a session is read at any event, and at none that it does not have', async (store) => {
    await openTally(store, 'a');
    for (let amount = 1; amount <= 5; amount += 1) await add(store, 'a', amount);
    assert.equal(sumOf(await store.load('tally:a', 3)), 3);
    assert.equal((await store.read('tally:a', 4))?.view.where['sum'], 6);
    assert.equal(await store.load('tally:a', 9), undefined);
    assert.equal(await store.read('tally:b'), undefined);
    assert.deepEqual(
      (await store.events('tally:a', { after: 2, until: 4 })).map(({ seq }) => seq),
      [3, 4],
    );
    assert.deepEqual(
      (await store.events('tally:a', { last: 2 })).map(({ seq }) => seq),
      [5, 6],
    );
    assert.equal((await store.event('tally:a', 2))?.type, 'Added');
  });

  promise('what is read is what the events say, however long the log', async (store) => {
    await openTally(store, 'a');
    for (let amount = 1; amount <= 120; amount += 1) {
      await commit(store, 'a', [added(1), { type: 'Marked', v: 1, data: { text: 'x'.repeat(200) } }]);
    }
    assert.equal((await store.read('tally:a'))?.view.where['sum'], 120);
    assert.equal(sumOf(await store.load('tally:a')), 120);
    assert.equal(sumOf(await store.load('tally:a', 241)), 120);
    assert.deepEqual(await store.verify(), []);
    assert.deepEqual(await store.rebuild('tally:a'), ok(false));
  });

  promise('what was thrown away, rehearsed or refused is never gone on from', async (store) => {
    await openTally(store, 'a');
    await add(store, 'a', 1);
    const before = await store.load('tally:a');
    const commitWith = async (more: Partial<CommitRequest<JsonObject>>) =>
      store.commit({ ...request('a', () => decided('a', [added(10)])), ...more });
    await assert.rejects(async () =>
      commitWith({
        answer: () => {
          throw new Error('a defect, after everything was written');
        },
      }),
    );
    assert.ok((await commitWith({ dryRun: true })).ok);
    assert.equal((await commitWith({ expectRevision: 9 })).ok, false);
    assert.deepEqual((await store.load('tally:a'))?.common, before?.common);
    assert.equal(sumOf(await store.load('tally:a')), 1);
    await add(store, 'a', 2);
    assert.equal(sumOf(await store.load('tally:a')), 3);
    await store.rebuild('tally:a');
    await add(store, 'a', 4);
    assert.equal(sumOf(await store.load('tally:a')), 7);
    assert.equal((await store.load('tally:a'))?.processes.size, 0);
    assert.deepEqual(await store.verify(), []);
  });

  promise('many sessions are gone on with in turns, each from where it stood', async (store) => {
    const names = Array.from({ length: 12 }, (_, index) => `n${index}`);
    for (const one of names) await openTally(store, one);
    for (let amount = 1; amount <= 3; amount += 1) {
      for (const one of names) {
        await add(store, one, amount);
        await commit(store, one, [{ type: 'Noted', v: 1, data: { text: 'x' } }]);
      }
    }
    for (const one of names) assert.equal(sumOf(await store.load(`tally:${one}`)), 6, one);
    assert.deepEqual(await store.verify(), []);
  });

  promise('mirrors are recorded with the commit, settled once, and only the newest', async (store) => {
    await openTally(store, 'a');
    assert.deepEqual(await store.mirrors(['tally:a']), []);
    await add(store, 'a', 7);
    const [first] = await store.mirrors([]);
    assert.ok(first !== undefined);
    assert.deepEqual([first.path, first.source, first.stamp], ['tallies/a/sum.txt', 2, null]);
    await add(store, 'a', 8);
    assert.equal(await store.settleMirror(first, untouched, true), false);
    const [second] = await store.mirrors(['tally:a']);
    assert.ok(second !== undefined && second.source === 3);
    assert.equal(
      await store.settleMirror(
        second,
        { ...untouched, stamp: () => null, digest: () => null, write: () => 'stamp' },
        false,
      ),
      true,
    );
    assert.deepEqual(await store.mirrors([]), []);
    assert.equal((await store.mirrors(['tally:a']))[0]?.stamp, 'stamp');
    for (const [digest, expected] of [
      [first.digest, true],
      [second.digest, true],
      ['f'.repeat(64), false],
    ] as const)
      assert.equal(await store.wasMirror('here', 'tallies/a/sum.txt', digest), expected);
    assert.equal(await store.wasMirror('here', 'tallies/b/sum.txt', first.digest), false);
  });

  promise(
    'a version of a file is known in whichever checkout, and the newest record is that of its own',
    async (store) => {
      await openTally(store, 'a');
      await add(store, 'a', 7);
      const path = 'tallies/a/sum.txt';
      const first = await store.mirrorAt('here', path);
      assert.deepEqual(first === undefined ? [] : [first], await store.mirrors([]));
      await add(store, 'a', 8);
      assert.equal((await store.mirrorAt('here', path))?.source, 3);
      assert.equal(await store.mirrorAt('there', path), undefined);
      assert.equal(await store.mirrorAt('here', 'tallies/b/sum.txt'), undefined);
      assert.equal(await store.versionOf(path, first?.digest ?? ''), 'tally:a');
      assert.equal(await store.versionOf('tallies/b/sum.txt', first?.digest ?? ''), undefined);

      // Documents of several sessions may lie at one path: what was taken in of them is a version of the file.
      const [written, later] = ['d'.repeat(64), 'e'.repeat(64)];
      const document = 'docs/session-state/CURRENT.md';
      const takenIn = async (session: string, place: string, taken: readonly string[]): Promise<void> => {
        const where = { place, root: 'docs', handover: null, session_state: 'session-state/CURRENT.md' };
        await commit(store, session, [
          { type: 'DocumentEdited', v: 1, data: { ...where, origin: 'file', texts: {}, taken: [...taken] } },
        ]);
      };
      await openTally(store, 'b');
      await openTally(store, 'c');
      assert.equal(await store.versionOf(document, written), undefined);
      await takenIn('b', 'there', [written]);
      assert.equal(await store.versionOf(document, written), 'tally:b');
      assert.equal(await store.wasMirror('here', document, written), false);
      await takenIn('c', 'here', [written, later]);
      assert.equal(await store.versionOf(document, written), 'tally:c', 'the newest of several');
      assert.deepEqual(
        [(await store.mirrorAt('there', document))?.session, (await store.mirrorAt('here', document))?.session],
        ['tally:b', 'tally:c'],
      );
      assert.equal((await store.mirrorAt('here', document))?.digest, later);
    },
  );

  promise('what is found in the place of a mirror is known by its stamp, else by its digest', async (store) => {
    await openTally(store, 'a');
    const told: unknown[] = [];
    let before: MirrorRecord | undefined;
    const settle = async (stamp: string | null, digest: (() => string | null) | undefined, after: string) => {
      await add(store, 'a', told.length);
      const [record] = await store.mirrors([]);
      assert.ok(record !== undefined);
      const file: MirrorFile = {
        stamp: () => stamp,
        digest: digest ?? untouched.digest,
        write: (found, wasMade) => {
          told.push([found === before?.digest ? 'before' : found, wasMade]);
          return after;
        },
      };
      assert.equal(await store.settleMirror(record, file, true), true);
      assert.equal((await store.mirrors(['tally:a']))[0]?.stamp, after);
      before = record;
    };
    await settle(null, () => null, 's1');
    // It looks as it was left: it is not read.
    await settle('s1', undefined, 's2');
    // It looks as it was left once, which proves nothing any more.
    await settle('s1', () => 'x', 's3');
    await settle('t', () => before?.digest ?? null, 's4');
    await settle('s4', undefined, 's5');
    assert.deepEqual(told, [
      [null, false],
      ['before', true],
      ['x', false],
      ['before', true],
      ['before', true],
    ]);
  });

  promise(
    'an event that this program does not know is kept and shown, and its session is not written',
    async (store) => {
      await openTally(store, 'a');
      await commit(store, 'a', [{ type: 'Multiplied', v: 1, data: { factor: 2 } }]);
      const read = await store.read('tally:a');
      assert.deepEqual(read?.unreadable, { seq: 2, type: 'Multiplied', v: 1, reason: 'newer' });
      const loaded = await store.load('tally:a');
      assert.deepEqual(loaded?.unreadable, { seq: 2, type: 'Multiplied', v: 1, reason: 'newer' });
      assert.equal((await store.events('tally:a', {})).length, 2);
    },
  );

  promise('processes are what their events say, those that started first first', async (store) => {
    await openTally(store, 'a');
    await openTally(store, 'b');
    await commit(store, 'b', [started('p3')], { now: '2026-03-17T11:00:00.000Z' });
    await commit(store, 'a', [started('p2', { kind: 'supervisor' }), started('p1', { parent: 'p2', pid: 7 })], {
      now: '2026-03-17T12:00:00.000Z',
    });
    await commit(store, 'a', [bound('p1', 'v-1'), processEnded('p2', { outcome: 'crashed', exit_code: 3 })], {
      now: '2026-03-17T12:05:00.000Z',
    });
    const ids = async (filter: Parameters<Store['processes']>[0]) =>
      (await store.processes(filter)).map((process) => process.id);
    assert.deepEqual(await ids({}), ['p3', 'p2', 'p1']);
    assert.deepEqual(await ids({ session: 'tally:a' }), ['p2', 'p1']);
    assert.deepEqual(await ids({ running: true }), ['p3', 'p1']);
    assert.deepEqual(await ids({ session: 'tally:a', running: true }), ['p1']);
    assert.deepEqual(await ids({ id: 'p2' }), ['p2']);
    assert.deepEqual(await ids({ id: 'p2', running: true }), []);
    assert.deepEqual(await ids({ id: 'p' }), []);
    const [lead, part] = await store.processes({ session: 'tally:a' });
    assert.deepEqual(
      [lead?.kind, lead?.endedAt, lead?.outcome, lead?.exitCode, lead?.heartbeatAt],
      ['supervisor', '2026-03-17T12:05:00.000Z', 'crashed', 3, '2026-03-17T12:00:00.000Z'],
    );
    assert.deepEqual(
      [part?.parent, part?.pid, part?.vendorSession, part?.endedAt, part?.exitCode, part?.heartbeatAt],
      ['p2', 7, 'v-1', null, null, '2026-03-17T12:05:00.000Z'],
    );
    const replayed = await store.load('tally:a', 5);
    assert.deepEqual([...(replayed?.processes.values() ?? [])], [lead, part], 'a replay says the same');
    assert.equal((await store.read('tally:a'))?.row.revision, 1, 'what processes do does not move the session');
    assert.deepEqual(await store.verify(), []);
    assert.deepEqual(await store.rebuild('tally:a'), ok(false));
  });

  promise(
    'a heartbeat is kept beside the log, does not go back, and is not one of a process that has ended',
    async (store) => {
      await openTally(store, 'a');
      await commit(store, 'a', [started('p1'), started('p2'), started('p3')]);
      const heard = async (id: string) => (await store.processes({ id }))[0]?.heartbeatAt;
      await beat(store, 'p1', '2026-03-17T10:09:00.000Z');
      assert.equal(await heard('p1'), '2026-03-17T10:09:00.000Z');
      await beat(store, 'p1', '2026-03-17T10:08:59.999Z');
      assert.equal(await heard('p1'), '2026-03-17T10:09:00.000Z');
      await commit(store, 'a', [bound('p1', 'v-1')], { now: '2026-03-17T10:05:00.000Z' });
      assert.equal(await heard('p1'), '2026-03-17T10:09:00.000Z', 'nor by what comes from a slower clock');
      assert.equal(await heard('p2'), '2026-03-17T10:00:00.000Z', 'nobody else is meant');
      await commit(store, 'a', [processEnded('p2', { outcome: 'done' })]);
      await beat(store, 'p2', '2026-03-17T10:10:00.000Z');
      await beat(store, 'nobody', '2026-03-17T10:10:00.000Z');
      assert.equal(await heard('p2'), '2026-03-17T10:00:00.000Z');
      assert.equal((await store.processes({})).length, 3);
      assert.equal((await store.events('tally:a', {})).length, 6, 'the log does not tell');
      assert.deepEqual(await store.rebuild('tally:a'), ok(false));
      assert.equal(await heard('p1'), '2026-03-17T10:09:00.000Z');
      assert.deepEqual(await store.verify(), []);
    },
  );

  promise(
    'processes are loaded where a decision asks for them: those that run, and those that it names',
    async (store) => {
      await openTally(store, 'a');
      await openTally(store, 'b');
      await commit(store, 'a', [started('p1'), started('p2'), started('p3')]);
      await commit(store, 'b', [started('q1')]);
      await commit(store, 'a', [processEnded('p1', { outcome: 'done' }), processEnded('p2', { outcome: 'done' })]);
      await beat(store, 'p3', '2026-03-17T10:30:00.000Z');
      const loaded = async (processes: readonly string[] | undefined, journalOnly: boolean) => {
        const seen: (readonly string[])[] = [];
        const outcome = await store.commit({
          ...request('a', () => decided('a', [])),
          journalOnly,
          processes,
          decide: (sessions) => {
            seen.push([...(sessions.get('tally:a')?.processes.keys() ?? [])].toSorted());
            const heard = sessions.get('tally:a')?.processes.get('p3')?.heartbeatAt;
            assert.equal(heard, processes === undefined ? undefined : '2026-03-17T10:30:00.000Z');
            return ok(new Map());
          },
        });
        assert.ok(outcome.ok);
        return seen.at(-1);
      };
      for (const journalOnly of [true, false]) {
        assert.deepEqual(await loaded(undefined, journalOnly), []);
        assert.deepEqual(await loaded([], journalOnly), ['p3']);
        assert.deepEqual(await loaded(['p1'], journalOnly), ['p1', 'p3']);
        assert.deepEqual(await loaded(['p3', 'q1', 'nobody'], journalOnly), ['p3'], 'only its own');
      }
    },
  );

  promise(
    'a row says who holds its session, as long as somebody does, and a rebuild changes nothing about it',
    async (store) => {
      await openTally(store, 'a');
      await openTally(store, 'b');
      const lease = async (of: string) => (await store.rows({ name: of }))[0]?.lease ?? null;
      assert.equal(await lease('a'), null);
      await commit(store, 'a', [claimed(7, 'ana')]);
      assert.deepEqual(await lease('a'), claimFromData(claimed(7, 'ana').data));
      assert.equal((await lease('a'))?.holder.actor, 'ana');
      assert.equal(await lease('b'), null);
      assert.deepEqual(await store.rebuild('tally:a'), ok(false));
      assert.equal((await lease('a'))?.token, 7);
      await commit(store, 'a', [lost(7), claimed(8, 'bob')]);
      assert.deepEqual([(await lease('a'))?.holder.actor, (await lease('a'))?.token], ['bob', 8]);
      assert.equal((await store.load('tally:a', 2))?.common.lease?.holder.actor, 'ana', 'as it was then');
      await commit(store, 'a', [released(8)]);
      assert.equal(await lease('a'), null);
      const { common } = (await store.load('tally:a')) ?? {};
      assert.deepEqual([common?.lease, common?.token, common?.revision], [null, 8, 1], 'the token is remembered');
      await commit(store, 'a', [claimed(9, 'ana')]);
      await commit(store, 'a', [{ type: 'SessionClosed', v: 1, data: { outcome: 'aborted' } }]);
      assert.equal(await lease('a'), null, 'a close ends it');
      assert.equal((await store.load('tally:a'))?.common.token, 9);
      assert.deepEqual(await store.verify(), []);
      assert.deepEqual(await store.rebuild('tally:a'), ok(false));
      assert.equal((await store.load('tally:a'))?.common.token, 9);
    },
  );

  promise(
    'a renewal is kept beside the log, of a session and of each of its steps, survives a rebuild, and is forgotten when that is said',
    async (store) => {
      await openTally(store, 'a');
      await openTally(store, 'b');
      await commit(store, 'a', [claimed(7, 'ana')]);
      const events = await store.events('tally:a', {});
      assert.deepEqual(await store.renewals('tally:a'), new Map());
      const first = renewal(7, '10:01');
      await renew(store, 'a', '', first);
      await renew(store, 'a', 's1', renewal(5, '10:02'));
      const second = renewal(7, '10:03');
      await renew(store, 'a', '', second);
      const expected = new Map([
        ['', second],
        ['s1', renewal(5, '10:02')],
      ]);
      assert.deepEqual(await store.renewals('tally:a'), expected);
      assert.deepEqual(await store.renewals('tally:b'), new Map());
      assert.deepEqual(await store.events('tally:a', {}), events, 'the log does not tell');
      assert.equal((await store.read('tally:a'))?.row.revision, 1);
      assert.deepEqual(await store.rebuild('tally:a'), ok(false));
      assert.deepEqual(await store.renewals('tally:a'), expected);
      await renew(store, 'a', 's1', null);
      await renew(store, 'a', 's2', null);
      assert.deepEqual(await store.renewals('tally:a'), new Map([['', second]]));
      assert.deepEqual(await store.verify(), []);
    },
  );

  promise(
    'a sample is kept beside the log in the place of the one before, seen by decisions, and survives a rebuild',
    async (store) => {
      await openTally(store, 'a');
      await openTally(store, 'b');
      const events = await store.events('tally:a', {});
      await sample(store, 'a', 'usage', { tokens: 1 });
      await sample(store, 'a', 'usage', { tokens: 2 });
      await sample(store, 'a', 'agent', { percent: 40, text: 'é\u{1F600}' });
      const expected = new Map<string, JsonObject>([
        ['agent', { percent: 40, text: 'é\u{1F600}' }],
        ['usage', { tokens: 2 }],
      ]);
      assert.deepEqual(await store.samples('tally:a'), expected);
      assert.deepEqual(await store.samples('tally:b'), new Map());
      let seen: ReadonlyMap<string, JsonObject> | undefined;
      await store.commit({
        ...request('a', () => decided('a', [])),
        decide: (sessions) => {
          seen = sessions.get('tally:a')?.samples;
          return ok(new Map());
        },
      });
      assert.deepEqual(seen, expected);
      assert.deepEqual(await store.events('tally:a', {}), events, 'the log does not tell');
      assert.deepEqual(await store.rebuild('tally:a'), ok(false));
      await sample(store, 'a', 'agent', null);
      await sample(store, 'a', 'nobody', null);
      assert.deepEqual(await store.samples('tally:a'), new Map([['usage', { tokens: 2 }]]));
      assert.deepEqual(await store.verify(), []);
    },
  );

  promise('a decision sees what was renewed where the session is held, or where it asks', async (store) => {
    await openTally(store, 'a');
    const seen = async (steps: boolean, journalOnly: boolean): Promise<readonly string[]> => {
      const found: string[] = [];
      const outcome = await store.commit({
        ...request('a', () => decided('a', [])),
        journalOnly,
        steps,
        decide: (sessions) => {
          found.push(...(sessions.get('tally:a')?.renewals.keys() ?? []));
          return ok(new Map());
        },
      });
      assert.ok(outcome.ok);
      return found.toSorted();
    };
    await renew(store, 'a', '', renewal(7, '10:01'));
    await renew(store, 'a', 's1', renewal(5, '10:02'));
    for (const journalOnly of [true, false]) {
      assert.deepEqual(await seen(true, journalOnly), ['', 's1']);
      assert.deepEqual(await seen(false, journalOnly), []);
    }
    await commit(store, 'a', [claimed(7, 'ana')]);
    for (const journalOnly of [true, false]) assert.deepEqual(await seen(false, journalOnly), ['', 's1']);
  });

  promise('a refusal and a dry run renew nothing', async (store) => {
    await openTally(store, 'a');
    await commit(store, 'a', [claimed(7, 'ana')]);
    const beside = () => [{ session: 'tally:a', step: '', renewal: renewal(7, '10:01') }];
    await store.commit({ ...request('a', () => ({ ok: false, error: refuse('lease', 'No.') })), beside });
    assert.ok((await store.commit({ ...request('a', () => decided('a', [])), beside, dryRun: true })).ok);
    assert.deepEqual(await store.renewals('tally:a'), new Map());
  });

  promise(
    'refused writes are counted under the newest claim, move nothing, and begin anew with the next claim',
    async (store) => {
      await openTally(store, 'a');
      await openTally(store, 'b');
      await store.countRefusal('tally:a', '2026-03-17T10:00:30.000Z');
      assert.deepEqual(await store.refusals('tally:a'), { count: 0, at: null }, 'nobody has claimed it');
      assert.deepEqual(await store.renewals('tally:a'), new Map());
      await commit(store, 'a', [claimed(7, 'ana')]);
      await commit(store, 'b', [claimed(7, 'ana')]);
      const before = await everything(store, 'a');
      await store.countRefusal('tally:a', '2026-03-17T10:01:00.000Z');
      await store.countRefusal('tally:a', '2026-03-17T10:02:00.000Z');
      assert.deepEqual(await store.refusals('tally:a'), { count: 2, at: '2026-03-17T10:02:00.000Z' });
      assert.deepEqual(await store.refusals('tally:b'), { count: 0, at: null });
      assert.deepEqual(await store.renewals('tally:a'), new Map(), 'a refusal renews nothing');
      await renew(store, 'a', '', renewal(7, '10:03'));
      assert.deepEqual(await store.refusals('tally:a'), { count: 2, at: '2026-03-17T10:02:00.000Z' });
      assert.deepEqual(await everything(store, 'a'), before);
      assert.deepEqual(await store.rebuild('tally:a'), ok(false));
      assert.equal((await store.refusals('tally:a')).count, 2);
      await commit(store, 'a', [lost(7), claimed(8, 'bob')]);
      assert.deepEqual(await store.refusals('tally:a'), { count: 0, at: null });
      await store.countRefusal('tally:a', '2026-03-17T10:05:00.000Z');
      assert.deepEqual(await store.refusals('tally:a'), { count: 1, at: '2026-03-17T10:05:00.000Z' });
      assert.equal((await store.renewals('tally:a')).get('')?.token, 7, 'which renews nothing of the new claim');
    },
  );

  promise(
    'a refusal and a dry run leave processes as they were, and several sessions lose theirs together',
    async (store) => {
      await openTally(store, 'a');
      await openTally(store, 'b');
      await commit(store, 'a', [started('p1')]);
      await commit(store, 'b', [started('q1')]);
      const before = await store.processes({});
      const both = {
        ...request('a', () =>
          ok(
            new Map([
              ['tally:a', [processEnded('p1', { outcome: 'orphaned' })]],
              ['tally:b', [processEnded('q1', { outcome: 'orphaned' })]],
            ]),
          ),
        ),
        keys: ['tally:a', 'tally:b'],
        journalOnly: true,
        processes: [],
      };
      assert.ok((await store.commit({ ...both, dryRun: true })).ok);
      assert.deepEqual(await store.processes({}), before);
      await assert.rejects(async () => store.commit({ ...both, keys: ['tally:a'] }));
      assert.deepEqual(await store.processes({}), before);
      assert.ok((await store.commit(both)).ok);
      assert.deepEqual(await store.processes({ running: true }), []);
    },
  );

  promise('a stamp is another one after every commit, and the same as long as there is none', async (store) => {
    const stamps = [await store.stamp()];
    for (const one of ['a', 'b']) {
      await openTally(store, one);
      stamps.push(await store.stamp());
      await add(store, one, 1);
      stamps.push(await store.stamp());
    }
    assert.equal(new Set(stamps).size, 5);
    const before = await store.stamp();
    await everything(store, 'a');
    await store.heads(undefined);
    assert.equal(await store.stamp(), before, 'reading is no commit');
  });

  promise('heads are the newest events, of those that are named or of all', async (store) => {
    assert.deepEqual(await store.heads(undefined), new Map());
    await openTally(store, 'b');
    await openTally(store, 'a');
    await add(store, 'a', 1);
    const newest = async (key: string): Promise<Position> => {
      const [event] = await store.events(key, { last: 1 });
      assert.ok(event !== undefined);
      return { seq: event.seq, sign: event.hash.slice(0, 8) };
    };
    const a = await newest('tally:a');
    const b = await newest('tally:b');
    assert.deepEqual(
      [...(await store.heads(undefined))],
      [
        ['tally:a', a],
        ['tally:b', b],
      ],
    );
    assert.equal(a.seq, 2);
    assert.deepEqual(await store.heads(['tally:a', 'tally:c']), new Map([['tally:a', a]]));
    assert.deepEqual(await store.heads([]), new Map());
  });

  promise('stretches are read on piece by piece, each event once and in its order', async (store) => {
    await openTally(store, 'a');
    await openTally(store, 'b');
    for (let amount = 1; amount <= 70; amount += 1) await add(store, amount % 7 === 0 ? 'b' : 'a', amount);
    const whole = [...(await store.events('tally:a', { after: 3 })), ...(await store.events('tally:b', {}))];
    for (const enough of [1, 7, 33, 1000]) {
      const at = new Map([['tally:a', positionAt(await store.event('tally:a', 3))]]);
      const read: StoredEvent[] = [];
      for (let calls = 0; ; calls += 1) {
        const heads = await store.heads(undefined);
        const stretches = [...heads]
          .map(([session, { seq }]) => ({ session, from: at.get(session) ?? start, until: seq }))
          .filter(({ from, until }) => from.seq < until);
        if (stretches.length === 0) break;
        const { events, strayed } = await store.readOn(stretches, enough);
        assert.equal(strayed, undefined);
        assert.ok(events.length > 0 && events.length <= enough);
        for (const event of events) at.set(event.session, positionAt(event));
        read.push(...events);
        assert.ok(calls < 80);
      }
      assert.deepEqual(read, whole, `${enough} at a time`);
    }
  });

  promise('large events come a few at a time', async (store) => {
    await openTally(store, 'a');
    const text = 'x'.repeat(700_000);
    for (let count = 0; count < 40; count += 1) await commit(store, 'a', [{ type: 'Marked', v: 1, data: { text } }]);
    const { events } = await store.readOn([{ session: 'tally:a', from: start, until: 41 }], 1000);
    assert.ok(events.length >= 2 && events.length <= 33, String(events.length));
    assert.equal(events[1]?.data['text'], text);
  });

  promise('a session whose events are not those that were read before is told apart', async (store) => {
    await openTally(store, 'a');
    await openTally(store, 'b');
    await add(store, 'b', 1);
    const read = async (session: string, from: Position, until: number) =>
      store.readOn(
        [
          { session: 'tally:b', from: start, until: 2 },
          { session, from, until },
          { session: 'tally:b', from: start, until: 2 },
        ],
        1000,
      );
    const strayed = { session: 'tally:a', salvaged: null };
    for (const from of [
      { seq: 1, sign: '00000000' },
      { seq: 9, sign: '' },
      { seq: 9, sign: '00000000' },
    ]) {
      const found = await read('tally:a', from, 1);
      assert.deepEqual(found.strayed, strayed);
      assert.equal(found.events.length, 2, 'what comes before it is read');
    }
    assert.equal((await read('tally:a', { seq: 1, sign: '' }, 1)).strayed, undefined);
    await commit(store, 'a', [{ type: 'Salvaged', v: 1, data: { lost: 'event 2' } }]);
    await commit(store, 'a', [{ type: 'Salvaged', v: 1, data: { lost: 'event 3' } }]);
    assert.deepEqual((await read('tally:a', { seq: 2, sign: '00000000' }, 3)).strayed, { ...strayed, salvaged: 2 });
  });

  promise(
    'who looks again and again while others write reads every event once, in the order of its session',
    async (store) => {
      const names = Array.from({ length: 8 }, (_, index) => `n${index}`);
      let isWritten = false;
      const writing = Promise.all(
        names.map(async (one, index) => {
          await openTally(store, one);
          for (let amount = 0; amount < 15; amount += 1) {
            await add(store, one, amount);
            // Two at once, so that sessions overtake each other.
            if (index % 2 === 0) await Promise.all([add(store, one, 1), add(store, 'n0', 1)]);
          }
        }),
      ).then(() => {
        isWritten = true;
      });
      const at = new Map<string, Position>();
      const read: StoredEvent[] = [];
      let stamp: string | undefined;
      for (let isLast = false; !isLast;) {
        isLast = isWritten;
        const fresh = await store.stamp();
        if (fresh !== stamp) {
          const stretches = [...(await store.heads(undefined))].map(([session, { seq }]) => ({
            session,
            from: at.get(session) ?? start,
            until: seq,
          }));
          const { events, strayed } = await store.readOn(stretches, 5);
          assert.equal(strayed, undefined);
          for (const event of events) {
            assert.equal(event.seq, (at.get(event.session)?.seq ?? 0) + 1);
            at.set(event.session, positionAt(event));
            read.push(event);
          }
          if (events.length > 0) isLast = false;
          else stamp = fresh;
        }
        await turn();
      }
      await writing;
      const keys = (await store.rows({})).map(({ key }) => key);
      let total = 0;
      for (const key of keys) {
        const whole = await store.events(key, {});
        assert.deepEqual(
          read.filter(({ session }) => session === key),
          whole,
        );
        total += whole.length;
      }
      assert.equal(read.length, total);
    },
  );
};

/** A file that nobody is to look at. */
const untouched: MirrorFile = {
  stamp: () => assert.fail('it was looked at'),
  digest: () => assert.fail('it was read'),
  write: () => assert.fail('it was written'),
};

/** Before the first event. */
const start: Position = { seq: 0, sign: '' };

const positionAt = (event: StoredEvent | undefined): Position => {
  assert.ok(event !== undefined);
  return positionOf(event);
};

/** A kind for the suite: a sum, with one mirror. */
const tally: Kind = defineKind({
  name: 'tally',
  summary: 'a sum, for tests',
  stateVersion: 1,
  commands: v.variant('type', [v.object({ type: v.literal('begin') }), v.object({ type: v.literal('continue') })]),
  events: v.variant('type', [
    v.object({ type: v.literal('Added'), amount: v.number() }),
    v.looseObject({ type: v.literal('Marked') }),
  ]),
  eventVersions: { Added: 1, Marked: 1 },
  initial: { sum: 0, changed: 0 },
  evolve: (state, event, { seq }) => (event.type === 'Added' ? { sum: state.sum + event.amount, changed: seq } : state),
  decide: () => ok([]),
  view: (state) => ({
    position: `sum ${state.sum}`,
    where: { sum: state.sum },
    fields: {},
    remaining: [],
    missing: [],
    next: { kind: 'finish', text: 'Finish.', command: 'stint finish' },
    evidence: [],
  }),
  folder: (session) => `tallies/${session}`,
  sampled: (_state, _common, samples) => Object.fromEntries(samples),
  mirrors: (state) =>
    state.changed === 0
      ? []
      : [
          {
            path: 'sum.txt',
            source: state.changed,
            render: (event) => `${JSON.stringify(event.data)}\n`,
          },
        ],
  examples: [{ type: 'begin' }],
});

interface Facts {
  readonly now?: string;
  readonly branch?: string | null;
}

const opened: NewEvent = { type: 'SessionOpened', v: 1, data: { branch: 'main', worktree: 'main' } };

const added = (amount: number): NewEvent => ({ type: 'Added', v: 1, data: { amount } });

const started = (process: string, more: JsonObject = {}): NewEvent => ({
  type: 'ProcessStarted',
  v: 1,
  data: { process, kind: 'instance', host: 'desk', ...more },
});

const bound = (process: string, vendorSession: string): NewEvent => ({
  type: 'ProcessBound',
  v: 1,
  data: { process, vendor_session: vendorSession },
});

const processEnded = (process: string, how: JsonObject): NewEvent => ({
  type: 'ProcessEnded',
  v: 1,
  data: { process, ...how },
});

const claimed = (token: number, actor: string): NewEvent => ({
  type: 'LeaseClaimed',
  v: 1,
  data: {
    token,
    holder: { actor, host: 'desk', user: 'u', place: 'here', worktree: 'main' },
    purpose: 'p',
    claimed_at: '2026-03-17T10:00:00.000Z',
    expires_at: '2026-03-17T10:30:00.000Z',
    sign: { host: 'desk', host_id: 'h', pid: 7, pid_start: '1' },
  },
});

const lost = (token: number): NewEvent => ({ type: 'LeaseLost', v: 1, data: { token, because: 'taken over' } });

const released = (token: number): NewEvent => ({ type: 'LeaseReleased', v: 1, data: { token } });

/** A renewal of that token at a time of that day, until noon. */
const renewal = (token: number, time: string): Renewal => ({
  token,
  at: `2026-03-17T${time}:00.000Z`,
  expiresAt: '2026-03-17T12:00:00.000Z',
});

type Decided = Result<ReadonlyMap<string, readonly NewEvent[]>, Refusal>;

const decided = (name: string, events: readonly NewEvent[]): Decided => ok(new Map([[`tally:${name}`, events]]));

let requests = 0;

const request = (name: string, decide: () => Decided, facts: Facts = {}): CommitRequest<JsonObject> => {
  requests += 1;
  return {
    keys: [`tally:${name}`],
    guards: [],
    origin: { now: facts.now ?? '2026-03-17T10:00:00.000Z', actor: 'ana', place: 'here', cause: `c${requests}` },
    request: { id: `c${requests}`, verb: 'add', digest: '', given: false },
    journalOnly: false,
    expectRevision: undefined,
    dryRun: false,
    decide,
    answer: (after) => ({ sum: sumOf(after.get(`tally:${name}`)) }),
  };
};

const commit = async (store: Store, name: string, events: readonly NewEvent[], facts: Facts = {}): Promise<void> => {
  const processes = events.flatMap((event) => processOf(event) ?? []);
  const outcome = await store.commit({ ...request(name, () => decided(name, events), facts), processes });
  assert.ok(outcome.ok && outcome.value.kind === 'committed');
};

const beat = async (store: Store, process: string, heartbeatAt: string): Promise<void> => {
  const outcome = await store.commit({
    ...request('a', () => decided('a', [])),
    beside: () => [{ process, heartbeatAt }],
  });
  assert.ok(outcome.ok && outcome.value.kind === 'committed');
};

const sample = async (store: Store, name: string, of: string, value: JsonObject | null): Promise<void> => {
  const outcome = await store.commit({
    ...request(name, () => decided(name, [])),
    beside: () => [{ session: `tally:${name}`, sample: of, value }],
  });
  assert.ok(outcome.ok && outcome.value.kind === 'committed');
};

const renew = async (store: Store, name: string, step: string, renewed: Renewal | null): Promise<void> => {
  const outcome = await store.commit({
    ...request(name, () => decided(name, [])),
    beside: () => [{ session: `tally:${name}`, step, renewal: renewed }],
  });
  assert.ok(outcome.ok && outcome.value.kind === 'committed');
};

const openTally = async (store: Store, name: string, facts: Facts = {}): Promise<void> =>
  commit(
    store,
    name,
    [{ ...opened, data: { branch: facts.branch === undefined ? 'main' : facts.branch, worktree: 'main' } }],
    facts,
  );

const add = async (store: Store, name: string, amount: number, facts: Facts = {}): Promise<void> =>
  commit(store, name, [added(amount)], facts);

const sumOf = (session: Session | undefined): number => {
  const sum = session?.common === undefined ? undefined : session.folded.view(session.common).where['sum'];
  return typeof sum === 'number' ? sum : Number.NaN;
};

const everything = async (store: Store, name: string): Promise<JsonObject> =>
  JSON.parse(
    JSON.stringify([
      await store.rows({}),
      await store.events(`tally:${name}`, {}),
      await store.mirrors([`tally:${name}`]),
    ]),
  );
