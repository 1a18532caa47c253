import * as v from 'valibot';
import { nextText, objectsAt, table, textAt } from '../../kernel/answer.ts';
import { choice, sessionField } from '../../kernel/fields.ts';
import { nextActionOf, surroundingsOf } from '../../kernel/query.ts';
import { viewOfSession } from '../../kernel/session.ts';
import { defineVerb } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok } from '../../lib/result.ts';
import { agentsOf, circuitOf, restsUntil, standingOf } from './state.ts';
import { agentToJson, agentWord } from './view.ts';
import { readOrchestration } from './command.ts';

const standings = ['pending', 'in_progress', 'in_doubt', 'complete', 'failed', 'cancelled'] as const;

export const agentList = defineVerb({
  name: 'agent list',
  summary: 'All agents, with how it stands with each.',
  details: `In the order in which they came: attempt, progress, what came of it, how often it may still be started, and its circuit: open while it is left alone after three failures in a row, half-open when it may be tried once.`,
  examples: ['stint agent list', 'stint agent list --status failed --json'],
  input: () =>
    v.strictObject({
      status: v.optional(choice(standings, 'Only those of which it stands so')),
      session: sessionField(),
    }),
  positionals: ['session'],
  does: {
    reads: async (world, { status, session }) => {
      const read = await readOrchestration(world, session);
      if (!read.ok) return err({ refusal: read.error });
      const { row, opened, state, samples } = read.value;
      const { now } = world.caller;
      const view = viewOfSession(opened);
      const all = agentsOf(state);
      const wanted = all.filter(
        (agent) => status === undefined || standingOf(state, agent).replace(' ', '_') === status,
      );
      return ok({
        session: row.key,
        session_id: row.name,
        mode: state.mode,
        agents: wanted.map((agent) => ({
          ...agentToJson(state, agent, samples),
          circuit: circuitOf(agent, now),
          rests_until: restsUntil(agent, now),
        })),
        total: all.length,
        next_action: { ...nextActionOf({ row, view }, await surroundingsOf(world, { row, view }), world) },
      });
    },
  },
  text: (answer) =>
    [
      table(objectsAt(answer, 'agents').map(agentCells)) || `${textAt(answer, 'session')}: no agents`,
      ...nextText(answer),
    ].join('\n'),
});

const agentCells = (agent: JsonObject): readonly string[] => [
  textAt(agent, 'id'),
  textAt(agent, 'type'),
  agentWord(agent),
  textAt(agent, 'progress') === '' ? '' : `${textAt(agent, 'progress')} %`,
  textAt(agent, 'attempt') === '0' ? '' : `attempt ${textAt(agent, 'attempt')}`,
  textAt(agent, 'summary') || textAt(agent, 'error') || textAt(agent, 'task'),
];
