import type { Unread } from '../../kernel/ports.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { compareNames } from '../../lib/text.ts';
import { isDay } from '../../lib/time.ts';
import {
  checkRead,
  handover,
  lineOfName,
  pointerOf,
  readDocument,
  sessionState,
  statusOf,
  valueOf,
  type Document,
  type DocumentFinding,
  type DocumentKind,
} from './document.ts';
import { noLease, readLeaseFile, type LeaseFile } from './lease-file.ts';
import { currentPath } from './roots.ts';
import { conflictIn, readSections, rootHeading, type Sections } from './sections.ts';

export { currentPath, rootsInOrder } from './roots.ts';

/** The folder in which a project keeps its hand-off documents: where they are, and what is wrong with them. */

/** What may be looked at below the root; nothing that lies outside, wherever a link leads. */
export interface Look {
  /** The root, whole. */
  readonly root: string;
  /** A file by its path from the root; else why it cannot be read, as the end of a sentence. */
  readonly read: (path: string) => Result<string, Unread>;
  /** The names of the files in a folder of it. */
  readonly list: (folder: string) => readonly string[];
}

/** What was looked at stays what it was: each file is read once, however many documents name it. */
export const lookOnce = ({ root, read, list }: Look): Look => ({ root, read: once(read), list: once(list) });

const once = <Answer>(ask: (path: string) => Answer): ((path: string) => Answer) => {
  const answers = new Map<string, Answer>();
  return (path) => {
    const known = answers.get(path);
    if (known !== undefined) return known;
    const answer = ask(path);
    answers.set(path, answer);
    return answer;
  };
};

/** A text and what it is made of. */
interface Opened extends Sections {
  readonly text: string;
  /** The number of the line with which a merge has left a conflict. */
  readonly conflict: number | undefined;
}

/** A file taken apart: once for each time that it was read. */
const openAt = ({ read }: Look, path: string): Result<Opened, Unread> => {
  const text = read(path);
  if (!text.ok) return text;
  const known = opened.get(text);
  if (known !== undefined) return ok(known);
  const parts = { text: text.value, conflict: conflictIn(text.value), ...readSections(text.value) };
  opened.set(text, parts);
  return ok(parts);
};

const opened = new WeakMap<object, Opened>();

/** The folders of the two kinds of document. */
const folders = { handovers: 'handovers', states: 'session-state' } as const;

/** Where the file of a lease lies. */
export const leasePath = 'session-state/ACTIVE_LEASE.json';

/** A pair by the paths of its documents from the root, and how it was found. */
export interface Pair {
  readonly handover: string;
  readonly sessionState: string;
  readonly source: string;
}

/**
 * The pair that was worked on last: what `CURRENT.md` names, else with the newest handover that names no other session state,
 * else what the newest one names, else the newest of both. Undefined where there is none. A `CURRENT.md` that is broken is
 * the one that is worked on all the same: what was archived does not stand for it.
 */
export const locatePair = (look: Look): Pair | undefined => {
  const current = documentAt(look, sessionState, currentPath);
  const target = current === undefined ? undefined : targetOf(look, current, currentPath);
  if (target !== undefined && isThere(look, target))
    return { handover: target, sessionState: currentPath, source: 'current-pointer' };
  if (isCurrentThere(look)) {
    const free = newestIn(look, handover, (path) => !namesAnother(look, path));
    return free === undefined
      ? undefined
      : { handover: free, sessionState: currentPath, source: 'current-plus-latest-handover' };
  }
  const newest = newestIn(look, handover);
  if (newest === undefined) return undefined;
  const document = documentAt(look, handover, newest);
  const named = document === undefined ? undefined : targetOf(look, document, newest);
  if (named !== undefined && isThere(look, named))
    return { handover: newest, sessionState: named, source: 'latest-handover-pointer' };
  const snapshot = newestIn(look, sessionState);
  return snapshot === undefined ? undefined : { handover: newest, sessionState: snapshot, source: 'latest-snapshots' };
};

/** Whether a file is there: one of the two folders lists it, or it can be read. */
export const isThere = ({ read, list }: Look, path: string): boolean => {
  const [folder = '', name = '', ...deeper] = path.split('/');
  const isInFolder = deeper.length === 0 && (folder === folders.handovers || folder === folders.states);
  return (isInFolder && list(folder).includes(name)) || read(path).ok;
};

/** Whether something lies in the place of `CURRENT.md`, whatever it is. */
const isCurrentThere = (look: Look): boolean => {
  const text = look.read(currentPath);
  return text.ok || !text.error.isMissing;
};

/** A document that has the root heading of its kind. */
const documentAt = (look: Look, kind: DocumentKind, path: string): Document | undefined => {
  const text = openAt(look, path);
  if (!text.ok || text.value.conflict !== undefined) return undefined;
  return rootHeading(text.value) === kind.root ? { kind, ...text.value } : undefined;
};

/** The newest document of a kind that is not `CURRENT.md`. */
const newestIn = (
  look: Look,
  kind: DocumentKind,
  isMeant: (path: string) => boolean = () => true,
): string | undefined =>
  pathsIn(look, kind).find((path) => path !== currentPath && isDocument(look, kind, path) && isMeant(path));

/** Whether a handover is the other half of another session state than `CURRENT.md`. */
const namesAnother = (look: Look, path: string): boolean => {
  const document = documentAt(look, handover, path);
  const target = document === undefined ? undefined : targetOf(look, document, path);
  return target !== undefined && target !== currentPath && isThere(look, target);
};

/**
 * The paths of what may be a document of a kind, the newest first: by the stamp in its name, of which one that is no time is
 * none, then by its name.
 */
const pathsIn = ({ list }: Look, kind: DocumentKind): readonly string[] => {
  const folder = kind === handover ? folders.handovers : folders.states;
  return list(folder)
    .filter((name) => name.endsWith('.md') && !name.startsWith('.'))
    .map((name) => ({ path: `${folder}/${name}`, order: `${timeStampIn(name) ?? ''} ${name.toLowerCase()}` }))
    .toSorted((a, b) => (a.order < b.order ? 1 : -1))
    .map(({ path }) => path);
};

/** The stamp in the name of a document, whether it is a time or not; undefined where there is none. */
export const stampIn = (path: string): string | undefined =>
  /(?:^|\/)(\d{8}_\d{4})_(?:handover|session-state)\.md$/.exec(path)?.[1];

/** Whether a stamp of a file's name is a time: `YYYYMMDD_HHMM`. */
export const isStamp = (stamp: string): boolean =>
  /^\d{8}_(?:[01]\d|2[0-3])[0-5]\d$/.test(stamp) && isDay(stamp.slice(0, 4), stamp.slice(4, 6), stamp.slice(6, 8));

/** The stamp in the name of a document, where it is a time. */
export const timeStampIn = (path: string): string | undefined => {
  const stamp = stampIn(path);
  return stamp !== undefined && isStamp(stamp) ? stamp : undefined;
};

/** What is wrong with the stamp in the name of a document; undefined where nothing is, or it has none. */
export const stampProblem = (path: string): string | undefined => {
  const stamp = stampIn(path);
  return stamp === undefined || isStamp(stamp) ? undefined : 'the stamp in its name is no time';
};

/**
 * The documents of a kind, by their paths, the newest first: files with its root heading, a stamp or a conflict, and the one
 * that is worked on. Other files in their folder are none. Of one without a stamp that is only known when it is read.
 */
export function* documentsIn(look: Look, kind: DocumentKind, active: string | undefined): Generator<string> {
  const paths = pathsIn(look, kind);
  if (active !== undefined && !paths.includes(active)) yield active;
  for (const path of paths) if (path === active || isDocument(look, kind, path)) yield path;
}

const isDocument = (look: Look, kind: DocumentKind, path: string): boolean => {
  if (path === currentPath || stampIn(path) !== undefined) return true;
  const text = openAt(look, path);
  return text.ok && (text.value.conflict !== undefined || rootHeading(text.value) === kind.root);
};

/** The path from the root that a document names; undefined where it names none, or one outside of it. */
export const targetOf = ({ root }: Look, document: Document, path: string): string | undefined => {
  const pointer = pointerOf(document);
  if (pointer === undefined || pointer.includes('\0')) return undefined;
  const named = pointer.replaceAll('\\', '/');
  if (named.startsWith('/')) return named.startsWith(`${root}/`) ? normal(named.slice(root.length + 1)) : undefined;
  return normal(`${path.slice(0, path.lastIndexOf('/') + 1)}${named}`);
};

/** The path from the root of what a document names by a path relative to its own folder; undefined where that leads out. */
export const namedFrom = (path: string, pointer: string): string | undefined =>
  pointer.startsWith('/') || pointer.includes('\0')
    ? undefined
    : normal(`${path.slice(0, path.lastIndexOf('/') + 1)}${pointer}`);

/** A path without `.` and `..`; undefined for one that leads out. */
const normal = (path: string): string | undefined => {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.length === 0 ? undefined : parts.join('/');
};

/** The path of a file as another one names it. */
export const pathBetween = (from: string, to: string): string => {
  const there = to.split('/');
  const here = from.split('/').slice(0, -1);
  const differs = here.findIndex((part, at) => part !== there[at]);
  const shared = differs === -1 ? here.length : differs;
  return [...here.slice(shared).map(() => '..'), ...there.slice(shared)].join('/');
};

/** A document, and what is wrong with it. */
export interface Examined {
  readonly path: string;
  /** Undefined where it cannot be read. */
  readonly document: Document | undefined;
  readonly findings: readonly DocumentFinding[];
}

/** Looks whether a document is sound, and whether what it names is the other one. */
export const examine = (look: Look, kind: DocumentKind, path: string): Examined => {
  const alone = examineAlone(look, kind, path);
  const { document, findings } = alone;
  const isSound = findings.every(({ code }) => !code.startsWith('doc-') || code === 'doc-time');
  return document === undefined || !isSound
    ? alone
    : { ...alone, findings: [...findings, ...checkTarget(look, document, path)] };
};

/** The same without a look at the other one. */
export const examineAlone = (look: Look, kind: DocumentKind, path: string): Examined => {
  const text = openAt(look, path);
  if (text.ok) {
    const document = { kind, ...text.value };
    return { path, document, findings: checkRead(document, text.value) };
  }
  return {
    path,
    document: undefined,
    findings: [
      {
        code: `file-${codeOf(text.error)}`,
        line: null,
        text: `the ${kind.called} ${text.error.problem}`,
        remedy: remedies[codeOf(text.error)],
      },
    ],
  };
};

/** Why a file cannot be read. */
const codeOf = ({ isMissing, isNoFile = false }: Unread): keyof typeof remedies =>
  isMissing ? 'missing' : isNoFile ? 'in-the-way' : 'unreadable';

const remedies = {
  missing: 'name another file, or write it',
  'in-the-way': 'move away what lies there: it is to be a file',
  unreadable: 'make it a file of this project that can be read, in UTF-8',
} as const;

const checkTarget = (look: Look, document: Document, path: string): readonly DocumentFinding[] => {
  const { kind } = document;
  if (pointerOf(document) === undefined) return [];
  const other = kind === handover ? sessionState : handover;
  const finding = (code: string, text: string, remedy: string): readonly DocumentFinding[] => [
    { code, line: lineOfName(document, kind.pointer), text, remedy },
  ];
  const target = targetOf(look, document, path);
  const remedy = `write the path of the ${other.called}`;
  if (target === undefined) return finding('ptr-outside', 'it names a file outside of the documentation', remedy);
  const text = openAt(look, target);
  // What stands in a file that is none of the two is not told.
  if (!text.ok) {
    const named = `it names ${pathBetween(path, target)}, which ${text.error.problem}`;
    return text.error.isMissing
      ? finding('ptr-dangling', named, `bring it back, or ${remedy}`)
      : finding('ptr-unreadable', named, `put ${target} right`);
  }
  const named = text.value;
  if (named.conflict !== undefined)
    return finding(
      'ptr-conflict',
      `it names ${pathBetween(path, target)}, in which a merge has left a conflict`,
      `put ${target} right`,
    );
  if (rootHeading(named) !== other.root)
    return finding('ptr-wrong-kind', `it names ${pathBetween(path, target)}, which is no ${other.called}`, remedy);
  if (statusOf(named) !== statusOf(document))
    return finding(
      'ptr-status-mismatch',
      `Status mismatch: it is ${statusOf(document)} here, and ${statusOf(named) ?? 'none of the five'} in ${target}`,
      'make both say what is true',
    );
  return [];
};

/** What two documents say that are each sound, and not the same: a status, who updated them, who is next, when, each other. */
export const comparePair = (one: Examined, other: Examined): readonly DocumentFinding[] => {
  const [a, b] = [one.document, other.document];
  if (a === undefined || b === undefined || one.findings.length > 0 || other.findings.length > 0) return [];
  const same = (code: string, section: string): readonly DocumentFinding[] => {
    const [first, second] = [valueOf(a, section), valueOf(b, section)];
    return first === second
      ? []
      : [
          {
            code,
            line: lineOfName(a, section),
            text: `${section} is ${JSON.stringify(first)} in ${one.path} and ${JSON.stringify(second)} in ${other.path}`,
            remedy: 'make both say what is true',
          },
        ];
  };
  const points = (from: Examined, to: Examined): readonly DocumentFinding[] => {
    const wanted = pathBetween(from.path, to.path);
    const pointer = from.document === undefined ? undefined : pointerOf(from.document);
    const isLeftOut = pointer === undefined && from === one && statusOf(a) === 'done';
    return pointer === wanted || isLeftOut
      ? []
      : [
          {
            code: pointer === undefined ? 'pair-ptr-missing' : 'pair-ptr-value',
            line: null,
            text: `${from.path} names ${pointer ?? 'nothing'}`,
            remedy: `write ${wanted} there`,
          },
        ];
  };
  return [
    ...same('pair-status', 'Status'),
    ...same('pair-updated-by', 'Updated by'),
    ...same('pair-owner', 'Next owner'),
    ...same('pair-time', 'Last updated'),
    ...points(one, other),
    ...points(other, one),
  ];
};

/** The paths of a pair of which one or both are named; the other is the one that it points to. */
export const completePair = (
  look: Look,
  given: { readonly handover: string | undefined; readonly sessionState: string | undefined },
): Result<Pair, string> => {
  const { handover: transfer, sessionState: state } = given;
  const source = 'named';
  if (transfer !== undefined && state !== undefined) return ok({ handover: transfer, sessionState: state, source });
  const path = transfer ?? state;
  if (path === undefined) {
    const found = locatePair(look);
    if (found !== undefined) return ok(found);
    return err(isCurrentThere(look) ? `no handover goes with ${currentPath}` : `there is no pair in ${look.root}`);
  }
  const kind = transfer === undefined ? sessionState : handover;
  const text = look.read(path);
  if (!text.ok) return err(`${path} ${text.error.problem}`);
  const target = targetOf(look, readDocument(kind, text.value), path);
  if (target === undefined) return err(`${path} names no other document`);
  return ok(
    transfer === undefined
      ? { handover: target, sessionState: path, source }
      : { handover: path, sessionState: target, source },
  );
};

/** What the file of the lease says, as far as there is one. */
export const leaseIn = (look: Look, now: string): LeaseFile => {
  const text = look.read(leasePath);
  if (text.ok) return readLeaseFile(text.value, now, (path) => normal(path) === path && isThere(look, path));
  return text.error.isMissing ? noLease : { ...noLease, state: 'invalid', problems: [`it ${text.error.problem}`] };
};

/**
 * The pair that is worked on: what `CURRENT.md` names; else the first handover that names it; else the only handover without
 * a stamp; else the pair that was worked on last.
 */
export const locateLive = (look: Look): Pair | undefined => {
  if (!isCurrentThere(look)) return locatePair(look);
  const current = documentAt(look, sessionState, currentPath);
  const pair = (path: string, source: string): Pair => ({ handover: path, sessionState: currentPath, source });
  const target = current === undefined ? undefined : targetOf(look, current, currentPath);
  if (target !== undefined && isThere(look, target)) return pair(target, 'current-pointer');
  const names = look
    .list('handovers')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `handovers/${name}`)
    .toSorted();
  for (const path of names) {
    const document = documentAt(look, handover, path);
    if (document !== undefined && targetOf(look, document, path) === currentPath)
      return pair(path, 'back-pointer-scan');
  }
  const [only, ...others] = names.filter((path) => stampIn(path) === undefined);
  return only !== undefined && others.length === 0 ? pair(only, 'current-plus-single-live-handover') : locatePair(look);
};

/** The stamps that the documents in both folders have. */
export const stampsIn = ({ list }: Look): readonly string[] =>
  ['handovers', 'session-state'].flatMap((folder) => list(folder).flatMap((name) => stampIn(name) ?? []));

/** The first stamp from a minute on that is not taken: `YYYYMMDD_HHMM`, in UTC. */
export const nextStamp = (now: string, taken: readonly string[]): string => {
  const known = new Set(taken);
  for (let time = Date.parse(now); ; time += 60_000) {
    const stamp = new Date(time).toISOString().slice(0, 16).replace('T', '_').replaceAll(/[-:]/g, '');
    if (!known.has(stamp)) return stamp;
  }
};

/** What may be looked at, with other texts in some of its files; null takes a file away. */
export const withTexts = (look: Look, texts: ReadonlyMap<string, string | null>): Look => ({
  root: look.root,
  read: (path) => {
    const text = texts.get(path);
    if (text === undefined) return look.read(path);
    return text === null ? err({ problem: 'is not there', isMissing: true }) : ok(text);
  },
  list: (folder) => {
    const names = new Set(look.list(folder));
    for (const [path, text] of texts) {
      const at = path.lastIndexOf('/');
      if (path.slice(0, at) !== folder) continue;
      if (text === null) names.delete(path.slice(at + 1));
      else names.add(path.slice(at + 1));
    }
    return [...names].toSorted(compareNames);
  },
});
