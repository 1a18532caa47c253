import * as v from 'valibot';
import { standingText } from '../../kernel/answer.ts';
import {
  optionalCount,
  optionalName,
  optionalText,
  optionalTexts,
  requiredText,
  sessionField,
} from '../../kernel/fields.ts';
import { refuseMissing } from '../../kernel/missing-files.ts';
import { orderEndStep } from '../../kernel/step-orders.ts';
import { defineVerb } from '../../kernel/verb.ts';
import { withoutUndefined } from '../../lib/json.ts';
import { err } from '../../lib/result.ts';
import { resolveOrchestration } from './command.ts';
import { agentField, attemptFields } from './fields.ts';

export const agentComplete = defineVerb({
  name: 'agent complete',
  summary: 'Record what an agent has done.',
  details: `Whoever started it may say it, as the same caller or by the token. Files (--file, --result-file) are relative to the root of the checkout, and must be there and not empty (6). The same result again changes nothing. Of an agent in doubt anybody may say it, who knows what it has done: that settles the doubt. One that is not at work is refused (5), an attempt that does not count any more, or is somebody else's, too (10): what was said is kept on record then, and not applied.

Where nobody is at work any more, or after every agent, as the mode says, a checkpoint waits for a decision: stint decide.`,
  examples: [
    'stint agent complete code-1 --summary "The parser reads all fixtures" --file src/parser.ts',
    'stint agent complete arch-1 --summary "3 methods proposed" --tokens 1500 --json',
  ],
  input: () =>
    v.strictObject({
      agent: agentField,
      summary: requiredText('What came of it, in a few words.'),
      file: optionalTexts('A file that it has made or changed.'),
      result_file: optionalText('The file that holds its whole result.'),
      tokens: optionalCount('How large its context was, in tokens.', 0),
      vendor_session: optionalName('The conversation of its vendor.'),
      ...attemptFields,
      session: sessionField(),
    }),
  positionals: ['agent', 'summary'],
  does: {
    writes: async (world, { agent, summary, file = [], result_file: resultFile, attempt, token, session, ...said }) => {
      const claimed = [...file, ...(resultFile === undefined ? [] : [resultFile])];
      const missing = refuseMissing(world, claimed);
      if (missing !== undefined) return err(missing);
      const row = await resolveOrchestration({ ...world, joins: undefined }, session);
      if (!row.ok) return row;
      const result = withoutUndefined({
        summary,
        ...said,
        ...(file.length === 0 ? {} : { files: file }),
        ...(resultFile === undefined ? {} : { output_path: resultFile }),
      });
      return orderEndStep(world, row.value, { step: agent, attempt, token, outcome: 'completed', result });
    },
  },
  text: standingText,
});
