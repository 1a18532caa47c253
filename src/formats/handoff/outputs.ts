import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import type { Ground } from './live.ts';

/** A document that a caller names as the one to be written: its path from the root of the documents. */
export const outputIn = async (
  world: World,
  { look }: Ground,
  named: string | undefined,
  usual: string,
): Promise<Result<string, Refusal>> => {
  if (named === undefined) return ok(usual);
  const full = (await world.project()).resolve(named);
  const prefix = `${look.root}/`;
  const path = full.startsWith(prefix) ? full.slice(prefix.length) : '';
  const isLegal = /^(?:handovers|session-state)\/[^/]+\.md$/.test(path);
  return isLegal
    ? ok(path)
    : err(
        refuse('usage', `${full} is no place for a document.`, {
          expected: `a .md file in ${look.root}/handovers or ${look.root}/session-state`,
        }),
      );
};
