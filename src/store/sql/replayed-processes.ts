import type { Session } from '../../kernel/session.ts';
import { checksum } from '../../lib/checksum.ts';
import { dataOf, isTime, runningOf, upsertProcess } from './processes.ts';
import { all, run, type Work } from './work.ts';

/** Makes the rows of a session's processes anew, from a replay that knows all of them; answers whether any differed. */
export function* rebuildProcesses(session: Session): Work<boolean> {
  if (yield* processesAgree(session)) return false;
  const rows = yield* all('SELECT id, heartbeat_at FROM process WHERE session = ?', session.key);
  const heard = new Map(rows.map((row) => [row['id'], row['heartbeat_at']]));
  // All of them, so that those that started first come first, and none is left that no event knows.
  yield* run('DELETE FROM process WHERE session = ?', session.key);
  for (const process of session.processes.values()) {
    const kept = heard.get(process.id);
    const isLater = typeof kept === 'string' && isTime(kept) && kept > process.heartbeatAt;
    yield* upsertProcess(isLater ? { ...process, heartbeatAt: kept } : process);
  }
  return true;
}

/** Whether the rows of a session's processes say what a replay says. */
export function* processesAgree(session: Session): Work<boolean> {
  const rows = yield* all(
    'SELECT id, data, checksum, running, heartbeat_at FROM process WHERE session = ? ORDER BY rowid',
    session.key,
  );
  const processes = [...session.processes.values()];
  return (
    rows.length === processes.length &&
    processes.every((process, index) => {
      const row = rows[index];
      const data = dataOf(process);
      return (
        row !== undefined &&
        row['id'] === process.id &&
        row['data'] === data &&
        row['checksum'] === checksum(data) &&
        row['running'] === runningOf(process) &&
        isTime(row['heartbeat_at'])
      );
    })
  );
}
