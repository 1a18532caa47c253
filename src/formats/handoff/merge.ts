/** What becomes of a list that a person and the session have both changed. */

/** A body as it was, as it stands in the document, and as the session says it now; all as lines. */
export interface ThreeBodies {
  readonly before: readonly string[];
  readonly own: readonly string[];
  readonly now: readonly string[];
}

/**
 * The body in which both changes stand: what the session has dropped is taken out, what is new in it comes last, under the
 * label that it belongs to. Every other line stays as it is.
 */
export const mergeBodies = ({ before, own, now }: ThreeBodies): readonly string[] => {
  const [old, mine, next] = [groupsOf(before), groupsOf(own), groupsOf(now)];
  const labels = [...new Set([...mine.keys(), ...next.keys()])];
  const merged = labels.flatMap((label) => {
    const head = label === '' ? [] : [mine.get(label)?.label ?? next.get(label)?.label ?? label];
    return [...head, ...mergeLines(linesIn(old, label), linesIn(mine, label), linesIn(next, label))];
  });
  return renumbered(merged);
};

/** The body of a list that the session says, with what somebody has added to it behind. */
export const addBodies = ({ before, own, now }: ThreeBodies): readonly string[] => {
  const known = new Set([...before, ...now].map(contentOf));
  const added = own.filter((line) => line.trim() !== '' && isSaid(line) && !known.has(contentOf(line)));
  return added.length === 0 ? keptIn(own, now) : renumbered([...now.filter(isSaid), ...added]);
};

/** A list as it is written, where it says the same. */
const keptIn = (own: readonly string[], now: readonly string[]): readonly string[] =>
  own.map(contentOf).join('\n') === now.map(contentOf).join('\n') ? own : now;

/** Whether a line says anything but that there is none. */
const isSaid = (line: string): boolean => contentOf(line).toLowerCase() !== 'none';

interface Group {
  readonly label: string;
  readonly lines: readonly string[];
}

/** Lines under labels (`- Passed:`); those before the first label are under none. */
const groupsOf = (lines: readonly string[]): ReadonlyMap<string, Group> => {
  const groups = new Map<string, { readonly label: string; readonly lines: string[] }>([
    ['', { label: '', lines: [] }],
  ]);
  let current = groups.get('');
  for (const line of lines) {
    const [, name] = /^- ([^:]+):$/.exec(line) ?? [];
    if (name === undefined) {
      current?.lines.push(line);
      continue;
    }
    current = groups.get(name) ?? { label: line, lines: [] };
    groups.set(name, current);
  }
  return groups;
};

const linesIn = (groups: ReadonlyMap<string, Group>, label: string): readonly string[] =>
  groups.get(label)?.lines ?? [];

const mergeLines = (before: readonly string[], own: readonly string[], now: readonly string[]): readonly string[] => {
  const old = new Set(before.map(contentOf));
  const next = new Set(now.map(contentOf));
  const mine = new Set(own.map(contentOf));
  const added = now.filter((line) => !old.has(contentOf(line)) && !mine.has(contentOf(line)));
  const kept = own.filter((line) => !old.has(contentOf(line)) || next.has(contentOf(line)));
  const both = [...kept, ...added];
  // That there is none is said only where there is none.
  return both.some((line) => line.trim() !== '' && isSaid(line)) ? both.filter(isSaid) : now;
};

/** What a line says, without the mark of a list. */
const contentOf = (line: string): string =>
  line
    .trim()
    .replace(/^(?:[-*+]|\d+[.)])\s+/, '')
    .trim();

/** Numbers in their order, where the lines of a list have numbers. */
const renumbered = (lines: readonly string[]): readonly string[] => {
  let number = 0;
  return lines.map((line) => {
    const [, rest] = /^\d+([.)]\s.*)$/s.exec(line) ?? [];
    if (rest === undefined) return line;
    number += 1;
    return `${number}${rest}`;
  });
};
