import type { Json } from './canonical-json.ts';
import { placesIn, readJson, type Place } from './json-text.ts';
import { salvageJson, type Salvaged } from './salvage-json.ts';

/**
 * Reads a file that should be one JSON document, whatever became of it: cut off, overwritten, merged with conflicts,
 * wrapped in Markdown, mended by hand. Of several documents none is chosen here. Nothing is thrown.
 */

/** A fault of a file, as a sentence. */
export interface Fault extends Place {
  readonly problem: string;
  /** Whether something that stood there, or should have, may be lost. */
  readonly isLoss: boolean;
}

/** One of several documents that a file holds. */
export interface Side {
  /** `ours`, `base` and `theirs` of a merge conflict; else `first`, `second` and so on. */
  readonly name: string;
  /** What a merge calls it; empty where it calls it nothing. */
  readonly label: string;
  /** The line at which it begins, or where it is told of first. */
  readonly line: number;
  /** Undefined where nothing of it can be read. */
  readonly value: Json | undefined;
  readonly faults: readonly Fault[];
}

/** What can be taken of a file. */
export type Rescued =
  | { readonly what: 'document'; readonly value: Json; readonly faults: readonly Fault[] }
  /** It holds several that differ: which one counts is for somebody to say. */
  | { readonly what: 'several'; readonly problem: string; readonly sides: readonly Side[] }
  | ({ readonly what: 'nothing'; readonly problem: string } & Partial<Place>);

/** How a file is read. */
export interface Rescue {
  /** The name of the side that counts, where there are several. */
  readonly choice?: string | undefined;
  /** Whether a value is such a document: what is left of another one may look like JSON. */
  readonly isDocument: (value: Json) => boolean;
}

/** Reads the text of a file. */
export const rescueJson = (text: string, rescue: Rescue): Rescued => {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const start: Place = { line: 1, column: 1 };
  if (body === '') return { what: 'nothing', problem: 'It is empty.', ...start };
  const filled = firstFilled(body);
  if (filled === body.length)
    return body.includes('\0')
      ? {
          what: 'nothing',
          problem: 'It holds nothing but NUL bytes, as a write leaves them that a crash cut off.',
          ...start,
        }
      : { what: 'nothing', problem: 'It holds nothing but blanks.', ...start };
  if (/^(?:\uFFFD\uFFFD|.?\0.?\0|.\0)/su.test(body))
    return { what: 'nothing', problem: 'It is not UTF-8: it looks like UTF-16.', ...start };
  const read = readJson(body);
  if ('value' in read) {
    const { value, repeated } = read;
    const twice = { problem: 'It has one key twice in an object, of which the last one counts.', isLoss: false };
    return { what: 'document', value, faults: repeated === undefined ? [] : [{ ...twice, ...repeated }] };
  }
  const conflict = conflictIn(body);
  return conflict === undefined ? rescueDocuments(body, rescue) : rescueConflict(conflict, rescue);
};

/** The first character that is neither a blank nor NUL. */
const firstFilled = (text: string): number => {
  filled.lastIndex = 0;
  return filled.exec(text)?.index ?? text.length;
};
const filled = /[^\s\0]/g;

/** A file with the marks of merge conflicts, taken apart. */
interface Conflict {
  readonly line: number;
  /** The text of each side, in whose lines everything stands where it stands in the file. */
  readonly sides: readonly { readonly name: string; readonly label: string; readonly text: string }[];
}

type Area = 'all' | 'ours' | 'base' | 'theirs';

/** No text of JSON goes over a line's end, so that such a line is never part of one. */
const conflictIn = (text: string): Conflict | undefined => {
  if (!/^<{7,}(?: |\r?$)/m.test(text) || !/^={7,}\r?$/m.test(text)) return undefined;
  let area: Area = 'all';
  let line = 0;
  let hasBase = false;
  const labels = new Map<Area, string>();
  const lines = text.split('\n').map((content, index) => {
    const mark = /^(?:<{7,}|\|{7,}|={7,}|>{7,})(?= |\r?$)/.exec(content)?.[0];
    if (mark === undefined) return { content, area };
    const label = content.slice(mark.length).trim();
    const enter = (next: Area, labelled: Area): void => {
      area = next;
      if (!labels.has(labelled)) labels.set(labelled, label);
    };
    switch (mark[0]) {
      case '<':
        if (line === 0) line = index + 1;
        enter('ours', 'ours');
        break;
      case '|':
        hasBase = true;
        enter('base', 'base');
        break;
      case '=':
        area = 'theirs';
        break;
      default:
        enter('all', 'theirs');
    }
    return { content: '', area: 'all' as const };
  });
  const textOf = (name: Area): string =>
    lines.map((one) => (one.area === 'all' || one.area === name ? one.content : '')).join('\n');
  const names: readonly Exclude<Area, 'all'>[] = hasBase ? ['ours', 'base', 'theirs'] : ['ours', 'theirs'];
  return { line, sides: names.map((name) => ({ name, label: labels.get(name) ?? '', text: textOf(name) })) };
};

const rescueConflict = ({ line, sides }: Conflict, rescue: Rescue): Rescued => {
  const fault: Fault = { problem: 'It has the marks of a git conflict.', isLoss: false, line, column: 1 };
  const chosen = sides.find(({ name }) => name === rescue.choice);
  if (chosen !== undefined) {
    const rescued = rescueSide(chosen.text, rescue);
    if (rescued.what !== 'document') return rescued;
    const taken = { ...fault, problem: `It has the marks of a git conflict, of which ${chosen.name} was taken.` };
    return { ...rescued, faults: [taken, ...rescued.faults] };
  }
  const read = sides.map(({ name, label, text: side }): Side => {
    const rescued = rescueSide(side, rescue);
    const value = rescued.what === 'document' ? rescued.value : undefined;
    const faults =
      rescued.what === 'document'
        ? rescued.faults
        : [
            {
              problem: rescued.problem,
              isLoss: true,
              line,
              column: 1,
              ...(rescued.what === 'nothing' ? placeOf(rescued) : {}),
            },
          ];
    return { name, label, line, value, faults };
  });
  // A base is what both have left behind.
  const [first, ...others] = read.filter(({ name }) => name !== 'base');
  const agree = first?.value !== undefined && others.every((other) => isSame(other, first));
  return agree
    ? {
        what: 'document',
        value: first.value,
        faults: [{ ...fault, problem: 'It has the marks of a git conflict, whose sides say the same.' }],
      }
    : { what: 'several', problem: `It has a git conflict at line ${line}.`, sides: read };
};

const placeOf = ({ line, column }: Partial<Place>): Partial<Place> =>
  line === undefined || column === undefined ? {} : { line, column };

/** One side of a conflict, which is a file of its own. */
const rescueSide = (text: string, { isDocument }: Rescue): Rescued => {
  const read = readJson(text);
  return 'value' in read ? { what: 'document', value: read.value, faults: [] } : rescueDocuments(text, { isDocument });
};

const isSame = (some: Pick<Side, 'value' | 'faults'>, other: Pick<Side, 'value' | 'faults'>): boolean =>
  JSON.stringify(some.value) === JSON.stringify(other.value) &&
  [some, other].every(({ faults }) => faults.every(({ isLoss }) => !isLoss));

/** Most documents that are looked for in one file. */
const mostDocuments = 20;

/** A document that begins in a text. */
interface FoundDocument extends Salvaged {
  readonly start: number;
}

/** The documents that stand one behind the other in a text. */
const rescueDocuments = (text: string, { choice, isDocument }: Rescue): Rescued => {
  const placed = placesIn(text);
  const nul = text.indexOf('\0');
  const { start, end, wrapping } = contentOf(nul < 0 ? text : text.slice(0, nul));
  const content = text.slice(0, end);
  const documents = documentsIn(content, start);
  const [first] = documents;
  if (first === undefined) {
    const flaw = salvageJson(content, start).flaws.find(({ isLoss }) => isLoss);
    return {
      what: 'nothing',
      problem: flaw === undefined ? 'It is not JSON.' : `It ${flaw.what}.`,
      ...placed(flaw?.offset ?? firstFilled(text)),
    };
  }
  const sides = distinct(documents.filter((one) => one.isClosed && isDocument(one.value ?? null)));
  const named = sides.find((_, index) => ordinalOf(index) === choice);
  if (sides.length > 1 && named === undefined)
    return {
      what: 'several',
      problem: `It holds ${sides.length} documents that differ.`,
      sides: sides.map((one, index) => ({
        name: ordinalOf(index),
        label: '',
        line: placed(one.start).line,
        value: one.value,
        faults: faultsOf(one, placed),
      })),
    };
  const taken = named ?? sides[0] ?? documents.find(({ value }) => isDocument(value ?? null)) ?? first;
  const faults = [...faultsOf(taken, placed)];
  const tell = (problem: string, isLoss: boolean, offset: number): void => {
    faults.push({ problem, isLoss, ...placed(offset) });
  };
  if (wrapping !== undefined) tell(wrapping, false, 0);
  for (const other of documents) {
    if (other === taken) continue;
    // What is no document is left of one that was longer; what says the same says nothing new.
    const isNothing =
      named !== undefined ||
      !isDocument(other.value ?? null) ||
      isSameText(content, other, taken) ||
      isEqual(other, taken);
    tell('It holds another document, which was left out.', !isNothing, other.start);
  }
  const rest = documents.at(-1)?.end ?? content.length;
  const behind = rest + firstFilled(content.slice(rest));
  if (behind < content.length) tell('It goes on behind the end of its document.', false, behind);
  if (nul >= 0) tell('It holds NUL bytes, as a write leaves them that a crash cut off.', !taken.isClosed, nul);
  return { what: 'document', value: taken.value ?? null, faults: faults.toSorted(byPlace) };
};

const documentsIn = (text: string, start: number): readonly FoundDocument[] => {
  const documents: FoundDocument[] = [];
  let at: number | undefined = start;
  while (at !== undefined && documents.length < mostDocuments) {
    const found: Salvaged = salvageJson(text, at);
    if (found.value === undefined) break;
    documents.push({ ...found, start: at });
    at = nextDocument(text, found.end);
  }
  return documents;
};

/** Where the next document may begin: at once, or with a line. */
const nextDocument = (text: string, from: number): number | undefined => {
  const next = from + firstFilled(text.slice(from));
  if (text[next] === '{') return next;
  const line = text.indexOf('\n{', next);
  return line < 0 ? undefined : line + 1;
};

const distinct = (documents: readonly FoundDocument[]): readonly FoundDocument[] => {
  const seen = new Set<string>();
  return documents.filter(({ value }) => {
    const text = JSON.stringify(value);
    const isNew = !seen.has(text);
    seen.add(text);
    return isNew;
  });
};

const ordinalOf = (index: number): string => ['first', 'second', 'third'][index] ?? `number ${index + 1}`;

const isEqual = (some: Salvaged, other: Salvaged): boolean =>
  some.isClosed && other.isClosed && JSON.stringify(some.value) === JSON.stringify(other.value);

/** Whether a document that is cut off is the beginning of another one. */
const isSameText = (text: string, cut: FoundDocument, whole: FoundDocument): boolean =>
  !cut.isClosed && text.startsWith(text.slice(cut.start, cut.end).trimEnd(), whole.start);

/** Where a text holds its document, and what is around it. */
const contentOf = (text: string): { readonly start: number; readonly end: number; readonly wrapping?: string } => {
  const begin = firstFilled(text);
  if (/[{[/#]/.test(text[begin] ?? '')) return { start: begin, end: text.length };
  const fence = /^[ \t]*(?:`{3,}|~{3,})[^\n]*\n/m.exec(text);
  if (fence !== null && !text.slice(0, fence.index).includes('{')) {
    const start = fence.index + fence[0].length;
    const closing = /^[ \t]*(?:`{3,}|~{3,})[ \t]*\r?$/m.exec(text.slice(start));
    return {
      start,
      end: closing === null ? text.length : start + closing.index,
      wrapping: 'It is wrapped in a fence of Markdown.',
    };
  }
  const line = /^\{/m.exec(text)?.index ?? text.indexOf('{');
  return line < 0
    ? { start: begin, end: text.length }
    : { start: line, end: text.length, wrapping: 'It has a text before its document, which was left out.' };
};

const faultsOf = ({ flaws, untold, end }: Salvaged, placed: (offset: number) => Place): readonly Fault[] => [
  ...flaws.map(({ offset, path, what, isLoss }) => ({
    problem: path === '$' ? `It ${what}.` : `It ${what} (${path}).`,
    isLoss,
    ...placed(offset),
  })),
  ...(untold === 0 ? [] : [{ problem: `It has ${untold} more of such faults.`, isLoss: false, ...placed(end) }]),
];

const byPlace = (some: Place, other: Place): number => some.line - other.line || some.column - other.column;
