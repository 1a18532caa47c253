import { createInterface } from 'node:readline';
import { commandOf, type Ask, type Way } from '../../kernel/refusal.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { plainLine } from '../../lib/text.ts';

/** Somebody who can be asked. */
export interface Prompt {
  /** The next line that is typed; undefined where none comes any more. */
  readonly line: (question: string) => Promise<string | undefined>;
  /** Gives the terminal back, and says whether it was Ctrl-C that ended the lines. */
  readonly close: () => { readonly interrupted: boolean };
}

/** Whoever sits at the terminal that standard input and standard error are; undefined where they are none. */
export const openPrompt = (): Prompt | undefined => {
  const { stdin, stderr } = process;
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  const reader = createInterface({ input: stdin, output: stderr, historySize: 0 });
  // What is typed ahead of its question is kept.
  const lines = reader[Symbol.asyncIterator]();
  let interrupted = false;
  reader.on('SIGINT', () => {
    interrupted = true;
    reader.close();
  });
  return {
    line: async (question) => {
      reader.setPrompt(question);
      reader.prompt();
      const next = await lines.next();
      if (next.done !== true && !interrupted) return next.value;
      stderr.write('\n');
      return undefined;
    },
    close: () => {
      reader.close();
      return { interrupted };
    },
  };
};

/** The words of the way that somebody has chosen by its number; undefined where none was: an empty line is no choice. */
export const chooseWay = async (
  prompt: Pick<Prompt, 'line'>,
  ways: readonly Way[],
): Promise<readonly string[] | undefined> => {
  const listed = ways.map((way, at) => `  ${at + 1}  ${plainLine(`${way.text} (${commandOf(way)})`)}\n`);
  for (;;) {
    const answer = await prompt.line(`${listed.join('')}Which one? [1-${ways.length}, or nothing] `);
    if (answer === undefined || answer.trim() === '') return undefined;
    const chosen = ways[Number(answer) - 1];
    if (chosen === undefined) continue;
    if (chosen.asks === undefined) return chosen.words;
    const { flag, name, description } = chosen.asks;
    const value = await prompt.line(`${name.toLowerCase()} (${description}): `);
    return value === undefined || value.trim() === '' ? undefined : [...chosen.words, `${flag}=${value}`];
  }
};

/** The input with what was answered, value by value; undefined where somebody gave up. An empty line is no answer. */
export const askAll = async (
  prompt: Pick<Prompt, 'line'>,
  asks: readonly Ask[],
  input: JsonObject,
): Promise<JsonObject | undefined> => {
  const answered: Record<string, Json> = { ...input };
  for (const { field, name, description } of asks) {
    const question = `${plainLine(`${name} (${description})`)}: `;
    let answer: string | undefined = '';
    while (answer.trim() === '') {
      answer = await prompt.line(question);
      if (answer === undefined) return undefined;
    }
    const given = answered[field];
    // What was asked for stands in the place of nothing, where that was given.
    const others = Array.isArray(given) ? given.filter((pair) => !String(pair).startsWith(`${name}=`)) : [];
    answered[field] = [...others, `${name}=${answer}`];
  }
  return answered;
};
