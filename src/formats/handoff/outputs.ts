import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { handover } from './document.ts';
import type { Ground } from './live.ts';
import { refuseText } from './look.ts';
import { isNone } from './values.ts';
import { namedFrom } from './workspace.ts';

/** A document that a caller names as the one to be written: its path from the root of the documents. */
export const outputIn = async (
  world: World,
  { look }: Ground,
  named: string | undefined,
  usual: string,
): Promise<Result<string, Refusal>> => {
  if (named === undefined) return usual === '' ? ok(usual) : readable(look, usual);
  const full = (await world.project()).resolve(named);
  const prefix = `${look.root}/`;
  const path = full.startsWith(prefix) ? full.slice(prefix.length) : '';
  const isLegal = /^(?:handovers|session-state)\/[^/.\p{Cc}][^/\p{Cc}]{0,120}\.md$/u.test(path);
  return isLegal
    ? readable(look, path)
    : err(
        refuse('invariant-unmet', `${full} is no place for a document.`, {
          expected: `a .md file in ${look.root}/handovers or ${look.root}/session-state`,
        }),
      );
};

/** A place for a document: what lies there already is a text, so that it can be kept, and no link leads out. */
const readable = ({ root, read }: Ground['look'], path: string): Result<string, Refusal> => {
  const found = read(path);
  return found.ok || found.error.isMissing
    ? ok(path)
    : err(
        refuse('invariant-unmet', `${root}/${path} ${found.error.problem}.`, {
          expected: 'a document, or nothing in its place',
          hint: `move ${root}/${path} away, then run the same command again`,
        }),
      );
};

/** The handover that a session state names, by its path from the root; null where it names none that lies there. */
export const handoverAt = (
  { look }: Ground,
  pointer: string | undefined,
  sessionState: string,
): Result<string | null, Refusal> => {
  if (pointer === undefined || isNone(pointer)) return ok(null);
  const path = namedFrom(sessionState, pointer);
  if (path === undefined || pointer.includes('\\'))
    return err(
      refuse('usage', 'The pointer names no file of the documents.', {
        expected: 'a path with / between its parts, for example ../handovers/20260312_1530_handover.md',
      }),
    );
  const text = look.read(path);
  if (!text.ok)
    return text.error.isMissing
      ? ok(null)
      : err(
          refuse('invalid-input', `${look.root}/${path} ${text.error.problem}.`, {
            expected: 'a handover that can be read',
          }),
        );
  const refusal = refuseText(handover, `${look.root}/${path}`, text.value);
  return refusal === undefined ? ok(path) : err(refusal);
};
