import type { Common } from '../../kernel/common.ts';
import type { ReadyStep, Samples, Situation, StepPage, StepWords } from '../../kernel/kind.ts';
import { refuseClosed } from '../../kernel/lifecycle.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { decideStep, isFree, isStepCommand, nextAttempt, recordOf, type StepCommand } from '../../kernel/steps.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { withoutUndefined } from '../../lib/json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { nearest } from '../../lib/nearest.ts';
import type { OrchestrationCommand, OrchestrationEvent } from './events.ts';
import { evolveOrchestration } from './evolve.ts';
import { decideImport } from './taken-over.ts';
import { errorClasses, limits, type ErrorClass, type Usage } from './modes.ts';
import { sampledOf } from './samples.ts';
import {
  agentOf,
  agentsOf,
  atWork,
  awaited,
  isOver,
  nodeOf,
  restOf,
  restsUntil,
  standingOf,
  triesLeft,
  type Agent,
  type OrchestrationState,
} from './state.ts';

type Decided = Result<readonly OrchestrationEvent[], Refusal>;
type CommandOf<Type extends OrchestrationCommand['type']> = Extract<OrchestrationCommand, { readonly type: Type }>;

/**
 * The rules of an orchestration. What was measured last is kept with whatever happens, and the end of a wave follows from the
 * end of an agent.
 */
export const decideOrchestration = (
  state: OrchestrationState,
  command: OrchestrationCommand,
  { common, samples }: Situation,
): Decided => {
  const decided = decideAlone(state, command, common);
  if (!decided.ok) return decided;
  const isSaved = command.type === 'save' || command.type === 'compress' || decided.value.length > 0;
  const sampled = isSaved && common !== undefined ? sampledEvents(state, samples) : [];
  const compressed = command.type === 'compress' ? compress(stateAfter(state, sampled), command.summary) : [];
  const events = [...sampled, ...decided.value, ...compressed];
  return ok([...events, ...endOfWave(state, events)]);
};

const decideAlone = (state: OrchestrationState, command: OrchestrationCommand, common: Common | undefined): Decided => {
  const closed = common?.status === 'closed' && command.type !== 'continue' ? refuseClosed(common) : undefined;
  if (isStepCommand(command)) {
    const agent = agentOf(state, command.step);
    if (agent === undefined) return err(refuseUnknown(state, command.step, common));
    const limit = command.type === 'claim-step' ? refuseStart(state, agent, command.claimed_at, common) : undefined;
    if (limit !== undefined) return err(limit);
    const asked = closed === undefined ? settlementOf(state, command) : command;
    return decideStep(
      state.pool,
      asked,
      { common },
      () => ({ isReady: !isOver(agent), isIdempotent: false }),
      agentWords,
    );
  }
  switch (command.type) {
    case 'begin':
      return ok([
        {
          type: 'OrchestrationBegun',
          mode: command.mode ?? 'default',
          ...(command.project === undefined ? {} : { project: command.project }),
        },
      ]);
    case 'continue':
      return ok(goOn(state));
    case 'import':
      return decideImport(state, command, common);
    case 'save':
    case 'compress':
      return closed === undefined ? ok([]) : err(closed);
    case 'change-mode':
      if (command.mode === state.mode) return ok([]);
      return closed === undefined ? ok([{ type: 'ModeChanged', mode: command.mode }]) : err(closed);
    case 'focus':
      if (command.on === state.focus) return ok([]);
      return closed === undefined ? ok([{ type: 'FocusChanged', on: command.on }]) : err(closed);
    case 'add-todo':
      if (closed !== undefined) return err(closed);
      return state.todos.some(({ text }) => text === command.text)
        ? ok([])
        : ok([{ type: 'TodoAdded', todo: state.lastTodo + 1, text: command.text }]);
    case 'end-todo':
      return endTodo(state, command, common, closed);
    case 'prepare-agent':
      return closed === undefined ? prepare(state, command, common) : err(closed);
    case 'cancel-agent':
    case 'pause-agent':
    case 'continue-agent':
      return changeAgent(state, command, common, closed);
    case 'decide':
      return decide(state, command, common, closed);
  }
};

/** What agents are called where steps are spoken of. */
export const agentWords: StepWords = {
  called: 'agent',
  one: 'an agent',
  lists: ['stint agent list'],
  givesUp: 'stint agent cancel',
};

/** What an agent in doubt has done after all, whoever says so, settles the doubt; an attempt before that one does not. */
const settlementOf = ({ pool }: OrchestrationState, command: StepCommand): StepCommand => {
  if (command.type !== 'end-step' || command.outcome !== 'completed') return command;
  const { step, attempt, token, result, digest } = command;
  const record = recordOf(pool, step);
  const isMeant =
    record?.inDoubt === true &&
    (attempt ?? record.attempt) === record.attempt &&
    (token ?? record.token) === record.token;
  return isMeant
    ? {
        type: 'settle-step',
        step,
        as: 'done',
        reason: 'its result was told afterwards',
        ...withoutUndefined({ result, digest }),
      }
    : command;
};

/** What was measured since something was kept. */
const sampledEvents = (state: OrchestrationState, samples: Samples): readonly OrchestrationEvent[] => {
  const { percents, usage } = sampledOf(state, samples);
  const progress = state.pool.running.flatMap((id) => {
    const percent = percents.get(id);
    return percent === undefined || percent === agentOf(state, id)?.progress ? [] : [{ agent: id, percent }];
  });
  const isUsed = usage !== null && !isSame(usage, state.usage);
  return progress.length === 0 && !isUsed ? [] : [{ type: 'Sampled', progress, usage: isUsed ? usage : null }];
};

const isSame = (a: Usage, b: Usage | null): boolean => a.tokens === b?.tokens && a.percentage === b.percentage;

const compress = ({ usage, compression }: OrchestrationState, summary: string): readonly OrchestrationEvent[] =>
  compression?.summary === summary ? [] : [{ type: 'Compressed', summary, usage }];

/** What a session that was closed unfinished takes up again: the question that was answered with abort. */
const goOn = ({ checkpoints }: OrchestrationState): readonly OrchestrationEvent[] => {
  const last = checkpoints.at(-1);
  return last?.decision?.answer === 'abort' ? [{ type: 'CheckpointAsked', node: last.node }] : [];
};

/** Says who is started next, and on what. */
const prepare = (
  state: OrchestrationState,
  { agent: id, agent_type: type, task, now }: CommandOf<'prepare-agent'>,
  common: Common | undefined,
): Decided => {
  const known = agentOf(state, id);
  if (known === undefined) {
    const missing = [...(type === undefined ? ['--type'] : []), ...(task === undefined ? ['--task'] : [])];
    if (type === undefined || task === undefined)
      return err(
        refuse(
          'usage',
          `agent start: ${id} is a new agent; ${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing.`,
          {
            expected: 'the type and the task of an agent that is started for the first time',
            candidates: nearest(id, state.order),
            hint: `stint agent start ${id} --type TYPE --task TASK${sessionFlag(common)}`,
          },
        ),
      );
    const first = refuseLimits(state, common);
    return first === undefined ? ok([{ type: 'AgentPrepared', agent: id, agent_type: type, task }]) : err(first);
  }
  const limit = refuseStart(state, known, now, common);
  if (limit !== undefined) return err(limit);
  const after = { agent_type: type ?? known.type, task: task ?? known.task };
  const isSaid = after.agent_type === known.type && after.task === known.task && known.ended !== 'cancelled';
  return ok(isSaid ? [] : [{ type: 'AgentPrepared', agent: id, ...after }]);
};

/** Why an agent is not started now; undefined where it may be. */
const refuseStart = (
  state: OrchestrationState,
  agent: Agent,
  now: string,
  common: Common | undefined,
): Refusal | undefined => {
  const { id } = agent;
  const illegal = (why: string, more: Parameters<typeof refuse>[2]): Refusal =>
    refuse('illegal-transition', `The agent ${id} is not started: ${why}.`, more);
  switch (standingOf(state, agent)) {
    case 'complete':
      return illegal(`it has completed at ${agent.endedAt ?? ''}, and what is finished is not done again`, {
        expected: 'an agent that has not completed, or another id',
        legal: [listCommand(common)],
        hint: listCommand(common),
      });
    case 'in_progress':
      return illegal('it is at work', {
        expected: 'an agent that is not at work',
        legal: [
          `stint agent complete ${id} --summary SUMMARY${sessionFlag(common)}`,
          `stint agent fail ${id} --error ERROR${sessionFlag(common)}`,
          `stint resume --take-over${sessionFlag(common)}`,
        ],
        hint: listCommand(common),
      });
    case 'in doubt':
      return illegal('nobody knows what it has done', {
        expected: 'an agent of which somebody has said what it has done',
        legal: [`stint resume --rerun ${id}${sessionFlag(common)}`, `stint resume --done ${id}${sessionFlag(common)}`],
        hint: `stint resume${sessionFlag(common)}`,
      });
    case 'pending':
    case 'failed':
    case 'cancelled':
      break;
  }
  const limit = refuseLimits(state, common);
  if (limit !== undefined) return limit;
  if (triesLeft(state, agent) === 0) {
    const cancel = agent.ended === 'cancelled' ? [] : [`stint agent cancel ${id}${sessionFlag(common)}`];
    const legal = [
      ...cancel,
      ...(limits.debug.retries + 1 > agent.failures ? [`stint mode debug${sessionFlag(common)}`] : []),
    ];
    return illegal(
      `it has failed ${agent.failures} ${agent.failures === 1 ? 'time' : 'times'}, and the mode ${state.mode} starts an agent ${limits[state.mode].retries + 1} times at most`,
      {
        expected: 'an agent with tries left',
        legal: legal.length === 0 ? [listCommand(common)] : legal,
        hint: legal[0] ?? listCommand(common),
      },
    );
  }
  const rests = restsUntil(agent, now);
  return rests === null
    ? undefined
    : illegal(`it has failed ${agent.failuresInARow} times in a row, and is left alone until ${rests}`, {
        retryable: true,
        expected: `a start after ${rests}`,
        legal: [`stint agent cancel ${id}${sessionFlag(common)}`],
        hint: listCommand(common),
      });
};

/** Why nobody is started at all now; undefined where somebody may be. */
const refuseLimits = (state: OrchestrationState, common: Common | undefined): Refusal | undefined => {
  const waiting = awaited(state);
  if (waiting !== undefined)
    return refuse('illegal-transition', `No agent is started: ${waiting.node} waits for a decision.`, {
      expected: 'continue, pause or abort',
      legal: [decideCommand(waiting.node, common)],
      hint: decideCommand(waiting.node, common),
    });
  const most = limits[state.mode].agents;
  const working = atWork(state);
  if (working.length < most) return undefined;
  return refuse(
    'illegal-transition',
    `No agent is started: ${working.length} ${working.length === 1 ? 'is' : 'are'} at work (${working.slice(0, 5).join(', ')}), and the mode ${state.mode} allows ${most} at once.`,
    {
      retryable: true,
      expected: `fewer than ${most} agents at work`,
      legal: [
        listCommand(common),
        ...(limits.optimize.agents > most ? [`stint mode optimize${sessionFlag(common)}`] : []),
      ],
      hint: listCommand(common),
    },
  );
};

const changeAgent = (
  state: OrchestrationState,
  command: CommandOf<'cancel-agent' | 'pause-agent' | 'continue-agent'>,
  common: Common | undefined,
  closed: Refusal | undefined,
): Decided => {
  const { agent: id } = command;
  const agent = agentOf(state, id);
  if (agent === undefined) return err(refuseUnknown(state, id, common));
  const standing = standingOf(state, agent);
  const illegal = (what: string): Decided =>
    err(
      refuse('illegal-transition', `The agent ${id} is not ${what}: it is ${standing.replace('_', ' ')}.`, {
        expected: what === 'cancelled' ? 'an agent that has not completed' : 'an agent that is at work',
        legal: [listCommand(common)],
        hint: listCommand(common),
      }),
    );
  const why = 'reason' in command && command.reason !== undefined ? { reason: command.reason } : {};
  switch (command.type) {
    case 'cancel-agent': {
      if (standing === 'cancelled') return ok([]);
      if (standing === 'complete') return illegal('cancelled');
      if (closed !== undefined) return err(closed);
      const record = recordOf(state.pool, id);
      const cancelled: OrchestrationEvent = { type: 'AgentCancelled', agent: id, ...why };
      if (record?.state !== 'running') return ok([cancelled]);
      const { attempt, token } = record;
      return ok([
        { type: 'StepInterrupted', step: id, attempt, token, because: 'cancelled', in_doubt: false },
        cancelled,
      ]);
    }
    case 'pause-agent':
      if (standing !== 'in_progress') return illegal('paused');
      if (agent.isPaused) return ok([]);
      return closed === undefined ? ok([{ type: 'AgentPaused', agent: id, ...why }]) : err(closed);
    case 'continue-agent': {
      if (standing !== 'in_progress') return illegal('gone on with');
      if (!agent.isPaused) return ok([]);
      if (closed !== undefined) return err(closed);
      const limit = refuseLimits(state, common);
      return limit === undefined ? ok([{ type: 'AgentContinued', agent: id }]) : err(limit);
    }
  }
};

const endTodo = (
  state: OrchestrationState,
  command: CommandOf<'end-todo'>,
  common: Common | undefined,
  closed: Refusal | undefined,
): Decided => {
  const { todo } = command;
  if (state.todos.some(({ id }) => id === todo))
    return closed === undefined ? ok([{ ...command, type: 'TodoEnded' }]) : err(closed);
  // It was there, and is not any more: said again, that changes nothing.
  if (todo <= state.lastTodo) return ok([]);
  return err(
    refuse('not-found', `There is no todo ${todo}.`, {
      expected: 'the number of a todo',
      candidates: state.todos.slice(0, 10).map(({ id, text }) => `${id}: ${text.slice(0, 80)}`),
      hint: `stint status${sessionFlag(common)}`,
    }),
  );
};

const decide = (
  state: OrchestrationState,
  { node, answer, reason }: CommandOf<'decide'>,
  common: Common | undefined,
  closed: Refusal | undefined,
): Decided => {
  const checkpoint = state.checkpoints.findLast((one) => one.node === node);
  const waiting = awaited(state);
  const way = waiting === undefined ? `stint status${sessionFlag(common)}` : decideCommand(waiting.node, common);
  const more = { expected: 'a checkpoint that waits for a decision', legal: [way], hint: way };
  if (checkpoint === undefined)
    return err(
      refuse(
        waiting === undefined && node === nodeOf(state.wave.number) ? 'illegal-transition' : 'not-found',
        `There is no checkpoint ${node} to be decided about.`,
        { ...more, candidates: waiting === undefined ? [] : [waiting.node] },
      ),
    );
  const { decision } = checkpoint;
  if (decision !== null) {
    if (decision.answer === answer && !decision.auto) return ok([]);
    return err(
      refuse(
        'conflict',
        decision.auto
          ? `${node} went on by itself at ${decision.at}.`
          : `${node} was decided at ${decision.at} by ${decision.actor}: ${decision.answer}.`,
        more,
      ),
    );
  }
  if (closed !== undefined) return err(closed);
  const why = reason === undefined ? {} : { reason };
  const said: OrchestrationEvent = { type: 'CheckpointDecided', node, answer, ...why };
  if (answer === 'continue') return ok([said]);
  const because = `at ${node}${reason === undefined ? '' : `: ${reason}`}`;
  return ok([
    said,
    answer === 'abort'
      ? { type: 'SessionClosed', outcome: 'aborted', reason: because }
      : { type: 'SessionPaused', reason: because },
  ]);
};

/** What follows from the end of an agent: that of its wave, where its mode says so, or where somebody has to hear of a failure. */
const endOfWave = (
  before: OrchestrationState,
  events: readonly OrchestrationEvent[],
): readonly OrchestrationEvent[] => {
  const hasEnded = events.some(({ type }) => ends.has(type));
  if (!hasEnded || events.some(({ type }) => type === 'SessionClosed')) return [];
  const state = stateAfter(before, events);
  if (awaited(state) !== undefined) return [];
  const { escalates, checkpoints, goesOn } = limits[state.mode];
  const { number: wave, started, failed } = state.wave;
  if (started === 0) return [];
  const isEscalated = events.some((event) => event.type === 'StepFailed' && isTold(escalates, classOf(event.result)));
  if (isEscalated) return [{ type: 'WaveEnded', wave, why: 'failure', goes_on: false }];
  if (checkpoints === 'agent') return [{ type: 'WaveEnded', wave, why: 'agent', goes_on: false }];
  if (atWork(state).length > 0) return [];
  return [{ type: 'WaveEnded', wave, why: 'wave', goes_on: goesOn && failed.length === 0 }];
};

/** The events by which an agent is not at work any more. */
const ends: ReadonlySet<string> = new Set(['StepCompleted', 'StepFailed', 'StepInterrupted']);

const classOf = (result: JsonObject | undefined): Json | undefined => result?.['class'];

/** Whether somebody is told of a failure at once; of one whose class nobody has said where all are told. */
const isTold = (escalates: readonly ErrorClass[], given: Json | undefined): boolean =>
  escalates.length === errorClasses.length || escalates.some((one) => one === given);

/** Numbers and times are those of nobody: nothing is decided by them. */
const stateAfter = (before: OrchestrationState, events: readonly OrchestrationEvent[]): OrchestrationState =>
  events.reduce((state, event) => evolveOrchestration(state, event, { seq: 0, at: '', actor: '' }), before);

/** The agents that can be started as they were prepared; those that are left alone for a while come last, or not at all at that time. */
export const readyAgents = (
  state: OrchestrationState,
  { limit, after, only, now }: StepPage,
): { readonly steps: readonly ReadyStep[]; readonly total: number } => {
  if (awaited(state) !== undefined) return { steps: [], total: 0 };
  const isReady = (agent: Agent): boolean =>
    (only === undefined || agent.id === only) &&
    !isOver(agent) &&
    isFree(state.pool, agent.id) &&
    triesLeft(state, agent) > 0 &&
    (now === undefined || restsUntil(agent, now) === null);
  const ready = agentsOf(state)
    .filter(isReady)
    .toSorted((a, b) => Number(restOf(a) !== null) - Number(restOf(b) !== null));
  const from = after === undefined ? 0 : ready.findIndex(({ id }) => id === after) + 1;
  const room = Math.max(0, limits[state.mode].agents - atWork(state).length);
  const page = ready.slice(from, from + Math.min(limit, room));
  return { steps: page.map((agent) => stepOf(state, agent)), total: ready.length };
};

const stepOf = ({ pool }: OrchestrationState, { id, type, task }: Agent): ReadyStep => ({
  id,
  type,
  name: task,
  args: task,
  attempt: nextAttempt(pool, id),
});

/** The command with which somebody decides about a checkpoint. */
export const decideCommand = (node: string, session: { readonly key: string } | undefined): string =>
  `stint decide ${node} continue${sessionFlag(session)}`;

/** The command that lists the agents. */
const listCommand = (session: { readonly key: string } | undefined): string =>
  `stint agent list${sessionFlag(session)}`;

const sessionFlag = (session: { readonly key: string } | undefined): string =>
  session === undefined ? '' : ` --session ${session.key}`;

const refuseUnknown = (state: OrchestrationState, id: string, common: Common | undefined): Refusal =>
  refuse('not-found', `There is no agent ${id}.`, {
    expected: 'the id of an agent',
    candidates: nearest(id, state.order),
    legal: [`stint agent start ${id} --type TYPE --task TASK${sessionFlag(common)}`],
    hint: listCommand(common),
  });
