import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { kernelEvent, type DecidedEvent } from './event.ts';
import { decideOpened } from './lifecycle.ts';
import { dependentsOf, endedEvent, known, livenessOfAll, type Host, type Process, type ProcessEnd } from './process.ts';
import { processToJson } from './process-json.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Session } from './session.ts';

/** What the verbs about processes decide; no other verb is started with it. */

/** What is done about the processes of a session: those that run, and those that were named when it was loaded. */
export const decideProcess = (
  session: Session,
  decide: (running: readonly Process[], of: (id: string) => Process) => Result<readonly DecidedEvent[], Refusal>,
  { mustBeOpen = false } = {},
): Result<readonly DecidedEvent[], Refusal> => {
  const running = [...session.processes.values()].filter(({ endedAt }) => endedAt === null);
  return decideOpened(
    session,
    () =>
      decide(running, (id) => {
        const process = session.processes.get(id);
        if (process === undefined) throw new Error(`the process ${id} was not loaded`);
        return process;
      }),
    { mustBeOpen },
  );
};

/** What a process says of itself when it starts. */
export type ProcessStart = Omit<
  Process,
  'session' | 'startedAt' | 'heartbeatAt' | 'endedAt' | 'outcome' | 'exitCode' | 'parent' | 'vendorSession'
> & { readonly parent: string | undefined };

/** A process starts: it goes down with the supervisor that it names, an instance else with the newest one that runs. */
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
  const parent = named ?? (start.kind === 'instance' ? supervisors.at(-1) : undefined);
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
  const dependents = end.outcome === 'done' ? [] : dependentsOf([process], running);
  return ok([endedEvent(process, end), ...dependents.map((dependent) => cascaded(dependent))]);
};

/**
 * The dead of a session end, each with its dependents, once: whoever is not running any more is left as it is. When they
 * were last heard of goes on the record: that is since when what they did is interrupted, however late they are found.
 */
export const decideSweep = (
  running: readonly Process[],
  dead: ReadonlyMap<string, string>,
): Result<readonly DecidedEvent[], Refusal> => {
  const found = running.filter(({ id }) => dead.has(id));
  return ok([
    ...found.map((process) =>
      endedEvent(
        process,
        { outcome: 'orphaned', exitCode: null, note: `found dead: ${dead.get(process.id)}` },
        process.heartbeatAt,
      ),
    ),
    ...dependentsOf(found, running).map((dependent) => cascaded(dependent, dependent.heartbeatAt)),
  ]);
};

const cascaded = (dependent: Process, heardOfAt?: string): DecidedEvent =>
  endedEvent(
    dependent,
    {
      outcome: 'cancelled',
      exitCode: null,
      note: `its supervisor ${dependent.parent} is gone; what it was doing is interrupted`,
    },
    heardOfAt,
  );

/** There is no program of that pid here. */
export const refusePid = (pid: number, host: Pick<Host, 'name'>): Refusal =>
  refuse('not-found', `No process ${pid} runs on ${host.name}.`, {
    expected: 'the pid of a running program, as seen from here, or no --pid',
  });

/** A process that has ended answers nothing any more. */
export const refuseEnded = (process: Process): Refusal =>
  refuse('illegal-transition', `The process ${process.id} ended at ${process.endedAt}: ${process.outcome}.`, {
    expected: 'a process that runs',
    legal: [`stint process start --kind ${process.kind} --session ${process.session}`],
    hint: `stint process start --kind ${process.kind} --session ${process.session}`,
  });

/** A process of a session after a commit, as it is shown. */
export const processIn = (
  session: { readonly processes: ReadonlyMap<string, Process> },
  id: string,
  world: { readonly host: Host; readonly caller: { readonly now: string } },
): JsonObject => {
  const process = session.processes.get(id);
  if (process === undefined) throw new Error(`the process ${id} was not loaded`);
  const looked = livenessOfAll([...session.processes.values()], world.host, world.caller.now);
  return processToJson(process, looked.get(id) ?? 'unknown');
};
