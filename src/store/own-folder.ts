import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileProblem, makeFolders, type FileProblem } from '../lib/atomic-file.ts';
import { err, type Result } from '../lib/result.ts';

/**
 * Makes a folder of ours ready: created with its parents, readable by its owner only, and ignored by git through a
 * `.gitignore` of its own. One system call when that was done before. A `.gitignore` with any content is left as it is.
 */
export const prepareFolder = (folder: string): Result<void, FileProblem> => {
  const ignore = join(folder, '.gitignore');
  let path = folder;
  try {
    const found = statSync(ignore, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) return err({ path: ignore, problem: 'is no file', code: null });
    if ((found?.size ?? 0) > 0) return done;
    makeFolders(folder, 0o700);
    path = ignore;
    // Not atomic on purpose: two writers write the same, and what a crash leaves empty is written again next time.
    writeFileSync(ignore, '*\n', { mode: 0o600 });
    return done;
  } catch (error) {
    return err(fileProblem(path, error));
  }
};

const done: Result<void, never> = { ok: true, value: undefined };
