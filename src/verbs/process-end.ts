import * as v from 'valibot';
import { resolveProcess } from '../kernel/address.ts';
import { textAt } from '../kernel/answer.ts';
import { orderOne } from '../kernel/dispatch.ts';
import { choice, optionalCount, optionalText } from '../kernel/fields.ts';
import { decideEnd, decideProcess, processIn } from '../kernel/process-rules.ts';
import { defineVerb } from '../kernel/verb.ts';
import { ok } from '../lib/result.ts';

export const processEnd = defineVerb({
  name: 'process end',
  summary: 'Record that a process has ended, and how.',
  details: `Without --outcome the exit code decides: 0 or none is done, any other crashed. What is not known stays unknown: without --exit-code none is stored. Saying the same again changes nothing, saying something else is a conflict (9). A supervisor that crashed or was cancelled takes the instances that depend on it along. orphaned is not said here: stint process sweep records it of a process that it finds dead.`,
  examples: ['stint process end 01KX2QZ6', 'stint process end 01KX2QZ6 --exit-code 137 --note "out of memory"'],
  aliases: [{ name: 'session end-instance', flags: { status: 'outcome' } }],
  input: () =>
    v.strictObject({
      id: optionalText('The id of the process, or the first characters of it. Default: STINT_PROCESS.'),
      outcome: v.optional(choice(['done', 'crashed', 'cancelled'], 'How it ended')),
      exit_code: optionalCount('Its exit code, where it is known.', 0),
      note: optionalText('A remark.'),
    }),
  positionals: ['id'],
  does: {
    writes: async (world, input) => {
      const process = await resolveProcess(world, input.id);
      if (!process.ok) return process;
      const { id, session } = process.value;
      const exitCode = input.exit_code ?? null;
      const outcome = input.outcome ?? (exitCode === null || exitCode === 0 ? 'done' : 'crashed');
      const end = { outcome, exitCode, note: input.note ?? null };
      return ok({
        journalOnly: true,
        processes: [id],
        ...orderOne(
          session,
          (found) => decideProcess(found, (running, of) => decideEnd(of(id), running, end)),
          (after) => processIn(after, id, world),
        ),
      });
    },
  },
  text: (answer) =>
    `${textAt(answer, 'id')}  ${textAt(answer, 'status')}${textAt(answer, 'exit_code') === '' ? '' : `, exit code ${textAt(answer, 'exit_code')}`}`,
});
