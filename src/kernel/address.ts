import { addressProblem, sessionNameProblem, shortestPrefix } from '../lib/name.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { nearest } from '../lib/nearest.ts';
import type { Kind, Kinds } from './kind.ts';
import { loadKind, whenLoaded } from './kinds.ts';
import { holderOf, leaseFacts, refuseFenced } from './lease.ts';
import type { Caller, SessionRow, Store } from './ports.ts';
import { processesNamed, refuseProcess, type Process } from './process.ts';
import { heldBy, renewalOfRow } from './query.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { World } from './verb.ts';

/** The key of a session: `<kind>:<name>`. */
export const keyOf = (kind: string, name: string): string => `${kind}:${name}`;

/** Names come from outside and become parts of paths: refuses what is not one (exit 2), before anything is looked up. */
export const checkName = (name: string, what: string): Refusal | undefined => {
  const problem = sessionNameProblem(name);
  if (problem === undefined) return undefined;
  return refuse('usage', `${what} is not legal. ${problem}`, {
    expected:
      'letters, digits, ".", "_" and "-", first a letter or digit, at most 128 characters, no "..", no "." at the end, no device name, not "archive"',
  });
};

/** The kind of that name, or a refusal that lists the kinds. */
export const findKind = async (kinds: Kinds, name: string): Promise<Result<Kind, Refusal>> => {
  const kind = await loadKind(kinds, name);
  return kind === undefined ? err(refuseKind(kinds, name)) : ok(kind);
};

/** The same refusal for whoever needs no more than the name. */
export const checkKind = (kinds: Kinds, name: string): Refusal | undefined =>
  kinds.has(name) ? undefined : refuseKind(kinds, name);

const refuseKind = (kinds: Kinds, name: string): Refusal => {
  const legal = [...kinds.keys()];
  return refuse('not-found', 'There is no such kind of session.', { legal, candidates: nearest(name, legal) });
};

/** What a verb can apply to: tells which session is meant where one name, or no name, stands for several. */
export interface Applies {
  /** A command that the kind must know. */
  readonly command?: string;
  readonly kind?: string;
  /** A position that the kind must know, where somebody names one. */
  readonly position?: string | undefined;
  /** The words of the command, where those who name the session may say it beside whoever holds it. */
  readonly beside?: string;
  /** Which sessions stand for none that is named: open ones, unless it is said. */
  readonly standing?: keyof typeof standings;
}

/** Sessions that stand for none that is named: which rows are asked for, which of them are meant, and how they are called. */
const standings = {
  open: { status: 'active', isMeant: () => true, called: 'open', one: 'an open session', none: 'no open session' },
  closed: {
    status: 'closed',
    isMeant: ({ archivedAt }) => archivedAt === null,
    called: 'closed',
    one: 'a closed session',
    none: 'no closed session outside the archive',
  },
  archived: {
    status: 'closed',
    isMeant: ({ archivedAt }) => archivedAt !== null,
    called: 'archived',
    one: 'an archived session',
    none: 'no archived session',
  },
} as const satisfies Record<
  string,
  Readonly<Record<'called' | 'one' | 'none', string>> & {
    readonly status: SessionRow['status'];
    readonly isMeant: (row: SessionRow) => boolean;
  }
>;

/**
 * The one session that is meant: named in full, by its bare name, or by a unique prefix; else the one that the environment
 * names; else the only open one of this place (or closed, or archived one) that the verb applies to. Never guesses, never
 * creates, and never takes what another program has left in the place of a session for none.
 */
export const resolve = async (
  world: World,
  given: string | undefined,
  applies: Applies = {},
): Promise<Result<SessionRow, Refusal>> => {
  const { kinds } = world;
  const hasCommand = (kind: Kind | undefined): boolean =>
    applies.command === undefined || (kind?.commandTypes.includes(applies.command) ?? false);
  const isMeant = (row: SessionRow): boolean =>
    (applies.kind === undefined || row.kind === applies.kind) &&
    (applies.command === undefined || hasCommand(kinds.get(row.kind)));
  /** Of several, those that know the position that is named; all where none does, so that the refusal speaks of it. */
  const narrow = (rows: readonly SessionRow[]): readonly SessionRow[] => {
    const { position } = applies;
    const knowing =
      position === undefined ? [] : rows.filter((row) => kinds.get(row.kind)?.positions.includes(position) ?? false);
    return knowing.length === 0 ? rows : knowing;
  };
  const address = given ?? world.caller.session;
  if (address !== undefined) {
    return resolveAddress(world.store, kinds, address, async (rows) =>
      whenLoaded(() => {
        const meant = rows.filter(isMeant);
        return narrow(meant.length === 0 ? rows : meant);
      }),
    );
  }

  const standing: (typeof standings)[keyof typeof standings] = standings[applies.standing ?? 'open'];
  const { called } = standing;
  const meantOf = async (rows: readonly SessionRow[]) => whenLoaded(() => rows.filter(isMeant));
  const standingSo = (await world.store.rows({ status: standing.status })).filter(standing.isMeant);
  const open = await meantOf(standingSo);
  const here = await whenLoaded(() =>
    narrow(open.filter((row) => world.places.homeOf(row).root === world.places.here.root)),
  );
  const [only, ...others] = here;
  if (only === undefined) {
    const foreign =
      standing === standings.open
        ? await (
            await import('./current.ts')
          ).refuseForeignOnes(world, (kind) => (applies.kind ?? kind.name) === kind.name && hasCommand(kind))
        : undefined;
    if (foreign !== undefined) return err(foreign);
    const known = open.length > 0 ? open : (await meantOf(await world.store.rows({}))).slice(0, 5);
    const names = [...kinds.keys()];
    const begin = `stint begin ${names.length === 1 ? names[0] : 'KIND'}`;
    const isElsewhere = open.length > 0;
    return err(
      refuse(
        'not-found',
        isElsewhere
          ? `No ${called} session belongs to this checkout. In others: ${await whoseText(world, open)}.`
          : `There is ${standing.none}${standingSo.length > 0 ? ' that this is about' : ''}.`,
        {
          expected: `${standing.one} of this checkout, or --session`,
          // Whoever comes to a checkout of their own is not sent to the work of somebody else.
          hint:
            known[0] === undefined || (isElsewhere && standing === standings.open)
              ? begin
              : `name one with --session, for example --session ${known[0].key}`,
          candidates: known.slice(0, mostCandidates).map((row) => row.key),
        },
      ),
    );
  }
  if (others.length > 0) return err(refuseSeveral(`Several sessions are ${called} in this checkout.`, here));
  // Whoever names no session does not come to work beside somebody who holds one.
  const held = world.joins === true && only.lease !== null ? await refuseJoining(world, only) : undefined;
  if (held === undefined) return ok(only);
  // A token that does not count is refused whether or not the session is named.
  return err(world.caller.leaseToken === undefined ? withName(held, only, applies) : held);
};

/** A refusal of whoever names no session, with the command that names it where nothing else is wanted. */
const withName = (held: Refusal, { key }: SessionRow, { beside }: Applies): Refusal => {
  if (beside === undefined) return held;
  const command = `stint ${beside} --session ${key}`;
  return {
    ...held,
    expected: 'its name: what is written beside the work needs no lease of a session that is named',
    legal: [command, ...(held.legal ?? [])],
    hint: command,
  };
};

/** Where sessions lie, and who holds them. */
const whoseText = async (
  world: Pick<World, 'store' | 'caller' | 'host'>,
  rows: readonly SessionRow[],
): Promise<string> => {
  const told: string[] = [];
  for (const row of rows.slice(0, mostTold)) {
    const holder = heldBy(row, await renewalOfRow(world.store, row), world);
    told.push(`${row.key} (worktree ${row.worktree}${holder === null ? '' : `, held by ${holder}`})`);
  }
  return [...told, ...(rows.length > mostTold ? [`${rows.length - mostTold} more`] : [])].join(', ');
};

const refuseJoining = async (
  world: Pick<World, 'store' | 'caller' | 'places' | 'host'>,
  row: SessionRow,
): Promise<Refusal | undefined> => {
  const { store, caller, places, host } = world;
  if (caller.takeOver) return undefined;
  // What its events say: nobody is kept away by a row alone.
  const session = await store.load(row.key);
  if (session === undefined) return undefined;
  const facts = leaseFacts({ ...session, renewals: await store.renewals(row.key) }, caller, host);
  const refusal = refuseFenced(facts, () => holderOf(world, places.here.id ?? ''));
  if (refusal === undefined) return undefined;
  // Who works there already is no stranger.
  const ours = caller.process === undefined ? [] : await store.processes({ session: row.key, running: true });
  if (processesNamed(ours, caller.process ?? '').length > 0) return undefined;
  if (!caller.dryRun) await store.countRefusal(row.key, caller.now);
  return refusal;
};

/** Most sessions that a refusal lists, and of how many it says whose they are. */
const mostCandidates = 20;
const mostTold = 5;

const legalAddress = '<kind>:<name>, a bare name, or the first characters (at least 4) of one';

const resolveAddress = async (
  store: Store,
  kinds: Kinds,
  address: string,
  narrow: (rows: readonly SessionRow[]) => Promise<readonly SessionRow[]>,
): Promise<Result<SessionRow, Refusal>> => {
  const colon = address.indexOf(':');
  const kindName = colon < 0 ? undefined : address.slice(0, colon);
  const name = address.slice(colon + 1);
  const problem = addressProblem(address);
  if (problem !== undefined)
    return err(refuse('usage', `The session is not legal. ${problem}`, { expected: legalAddress }));
  const unknown = kindName === undefined ? undefined : checkKind(kinds, kindName);
  if (unknown !== undefined) return err(unknown);

  const filter = kindName === undefined ? {} : { kind: kindName };
  const exact = await store.rows({ ...filter, name });
  const matching =
    exact.length > 0 || name.length < shortestPrefix ? exact : await store.rows({ ...filter, namePrefix: name });
  const found = matching.length > 1 ? await narrow(matching) : matching;
  const [only, ...others] = found;
  if (only === undefined) {
    const rows = await store.rows({ ...filter, thorough: true });
    if (rows.some((row) => row.name === name)) {
      // It may have been begun between two looks.
      const begun = await store.rows({ ...filter, name });
      if (begun.length > 0) return resolveAddress(store, kinds, address, narrow);
      return err(
        refuse('damaged', `The index of ${store.name} does not find ${address}, which is there.`, {
          hint: 'stint doctor --fix',
        }),
      );
    }
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

/** The one process that is meant: by its id or the first characters of it, else the one that acts. */
export const resolveProcess = async (
  world: { readonly store: Store; readonly caller: Caller },
  given: string | undefined,
): Promise<Result<Process, Refusal>> => {
  const id = given ?? world.caller.process;
  if (id === undefined) {
    return err(refuse('usage', 'No process is named.', { expected: 'the id of a process, or STINT_PROCESS' }));
  }
  const [exact] = await world.store.processes({ id });
  if (exact !== undefined) return ok(exact);
  const all = await world.store.processes({});
  const found = processesNamed(all, id);
  const [only, ...others] = found;
  if (only === undefined)
    return err(
      refuseProcess(
        id,
        all.filter(({ endedAt }) => endedAt === null),
      ),
    );
  if (others.length === 0) return ok(only);
  return err(
    refuse('ambiguous', `Several processes begin with ${id}.`, {
      expected: 'one process',
      candidates: found.slice(0, mostCandidates).map((process) => process.id),
    }),
  );
};

/** The id of the process that acts, where it names itself; that there is none of that name is a refusal. */
export const resolveCaller = async (world: {
  readonly store: Store;
  readonly caller: Caller;
}): Promise<Result<string | undefined, Refusal>> => {
  if (world.caller.process === undefined) return ok(undefined);
  const process = await resolveProcess(world, undefined);
  return process.ok ? ok(process.value.id) : process;
};

const refuseSeveral = (message: string, rows: readonly SessionRow[]): Refusal =>
  refuse('ambiguous', message, {
    expected: 'one session',
    hint: `name one with --session, for example --session ${rows[0]?.key}`,
    candidates: rows.slice(0, mostCandidates).map((row) => row.key),
  });
