import { textToCursor } from '../kernel/cursor.ts';
import { StoreFailure } from '../kernel/ports.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { addressProblem } from '../lib/name.ts';
import { follow } from './follow.ts';
import type { Watched, WatchOptions } from './library.ts';
import type { Location } from './world.ts';

/** Follows the log for a program; `closing` ends it too. */
export async function* watch(
  location: Location,
  { sessions, cursor = '', signal, onRemark = () => {} }: WatchOptions,
  closing: AbortSignal,
): AsyncGenerator<Watched, void, undefined> {
  const illegal = sessions?.find((key) => !key.includes(':') || addressProblem(key) !== undefined);
  if (illegal !== undefined) throw new StoreFailure(refuseSession(illegal));
  const from = cursor === 'now' ? ({ ok: true, value: cursor } as const) : textToCursor(cursor);
  if (!from.ok) throw new StoreFailure(from.error);
  const ending = AbortSignal.any([closing, ...(signal === undefined ? [] : [signal])]);
  const batches = follow({ location, sessions, from: from.value, signal: ending, remark: onRemark });
  const ended = new Promise<undefined>((resolve) => {
    if (ending.aborted) resolve(undefined);
    ending.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  try {
    for (;;) {
      // Nobody who wants to end waits for a server that does not answer.
      const next = await Promise.race([batches.next(), ended]);
      if (next === undefined || next.done === true) return;
      for (const { event, cursor: cursorOf } of next.value) {
        if (ending.aborted) return;
        yield {
          event,
          get cursor() {
            return cursorOf();
          },
        };
      }
    }
  } finally {
    // It comes to its own end where it still waits.
    batches.return().catch(() => {});
  }
}

const refuseSession = (key: string): Refusal =>
  refuse('usage', `The session ${JSON.stringify(key)} is not legal.`, { expected: '<kind>:<name>' });
