import * as v from 'valibot';
import { textAt } from '../../kernel/answer.ts';
import { durationOf, sessionField } from '../../kernel/fields.ts';
import { renewalField } from '../../kernel/lease-rules.ts';
import { orderRenewStep } from '../../kernel/step-orders.ts';
import { defineVerb } from '../../kernel/verb.ts';
import { ok } from '../../lib/result.ts';
import { agentSample } from './samples.ts';
import { resolveOrchestration } from './command.ts';
import { agentField, attemptFields } from './fields.ts';

export const agentProgress = defineVerb({
  name: 'agent progress',
  summary: 'Say how far an agent is, in per cent.',
  details: `The newest value is kept beside the log, since it may come often: no event, no revision. It goes on record, and into the file of the session, with the next thing that happens, or with stint save. It is a sign of life too: the claim is renewed.`,
  examples: ['stint agent progress code-1 60'],
  input: () =>
    v.strictObject({
      agent: agentField,
      percent: v.pipe(
        v.number((issue) => (issue.received === 'undefined' ? 'is missing' : 'expected a whole number')),
        v.integer('expected a whole number'),
        v.minValue(0, 'expected at least 0'),
        v.maxValue(100, 'expected at most 100'),
        v.description('How far it is, from 0 to 100.'),
      ),
      ...attemptFields,
      ttl: renewalField,
      session: sessionField(),
    }),
  positionals: ['agent', 'percent'],
  does: {
    writes: async (world, { agent, percent, attempt, token, ttl, session }) => {
      const row = await resolveOrchestration({ ...world, joins: undefined }, session);
      if (!row.ok) return row;
      const order = await orderRenewStep(world, row.value, {
        step: agent,
        attempt,
        token,
        ttl: ttl === undefined ? undefined : durationOf(ttl),
        command: undefined,
        beside: (running) => [
          { session: row.value.key, sample: agentSample(agent), value: { percent, attempt: running.attempt } },
        ],
      });
      if (!order.ok) return order;
      const { answer } = order.value;
      return ok({ ...order.value, answer: (after, before) => ({ ...answer(after, before), progress: percent }) });
    },
  },
  text: (answer) =>
    `${textAt(answer, 'step')}: ${textAt(answer, 'progress')} %, claimed until ${textAt(answer, 'expires_at')}`,
});
