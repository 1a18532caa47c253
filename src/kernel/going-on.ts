import { err, type Result } from '../lib/result.ts';
import { plainLine, truncate } from '../lib/text.ts';
import { agoText } from '../lib/ago.ts';
import { resolve } from './address.ts';
import type { SessionRow } from './ports.ts';
import { refuse, type Refusal, type Way } from './refusal.ts';
import type { World } from './verb.ts';

/** What was asked for, by whom: the name of the verb and its input. */
interface Asked {
  readonly verb: string;
  readonly input: { readonly session?: string | undefined; readonly [field: string]: FlagValue };
}

type FlagValue = string | readonly string[] | undefined;

/**
 * The session that somebody goes on with who may have said no more than "continue": the one that is named, else the only open
 * one of this checkout. Where it cannot be told, or somebody holds it, the refusal says what each is about and when it was
 * active last; where several are meant, each is a way to go on, among which a person may choose. Where none is open it names
 * the one that was closed last, which nobody goes on with silently.
 */
export const resolveToGoOn = async (world: World, asked: Asked): Promise<Result<SessionRow, Refusal>> => {
  const { session: given } = asked.input;
  const row = await resolve(world, given);
  if (row.ok) return row;
  const { error } = row;
  if (error.code === 'ambiguous') {
    const descriptions = await descriptionsOf(world, error.candidates ?? []);
    return err({ ...error, faults: descriptions.map(({ text }) => text), ways: waysOf(world, asked, descriptions) });
  }
  if ((given ?? world.caller.session) !== undefined) return row;
  switch (error.code) {
    case 'lease': {
      const open = await world.store.rows({ status: 'active' });
      const here = open.filter((one) => world.places.homeOf(one).root === world.places.here.root);
      return err({
        ...error,
        faults: [
          ...(error.faults ?? []),
          ...(
            await descriptionsOf(
              world,
              here.map(({ key }) => key),
            )
          ).map(({ text }) => text),
        ],
      });
    }
    case 'not-found':
      return err((await refuseClosedOnes(world)) ?? error);
    default:
      return row;
  }
};

/** A session among which somebody has to choose: what it is about, and that with its key and when it was active last. */
interface Description {
  readonly key: string;
  readonly about: string;
  readonly text: string;
}

/** What each session is about, and when it was active last. */
const descriptionsOf = async ({ store, caller }: World, keys: readonly string[]): Promise<readonly Description[]> => {
  const descriptions: Description[] = [];
  for (const key of keys) {
    const session = await store.load(key);
    if (session === undefined) continue;
    const { goal, branch, updatedAt } = session.common;
    const about = truncate(
      plainLine(goal === null ? `no goal${branch === null ? '' : `, branch ${branch}`}` : `goal: ${goal}`),
      200,
    );
    descriptions.push({
      key,
      about,
      text: `${key}: ${about}; last active ${agoText(updatedAt, caller.now)} (${updatedAt})`,
    });
  }
  return descriptions;
};

/** The same call for each of the sessions that were meant. */
const waysOf = (
  { caller }: Pick<World, 'caller'>,
  { verb, input }: Asked,
  descriptions: readonly Description[],
): readonly Way[] => {
  const flags = Object.entries({ ...input, session: undefined }).flatMap(([field, value]) =>
    [value ?? []].flat().flatMap((one) => [`--${field}`, one]),
  );
  return descriptions.map(({ key, about }) => ({
    text: about,
    words: [
      verb,
      ...flags,
      ...(caller.takeOver ? ['--take-over'] : []),
      ...(caller.dryRun ? ['--dry-run'] : []),
      '--session',
      key,
    ],
  }));
};

/** Most closed sessions that are named. */
const mostNamed = 5;

/** That nothing is open in this checkout, with what was closed last and how it goes on; undefined where nothing was. */
const refuseClosedOnes = async ({ store, places, caller }: World): Promise<Refusal | undefined> => {
  const rows = await store.rows({});
  // One that is open elsewhere is named by whoever looked for it.
  if (rows.some(({ status }) => status === 'active')) return undefined;
  const closed = rows
    .filter((row) => places.homeOf(row).root === places.here.root)
    .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  const [newest] = closed;
  if (newest === undefined) return undefined;
  const { key, outcome, closedAt, archivedAt } = newest;
  const command = archivedAt === null ? `stint reopen --session ${key}` : `stint unarchive --session ${key}`;
  return refuse(
    'not-found',
    `No session is open in this checkout; the last one, ${key}, was closed ${agoText(closedAt ?? '', caller.now)} (${outcome ?? 'closed'}${archivedAt === null ? '' : ', in the archive'}).`,
    {
      expected: 'an open session of this checkout, or --session',
      legal: [command],
      hint: command,
      candidates: closed.slice(0, mostNamed).map((row) => row.key),
    },
  );
};
