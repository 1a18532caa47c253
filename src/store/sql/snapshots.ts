import type { OpenedSession } from '../../kernel/session.ts';
import { isHeavy, takeSnapshot, type StoredSnapshot, type Weight } from '../rows.ts';
import { number, text } from './values.ts';
import { get, run, type Work } from './work.ts';

/** The snapshot of a session. It is large where the state is: only who folds the state asks for it. */
export function* selectSnapshot(key: string): Work<StoredSnapshot | undefined> {
  const row = yield* get('SELECT session, seq, version, checksum, state FROM snapshot WHERE session = ?', key);
  return row === undefined
    ? undefined
    : {
        session: text(row, 'session'),
        seq: number(row, 'seq'),
        version: number(row, 'version'),
        checksum: number(row, 'checksum'),
        state: text(row, 'state'),
      };
}

/** Takes a snapshot of a session, where it is worth one; answers what it is folded from then. */
export function* keepSnapshot(session: OpenedSession, weight: Weight): Work<Weight> {
  // Of what this program cannot fold the state holds nothing.
  if (session.unreadable !== undefined || !isHeavy(weight)) return weight;
  const { seq, version, checksum, state } = takeSnapshot(session);
  yield* run(
    `INSERT INTO snapshot (session, seq, version, checksum, state) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (session) DO UPDATE SET seq = excluded.seq, version = excluded.version, checksum = excluded.checksum,
       state = excluded.state`,
    session.key,
    seq,
    version,
    checksum,
    state,
  );
  return { snapshot: state.length, tail: 0 };
}

/** Forgets the snapshot of a session. */
export const dropSnapshot = (key: string): Work<void> => run('DELETE FROM snapshot WHERE session = ?', key);
