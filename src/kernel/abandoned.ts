import type { RunningStep } from './kind.ts';
import { lossOfClaim, observeSign, type Loss } from './lease.ts';
import type { Caller, Store } from './ports.ts';
import type { Host } from './process.ts';
import type { OpenedSession } from './session.ts';

/** An attempt that nobody works on any more. */
export type Abandoned = RunningStep & { readonly because: Loss };

/** The attempts of a session that nobody works on any more, as far as can be seen, and why. */
export const abandonedIn = (
  { folded, renewals, processes }: Pick<OpenedSession, 'folded' | 'renewals' | 'processes'>,
  now: string,
  host: Pick<Host, 'observe'>,
): readonly Abandoned[] =>
  (folded.steps?.running() ?? []).flatMap((running) => {
    const because = lossOfClaim(running.claim, renewals.get(running.id), now, ({ sign }) => {
      const process = processes.get(sign?.process ?? '');
      const hasEnded = process !== undefined && process.endedAt !== null && process.outcome !== 'cancelled';
      return observeSign(sign === null ? null : { ...sign, hasEnded }, host);
    });
    return because === undefined ? [] : [{ ...running, because }];
  });

/** The same of a session of the store. */
export const findAbandoned = async (
  { store, host, caller }: { readonly store: Store; readonly host: Host; readonly caller: Pick<Caller, 'now'> },
  key: string,
): Promise<readonly Abandoned[]> => {
  const session = await store.load(key);
  if (session === undefined) return [];
  const processes = new Map((await store.processes({ session: key })).map((process) => [process.id, process]));
  return abandonedIn({ ...session, processes, renewals: await store.renewals(key) }, caller.now, host);
};
