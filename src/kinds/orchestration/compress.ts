import * as v from 'valibot';
import { standingText, wholeTextAt } from '../../kernel/answer.ts';
import { readBrief } from '../../kernel/brief-facts.ts';
import { briefIn, printBrief } from '../../kernel/brief-forms.ts';
import { optionalText, sessionField } from '../../kernel/fields.ts';
import { refuse } from '../../kernel/refusal.ts';
import { defineVerb } from '../../kernel/verb.ts';
import { err } from '../../lib/result.ts';
import { orderCommand, resolveOrchestration, stateOf } from './command.ts';

/** The brief that stands for a summary which nobody has written. */
const ofItself = { budget: '8KB', reader: 'human', format: 'markdown' } as const;

export const compress = defineVerb({
  name: 'compress',
  summary: 'Put on record that the context is compressed, with the summary that it is compressed to.',
  details: `What was measured last is put on record first. Without a text the summary is the brief, as stint brief gives it; --summary reads one from a file, --stdin from standard input. It is answered, stands in the log, and is shown by stint report; the time of it stands in the file of the session. The same text again changes nothing.`,
  examples: [
    'stint compress',
    'stint compress "Parser done, import half; next: the torn files"',
    'stint compress --summary summary.md',
  ],
  input: () =>
    v.strictObject({
      text: optionalText('What is known and to be gone on with. Default: the brief.'),
      session: sessionField(),
    }),
  positionals: ['text'],
  textFrom: { field: 'text', file: 'summary' },
  does: {
    writes: async (world, { text, session }) => {
      if (text?.trim() === '') return err(refuse('usage', 'compress: the text must not be blank.'));
      const row = await resolveOrchestration(world, session);
      if (!row.ok) return row;
      const summary = text ?? printBrief(briefIn(await readBrief(world, row.value.key, ofItself)));
      return orderCommand(world, row.value.key, { type: 'compress', summary }, (after) => ({
        last_compression: stateOf(after).compression?.at ?? null,
        summary,
      }));
    },
  },
  text: (answer) => `compressed  ${standingText(answer)}\n\n${wholeTextAt(answer, 'summary')}`,
});
