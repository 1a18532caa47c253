import { err, ok, type Result } from '../lib/result.ts';
import type { CurrentFile, Kind } from './kind.ts';
import { loadKind } from './kinds.ts';
import type { Guard, Place, SessionRow } from './ports.ts';
import { commandOf, refuse, type Refusal, type Way } from './refusal.ts';
import type { World } from './verb.ts';

/** Kinds of which a checkout has one open session at a time. */

/** The open one of a checkout, with what must still be so when another is opened. */
export const openIn = async (
  { store, places }: Pick<World, 'store' | 'places'>,
  kind: Pick<Kind, 'name'>,
  { root }: Pick<Place, 'root'>,
): Promise<{ readonly open: SessionRow | undefined; readonly guard: Guard }> => {
  const filter = { kind: kind.name, status: 'active' } as const;
  const rows = await store.rows(filter);
  const open = rows.find((row) => places.homeOf(row).root === root);
  return { open, guard: { filter, keys: rows.map(({ key }) => key) } };
};

/** What must still be so when a session is opened again: that no other is open beside it, where its kind has one at a time. */
export const orderBeside = async (world: World, row: SessionRow): Promise<Result<readonly Guard[], Refusal>> => {
  const kind = await loadKind(world.kinds, row.kind);
  if (kind?.current === undefined) return ok([]);
  const { open, guard } = await openIn(world, kind, world.places.homeOf(row));
  return open === undefined || open.key === row.key ? ok([guard]) : err(refuseSecond(open, kind.current));
};

/** A second one is not opened beside it. */
export const refuseSecond = ({ key }: SessionRow, { successor }: CurrentFile): Refusal =>
  refuse('conflict', `${key} is open in this checkout, which has one at a time.`, {
    expected: 'no other open session of the kind',
    legal: [`stint resume --session ${key}`, successor, `stint finish --abort --session ${key}`],
    hint: `stint resume --session ${key}`,
    candidates: [key],
  });

/** What another program has left in the file is taken over, or set aside on purpose: it never counts as nothing. */
export const refuseForeign = async (
  { store, places, files }: Pick<World, 'store' | 'places' | 'files'>,
  kind: Pick<Kind, 'name'>,
  { path, ways }: Pick<CurrentFile, 'path' | 'ways'>,
  goal?: string,
): Promise<Refusal | undefined> => {
  const { id, root } = places.here;
  if (!files.exists(`${root}/${path}`)) return undefined;
  const found = files.digest(root, path);
  const isOurs = id !== null && found !== undefined && (await store.wasMirror(id, path, found.sha256));
  if (isOurs) return undefined;
  const all: readonly Way[] = [
    ...ways,
    {
      text: 'start fresh; the file is kept beside the new one',
      words: ['begin', kind.name, '--fresh', ...(goal === undefined ? [] : ['--goal', goal])],
    },
  ];
  return refuse('invariant-unmet', `${path} holds a session that is not taken over.`, {
    expected: 'a file that is taken over, or set aside on purpose',
    legal: all.map(commandOf),
    ...(all[0] === undefined ? {} : { hint: commandOf(all[0]) }),
    ways: all,
  });
};
