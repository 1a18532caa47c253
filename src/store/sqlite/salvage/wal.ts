/**
 * Reads the write-ahead log of a SQLite database without SQLite, which shows nothing behind the first damaged frame and
 * throws that away with the next write (https://www.sqlite.org/fileformat2.html section 4,
 * https://www.sqlite.org/walformat.html).
 */
import { pageSizeOfStores } from '../../header.ts';

/** What a log holds, and what SQLite would make of it. Frames are counted from 1, as SQLite does. */
export interface LogState {
  /** The frames that were written since the log was last begun anew. */
  readonly frames: number;
  /** The last frame that SQLite's own recovery would use. */
  readonly recoveredFrames: number;
  /** The last frame that ends a transaction: those behind it belong to one that was never committed. */
  readonly committedFrames: number;
  /**
   * Committed transactions are there that SQLite would lose without a word. A last one whose last page is not what its frame
   * says does not count where frames of an earlier round lie behind it: a writer that is killed over them leaves the same.
   */
  readonly broken: boolean;
  /**
   * What SQLite would not show is the last transaction alone. Damage to it cannot be told from a power failure in the
   * middle of its commit, which nobody was told of.
   */
  readonly lastOnly: boolean;
}

/** A page as a transaction left it. */
export interface LogFrame {
  readonly page: number;
  /** The size of the database in pages after the commit that this frame ends; 0 where it ends none. */
  readonly commit: number;
  /** Its checksum holds. */
  readonly verified: boolean;
  readonly content: Uint8Array;
}

/** A log with its committed frames, damaged ones among them. */
export interface Log {
  /** Undefined where the header does not tell. */
  readonly pageSize: number | undefined;
  readonly state: LogState;
  readonly frames: readonly LogFrame[];
}

/** What SQLite would do with a log. The page size matters only where the log's own header is damaged. */
export const describeLog = (bytes: Uint8Array, pageSize = pageSizeOfStores): LogState => readLog(bytes, pageSize).state;

/** Reads a log: any bytes are a log, most of them an empty one. */
export const readLog = (bytes: Uint8Array, fallbackPageSize = pageSizeOfStores): Log => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const header = readHeader(view);
  const pageSize = header?.pageSize ?? fallbackPageSize;
  const step = frameHeaderSize + pageSize;
  const there = Math.max(0, Math.floor((bytes.length - headerSize) / step));
  if (there === 0) return { pageSize: header?.pageSize, state: emptyLog, frames: [] };

  const guess = header ?? guessHeader(view, there, step);
  const at = (index: number): number => headerSize + index * step;
  const saltsAt = (index: number): bigint => view.getBigUint64(at(index) + 8);
  const pageAt = (index: number): number => view.getUint32(at(index));
  const commitAt = (index: number): number => view.getUint32(at(index) + 4);
  const verifies = (index: number): boolean => frameVerifies(view, at(index), step, index === 0, guess.little);

  // A log is written from its beginning, so that everything before a frame of today is of today, whatever its salts say.
  let frames = there;
  while (frames > 0 && saltsAt(frames - 1) !== guess.salts) frames -= 1;
  const verified: boolean[] = [];
  for (let index = 0; index < frames; index += 1) verified.push(verifies(index));
  // The checksum of a frame does not cover its salts: where they alone are damaged, it still follows its predecessor.
  for (; frames > 0 && frames < there && verifies(frames); frames += 1) verified.push(true);

  let recovered = 0;
  for (let index = 0; index < (header === undefined ? 0 : frames); index += 1) {
    if (verified[index] !== true || saltsAt(index) !== guess.salts || pageAt(index) === 0) break;
    if (commitAt(index) > 0) recovered = index + 1;
  }

  // A damaged frame may seem to end a transaction: then the size it tells is hardly one that the database can have.
  const sizes = verified.map((holds, index) => (holds ? commitAt(index) : 0));
  const largest = sizes.reduce((size, other) => Math.max(size, other), 0);
  const commits = (index: number): boolean =>
    commitAt(index) > 0 && (verified[index] === true || largest === 0 || commitAt(index) <= largest + frames);
  let committed = frames;
  while (committed > 0 && !commits(committed - 1)) committed -= 1;

  const lastOnly = committed > recovered && isOneTransaction(recovered, committed, commits);
  const state: LogState = {
    frames,
    recoveredFrames: recovered,
    committedFrames: committed,
    broken:
      header === undefined
        ? committed > 0 && !isHeaderHalfWritten(view, guess, step)
        : committed > recovered &&
          // What others were written behind was synced, and acknowledged.
          (!lastOnly || committed < frames || verified[committed - 1] === true || at(committed) === bytes.length),
    lastOnly,
  };
  const kept = Array.from({ length: committed }, (_, index) => ({
    page: pageAt(index),
    commit: commitAt(index),
    verified: verified[index] === true,
    content: bytes.subarray(at(index) + frameHeaderSize, at(index + 1)),
  }));
  return { pageSize: header?.pageSize, state, frames: kept };
};

const headerSize = 32;
const frameHeaderSize = 24;

const emptyLog: LogState = { frames: 0, recoveredFrames: 0, committedFrames: 0, broken: false, lastOnly: false };

/** What a log's header says that matters here. */
interface Header {
  readonly pageSize: number;
  readonly salts: bigint;
  /** Checksums read the log as little-endian words. */
  readonly little: boolean;
}

/** The header, where SQLite would believe it (section 4.1). */
const readHeader = (view: DataView): Header | undefined => {
  if (view.byteLength < headerSize) return undefined;
  const magic = view.getUint32(0);
  const pageSize = view.getUint32(8);
  if ((magic & 0xff_ff_ff_fe) !== 0x37_7f_06_82 || view.getUint32(4) !== 3_007_000) return undefined;
  if (pageSize < 512 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) return undefined;
  const little = (magic & 1) === 0;
  const sum = checksum(view, 0, 24, little, noSum);
  return sum === view.getBigUint64(24) ? { pageSize, salts: view.getBigUint64(16), little } : undefined;
};

/**
 * What a damaged header said. Frames of an earlier round lie behind those of today and can be the majority, so that the
 * first frame counts that is verified, else the first one that is not alone with its salts.
 */
const guessHeader = (view: DataView, there: number, step: number): Omit<Header, 'pageSize'> => {
  const saltsAt = (index: number): bigint => view.getBigUint64(headerSize + index * step + 8);
  const countBySalts = new Map<bigint, number>();
  const verified = { little: 0, big: 0 };
  let first: number | undefined;
  for (let index = 0; index < there; index += 1) {
    const offset = headerSize + index * step;
    const little = frameVerifies(view, offset, step, index === 0, true);
    const big = frameVerifies(view, offset, step, index === 0, false);
    if (little) verified.little += 1;
    if (big) verified.big += 1;
    if (little || big) first ??= index;
    countBySalts.set(saltsAt(index), (countBySalts.get(saltsAt(index)) ?? 0) + 1);
  }
  for (let index = 0; first === undefined && index < there; index += 1) {
    if ((countBySalts.get(saltsAt(index)) ?? 0) > 1) first = index;
  }
  return { salts: saltsAt(first ?? 0), little: verified.little >= verified.big };
};

/**
 * Whether a frame is what was written after its predecessor (section 4.3). The chain goes through what is stored in the
 * predecessor, so that a damaged page does not take the frames behind it along.
 */
const frameVerifies = (view: DataView, offset: number, step: number, first: boolean, little: boolean): boolean => {
  const stored = view.getBigUint64(offset + 16);
  const holds = (seed: bigint): boolean =>
    checksum(
      view,
      offset + frameHeaderSize,
      offset + step,
      little,
      checksum(view, offset, offset + 8, little, seed),
    ) === stored;
  if (!first) return holds(view.getBigUint64(offset - step + 16));
  return holds(view.getBigUint64(24)) || holds(checksum(view, 0, 24, little, noSum));
};

/** What a checksum begins with. */
const noSum = 0n;

/** The checksum of section 4.2 over whole pairs of words, as it is stored: two big-endian words. */
const checksum = (view: DataView, from: number, to: number, little: boolean, seed: bigint): bigint => {
  let first = Number(seed >> 32n) | 0;
  let second = Number(seed & 0xff_ff_ff_ffn) | 0;
  for (let offset = from; offset < to; offset += 8) {
    first = (first + view.getInt32(offset, little) + second) | 0;
    second = (second + view.getInt32(offset + 4, little) + first) | 0;
  }
  return (BigInt(first >>> 0) << 32n) | BigInt(second >>> 0);
};

const isOneTransaction = (recovered: number, committed: number, commits: (index: number) => boolean): boolean => {
  for (let index = recovered; index < committed - 1; index += 1) if (commits(index)) return false;
  return true;
};

/**
 * Whether a header that does not hold is the beginning of a new one over the end of the old one. A log is only begun anew
 * when all of it was brought into the database, so that nothing is lost then. A new header counts the round and the first
 * salt up by one, and has a new second salt (section 4.1).
 */
const isHeaderHalfWritten = (view: DataView, guess: Omit<Header, 'pageSize'>, step: number): boolean => {
  const old = new DataView(new ArrayBuffer(headerSize));
  for (let offset = 0; offset < 12; offset += 4) old.setUint32(offset, view.getUint32(offset));
  old.setUint32(12, view.getUint32(12) - 1);
  old.setBigUint64(16, guess.salts);
  const sum = checksum(old, 0, 24, guess.little, noSum);
  // The checksum is still the old one.
  if (sum === view.getBigUint64(24)) return true;
  if (view.getUint32(16) !== Number(((guess.salts >> 32n) + 1n) & 0xff_ff_ff_ffn)) return false;
  const page = checksum(view, headerSize, headerSize + 8, guess.little, sum);
  return (
    checksum(view, headerSize + frameHeaderSize, headerSize + step, guess.little, page) ===
    view.getBigUint64(headerSize + 16)
  );
};
