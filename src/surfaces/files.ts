import { existsSync, readdirSync } from 'node:fs';
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
};
