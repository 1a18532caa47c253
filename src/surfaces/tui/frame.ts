import { nextText, objectAt, objectsAt, pausedText, textAt, textsAt, leaseText } from '../../kernel/answer.ts';
import type { FrameLook, Screen } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { displayWidth, oneLine, padEnd, plainText, truncate } from '../../lib/text.ts';

/** A line before it is fitted into the terminal. */
interface Line {
  readonly text: string;
  /** How it begins again where it is continued: as many blanks; it is cut where this is not given. */
  readonly hang?: number;
  readonly style?: keyof typeof styles;
  /** A command goes on behind a backslash, so that it may be copied as it is. */
  readonly isCommand?: boolean;
}

/**
 * States are told by letters and signs that every terminal, font and encoding has, that are one column wide everywhere
 * and that a screen reader reads; colour only adds to them.
 */
const glyphs: Readonly<Record<string, string>> = {
  done: '[x]',
  current: '[>]',
  pending: '[ ]',
  skipped: '[-]',
  failed: '[!]',
};

const styles = {
  bold: ['\u001b[1m', '\u001b[22m'],
  dim: ['\u001b[2m', '\u001b[22m'],
  green: ['\u001b[32m', '\u001b[39m'],
  yellow: ['\u001b[33m', '\u001b[39m'],
} as const;

const stepStyles: Readonly<Record<string, keyof typeof styles>> = { done: 'green', current: 'bold', failed: 'yellow' };

/** Most of a line that is shown at all, in UTF-16 code units. */
const longest = 4000;

/** Below this width lines are cut instead of continued. */
const narrow = 20;

/** One frame of an answer of `progress`: lines of which none is wider than the terminal, without control characters. */
export const renderFrame = (answer: JsonObject | undefined, look: FrameLook): string => {
  const sessions = answer === undefined ? [] : objectsAt(answer, 'sessions');
  const [only, ...others] = sessions;
  const lines: readonly Line[] = [
    ...(only === undefined
      ? answer === undefined
        ? [{ text: 'stint progress', style: 'bold' as const }]
        : waitingLines
      : others.length === 0
        ? sessionLines(only, look.columns)
        : severalLines(sessions, numberAt(answer ?? {}, 'total') ?? sessions.length, look.columns)),
    ...(look.remarks ?? []).map((text): Line => ({ text, hang: 2, style: 'yellow' })),
  ];
  const fitted = lines.flatMap((line) => fit(line, look));
  const rows = Math.max(1, look.rows ?? fitted.length);
  if (fitted.length <= rows) return fitted.join('\n');
  const more = { text: `... ${fitted.length - rows + 1} more lines`, style: 'dim' } as const;
  return [...fitted.slice(0, rows - 1), ...fit(more, look)].join('\n');
};

/** The screen of `progress`. */
export const screen: Screen = {
  frame: renderFrame,
  still: (answer) => renderFrame(withoutTime(answer), { columns: 1000, colour: false }),
};

const withoutTime = (answer: JsonObject): JsonObject => ({
  ...answer,
  sessions: objectsAt(answer, 'sessions').map((session) => ({
    ...session,
    since_update_ms: null,
    ...(session['running'] === true ? { elapsed_ms: null } : {}),
  })),
});

const blank: Line = { text: '' };

const waitingLines: readonly Line[] = [
  { text: 'stint progress', style: 'bold' },
  blank,
  { text: 'Waiting for a session of this checkout.', hang: 0 },
  { text: 'next: stint begin KIND', hang: 2 },
];

const severalLines = (sessions: readonly JsonObject[], total: number, columns: number): readonly Line[] => [
  { text: `stint progress  ${total} sessions are open in this checkout`, style: 'bold' },
  ...sessions.flatMap((session): readonly Line[] => [
    blank,
    { text: `${textAt(session, 'session')}  ${factsOf(session).join(', ')}`, style: 'bold' },
    { text: `  ${barText(session, columns - 2)}` },
  ]),
  ...(total > sessions.length ? [blank, { text: `and ${total - sessions.length} more: stint list`, hang: 0 }] : []),
];

const sessionLines = (session: JsonObject, columns: number): readonly Line[] => {
  const steps = objectsAt(session, 'steps');
  const nameWidth = Math.max(0, ...steps.map((step) => displayWidth(clean(textAt(step, 'name')))));
  const folder = textAt(session, 'folder');
  const next = objectAt(session, 'next_action');
  return [
    { text: `stint progress  ${textAt(session, 'session')}`, style: 'bold' },
    { text: [...factsOf(session), ...sinceOf(session)].join(', '), hang: 2 },
    { text: barText(session, columns) },
    ...(steps.length === 0 ? [] : [blank]),
    ...steps.flatMap((step) => [...stepLines(step, nameWidth, folder), ...processLines(workersOf(session, step))]),
    ...processLines(workersOf(session, undefined)),
    blank,
    ...resultLines(session),
    ...labelled('held by', leaseText(objectAt(session, 'lease'))),
    ...labelled('flaw', textAt(session, 'flaw')),
    ...labelled('missing', textsAt(session, 'missing').join('; ')),
    ...labelled('read only', textAt(session, 'read_only')),
    ...labelled('then', textAt(next, 'text')),
    ...nextText(session).map((text): Line => ({ text, hang: 2, style: 'bold', isCommand: true })),
  ];
};

const labelled = (label: string, text: string): readonly Line[] =>
  text === '' ? [] : [{ text: `${label}: ${text}`, hang: 2 }];

/** Those that are on record as running and work on a step: the one that they name, else the current one; else on none. */
const workersOf = (session: JsonObject, step: JsonObject | undefined): readonly JsonObject[] => {
  const steps = objectsAt(session, 'steps');
  const current = steps.find((one) => one['state'] === 'current');
  return objectsAt(session, 'processes').filter((process) => {
    const named = steps.find((one) => textAt(one, 'name') === textAt(process, 'phase'));
    return textAt(process, 'status') === 'running' && (named ?? current) === step;
  });
};

/** Who works, and whether it lives; since when nothing was heard of it, where that says something. */
const processLines = (processes: readonly JsonObject[]): readonly Line[] => {
  const names = processes.map((process) => clean(textAt(process, 'called')));
  const width = Math.min(40, Math.max(0, ...names.map(displayWidth)));
  return processes.map((process, index): Line => {
    const liveness = textAt(process, 'liveness');
    const isSilent = liveness === 'dead' || liveness === 'quiet';
    const where = process['here'] === false ? ` on ${clean(textAt(process, 'host'))}` : '';
    const since = isSilent ? `, last heard of ${textAt(process, 'last_heartbeat_at')}` : '';
    return {
      text: `      ${padEnd(names[index] ?? '', width)}  ${liveness}${where}${since}`,
      hang: 8,
      ...(isSilent ? { style: 'yellow' as const } : {}),
    };
  });
};

/** State, round and time, as far as they are known. */
const factsOf = (session: JsonObject): readonly string[] => {
  const activity = textAt(session, 'activity');
  // Nobody works on it, as far as can be seen: it is open, and that is all.
  const isPaused = pausedText(session) !== '';
  const isLeft = session['running'] === true && (activity === 'interrupted' || activity === 'quiet');
  const outcome = textAt(session, 'outcome');
  const reason = textAt(session, 'reason');
  const cycle = textAt(objectAt(session, 'cycle'), 'label');
  return [
    `${outcome === '' ? textAt(session, 'status') : outcome}${reason === '' ? '' : ` (${reason})`}`,
    ...(textAt(session, 'archived_at') === '' ? [] : ['archived']),
    ...(isPaused ? [`paused since ${textAt(objectAt(session, 'paused'), 'at')}`] : []),
    ...(isLeft ? [`${activity} since ${textAt(session, 'activity_since')}`] : []),
    ...(objectsAt(session, 'earlier').length > 0 ? [cycle] : []),
    `${isLeft || isPaused ? 'open' : session['running'] === true ? 'running' : 'took'} ${clockText(numberAt(session, 'elapsed_ms'))}`,
  ].filter((fact) => fact !== '');
};

const sinceOf = (session: JsonObject): readonly string[] => {
  const closed = textAt(session, 'closed_at');
  return [
    closed === '' ? `last change ${clockText(numberAt(session, 'since_update_ms'))} ago` : `closed ${closed}`,
    ...(session['here'] === false ? [`worktree ${textAt(session, 'worktree')}`] : []),
  ];
};

/** `[#########---------------]  37%  3/8  Let the reviewers work side by side`: the bar shrinks, then goes. */
const barText = (session: JsonObject, columns: number): string => {
  const done = numberAt(session, 'done') ?? 0;
  const total = numberAt(session, 'total') ?? 0;
  const share = numberAt(session, 'fraction');
  const fraction = share === null ? undefined : Math.min(1, Math.max(0, share));
  // Rounded down: all of it is only what is done. Whole per cents are no whole numbers as parts of 1.
  const percent = fraction === undefined ? '-' : `${Math.floor(fraction * 100 + 1e-9)}%`;
  const figures = `${percent.padStart(4)}  ${done}/${total}`;
  const room = columns - figures.length - 3;
  // The bar makes room for the label, down to a third of itself.
  const cells = Math.min(24, room, Math.max(8, room - 24));
  const filled = Math.floor((fraction ?? 0) * cells);
  const bar = cells < 4 ? '' : `[${'#'.repeat(filled)}${'-'.repeat(cells - filled)}] `;
  return `${bar}${bar === '' ? figures.trimStart() : figures}  ${currentText(session)}`.trimEnd();
};

/** What is being done: the current step, else where the session stands. */
const currentText = (session: JsonObject): string => {
  const current = objectsAt(session, 'steps').find((step) => step['state'] === 'current');
  return current === undefined ? textAt(session, 'position') : textAt(current, 'label');
};

const stepLines = (step: JsonObject, nameWidth: number, folder: string): readonly Line[] => {
  const state = textAt(step, 'state');
  const name = padEnd(clean(textAt(step, 'name')), nameWidth);
  const remark = state === 'skipped' || state === 'failed' ? ` (${state})` : '';
  return [
    {
      text: `${glyphs[state] ?? '[?]'} ${name}  ${textAt(step, 'label')}${remark}`,
      style: stepStyles[state] ?? 'dim',
    },
    ...objectsAt(step, 'evidence').flatMap((one) => evidenceLines(one, state === 'pending', folder)),
  ];
};

/** Files with what was counted in them, and what is expected by now and is not there. */
const evidenceLines = (evidence: JsonObject, isPending: boolean, folder: string): readonly Line[] => {
  const path = textAt(evidence, 'path');
  const short = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
  const counts = textAt(evidence, 'counts');
  const countText = (count: number | null): string => (counts === '' ? '' : `  ${counts} ${count ?? '?'}`);
  const isThere = evidence['present'] === true;
  if (evidence['at_least'] === undefined) {
    if (isThere && counts !== '')
      return [{ text: `      ${clean(short)}${countText(numberAt(evidence, 'count'))}`, hang: 8 }];
    return isThere || isPending || evidence['present'] === null
      ? []
      : [{ text: `      not there: ${short}`, hang: 8, style: 'yellow' }];
  }
  const files = objectsAt(evidence, 'files');
  const total = numberAt(evidence, 'files_total') ?? files.length;
  const width = Math.min(40, Math.max(0, ...files.map((file) => displayWidth(clean(textAt(file, 'name'))))));
  return [
    ...files.map((file): Line => ({
      text: `      ${padEnd(clean(textAt(file, 'name')), width)}${countText(numberAt(file, 'count'))}`,
      hang: 8,
    })),
    ...(total > files.length ? [{ text: `      and ${total - files.length} more` }] : []),
    ...(isThere || isPending
      ? []
      : [
          {
            text: `      ${total} of at least ${textAt(evidence, 'at_least')} ${textAt(evidence, 'label')}`,
            hang: 8,
            style: 'yellow' as const,
          },
        ]),
  ];
};

const resultLines = (session: JsonObject): readonly Line[] => {
  const round = (label: string, summary: JsonObject, completed: string): Line => ({
    text: `${label === '' ? 'result' : label}: ${summaryText(summary) || (completed === '' ? 'not completed' : `completed ${completed}`)}`,
    hang: 2,
  });
  const cycle = objectAt(session, 'cycle');
  const completed = textAt(cycle, 'completed_at');
  const summary = objectAt(session, 'summary');
  const isOver = completed !== '' || Object.keys(summary).length > 0;
  return [
    ...objectsAt(session, 'earlier').map((one) =>
      round(textAt(one, 'label'), objectAt(one, 'summary'), textAt(one, 'completed_at')),
    ),
    ...(isOver ? [{ ...round(textAt(cycle, 'label'), summary, completed), style: 'bold' as const }] : []),
    ...objectsAt(session, 'counts').flatMap((one) => {
      const unknown = numberAt(one, 'unknown') ?? 0;
      const rest = unknown === 0 ? '' : ` and ? in ${unknown} ${unknown === 1 ? 'file' : 'files'}`;
      return labelled(`${textAt(one, 'label')} in files`, `${numberAt(one, 'total') ?? '?'}${rest}`);
    }),
    ...objectsAt(session, 'results').flatMap((one) =>
      labelled(
        textAt(one, 'label'),
        `${textAt(one, 'path')}${one['present'] === true ? '' : one['present'] === null ? ' (elsewhere)' : ' (not there)'}`,
      ),
    ),
  ];
};

/** `REQUEST CHANGES, blocker 1, should fix 0`: texts as they are, numbers behind their names. */
const summaryText = (summary: JsonObject): string =>
  Object.entries(summary)
    .flatMap(([key, value]) => {
      const name = key.replace(/_count$/, '').replaceAll('_', ' ');
      if (typeof value === 'string') return [value];
      return typeof value === 'number' || typeof value === 'boolean' ? [`${name} ${value}`] : [];
    })
    .join(', ');

/** Days, hours, minutes and seconds, as far as there are any; `-` where it is not known. */
const clockText = (milliseconds: number | null): string => {
  if (milliseconds === null || milliseconds < 0) return '-';
  const pad = (value: number): string => String(value).padStart(2, '0');
  const seconds = Math.floor(milliseconds / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const clock = `${pad(minutes % 60)}:${pad(seconds % 60)}`;
  if (hours === 0) return clock;
  return hours < 24 ? `${hours}:${clock}` : `${Math.floor(hours / 24)}d ${pad(hours % 24)}:${clock}`;
};

const numberAt = (object: JsonObject, key: string): number | null => {
  const value = object[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
};

/** A name from outside as it is shown. */
const clean = (text: string): string => oneLine(withoutPower(text));

/** Whatever comes from outside stays on its line and has no power over the terminal. */
const withoutPower = (text: string): string => plainText(text).replaceAll(/[\t\n\u2028\u2029]/g, ' ');

/** The lines that a line becomes: cut, or continued below, and then painted. */
const fit = ({ text, hang, style, isCommand = false }: Line, { columns, colour }: FrameLook): readonly string[] => {
  const whole = withoutPower(truncate(text, longest)).trimEnd();
  const lines =
    displayWidth(whole) <= columns
      ? [whole]
      : hang === undefined || columns < narrow
        ? [cut(whole, columns)]
        : continued(whole, columns, hang, isCommand ? ' \\' : '');
  if (!colour || style === undefined) return lines;
  const [on, off] = styles[style];
  return lines.map((line) => (line === '' ? line : on + line + off));
};

/** The beginning of a text that fits into so many columns. */
const cut = (text: string, columns: number): string => {
  if (displayWidth(text) <= columns) return text;
  for (let units = Math.floor(columns); units > 0; units -= 1) {
    const shorter = truncate(text, units);
    if (displayWidth(shorter) <= columns) return shorter;
  }
  return '';
};

/** A text on several lines, broken at blanks; a word that is wider than a line is broken where it must be. */
const continued = (text: string, columns: number, hang: number, mark: string): readonly string[] => {
  const room = columns - mark.length;
  const indent = ' '.repeat(hang);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<=\S) +/)) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (displayWidth(joined) <= room) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line + mark);
    line = line === '' ? word : indent + word;
    // A path may be broken anywhere; a command may not, and neither may characters that hold together.
    if (mark !== '' || !/^[ -~]*$/.test(word)) continue;
    for (; line.length > room; line = indent + line.slice(room)) lines.push(line.slice(0, room));
  }
  return [...lines, line].map((one) => cut(one, columns));
};
