import * as v from 'valibot';
import { choice, flag, optionalName, optionalText, optionalTexts, requiredName } from '../../kernel/fields.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { bodyOf, checkBody, timeFault, valueOf, type DocumentKind } from './document.ts';
import { bullets, group, item, lineOf, numbered, oneLineOf, shown } from './fields.ts';
import { halves, isSame, type Half } from './print.ts';
import { bodyLines, withBody, type Sections } from './sections.ts';
import { statuses } from './statuses.ts';
import { blockersIn } from './take-in.ts';
import { firstLine, isNone, labelled, listItems, plainValue } from './values.ts';

/** What verbs are told of the documents, and what they write into them: the sections that are named, and no others. */

/** The fields of verbs that change a pair. */
export const contentFields = () => ({
  last_completed_step: optionalText('The last thing that was finished.'),
  current_step: optionalText('What somebody is at.'),
  remaining_step: optionalTexts('A step that is left, in the order in which they are to be done.'),
  what_was_done: optionalTexts('Something that was done.'),
  blocker: optionalTexts('What keeps the work from going on.'),
  needs: optionalText('What it would take to go on: of the last blocker that is named.'),
  file_touched: optionalTexts('A file to look at first.'),
  command_to_resume: optionalTexts('A command to start with.'),
  first_file: optionalText('The first file to open. Default: the first one touched.'),
  next_command: optionalText('The next command to run. Default: the first one to resume with.'),
});

/** The fields of verbs that go on with one. */
export const changeFields = () => ({
  ...contentFields(),
  decision: optionalText('Something that was decided.'),
  assumption: optionalText('Something that is assumed.'),
  prerequisite: optionalTexts('What must be there before it goes on.'),
});

/** The fields that say who, when and how it stands. */
export const standingFields = () => ({
  status: v.optional(choice(statuses, 'The status')),
  next_owner: optionalName('Who is to act next.'),
  updated_by: requiredName('Who says so: a person or an agent.'),
  last_updated: optionalText('When, for example 2026-03-12T09:01:15+01:00. Default: now.'),
});

/** The fields of verbs that make documents anew. */
export const newFields = () => ({
  root: optionalText('The folder of the documents. Default: the one of this project.'),
  ...standingFields(),
  next_owner: requiredName('Who is to act next.'),
  force: flag('Replace what is there.'),
});

/** What is written into a pair; what is left out stays as it is. */
export interface Change {
  readonly task?: string | undefined;
  readonly status?: string | undefined;
  readonly next_owner?: string | undefined;
  readonly last_completed_step?: string | undefined;
  readonly current_step?: string | undefined;
  readonly remaining_step?: readonly string[] | undefined;
  readonly what_was_done?: readonly string[] | undefined;
  readonly blocker?: readonly string[] | undefined;
  readonly needs?: string | undefined;
  readonly file_touched?: readonly string[] | undefined;
  readonly command_to_resume?: readonly string[] | undefined;
  readonly first_file?: string | undefined;
  readonly next_command?: string | undefined;
  readonly decision?: string | undefined;
  readonly assumption?: string | undefined;
  readonly prerequisite?: readonly string[] | undefined;
}

/** Refuses a time that is none. */
export const refuseTime = (time: string | undefined): Refusal | undefined => {
  const fault = time === undefined ? undefined : timeFault(time);
  return fault === undefined
    ? undefined
    : refuse('usage', `--last-updated: ${fault}.`, { expected: 'a time as 2026-03-12T09:01:15+01:00' });
};

/** Refuses a next owner that no document keeps: nobody while it is not done, somebody once it is. */
const refuseOwner = ({ next_owner: owner, status }: Change, document: Sections): Refusal | undefined => {
  if (owner === undefined || status === 'done') return undefined;
  const isDone = (status ?? valueOf(document, 'Status')) === 'done';
  if (isDone !== isNone(owner))
    return isDone
      ? refuse('invalid-input', '--next-owner: it is done, and nobody is to act next.', {
          expected: 'None, or another status',
          hint: 'leave --next-owner out',
        })
      : refuse('invalid-input', '--next-owner: somebody is to act next while it is not done.', {
          expected: 'a person or an agent',
          hint: 'name who is to act next, or leave --next-owner out',
        });
  return undefined;
};

/** The lines of each section that a change names. */
const linesOf = (
  kind: DocumentKind,
  half: Half,
  change: Change,
  document: Sections,
): ReadonlyMap<string, readonly string[]> => {
  const line = (value: string | undefined): readonly string[] | undefined =>
    value === undefined ? undefined : [lineOf(value)];
  const list = (texts: readonly string[] | undefined): readonly string[] | undefined =>
    texts?.map((text) => text.trim()).filter((text) => !isNone(text));
  const made = (
    texts: readonly string[] | undefined,
    print: (texts: readonly string[]) => readonly string[],
  ): readonly string[] | undefined => {
    const said = list(texts);
    return said === undefined ? undefined : print(said);
  };
  const isHandover = half === 'handover';
  const sections: Readonly<Record<string, readonly string[] | undefined>> = {
    [isHandover ? 'Task summary' : 'Task']: line(change.task),
    Status: line(change.status),
    'Next owner': line(change.status === 'done' ? 'None' : change.next_owner),
    'Last completed step': line(change.last_completed_step),
    'Current step': line(change.current_step),
    [isHandover ? 'Remaining work' : 'Remaining steps']: made(change.remaining_step, numbered),
    ...(isHandover
      ? {
          'What was done': made(change.what_was_done, bullets),
          'Blockers and decisions': transferLines(document, change, list(change.blocker)),
          'Resume instructions': resumeLines(document, change),
        }
      : {
          Blockers: blockerLines(document, list(change.blocker), change.needs),
          'Decisions and assumptions': decisionLines(document, change),
          'Files touched': made(change.file_touched, bullets),
          'Commands to resume': made(change.command_to_resume, bullets),
        }),
  };
  return new Map(
    Object.entries(sections).flatMap(([name, lines]) =>
      lines === undefined || !kind.sections.includes(name) || isSaid(kind, document, name, lines)
        ? []
        : [[name, lines] as const],
    ),
  );
};

/** Whether a section says it already, in whatever form: then it stays as it was written. */
const isSaid = (kind: DocumentKind, document: Sections, name: string, lines: readonly string[]): boolean => {
  const section = document.sections.findLast((one) => one.name === name);
  if (section === undefined || checkBody(kind, section) !== undefined) return false;
  const [before, after] = [section.body, lines.join('\n')];
  if (kind.lines.includes(name) || name === 'Status')
    return plainValue(firstLine(before)) === plainValue(firstLine(after));
  if (!lists.has(name)) return false;
  const [was, now] = [listItems(before), listItems(after)].map((items) =>
    items.map((one) => one.replaceAll(/\s+/g, ' ')),
  );
  return was !== undefined && now !== undefined && isSame(was, now);
};

/** The sections that are plain lists. */
const lists: ReadonlySet<string> = new Set([
  'Remaining steps',
  'Remaining work',
  'What was done',
  'Files touched',
  'Commands to resume',
]);

/** A blocker that stays keeps what it needs. */
const blockerLines = (
  document: Sections,
  reasons: readonly string[] | undefined,
  needs: string | undefined,
): readonly string[] | undefined => {
  if (reasons === undefined) return undefined;
  const known = new Map(blockersIn(bodyOf(document, 'Blockers')).map((one) => [one.reason, one.needs]));
  const lines = reasons.flatMap((reason, at) => {
    const needed = (at === reasons.length - 1 ? needs : undefined) ?? known.get(reason) ?? null;
    return [...item(reason), ...(needed === null ? [] : item(needed, 'Needed to unblock: '))];
  });
  return lines.length === 0 ? ['- None'] : lines;
};

const decisionLines = (document: Sections, { decision, assumption }: Change): readonly string[] | undefined => {
  const added = [
    ...(decision === undefined || isNone(decision) ? [] : item(decision, 'Decision: ')),
    ...(assumption === undefined || isNone(assumption) ? [] : item(assumption, 'Assumption: ')),
  ];
  if (added.length === 0) return undefined;
  const label = (line: string): string | undefined => /^- (Decision|Assumption):/.exec(line)?.[1];
  const said = new Set(added.flatMap((line) => label(line) ?? []));
  const kept = bodyLines(bodyOf(document, 'Decisions and assumptions')).filter(
    (line) =>
      !(
        isNone(line.replace(/^- (?:Decision|Assumption)?:?/, '')) &&
        (label(line) === undefined || said.has(label(line) ?? ''))
      ),
  );
  return [...kept, ...added];
};

/** The labels of a section, those that are named with other lines under them. */
const transferLines = (
  document: Sections,
  { decision, assumption }: Change,
  blockers: readonly string[] | undefined,
): readonly string[] | undefined => {
  if (decision === undefined && assumption === undefined && blockers === undefined) return undefined;
  const body = bodyOf(document, 'Blockers and decisions');
  const withAdded = (label: string, added: string | undefined): readonly string[] => [
    ...labelled(body, label),
    ...(added === undefined || isNone(added) ? [] : [added]),
  ];
  return [
    ...group('Blockers', blockers ?? labelled(body, 'Blockers')),
    ...group('Decisions', withAdded('Decisions', decision)),
    ...group('Assumptions', withAdded('Assumptions', assumption)),
  ];
};

const resumeLines = (document: Sections, change: Change): readonly string[] | undefined => {
  const file = change.first_file ?? change.file_touched?.[0];
  const command = change.next_command ?? change.command_to_resume?.[0];
  if (file === undefined && command === undefined && change.prerequisite === undefined) return undefined;
  const body = bodyOf(document, 'Resume instructions');
  const value = (label: string, said: string | undefined): string => {
    const text = (said ?? labelled(body, label)[0] ?? '').trim();
    const plain = oneLineOf(text);
    if (isNone(plain)) return `- ${label}: None`;
    return plain.includes('`') ? `- ${label}: ${plain}` : `- ${label}: \`${plain}\``;
  };
  const needed = change.prerequisite?.filter((text) => !isNone(text)) ?? labelled(body, 'Prerequisites');
  return [value('First file to open', file), value('Next command to run', command), ...group('Prerequisites', needed)];
};

/** A change whose texts can be read back. */
const withShown = (change: Change): Change =>
  Object.fromEntries(
    Object.entries(change).map(([name, said]) => [
      name,
      typeof said === 'string' ? shown(said) : Array.isArray(said) ? said.map((one) => shown(String(one))) : said,
    ]),
  );

/** A half with a change in it; refused is what its sections cannot hold. */
export const withChange = (half: Half, document: Sections, change: Change): Result<Sections, Refusal> => {
  const refusal = refuseOwner(change, document);
  if (refusal !== undefined) return err(refusal);
  let changed = document;
  for (const [name, lines] of linesOf(halves[half], half, withShown(change), document)) {
    if (!document.sections.some((section) => section.name === name)) continue;
    const next = withBody(changed, name, lines);
    if (!next.ok)
      return err(
        refuse('invalid-input', `The ${halves[half].called} cannot say that: ${next.error}.`, {
          expected: 'text that opens no section and no block of code',
        }),
      );
    changed = next.value;
    const section = changed.sections.find((one) => one.name === name);
    const fault = section && checkBody(halves[half], section);
    if (fault !== undefined)
      return err(
        refuse('invalid-input', `The ${halves[half].called} cannot say that: ${fault.text}.`, {
          expected: 'a text that is no placeholder',
          hint: fault.remedy,
        }),
      );
  }
  return ok(changed);
};
