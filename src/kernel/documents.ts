import { isJsonObject } from '../lib/json.ts';
import type { Json } from '../lib/canonical-json.ts';
import { isLifecycle, type DecidedEvent, type StoredEvent } from './event.ts';
import type { Mirror } from './kind.ts';
import type { LeaseState } from './lease.ts';
import type { OpenedSession, Origin } from './session.ts';

/**
 * The documents of a hand-off, as the kernel knows them: a pair that describes a session, whatever its kind, where it is
 * worked on. People and other programs edit them; what they wrote is taken in by the next verb that writes the session.
 */

/** What is kept of documents with a session. */
export interface Documented {
  /** The pair that describes it now; undefined where none does. */
  readonly documents?: Documents | undefined;
  /** Where they lay before, where the file of a lease may have been left behind; undefined where none was. */
  readonly leftLease?: { readonly place: string; readonly root: string; readonly seq: number };
  /** The newest pairs that were archived of it, the oldest first. */
  readonly archivedPairs?: readonly ArchivedPair[];
}

/** A pair of documents. Paths are relative to `root`, with `/` between parts. */
export interface Documents {
  /** The id of the checkout that they lie in, and their root from the root of that. */
  readonly place: string;
  readonly root: string;
  /** Null where there is no handover yet. */
  readonly handover: string | null;
  readonly sessionState: string;
  /** The events that hold the newest text of each; null where what the session says is all there is. */
  readonly texts: { readonly handover: number | null; readonly sessionState: number | null };
  /** The digests of what was taken in last: such a file has nothing new. */
  readonly taken: readonly string[];
  /** The digests of what lay in their place and was nobody's here: it is kept beside. */
  readonly replaces: readonly string[];
  /** The newest event about them. */
  readonly seq: number;
  /** The newest event that they tell of. */
  readonly last: Pick<StoredEvent, 'seq' | 'at' | 'actor' | 'cause'>;
  /** The event since which the session is held, or is not held any more; null where it never was while they are there. */
  readonly leaseSeq: number | null;
  /** SHA-256 of the file of another program that the newest claim has taken the place of. */
  readonly leaseInstead: string | null;
}

/** A pair that was put by: it does not change any more. */
export interface ArchivedPair {
  readonly place: string;
  readonly root: string;
  /** The event that holds the texts. */
  readonly seq: number;
  readonly handover: string | null;
  readonly sessionState: string;
  /** The handover that stood in its place before, and says so; null where that is the archived one. */
  readonly superseded: string | null;
  /** The digests of what was taken in of its files until then. */
  readonly taken: readonly string[];
  /** Whether the session was held when it left the documents to another one: the file of its lease went with it. */
  readonly wasHeld: boolean;
}

/** Most archived pairs that are kept with a session. */
const mostArchived = 20;

/** The documents of a session as they were found before a commit. */
export interface SeenDocuments {
  /** The event about them that this was found behind. */
  readonly seq: number;
  /** Whether somebody has written in them, and what came of it is to be decided. */
  readonly isEdited: boolean;
  /** Pure: what was written in them becomes events, ahead of those of whoever writes the session. */
  readonly takeIn: (session: OpenedSession, origin: Origin) => TakenDocuments;
  /** Pure: what was written in them stays in the files. */
  readonly leave: (session: OpenedSession) => TakenDocuments;
}

/** What comes of documents that were written in. */
export interface TakenDocuments {
  readonly events: readonly DecidedEvent[];
  readonly session: OpenedSession;
  /** What the caller is told of it, a sentence each. */
  readonly notes: readonly string[];
  /** Why nothing is taken from a file, which is left as it is. */
  readonly problems: readonly string[];
  /** The texts, for the verbs about documents: nobody else knows what they are. */
  readonly pair: unknown;
}

/** Looks at the documents of a session. It is loaded where a session has some. */
export type LookAtDocuments = (session: OpenedSession) => Promise<SeenDocuments>;

/** Makes the files of documents of a session. It is loaded where a session has some. */
export type PrintDocuments = (session: OpenedSession) => readonly Mirror[];

/** Whether an event is about documents. */
export const isOfDocuments = (type: string): boolean => type === 'DocumentEdited' || type === 'PairArchived';

/** The files that an event says were taken in as they were, each with its digest. */
export const takenFiles = ({
  type,
  data,
}: StoredEvent): readonly { readonly place: string; readonly path: string; readonly digest: string }[] => {
  const taken = type === 'DocumentEdited' ? (textsIn(data['taken']) ?? []) : [];
  const [place, root] = [textIn(data['place']) ?? '', textIn(data['root']) ?? ''];
  return taken.flatMap((digest) =>
    [data['handover'], data['session_state']].flatMap((path) =>
      typeof path === 'string' ? [{ place, path: `${root}/${path}`, digest }] : [],
    ),
  );
};

/** Folds an event about documents: `DocumentEdited` or `PairArchived`. */
export const foldDocuments = (
  { documents, archivedPairs = [], lease }: Documented & Pick<LeaseState, 'lease'>,
  event: StoredEvent,
): Documented => {
  const { data, seq } = event;
  const where = { place: textIn(data['place']) ?? '', root: textIn(data['root']) ?? '' };
  const sessionState = textIn(data['session_state']) ?? '';
  const handover = textIn(data['handover']);
  if (event.type === 'PairArchived') {
    const isLeft = data['left'] === true;
    const superseded = textIn(data['superseded']);
    const { taken = [] } = documents ?? {};
    const pair = { ...where, seq, handover, sessionState, superseded, taken, wasHeld: isLeft && lease !== null };
    return {
      archivedPairs: [...archivedPairs, pair].slice(-mostArchived),
    };
  }
  const texts = isJsonObject(data['texts']) ? data['texts'] : {};
  const isSame = documents?.place === where.place && documents.root === where.root;
  const before = documents?.texts;
  const isMoved = documents !== undefined && !isSame && documents.leaseSeq !== null;
  return {
    ...(isMoved ? { leftLease: { place: documents.place, root: documents.root, seq } } : {}),
    documents: {
      ...where,
      handover,
      sessionState,
      texts: {
        handover: 'handover' in texts ? seq : (before?.handover ?? null),
        sessionState: 'session_state' in texts ? seq : (before?.sessionState ?? null),
      },
      taken: textsIn(data['taken']) ?? (isSame ? documents.taken : []),
      replaces: textsIn(data['replaces']) ?? [],
      seq,
      last: lastOf(event),
      // The file of a lease names the pair: with another one it is made anew.
      leaseSeq:
        isSame && (lease === null || handover === documents.handover)
          ? documents.leaseSeq
          : lease === null
            ? null
            : seq,
      leaseInstead: isSame ? documents.leaseInstead : null,
    },
  };
};

const lastOf = ({ seq, at, actor, cause }: StoredEvent): Documents['last'] => ({ seq, at, actor, cause });

/** The state behind an event, with what documents are to tell of it: the event itself, and since when somebody holds it. */
export const withDocumentsTold = <State extends Documented & Pick<LeaseState, 'lease'>>(
  before: Pick<LeaseState, 'lease'> | undefined,
  after: State,
  event: StoredEvent,
): State => {
  const { documents, ...others } = after;
  if (documents === undefined) return after;
  // Another session has them now.
  if (event.type === 'PairArchived' && event.data['left'] === true) return others as State;
  const isTold = isLifecycle(event.type) || told.has(event.type);
  if (!isTold && before?.lease === after.lease) return after;
  return {
    ...after,
    documents: {
      ...documents,
      ...(isTold ? { last: lastOf(event) } : {}),
      ...(before !== undefined && before.lease !== after.lease
        ? { leaseSeq: event.seq, leaseInstead: insteadIn(event) }
        : {}),
    },
  };
};

/** The digest of the file whose place a claim has taken. */
const insteadIn = ({ data }: StoredEvent): string | null => {
  const instead = data['instead_of'];
  return isJsonObject(instead) ? textIn(instead['file']) : null;
};

/** The events of the journal that documents tell of. */
const told: ReadonlySet<string> = new Set(['Noted', 'BlockerRaised', 'BlockerCleared', 'DocumentEdited']);

const textIn = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);

const textsIn = (value: Json | undefined): readonly string[] | undefined =>
  Array.isArray(value) ? value.map(String) : undefined;
