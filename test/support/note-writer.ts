/** Writes remarks into a session, one after the other; waits for a store that is away, as an agent would. */
import { setTimeout as pause } from 'node:timers/promises';
import { openStint } from '../../src/postgres.ts';

const [, , cwd = '', session = '', name = '', count = ''] = process.argv;

const opened = await openStint({
  cwd,
  actor: name,
  ...(process.env['STINT_STORE'] === undefined ? {} : { store: process.env['STINT_STORE'] }),
  ...(process.env['STINT_PROJECT'] === undefined ? {} : { project: process.env['STINT_PROJECT'] }),
});
if (!opened.ok) throw new Error(opened.error.message);
const stint = opened.value;
for (let index = 0; index < Number(count); index += 1) {
  // One request however often it is tried: it is answered once.
  const call = { requestId: `${name}-${index}` };
  for (;;) {
    const answer = await stint.run('note', { session, text: `${name} ${index}` }, call);
    if (answer.ok) break;
    if (!answer.error.refusal.retryable) throw new Error(answer.error.refusal.message);
    await pause(50);
  }
}
await stint.close();
