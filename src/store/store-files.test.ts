import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { StoreFailure } from '../kernel/ports.ts';
import { keepCopy } from './copies.ts';
import { salvageStore } from './sqlite/salvage/events.ts';
import { openSqliteStore } from './sqlite/store.ts';
import { copiesFolder, keepStoreId, listCopies, readStoreId, refuseMissing, type StoreFiles } from './store-files.ts';

const folderOf = (context: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'copies-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const at = (time: string): string => `2026-03-17T${time}.000Z`;

const namesIn = (folder: string): readonly string[] => readdirSync(folder).toSorted();

test('a copy is kept at most once an hour, and of all copies the newest three', async (context) => {
  const folder = join(folderOf(context), 'state/stint/id');
  const store = openSqliteStore(':memory:', new Map(), { create: true });
  for (const time of ['09:00:00', '09:30:00', '09:59:59', '10:00:00', '11:00:00', '11:10:00', '12:30:00']) {
    assert.equal(await keepCopy(store, folder, at(time)), undefined);
  }
  assert.deepEqual(namesIn(folder), ['2026-03-17T100000Z.db', '2026-03-17T110000Z.db', '2026-03-17T123000Z.db']);
  assert.deepEqual(
    listCopies(folder).map((copy) => copy.at),
    [at('12:30:00'), at('11:00:00'), at('10:00:00')],
    'the newest first',
  );
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.equal(statSync(join(folder, '2026-03-17T123000Z.db')).mode & 0o777, 0o600);
  await store.close();
});

test('a copy holds the whole store with its id, and is not gone on with before a repair has looked at it', async (context) => {
  const folder = folderOf(context);
  const store = openSqliteStore(join(folder, 'stint.db'), new Map(), { create: true });
  await keepCopy(store, join(folder, 'copies'), at('09:00:00'));
  const [copy] = listCopies(join(folder, 'copies'));
  assert.ok(copy !== undefined);
  assert.throws(
    () => openSqliteStore(copy.path, new Map(), { create: false }),
    (error) => error instanceof StoreFailure && error.refusal.code === 'damaged' && error.message.includes('is a copy'),
  );
  assert.equal(
    salvageStore({ database: readFileSync(copy.path), log: new Uint8Array() }).identity.id,
    store.identity.id,
  );
  await store.close();
});

test('a clock that went back keeps a copy as soon as it is an hour away, and the copies that are named later stay', async (context) => {
  const folder = folderOf(context);
  const store = openSqliteStore(':memory:', new Map(), { create: true });
  await keepCopy(store, folder, at('12:00:00'));
  assert.equal(await keepCopy(store, folder, at('11:30:00')), undefined);
  assert.equal(namesIn(folder).length, 1);
  await keepCopy(store, folder, at('08:00:00'));
  assert.deepEqual(namesIn(folder), ['2026-03-17T080000Z.db', '2026-03-17T120000Z.db']);
  await keepCopy(store, folder, at('08:30:00'));
  assert.equal(namesIn(folder).length, 2, 'not twice an hour, whatever is named later');
  for (const time of ['13:00:00', '14:00:00', '06:00:00']) await keepCopy(store, folder, at(time));
  assert.ok(namesIn(folder).includes('2026-03-17T060000Z.db'), 'the one that was just made is kept');
  assert.equal(namesIn(folder).length, 3);
  await store.close();
});

test('a folder that takes no copy is a warning that names it, and leaves nothing half done', async (context) => {
  const folder = folderOf(context);
  const store = openSqliteStore(':memory:', new Map(), { create: true });
  writeFileSync(join(folder, 'state'), 'a file');
  assert.match(
    (await keepCopy(store, join(folder, 'state/stint/id'), at('09:00:00'))) ?? '',
    /^no copy of the store was kept: .*state\/stint\/id /,
  );
  assert.deepEqual(namesIn(folder), ['state']);
  await store.close();
});

test('a copy that could not be made whole is not taken for one', async (context) => {
  const folder = folderOf(context);
  const store = openSqliteStore(':memory:', new Map(), { create: true });
  const failing = {
    ...store,
    copyTo: async (path: string): Promise<boolean> => {
      writeFileSync(path, 'half');
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    },
  };
  Object.defineProperty(failing, 'identity', { value: { id: 'a'.repeat(32), key: '' } });
  assert.match((await keepCopy(failing, folder, at('09:00:00'))) ?? '', /no copy of the store was kept/);
  assert.deepEqual(namesIn(folder), []);
  await store.close();
});

test('what is no copy of ours is not listed, and is not taken away', async (context) => {
  const folder = folderOf(context);
  const store = openSqliteStore(':memory:', new Map(), { create: true });
  for (const name of ['notes.txt', '2026-03-17T090000Z.db.123', '2026-03-17.db'])
    writeFileSync(join(folder, name), 'x');
  for (const time of ['09:00:00', '10:00:00', '11:00:00', '12:00:00']) await keepCopy(store, folder, at(time));
  assert.equal(listCopies(folder).length, 3);
  assert.ok(
    ['notes.txt', '2026-03-17T090000Z.db.123', '2026-03-17.db'].every((name) => existsSync(join(folder, name))),
  );
  assert.deepEqual(listCopies(join(folder, 'none')), []);
  await store.close();
});

const id = 'a1'.repeat(16);

test('the id of a store is written down once, for its owner alone, and read leniently', (context) => {
  const file = join(folderOf(context), 'stint-id');
  assert.equal(readStoreId(file), undefined);
  keepStoreId(file, id);
  assert.equal(readFileSync(file, 'utf8'), `${id}\n`);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const before = statSync(file).ino;
  keepStoreId(file, id);
  assert.equal(statSync(file).ino, before, 'what is there is not written again');
  writeFileSync(file, ` ${id}\r\n`);
  assert.equal(readStoreId(file), id);
  for (const text of ['', 'x', id.toUpperCase(), `${id}0`, '../../etc']) {
    writeFileSync(file, text);
    assert.equal(readStoreId(file), undefined, JSON.stringify(text));
  }
});

const filesIn = (folder: string): StoreFiles => ({
  path: join(folder, 'stint.db'),
  idFile: join(folder, 'stint-id'),
  copies: join(folder, 'state'),
  traces: () => [join(folder, 'sessions')],
});

test('a store is missed where it once was and something of it is left: a copy, its files, or an empty file', (context) => {
  const folder = folderOf(context);
  const files = filesIn(folder);
  assert.equal(refuseMissing(files, undefined), undefined, 'there never was one');
  writeFileSync(join(folder, 'stint-id'), `${id}\n`);
  assert.equal(refuseMissing(files, undefined), undefined, 'nothing of it is left');
  for (const beside of ['stint.db-tip', 'stint.db-wal']) {
    assert.match(refuseMissing(files, 4096)?.message ?? '', /^The files beside the store .* are gone/);
    writeFileSync(join(folder, beside), 'x');
    assert.equal(refuseMissing(files, 4096), undefined, `with ${beside} it is there`);
    rmSync(join(folder, beside));
  }
  assert.match(refuseMissing(files, 0)?.message ?? '', /is empty; it was here before. There is no copy of it/);
  mkdirSync(join(folder, 'sessions/2026-03-17-main'), { recursive: true });
  const refusal = refuseMissing(files, undefined);
  assert.deepEqual([refusal?.code, refusal?.hint], ['damaged', 'stint doctor --fix']);
  assert.match(refusal?.message ?? '', /is gone; it was here before/);
  rmSync(join(folder, 'sessions'), { recursive: true });
  mkdirSync(join(folder, 'state', id), { recursive: true });
  writeFileSync(join(folder, 'state', id, '2026-03-17T090000Z.db'), 'x');
  assert.match(refuseMissing(files, undefined)?.message ?? '', /There is a copy of 2026-03-17T09:00:00.000Z/);
  assert.equal(
    refuseMissing({ ...files, idFile: undefined }, undefined),
    undefined,
    'one that was named is not missed',
  );
});

test('the folder of copies is that of the id: the one that was found, else the one that was written down', (context) => {
  const folder = folderOf(context);
  const files = filesIn(folder);
  assert.equal(copiesFolder(files, undefined), undefined);
  assert.equal(copiesFolder(files, 'b2'.repeat(16)), join(folder, 'state', 'b2'.repeat(16)));
  writeFileSync(join(folder, 'stint-id'), `${id}\n`);
  assert.equal(copiesFolder(files, null), join(folder, 'state', id));
  assert.equal(copiesFolder({ ...files, copies: undefined }, id), undefined);
});

test(
  'a folder that may not be written is a warning',
  { skip: process.getuid?.() === 0 && 'root may write everywhere' },
  async (context) => {
    const folder = folderOf(context);
    chmodSync(folder, 0o500);
    const store = openSqliteStore(':memory:', new Map(), { create: true });
    assert.match((await keepCopy(store, join(folder, 'id'), at('09:00:00'))) ?? '', /no copy of the store was kept/);
    await store.close();
  },
);
