import type { Beforehand } from '../../kernel/dispatch.ts';
import type { DecidedEvent } from '../../kernel/event.ts';
import { holderOf, leaseFacts, refuseOthers } from '../../kernel/lease.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { Session } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { archiveEvent, stampFor } from './archive-event.ts';
import { digestOfDocument } from './clean.ts';
import { decideOnDocuments, describedSession, liveTarget, type Ground, type Target, type Worked } from './live.ts';
import { wasVersion } from './seen.ts';
import { toldSession } from './told.ts';
import { mostBytes } from './look.ts';
import { currentPath } from './roots.ts';

/** What has the documents of a checkout makes way for another pair, and nothing of it is lost. */

/**
 * Whoever has them now: a session, unless it is that one, or what another program has left there, which becomes one. Refused
 * is what somebody works with.
 */
export const leavingTarget = async (
  world: World,
  ground: Ground,
  key: string | undefined,
  how: { readonly fence?: 'own' | undefined } = {},
): Promise<Result<Target | undefined, Refusal>> => {
  const described = await describedSession(world, ground.root);
  // What tells of a session that has its documents elsewhere leaves nothing: what is not known of it is kept beside.
  if (described === undefined && (await toldSession(world, ground)) !== undefined) return ok(undefined);
  const live = await liveTarget(world, ground, how);
  // What cannot be taken over is kept beside what is written there.
  if (!live.ok) return live.error.code === 'lease' ? live : ok(undefined);
  const { key: own, where } = live.value;
  const isThere = where === undefined || where.sessionState === currentPath;
  return ok(isThere && own !== key ? live.value : undefined);
};

/** Its pair is archived, and its handover says so. Refused while somebody else holds it: whoever does works with it. */
export const decideLeaving = (
  world: World,
  ground: Ground,
  left: Target | undefined,
  sessions: ReadonlyMap<string, Session>,
  beforehand: Beforehand,
  next: string | null,
): Result<ReadonlyMap<string, readonly DecidedEvent[]>, Refusal> => {
  if (left === undefined) return ok(new Map());
  const leave = (worked: Worked): Result<readonly DecidedEvent[], Refusal> => {
    const facts = leaseFacts(worked.session, world.caller, world.host);
    const held = refuseOthers(facts, () => holderOf(world, beforehand.origin.place));
    if (held !== undefined) return err(held);
    const own = worked.session.common.documents?.handover ?? null;
    const event = archiveEvent(worked, stampFor(world, ground, own, next), {
      isSuperseded: own !== next,
      isLeft: true,
      texts: left.found,
    });
    return ok([event]);
  };
  // What was found is archived as it was, whatever it says.
  const conflicts = Object.keys(left.found).length === 0 ? 'refuse' : 'settle';
  return decideOnDocuments(world, left, sessions, beforehand, leave, { conflicts });
};

/** The digests of what lies at paths and was never made or taken in here. */
export const unknownIn = async (world: World, ground: Ground, paths: readonly string[]): Promise<readonly string[]> => {
  const project = await world.project();
  const { id } = world.places.here;
  const unknown: string[] = [];
  for (const path of paths) {
    const text = project.whole(ground.look.root, path, mostBytes);
    if (!text.ok) continue;
    const digest = digestOfDocument(text.value);
    const isOurs = id !== null && (await wasVersion(world, id, `${ground.root}/${path}`, digest));
    if (!isOurs) unknown.push(digest);
  }
  return unknown;
};
