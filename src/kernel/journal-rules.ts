import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { truncate } from '../lib/text.ts';
import type { Common } from './common.ts';
import { kernelEvent, type DecidedEvent, type StoredEvent } from './event.ts';
import {
  blockersOf,
  countIn,
  mostBlockers,
  mostCharacters,
  recentLimits,
  type Blocker,
  type Entry,
  type EntryType,
  type Journal,
} from './journal.ts';
import { decideOpened } from './lifecycle.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Session } from './session.ts';
import { unblockCommand } from './view.ts';

/** A session with what is kept of its journal. */
type Kept = Pick<Common, 'key'> & { readonly journal?: Journal | undefined };

type Decision = Result<readonly DecidedEvent[], Refusal>;

/** An entry of a type; one that takes the place of another is told what that is. A closed session takes it too. */
export const decideEntry = (
  session: Session,
  type: EntryType,
  said: JsonObject,
  superseded: Entry | undefined,
): Decision =>
  decideOpened(session, ({ common }) => {
    const refusal = superseded === undefined ? undefined : refuseSupersede(common, type, superseded);
    return refusal === undefined ? ok([kernelEvent('Noted', { entry: type, ...said })]) : err(refusal);
  });

/** What may take the place of what: like of like, and what is decided of what was assumed, or the other way round. */
const classOf = (type: EntryType): EntryType => (type === 'assumption' ? 'decision' : type);

const refuseSupersede = (common: Common, type: EntryType, superseded: Entry): Refusal | undefined => {
  const { key, journal } = common;
  if (classOf(type) !== classOf(superseded.type))
    return refuseEntry(
      'illegal-transition',
      `Entry ${superseded.id} of ${key} is ${called(superseded.type)}, and ${called(type)} does not take its place.`,
      common,
      type,
    );
  const successor = Object.values(journal?.recent ?? {})
    .flat()
    .find(({ supersedes }) => supersedes === superseded.id);
  if (successor === undefined && isHeld(journal, superseded) !== false) return undefined;
  return refuseSuperseded(common, superseded.id, successor?.id, type);
};

/** Whether an entry holds, told by what is kept with its session; undefined where that does not reach back to it. */
export const isHeld = (journal: Journal | undefined, { id, type }: Pick<Entry, 'id' | 'type'>): boolean | undefined => {
  const recent = journal?.recent[type] ?? [];
  if (recent.some((one) => one.id === id)) return true;
  const [oldest] = recent;
  const isWhole = countIn(journal, type) <= recentLimits[type];
  return isWhole || (oldest !== undefined && id > oldest.id) ? false : undefined;
};

/** That another entry has taken that place. */
export const refuseSuperseded = (common: Kept, id: number, by: number | undefined, type: EntryType): Refusal =>
  refuseEntry(
    'illegal-transition',
    `Entry ${id} of ${common.key} was superseded${by === undefined ? '' : ` by entry ${by}`}.`,
    common,
    type,
  );

/** That there is no such entry to take the place of. */
export const refuseUnknownEntry = (common: Kept, id: number, type: EntryType): Refusal =>
  refuseEntry('not-found', `There is no entry ${id} in the journal of ${common.key}.`, common, type);

const refuseEntry = (
  code: 'illegal-transition' | 'not-found',
  message: string,
  { key, journal }: Kept,
  type: EntryType,
): Refusal => {
  const those = type === 'decision' || type === 'assumption' ? (['decision', 'assumption'] as const) : [type];
  const flags = those.map((one) => ` --type ${one}`).join('');
  return refuse(code, message, {
    expected: `the number of ${those.map(called).join(' or ')} that holds`,
    candidates: those.flatMap((one) => (journal?.recent[one] ?? []).map(({ id }) => String(id))),
    hint: `stint journal --session ${key}${flags}`,
  });
};

const called = (type: EntryType): string => `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;

/** Puts on record what keeps the work from going on. What is open with the same words already is not raised again. */
export const decideBlock = (session: Session, reason: string, needs: string | null): Decision =>
  decideOpened(session, (opened) => raiseBlocker(opened.common, reason, needs), { mustBeOpen: true });

/** The same for an open session that is there. */
export const raiseBlocker = (common: Kept, reason: string, needs: string | null): Decision => {
  if (findBlocker(common, reason, needs) !== undefined) return ok([]);
  const open = blockersOf(common);
  return open.length >= mostBlockers
    ? err(
        refuse('invariant-unmet', `${common.key} has ${open.length} open blockers already.`, {
          expected: `fewer than ${mostBlockers} open blockers`,
          ...waysToUnblock(common),
        }),
      )
    : ok([kernelEvent('BlockerRaised', { reason, ...(needs === null ? {} : { needs }) })]);
};

/** The open blocker with these words. Of long ones it is compared what is kept of them with the session. */
export const findBlocker = (common: Kept, reason: string, needs: string | null): Blocker | undefined => {
  const kept = (text: string): string => truncate(text, mostCharacters);
  return blockersOf(common).find(
    (one) => one.reason === kept(reason) && one.needs === (needs === null ? null : kept(needs)),
  );
};

/**
 * Puts on record that a blocker is none any more. `raised` is the event that is named, as far as there is one; without a
 * name it is the only open one, and of several none is guessed.
 */
export const decideUnblock = (
  session: Session,
  named: { readonly id: number; readonly raised: StoredEvent | undefined } | undefined,
  how: string | null,
): Decision =>
  decideOpened(session, ({ common }) => {
    const open = blockersOf(common);
    const found = named === undefined ? open[0] : open.find(({ id }) => id === named.id);
    if (named === undefined && open.length > 1)
      return err(refuse('ambiguous', `${common.key} has ${open.length} open blockers.`, waysToUnblock(common)));
    if (found !== undefined)
      return ok([kernelEvent('BlockerCleared', { blocker: found.id, ...(how === null ? {} : { how }) })]);
    if (named?.raised?.type === 'BlockerRaised') return ok([]);
    const what = named === undefined ? 'is not blocked' : `has no blocker ${named.id}`;
    return err(
      refuse('not-found', `${common.key} ${what}.`, {
        ...(open.length === 0
          ? { hint: `stint journal --session ${common.key} --type blocker` }
          : waysToUnblock(common)),
      }),
    );
  });

const waysToUnblock = (common: Kept): Pick<Refusal, 'legal' | 'candidates'> => {
  const open = blockersOf(common);
  return {
    legal: open.slice(0, mostShown).map(({ id }) => unblockCommand(common, id)),
    candidates: open.map(({ id }) => String(id)),
  };
};

/** Most blockers that are named in a line each. */
const mostShown = 5;
