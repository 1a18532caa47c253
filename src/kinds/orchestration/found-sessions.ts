import { copiesOf, historyOf } from '../../formats/orchestrator/history.ts';
import {
  byMoment,
  largestOrchestratorFile,
  readOrchestratorFile,
  type Found,
  type FoundSession,
} from '../../formats/orchestrator/read.ts';
import { historyName, sessionFilesIn, type SessionFile } from '../../formats/orchestrator/session-files.ts';
import type { FileWorld } from '../../kernel/kind.ts';
import type { Unread } from '../../kernel/ports.ts';
import type { Ignored } from '../../kernel/take-over-order.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { sha256 } from '../../lib/sha256.ts';
import { shellWord } from '../../lib/text.ts';
import type { Clock } from '../../lib/written-time.ts';

/** The sessions of an orchestrator as they are found in its files. Nothing is written, and no path in a file is followed. */

/** What was found where somebody pointed. */
export interface FoundSessions {
  /** The folder or the file, as it is shown. */
  readonly source: string;
  /** The current one first, then those of the history, the newest first. */
  readonly sessions: readonly SessionToTake[];
  /** What is no session, or none that can be taken, by its path: what it is and why it is left alone, or what is wrong with it. */
  readonly ignored: readonly Ignored[];
}

/** A session that can be taken over. */
export interface SessionToTake {
  readonly path: string;
  readonly found: FoundSession;
  /** SHA-256 of its file. */
  readonly digest: string;
  readonly problems: readonly string[];
}

/** How files are read that do not speak for themselves. */
export interface Wishes {
  /** Which of several versions in one file counts: `ours`, `theirs`, `first`, `second`. */
  readonly choice?: string | undefined;
  /** Whether what is left of a file is taken of which something is lost. */
  readonly salvage?: boolean | undefined;
  /** Whether the newest whole copy is taken of a file that is damaged, or of which something is lost. */
  readonly lastGood?: boolean | undefined;
}

/** A file as it was read, with what it is found to be. */
export interface ReadFile extends SessionFile {
  /** Its path as it is shown, and as the caller types it from where he is. */
  readonly shown: string;
  readonly typed: string;
  /** Empty where it could not be read. */
  readonly digest: string;
  readonly found: Found;
  /** The paths of the files around it, from its folder on. */
  readonly around: readonly string[];
}

/**
 * What becomes of files that were read. Of several files of one session a whole one counts, of those the one that was written
 * last, and where that is not known the one of the history: the original copies a session there before it removes the current one.
 */
export const decideSessions = (
  files: readonly ReadFile[],
  wishes: Wishes,
): Pick<FoundSessions, 'sessions' | 'ignored'> => {
  const ignored: Ignored[] = [];
  const byId = new Map<string, Candidate[]>();
  for (const file of files) {
    const left = leftAlone(file, wishes);
    if (left !== undefined) ignored.push(left);
    else if (file.found.what === 'session') {
      const { session_id: id } = file.found.session.document;
      byId.set(id, [...(byId.get(id) ?? []), { file, session: file.found.session }]);
    }
  }
  const taken = new Map<string, SessionToTake>();
  for (const [id, candidates] of byId) {
    const [first, ...others] = candidates.toSorted(byLikelihood);
    if (first === undefined) continue;
    const { file, session } = first;
    const { faults, lost, problems } = session;
    const told = faults.map(
      ({ problem, line, column }) => `${problem.slice(0, -1)}, at line ${line}, column ${column}.`,
    );
    taken.set(file.shown, {
      path: file.shown,
      found: session,
      digest: file.digest,
      problems: [...new Set([...told, ...lost, ...problems])],
    });
    ignored.push(
      ...others.map((other) => ({
        path: other.file.shown,
        is: `another file of the session ${id}`,
        why: `It is taken from ${file.shown}.`,
      })),
    );
  }
  const order = historyOf(
    [...taken].map(([path, { found }]) => ({ path, found: { what: 'session', session: found } })),
  );
  const sessions = order.flatMap(({ path }) => taken.get(path) ?? []);
  const isCurrent = ({ found }: SessionToTake): boolean => !found.isInHistory;
  return { sessions: [...sessions.filter(isCurrent), ...sessions.filter((one) => !isCurrent(one))], ignored };
};

/** A file of a session, before it is known whether it is the one that counts. */
interface Candidate {
  readonly file: ReadFile;
  readonly session: FoundSession;
}

const byLikelihood = (some: Candidate, other: Candidate): number =>
  Number(some.session.lost.length > 0) - Number(other.session.lost.length > 0) ||
  byMoment(other.session.document.updated, some.session.document.updated) ||
  Number(other.session.isInHistory) - Number(some.session.isInHistory);

/** What is told of a file that is not taken; undefined where it may be. */
const leftAlone = (
  { shown: path, typed, found, around, isListed }: ReadFile,
  { salvage = false, choice }: Wishes,
): Ignored | undefined => {
  const name = path.split('/').at(-1) ?? '';
  switch (found.what) {
    case 'neighbour':
      return { path, is: found.is, why: found.why };
    case 'newer':
      return {
        path,
        code: 'newer-version',
        problem: found.problem,
        hint: 'It is left as it is. A newer stint may read it.',
      };
    case 'undecided':
      return {
        path,
        // Somebody has chosen, and it is none of them.
        code: choice === undefined ? 'invariant-unmet' : 'usage',
        problem: found.problem,
        line: found.line,
        column: 1,
        sides: found.sides.map(({ name: side, label, line, found: one }) => ({
          side,
          label,
          line,
          ...sideToJson(one),
        })),
        more: found.sides.map(
          (side) => `${side.name}${side.label === '' ? '' : ` (${side.label})`}: ${sideText(side.found)}`,
        ),
        hint: `${found.hint} stint import orchestrator ${shellWord(typed)} --choose ${found.sides[0]?.name ?? 'first'}`,
      };
    case 'damaged': {
      const { problem, line, column, hint } = found;
      const place = line === undefined || column === undefined ? {} : { line, column };
      return {
        path,
        code: 'damaged',
        problem,
        ...place,
        ...(hint === undefined ? {} : { hint }),
        ...copiesIn(name, around, null),
      };
    }
    case 'session': {
      const { dialect, lost, faults, document } = found.session;
      if (dialect === 'hook summary' && isListed)
        return {
          path,
          is: 'the summary that a hook made of an orchestration',
          why: `It does not say of which one, and was not taken: stint import orchestrator ${shellWord(typed)} takes it.`,
        };
      if (lost.length === 0 || salvage) return undefined;
      const { line, column } = faults.find(({ isLoss }) => isLoss) ?? { line: 1, column: 1 };
      return {
        path,
        code: 'damaged',
        problem: `Something of it is lost: ${lost.length === 1 ? '1 place' : `${lost.length} places`}.`,
        line,
        column,
        more: [...lost, `left are ${leftText(document)}`],
        hint: `What is left of it is taken with stint import orchestrator ${shellWord(typed)} --salvage.`,
        ...copiesIn(name, around, document.session_id),
      };
    }
  }
};

const copiesIn = (name: string, around: readonly string[], id: string | null): JsonObject => {
  const copies = copiesOf(name, around, id).slice(0, 5);
  return copies.length === 0 ? {} : { copies: copies.map(({ path, is }) => ({ path, is })) };
};

const sideToJson = (found: Found): JsonObject =>
  found.what === 'session'
    ? {
        session_id: found.session.document.session_id,
        status: found.session.document.status,
        updated: found.session.document.updated,
        is_whole: found.session.lost.length === 0,
      }
    : { is_whole: false };

const sideText = (found: Found): string => {
  switch (found.what) {
    case 'session': {
      const { document, lost } = found.session;
      const loss = lost.length === 0 ? '' : ', of which something is lost';
      return `${document.status}, updated ${document.updated}, ${leftText(document)}${loss}`;
    }
    case 'neighbour':
      return found.is;
    case 'newer':
    case 'damaged':
    case 'undecided':
      return found.problem;
  }
};

const leftText = ({
  agents,
  completed_work: work,
  pending_tasks: tasks,
  decisions_made: decisions,
}: FoundSession['document']): string =>
  [
    [agents.length, 'agent'],
    [work.length, 'piece of completed work', 'pieces of completed work'],
    [tasks.length, 'pending task'],
    [decisions.length, 'decision'],
  ]
    .map(([count, one, many]) => `${count} ${count === 1 ? one : (many ?? `${one}s`)}`)
    .join(', ');

/** Finds the sessions of a checkout, of a folder, or in a file. */
export const findSessions = async (
  world: World,
  given: string | undefined,
  wishes: Wishes = {},
): Promise<Result<FoundSessions, Refusal>> => {
  const { files, places } = world;
  const project = await world.project();
  const { root } = places.here;
  const path = (given === undefined ? root : project.resolve(given)).replace(/(?<=[^/])\/+$/, '');
  const show = (one: string): string => pathFrom(root, one);
  const isFolder = project.isFolder(path);
  if (given !== undefined && !isFolder && !files.exists(path)) return err(refuseNothing(show(path), given));
  const base = isFolder ? baseOf(path, project.isFolder) : path.slice(0, path.lastIndexOf('/'));
  const plan = isFolder ? sessionFilesIn(base, files) : [{ path, isListed: false }];
  const plain = isFolder && plan.length === 0 ? plainFiles(path, files.list(path)) : [];
  if (plan.length === 0 && plain.length === 0) return err(refuseNothing(show(path), given));
  const read = await openReader(world, base, { choice: wishes.choice });
  const readOrCopy = (file: SessionFile): ReadFile => {
    const found = read(file);
    return wishes.lastGood === true ? (lastGoodOf(found, read) ?? found) : found;
  };
  return ok({ source: show(isFolder ? base : path), ...decideSessions([...plan, ...plain].map(readOrCopy), wishes) });
};

/** Reads files of a checkout, or such as somebody has named. */
export const openReader = async (
  world: FileWorld,
  base: string,
  {
    choice,
    isOurs,
    limit = largestOrchestratorFile,
  }: { readonly choice?: string | undefined; readonly isOurs?: boolean; readonly limit?: number } = {},
): Promise<(file: SessionFile) => ReadFile> => {
  const { files, places, caller, host } = world;
  const project = await world.project();
  const here = project.resolve('.');
  const clock: Clock = { now: caller.now, offsetAt: host.offsetAt };
  return ({ path, isListed }) => {
    const text = readText(
      isListed ? project.text(base, path.slice(base.length + 1), limit) : project.readNamed(path, limit),
    );
    const folder = path.slice(0, path.lastIndexOf('/'));
    const about = {
      path,
      shown: pathFrom(places.here.root, path),
      typed: pathFrom(here, path),
      isListed,
      around: aroundOf(folder, files.list),
    };
    if (!text.ok) return { ...about, digest: '', found: { what: 'damaged', problem: `It ${text.error.problem}.` } };
    // The mark at the beginning of a file is no part of its text.
    const digest = files.digest(folder, path.slice(folder.length + 1))?.sha256 ?? sha256(text.value);
    return { ...about, digest, found: readOrchestratorFile(text.value, { path, clock, choice, isOurs }) };
  };
};

const pathFrom = (folder: string, path: string): string =>
  path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;

/** The newest whole copy of a file that is not, of equal ones the likeliest; undefined where it is, and where no copy is whole. */
export const lastGoodOf = (file: ReadFile, read: (file: SessionFile) => ReadFile): ReadFile | undefined => {
  const { path, found, around } = file;
  const isWhole = ({ found: one }: ReadFile): boolean => one.what === 'session' && one.session.lost.length === 0;
  const isWanted =
    found.what === 'damaged' || found.what === 'undecided' || (found.what === 'session' && !isWhole(file));
  if (!isWanted) return undefined;
  const cut = path.lastIndexOf('/') + 1;
  const id = found.what === 'session' ? found.session.document.session_id : null;
  // A file of the history is a copy of the session that it is named after, and of no other.
  const copies = copiesOf(path.slice(cut), around, id).filter(
    ({ is }) => id !== null || is !== 'a file of the history',
  );
  const whole = copies.slice(0, mostCopies).flatMap((copy) => {
    const one = read({ path: path.slice(0, cut) + copy.path, isListed: true });
    if (one.found.what !== 'session' || !isWhole(one)) return [];
    const { session_id: name, updated } = one.found.session.document;
    return id === null || id === name ? [{ one, updated }] : [];
  });
  const [newest] = whole.toSorted((some, other) => byMoment(other.updated, some.updated));
  return newest === undefined ? undefined : { ...newest.one, isListed: file.isListed };
};

/** Most copies that are looked into, the likeliest first. */
const mostCopies = 20;

/** A folder of a checkout that somebody has named stands for the checkout. */
const baseOf = (path: string, isFolder: (path: string) => boolean): string => {
  const base = path.replace(/\/\.claude(?:\/orchestrator-history)?$/, '');
  return base !== path && base !== '' && isFolder(base) ? base : path;
};

/** The files of a folder that is that of no checkout. */
const plainFiles = (folder: string, names: readonly string[]): readonly SessionFile[] =>
  names.filter((name) => name.endsWith('.json')).map((name) => ({ path: `${folder}/${name}`, isListed: false }));

const readText = (read: Result<string | { readonly text: string }, Unread>): Result<string, Unread> => {
  if (!read.ok) return read;
  return ok(typeof read.value === 'string' ? read.value : read.value.text);
};

/** What lies in a folder and in the history there, from the folder on. */
const aroundOf = (folder: string, list: (folder: string) => readonly string[]): readonly string[] => [
  ...list(folder),
  ...list(`${folder}/${historyName}`).map((name) => `${historyName}/${name}`),
];

const refuseNothing = (shown: string, given: string | undefined): Refusal =>
  refuse(
    'not-found',
    `There is no session of an orchestrator: ${shown} ${given === undefined ? 'holds no .claude/orchestrator-session.json and no history' : 'holds none, or is not there'}.`,
    {
      expected: 'a checkout with .claude/orchestrator-session.json, a folder of such files, or one of them',
      hint: 'stint import orchestrator PATH',
    },
  );
