/**
 * Runs the tests, as many files at a time as the machine has cores. With `--server` those of verbs are run once more with
 * every store on a PostgreSQL server: the one that STINT_TEST_PG names, else one of our own. Files and flags of Node's test
 * runner may be given.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
const isOnServer = process.argv.includes('--server');
const usual = isOnServer ? onServer.map((name) => join('test', `${name}.test.ts`)) : everything;
const files = given.some((argument) => !argument.startsWith('-')) ? given : [...given, ...usual];
const own = isOnServer && process.env['STINT_TEST_PG'] === undefined ? await startServer() : undefined;
const server = own?.url ?? process.env['STINT_TEST_PG'];
// Not waited for in a way that keeps this process from reading what the server says.
const run = spawn(process.execPath, ['--test', `--test-concurrency=${availableParallelism()}`, ...files], {
  stdio: 'inherit',
  env: { ...process.env, ...(isOnServer && { STINT_TEST_WORLDS: server }) },
});
const [code] = await once(run, 'exit');
await own?.remove();
process.exitCode = typeof code === 'number' ? code : 1;
