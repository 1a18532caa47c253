/**
 * Runs several command lines one after the other in one process, which leaves as a verb does: without closing a store.
 * They come as a JSON list of lists on standard input; what became of each goes, as one JSON list, to standard output.
 */
import fs from 'node:fs';
import { enableCompileCache, syncBuiltinESMExports } from 'node:module';

enableCompileCache(process.env['XDG_CACHE_HOME']);

/** What one command line came to. */
export interface LineOutcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

const lines = JSON.parse(fs.readFileSync(0, 'utf8')) as readonly (readonly string[])[];
const printed: Record<number, string> = {};
const { writeSync } = fs;
fs.writeSync = ((file: number, bytes: Uint8Array | string, ...more: readonly unknown[]): number => {
  if (file !== 1 && file !== 2) return Number(Reflect.apply(writeSync, fs, [file, bytes, ...more]));
  const text = Buffer.from(bytes as Uint8Array);
  printed[file] = (printed[file] ?? '') + text.toString();
  return text.length;
}) as typeof writeSync;
syncBuiltinESMExports();

const { runCommandLine } = await import('../../src/surfaces/cli/run.ts');
const { allVerbs } = await import('../../src/surfaces/verbs.ts');
const { kinds } = await import('../../src/kinds/registry.gen.ts');

const now = (): string => process.env['STINT_NOW'] ?? new Date().toISOString();
/** A mount table that stands in for the machine's, where every path lies on NFS if it says so. */
const mountTable = process.env['STINT_TEST_MOUNTS'];
const mounts =
  mountTable === undefined
    ? {}
    : { mounts: { typeOf: () => 0x69_69, read: () => fs.readFileSync(mountTable, 'utf8') } };
const outcomes: LineOutcome[] = [];
for (const argv of lines) {
  printed[1] = '';
  printed[2] = '';
  let status: number;
  try {
    status = await runCommandLine({
      argv,
      cwd: process.cwd(),
      env: process.env,
      verbs: allVerbs,
      kinds,
      version: '0.0.0',
      now,
      actor: () => 'ana@desk',
      user: () => 'ana',
      agent: undefined,
      colour: false,
      ...mounts,
      terminal: async () => undefined,
    });
  } catch (error) {
    status = 1;
    printed[2] += error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  outcomes.push({ status, stdout: printed[1], stderr: printed[2] });
}
writeSync(1, JSON.stringify(outcomes));
process.exit();
