import type { Kinds } from '../../kernel/kind.ts';
import { whenLoaded } from '../../kernel/kinds.ts';
import type { Store } from '../../kernel/ports.ts';
import type { Backend } from '../sql/backend.ts';
import { createStore } from '../sql/store.ts';
import { get, type Work } from '../sql/work.ts';
import type { Address } from './address.ts';
import { openProject } from './open.ts';

/** A store on a server, and what its clock says. */
export interface ServerStore {
  readonly store: Store;
  /** By how many milliseconds the clock of the server is ahead of this machine's, as it was seen last. */
  readonly ahead: () => number;
}

/** Opens the store of a project on a server; undefined where there is none and none is to be made. */
export const openPostgresStore = async (
  address: Address,
  kinds: Kinds,
  options: { readonly create: boolean; readonly patience?: number | undefined },
): Promise<ServerStore | undefined> => {
  const opened = await openProject(address, options);
  if (opened === undefined) return undefined;
  const { database, identity, readOnly, isRaised } = opened;
  if (isRaised) {
    const { raiseRows } = await import('../sql/rebuild.ts');
    await whenLoaded(async () => database.write({ alone: ['store'], shared: [] }, () => raiseRows(kinds)));
  }
  const backend: Backend = {
    name: address.shown,
    readOnly,
    identity: () => identity,
    ask: database.ask,
    snapshot: database.snapshot,
    write: database.write,
    writeAtOnce: database.writeAtOnce,
    stamp: selectStamp,
    // Copies of a server are its administrator's.
    copyTo: async () => false,
    close: database.close,
  };
  return { store: createStore(backend, kinds), ahead: database.ahead };
};

/**
 * Which transactions a reader sees: where these are the same ones, so is all that it can read. A server that repeats what
 * another one does tells of its transactions in part only; there it is how far it has come.
 */
function* selectStamp(): Work<string> {
  const row = yield* get(
    `SELECT pg_current_snapshot()::text || ' ' || coalesce(pg_last_wal_replay_lsn()::text, '') AS stamp`,
  );
  return String(row?.['stamp']);
}
