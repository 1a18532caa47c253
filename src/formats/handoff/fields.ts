import { briefSteps, kindBriefOf } from '../../kernel/kind-brief.ts';
import { folderOf } from '../../kernel/kind.ts';
import { blockersOf, type Entry, type EntryType } from '../../kernel/journal.ts';
import { viewOfSession, type OpenedSession } from '../../kernel/session.ts';
import { handover, type DocumentKind } from './document.ts';
import { statuses, type Status } from './statuses.ts';
import { isNone } from './values.ts';

/** What a session says in its documents, whatever its kind, and how the sections say it. */

/** The values of a pair, as the session has them. */
export interface PairFields {
  readonly task: string;
  readonly status: Status;
  readonly owner: string | null;
  readonly lastCompleted: string | null;
  readonly current: string | null;
  readonly remaining: readonly string[];
  /** How many steps are left that are not named. */
  readonly more: number;
  readonly done: readonly string[];
  readonly blockers: readonly { readonly reason: string; readonly needs: string | null }[];
  readonly decisions: readonly string[];
  readonly assumptions: readonly string[];
  readonly files: readonly string[];
  /** Those that were not there when they were noted last. */
  readonly gone: readonly string[];
  readonly commands: readonly string[];
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly artifacts: readonly string[];
}

/** The values of a session, made once: both halves are made of them, in a verb that writes several times. */
export const pairFieldsOf = (session: OpenedSession): PairFields => {
  const known = fieldsBySession.get(session);
  if (known !== undefined) return known;
  const fields = makeFields(session);
  fieldsBySession.set(session, fields);
  return fields;
};

/** Sessions never change. */
const fieldsBySession = new WeakMap<OpenedSession, PairFields>();

const makeFields = (session: OpenedSession): PairFields => {
  const { common, folded, kind } = session;
  const view = viewOfSession(session);
  const brief = kindBriefOf(session, view, folderOf(kind, common));
  const entries = (type: EntryType): readonly Entry[] => common.journal?.recent[type] ?? [];
  const texts = (type: EntryType): readonly string[] => unique(entries(type).map(({ text }) => text));
  const paths = (type: EntryType): readonly string[] => unique(entries(type).map(({ path, text }) => path ?? text));
  const gone = goneAmong(entries('file'));
  const done = brief.done.steps.flatMap(({ text, wasSkipped }) => (wasSkipped === true ? [] : [text]));
  const { steps } = brief.remaining;
  const validations = entries('validation');
  return {
    task: common.goal ?? brief.goal ?? common.key,
    status: statusOf(session),
    owner: folded.handoff?.owner(common) ?? null,
    lastCompleted: done.at(-1) ?? null,
    current: brief.current.steps[0]?.text ?? null,
    remaining: steps.map(({ text }) => text),
    more: Math.max(0, brief.remaining.total - steps.length),
    done,
    blockers: [...blockersOf(common), ...closedAs(session)],
    decisions: texts('decision'),
    assumptions: texts('assumption'),
    files: unique([...paths('file').filter((path) => !gone.has(path)), ...brief.files.map(({ path }) => path)]).slice(
      0,
      briefSteps,
    ),
    gone: [...gone],
    commands: unique([...texts('command'), ...brief.commands]),
    passed: unique(validations.filter(({ exitCode = 0 }) => exitCode === 0).map(({ text }) => text)),
    failed: unique(validations.filter(({ exitCode = 0 }) => exitCode !== 0).map(({ text }) => text)),
    artifacts: paths('artifact'),
  };
};

/** The files that its work is to leave, and that need not be there yet. */
export const awaitedOf = (session: OpenedSession): readonly string[] =>
  kindBriefOf(session, viewOfSession(session), folderOf(session.kind, session.common)).files.map(({ path }) => path);

/** The paths of files that were there when they were noted, and were not when they were noted again. */
const goneAmong = (entries: readonly Entry[]): ReadonlySet<string> => {
  const known = new Set<string>();
  const gone = new Set<string>();
  for (const { path, text, file } of entries) {
    const named = path ?? text;
    if (file === null) {
      if (known.has(named)) gone.add(named);
      continue;
    }
    known.add(named);
    gone.delete(named);
  }
  return gone;
};

const unique = (texts: readonly string[]): readonly string[] => [
  ...new Set(texts.map(shown).filter((text) => !isNone(text))),
];

/** A text of nothing but backticks would be read as none, or open a block of code: it is shown as the code that it is. */
export const shown = (text: string): string => {
  const marks = text.trim();
  if (!/^`+$/.test(marks)) return text;
  const around = marks.length === 1 ? '``' : '`';
  return `${around} ${marks} ${around}`;
};

/** One of the five words: that of the kind where it has them, else what its view comes to. */
const statusOf = (session: OpenedSession): Status => {
  const { common, folded } = session;
  const said = folded.handoff?.status(common);
  const own = statuses.find((status) => status === said);
  if (own !== undefined && (common.status === 'active' || common.outcome === 'completed')) return own;
  if (common.status === 'closed') return common.outcome === 'completed' ? 'done' : 'blocked';
  if (common.pause !== null || blockersOf(common).length > 0) return 'blocked';
  const view = viewOfSession(session);
  if (view.missing.length === 0) return 'ready-for-review';
  const { done, steps } = folded.progress(common, session.samples);
  const isBegun = done > 0 || steps.some(({ state }) => state === 'current') || common.notes > 0;
  return isBegun ? 'in-progress' : 'not-started';
};

/** What keeps a session from going on that nobody has raised as a blocker. */
const closedAs = ({ common }: OpenedSession): PairFields['blockers'] => {
  const { key, status, outcome, reason, pause } = common;
  if (status === 'closed' && outcome !== 'completed')
    return [
      {
        reason: `it was closed: ${outcome}${reason === null ? '' : ` (${reason})`}`,
        needs: `stint reopen --session ${key}`,
      },
    ];
  if (pause === null) return [];
  const why = pause.reason === null ? '' : ` (${pause.reason})`;
  return [{ reason: `paused by ${pause.actor}${why}`, needs: `stint resume --session ${key}` }];
};

/** Who has written a document last, when, and where the other one lies. */
export interface Mark {
  readonly updatedAt: string;
  readonly updatedBy: string;
  /** The path to the other document, as this one names it; null where there is none, or it need not be named. */
  readonly pointer: string | null;
}

/** The bodies of the sections of a document, as lines, as the session says them. */
export const bodiesOf = (
  kind: DocumentKind,
  fields: PairFields,
  { updatedAt, updatedBy, pointer }: Mark,
): ReadonlyMap<string, readonly string[]> => {
  const line = (value: string | null): readonly string[] => [lineOf(value ?? 'None')];
  const remaining = [
    ...(fields.more === 0 ? [] : [`${fields.more} more follow these (stint progress --once).`]),
    ...numbered(fields.remaining),
  ];
  const shared: readonly (readonly [string, readonly string[]])[] = [
    ['Status', [fields.status]],
    ['Last updated', [updatedAt]],
    ['Updated by', line(updatedBy)],
    ['Next owner', line(fields.status === 'done' ? null : (fields.owner ?? updatedBy))],
    ['Last completed step', line(fields.lastCompleted)],
    ['Current step', line(fields.current)],
  ];
  const blockers = fields.blockers.flatMap(({ reason, needs }) => [
    ...item(reason),
    ...(needs === null ? [] : item(needs, 'Needed to unblock: ')),
  ]);
  const own: readonly (readonly [string, readonly string[]])[] =
    kind === handover
      ? [
          ['Task summary', line(fields.task)],
          ['What was done', bullets(fields.done)],
          ['Remaining work', remaining],
          [
            'Blockers and decisions',
            [
              ...group(
                'Blockers',
                fields.blockers.map(({ reason, needs }) =>
                  needs === null ? reason : `${reason} (needed to unblock: ${needs})`,
                ),
              ),
              ...group('Decisions', fields.decisions),
              ...group('Assumptions', fields.assumptions),
            ],
          ],
          [
            'Validation status',
            [...group('Passed', fields.passed), ...group('Failed', fields.failed), ...group('Not run', [])],
          ],
          [
            'Resume instructions',
            [
              `- First file to open: ${code(fields.files[0])}`,
              `- Next command to run: ${code(fields.commands[0])}`,
              ...group('Prerequisites', []),
            ],
          ],
          [
            'Files added or modified',
            ['Documentation', 'POMs', 'Test Scripts', 'Configurations', 'Other'].flatMap((label) => [
              `- ${label}:`,
              ...(label === 'Other' && filesIn(fields).length > 0 ? filesIn(fields) : ['None']).map(
                (path) => `  - ${oneLineOf(path)}`,
              ),
            ]),
          ],
        ]
      : [
          ['Task', line(fields.task)],
          ['Remaining steps', remaining],
          ['Blockers', blockers.length === 0 ? ['- None'] : blockers],
          [
            'Decisions and assumptions',
            [...labelledItems('Decision', fields.decisions), ...labelledItems('Assumption', fields.assumptions)],
          ],
          ['Files touched', bullets(filesIn(fields))],
          ['Commands to resume', bullets(fields.commands)],
          [
            'Validation snapshot',
            [...group('Passed', fields.passed), ...group('Failed', fields.failed), ...group('Skipped', [])],
          ],
          ['Artifacts', bullets(fields.artifacts)],
        ];
  const said = new Map([...shared, ...own, [kind.pointer, line(pointer)]]);
  return new Map(kind.sections.map((name) => [name, said.get(name) ?? ['- None']]));
};

/** The files, with the word for those that are gone. */
const filesIn = ({ files, gone }: PairFields): readonly string[] => [
  ...files,
  ...gone.map((path) => `${path} (deleted)`),
];

/**
 * A text as the line of a section that holds one. What would open a section, a block of code or a conflict, or begins like the
 * item of a list, is the item of a list: so it is read back as it is.
 */
export const lineOf = (text: string): string => {
  const line = oneLineOf(text);
  return /^(?:- |#|`{3}|~{3}|[<=>]{7})/.test(line) ? `- ${line}` : line;
};

/** A text in one line, whatever a reader takes for the end of one. */
export const oneLineOf = (text: string): string =>
  text.replaceAll(/\s*[\u0000-\u001f\u007f-\u009f\u2028\u2029]+\s*/g, ' ').trim() || 'None';

const code = (text: string | undefined): string =>
  text === undefined ? 'None' : text.includes('`') ? oneLineOf(text) : `\`${oneLineOf(text)}\``;

/** An item of a list; lines after its first belong to it. What would open a block of code, or another item, becomes one line. */
export const item = (text: string, label = ''): readonly string[] => {
  const isPlain = !/^\s*(?:`{3}|~{3})|[\u0000-\u001f\u007f-\u009f\u2028\u2029]\s*(?:[-*+]|\d+[.)])\s/m.test(text);
  const lines = (isPlain ? text : oneLineOf(text)).split(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/);
  const [first = '', ...rest] = lines.map((line) => line.trim());
  return [`- ${label}${first}`, ...rest.filter((line) => line !== '').map((line) => `  ${line}`)];
};

/** A list with bullets; one that is empty says so. */
export const bullets = (texts: readonly string[]): readonly string[] =>
  texts.length === 0 ? ['- None'] : texts.flatMap((text) => item(text));

/** A list with numbers; one that is empty says so. */
export const numbered = (texts: readonly string[]): readonly string[] =>
  texts.length === 0 ? ['1. None'] : texts.map((text, index) => `${index + 1}. ${oneLineOf(text)}`);

/** Texts under a label, a line each. */
export const group = (label: string, texts: readonly string[]): readonly string[] => [
  `- ${label}:`,
  ...(texts.length === 0 ? ['None'] : texts).map((text) => `  ${lineOf(text)}`),
];

/** A list whose items begin with a label. */
const labelledItems = (label: string, texts: readonly string[]): readonly string[] =>
  texts.length === 0 ? [`- ${label}: None`] : texts.flatMap((text) => item(text, `${label}: `));
