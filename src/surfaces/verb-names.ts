import { refuse, type Refusal } from '../kernel/refusal.ts';
import type { Verb } from '../kernel/verb.ts';
import { nearest } from '../lib/nearest.ts';
import { truncate } from '../lib/text.ts';

/** All names under which verbs are called, their own first. */
export const namesOf = (known: readonly Verb[]): readonly string[] => [
  ...known.map((verb) => verb.name),
  ...known.flatMap((verb) => verb.aliases.map((alias) => alias.name)),
];

/**
 * The refusal of a verb that is none, with those that are. One that its own system has retired names its successor. `line`
 * has the words that may have been meant for its name.
 */
export const refuseVerb = (known: readonly Verb[], name: string, line = name): Refusal => {
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
  const isAlone = group.length > 0 && first === name;
  const near = isAlone ? [] : [...nearest(name, legal), ...(line === name ? [] : nearest(line, names))];
  return refuse(
    'usage',
    isAlone
      ? `${name} alone is no verb; a second word says what to do.`
      : `There is no verb ${JSON.stringify(truncate(name, 60))}.`,
    { legal, candidates: [...new Set(near)], hint: group.length > 0 ? `stint help ${first}` : 'stint --help' },
  );
};
