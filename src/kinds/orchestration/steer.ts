import * as v from 'valibot';
import { standingText, textAt } from '../../kernel/answer.ts';
import { choice, optionalText, sessionField } from '../../kernel/fields.ts';
import { defineVerb } from '../../kernel/verb.ts';
import { currentFile } from './documents.ts';
import { modes } from '../../formats/orchestrator/document.ts';
import { orderCommand } from './command.ts';

export const mode = defineVerb({
  name: 'mode',
  summary: 'Change how an orchestration is done.',
  details: `default: 2 agents at once, a checkpoint after each wave, 3 retries, compressed at 70 %. debug: 1 agent, a checkpoint after every agent, 5 retries, 90 %. optimize: 4 agents, a checkpoint after a wave in which one has failed, 2 retries, 60 %. release: 4 agents, a checkpoint after every agent, 1 retry, 85 %. A permanent error makes a checkpoint at once in every mode, any error in debug and release.

Agents that are at work go on; the limits are those of the new mode from the next start on. The mode that it has already changes nothing.`,
  examples: ['stint mode optimize'],
  input: () => v.strictObject({ mode: choice(modes, 'The mode'), session: sessionField() }),
  positionals: ['mode'],
  does: {
    writes: async (world, { mode: wanted, session }) =>
      orderCommand(world, session, { type: 'change-mode', mode: wanted }),
  },
  text: (answer) => `mode ${textAt(answer, 'mode')}  ${standingText(answer)}`,
});

export const focus = defineVerb({
  name: 'focus',
  summary: 'Say what is looked at now, for whoever goes on.',
  details: `Shown by status and in the brief. Without a text the focus is taken away.`,
  examples: ['stint focus "the failing import test"', 'stint focus'],
  input: () => v.strictObject({ on: optionalText('What is looked at.'), session: sessionField() }),
  positionals: ['on'],
  does: {
    writes: async (world, { on, session }) =>
      orderCommand(world, session, { type: 'focus', on: on === undefined || on.trim() === '' ? null : on }),
  },
  text: standingText,
});

export const save = defineVerb({
  name: 'save',
  summary: 'Put on record what was measured last, and bring the file of the session up to date.',
  details: `Everything else is on record already: it was stored before it was answered. How far agents are, and what was used of the context, comes too often for that, and is put on record here, and with whatever happens next. Where nothing was measured since, nothing changes.`,
  examples: ['stint save'],
  input: () => v.strictObject({ session: sessionField() }),
  positionals: ['session'],
  does: {
    writes: async (world, { session }) => orderCommand(world, session, { type: 'save' }, () => ({ file: currentFile })),
  },
  text: (answer) => `saved  ${standingText(answer)}`,
});
