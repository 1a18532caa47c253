import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import type { Kind } from './kind.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { World } from './verb.ts';

/** What the project says of a kind in `stint.json`, as commands are told it; undefined where it says nothing. */
export const declaredOf = (
  { declared }: Pick<World, 'declared'>,
  kind: Kind,
): Result<JsonObject | undefined, Refusal> => {
  const said = declared[kind.name];
  if (said === undefined) return ok(undefined);
  const known = kind.declared(said);
  if (known.ok) return known;
  const faults = known.error.map((fault) => fault.replace('$', `$.kinds.${kind.name}`));
  return err(
    refuse('invalid-input', `stint.json cannot be used for a ${kind.name}: ${faults.join('; ')}.`, {
      faults,
      hint: 'put stint.json right, or take that out of it',
    }),
  );
};
