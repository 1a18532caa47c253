import type { Order } from '../../kernel/dispatch.ts';
import { objectsAt, textAt } from '../../kernel/answer.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { auditToJson } from './audit.ts';
import { isBlank } from './clean.ts';
import { handover, readDocument, sessionState, valueOf } from './document.ts';
import { describedSession, documentsOf, groundOf, liveTarget, type Ground } from './live.ts';
import { mostBytes, refuseText, type Whereabouts } from './look.ts';
import { halves, pointerFrom, printStanding, type Half, type PairPaths } from './print.ts';
import { orderReconciled } from './reconciling.ts';
import { recordedInstead, type Lying } from './recorded.ts';
import type { SeenPair } from './seen.ts';
import { pathsOf } from './stamps.ts';
import { examinePair } from './summary.ts';
import { withPointer } from './superseded.ts';
import { currentPath, examine, locateLive, stampIn, stampsIn, withTexts, type Look, type Pair } from './workspace.ts';
import type { Signed } from './write.ts';

/** Documents are put right, as far as that needs no guess. */

/** The order that does it, with the audit of what is there then. */
export const orderRepair = async (
  world: World,
  input: Whereabouts & Signed,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const ground = await groundOf(world, input);
  if (!ground.ok) return ground;
  const { look, root } = ground.value;
  const session = await describedSession(world, root);
  const archived = await archivedRepairs(world, ground.value, session);
  const files = new Map(archived.flatMap((one) => one.texts));
  // A file of the pair that is gone is written behind every verb that writes its session.
  const gone = session === undefined ? new Map<string, string>() : await goneHalves(world, session);
  const seen = withTexts(look, gone);
  const pair = locateLive(seen);
  const reports = (texts: ReadonlyMap<string, string>, told: JsonObject): JsonObject => {
    const audit = auditToJson(withTexts(seen, new Map([...files, ...texts])), world.caller.now);
    return {
      docs_root: look.root,
      result: audit['result'] ?? 'error',
      active_pair: pair === undefined ? null : { ...pairToJson(look, pair), ...told },
      repairs: {
        snapshot_pairs_repaired: [...new Set(archived.map(({ stamp }) => stamp))],
        notes: notesOf(audit),
      },
      audit,
    };
  };
  const live = await orderLive(world, { ...ground.value, look: seen }, pair, input, {
    report: reports,
    written: gone.size === 0 ? undefined : session,
  });
  if (!live.ok) return live;
  return ok(
    files.size === 0 ? live.value : { ...live.value, work: async () => writeAll(world, look, files, live.value) },
  );
};

/** The halves of the pair of a session that are not there, as they are to be. */
const goneHalves = async (world: World, session: OpenedSession): Promise<ReadonlyMap<string, string>> => {
  const { bases, found } = (await world.documents(session)).leave(session).pair as SeenPair;
  return new Map(
    documentsOf(session)
      .filter(([half]) => found[half].text === undefined && found[half].problem === undefined)
      .map(([half, path]) => [path, printStanding(session, half, bases[half])]),
  );
};

const pairToJson = (look: Look, { handover: transfer, sessionState: state, source }: Pair): JsonObject => ({
  source,
  handover: `${look.root}/${transfer}`,
  session_state: `${look.root}/${state}`,
});

/** What is left to somebody who knows. */
const notesOf = (audit: JsonObject): readonly string[] =>
  objectsAt(audit, 'findings').map((finding) => `${textAt(finding, 'file')}: ${textAt(finding, 'remedy')}`);

/** The pair that is worked on: one account of it, where it is not sound. */
const orderLive = async (
  world: World,
  ground: Ground,
  pair: Pair | undefined,
  input: Signed,
  {
    report,
    written,
  }: {
    readonly report: (texts: ReadonlyMap<string, string>, told: JsonObject) => JsonObject;
    /** The session of which files are gone. */
    readonly written: OpenedSession | undefined;
  },
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const isLive = pair?.sessionState === currentPath;
  const isBroken = pair !== undefined && isLive && examinePair(ground.look, pair).findings.length > 0;
  const said = (name: string): string =>
    pair === undefined ? 'None' : valueOf(readDocument(sessionState, textOf(ground.look, pair.sessionState)), name);
  const left = {
    keys: [],
    decide: () => ok(new Map()),
    answer: () => ({
      ...(written === undefined ? {} : { session: written.key }),
      ...report(new Map(), {
        status: said('Status'),
        next_owner: said('Next owner'),
        changed: written !== undefined,
      }),
    }),
  };
  // What cannot be read, or holds what a merge has left, stays a finding.
  if (!isBroken || !isWorkable(ground.look, pair)) return ok(left);
  const target = await liveTarget(world, ground);
  if (!target.ok) return ok(left);
  return ok(
    orderReconciled(world, target.value, input, (told, texts) =>
      report(texts, { status: told['status'] ?? null, next_owner: told['next_owner'] ?? null, changed: true }),
    ),
  );
};

const isWorkable = ({ read }: Look, pair: Pair): boolean =>
  (
    [
      [handover, pair.handover],
      [sessionState, pair.sessionState],
    ] as const
  ).every(([kind, path]) => {
    const text = read(path);
    return text.ok ? refuseText(kind, path, text.value) === undefined : text.error.isMissing;
  });

const textOf = ({ read }: Look, path: string): string => {
  const text = read(path);
  return text.ok ? text.value : '';
};

const writeAll = async (
  world: World,
  { root }: Look,
  files: ReadonlyMap<string, string>,
  order: Order<JsonObject>,
): Promise<Result<{ readonly order: Order<JsonObject>; readonly at: string }, Refusal>> => {
  const project = await world.project();
  for (const [path, text] of files) {
    const problem = project.write(root, path, text);
    if (problem !== undefined)
      return err(refuse('invariant-unmet', `${root}/${path} ${problem}.`, { expected: 'a file that may be written' }));
  }
  return ok({ order, at: world.caller.now });
};

/** A pair that was archived and is put right: its texts by their paths. */
interface ArchivedRepair {
  readonly stamp: string;
  readonly texts: readonly (readonly [path: string, text: string])[];
}

/**
 * The pairs of which a half is on record and is gone, or an older version that version control has brought; and those whose
 * halves do not name each other, where that is all that is wrong.
 */
const archivedRepairs = async (
  world: World,
  ground: Ground,
  session: OpenedSession | undefined,
): Promise<readonly ArchivedRepair[]> => {
  const { look, root } = ground;
  const own = (session?.common.archivedPairs ?? []).filter((pair) => pair.root === root);
  const stamps = new Set([
    ...stampsIn(look),
    ...own.flatMap(({ handover: transfer, sessionState: state, superseded }) =>
      [transfer, state, superseded].flatMap((path) => (path === null ? [] : (stampIn(path) ?? []))),
    ),
  ]);
  const repairs: ArchivedRepair[] = [];
  for (const stamp of stamps) {
    const texts = await archivedRepair(world, ground, stamp);
    if (texts.length > 0) repairs.push({ stamp, texts });
  }
  return repairs;
};

const archivedRepair = async (
  world: World,
  { look, root }: Ground,
  stamp: string,
): Promise<ArchivedRepair['texts']> => {
  const project = await world.project();
  const paths = pathsOf(stamp);
  const lying = (['handover', 'session_state'] as const).map((half): Lying & { readonly isRead: boolean } => {
    const path = half === 'handover' ? paths.handover : paths.sessionState;
    const read = project.whole(look.root, path, mostBytes);
    const isGone = read.ok ? isBlank(read.value) : read.error.isMissing;
    return { half, path, text: read.ok && !isGone ? read.value : undefined, isRead: read.ok || isGone };
  });
  // What cannot be read is not written over.
  const instead = await recordedInstead(
    world,
    root,
    lying.filter(({ isRead }) => isRead),
  );
  const there = lying.flatMap(({ half, path, text: lies }) => {
    const text = instead.get(path) ?? lies;
    return text === undefined ? [] : [{ half, path, text, isRecorded: instead.has(path) }];
  });
  const recorded = [...instead];
  if (there.length < 2) return recorded;
  const repaired = there.map(({ half, path, text }) => [path, repairedHalf(half, text, paths)] as const);
  const after = withTexts(look, new Map(repaired));
  const isSound =
    examine(after, handover, paths.handover).findings.length === 0 &&
    examine(after, sessionState, paths.sessionState).findings.length === 0;
  return isSound
    ? repaired.filter(([, text], at) => there[at]?.isRecorded === true || text !== there[at]?.text)
    : recorded;
};

/** A half that names the other one; of what is done the handover need name none. */
const repairedHalf = (half: Half, text: string, paths: PairPaths): string => {
  const wanted = pointerFrom(half, paths);
  const document = readDocument(halves[half], text);
  const named = valueOf(document, halves[half].pointer);
  return named === wanted ? text : withPointer(half, text, wanted);
};
