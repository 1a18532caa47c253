/**
 * A driver of a run, as somebody else would write one: it pulls nodes with the built command, starts the program of each as a
 * child of its own, and reports what came of it. It may be killed at any line. Whoever starts it again goes on.
 *
 * Three rules keep it from doing anything twice. A program is on record before it is told to begin. What an attempt has done
 * that was interrupted is looked up in the journal of effects, and said: `--done`, or `--rerun`. And nothing is reported of an
 * attempt that was taken or interrupted meanwhile, as the answer of `next --claim` says.
 */
import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Effect, Order } from './run-step.ts';
import type { Printed } from './world.ts';

const command = join(import.meta.dirname, '../../dist/stint.cjs');

/** What a driver says of itself while it is at work, a line each. */
export interface Report {
  readonly at: 'claimed' | 'spawned' | 'started' | 'told' | 'killed' | 'ended' | 'reported';
  readonly node: string;
  readonly pid: number;
}

/** What became of a process. */
interface Outcome {
  /** Null where it was killed. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly json: Printed;
}

/** Nodes whose program leaves its result where whoever comes finds it; of all others the driver reports it. */
const leaving = new Set(['build', 'test', 'pack']);

/** A program of a node that is at work. */
interface Program {
  readonly step: Printed;
  readonly child: ChildProcessWithoutNullStreams;
  readonly outcome: Promise<Outcome>;
  /** Set once it is gone. */
  ended: Outcome | undefined;
}

const main = async (session: string, effects: string, deaths: readonly string[]): Promise<void> => {
  const left = new Set(deaths);
  /** Says where it is, and dies there if it is to. */
  const pass = (at: Report['at'], node: string, pid = 0): void => {
    process.stdout.write(`${JSON.stringify({ at, node, pid } satisfies Report)}\n`);
    if (left.has(`driver ${at} ${node}`)) process.kill(process.pid, 'SIGKILL');
  };
  /** A program dies once: the next attempt lives. */
  const takeDeath = (node: string): string | undefined => {
    const death = deaths.find((one) => left.has(one) && one.startsWith('node ') && one.endsWith(` ${node}`));
    if (death !== undefined) left.delete(death);
    return death?.split(' ')[1];
  };

  const stint = async (verb: string, ...args: readonly string[]): Promise<Outcome> => {
    const child = spawn(process.execPath, [command, verb, ...args, '--session', session, '--json'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return outcomeOf(child);
  };
  const answer = async (verb: string, ...args: readonly string[]): Promise<Printed> => {
    const outcome = await stint(verb, ...args);
    if (outcome.status !== 0) throw new Error(`${verb} ${args.join(' ')}: ${outcome.stdout}${outcome.stderr}`);
    return outcome.json;
  };

  /** What is in doubt is done where its effect is on record, and to be done again where it is not. */
  const settle = async ({ in_doubt: doubtful }: Printed): Promise<void> => {
    for (const node of doubtful) {
      const last = effectsIn(effects).findLast((effect) => effect.node === node);
      const says = last?.what === 'done' ? '--done' : '--rerun';
      await answer('resume', says, node, '--reason', `the journal says ${last?.what ?? 'nothing'}`);
    }
  };

  const programs = new Map<string, Program>();
  const startProgram = async (step: Printed): Promise<ChildProcessWithoutNullStreams> => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'run-step.ts'), step.args], { stdio: 'pipe' });
    // It may be killed before it was told anything.
    child.stdin.on('error', () => {});
    const program: Program = { step, child, outcome: outcomeOf(child), ended: undefined };
    void program.outcome.then((ended) => {
      program.ended = ended;
      pass(ended.status === null ? 'killed' : 'ended', step.id, child.pid);
    });
    programs.set(step.id, program);
    await once(child, 'spawn');
    return child;
  };
  const begin = async (step: Printed): Promise<void> => {
    const { id: node, attempt, token, args, result_path: resultPath } = step;
    pass('claimed', node);
    let child = await startProgram(step);
    // One that was killed before it was told anything has done nothing: another one takes its place.
    for (let isKnown = false; !isKnown;) {
      pass('spawned', node, child.pid);
      const known = await stint('start', node, '--attempt', attempt, '--token', token, '--pid', String(child.pid));
      isKnown = known.status === 0;
      if (!isKnown && programs.get(node)?.ended === undefined)
        throw new Error(`start ${node}: ${known.stdout}${known.stderr}`);
      if (!isKnown) child = await startProgram(step);
    }
    pass('started', node, child.pid);
    const order: Order = {
      node,
      attempt,
      token,
      resultPath: leaving.has(args) ? resultPath : null,
      effects,
      dies: takeDeath(node),
    };
    child.stdin.end(JSON.stringify(order));
    pass('told', node, child.pid);
  };

  const report = async ({ step, child, ended }: Program): Promise<Printed> => {
    const { id: node, attempt, token, args } = step;
    if (ended === undefined) return undefined;
    programs.delete(node);
    // Nobody knows what a program has done that was killed; what one has left is taken by whoever asks next.
    if (ended.status === null || leaving.has(args)) return undefined;
    const of = [node, '--attempt', attempt, '--token', token, '--exit-code', String(ended.status)];
    const said = ended.status === 0 ? ['--output', ended.stdout] : ['--error', ended.stderr];
    const reported = await stint(ended.status === 0 ? 'complete' : 'fail', ...of, ...said);
    // Somebody has asked in this very moment and found the program gone: what it has done is looked up, as of any other.
    if (reported.status === 10) return undefined;
    if (reported.status !== 0) throw new Error(`${node}: ${reported.stdout}${reported.stderr}`);
    pass('reported', node, child.pid);
    return reported.json.next_action;
  };

  const me = ['--pid', String(process.pid)];
  // What comes next is what the last answer says. A run that is over is not resumed: a driver before this one was its last.
  const resumed = await stint('resume');
  let next = resumed.status === 0 ? resumed.json.next_action : (await answer('status')).next_action;
  if (resumed.status === 0) await settle(resumed.json);
  while (next.kind !== 'none' && next.kind !== 'reopen') {
    const handed = await stint('next', '--claim', '--limit', '8', '--ttl', '1h', ...me);
    if (handed.status === 5) {
      ({ next_action: next } = await answer('status'));
      continue;
    }
    if (handed.status !== 0) throw new Error(`next: ${handed.stdout}${handed.stderr}`);
    const { steps, running, adopted, interrupted } = handed.json;
    // Of a program that has ended meanwhile somebody knows more by now than its end.
    for (const { id, attempt } of [...adopted, ...interrupted])
      if (programs.get(id)?.step.attempt === attempt) programs.delete(id);
    ({ next_action: next } = handed.json);
    await settle(handed.json);
    for (const step of steps) await begin(step);
    const ends: Promise<unknown>[] = [...programs.values()].map(async ({ outcome }) => outcome);
    // Programs of a driver that is gone are nobody's children: what they leave is looked for.
    if (running > programs.size) ends.push(pause(50));
    if (ends.length > 0) await Promise.race(ends);
    for (const program of [...programs.values()]) next = (await report(program)) ?? next;
  }
  if (next.kind === 'reopen') throw new Error('the run has failed');
};

const outcomeOf = async (child: ChildProcess): Promise<Outcome> => {
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.on('data', (chunk) => {
      printed[name] += String(chunk);
    });
  const [status] = await once(child, 'close');
  const isAnswer = printed.stdout.startsWith('{');
  return { status, ...printed, json: isAnswer ? JSON.parse(printed.stdout) : undefined };
};

/** What the journal of effects says. */
export const effectsIn = (path: string): readonly Effect[] =>
  (existsSync(path) ? readFileSync(path, 'utf8') : '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

if (import.meta.main) {
  const [session = '', effects = '', ...deaths] = process.argv.slice(2);
  await main(session, effects, deaths);
}
