import * as v from 'valibot';
import { standingText } from '../../../kernel/answer.ts';
import { requiredText, sessionField } from '../../../kernel/fields.ts';
import { defineVerb } from '../../../kernel/verb.ts';
import { orderCommand } from './command.ts';

export const compress = defineVerb({
  name: 'compress',
  summary: 'Put on record that the context was compressed, with the summary that it was compressed to.',
  details: `What was measured last is put on record first. The summary stands in the log, and the time of it in the file of the session. --summary reads it from a file, --stdin from standard input. stint brief makes one of what is on record.`,
  examples: ['stint compress "Parser done, import half; next: the torn files"', 'stint compress --summary summary.md'],
  input: v.strictObject({
    text: requiredText('What is known and to be gone on with.'),
    session: sessionField,
  }),
  positionals: ['text'],
  textFrom: { field: 'text', file: 'summary' },
  does: {
    writes: async (world, { text: summary, session }) =>
      orderCommand(world, session, { type: 'compress', summary }, (after) => ({
        last_compression: after.common.updatedAt,
      })),
  },
  text: (answer) => `compressed  ${standingText(answer)}`,
});
