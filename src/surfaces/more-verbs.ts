import type { Verb } from '../kernel/verb.ts';
import { loadVerb } from '../verbs/named.gen.ts';

/** The verb that has one of these names, alone, so that nothing else is loaded; all verbs where that cannot be told by the name. */
export const moreVerbs = async (names: readonly string[]): Promise<readonly Verb[]> => {
  const load = names.map((name) => loadVerb.get(name)).find((one) => one !== undefined);
  return load === undefined ? (await import('./verbs.ts')).allVerbs : [await load()];
};
