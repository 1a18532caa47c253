import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoCode } from '../../lib/atomic-file.ts';

/**
 * While a repair puts a new store into place, the folder in which it has kept the old one is marked: whoever finds no store
 * beside it knows that there is one, and the next repair goes on with what was kept.
 */
export const markUnfinished = (path: string, kept: string): void => writeFileSync(join(kept, markOf(path)), '');

/** The stores that were put aside by a repair that is not finished. */
export const unfinishedRepairs = (path: string): readonly string[] => {
  const folder = dirname(path);
  const prefix = `${basename(path)}.damaged-`;
  try {
    return readdirSync(folder)
      .filter((name) => name.startsWith(prefix) && existsSync(join(folder, name, markOf(path))))
      .map((name) => join(folder, name, basename(path)));
  } catch (error) {
    if (errnoCode(error) === null) throw error;
    return [];
  }
};

/** Says that the store is in its place. */
export const forgetUnfinished = (path: string): void => {
  for (const kept of unfinishedRepairs(path)) rmSync(join(dirname(kept), markOf(path)), { force: true });
};

const markOf = (path: string): string => `${basename(path)}.unfinished`;
