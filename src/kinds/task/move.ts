import * as v from 'valibot';
import { standingText } from '../../kernel/answer.ts';
import { declaredOf } from '../../kernel/declared.ts';
import { choice, optionalName, requiredText, sessionField } from '../../kernel/fields.ts';
import { loadKind } from '../../kernel/kinds.ts';
import { defineVerb } from '../../kernel/verb.ts';
import { withoutUndefined } from '../../lib/json.ts';
import { orderTask } from './command.ts';
import { statuses } from '../../formats/handoff/statuses.ts';

export const taskMove = defineVerb({
  name: 'task move',
  summary: 'Move a task to another status.',
  details: `From not-started to in-progress or blocked, from in-progress to blocked or ready-for-review, from blocked to in-progress, from ready-for-review to in-progress or done; nothing follows done. A project that works otherwise says so in stint.json, under kinds.task.transitions. What is no transition is refused (5) with those that are; --override does it all the same, with its reason on the record. The status that it has already changes nothing.

A task is blocked exactly while it has an open blocker: --blocker raises one, as stint block does, and stint unblock goes on with the work. A blocked task is not moved to where it would be blocked again (6). It is done only with no step left and no open blocker (6), whatever the override; it is closed with that. To go on with one that is done takes stint reopen --override.

--next-owner says who is to act next, and stays what it is until somebody says otherwise, or the task is done.`,
  examples: [
    'stint task move in-progress',
    'stint task move blocked --blocker "no token for the registry" --needs "a token from ops"',
    'stint task move ready-for-review --next-owner qa-reviewer --json',
    'stint task move done --override "nobody else reviews this"',
  ],
  input: () =>
    v.strictObject({
      status: choice(statuses, 'The status'),
      next_owner: optionalName('Who is to act next.'),
      blocker: v.optional(requiredText('What blocks it.')),
      needs: v.optional(requiredText('What it would take to go on.')),
      override: v.optional(requiredText('Why it is done although that is no transition.')),
      session: sessionField(),
    }),
  positionals: ['status'],
  contradiction: ({ status, blocker, needs, next_owner: owner }) => {
    if (blocker !== undefined && status !== 'blocked') return '--blocker goes with blocked';
    if (needs !== undefined && blocker === undefined) return '--needs goes with --blocker';
    return owner !== undefined && status === 'done' ? 'nobody is to act next on what is done' : undefined;
  },
  does: {
    writes: async (world, { status, next_owner: owner, session, ...wish }) => {
      const kind = await loadKind(world.kinds, 'task');
      if (kind === undefined) throw new Error('the kind task is not there, and its verb is');
      const declared = declaredOf(world, kind);
      if (!declared.ok) return declared;
      return orderTask(
        world,
        session,
        withoutUndefined({ type: 'move-task', to: status, owner, ...wish, declared: declared.value ?? {} }),
      );
    },
  },
  text: standingText,
});
