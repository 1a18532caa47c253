/** Stores as they lie on disk, and what was written into them. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStint, type Stint } from '../../src/index.ts';
import type { StoredEvent } from '../../src/kernel/event.ts';
import type { JsonObject } from '../../src/lib/canonical-json.ts';
import { approval, phases } from './reviews.ts';
import type { Tidying } from './world.ts';

/** The two files of a store. */
export interface StoreFiles {
  readonly database: Uint8Array;
  readonly log: Uint8Array;
}

/** A folder that is taken away after the test. */
export const folderFor = (tidying: Tidying): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'salvage-')));
  tidying.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** The bytes of a database file and its log as they are now; what is not there is empty. */
export const filesOf = (path: string): StoreFiles => {
  const read = (file: string): Uint8Array => (existsSync(file) ? new Uint8Array(readFileSync(file)) : new Uint8Array());
  return { database: read(path), log: read(`${path}-wal`) };
};

/** Puts files where SQLite can open them. */
export const putFiles = (path: string, { database, log }: StoreFiles): void => {
  rmSync(`${path}-shm`, { force: true });
  writeFileSync(path, database);
  writeFileSync(`${path}-wal`, log);
};

/** Runs a verb that must succeed. */
export const must = async (stint: Stint, verb: string, input: JsonObject, extra = {}): Promise<JsonObject> => {
  const result = await stint.run(verb, input, extra);
  if (!result.ok) assert.fail(`${verb}: ${result.error.refusal.message}`);
  return result.value;
};

/** A checkout in which a store can be made. */
const checkoutIn = (folder: string): string => {
  for (const part of ['.git/objects', '.git/refs']) mkdirSync(join(folder, part), { recursive: true });
  writeFileSync(join(folder, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(folder, '.git/config'), '[core]\n\tbare = false\n');
  return folder;
};

/** The name of a session of `fillStore`. */
export const nameOf = (index: number): string => `s-${String(index).padStart(2, '0')}`;

/**
 * Makes a store of many reviews through the library: remarks of all sizes, three reviews with a completed round, requests
 * with ids. It is left open, so that its log stays.
 */
export const fillStore = async (
  folder: string,
  sessions: number,
): Promise<{ readonly stint: Stint; readonly path: string }> => {
  const opened = openStint({ cwd: checkoutIn(folder), actor: 'ana' });
  assert.ok(opened.ok);
  const stint = opened.value;
  for (let index = 0; index < sessions; index += 1) {
    await must(stint, 'begin', { kind: 'review', name: nameOf(index) }, { requestId: `begin-${index}` });
  }
  for (let round = 0; round < 4; round += 1) {
    for (let index = 0; index < sessions; index += 1) {
      const text = `\u{1F525} ${round} of ${index} ${'naïve "words" '.repeat((index * 7 + round * 13) % 40)}`;
      const long = index % 10 === round ? 'x'.repeat(3000 + index * 400) : '';
      await must(stint, 'note', { session: nameOf(index), text: text + long });
    }
  }
  for (let index = 0; index < Math.min(3, sessions); index += 1) {
    const session = nameOf(index);
    for (const phase of phases.slice(1, 7)) await must(stint, 'advance', { session, phase });
    await must(stint, 'complete-round', { session }, { payload: approval });
  }
  return { stint, path: join(folder, '.stint/stint.db') };
};

/** Every event of a store that SQLite can read, by its session. */
export const writtenEvents = (path: string): ReadonlyMap<string, readonly StoredEvent[]> => {
  const database = new DatabaseSync(path);
  try {
    const events = database
      .prepare('SELECT session, seq, type, v, at, actor, place, cause, data, hash FROM event ORDER BY session, seq')
      .all()
      .map((row) => ({ ...row, data: JSON.parse(String(row['data'])) }) as unknown as StoredEvent);
    return Map.groupBy(events, ({ session }) => session);
  } finally {
    database.close();
  }
};
