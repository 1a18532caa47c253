import type { Ask } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';
import { openRemains } from './care.ts';
import { openWorkplace, readsRemains, runVerb, type Location } from './world.ts';

/** Asks a verb that reads or looks after the store, for another verb. Nothing is made or written for it. */
export const askVerb =
  (location: Location): Ask =>
  async (verb, input) => {
    const call = verb.prepare(input);
    if (!call.ok) return err({ refusal: call.error });
    const opened = await openWorkplace(location, 'refuse-named');
    const left =
      opened.ok || !readsRemains(verb, call.value, opened.error) ? opened : await openRemains(location, opened.error);
    if (!left.ok) return err({ refusal: left.error });
    const answer = await runVerb(left.value, verb, call.value, undefined, { actor: 'stint', dryRun: true });
    return answer.ok ? ok(answer.value.answer) : answer;
  };
