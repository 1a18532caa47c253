import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { movedText } from '../kernel/answer.ts';
import { archivedField } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';

export const unarchive = defineVerb({
  name: 'unarchive',
  summary: 'Take a session out of the archive.',
  details: `Its folder moves back, whole, to where it was. The session stays closed as it was: stint reopen goes on with it. Sessions of other kinds in the same folder come along.

Nothing is overwritten: where something lies at its own place it is refused with the path (9). What cannot be moved now is a warning, as for stint archive.

Without --session it is the only session of this checkout in the archive; of several none is guessed, and the refusal (4) lists them. For a session that is not in the archive nothing changes.`,
  examples: ['stint unarchive --session 2026-03-17-main'],
  input: () => v.strictObject({ session: archivedField() }),
  positionals: ['session'],
  does: {
    writes: async (world, { session }) => {
      const row = await resolve(world, session, { standing: 'archived' });
      if (!row.ok) return row;
      const { orderMove } = await import('../kernel/archive-orders.ts');
      return orderMove(world, row.value, 'unarchive');
    },
  },
  text: (answer) => movedText('out of the archive', answer),
});
