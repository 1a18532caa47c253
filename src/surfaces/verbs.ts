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

/** All names under which verbs are called, their own first. */
export const namesOf = (known: readonly Verb[]): readonly string[] => [
  ...known.map((verb) => verb.name),
  ...known.flatMap((verb) => verb.aliases.map((alias) => alias.name)),
];

/** The refusal of a verb that is none, with those that are. One that its own system has retired names its successor. */
export const refuseVerb = (known: readonly Verb[], name: string): Refusal => {
  const successor = known.find((verb) => verb.retired.includes(name));
  if (successor !== undefined) {
    return refuse('usage', `${name} was retired; ${successor.name} does what it did.`, {
      expected: `stint ${successor.name}`,
      hint: `stint ${successor.name} --help`,
    });
  }
  const names = namesOf(known);
  const [first = ''] = name.split(' ');
  const group = names.filter((one) => one.startsWith(`${first} `));
  const legal = group.length > 0 ? group : known.map((verb) => verb.name);
  return refuse(
    'usage',
    group.length > 0 && first === name
      ? `${name} alone is no verb; a second word says what to do.`
      : `There is no verb ${JSON.stringify(truncate(name, 60))}.`,
    {
      legal,
      candidates: group.length > 0 && first === name ? [] : nearest(name, legal),
      hint: group.length > 0 ? `stint help ${first}` : 'stint --help',
    },
  );
};
