import * as v from 'valibot';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import { faultsOf } from '../../lib/faults.ts';
import { err, ok, type Result } from '../../lib/result.ts';

/** What a project may require before work is handed over; without that it is only told. */

const requirements = ['validation', 'clean-tree'] as const;
export type Requirement = (typeof requirements)[number];

const rules = v.strictObject(
  {
    require: v.optional(
      v.array(
        v.picklist(requirements, `must be one of ${requirements.join(', ')}`),
        `expected a list of ${requirements.join(', ')}`,
      ),
      [],
    ),
  },
  'expected an object with require',
);

/** What the project requires in `stint.json`. */
export const requirementsOf = ({
  handoffRules,
}: Pick<World, 'handoffRules'>): Result<ReadonlySet<Requirement>, Refusal> => {
  const said = v.safeParse(rules, handoffRules);
  if (said.success) return ok(new Set(said.output.require));
  const faults = faultsOf(said.issues).map((fault) => fault.replace('$', '$.handoff'));
  return err(
    refuse('invalid-input', `stint.json cannot be used for handing over: ${faults.join('; ')}.`, {
      faults,
      hint: 'put stint.json right, or take that out of it',
    }),
  );
};
