/** What is to be done about a mirror's file. */
export type MirrorAction =
  /** The file is the newest version. */
  | 'keep'
  /** There is no file, or it is an older version (a checkout, a merge): write the newest, or take it away. */
  | 'write'
  /** Somebody else wrote it: set it aside, then do the same. */
  | 'set-aside';

import { goneDigest } from '../kernel/ports.ts';

/**
 * Compares a mirror's newest version with the file that was found. Digests are hex SHA-256; `found` is null where there is
 * no file; `wasMade` says whether that is a version which was made here.
 */
export const planMirror = (wanted: string, found: string | null, wasMade: boolean): MirrorAction => {
  if (found === wanted || (found === null && wanted === goneDigest)) return 'keep';
  if (found === null || wasMade) return 'write';
  return 'set-aside';
};
