import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import fc from 'fast-check';
import { filesOf, folderFor, type StoreFiles } from '../../../../test/support/salvage.ts';
import { leafRecords, readPages, type LeafRecord, type Value } from './pages.ts';

const recordsOf = ({ database, log }: StoreFiles): readonly LeafRecord[] => [...leafRecords(readPages(database, log))];

/** A row as a text that is the same for SQLite and for us. */
const spell = (rowid: unknown, values: readonly unknown[]): string =>
  [rowid, ...values]
    .map((value) => {
      if (value === null) return 'null';
      if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString('hex')}'`;
      if (typeof value === 'string') return JSON.stringify(value);
      if (typeof value === 'bigint' || Number.isSafeInteger(value)) return String(value);
      return `${String(value)}f`;
    })
    .join('|');

const spelled = ({ rowid, values }: LeafRecord): string => spell(rowid, values);

/** The rows of the table t as SQLite reads them; the type tells a whole float from an integer. */
const rowsOf = (database: DatabaseSync): readonly string[] => {
  const statement = database.prepare('SELECT rowid AS r, a, b, c FROM t');
  statement.setReadBigInts(true);
  return statement.all().map(({ r, a, b, c }) => spell(r, [a, b, c]));
};

const value: fc.Arbitrary<Value> = fc.oneof(
  fc.constant(null),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc
    .integer({ min: 0, max: 63 })
    .chain((bits) => fc.bigInt({ min: -(2n ** BigInt(bits)), max: 2n ** BigInt(bits) - 1n })),
  fc.double({ noNaN: true }),
  // node:sqlite ends a text at its first NUL when it is given one; that is no matter of the format.
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll('\0', '')),
  fc
    .tuple(fc.string({ minLength: 1, maxLength: 3 }), fc.nat(9000))
    .map(([text, times]) => text.replaceAll('\0', '.').repeat(times)),
  fc.uint8Array({ maxLength: 3000 }),
);

const rows = fc.array(fc.tuple(value, value, value), { minLength: 1, maxLength: 40 });

test('every row that SQLite reads is found: in the file, in the log, and in both', (t) => {
  const root = folderFor(t);
  let run = 0;
  fc.assert(
    fc.property(
      rows,
      rows,
      fc.constantFrom(512, 1024, 4096, 65_536),
      fc.constantFrom('file', 'log', 'both'),
      (first, second, pageSize, where) => {
        run += 1;
        const folder = join(root, String(run));
        mkdirSync(folder);
        const path = join(folder, 'a.db');
        const database = new DatabaseSync(path);
        database.exec(`PRAGMA page_size = ${pageSize}; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0`);
        database.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c)');
        const insert = database.prepare('INSERT INTO t (a, b, c) VALUES (?, ?, ?)');
        for (const columns of first) insert.run(...columns);
        if (where === 'both') database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
        for (const columns of second) insert.run(...columns);
        database.exec('UPDATE t SET b = a WHERE id % 5 = 0; DELETE FROM t WHERE id % 7 = 0');
        if (where === 'file') database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
        const found = new Set(recordsOf(filesOf(path)).map(({ rowid, values }) => spell(rowid, values.slice(1))));
        for (const row of rowsOf(database)) assert.ok(found.has(row), row.slice(0, 200));
        database.close();
      },
    ),
    { numRuns: 60 },
  );
});

const manyRows = (path: string): DatabaseSync => {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; CREATE TABLE t (a, b, c); BEGIN`);
  const insert = database.prepare('INSERT INTO t VALUES (?, ?, ?)');
  for (let index = 0; index < 5000; index += 1) insert.run(index, `row ${index}`, 'x'.repeat((index * 37) % 600));
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  return database;
};

test('a b-tree of several levels is read from its leaves: each row once, deleted ones not', (t) => {
  const database = manyRows(join(folderFor(t), 'a.db'));
  database.exec('DELETE FROM t WHERE a % 10 = 3; PRAGMA wal_checkpoint(TRUNCATE)');
  const found = recordsOf(filesOf(database.location() ?? ''))
    .filter(({ values }) => values.length === 3)
    .map(spelled);
  assert.deepEqual(found.toSorted(), rowsOf(database).toSorted());
  // The schema lies on page 1, behind the header of the file.
  const schema = recordsOf(filesOf(database.location() ?? '')).find(({ images }) => images[0]?.page === 1);
  assert.deepEqual(schema?.values, ['table', 't', 't', 2, 'CREATE TABLE t (a, b, c)']);
  database.close();
});

test('a bad cell costs itself alone', (t) => {
  const database = manyRows(join(folderFor(t), 'a.db'));
  const files = filesOf(database.location() ?? '');
  database.close();
  const before = recordsOf(files);
  const page = before[2000]?.images[0];
  assert.ok(page !== undefined);
  // The pointer of its second cell, and the payload size of the cell behind the third pointer.
  page.bytes.fill(0xff, 10, 12);
  page.bytes[((page.bytes[12] ?? 0) << 8) | (page.bytes[13] ?? 0)] = 3;
  const after = new Set(recordsOf(files).map(spelled));
  assert.equal(before.filter((record) => !after.has(spelled(record))).length, 2);
});

test('an overflow chain that bites its tail, or leads nowhere, ends', (t) => {
  const path = join(folderFor(t), 'a.db');
  const database = new DatabaseSync(path);
  // No two of its pages hold the same.
  const text = Array.from({ length: 10_000 }, (_, index) => String(index)).join();
  database.exec('CREATE TABLE t (a, b, c)');
  database.prepare('INSERT INTO t VALUES (?, ?, ?)').run(text, 1, 2);
  database.exec(`INSERT INTO t VALUES ('short', 1, 2)`);
  database.close();
  const files = filesOf(path);
  const long = recordsOf(files).find(({ values }) => values[0] === text);
  const [, second] = long?.images ?? [];
  assert.ok(second !== undefined);
  for (const next of [second.page, 0, 4_000_000_000]) {
    new DataView(second.bytes.buffer, second.bytes.byteOffset).setUint32(0, next);
    const found = recordsOf(files);
    assert.ok(!found.some(({ values }) => values[0] === text), String(next));
    assert.ok(found.some(({ values }) => values[0] === 'short'));
  }
});

test('any bytes are read to an end without an error', (t) => {
  const path = join(folderFor(t), 'a.db');
  const database = manyRows(path);
  database.exec(`UPDATE t SET b = 'y' || c || c || c || c || c || c || c || c WHERE a % 50 = 0`);
  const { database: whole, log } = filesOf(path);
  database.close();
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 20_000 }),
      fc.uint8Array({ maxLength: 20_000 }),
      fc.nat(whole.length - 1),
      fc.nat(log.length - 1),
      (noise, otherNoise, at, logAt) => {
        recordsOf({ database: noise, log: otherNoise });
        const [changed, changedLog] = [whole.slice(at, at + 100_000), log.slice(0, logAt + 20_000)];
        changed.set(noise.subarray(0, changed.length));
        changedLog.set(otherNoise.subarray(0, Math.max(0, changedLog.length - logAt)), logAt);
        recordsOf({ database: changed, log: changedLog });
      },
    ),
    { numRuns: 100 },
  );
  // What looks like thousands of cells of thousands of pages each.
  const hostile = new Uint8Array(2000 * 4096);
  const view = new DataView(hostile.buffer);
  for (let page = 0; page < 2000; page += 1) {
    const at = page * 4096;
    view.setUint32(at, 0x0d00_0000);
    view.setUint16(at + 3, 680);
    for (let cell = 0; cell < 680; cell += 1) view.setUint16(at + 8 + 2 * cell, 1400 + cell);
    hostile.fill(0x83, at + 1400, at + 4096);
  }
  const start = performance.now();
  recordsOf({ database: hostile, log: new Uint8Array() });
  assert.ok(performance.now() - start < 20_000);
});
