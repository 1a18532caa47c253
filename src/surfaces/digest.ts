import { stripVTControlCharacters } from 'node:util';
import type { Digested } from '../kernel/ports.ts';

/** How many bytes of the end are looked at, and how many before them: no secret is longer. */
const window = { kept: 16 * 1024, lead: 64 * 1024 };
const most = window.lead + window.kept;

/** What bytes are that come one after the other: their end alone is held meanwhile. */
export const createDigest = (): {
  readonly take: (bytes: Uint8Array) => void;
  readonly end: () => Digested;
} => {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  let size = 0;
  // Twice as long, so that its end is moved to its beginning seldom, however small the pieces are.
  const held = Buffer.allocUnsafe(2 * most);
  let end = 0;
  return {
    take: (bytes) => {
      hash.update(bytes);
      size += bytes.length;
      const last = bytes.subarray(-most);
      if (end + last.length > held.length) {
        held.copyWithin(0, end - most, end);
        end = most;
      }
      held.set(last, end);
      end += last.length;
    },
    end: () => ({
      sha256: hash.digest('hex'),
      size,
      ...tailOf(held.subarray(Math.max(0, end - most), end), size > most),
    }),
  };
};

/** Bytes as text without what only moves or colours it. What was cut within a line begins with the next one. */
const tailOf = (bytes: Uint8Array, isCut: boolean): Pick<Digested, 'tail' | 'lead'> => {
  const text = stripVTControlCharacters(new TextDecoder().decode(bytes)).replaceAll('\r\n', '\n');
  if (!isCut) return { tail: text, lead: 0 };
  const line = text.indexOf('\n') + 1;
  const tail = line > 0 && line < text.length ? text.slice(line) : text.replace(/^\ufffd+/, '');
  return { tail, lead: Math.max(0, tail.length - window.kept) };
};
