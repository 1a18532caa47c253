import * as v from 'valibot';
import { findKind, resolve } from '../kernel/address.ts';
import { flawText, objectsAt, table, textAt } from '../kernel/answer.ts';
import { sessionField } from '../kernel/fields.ts';
import { blockerTypes, durationText, spansOf } from '../kernel/spans.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const timeline = defineVerb({
  name: 'timeline',
  summary: 'How long did it stand where?',
  details: `One line for each stretch that the session stood at one position, and the total, which is their sum; a stretch that lasts is counted up to now. The time between a close and a reopening belongs to none.`,
  examples: ['stint timeline', 'stint timeline --json'],
  input: () => v.strictObject({ session: sessionField() }),
  positionals: ['session'],
  does: {
    reads: async (world, { session }) => {
      const row = await resolve(world, session);
      if (!row.ok) return err({ refusal: row.error });
      const kind = await findKind(world.kinds, row.value.kind);
      if (!kind.ok) return err({ refusal: kind.error });
      const { key } = row.value;
      const { seq: until } = row.value;
      const moves = await world.store.events(key, { lifecycleOnly: true, until });
      const blockers = await world.store.events(key, { types: blockerTypes, until });
      const events = [...moves, ...blockers].toSorted((a, b) => a.seq - b.seq);
      const spans = spansOf(kind.value, key, events, world.caller.now);
      return ok({
        session: key,
        session_id: row.value.name,
        ...(row.value.flaw === null ? {} : { flaw: row.value.flaw }),
        spans: spans.map((span) => ({ ...span })),
        total_ms: spans.reduce((total, span) => total + span.ms, 0),
      });
    },
  },
  text: (answer) =>
    [
      table([
        ['FROM', 'TIME', 'POSITION'],
        ...objectsAt(answer, 'spans').map((span) => [
          textAt(span, 'from'),
          durationText(Number(span['ms'])),
          `${textAt(span, 'position')}${span['to'] === null ? ' (now)' : ''}`,
        ]),
        ['', durationText(Number(answer['total_ms'])), 'total'],
      ]),
      ...flawText(answer),
    ].join('\n'),
});
