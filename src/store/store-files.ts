import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { errnoCode, readTextFile, writeFileAtomic } from '../lib/atomic-file.ts';

/** Where the files of a store are, and what may help to bring it back. */
export interface StoreFiles {
  readonly path: string;
  /** Where the id of the store lies that belongs here; undefined for a store that was named. */
  readonly idFile: string | undefined;
  /** The folder that holds the folders of copies; undefined where the user has none. */
  readonly copies: string | undefined;
  /** Folders in which mirrors of sessions lie, in this checkout. */
  readonly traces: () => readonly string[];
}

/** The folder of the copies of a store; undefined where nobody knows it. */
export const copiesFolder = ({ copies, idFile }: StoreFiles, id: string | null | undefined): string | undefined => {
  const known = id ?? (idFile === undefined ? undefined : readStoreId(idFile));
  return copies === undefined || known === undefined ? undefined : join(copies, known);
};

/** A copy of a store. */
export interface Copy {
  readonly path: string;
  /** When it was made: UTC, RFC 3339. */
  readonly at: string;
}

/** The copies of a store, the newest first. */
export const listCopies = (folder: string): readonly Copy[] => {
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (errnoCode(error) === null) throw error;
    return [];
  }
  return names
    .flatMap((name) => {
      const [, day, hour, minute, second] = /^(\d{4}-\d{2}-\d{2})T(\d{2})(\d{2})(\d{2})Z\.db$/.exec(name) ?? [];
      return day === undefined ? [] : [{ path: join(folder, name), at: `${day}T${hour}:${minute}:${second}.000Z` }];
    })
    .toSorted((a, b) => (a.at < b.at ? 1 : -1));
};

/** Writes down which store belongs here, where it was not yet. */
export const keepStoreId = (file: string, id: string): void => {
  if (readStoreId(file) !== id) writeFileAtomic(file, `${id}\n`, { mode: 0o600 });
};

/** The id of the store that belongs here; undefined where none was made yet. */
export const readStoreId = (file: string): string | undefined => {
  if (!existsSync(file)) return undefined;
  const text = readTextFile(file);
  const id = text.ok ? text.value.trim() : '';
  return /^[0-9a-f]{32}$/.test(id) ? id : undefined;
};

/** Why a store cannot be used that once was here and is not any more, or not whole; undefined where nothing is missed. */
export const refuseMissing = (files: StoreFiles, size: number | undefined): Refusal | undefined =>
  (size ?? 0) > 0 ? refuseWithoutLog(files) : refuseGone(files, size);

/**
 * A log that was deleted on its own is missed by what stands in the tip. Where that is gone as well, nothing else would show
 * that the file is an older state: it is made with the store, and nobody takes it away.
 */
const refuseWithoutLog = ({ path, idFile }: StoreFiles): Refusal | undefined => {
  if (idFile === undefined || existsSync(`${path}-tip`)) return undefined;
  // An empty one may be that of somebody who only looked.
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return undefined;
  // Somebody may just have made the store: the id is written last, so that the tip is there by now.
  if (readStoreId(idFile) === undefined || existsSync(`${path}-tip`)) return undefined;
  return refuse(
    'damaged',
    `The files beside the store ${path} are gone, its log ${basename(path)}-wal among them: what is left may be older than what was answered.`,
    { expected: `${basename(path)}-wal or ${basename(path)}-tip beside it`, hint: 'stint doctor --fix' },
  );
};

const refuseGone = (files: StoreFiles, size: number | undefined): Refusal | undefined => {
  const { path, idFile, traces } = files;
  const id = idFile === undefined ? undefined : readStoreId(idFile);
  // A link that leads nowhere is told of by whoever opens the store: what it names may come back.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) return undefined;
  // A log that was left behind is told of by whoever opens the store.
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (id === undefined || log > 0) return undefined;
  const folder = copiesFolder(files, id);
  const [copy] = folder === undefined ? [] : listCopies(folder);
  // Where nothing is left that could be brought back, a new one is as good.
  if (copy === undefined && size === undefined && !traces().some(holdsFolders)) return undefined;
  return refuse(
    'damaged',
    `The store ${path} is ${size === undefined ? 'gone' : 'empty'}; it was here before. ${
      copy === undefined ? 'There is no copy of it.' : `There is a copy of ${copy.at}.`
    }`,
    {
      expected: `the store whose id stands in ${idFile}; where that file is not there, an empty one is begun`,
      hint: 'stint doctor --fix',
      legal: ['stint doctor --fix'],
    },
  );
};

const holdsFolders = (folder: string): boolean => {
  try {
    return readdirSync(folder, { withFileTypes: true }).some((entry) => entry.isDirectory());
  } catch {
    return false;
  }
};
