import { fstatSync, openSync, readSync, statSync } from 'node:fs';
import { errnoCode } from '../../lib/atomic-file.ts';

/**
 * SQLite's locks are those of fcntl(2): closing any descriptor of a file drops every lock that the process has on it, and
 * with them those of a connection that knows nothing of it. So a file that SQLite may have open is looked at through
 * descriptors that are kept until the process ends, one for each file.
 */
const descriptors = new Map<string, number>();

const descriptorOf = (path: string): number => {
  const known = descriptors.get(path);
  const found = statSync(path);
  if (known !== undefined && fstatSync(known).ino === found.ino) return known;
  const fresh = openSync(path, 'r');
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

/** The whole of a file; empty where there is none, or it cannot be read. */
export const readWhole = (path: string): Uint8Array => {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return readStart(path, size) ?? new Uint8Array();
};
