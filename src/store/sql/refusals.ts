import { number, textOrNull } from './values.ts';
import { get, run, type Work } from './work.ts';

/** How many writes were refused under the claims of a lease, which is kept beside the log. */

/** The count of a row under a token. Nothing depends on it: what was damaged counts as none. */
const countUnder = (token: string): string =>
  `CASE WHEN lease.refused_token = ${token} AND lease.refused BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER - 1} THEN lease.refused ELSE 0 END`;

/** Counts a write that was refused under a claim; another claim begins anew. */
export const countRefusal = (session: string, token: number, at: string): Work<void> =>
  run(
    `INSERT INTO lease (session, step, token, refused, refused_token, refused_at) VALUES (?, '', ?, 1, ?, ?)
     ON CONFLICT (session, step) DO UPDATE SET refused = ${countUnder('excluded.refused_token')} + 1,
       refused_token = excluded.refused_token, refused_at = excluded.refused_at`,
    session,
    token,
    token,
    at,
  );

/** How many writes were refused under a claim, and when the last one. */
export function* selectRefusals(
  session: string,
  token: number,
): Work<{ readonly count: number; readonly at: string | null }> {
  const row = yield* get(
    `SELECT ${countUnder('?')} AS refused, refused_at FROM lease WHERE session = ? AND step = ''`,
    token,
    session,
  );
  const count = row === undefined ? 0 : number(row, 'refused');
  return { count, at: row === undefined || count === 0 ? null : textOrNull(row, 'refused_at') };
}
