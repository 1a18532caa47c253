import { existsSync, statSync } from 'node:fs';
import { join, resolve as resolvePath } from 'node:path';
import type { Kind, Kinds } from '../kernel/kind.ts';
import { StoreFailure, type Caller, type Places, type Store } from '../kernel/ports.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import type { PreparedCall, VerbRefusal, World } from '../kernel/verb.ts';
import type { Json, JsonObject } from '../lib/canonical-json.ts';
import { fileProblem } from '../lib/atomic-file.ts';
import { ulid } from '../lib/id.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { syncMirrors } from '../mirror/sync.ts';
import { findCheckout, pathFromUri } from '../store/checkout.ts';
import { prepareFolder } from '../store/place.ts';
import { createPlaces, refuseFolder } from '../store/places.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import { files } from './files.ts';

/** Where work is done, and in which store. */
export interface Location {
  /** A folder of the checkout; a path or a `file:` URI. */
  readonly cwd: string;
  /** A store file or the folder that holds it; the checkout's own where it is not named. */
  readonly store: string | undefined;
  readonly kinds: readonly Kind[];
  /** The time now: UTC, RFC 3339, milliseconds. */
  readonly now: () => string;
}

/** An open store with the places around it. */
export interface Workplace {
  readonly store: Store;
  readonly kinds: Kinds;
  readonly places: Places;
  readonly now: () => string;
  readonly freshId: () => string;
  /** Whether there is a store already. */
  readonly exists: boolean;
}

/** Opens the store at a path, or gives one that is open already. */
export type OpenStore = typeof openSqliteStore;

/** Finds the checkout and opens its store. Where there is none, it is made, or reads as empty; one that was named must be there. */
export const openWorkplace = (
  location: Location,
  missing: 'make' | 'read-empty' | 'refuse-named',
  openStore: OpenStore = openSqliteStore,
): Result<Workplace, Refusal> => {
  const cwd = pathOf(location.cwd);
  const checkout = findCheckout(cwd);
  if (!checkout.ok) return err(refuseFolder(checkout.error));
  const freshId = (): string => ulid(Date.parse(location.now()));
  const places = createPlaces(checkout.value, freshId);
  if (!places.ok) return places;

  const path = storePath(location.store, cwd, checkout.value.storeFolder);
  if (!path.ok) return path;
  const exists = existsSync(path.value);
  if (location.store === undefined) {
    const prepared = missing === 'make' ? prepareFolder(checkout.value.storeFolder) : ok(undefined);
    if (!prepared.ok) return err(refuseFolder(prepared.error));
  } else if (missing === 'refuse-named' && !exists) {
    return err(
      refuse('not-found', `There is no store ${path.value}.`, { expected: 'the file of a store, or its folder' }),
    );
  }
  const kinds = new Map(location.kinds.map((kind) => [kind.name, kind]));
  try {
    return ok({
      exists,
      store: openStore(path.value, kinds, { create: missing === 'make' }),
      kinds,
      places: places.value,
      now: location.now,
      freshId,
    });
  } catch (error) {
    if (error instanceof StoreFailure) return err(error.refusal);
    throw error;
  }
};

const pathOf = (text: string): string => (text.startsWith('file:') ? pathFromUri(text) : text);

/** The store's file: the named one, `stint.db` in the named folder, else the checkout's own. */
const storePath = (named: string | undefined, cwd: string, folder: string): Result<string, Refusal> => {
  if (named === undefined) return ok(`${folder}/stint.db`);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(named) && !named.startsWith('file:')) {
    return err(refuse('usage', 'A store is a file here, not the address of a server.', { expected: 'a path' }));
  }
  const path = resolvePath(cwd, pathOf(named));
  try {
    return ok(statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? join(path, 'stint.db') : path);
  } catch (error) {
    return err(refuseFolder(fileProblem(path, error)));
  }
};

/** How one call is to be treated. */
export interface CallOptions {
  readonly actor: string;
  readonly session?: string | undefined;
  readonly requestId?: string | undefined;
  readonly expectRevision?: number | undefined;
  readonly dryRun?: boolean | undefined;
  readonly redact?: boolean | undefined;
}

/**
 * Runs a verb and brings the mirrors up to date, on every surface the same way. Warnings (a mirror that could not be
 * written) never fail a verb.
 */
export const runVerb = async (
  workplace: Workplace,
  call: PreparedCall,
  payload: Json | undefined,
  options: CallOptions,
): Promise<Result<{ readonly answer: JsonObject; readonly warnings: readonly string[] }, VerbRefusal>> => {
  const caller: Caller = {
    actor: options.actor,
    session: options.session,
    now: workplace.now(),
    freshId: workplace.freshId,
    requestId: options.requestId,
    expectRevision: options.expectRevision,
    dryRun: options.dryRun ?? false,
    redact: options.redact ?? true,
  };
  const world: World = { store: workplace.store, kinds: workplace.kinds, places: workplace.places, files, caller };
  try {
    const result = await call(world, payload);
    const sessions = result.ok ? result.value.sessions : [];
    const warnings = workplace.store.readOnly === undefined ? await syncMirrors(world, sessions) : [];
    return result.ok ? ok({ answer: result.value.answer, warnings }) : result;
  } catch (error) {
    if (error instanceof StoreFailure) return err({ refusal: error.refusal });
    throw error;
  }
};
