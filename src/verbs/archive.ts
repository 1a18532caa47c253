import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { movedText } from '../kernel/answer.ts';
import { closedField } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';

export const archive = defineVerb({
  name: 'archive',
  summary: 'Put a closed session away, with its folder.',
  details: `Its folder moves into the folder archive beside it, whole, in one step, with whatever anybody has put there. How the session ended stays what it is, and nothing of its history changes. It is listed with --all, read as ever, and takes remarks; it goes on only after stint unarchive. Sessions of other kinds in the same folder go along, and must be closed too.

Only what is closed is archived (5), and nothing is overwritten: where something of that name lies in the archive already it is refused with the path (9). A folder that was moved there by hand is recorded. Where it cannot be moved now that is a warning, and the next verb that is run moves it, or stint rebuild; a folder of another machine is moved there.

Without --session it is the only closed session of this checkout that is not in the archive; of several none is guessed, and the refusal (4) lists them. Archiving it again changes nothing.`,
  examples: ['stint archive', 'stint archive --session review:2026-03-17-main --json'],
  input: () => v.strictObject({ session: closedField() }),
  positionals: ['session'],
  keepsCopy: true,
  does: {
    writes: async (world, { session }) => {
      const row = await resolve(world, session, { standing: 'closed' });
      if (!row.ok) return row;
      const { orderMove } = await import('../kernel/archive-orders.ts');
      return orderMove(world, row.value, 'archive');
    },
  },
  text: (answer) => movedText('archived', answer),
});
