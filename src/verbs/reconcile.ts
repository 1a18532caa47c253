import * as v from 'valibot';
import { objectsAt, table, textAt } from '../kernel/answer.ts';
import { loadedIn, type Order } from '../kernel/dispatch.ts';
import type { DecidedEvent } from '../kernel/event.ts';
import { optionalCount } from '../kernel/fields.ts';
import { folderIn } from '../kernel/kinds.ts';
import { isHeld, leaseFacts } from '../kernel/lease.ts';
import { decideFinish } from '../kernel/lifecycle.ts';
import { livenessOfAll, type Liveness, type Process } from '../kernel/process.ts';
import { resolveCaller } from '../kernel/address.ts';
import { isOpened, type Session } from '../kernel/session.ts';
import { defineVerb } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { ok } from '../lib/result.ts';

const day = 24 * 3_600_000;

export const reconcile = defineVerb({
  name: 'reconcile',
  summary: 'Close what was left alone, and name what nothing proves.',
  details: `Closes as aborted, with the reason on the record, every open session that has had no event for 7 days (--days N) and on which nobody works as far as can be seen: no process that is alive, or was heard of in that time. A paused one stays open. Nothing else is ever closed by itself, and nothing is deleted: a closed session goes on when it is begun again.

unproved lists the closed sessions whose last files are there without a completion on record. They stay what they are: a file alone completes nothing. Doing it again changes nothing. --dry-run shows what would be done.`,
  examples: ['stint reconcile --dry-run', 'stint reconcile --days 30 --json'],
  aliases: [{ name: 'state reconcile' }],
  input: () => v.strictObject({ days: optionalCount('Days without an event. Default: 7.') }),
  does: {
    writes: async (world, input) => {
      const { store, host, caller, places, files, kinds } = world;
      const days = input.days ?? 7;
      const before = new Date(Date.parse(caller.now) - days * day).toISOString();
      const process = await resolveCaller(world);
      if (!process.ok) return process;
      const isAtWork = (one: Process, liveness: Liveness | undefined): boolean =>
        // A heartbeat is no event: a process that was heard of since is at work, even if it is quiet now.
        liveness === 'alive' || (liveness !== 'dead' && liveness !== 'ended' && one.heartbeatAt >= before);
      const isWorkedOn = (session: Session): boolean => {
        const processes = [...session.processes.values()];
        const looked = livenessOfAll(processes, host, caller.now);
        return processes.some((one) => isAtWork(one, looked.get(one.id)));
      };
      const isStale = (session: Session): boolean =>
        isOpened(session) &&
        session.common.status === 'active' &&
        // Who has paused it has said so.
        session.common.pause === null &&
        session.common.updatedAt < before &&
        !isWorkedOn(session) &&
        !isHeld(leaseFacts(session, world.caller, world.host));

      const rows = await store.rows({ thorough: true });
      const stale = rows.filter((row) => row.status === 'active' && row.updatedAt < before);
      const unproved: JsonObject[] = [];
      for (const row of rows.filter(({ status, outcome }) => status === 'closed' && outcome !== 'completed')) {
        const read = await store.read(row.key);
        const folder = `${places.homeOf(row).root}/${await folderIn(kinds, row)}`;
        if (read === undefined || read.view.missing.length === 0 || read.unreadable !== undefined) continue;
        // Of the whole work, not of what was reached: a session that only files tell of never left its first phase.
        const session = await store.load(row.key);
        // What blocked it is no part of the work.
        if (session === undefined || session.folded.view(session.common).missing.length === 0) continue;
        const last = session.folded
          .progress(session.common, new Map())
          .steps.flatMap(({ evidence }) => evidence)
          .at(-1);
        if (last === undefined) continue;
        if (files.exists(`${folder}/${last.path}`)) unproved.push({ session: row.key, file: last.path });
      }
      const keys = stale.map(({ key }) => key);
      const order: Order<JsonObject> = {
        keys,
        fence: 'several',
        processes: [],
        decide: (sessions) => {
          const events = new Map<string, readonly DecidedEvent[]>();
          for (const key of keys) {
            const session = loadedIn(sessions, key);
            if (!isStale(session)) continue;
            const reason = `nothing happened for ${days} days`;
            const decided = decideFinish(session, { abort: true, reason, process: process.value });
            if (decided.ok) events.set(key, decided.value);
          }
          return ok(events);
        },
        answer: (after, earlier) => ({
          closed: keys
            .filter((key) => loadedIn(after, key) !== loadedIn(earlier, key))
            .map((key) => ({ session: key, last_event_at: loadedIn(earlier, key).common?.updatedAt ?? null })),
          unproved,
        }),
      };
      return ok(order);
    },
  },
  text: (answer) => {
    const rows = [
      ...objectsAt(answer, 'closed').map((one) => ['closed', textAt(one, 'session'), textAt(one, 'last_event_at')]),
      ...objectsAt(answer, 'unproved').map((one) => [
        'unproved',
        textAt(one, 'session'),
        `${textAt(one, 'file')} is there, a completion is not on record`,
      ]),
    ];
    return rows.length === 0 ? 'nothing to reconcile' : table(rows);
  },
});
