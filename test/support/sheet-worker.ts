/** A worker on a sheet: claims step after step, does each by writing a line, and records it, until the sheet is done. */
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { openStint } from '../../src/postgres.ts';
import { storeIn } from './environment.ts';
import { defineSheet, verbs } from '../kinds/sheet/index.ts';

const [, , cwd = '', columns = '', effects = '', actor = ''] = process.argv;
const opened = await openStint({ cwd, actor, kinds: [defineSheet(Number(columns))], verbs, ...storeIn(process.env) });
if (!opened.ok) throw new Error(opened.error.message);
const stint = opened.value;
const session = 'sheet:race';

for (;;) {
  const handed = await stint.run('next', { claim: true, session, ttl: '7d', pid: process.pid });
  if (!handed.ok) throw new Error(handed.error.refusal.message);
  const [step] = Array.isArray(handed.value['steps']) ? handed.value['steps'] : [];
  if (typeof step !== 'object' || step === null || !('id' in step)) {
    if (handed.value['running'] === 0) break;
    // Others are at work: what they leave undone is still to come.
    await pause(20);
    continue;
  }
  const { id, attempt, token } = step;
  const started = await stint.run('start', {
    step: id ?? null,
    attempt: attempt ?? null,
    token: token ?? null,
    session,
  });
  if (!started.ok) throw new Error(started.error.refusal.message);
  appendFileSync(effects, `${String(id)} ${String(attempt)}\n`);
  const completed = await stint.run('complete-step', {
    step: id ?? null,
    attempt: attempt ?? null,
    token: token ?? null,
    session,
  });
  if (!completed.ok) throw new Error(completed.error.refusal.message);
}
await stint.close();
