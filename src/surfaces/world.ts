import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve as resolvePath } from 'node:path';
import type { Kind, Kinds } from '../kernel/kind.ts';
import { createKinds, NotLoaded, whenLoaded, type LazyKind } from '../kernel/kinds.ts';
import type { LookAtRepository, LookOutside } from '../kernel/outside.ts';
import { StoreFailure, type Caller, type Damage, type Places, type RunProgram, type Store } from '../kernel/ports.ts';
import type { Host } from '../kernel/process.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import type { Apart, PreparedCall, ProjectFiles, Verb, VerbRefusal, World } from '../kernel/verb.ts';
import type { Json, JsonObject } from '../lib/canonical-json.ts';
import { fileProblem } from '../lib/atomic-file.ts';
import { ulid } from '../lib/id.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { syncMirrors } from '../mirror/sync.ts';
import { findCheckout, pathFromUri } from '../store/checkout.ts';
import { prepareFolder } from '../store/own-folder.ts';
import { createPlaces, refuseFolder } from '../store/places.ts';
import { keepStoreId, refuseMissing, type StoreFiles } from '../store/store-files.ts';
import type { MountTable } from '../store/sqlite/file-system.ts';
import { unfinishedRepairs } from '../store/sqlite/unfinished.ts';
import { roomHint } from '../store/hints.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { files } from './files.ts';
import { isServerAddress, readSettings, storeNamed } from './settings.ts';
import { createHost } from './host.ts';

/** Where work is done, and in which store. */
export interface Location {
  /** A folder of the checkout; a path or a `file:` URI. */
  readonly cwd: string;
  /** A store file or the folder that holds it, the address of a server, or `env:NAME`; else what `stint.json` says. */
  readonly store: string | undefined;
  /** The project on a server; else what `stint.json` says. */
  readonly project?: string | undefined;
  /** The variables that a store may be named by; default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly kinds: readonly (Kind | LazyKind)[];
  /** What this machine is called; default: as the system says. */
  readonly host?: string | undefined;
  /** The folder for copies of stores; none are kept without one. */
  readonly copies?: string | undefined;
  /** Take a store wherever it lies, also where file locks may not hold. */
  readonly anyFileSystem?: boolean;
  /** What the system says of its file systems; default: this one's. */
  readonly mounts?: MountTable;
  /** The time now: UTC, RFC 3339, milliseconds. */
  readonly now: () => string;
  /** Whether that time counts, and not the clock of a server. */
  readonly isClockFixed?: boolean;
  /** How long a server is waited for, in milliseconds; default: as long as for a lock. */
  readonly patience?: number;
}

/** An open store with the places around it. */
export interface Workplace {
  readonly store: Store;
  readonly kinds: Kinds;
  readonly places: Places;
  readonly host: Host;
  readonly files: StoreFiles;
  readonly project: () => Promise<ProjectFiles>;
  readonly outside: LookOutside;
  readonly repository: LookAtRepository;
  readonly runProgram: RunProgram;
  readonly variable: World['variable'];
  readonly damage: Damage | undefined;
  readonly declared: World['declared'];
  readonly handoffRules: World['handoffRules'];
  readonly now: () => string;
  readonly freshId: () => string;
  /** Whether there is a store already. */
  readonly exists: boolean;
  /** Whether it lies on a server: what is damaged there is not repaired here. */
  readonly isOnServer: boolean;
}

/** What is known before the store is opened. */
export type Surveyed = Omit<Workplace, 'store' | 'damage'> & {
  readonly size: number | undefined;
  readonly folder: string;
  /** Where the store lies on a server. */
  readonly server: { readonly url: string; readonly project: string | undefined } | undefined;
  /** Whether somebody named the store. */
  readonly isNamed: boolean;
  readonly isClockFixed: boolean;
  readonly patience: number | undefined;
};

/** What is done where there is no store: a file is made, or reads as empty; one that was named must be there. */
export type Missing = 'make' | 'read-empty' | 'refuse-named';

/** Opens the store at a path, or gives one that is open already. */
export type OpenStore = typeof openSqliteStore;

/** Finds the checkout and opens its store, a file or one on a server. */
export const openWorkplace = async (
  location: Location,
  missing: Missing,
  openStore?: OpenStore,
): Promise<Result<Workplace, Refusal>> => {
  const surveyed = survey(location);
  if (!surveyed.ok) return surveyed;
  const { server } = surveyed.value;
  return server === undefined
    ? whenLoaded(() => openFileAt(surveyed.value, location, missing, openStore))
    : (await import('./server.ts')).openServer(surveyed.value, server, missing);
};

/** The same for a file, at once. */
export const openFileWorkplace = (location: Location, missing: Missing): Result<Workplace, Refusal> => {
  const surveyed = survey(location);
  if (!surveyed.ok) return surveyed;
  if (surveyed.value.server !== undefined)
    return err(
      refuse('usage', 'The store lies on a server, which is not opened at once.', {
        expected: "openStint of 'stint/postgres'",
      }),
    );
  try {
    return openFileAt(surveyed.value, location, missing);
  } catch (error) {
    if (!(error instanceof NotLoaded)) throw error;
    return err(
      refuse('usage', 'The store that was here is gone, and what is left of it is not looked for at once.', {
        expected: "openStint of 'stint/postgres'",
      }),
    );
  }
};

const openFileAt = (
  surveyed: Surveyed,
  location: Location,
  missing: Missing,
  openStore: OpenStore = openSqliteStore,
): Result<Workplace, Refusal> => {
  const { files: storeFiles, kinds, exists, size, folder, isNamed } = surveyed;
  // A store that was here once and is gone is not begun anew over what is left of it.
  const gone = refuseMissing(storeFiles, size);
  if (gone !== undefined) return err(gone);
  if (!isNamed) {
    const prepared = missing === 'make' ? prepareFolder(folder) : ok(undefined);
    if (!prepared.ok) return err(refuseFolder(prepared.error));
  } else if (missing === 'refuse-named' && !exists) {
    return err(
      refuse('not-found', `There is no store ${storeFiles.path}.`, { expected: 'the file of a store, or its folder' }),
    );
  }
  const { anyFileSystem, mounts } = location;
  try {
    const store = openStore(storeFiles.path, kinds, {
      create: missing === 'make',
      ...(anyFileSystem === undefined ? {} : { anyFileSystem }),
      ...(mounts === undefined ? {} : { mounts }),
    });
    if (!exists && missing === 'make' && storeFiles.idFile !== undefined)
      keepStoreId(storeFiles.idFile, store.identity.id);
    return ok({ ...surveyed, store, damage: undefined });
  } catch (error) {
    if (error instanceof StoreFailure) return err(error.refusal);
    throw error;
  }
};

/** What is known of a place before its store is opened. */
export const survey = (location: Location): Result<Surveyed, Refusal> => {
  const cwd = pathOf(location.cwd);
  const checkout = findCheckout(cwd);
  if (!checkout.ok) return err(refuseFolder(checkout.error));
  const { storeFolder, commonDir, root } = checkout.value;
  const freshId = (): string => ulid(Date.parse(location.now()));
  const named = namedStore(location, cwd, root);
  if (!named.ok) return named;
  const { store, project, declared, handoffRules } = named.value;
  const server = store !== undefined && isServerAddress(store.name) ? { url: store.name, project } : undefined;
  const places = createPlaces(checkout.value, freshId, { isShared: server !== undefined });
  if (!places.ok) return places;
  const found = server === undefined ? storePath(store?.name, store?.from ?? cwd, storeFolder) : ok('');
  if (!found.ok) return found;
  const path = linkedPath(found.value);
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  const kinds = createKinds(location.kinds, async () => import('../formats/handoff/print.ts'));
  return ok({
    files: {
      path,
      idFile: store === undefined ? `${commonDir ?? storeFolder}/stint-id` : undefined,
      get copies() {
        return location.copies;
      },
      traces: () => [
        ...new Set(
          location.kinds.map(({ name }) =>
            join(places.value.here.root, dirname(kinds.get(name)?.folder('name') ?? '')),
          ),
        ),
      ],
    },
    project: async () => projectFiles(root, cwd),
    outside: async (question) => (await import('./outside.ts')).lookOutside(location.env ?? {}, question),
    repository: async (at) => (await import('./repository.ts')).lookAtRepository(location.env ?? {}, at),
    runProgram: async (command, timeout) =>
      (await import('./program.ts')).runProgram({ cwd, now: location.now }, command, timeout),
    variable: (name) => location.env?.[name],
    folder: storeFolder,
    server,
    isOnServer: server !== undefined,
    isNamed: store !== undefined,
    isClockFixed: location.isClockFixed ?? false,
    patience: location.patience,
    size,
    exists: size !== undefined,
    kinds,
    places: places.value,
    declared,
    handoffRules,
    host: createHost(location.host),
    now: location.now,
    freshId,
  });
};

const pathOf = (text: string): string => (text.startsWith('file:') ? pathFromUri(text) : text);

/** The store that somebody named, and the project: the caller, else the settings of the checkout. */
const namedStore = (
  location: Location,
  cwd: string,
  root: string,
): Result<
  {
    readonly store: { readonly name: string; readonly from: string } | undefined;
    readonly project: string | undefined;
    readonly declared: World['declared'];
    readonly handoffRules: World['handoffRules'];
  },
  Refusal
> => {
  const settings = readSettings(root);
  if (!settings.ok) return settings;
  const project = location.project ?? settings.value.project;
  const said = { project, declared: settings.value.kinds, handoffRules: settings.value.handoff };
  const given = location.store ?? settings.value.store;
  if (given === undefined) return ok({ store: undefined, ...said });
  const name = storeNamed(given, location.env ?? {});
  // A path in a committed file is meant from where that lies.
  return name.ok ? ok({ store: { name: name.value, from: location.store === undefined ? root : cwd }, ...said }) : name;
};

/** The store's file: the named one, `stint.db` in the named folder, else the checkout's own. */
const storePath = (named: string | undefined, cwd: string, folder: string): Result<string, Refusal> => {
  if (named === undefined) return ok(`${folder}/stint.db`);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(named) && !named.startsWith('file:')) {
    return err(
      refuse('usage', 'The address of the store is of no server that is known here.', {
        expected: 'postgres://..., env:NAME, or a path',
      }),
    );
  }
  const path = resolvePath(cwd, pathOf(named));
  try {
    return ok(statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? join(path, 'stint.db') : path);
  } catch (error) {
    return err(refuseFolder(fileProblem(path, error)));
  }
};

/** What a link leads to: SQLite keeps the log beside that, and so does everything else that belongs to the store. */
const linkedPath = (path: string): string =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true && existsSync(path) ? realpathSync(path) : path;

/** What the system calls the user. */
export const userName = (): string => {
  try {
    return process.getBuiltinModule('node:os').userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
};

/** How one call is to be treated. */
export interface CallOptions {
  readonly actor: string;
  readonly session?: string | undefined;
  readonly process?: string | undefined;
  /** The id of the agent's own conversation, where it has one. */
  readonly agent?: string | undefined;
  /** The name of the user on this machine. */
  readonly user?: (() => string) | undefined;
  /** The token of the lease that the caller holds. */
  readonly leaseToken?: number | undefined;
  /** Take over a lease of somebody else, on the record. */
  readonly takeOver?: boolean | undefined;
  readonly requestId?: string | undefined;
  readonly expectRevision?: number | undefined;
  readonly dryRun?: boolean | undefined;
  readonly redact?: boolean | undefined;
}

/**
 * Runs a verb and brings the mirrors up to date, on every surface the same way. Warnings (a mirror that could not be
 * written) never fail a verb. A verb that reads, or that looks after the store, and meets damage goes on with what is left.
 */
export const runVerb = async (
  workplace: Workplace,
  verb: Verb,
  call: PreparedCall,
  payload: Json | undefined,
  options: CallOptions,
): Promise<Result<{ readonly answer: JsonObject; readonly warnings: readonly string[] }, VerbRefusal>> => {
  const caller: Caller = {
    actor: options.actor,
    session: options.session,
    process: options.process,
    agent: options.agent ?? null,
    user: options.user ?? (() => userName()),
    leaseToken: options.leaseToken,
    takeOver: options.takeOver ?? false,
    now: workplace.now(),
    freshId: workplace.freshId,
    requestId: options.requestId,
    expectRevision: options.expectRevision,
    dryRun: options.dryRun ?? false,
    redact: options.redact ?? true,
  };
  const {
    store,
    kinds,
    places,
    host,
    project,
    outside,
    repository,
    runProgram,
    variable,
    damage,
    declared,
    handoffRules,
  } = workplace;
  const world: World = {
    store,
    kinds,
    places,
    host,
    files,
    project,
    outside,
    repository,
    runProgram,
    variable,
    caller,
    care: careOf(workplace),
    documents: async (session) =>
      (await import('../formats/handoff/seen.ts')).lookAtDocuments({ store, places, project })(session),
    declared,
    handoffRules,
  };
  const result = await failing(async () => call.run(world, payload));
  if (!result.ok) {
    const { refusal, report } = result.error;
    if (damage !== undefined) {
      return err({ ...result.error, refusal: (await import('./care.ts')).unlessLost(refusal, damage) });
    }
    if (report !== undefined || workplace.isOnServer || !readsRemains(verb, call, refusal)) return result;
    // The store stays open: closing it would write its log into the damaged file.
    const left = await (await import('./care.ts')).remainsOf(workplace, refusal);
    if (!left.ok) return err({ refusal: left.error });
    const isEmpty = left.value.damage?.sessions.length === 0;
    return isEmpty && call.access === 'reads' ? result : runVerb(left.value, verb, call, payload, options);
  }
  const { answer, sessions, verdict } = result.value;
  const looksAfter = store.readOnly === undefined && !caller.dryRun;
  const warnings = looksAfter ? [...(await lookAfterMirrors(world, sessions))] : [];
  if (damage !== undefined && call.access === 'reads') warnings.push((await import('./care.ts')).warningOf(damage));
  if (verb.keepsCopy && !caller.dryRun) {
    const warning = await (await import('./care.ts')).keepCopyOf(workplace);
    if (warning !== undefined) warnings.push(warning);
  }
  return verdict === undefined ? ok({ answer, warnings }) : err({ refusal: verdict, report: answer });
};

const projectFiles = async (root: string, cwd: string): Promise<ProjectFiles> =>
  (await import('./project-files.ts')).createProjectFiles(root, cwd);

/** Runs a verb that works apart from the store of the checkout. */
export const runApart = async (
  location: Location,
  named: string | undefined,
  run: NonNullable<PreparedCall['apart']>,
): Promise<Result<JsonObject, VerbRefusal>> => {
  const cwd = pathOf(location.cwd);
  const checkout = findCheckout(cwd);
  if (!checkout.ok) return err({ refusal: refuseFolder(checkout.error) });
  const { root } = checkout.value;
  const open: Apart['open'] = async (store, missing) => {
    const opened = await openWorkplace({ ...location, store }, missing);
    return opened.ok ? ok(opened.value.store) : opened;
  };
  const { env = {}, now } = location;
  const { offsetAt } = createHost(location.host);
  return failing(async () =>
    run({
      root,
      named,
      open,
      files: await projectFiles(root, cwd),
      clock: { now: now(), offsetAt },
      variable: (name) => env[name],
      ask: async (verb, input) => (await import('./ask-verb.ts')).askVerb(location)(verb, input),
      signWithSsh: async (...key) => (await import('./ssh-keygen.ts')).signWithSsh({ cwd, env }, ...key),
    }),
  );
};

/** Damage that only the mirrors meet does not undo what the verb did. */
const lookAfterMirrors = async (world: World, sessions: readonly string[]): Promise<readonly string[]> => {
  try {
    return await syncMirrors(world, sessions);
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error;
    return [`the mirrors were not looked after: ${error.refusal.message}`];
  }
};

/** What the world did to the store, as a refusal. */
const failing = async <Value>(
  action: () => Promise<Result<Value, VerbRefusal>>,
): Promise<Result<Value, VerbRefusal>> => {
  try {
    return await action();
  } catch (error) {
    if (error instanceof StoreFailure) return err({ refusal: error.refusal });
    throw error;
  }
};

/**
 * Whether a verb goes on with what can be read of a store that is refused: where it is damaged, and, for a verb that only
 * reads, where SQLite has no room for what it needs beside a file.
 */
export const readsRemains = ({ cares }: Verb, { access }: PreparedCall, refusal: Refusal): boolean =>
  cares && (refusal.code === 'damaged' || (access === 'reads' && isFull(refusal)));

/** Whether a refusal says that there is no room, which no repair makes. */
export const isFull = ({ hint }: Refusal): boolean => hint === roomHint;

const careOf = (workplace: Workplace): World['care'] => ({
  damage: workplace.damage,
  wasInterrupted: () => unfinishedRepairs(workplace.files.path).length > 0,
  repair: async () => (await import('./care.ts')).repair(workplace),
});
