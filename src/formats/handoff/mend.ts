import { checkBody, type DocumentKind } from './document.ts';
import { bodyLines, printSections, withBody, type Section, type Sections } from './sections.ts';

/** A document that has lost its shape has it again, and nothing of it is lost. */

/**
 * Every section is there and in its place, one that nobody knows behind the one that it stood behind; what is missing, empty or
 * was never filled in says what the session says. What is there twice stays so: which of the two counts is not known.
 */
export const mend = (
  kind: DocumentKind,
  document: Sections,
  said: ReadonlyMap<string, readonly string[]>,
): Sections => {
  const names = document.sections.map(({ name }) => name);
  const isTwice = kind.sections.some((name) => names.indexOf(name) !== names.lastIndexOf(name));
  const whole = isTwice ? document : inOrder(kind, document, said);
  let mended = whole;
  for (const section of whole.sections) {
    const lines = said.get(section.name);
    if (lines === undefined || checkBody(kind, section) === undefined) continue;
    const changed = withBody(mended, section.name, lines);
    if (changed.ok) mended = changed.value;
  }
  return mended;
};

const inOrder = (
  kind: DocumentKind,
  { head, sections }: Sections,
  said: ReadonlyMap<string, readonly string[]>,
): Sections => {
  const end = printSections({ head, sections }).includes('\r\n') ? '\r\n' : '\n';
  const made = (name: string): Section => ({
    name,
    heading: `## ${name}${end}`,
    body: [...(said.get(name) ?? ['- None']), '', ''].join(end),
  });
  const followers = new Map<string, readonly Section[]>();
  let before = '';
  for (const section of sections) {
    if (kind.sections.includes(section.name)) before = section.name;
    else followers.set(before, [...(followers.get(before) ?? []), section]);
  }
  const own = kind.sections.flatMap((name) => [
    sections.find((section) => section.name === name) ?? made(name),
    ...(followers.get(name) ?? []),
  ]);
  const all = [...(followers.get('') ?? []), ...own];
  const isSame = all.length === sections.length && all.every((section, at) => section === sections[at]);
  return { head, sections: isSame ? sections : all.map((section) => apart(section, end)) };
};

/** A section that ends with a blank line, so that whatever follows it stands by itself. */
const apart = (section: Section, end: string): Section => {
  const { heading, body } = section;
  if (`${heading}${body}`.endsWith(`${end}${end}`)) return section;
  const text = bodyLines(body).length === 0 || body.endsWith(end) ? body : `${body}${end}`;
  return { ...section, heading: heading.endsWith(end) ? heading : `${heading}${end}`, body: `${text}${end}` };
};
