import { canonicalJson, type JsonObject } from '../lib/canonical-json.ts';
import { withoutUndefined } from '../lib/json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { sha256 } from '../lib/sha256.ts';
import { nearest } from '../lib/nearest.ts';
import { resolve, resolveCaller } from './address.ts';
import { abandonedIn, findAtWork, nobodyAtWork, type Abandoned } from './abandoned.ts';
import type { BriefWish } from './brief.ts';
import { briefOf, lookAround, type Looked } from './brief-facts.ts';
import { leftSince } from './current.ts';
import { orderOne, placeOf, standingOf, type Order } from './dispatch.ts';
import type { DecidedEvent } from './event.ts';
import { stepWords, type KindCommand, type ReadyStep, type RunningStep } from './kind.ts';
import { holderOf, isSameHolder, observeSign, standingOfClaim, type Claim, type Renewal } from './lease.ts';
import { claimOf, claimToData, lengthOf, nextToken, renewalOf, type ClaimWish } from './lease-rules.ts';
import { decideResume, type Resumption } from './lifecycle-rules.ts';
import { decideCommand, decideOpened, refusePaused } from './lifecycle.ts';
import type { Beside, SessionRow } from './ports.ts';
import type { Host } from './process.ts';
import { findResults, noResults, recover, resultFile, type Recovered } from './recovery.ts';
import { refuse, type Refusal } from './refusal.ts';
import { appendEvents, viewOfSession, type OpenedSession, type Session } from './session.ts';
import { nextActionOf, surroundingsOf } from './query.ts';
import { goingOn, keepingResult, refuseSpeaker } from './steps.ts';
import type { World } from './verb.ts';
import { resumeCommand } from './view.ts';

/** Orders about steps that are handed out; no other verb is started with them. */

/** A step that was handed out to the caller. */
interface Handed {
  readonly step: ReadyStep;
  readonly claim: Claim;
}

/**
 * Hands ready steps out to the caller, each to nobody else. Attempts that were abandoned (their claim has expired, or whoever
 * was named with it is proved to be gone) are interrupted in the same transaction, and their steps come back where doing them
 * twice does no harm.
 */
export const orderHandOut = async (
  world: World,
  row: SessionRow,
  wish: Omit<ClaimWish, 'holder'>,
  limit: number,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const { caller, store } = world;
  const { key } = row;
  const place = placeOf(world);
  if (!place.ok) return place;
  const seen = await store.load(key);
  const holder = holderOf(world, place.value);
  const left = seen === undefined ? noResults : await findResults(world, row, seen);
  const fileOf = await resultFile(world.kinds, row);
  let handed: readonly Handed[] = [];
  let recovered: Recovered = { adopted: [], interrupted: [], running: [] };
  return ok({
    steps: true,
    processes: seen === undefined ? [] : processesIn(seen),
    beside: () => forgottenRenewals(key, recovered),
    ...orderOne(
      key,
      (session) =>
        decideOpened(
          session,
          (opened) => {
            if (opened.common.pause !== null) return err(refusePaused(opened.common));
            const steps = createSteps(opened, caller.now);
            const found = recover(world, opened, steps, { ...left, takesOver: false });
            if ('code' in found) return err(found);
            const claims: Handed[] = [];
            const isOpen = steps.session().common?.status === 'active';
            for (const step of (isOpen
              ? steps.session().folded.steps?.ready({ limit, now: caller.now }).steps
              : undefined) ?? []) {
              const token = nextToken(steps.session().folded.steps?.token() ?? 0, caller.now);
              const claim = claimOf({ holder, ...wish }, token, caller.now);
              const { id, attempt } = step;
              const refusal = steps.take({ type: 'claim-step', step: id, attempt, ...claimToData(claim) });
              if (refusal !== undefined) return err(refusal);
              claims.push({ step, claim });
            }
            handed = claims;
            recovered = found;
            return ok(steps.events());
          },
          { mustBeOpen: true },
        ),
      (after) => ({
        session: key,
        session_id: after.common.name,
        steps: handed.map(({ step, claim }) => ({
          ...stepToJson(step),
          token: claim.token,
          expires_at: claim.expiresAt,
          result_path: resultPath(world, row, fileOf(step.id, step.attempt)),
        })),
        ...restOf(after),
        ...recoveredToJson(recovered),
        ...(left.notes.length === 0 ? {} : { notes: [...left.notes] }),
        next_action: nextOf(after),
      }),
    ),
  });
};

/**
 * Hands out the step that is named, to the caller alone, and says that its work begins. What is asked of the kind before
 * (`prepare`) and what is known of the work (`facts`) go on record with it.
 */
export const orderStart = async (
  world: World,
  row: SessionRow,
  wish: Omit<ClaimWish, 'holder'>,
  { step, prepare, facts }: { readonly step: string; readonly prepare: KindCommand; readonly facts: JsonObject },
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const { caller, host, store } = world;
  const { key } = row;
  const place = placeOf(world);
  if (!place.ok) return place;
  const holder = holderOf(world, place.value);
  const fileOf = await resultFile(world.kinds, row);
  const seen = await store.load(key);
  let claim: Claim | undefined;
  return ok({
    fence: 'joins',
    steps: true,
    processes: seen === undefined ? [] : processesIn(seen),
    ...orderOne(
      key,
      (session) =>
        decideOpened(
          session,
          (opened) => {
            const steps = createSteps(opened, caller.now);
            const unprepared = steps.take(prepare);
            if (unprepared !== undefined)
              return err(withLeft(unprepared, opened, abandonedIn(opened, caller.now, host)));
            const { ready, token } = steps.session().folded.steps ?? {};
            const attempt = ready?.({ limit: 1, only: step }).steps[0]?.attempt ?? 1;
            const made = claimOf({ holder, ...wish }, nextToken(token?.() ?? 0, caller.now), caller.now);
            const said = Object.keys(facts).length === 0 ? {} : { facts };
            const refusal =
              steps.take({ type: 'claim-step', step, attempt, ...claimToData(made) }) ??
              steps.take({ type: 'start-step', step, attempt, ...said });
            if (refusal !== undefined) return err(refusal);
            claim = made;
            return ok(steps.events());
          },
          { mustBeOpen: true },
        ),
      (after) => {
        const running = after.folded.steps?.running().find(({ id }) => id === step);
        const attempt = running?.attempt ?? 1;
        return {
          session: key,
          session_id: after.common.name,
          step,
          attempt,
          token: claim?.token ?? 0,
          expires_at: claim?.expiresAt ?? '',
          result_path: resultPath(world, row, fileOf(step, attempt)),
          ...restOf(after),
          next_action: nextOf(after),
        };
      },
    ),
  });
};

/** A refusal to start something, where steps were left by whoever had them: to go on with them is what helps. */
const withLeft = (refusal: Refusal, { common }: OpenedSession, left: readonly Abandoned[]): Refusal =>
  left.length === 0 || !refusal.retryable
    ? refusal
    : {
        ...refusal,
        message: `${refusal.message} Left by whoever had them: ${left.map(({ id }) => id).join(', ')}.`,
        legal: [resumeCommand(common), ...(refusal.legal ?? [])],
        hint: resumeCommand(common),
      };

/** Where a result may be left, for the caller: whole where the session lies in another checkout, nowhere on another machine. */
const resultPath = ({ places }: World, row: SessionRow, path: string): string | null => {
  const { root, isElsewhere } = places.homeOf(row);
  if (isElsewhere === true) return null;
  return root === places.here.root ? path : `${root}/${path}`;
};

/** What is not kept any more beside the log of attempts that are over. */
const forgottenRenewals = (session: string, { adopted, interrupted }: Recovered): readonly Beside[] =>
  [...adopted.map(({ step }) => step), ...interrupted.map(({ id }) => id)].map((step) => ({
    session,
    step,
    renewal: null,
  }));

/** What became of attempts whose worker is gone, for whoever asked. */
const recoveredToJson = ({ adopted, interrupted }: Recovered): JsonObject => ({
  adopted: adopted.map(({ step, attempt, outcome, path }) => ({ id: step, attempt, outcome, path })),
  interrupted: interrupted.map(({ id, attempt, because }) => ({ id, attempt, because })),
});

/** What is said of the steps of a session that somebody goes on with. */
export interface Settling {
  /** Those in doubt that are to be done again, and those that are done. */
  readonly again: readonly string[];
  readonly done: readonly string[];
  readonly reason: string;
  /** Whether attempts that are still worked on are interrupted. */
  readonly takesOver: boolean;
}

/**
 * Goes on with an open session, on the record: ends a pause, recovers what was under way, and settles what is in doubt as the
 * caller says. What is finished is never done again, and what nobody knows about is asked about. The answer has the brief.
 */
export const orderResume = async (
  world: World,
  row: SessionRow,
  { again, done, reason, takesOver }: Settling,
  wish: BriefWish,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const { caller, store, host } = world;
  const { key } = row;
  const place = placeOf(world);
  if (!place.ok) return place;
  const process = await resolveCaller(world);
  if (!process.ok) return process;
  const seen = await store.load(key);
  const left = seen === undefined ? noResults : await findResults(world, row, seen);
  const notes = [
    ...left.notes,
    ...(seen === undefined ? [] : [...changedSources(world, row, seen), ...(await leftSince(world, row))]),
  ];
  const looked = seen === undefined ? undefined : await lookAround(world, seen, wish);
  let recovered: Recovered = { adopted: [], interrupted: [], running: [] };
  let wasPaused = false;
  return ok({
    fence: 'joins',
    steps: true,
    processes: seen === undefined ? [] : processesIn(seen),
    beside: () => forgottenRenewals(key, recovered),
    ...orderOne(
      key,
      (session) =>
        decideOpened(session, (opened) => {
          wasPaused = opened.common.pause !== null;
          const resumed = decideResume(opened, {
            actor: caller.actor,
            place: place.value,
            data: looked === undefined ? {} : checkedOut(looked),
          });
          if (!resumed.ok) return resumed;
          const steps = createSteps(opened, caller.now, process.value);
          steps.append(resumed.value);
          const found = recover(world, opened, steps, { ...left, takesOver });
          if ('code' in found) return err(found);
          if (opened.folded.steps === undefined && again.length + done.length > 0) return err(refuseStepless(opened));
          const settlings = [
            ...again.map((step) => [step, 'again'] as const),
            ...done.map((step) => [step, 'done'] as const),
          ];
          for (const [step, as] of settlings) {
            const refusal = steps.take({ type: 'settle-step', step, as, reason });
            // Where it is refused, the pause is not ended either.
            if (refusal !== undefined) return err(wasPaused ? { ...refusal, ...goingOn(opened.common) } : refusal);
          }
          recovered = { ...found, running: steps.session().folded.steps?.running() ?? [] };
          return ok(steps.events());
        }),
      (after) => ({
        ...standingOf(after),
        resumed: true,
        was_paused: wasPaused,
        ...recoveredToJson(recovered),
        still_running: recovered.running
          .slice(0, mostNamed)
          .map((running) => runningToJson(running, after, caller.now, host)),
        ...restOf(after),
        ...(notes.length === 0 ? {} : { notes }),
        ...(looked === undefined ? {} : { brief: briefOf(world, after, looked, wish, notes) }),
      }),
    ),
  });
};

/** What is checked out where a session belongs, as far as that is known here. */
const checkedOut = ({ home, outside }: Looked): Resumption['data'] => ({
  ...(home.isElsewhere === true ? {} : { root: home.root, ...(home.branch === null ? {} : { branch: home.branch }) }),
  ...(outside.known && outside.head !== null ? { head: outside.head } : {}),
});

const refuseStepless = ({ key, kind, common }: OpenedSession): Refusal =>
  refuse('illegal-transition', `A ${kind.name} hands out no steps, so that none of ${key} is in doubt.`, {
    expected: 'a session that hands out steps',
    legal: [resumeCommand(common)],
    hint: resumeCommand(common),
  });

/** An attempt that is left alone, with whose it is. */
const runningToJson = (
  { id, attempt, claim }: RunningStep,
  { renewals }: OpenedSession,
  now: string,
  host: Pick<Host, 'observe'>,
): JsonObject => ({
  id,
  attempt,
  held_by: claim.holder.actor,
  host: claim.holder.host,
  pid: claim.sign?.pid ?? null,
  process: claim.sign?.process ?? null,
  alive: observeSign(claim.sign, host),
  claimed_at: claim.claimedAt,
  expires_at: standingOfClaim(claim, renewals.get(id), now).expiresAt,
});

/** The files that a session was made from and that are other ones now. It goes on with what they were. */
const changedSources = ({ places, files }: World, row: SessionRow, { folded }: OpenedSession): readonly string[] => {
  const home = places.homeOf(row);
  if (home.isElsewhere === true) return [];
  return folded.sources().flatMap(({ label, path, digest }) => {
    if (digest === null)
      return [
        `${row.key} was taken over without its ${label}${path === '' ? '' : ` ${path}`}: nobody knows what its steps do.`,
      ];
    const found = path.startsWith('/') ? files.digest('/', path.slice(1)) : files.digest(home.root, path);
    if (found?.sha256 === digest) return [];
    return [
      `The ${label} ${path} ${found === undefined ? 'is not there any more' : 'has changed since'}; ${row.key} goes on with what it was.`,
    ];
  });
};

/**
 * The session that somebody says something of a step in: an open one, else the only closed one that has steps, which the last
 * word about them may have closed: said again, that changes nothing.
 */
export const resolveSaid = async (
  world: World,
  given: string | undefined,
  command: string,
): Promise<Result<SessionRow, Refusal>> => {
  const open = await resolve(world, given, { command });
  if (open.ok || open.error.code !== 'not-found' || (given ?? world.caller.session) !== undefined) return open;
  const closed = await resolve(world, given, { command, standing: 'closed' });
  return closed.ok || closed.error.code === 'ambiguous' ? closed : open;
};

/** The step of a background task, and its session: the one that is named, else whichever has it. */
export const findTask = async (
  world: World,
  task: string,
  given: SessionRow | undefined,
): Promise<Result<{ readonly row: SessionRow; readonly step: string; readonly attempt: number }, Refusal>> => {
  const rows = given === undefined ? await world.store.rows({}) : [given];
  // Those that are open first, and of each the newest.
  const sorted = rows.toSorted((a, b) => a.status.localeCompare(b.status) || (a.updatedAt < b.updatedAt ? 1 : -1));
  let over: { readonly row: SessionRow; readonly step: string; readonly attempt: number } | undefined;
  const running: Exclude<typeof over, undefined>[] = [];
  for (const row of sorted) {
    if (row.status === 'closed' && (running.length > 0 || over !== undefined)) break;
    const steps = (await world.store.load(row.key))?.folded.steps;
    const found = steps?.byTask(task);
    if (found === undefined) continue;
    const runs = steps?.running().some(({ id, attempt }) => id === found.step && attempt === found.attempt) === true;
    if (runs) running.push({ row, ...found });
    else over ??= { row, ...found };
  }
  const [first = over, ...others] = running;
  if (others.length > 0)
    return err(
      refuse('ambiguous', `${running.length} sessions have a step that the task ${task} works on.`, {
        expected: 'one session',
        candidates: running.map(({ row }) => row.key),
        hint: `name one with --session, for example --session ${running[0]?.row.key ?? ''}`,
      }),
    );
  if (first !== undefined) return ok(first);
  return err(
    refuse('not-found', `No step is known to be worked on by the task ${task}.`, {
      expected: 'the id that stint start NODE --cli-task-id was told',
      hint: 'stint list',
    }),
  );
};

/** The step that a background task works on now, whatever session it is of; undefined where it works on none, or on several. */
export const runningTask = async (
  world: World,
  task: string,
): Promise<{ readonly row: SessionRow; readonly step: string } | undefined> => {
  const found = await findTask(world, task, undefined);
  if (!found.ok) return undefined;
  const { row, step, attempt } = found.value;
  const session = await world.store.load(row.key);
  const runs = session?.folded.steps?.running().some((one) => one.id === step && one.attempt === attempt) === true;
  return runs && row.status === 'active' ? { row, step } : undefined;
};

/** The ready steps of a session, and what else is to be known before one is claimed. */
export const listSteps = async (
  world: World,
  row: SessionRow,
  page: { readonly limit: number; readonly after?: string | undefined },
): Promise<Result<JsonObject, Refusal>> => {
  const session = await world.store.load(row.key);
  if (session === undefined) throw new Error(`${row.key} has a row and no events`);
  const ids = session.folded.steps?.ids() ?? [];
  if (page.after !== undefined && !ids.includes(page.after)) return err(refuseUnknownStep(session, page.after, ids));
  const isOpen = session.common.status === 'active';
  const hasBegun = isOpen && session.common.pause === null;
  const at = { ...page, now: world.caller.now };
  const { steps = [], total = 0 } = (hasBegun ? session.folded.steps?.ready(at) : undefined) ?? {};
  const { abandoned } = isOpen ? await findAtWork(world, row) : nobodyAtWork;
  const view = viewOfSession(session);
  const surroundings = {
    ...(await surroundingsOf(world, { row, view })),
    abandoned: steps.length > 0 ? [] : abandoned,
  };
  return ok({
    session: session.key,
    session_id: session.common.name,
    steps: steps.map(stepToJson),
    total,
    ...restOf(session),
    abandoned: abandoned.slice(0, mostNamed).map(({ id, attempt, because }) => ({ id, attempt, because })),
    abandoned_total: abandoned.length,
    next_action: { ...nextActionOf({ row, view }, surroundings, world) },
  });
};

const refuseUnknownStep = ({ key, common, folded }: OpenedSession, step: string, ids: readonly string[]): Refusal => {
  const { called, one } = folded.steps?.words ?? stepWords;
  return refuse('not-found', `${key} has no ${called} ${step}.`, {
    expected: `${one} of the session`,
    candidates: nearest(step, ids),
    hint: goingOn(common, folded.steps?.words).hint,
  });
};

const nextOf = (session: OpenedSession): JsonObject => ({ ...viewOfSession(session).next });

const stepToJson = ({ id, type, name, attempt, args, details = {} }: ReadyStep): JsonObject => ({
  id,
  type,
  name,
  attempt,
  args,
  ...details,
});

/** Most steps in doubt that are named. */
const mostNamed = 20;

const restOf = ({ folded }: OpenedSession): JsonObject => {
  const doubtful = folded.steps?.inDoubt() ?? [];
  return {
    running: folded.steps?.running().length ?? 0,
    in_doubt: doubtful.slice(0, mostNamed),
    in_doubt_total: doubtful.length,
  };
};

/** Renews the claim of a step that the caller works on, with what it says of it. */
export const orderRenewStep = async (
  world: World,
  row: SessionRow,
  given: {
    readonly step: string;
    readonly attempt: number | undefined;
    readonly token: number | undefined;
    /** Milliseconds; undefined for as long as it lasted before. */
    readonly ttl: number | undefined;
    /** What is asked of the kind with it; undefined for nothing. */
    readonly command: ((running: RunningStep) => JsonObject & { readonly type: string }) | undefined;
    /** What is kept with it beside the log. */
    readonly beside?: (running: RunningStep) => readonly Beside[];
  },
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const { caller } = world;
  const place = placeOf(world);
  if (!place.ok) return place;
  const holder = holderOf(world, place.value);
  let renewed: { readonly running: RunningStep; readonly renewal: Renewal } | undefined;
  const made = () => {
    if (renewed === undefined) throw new Error(`nothing was decided about the step ${given.step}`);
    return renewed;
  };
  return ok({
    steps: true,
    fence: 'joins',
    isAuthorised: (session) => isLive(session, given.step, caller.now),
    beside: () => [
      { session: row.key, step: given.step, renewal: made().renewal },
      ...(given.beside?.(made().running) ?? []),
    ],
    ...orderOne(
      row.key,
      (session) =>
        decideOpened(
          session,
          (opened) => {
            const running = runningOf(opened, given.step);
            if (!running.ok) return running;
            const refusal = refuseSpeaker(opened, running.value, given, (claim) => isSameHolder(claim.holder, holder));
            if (refusal !== undefined) return err(refusal);
            const { claim } = running.value;
            const standing = standingOfClaim(claim, opened.renewals.get(given.step), caller.now);
            renewed = {
              running: running.value,
              renewal: renewalOf(claim, caller.now, given.ttl ?? lengthOf(standing)),
            };
            return given.command === undefined ? ok([]) : decideCommand(opened, given.command(running.value));
          },
          { mustBeOpen: true },
        ),
      (after) => ({
        session: row.key,
        session_id: after.common.name,
        step: given.step,
        attempt: made().running.attempt,
        token: made().running.claim.token,
        expires_at: made().renewal.expiresAt,
        next_action: nextOf(after),
      }),
    ),
  });
};

/** Whether an attempt of a step runs whose claim has not expired: whoever speaks for it needs no other authority. */
const isLive = ({ folded, renewals }: OpenedSession, step: string, now: string): boolean => {
  const running = folded.steps?.running().find(({ id }) => id === step);
  return running !== undefined && standingOfClaim(running.claim, renewals.get(step), now).state !== 'expired';
};

/** What somebody says came of a step. */
export interface StepResult {
  readonly step: string;
  /** Without them the attempt that runs is meant. */
  readonly attempt?: number | undefined;
  readonly token?: number | undefined;
  readonly outcome: 'completed' | 'failed';
  readonly result?: JsonObject;
  /** Whether the caller has shown in another way that it speaks for the attempt, for example by the id of its task. */
  readonly isKnown?: boolean;
}

/**
 * Ends an attempt with its result: whoever has its token is trusted while it lasts, whoever holds the session. The same result
 * again changes nothing; any other that is not of the attempt that runs is refused, and kept on record.
 */
export const orderEndStep = async (
  world: World,
  row: SessionRow,
  { step, attempt, token, outcome, result, isKnown = false }: StepResult,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const { caller } = world;
  const place = placeOf(world);
  if (!place.ok) return place;
  const process = await resolveCaller(world);
  if (!process.ok) return process;
  const holder = holderOf(world, place.value);
  const command = {
    type: 'end-step' as const,
    step,
    outcome,
    ...withoutUndefined({ attempt, token, result }),
    ...(result === undefined ? {} : { digest: sha256(canonicalJson(result)) }),
  };
  return ok({
    steps: true,
    // The last result may close the session.
    processes: [],
    isAuthorised: (session) => isLive(session, step, caller.now),
    beside: () => [{ session: row.key, step, renewal: null }],
    ...orderOne(
      row.key,
      (session) =>
        decideOpened(session, (opened) => {
          const running = opened.folded.steps?.running().find(({ id }) => id === step);
          const isMine = (claim: Claim): boolean => isKnown || isSameHolder(claim.holder, holder);
          const refusal = running && refuseSpeaker(opened, running, { attempt, token }, isMine);
          return refusal === undefined
            ? decideCommand(opened, command, process.value)
            : err(keepingResult(refusal, command));
        }),
      (after) => ({ ...standingOf(after), step, outcome, ...(attempt === undefined ? {} : { attempt }) }),
    ),
  });
};

const runningOf = (session: OpenedSession, step: string): Result<RunningStep, Refusal> => {
  const { steps } = session.folded;
  const running = steps?.running().find(({ id }) => id === step);
  if (running !== undefined) return ok(running);
  const ids = steps?.ids() ?? [];
  if (!ids.includes(step)) return err(refuseUnknownStep(session, step, ids));
  const words = steps?.words ?? stepWords;
  const isDoubtful = steps?.inDoubt().includes(step) === true;
  return err(
    refuse('illegal-transition', `No attempt of the ${words.called} ${step} runs.`, {
      expected: `${words.one} that was handed out`,
      ...goingOn(session.common, words, { id: step, isRunning: false, isDoubtful }),
    }),
  );
};

/** The processes that running attempts were claimed with. */
const processesIn = ({ folded }: Pick<OpenedSession, 'folded'>): readonly string[] =>
  (folded.steps?.running() ?? []).flatMap(({ claim }) => claim.sign?.process ?? []);

/** Takes commands of a kind one after the other, each on the state that the ones before have led to. */
const createSteps = (opened: OpenedSession, now: string, process?: string) => {
  let session: Session = opened;
  const events: DecidedEvent[] = [];
  const append = (decided: readonly DecidedEvent[]): void => {
    events.push(...decided);
    // Numbers and hashes are those of nobody: what is appended is decided by the store.
    session = appendEvents(session, decided, { now, actor: '', place: '', cause: '' }).session;
  };
  return {
    session: () => session,
    events: (): readonly DecidedEvent[] => events,
    append,
    take: (command: KindCommand): Refusal | undefined => {
      const decided = decideCommand(session, command, process);
      if (!decided.ok) return decided.error;
      append(decided.value);
      return undefined;
    },
  };
};
