import type { JsonObject } from '../lib/canonical-json.ts';
import { isJsonObject } from '../lib/json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { sha256 } from '../lib/sha256.ts';
import { clockSkew } from '../lib/time.ts';
import { followChain } from './chain.ts';
import { genesis, hashEvent, type DecidedEvent, type StoredEvent } from './event.ts';
import { kindBriefOf } from './kind-brief.ts';
import { folderOf, mirrorsOf, type Kinds } from './kind.ts';
import { NotLoaded } from './kinds.ts';
import { StoreFailure } from './ports.ts';
import { processOf, type Process } from './process.ts';
import { refuse, type Refusal } from './refusal.ts';
import { applyEvent, isOpened, viewOfSession, type OpenedSession, type Session } from './session.ts';

/** A session that comes from another store with its log. What is written there is not believed before it was tried. */

/** The log of a session as another store has it, and what is known here that tells whether it is the same one. */
export interface TravellingLog {
  /** All of its events, from the first one on. */
  readonly events: readonly StoredEvent[];
  /** The event here that has the number of its last one; undefined where the session here ends before, or is not there. */
  readonly here: Pick<StoredEvent, 'hash'> | undefined;
  /** The processes here that it names: each works on one session. */
  readonly processes: readonly Pick<Process, 'id' | 'session'>[];
}

/** What of a log is to be appended here, and the session behind it. */
export interface TakenLog {
  readonly events: readonly DecidedEvent[];
  readonly session: OpenedSession;
}

/**
 * What of a log is new here: all of it, or what follows the events that are here already. Refused is a log that has other
 * events than the session here, one whose chain does not hold, and one that this program cannot fold or show.
 */
export const decideLog = (
  kinds: Kinds,
  session: Session,
  { events, here, processes }: TravellingLog,
  now: string,
): Result<TakenLog, Refusal> => {
  const { key } = session;
  const last = events.at(-1);
  if (last === undefined) return err(refuseLog(key, 'it holds no events'));
  const known = session.common?.seq ?? 0;
  if (known >= last.seq) {
    const standing = known === last.seq ? session.hash : here?.hash;
    // Somebody has gone on with it here since it was looked for.
    if (standing === undefined)
      return err(refuse('busy', `${key} is being written.`, { hint: 'run the same command again' }));
    if (standing !== last.hash || !isOpened(session)) return err(refuseOther(key, last.seq));
    return ok({ events: [], session });
  }
  if (known > 0 && events[known - 1]?.hash !== session.hash) return err(refuseOther(key, known));
  const fresh = events.slice(known);
  const fault = strangerIn(events) ?? faultIn(session, fresh, now);
  if (fault !== undefined) return err(refuseLog(key, fault));
  const owners = new Map(processes.map((process) => [process.id, process.session]));
  const stolen = fresh.map(processOf).find((id) => id !== undefined && (owners.get(id) ?? key) !== key);
  if (stolen !== undefined)
    return err(
      refuse('conflict', `The process ${stolen} works on ${owners.get(stolen)} here.`, {
        expected: 'a log whose processes are its own',
      }),
    );
  const tried = tryLog(kinds, session, fresh, events);
  return tried.ok ? ok({ events: fresh.map(decidedAs), session: tried.value }) : tried;
};

/** An event that is appended as it was written. */
export const decidedAs = (written: StoredEvent): DecidedEvent => ({
  type: written.type,
  v: written.v,
  data: written.data,
  written,
});

/** An event about what the log has never begun, as the end of a sentence: the session itself, or a process. */
const strangerIn = (events: readonly StoredEvent[]): string | undefined => {
  if (events[0]?.type !== 'SessionOpened') return 'it does not begin a session';
  const started = new Set<string>();
  for (const event of events) {
    const id = processOf(event);
    if (id === undefined) continue;
    if (event.type === 'ProcessStarted') started.add(id);
    else if (!started.has(id)) return `event ${event.seq} is about a process that was never started`;
  }
  return undefined;
};

/** What keeps events from following a session, as the end of a sentence. */
const faultIn = ({ key, common, hash }: Session, fresh: readonly StoredEvent[], now: string): string | undefined => {
  const follow = followChain(common === undefined ? undefined : { seq: common.seq, hash });
  let at = common?.updatedAt ?? '';
  for (const event of fresh) {
    if (event.session !== key) return `event ${event.seq} is one of ${event.session}`;
    const broken = follow(event);
    if (broken !== undefined) return broken.problem;
    if (event.at < at) return `event ${event.seq} happened before the one ahead of it`;
    ({ at } = event);
  }
  return Date.parse(at) - Date.parse(now) > clockSkew ? `it ends at ${at}, which has not come yet` : undefined;
};

/**
 * Folds events and looks at everything that is made of the session then, as every verb would later: what breaks any of it is
 * found before anything is stored.
 */
const tryLog = (
  kinds: Kinds,
  before: Session,
  fresh: readonly StoredEvent[],
  events: readonly StoredEvent[],
): Result<OpenedSession, Refusal> => {
  const { key } = before;
  let seq = 0;
  try {
    let session = before;
    for (const event of fresh) {
      ({ seq } = event);
      session = applyEvent(session, event);
      const { unreadable } = session;
      if (unreadable?.reason === 'newer')
        return err(
          refuse('newer-version', `${key} holds the event ${unreadable.type}, which this program does not know.`, {
            hint: 'use the newer stint that wrote it',
          }),
        );
      if (unreadable !== undefined) return err(refuseLog(key, `event ${seq} is no ${unreadable.type} as it has to be`));
    }
    if (!isOpened(session)) return err(refuseLog(key, 'it does not begin a session'));
    const { common, folded, samples } = session;
    folded.progress(common, samples);
    kindBriefOf(session, viewOfSession(session), folderOf(session.kind, common));
    for (const { path, source, others = [], render } of mirrorsOf(kinds, session)) {
      if (!isPlain(path)) return err(refuseLog(key, 'it names a file that lies elsewhere'));
      const [from, ...more] = [source, ...others].flatMap((one) => events[one - 1] ?? []);
      if (from === undefined || more.length < others.length)
        return err(refuseLog(key, 'it makes a file of an event that is not there'));
      render(from, ...more);
    }
    return ok(session);
  } catch (error) {
    if (error instanceof NotLoaded || error instanceof StoreFailure) throw error;
    // What others wrote may break what no event of this program breaks: that is their fault, and no bug of ours.
    return err(refuseLog(key, `event ${seq} cannot be folded`));
  }
};

/** Whether a path stays below where it begins: no part of it climbs, on any system. The record of a folder ends with a `/`. */
const isPlain = (path: string): boolean =>
  !/[\\\p{Cc}]/u.test(path) &&
  path
    .replace(/\/$/, '')
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..');

const refuseLog = (key: string, problem: string): Refusal =>
  refuse('invalid-input', `The log of ${key} cannot be taken: ${problem}.`, {
    expected: 'the log of a session as stint writes it',
  });

const refuseOther = (key: string, seq: number): Refusal =>
  refuse('conflict', `${key} has gone on in another way here: event ${seq} is another one.`, {
    expected: 'no session of that name, or the beginning of the same one',
  });

/**
 * The same log as that of another session: its events say everything but whose they are, so they are chained anew. Its
 * processes are called anew too, because each works on one session.
 */
export const logAs = (events: readonly StoredEvent[], key: string): readonly StoredEvent[] => {
  const mark = sha256(key).slice(0, 8);
  const called = new Map(events.flatMap((event) => processOf(event) ?? []).map((id) => [id, `${id}-${mark}`]));
  let hash = genesis;
  return events.map((event) => {
    const unhashed = { ...event, session: key, data: withProcesses(event, called) };
    hash = hashEvent(hash, unhashed);
    return { ...unhashed, hash };
  });
};

/** The data of an event with its processes called otherwise. */
const withProcesses = ({ type, data }: StoredEvent, called: ReadonlyMap<string, string>): JsonObject => {
  const renamed = (fields: JsonObject, ...keys: readonly string[]): JsonObject =>
    Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [
        key,
        keys.includes(key) && typeof value === 'string' ? (called.get(value) ?? value) : value,
      ]),
    );
  if (type.startsWith('Process')) return renamed(data, 'process', 'parent');
  const { sign } = data;
  return type === 'LeaseClaimed' && isJsonObject(sign) ? { ...data, sign: renamed(sign, 'process') } : data;
};
