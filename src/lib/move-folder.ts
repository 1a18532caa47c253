import { closeSync, fsyncSync, lstatSync, openSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoCode, makeFolders } from './atomic-file.ts';
import { confine } from './confine.ts';

/** What lies at the place of a folder: an empty folder holds nothing that could be lost. */
export type Lying = 'nothing' | 'empty' | 'something';

/** A folder below a root as it is used: links on the way to it are followed, it itself is taken as it is. */
export const placeOfFolder = (root: string, path: string): string | undefined => {
  const above = dirname(path);
  const parent = above === '.' ? root : confine(root, above);
  return parent === undefined ? undefined : join(parent, basename(path));
};

/** What lies at a path; what cannot be looked at is something. */
export const lyingAt = (path: string): Lying => {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return 'nothing';
    return found.isDirectory() && readdirSync(path).length === 0 ? 'empty' : 'something';
  } catch (error) {
    const code = errnoCode(error);
    if (code === null) throw error;
    return code === 'ENOTDIR' ? 'nothing' : 'something';
  }
};

/**
 * Moves a folder with all that it holds, in one rename: whoever looks finds it at one place or at the other. It goes where
 * nothing lies, or an empty folder. That it was moved already, by somebody else perhaps, is as good: also where an empty
 * folder was made anew since, which goes.
 *
 * @throws the error of node:fs, or one that says what is in the way; then nothing was moved.
 */
export const moveFolder = (from: string, to: string): void => {
  const isOver = (): boolean => lyingAt(from) === 'nothing' && lyingAt(to) !== 'nothing';
  if (isOver()) return;
  if (lyingAt(from) === 'empty' && lyingAt(to) === 'something') {
    rmdirSync(from);
    return;
  }
  if (lyingAt(to) === 'something') throw new Error('something lies there already, and nothing is overwritten');
  if (!lstatSync(from).isDirectory()) throw new Error('what is to be moved there is no folder');
  makeFolders(dirname(to));
  try {
    // Not every system renames over an empty folder.
    if (lyingAt(to) === 'empty') rmdirSync(to);
    renameSync(from, to);
  } catch (error) {
    if (!isOver()) throw error;
  }
  for (const folder of new Set([dirname(to), dirname(from)])) syncFolder(folder);
};

/** A power cut then does not undo the move; where folders cannot be synced, the next verb does it again. */
const syncFolder = (folder: string): void => {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(folder, 'r');
    fsyncSync(descriptor);
  } catch (error) {
    if (errnoCode(error) === null) throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
};
