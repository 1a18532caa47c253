/**
 * A worker that starts and completes agents of one orchestration, those that are named, until all of them are complete. Whoever
 * is refused because as many are at work as the mode allows tries again; an agent that another one has is left to it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { openStint } from '../../src/postgres.ts';
import { storeIn } from './environment.ts';

const [, , cwd = '', session = '', actor = '', ...agents] = process.argv;
const opened = await openStint({ cwd, actor, ...storeIn(process.env) });
if (!opened.ok) throw new Error(opened.error.message);
const stint = opened.value;

const left = new Set(agents);
let limited = 0;
while (left.size > 0)
  for (const agent of left) {
    const started = await stint.run('agent start', {
      agent,
      type: 'code',
      task: `do ${agent}`,
      session,
      pid: process.pid,
    });
    if (!started.ok) {
      const { code, message, retryable } = started.error.refusal;
      if (message.includes('has completed at')) left.delete(agent);
      else if (code !== 'illegal-transition') throw new Error(message);
      if (retryable) limited += 1;
      await pause(10);
      continue;
    }
    const { attempt = null, token = null } = started.value;
    const completed = await stint.run('agent complete', {
      agent,
      attempt,
      token,
      session,
      summary: `${agent} by ${actor}`,
    });
    if (!completed.ok) throw new Error(completed.error.refusal.message);
    left.delete(agent);
  }
process.stdout.write(`${limited}`);
await stint.close();
