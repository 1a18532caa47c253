/**
 * Runs a command line of two verbs that take lists, texts from elsewhere, and ask for what is missing. What `ANSWERS` lists
 * is answered instead of what a person would type; null is the end of what is typed.
 */
import { strictObject } from 'valibot';
import { anyText, optionalPairs, optionalText, optionalTexts, pairsOf, requiredText } from '../../src/kernel/fields.ts';
import { refuse } from '../../src/kernel/refusal.ts';
import { defineVerb } from '../../src/kernel/verb.ts';
import { err, ok } from '../../src/lib/result.ts';
import { openPrompt, type Prompt } from '../../src/surfaces/cli/ask.ts';
import { runCommandLine } from '../../src/surfaces/cli/run.ts';

const wanted = [
  { field: 'context', name: 'goal', description: 'What is to be reached.' },
  { field: 'context', name: 'scope', description: 'Where: \u001b[31mred\n\u0007' },
];

/** Takes a list of texts and one of pairs, and asks for two of these. */
export const play = defineVerb({
  name: 'play',
  summary: 'Play a flow.',
  details: 'For tests.',
  examples: [],
  input: () =>
    strictObject({
      flow: requiredText('The flow.'),
      context: optionalPairs('What the flow is told.'),
      rerun: optionalTexts('Nodes to run again.'),
    }),
  positionals: ['flow'],
  pairs: { field: 'context', file: 'context-file' },
  does: {
    apart: async (_, { flow, context = [], rerun = [] }) => {
      const told = pairsOf(context);
      const asks = wanted.filter(({ name }) => !told.has(name));
      if (asks.length > 0)
        return err({ refusal: refuse('usage', `${flow} is told too little.`, { asks, hint: 'stint play --help' }) });
      return ok({ flow, context: [...context], rerun: [...rerun] });
    },
  },
  text: (answer) => JSON.stringify(answer),
});

/** Takes a text that may come from elsewhere. */
export const complete = defineVerb({
  name: 'complete',
  summary: 'Complete a node.',
  details: 'For tests.',
  examples: [],
  input: () =>
    strictObject({
      node: requiredText('The node.'),
      output: anyText('What came of it.'),
      artifact: optionalTexts('Files that came of it.'),
    }),
  positionals: ['node'],
  textFrom: { field: 'output', file: 'output-file' },
  does: {
    apart: async (_, { node, output, artifact = [] }) => ok({ node, output, artifact: [...artifact] }),
  },
  text: (answer) => JSON.stringify(answer),
});

/** Takes both, and needs neither. */
export const amend = defineVerb({
  name: 'amend',
  summary: 'Amend a flow.',
  details: 'For tests.',
  examples: [],
  input: () =>
    strictObject({
      reason: optionalText('Why.'),
      context: optionalPairs('What the flow is told.'),
    }),
  textFrom: { field: 'reason', file: 'reason-file' },
  pairs: { field: 'context', file: 'context-file' },
  does: { apart: async (_, input) => ok({ reason: input.reason ?? null, context: [...(input.context ?? [])] }) },
  text: (answer) => JSON.stringify(answer),
});

/** Is refused with several ways to go on. */
export const stuck = defineVerb({
  name: 'stuck',
  summary: 'Get stuck.',
  details: 'For tests.',
  examples: [],
  input: () => strictObject({}),
  does: {
    apart: async () =>
      err({
        refusal: refuse('invariant-unmet', 'It is stuck.', {
          ways: [
            { text: 'amend it\u001b[31m', words: ['amend', '--reason', "it's stuck"] },
            { text: 'do nothing', words: ['nothing'] },
            {
              text: 'amend it otherwise',
              words: ['amend'],
              asks: { flag: '--reason', name: 'REASON', description: 'Why.' },
            },
          ],
        }),
      }),
  },
  text: () => '',
});

const answering = (answers: (string | null)[]): Prompt => {
  let interrupted = false;
  return {
    line: async (question) => {
      process.stderr.write(`${JSON.stringify(question)}\n`);
      const answer = answers.shift();
      interrupted = answer === undefined;
      return answer ?? undefined;
    },
    close: () => ({ interrupted }),
  };
};

if (import.meta.main) {
  const { ANSWERS: answers } = process.env;
  process.exitCode = await runCommandLine({
    argv: process.argv.slice(2),
    cwd: process.cwd(),
    env: process.env,
    verbs: [play, complete, amend, stuck],
    kinds: [],
    version: '0',
    now: () => '2026-03-17T12:00:00.000Z',
    actor: () => 'ana',
    user: () => 'ana',
    agent: undefined,
    colour: false,
    terminal: async () => undefined,
    prompt: async () => (answers === undefined ? openPrompt() : answering(JSON.parse(answers))),
  });
}
