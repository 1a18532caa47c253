import { join } from 'node:path';
import { openStint, type Stint } from '../src/index.ts';
import { decideBegin, decideCommand } from '../src/kernel/lifecycle.ts';
import { kernelEvent, type NewEvent } from '../src/kernel/event.ts';
import { entryTypes } from '../src/kernel/journal.ts';
import type { Refusal } from '../src/kernel/refusal.ts';
import type { Session } from '../src/kernel/session.ts';
import { kinds } from '../src/kinds/registry.gen.ts';
import type { Store } from '../src/kernel/ports.ts';
import type { JsonObject } from '../src/lib/canonical-json.ts';
import { ok, type Result } from '../src/lib/result.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { command, makeBed, median, milliseconds, reviewMoves, takePairs, timeNode, timeRow } from './measure.ts';
import type { Bed, Row } from './measure.ts';

/** `status` of a session with many events against one with few: as whole processes, and within one. */
export const measureStatus = async (folder: string, events: number, runs: number): Promise<readonly Row[]> => {
  const big = await makeSession(makeBed(join(folder, 'big')), events);
  const small = await makeSession(makeBed(join(folder, 'small')), 10);
  const what = `status of ${events.toLocaleString('en')} events`;
  const against = 'of 10 events';
  const whole = await takePairs(
    runs,
    () => timeNode(big, [command, 'status']),
    () => timeNode(small, [command, 'status']),
  );
  const bigStint = openBed(big);
  const smallStint = openBed(small);
  const within = await takePairs(
    runs * 5,
    () => timeVerb(bigStint, 'status', {}),
    () => timeVerb(smallStint, 'status', {}),
  );
  await bigStint.close();
  await smallStint.close();
  return [timeRow(`${what}: whole process`, whole, against, 1.5), timeRow(`${what}: in process`, within, against, 1.5)];
};

/** `list` of many sessions within one process. */
export const measureList = async (folder: string, sessions: number, runs: number): Promise<readonly Row[]> => {
  const bed = makeBed(folder);
  await makeSessions(bed, sessions);
  const stint = openBed(bed);
  const { measured, against } = await takePairs(
    runs,
    () => timeVerb(stint, 'list', {}),
    () => timeVerb(stint, 'list', { all: true }),
  );
  await stint.close();
  return [['list', measured] as const, ['list --all', against] as const].map(([verb, times]) => ({
    what: `${verb} of ${sessions.toLocaleString('en')} sessions: in process`,
    measured: milliseconds(median(times)),
    against: `${milliseconds(Math.max(...times))} the slowest`,
    ratio: null,
    pairwise: null,
    budget: '<= 50 ms',
    met: median(times) <= 50,
  }));
};

/** The library over the store of a bed. */
export const openBed = (bed: Bed): Stint => {
  const stint = openStint({ cwd: bed.project, actor: 'bench' });
  if (!stint.ok) throw new Error(stint.error.message);
  return stint.value;
};

/** The milliseconds that a verb takes in this process. */
export const timeVerb = async (stint: Stint, verb: string, input: JsonObject): Promise<number> => {
  const start = performance.now();
  const answer = await stint.run(verb, input);
  const time = performance.now() - start;
  if (!answer.ok) throw new Error(answer.error.refusal.message);
  return time;
};

/** Every seventh move ends in the first phase: sessions of both sizes stand at the same place. */
const movesOf = (events: number): number => (events < 1000 ? 7 : 301);

/** Makes an open session with so many events: rounds through all phases, and remarks between the moves. */
export const makeSession = async (bed: Bed, events: number): Promise<Bed> => {
  const { store, place, key } = await openStore(bed);
  const moves = movesOf(events);
  const move = reviewMoves();
  let left = events - 2 - moves;
  for (let at = 0; at < moves; at += 1) {
    const order = { type: 'advance', ...move.next().value };
    const remarks = Math.ceil(left / (moves - at));
    left -= remarks;
    await commit(store, place, [key], (session) => {
      const moved = decideCommand(session, order);
      if (!moved.ok) return moved;
      return ok([...moved.value, ...Array.from({ length: remarks }, (_, number) => remark(at, number))]);
    });
  }
  await store.close();
  return bed;
};

const remark = (move: number, number: number): NewEvent => ({
  type: 'Noted',
  v: 1,
  data: { text: `remark ${number} after move ${move}: the second reviewer waits for the build` },
});

/** Makes an open session with so many entries in its journal, of every type in turn, whose texts are as long as people write. */
export const makeJournal = async (bed: Bed, entries: number): Promise<Bed> => {
  const { store, place, key } = await openStore(bed);
  for (let at = 0; at < entries; at += 5000) {
    await commit(store, place, [key], () =>
      ok(Array.from({ length: Math.min(5000, entries - at) }, (_, index) => entry(at + index))),
    );
  }
  await store.close();
  return bed;
};

const entry = (number: number): NewEvent =>
  kernelEvent('Noted', {
    entry: entryTypes[number % entryTypes.length] ?? 'remark',
    text: `entry ${number}: the second reviewer waits for the build, and the cache is kept`,
    path: `src/part-${number % 100}.ts`,
  });

/** Makes so many open sessions, a few hundred in each commit. */
const makeSessions = async (bed: Bed, sessions: number): Promise<void> => {
  const { store, place } = await openStore(bed);
  const keys = Array.from({ length: sessions - 1 }, (_, number) => `review:change-${number}`);
  for (let at = 0; at < keys.length; at += 500) {
    await commit(store, place, keys.slice(at, at + 500), (session) =>
      decideBegin(session, { branch: session.key.slice('review:'.length), worktree: 'main' }),
    );
  }
  await store.close();
};

/** The store of a project in which a first session was begun, and the id of its place. */
const openStore = async (
  bed: Bed,
): Promise<{ readonly store: Store; readonly place: string; readonly key: string }> => {
  const stint = openBed(bed);
  const begun = await stint.run('begin', { kind: 'review', name: 'bench' });
  if (!begun.ok) throw new Error(begun.error.refusal.message);
  await stint.close();
  const path = join(bed.project, '.stint/stint.db');
  const store = openSqliteStore(path, new Map(kinds.map((kind) => [kind.name, kind])), { create: false });
  const key = 'review:bench';
  const row = (await store.rows({ name: 'bench' }))[0];
  if (row === undefined) throw new Error(`${key} was not begun`);
  return { store, place: row.place, key };
};

let requests = 0;

const commit = async (
  store: Store,
  place: string,
  keys: readonly string[],
  decide: (session: Session) => Result<readonly NewEvent[], Refusal>,
): Promise<void> => {
  requests += 1;
  const id = `bench-${requests}`;
  const outcome = await store.commit({
    keys,
    guards: [],
    origin: { now: new Date().toISOString(), actor: 'bench', place, cause: id },
    request: { id, given: false, verb: 'bench', digest: '' },
    expectRevision: undefined,
    dryRun: false,
    journalOnly: false,
    decide: (sessions) => {
      const decided = new Map<string, readonly NewEvent[]>();
      for (const [key, session] of sessions) {
        const events = decide(session);
        if (!events.ok) return events;
        decided.set(key, events.value);
      }
      return ok(decided);
    },
    answer: () => ({}),
  });
  if (!outcome.ok) throw new Error(outcome.error.message);
};
