import * as v from 'valibot';
import { standingText } from '../../../kernel/answer.ts';
import { requiredText, sessionField } from '../../../kernel/fields.ts';
import { defineVerb } from '../../../kernel/verb.ts';
import { orderCommand, stateOf } from './command.ts';

export const compress = defineVerb({
  name: 'compress',
  summary: 'Put on record that the context was compressed, with the summary that it was compressed to.',
  details: `What was measured last is put on record first. The summary stands in the log, and the time of it in the file of the session. --summary-file and --stdin read it whole. stint brief makes one of what is on record.`,
  examples: [
    'stint compress --summary "Parser done, import half; next: the torn files"',
    'stint compress --summary-file summary.md',
  ],
  input: v.strictObject({
    summary: requiredText('What is known and to be gone on with.'),
    session: sessionField,
  }),
  textFrom: { field: 'summary', file: 'summary-file' },
  does: {
    writes: async (world, { summary, session }) =>
      orderCommand(world, session, { type: 'compress', summary }, (after) => ({
        last_compression: stateOf(after).compression?.at ?? null,
      })),
  },
  text: (answer) => `compressed  ${standingText(answer)}`,
});
