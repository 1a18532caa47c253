import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { ProgramEnd } from '../kernel/ports.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { errnoCode } from '../lib/atomic-file.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { createDigest } from './digest.ts';

/** What `timeout` of the GNU coreutils answers for a program that took too long. */
const tookTooLong = 124;

/** How long a program that is told to stop may take for it, and how long its output is waited for when it has ended. */
const patience = { stop: 5000, output: 1000 };

/** The signals that end us: a program that runs for us goes along. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a program in a folder, as the leader of a group of its own, so that it can be stopped with everything that it has
 * started. Its standard input is empty. What it leaves behind it when it ends by itself runs on, and is not waited for.
 */
export const runProgram = async (
  { cwd, now }: { readonly cwd: string; readonly now: () => string },
  [name = '', ...args]: readonly string[],
  timeout: number | undefined,
): Promise<Result<ProgramEnd, Refusal>> =>
  new Promise((resolve) => {
    const digest = createDigest();
    const started = start(cwd, name, args);
    if (!started.ok) {
      resolve(started);
      return;
    }
    const child = started.value;
    for (const stream of [child.stdout, child.stderr]) stream.on('data', digest.take);
    const leave = leaveWith(child);

    let timedOut = false;
    const timers: NodeJS.Timeout[] = [];
    const after = (milliseconds: number, act: () => void): void => void timers.push(setTimeout(act, milliseconds));
    if (timeout !== undefined) {
      after(timeout, () => {
        timedOut = true;
        signalGroup(child, 'SIGTERM');
        after(patience.stop, () => signalGroup(child, 'SIGKILL'));
      });
    }
    const stopTimers = (): void => timers.splice(0).forEach((timer) => clearTimeout(timer));
    const settle = (result: Result<ProgramEnd, Refusal>): void => {
      stopTimers();
      leave();
      resolve(result);
    };

    child.once('error', (error) => settle(err(refuseStart(name, error))));
    child.once('exit', (code, signal) => {
      stopTimers();
      const endedAt = now();
      // Who took too long takes along what it has started.
      if (timedOut) signalGroup(child, 'SIGKILL');
      const exitCode = timedOut ? tookTooLong : (code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
      const end = (): void => settle(ok({ exitCode, timedOut, endedAt, output: digest.end() }));
      child.once('close', end);
      after(patience.output, () => {
        child.removeListener('close', end);
        for (const stream of [child.stdout, child.stderr]) stream.destroy();
        end();
      });
    });
  });

/** Most errors come as an event; a command line that no system takes is thrown. */
const start = (cwd: string, name: string, args: readonly string[]) => {
  try {
    return ok(spawn(name, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true, windowsHide: true }));
  } catch (error) {
    if (!(error instanceof Error) || errnoCode(error) === null) throw error;
    return err(refuseStart(name, error));
  }
};

/** Whoever ends us ends the program too; answers how to stop watching for that. */
const leaveWith = (child: ChildProcess): (() => void) => {
  const watched = endings.map((signal) => {
    const pass = (): void => {
      stop();
      signalGroup(child, signal);
      // Where nobody else listens, it ends us as it would have.
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    };
    process.once(signal, pass);
    return { signal, pass };
  });
  const stop = (): void => {
    for (const { signal, pass } of watched) process.removeListener(signal, pass);
  };
  return stop;
};

const signalGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch (error) {
    // It has ended in the meantime.
    if (errnoCode(error) === null) throw error;
  }
};

const refuseStart = (name: string, error: Error): Refusal => {
  const code = errnoCode(error);
  const program = JSON.stringify(name);
  return code === 'ENOENT'
    ? refuse('not-found', `There is no program ${program} here.`, { expected: 'a program on the PATH, or its path' })
    : refuse('invariant-unmet', `The program ${program} cannot be started (${code ?? error.message}).`, {
        expected: 'a program that may be run',
      });
};
