import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { err, ok, type Result } from './result.ts';

/**
 * Replaces the file at `path` in one step: whoever reads it meanwhile, or after a crash, finds the old bytes or the new
 * ones, never a part. The bytes are on the disk when this returns: the temporary file is synced before it is renamed,
 * and its folder afterwards, where the platform can sync folders.
 *
 * Missing parent folders are created. An existing file keeps its mode; `options.mode` is that of a file that is new
 * (default 0o666 less the umask). A symbolic link at `path` is replaced, not followed: callers resolve and confine a
 * path before they use it. A string is written as UTF-8.
 *
 * @throws the error of node:fs, for `fileProblem`. No temporary file is left, and the old file is untouched unless the
 *   folder alone could not be synced.
 */
export const writeFileAtomic = (
  path: string,
  content: string | Uint8Array,
  options: { readonly mode?: number } = {},
): void => {
  const target = lstatSync(path, quiet);
  const kept = target?.isFile() === true ? target.mode & 0o777 : null;
  const temp = writeTemp(path, content, kept ?? options.mode ?? 0o666, kept);
  try {
    renameSync(temp, path);
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
};

/**
 * Creates the file at `path` with all of its content, or returns false because something is there already: of several
 * processes exactly one gets true. Missing parent folders are created, and the mode is as given (default 0o666) less
 * the umask. The content is synced, the folder is not.
 *
 * Where hard links do not exist (exFAT, some network and user-space file systems) the file appears before its content
 * does; readers who can meet that have to recognise an unfinished one.
 *
 * @throws the error of node:fs, for `fileProblem`; nothing is left behind.
 */
export const createFileAtomic = (
  path: string,
  content: string | Uint8Array,
  options: { readonly mode?: number } = {},
): boolean => {
  const mode = options.mode ?? 0o666;
  const temp = writeTemp(path, content, mode, null);
  try {
    linkSync(temp, path);
    return true;
  } catch (error) {
    const code = errnoCode(error);
    if (code === 'EEXIST') return false;
    if (code === 'ENOENT' && lstatSync(temp, quiet) === undefined) return createFileAtomic(path, content, options);
    if (!unsupportedCodes.has(code ?? '')) throw error;
  } finally {
    rmSync(temp, { force: true });
  }
  return createInPlace(path, content, mode);
};

const createInPlace = (path: string, content: string | Uint8Array, mode: number): boolean => {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'wx', mode);
  } catch (error) {
    if (errnoCode(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    fillAndClose(descriptor, content, null);
    return true;
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
};

/** Writes and syncs a new temporary file beside `path`; `exactMode` is set whatever the umask says. Returns its path. */
const writeTemp = (path: string, content: string | Uint8Array, mode: number, exactMode: number | null): string => {
  const { temp, descriptor } = openTemp(path, mode);
  try {
    fillAndClose(descriptor, content, exactMode);
    return temp;
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
};

const fillAndClose = (descriptor: number, content: string | Uint8Array, exactMode: number | null): void => {
  try {
    if (exactMode !== null) fchmodSync(descriptor, exactMode);
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

let tempCount = 0;

const openTemp = (path: string, mode: number): { readonly temp: string; readonly descriptor: number } => {
  const folder = dirname(path);
  const name = basename(path);
  // A name near the 255 bytes that file systems allow leaves no room for the suffix. 60 UTF-16 units are at most 180.
  const shortName = Buffer.byteLength(name) > 200 ? name.slice(0, 60) : name;
  let mayCreateFolders = true;
  for (;;) {
    tempCount += 1;
    const temp = join(folder, `.${shortName}.stint-${process.pid}-${tempCount}.tmp`);
    try {
      return { temp, descriptor: openSync(temp, 'wx', mode) };
    } catch (error) {
      const code = errnoCode(error);
      // Taken: a crashed process had our pid, or one on another host or in another container has it now.
      if (code === 'EEXIST') continue;
      if (code !== 'ENOENT' || !mayCreateFolders) throw error;
      mayCreateFolders = false;
      createFolders(folder);
    }
  }
};

/** Creates `folder` with its parents, and syncs the folders that got a new entry, or a power cut would undo them. */
const createFolders = (folder: string): void => {
  for (const made of makeFolders(folder).toReversed()) syncFolder(dirname(made));
};

/**
 * Creates a folder with its parents, and answers those that were created, the outermost first. One by one: `recursive` tries
 * for ever where the system says of a folder that is there that it is not, as in `/proc`.
 */
export const makeFolders = (folder: string, mode?: number): readonly string[] => {
  const options = mode === undefined ? {} : { mode };
  const make = (path: string): 'made' | 'there' => {
    try {
      mkdirSync(path, options);
      return 'made';
    } catch (error) {
      if (errnoCode(error) === 'EEXIST' && statSync(path, quiet)?.isDirectory() === true) return 'there';
      throw error;
    }
  };
  try {
    return make(folder) === 'made' ? [folder] : [];
  } catch (error) {
    const parent = dirname(folder);
    if (errnoCode(error) !== 'ENOENT' || parent === folder) throw error;
    const made = makeFolders(parent, mode);
    return make(folder) === 'made' ? [...made, folder] : made;
  }
};

export const syncFolder = (folder: string): void => {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(folder, 'r');
    fsyncSync(descriptor);
  } catch (error) {
    if (!unsupportedCodes.has(errnoCode(error) ?? '')) throw error;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
};

/**
 * What systems answer for an operation they do not have: opening or syncing a folder (Windows, some network file
 * systems; a folder that may be written but not read), or hard links.
 */
const unsupportedCodes: ReadonlySet<string> = new Set([
  'EACCES',
  'EBADF',
  'EINVAL',
  'EISDIR',
  'EMLINK',
  'ENOSYS',
  'ENOTSUP',
  'EOPNOTSUPP',
  'EPERM',
  'EXDEV',
]);

/** `.NAME.stint-PID-COUNT.tmp`, as `openTemp` names them. */
const tempName = /^\..+\.stint-(\d+)-\d+\.tmp$/s;

/**
 * Removes the temporary files that killed processes left in `folder`: regular files named `.NAME.stint-PID-COUNT.tmp`
 * whose process is gone, and nothing else. (A process of another host or container may only seem to be gone; it then
 * writes its file once more.) A folder that cannot be read or a file that cannot be removed is left alone: tidying never
 * fails the work it accompanies.
 */
export const removeStaleTemps = (folder: string): void => {
  for (const name of namesIn(folder)) {
    const pid = Number(tempName.exec(name)?.[1]);
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    const path = join(folder, name);
    try {
      if (lstatSync(path, quiet)?.isFile() === true) unlinkSync(path);
    } catch (error) {
      if (errnoCode(error) === null) throw error;
    }
  }
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoCode(error) !== 'ESRCH';
  }
};

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errnoCode(error) === null) throw error;
    return [];
  }
};

/**
 * Reads a text file: strict UTF-8, a byte order mark removed, line ends as they are. The locale has no say in it. The
 * failure's `code` is that of node:fs when the file cannot be read, and null when its bytes are not UTF-8.
 */
export const readTextFile = (path: string): Result<string, FileProblem> => {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    return err(fileProblem(path, error));
  }
  const text = decodeUtf8(bytes);
  return text.ok ? text : err({ path, problem: text.error, code: null });
};

/** Why a file or folder cannot be used. */
export interface FileProblem {
  readonly path: string;
  /** Completes the sentence that begins with the path: `does not exist`. */
  readonly problem: string;
  /** The code of node:fs (`EACCES`); null where the system is content and what was read makes no sense. */
  readonly code: string | null;
}

/**
 * Decodes UTF-8 strictly: invalid bytes are a failure instead of U+FFFD, which a later write would make permanent. A
 * byte order mark is removed; who has to keep it looks at the bytes. The failure completes a sentence that begins with
 * the file's name, says `not UTF-8` and names the first bad line, or UTF-16 where it is that, with or without its mark.
 */
export const decodeUtf8 = (bytes: Uint8Array): Result<string, string> => {
  if (isUtf16(bytes)) return err('is UTF-16, not UTF-8');
  if (!isUtf8(bytes)) return err(`is not UTF-8 (line ${firstBadLine(bytes)})`);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return ok(text.startsWith('\uFEFF') ? text.slice(1) : text);
};

/** By the byte order mark, or by two leading ASCII characters as RFC 4627 section 3 tells encodings of JSON apart. */
const isUtf16 = (bytes: Uint8Array): boolean => {
  // By their places: taking an array of bytes apart goes through its iterator.
  const { 0: first, 1: second, 2: third, 3: fourth } = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  if (first === undefined || second === undefined || third === undefined || fourth === undefined) return false;
  const littleEndian = first !== 0 && second === 0 && third !== 0 && fourth === 0;
  const bigEndian = first === 0 && second !== 0 && third === 0 && fourth !== 0;
  return littleEndian || bigEndian;
};

/** No byte of a longer UTF-8 sequence is a line feed, so a text is UTF-8 exactly when each of its lines is. */
const firstBadLine = (bytes: Uint8Array): number => {
  let line = 1;
  for (let start = 0; ; line += 1) {
    const end = bytes.indexOf(0x0a, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
};

/**
 * The problem that an error of node:fs stands for. `path` is what the caller was asked to use; the error's own path may
 * be that of a temporary file. Any other error is a defect and is thrown again.
 */
export const fileProblem = (path: string, error: unknown): FileProblem => {
  const code = errnoCode(error);
  if (code === null) throw error;
  return { path, problem: problemByCode.get(code) ?? `cannot be used (${code})`, code };
};

const problemByCode: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'is not accessible: permission denied'],
  ['EDQUOT', 'cannot be written: the disk quota is used up'],
  ['EEXIST', 'is in the way: a file stands where a folder is needed'],
  ['EFBIG', 'cannot be written: it would be larger than is allowed here'],
  ['EISDIR', 'is a folder, not a file'],
  ['ELOOP', 'is a loop of symbolic links'],
  ['ENAMETOOLONG', 'is a longer name than the file system allows'],
  ['ENOENT', 'does not exist'],
  ['ENOSPC', 'cannot be written: the disk is full'],
  ['ENOTDIR', 'cannot be reached: a file stands where a folder is needed'],
  ['EPERM', 'is not accessible: the system does not permit it'],
  ['EROFS', 'cannot be written: the file system is read-only'],
  ['ERR_INVALID_ARG_VALUE', 'is not a path: it contains a NUL character'],
]);

/** The code of an error of node:fs (`ENOENT`), or null when the error is of another sort. */
export const errnoCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/** Stat calls answer undefined for what is not there, which costs a tenth of an exception. */
const quiet = { throwIfNoEntry: false } as const;
