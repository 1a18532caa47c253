import type { Documents, LookAtDocuments, SeenDocuments, TakenDocuments } from '../../kernel/documents.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import { truncate } from '../../lib/text.ts';
import {
  conflictIn,
  readSections,
  rootHeading,
  withBody,
  bodyLines,
  printSections,
  sidesIn,
  type Section,
  type Sections,
} from './sections.ts';
import { bodyOf, readDocument, valueOf, type DocumentKind } from './document.ts';
import { cleanDocument, digestOfDocument, isBlank } from './clean.ts';
import { mostBytes } from './look.ts';
import { mergeBodies } from './merge.ts';
import { halves, isSame, printHalf, printStanding, textIn, type Half } from './print.ts';
import { takeIn, type Bases, type Conflict } from './take-in.ts';

/** The documents of a session as they lie in the checkout, and what somebody has written in them since. */

/** A half of a pair as it was found. */
export interface FoundHalf {
  /** Its text without secrets; undefined where there is none that can be taken. */
  readonly text: string | undefined;
  /** Whether somebody has written in it since it was written here. */
  readonly isEdited: boolean;
  /** What the file is known by. */
  readonly digest?: string;
  /** Why nothing is taken from it, as a sentence. */
  readonly problem: string | undefined;
  /** Both sides of what a merge has left there, a line each. */
  readonly sides?: readonly string[];
}

/** What the verbs about documents are told. */
export interface SeenPair {
  readonly bases: Bases;
  readonly found: Readonly<Record<Half, FoundHalf>>;
  readonly conflicts: readonly Conflict[];
}

type Looking = Pick<World, 'store' | 'places' | 'project'>;

const nothing: FoundHalf = { text: undefined, isEdited: false, problem: undefined };

/** Looks at the documents of a session. */
export const lookAtDocuments =
  (world: Looking): LookAtDocuments =>
  async (session): Promise<SeenDocuments> => {
    const { documents } = session.common;
    if (documents === undefined) throw new Error(`${session.key} has no documents`);
    const bases = await basesOf(world, session);
    const found = {
      handover: await findHalf(world, session, 'handover', documents.handover, bases),
      session_state: await findHalf(world, session, 'session_state', documents.sessionState, bases),
    };
    const problems = [found.handover, found.session_state].flatMap(({ problem }) => problem ?? []);
    const left = (conflicts: readonly Conflict[] = []) => ({ bases, found, conflicts }) satisfies SeenPair;
    const edited = (['handover', 'session_state'] as const).filter((half) => found[half].isEdited);
    return {
      seq: documents.seq,
      isEdited: edited.length > 0,
      leave: (now) => ({ events: [], session: now, notes: [], problems, pair: left() }),
      takeIn: (now, origin): TakenDocuments => {
        if (edited.length === 0) return { events: [], session: now, notes: [], problems, pair: left() };
        const written = Object.fromEntries(edited.map((half) => [half, { text: found[half].text ?? '' }]));
        const taken = takeIn(
          now,
          bases,
          { written, origin: 'file', taken: edited.flatMap((half) => found[half].digest ?? []) },
          origin,
        );
        // Nothing is refused of what somebody has written: it is taken, or told.
        if (!taken.ok) throw new Error(taken.error.message);
        const { events, session: after, bases: newest, conflicts } = taken.value;
        return {
          events,
          session: after,
          notes: notesOf(documents, edited, conflicts, events.length > 0),
          problems,
          pair: { bases: newest, found, conflicts: events.length > 0 ? [] : conflicts } satisfies SeenPair,
        };
      },
    };
  };

/** Whether what somebody has written is more than other line ends, as a checkout makes them. */
export const isNews = (session: OpenedSession, { found, bases }: SeenPair): boolean => {
  const plain = (text: string): string => text.replaceAll('\r\n', '\n').replace(/^\uFEFF/, '');
  return (['handover', 'session_state'] as const).some((half) => {
    const { text, isEdited } = found[half];
    return isEdited && plain(text ?? '') !== plain(cleanDocument(printStanding(session, half, bases[half])));
  });
};

/** What is told of edits. */
const notesOf = (
  documents: Documents,
  edited: readonly Half[],
  conflicts: readonly Conflict[],
  isTaken: boolean,
): readonly string[] => {
  const names = edited.map((half) => `${documents.root}/${pathOf(documents, half) ?? ''}`).join(' and ');
  return [
    isTaken
      ? `what was written in ${names} was taken in`
      : `what was written in ${names} was not taken in: stint handoff reconcile`,
    ...conflicts.map(
      ({ section, written, stands, because }) =>
        `${section}: ${JSON.stringify(written)} was written, ${JSON.stringify(stands)} stands: ${because}`,
    ),
  ];
};

const pathOf = (documents: Documents, half: Half): string | null =>
  half === 'handover' ? documents.handover : documents.sessionState;

/** The newest texts that events hold. */
export const basesOf = async ({ store }: Pick<World, 'store'>, { key, common }: OpenedSession): Promise<Bases> => {
  const { handover = null, sessionState = null } = common.documents?.texts ?? {};
  const read = async (seq: number | null) => (seq === null ? undefined : store.event(key, seq));
  const one = await read(handover);
  // Mostly both were written at once.
  const other = sessionState === handover ? one : await read(sessionState);
  return { handover: one && textIn(one, 'handover'), session_state: other && textIn(other, 'session_state') };
};

const findHalf = async (
  world: Looking,
  session: OpenedSession,
  half: Half,
  path: string | null,
  bases: Bases,
): Promise<FoundHalf> => {
  const { documents, branch } = session.common;
  if (documents === undefined || path === null) return nothing;
  const { place, root, taken } = documents;
  const home = world.places.homeOf({ place, branch });
  // A checkout that is not here has its own documents, which are written there; and one that is gone has none.
  if (home.id !== place || home.isElsewhere === true) return nothing;
  const full = `${root}/${path}`;
  const read = (await world.project()).whole(home.root, full, mostBytes);
  const untaken = (problem: string): FoundHalf => ({ text: undefined, isEdited: false, problem });
  if (!read.ok) return read.error.isMissing ? nothing : untaken(`${full} ${read.error.problem}; it is left as it is`);
  const line = conflictIn(read.value);
  if (line !== undefined)
    return {
      ...untaken(`${full}:${line}: a merge has left a conflict; nothing is taken from it before that is solved`),
      sides: sidesIn(cleanDocument(read.value)).map(
        (one) => `${full}:${one.line}: ${shortly(one.ours)} or ${shortly(one.theirs)}`,
      ),
    };
  // An empty file says nothing that could be taken, or lost.
  if (isBlank(read.value)) return nothing;
  const text = cleanDocument(read.value);
  const kind = halves[half];
  if (rootHeading(readSections(text)) !== kind.root)
    return untaken(`${full} does not begin with "${kind.root}"; nothing is taken from it`);
  const digest = digestOfDocument(text);
  const isKnown = taken.includes(digest) || (await wasVersion(world, place, full, digest));
  if (isKnown) return { text, isEdited: false, problem: undefined };
  return { text: await onNewest(world, session, half, text, bases), isEdited: true, digest, problem: undefined };
};

const shortly = (text: string): string => JSON.stringify(truncate(text, 200));

/** That nothing can be written into documents from which nothing can be taken, with both sides of what a merge has left. */
export const refuseUntaken = (seen: SeenPair | undefined, what: string): Refusal | undefined => {
  const halvesFound = [seen?.found.session_state, seen?.found.handover];
  const problems = halvesFound.flatMap((half) => half?.problem ?? []);
  const sides = halvesFound.flatMap((half) => half?.sides ?? []);
  if (problems.length === 0) return undefined;
  return refuse(sides.length > 0 ? 'conflict' : 'invalid-input', `${what}: ${problems.join('; ')}.`, {
    expected: 'two documents that can be read',
    ...(sides.length === 0 ? {} : { faults: sides }),
    hint:
      sides.length === 0 ? 'stint handoff ready' : 'take one of the sides, or write what is true, then the same again',
  });
};

/** Whether a file was made or taken in, in its checkout or, brought by version control, in another one. */
export const wasVersion = async (
  { store }: Pick<World, 'store'>,
  place: string,
  path: string,
  digest: string,
): Promise<boolean> =>
  (await store.wasMirror(place, path, digest)) || (await store.versionOf(path, digest)) !== undefined;

/** Most events back among which the version is looked for that somebody has written over. */
const mostBack = 500;

/** What somebody has written over an older version, as if it had been written over the newest. */
const onNewest = async (
  { store }: Looking,
  session: OpenedSession,
  half: Half,
  text: string,
  bases: Bases,
): Promise<string> => {
  const kind = halves[half];
  const time = valueOf(readDocument(kind, text), 'Last updated');
  if (time >= session.common.updatedAt) return text;
  const event = (await store.events(session.key, { last: mostBack })).findLast(({ at }) => at === time);
  const older = event === undefined ? undefined : await store.load(session.key, event.seq);
  if (event === undefined || older?.common.documents === undefined) return text;
  const over = printHalf(older, half, event, (await basesOf({ store }, older))[half]);
  const newest = printStanding(session, half, bases[half]);
  return rebase(kind, cleanDocument(over), text, cleanDocument(newest));
};

/**
 * A text in which the sections that were changed from an older version are changed in the newest one. A section of one line
 * says what was written there.
 */
export const rebase = (kind: DocumentKind, over: string, text: string, newest: string): string => {
  const [before, own] = [readSections(over), readSections(text)];
  let document: Sections = readSections(newest);
  const added: Section[] = [];
  for (const section of own.sections) {
    const { name } = section;
    const [old, mine] = [bodyLines(bodyOf(before, name)), bodyLines(section.body)];
    if (isSame(old, mine)) continue;
    if (!document.sections.some((one) => one.name === name)) {
      added.push(section);
      continue;
    }
    const now = bodyLines(bodyOf(document, name));
    const isTaken = isSame(old, now) || kind.lines.includes(name);
    const changed = withBody(document, name, isTaken ? mine : mergeBodies({ before: old, own: mine, now }));
    if (changed.ok) document = changed.value;
  }
  return printSections({ ...document, sections: [...document.sections, ...added] });
};
