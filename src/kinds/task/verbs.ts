import type { Verb } from '../../kernel/verb.ts';
import { taskMove } from './move.ts';
import { stepAdd, stepDone, stepDrop, stepMove, stepStart } from './steps.ts';

/** The verbs that only this kind has. */
export const verbs: readonly Verb[] = [taskMove, stepAdd, stepStart, stepDone, stepDrop, stepMove];
