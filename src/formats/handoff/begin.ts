import { kernelEvent, type DecidedEvent } from '../../kernel/event.ts';
import type { Beforehand, Order } from '../../kernel/dispatch.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { isOpened, type OpenedSession } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { withChange, type Change } from './edit.ts';
import { bodiesOf, type PairFields } from './fields.ts';
import {
  begunTarget,
  decideOnDocuments,
  describedSession,
  standingTexts,
  targetOf,
  type Ground,
  type Target,
  type Worked,
} from './live.ts';
import { cleanDocument } from './clean.ts';
import { mostBytes } from './look.ts';
import { pairAnswer } from './pair-answer.ts';
import { freshDocument, halves, pointerFrom, type Half, type PairPaths } from './print.ts';
import { printSections, readSections } from './sections.ts';
import { statuses } from './statuses.ts';
import { withPointer } from './superseded.ts';
import { whereToData } from './take-in.ts';
import { currentPath, nextStamp, stampIn, stampsIn } from './workspace.ts';
import { decideChange, orderFiles, refuseThere, type Signed } from './write.ts';

/** Documents that are made anew: those of a session that is begun with them, and those that describe none. */

/** What is to be made. */
export interface Making {
  readonly task: string;
  readonly change: Change & Signed;
  readonly paths: PairPaths;
  /** Which halves are written. */
  readonly halves: readonly Half[];
  readonly force: boolean;
  /** What a half says of the other one, where that is not what lies there. */
  readonly pointer?: string | undefined;
}

/** Makes documents: `CURRENT.md` describes a session, which is begun with it; anywhere else they describe none. */
export const orderMaking = async (
  world: World,
  ground: Ground,
  making: Making,
  { isLive = making.paths.sessionState === currentPath } = {},
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const { paths, force, halves: made } = making;
  if (paths.handover === paths.sessionState)
    return err(
      refuse('conflict', 'Both documents would be the same file.', {
        expected: 'two files',
        hint: 'leave the outputs out',
      }),
    );
  if (!isLive) return orderFiles(world, ground, filesOf(making, world.caller.now), force, filesAnswer(ground, making));
  const wanted = made.flatMap((half) => pathOf(paths, half) ?? []);
  const described = await describedSession(world, ground.root);
  const there = wanted.filter((path) => world.files.exists(`${ground.look.root}/${path}`));
  if (there.length > 0 && !force) return err(refuseThere(there.map((path) => `${ground.look.root}/${path}`)));
  const where = { root: ground.root, handover: paths.handover, sessionState: paths.sessionState };
  const goesOn = described ?? (await openTask(world));
  const isSame = goesOn !== undefined && goesOn.common.goal === making.task;
  const found = await foundHandover(world, ground, making, goesOn);
  const target = isSame
    ? { ...targetOf(goesOn, where), found }
    : await begunTarget(world, making.task, where, { found });
  const left = described !== undefined && described.key !== target.key ? described : undefined;
  return ok(orderBegun(world, ground, { target, left }, making));
};

/** The handover that lies there and is not made: it is what somebody wrote. */
const foundHandover = async (
  world: World,
  { look }: Ground,
  { paths, halves: made }: Making,
  session: OpenedSession | undefined,
): Promise<Target['found']> => {
  const { handover } = paths;
  if (handover === null || made.includes('handover') || session?.common.documents?.handover === handover) return {};
  const text = (await world.project()).whole(look.root, handover, mostBytes);
  return text.ok ? { handover: cleanDocument(text.value) } : {};
};

/** The open task of this checkout, where there is one. */
const openTask = async ({ store, places }: World): Promise<OpenedSession | undefined> => {
  const rows = (await store.rows({ kind: 'task', status: 'active' })).filter(
    (row) => places.homeOf(row).root === places.here.root,
  );
  const [only, ...others] = rows;
  return only === undefined || others.length > 0 ? undefined : store.load(only.key);
};

const orderBegun = (
  world: World,
  ground: Ground,
  { target, left }: { readonly target: Target; readonly left: OpenedSession | undefined },
  making: Making,
): Order<JsonObject> => ({
  keys: left === undefined ? [target.key] : [target.key, left.key],
  guards: target.guards,
  processes: [],
  fence: 'joins',
  decide: (sessions, beforehand) => {
    const decided = decideOnDocuments(world, target, sessions, beforehand, (worked) =>
      decideMaking(world, ground, worked, making, beforehand),
    );
    if (!decided.ok || left === undefined) return decided;
    const before = sessions.get(left.key);
    if (before === undefined || !isOpened(before)) throw new Error(`${left.key} was not loaded`);
    const events = decideLeave(world, ground, before, beforehand, making.paths.handover);
    return ok(new Map([[left.key, events], ...decided.value]));
  },
  answer: (after) => {
    const session = after.get(target.key);
    if (session === undefined || !isOpened(session)) throw new Error(`${target.key} is not open after its commit`);
    return {
      session: session.key,
      session_id: session.common.name,
      ...pairAnswer(world, session),
      ...(left === undefined ? {} : { superseded: left.key }),
      revision: session.common.revision,
    };
  },
});

/** New documents of a session: a handover that another one takes the place of is archived with what it told of. */
const decideMaking = (
  world: World,
  ground: Ground,
  worked: Worked,
  { change, halves: made }: Making,
  { origin }: Beforehand,
): Result<readonly DecidedEvent[], Refusal> => {
  const { former, bases, session } = worked;
  const before = former?.common.documents?.handover ?? null;
  const isReplaced = former !== undefined && before !== null && before !== session.common.documents?.handover;
  const archived = isReplaced
    ? [
        archiveEvent({ session: former, bases }, stampFor(world, ground, before, session.common.documents?.handover), {
          isSuperseded: true,
          isLeft: false,
        }),
      ]
    : [];
  const fresh = {
    handover: made.includes('handover') ? undefined : bases.handover,
    session_state: made.includes('session_state') ? undefined : bases.session_state,
  };
  const changed = decideChange(
    { session, bases: fresh },
    change,
    { ...change, override: change.override ?? 'as it was begun' },
    origin,
  );
  return changed.ok ? ok([...archived, ...changed.value.events]) : changed;
};

/**
 * The stamp under which a pair is archived that another handover takes the place of: that of its own where it is free, else
 * the next one that is, and not that of the other one.
 */
export const stampFor = (
  world: World,
  { look }: Ground,
  path: string | null,
  next: string | null | undefined,
): string => {
  const own = path === null || path === next ? undefined : stampIn(path);
  const isFree = own !== undefined && !world.files.exists(`${look.root}/session-state/${own}_session-state.md`);
  const other = typeof next === 'string' ? (stampIn(next) ?? []) : [];
  return isFree ? own : nextStamp(world.caller.now, [...stampsIn(look), other].flat());
};

/**
 * A session leaves the documents of a checkout to another one, whose handover is `next`: its pair is archived, and its own
 * handover, which named `CURRENT.md`, names what was archived.
 */
export const decideLeave = (
  world: World,
  ground: Ground,
  session: OpenedSession,
  { documents }: Beforehand,
  next: string | null,
): readonly DecidedEvent[] => {
  const where = session.common.documents;
  if (where === undefined) return [];
  const pair = documents.get(session.key)?.pair as { readonly bases: Worked['bases'] } | undefined;
  const bases = pair?.bases ?? { handover: undefined, session_state: undefined };
  return [
    archiveEvent({ session, bases }, stampFor(world, ground, where.handover, next), {
      isSuperseded: true,
      isLeft: true,
    }),
  ];
};

/** The event with which a pair is put by under a stamp: a copy, or what another handover or session takes the place of. */
export const archiveEvent = (
  worked: Worked,
  stamp: string,
  {
    isSuperseded,
    isLeft,
    paths,
    texts: found = {},
  }: {
    readonly isSuperseded: boolean;
    readonly isLeft: boolean;
    readonly paths?: PairPaths | undefined;
    /** What is archived of a half, where that is not what the session makes of it. */
    readonly texts?: Readonly<Partial<Record<Half, string>>>;
  },
): DecidedEvent => {
  const where = worked.session.common.documents;
  if (where === undefined) throw new Error(`${worked.session.key} has no documents`);
  const archived = paths ?? {
    handover: where.handover === null ? null : `handovers/${stamp}_handover.md`,
    sessionState: `session-state/${stamp}_session-state.md`,
  };
  const texts = { ...standingTexts(worked), ...found };
  const superseded = isSuperseded && where.handover !== archived.handover ? where.handover : null;
  const put = (half: Half): string => withPointer(half, texts[half], pointerFrom(half, archived), isSuperseded);
  return kernelEvent('PairArchived', {
    ...whereToData({ ...where, ...archived }),
    texts: {
      ...(archived.handover === null ? {} : { handover: { text: put('handover') } }),
      session_state: { text: put('session_state') },
    },
    ...(superseded === null ? {} : { superseded }),
    ...(isLeft ? { left: true } : {}),
  });
};

const pathOf = ({ handover: transfer, sessionState: state }: PairPaths, half: Half): string | null =>
  half === 'handover' ? transfer : state;

/** Documents of no session: what was said, and no more. */
const filesOf = ({ change, paths, halves: made, task, pointer }: Making, now: string) =>
  made.flatMap((half) => {
    const path = pathOf(paths, half);
    return path === null ? [] : [{ path, text: fileOf(half, { change, paths, task, pointer }, now) }];
  });

const nothing: Omit<PairFields, 'task' | 'status' | 'owner'> = {
  lastCompleted: null,
  current: null,
  remaining: [],
  more: 0,
  done: [],
  blockers: [],
  decisions: [],
  assumptions: [],
  files: [],
  commands: [],
  passed: [],
  failed: [],
  artifacts: [],
};

const fileOf = (
  half: Half,
  { change, paths, task, pointer }: Pick<Making, 'change' | 'paths' | 'task' | 'pointer'>,
  now: string,
): string => {
  const kind = halves[half];
  const status = statuses.find((one) => one === change.status) ?? 'in-progress';
  const fields: PairFields = { ...nothing, task, status, owner: change.next_owner ?? null };
  const isNamed = half !== 'handover' || status !== 'done';
  const mark = {
    updatedAt: change.last_updated ?? now,
    updatedBy: change.updated_by,
    pointer: pointer ?? (isNamed ? pointerFrom(half, paths) : null),
  };
  const fresh = readSections(freshDocument(kind, bodiesOf(kind, fields, mark)));
  const changed = withChange(half, fresh, change);
  return printSections(changed.ok ? changed.value : fresh);
};

const filesAnswer = ({ look }: Ground, { paths, change }: Making): JsonObject => ({
  docs_root: look.root,
  handover: paths.handover === null ? null : `${look.root}/${paths.handover}`,
  session_state: `${look.root}/${paths.sessionState}`,
  status: change.status ?? 'in-progress',
  next_owner: change.status === 'done' ? 'None' : (change.next_owner ?? 'None'),
  session: null,
});
