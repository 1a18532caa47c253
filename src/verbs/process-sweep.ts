import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { objectsAt, table, textAt } from '../kernel/answer.ts';
import { loadedIn, type Order } from '../kernel/dispatch.ts';
import type { DecidedEvent } from '../kernel/event.ts';
import { onlySessionField } from '../kernel/fields.ts';
import { decideProcess } from '../kernel/lifecycle.ts';
import { callProcess, decideSweep, processToJson } from '../kernel/process.ts';
import { defineVerb } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { ok } from '../lib/result.ts';

export const processSweep = defineVerb({
  name: 'process sweep',
  summary: 'Record the processes that are dead.',
  details: `Dead is only who is proved to be: on this machine, in this boot, with a pid that was given and is gone or was given to another program. An old heartbeat proves nothing, and a process of another machine is never judged by its pid. A dead supervisor takes its dependents along in the same transaction; what they were doing is interrupted, and the sessions stay open. Finding nobody changes nothing.`,
  examples: ['stint process sweep', 'stint process sweep --dry-run --json'],
  input: v.strictObject({ session: onlySessionField }),
  does: {
    writes: async (world, input) => {
      const row = input.session === undefined ? undefined : await resolve(world, input.session);
      if (row?.ok === false) return row;
      const { store, host, caller } = world;
      const running = await store.processes({
        running: true,
        ...(row === undefined ? {} : { session: row.value.key }),
      });
      const dead = new Map(
        running
          .filter((process) => host.observe(process) === 'dead')
          .map((process) => [process.id, `pid ${process.pid} is gone on ${host.name}`]),
      );
      const keys = [...new Set(running.filter(({ id }) => dead.has(id)).map(({ session }) => session))];
      const order: Order<JsonObject> = {
        keys,
        journalOnly: true,
        processes: [],
        decide: (sessions) => {
          const events = new Map<string, readonly DecidedEvent[]>();
          for (const key of keys) {
            const decided = decideProcess(loadedIn(sessions, key), (found) => decideSweep(found, dead));
            if (!decided.ok) return decided;
            events.set(key, decided.value);
          }
          return ok(events);
        },
        answer: (after, before) => ({
          swept: keys.flatMap((key) =>
            [...loadedIn(after, key).processes.values()]
              .filter(
                ({ id, endedAt }) => endedAt !== null && loadedIn(before, key).processes.get(id)?.endedAt === null,
              )
              .map((process) => ({ ...processToJson(process, host, caller.now), called: callProcess(process) })),
          ),
        }),
      };
      return ok(order);
    },
  },
  text: (answer) => {
    const swept = objectsAt(answer, 'swept');
    if (swept.length === 0) return 'no process is known to be dead';
    return table(
      swept.map((process) => [
        textAt(process, 'id'),
        textAt(process, 'called'),
        textAt(process, 'session'),
        textAt(process, 'status'),
        textAt(process, 'notes'),
      ]),
    );
  },
});
