import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { objectsAt, table, textAt } from '../kernel/answer.ts';
import { loadedIn, type Order } from '../kernel/dispatch.ts';
import type { DecidedEvent } from '../kernel/event.ts';
import { sessionFilter } from '../kernel/fields.ts';
import { decideProcess, decideSweep } from '../kernel/process-rules.ts';
import { livenessOf } from '../kernel/process.ts';
import { processToJson } from '../kernel/process-json.ts';
import type { Session } from '../kernel/session.ts';
import { defineVerb } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { ok } from '../lib/result.ts';

export const processSweep = defineVerb({
  name: 'process sweep',
  summary: 'Record the processes that are dead.',
  details: `Dead is only who is proved to be: on this machine, in this boot, with a pid that was given and is gone or was given to another program. An old heartbeat proves nothing, and a process of another machine is never judged by its pid. A dead supervisor takes its dependents along in the same transaction; what they were doing is interrupted, and the sessions stay open. Finding nobody changes nothing. Sessions that this program may not write stand in left, and do not keep the others from being swept.`,
  examples: ['stint process sweep', 'stint process sweep --dry-run --json'],
  input: () => v.strictObject({ session: sessionFilter() }),
  does: {
    writes: async (world, input) => {
      const row = input.session === undefined ? undefined : await resolve(world, input.session);
      if (row?.ok === false) return row;
      const { store, host, caller, kinds } = world;
      const running = await store.processes({
        running: true,
        ...(row === undefined ? {} : { session: row.value.key }),
      });
      const dead = new Map(
        running
          .filter((process) => host.observe(process) === 'dead')
          .map((process) => [process.id, `pid ${process.pid} is gone on ${host.name}`]),
      );
      const all = [...new Set(running.filter(({ id }) => dead.has(id)).map(({ session }) => session))];
      // One session that cannot be written does not keep the others from being swept; where it was named, it is refused.
      const isKnown = (key: string): boolean => kinds.has(key.slice(0, key.indexOf(':')));
      const keys = row === undefined ? all.filter(isKnown) : all;
      const decide = (session: Session) => decideProcess(session, (found) => decideSweep(found, dead));
      const order: Order<JsonObject> = {
        keys,
        fence: row === undefined ? 'several' : undefined,
        journalOnly: true,
        processes: [],
        decide: (sessions) => {
          const events = new Map<string, readonly DecidedEvent[]>();
          for (const key of keys) {
            const decided = decide(loadedIn(sessions, key));
            if (decided.ok) events.set(key, decided.value);
            else if (row !== undefined) return decided;
          }
          return ok(events);
        },
        answer: (after, before) => ({
          swept: keys.flatMap((key) =>
            [...loadedIn(after, key).processes.values()]
              .filter(
                ({ id, endedAt }) => endedAt !== null && loadedIn(before, key).processes.get(id)?.endedAt === null,
              )
              .map((process) => processToJson(process, livenessOf(process, host, caller.now))),
          ),
          left: [
            ...all
              .filter((key) => !keys.includes(key))
              .map((key) => ({ session: key, reason: 'its kind is not known' })),
            ...keys.flatMap((key) => {
              const decided = decide(loadedIn(before, key));
              return decided.ok ? [] : [{ session: key, reason: decided.error.message }];
            }),
          ],
        }),
      };
      return ok(order);
    },
  },
  text: (answer) => {
    const swept = objectsAt(answer, 'swept').map((process) => [
      textAt(process, 'id'),
      textAt(process, 'called'),
      textAt(process, 'session'),
      textAt(process, 'status'),
      textAt(process, 'notes'),
    ]);
    const left = objectsAt(answer, 'left').map((one) => ['left', textAt(one, 'session'), textAt(one, 'reason')]);
    if (swept.length + left.length === 0) return 'no process is known to be dead';
    return [swept, left].flatMap((rows) => (rows.length === 0 ? [] : [table(rows)])).join('\n');
  },
});
