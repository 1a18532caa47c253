import { parse, visit, type ParseError } from 'jsonc-parser';
import type { Json } from './canonical-json.ts';

/** The deepest nesting that is accepted. */
export const deepest = 100;

/** Where something stands in a text: line and column from 1, in UTF-16 code units. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/**
 * Parses JSON that comes from outside. A fault is a phrase that names line and column, both from 1, and never repeats what
 * was sent. Deeper nesting than `deepest` is a fault, so that nothing that walks the value can overflow.
 */
export const parseJson = (text: string): { readonly value: Json } | { readonly fault: string } => {
  const read = readJson(text);
  if ('fault' in read)
    return { fault: `${read.fault}${read.place === undefined ? '' : ` at ${placeText(read.place)}`}` };
  return read.repeated === undefined
    ? { value: read.value }
    : { fault: `has one key twice in an object, at ${placeText(read.repeated)}` };
};

/** The same for a file that is taken as far as it goes: a key that stands twice in an object is told, and the last one counts. */
export const readJson = (
  text: string,
):
  | { readonly value: Json; readonly repeated: TextPlace | undefined }
  | { readonly fault: string; readonly place: TextPlace | undefined } => {
  try {
    const value: Json = JSON.parse(text);
    const fault = shapeFault(value);
    if (fault !== undefined) return { fault, place: undefined };
    const repeated = repeatedKey(text);
    return { value, repeated: repeated === undefined ? undefined : placeOf(text, repeated) };
  } catch {
    // The engine's own message seldom says where.
    return { fault: 'is not JSON', place: placeOf(text, faultOffset(text)) };
  }
};

/** What can be made of a text that is not JSON: good for saying what it was, never for taking it as that. */
export const guessJson = (text: string): Json | undefined => {
  try {
    const value: unknown = parse(text, [], { disallowComments: true, allowTrailingComma: false });
    return value as Json | undefined;
  } catch {
    // Nested so deep that it cannot be followed.
    return undefined;
  }
};

/** What JSON may hold and a payload may not: numbers beyond all bounds, and nesting that would overflow. */
const shapeFault = (value: Json): string | undefined => {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (level.some((item) => typeof item === 'number' && !Number.isFinite(item)))
      return 'holds a number that is too large';
    const next: Json[] = [];
    for (const item of level) {
      if (typeof item === 'object' && item !== null) for (const member of Object.values(item)) next.push(member);
    }
    if (depth === deepest && level.some((item) => typeof item === 'object' && item !== null)) {
      return `is nested deeper than ${deepest} levels`;
    }
    level = next;
  }
  return undefined;
};

/** Where a key stands for the second time in its object: the engine would silently keep the last one. */
const repeatedKey = (text: string): number | undefined => {
  const open: Set<string>[] = [];
  let found: number | undefined;
  visit(text, {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty: (key, offset) => {
      const keys = open.at(-1);
      if (keys?.has(key) === true) found ??= offset;
      keys?.add(key);
    },
  });
  return found;
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

const placeOf = (text: string, offset: number): TextPlace => {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
};

const placeText = ({ line, column }: TextPlace): string => `line ${line}, column ${column}`;
