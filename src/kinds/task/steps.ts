import * as v from 'valibot';
import { standingText, textAt } from '../../kernel/answer.ts';
import { flag, optionalText, optionalTexts, requiredText, sessionField } from '../../kernel/fields.ts';
import { refuseMissing } from '../../kernel/missing-files.ts';
import { defineVerb } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { withoutUndefined } from '../../lib/json.ts';
import { err } from '../../lib/result.ts';
import { orderTask, stateOf } from './command.ts';

const number = (description: string) =>
  v.pipe(
    v.number((issue) => (issue.received === 'undefined' ? 'is missing' : 'expected the number of a step')),
    v.integer('expected the number of a step'),
    v.minValue(1, 'expected the number of a step'),
    v.description(description),
  );
const stepField = number('The number of the step, as status and progress show it.');
const beforeField = v.optional(number('The step that it comes before.'));

const stepText = (answer: JsonObject): string =>
  `${textAt(answer, 'step') === '' ? '' : `step ${textAt(answer, 'step')}  `}${standingText(answer)}`;

export const stepAdd = defineVerb({
  name: 'step add',
  summary: 'Write down a step that a task takes.',
  details: `It comes last, or before another one (--before). Answers its number. While a step is left the task is not done. The same text again, while it is left, changes nothing.`,
  examples: ['stint step add "Write the parser" --json', 'stint step add "Read the old one" --before 1'],
  input: () =>
    v.strictObject({ text: requiredText('What is to be done.'), before: beforeField, session: sessionField() }),
  positionals: ['text'],
  does: {
    writes: async (world, { text, before, session }) =>
      orderTask(world, session, withoutUndefined({ type: 'add-step', text, before }), (after) => ({
        step: stateOf(after).left.find((one) => one.text === text)?.id ?? null,
      })),
  },
  text: stepText,
});

export const stepStart = defineVerb({
  name: 'step start',
  summary: 'Say which step somebody is at.',
  details: `The one that is named; without a number the first that is left, unless somebody is at one. One step of a task is the current one: the one before stays where it is among those that are left. A task that is not started is in progress with that.`,
  examples: ['stint step start', 'stint step start 2'],
  input: () => v.strictObject({ step: v.optional(stepField), session: sessionField() }),
  positionals: ['step'],
  does: {
    writes: async (world, { step, session }) =>
      orderTask(world, session, withoutUndefined({ type: 'take-step', step }), (after) => ({
        step: stateOf(after).current,
      })),
  },
  text: stepText,
});

export const stepDone = defineVerb({
  name: 'step done',
  summary: 'Say that a step of a task is done.',
  details: `With what came of it (--outcome), and the files that it has left (--file): relative to the root of the checkout, there and not empty (6). One that is done already is left as it is; one that was dropped is refused (5).`,
  examples: ['stint step done 2 --outcome "14 tests" --file test/parser.test.ts'],
  input: () =>
    v.strictObject({
      step: stepField,
      outcome: v.optional(requiredText('What came of it.')),
      file: optionalTexts('A file that was made or changed.'),
      session: sessionField(),
    }),
  positionals: ['step'],
  does: {
    writes: async (world, { step, outcome, file, session }) => {
      const missing = refuseMissing(world, file ?? []);
      if (missing !== undefined) return err(missing);
      return orderTask(world, session, withoutUndefined({ type: 'finish-step', step, outcome, files: file }), () => ({
        step,
      }));
    },
  },
  text: stepText,
});

export const stepDrop = defineVerb({
  name: 'step drop',
  summary: 'Say that a step of a task is not to be done any more.',
  details: `One that was dropped already is left as it is; one that is done is refused (5).`,
  examples: ['stint step drop 3 --reason "out of scope"'],
  input: () => v.strictObject({ step: stepField, reason: optionalText('Why.'), session: sessionField() }),
  positionals: ['step'],
  does: {
    writes: async (world, { step, reason, session }) =>
      orderTask(world, session, withoutUndefined({ type: 'drop-step', step, reason }), () => ({ step })),
  },
  text: stepText,
});

export const stepMove = defineVerb({
  name: 'step move',
  summary: 'Change when a step of a task is to be done.',
  details: `Before another step that is left (--before), or last (--last). Where it is there already nothing changes.`,
  examples: ['stint step move 3 --before 1', 'stint step move 1 --last'],
  input: () =>
    v.strictObject({
      step: stepField,
      before: beforeField,
      last: flag('Behind all others.'),
      session: sessionField(),
    }),
  positionals: ['step'],
  contradiction: ({ before, last }) =>
    (before === undefined) === (last !== true) ? 'either --before or --last says where it goes' : undefined,
  does: {
    writes: async (world, { step, before, session }) =>
      orderTask(world, session, { type: 'place-step', step, before: before ?? null }, () => ({ step })),
  },
  text: stepText,
});
