import type { Verb } from '../kernel/verb.ts';
import { kindVerbs } from '../kinds/verbs.gen.ts';
import { doctor } from '../store/doctor.ts';
import { rebuild } from '../store/rebuild.ts';
import { storeCopy } from '../store/store-copy.ts';
import { verbs } from '../verbs/registry.gen.ts';
import { init } from './init.ts';
import { policyCi } from './policy-ci.ts';
import { progress } from './tui/progress.ts';

/**
 * All verbs, in the order of help: those of every kind, those of single kinds, those that are
 * watched, those about the store.
 */
export const allVerbs: readonly Verb[] = [...verbs, ...kindVerbs, progress, doctor, rebuild, storeCopy, policyCi, init];
