import type { Json, JsonObject } from './canonical-json.ts';

/** Whether a value is a JSON object, not a list and not null. */
export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object without the fields that are undefined, which JSON cannot hold. */
export const withoutUndefined = <Fields extends Readonly<Record<string, Json | undefined>>>(
  fields: Fields,
): { readonly [Key in keyof Fields]: Exclude<Fields[Key], undefined> } & JsonObject =>
  JSON.parse(JSON.stringify(fields));

/**
 * Parses JSON that comes from outside. A fault is a sentence that names line and column (both from 1), as far as the
 * position is known. Deeper nesting than `deepest` is a fault, so that nothing that walks the value can overflow.
 */
export const parseJson = (text: string): { readonly value: Json } | { readonly fault: string } => {
  try {
    const value: Json = JSON.parse(text);
    return depthExceeds(value, deepest) ? { fault: `is nested deeper than ${deepest} levels` } : { value };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const position = /at position (\d+)/.exec(message)?.[1];
    const { line, column } = placeOf(text, position === undefined ? text.length : Number(position));
    return {
      fault: `is not JSON at line ${line}, column ${column}: ${message.replace(/ (?:in JSON )?at position.*$/s, '').replace(/, ".*$/s, '')}`,
    };
  }
};

/** The deepest nesting that is accepted. */
export const deepest = 100;

const placeOf = (text: string, position: number): { readonly line: number; readonly column: number } => {
  const before = text.slice(0, position).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
};

const depthExceeds = (value: Json, limit: number): boolean => {
  let level: readonly Json[] = [value];
  for (let depth = 0; depth <= limit; depth += 1) {
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
};
