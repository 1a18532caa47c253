import { compareNames } from '../../lib/text.ts';
/** Which files are looked at to find workflow runs, before any of them is read. */

/** A file that may be that of a run. */
export interface RunFile {
  readonly path: string;
  readonly folder: string;
  /** The files in the `checkpoints/` beside it. */
  readonly snapshots: readonly string[];
}

export interface RunFilePlan {
  readonly files: readonly RunFile[];
  /** Folders that are named as those of runs and hold none, each with the reason. */
  readonly ignored: readonly { readonly path: string; readonly reason: string }[];
}

/** Where runs may lie when a path is given, the likeliest first: in a checkout, in its `.workflow`, or in the folder itself. */
export const runFolders = (path: string): readonly string[] => {
  const folder = withoutSlash(path);
  return [`${folder}/.workflow/sessions`, `${folder}/sessions`, folder];
};

/** The names under which sessions are kept, by the original and by its neighbours, which are named and left alone. */
const stateFiles = new Set([
  'session-state.json',
  'status.json',
  'session.json',
  'state.json',
  'run.json',
  'walker-state.json',
  'workflow-session.json',
  'team-session.json',
  'session-metadata.json',
  'manifest.json',
]);

/**
 * The files to look at in a folder, given the files in it and the folders with theirs at any depth (`list` and `tree` of the
 * port). They are in the order of their paths, numbers by value, those of an archive last: where a move was cut off and a
 * run lies in both places, the one that is not archived comes first.
 */
export const planRunFiles = (
  folder: string,
  names: readonly string[],
  tree: readonly { readonly id: string; readonly files: readonly string[] }[],
): RunFilePlan => {
  const base = withoutSlash(folder);
  const paths = [...names, ...tree.flatMap(({ id, files }) => files.map((file) => `${id}/${file}`))].map(
    (path) => `${base}/${path}`,
  );
  const filesByFolder = new Map<string, string[]>();
  for (const path of paths) {
    const known = filesByFolder.get(folderOf(path));
    if (known === undefined) filesByFolder.set(folderOf(path), [path]);
    else known.push(path);
  }
  const files = paths
    .filter((path) => stateFiles.has(nameOf(path)) && nameOf(folderOf(path)) !== 'checkpoints')
    .toSorted(byPath)
    .map((path) => runFile(path, filesByFolder.get(`${folderOf(path)}/checkpoints`)));
  const withState = new Set(files.map((file) => file.folder));
  const ignored = [
    ...new Set([...tree.map(({ id }) => `${base}/${id}`), ...[...filesByFolder.keys()].flatMap(withParents(base))]),
  ]
    .filter((path) => nameOf(path).startsWith('WFR-') && !withState.has(path))
    .toSorted(byPath)
    .map((path) => ({ path, reason: 'It holds no session-state.json: snapshots alone do not make a run.' }));
  return { files, ignored };
};

/** The same for a single file, whatever its name. */
export const planRunFile = (path: string): RunFilePlan => ({ files: [runFile(path, [])], ignored: [] });

/** A file of a run of which there is another file. */
export interface Twin {
  readonly path: string;
  readonly updatedAt: string;
  readonly digest: string;
}

/**
 * The file that counts among those of one run, given in the order of `planRunFiles`: the one whose folder carries the name of
 * the run, else one that is not archived, else the newest. Copies lie beside it as older ones and name the same run.
 * Undefined where two are as likely and not the same.
 */
export const fileOf = <T extends Twin>(id: string, twins: readonly T[]): T | undefined => {
  const byLikelihood = (some: Twin, other: Twin): number =>
    Number(isNamed(other, id)) - Number(isNamed(some, id)) ||
    Number(isArchived(some.path)) - Number(isArchived(other.path)) ||
    Date.parse(other.updatedAt) - Date.parse(some.updatedAt);
  const [first, ...others] = twins.toSorted(byLikelihood);
  return first !== undefined && others.every((other) => byLikelihood(first, other) < 0 || other.digest === first.digest)
    ? first
    : undefined;
};

const isNamed = ({ path }: Twin, id: string): boolean => nameOf(folderOf(path)) === id;

const runFile = (path: string, snapshots: readonly string[] = []): RunFile => ({
  path,
  folder: folderOf(path),
  snapshots:
    nameOf(path) === 'session-state.json' ? snapshots.filter((file) => file.endsWith('.json')).toSorted(byPath) : [],
});

const withoutSlash = (path: string): string => path.replace(/(?<=[^/])\/+$/, '');

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** A folder and those that hold it, below the base. */
const withParents =
  (base: string) =>
  (folder: string): readonly string[] => {
    const found: string[] = [];
    for (let path = folder; path.length > base.length; path = folderOf(path)) found.push(path);
    return found;
  };

const isArchived = (path: string): boolean => /\/archives?\//i.test(path);

const byPath = (some: string, other: string): number =>
  Number(isArchived(some)) - Number(isArchived(other)) ||
  compareNames(some, other) ||
  (some < other ? -1 : some === other ? 0 : 1);
