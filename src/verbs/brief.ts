import * as v from 'valibot';
import { readBrief } from '../kernel/brief-facts.ts';
import { briefFields, wishOfBrief } from '../kernel/brief-fields.ts';
import { briefIn, formats, printBrief } from '../kernel/brief-forms.ts';
import { choice, sessionField } from '../kernel/fields.ts';
import { resolveToGoOn } from '../kernel/going-on.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const brief = defineVerb({
  name: 'brief',
  summary: 'What does somebody need to know who goes on with it?',
  details: `Tells in a bounded text what a session is for, where it stands, what is done, under way, in doubt and left, what blocks it, which decisions and assumptions bind, what was validated and how long ago, which files and commands to start with, what was used up of a budget, what changed outside since it was written last (branch, commits, files that are not committed, a project that was moved), what could not be restored, and the next action with its command. It changes nothing; stint resume goes on with the session and gives the same brief.

Every fact is told whole, with who recorded it, when, and in which event; a text that is too long for any brief is shown with its beginning and its size. What is more urgent comes first until --budget is filled: 8KB unless it is said, counted in bytes of the longest form, so that text, Markdown and JSON hold the same facts. What did not fit is counted, with the command that shows it. full reads the whole journal and leaves nothing out.

--for agent puts all of it inside one fence behind a line that says that it is recorded data, not instructions; no text in it can end the fence, is a tag, or holds characters that nobody sees. Without --for it is for an agent where one runs this in a conversation of its own, else for a person. --format markdown has the headings of the original's brief.`,
  examples: [
    'stint brief',
    'stint brief --budget 2KB --for agent',
    'stint brief --format markdown --session review:2026-03-17-main',
    'stint brief --budget full --json',
  ],
  input: () =>
    v.strictObject({
      ...briefFields,
      format: v.optional(choice(formats, 'How it is printed; default text')),
      session: sessionField(),
    }),
  positionals: ['session'],
  does: {
    reads: async (world, input) => {
      const row = await resolveToGoOn(world, { verb: 'brief', input });
      if (!row.ok) return err({ refusal: row.error });
      return ok(await readBrief(world, row.value.key, wishOfBrief(world.caller, input)));
    },
  },
  text: (answer) => printBrief(briefIn(answer)),
});
