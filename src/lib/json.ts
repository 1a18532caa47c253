import type { Json, JsonObject } from './canonical-json.ts';

/** Whether a value is a JSON object, not a list and not null. */
export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object without the fields that are undefined, which JSON cannot hold. */
export const withoutUndefined = <Fields extends Readonly<Record<string, Json | undefined>>>(
  fields: Fields,
): { readonly [Key in keyof Fields]: Exclude<Fields[Key], undefined> } & JsonObject =>
  JSON.parse(JSON.stringify(fields));
