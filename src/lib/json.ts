import type { Json, JsonObject } from './canonical-json.ts';

/** Whether a value is a JSON object, not a list and not null. */
export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value with every lone surrogate in its texts and keys replaced by U+FFFD. */
export const wellFormedJson = (value: Json): Json => {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormedJson);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormedJson(item)]));
};

/** The object without the fields that are undefined, which JSON cannot hold. */
export const withoutUndefined = <Fields extends Readonly<Record<string, Json | undefined>>>(
  fields: Fields,
): { readonly [Key in keyof Fields]: Exclude<Fields[Key], undefined> } & JsonObject =>
  JSON.parse(JSON.stringify(fields));
