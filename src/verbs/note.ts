import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { orderOne } from '../kernel/dispatch.ts';
import { decideNote } from '../kernel/lifecycle.ts';
import { defineVerb } from '../kernel/verb.ts';
import { ok } from '../lib/result.ts';
import { requiredText, sessionField } from '../kernel/fields.ts';
import { textAt } from '../kernel/answer.ts';

export const note = defineVerb({
  name: 'note',
  summary: 'Write a remark into the journal.',
  details: `A remark does not move the session or its revision; a closed session takes it too. Secrets in it are redacted before it is stored.`,
  everyday: true,
  examples: ['stint note "the second reviewer waits for the build"'],
  input: v.strictObject({ text: requiredText('The remark.'), session: sessionField }),
  positionals: ['text'],
  does: {
    writes: async (world, { text, session }) => {
      const row = await resolve(world, session);
      if (!row.ok) return row;
      return ok({
        journalOnly: true,
        ...orderOne(
          row.value.key,
          (found) => decideNote(found, text),
          ({ common }) => ({ session: common.key, session_id: common.name, seq: common.seq, at: common.updatedAt }),
        ),
      });
    },
  },
  text: (answer) => `${textAt(answer, 'session')}: noted (${textAt(answer, 'seq')})`,
});
