import { nameFrom } from '../lib/name.ts';
import type { Kind } from './kind.ts';
import type { Guard, SessionRow } from './ports.ts';
import type { World } from './verb.ts';

/** What a session is called that is begun, and what is done for it. */
export interface Choice {
  /** The session that is begun or goes on. */
  readonly name: string;
  /** The open one that is aborted first. */
  readonly abort: string | undefined;
  readonly guards: readonly Guard[];
}

/** The next free name, which is none of others that are begun with it, and the open session that makes way for it. */
export const startAnew = async (
  world: World,
  kind: Kind,
  base: string,
  abort: string | undefined,
  others: readonly string[] = [],
): Promise<Choice> => {
  const taken = new Set([...(await familyOf(world, kind, base)).map((row) => row.name), ...others]);
  let name = base;
  for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}`;
  return { name, abort, guards: [{ filter: { kind: kind.name, name }, keys: [] }] };
};

/** The sessions of that name, and of that name with a number behind it. */
export const familyOf = async (world: World, kind: Kind, base: string): Promise<readonly SessionRow[]> =>
  (await world.store.rows({ kind: kind.name, namePrefix: base })).filter((row) =>
    /^(?:-\d+)?$/.test(row.name.slice(base.length)),
  );

/** `YYYY-MM-DD-<branch>`; a folder without a repository goes by its own name. */
export const defaultName = (world: World, branch: string | null): string =>
  `${world.caller.now.slice(0, 10)}-${nameFrom(branch ?? world.places.here.label)}`;
