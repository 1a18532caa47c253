/** Makes sessions of the rows that are still found in a damaged store. */
import { genesis, hashEvent, type StoredEvent } from '../../../kernel/event.ts';
import type { MirrorRecord, StoredRequest } from '../../../kernel/ports.ts';
import type { JsonObject } from '../../../lib/canonical-json.ts';
import { copyId } from '../../header.ts';
import { isUndamaged, parseLease, type StoredSession } from '../../rows.ts';
import { addressProblem } from '../../../lib/name.ts';
import { indexRecords, leafRecords, readPages, type LeafRecord, type Pages, type Value } from './pages.ts';
import type { LogState } from './wal.ts';

/** What could be read of a store. */
export interface Salvaged {
  /** The store's own id and its secret, each null where it is not found. Nothing proves them. */
  readonly identity: { readonly id: string | null; readonly key: string | null };
  /** In the order of their keys: every one of which anything was found. */
  readonly sessions: readonly SalvagedSession[];
  /** The keys of sessions that only an index still names, at two events or more: one alone may have been damaged. */
  readonly named: readonly string[];
  /** Those whose shape is right; nothing proves what they say. Some may be older than the store would remember. */
  readonly requests: readonly StoredRequest[];
  /** In the order in which they were recorded. Nothing proves them. */
  readonly mirrors: readonly SalvagedMirror[];
  readonly log: LogState;
  /** Whether it says that it is a copy. */
  readonly isCopy: boolean;
}

/** What could be read of a session. */
export interface SalvagedSession {
  readonly key: string;
  /** From seq 1 without gaps, each verified by its hash. */
  readonly events: readonly StoredEvent[];
  /** Where the events end before their time, and why; null where nothing says that there were more. */
  readonly lost: { readonly fromSeq: number; readonly reason: string } | null;
  /** The events behind a gap that were verified, in their order. */
  readonly behind: readonly Link[];
  /** What the newest intact row says; null without such a row. */
  readonly row: FoundRow | null;
  /** Whether that row and the event of its seq have the same hash; null where one of them is not there. */
  readonly agrees: boolean | null;
  /** The events end where the newest row ends, which is intact. */
  readonly certain: boolean;
}

/** An event, and the hash of the one before it that it was verified with. */
export interface Link {
  readonly event: StoredEvent;
  readonly previous: string;
}

/** A mirror as it was recorded. */
export interface SalvagedMirror extends MirrorRecord {
  readonly at: string;
}

/** Gets everything readable out of a store: its file and its log, whatever became of them. */
export const salvageStore = (files: { readonly database: Uint8Array; readonly log: Uint8Array }): Salvaged => {
  const pages = readPages(files.database, files.log);
  const found = collect(leafRecords(pages));
  const sessions = [...new Set([...found.eventsByKey.keys(), ...found.rowByKey.keys()])].toSorted().map((key) => {
    const session = salvageSession(key, found);
    // What is verified holds the same texts once more; a big store has no room for both.
    found.eventsByKey.delete(key);
    return session;
  });
  const keys = new Set(sessions.map(({ key }) => key));
  return {
    identity: { id: mostFrequent(found.meta.id), key: mostFrequent(found.meta.key) },
    sessions,
    named: namedInIndexes(pages).filter((key) => !keys.has(key)),
    requests: [...found.requestById.values()],
    mirrors: [...found.mirrorById].toSorted(([a], [b]) => a - b).map(([, mirror]) => mirror),
    log: pages.log.state,
    isCopy: isCopy(files.database),
  };
};

/** Whether a file says that it is a copy: its application id (https://www.sqlite.org/fileformat2.html, 1.3.9), at byte 68. */
const isCopy = ({ buffer, byteOffset, byteLength }: Uint8Array): boolean =>
  byteLength >= 72 && new DataView(buffer, byteOffset).getUint32(68) === copyId;

/** The sessions of which the index of events holds at least two entries: a key, a seq, a rowid. */
const namedInIndexes = (pages: Pages): readonly string[] => {
  const seqsByKey = new Map<string, Set<number>>();
  for (const [key, seq, rowid, ...more] of indexRecords(pages)) {
    if (typeof key !== 'string' || addressProblem(key) !== undefined || !key.includes(':')) continue;
    if (typeof seq !== 'number' || !(seq >= 1) || typeof rowid !== 'number' || more.length > 0) continue;
    const known = seqsByKey.get(key);
    if (known === undefined) seqsByKey.set(key, new Set([seq]));
    else known.add(seq);
  }
  return [...seqsByKey].flatMap(([key, seqs]) => (seqs.size > 1 ? [key] : []));
};

/** What a column of a table must hold to be recognised. */
type Holds = 'nothing' | 'text' | 'text or null' | 'whole number';

/** A table of the schema as its rows are stored. */
interface Shape {
  readonly columns: readonly (readonly [name: string, holds: Holds])[];
  /** Later migrations append columns. */
  readonly grows: boolean;
}

/** The tables of `migrations.ts`. No two shapes fit the same row. */
const shapes = {
  meta: {
    columns: [
      ['key', 'text'],
      ['value', 'text'],
    ],
    grows: false,
  },
  request: {
    columns: [
      ['id', 'text'],
      ['verb', 'text'],
      ['actor', 'text'],
      ['digest', 'text'],
      ['answer', 'text'],
      ['at', 'text'],
    ],
    grows: false,
  },
  mirror: {
    columns: [
      ['id', 'nothing'],
      ['session', 'text'],
      ['place', 'text'],
      ['path', 'text'],
      ['source', 'whole number'],
      ['digest', 'text'],
      ['stamp', 'text or null'],
      ['at', 'text'],
    ],
    grows: false,
  },
  event: {
    columns: [
      ['id', 'nothing'],
      ['session', 'text'],
      ['seq', 'whole number'],
      ['type', 'text'],
      ['v', 'whole number'],
      ['lifecycle', 'whole number'],
      ['at', 'text'],
      ['actor', 'text'],
      ['place', 'text'],
      ['cause', 'text'],
      ['data', 'text'],
      ['hash', 'text'],
    ],
    grows: false,
  },
  session: {
    columns: [
      ['key', 'text'],
      ['kind', 'text'],
      ['name', 'text'],
      ['status', 'text'],
      ['outcome', 'text or null'],
      ['branch', 'text or null'],
      ['place', 'text'],
      ['worktree', 'text'],
      ['position', 'text'],
      ['started_at', 'text'],
      ['updated_at', 'text'],
      ['closed_at', 'text or null'],
      ['seq', 'whole number'],
      ['revision', 'whole number'],
      ['hash', 'text'],
      ['common', 'text'],
      ['view', 'text'],
      ['view_version', 'text'],
      ['checksum', 'whole number'],
      // Then the columns of a snapshot, which is kept elsewhere: damage to them does not cost the row.
    ],
    grows: true,
  },
} as const satisfies Record<string, Shape>;

const snapshotColumns = 5;

const fits = ({ columns, grows }: Shape, values: readonly Value[]): boolean =>
  (grows ? values.length >= columns.length + snapshotColumns : values.length === columns.length) &&
  columns.every(([, holds], index) => holdsIt(holds, values[index]));

const holdsIt = (holds: Holds, value: Value | undefined): boolean => {
  switch (holds) {
    case 'nothing':
      return value === null;
    case 'text':
      return typeof value === 'string';
    case 'text or null':
      return typeof value === 'string' || value === null;
    case 'whole number':
      return Number.isSafeInteger(value);
  }
};

/** The columns of a row that fits a shape, by their names. */
type Named<Table extends Shape> = {
  readonly [Column in Table['columns'][number] as Column[0]]: {
    readonly nothing: null;
    readonly text: string;
    readonly 'text or null': string | null;
    readonly 'whole number': number;
  }[Column[1]];
};

/** A row by the names of its columns, where it fits. */
const named = <Table extends Shape>(shape: Table, values: readonly Value[]): Named<Table> | undefined =>
  fits(shape, values)
    ? (Object.fromEntries(shape.columns.map(([name], index) => [name, values[index]])) as Named<Table>)
    : undefined;

type FoundEvent = Omit<Named<typeof shapes.event>, 'id' | 'session' | 'lifecycle'>;

/** Of the newest row of a session whose checksum holds: how many events it counts, and where they led. */
export interface FoundRow extends Pick<StoredSession, 'seq' | 'hash' | 'status' | 'outcome' | 'position' | 'revision'> {
  readonly rowid: number | bigint;
}

/** Everything that was recognised. */
interface Found {
  readonly meta: { readonly id: Map<string, number>; readonly key: Map<string, number> };
  /** Of each session and seq every row that differs, newest first. */
  readonly eventsByKey: Map<string, Map<number, FoundEvent[]>>;
  readonly rowByKey: Map<string, FoundRow>;
  /** The highest seq that a damaged row says, by the rowid that it shares with the intact ones of its session. */
  readonly damagedByRowid: Map<number | bigint, number>;
  readonly requestById: Map<string, StoredRequest>;
  readonly mirrorById: Map<number, SalvagedMirror>;
}

const collect = (records: Iterable<LeafRecord>): Found => {
  const found: Found = {
    meta: { id: new Map(), key: new Map() },
    eventsByKey: new Map(),
    rowByKey: new Map(),
    damagedByRowid: new Map(),
    requestById: new Map(),
    mirrorById: new Map(),
  };
  for (const { rowid, values } of records) {
    const event = named(shapes.event, values);
    if (event !== undefined) {
      addEvent(found, event);
      continue;
    }
    const session = named(shapes.session, values);
    if (session !== undefined) {
      addRow(found, rowid, rowToStored(session, values.slice(shapes.session.columns.length + snapshotColumns)));
      continue;
    }
    const mirror = named(shapes.mirror, values);
    if (mirror !== undefined) {
      const { session: key, place, path, source, digest, stamp, at } = mirror;
      const whole = source >= 1 && path !== '' && isDigest(digest) && isTime(at);
      if (typeof rowid === 'number' && whole && !found.mirrorById.has(rowid))
        found.mirrorById.set(rowid, { session: key, place, path, source, digest, stamp, at });
      continue;
    }
    const request = named(shapes.request, values);
    if (request !== undefined) {
      const answer = parseObject(request.answer);
      const whole = answer !== undefined && (request.digest === '' || isDigest(request.digest)) && isTime(request.at);
      if (whole && !found.requestById.has(request.id)) found.requestById.set(request.id, { ...request, answer });
      continue;
    }
    const meta = named(shapes.meta, values);
    if (meta?.key === 'id' && /^[0-9a-f]{32}$/.test(meta.value)) count(found.meta.id, meta.value);
    if (meta?.key === 'key' && isDigest(meta.value)) count(found.meta.key, meta.value);
  }
  return found;
};

const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text);

const count = (counts: Map<string, number>, text: string): void => void counts.set(text, (counts.get(text) ?? 0) + 1);

/** Of several images of a row, one that was damaged differs from all others. */
const mostFrequent = (counts: ReadonlyMap<string, number>): string | null =>
  [...counts].reduce<readonly [string | null, number]>((best, next) => (next[1] > best[1] ? next : best), [null, 0])[0];

/** An event has as many rows as it was damaged in different ways; more than these say nothing new. */
const mostCandidates = 64;

const addEvent = ({ eventsByKey }: Found, row: Named<typeof shapes.event>): void => {
  const { session, seq, type, v, at, actor, place, cause, data, hash } = row;
  if (seq < 1) return;
  const event = { seq, type, v, at, actor, place, cause, data, hash };
  const bySeq = eventsByKey.get(session);
  const others = bySeq?.get(seq);
  if (others !== undefined) {
    if (others.length < mostCandidates && !others.some((other) => isSame(other, event))) others.push(event);
  } else if (bySeq !== undefined) bySeq.set(seq, [event]);
  else eventsByKey.set(session, new Map([[seq, [event]]]));
};

const isSame = (a: FoundEvent, b: FoundEvent): boolean =>
  a.hash === b.hash &&
  a.data === b.data &&
  a.type === b.type &&
  a.v === b.v &&
  a.at === b.at &&
  a.actor === b.actor &&
  a.place === b.place &&
  a.cause === b.cause;

/** `later` holds the columns that migrations have appended: null in rows that are older than they. */
const rowToStored = (row: Named<typeof shapes.session>, later: readonly (Value | undefined)[]): StoredSession => ({
  key: row.key,
  kind: row.kind,
  name: row.name,
  // The checksum covers it: any other text was damaged, and fails there.
  status: row.status as StoredSession['status'],
  outcome: row.outcome,
  branch: row.branch,
  place: row.place,
  worktree: row.worktree,
  position: row.position,
  startedAt: row.started_at,
  updatedAt: row.updated_at,
  closedAt: row.closed_at,
  seq: row.seq,
  revision: row.revision,
  hash: row.hash,
  common: row.common,
  view: row.view,
  viewVersion: row.view_version,
  checksum: row.checksum,
  interruptedAt: textOrNull(later[0]),
  flaw: textOrNull(later[1]),
  lease: parseLease(textOrNull(later[3])),
  pausedAt: textOrNull(later[4]),
  archivedAt: textOrNull(later[5]),
  listedChecksum: null,
});

const textOrNull = (value: Value | undefined): string | null => (typeof value === 'string' ? value : null);

const addRow = ({ rowByKey, damagedByRowid }: Found, rowid: number | bigint, stored: StoredSession): void => {
  const { key, seq, hash, status, outcome, position, revision } = stored;
  if (!isUndamaged(stored)) damagedByRowid.set(rowid, Math.max(seq, damagedByRowid.get(rowid) ?? 0));
  // Sessions only grow, so that the highest seq is the newest row, wherever it was found.
  else if (seq > (rowByKey.get(key)?.seq ?? 0))
    rowByKey.set(key, { seq, hash, status, outcome, position, revision, rowid });
};

const salvageSession = (key: string, { eventsByKey, rowByKey, damagedByRowid }: Found): SalvagedSession => {
  const bySeq = eventsByKey.get(key) ?? new Map<number, FoundEvent[]>();
  const row = rowByKey.get(key);
  const events = walk(key, bySeq, row);
  const next = events.length + 1;
  const hasMore = bySeq.keys().some((seq) => seq >= next);
  const ofRow = row === undefined ? undefined : events[row.seq - 1];
  const agrees = row === undefined || ofRow === undefined ? null : ofRow.hash === row.hash;
  const isNewest = row !== undefined && (damagedByRowid.get(row.rowid) ?? 0) <= row.seq;
  const certain = isNewest && agrees === true && row.seq === events.length;
  const isShort = events.length === 0 || (row !== undefined && row.seq > events.length) || (hasMore && !certain);
  const reason = bySeq.has(next) ? `event ${next} differs from its hash` : `event ${next} is missing`;
  return {
    key,
    events,
    lost: isShort ? { fromSeq: next, reason } : null,
    behind: hasMore ? walkBehind(key, bySeq, row, next) : [],
    row: row ?? null,
    agrees,
    certain,
  };
};

/** The events from seq 1 on, as far as the chain holds. */
const walk = (
  key: string,
  bySeq: ReadonlyMap<number, readonly FoundEvent[]>,
  row: FoundRow | undefined,
): readonly StoredEvent[] => {
  const events: StoredEvent[] = [];
  for (;;) {
    const seq = events.length + 1;
    const known = row?.seq === seq ? row.hash : undefined;
    const event = choose(key, bySeq.get(seq) ?? [], bySeq.get(seq + 1) ?? [], events.at(-1)?.hash ?? genesis, known);
    if (event === undefined) return events;
    events.push(event);
  }
};

/** The events from a seq on that can be verified with a hash that was stored before them, over all gaps. */
const walkBehind = (
  key: string,
  bySeq: ReadonlyMap<number, readonly FoundEvent[]>,
  row: FoundRow | undefined,
  from: number,
): readonly Link[] => {
  const links: Link[] = [];
  for (const seq of [...bySeq.keys()].filter((one) => one > from).toSorted((a, b) => a - b)) {
    const known = row?.seq === seq ? row.hash : undefined;
    const last = links.at(-1)?.event;
    const stored = (bySeq.get(seq - 1) ?? []).map(({ hash }) => hash);
    for (const previous of last?.seq === seq - 1 ? [last.hash, ...stored] : stored) {
      const event = choose(key, bySeq.get(seq) ?? [], bySeq.get(seq + 1) ?? [], previous, known);
      if (event === undefined) continue;
      links.push({ event, previous });
      break;
    }
  }
  return links;
};

/** The event that follows a hash, if one of its candidates does. */
const choose = (
  key: string,
  candidates: readonly FoundEvent[],
  followers: readonly FoundEvent[],
  previous: string,
  known: string | undefined,
): StoredEvent | undefined => {
  const links = candidates.flatMap((candidate) => chained(key, candidate, previous));
  const verified = links.filter(({ event, written }) => event.hash === written);
  const best =
    // Where two verify, as after a copy that was put back, the row knows which one is its own.
    verified.find(({ event }) => event.hash === known) ??
    verified[0] ??
    // Damage to the stored hash alone: the row, or the event that is chained to it, still vouches for the rest.
    links.find(
      ({ event }) =>
        event.hash === known ||
        followers.some((follower) =>
          chained(key, follower, event.hash).some((next) => next.event.hash === next.written),
        ),
    );
  return best?.event;
};

/** An event with the hash that it has after that one, and the hash that was written; none, where it is not even JSON. */
const chained = (
  session: string,
  { data: text, hash: written, ...rest }: FoundEvent,
  previous: string,
): readonly { readonly event: StoredEvent; readonly written: string }[] => {
  const data = parseObject(text);
  if (data === undefined) return [];
  try {
    const event = { session, ...rest, data };
    return [{ event: { ...event, hash: hashEvent(previous, event) }, written }];
  } catch {
    // A lone surrogate, which no event has: it was damaged.
    return [];
  }
};

const parseObject = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
};
