import type { JsonObject } from '../lib/canonical-json.ts';
import { kernelEvent, type DecidedEvent, type StoredEvent } from './event.ts';
import { refuse, type Refusal } from './refusal.ts';
import { shortestPrefix } from '../lib/name.ts';

/** What a process is: `supervisor` owns the work, `instance` does a part of it, `utility` is anything else. */
export const processKinds = ['supervisor', 'instance', 'utility'] as const;
export type ProcessKind = (typeof processKinds)[number];

/** How a process ended, as far as anybody knows. `orphaned` is never said by the process itself: it was found dead. */
export const processOutcomes = ['done', 'crashed', 'cancelled', 'orphaned'] as const;
export type ProcessOutcome = (typeof processOutcomes)[number];

/** What tells later whether a program is gone: only where a pid was given on purpose. */
export interface Sign {
  /** The machine, as people call it. */
  readonly host: string;
  /** Tells machine, boot and process table apart; null where nobody could tell. */
  readonly hostId: string | null;
  readonly pid: number | null;
  /** When the system says that the pid was started, in its own unit; a pid is used again, this is not. */
  readonly pidStart: string | null;
}

/** A running program or agent that works on a session: a projection of its events, and its newest heartbeat. */
export interface Process extends Sign {
  readonly id: string;
  /** The session's key. */
  readonly session: string;
  readonly kind: ProcessKind;
  readonly role: string | null;
  readonly persona: string | null;
  /** Its number among those of the same persona. */
  readonly instance: number | null;
  readonly name: string | null;
  readonly vendor: string | null;
  /** The vendor's own id of the conversation: what it is resumed by. */
  readonly vendorSession: string | null;
  readonly model: string | null;
  /** What it said that it would work on. */
  readonly phase: string | null;
  /** The supervisor that it goes down with. */
  readonly parent: string | null;
  readonly startedAt: string;
  /** Volatile: kept beside the log. */
  readonly heartbeatAt: string;
  /** Null while it runs, as far as is known. */
  readonly endedAt: string | null;
  readonly outcome: ProcessOutcome | null;
  /** Null where nobody knows it. */
  readonly exitCode: number | null;
  readonly note: string | null;
}

/** What is known of a process from looking at it: `unknown` where this machine cannot tell. */
export type Evidence = 'alive' | 'dead' | 'unknown';

/** The machine that a command runs on. */
export interface Host {
  readonly name: string;
  readonly id: string | null;
  /** What the system says of a pid that runs here: when it was started; undefined where there is none. */
  readonly startOf: (pid: number) => string | null | undefined;
  /** Whether a process lives. Death needs positive evidence: this host, and the pid is gone or another one. */
  readonly observe: (sign: Sign) => Evidence;
  /** How many minutes the clock on its wall is ahead of UTC at a local time `YYYY-MM-DDTHH:MM:SS`. */
  readonly offsetAt: (local: string) => number;
}

/** Folds an event of a process into what is known of it; undefined for an event of a process that is not known. */
export const foldProcess = (before: Process | undefined, event: StoredEvent): Process | undefined => {
  const { data } = event;
  switch (event.type) {
    case 'ProcessStarted':
      return {
        id: textOr(data, 'process', ''),
        session: event.session,
        kind: oneOf(processKinds, data['kind']) ?? 'utility',
        role: textOrNull(data, 'role'),
        persona: textOrNull(data, 'persona'),
        instance: numberOrNull(data, 'instance'),
        name: textOrNull(data, 'name'),
        vendor: textOrNull(data, 'vendor'),
        vendorSession: textOrNull(data, 'vendor_session'),
        model: textOrNull(data, 'model'),
        phase: textOrNull(data, 'phase'),
        parent: textOrNull(data, 'parent'),
        host: textOr(data, 'host', ''),
        hostId: textOrNull(data, 'host_id'),
        pid: numberOrNull(data, 'pid'),
        pidStart: textOrNull(data, 'pid_start'),
        startedAt: event.at,
        heartbeatAt: event.at,
        endedAt: null,
        outcome: null,
        exitCode: null,
        note: textOrNull(data, 'note'),
      };
    case 'ProcessBound':
      return (
        before && {
          ...before,
          vendorSession: textOrNull(data, 'vendor_session'),
          // Saying something is a sign of life; a heartbeat may have come from a clock that was ahead.
          heartbeatAt: event.at > before.heartbeatAt ? event.at : before.heartbeatAt,
        }
      );
    case 'ProcessEnded':
      return (
        before && {
          ...before,
          endedAt: event.at,
          outcome: oneOf(processOutcomes, data['outcome']) ?? 'crashed',
          exitCode: numberOrNull(data, 'exit_code'),
          note: textOrNull(data, 'note') ?? before.note,
        }
      );
    default:
      return before;
  }
};

/** The id of the process that an event is about; undefined for every other event. */
export const processOf = ({ type, data }: Pick<StoredEvent, 'type' | 'data'>): string | undefined =>
  type === 'ProcessStarted' || type === 'ProcessBound' || type === 'ProcessEnded'
    ? textOr(data, 'process', '')
    : undefined;

/** What is said of a process that ends. */
export interface ProcessEnd {
  readonly outcome: ProcessOutcome;
  readonly exitCode: number | null;
  readonly note: string | null;
}

/**
 * What still runs of a session that is closed is cancelled with it, but neither the process that closes it nor a
 * supervisor: one of them is most likely the caller, and it alone knows how it ends.
 */
export const decideClose = (running: readonly Process[], caller: string | undefined): readonly DecidedEvent[] =>
  running
    .filter(({ endedAt }) => endedAt === null)
    .filter(({ id, kind }) => kind !== 'supervisor' && id !== caller)
    .map((process) =>
      endedEvent(process, { outcome: 'cancelled', exitCode: null, note: 'the session was closed while it ran' }),
    );

/** Those that go down with these: whose supervisor is one of them, or goes down with one. */
export const dependentsOf = (gone: readonly Process[], running: readonly Process[]): readonly Process[] => {
  const seen = new Set(gone.map(({ id }) => id));
  const dependents: Process[] = [];
  for (let found = [...gone]; found.length > 0;) {
    const supervisors = new Set(found.map(({ id }) => id));
    found = running.filter(({ id, parent }) => parent !== null && supervisors.has(parent) && !seen.has(id));
    for (const { id } of found) seen.add(id);
    dependents.push(...found);
  }
  return dependents;
};

/** The event of a process that has ended; with the time when it was last heard of, where it was found so. */
export const endedEvent = (
  process: Process,
  { outcome, exitCode, note }: ProcessEnd,
  heardOfAt?: string,
): DecidedEvent =>
  kernelEvent('ProcessEnded', {
    process: process.id,
    outcome,
    ...known({ exit_code: exitCode, note, heard_of_at: heardOfAt ?? null }),
  });

/** There is no process of that id. */
export const refuseProcess = (id: string, others: readonly Process[]): Refusal =>
  refuse('not-found', `There is no process ${id}.`, {
    expected: 'the id of a process, as stint process list shows it',
    hint: 'stint process list --all',
    candidates: others.slice(0, 20).map((one) => one.id),
  });

/** A heartbeat older than this, in milliseconds, means quiet; never dead. */
const quietAfter = 15 * 60_000;

/** What can be seen of a process. */
export type Liveness = 'alive' | 'quiet' | 'dead' | 'unknown' | 'ended';

/** How a process looks by itself: what its events say, and while it runs what can be seen of it. */
export const livenessOf = (process: Process, host: Host, now: string): Liveness => {
  if (process.endedAt !== null) return 'ended';
  const evidence = host.observe(process);
  if (evidence !== 'unknown') return evidence;
  return Date.parse(now) - Date.parse(process.heartbeatAt) > quietAfter ? 'quiet' : 'unknown';
};

/** How processes look among each other, by id: whoever depends on the dead counts as gone with them, unless it is seen alive. */
export const livenessOfAll = (
  processes: readonly Process[],
  host: Host,
  now: string,
): ReadonlyMap<string, Liveness> => {
  const looked = new Map(processes.map((process) => [process.id, livenessOf(process, host, now)]));
  const running = processes.filter(({ endedAt }) => endedAt === null);
  const dead = running.filter(({ id }) => looked.get(id) === 'dead');
  // Who is seen alive is not dead, though a sweep closes it with its supervisor.
  for (const { id } of dependentsOf(dead, running)) if (looked.get(id) !== 'alive') looked.set(id, 'dead');
  return looked;
};

/** Those among processes that an id means: the one that has it, else all that begin with it. */
export const processesNamed = (processes: readonly Process[], id: string): readonly Process[] => {
  const exact = processes.filter((process) => process.id === id);
  if (exact.length > 0 || id.length < shortestPrefix) return exact;
  return processes.filter((process) => process.id.startsWith(id));
};

/** What a process is called: its own name, its persona with its number, its role, else what it is. */
export const callProcess = (process: Process): string => {
  const base = process.name ?? process.persona ?? process.role ?? process.kind;
  return process.name === null && process.instance !== null ? `${base}-${process.instance}` : base;
};

/** How each vendor's program goes on with a conversation. */
const resumeCommands: ReadonlyMap<string, string> = new Map([
  ['claude', 'claude --resume'],
  ['claude-code', 'claude --resume'],
  ['codex', 'codex resume'],
  ['copilot', 'copilot --resume'],
  ['cursor', 'cursor-agent --resume'],
  ['gemini', 'gemini --resume'],
  ['gemini-cli', 'gemini --resume'],
  ['opencode', 'opencode --session'],
]);

/** How the newest bound process of a session is gone on with; null where none was bound. */
export const resumeOf = (processes: readonly Process[]): JsonObject | null => {
  const bound = processes.findLast(({ vendorSession }) => vendorSession !== null);
  if (bound === undefined) return null;
  return {
    process: bound.id,
    vendor: bound.vendor,
    vendor_session_id: bound.vendorSession,
    command: resumeCommandOf(bound),
  };
};

/** The command that goes on with a process's conversation; null where none is known, or where its id is not safe in a shell. */
export const resumeCommandOf = ({ vendor, vendorSession }: Process): string | null => {
  const command = resumeCommands.get(vendor ?? '');
  // An id that was imported was never checked.
  if (command === undefined || vendorSession === null || !vendorSessionPattern.test(vendorSession)) return null;
  return `${command} ${vendorSession}`;
};

/** What a vendor's conversation id may be: safe in a shell and on one line. */
export const vendorSessionPattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,255}$/;

/** The fields that are known. */
export const known = (fields: Readonly<Record<string, string | number | null>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

const textOrNull = (data: JsonObject, key: string): string | null => {
  const value = data[key];
  return typeof value === 'string' ? value : null;
};

const textOr = (data: JsonObject, key: string, other: string): string => textOrNull(data, key) ?? other;

const numberOrNull = (data: JsonObject, key: string): number | null => {
  const value = data[key];
  return typeof value === 'number' ? value : null;
};

const oneOf = <Value extends string>(values: readonly Value[], value: unknown): Value | undefined =>
  values.find((one) => one === value);
