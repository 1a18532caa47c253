/**
 * What a reader sees as one character, and how wide it is drawn, beyond ASCII: the rules of Unicode for clusters and for
 * columns. Few texts need them, and they are long, so `text.ts` asks for them only where it meets such a character.
 */

/**
 * Whether a cluster ends before the code unit at `end`. These are the rules of UAX #29 for grapheme clusters, written out
 * because the first use of `Intl.Segmenter` takes longer than an everyday verb.
 */
export function endsCluster(text: string, end: number): boolean {
  if (isHighSurrogate(text.charCodeAt(end - 1)) && isLowSurrogate(text.charCodeAt(end))) return false;

  const before = characterBefore(text, end);
  const after = String.fromCodePoint(text.codePointAt(end) ?? 0);
  if (classes().staysBehind.test(after) || before === JOINER || classes().staysBefore.test(before)) return false;
  if (classes().leadingJamo.test(before) && classes().hangul.test(after)) return false;
  if (classes().halfFlag.test(before) && classes().halfFlag.test(after)) return halfFlagsBefore(text, end) % 2 === 0;
  return !(/^\p{L}/u.test(after) && isLinked(text, end));
}

/** How many columns a text takes on a terminal, as `displayWidth` tells them. */
export function columnsOf(text: string): number {
  let width = 0;
  let base = '';
  let baseWidth = 0;
  let joined = false;
  let halfFlag = false;
  for (const character of text) {
    const grows = baseWidth === 1 && (character === EMOJI_STYLE ? /^\p{Emoji}/u : classes().skinCarrier).test(base);
    if (character === EMOJI_STYLE || (classes().skinTone.test(character) && classes().skinCarrier.test(base))) {
      // A character that is narrow by itself is drawn as an emoji because of this one.
      if (grows) width += 1;
      if (grows) baseWidth = 2;
    } else if (classes().noColumn.test(character)) {
      joined = character === JOINER;
    } else if (joined && /^\p{Extended_Pictographic}/u.test(character)) {
      joined = false;
    } else if (halfFlag && classes().halfFlag.test(character)) {
      halfFlag = false;
    } else {
      base = character;
      baseWidth = classes().twoColumns.test(character) ? 2 : 1;
      width += baseWidth;
      joined = false;
      halfFlag = classes().halfFlag.test(character);
    }
  }
  return width;
}

/** Whether the marks before `end` hold a virama, which ties a consonant to the next one (rule GB9c). */
function isLinked(text: string, end: number): boolean {
  // More marks than this on one letter are no writing.
  for (let at = end, marks = 0; marks < 32; marks += 1) {
    const mark = characterBefore(text, at);
    if (classes().virama.test(mark)) return true;
    if (!classes().staysBehind.test(mark)) return false;
    at -= mark.length;
  }
  return false;
}

function halfFlagsBefore(text: string, end: number): number {
  let count = 0;
  for (let at = end; classes().halfFlag.test(characterBefore(text, at)); at -= 2) count += 1;
  return count;
}

/** The code point that ends before `end`, as a string; empty at the beginning. */
function characterBefore(text: string, end: number): string {
  const isPair = isHighSurrogate(text.charCodeAt(end - 2)) && isLowSurrogate(text.charCodeAt(end - 1));
  return text.slice(Math.max(0, end - (isPair ? 2 : 1)), end);
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd8_00 && unit <= 0xdb_ff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc_00 && unit <= 0xdf_ff;

const JOINER = '\u200d';
const EMOJI_STYLE = '\ufe0f';
/**
 * Classes of characters, made at their first use: making them reads Unicode's tables, which would cost every verb a
 * thirtieth of a bare Node's start.
 */
const makeClasses = () => ({
  halfFlag: /^\p{Regional_Indicator}/u,
  skinTone: /^\p{Emoji_Modifier}/u,
  skinCarrier: /^\p{Emoji_Modifier_Base}/u,

  /** Marks and format characters, controls, and the Hangul vowels and finals that melt into the syllable before. */
  noColumn: /^(?!\u00ad)[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11ff]/u,

  /** East_Asian_Width W and F of Unicode 16 (EastAsianWidth.txt), unassigned code points between them included. */
  twoColumns:
    /^[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u,

  /** What never begins a cluster: GCB Extend, SpacingMark, ZWJ, and Hangul vowels and finals. */
  staysBehind: /^[\p{Grapheme_Extend}\p{M}\p{Emoji_Modifier}\u200d\u0e33\u0eb3\u1160-\u11ff\ud7b0-\ud7fb]/u,

  /** What never ends a cluster: GCB Prepend. */
  staysBefore:
    /^[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\u{110bd}\u{110cd}\u{111c2}\u{111c3}\u{113d1}\u{1193f}\u{11941}\u{11a3a}\u{11a84}-\u{11a89}\u{11d46}\u{11f02}]/u,

  leadingJamo: /^[\u1100-\u115f\ua960-\ua97c]/u,
  hangul: /^[\u1100-\u115f\ua960-\ua97c\uac00-\ud7a3]/u,

  /** Indic_Conjunct_Break=Linker of Unicode 16. */
  virama:
    /^[\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d\u1039\u17d2\u1a60\u1b44\u1bab\ua9c0\uaaf6\u{10a3f}\u{11133}\u{113d0}\u{1193e}\u{11a47}\u{11a99}\u{11f42}]/u,
});

let made: ReturnType<typeof makeClasses> | undefined;

const classes = (): ReturnType<typeof makeClasses> => {
  made ??= makeClasses();
  return made;
};
