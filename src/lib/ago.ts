/** How long ago a time was, for a person; one that has not come was told by a clock that is wrong, and that is said. */
export const agoText = (at: string, now: string): string => {
  const milliseconds = Date.parse(now) - Date.parse(at);
  if (Number.isNaN(milliseconds)) return 'at a time that is not known';
  const size = Math.abs(milliseconds);
  const [unit, length] = spans.find(([, one]) => size >= one) ?? ['second', 1000];
  const count = Math.floor(size / length);
  const span = `${count} ${unit}${count === 1 ? '' : 's'}`;
  // Clocks of two machines are never quite the same.
  if (milliseconds < 0) return size < 60_000 ? 'just now' : `in the future by ${span}: a clock is wrong`;
  return count === 0 ? 'just now' : `${span} ago`;
};

const spans: readonly (readonly [string, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];
