import type { Refusal } from '../kernel/refusal.ts';
import { StoreFailure } from '../kernel/ports.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { readAddress } from '../store/postgres/address.ts';
import { openPostgresStore, type ServerStore } from '../store/postgres/store.ts';
import { openMemory } from '../store/sqlite/open.ts';
import { createSqliteStore } from '../store/sqlite/store.ts';
import type { Missing, Surveyed, Workplace } from './world.ts';

/**
 * Opens the store of a project on a server. Where there is none, it is made, or reads as empty, as that of a checkout
 * does: the server is there. The clock is the server's, unless the caller fixes it.
 */
export const openServer = async (
  surveyed: Surveyed,
  server: { readonly url: string; readonly project: string | undefined },
  missing: Missing,
): Promise<Result<Workplace, Refusal>> => {
  const address = readAddress(server.url, server.project);
  if (!address.ok) return address;
  const { shown, project } = address.value;
  const { kinds } = surveyed;
  const files = { path: shown, idFile: undefined, copies: undefined, traces: () => [] };
  let opened: ServerStore | undefined;
  try {
    opened = await openOnce(address.value.url, project, async () =>
      openPostgresStore(address.value, kinds, { create: missing === 'make', patience: surveyed.patience }),
    );
  } catch (error) {
    if (error instanceof StoreFailure) return err(error.refusal);
    throw error;
  }
  if (opened === undefined) {
    const { database } = openMemory();
    const store = createSqliteStore(database, kinds, { name: shown, readOnly: undefined });
    return ok({ ...surveyed, files, store, damage: undefined, exists: false });
  }
  const { store, ahead } = opened;
  const now = surveyed.isClockFixed
    ? surveyed.now
    : (): string => new Date(Date.parse(surveyed.now()) + ahead()).toISOString();
  return ok({ ...surveyed, now, files, store, damage: undefined, exists: true });
};

/**
 * One connection for each project and process: a verb that is asked again and again does not connect again and again. It is
 * closed when the last one who opened it has closed it.
 */
const openOnce = async (
  url: string,
  project: string,
  open: () => Promise<ServerStore | undefined>,
): Promise<ServerStore | undefined> => {
  const key = `${project} ${url}`;
  if (!openByKey.has(key)) {
    const opened = await open();
    if (opened === undefined) return undefined;
    // Somebody else may have opened it meanwhile.
    if (openByKey.has(key)) await opened.store.close();
    else openByKey.set(key, { opened, users: 0 });
  }
  const kept = openByKey.get(key);
  if (kept === undefined) return undefined;
  kept.users += 1;
  const close = async (): Promise<void> => {
    kept.users -= 1;
    if (kept.users > 0) return;
    openByKey.delete(key);
    await kept.opened.store.close();
  };
  return { ...kept.opened, store: { ...kept.opened.store, close } };
};

const openByKey = new Map<string, { readonly opened: ServerStore; users: number }>();
