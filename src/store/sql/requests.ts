import type { NewRequest, StoredRequest } from '../../kernel/ports.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { parseStored, text } from './values.ts';
import { get, run, type Row, type Work } from './work.ts';

/** How long a request is remembered, in milliseconds: 30 days. */
const memory = 30 * 24 * 3_600_000;

/** A request that was carried out, by its id. */
export function* selectRequest(id: string): Work<StoredRequest | undefined> {
  const row = yield* get('SELECT id, verb, actor, digest, answer, at FROM request WHERE id = ?', id);
  return row === undefined ? undefined : rowToRequest(row);
}

/** A request as its row has it. */
export const rowToRequest = (row: Row): StoredRequest => ({
  id: text(row, 'id'),
  verb: text(row, 'verb'),
  actor: text(row, 'actor'),
  digest: text(row, 'digest'),
  answer: parseStored(row, 'answer'),
  at: text(row, 'at'),
});

/** Remembers a request with its answer, and forgets those that are too old. */
export function* insertRequest(request: NewRequest, actor: string, answer: JsonObject, now: string): Work<void> {
  yield* run('DELETE FROM request WHERE at < ?', new Date(Date.parse(now) - memory).toISOString());
  yield* run(
    'INSERT INTO request (id, verb, actor, digest, answer, at) VALUES (?, ?, ?, ?, ?, ?)',
    request.id,
    request.verb,
    actor,
    request.digest,
    JSON.stringify(answer),
    now,
  );
}
