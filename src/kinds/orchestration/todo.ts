import * as v from 'valibot';
import { standingText, textAt } from '../../kernel/answer.ts';
import { optionalText, optionalTexts, requiredText, sessionField } from '../../kernel/fields.ts';
import { refuseMissing } from '../../kernel/missing-files.ts';
import { defineVerb } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { withoutUndefined } from '../../lib/json.ts';
import { err } from '../../lib/result.ts';
import { orderCommand, stateOf } from './command.ts';

const todoField = v.pipe(
  v.number((issue) => (issue.received === 'undefined' ? 'is missing' : 'expected the number of a todo')),
  v.integer('expected the number of a todo'),
  v.minValue(1, 'expected the number of a todo'),
  v.description('The number of the todo, as status shows it.'),
);

const todoText = (answer: JsonObject): string =>
  `${textAt(answer, 'todo') === '' ? '' : `todo ${textAt(answer, 'todo')}  `}${standingText(answer)}`;

export const todoAdd = defineVerb({
  name: 'todo add',
  summary: 'Write down what is to be done.',
  details: `Answers the number of the todo. While there is one the session is not complete. The same text again, while it is to be done, changes nothing.`,
  examples: ['stint todo add "Update the documentation" --json'],
  input: () => v.strictObject({ text: requiredText('What is to be done.'), session: sessionField() }),
  positionals: ['text'],
  does: {
    writes: async (world, { text, session }) =>
      orderCommand(world, session, { type: 'add-todo', text }, (after) => ({
        todo: stateOf(after).todos.find((todo) => todo.text === text)?.id ?? null,
      })),
  },
  text: todoText,
});

export const todoDone = defineVerb({
  name: 'todo done',
  summary: 'Say that a todo is done.',
  details: `It goes to the completed work, with its outcome and files. Files (--file) are relative to the root of the checkout, and must be there and not empty (6). One that is done or dropped already is left as it is.`,
  examples: ['stint todo done 2 --outcome "14 tests" --file test/parser.test.ts'],
  input: () =>
    v.strictObject({
      todo: todoField,
      outcome: optionalText('What came of it.'),
      file: optionalTexts('A file that was made or changed.'),
      session: sessionField(),
    }),
  positionals: ['todo'],
  does: {
    writes: async (world, { todo, outcome, file, session }) => {
      const missing = refuseMissing(world, file ?? []);
      if (missing !== undefined) return err(missing);
      return orderCommand(
        world,
        session,
        withoutUndefined({ type: 'end-todo', todo, as: 'done', outcome, files: file }),
        () => ({ todo }),
      );
    },
  },
  text: todoText,
});

export const todoDrop = defineVerb({
  name: 'todo drop',
  summary: 'Say that a todo is not to be done any more.',
  details: `One that is done or dropped already is left as it is.`,
  examples: ['stint todo drop 3 --reason "out of scope"'],
  input: () => v.strictObject({ todo: todoField, reason: optionalText('Why.'), session: sessionField() }),
  positionals: ['todo'],
  does: {
    writes: async (world, { todo, reason, session }) =>
      orderCommand(world, session, withoutUndefined({ type: 'end-todo', todo, as: 'dropped', reason }), () => ({
        todo,
      })),
  },
  text: todoText,
});
