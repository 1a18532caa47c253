import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileProblem, readTextFile, removeStaleTemps, type FileProblem } from '../lib/atomic-file.ts';
import { err, ok, type Result } from '../lib/result.ts';

/**
 * The id in `<placeFolder>/place`, or null when there is no such file or it is empty. Line ends, a byte order mark,
 * blanks and repetitions are forgiven; two different ids, something that is no id, and a file that cannot be read are
 * problems: guessing would hand one checkout's sessions to another.
 */
export const readPlace = (placeFolder: string): Result<string | null, FileProblem> =>
  readId(join(placeFolder, placeFile));

/** Removes what processes that were killed while they made a place left in its folder. Costs one look at the folder. */
export const tidyPlace = (placeFolder: string): void => {
  removeStaleTemps(placeFolder);
  const proposal = join(placeFolder, proposalFile);
  // Once the place has its id, nobody needs the proposal: whoever still holds it looks at the place next.
  if (statSync(proposal, { throwIfNoEntry: false }) === undefined) return;
  const found = readPlace(placeFolder);
  if (found.ok && found.value !== null) rmSync(proposal, { force: true });
};

/** The file that holds the id. */
export const placeFile = 'place';

/** What a place is to be called, while it is being made. */
export const proposalFile = `${placeFile}.new`;

/** The rule for names, so that an id can stand in file names and on command lines. */
export const placeId = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** A file that lost its content in a power cut may be full of NULs instead of empty. */
export const readId = (path: string): Result<string | null, FileProblem> => {
  try {
    // Reading a pipe would wait for ever.
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile() && !found.isDirectory())
      return err({ path, problem: 'is no file', code: null });
  } catch (error) {
    return err(fileProblem(path, error));
  }
  const text = readTextFile(path);
  if (!text.ok) return text.error.code === 'ENOENT' ? ok(null) : text;
  const lines = text.value.replaceAll('\0', '').split(/[\r\n]/);
  const ids = new Set(lines.map((line) => line.trim()).filter((line) => line !== ''));
  const [id = null] = ids;
  if (ids.size > 1) return err({ path, problem: `names ${ids.size} different places`, code: null });
  if (id !== null && !placeId.test(id)) return err({ path, problem: 'holds no place id', code: null });
  return ok(id);
};
