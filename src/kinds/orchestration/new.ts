import * as v from 'valibot';
import { keyOf, resolveCaller, checkName } from '../../kernel/address.ts';
import { standingText, textAt } from '../../kernel/answer.ts';
import { openIn, refuseForeign } from '../../kernel/current.ts';
import { loadedIn, sessionIn, standingOf } from '../../kernel/dispatch.ts';
import { choice, optionalText, requiredText } from '../../kernel/fields.ts';
import { decideBegin } from '../../kernel/lifecycle.ts';
import { refuse } from '../../kernel/refusal.ts';
import { defineVerb } from '../../kernel/verb.ts';
import { err, ok } from '../../lib/result.ts';
import { currentFile, home, kindName, nameFor } from './documents.ts';
import { modes } from '../../formats/orchestrator/document.ts';
import { look } from './left-file.ts';
import { putAway } from './put-away.ts';

export const newOrchestration = defineVerb({
  name: 'new',
  summary: 'Begin another orchestration, and put the open one away in the same commit.',
  details: `The open one of this checkout is closed and goes to the archive: completed where nothing is missing, else aborted, with the new one as the reason. stint history shows it, and stint history resume goes on with it. Where none is open this is stint begin orchestration. One that somebody else holds is not put away (10), unless --take-over.`,
  examples: ['stint new --goal "Ship the importer"', 'stint new --goal "Fix the flaky test" --mode debug --json'],
  input: () =>
    v.strictObject({
      goal: requiredText('What it is to come to.'),
      mode: v.optional(choice(modes, 'How it is done')),
      name: optionalText('The name of the new session.'),
    }),
  positionals: ['goal'],
  creates: true,
  does: {
    writes: async (world, { goal, mode, name: given }) => {
      const illegal = given === undefined ? undefined : checkName(given, 'The name');
      if (illegal !== undefined) return err(illegal);
      const { store, places, caller } = world;
      const { here } = places;
      const { open, guard } = await openIn(world, { name: kindName }, here);
      const foreign =
        open === undefined
          ? await refuseForeign(world, { name: kindName }, { path: currentFile, look }, { goal, mode, name: given })
          : undefined;
      if (foreign !== undefined) return err(foreign);
      const name = given ?? nameFor(caller.now, caller.freshId());
      const key = keyOf(kindName, name);
      const [taken] = await store.rows({ kind: kindName, name });
      if (taken !== undefined)
        return err(
          refuse('conflict', `${key} is there already.`, {
            expected: 'a name that nobody has, or none',
            candidates: [key],
          }),
        );
      const process = await resolveCaller(world);
      if (!process.ok) return process;
      const old = open?.key;
      return ok({
        keys: old === undefined ? [key] : [key, old],
        guards: [guard, { filter: { kind: kindName, name }, keys: [] }],
        fence: 'joins' as const,
        processes: [],
        decide: (sessions) => {
          const opening = { branch: here.branch, worktree: here.worktree, goal };
          const begun = decideBegin(loadedIn(sessions, key), opening, {
            mode,
            project: { name: here.label, path: here.root },
          });
          if (!begun.ok) return begun;
          if (old === undefined) return ok(new Map([[key, begun.value]]));
          const away = putAway(loadedIn(sessions, old), `made way for ${key}`, process.value);
          if (!away.ok) return away;
          // The file is left before the new one is written into it.
          return ok(
            new Map([
              [old, away.value],
              [key, begun.value],
            ]),
          );
        },
        answer: (after) => {
          const session = sessionIn(after, key);
          return {
            ...standingOf(session),
            resumed: false,
            goal,
            folder: home,
            file: currentFile,
            branch: session.common.branch,
            revision: session.common.revision,
            put_away: old ?? null,
            put_away_as: old === undefined ? null : sessionIn(after, old).common.outcome,
          };
        },
      });
    },
  },
  text: (answer) => {
    const away = textAt(answer, 'put_away');
    return [
      `begun  ${standingText(answer)}`,
      ...(away === '' ? [] : [`put away: ${away} (${textAt(answer, 'put_away_as')}); stint history shows it`]),
    ].join('\n');
  },
});
