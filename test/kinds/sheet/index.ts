import * as v from 'valibot';
import { resolve } from '../../../src/kernel/address.ts';
import { standingText } from '../../../src/kernel/answer.ts';
import { orderOne, standingOf } from '../../../src/kernel/dispatch.ts';
import { choice, flag, optionalCount, requiredText, sessionField } from '../../../src/kernel/fields.ts';
import { defineKind, type Kind } from '../../../src/kernel/kind.ts';
import { decideCommand } from '../../../src/kernel/lifecycle.ts';
import { orderEndStep } from '../../../src/kernel/step-orders.ts';
import {
  decideStep,
  doubtfulIn,
  emptyPool,
  evolveStep,
  isFree,
  isStepCommand,
  isStepEvent,
  nextAttempt,
  recordOf,
  runningIn,
  stepCommands,
  stepEvents,
  stepEventVersions,
  type Pool,
} from '../../../src/kernel/steps.ts';
import { defineVerb, type Verb } from '../../../src/kernel/verb.ts';
import { ok } from '../../../src/lib/result.ts';

/**
 * A kind that hands out steps, for tests: a sheet of columns that are added up one by one, and of their sum. Adding up a
 * column twice does no harm, but for the first of each ten; the sum is ready when every column is done.
 */
export const defineSheet = (columns: number): Kind => {
  const ids = [...Array.from({ length: columns }, (_, index) => `c-${String(index + 1).padStart(3, '0')}`), 'sum'];
  const isDone = (pool: Pool, id: string): boolean => recordOf(pool, id)?.state === 'completed';
  const isReady = (pool: Pool, id: string): boolean =>
    id !== 'sum' || ids.every((other) => other === 'sum' || isDone(pool, other));
  const freeIn = (pool: Pool): readonly string[] => ids.filter((id) => isFree(pool, id) && isReady(pool, id));
  const shown = { attempt: 1, holder: { actor: 'ana' }, claimed_at: 'then', expires_at: 'later' };

  return defineKind({
    name: 'sheet',
    summary: 'columns that are added up',
    stateVersion: 2,
    commands: v.variant('type', [
      v.strictObject({ type: v.literal('begin') }),
      v.strictObject({ type: v.literal('continue'), after: v.nullable(v.string()) }),
      ...stepCommands,
    ]),
    events: v.variant('type', stepEvents),
    eventVersions: stepEventVersions,
    initial: emptyPool,
    evolve: (pool, event, stored) => (isStepEvent(event) ? evolveStep(pool, event, stored.at) : pool),
    decide: (pool, command, situation) =>
      isStepCommand(command)
        ? decideStep(pool, command, situation, (id) =>
            ids.includes(id) ? { isReady: isReady(pool, id), isIdempotent: !id.endsWith('1') } : undefined,
          )
        : ok([]),
    view: (pool, { key }) => {
      const done = ids.filter((id) => isDone(pool, id)).length;
      const [doubtful] = doubtfulIn(pool);
      const hasFree = freeIn(pool).length > 0;
      return {
        position: `${done} of ${ids.length}`,
        where: { done },
        fields: {},
        remaining: ids.filter((id) => !isDone(pool, id)).slice(0, 20),
        missing: done < ids.length ? [`${ids.length - done} steps are not done`] : [],
        next: hasFree
          ? { kind: 'claim', text: 'Add up a column.', command: `stint next --claim --session ${key}` }
          : doubtful === undefined
            ? { kind: 'wait', text: 'Every step that is ready is at work.', command: `stint next --session ${key}` }
            : {
                kind: 'advance',
                text: `Say what came of ${doubtful}.`,
                command: `stint settle-step ${doubtful} --as again --reason R --session ${key}`,
              },
        evidence: [],
      };
    },
    folder: (name) => `sheets/${name}`,
    mirrors: () => [],
    steps: {
      ready: (pool, { limit, after }) => {
        const free = freeIn(pool);
        const from = after === undefined ? 0 : free.findIndex((id) => ids.indexOf(id) > ids.indexOf(after));
        return {
          steps: (from < 0 ? [] : free.slice(from, from + limit)).map((id) => ({
            id,
            type: id === 'sum' ? 'sum' : 'column',
            name: `add up ${id}`,
            args: { column: ids.indexOf(id) },
            attempt: nextAttempt(pool, id),
          })),
          total: free.length,
        };
      },
      ids: () => ids,
      running: runningIn,
      inDoubt: doubtfulIn,
      token: ({ token }) => token,
    },
    examples: [
      { type: 'begin' },
      { type: 'continue', after: 'completed' },
      // Of the first column, and of the sum after it: tokens only grow.
      ...[ids[0] ?? '', 'sum'].flatMap((step, index) => {
        const token = 7 + 2 * index;
        return [
          { type: 'claim-step', step, ...shown, token },
          { type: 'claim-step', step, ...shown, attempt: 2, token: token + 1 },
          { type: 'start-step', step, attempt: 1 },
          { type: 'interrupt-step', step, attempt: 1, because: 'gone' },
          { type: 'end-step', step, attempt: 1, token, outcome: 'completed' },
          { type: 'end-step', step, attempt: 1, token, outcome: 'failed' },
        ] as const;
      }),
      { type: 'settle-step', step: ids[0] ?? 'sum', as: 'again', reason: 'nothing was written' },
      { type: 'settle-step', step: ids[0] ?? 'sum', as: 'done', reason: 'it is there' },
    ],
  });
};

/** The verbs that only this kind has. */
export const verbs: readonly Verb[] = [
  defineVerb({
    name: 'complete-step',
    summary: 'Record the result of a step.',
    details: 'Needs the attempt and its token.',
    examples: ['stint complete-step c-001 --attempt 1 --token 7'],
    input: () =>
      v.strictObject({
        step: requiredText('The step.'),
        attempt: optionalCount('The attempt.'),
        token: optionalCount('Its token.'),
        failed: flag('It failed.'),
        session: sessionField(),
      }),
    positionals: ['step'],
    does: {
      writes: async (world, { step, attempt, token, failed, session }) => {
        const row = await resolve(world, session, { command: 'end-step' });
        if (!row.ok) return row;
        return orderEndStep(world, row.value, {
          step,
          attempt,
          token,
          outcome: failed === true ? 'failed' : 'completed',
        });
      },
    },
    text: standingText,
  }),
  defineVerb({
    name: 'settle-step',
    summary: 'Say what came of a step that is in doubt.',
    details: 'It is done again, or counts as done.',
    examples: ['stint settle-step c-001 --as again --reason "nothing was written"'],
    input: () =>
      v.strictObject({
        step: requiredText('The step.'),
        as: choice(['again', 'done'], 'What came of it'),
        reason: requiredText('Why.'),
        session: sessionField(),
      }),
    positionals: ['step'],
    does: {
      writes: async (world, { session, ...wish }) => {
        const row = await resolve(world, session, { command: 'settle-step' });
        if (!row.ok) return row;
        return ok(
          orderOne(row.value.key, (found) => decideCommand(found, { type: 'settle-step', ...wish }), standingOf),
        );
      },
    },
    text: standingText,
  }),
];
