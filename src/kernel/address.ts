import { addressProblem, nameProblem } from '../lib/name.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { nearest } from '../lib/text.ts';
import type { Kind, Kinds } from './kind.ts';
import type { Caller, Places, SessionRow, Store } from './ports.ts';
import { refuse, type Refusal } from './refusal.ts';

/** The key of a session: `<kind>:<name>`. */
export const keyOf = (kind: string, name: string): string => `${kind}:${name}`;

/** Fewest characters of a name that stand for a whole one. */
const shortestPrefix = 4;

/** Names come from outside and become parts of paths: refuses what is not one (exit 2), before anything is looked up. */
export const checkName = (name: string, what: string): Refusal | undefined => {
  const problem = nameProblem(name);
  if (problem === undefined) return undefined;
  return refuse('usage', `${what} is not legal. ${problem}`, {
    expected:
      'letters, digits, ".", "_" and "-", first a letter or digit, at most 128 characters, no "..", no "." at the end, no device name',
  });
};

/** The kind of that name, or a refusal that lists the kinds. */
export const findKind = (kinds: Kinds, name: string): Result<Kind, Refusal> => {
  const kind = kinds.get(name);
  if (kind !== undefined) return ok(kind);
  const candidates = nearest(name, [...kinds.keys()]);
  return err(refuse('not-found', 'There is no such kind of session.', { legal: [...kinds.keys()], candidates }));
};

/**
 * The one session that is meant: named in full, by its bare name, or by a unique prefix; else the one that the environment
 * names; else the only open one of this place that the command applies to. Never guesses, never creates.
 */
export const resolve = async (
  world: { readonly store: Store; readonly kinds: Kinds; readonly caller: Caller; readonly places: Places },
  given: string | undefined,
  applies: { readonly command?: string; readonly kind?: string } = {},
): Promise<Result<SessionRow, Refusal>> => {
  const address = given ?? world.caller.session;
  if (address !== undefined) return resolveAddress(world.store, world.kinds, address);

  const isMeant = (row: SessionRow): boolean =>
    (applies.kind === undefined || row.kind === applies.kind) &&
    (applies.command === undefined || (world.kinds.get(row.kind)?.commandTypes.includes(applies.command) ?? false));
  const open = (await world.store.rows({ status: 'active' })).filter(isMeant);
  const here = open.filter((row) => world.places.homeOf(row).root === world.places.here.root);
  const [only, ...others] = here;
  if (only === undefined) {
    const known = open.length > 0 ? open : (await world.store.rows({})).filter(isMeant).slice(0, 5);
    return err(
      refuse('not-found', open.length > 0 ? 'No open session belongs to this checkout.' : 'There is no open session.', {
        expected: 'an open session of this checkout, or --session',
        hint:
          known[0] === undefined
            ? `stint begin ${[...world.kinds.keys()][0] ?? 'KIND'}`
            : `name one with --session, for example --session ${known[0].key}`,
        candidates: known.slice(0, mostCandidates).map((row) => row.key),
      }),
    );
  }
  if (others.length > 0) return err(refuseSeveral('Several sessions are open in this checkout.', here));
  return ok(only);
};

/** Most sessions that a refusal lists. */
const mostCandidates = 20;

const legalAddress = '<kind>:<name>, a bare name, or the first characters (at least 4) of one';

const resolveAddress = async (store: Store, kinds: Kinds, address: string): Promise<Result<SessionRow, Refusal>> => {
  const colon = address.indexOf(':');
  const kindName = colon < 0 ? undefined : address.slice(0, colon);
  const name = address.slice(colon + 1);
  const problem = addressProblem(address);
  if (problem !== undefined)
    return err(refuse('usage', `The session is not legal. ${problem}`, { expected: legalAddress }));
  const kind = kindName === undefined ? undefined : findKind(kinds, kindName);
  if (kind?.ok === false) return kind;

  const filter = kindName === undefined ? {} : { kind: kindName };
  const exact = await store.rows({ ...filter, name });
  const found =
    exact.length > 0 || name.length < shortestPrefix ? exact : await store.rows({ ...filter, namePrefix: name });
  const [only, ...others] = found;
  if (only === undefined) {
    const rows = await store.rows(filter);
    const orphans = await store.orphans();
    const orphan = orphans.find((key) => key === address || key.endsWith(`:${address}`));
    if (orphan !== undefined) {
      return err(
        refuse('damaged', `The events of ${orphan} are there, but its row is not.`, { hint: `stint rebuild` }),
      );
    }
    const near = nearest(
      name,
      rows.map((row) => row.name),
    );
    return err(
      refuse('not-found', `There is no session ${address}.`, {
        expected: legalAddress,
        hint: 'stint list --all',
        candidates: rows.filter((row) => near.includes(row.name)).map((row) => row.key),
      }),
    );
  }
  return others.length > 0 ? err(refuseSeveral(`Several sessions match ${address}.`, found)) : ok(only);
};

const refuseSeveral = (message: string, rows: readonly SessionRow[]): Refusal =>
  refuse('ambiguous', message, {
    expected: 'one session',
    hint: `name one with --session, for example --session ${rows[0]?.key}`,
    candidates: rows.slice(0, mostCandidates).map((row) => row.key),
  });
