/**
 * An orchestrator, as somebody else would write one. It knows nothing but what `stint resume --json` says: it settles what is
 * in doubt, hands the todos out to agents, as many at once as it likes, and follows the next action to the end. It may be
 * killed at any moment. Whoever starts it again goes on.
 *
 * The work of an agent is a line in a file of its own. By that it is known what one has done that was interrupted.
 */
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStint } from '../../src/postgres.ts';
import type { Json, JsonObject } from '../../src/lib/canonical-json.ts';
import { storeIn } from './environment.ts';
import type { Printed } from './world.ts';

const command = join(import.meta.dirname, '../../dist/stint.cjs');

/** Agents that are started before the first of them works. */
const atOnce = 3;

/** What an orchestrator says of itself, a line each. */
export type Report =
  | { readonly at: 'resumed'; readonly answer: Printed }
  | { readonly at: 'settled' | 'starting' | 'started' | 'worked' | 'completed' | 'done'; readonly agent: string };

/** The file of an agent's work. */
export const workFile = (agent: string): string => `work-${agent}.txt`;

const [, , line = '', seconds = ''] = process.argv;
let said = 0;

/** Says where it is. Some time after the line that it was told somebody kills it, whatever it does then. */
const say = (report: Report): void => {
  process.stdout.write(`${JSON.stringify(report)}\n`);
  said += 1;
  if (said === Number(line)) spawn('sh', ['-c', `sleep ${seconds}; kill -9 ${process.pid}`], { stdio: 'ignore' });
};

/** Runs a command as it is told. */
const obey = (...args: readonly string[]): Printed => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args, '--json'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
  return JSON.parse(stdout);
};

/** What is left to be handed out: the todos that the brief tells of, each with the agent that is to do it. */
const todosIn = (brief: Printed): readonly { readonly todo: number; readonly agent: string }[] => {
  const sections: readonly { readonly name: string; readonly facts: readonly { readonly text: string }[] }[] =
    brief.sections;
  return sections
    .flatMap(({ name, facts }) => (name === 'remaining' ? facts : []))
    .flatMap(({ text }) => {
      const [, todo, agent] = /^todo (\d+): (\S+)$/.exec(text) ?? [];
      return todo === undefined || agent === undefined ? [] : [{ todo: Number(todo), agent }];
    });
};

const main = async (): Promise<void> => {
  const resumed = obey('resume');
  say({ at: 'resumed', answer: resumed });
  const { session, in_doubt: doubtful } = resumed;
  let next = resumed.next_action;
  for (const agent of doubtful) {
    const says = existsSync(workFile(agent)) ? '--done' : '--rerun';
    ({ next_action: next } = obey('resume', says, agent, '--reason', 'its file says so'));
    say({ at: 'settled', agent });
  }

  const { STINT_ACTOR: actor = '', STINT_HOST: host = '' } = process.env;
  const opened = await openStint({ cwd: process.cwd(), actor, host, ...storeIn(process.env) });
  if (!opened.ok) throw new Error(opened.error.message);
  const stint = opened.value;
  const ask = async (verb: string, input: JsonObject): Promise<Record<string, Json>> => {
    const answer = await stint.run(verb, { ...input, session });
    if (!answer.ok) throw new Error(`${verb}: ${answer.error.refusal.message}`);
    next = answer.value['next_action'];
    return answer.value;
  };
  /** What is to be decided is decided before anything else. */
  const goOn = (): void => {
    if (next.kind === 'decide') ({ next_action: next } = obey(...String(next.command).split(' ').slice(1)));
  };

  const todos = todosIn(resumed.brief);
  for (let from = 0; from < todos.length; from += atOnce) {
    const wave = todos.slice(from, from + atOnce);
    const started = new Map<string, { readonly attempt: Json; readonly token: Json }>();
    for (const { agent } of wave) {
      goOn();
      say({ at: 'starting', agent });
      const start = { agent, type: 'code', task: `do ${agent}`, session, pid: process.pid };
      const answer = await stint.run('agent start', start);
      if (answer.ok) {
        const { attempt = null, token = null } = answer.value;
        started.set(agent, { attempt, token });
        say({ at: 'started', agent });
      } else if (!answer.error.refusal.message.includes('has completed at'))
        throw new Error(answer.error.refusal.message);
    }
    for (const { todo, agent } of wave) {
      const claim = started.get(agent);
      if (claim !== undefined) {
        appendFileSync(workFile(agent), `${actor}\n`);
        say({ at: 'worked', agent });
        await ask('agent complete', { agent, ...claim, summary: readFileSync(workFile(agent), 'utf8').trim() });
        say({ at: 'completed', agent });
      }
      await ask('todo done', { todo, outcome: agent });
      say({ at: 'done', agent });
    }
  }
  await stint.close();
  if (next.kind !== 'finish') throw new Error(`what comes next is ${next.text}`);
  obey(...String(next.command).split(' ').slice(1));
};

if (import.meta.main) await main();
