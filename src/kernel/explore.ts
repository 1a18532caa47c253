import { canonicalJson, type Json } from '../lib/canonical-json.ts';
import type { StoredEvent } from './event.ts';
import type { Kind, KindCommand } from './kind.ts';
import { briefSteps, kindBriefOf } from './kind-brief.ts';
import { decideArchive, decidePause, decideResume, decideUnarchive } from './lifecycle-rules.ts';
import { decideBegin, decideCommand, decideFinish, decideOpened } from './lifecycle.ts';
import { refusals, type Refusal } from './refusal.ts';
import {
  absentSession,
  appendEvents,
  applyEvent,
  isOpened,
  viewOfSession,
  type OpenedSession,
  type Session,
} from './session.ts';
import { progressLimits, remainingLimit, type Progress, type View } from './view.ts';
import type { NewEvent } from './event.ts';
import type { Result } from '../lib/result.ts';

/** What an exploration of a kind found. */
export interface Exploration {
  /** How many different situations were reached. */
  readonly situations: number;
  /** Every promise that was broken, as a sentence with the commands that led there; none in a sound kind. */
  readonly faults: readonly string[];
}

/** A situation, and how it was reached. */
interface Situation {
  readonly session: Session;
  readonly events: readonly StoredEvent[];
  readonly path: string;
}

/**
 * Explores, breadth first, every situation that a kind's examples and the kernel's own commands can reach (at most
 * `limit`), and holds in each of them what every kind promises: replaying the stored events gives what was answered,
 * deciding twice gives the same decision, a snapshot loses nothing, a repeat changes nothing, an open session names its
 * next action, a closed one moves only by being begun again, a refusal says what is legal, views are bounded, progress agrees
 * with the view. At the end
 * every example was accepted somewhere and every type of event was produced.
 */
export const exploreKind = (kind: Kind, limit = 300): Exploration => {
  const faults: string[] = [];
  const accepted = new Set<string>();
  const produced = new Set<string>();
  const empty = { ...absentSession(kind, `${kind.name}:explored`), samples: kind.exampleSamples };
  const start: Situation = { session: empty, events: [], path: '' };
  const seen = new Set([identify(start.session)]);
  const queue = [start];

  for (let situation = queue.shift(); situation !== undefined; situation = queue.shift()) {
    for (const [name, decide] of movesOf(kind)) {
      const path = situation.path === '' ? name : `${situation.path}, ${name}`;
      const fault = (text: string): void => void faults.push(`${text}: ${path}`);
      const decided = decide(situation.session);
      if (canonical(decided) !== canonical(decide(situation.session))) fault('deciding twice gives two decisions');
      if (!decided.ok) {
        checkRefusal(decided.error, fault);
        continue;
      }
      if (decided.value.length === 0) continue;
      accepted.add(name);
      if (isOpened(situation.session) && situation.session.common.status === 'closed' && !movesClosed.has(name)) {
        fault('a closed session moves');
      }
      const appended = append(situation, decided.value, path);
      for (const { type } of decided.value) produced.add(type);
      if (!isOpened(appended.session)) {
        fault('the first event does not open the session');
        continue;
      }
      checkSituation(kind, appended, appended.session, fault);
      const again = decide(appended.session);
      if (again.ok && again.value.length > 0) fault('a repeat changes something');
      const identity = identify(appended.session);
      if (seen.has(identity) || seen.size >= limit) continue;
      seen.add(identity);
      queue.push(appended);
    }
  }

  for (const command of kind.examples) {
    const name = nameOf(command);
    if (command.type === 'begin' || command.type === 'continue') continue;
    if (!accepted.has(name)) faults.push(`an example is accepted nowhere: ${name}`);
  }
  for (const type of kind.commandTypes) {
    if (!kind.examples.some((command) => command.type === type)) faults.push(`a command has no example: ${type}`);
  }
  for (const type of Object.keys(kind.eventVersions)) {
    if (!produced.has(type)) faults.push(`an event is never produced: ${type}`);
  }
  return { situations: seen.size, faults };
};

/** What a closed session takes. */
const movesClosed: ReadonlySet<string> = new Set(['begin', 'archive', 'unarchive']);

/** Who does everything, and from where. */
const here = { actor: 'ana', place: 'here' };

type Move = readonly [string, (session: Session) => Result<readonly NewEvent[], Refusal>];

/** What can be done to a session of a kind: the kernel's commands, and the kind's examples. */
const movesOf = (kind: Kind): readonly Move[] => [
  ['begin', (session) => decideBegin(session, { branch: 'main', worktree: 'main', goal: 'a goal' })],
  ['finish', (session) => decideFinish(session, { abort: false, reason: null })],
  ['finish --abort', (session) => decideFinish(session, { abort: true, reason: 'no longer needed' })],
  ['pause', (session) => decideOpened(session, (opened) => decidePause(opened, 'for the night'))],
  ['resume', (session) => decideOpened(session, (opened) => decideResume(opened, { ...here, data: {} }))],
  ['archive', (session) => decideOpened(session, (opened) => decideArchive(opened, 'archive', false))],
  ['unarchive', (session) => decideOpened(session, (opened) => decideUnarchive(opened, '.', false))],
  ...kind.examples
    .filter(({ type }) => type !== 'begin' && type !== 'continue')
    .map((command): Move => [nameOf(command), (session) => decideCommand(session, command)]),
];

/** What a kind says for a brief is bounded, and nothing unfinished is all done. */
const checkBrief = (session: OpenedSession, fault: (text: string) => void): void => {
  const { common } = session;
  const view = viewOfSession(session);
  const { done, current, remaining, progress } = kindBriefOf(session, view, 'folder');
  for (const { steps, total } of [done, current, remaining]) {
    if (steps.length > briefSteps) fault(`a brief names ${steps.length} steps of one sort`);
    if (steps.length > total) fault(`a brief names ${steps.length} of ${total} steps`);
  }
  const { percent } = progress;
  if (percent !== null && (percent < 0 || percent > 100)) fault(`a brief says that ${percent}% are done`);
  if (percent === 100 && view.missing.length > 0) fault('a brief says that all is done, and something is missing');
  if (common.status === 'closed' && current.total > 0) fault('a brief of a closed session has something under way');
};

const nameOf = (command: KindCommand): string => canonicalJson(command);

const append = (situation: Situation, decided: readonly NewEvent[], path: string): Situation => {
  const minute = String(situation.events.length % 60).padStart(2, '0');
  const origin = {
    now: `2026-03-17T14:${minute}:00.000Z`,
    ...here,
    cause: `request-${situation.events.length}`,
  };
  const { session, events } = appendEvents(situation.session, decided, origin);
  return { session, events: [...situation.events, ...events], path };
};

const checkSituation = (
  kind: Kind,
  { events }: Situation,
  session: OpenedSession,
  fault: (text: string) => void,
): void => {
  let replayed: Session = absentSession(kind, session.key);
  for (const event of events) replayed = applyEvent(replayed, structured(event));
  if (identify(replayed) !== identify(session)) fault('replaying the events gives another state');
  const thawed = { ...session, folded: kind.thaw(thawable(session)) };
  const view = viewOfSession(session);
  if (canonical(viewOfSession(thawed)) !== canonical(view)) fault('a snapshot gives another view');

  const progress = session.folded.progress(session.common, session.samples);
  if (canonical(thawed.folded.progress(session.common, session.samples)) !== canonical(progress))
    fault('a snapshot gives another progress');
  checkProgress(progress, view, session, fault);
  checkBrief(session, fault);

  if (view.remaining.length > remainingLimit) fault(`the view names more than ${remainingLimit} steps`);
  if (view.position === '') fault('the view has no position');
  if (session.common.status === 'active') {
    if (view.next.kind === 'none' || view.next.command === null) fault('an open session names no next action');
    if (session.common.pause !== null) {
      if (view.next.kind !== 'resume') fault('a paused session does not say that it is to be resumed');
    } else if (view.missing.length === 0 && view.next.kind !== 'finish')
      fault('nothing is missing, but the next action is not to finish');
    if (view.completeness === 'complete') fault('an open session looks finished');
  } else if (session.common.outcome !== 'completed' && view.completeness === 'complete') {
    fault('an unfinished session looks finished');
  }
  const mirrors = session.folded.mirrors(session.common);
  if (new Set(mirrors.map(({ path }) => path)).size < mirrors.length) fault('two mirrors have one path');
  for (const mirror of mirrors) {
    const event = events[mirror.source - 1];
    if (event === undefined) fault(`the mirror ${mirror.path} is made from an event that is not there`);
    else if (mirror.render(event) !== mirror.render(structured(event)))
      fault(`the mirror ${mirror.path} is made differently each time`);
  }
};

/** What every kind promises of its progress; a kind may tell of no steps at all. */
const checkProgress = (
  progress: Progress,
  view: View,
  { common }: OpenedSession,
  fault: (text: string) => void,
): void => {
  const { steps, done, total, overall, cycle, earlier, summary, results } = progress;
  const inState = (state: string): number => steps.filter((step) => step.state === state).length;
  const isWhole = [done, total].every((count) => Number.isSafeInteger(count) && count >= 0);
  if (!isWhole || done > total) fault(`the progress is ${done} of ${total}`);
  if (steps.length > progressLimits.steps || steps.length > total)
    fault('the progress names more steps than there are, or too many');
  if (new Set(steps.map(({ name }) => name)).size < steps.length) fault('two steps have one name');
  if (steps.some(({ name, label }) => name === '' || label === '')) fault('a step has no name or no label');
  // Some steps may be left out; what is said of all of them is only told where all are there.
  if (steps.length === total) {
    if (done !== inState('done') + inState('skipped')) fault('the steps that are done are not those that are counted');
    const expected = total > 0 && view.missing.length > 0 ? 1 : 0;
    if (common.status === 'active' && inState('current') !== expected)
      fault(`not ${expected} steps are the current one`);
    if (view.missing.length === 0 && done < total) fault('nothing is missing, but a step is not done');
    if (view.missing.length > 0 && total > 0 && done === total) fault('something is missing, but every step is done');
  }
  if (overall?.percent === 100 && view.missing.length > 0) fault('all is said to be done, and something is missing');
  if (inState('current') > 1) fault('two steps are the current one');

  if (cycle?.completedAt === null && (Object.keys(summary).length > 0 || results.length > 0))
    fault(`${cycle.label} has a result before it is complete`);
  if (earlier.length > progressLimits.earlier)
    fault(`the progress tells of more than ${progressLimits.earlier} rounds`);
  const times = [cycle, ...earlier].flatMap((one) => (one === null ? [] : [one.completedAt]));
  for (const time of [cycle?.startedAt ?? null, ...times])
    if (time !== null && Number.isNaN(Date.parse(time))) fault(`the progress has a time that is none: ${time}`);
  const paths = [...results, ...steps.flatMap(({ evidence }) => evidence)].map(({ path }) => path);
  for (const path of paths)
    if (path === '' || path.split('/').some((part) => part === '' || part === '..'))
      fault(`the path ${path} leads out of the session's folder`);
  for (const { counts } of steps.flatMap(({ evidence }) => evidence))
    if (counts !== undefined && new RegExp(counts.pattern, 'i').test('')) fault('an empty line is counted');
};

const checkRefusal = (refusal: Refusal, fault: (text: string) => void): void => {
  if (!Object.hasOwn(refusals, refusal.code)) fault(`a refusal has the unknown code ${refusal.code}`);
  if (!/[.!]$/.test(refusal.message)) fault('a refusal has no sentence');
  if (refusal.code === 'illegal-transition' && (refusal.legal ?? []).length === 0)
    fault('an illegal move is refused without the legal ones');
};

/** What makes a situation different from another: everything but times, numbers of events and hashes. */
const identify = (session: Session): string => {
  const state = session.folded
    .freeze()
    .replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"time"')
    .replaceAll(/"seq":\d+/g, '"seq":0');
  const { status = 'absent', outcome = null, pause = null, archivedAt = null } = session.common ?? {};
  return `${status} ${outcome ?? ''} ${pause !== null} ${archivedAt !== null} ${state}`;
};

const canonical = (value: object): string => JSON.stringify(value);

/** The event as it comes back from a store. */
const structured = (event: StoredEvent): StoredEvent => JSON.parse(JSON.stringify(event));

/** The snapshot as it comes back from a store. */
const thawable = (session: Session): Json => JSON.parse(session.folded.freeze());
