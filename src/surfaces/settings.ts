import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { errnoCode } from '../lib/atomic-file.ts';
import type { Json, JsonObject } from '../lib/canonical-json.ts';
import { isJsonObject } from '../lib/json.ts';
import { err, ok, type Result } from '../lib/result.ts';

/** What `stint.json` at the root of a checkout says; it is committed, so nothing in it is a secret. */
export interface Settings {
  /** The store: `env:NAME`, the address of a server without a password, or a path. */
  readonly store: string | undefined;
  /** The project that a server knows the sessions under. */
  readonly project: string | undefined;
  /** What is said of kinds, by their names: what that means is theirs. */
  readonly kinds: Readonly<Record<string, JsonObject>>;
  /** What is said of handing work over: what that means is said there. */
  readonly handoff: JsonObject;
}

/** The file of the settings, below the root of a checkout. */
export const settingsFile = 'stint.json';

/** Reads the settings of a checkout; what is not there says nothing. */
export const readSettings = (root: string): Result<Settings, Refusal> => {
  const path = join(root, settingsFile);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errnoCode(error) === 'ENOENT' || errnoCode(error) === 'ENOTDIR')
      return ok({ store: undefined, project: undefined, kinds: {}, handoff: {} });
    if (errnoCode(error) === null) throw error;
    return err(refuseSettings(path, 'it cannot be read'));
  }
  let json: Json;
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    return err(refuseSettings(path, error instanceof Error ? error.message : String(error)));
  }
  if (!isJsonObject(json)) return err(refuseSettings(path, '$: expected an object'));
  const { store, project, kinds = {}, handoff = {} } = json;
  for (const [key, value] of Object.entries({ store, project })) {
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      return err(refuseSettings(path, `$.${key}: expected a text`));
  }
  if (typeof store === 'string' && URL.canParse(store) && new URL(store).password !== '')
    return err(refuseSettings(path, '$.store: it holds a password, and git sees this file'));
  if (!isJsonObject(kinds)) return err(refuseSettings(path, '$.kinds: expected an object'));
  if (!isJsonObject(handoff)) return err(refuseSettings(path, '$.handoff: expected an object'));
  const saidOfKinds: Record<string, JsonObject> = {};
  for (const [kind, said] of Object.entries(kinds)) {
    if (!isJsonObject(said)) return err(refuseSettings(path, `$.kinds.${kind}: expected an object`));
    saidOfKinds[kind] = said;
  }
  return ok({
    kinds: saidOfKinds,
    handoff,
    store: typeof store === 'string' ? store : undefined,
    project: typeof project === 'string' ? project : undefined,
  });
};

const refuseSettings = (path: string, problem: string): Refusal =>
  refuse('invalid-input', `${path} cannot be used: ${problem}.`, {
    expected: '{"store": "env:NAME", "project": "NAME", "kinds": {}, "handoff": {}}; each may be left out',
    hint: 'stint init --help',
  });

/** Whether a store is named by the address of a server. */
export const isServerAddress = (store: string): boolean => /^postgres(?:ql)?:\/\//i.test(store);

/** What a name of a store stands for: `env:NAME` for what that variable holds. */
export const storeNamed = (
  store: string,
  env: Readonly<Record<string, string | undefined>>,
): Result<string, Refusal> => {
  const [, variable] = /^env:(.*)$/s.exec(store) ?? [];
  if (variable === undefined) return ok(store);
  const value = env[variable];
  if (value !== undefined && value !== '') return ok(value);
  return err(
    refuse('usage', `The store is named by the variable ${JSON.stringify(variable)}, which is not set.`, {
      expected: 'a variable with the address of the server, or with a path',
      hint: `set ${variable}, or name another store with --store or STINT_STORE`,
    }),
  );
};
