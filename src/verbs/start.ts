import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { textAt } from '../kernel/answer.ts';
import { durationOf, optionalCount, optionalName, requiredName, sessionField } from '../kernel/fields.ts';
import { signToData, renewalField, wishOf } from '../kernel/lease-rules.ts';
import { refuse } from '../kernel/refusal.ts';
import { orderRenewStep, runningTask } from '../kernel/step-orders.ts';
import { defineVerb } from '../kernel/verb.ts';
import { withoutUndefined } from '../lib/json.ts';
import { err } from '../lib/result.ts';

export const start = defineVerb({
  name: 'start',
  summary: 'Say that the work on a claimed step begins.',
  details: `Renews its claim, and puts on record what is known of whoever does it: --pid or --process, so that it is noticed when they are gone, --cli-task-id, by which stint complete finds the step, and --child-session. Saying it again renews the claim and nothing else. Only whoever claimed the step may say it: by its --token, or as the same caller.`,
  examples: ['stint start build --attempt 1 --token 1773748822000 --pid 4711'],
  input: () =>
    v.strictObject({
      step: requiredName('The id of the step.'),
      attempt: optionalCount('The attempt. Default: the one that runs.'),
      token: optionalCount('Its token, as next --claim gave it.'),
      ttl: renewalField,
      pid: optionalCount('The pid of the program that does the work, on this machine.', 1, 2 ** 31 - 1),
      cli_task_id: optionalName('The id of the background task that works on it.'),
      child_session: optionalName('The session that it has started.'),
      session: sessionField(),
    }),
  positionals: ['step'],
  does: {
    writes: async (world, { step, attempt, token, ttl, pid, session, ...said }) => {
      const row = await resolve({ ...world, joins: undefined }, session);
      if (!row.ok) return row;
      const wish = await wishOf(world, row.value.key, { pid });
      if (!wish.ok) return wish;
      const { sign } = wish.value;
      const facts = withoutUndefined(said);
      const other = said.cli_task_id === undefined ? undefined : await runningTask(world, said.cli_task_id);
      if (other !== undefined && other.row.key !== row.value.key)
        return err(
          refuse('conflict', `The task ${said.cli_task_id} works on ${other.step} of ${other.row.key}.`, {
            expected: 'the id of a task that works on nothing else',
          }),
        );
      return orderRenewStep(world, row.value, {
        step,
        attempt,
        token,
        ttl: ttl === undefined ? undefined : durationOf(ttl),
        command: (running) => ({
          type: 'start-step',
          step,
          attempt: running.attempt,
          ...(sign === null ? {} : { sign: signToData(sign) }),
          ...(Object.keys(facts).length === 0 ? {} : { facts }),
        }),
      });
    },
  },
  text: (answer) =>
    `${textAt(answer, 'step')}: attempt ${textAt(answer, 'attempt')} is at work, claimed until ${textAt(answer, 'expires_at')}`,
});
