import { idOf, shownOf, shownText, shownValue, timeOf, wholeOf, type OcrRow } from './row-values.ts';

/** A process that worked for a session of the original. */
export interface OcrProcess {
  /** The original's uid, by which its agents know it. */
  readonly id: string;
  readonly kind: 'supervisor' | 'instance' | 'utility';
  readonly vendor: string | null;
  readonly vendorSessionId: string | null;
  readonly persona: string | null;
  readonly instance: number | null;
  readonly name: string | null;
  readonly model: string | null;
  readonly pid: number | null;
  readonly startedAt: string;
  readonly lastHeartbeatAt: string | null;
  /** Null where it had not ended when the database was last written. */
  readonly endedAt: string | null;
  readonly outcome: 'done' | 'crashed' | 'cancelled' | 'orphaned' | null;
  /** What the process itself returned; never one of the original's negative marks. */
  readonly exitCode: number | null;
  readonly note: string | null;
}

/**
 * Reads rows of `command_executions`, and of `agent_sessions` as schema 10 had it (without a command, with `ended_at` and
 * a status). `fallback` is the time of a row that tells none.
 */
export const readProcesses = (
  rows: readonly OcrRow[],
  fallback: string,
  report: (problem: string) => void,
): readonly OcrProcess[] => {
  const seen = new Set<string>();
  return rows.flatMap((row) => {
    const process = readProcess(row, fallback, report);
    if (seen.has(process.id)) {
      report(`The process ${process.id} is there twice: the first row counts.`);
      return [];
    }
    seen.add(process.id);
    return [process];
  });
};

const readProcess = (row: OcrRow, fallback: string, report: (problem: string) => void): OcrProcess => {
  const key = idOf(row['id']) ?? 'without an id';
  const id = shownText(idOf(row['uid']) ?? (row['command'] === undefined ? key : `execution-${key}`), 200);
  const read = (column: string): string | null => {
    const given = row[column] ?? null;
    const time = timeOf(given);
    if (given !== null && time === null) report(`${column} of the process ${id} is ${shownValue(given)}: no time.`);
    return time;
  };
  const heartbeat = read('last_heartbeat_at');
  const ended = read('finished_at') ?? read('ended_at');
  const started = read('started_at') ?? heartbeat ?? ended ?? fallback;
  const { outcome, exitCode, why } = outcomeOf(row, id, report);
  const note = [shownOf(row['notes'], 1000) ?? '', why].filter((text) => text !== '').join('; ');
  return {
    id,
    kind: kindOf(row),
    vendor: shownOf(row['vendor'], 300),
    vendorSessionId: shownOf(row['vendor_session_id'], 300),
    persona: shownOf(row['persona'], 300),
    instance: wholeOf(row['instance_index']),
    name: shownOf(row['name'], 300),
    model: shownOf(row['resolved_model'], 300),
    pid: wholeOf(row['pid']),
    startedAt: started,
    lastHeartbeatAt: heartbeat,
    endedAt: outcome === null ? null : (ended ?? heartbeat ?? started),
    outcome,
    exitCode,
    note: note === '' ? null : note,
  };
};

const kindOf = (row: OcrRow): OcrProcess['kind'] => {
  // Schema 10 kept its agents in a table of their own, without a command.
  if (row['command'] === undefined) return 'instance';
  const command = idOf(row['command']) ?? '';
  if (command === 'session-instance' || command.startsWith('session-instance:')) return 'instance';
  return (row['last_heartbeat_at'] ?? null) === null ? 'utility' : 'supervisor';
};

/** The marks that the original writes where a process did not end by itself. */
const endings: ReadonlyMap<number, { readonly outcome: 'cancelled' | 'orphaned'; readonly why: string }> = new Map([
  [-2, { outcome: 'cancelled', why: 'cancelled by its user' }],
  [-3, { outcome: 'orphaned', why: 'found gone' }],
  [-4, { outcome: 'cancelled', why: 'ended because its session was closed' }],
  [-5, { outcome: 'cancelled', why: 'ended by the watchdog, because it took too long' }],
]);

interface Ending {
  readonly outcome: OcrProcess['outcome'];
  readonly exitCode: number | null;
  readonly why: string;
}

const outcomeOf = (row: OcrRow, id: string, report: (problem: string) => void): Ending => {
  const given = row['exit_code'] ?? null;
  const code = wholeOf(given);
  if (given !== null && code === null) report(`exit_code of the process ${id} is ${shownValue(given)}: no number.`);
  if (code !== null) {
    const ending = endings.get(code);
    if (ending !== undefined) return { ...ending, exitCode: null };
    return { outcome: code === 0 ? 'done' : 'crashed', exitCode: code, why: '' };
  }
  const status = row['status'];
  if (status === 'done' || status === 'crashed' || status === 'cancelled' || status === 'orphaned')
    return { outcome: status, exitCode: null, why: '' };
  const hasEnded = (row['finished_at'] ?? row['ended_at'] ?? null) !== null;
  // A process that a signal killed has no exit code, and has ended all the same.
  if (hasEnded) return { outcome: 'crashed', exitCode: null, why: 'ended without an exit code' };
  return { outcome: null, exitCode: null, why: '' };
};
