import { existsSync, lstatSync, statSync } from 'node:fs';
import { folderMarkOf, type FileWorld, type Kinds } from '../kernel/kind.ts';
import { loadKind } from '../kernel/kinds.ts';
import { goneDigest, type MirrorRecord } from '../kernel/ports.ts';
import { confine } from '../lib/confine.ts';

/** Where mirrors are made, and from what; and what is needed to look into what others have made of them. */
export interface MirrorWorld extends FileWorld {
  readonly kinds: Kinds;
}

/**
 * Brings the mirrors of a session up to date after a writing verb, and with them every mirror that an interrupted verb has
 * left unwritten. A failure never fails the verb: it is answered as a warning, and the next verb tries again. Without
 * sessions, after a reading verb, nobody is waited for. Folders come first: where one is not in its place yet, no file is
 * written, or the place would be taken when it comes. `anew`: also what was put by for good, and is gone, comes back.
 */
export const syncMirrors = async (
  world: MirrorWorld,
  sessions: readonly string[],
  { anew = false }: { readonly anew?: boolean } = {},
): Promise<readonly string[]> => {
  const warnings: string[] = [];
  const attempt = async (what: string, action: () => Promise<readonly string[]>): Promise<void> => {
    try {
      warnings.push(...(await action()));
    } catch (error) {
      warnings.push(warningOf(what, error));
    }
  };
  const wait = sessions.length > 0;
  const records = (await world.store.mirrors(sessions)).filter((record) => isOfThisMachine(world, record));
  const marks = new Map(records.filter(isMark).map((record) => [record.session, record]));
  const settled = new Set<string>();
  for (const session of new Set([...sessions, ...records.map((record) => record.session)]))
    await attempt(`the folder of ${session}`, async () => {
      if (await settleFolder(world, session, marks.get(session), wait)) settled.add(session);
      return [];
    });
  for (const record of records)
    if (!isMark(record) && settled.has(record.session))
      await attempt(record.path, async () => syncMirror(world, record, { wait, anew }));
  return warnings;
};

/** Mostly nobody has touched a file, and a folder is in its place: what there is to do else is loaded when there is something. */
const settling = async () => import('./settle.ts');

const syncMirror = async (
  world: MirrorWorld,
  record: MirrorRecord,
  how: Parameters<Awaited<ReturnType<typeof settling>>['settleMirror']>[2],
): Promise<readonly string[]> => {
  const { place, path, stamp, digest } = record;
  const { root } = world.places.homeOf({ place, branch: null });
  const file = confine(root, path);
  // A file that was left is of no concern any more, unless version control has put one of its versions there again.
  const isGone = (): boolean =>
    file === undefined || lstatSync(`${root}/${path}`, { throwIfNoEntry: false })?.isFile() !== true;
  if (stamp !== null && digest === goneDigest && isGone()) return [];
  if (stamp !== null && file !== undefined && stamp === stampOf(file)) return [];
  return (await settling()).settleMirror(world, record, how);
};

/** Sees that a session's own folder is there; answers whether it is. */
const settleFolder = async (
  world: MirrorWorld,
  session: string,
  mark: MirrorRecord | undefined,
  wait: boolean,
): Promise<boolean> => {
  const [kindName = '', name = ''] = session.split(':');
  const home = (await loadKind(world.kinds, kindName))?.folder(name);
  // Mostly the session is from here, and was never archived.
  if (home === undefined || (mark === undefined && existsSync(`${world.places.here.root}/${home}`))) return true;
  return (await settling()).settleFolder(world, session, mark, wait);
};

/** Whether a mirror lies in a checkout of this machine: those of others are written there. */
export const isOfThisMachine = ({ places }: MirrorWorld, { place }: MirrorRecord): boolean =>
  places.homeOf({ place, branch: null }).isElsewhere !== true;

/** Whether a record is the one about where the folder belongs, and no file. */
export const isMark = ({ session, path }: MirrorRecord): boolean => path === folderMarkOf(session);

/** What a file looks like from outside: size, time of change and number; null where there is none. */
export const stampOf = (path: string): string | null => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.size}:${found.mtimeNs}:${found.ino}`;
};

/** A folder that somebody has moved: no next verb puts it back by itself. */
export class Misplaced extends Error {}

const warningOf = (what: string, error: unknown): string =>
  error instanceof Misplaced
    ? error.message
    : `${what} could not be written (${error instanceof Error ? error.message : String(error)}); the next verb tries again, or: stint rebuild`;
