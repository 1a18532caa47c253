import { compareNames } from '../../lib/text.ts';
import type { Found } from './read.ts';
import { byMoment } from './read.ts';

/** The files that lie beside that of a session: its history, and copies that may be what a damaged one was. */

/** A file of the history with what it was found to be. */
export interface HistoryFile {
  readonly path: string;
  readonly found: Found;
}

/** A line of the history. What cannot be read has one too. */
export interface HistoryEntry {
  readonly path: string;
  readonly id: string | null;
  readonly goal: string | null;
  readonly status: string | null;
  readonly created: string | null;
  readonly updated: string | null;
  /** What is wrong with the file, as a sentence. */
  readonly problem: string | null;
}

/**
 * The history, newest first: by when a session was created, then by when it changed last. The names of the files have a
 * random end, so that they put the sessions of a day in any order. Files without times stand behind all others.
 */
export const historyOf = (files: readonly HistoryFile[]): readonly HistoryEntry[] =>
  files
    .map(entryOf)
    .toSorted(
      (some, other) =>
        byNewest(some.created, other.created) ||
        byNewest(some.updated, other.updated) ||
        (some.path < other.path ? 1 : some.path === other.path ? 0 : -1),
    );

const byNewest = (some: string | null, other: string | null): number => {
  if (some === null || other === null) return Number(some === null) - Number(other === null);
  return byMoment(other, some);
};

const entryOf = ({ path, found }: HistoryFile): HistoryEntry => {
  const nothing = { path, id: null, goal: null, status: null, created: null, updated: null };
  switch (found.what) {
    case 'session': {
      const { document, lost } = found.session;
      const { session_id: id, goal, status, created, updated } = document;
      return { path, id, goal, status, created, updated, problem: lost[0] ?? null };
    }
    case 'newer':
      return { ...nothing, id: found.id, problem: found.problem };
    case 'neighbour':
      return { ...nothing, problem: `It is ${found.is}. ${found.why}` };
    case 'undecided':
    case 'damaged':
      return { ...nothing, problem: found.problem };
  }
};

/** A file that may hold what a damaged one has lost. */
export interface Copy {
  readonly path: string;
  readonly is: 'a version that was set aside' | 'a backup' | 'a file of the history';
}

/**
 * Which of the files beside a damaged one may be copies of it, the likeliest first, given their paths from its folder on
 * (`orchestrator-history/x.json`) and its id, where that can still be read. None of them is looked into.
 */
export const copiesOf = (name: string, paths: readonly string[], id: string | null = null): readonly Copy[] => {
  const copies = paths.flatMap((path): readonly Copy[] => {
    if (path === name) return [];
    if (/^orchestrator-history\/[^/]+\.json$/.test(path)) return [{ path, is: 'a file of the history' }];
    if (!path.startsWith(`${name}.`) && !path.startsWith(`${name}~`)) return [];
    const end = path.slice(name.length);
    if (/^\.kept-[\da-f]+$/.test(end)) return [{ path, is: 'a version that was set aside' }];
    return /^(?:~|\.(?:bak|backup|old|orig|save|copy)(?:[.~-]?\d+)?)$/i.test(end) ? [{ path, is: 'a backup' }] : [];
  });
  return copies.toSorted((some, other) => rankOf(some, id) - rankOf(other, id) || compareNames(other.path, some.path));
};

const rankOf = ({ path, is }: Copy, id: string | null): number => {
  if (id !== null && path === `orchestrator-history/${id}.json`) return 2;
  switch (is) {
    case 'a version that was set aside':
      return 0;
    case 'a backup':
      return 1;
    case 'a file of the history':
      return 3;
  }
};
