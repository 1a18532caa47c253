import { err, ok, type Result } from '../lib/result.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { kernelEvent, type DecidedEvent, type StoredEvent } from './event.ts';
import { refuse, type Refusal } from './refusal.ts';

/** What a process is: `supervisor` owns the work, `instance` does a part of it, `utility` is anything else. */
export const processKinds = ['supervisor', 'instance', 'utility'] as const;
export type ProcessKind = (typeof processKinds)[number];

/** How a process ended, as far as anybody knows. `orphaned` is never said by the process itself: it was found dead. */
export const processOutcomes = ['done', 'crashed', 'cancelled', 'orphaned'] as const;
export type ProcessOutcome = (typeof processOutcomes)[number];

/** A running program or agent that works on a session: a projection of its events, and its newest heartbeat. */
export interface Process {
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
  /** Where the session stood when it started, or what it said that it would do. */
  readonly phase: string | null;
  /** The supervisor that it goes down with. */
  readonly parent: string | null;
  /** The machine, as people call it. */
  readonly host: string;
  /** Tells machine, boot and process table apart; null where nobody could tell. */
  readonly hostId: string | null;
  /** Only where it was given on purpose. */
  readonly pid: number | null;
  /** When the system says that the pid was started, in its own unit; a pid is used again, this is not. */
  readonly pidStart: string | null;
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
  readonly observe: (process: Process) => Evidence;
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
      return before && { ...before, vendorSession: textOrNull(data, 'vendor_session'), heartbeatAt: event.at };
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

/** What a process says of itself when it starts. */
export type ProcessStart = Omit<
  Process,
  'session' | 'startedAt' | 'heartbeatAt' | 'endedAt' | 'outcome' | 'exitCode' | 'parent' | 'vendorSession'
> & { readonly parent: string | undefined };

/** A process starts: it goes down with the supervisor that it names, else with the newest one that runs. */
export const decideStart = (
  running: readonly Process[],
  start: ProcessStart,
): Result<readonly DecidedEvent[], Refusal> => {
  const supervisors = running.filter(({ kind }) => kind === 'supervisor');
  const named = supervisors.find(({ id }) => id === start.parent);
  if (start.parent !== undefined && named === undefined) {
    return err(
      refuse('not-found', `No supervisor ${start.parent} runs here.`, {
        expected: 'the id of a running supervisor of this session',
        candidates: supervisors.map(({ id }) => id),
      }),
    );
  }
  const parent = named ?? (start.kind === 'supervisor' ? undefined : supervisors.at(-1));
  return ok([
    kernelEvent('ProcessStarted', {
      process: start.id,
      kind: start.kind,
      ...known({
        role: start.role,
        persona: start.persona,
        instance: start.instance,
        name: start.name,
        vendor: start.vendor,
        model: start.model,
        phase: start.phase,
        parent: parent?.id ?? null,
        pid: start.pid,
        pid_start: start.pidStart,
        note: start.note,
      }),
      host: start.host,
      ...known({ host_id: start.hostId }),
    }),
  ]);
};

/** A process is bound to the vendor's conversation; once, so that a resume never goes to another one. */
export const decideBind = (process: Process, vendorSession: string): Result<readonly DecidedEvent[], Refusal> => {
  if (process.vendorSession === vendorSession) return ok([]);
  if (process.vendorSession !== null) {
    return err(
      refuse('conflict', `The process ${process.id} is already bound to ${process.vendorSession}.`, {
        expected: 'the same id, or another process',
      }),
    );
  }
  if (process.endedAt !== null) return err(refuseEnded(process));
  return ok([kernelEvent('ProcessBound', { process: process.id, vendor_session: vendorSession })]);
};

/** What is said of a process that ends. */
export interface ProcessEnd {
  readonly outcome: ProcessOutcome;
  readonly exitCode: number | null;
  readonly note: string | null;
}

/** A process ends. Saying it again changes nothing, saying something else is a conflict. Who dies takes its dependents along. */
export const decideEnd = (
  process: Process,
  running: readonly Process[],
  end: ProcessEnd,
): Result<readonly DecidedEvent[], Refusal> => {
  if (process.endedAt !== null) {
    const same = process.outcome === end.outcome && (end.exitCode === null || process.exitCode === end.exitCode);
    return same
      ? ok([])
      : err(
          refuse(
            'conflict',
            `The process ${process.id} ended at ${process.endedAt}: ${process.outcome}${process.exitCode === null ? '' : `, exit code ${process.exitCode}`}.`,
            { expected: 'the end that is on record, or none' },
          ),
        );
  }
  return ok([
    endedEvent(process, end),
    ...(end.outcome === 'done' ? [] : dependentsOf(process, running).map((dependent) => cascaded(dependent, process))),
  ]);
};

/** The dead of a session end, each with its dependents, once: whoever is not running any more is left as it is. */
export const decideSweep = (
  running: readonly Process[],
  dead: ReadonlyMap<string, string>,
): Result<readonly DecidedEvent[], Refusal> => {
  const events = new Map<string, DecidedEvent>();
  const found = running.filter(({ id }) => dead.has(id));
  for (const process of found) {
    const note = `found dead: ${dead.get(process.id)}`;
    events.set(process.id, endedEvent(process, { outcome: 'orphaned', exitCode: null, note }));
  }
  for (const process of found) {
    for (const dependent of dependentsOf(process, running)) {
      if (!events.has(dependent.id)) events.set(dependent.id, cascaded(dependent, process));
    }
  }
  return ok([...events.values()]);
};

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

const dependentsOf = (process: Process, running: readonly Process[]): readonly Process[] =>
  process.kind === 'supervisor' ? running.filter(({ parent }) => parent === process.id) : [];

const cascaded = (dependent: Process, supervisor: Process): DecidedEvent =>
  endedEvent(dependent, {
    outcome: 'cancelled',
    exitCode: null,
    note: `its supervisor ${supervisor.id} is gone; what it was doing is interrupted`,
  });

const endedEvent = (process: Process, { outcome, exitCode, note }: ProcessEnd): DecidedEvent =>
  kernelEvent('ProcessEnded', { process: process.id, outcome, ...known({ exit_code: exitCode, note }) });

/** A process that has ended answers nothing any more. */
export const refuseEnded = (process: Process): Refusal =>
  refuse('illegal-transition', `The process ${process.id} ended at ${process.endedAt}: ${process.outcome}.`, {
    expected: 'a process that runs',
    legal: [`stint process start --kind ${process.kind} --session ${process.session}`],
    hint: `stint process start --kind ${process.kind} --session ${process.session}`,
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

/** How a process looks: what its events say, and while it runs what can be seen of it. */
export const livenessOf = (process: Process, host: Host, now: string): Liveness => {
  if (process.endedAt !== null) return 'ended';
  const evidence = host.observe(process);
  if (evidence !== 'unknown') return evidence;
  return Date.parse(now) - Date.parse(process.heartbeatAt) > quietAfter ? 'quiet' : 'unknown';
};

/** How the processes of a session look that are on record as running; whoever depends on the dead is gone with them. */
export const livenessOfAll = (
  running: readonly Process[],
  host: Host,
  now: string,
): readonly { readonly process: Process; readonly liveness: Exclude<Liveness, 'ended'> }[] => {
  const looked = running.map((process) => ({ process, liveness: livenessOf(process, host, now) }));
  const dead = new Set(looked.filter(({ liveness }) => liveness === 'dead').map(({ process }) => process.id));
  return looked.map(({ process, liveness }) => ({
    process,
    liveness: liveness === 'ended' || dead.has(process.parent ?? '') ? 'dead' : liveness,
  }));
};

/** What a process is called: its own name, its persona with its number, its role, else what it is. */
export const callProcess = (process: Process): string => {
  const base = process.name ?? process.persona ?? process.role ?? process.kind;
  return process.name === null && process.instance !== null ? `${base}-${process.instance}` : base;
};

/** A process as it is shown: the original review workflow's keys, and ours. */
export const processToJson = (process: Process, host: Host, now: string): JsonObject => ({
  id: process.id,
  session: process.session,
  workflow_id: process.session.slice(process.session.indexOf(':') + 1),
  vendor: process.vendor,
  vendor_session_id: process.vendorSession,
  persona: process.persona,
  instance_index: process.instance,
  name: process.name,
  role: process.role,
  resolved_model: process.model,
  phase: process.phase,
  status: process.outcome ?? 'running',
  liveness: livenessOf(process, host, now),
  kind: process.kind,
  parent: process.parent,
  host: process.host,
  pid: process.pid,
  started_at: process.startedAt,
  last_heartbeat_at: process.heartbeatAt,
  ended_at: process.endedAt,
  exit_code: process.exitCode,
  notes: process.note,
});

/** A process of a session after a commit, as it is shown. */
export const processIn = (
  session: { readonly processes: ReadonlyMap<string, Process> },
  id: string,
  world: { readonly host: Host; readonly caller: { readonly now: string } },
): JsonObject => {
  const process = session.processes.get(id);
  if (process === undefined) throw new Error(`the process ${id} was not loaded`);
  return processToJson(process, world.host, world.caller.now);
};

/** How each vendor's program goes on with a conversation; the id is safe in every shell. */
const resumeCommands: Readonly<Record<string, string>> = {
  claude: 'claude --resume',
  'claude-code': 'claude --resume',
  codex: 'codex resume',
  copilot: 'copilot --resume',
  cursor: 'cursor-agent --resume',
  gemini: 'gemini --resume',
  'gemini-cli': 'gemini --resume',
  opencode: 'opencode --session',
};

/** How the newest bound process of a session is gone on with; null where none was bound. */
export const resumeOf = (processes: readonly Process[]): JsonObject | null => {
  const bound = processes.findLast(({ vendorSession }) => vendorSession !== null);
  if (bound === undefined) return null;
  const command = resumeCommands[bound.vendor ?? ''];
  return {
    process: bound.id,
    vendor: bound.vendor,
    vendor_session_id: bound.vendorSession,
    command: command === undefined ? null : `${command} ${bound.vendorSession}`,
  };
};

/** What a vendor's conversation id may be: safe in a shell and on one line. */
export const vendorSessionPattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,255}$/;

const known = (fields: Readonly<Record<string, string | number | null>>): JsonObject =>
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
