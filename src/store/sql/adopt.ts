import { hashEvent, isLifecycle, type StoredEvent } from '../../kernel/event.ts';
import { isOfDocuments } from '../../kernel/documents.ts';
import type { Kind, Kinds } from '../../kernel/kind.ts';
import type { Beside, StoredRequest } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { processOf } from '../../kernel/process.ts';
import { absentSession, applyEvent, isOpened, type Session } from '../../kernel/session.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { sessionToStored } from '../rows.ts';
import type { Transaction } from './backend.ts';
import { insertEvents, selectEvent } from './events.ts';
import { keepBeside } from './beside.ts';
import { loadSession, withProcesses } from './load.ts';
import { recordMirrors } from './mirrors.ts';
import { recordProcesses } from './processes.ts';
import { rowToRequest } from './requests.ts';
import { upsertSession } from './sessions.ts';
import { keepSnapshot } from './snapshots.ts';
import { all, get, run, type Work } from './work.ts';

/**
 * Takes events of a session as they are in another store, with their numbers and hashes: those that are here already must
 * be the same ones, and the others must follow. Answers how many were taken.
 */
export function* adoptEvents(
  kinds: Kinds,
  kind: Kind,
  key: string,
  events: readonly StoredEvent[],
  beside: readonly Beside[],
): Work<Transaction<Result<number, Refusal>>> {
  const leave = (refusal: Refusal) => ({ commit: false, value: err(refusal) });
  const loaded = yield* loadSession(kind, key);
  const known = loaded?.session.common.seq ?? 0;
  const first = events[0]?.seq ?? 1;
  // Of those that are here the newest one proves all before it.
  const newest = known < first ? undefined : yield* selectEvent(key, Math.min(known, events.at(-1)?.seq ?? 0));
  if (newest !== undefined && events[newest.seq - first]?.hash !== newest.hash)
    return leave(refuseOther(key, newest.seq));
  const fresh = events.filter(({ seq }) => seq > known);
  const named = fresh.flatMap((event) => processOf(event) ?? []);
  let session: Session = yield* withProcesses(loaded?.session ?? absentSession(kind, key), [...new Set(named)]);
  const moves: { readonly before: Session; readonly after: Session }[] = [];
  let size = 0;
  for (const event of fresh) {
    if (event.seq !== (session.common?.seq ?? 0) + 1 || hashEvent(session.hash, event) !== event.hash)
      return leave(refuseOther(key, event.seq));
    const before = session;
    session = applyEvent(session, event);
    const isMoved = isLifecycle(event.type);
    // Documents show every entry: the last of them is enough.
    const isShown = session.common?.documents !== undefined && event === fresh.at(-1);
    if (isMoved || isShown || isOfDocuments(event.type)) moves.push({ before, after: session });
    if (isMoved) size += JSON.stringify(event.data).length;
  }
  if (session.unreadable !== undefined)
    return leave(
      refuse('newer-version', `${key} holds the event ${session.unreadable.type}, which this program does not know.`, {
        hint: 'use the newer stint that wrote it',
      }),
    );
  if (!isOpened(session)) return leave(refuse('not-found', `${key} has no events.`));
  if (fresh.length > 0) {
    yield* upsertSession(sessionToStored(session), loaded?.stored);
    const { snapshot, tail } = loaded?.weight ?? { snapshot: 0, tail: 0 };
    if (size > 0) yield* keepSnapshot(session, { snapshot, tail: tail + size });
    yield* insertEvents(fresh.map((event) => ({ event, data: JSON.stringify(event.data) })));
    yield* recordProcesses(session, fresh);
    const bySeq = new Map(fresh.map((event) => [event.seq, event]));
    for (const { before, after } of moves) {
      if (isOpened(after))
        yield* recordMirrors(kinds, before, after, function* eventAt(seq) {
          return bySeq.get(seq) ?? (yield* selectEvent(key, seq));
        });
    }
  }
  for (const one of beside) yield* keepBeside(one);
  return {
    commit: fresh.length + beside.length > 0,
    value: ok(fresh.length),
    appended: new Map([[key, session.common.seq]]),
  };
}

/** Requests behind an id, in the order of their ids. */
export function* selectRequests(after: string | undefined, limit: number): Work<readonly StoredRequest[]> {
  const rows = yield* all(
    'SELECT id, verb, actor, digest, answer, at FROM request WHERE id > ? ORDER BY id LIMIT ?',
    after ?? '',
    limit,
  );
  return rows.map(rowToRequest);
}

/** Remembers requests as they were answered; one that is known stays what it is. */
export function* rememberRequests(requests: readonly StoredRequest[]): Work<void> {
  for (const { id, verb, actor, digest, answer, at } of requests) {
    yield* run(
      'INSERT INTO request (id, verb, actor, digest, answer, at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING',
      id,
      verb,
      actor,
      digest,
      JSON.stringify(answer),
      at,
    );
  }
}

/** Digests inputs with the secret of another store, as long as there is no session that was digested with its own. */
export function* adoptKey(key: string): Work<Transaction<boolean>> {
  const known = yield* get("SELECT value FROM meta WHERE key = 'key'");
  if (known?.['value'] === key) return { commit: false, value: true };
  if ((yield* get('SELECT key FROM session LIMIT 1')) !== undefined) return { commit: false, value: false };
  yield* run("UPDATE meta SET value = ? WHERE key = 'key'", key);
  return { commit: true, value: true };
}

const refuseOther = (key: string, seq: number): Refusal =>
  refuse('conflict', `${key} has gone on in another way there: event ${seq} is another one.`, {
    expected: 'no session of that name, or the beginning of the same one',
  });
