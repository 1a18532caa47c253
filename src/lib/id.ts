import { closeSync, openSync, readSync } from 'node:fs';

/** Random bytes that were read ahead, and how many of them were handed out. */
let pool: Buffer = Buffer.alloc(0);
let used = 0;

/** Hex of `bytes` random bytes (at most 256), each handed out once. */
export const randomHex = (bytes: number): string => {
  if (used + bytes > pool.length) {
    pool = randomBytes(256);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
};

/** The system's own device is read where there is one: loading `node:crypto` costs 5 ms. */
const randomBytes = (bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  try {
    const device = openSync('/dev/urandom', 'r');
    try {
      if (readSync(device, buffer, 0, bytes, null) === bytes) return buffer;
    } finally {
      closeSync(device);
    }
  } catch {
    // No such device on this system.
  }
  return process.getBuiltinModule('node:crypto').randomBytes(bytes);
};

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A ULID (https://github.com/ulid/spec): 26 characters, sortable by time (milliseconds since 1970), 80 random bits. */
export const ulid = (milliseconds: number): string => {
  let time = '';
  // Times before 1970 have no ULID; the id is then only as good as its random part.
  let left = Math.max(0, milliseconds);
  while (time.length < 10) {
    time = alphabet.charAt(left % 32) + time;
    left = Math.floor(left / 32);
  }
  let random = '';
  // Each byte gives one character (its low five bits), so 16 bytes give the 80 random bits.
  for (const byte of Buffer.from(randomHex(16), 'hex')) random += alphabet.charAt(byte & 31);
  return time + random;
};
