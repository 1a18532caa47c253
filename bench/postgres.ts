import pg from 'pg';
import { startServer } from '../test/support/postgres.ts';
import { kinds } from '../src/kinds/registry.gen.ts';
import type { Json } from '../src/lib/canonical-json.ts';
import { openStint, type Stint } from '../src/postgres.ts';
import { readAddress } from '../src/store/postgres/address.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { noteInto } from './commits.ts';
import { bare, command, makeBed, median, takePairs, timeNode, timeRow, type Bed, type Row } from './measure.ts';

/** Budget of DESIGN for a verb as a whole process, as a multiple of a bare Node. */
const budget = 2.2;

/**
 * A store on a PostgreSQL server that syncs: verbs as whole processes, commits of one remark against the statements that they
 * consist of, sent by hand in one transaction, and writers side by side on sessions of their own.
 */
export const measurePostgres = async (folder: string, runs: number, size: number): Promise<readonly Row[]> => {
  const server = await startServer({ fsync: true });
  try {
    const made = makeBed(folder);
    const named = { STINT_STORE: server.url, STINT_PROJECT: 'bench' };
    const bed = { ...made, env: { ...made.env, ...named } };
    timeNode(bed, [command, 'begin', 'review', '--name', 'bench']);
    const rows: Row[] = [];
    for (const verb of [['note', 'the second reviewer waits for the build'], ['status']]) {
      const pairs = await takePairs(
        runs,
        () => timeNode(bed, [command, ...verb]),
        () => timeNode(bed, bare),
        5000,
      );
      rows.push(timeRow(`${verb[0]} on a server: whole process`, pairs, 'bare node', budget));
    }
    const stint = await openAt(bed, server.url);
    rows.push(
      ...(await measureCommit(stint, server.url, size)),
      ...(await measureWritersThere(stint, bed, server.url, size)),
    );
    await stint.close();
    return rows;
  } finally {
    await server.remove();
  }
};

const openAt = async ({ project }: Bed, store: string): Promise<Stint> => {
  const opened = await openStint({ cwd: project, actor: 'bench', store, project: 'bench' });
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
};

const note = async (stint: Stint, session: string): Promise<void> => {
  const noted = await stint.run('note', { text: 'the second reviewer waits for the build', session });
  if (!noted.ok) throw new Error(noted.error.refusal.message);
};

/** A statement as it was sent. */
interface Sent {
  readonly text: string;
  readonly values: Json[];
}

/** The statement that appends an event, with its columns. */
const appending = /^INSERT INTO \S*event \(([^)]*)\)/;

/** What one remark sends, from BEGIN to COMMIT, found out by watching the driver. */
const recordNote = async (stint: Stint): Promise<readonly Sent[]> => {
  const sent: Sent[] = [];
  const own = Object.getOwnPropertyDescriptor(pg.Client.prototype, 'query');
  const query: unknown = own?.value;
  if (own === undefined || typeof query !== 'function') throw new Error('this driver cannot be watched');
  const watched = function watch(this: pg.Client, ...parameters: unknown[]): unknown {
    const [text, values] = parameters;
    if (typeof text === 'string') sent.push({ text, values: Array.isArray(values) ? [...values] : [] });
    else if (typeof text === 'object' && text !== null && 'text' in text)
      sent.push({
        text: String(text.text),
        values: 'values' in text && Array.isArray(text.values) ? [...text.values] : [],
      });
    return Reflect.apply(query, this, parameters);
  };
  Object.defineProperty(pg.Client.prototype, 'query', { ...own, value: watched });
  try {
    await note(stint, 'bench');
  } finally {
    Object.defineProperty(pg.Client.prototype, 'query', own);
  }
  const insert = sent.findIndex(({ text }) => appending.test(text));
  const begin = sent.slice(0, insert).findLastIndex(({ text }) => text.startsWith('BEGIN'));
  const end = sent.findIndex(({ text }, index) => index > insert && text === 'COMMIT');
  if (begin < 0 || end < 0) throw new Error('no commit was recorded');
  return sent.slice(begin, end + 1);
};

/** Commits of one remark through the library against the same statements by hand, in turns. */
const measureCommit = async (stint: Stint, url: string, size: number): Promise<readonly Row[]> => {
  const address = readAddress(url, 'bench');
  if (!address.ok) throw new Error(address.error.message);
  const known = new Map(kinds.map((kind) => [kind.name, kind]));
  const opened = await openPostgresStore(address.value, known, { create: false });
  if (opened === undefined) throw new Error('there is no store');
  const { store } = opened;
  for (const name of ['library', 'store']) await stint.run('begin', { kind: 'review', name });
  await note(stint, 'bench');
  const statements = await recordNote(stint);
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  const seqAt = (text: string): number => appending.exec(text)?.[1]?.split(', ').indexOf('seq') ?? -1;
  // By hand the log of another session than the library's grows, with numbers far above its own.
  let seq = 1_000_000;
  const byHand = async (): Promise<void> => {
    seq += 1;
    for (const { text, values } of statements) {
      const at = seqAt(text);
      await client.query(text, at < 0 ? values : values.with(at, seq));
    }
  };
  const sides = {
    library: { commit: async () => note(stint, 'library'), times: [] as number[] },
    store: { commit: async () => noteInto(store, 'review:store'), times: [] as number[] },
    hand: { commit: byHand, times: [] as number[] },
  };
  const block = 25;
  for (let run = 0; run <= size / block; run += 1) {
    const order = Object.values(sides);
    for (const { commit, times } of run % 2 === 0 ? order : order.toReversed()) {
      const start = performance.now();
      for (let count = 0; count < block; count += 1) await commit();
      if (run > 0) times.push((1000 * block) / (performance.now() - start));
    }
  }
  await client.end();
  await store.close();
  const hand = sides.hand.times;
  return (['library', 'store'] as const).map((name) => {
    const { times } = sides[name];
    const ratio = median(times) / median(hand);
    return {
      what: `commits on a server, through the ${name === 'store' ? 'store alone' : 'library'}: throughput`,
      measured: `${Math.round(median(times))}/s`,
      against: `${Math.round(median(hand))}/s the same statements by hand`,
      ratio,
      pairwise: median(times.map((value, index) => value / (hand[index] ?? Number.NaN))),
      // Through the library there is a look for the session before, and one for mirrors after it.
      budget: name === 'store' ? '>= 0.85x' : '',
      met: name === 'store' ? ratio >= 0.85 : null,
    };
  });
};

/** Remarks a second of 1, 2, 4 and 8 writers, each on a session and a connection of its own. */
const measureWritersThere = async (stint: Stint, bed: Bed, url: string, size: number): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  let alone = Number.NaN;
  for (const writers of [1, 2, 4, 8]) {
    const hands: Stint[] = [];
    for (let writer = 0; writer < writers; writer += 1) {
      await stint.run('begin', { kind: 'review', name: `w-${writer}` });
      hands.push(await openAt(bed, `${url}?application_name=w${writer}`));
    }
    const each = Math.ceil(size / writers);
    const start = performance.now();
    await Promise.all(
      hands.map(async (hand, writer) => {
        for (let count = 0; count < each; count += 1) await note(hand, `w-${writer}`);
      }),
    );
    const throughput = (1000 * each * writers) / (performance.now() - start);
    if (writers === 1) alone = throughput;
    for (const hand of hands) await hand.close();
    rows.push({
      what: `${writers} ${writers === 1 ? 'writer' : 'writers'} on a server: throughput`,
      measured: `${Math.round(throughput)}/s`,
      against: writers === 1 ? '' : `${Math.round(alone)}/s one writer`,
      ratio: writers === 1 ? null : throughput / alone,
      pairwise: null,
      budget: '',
      met: null,
    });
  }
  return rows;
};
