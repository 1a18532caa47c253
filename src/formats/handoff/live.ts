import { keyOf } from '../../kernel/address.ts';
import { declaredOf } from '../../kernel/declared.ts';
import { placeOf, type Arrival, type Beforehand, type Order } from '../../kernel/dispatch.ts';
import type { Documents } from '../../kernel/documents.ts';
import type { DecidedEvent } from '../../kernel/event.ts';
import { defaultName, startAnew } from '../../kernel/free-name.ts';
import type { Kind } from '../../kernel/kind.ts';
import { loadKind } from '../../kernel/kinds.ts';
import { decideBegin, wayBack } from '../../kernel/lifecycle.ts';
import { StoreFailure, type Guard } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { appendEvents, isOpened, type OpenedSession, type Session } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { cleanDocument, digestOfDocument } from './clean.ts';
import { findLease, isOwnLease, refuseFile } from './found-lease.ts';
import { printLease } from './lease-file.ts';
import { readDocument, sessionState, valueOf } from './document.ts';
import { findRoot, lookBelow, mostBytes, refuseText, type Whereabouts } from './look.ts';
import { halves, printStanding, type Half } from './print.ts';
import { basesOf, type FoundHalf, type SeenPair } from './seen.ts';
import { takeIn, type Bases, type Edit, type TakenIn } from './take-in.ts';
import { isNone } from './values.ts';
import { toldSession, unknownBeside } from './told.ts';
import { currentPath, leasePath, locateLive, withTexts, type Look } from './workspace.ts';

/** The pair of a checkout that is worked on, and the session that it describes. */

/** Where the documents of this checkout lie. */
export interface Ground {
  readonly look: Look;
  /** Their root from that of the checkout. */
  readonly root: string;
}

/** The root of the documents, which a verb that writes has inside of its checkout. */
export const groundOf = async (world: World, whereabouts: Whereabouts): Promise<Result<Ground, Refusal>> => {
  const root = await findRoot(world, whereabouts);
  if (!root.ok) return root;
  const below = rootBelow(world, root.value);
  // A link may lead out of it.
  if (below === undefined || (await world.project()).named(root.value).path === undefined)
    return err(
      refuse('usage', `The documents ${root.value} lie outside of this checkout.`, {
        expected: `a folder below ${world.places.here.root}`,
        hint: 'run it in the checkout that they belong to',
      }),
    );
  return ok({ look: await lookBelow(world, root.value), root: below });
};

/** A root as it is named from that of the checkout; undefined outside of it. */
export const rootBelow = ({ places }: Pick<World, 'places'>, root: string): string | undefined =>
  root.startsWith(`${places.here.root}/`) ? root.slice(places.here.root.length + 1) : undefined;

/** The session that the documents of this checkout describe; undefined where none of this store is. */
export const describedSession = async (
  { store, places }: Pick<World, 'store' | 'places'>,
  root: string,
): Promise<OpenedSession | undefined> => {
  const { id } = places.here;
  const record = id === null ? undefined : await store.mirrorAt(id, `${root}/${currentPath}`);
  const session = record === undefined ? undefined : await store.load(record.session);
  const documents = session?.common.documents;
  return documents?.place === id && documents.root === root ? session : undefined;
};

/**
 * The same for a verb that begins a session where none is described: with the guards that nobody else has begun one meanwhile,
 * who would have the documents then.
 */
export const describedNow = async (
  world: World,
  root: string,
): Promise<{ readonly session: OpenedSession | undefined; readonly guards: readonly Guard[] }> => {
  const described = await describedSession(world, root);
  if (described !== undefined) return { session: described, guards: [] };
  const filter = { kind: kindOfDocuments };
  const rows = await world.store.rows(filter);
  return { session: await describedSession(world, root), guards: [{ filter, keys: rows.map(({ key }) => key) }] };
};

/** The session that a verb about documents is about: one that is there, or one that is begun with it. */
export interface Target {
  readonly key: string;
  readonly kind: Kind;
  readonly goal: string;
  readonly guards: readonly Guard[];
  /** As it was found, with documents; undefined of one that has none yet. */
  readonly documented?: OpenedSession | undefined;
  /** Where its documents lie, where it has none yet. */
  readonly where: Pick<Documents, 'root' | 'handover' | 'sessionState'> | undefined;
  /** What is in the files of a pair that no session here has: it becomes the first text of the documents. */
  readonly found: Readonly<Partial<Record<Half, string>>>;
  /** That its documents come here from another checkout. */
  readonly arrives?: Arrival;
}

/** The kind of a session that is begun with its documents. */
const kindOfDocuments = 'task';

/** A session that is there as the target. */
export const targetOf = (session: OpenedSession, where?: Target['where']): Target => {
  const { key, kind, common } = session;
  return {
    key,
    kind,
    goal: common.goal ?? common.name,
    guards: [],
    documented: common.documents === undefined ? undefined : session,
    where: common.documents === undefined || where !== undefined ? where : undefined,
    found: {},
  };
};

/** A session that is begun: a task. `beside`: another one that is begun with it. */
export const begunTarget = async (
  world: World,
  goal: string,
  where: NonNullable<Target['where']>,
  {
    found = {},
    beside,
    guards: more = [],
  }: {
    readonly found?: Target['found'];
    readonly beside?: Target | undefined;
    readonly guards?: readonly Guard[];
  } = {},
): Promise<Target> => {
  const kind = await loadKind(world.kinds, kindOfDocuments);
  if (kind === undefined) throw new Error(`there is no kind ${kindOfDocuments}`);
  const { name, guards } = await startAnew(
    world,
    kind,
    defaultName(world, world.places.here.branch),
    undefined,
    beside === undefined ? [] : [beside.key.slice(kind.name.length + 1)],
  );
  return { key: keyOf(kind.name, name), kind, goal, guards: [...guards, ...more], where, found };
};

/**
 * The target of verbs that go on with the pair of this checkout: what another program has left is taken over with it. Where
 * nobody holds the session, whoever that program names as the holder keeps others out; `fence: 'own'` looks after that itself.
 * What has gone on in another checkout is left alone there, unless the caller comes to work on it (`arrives`).
 */
export const liveTarget = async (
  world: World,
  ground: Ground,
  { fence, arrives = false }: { readonly fence?: 'own' | undefined; readonly arrives?: boolean } = {},
): Promise<Result<Target, Refusal>> => {
  const { session: described, guards } = await describedNow(world, ground.root);
  const { takeOver, actor } = world.caller;
  if (fence === undefined && !takeOver && (described?.common.lease ?? null) === null) {
    const found = await findLease(world, ground.look, ground.root);
    const refusal = found.file.state === 'active' ? refuseFile(found, actor) : undefined;
    if (refusal !== undefined) return err(refusal);
  }
  if (described !== undefined) return ok(targetOf(described));
  const pair = locateLive(ground.look);
  if (pair === undefined) return err(refuseNoPair(ground));
  const where = { root: ground.root, handover: pair.handover, sessionState: pair.sessionState };
  const told = pair.sessionState === currentPath ? await toldSession(world, ground) : undefined;
  if (told !== undefined) {
    const { documents } = told.common;
    if (documents === undefined) return ok(targetOf(told, where));
    // Somebody has begun it here since it was looked for.
    if (documents.place === world.places.here.id && documents.root === ground.root) return ok(targetOf(told));
    if (!arrives) return err(refuseGoneOn(told));
    const paths = [documents.sessionState, ...(documents.handover === null ? [] : [documents.handover])];
    const replaces = await unknownBeside(world, ground, told.key, paths);
    return ok({ ...targetOf(told), arrives: { key: told.key, replaces } });
  }
  const found: { [Name in Half]?: string } = {};
  for (const [half, path] of [
    ['handover', pair.handover],
    ['session_state', pair.sessionState],
  ] as const) {
    const text = (await world.project()).whole(ground.look.root, path, mostBytes);
    if (!text.ok) return err(refuse('not-found', `${path} ${text.error.problem}.`));
    const refusal = refuseText(halves[half], path, text.value);
    if (refusal !== undefined) return err(refusal);
    found[half] = cleanDocument(text.value);
  }
  const task = valueOf(readDocument(sessionState, found.session_state ?? ''), 'Task');
  return ok(await begunTarget(world, isNone(task) ? 'not said' : task, where, { found, guards }));
};

/** That the session of the documents is worked on elsewhere. */
const refuseGoneOn = (session: OpenedSession): Refusal =>
  refuse('conflict', `${goneOn(session).text}.`, {
    expected: 'the session to be resumed here first',
    hint: goneOn(session).command,
  });

/** That there are no documents. */
export const refuseNoPair = ({ look }: Ground): Refusal =>
  refuse('not-found', `There is no pair of documents in ${look.root}.`, {
    expected: 'session-state/CURRENT.md, and a handover',
    hint: 'stint handoff new --task TASK --updated-by WHO --next-owner WHO',
  });

/** What a change comes to: its events, and the session with the texts of its documents behind them. */
export interface Changed {
  readonly events: readonly DecidedEvent[];
  readonly session: OpenedSession;
  readonly bases: Bases;
}

/** A session with its documents, as a change of them is decided. */
export interface Worked {
  readonly session: OpenedSession;
  readonly bases: Bases;
  /** The same before its documents were laid elsewhere, where they were. */
  readonly former?: OpenedSession | undefined;
}

/**
 * What becomes of documents that were changed to say two things: that is refused; or it stays in the files of a session that has
 * them, and is refused of what was found; or the change has an answer to it.
 */
export type Conflicts = 'refuse' | 'stay' | 'settle';

/** Decides on the documents of a session: it is begun, and what was found of them taken over, where that is still to be done. */
export const decideOnDocuments = (
  world: World,
  target: Target,
  sessions: ReadonlyMap<string, Session>,
  { documents, origin }: Beforehand,
  change: (worked: Worked, seen: SeenPair | undefined) => Result<readonly DecidedEvent[], Refusal>,
  { conflicts = 'refuse' }: { readonly conflicts?: Conflicts | undefined } = {},
): Result<ReadonlyMap<string, readonly DecidedEvent[]>, Refusal> => {
  let session = sessions.get(target.key);
  if (session === undefined) throw new Error(`${target.key} was not loaded`);
  const events: DecidedEvent[] = [];
  if (!isOpened(session)) {
    const declared = declaredOf(world, target.kind);
    if (!declared.ok) return declared;
    const { branch, worktree } = world.places.here;
    const begun = decideBegin(session, { branch, worktree, goal: target.goal }, { declared: declared.value });
    if (!begun.ok) return begun;
    events.push(...begun.value);
    session = appendEvents(session, begun.value, origin).session;
  }
  if (!isOpened(session)) throw new Error(`${target.key} was not opened`);
  let seen = documents.get(target.key)?.pair as SeenPair | undefined;
  if (seen !== undefined && seen.conflicts.length > 0 && conflicts === 'refuse')
    return err(refuseConflict(session, seen));
  if (target.where === undefined && session.common.documents === undefined)
    return err(
      refuse('conflict', `The documents describe another session than ${target.key} by now.`, {
        expected: 'the session that they describe',
        hint: 'run the same command again',
      }),
    );
  let bases: Bases = seen?.bases ?? { handover: undefined, session_state: undefined };
  let opened: OpenedSession = session;
  const former = session.common.documents === undefined ? undefined : session;
  if (target.where !== undefined) {
    opened = withDocuments(world, opened, target.where);
    if (Object.keys(target.found).length > 0) {
      const taken = takeIn(opened, bases, foundEdit(target), origin);
      if (!taken.ok) return taken;
      if (taken.value.events.length === 0 && taken.value.conflicts.length > 0) {
        seen = foundPair(target, taken.value);
        if (conflicts !== 'settle') return err(refuseConflict(session, seen));
      }
      events.push(...taken.value.events);
      ({ session: opened, bases } = taken.value);
    }
  }
  const changed = change({ session: opened, bases, former: target.where === undefined ? undefined : former }, seen);
  return changed.ok ? ok(new Map([[target.key, [...events, ...changed.value]]])) : changed;
};

/** A pair that says two things, and of which nothing was taken. */
const foundPair = ({ found }: Target, { bases, conflicts }: TakenIn): SeenPair => {
  const half = (text: string | undefined): FoundHalf =>
    text === undefined
      ? { text, isEdited: false, problem: undefined }
      : { text, isEdited: true, digest: digestOfDocument(text), problem: undefined };
  return { bases, conflicts, found: { handover: half(found.handover), session_state: half(found.session_state) } };
};

const foundEdit = ({ found }: Target): Edit => ({
  written: Object.fromEntries(Object.entries(found).map(([half, text]) => [half, { text }])),
  origin: 'file',
  isFound: true,
  override: 'as it was found in the documents',
  taken: Object.values(found).map(digestOfDocument),
});

/** A session as if its documents lay where they are to lie. */
const withDocuments = (world: World, session: OpenedSession, where: NonNullable<Target['where']>): OpenedSession => {
  const place = placeOf(world);
  const { common } = session;
  const before = common.documents;
  return {
    ...session,
    common: {
      ...common,
      documents: {
        ...where,
        place: place.ok ? place.value : '',
        texts: before?.texts ?? { handover: null, sessionState: null },
        taken: before?.taken ?? [],
        replaces: [],
        seq: before?.seq ?? common.seq,
        last: before?.last ?? { seq: common.seq, at: common.updatedAt, actor: world.caller.actor, cause: '' },
        leaseSeq: before?.leaseSeq ?? null,
        leaseInstead: before?.leaseInstead ?? null,
      },
    },
  };
};

/** The two texts of a pair as they stand. */
export const standingTexts = ({
  session,
  bases,
}: Pick<Worked, 'session' | 'bases'>): Readonly<Record<Half, string>> => {
  return {
    handover: printStanding(session, 'handover', bases.handover),
    session_state: printStanding(session, 'session_state', bases.session_state),
  };
};

/** That what was written into the two halves says two things. */
const refuseConflict = ({ key }: OpenedSession, { conflicts }: SeenPair): Refusal =>
  refuse('conflict', `The documents of ${key} were changed to say two things.`, {
    expected: 'two documents that say the same',
    faults: conflicts.map(
      ({ section, written, stands }) =>
        `${section}: the handover says ${JSON.stringify(written)}, the session state ${JSON.stringify(stands)}`,
    ),
    legal: ['stint handoff reconcile --updated-by WHO'],
    hint: 'stint handoff reconcile --updated-by WHO',
  });

/**
 * An order about the documents of one session; it answers from the session and the texts that they are to have then.
 * `isBeside`: they stay what they are, so whoever holds the session is not asked.
 */
export const orderDocuments = (
  world: World,
  target: Target,
  change: (worked: Worked, seen: SeenPair | undefined, beforehand: Beforehand) => Result<Changed, Refusal>,
  answer: (after: OpenedSession, texts: Readonly<Record<Half, string>>) => JsonObject,
  { conflicts, isBeside = false }: { readonly conflicts?: Conflicts; readonly isBeside?: boolean } = {},
): Order<JsonObject> => {
  let texts: Readonly<Record<Half, string>> = { handover: '', session_state: '' };
  return {
    keys: [target.key],
    guards: target.guards,
    processes: [],
    // Documents are those of whoever holds the session, also where only remarks become of what is written.
    fence: isBeside ? undefined : 'joins',
    documented: target.documented,
    arrives: target.arrives,
    decide: (sessions, beforehand) =>
      decideOnDocuments(
        world,
        target,
        sessions,
        beforehand,
        (worked, seen) => {
          const changed = change(worked, seen, beforehand);
          if (!changed.ok) return changed;
          texts = standingTexts(changed.value);
          return ok(changed.value.events);
        },
        { conflicts },
      ),
    answer: (after) => {
      const session = after.get(target.key);
      if (session === undefined || !isOpened(session)) throw new Error(`${target.key} is not open after its commit`);
      return {
        session: session.key,
        session_id: session.common.name,
        ...answer(session, texts),
        revision: session.common.revision,
      };
    },
  };
};

/** What may be looked at of documents, and what is not as it should be of their files, a sentence each with what helps. */
export interface Settled {
  readonly look: Look;
  readonly stale: readonly { readonly text: string; readonly command: string }[];
  /** Files that are not written yet: another verb is about to, or could not. */
  readonly unwritten?: Settled['stale'];
  /** The session whose newest texts, and no others, lie there or are about to be written; undefined where none is told of. */
  readonly session?: OpenedSession | undefined;
}

/**
 * Documents as they are when nobody writes them: where a file of the pair is a version that was made here, another verb may be
 * about to write the next one, and what it is to be is seen. So nobody sees one half of before and one of after. What somebody
 * has written in is seen as it lies there. An older version that a checkout or a merge has put there is told.
 */
export const settle = async (world: World, look: Look): Promise<Settled> => {
  const { id } = world.places.here;
  const root = rootBelow(world, look.root);
  if (root === undefined) return { look, stale: [] };
  try {
    const session = await describedSession(world, root);
    if (id === null || session === undefined) return await settleTold(world, { look, root });
    const { bases, found } = (await world.documents(session)).leave(session).pair as SeenPair;
    const texts = new Map<string, string | null>();
    const stale: Settled['stale'][number][] = [];
    const unwritten: Settled['stale'][number][] = [];
    const tellOlder = async (path: string): Promise<void> => {
      const isToBeWritten = (await world.store.mirrorAt(id, `${root}/${path}`))?.stamp === null;
      if (isToBeWritten) unwritten.push(staleText(session, `${path} is not written yet as ${session.key} says it`));
      else stale.push(staleText(session, `${path} is an older version of what ${session.key} says`));
    };
    for (const [half, path] of documentsOf(session)) {
      const { text, isEdited, problem } = found[half];
      if (text === undefined && problem === undefined)
        stale.push(
          staleText(session, `${path} is not there, or holds nothing: it does not say what ${session.key} says`),
        );
      if (text === undefined || isEdited) continue;
      const wanted = printStanding(session, half, bases[half]);
      texts.set(path, wanted);
      if (text === cleanDocument(wanted)) continue;
      await tellOlder(path);
    }
    const lease = await olderLease(world, { look, root }, session);
    if (lease !== undefined) {
      texts.set(leasePath, lease);
      await tellOlder(leasePath);
    }
    return { look: withTexts(look, texts), stale, unwritten, session };
  } catch (error) {
    // Documents are read whatever became of the store.
    if (error instanceof StoreFailure) return { look, stale: [] };
    throw error;
  }
};

/** Documents of a session that has them elsewhere: they are what it says, as a merge may have brought them, or stale. */
const settleTold = async (world: World, ground: Ground): Promise<Settled> => {
  const { look, root } = ground;
  const session = await toldSession(world, ground);
  if (session === undefined) return { look, stale: [] };
  const bases = await basesOf(world, session);
  const project = await world.project();
  const isNewest =
    session.common.documents?.root === root &&
    documentsOf(session).every(([half, path]) => {
      const text = project.whole(look.root, path, mostBytes);
      return text.ok && cleanDocument(text.value) === cleanDocument(printStanding(session, half, bases[half]));
    });
  const lease = await olderLease(world, ground, session);
  const shown = lease === undefined ? look : withTexts(look, new Map([[leasePath, lease]]));
  if (!isNewest) return { look: shown, stale: [goneOn(session)] };
  return { look: shown, stale: lease === undefined ? [] : [goneOn(session)], session };
};

/**
 * What the file of the lease is to be, null for none, where an older version of it lies there; undefined where none does, and
 * what is there is the newest or somebody else's.
 */
const olderLease = async (
  world: World,
  { look, root }: Ground,
  { common: { lease, documents } }: OpenedSession,
): Promise<string | null | undefined> => {
  const text = look.read(leasePath);
  if (!text.ok) return undefined;
  const wanted = lease === null || documents === undefined ? null : printLease(lease, documents);
  if (text.value === wanted) return undefined;
  const digest = world.files.digest(look.root, leasePath)?.sha256 ?? null;
  return (await isOwnLease(world, root, digest)) ? wanted : undefined;
};

/** The halves that a session has, with their paths from the root. */
export const documentsOf = ({ common: { documents } }: OpenedSession): readonly (readonly [Half, string])[] =>
  documents === undefined
    ? []
    : [
        ...(documents.handover === null ? [] : [['handover', documents.handover] as const]),
        ['session_state', documents.sessionState],
      ];

/** The same for whoever looks at the texts alone. */
export const settledLook = async (world: World, look: Look): Promise<Look> => (await settle(world, look)).look;

const staleText = ({ key }: OpenedSession, text: string): Settled['stale'][number] => ({
  text,
  command: `stint rebuild --session ${key}`,
});

const goneOn = (session: OpenedSession): Settled['stale'][number] => ({
  text: `the documents tell of ${session.key}, which has gone on elsewhere since (${session.common.updatedAt})`,
  command: session.common.status === 'closed' ? wayBack(session) : `stint resume --session ${session.key}`,
});
