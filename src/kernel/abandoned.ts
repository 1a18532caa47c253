import type { Kinds, RunningStep } from './kind.ts';
import { handsOutSteps } from './kinds.ts';
import { type Claim, lossOfClaim, observeSign, standingOfClaim, type Loss } from './lease.ts';
import type { Caller, SessionRow, Store } from './ports.ts';
import type { Host } from './process.ts';
import type { OpenedSession } from './session.ts';

/** An attempt that nobody works on any more. */
export interface Abandoned extends RunningStep {
  readonly because: Loss;
  /** Whether its step can be handed out again at once; else it will be in doubt, and somebody says what came of it. */
  readonly comesBack: boolean;
}

/** The attempts of a session that nobody works on any more, as far as can be seen, and why. */
export const abandonedIn = (
  session: Pick<OpenedSession, 'folded' | 'common' | 'samples' | 'renewals' | 'processes'>,
  now: string,
  host: Pick<Host, 'observe'>,
): readonly Abandoned[] => {
  const { folded, renewals, processes } = session;
  return (folded.steps?.running() ?? []).flatMap((running) => {
    const observe = ({ sign }: Claim): ReturnType<Host['observe']> => {
      const process = processes.get(sign?.process ?? '');
      const hasEnded = process !== undefined && process.endedAt !== null && process.outcome !== 'cancelled';
      return observeSign(sign === null ? null : { ...sign, hasEnded }, host);
    };
    const because = lossOfClaim(running.claim, renewals.get(running.id), now, observe);
    // Time alone takes no step from a worker that is seen at it: it would be done twice at once.
    if (because === 'expired' && observe(running.claim) === 'alive') return [];
    return because === undefined ? [] : [{ ...running, because, comesBack: comesBack(session, running, because) }];
  });
};

/** What the rules of its kind say of a step whose attempt is interrupted. */
const comesBack = (
  { folded, common, samples }: Pick<OpenedSession, 'folded' | 'common' | 'samples'>,
  { id: step, attempt }: RunningStep,
  because: Loss,
): boolean => {
  const decided = folded.decide({ type: 'interrupt-step', step, attempt, because }, { common, samples });
  return decided.ok && decided.value.some(({ type, data }) => type === 'StepInterrupted' && data['in_doubt'] === false);
};

/** Who works on the steps of a session, as far as can be seen. */
export interface AtWork {
  /** How many attempts somebody works on, and was not told to stop for now. */
  readonly working: number;
  readonly abandoned: readonly Abandoned[];
  /** When the workers of those were heard of last. */
  readonly heardAt: string | null;
}

/** Where there are no steps. */
export const nobodyAtWork: AtWork = { working: 0, abandoned: [], heardAt: null };

/**
 * Who works on the steps of a session of the store, as far as is known: nobody works on those of one that is closed, and of a
 * kind that cannot be loaded nothing is known.
 */
export const findAtWork = async (
  {
    store,
    host,
    caller,
    kinds,
  }: {
    readonly store: Store;
    readonly host: Host;
    readonly caller: Pick<Caller, 'now'>;
    readonly kinds: Kinds;
  },
  { key, kind, status }: Pick<SessionRow, 'key' | 'kind' | 'status'>,
): Promise<AtWork> => {
  if (status === 'closed' || !(await handsOutSteps(kinds, kind))) return nobodyAtWork;
  const session = await store.load(key);
  const running = session?.folded.steps?.running() ?? [];
  if (session === undefined || running.length === 0) return nobodyAtWork;
  const processes = new Map((await store.processes({ session: key })).map((process) => [process.id, process]));
  const renewals = await store.renewals(key);
  const abandoned = abandonedIn({ ...session, processes, renewals }, caller.now, host);
  const heardAt = abandoned
    .map(({ id, claim }) => standingOfClaim(claim, renewals.get(id), caller.now).at)
    .reduce<string | null>((a, b) => (a !== null && a > b ? a : b), null);
  return { working: workingOf(running, abandoned), abandoned, heardAt };
};

/** On how many of the attempts that run somebody works who was not told to stop for now. */
export const workingOf = (running: readonly RunningStep[], abandoned: readonly Abandoned[]): number => {
  const left = new Set(abandoned.map(({ id }) => id));
  return running.filter(({ id, isPaused = false }) => !isPaused && !left.has(id)).length;
};
