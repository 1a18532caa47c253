/**
 * The long campaigns. `node test/soak.ts` runs all of them in full, `--short` in a form for every change; `--seconds N`
 * says how long the mixed work lasts, `--only TEXT` runs those whose name has that text. Exits 1 when anything that must hold does not.
 */
import { parseArgs } from 'node:util';
import {
  completeAtOnce,
  killAtEachStep,
  killFirstBegins,
  killVerbs,
  raceClaims,
  workMixed,
  writeNotes,
  type Step,
} from './support/campaigns.ts';
import { damageStores, killRepairs, repairAtOnce, writeWhileRepaired } from './support/damage.ts';
import { killOrchestrators } from './support/orchestration-campaigns.ts';
import { passAround } from './support/passing.ts';
import { approval, json, reviewIn } from './support/reviews.ts';
import { crowdServer, liveThroughDay } from './support/server-soak.ts';
import { assertSound } from './support/stores.ts';
import { driveThroughKills } from './support/run-campaigns.ts';
import { travelAtLength } from './support/travellers.ts';
import { createWorld, type Tidying } from './support/world.ts';

const { values } = parseArgs({
  options: { short: { type: 'boolean' }, seconds: { type: 'string' }, only: { type: 'string' } },
});
const isShort = values.short === true;
const seconds = Number(values.seconds ?? (isShort ? 5 : 60));
if (!Number.isFinite(seconds) || seconds < 0) {
  process.stderr.write('soak: --seconds takes a number\n');
  process.exit(2);
}

/** One campaign: its name, and what it came to. */
interface Campaign {
  readonly name: string;
  readonly run: (tidying: Tidying) => Promise<string>;
}

const stepped = (from: Parameters<typeof reviewIn>[1] | undefined, step: Step): Campaign => ({
  name: `kill before each change of ${step.args.join(' ')}`,
  run: async (tidying) => {
    const world = from === undefined ? createWorld(tidying) : reviewIn(tidying, from);
    return `${killAtEachStep(tidying, world, step)} kills`;
  },
});

const campaigns: readonly Campaign[] = [
  {
    name: 'kill any verb',
    run: async (tidying) => {
      const { kills, acknowledged, unanswered, committedUnanswered } = await killVerbs(tidying, isShort ? 40 : 500);
      return `${kills} kills: ${unanswered} before the answer, ${committedUnanswered} of them committed; ${acknowledged} acknowledged, none lost`;
    },
  },
  {
    name: 'kill the first verb',
    run: async (tidying) => {
      const { kills, unanswered } = await killFirstBegins(tidying, isShort ? 8 : 100);
      return `${kills} kills: ${unanswered} before the answer`;
    },
  },
  ...(isShort
    ? []
    : [
        stepped(undefined, { args: ['begin', 'review'], types: ['SessionOpened', 'RoundStarted'] }),
        stepped('context', { args: ['advance', 'change-context'], types: ['PhaseEntered'] }),
        stepped('context', { args: ['note', 'a remark'], types: ['Noted'] }),
        stepped('synthesis', { args: ['complete-round', '-'], input: json(approval), types: ['RoundCompleted'] }),
        stepped('complete', { args: ['finish'], types: ['SessionClosed'] }),
        stepped('reviews', {
          args: ['begin', 'review', '--fresh'],
          types: ['SessionClosed', 'SessionOpened', 'RoundStarted'],
        }),
      ]),
  {
    name: 'kill drivers of runs',
    run: async (tidying) => {
      const seed = Date.now() % 1_000_000;
      const { kills, runs, doubts, done, adopted } = await driveThroughKills(tidying, seed, isShort ? 10 : 100);
      return `${kills} kills (seed ${seed}), ${runs} runs: ${doubts} attempts in doubt, ${done} of them done; ${adopted} taken from a driver that was gone; every effect once`;
    },
  },
  {
    name: 'kill orchestrators',
    run: async (tidying) => {
      const seed = Date.now() % 1_000_000;
      const { kills, doubts, done } = await killOrchestrators(tidying, seed, isShort ? 10 : 100);
      return `${kills} kills (seed ${seed}): ${doubts} agents in doubt, ${done} of them done; all work once`;
    },
  },
  {
    name: 'pass a task around',
    run: async (tidying) => {
      const seed = Date.now() % 1_000_000;
      const { passages, kills, conflicts, edits, told } = await passAround(tidying, seed, isShort ? 8 : 50);
      return `${passages} passages (seed ${seed}): ${kills} kills, ${edits} edits by hand, ${conflicts} conflicts of merges; ${told} times documents were told to be other than the log, nothing lost`;
    },
  },
  {
    name: 'write remarks',
    run: async (tidying) => {
      const world = createWorld(tidying);
      const each = isShort ? 15 : 200;
      await writeNotes(world, 8, each);
      assertSound(world);
      return `8 writers x ${each}: ${8 * each} remarks, none lost, none failed`;
    },
  },
  {
    name: 'complete at once',
    run: async (tidying) => {
      const rounds = isShort ? 5 : 20;
      await completeAtOnce(tidying, 8, rounds);
      return `${rounds} rounds x 8 callers: one completion and one answer each`;
    },
  },
  {
    name: 'claim at once',
    run: async (tidying) => {
      const rounds = isShort ? 5 : 200;
      await raceClaims(tidying, 8, rounds);
      return `${rounds} rounds x 8 claimers: one holder each, and seven who were told`;
    },
  },
  {
    name: 'damage at random',
    run: async (tidying) => {
      const seeds = Array.from({ length: isShort ? 12 : 240 }, (_, seed) => seed);
      const { cases, unharmed, whole, flawed, lost, failures } = damageStores(tidying, seeds, (seed) =>
        seed % 8 === 0 ? 'processes' : 'lines',
      );
      if (failures.length > 0) throw new Error(failures.join('\n'));
      return `${cases} stores of 50 sessions: ${unharmed} unharmed, ${whole} whole again, ${flawed} sessions with a gap, ${lost} lost, each told`;
    },
  },
  {
    name: 'kill a repair',
    run: async (tidying) => `${killRepairs(tidying, isShort ? 12 : 1)} kills`,
  },
  {
    name: 'repair at once',
    run: async (tidying) => {
      const times = isShort ? 1 : 10;
      let remarks = 0;
      for (let time = 0; time < times; time += 1) {
        await repairAtOnce(tidying, 8, 4);
        remarks += await writeWhileRepaired(tidying, 4);
      }
      return `${times} x 8 repairs: one is made; ${remarks} remarks meanwhile, none lost`;
    },
  },
  {
    name: 'mixed work',
    run: async (tidying) => {
      const end = performance.now() + seconds * 1000;
      const { verbs, refused, events } = await workMixed(createWorld(tidying), 8, () => performance.now() > end);
      return `8 workers for ${seconds} s: ${verbs} verbs, ${refused} refused for good reason, ${events} events`;
    },
  },
  {
    name: 'travel at length',
    run: async (tidying) => {
      const count = isShort ? 2000 : 100_000;
      return `a session of each of ${await travelAtLength(tidying, count)} kinds, with ${count} remarks, to a server and back: the same`;
    },
  },
  ...(isShort ? [] : [{ name: 'crowd a server', run: async (tidying: Tidying) => crowdServer(tidying, 200, 20) }]),
  {
    name: 'a bad day of a server',
    run: async (tidying) =>
      liveThroughDay(tidying, isShort ? { seconds: 30, cutSeconds: 3 } : { seconds: 300, cutSeconds: 10 }),
  },
];

let failed = 0;
for (const { name, run } of campaigns.filter((campaign) => campaign.name.includes(values.only ?? ''))) {
  const undo: (() => void)[] = [];
  const start = performance.now();
  const took = (): string => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  try {
    const summary = await run({ after: (action) => void undo.push(action) });
    process.stdout.write(`ok      ${name}: ${summary} (${took()})\n`);
  } catch (error) {
    failed += 1;
    process.stdout.write(`FAILED  ${name} (${took()}): ${error instanceof Error ? error.message : String(error)}\n`);
  } finally {
    for (const action of undo.toReversed()) action();
  }
}
process.stdout.write(failed === 0 ? 'all held\n' : `${failed} of ${campaigns.length} campaigns failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
