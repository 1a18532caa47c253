import { findNodeAtLocation, parse, parseTree, visit, type ParseError } from 'jsonc-parser';
import type { Json } from './canonical-json.ts';

/** The deepest nesting that is accepted. */
export const deepest = 100;

/** Where something stands in a text, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/**
 * Parses JSON that comes from outside. A fault is a phrase that names line and column, both from 1, and never repeats what
 * was sent. Deeper nesting than `deepest` is a fault, so that nothing that walks the value can overflow.
 */
export const parseJson = (text: string): { readonly value: Json } | { readonly fault: string } => {
  const parsed = parseJsonFully(text);
  if ('value' in parsed) return parsed;
  const [fault] = parsed.faults;
  switch (fault.what) {
    case 'syntax':
      return { fault: `is not JSON at ${placeText(text, fault.offset)}` };
    case 'repeated key':
      return { fault: `has one key twice in an object, at ${placeText(text, fault.offset)}` };
    case 'shape':
      return { fault: fault.problem };
  }
};

/** What is wrong with a text that should be JSON. */
export type JsonFault =
  | { readonly what: 'syntax'; readonly offset: number }
  | RepeatedKey
  /** Completes a sentence; it is no single place. */
  | { readonly what: 'shape'; readonly problem: string };

interface RepeatedKey {
  readonly what: 'repeated key';
  /** The keys that lead to it. */
  readonly keys: readonly (string | number)[];
  readonly offset: number;
}

/** The same with every fault as data: of the syntax the first one only, since the others follow from it. */
export const parseJsonFully = (
  text: string,
): { readonly value: Json } | { readonly faults: readonly [JsonFault, ...JsonFault[]] } => {
  const taken = take(text);
  if ('fault' in taken) return { faults: [taken.fault] };
  const [first, ...others] = taken.repeated;
  return first === undefined ? { value: taken.value } : { faults: [first, ...others] };
};

/** The same for a file that is taken as far as it goes: a key that stands twice in an object is told, and the last one counts. */
export const readJson = (
  text: string,
):
  | { readonly value: Json; readonly repeated: Place | undefined }
  | { readonly fault: string; readonly place: Place | undefined } => {
  const taken = take(text);
  if ('value' in taken) {
    const [first] = taken.repeated;
    return { value: taken.value, repeated: first && placesIn(text)(first.offset) };
  }
  const { fault } = taken;
  return fault.what === 'shape'
    ? { fault: fault.problem, place: undefined }
    : { fault: 'is not JSON', place: placesIn(text)(fault.offset) };
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

/** A value as the engine takes it, with the keys that stand again; or what keeps it from being taken. */
const take = (
  text: string,
): { readonly value: Json; readonly repeated: readonly RepeatedKey[] } | { readonly fault: JsonFault } => {
  try {
    const value: Json = JSON.parse(text);
    const problem = shapeFault(value);
    return problem === undefined ? { value, repeated: repeatedKeys(text) } : { fault: { what: 'shape', problem } };
  } catch {
    // The engine's own message seldom says where.
    return { fault: { what: 'syntax', offset: faultOffset(text) } };
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

/** Where a key stands again in its object: the engine would silently keep the last one. */
const repeatedKeys = (text: string): readonly RepeatedKey[] => {
  const open: Set<string>[] = [];
  const found: RepeatedKey[] = [];
  visit(text, {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty: (key, offset, _length, _line, _character, pathOf) => {
      const keys = open.at(-1);
      if (keys?.has(key) === true) found.push({ what: 'repeated key', offset, keys: [...pathOf(), key] });
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

/** Tells the places of offsets in a text: its lines are counted once. */
export const placesIn = (text: string): ((offset: number) => Place) => {
  const starts = [0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
};

/**
 * Tells where values of a text stand, which is JSON, by the keys that lead to them: of one that is not there, where what
 * should hold it stands.
 */
export const valuesIn = (text: string): ((keys: readonly (string | number)[]) => number) => {
  const root = parseTree(text);
  return (keys) => {
    if (root === undefined) return 0;
    for (let length = keys.length; length > 0; length -= 1) {
      const found = findNodeAtLocation(root, keys.slice(0, length));
      if (found !== undefined) return found.offset;
    }
    return root.offset;
  };
};

const placeText = (text: string, offset: number): string => {
  const { line, column } = placesIn(text)(offset);
  return `line ${line}, column ${column}`;
};
