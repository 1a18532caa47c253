import { readFileSync, readlinkSync } from 'node:fs';
import type { Evidence, Host, Sign } from '../kernel/process.ts';
import { errnoCode } from '../lib/atomic-file.ts';
import { machineName } from '../lib/machine.ts';
import { sha256 } from '../lib/sha256.ts';

/** What the system says of itself; replaced in tests. */
export interface System {
  /** A file of `/proc` or `/etc`; undefined where there is none. */
  readonly read: (path: string) => string | undefined;
  readonly link: (path: string) => string | undefined;
  readonly hostname: () => string;
  /** Sends no signal, and throws where there is no such process. */
  readonly probe: (pid: number) => void;
}

/** The number of the process table of a Linux machine itself, not of a container on it (`PROC_PID_INIT_INO`). */
const wholeMachine = '4026531836';

/**
 * This machine. Its id is `<machine>.<boot>.<process table>`: only where all three agree does a pid here mean the pid
 * there. Elsewhere than on Linux the machine cannot be told apart for certain; the name has to do.
 */
export const createHost = (named: string | undefined, system: System = realSystem): Host => {
  const name = named ?? system.hostname();
  let id: string | null | undefined;
  const hostId = (): string | null => (id === undefined ? (id = identify(name, named !== undefined, system)) : id);
  return {
    name,
    get id() {
      return hostId();
    },
    startOf: (pid) => startOf(system, pid),
    observe: (process) => observe(system, process, name, hostId),
    offsetAt: (local) => -new Date(local).getTimezoneOffset(),
  };
};

const identify = (name: string, isNamed: boolean, system: System): string | null => {
  const machine = system.read('/etc/machine-id')?.trim() ?? '';
  const boot = system.read('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  const table = /\[(\d+)\]/.exec(system.link('/proc/self/ns/pid') ?? '')?.[1] ?? '';
  // A system that tells the one and hides the other: what runs here cannot be told from what runs beside it.
  if ((boot === '') !== (table === '')) return null;
  // The machine's own id is nobody else's business; a name that was given makes another machine of it. Where the rest is
  // not known it says little: every container of one image may have the same.
  const digest = sha256(`stint ${machine} ${isNamed || machine === '' || boot === '' ? name : ''}`).slice(0, 12);
  return [digest, boot.slice(0, 13), table].join('.');
};

const observe = (system: System, process: Sign, name: string, hostId: () => string | null): Evidence => {
  if (process.pid === null || process.hostId === null) return 'unknown';
  const here = hostId();
  if (here === null) return 'unknown';
  if (process.hostId !== here) return wasRestarted(process, name, here) ? 'dead' : 'unknown';
  const start = startOf(system, process.pid);
  if (start === undefined) return 'dead';
  // A pid that was started at another time is another process.
  if (start !== null && process.pidStart !== null && start !== process.pidStart) return 'dead';
  return start === null && process.pidStart !== null ? 'unknown' : 'alive';
};

/** Whether the same whole machine, by id and by name, has been started anew: nothing of before runs any more. */
const wasRestarted = (process: Sign, name: string, here: string): boolean => {
  const [machine, boot, table] = here.split('.');
  const [thatMachine, thatBoot, thatTable] = (process.hostId ?? '').split('.');
  return (
    process.host === name &&
    machine === thatMachine &&
    table === wholeMachine &&
    thatTable === wholeMachine &&
    thatBoot !== '' &&
    boot !== thatBoot
  );
};

/**
 * When a pid was started: field 22 of `/proc/<pid>/stat` (proc_pid_stat(5)), counted from the boot. Null where the process
 * is there and the system does not say; undefined where it is not there. A zombie is not there: it does nothing any more.
 */
const startOf = (system: System, pid: number): string | null | undefined => {
  const stat = system.read(`/proc/${pid}/stat`);
  if (stat !== undefined) {
    // The second field, the name in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return fields[19] ?? null;
  }
  try {
    system.probe(pid);
    return null;
  } catch (error) {
    // Somebody else's process is there, though it cannot be touched.
    return errnoCode(error) === 'ESRCH' ? undefined : null;
  }
};

const quietly = (read: () => string): string | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

const realSystem: System = {
  read: (path) => quietly(() => readFileSync(path, 'utf8')),
  link: (path) => quietly(() => readlinkSync(path)),
  hostname: machineName,
  probe: (pid) => void process.kill(pid, 0),
};
