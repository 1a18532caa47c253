import { completionVerb } from '../../kernel/phases-verb.ts';
import type { Verb } from '../../kernel/verb.ts';
import { workflow } from './index.ts';

/** The verbs that only this kind has. */
export const verbs: readonly Verb[] = [completionVerb(workflow)];
