/** Writes into the documents of a session, one change after the other, until it is told to stop. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openStint } from '../../src/postgres.ts';

const [, , cwd = ''] = process.argv;

const opened = await openStint({
  cwd,
  ...(process.env['STINT_STORE'] === undefined ? {} : { store: process.env['STINT_STORE'] }),
  ...(process.env['STINT_PROJECT'] === undefined ? {} : { project: process.env['STINT_PROJECT'] }),
});
if (!opened.ok) throw new Error(opened.error.message);
const stint = opened.value;
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
process.stdout.write('ready\n');
for (let index = 1; !stop.signal.aborted; index += 1) {
  const answer = await stint.run('handoff update', { updated_by: 'writer', current_step: `change ${index}` });
  if (!answer.ok) throw new Error(answer.error.refusal.message);
  await nextTurn();
}
await stint.close();
