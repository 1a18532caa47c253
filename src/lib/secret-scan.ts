/** What the searches for secrets share: places in a text, and kinds of characters. */

/** What stands where a secret was. */
export const MARK = '[REDACTED]';

/** A stretch of a text. */
export type Stretch = { readonly start: number; readonly end: number };

/** A stretch that is to be replaced, and the rule that says so. */
export type Span = Stretch & { readonly rule: string };

/** Whether a code unit belongs to something. */
export type IsPart = (unit: number) => boolean;

export const isDigit: IsPart = (unit) => unit >= 0x30 && unit <= 0x39;
export const isUpper: IsPart = (unit) => unit >= 0x41 && unit <= 0x5a;
const isLower: IsPart = (unit) => unit >= 0x61 && unit <= 0x7a;
export const isAlnum: IsPart = (unit) => isLower(unit) || isUpper(unit) || isDigit(unit);
export const isHex: IsPart = (unit) => isDigit(unit) || ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x66);
export const isWord: IsPart = (unit) => isAlnum(unit) || unit === 0x5f;
export const isUrlSafe: IsPart = (unit) => isWord(unit) || unit === 0x2d;
export const isBase64: IsPart = (unit) => isAlnum(unit) || unit === 0x2b || unit === 0x2f || unit === 0x3d;
export const isSpace: IsPart = (unit) => unit === 0x20 || unit === 0x09;
export const isLinePart: IsPart = (unit) => unit !== 0x0a && unit !== 0x0d && !Number.isNaN(unit);

/** Where what begins at `from` ends, after at most so many code units. */
export function runEnd(text: string, from: number, isPart: IsPart, most = Number.POSITIVE_INFINITY): number {
  let at = from;
  while (at - from < most && isPart(text.charCodeAt(at))) at += 1;
  return at;
}

/** The end of a sentence does not belong to what stands in it. */
export function trimmedEnd(text: string, from: number, end: number): number {
  let trimmed = end;
  while (trimmed > from && text.charCodeAt(trimmed - 1) === 0x2e) trimmed -= 1;
  return trimmed;
}

/** Up to this length a text is asked for each trigger by itself, which is faster than compiling an expression. */
export const SHORT = 4096;

/** Enough of a value to judge it by. It is a bound because names without a space between them share one long value. */
export const HEAD = 128;
