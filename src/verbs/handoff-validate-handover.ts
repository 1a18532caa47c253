import * as v from 'valibot';
import { handover } from '../formats/handoff/document.ts';
import { findingsText, judgeDocument } from '../formats/handoff/verdict.ts';
import { textAt } from '../kernel/answer.ts';
import { requiredText } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';

export const handoffValidateHandover = defineVerb({
  name: 'handoff validate-handover',
  summary: 'Is a handover sound?',
  details: `It has its sections in their order, each filled in, one of the five statuses, a time with an offset, who updated it and who is next, and names a session state that is there and has the same status, unless it is done. What is wrong is told with its line and a remedy (7). Line ends, a byte order mark, fenced blocks and sections that nobody asks for are no fault. A conflict that a merge has left is told alone. What the pointer names is never looked at outside of the documentation, and nothing of a file is shown that is no such document.`,
  examples: ['stint handoff validate-handover docs/tests/handovers/20260312_0901_handover.md --json'],
  input: () => v.strictObject({ path: requiredText('The file.') }),
  positionals: ['path'],
  does: { reads: async (world, { path }) => judgeDocument(world, handover, path) },
  text: (answer) =>
    answer['valid'] === true ? `Valid handover: ${textAt(answer, 'file')}` : findingsText(answer).join('\n'),
});
