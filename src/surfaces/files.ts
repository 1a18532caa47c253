import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs';
import type { Files } from '../kernel/ports.ts';
import { errnoCode } from '../lib/atomic-file.ts';
import { confine } from '../lib/confine.ts';
import { sha256Bytes } from '../lib/sha256.ts';
import { compareNames } from '../lib/text.ts';

/** The file system as verbs may ask it. */
export const files: Files = {
  digest: (folder, path) => {
    const real = confine(folder, path);
    if (real === undefined) return undefined;
    try {
      // Opening anything but a file, a pipe for example, could wait for ever.
      if (statSync(real, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
      const bytes = readFileSync(real);
      return { size: bytes.length, sha256: sha256Bytes(bytes) };
    } catch (error) {
      if (errnoCode(error) === null) throw error;
      return undefined;
    }
  },
  exists: (path) => existsSync(path),
  list: (folder) => {
    try {
      return readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
        .map((entry) => entry.name)
        .toSorted(compareNames);
    } catch (error) {
      // A folder that cannot be read shows no files; whether that matters is for the verb that needs them.
      if (errnoCode(error) === null) throw error;
      return [];
    }
  },
  read: (path, limit) => {
    let file: number | undefined;
    try {
      // Whoever made the file may have made a pipe of it, which would keep us waiting.
      file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const found = fstatSync(file);
      if (!found.isFile() || found.size > limit) return null;
      const bytes = Buffer.alloc(found.size);
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0));
    } catch (error) {
      if (errnoCode(error) === null) throw error;
      return null;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  },
};
