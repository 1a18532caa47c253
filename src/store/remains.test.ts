import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { filesOf, fillStore, folderFor, must, putFiles, type StoreFiles } from '../../test/support/salvage.ts';
import { openStint } from '../index.ts';
import type { StoredEvent } from '../kernel/event.ts';
import { kinds } from '../kinds/registry.gen.ts';
import { gatherRemains, type Remains } from './remains.ts';
import { salvageStore } from './sqlite/salvage/events.ts';

const key = 'review:s-00';

const kindsByName = new Map(kinds.map((kind) => [kind.name, kind]));

/** A store of one review as it was after so many further remarks, each time. */
const statesOf = async (context: TestContext, ...remarks: readonly number[]): Promise<readonly StoreFiles[]> => {
  const { stint, path } = await fillStore(folderFor(context), 1);
  const states: StoreFiles[] = [];
  for (const count of remarks) {
    for (let remark = 0; remark < count; remark += 1)
      await must(stint, 'note', { session: 's-00', text: `${states.length}.${remark}` });
    states.push(filesOf(path));
  }
  await stint.close();
  return states;
};

/** The database alone, with everything from the log in it, made another one by some SQL. */
const edited = (context: TestContext, files: StoreFiles, sql = ''): StoreFiles => {
  const path = join(folderFor(context), 'edited.db');
  putFiles(path, files);
  const database = new DatabaseSync(path);
  if (sql !== '') database.exec(`DROP TRIGGER event_is_kept; DROP TRIGGER event_is_immutable; ${sql}; VACUUM`);
  database.close();
  return filesOf(path);
};

/** What is gathered of a store with these files, copies and names of events. */
const gather = (
  context: TestContext,
  store: StoreFiles,
  { copies = {}, tip = '' }: { readonly copies?: Readonly<Record<string, StoreFiles>>; readonly tip?: string } = {},
): Remains => {
  const folder = folderFor(context);
  const path = join(folder, 'stint.db');
  putFiles(path, store);
  if (tip !== '') writeFileSync(`${path}-tip`, tip);
  const [copy] = Object.values(copies);
  const id = salvageStore(copy ?? store).identity.id ?? 'c0'.repeat(16);
  writeFileSync(join(folder, 'stint-id'), `${id}\n`);
  mkdirSync(join(folder, 'copies', id), { recursive: true });
  for (const [time, files] of Object.entries(copies))
    putFiles(join(folder, 'copies', id, `2026-03-17T${time}Z.db`), files);
  return gatherRemains(
    { path, idFile: join(folder, 'stint-id'), copies: join(folder, 'copies'), traces: () => [] },
    kindsByName,
  );
};

const nothing: StoreFiles = { database: new Uint8Array(), log: new Uint8Array() };

const lastOf = ({ sessions }: Remains) => {
  const [session] = sessions;
  return session === undefined
    ? undefined
    : { events: session.events.length, source: session.source, flaw: session.flaw };
};

test('a whole store is its own remains: nothing is missing, and no copy is looked for', async (context) => {
  const [before, after] = await statesOf(context, 0, 2);
  assert.ok(before !== undefined && after !== undefined);
  const whole = lastOf(gather(context, after));
  assert.equal(whole?.flaw, null);
  assert.deepEqual(lastOf(gather(context, after, { copies: { '090000': before } })), whole);
});

test('of a store that is gone the longest history of its copies is taken, and later events are not vouched for', async (context) => {
  const [older, newer] = await statesOf(context, 0, 2);
  assert.ok(older !== undefined && newer !== undefined);
  const events = lastOf(gather(context, newer))?.events;
  for (const [at, copies] of [
    ['10', { '090000': older, '100000': newer }],
    // A clock that went back has named the newer one earlier.
    ['09', { '100000': older, '090000': newer }],
    ['10', { '110000': nothing, '100000': newer }],
  ] as const) {
    assert.deepEqual(lastOf(gather(context, nothing, { copies })), {
      events,
      source: 'copy',
      flaw: `it comes from the copy of 2026-03-17T${at}:00:00.000Z: whatever happened to it later is lost`,
    });
  }
});

test('where events are missing in the store, a copy that goes on from there is taken', async (context) => {
  const [state] = await statesOf(context, 4);
  assert.ok(state !== undefined);
  const events = lastOf(gather(context, state))?.events ?? 0;
  const cut = edited(context, state, `DELETE FROM event WHERE seq = ${events - 2}`);
  assert.deepEqual(lastOf(gather(context, cut)), {
    events,
    source: 'store',
    // The one behind is there, and nothing says what it was chained to.
    flaw: `the events from ${events - 2} to ${events - 1} are lost`,
  });
  const remains = gather(context, cut, { copies: { '090000': state } });
  assert.deepEqual(lastOf(remains), { events, source: 'copy', flaw: null });
  assert.equal(remains.copy, '2026-03-17T09:00:00.000Z');
  const one = edited(context, state, `DELETE FROM event WHERE seq = ${events}`);
  assert.equal(lastOf(gather(context, one))?.flaw, `event ${events} is lost`);
});

test('whichever event is damaged, what was noted and done behind it is kept, and the state is what it was or told as shorter', async (context) => {
  const { stint, path } = await fillStore(folderFor(context), 1);
  await must(stint, 'process start', { kind: 'supervisor', session: 's-00' });
  await must(stint, 'begin', { kind: 'review', name: 's-00' });
  await must(stint, 'finish', { session: 's-00', abort: true, reason: 'enough' });
  await must(stint, 'note', { session: 's-00', text: 'the last word' });
  await stint.close();
  const state = filesOf(path);
  const [whole] = gather(context, state).sessions;
  assert.ok(whole !== undefined && whole.events.length > 15);
  let kept = 0;
  for (const { seq, type } of whole.events) {
    const harmed = edited(context, state, `UPDATE event SET data = '{"x":1}' WHERE seq = ${seq}`);
    const [session] = gather(context, harmed).sessions;
    if (seq === 1) {
      assert.equal(session, undefined, 'nothing is known of a session without its beginning');
      continue;
    }
    assert.ok(session !== undefined, type);
    assert.deepEqual(session.events.slice(0, seq - 1), whole.events.slice(0, seq - 1));
    if (session.events.length === whole.events.length) {
      kept += 1;
      assert.equal(session.flaw, `event ${seq} is lost`);
      const facts = (events: readonly StoredEvent[]) => events.map(({ hash: _hash, ...fact }) => fact);
      assert.deepEqual(facts(session.events.slice(seq)), facts(whole.events.slice(seq)));
      assert.equal(session.events[seq - 1]?.type, 'Salvaged');
    } else {
      assert.equal(session.events.length, seq - 1);
      assert.match(session.flaw ?? '', new RegExp(`^the events from ${seq} to|^event ${seq} is lost`));
    }
  }
  assert.ok(kept > whole.events.length / 2, `${kept} of ${whole.events.length}`);
  const note = whole.events.findIndex(({ type }) => type === 'Noted') + 1;
  const older = edited(context, state, `DELETE FROM event WHERE seq > ${note + 1}`);
  const harmed = edited(context, state, `UPDATE event SET data = '{"x":1}' WHERE seq = ${note}`);
  const joined = gather(context, harmed, { copies: { '090000': older } }).sessions[0];
  assert.deepEqual(
    [joined?.flaw, joined?.events],
    [null, whole.events],
    'a copy and what follows it here are one history',
  );
});

test('a copy of a history that was given up does not take the place of the one that went on', async (context) => {
  const { stint, path } = await fillStore(folderFor(context), 1);
  const base = filesOf(path);
  for (const text of ['a', 'b', 'c', 'd']) await must(stint, 'note', { session: 's-00', text });
  const givenUp = filesOf(path);
  await stint.close();
  const folder = folderFor(context);
  for (const part of ['.git/objects', '.git/refs', '.stint']) mkdirSync(join(folder, part), { recursive: true });
  writeFileSync(join(folder, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(folder, '.git/config'), '[core]\n');
  putFiles(join(folder, '.stint/stint.db'), base);
  const opened = openStint({ cwd: folder, actor: 'ana' });
  assert.ok(opened.ok);
  for (const text of ['another', 'way']) await must(opened.value, 'note', { session: 's-00', text });
  const wentOn = filesOf(join(folder, '.stint/stint.db'));
  await opened.value.close();

  const whole = lastOf(gather(context, wentOn));
  assert.deepEqual(lastOf(gather(context, wentOn, { copies: { '090000': givenUp } })), whole);
  const events = whole?.events ?? 0;
  const cut = edited(context, wentOn, `DELETE FROM event WHERE seq = ${events}`);
  assert.deepEqual(lastOf(gather(context, cut, { copies: { '090000': givenUp } })), {
    events: events - 1,
    source: 'store',
    flaw: `event ${events} is lost`,
  });
});

test('what was answered and is in no file is missed by its number', async (context) => {
  const [state] = await statesOf(context, 1);
  assert.ok(state !== undefined);
  const events = lastOf(gather(context, state))?.events ?? 0;
  const tip = (seq: number): string => `${key} ${seq}\nreview:gone 2\nnonsense\n${key} 1\n`;
  const remains = gather(context, state, { tip: tip(events + 2) });
  assert.equal(lastOf(remains)?.flaw, `the events from ${events + 1} to ${events + 2} are lost`);
  assert.deepEqual(remains.lost, ['review:gone']);
  assert.equal(lastOf(gather(context, state, { tip: tip(events) }))?.flaw, null);
});

test('a session whose row is lost is kept, and nobody vouches for its end', async (context) => {
  const [state] = await statesOf(context, 1);
  assert.ok(state !== undefined);
  const without = edited(context, state, 'PRAGMA foreign_keys = OFF; DELETE FROM session');
  const left = lastOf(gather(context, without));
  assert.equal(left?.flaw, `whether it had events behind ${left?.events} is not known: its row is lost`);
});

test('a session that only an index still names is told as lost, never as if it had not been', async (context) => {
  const { stint, path } = await fillStore(folderFor(context), 40);
  await stint.close();
  const { database, log } = filesOf(path);
  const remains = gather(context, { database: database.slice().fill(0, 0, 0), log });
  assert.deepEqual(remains.lost, []);
  assert.equal(remains.sessions.length, 40);
  // Every leaf of a table is taken away; the leaves of indexes stay.
  const bytes = database.slice();
  for (let page = 1; page < bytes.length / 4096; page += 1)
    if (bytes[page * 4096] === 0x0d) bytes.fill(0, page * 4096, (page + 1) * 4096);
  const named = gather(context, { database: bytes, log });
  assert.deepEqual(named.sessions, []);
  assert.equal(named.lost.length, 40);
});

test('a repair that was interrupted is gone on with: what it had put aside counts, and what was put aside before does not', async (context) => {
  const [state] = await statesOf(context, 1);
  assert.ok(state !== undefined);
  const folder = folderFor(context);
  const path = join(folder, 'stint.db');
  const aside = join(folder, 'stint.db.damaged-20260317T120000');
  mkdirSync(aside);
  putFiles(join(aside, 'stint.db'), state);
  const files = { path, idFile: undefined, copies: undefined, traces: () => [] };
  assert.equal(gatherRemains(files, kindsByName).sessions.length, 0);
  writeFileSync(join(aside, 'stint.db.unfinished'), '');
  assert.equal(gatherRemains(files, kindsByName).sessions.length, 1);
});

test('requests and mirrors come along, the newest version of a mirror last', async (context) => {
  const { stint, path } = await fillStore(folderFor(context), 3);
  const before = filesOf(path);
  for (const phase of ['context']) await must(stint, 'advance', { session: 's-00', phase, round: 2 });
  const after = filesOf(path);
  await stint.close();
  const remains = gather(context, after, { copies: { '090000': before } });
  assert.equal(remains.requests.length, 3);
  assert.equal(remains.mirrors.length, 3, 'each version once');
  const sources = remains.mirrors.map(({ source }) => source);
  assert.deepEqual(
    sources,
    sources.toSorted((a, b) => a - b),
  );
});
