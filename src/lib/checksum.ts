/**
 * A fast 32-bit checksum (FNV-1a over UTF-16 code units) that tells accidental damage of a stored row. It proves nothing
 * against somebody who wants to deceive: that is what the hash chain is for.
 */
export const checksum = (...texts: readonly string[]): number => {
  let sum = 0x811c9dc5;
  for (const text of texts) {
    // In a process that has just begun, each look at a property takes as long as all the rest of a turn.
    const { length } = text;
    for (let index = 0; index < length; index += 1) sum = imul(sum ^ text.charCodeAt(index), 0x01000193);
    sum = imul(sum ^ 0x1f, 0x01000193);
  }
  return sum >>> 0;
};

const { imul } = Math;
