import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { StoreFailure } from '../../kernel/ports.ts';
import { openDatabase } from './database.ts';
import { refusalOf } from './failures.ts';

const pathOf = (context: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'database-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'a.db');
};

/** Result codes as https://www.sqlite.org/rescode.html numbers them. */
const locks = {
  PROTOCOL: 15,
  NOLFS: 22,
  IOERR_UNLOCK: 2058,
  IOERR_RDLOCK: 2314,
  IOERR_CHECKRESERVEDLOCK: 3594,
  IOERR_LOCK: 3850,
  IOERR_SHMOPEN: 4618,
  IOERR_SHMLOCK: 5130,
  IOERR_SHMMAP: 5386,
};
const full = {
  FULL: 13,
  IOERR_WRITE: 778,
  IOERR_FSYNC: 1034,
  IOERR_DIR_FSYNC: 1290,
  IOERR_TRUNCATE: 1546,
  IOERR_SHMSIZE: 4874,
};
const damage = {
  IOERR: 10,
  IOERR_READ: 266,
  IOERR_SHORT_READ: 522,
  CORRUPT: 11,
  CORRUPT_INDEX: 779,
  CANTOPEN: 14,
  TOOBIG: 18,
  CONSTRAINT: 19,
  CONSTRAINT_CHECK: 275,
  MISMATCH: 20,
  FORMAT: 24,
  NOTADB: 26,
};

test('B06: where locks or shared memory do not work, that is said by name, with the way out', () => {
  for (const [name, code] of Object.entries(locks)) {
    const refusal = refusalOf('/mnt/x/stint.db', code, 'locking protocol');
    assert.equal(refusal?.code, 'invariant-unmet', name);
    assert.equal(refusal.message, 'File locks do not work where the store /mnt/x/stint.db is: locking protocol.', name);
    assert.match(String(refusal.hint), /--store or STINT_STORE/, name);
  }
});

test('where the system takes no more, nothing was changed, and the same command is to be run again', () => {
  for (const [name, code] of Object.entries(full)) {
    const refusal = refusalOf('/x/stint.db', code, 'm');
    assert.equal(refusal?.code, 'invariant-unmet', name);
    assert.match(refusal.message, /no room left where the store \/x\/stint\.db is; nothing was changed/, name);
  }
});

test('what cannot be read is damage, and names the repair', () => {
  for (const [name, code] of Object.entries(damage)) {
    const refusal = refusalOf('/x/stint.db', code, 'file is not a database');
    assert.deepEqual([refusal?.code, refusal?.hint], ['damaged', 'stint doctor --fix'], name);
  }
});

test('a lock that is held is worth the same call again, and a read-only file is not', () => {
  for (const code of [5, 261, 517, 6, 262])
    assert.equal(refusalOf('/x/stint.db', code, 'm')?.code, 'busy', String(code));
  for (const code of [8, 264, 776, 1032, 1544]) {
    assert.match(refusalOf('/x/stint.db', code, 'm')?.message ?? '', /cannot be written/, String(code));
  }
});

test('a statement that is wrong is a bug of ours, unless the schema it speaks of is damaged', () => {
  assert.equal(refusalOf('/x/stint.db', 1, 'near "SELEC": syntax error'), undefined);
  for (const message of ['no such table: event', 'malformed database schema (event)', 'no such column: flaw']) {
    assert.equal(refusalOf('/x/stint.db', 1, message)?.code, 'damaged', message);
  }
  for (const code of [2, 3, 4, 7, 9, 12, 21, 25]) assert.equal(refusalOf('/x/stint.db', code, 'm'), undefined);
});

test('damage that is met in the middle of reading is a failure of the store, like any other', (context) => {
  const path = pathOf(context);
  const made = new DatabaseSync(path);
  made.exec('CREATE TABLE t (a)');
  const insert = made.prepare('INSERT INTO t VALUES (?)');
  for (let row = 0; row < 50; row += 1) insert.run('x'.repeat(1000));
  made.close();
  // The rows fill more than ten pages, one after the other.
  const bytes = readFileSync(path).fill(0xff, 9 * 4096, 10 * 4096);
  rmSync(path);
  writeFileSync(path, bytes);
  const database = openDatabase(path, { readOnly: true });
  assert.throws(
    () => database.all('SELECT a FROM t'),
    (error) => error instanceof StoreFailure && error.refusal.code === 'damaged',
  );
  database.close();
});

test('a store that nobody holds any more is not closed behind anybody’s back: its log stays', (context) => {
  const path = pathOf(context);
  const made = new DatabaseSync(path);
  made.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a)');
  const reader = new DatabaseSync(path);
  made.exec('INSERT INTO t VALUES (1)');
  (() => {
    const database = openDatabase(path, { readOnly: false });
    assert.deepEqual({ ...database.get('SELECT a FROM t') }, { a: 1 });
  })();
  made.close();
  reader.close();
  assert.ok(existsSync(`${path}-wal`), 'there is still a connection');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  assert.ok(existsSync(`${path}-wal`), 'a collected connection would have taken it away');
});

test('a store that was replaced is closed without touching the log of the new one', (context) => {
  const path = pathOf(context);
  const old = openDatabase(path, { readOnly: false });
  old.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a)');
  for (const suffix of ['', '-wal', '-shm']) {
    renameSync(path + suffix, `${path}.old${suffix}`);
  }
  const fresh = openDatabase(path, { readOnly: false });
  fresh.exec('PRAGMA journal_mode = WAL; CREATE TABLE n (a); INSERT INTO n VALUES (1)');
  old.close();
  assert.ok(existsSync(`${path}-wal`));
  assert.deepEqual({ ...fresh.get('SELECT a FROM n') }, { a: 1 });
  fresh.close();
});
