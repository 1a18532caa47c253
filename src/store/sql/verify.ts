import { followChain, type BrokenLink } from '../../kernel/chain.ts';
import { isLifecycle } from '../../kernel/event.ts';
import type { Kinds } from '../../kernel/kind.ts';
import { StoreFailure, type Finding } from '../../kernel/ports.ts';
import { absentSession, applyEvent, isOpened, type Session } from '../../kernel/session.ts';
import { repairHint } from '../hints.ts';
import { isOfOtherShape, proveSnapshot, saysTheSame, sessionToStored } from '../rows.ts';
import type { Backend } from './backend.ts';
import { eachEvent } from './events.ts';
import { renewalsAreSound } from './leases.ts';
import { processesAgree } from './replayed-processes.ts';
import { selectKeys, selectSession } from './sessions.ts';
import { selectSnapshot } from './snapshots.ts';
import { number, text } from './values.ts';
import { all, type Work } from './work.ts';

/** Checks the database, and for every session its chain and its projections. Nothing is changed. */
export function* verifyStore({ check }: Pick<Backend, 'check'>, kinds: Kinds): Work<readonly Finding[]> {
  const findings: Finding[] = check === undefined ? [] : [...(yield* check())];
  for (const key of yield* selectKeys()) {
    try {
      findings.push(...(yield* verifySession(kinds, key)));
    } catch (error) {
      // One session that cannot be read does not hide the others.
      if (!(error instanceof StoreFailure)) throw error;
      const { code, message } = error.refusal;
      findings.push({
        subject: key,
        problem: message,
        ...(code === 'damaged' ? { fix: repairHint, isDamage: true } : { fix: null }),
      });
    }
  }
  for (const subject of yield* selectOrphans()) {
    findings.push({ subject, problem: 'its events are there, but its row is not', fix: 'stint rebuild' });
  }
  return findings;
}

/** The keys of sessions whose events are there, but whose row is not. */
export function* selectOrphans(): Work<readonly string[]> {
  const rows = yield* all('SELECT DISTINCT session FROM event WHERE session NOT IN (SELECT key FROM session)');
  return rows.map((row) => text(row, 'session'));
}

function* verifySession(kinds: Kinds, key: string): Work<readonly Finding[]> {
  const found = (problem: string, fix: string | null = null): Finding => ({ subject: key, problem, fix });
  const damaged = (problem: string): Finding => ({ subject: key, problem, fix: repairHint, isDamage: true });
  const stored = yield* selectSession(key);
  if (stored === undefined) return [];
  const findings: Finding[] = [];
  const kind = kinds.get(stored.kind);

  let session: Session | undefined = kind === undefined ? undefined : absentSession(kind, key);
  let last = 0;
  let broken: BrokenLink | undefined;
  const snapshot = kind === undefined ? undefined : proveSnapshot(yield* selectSnapshot(key), kind);
  const follow = followChain();
  yield* eachEvent(key, {}, (event) => {
    broken = follow(event);
    if (broken !== undefined) return;
    if (session !== undefined) {
      session = applyEvent(session, event);
      snapshot?.pass(session);
    }
    last = event.seq;
  });
  if (broken !== undefined) return [damaged(`the chain is broken: ${broken.problem}`)];
  if (last !== stored.seq)
    findings.push(
      stored.seq > last
        ? damaged(`its row counts ${stored.seq} events, its log holds ${last}: events were lost`)
        : found(`its row counts ${stored.seq} events, its log holds ${last}`, `stint rebuild --session ${key}`),
    );
  if (kind === undefined || session === undefined)
    return [...findings, found(`this program does not know the kind ${stored.kind}: only its chain was verified`)];
  if (session.unreadable !== undefined) {
    const { seq, type, v } = session.unreadable;
    return [
      ...findings,
      found(`event ${seq} (${type}, version ${v}) cannot be folded by this program: only its chain was verified`),
    ];
  }
  if (!isOpened(session)) return [...findings, found('it has no events')];
  const fresh = sessionToStored(session);
  if (stored.seq <= last && !isOfOtherShape(stored, kind) && !saysTheSame(stored, fresh, kind)) {
    findings.push(found('its row differs from its events', `stint rebuild --session ${key}`));
  }
  if (snapshot?.isProved() === false) {
    findings.push(found('its snapshot differs from its events', `stint rebuild --session ${key}`));
  }
  if (!(yield* processesAgree(session))) {
    findings.push(found('its processes differ from its events', `stint rebuild --session ${key}`));
  }
  if (!(yield* renewalsAreSound(key))) {
    findings.push(found('what was renewed of its leases was damaged', `stint rebuild --session ${key}`));
  }
  for (const row of yield* all('SELECT type, lifecycle FROM event WHERE session = ? GROUP BY type, lifecycle', key)) {
    if (isLifecycle(text(row, 'type')) !== (number(row, 'lifecycle') === 1)) {
      findings.push(found(`its events of the type ${text(row, 'type')} are marked wrongly`));
    }
  }
  return findings;
}
