import type { GenericSchema } from 'valibot';
import type { Verb } from '../../kernel/verb.ts';

/** A flag of the command line. */
export interface Flag {
  readonly name: string;
  /** A `number` is a whole one; `texts` may be given again and again; the value of `rest` is everything behind `--`. */
  readonly type: 'text' | 'texts' | 'rest' | 'number' | 'decimal' | 'switch';
  readonly description: string;
}

/** What the flag of an input field is called. */
export const flagNameOf = (key: string): string => key.replaceAll('_', '-');

/** The flag of an input field, read off its schema: kebab-case name, type, description, and whether it must be given. */
export const fieldOf = (key: string, schema: unknown): Flag & { readonly required: boolean } => {
  const parts = partsOf(schema);
  const types = new Set(parts.map(({ type }) => type));
  const number = types.has('integer') ? 'number' : 'decimal';
  return {
    name: flagNameOf(key),
    type: types.has('boolean') ? 'switch' : types.has('number') ? number : types.has('array') ? 'texts' : 'text',
    description: parts.map(({ description }) => description).find((text) => text !== undefined) ?? '',
    required: !types.has('optional'),
  };
};

/** The flag of a field of a verb. */
export const fieldIn = ({ input, behind }: Pick<Verb, 'input' | 'behind'>, key: string): ReturnType<typeof fieldOf> => {
  const field = fieldOf(key, input.entries[key]);
  return key === behind ? { ...field, type: 'rest' } : field;
};

interface Part {
  readonly type: string;
  readonly description?: string;
}

/** A schema and everything that it wraps or pipes. */
const partsOf = (schema: unknown): readonly Part[] => {
  if (!isPart(schema)) return [];
  const inner: readonly unknown[] = [
    ...('wrapped' in schema ? [schema.wrapped] : []),
    ...('pipe' in schema && Array.isArray(schema.pipe) ? schema.pipe.filter((step) => step !== schema) : []),
  ];
  // The first step of a pipe is the schema itself again.
  return [
    schema,
    ...inner.filter((step) => !isPiped(step)).flatMap(partsOf),
    ...inner.filter(isPiped).flatMap(partsOf),
  ];
};

const isPiped = (value: unknown): value is GenericSchema =>
  typeof value === 'object' && value !== null && 'pipe' in value;

const isPart = (value: unknown): value is Part =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
