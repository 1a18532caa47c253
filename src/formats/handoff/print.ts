import type { ArchivedPair, Documents, PrintDocuments } from '../../kernel/documents.ts';
import type { StoredEvent } from '../../kernel/event.ts';
import type { Mirror } from '../../kernel/kind.ts';
import { goneDigest } from '../../kernel/ports.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import { isJsonObject } from '../../lib/json.ts';
import { digestOfDocument } from './clean.ts';
import { handover, sessionState, type DocumentKind } from './document.ts';
import { bodiesOf, pairFieldsOf, type Mark } from './fields.ts';
import { printLease } from './lease-file.ts';
import { addBodies, mergeBodies } from './merge.ts';
import { bodyLines, printSections, readSections, withBody, type Sections } from './sections.ts';
import { isNone } from './values.ts';
import { leasePath, pathBetween } from './workspace.ts';

/** The documents of a session: what is made of it, and of what people wrote into them. */

/** A text of a document as an event holds it. */
export interface DocumentText {
  readonly text: string;
  /** The sections that did not say what the session said then, with what that was. */
  readonly differs: Readonly<Record<string, string>>;
  /** Who wrote it and when, where that was said with it. */
  readonly mark: Pick<Mark, 'updatedAt' | 'updatedBy'> | undefined;
  /** The request that it came with. */
  readonly cause: string;
}

/** The halves of a pair, as events name them. */
export const halves = { handover, session_state: sessionState } as const;
export type Half = keyof typeof halves;

/** The text of one half that an event holds; undefined where it holds none. */
export const textIn = ({ data, cause }: Pick<StoredEvent, 'data' | 'cause'>, half: Half): DocumentText | undefined => {
  const texts = data['texts'];
  const said = isJsonObject(texts) ? texts[half] : undefined;
  if (!isJsonObject(said) || typeof said['text'] !== 'string') return undefined;
  const { updated_at: at, updated_by: by } = data;
  const differs = isJsonObject(said['differs']) ? said['differs'] : {};
  return {
    text: said['text'],
    differs: Object.fromEntries(
      Object.entries(differs).flatMap(([name, body]) => (typeof body === 'string' ? [[name, body]] : [])),
    ),
    mark: typeof at === 'string' && typeof by === 'string' ? { updatedAt: at, updatedBy: by } : undefined,
    cause,
  };
};

/** Sections that say what the session says, whatever stands there. */
const owned: ReadonlySet<string> = new Set(['Status', 'Last updated', 'Updated by', 'Next owner']);

/** Sections of what is left to do: where a session does not take steps from its documents they follow from its work. */
const steps: ReadonlySet<string> = new Set(['Remaining steps', 'Remaining work']);

/** A document as it is to be now: the text that was written last, with what has changed since in its sections, and no others. */
export const printDocument = (
  kind: DocumentKind,
  session: OpenedSession,
  base: DocumentText | undefined,
  mark: Mark,
): string => {
  const bodies = bodiesOf(kind, pairFieldsOf(session), mark);
  if (base === undefined) return freshDocument(kind, bodies);
  let document: Sections = readSections(base.text);
  for (const [name, now] of bodies) {
    const section = document.sections.findLast((one) => one.name === name);
    if (section === undefined) continue;
    const own = bodyLines(section.body);
    const said = base.differs[name];
    const lines = { own, before: said === undefined ? own : bodyLines(said), now };
    const isFollowed = session.folded.handoff === undefined && steps.has(name);
    const wanted = isFollowed ? addBodies(lines) : wantedLines(kind, name, lines);
    if (isSame(own, wanted)) continue;
    const changed = withBody(document, name, wanted);
    if (changed.ok) document = changed.value;
  }
  return printSections(document);
};

const wantedLines = (
  kind: DocumentKind,
  name: string,
  lines: { readonly own: readonly string[]; readonly before: readonly string[]; readonly now: readonly string[] },
): readonly string[] => {
  const { own, before, now } = lines;
  if (isSame(own, now)) return own;
  if (owned.has(name) || name === kind.pointer) return isSameValue(own, now) ? own : now;
  if (isSame(now, before)) return own;
  if (isSame(own, before) || kind.lines.includes(name)) return now;
  return mergeBodies(lines);
};

/** A document that nobody has written in. */
export const freshDocument = (kind: DocumentKind, bodies: ReadonlyMap<string, readonly string[]>): string =>
  `${kind.root}\n\n${kind.sections.map((name) => `## ${name}\n${(bodies.get(name) ?? ['- None']).join('\n')}\n`).join('\n')}`;

/** Whether two bodies are the same, line by line. */
export const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((line, at) => line === b[at]);

/** Whether a line says the value already, with a mark of a list, backticks or a link around it. */
const isSameValue = ([own = '']: readonly string[], [now = '']: readonly string[]): boolean => {
  const value = own
    .trim()
    .replace(/^- /, '')
    .replace(/^`(.*)`$/, '$1');
  return value === now || (isNone(value) && isNone(now));
};

/** Where the two halves of a pair lie, from the root. */
export interface PairPaths {
  readonly handover: string | null;
  readonly sessionState: string;
}

/** The path to the other half, as one half names it; a handover of what is done names none. */
export const pointerFrom = (half: Half, { handover: transfer, sessionState: state }: PairPaths): string | null => {
  if (transfer === null) return null;
  return half === 'handover' ? pathBetween(transfer, state) : pathBetween(state, transfer);
};

/** Makes the mirrors of the documents of a session. */
export const printDocuments: PrintDocuments = (session) => {
  const { documents, leftLease, archivedPairs = [] } = session.common;
  const mirrors = new Map<string, Mirror>();
  const all = [
    ...archivedPairs.flatMap(archivedMirrors),
    ...(leftLease === undefined ? [] : [goneLease(leftLease.place, leftLease.root, leftLease.seq)]),
    ...(documents === undefined ? [] : liveMirrors(session, documents)),
  ];
  // Of several that were put under one path the newest is there.
  for (const mirror of all) {
    const at = `${mirror.place} ${mirror.path}`;
    mirrors.delete(at);
    mirrors.set(at, mirror);
  }
  return [...mirrors.values()];
};

const liveMirrors = (session: OpenedSession, documents: Documents): readonly Mirror[] => {
  const { place, root, taken, replaces, last } = documents;
  const mirror = (half: Half, path: string, text: number | null): Mirror => ({
    path: `${root}/${path}`,
    place,
    source: last.seq,
    ...(text === null ? {} : { others: [text] }),
    document: { digestOf: digestOfDocument, taken, replaces, isFixed: false },
    render: (event, written) =>
      printHalf(session, half, event, written === undefined ? undefined : textIn(written, half)),
  });
  return [
    // The pair is committed by the file that is written last.
    ...(documents.handover === null ? [] : [mirror('handover', documents.handover, documents.texts.handover)]),
    mirror('session_state', documents.sessionState, documents.texts.sessionState),
    ...leaseMirror(session, documents),
  ];
};

/** One half of the pair of a session, with the newest event that it tells of. */
export const printHalf = (
  session: OpenedSession,
  half: Half,
  { at, actor, cause }: Pick<StoredEvent, 'at' | 'actor' | 'cause'>,
  written: DocumentText | undefined,
): string => {
  const { documents } = session.common;
  if (documents === undefined) throw new Error(`${session.key} has no documents`);
  const said = written?.cause === cause ? written.mark : undefined;
  const status = session.common.outcome === 'completed' && half === 'handover' ? 'done' : undefined;
  return printDocument(halves[half], session, written, {
    updatedAt: said?.updatedAt ?? at,
    updatedBy: said?.updatedBy ?? actor,
    pointer: status === 'done' ? null : pointerFrom(half, documents),
  });
};

/** One half as it stands. */
export const printStanding = (session: OpenedSession, half: Half, written: DocumentText | undefined): string => {
  const { documents } = session.common;
  if (documents === undefined) throw new Error(`${session.key} has no documents`);
  return printHalf(session, half, documents.last, written);
};

/** The file of the lease: there while somebody holds the session. */
const leaseMirror = (
  { common: { lease } }: OpenedSession,
  { place, root, handover: transfer, sessionState: state, leaseSeq, leaseInstead: replaces }: Documents,
): readonly Mirror[] => {
  // Nobody held it here; version control may have brought what was written elsewhere.
  if (leaseSeq === null) return [goneLease(place, root, 1)];
  const path = `${root}/${leasePath}`;
  return [
    lease === null
      ? goneLease(place, root, leaseSeq)
      : {
          path,
          place,
          source: leaseSeq,
          replaces,
          render: () => printLease(lease, { handover: transfer, sessionState: state }),
        },
  ];
};

const goneLease = (place: string, root: string, source: number): Mirror => ({
  path: `${root}/${leasePath}`,
  place,
  source,
  isGone: true,
  render: () => goneDigest,
});

/** The files of the pair that an event has put by. */
export const archivedMirrorsOf = ({ seq, data }: Pick<StoredEvent, 'seq' | 'data'>): readonly Mirror[] => {
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return archivedMirrors({
    place: text(data['place']) ?? '',
    root: text(data['root']) ?? '',
    seq,
    handover: text(data['handover']),
    sessionState: text(data['session_state']) ?? '',
    superseded: text(data['superseded']),
    taken: [],
    wasHeld: false,
  });
};

/** The files of a pair that was archived, made from the texts that its event holds. */
const archivedMirrors = (pair: ArchivedPair): readonly Mirror[] => {
  const { place, root, seq, handover: transfer, sessionState: state, superseded, taken, wasHeld } = pair;
  const mirror = (half: Half, path: string): Mirror => ({
    path: `${root}/${path}`,
    place,
    source: seq,
    document: { digestOf: digestOfDocument, taken, isFixed: true },
    render: (event) => textIn(event, half)?.text ?? '',
  });
  return [
    ...(transfer === null ? [] : [mirror('handover', transfer)]),
    mirror('session_state', state),
    ...(superseded === null ? [] : [mirror('handover', superseded)]),
    ...(wasHeld ? [goneLease(place, root, seq)] : []),
  ];
};
