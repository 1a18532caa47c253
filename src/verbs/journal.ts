import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { flawText, objectAt, objectsAt, table, textAt, textsAt } from '../kernel/answer.ts';
import { choices, optionalCount, sessionField } from '../kernel/fields.ts';
import { countIn, entryTypes, type EntryType } from '../kernel/journal.ts';
import { readJournal } from '../kernel/journal-query.ts';
import { sessionAt } from '../kernel/query.ts';
import { defineVerb } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok } from '../lib/result.ts';

/** Blockers are told of with the entries. */
const everyType: readonly (EntryType | 'blocker')[] = [...entryTypes, 'blocker'];

export const journal = defineVerb({
  name: 'journal',
  summary: 'What was decided, assumed, done and noted.',
  details: `The entries of a session with their whole texts, the oldest first: what stint note wrote, and what blocked the work, with what became of it. An entry that was superseded is told with the one that took its place. --limit N gives the newest N of those that are meant; total says how many of these types there are.`,
  examples: ['stint journal', 'stint journal --type decision --type assumption', 'stint journal --since 12 --json'],
  input: () =>
    v.strictObject({
      session: sessionField(),
      type: choices(everyType, 'Only entries of this type'),
      since: optionalCount('Only those behind this number of an event.', 0),
      limit: optionalCount('Only the newest so many.'),
    }),
  positionals: ['session'],
  does: {
    reads: async (world, { session, type: types, since, limit }) => {
      const row = await resolve(world, session);
      if (!row.ok) return err({ refusal: row.error });
      const { key, name } = row.value;
      const found = await sessionAt(world.store, key, undefined);
      if (!found.ok) return err({ refusal: found.error });
      const { common, row: now } = found.value;
      const entries = await readJournal(world.store, key, { until: now.seq, types, since, limit });
      return ok({
        session: key,
        session_id: name,
        total: [...new Set(types ?? everyType)].reduce((total, one) => total + countIn(common.journal, one), 0),
        ...(now.flaw === null ? {} : { flaw: now.flaw }),
        entries: [...entries],
      });
    },
  },
  text: (answer) => {
    const entries = objectsAt(answer, 'entries');
    if (entries.length === 0) return ['no entries', ...flawText(answer)].join('\n');
    const lines = table(entries.map(cellsOf)).split('\n');
    return [...entries.flatMap((entry, index) => [lines[index] ?? '', ...moreOf(entry)]), ...flawText(answer)].join(
      '\n',
    );
  },
});

const cellsOf = (entry: JsonObject): readonly string[] => [
  textAt(entry, 'id'),
  textAt(entry, 'at'),
  textAt(entry, 'type'),
  textAt(entry, 'actor'),
  `${textAt(entry, 'text')}${stateOf(entry)}`,
];

/** What became of it. */
const stateOf = (entry: JsonObject): string => {
  const by = textAt(entry, 'superseded_by');
  const exit = textAt(entry, 'exit_code');
  const ran = entry['was_run'] === true ? 'ran' : 'said';
  const state = [
    ...(exit === '' ? [] : [`${ran}: exit ${exit}${entry['timed_out'] === true ? ', after the timeout' : ''}`]),
    ...(entry['file'] === null ? ['not there'] : []),
    ...(by === '' ? [] : [`superseded by ${by}`]),
    ...(entry['type'] === 'blocker' && entry['cleared'] === null ? ['open'] : []),
  ];
  return state.length === 0 ? '' : `  (${state.join('; ')})`;
};

/** What else is known of it, a line each. */
const moreOf = (entry: JsonObject): readonly string[] => {
  const path = textAt(entry, 'path');
  const cleared = objectAt(entry, 'cleared');
  const how = textAt(cleared, 'how');
  return [
    ...labelled('because', textAt(entry, 'rationale')),
    ...textsAt(entry, 'alternatives').map((one) => `    or: ${one}`),
    ...labelled('file', path === textAt(entry, 'text') ? '' : path),
    ...labelled('in place of', textAt(entry, 'supersedes')),
    ...labelled('needs', textAt(entry, 'needs')),
    ...labelled(
      'cleared',
      textAt(cleared, 'at') === ''
        ? ''
        : `${textAt(cleared, 'at')} by ${textAt(cleared, 'actor')}${how === '' ? '' : `: ${how}`}`,
    ),
  ];
};

const labelled = (label: string, text: string): readonly string[] => (text === '' ? [] : [`    ${label}: ${text}`]);
