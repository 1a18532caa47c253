import { copyFileSync, existsSync, linkSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { MirrorRecord } from '../kernel/ports.ts';
import { createFileAtomic, errnoCode, makeFolders, removeStaleTemps, writeFileAtomic } from '../lib/atomic-file.ts';
import { confine } from '../lib/confine.ts';
import { sha256Bytes } from '../lib/sha256.ts';
import { planMirror } from './plan.ts';
import { isOfThisMachine, pathOf, stampOf, type MirrorWorld } from './sync.ts';

/** What a mirror's file is found to be; `current` is right, the others are not. */
export interface MirrorState {
  readonly record: MirrorRecord;
  readonly path: string;
  readonly state: 'current' | 'missing' | 'stale' | 'drifted' | 'unreadable';
}

/** What the files of a session's mirrors are found to be; nothing is changed. */
export const inspectMirrors = async (world: MirrorWorld, session: string): Promise<readonly MirrorState[]> => {
  const states: MirrorState[] = [];
  for (const record of await world.store.mirrors([session])) {
    if (record.session !== session || !isOfThisMachine(world, record)) continue;
    const path = await pathOf(world, record);
    const found = path === undefined ? undefined : digestOf(path);
    const history = await world.store.mirrorDigests(record.place, record.path);
    states.push({
      record,
      path: path ?? record.path,
      state: found === undefined ? 'unreadable' : stateOf(record.digest, found, history),
    });
  }
  return states;
};

const stateOf = (wanted: string, found: string | null, history: readonly string[]): MirrorState['state'] => {
  const action = planMirror(wanted, found, history);
  if (action === 'keep') return 'current';
  if (action === 'set-aside') return 'drifted';
  return found === null ? 'missing' : 'stale';
};

/** Brings the file of a mirror to its newest version; answers what is to be said about it. */
export const settleMirror = async (
  world: MirrorWorld,
  record: MirrorRecord,
  path: string,
  wait: boolean,
): Promise<readonly string[]> => {
  const content = await contentOf(world, record);
  const history = await world.store.mirrorDigests(record.place, record.path);
  const warnings: string[] = [];
  await world.store.settleMirror(
    record,
    () => {
      const found = digestOf(path);
      if (found === undefined) throw new Error('it is no regular file');
      const action = planMirror(record.digest, found, history);
      if (action === 'set-aside' && found !== null) warnings.push(setAside(path, found));
      if (action !== 'keep') {
        removeStaleTemps(dirname(path));
        writeFileAtomic(path, content);
      }
      return stampOf(path);
    },
    wait,
  );
  return warnings;
};

/** The content of a mirror's newest version, made from its event. */
const contentOf = async ({ store }: MirrorWorld, record: MirrorRecord): Promise<string> => {
  const session = await store.load(record.session);
  const mirror = session?.folded
    .mirrors(session.common)
    .find((one) => one.path === record.path && one.source === record.source);
  const event = await store.event(record.session, record.source);
  if (mirror === undefined || event === undefined) throw new Error(`event ${record.source} is not there`);
  return mirror.render(event);
};

/** Makes the folder of a session; the one that holds all of them keeps itself out of git when it is made here. */
export const makeFolder = async ({ store, places }: MirrorWorld, session: string, path: string): Promise<void> => {
  const read = await store.read(session);
  if (read === undefined) return;
  const home = places.homeOf(read.row);
  if (home.isElsewhere === true) return;
  const folder = confine(home.root, path);
  if (folder === undefined) throw new Error('a link leads out of the checkout, or a file is where a folder should be');
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  makeFolders(parent);
  // An empty folder is one that was made here, perhaps by a verb that was interrupted before this line.
  removeStaleTemps(parent);
  if (readdirSync(parent).length === 0) createFileAtomic(join(parent, '.gitignore'), '*\n');
  makeFolders(folder);
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
