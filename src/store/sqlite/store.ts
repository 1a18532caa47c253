import type { Kinds } from '../../kernel/kind.ts';
import type { Finding, Store } from '../../kernel/ports.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import { repairHint } from '../hints.ts';
import { copyId } from '../header.ts';
import type { Backend } from '../sql/backend.ts';
import { createStore } from '../sql/store.ts';
import { text } from '../sql/values.ts';
import { all, get, type Work } from '../sql/work.ts';
import { openDatabase, type Database } from './database.ts';
import { openFile, readIdentity, type FileOptions } from './open.ts';

/** Opens a SQLite store: a file, or `:memory:`. Without `create` a missing file reads as an empty store. */
export const openSqliteStore = (path: string, kinds: Kinds, options: FileOptions): Store => {
  const { database, readOnly, isRaised } = openFile(path, options);
  return createSqliteStore(database, kinds, { name: path, readOnly, isRaised });
};

/** A store of an open database. */
export const createSqliteStore = (
  database: Database,
  kinds: Kinds,
  {
    name,
    readOnly,
    isRaised = false,
  }: { readonly name: string; readonly readOnly: Refusal | undefined; readonly isRaised?: boolean | undefined },
): Store => {
  /** Whether the rows are those of an older program: they are made anew before anything is asked. */
  let isOlder = isRaised;
  const ready = async (): Promise<Database> => {
    if (!isOlder) return database;
    const { raiseRows } = await import('../sql/rebuild.ts');
    database.write(() => database.do(raiseRows(kinds)));
    isOlder = false;
    return database;
  };
  let identity: Store['identity'] | undefined;
  const backend: Backend = {
    name,
    readOnly,
    identity: () => {
      identity ??= readIdentity(database);
      return identity;
    },
    ask: async (work) => (await ready()).do(work()),
    snapshot: async (work) => (await ready()).snapshot(() => database.do(work())),
    // There is one writer at a time.
    write: async (_, work) => (await ready()).write(() => database.do(work())),
    writeAtOnce: async (_, work) => (await ready()).writeAtOnce(() => database.do(work())),
    stamp: selectStamp,
    check: () => checkFile(name),
    copyTo: async (target) => {
      database.run('VACUUM INTO ?', target);
      // What is put back by hand is to be a store like any other, and to say that it is a copy: both are part of the file.
      const copy = openDatabase(target, { readOnly: false });
      copy.exec(`PRAGMA journal_mode = WAL; PRAGMA application_id = ${copyId}`);
      copy.close();
      return true;
    },
    close: async () => database.close(),
  };
  return createStore(backend, kinds);
};

/** The version of what others have committed (https://www.sqlite.org/pragma.html#pragma_data_version), and what was changed here. */
function* selectStamp(): Work<string> {
  const others = yield* get('PRAGMA data_version');
  const own = yield* get('SELECT total_changes() AS changes');
  return `${String(others?.['data_version'])} ${String(own?.['changes'])}`;
}

/** What SQLite finds wrong with its file. */
export function* checkFile(name: string): Work<readonly Finding[]> {
  return (yield* all('PRAGMA integrity_check(20)'))
    .map((row) => text(row, 'integrity_check'))
    .filter((problem) => problem !== 'ok')
    .map((problem) => ({ subject: name, problem, fix: repairHint, isDamage: true }));
}
