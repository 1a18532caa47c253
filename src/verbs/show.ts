import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { objectAt, objectsAt, table, textAt } from '../kernel/answer.ts';
import { optionalCount, sessionField } from '../kernel/fields.ts';
import { folderIn } from '../kernel/kinds.ts';
import { eventToJson, pastToJson, sessionAt, statusToJson, surroundingsOf } from '../kernel/query.ts';
import { bundlesIn } from '../kernel/travel-record.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';
import { status } from './status.ts';

/** How many of the newest events the text shows; the JSON has all of them. */
const shownEvents = 5;

export const show = defineVerb({
  name: 'show',
  summary: 'The session and its events, now or as it was at a revision.',
  details: `With --at the session is folded to that revision and shown as it stood then; nothing changes. The text shows the last 5 events, the JSON has all of them, and in bundles the bundles that it came in.`,
  examples: ['stint show --json', 'stint show --at 3'],
  input: () => v.strictObject({ session: sessionField(), at: optionalCount('The revision.') }),
  aliases: [{ name: 'state show', flags: { 'session-id': 'session' } }],
  positionals: ['session'],
  does: {
    reads: async (world, { session: given, at }) => {
      const row = await resolve(world, given);
      if (!row.ok) return err({ refusal: row.error });
      const session = await sessionAt(world.store, row.value.key, at);
      if (!session.ok) return err({ refusal: session.error });
      const events = await world.store.events(row.value.key, { until: at ?? session.value.row.seq });
      const folder = await folderIn(world.kinds, session.value.row);
      const bundles = at === undefined ? bundlesIn(await world.store.samples(row.value.key)) : [];
      return ok({
        ...(at === undefined ? {} : { at }),
        session:
          at === undefined
            ? statusToJson(session.value, await surroundingsOf(world, session.value), world, folder)
            : pastToJson(session.value, world, folder),
        events: events.map(eventToJson),
        ...(bundles.length === 0 ? {} : { bundles: [...bundles] }),
      });
    },
  },
  text: (answer) => {
    const session = objectAt(answer, 'session');
    const events = objectsAt(answer, 'events');
    return [
      ...(answer['at'] === undefined ? [] : [`as it stood at revision ${textAt(answer, 'at')}:`]),
      status.text(session),
      table(
        events
          .slice(-shownEvents)
          .map((event) => [textAt(event, 'seq'), textAt(event, 'at'), textAt(event, 'type'), textAt(event, 'actor')]),
      ),
      ...(events.length > shownEvents ? [`(${events.length - shownEvents} earlier events: stint log)`] : []),
    ].join('\n');
  },
});
