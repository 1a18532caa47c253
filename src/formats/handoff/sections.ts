import { err, ok, type Result } from '../../lib/result.ts';

/**
 * A document of headed sections, read without losing a byte: printed as it was read it is what it was. Line ends, a byte
 * order mark, text before the first section and sections that nobody knows stay as they are.
 */
export interface Sections {
  /** Everything before the first section. */
  readonly head: string;
  readonly sections: readonly Section[];
}

/** A section: its heading's line and what follows up to the next one, both with their line ends. */
export interface Section {
  readonly name: string;
  readonly heading: string;
  readonly body: string;
}

/**
 * Takes a document apart. A section opens at a line that begins with `## `, but not inside of a fenced block. A line ends
 * with a line feed, and with nothing else.
 */
export const readSections = (text: string): Sections => {
  const starts = headingsIn(text);
  const sections = starts.map((start, at) => {
    const next = starts[at + 1] ?? text.length;
    const end = text.indexOf('\n', start) + 1;
    const body = end === 0 ? next : end;
    const heading = text.slice(start, body);
    return { name: heading.slice(3).trim(), heading, body: text.slice(body, next) };
  });
  return { head: text.slice(0, starts[0]), sections };
};

/** Where the lines begin that open a section. */
const headingsIn = (text: string): readonly number[] => {
  const starts: number[] = text.startsWith('## ') ? [0] : [];
  for (let at = text.indexOf('\n## '); at !== -1; at = text.indexOf('\n## ', at + 1)) starts.push(at + 1);
  if (!text.includes('```') && !text.includes('~~~')) return starts;
  const fenced = new Set<number>();
  let fence: Fence | undefined;
  let start = 0;
  for (const line of linesOf(text)) {
    if (fence !== undefined) fenced.add(start);
    fence = line.startsWith('## ') ? fence : fenceAfter(fence, line);
    start += line.length;
  }
  return starts.filter((at) => !fenced.has(at));
};

/** The document, byte by byte. */
export const printSections = ({ head, sections }: Sections): string =>
  head + sections.map(({ heading, body }) => heading + body).join('');

/** Tells the number of the line, from 1, at which a section of a document begins. They are counted once, for whoever asks. */
export const lineFinder = ({ head, sections }: Sections): ((section: Section) => number) => {
  let lines: Map<Section, number> | undefined;
  return (section) => {
    if (lines === undefined) {
      lines = new Map();
      let line = 1 + endsIn(head);
      for (const one of sections) {
        lines.set(one, line);
        line += endsIn(one.heading) + endsIn(one.body);
      }
    }
    return lines.get(section) ?? 1;
  };
};

const endsIn = (text: string): number => {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
};

/** A text as lines, each with its end. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** An open fence: what closes it. */
interface Fence {
  readonly mark: string;
  readonly length: number;
}

/** The fence that is open behind a line, as Markdown has it. */
const fenceAfter = (open: Fence | undefined, line: string): Fence | undefined => {
  const [, marks = '', rest = ''] = /^ {0,3}(`{3,}|~{3,})(.*)/.exec(line.trimEnd()) ?? [];
  const mark = marks.slice(0, 1);
  if (open === undefined)
    return marks === '' || (mark === '`' && rest.includes('`')) ? undefined : { mark, length: marks.length };
  return mark === open.mark && marks.length >= open.length && rest.trim() === '' ? undefined : open;
};

/** The root heading: the first line that is not blank; empty where a section comes first. */
export const rootHeading = ({ head }: Sections): string => {
  // A byte order mark is white space too.
  const said = head.trimStart();
  const end = said.indexOf('\n');
  return (end === -1 ? said : said.slice(0, end)).trim();
};

/** The lines of a section's body without their ends, and without the blank ones around them. */
export const bodyLines = (body: string): readonly string[] => {
  const lines = body.split('\n').map((line) => line.trimEnd());
  const first = lines.findIndex((line) => line !== '');
  return first === -1 ? [] : lines.slice(first, lines.findLastIndex((line) => line !== '') + 1);
};

/**
 * The document with other lines in one of its sections, and with nothing else changed: blank lines around them and line ends
 * are those that were there. Refused is what has no such section, or several, and lines that would open a section or hide
 * the next one.
 */
export const withBody = (document: Sections, name: string, lines: readonly string[]): Result<Sections, string> => {
  const { head, sections } = document;
  const [found, ...others] = sections.filter((section) => section.name === name);
  if (found === undefined) return err(`there is no section ${name}`);
  if (others.length > 0) return err(`there are ${others.length + 1} sections ${name}`);
  const end = found.heading.endsWith('\r\n') ? '\r\n' : '\n';
  const before = linesOf(found.body);
  const isSaid = (line: string): boolean => line.trim() !== '';
  const first = before.findIndex(isSaid);
  const changed = {
    ...found,
    heading: found.heading.endsWith('\n') ? found.heading : `${found.heading}${end}`,
    body: [
      ...before.slice(0, Math.max(0, first)),
      ...lines.map((line) => `${line}${end}`),
      ...before.slice(before.findLastIndex(isSaid) + 1),
    ].join(''),
  };
  const result = { head, sections: sections.map((section) => (section === found ? changed : section)) };
  const again = readSections(printSections(result)).sections;
  const isWhole =
    again.length === sections.length &&
    again.every((section, at) => section.heading === result.sections[at]?.heading) &&
    bodyLines(again[sections.indexOf(found)]?.body ?? '').join('\n') === bodyLines(lines.join('\n')).join('\n');
  return isWhole ? ok(result) : err(`the lines do not stay inside of the section ${name}`);
};

/** What a merge has left two of: both sides of each conflict, with the number of its line. */
export const sidesIn = (
  text: string,
): readonly { readonly line: number; readonly ours: string; readonly theirs: string }[] => {
  const sides: { line: number; ours: string[]; theirs: string[] }[] = [];
  let into: string[] | undefined;
  for (const [at, line] of text.split('\n').entries()) {
    const last = sides.at(-1);
    if (/^<{7,} /.test(line)) {
      sides.push({ line: at + 1, ours: [], theirs: [] });
      into = sides.at(-1)?.ours;
    } else if (into !== undefined && /^={7,}$/.test(line.trimEnd())) into = last?.theirs;
    // What both began from is none of the sides.
    else if (into !== undefined && /^\|{7,} /.test(line)) into = [];
    else if (/^>{7,} /.test(line)) into = undefined;
    else into?.push(line.trimEnd());
  }
  return sides.map(({ line, ours, theirs }) => ({ line, ours: ours.join('\n'), theirs: theirs.join('\n') }));
};

/**
 * The number of the line with which a merge has left a conflict in a text; undefined where there is none. Git makes its marks
 * longer where a file of a conflict was renamed (`conflict-marker-size` in gitattributes(5)).
 */
export const conflictIn = (text: string): number | undefined => {
  if (!text.includes('<<<<<<< ')) return undefined;
  const lines = text.split('\n');
  const at = lines.findIndex((line) => /^<{7,} /.test(line));
  const isOne = at !== -1 && lines.slice(at).some((line) => /^>{7,} /.test(line));
  return isOne ? at + 1 : undefined;
};
