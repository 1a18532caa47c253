import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { DatabaseSync, StatementSync, type SQLInputValue } from 'node:sqlite';
import { join } from 'node:path';
import { openStint, type Stint } from '../src/index.ts';
import { decideNote } from '../src/kernel/lifecycle.ts';
import type { Store } from '../src/kernel/ports.ts';
import { kinds } from '../src/kinds/registry.gen.ts';
import { ok } from '../src/lib/result.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { makeBed, median, milliseconds, percentile, type Row } from './measure.ts';

const remark = 'the second reviewer waits for the build';
const key = 'review:bench';

/**
 * Commits of one remark each, one after the other in one process: through the library, through the store alone, and as the
 * statements that the program runs for it, recorded and run again on a connection of node:sqlite with full sync.
 */
export const measureCommits = async (folder: string, size: number): Promise<readonly Row[]> => {
  const library = await openBed(join(folder, 'library'));
  const stored = await openBed(join(folder, 'store'));
  await stored.stint.close();
  const store = openSqliteStore(stored.path, new Map(kinds.map((kind) => [kind.name, kind])), { create: false });
  const again = await openBed(join(folder, 'raw'));
  const statements = await recordNote(again.stint);
  await again.stint.close();
  const raw = openRaw(again.path, statements);

  const sides = {
    raw: { commit: raw.commit, latencies: [] as number[], throughputs: [] as number[] },
    library: { commit: async () => noteThrough(library.stint), latencies: [] as number[], throughputs: [] as number[] },
    store: { commit: async () => noteInto(store, key), latencies: [] as number[], throughputs: [] as number[] },
  };
  const block = 50;
  for (let run = 0; run <= size / block; run += 1) {
    const order = Object.values(sides);
    for (const side of run % 2 === 0 ? order : order.toReversed()) {
      const start = performance.now();
      const latencies: number[] = [];
      for (let commit = 0; commit < block; commit += 1) {
        const before = performance.now();
        await side.commit();
        latencies.push(performance.now() - before);
      }
      // The first block of each warms it up.
      if (run === 0) continue;
      side.latencies.push(...latencies);
      side.throughputs.push((1000 * block) / (performance.now() - start));
    }
  }
  const syncs = timeSyncs(folder, 100);
  raw.close();
  await library.stint.close();
  await store.close();

  const perSecond = ({ throughputs }: (typeof sides)['raw']): string => `${Math.round(median(throughputs))}/s`;
  const sync: Row = {
    what: 'one synced write of 4 KiB, for comparison',
    measured: milliseconds(median(syncs)),
    against: '',
    ratio: null,
    pairwise: null,
    budget: '',
    met: null,
  };
  const rows = (['library', 'store'] as const).flatMap((name): readonly Row[] => {
    const side = sides[name];
    const ratio = median(side.throughputs) / median(sides.raw.throughputs);
    const slowest = percentile(side.latencies, 0.99);
    const what = name === 'library' ? 'commits through the library' : 'commits through the store alone';
    return [
      {
        what: `${what}: throughput`,
        measured: perSecond(side),
        against: `${perSecond(sides.raw)} raw node:sqlite`,
        ratio,
        pairwise: median(side.throughputs.map((value, index) => value / (sides.raw.throughputs[index] ?? Number.NaN))),
        budget: '>= 0.85x',
        met: ratio >= 0.85,
      },
      {
        what: `${what}: p99`,
        measured: milliseconds(slowest),
        against: `${milliseconds(percentile(sides.raw.latencies, 0.99))} raw node:sqlite`,
        ratio: null,
        pairwise: null,
        budget: '<= 10 ms',
        met: slowest <= 10,
      },
    ];
  });
  return [...rows, sync];
};

/** How long the disk takes for one write that is to survive a power cut: no commit can be faster. */
const timeSyncs = (folder: string, count: number): readonly number[] => {
  const file = openSync(join(folder, 'synced'), 'w');
  const bytes = Buffer.alloc(4096);
  try {
    return Array.from({ length: count }, () => {
      const start = performance.now();
      writeSync(file, bytes);
      fdatasyncSync(file);
      return performance.now() - start;
    });
  } finally {
    closeSync(file);
  }
};

const openBed = async (folder: string): Promise<{ readonly stint: Stint; readonly path: string }> => {
  const { project } = makeBed(folder);
  const stint = openStint({ cwd: project, actor: 'bench' });
  if (!stint.ok) throw new Error(stint.error.message);
  const begun = await stint.value.run('begin', { kind: 'review', name: 'bench' });
  if (!begun.ok) throw new Error(begun.error.refusal.message);
  return { stint: stint.value, path: join(project, '.stint/stint.db') };
};

const noteThrough = async (stint: Stint): Promise<void> => {
  const noted = await stint.run('note', { text: remark });
  if (!noted.ok) throw new Error(noted.error.refusal.message);
};

let requests = 0;

/** Commits a remark to a session, without a verb around it. */
export const noteInto = async (store: Store, session: string): Promise<void> => {
  requests += 1;
  const outcome = await store.commit({
    keys: [session],
    guards: [],
    origin: { now: new Date().toISOString(), actor: 'bench', place: 'bench', cause: `bench-${requests}` },
    request: { id: `bench-${requests}`, given: false, verb: 'note', digest: '' },
    expectRevision: undefined,
    dryRun: false,
    journalOnly: true,
    decide: (sessions) => {
      const loaded = sessions.get(session);
      if (loaded === undefined) throw new Error(`${session} was not loaded`);
      const events = decideNote(loaded, remark);
      return events.ok ? ok(new Map([[session, events.value]])) : events;
    },
    answer: () => ({}),
  });
  if (!outcome.ok) throw new Error(outcome.error.message);
};

/** A statement that changes something, with the values that the program gave it. */
interface Recorded {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/** The statements with which a remark changes the store, found out by watching node:sqlite while one is written. */
const recordNote = async (stint: Stint): Promise<readonly Recorded[]> => {
  await noteThrough(stint);
  const recorded: Recorded[] = [];
  const own = Object.getOwnPropertyDescriptor(StatementSync.prototype, 'all');
  const all: unknown = own?.value;
  if (own === undefined || typeof all !== 'function') throw new Error('this node:sqlite cannot be watched');
  Object.defineProperty(StatementSync.prototype, 'all', {
    ...own,
    value(this: StatementSync, ...values: readonly SQLInputValue[]): unknown {
      if (!this.sourceSQL.startsWith('SELECT')) recorded.push({ sql: this.sourceSQL, values });
      return all.apply(this, values);
    },
  });
  try {
    await noteThrough(stint);
  } finally {
    Object.defineProperty(StatementSync.prototype, 'all', own);
  }
  if (!recorded.some(({ sql }) => sql.startsWith('INSERT INTO event'))) throw new Error('no event was recorded');
  return recorded;
};

/** The same statements on a bare connection: each commit is the recorded one with the next number. */
const openRaw = (
  path: string,
  statements: readonly Recorded[],
): { readonly commit: () => void; readonly close: () => void } => {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA synchronous = FULL');
  const prepared = statements.map(({ sql, values }) => {
    const columns = /^INSERT INTO event \(([^)]*)\)/
      .exec(sql)?.[1]
      ?.split(',')
      .map((column) => column.trim());
    return { statement: database.prepare(sql), values: [...values], seqAt: columns?.indexOf('seq') ?? -1 };
  });
  let seq = Math.max(...prepared.map(({ values, seqAt }) => (seqAt < 0 ? 0 : Number(values[seqAt]))));
  return {
    commit: () => {
      seq += 1;
      database.exec('BEGIN IMMEDIATE');
      for (const { statement, values, seqAt } of prepared) {
        if (seqAt >= 0) values[seqAt] = seq;
        statement.run(...values);
      }
      database.exec('COMMIT');
    },
    close: () => database.close(),
  };
};
