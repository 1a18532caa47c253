import { err, ok, type Result } from '../lib/result.ts';
import { isAsImported } from './common.ts';
import { startAnew, type Choice } from './free-name.ts';
import type { CurrentFile, Kind, LeftFile } from './kind.ts';
import { loadKind } from './kinds.ts';
import type { Guard, Place, SessionRow } from './ports.ts';
import { commandOf, refuse, type Refusal, type Way } from './refusal.ts';
import type { World } from './verb.ts';

/** Kinds of which a checkout has one open session at a time. */

/** What `begin` is about: the open one goes on, or another one is begun where there is none. */
export const chooseCurrent = async (
  world: World,
  kind: Kind,
  current: CurrentFile,
  beginning: Beginning & { readonly fresh?: boolean | undefined },
): Promise<Result<Choice, Refusal>> => {
  const { name: named, fresh = false } = beginning;
  const { open, guard } = await openIn(world, kind, world.places.here);
  const known = named === undefined ? open : (await world.store.rows({ kind: kind.name, name: named }))[0];
  if (open !== undefined && known?.key !== open.key && !fresh) return err(refuseSecond(open, current));
  if (known !== undefined && !fresh) {
    // It may belong to another checkout, in which another one is open by now.
    const guards = await orderBeside(world, known);
    return guards.ok ? ok({ name: known.name, abort: undefined, guards: guards.value }) : guards;
  }
  const foreign = fresh || open !== undefined ? undefined : await refuseForeign(world, kind, current, beginning);
  if (foreign !== undefined) return err(foreign);
  const name = named ?? current.nameFor(world.caller.now, world.caller.freshId());
  const anew = await startAnew(world, kind, name, open?.key);
  return ok({ ...anew, guards: [guard, ...anew.guards] });
};

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

/** What somebody wants to begin in the place of what another program has left. */
export interface Beginning {
  readonly goal?: string | undefined;
  readonly mode?: string | undefined;
  readonly name?: string | undefined;
}

/** What another program has left in the file is taken over, or set aside on purpose: it never counts as nothing. */
export const refuseForeign = async (
  world: World,
  { name: kind }: Pick<Kind, 'name'>,
  { path, look }: Pick<CurrentFile, 'path' | 'look'>,
  beginning: Beginning = {},
): Promise<Refusal | undefined> => {
  const left = await foreignIn(world, { path, look });
  if (left === undefined) return undefined;
  const ways = [...left.ways, startFresh(kind, beginning)];
  return refuse(left.code, `${path} ${left.problem}`, {
    expected: 'a file that is taken over, or set aside on purpose',
    legal: ways.map(commandOf),
    ...(ways[0] === undefined ? {} : { hint: commandOf(ways[0]) }),
    ways,
  });
};

/** What lies in the file that was not written here, and that nothing here was taken over from. */
const foreignIn = async (
  world: World,
  { path, look }: Pick<CurrentFile, 'path' | 'look'>,
): Promise<LeftFile | undefined> => {
  const { id, root } = world.places.here;
  if (!world.files.exists(`${root}/${path}`)) return undefined;
  const read = (await world.project()).named(`${root}/${path}`).read();
  const digest = read.ok ? read.value.sha256 : undefined;
  if (id !== null && digest !== undefined && (await world.store.wasMirror(id, path, digest))) return undefined;
  return look(world, digest);
};

/**
 * What another program has left in the file since a session was taken over from it, as long as nothing has happened to that
 * here: the first write keeps it aside.
 */
export const leftSince = async (
  world: World,
  row: Pick<SessionRow, 'key' | 'kind' | 'status' | 'place' | 'branch'>,
): Promise<readonly string[]> => {
  const current = (await loadKind(world.kinds, row.kind))?.current;
  if (current === undefined || row.status === 'closed') return [];
  if (world.places.homeOf(row).root !== world.places.here.root) return [];
  const session = await world.store.load(row.key);
  if (session === undefined || !isAsImported(session.common)) return [];
  const left = await foreignIn(world, current);
  if (left === undefined) return [];
  const [way] = left.ways;
  const helps = world.joins === true || way === undefined ? 'It is kept aside.' : `First: ${commandOf(way)}`;
  return [`${current.path} ${left.problem} ${helps}`];
};

const startFresh = (kind: string, { goal, mode, name }: Beginning): Way => ({
  text: 'start fresh; the file is kept beside the new one',
  words: [
    'begin',
    kind,
    '--fresh',
    ...(name === undefined ? [] : [`--name=${name}`]),
    ...(mode === undefined ? [] : [`--mode=${mode}`]),
    ...(goal === undefined ? [] : [`--goal=${goal}`]),
  ],
  ...(goal === undefined ? { asks: { flag: '--goal', name: 'GOAL', description: 'What it is to come to.' } } : {}),
});

/** That another program has left a session in this checkout which is not taken over; undefined where none has. */
export const refuseForeignOnes = async (
  world: World,
  isMeant: (kind: Kind) => boolean,
): Promise<Refusal | undefined> => {
  for (const name of world.kinds.keys()) {
    const kind = await loadKind(world.kinds, name);
    if (kind?.current === undefined || !isMeant(kind)) continue;
    const refusal = await refuseForeign(world, kind, kind.current);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
};
