import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { plainLine } from '../lib/text.ts';
import { namesText, objectsAt, table, textAt, textsAt } from './answer.ts';
import { loadedIn, type Order } from './dispatch.ts';
import type { DecidedEvent } from './event.ts';
import { holderOf, leaseFacts, refuseOthers } from './lease.ts';
import type { Guard } from './ports.ts';
import { refuse, type Refusal, type RefusalCode } from './refusal.ts';
import { isOpened, viewOfSession, type OpenedSession, type Session } from './session.ts';
import type { TakenOver } from './take-over.ts';
import type { VerbRefusal, World } from './verb.ts';

/** The order by which a verb takes over what another program has left, and how it tells of it. */

/** One of the sessions to take over, without the secrets in it. */
export interface Taking {
  readonly key: string;
  readonly path: string;
  readonly problems: readonly string[];
  readonly notes: readonly string[];
  /** How often each rule of the scanner fired. */
  readonly secrets: Readonly<Record<string, number>>;
  readonly decide: (session: Session) => Result<TakenOver, Refusal>;
}

/** What was not taken, by its path: what it is and why, or what is wrong with it. */
export interface Ignored extends JsonObject {
  readonly path: string;
  /** What keeps from being taken what could have been; none of what is of no concern. */
  readonly code?: RefusalCode;
}

/** All sessions that were found in one place. */
export interface Takings {
  readonly source: string;
  readonly takings: readonly Taking[];
  readonly ignored: readonly Ignored[];
  readonly guards?: readonly Guard[];
}

/**
 * Takes all of them over in one commit. What cannot be taken is told, and does not keep the others away; where there are no
 * others, that is a refusal with the same report.
 */
export const orderTakings = (
  world: World,
  { source, takings, ignored, guards }: Takings,
): Result<Order<JsonObject>, VerbRefusal> => {
  const worst = takings.length === 0 ? ignored.find(({ code }) => code !== undefined) : undefined;
  if (worst?.code !== undefined) {
    const refusal = refuse(worst.code, `Nothing was taken over. ${plainLine(ignoredText(worst))}`);
    return err({ refusal, report: { source, sessions: [], ignored: [...ignored] } });
  }
  const decide = (session: Session, taking: Taking): Result<TakenOver, Refusal> => {
    const taken = taking.decide(session);
    if (!taken.ok || taken.value.events.length === 0 || !isOpened(session) || world.caller.takeOver) return taken;
    const held = refuseOthers(leaseFacts(session, world.caller, world.host), () =>
      holderOf(world, world.places.here.id ?? ''),
    );
    return held === undefined ? taken : err(held);
  };
  return ok({
    fence: 'several',
    keys: takings.map(({ key }) => key),
    ...(guards === undefined ? {} : { guards }),
    decide: (sessions) => {
      const events = new Map<string, readonly DecidedEvent[]>();
      for (const taking of takings) {
        const taken = decide(loadedIn(sessions, taking.key), taking);
        if (taken.ok && taken.value.events.length > 0) events.set(taking.key, taken.value.events);
      }
      return ok(events);
    },
    answer: (after, before) => {
      const redacted: Record<string, number> = {};
      const sessions = takings.map((taking) => {
        const { key, path, problems, notes, secrets } = taking;
        const taken = decide(loadedIn(before, key), taking);
        const session = loadedIn(after, key);
        const isTaken = taken.ok && taken.value.events.length > 0;
        if (isTaken)
          for (const [rule, count] of Object.entries(secrets)) redacted[rule] = (redacted[rule] ?? 0) + count;
        return {
          session: key,
          path,
          result: taken.ok ? taken.value.result : 'left',
          ...(isOpened(session) ? standingToJson(session) : nothing),
          ...(taken.ok ? (taken.value.why === null ? {} : { why: taken.value.why }) : { why: taken.error.message }),
          problems: [...problems],
          ...(isTaken && notes.length > 0 ? { notes: [...notes] } : {}),
        };
      });
      return {
        source,
        sessions,
        ignored: [...ignored],
        ...(Object.keys(redacted).length === 0 ? {} : { redacted }),
      };
    },
  });
};

/** Of a session that could not be opened. */
const nothing = { position: null, status: null, archived: false, in_doubt: [], in_doubt_total: 0, next_action: null };

const standingToJson = (session: OpenedSession) => {
  const { common, folded } = session;
  const { position, next } = viewOfSession(session);
  const doubtful = folded.steps?.inDoubt() ?? [];
  return {
    position,
    status: common.outcome ?? (common.pause === null ? 'active' : 'paused'),
    archived: common.archivedAt !== null,
    in_doubt: doubtful.slice(0, 20),
    in_doubt_total: doubtful.length,
    next_action: { ...next },
  };
};

/** The answer for people. */
export const takingsText = (answer: JsonObject): string => {
  const sessions = objectsAt(answer, 'sessions');
  const open = sessions.filter((one) => ['active', 'paused'].includes(textAt(one, 'status')));
  const about = (one: JsonObject, what: string): readonly string[] => textsAt(one, what).map((text) => `  ${text}`);
  return [
    ...(sessions.length === 0 ? [`nothing to import in ${textAt(answer, 'source')}`] : []),
    ...table(
      sessions.map((one) => [
        textAt(one, 'result'),
        textAt(one, 'session'),
        textAt(one, 'position'),
        `${textAt(one, 'status')}${one['archived'] === true ? ', archived' : ''}`,
      ]),
    )
      .split('\n')
      .flatMap((row, index) => {
        const one = sessions[index];
        if (one === undefined) return [];
        const why = textAt(one, 'why');
        const doubtful = namesText(one, 'in_doubt');
        return [
          row,
          ...(why === '' ? [] : [`  ${why}`]),
          ...(doubtful === '' ? [] : [`  in doubt: ${doubtful}`]),
          ...about(one, 'problems'),
          ...about(one, 'notes'),
        ];
      }),
    ...objectsAt(answer, 'ignored').flatMap((one) => [`ignored: ${ignoredText(one)}`, ...about(one, 'more')]),
    ...(open.length === 0
      ? []
      : [`next: stint resume --session ${open.length === 1 ? textAt(open[0] ?? {}, 'session') : 'SESSION'}`]),
  ].join('\n');
};

const ignoredText = (one: JsonObject): string => {
  const line = textAt(one, 'line');
  const column = textAt(one, 'column');
  const place = [line, column].filter((part) => part !== '').map((part) => `:${part}`);
  const problem = textAt(one, 'problem');
  const said = (...keys: readonly string[]) => keys.map((key) => textAt(one, key)).filter((text) => text !== '');
  const about = problem === '' ? said('is', 'why').join('. ') : said('problem', 'hint').join(' ');
  return `${textAt(one, 'path')}${place.join('')}: ${about}`;
};
