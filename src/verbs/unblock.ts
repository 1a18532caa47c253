import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { objectAt, standingText, textAt } from '../kernel/answer.ts';
import { loadedIn, orderOne, standingOf } from '../kernel/dispatch.ts';
import { optionalCount, optionalText, sessionField } from '../kernel/fields.ts';
import { blockerOf, blockersOf, mostCharacters, type Blocker } from '../kernel/journal.ts';
import { decideUnblock } from '../kernel/journal-rules.ts';
import type { Session } from '../kernel/session.ts';
import { defineVerb } from '../kernel/verb.ts';
import { ok } from '../lib/result.ts';

export const unblock = defineVerb({
  name: 'unblock',
  summary: 'Put on record that a blocker is none any more.',
  details: `The blocker with that id; without one the only open blocker. Of several none is guessed (3), and what is no blocker is refused (4). To clear one again changes nothing. It moves neither the session nor its revision, and needs no lease of a session that is named: without --session or STINT_SESSION it is refused (10) where somebody else holds it. A closed session takes it too.

A session whose last blocker was cleared is not closed by that: stint finish does it, where nothing else is missing.`,
  examples: ['stint unblock', 'stint unblock 7 --how "the database is back"'],
  input: () =>
    v.strictObject({
      id: optionalCount('The id of the blocker. Default: the only one that is open.'),
      how: optionalText('What was done about it.'),
      session: sessionField(),
    }),
  positionals: ['id'],
  does: {
    writes: async (world, { session, id, how = null }) => {
      const row = await resolve(world, session, { beside: id === undefined ? 'unblock' : `unblock ${id}` });
      if (!row.ok) return row;
      const { key, seq } = row.value;
      const raised = id === undefined || id > seq ? undefined : await world.store.event(key, id);
      const order = orderOne(
        key,
        (found) => decideUnblock(found, id === undefined ? undefined : { id, raised }, how),
        (after) => ({ ...standingOf(after), blockers: blockersOf(after.common).length }),
      );
      return ok({
        ...order,
        fence: 'own',
        answer: (after, before) => {
          const blocker = clearedIn(loadedIn(before, key), id) ?? (raised && blockerOf(raised, mostCharacters));
          return { ...order.answer(after, before), blocker: blocker === undefined ? null : { ...blocker } };
        },
      });
    },
  },
  text: (answer) => `unblocked (${textAt(objectAt(answer, 'blocker'), 'id')})  ${standingText(answer)}`,
});

/** The open blocker that is meant. */
const clearedIn = ({ common }: Session, id: number | undefined): Blocker | undefined =>
  blockersOf(common ?? {}).find((one) => id === undefined || one.id === id);
