import {
  appendEvents,
  applyEvent,
  isOpened,
  absentSession,
  type OpenedSession,
  type Session,
} from '../../kernel/session.ts';
import { isLifecycle, type StoredEvent } from '../../kernel/event.ts';
import { decideCommand, decideSalvaged } from '../../kernel/lifecycle.ts';
import type { Kinds } from '../../kernel/kind.ts';
import { unknownKind } from '../../kernel/unknown-kind.ts';
import type { StoredRequest } from '../../kernel/ports.ts';
import { randomHex } from '../../lib/id.ts';
import { sessionToStored } from '../rows.ts';
import type { Database } from './database.ts';
import { insertEvents } from '../sql/events.ts';
import { rebuildProcesses } from '../sql/replayed-processes.ts';
import { insertRequest } from '../sql/requests.ts';
import type { SalvagedMirror } from './salvage/events.ts';
import { upsertSession } from '../sql/sessions.ts';
import { keepSnapshot } from '../sql/snapshots.ts';

/** What a store is made of that is made anew from remains. */
export interface RestoredStore {
  readonly identity: { readonly id: string | null; readonly key: string | null };
  readonly sessions: readonly RestoredSession[];
  readonly requests: readonly StoredRequest[];
  readonly mirrors: readonly SalvagedMirror[];
}

/** A session with its verified events. */
export interface RestoredSession {
  readonly key: string;
  readonly events: readonly StoredEvent[];
  /** What is not known of it; null where nothing is missing. */
  readonly flaw: string | null;
}

/** Fills an empty store, in one transaction. What is not known of a session is put on its record, or only shown with it. */
export const fillStore = (
  database: Database,
  kinds: Kinds,
  { identity, sessions, requests, mirrors }: RestoredStore,
  now: string,
  { onRecord = true } = {},
): void =>
  database.write(() => {
    database.run('DELETE FROM meta');
    database.run('INSERT INTO meta VALUES (?, ?)', 'id', identity.id ?? randomHex(16));
    database.run('INSERT INTO meta VALUES (?, ?)', 'key', identity.key ?? randomHex(32));
    const all: StoredEvent[] = [];
    for (const { key, events, flaw } of sessions) {
      const restored = restoreSession(kinds, { key, events, flaw }, onRecord ? now : undefined);
      if (restored === undefined) continue;
      const { session, added } = restored;
      const tail = [...events, ...added]
        .filter(({ type }) => isLifecycle(type))
        .reduce((total, { data }) => total + JSON.stringify(data).length, 0);
      database.do(upsertSession(sessionToStored(session), undefined));
      database.do(keepSnapshot(session, { snapshot: 0, tail }));
      database.do(rebuildProcesses(session));
      for (const event of [...events, ...added]) all.push(event);
    }
    // The numbers of events over all sessions follow the times, and within a session its own order.
    const ordered = all.toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1));
    database.do(insertEvents(ordered.map((event) => ({ event, data: JSON.stringify(event.data) }))));
    for (const request of requests)
      database.do(insertRequest({ ...request, given: true }, request.actor, request.answer, request.at));
    for (const { session, place, path, source, digest, at } of mirrors) {
      if (!sessions.some(({ key }) => key === session)) continue;
      // Whether the file is right shows at the next look at it.
      database.run(
        'INSERT INTO mirror (session, place, path, source, digest, at) VALUES (?, ?, ?, ?, ?, ?)',
        session,
        place,
        path,
        source,
        digest,
        at,
      );
    }
    return { commit: true, value: undefined };
  });

/** The session of those events; with a time, what is not known of it becomes an event of then. */
const restoreSession = (
  kinds: Kinds,
  { key, events, flaw }: RestoredSession,
  now: string | undefined,
): { readonly session: OpenedSession; readonly added: readonly StoredEvent[] } | undefined => {
  const name = key.slice(0, key.indexOf(':'));
  let session: Session = absentSession(kinds.get(name) ?? unknownKind(name), key);
  for (const event of events) session = applyEvent(session, event);
  if (!isOpened(session)) return undefined;
  if (flaw === null) return { session, added: [] };
  if (now === undefined) return { session: { ...session, common: { ...session.common, flaw } }, added: [] };
  const origin = { now, actor: 'stint doctor', place: session.common.place, cause: 'salvage' };
  const added: StoredEvent[] = [];
  const append = (decided: ReturnType<typeof decideSalvaged>): void => {
    if (!decided.ok) throw new Error(decided.error.message);
    const appended = appendEvents(session, decided.value, origin);
    ({ session } = appended);
    for (const event of appended.events) added.push(event);
  };
  const { common, folded, unreadable } = session;
  // Who has got a step since is not known: no attempt from before counts any more.
  const running = unreadable !== undefined || common.status === 'closed' ? [] : (folded.steps?.running() ?? []);
  for (const { id, attempt } of running)
    append(decideCommand(session, { type: 'interrupt-step', step: id, attempt, because: 'salvaged' }));
  append(decideSalvaged(session, flaw));
  return isOpened(session) ? { session, added } : undefined;
};
