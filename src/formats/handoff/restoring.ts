import { sessionIn, type Beforehand, type Order } from '../../kernel/dispatch.ts';
import type { DecidedEvent } from '../../kernel/event.ts';
import { blockersOf } from '../../kernel/journal.ts';
import { decideUnblock } from '../../kernel/journal-rules.ts';
import { decideReopen, isOverForGood } from '../../kernel/lifecycle.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { pairToJson, sessionOfFile } from './archiving.ts';
import { archiveEvent, stampFor } from './archive-event.ts';
import { cleanDocument } from './clean.ts';
import { bodyOf, valueOf } from './document.ts';
import { refuseTime } from './edit.ts';
import { refuseUnsound } from './faults.ts';
import { pairFieldsOf } from './fields.ts';
import {
  begunTarget,
  decideOnDocuments,
  describedSession,
  groundOf,
  targetOf,
  type Ground,
  type Target,
  type Worked,
} from './live.ts';
import { meantPair, mostBytes, type Whereabouts } from './look.ts';
import { decideLeaving, leavingTarget, unknownIn } from './leaving.ts';
import { outputIn } from './outputs.ts';
import { pairAnswer } from './pair-answer.ts';
import type { Half } from './print.ts';
import { recordedHalf } from './recorded.ts';
import { restoredTexts, type Restored } from './restore.ts';
import { readSections } from './sections.ts';
import { pathsOf, refuseStamp, takenStamps } from './stamps.ts';
import type { Status } from './statuses.ts';
import { blockersIn, takeIn } from './take-in.ts';
import { isNone } from './values.ts';
import { currentPath, nextStamp, stampsIn } from './workspace.ts';
import { behind, orderFiles, refuseOwnerOf, refuseThere, type WholeFile } from './write.ts';

/** A pair becomes the live one, and the session that it is of becomes what it says: an archived one, or one from elsewhere. */

/** What is restored, and what is said of it. */
export interface Restoring extends Whereabouts {
  readonly timestamp?: string | undefined;
  readonly handover?: string | undefined;
  readonly session_state?: string | undefined;
  readonly updated_by: string;
  readonly last_updated?: string | undefined;
  readonly restore_timestamp?: string | undefined;
  readonly status?: Status | undefined;
  readonly next_owner?: string | undefined;
  readonly handover_output?: string | undefined;
  readonly session_output?: string | undefined;
  readonly force?: boolean | undefined;
}

/** Restores a pair: as the one of this checkout, or with another output into files alone. */
export const orderRestore = async (world: World, input: Restoring): Promise<Result<Order<JsonObject>, Refusal>> => {
  const refusal =
    refuseTime(input.last_updated) ??
    refuseStamp('--timestamp', input.timestamp, 'stint handoff history') ??
    refuseStamp('--restore-timestamp', input.restore_timestamp);
  if (refusal !== undefined) return err(refusal);
  const snapshot = await findSnapshot(world, input);
  if (!snapshot.ok) return snapshot;
  const isPlaced = input.root !== undefined || input.start_dir !== undefined;
  const ground = await groundOf(world, isPlaced ? input : { root: snapshot.value.root });
  if (!ground.ok) return ground;
  const paths = await targetsOf(world, ground.value, snapshot.value, input);
  if (!paths.ok) return paths;
  const source = pairToJson(snapshot.value.root, snapshot.value.pair);
  if (paths.value.sessionState !== currentPath) {
    const files = comebackFiles(world, ground.value, snapshot.value, paths.value);
    if (!files.ok) return files;
    const answer = { ...files.value.answer, source, superseded: null };
    return orderFiles(world, ground.value, files.value.files, input.force === true, answer);
  }
  const order = await orderComeback(world, ground.value, snapshot.value, paths.value);
  if (!order.ok) return order;
  const { answer } = order.value;
  return ok({ ...order.value, answer: (after, before) => ({ ...answer(after, before), source }) });
};

/** Two files, by their paths from the root. */
export interface TwoPaths {
  readonly handover: string;
  readonly sessionState: string;
}

/** A pair that becomes the live one. */
export interface Comeback {
  readonly texts: Readonly<Record<Half, string>>;
  /** What is said of it anew. */
  readonly said: (now: string) => Restored;
  /** Why a session becomes what it says. */
  readonly why: string;
  /** The session that it is of, where one here has made it. */
  readonly owner?: OpenedSession | undefined;
  /** What is put on record of that session ahead of what comes of it. */
  readonly record?: readonly DecidedEvent[];
}

/** An archived pair as it was found. */
interface Snapshot extends Comeback {
  /** The root that it lies below. */
  readonly root: string;
  readonly pair: TwoPaths;
}

const findSnapshot = async (world: World, input: Restoring): Promise<Result<Snapshot, Refusal>> => {
  const found = await locateSnapshot(world, input);
  if (!found.ok) return found;
  const { root, pair } = found.value;
  const prefix = `${world.places.here.root}/`;
  const inside = root.startsWith(prefix) ? { root: root.slice(prefix.length) } : undefined;
  const transfer = await readHalf(world, { ...found.value, inside }, 'handover', pair.handover);
  if (!transfer.ok) return transfer;
  const state = await readHalf(world, { ...found.value, inside }, 'session_state', pair.sessionState);
  if (!state.ok) return state;
  const key =
    inside === undefined
      ? undefined
      : ((await sessionOfFile(world, inside, pair.sessionState)) ??
        (await sessionOfFile(world, inside, pair.handover)));
  return ok({
    root,
    pair,
    texts: { handover: transfer.value, session_state: state.value },
    said: (now) => saidIn(input, now),
    why: `restored from ${input.timestamp ?? pair.handover}`,
    owner: key === undefined ? undefined : await world.store.load(key),
  });
};

const locateSnapshot = async (
  world: World,
  input: Restoring,
): Promise<Result<{ readonly root: string; readonly pair: TwoPaths; readonly stamps: readonly string[] }, Refusal>> => {
  if (input.timestamp === undefined) {
    const meant = await meantPair(world, input);
    return meant.ok ? ok({ root: meant.value.look.root, pair: meant.value.pair, stamps: [] }) : meant;
  }
  const ground = await groundOf(world, input);
  if (!ground.ok) return ground;
  const { look } = ground.value;
  const stamps = [...new Set(stampsIn(look))].toSorted().toReversed().slice(0, 10);
  return ok({ root: look.root, pair: pathsOf(input.timestamp), stamps });
};

/** The text of a half: that of the file, else, where that is gone, what was put on record when it was archived. */
const readHalf = async (
  world: World,
  {
    root,
    inside,
    stamps,
  }: { readonly root: string; readonly inside: Pick<Ground, 'root'> | undefined; readonly stamps: readonly string[] },
  half: Half,
  path: string,
): Promise<Result<string, Refusal>> => {
  const text = (await world.project()).whole(root, path, mostBytes);
  if (text.ok) return ok(cleanDocument(text.value));
  const recorded =
    text.error.isMissing && inside !== undefined ? await recordedHalf(world, inside.root, half, path) : undefined;
  return recorded === undefined
    ? err(
        refuse('not-found', `${root}/${path} ${text.error.problem}.`, {
          expected: 'a pair that was archived',
          candidates: stamps,
          hint: 'stint handoff audit',
        }),
      )
    : ok(recorded);
};

/** Where the pair goes. Refused is what would write over it, or over a document of another session, and without force over anything. */
const targetsOf = async (
  world: World,
  ground: Ground,
  snapshot: Snapshot,
  input: Restoring,
): Promise<Result<TwoPaths, Refusal>> => {
  const { root } = ground.look;
  const stamp = input.restore_timestamp ?? nextStamp(world.caller.now, await takenStamps(world, ground));
  const transfer = await outputIn(world, ground, input.handover_output, pathsOf(stamp).handover);
  if (!transfer.ok) return transfer;
  const state = await outputIn(world, ground, input.session_output, currentPath);
  if (!state.ok) return state;
  const paths = { handover: transfer.value, sessionState: state.value };
  const both = [paths.handover, paths.sessionState];
  if (paths.handover === paths.sessionState)
    return err(refuse('conflict', 'Both documents would be the same file.', { expected: 'two files' }));
  const sources = snapshot.root === root ? [snapshot.pair.handover, snapshot.pair.sessionState] : [];
  const over = both.find((path) => sources.includes(path));
  if (over !== undefined)
    return err(
      refuse('conflict', `${root}/${over} is what is to be restored.`, {
        expected: 'a pair that was archived, or other outputs',
      }),
    );
  const live = (await describedSession(world, ground.root))?.common.documents;
  for (const path of both.filter((one) => one !== currentPath && one !== live?.handover)) {
    const owner = await sessionOfFile(world, ground, path);
    if (owner !== undefined)
      return err(
        refuse('conflict', `${root}/${path} is a document of ${owner}.`, {
          expected: 'another stamp, or other outputs',
        }),
      );
  }
  const there = both.filter((path) => world.files.exists(`${root}/${path}`));
  return there.length === 0 || input.force === true
    ? ok(paths)
    : err(
        refuseThere(
          there.map((path) => `${root}/${path}`),
          'stint handoff archive, then the same with --force',
        ),
      );
};

const saidIn = (
  { status, next_owner: owner, updated_by: by, last_updated: time }: Restoring,
  now: string,
): Restored => ({
  status,
  owner,
  by,
  at: time ?? now,
});

/** A pair of files that describes no session, and what is answered of them. */
export const comebackFiles = (
  world: World,
  { look }: Ground,
  { texts, said }: Comeback,
  paths: TwoPaths,
): Result<{ readonly files: readonly WholeFile[]; readonly answer: JsonObject }, Refusal> => {
  const made = restoredTexts(texts, said(world.caller.now), paths);
  if (!made.ok) return err(refuseUnsound(made.error));
  const { handover, session_state: state } = made.value.texts;
  return ok({
    files: [
      { path: paths.handover, text: handover },
      { path: paths.sessionState, text: state },
    ],
    answer: {
      session: null,
      docs_root: look.root,
      ...pairToJson(look.root, paths),
      status: made.value.status,
      next_owner: valueOf(readSections(state), 'Next owner'),
    },
  });
};

/** What is decided on, of the pair that becomes the live one. */
interface Course {
  readonly ground: Ground;
  readonly pair: Comeback;
  readonly paths: TwoPaths;
  /** The digests of what lies in the place and is nobody's here. */
  readonly replaces: readonly string[];
}

/** An order with which a pair becomes the live one of this checkout; a pair that no session here has made begins a task. */
export const orderComeback = async (
  world: World,
  ground: Ground,
  pair: Comeback,
  paths: TwoPaths,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const { owner, texts } = pair;
  const where = { root: ground.root, ...paths };
  const leaving = await leavingTarget(world, ground, owner?.key);
  if (!leaving.ok) return leaving;
  const left = leaving.value;
  const task = valueOf(readSections(texts.handover), 'Task summary');
  const target =
    owner === undefined
      ? await begunTarget(world, isNone(task) ? 'not said' : task, where, { beside: left })
      : targetOf(owner, where);
  const replaces = await unknownIn(world, ground, [paths.handover, paths.sessionState]);
  return ok(orderRestored(world, { ground, pair, paths, replaces }, { target, left }));
};

const orderRestored = (
  world: World,
  course: Course,
  { target, left }: { readonly target: Target; readonly left: Target | undefined },
): Order<JsonObject> => ({
  keys: left === undefined ? [target.key] : [target.key, left.key],
  guards: [...target.guards, ...(left?.guards ?? [])],
  processes: [],
  fence: 'joins',
  decide: (sessions, beforehand) => {
    const { ground, paths } = course;
    const leaving = decideLeaving(world, ground, left, sessions, beforehand, paths.handover);
    if (!leaving.ok) return leaving;
    const restored = decideOnDocuments(world, target, sessions, beforehand, (worked) =>
      decideRestored(world, worked, course, beforehand),
    );
    return restored.ok ? ok(new Map([...leaving.value, ...restored.value])) : restored;
  },
  answer: (after, before) => {
    const session = sessionIn(after, target.key);
    const { root } = course.ground.look;
    const maker = left?.key ?? (before.get(target.key)?.common?.documents === undefined ? undefined : target.key);
    const put = maker === undefined ? undefined : after.get(maker)?.common?.archivedPairs?.at(-1);
    return {
      session: session.key,
      session_id: session.common.name,
      ...pairAnswer(world, session),
      superseded: put === undefined ? null : { session: maker ?? null, ...pairToJson(root, put) },
      revision: session.common.revision,
    };
  },
});

/** A session becomes what a pair says; the pair that it had is archived before. */
const decideRestored = (
  world: World,
  { session, bases, former }: Worked,
  { ground, pair, paths, replaces }: Course,
  { origin }: Beforehand,
): Result<readonly DecidedEvent[], Refusal> => {
  const { texts: given, why, record = [] } = pair;
  const said = pair.said(origin.now);
  // Of another kind a status follows from its work, whatever the documents say.
  const takesStatus = session.folded.handoff !== undefined;
  const events: DecidedEvent[] = [];
  if (former !== undefined) {
    const before = former.common.documents?.handover ?? null;
    events.push(
      archiveEvent({ session: former, bases }, stampFor(world, ground, before, paths.handover), {
        isSuperseded: before !== paths.handover,
        isLeft: false,
      }),
    );
  }
  let now = session;
  const apply = (decision: Result<readonly DecidedEvent[], Refusal>): Refusal | undefined => {
    if (!decision.ok) return decision.error;
    events.push(...decision.value);
    now = behind(now, decision.value, origin);
    return undefined;
  };

  apply(ok(record));
  const untold = refuseOwnerOf(session, said.owner, said.by);
  if (untold !== undefined) return err(untold);
  const wanted = restoredTexts(given, said, paths);
  if (!wanted.ok) return err(refuseUnsound(wanted.error));
  const { status: closed, outcome } = now.common;
  const stays = closed === 'active' || (outcome === 'completed' && wanted.value.status === 'done');
  if (takesStatus && !stays) {
    const refusal = apply(decideReopen(now, why, isOverForGood(now) ? why : undefined));
    if (refusal !== undefined) return err(refusal);
  }
  const named = blockersIn(bodyOf(readSections(wanted.value.texts.session_state), 'Blockers'));
  for (const { id, reason, needs } of blockersOf(now.common)) {
    if (named.some((one) => one.reason === reason && one.needs === needs)) continue;
    const refusal = apply(decideUnblock(now, { id, raised: undefined }, why));
    if (refusal !== undefined) return err(refusal);
  }
  const status = said.status ?? (takesStatus ? undefined : pairFieldsOf(now).status);
  const texts = status === said.status ? wanted : restoredTexts(given, { ...said, status }, paths);
  if (!texts.ok) return err(refuseUnsound(texts.error));
  const edit = takeIn(
    now,
    bases,
    {
      written: {
        handover: { text: texts.value.texts.handover },
        session_state: { text: texts.value.texts.session_state },
      },
      origin: 'verb',
      owner: valueOf(readSections(texts.value.texts.session_state), 'Next owner'),
      override: why,
      mark: { updatedAt: said.at, updatedBy: said.by },
      ...(replaces.length === 0 ? {} : { replaces }),
    },
    origin,
  );
  return edit.ok ? ok([...events, ...edit.value.events]) : edit;
};
