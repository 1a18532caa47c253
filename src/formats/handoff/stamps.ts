import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import type { Ground } from './live.ts';
import { isStamp, nextStamp, stampsIn } from './workspace.ts';

/** The stamps of documents as a caller gives them, and as they are taken. */

/** Refuses a stamp that is no minute of the calendar: it becomes part of the names of files. */
export const refuseStamp = (
  flag: string,
  stamp: string | undefined,
  hint = `leave ${flag} out for the next free minute`,
): Refusal | undefined =>
  stamp === undefined || isStamp(stamp)
    ? undefined
    : refuse('usage', `${flag}: that is no stamp.`, {
        expected: 'a minute in UTC as YYYYMMDD_HHMM, for example 20260312_0915',
        hint,
      });

/** The two files that a stamp names, from the root. */
export const pathsOf = (stamp: string): { readonly handover: string; readonly sessionState: string } => ({
  handover: `handovers/${stamp}_handover.md`,
  sessionState: `session-state/${stamp}_session-state.md`,
});

/** The stamps that are taken: those of files, and from now on those of pairs that are on record and not written yet. */
export const takenStamps = async (world: World, { look, root }: Ground): Promise<readonly string[]> => {
  const { id } = world.places.here;
  const taken = [...stampsIn(look)];
  if (id === null) return taken;
  for (;;) {
    const stamp = nextStamp(world.caller.now, taken);
    const { handover, sessionState } = pathsOf(stamp);
    const isOnRecord =
      (await world.store.mirrorAt(id, `${root}/${handover}`)) !== undefined ||
      (await world.store.mirrorAt(id, `${root}/${sessionState}`)) !== undefined;
    if (!isOnRecord) return taken;
    taken.push(stamp);
  }
};

/** The file of the next handover. */
export const freeHandover = async (world: World, ground: Ground): Promise<string> =>
  pathsOf(nextStamp(world.caller.now, await takenStamps(world, ground))).handover;
