import { err, ok, type Result } from '../../lib/result.ts';
import { nearest } from '../../lib/nearest.ts';
import { truncate } from '../../lib/text.ts';

/** The values that a run is given, and what a template says of them. */

export const contextTypes = ['string', 'path', 'boolean'] as const;
export type ContextType = (typeof contextTypes)[number];

/** What a template says of one value. */
export interface ContextField {
  readonly type: ContextType;
  readonly required: boolean;
  readonly description: string;
  /** What it is where nothing is given; null where the template says nothing. */
  readonly default: string | null;
}

/** Names may be anything, `__proto__` too: they are never keys of an object that is looked into. */
export type ContextSchema = ReadonlyMap<string, ContextField>;

/** Why values cannot be bound: what is missing, and what is wrong with what was given. */
export interface ContextProblems {
  readonly missing: readonly { readonly name: string; readonly description: string; readonly type: ContextType }[];
  /** Whole sentences. */
  readonly faults: readonly string[];
}

/**
 * The value of every field: what was given, else its default, else nothing. A text stays what it is, byte for byte; a path
 * is written with `/` and stays in the project. Nothing is no value for a field that is required.
 */
export const bindContext = (
  schema: ContextSchema,
  given: ReadonlyMap<string, string>,
): Result<Readonly<Record<string, string>>, ContextProblems> => {
  const missing: ContextProblems['missing'][number][] = [];
  const faults = [...given.keys()].filter((name) => !schema.has(name)).map((name) => unknownName(name, schema));
  const bound: [string, string][] = [];
  for (const [name, { type, required, description, default: otherwise }] of schema) {
    const own = given.get(name);
    const value = own === undefined || (own === '' && required) ? otherwise : own;
    if (value === null || (value === '' && own === undefined)) {
      if (required) missing.push({ name, description, type });
      bound.push([name, '']);
      continue;
    }
    const checked = checkValue(type, value);
    if (checked.ok) bound.push([name, checked.value]);
    else faults.push(`The value of ${shown(name)} ${checked.error}.`);
  }
  if (missing.length > 0 || faults.length > 0) return err({ missing, faults });
  // Unlike an assignment this makes a field of `__proto__`.
  return ok(Object.fromEntries(bound));
};

const unknownName = (name: string, schema: ContextSchema): string => {
  const names = [...schema.keys()];
  const near = nearest(name, names);
  const known = names.length === 0 ? 'it takes no values' : `it takes ${names.map(shown).join(', ')}`;
  return `The template has no field ${shown(name)}: ${near.length > 0 ? `perhaps ${near.map(shown).join(' or ')}; ` : ''}${known}.`;
};

const shown = (name: string): string => (/^[\w-]+$/.test(name) ? name : JSON.stringify(truncate(name, 60)));

/** A value as it is bound; or what is wrong with it, to complete a sentence that begins with what it is the value of. */
export const checkValue = (type: ContextType, value: string): Result<string, string> => {
  switch (type) {
    case 'string':
      return ok(value);
    case 'boolean':
      return value === 'true' || value === 'false' ? ok(value) : err('is neither true nor false');
    case 'path':
      return value === '' ? ok(value) : checkPath(value);
  }
};

/** Characters that stand for parts that nobody knows yet. */
const pattern = /[*?[\]{}]/;

/** A step up as one of several alternatives. */
const alternativeUp = /(?:^|[{(,|])\.\.(?:$|[}),|])/;

/** A path or a pattern of paths below the project, with `/` between its parts. */
const checkPath = (value: string): Result<string, string> => {
  if (/\p{Cc}/u.test(value)) return err('is no path: it holds a control character');
  const path = value.replaceAll('\\', '/');
  const elsewhere = elsewhereProblem(path);
  if (elsewhere !== undefined) return err(elsewhere);
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    // What a pattern stands for may be nothing, so that one more step up leads out.
    const isUnclear = part === '..' ? parts.some((one) => pattern.test(one)) : alternativeUp.test(part);
    if (isUnclear) return err('goes up from a pattern (..); it must stay in the project');
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return err('leads out of the project (..)');
  }
  const inside = parts.length === 0 ? '.' : parts.join('/');
  // What stood in front of it is gone: `./~` must not become `~`.
  const nowElsewhere = elsewhereProblem(inside);
  return nowElsewhere === undefined ? ok(inside) : err(nowElsewhere);
};

const elsewhereProblem = (path: string): string | undefined => {
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'is an absolute path; it must stay in the project';
  return /^~(?:\/|$)/.test(path) ? 'is a path in the home folder; it must stay in the project' : undefined;
};
