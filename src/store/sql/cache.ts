import type { Kind } from '../../kernel/kind.ts';
import type { StoredSession, Weight } from '../rows.ts';
import type { Loaded } from './load.ts';

/** A session whose state was folded. */
export type Folded = Loaded & { readonly weight: Weight };

/** The sessions that a process has folded last, so that one which lives on does not parse and fold them again. */
export interface Cache {
  /** The session of an intact row. The hash of its newest event names all that came before: there is no other such state. */
  readonly find: (stored: StoredSession, kind: Kind) => Folded | undefined;
  /** Keeps a session that was committed, and nothing else. */
  readonly keep: (folded: Folded) => void;
}

/** At most so many sessions, and so much of their states as JSON, in UTF-16 code units; a state takes a few times that. */
const most = { sessions: 8, weight: 16_000_000 } as const;

/** An empty cache. */
export const createCache = (): Cache => {
  const known = new Map<string, Folded>();
  return {
    find: (stored, kind) => {
      const found = known.get(stored.key);
      return found !== undefined &&
        found.session.kind === kind &&
        found.stored.hash === stored.hash &&
        found.stored.seq === stored.seq &&
        found.stored.checksum === stored.checksum
        ? found
        : undefined;
    },
    keep: (folded) => {
      const { key } = folded.stored;
      known.delete(key);
      // What was looked up with it is as it was then.
      const session = { ...folded.session, processes: new Map(), renewals: new Map(), samples: new Map() };
      known.set(key, { ...folded, session });
      let total = [...known.values()].reduce((sum, { weight }) => sum + weight.snapshot + weight.tail, 0);
      for (const [oldest, { weight }] of known) {
        if (known.size <= most.sessions && total <= most.weight) return;
        known.delete(oldest);
        total -= weight.snapshot + weight.tail;
      }
    },
  };
};
