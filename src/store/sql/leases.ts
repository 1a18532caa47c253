import { isRenewal, type Renewal } from '../../kernel/lease.ts';
import { number, text } from './values.ts';
import { all, run, type Work } from './work.ts';

/** What is kept of leases beside the log: what was renewed of them. */

/** What was renewed of the lease of a session, under an empty name, and of its steps. What was damaged is not there. */
export function* selectRenewals(session: string): Work<ReadonlyMap<string, Renewal>> {
  return new Map([...(yield* selectAll(session))].filter(([, renewal]) => isRenewal(renewal)));
}

/** Whether everything that was renewed is what this program could have written. */
export function* renewalsAreSound(session: string): Work<boolean> {
  return [...(yield* selectAll(session)).values()].every(isRenewal);
}

/** Forgets the renewals that are not; answers whether there were any. */
export function* dropUnsoundRenewals(session: string): Work<boolean> {
  const unsound = [...(yield* selectAll(session))].filter(([, renewal]) => !isRenewal(renewal));
  for (const [step] of unsound) yield* changeRenewal(session, step, null);
  return unsound.length > 0;
}

function* selectAll(session: string): Work<ReadonlyMap<string, Renewal>> {
  const rows = yield* all(
    'SELECT step, token, renewed_at, expires_at FROM lease WHERE session = ? AND renewed_at IS NOT NULL',
    session,
  );
  return new Map(
    rows.map((row) => [
      text(row, 'step'),
      { token: number(row, 'token'), at: text(row, 'renewed_at'), expiresAt: text(row, 'expires_at') },
    ]),
  );
}

/** Keeps a renewal, or forgets it. */
export function* changeRenewal(session: string, step: string, renewal: Renewal | null): Work<void> {
  if (renewal === null) {
    yield* run('DELETE FROM lease WHERE session = ? AND step = ?', session, step);
    return;
  }
  yield* run(
    `INSERT INTO lease (session, step, token, renewed_at, expires_at, refused) VALUES (?, ?, ?, ?, ?, 0)
     ON CONFLICT (session, step) DO UPDATE SET token = excluded.token, renewed_at = excluded.renewed_at,
       expires_at = excluded.expires_at`,
    session,
    step,
    renewal.token,
    renewal.at,
    renewal.expiresAt,
  );
}
