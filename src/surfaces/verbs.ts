import { refuse, type Refusal } from '../kernel/refusal.ts';
import type { Verb } from '../kernel/verb.ts';
import { kindVerbs } from '../kinds/registry.gen.ts';
import { nearest, truncate } from '../lib/text.ts';
import { doctor } from '../store/doctor.ts';
import { rebuild } from '../store/rebuild.ts';
import { verbs } from '../verbs/registry.gen.ts';
import { progress } from './tui/progress.ts';

/**
 * All verbs, in the order of help: those of every kind, those of single kinds, those that are
 * watched, those about the store.
 */
export const allVerbs: readonly Verb[] = [...verbs, ...kindVerbs, progress, doctor, rebuild];

/** The refusal of a verb that is none, with those that are. */
export const refuseVerb = (known: readonly Verb[], name: string): Refusal => {
  const names = known.map((verb) => verb.name);
  return refuse('usage', `There is no verb ${JSON.stringify(truncate(name, 60))}.`, {
    legal: names,
    candidates: nearest(name, names),
    hint: 'stint --help',
  });
};
