import * as v from 'valibot';
import { findRoot } from '../formats/handoff/look.ts';
import { textAt } from '../kernel/answer.ts';
import { optionalText } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const handoffRoot = defineVerb({
  name: 'handoff root',
  summary: 'Where does this project keep its hand-off documents?',
  details: `The folder that --root names, else the first of docs/tests, docs/test, test-docs and test-documentation that is there, in the checkout of --start-dir or of the current folder; docs/tests where none is. It is only looked for, not made. A file in its place is refused (6).`,
  examples: ['stint handoff root', 'stint handoff root --start-dir packages/web --json'],
  input: () =>
    v.strictObject({
      root: optionalText('The folder itself.'),
      start_dir: optionalText('The folder to look from. Default: the current one.'),
    }),
  printsValue: true,
  does: {
    reads: async (world, input) => {
      const root = await findRoot(world, input);
      return root.ok
        ? ok({ docs_root: root.value, exists: world.files.exists(root.value) })
        : err({ refusal: root.error });
    },
  },
  text: (answer) => textAt(answer, 'docs_root'),
});
