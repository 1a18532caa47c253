import type { Json, JsonObject } from '../lib/canonical-json.ts';
import { isJsonObject } from '../lib/json.ts';
import { foldDocuments, withDocumentsTold, type Documented } from './documents.ts';
import { isLifecycle, type StoredEvent } from './event.ts';
import { foldJournal, type Journal } from './journal.ts';
import { foldLease, type LeaseState } from './lease.ts';

/** How a session was closed. */
export type Outcome = 'completed' | 'failed' | 'aborted';

/** What the kernel folds for every kind, from all events of a session. */
export interface Common extends LeaseState, Documented {
  /** `<kind>:<name>`. */
  readonly key: string;
  readonly kind: string;
  readonly name: string;
  readonly status: 'active' | 'closed';
  /** Null while it is active. */
  readonly outcome: Outcome | null;
  /** Why it was closed, where somebody said so. */
  readonly reason: string | null;
  /** The branch that it is about; null without one. */
  readonly branch: string | null;
  /** The id of the place it was opened in. */
  readonly place: string;
  /** The name of that place's worktree. */
  readonly worktree: string;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly closedAt: string | null;
  /** Since when nothing is begun any more, by whom and why; null where it goes on. */
  readonly pause: Pause | null;
  /** Who went on with it last; undefined where nobody did since this is kept. */
  readonly resumed?: Resumed;
  /** Since when its folder lies in the archive; null where it does not. */
  readonly archivedAt: string | null;
  /** The seq of the event that put it into the archive, or took it out again; 0 where it was never there. */
  readonly folderSeq: number;
  /** The seq of its newest event. */
  readonly seq: number;
  /** The seq of its newest lifecycle event: what `--expect-revision` compares. */
  readonly revision: number;
  /** When that was. */
  readonly movedAt: string;
  /** What it is to come to, where somebody said so. */
  readonly goal: string | null;
  /** What was written down beside the work; undefined before anything was. */
  readonly journal?: Journal;
  /** How many entries its journal holds. */
  readonly notes: number;
  /** When whoever worked on it was lost, a process or another system; null since it moved or another process started. */
  readonly interruptedAt: string | null;
  /** What is not known of it since it was saved from a damaged store; null where nothing is missing. */
  readonly flaw: string | null;
  /** Where it was taken over from, and how far. */
  readonly imported: ImportMark | null;
  /** What other programs have added to its file; undefined before any has. */
  readonly added?: { readonly event: number; readonly keys: AddedKeys };
  /** The types of its events, each with the newest version that occurs: tells whether a program knows them all. */
  readonly types: Readonly<Record<string, number>>;
}

/** A session that somebody has told to stop. */
export interface Pause {
  readonly at: string;
  readonly actor: string;
  readonly reason: string | null;
}

/** That somebody went on with a session, and what was checked out then. */
export interface Resumed {
  readonly at: string;
  readonly actor: string;
  /** The id of the place that it was resumed from. */
  readonly place: string;
  /** The id of the request; what else it caused belongs to it. */
  readonly cause: string;
  /** The number of the event that says so, and of the last one of its request. */
  readonly event: number;
  readonly until: number;
  /** The root of the session's checkout, its branch and its commit; null where that was not known. */
  readonly root: string | null;
  readonly branch: string | null;
  readonly head: string | null;
}

/** What an import took over. */
export interface ImportMark {
  /** What tells the source from others. */
  readonly source: string;
  /** The number of the newest event of the source. */
  readonly taken: number;
  /** The revision that the import left behind: at another one the session has gone on by itself. */
  readonly revision: number;
  /** What of the source was lost, as sentences, the first of them; undefined where it was whole. */
  readonly lost?: readonly string[];
}

/** Keys of other programs, by the parts of the file that they stand in; which parts there are is its kind's to say. */
export type AddedKeys = Readonly<Record<string, JsonObject>>;

/** Keys with more of them, of one key the newer value. */
export const joinKeys = (some: AddedKeys, more: AddedKeys): AddedKeys =>
  Object.fromEntries(
    [...new Set([...Object.keys(some), ...Object.keys(more)])].map((part) => [
      part,
      { ...ownOf(some, part), ...ownOf(more, part) },
    ]),
  );

const ownOf = (keys: AddedKeys, part: string): JsonObject => (Object.hasOwn(keys, part) ? (keys[part] ?? {}) : {});

/** Most sentences that are kept of what was lost. */
const mostLost = 20;

/** Whether a session is as it was taken over: nothing has happened to it here. */
export const isAsImported = ({ imported, revision }: Pick<Common, 'imported' | 'revision'>): boolean =>
  imported?.revision === revision;

/** Folds one event; the first one is `SessionOpened`. */
export const foldCommon = (before: Common | undefined, event: StoredEvent): Common =>
  withDocumentsTold(before, foldEvent(before, event), event);

const foldEvent = (before: Common | undefined, event: StoredEvent): Common => {
  const colon = event.session.indexOf(':');
  const common: Common = {
    ...(before ?? {
      key: event.session,
      kind: event.session.slice(0, colon),
      name: event.session.slice(colon + 1),
      status: 'active',
      outcome: null,
      reason: null,
      branch: textOf(event.data, 'branch'),
      place: event.place,
      worktree: textOf(event.data, 'worktree') ?? 'main',
      startedAt: event.at,
      closedAt: null,
      pause: null,
      archivedAt: null,
      folderSeq: 0,
      revision: 0,
      movedAt: event.at,
      goal: textOf(event.data, 'goal'),
      notes: 0,
      interruptedAt: null,
      flaw: null,
      lease: null,
      token: 0,
      imported: null,
      types: {},
    }),
    updatedAt: event.at,
    seq: event.seq,
    types: withType(before?.types ?? {}, event),
    ...(before?.resumed?.cause === event.cause ? { resumed: { ...before.resumed, until: event.seq } } : {}),
  };
  const moved = isLifecycle(event.type)
    ? { ...common, revision: event.seq, movedAt: event.at, interruptedAt: null, flaw: null }
    : common;
  switch (event.type) {
    case 'SessionClosed':
      return {
        ...moved,
        status: 'closed',
        outcome: outcomeOf(event.data),
        reason: textOf(event.data, 'reason'),
        closedAt: event.at,
        pause: null,
        // Who closes it has no use for it any more; nobody else could.
        lease: null,
      };
    case 'SessionReopened':
      return { ...moved, status: 'active', outcome: null, reason: null, closedAt: null };
    case 'SessionPaused':
      return { ...moved, pause: { at: event.at, actor: event.actor, reason: textOf(event.data, 'reason') } };
    case 'SessionResumed':
      // What is not known of it is not known any better now.
      return { ...moved, pause: null, flaw: common.flaw, resumed: resumedBy(event) };
    case 'SessionArchived':
      return { ...moved, archivedAt: event.at, folderSeq: event.seq };
    case 'SessionUnarchived':
      return { ...moved, archivedAt: null, folderSeq: event.seq };
    case 'Noted':
      return { ...moved, notes: moved.notes + 1, journal: foldJournal(moved.journal, event) };
    case 'BlockerRaised':
    case 'BlockerCleared':
      return { ...moved, journal: foldJournal(moved.journal, event) };
    case 'DocumentEdited':
    case 'PairArchived':
      return { ...moved, goal: textOf(event.data, 'goal') ?? moved.goal, ...foldDocuments(moved, event) };
    case 'KeysAdded':
      return { ...moved, added: { event: event.seq, keys: joinKeys(moved.added?.keys ?? {}, keysIn(event.data)) } };
    case 'ProcessStarted':
      return { ...moved, interruptedAt: null };
    case 'ProcessEnded':
      return { ...moved, ...foldLease(moved, event), interruptedAt: interruptedBy(moved, event) };
    case 'LeaseClaimed':
    case 'LeaseReleased':
    case 'LeaseLost':
      return { ...moved, ...foldLease(moved, event) };
    case 'Salvaged':
      return { ...moved, ...foldLease(moved, event), flaw: textOf(event.data, 'lost') };
    case 'Imported':
      return {
        ...moved,
        interruptedAt: textOf(event.data, 'interrupted_at'),
        imported: {
          source: textOf(event.data, 'source') ?? '',
          taken: Number(event.data['taken'] ?? 0),
          revision: event.seq,
          ...lostIn(event.data['lost']),
        },
      };
    default:
      return moved;
  }
};

const keysIn = ({ keys = {} }: JsonObject): AddedKeys =>
  isJsonObject(keys)
    ? Object.fromEntries(Object.entries(keys).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1])))
    : {};

const lostIn = (lost: Json | undefined): Pick<ImportMark, 'lost'> =>
  Array.isArray(lost) ? { lost: lost.slice(0, mostLost).map(String) } : {};

const resumedBy = ({ at, actor, place, cause, seq, data }: StoredEvent): Resumed => ({
  at,
  actor,
  place,
  cause,
  event: seq,
  until: seq,
  root: textOf(data, 'root'),
  branch: textOf(data, 'branch'),
  head: textOf(data, 'head'),
});

/** When a process was lost that worked on a session, after one more has ended. */
const interruptedBy = ({ status, interruptedAt }: Common, { at, data }: StoredEvent): string | null => {
  const outcome = textOf(data, 'outcome');
  // Who was found dead, or gone with its supervisor, was lost when it was last heard of.
  const heardOfAt = textOf(data, 'heard_of_at');
  const isLost = outcome === 'orphaned' || outcome === 'crashed' || heardOfAt !== null;
  if (!isLost || status === 'closed') return interruptedAt;
  const lostAt = heardOfAt ?? at;
  return interruptedAt !== null && interruptedAt > lostAt ? interruptedAt : lostAt;
};

const withType = (types: Common['types'], { type, v }: StoredEvent): Common['types'] =>
  (types[type] ?? 0) >= v ? types : { ...types, [type]: v };

const textOf = (data: JsonObject, key: string): string | null => {
  const value = data[key];
  return typeof value === 'string' ? value : null;
};

const outcomeOf = (data: JsonObject): Outcome => {
  const value = data['outcome'];
  return value === 'completed' || value === 'failed' ? value : 'aborted';
};
