import type { JsonObject } from '../lib/canonical-json.ts';
import { plainLine, sizeText, truncateBytes, utf8Length } from '../lib/text.ts';
import { agoText } from '../lib/ago.ts';
import { leaseText, objectAt, objectsAt, textAt, textsAt } from './answer.ts';
import { sizeOf, sizeWithout, type Brief, type Fact, type formats, type readers, type Section } from './brief-forms.ts';
import type { Common } from './common.ts';
import { blockersOf, countIn, recentLimits, type Blocker, type Entry, type EntryType } from './journal.ts';
import type { BriefStep, BriefSteps, KindBrief } from './kind-brief.ts';
import type { OutsideLook } from './outside.ts';
import type { Place } from './ports.ts';
import { blockerTexts } from './view.ts';

/** What a fresh reader needs to go on, made of facts: which of them are told, in which order, and what fits. */

/** Everything that a brief is made of. */
export interface BriefFacts {
  readonly common: Common;
  /** What `status` answers: the same numbers. */
  readonly status: JsonObject;
  readonly kind: KindBrief;
  /** Who opened the session; null where that cannot be read. */
  readonly openedBy: string | null;
  /** What is to be known of the attempts that run, by their step. */
  readonly atWork: ReadonlyMap<string, { readonly note: string; readonly isLeft: boolean }>;
  /** Entries of the journal that were read from the log; without them those that are kept count. */
  readonly entries?: Readonly<Partial<Record<EntryType, readonly Entry[]>>> | undefined;
  readonly outside: OutsideLook;
  readonly home: Pick<Place, 'id' | 'root' | 'branch' | 'isElsewhere'>;
  /** The files to read first that are not there. */
  readonly absent: ReadonlySet<string>;
  /** When it was written last, and who had resumed it, before whoever asks came. */
  readonly last: Pick<Common, 'updatedAt' | 'resumed'>;
  /** What was found out while it was gone on with, a sentence each. */
  readonly notes: readonly string[];
  readonly now: string;
}

/** What is wanted of a brief. */
export interface BriefWish {
  readonly budget: BriefBudget;
  readonly reader: (typeof readers)[number];
  readonly format: (typeof formats)[number];
}

/** How long a brief may be, in bytes of whatever form it is printed in; `full`: as long as it gets. */
export const budgets = ['2KB', '8KB', 'full'] as const;
export type BriefBudget = (typeof budgets)[number];

/** In bytes: the whole, and the longest text of one fact. */
const limits: Readonly<Record<BriefBudget, { readonly whole: number; readonly fact: number }>> = {
  '2KB': { whole: 2048, fact: 300 },
  '8KB': { whole: 8192, fact: 700 },
  full: { whole: Number.POSITIVE_INFINITY, fact: 4000 },
};

/** Longest texts of the head of a brief, in bytes, the first one that leaves room for something else. */
const headLimits = [300, 200, 120, 60, 30];

/** How much of the budget the head may take. */
const headShare = 0.6;

/**
 * Makes a brief: sections in a fixed order, each with facts that are told whole, the more urgent ones first until the budget
 * is filled, and how many there are beside. A text that is too long for any brief has a short form that says so.
 */
export const composeBrief = (facts: BriefFacts, { budget, reader, format }: BriefWish): Brief => {
  const { whole, fact } = limits[budget];
  const drafts = draftsOf(facts, fact);
  const head = (longest: number): Brief => ({
    ...headOf(facts, longest),
    for: reader,
    format,
    budget,
    left_out: countsOf(drafts, new Map()),
  });
  const sizes = headLimits.map(head);
  const fitting = sizes.find((one) => sizeWithout(one) <= whole * headShare) ?? sizes.at(-1);
  if (fitting === undefined) throw new Error('a brief has no head');
  const chosen =
    budget === 'full'
      ? new Map(
          drafts
            .filter(({ section }) => section.facts.length > 0)
            .map((draft) => [draft.section.name, sectionWith(draft, draft.section.facts)]),
        )
      : choose(drafts, whole - sizeWithout(fitting));
  return {
    ...fitting,
    sections: drafts.flatMap(({ section }) => chosen.get(section.name) ?? []),
    left_out: countsOf(drafts, chosen),
  };
};

/** A section with all of its facts, the command that shows them, and how urgent each of them is: the least number first. */
interface Draft {
  readonly section: Section;
  readonly see: string;
  readonly urgency: readonly number[];
}

/** A section is told as far as its facts are known: those behind them are counted. */
const sectionWith = ({ section, see }: Draft, facts: readonly Fact[]): Section => ({
  ...section,
  facts,
  ...(facts.length < section.total ? { see } : {}),
});

/** Takes facts by their urgency until nothing more fits. Of a section none is told behind one that did not fit. */
const choose = (drafts: readonly Draft[], room: number): ReadonlyMap<string, Section> => {
  const chosen = new Map<
    string,
    { readonly section: Section; readonly taken: ReadonlySet<number>; readonly size: number }
  >();
  const full = new Set<string>();
  let left = room;
  const candidates = drafts
    .flatMap((draft, place) => draft.urgency.map((urgent, index) => ({ draft, index, urgent, place })))
    .toSorted((a, b) => a.urgent - b.urgent || a.place - b.place || a.index - b.index);
  for (const { draft, index } of candidates) {
    const { name, facts } = draft.section;
    if (full.has(name)) continue;
    const before = chosen.get(name);
    const taken = new Set([...(before?.taken ?? []), index]);
    const section = sectionWith(
      draft,
      facts.filter((_, at) => taken.has(at)),
    );
    const size = sizeOf(section);
    const extra = size - (before?.size ?? 0);
    if (extra > left) full.add(name);
    else {
      left -= extra;
      chosen.set(name, { section, taken, size });
    }
  }
  return new Map([...chosen].map(([name, { section }]) => [name, section]));
};

const countsOf = (drafts: readonly Draft[], chosen: ReadonlyMap<string, Section>): Readonly<Record<string, number>> =>
  Object.fromEntries(
    drafts.flatMap(({ section: { name, total } }) => {
      const left = total - (chosen.get(name)?.facts.length ?? 0);
      return left === 0 ? [] : [[name, left]];
    }),
  );

type Head = Omit<Brief, 'for' | 'format' | 'budget' | 'left_out'>;

const headOf = (facts: BriefFacts, longest: number): Head => {
  const { common, status, kind, now } = facts;
  const next = objectAt(status, 'next_action');
  const short = (text: string): string => shortForm(text, longest, null);
  const command = textAt(next, 'command');
  // What is to be run is not shortened or cleaned, and nothing in it is run before it.
  const isSound = utf8Length(command) <= 400 && command === plainLine(command) && !/[`<]/.test(command);
  const from = resumeFrom(facts);
  return {
    session: common.key,
    session_id: common.name,
    kind: common.kind,
    status: common.status,
    outcome: common.outcome,
    position: short(textAt(status, 'position')),
    completeness: textAt(status, 'completeness'),
    revision: common.revision,
    goal: goalOf(facts, longest),
    started_at: common.startedAt,
    started: agoText(common.startedAt, now),
    progress: { percent: kind.progress.percent, formula: short(kind.progress.formula) },
    sections: [],
    resume_from: from === null ? null : short(from),
    next_action: {
      kind: textAt(next, 'kind'),
      text: short(textAt(next, 'text')),
      command: command === '' ? null : isSound ? command : `stint status --session ${common.key}`,
    },
  };
};

const goalOf = ({ common, kind, openedBy }: BriefFacts, longest: number): Fact | null => {
  if (common.goal === null) return kind.goal === null ? null : { text: shortForm(kind.goal, longest, null) };
  return {
    text: shortForm(common.goal, longest, 1),
    ...(openedBy === null ? {} : { by: actorText(openedBy) }),
    at: common.startedAt,
    source: 'event 1',
  };
};

/** The step to go on with: nobody is told one while somebody else is at it, or while it is not known what was done. */
const resumeFrom = ({ common, status, kind, atWork }: BriefFacts): string | null => {
  const waits = ['wait', 'settle', 'resume', 'decide'].includes(textAt(objectAt(status, 'next_action'), 'kind'));
  if (common.status === 'closed' || waits || kind.inDoubt.total > 0) return null;
  const step = kind.current.steps[0] ?? kind.remaining.steps[0];
  if (step === undefined || atWork.get(step.id ?? '')?.isLeft === true) return null;
  const name = step.id ?? step.text;
  return name === '' ? null : name;
};

/**
 * A text as a fact tells it: whole, or its beginning with its size and where all of it stands. `event`: the number of the
 * event that holds it.
 */
const shortForm = (given: string, longest: number, event: number | null): string => {
  // Nobody cleans a megabyte for its first words.
  const text = plainLine(given.slice(0, 4 * longest + 1000));
  const where = event === null ? '' : ` in event ${event}`;
  if (given.length <= 4 * longest + 1000 && utf8Length(text) <= longest) {
    // The journal keeps the beginning of a long text: its end says so.
    return isCut(given) ? `${text} (whole${where})` : text;
  }
  const size = isCut(given) ? `whole${where}` : `${sizeText(utf8Length(given))}${where}`;
  return `${truncateBytes(text, Math.max(12, longest - utf8Length(size) - 3))} (${size})`;
};

/** Whether a text of the journal was kept as far as its beginning. */
const isCut = (text: string): boolean => text.length >= 900 && text.length <= 1000 && text.endsWith('\u2026');

const actorText = (actor: string): string => truncateBytes(plainLine(actor), 80);

// The sections.

/** How urgent the facts of a section are: its first one, and each behind it. */
interface Urgency {
  readonly first: number;
  readonly each: number;
  /** From which one on the last one comes first, because they are told in the order in which they happened. */
  readonly newestFrom?: number;
}

const draftsOf = (facts: BriefFacts, longest: number): readonly Draft[] => {
  const { common, kind, outside, entries } = facts;
  const session = `--session ${common.key}`;
  const status = `stint status ${session}`;
  const steps = `stint progress --once ${session}`;
  const draft = (
    name: string,
    title: string,
    told: readonly Told[],
    { first, each, newestFrom = told.length }: Urgency,
    see: string,
    total = told.length,
  ): Draft => ({
    section: { name, title, facts: told.map((one) => factOf(one, longest)), total: Math.max(total, told.length) },
    see,
    urgency: told.map((_, index) => first + each * (index < newestFrom ? index : newestFrom + told.length - 1 - index)),
  });
  const journal = (
    name: string,
    title: string,
    type: EntryType,
    { before = [], ...urgency }: Urgency & { readonly before?: readonly Told[] },
  ): Draft => {
    const kept = entries?.[type] ?? common.journal?.recent[type] ?? [];
    const told = kept.map((entry) => toldOf(entry, facts, entry === kept.at(-1)));
    // Of what is kept as far as there is room for it, those that were superseded since are counted too.
    const isFull = entries === undefined && kept.length >= recentLimits[type];
    return draft(
      name,
      title,
      [...before, ...told],
      { ...urgency, newestFrom: before.length },
      `stint journal --type ${type} ${session}`,
      before.length + (isFull ? countIn(common.journal, type) : kept.length),
    );
  };
  const stepsOf = (name: string, title: string, { steps: told, total }: BriefSteps, urgency: Urgency): Draft =>
    draft(
      name,
      title,
      told.map((step) => toldOfStep(step, facts)),
      urgency,
      steps,
      total,
    );

  return [
    draft('standing', 'Where It Stands', standingOf(facts), { first: 0, each: 0.5 }, status),
    stepsOf('done', 'Completed Work', kind.done, { first: 5, each: 1, newestFrom: 0 }),
    stepsOf('current', 'In Progress', kind.current, { first: 1, each: 1 }),
    draft(
      'in_doubt',
      'In Doubt',
      kind.inDoubt.steps.map(toldOfDoubt),
      { first: 0, each: 1 },
      `stint next ${session}`,
      kind.inDoubt.total,
    ),
    draft('blockers', 'Blockers', blockersOf(common).map(toldOfBlocker), { first: 1, each: 1 }, status),
    stepsOf('remaining', 'Pending', kind.remaining, { first: 3, each: 1 }),
    journal('decisions', 'Decisions That Bind', 'decision', { first: 4, each: 0.8 }),
    journal('assumptions', 'Assumptions', 'assumption', { first: 6, each: 1 }),
    journal('validation', 'Validation', 'validation', { first: 3, each: 4 }),
    draft('outside', 'Changed Outside', outsideOf(facts, outside), { first: 3, each: 1.5 }, 'git status'),
    draft(
      'lost',
      'Not Restored',
      [textAt(facts.status, 'flaw'), textAt(facts.status, 'read_only'), ...kind.lost, ...facts.notes]
        .filter((text) => text !== '')
        .map((text) => ({ text })),
      { first: 2, each: 1 },
      'stint doctor',
    ),
    journal('files', 'Files to Start With', 'file', {
      first: 6,
      each: 1,
      before: kind.files.map(({ path, label }) => ({
        text: `${path}${label === undefined ? '' : `: ${label}`}${facts.absent.has(path) ? ' (not there)' : ''}`,
      })),
    }),
    journal('commands', 'Commands to Start With', 'command', {
      first: 6,
      each: 1.5,
      before: [...kind.commands.map((text) => ({ text })), ...vendorCommand(facts.status)],
    }),
    journal('errors', 'Errors', 'error', { first: 7, each: 1 }),
    journal('artifacts', 'Artifacts', 'artifact', { first: 9, each: 1 }),
    journal('remarks', 'Remarks', 'remark', { first: 9, each: 1 }),
    draft(
      'usage',
      'Context Budget',
      kind.usage.map((text) => ({ text })),
      { first: 4, each: 0.5 },
      status,
    ),
  ];
};

/** A fact before it is shortened. */
interface Told extends Fact {
  /** The number of the event that holds all of it. */
  readonly event?: number;
}

const factOf = ({ text, by, at, source, event }: Told, longest: number): Fact => ({
  text: shortForm(text, longest, event ?? null),
  ...(by === undefined ? {} : { by: actorText(by) }),
  ...(at === undefined || at === '' ? {} : { at: plainLine(at).slice(0, 40) }),
  ...(source === undefined ? {} : { source: truncateBytes(plainLine(source), 120) }),
  ...(event === undefined ? {} : { source: `event ${event}` }),
});

const standingOf = ({ common, kind, status, now }: BriefFacts): readonly Told[] => {
  const { pause, imported, resumed, reason, closedAt, archivedAt } = common;
  const since = textAt(status, 'activity_since');
  const activity = textAt(status, 'activity');
  const lease = leaseText(objectAt(status, 'lease'));
  const branch = common.branch === null ? 'no branch' : `branch ${common.branch}`;
  // They have a section of their own.
  const blockers = new Set(blockerTexts(blockersOf(common)));
  return [
    ...(pause === null
      ? []
      : [
          {
            text: `paused ${agoText(pause.at, now)}${pause.reason === null ? '' : `: ${pause.reason}`}`,
            by: pause.actor,
            at: pause.at,
          },
        ]),
    ...(closedAt === null
      ? []
      : [
          {
            text: `closed ${agoText(closedAt, now)}: ${common.outcome}${reason === null ? '' : `, ${reason}`}`,
            at: closedAt,
          },
        ]),
    ...(archivedAt === null ? [] : [{ text: `in the archive since ${archivedAt}` }]),
    ...(activity === 'interrupted' || activity === 'quiet'
      ? [{ text: `${activity}: whoever worked on it was last heard of ${agoText(since, now)}`, at: since }]
      : []),
    ...(lease === '' ? [] : [{ text: `held by ${lease}` }]),
    ...(kind.focus === null ? [] : [{ text: `focus: ${kind.focus}` }]),
    ...objectsAt(status, 'processes')
      .filter((process) => textAt(process, 'status') === 'running')
      .map((process) => ({ text: `running: ${textAt(process, 'called')} (${textAt(process, 'liveness')})` })),
    ...textsAt(status, 'missing')
      .filter((text) => !blockers.has(text))
      .map((text) => ({ text: `missing: ${text}` })),
    { text: `it is about ${branch}, in the worktree ${common.worktree}` },
    ...(resumed === undefined
      ? []
      : [{ text: `resumed ${agoText(resumed.at, now)}`, by: resumed.actor, at: resumed.at, event: resumed.event }]),
    ...(imported === null ? [] : [{ text: `taken over from ${imported.source}, where what came before was recorded` }]),
  ];
};

/** The command that resumes the conversation of an agent. */
const vendorCommand = (status: JsonObject): readonly Told[] => {
  const resume = objectAt(status, 'resume');
  const command = textAt(resume, 'command');
  return command === '' ? [] : [{ text: `${command} (goes on in the conversation of ${textAt(resume, 'vendor')})` }];
};

const toldOfStep = ({ id, text, note, percent, by, at }: BriefStep, { atWork }: BriefFacts): Told => {
  const work = id === undefined ? undefined : atWork.get(id);
  const behind = [...(note === undefined ? [] : [note]), ...(percent === undefined ? [] : [`${percent}%`])].join(', ');
  const step = [...new Set([id ?? '', text])].filter((part) => part !== '').join(': ');
  const whole = step === '' || behind === '' ? step + behind : `${step} (${behind})`;
  return {
    text: `${whole === '' ? 'without a text' : whole}${work === undefined ? '' : `; ${work.note}`}`,
    ...(by === undefined ? {} : { by }),
    ...(at === undefined ? {} : { at }),
  };
};

/** What to say comes before what it is, which may be long. */
const toldOfDoubt = ({ id, text, note }: BriefStep): Told => {
  const step = id ?? text;
  return {
    text: `${step}${note === undefined ? '' : ` (${note})`}: nobody knows what it has done; say stint resume --rerun ${step}, or --done ${step}${text === '' || text === step ? '' : `; it is: ${text}`}`,
  };
};

const toldOfBlocker = ({ id, at, actor, reason, needs }: Blocker): Told => ({
  text: `${reason}${needs === null ? '' : `; it needs ${needs}`}`,
  by: actor,
  at,
  event: id,
});

/** An entry of the journal in a line. */
const toldOf = (entry: Entry, { outside, absent, now }: BriefFacts, isNewest: boolean): Told => {
  const { id, type, at, actor, text, rationale, alternatives, path, exitCode, wasRun } = entry;
  const ended =
    exitCode === undefined ? [] : [`exit code ${exitCode}${entry.timedOut === true ? ', stopped for its time' : ''}`];
  const ran = wasRun === true ? ['run by stint', ...ended] : ended;
  const validated =
    type === 'validation'
      ? [...(wasRun === true ? [] : ['claimed']), ...ran, agoText(at, now), ...(isNewest ? outdated(outside) : [])]
      : ran;
  return {
    text: [
      path !== undefined && !text.includes(path) ? `${path}${text === '' ? '' : ': '}` : '',
      text,
      rationale === undefined ? '' : `; because ${rationale}`,
      alternatives === undefined || alternatives.length === 0 ? '' : `; instead of ${alternatives.join(', ')}`,
      validated.length === 0 ? '' : ` (${validated.join(', ')})`,
      type === 'file' && absent.has(path ?? text) ? ' (not there)' : '',
    ].join(''),
    by: actor,
    at,
    event: id,
  };
};

/** Whether what was validated last is still what is there, as far as can be seen. */
const outdated = (outside: OutsideLook): readonly string[] => {
  if (!outside.known || outside.changedSinceValidation === null) return ['whether files changed since is not known'];
  return outside.changedSinceValidation ? ['files changed since'] : [];
};

/** That the project lies somewhere else than where it was gone on with last, or, where nobody did, where it was begun. */
const movedFrom = (
  { startedAt }: Common,
  { root }: KindBrief,
  { resumed }: BriefFacts['last'],
  home: BriefFacts['home'],
): readonly Told[] => {
  const told = (from: string, when: string): string =>
    `the project was moved: it lay at ${from} when it was ${when}, and lies at ${home.root} now`;
  if (resumed === undefined) {
    const from = root?.replace(/(?<=.)[/\\]+$/, '') ?? null;
    // What another program has written need not be a path.
    const isRoot = from !== null && /^(?:\/|[A-Za-z]:[/\\])/.test(from);
    return isRoot && from !== home.root ? [{ text: told(from, 'begun'), at: startedAt }] : [];
  }
  const { actor: by, at, event } = resumed;
  return resumed.root === null || resumed.place !== home.id || resumed.root === home.root
    ? []
    : [{ text: told(resumed.root, 'resumed'), by, at, event }];
};

/** What changed around the session since it was written last. */
const outsideOf = ({ common, kind, last, home, now }: BriefFacts, outside: OutsideLook): readonly Told[] => {
  if (home.isElsewhere === true) return [{ text: 'not known from here: the session belongs to another machine' }];
  const { branch } = common;
  const moved = movedFrom(common, kind, last, home);
  const switched =
    branch !== null && home.branch !== branch
      ? [{ text: `${home.branch ?? 'no branch'} is checked out, and it is about ${branch}`, source: 'git' }]
      : [];
  if (!outside.known) return [...moved, ...switched, { text: `not known: ${outside.because}` }];
  const { commits, dirty } = outside;
  const since = `since it was written last, ${agoText(last.updatedAt, now)}`;
  const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
  return [
    ...moved,
    ...switched,
    ...(commits === null
      ? [{ text: `what was committed ${since} is not known`, source: 'git' }]
      : commits.count === 0 && commits.gone === 0
        ? [{ text: `nothing was committed ${since}`, source: 'git' }]
        : [
            {
              text: `${counted(commits.count, 'commit')} ${since}, behind ${commits.from.slice(0, 12)}${
                commits.gone === 0
                  ? ''
                  : `; ${counted(commits.gone, 'commit')} of then ${commits.gone === 1 ? 'is' : 'are'} gone`
              }`,
              source: 'git',
            },
            ...commits.newest.map(({ id, author, at, subject }) => ({
              text: subject,
              by: author,
              at,
              source: `commit ${id}`,
            })),
          ]),
    ...(dirty === null
      ? [{ text: 'which files are changed and not committed is not known', source: 'git' }]
      : dirty.total === 0
        ? [{ text: 'no file is changed and not committed', source: 'git' }]
        : [
            {
              text: `${counted(dirty.total, 'file')} changed and not committed: ${dirty.paths.slice(0, 5).join(', ')}${dirty.total > 5 ? ` and ${dirty.total - 5} more` : ''}`,
              source: 'git',
            },
          ]),
  ];
};
