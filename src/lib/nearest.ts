/**
 * The candidates that somebody who typed `word` may have meant, closest first, at most `max`. Close is a candidate that
 * begins with the word, or that differs by few insertions, deletions, replacements or swaps of neighbours, regardless
 * of case: one for words of up to 3 characters, two up to 6, else three. Where there are closer ones, those that are
 * off by two more are left out.
 */
export function nearest(word: string, candidates: readonly string[], max = 3): string[] {
  const wanted = word.toLowerCase();
  // Nobody mistypes a name this long; a pasted text is not worth comparing.
  if (wanted.length > 128) return [];
  const limit = Math.min(3, Math.ceil(wanted.length / 3));
  const found: { readonly candidate: string; readonly distance: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const other = candidate.toLowerCase();
    const begun = wanted.length > 1 && other.startsWith(wanted);
    const distance = begun ? Math.min(1, other.length - wanted.length) : editDistance(wanted, other, limit);
    if (distance <= limit && distance < Math.max(wanted.length, other.length)) found.push({ candidate, distance });
  }
  const closest = Math.min(...found.map(({ distance }) => distance));
  return found
    .filter(({ distance }) => distance <= closest + 1)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, max)
    .map(({ candidate }) => candidate);
}

/**
 * Optimal string alignment distance, given up at anything above `limit`: insertions, deletions, replacements and swaps
 * of two neighbours, none of them edited again.
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: readonly number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (last[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let best = Math.min(replaced, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(best);
    }
    if (Math.min(...current) > limit) return limit + 1;
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
