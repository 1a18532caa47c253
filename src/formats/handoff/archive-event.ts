import type { Beforehand } from '../../kernel/dispatch.ts';
import { kernelEvent, type DecidedEvent } from '../../kernel/event.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import { standingTexts, type Ground, type Worked } from './live.ts';
import { pointerFrom, type Half, type PairPaths } from './print.ts';
import { withPointer } from './superseded.ts';
import { whereToData } from './take-in.ts';
import { pathsOf } from './stamps.ts';
import { nextStamp, stampIn, stampsIn } from './workspace.ts';

/** A pair is put by. */

/**
 * The stamp under which a pair is archived that another handover takes the place of: that of its own where it is free, else
 * the next one that is, and not that of the other one.
 */
export const stampFor = (
  world: World,
  { look }: Ground,
  path: string | null,
  next: string | null | undefined,
): string => {
  const own = path === null || path === next ? undefined : stampIn(path);
  const isFree = own !== undefined && !world.files.exists(`${look.root}/session-state/${own}_session-state.md`);
  const other = typeof next === 'string' ? (stampIn(next) ?? []) : [];
  return isFree ? own : nextStamp(world.caller.now, [...stampsIn(look), other].flat());
};

/**
 * A session leaves the documents of a checkout to another one, whose handover is `next`: its pair is archived, and its own
 * handover, which named `CURRENT.md`, names what was archived.
 */
export const decideLeave = (
  world: World,
  ground: Ground,
  session: OpenedSession,
  { documents }: Beforehand,
  next: string | null,
): readonly DecidedEvent[] => {
  const where = session.common.documents;
  if (where === undefined) return [];
  const pair = documents.get(session.key)?.pair as { readonly bases: Worked['bases'] } | undefined;
  const bases = pair?.bases ?? { handover: undefined, session_state: undefined };
  return [
    archiveEvent({ session, bases }, stampFor(world, ground, where.handover, next), {
      isSuperseded: where.handover !== next,
      isLeft: true,
    }),
  ];
};

/** The event with which a pair is put by under a stamp: a copy, or what another handover or session takes the place of. */
export const archiveEvent = (
  worked: Worked,
  stamp: string,
  {
    isSuperseded,
    isLeft,
    paths,
    texts: found = {},
  }: {
    readonly isSuperseded: boolean;
    readonly isLeft: boolean;
    readonly paths?: PairPaths | undefined;
    /** What is archived of a half, where that is not what the session makes of it. */
    readonly texts?: Readonly<Partial<Record<Half, string>>>;
  },
): DecidedEvent => {
  const where = worked.session.common.documents;
  if (where === undefined) throw new Error(`${worked.session.key} has no documents`);
  const usual = pathsOf(stamp);
  const archived = paths ?? (where.handover === null ? { ...usual, handover: null } : usual);
  const texts = { ...standingTexts(worked), ...found };
  const superseded = isSuperseded && where.handover !== archived.handover ? where.handover : null;
  const put = (half: Half): string => withPointer(half, texts[half], pointerFrom(half, archived), isSuperseded);
  return kernelEvent('PairArchived', {
    ...whereToData({ ...where, ...archived }),
    texts: {
      ...(archived.handover === null ? {} : { handover: { text: put('handover') } }),
      session_state: { text: put('session_state') },
    },
    ...(superseded === null ? {} : { superseded }),
    ...(isLeft ? { left: true } : {}),
  });
};
