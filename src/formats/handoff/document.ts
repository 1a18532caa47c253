import { conflictIn, lineFinder, readSections, rootHeading, type Section, type Sections } from './sections.ts';
import { statuses, type Status } from './statuses.ts';
import { firstLine, isNone, plainValue } from './values.ts';
import { isDay } from '../../lib/time.ts';

/** The two documents of a hand-off, and what is wrong with one by itself. */

/** A kind of document: what it is called, its root heading, its sections in their order, and those that hold one line. */
export interface DocumentKind {
  readonly called: string;
  readonly root: string;
  readonly sections: readonly string[];
  readonly lines: readonly string[];
  readonly pointer: string;
  /** Whether it has to say where the other one lies, while it is not done. */
  readonly needsPointer: boolean;
}

/** `CURRENT.md`, and what was archived of it. */
export const sessionState: DocumentKind = {
  called: 'session state',
  root: '# Session State',
  sections: [
    'Task',
    'Status',
    'Last updated',
    'Updated by',
    'Next owner',
    'Last completed step',
    'Current step',
    'Remaining steps',
    'Blockers',
    'Decisions and assumptions',
    'Files touched',
    'Commands to resume',
    'Validation snapshot',
    'Artifacts',
    'Handover pointer',
  ],
  lines: [
    'Task',
    'Status',
    'Last updated',
    'Updated by',
    'Next owner',
    'Last completed step',
    'Current step',
    'Handover pointer',
  ],
  pointer: 'Handover pointer',
  needsPointer: false,
};

/** The summary for whoever takes over. */
export const handover: DocumentKind = {
  called: 'handover',
  root: '# Handover',
  sections: [
    'Task summary',
    'Status',
    'Last updated',
    'Updated by',
    'Next owner',
    'What was done',
    'Last completed step',
    'Current step',
    'Remaining work',
    'Blockers and decisions',
    'Validation status',
    'Resume instructions',
    'Skills and subskills used',
    'Non-skill actions and suggestions',
    'Patterns used',
    'Anti-patterns used',
    'Strengths of the changes',
    'Weaknesses of the changes',
    'How things could be improved',
    'Files added or modified',
    'Session-state pointer',
  ],
  lines: [
    'Task summary',
    'Status',
    'Last updated',
    'Updated by',
    'Next owner',
    'Last completed step',
    'Current step',
    'Session-state pointer',
  ],
  pointer: 'Session-state pointer',
  needsPointer: true,
};

/** Something that is wrong with a document. */
export interface DocumentFinding {
  readonly code: string;
  /** The number of the line that it is about, from 1; null where it is about none. */
  readonly line: number | null;
  readonly text: string;
  readonly remedy: string;
}

/** A document that was read. */
export interface Document extends Sections {
  readonly kind: DocumentKind;
}

/** Reads a document of a kind, whatever is wrong with it. */
export const readDocument = (kind: DocumentKind, text: string): Document => ({ kind, ...readSections(text) });

/** The body of a section; of several with one name the last one counts. Empty where there is none. */
export const bodyOf = ({ sections }: Sections, name: string): string =>
  sections.findLast((section) => section.name === name)?.body ?? '';

/** The value of a section that holds one line. */
export const valueOf = (document: Sections, name: string): string => plainValue(firstLine(bodyOf(document, name)));

/** The status of a document; undefined where it says none. */
export const statusOf = (document: Sections): Status | undefined => {
  const value = valueOf(document, 'Status');
  return statuses.find((status) => status === value);
};

/**
 * What is wrong with a document as it stands, by itself. A conflict that a merge has left is told alone: what stands in such
 * a document says nobody.
 */
export const checkDocument = (kind: DocumentKind, text: string): readonly DocumentFinding[] =>
  checkRead(readDocument(kind, text), { text, conflict: conflictIn(text) });

/** The same of a document that was read, with its text and the number of the line of a conflict. */
export const checkRead = (
  document: Document,
  { text, conflict }: { readonly text: string; readonly conflict: number | undefined },
): readonly DocumentFinding[] => {
  if (conflict !== undefined)
    return [
      {
        code: 'doc-conflict',
        line: conflict,
        text: 'a merge has left a conflict here',
        remedy: 'take one of the sides, or write what is true, and take the lines of the conflict out',
      },
    ];
  const shape = checkShape(document, text);
  return shape.length > 0 ? shape : checkValues(document);
};

const checkShape = (document: Document, text: string): readonly DocumentFinding[] => {
  const { kind, sections } = document;
  const findings: DocumentFinding[] = [];
  const lineOf = lineFinder(document);
  const root = rootHeading(document);
  if (root !== kind.root)
    findings.push({
      code: 'doc-root-heading',
      line: 1,
      text: `a ${kind.called} begins with "${kind.root}"`,
      remedy: `write "${kind.root}" as its first line`,
    });
  const checkOne = (section: Section): void => {
    const fault = checkBody(kind, section);
    if (fault !== undefined) findings.push({ ...fault, line: lineOf(section) });
  };
  if (sections.length === kind.sections.length && sections.every(({ name }, at) => name === kind.sections[at])) {
    for (const section of sections) checkOne(section);
    return findings;
  }
  const seen = new Set<string>();
  for (const section of sections) {
    const { name } = section;
    if (seen.has(name))
      findings.push({
        code: 'doc-section-twice',
        line: lineOf(section),
        text: `the section ${name} is there twice`,
        remedy: 'make one of the two',
      });
    seen.add(name);
    // What nobody asks for may be empty.
    if (kind.sections.includes(name)) checkOne(section);
  }
  const missing = kind.sections.filter((name) => !seen.has(name));
  if (missing.length > 0)
    findings.push({
      code: 'doc-section-missing',
      line: null,
      text: `${missing.length === 1 ? 'the section' : `${missing.length} sections,`} ${missing.join(', ')}${missing.length === 1 ? ' is' : ', are'} missing`,
      remedy: `write "## ${missing[0]}" ${placeOf(kind, missing[0] ?? '')}${/^ {0,3}(?:`{3}|~{3})/m.test(text) ? '; a heading inside of a fenced block is none' : ''}`,
    });
  const order = sections.map(({ name }) => name).filter((name) => kind.sections.includes(name));
  const wanted = kind.sections.filter((name) => seen.has(name));
  const wrong = order.findIndex((name, at) => name !== wanted[at]);
  if (wrong !== -1 && order.length === wanted.length) {
    const name = order[wrong] ?? '';
    findings.push({
      code: 'doc-section-order',
      line: lineOfName(document, name),
      text: `the section ${name} stands where ${wanted[wrong]} belongs`,
      remedy: `put ${wanted[wrong]} before it`,
    });
  }
  return findings;
};

const placeOf = ({ sections }: DocumentKind, name: string): string => {
  const before = sections[sections.indexOf(name) - 1];
  return before === undefined ? 'as the first section' : `behind the section ${before}`;
};

/** What stands where nobody has written yet. */
const placeholders: ReadonlySet<string> = new Set(['todo', 'tbd', 'placeholder']);

/** Whether a value stands there until somebody fills it in. */
export const isPlaceholder = (value: string): boolean =>
  (value.startsWith('<') && value.endsWith('>') && !value.startsWith('<!--')) ||
  (value.length <= 11 && placeholders.has(value.toLowerCase()));

/** What is wrong with the body of one section; undefined where nothing is. */
export const checkBody = (
  { lines }: DocumentKind,
  { name, body }: Section,
): Omit<DocumentFinding, 'line'> | undefined => {
  if (body.trimStart() === '')
    return {
      code: 'doc-section-empty',
      text: `the section ${name} is empty`,
      remedy: 'fill it in, or write None',
    };
  return lines.includes(name) && isPlaceholder(firstLine(body))
    ? {
        code: 'doc-placeholder',
        text: `the section ${name} was never filled in`,
        remedy: 'write what is true there',
      }
    : undefined;
};

/** The number of the line of the first section with a name; null where there is none. */
export const lineOfName = (document: Sections, name: string): number | null => {
  const section = document.sections.find((one) => one.name === name);
  return section === undefined ? null : lineFinder(document)(section);
};

const checkValues = (document: Document): readonly DocumentFinding[] => {
  const finding = (code: string, section: string, text: string, remedy: string): DocumentFinding => ({
    code,
    line: lineOfName(document, section),
    text,
    remedy,
  });
  const status = statusOf(document);
  const owner = valueOf(document, 'Next owner');
  const findings: DocumentFinding[] = [];
  if (status === undefined)
    findings.push(
      finding('doc-status', 'Status', 'the status is none of the five', `write one of ${statuses.join(', ')}`),
    );
  const time = timeFault(valueOf(document, 'Last updated'));
  if (time !== undefined)
    findings.push(finding('doc-time', 'Last updated', time, 'write a time as 2026-03-12T09:01:15+01:00'));
  if (isNone(valueOf(document, 'Updated by')))
    findings.push(
      finding('doc-updated-by', 'Updated by', 'nobody has updated it', 'write who has, a person or an agent'),
    );
  if (status === 'done' && owner !== 'None')
    findings.push(finding('doc-owner-done', 'Next owner', 'it is done, and somebody is to act next', 'write None'));
  if (status !== 'done' && isNone(owner))
    findings.push(finding('doc-owner-missing', 'Next owner', 'nobody is to act next', 'write who is to act next'));
  const pointer = pointerOf(document);
  if (pointer === undefined) {
    if (document.kind.needsPointer && status !== 'done')
      findings.push(
        finding('ptr-missing', document.kind.pointer, 'it does not say where the session state lies', 'write its path'),
      );
  } else if (pointer.includes('\\'))
    findings.push(
      finding('ptr-backslash', document.kind.pointer, 'the path has backslashes', 'write / between its parts'),
    );
  return findings;
};

/** Where a document says that the other one lies, relative to its own folder; undefined where it says nowhere. */
export const pointerOf = (document: Document): string | undefined => {
  const value = valueOf(document, document.kind.pointer);
  return isNone(value) ? undefined : value;
};

/** What keeps a time from being one; undefined where nothing does. Counted by hand: an archive has hundreds of them. */
export const timeFault = (text: string): string | undefined => {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/.exec(text);
  if (match === null) return 'the time is none that can be read';
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '00', zone] = match;
  if (zone === undefined) return 'the time has no offset from UTC';
  const isMinute = (hours: string, minutes: string): boolean => hours <= '23' && minutes <= '59';
  const isTime = isDay(year, month, day) && isMinute(hour, minute) && second <= '59';
  return isTime && (zone === 'Z' || isMinute(zone.slice(1, 3), zone.slice(-2))) ? undefined : 'there is no such time';
};
