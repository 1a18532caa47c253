import { isRenewal, type Renewal } from '../../kernel/lease.ts';
import type { Database } from './database.ts';
import { number, text, textOrNull } from './values.ts';

/** What is kept of leases beside the log: renewals, and how many writes were refused. */

/** What was renewed of the lease of a session, under an empty name, and of its steps. What was damaged is not there. */
export const selectRenewals = (database: Database, session: string): ReadonlyMap<string, Renewal> =>
  new Map([...selectAll(database, session)].filter(([, renewal]) => isRenewal(renewal)));

/** Whether all of it is what was written. */
export const renewalsAreSound = (database: Database, session: string): boolean =>
  [...selectAll(database, session).values()].every(isRenewal);

/** Forgets what is not; answers whether there was any. */
export const dropUnsoundRenewals = (database: Database, session: string): boolean => {
  const unsound = [...selectAll(database, session)].filter(([, renewal]) => !isRenewal(renewal));
  for (const [step] of unsound) changeRenewal(database, session, step, null);
  return unsound.length > 0;
};

const selectAll = (database: Database, session: string): ReadonlyMap<string, Renewal> =>
  new Map(
    database
      .all(
        'SELECT step, token, renewed_at, expires_at FROM lease WHERE session = ? AND renewed_at IS NOT NULL',
        session,
      )
      .map((row) => [
        text(row, 'step'),
        { token: number(row, 'token'), at: text(row, 'renewed_at'), expiresAt: text(row, 'expires_at') },
      ]),
  );

/** Keeps a renewal, or forgets it. */
export const changeRenewal = (database: Database, session: string, step: string, renewal: Renewal | null): void => {
  if (renewal === null) {
    database.run('DELETE FROM lease WHERE session = ? AND step = ?', session, step);
    return;
  }
  database.run(
    `INSERT INTO lease (session, step, token, renewed_at, expires_at, refused) VALUES (?, ?, ?, ?, ?, 0)
     ON CONFLICT (session, step) DO UPDATE SET token = excluded.token, renewed_at = excluded.renewed_at,
       expires_at = excluded.expires_at`,
    session,
    step,
    renewal.token,
    renewal.at,
    renewal.expiresAt,
  );
};

/** The count of a row under a token. Nothing depends on it: what was damaged counts as none. */
const countUnder = (token: string): string =>
  `iif(refused_token IS ${token} AND refused BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER - 1}, refused, 0)`;

/** Counts a write that was refused under a claim; another claim begins anew. */
export const countRefusal = (database: Database, session: string, token: number, at: string): void =>
  database.run(
    `INSERT INTO lease (session, step, token, refused, refused_token, refused_at) VALUES (?1, '', ?2, 1, ?2, ?3)
     ON CONFLICT (session, step) DO UPDATE SET refused = ${countUnder('?2')} + 1, refused_token = ?2,
       refused_at = ?3`,
    session,
    token,
    at,
  );

/** How many writes were refused under a claim, and when the last one. */
export const selectRefusals = (
  database: Database,
  session: string,
  token: number,
): { readonly count: number; readonly at: string | null } => {
  const row = database.get(
    `SELECT ${countUnder('?2')} AS refused, refused_at FROM lease WHERE session = ?1 AND step = ''`,
    session,
    token,
  );
  const count = row === undefined ? 0 : number(row, 'refused');
  return { count, at: row === undefined || count === 0 ? null : textOrNull(row, 'refused_at') };
};
