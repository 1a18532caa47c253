import { takenFiles } from '../../kernel/documents.ts';
import type { StoredEvent } from '../../kernel/event.ts';
import { mirrorsOf, type Kinds, type Mirror } from '../../kernel/kind.ts';
import { goneDigest, leftStamp, type MirrorFile, type MirrorRecord } from '../../kernel/ports.ts';
import type { OpenedSession, Session } from '../../kernel/session.ts';
import { isOpened } from '../../kernel/session.ts';
import { sha256 } from '../../lib/sha256.ts';
import { number, text, textOrNull } from './values.ts';
import { all, get, run, type Row, type Work } from './work.ts';

const columns = 'session, place, path, source, digest, stamp';
const newest =
  'NOT EXISTS (SELECT 1 FROM mirror later WHERE later.place = mirror.place AND later.path = mirror.path AND later.id > mirror.id)';

/**
 * Records the mirrors that a commit changed, before anything of them is written. A file is left by a commit alone: of one that
 * the session was never in nothing is to be done, and perhaps it is another session's by now. One beside documents counts as
 * left there, so that a version of it which version control has brought is taken away.
 */
export function* recordMirrors(
  kinds: Kinds,
  before: Session | undefined,
  after: OpenedSession,
  eventAt: (seq: number) => Work<StoredEvent | undefined>,
): Work<void> {
  const wasOpened = before !== undefined && isOpened(before);
  const placed = ({ place = after.common.place, path }: Mirror): string => `${place} ${path}`;
  const earlier = new Map(wasOpened ? mirrorsOf(kinds, before).map((mirror) => [placed(mirror), mirror]) : []);
  for (const mirror of mirrorsOf(kinds, after)) {
    const known = earlier.get(placed(mirror));
    // What another program had left there is left with the first thing that happens here.
    const wasThere = known === undefined ? wasOpened && mirror.original !== undefined : known.isGone !== true;
    if (known?.source === mirror.source) continue;
    const wasNever = mirror.isGone === true && !wasThere;
    if (wasNever && mirror.place === undefined) continue;
    const isUnsure = mirror.isOriginalAlone === true && known === undefined;
    if (isUnsure && (yield* selectMirrorAt(after.common.place, mirror.path)) !== undefined) continue;
    const events: StoredEvent[] = [];
    for (const seq of [mirror.source, ...(mirror.others ?? [])]) {
      const event = yield* eventAt(seq);
      if (event === undefined)
        throw new Error(`${after.key}: the mirror ${mirror.path} is made from event ${seq}, which is not there`);
      events.push(event);
    }
    const [source, ...others] = events;
    if (source === undefined) throw new Error(`${after.key}: the mirror ${mirror.path} is made from no event`);
    yield* run(
      'INSERT INTO mirror (session, place, path, source, digest, stamp, at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      after.key,
      mirror.place ?? after.common.place,
      mirror.path,
      mirror.source,
      mirror.isGone === true ? goneDigest : (mirror.document?.digestOf ?? sha256)(mirror.render(source, ...others)),
      wasNever ? leftStamp : null,
      after.common.updatedAt,
    );
  }
}

/**
 * Records what was taken in of documents as versions of their files, ahead of the version that is made of it: whoever finds
 * one of them there later has found nothing new.
 */
export function* recordTaken(events: readonly StoredEvent[]): Work<void> {
  for (const event of events)
    for (const { place, path, digest } of takenFiles(event))
      if (!(yield* wasMirror(place, path, digest)))
        yield* run(
          'INSERT INTO mirror (session, place, path, source, digest, at) VALUES (?, ?, ?, ?, ?, ?)',
          event.session,
          place,
          path,
          event.seq,
          digest,
          event.at,
        );
}

/** The newest record of each mirror of these sessions, and of every mirror that was not written yet. */
export function* selectMirrors(sessions: readonly string[]): Work<readonly MirrorRecord[]> {
  // There may be a version of each for every commit: the index alone says which is the newest.
  const named =
    sessions.length === 0
      ? ''
      : `SELECT max(id) FROM mirror WHERE session IN (${sessions.map(() => '?').join(', ')}) GROUP BY session, place, path UNION ALL `;
  const rows = yield* all(
    `SELECT ${columns} FROM mirror WHERE id IN (${named}SELECT id FROM mirror WHERE stamp IS NULL) AND ${newest} ORDER BY id`,
    ...sessions,
  );
  return rows.map(rowToRecord);
}

/** The newest record of the file at a path, whichever session it is of. */
export function* selectMirrorAt(place: string, path: string): Work<MirrorRecord | undefined> {
  const row = yield* get(
    `SELECT ${columns} FROM mirror WHERE place = ? AND path = ? ORDER BY id DESC LIMIT 1`,
    place,
    path,
  );
  return row === undefined ? undefined : rowToRecord(row);
}

/** Whether a version of a mirror with that digest was ever made. */
export function* wasMirror(place: string, path: string, digest: string): Work<boolean> {
  const row = yield* get(
    'SELECT id FROM mirror WHERE place = ? AND path = ? AND digest = ? LIMIT 1',
    place,
    path,
    digest,
  );
  return row !== undefined;
}

/** The session of which the file at a path was a version, in whichever checkout: each is asked, of which there are few. */
export function* selectVersion(path: string, digest: string): Work<string | undefined> {
  const row = yield* get(
    `WITH RECURSIVE known(place) AS (
       SELECT min(place) FROM mirror
       UNION ALL SELECT (SELECT min(place) FROM mirror WHERE place > known.place) FROM known WHERE place IS NOT NULL
     )
     SELECT session FROM known CROSS JOIN mirror
     WHERE mirror.place = known.place AND path = ? AND digest = ? ORDER BY mirror.id DESC LIMIT 1`,
    path,
    digest,
  );
  return row === undefined ? undefined : text(row, 'session');
}

/** The digest of a file that looks as the version which was written last: it needs no reading. */
function* digestByStamp({ place, path }: MirrorRecord, stamp: string | null): Work<string | undefined> {
  if (stamp === null) return undefined;
  const row = yield* get(
    'SELECT digest, stamp FROM mirror WHERE place = ? AND path = ? AND stamp IS NOT NULL ORDER BY id DESC LIMIT 1',
    place,
    path,
  );
  return row === undefined || textOrNull(row, 'stamp') !== stamp ? undefined : text(row, 'digest');
}

/** Whether what was found is a version of a file; of documents one that was made in another checkout is one too. */
function* wasVersion({ place, path }: MirrorRecord, { isDocument }: MirrorFile, digest: string): Work<boolean> {
  if (yield* wasMirror(place, path, digest)) return true;
  return isDocument === true && (yield* selectVersion(path, digest)) !== undefined;
}

/** Brings a file up to date if the record is still the newest of its mirror; for who holds the lock on it. */
export function* settleMirror(
  record: MirrorRecord,
  file: MirrorFile,
): Work<{ readonly commit: boolean; readonly value: boolean }> {
  const row = yield* get(
    `SELECT id, session, source FROM mirror WHERE place = ? AND path = ? ORDER BY id DESC LIMIT 1`,
    record.place,
    record.path,
  );
  // Several sessions may have been in one file.
  const isNewest = row !== undefined && text(row, 'session') === record.session;
  if (!isNewest || number(row, 'source') !== record.source) return { commit: false, value: false };
  const known = yield* digestByStamp(record, file.stamp());
  const found = known ?? file.digest();
  const wasMade = known !== undefined || (found !== null && (yield* wasVersion(record, file, found)));
  const stamp = file.write(found, wasMade);
  if (stamp === record.stamp) return { commit: false, value: true };
  yield* run('UPDATE mirror SET stamp = ? WHERE id = ?', stamp, number(row, 'id'));
  return { commit: true, value: true };
}

const rowToRecord = (row: Row): MirrorRecord => ({
  session: text(row, 'session'),
  place: text(row, 'place'),
  path: text(row, 'path'),
  source: number(row, 'source'),
  digest: text(row, 'digest'),
  stamp: textOrNull(row, 'stamp'),
});
