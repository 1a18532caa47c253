/**
 * Reads the rows of a SQLite database from its pages, without SQLite and without the b-trees above them
 * (https://www.sqlite.org/fileformat2.html; sections are its own). Whatever looks like a leaf of a table is read, cell by
 * cell, so that damage costs only what it hit.
 *
 * Nothing is believed that a flipped bit could turn against everything else: pages have no reserved bytes and texts are
 * UTF-8, as in every database that is made through `node:sqlite`.
 */
import { pageSizeOfStores } from '../../header.ts';
import { readLog, type Log } from './wal.ts';

/** A value as SQLite stores it; a text that is no UTF-8 is given as its bytes, and an integer too wide as a bigint. */
export type Value = null | number | bigint | string | Uint8Array;

/** A row as it was found. One that was found twice, byte for byte, may be given twice. */
export interface LeafRecord {
  readonly rowid: number | bigint;
  /** The columns that were stored: an alias of the rowid is null, and columns that were added later may be missing. */
  readonly values: readonly Value[];
  /** What it was read from: the leaf, then its overflow pages. */
  readonly images: readonly PageImage[];
}

/** A page as it was at some time. */
export interface PageImage {
  /** Its number, from 1. */
  readonly page: number;
  /** The number of its frame in the log, from 1; 0 for the database file. */
  readonly frame: number;
  /** The checksum of its frame holds; pages of the file have none to doubt. */
  readonly verified: boolean;
  readonly bytes: Uint8Array;
}

/** Every image of every page that was committed. */
export interface Pages {
  readonly pageSize: number;
  readonly log: Log;
  /** Of each page, oldest first. */
  readonly imagesByPage: ReadonlyMap<number, readonly PageImage[]>;
  /** All of them, newest first: the log backwards, then the file. */
  readonly images: readonly PageImage[];
}

/** Takes a database file and its log apart; neither needs to be whole, or there at all. Nothing is copied. */
export const readPages = (database: Uint8Array, log: Uint8Array): Pages => {
  const told = pageSizeOf(database);
  const read = readLog(log, told ?? pageSizeOfStores);
  // The log's header has a checksum, the file's has none.
  const pageSize = read.pageSize ?? told ?? pageSizeOfStores;
  const imagesByPage = new Map<number, PageImage[]>();
  const images: PageImage[] = [];
  const add = (image: PageImage): void => {
    images.push(image);
    const others = imagesByPage.get(image.page);
    if (others === undefined) imagesByPage.set(image.page, [image]);
    else others.push(image);
  };
  for (let page = Math.ceil(database.length / pageSize); page >= 1; page -= 1) {
    const bytes = database.subarray((page - 1) * pageSize, page * pageSize);
    add({ page, frame: 0, verified: true, bytes });
  }
  for (const [index, { page, verified, content }] of read.frames.entries())
    add({ page, frame: index + 1, verified, bytes: content });
  return { pageSize, log: read, imagesByPage, images: images.toReversed() };
};

/** The page size, where the header can be believed (section 1.3). */
const pageSizeOf = (database: Uint8Array): number | undefined => {
  if (database.length < 100 || magic.some((byte, index) => database[index] !== byte)) return undefined;
  const [high = 0, low = 0] = database.subarray(16, 18);
  const size = high * 256 + low === 1 ? 65_536 : high * 256 + low;
  return size >= 512 && (size & (size - 1)) === 0 ? size : undefined;
};

const magic = new TextEncoder().encode('SQLite format 3\0');

/**
 * The rows of every image of every table leaf, newest image first. Where it is not certain which image of an overflow page
 * belongs to a row, it is given once for each that may, the likeliest first.
 */
export function* leafRecords(pages: Pages): Generator<LeafRecord> {
  const budget = { steps: 50_000_000 + 64 * pages.images.length, copies: 4_000_000 + 64 * pages.images.length };
  const seen = new Set<string>();
  for (const image of pages.images) {
    for (const pointer of cellPointers(image, pages.pageSize)) {
      const cell = readCell(image, pointer, pages);
      if (cell === undefined) continue;
      if (cell.overflow === undefined) {
        const values = decodeRecord(cell.local);
        if (values !== undefined) yield { rowid: cell.rowid, values, images: [image] };
        continue;
      }
      for (const chain of overflowChains(pages, image, cell, cell.overflow, budget)) {
        const key = `${cell.rowid} ${cell.size} ${digest(cell.local)} ${chain.map(nameOf).join(' ')}`;
        if (seen.has(key)) continue;
        seen.add(key);
        budget.copies -= chain.length;
        if (budget.copies < 0) return;
        const values = decodeRecord(join(cell, chain, pages.pageSize));
        if (values !== undefined) yield { rowid: cell.rowid, values, images: [image, ...chain] };
      }
    }
  }
}

/** The records of every image of every index leaf that lie on one page: what is missing elsewhere may be named here. */
export function* indexRecords(pages: Pages): Generator<readonly Value[]> {
  for (const { bytes, page } of pages.images) {
    if (page === 1 || bytes[0] !== indexLeafType) continue;
    const count = Math.min(uint16(bytes, 3), Math.floor((pages.pageSize - 8) / 4));
    for (let index = 0; index < count; index += 1) {
      const size = readVarint(bytes, uint16(bytes, 8 + index * 2));
      if (size === undefined || typeof size.value === 'bigint' || size.value < 2) continue;
      if (size.value > largestIndexPayload(pages.pageSize) || size.next + size.value > bytes.length) continue;
      const values = decodeRecord(bytes.subarray(size.next, size.next + size.value));
      if (values !== undefined) yield values;
    }
  }
}

const indexLeafType = 0x0a;

/** What of a key lies on its page before it needs others (section 1.6). */
const largestIndexPayload = (pageSize: number): number => Math.floor(((pageSize - 12) * 64) / 255) - 23;

/** Tells images apart within one key. */
const nameOf = ({ page, frame }: PageImage): string => (frame === 0 ? `p${page}` : `f${frame}`);

/**
 * Where the cells of a table leaf begin (section 1.6); nothing where a page is none. One flipped bit in the type is
 * overlooked, unless it makes it the type of another page.
 */
const cellPointers = ({ bytes, page }: PageImage, pageSize: number): readonly number[] => {
  const header = page === 1 ? 100 : 0;
  if (bytes.length < header + 8) return [];
  const changed = (bytes[header] ?? 0) ^ leafType;
  if ((changed & (changed - 1)) !== 0 || changed === (interiorType ^ leafType)) return [];
  const count = Math.min(uint16(bytes, header + 3), Math.floor((pageSize - header - 8) / 6));
  const pointers = new Set<number>();
  for (let index = 0; index < count; index += 1) {
    const at = header + 8 + index * 2;
    if (at + 2 > bytes.length) break;
    const pointer = uint16(bytes, at);
    if (pointer >= header + 8 && pointer < pageSize) pointers.add(pointer);
  }
  return [...pointers];
};

const leafType = 0x0d;
const interiorType = 0x05;

const uint16 = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);

/** A cell of a table leaf (section 1.6). */
interface Cell {
  readonly rowid: number | bigint;
  /** The length of the whole payload. */
  readonly size: number;
  /** What of it lies on the leaf. */
  readonly local: Uint8Array;
  /** The first overflow page, where there is one. */
  readonly overflow: number | undefined;
}

const readCell = ({ bytes }: PageImage, pointer: number, { pageSize, images }: Pages): Cell | undefined => {
  const size = readVarint(bytes, pointer);
  if (size === undefined || typeof size.value === 'bigint' || size.value < 2) return undefined;
  if (size.value > images.length * pageSize) return undefined;
  const rowid = readVarint(bytes, size.next);
  if (rowid === undefined) return undefined;
  const localSize = localSizeOf(size.value, pageSize);
  const end = rowid.next + localSize;
  const overflows = localSize < size.value;
  if (end + (overflows ? 4 : 0) > bytes.length) return undefined;
  const local = bytes.subarray(rowid.next, end);
  // What cannot be a record is not worth following.
  if (!mayBeRecord(local, size.value)) return undefined;
  const overflow = overflows ? uint16(bytes, end) * 65_536 + uint16(bytes, end + 2) : undefined;
  return { rowid: rowid.value, size: size.value, local, overflow };
};

/** How much of a payload lies on its leaf (section 1.6, "the amount of payload that spills"). */
const localSizeOf = (size: number, usable: number): number => {
  if (size <= usable - 35) return size;
  const smallest = Math.floor(((usable - 12) * 32) / 255) - 23;
  const wanted = smallest + ((size - smallest) % (usable - 4));
  return wanted <= usable - 35 ? wanted : smallest;
};

/**
 * The overflow pages of a cell (section 1.7), in each way that they may belong together: as they were when the leaf was
 * written, the same without frames that do not verify, the newest, and the oldest. They differ only where pages have several
 * images.
 */
function* overflowChains(
  { pageSize, imagesByPage }: Pages,
  leaf: PageImage,
  cell: Cell,
  first: number,
  budget: { steps: number },
): Generator<readonly PageImage[]> {
  const length = Math.ceil((cell.size - cell.local.length) / (pageSize - 4));
  for (const choose of choices) {
    const chain: PageImage[] = [];
    let ambiguous = false;
    let page = first;
    // The payload tells how long the chain is, so that one that bites its tail ends as well.
    while (chain.length < length) {
      const images = imagesByPage.get(page);
      budget.steps -= 1;
      if (images === undefined || budget.steps < 0) break;
      if (images.length > 1) ambiguous = true;
      const image = images.length > 1 ? choose(images, leaf.frame) : images[0];
      if (image === undefined || image.bytes.length < 4) break;
      chain.push(image);
      page = uint16(image.bytes, 0) * 65_536 + uint16(image.bytes, 2);
    }
    if (chain.length === length) yield chain;
    if (!ambiguous) return;
  }
}

const choices: readonly ((images: readonly PageImage[], frame: number) => PageImage | undefined)[] = [
  (images, frame) => images[lastUpTo(images, frame)] ?? images[0],
  (images, frame) => {
    let index = lastUpTo(images, frame);
    while (index >= 0 && images[index]?.verified === false) index -= 1;
    return images[index] ?? images.find(({ verified }) => verified) ?? images[0];
  },
  (images) => images.at(-1),
  (images) => images[0],
];

/** The last image whose frame is not above this one, or -1. */
const lastUpTo = (images: readonly PageImage[], frame: number): number => {
  let low = 0;
  let high = images.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((images[middle]?.frame ?? 0) <= frame) low = middle + 1;
    else high = middle;
  }
  return low - 1;
};

/** The payload of a cell and its overflow pages in one piece; where the file was cut off, the rest is zeros. */
const join = ({ local, size }: Cell, chain: readonly PageImage[], pageSize: number): Uint8Array => {
  const payload = new Uint8Array(size);
  payload.set(local);
  let at = local.length;
  for (const { bytes } of chain) {
    payload.set(bytes.subarray(4, 4 + size - at), at);
    at += pageSize - 4;
  }
  return payload;
};

/** FNV-1a, to tell two states of a cell apart. */
const digest = (bytes: Uint8Array): number => {
  let sum = 0x811c9dc5;
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 0x01000193);
  return sum;
};

/** Whether a payload that begins like this can be a record of that size; yes, where its header is longer than this. */
const mayBeRecord = (local: Uint8Array, size: number): boolean => {
  const header = readVarint(local, 0);
  if (header === undefined) return true;
  if (header.value > local.length) return header.value <= size;
  return serialTypes(local, size) !== undefined;
};

/** The types of a record's columns; undefined unless header and columns fill it exactly (section 2.1). */
const serialTypes = (payload: Uint8Array, size: number): readonly number[] | undefined => {
  const header = readVarint(payload, 0);
  if (header === undefined || header.value > payload.length) return undefined;
  const types: number[] = [];
  let at = header.next;
  let total = Number(header.value);
  while (at < header.value) {
    const type = readVarint(payload, at);
    if (type === undefined || typeof type.value === 'bigint' || type.value < 0) return undefined;
    if (type.value === 10 || type.value === 11 || types.length === mostColumns) return undefined;
    types.push(type.value);
    total += contentSize(type.value);
    at = type.next;
  }
  return at === header.value && total === size ? types : undefined;
};

/** No build of SQLite takes more (https://www.sqlite.org/limits.html). */
const mostColumns = 32_767;

const contentSize = (type: number): number =>
  type >= 12 ? Math.floor((type - 12) / 2) : ([0, 1, 2, 3, 4, 6, 8, 8, 0, 0][type] ?? 0);

const decodeRecord = (payload: Uint8Array): readonly Value[] | undefined => {
  const types = serialTypes(payload, payload.length);
  if (types === undefined) return undefined;
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  let at = Number(readVarint(payload, 0)?.value);
  return types.map((type) => {
    const value = decodeValue(view, payload, at, type);
    at += contentSize(type);
    return value;
  });
};

const decodeValue = (view: DataView, payload: Uint8Array, at: number, type: number): Value => {
  if (type >= 12) {
    const bytes = payload.subarray(at, at + contentSize(type));
    return type % 2 === 0 ? bytes : decodeText(bytes);
  }
  switch (type) {
    case 1:
      return view.getInt8(at);
    case 2:
      return view.getInt16(at);
    case 3:
      return view.getInt8(at) * 0x1_00_00 + view.getUint16(at + 1);
    case 4:
      return view.getInt32(at);
    case 5:
      return view.getInt16(at) * 0x1_00_00_00_00 + view.getUint32(at + 2);
    case 6:
      return narrow(view.getBigInt64(at));
    case 7:
      return view.getFloat64(at);
    case 8:
      return 0;
    case 9:
      return 1;
    default:
      return null;
  }
};

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const decodeText = (bytes: Uint8Array): Value => {
  try {
    return decoder.decode(bytes);
  } catch {
    return bytes;
  }
};

const narrow = (value: bigint): number | bigint => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
};

/** A varint (section 1.6): seven bits a byte, highest first, while the top bit is set; the ninth byte counts whole. */
const readVarint = (
  bytes: Uint8Array,
  at: number,
): { readonly value: number | bigint; readonly next: number } | undefined => {
  let value = 0;
  for (let index = 0; index < 7; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) return undefined;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, next: at + index + 1 };
  }
  const eighth = bytes[at + 7];
  if (eighth === undefined) return undefined;
  const wide = BigInt(value) * 128n + BigInt(eighth & 0x7f);
  if (eighth < 0x80) return { value: narrow(wide), next: at + 8 };
  const ninth = bytes[at + 8];
  if (ninth === undefined) return undefined;
  return { value: narrow(BigInt.asIntN(64, wide * 256n + BigInt(ninth))), next: at + 9 };
};
