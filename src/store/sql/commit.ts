import { isLifecycle, type DecidedEvent, type StoredEvent } from '../../kernel/event.ts';
import type { Kinds } from '../../kernel/kind.ts';
import type { CommitOutcome, CommitRequest, SessionRow } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { absentSession, appendEvents, isOpened, type OpenedSession, type Session } from '../../kernel/session.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { sessionToStored, type StoredSession } from '../rows.ts';
import type { Transaction } from './backend.ts';
import { insertEvents, selectEvent } from './events.ts';
import { changeRenewal } from './leases.ts';
import { kindOf, loadCommon, loadSession, withProcesses, withRenewals } from './load.ts';
import { recordMirrors } from './mirrors.ts';
import { beatProcess, recordProcesses } from './processes.ts';
import { insertRequest, selectRequest } from './requests.ts';
import { selectRows, upsertSession } from './sessions.ts';
import type { Work } from './work.ts';

/** One commit, as it is done while nobody else writes these sessions: recheck, load, decide, fold, write. */
export function* commit<Answer extends JsonObject>(
  kinds: Kinds,
  remake: (key: string) => Work<SessionRow>,
  request: CommitRequest<Answer>,
): Work<Transaction<Result<CommitOutcome<Answer>, Refusal>>> {
  const leave = (value: Result<CommitOutcome<Answer>, Refusal>) => ({ commit: false, value });

  const known = yield* selectRequest(request.request.id);
  if (known !== undefined) return leave(ok({ kind: 'known', request: known }));
  for (const { filter, keys } of request.guards) {
    const found = (yield* selectRows(filter, remake)).map((row) => row.key);
    if (found.toSorted().join() !== keys.toSorted().join()) return leave(ok({ kind: 'stale' }));
  }

  const before = new Map<string, Session>();
  const storedByKey = new Map<string, StoredSession>();
  for (const key of new Set(request.keys.toSorted())) {
    const kind = kindOf(kinds, key);
    const loaded = yield* request.journalOnly ? loadCommon(kind, key) : loadSession(kind, key);
    if (loaded !== undefined) storedByKey.set(key, loaded.stored);
    const session = loaded?.session ?? absentSession(kind, key);
    const renewed = yield* withRenewals(session, request.steps === true);
    before.set(key, request.processes === undefined ? renewed : yield* withProcesses(renewed, request.processes));
  }
  const stale = refuseRevision(before, request);
  if (stale !== undefined) return leave(err(stale));

  const decided = request.decide(before);
  if (!decided.ok) {
    const { record = [] } = decided.error;
    if (record.length === 0) return leave(decided);
    const appended = yield* writeRecord(before, storedByKey, request, record);
    return { commit: !request.dryRun, value: decided, appended };
  }

  const after = new Map<string, Session>(before);
  const appended = new Map<string, number>();
  for (const [key, events] of decided.value) {
    const session = before.get(key);
    if (session === undefined) throw new Error(`events were decided for ${key}, which was not loaded`);
    if (events.length === 0) continue;
    if (request.journalOnly && events.some(({ type }) => isLifecycle(type))) {
      throw new Error(`${key}: a decision from the common state alone may only append remarks`);
    }
    const { session: moved, events: stored } = appendEvents(session, events, request.origin);
    if (!isOpened(moved)) throw new Error(`${key} was not opened by its first event`);
    after.set(key, moved);
    appended.set(key, moved.common.seq);
    yield* writeSession(session, moved, storedByKey.get(key), stored);
  }
  const beside = request.beside?.(after) ?? [];
  for (const one of beside) {
    yield* 'process' in one
      ? beatProcess(one.process, one.heartbeatAt)
      : changeRenewal(one.session, one.step, one.renewal);
  }
  const answer = request.answer(after, before);
  const { given } = request.request;
  if (given) yield* insertRequest(request.request, request.origin.actor, answer, request.origin.now);
  const isSomething = appended.size > 0 || given || beside.length > 0;
  return { commit: isSomething && !request.dryRun, value: ok({ kind: 'committed', answer }), appended };
}

const refuseRevision = (
  before: ReadonlyMap<string, Session>,
  { keys, expectRevision }: CommitRequest<JsonObject>,
): Refusal | undefined => {
  const [key] = keys;
  if (expectRevision === undefined || key === undefined) return undefined;
  const revision = before.get(key)?.common?.revision ?? 0;
  if (revision === expectRevision) return undefined;
  return refuse('conflict', `${key} is at revision ${revision}, not ${expectRevision}: somebody else has moved it.`, {
    expected: `revision ${revision}`,
    hint: `stint status --session ${key}`,
  });
};

/** Puts on record what was refused: the state stays what it is, and the request may come again. */
function* writeRecord(
  before: ReadonlyMap<string, Session>,
  storedByKey: ReadonlyMap<string, StoredSession>,
  { keys, origin }: CommitRequest<JsonObject>,
  record: readonly DecidedEvent[],
): Work<ReadonlyMap<string, number>> {
  const [key = ''] = keys;
  const session = before.get(key);
  if (session === undefined || !isOpened(session)) throw new Error(`a refusal was to be put on record of no session`);
  if (record.some(({ type }) => isLifecycle(type))) throw new Error(`${key}: a refusal may only append remarks`);
  const { session: moved, events } = appendEvents(session, record, origin);
  if (!isOpened(moved)) throw new Error(`${key} was not opened by its first event`);
  yield* writeSession(session, moved, storedByKey.get(key), events);
  return new Map([[key, moved.common.seq]]);
}

function* writeSession(
  before: Session,
  after: OpenedSession,
  stored: StoredSession | undefined,
  events: readonly StoredEvent[],
): Work<void> {
  const texts = events.map((event) => ({ event, data: JSON.stringify(event.data) }));
  const moving = texts.filter(({ event }) => isLifecycle(event.type));
  const added = moving.length === 0 ? undefined : moving.reduce((total, { data }) => total + data.length, 0);
  yield* upsertSession(sessionToStored(after, stored, added), stored);
  yield* insertEvents(texts);
  yield* recordProcesses(after, events);
  if (moving.length === 0) return;
  const newBySeq = new Map(events.map((event) => [event.seq, event]));
  yield* recordMirrors(before, after, function* eventAt(seq) {
    return newBySeq.get(seq) ?? (yield* selectEvent(after.key, seq));
  });
}
