import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { jsonPath } from '../../lib/faults.ts';
import { isJsonObject } from '../../lib/json.ts';
import { parseJsonFully, placesIn, valuesIn } from '../../lib/json-text.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { nearest } from '../../lib/nearest.ts';

/** Policies are read strictly: what is misspelt in one is told, and never as good as not said. */

/** What is wrong with a value of a policy. */
export interface PolicyFault {
  /** The keys that lead to it. */
  readonly keys: readonly (string | number)[];
  /** Completes a sentence that begins with its JSON path. */
  readonly problem: string;
  /** What still has to be filled in, where nothing else is wrong with it. */
  readonly isIncomplete?: true;
}

/** The same with its place in the file. */
export interface PlacedFault {
  readonly line: number;
  /** The sentence, with the JSON path first. */
  readonly text: string;
}

/** What is wrong with a value. */
export type Check = (value: Json) => readonly PolicyFault[];

/** A fault of the value itself. */
export const fault = (problem: string): PolicyFault => ({ keys: [], problem });

/** Faults of a member, as those of what holds it. */
export const within = (key: string | number, faults: readonly PolicyFault[]): readonly PolicyFault[] =>
  faults.map((one) => ({ ...one, keys: [key, ...one.keys] }));

/** The sentence of a fault. */
export const faultText = ({ keys, problem }: PolicyFault): string => `${jsonPath(keys)} ${problem}`;

/** A switch. */
export const isSwitch: Check = (value) => (typeof value === 'boolean' ? [] : [fault('must be true or false')]);

/** A list of so many texts at most, each of which is right unless `problemOf` says what is wrong with it. */
export const isTexts =
  (problemOf: (text: string) => string | undefined, most = 10_000): Check =>
  (value) => {
    if (!Array.isArray(value)) return [fault('must be a list of texts')];
    return value.length > most
      ? [fault(`must have ${most} entries at most`)]
      : value.flatMap((item: Json, at) => within(at, isText(problemOf)(item)));
  };

/** A text that is not blank. */
export const isText =
  (problemOf: (text: string) => string | undefined): Check =>
  (value) => {
    if (typeof value !== 'string') return [fault('must be a text')];
    const problem = value === '' ? 'must not be blank' : problemOf(value);
    return problem === undefined ? [] : [fault(problem)];
  };

/** Anything that a check takes, or null. */
export const orNull =
  (check: Check): Check =>
  (value) =>
    value === null ? [] : check(value);

/** An object with some of these fields, and no others. */
export const hasFields =
  (checks: Readonly<Record<string, Check>>, what: string): Check =>
  (value) => {
    if (!isJsonObject(value)) return [fault(`must be an object with the fields of ${what}`)];
    const legal = Object.keys(checks);
    return Object.entries(value).flatMap(([key, member], at) => {
      const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
      if (check !== undefined) return within(key, check(member));
      const [near] = at < mostFaults ? nearest(key, legal) : [];
      return within(key, [fault(`is no field of ${what}${near === undefined ? '' : `; ${near} is one`}`)]);
    });
  };

/** So many faults are told; whoever has more of them has another file than a policy. */
const mostFaults = 100;

/** Reads the text of a policy: its object, with the blanks around its texts taken away, or everything that is wrong with it. */
export const readPolicy = (text: string, check: Check): Result<JsonObject, readonly PlacedFault[]> => {
  const parsed = parseJsonFully(text);
  const placeAt = placesIn(text);
  if ('faults' in parsed)
    return err(
      told(parsed.faults, (found) => ({
        line: found.what === 'shape' ? 1 : placeAt(found.offset).line,
        text:
          found.what === 'repeated key'
            ? `${jsonPath(found.keys)} is there twice`
            : `$ ${found.what === 'shape' ? found.problem : 'is not JSON'}`,
      })),
    );
  const policy = trimmed(parsed.value);
  const faults = check(policy);
  if (faults.length === 0 && isJsonObject(policy)) return ok(policy);
  const offsetOf = valuesIn(text);
  return err(told(faults, (one) => ({ line: placeAt(offsetOf(one.keys)).line, text: faultText(one) })));
};

/** Faults with their places, and how many there are beside. */
const told = <Fault>(faults: readonly Fault[], place: (fault: Fault) => PlacedFault): readonly PlacedFault[] => {
  const more = faults.length - mostFaults;
  return [
    ...faults.slice(0, mostFaults).map(place),
    ...(more > 0 ? [{ line: 1, text: `$ has ${more} more faults` }] : []),
  ];
};

/** A value without the blanks around its texts. */
const trimmed = (value: Json): Json => {
  if (typeof value === 'string') return value.trim();
  if (Array.isArray(value)) return value.map(trimmed);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, trimmed(member)]));
};
