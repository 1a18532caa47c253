import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import type { Kind } from '../../kernel/kind.ts';
import { createKinds } from '../../kernel/kinds.ts';
import { claimToData } from '../../kernel/lease-rules.ts';
import type { NewEvent } from '../../kernel/event.ts';
import { decideBegin } from '../../kernel/lifecycle.ts';
import { StoreFailure, type Store } from '../../kernel/ports.ts';
import { absentSession } from '../../kernel/session.ts';
import { kinds as builtin } from '../../kinds/registry.gen.ts';
import { ok } from '../../lib/result.ts';
import { testStore } from '../contract.ts';
import { schemaVersion } from '../header.ts';
import { migrationsFrom } from '../migrations.ts';
import { openDatabase } from './database.ts';
import { createSqliteStore, openSqliteStore } from './store.ts';

const kinds: ReadonlyMap<string, Kind> = new Map(builtin.map((kind) => [kind.name, kind]));

const kindOf = (name: string): Kind => {
  const kind = kinds.get(name);
  assert.ok(kind !== undefined);
  return kind;
};

const folderOf = (t: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-store-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

testStore({
  name: 'memory',
  open: async (t, known) => {
    const store = openSqliteStore(':memory:', known, { create: true });
    t.after(store.close);
    return store;
  },
});

testStore({
  name: 'file',
  open: async (t, known) => {
    const store = openSqliteStore(join(folderOf(t), 'stint.db'), known, { create: true });
    t.after(store.close);
    return store;
  },
});

const failure = (action: () => unknown): StoreFailure => {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof StoreFailure, String(error));
    return error;
  }
  throw new Error('it did not fail');
};

test('the number of the schema is that of its newest step', () => {
  assert.equal(migrationsFrom(0).length, schemaVersion);
});

test('reading a store that is not there makes none', async (t) => {
  const path = join(folderOf(t), 'stint.db');
  const store = openSqliteStore(path, kinds, { create: false });
  assert.deepEqual(await store.rows({}), []);
  await store.close();
  assert.equal(existsSync(path), false);
});

test('a store file is for its owner alone, and so are its companions', (t) => {
  const path = join(folderOf(t), 'stint.db');
  openSqliteStore(path, kinds, { create: true });
  for (const suffix of ['', '-wal', '-shm']) assert.equal(statSync(path + suffix).mode & 0o777, 0o600, suffix);
});

test('a newer store is read and not written, and says which version it is', async (t) => {
  const path = join(folderOf(t), 'stint.db');
  await openSqliteStore(path, kinds, { create: true }).close();
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA user_version = ${schemaVersion + 1}`);
  database.close();
  const store = openSqliteStore(path, kinds, { create: true });
  t.after(store.close);
  assert.equal(store.readOnly?.code, 'newer-version');
  assert.match(store.readOnly?.message ?? '', new RegExp(`schema ${schemaVersion + 1}`));
  assert.deepEqual(await store.rows({}), []);
});

test('an empty or missing file beside its log is not opened: that would throw the log away', (t) => {
  const path = join(folderOf(t), 'stint.db');
  writeFileSync(`${path}-wal`, 'a log');
  assert.equal(failure(() => openSqliteStore(path, kinds, { create: true })).refusal.code, 'damaged');
  writeFileSync(path, '');
  assert.equal(failure(() => openSqliteStore(path, kinds, { create: false })).refusal.code, 'damaged');
  assert.equal(statSync(`${path}-wal`).size, 5);
});

test('a file that is no database is named as damaged, and left as it is', (t) => {
  const path = join(folderOf(t), 'stint.db');
  writeFileSync(path, 'x'.repeat(5000));
  assert.equal(failure(() => openSqliteStore(path, kinds, { create: true })).refusal.code, 'damaged');
  assert.equal(statSync(path).size, 5000);
});

test('a store without its log and a store that was cut short never read as empty stores', async (t) => {
  const path = join(folderOf(t), 'stint.db');
  await openSqliteStore(path, kinds, { create: true }).close();
  truncateSync(path, 4096 + 100);
  assert.equal(failure(() => openSqliteStore(path, kinds, { create: false })).refusal.code, 'damaged');
});

test('events can be neither changed nor deleted, not even by SQL', async (t) => {
  const path = join(folderOf(t), 'stint.db');
  const store = openSqliteStore(path, kinds, { create: true });
  t.after(store.close);
  const opened = await store.commit({
    keys: ['review:a'],
    guards: [],
    origin: { now: '2026-03-17T10:00:00.000Z', actor: 'ana', place: 'here', cause: 'c' },
    request: { id: 'c', verb: 'begin', digest: '', given: false },
    journalOnly: false,
    expectRevision: undefined,
    dryRun: false,
    decide: () => ({
      ok: true,
      value: new Map([['review:a', [{ type: 'SessionOpened', v: 1, data: { branch: null, worktree: 'main' } }]]]),
    }),
    answer: () => ({}),
  });
  assert.ok(opened.ok);
  const database = new DatabaseSync(path);
  t.after(() => database.close());
  assert.throws(() => database.exec(`UPDATE event SET actor = 'eve'`), /immutable/);
  assert.throws(() => database.exec('DELETE FROM event'), /kept/);
});

/** A store of this session kind, and the statements that it asks for. */
const watched = async (t: TestContext) => {
  const path = join(folderOf(t), 'stint.db');
  await openSqliteStore(path, kinds, { create: true }).close();
  const database = openDatabase(path, { readOnly: false });
  const asked: string[] = [];
  const watching: typeof database = {
    ...database,
    do: (work) => {
      const seen = function* seen(): typeof work {
        let step = work.next();
        while (step.done !== true) {
          asked.push(step.value.sql);
          step = work.next(yield step.value);
        }
        return step.value;
      };
      return database.do(seen());
    },
  };
  const make = () => createSqliteStore(watching, kinds, { name: path, readOnly: undefined });
  let store = make();
  t.after(store.close);
  const commit = async (events: readonly NewEvent[], journalOnly = false) => commitTo(store, events, journalOnly);
  return {
    path,
    of: () => store,
    /** Goes on as another process would, which knows nothing. */
    another: () => {
      store = make();
    },
    commit,
    begin: async () => {
      const begun = decideBegin(absentSession(kindOf('review'), 'review:a'), { branch: null, worktree: 'main' });
      assert.ok(begun.ok);
      await commit(begun.value);
    },
    phase: (text: string): NewEvent => ({
      type: 'PhaseEntered',
      v: 1,
      data: { phase: 'context', phase_number: 1, round: 1, text },
    }),
    /** What an action asks for of snapshots, and of events to fold them. */
    asks: async (action: () => Promise<unknown>): Promise<readonly string[]> => {
      asked.length = 0;
      await action();
      assert.ok(asked.length > 0);
      return asked.flatMap((sql) => {
        const [, table = ''] = /\b((?:FROM|INTO) (?:snapshot|event))\b/.exec(sql) ?? [];
        return table === '' || table === 'INTO event' || sql.includes('seq = ?') ? [] : [`${sql.slice(0, 6)} ${table}`];
      });
    },
  };
};

const commitTo = async (store: Store, events: readonly NewEvent[], journalOnly = false): Promise<void> => {
  const outcome = await store.commit({
    keys: ['review:a'],
    guards: [],
    origin: { now: '2026-03-17T10:00:00.000Z', actor: 'ana', place: 'here', cause: 'c' },
    request: { id: 'c', verb: 'x', digest: '', given: false },
    journalOnly,
    expectRevision: undefined,
    dryRun: false,
    decide: () => ok(new Map([['review:a', events]])),
    answer: () => ({}),
  });
  assert.ok(outcome.ok);
};

/**
 * A writer that is killed when its commit stands in the log and before others are shown it: the head of the index, which is
 * written last, is as it was.
 */
const killUnseen = (path: string): void => {
  const program = `
    const fs = require('node:fs');
    const { DatabaseSync } = require('node:sqlite');
    const path = process.argv[1];
    const database = new DatabaseSync(path, { timeout: 5000 });
    database.exec('PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; BEGIN IMMEDIATE');
    const index = fs.openSync(path + '-shm', 'r+');
    const head = Buffer.alloc(96);
    fs.readSync(index, head, 0, 96, 0);
    database.prepare('INSERT INTO meta VALUES (?, ?)').run('unseen', 'x'.repeat(200_000));
    database.exec('COMMIT');
    fs.writeSync(index, head, 0, 96, 0);
    process.kill(process.pid, 'SIGKILL');
  `;
  const { signal, stderr } = spawnSync(process.execPath, ['--no-warnings', '-e', program, path], { encoding: 'utf8' });
  assert.equal(signal, 'SIGKILL', stderr);
};

test('what is left of a commit that nobody was shown is no damage; what was answered and is gone is', async (t) => {
  const path = join(folderOf(t), 'stint.db');
  const holder = openSqliteStore(path, kinds, { create: true });
  t.after(holder.close);
  const opened = { type: 'SessionOpened', v: 1, data: { branch: null, worktree: 'main' } };
  await commitTo(holder, [opened]);
  killUnseen(path);
  const looks = () => {
    const store = openSqliteStore(path, kinds, { create: false });
    t.after(store.close);
    return store;
  };
  assert.equal((await looks().rows({})).length, 1);
  // Whoever writes next begins where that commit does, and ends before its end.
  await commitTo(holder, [{ type: 'Noted', v: 1, data: { text: 'x' } }], true);
  assert.equal((await looks().read('review:a'))?.row.seq, 2);
  await commitTo(looks(), [{ type: 'Noted', v: 1, data: { text: 'y' } }], true);

  appendFileSync(`${path}-tip`, 'review:a 4\n');
  assert.match(failure(looks).refusal.message, /its log breaks off after \d+ of \d+ pages/);
  rmSync(`${path}-tip`);
  assert.match(
    failure(looks).refusal.message,
    /its log breaks off/,
    'without a word of what was answered nobody knows',
  );
});

test('a snapshot is read by who folds the state, and written when one is taken: not by remarks, lists and reading', async (t) => {
  const { of, begin, commit, phase, another, asks } = await watched(t);
  await begin();
  assert.deepEqual(await asks(async () => commit([phase('x'.repeat(5000))])), ['INSERT INTO snapshot']);
  another();
  const note = { type: 'Noted', v: 1, data: { text: 'x' } };
  assert.deepEqual(await asks(async () => commit([note], true)), []);
  assert.deepEqual(await asks(async () => of().read('review:a')), []);
  assert.deepEqual(await asks(async () => of().rows({ thorough: true })), []);
  assert.deepEqual(await asks(async () => commit([note])), ['SELECT FROM snapshot', 'SELECT FROM event']);
  assert.deepEqual(await of().verify(), []);
});

test('a session that a process has folded once is gone on with, and not read again', async (t) => {
  const { of, begin, commit, phase, another, asks } = await watched(t);
  await begin();
  const note = { type: 'Noted', v: 1, data: { text: 'x' } };
  await commit([phase('x'.repeat(3000))]);
  assert.deepEqual(await asks(async () => commit([phase('x')])), []);
  await commit([note], true);
  await commit([note]);
  assert.deepEqual(await asks(async () => commit([phase('x')])), [], 'remarks leave the state as it was');
  assert.deepEqual(await asks(async () => of().load('review:a')), []);
  another();
  const whole = ['SELECT FROM snapshot', 'SELECT FROM event'];
  assert.deepEqual(await asks(async () => of().load('review:a')), whole);
  assert.deepEqual(await asks(async () => of().load('review:a')), []);
});

test('what others have written meanwhile, and what was done to the row by hand, is read', async (t) => {
  const { path, of, begin, commit, phase, asks } = await watched(t);
  const other = openSqliteStore(path, kinds, { create: false });
  t.after(other.close);
  await begin();
  await commit([phase('x')]);
  const events = async () => (await of().events('review:a', {})).map(({ seq }) => seq);
  for (const more of [[phase('y')], [{ type: 'Noted', v: 1, data: { text: 'x' } }]]) {
    const before = await of().load('review:a');
    await commitTo(other, more);
    assert.equal((await of().load('review:a'))?.common.seq, (before?.common.seq ?? 0) + 1);
    await commit([phase('z')]);
    assert.equal((await of().load('review:a'))?.common.seq, (before?.common.seq ?? 0) + 2);
  }
  assert.deepEqual(await events(), [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(await of().verify(), []);

  const database = new DatabaseSync(path);
  t.after(() => database.close());
  const sound = await of().load('review:a');
  for (const change of ['revision = 3', 'checksum = 1', `common = replace(common, 'active', 'closed')`, `hash = 'x'`]) {
    database.exec(`UPDATE session SET ${change}`);
    assert.ok((await asks(async () => of().load('review:a'))).length > 0, change);
    assert.deepEqual((await of().load('review:a'))?.common, sound?.common, change);
    assert.equal((await of().verify()).length, 1, change);
    await of().rebuild('review:a');
  }
});

test('a remark covers up no damage to its row', async (t) => {
  const { path, of, begin, commit, phase } = await watched(t);
  await begin();
  await commit([phase('x')]);
  const view = (await of().read('review:a'))?.view;
  const database = new DatabaseSync(path);
  t.after(() => database.close());
  database.exec(`UPDATE session SET view = replace(view, 'context', 'complete'), position = 'complete'`);
  await commit([{ type: 'Noted', v: 1, data: { text: 'x' } }], true);
  assert.deepEqual((await of().read('review:a'))?.view, view);
  assert.deepEqual(await of().verify(), []);
});

/** What undoes each step of the schema from the second one on. */
const undo = [
  `DROP TABLE process; ALTER TABLE session DROP COLUMN interrupted_at; ALTER TABLE session DROP COLUMN flaw;
    ALTER TABLE session DROP COLUMN listed_checksum`,
  'DROP TABLE lease; ALTER TABLE session DROP COLUMN lease',
  'ALTER TABLE session DROP COLUMN paused_at; ALTER TABLE session DROP COLUMN archived_at',
  `DROP TABLE snapshot; UPDATE session SET snapshot = '{}', snapshot_seq = 1, snapshot_version = 1, tail_bytes = 9`,
  'DROP TABLE sample',
];

/** Makes a store what a program of an older schema would have left: without later columns and tables, its rows of older shapes. */
const lower = (path: string, version: number): void => {
  const database = new DatabaseSync(path);
  for (const sql of undo.slice(version - 1).toReversed()) database.exec(sql);
  database.exec(`UPDATE session SET view_version = '${version}.1', checksum = 1; PRAGMA user_version = ${version}`);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
};

const beginReview = async (store: Store): Promise<void> => {
  const begun = await store.commit({
    keys: ['review:a'],
    guards: [],
    origin: { now: '2026-03-17T10:00:00.000Z', actor: 'ana', place: 'here', cause: 'c' },
    request: { id: 'c', verb: 'begin', digest: '', given: false },
    journalOnly: false,
    expectRevision: undefined,
    dryRun: false,
    decide: (sessions) => {
      const session = sessions.get('review:a');
      assert.ok(session !== undefined);
      const events = decideBegin(session, { branch: 'main', worktree: 'main' });
      return events.ok ? ok(new Map([['review:a', events.value]])) : events;
    },
    answer: () => ({}),
  });
  assert.ok(begun.ok);
};

for (const version of undo.map((_, index) => index + 1))
  test(`a store of schema ${version} is brought up to date with its rows, and nothing of it counts as damaged`, async (t) => {
    const path = join(folderOf(t), 'stint.db');
    const first = openSqliteStore(path, kinds, { create: true });
    await beginReview(first);
    const before = await first.read('review:a');
    await first.close();
    lower(path, version);
    const raised = openSqliteStore(path, kinds, { create: false });
    t.after(raised.close);
    assert.deepEqual(await raised.verify(), []);
    assert.deepEqual(await raised.read('review:a'), before);
    const database = new DatabaseSync(path, { readOnly: true });
    t.after(() => database.close());
    const row = database.prepare('SELECT view_version, listed_checksum, snapshot, snapshot_seq FROM session').get();
    assert.deepEqual([row?.['snapshot'], row?.['snapshot_seq']], [null, 0]);
    assert.notEqual(row?.['listed_checksum'], null);
    assert.notEqual(row?.['view_version'], '1.1');
  });

test('the rows of an older program are made anew before anything is asked, also those of a kind that is to be loaded', async (t) => {
  const path = join(folderOf(t), 'stint.db');
  const first = openSqliteStore(path, kinds, { create: true });
  await beginReview(first);
  await first.close();
  lower(path, 1);
  const load = async () => import('../../kinds/review/index.ts');
  const raised = openSqliteStore(path, createKinds([{ name: 'review', load }]), { create: false });
  t.after(raised.close);
  await raised.stamp();
  const database = new DatabaseSync(path, { readOnly: true });
  t.after(() => database.close());
  assert.notEqual(database.prepare('SELECT view_version FROM session').get()?.['view_version'], '1.1');
});

test('a row of an older shape is no finding: it is made anew when it is read', async (t) => {
  const { store, spoil } = await withProcesses(t);
  spoil("UPDATE session SET view_version = '0.0'");
  assert.deepEqual(await store.verify(), []);
});

test(
  'a read-only folder is read, also where the log lies beside the store, and writing is refused',
  { skip: process.getuid?.() === 0 && 'root may write everywhere' },
  async (t) => {
    const folder = folderOf(t);
    const path = join(folder, 'stint.db');
    openSqliteStore(path, kinds, { create: true });
    chmodSync(folder, 0o500);
    const store = openSqliteStore(path, kinds, { create: false });
    const rows = await store.rows({});
    chmodSync(folder, 0o700);
    assert.equal(store.readOnly?.code, 'invariant-unmet');
    assert.deepEqual(rows, []);
  },
);

test('a link to nothing in the place of the store is named, and nothing is made where it points', (t) => {
  const folder = folderOf(t);
  symlinkSync(join(folder, 'outside.db'), join(folder, 'stint.db'));
  for (const create of [true, false]) {
    assert.equal(failure(() => openSqliteStore(join(folder, 'stint.db'), kinds, { create })).refusal.code, 'damaged');
  }
  assert.equal(existsSync(join(folder, 'outside.db')), false);
});

/** A store with a session and three processes of it, one of which was heard of later; and the file to spoil. */
const withProcesses = async (t: TestContext) => {
  const path = join(folderOf(t), 'stint.db');
  const store = openSqliteStore(path, kinds, { create: true });
  t.after(store.close);
  const started = (id: string) => ({
    type: 'ProcessStarted',
    v: 1,
    data: { process: id, kind: 'instance', host: 'desk' },
  });
  const outcome = await store.commit({
    keys: ['review:a'],
    guards: [],
    origin: { now: '2026-03-17T10:00:00.000Z', actor: 'ana', place: 'here', cause: 'c' },
    request: { id: 'c', verb: 'begin', digest: '', given: false },
    journalOnly: false,
    expectRevision: undefined,
    dryRun: false,
    decide: () =>
      ok(
        new Map([
          [
            'review:a',
            [
              { type: 'SessionOpened', v: 1, data: { branch: null, worktree: 'main' } },
              ...['p1', 'p2', 'p3'].map(started),
            ],
          ],
        ]),
      ),
    beside: () => [{ process: 'p2', heartbeatAt: '2026-03-17T11:00:00.000Z' }],
    answer: () => ({}),
  });
  assert.ok(outcome.ok);
  const spoil = (sql: string): void => {
    const database = new DatabaseSync(path);
    database.exec(sql);
    database.close();
  };
  return { store, spoil, before: await store.processes({}) };
};

test('a damaged row of a process is refused by its name, found, and made anew with its heartbeat', async (t) => {
  for (const [what, sql] of [
    ['data', `UPDATE process SET data = replace(data, 'instance', 'utility') WHERE id = 'p2'`],
    ['data', `UPDATE process SET data = '' WHERE id = 'p2'`],
    ['checksum', `UPDATE process SET checksum = checksum + 1 WHERE id = 'p2'`],
  ] as const) {
    const { store, spoil, before } = await withProcesses(t);
    spoil(sql);
    await assert.rejects(
      async () => store.processes({}),
      (error) => {
        assert.ok(error instanceof StoreFailure);
        assert.deepEqual([error.refusal.code, error.refusal.hint], ['damaged', 'stint rebuild']);
        assert.equal(error.refusal.message, 'What the store says of the process p2 was damaged.');
        return true;
      },
      what,
    );
    assert.deepEqual(await store.verify(), [
      { subject: 'review:a', problem: 'its processes differ from its events', fix: 'stint rebuild --session review:a' },
    ]);
    assert.deepEqual(await store.rebuild('review:a'), ok(true), what);
    assert.deepEqual(await store.processes({}), before, what);
    assert.deepEqual(await store.verify(), []);
    assert.deepEqual(await store.rebuild('review:a'), ok(false));
  }
});

test('a snapshot that was put in by hand counts for nothing, is found, and taken away', async (t) => {
  const { store, spoil } = await withProcesses(t);
  const before = await store.load('review:a');
  const version = kindOf('review').stateVersion;
  spoil(`INSERT INTO snapshot VALUES ('review:a', 2, ${version}, 1, '{}')`);
  assert.equal((await store.load('review:a'))?.folded.freeze(), before?.folded.freeze());
  assert.deepEqual(await store.verify(), [
    { subject: 'review:a', problem: 'its snapshot differs from its events', fix: 'stint rebuild --session review:a' },
  ]);
  assert.deepEqual(await store.rebuild('review:a'), ok(true));
  assert.deepEqual(await store.verify(), []);
  assert.deepEqual(await store.rebuild('review:a'), ok(false));
});

test('a heartbeat that is no time is refused, and forgotten by a rebuild', async (t) => {
  for (const heartbeat of ['', 'soon', '2026-03-17', '9999', '2026-99-99T99:99:99.999Z']) {
    const { store, spoil, before } = await withProcesses(t);
    spoil(`UPDATE process SET heartbeat_at = '${heartbeat}' WHERE id = 'p1'`);
    await assert.rejects(async () => store.processes({ id: 'p1' }), /process p1/);
    assert.equal((await store.verify()).length, 1, heartbeat);
    assert.deepEqual(await store.rebuild('review:a'), ok(true));
    assert.deepEqual(await store.processes({}), before);
  }
});

test('rows of processes that are lost, that no event knows, or that are marked wrongly are made right, in their order', async (t) => {
  for (const sql of [
    `DELETE FROM process WHERE id = 'p1'`,
    `DELETE FROM process WHERE id IN ('p1', 'p3')`,
    `UPDATE process SET running = 0 WHERE id = 'p1'`,
    `INSERT INTO process SELECT 'p9', session, running, data, checksum, heartbeat_at FROM process WHERE id = 'p1'`,
    `UPDATE process SET id = 'p9' WHERE id = 'p3'`,
    `UPDATE process SET rowid = 99 WHERE id = 'p1'`,
  ]) {
    const { store, spoil, before } = await withProcesses(t);
    spoil(sql);
    assert.equal((await store.verify()).length, 1, sql);
    assert.deepEqual(await store.rebuild('review:a'), ok(true), sql);
    assert.deepEqual(await store.processes({}), before, sql);
    assert.deepEqual(await store.verify(), []);
  }
});

test('a lease that was put into a row, changed there or taken out of it by hand counts for nothing, is found, and made right', async (t) => {
  const { store, spoil, claimed } = await withLease(t);
  for (const sql of [
    `UPDATE session SET lease = NULL`,
    `UPDATE session SET lease = replace(lease, 'ana', 'eve')`,
    `UPDATE session SET lease = '{'`,
  ]) {
    spoil(sql);
    const [row] = await store.rows({ thorough: true });
    assert.deepEqual(row?.lease, claimed, `${sql}: what the events say`);
    assert.deepEqual((await store.load('review:a'))?.common.lease, claimed);
    assert.equal((await store.verify()).length, 1, sql);
    assert.deepEqual(await store.rebuild('review:a'), ok(true), sql);
    assert.deepEqual((await store.rows({}))[0]?.lease, claimed, sql);
    assert.deepEqual(await store.verify(), []);
  }
});

/** A store with a session that is held, and what its claim says. */
const withLease = async (t: TestContext) => {
  const { store, spoil } = await withProcesses(t);
  const holder = { actor: 'ana', agent: null, host: 'desk', user: 'u', place: 'here', worktree: 'main' };
  const times = { claimedAt: '2026-03-17T10:00:00.000Z', expiresAt: '2026-03-17T10:30:00.000Z' };
  const claimed = { token: 7, holder, purpose: null, ...times, sign: null };
  const outcome = await store.commit({
    keys: ['review:a'],
    guards: [],
    origin: { now: times.claimedAt, actor: 'ana', place: 'here', cause: 'c9' },
    request: { id: 'c9', verb: 'lease claim', digest: '', given: false },
    journalOnly: true,
    expectRevision: undefined,
    dryRun: false,
    decide: () => ok(new Map([['review:a', [{ type: 'LeaseClaimed', v: 1, data: claimToData(claimed) }]]])),
    answer: () => ({}),
  });
  assert.ok(outcome.ok);
  return { store, spoil, claimed };
};
