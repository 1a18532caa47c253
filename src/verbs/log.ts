import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { flawText, objectAt, objectsAt, table, textAt } from '../kernel/answer.ts';
import { flag, optionalCount, optionalText, sessionField } from '../kernel/fields.ts';
import { eventToJson } from '../kernel/query.ts';
import { refuse } from '../kernel/refusal.ts';
import { defineVerb } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok } from '../lib/result.ts';
import { truncate } from '../lib/text.ts';

export const log = defineVerb({
  name: 'log',
  summary: 'Everything that happened, in order.',
  details: `All events of a session, the oldest first: lifecycle and journal. --limit N gives the newest N.

With --follow it goes on: every event that was written, and then each one as it is written, once and in the order of its session, until it is interrupted (130), its output is closed (0), or --limit N events were given (0). --all follows all sessions of the store, those that begin later too. With --json each event is one line, a document of its own (the one exception to one document for each call), with its session and its cursor: the text that --after takes to go on behind this event, after whatever happened to the one who followed, to the server, or to the store. Where the cursor is longer than 4096 characters only some lines have it, the last one of what was read at once always. --after now leaves out what was written before. A store that is away, locked or being repaired is waited for, with a remark on standard error.`,
  examples: [
    'stint log',
    'stint log --limit 20 --json',
    'stint log --follow --all --json',
    'stint log --follow --session login --after review:login@12.8f14e45f',
  ],
  input: () =>
    v.strictObject({
      session: sessionField(),
      limit: optionalCount('Only the newest so many. With --follow: end after so many.'),
      follow: flag('Give each event as it is written, and do not end.'),
      all: flag('With --follow: of all sessions of this store.'),
      after: optionalText(
        'With --follow: the cursor to go on behind, @FILE for a file that holds it, or now. Default: before the first event.',
      ),
    }),
  positionals: ['session'],
  contradiction: ({ session, follow, all, after }) =>
    follow !== true && (all === true || after !== undefined)
      ? `--${all === true ? 'all' : 'after'} goes with --follow`
      : all === true && session !== undefined
        ? '--all and a session do not go together'
        : undefined,
  follows: { on: 'follow', all: 'all', after: 'after', limit: 'limit', text: (event) => eventCells(event).join(' ') },
  does: {
    reads: async (world, { session, limit, follow }) => {
      if (follow === true)
        return err({
          refusal: refuse('usage', 'log: --follow is for the command line.', {
            hint: 'watch() of the library',
          }),
        });
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
  text: (answer) => [table(objectsAt(answer, 'events').map(eventCells)), ...flawText(answer)].join('\n'),
});

const eventCells = (event: JsonObject): readonly string[] => [
  ...(textAt(event, 'session') === '' ? [] : [textAt(event, 'session')]),
  textAt(event, 'seq'),
  textAt(event, 'at'),
  textAt(event, 'type'),
  textAt(event, 'actor'),
  dataText(objectAt(event, 'data')),
];

/** The short fields of an event's data, in one line. */
const dataText = (data: JsonObject): string =>
  truncate(
    Object.entries(data)
      .filter(([key, value]) => key !== 'payload' && key !== 'digest' && value !== null)
      .map(([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
      .join(' '),
    160,
  );
