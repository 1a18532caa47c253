import { err, ok, type Result } from '../../lib/result.ts';
import { statusOf, valueOf } from './document.ts';
import { faultsIn } from './faults.ts';
import { halves, pointerFrom, type Half, type PairPaths } from './print.ts';
import { printSections, readSections, withBody, type Sections } from './sections.ts';
import type { Status } from './statuses.ts';
import { withoutMark } from './superseded.ts';
import { isNone } from './values.ts';

/** An archived pair becomes the live one again. */

/** What is said of it anew. */
export interface Restored {
  readonly status?: Status | undefined;
  readonly owner?: string | undefined;
  readonly by: string;
  readonly at: string;
}

/**
 * The texts of an archived pair as those of the live one: who wrote them, when, and where the other one lies is new, and a
 * status or an owner that is said. Everything else stays, byte by byte, but where the two say two things: of the task the
 * handover counts, of the rest the session state. Else the faults of what would come of it, a line each.
 */
export const restoredTexts = (
  texts: Readonly<Record<Half, string>>,
  { status: said, owner, by, at }: Restored,
  paths: PairPaths,
): Result<{ readonly texts: Readonly<Record<Half, string>>; readonly status: Status }, readonly string[]> => {
  const [transfer, state] = [withoutMark(readSections(texts.handover)), readSections(texts.session_state)];
  const status = said ?? statusOf(state);
  const task = valueOf(transfer, 'Task summary');
  const owners = [owner, valueOf(state, 'Next owner'), valueOf(transfer, 'Next owner'), by];
  const next = status === 'done' ? 'None' : owners.find((one) => one !== undefined && !isNone(one));
  const shared: readonly (readonly [string, string | undefined])[] = [
    ['Status', status],
    ['Last updated', at],
    ['Updated by', by],
    ['Next owner', next],
    ['Last completed step', valueOf(state, 'Last completed step')],
    ['Current step', valueOf(state, 'Current step')],
  ];
  const made = (half: Half, document: Sections): string => {
    const pointer = half === 'handover' && status === 'done' ? null : pointerFrom(half, paths);
    return printSections(
      withValues(document, [
        [half === 'handover' ? 'Task summary' : 'Task', task],
        ...shared,
        [halves[half].pointer, pointer ?? 'None'],
      ]),
    );
  };
  const restored = { handover: made('handover', transfer), session_state: made('session_state', state) };
  const faults = [...faultsIn('handover', restored.handover), ...faultsIn('session_state', restored.session_state)];
  return faults.length > 0 || status === undefined ? err(faults) : ok({ texts: restored, status });
};

/** A document with values in its sections; one that says so already stays as it is written. */
const withValues = (document: Sections, values: readonly (readonly [string, string | undefined])[]): Sections => {
  let changed = document;
  for (const [name, value] of values) {
    if (value === undefined || value === '' || valueOf(changed, name) === value) continue;
    const next = withBody(changed, name, [value]);
    if (next.ok) changed = next.value;
  }
  return changed;
};
