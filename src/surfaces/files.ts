import { closeSync, constants, existsSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import type { Files } from '../kernel/ports.ts';
import { errnoCode } from '../lib/atomic-file.ts';

/** The file system as verbs may ask it. */
export const files: Files = {
  exists: (path) => existsSync(path),
  list: (folder) => {
    try {
      return readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
        .map((entry) => entry.name)
        .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
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
