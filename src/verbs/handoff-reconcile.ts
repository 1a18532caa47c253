import * as v from 'valibot';
import { refuseTime } from '../formats/handoff/edit.ts';
import { groundOf, liveTarget } from '../formats/handoff/live.ts';
import { orderNamedReconciled } from '../formats/handoff/named.ts';
import { pairText } from '../formats/handoff/pair-answer.ts';
import { orderReconciled } from '../formats/handoff/reconciling.ts';
import { statuses } from '../formats/handoff/statuses.ts';
import { textAt, textsAt } from '../kernel/answer.ts';
import { choice, optionalName, optionalText, requiredName } from '../kernel/fields.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const handoffReconcile = defineVerb({
  name: 'handoff reconcile',
  summary: 'Make one account of two documents that say two things.',
  details: `The session state counts for what is under way: status, current step, remaining steps, next owner, files, commands. The handover counts for what was handed over: the task, what was done, validation, and what is said of the changes. What is seen of the work counts more than both: done stands only where no step is left, nothing blocks it, no validation has failed, and no file that is named is missing; else the task goes back, on the record, also one that was closed. The answer says why the status is what it is, and what contradicts the documents.`,
  examples: [
    'stint handoff reconcile --updated-by ana',
    'stint handoff reconcile --updated-by ana --status in-progress',
  ],
  input: () =>
    v.strictObject({
      handover: optionalText('The handover of the pair.'),
      session_state: optionalText('The session state of the pair.'),
      holder: optionalName('Who does it, where that is somebody else than who says so.'),
      updated_by: requiredName('Who says so: a person or an agent.'),
      last_updated: optionalText('When. Default: now.'),
      status: v.optional(choice(statuses, 'The status')),
      next_owner: optionalName('Who is to act next.'),
    }),
  actor: ({ holder, updated_by: who }) => holder ?? who,
  creates: true,
  does: {
    writes: async (world, input) => {
      const refusal = refuseTime(input.last_updated);
      if (refusal !== undefined) return err(refusal);
      const named = await orderNamedReconciled(world, input, input);
      if (named !== undefined) return named;
      const ground = await groundOf(world, {});
      if (!ground.ok) return ground;
      const target = await liveTarget(world, ground.value);
      return target.ok ? ok(orderReconciled(world, target.value, input)) : target;
    },
  },
  text: (answer) =>
    [
      pairText('Reconciled pair', answer),
      ...(textAt(answer, 'because') === '' ? [] : [`because ${textAt(answer, 'because')}`]),
      ...textsAt(answer, 'contradictions').map((line) => `contradicts: ${line}`),
    ].join('\n'),
});
