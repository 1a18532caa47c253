/**
 * Runs the tests of verbs once more with every store on a PostgreSQL server: the one that STINT_TEST_PG names, else one of
 * our own. The files are given, or those below.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startServer } from '../test/support/postgres.ts';

const usual = [
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

const given = process.argv.slice(2);
const files = given.length > 0 ? given : usual.map((name) => join('test', `${name}.test.ts`));
const own = process.env['STINT_TEST_PG'] === undefined ? await startServer() : undefined;
const server = process.env['STINT_TEST_PG'] ?? own?.url ?? '';
// Not waited for in a way that keeps this process from reading what the server says.
const run = spawn(process.execPath, ['--test', ...files], {
  stdio: 'inherit',
  env: { ...process.env, STINT_TEST_WORLDS: server },
});
const [code] = await once(run, 'exit');
await own?.remove();
process.exitCode = typeof code === 'number' ? code : 1;
