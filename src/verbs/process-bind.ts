import * as v from 'valibot';
import { resolveProcess } from '../kernel/address.ts';
import { textAt } from '../kernel/answer.ts';
import { orderOne } from '../kernel/dispatch.ts';
import { requiredText } from '../kernel/fields.ts';
import { decideBind, decideProcess, processIn } from '../kernel/process-rules.ts';
import { vendorSessionPattern } from '../kernel/process.ts';
import { defineVerb } from '../kernel/verb.ts';
import { ok } from '../lib/result.ts';

export const processBind = defineVerb({
  name: 'process bind',
  summary: "Bind a process to its vendor's conversation.",
  details: `Stores the id by which the vendor's program resumes the conversation; status and process list then say how. Once bound, the same id again changes nothing and another one is a conflict (9): a resume must never go to somebody else's conversation.`,
  examples: ['stint process bind 01KX2QZ6 0193b3c2-7d1e-7c55-8f60-2b8a1c9f4e11'],
  aliases: [{ name: 'session bind-vendor-id' }],
  input: () =>
    v.strictObject({
      id: requiredText('The id of the process, or the first characters of it.'),
      vendor_session: v.pipe(
        requiredText("The vendor's id of the conversation."),
        v.regex(vendorSessionPattern, 'must be letters, digits, ".", "_", ":" and "-", at most 256'),
      ),
    }),
  positionals: ['id', 'vendor_session'],
  does: {
    writes: async (world, input) => {
      const process = await resolveProcess(world, input.id);
      if (!process.ok) return process;
      const { id, session } = process.value;
      return ok({
        journalOnly: true,
        processes: [id],
        ...orderOne(
          session,
          (found) => decideProcess(found, (_, of) => decideBind(of(id), input.vendor_session)),
          (after) => processIn(after, id, world),
        ),
      });
    },
  },
  text: (answer) => `${textAt(answer, 'id')}  bound to ${textAt(answer, 'vendor_session_id')}`,
});
