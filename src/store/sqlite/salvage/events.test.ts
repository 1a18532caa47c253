import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { kernelEvent, type StoredEvent } from '../../../kernel/event.ts';
import { kinds as builtin } from '../../../kinds/registry.gen.ts';
import { ok } from '../../../lib/result.ts';
import {
  fillStore,
  filesOf,
  folderFor,
  must,
  nameOf,
  writtenEvents,
  type StoreFiles,
} from '../../../../test/support/salvage.ts';
import { salvageStore, type SalvagedSession } from './events.ts';
import { openSqliteStore } from '../store.ts';
import { leafRecords, readPages } from './pages.ts';

interface Written {
  readonly path: string;
  readonly events: ReadonlyMap<string, readonly StoredEvent[]>;
  readonly byState: Readonly<Record<'log' | 'file' | 'both', StoreFiles>>;
}

/** One store in three states: all of it still in the log, all in the file, and its newest part in the log. */
const writeStore = async (t: TestContext, sessions: number): Promise<Written> => {
  const { stint, path } = await fillStore(folderFor(t), sessions);
  t.after(stint.close);
  for (let index = 0; index < sessions; index += 3)
    await must(stint, 'note', { session: nameOf(index), text: `the last of ${index}` });
  const log = filesOf(path);
  const other = new DatabaseSync(path);
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  other.close();
  const file = filesOf(path);
  assert.equal(file.log.length, 0);
  for (let index = 0; index < sessions; index += 3)
    await must(stint, 'note', { session: nameOf(index), text: `and one more ${'z'.repeat(index * 300)}` });
  return { path, events: writtenEvents(path), byState: { log, file, both: filesOf(path) } };
};

const byKey = (sessions: readonly SalvagedSession[]): ReadonlyMap<string, SalvagedSession> =>
  new Map(sessions.map((session) => [session.key, session]));

/** The events of each session as they were in that state. */
const eventsIn = ({ events }: Written, state: string): ReadonlyMap<string, readonly StoredEvent[]> =>
  state === 'both'
    ? events
    : new Map([...events].map(([key, all], index) => [key, index % 3 === 0 ? all.slice(0, -1) : all]));

test('a whole store is salvaged whole: from its log, its file, and both', async (t) => {
  const written = await writeStore(t, 50);
  for (const state of ['log', 'file', 'both'] as const) {
    const salvaged = salvageStore(written.byState[state]);
    assert.equal(salvaged.log.broken, false);
    assert.deepEqual(
      salvaged.sessions.map(({ key, events }) => [key, events]),
      [...eventsIn(written, state)],
    );
    assert.deepEqual(
      salvaged.mirrors.map(({ path, stamp }) => [path, stamp]),
      salvageStore(written.byState.both).mirrors.map(({ path, stamp }) => [path, stamp]),
    );
    for (const { events, lost, row, agrees, certain, behind } of salvaged.sessions)
      assert.deepEqual([lost, row?.seq, agrees, certain, behind], [null, events.length, true, true, []]);
  }
  const database = new DatabaseSync(written.path);
  const plain = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }));
  const { identity, requests, mirrors } = salvageStore(written.byState.both);
  assert.deepEqual(
    identity,
    Object.fromEntries(plain('SELECT key, value FROM meta').map(({ key, value }) => [key, value])),
  );
  assert.deepEqual(
    requests
      .map((request) => ({ ...request, answer: JSON.stringify(request.answer) }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    plain('SELECT id, verb, actor, digest, answer, at FROM request ORDER BY id'),
  );
  assert.equal(mirrors.length, 3);
  assert.deepEqual(mirrors, plain('SELECT session, place, path, source, digest, stamp, at FROM mirror ORDER BY id'));
  database.close();
});

/** A change to one of the files; the first number tells where, as a share of its length. */
type Damage =
  | { readonly kind: 'flip'; readonly at: number; readonly bit: number }
  | { readonly kind: 'zeros' | 'noise' | 'cut'; readonly at: number }
  | { readonly kind: 'header' | 'lost' };

const damage: fc.Arbitrary<readonly [keyof StoreFiles, Damage]> = fc.tuple(
  fc.constantFrom('database' as const, 'log' as const),
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('flip' as const), at: share(), bit: fc.nat(7) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('zeros' as const, 'noise' as const), at: share() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const), at: share() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('header' as const, 'lost' as const) }) },
  ),
);

function share(): fc.Arbitrary<number> {
  return fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
}

/** Does it, and answers from where to where bytes were touched. */
const harm = (
  file: Uint8Array,
  change: Damage,
): { readonly file: Uint8Array; readonly touched: readonly [number, number] } => {
  const changed = file.slice();
  if (file.length === 0) return { file: changed, touched: [0, 0] };
  switch (change.kind) {
    case 'flip': {
      const at = Math.floor(change.at * file.length);
      changed[at] = (changed[at] ?? 0) ^ (1 << change.bit);
      return { file: changed, touched: [at, at + 1] };
    }
    case 'zeros':
    case 'noise': {
      const at = Math.floor((change.at * file.length) / 4096) * 4096;
      const noise = (index: number): number => Math.imul(index + at + 7, 0x9e37_79b1) >>> 13;
      changed.set(
        changed.subarray(at, at + 4096).map((_, index) => (change.kind === 'zeros' ? 0 : noise(index))),
        at,
      );
      return { file: changed, touched: [at, at + 4096] };
    }
    case 'cut': {
      const at = Math.floor(change.at * file.length);
      return { file: changed.subarray(0, at), touched: [at, Infinity] };
    }
    case 'header':
      return { file: changed.fill(0, 0, 32), touched: [0, 32] };
    case 'lost':
      return { file: new Uint8Array(), touched: [0, Infinity] };
  }
};

/** Where in the files each session lies: the images of all of its rows, with the headers of their frames. */
const placesOf = (files: StoreFiles): ReadonlyMap<string, readonly (readonly [keyof StoreFiles, number, number])[]> => {
  const places = new Map<string, (readonly [keyof StoreFiles, number, number])[]>();
  const pages = readPages(files.database, files.log);
  const { recoveredFrames } = pages.log.state;
  const lastCommit = pages.log.frames.slice(0, -1).findLastIndex(({ commit }) => commit > 0) + 1;
  for (const { values, images } of leafRecords(pages)) {
    const key = values.length === 12 ? values[1] : values.length >= 24 ? values[0] : undefined;
    if (typeof key !== 'string') continue;
    const list = places.get(key) ?? [];
    places.set(key, list);
    for (const { frame, page } of images) {
      if (frame === 0) list.push(['database', (page - 1) * 4096, page * 4096]);
      else list.push(['log', 32 + (frame - 1) * 4120, 32 + frame * 4120]);
      // The last transaction is committed by its last frame, whatever that holds.
      if (frame > lastCommit) list.push(['log', 32 + (recoveredFrames - 1) * 4120, 32 + recoveredFrames * 4120]);
    }
  }
  return places;
};

test('damage never makes a wrong event, and leaves every session that it did not touch whole and certain', async (t) => {
  const written = await writeStore(t, 50);
  for (const state of ['file', 'both', 'log'] as const) {
    const files = written.byState[state];
    const events = eventsIn(written, state);
    const known = new Set([...events.values()].flat().map((event) => JSON.stringify(event)));
    const places = placesOf(files);
    let untouched = 0;
    let hurt = 0;
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 6 }), (changes) => {
        const harmed = { ...files };
        const touched: (readonly [keyof StoreFiles, number, number])[] = [];
        for (const [which, change] of changes) {
          const { file, touched: range } = harm(harmed[which], change);
          harmed[which] = file;
          touched.push([which, ...range]);
        }
        const { sessions } = salvageStore(harmed);
        for (const session of sessions) {
          session.events.forEach((event, index) => {
            assert.equal(event.seq, index + 1);
            assert.ok(known.has(JSON.stringify(event)), `${event.session} ${event.seq} was never written`);
          });
        }
        const found = byKey(sessions);
        for (const [key, all] of events) {
          const own = places.get(key) ?? [];
          assert.ok(own.length > 0);
          if (own.some(([file, from, to]) => touched.some(([which, a, b]) => which === file && a < to && from < b))) {
            if (found.get(key)?.certain !== true) hurt += 1;
            continue;
          }
          untouched += 1;
          assert.deepEqual(found.get(key)?.events.length, all.length, key);
          assert.equal(found.get(key)?.certain, true, key);
        }
      }),
      { numRuns: state === 'log' ? 40 : 120 },
    );
    // The property says something only where there are both.
    assert.ok(untouched > 100 && hurt > 20, `${state}: ${untouched} untouched, ${hurt} hurt`);
  }
});

/** The store of one session in its file, and the bytes of a text in it. */
const smallStore = async (t: TestContext): Promise<StoreFiles> => {
  const { stint, path } = await fillStore(folderFor(t), 1);
  const other = new DatabaseSync(path);
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  other.close();
  await stint.close();
  return filesOf(path);
};

const overwrite = (files: StoreFiles, text: string, other: string): StoreFiles => {
  const database = Buffer.from(files.database);
  const at = database.indexOf(text);
  assert.ok(at > 0, `${text} is in the file`);
  for (let next = at; next >= 0; next = database.indexOf(text, next + 1)) database.write(other, next);
  return { ...files, database };
};

test('the events end before one that is damaged, and what lies behind it is verified with the hash that it has', async (t) => {
  const files = await smallStore(t);
  const [whole] = salvageStore(files).sessions;
  assert.ok(whole?.certain === true && whole.events.length > 8);
  const [session] = salvageStore(overwrite(files, '2 of 0', '2 or 0')).sessions;
  assert.ok(session !== undefined);
  const seq = session.events.length + 1;
  assert.deepEqual(session, {
    key: whole.key,
    events: whole.events.slice(0, seq - 1),
    lost: { fromSeq: seq, reason: `event ${seq} differs from its hash` },
    behind: whole.events.slice(seq).map((event, index) => ({ event, previous: whole.events[seq + index - 1]?.hash })),
    // The text stands in the journal of the row as well.
    row: null,
    agrees: null,
    certain: false,
  });
});

test('a damaged hash is made good by the event that is chained to it, and the last one by the row', async (t) => {
  const files = await smallStore(t);
  const [whole] = salvageStore(files).sessions;
  assert.ok(whole !== undefined);
  for (const event of [whole.events[2], whole.events.at(-1)]) {
    // The row holds the hash of the last event before its view, the event holds it at its end.
    const database = Buffer.from(files.database);
    const places: number[] = [];
    for (let at = database.indexOf(event?.hash ?? '?'); at >= 0; at = database.indexOf(event?.hash ?? '?', at + 1))
      places.push(at);
    const ofEvents = places.filter((place) => database[place - 1] === '}'.charCodeAt(0));
    assert.ok(ofEvents.length > 0);
    for (const at of ofEvents) database.write(event?.hash.startsWith('0') === true ? '1' : '0', at);
    const [session] = salvageStore({ ...files, database }).sessions;
    assert.deepEqual(session, whole);
  }
});

test('a session is not certain where its newest row is damaged, or its row tells more than there is', async (t) => {
  const { stint, path } = await fillStore(folderFor(t), 1);
  const { database, log } = filesOf(path);
  await stint.close();
  const frames = (log.length - 32) / 4120;
  const lengths = new Set<number>();
  for (let kept = 1; kept <= frames; kept += 1) {
    const [session] = salvageStore({ database, log: log.subarray(0, 32 + kept * 4120) }).sessions;
    if (session === undefined) continue;
    assert.equal(session.certain, true, String(kept));
    lengths.add(session.events.length);
  }
  // Every commit was one of the states.
  assert.ok(lengths.size >= 10, String(lengths.size));
  const newest = Buffer.from(log);
  const at = newest.lastIndexOf('"notes"');
  assert.ok(at > 0);
  newest.write('?', at + 1);
  const [session] = salvageStore({ database, log: newest }).sessions;
  assert.deepEqual([session?.certain, session?.lost], [false, null]);

  // Without the newest event nothing but the damaged row tells that there was one.
  const { hash = '', seq = 0 } = session?.events.at(-1) ?? {};
  for (let place = newest.indexOf(hash); place >= 0; place = newest.indexOf(hash, place + 1)) newest.write('?', place);
  const [shorter] = salvageStore({ database, log: newest }).sessions;
  assert.deepEqual([shorter?.events.length, shorter?.agrees], [seq - 1, true]);
  assert.ok((shorter?.row?.seq ?? seq) < seq, 'an older row says less');
  assert.deepEqual([shorter?.certain, shorter?.lost?.fromSeq], [false, seq]);
});

test('what is damaged in the log is taken from the file, and the other way round', async (t) => {
  const { stint, path } = await fillStore(folderFor(t), 5);
  const other = new DatabaseSync(path);
  other.exec('PRAGMA wal_checkpoint(PASSIVE)');
  other.close();
  const files = filesOf(path);
  await stint.close();
  const whole = salvageStore(files).sessions;
  for (const which of ['database', 'log'] as const) {
    const damaged = Buffer.from(files[which]);
    for (let at = damaged.indexOf('"text":"'); at >= 0; at = damaged.indexOf('"text":"', at + 1))
      damaged.write('?', at + 12);
    assert.deepEqual(
      salvageStore({ ...files, [which]: damaged }).sessions.map(({ events }) => events),
      whole.map(({ events }) => events),
    );
  }
});

test('columns that a later migration appends to a session are no obstacle', async (t) => {
  const { stint, path } = await fillStore(folderFor(t), 3);
  const other = new DatabaseSync(path);
  other.exec('ALTER TABLE session ADD COLUMN later INTEGER; UPDATE session SET later = 4000000000');
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  other.close();
  assert.deepEqual(
    salvageStore(filesOf(path)).sessions.map(({ certain }) => certain),
    [true, true, true],
  );
  await stint.close();
});

test('a row of a session that is paused, or put away, is as sound as any', async (t) => {
  const { stint, path } = await fillStore(folderFor(t), 2);
  await stint.close();
  const kinds = new Map(builtin.map((kind) => [kind.name, kind]));
  const store = openSqliteStore(path, kinds, { create: false });
  const [first, second] = (await store.rows({})).map(({ key }) => key);
  for (const [key = '', type] of [
    [first, 'SessionPaused'],
    [second, 'SessionArchived'],
  ] as const) {
    const outcome = await store.commit({
      keys: [key],
      guards: [],
      origin: { now: '2026-03-17T20:00:00.000Z', actor: 'ana', place: 'here', cause: 'c' },
      request: { id: 'c', verb: 'x', digest: '', given: false },
      journalOnly: false,
      expectRevision: undefined,
      dryRun: false,
      decide: () => ok(new Map([[key, [kernelEvent(type, {})]]])),
      answer: () => ({}),
    });
    assert.ok(outcome.ok);
  }
  assert.deepEqual(
    salvageStore(filesOf(path)).sessions.map(({ certain }) => certain),
    [true, true],
  );
  await store.close();
});

test('nothing comes of nothing', () => {
  const nothing = new Uint8Array();
  assert.deepEqual(salvageStore({ database: nothing, log: nothing }), {
    identity: { id: null, key: null },
    sessions: [],
    named: [],
    requests: [],
    mirrors: [],
    log: { frames: 0, recoveredFrames: 0, committedFrames: 0, broken: false, lastOnly: false },
    isCopy: false,
  });
});

test('a log whose file is gone is enough for the sessions', async (t) => {
  const { stint, path } = await fillStore(folderFor(t), 3);
  const { log } = filesOf(path);
  const { sessions, identity } = salvageStore({ database: new Uint8Array(), log });
  assert.deepEqual(
    sessions.map(({ certain }) => certain),
    [true, true, true],
  );
  // The store's id goes into the file when it is made.
  assert.deepEqual(identity, { id: null, key: null });
  await stint.close();
});
