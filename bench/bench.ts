/**
 * Measures what DESIGN promises of speed, as ratios within one run, and prints them with their budgets.
 *
 *     npm run bench                        everything
 *     npm run bench -- --only startup      whole processes and memory alone; exit 1 when one is far off
 *     npm run bench -- --runs 80 --json
 *
 * How the numbers are made and read: README.md beside this file.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureBrief } from './brief.ts';
import { measureBundles } from './bundles.ts';
import { measureCommits } from './commits.ts';
import { measureHandoff } from './handoff.ts';
import { command, inFolder, type Row } from './measure.ts';
import { measurePostgres } from './postgres.ts';
import { measureRedaction } from './redaction.ts';
import { measureRuns } from './runs.ts';
import { measureList, measureStatus } from './sizes.ts';
import { measureMemory, measureSize, measureVerbs } from './verbs.ts';
import { measureWriters } from './writers.ts';

const sections = [
  'startup',
  'commits',
  'writers',
  'status',
  'brief',
  'list',
  'runs',
  'handoff',
  'bundles',
  'redaction',
  'postgres',
] as const;

/** An everyday verb above this multiple of a bare Node is far off; see `failing`. */
const farOff = 1.6;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    runs: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const main = async (): Promise<void> => {
  const runs = Number(options.runs ?? (options.quick ? 10 : 40));
  const only: readonly string[] = options.only?.split(',') ?? sections;
  const unknown = only.find((name) => !sections.some((section) => section === name));
  if (unknown !== undefined) throw new Error(`--only takes ${sections.join(', ')}, not ${unknown}`);
  if (!Number.isSafeInteger(runs) || runs < 1) throw new Error('--runs takes a whole number');
  if (!existsSync(command)) throw new Error('dist/ is not built: npm run build');

  const rows: Row[] = [];
  const measure = async (name: string, section: (folder: string) => Promise<readonly Row[]>): Promise<void> => {
    if (only.includes(name)) rows.push(...(await inFolder(section)));
  };
  // First, while this process is small: starting another one copies its page tables.
  await measure('startup', async (folder) => measureStartup(folder, runs));
  await measure('commits', async (folder) => measureCommits(folder, options.quick ? 500 : 2000));
  await measure('writers', async (folder) => measureWriters(folder, options.quick ? 25 : 200));
  await measure('status', async (folder) => measureStatus(folder, 100_000, runs));
  await measure('brief', async (folder) => measureBrief(folder, 100_000, runs));
  await measure('list', async (folder) => measureList(folder, 10_000, runs));
  await measure('runs', async (folder) => measureRuns(folder, runs));
  await measure('handoff', async (folder) => measureHandoff(folder, 200, runs));
  await measure('bundles', async (folder) => measureBundles(folder, runs));
  await measure('redaction', async () => measureRedaction(runs));
  await measure('postgres', async (folder) => measurePostgres(folder, runs, options.quick ? 200 : 1000));

  if (options.json) {
    process.stdout.write(`${JSON.stringify({ schema_version: 1, ...machine(runs), rows }, null, 2)}\n`);
  } else {
    const { node, platform, processors } = machine(runs);
    process.stdout.write(`Node ${node}, ${platform}, ${processors} processors, ${runs} runs\n\n${tableOf(rows)}\n`);
  }
  if (rows.some((row) => row.budget.startsWith('0 lost') && row.met === false)) process.exitCode = 1;
};

const machine = (runs: number) => ({
  node: process.versions.node,
  platform: `${process.platform}-${process.arch}`,
  processors: availableParallelism(),
  runs,
});

/** Everyday verbs; measured once more before one that is far off fails the run, because machines are noisy. */
const measureStartup = async (folder: string, runs: number): Promise<readonly Row[]> => {
  let verbs = await measureVerbs(join(folder, 'first'), runs);
  if (failing(verbs, verbs).length > 0) {
    const again = await measureVerbs(join(folder, 'second'), runs);
    const both = failing(verbs, again);
    for (const { what, ratio } of both) {
      process.stderr.write(`bench: ${what} takes ${ratio?.toFixed(2)}x a bare Node, twice above ${farOff}x\n`);
    }
    if (both.length > 0) process.exitCode = 1;
    verbs = again;
  }
  return [...verbs, ...measureMemory(join(folder, 'memory'), Math.min(runs, 7)), measureSize()];
};

/** The rows that are far off in both measurements, by both ratios: noise rarely moves all four. */
const failing = (first: readonly Row[], second: readonly Row[]): readonly Row[] =>
  second.filter((row, index) => Math.min(...[row, first[index]].flatMap(ratiosOf)) > farOff);

const ratiosOf = (row: Row | undefined): readonly number[] => [row?.ratio ?? 0, row?.pairwise ?? 0];

const tableOf = (rows: readonly Row[]): string => {
  const cells = [
    ['WHAT', 'MEASURED', 'AGAINST', 'RATIO', 'PAIRWISE', 'BUDGET', ''],
    ...rows.map(({ what, measured, against, ratio, pairwise, budget, met }) => [
      what,
      measured,
      against,
      ratio?.toFixed(2) ?? '',
      pairwise?.toFixed(2) ?? '',
      budget,
      budget === '' ? '' : met === null ? 'n/a' : met ? 'met' : 'NOT MET',
    ]),
  ];
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
