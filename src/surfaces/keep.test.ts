import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { createKeeper } from './keep.ts';

const createFolder = (context: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-keep-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const reading = { create: false };

test('a store stays open while the same file is there, and is opened anew when another one is', async (context) => {
  const path = join(createFolder(context), 'stint.db');
  const keeper = createKeeper();
  const none = keeper.open(path, new Map(), reading);
  assert.notEqual(keeper.open(path, new Map(), reading), none, 'where there is no file nothing is kept');

  await openSqliteStore(path, new Map(), { create: true }).close();
  const first = keeper.open(path, new Map(), reading);
  assert.equal(keeper.open(path, new Map(), reading), first);

  renameSync(path, `${path}-before`);
  await openSqliteStore(path, new Map(), { create: true }).close();
  const second = keeper.open(path, new Map(), reading);
  assert.notEqual(second.identity.id, undefined);
  assert.notEqual(second, first);
  await assert.rejects(first.rows({}), 'the one before is closed');
  assert.equal(keeper.open(path, new Map(), reading), second);

  await keeper.forget();
  assert.notEqual(keeper.open(path, new Map(), reading), second);
  await keeper.forget();
});
