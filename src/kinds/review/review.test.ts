import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
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
import type { JsonObject } from '../../lib/canonical-json.ts';
import { payloads } from './examples.ts';
import { kind } from './index.ts';

const { approval, changesRequested } = payloads();

type Step =
  | 'begin'
  | 'finish'
  | 'abort'
  | { readonly to: string; readonly round?: number }
  | { readonly skip: string; readonly to?: string }
  | { readonly complete: object; readonly round?: number; readonly final?: boolean };

const decide = (session: Session, step: Step) => {
  if (step === 'begin') return decideBegin(session, { branch: 'main', worktree: 'main' });
  if (step === 'finish' || step === 'abort') return decideFinish(session, { abort: step === 'abort', reason: null });
  if ('complete' in step) {
    const { complete, ...more } = step;
    return decideCommand(
      session,
      command({ type: 'complete', payload: complete, digest: JSON.stringify(complete), ...more }),
    );
  }
  if ('skip' in step)
    return decideCommand(session, command({ type: 'advance', skip: step.skip, phase: step.to, reason: 'why' }));
  return decideCommand(session, command({ type: 'advance', phase: step.to, round: step.round }));
};

const command = (fields: object): KindCommand => JSON.parse(JSON.stringify(fields));

const phases = ['change-context', 'analysis', 'reviews', 'aggregation', 'discourse', 'synthesis'];

/** The steps from the beginning of a round to a phase. */
const walk = (to: string): readonly Step[] => phases.slice(0, phases.indexOf(to) + 1).map((phase) => ({ to: phase }));

const roundTwo: Step = { to: 'context', round: 2 };

const given = (...steps: readonly Step[]): Session => {
  let session: Session = absentSession(kind, 'review:a');
  for (const step of steps) {
    const decided = decide(session, step);
    assert.ok(decided.ok, `${JSON.stringify(step)}: ${JSON.stringify(decided)}`);
    const origin = { now: '2026-03-17T10:00:00.000Z', actor: 'ana', place: 'here', cause: 'c' };
    ({ session } = appendEvents(session, decided.value, origin));
  }
  return session;
};

const eventsOf = (session: Session, step: Step): readonly string[] => {
  const decided = decide(session, step);
  assert.ok(decided.ok, JSON.stringify(decided));
  return decided.value.map(({ type, data }) =>
    [type, data['phase'] ?? data['outcome'] ?? data['round'] ?? ''].join(' ').trim(),
  );
};

const refusalOf = (session: Session, step: Step): Refusal => {
  const decided = decide(session, step);
  assert.ok(!decided.ok, JSON.stringify(decided));
  return decided.error;
};

const opened = (session: Session): OpenedSession => {
  assert.ok(isOpened(session));
  return session;
};

const standing = (session: Session) => {
  const { where, completeness, next, missing } = viewOfSession(opened(session));
  return { ...where, completeness, next: next.kind, missing: missing.length };
};

/** Given these steps, this one gives these events. */
const rules: readonly (readonly [string, readonly Step[], Step, readonly string[]])[] = [
  ['begin opens the session in the first phase of round 1', [], 'begin', ['SessionOpened', 'RoundStarted context']],
  ['begin of an open session changes nothing', ['begin', ...walk('reviews')], 'begin', []],
  ['the next phase is entered', ['begin'], { to: 'change-context' }, ['PhaseEntered change-context']],
  ['the same phase again changes nothing', ['begin', ...walk('reviews')], { to: 'reviews' }, []],
  [
    'discourse is skipped on the record',
    ['begin', ...walk('aggregation')],
    { skip: 'discourse' },
    ['PhaseSkipped discourse', 'PhaseEntered synthesis'],
  ],
  [
    'the same skip again changes nothing',
    ['begin', ...walk('aggregation'), { skip: 'discourse' }],
    { skip: 'discourse' },
    [],
  ],
  [
    'a round is completed from synthesis',
    ['begin', ...walk('synthesis')],
    { complete: approval },
    ['RoundCompleted 1'],
  ],
  [
    'the same payload again changes nothing',
    ['begin', ...walk('synthesis'), { complete: approval }],
    { complete: approval },
    [],
  ],
  [
    'the same payload changes nothing in a later round',
    ['begin', ...walk('synthesis'), { complete: approval }, roundTwo],
    { complete: approval, round: 1 },
    [],
  ],
  [
    'the same payload changes nothing once the session is closed',
    ['begin', ...walk('synthesis'), { complete: approval }, 'finish'],
    { complete: approval },
    [],
  ],
  [
    'a complete session is finished',
    ['begin', ...walk('synthesis'), { complete: approval }],
    'finish',
    ['SessionClosed completed'],
  ],
  ['finishing again changes nothing', ['begin', ...walk('synthesis'), { complete: approval }, 'finish'], 'finish', []],
  ['any open session may be aborted', ['begin'], 'abort', ['SessionClosed aborted']],
  ['aborting again changes nothing', ['begin', 'abort'], 'abort', []],
  [
    'begin of a completed session starts its next round',
    ['begin', ...walk('synthesis'), { complete: approval }, 'finish'],
    'begin',
    ['SessionReopened', 'RoundStarted context'],
  ],
  [
    'begin of an aborted session goes on where it was left',
    ['begin', ...walk('reviews'), 'abort'],
    'begin',
    ['SessionReopened'],
  ],
  [
    'the next round starts on demand',
    ['begin', ...walk('synthesis'), { complete: approval }],
    roundTwo,
    ['RoundStarted context'],
  ],
  ['the next round may leave an incomplete one', ['begin', ...walk('reviews')], roundTwo, ['RoundStarted context']],
];

for (const [rule, steps, step, events] of rules) {
  test(rule, () => assert.deepEqual(eventsOf(given(...steps), step), events));
}

/** Given these steps, this one is refused with this code. */
const refusals: readonly (readonly [string, readonly Step[], Step, Refusal['code']])[] = [
  ['a phase is not jumped over', ['begin'], { to: 'reviews' }, 'illegal-transition'],
  ['a phase is not gone back to', ['begin', ...walk('reviews')], { to: 'analysis' }, 'illegal-transition'],
  ['a phase that is none is not entered', ['begin'], { to: 'topology' }, 'illegal-transition'],
  [
    'complete is not reached by advance, not even from synthesis',
    ['begin', ...walk('synthesis')],
    { to: 'complete' },
    'illegal-transition',
  ],
  ['a phase that may not be skipped is not skipped', ['begin'], { skip: 'change-context' }, 'illegal-transition'],
  ['a phase is not skipped from afar', ['begin'], { skip: 'discourse' }, 'illegal-transition'],
  [
    'a skip enters the phase behind it and no other',
    ['begin', ...walk('aggregation')],
    { skip: 'discourse', to: 'discourse' },
    'illegal-transition',
  ],
  [
    'a phase that was walked through was not skipped',
    ['begin', ...walk('synthesis')],
    { skip: 'discourse' },
    'illegal-transition',
  ],
  ['round 0 is none', ['begin'], { to: 'context', round: 0 }, 'illegal-transition'],
  ['a round is not jumped over', ['begin'], { to: 'context', round: 3 }, 'illegal-transition'],
  ['a round begins with its first phase', ['begin'], { to: 'analysis', round: 2 }, 'illegal-transition'],
  [
    'a complete round is not walked again',
    ['begin', ...walk('synthesis'), { complete: approval }],
    { to: 'context' },
    'illegal-transition',
  ],
  [
    'a round is not completed before synthesis',
    ['begin', ...walk('discourse')],
    { complete: approval },
    'invariant-unmet',
  ],
  [
    'another payload for a completed round is a conflict',
    ['begin', ...walk('synthesis'), { complete: approval }],
    { complete: changesRequested },
    'conflict',
  ],
  [
    'a round that was left is not completed later',
    ['begin', ...walk('synthesis'), roundTwo],
    { complete: approval, round: 1 },
    'illegal-transition',
  ],
  [
    'a round that has not begun is not completed',
    ['begin', ...walk('synthesis')],
    { complete: approval, round: 2 },
    'illegal-transition',
  ],
  [
    'the final document may be required',
    ['begin', ...walk('synthesis')],
    { complete: approval, final: false },
    'invariant-unmet',
  ],
  [
    'a payload that breaks its schema is refused',
    ['begin', ...walk('synthesis')],
    { complete: { verdict: 'LGTM' } },
    'invalid-input',
  ],
  ['an incomplete session is not finished', ['begin', ...walk('synthesis')], 'finish', 'invariant-unmet'],
  [
    'a session whose new round is incomplete is not finished',
    ['begin', ...walk('synthesis'), { complete: approval }, roundTwo],
    'finish',
    'invariant-unmet',
  ],
  ['an aborted session is not finished', ['begin', 'abort'], 'finish', 'illegal-transition'],
  [
    'a finished session is not aborted',
    ['begin', ...walk('synthesis'), { complete: approval }, 'finish'],
    'abort',
    'illegal-transition',
  ],
  ['a closed session is not advanced', ['begin', 'abort'], { to: 'change-context' }, 'illegal-transition'],
  [
    'a closed session starts no round by advance',
    ['begin', ...walk('synthesis'), { complete: approval }, 'finish'],
    roundTwo,
    'illegal-transition',
  ],
  [
    'a closed session is not completed',
    ['begin', ...walk('synthesis'), 'abort'],
    { complete: approval },
    'illegal-transition',
  ],
  ['what was never begun is not advanced', [], { to: 'change-context' }, 'not-found'],
];

for (const [rule, steps, step, code] of refusals) {
  test(rule, () => assert.equal(refusalOf(given(...steps), step).code, code));
}

test('an illegal move is refused with the legal ones, as commands', () => {
  assert.deepEqual(refusalOf(given('begin', ...walk('aggregation')), { to: 'synthesis' }).legal, [
    'stint advance discourse --session review:a',
    'stint advance --skip discourse --reason R --session review:a',
    'stint advance context --round 2 --session review:a',
  ]);
});

test('completeness and next action follow the session', () => {
  const at = (phase: string, number: number, round: number) => ({ phase, phase_number: number, round });
  const left = { completeness: 'open_no_artifact', missing: 1 };
  assert.deepEqual(standing(given('begin')), { ...at('context', 1, 1), ...left, next: 'advance' });
  assert.deepEqual(standing(given('begin', ...walk('synthesis'))), {
    ...at('synthesis', 7, 1),
    ...left,
    next: 'complete',
  });
  const complete = ['begin', ...walk('synthesis'), { complete: approval }] as const;
  assert.deepEqual(standing(given(...complete)), {
    ...at('complete', 8, 1),
    completeness: 'open_with_artifact',
    missing: 0,
    next: 'finish',
  });
  assert.deepEqual(standing(given(...complete, 'finish')), {
    ...at('complete', 8, 1),
    completeness: 'complete',
    missing: 0,
    next: 'none',
  });
  assert.deepEqual(standing(given(...complete, 'finish', 'begin')), {
    ...at('context', 1, 2),
    ...left,
    next: 'advance',
  });
  assert.deepEqual(standing(given('begin', 'abort')), {
    ...at('context', 1, 1),
    completeness: 'closed_without_artifact',
    missing: 1,
    next: 'reopen',
  });
});

test('a round that was left incomplete never looks complete, and stays on the record', () => {
  const view = viewOfSession(opened(given('begin', ...walk('reviews'), roundTwo)));
  assert.deepEqual(
    (view.fields['rounds'] as readonly JsonObject[]).map((round) => [round['round'], round['completed_at']]),
    [
      [1, null],
      [2, null],
    ],
  );
});

test('what is expected by now grows with the phases, without what was skipped', () => {
  const paths = (...steps: readonly Step[]) => viewOfSession(opened(given(...steps))).evidence.map(({ path }) => path);
  assert.deepEqual(paths('begin'), ['discovered-standards.md']);
  assert.deepEqual(paths('begin', ...walk('aggregation'), { skip: 'discourse' }), [
    'discovered-standards.md',
    'context.md',
    'rounds/round-1/reviews',
    'rounds/round-1/final.md',
  ]);
});

test('no walk leads to a finished session whose current round was not completed', () => {
  const step = fc.constantFrom<Step>(
    'begin',
    'finish',
    'abort',
    roundTwo,
    { skip: 'discourse' },
    { complete: approval },
    { complete: changesRequested },
    ...phases.map((phase) => ({ to: phase })),
    { to: 'complete' },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let session: Session = absentSession(kind, 'review:a');
      let completed = 0;
      let round = 0;
      for (const one of steps) {
        const decided = decide(session, one);
        if (!decided.ok) continue;
        for (const { type, data } of decided.value) {
          if (type === 'RoundStarted') round = Number(data['round']);
          if (type === 'RoundCompleted') completed = Number(data['round']);
          if (type === 'SessionClosed' && data['outcome'] === 'completed') assert.equal(completed, round);
        }
        const origin = { now: '2026-03-17T10:00:00.000Z', actor: 'ana', place: 'here', cause: 'c' };
        ({ session } = appendEvents(session, decided.value, origin));
      }
    }),
  );
});
