import { StoreFailure } from '../../kernel/ports.ts';
import { refuse } from '../../kernel/refusal.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import type { Row } from './work.ts';

/** A text column; strict tables hold nothing else there. */
export const text = (row: Row, column: string): string => String(row[column]);

/** A text column that may be null. */
export const textOrNull = (row: Row, column: string): string | null => {
  const value = row[column];
  return typeof value === 'string' ? value : null;
};

/** A whole-number column. */
export const number = (row: Row, column: string): number => Number(row[column]);

/** A whole-number column that may be null. */
export const numberOrNull = (row: Row, column: string): number | null =>
  row[column] === null || row[column] === undefined ? null : Number(row[column]);

/** A text column that holds JSON; what is no JSON any more was damaged. */
export const parseStored = (row: Row, column: string): JsonObject => {
  try {
    return JSON.parse(text(row, column));
  } catch (error) {
    const subject = ['session', 'seq', 'id']
      .map((name) => (name in row ? JSON.stringify(row[name]) : ''))
      .join(' ')
      .trim();
    throw new StoreFailure(
      refuse('damaged', `The ${column} of ${subject} in the store is no JSON any more.`, { hint: 'stint doctor' }),
      error,
    );
  }
};
