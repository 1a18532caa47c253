import { existsSync, statSync } from 'node:fs';
import type { Kinds } from '../kernel/kind.ts';
import type { MirrorRecord, Places, Store } from '../kernel/ports.ts';
import { confine } from '../lib/confine.ts';

/** Where mirrors are made, and from what. */
export interface MirrorWorld {
  readonly store: Store;
  readonly kinds: Kinds;
  readonly places: Places;
}

/**
 * Brings the mirrors of a session up to date after a writing verb, and with them every mirror that an interrupted verb has
 * left unwritten. A failure never fails the verb: it is answered as a warning, and the next verb tries again. Without
 * sessions, after a reading verb, nobody is waited for.
 */
export const syncMirrors = async (world: MirrorWorld, sessions: readonly string[]): Promise<readonly string[]> => {
  const warnings: string[] = [];
  const attempt = async (what: string, action: () => Promise<readonly string[]>): Promise<void> => {
    try {
      warnings.push(...(await action()));
    } catch (error) {
      warnings.push(warningOf(what, error));
    }
  };
  for (const session of sessions)
    await attempt(`the folder of ${session}`, async () => lookAfterFolder(world, session));
  for (const record of await world.store.mirrors(sessions))
    if (isOfThisMachine(world, record))
      await attempt(record.path, async () => syncMirror(world, record, sessions.length > 0));
  return warnings;
};

const syncMirror = async (world: MirrorWorld, record: MirrorRecord, wait: boolean): Promise<readonly string[]> => {
  const path = await pathOf(world, record);
  if (path === undefined)
    return [`${record.path} was not written: a link leads out of the checkout, or a file is where a folder should be`];
  if (record.stamp !== null && record.stamp === stampOf(path)) return [];
  // Mostly nobody has touched it.
  return (await import('./settle.ts')).settleMirror(world, record, path, wait);
};

/** Whether a mirror lies in a checkout of this machine: those of others are written there. */
export const isOfThisMachine = ({ places }: MirrorWorld, { place }: MirrorRecord): boolean =>
  places.homeOf({ place, branch: null }).isElsewhere !== true;

/** The file of a mirror; undefined where a link leads it out of its checkout. */
export const pathOf = async ({ store, places }: MirrorWorld, record: MirrorRecord): Promise<string | undefined> => {
  const row = await store.read(record.session);
  return confine(places.homeOf({ place: record.place, branch: row?.row.branch ?? null }).root, record.path);
};

/** The session's own folder. Mostly the session is from here and its folder is there. */
const lookAfterFolder = async (world: MirrorWorld, session: string): Promise<readonly string[]> => {
  const [kindName = '', name = ''] = session.split(':');
  const path = world.kinds.get(kindName)?.folder(name);
  if (path !== undefined && !existsSync(`${world.places.here.root}/${path}`))
    await (await import('./settle.ts')).makeFolder(world, session, path);
  return [];
};

/** What a file looks like from outside: size, time of change and number; null where there is none. */
export const stampOf = (path: string): string | null => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.size}:${found.mtimeNs}:${found.ino}`;
};

const warningOf = (what: string, error: unknown): string =>
  `${what} could not be written (${error instanceof Error ? error.message : String(error)}); the next verb tries again, or: stint rebuild`;
