import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { copyKept, readStart, readWhole } from './kept-files.ts';

const folderOf = (context: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'kept-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** What another process gets when it wants to write now. */
const writeElsewhere = (path: string): string =>
  spawnSync(
    process.execPath,
    [
      '--no-warnings',
      '-e',
      `const { DatabaseSync } = require('node:sqlite');
       const database = new DatabaseSync(process.argv[1], { timeout: 0 });
       try { database.exec('BEGIN IMMEDIATE'); process.stdout.write('written'); database.exec('COMMIT'); database.close(); }
       catch (error) { process.stdout.write(String(error.errcode)); }`,
      path,
    ],
    { encoding: 'utf8' },
  ).stdout;

test('looking at the files of a store drops none of the locks that this process has on them', (context) => {
  const path = join(folderOf(context), 'a.db');
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)');
  assert.equal(writeElsewhere(path), '5', 'locked before');
  for (let look = 0; look < 2; look += 1) {
    assert.ok(readWhole(path).length > 0);
    assert.ok(readWhole(`${path}-wal`).length > 0);
    assert.equal(readStart(`${path}-shm`, 20)?.length, 20);
    copyKept(path, `${path}.copy`);
    assert.deepEqual(readFileSync(`${path}.copy`), Buffer.from(readWhole(path)));
  }
  assert.equal(writeElsewhere(path), '5', 'locked after');
  database.exec('COMMIT');
  assert.equal(writeElsewhere(path), 'written');
  database.close();
});

test('looking at a store that is open takes no log away when somebody else closes it', (context) => {
  const path = join(folderOf(context), 'a.db');
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a)');
  assert.ok(readWhole(path).length > 0);
  // The last connection to close takes the log away: this one is another, for as long as its lock is there.
  assert.equal(writeElsewhere(path), 'written');
  assert.ok(existsSync(`${path}-wal`));
  database.close();
});

test('a file that was replaced is looked at anew, and one that grew is seen whole', (context) => {
  const path = join(folderOf(context), 'file');
  writeFileSync(path, 'one');
  assert.equal(Buffer.from(readWhole(path)).toString(), 'one');
  writeFileSync(path, 'longer');
  assert.equal(Buffer.from(readWhole(path)).toString(), 'longer');
  writeFileSync(`${path}.new`, 'another');
  renameSync(`${path}.new`, path);
  assert.equal(Buffer.from(readWhole(path)).toString(), 'another');
});

test('what is not there is empty, and has no beginning', (context) => {
  const folder = folderOf(context);
  assert.equal(readStart(join(folder, 'none'), 4), undefined);
  assert.equal(readWhole(join(folder, 'none')).length, 0);
  assert.equal(readWhole(folder).length, 0, 'a folder is no file');
  writeFileSync(join(folder, 'short'), 'ab');
  assert.equal(readStart(join(folder, 'short'), 4)?.toString(), 'ab');
});
