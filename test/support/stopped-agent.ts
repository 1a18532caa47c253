/**
 * An agent that is stopped in the middle of its work: claims the session `held`, says its token, and then does what it is told
 * on its standard input, one line of calls at a time, with that token. Its clock is a file. A line that begins with `anew`
 * opens the store again, as another command of the same agent would; every other goes through the store that it has open.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { JsonObject } from '../../src/index.ts';
import { openStint } from '../../src/postgres.ts';
import { storeIn } from './environment.ts';

/** What came of each call: `ok`, or the code of the refusal. */
export type Codes = readonly string[];

/** Verbs with their fields. */
export type Calls = readonly (readonly [verb: string, input: JsonObject])[];

const [, , cwd = '', clock = '', process_ = ''] = process.argv;

const open = async () => {
  const now = () => readFileSync(clock, 'utf8');
  const opened = await openStint({ cwd, actor: 'ana', host: 'desk', now, ...storeIn(process.env) });
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
};

const kept = await open();
const claimed = await kept.run('lease claim', { session: 'held', ttl: '10s', pid: process.pid }, { process: process_ });
if (!claimed.ok) throw new Error(claimed.error.refusal.message);
const leaseToken = Number(claimed.value['token']);
process.stdout.write(`${leaseToken}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const isAnew = line.startsWith('anew ');
  const calls = JSON.parse(isAnew ? line.slice('anew '.length) : line) as Calls;
  const stint = isAnew ? await open() : kept;
  const codes: string[] = [];
  for (const [verb, input] of calls) {
    const answer = await stint.run(verb, input, { leaseToken });
    codes.push(answer.ok ? 'ok' : answer.error.refusal.code);
  }
  if (isAnew) await stint.close();
  process.stdout.write(`${JSON.stringify(codes satisfies Codes)}\n`);
}
