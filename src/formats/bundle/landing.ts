import { checkName, keyOf } from '../../kernel/address.ts';
import { textAt } from '../../kernel/answer.ts';
import { openIn, refuseSecond } from '../../kernel/current.ts';
import { loadedIn, sessionIn, type Order } from '../../kernel/dispatch.ts';
import { kernelEvent, type DecidedEvent, type StoredEvent } from '../../kernel/event.ts';
import { startAnew } from '../../kernel/free-name.ts';
import type { Kind } from '../../kernel/kind.ts';
import { loadKind, whenLoaded } from '../../kernel/kinds.ts';
import { holderOf, leaseFacts, lossOfClaim, lostEvent } from '../../kernel/lease.ts';
import type { Guard } from '../../kernel/ports.ts';
import { processOf } from '../../kernel/process.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { absentSession, isOpened, type OpenedSession, type Origin, type Session } from '../../kernel/session.ts';
import { bundleSample } from '../../kernel/travel-record.ts';
import { decideLog, logAs, type TakenLog } from '../../kernel/travel.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { cleanDocument } from '../handoff/clean.ts';
import { decideLeaving, leavingTarget } from '../handoff/leaving.ts';
import { describedSession, standingTexts, type Ground, type Target } from '../handoff/live.ts';
import { textIn, type Half } from '../handoff/print.ts';
import { takeIn, whereToData, type Bases, type Conflict } from '../handoff/take-in.ts';
import { unknownBeside } from '../handoff/told.ts';
import { currentPath } from '../handoff/workspace.ts';
import { relativePathProblem } from './names.ts';
import type { BundledDocuments, BundledSession } from './parts.ts';

/** A session that a bundle brings with its log: it lands under its own name, or goes on where it ended here. */

/** How it is to land. */
export interface Landing {
  /** What is put on record of it. */
  readonly record: JsonObject;
  /** Whether that is said in its log, whatever else is done. */
  readonly isNoted: boolean;
}

/** The log as it is to be taken, once it was tried. */
export interface TriedLog {
  readonly key: string;
  readonly kind: Kind;
  readonly events: readonly StoredEvent[];
  /** The session as it is here now. */
  readonly before: Session;
  readonly taken: TakenLog;
  /** Decides it again on the session as it is then. */
  readonly decide: (session: Session) => Result<TakenLog, Refusal>;
}

/** Tries a log on what is here: nothing is written. */
export const tryLanding = async (
  world: World,
  session: BundledSession & { readonly events: readonly StoredEvent[] },
  as: string | undefined,
): Promise<Result<TriedLog, Refusal>> => {
  const { store, kinds, caller } = world;
  const kind = await loadKind(kinds, session.kind);
  if (kind === undefined)
    return err(
      refuse('newer-version', `This program knows no sessions of the kind ${session.kind}.`, {
        legal: [...kinds.keys()],
        hint: 'use the stint that wrote it',
      }),
    );
  const name = as ?? session.name;
  const illegal = checkName(name, as === undefined ? 'The name of the session' : '--as');
  if (illegal !== undefined) return err(as === undefined ? { ...illegal, code: 'invalid-input' } : illegal);
  const key = keyOf(kind.name, name);
  const fault = documentFault(session.events);
  if (fault !== undefined) return err(refusePaths(fault));
  const events = as === undefined ? session.events : logAs(session.events, key);
  const before = (await store.load(key)) ?? absentSession(kind, key);
  const here = (before.common?.seq ?? 0) < events.length ? undefined : await store.event(key, events.length);
  const named = new Set(events.flatMap((event) => processOf(event) ?? []));
  const processes = named.size === 0 ? [] : (await store.processes({})).filter(({ id }) => named.has(id));
  const decide = async (now: Session): Promise<Result<TakenLog, Refusal>> =>
    whenLoaded(() => decideLog(kinds, now, { events, here, processes }, caller.now));
  const taken = await decide(before);
  if (!taken.ok) return err(as === undefined ? await withWays(world, kind, session, taken.error) : taken.error);
  return ok({
    key,
    kind,
    events,
    before,
    taken: taken.value,
    // It was tried on this very session: nothing else comes of it.
    decide: (now) =>
      now.hash === before.hash ? taken : decideLog(kinds, now, { events, here, processes }, caller.now),
  });
};

/** What is another session here, or has become one, is refused with the name under which a duplicate can land. */
const withWays = async (
  { store, ...world }: World,
  kind: Kind,
  session: Parameters<typeof tryLanding>[1],
  refusal: Refusal,
): Promise<Refusal> => {
  const row = (await store.rows({ kind: kind.name, name: session.name }))[0];
  if (refusal.code !== 'conflict' || row === undefined) return refusal;
  const isFork = (await store.event(row.key, 1))?.hash === session.events[0]?.hash;
  const { name } = await startAnew({ store, ...world }, kind, session.name, undefined);
  return {
    ...refusal,
    ...(isFork
      ? {}
      : { message: `${row.key} is another session here, which has its name alone in common with that one.` }),
    expected: `${refusal.expected ?? ''}, or another name for a duplicate`,
    hint: `the same with --as ${name}`,
  };
};

/** What is wrong with where events say that documents lie: such a file may be written one day. */
const documentFault = (events: readonly StoredEvent[]): string | undefined => {
  for (const { type, seq, data } of events) {
    if (type !== 'DocumentEdited' && type !== 'PairArchived') continue;
    const { root, handover, session_state: state, superseded } = data;
    const isRoot =
      typeof root === 'string' &&
      relativePathProblem(root) === undefined &&
      root.split('/').every((part) => /^[^.\s:][^:]*$/.test(part) && !/[.\s]$|^stint\.json$/i.test(part));
    const isHalf = (path: unknown): boolean =>
      typeof path === 'string' && /^(?:handovers|session-state)\/[^/.\p{Cc}\\][^/\p{Cc}\\]{0,200}\.md$/u.test(path);
    const isOther = (path: unknown): boolean => path === undefined || path === null || isHalf(path);
    if (!isRoot || !isHalf(state) || !isOther(handover) || !isOther(superseded)) return `event ${seq}`;
  }
  return undefined;
};

const refusePaths = (where: string): Refusal =>
  refuse('invalid-input', `The log cannot be taken: ${where} names documents that lie elsewhere.`, {
    expected: 'documents in handovers and session-state below a root',
  });

/** Where the documents of a session come to lie in this checkout. */
export interface Bringing {
  readonly ground: Ground;
  readonly handover: string | null;
  /** The digests of what lies there and says the same already. */
  readonly same: readonly string[];
  /** The documents as they lay where it comes from: somebody may have written in them since. */
  readonly documents: BundledDocuments;
}

/** The order with which a log lands; it answers which events were new, and the session behind them. */
export const orderLanding = async (
  world: World,
  tried: TriedLog,
  { record, isNoted }: Landing,
  bringing: Bringing | undefined,
  answer: (landed: Landed) => JsonObject,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const { key, kind, taken } = tried;
  const guards = await guardsOf(world, kind, taken.session);
  if (!guards.ok) return guards;
  // What version control has brought of its own documents makes way by itself.
  const described = bringing === undefined ? undefined : await describedSession(world, bringing.ground.root);
  const makesWay = bringing !== undefined && (described !== undefined || bringing.same.length === 0);
  const leaving = makesWay ? await leavingTarget(world, bringing.ground, key) : ok(undefined);
  if (!leaving.ok) return leaving;
  const left: Target | undefined = leaving.value;
  const unknown = bringing === undefined ? [] : await unknownBeside(world, bringing.ground, key, pathsOf(bringing));
  const replaces = unknown.filter((digest) => bringing?.same.includes(digest) !== true);
  let isNew = false;
  let decided: readonly DecidedEvent[] = [];
  let come: Come = { events: [], bases: { handover: undefined, session_state: undefined }, conflicts: [] };
  return ok({
    keys: left === undefined ? [key] : [key, left.key],
    guards: [...guards.value, ...(left?.guards ?? [])],
    processes: [...new Set(taken.events.flatMap((event) => processOf(event) ?? []))],
    fence: bringing === undefined ? undefined : 'joins',
    decide: (sessions, beforehand) => {
      const log = tried.decide(loadedIn(sessions, key));
      if (!log.ok) return log;
      const { events, session } = log.value;
      isNew = events.length > 0;
      decided = [];
      if (!isNew) return ok(new Map());
      const { origin } = beforehand;
      const leave =
        bringing === undefined
          ? ok(new Map<string, readonly DecidedEvent[]>())
          : decideLeaving(world, bringing.ground, left, sessions, beforehand, bringing.handover);
      if (!leave.ok) return leave;
      const lost = leaseLeftBehind(world, session, origin.place);
      const arrived = bringing === undefined ? ok(come) : comeHere(tried.events, session, bringing, replaces, origin);
      if (!arrived.ok) return arrived;
      come = arrived.value;
      const own = [...lost, ...come.events];
      const noted = isNoted || own.length > 0 ? [kernelEvent('BundleTaken', record)] : [];
      decided = [...events, ...noted, ...own];
      // Who leaves comes first: a file that both are in is that of the other one afterwards.
      return ok(new Map([...leave.value, [key, decided]]));
    },
    beside: () =>
      isNew
        ? [
            {
              session: key,
              sample: bundleSample(textAt(record, 'digest')),
              value: { ...record, at: world.caller.now, by: world.caller.actor },
            },
          ]
        : [],
    answer: (after, earlier) => {
      const session = sessionIn(after, key);
      const was = earlier.get(key);
      const known = was !== undefined && isOpened(was) ? was.common.seq : 0;
      return answer({
        session,
        landed: !isNew ? 'known' : known === 0 ? 'new' : 'gone-on-with',
        events: session.common.seq - known,
        decided,
        bases: come.bases,
        conflicts: come.conflicts,
      });
    },
  });
};

/** What became of a session that has landed. */
export interface Landed {
  readonly session: OpenedSession;
  readonly landed: 'new' | 'gone-on-with' | 'known';
  /** How many events are here now that were not before. */
  readonly events: number;
  readonly decided: readonly DecidedEvent[];
  /** The newest texts of its documents that somebody wrote, where they come here. */
  readonly bases: Bases;
  /** What was written in them and could not be taken. */
  readonly conflicts: readonly Conflict[];
}

/** What comes of documents that come here. */
interface Come {
  readonly events: readonly DecidedEvent[];
  readonly bases: Bases;
  readonly conflicts: readonly Conflict[];
}

/** Documents come here: what somebody had written in them and no verb had taken in is taken in first. */
const comeHere = (
  log: readonly StoredEvent[],
  session: OpenedSession,
  bringing: Bringing,
  replaces: readonly string[],
  origin: Origin,
): Result<Come, Refusal> => {
  const bases = { handover: textOf(log, session, 'handover'), session_state: textOf(log, session, 'session_state') };
  const standing = standingTexts({ session, bases });
  const { handover, sessionState } = bringing.documents;
  const lay = { handover: handover?.text, session_state: sessionState.text };
  const edited = (['handover', 'session_state'] as const).flatMap((half) => {
    const text = lay[half] === undefined ? undefined : cleanDocument(lay[half]);
    return text === undefined || plainText(text) === plainText(standing[half]) ? [] : [{ half, text }];
  });
  const written = Object.fromEntries(edited.map(({ half, text }) => [half, { text }]));
  const taken =
    edited.length === 0
      ? ok({ events: [], bases, conflicts: [] })
      : takeIn(session, bases, { written, origin: 'file' }, origin);
  if (!taken.ok) return taken;
  const moved = kernelEvent('DocumentEdited', {
    ...whereToData({ ...bringing.ground, ...halvesOf(bringing), place: origin.place }),
    origin: 'verb',
    texts: {},
    ...(bringing.same.length === 0 ? {} : { taken: [...bringing.same] }),
    ...(replaces.length === 0 ? {} : { replaces: [...replaces] }),
  });
  return ok({ ...taken.value, events: [...taken.value.events, moved] });
};

/** A text whatever the ends of its lines are. */
const plainText = (text: string): string => text.replaceAll('\r\n', '\n').replace(/^\uFEFF/, '');

const halvesOf = ({ handover }: Pick<Bringing, 'handover'>) => ({ handover, sessionState: currentPath });

const pathsOf = ({ handover }: Pick<Bringing, 'handover'>): readonly string[] => [
  currentPath,
  ...(handover === null ? [] : [handover]),
];

const textOf = (events: readonly StoredEvent[], { common }: OpenedSession, half: Half): ReturnType<typeof textIn> => {
  const texts = common.documents?.texts;
  const seq = half === 'handover' ? texts?.handover : texts?.sessionState;
  const event = typeof seq === 'number' ? events[seq - 1] : undefined;
  return event && textIn(event, half);
};

/** A claim that still counts does not come along: whoever made it is elsewhere. */
const leaseLeftBehind = (world: World, session: OpenedSession, place: string): readonly DecidedEvent[] => {
  const { claim, renewal, now, observe } = leaseFacts(session, world.caller, world.host);
  return claim === null || lossOfClaim(claim, renewal, now, observe) === 'expired'
    ? []
    : [lostEvent(claim, 'left behind', holderOf(world, place))];
};

/** Of a kind that has one open session at a time in a checkout no second one lands. */
const guardsOf = async (
  world: World,
  kind: Kind,
  { common }: OpenedSession,
): Promise<Result<readonly Guard[], Refusal>> => {
  if (kind.current === undefined || common.status === 'closed') return ok([]);
  const { open, guard } = await openIn(world, kind, world.places.homeOf(common));
  return open === undefined || open.key === common.key ? ok([guard]) : err(refuseSecond(open, kind.current));
};
