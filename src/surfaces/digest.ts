import { stripVTControlCharacters } from 'node:util';
import type { Digested } from '../kernel/ports.ts';

/** How many bytes of the end are looked at: a secret that begins before what is kept of them is seen whole. */
const window = 16 * 1024;

/** What bytes are that come one after the other: their end alone is kept meanwhile. */
export const createDigest = (): {
  readonly take: (bytes: Uint8Array) => void;
  readonly end: () => Digested;
} => {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  let size = 0;
  let last = Buffer.alloc(0);
  return {
    take: (bytes) => {
      hash.update(bytes);
      size += bytes.length;
      last = Buffer.concat([last, bytes]).subarray(-window);
    },
    end: () => ({ sha256: hash.digest('hex'), size, tail: tailOf(last, size > last.length) }),
  };
};

/** Bytes as text without what only moves or colours it. What was cut within a line begins with the next one. */
const tailOf = (bytes: Uint8Array, isCut: boolean): string => {
  const text = stripVTControlCharacters(new TextDecoder().decode(bytes)).replaceAll('\r\n', '\n');
  if (!isCut) return text;
  const line = text.indexOf('\n') + 1;
  return line > 0 && line < text.length ? text.slice(line) : text.replace(/^\ufffd+/, '');
};
