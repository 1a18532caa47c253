import { parse, type ParseError } from 'jsonc-parser';
import type { Json } from './canonical-json.ts';

/** The deepest nesting that is accepted. */
export const deepest = 100;

/**
 * Parses JSON that comes from outside. A fault is a phrase that names line and column, both from 1, and never repeats what
 * was sent. Deeper nesting than `deepest` is a fault, so that nothing that walks the value can overflow.
 */
export const parseJson = (text: string): { readonly value: Json } | { readonly fault: string } => {
  try {
    const value: Json = JSON.parse(text);
    return depthExceeds(value, deepest) ? { fault: `is nested deeper than ${deepest} levels` } : { value };
  } catch {
    // The engine's own message seldom says where.
    const { line, column } = placeOf(text, faultOffset(text));
    return { fault: `is not JSON at line ${line}, column ${column}` };
  }
};

const faultOffset = (text: string): number => {
  const errors: ParseError[] = [];
  try {
    parse(text, errors, { disallowComments: true, allowTrailingComma: false });
  } catch {
    // Nested so deep that it cannot be followed.
  }
  return errors[0]?.offset ?? text.length;
};

const placeOf = (text: string, offset: number): { readonly line: number; readonly column: number } => {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
};

const depthExceeds = (value: Json, limit: number): boolean => {
  let level: readonly Json[] = [value];
  for (let depth = 0; depth < limit; depth += 1) {
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return level.some((item) => typeof item === 'object' && item !== null);
};
