import * as v from 'valibot';
import { objectsAt, standingText } from '../../kernel/answer.ts';
import { flag, sessionField } from '../../kernel/fields.ts';
import { defineVerb } from '../../kernel/verb.ts';

export const progress = defineVerb({
  name: 'progress',
  summary: 'How far is it? Watch a session while others work on it.',
  details: `Shows the phases of the session and which are done, the files that lie in its folder with what was counted in them, how long the round takes, what came of earlier rounds, what is missing and what comes next. On a terminal it is painted anew whenever something changes, once a second, until it is interrupted (130). With --once or --json, and where standard output is no terminal, it is shown once.

Without a session it shows the only open one of this checkout; several of them in two lines each; where none is open the one that changed last, with its result; and where there is none, also no store yet, it waits for one. It changes no session. Files never count as done.`,
  examples: ['stint progress', 'stint progress --once', 'stint progress --session review:2026-03-17-main --json'],
  input: () => v.strictObject({ session: sessionField(), once: flag('Show it once, also on a terminal.') }),
  positionals: ['session'],
  does: {
    reads: async (world, { session }) => {
      const { readProgress } = await import('./read.ts');
      return readProgress(world, session);
    },
  },
  text: (answer) => objectsAt(answer, 'sessions').map(standingText).join('\n'),
  live: { once: 'once', screen: async () => (await import('./frame.ts')).screen },
});
