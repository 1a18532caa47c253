import { fstatSync, openSync, readSync } from 'node:fs';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { Json } from '../../lib/canonical-json.ts';
import { decodeUtf8, errnoCode, fileProblem } from '../../lib/atomic-file.ts';
import { parseJson } from '../../lib/json-text.ts';
import { err, ok, type Result } from '../../lib/result.ts';

/** Most bytes of a payload; more is refused, never cut. */
export const largestPayload = 16 * 1024 * 1024;

/** Reads a payload whole: UTF-8 JSON from a file or from standard input, however slowly it comes. */
export const readPayload = async (source: { readonly file: string } | 'stdin'): Promise<Result<Json, Refusal>> => {
  const name = source === 'stdin' ? 'standard input' : source.file;
  const bytes = source === 'stdin' ? await readStdin() : readFile(source.file);
  if (!bytes.ok) return bytes;
  const text = decodeUtf8(bytes.value);
  if (!text.ok)
    return err(refuse('invalid-input', `The payload in ${name} ${text.error}.`, { expected: 'JSON in UTF-8' }));
  if (text.value.trim() === '')
    return err(refuse('invalid-input', `There is no payload: ${name} is empty.`, { expected: 'JSON in UTF-8' }));
  const parsed = parseJson(text.value);
  if ('fault' in parsed)
    return err(refuse('invalid-input', `The payload in ${name} ${parsed.fault}.`, { expected: 'JSON in UTF-8' }));
  return ok(parsed.value);
};

const readFile = (path: string): Result<Uint8Array, Refusal> => {
  try {
    const file = openSync(path, 'r');
    if (fstatSync(file).isDirectory())
      return err(refuse('not-found', `The payload ${path} is a folder.`, { expected: 'a file' }));
    const chunks = [...chunksOf(file)];
    return joined(chunks, path);
  } catch (error) {
    const { code, problem } = fileProblem(path, error);
    return err(
      refuse(
        code === 'ENOENT' || code === 'ENOTDIR' ? 'not-found' : 'invalid-input',
        `The payload ${path} ${problem}.`,
        { expected: 'a file that can be read' },
      ),
    );
  }
};

const readStdin = async (): Promise<Result<Uint8Array, Refusal>> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (const chunk of chunksOf(0)) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > largestPayload) break;
    }
  } catch (error) {
    // A pipe that does not block has nothing yet: the rest is waited for. The stream costs milliseconds to load.
    if (errnoCode(error) !== 'EAGAIN') throw error;
    for await (const chunk of process.stdin) {
      const bytes: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      chunks.push(bytes);
      size += bytes.length;
      if (size > largestPayload) break;
    }
  }
  return joined(chunks, 'standard input');
};

function* chunksOf(file: number): Generator<Uint8Array> {
  let size = 0;
  while (size <= largestPayload) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    let length: number;
    try {
      length = readSync(file, chunk, 0, chunk.length, null);
    } catch (error) {
      // Windows reports the end of a pipe as an error.
      if (errnoCode(error) === 'EOF') return;
      throw error;
    }
    if (length === 0) return;
    size += length;
    yield chunk.subarray(0, length);
  }
}

const joined = (chunks: readonly Uint8Array[], name: string): Result<Uint8Array, Refusal> => {
  const bytes = Buffer.concat(chunks);
  if (bytes.length <= largestPayload) return ok(bytes);
  return err(
    refuse(
      'invalid-input',
      `The payload in ${name} is larger than ${largestPayload / 1024 / 1024} MiB; nothing was stored.`,
      {
        expected: `at most ${largestPayload} bytes`,
      },
    ),
  );
};
