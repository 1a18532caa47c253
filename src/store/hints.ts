import type { Refusal } from '../kernel/refusal.ts';

/** What helps where there is no room. */
export const roomHint = 'make room and run the same command again';

/** What helps against damage. */
export const repairHint = 'stint doctor --fix';

/** What to try where that is refused: a repair, unless it says that something else is in its way. */
export const wayOut = ({ hint }: Refusal): string =>
  hint === undefined || hint.startsWith('stint ') ? repairHint : hint;
