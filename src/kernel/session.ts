import { foldCommon, type Common } from './common.ts';
import { genesis, hashEvent, isKernelEvent, kernelEvents, type DecidedEvent, type StoredEvent } from './event.ts';
import type { Folded, Kind, Samples, Unreadable } from './kind.ts';
import type { Renewal } from './lease.ts';
import { foldProcess, processOf, type Process } from './process.ts';
import { viewOf, type View } from './view.ts';

/** A session as far as it is folded. Before its first event `common` is undefined. */
export interface Session {
  readonly key: string;
  readonly kind: Kind;
  readonly common: Common | undefined;
  readonly folded: Folded;
  /** Its processes as far as they were asked for, by id; a replay has all of them. */
  readonly processes: ReadonlyMap<string, Process>;
  /** What was renewed of its lease, under an empty name, and of its steps; loaded where it is held, or asked for. */
  readonly renewals: ReadonlyMap<string, Renewal>;
  /** Its newest samples by their names; loaded where they are asked for. */
  readonly samples: Samples;
  /** The hash of the newest event. */
  readonly hash: string;
  /** The first event that this program cannot fold; such a session is read, not written. */
  readonly unreadable: Unreadable | undefined;
}

/** A session that has been opened. */
export type OpenedSession = Session & { readonly common: Common };

/** Whether a session has been opened. */
export const isOpened = (session: Session): session is OpenedSession => session.common !== undefined;

/** A session before its first event. */
export const absentSession = (kind: Kind, key: string): Session => ({
  key,
  kind,
  common: undefined,
  folded: kind.empty,
  processes: new Map(),
  renewals: new Map(),
  samples: new Map(),
  hash: genesis,
  unreadable: undefined,
});

/** Folds an event that is stored. */
export const applyEvent = (session: Session, event: StoredEvent): OpenedSession => ({
  ...applyToKind(session, event),
  common: foldCommon(session.common, event),
  processes: applyToProcesses(session.processes, event),
  hash: event.hash,
});

const applyToProcesses = (processes: Session['processes'], event: StoredEvent): Session['processes'] => {
  const id = processOf(event);
  if (id === undefined) return processes;
  const process = foldProcess(processes.get(id), event);
  return process === undefined ? processes : new Map([...processes, [id, process]]);
};

/** Folds an event into the kind's state alone: for the tail of a snapshot, where the common state is known. */
export const applyToKind = (session: Session, event: StoredEvent): Session => {
  if (session.unreadable !== undefined) return session;
  if (isKernelEvent(event.type)) {
    if (event.v <= kernelEvents[event.type].v) return session;
    return { ...session, unreadable: { seq: event.seq, type: event.type, v: event.v, reason: 'newer' } };
  }
  const folded = session.folded.apply(event);
  return folded.ok ? { ...session, folded: folded.value } : { ...session, unreadable: folded.error };
};

/** The type and version of an event that this program does not know, from the types that a session holds. */
export const findUnknownType = (
  kind: Kind,
  common: Common,
): { readonly type: string; readonly v: number } | undefined => {
  for (const [type, v] of Object.entries(common.types)) {
    const known = isKernelEvent(type) ? kernelEvents[type].v : kind.eventVersions[type];
    if (known === undefined || v > known) return { type, v };
  }
  return undefined;
};

/** What an append needs to know of the request that caused it. */
export interface Origin {
  readonly now: string;
  readonly actor: string;
  readonly place: string;
  /** The request's id. */
  readonly cause: string;
}

/**
 * Appends what was decided: numbers, times, chains and folds each event. `at` never goes backwards within a session. What was
 * written in another store stays what it is.
 */
export const appendEvents = (
  session: Session,
  decided: readonly DecidedEvent[],
  origin: Origin,
): { readonly session: Session; readonly events: readonly StoredEvent[] } => {
  const events: StoredEvent[] = [];
  let after = session;
  for (const { type, v, data, happened, written } of decided) {
    const last = after.common;
    if (written !== undefined) {
      if (written.session !== session.key || written.seq !== (last?.seq ?? 0) + 1)
        throw new Error(`${session.key}: event ${written.seq} of another store does not follow`);
      events.push(written);
      after = applyEvent(after, written);
      continue;
    }
    const time = happened !== undefined && happened < origin.now ? happened : origin.now;
    const unhashed = {
      session: session.key,
      seq: (last?.seq ?? 0) + 1,
      type,
      v,
      at: last !== undefined && last.updatedAt > time ? last.updatedAt : time,
      actor: origin.actor,
      place: origin.place,
      cause: origin.cause,
      data,
    };
    const event = { ...unhashed, hash: hashEvent(after.hash, unhashed) };
    events.push(event);
    after = applyEvent(after, event);
  }
  return { session: after, events };
};

/** The view of an opened session. A session never changes, so its view is made once. */
export const viewOfSession = (session: OpenedSession): View => {
  const known = views.get(session);
  if (known !== undefined) return known;
  const view = viewOf(session.common, session.folded.view(session.common));
  views.set(session, view);
  return view;
};

const views = new WeakMap<OpenedSession, View>();
