import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  type Dirent,
  type Stats,
} from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Digested, Unread } from '../kernel/ports.ts';
import type { ProjectFiles } from '../kernel/verb.ts';
import {
  createFileAtomic,
  decodeUtf8,
  errnoCode,
  fileProblem,
  makeFolders,
  syncFolder,
  writeFileAtomic,
} from '../lib/atomic-file.ts';
import { confine } from '../lib/confine.ts';
import { lyingAt, placeOfFolder } from '../lib/move-folder.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { compareNames } from '../lib/text.ts';
import { createDigest } from './digest.ts';
import { files } from './files.ts';

/** The files of a checkout as verbs may read them, for a caller who is in some folder of it. */
export const createProjectFiles = (root: string, cwd: string): ProjectFiles => ({
  read: (path, limit) => textOf(root, path, limit),
  list: (folder) => {
    const real = confine(root, folder);
    return real === undefined ? [] : files.list(real);
  },
  readNamed: (path, limit) => {
    const named = resolve(cwd, path);
    const text = readWhole(named, limit);
    return text.ok ? ok({ path: pathFrom(root, named), text: text.value }) : text;
  },
  named: (path) => {
    const full = resolve(cwd, path);
    const inside = isForeign(path) ? undefined : insideOf(root, full);
    const real = inside === undefined ? undefined : confine(root, inside);
    return {
      full: slashed(full),
      path: inside === undefined || real === undefined ? undefined : slashed(inside),
      read: () => digestOf(real ?? full),
    };
  },
  resolve: (path) => slashed(resolve(cwd, path)),
  tree: (folder) =>
    entriesOf(folder)
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => ({ id: name, files: filesBelow(`${folder}/${name}`, '', 0) })),
  tables: async (path, names) => {
    const { readTables } = await import('../store/sqlite/foreign.ts');
    return readTables(path, names);
  },
  holds: (folder, path) => {
    const place = placeOfFolder(folder, path);
    return place !== undefined && lyingAt(place) === 'something';
  },
  text: textOf,
  texts: textsBelow,
  whole: (folder, path, limit) => textOf(folder, path, limit, '\uFEFF'),
  bytes: (folder, path, limit) => {
    const real = confine(folder, path);
    return real === undefined
      ? unread(leadsOut)
      : withFile(real, (file, size) => (size > limit ? unread('is too large') : ok(bytesOf(file, size))));
  },
  write: (folder, path, content) => {
    const real = confine(folder, path);
    if (real === undefined) return 'leads out of the project, or nowhere';
    if (lstatSync(real, { throwIfNoEntry: false })?.isFile() === false) return 'is no file';
    try {
      writeFileAtomic(real, content);
      return undefined;
    } catch (error) {
      return fileProblem(path, error).problem;
    }
  },
  create: (folder, path, content) =>
    changing(folder, path, (place) => {
      // What lies there is told before whatever is wrong with its folder.
      if (lstatSync(place, { throwIfNoEntry: false }) !== undefined || !createFileAtomic(place, content)) return null;
      syncFolder(dirname(place));
      return undefined;
    }),
  isPlain,
  remove: (folder, path) =>
    changing(folder, path, (place) => {
      if (!isPlain(folder, path)) return 'is no file';
      rmSync(place, { force: true });
      return undefined;
    }),
  makeFolder: (folder, path) =>
    changing(folder, path, (place) => {
      makeFolders(place);
      return undefined;
    }),
  isFolder: (path) => seenAt(path)?.isDirectory() === true,
  changedAt: (path) => seenAt(path)?.mtimeMs,
});

/** What lies at a path, links followed; undefined where nothing does, or it cannot be looked at. */
const seenAt = (path: string): Stats | undefined => {
  try {
    return path.includes('\0') ? undefined : statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoCode(error) === null) throw error;
    return undefined;
  }
};

/** Does something to what lies below a folder itself, where a link on the way to it does not lead out. */
const changing = <Told extends string | undefined | null>(
  folder: string,
  path: string,
  change: (place: string) => Told,
): Told | string => {
  const place = placeOfFolder(folder, path);
  if (place === undefined) return 'leads out of the project, or nowhere';
  try {
    return change(place);
  } catch (error) {
    return fileProblem(path, error).problem;
  }
};

/** What lies at a place itself; where a file is where a folder should be, something does. */
const kindAt = (place: string): 'file' | 'nothing' | 'other' => {
  try {
    const found = lstatSync(place, { throwIfNoEntry: false });
    return found === undefined ? 'nothing' : found.isFile() ? 'file' : 'other';
  } catch (error) {
    if (errnoCode(error) === null) throw error;
    return 'other';
  }
};

const isPlain = (folder: string, path: string): boolean => {
  const place = placeOfFolder(folder, path);
  return place !== undefined && ['file', 'nothing'].includes(kindAt(place));
};

/** Whether a path is whole, or climbs, on another system than this one. */
const isForeign = (path: string): boolean =>
  sep === '/' && (/^(?:[A-Za-z]:|\\)/.test(path) || (path.includes('\\') && path.split(/[\\/]/).includes('..')));

const slashed = (path: string): string => path.split(sep).join('/');

/** The path from the root, where it is one below it. Either of them may be named through a link. */
const insideOf = (root: string, full: string): string | undefined =>
  [relative(root, full), relative(realPath(root), join(realPath(dirname(full)), basename(full)))].find(
    (path) => path !== '' && path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path),
  );

const realPath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoCode(error) === null) throw error;
    return path;
  }
};

const leadsOut = 'is not read: it leads out of the project, or nowhere';

/** A file below a folder; a byte order mark is put back where `mark` says so. */
const textOf = (folder: string, path: string, limit: number, mark = ''): Result<string, Unread> => {
  const real = confine(folder, path);
  return real === undefined ? unread(leadsOut) : readWhole(real, limit, mark);
};

const textsBelow: ProjectFiles['texts'] = (root) => {
  const realByFolder = new Map<string, string | undefined>();
  return (path, limit) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const folder = path.slice(0, -name.length - 1);
    // What is no plain name, or a link, is confined by itself; so is everything where links cannot be told.
    if (folder === '' || !/^\w[\w.-]*$/.test(name) || !('O_NOFOLLOW' in constants)) return textOf(root, path, limit);
    if (!realByFolder.has(folder)) realByFolder.set(folder, confine(root, folder));
    const real = realByFolder.get(folder);
    const text = real === undefined ? undefined : readWhole(`${real}${sep}${name}`, limit, '', constants.O_NOFOLLOW);
    return text?.ok === true ? text : textOf(root, path, limit);
  };
};

/** The path of a file from the root, where it really is below it; else its own. */
const pathFrom = (root: string, path: string): string => {
  const realRoot = realpathSync(root);
  const inside = relative(realRoot, realpathSync(path));
  return confine(root, inside) === join(realRoot, inside) ? slashed(inside) : path;
};

const readWhole = (path: string, limit: number, mark = '', flags = 0): Result<string, Unread> =>
  withFile(
    path,
    (file, size) => {
      if (size > limit) return unread(`is larger than ${Math.floor(limit / 1024 / 1024)} MiB`);
      const bytes = size === 0 ? readFileSync(file) : bytesOf(file, size);
      const text = decodeUtf8(bytes);
      if (!text.ok) return unread(text.error);
      return ok(bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? mark + text.value : text.value);
    },
    flags,
  );

/** The bytes of an open file. One that grows meanwhile is what it was at first. */
const bytesOf = (file: number, size: number): Buffer => {
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  for (let read = -1; length < size && read !== 0; length += read)
    read = readSync(file, bytes, length, size - length, null);
  return bytes.subarray(0, length);
};

/** What the bytes of a file are. */
export const digestOf = (path: string): Result<Digested, Unread> =>
  withFile(path, (file, size) => {
    const digest = createDigest();
    const piece = Buffer.allocUnsafe(64 * 1024);
    // One that grows meanwhile is what it was at first: it may grow faster than it is read.
    for (let left = size; left > 0;) {
      const length = readSync(file, piece, 0, Math.min(piece.length, left), null);
      if (length === 0) return unread('has become shorter while it was read');
      digest.take(piece.subarray(0, length));
      left -= length;
    }
    return ok(digest.end());
  });

/** Does something with an open file, and nothing but a file. */
const withFile = <Value>(
  path: string,
  use: (file: number, size: number) => Result<Value, Unread>,
  flags = 0,
): Result<Value, Unread> => {
  let file: number | undefined;
  try {
    // Whoever made the file may have made a pipe of it, which would keep us waiting.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
    const found = fstatSync(file);
    if (!found.isFile())
      return err({
        problem: found.isDirectory() ? 'is a folder, not a file' : 'is no file',
        isMissing: false,
        isNoFile: true,
      });
    return use(file, found.size);
  } catch (error) {
    const { problem, code } = fileProblem(path, error);
    return unread(problem, code === 'ENOENT' || code === 'ENOTDIR');
  } finally {
    if (file !== undefined) closeSync(file);
  }
};

const unread = (problem: string, isMissing = false): Result<never, Unread> => err({ problem, isMissing });

/** Deeper folders and more files than these are not what anybody looks for. */
const deepest = 8;
const mostFiles = 10_000;

const filesBelow = (folder: string, prefix: string, depth: number): readonly string[] => {
  const found: string[] = [];
  for (const entry of entriesOf(folder)) {
    if (found.length >= mostFiles) break;
    const path = prefix + entry.name;
    if (entry.isFile()) found.push(path);
    // Links are not followed: they could lead anywhere, or in a circle.
    else if (entry.isDirectory() && depth < deepest) {
      found.push(...filesBelow(`${folder}/${entry.name}`, `${path}/`, depth + 1));
    }
  }
  return found;
};

/** The entries of a folder in order, hidden ones left out; none where it cannot be read. */
const entriesOf = (folder: string): readonly Dirent[] => {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(({ name }) => !name.startsWith('.'))
      .toSorted((a, b) => compareNames(a.name, b.name));
  } catch (error) {
    if (errnoCode(error) === null) throw error;
    return [];
  }
};
