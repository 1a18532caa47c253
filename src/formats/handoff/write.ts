import type { Order } from '../../kernel/dispatch.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { appendEvents, type OpenedSession, type Origin } from '../../kernel/session.ts';
import type { DecidedEvent } from '../../kernel/event.ts';
import { refuseTime, withChange, type Change } from './edit.ts';
import { groundOf, standingTexts, type Changed, type Ground, type Worked } from './live.ts';
import type { Whereabouts } from './look.ts';
import type { Half } from './print.ts';
import { printSections, readSections } from './sections.ts';
import { takeIn, type Edit, type Written } from './take-in.ts';

/** Documents that verbs write. */

/** Who has written it, when, and why a status is taken that is no transition. */
export interface Signed {
  readonly updated_by: string;
  readonly last_updated?: string | undefined;
  readonly override?: string | undefined;
}

/**
 * What a change of the documents of a session comes to: it is taken in as if somebody had written it there. `instead`: what it
 * is written into, where that is not what stands; with `isMended` what it differs in from that is no news.
 */
export const decideChange = (
  worked: Worked,
  change: Change,
  { updated_by: updatedBy, last_updated: time, override }: Signed,
  origin: Origin,
  instead: Readonly<Partial<Record<Half, string | undefined>>> &
    Pick<Edit, 'taken' | 'replaces'> & { readonly isMended?: boolean } = {},
): Result<Changed, Refusal> => {
  const untold = refuseOwnerOf(worked.session, change.next_owner, updatedBy);
  if (untold !== undefined) return err(untold);
  const { documents } = worked.session.common;
  const standing = standingTexts(worked);
  const texts = {
    handover: instead.handover ?? standing.handover,
    session_state: instead.session_state ?? standing.session_state,
  };
  const written: { [Name in Half]?: Written } = {};
  const named = (['handover', 'session_state'] as const).filter(
    (half) => half !== 'handover' || documents?.handover !== null,
  );
  for (const half of named) {
    const changed = withChange(half, readSections(texts[half]), change);
    if (!changed.ok) return changed;
    written[half] = { text: printSections(changed.value), over: (instead.isMended === true ? texts : standing)[half] };
  }
  return takeIn(
    worked.session,
    worked.bases,
    {
      written,
      origin: 'verb',
      owner: change.status === 'done' ? undefined : change.next_owner,
      override,
      taken: instead.taken,
      replaces: instead.replaces,
      mark: { updatedAt: time ?? origin.now, updatedBy },
    },
    origin,
  );
};

/** Whether a session keeps who is to act next: of another one it is who wrote last. */
export const keepsOwner = ({ folded }: Pick<OpenedSession, 'folded'>): boolean => folded.handoff !== undefined;

/** Refuses to name who is to act next where a session does not keep that. */
export const refuseOwnerOf = (session: OpenedSession, owner: string | undefined, by: string): Refusal | undefined =>
  owner === undefined || owner === by || keepsOwner(session)
    ? undefined
    : refuse('invalid-input', `--next-owner: of a ${session.common.kind} it is who wrote last, here ${by}.`, {
        expected: `${by}, or no --next-owner`,
        hint: 'leave --next-owner out',
      });

/** A session behind events that were decided. */
export const behind = (session: OpenedSession, events: readonly DecidedEvent[], origin: Origin): OpenedSession => {
  const { session: after } = appendEvents(session, events, origin);
  return { ...after, common: after.common ?? session.common };
};

/** Where documents are made, once the time that is said of them is one. */
export const groundFor = async (
  world: World,
  input: Whereabouts & Pick<Signed, 'last_updated'>,
): Promise<Result<Ground, Refusal>> => {
  const refusal = refuseTime(input.last_updated);
  return refusal === undefined ? groundOf(world, input) : err(refusal);
};

/** A file that is written whole, by its path from the root of the documents. */
export interface WholeFile {
  readonly path: string;
  readonly text: string;
}

/** An order that writes files and no session, each whole, in their order. What is there already is replaced where it may be. */
export const orderFiles = (
  world: World,
  { look }: Ground,
  files: readonly WholeFile[],
  force: boolean,
  answer: JsonObject,
): Result<Order<JsonObject>, Refusal> => {
  const there = files.filter(({ path }) => world.files.exists(`${look.root}/${path}`));
  if (there.length > 0 && !force) return err(refuseThere(there.map(({ path }) => `${look.root}/${path}`)));
  const order: Order<JsonObject> = { keys: [], decide: () => ok(new Map()), answer: () => answer };
  return ok({
    ...order,
    work: async () => {
      const project = await world.project();
      for (const { path, text } of files) {
        const problem = force ? project.write(look.root, path, text) : project.create(look.root, path, text);
        if (problem === null) return err(refuseThere([`${look.root}/${path}`]));
        if (problem !== undefined)
          return err(
            refuse('invariant-unmet', `${look.root}/${path} ${problem}.`, { expected: 'a file that may be written' }),
          );
      }
      return ok({ order, at: world.caller.now });
    },
  });
};

/** That files are there which nobody has said to replace. */
export const refuseThere = (paths: readonly string[], hint = 'stint handoff update --updated-by WHO'): Refusal =>
  refuse('conflict', `${paths.join(' and ')} ${paths.length === 1 ? 'is' : 'are'} there already.`, {
    expected: 'other paths, or --force',
    candidates: paths,
    hint,
  });
