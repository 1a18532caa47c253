import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { isLifecycle, type StoredEvent } from './event.ts';
import type { Files, Places, ReadSession, SessionRow, Store } from './ports.ts';
import { refuse, type Refusal } from './refusal.ts';
import { absentSession, applyEvent, type Session } from './session.ts';
import type { Kind } from './kind.ts';

/** The columns of a session as lists show them. */
export const rowToJson = (row: SessionRow) => ({
  session: row.key,
  session_id: row.name,
  kind: row.kind,
  status: row.status,
  outcome: row.outcome,
  position: row.position,
  branch: row.branch,
  worktree: row.worktree,
  started_at: row.startedAt,
  updated_at: row.updatedAt,
  closed_at: row.closedAt,
  revision: row.revision,
});

/** Everything about where a session stands: its view, with what depends on the caller and the files laid over it. */
export const statusToJson = (
  { row, reason, notes, view, unreadable }: ReadSession,
  world: { readonly places: Places; readonly files: Files },
  folder: string,
): JsonObject => {
  const home = world.places.homeOf(row);
  return {
    session: row.key,
    session_id: row.name,
    kind: row.kind,
    status: row.status,
    outcome: row.outcome,
    position: view.position,
    ...(reason === null ? {} : { reason }),
    ...view.fields,
    started_at: row.startedAt,
    updated_at: row.updatedAt,
    closed_at: row.closedAt,
    completeness: view.completeness,
    missing: [...view.missing],
    remaining: [...view.remaining],
    evidence: view.evidence.map(({ label, path, atLeast }) => {
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
    next_action: { ...view.next },
    branch: row.branch,
    worktree: row.worktree,
    here: home.root === world.places.here.root,
    folder,
    notes,
    events: row.seq,
    revision: row.revision,
    ...(unreadable === undefined
      ? {}
      : {
          read_only: `event ${unreadable.seq} (${unreadable.type}, version ${unreadable.v}) is ${unreadable.reason === 'newer' ? 'newer than this program' : 'damaged'}`,
        }),
  };
};

/** One stretch of time in which a session stood at one position. */
export interface Span {
  readonly position: string;
  readonly from: string;
  /** Null while it lasts. */
  readonly to: string | null;
  /** Until `to`, or until now while it lasts. */
  readonly ms: number;
}

/**
 * How long a session stood where: one span for each stretch at one position, from its lifecycle events in order. The time
 * between a close and a reopening belongs to none. A span that lasts is counted up to `now`.
 */
export const spansOf = (kind: Kind, key: string, events: readonly StoredEvent[], now: string): readonly Span[] => {
  const spans: { position: string; from: string; to: string | null }[] = [];
  let session: Session = absentSession(kind, key);
  events.forEach((event, index) => {
    const opened = applyEvent(session, event);
    session = opened;
    // Events of one request happened at once: only where the last of them leads counts.
    if (events[index + 1]?.cause === event.cause || !isLifecycle(event.type)) return;
    const open = spans.at(-1);
    const position = opened.common.status === 'active' ? opened.folded.view(opened.common).position : null;
    if (open !== undefined && open.to === null && open.position !== position) open.to = event.at;
    if (position !== null && (open === undefined || open.to !== null))
      spans.push({ position, from: event.at, to: null });
  });
  return spans.map((span) => ({ ...span, ms: Math.max(0, Date.parse(span.to ?? now) - Date.parse(span.from)) }));
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
