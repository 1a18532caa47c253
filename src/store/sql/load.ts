import { hashEvent, isLifecycle } from '../../kernel/event.ts';
import type { Kind, Kinds } from '../../kernel/kind.ts';
import { StoreFailure, type ReadSession, type SessionRow } from '../../kernel/ports.ts';
import { refuse } from '../../kernel/refusal.ts';
import {
  absentSession,
  applyEvent,
  applyToKind,
  isOpened,
  viewOfSession,
  type OpenedSession,
  type Session,
} from '../../kernel/session.ts';
import {
  isIntact,
  parseCommon,
  sessionToRead,
  storedToRead,
  storedToSession,
  unreadableOf,
  type StoredSession,
  type Weight,
} from '../rows.ts';
import type { Cache, Folded } from './cache.ts';
import { brokenChain, eachEvent } from './events.ts';
import { selectRenewals } from './leases.ts';
import { selectProcesses } from './processes.ts';
import { selectSamples } from './samples.ts';
import { selectSession } from './sessions.ts';
import { selectSnapshot } from './snapshots.ts';
import { get, type Work } from './work.ts';

/** The kind of a session; one that is not known was written by a newer program. */
export const kindOf = (kinds: Kinds, key: string): Kind => {
  const kind = kinds.get(key.slice(0, key.indexOf(':')));
  if (kind !== undefined) return kind;
  throw new StoreFailure(
    refuse('newer-version', `${key} is of a kind that this program does not know.`, {
      expected: `one of ${[...kinds.keys()].join(', ')}`,
      hint: 'use the newer stint that wrote it',
    }),
  );
};

/** A session with its row. */
export interface Loaded {
  readonly session: OpenedSession;
  readonly stored: StoredSession;
  /** What its state was folded from; undefined where it was not. */
  readonly weight: Weight | undefined;
}

/** A session with its row: from its projections where they are intact, else replayed from its events. */
export function* loadSession(
  kind: Kind,
  key: string,
  { until, cache }: { readonly until?: number | undefined; readonly cache?: Cache } = {},
): Work<Loaded | undefined> {
  const stored = yield* selectSession(key);
  if (stored === undefined) return undefined;
  if (until === undefined && isIntact(stored, kind)) {
    const known = cache?.find(stored, kind);
    if (known !== undefined) return known;
    const folded = yield* foldTail(kind, stored);
    if (folded !== undefined) {
      cache?.keep(folded);
      return folded;
    }
  }
  const replayed = yield* replay(kind, key, { until });
  if (replayed === undefined || (until !== undefined && replayed.session.common.seq !== until)) return undefined;
  return { session: replayed.session, stored, weight: { snapshot: 0, tail: replayed.size } };
}

/** A session from its intact row, its snapshot and the events behind it; undefined where they do not lead to its view. */
function* foldTail(kind: Kind, stored: StoredSession): Work<Folded | undefined> {
  const { key } = stored;
  const { session: base, after, weight } = storedToSession(stored, yield* selectSnapshot(key), kind);
  let session = base;
  let tail = 0;
  yield* eachEvent(key, { lifecycleOnly: true, after }, (event, size) => {
    session = applyToKind(session, event);
    tail += size;
  });
  // The events of the tail are not hashed here: that they lead to the view that was stored proves what counts of them.
  if (!isOpened(session) || session.unreadable !== undefined) return undefined;
  if (JSON.stringify(viewOfSession(session)) !== stored.view) return undefined;
  const unreadable = yield* locate(key, unreadableOf(kind, session.common));
  return { session: { ...session, unreadable }, stored, weight: { snapshot: weight, tail } };
}

/** A session with its common state alone, where its row is intact; its kind's state is not folded. */
export function* loadCommon(kind: Kind, key: string): Work<Loaded | undefined> {
  const stored = yield* selectSession(key);
  if (stored === undefined || !isIntact(stored, kind)) return yield* loadSession(kind, key);
  const common = parseCommon(stored);
  const unreadable = yield* locate(key, unreadableOf(kind, common));
  return { session: { ...absentSession(kind, key), common, hash: stored.hash, unreadable }, stored, weight: undefined };
}

/** A session folded from its events alone, each proved by its hash, and the size of those that move it. */
export interface Replayed {
  readonly session: OpenedSession;
  readonly size: number;
}

/** Replays a session; `pass` sees it after each event. */
export function* replay(
  kind: Kind,
  key: string,
  { until, pass }: { readonly until?: number | undefined; readonly pass?: (session: OpenedSession) => void } = {},
): Work<Replayed | undefined> {
  let session: Session = absentSession(kind, key);
  let size = 0;
  yield* eachEvent(key, until === undefined ? {} : { until }, (event, weight) => {
    const next = (session.common?.seq ?? 0) + 1;
    if (event.seq !== next) throw brokenChain(key, next, 'is missing');
    if (hashEvent(session.hash, event) !== event.hash) throw brokenChain(key, next, 'differs from its hash');
    const after = applyEvent(session, event);
    pass?.(after);
    session = after;
    if (isLifecycle(event.type)) size += weight;
  });
  return isOpened(session) ? { session, size } : undefined;
}

/** A session as it is read. */
export function* readSession(kinds: Kinds, key: string, until?: number): Work<ReadSession | undefined> {
  if (until === undefined) {
    const stored = yield* selectSession(key);
    if (stored === undefined) return undefined;
    const kind = kinds.get(stored.kind);
    // A kind that is not known shows what its own program made of it.
    if (kind === undefined) return storedToRead(stored, { seq: stored.seq, type: stored.kind, v: 0, reason: 'newer' });
    if (isIntact(stored, kind))
      return storedToRead(stored, yield* locate(key, unreadableOf(kind, parseCommon(stored))));
  }
  const loaded = yield* loadSession(kindOf(kinds, key), key, { until });
  return loaded === undefined ? undefined : sessionToRead(loaded.session);
}

/** A row whose columns were damaged, made anew from its events. */
export function* remakeRow(kinds: Kinds, name: string, key: string): Work<SessionRow> {
  const replayed = yield* replay(kindOf(kinds, key), key);
  if (replayed !== undefined) return sessionToRead(replayed.session).row;
  throw new StoreFailure(refuse('damaged', `The row of ${key} in ${name} was damaged.`, { hint: 'stint doctor' }));
}

/** A session with its processes that run, and with those that are named. */
export function* withProcesses(session: Session, named: readonly string[]): Work<Session> {
  const processes = [...(yield* selectProcesses({ session: session.key, running: true }))];
  for (const id of named) processes.push(...(yield* selectProcesses({ id, session: session.key })));
  return { ...session, processes: new Map(processes.map((process) => [process.id, process])) };
}

/** A session with what was renewed of its lease and its steps. Nobody asks for it where it is not held. */
export function* withRenewals(session: Session, steps: boolean): Work<Session> {
  return steps || (session.common?.lease ?? null) !== null
    ? { ...session, renewals: yield* selectRenewals(session.key) }
    : session;
}

/** A session with its newest samples. */
export function* withSamples(session: Session): Work<Session> {
  return { ...session, samples: yield* selectSamples(session.key) };
}

/** What makes a session unreadable, with the seq of the first event of that type and version. */
function* locate(key: string, unreadable: Session['unreadable']): Work<Session['unreadable']> {
  if (unreadable === undefined) return undefined;
  const row = yield* get(
    'SELECT min(seq) AS seq FROM event WHERE session = ? AND type = ? AND v = ?',
    key,
    unreadable.type,
    unreadable.v,
  );
  return { ...unreadable, seq: Number(row?.['seq'] ?? 0) };
}
