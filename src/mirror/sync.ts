import { copyFileSync, existsSync, linkSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Kinds } from '../kernel/kind.ts';
import { loadKind } from '../kernel/kinds.ts';
import type { MirrorFile, MirrorRecord, Places, Store } from '../kernel/ports.ts';
import { createFileAtomic, errnoCode, makeFolders, removeStaleTemps, writeFileAtomic } from '../lib/atomic-file.ts';
import { confine } from '../lib/confine.ts';
import { sha256Bytes } from '../lib/sha256.ts';
import { planMirror } from './plan.ts';

/** Where mirrors are made, and from what. */
export interface MirrorWorld {
  readonly store: Store;
  readonly kinds: Kinds;
  readonly places: Places;
}

/** What a mirror's file is found to be; `current` is right, the others are not. */
export interface MirrorState {
  readonly record: MirrorRecord;
  readonly path: string;
  readonly state: 'current' | 'missing' | 'stale' | 'drifted' | 'unreadable';
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
  for (const session of sessions) await attempt(`the folder of ${session}`, async () => makeFolder(world, session));
  for (const record of await world.store.mirrors(sessions))
    if (isOfThisMachine(world, record))
      await attempt(record.path, async () => syncMirror(world, record, sessions.length > 0));
  return warnings;
};

/** What the files of a session's mirrors are found to be; nothing is changed. */
export const inspectMirrors = async (world: MirrorWorld, session: string): Promise<readonly MirrorState[]> => {
  const states: MirrorState[] = [];
  for (const record of await world.store.mirrors([session])) {
    if (record.session !== session || !isOfThisMachine(world, record)) continue;
    const path = await pathOf(world, record);
    const found = path === undefined ? undefined : digestOf(path);
    const wasMade = typeof found === 'string' && (await world.store.wasMirror(record.place, record.path, found));
    states.push({
      record,
      path: path ?? record.path,
      state: found === undefined ? 'unreadable' : stateOf(record.digest, found, wasMade),
    });
  }
  return states;
};

const stateOf = (wanted: string, found: string | null, wasMade: boolean): MirrorState['state'] => {
  const action = planMirror(wanted, found, wasMade);
  if (action === 'keep') return 'current';
  if (action === 'set-aside') return 'drifted';
  return found === null ? 'missing' : 'stale';
};

const syncMirror = async (world: MirrorWorld, record: MirrorRecord, wait: boolean): Promise<readonly string[]> => {
  const path = await pathOf(world, record);
  if (path === undefined)
    return [`${record.path} was not written: a link leads out of the checkout, or a file is where a folder should be`];
  if (record.stamp !== null && record.stamp === stampOf(path)) return [];

  const content = await contentOf(world, record);
  // Who has made a newer version writes that one; until somebody has, it is among those that were not written yet.
  if (content === undefined) return [];
  const warnings: string[] = [];
  const file: MirrorFile = {
    stamp: () => (lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? stampOf(path) : null),
    digest: () => {
      const found = digestOf(path);
      if (found === undefined) throw new Error('it is no regular file');
      return found;
    },
    write: (found, wasMade) => {
      const action = planMirror(record.digest, found, wasMade);
      if (action === 'set-aside' && found !== null) warnings.push(setAside(path, found));
      if (action !== 'keep') {
        removeStaleTemps(dirname(path));
        writeFileAtomic(path, content);
      }
      return stampOf(path);
    },
  };
  await world.store.settleMirror(record, file, wait);
  return warnings;
};

/** The content of a version of a mirror, made from its event; undefined where the session has moved on to another one. */
const contentOf = async ({ store }: MirrorWorld, record: MirrorRecord): Promise<string | undefined> => {
  const session = await store.load(record.session);
  const mirror = session?.folded.mirrors(session.common).find((one) => one.path === record.path);
  // Or it lies elsewhere now, as one in the archive does, and no longer has a file of that name.
  const isNamed = session === undefined || session.unreadable !== undefined || mirror !== undefined;
  if (!isNamed || (mirror !== undefined && mirror.source > record.source)) return undefined;
  const event = await store.event(record.session, record.source);
  if (mirror?.source !== record.source || event === undefined) throw new Error(`event ${record.source} is not there`);
  return mirror.render(event);
};

/** Whether a mirror lies in a checkout of this machine: those of others are written there. */
const isOfThisMachine = ({ places }: MirrorWorld, { place }: MirrorRecord): boolean =>
  places.homeOf({ place, branch: null }).isElsewhere !== true;

/** The file of a mirror; undefined where a link leads it out of its checkout. */
const pathOf = async ({ store, places }: MirrorWorld, record: MirrorRecord): Promise<string | undefined> => {
  const row = await store.read(record.session);
  return confine(places.homeOf({ place: record.place, branch: row?.row.branch ?? null }).root, record.path);
};

/** The session's own folder; the folder that holds all of them keeps itself out of git when it is made here. */
const makeFolder = async ({ store, kinds, places }: MirrorWorld, session: string): Promise<readonly string[]> => {
  const [kindName = '', name = ''] = session.split(':');
  const path = (await loadKind(kinds, kindName))?.folder(name);
  // Mostly the session is from here and its folder is there.
  if (path === undefined || existsSync(`${places.here.root}/${path}`)) return [];
  const read = await store.read(session);
  if (read === undefined) return [];
  const home = places.homeOf(read.row);
  if (home.isElsewhere === true) return [];
  const folder = confine(home.root, path);
  if (folder === undefined) throw new Error('a link leads out of the checkout, or a file is where a folder should be');
  if (existsSync(folder)) return [];
  const parent = dirname(folder);
  makeFolders(parent);
  // An empty folder is one that was made here, perhaps by a verb that was interrupted before this line.
  removeStaleTemps(parent);
  if (readdirSync(parent).length === 0) createFileAtomic(join(parent, '.gitignore'), '*\n');
  makeFolders(folder);
  return [];
};

/** What a file looks like from outside: size, time of change and number; null where there is none. */
const stampOf = (path: string): string | null => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.size}:${found.mtimeNs}:${found.ino}`;
};

/** The digest of a file; null where there is none, undefined where it cannot be read. */
const digestOf = (path: string): string | null | undefined => {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return null;
    // Opening anything else, a pipe for example, could wait for ever.
    return found.isFile() ? sha256Bytes(readFileSync(path)) : undefined;
  } catch (error) {
    return errnoCode(error) === 'ENOENT' ? null : undefined;
  }
};

/** Keeps what somebody else wrote beside the file, under a name made of its content. */
const setAside = (path: string, digest: string): string => {
  const kept = `${path}.kept-${digest.slice(0, 8)}`;
  if (!existsSync(kept)) {
    try {
      linkSync(path, kept);
    } catch {
      copyFileSync(path, kept);
    }
  }
  return `${basename(path)} had been changed by somebody else; that version is kept as ${basename(kept)}`;
};

const warningOf = (what: string, error: unknown): string =>
  `${what} could not be written (${error instanceof Error ? error.message : String(error)}); the next verb tries again, or: stint rebuild`;
