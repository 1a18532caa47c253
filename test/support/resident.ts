/**
 * Verbs without a process of their own: a resident process carries out one after the other, each with the built program
 * loaded anew, and its own arguments, environment, folder and standard streams. Starting a program is most of what a verb
 * costs in a test. What a process leaves behind when it ends is left here as well (`resident-process.ts`); one that cannot
 * be sure of that is given up, and the next verb has a new one.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readLine, type Request, type Response } from './resident-lines.ts';

/** The process, as this one knows it. */
interface Resident {
  /** Where the files of its standard streams are. */
  readonly folder: string;
  /** The ends of the pipes on which verbs are asked for, and told to be over. */
  readonly requests: number;
  readonly responses: number;
}

let resident: Resident | undefined;

/** Runs a verb to its end; answers what it printed and its exit code. */
export const runResident = (
  request: Request,
  input: string | Uint8Array,
): { readonly status: number; readonly stdout: string; readonly stderr: string } => {
  resident ??= startResident();
  const { folder, requests, responses } = resident;
  writeFileSync(join(folder, 'in'), input);
  writeSync(requests, `${JSON.stringify(request)}\n`);
  const line = readLine(responses);
  const response: Response | undefined = line === undefined ? undefined : JSON.parse(line);
  if (response?.isClean !== true) {
    for (const file of [requests, responses]) closeSync(file);
    resident = undefined;
  }
  const [stdout = '', stderr = ''] = ['out', 'err'].map((name) => readFileSync(join(folder, name), 'utf8'));
  assert.ok(response !== undefined, `the process of ${request.args.join(' ')} is gone: ${stderr}`);
  return { status: response.status, stdout, stderr };
};

/** Those that are given up may still be writing in theirs. */
const folders: string[] = [];
process.once('exit', () => {
  for (const path of folders) rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
});

/** Each side holds one end of two named pipes, so that either hears when the other is gone. */
const startResident = (): Resident => {
  const folder = mkdtempSync(join(tmpdir(), 'resident-'));
  folders.push(folder);
  const [requests = '', responses = ''] = ['requests', 'responses'].map((name) => join(folder, name));
  assert.equal(spawnSync('mkfifo', [requests, responses]).status, 0, 'named pipes are made');
  // An end is opened without waiting where the other one is open.
  const held = [requests, responses].map((path) => openSync(path, 'r+'));
  const theirs = [openSync(requests, 'r'), openSync(responses, 'w')];
  const ours = { requests: openSync(requests, 'w'), responses: openSync(responses, 'r') };
  const program = join(import.meta.dirname, 'resident-process.ts');
  spawn(process.execPath, [program, folder], { stdio: ['ignore', 'ignore', 'inherit', ...theirs] }).unref();
  for (const file of [...held, ...theirs]) closeSync(file);
  return { folder, ...ours };
};
