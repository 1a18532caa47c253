import { isJsonObject } from '../../lib/json.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { text } from './values.ts';
import { all, run, type Work } from './work.ts';

/** The newest samples of a session: values that come too often for events. */

/** By their names. What was damaged is not there: a sample is measured again. */
export function* selectSamples(session: string): Work<ReadonlyMap<string, JsonObject>> {
  const rows = yield* all('SELECT name, value FROM sample WHERE session = ? ORDER BY name', session);
  const samples = new Map<string, JsonObject>();
  for (const row of rows) {
    const value = parsed(text(row, 'value'));
    if (value !== undefined) samples.set(text(row, 'name'), value);
  }
  return samples;
}

const parsed = (json: string): JsonObject | undefined => {
  try {
    const value: Json = JSON.parse(json);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Keeps a sample in the place of the one before, or forgets it. */
export function* changeSample(session: string, name: string, value: JsonObject | null): Work<void> {
  if (value === null) {
    yield* run('DELETE FROM sample WHERE session = ? AND name = ?', session, name);
    return;
  }
  yield* run(
    `INSERT INTO sample (session, name, value) VALUES (?, ?, ?)
     ON CONFLICT (session, name) DO UPDATE SET value = excluded.value`,
    session,
    name,
    JSON.stringify(value),
  );
}
