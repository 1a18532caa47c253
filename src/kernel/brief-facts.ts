import type { JsonObject } from '../lib/canonical-json.ts';
import { abandonedIn, workingOf } from './abandoned.ts';
import { composeBrief, type BriefFacts, type BriefWish } from './brief.ts';
import type { Brief } from './brief-forms.ts';
import { folderOf } from './kind.ts';
import { kindBriefOf } from './kind-brief.ts';
import { observeSign, standingOfClaim } from './lease.ts';
import { countIn, entryOf, entryTypes, recentLimits, type Entry, type EntryType } from './journal.ts';
import type { OutsideLook } from './outside.ts';
import type { Files, Place } from './ports.ts';
import { sessionToRead, statusToJson, type QueryWorld } from './query.ts';
import { viewOfSession, type OpenedSession } from './session.ts';
import type { World } from './verb.ts';

/** Gathers what a brief is made of: what costs a look is looked at before, so that a brief can be made inside a commit. */

/** What was looked at beside a session. */
export interface Looked {
  readonly home: Place;
  readonly outside: OutsideLook;
  readonly openedBy: string | null;
  readonly absent: ReadonlySet<string>;
  readonly entries: BriefFacts['entries'];
  readonly last: BriefFacts['last'];
}

/** Looks at what lies around a session: its checkout, its files, and for a full brief all of its journal. */
export const lookAround = async (
  world: Pick<World, 'store' | 'places' | 'files' | 'outside'>,
  session: OpenedSession,
  { budget }: Pick<BriefWish, 'budget'>,
): Promise<Looked> => {
  const { store, places, files } = world;
  const { key, common } = session;
  const home = places.homeOf(common);
  const folder = folderOf(session.kind, common);
  const isHere = home.isElsewhere !== true;
  const { files: named } = kindBriefOf(session, viewOfSession(session), folder);
  const [opened] = await store.events(key, { first: 1 });
  const updatedAt = await writtenAt(store, session);
  return {
    home,
    outside: isHere
      ? await world.outside({
          root: home.root,
          folder,
          since: updatedAt,
          validatedAt: common.journal?.recent.validation?.at(-1)?.at ?? null,
          recordedHead: common.resumed?.head ?? null,
        })
      : { known: false, because: 'the session belongs to another machine' },
    openedBy: opened?.actor ?? null,
    absent: new Set(
      [
        ...named.map(({ path }) => path),
        ...(common.journal?.recent.file ?? []).map(({ path, text }) => path ?? text),
      ].filter((path) => isHere && path !== '' && !files.exists(`${home.root}/${path}`)),
    ),
    entries: budget === 'full' || isWorthReading(session) ? await readEntries(store, session) : undefined,
    last: { updatedAt, ...(common.resumed === undefined ? {} : { resumed: common.resumed }) },
  };
};

/**
 * When a session was written last: one that was taken over, and that nothing has happened to since, when its source was, which
 * is when the event before the import's own happened.
 */
const writtenAt = async (store: World['store'], { key, common }: OpenedSession): Promise<string> => {
  const { seq, imported, updatedAt } = common;
  if (imported?.revision !== seq) return updatedAt;
  const [before] = await store.events(key, { after: seq - 2, first: 1 });
  return before?.at ?? updatedAt;
};

/** The brief of a session as it is now. */
export const readBrief = async (world: World, key: string, wish: BriefWish): Promise<JsonObject> => {
  const { store } = world;
  const loaded = await store.load(key);
  if (loaded === undefined) throw new Error(`${key} has a row and no events`);
  const processes = await store.processes({ session: key });
  const session = {
    ...loaded,
    processes: new Map(processes.map((process) => [process.id, process])),
    renewals: await store.renewals(key),
    samples: await store.samples(key),
  };
  const { leftSince } = await import('./current.ts');
  return briefOf(world, session, await lookAround(world, session, wish), wish, await leftSince(world, session.common));
};

/** How many events are read at a time. */
const page = 1000;

/** Whether more stands in the journal than what is kept of it, and little costs to read it. */
const isWorthReading = ({ common }: OpenedSession): boolean =>
  common.seq <= page && entryTypes.some((type) => countIn(common.journal, type) > recentLimits[type]);

/** All entries of the journal that hold, whole, by their type. */
const readEntries = async (
  store: World['store'],
  { key, common }: OpenedSession,
): Promise<Readonly<Partial<Record<EntryType, readonly Entry[]>>>> => {
  const entries = new Map<number, Entry>();
  for (let after = 0; common.notes > 0 && after < common.seq;) {
    const events = await store.events(key, { after, first: page, until: common.seq });
    for (const event of events) {
      if (event.type !== 'Noted') continue;
      const entry = entryOf(event, Number.POSITIVE_INFINITY);
      if (entry.supersedes !== undefined) entries.delete(entry.supersedes);
      entries.set(entry.id, entry);
    }
    const last = events.at(-1);
    if (last === undefined) break;
    after = last.seq;
  }
  return Object.fromEntries(Map.groupBy(entries.values(), ({ type }) => type));
};

/** Nothing of a folder is looked at inside a commit; a brief tells of files what was looked at before. */
const noFiles: Files = { digest: () => undefined, list: () => [], exists: () => false, read: () => null };

/** The brief of a session whose running processes and renewals were loaded with it, as plain JSON. */
export const briefOf = (
  world: Omit<QueryWorld, 'files'>,
  session: OpenedSession,
  looked: Looked,
  wish: BriefWish,
  notes: readonly string[] = [],
): JsonObject => {
  const { caller, host } = world;
  const { common, folded, renewals, processes } = session;
  const view = viewOfSession(session);
  const folder = folderOf(session.kind, common);
  const isOpen = common.status === 'active';
  const running = isOpen ? (folded.steps?.running() ?? []) : [];
  const abandoned = abandonedIn(session, caller.now, host);
  const left = new Map(abandoned.map(({ id, because }) => [id, because]));
  const surroundings = {
    processes: [...processes.values()],
    renewal: renewals.get(''),
    atWork: { working: workingOf(running, abandoned), heardAt: null },
    sampled: folded.sampled(common, session.samples),
    abandoned: isOpen && view.next.kind === 'wait' ? abandoned : [],
  };
  const facts: BriefFacts = {
    ...looked,
    common,
    kind: kindBriefOf(session, view, folder),
    status: statusToJson(sessionToRead(session), surroundings, { ...world, files: noFiles }, folder),
    atWork: new Map(
      running.map(({ id, attempt, claim }) => {
        const because = left.get(id);
        const until = standingOfClaim(claim, renewals.get(id), caller.now).expiresAt;
        const life = { alive: 'alive', dead: 'gone', unknown: 'not seen from here' }[observeSign(claim.sign, host)];
        const note = `attempt ${attempt} on ${claim.holder.host} until ${until}, its worker is ${life}`;
        return [
          id,
          { note: because === undefined ? note : `${note}; left (${because})`, isLeft: because !== undefined },
        ];
      }),
    ),
    notes,
    now: caller.now,
  };
  const brief: Brief = composeBrief(facts, wish);
  return brief;
};
