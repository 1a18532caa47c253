import { bodyOf, statusOf, valueOf } from './document.ts';
import type { Change } from './edit.ts';
import type { Sections } from './sections.ts';
import { blockersIn } from './take-in.ts';
import type { Status } from './statuses.ts';
import { isNone, labelled, listItems } from './values.ts';

/** Two documents that say two things become one account: which of them counts for what. */

/** What is true of both halves, and why the status is what it is. */
export interface Reconciled {
  readonly change: Change & { readonly status: Status };
  readonly because: string;
}

/** What is seen of the work itself: it counts more than both documents. */
export interface Evidence {
  /** Why it is not done, whatever they say; empty where nothing speaks against it. */
  readonly against: readonly string[];
}

/**
 * One account of two halves. The session state counts for what is under way, the handover for what was handed over; `done`
 * stands only where nothing speaks against it.
 */
export const reconcile = (
  transfer: Sections,
  state: Sections,
  said: { readonly status?: Status | undefined; readonly owner?: string | undefined; readonly by: string },
  { against }: Evidence,
): Reconciled => {
  const left = listItems(bodyOf(state, 'Remaining steps'));
  const remaining = state.sections.some(({ name }) => name === 'Remaining steps')
    ? left
    : listItems(bodyOf(transfer, 'Remaining work'));
  const blockers = blockersIn(bodyOf(state, 'Blockers'));
  const { status, because } = statusFor(transfer, state, {
    said: said.status,
    remaining,
    against,
    isBlocked: blockers.length > 0,
  });
  const owners = [valueOf(state, 'Next owner'), valueOf(transfer, 'Next owner'), said.by];
  const task = [valueOf(transfer, 'Task summary'), valueOf(state, 'Task')].find((one) => !isNone(one));
  const current = [valueOf(state, 'Current step'), valueOf(transfer, 'Current step')].find((one) => !isNone(one));
  const last = [valueOf(state, 'Last completed step'), valueOf(transfer, 'Last completed step')].find(
    (one) => !isNone(one),
  );
  return {
    because,
    change: {
      status,
      task,
      next_owner: status === 'done' ? undefined : (said.owner ?? owners.find((owner) => !isNone(owner))),
      current_step: current ?? 'None',
      last_completed_step: last ?? 'None',
      remaining_step: remaining,
    },
  };
};

const statusFor = (
  transfer: Sections,
  state: Sections,
  {
    said,
    remaining,
    against,
    isBlocked,
  }: {
    readonly said: Status | undefined;
    readonly remaining: readonly string[];
    readonly against: readonly string[];
    readonly isBlocked: boolean;
  },
): { readonly status: Status; readonly because: string } => {
  if (said !== undefined) return { status: said, because: 'it was said' };
  const [live, handed] = [statusOf(state), statusOf(transfer)];
  const isDone = handed === 'done' && live === 'done';
  const isSure = remaining.length === 0 && !isBlocked && against.length === 0;
  if (live === 'done' || (live === undefined && handed === 'done')) {
    if (isDone && isSure && isNone(valueOf(state, 'Next owner'))) return { status: 'done', because: 'both say so' };
    if (isBlocked) return { status: 'blocked', because: 'it is not done while something blocks it' };
    if (remaining.length > 0) return { status: 'in-progress', because: 'it is not done while steps are left' };
    return { status: 'ready-for-review', because: against[0] ?? 'only one of them says that it is done' };
  }
  if (live !== undefined) return { status: live, because: 'the session state says so' };
  const transferBlocked = labelled(bodyOf(transfer, 'Blockers and decisions'), 'Blockers').length > 0;
  if (isBlocked || transferBlocked) return { status: 'blocked', because: 'something blocks it' };
  return {
    status: handed ?? 'in-progress',
    because: handed === undefined ? 'neither says it' : 'the handover says so',
  };
};
