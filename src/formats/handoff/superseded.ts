import { halves, type Half } from './print.ts';
import { printSections, readSections, withBody, type Sections } from './sections.ts';

/** A document that names another one than it did, and says where another one has taken its place. */

/** What a handover says that another one has taken the place of. */
const mark = '> Superseded: another handover is the live one now. See CURRENT.md.';

/** A half that names another one, and says where it is not the live one any more. */
export const withPointer = (half: Half, text: string, pointer: string | null, isSuperseded = false): string => {
  const kind = halves[half];
  const changed = withBody(readSections(text), kind.pointer, [pointer ?? 'None']);
  const { head, sections } = changed.ok ? changed.value : readSections(text);
  const end = head.includes('\r\n') ? '\r\n' : '\n';
  const isMarked = half !== 'handover' || !isSuperseded || head.includes(mark);
  return printSections({
    head: isMarked ? head : `${head.trimEnd()}${end}${end}${mark}${end}${end}`,
    sections,
  });
};

/** A document that is the live one again. */
export const withoutMark = ({ head, sections }: Sections): Sections => {
  const lines = head.split('\n');
  const at = lines.findIndex((line) => line.trim() === mark);
  if (at === -1) return { head, sections };
  const isApart = lines[at + 1]?.trim() === '';
  return { head: lines.toSpliced(at, isApart ? 2 : 1).join('\n'), sections };
};
