import { fstatSync, openSync, readSync } from 'node:fs';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { decodeUtf8, errnoCode, fileProblem } from '../../lib/atomic-file.ts';
import { jsonPath } from '../../lib/faults.ts';
import { isJsonObject } from '../../lib/json.ts';
import { parseJson } from '../../lib/json-text.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import type { Elsewhere, Source } from './arguments.ts';
import { flagNameOf } from './fields.ts';

/** Most bytes that are read; more is refused, never cut. */
export const largestPayload = 16 * 1024 * 1024;

/** Reads a payload whole: UTF-8 JSON from a file or from standard input, however slowly it comes. */
export const readPayload = async (source: Source): Promise<Result<Json, Refusal>> => readJson(source, 'payload');

/**
 * The input with what stands elsewhere: texts whole and as they are, without a byte order mark; and the members of JSON
 * objects as `NAME=VALUE`, before those that the command line says itself.
 */
export const readElsewhere = async (
  input: JsonObject,
  elsewhere: readonly Elsewhere[],
): Promise<Result<JsonObject, Refusal>> => {
  const read: Record<string, Json> = { ...input };
  for (const { field, holds, source } of elsewhere) {
    const what = flagNameOf(field);
    if (holds === 'text') {
      const text = await readText(source, what, 'UTF-8');
      if (!text.ok) return text;
      read[field] = text.value;
      continue;
    }
    const json = await readJson(source, what);
    if (!json.ok) return json;
    const values = isJsonObject(json.value) ? Object.entries(json.value) : undefined;
    const faults = values === undefined ? ['$ expected an object'] : values.flatMap(pairFaults);
    const [first] = faults;
    if (values === undefined || first !== undefined) {
      const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
      return err(
        refuse('invalid-input', `The ${what} in ${nameOf(source)} is not valid: ${first}${more}.`, {
          expected: 'a JSON object of texts',
          faults,
        }),
      );
    }
    const said = read[field];
    const own = Array.isArray(said) ? said : [];
    // What the command line says comes before what the file says of the same name.
    const names = new Set(own.map((pair) => String(pair).split('=', 1)[0]));
    const pairs = values
      .filter(([name]) => !names.has(name))
      .map(([name, value]) => `${name}=${typeof value === 'string' ? value : ''}`);
    read[field] = [...pairs, ...own];
  }
  return ok(read);
};

const pairFaults = ([name, value]: readonly [string, Json]): readonly string[] => [
  ...(/^[^=]+$/.test(name) ? [] : [`${jsonPath([name])} has no name for a value: expected one without =`]),
  ...(typeof value === 'string' ? [] : [`${jsonPath([name])} expected a text`]),
];

const readJson = async (source: Source, what: string): Promise<Result<Json, Refusal>> => {
  const expected = 'JSON in UTF-8';
  const name = nameOf(source);
  const text = await readText(source, what, expected);
  if (!text.ok) return text;
  if (text.value.trim() === '')
    return err(refuse('invalid-input', `There is no ${what}: ${name} is empty.`, { expected }));
  const parsed = parseJson(text.value);
  if ('fault' in parsed) return err(refuse('invalid-input', `The ${what} in ${name} ${parsed.fault}.`, { expected }));
  return ok(parsed.value);
};

const readText = async (source: Source, what: string, expected: string): Promise<Result<string, Refusal>> => {
  const bytes = source === 'stdin' ? await readStdin(what) : readFile(source.file, what);
  if (!bytes.ok) return bytes;
  const text = decodeUtf8(bytes.value);
  return text.ok ? text : err(refuse('invalid-input', `The ${what} in ${nameOf(source)} ${text.error}.`, { expected }));
};

const nameOf = (source: Source): string => (source === 'stdin' ? 'standard input' : source.file);

const readFile = (path: string, what: string): Result<Uint8Array, Refusal> => {
  try {
    const file = openSync(path, 'r');
    if (fstatSync(file).isDirectory())
      return err(refuse('not-found', `The ${what} ${path} is a folder.`, { expected: 'a file' }));
    const chunks = [...chunksOf(file)];
    return joined(chunks, path, what);
  } catch (error) {
    const { code, problem } = fileProblem(path, error);
    return err(
      refuse(
        code === 'ENOENT' || code === 'ENOTDIR' ? 'not-found' : 'invalid-input',
        `The ${what} ${path} ${problem}.`,
        { expected: 'a file that can be read' },
      ),
    );
  }
};

const readStdin = async (what: string): Promise<Result<Uint8Array, Refusal>> => {
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
  return joined(chunks, nameOf('stdin'), what);
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

const joined = (chunks: readonly Uint8Array[], name: string, what: string): Result<Uint8Array, Refusal> => {
  const bytes = Buffer.concat(chunks);
  if (bytes.length <= largestPayload) return ok(bytes);
  return err(
    refuse(
      'invalid-input',
      `The ${what} in ${name} is larger than ${largestPayload / 1024 / 1024} MiB; nothing was stored.`,
      {
        expected: `at most ${largestPayload} bytes`,
      },
    ),
  );
};
