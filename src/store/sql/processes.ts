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

/** Keeps when a running process was last heard of; that does not go back. */
export const beatProcess = (id: string, at: string): Work<void> =>
  run('UPDATE process SET heartbeat_at = ? WHERE id = ? AND running = 1 AND heartbeat_at < ?', at, id, at);

export function* upsertProcess(process: Process): Work<void> {
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

export const runningOf = (process: Process): number => (process.endedAt === null ? 1 : 0);

/** What the events say: everything but the heartbeat. */
export const dataOf = (process: Process): string => JSON.stringify({ ...process, heartbeatAt: undefined });

/** Whether a heartbeat is a time as they are written: another one could not be compared. */
export const isTime = (value: unknown): boolean =>
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
