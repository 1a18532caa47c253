import type { RowFilter, SessionRow } from '../../kernel/ports.ts';
import { listedChecksumOf, parseLease, type StoredSession } from '../rows.ts';
import { number, numberOrNull, text, textOrNull } from './values.ts';
import { all, get, run, type Row, type Work } from './work.ts';

const listed =
  'key, kind, name, status, outcome, branch, place, worktree, position, started_at, updated_at, closed_at, seq, revision, interrupted_at, flaw, paused_at, archived_at, lease';
const stored = `${listed}, hash, common, view, view_version, checksum, listed_checksum`;

/**
 * The rows that match, those changed last first. What was damaged on its way is not shown: `remake` makes such a row anew
 * from its events, or fails.
 */
export function* selectRows(filter: RowFilter, remake: (key: string) => Work<SessionRow>): Work<readonly SessionRow[]> {
  const conditions: string[] = [];
  const values: string[] = [];
  const where = (condition: string, ...more: readonly string[]): void => {
    conditions.push(condition);
    values.push(...more);
  };
  if (filter.kind !== undefined) where('kind = ?', filter.kind);
  if (filter.name !== undefined) where('name = ?', filter.name);
  // Every name is ASCII, so that all names with a prefix lie between it and it followed by the character after "z".
  if (filter.namePrefix !== undefined) where('name >= ? AND name < ?', filter.namePrefix, `${filter.namePrefix}{`);
  if (filter.status === 'active') where(`status = 'active'`);
  if (filter.status === 'closed') where(`status = 'closed'`);
  if (filter.branch === null) where('branch IS NULL');
  else if (filter.branch !== undefined) where('branch = ?', filter.branch);
  // A damaged column or index could hide a row from a condition.
  const clause =
    filter.thorough === true ? ' NOT INDEXED' : conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  const found = yield* all(
    `SELECT ${listed}, listed_checksum FROM session${clause} ORDER BY updated_at DESC, key`,
    ...(filter.thorough === true ? [] : values),
  );
  const rows: SessionRow[] = [];
  for (const row of found) {
    const listedRow = rowToListed(row);
    const written = numberOrNull(row, 'listed_checksum');
    // What is looked up by an index is loaded next, and its row is checked whole then.
    const isProved = filter.thorough !== true || written === null || written === listedChecksumOf(listedRow);
    rows.push(isProved ? listedRow : yield* remake(listedRow.key));
  }
  return filter.thorough === true ? rows.filter((row) => matches(row, filter)) : rows;
}

const matches = (row: SessionRow, filter: RowFilter): boolean =>
  (filter.kind === undefined || row.kind === filter.kind) &&
  (filter.name === undefined || row.name === filter.name) &&
  (filter.namePrefix === undefined || row.name.startsWith(filter.namePrefix)) &&
  (filter.status === undefined || row.status === filter.status) &&
  (filter.branch === undefined || row.branch === filter.branch);

/** The keys of all sessions. */
export function* selectKeys(): Work<readonly string[]> {
  const rows = yield* all('SELECT key FROM session NOT INDEXED ORDER BY key');
  return rows.map((row) => text(row, 'key'));
}

/** The whole row of a session. */
export function* selectSession(key: string): Work<StoredSession | undefined> {
  const row = yield* get(`SELECT ${stored} FROM session WHERE key = ?`, key);
  if (row === undefined) return undefined;
  return {
    ...rowToListed(row),
    hash: text(row, 'hash'),
    common: text(row, 'common'),
    view: text(row, 'view'),
    viewVersion: text(row, 'view_version'),
    checksum: number(row, 'checksum'),
    listedChecksum: numberOrNull(row, 'listed_checksum'),
  };
}

/** The columns of a session, with what each holds, in the order of the statement. */
const columnsOf = (session: StoredSession): Readonly<Record<string, string | number | null>> => ({
  outcome: session.outcome,
  position: session.position,
  updated_at: session.updatedAt,
  closed_at: session.closedAt,
  seq: session.seq,
  revision: session.revision,
  interrupted_at: session.interruptedAt,
  flaw: session.flaw,
  paused_at: session.pausedAt,
  archived_at: session.archivedAt,
  listed_checksum: session.listedChecksum,
  hash: session.hash,
  common: session.common,
  view: session.view,
  view_version: session.viewVersion,
  checksum: session.checksum,
});

/** Those that hardly ever change; a column that is set has its indexes written anew, whether it changes or not. */
const steadyColumnsOf = (session: StoredSession): Readonly<Record<string, string | number | null>> => ({
  kind: session.kind,
  name: session.name,
  branch: session.branch,
  status: session.status,
  place: session.place,
  worktree: session.worktree,
  started_at: session.startedAt,
  lease: session.lease === null ? null : JSON.stringify(session.lease),
});

/** Where snapshots were before they had a table: older programs, which read a newer store, still look there. */
const formerColumns = { snapshot_seq: 0, snapshot_version: 0, snapshot_checksum: 0, tail_bytes: 0 } as const;

/** Writes the row of a session; what hardly ever changes only where it is another one. */
export function* upsertSession(session: StoredSession, before: StoredSession | undefined): Work<void> {
  if (before === undefined) {
    const columns = {
      key: session.key,
      ...columnsOf(session),
      ...steadyColumnsOf(session),
      ...formerColumns,
    };
    const names = Object.keys(columns);
    yield* run(
      `INSERT INTO session (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
      ...Object.values(columns),
    );
    return;
  }
  const isSteady =
    before.kind === session.kind &&
    before.name === session.name &&
    before.branch === session.branch &&
    before.status === session.status &&
    before.place === session.place &&
    before.worktree === session.worktree &&
    before.startedAt === session.startedAt &&
    JSON.stringify(before.lease) === JSON.stringify(session.lease);
  const columns = {
    ...columnsOf(session),
    ...(isSteady ? {} : steadyColumnsOf(session)),
  };
  const changes = Object.keys(columns).map((name) => `${name} = ?`);
  yield* run(`UPDATE session SET ${changes.join(', ')} WHERE key = ?`, ...Object.values(columns), session.key);
}

const rowToListed = (row: Row): SessionRow => ({
  key: text(row, 'key'),
  kind: text(row, 'kind'),
  name: text(row, 'name'),
  status: text(row, 'status') === 'active' ? 'active' : 'closed',
  outcome: textOrNull(row, 'outcome'),
  branch: textOrNull(row, 'branch'),
  place: text(row, 'place'),
  worktree: text(row, 'worktree'),
  position: text(row, 'position'),
  startedAt: text(row, 'started_at'),
  updatedAt: text(row, 'updated_at'),
  closedAt: textOrNull(row, 'closed_at'),
  seq: number(row, 'seq'),
  revision: number(row, 'revision'),
  interruptedAt: textOrNull(row, 'interrupted_at'),
  flaw: textOrNull(row, 'flaw'),
  pausedAt: textOrNull(row, 'paused_at'),
  archivedAt: textOrNull(row, 'archived_at'),
  lease: parseLease(textOrNull(row, 'lease')),
});
