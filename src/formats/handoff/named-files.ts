/** The files that people name in lists of documents. */

/** That a file is not there any more, as people write it behind its name. */
const goneWords = /\b(?:deleted|removed|renamed|moved|gone)\b/i;

/**
 * The paths that an item names: in backticks, or as its first word where the item is that word alone or what stands in it
 * looks like a path. A sentence names none, nor does a pattern, an address, or what is said to be gone.
 */
export const pathsNamed = (item: string): readonly string[] => {
  const [line = ''] = item.split('\n');
  const spans = [...line.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);
  const [first = '', ...more] = line.trim().split(/\s+/);
  const said = spans.length > 0 ? line.replaceAll(/`[^`]+`/g, ' ') : more.join(' ');
  if (goneWords.test(said)) return [];
  const words = spans.length > 0 ? spans : more.length === 0 || /[./]/.test(first.slice(0, -1)) ? [first] : [];
  return words.map((word) => word.replace(/[,;:]$/, '').replace(/(?::\d+){1,2}$|#L\d+(?:-L?\d+)?$/, '')).filter(isPath);
};

const isPath = (word: string): boolean => word !== '' && !/[\s*?<>|{}[\]"\0]|:\/\//.test(word) && !word.startsWith('-');
