import type { Row } from './database.ts';

/** A text column; strict tables hold nothing else there. */
export const text = (row: Row, column: string): string => String(row[column]);

/** A text column that may be null. */
export const textOrNull = (row: Row, column: string): string | null => {
  const value = row[column];
  return typeof value === 'string' ? value : null;
};

/** A whole-number column. */
export const number = (row: Row, column: string): number => Number(row[column]);
