import * as v from 'valibot';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import type { RunningStep, Situation } from './kind.ts';
import { claimFromData, type Claim } from './lease.ts';
import { refuseClosed } from './lifecycle.ts';
import { refuse, type Refusal } from './refusal.ts';

/**
 * Steps that are handed out: what a kind keeps of them in its state, and the rules that are the same for each. A step is
 * handed out by a claim; each claim is an attempt. An attempt ends by its result, or it is interrupted; whether it had an
 * effect is not known then, and the step is in doubt, unless doing it twice does no harm.
 */

/** What is known of a step that was handed out at least once. */
export interface StepRecord {
  /** The number of the newest attempt, from 1. */
  readonly attempt: number;
  readonly state: 'running' | 'completed' | 'failed' | 'interrupted';
  readonly token: number;
  /** While it runs: the claim as its event says it. */
  readonly claim: JsonObject | null;
  readonly startedAt: string | null;
  /** Whether an attempt was interrupted and nobody has said what came of it. */
  readonly inDoubt: boolean;
}

/** The steps of a session that were handed out. */
export interface Pool {
  /** The newest token that was handed out. */
  readonly token: number;
  readonly records: Readonly<Record<string, StepRecord>>;
}

/** Before anything was handed out. */
export const emptyPool: Pool = { token: 0, records: {} };

const count = v.pipe(v.number(), v.integer(), v.minValue(1));
const text = v.pipe(v.string(), v.minLength(1));
const fields = v.record(v.string(), v.union([v.string(), v.number()]));
const claimed = {
  step: text,
  attempt: count,
  token: count,
  holder: fields,
  purpose: v.optional(text),
  claimed_at: text,
  expires_at: text,
  sign: v.optional(fields),
};
const ended = { step: text, attempt: count, token: count, result: v.optional(v.record(v.string(), v.any())) };

/** What the kernel, and verbs about steps, ask of a kind that hands out steps. */
export const stepCommands = [
  v.strictObject({ type: v.literal('claim-step'), ...claimed }),
  v.strictObject({ type: v.literal('start-step'), step: text, attempt: count, sign: v.optional(fields) }),
  v.strictObject({ type: v.literal('interrupt-step'), step: text, attempt: count, because: text }),
  v.strictObject({ type: v.literal('end-step'), outcome: v.picklist(['completed', 'failed']), ...ended }),
  v.strictObject({ type: v.literal('settle-step'), step: text, as: v.picklist(['again', 'done']), reason: text }),
] as const;

/** What can happen to a step. */
export const stepEvents = [
  v.strictObject({ type: v.literal('StepClaimed'), ...claimed }),
  v.strictObject({ type: v.literal('StepStarted'), step: text, attempt: count, sign: v.optional(fields) }),
  v.strictObject({
    type: v.literal('StepInterrupted'),
    step: text,
    attempt: count,
    token: count,
    because: text,
    in_doubt: v.boolean(),
  }),
  v.strictObject({ type: v.literal('StepCompleted'), ...ended }),
  v.strictObject({ type: v.literal('StepFailed'), ...ended }),
  v.strictObject({ type: v.literal('StepSettled'), step: text, as: v.picklist(['again', 'done']), reason: text }),
] as const;

/** The versions of their shapes. */
export const stepEventVersions = {
  StepClaimed: 1,
  StepStarted: 1,
  StepInterrupted: 1,
  StepCompleted: 1,
  StepFailed: 1,
  StepSettled: 1,
} as const;

export type StepCommand = v.InferOutput<(typeof stepCommands)[number]>;
export type StepEvent = v.InferOutput<(typeof stepEvents)[number]>;

/** Whether a command or an event of a kind is one about steps. */
export const isStepCommand = (command: { readonly type: string }): command is StepCommand =>
  stepCommands.some(({ entries }) => entries.type.literal === command.type);
export const isStepEvent = (event: { readonly type: string }): event is StepEvent =>
  Object.hasOwn(stepEventVersions, event.type);

/** Whether a step may be handed out, as far as its attempts tell: it does not run, is not done, and not in doubt. */
export const isFree = (pool: Pool, step: string): boolean => {
  const record = pool.records[step];
  return record === undefined || (record.state !== 'running' && record.state !== 'completed' && !record.inDoubt);
};

/** The number of the attempt that the next claim of a step is. */
export const nextAttempt = (pool: Pool, step: string): number => (pool.records[step]?.attempt ?? 0) + 1;

/** The attempts that run. */
export const runningIn = (pool: Pool): readonly RunningStep[] =>
  Object.entries(pool.records).flatMap(([id, { state, attempt, claim }]) => {
    const known = state === 'running' && claim !== null ? claimFromData(claim) : null;
    return known === null ? [] : [{ id, attempt, claim: known }];
  });

/** The steps of which nobody knows what their last attempt has done. */
export const doubtfulIn = (pool: Pool): readonly string[] =>
  Object.entries(pool.records).flatMap(([id, { inDoubt }]) => (inDoubt ? [id] : []));

/** What a kind knows of a step. */
export interface StepFacts {
  /** Whether it may be handed out now, as far as the kind decides that. */
  readonly isReady: boolean;
  /** Whether doing it twice does no harm. */
  readonly isIdempotent: boolean;
}

/** Decides a command about a step; `about` answers nothing for a step that is not there. A closed session hands out none. */
export const decideStep = (
  pool: Pool,
  command: StepCommand,
  { common }: Situation,
  about: (step: string) => StepFacts | undefined,
): Result<readonly StepEvent[], Refusal> => {
  const facts = about(command.step);
  if (facts === undefined)
    return err(refuse('not-found', `There is no step ${command.step}.`, { expected: 'a step', hint: nextIn(common) }));
  const decided = decideKnown(pool, command, facts, nextIn(common));
  const isClosed = common !== undefined && common.status === 'closed';
  return isClosed && decided.ok && decided.value.length > 0 ? err(refuseClosed(common)) : decided;
};

const decideKnown = (
  pool: Pool,
  command: StepCommand,
  facts: StepFacts,
  hint: string,
): Result<readonly StepEvent[], Refusal> => {
  const { step } = command;
  const record = pool.records[step];
  switch (command.type) {
    case 'claim-step': {
      if (record?.state === 'running' && record.token === command.token) return ok([]);
      if (!isFree(pool, step) || !facts.isReady || command.attempt !== nextAttempt(pool, step))
        return err(refuseStep(step, record, 'it is not to be handed out', hint));
      if (command.token <= pool.token) return err(refuse('lease', `The token ${command.token} is not a new one.`));
      const { type: _, ...claim } = command;
      return ok([{ type: 'StepClaimed', ...claim }]);
    }
    case 'start-step': {
      if (record?.state !== 'running' || record.attempt !== command.attempt)
        return err(refuseStep(step, record, `attempt ${command.attempt} does not run`, hint));
      const same =
        command.sign === undefined || JSON.stringify(command.sign) === JSON.stringify(record.claim?.['sign']);
      if (record.startedAt !== null && same) return ok([]);
      const { type: _, ...start } = command;
      return ok([{ type: 'StepStarted', ...start }]);
    }
    case 'interrupt-step': {
      if (record === undefined || record.attempt !== command.attempt || record.state !== 'running') return ok([]);
      const { type: _, ...interruption } = command;
      return ok([{ type: 'StepInterrupted', ...interruption, token: record.token, in_doubt: !facts.isIdempotent }]);
    }
    case 'end-step': {
      const { type: _, outcome, ...end } = command;
      if (record === undefined || record.attempt !== end.attempt || record.token !== end.token)
        return err(refuseAttempt(step, end, record, hint));
      if (record.state === outcome) return ok([]);
      if (record.state !== 'running') return err(refuseAttempt(step, end, record, hint));
      return ok([{ type: outcome === 'completed' ? 'StepCompleted' : 'StepFailed', ...end }]);
    }
    case 'settle-step': {
      if (record?.inDoubt !== true) {
        const isSame = command.as === 'done' && record?.state === 'completed';
        return isSame || (command.as === 'again' && record?.state === 'interrupted')
          ? ok([])
          : err(refuseStep(step, record, 'it is not in doubt', hint));
      }
      const { type: _, ...settled } = command;
      return ok([{ type: 'StepSettled', ...settled }]);
    }
  }
};

/** Folds an event about a step. `at` is when it happened. */
export const evolveStep = (pool: Pool, event: StepEvent, at: string): Pool => {
  const { step } = event;
  const record = pool.records[step];
  const put = (changed: StepRecord, token = pool.token): Pool => ({
    token,
    records: { ...pool.records, [step]: changed },
  });
  if (event.type === 'StepClaimed') {
    const { type: _, step: __, attempt, ...claim } = event;
    const { token } = event;
    const fresh = {
      attempt,
      token,
      claim: claim as JsonObject,
      state: 'running',
      startedAt: null,
      inDoubt: false,
    } as const;
    return put(fresh, Math.max(pool.token, token));
  }
  if (record === undefined) return pool;
  switch (event.type) {
    case 'StepStarted':
      return put({
        ...record,
        startedAt: record.startedAt ?? at,
        claim: event.sign === undefined || record.claim === null ? record.claim : { ...record.claim, sign: event.sign },
      });
    case 'StepInterrupted':
      return put({ ...record, state: 'interrupted', claim: null, inDoubt: event.in_doubt });
    case 'StepCompleted':
      return put({ ...record, state: 'completed', claim: null });
    case 'StepFailed':
      return put({ ...record, state: 'failed', claim: null });
    case 'StepSettled':
      return put({ ...record, state: event.as === 'done' ? 'completed' : record.state, inDoubt: false });
  }
};

const refuseStep = (step: string, record: StepRecord | undefined, why: string, hint: string): Refusal =>
  refuse('illegal-transition', `Nothing is done about the step ${step}: ${why} (${stateText(record)}).`, {
    expected: 'a step that is ready',
    legal: [hint, claimIn(hint)],
    hint,
  });

/** Where the steps of a session are listed, and handed out. */
export const nextIn = (session: { readonly key: string } | undefined): string =>
  session === undefined ? 'stint next' : `stint next --session ${session.key}`;
export const claimIn = (list: string): string => list.replace('stint next', 'stint next --claim');

const stateText = (record: StepRecord | undefined): string =>
  record === undefined
    ? 'it was never handed out'
    : `attempt ${record.attempt} is ${record.inDoubt ? 'in doubt' : record.state}`;

/** A result of an attempt that is not the newest one, or has its result already, is not taken. */
const refuseAttempt = (
  step: string,
  given: { readonly attempt: number; readonly token: number },
  record: StepRecord | undefined,
  hint: string,
): Refusal =>
  refuse(
    'lease',
    `Attempt ${given.attempt} of ${step} with the token ${given.token} does not count any more: ${stateText(record)}.`,
    {
      expected: 'the attempt that runs, with its token',
      legal: [hint, claimIn(hint)],
      hint,
    },
  );

/** Why a caller may not speak for a running attempt: another attempt, another token, or somebody else's. */
export const refuseSpeaker = (
  { key }: { readonly key: string },
  { id, attempt, claim }: RunningStep,
  given: { readonly attempt: number | undefined; readonly token: number | undefined },
  isMine: (claim: Claim) => boolean,
): Refusal | undefined => {
  const hint = nextIn({ key });
  const more = { expected: 'the attempt that runs, with its token', legal: [hint, claimIn(hint)], hint };
  if (given.attempt !== undefined && given.attempt !== attempt)
    return refuse('lease', `Attempt ${given.attempt} of ${id} does not run; attempt ${attempt} does.`, more);
  const isRight = given.token === undefined ? isMine(claim) : given.token === claim.token;
  return isRight
    ? undefined
    : refuse(
        'lease',
        `Attempt ${attempt} of ${id} is held by ${claim.holder.actor} on ${claim.holder.host} since ${claim.claimedAt}.`,
        more,
      );
};
