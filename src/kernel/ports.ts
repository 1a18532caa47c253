import type { Json, JsonObject } from '../lib/canonical-json.ts';
import type { Result } from '../lib/result.ts';
import type { Common } from './common.ts';
import type { Cursor, Position } from './cursor.ts';
import type { DecidedEvent, StoredEvent } from './event.ts';
import type { Unreadable } from './kind.ts';
import type { Claim, Renewal } from './lease.ts';
import type { Process } from './process.ts';
import type { Refusal } from './refusal.ts';
import type { OpenedSession, Origin, Session } from './session.ts';
import type { View } from './view.ts';

/** The columns of a session: what lists and resolution read, without folding anything. */
export interface SessionRow {
  readonly key: string;
  readonly kind: string;
  readonly name: string;
  readonly status: 'active' | 'closed';
  readonly outcome: string | null;
  readonly branch: string | null;
  readonly place: string;
  readonly worktree: string;
  readonly position: string;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly closedAt: string | null;
  /** Since when it is paused, and since when it lies in the archive; null where it is, or does, not. */
  readonly pausedAt: string | null;
  readonly archivedAt: string | null;
  readonly seq: number;
  readonly revision: number;
  /** When a process was lost that worked on it; null since it moved or another process started. */
  readonly interruptedAt: string | null;
  /** What is not known of it since it was saved from a damaged store; null where nothing is missing. */
  readonly flaw: string | null;
  /** Who holds it, also when the claim has expired since; null where nobody does. */
  readonly lease: Claim | null;
}

/** Which processes are meant; every given field must hold. */
export interface ProcessFilter {
  readonly id?: string;
  readonly session?: string;
  readonly running?: true;
}

/** Which rows are meant; every given field must hold. */
export interface RowFilter {
  /** Look at every row instead of trusting an index. */
  readonly thorough?: true;
  readonly kind?: string;
  readonly name?: string;
  readonly namePrefix?: string;
  readonly status?: 'active' | 'closed';
  /** Null: those without a branch. */
  readonly branch?: string | null;
}

/** What was observed of the store before the transaction, to be rechecked inside it: exactly these rows match. */
export interface Guard {
  readonly filter: RowFilter;
  readonly keys: readonly string[];
}

/** What is kept beside the log: it comes too often for events, and a store that is made anew does without. */
export type Beside =
  /** When a running process was last heard of; it does not go back. */
  | { readonly process: string; readonly heartbeatAt: string }
  /** What was renewed of the claim of a step, or of the session itself, where the step is empty; null forgets it. */
  | { readonly session: string; readonly step: string; readonly renewal: Renewal | null }
  /** A value that comes too often for events, in the place of the one before of that name; null forgets it. */
  | { readonly session: string; readonly sample: string; readonly value: JsonObject | null };

/** What a commit is asked to do. */
export interface CommitRequest<Answer extends JsonObject> {
  /** The sessions to lock, sorted by the store, and to load. */
  readonly keys: readonly string[];
  readonly guards: readonly Guard[];
  readonly origin: Origin;
  readonly request: NewRequest;
  /**
   * Whether the decision looks at the common state alone. It may then append journal events only, and the sessions are
   * loaded without folding their kinds' states.
   */
  readonly journalOnly: boolean;
  /** Whether the decision looks at processes: those that run are loaded, and those that are named here. */
  readonly processes?: readonly string[] | undefined;
  /** Whether the decision looks at what was renewed of steps; of a session that is held it is loaded anyway. */
  readonly steps?: boolean | undefined;
  /** Pure: what is kept with it beside the log. */
  readonly beside?: ((after: ReadonlyMap<string, Session>) => readonly Beside[]) | undefined;
  /** The revision that the first of `keys` must have. */
  readonly expectRevision: number | undefined;
  /** Do everything but commit. */
  readonly dryRun: boolean;
  /** Pure: events for each session, or a refusal. It may run again when a backend has to retry. */
  readonly decide: (
    sessions: ReadonlyMap<string, Session>,
  ) => Result<ReadonlyMap<string, readonly DecidedEvent[]>, Refusal>;
  /** Pure: what the caller gets; stored with the request. */
  readonly answer: (after: ReadonlyMap<string, Session>, before: ReadonlyMap<string, Session>) => Answer;
}

/** What marks a request as the same one when it comes again. */
export interface RequestMark {
  readonly id: string;
  readonly verb: string;
  /** Keyed digest of the raw input. */
  readonly digest: string;
}

/** A request as it comes. Only one whose id the caller gave is remembered: no other can come again. */
export interface NewRequest extends RequestMark {
  readonly given: boolean;
}

/** A request that was carried out. */
export interface StoredRequest extends RequestMark {
  readonly actor: string;
  readonly at: string;
  readonly answer: JsonObject;
}

/** What became of a commit. */
export type CommitOutcome<Answer extends JsonObject> =
  | { readonly kind: 'committed'; readonly answer: Answer }
  | { readonly kind: 'known'; readonly request: StoredRequest }
  /** A guard does not hold any more: look again and decide anew. */
  | { readonly kind: 'stale' };

/** Which events of a session are meant. */
export interface EventQuery {
  readonly lifecycleOnly?: boolean;
  /** Only those of these types. */
  readonly types?: readonly string[];
  /** Only those with a seq above this one. */
  readonly after?: number;
  /** Only those with a seq up to this one. */
  readonly until?: number;
  /** Only the newest so many. */
  readonly last?: number;
  /** Only the oldest so many. */
  readonly first?: number;
}

/** Events of one session that somebody wants to read on from where he stands. */
export interface Stretch {
  readonly session: string;
  readonly from: Position;
  /** The last of them. */
  readonly until: number;
}

/** What was read of several stretches: each in its order, one session after the other. */
export interface ReadOn {
  readonly events: readonly StoredEvent[];
  /**
   * Behind these events comes a session whose events are not those that were read before: a repair made it anew, or it is
   * another one. `salvaged` is its first event that says so; null where none does.
   */
  readonly strayed: { readonly session: string; readonly salvaged: number | null } | undefined;
}

/** A session as it is read: its columns and its view; `unreadable` where this program cannot fold all of it. */
export interface ReadSession {
  readonly row: SessionRow;
  readonly common: Pick<Common, 'goal' | 'reason' | 'pause' | 'notes' | 'journal'>;
  readonly view: View;
  readonly unreadable: Unreadable | undefined;
}

/** The digest of a mirror whose file is to be gone. */
export const goneDigest = '';

/** The stamp of a mirror whose file is gone, or was never there. */
export const leftStamp = 'left';

/** The newest version that was made of a mirror. */
export interface MirrorRecord {
  readonly session: string;
  readonly place: string;
  readonly path: string;
  /** The seq of the event it was made from. */
  readonly source: number;
  /** SHA-256 of its content; empty where the file is to be gone. */
  readonly digest: string;
  /** What the file looked like from outside when it was last known to be right; null until it was written, or left. */
  readonly stamp: string | null;
}

/** The file of a mirror: looked at and written by whoever has its turn. */
export interface MirrorFile {
  /** What it looks like from outside; null where there is no regular file. */
  readonly stamp: () => string | null;
  /** SHA-256 of its content; null where there is no file. Asked for where the stamp does not tell. */
  readonly digest: () => string | null;
  /** Brings it up to date; `wasMade`: what was found is a version that was made of it. Answers its stamp then. */
  readonly write: (found: string | null, wasMade: boolean) => string | null;
  /** Whether it is one of the files of documents: these describe one session after the other, and are under version control. */
  readonly isDocument?: true;
}

/**
 * What the world around the store did to it: locked, full, read-only, damaged. It can happen at any statement, so it is
 * thrown, and made a refusal again where a verb is run.
 */
export class StoreFailure extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal, cause?: unknown) {
    super(refusal.message, { cause });
    this.refusal = refusal;
  }
}

/** A finding of `doctor`. */
export interface Finding {
  readonly subject: string;
  readonly problem: string;
  readonly fix: string | null;
  /** Whether the events or the file itself are damaged, so that making projections anew is not enough. */
  readonly isDamage?: boolean;
}

/** What is left of a damaged store. */
export interface Damage {
  /** What is wrong with it. */
  readonly refusal: Refusal;
  /** The sessions that can be read, with what is not known of them. */
  readonly sessions: readonly {
    readonly key: string;
    readonly events: number;
    readonly flaw: string | null;
    readonly source: string;
  }[];
  /** The sessions of which there are traces only. */
  readonly lost: readonly string[];
}

/** Looking after the store itself. */
export interface Care {
  /** Set where the store cannot be used as it is, and what is read is what could be saved of it. */
  readonly damage: Damage | undefined;
  /** Whether an earlier repair was interrupted. */
  readonly wasInterrupted: () => boolean;
  /** Makes the store anew from what is left, unless somebody else was faster; answers the store that is sound now. */
  readonly repair: () => Promise<{
    readonly store: Store;
    /** Undefined where nothing was damaged any more. */
    readonly done:
      | {
          readonly damage: Damage;
          /** Where the damaged files are kept; null where there were none. */
          readonly kept: string | null;
        }
      | undefined;
  }>;
}

/**
 * Where sessions are kept. Every promise of this interface is tested by one suite (`store/contract.ts`). The methods are
 * asynchronous so that a server can stand behind them.
 */
export interface Store {
  /** What a person calls it: a path or an address without secrets. */
  readonly name: string;
  /** The store's own id and the secret with which inputs are digested. */
  readonly identity: { readonly id: string; readonly key: string };
  /** Why nothing may be written, where that is so. */
  readonly readOnly: Refusal | undefined;
  readonly recall: (requestId: string) => Promise<StoredRequest | undefined>;
  readonly commit: <Answer extends JsonObject>(
    request: CommitRequest<Answer>,
  ) => Promise<Result<CommitOutcome<Answer>, Refusal>>;
  readonly rows: (filter: RowFilter) => Promise<readonly SessionRow[]>;
  /** The session at its newest event, or at the newest one with a seq up to `until`. */
  readonly read: (key: string, until?: number) => Promise<ReadSession | undefined>;
  /** The session folded to its newest event, or to the newest one with a seq up to `until`. */
  readonly load: (key: string, until?: number) => Promise<OpenedSession | undefined>;
  readonly events: (key: string, query: EventQuery) => Promise<readonly StoredEvent[]>;
  readonly event: (key: string, seq: number) => Promise<StoredEvent | undefined>;
  /** Tells cheaply whether it is worth looking: it is another text whenever something was committed since. */
  readonly stamp: () => Promise<string>;
  /** Where the newest event of each session is; of those that are named, and are there, or of all. */
  readonly heads: (sessions: readonly string[] | undefined) => Promise<Cursor>;
  /**
   * Reads stretches from the first one on, until it is enough for once: about so many events, at least one. What was read
   * ends where the next call begins, within a stretch perhaps.
   */
  readonly readOn: (stretches: readonly Stretch[], enough: number) => Promise<ReadOn>;
  /** The newest record of each mirror of these sessions, and of every mirror that was not written yet. */
  readonly mirrors: (sessions: readonly string[]) => Promise<readonly MirrorRecord[]>;
  /** The newest record of the file at a path of a checkout, whichever session it is of. */
  readonly mirrorAt: (place: string, path: string) => Promise<MirrorRecord | undefined>;
  /** Whether a version of a mirror with that digest was ever made. */
  readonly wasMirror: (place: string, path: string, digest: string) => Promise<boolean>;
  /**
   * The session of which the file at that path was a version with that digest, in whichever checkout: version control carries
   * files from one to the other. The newest of several; undefined where there is none.
   */
  readonly versionOf: (path: string, digest: string) => Promise<string | undefined>;
  /**
   * Looks at the file of a mirror and writes it while nobody else writes it, if the record is still the newest; keeps the
   * stamp that it has then. Answers whether it was. Who does not `wait` gives up where somebody else is writing.
   */
  readonly settleMirror: (record: MirrorRecord, file: MirrorFile, wait: boolean) => Promise<boolean>;
  /** Makes rows, views and mirror records anew from the events of a session; answers whether anything differed. */
  readonly rebuild: (key: string) => Promise<Result<boolean, Refusal>>;
  /** The keys of sessions whose events are there, but whose row is not. */
  readonly orphans: () => Promise<readonly string[]>;
  /** Verifies the store itself and the chain and projections of every session. */
  readonly verify: () => Promise<readonly Finding[]>;
  /** Processes, those started first first. */
  readonly processes: (filter: ProcessFilter) => Promise<readonly Process[]>;
  /** What was renewed of the lease of a session, under an empty name, and of its steps. */
  readonly renewals: (key: string) => Promise<ReadonlyMap<string, Renewal>>;
  /** The newest samples of a session, by their names. */
  readonly samples: (key: string) => Promise<ReadonlyMap<string, JsonObject>>;
  /** Counts a write that was refused because the session is held; where that cannot be written it is not counted. */
  readonly countRefusal: (key: string, at: string) => Promise<void>;
  /** How many writes were refused since the session was claimed, and when the last one. */
  readonly refusals: (key: string) => Promise<{ readonly count: number; readonly at: string | null }>;
  /**
   * Takes events of a session over as they are in another store, with what is kept beside them; answers how many were not
   * here yet. Refused where the session has other events here.
   */
  readonly adopt: (
    key: string,
    events: readonly StoredEvent[],
    beside: readonly Beside[],
  ) => Promise<Result<number, Refusal>>;
  /** Requests that are remembered, those behind an id, in the order of their ids. */
  readonly requests: (after: string | undefined, limit: number) => Promise<readonly StoredRequest[]>;
  /** Remembers requests that another store has answered; one that is known here stays what it is. */
  readonly remember: (requests: readonly StoredRequest[]) => Promise<void>;
  /** Digests inputs with the secret of another store, as long as there is no session; answers whether it does. To be opened anew then. */
  readonly adoptKey: (key: string) => Promise<boolean>;
  /** Writes a copy of everything into a new file; answers whether this backend does. */
  readonly copyTo: (path: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** Who calls, from where, and how the call is to be treated. */
export interface Caller {
  readonly actor: string;
  /** The session named by the environment. */
  readonly session: string | undefined;
  /** The id of the process that acts, where it names itself. */
  readonly process: string | undefined;
  /** The id of the agent's own conversation; null where it has none. */
  readonly agent: string | null;
  /** The name of the user on this machine; asked for only where somebody holds a session. */
  readonly user: () => string;
  /** The lease token that the caller shows. */
  readonly leaseToken: number | undefined;
  /** Whether a lease of somebody else is taken over, on the record. */
  readonly takeOver: boolean;
  /** The time of the call: UTC, RFC 3339, milliseconds. */
  readonly now: string;
  readonly freshId: () => string;
  readonly requestId: string | undefined;
  readonly expectRevision: number | undefined;
  readonly dryRun: boolean;
  readonly redact: boolean;
}

/** The checkouts of this project on this machine. */
export interface Places {
  /** The checkout of the caller. Its id is made when something is written for the first time; before it is null. */
  readonly here: Place;
  /** The id of this place, made where there was none. */
  readonly claim: () => Result<string, Refusal>;
  /**
   * The checkout that a session belongs to: its own, else that of its branch, else the main one. Where a store is shared by
   * several machines, one that is not known here is elsewhere.
   */
  readonly homeOf: (session: { readonly place: string; readonly branch: string | null }) => Place;
}

/** One checkout. */
export interface Place {
  readonly id: string | null;
  readonly root: string;
  readonly worktree: string;
  readonly branch: string | null;
  /** What a session without a branch is named after: the folder. */
  readonly label: string;
  /** Set where it is not on this machine: nothing is known of its files, and none of them is written. */
  readonly isElsewhere?: true;
}

/** What verbs may ask of the file system. */
export interface Files {
  /** Size and SHA-256 of a file below a folder; undefined where there is none, or where it leads out of the folder. */
  readonly digest: (folder: string, path: string) => { readonly size: number; readonly sha256: string } | undefined;
  /** The names of the files in a folder, sorted with numbers by value; none where there is no such folder. */
  readonly list: (folder: string) => readonly string[];
  readonly exists: (path: string) => boolean;
  /** The text of a file of at most `limit` bytes; null where it is larger, no file, or cannot be read. */
  readonly read: (path: string, limit: number) => string | null;
}

/** Why a file was not read: `problem` completes a sentence that begins with its name. */
export interface Unread {
  readonly problem: string;
  readonly isMissing: boolean;
  /** Whether something else than a file lies there. */
  readonly isNoFile?: boolean;
}

/** What bytes are, and how they end. */
export interface Digested {
  readonly sha256: string;
  readonly size: number;
  /** The end of them as text, from the beginning of a line where that is near. */
  readonly tail: string;
  /** How many of its first characters are there only so that a secret which begins among them is seen whole: none is kept. */
  readonly lead: number;
}

/** What became of a program that was run to its end. */
export interface ProgramEnd {
  /** Where a signal ended it: 128 and the number of that; where it took too long: 124. */
  readonly exitCode: number;
  readonly timedOut: boolean;
  readonly endedAt: string;
  /** What it wrote on both of its streams, in the order in which it came. */
  readonly output: Digested;
}

/**
 * Runs a program for the caller, where he is, with nothing on its standard input; refused where it cannot be started. After
 * so many milliseconds it is stopped, with everything that it has started.
 */
export type RunProgram = (
  command: readonly string[],
  timeout: number | undefined,
) => Promise<Result<ProgramEnd, Refusal>>;

/** A payload: its parsed JSON after redaction, and the keyed digest of what was given. */
export interface Payload {
  readonly json: Json;
  readonly digest: string;
}
