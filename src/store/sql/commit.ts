import { isLifecycle, type DecidedEvent, type StoredEvent } from '../../kernel/event.ts';
import type { Kinds } from '../../kernel/kind.ts';
import type { CommitOutcome, CommitRequest, SessionRow } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { absentSession, appendEvents, isOpened, type OpenedSession, type Session } from '../../kernel/session.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { sessionToStored } from '../rows.ts';
import type { Transaction } from './backend.ts';
import type { Cache, Folded } from './cache.ts';
import { insertEvents, selectEvent } from './events.ts';
import { keepBeside } from './beside.ts';
import { kindOf, loadCommon, loadSession, withProcesses, withRenewals, withSamples, type Loaded } from './load.ts';
import { recordMirrors, recordTaken } from './mirrors.ts';
import { recordProcesses } from './processes.ts';
import { insertRequest, selectRequest } from './requests.ts';
import { selectRows, upsertSession } from './sessions.ts';
import { keepSnapshot } from './snapshots.ts';
import type { Work } from './work.ts';

/** What a commit comes to, and the sessions that it leaves as they are folded then. */
type Committed<Answer extends JsonObject> = Transaction<Result<CommitOutcome<Answer>, Refusal>> & {
  readonly folded?: readonly Folded[];
};

/** One commit, as it is done while nobody else writes these sessions: recheck, load, decide, fold, write. */
export function* commit<Answer extends JsonObject>(
  kinds: Kinds,
  remake: (key: string) => Work<SessionRow>,
  cache: Cache,
  request: CommitRequest<Answer>,
): Work<Committed<Answer>> {
  const leave = (value: Result<CommitOutcome<Answer>, Refusal>) => ({ commit: false, value });

  // One that was not given is fresh: nobody knows it.
  const known = request.request.given ? yield* selectRequest(request.request.id) : undefined;
  if (known !== undefined) return leave(ok({ kind: 'known', request: known }));
  for (const { filter, keys } of request.guards) {
    const found = (yield* selectRows(filter, remake)).map((row) => row.key);
    if (found.toSorted().join() !== keys.toSorted().join()) return leave(ok({ kind: 'stale' }));
  }

  const before = new Map<string, Session>();
  const loadedByKey = new Map<string, Loaded>();
  for (const key of new Set(request.keys.toSorted())) {
    const kind = kindOf(kinds, key);
    const isSeen = request.journalOnly && !kind.mirrorsJournal;
    const seen = isSeen ? yield* loadCommon(kind, key) : undefined;
    // Its documents tell what stands in the journal.
    const isEnough = seen !== undefined && seen.session.common?.documents === undefined;
    const loaded = isEnough ? seen : yield* loadSession(kind, key, { cache });
    if (loaded !== undefined) loadedByKey.set(key, loaded);
    const session = loaded?.session ?? absentSession(kind, key);
    const renewed = yield* withRenewals(session, request.steps === true);
    const sampled = kind.isSampled ? yield* withSamples(renewed) : renewed;
    before.set(key, request.processes === undefined ? sampled : yield* withProcesses(sampled, request.processes));
  }
  const stale = refuseRevision(before, request);
  if (stale !== undefined) return leave(err(stale));

  const decided = request.decide(before);
  if (!decided.ok) {
    const { record = [] } = decided.error;
    if (record.length === 0) return leave(decided);
    const { newest, folded } = yield* writeRecord(kinds, before, loadedByKey, cache, request, record);
    return {
      commit: !request.dryRun,
      value: decided,
      appended: new Map([[newest.session, newest.seq]]),
      newest,
      folded,
    };
  }

  const after = new Map<string, Session>(before);
  const appended = new Map<string, number>();
  const folded: Folded[] = [];
  let newest: Transaction<unknown>['newest'];
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
    newest = { session: key, seq: moved.common.seq, hash: moved.hash };
    folded.push(...(yield* writeSession(kinds, session, moved, loadedByKey.get(key), cache, stored)));
  }
  const beside = request.beside?.(after) ?? [];
  for (const one of beside) yield* keepBeside(one);
  const answer = request.answer(after, before);
  const { given } = request.request;
  if (given) yield* insertRequest(request.request, request.origin.actor, answer, request.origin.now);
  const isSomething = appended.size > 0 || given || beside.length > 0;
  return { commit: isSomething && !request.dryRun, value: ok({ kind: 'committed', answer }), appended, newest, folded };
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
  kinds: Kinds,
  before: ReadonlyMap<string, Session>,
  loadedByKey: ReadonlyMap<string, Loaded>,
  cache: Cache,
  { keys, origin }: CommitRequest<JsonObject>,
  record: readonly DecidedEvent[],
): Work<{
  readonly newest: NonNullable<Transaction<unknown>['newest']>;
  readonly folded: readonly Folded[];
}> {
  const [key = ''] = keys;
  const session = before.get(key);
  if (session === undefined || !isOpened(session)) throw new Error(`a refusal was to be put on record of no session`);
  if (record.some(({ type }) => isLifecycle(type))) throw new Error(`${key}: a refusal may only append remarks`);
  const { session: moved, events } = appendEvents(session, record, origin);
  if (!isOpened(moved)) throw new Error(`${key} was not opened by its first event`);
  const folded = yield* writeSession(kinds, session, moved, loadedByKey.get(key), cache, events);
  return { newest: { session: key, seq: moved.common.seq, hash: moved.hash }, folded };
}

/** Writes what a session has come to; answers it as it is folded then, where that is known. */
function* writeSession(
  kinds: Kinds,
  before: Session,
  after: OpenedSession,
  loaded: Loaded | undefined,
  cache: Cache,
  events: readonly StoredEvent[],
): Work<readonly Folded[]> {
  const texts = events.map((event) => ({ event, data: JSON.stringify(event.data) }));
  const moving = texts.filter(({ event }) => isLifecycle(event.type));
  // Where the state was folded its view is made anew: the row may have been damaged, or of an older shape.
  const isFolded = moving.length > 0 || loaded?.weight !== undefined;
  const stored = sessionToStored(after, isFolded ? undefined : loaded?.stored);
  yield* upsertSession(stored, loaded?.stored);
  yield* insertEvents(texts);
  yield* recordProcesses(after, events);
  const newBySeq = new Map(events.map((event) => [event.seq, event]));
  const eventAt = function* at(seq: number): Work<StoredEvent | undefined> {
    return newBySeq.get(seq) ?? (yield* selectEvent(after.key, seq));
  };
  yield* recordTaken(events);
  if (moving.length === 0) {
    const isShown = after.kind.mirrorsJournal || after.common.documents !== undefined || hasArchived(before, after);
    if (isShown) yield* recordMirrors(kinds, before, after, eventAt);
    // Remarks leave the state as it was; where it was not folded now, perhaps it was before.
    const weighed = loaded?.weight === undefined ? undefined : { session: after, weight: loaded.weight };
    const known = weighed ?? (loaded === undefined ? undefined : cache.find(loaded.stored, after.kind));
    if (known === undefined) return [];
    return [{ session: { ...after, folded: known.session.folded }, stored, weight: known.weight }];
  }
  const { snapshot, tail } = loaded?.weight ?? { snapshot: 0, tail: 0 };
  const added = moving.reduce((total, { data }) => total + data.length, 0);
  const weight = yield* keepSnapshot(after, { snapshot, tail: tail + added });
  yield* recordMirrors(kinds, before, after, eventAt);
  return [{ session: after, stored, weight }];
}

/** Whether a pair of documents was archived. */
const hasArchived = (before: Session, after: OpenedSession): boolean =>
  after.common.archivedPairs?.at(-1)?.seq !== before.common?.archivedPairs?.at(-1)?.seq;
