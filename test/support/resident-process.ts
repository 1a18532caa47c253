/** Carries out the verbs that `resident.ts` asks for, one after the other, and leaves of each what its process would leave. */
import type { EventEmitter } from 'node:events';
import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { createRequire, enableCompileCache } from 'node:module';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { readLine, type Request, type Response } from './resident-lines.ts';

const requests = 3;
const responses = 4;
const folder = process.argv[2] ?? '';
const require = createRequire(import.meta.url);
const built = join(import.meta.dirname, '../../dist');
const program = join(built, 'command/main.cjs');
const exit = process.exit.bind(process);

/** The stores in files that are open, by their paths. */
const open = new Map<{ close(): void }, string>();
const sqlite = process.getBuiltinModule('node:sqlite');
sqlite.DatabaseSync = class extends sqlite.DatabaseSync {
  constructor(...given: ConstructorParameters<typeof sqlite.DatabaseSync>) {
    super(...given);
    if (given[0] !== ':memory:') open.set(this, String(given[0]));
  }
  override close(): void {
    super.close();
    open.delete(this);
  }
};

/**
 * A process that ends leaves the log of a store as it is; who closes the store last would bring it into the file. SQLite
 * does not where the file has been moved since it was opened (`databaseIsUnmoved` in its pager.c).
 */
const abandon = (store: { close(): void }, path: string): void => {
  const aside = `${path}.moved`;
  renameSync(path, aside);
  try {
    store.close();
  } finally {
    renameSync(aside, path);
  }
};

/** Waits until what was ended has gone. */
const turn = async (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** What is listened for of this process, beside what Node itself listens for. */
const listeners: EventEmitter = process;
const usual = new Map(listeners.eventNames().map((event) => [event, listeners.rawListeners(event)]));
type Listener = (...told: readonly unknown[]) => void;
const added = (event: string | symbol): readonly Listener[] =>
  listeners
    .rawListeners(event)
    .filter((listener): listener is Listener => usual.get(event)?.includes(listener) !== true);

/** Ends what ends with a process. Answers whether nothing is left. */
const leave = async (): Promise<boolean> => {
  for (const listener of added('exit')) listener(process.exitCode);
  for (const event of listeners.eventNames())
    for (const listener of added(event)) listeners.removeListener(event, listener);
  for (const handle of activeHandles()) if (handle instanceof Socket) handle.destroy();
  try {
    for (const [store, path] of open) abandon(store, path);
  } catch {
    return false;
  }
  for (let turns = 0; turns < 3; turns += 1) await turn();
  return process.getActiveResourcesInfo().length === 0;
};

const activeHandles = (): readonly unknown[] => {
  const ask: unknown = Reflect.get(process, '_getActiveHandles');
  const handles: unknown = typeof ask === 'function' ? Reflect.apply(ask, process, []) : [];
  return Array.isArray(handles) ? handles : [];
};

const carryOut = async ({ args, cwd, env }: Request): Promise<Response> => {
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv.splice(1, process.argv.length, join(built, 'stint.cjs'), ...args);
  process.exitCode = undefined;
  // What is opened has the lowest number that is free.
  for (const [number, [name, how]] of [['in', 'r'] as const, ['out', 'w'] as const, ['err', 'w'] as const].entries()) {
    closeSync(number);
    openSync(join(folder, name), how);
  }
  for (const path of Object.keys(require.cache))
    if (path.startsWith(built)) Reflect.deleteProperty(require.cache, path);
  await new Promise<void>((resolve) => {
    Reflect.set(process, 'exit', resolve);
    require(program);
  });
  return { status: Number(process.exitCode), isClean: await leave() };
};

enableCompileCache(join(folder, 'compiled'));
for (let line = readLine(requests); line !== undefined; line = readLine(requests)) {
  const response = await carryOut(JSON.parse(line));
  writeSync(responses, `${JSON.stringify(response)}\n`);
  if (!response.isClean) break;
}
exit(0);
