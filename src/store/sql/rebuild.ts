import { mirrorsOf, type Kind, type Kinds } from '../../kernel/kind.ts';
import { StoreFailure } from '../../kernel/ports.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { isIntact, proveSnapshot, saysTheSame, sessionToStored } from '../rows.ts';
import type { Transaction } from './backend.ts';
import { selectEvent } from './events.ts';
import { dropUnsoundRenewals } from './leases.ts';
import { replay } from './load.ts';
import { recordMirrors, selectMirrors } from './mirrors.ts';
import { rebuildProcesses } from './replayed-processes.ts';
import { selectKeys, selectSession, upsertSession } from './sessions.ts';
import { dropSnapshot, keepSnapshot, selectSnapshot } from './snapshots.ts';
import type { Work } from './work.ts';

/** Makes the row, the processes and the records of mirrors of a session anew; answers whether anything differed. */
export function* rebuildSession(kinds: Kinds, kind: Kind, key: string): Work<Transaction<Result<boolean, Refusal>>> {
  const leave = (refusal: Refusal) => ({ commit: false, value: err(refusal) });
  const stored = yield* selectSession(key);
  const { pass, isProved } = proveSnapshot(yield* selectSnapshot(key), kind);
  const replayed = yield* replay(kind, key, { pass });
  if (replayed === undefined) {
    return leave(refuse('not-found', `There is no session ${key}.`, { hint: 'stint list --all' }));
  }
  const { session, size } = replayed;
  if (stored !== undefined && isIntact(stored, kind) && stored.seq > session.common.seq) {
    return leave(
      refuse(
        'damaged',
        `its row counts ${stored.seq} events, its log holds ${session.common.seq}; it is left as it is`,
      ),
    );
  }
  if (session.unreadable !== undefined) {
    const { seq, type, reason } = session.unreadable;
    return leave(
      refuse(
        reason === 'newer' ? 'newer-version' : 'damaged',
        `event ${seq} (${type}) cannot be folded; it is left as it is`,
      ),
    );
  }
  const fresh = sessionToStored(session);
  const same = stored !== undefined && saysTheSame(stored, fresh, kind) && isProved();
  const recorded = new Map(
    (yield* selectMirrors([key])).map(({ place, path, source }) => [`${place} ${path}`, source]),
  );
  const complete = mirrorsOf(kinds, session).every(
    ({ place = session.common.place, path, source, isGone }) =>
      isGone === true || recorded.get(`${place} ${path}`) === source,
  );
  // Both are looked after, whatever the first one comes to.
  const besides = [yield* rebuildProcesses(session), yield* dropUnsoundRenewals(key)].includes(true);
  if (same && complete) return { commit: besides, value: ok(besides) };
  yield* upsertSession(fresh, stored);
  if (!isProved()) yield* dropSnapshot(key);
  if (!same) yield* keepSnapshot(session, { snapshot: 0, tail: size });
  if (!complete) yield* recordMirrors(kinds, undefined, session, (seq) => selectEvent(key, seq));
  return { commit: true, value: ok(true) };
}

/** Makes the rows of an older program anew, all at once. One that cannot be made stays what it is: reading finds out. */
export function* raiseRows(kinds: Kinds): Work<Transaction<undefined>> {
  for (const key of yield* selectKeys()) {
    try {
      const kind = kinds.get(key.slice(0, key.indexOf(':')));
      if (kind !== undefined) yield* rebuildSession(kinds, kind, key);
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error;
    }
  }
  return { commit: true, value: undefined };
}
