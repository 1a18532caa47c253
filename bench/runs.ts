import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStint, type Stint } from '../src/index.ts';
import { decideCommand } from '../src/kernel/lifecycle.ts';
import type { Folded, Kind, KindCommand } from '../src/kernel/kind.ts';
import type { Store } from '../src/kernel/ports.ts';
import { kind } from '../src/kinds/run/index.ts';
import { ok } from '../src/lib/result.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { command, makeBed, takePairs, timeNode, timeRow, type Bed, type Row } from './measure.ts';

const key = 'run:bench';
const sizes = { big: 5000, small: 50 } as const;
type Size = keyof typeof sizes;

/** The end of a node in a chain of 5,000 against one in a chain of 50: as a commit, with and without mirrors, and as a process. */
export const measureRuns = async (folder: string, runs: number): Promise<readonly Row[]> => {
  // Every node is ended once: more runs than the small chain has nodes are none.
  const most = Math.min(runs, sizes.small - 5);
  const what = `complete in a run of ${sizes.big.toLocaleString('en')} nodes`;
  const against = `of ${sizes.small}`;
  const rows: Row[] = [];
  for (const [name, used, budget] of [
    ['commit without mirrors', withoutMirrors(kind), 2],
    ['commit with the digests of its mirrors', kind, undefined],
  ] as const) {
    const [big, small] = await pairOf(folder, name, (bed) => openCommits(bed, used));
    const pairs = await takePairs(most, big.time, small.time);
    await big.close();
    await small.close();
    rows.push(timeRow(`${what}: ${name}`, pairs, against, budget));
  }
  for (const [name, budget] of [
    ['in process', undefined],
    ['whole process', undefined],
  ] as const) {
    const [big, small] = await pairOf(folder, name, (bed) => openVerbs(bed, name === 'whole process'));
    const pairs = await takePairs(most, big.time, small.time);
    await big.close();
    await small.close();
    rows.push(timeRow(`${what}: ${name}`, pairs, against, budget));
  }
  return rows;
};

/** Something that ends the next node and answers how long that took. */
interface Side {
  readonly time: () => Promise<number>;
  readonly close: () => Promise<void>;
}

const pairOf = async (
  folder: string,
  name: string,
  open: (bed: Bed) => Promise<Side>,
): Promise<readonly [big: Side, small: Side]> => {
  const sideOf = async (size: Size): Promise<Side> =>
    open(await makeRun(makeBed(join(folder, `${name} ${size}`.replaceAll(' ', '-'))), sizes[size]));
  return [await sideOf('big'), await sideOf('small')];
};

/** A project with a run whose nodes are a chain. */
const makeRun = async (bed: Bed, count: number): Promise<Bed> => {
  const ids = Array.from({ length: count }, (_, number) => nodeAt(number));
  const template = {
    template_id: 'wft-bench',
    name: 'Bench',
    context_schema: { goal: { type: 'string', required: true } },
    nodes: ids.map((id) => ({ id, type: 'command', executor: 'work', args_template: `{goal} in ${id}` })),
    edges: ids.slice(1).map((to, at) => ({ from: nodeAt(at), to })),
  };
  writeFileSync(join(bed.project, 'chain.json'), JSON.stringify(template));
  const stint = open(bed);
  await ask(stint, 'run', { template: './chain.json', context: ['goal=speed'], name: 'bench' });
  await stint.close();
  return bed;
};

const nodeAt = (number: number): string => `N-${String(number).padStart(4, '0')}`;

const open = (bed: Bed): Stint => {
  const stint = openStint({ cwd: bed.project, actor: 'bench' });
  if (!stint.ok) throw new Error(stint.error.message);
  return stint.value;
};

const ask = async (stint: Stint, ...call: Parameters<Stint['run']>) => {
  const answer = await stint.run(...call);
  if (!answer.ok) throw new Error(answer.error.refusal.message);
  return answer.value;
};

/** Ends nodes by the store's commit alone, with the decision of the kind and nothing else of the verb. */
const openCommits = async ({ project }: Bed, used: Kind): Promise<Side> => {
  const store = openSqliteStore(join(project, '.stint/stint.db'), new Map([['run', used]]), { create: false });
  let [number, token] = [0, Date.now()];
  return {
    time: async () => {
      const step = nodeAt(number);
      number += 1;
      token += 1;
      const times = { claimed_at: new Date().toISOString(), expires_at: '2100-01-01T00:00:00.000Z' };
      await commit(store, { type: 'claim-step', step, attempt: 1, token, holder: { actor: 'bench' }, ...times });
      const end: KindCommand = { type: 'end-step', step, attempt: 1, token, outcome: 'completed' };
      const start = performance.now();
      await commit(store, { ...end, result: { output: 'it is done' }, digest: step });
      return performance.now() - start;
    },
    close: async () => store.close(),
  };
};

let requests = 0;

const commit = async (store: Store, asked: KindCommand): Promise<void> => {
  requests += 1;
  const id = `bench-${requests}`;
  const outcome = await store.commit({
    keys: [key],
    guards: [],
    origin: { now: new Date().toISOString(), actor: 'bench', place: 'bench', cause: id },
    request: { id, given: false, verb: 'bench', digest: '' },
    expectRevision: undefined,
    dryRun: false,
    journalOnly: false,
    decide: (sessions) => {
      const session = sessions.get(key);
      if (session === undefined) throw new Error(`${key} was not loaded`);
      const decided = decideCommand(session, asked);
      return decided.ok ? ok(new Map([[key, decided.value]])) : decided;
    },
    answer: () => ({}),
  });
  if (!outcome.ok) throw new Error(outcome.error.message);
};

/** The verb, within this process or as one of its own. */
const openVerbs = async (bed: Bed, isProcess: boolean): Promise<Side> => {
  const stint = open(bed);
  return {
    time: async () => {
      const { steps } = await ask(stint, 'next', { claim: true, session: key });
      const [step] = Array.isArray(steps) ? steps : [];
      if (typeof step !== 'object' || step === null || !('token' in step)) throw new Error('nothing was handed out');
      const { id, token } = step;
      if (isProcess) {
        const flags = ['--token', String(token), '--output', 'it is done', '--session', key];
        return timeNode(bed, [command, 'complete', String(id), ...flags]);
      }
      const start = performance.now();
      await ask(stint, 'complete', { step: id ?? null, token: token ?? null, output: 'it is done', session: key });
      return performance.now() - start;
    },
    close: async () => stint.close(),
  };
};

/** The kind without its mirrors. */
const withoutMirrors = (whole: Kind): Kind => {
  const strip = (folded: Folded): Folded => ({
    ...folded,
    apply: (event) => {
      const applied = folded.apply(event);
      return applied.ok ? ok(strip(applied.value)) : applied;
    },
    mirrors: () => [],
  });
  return { ...whole, empty: strip(whole.empty), thaw: (snapshot) => strip(whole.thaw(snapshot)) };
};
