import * as v from 'valibot';
import type { JsonObject } from '../lib/canonical-json.ts';
import { emptyMap, put, valueIn, type PersistentMap } from '../lib/persistent-map.ts';
import { withoutUndefined } from '../lib/json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import type { Common } from './common.ts';
import { kernelEvent } from './event.ts';
import { stepWords, type RunningStep, type Situation, type StepWords } from './kind.ts';
import { briefSteps, type BriefSteps } from './kind-brief.ts';
import { claimFromData, type Claim } from './lease.ts';
import { refuseClosed } from './lifecycle.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { OpenedSession } from './session.ts';
import { reopenCommand, resumeCommand } from './view.ts';

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
  /** What was said of it when it started. */
  readonly facts: JsonObject | null;
  /** What tells its result from others, once it has one. */
  readonly digest: string | null;
  /** Whether an attempt was interrupted and nobody has said what came of it. */
  readonly inDoubt: boolean;
}

/** The steps of a session that were handed out. */
export interface Pool {
  /** The newest token that was handed out. */
  readonly token: number;
  readonly records: PersistentMap<StepRecord>;
  /** Those that run, and those that are in doubt: in the order in which that began. */
  readonly running: readonly string[];
  readonly doubtful: readonly string[];
}

/** Before anything was handed out. */
export const emptyPool: Pool = { token: 0, records: emptyMap, running: [], doubtful: [] };

/** What is known of a step; undefined where it was never handed out. */
export const recordOf = ({ records }: Pool, step: string): StepRecord | undefined => valueIn(records, step);

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
const said = v.optional(v.record(v.string(), v.any()));
const result = { result: said, digest: v.optional(text) };
const ended = { step: text, attempt: count, token: count, ...result };

/** What the kernel, and verbs about steps, ask of a kind that hands out steps. */
export const stepCommands = [
  v.strictObject({ type: v.literal('claim-step'), ...claimed }),
  v.strictObject({ type: v.literal('start-step'), step: text, attempt: count, sign: v.optional(fields), facts: said }),
  v.strictObject({ type: v.literal('interrupt-step'), step: text, attempt: count, because: text }),
  v.strictObject({
    type: v.literal('end-step'),
    outcome: v.picklist(['completed', 'failed']),
    step: text,
    /** Without them the one that runs is meant. */
    attempt: v.optional(count),
    token: v.optional(count),
    ...result,
  }),
  v.strictObject({
    type: v.literal('settle-step'),
    step: text,
    as: v.picklist(['again', 'done']),
    reason: text,
    ...result,
  }),
] as const;

/** What can happen to a step. */
export const stepEvents = [
  v.strictObject({ type: v.literal('StepClaimed'), ...claimed }),
  v.strictObject({ type: v.literal('StepStarted'), step: text, attempt: count, sign: v.optional(fields), facts: said }),
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
  v.strictObject({
    type: v.literal('StepSettled'),
    step: text,
    as: v.picklist(['again', 'done']),
    reason: text,
    ...result,
  }),
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
  const record = recordOf(pool, step);
  return record === undefined || (record.state !== 'running' && record.state !== 'completed' && !record.inDoubt);
};

/** The number of the attempt that the next claim of a step is. */
export const nextAttempt = (pool: Pool, step: string): number => (recordOf(pool, step)?.attempt ?? 0) + 1;

/** The attempts that run. */
export const runningIn = (pool: Pool): readonly RunningStep[] =>
  pool.running.flatMap((id) => runningOf(pool, id) ?? []);

/** The attempt of a step that runs; undefined where none does. */
export const runningOf = (pool: Pool, id: string): RunningStep | undefined => {
  const { attempt, claim } = recordOf(pool, id) ?? { attempt: 0, claim: null };
  const known = claim === null ? null : claimFromData(claim);
  return known === null ? undefined : { id, attempt, claim: known };
};

/** The steps of which nobody knows what their last attempt has done. */
export const doubtfulIn = ({ doubtful }: Pool): readonly string[] => doubtful;

/** The same as a brief tells them: what each is, the attempt, and what was said of it when it started. */
export const doubtsOf = (pool: Pool, textOf: (step: string) => string | undefined): BriefSteps => ({
  steps: pool.doubtful.slice(0, briefSteps).map((id) => {
    const { attempt = 1, facts } = recordOf(pool, id) ?? {};
    const known = Object.entries(facts ?? {}).flatMap(([key, value]) =>
      typeof value === 'string' ? [`${key.replaceAll('_', ' ')} ${value}`] : [],
    );
    return { id, text: textOf(id) ?? id, note: [`attempt ${attempt}`, ...known].join(', ') };
  }),
  total: pool.doubtful.length,
});

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
  { common }: Pick<Situation, 'common'>,
  about: (step: string) => StepFacts | undefined,
  words = stepWords,
): Result<readonly StepEvent[], Refusal> => {
  const facts = about(command.step);
  const { called, one } = words;
  if (facts === undefined)
    return err(
      refuse('not-found', `There is no ${called} ${command.step}.`, {
        expected: one,
        hint: goingOn(common, words).hint,
      }),
    );
  const record = recordOf(pool, command.step);
  const decided = decideKnown(pool, command, facts, {
    called,
    one,
    ...goingOn(common, words, standingOf(command, record)),
  });
  const isClosed = common !== undefined && common.status === 'closed';
  if (!isClosed || !decided.ok || decided.value.length === 0) return decided;
  const refusal = refuseClosed(common);
  return err(command.type === 'end-step' ? keepingResult(refusal, command) : refusal);
};

const decideKnown = (
  pool: Pool,
  command: StepCommand,
  facts: StepFacts,
  ways: CalledWays,
): Result<readonly StepEvent[], Refusal> => {
  const { step } = command;
  const record = recordOf(pool, step);
  switch (command.type) {
    case 'claim-step': {
      if (record?.state === 'running' && record.token === command.token) return ok([]);
      if (!isFree(pool, step) || !facts.isReady || command.attempt !== nextAttempt(pool, step))
        return err(refuseStep(step, record, 'it is not to be handed out', ways));
      if (command.token <= pool.token) return err(refuse('lease', `The token ${command.token} is not a new one.`));
      const { type: _, ...claim } = command;
      return ok([{ type: 'StepClaimed', ...claim }]);
    }
    case 'start-step': {
      if (record?.state !== 'running' || record.attempt !== command.attempt)
        return err(refuseStep(step, record, `attempt ${command.attempt} does not run`, ways));
      const same =
        (command.sign === undefined || JSON.stringify(command.sign) === JSON.stringify(record.claim?.['sign'])) &&
        (command.facts === undefined || JSON.stringify(command.facts) === JSON.stringify(record.facts));
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
      const { type: _, outcome, attempt = record?.attempt, token = record?.token, ...end } = command;
      if (record === undefined || record.attempt !== attempt || record.token !== token)
        return err(refuseResult(command, record, ways));
      if (record.state === outcome && record.digest === (end.digest ?? null)) return ok([]);
      if (record.state !== 'running') return err(refuseResult(command, record, ways));
      return ok([{ type: outcome === 'completed' ? 'StepCompleted' : 'StepFailed', attempt, token, ...end }]);
    }
    case 'settle-step': {
      if (record?.inDoubt !== true) {
        const isSame = command.as === 'done' && record?.state === 'completed';
        return isSame || (command.as === 'again' && record?.state === 'interrupted')
          ? ok([])
          : err(refuseStep(step, record, 'it is not in doubt', ways, 'in doubt'));
      }
      const { type: _, ...settled } = command;
      return ok([{ type: 'StepSettled', ...settled }]);
    }
  }
};

/** Folds an event about a step. `at` is when it happened. */
export const evolveStep = (pool: Pool, event: StepEvent, at: string): Pool => {
  const { step } = event;
  const record = recordOf(pool, step);
  const change = (changed: StepRecord, token = pool.token): Pool => ({
    token,
    records: put(pool.records, step, changed),
    running: withStep(pool.running, step, changed.state === 'running'),
    doubtful: withStep(pool.doubtful, step, changed.inDoubt),
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
      facts: null,
      digest: null,
      inDoubt: false,
    } as const;
    return change(fresh, Math.max(pool.token, token));
  }
  if (record === undefined) return pool;
  switch (event.type) {
    case 'StepStarted':
      return change({
        ...record,
        startedAt: record.startedAt ?? at,
        facts: event.facts ?? record.facts,
        claim: event.sign === undefined || record.claim === null ? record.claim : { ...record.claim, sign: event.sign },
      });
    case 'StepInterrupted':
      return change({ ...record, state: 'interrupted', claim: null, inDoubt: event.in_doubt });
    case 'StepCompleted':
      return change({ ...record, state: 'completed', claim: null, digest: event.digest ?? null });
    case 'StepFailed':
      return change({ ...record, state: 'failed', claim: null, digest: event.digest ?? null });
    case 'StepSettled':
      return change({
        ...record,
        state: event.as === 'done' ? 'completed' : record.state,
        digest: event.digest ?? record.digest,
        inDoubt: false,
      });
  }
};

/** What came of a step is no question any more: it is left out. */
export const forgetDoubt = (pool: Pool, step: string): Pool => {
  const record = recordOf(pool, step);
  if (record?.inDoubt !== true) return pool;
  return {
    ...pool,
    records: put(pool.records, step, { ...record, inDoubt: false }),
    doubtful: withStep(pool.doubtful, step, false),
  };
};

const withStep = (steps: readonly string[], step: string, isThere: boolean): readonly string[] =>
  steps.includes(step) === isThere ? steps : isThere ? [...steps, step] : steps.filter((one) => one !== step);

const refuseStep = (
  step: string,
  record: StepRecord | undefined,
  why: string,
  { called, one, ...ways }: CalledWays,
  wanted = 'that is ready',
): Refusal =>
  refuse('illegal-transition', `Nothing is done about the ${called} ${step}: ${why} (${stateText(record)}).`, {
    expected: `${one} ${wanted}`,
    ...ways,
  });

/** Commands that work: the first of them is the one to try. */
interface WaysOn {
  readonly legal: readonly string[];
  readonly hint: string;
}

/** The same, with what a step is called. */
type CalledWays = WaysOn & Pick<StepWords, 'called' | 'one'>;

/** How it stands with a step that something is said of, as far as that opens other ways on. */
interface StandingStep {
  readonly id: string;
  readonly isRunning: boolean;
  readonly isDoubtful: boolean;
}

const standingOf = ({ step }: StepCommand, record: StepRecord | undefined): StandingStep => ({
  id: step,
  isRunning: record?.state === 'running',
  isDoubtful: record?.inDoubt === true,
});

/**
 * How a session goes on: where nothing is handed out of it, first with what has that changed; of a step that runs or is in
 * doubt, also with what can be said of that one.
 */
export const goingOn = (common: Common | undefined, words = stepWords, step?: StandingStep): WaysOn => {
  const flag = sessionFlag(common);
  const { lists, givesUp } = words;
  const giveUp = givesUp === undefined || step === undefined ? [] : [`${givesUp} ${step.id}`];
  const settle =
    step?.isDoubtful === true ? [`stint resume --done ${step.id}`, `stint resume --rerun ${step.id}`, ...giveUp] : [];
  const open = settle.length > 0 ? settle : [...lists, ...(step?.isRunning === true ? giveUp : [])];
  const legal =
    common?.status === 'closed'
      ? [reopenCommand(common)]
      : common !== undefined && common.pause !== null
        ? [resumeCommand(common)]
        : open.map((command) => `${command}${flag}`);
  return { legal, hint: legal[0] ?? nextIn(common) };
};

/** Where the steps of a session are listed, and handed out. */
export const nextIn = (session: { readonly key: string } | undefined): string => `stint next${sessionFlag(session)}`;

const sessionFlag = (session: { readonly key: string } | undefined): string =>
  session === undefined ? '' : ` --session ${session.key}`;

const stateText = (record: StepRecord | undefined): string =>
  record === undefined
    ? 'it was never handed out'
    : `attempt ${record.attempt} is ${record.inDoubt ? 'in doubt' : record.state}`;

/** A result of an attempt that is not the newest one, or has its result already, is kept and not taken. */
const refuseResult = (
  given: Extract<StepCommand, { readonly type: 'end-step' }>,
  record: StepRecord | undefined,
  { called, one, ...more }: CalledWays,
): Refusal => {
  const { step, attempt, token } = given;
  const refusal =
    attempt === undefined && token === undefined
      ? refuse('illegal-transition', `The ${called} ${step} is not running: ${stateText(record)}.`, {
          expected: `${one} that was handed out`,
          ...more,
        })
      : refuse(
          'lease',
          `${attempt === undefined ? 'What was handed out' : `Attempt ${attempt}`} of ${step}${token === undefined ? '' : ` with the token ${token}`} does not count any more: ${stateText(record)}.`,
          { expected: 'the attempt that runs, with its token', ...more },
        );
  return keepingResult(refusal, given);
};

/** A refusal of a result that puts it on record: what somebody has done is never lost, and never applied. */
export const keepingResult = (
  refusal: Refusal,
  given: Extract<StepCommand, { readonly type: 'end-step' }>,
): Refusal => {
  const { type: _, ...rest } = given;
  return {
    ...refusal,
    record: [kernelEvent('ResultRefused', withoutUndefined({ ...rest, because: refusal.message }))],
  };
};

/** Why a caller may not speak for a running attempt: another attempt, another token, or somebody else's. */
export const refuseSpeaker = (
  { common, folded }: Pick<OpenedSession, 'common' | 'folded'>,
  { id, attempt, claim }: RunningStep,
  given: { readonly attempt: number | undefined; readonly token: number | undefined },
  isMine: (claim: Claim) => boolean,
): Refusal | undefined => {
  const more = {
    expected: 'the attempt that runs, with its token: --token TOKEN',
    ...goingOn(common, folded.steps?.words, { id, isRunning: true, isDoubtful: false }),
  };
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
