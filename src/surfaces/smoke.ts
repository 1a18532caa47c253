import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { objectsAt, textAt } from '../kernel/answer.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { createStint, locationOf } from './library.ts';
import { openFileWorkplace } from './world.ts';

/** A password that is none, put together here so that no scanner takes this file for a leak. */
const password = ['hunter2', 'and', 'more'].join('-');

/** What is done, verb by verb, and what has to come of it. */
const steps: readonly (readonly [verb: string, input: JsonObject, isRight: (answer: JsonObject) => boolean])[] = [
  [
    'handoff new',
    { task: 'Try it out', updated_by: 'ana', next_owner: 'ben', remaining_step: ['Look'] },
    (answer) => textAt(answer, 'handover') !== '',
  ],
  ['note', { text: `the staging host takes password=${password}` }, (answer) => answer['redacted'] !== undefined],
  ['log', {}, (answer) => objectsAt(answer, 'events').length > 1 && !JSON.stringify(answer).includes(password)],
  ['handoff validate', {}, (answer) => answer['valid'] === true],
  ['policy new-trust', { require_signature: true }, (answer) => answer['result'] === 'generated'],
  ['policy check-trust', {}, (answer) => answer['result'] === 'valid'],
  ['doctor', {}, (answer) => answer['healthy'] === true],
];

/** Tries the program out in a folder of its own, which is gone afterwards. */
export const smoke = async (): Promise<readonly string[]> => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'stint-smoke-')));
  try {
    const location = locationOf({ cwd, actor: 'ana' }, { cwd, env: {} });
    if (!location.ok) return [location.error.message];
    const workplace = openFileWorkplace(location.value, 'make');
    if (!workplace.ok) return [workplace.error.message];
    const stint = createStint(location.value, workplace.value, { actor: 'ana' });
    try {
      for (const [verb, input, isRight] of steps) {
        const answer = await stint.run(verb, input);
        if (!answer.ok) return [`${verb} was refused: ${answer.error.refusal.message}`];
        if (!isRight(answer.value)) return [`${verb} answered something else than it has to`];
      }
      return [];
    } finally {
      await stint.close();
    }
  } finally {
    rmSync(cwd, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
};
