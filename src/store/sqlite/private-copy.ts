import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { StoreFailure } from '../../kernel/ports.ts';
import { refuse } from '../../kernel/refusal.ts';
import { fileProblem } from '../../lib/atomic-file.ts';
import { copyKept } from './kept-files.ts';

/** A copy of a store for this process alone. */
interface PrivateCopy {
  readonly path: string;
  /** Takes it away; else that is done when the process ends. */
  readonly remove: () => void;
}

/** Copies a database aside, with its log. */
export const privateCopy = (path: string): PrivateCopy => {
  try {
    return copyAside(path);
  } catch (error) {
    const { problem } = fileProblem(path, error);
    throw new StoreFailure(
      refuse(
        'invariant-unmet',
        `The store ${path} can be read neither in its place nor from a private copy: it ${problem}.`,
        {
          expected: 'a store that this process may read, and a folder for temporary files that it may write',
          hint: 'change the rights of the store, or set TMPDIR',
        },
      ),
      error,
    );
  }
};

const copyAside = (path: string): PrivateCopy => {
  const folder = mkdtempSync(join(process.getBuiltinModule('node:os').tmpdir(), 'stint-'));
  const remove = (): void => {
    process.off('exit', remove);
    rmSync(folder, { recursive: true, force: true });
  };
  process.on('exit', remove);
  const copy = join(folder, basename(path));
  for (let attempt = 0; ; attempt += 1) {
    const before = logSize(path);
    for (const suffix of ['', '-wal']) {
      if (!existsSync(path + suffix)) continue;
      copyKept(path + suffix, copy + suffix);
    }
    // A writer that got in between would leave a copy that never was.
    if (logSize(path) === before || attempt === 5) break;
  }
  return { path: copy, remove };
};

const logSize = (path: string): string =>
  ['', '-wal']
    .map((suffix) => statSync(path + suffix, { throwIfNoEntry: false }))
    .map((found) => `${found?.size}@${found?.mtimeMs}`)
    .join();
