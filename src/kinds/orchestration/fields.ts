import * as v from 'valibot';
import { optionalCount, requiredName } from '../../kernel/fields.ts';
import { nameProblem } from '../../lib/name.ts';

/** The id of an agent: it becomes a part of file names. */
export const agentField = v.pipe(
  requiredName('The id of the agent, for example code-1.'),
  v.check(
    (id) => nameProblem(id) === undefined,
    ({ input }) => `is not legal. ${typeof input === 'string' ? nameProblem(input)?.replace(/\.$/, '') : ''}`,
  ),
);

/** Which attempt is meant, and what shows that the caller speaks for it. */
export const attemptFields = {
  attempt: optionalCount('The attempt. Default: the one that runs.'),
  token: optionalCount('Its token, as agent start gave it.'),
};
