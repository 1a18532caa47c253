import type { JsonObject } from '../lib/canonical-json.ts';
import type { StoredEvent } from './event.ts';
import { blockerOf, entryOf, entryToJson, type EntryType } from './journal.ts';
import type { Store } from './ports.ts';

/** Which entries are meant. */
export interface JournalQuery {
  /** What is written later is no part of the answer. */
  readonly until: number;
  readonly types: readonly (EntryType | 'blocker')[] | undefined;
  /** Only those behind this event. */
  readonly since: number | undefined;
  /** Only the newest so many. */
  readonly limit: number | undefined;
}

/** How many events are read at a time. */
const pageOfEvents = 1000;

/**
 * The entries of a session with what became of them, the oldest first. They are read from the end, so that the newest of a
 * long journal are there at once.
 */
export const readJournal = async (
  store: Store,
  key: string,
  { until, types, since = 0, limit = Number.POSITIVE_INFINITY }: JournalQuery,
): Promise<readonly JsonObject[]> => {
  const entries: JsonObject[] = [];
  /** What later events say of entries, by their ids. */
  const changes = new Map<number, JsonObject>();
  for (let last = until; ;) {
    const page = await store.events(key, { types: written, after: since, until: last, last: pageOfEvents });
    for (const event of page.toReversed()) {
      const entry = entryIn(event);
      if (entry !== undefined && types?.includes(entry.type) !== false)
        entries.push({ ...entry.json, ...changes.get(event.seq) });
      if (entries.length === limit) return entries.toReversed();
      for (const [id, change] of changesOf(event)) changes.set(id, change);
    }
    const [first] = page;
    if (first === undefined || page.length < pageOfEvents) return entries.toReversed();
    last = first.seq - 1;
  }
};

/** The entry that has taken the place of another one, looked for in the whole log. */
export const findSuccessor = async (store: Store, key: string, id: number): Promise<number | undefined> => {
  for (let after = id; ;) {
    const page = await store.events(key, { types: ['Noted'], after, first: pageOfEvents });
    const successor = page.find(({ data }) => data['supersedes'] === id);
    if (successor !== undefined) return successor.seq;
    if (page.length < pageOfEvents) return undefined;
    after = page.at(-1)?.seq ?? after;
  }
};

const written = ['Noted', 'BlockerRaised', 'BlockerCleared'];

const entryIn = (
  event: StoredEvent,
): { readonly type: EntryType | 'blocker'; readonly json: JsonObject } | undefined => {
  if (event.type === 'BlockerCleared') return undefined;
  if (event.type === 'Noted') {
    const entry = entryOf(event);
    return { type: entry.type, json: entryToJson(entry) };
  }
  const { id, at, actor, reason, needs } = blockerOf(event);
  return { type: 'blocker', json: { id, type: 'blocker', at, actor, text: reason, needs, cleared: null } };
};

/** What an event says of an earlier entry. */
const changesOf = ({ type, seq, at, actor, data }: StoredEvent): readonly (readonly [number, JsonObject])[] => {
  const { supersedes, blocker, how = null } = data;
  if (type === 'Noted') return typeof supersedes === 'number' ? [[supersedes, { superseded_by: seq }]] : [];
  return typeof blocker === 'number' ? [[blocker, { cleared: { id: seq, at, actor, how } }]] : [];
};
