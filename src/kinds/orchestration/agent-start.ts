import * as v from 'valibot';
import { nextText, textAt } from '../../kernel/answer.ts';
import { optionalCount, optionalName, optionalText, sessionField } from '../../kernel/fields.ts';
import { ttlField, wishOf } from '../../kernel/lease-rules.ts';
import { orderStart } from '../../kernel/step-orders.ts';
import { defineVerb } from '../../kernel/verb.ts';
import { withoutUndefined } from '../../lib/json.ts';
import { agentField } from './fields.ts';
import { resolveOrchestration } from './command.ts';

export const agentStart = defineVerb({
  name: 'agent start',
  summary: 'Start an agent, or start one again that has failed.',
  details: `A new agent says its --type and --task. The answer has the attempt and its token: with both, or as the same caller, its end is recorded. The claim lasts for --ttl and is renewed by agent progress and beat. --pid or --process names who works, so that it is noticed when they are gone. result_path is a file in which an agent may leave its result, in case nobody is there to take it: JSON with token, and output or error.

Refused (5) are an agent that has completed, that is at work, or of which nobody knows what it has done (stint resume); more agents at once than the mode allows, and a start while a checkpoint waits for a decision; an agent that has failed as often as the mode allows, and for 60 seconds one that has failed three times in a row. What may succeed later by itself is retryable.`,
  examples: [
    'stint agent start code-1 --type code --task "Write the parser" --json',
    'stint agent start code-1 --pid 4711 --ttl 1h',
  ],
  input: () =>
    v.strictObject({
      agent: agentField,
      type: optionalName('What sort of agent it is, for example code or test. Needed for a new one.'),
      task: optionalText('What it is to do. Needed for a new one.'),
      tokens: optionalCount('How large its context is, in tokens.', 0),
      vendor_session: optionalName('The conversation of its vendor, by which it can be gone on with.'),
      ttl: ttlField,
      pid: optionalCount('The pid of the program that does the work, on this machine.', 1, 2 ** 31 - 1),
      session: sessionField(),
    }),
  positionals: ['agent'],
  does: {
    writes: async (world, { agent, type, task, session, tokens, vendor_session, ...input }) => {
      const row = await resolveOrchestration(world, session);
      if (!row.ok) return row;
      const wish = await wishOf(world, row.value.key, { ...input, purpose: task });
      if (!wish.ok) return wish;
      return orderStart(world, row.value, wish.value, {
        step: agent,
        prepare: withoutUndefined({ type: 'prepare-agent', agent, agent_type: type, task, now: world.caller.now }),
        facts: withoutUndefined({ tokens, vendor_session }),
      });
    },
  },
  text: (answer) =>
    [
      `${textAt(answer, 'step')}: attempt ${textAt(answer, 'attempt')} is at work, claimed until ${textAt(answer, 'expires_at')} (token ${textAt(answer, 'token')})`,
      ...nextText(answer),
    ].join('\n'),
});
