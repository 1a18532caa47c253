import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KindCommand } from '../../kernel/kind.ts';
import { decideBegin, decideCommand, decideFinish } from '../../kernel/lifecycle.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import {
  absentSession,
  appendEvents,
  isOpened,
  viewOfSession,
  type OpenedSession,
  type Session,
} from '../../kernel/session.ts';
import { empty, mapped } from './examples.ts';
import { kind } from './index.ts';

type Step =
  | 'begin'
  | 'finish'
  | 'abort'
  | { readonly to: string; readonly run?: number }
  | { readonly skip: string }
  | { readonly complete: object; readonly run?: number; readonly final?: boolean };

const decide = (session: Session, step: Step) => {
  if (step === 'begin') return decideBegin(session, { branch: 'main', worktree: 'main' });
  if (step === 'finish' || step === 'abort') return decideFinish(session, { abort: step === 'abort', reason: null });
  if ('skip' in step) return decideCommand(session, { type: 'advance', skip: step.skip, reason: 'why' });
  if ('to' in step) return decideCommand(session, command({ type: 'advance', phase: step.to, round: step.run }));
  const { complete, run, final } = step;
  return decideCommand(
    session,
    command({ type: 'complete', payload: complete, digest: JSON.stringify(complete), round: run, final }),
  );
};

const command = (fields: object): KindCommand => JSON.parse(JSON.stringify(fields));

const phases = ['topology', 'flow-analysis', 'requirements-mapping', 'synthesis'];

/** The steps from the beginning of a run to a phase. */
const walk = (to: string): readonly Step[] => phases.slice(0, phases.indexOf(to) + 1).map((phase) => ({ to: phase }));

const runTwo: Step = { to: 'map-context', run: 2 };

const given = (...steps: readonly Step[]): OpenedSession => {
  let session: Session = absentSession(kind, 'map:a');
  for (const step of steps) {
    const decided = decide(session, step);
    assert.ok(decided.ok, `${JSON.stringify(step)}: ${JSON.stringify(decided)}`);
    const origin = { now: '2026-03-17T10:00:00.000Z', actor: 'ana', place: 'here', cause: 'c' };
    ({ session } = appendEvents(session, decided.value, origin));
  }
  assert.ok(isOpened(session));
  return session;
};

const eventsOf = (session: Session, step: Step): readonly string[] => {
  const decided = decide(session, step);
  assert.ok(decided.ok, JSON.stringify(decided));
  return decided.value.map(({ type, data }) =>
    [type, data['outcome'] ?? data['round'] ?? '', data['phase'] ?? ''].join(' ').trim(),
  );
};

const refusalOf = (session: Session, step: Step): Refusal => {
  const decided = decide(session, step);
  assert.ok(!decided.ok, JSON.stringify(decided));
  return decided.error;
};

const standing = (session: OpenedSession) => {
  const { where, completeness, next } = viewOfSession(session);
  return { ...where, completeness, next: next.kind };
};

/** A first run that was walked through and completed. */
const complete = ['begin', ...walk('synthesis'), { complete: mapped }] as const;

/** Given these steps, this one gives these events. */
const rules: readonly (readonly [string, readonly Step[], Step, readonly string[]])[] = [
  ['a map begins with its context, in run 1', [], 'begin', ['SessionOpened', 'RoundStarted 1 map-context']],
  [
    'requirements are mapped where there are some',
    ['begin', ...walk('flow-analysis')],
    { to: 'requirements-mapping' },
    ['PhaseEntered 1 requirements-mapping'],
  ],
  [
    'requirements that are none are skipped on the record',
    ['begin', ...walk('flow-analysis')],
    { skip: 'requirements-mapping' },
    ['PhaseSkipped 1 requirements-mapping', 'PhaseEntered 1 synthesis'],
  ],
  [
    'a run with mapped requirements is completed from synthesis',
    ['begin', ...walk('synthesis')],
    { complete: mapped },
    ['RoundCompleted 1'],
  ],
  [
    'a run whose requirements were skipped is completed from synthesis',
    ['begin', ...walk('flow-analysis'), { skip: 'requirements-mapping' }],
    { complete: mapped },
    ['RoundCompleted 1'],
  ],
  ['the same map again changes nothing', complete, { complete: mapped }, []],
  [
    'begin of a finished map starts its second run',
    [...complete, 'finish'],
    'begin',
    ['SessionReopened', 'RoundStarted 2 map-context'],
  ],
  ['a second run starts on demand', complete, runTwo, ['RoundStarted 2 map-context']],
  ['begin of an aborted map goes on in its run', ['begin', ...walk('topology'), 'abort'], 'begin', ['SessionReopened']],
];

for (const [rule, steps, step, events] of rules) {
  test(rule, () =>
    assert.deepEqual(eventsOf(steps.length === 0 ? absentSession(kind, 'map:a') : given(...steps), step), events),
  );
}

/** Given these steps, this one is refused with this code. */
const refusals: readonly (readonly [string, readonly Step[], Step, Refusal['code']])[] = [
  ['a phase of a review is none of a map', ['begin'], { to: 'change-context' }, 'illegal-transition'],
  [
    'requirements are not passed over silently',
    ['begin', ...walk('flow-analysis')],
    { to: 'synthesis' },
    'illegal-transition',
  ],
  ['no other phase of a map is skipped', ['begin'], { skip: 'topology' }, 'illegal-transition'],
  ['a map is not completed by advance', ['begin', ...walk('synthesis')], { to: 'complete' }, 'illegal-transition'],
  [
    'a run is not completed before synthesis',
    ['begin', ...walk('requirements-mapping')],
    { complete: mapped },
    'invariant-unmet',
  ],
  ['another map for a completed run is a conflict', complete, { complete: empty }, 'conflict'],
  [
    'another map for the first run is a conflict in the second one too',
    [...complete, runTwo],
    { complete: empty, run: 1 },
    'conflict',
  ],
  [
    'map.md may be required before the run is complete',
    ['begin', ...walk('synthesis')],
    { complete: mapped, final: false },
    'invariant-unmet',
  ],
  [
    'what a review found is no map',
    ['begin', ...walk('synthesis')],
    { complete: { schema_version: 1, verdict: 'APPROVE', reviewers: [] } },
    'invalid-input',
  ],
  [
    'a finished map whose second run was begun is not finished again',
    [...complete, 'finish', 'begin'],
    'finish',
    'invariant-unmet',
  ],
  ['run 3 does not follow run 1', complete, { to: 'map-context', run: 3 }, 'illegal-transition'],
];

for (const [rule, steps, step, code] of refusals) {
  test(rule, () => assert.equal(refusalOf(given(...steps), step).code, code));
}

test('a second run stands at its beginning and is not complete', () => {
  assert.deepEqual(standing(given(...complete, 'finish')), {
    phase: 'complete',
    phase_number: 6,
    round: 1,
    map_run: 1,
    completeness: 'complete',
    next: 'none',
  });
  assert.deepEqual(standing(given(...complete, 'finish', 'begin')), {
    phase: 'map-context',
    phase_number: 1,
    round: 2,
    map_run: 2,
    completeness: 'open_no_artifact',
    next: 'advance',
  });
});

test('runs have the names of the original, and say what was counted and what was skipped', () => {
  const { fields } = viewOfSession(
    given('begin', ...walk('flow-analysis'), { skip: 'requirements-mapping' }, { complete: mapped }),
  );
  assert.equal(fields['current_map_run'], 1);
  assert.equal(fields['map_started_at'], '2026-03-17T10:00:00.000Z');
  assert.deepEqual(fields['rounds'], [
    {
      map_run: 1,
      started_at: '2026-03-17T10:00:00.000Z',
      completed_at: '2026-03-17T10:00:00.000Z',
      section_count: 2,
      file_count: 3,
      skipped: [{ phase: 'requirements-mapping', reason: 'why' }],
    },
  ]);
});

test('what is expected of a map by now lies in the folder of its run, without what was skipped', () => {
  const paths = (...steps: readonly Step[]) => viewOfSession(given(...steps)).evidence.map(({ path }) => path);
  assert.deepEqual(paths(...complete, runTwo, ...walk('requirements-mapping')), [
    'discovered-standards.md',
    'map/runs/run-2/topology.md',
    'map/runs/run-2/flow-analysis.md',
    'map/runs/run-2/requirements-mapping.md',
  ]);
  assert.deepEqual(paths('begin', ...walk('flow-analysis'), { skip: 'requirements-mapping' }), [
    'discovered-standards.md',
    'map/runs/run-1/topology.md',
    'map/runs/run-1/flow-analysis.md',
    'map/runs/run-1/map.md',
  ]);
});

test('a map lies in the folder of the review of its name, and writes map-meta.json of each completed run', () => {
  const session = given(...complete, runTwo, ...walk('synthesis'), { complete: empty });
  assert.equal(kind.folder('a'), '.ocr/sessions/a');
  assert.deepEqual(
    session.folded.mirrors(session.common).map(({ path }) => path),
    ['.ocr/sessions/a/map/runs/run-1/map-meta.json', '.ocr/sessions/a/map/runs/run-2/map-meta.json'],
  );
});
