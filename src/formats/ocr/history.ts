import type { JsonObject } from '../../lib/canonical-json.ts';
import { sessionNameProblem } from '../../lib/name.ts';
import { readProcesses, type OcrProcess } from './processes.ts';
import { idOf, objectOf, shownOf, shownText, shownValue, textOf, timeOf, wholeOf, type OcrRow } from './row-values.ts';

/**
 * The sessions of an existing `.ocr/data/ocr.db`, of any version of Open Code Review (schemas 1 to 14) and of its fork (15
 * to 23), as histories that another system can fold. Nothing is believed that the original did not record as it happened: a
 * round is complete only where its own event says so, not because a file lies there or a row is closed. What cannot be
 * told as history is kept as a remark, and every doubt is a problem in words.
 */

/** What is read of the database: its schema version, and rows of three tables. */
export interface OcrTables {
  /** The newest row of `schema_version`; null where there is none. */
  readonly version: number | null;
  /** Of `sessions`. */
  readonly sessions: readonly OcrRow[];
  /** Of `orchestration_events`. */
  readonly events: readonly OcrRow[];
  /** Of `command_executions`, and at schema 10 of `agent_sessions`. */
  readonly executions: readonly OcrRow[];
}

/** Everything that the tables tell. */
export interface OcrHistory {
  readonly sessions: readonly OcrSession[];
  /** Executions that belong to no session: they are counted, and not part of any. */
  readonly unlinkedExecutions: number;
  /** What is wrong with rows that belong to no session. */
  readonly problems: readonly string[];
}

/** A workflow of the original. */
export type OcrKind = 'review' | 'map';

/** One session of the original. */
export interface OcrSession {
  readonly id: string;
  readonly kind: OcrKind;
  readonly branch: string | null;
  /** Where its history ends. */
  readonly status: 'active' | 'closed';
  readonly startedAt: string;
  readonly updatedAt: string;
  /** The highest id of its events; 0 where there is none. */
  readonly lastEventId: number;
  readonly history: readonly HistoryItem[];
  readonly processes: readonly OcrProcess[];
  /** What could not be taken as it was found, as sentences. */
  readonly problems: readonly string[];
}

/** Something that happened; `id` is that of the original's event, null where it was concluded from the rows. */
export type HistoryItem = { readonly at: string; readonly id: number | null } & (
  | { readonly what: 'round'; readonly round: number }
  | { readonly what: 'phase'; readonly phase: string; readonly round: number }
  /** The summary is what is known of verdict and counts, under the names of `RoundSummary` and `MapSummary`. */
  | { readonly what: 'completed'; readonly round: number; readonly summary: JsonObject }
  | { readonly what: 'closed'; readonly outcome: 'completed' | 'aborted'; readonly reason: string | null }
  | { readonly what: 'reopened' }
  | { readonly what: 'remark'; readonly text: string }
);

/** The phases of both workflows, in order. */
export const ocrPhases: Readonly<Record<OcrKind, readonly string[]>> = {
  review: ['context', 'change-context', 'analysis', 'reviews', 'aggregation', 'discourse', 'synthesis', 'complete'],
  map: ['map-context', 'topology', 'flow-analysis', 'requirements-mapping', 'synthesis', 'complete'],
};

/** The newest schema that is known: that of the fork. */
const newestSchema = 23;

/** More rounds than these are a damaged number: nobody reviewed a change so often. */
export const mostRounds = 1000;

/** The reason of a close that the original recorded as success, or did not record at all, without a completion. */
export const closedWithoutCompletion = 'closed in the original without a completion on record';

/**
 * Reads the tables. Any rows at all give histories that can be folded: each begins with a round, rounds count up by one,
 * phases are of the workflow, a round is completed at most once, a closed session is only reopened.
 */
export const readHistory = ({ version, sessions, events, executions }: OcrTables): OcrHistory => {
  const problems: string[] = [];
  if (version !== null && version > newestSchema)
    problems.push(`The schema ${version} is newer than the newest known one (${newestSchema}).`);

  const rowById = new Map<string, OcrRow>();
  for (const row of sessions) {
    const id = idOf(row['id']);
    if (id === null) problems.push('A session without an id was left out.');
    else if (rowById.has(id)) problems.push(`The session ${shownText(id, 128)} is there twice: the first row counts.`);
    else rowById.set(id, row);
  }

  const eventsById = groupBy(events, 'session_id');
  for (const [id, orphans] of eventsById)
    if (!rowById.has(id))
      problems.push(`${orphans.length} events belong to no session${id === '' ? '' : `: ${shownText(id, 128)}`}.`);
  const executionsById = groupBy(executions, 'workflow_id');
  for (const [id, orphans] of executionsById)
    if (id !== '' && !rowById.has(id))
      problems.push(`${orphans.length} executions belong to no session: ${shownText(id, 128)}.`);

  return {
    sessions: [...rowById].map(([id, row]) =>
      readSession(id, row, eventsById.get(id) ?? [], executionsById.get(id) ?? []),
    ),
    unlinkedExecutions: executions.filter((row) => !rowById.has(idOf(row['workflow_id']) ?? '')).length,
    problems,
  };
};

/** Rows by what they belong to; those that belong to nothing under the empty text. */
const groupBy = (rows: readonly OcrRow[], column: string): ReadonlyMap<string, readonly OcrRow[]> => {
  const rowsById = new Map<string, OcrRow[]>();
  for (const row of rows) {
    const id = idOf(row[column]) ?? '';
    const known = rowsById.get(id);
    if (known === undefined) rowsById.set(id, [row]);
    else known.push(row);
  }
  return rowsById;
};

/** An event with what is needed of its columns. */
interface OcrEvent {
  readonly id: number | null;
  readonly type: string;
  readonly phase: string | null;
  readonly round: number | null;
  readonly metadata: JsonObject;
  readonly at: string;
  readonly row: OcrRow;
}

const readSession = (
  id: string,
  row: OcrRow,
  eventRows: readonly OcrRow[],
  executions: readonly OcrRow[],
): OcrSession => {
  // A set: what is wrong with fifty events in the same way is said once.
  const problems = new Set<string>();
  const report = (problem: string): void => void problems.add(problem);

  const unnamed = sessionNameProblem(id);
  if (unnamed !== undefined) report(`The id cannot be the name of a session: ${unnamed}`);
  const ordered = inOrder(eventRows);
  const kind = kindOf(row, ordered, report);
  const { startedAt, updatedAt, times } = timesOf(row, ordered, report);
  const events = ordered.map((event, index) => eventOf(event, times[index] ?? startedAt));
  const { history, closed } = walk({ kind, row, events, startedAt, updatedAt, report });
  return {
    id,
    kind,
    branch: shownOf(row['branch'], 300),
    status: closed ? 'closed' : 'active',
    startedAt,
    updatedAt,
    lastEventId: events.reduce((highest, event) => Math.max(highest, event.id ?? 0), 0),
    history,
    processes: readProcesses(executions, startedAt, report),
    problems: [...problems],
  };
};

/** In the order of their ids, which the original never gives twice; what has none comes last, as it was found. */
const inOrder = (rows: readonly OcrRow[]): readonly OcrRow[] => {
  const order = (row: OcrRow): number => wholeOf(row['id']) ?? Number.MAX_SAFE_INTEGER;
  return rows.toSorted((a, b) => order(a) - order(b));
};

const eventOf = (row: OcrRow, at: string): OcrEvent => ({
  id: wholeOf(row['id']),
  type: textOf(row['event_type']) ?? '',
  phase: textOf(row['phase']),
  round: wholeOf(row['round']),
  metadata: objectOf(row['metadata']),
  at,
  row,
});

const kindOf = (row: OcrRow, events: readonly OcrRow[], report: (problem: string) => void): OcrKind => {
  const type = row['workflow_type'];
  if (type === 'review' || type === 'map') return type;
  const ofMaps = new Set(ocrPhases.map.filter((phase) => !ocrPhases.review.includes(phase)));
  const looks = [row['current_phase'], ...events.map((event) => event['phase'])];
  const kind =
    looks.some((phase) => ofMaps.has(textOf(phase) ?? '')) ||
    events.some((event) => event['event_type'] === 'map_completed')
      ? 'map'
      : 'review';
  report(`The workflow is ${shownValue(type)}: taken for a ${kind}.`);
  return kind;
};

/** The times of a session and of its events; one that cannot be read is that of the nearest neighbour. */
const timesOf = (
  row: OcrRow,
  events: readonly OcrRow[],
  report: (problem: string) => void,
): { readonly startedAt: string; readonly updatedAt: string; readonly times: readonly string[] } => {
  const given = [row['started_at'], ...events.map((event) => event['created_at']), row['updated_at']];
  const known = given.map(timeOf);
  const nearest = nearestOf(known);
  known.forEach((time, index) => {
    if (time !== null) return;
    const whose = index === 0 ? 'started_at' : index === given.length - 1 ? 'updated_at' : 'created_at of an event';
    report(`${whose} is ${shownValue(given[index])}, which is no time: ${nearest[index] ?? dawn} stands for it.`);
  });
  const filled = nearest.map((time) => time ?? dawn);
  return { startedAt: filled[0] ?? dawn, updatedAt: filled.at(-1) ?? dawn, times: filled.slice(1, -1) };
};

/** What stands for a time where a session has none at all: so early that nobody takes it for one. */
const dawn = '1970-01-01T00:00:00.000Z';

/** Each value, or where it is missing the nearest one; of two as near, the one before. */
const nearestOf = (values: readonly (string | null)[]): readonly (string | null)[] => {
  const sweep = (list: readonly (string | null)[]) => {
    let at = Number.NEGATIVE_INFINITY;
    return list.map((value, index) => {
      if (value !== null) at = index;
      return { value: list[at] ?? null, distance: index - at };
    });
  };
  const after = sweep(values.toReversed()).toReversed();
  return sweep(values).map((before, index) => {
    const next = after[index] ?? before;
    return (before.distance <= next.distance ? before : next).value;
  });
};

interface Journey {
  readonly kind: OcrKind;
  readonly row: OcrRow;
  readonly events: readonly OcrEvent[];
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly report: (problem: string) => void;
}

/** Walks through the events as the original's workflow would, and says what cannot have been so. */
const walk = ({
  kind,
  row,
  events,
  startedAt,
  updatedAt,
  report,
}: Journey): { readonly history: readonly HistoryItem[]; readonly closed: boolean } => {
  const phases = ocrPhases[kind];
  const first = phases[0] ?? '';
  const last = phases.at(-1) ?? '';
  const cycle = kind === 'map' ? 'Run' : 'Round';
  const completion = completionOf[kind];
  const summaryByRound = new Map<number, JsonObject>();
  const history: HistoryItem[] = [];
  let latest = '';
  let round = 0;
  let phase = first;
  let recordedPhase: string | null = null;
  let closed = false;

  type Happening = HistoryItem extends infer Item
    ? Item extends HistoryItem
      ? Omit<Item, 'at' | 'id'>
      : never
    : never;
  const happen = ({ at, id }: { readonly at: string; readonly id: number | null }, what: Happening): void => {
    if (at < latest && Date.parse(latest) - Date.parse(at) > 1000)
      report(`The clock went back before ${eventName(id)}: the time before it stands for its own.`);
    // The original's times are whole seconds, the dashboard's are not: a step back of less is none.
    latest = at < latest ? latest : at;
    history.push({ at: latest, id, ...what });
  };

  const remark = (event: OcrEvent, problem?: string): void => {
    if (problem !== undefined) report(problem);
    happen(event, { what: 'remark', text: describe(event) });
  };

  /** Goes to a round that follows; false for one that cannot be. */
  const enterRound = (event: { readonly at: string; readonly id: number | null }, target: number): boolean => {
    if (target === round) return true;
    if (target < round || target > mostRounds) return false;
    if (target > round + 1) report(`${cycle} ${target} follows ${round}: those between are not on record.`);
    while (round < target) {
      round += 1;
      happen({ at: event.at, id: round === target ? event.id : null }, { what: 'round', round });
    }
    phase = first;
    return true;
  };

  const takePosition = (event: OcrEvent, index: number): void => {
    // What the original 1.x wrote of a new map: the first phase of a review.
    const isOpening = event.type !== 'phase_transition';
    const entered = kind === 'map' && isOpening && event.phase === 'context' ? first : event.phase;
    if (kind === 'review' && event.round === null && (event.row['round'] ?? null) !== null)
      report(`The round of ${eventName(event.id)} is ${shownValue(event.row['round'])}: taken for the current one.`);
    const target = kind === 'map' ? (isNextRun(event, index) ? round + 1 : round) : (event.round ?? round);
    if (!enterRound(event, target)) {
      remark(event, `${cycle} ${target} of ${eventName(event.id)} cannot follow ${round}: it was not entered.`);
      return;
    }
    if (entered === null) return;
    if (!phases.includes(entered)) {
      remark(event, `A ${kind} has no phase ${shownText(entered, 60)} (${eventName(event.id)}).`);
      return;
    }
    recordedPhase = entered;
    if (entered === phase) return;
    const isDone = summaryByRound.has(round);
    if (entered === last) {
      remark(event, `${cycle} ${round} was moved to ${last} without a completion on record (${eventName(event.id)}).`);
    } else if (isDone && isOpening) {
      report(`${cycle} ${round} was opened again after it was complete (${eventName(event.id)}).`);
    } else if (isDone) {
      remark(event, `${cycle} ${round} was walked through again after it was complete.`);
    } else {
      phase = entered;
      happen(event, { what: 'phase', phase, round });
    }
  };

  /**
   * Events of a map do not say their run, except its completion: a walk that begins anew is the next run where a later
   * completion or the row knows of one. Without that it is what the original made of a finished map that was begun again:
   * its first run once more.
   */
  const isNextRun = (event: OcrEvent, index: number): boolean => {
    if (event.type !== 'phase_transition' || event.phase !== first || phase === first) return false;
    const later = events.slice(index + 1).flatMap((one) => (one.type === completion ? [one.round ?? 0] : []));
    return later.concat(wholeOf(row['current_map_run']) ?? 0).some((run) => run > round && run <= mostRounds);
  };

  const complete = (event: OcrEvent): void => {
    const target = event.round ?? round;
    const summary = summaryOf(kind, event, report);
    const known = summaryByRound.get(target);
    if (isReconciled(event)) {
      remark(event, `${cycle} ${target} was completed by reconcile from a file: that is no proof.`);
    } else if (known !== undefined) {
      const same = JSON.stringify(known) === JSON.stringify(summary);
      report(
        `${cycle} ${target} was completed again${same ? '' : ' with another result'} (${eventName(event.id)}): the first time counts.`,
      );
    } else if (closed) {
      remark(event, `${cycle} ${target} was completed while the session was closed (${eventName(event.id)}).`);
    } else if (target < round || target > mostRounds || target < 1) {
      remark(event, `${cycle} ${target} was completed while ${round} was the current one (${eventName(event.id)}).`);
    } else {
      if (event.round === null) report(`The completion ${eventName(event.id)} names no round: taken for ${round}.`);
      if (target > round) report(`${cycle} ${target} was completed without having been started.`);
      enterRound(event, target);
      summaryByRound.set(round, summary);
      phase = last;
      recordedPhase = event.phase;
      happen(event, { what: 'completed', round, summary });
    }
  };

  const close = (event: OcrEvent): void => {
    if (closed) {
      report(`The session was closed again (${event.type}, ${eventName(event.id)}): the first time counts.`);
      return;
    }
    const isDone = summaryByRound.has(round);
    const outcome = isDone && event.type !== 'session_aborted' ? 'completed' : 'aborted';
    const reason = reasonOf(event, isDone);
    if (event.type === 'session_closed' && !isDone) report(`${cycle} ${round} has no completion on record.`);
    closed = true;
    happen(event, { what: 'closed', outcome, reason });
  };

  const follow = (event: OcrEvent, index: number): void => {
    switch (event.type) {
      case 'session_created':
        if (index === 0) takePosition(event, index);
        else remark(event, `The session was created again (${eventName(event.id)}).`);
        return;
      case 'session_resumed':
        // A lease, by which the original drives a stalled run on: it changes neither phase nor round.
        if (event.metadata['kind'] === 'forward_resume') return remark(event);
        if (closed) reopen(event);
        takePosition(event, index);
        return;
      case 'round_started':
        if (closed && isPartOfAdvance(event, events[index - 1])) {
          return remark(event, `The session was moved while it was closed (${eventName(event.id)}).`);
        }
        if (closed) reopen(event);
        takePosition(event, index);
        return;
      case 'phase_transition':
        if (closed) remark(event, `The session was moved while it was closed (${eventName(event.id)}).`);
        else takePosition(event, index);
        return;
      case 'round_completed':
      case 'map_completed':
        if (event.type === completion) complete(event);
        else remark(event, `A ${kind} cannot be completed by ${event.type} (${eventName(event.id)}).`);
        return;
      case 'session_closed':
      case 'session_aborted':
      case 'session_auto_closed_stale':
      case 'session_synced':
      case 'session_legacy_import':
        close(event);
        return;
      default:
        remark(event, `The event ${shownValue(event.row['event_type'])} is not known (${eventName(event.id)}).`);
    }
  };

  const reopen = (event: OcrEvent): void => {
    closed = false;
    happen(event, { what: 'reopened' });
  };

  const start = (): void => {
    const earliest = events[0] !== undefined && events[0].at < startedAt ? events[0].at : startedAt;
    const created = events[0]?.type === 'session_created' ? events[0] : undefined;
    const hasMoves = events.some((event) => isMove(event, completion));
    const wanted = firstRound({ kind, row, events, completion, hasMoves });
    if (wanted < 1 || wanted > mostRounds) report(`${cycle} ${wanted} is none: the first one stands for it.`);
    round = wanted >= 1 && wanted <= mostRounds ? wanted : 1;
    if (round > 1) report(`The rounds before ${round} are not on record.`);
    happen({ at: created?.at ?? earliest, id: created?.id ?? null }, { what: 'round', round });
    if (hasMoves) return;
    const found = textOf(row['current_phase']);
    const at = events[0] !== undefined && events[0].at < updatedAt ? events[0].at : updatedAt;
    const known = kind === 'map' && found === 'context' ? first : found;
    recordedPhase = known;
    if (known === null || known === first) return;
    if (known === last) report(`${cycle} ${round} stands in ${last} without a completion on record.`);
    else if (!phases.includes(known))
      report(`A ${kind} has no phase ${shownText(known, 60)}, in which its row stands.`);
    else {
      phase = known;
      happen({ at: at < latest ? latest : at, id: null }, { what: 'phase', phase, round });
    }
  };

  start();
  events.forEach(follow);

  const status = row['status'];
  if (status === 'closed' && !closed) {
    const isDone = summaryByRound.has(round);
    report('The row is closed, and no event says so.');
    closed = true;
    happen(
      { at: updatedAt < latest ? latest : updatedAt, id: null },
      {
        what: 'closed',
        outcome: isDone ? 'completed' : 'aborted',
        reason: isDone ? null : closedWithoutCompletion,
      },
    );
  } else if (status === 'active' && closed) {
    report('The row is active, but its events closed the session: the events count.');
  } else if (status !== 'active' && status !== 'closed') {
    report(`The status is ${shownValue(status)}: the events count.`);
  }
  const column = kind === 'map' ? 'current_map_run' : 'current_round';
  const rowRound = row[column] ?? null;
  if (rowRound !== null && wholeOf(rowRound) !== round)
    report(`The row has ${column} ${shownValue(rowRound)}, its events lead to ${round}: the events count.`);
  const rowPhase = textOf(row['current_phase']);
  const shownPhase = kind === 'map' && rowPhase === 'context' ? first : rowPhase;
  // A close puts the row into the last phase, whatever was done.
  if (!closed && shownPhase !== null && shownPhase !== phase && shownPhase !== recordedPhase)
    report(`The row stands in ${shownText(shownPhase, 60)}, its events lead to ${phase}: the events count.`);
  return { history, closed };
};

/** The event by which a round of each workflow is complete. */
const completionOf = { review: 'round_completed', map: 'map_completed' } as const;

/** How a problem names an event. */
const eventName = (id: number | null): string => (id === null ? 'an event without an id' : `event ${id}`);

/** Whether a completion was concluded from a file by the original's `reconcile`, after the fact. */
const isReconciled = ({ metadata }: OcrEvent): boolean =>
  metadata['source'] === 'reconciled' || metadata['synthesized_from'] !== undefined;

/** Whether an event says where the session stands. */
const isMove = (event: OcrEvent, completion: string): boolean =>
  event.type === 'session_created' ||
  (event.type === 'session_resumed' && event.metadata['kind'] !== 'forward_resume') ||
  event.type === 'round_started' ||
  event.type === 'phase_transition' ||
  (event.type === completion && !isReconciled(event));

/**
 * Whether a new round was started by `advance`, which records the transition first; `begin`, which opens a session again,
 * records the round alone.
 */
const isPartOfAdvance = (event: OcrEvent, before: OcrEvent | undefined): boolean =>
  before?.type === 'phase_transition' && before.round === event.round && before.phase === event.phase;

/** The round in which what is on record begins. */
const firstRound = ({
  kind,
  row,
  events,
  completion,
  hasMoves,
}: {
  readonly kind: OcrKind;
  readonly row: OcrRow;
  readonly events: readonly OcrEvent[];
  readonly completion: string;
  readonly hasMoves: boolean;
}): number => {
  const ofRow = wholeOf(row[kind === 'map' ? 'current_map_run' : 'current_round']) ?? 1;
  if (!hasMoves) return ofRow;
  const isCreated = events[0]?.type === 'session_created';
  if (kind === 'review') {
    if (isCreated) return events[0]?.round ?? 1;
    return events.find((event) => isMove(event, completion) && (event.round ?? 0) >= 1)?.round ?? 1;
  }
  if (isCreated) return 1;
  return events.find((event) => isMove(event, completion) && event.type === completion)?.round ?? ofRow;
};

/** An event in words, for the journal. */
const describe = ({ type, row, phase, round }: OcrEvent): string => {
  const { metadata } = row;
  const said = typeof metadata === 'string' ? metadata : '';
  return shownText(
    [
      `OCR recorded ${type === '' ? shownValue(row['event_type']) : type}`,
      ...(phase === null ? [] : [`phase ${phase}`]),
      ...(round === null ? [] : [`round ${round}`]),
      ...(said === '' ? [] : [said]),
    ].join(', '),
  );
};

/** Why a session was closed. */
const reasonOf = (event: OcrEvent, isDone: boolean): string | null => {
  const base = baseReasonOf(event.type, isDone);
  const told = textOf(event.metadata['reason']);
  return base === null || told === null ? base : `${base}: ${shownText(told, 200)}`;
};

const baseReasonOf = (type: string, isDone: boolean): string | null => {
  if (type === 'session_aborted') return 'aborted in the original';
  if (type === 'session_auto_closed_stale') return 'closed by the original, because nothing drove it on';
  if (type === 'session_synced') return 'closed by the original when it read the folder';
  if (type === 'session_legacy_import') return 'closed by the original, from before its completions were recorded';
  return isDone ? null : closedWithoutCompletion;
};

const roundCounts = [
  'blocker_count',
  'should_fix_count',
  'suggestion_count',
  'reviewer_count',
  'total_finding_count',
] as const;

/** What a completion says of its round: what is missing stays missing, because a 0 would be an answer. */
const summaryOf = (kind: OcrKind, event: OcrEvent, report: (problem: string) => void): JsonObject => {
  const { metadata } = event;
  const keys = kind === 'map' ? (['section_count', 'file_count'] as const) : roundCounts;
  const counts = keys.flatMap((key): (readonly [string, number])[] => {
    const count = wholeOf(metadata[key]);
    return count === null || count < 0 ? [] : [[key, count]];
  });
  if (counts.length < keys.length) report(`The completion ${eventName(event.id)} does not tell all of its counts.`);
  const verdict = kind === 'review' ? verdictOf(metadata['verdict']) : null;
  if (kind === 'review' && verdict === null) report(`The completion ${eventName(event.id)} tells no verdict.`);
  return { ...(verdict === null ? {} : { verdict }), ...Object.fromEntries(counts) };
};

/** Verdicts that were written before they were a closed list, and what readers of the original take them for. */
const verdictByAlias: Readonly<Record<string, string>> = {
  APPROVED: 'APPROVE',
  LGTM: 'APPROVE',
  APPROVE_WITH_SUGGESTIONS: 'APPROVE',
  ACCEPT_WITH_FOLLOWUPS: 'APPROVE',
  CHANGES_REQUESTED: 'REQUEST CHANGES',
  REQUEST_CHANGES: 'REQUEST CHANGES',
  BLOCK: 'REQUEST CHANGES',
  REJECT: 'REQUEST CHANGES',
  NEEDS_WORK: 'NEEDS DISCUSSION',
  NEEDS_DISCUSSION: 'NEEDS DISCUSSION',
  APPROVE: 'APPROVE',
};

/** A verdict in today's spelling; one that is not known stays as it is. */
const verdictOf = (value: unknown): string | null => {
  const text = textOf(value);
  if (text === null) return null;
  // In capitals no key is that of an object's own prototype.
  const key = text
    .trim()
    .toUpperCase()
    .replaceAll(/[\s_-]+/g, '_');
  return verdictByAlias[key] ?? shownText(text, 60);
};
