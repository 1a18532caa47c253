import type { Json } from '../lib/canonical-json.ts';
import { checksum } from '../lib/checksum.ts';
import type { Common } from '../kernel/common.ts';
import { isClaim, type Claim } from '../kernel/lease.ts';
import type { Kind, Unreadable } from '../kernel/kind.ts';
import type { ReadSession, SessionRow } from '../kernel/ports.ts';
import { absentSession, findUnknownType, viewOfSession, type OpenedSession, type Session } from '../kernel/session.ts';
import type { View } from '../kernel/view.ts';

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
  readonly snapshot: string | null;
  readonly snapshotSeq: number;
  readonly snapshotVersion: number;
  readonly snapshotChecksum: number;
  /** Size of the lifecycle events since the snapshot, in UTF-16 code units of their data. */
  readonly tailBytes: number;
}

/** Raised when the kernel's part of the view or the common state changes its shape. */
const kernelVersion = 4;

/** The version of a stored view: the kernel's and the kind's shape. */
const viewVersionOf = (kind: Kind): string => `${kernelVersion}.${kind.stateVersion}`;

/** A tail below this size is not worth a snapshot. */
const smallestTail = 4096;

/**
 * The row of a session after it was written. `added` is the size of the lifecycle events that were appended. After remarks
 * alone (`added` undefined) the view stays what it was, and so does the snapshot.
 */
export const sessionToStored = (
  session: OpenedSession,
  before: StoredSession | undefined,
  added: number | undefined,
): StoredSession => {
  const { common } = session;
  const commonText = JSON.stringify(common);
  const projections =
    before !== undefined && added === undefined
      ? before
      : projectionsOf(session, before, (before?.tailBytes ?? 0) + (added ?? 0));
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
    common: commonText,
    position: projections.position,
    view: projections.view,
    viewVersion: projections.viewVersion,
    snapshot: projections.snapshot,
    snapshotSeq: projections.snapshotSeq,
    snapshotVersion: projections.snapshotVersion,
    snapshotChecksum: projections.snapshotChecksum,
    tailBytes: projections.tailBytes,
  };
  const listedChecksum = listedChecksumOf(row);
  return { ...row, listedChecksum, checksum: checksumOf(row, listedChecksum) };
};

type Projections = Pick<
  StoredSession,
  | 'position'
  | 'view'
  | 'viewVersion'
  | 'snapshot'
  | 'snapshotSeq'
  | 'snapshotVersion'
  | 'snapshotChecksum'
  | 'tailBytes'
>;

const projectionsOf = (session: OpenedSession, before: StoredSession | undefined, tail: number): Projections => {
  const view = viewOfSession(session);
  return {
    position: view.position,
    view: JSON.stringify(view),
    viewVersion: viewVersionOf(session.kind),
    ...snapshotOf(session, before, tail),
  };
};

/** A snapshot is taken when the tail has outgrown the last one: so appending costs O(1), and loading O(state). */
const snapshotOf = (
  session: OpenedSession,
  before: StoredSession | undefined,
  tail: number,
): Pick<StoredSession, 'snapshot' | 'snapshotSeq' | 'snapshotVersion' | 'snapshotChecksum' | 'tailBytes'> => {
  if (tail < Math.max(smallestTail, before?.snapshot?.length ?? 0)) {
    return {
      snapshot: before?.snapshot ?? null,
      snapshotSeq: before?.snapshotSeq ?? 0,
      snapshotVersion: before?.snapshotVersion ?? 0,
      snapshotChecksum: before?.snapshotChecksum ?? 0,
      tailBytes: tail,
    };
  }
  const snapshot = session.folded.freeze();
  return {
    snapshot,
    snapshotSeq: session.common.seq,
    snapshotVersion: session.kind.stateVersion,
    snapshotChecksum: checksum(snapshot),
    tailBytes: 0,
  };
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

/** The session of a row before its tail: thawed where a snapshot holds, else empty; undefined where the row is not intact. */
export const storedToSession = (
  stored: StoredSession,
  kind: Kind,
): { readonly session: Session; readonly after: number } | undefined => {
  if (!isIntact(stored, kind)) return undefined;
  const base = { ...absentSession(kind, stored.key), common: parseCommon(stored), hash: stored.hash };
  const holds =
    stored.snapshot !== null &&
    stored.snapshotVersion === kind.stateVersion &&
    stored.snapshotChecksum === checksum(stored.snapshot);
  if (!holds || stored.snapshot === null) return { session: base, after: 0 };
  const snapshot: Json = JSON.parse(stored.snapshot);
  return { session: { ...base, folded: kind.thaw(snapshot) }, after: stored.snapshotSeq };
};

/** Whether a row says what a freshly made one says; how far its snapshot reaches is its own affair, if it is usable. */
export const saysTheSame = (stored: StoredSession, fresh: StoredSession, kind: Kind): boolean =>
  isIntact(stored, kind) &&
  stored.checksum === fresh.checksum &&
  (stored.snapshot === null ? stored.snapshotSeq === 0 : storedToSession(stored, kind)?.after === stored.snapshotSeq);

/** The common state of a row whose checksum holds. */
export const parseCommon = (stored: StoredSession): Common => JSON.parse(stored.common);

/** A row as it is read, from its stored view. */
export const storedToRead = (stored: StoredSession, unreadable: Unreadable | undefined): ReadSession => {
  const common = parseCommon(stored);
  const view: View = JSON.parse(stored.view);
  return { row: stored, reason: common.reason, pause: common.pause ?? null, notes: common.notes, view, unreadable };
};

/** A folded session as it is read. */
export const sessionToRead = (session: OpenedSession): ReadSession => {
  const { common } = session;
  const view = viewOfSession(session);
  return {
    row: { ...common, pausedAt: common.pause?.at ?? null, position: view.position },
    reason: common.reason,
    pause: common.pause,
    notes: common.notes,
    view,
    unreadable: session.unreadable,
  };
};

/** What makes a session read-only for this program, told from the types of its events; `seq` is 0 until it is looked up. */
export const unreadableOf = (kind: Kind, common: Common): Unreadable | undefined => {
  const unknown = findUnknownType(kind, common);
  return unknown === undefined ? undefined : { ...unknown, seq: 0, reason: 'newer' };
};
