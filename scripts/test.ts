/**
 * Runs the tests: races one file at a time, of the others as many as the machine has cores. With `--server` those of verbs
 * are run once more with every store on a PostgreSQL server: the one that STINT_TEST_PG names, else one of our own. Files
 * and flags of Node's test runner may be given.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../test/support/postgres.ts';

const everything = ['test/**/*.test.ts', 'src/**/*.test.ts'];

const onServer = [
  'cli',
  'cli-exits',
  'cli-flags',
  'processes',
  'leases',
  'lease-races',
  'races',
  'run-races',
  'run-resume',
  'run-seed',
  'runs',
  'cases-leases',
  'cases-runs',
  'reconcile',
  'kinds/lazy',
  'archive',
  'pausing',
  'kinds/map',
  'kinds/sheet',
  'import-runs',
  'import-orchestrator',
  'orchestrator-recovery',
  'journal',
  'orchestration',
  'orchestration-races',
  'orchestration-resume',
  'orchestration-seed',
  'brief',
  'cases-brief',
  'hostile-texts',
  'tasks',
];

const given = process.argv.slice(2).filter((argument) => argument !== '--server');
const flags = given.filter((argument) => argument.startsWith('-'));
const isOnServer = process.argv.includes('--server');
const usual = isOnServer ? onServer.map((name) => join('test', `${name}.test.ts`)) : everything;
const files = globSync(given.length > flags.length ? given.filter((argument) => !flags.includes(argument)) : usual);
if (files.length === 0) throw new Error(`There is no such file of tests: ${given.join(' ')}`);
const own = isOnServer && process.env['STINT_TEST_PG'] === undefined ? await startServer() : undefined;
const env = { ...process.env, ...(isOnServer && { STINT_TEST_WORLDS: own?.url ?? process.env['STINT_TEST_PG'] }) };

/** Runs files, so many at a time; answers whether all is well. */
const run = async (chosen: readonly string[], concurrency: number): Promise<boolean> => {
  if (chosen.length === 0) return true;
  const words = ['--test', `--test-concurrency=${concurrency}`, ...flags, ...chosen.toSorted()];
  // Not waited for in a way that keeps this process from reading what the server says.
  const [code] = await once(spawn(process.execPath, words, { stdio: 'inherit', env }), 'exit');
  return code === 0;
};

// Races keep all cores busy by themselves, and whoever waits for a turn in them waits for so long and no longer.
const isRace = (file: string): boolean => file.includes('races');
const outcomes = [
  await run(
    files.filter((file) => !isRace(file)),
    availableParallelism(),
  ),
  await run(files.filter(isRace), 1),
];
await own?.remove();
process.exitCode = outcomes.includes(false) ? 1 : 0;
