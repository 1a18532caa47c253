import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  closedWithoutCompletion,
  mostRounds,
  ocrPhases,
  readHistory,
  type HistoryItem,
  type OcrSession,
} from './history.ts';
import type { OcrRow } from './row-values.ts';

const id = '2026-03-17-main';

/** A row of `sessions`, as version 14 has it. */
const sessionRow = (change: OcrRow = {}): OcrRow => ({
  id,
  branch: 'main',
  status: 'active',
  workflow_type: 'review',
  current_phase: 'context',
  phase_number: 1,
  current_round: 1,
  current_map_run: 1,
  started_at: '2026-03-17 10:00:00',
  updated_at: '2026-03-17 11:00:00',
  session_dir: `.ocr/sessions/${id}`,
  ...change,
});

const closedRow = (change: OcrRow = {}): OcrRow =>
  sessionRow({ status: 'closed', current_phase: 'complete', phase_number: 8, ...change });

type Told = readonly [type: string, phase?: string | null, round?: unknown, metadata?: unknown];

/** Rows of `orchestration_events`, one a minute, with ids from 1. */
const eventRows = (...told: readonly Told[]): readonly OcrRow[] =>
  told.map(([type, phase = null, round = null, metadata = null], index) => ({
    id: index + 1,
    session_id: id,
    event_type: type,
    phase,
    phase_number: null,
    round,
    metadata: typeof metadata === 'object' && metadata !== null ? JSON.stringify(metadata) : metadata,
    created_at: `2026-03-17 10:${String(index).padStart(2, '0')}:00`,
  }));

const read = (
  session: OcrRow,
  events: readonly OcrRow[] = [],
  executions: readonly OcrRow[] = [],
  version: number | null = 14,
): OcrSession => {
  const [found] = readHistory({ version, sessions: [session], events, executions }).sessions;
  assert.ok(found !== undefined);
  return found;
};

/** The history in few words: what happened, and of which event. */
const told = ({ history }: OcrSession): readonly string[] => history.map(inWords);

const inWords = (item: HistoryItem): string => {
  switch (item.what) {
    case 'round':
      return `round ${item.round}`;
    case 'phase':
      return `phase ${item.phase} in ${item.round}`;
    case 'completed':
      return `completed ${item.round}`;
    case 'closed':
      return item.outcome;
    case 'reopened':
      return 'reopened';
    case 'remark':
      return `remark on ${item.id}`;
  }
};

const isTold = (session: OcrSession, problem: RegExp): void =>
  assert.ok(
    session.problems.some((line) => problem.test(line)),
    session.problems.join('\n'),
  );

const counts = {
  verdict: 'APPROVE',
  blocker_count: 0,
  should_fix_count: 1,
  suggestion_count: 2,
  reviewer_count: 2,
  total_finding_count: 3,
};
const orchestrated = { ...counts, source: 'orchestrator' };

const reviewPhases = ocrPhases.review.slice(1, -1);
/** The events of a review round as version 2 records them, up to its completion. */
const walked = (round: number): readonly Told[] => [
  ...reviewPhases.map((phase): Told => ['phase_transition', phase, round]),
  ['round_completed', 'synthesis', round, orchestrated],
  ['phase_transition', 'complete', round],
];
const toldWalk = (round: number): readonly string[] => [
  ...reviewPhases.map((phase) => `phase ${phase} in ${round}`),
  `completed ${round}`,
];

const mapPhases = ocrPhases.map.slice(1, -1);
const mapCounts = { section_count: 2, file_count: 5 };
/** The events of a map run: none but the completion tells its number. */
const mapped = (run: number): readonly Told[] => [
  ...mapPhases.map((phase): Told => ['phase_transition', phase, 1]),
  ['map_completed', 'synthesis', run, { ...mapCounts, source: 'orchestrator' }],
  ['phase_transition', 'complete', 1],
];
const toldMap = (run: number): readonly string[] => [
  ...mapPhases.map((phase) => `phase ${phase} in ${run}`),
  `completed ${run}`,
];

const created: Told = ['session_created', 'context', 1];
const mapCreated: Told = ['session_created', 'map-context', 1];
const mapRow = (change: OcrRow = {}): OcrRow =>
  sessionRow({ workflow_type: 'map', current_phase: 'map-context', ...change });

// The eras.

test('a finished review of version 2 is told as it happened, without a problem', () => {
  const session = read(closedRow(), eventRows(created, ...walked(1), ['session_closed', 'complete', 1]));
  assert.deepEqual(told(session), ['round 1', ...toldWalk(1), 'completed']);
  assert.deepEqual(session.problems, []);
  assert.deepEqual(
    { ...session, history: session.history.slice(0, 2), processes: [] },
    {
      id,
      kind: 'review',
      branch: 'main',
      status: 'closed',
      startedAt: '2026-03-17T10:00:00.000Z',
      updatedAt: '2026-03-17T11:00:00.000Z',
      lastEventId: 10,
      history: [
        { what: 'round', round: 1, at: '2026-03-17T10:00:00.000Z', id: 1 },
        { what: 'phase', phase: 'change-context', round: 1, at: '2026-03-17T10:01:00.000Z', id: 2 },
      ],
      processes: [],
      problems: [],
    },
  );
  const completed = session.history.find((item) => item.what === 'completed');
  assert.deepEqual(completed, {
    what: 'completed',
    round: 1,
    summary: counts,
    at: '2026-03-17T10:07:00.000Z',
    id: 8,
  });
});

test('a finished map of version 2 is told as it happened, without a problem', () => {
  const session = read(
    mapRow({ status: 'closed', current_phase: 'complete' }),
    eventRows(mapCreated, ...mapped(1), ['session_closed', 'complete', 1]),
  );
  assert.deepEqual(told(session), ['round 1', ...toldMap(1), 'completed']);
  assert.deepEqual(session.problems, []);
  assert.deepEqual(
    session.history.flatMap((item) => (item.what === 'completed' ? [item.summary] : [])),
    [mapCounts],
  );
});

test('an open review of version 1 stands where its events lead, and is not complete', () => {
  const session = read(
    { ...sessionRow({ current_phase: 'reviews', phase_number: 4 }) },
    eventRows(created, ['phase_transition', 'change-context', 1], ['phase_transition', 'reviews', 1]),
    [],
    4,
  );
  assert.deepEqual(told(session), ['round 1', 'phase change-context in 1', 'phase reviews in 1']);
  assert.equal(session.status, 'active');
  assert.deepEqual(session.problems, []);
});

test('a review of version 1 that was closed without a completion is aborted, and its complete phase proves nothing', () => {
  const session = read(
    closedRow(),
    eventRows(
      created,
      ['phase_transition', 'synthesis', 1],
      ['phase_transition', 'complete', 1],
      ['session_closed', 'complete', 1],
    ),
    [],
    5,
  );
  assert.deepEqual(told(session), ['round 1', 'phase synthesis in 1', 'remark on 3', 'aborted']);
  assert.deepEqual(session.history.at(-1), {
    what: 'closed',
    outcome: 'aborted',
    reason: closedWithoutCompletion,
    at: '2026-03-17T10:03:00.000Z',
    id: 4,
  });
  isTold(session, /moved to complete without a completion on record \(event 3\)/);
});

test('a map of version 1, which was created in the first phase of a review, begins as a map', () => {
  const session = read(
    mapRow({ current_phase: 'context' }),
    eventRows(created, ['phase_transition', 'map-context', 1], ['session_resumed', 'context', 1]),
    [],
    6,
  );
  assert.deepEqual(told(session), ['round 1']);
  assert.deepEqual(session.problems, []);
});

test('without any event the row says where a session stands', () => {
  const open = read(sessionRow({ current_phase: 'reviews', current_round: 3 }), [], [], 1);
  assert.deepEqual(told(open), ['round 3', 'phase reviews in 3']);
  isTold(open, /rounds before 3 are not on record/);
  const closed = read(closedRow(), [], [], null);
  assert.deepEqual(told(closed), ['round 1', 'aborted']);
  assert.deepEqual(closed.history.at(-1), {
    what: 'closed',
    outcome: 'aborted',
    reason: closedWithoutCompletion,
    at: '2026-03-17T11:00:00.000Z',
    id: null,
  });
  isTold(closed, /stands in complete without a completion/);
});

test('a row of which almost every column is missing is a session all the same', () => {
  const session = read({ id: 'bare' });
  assert.deepEqual(told(session), ['round 1']);
  assert.equal(session.branch, null);
  isTold(session, /The workflow is nothing: taken for a review/);
  isTold(session, /The status is nothing/);
  isTold(session, /started_at is nothing, which is no time/);
});

test('a row that does not tell its workflow is a map where its phases or its completion are those of one', () => {
  const kinds = [
    read(sessionRow({ workflow_type: null, current_phase: 'topology' })),
    read(sessionRow({ workflow_type: 'tour' }), eventRows(['phase_transition', 'flow-analysis'])),
    read(sessionRow({ workflow_type: null }), eventRows(['map_completed', 'synthesis', 1, mapCounts])),
    read(sessionRow({ workflow_type: null }), eventRows(['phase_transition', 'synthesis'])),
  ].map(({ kind }) => kind);
  assert.deepEqual(kinds, ['map', 'map', 'map', 'review']);
});

test('columns of the fork change nothing', () => {
  const plain = read(closedRow(), eventRows(created, ...walked(1), ['session_closed', 'complete', 1]));
  const forked = read(
    closedRow({ base_ref: 'main', head_sha: 'abc', pr_number: 7, requirements_source_url: null, pr_author: 'ana' }),
    eventRows(created, ...walked(1), ['session_closed', 'complete', 1]).map((row) => ({ ...row, tenant: 1 })),
    [],
    23,
  );
  assert.deepEqual(forked, plain);
});

test('a schema that is newer than all that is known is told, and read all the same', () => {
  const { problems, sessions } = readHistory({ version: 24, sessions: [sessionRow()], events: [], executions: [] });
  assert.match(problems.join('\n'), /schema 24 is newer/);
  assert.equal(sessions.length, 1);
});

// Rounds.

test('a finished review that was begun again is reopened with its next round', () => {
  const session = read(
    closedRow({ current_round: 2 }),
    eventRows(created, ...walked(1), ['session_closed', 'complete', 1], ['round_started', 'context', 2], ...walked(2), [
      'session_closed',
      'complete',
      2,
    ]),
  );
  assert.deepEqual(told(session), [
    'round 1',
    ...toldWalk(1),
    'completed',
    'reopened',
    'round 2',
    ...toldWalk(2),
    'completed',
  ]);
  assert.deepEqual(session.problems, []);
});

test('a round that was started by advance is entered once', () => {
  const session = read(
    sessionRow({ current_round: 2, current_phase: 'analysis' }),
    eventRows(
      created,
      ['phase_transition', 'context', 2],
      ['round_started', 'context', 2],
      ['phase_transition', 'analysis', 2],
      ['phase_transition', 'analysis', 2],
    ),
  );
  assert.deepEqual(told(session), ['round 1', 'round 2', 'phase analysis in 2']);
  assert.deepEqual(session.problems, []);
});

test('an aborted review that was begun again goes on from its first phase', () => {
  const session = read(
    sessionRow(),
    eventRows(
      created,
      ['phase_transition', 'analysis', 1],
      ['session_aborted', null, null, { reason: 'wrong branch' }],
      ['session_resumed', 'context', 1],
    ),
  );
  assert.deepEqual(told(session), ['round 1', 'phase analysis in 1', 'aborted', 'reopened', 'phase context in 1']);
  assert.deepEqual(session.problems, []);
  const closed = session.history.find((item) => item.what === 'closed');
  assert.equal(closed?.reason, 'aborted in the original: wrong branch');
});

test('a gap in the rounds is filled and told', () => {
  const session = read(sessionRow({ current_round: 4 }), eventRows(created, ['phase_transition', 'context', 4]));
  assert.deepEqual(told(session), ['round 1', 'round 2', 'round 3', 'round 4']);
  assert.deepEqual(
    session.history.map((item) => item.id),
    [1, null, null, 2],
  );
  isTold(session, /Round 4 follows 1/);
});

test('rounds that cannot be are remarks: before the current one, below 1, beyond all sense', () => {
  for (const round of [1, 0, -3, mostRounds + 1, Number.MAX_SAFE_INTEGER]) {
    const session = read(
      sessionRow({ current_round: 2 }),
      eventRows(created, ['round_started', 'context', 2], ['phase_transition', 'context', round]),
    );
    assert.deepEqual(told(session), ['round 1', 'round 2', 'remark on 3'], String(round));
    isTold(session, /cannot follow 2/);
  }
});

test('a history whose beginning is lost begins in the round that is on record', () => {
  const session = read(sessionRow({ current_round: 3 }), eventRows(['phase_transition', 'analysis', 3]));
  assert.deepEqual(told(session), ['round 3', 'phase analysis in 3']);
  isTold(session, /rounds before 3 are not on record/);
});

test('a round number that is a text is a number, and one that is none is the current round', () => {
  const session = read(
    sessionRow({ current_round: '2', current_phase: 'reviews' }),
    eventRows(created, ['round_started', 'context', '2'], ['phase_transition', 'reviews', 'two']),
  );
  assert.deepEqual(told(session), ['round 1', 'round 2', 'phase reviews in 2']);
  isTold(session, /round of event 3 is "two"/);
});

test('a map run that was started by advance counts up, though its events do not tell the run', () => {
  const again: Told = ['phase_transition', 'map-context', 1];
  const done = read(mapRow({ current_map_run: 2 }), eventRows(mapCreated, ...mapped(1), again, ...mapped(2)));
  assert.deepEqual(told(done), ['round 1', ...toldMap(1), 'round 2', ...toldMap(2)]);
  const under = read(
    mapRow({ current_map_run: 2, current_phase: 'topology' }),
    eventRows(mapCreated, ...mapped(1), again, ['phase_transition', 'topology', 1]),
  );
  assert.deepEqual(told(under), ['round 1', ...toldMap(1), 'round 2', 'phase topology in 2']);
  assert.deepEqual(under.problems, []);
  const announced = read(mapRow({ current_map_run: 2 }), eventRows(mapCreated, again, ...mapped(1), again));
  assert.deepEqual(told(announced), ['round 1', ...toldMap(1), 'round 2']);
});

test('a finished map that the original began again in its first run has no second one (defect 9.2)', () => {
  const session = read(
    mapRow({ status: 'closed', current_phase: 'complete' }),
    eventRows(
      mapCreated,
      ...mapped(1),
      ['session_closed', 'complete', 1],
      ['session_resumed', 'map-context', 1],
      ['phase_transition', 'map-context', 1],
      ['phase_transition', 'topology', 1],
      ['session_closed', 'complete', 1],
    ),
  );
  assert.deepEqual(told(session), [
    'round 1',
    ...toldMap(1),
    'completed',
    'reopened',
    'remark on 10',
    'remark on 11',
    'completed',
  ]);
  isTold(session, /Run 1 was opened again after it was complete/);
  isTold(session, /Run 1 was walked through again after it was complete/);
});

// Completion.

test('a completion that reconcile made of a file is no proof', () => {
  const session = read(
    closedRow(),
    eventRows(
      created,
      ['session_closed', 'complete', 1],
      ['round_completed', 'synthesis', 1, { source: 'reconciled', synthesized_from: 'rounds/round-1/final.md' }],
    ),
  );
  assert.deepEqual(told(session), ['round 1', 'aborted', 'remark on 3']);
  isTold(session, /completed by reconcile from a file: that is no proof/);
});

test('a close is completed only with the completion of the current round', () => {
  const session = read(
    closedRow({ current_round: 2 }),
    eventRows(created, ...walked(1), ['round_started', 'context', 2], ['session_closed', 'complete', 2]),
  );
  assert.deepEqual(told(session), ['round 1', ...toldWalk(1), 'round 2', 'aborted']);
  isTold(session, /Round 2 has no completion on record/);
});

test('two completions of one round are one, and two closings too (defect 9.1)', () => {
  const session = read(
    closedRow(),
    eventRows(
      created,
      ['phase_transition', 'synthesis', 1],
      ['round_completed', 'synthesis', 1, orchestrated],
      ['round_completed', 'synthesis', 1, orchestrated],
      ['round_completed', 'synthesis', 1, { ...orchestrated, verdict: 'REQUEST CHANGES', blocker_count: 1 }],
      ['session_closed', 'complete', 1],
      ['session_closed', 'complete', 1],
    ),
  );
  assert.deepEqual(told(session), ['round 1', 'phase synthesis in 1', 'completed 1', 'completed']);
  isTold(session, /Round 1 was completed again \(event 4\): the first time counts/);
  isTold(session, /Round 1 was completed again with another result \(event 5\)/);
  isTold(session, /closed again \(session_closed, event 7\)/);
});

test('a review is not completed by a map, nor a map by a review (defect 9.2)', () => {
  const review = read(sessionRow(), eventRows(created, ['map_completed', 'synthesis', 1, mapCounts]));
  assert.deepEqual(told(review), ['round 1', 'remark on 2']);
  isTold(review, /A review cannot be completed by map_completed/);
  const map = read(mapRow(), eventRows(mapCreated, ['round_completed', 'synthesis', 1, orchestrated]));
  assert.deepEqual(told(map), ['round 1', 'remark on 2']);
  isTold(map, /A map cannot be completed by round_completed/);
});

test('a round that was completed from another one is started first; one that was left is not completed later', () => {
  const ahead = read(
    sessionRow({ current_round: 3, current_phase: 'complete' }),
    eventRows(created, ['round_completed', 'synthesis', 3, orchestrated]),
  );
  assert.deepEqual(told(ahead), ['round 1', 'round 2', 'round 3', 'completed 3']);
  isTold(ahead, /Round 3 was completed without having been started/);
  const late = read(
    sessionRow({ current_round: 2 }),
    eventRows(created, ['round_started', 'context', 2], ['round_completed', 'synthesis', 1, orchestrated]),
  );
  assert.deepEqual(told(late), ['round 1', 'round 2', 'remark on 3']);
  isTold(late, /Round 1 was completed while 2 was the current one/);
});

test('what a completion does not tell stays unknown', () => {
  const summaryOf = (metadata: unknown): unknown =>
    read(sessionRow(), eventRows(created, ['round_completed', 'synthesis', 1, metadata])).history.flatMap((item) =>
      item.what === 'completed' ? [item.summary] : [],
    )[0];
  assert.deepEqual(summaryOf('no JSON'), {});
  assert.deepEqual(summaryOf({ verdict: 'lgtm', blocker_count: '0', reviewer_count: -1 }), {
    verdict: 'APPROVE',
    blocker_count: 0,
  });
  for (const [alias, verdict] of [
    ['Changes requested', 'REQUEST CHANGES'],
    ['needs_work', 'NEEDS DISCUSSION'],
    ['constructor', 'constructor'],
  ])
    assert.deepEqual(summaryOf({ verdict: alias }), { verdict });
});

// Closing.

test('what happens to a closed session without its being opened again is a remark (defect 9.3)', () => {
  const session = read(
    closedRow({ current_round: 6 }),
    eventRows(
      created,
      ...walked(1),
      ['session_closed', 'complete', 1],
      ['phase_transition', 'context', 6],
      ['round_started', 'context', 6],
      ['phase_transition', 'analysis', 6],
      ['round_completed', 'synthesis', 6, orchestrated],
    ),
  );
  assert.deepEqual(told(session), [
    'round 1',
    ...toldWalk(1),
    'completed',
    'remark on 11',
    'remark on 12',
    'remark on 13',
    'remark on 14',
  ]);
  assert.equal(session.status, 'closed');
  isTold(session, /moved while it was closed \(event 11\)/);
  isTold(session, /Round 6 was completed while the session was closed/);
  isTold(session, /The row has current_round 6, its events lead to 1/);
});

test('a live session that the dashboard closed is aborted in its round (defect 9.4)', () => {
  const session = read(
    closedRow({ current_round: 2 }),
    eventRows(
      created,
      ...walked(1),
      ['phase_transition', 'context', 2],
      ['round_started', 'context', 2],
      ['phase_transition', 'reviews', 2],
      ['session_synced', null, null, { source: 'filesystem_sync' }],
    ),
  );
  assert.deepEqual(told(session), ['round 1', ...toldWalk(1), 'round 2', 'phase reviews in 2', 'aborted']);
  assert.deepEqual(session.problems, []);
});

test('a folder that was read into the original is closed, and its complete phase proves nothing', () => {
  const session = read(
    closedRow({ current_round: 2 }),
    eventRows(['session_synced', 'complete', null, { source: 'filesystem_backfill' }]),
  );
  assert.deepEqual(told(session), ['round 2', 'aborted']);
  isTold(session, /Round 2 stands in complete without a completion on record/);
});

test('a complete session that was closed because nobody finished it is completed, an aborted one never', () => {
  const ended = (type: string): unknown =>
    read(closedRow(), eventRows(created, ...walked(1), [type])).history.flatMap((item) =>
      item.what === 'closed' ? [item.outcome] : [],
    );
  assert.deepEqual(ended('session_auto_closed_stale'), ['completed']);
  assert.deepEqual(ended('session_legacy_import'), ['completed']);
  assert.deepEqual(ended('session_aborted'), ['aborted']);
});

test('a closed row without a closing event is closed, as completed only with a completion', () => {
  const complete = read(closedRow(), eventRows(created, ...walked(1)));
  assert.deepEqual(told(complete).slice(-2), ['completed 1', 'completed']);
  isTold(complete, /The row is closed, and no event says so/);
  const incomplete = read(closedRow(), eventRows(created));
  assert.deepEqual(told(incomplete), ['round 1', 'aborted']);
});

test('where row and events disagree, the events count', () => {
  const session = read(
    sessionRow({ current_phase: 'discourse', current_round: 5 }),
    eventRows(created, ['phase_transition', 'analysis', 1]),
  );
  assert.deepEqual(told(session), ['round 1', 'phase analysis in 1']);
  isTold(session, /The row has current_round 5, its events lead to 1/);
  isTold(session, /The row stands in discourse, its events lead to analysis/);
  const closed = read(sessionRow(), eventRows(created, ['session_aborted']));
  assert.equal(closed.status, 'closed');
  isTold(closed, /The row is active, but its events closed the session/);
});

test('the phase of a round that version 1 completed without moving it is no disagreement', () => {
  const session = read(
    sessionRow({ current_phase: 'synthesis' }),
    eventRows(created, ['phase_transition', 'synthesis', 1], ['round_completed', 'synthesis', 1, orchestrated]),
  );
  assert.deepEqual(session.problems, []);
});

// Remarks.

test('phases and events that are not known are remarks, with what they said', () => {
  const session = read(
    sessionRow(),
    eventRows(
      created,
      ['phase_transition', 'topology', 1],
      ['round_complete', null, 1, { note: 'a typo\u0007' }],
      ['session_created', 'context', 1],
    ),
  );
  assert.deepEqual(told(session), ['round 1', 'remark on 2', 'remark on 3', 'remark on 4']);
  assert.deepEqual(
    session.history.flatMap((item) => (item.what === 'remark' ? [item.text] : [])),
    [
      'OCR recorded phase_transition, phase topology, round 1',
      String.raw`OCR recorded round_complete, round 1, {"note":"a typo\u0007"}`,
      'OCR recorded session_created, phase context, round 1',
    ],
  );
  isTold(session, /A review has no phase topology \(event 2\)/);
  isTold(session, /The event "round_complete" is not known \(event 3\)/);
  isTold(session, /The session was created again \(event 4\)/);
});

test('a lease to drive a session on is a remark, and opens nothing', () => {
  const lease: Told = ['session_resumed', null, null, { kind: 'forward_resume', round: 1 }];
  const session = read(closedRow(), eventRows(created, lease, ['session_auto_closed_stale', null, null], lease));
  assert.deepEqual(told(session), ['round 1', 'remark on 2', 'aborted', 'remark on 4']);
  assert.deepEqual(session.problems, []);
});

// Times.

test('times without a zone are UTC, whatever the zone of whoever reads', () => {
  const before = process.env['TZ'];
  process.env['TZ'] = 'Asia/Kathmandu';
  try {
    for (const [given, read_] of [
      ['2026-03-17 10:00:00', '2026-03-17T10:00:00.000Z'],
      ['2026-03-17 10:00:00.5', '2026-03-17T10:00:00.500Z'],
      ['2026-03-17T10:00:00', '2026-03-17T10:00:00.000Z'],
      ['2026-03-17T10:00:00.123456Z', '2026-03-17T10:00:00.123Z'],
      ['2026-03-17T10:00:00+05:45', '2026-03-17T04:15:00.000Z'],
      ['2026-03-17T23:30:00-0130', '2026-03-18T01:00:00.000Z'],
      ['2026-03-17', '2026-03-17T00:00:00.000Z'],
    ])
      assert.equal(read(sessionRow({ started_at: given })).startedAt, read_);
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
});

test('rubbish for a time is told, and the nearest known time stands for it', () => {
  for (const rubbish of ['2026-02-30 10:00:00', '2026-03-17 24:00:00', 'yesterday', '', 1_700_000_000, null]) {
    const [first, second, third, ...rest] = eventRows(
      created,
      ['phase_transition', 'change-context', 1],
      ['phase_transition', 'analysis', 1],
    );
    const session = read(sessionRow({ updated_at: rubbish, current_phase: 'analysis' }), [
      first ?? {},
      { ...second, created_at: rubbish },
      third ?? {},
      ...rest,
    ]);
    assert.deepEqual(
      session.history.map(({ at }) => at),
      ['2026-03-17T10:00:00.000Z', '2026-03-17T10:00:00.000Z', '2026-03-17T10:02:00.000Z'],
    );
    assert.equal(session.updatedAt, '2026-03-17T10:02:00.000Z');
    isTold(session, /created_at of an event is .*, which is no time/);
  }
});

test('a clock that went back does not turn the history round', () => {
  const [first, second] = eventRows(created, ['phase_transition', 'change-context', 1]);
  const session = read(sessionRow({ current_phase: 'change-context' }), [
    first ?? {},
    { ...second, created_at: '2026-03-16 10:00:00' },
  ]);
  assert.equal(session.history[1]?.at, '2026-03-17T10:00:00.000Z');
  isTold(session, /The clock went back before event 2/);
});

test('events are taken in the order of their ids, and the last one is known', () => {
  const events = eventRows(created, ['phase_transition', 'change-context', 1], ['phase_transition', 'analysis', 1]);
  const session = read(sessionRow({ current_phase: 'analysis' }), events.toReversed());
  assert.deepEqual(told(session), ['round 1', 'phase change-context in 1', 'phase analysis in 1']);
  assert.equal(session.lastEventId, 3);
});

// What belongs to no session.

test('rows that belong to no session are told, and an id that is no name too', () => {
  const { sessions, problems, unlinkedExecutions } = readHistory({
    version: 14,
    sessions: [{}, sessionRow(), sessionRow(), sessionRow({ id: '../../evil' })],
    events: [...eventRows(created), { session_id: 'gone', event_type: 'session_created' }],
    executions: [
      { id: 1, command: 'ocr progress' },
      { id: 2, uid: 'u', command: 'x', workflow_id: 'gone' },
    ],
  });
  assert.equal(sessions.length, 2);
  assert.match(problems.join('\n'), /without an id was left out/);
  assert.match(problems.join('\n'), /2026-03-17-main is there twice/);
  assert.match(problems.join('\n'), /1 events belong to no session: gone/);
  assert.match(problems.join('\n'), /1 executions belong to no session: gone/);
  assert.equal(unlinkedExecutions, 2);
  isTold(sessions[1] ?? read({ id }), /The id cannot be the name of a session: A name begins with/);
});

// Any rows at all.

/** Folds a history as whoever reads it would, and fails where it cannot be. */
const fold = (session: OcrSession): void => {
  const phases = ocrPhases[session.kind];
  const completed = new Set<number>();
  let round = 0;
  let closed = false;
  let at = '';
  for (const item of session.history) {
    assert.match(item.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(item.at >= at, 'the history goes forwards');
    ({ at } = item);
    if (item.what === 'remark') {
      assert.ok(item.text.isWellFormed() && item.text.length <= 1000 && !/\p{Cc}/u.test(item.text));
      continue;
    }
    if (closed) assert.equal(item.what, 'reopened');
    switch (item.what) {
      case 'round':
        assert.ok(round === 0 ? item.round >= 1 : item.round === round + 1, `${item.round} follows ${round}`);
        assert.ok(item.round <= mostRounds);
        ({ round } = item);
        break;
      case 'phase':
        assert.ok(phases.slice(0, -1).includes(item.phase), item.phase);
        assert.equal(item.round, round);
        assert.ok(!completed.has(round), 'a complete round is not walked again');
        break;
      case 'completed':
        assert.equal(item.round, round);
        assert.ok(!completed.has(round), 'a round is completed once');
        completed.add(round);
        break;
      case 'closed':
        if (item.outcome === 'completed') assert.ok(completed.has(round));
        closed = true;
        break;
      case 'reopened':
        assert.ok(closed);
        closed = false;
    }
  }
  assert.ok(round >= 1);
  assert.equal(session.history[0]?.what, 'round');
  assert.equal(session.status, closed ? 'closed' : 'active');
};

test('any rows at all give histories that can be folded', () => {
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: 'binary' }),
    fc.bigInt(),
    fc.constantFrom(undefined, Number.NaN, new Uint8Array(2)),
  );
  const sometimes = (usual: fc.Arbitrary<unknown>) => fc.oneof({ weight: 9, arbitrary: usual }, anything);
  const ids = fc.constantFrom('a', 'b');
  const time = fc
    .date({ min: new Date('2026-01-01'), max: new Date('2026-01-02'), noInvalidDate: true })
    .map((date) => date.toISOString());
  const phase = fc.constantFrom(...ocrPhases.review, ...ocrPhases.map, null);
  const number = fc.oneof(fc.integer({ min: -1, max: 4 }), fc.constantFrom(null, 1e9, 1.5, '2'));
  const columns = (model: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<OcrRow> =>
    fc.oneof(
      {
        weight: 9,
        arbitrary: fc.record(
          Object.fromEntries(Object.entries(model).map(([name, usual]) => [name, sometimes(usual)])),
          { requiredKeys: [] },
        ),
      },
      fc.dictionary(fc.string(), anything),
    );
  const session = columns({
    id: ids,
    workflow_type: fc.constantFrom('review', 'map'),
    status: fc.constantFrom('active', 'closed'),
    branch: fc.string(),
    current_phase: phase,
    current_round: number,
    current_map_run: number,
    started_at: time,
    updated_at: time,
  });
  const event = columns({
    id: fc.integer({ min: 1, max: 50 }),
    session_id: ids,
    event_type: fc.constantFrom(
      ...['session_created', 'session_resumed', 'round_started', 'phase_transition', 'round_completed'],
      ...['map_completed', 'session_closed', 'session_aborted', 'session_auto_closed_stale', 'session_synced'],
    ),
    phase,
    round: number,
    metadata: fc.constantFrom(null, '{"kind":"forward_resume"}', '{"source":"reconciled"}', JSON.stringify(counts)),
    created_at: time,
  });
  const execution = columns({
    id: fc.integer(),
    uid: fc.string(),
    command: fc.constantFrom('session-instance:a-1', 'x'),
    workflow_id: ids,
    exit_code: number,
    started_at: time,
    finished_at: fc.oneof(time, fc.constant(null)),
    last_heartbeat_at: fc.oneof(time, fc.constant(null)),
  });
  fc.assert(
    fc.property(
      fc.record({
        version: fc.option(fc.integer()),
        sessions: fc.array(session, { maxLength: 3 }),
        events: fc.array(event, { maxLength: 30 }),
        executions: fc.array(execution, { maxLength: 5 }),
      }),
      (tables) => {
        const { sessions } = readHistory(tables);
        for (const found of sessions) {
          fold(found);
          assert.deepEqual(JSON.parse(JSON.stringify(found)), found);
        }
        assert.deepEqual(readHistory(tables).sessions, sessions);
      },
    ),
    { numRuns: 2000 },
  );
});
