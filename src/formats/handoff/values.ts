import { bodyLines } from './sections.ts';

/** What the bodies of sections say: values in a line, lists, and lists under labels. */

/** The first line that says something, without the mark of a list. */
export const firstLine = (body: string): string => {
  const said = body.trimStart();
  const end = said.indexOf('\n');
  const line = (end === -1 ? said : said.slice(0, end)).trimEnd();
  return line.startsWith('- ') ? line.slice(2) : line;
};

/** A value as it is meant: without a pair of backticks or angle brackets around it, of a link what it leads to. A comment stays. */
export const plainValue = (text: string): string => {
  let value = text.trim();
  if (value === '' || !'`<['.includes(value.charAt(0))) return value;
  value = /^`([^`]*)`$/.exec(value)?.[1] ?? value;
  value = /^<(?!!--)([^<>]*)>$/.exec(value)?.[1] ?? value;
  return (/^\[[^\]]*\]\(([^()]*)\)$/.exec(value)?.[1] ?? value).trim();
};

/** Whether a value says that there is none. */
export const isNone = (text: string): boolean => /^`*\s*(?:none)?\s*`*$/i.test(text.trim());

/** The items of a list, with bullets or numbers, each with the lines that go on with it; those that say none are left out. */
export const listItems = (body: string): readonly string[] => {
  const items: string[] = [];
  for (const line of bodyLines(body)) {
    const [, item] = /^\s{0,3}(?:[-*+]|\d+[.)])\s+(.*)$/s.exec(line) ?? [];
    const last = items.length - 1;
    if (item !== undefined) items.push(item);
    else if (last >= 0 && line.trim() !== '') items[last] += `\n${line.trim()}`;
  }
  return items.map(valueOfItem).filter((item) => !isNone(item));
};

const valueOfItem = (item: string): string => (item.includes('\n') ? item : plainValue(item));

/** What stands behind a label (`- Passed:`), on its line and on those that belong to it. */
export const labelled = (body: string, label: string): readonly string[] => {
  const lines = bodyLines(body);
  const isLabel = (line: string): boolean => /^- [^:]+:/.test(line);
  const at = lines.findIndex((line) => line.startsWith(`- ${label}:`));
  if (at === -1) return [];
  const end = lines.findIndex((line, index) => index > at && isLabel(line));
  return [(lines[at] ?? '').slice(label.length + 3), ...lines.slice(at + 1, end === -1 ? undefined : end)]
    .map((line) => plainValue(line.trim().replace(/^[-*+] /, '')))
    .filter((line) => !isNone(line));
};
