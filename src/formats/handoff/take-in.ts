import { kernelEvent, type DecidedEvent } from '../../kernel/event.ts';
import { blockersOf, type EntryType } from '../../kernel/journal.ts';
import { decideEntry, decideUnblock, raiseBlocker } from '../../kernel/journal-rules.ts';
import type { HandoffEdit } from '../../kernel/kind.ts';
import { decideCommand, decideOpened, refuseClosed, wayBack } from '../../kernel/lifecycle.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { appendEvents, type OpenedSession, type Origin } from '../../kernel/session.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { withoutUndefined } from '../../lib/json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { bodyOf, isPlaceholder, valueOf } from './document.ts';
import { bodiesOf, oneLineOf, pairFieldsOf } from './fields.ts';
import { cleanDocument } from './clean.ts';
import { halves, isSame, printStanding, type DocumentText, type Half } from './print.ts';
import { bodyLines, printSections, readSections, withBody, type Sections } from './sections.ts';
import { statuses } from './statuses.ts';
import { isNone, labelled, listItems } from './values.ts';

/** What was written into the documents of a session becomes part of it. */

/** The newest text of each half that an event holds. */
export type Bases = Readonly<Record<Half, DocumentText | undefined>>;

/** A text that somebody wrote. */
export interface Written {
  readonly text: string;
  /** What it was written over, where that is not what the session has come to since. */
  readonly over?: string | undefined;
}

/** What was written, and how it comes. */
export interface Edit {
  readonly written: Readonly<Partial<Record<Half, Written>>>;
  /** `file`: somebody changed the files. `verb`: a verb says it, so that what cannot be taken is refused. */
  readonly origin: 'file' | 'verb';
  /** Whether it is what another program has left, whose halves each stay as they are. */
  readonly isFound?: boolean;
  /** Who has written it and when, where that is said. */
  readonly mark?: { readonly updatedAt: string; readonly updatedBy: string } | undefined;
  /** Who is named as the next to act, also where the documents say that of them already because nobody else is. */
  readonly owner?: string | undefined;
  /** Why a status is taken that is no transition. */
  readonly override?: string | undefined;
  /** The digests of the files. */
  readonly taken?: readonly string[] | undefined;
  /** The digests of files that are replaced whatever they hold, and kept beside. */
  readonly replaces?: readonly string[] | undefined;
}

/** Something that was written and not taken, with both sides. */
export interface Conflict {
  readonly section: string;
  readonly written: string;
  readonly stands: string;
  readonly because: string;
}

/** What comes of it. */
export interface TakenIn {
  readonly events: readonly DecidedEvent[];
  /** The session behind them. */
  readonly session: OpenedSession;
  readonly bases: Bases;
  readonly conflicts: readonly Conflict[];
}

/** The sections that say the same in both halves. */
const shared: Readonly<Record<Half, readonly string[]>> = {
  handover: ['Task summary', 'Status', 'Next owner', 'Last completed step', 'Current step'],
  session_state: ['Task', 'Status', 'Next owner', 'Last completed step', 'Current step'],
};

/**
 * Takes in what was written: what the journal and the kind understand becomes their events, and the whole text stays in the
 * log, so that nothing of it is lost. Where the halves were changed to say two things nothing is taken, and the conflict is
 * told.
 */
export const takeIn = (before: OpenedSession, bases: Bases, edit: Edit, origin: Origin): Result<TakenIn, Refusal> => {
  const { documents } = before.common;
  if (documents === undefined) throw new Error(`${before.key} has no documents`);
  const standing: { [Name in Half]?: string } = {};
  // Of a file nothing is seen but its text without secrets: what the session itself holds of them is no edit.
  const seen = edit.origin === 'file' ? cleanDocument : (text: string): string => text;
  const standingText = (half: Half): string => (standing[half] ??= seen(printStanding(before, half, bases[half])));
  const pairsOf = (said: Edit): readonly HalfPair[] =>
    writtenHalves(said).map(({ half, text, over }) => ({
      half,
      written: readSections(text),
      stood: readSections(over ?? standingText(half)),
    }));
  const pairs = pairsOf(edit);
  const conflicts: Conflict[] = disagreements(pairs);
  if (conflicts.length > 0) return ok({ events: [], session: before, bases, conflicts });

  const course = takePairs(before, pairs, edit, origin);
  if (course.refused !== undefined && edit.origin === 'verb') return err(course.refused);
  const { session, events } = course;
  conflicts.push(...course.conflicts);
  if (edit.origin === 'file') conflicts.push(...unsaid(pairs, session, origin));

  const goal = session.folded.handoff === undefined ? undefined : goalIn(pairs);
  const aimed = goal === undefined ? session : { ...session, common: { ...session.common, goal } };
  // What was written into the other half as well shows here too: so each differs from what it would have led to by itself.
  const isApart = edit.isFound !== true && pairs.length > 1;
  const ledTo = (pair: HalfPair): OpenedSession => (isApart ? takePairs(before, [pair], edit, origin).session : aimed);
  // Of what another program has left each half stays as it is, and the steps of other kinds follow their work.
  const isSpread = edit.isFound !== true && session.folded.handoff !== undefined;
  const whole = isSpread ? withTwins(edit, pairs, aimed, standingText) : edit;
  const texts = Object.fromEntries(
    pairsOf(whole).map((pair, at) => [
      pair.half,
      { text: writtenHalves(whole)[at]?.text ?? '', differs: differencesOf(before, ledTo(pair), pair) },
    ]),
  );
  const edited = kernelEvent('DocumentEdited', {
    ...whereToData(documents),
    origin: edit.origin,
    texts,
    ...(edit.mark === undefined ? {} : { updated_at: edit.mark.updatedAt, updated_by: edit.mark.updatedBy }),
    ...(edit.taken === undefined ? {} : { taken: [...edit.taken] }),
    ...(edit.replaces === undefined ? {} : { replaces: [...edit.replaces] }),
    ...(goal === undefined ? {} : { goal }),
    ...(conflicts.length === 0 ? {} : { conflicts: conflicts.map((one) => ({ ...one })) }),
  });
  const { session: after } = appendEvents(session, [edited], origin);
  return ok({
    events: [...events, edited],
    session: { ...after, common: after.common ?? session.common },
    bases: {
      handover: baseOf('handover', whole, texts, origin) ?? bases.handover,
      session_state: baseOf('session_state', whole, texts, origin) ?? bases.session_state,
    },
    conflicts,
  });
};

/** What the journal and the kind understand of halves that were written in. */
const takePairs = (before: OpenedSession, pairs: readonly HalfPair[], edit: Edit, origin: Origin): Course => {
  const course: Course = { session: before, origin, events: [], conflicts: [], refused: undefined, entered: new Set() };
  // The session state tells each thing in full, the handover in a line.
  for (const pair of pairs.toReversed()) takeJournal(course, pair);
  const wished = wishOf(pairs);
  const owner = edit.owner === undefined || isNone(edit.owner) ? wished.owner : edit.owner;
  takeWish(course, withoutUndefined({ ...wished, owner, override: edit.override }) as HandoffEdit);
  return course;
};

/** Where documents lie, as events say it. */
export const whereToData = ({
  place,
  root,
  handover: transfer,
  sessionState: state,
}: {
  readonly place: string;
  readonly root: string;
  readonly handover: string | null;
  readonly sessionState: string;
}): JsonObject => ({ place, root, handover: transfer, session_state: state });

const writtenHalves = ({ written }: Edit): readonly (Written & { readonly half: Half })[] =>
  (['handover', 'session_state'] as const).flatMap((half) => {
    const one = written[half];
    return one === undefined ? [] : [{ half, ...one }];
  });

const baseOf = (
  half: Half,
  { mark }: Edit,
  texts: Readonly<Record<string, { readonly text: string; readonly differs: Readonly<Record<string, string>> }>>,
  { cause }: Origin,
): DocumentText | undefined => {
  const said = texts[half];
  return said === undefined ? undefined : { ...said, mark, cause };
};

/** One half as it was written, and as it stood. */
interface HalfPair {
  readonly half: Half;
  readonly written: Sections;
  readonly stood: Sections;
}

/**
 * The sections that do not say what the session says, with what that is; of one that was not written in, what the session
 * said before, so that what follows from the rest shows there.
 */
const differencesOf = (before: OpenedSession, after: OpenedSession, pair: HalfPair): Record<string, string> => {
  const nobody = { updatedAt: '', updatedBy: '', pointer: null };
  const kind = halves[pair.half];
  const [was, now] = [bodiesOf(kind, pairFieldsOf(before), nobody), bodiesOf(kind, pairFieldsOf(after), nobody)];
  return Object.fromEntries(
    kind.sections
      .map((name) => ({ name, said: (isChanged(pair, name) ? now : was).get(name) ?? [] }))
      .filter(({ name, said }) => !isSame(bodyLines(bodyOf(pair.written, name)), said))
      .map(({ name, said }) => [name, said.join('\n')]),
  );
};

const isChanged = ({ written, stood }: HalfPair, name: string): boolean =>
  // Of one that is there twice nobody knows which of them counts.
  written.sections.filter((section) => section.name === name).length === 1 &&
  !isSame(bodyLines(bodyOf(written, name)), bodyLines(bodyOf(stood, name)));

/** What both halves were changed to say, and say differently. */
const disagreements = (pairs: readonly HalfPair[]): Conflict[] => {
  const [one, other] = pairs;
  if (one === undefined || other === undefined) return [];
  return shared.handover.flatMap((name, at) => {
    const twin = shared.session_state[at] ?? name;
    if (!isChanged(one, name) || !isChanged(other, twin)) return [];
    const [written, stands] = [valueOf(one.written, name), valueOf(other.written, twin)];
    return written === stands ? [] : [{ section: name, written, stands, because: 'the two documents disagree' }];
  });
};

/** What one half was changed to say of the steps, and no session holds, stands in the other one too. */
const withTwins = (
  edit: Edit,
  pairs: readonly HalfPair[],
  session: OpenedSession,
  standing: (half: Half) => string,
): Edit => {
  const nobody = { updatedAt: '', updatedBy: '', pointer: null };
  const written = { ...edit.written };
  for (const pair of pairs) {
    const twin = pair.half === 'handover' ? 'session_state' : 'handover';
    if (twin === 'handover' && session.common.documents?.handover === null) continue;
    const said = bodiesOf(halves[twin], pairFieldsOf(session), nobody);
    for (const name of ['Last completed step', 'Current step']) {
      const value = valueOf(pair.written, name);
      const isHeld = said.get(name)?.join('\n') === value;
      if (isHeld || value === '' || isPlaceholder(value) || !isChanged(pair, name)) continue;
      const { text = standing(twin), over } = written[twin] ?? {};
      const sections = readSections(text);
      if (valueOf(sections, name) === value) continue;
      const changed = withBody(sections, name, [value]);
      if (changed.ok) written[twin] = { text: printSections(changed.value), over };
    }
  }
  return { ...edit, written };
};

/** The value that one of the halves was changed to say. */
const changedValue = (pairs: readonly HalfPair[], at: number): string | undefined => {
  for (const pair of pairs) {
    const name = shared[pair.half][at] ?? '';
    if (isChanged(pair, name)) return valueOf(pair.written, name);
  }
  return undefined;
};

/** What was written that says nothing a session could take: its documents say again what stands. */
const unsaid = (pairs: readonly HalfPair[], session: OpenedSession, { actor }: Origin): readonly Conflict[] => {
  const { status: stands, owner } = pairFieldsOf(session);
  const [status, who] = [changedValue(pairs, 1), changedValue(pairs, 2)];
  const { handoff } = session.folded;
  const isUnknown = handoff !== undefined && status !== undefined && statuses.every((one) => one !== status);
  const isNobody = who !== undefined && isNone(who) && stands !== 'done';
  const isIdle = handoff === undefined && who !== undefined && !isNone(who) && who !== actor;
  const steps = handoff === undefined ? stepsIn(pairs) : undefined;
  const left = pairFieldsOf(session).remaining;
  const dropped = steps?.was.filter((one) => !steps.now.includes(one) && left.includes(one)) ?? [];
  const untaken = (section: string, written: string, now: string, because: string): readonly Conflict[] => [
    { section, written, stands: now, because },
  ];
  return [
    ...(isUnknown ? untaken('Status', status, stands, `a status is one of ${statuses.join(', ')}.`) : []),
    ...(isNobody ? untaken('Next owner', who, owner ?? actor, 'somebody is to act next while it is not done.') : []),
    ...dropped.map((step) => ({
      section: 'Remaining steps',
      written: 'None',
      stands: step,
      because: `of a ${session.common.kind} they follow from its work.`,
    })),
    ...(isIdle ? untaken('Next owner', who, actor, `of a ${session.common.kind} it is who wrote last.`) : []),
  ];
};

const goalIn = (pairs: readonly HalfPair[]): string | undefined => {
  const goal = changedValue(pairs, 0);
  return goal === undefined || isNone(goal) || isPlaceholder(goal) ? undefined : goal;
};

/** What was written of what a kind may take. */
const wishOf = (pairs: readonly HalfPair[]): Omit<HandoffEdit, 'override'> => {
  const said = (value: string | undefined): string | undefined =>
    value === undefined || isNone(value) ? undefined : value;
  return withoutUndefined({
    status: changedValue(pairs, 1),
    owner: said(changedValue(pairs, 2)),
    lastCompleted: said(changedValue(pairs, 3)),
    current: said(changedValue(pairs, 4)),
    remaining: stepsIn(pairs),
  });
};

/** The steps that are left, as one list: of what one half says alone the other one says nothing. */
const stepsIn = (pairs: readonly HalfPair[]): HandoffEdit['remaining'] => {
  const lists = pairs.flatMap((pair) => {
    const name = pair.half === 'handover' ? 'Remaining work' : 'Remaining steps';
    const items = (document: Sections): readonly string[] => listItems(bodyOf(document, name));
    return isChanged(pair, name) ? [{ was: items(pair.stood), now: items(pair.written) }] : [];
  });
  const [first, last] = [lists[0], lists.at(-1)];
  if (first === undefined || last === undefined || first === last) return last;
  const gone = new Set(first.was.filter((one) => !first.now.includes(one)));
  const added = first.now.filter((one) => !first.was.includes(one) && !last.now.includes(one));
  return {
    was: [...new Set([...last.was, ...first.was])],
    now: [...last.now.filter((one) => !gone.has(one)), ...added],
  };
};

/** What is taken in, one thing after the other: each is decided on what the one before has led to. */
interface Course {
  session: OpenedSession;
  readonly origin: Origin;
  readonly events: DecidedEvent[];
  readonly conflicts: Conflict[];
  refused: Refusal | undefined;
  /** What the journal was given. */
  readonly entered: Set<string>;
}

/** Goes on with what was decided; what is refused is told with both sides. */
const apply = (
  course: Course,
  decision: Result<readonly DecidedEvent[], Refusal>,
  told: Omit<Conflict, 'because'>,
): void => {
  if (!decision.ok) {
    course.refused ??= decision.error;
    course.conflicts.push({ ...told, because: decision.error.message });
    return;
  }
  course.events.push(...decision.value);
  const { session } = appendEvents(course.session, decision.value, course.origin);
  course.session = { ...session, common: session.common ?? course.session.common };
};

/** The kind takes what it understands; of another kind a status is told by what happens in it. */
const takeWish = (course: Course, wish: HandoffEdit): void => {
  const { folded, common } = course.session;
  const { status } = wish;
  const stands = pairFieldsOf(course.session).status;
  if (common.status === 'closed' && status !== undefined && status !== stands) {
    const refusal = refuseClosed(common, wayBack(course.session));
    apply(course, err(refusal), { section: 'Status', written: status, stands });
    return;
  }
  if (folded.handoff === undefined) {
    if (status !== undefined && status !== stands)
      apply(
        course,
        err(
          refuse('illegal-transition', `The status of a ${common.kind} follows from its work.`, {
            expected: stands,
            hint: `stint status --session ${common.key}`,
          }),
        ),
        { section: 'Status', written: status, stands },
      );
    return;
  }
  for (const command of folded.handoff.takes(common, wish)) {
    const isStatus = command.type.startsWith('move');
    apply(course, decideCommand(course.session, command), {
      section: isStatus ? 'Status' : 'Remaining steps',
      written: isStatus ? (status ?? '') : command.type,
      stands,
    });
  }
};

/** What was written into the sections that the journal keeps. */
const takeJournal = (course: Course, pair: HalfPair): void => {
  const isHandover = pair.half === 'handover';
  const added = (name: string, itemsOf: (body: string) => readonly string[]): readonly string[] => {
    if (!isChanged(pair, name)) return [];
    const before = new Set(itemsOf(bodyOf(pair.stood, name)));
    return itemsOf(bodyOf(pair.written, name)).filter((one) => !before.has(one));
  };
  /** An entry of the journal; where both halves say it, it is one. */
  const enter = (
    type: EntryType,
    section: string,
    said: { readonly text: string; readonly exit_code?: number },
  ): void => {
    const entry = `${type} ${said.exit_code ?? ''} ${said.text.replaceAll(/\s+/g, ' ')}`;
    if (course.entered.has(entry)) return;
    course.entered.add(entry);
    apply(course, decideEntry(course.session, type, said, undefined), { section, written: said.text, stands: '' });
  };
  const note = (type: EntryType, texts: readonly string[]): void => {
    for (const text of texts) enter(type, type, { text });
  };
  const validation = (name: string, label: string, code: number): void => {
    for (const text of added(name, (body) => labelled(body, label)))
      enter('validation', name, { text, exit_code: code });
  };
  if (isHandover) {
    const body = 'Blockers and decisions';
    note(
      'decision',
      added(body, (text) => labelled(text, 'Decisions')),
    );
    note(
      'assumption',
      added(body, (text) => labelled(text, 'Assumptions')),
    );
    // What blocks it is told in full in the session state: a line that says no more is no news.
    const isOpen = ({ reason }: WrittenBlocker): boolean =>
      blockersOf(course.session.common).some((one) => oneLineOf(one.reason) === reason);
    for (const blocker of added(body, (said) => labelled(said, 'Blockers')).map(blockerOf))
      if (!isOpen(blocker)) raise(course, blocker);
    validation('Validation status', 'Passed', 0);
    validation('Validation status', 'Failed', 1);
    return;
  }
  takeBlockers(course, pair);
  note(
    'decision',
    added('Decisions and assumptions', (body) => itemsLabelled(body, 'Decision')),
  );
  note(
    'assumption',
    added('Decisions and assumptions', (body) => itemsLabelled(body, 'Assumption')),
  );
  note('file', added('Files touched', listItems));
  note('command', added('Commands to resume', listItems));
  note('artifact', added('Artifacts', listItems));
  validation('Validation snapshot', 'Passed', 0);
  validation('Validation snapshot', 'Failed', 1);
};

/** The items of a list that begin with a label; those without any count as decisions. */
const itemsLabelled = (body: string, label: string): readonly string[] =>
  listItems(body).flatMap((one) => {
    const [, name = 'Decision', text = one] = /^(Decision|Assumption): ?(.*)$/s.exec(one) ?? [];
    return name === label && !isNone(text) ? [text] : [];
  });

/** A blocker as a document tells it. */
interface WrittenBlocker {
  readonly reason: string;
  readonly needs: string | null;
}

/** A blocker as a handover tells it, in a line. */
const blockerOf = (text: string): WrittenBlocker => {
  const [, reason = text, needs = null] = /^(.*) \(needed to unblock: (.*)\)$/s.exec(text) ?? [];
  return { reason, needs };
};

/** The blockers of a section: what is needed follows the one that it is about. */
export const blockersIn = (body: string): readonly WrittenBlocker[] => {
  const blockers: WrittenBlocker[] = [];
  for (const one of listItems(body)) {
    const [, needs] = /^needed to unblock: ?(.*)$/is.exec(one) ?? [];
    const last = blockers.at(-1);
    if (needs === undefined) blockers.push({ reason: one, needs: null });
    else if (last !== undefined && !isNone(needs)) blockers[blockers.length - 1] = { ...last, needs };
  }
  return blockers;
};

const takeBlockers = (course: Course, pair: HalfPair): void => {
  if (!isChanged(pair, 'Blockers')) return;
  const [was, now] = [blockersIn(bodyOf(pair.stood, 'Blockers')), blockersIn(bodyOf(pair.written, 'Blockers'))];
  const isIn = (list: readonly WrittenBlocker[], { reason, needs }: WrittenBlocker): boolean =>
    list.some((one) => one.reason === reason && one.needs === needs);
  for (const gone of was.filter((one) => !isIn(now, one))) {
    const open = blockersOf(course.session.common).find(({ reason, needs }) => isIn([gone], { reason, needs }));
    if (open !== undefined)
      apply(course, decideUnblock(course.session, { id: open.id, raised: undefined }, 'taken out of the document'), {
        section: 'Blockers',
        written: 'None',
        stands: gone.reason,
      });
  }
  for (const one of now.filter((written) => !isIn(was, written))) raise(course, one);
};

const raise = (course: Course, { reason, needs }: WrittenBlocker): void =>
  apply(
    course,
    decideOpened(course.session, ({ common }) => raiseBlocker(common, reason, needs), { mustBeOpen: true }),
    { section: 'Blockers', written: reason, stands: 'None' },
  );
