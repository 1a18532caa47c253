import type { Order } from '../../kernel/dispatch.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { archiveEvent } from './archive-event.ts';
import { digestOfDocument } from './clean.ts';
import { faultsIn, refuseUnsound } from './faults.ts';
import { describedSession, groundOf, orderDocuments, refuseNoPair, targetOf, type Ground } from './live.ts';
import { mostBytes, namedDocument } from './look.ts';
import { otherPair, readPair, type NamedPair } from './named.ts';
import { outputIn } from './outputs.ts';
import { pointerFrom, textIn, type Half, type PairPaths } from './print.ts';
import { printSections, type Sections } from './sections.ts';
import { refuseUntaken } from './seen.ts';
import { withPointer } from './superseded.ts';
import { pathsOf, refuseStamp, takenStamps } from './stamps.ts';
import { locateLive, nextStamp, stampIn } from './workspace.ts';
import { orderFiles, refuseThere } from './write.ts';

/** A copy of a pair is put by under a stamp, and the pair stays what it is. */

/** What is to be put by, and where. */
export interface Archiving {
  readonly handover?: string | undefined;
  readonly session_state?: string | undefined;
  readonly timestamp?: string | undefined;
  readonly handover_output?: string | undefined;
  readonly session_output?: string | undefined;
  readonly force?: boolean | undefined;
}

/** Puts a pair by: that of a session on its record, any other one in files alone. */
export const orderArchive = async (world: World, input: Archiving): Promise<Result<Order<JsonObject>, Refusal>> => {
  const refusal = refuseStamp('--timestamp', input.timestamp);
  if (refusal !== undefined) return err(refusal);
  const other = await otherPair(world, input);
  if (other !== undefined) return other.ok ? archiveFiles(world, other.value, input) : other;
  const name = input.handover ?? input.session_state;
  const ground = await groundOf(
    world,
    name === undefined ? {} : { root: (await namedDocument(world, name)).look.root },
  );
  if (!ground.ok) return ground;
  const described = await describedSession(world, ground.value.root);
  if (described !== undefined) return archiveSession(world, ground.value, described, input);
  const pair = locateLive(ground.value.look);
  if (pair === undefined) return err(refuseNoPair(ground.value));
  const found = await readPair(world, ground.value, pair);
  return found.ok ? archiveFiles(world, found.value, input) : found;
};

/** Where copies go under a stamp: to the outputs that are named, else to files with the stamp in their names. */
type Placing = (stamp: string) => PairPaths;

const placingOf = async (
  world: World,
  ground: Ground,
  input: Archiving,
  source: PairPaths,
): Promise<Result<Placing, Refusal>> => {
  const transfer = await outputIn(world, ground, input.handover_output, '');
  if (!transfer.ok) return transfer;
  const state = await outputIn(world, ground, input.session_output, '');
  if (!state.ok) return state;
  return ok((stamp) => {
    const usual = pathsOf(stamp);
    return {
      handover: source.handover === null ? null : transfer.value || usual.handover,
      sessionState: state.value || usual.sessionState,
    };
  });
};

/** Refuses to write over what is copied, over the documents of another session, and without force over anything. */
const refuseTargets = async (
  world: World,
  ground: Ground,
  paths: PairPaths,
  {
    source,
    owner,
    mayExist,
  }: {
    readonly source: PairPaths;
    readonly owner: string | undefined;
    readonly mayExist: (path: string) => boolean;
  },
): Promise<Refusal | undefined> => {
  const { root } = ground.look;
  const expected = 'another stamp, or other outputs';
  if (paths.handover === paths.sessionState)
    return refuse('conflict', 'Both documents would be the same file.', { expected: 'two files' });
  for (const path of pathsIn(paths)) {
    if (pathsIn(source).includes(path))
      return refuse('conflict', `${root}/${path} is what is to be archived.`, {
        expected,
        hint: 'leave --timestamp out for the next free minute',
      });
    const holder = await sessionOfFile(world, ground, path);
    if (holder !== undefined && holder !== owner)
      return refuse('conflict', `${root}/${path} is a document of ${holder}.`, { expected });
  }
  const there = pathsIn(paths).filter((path) => !mayExist(path) && world.files.exists(`${root}/${path}`));
  return there.length === 0 ? undefined : refuseThere(there.map((path) => `${root}/${path}`));
};

/** The session whose document lies at a path, as far as one here has made it; version control may have brought it from elsewhere. */
export const sessionOfFile = async (
  world: World,
  { root }: Pick<Ground, 'root'>,
  path: string,
): Promise<string | undefined> => {
  const { store, places } = world;
  const { id, root: checkout } = places.here;
  const record = id === null ? undefined : await store.mirrorAt(id, `${root}/${path}`);
  if (record !== undefined) return record.session;
  const text = (await world.project()).whole(`${checkout}/${root}`, path, mostBytes);
  return text.ok ? store.versionOf(`${root}/${path}`, digestOfDocument(text.value)) : undefined;
};

const pathsIn = ({ handover, sessionState }: PairPaths): readonly string[] => [
  ...(handover === null ? [] : [handover]),
  sessionState,
];

const archiveSession = async (
  world: World,
  ground: Ground,
  session: OpenedSession,
  input: Archiving,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const { look, root } = ground;
  const force = input.force === true;
  const { documents: source } = session.common;
  if (source === undefined) throw new Error(`${session.key} has no documents`);
  const placing = await placingOf(world, ground, input, source);
  if (!placing.ok) return placing;
  const taken = await takenStamps(world, ground);
  const stampBeside = (known: readonly string[]): string =>
    input.timestamp ?? nextStamp(world.caller.now, [...taken, ...known.flatMap((path) => stampIn(path) ?? [])]);
  const stampNow = stampBeside([]);
  const usual = pathsIn(pathsOf(stampNow));
  const refusal = await refuseTargets(world, ground, placing.value(stampNow), {
    source,
    owner: session.key,
    // A stamp that was free a moment ago, and that somebody else has taken since, is not the one that is taken in the end.
    mayExist: (path) => force || (input.timestamp === undefined && usual.includes(path)),
  });
  if (refusal !== undefined) return err(refusal);
  let stamp = '';
  return ok(
    orderDocuments(
      world,
      targetOf(session),
      (worked, seen) => {
        const untaken = refuseUntaken(seen, 'Nothing can be archived of the two documents');
        if (untaken !== undefined) return err(untaken);
        // Somebody else may have archived it in this very minute.
        const known = (worked.session.common.archivedPairs ?? []).filter((pair) => pair.root === root).flatMap(pathsIn);
        stamp = stampBeside(known);
        const paths = placing.value(stamp);
        const there = force ? [] : pathsIn(paths).filter((path) => known.includes(path));
        if (there.length > 0) return err(refuseThere(there.map((path) => `${look.root}/${path}`)));
        const event = archiveEvent(worked, stamp, { isSuperseded: false, isLeft: false, paths });
        const faults = (['handover', 'session_state'] as const).flatMap((half) =>
          faultsIn(half, textIn({ data: event.data, cause: '' }, half)?.text),
        );
        return faults.length > 0 ? err(refuseUnsound(faults)) : ok({ ...worked, events: [event] });
      },
      () => answerOf(ground, stamp, source, placing.value(stamp)),
      { isBeside: true },
    ),
  );
};

const archiveFiles = async (
  world: World,
  { ground, pair, handover, state }: NamedPair,
  input: Archiving,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const force = input.force === true;
  const placing = await placingOf(world, ground, input, pair);
  if (!placing.ok) return placing;
  const stamp = input.timestamp ?? nextStamp(world.caller.now, await takenStamps(world, ground));
  const paths = placing.value(stamp);
  const refusal = await refuseTargets(world, ground, paths, {
    source: pair,
    owner: undefined,
    mayExist: () => force,
  });
  if (refusal !== undefined) return err(refusal);
  const copy = (half: Half, document: Sections): string =>
    withPointer(half, printSections(document), pointerFrom(half, paths));
  const texts = { handover: copy('handover', handover), session_state: copy('session_state', state) };
  const faults = [...faultsIn('handover', texts.handover), ...faultsIn('session_state', texts.session_state)];
  if (faults.length > 0) return err(refuseUnsound(faults));
  const files = [
    { path: paths.handover ?? '', text: texts.handover },
    { path: paths.sessionState, text: texts.session_state },
  ];
  return orderFiles(world, ground, files, force, { session: null, ...answerOf(ground, stamp, pair, paths) });
};

const answerOf = ({ look }: Ground, stamp: string, source: PairPaths, paths: PairPaths): JsonObject => ({
  docs_root: look.root,
  timestamp: stamp,
  ...pairToJson(look.root, paths),
  source: pairToJson(look.root, source),
});

/** A pair as answers name it. */
export const pairToJson = (root: string, { handover, sessionState }: PairPaths): JsonObject => ({
  handover: handover === null ? null : `${root}/${handover}`,
  session_state: `${root}/${sessionState}`,
});
