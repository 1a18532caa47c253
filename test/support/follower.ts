/** Somebody who follows the log, and may be killed: what he was given, whole lines only. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { command, repository, type Printed, type Tidying, type TestWorld } from './world.ts';

/** A `stint log --follow --json` that runs. */
export interface Follower {
  readonly child: ChildProcess;
  /** What was given so far. */
  readonly given: readonly Printed[];
  /** What was said on standard error. */
  readonly said: () => string;
  /** Resolves when so many events were given; fails where it ends before. */
  readonly until: (count: number) => Promise<void>;
  /** Resolves when something like that was said. */
  readonly untilSaid: (pattern: RegExp) => Promise<void>;
  /** Ends it, and answers its exit code once all that it wrote was read. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>;
}

/** Starts to follow. */
export const startFollower = (tidying: Tidying, world: TestWorld, ...flags: readonly string[]): Follower => {
  const child = spawn(process.execPath, [command, 'log', '--follow', '--json', ...flags], {
    cwd: world.project,
    env: world.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  tidying.after(() => void child.kill('SIGKILL'));
  const { stdout, stderr } = child;
  const given: Printed[] = [];
  const listeners = new Set<() => void>();
  const tell = (): void => listeners.forEach((listener) => listener());
  let rest = '';
  let said = '';
  let isOver = false;
  stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    // What a kill has cut off is no line.
    rest = lines.pop() ?? '';
    given.push(...lines.map((line) => JSON.parse(line)));
    tell();
  });
  stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    tell();
  });
  const closed = once(child, 'close').then(() => {
    isOver = true;
    tell();
  });
  const untilTrue = async (isTrue: () => boolean, what: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const listen = (): void => {
        if (isTrue()) resolve();
        else if (isOver) reject(new Error(`it ended before ${what}: ${said}`));
        else return;
        listeners.delete(listen);
      };
      listeners.add(listen);
      listen();
    });
  return {
    child,
    given,
    said: () => said,
    until: async (count) => untilTrue(() => given.length >= count, `${count} events, after ${given.length}`),
    untilSaid: async (pattern) => untilTrue(() => pattern.test(said), String(pattern)),
    end: async (signal) => {
      child.kill(signal);
      await closed;
      return child.exitCode;
    },
  };
};

/** Asserts that events were given once each, in the order of their sessions, from the first one on. */
export const assertInOrder = (given: readonly Printed[]): void => {
  const newest = new Map<string, number>();
  for (const { session, seq } of given) {
    assert.equal(seq, (newest.get(session) ?? 0) + 1, `${session} goes on with its next event`);
    newest.set(session, seq);
  }
};

/** Starts a process that writes so many remarks into a session; resolves when it is done. */
export const writeNotes = async (
  tidying: Tidying,
  world: TestWorld,
  session: string,
  name: string,
  count: number,
): Promise<void> => {
  const child = spawn(
    process.execPath,
    ['--no-warnings', join(repository, 'test/support/note-writer.ts'), world.project, session, name, String(count)],
    { cwd: world.project, env: world.env, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  // It waits for as long as its store is away: longer than a test that has failed.
  tidying.after(() => {
    child.kill('SIGKILL');
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [status] = await once(child, 'close');
  assert.equal(status, 0, said);
};
