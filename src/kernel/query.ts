import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import type { Abandoned, AtWork } from './abandoned.ts';
import type { StoredEvent } from './event.ts';
import { emptyJournal } from './journal.ts';
import { holderOf, isHeld, isMine, leaseToJson, rowLeaseFacts, type LeaseFacts, type Renewal } from './lease.ts';
import type { Caller, Files, Places, ReadSession, SessionRow, Store } from './ports.ts';
import {
  callProcess,
  livenessOfAll,
  processesNamed,
  resumeOf,
  type Host,
  type Liveness,
  type Process,
} from './process.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Kinds } from './kind.ts';
import { handsOutSteps, knownKind } from './kinds.ts';
import { viewOfSession, type OpenedSession } from './session.ts';
import type { NextAction } from './view.ts';

/** Whether somebody works on a session, as far as can be seen. */
export interface Activity {
  /** `interrupted`: whoever worked on it is gone. `quiet`: nobody was heard of for a while, and nobody is known to be gone. */
  readonly activity: 'running' | 'quiet' | 'interrupted' | 'none';
  /** Since when it is quiet or interrupted. */
  readonly since: string | null;
}

/** The activity of a session, from its processes that are on record as running, and from who works on its steps. */
export const activityOf = (
  row: SessionRow,
  running: readonly Process[],
  { host, caller }: { readonly host: Host; readonly caller: Pick<Caller, 'now' | 'leaseToken'> },
  renewal?: Renewal,
  atWork?: Pick<AtWork, 'working' | 'heardAt'>,
): Activity => {
  const held = leaseToJson(rowLeaseFacts(row, renewal, caller, host));
  const looked = livenessOfAll(running, host, caller.now);
  const those = (...wanted: readonly Liveness[]): readonly Process[] =>
    running.filter(({ id }) => wanted.includes(looked.get(id) ?? 'unknown'));
  const newest = (of: readonly Process[]): string =>
    of.map(({ heartbeatAt }) => heartbeatAt).reduce((a, b) => (a > b ? a : b));
  if (those('alive', 'unknown').length > 0 || held?.state === 'active' || (atWork?.working ?? 0) > 0)
    return { activity: 'running', since: null };
  const quiet = those('quiet');
  if (quiet.length > 0) return { activity: 'quiet', since: newest(quiet) };
  if (row.status === 'closed') return { activity: 'none', since: null };
  // Who is known to be dead, who was recorded as lost, who let a lease expire, or has left a step: whoever was heard of last.
  const heldUntil =
    held === null ? null : held.state === 'stale' ? (held.renewed_at ?? held.claimed_at) : held.expires_at;
  const latest = [
    row.interruptedAt,
    heldUntil,
    atWork?.heardAt ?? null,
    ...those('dead').map(({ heartbeatAt }) => heartbeatAt),
  ]
    .filter((at) => at !== null)
    .reduce<string | null>((a, b) => (a !== null && a > b ? a : b), null);
  // A clock that is ahead tells of times that have not come.
  const since = latest !== null && latest > caller.now ? caller.now : latest;
  return { activity: since === null ? 'none' : 'interrupted', since };
};

/** Who holds a session now: nobody does whose claim has expired, or who is known to be gone. */
export const heldBy = (
  row: SessionRow,
  renewal: Renewal | undefined,
  { host, caller }: { readonly host: Host; readonly caller: Pick<Caller, 'now' | 'leaseToken'> },
): string | null => {
  const lease = leaseToJson(rowLeaseFacts(row, renewal, caller, host));
  return lease?.state === 'active' ? lease.holder : null;
};

/** What a reading verb overlays a stored view with. */
export interface QueryWorld {
  readonly places: Places;
  readonly files: Files;
  readonly host: Host;
  readonly caller: Pick<Caller, 'now' | 'process' | 'actor' | 'agent' | 'user' | 'leaseToken'>;
}

/** What stands in the store beside a session and is laid over its view. */
export interface Surroundings {
  readonly processes: readonly Process[];
  /** What was renewed of its lease. */
  readonly renewal: Renewal | undefined;
  /** Who works on its steps. */
  readonly atWork: Pick<AtWork, 'working' | 'heardAt'>;
  /** What was measured last, as fields of its status. */
  readonly sampled: JsonObject;
  /** The attempts of its steps that nobody works on any more; told where nothing else is to be done. */
  readonly abandoned: readonly Pick<Abandoned, 'id' | 'comesBack'>[];
}

/** What stood beside a session at a revision that is past is not known: nothing that is seen now is taken for it. */
const notKnown: Surroundings = {
  processes: [],
  renewal: undefined,
  atWork: { working: 0, heardAt: null },
  sampled: {},
  abandoned: [],
};

/** Where a session stood at a revision that is past. Who works on it now says nothing about then. */
export const pastToJson = (session: ReadSession, world: QueryWorld, folder: string): JsonObject => ({
  ...statusToJson(session, notKnown, world, folder),
  activity: 'none',
  activity_since: null,
});

/** Reads them. */
export const surroundingsOf = async (
  world: {
    readonly store: Store;
    readonly host: Host;
    readonly caller: Pick<Caller, 'now'>;
    readonly kinds: Kinds;
  },
  { row, view }: Pick<ReadSession, 'row' | 'view'>,
): Promise<Surroundings> => {
  // Mostly there are no steps that somebody could be at.
  const atWork = (await handsOutSteps(world.kinds, row.kind))
    ? await (await import('./abandoned.ts')).findAtWork(world, row)
    : { working: 0, abandoned: [], heardAt: null };
  return {
    processes: await world.store.processes({ session: row.key }),
    renewal: await renewalOfRow(world.store, row),
    atWork,
    sampled: await sampledOf(world, row),
    abandoned: view.next.kind === 'wait' ? atWork.abandoned : [],
  };
};

/** What was measured last of a session, where its kind has samples. */
const sampledOf = async (
  { store, kinds }: { readonly store: Store; readonly kinds: Kinds },
  { key, kind }: SessionRow,
): Promise<JsonObject> => {
  if ((await knownKind(kinds, kind))?.isSampled !== true) return {};
  const session = await store.load(key);
  return session?.folded.sampled(session.common, await store.samples(key)) ?? {};
};

/** The next action of a session, for whoever asks. */
export const nextActionOf = (
  { row, view }: Pick<ReadSession, 'row' | 'view'>,
  { processes, renewal, abandoned }: Surroundings,
  world: QueryWorld,
): NextAction => {
  const running = processes.filter(({ endedAt }) => endedAt === null);
  const lease = rowLeaseFacts(row, renewal, world.caller, world.host);
  const next = abandoned.length === 0 ? view.next : nextOfLeft(abandoned, row);
  return nextUnder(lease, nextFor(next, row, running, world), world);
};

/** What helps where steps were left: to claim those that are handed out again, else to say what came of them. */
const nextOfLeft = (left: Surroundings['abandoned'], { key }: SessionRow): NextAction => {
  const free = left.filter(({ comesBack }) => comesBack);
  const leftText = (what: string, { length }: Surroundings['abandoned']): string =>
    `${what} ${length === 1 ? 'was left by whoever had it' : 'were left by whoever had them'}`;
  if (free.length > 0)
    return {
      kind: 'claim',
      text: `Claim: ${leftText(`${free.length} ${free.length === 1 ? 'step' : 'steps'}`, free)}.`,
      command: `stint next --claim --session ${key}`,
    };
  const named = left.slice(0, 5).map(({ id }) => id);
  const more = left.length > named.length ? ` and ${left.length - named.length} more` : '';
  return {
    kind: 'settle',
    text: `${leftText(`${named.join(', ')}${more}`, left)}: resume, then say what ${left.length === 1 ? 'it has' : 'they have'} done.`,
    command: `stint resume --session ${key}`,
  };
};

/**
 * Everything about where a session stands: its view, with what depends on the caller, the processes and the files laid
 * over it.
 */
export const statusToJson = (
  session: ReadSession,
  surroundings: Surroundings,
  world: QueryWorld,
  folder: string,
): JsonObject => {
  const { row, common, view, unreadable } = session;
  const { goal, reason, pause, notes, journal = emptyJournal } = common;
  const { processes, renewal, atWork, sampled } = surroundings;
  const home = world.places.homeOf(row);
  const running = processes.filter(({ endedAt }) => endedAt === null);
  const { activity, since } = activityOf(row, running, world, renewal, atWork);
  const lease = rowLeaseFacts(row, renewal, world.caller, world.host);
  const looked = livenessOfAll(processes, world.host, world.caller.now);
  const next = nextActionOf(session, surroundings, world);
  return {
    session: row.key,
    session_id: row.name,
    kind: row.kind,
    status: row.status,
    outcome: row.outcome,
    position: view.position,
    ...(goal === null ? {} : { goal }),
    ...(reason === null ? {} : { reason }),
    ...view.fields,
    ...sampled,
    started_at: row.startedAt,
    updated_at: row.updatedAt,
    closed_at: row.closedAt,
    paused: pause === null ? null : { ...pause },
    archived_at: row.archivedAt,
    completeness: view.completeness,
    missing: [...view.missing],
    remaining: [...view.remaining],
    evidence: view.evidence.map(({ label, path, atLeast }) => {
      // Whether a file is there is not known from another machine.
      if (home.isElsewhere === true) return { label, path: `${folder}/${path}`, present: null };
      const full = `${home.root}/${folder}/${path}`;
      if (atLeast === undefined) return { label, path: `${folder}/${path}`, present: world.files.exists(full) };
      const files = world.files.list(full);
      return {
        label,
        path: `${folder}/${path}`,
        present: files.length >= atLeast,
        at_least: atLeast,
        files: files.slice(0, 20),
      };
    }),
    next_action: { ...next },
    // The original review workflow's names of the same.
    completeness_state:
      row.status === 'closed' ? view.completeness : next.kind === 'wait' ? 'in_flight' : 'open_no_artifact',
    has_terminal_artifact: view.missing.length === 0,
    marked_closed: row.status === 'closed',
    dependents_settled: running.every(({ kind }) => kind === 'supervisor'),
    next_action_kind: next.kind === 'complete' ? 'complete_round' : next.kind,
    remaining_phases: [...view.remaining],
    activity,
    activity_since: since,
    processes: newestOf(processes).map((process) => ({
      id: process.id,
      called: callProcess(process),
      kind: process.kind,
      status: process.outcome ?? 'running',
      liveness: looked.get(process.id) ?? 'unknown',
      phase: process.phase,
      host: process.host,
      here: process.host === world.host.name,
      last_heartbeat_at: process.heartbeatAt,
      exit_code: process.exitCode,
    })),
    processes_total: processes.length,
    lease: leaseToJson(lease),
    resume: resumeOf(processes),
    branch: row.branch,
    worktree: row.worktree,
    here: home.root === world.places.here.root,
    folder,
    notes,
    journal: {
      total: notes,
      counts: { ...journal.counts },
      blockers: journal.blockers.map((blocker) => ({ ...blocker })),
    },
    events: row.seq,
    revision: row.revision,
    ...(row.flaw === null ? {} : { flaw: row.flaw }),
    ...(unreadable === undefined
      ? {}
      : {
          read_only: `event ${unreadable.seq} (${unreadable.type}, version ${unreadable.v}) is ${unreadable.reason === 'newer' ? 'newer than this program' : 'damaged'}`,
        }),
  };
};

/** Most processes that a status names. */
const mostProcesses = 20;

/** The newest processes, those that run before those that have ended, in the order in which they started. */
const newestOf = (processes: readonly Process[]): readonly Process[] => {
  if (processes.length <= mostProcesses) return processes;
  const running = processes.filter(({ endedAt }) => endedAt === null).slice(-mostProcesses);
  const room = mostProcesses - running.length;
  const ended = room === 0 ? [] : processes.filter(({ endedAt }) => endedAt !== null).slice(-room);
  const named = new Set([...running, ...ended]);
  return processes.filter((process) => named.has(process));
};

/**
 * The next action for whoever asks. While instances are at work that are neither the caller nor known to be dead, the next
 * action is to wait for them; a supervisor is never waited for, since it may be the one who asks.
 */
const nextFor = (next: NextAction, row: SessionRow, running: readonly Process[], world: QueryWorld): NextAction => {
  if (row.status === 'closed') return next;
  const looked = livenessOfAll(running, world.host, world.caller.now);
  const dead = running.filter(({ id }) => looked.get(id) === 'dead');
  const [caller, ...alike] = processesNamed(running, world.caller.process ?? '');
  const others = running.filter(
    ({ id, kind }) => kind === 'instance' && looked.get(id) !== 'dead' && !(alike.length === 0 && id === caller?.id),
  );
  if (others.length === 0) {
    if (dead.length === 0) return next;
    const gone = dead.map(callProcess).join(', ');
    return { ...next, text: `Gone without a word: ${gone} (stint process sweep records it). ${next.text}` };
  }
  const shown = others.slice(0, 5).map(callProcess).join(', ');
  return {
    kind: 'wait',
    text: `Wait for ${shown}${others.length > 5 ? ` and ${others.length - 5} more` : ''}. Then: ${next.text}`,
    command: `stint process list --session ${row.key}`,
  };
};

/** The next action where somebody else holds the session: to wait; and where nobody is there any more who held it: to claim it. */
const nextUnder = (lease: LeaseFacts, next: NextAction, world: QueryWorld): NextAction => {
  const held = leaseToJson(lease);
  if (held === null || isMine(lease, holderOf(world, world.places.here.id ?? ''))) return next;
  const who = `${held.holder} on ${held.host}`;
  if (isHeld(lease) && held.state === 'stale') {
    return {
      kind: 'claim',
      text: `Claim it: the process of ${who} is gone. Then: ${next.text}`,
      command: `stint lease claim --session ${lease.key}`,
    };
  }
  if (held.state === 'active') {
    return {
      kind: 'wait',
      text: `Held by ${who} until ${held.expires_at}. Then: ${next.text}`,
      command: `stint lease show --session ${lease.key}`,
    };
  }
  const gone =
    held.state === 'stale'
      ? `the clock of ${who} was ahead when it was claimed`
      : `the lease of ${who} expired at ${held.expires_at}`;
  return { ...next, text: `Nobody works on it: ${gone} (stint lease claim --session ${lease.key}). ${next.text}` };
};

/** A folded session as it is read. */
export const sessionToRead = (session: OpenedSession): ReadSession => {
  const { common } = session;
  const view = viewOfSession(session);
  return {
    row: { ...common, pausedAt: common.pause?.at ?? null, position: view.position },
    common,
    view,
    unreadable: session.unreadable,
  };
};

/** The whole of a session at a revision, read only. */
export const sessionAt = async (
  store: Store,
  key: string,
  at: number | undefined,
): Promise<Result<ReadSession, Refusal>> => {
  const found = await store.read(key, at);
  if (found !== undefined) return ok(found);
  return err(
    at === undefined
      ? refuse('not-found', `There is no session ${key}.`, { hint: 'stint list --all' })
      : refuse('not-found', `${key} has no revision ${at}.`, { hint: `stint log --session ${key}` }),
  );
};

/** An event as it is shown. */
export const eventToJson = (event: StoredEvent) => ({
  seq: event.seq,
  type: event.type,
  v: event.v,
  at: event.at,
  actor: event.actor,
  place: event.place,
  cause: event.cause,
  data: event.data,
  hash: event.hash,
});

/** What was renewed of the lease of a session; nobody is asked where it is not held. */
export const renewalOfRow = async (store: Store, row: SessionRow): Promise<Renewal | undefined> =>
  row.lease === null ? undefined : (await store.renewals(row.key)).get('');
