/**
 * SHA-256 (FIPS 180-4) of our own. Loading `node:crypto` costs several milliseconds, more than an everyday verb spends
 * on all of its hashing, so short inputs are hashed here and only long ones load it.
 */

/** Inputs longer than this many bytes go to `node:crypto`, whose speed then repays its loading. */
const LONG_INPUT_BYTES = 65_536;

/** A process that hashes more often than this lives long enough for `node:crypto` to repay its loading. */
const MANY_INPUTS = 200;

let hashed = 0;

/**
 * SHA-256 of a text as 64 lower-case hex digits. The text is hashed as UTF-8; a lone surrogate counts as U+FFFD, as it
 * does for `Buffer.from`.
 */
export function sha256(text: string): string {
  if (text.length < WORTH_KEEPING || text.length > LONG_INPUT_BYTES) return sha256Bytes(utf8.encode(text));
  const known = recent.get(text);
  if (known !== undefined) return known;
  const digest = sha256Bytes(utf8.encode(text));
  if (recent.size === MOST_RECENT) recent.delete(recent.keys().next().value ?? '');
  recent.set(text, digest);
  return digest;
}

/** The newest digests of texts that are long: a verb asks for that of an event, or of a file, several times. */
const recent = new Map<string, string>();
const WORTH_KEEPING = 256;
const MOST_RECENT = 16;

/** SHA-256 of bytes as 64 lower-case hex digits. */
export function sha256Bytes(bytes: Uint8Array): string {
  hashed += 1;
  if (bytes.length > LONG_INPUT_BYTES || hashed > MANY_INPUTS) {
    return process.getBuiltinModule('node:crypto').createHash('sha256').update(bytes).digest('hex');
  }
  const hash = Int32Array.from(INITIAL_HASH);
  const whole = bytes.length & ~63;
  for (let offset = 0; offset < whole; offset += 64) compress(hash, bytes, offset);

  // FIPS 180-4 section 5.1.1: a one bit, zeros, and the length in bits as a 64-bit number close the last block.
  const left = bytes.length - whole;
  const tail = new Uint8Array(left < 56 ? 64 : 128);
  tail.set(bytes.subarray(whole));
  tail[left] = 0x80;
  new DataView(tail.buffer).setUint32(tail.length - 4, bytes.length * 8);
  for (let offset = 0; offset < tail.length; offset += 64) compress(hash, tail, offset);

  let hex = '';
  for (const word of hash) hex += (word >>> 0).toString(16).padStart(8, '0');
  return hex;
}

/**
 * HMAC-SHA256 (RFC 2104) of a text's UTF-8 bytes, as 64 lower-case hex digits. The key is given in hex, so that any
 * bytes can be one.
 *
 * @throws {TypeError} when the key is not pairs of hex digits
 */
export function hmacSha256(keyHex: string, text: string): string {
  const key = hexToBytes(keyHex);
  const shortKey = key.length > 64 ? hexToBytes(sha256Bytes(key)) : key;
  const message = utf8.encode(text);

  const inner = new Uint8Array(64 + message.length).fill(0x36, 0, 64);
  const outer = new Uint8Array(64 + 32).fill(0x5c, 0, 64);
  for (const [index, byte] of shortKey.entries()) {
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  }
  inner.set(message, 64);
  outer.set(hexToBytes(sha256Bytes(inner)), 64);
  return sha256Bytes(outer);
}

const utf8 = new TextEncoder();

function hexToBytes(hex: string): Uint8Array {
  if (hex.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(hex)) throw new TypeError('not a string of hex digit pairs');
  const bytes = new Uint8Array(hex.length / 2);
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16);
  }
  return bytes;
}

/** Mixes the 64 bytes at `offset` into the hash (FIPS 180-4 section 6.2.2). */
function compress(hash: Int32Array, bytes: Uint8Array, offset: number): void {
  // The `?? 0` are for the type checker alone: every index below is inside its array.
  for (let t = 0; t < 16; t += 1) {
    const at = offset + t * 4;
    schedule[t] =
      ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
  }
  for (let t = 16; t < 64; t += 1) {
    const w15 = schedule[t - 15] ?? 0;
    const w2 = schedule[t - 2] ?? 0;
    const sigma0 = ((w15 >>> 7) | (w15 << 25)) ^ ((w15 >>> 18) | (w15 << 14)) ^ (w15 >>> 3);
    const sigma1 = ((w2 >>> 17) | (w2 << 15)) ^ ((w2 >>> 19) | (w2 << 13)) ^ (w2 >>> 10);
    schedule[t] = (sigma1 + (schedule[t - 7] ?? 0) + sigma0 + (schedule[t - 16] ?? 0)) | 0;
  }

  let a = hash[0] ?? 0;
  let b = hash[1] ?? 0;
  let c = hash[2] ?? 0;
  let d = hash[3] ?? 0;
  let e = hash[4] ?? 0;
  let f = hash[5] ?? 0;
  let g = hash[6] ?? 0;
  let h = hash[7] ?? 0;
  for (let t = 0; t < 64; t += 1) {
    const sum1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const sum0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const next1 = (h + sum1 + ((e & f) ^ (~e & g)) + (ROUND_CONSTANTS[t] ?? 0) + (schedule[t] ?? 0)) | 0;
    const next2 = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + next1) | 0;
    d = c;
    c = b;
    b = a;
    a = (next1 + next2) | 0;
  }
  hash[0] = (hash[0] ?? 0) + a;
  hash[1] = (hash[1] ?? 0) + b;
  hash[2] = (hash[2] ?? 0) + c;
  hash[3] = (hash[3] ?? 0) + d;
  hash[4] = (hash[4] ?? 0) + e;
  hash[5] = (hash[5] ?? 0) + f;
  hash[6] = (hash[6] ?? 0) + g;
  hash[7] = (hash[7] ?? 0) + h;
}

/** The message schedule of the block at work; one for all calls, because nothing here is asynchronous. */
const schedule = new Int32Array(64);

/** FIPS 180-4 section 5.3.3: fractional parts of the square roots of the first 8 primes. */
const INITIAL_HASH = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/** FIPS 180-4 section 4.2.2: fractional parts of the cube roots of the first 64 primes. */
const ROUND_CONSTANTS = new Int32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);
