/** A look at a store from outside: its files, its rows, who locks it. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { outcomeOfChild, repository, type Printed, type TestWorld } from './world.ts';

/** Every row of every table. The files are copied before they are opened, so that looking changes nothing. */
export const dumpStore = (world: TestWorld, named?: string): Record<string, readonly Printed[]> => {
  if (named === undefined && isOnServer(world)) return dumpServer(world);
  const folder = named ?? world.path('.stint');
  const copy = mkdtempSync(join(world.root, 'copy-'));
  try {
    for (const name of ['stint.db', 'stint.db-wal'])
      if (existsSync(join(folder, name))) copyFileSync(join(folder, name), join(copy, name));
    const database = new DatabaseSync(join(copy, 'stint.db'));
    try {
      const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).all();
      return Object.fromEntries(
        tables.map(({ name }) => [
          String(name),
          database.prepare(`SELECT * FROM "${String(name)}" ORDER BY rowid`).all(),
        ]),
      );
    } finally {
      database.close();
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
};

/** Whether the store of a world lies on a server. */
export const isOnServer = ({ env }: TestWorld): boolean => (env['STINT_STORE'] ?? '').startsWith('postgres:');

/** The same of a store on a server; no tables where its project was not made yet. */
const dumpServer = ({ env }: TestWorld): Record<string, readonly Printed[]> => {
  const program = `
    import pg from 'pg';
    const [url, schema] = process.argv.slice(1);
    pg.types.setTypeParser(pg.types.builtins.INT8, Number);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const tables = await client.query('SELECT tablename FROM pg_tables WHERE schemaname = $1 ORDER BY 1', [schema]);
    const dump = {};
    for (const { tablename } of tables.rows) {
      const order = { event: 'id', mirror: 'id', process: 'rowid' }[tablename] ?? '1';
      dump[tablename] = (await client.query(\`SELECT * FROM "\${schema}"."\${tablename}" ORDER BY \${order}\`)).rows;
    }
    process.stdout.write(JSON.stringify(dump));
    await client.end();
  `;
  const child = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', program, env['STINT_STORE'] ?? '', `stint_${env['STINT_PROJECT']}`],
    { cwd: repository, encoding: 'utf8', maxBuffer: 1024 * 1024 * 1024 },
  );
  assert.equal(child.status, 0, child.stderr);
  return JSON.parse(child.stdout);
};

/** Opens the store of a world to do to it what programs of ours would not. */
export const tamper = (world: TestWorld, action: (database: DatabaseSync) => void): void => {
  const database = new DatabaseSync(world.path('.stint/stint.db'), { timeout: 5000 });
  try {
    action(database);
  } finally {
    database.close();
  }
};

/** Another process that holds the write lock of a store. */
export interface Holder {
  readonly pid: number;
  /** Gives the lock back; resolves when it is free. */
  readonly release: () => Promise<void>;
}

/** Takes the write lock in another process, until it is released. */
export const holdLock = async (world: TestWorld): Promise<Holder> => {
  const program = `
    const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(process.argv[1], { timeout: 5000 });
    database.exec('BEGIN IMMEDIATE');
    process.stdout.write('held');
    process.stdin.on('end', () => { database.exec('ROLLBACK'); process.exit(); }).resume();
  `;
  const child = spawn(process.execPath, ['--no-warnings', '-e', program, world.path('.stint/stint.db')], {
    env: world.env,
  });
  const done = outcomeOfChild(child);
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    void done.then(({ stderr }) => reject(new Error(`the lock was not taken: ${stderr}`)));
  });
  return {
    pid: child.pid ?? 0,
    release: async () => {
      child.stdin.end();
      assert.equal((await done).status, 0);
    },
  };
};

/** Every entry below a folder, by its path: mode, and what it holds. The times of files do not count. */
export const treeOf = (folder: string, ignore: (path: string) => boolean = () => false): Record<string, string> => {
  const tree: Record<string, string> = {};
  const walk = (path: string): void => {
    for (const name of readdirSync(path).toSorted()) {
      const full = join(path, name);
      const key = relative(folder, full);
      if (ignore(key)) continue;
      const entry = lstatSync(full);
      const mode = (entry.mode & 0o777).toString(8);
      if (entry.isSymbolicLink()) tree[key] = `link to ${readlinkSync(full)}`;
      else if (entry.isDirectory()) {
        tree[key] = `folder ${mode}`;
        walk(full);
      } else tree[key] = `file ${mode} ${createHash('sha256').update(readFileSync(full)).digest('hex')}`;
    }
  };
  walk(folder);
  return tree;
};

/**
 * What lies in the store, the mirrors and the folder for temporary files and does not belong there. The list of what
 * belongs is closed: whatever else is found is litter.
 */
export const litterIn = (world: TestWorld): readonly string[] => {
  const belongs = [
    /^project\/\.stint(?:\/(?:\.gitignore|place|stint\.db(?:-wal|-shm|-tip|-repair)?))?$/,
    // What a repair has kept of a damaged store.
    /^project\/\.stint\/stint\.db\.damaged-\d{8}T\d{6}(?:-\d+)?(?:\/stint\.db(?:-wal|-shm|-tip)?)?$/,
    /^project\/\.ocr(?:\/sessions(?:\/\.gitignore)?)?$/,
    /^project\/\.ocr\/sessions\/(?:archive\/)?[A-Za-z0-9][\w.-]*(?:\/rounds(?:\/round-\d+(?:\/round-meta\.json)?)?)?$/,
    /^project\/\.stint\/tasks(?:\/\.gitignore|\/[A-Za-z0-9][\w.-]*)?$/,
    /^project\/docs(?:\/tests)?$/,
    /^project\/docs\/tests(?:\/(?:handovers|session-state)(?:\/(?:[\w-]+\.md|ACTIVE_LEASE\.json))?)?$/,
    /^project\/\.workflow(?:\/templates(?:\/[\w-]+\.json)?|\/sessions(?:\/\.gitignore)?)?$/,
    /^project\/\.workflow\/sessions\/[A-Za-z0-9][\w.-]*(?:\/session-state\.json)?$/,
    /^project\/\.claude(?:\/(?:\.gitignore|orchestrator-session\.json|orchestrator-history(?:\/[A-Za-z0-9][\w-]*\.json)?))?$/,
    /^project\/\.claude\/orchestrator-results(?:\/[A-Za-z0-9][\w-]*(?:\/[\w-]+\.attempt-\d+\.result\.json)?)?$/,
    /^project\/\.workflow\/sessions\/[A-Za-z0-9][\w.-]*\/(?:checkpoints(?:\/[A-Za-z0-9][\w.-]*\.json)?|artifacts(?:\/[A-Za-z0-9][\w.-]*)?)$/,
  ];
  return Object.keys(treeOf(world.root, (path) => path === 'home' || path.startsWith('project/.git/')))
    .filter((path) => /^(?:tmp\/|project\/(?:\.(?:stint|ocr|workflow|claude)|docs\/))/.test(path))
    .filter((path) => !belongs.some((pattern) => pattern.test(path)));
};

/** Asserts that doctor finds nothing, and that nothing lies where it does not belong. */
export const assertSound = (world: TestWorld, what = ''): void => {
  const report = world.run('doctor', '--json');
  assert.equal(report.status, 0, `${what} doctor: ${report.stdout}${report.stderr}`);
  assert.equal(report.json.healthy, true, what);
  assert.deepEqual(litterIn(world), [], `${what}: no litter`);
};

/** The events of a session as they are stored; asserts that they are numbered without a gap. */
export const eventsOf = (world: TestWorld, session: string): readonly Printed[] => {
  const events = (dumpStore(world)['event'] ?? []).filter((event) => event.session === session);
  assert.deepEqual(
    events.map(({ seq }) => seq),
    Array.from({ length: events.length }, (_, index) => index + 1),
    'the events are numbered without a gap',
  );
  return events.map((event) => ({ ...event, data: JSON.parse(event.data) }));
};
