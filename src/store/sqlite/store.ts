import type { StoredEvent } from '../../kernel/event.ts';
import type { Kind, Kinds } from '../../kernel/kind.ts';
import {
  StoreFailure,
  type CommitOutcome,
  type CommitRequest,
  type Finding,
  type ReadSession,
  type SessionRow,
  type Store,
} from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import {
  absentSession,
  appendEvents,
  applyEvent,
  applyToKind,
  isOpened,
  viewOfSession,
  type OpenedSession,
  type Session,
} from '../../kernel/session.ts';
import { hashEvent, isLifecycle } from '../../kernel/event.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import {
  parseCommon,
  isIntact,
  saysTheSame,
  sessionToRead,
  sessionToStored,
  storedToRead,
  storedToSession,
  unreadableOf,
  type StoredSession,
} from '../rows.ts';
import { openDatabase, type Database } from './database.ts';
import {
  brokenChain,
  eachEvent,
  insertEvents,
  selectEvent,
  selectEvents,
  selectOrphans,
  selectProved,
} from './events.ts';
import { changeRenewal, countRefusal, dropUnsoundRenewals, selectRefusals, selectRenewals } from './leases.ts';
import { recordMirrors, selectDigests, selectMirrors, settleMirror } from './mirrors.ts';
import { copyId } from '../migrations.ts';
import { openFile, readIdentity, type FileOptions } from './open.ts';
import { beatProcess, rebuildProcesses, recordProcesses, selectProcesses } from './processes.ts';
import { insertRequest, selectRequest } from './requests.ts';
import { selectKeys, selectRows, selectSession, upsertSession } from './sessions.ts';

/** Opens a SQLite store: a file, or `:memory:`. Without `create` a missing file reads as an empty store. */
export const openSqliteStore = (path: string, kinds: Kinds, options: FileOptions): Store => {
  const { database, readOnly, isRaised } = openFile(path, options);
  if (isRaised === true) raiseRows(database, kinds);
  return createSqliteStore(database, kinds, { name: path, readOnly });
};

/** Makes the rows of an older program anew, all at once. One that cannot be made stays what it is: reading finds out. */
const raiseRows = (database: Database, kinds: Kinds): void =>
  database.write(() => {
    for (const key of selectKeys(database)) {
      const kind = kinds.get(key.slice(0, key.indexOf(':')));
      try {
        if (kind !== undefined) rebuildSession(database, kind, key);
      } catch (error) {
        if (!(error instanceof StoreFailure)) throw error;
      }
    }
    return { commit: true, value: undefined };
  });

/** A store of an open database. */
export const createSqliteStore = (
  database: Database,
  kinds: Kinds,
  { name: path, readOnly }: { readonly name: string; readonly readOnly: Refusal | undefined },
): Store => {
  let identity: Store['identity'] | undefined;
  const kindOf = (key: string): Kind => {
    const kind = kinds.get(key.slice(0, key.indexOf(':')));
    if (kind !== undefined) return kind;
    throw new StoreFailure(
      refuse('newer-version', `${key} is of a kind that this program does not know.`, {
        expected: `one of ${[...kinds.keys()].join(', ')}`,
        hint: 'use the newer stint that wrote it',
      }),
    );
  };

  const remake = (key: string): SessionRow => remakeRow(database, kindOf, key);

  return {
    name: path,
    get identity() {
      identity ??= readIdentity(database);
      return identity;
    },
    readOnly,
    recall: async (id) => selectRequest(database, id),
    commit: async (request) => commit(database, kindOf, remake, request),
    rows: async (filter) => selectRows(database, filter, remake),
    read: async (key, until) => database.snapshot(() => readSession(database, kinds, kindOf, key, until)),
    load: async (key, until) => database.snapshot(() => loadSession(database, kindOf(key), key, until)?.session),
    events: async (key, query) => selectProved(database, key, query),
    event: async (key, seq) => selectProved(database, key, { after: seq - 1, until: seq })[0],
    mirrors: async (sessions) => selectMirrors(database, sessions),
    mirrorDigests: async (place, path_) => selectDigests(database, place, path_),
    settleMirror: async (record, write, wait) => settleMirror(database, record, write, wait),
    rebuild: async (key) => {
      try {
        return database.write(() => rebuildSession(database, kindOf(key), key));
      } catch (error) {
        // What cannot be read of one session does not keep the others from being rebuilt.
        if (error instanceof StoreFailure && error.refusal.code !== 'busy') return err(error.refusal);
        throw error;
      }
    },
    orphans: async () => selectOrphans(database),
    verify: async (): Promise<readonly Finding[]> => {
      const { verifyStore } = await import('./verify.ts');
      return database.snapshot(() => verifyStore(database, kinds));
    },
    processes: async (filter) => selectProcesses(database, filter),
    renewals: async (key) => selectRenewals(database, key),
    countRefusal: async (key, at) => {
      try {
        database.write(() => {
          const token = loadCommon(database, kindOf(key), key)?.session.common.token ?? 0;
          if (token > 0) countRefusal(database, key, token, at);
          return { commit: token > 0, value: undefined };
        });
      } catch (error) {
        // It costs the count, not the refusal that was to be counted.
        if (!(error instanceof StoreFailure)) throw error;
      }
    },
    refusals: async (key) =>
      selectRefusals(database, key, loadCommon(database, kindOf(key), key)?.session.common.token ?? 0),
    copyTo: async (target) => {
      database.run('VACUUM INTO ?', target);
      // What is put back by hand is to be a store like any other, and to say that it is a copy: both are part of the file.
      const copy = openDatabase(target, { readOnly: false });
      copy.exec(`PRAGMA journal_mode = WAL; PRAGMA application_id = ${copyId}`);
      copy.close();
      return true;
    },
    close: async () => database.close(),
  };
};

const commit = <Answer extends JsonObject>(
  database: Database,
  kindOf: (key: string) => Kind,
  remake: (key: string) => SessionRow,
  request: CommitRequest<Answer>,
): Result<CommitOutcome<Answer>, Refusal> =>
  database.write((): { readonly commit: boolean; readonly value: Result<CommitOutcome<Answer>, Refusal> } => {
    const leave = (value: Result<CommitOutcome<Answer>, Refusal>) => ({ commit: false, value });

    const known = selectRequest(database, request.request.id);
    if (known !== undefined) return leave(ok({ kind: 'known', request: known }));
    for (const { filter, keys } of request.guards) {
      const found = selectRows(database, filter, remake).map((row) => row.key);
      if (found.toSorted().join() !== keys.toSorted().join()) return leave(ok({ kind: 'stale' }));
    }

    const before = new Map<string, Session>();
    const storedByKey = new Map<string, StoredSession>();
    for (const key of new Set(request.keys.toSorted())) {
      const loaded = request.journalOnly
        ? loadCommon(database, kindOf(key), key)
        : loadSession(database, kindOf(key), key, undefined);
      if (loaded !== undefined) storedByKey.set(key, loaded.stored);
      const session = loaded?.session ?? absentSession(kindOf(key), key);
      const renewed = withRenewals(database, session, request.steps === true);
      before.set(key, request.processes === undefined ? renewed : withProcesses(database, renewed, request.processes));
    }
    const stale = refuseRevision(before, request);
    if (stale !== undefined) return leave(err(stale));

    const decided = request.decide(before);
    if (!decided.ok) return leave(decided);

    const after = new Map<string, Session>(before);
    for (const [key, events] of decided.value) {
      const session = before.get(key);
      if (session === undefined) throw new Error(`events were decided for ${key}, which was not loaded`);
      if (events.length === 0) continue;
      if (request.journalOnly && events.some(({ type }) => isLifecycle(type))) {
        throw new Error(`${key}: a decision from the common state alone may only append remarks`);
      }
      const appended = appendEvents(session, events, request.origin);
      if (!isOpened(appended.session)) throw new Error(`${key} was not opened by its first event`);
      after.set(key, appended.session);
      writeSession(database, session, appended.session, storedByKey.get(key), appended.events);
    }
    const beside = request.beside?.(after) ?? [];
    for (const one of beside) {
      if ('process' in one) beatProcess(database, one.process, one.heartbeatAt);
      else changeRenewal(database, one.session, one.step, one.renewal);
    }
    const answer = request.answer(after, before);
    const { given } = request.request;
    if (given) insertRequest(database, request.request, request.origin.actor, answer, request.origin.now);
    const changed = after.values().some((session) => session !== before.get(session.key));
    const isSomething = changed || given || beside.length > 0;
    return { commit: isSomething && !request.dryRun, value: ok({ kind: 'committed', answer }) };
  });

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

const writeSession = (
  database: Database,
  before: Session,
  after: OpenedSession,
  stored: StoredSession | undefined,
  events: readonly StoredEvent[],
): void => {
  const texts = events.map((event) => ({ event, data: JSON.stringify(event.data) }));
  const moving = texts.filter(({ event }) => isLifecycle(event.type));
  const added = moving.length === 0 ? undefined : moving.reduce((total, { data }) => total + data.length, 0);
  upsertSession(database, sessionToStored(after, stored, added), stored);
  insertEvents(database, texts);
  recordProcesses(database, after, events);
  if (moving.length === 0) return;
  const newBySeq = new Map(events.map((event) => [event.seq, event]));
  recordMirrors(database, before, after, (seq) => newBySeq.get(seq) ?? selectEvent(database, after.key, seq));
};

/** A row whose columns were damaged, made anew from its events. */
const remakeRow = (database: Database, kindOf: (key: string) => Kind, key: string): SessionRow => {
  const session = replay(database, kindOf(key), key, undefined);
  if (session !== undefined) return sessionToRead(session).row;
  throw new StoreFailure(
    refuse('damaged', `The row of ${key} in ${database.path} was damaged.`, { hint: 'stint doctor' }),
  );
};

/** A session with its processes that run, and with those that are named. */
const withProcesses = (database: Database, session: Session, named: readonly string[]): Session => {
  const running = selectProcesses(database, { session: session.key, running: true });
  const others = named.flatMap((id) => selectProcesses(database, { id, session: session.key }));
  return { ...session, processes: new Map([...running, ...others].map((process) => [process.id, process])) };
};

/** A session with what was renewed of its lease and its steps. Nobody asks for it where it is not held. */
const withRenewals = (database: Database, session: Session, steps: boolean): Session =>
  steps || (session.common?.lease ?? null) !== null
    ? { ...session, renewals: selectRenewals(database, session.key) }
    : session;

/** A session with its row: from its projections where they are intact, else replayed from its events. */
const loadSession = (
  database: Database,
  kind: Kind,
  key: string,
  until: number | undefined,
): { readonly session: OpenedSession; readonly stored: StoredSession } | undefined => {
  const stored = selectSession(database, key);
  if (stored === undefined) return undefined;
  const base = until === undefined ? storedToSession(stored, kind) : undefined;
  if (base === undefined) {
    const session = replay(database, kind, key, until);
    if (session !== undefined && until !== undefined && session.common.seq !== until) return undefined;
    return session === undefined ? undefined : { session, stored };
  }
  let { session } = base;
  for (const event of selectEvents(database, key, { lifecycleOnly: true, after: base.after }))
    session = applyToKind(session, event);
  if (!isOpened(session)) return undefined;
  // The events of the tail are not hashed here: that they lead to the view that was stored proves what counts of them.
  if (session.unreadable !== undefined || JSON.stringify(viewOfSession(session)) !== stored.view) {
    const replayed = replay(database, kind, key, undefined);
    return replayed === undefined ? undefined : { session: replayed, stored };
  }
  const unreadable = session.unreadable ?? locate(database, key, unreadableOf(kind, session.common));
  return { session: { ...session, unreadable }, stored };
};

/** A session with its common state alone, where its row is intact; its kind's state is not folded. */
const loadCommon = (
  database: Database,
  kind: Kind,
  key: string,
): { readonly session: OpenedSession; readonly stored: StoredSession } | undefined => {
  const stored = selectSession(database, key);
  if (stored === undefined || !isIntact(stored, kind)) return loadSession(database, kind, key, undefined);
  const common = parseCommon(stored);
  const unreadable = locate(database, key, unreadableOf(kind, common));
  return { session: { ...absentSession(kind, key), common, hash: stored.hash, unreadable }, stored };
};

/** The session folded from its events alone, each proved by its hash. */
const replay = (database: Database, kind: Kind, key: string, until: number | undefined): OpenedSession | undefined => {
  let session: Session = absentSession(kind, key);
  for (const event of eachEvent(database, key, until === undefined ? {} : { until })) {
    const next = (session.common?.seq ?? 0) + 1;
    if (event.seq !== next) throw brokenChain(key, next, 'is missing');
    if (hashEvent(session.hash, event) !== event.hash) throw brokenChain(key, next, 'differs from its hash');
    session = applyEvent(session, event);
  }
  return isOpened(session) ? session : undefined;
};

const readSession = (
  database: Database,
  kinds: Kinds,
  kindOf: (key: string) => Kind,
  key: string,
  until: number | undefined,
): ReadSession | undefined => {
  if (until === undefined) {
    const stored = selectSession(database, key);
    if (stored === undefined) return undefined;
    const kind = kinds.get(stored.kind);
    // A kind that is not known shows what its own program made of it.
    if (kind === undefined) return storedToRead(stored, { seq: stored.seq, type: stored.kind, v: 0, reason: 'newer' });
    if (isIntact(stored, kind))
      return storedToRead(stored, locate(database, key, unreadableOf(kind, parseCommon(stored))));
  }
  const loaded = loadSession(database, kindOf(key), key, until);
  return loaded === undefined ? undefined : sessionToRead(loaded.session);
};

/** The same, with the seq of the first event of that type and version. */
const locate = (database: Database, key: string, unreadable: Session['unreadable']): Session['unreadable'] => {
  if (unreadable === undefined) return undefined;
  const row = database.get(
    'SELECT min(seq) AS seq FROM event WHERE session = ? AND type = ? AND v = ?',
    key,
    unreadable.type,
    unreadable.v,
  );
  return { ...unreadable, seq: Number(row?.['seq'] ?? 0) };
};

const rebuildSession = (
  database: Database,
  kind: Kind,
  key: string,
): { readonly commit: boolean; readonly value: Result<boolean, Refusal> } => {
  const leave = (refusal: Refusal) => ({ commit: false, value: err(refusal) });
  const stored = selectSession(database, key);
  const session = replay(database, kind, key, undefined);
  if (session === undefined) {
    return leave(refuse('not-found', `There is no session ${key}.`, { hint: 'stint list --all' }));
  }
  if (stored !== undefined && isIntact(stored, kind) && stored.seq > session.common.seq) {
    return leave(
      refuse(
        'damaged',
        `its row counts ${stored.seq} events, its log holds ${session.common.seq}; it is left as it is`,
      ),
    );
  }
  if (session.unreadable !== undefined) {
    const { seq, type, reason } = session.unreadable;
    return leave(
      refuse(
        reason === 'newer' ? 'newer-version' : 'damaged',
        `event ${seq} (${type}) cannot be folded; it is left as it is`,
      ),
    );
  }
  const tail = selectEvents(database, key, { lifecycleOnly: true }).reduce(
    (total, event) => total + JSON.stringify(event.data).length,
    0,
  );
  const fresh = sessionToStored(session, undefined, tail);
  const same = stored !== undefined && saysTheSame(stored, fresh, kind);
  const recorded = new Map(selectMirrors(database, [key]).map((record) => [record.path, record.source]));
  const complete = session.folded
    .mirrors(session.common)
    .every((mirror) => recorded.get(mirror.path) === mirror.source);
  // Both are looked after, whatever the first one comes to.
  const besides = [rebuildProcesses(database, session), dropUnsoundRenewals(database, key)].includes(true);
  if (same && complete) return { commit: besides, value: ok(besides) };
  upsertSession(database, fresh, stored);
  if (!complete) recordMirrors(database, undefined, session, (seq) => selectEvent(database, key, seq));
  return { commit: true, value: ok(true) };
};
