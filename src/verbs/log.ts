import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { flawText, objectAt, objectsAt, table, textAt } from '../kernel/answer.ts';
import { optionalCount, sessionField } from '../kernel/fields.ts';
import { eventToJson } from '../kernel/query.ts';
import { defineVerb } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok } from '../lib/result.ts';
import { truncate } from '../lib/text.ts';

export const log = defineVerb({
  name: 'log',
  summary: 'Everything that happened, in order.',
  details: `All events of a session, the oldest first: lifecycle and journal. --limit N gives the newest N.`,
  examples: ['stint log', 'stint log --limit 20 --json'],
  input: v.strictObject({ session: sessionField, limit: optionalCount('Only the newest so many.') }),
  positionals: ['session'],
  does: {
    reads: async (world, { session, limit }) => {
      const row = await resolve(world, session);
      if (!row.ok) return err({ refusal: row.error });
      const events = await world.store.events(row.value.key, {
        // What is written meanwhile is not part of this answer.
        until: row.value.seq,
        ...(limit === undefined ? {} : { last: limit }),
      });
      return ok({
        session: row.value.key,
        session_id: row.value.name,
        total: row.value.seq,
        ...(row.value.flaw === null ? {} : { flaw: row.value.flaw }),
        events: events.map(eventToJson),
      });
    },
  },
  text: (answer) =>
    [
      table(
        objectsAt(answer, 'events').map((event) => [
          textAt(event, 'seq'),
          textAt(event, 'at'),
          textAt(event, 'type'),
          textAt(event, 'actor'),
          dataText(objectAt(event, 'data')),
        ]),
      ),
      ...flawText(answer),
    ].join('\n'),
});

/** The short fields of an event's data, in one line. */
const dataText = (data: JsonObject): string =>
  truncate(
    Object.entries(data)
      .filter(([key, value]) => key !== 'payload' && key !== 'digest' && value !== null)
      .map(([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
      .join(' '),
    160,
  );
