import { closeSync, openSync, readSync } from 'node:fs';

/** Hex of `bytes` random bytes. The system's own device is read where there is one: loading `node:crypto` costs 5 ms. */
export const randomHex = (bytes: number): string => {
  const buffer = Buffer.alloc(bytes);
  try {
    const device = openSync('/dev/urandom', 'r');
    try {
      if (readSync(device, buffer, 0, bytes, null) === bytes) return buffer.toString('hex');
    } finally {
      closeSync(device);
    }
  } catch {
    // No such device on this system.
  }
  return process.getBuiltinModule('node:crypto').randomBytes(bytes).toString('hex');
};

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A ULID (https://github.com/ulid/spec): 26 characters, sortable by time (milliseconds since 1970), 80 random bits. */
export const ulid = (milliseconds: number): string => {
  let time = '';
  let left = milliseconds;
  while (time.length < 10) {
    time = alphabet.charAt(left % 32) + time;
    left = Math.floor(left / 32);
  }
  let random = '';
  // Each byte gives one character (its low five bits), so 16 bytes give the 80 random bits.
  for (const byte of Buffer.from(randomHex(16), 'hex')) random += alphabet.charAt(byte & 31);
  return time + random;
};
