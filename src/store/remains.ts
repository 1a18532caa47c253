import { statSync } from 'node:fs';
import type { Kinds } from '../kernel/kind.ts';
import { unknownKind } from '../kernel/unknown-kind.ts';
import { hashEvent, kernelEvent, type StoredEvent } from '../kernel/event.ts';
import { absentSession, applyEvent, isOpened, type Session } from '../kernel/session.ts';
import { sessionToStored } from './rows.ts';
import { readWhole } from './sqlite/kept-files.ts';
import type { RestoredSession, RestoredStore } from './sqlite/restore.ts';
import { salvageStore, type Link, type Salvaged, type SalvagedSession } from './sqlite/salvage/events.ts';
import { readTip } from './sqlite/tip.ts';
import { unfinishedRepairs } from './sqlite/unfinished.ts';
import { copiesFolder, listCopies, readStoreId, refuseMissing, type StoreFiles } from './store-files.ts';

/** What is left of a store, from all that can be found of it. */
export interface Remains extends RestoredStore {
  readonly sessions: readonly RemainingSession[];
  /** Sessions of which there are traces, and no events that can be proved. */
  readonly lost: readonly string[];
  /** The copy that was used; null where none was. */
  readonly copy: string | null;
}

/** A session with its events, and where they were found. */
export interface RemainingSession extends RestoredSession {
  readonly source: 'store' | 'copy';
  /** When the copy was made that it comes from. */
  readonly copy?: string;
}

/**
 * Reads what can be read: the pages of the store and of its log, of a repair that was interrupted, and of the rolling
 * copies. Of each session the longest chain of events that holds together is taken, with what goes on from its end, and
 * with what lies behind a gap where that leads to the state that the session is known to have had.
 */
export const gatherRemains = (files: StoreFiles, kinds: Kinds): Remains => {
  const paths = [files.path, ...unfinishedRepairs(files.path)];
  const own = paths.map((path) => read(path));
  const size = statSync(files.path, { throwIfNoEntry: false })?.size ?? 0;
  /** Why nobody vouches for the end of what lies there; null where it is whole. */
  const cut =
    own[0]?.isCopy === true
      ? 'it was read from a copy'
      : size === 0 || refuseMissing(files, size) === undefined
        ? null
        : 'the log is lost';
  // What was answered is known by its number, where its log is lost.
  const answered = new Map<string, number>();
  for (const { session, seq } of paths.flatMap((path) => readTip(path)))
    answered.set(session, Math.max(seq, answered.get(session) ?? 0));
  const id = own.map(({ identity }) => identity.id).find((found) => found !== null);
  const folder = copiesFolder(files, id);
  // The newest one may be damaged as well, or named wrongly by a clock that went back.
  const copies = (folder === undefined ? [] : listCopies(folder)).map((copy) => ({ ...copy, ...read(copy.path) }));

  const best = new Map<string, RemainingSession>();
  const traces = new Set<string>(answered.keys());
  const foundByKey = Map.groupBy(
    own.flatMap(({ sessions }) => sessions),
    ({ key }) => key,
  );
  for (const { sessions, named } of own) {
    for (const key of named) traces.add(key);
    for (const session of sessions) {
      traces.add(session.key);
      keepLonger(best, {
        key: session.key,
        events: session.events,
        flaw: flawOf(session, answered.get(session.key) ?? 0, cut),
        source: 'store',
      });
    }
  }
  for (const copy of copies) {
    for (const session of copy.sessions) {
      traces.add(session.key);
      const found = foundByKey.get(session.key) ?? [];
      const expected = Math.max(answered.get(session.key) ?? 0, ...found.map(({ row }) => row?.seq ?? 0));
      const flaw =
        expected === session.events.length && session.certain && cut === null
          ? null
          : `it comes from the copy of ${copy.at}: ${
              expected > session.events.length
                ? lostText([[session.events.length + 1, expected]])
                : 'whatever happened to it later is lost'
            }`;
      keepLonger(best, { key: session.key, events: session.events, flaw, source: 'copy', copy: copy.at });
    }
  }
  for (const [key, session] of best) {
    if (session.flaw === null) continue;
    const whole = goOn(session, foundByKey.get(key) ?? [], kinds, answered.get(key) ?? 0);
    if (whole !== undefined) best.set(key, { ...session, ...whole });
  }
  const sources = [...own, ...copies];
  const sessions = [...best.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return {
    identity: {
      id: id ?? copies[0]?.identity.id ?? (files.idFile === undefined ? null : (readStoreId(files.idFile) ?? null)),
      key: sources.map(({ identity }) => identity.key).find((key) => key !== null) ?? null,
    },
    sessions,
    requests: uniqueBy(
      sources.flatMap(({ requests }) => requests),
      (request) => request.id,
    ),
    // The last one that is recorded counts as the newest.
    mirrors: uniqueBy(
      sources
        .flatMap(({ mirrors }) => mirrors)
        .filter(({ session, source }) => isThere(best.get(session)?.events[source - 1]))
        .toSorted((a, b) => a.source - b.source),
      (mirror) => `${mirror.place}\n${mirror.path}\n${mirror.source}\n${mirror.digest}`,
    ),
    lost: [...traces].filter((key) => (best.get(key)?.events.length ?? 0) === 0),
    copy: sessions.find(({ source }) => source === 'copy')?.copy ?? null,
  };
};

const read = (path: string): Salvaged => salvageStore({ database: readWhole(path), log: readWhole(`${path}-wal`) });

const keepLonger = (best: Map<string, RemainingSession>, found: RemainingSession): void => {
  const known = best.get(found.key);
  if (found.events.length > 0 && (known === undefined || isBetter(found, known))) best.set(found.key, found);
};

const isBetter = (found: RemainingSession, known: RemainingSession): boolean => {
  // A copy may be of a history that was given up, as when an older copy was put back: it only goes on where the store ends.
  const isOther = found.events[known.events.length - 1]?.hash !== known.events.at(-1)?.hash;
  if (found.source === 'copy' && known.source === 'store' && (known.flaw === null || isOther)) return false;
  return (
    found.events.length > known.events.length ||
    (found.events.length === known.events.length && known.flaw !== null && found.flaw === null)
  );
};

/** What is not known of a session that was read from damaged pages. */
const flawOf = (
  { certain, lost, row, events }: SalvagedSession,
  answered: number,
  cut: string | null,
): string | null => {
  const known = Math.max(row?.seq ?? 0, answered);
  if (known > events.length) return lostText([[events.length + 1, known]]);
  if (certain) return cut === null ? null : `whether it had events behind ${events.length} is not known: ${cut}`;
  if (lost !== null) return `the events from ${lost.fromSeq} on are lost (${lost.reason})`;
  return `whether it had events behind ${events.length} is not known: its row is lost`;
};

/**
 * A session with the events that were found behind its end. Those that are chained to it follow as they are. Over a gap the
 * rest is taken only where it leads to the state that the newest row has: a `Salvaged` event stands in the place of each
 * that is lost, and what follows is chained anew and keeps its number. Undefined where nothing is to be added.
 */
const goOn = (
  { key, events: start }: RemainingSession,
  found: readonly SalvagedSession[],
  kinds: Kinds,
  answered: number,
): Pick<RemainingSession, 'events' | 'flaw'> | undefined => {
  const links = Map.groupBy(
    found.flatMap(({ behind }) => behind),
    ({ event }) => event.seq,
  );
  const rows = found.flatMap(({ row }) => (row === null ? [] : [row]));
  const row = rows.toSorted((a, b) => b.seq - a.seq)[0];
  if (links.size === 0 || row === undefined || row.seq < answered) return undefined;
  const events = [...start];
  const follows = (seq: number): Link | undefined =>
    links.get(seq)?.find(({ previous }) => previous === events.at(-1)?.hash);
  for (let next = follows(events.length + 1); next !== undefined; next = follows(events.length + 1))
    events.push(next.event);
  if (events.length === row.seq && events.at(-1)?.hash === row.hash) return { events, flaw: null };

  const gaps: [number, number][] = [];
  const kind = key.slice(0, key.indexOf(':'));
  let session: Session = absentSession(kinds.get(kind) ?? unknownKind(kind), key);
  for (const event of events) session = applyEvent(session, event);
  while (events.length < row.seq) {
    const seq = events.length + 1;
    const event = links.get(seq)?.[0]?.event;
    const gap = gaps.at(-1);
    if (event === undefined && gap?.[1] === seq - 1) gap[1] = seq;
    else if (event === undefined) gaps.push([seq, seq]);
    const unhashed = { ...(event ?? placeholder(events.at(-1), seq)), seq };
    const chained = { ...unhashed, hash: hashEvent(session.hash, unhashed) };
    session = applyEvent(session, chained);
    events.push(chained);
  }
  if (!isOpened(session) || session.unreadable !== undefined) return undefined;
  const { status, outcome, position, revision } = sessionToStored(session);
  const isSame =
    status === row.status && outcome === row.outcome && position === row.position && revision === row.revision;
  return isSame ? { events, flaw: lostText(gaps) } : undefined;
};

/** What stands in the log for an event that is lost. */
const placeholder = (last: StoredEvent | undefined, seq: number): StoredEvent => {
  if (last === undefined) throw new Error('no session begins with a gap');
  return {
    ...last,
    ...kernelEvent('Salvaged', { lost: lostText([[seq, seq]]) }),
    actor: 'stint doctor',
    cause: 'salvage',
  };
};

/** Whether that is an event and not what stands in the place of one. */
const isThere = (event: StoredEvent | undefined): boolean => event !== undefined && event.type !== 'Salvaged';

const lostText = (gaps: readonly (readonly [from: number, to: number])[]): string =>
  gaps
    .map(([from, to]) => (from === to ? `event ${from} is lost` : `the events from ${from} to ${to} are lost`))
    .join(', ');

const uniqueBy = <Value>(values: readonly Value[], keyOf: (value: Value) => string): readonly Value[] => [
  ...new Map(values.map((value) => [keyOf(value), value])).values(),
];
