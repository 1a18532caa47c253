import { isUtf8 } from 'node:buffer';
import { copyFileSync, existsSync, linkSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isAsImported } from '../kernel/common.ts';
import { cleanDocument, digestOfDocument, isBlank, withWithheld } from '../formats/handoff/clean.ts';
import { archivedMirrorsOf } from '../formats/handoff/print.ts';
import { dispatch, loadedIn } from '../kernel/dispatch.ts';
import type { StoredEvent } from '../kernel/event.ts';
import { folderOf, mirrorsOf, type ChangedFile, type CurrentFile, type DocumentMark } from '../kernel/kind.ts';
import { loadKind, whenLoaded } from '../kernel/kinds.ts';
import { decideOpened } from '../kernel/lifecycle.ts';
import { goneDigest, leftStamp, type MirrorFile, type MirrorRecord, type SessionRow } from '../kernel/ports.ts';
import { createFileAtomic, errnoCode, makeFolders, removeStaleTemps, writeFileAtomic } from '../lib/atomic-file.ts';
import { confine } from '../lib/confine.ts';
import { lyingAt, moveFolder, placeOfFolder } from '../lib/move-folder.ts';
import { ok } from '../lib/result.ts';
import { sha256Bytes } from '../lib/sha256.ts';
import { planMirror } from './plan.ts';
import { isMark, isOfThisMachine, Misplaced, stampOf, type MirrorWorld } from './sync.ts';

/** What a mirror's file is found to be; `current` is right, the others are not. */
export interface MirrorState {
  readonly record: MirrorRecord;
  readonly path: string;
  readonly state: 'current' | 'missing' | 'stale' | 'drifted' | 'unreadable';
}

/** Where the folder of a session is to lie on this machine, and where it may lie instead: out of the archive, or in it. */
interface Ground {
  readonly row: SessionRow;
  readonly root: string;
  /** Relative to the checkout's root. */
  readonly folder: string;
  readonly other: string;
  /** The same two as they are used; undefined where a link leads out of the checkout. */
  readonly there: string | undefined;
  readonly beyond: string | undefined;
  readonly current: CurrentFile | undefined;
}

/** What the files of a session's mirrors are found to be; nothing is changed. `anew`: also of what was put by and is gone. */
export const inspectMirrors = async (
  world: MirrorWorld,
  session: string,
  { anew = false }: { readonly anew?: boolean } = {},
): Promise<readonly MirrorState[]> => {
  const states: MirrorState[] = [];
  for (const record of await world.store.mirrors([session])) {
    if (record.session !== session || !isOfThisMachine(world, record) || isMark(record)) continue;
    const ground = await groundOf(world, session);
    const content = isBelow(record, ground) ? undefined : await contentOf(world, record);
    if (!isBelow(record, ground) && (content?.isOutside !== true || !isKnownPlace(world, record))) continue;
    const path = pathOf(world, record, ground);
    const found = path === undefined ? undefined : digestOf(path, content?.document !== undefined);
    const wasMade =
      typeof found === 'string' &&
      ((await world.store.wasMirror(record.place, record.path, found)) ||
        (content?.isOutside === true && (await world.store.versionOf(record.path, found)) !== undefined) ||
        (await wasMadeBeyond(world, record, ground, found)));
    // A session that has left a file has no part in what others put there later.
    if (record.digest === goneDigest && record.stamp !== null && !wasMade) continue;
    // What somebody writes in a document is taken in by the next verb that writes.
    const isEdited = content?.document !== undefined && typeof found === 'string' && !wasMade;
    const isPutBy = content?.document?.isFixed === true && record.stamp !== null;
    const isAsked = anew && (found === null || found === record.digest);
    if (isEdited || (isPutBy && !isAsked)) continue;
    states.push({
      record,
      path: path ?? record.path,
      state: found === undefined ? 'unreadable' : stateOf(record.digest, found, wasMade),
    });
  }
  return states;
};

/** What is wrong with the place of a session's folder, and what helps; undefined where nothing is. Nothing is changed. */
export const inspectFolder = async (
  world: MirrorWorld,
  session: string,
): Promise<{ readonly problem: string; readonly fix: string | null } | undefined> => {
  const ground = await groundOf(world, session);
  if (ground === undefined) return undefined;
  const { row, folder, other, there, beyond, current } = ground;
  if (current !== undefined) return undefined;
  if (there === undefined || beyond === undefined)
    return { problem: 'its folder lies behind a link that leads out of the checkout', fix: null };
  if (lyingAt(beyond) !== 'something' || (await isOfAnother(world, ground))) return undefined;
  const records = await world.store.mirrors([session]);
  const isToBeMoved = records.some((one) => one.session === session && isMark(one) && one.stamp === null);
  if (lyingAt(there) === 'something')
    return isToBeMoved
      ? { problem: `its folder ${other} cannot be moved: something lies in ${folder}`, fix: null }
      : undefined;
  // Where another system has left it is no mistake of ours.
  const common = (await world.store.load(session))?.common;
  if (common !== undefined && isAsImported(common)) return undefined;
  if (isToBeMoved)
    return {
      problem: `its folder still lies in ${other}, not in ${folder}`,
      fix: `stint rebuild --session ${session}`,
    };
  const verb = row.archivedAt === null && row.status === 'closed' ? 'archive' : 'unarchive';
  return {
    problem: `its folder lies in ${other}, not in ${folder}`,
    fix: `stint ${verb} --session ${session}`,
  };
};

const stateOf = (wanted: string, found: string | null, wasMade: boolean): MirrorState['state'] => {
  const action = planMirror(wanted, found, wasMade);
  if (action === 'keep') return 'current';
  if (action === 'set-aside') return 'drifted';
  return found === null ? 'missing' : 'stale';
};

/**
 * Brings the file of a mirror to its newest version; answers what is to be said about it. Where somebody else has changed it,
 * its kind may have something to put on record before it is set aside; the mirrors of that session are then brought up to
 * date too.
 */
export const settleMirror = async (world: MirrorWorld, record: MirrorRecord, how: How): Promise<readonly string[]> => {
  const ground = await groundOf(world, record.session);
  const first = await settle(world, record, ground, how, undefined);
  if (first !== 'changed' || ground?.current === undefined) return first === 'changed' ? [] : first;
  const found = await ground.current.changed(world, ground.root, record.path);
  const { record: toRecord } = found;
  const isRecorded = toRecord !== undefined && (await putOnRecord(world, toRecord));
  const changed = isRecorded ? { ...found, more: toRecord.more } : found;
  const others = isRecorded ? await world.store.mirrors([toRecord.key]) : [];
  const warnings: string[] = [];
  for (const one of [...others.filter(({ session }) => session === toRecord?.key), record]) {
    if (isMark(one) || !isOfThisMachine(world, one)) continue;
    const settled = await settle(world, one, await groundOf(world, one.session), how, changed);
    if (settled !== 'changed') warnings.push(...settled);
  }
  return warnings;
};

/** Whether others are waited for, and whether what was put by for good and is gone comes back. */
interface How {
  readonly wait: boolean;
  readonly anew: boolean;
}

/** Appends what a kind has to say of the session that a file is of, if anything; answers whether it had. */
const putOnRecord = async (
  world: MirrorWorld,
  { key, decide }: NonNullable<ChangedFile['record']>,
): Promise<boolean> => {
  let isRecorded = false;
  const unasked = { requestId: undefined, expectRevision: undefined, leaseToken: undefined, takeOver: false } as const;
  const outcome = await dispatch(
    { ...world, caller: { ...world.caller, ...unasked } },
    { verb: 'mirror', digest: '' },
    async () =>
      ok({
        keys: [key],
        decide: (sessions) => {
          const events = decideOpened(loadedIn(sessions, key), decide);
          isRecorded = events.ok && events.value.length > 0;
          return events.ok ? ok(new Map([[key, events.value]])) : events;
        },
        answer: () => ({}),
      }),
  );
  return outcome.ok && isRecorded;
};

/**
 * The same for one that somebody may have changed: what its kind makes of that is told, or, where nobody has asked it, nothing
 * is written yet.
 */
const settle = async (
  world: MirrorWorld,
  record: MirrorRecord,
  ground: Ground | undefined,
  { wait, anew }: How,
  changed: ChangedFile | undefined,
): Promise<readonly string[] | 'changed'> => {
  const known = isBelow(record, ground) ? undefined : await contentOf(world, record);
  if (!isBelow(record, ground) && (known?.isOutside !== true || !isKnownPlace(world, record))) return [];
  const path = pathOf(world, record, ground);
  if (path === undefined)
    return [`${record.path} was not written: a link leads out of the checkout, or a file is where a folder should be`];
  if (record.stamp !== null && record.stamp === stampOf(path)) return [];

  const content = known ?? (await contentOf(world, record));
  // Who has made a newer version writes that one; until somebody has, it is among those that were not written yet.
  if (content === undefined) return [];
  // What is not the session's own is written itself: through a link it would be another file of the project.
  if (content.isOutside === true && content.document === undefined && isLinked(world, record, ground))
    return [`${record.path} was not written: it is a link`];
  // A file that was moved with its folder has its earlier versions at the other place.
  const seen = content.wasMoved ? digestOf(path) : null;
  const wasBeyond = typeof seen === 'string' && (await wasMadeBeyond(world, record, ground, seen));
  const warnings: string[] = [];
  const { document } = content;
  let isToBeAsked = false;
  const isCurrent = ground?.current !== undefined && document === undefined && content.isOutside !== true;
  // Until the stamp tells otherwise.
  let isUntouched = true;
  const file: MirrorFile = {
    ...(content.isOutside === true ? { isDocument: true as const } : {}),
    stamp: () => (lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? stampOf(path) : null),
    digest: () => {
      isUntouched = false;
      if (isCurrent && whatIsNoFile(path) !== undefined) return null;
      const found = digestOf(path, document !== undefined);
      if (found === undefined) throw new Error(`it is no regular file${document === undefined ? '' : ' of text'}`);
      return found;
    },
    write: (found, wasMade) => {
      if (document !== undefined) {
        const isKnown = wasMade || (found !== null && document.taken.includes(found));
        const written = writeDocument(path, content.text, { record, found, isKnown, isUntouched, document, anew });
        if (written.warning !== undefined) warnings.push(written.warning);
        return written.stamp;
      }
      // Somebody else may have moved the folder since: what is written here now would stand in the way when it comes back.
      if (content.isOutside !== true && ground?.there !== undefined && lyingAt(ground.there) === 'nothing')
        return record.stamp;
      const inTheWay = isCurrent && found === null ? whatIsNoFile(path) : undefined;
      // What others put into a place that the session has left is theirs.
      if (inTheWay !== undefined && record.digest === goneDigest) return leftStamp;
      if (inTheWay !== undefined) warnings.push(moveAside(path, inTheWay));
      if (content.isOriginalAlone && !wasMade && found !== content.original) return leftStamp;
      const isKnown = wasMade || (wasBeyond && found === seen) || (found !== null && found === content.replaces);
      // Once it was left, whoever else makes a file there has it.
      if (record.digest === goneDigest && record.stamp !== null && !isKnown) return record.stamp;
      const action = planMirror(record.digest, found, isKnown);
      if (action === 'set-aside' && found !== null) {
        isToBeAsked = isCurrent && found !== content.original && changed === undefined;
        if (isToBeAsked) return record.stamp;
        const original = { isOriginal: found === content.original };
        warnings.push(setAside(path, found, changed?.digest === found ? { ...original, ...changed } : original));
      }
      removeStaleTemps(dirname(path));
      if (record.digest === goneDigest) {
        rmSync(path, { force: true });
        return leftStamp;
      }
      if (action !== 'keep') {
        if (ground !== undefined && content.isOutside !== true) ignoreCurrent(ground);
        writeFileAtomic(path, content.text);
      }
      return stampOf(path);
    },
  };
  await world.store.settleMirror(record, file, wait);
  return isToBeAsked ? 'changed' : warnings;
};

/** A version of a mirror. */
interface Content {
  readonly text: string;
  /** Whether its folder was ever moved. */
  readonly wasMoved: boolean;
  /** The digest of what another program had left in its place. */
  readonly original: string | undefined;
  /** Whether nothing but that is to be gone from there. */
  readonly isOriginalAlone: boolean;
  /** The digest of what is replaced on the record. */
  readonly replaces: string | null | undefined;
  /** Whether it lies outside of the session's folder. */
  readonly isOutside?: boolean;
  readonly document: DocumentMark | undefined;
}

/** The content of a version of a mirror, made from its event; undefined where the session has moved on to another version. */
const contentOf = async ({ store, kinds }: MirrorWorld, record: MirrorRecord): Promise<Content | undefined> => {
  const session = await store.load(record.session);
  const mirror =
    session &&
    (await whenLoaded(() =>
      mirrorsOf(kinds, session).find(
        ({ path, place = session.common.place }) => path === record.path && place === record.place,
      ),
    ));
  // Or it lies elsewhere now, as one in the archive does, and no longer has a file of that name.
  const isNamed = session === undefined || session.unreadable !== undefined || mirror !== undefined;
  const about = {
    wasMoved: (session?.common.folderSeq ?? 0) > 0,
    original: mirror?.original,
    isOriginalAlone: mirror?.isOriginalAlone === true,
    replaces: mirror?.replaces,
    isOutside: mirror?.place !== undefined,
    document: mirror?.document,
  };
  // A session names the newest of the pairs that it has put by; of the others their events are left.
  if (mirror === undefined) {
    const event = await store.event(record.session, record.source);
    const put =
      event?.type === 'PairArchived' ? archivedMirrorsOf(event).find(({ path }) => path === record.path) : undefined;
    if (event !== undefined && put !== undefined)
      return { text: put.render(event), ...about, isOutside: true, document: put.document };
  }
  // What is to be gone has no content: it is so whatever has happened to the session since.
  if (mirror?.isGone === true && record.digest === goneDigest) return { text: '', ...about };
  if (!isNamed || (mirror !== undefined && mirror.source > record.source)) return undefined;
  const event = await store.event(record.session, record.source);
  if (mirror?.source !== record.source || event === undefined) throw new Error(`event ${record.source} is not there`);
  const others: StoredEvent[] = [];
  for (const seq of mirror.others ?? []) {
    const other = await store.event(record.session, seq);
    if (other === undefined) throw new Error(`event ${seq} is not there`);
    others.push(other);
  }
  return { text: mirror.render(event, ...others), ...about };
};

/** Where a session's folder is to lie; undefined for one that is not here, or whose kind is not known. */
const groundOf = async ({ store, kinds, places }: MirrorWorld, session: string): Promise<Ground | undefined> => {
  const row = (await store.read(session))?.row;
  const kind = row === undefined ? undefined : await loadKind(kinds, row.kind);
  if (row === undefined || kind === undefined) return undefined;
  const { root, isElsewhere } = places.homeOf(row);
  if (isElsewhere === true) return undefined;
  const home = folderOf(kind, { name: row.name, archivedAt: null });
  const archived = folderOf(kind, { name: row.name, archivedAt: row.updatedAt });
  const [folder, other] = row.archivedAt === null ? [home, archived] : [archived, home];
  const { current } = kind;
  return { row, root, folder, other, there: placeOfFolder(root, folder), beyond: placeOfFolder(root, other), current };
};

/** Whether a mirror lies in the folder where that is now: before it was archived, its mirrors had other paths. */
const isBelow = ({ path }: Pick<MirrorRecord, 'path'>, ground: Ground | undefined): boolean =>
  ground === undefined || path.startsWith(`${ground.folder}/`);

/** Whether the checkout of a document is there: the files of one that is gone are in no other, which has documents of its own. */
const isKnownPlace = ({ places }: MirrorWorld, { place }: MirrorRecord): boolean =>
  places.homeOf({ place, branch: null }).id === place;

/** The file of a mirror, a link there taken as it is; undefined where one on the way leads out of its checkout. */
const pathOf = (
  { places }: MirrorWorld,
  { place, path }: MirrorRecord,
  ground: Ground | undefined,
): string | undefined => {
  // Below its folder by its letters alone is not below it.
  if (path.split('/').includes('..')) return undefined;
  const { root } = places.homeOf({ place, branch: ground?.row.branch ?? null });
  const there = placeOfFolder(root, path);
  if (!isBelow({ path }, ground)) return confineDocument(root, path);
  return there !== undefined && isLink(there) ? there : confine(root, path);
};

/** A document lies in one of the two folders below its root, out of which no link leads. */
const confineDocument = (root: string, path: string): string | undefined => {
  const documents = dirname(dirname(path));
  const below = confine(root, documents);
  return below === undefined ? undefined : confine(below, path.slice(documents.length + 1));
};

const isLink = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    return false;
  }
};

/** Whether what lies at the place of a mirror is a link, wherever that leads. */
const isLinked = ({ places }: MirrorWorld, { place, path }: MirrorRecord, ground: Ground | undefined): boolean => {
  const own = placeOfFolder(places.homeOf({ place, branch: ground?.row.branch ?? null }).root, path);
  return own !== undefined && isLink(own);
};

/** Whether a version of a mirror was made where its folder lies when that is not where it is now. */
const wasMadeBeyond = async (
  { store }: MirrorWorld,
  { place, path }: MirrorRecord,
  ground: Ground | undefined,
  digest: string,
): Promise<boolean> =>
  ground !== undefined && store.wasMirror(place, `${ground.other}${path.slice(ground.folder.length)}`, digest);

/**
 * Brings the session's own folder to its place: makes it, or moves it with all that it holds into the archive or out of it,
 * under the same lock as mirrors are written with. Answers whether it is there. The folder that holds all of them keeps
 * itself out of git when it is made here.
 */
export const settleFolder = async (
  world: MirrorWorld,
  session: string,
  mark: MirrorRecord | undefined,
  wait: boolean,
): Promise<boolean> => {
  const { store } = world;
  const ground = await groundOf(world, session);
  if (ground === undefined) return true;
  const { root, folder, other, there, beyond } = ground;
  if (there === undefined || beyond === undefined || confine(root, folder) === undefined)
    throw new Error('a link leads out of the checkout, or a file is where a folder should be');
  const isSettled = mark?.stamp !== null;
  if (isSettled && lyingAt(there) !== 'nothing') return true;
  // A session of another kind may have come back, or been begun anew, while this one was away: that folder stays.
  const isFree = lyingAt(beyond) !== 'nothing' && !(await isOfAnother(world, ground));
  if (isSettled) {
    // Somebody has moved it: that is theirs to undo, or to record.
    if (isFree && lyingAt(beyond) === 'something')
      throw new Misplaced(`the folder of ${session} lies in ${other}, not in ${folder}: stint doctor says what helps`);
    makeFolder(there);
    return true;
  }
  if (!isFree && lyingAt(there) === 'nothing' && lyingAt(beyond) === 'something')
    throw new Error(`${other} is that of another session too`);
  const mover: MirrorFile = {
    stamp: () => null,
    digest: () => null,
    write: () => {
      if (isFree) moveFolder(beyond, there);
      else if (lyingAt(there) === 'nothing') makeFolder(there);
      return 'in its place';
    },
  };
  return store.settleMirror(mark, mover, wait);
};

/** Whether a session of another kind, which may share the folder, has it at the other place. */
const isOfAnother = async ({ store, kinds, places }: MirrorWorld, { row, root, other }: Ground): Promise<boolean> => {
  const others = (await store.rows({ name: row.name })).filter(({ key }) => key !== row.key);
  return whenLoaded(() =>
    others.some((one) => {
      const kind = kinds.get(one.kind);
      return kind !== undefined && folderOf(kind, one) === other && places.homeOf(one).root === root;
    }),
  );
};

const makeFolder = (folder: string): void => {
  const parent = dirname(folder);
  makeFolders(parent);
  // An empty folder is one that was made here, perhaps by a verb that was interrupted before this line.
  removeStaleTemps(parent);
  if (readdirSync(parent).length === 0) createFileAtomic(join(parent, '.gitignore'), '*\n');
  makeFolders(folder);
};

/** Keeps the file of the current session, and those of earlier ones, out of git, unless somebody has said what is to be ignored there. */
const ignoreCurrent = ({ there, current }: Ground): void => {
  if (there === undefined || current === undefined) return;
  const path = join(there, '.gitignore');
  if (!existsSync(path)) createFileAtomic(path, [...current.ignores, '.gitignore', ''].join('\n'));
};

/** The digest of a file, of a document that of its text; null where there is none, or nothing in that, undefined where it cannot be read. */
const digestOf = (path: string, isDocument = false): string | null | undefined => {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return null;
    // Opening anything else, a pipe for example, could wait for ever.
    if (!found.isFile()) return undefined;
    const bytes = readFileSync(path);
    if (!isDocument) return sha256Bytes(bytes);
    if (!isUtf8(bytes)) return undefined;
    const text = bytes.toString('utf8');
    return isBlank(text) ? null : digestOfDocument(text);
  } catch (error) {
    return errnoCode(error) === 'ENOENT' ? null : undefined;
  }
};

/**
 * Writes a document in the place of one that is known. What somebody has saved since it was looked at stays: it is found by
 * the link to what was replaced, put back, and taken in by the next verb that writes.
 */
const writeDocument = (
  path: string,
  text: string,
  {
    record,
    found,
    isKnown,
    isUntouched,
    document: { isFixed, replaces = [] },
    anew,
  }: {
    readonly record: MirrorRecord;
    readonly found: string | null;
    readonly isKnown: boolean;
    /** Whether it is as it was left when it was written last. */
    readonly isUntouched: boolean;
    readonly document: DocumentMark;
    readonly anew: boolean;
  },
): { readonly stamp: string | null; readonly warning?: string } => {
  const name = record.path;
  if (isFixed && record.stamp !== null && !(anew && found === null)) return { stamp: record.stamp };
  removeStaleTemps(dirname(path));
  if (found === record.digest && (isFixed || cleanDocument(text) === text)) return { stamp: stampOf(path) };
  const edited = `${name} was edited; the next verb that writes ${record.session} takes that in, or says why not`;
  if (found !== null && !isKnown) {
    if (!isFixed && !replaces.includes(found)) return { stamp: record.stamp, warning: edited };
    const warning = setAside(path, found, {});
    writeFileAtomic(path, text);
    return { stamp: stampOf(path), warning };
  }
  if (found === null) {
    writeFileAtomic(path, text);
    return { stamp: stampOf(path) };
  }
  const before = join(dirname(path), `.${basename(path)}.stint-${process.pid}-0.tmp`);
  rmSync(before, { force: true });
  linkSync(path, before);
  try {
    const own = readFileSync(before, 'utf8');
    const wanted = withWithheld(text, own);
    const edit = found === record.digest ? own : withWithheld(text, own, true);
    const stays = isUntouched || isFixed ? wanted : edit;
    if (stays !== own) writeFileAtomic(path, stays);
    if (digestOf(before, true) === found) {
      if (stays === wanted) return { stamp: stampOf(path) };
      // The next verb looks again, and puts no other secret in the place of the one that stands there.
      return { stamp: null, warning: `${name} ${otherSecret(record.session)}` };
    }
    renameSync(before, path);
    return { stamp: null, warning: edited };
  } finally {
    rmSync(before, { force: true });
  }
};

const otherSecret = (session: string): string =>
  `was edited where ${session} holds a secret; the edit stays there alone until handoff update --no-redact says the same`;

/** Keeps what somebody else wrote beside the file, under a name made of its content. */
const setAside = (
  path: string,
  digest: string,
  { isOriginal = false, is = 'had been changed by somebody else', more }: Omit<ChangedFile, 'digest'>,
): string => {
  const kept = `${path}.kept-${digest.slice(0, 8)}`;
  if (!existsSync(kept)) {
    try {
      linkSync(path, kept);
    } catch {
      copyFileSync(path, kept);
    }
  }
  const told = isOriginal
    ? `${basename(path)} of the original is kept as ${basename(kept)}`
    : `${basename(path)} ${is}; that version is kept as ${basename(kept)}`;
  return more === undefined ? told : `${told}; ${more}`;
};

/** What lies there and is no file; undefined where one does, or nothing. */
const whatIsNoFile = (path: string): 'link' | 'folder' | 'pipe' | 'device' | undefined => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return undefined;
  if (found.isSymbolicLink()) return 'link';
  if (found.isDirectory()) return 'folder';
  return found.isFIFO() ? 'pipe' : 'device';
};

/** Keeps what is no file beside it, as it is: nothing is read, no link is followed. */
const moveAside = (path: string, what: string): string => {
  let kept = `${path}.kept-${what}`;
  for (let number = 2; lyingAt(kept) !== 'nothing'; number += 1) kept = `${path}.kept-${what}-${number}`;
  renameSync(path, kept);
  return `${basename(path)} was a ${what}, which is kept as ${basename(kept)}`;
};
