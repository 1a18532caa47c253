import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { mostBundleBytes, readBundle } from './bundle.ts';
import { faultText, type Bundle } from './parts.ts';

/** The file of a bundle, wherever the caller has it. */

/** Why there is no bundle to go on with. */
export interface UnreadBundle {
  readonly refusal: Refusal;
  /** All that is wrong with it, a sentence each. */
  readonly errors: readonly string[];
}

/** Reads the file of a bundle, once: what is judged and what is used are the same bytes. `path` answers its whole path. */
export const readBundleFile = async (
  world: Pick<World, 'project'>,
  named: string,
): Promise<{ readonly path: string; readonly read: Result<Bundle, UnreadBundle> }> => {
  const project = await world.project();
  const path = project.resolve(named);
  const file = project.readNamed(named, mostBundleBytes);
  if (!file.ok) {
    const { problem, isMissing } = file.error;
    const refusal = refuse(isMissing ? 'not-found' : 'invalid-input', `The bundle ${path} ${problem}.`, {
      expected: 'the file of a bundle',
      hint: 'name the file with --bundle',
    });
    return { path, read: err({ refusal, errors: [`the file ${problem}`] }) };
  }
  const bundle = readBundle(file.value.text);
  if (bundle.ok) return { path, read: ok(bundle.value) };
  const [first] = bundle.error;
  const errors = bundle.error.map(faultText);
  const others = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const refusal = refuse(
    first?.stage === 'newer' ? 'newer-version' : 'invalid-input',
    `${path} is no bundle that can be used: ${errors[0] ?? ''}${others}.`,
    { expected: 'a bundle of version 2 or 3, as it was exported', faults: errors, hint: 'export it again' },
  );
  return { path, read: err({ refusal, errors }) };
};
