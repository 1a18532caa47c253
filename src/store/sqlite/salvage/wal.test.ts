import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { filesOf, folderFor, putFiles, type StoreFiles } from '../../../../test/support/salvage.ts';
import { describeLog, readLog } from './wal.ts';

const frame = 24 + 4096;

const createDatabase = (path: string): DatabaseSync => {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a, b); CREATE INDEX i ON t (b)');
  database.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0');
  return database;
};

/** Transactions of one row and at least two pages each. */
const commitRows = (database: DatabaseSync, count: number): void => {
  for (let index = 0; index < count; index += 1)
    database.prepare('INSERT INTO t VALUES (?, ?)').run(index, String(index).repeat(700));
};

/** How many rows SQLite shows. */
const shown = (folder: string, files: StoreFiles): number => {
  const path = join(folder, 'shown.db');
  putFiles(path, files);
  const database = new DatabaseSync(path);
  try {
    return Number(database.prepare('SELECT count(*) AS n FROM t NOT INDEXED').get()?.['n']);
  } finally {
    database.close();
  }
};

/** How many transactions we say that SQLite would show. */
const told = (log: Uint8Array): number => {
  const { state, frames } = readLog(log);
  return frames.slice(0, state.recoveredFrames).filter(({ commit }) => commit > 0).length;
};

const twelve = (t: TestContext): StoreFiles => {
  const path = join(folderFor(t), 'a.db');
  const database = createDatabase(path);
  commitRows(database, 12);
  const files = filesOf(path);
  database.close();
  return files;
};

test('a whole log is told as SQLite reads it', (t) => {
  const folder = folderFor(t);
  const files = twelve(t);
  const frames = (files.log.length - 32) / frame;
  assert.deepEqual(describeLog(files.log), {
    frames,
    recoveredFrames: frames,
    committedFrames: frames,
    broken: false,
    lastOnly: false,
  });
  assert.equal(shown(folder, files), 12);
  assert.equal(told(files.log), 12);
  assert.ok(readLog(files.log).frames.every(({ verified }) => verified));
});

test('no log, an empty one and a header alone are nothing to worry about', (t) => {
  const { log } = twelve(t);
  for (let length = 0; length <= 32 + 24 + 4095; length += 1) {
    const state = describeLog(log.subarray(0, length));
    assert.deepEqual([state.frames, state.broken], [0, false], String(length));
  }
});

test('a log that was cut off is not broken, and is told as SQLite reads it', (t) => {
  const folder = folderFor(t);
  const files = twelve(t);
  fc.assert(
    fc.property(fc.nat(files.log.length), (length) => {
      const log = files.log.subarray(0, length);
      assert.equal(describeLog(log).broken, false);
      assert.equal(told(log), shown(folder, { ...files, log }));
    }),
    { numRuns: 50 },
  );
});

test('a flipped bit in a frame breaks the log whenever SQLite would lose a transaction', (t) => {
  const folder = folderFor(t);
  const files = twelve(t);
  const last = files.log.length - frame;
  fc.assert(
    fc.property(fc.integer({ min: 32, max: files.log.length - 1 }), fc.nat(7), (at, bit) => {
      // The size that the last commit tells is all that says that it is one.
      fc.pre(at < last + 4 || at >= last + 8);
      const log = files.log.slice();
      log[at] = (log[at] ?? 0) ^ (1 << bit);
      const rows = shown(folder, { ...files, log });
      const state = describeLog(log);
      assert.equal(told(log), rows);
      assert.equal(state.broken, rows < 12);
      assert.equal(state.lastOnly, rows === 11);
      assert.equal(state.committedFrames, state.frames);
      assert.ok(readLog(log).frames.filter(({ verified }) => !verified).length <= 2);
    }),
    { numRuns: 150 },
  );
});

test('damaged salts do not take a frame out of its log, not even the last one', (t) => {
  const { log } = twelve(t);
  const { frames } = describeLog(log);
  for (const index of [0, 3, frames - 1]) {
    const damaged = log.slice();
    damaged.fill(0xaa, 32 + index * frame + 8, 32 + index * frame + 16);
    const state = describeLog(damaged);
    assert.deepEqual([state.frames, state.committedFrames, state.broken], [frames, frames, true]);
    assert.ok(state.recoveredFrames <= index);
  }
});

test('a flipped bit in the header breaks the log, but for the one that looks like a header begun anew', (t) => {
  const folder = folderFor(t);
  const files = twelve(t);
  const overlooked: string[] = [];
  for (let at = 0; at < 32; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const log = files.log.slice();
      log[at] = (log[at] ?? 0) ^ (1 << bit);
      const state = describeLog(log);
      assert.equal(state.recoveredFrames, 0);
      assert.equal(state.committedFrames, state.frames);
      if (at % 8 === 7 && bit === 3) assert.equal(shown(folder, { ...files, log }), 0);
      if (!state.broken) overlooked.push(`${at}.${bit}`);
    }
  }
  // The round of the log is even: its lowest bit counts it up by one.
  assert.ok(overlooked.length === 0 || overlooked.join() === '15.0', overlooked.join());
});

test('a header of zeros before committed frames breaks the log', (t) => {
  const { log } = twelve(t);
  const state = describeLog(log.slice().fill(0, 0, 32));
  assert.equal(state.broken, true);
  assert.equal(state.committedFrames, (log.length - 32) / frame);
});

test('a log that was begun anew is not broken by the frames behind it, nor by a header that is half written', (t) => {
  const folder = folderFor(t);
  const path = join(folder, 'a.db');
  const database = createDatabase(path);
  for (let round = 0; round < 3; round += 1) {
    commitRows(database, 12);
    const before = filesOf(path);
    database.exec('PRAGMA wal_checkpoint(RESTART)');
    commitRows(database, 1);
    const after = filesOf(path);
    assert.equal(after.log.length, before.log.length);
    const state = describeLog(after.log);
    assert.ok(state.frames > 0 && state.frames < 8, String(state.frames));
    assert.deepEqual([state.recoveredFrames, state.committedFrames, state.broken], [state.frames, state.frames, false]);
    assert.equal(shown(folder, after), 13 * (round + 1));

    const old = describeLog(before.log).frames;
    for (let length = 0; length <= 32; length += 1) {
      const log = before.log.slice();
      log.set(after.log.subarray(0, length));
      assert.equal(describeLog(log).broken, false, `${length} bytes of the new header`);
    }
    // A whole new header, and the first frame in the middle of being written over an old one.
    for (const length of [32, 40, 56, 1000, 4000]) {
      const log = before.log.slice();
      log.set(after.log.subarray(0, length));
      assert.equal(describeLog(log).broken, false, `${length} bytes of the new log`);
    }
    const damaged = after.log.slice();
    damaged[17] = (damaged[17] ?? 0) ^ 4;
    assert.deepEqual([describeLog(damaged).frames, describeLog(damaged).broken], [state.frames, true]);
    assert.ok(old > state.frames);
  }
  database.close();
});

/** Kills a process that writes, and answers its files: some rows committed, a transaction in the middle. */
const killWriter = async (t: TestContext, program: string, wait: number): Promise<string> => {
  const path = join(folderFor(t), 'a.db');
  createDatabase(path).close();
  const child = spawn(process.execPath, [
    '--no-warnings',
    '-e',
    `const { DatabaseSync } = require('node:sqlite');
     const database = new DatabaseSync(process.argv[1]);
     const insert = database.prepare('INSERT INTO t VALUES (?, ?)');
     const row = (index) => insert.run(index, String(index).repeat(700));
     ${program}`,
    path,
  ]);
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  await setTimeout(wait);
  child.kill('SIGKILL');
  await ended;
  return path;
};

test('what a killed writer did not commit is not committed, and does not break the log', async (t) => {
  const path = await killWriter(
    t,
    `database.exec('PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 5');
     for (let index = 0; index < 5; index += 1) row(index);
     database.exec('BEGIN');
     for (let index = 0; index < 200; index += 1) row(index);
     process.stdout.write('spilled');
     setInterval(() => {}, 1000);`,
    0,
  );
  const files = filesOf(path);
  const state = describeLog(files.log);
  // A frame that is written a second time leaves those behind it without salts until the commit.
  assert.ok(state.frames > state.committedFrames);
  assert.ok((files.log.length - 32) / frame > state.committedFrames + 100);
  assert.deepEqual([state.broken, state.lastOnly], [false, false]);
  assert.equal(state.committedFrames, state.recoveredFrames);
  assert.equal(readLog(files.log).frames.length, state.committedFrames);
  assert.equal(told(files.log), 5);
  assert.equal(shown(folderFor(t), files), 5);
});

test('no moment at which a writer is killed breaks the log, however often it is begun anew', async (t) => {
  const folder = folderFor(t);
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const path = await killWriter(
      t,
      `database.exec('PRAGMA wal_autocheckpoint = ${attempt % 2 === 0 ? 10 : 0}; PRAGMA synchronous = OFF');
       process.stdout.write('begun');
       for (let index = 0; ; index += 1) row(index);`,
      20 + attempt * 7,
    );
    const files = filesOf(path);
    const state = describeLog(files.log);
    assert.equal(state.broken, false, JSON.stringify(state));
    // Killed between the header of the last frame and its page, over frames of an earlier round.
    assert.ok(state.committedFrames === state.recoveredFrames || state.lastOnly, JSON.stringify(state));
    assert.ok(shown(folder, files) > 0);
  }
});

test('any bytes are a log', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 30_000 }), (bytes) => {
      const state = describeLog(bytes);
      assert.equal(state.recoveredFrames, 0);
      assert.ok(state.committedFrames <= state.frames);
    }),
  );
});
