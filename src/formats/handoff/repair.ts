import type { Order } from '../../kernel/dispatch.ts';
import { objectsAt, textAt } from '../../kernel/answer.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { auditToJson } from './audit.ts';
import { handover, readDocument, sessionState, valueOf } from './document.ts';
import { groundOf, liveTarget, type Ground } from './live.ts';
import { mostBytes, refuseText, type Whereabouts } from './look.ts';
import { halves, pointerFrom, type Half, type PairPaths } from './print.ts';
import { orderReconciled } from './reconciling.ts';
import { pathsOf } from './stamps.ts';
import { examinePair } from './summary.ts';
import { withPointer } from './superseded.ts';
import { currentPath, examine, locateLive, stampIn, withTexts, type Look, type Pair } from './workspace.ts';
import type { Signed } from './write.ts';

/** Documents are put right, as far as that needs no guess. */

/** The order that does it, with the audit of what is there then. */
export const orderRepair = async (
  world: World,
  input: Whereabouts & Signed,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const ground = await groundOf(world, input);
  if (!ground.ok) return ground;
  const { look } = ground.value;
  const archived = await archivedRepairs(world, ground.value);
  const files = new Map(archived.flatMap((one) => one.texts));
  const pair = locateLive(look);
  const reports = (texts: ReadonlyMap<string, string>, told: JsonObject): JsonObject => {
    const audit = auditToJson(withTexts(look, new Map([...files, ...texts])), world.caller.now);
    return {
      docs_root: look.root,
      result: audit['result'] ?? 'error',
      active_pair: pair === undefined ? null : { ...pairToJson(look, pair), ...told },
      repairs: {
        snapshot_pairs_repaired: archived.filter(({ isSound }) => isSound).map(({ stamp }) => stamp),
        notes: notesOf(audit),
      },
      audit,
    };
  };
  const live = await orderLive(world, ground.value, pair, input, reports);
  if (!live.ok) return live;
  return ok(
    files.size === 0 ? live.value : { ...live.value, work: async () => writeAll(world, look, files, live.value) },
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
  report: (texts: ReadonlyMap<string, string>, told: JsonObject) => JsonObject,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const isLive = pair?.sessionState === currentPath;
  const isBroken = pair !== undefined && isLive && examinePair(ground.look, pair).findings.length > 0;
  const said = (name: string): string =>
    pair === undefined ? 'None' : valueOf(readDocument(sessionState, textOf(ground.look, pair.sessionState)), name);
  const left = {
    keys: [],
    decide: () => ok(new Map()),
    answer: () => report(new Map(), { status: said('Status'), next_owner: said('Next owner'), changed: false }),
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
  readonly texts: readonly (readonly [string, string])[];
  readonly isSound: boolean;
}

/** The pairs under one stamp whose halves do not name each other, where that is all that is to be done. */
const archivedRepairs = async (world: World, { look }: Ground): Promise<readonly ArchivedRepair[]> => {
  const project = await world.project();
  const states = new Set(look.list('session-state'));
  const stamps = look.list('handovers').flatMap((name) => stampIn(name) ?? []);
  return stamps
    .filter((stamp) => states.has(`${stamp}_session-state.md`))
    .flatMap((stamp) => {
      const paths = pathsOf(stamp);
      const repaired = (['handover', 'session_state'] as const).flatMap((half) => {
        const path = half === 'handover' ? paths.handover : paths.sessionState;
        const text = project.whole(look.root, path, mostBytes);
        return text.ok ? [[path, text.value, repairedHalf(half, text.value, paths)] as const] : [];
      });
      const changed = repaired.filter(([, before, after]) => before !== after);
      if (changed.length === 0) return [];
      const texts = changed.map(([path, , after]) => [path, after] as const);
      const after = withTexts(look, new Map(texts));
      const isSound =
        examine(after, handover, paths.handover).findings.length === 0 &&
        examine(after, sessionState, paths.sessionState).findings.length === 0;
      return isSound ? [{ stamp, texts, isSound }] : [];
    });
};

/** A half that names the other one; of what is done the handover need name none. */
const repairedHalf = (half: Half, text: string, paths: PairPaths): string => {
  const wanted = pointerFrom(half, paths);
  const document = readDocument(halves[half], text);
  const named = valueOf(document, halves[half].pointer);
  return named === wanted ? text : withPointer(half, text, wanted);
};
