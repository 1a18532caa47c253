import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
  type Stats,
} from 'node:fs';
import { basename, dirname, resolve, sep } from 'node:path';
import { errnoCode, fileProblem, type FileProblem } from '../lib/atomic-file.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { readPlace } from './place.ts';

/** Where a command was started, and where this project's state lies. All paths are absolute and real; only `.stint` itself may be a link. */
export interface Checkout {
  /** The folder that holds the checkout; without a repository the nearest one with `.stint/`, else the starting one. */
  readonly root: string;
  /** The folder of `stint.db`, the same for all checkouts of a repository. It need not exist yet. */
  readonly storeFolder: string;
  /** The folder of this checkout's own `place` file. It need not exist yet. */
  readonly placeFolder: string;
  /** Also before the first commit; null when HEAD is detached, is kept in a reftable, or cannot be understood. */
  readonly branch: string | null;
  /** The commit's hex when HEAD is detached, else null. */
  readonly head: string | null;
  /**
   * `main` for the main worktree and without a repository, else the name of git's administrative folder. A label for
   * people: git may name a linked worktree `main` too, so what tells checkouts apart is the id of the place.
   */
  readonly worktree: string;
  /** Git's common folder; null without a repository. */
  readonly commonDir: string | null;
}

/**
 * Finds the checkout that `cwd` lies in by reading git's files as gitrepository-layout(5), gitfile in gitglossary(7)
 * and git-worktree(1) describe them: starting git would cost more than everything else a command does. The nearest
 * repository is the one; `.stint/` decides only where there is none.
 *
 * The store lies in `.stint/` beside a main worktree's `.git`, and in `stint/` inside the common folder where that is
 * bare or lies elsewhere (a separate git dir, a submodule). This follows from the common folder alone, so that every
 * worktree gives the same answer, and nothing depends on the absolute path of the project.
 *
 * A `.git` folder without HEAD is passed over, as git does. A HEAD that makes no sense does not hide the state: it gives
 * no branch. The environment (`GIT_DIR`, `GIT_WORK_TREE`) and git's question of ownership (`safe.directory`) are left
 * out of account.
 */
export const findCheckout = (cwd: string): Result<Checkout, CheckoutProblem> => {
  try {
    const start = realPath(cwd);
    const checkout = repositoryAbove(start) ?? withoutRepository(start);
    if (!checkout.ok) return checkout;
    const { storeFolder, placeFolder } = checkout.value;
    const problem = folderProblem(storeFolder) ?? (placeFolder === storeFolder ? null : folderProblem(placeFolder));
    return problem === null ? checkout : err(problem);
  } catch (error) {
    // Everything else that is looked at lies in a folder for certain.
    if (errnoCode(error) === 'ENOTDIR') return err({ path: cwd, problem: 'is not a folder', code: 'ENOTDIR' });
    return err(fileProblem(errorPath(error) ?? cwd, error));
  }
};

/** Why no checkout can be found: the file or folder that is to blame, and what is wrong with it. */
export type CheckoutProblem = FileProblem;

const repositoryAbove = (start: string): Result<Checkout, CheckoutProblem> | null => {
  for (let folder: string | null = start; folder !== null; folder = parentOf(folder)) {
    const entry = lstatSync(within(folder, '.git'), quiet);
    const found =
      (entry === undefined ? null : atDotGit(folder, entry)) ??
      (isGitFolder(folder) ? ok(gitFolderCheckout(folder)) : null);
    if (found !== null) return found;
  }
  return null;
};

const parentOf = (folder: string): string | null => {
  const parent = dirname(folder);
  return parent === folder ? null : parent;
};

const atDotGit = (folder: string, entry: Stats): Result<Checkout, CheckoutProblem> | null => {
  const dotGit = within(folder, '.git');
  if (entry.isDirectory()) return atMainGitFolder(folder, dotGit);
  const target = entry.isSymbolicLink() ? linkTarget(dotGit) : entry;
  if (target === undefined) return refuse(dotGit, 'is a symbolic link to nothing');
  if (target.isDirectory()) return atMainGitFolder(folder, realPath(dotGit));
  if (!target.isFile()) return refuse(dotGit, 'is neither a folder nor a file');
  return atGitFile(folder, dotGit);
};

const atMainGitFolder = (folder: string, gitDir: string): Result<Checkout, CheckoutProblem> | null => {
  const head = readSmallFile(within(gitDir, 'HEAD'));
  return head === null ? null : ok(mainCheckout(folder, gitDir, head));
};

const atGitFile = (folder: string, dotGit: string): Result<Checkout, CheckoutProblem> => {
  const target = gitFileTarget(dotGit);
  if (target === null) return refuse(dotGit, 'is not a git file: it does not say gitdir');
  const gitDir = existingPath(resolve(folder, target));
  if (gitDir === null) return refuse(dotGit, `names a git folder that does not exist: ${target}`);
  const head = readSmallFile(within(gitDir, 'HEAD'));
  if (head === null) return refuse(dotGit, `names a folder that is not a git folder: ${target}`);
  const common = readSmallFile(within(gitDir, 'commondir'));
  if (common === null) return ok(mainCheckout(folder, gitDir, head));
  const commonDir = existingPath(resolve(gitDir, withoutLineEnd(common)));
  if (commonDir === null) return refuse(within(gitDir, 'commondir'), 'names a git folder that does not exist');
  return ok({
    root: folder,
    storeFolder: layoutOf(commonDir).storeFolder,
    placeFolder: within(folder, '.stint'),
    ...readHead(head),
    worktree: basename(gitDir),
    commonDir,
  });
};

/** What follows `gitdir: ` in a `.git` file; null when it is no such file. */
const gitFileTarget = (dotGit: string): string | null => {
  const text = readSmallFile(dotGit);
  if (text === null || !text.startsWith('gitdir: ') || text.includes('\0')) return null;
  const target = withoutLineEnd(text.slice('gitdir: '.length));
  return target === '' ? null : target;
};

/** The checkout whose `.git` is a folder, or a file that names a folder that no other worktree has a part in. */
const mainCheckout = (folder: string, commonDir: string, head: string): Checkout => {
  const { bare, configured, storeFolder } = layoutOf(commonDir);
  const root = configured ?? folder;
  return {
    root,
    storeFolder,
    placeFolder: bare ? storeFolder : within(root, '.stint'),
    ...readHead(head),
    worktree: 'main',
    commonDir,
  };
};

/** What git takes for a repository in a folder that is not called `.git`, or when it starts inside of one. */
const isGitFolder = (folder: string): boolean =>
  lstatSync(within(folder, 'HEAD'), quiet) !== undefined &&
  statSync(within(folder, 'objects'), quiet)?.isDirectory() === true &&
  statSync(within(folder, 'refs'), quiet)?.isDirectory() === true;

const gitFolderCheckout = (commonDir: string): Checkout => {
  const { bare, configured, beside, storeFolder } = layoutOf(commonDir);
  const root = configured ?? beside ?? commonDir;
  return {
    root,
    storeFolder,
    placeFolder: bare || root === commonDir ? storeFolder : within(root, '.stint'),
    ...readHead(readSmallFile(within(commonDir, 'HEAD')) ?? ''),
    worktree: 'main',
    commonDir,
  };
};

interface Layout {
  readonly bare: boolean;
  /** The main worktree that `core.worktree` names, if it exists: after a move it may be a path of the past. */
  readonly configured: string | null;
  /** The folder around a `.git` folder. */
  readonly beside: string | null;
  readonly storeFolder: string;
}

const layoutOf = (commonDir: string): Layout => {
  const { bare, worktree } = readConfig(commonDir);
  const configured = bare || worktree === null ? null : existingPath(resolve(commonDir, worktree));
  const beside = basename(commonDir) === '.git' ? dirname(commonDir) : null;
  const inWorktree = !bare && beside !== null && (configured ?? beside) === beside;
  return { bare, configured, beside, storeFolder: inWorktree ? within(beside, '.stint') : within(commonDir, 'stint') };
};

interface GitConfig {
  readonly bare: boolean;
  readonly worktree: string | null;
}

/**
 * `core.bare` and `core.worktree`. With `extensions.worktreeConfig` (git-worktree(1), which sparse checkouts switch on)
 * those of the main worktree move to `config.worktree`.
 */
const readConfig = (commonDir: string): GitConfig => {
  const values = configValues(readSmallFile(within(commonDir, 'config')) ?? '');
  if (isTrue(values.get('extensions.worktreeconfig'))) {
    const own = configValues(readSmallFile(within(commonDir, 'config.worktree')) ?? '');
    for (const [key, value] of own) values.set(key, value);
  }
  return { bare: isTrue(values.get('core.bare')), worktree: values.get('core.worktree') ?? null };
};

const isTrue = (value: string | undefined): boolean =>
  value !== undefined && value !== 'false' && /^(?:true|yes|on|[1-9]\d*)$/i.test(value);

/** The wanted values, keyed `section.name`, later ones winning; git-config(1), without continued lines. */
const configValues = (text: string): Map<string, string> => {
  const values = new Map<string, string>();
  let section = '';
  for (const rawLine of text.split('\n')) {
    let line = rawLine.trim();
    if (line.startsWith('[')) {
      const end = line.indexOf(']');
      section = line.slice(1, end).trim().toLowerCase();
      line = line.slice(end + 1).trim();
    }
    const equals = line.indexOf('=');
    const key = `${section}.${(equals === -1 ? line : line.slice(0, equals)).trim().toLowerCase()}`;
    // A name alone means true.
    if (wantedKeys.has(key)) values.set(key, equals === -1 ? 'true' : configValue(line.slice(equals + 1).trim()));
  }
  return values;
};

const wantedKeys: ReadonlySet<string> = new Set(['core.bare', 'core.worktree', 'extensions.worktreeconfig']);

const configValue = (text: string): string => {
  let value = '';
  let quoted = false;
  // Blanks at the end count only inside quotes.
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (!quoted && (character === '#' || character === ';')) break;
    if (character === '"') {
      quoted = !quoted;
    } else if (character === '\\') {
      index += 1;
      const escaped = text.charAt(index);
      value += controlByEscape.get(escaped) ?? escaped;
    } else {
      value += character;
      if (!quoted && (character === ' ' || character === '\t')) continue;
    }
    length = value.length;
  }
  return value.slice(0, length);
};

const controlByEscape: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['b', '\b'],
]);

const readHead = (text: string): { readonly branch: string | null; readonly head: string | null } => {
  const line = text.trim();
  const target = line.startsWith('ref:') ? line.slice('ref:'.length).trimStart() : null;
  if (target === null) return { branch: null, head: /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(line) ? line : null };
  const branch = target.startsWith('refs/heads/') ? target.slice('refs/heads/'.length) : '';
  // What a repository with reftables writes, so that older programs recognise it as one without believing it.
  const isReal = branch !== '' && branch !== '.invalid' && !branch.includes('\n');
  return { branch: isReal ? branch : null, head: null };
};

const withoutRepository = (start: string): Result<Checkout, CheckoutProblem> => {
  const root = stintFolderAbove(start) ?? start;
  if (statSync(root, quiet)?.isDirectory() !== true) return refuse(root, 'is not a folder');
  const storeFolder = within(root, '.stint');
  return ok({
    root,
    storeFolder,
    placeFolder: storeFolder,
    branch: null,
    head: null,
    worktree: 'main',
    commonDir: null,
  });
};

/** A link counts even if it is broken: passing it over would start a second, empty store beside the one it meant. */
const stintFolderAbove = (start: string): string | null => {
  for (let folder: string | null = start; folder !== null; folder = parentOf(folder)) {
    const entry = lstatSync(within(folder, '.stint'), quiet);
    if (entry !== undefined && (entry.isDirectory() || entry.isSymbolicLink())) return folder;
  }
  return null;
};

const folderProblem = (folder: string): CheckoutProblem | null => {
  const entry = lstatSync(folder, quiet);
  if (entry === undefined || entry.isDirectory()) return null;
  if (entry.isSymbolicLink()) {
    const target = linkTarget(folder);
    if (target === undefined) return { path: folder, problem: 'is a symbolic link to nothing', code: null };
    if (target.isDirectory()) return null;
  }
  return { path: folder, problem: 'is not a folder', code: null };
};

/** A checkout of the same project. */
export interface ListedCheckout {
  readonly root: string;
  readonly worktree: string;
  readonly branch: string | null;
  /** The id in its `place` file; null when it has none that can be read. */
  readonly placeId: string | null;
}

/**
 * The checkouts of a repository that exist, the main one first, the linked ones by name; the given one is always among
 * them. An entry of git's that can be pruned, or whose folder has become something else, is left out, and so is a main
 * worktree with a separate git dir when it is looked for from a linked one: git records nowhere where it lies.
 */
export const listCheckouts = (checkout: Checkout): readonly ListedCheckout[] => {
  const own = listed(checkout);
  const { commonDir } = checkout;
  if (commonDir === null) return [own];
  const worktrees = within(commonDir, 'worktrees');
  const linked = namesIn(worktrees).flatMap((name) => orNothing(() => linkedCheckout(within(worktrees, name))));
  const isLinked = orNothing(() => [gitDirOf(checkout.root)]).some((dir) => dir !== null && dirname(dir) === worktrees);
  if (!isLinked) return [own, ...linked];
  const main = orNothing(() => mainOf(commonDir));
  // Git's entry of a linked worktree that was moved by hand still names the old folder.
  return linked.some(({ root }) => root === own.root) ? [...main, ...linked] : [...main, ...linked, own];
};

const listed = (checkout: Pick<Checkout, 'root' | 'worktree' | 'branch' | 'placeFolder'>): ListedCheckout => {
  const { root, worktree, branch } = checkout;
  const placeId = readPlace(checkout.placeFolder);
  return { root, worktree, branch, placeId: placeId.ok ? placeId.value : null };
};

const mainOf = (commonDir: string): readonly ListedCheckout[] => {
  const { bare, configured, beside } = layoutOf(commonDir);
  if (!bare && configured === null && beside === null) return [];
  return [listed(gitFolderCheckout(commonDir))];
};

const linkedCheckout = (gitDir: string): readonly ListedCheckout[] => {
  const dotGit = withoutLineEnd(readSmallFile(within(gitDir, 'gitdir')) ?? '');
  const root = dotGit === '' ? null : existingPath(dirname(resolve(gitDir, dotGit)));
  if (root === null || gitDirOf(root) !== gitDir) return [];
  const { branch } = readHead(readSmallFile(within(gitDir, 'HEAD')) ?? '');
  return [listed({ root, worktree: basename(gitDir), branch, placeFolder: within(root, '.stint') })];
};

/** The git folder that the `.git` file of a worktree names. */
const gitDirOf = (root: string): string | null => {
  const target = gitFileTarget(within(root, '.git'));
  return target === null ? null : existingPath(resolve(root, target));
};

const namesIn = (folder: string): readonly string[] => orNothing(() => readdirSync(folder).toSorted());

/** What cannot be read counts as not there: one broken worktree must not hide the others. */
const orNothing = <Item>(read: () => readonly Item[]): readonly Item[] => {
  try {
    return read();
  } catch (error) {
    if (errnoCode(error) === null) throw error;
    return [];
  }
};

/**
 * The path that an editor or an agent means: a `file:` URI (RFC 8089) is decoded once, `file:///c%3A/p` being `c:/p` and
 * `file://server/share` being `//server/share`; anything else is a path already and comes back untouched, whatever
 * characters it has. Clients that forget to encode are understood: an invalid escape, `#` and `?` stand for themselves.
 */
export const pathFromUri = (text: string): string => {
  const [, host, encoded] = /^file:(?:\/\/([^/]*)(?=\/)|(?!\/\/))(\/.*)$/is.exec(text) ?? [];
  if (encoded === undefined) return text;
  const path = encoded.replaceAll(/(?:%[0-9a-f]{2})+/gi, decoded);
  if (host !== undefined && host !== '' && host.toLowerCase() !== 'localhost') return `//${host}${path}`;
  return /^\/[a-z]:(?:\/|$)/i.test(path) ? path.slice(1) : path;
};

const decoded = (escapes: string): string => {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return escapes;
  }
};

/**
 * A Windows path in its plain form: without the verbatim prefix (`\\?\C:\x` is `C:\x`, `\\?\UNC\srv\share` is
 * `\\srv\share`) and with the drive's letter in upper case. Paths that have no plain form, such as `\\?\Volume{...}`, and
 * absolute paths of other systems come back as they are, so nobody has to ask first which system it is.
 */
export const plainPath = (path: string): string => {
  // Compiling three patterns would be a noticeable part of finding a checkout.
  if (path.startsWith('/')) return path;
  const plain = path.replace(/^\\\\\?\\UNC\\/i, '\\\\').replace(/^\\\\\?\\(?=[a-z]:)/i, '');
  return plain.replace(/^[a-z]:(?=[\\/]|$)/, (drive) => drive.toUpperCase());
};

const realPath = (path: string): string => plainPath(realpathSync.native(path));

/** The real path of something that exists, else null. */
const existingPath = (path: string): string | null => {
  try {
    return realPath(path);
  } catch (error) {
    if (isAbsence(error)) return null;
    throw error;
  }
};

/**
 * The text of one of git's small files, null when it does not exist. It neither waits for a writer where a pipe stands
 * in for the file nor reads a device without end.
 */
const readSmallFile = (path: string): string | null => {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, constants.O_RDONLY | nonBlocking);
    let buffer = Buffer.allocUnsafe(4096);
    let length = 0;
    for (;;) {
      length += readSync(descriptor, buffer, length, buffer.length - length, null);
      // A regular file gives all it has, so a buffer with room left is the end: no second call to be told so.
      if (length < buffer.length || length >= mostBytes) return buffer.toString('utf8', 0, length);
      buffer = Buffer.concat([buffer], buffer.length * 16);
    }
  } catch (error) {
    if (isAbsence(error)) return null;
    throw error;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
};

/** Git's own limit for a `.git` file. */
const mostBytes = 1_048_576;

/** Windows does not have it, whatever the types say. */
const nonBlocking: number = 'O_NONBLOCK' in constants ? constants.O_NONBLOCK : 0;

const linkTarget = (path: string): Stats | undefined => {
  try {
    return statSync(path, quiet);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
};

/** A folder where a file is looked for is as good as no file. */
const isAbsence = (error: unknown): boolean => {
  const code = errnoCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR';
};

/** `join` normalises its whole result letter by letter, which is most of its cost before the code is warm. */
const within = (folder: string, name: string): string => (folder.endsWith(sep) ? folder + name : folder + sep + name);

const withoutLineEnd = (text: string): string => {
  let end = text.length;
  while (end > 0 && '\r\n'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
};

const refuse = (path: string, problem: string): { readonly ok: false; readonly error: CheckoutProblem } =>
  err({ path, problem, code: null });

const errorPath = (error: unknown): string | null =>
  error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : null;

/** Stat calls then answer undefined for what is not there, which costs a tenth of an exception. */
const quiet = { throwIfNoEntry: false } as const;
