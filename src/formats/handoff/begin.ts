import type { DecidedEvent } from '../../kernel/event.ts';
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
  describedNow,
  targetOf,
  type Ground,
  type Target,
  type Worked,
} from './live.ts';
import { cleanDocument } from './clean.ts';
import { mostBytes, refuseText } from './look.ts';
import { pairAnswer } from './pair-answer.ts';
import { freshDocument, halves, pointerFrom, type Half, type PairPaths } from './print.ts';
import { printSections, readSections, type Sections } from './sections.ts';
import { refuseUntaken } from './seen.ts';
import { statuses } from './statuses.ts';
import { decideLeaving, leavingTarget, unknownIn } from './leaving.ts';
import { archiveEvent, stampFor } from './archive-event.ts';
import { currentPath } from './workspace.ts';
import { decideChange, orderFiles, refuseThere, type Signed, type WholeFile } from './write.ts';

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
  {
    isLive = making.paths.sessionState === currentPath,
    fence,
  }: { readonly isLive?: boolean; readonly fence?: 'own' } = {},
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const { paths, force, halves: made } = making;
  if (paths.handover === paths.sessionState)
    return err(
      refuse('conflict', 'Both documents would be the same file.', {
        expected: 'two files',
        hint: 'leave the outputs out',
      }),
    );
  if (!isLive) {
    const files = filesOf(making, world.caller.now);
    return files.ok ? orderFiles(world, ground, files.value, force, filesAnswer(ground, making)) : files;
  }
  const wanted = made.flatMap((half) => pathOf(paths, half) ?? []);
  const { session: described, guards } = await describedNow(world, ground.root);
  const there = wanted.filter((path) => world.files.exists(`${ground.look.root}/${path}`));
  if (there.length > 0 && !force) return err(refuseThere(there.map((path) => `${ground.look.root}/${path}`)));
  const where = { root: ground.root, handover: paths.handover, sessionState: paths.sessionState };
  const goesOn = described ?? (await openTask(world));
  // Who writes a handover alone hands over what is described, in words of his own perhaps.
  const isReworded = described?.common.status === 'active' && !made.includes('session_state');
  const isSame = goesOn !== undefined && (isReworded || goesOn.common.goal === making.task);
  const found = await foundHalves(world, ground, making, { goesOn, isDescribed: described !== undefined });
  if (!found.ok) return found;
  const makesWay = described !== undefined || made.includes('session_state');
  const leaving = makesWay
    ? await leavingTarget(world, ground, isSame ? goesOn.key : undefined, { fence })
    : ok(undefined);
  if (!leaving.ok) return leaving;
  const left = leaving.value;
  const target = isSame
    ? { ...targetOf(goesOn, where), found: found.value }
    : await begunTarget(world, making.task, where, { found: found.value, beside: left, guards });
  const replaces = await unknownIn(world, ground, wanted);
  const worded = isReworded ? { ...making.change, task: making.task } : making.change;
  const change = isSame ? worded : asBegun(worded);
  return ok(orderBegun(world, ground, { target, left, replaces }, { ...making, change }));
};

/** What is said of a task that is begun with its documents: one that goes on stays as it is, and follows its transitions. */
const asBegun = (change: Making['change']): Making['change'] => ({
  ...change,
  status: change.status ?? 'in-progress',
  override: change.override ?? 'as it was begun',
});

/** What lies there of the halves that are not made: it is what somebody wrote. */
const foundHalves = async (
  world: World,
  { look }: Ground,
  { paths, halves: made }: Making,
  { goesOn, isDescribed }: { readonly goesOn: OpenedSession | undefined; readonly isDescribed: boolean },
): Promise<Result<Target['found'], Refusal>> => {
  const found: { [Name in Half]?: string } = {};
  for (const half of ['handover', 'session_state'] as const) {
    const path = pathOf(paths, half);
    const isKnown = half === 'handover' ? goesOn?.common.documents?.handover === path : isDescribed;
    if (path === null || made.includes(half) || isKnown) continue;
    const text = (await world.project()).whole(look.root, path, mostBytes);
    if (!text.ok) {
      if (text.error.isMissing) continue;
      return err(
        refuse('invalid-input', `${look.root}/${path} ${text.error.problem}.`, { expected: 'a document, or none' }),
      );
    }
    const refusal = refuseText(halves[half], `${look.root}/${path}`, text.value);
    if (refusal !== undefined) return err(refusal);
    found[half] = cleanDocument(text.value);
  }
  return ok(found);
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
  {
    target,
    left,
    replaces,
  }: { readonly target: Target; readonly left: Target | undefined; readonly replaces: readonly string[] },
  making: Making,
): Order<JsonObject> => ({
  keys: left === undefined ? [target.key] : [target.key, left.key],
  guards: [...target.guards, ...(left?.guards ?? [])],
  processes: [],
  fence: 'joins',
  decide: (sessions, beforehand) => {
    const leaving = decideLeaving(world, ground, left, sessions, beforehand, making.paths.handover);
    if (!leaving.ok) return leaving;
    const decided = decideOnDocuments(world, target, sessions, beforehand, (worked, seen) => {
      const untaken = making.force ? undefined : refuseUntaken(seen, 'Nothing can be written beside the two documents');
      return untaken === undefined
        ? decideMaking(world, ground, worked, { ...making, replaces }, beforehand)
        : err(untaken);
    });
    return decided.ok ? ok(new Map([...leaving.value, ...decided.value])) : decided;
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
  { task, change, halves: made, replaces }: Making & { readonly replaces: readonly string[] },
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
    { ...change, task },
    change,
    origin,
    replaces.length === 0 ? {} : { replaces },
  );
  return changed.ok ? ok([...archived, ...changed.value.events]) : changed;
};

const pathOf = ({ handover: transfer, sessionState: state }: PairPaths, half: Half): string | null =>
  half === 'handover' ? transfer : state;

/** Documents of no session: what was said, and no more. */
const filesOf = (
  { change, paths, halves: made, task, pointer }: Making,
  now: string,
): Result<readonly WholeFile[], Refusal> => {
  const files: WholeFile[] = [];
  for (const half of made) {
    const path = pathOf(paths, half);
    if (path === null) continue;
    const document = fileOf(half, { change, paths, task, pointer }, now);
    if (!document.ok) return document;
    files.push({ path, text: printSections(document.value) });
  }
  return ok(files);
};

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
  gone: [],
  commands: [],
  passed: [],
  failed: [],
  artifacts: [],
};

const fileOf = (
  half: Half,
  { change, paths, task, pointer }: Pick<Making, 'change' | 'paths' | 'task' | 'pointer'>,
  now: string,
): Result<Sections, Refusal> => {
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
  return withChange(half, fresh, { ...change, task });
};

const filesAnswer = ({ look }: Ground, { paths, change }: Making): JsonObject => ({
  docs_root: look.root,
  handover: paths.handover === null ? null : `${look.root}/${paths.handover}`,
  session_state: `${look.root}/${paths.sessionState}`,
  status: change.status ?? 'in-progress',
  next_owner: change.status === 'done' ? 'None' : (change.next_owner ?? 'None'),
  session: null,
});
