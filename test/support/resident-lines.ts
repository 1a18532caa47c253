/** What is said between a test and the process that carries out its verbs. */
import { readSync } from 'node:fs';

/** What a verb is given. */
export interface Request {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What is said when it is over. */
export interface Response {
  readonly status: number;
  /** Whether the next verb finds nothing of it. */
  readonly isClean: boolean;
}

/** The next line of a pipe; undefined where it ends before. */
export const readLine = (file: number): string | undefined => {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.alloc(64 * 1024);
    const length = readSync(file, chunk, 0, chunk.length, null);
    if (length === 0) return undefined;
    chunks.push(chunk.subarray(0, length));
    if (chunk[length - 1] === 0x0a) return Buffer.concat(chunks).toString();
  }
};
