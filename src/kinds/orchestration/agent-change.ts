import * as v from 'valibot';
import { standingText } from '../../kernel/answer.ts';
import { optionalText, sessionField } from '../../kernel/fields.ts';
import { defineVerb } from '../../kernel/verb.ts';
import { withoutUndefined } from '../../lib/json.ts';
import { orderCommand } from './command.ts';
import { agentField } from './fields.ts';

export const agentCancel = defineVerb({
  name: 'agent cancel',
  summary: 'Give an agent up: what it does counts no more.',
  details: `An agent that is at work is interrupted, and its result is not taken any more. It counts as over, and may be started again. One that has completed is refused (5); cancelling it again changes nothing.`,
  examples: ['stint agent cancel test-2 --reason "covered by test-1"'],
  input: () => v.strictObject({ agent: agentField, reason: optionalText('Why.'), session: sessionField() }),
  positionals: ['agent'],
  does: {
    writes: async (world, { agent, reason, session }) =>
      orderCommand(world, session, withoutUndefined({ type: 'cancel-agent', agent, reason })),
  },
  text: standingText,
});

export const agentPause = defineVerb({
  name: 'agent pause',
  summary: 'Put on record that an agent was told to stop for now.',
  details: `Its attempt and its token stay what they are, and it does not count as at work where the mode limits how many are. stint agent continue puts it to work again; its result is taken in any case. To pause all of it: stint pause.`,
  examples: ['stint agent pause code-1 --reason "until the schema is decided"'],
  input: () => v.strictObject({ agent: agentField, reason: optionalText('Why.'), session: sessionField() }),
  positionals: ['agent'],
  does: {
    writes: async (world, { agent, reason, session }) =>
      orderCommand(world, session, withoutUndefined({ type: 'pause-agent', agent, reason })),
  },
  text: standingText,
});

export const agentContinue = defineVerb({
  name: 'agent continue',
  summary: 'Put a paused agent to work again.',
  details: `Refused (5) where as many agents are at work as the mode allows. An agent that is not paused is left as it is.`,
  examples: ['stint agent continue code-1'],
  input: () => v.strictObject({ agent: agentField, session: sessionField() }),
  positionals: ['agent'],
  does: {
    writes: async (world, { agent, session }) => orderCommand(world, session, { type: 'continue-agent', agent }),
  },
  text: standingText,
});
