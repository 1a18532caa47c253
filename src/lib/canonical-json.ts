import canonicalize from 'canonicalize';

/** Anything JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/**
 * The one spelling of a value that hashes and comparisons use: JSON as in RFC 8785, keys sorted by UTF-16 code unit,
 * no spaces. Nesting of any depth is fine. As with `JSON.stringify`, a member whose value is `undefined` is left out.
 *
 * @throws {TypeError} for what JSON cannot hold: `undefined` or a function as the whole value, a bigint, NaN, an
 *   infinity, a lone surrogate, a circle
 */
export function canonicalJson(value: Json): string {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch (error) {
    throw new TypeError(`no canonical JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  if (text === undefined) throw new TypeError(`no canonical JSON: a value of type ${typeof value}`);
  return text;
}
