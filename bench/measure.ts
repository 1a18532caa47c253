/** Numbers and how they are made: whole processes timed in pairs, and what medians and percentiles are. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The built command. */
export const command = join(dirname(import.meta.dirname), 'dist/stint.cjs');

/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly measured: string;
  /** What it is compared with. */
  readonly against: string;
  /** Of medians; throughput where more is better. Null where the budget is absolute. */
  readonly ratio: number | null;
  /** The median of the ratios of neighbouring runs. */
  readonly pairwise: number | null;
  readonly budget: string;
  /** Null where it could not be measured. */
  readonly met: boolean | null;
}

/** A project of its own in a temporary folder, with a home and nothing inherited. */
export interface Bed {
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  readonly home: string;
}

/** Makes a project that looks like a git repository to the program; git itself is not needed. */
export const makeBed = (folder: string): Bed => {
  const project = join(folder, 'project');
  const home = join(folder, 'home');
  for (const part of ['.git/objects', '.git/refs']) mkdirSync(join(project, part), { recursive: true });
  writeFileSync(join(project, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(project, '.git/config'), '[core]\n\tbare = false\n');
  mkdirSync(home);
  // NODE_EXTRA_CA_CERTS and the like would cost both sides the same, and hide the difference.
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, USER: 'bench', LANG: 'C' };
  return { project, home, env };
};

/** Runs `body` with a folder that is removed afterwards. */
export const inFolder = async <Value>(body: (folder: string) => Promise<Value> | Value): Promise<Value> => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-'));
  try {
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
};

/** Runs a program of Node's to its end and answers the milliseconds. A failure is an error: it would be a wrong number. */
export const timeNode = (bed: Bed, parameters: readonly string[]): number =>
  timeProgram(bed, process.execPath, parameters);

/** The same of any program. */
export const timeProgram = (bed: Bed, program: string, parameters: readonly string[]): number => {
  const start = performance.now();
  const { status, stderr, error } = spawnSync(program, parameters, {
    cwd: bed.project,
    env: bed.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const time = performance.now() - start;
  if (status === 0) return time;
  throw new Error(`${program} ${parameters.slice(1).join(' ')}: exit ${status}: ${error?.message ?? String(stderr)}`);
};

/** What a process does that does nothing. */
export const bare: readonly string[] = ['-e', '0'];

/** The two sides of a comparison, run by run. */
export interface Pairs {
  readonly measured: readonly number[];
  readonly against: readonly number[];
}

/** Fewest runs of what takes longer than its limit. */
const fewestRuns = 15;

/**
 * Runs two things in turn, each first every other time, after one run of each that is not counted. A busy machine gets
 * fewer runs than were asked for once they have taken `limit` milliseconds.
 */
export const takePairs = async (
  runs: number,
  measured: () => number | Promise<number>,
  against: () => number | Promise<number>,
  limit = Number.POSITIVE_INFINITY,
): Promise<Pairs> => {
  const pairs = { measured: [] as number[], against: [] as number[] };
  await measured();
  await against();
  const start = performance.now();
  for (let run = 0; run < runs; run += 1) {
    if (run >= fewestRuns && performance.now() - start > limit) break;
    if (run % 2 === 0) pairs.against.push(await against());
    pairs.measured.push(await measured());
    if (run % 2 === 1) pairs.against.push(await against());
  }
  return pairs;
};

/** The ratio of the medians, and the median of the ratios. */
const ratiosOf = ({ measured, against }: Pairs): { readonly ratio: number; readonly pairwise: number } => ({
  ratio: median(measured) / median(against),
  pairwise: median(measured.map((value, index) => value / (against[index] ?? Number.NaN))),
});

/** A row about two times of the same thing; without a budget it is only told. */
export const timeRow = (what: string, pairs: Pairs, against: string, budget?: number): Row => {
  const { ratio, pairwise } = ratiosOf(pairs);
  return {
    what,
    measured: milliseconds(median(pairs.measured)),
    against: `${milliseconds(median(pairs.against))} ${against}`,
    ratio,
    pairwise,
    budget: budget === undefined ? '' : `<= ${budget}x`,
    met: budget === undefined ? null : ratio <= budget,
  };
};

export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** The value below which that share of all values lies; between two values the mean of both. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return share === 0.5 ? (below + above) / 2 : above;
};

export const milliseconds = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`;

/** The moves of a review, one legal after the other: phase by phase, and after the last one into the next round. */
export function* reviewMoves(): Generator<{ readonly phase: string; readonly round?: number }, never> {
  for (let round = 1; ; round += 1) {
    if (round > 1) yield { phase: 'context', round };
    for (const phase of ['change-context', 'analysis', 'reviews', 'aggregation', 'discourse', 'synthesis'])
      yield { phase };
  }
}

/** A program that is loaded first and, at its end, writes down the most memory that it had, in KiB. */
const peakHook = `
const { readFileSync, writeFileSync } = require('node:fs');
process.on('exit', () => {
  let peak;
  try {
    // The counter of rusage begins with what the process had before it became this program.
    peak = /^VmHWM:\\s+(\\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1];
  } catch {
    peak = process.resourceUsage().maxRSS;
  }
  writeFileSync(process.env.BENCH_PEAK, String(peak));
});
`;

/** The most memory that a process had, in MiB; undefined where it cannot be told. */
export const peakOfNode = (bed: Bed, parameters: readonly string[]): number | undefined => {
  const hook = join(bed.home, 'peak.cjs');
  const peak = join(bed.home, 'peak');
  if (!existsSync(hook)) writeFileSync(hook, peakHook);
  rmSync(peak, { force: true });
  timeNode({ ...bed, env: { ...bed.env, BENCH_PEAK: peak } }, ['-r', hook, ...parameters]);
  return existsSync(peak) ? Number(readFileSync(peak, 'utf8')) / 1024 : undefined;
};
