import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createFileAtomic, fileProblem, writeFileAtomic, type FileProblem } from '../lib/atomic-file.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { prepareFolder } from './own-folder.ts';
import { placeFile, placeId, proposalFile, readId, readPlace } from './place.ts';

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
