import { closeSync, constants, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { errnoCode } from '../../lib/atomic-file.ts';

/**
 * SQLite's locks are those of fcntl(2): closing any descriptor of a file drops every lock that the process has on it, and
 * with them those of a connection that knows nothing of it. So a file that SQLite may have open is looked at through
 * descriptors that are kept until the process ends, one for each file.
 */
const descriptors = new Map<string, number>();

const descriptorOf = (path: string): number => {
  const known = descriptors.get(path);
  if (known !== undefined && fstatSync(known).ino === statSync(path).ino) return known;
  // Without waiting: a pipe that lies in the place of a file would do that for ever.
  const fresh = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  descriptors.set(path, fresh);
  return fresh;
};

/** The first so many bytes of a file; fewer where it is shorter, undefined where it cannot be read. */
export const readStart = (path: string, length: number): Buffer | undefined => {
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(descriptorOf(path), bytes, 0, length, 0));
  } catch (error) {
    if (errnoCode(error) === null) throw error;
    return undefined;
  }
};

/** Copies a file as it is now, for its owner alone; fails as copying does. */
export const copyKept = (path: string, target: string): void => {
  const from = descriptorOf(path);
  const to = openSync(target, 'w', 0o600);
  try {
    const chunk = Buffer.allocUnsafe(1024 * 1024);
    for (let at = 0; ;) {
      const length = readSync(from, chunk, 0, chunk.length, at);
      if (length === 0) return;
      writeSync(to, chunk, 0, length);
      at += length;
    }
  } finally {
    closeSync(to);
  }
};

/** The whole of a file; empty where there is none, or it cannot be read. */
export const readWhole = (path: string): Uint8Array => {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return readStart(path, size) ?? new Uint8Array();
};
