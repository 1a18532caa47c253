import * as v from 'valibot';
import { fieldLines, objectAt, objectsAt, table, textAt } from '../../kernel/answer.ts';
import { sessionField } from '../../kernel/fields.ts';
import { blockersOf, entryToJson } from '../../kernel/journal.ts';
import { viewOfSession } from '../../kernel/session.ts';
import { defineVerb } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok } from '../../lib/result.ts';
import { statusOf } from './documents.ts';
import { overallOf, sampledOf } from './samples.ts';
import { agentsOf, standingOf, type Agent, type OrchestrationState } from './state.ts';
import { agentToJson, agentWord } from './view.ts';
import { readOrchestration } from './command.ts';

export const report = defineVerb({
  name: 'report',
  summary: 'The whole of an orchestration: agents, work, blockers, decisions, errors, and what they took.',
  details: `For an open one as it stands, for a closed one as it ended. Durations of agents that are at work are those so far; of one in doubt nobody knows it. Of the journal the newest entries are told of, with how many there are: stint journal has all.`,
  examples: ['stint report', 'stint report orchestration:2026-03-17-k3m9x2 --json'],
  input: () => v.strictObject({ session: sessionField() }),
  positionals: ['session'],
  does: {
    reads: async (world, { session }) => {
      const read = await readOrchestration(world, session);
      if (!read.ok) return err({ refusal: read.error });
      const { opened, state, samples } = read.value;
      const { common } = opened;
      const until = common.closedAt ?? world.caller.now;
      const { percent, formula } = overallOf(state, samples);
      const { usage } = sampledOf(state, samples);
      const { recent, counts } = common.journal ?? { recent: {}, counts: {} };
      return ok({
        session: common.key,
        session_id: common.name,
        goal: common.goal,
        mode: state.mode,
        status: statusOf(state, common),
        started_at: common.startedAt,
        closed_at: common.closedAt,
        seconds: secondsBetween(common.startedAt, until),
        progress: percent,
        progress_formula: formula,
        agents: agentsOf(state).map((agent) => ({
          ...agentToJson(state, agent, samples),
          seconds: secondsOf(state, agent, until),
        })),
        counts: { ...state.counts, agents: state.order.length, waves: state.wave.number, ...journalCounts(counts) },
        completed_work: state.completed.map(({ task, outcome, files }) => ({ task, outcome, files: [...files] })),
        pending_tasks: state.todos.map(({ id, text }) => ({ id, text })),
        decisions: (recent.decision ?? []).map(entryToJson),
        errors: state.failures.map(({ agent, attempt, error, class: errorClass, at }) => ({
          agent,
          attempt,
          error,
          class: errorClass,
          at,
        })),
        checkpoints: state.checkpoints.map(({ node, at, why, decision }) => ({
          node,
          at,
          why,
          decision: decision === null ? null : { ...decision },
        })),
        context_usage: usage === null ? null : { estimated_tokens: usage.tokens, percentage: usage.percentage },
        last_compression: state.compression?.at ?? null,
        blockers: blockersOf(common).map((blocker) => ({ ...blocker })),
        missing: [...viewOfSession(opened).missing],
      });
    },
  },
  text: (answer) =>
    [
      fieldLines([
        [textAt(answer, 'session'), textAt(answer, 'status')],
        ['goal', textAt(answer, 'goal')],
        ['mode', textAt(answer, 'mode')],
        ['took', `${textAt(answer, 'seconds')} s`],
        [
          'progress',
          textAt(answer, 'progress') === ''
            ? ''
            : `${textAt(answer, 'progress')} % (${textAt(answer, 'progress_formula')})`,
        ],
        ['context', contextText(objectAt(answer, 'context_usage'))],
      ]),
      table(objectsAt(answer, 'agents').map(agentCells)),
      ...objectsAt(answer, 'completed_work').map(
        (one) => `done: ${textAt(one, 'task')}${textAt(one, 'outcome') === '' ? '' : ` (${textAt(one, 'outcome')})`}`,
      ),
      ...objectsAt(answer, 'pending_tasks').map((one) => `left: ${textAt(one, 'text')}`),
      ...objectsAt(answer, 'blockers').map(
        (one) =>
          `blocked: ${textAt(one, 'reason')}${textAt(one, 'needs') === '' ? '' : ` (needs ${textAt(one, 'needs')})`}`,
      ),
      ...objectsAt(answer, 'decisions').map(
        (one) =>
          `decided: ${textAt(one, 'text')}${textAt(one, 'rationale') === '' ? '' : ` (${textAt(one, 'rationale')})`}`,
      ),
      ...objectsAt(answer, 'errors').map(
        (one) => `failed: ${textAt(one, 'agent')}, attempt ${textAt(one, 'attempt')}: ${textAt(one, 'error')}`,
      ),
    ]
      .filter((line) => line !== '')
      .join('\n'),
});

const journalCounts = (counts: Readonly<Record<string, number>>): JsonObject => ({ journal: { ...counts } });

/** How long an agent has worked, so far where it is at work; null where nobody knows when it stopped. */
const secondsOf = (state: OrchestrationState, agent: Agent, until: string): number | null => {
  const { startedAt, endedAt } = agent;
  const ended = endedAt ?? (standingOf(state, agent) === 'in_progress' ? until : null);
  return startedAt === null || ended === null ? null : secondsBetween(startedAt, ended);
};

const secondsBetween = (from: string, to: string): number =>
  Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));

const contextText = (usage: JsonObject): string =>
  textAt(usage, 'percentage') === ''
    ? ''
    : `${textAt(usage, 'percentage')} % (${textAt(usage, 'estimated_tokens')} tokens)`;

const agentCells = (agent: JsonObject): readonly string[] => [
  textAt(agent, 'id'),
  textAt(agent, 'type'),
  agentWord(agent),
  textAt(agent, 'seconds') === '' ? '' : `${textAt(agent, 'seconds')} s`,
  textAt(agent, 'summary') || textAt(agent, 'error') || textAt(agent, 'task'),
];
