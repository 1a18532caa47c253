import { sessionNameProblem } from '../../lib/name.ts';
import { mostRounds, type OcrKind } from './history.ts';
import { shownText } from './row-values.ts';

/** A folder below `.ocr/sessions/`. */
export interface OcrFolder {
  readonly id: string;
  /** Its files, relative to it, with `/` between parts. */
  readonly files: readonly string[];
}

/** What the folders show. */
export interface FolderPlan {
  readonly sessions: readonly FolderSession[];
  /** Folders that are no session, each with the reason. */
  readonly ignored: readonly { readonly id: string; readonly reason: string }[];
}

/** What one folder shows. */
export interface FolderSession {
  readonly id: string;
  readonly kinds: readonly OcrKind[];
  /** Whether nothing in it says of which kind it is. */
  readonly isGuess: boolean;
  /** What follows the date in the id, where it has one: the branch with its `/` replaced. */
  readonly branch: string | null;
  /** Below `rounds/`, by number. */
  readonly rounds: readonly FolderRound[];
  /** Below `map/runs/`, by number. */
  readonly runs: readonly FolderRound[];
  /** Whether there is a `state.json`, which versions 1.0 to 1.4 kept instead of a database. */
  readonly hasStateFile: boolean;
  /** Folders that look like rounds and are none, each with the reason. */
  readonly ignored: readonly { readonly path: string; readonly reason: string }[];
}

/** What lies in the folder of a round or run. Facts about files: none of them says that the round is complete. */
export interface FolderRound {
  readonly number: number;
  /** Relative to the round's folder. */
  readonly files: readonly string[];
  /** Whether its final document is there: `final.md` or `map.md`. */
  readonly hasFinal: boolean;
  /** Whether what it found is there: `round-meta.json` or `map-meta.json`. */
  readonly hasMeta: boolean;
  /** The reviews of a round, by file name. */
  readonly reviews: readonly string[];
}

/**
 * What the folders below `.ocr/sessions/` show, for sessions that no database knows. The rules:
 *
 * - A folder without any `.md` or `.json` file is no session: the original left such ghosts behind.
 * - A folder whose name is no legal name of a session is none; the reason is told.
 * - `rounds/` makes a review, `map/` makes a map, both make both; a folder with neither is taken for a review, as in the
 *   original, unless a session of that name is known: a map that was just begun has neither.
 * - Rounds are the folders `rounds/round-N`, runs `map/runs/run-N`, with N from 1 on and without a leading zero. Whatever
 *   else stands there (`round-x`, `round-03`, `round-0`) is told and does not count.
 * - They are in the order of their numbers: 11 comes after 2.
 * - The branch is what follows the date in the id.
 * - Files are facts. A `final.md` shows that somebody wrote one, never that the round is complete.
 */
export const planFolders = (tree: readonly OcrFolder[]): FolderPlan => {
  const sessions: FolderSession[] = [];
  const ignored: { readonly id: string; readonly reason: string }[] = [];
  for (const folder of tree.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const problem = sessionNameProblem(folder.id);
    if (problem !== undefined) ignored.push({ id: shownText(folder.id, 200), reason: problem });
    else if (!folder.files.some((file) => /\.(?:md|json)$/.test(file)))
      ignored.push({ id: folder.id, reason: 'It holds no .md and no .json file.' });
    else sessions.push(sessionOf(folder));
  }
  return { sessions, ignored };
};

const sessionOf = ({ id, files }: OcrFolder): FolderSession => {
  const rounds = roundsOf(files, 'rounds/', 'round-');
  const runs = roundsOf(files, 'map/runs/', 'run-');
  const isMap = files.some((file) => file.startsWith('map/'));
  const hasRounds = files.some((file) => file.startsWith('rounds/'));
  return {
    id,
    kinds: [...(hasRounds || !isMap ? (['review'] as const) : []), ...(isMap ? (['map'] as const) : [])],
    isGuess: !hasRounds && !isMap,
    branch: /^\d{4}-\d\d-\d\d-(.+)$/.exec(id)?.[1] ?? null,
    rounds: rounds.found,
    runs: runs.found,
    hasStateFile: files.includes('state.json'),
    ignored: [...rounds.ignored, ...runs.ignored],
  };
};

const roundsOf = (
  files: readonly string[],
  parent: string,
  prefix: string,
): { readonly found: readonly FolderRound[]; readonly ignored: FolderSession['ignored'] } => {
  const filesByFolder = new Map<string, string[]>();
  for (const file of files) {
    const [folder = '', ...rest] = file.startsWith(parent) ? file.slice(parent.length).split('/') : [];
    // A file that lies beside the rounds belongs to none of them.
    if (rest.length === 0) continue;
    const known = filesByFolder.get(folder);
    if (known === undefined) filesByFolder.set(folder, [rest.join('/')]);
    else known.push(rest.join('/'));
  }
  const found: FolderRound[] = [];
  const ignored: { readonly path: string; readonly reason: string }[] = [];
  for (const [folder, inside] of filesByFolder) {
    const number = numberOf(folder, prefix);
    if (number === undefined)
      ignored.push({
        path: shownText(`${parent}${folder}`, 300),
        reason: `It is not ${prefix}N with a number from 1 to ${mostRounds} without a leading zero.`,
      });
    else found.push(roundOf(number, inside));
  }
  return {
    found: found.toSorted((a, b) => a.number - b.number),
    ignored: ignored.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  };
};

const numberOf = (folder: string, prefix: string): number | undefined => {
  const digits = folder.startsWith(prefix) ? folder.slice(prefix.length) : '';
  return /^[1-9]\d{0,6}$/.test(digits) && Number(digits) <= mostRounds ? Number(digits) : undefined;
};

const roundOf = (number: number, inside: readonly string[]): FolderRound => {
  const files = inside.toSorted();
  return {
    number,
    files,
    hasFinal: files.includes('final.md') || files.includes('map.md'),
    hasMeta: files.includes('round-meta.json') || files.includes('map-meta.json'),
    reviews: files.flatMap((file) => /^reviews\/([^/]+\.md)$/.exec(file)?.[1] ?? []),
  };
};
