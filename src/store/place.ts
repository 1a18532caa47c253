import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createFileAtomic,
  fileProblem,
  makeFolders,
  readTextFile,
  removeStaleTemps,
  writeFileAtomic,
  type FileProblem,
} from '../lib/atomic-file.ts';
import { err, ok, type Result } from '../lib/result.ts';

/**
 * The id in `<placeFolder>/place`, or null when there is no such file or it is empty. Line ends, a byte order mark,
 * blanks and repetitions are forgiven; two different ids, something that is no id, and a file that cannot be read are
 * problems: guessing would hand one checkout's sessions to another.
 */
export const readPlace = (placeFolder: string): Result<string | null, FileProblem> =>
  readId(join(placeFolder, placeFile));

/**
 * The id of the place, made from `freshId` when it has none yet. Of processes that race, all get the same id, also when
 * they find an empty file, and a file that already holds an id is never written again. `freshId` has the shape of a
 * session's name. The folder is prepared with `prepareFolder`; the file has mode 0600.
 */
export const ensurePlace = (placeFolder: string, freshId: string): Result<string, FileProblem> => {
  if (!placeId.test(freshId)) throw new Error(`not a place id: ${JSON.stringify(freshId)}`);
  const found = readPlace(placeFolder);
  if (!found.ok) return found;
  if (found.value !== null) return ok(found.value);
  const prepared = prepareFolder(placeFolder);
  if (!prepared.ok) return prepared;
  try {
    return agreeOnPlace(placeFolder, freshId);
  } catch (error) {
    return err(fileProblem(join(placeFolder, placeFile), error));
  }
};

/** Removes what processes that were killed while they made a place left in its folder. Costs one look at the folder. */
export const tidyPlace = (placeFolder: string): void => {
  removeStaleTemps(placeFolder);
  const proposal = join(placeFolder, proposalFile);
  // Once the place has its id, nobody needs the proposal: whoever still holds it looks at the place next.
  if (statSync(proposal, { throwIfNoEntry: false }) === undefined) return;
  const found = readPlace(placeFolder);
  if (found.ok && found.value !== null) rmSync(proposal, { force: true });
};

const placeFile = 'place';
const proposalFile = `${placeFile}.new`;

/** The rule for names, so that an id can stand in file names and on command lines. */
const placeId = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/**
 * Several processes may be here at once, each with its own fresh id. The first proposal that gets created is the one,
 * and everybody writes that one to the place file, so it does not matter who comes first or last. Whoever proposes only
 * after the proposal was used up and removed sees the place file filled, because that is read after the proposal.
 *
 * Linking the place file into being would do for a missing file, but not for an empty one, which has to be replaced.
 */
const agreeOnPlace = (placeFolder: string, freshId: string): Result<string, FileProblem> => {
  const place = join(placeFolder, placeFile);
  const proposal = join(placeFolder, proposalFile);
  for (let pauses = 0; pauses < mostPauses; pauses += 1) {
    createFileAtomic(proposal, `${freshId}\n`, { mode: 0o600 });
    const proposed = readId(proposal);
    if (!proposed.ok) return proposed;
    const stored = readId(place);
    if (!stored.ok) return stored;
    const id = stored.value ?? proposed.value;
    if (id !== null) {
      if (stored.value === null) writeFileAtomic(place, `${id}\n`, { mode: 0o600 });
      rmSync(proposal, { force: true });
      return ok(id);
    }
    // Removed by whoever used it, or, on a file system without hard links, created and not written yet.
    pause(pauseMs);
  }
  return err({ path: proposal, problem: 'was left unfinished: remove it', code: null });
};

const mostPauses = 200;
const pauseMs = 5;

const pause = (milliseconds: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
};

/** A file that lost its content in a power cut may be full of NULs instead of empty. */
const readId = (path: string): Result<string | null, FileProblem> => {
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
