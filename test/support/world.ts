/**
 * A world of its own for a black-box test: a home, a project with a real repository, a clock, and nothing inherited from
 * whoever runs the tests. Verbs are those of the built command.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runResident } from './resident.ts';

/** The folder of the program's repository. */
export const repository = dirname(dirname(import.meta.dirname));

/** The built command. */
export const command = join(repository, 'dist/stint.cjs');

/** Material that is kept beside the repository; tests that read it are skipped where it is not there. */
export const shared = join(dirname(repository), 'shared');

/** Why a test that needs a file of `shared` is skipped, or false. */
export const withoutShared = (...parts: readonly string[]): string | false =>
  existsSync(join(shared, ...parts)) ? false : `${join('..', 'shared', ...parts)} is not there`;

/** What a program printed, looked into as it is. */
export type Printed = ReturnType<typeof JSON.parse>;

/** A list that a program printed. */
export const listOf = (value: Printed): readonly Printed[] => {
  assert.ok(Array.isArray(value), 'a list is printed');
  return value;
};

/** Texts in the order of their characters. */
export const sorted = (texts: Iterable<string>): readonly string[] =>
  [...texts].toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));

/** What became of a verb. */
export interface Outcome {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as one JSON document; undefined where it is not one. */
  readonly json: Printed;
}

/** A verb that runs. */
export interface Running {
  readonly child: ChildProcess;
  readonly outcome: Promise<Outcome>;
}

/** What differs from the usual for some verbs. */
export interface Changes {
  /** The folder in which verbs are run. */
  readonly cwd?: string;
  /** Variables beside the usual ones; undefined takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Standard input; default: empty. With undefined, that of a started verb stays open. */
  readonly input?: string | Uint8Array | undefined;
  /** The clock. */
  readonly now?: string;
  /** The user and group that run verbs. */
  readonly user?: { readonly uid: number; readonly gid: number };
}

/** A world of its own. */
export interface TestWorld {
  /** Everything lies below this folder. */
  readonly root: string;
  /** The checkout in which verbs are run, unless told otherwise. */
  readonly project: string;
  /** The folder for temporary files. */
  readonly temporary: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs a verb to its end. */
  readonly run: (...args: readonly string[]) => Outcome;
  /** Runs a verb with `--json` that must succeed without a word on standard error; answers its document. */
  readonly answer: (...args: readonly string[]) => Printed;
  /** Runs a verb with `--json` that must be refused with that exit code; answers the error. */
  readonly refusal: (exit: number, ...args: readonly string[]) => Printed;
  /** Starts a verb; its standard input stays open where `input` was changed to undefined. */
  readonly start: (...args: readonly string[]) => Running;
  /** The same world, with some things changed. */
  readonly with: (changes: Changes) => TestWorld;
  /** The path of something in the project. */
  readonly path: (...parts: readonly string[]) => string;
  /** Writes a file of the project, with its folders; answers its path. */
  readonly write: (path: string, content: string | Uint8Array) => string;
  /** Runs git in the project; answers what it printed. */
  readonly git: (...args: readonly string[]) => string;
  /** A text with what differs from run to run named: paths, ids, hashes. */
  readonly scrub: (text: string) => string;
}

/** What a test's context offers for tidying up. */
export interface Tidying {
  readonly after: (action: () => void) => void;
}

/** When the clock stands, where nothing else is said. */
export const noon = '2026-03-17T12:00:00.000Z';

/**
 * Where Node keeps the compiled program for all worlds of a test's process: outside of them, because it takes a run to
 * fill. What is done with it is the start-up's own business and changes no answer.
 */
const cache = mkdtempSync(join(tmpdir(), 'cache-'));
chmodSync(cache, 0o755);
process.once('exit', () => rmSync(cache, { recursive: true, force: true }));

/** Whether each verb has a process of its own. */
let isWhole = (process.env['STINT_TEST_WHOLE'] ?? '') !== '';

/** How many verbs run beside the test. */
let started = 0;

/**
 * Gives each verb of a test file a process of its own, as users do: for tests of what a process does (its start, its end,
 * its streams, its locks), and of several at once. Others share a resident one, which is much faster; with
 * STINT_TEST_WHOLE=1 none does.
 */
export const runWholeProcesses = (): void => {
  isWhole = true;
};

/** A call that is answered in JSON; what stands behind `--` is no flag. */
const inJson = (args: readonly string[]): readonly string[] => {
  const end = args.indexOf('--');
  return end < 0 ? [...args, '--json'] : [...args.slice(0, end), '--json', ...args.slice(end)];
};

/** Makes a world; with `from`, its project is a copy of that world's, and with `git: false` there is no repository. */
export const createWorld = (
  tidying: Tidying,
  options: { readonly git?: boolean; readonly from?: TestWorld; readonly name?: string } = {},
): TestWorld => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'world-')));
  tidying.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  // Tests that run verbs as somebody else let them in.
  chmodSync(root, 0o755);
  const project = join(root, options.name ?? 'project');
  const temporary = join(root, 'tmp');
  for (const folder of [project, temporary, join(root, 'home')]) mkdirSync(folder);
  const world = worldAt(root, project, {});
  if (options.from !== undefined) {
    cpSync(options.from.project, project, { recursive: true });
    copyOnServer(options.from, world);
  } else if (options.git !== false) {
    cpSync(firstRepository(), join(project, '.git'), { recursive: true });
  }
  return world;
};

/** A repository with one commit, which worlds copy: it takes git a while to make. */
const firstRepository = (): string => {
  if (repositoryMade === undefined) {
    const root = mkdtempSync(join(tmpdir(), 'repository-'));
    process.once('exit', () => rmSync(root, { recursive: true, force: true }));
    const { git } = worldAt(root, root, {});
    git('init', '-q', '--template=', '-b', 'main');
    git('commit', '-q', '--allow-empty', '-m', 'first');
    repositoryMade = join(root, '.git');
  }
  return repositoryMade;
};

let repositoryMade: string | undefined;

/** What a world holds on a server goes with its folder, by way of a file. */
const copyOnServer = (from: TestWorld, to: TestWorld): void => {
  const server = serverNow();
  if (server === undefined) return;
  const file = join(to.root, 'carried.db');
  if (from.run('store', 'copy', server, file).status === 0)
    assert.equal(to.run('store', 'copy', file, server).status, 0);
};

/**
 * The server on which the worlds of a test keep their stores, each as a project of its own: with STINT_TEST_WORLDS the same
 * tests say what verbs do there. Without it they are files, as usual.
 */
const serverNow = (): string | undefined => process.env['STINT_TEST_WORLDS'];

/** What the store of a world is called. */
export const storeOf = ({ env }: TestWorld, file = 'ROOT/project/.stint/stint.db'): string => {
  const { STINT_STORE: store, STINT_PROJECT: project } = env;
  if (store === undefined) return file;
  const { host, pathname } = new URL(store);
  return `postgres://${host}${pathname} (project ${project})`;
};

/** Why a test that is about the file of a store is skipped, or false. */
export const fileOnly = serverNow() !== undefined ? 'it is about the file of a store' : false;

const serverOf = (root: string): Readonly<Record<string, string>> => {
  const server = serverNow();
  return server === undefined ? {} : { STINT_STORE: server, STINT_PROJECT: `w-${root.slice(-6).toLowerCase()}` };
};

const worldAt = (root: string, project: string, changes: Changes): TestWorld => {
  const cwd = changes.cwd ?? project;
  const temporary = join(root, 'tmp');
  const env = definedOnly({
    PATH: process.env['PATH'],
    HOME: join(root, 'home'),
    TMPDIR: temporary,
    XDG_CACHE_HOME: cache,
    USER: 'ana',
    STINT_HOST: 'desk',
    STINT_NOW: changes.now ?? noon,
    ...serverOf(root),
    TZ: 'UTC',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Ana',
    GIT_AUTHOR_EMAIL: 'ana@example.invalid',
    GIT_COMMITTER_NAME: 'Ana',
    GIT_COMMITTER_EMAIL: 'ana@example.invalid',
    GIT_AUTHOR_DATE: noon,
    GIT_COMMITTER_DATE: noon,
    ...changes.env,
  });
  const settings = { cwd, env, ...changes.user };

  const run = (...args: readonly string[]): Outcome => {
    if (!isWhole && started === 0 && changes.user === undefined) {
      const { status, stdout, stderr } = runResident({ args, cwd, env }, changes.input ?? '');
      return outcomeOf(status, null, stdout, stderr);
    }
    const child = spawnSync(process.execPath, [command, ...args], {
      ...settings,
      input: changes.input ?? '',
      maxBuffer: 256 * 1024 * 1024,
      encoding: 'utf8',
    });
    if (child.error !== undefined) throw child.error;
    return outcomeOf(child.status, child.signal, child.stdout, child.stderr);
  };

  const start = (...args: readonly string[]): Running => {
    const child = spawn(process.execPath, [command, ...args], settings);
    const outcome = outcomeOfChild(child);
    started += 1;
    child.once('close', () => void (started -= 1));
    const keepsOpen = 'input' in changes && changes.input === undefined;
    // A verb that does not read its input may be gone before it is given.
    child.stdin.on('error', () => {});
    if (!keepsOpen) child.stdin.end(changes.input ?? '');
    return { child, outcome };
  };

  const world: TestWorld = {
    root,
    project,
    temporary,
    env,
    run,
    start,
    answer: (...args) => assertAnswer(run(...inJson(args)), args),
    refusal: (exit, ...args) => {
      const outcome = run(...inJson(args));
      assert.equal(outcome.stderr, '', `${args.join(' ')}: with --json nothing is said on standard error`);
      assert.equal(outcome.status, exit, `${args.join(' ')}: ${outcome.stdout}`);
      assertErrorKeys(outcome.json);
      assert.equal(outcome.json.error.exit, exit);
      return outcome.json.error;
    },
    with: (more) => worldAt(root, project, { ...changes, ...more, env: { ...changes.env, ...more.env } }),
    path: (...parts) => join(project, ...parts),
    write: (path, content) => {
      const full = join(project, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, content);
      return full;
    },
    git: (...args) => {
      const child = spawnSync('git', args, { cwd, env, encoding: 'utf8' });
      assert.equal(child.status, 0, `git ${args.join(' ')}: ${child.stderr}`);
      return child.stdout;
    },
    scrub: (text) =>
      text
        .replaceAll(root, 'ROOT')
        .replaceAll(/\b[0-9a-f]{64}\b/g, 'HASH')
        .replaceAll(/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, 'ULID'),
  };
  return world;
};

const definedOnly = (variables: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

const outcomeOf = (status: number | null, signal: NodeJS.Signals | null, stdout: string, stderr: string): Outcome => ({
  status,
  signal,
  stdout,
  stderr,
  json: parseDocument(stdout),
});

const parseDocument = (text: string): Printed => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** What becomes of a child process. */
export const outcomeOfChild = async (child: ChildProcess): Promise<Outcome> => {
  const { stdout, stderr } = child;
  assert.ok(stdout !== null && stderr !== null);
  const printed: Buffer[] = [];
  const said: Buffer[] = [];
  stdout.on('data', (chunk: Buffer) => void printed.push(chunk));
  stderr.on('data', (chunk: Buffer) => void said.push(chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status, signal) =>
      resolve(outcomeOf(status, signal, Buffer.concat(printed).toString(), Buffer.concat(said).toString())),
    );
  });
};

/** Asserts that a verb with `--json` answered: one document, no word on standard error, exit 0. */
export const assertAnswer = (outcome: Outcome, what: readonly string[] | string): Printed => {
  const name = typeof what === 'string' ? what : what.join(' ');
  assert.equal(outcome.stderr, '', name);
  assert.equal(outcome.status, 0, `${name}: ${outcome.stdout}`);
  assert.match(outcome.stdout, /^\{.*\}\n$/, `${name} prints one JSON document`);
  assert.ok(outcome.json !== undefined, `${name} prints one JSON document`);
  assert.equal(outcome.json.schema_version, 1, name);
  return outcome.json;
};

/** The same world so many minutes after noon. */
export const later = (world: TestWorld, minutes: number): TestWorld =>
  world.with({ now: new Date(Date.parse(noon) + minutes * 60_000).toISOString() });

/** Runs a verb that must succeed; answers what it printed for a person. */
export const say = (world: TestWorld, ...args: readonly string[]): string => {
  const { status, stdout, stderr } = world.run(...args);
  assert.deepEqual([stderr, status], ['', 0], args.join(' '));
  return world.scrub(stdout);
};

/** Runs a verb that must be refused: all that it says is on standard error, and nothing on standard output. */
export const refusedText = (world: TestWorld, exit: number, ...args: readonly string[]): string => {
  const outcome = world.run(...args);
  assert.equal(outcome.stdout, '', `${args.join(' ')} prints nothing`);
  assert.equal(outcome.status, exit, `${args.join(' ')}: ${outcome.stderr}`);
  assert.match(outcome.stderr, /^stint: \S/);
  return world.scrub(outcome.stderr);
};

/** The lines of a text, each with its end. */
export const lines = (...texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('');

const errorKeys = ['code', 'exit', 'message', 'retryable', 'expected', 'legal', 'hint', 'candidates'];

/** Asserts that a document is an error with the keys that are documented. */
export const assertErrorKeys = (document: Printed): void => {
  assert.ok(document !== undefined, 'a refusal with --json is one JSON document');
  assert.equal(document.schema_version, 1);
  for (const key of errorKeys) assert.ok(key in document.error, `error.${key} is there`);
  for (const key of Object.keys(document.error))
    assert.ok([...errorKeys, 'faults', 'lease', 'ways'].includes(key), `error.${key} is documented`);
  assert.equal(typeof document.error.message, 'string');
  // A lease that stands in the way ends by itself, and a limit that is reached is not for ever.
  if (document.error.code !== 'illegal-transition')
    assert.equal(document.error.retryable, document.error.code === 'busy' || document.error.lease !== undefined);
  for (const list of ['legal', 'candidates']) listOf(document.error[list]);
};
