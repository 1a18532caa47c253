import { writeSync } from 'node:fs';
import { refusalToJson, refusals, type Refusal } from '../../kernel/refusal.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { errnoCode } from '../../lib/atomic-file.ts';
import { plainJson, plainLine, plainText } from '../../lib/text.ts';
import { flagNameOf } from './fields.ts';

/** The answer could not be handed over, for example to a full disk. What the verb did is done. */
export class OutputFailure extends Error {}

/** Writes all of a text to a stream at once; a reader that has gone away is no failure. Answers whether there is one. */
export const print = (stream: 1 | 2, text: string): boolean => {
  const bytes = Buffer.from(text);
  for (let offset = 0; offset < bytes.length;) {
    try {
      offset += writeSync(stream, bytes, offset);
    } catch (error) {
      const code = errnoCode(error);
      if (code === 'EAGAIN') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
      else if (code === 'EPIPE' || code === 'EIO' || code === 'EBADF') return false;
      else throw new OutputFailure(code ?? String(error));
    }
  }
  return true;
};

/** The version of the JSON that is printed; raised when a key changes its meaning. */
const outputVersion = 1;

/** One JSON document: the answer, or what was refused, or a full report with what was refused. */
export const printJson = (answer: JsonObject, refusal: Refusal | undefined): void =>
  void print(1, jsonLine({ ...answer, ...(refusal === undefined ? {} : { error: refusalToJson(refusal) }) }));

/** A document in one line. What came from outside has no power over a terminal that it is printed to. */
export const jsonLine = (answer: JsonObject): string =>
  `${plainJson(JSON.stringify({ schema_version: outputVersion, ...answer }))}\n`;

/** An answer for a person. What came from outside has no power over the terminal. */
export const printText = (text: string, colour: boolean): void => {
  const lines = plainText(text).split('\n');
  print(1, `${lines.map((line) => (colour ? paint(line) : line)).join('\n')}\n`);
};

/** The commands to type stand out. */
const paint = (line: string): string => line.replace(/^next: .*$/, (command) => `\u001b[1m${command}\u001b[22m`);

/**
 * A refusal for a person: what is wrong, what is legal, what to try. Each part stays on its own line: what is quoted comes
 * from outside and must not look like a line of ours.
 */
export const printRefusal = (refusal: Refusal): void => {
  const faults = refusal.faults ?? [];
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['stint: ', refusal.message],
    ...(faults.length > 1 ? faults.slice(0, 20).map((fault): [string, string] => ['  ', fault]) : []),
    ['  and ', faults.length > 20 ? `${faults.length - 20} more` : undefined],
    ...(refusal.asks ?? []).map(({ field, name, description }): [string, string] => [
      '  missing: ',
      `--${flagNameOf(field)} ${name}=VALUE (${description})`,
    ]),
    ['  expected: ', refusal.expected],
    ['  legal: ', refusal.legal?.join(', ')],
    ['  perhaps: ', refusal.candidates?.join(', ')],
    ['  try: ', refusal.hint],
  ];
  const shown = lines.flatMap(([name, text]) => (text === undefined || text === '' ? [] : [name + plainLine(text)]));
  print(2, `${shown.join('\n')}\n`);
};

/** The exit code of a refusal. */
export const exitOf = (refusal: Refusal): number => refusals[refusal.code].exit;
