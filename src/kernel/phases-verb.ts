import * as v from 'valibot';
import { resolve } from './address.ts';
import { standingText, textAt } from './answer.ts';
import { unprovedClaims } from './claims.ts';
import { orderOne, standingOf } from './dispatch.ts';
import { flag, optionalCount, sessionField } from './fields.ts';
import { decideCommand } from './lifecycle.ts';
import { completedWhere, finalPathOf, metaPathOf, roundName, type PhaseWorkflow } from './phase-table.ts';
import { refuse } from './refusal.ts';
import { defineVerb, type Verb } from './verb.ts';
import { withoutUndefined } from '../lib/json.ts';
import { err, ok } from '../lib/result.ts';

/** The verb that completes a round of a phase workflow, made of its table. */
export const completionVerb = (workflow: PhaseWorkflow): Verb => {
  const { completion, cycle } = workflow;
  return defineVerb({
    name: completion.verb,
    summary: completion.summary,
    details: completion.details,
    examples: completion.examples,
    aliases: [
      {
        name: `state ${completion.verb}`,
        flags: { 'session-id': 'session', [cycle.field.replaceAll('_', '-')]: 'round' },
      },
    ],
    retired: [`state ${completion.verb.split('-').toReversed().join('-')}`],
    input: () =>
      v.strictObject({
        round: optionalCount(`The ${roundName(workflow)}. Default: the current one.`),
        require_final: flag(`Refuse (6) unless ${completion.finalPath.replaceAll('{round}', 'N')} is there.`),
        session: sessionField(),
      }),
    payload: { summary: completion.payload, check: completion.check },
    does: {
      writes: async (world, input, payload) => {
        const row = await resolve(world, input.session, { kind: workflow.name });
        if (!row.ok) return row;
        const { key, name, kind } = row.value;
        if (kind !== workflow.name) {
          return err(
            refuse('illegal-transition', `${key} is a ${kind}: ${completion.verb} completes a ${workflow.name}.`, {
              expected: `a session of the kind ${workflow.name}`,
              legal: [`stint status --session ${key}`],
            }),
          );
        }
        const round = input.round ?? Number((await world.store.read(key))?.view.where[cycle.field] ?? 0);
        const checked = completion.check(payload?.json);
        const { root } = world.places.homeOf(row.value);
        const folder = workflow.folder.replaceAll('{name}', name);
        const unproved = unprovedClaims(payload?.json ?? null, world.files, root, folder);
        return ok(
          orderOne(
            key,
            (session) =>
              decideCommand(
                session,
                withoutUndefined({
                  type: 'complete',
                  payload: payload?.json ?? null,
                  digest: payload?.digest ?? '',
                  round: input.round,
                  final:
                    input.require_final === true
                      ? world.files.exists(`${root}/${finalPathOf(workflow, name, round)}`)
                      : undefined,
                  unproved: unproved.length === 0 ? undefined : [...unproved],
                }),
              ),
            (after) => ({
              ...standingOf(after),
              // The round that was asked about, which is complete, also where the session has gone on.
              ...completedWhere(workflow, round),
              ...(checked.ok ? checked.value.summary : {}),
              meta_path: metaPathOf(workflow, name, round),
            }),
          ),
        );
      },
    },
    text: (answer) => `${textAt(answer, 'verdict')}  ${standingText(answer)}`.trimStart(),
  });
};
