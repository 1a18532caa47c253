import type { JsonObject } from '../lib/canonical-json.ts';
import type { Samples } from './kind.ts';

/**
 * What is on record of bundles that a session came in. It is kept beside the log: an event would make another history of it,
 * and what goes on where it came from could not follow.
 */

const prefix = 'bundle ';

/** The name of the sample of the bundle with that digest. */
export const bundleSample = (digest: string): string => `${prefix}${digest}`;

/** The records among the samples of a session. */
export const bundlesIn = (samples: Samples): readonly JsonObject[] =>
  [...samples].flatMap(([name, record]) => (name.startsWith(prefix) ? [record] : []));
