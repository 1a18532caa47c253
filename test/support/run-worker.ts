/** A worker on a run: claims node after node and completes each with its own name, until the run is complete. */
import { setTimeout as pause } from 'node:timers/promises';
import { openStint } from '../../src/postgres.ts';
import { storeIn } from './environment.ts';

const [, , cwd = '', session = '', actor = ''] = process.argv;
const opened = await openStint({ cwd, actor, ...storeIn(process.env) });
if (!opened.ok) throw new Error(opened.error.message);
const stint = opened.value;

for (;;) {
  // Looking takes no lock: who waits keeps nobody from working.
  const seen = await stint.run('next', { session, limit: 1 });
  if (!seen.ok) throw new Error(seen.error.refusal.message);
  const { total, running } = seen.value;
  if (total === 0) {
    // What is ready behind a batch is ready with its last result: then it is over.
    if (running === 0) break;
    // Others are at work: what follows theirs is still to come.
    await pause(20);
    continue;
  }
  const handed = await stint.run('next', { claim: true, session, ttl: '7d', pid: process.pid });
  // The last result of somebody else has closed the run since.
  if (!handed.ok && handed.error.refusal.code === 'illegal-transition') break;
  if (!handed.ok) throw new Error(handed.error.refusal.message);
  const [step] = Array.isArray(handed.value['steps']) ? handed.value['steps'] : [];
  // Somebody else was faster.
  if (typeof step !== 'object' || step === null || !('id' in step)) continue;
  const { id = null, attempt = null, token = null } = step;
  const completed = await stint.run('complete', {
    step: id,
    attempt,
    token,
    session,
    output: `${String(id)} by ${actor}`,
  });
  if (!completed.ok) throw new Error(completed.error.refusal.message);
}
await stint.close();
