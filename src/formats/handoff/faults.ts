import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { checkDocument } from './document.ts';
import { halves, type Half } from './print.ts';

/** What would be written, and is not sound. */

/** What is wrong with a document, a line each. */
export const faultsIn = (half: Half, text: string | undefined): readonly string[] =>
  text === undefined
    ? []
    : checkDocument(halves[half], text).map(
        ({ line, text: what, remedy }) =>
          `the ${halves[half].called}${line === null ? '' : `, line ${line}`}: ${what}; ${remedy}`,
      );

/** That what would be written is not sound. */
export const refuseUnsound = (faults: readonly string[]): Refusal =>
  refuse('invalid-input', `The pair is not sound: ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}.`, {
    expected: 'two sound documents',
    faults,
    hint: 'stint handoff validate',
  });
