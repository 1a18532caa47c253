import { canonicalJson, type Json } from '../lib/canonical-json.ts';
import { checksum } from '../lib/checksum.ts';
import type { Common } from '../kernel/common.ts';
import { isClaim, type Claim } from '../kernel/lease.ts';
import type { Kind, Unreadable } from '../kernel/kind.ts';
import type { ReadSession, SessionRow } from '../kernel/ports.ts';
import { absentSession, findUnknownType, viewOfSession, type OpenedSession, type Session } from '../kernel/session.ts';

/** A session as a backend keeps it: columns, and projections that carry version and checksum. */
export interface StoredSession extends SessionRow {
  readonly hash: string;
  /** JSON of the common state. */
  readonly common: string;
  /** JSON of the view. */
  readonly view: string;
  readonly viewVersion: string;
  readonly checksum: number;
  /** Covers the columns alone; null where an older program wrote them. */
  readonly listedChecksum: number | null;
}

/** The state of a session's kind at one of its events, as a backend keeps it apart from the row. */
export interface StoredSnapshot {
  readonly session: string;
  readonly seq: number;
  /** The `stateVersion` of the kind that it was taken under. */
  readonly version: number;
  readonly checksum: number;
  readonly state: string;
}

/** What a session is folded from, in UTF-16 code units: its snapshot, and the data of the lifecycle events behind it. */
export interface Weight {
  readonly snapshot: number;
  readonly tail: number;
}

/** Raised when the kernel's part of the view or the common state changes its shape. */
const kernelVersion = 5;

/** The version of a stored view: the kernel's and the kind's shape. */
const viewVersionOf = (kind: Kind): string => `${kernelVersion}.${kind.stateVersion}`;

/** A tail below this size is not worth a snapshot. */
const smallestTail = 4096;

/** The row of a session as it is now; `unmoved` is the one before, where remarks alone were appended: then the view stays. */
export const sessionToStored = (session: OpenedSession, unmoved?: StoredSession): StoredSession => {
  const { common } = session;
  const { position, view, viewVersion } = unmoved ?? viewToStored(session);
  const row = {
    key: common.key,
    kind: common.kind,
    name: common.name,
    status: common.status,
    outcome: common.outcome,
    branch: common.branch,
    place: common.place,
    worktree: common.worktree,
    startedAt: common.startedAt,
    updatedAt: common.updatedAt,
    closedAt: common.closedAt,
    seq: common.seq,
    revision: common.revision,
    interruptedAt: common.interruptedAt,
    flaw: common.flaw,
    pausedAt: common.pause?.at ?? null,
    archivedAt: common.archivedAt,
    lease: common.lease,
    hash: session.hash,
    common: JSON.stringify(common),
    position,
    view,
    viewVersion,
  };
  const listedChecksum = listedChecksumOf(row);
  return { ...row, listedChecksum, checksum: checksumOf(row, listedChecksum) };
};

const viewToStored = (session: OpenedSession): Pick<StoredSession, 'position' | 'view' | 'viewVersion'> => {
  const view = viewOfSession(session);
  return { position: view.position, view: JSON.stringify(view), viewVersion: viewVersionOf(session.kind) };
};

/**
 * Whether a session is worth another snapshot. Of a state of 1 MB, reading it costs 18 ms, writing it 30 ms: a tail of a
 * thirty-second part is some 150 events, which are folded in less than that, and have paid for it.
 */
export const isHeavy = ({ snapshot, tail }: Weight): boolean => tail >= Math.max(smallestTail, snapshot / 32);

/** A snapshot of a session as it is now. */
export const takeSnapshot = (session: OpenedSession): StoredSnapshot => {
  const taken = {
    session: session.key,
    seq: session.common.seq,
    version: session.kind.stateVersion,
    state: session.folded.freeze(),
  };
  return { ...taken, checksum: snapshotChecksumOf(taken) };
};

const snapshotChecksumOf = ({ session, seq, version, state }: Omit<StoredSnapshot, 'checksum'>): number =>
  checksum(session, String(seq), String(version), state);

/** Whether a snapshot can be gone on from: it is what was written, by a program with the same shape, of what was then. */
const isUsable = (snapshot: StoredSnapshot, kind: Kind, newest: number): boolean =>
  snapshot.version === kind.stateVersion &&
  snapshot.seq <= newest &&
  snapshot.checksum === snapshotChecksumOf(snapshot);

/**
 * Looks for what a snapshot says among the situations that a replay passes. One of a program with another shape says nothing.
 */
export const proveSnapshot = (
  snapshot: StoredSnapshot | undefined,
  kind: Kind,
): { readonly pass: (session: Session) => void; readonly isProved: () => boolean } => {
  if (snapshot === undefined || snapshot.version !== kind.stateVersion) return { pass: () => {}, isProved: () => true };
  let isProved = false;
  return {
    pass: ({ common, folded }) => {
      if (common?.seq !== snapshot.seq) return;
      isProved = isUsable(snapshot, kind, snapshot.seq) && isSameJson(snapshot.state, folded.freeze());
    },
    isProved: () => isProved,
  };
};

/** The order of keys may depend on where a state was folded from. */
const isSameJson = (a: string, b: string): boolean => a === b || canonicalOf(a) === canonicalOf(b);

const canonicalOf = (text: string): string => {
  const value: Json = JSON.parse(text);
  return canonicalJson(value);
};

/** Covers the projections and the columns that are made of them. */
const checksumOf = (row: Pick<StoredSession, 'hash' | 'common' | 'view'>, listed: number): number =>
  checksum(row.hash, row.common, row.view, String(listed));

/** Covers the columns that lists and resolution read. */
export const listedChecksumOf = (row: SessionRow): number =>
  checksum(
    [
      row.key,
      row.kind,
      row.name,
      row.status,
      row.outcome,
      row.branch,
      row.place,
      row.worktree,
      row.position,
      row.startedAt,
      row.updatedAt,
      row.closedAt,
      row.seq,
      row.revision,
      row.interruptedAt,
      row.flaw,
      // Nothing where there is none: rows that are older than these columns stay what they are.
      ...(row.lease === null ? [] : [JSON.stringify(row.lease)]),
      ...(row.pausedAt === null ? [] : [`paused ${row.pausedAt}`]),
      ...(row.archivedAt === null ? [] : [`archived ${row.archivedAt}`]),
    ].join('\n'),
  );

/** A claim as it is written in a row; what is none any more shows by the checksum. */
export const parseLease = (json: string | null): Claim | null => {
  if (json === null) return null;
  try {
    const claim: unknown = JSON.parse(json);
    return isClaim(claim) ? claim : null;
  } catch {
    return null;
  }
};

/** Whether a row is what was written, by whatever program. */
export const isUndamaged = (stored: StoredSession): boolean =>
  stored.checksum === checksumOf(stored, listedChecksumOf(stored));

/** Whether a row was made by a program with other shapes: it is made anew when it is read, and no damage. */
export const isOfOtherShape = (stored: StoredSession, kind: Kind): boolean =>
  stored.viewVersion !== viewVersionOf(kind);

/** Whether the projections of a row are what was written, by a program with the same shapes. */
export const isIntact = (stored: StoredSession, kind: Kind): boolean =>
  !isOfOtherShape(stored, kind) && isUndamaged(stored);

/** The session of an intact row before its tail: thawed where there is a snapshot that can be used, else empty. */
export const storedToSession = (
  stored: StoredSession,
  snapshot: StoredSnapshot | undefined,
  kind: Kind,
): { readonly session: Session; readonly after: number; readonly weight: number } => {
  const base = { ...absentSession(kind, stored.key), common: parseCommon(stored), hash: stored.hash };
  if (snapshot === undefined || !isUsable(snapshot, kind, stored.seq)) return { session: base, after: 0, weight: 0 };
  const state: Json = JSON.parse(snapshot.state);
  return { session: { ...base, folded: kind.thaw(state) }, after: snapshot.seq, weight: snapshot.state.length };
};

/** Whether a row says what a freshly made one says. */
export const saysTheSame = (stored: StoredSession, fresh: StoredSession, kind: Kind): boolean =>
  isIntact(stored, kind) && stored.checksum === fresh.checksum;

/** The common state of a row whose checksum holds. */
export const parseCommon = (stored: StoredSession): Common => JSON.parse(stored.common);

/** A row as it is read, from its stored view. */
export const storedToRead = (stored: StoredSession, unreadable: Unreadable | undefined): ReadSession => ({
  row: stored,
  common: parseCommon(stored),
  view: JSON.parse(stored.view),
  unreadable,
});

/** What makes a session read-only for this program, told from the types of its events; `seq` is 0 until it is looked up. */
export const unreadableOf = (kind: Kind, common: Common): Unreadable | undefined => {
  const unknown = findUnknownType(kind, common);
  return unknown === undefined ? undefined : { ...unknown, seq: 0, reason: 'newer' };
};
