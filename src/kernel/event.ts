import { canonicalJson, type JsonObject } from '../lib/canonical-json.ts';
import { sha256 } from '../lib/sha256.ts';

/** An immutable fact in a session's log. */
export interface StoredEvent extends NewEvent {
  /** The session's key, `<kind>:<name>`. */
  readonly session: string;
  /** 1, 2, 3, ... within the session, without gaps. */
  readonly seq: number;
  /** UTC, RFC 3339, milliseconds; never goes backwards within a session. */
  readonly at: string;
  readonly actor: string;
  /** The id of the place (checkout) in which it was caused. */
  readonly place: string;
  /** The id of the request that caused it. */
  readonly cause: string;
  /** Hex SHA-256 over the previous event's hash and this event. */
  readonly hash: string;
}

/** An event as a decision returns it: the facts of the request are added when it is appended. */
export interface NewEvent {
  /** Past tense, for example `RoundCompleted`. */
  readonly type: string;
  /** The version of the shape of `data`. */
  readonly v: number;
  readonly data: JsonObject;
}

/** An event as it is decided: what an import took over happened at its own time. */
export interface DecidedEvent extends NewEvent {
  /** When it happened, where that is not now: UTC, RFC 3339, milliseconds. A later time than now counts as now. */
  readonly happened?: string;
  /** The event as it was written in another store, where it is taken over with its number, time and hash: `decideLog` proves it. */
  readonly written?: StoredEvent;
}

/**
 * The kernel's own events, the same for every kind. Those that are no lifecycle (remarks, documents, keys in files, results
 * that came too late, leases, and what processes do) do not move the revision.
 */
export const kernelEvents = {
  SessionOpened: { v: 1, lifecycle: true },
  SessionPaused: { v: 1, lifecycle: true },
  SessionResumed: { v: 1, lifecycle: true },
  SessionClosed: { v: 1, lifecycle: true },
  SessionReopened: { v: 1, lifecycle: true },
  SessionArchived: { v: 1, lifecycle: true },
  SessionUnarchived: { v: 1, lifecycle: true },
  Imported: { v: 1, lifecycle: true },
  Noted: { v: 2, lifecycle: false },
  BlockerRaised: { v: 1, lifecycle: false },
  BlockerCleared: { v: 1, lifecycle: false },
  DocumentEdited: { v: 1, lifecycle: false },
  PairArchived: { v: 1, lifecycle: false },
  ResultRefused: { v: 1, lifecycle: false },
  KeysAdded: { v: 1, lifecycle: false },
  ProcessStarted: { v: 1, lifecycle: false },
  ProcessBound: { v: 1, lifecycle: false },
  ProcessEnded: { v: 1, lifecycle: false },
  LeaseClaimed: { v: 1, lifecycle: false },
  LeaseReleased: { v: 1, lifecycle: false },
  LeaseLost: { v: 1, lifecycle: false },
  Salvaged: { v: 1, lifecycle: false },
  BundleTaken: { v: 1, lifecycle: false },
} as const satisfies Record<string, { v: number; lifecycle: boolean }>;

/** An event of the kernel, in its newest version. */
export const kernelEvent = (type: keyof typeof kernelEvents, data: JsonObject): NewEvent => ({
  type,
  v: kernelEvents[type].v,
  data,
});

/** Whether a type belongs to the kernel. */
export const isKernelEvent = (type: string): type is keyof typeof kernelEvents => Object.hasOwn(kernelEvents, type);

/** Whether an event moves the revision; every event of a kind does. */
export const isLifecycle = (type: string): boolean => !isKernelEvent(type) || kernelEvents[type].lifecycle;

/** What the first event of a session is chained to. */
export const genesis = '';

/**
 * The hash of an event: `sha256(previous hash, newline, canonical JSON of the event without its hash)`, canonical as RFC
 * 8785, so that the order of keys and the layout of numbers do not matter.
 */
export const hashEvent = (previous: string, event: Omit<StoredEvent, 'hash'>): string =>
  sha256(
    `${previous}\n${canonicalJson({
      session: event.session,
      seq: event.seq,
      type: event.type,
      v: event.v,
      at: event.at,
      actor: event.actor,
      place: event.place,
      cause: event.cause,
      data: event.data,
    })}`,
  );
