import { genesis, hashEvent, type StoredEvent } from './event.ts';

/** The first link of a chain that does not hold, or undefined. Events are given from seq 1 in order. */
export const findBrokenLink = (events: Iterable<StoredEvent>): BrokenLink | undefined => {
  const follow = followChain();
  for (const event of events) {
    const broken = follow(event);
    if (broken !== undefined) return broken;
  }
  return undefined;
};

/** Where a chain does not hold. */
export interface BrokenLink {
  readonly seq: number;
  readonly problem: string;
}

/**
 * The same for events that come one by one, from the first or behind another one: what is wrong is answered with the event
 * that shows it, and from then on.
 */
export const followChain = (
  behind?: Pick<StoredEvent, 'seq' | 'hash'>,
): ((event: StoredEvent) => BrokenLink | undefined) => {
  let previous = behind?.hash ?? genesis;
  let expected = (behind?.seq ?? 0) + 1;
  let broken: BrokenLink | undefined;
  return (event) => {
    if (broken !== undefined) return broken;
    if (event.seq !== expected) {
      broken = { seq: expected, problem: `event ${expected} is missing, found ${event.seq}` };
    } else if (hashEvent(previous, event) !== event.hash) {
      broken = { seq: event.seq, problem: `event ${event.seq} differs from its hash` };
    }
    previous = event.hash;
    expected += 1;
    return broken;
  };
};
