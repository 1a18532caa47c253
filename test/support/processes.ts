/** Real programs that stand for agents, to be seen alive and to be killed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Printed, Tidying, TestWorld } from './world.ts';

/** A program that runs until it is killed. */
export interface Program {
  readonly pid: number;
  /** Kills it as nobody can refuse; resolves when nothing of it is left. */
  readonly kill: () => Promise<void>;
}

/** Starts a program that does nothing, and kills it after the test at the latest. */
export const startProgram = async (tidying: Tidying): Promise<Program> => {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  await once(child, 'spawn');
  assert.ok(child.pid !== undefined);
  const exited = once(child, 'exit');
  tidying.after(() => void child.kill('SIGKILL'));
  return {
    pid: child.pid,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
};

/** Starts a process of a session; answers its id. */
export const startProcess = (world: TestWorld, kind: string, ...flags: readonly string[]): string => {
  const { id } = world.answer('process', 'start', '--kind', kind, ...flags);
  assert.equal(typeof id, 'string');
  return id;
};

/** The processes of a world by their ids, those of closed sessions too. */
export const processesOf = (world: TestWorld): Readonly<Record<string, Printed>> => {
  const { processes }: { processes: readonly Printed[] } = world.answer('process', 'list', '--all');
  return Object.fromEntries(processes.map((process) => [process.id, process]));
};
