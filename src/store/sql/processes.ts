import { StoreFailure, type ProcessFilter } from '../../kernel/ports.ts';
import { processOf, type Process } from '../../kernel/process.ts';
import { refuse } from '../../kernel/refusal.ts';
import type { StoredEvent } from '../../kernel/event.ts';
import type { Session } from '../../kernel/session.ts';
import { checksum } from '../../lib/checksum.ts';
import { number, text } from './values.ts';
import { all, run, type Row, type Work } from './work.ts';

/** Processes, those started first first. */
export function* selectProcesses(filter: ProcessFilter): Work<readonly Process[]> {
  const conditions: string[] = [];
  const values: string[] = [];
  const where = (condition: string, ...more: readonly string[]): void => {
    conditions.push(condition);
    values.push(...more);
  };
  if (filter.id !== undefined) where('id = ?', filter.id);
  if (filter.session !== undefined) where('session = ?', filter.session);
  if (filter.running === true) where('running = 1');
  const clause = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  const rows = yield* all(`SELECT id, data, checksum, heartbeat_at FROM process${clause} ORDER BY rowid`, ...values);
  return rows
    .map(rowToProcess)
    .toSorted((a, b) => (a.startedAt === b.startedAt ? 0 : a.startedAt < b.startedAt ? -1 : 1));
}

/** Writes the rows of the processes that these events are about, from what the session says of them now. */
export function* recordProcesses(session: Session, events: readonly StoredEvent[]): Work<void> {
  for (const id of new Set(events.map(processOf))) {
    if (id === undefined) continue;
    const process = session.processes.get(id);
    if (process === undefined) throw new Error(`${session.key}: the process ${id} was not loaded`);
    yield* upsertProcess(process);
  }
}

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

/** Keeps when a running process was last heard of; that does not go back. */
export const beatProcess = (id: string, at: string): Work<void> =>
  run('UPDATE process SET heartbeat_at = ? WHERE id = ? AND running = 1 AND heartbeat_at < ?', at, id, at);

function* upsertProcess(process: Process): Work<void> {
  const data = dataOf(process);
  yield* run(
    `INSERT INTO process (id, session, running, data, checksum, heartbeat_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET session = excluded.session, running = excluded.running, data = excluded.data,
       checksum = excluded.checksum, heartbeat_at = excluded.heartbeat_at`,
    process.id,
    process.session,
    runningOf(process),
    data,
    checksum(data),
    process.heartbeatAt,
  );
}

const runningOf = (process: Process): number => (process.endedAt === null ? 1 : 0);

/** What the events say: everything but the heartbeat. */
const dataOf = (process: Process): string => JSON.stringify({ ...process, heartbeatAt: undefined });

/** Whether a heartbeat is a time as they are written: another one could not be compared. */
const isTime = (value: unknown): boolean =>
  typeof value === 'string' &&
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(value) &&
  !Number.isNaN(Date.parse(value));

const rowToProcess = (row: Row): Process => {
  const data = text(row, 'data');
  if (checksum(data) !== number(row, 'checksum') || !isTime(row['heartbeat_at'])) {
    throw new StoreFailure(
      refuse('damaged', `What the store says of the process ${text(row, 'id')} was damaged.`, {
        hint: 'stint rebuild',
      }),
    );
  }
  const said: Omit<Process, 'heartbeatAt'> = JSON.parse(data);
  return { ...said, heartbeatAt: text(row, 'heartbeat_at') };
};
