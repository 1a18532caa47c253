import { StoreFailure, type Store } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { randomHex } from '../../lib/id.ts';
import { all, get, run, type Row, type Work } from '../sql/work.ts';
import type { Address } from './address.ts';
import { openDatabase, theTime, type Database } from './database.ts';
import { codeOf } from './failures.ts';
import { migrations, schemaVersion } from './migrations.ts';

/** An open project on a server, ready for this program. */
export interface OpenedProject {
  readonly database: Database;
  readonly identity: Store['identity'];
  /** Why it may not be written, where that is so. */
  readonly readOnly: Refusal | undefined;
  /** Whether its schema was brought up to date now, so that its rows are of an older shape. */
  readonly isRaised: boolean;
}

/**
 * Opens a project. With `create` it is made where there is none; without, undefined is answered then. A newer one is read
 * and not written.
 */
export const openProject = async (
  address: Address,
  { create, patience }: { readonly create: boolean; readonly patience?: number | undefined },
): Promise<OpenedProject | undefined> => {
  const database = openDatabase(address, patience);
  try {
    let meta = await readMeta(database);
    const from = versionOf(meta);
    if (from === 0 && !create) {
      await database.close();
      return undefined;
    }
    // One of those that come at once does it, and the others find it done.
    const isRaised = from < schemaVersion && (await database.write(alone, () => migrate(address.schema)));
    if (from < schemaVersion) meta = await readMeta(database);
    const id = meta.get('id');
    const key = meta.get('key');
    if (id === undefined || key === undefined || Number.isNaN(versionOf(meta)))
      throw new StoreFailure(
        refuse('damaged', `The store ${address.shown} has lost its own id, or the number of its schema.`, {
          hint: 'restore it from a backup',
        }),
      );
    const version = versionOf(meta);
    return {
      database,
      identity: { id, key },
      readOnly: version > schemaVersion ? refuseNewer(address.shown, version) : undefined,
      isRaised: isRaised && from > 0,
    };
  } catch (error) {
    await database.close();
    throw error;
  }
};

/** The lock under which a project is made and brought up to date: nobody writes meanwhile. */
const alone = { alone: ['store'], shared: [] };

/** The number of the schema; nought where there is none. One that is no number is of nobody who can be read. */
const versionOf = (meta: ReadonlyMap<string, string>): number => {
  if (meta.size === 0) return 0;
  const version = Number(meta.get('schema'));
  return Number.isSafeInteger(version) && version > 0 ? version : Number.NaN;
};

/** What a project says of itself; nothing where there is none. */
const readMeta = async (database: Database): Promise<ReadonlyMap<string, string>> => {
  try {
    return metaOf(await database.look(`SELECT key, value, ${theTime} FROM meta`));
  } catch (error) {
    const cause = error instanceof StoreFailure ? error.cause : error;
    if (codeOf(cause) === '42P01') return new Map();
    throw error;
  }
};

function* selectMeta(): Work<ReadonlyMap<string, string>> {
  return metaOf(yield* all('SELECT key, value FROM meta'));
}

const metaOf = (rows: readonly Row[]): ReadonlyMap<string, string> =>
  new Map(rows.map((row) => [String(row['key']), String(row['value'])]));

/** Makes a project, or brings it up to date; answers whether there was anything to do. */
function* migrate(schema: string): Work<{ readonly commit: boolean; readonly value: boolean }> {
  // Even where it is there, only who may make others may ask for it to be made.
  if ((yield* get('SELECT 1 FROM pg_namespace WHERE nspname = ?', schema)) === undefined)
    yield* run(`CREATE SCHEMA "${schema}"`);
  const there = yield* get('SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = ?', schema, 'meta');
  const from = there === undefined ? 0 : versionOf(yield* selectMeta());
  if (from >= schemaVersion) return { commit: false, value: false };
  for (const step of migrations.slice(from)) yield* run(step);
  if (from === 0) {
    yield* run('INSERT INTO meta VALUES (?, ?)', 'id', randomHex(16));
    yield* run('INSERT INTO meta VALUES (?, ?)', 'key', randomHex(32));
    yield* run('INSERT INTO meta VALUES (?, ?)', 'schema', String(schemaVersion));
  } else yield* run('UPDATE meta SET value = ? WHERE key = ?', String(schemaVersion), 'schema');
  return { commit: true, value: true };
}

const refuseNewer = (shown: string, version: number): Refusal =>
  refuse(
    'newer-version',
    `The store ${shown} was written by a newer stint (schema ${version}, this program knows ${schemaVersion}); it can be read, not written.`,
    { expected: `a store of schema ${schemaVersion} or older`, hint: 'use the newer stint' },
  );
