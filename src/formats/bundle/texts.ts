import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { sha256 } from '../../lib/sha256.ts';

/**
 * Long texts stand once in a bundle, however many events and documents hold them. A text that shares sections with others is
 * an object of one key, `$text`: a list of its pieces in their order, each a text or `{"sha256": DIGEST}`, which stands for a
 * text of the table. What was such an object before is `{"$text": {"is": VALUE}}`.
 */

/** The texts of a table by their digests. */
export type TextTable = Readonly<Record<string, string>>;

const KEY = '$text';

/** A piece that is shorter is not worth a place in the table. */
const worth = 256;

/** Most texts of a table: a bundle with more keys in one object is not read. */
const mostTexts = 10_000;

/** Values with what they have in common in one table. */
export const shareTexts = <Values extends Readonly<Record<string, Json>>>(
  values: Values,
): { readonly values: Values; readonly texts: TextTable } => {
  const countByPiece = new Map<string, number>();
  eachText(values, (text) => {
    for (const piece of piecesOf(text)) countByPiece.set(piece, (countByPiece.get(piece) ?? 0) + 1);
  });
  const texts: Record<string, string> = {};
  const digestByPiece = new Map<string, string>();
  for (const [piece, count] of countByPiece) {
    if (count < 2 || piece.length < worth) continue;
    if (digestByPiece.size === mostTexts) break;
    const digest = sha256(piece);
    digestByPiece.set(piece, digest);
    texts[digest] = piece;
  }
  const shared = mapTexts(values, (text) => {
    const list: Json[] = [];
    let plain = '';
    for (const piece of piecesOf(text)) {
      const digest = digestByPiece.get(piece);
      if (digest === undefined) {
        plain += piece;
        continue;
      }
      if (plain !== '') list.push(plain);
      plain = '';
      list.push({ sha256: digest });
    }
    if (list.length === 0) return text;
    return { [KEY]: plain === '' ? list : [...list, plain] };
  });
  return { values: shared as Values, texts };
};

/** Makes values whole again: undefined where a piece is missing, a value is not as it is written, or all come to too much. */
export type Unshare = (value: Json) => Json | undefined;

/** Most characters that the shared texts of a bundle come to: a few bytes can stand for any number of them. */
const mostCharacters = 256 * 1024 * 1024;

/** Makes values whole with the texts of a table. */
export const unsharing = (texts: TextTable): Unshare => {
  let left = mostCharacters;
  const pieceText = (piece: Json): string | undefined => {
    if (typeof piece === 'string') return piece;
    const digest = isJsonObject(piece) ? piece['sha256'] : undefined;
    const text = typeof digest === 'string' && Object.hasOwn(texts, digest) ? texts[digest] : undefined;
    left -= text?.length ?? 0;
    return left < 0 ? undefined : text;
  };
  const unshare: Unshare = (value) => {
    if (Array.isArray(value)) return allOf(value, unshare);
    if (!isJsonObject(value)) return value;
    const held = value[KEY];
    if (held === undefined || Object.keys(value).length !== 1) {
      const made = allOf(Object.values(value), unshare);
      return made === undefined ? undefined : withValues(value, made);
    }
    if (Array.isArray(held)) return allOf(held, pieceText)?.join('');
    const plain = isJsonObject(held) && held['is'] !== undefined ? unshare(held['is']) : undefined;
    return plain === undefined ? undefined : { [KEY]: plain };
  };
  return unshare;
};

/** All of what is made of items; undefined where one of them comes to nothing. */
const allOf = <Made>(items: readonly Json[], make: (item: Json) => Made | undefined): Made[] | undefined => {
  const list: Made[] = [];
  for (const item of items) {
    const made = make(item);
    if (made === undefined) return undefined;
    list.push(made);
  }
  return list;
};

/** The object with other values under its keys, whatever these are. */
const withValues = (object: JsonObject, values: readonly Json[]): JsonObject =>
  Object.fromEntries(Object.keys(object).map((key, index) => [key, values[index] ?? null]));

/** A text in front of each of its sections; one that is short is not taken apart. */
const piecesOf = (text: string): readonly string[] => (text.length < worth ? [text] : text.split(/^(?=## )/m));

const eachText = (value: Json, tell: (text: string) => void): void => {
  if (typeof value === 'string') {
    if (value.length >= worth) tell(value);
  } else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) eachText(item, tell);
};

const mapTexts = (value: Json, change: (text: string) => Json): Json => {
  if (typeof value === 'string') return value.length < worth ? value : change(value);
  if (Array.isArray(value)) return value.map((item: Json) => mapTexts(item, change));
  if (!isJsonObject(value)) return value;
  const members = withValues(
    value,
    Object.values(value).map((item) => mapTexts(item, change)),
  );
  return Object.keys(value).length === 1 && KEY in members ? { [KEY]: { is: members[KEY] ?? null } } : members;
};

/** What keeps a table from being one: a text that is not the one of its digest, by that. */
export const wrongTextIn = (texts: JsonObject): string | undefined =>
  Object.entries(texts).find(([digest, text]) => typeof text !== 'string' || sha256(text) !== digest)?.[0];
