import * as v from 'valibot';
import { orderMaking } from '../formats/handoff/begin.ts';
import { readDocument, sessionState, valueOf } from '../formats/handoff/document.ts';
import { refuseTime } from '../formats/handoff/edit.ts';
import { pairFieldsOf } from '../formats/handoff/fields.ts';
import {
  claimSession,
  heldToJson,
  lookWhoHolds,
  minutes,
  refuseBarred,
  refuseTtl,
  withForce,
  type Claiming,
  type Held,
} from '../formats/handoff/lease.ts';
import { noLease } from '../formats/handoff/lease-file.ts';
import { groundOf, liveTarget, orderDocuments, type Ground } from '../formats/handoff/live.ts';
import { pairAnswer } from '../formats/handoff/pair-answer.ts';
import { reportToJson } from '../formats/handoff/report.ts';
import type { SeenPair } from '../formats/handoff/seen.ts';
import {
  changeOf,
  leaseOf,
  lookBehind,
  refused,
  refusedToJson,
  sourceOf,
  textsIn,
  warningsOf,
  workingFields,
  workingText,
  type WorkingInput,
} from '../formats/handoff/working.ts';
import { freeHandover } from '../formats/handoff/stamps.ts';
import { currentPath, locateLive, lookOnce, type Look } from '../formats/handoff/workspace.ts';
import { decideChange } from '../formats/handoff/write.ts';
import { objectAt, textAt } from '../kernel/answer.ts';
import { loadedIn, sessionIn, type Order } from '../kernel/dispatch.ts';
import { flag, requiredName, wholeNumber } from '../kernel/fields.ts';
import { wayBack } from '../kernel/lifecycle.ts';
import type { DecidedEvent } from '../kernel/event.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { appendEvents, isOpened, type OpenedSession } from '../kernel/session.ts';
import { defineVerb, type World } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { shellWord } from '../lib/text.ts';

/** What is said on the command line. */
interface Input extends WorkingInput {
  readonly purpose: string;
  readonly ttl_minutes?: number | undefined;
  readonly force_lease?: boolean | undefined;
}

export const handoffBegin = defineVerb({
  name: 'handoff begin',
  summary: 'Come to work on what the documents describe: claim it, and say so in them.',
  details: `All in one commit: the session is claimed for the holder (stint help handoff lease), and the pair says who works on it and at what: next owner and current step are the holder and the purpose where nothing else is said, not-started becomes in-progress. Whoever else holds it keeps it (10); --force-lease takes it over, on the record.

Where there is no pair one is made, as by handoff new: that needs --task. A pair that is done is over: another --task begins the next one beside it, under a handover of its own.

report is what handoff report says behind that. What is broken elsewhere in the documents is a warning, and keeps nobody from working.`,
  examples: [
    'stint handoff begin --holder ana --purpose "Write the tests"',
    'stint handoff begin --holder ana --purpose "Look around" --task "Ship the parser" --remaining-step "Write its tests"',
  ],
  input: () =>
    v.strictObject({
      ...workingFields(),
      purpose: requiredName('What they come for.'),
      ttl_minutes: wholeNumber(`How many minutes the lease lasts, 1 to ${minutes.most}. Default: ${minutes.usual}.`),
      force_lease: flag('Take the lease from whoever has it, on the record.'),
    }),
  actor: ({ holder }) => holder,
  creates: true,
  does: {
    writes: async (world, input) => {
      const ground = await groundOf(world, input);
      if (!ground.ok) return ground;
      const held = await lookWhoHolds(world, ground.value.look, ground.value.root);
      const refusal = refuseTime(input.last_updated) ?? refuseTtl(input.ttl_minutes) ?? refuseBarred(held);
      if (refusal !== undefined) return refused(held, refusal);
      const order = isToBeMade(ground.value, held, input)
        ? await orderMade(world, ground.value, held, input)
        : await orderGoingOn(world, ground.value, held, input);
      return order.ok ? order : refused(held, order.error);
    },
  },
  text: (answer) =>
    workingText(answer, [
      ['Lease holder', textAt(objectAt(answer, 'lease'), 'holder')],
      ['Lease expires at', textAt(objectAt(answer, 'lease'), 'expires_at')],
      ['Token', textAt(answer, 'lease_token')],
    ]),
});

/** Whether a new pair is made: there is none that is worked on, or it is done and the task is another one. */
const isToBeMade = ({ look }: Ground, { session }: Held, { task }: Input): boolean => {
  if (session !== undefined) return session.common.status === 'closed' && isOther(task, session.common.goal ?? '');
  if (locateLive(look)?.sessionState !== currentPath) return true;
  const text = look.read(currentPath);
  const document = readDocument(sessionState, text.ok ? text.value : '');
  return valueOf(document, 'Status') === 'done' && isOther(task, valueOf(document, 'Task'));
};

const isOther = (task: string | undefined, before: string): boolean => task !== undefined && task !== before;

const claimFor = async (
  world: World,
  held: Held,
  key: string,
  { purpose, ttl_minutes: ttl, force_lease: force = false }: Input,
): Promise<Result<Claiming, Refusal>> =>
  claimSession(world, held, key, { purpose, ttl, takeOver: force || world.caller.takeOver });

const orderGoingOn = async (
  world: World,
  ground: Ground,
  held: Held,
  input: Input,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const target = await liveTarget(world, ground, { fence: 'own', arrives: true });
  if (!target.ok) return target;
  const claiming = await claimFor(world, held, target.value.key, input);
  if (!claiming.ok) return claiming;
  const { decide, within, newest } = claiming.value;
  const look = warmLook(world, ground);
  let found: SeenPair | undefined;
  const order = orderDocuments(
    world,
    target.value,
    (worked, seen, { origin }) => {
      found = seen;
      const claimed = decide(worked.session, origin);
      if (!claimed.ok) return claimed;
      const { session, events } = claimed.value;
      if (session.common.status === 'closed') return err(refuseDone(session, input));
      const isBegun = pairFieldsOf(session).status === 'not-started' && session.folded.handoff !== undefined;
      const change = changeOf(input, session);
      const changed = decideChange(
        { ...worked, session },
        { ...change, status: change.status ?? (isBegun ? 'in-progress' : undefined) },
        { ...change, override: input.override },
        origin,
      );
      if (!changed.ok) return changed;
      return ok({ ...changed.value, events: [...events, ...changed.value.events] });
    },
    (session, texts) =>
      begunAnswer(world, held, 'updated', {
        session,
        look: lookBehind(look, session, texts, { seen: found }),
        claiming: claiming.value,
      }),
  );
  return ok({
    ...withForce(within(order), `${begunBy(input)} --force-lease`),
    report: (refusal) => refusedToJson({ ...held, facts: newest() }, refusal),
  });
};

const orderMade = async (
  world: World,
  ground: Ground,
  held: Held,
  input: Input,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const { task } = input;
  const path = `${ground.look.root}/${currentPath}`;
  const isThere = locateLive(ground.look)?.sessionState === currentPath || held.session !== undefined;
  if (!isThere && world.files.exists(path)) return err(refuseUnresolved(path));
  if (task === undefined) return err(refuseNoTask(ground));
  const { task: _, ...change } = changeOf(input);
  const made = await orderMaking(
    world,
    ground,
    {
      task,
      change: { ...change, status: input.status ?? 'in-progress' },
      paths: {
        handover: await freeHandover(world, ground),
        sessionState: currentPath,
      },
      halves: ['handover', 'session_state'],
      force: isThere,
    },
    { fence: 'own' },
  );
  if (!made.ok) return made;
  const { keys, decide } = made.value;
  const [key = ''] = keys;
  const claiming = await claimFor(world, held, key, input);
  if (!claiming.ok) return claiming;
  const { within, newest } = claiming.value;
  const look = warmLook(world, ground);
  let texts: ReturnType<typeof textsIn> = { handover: '', session_state: '' };
  let archived: readonly DecidedEvent[] = [];
  const order: Order<JsonObject> = {
    ...made.value,
    decide: (sessions, beforehand) => {
      const decided = decide(sessions, beforehand);
      if (!decided.ok) return decided;
      const events = decided.value.get(key) ?? [];
      const { session } = appendEvents(loadedIn(sessions, key), events, beforehand.origin);
      if (!isOpened(session)) throw new Error(`${key} was not opened`);
      const claimed = claiming.value.decide(session, beforehand.origin);
      if (!claimed.ok) return claimed;
      texts = textsIn(claimed.value.session, events, beforehand.origin.cause);
      archived = [...decided.value.values()].flat();
      return ok(new Map([...decided.value, [key, [...events, ...claimed.value.events]]]));
    },
    answer: (after, before) => {
      const session = sessionIn(after, key);
      return {
        ...made.value.answer(after, before),
        ...begunAnswer(world, held, 'created', {
          session,
          look: lookBehind(look, session, texts, { archived }),
          claiming: claiming.value,
        }),
      };
    },
  };
  return ok({
    ...withForce(within(order), `${begunBy(input)} --force-lease`),
    report: (refusal) => refusedToJson({ ...held, facts: newest() }, refusal),
  });
};

/** A look that has read its files already: nothing is read while a commit waits. */
const warmLook = (world: World, { look: own }: Ground): Look => {
  const look = lookOnce(own);
  reportToJson(look, world.caller.now, historyLimit);
  return look;
};

/** How many handovers the report shows. */
const historyLimit = 3;

const begunAnswer = (
  world: World,
  held: Held,
  action: 'created' | 'updated',
  { session, look, claiming }: { readonly session: OpenedSession; readonly look: Look; readonly claiming: Claiming },
): JsonObject => {
  const report = reportToJson(look, world.caller.now, historyLimit);
  const lease = heldToJson({ ...held, session, facts: claiming.behind(session), file: noLease });
  return {
    result: 'ok',
    action,
    source: sourceOf(look),
    ...pairAnswer(world, session),
    lease: leaseOf(lease),
    lease_token: session.common.lease?.token ?? null,
    warnings: [...warningsOf(report)],
    errors: [],
    report,
  };
};

const begunBy = ({ holder, purpose }: Input): string =>
  `stint handoff begin --holder ${shellWord(holder)} --purpose ${shellWord(purpose)}`;

const refuseDone = (session: OpenedSession, input: Input): Refusal =>
  refuse('illegal-transition', `${session.key} is over (${session.common.outcome}): ${session.common.goal ?? ''}.`, {
    expected: 'another task, with --task',
    legal: [`${begunBy(input)} --task TASK`, wayBack(session)],
    hint: `${begunBy(input)} --task TASK`,
  });

const refuseNoTask = ({ look }: Ground): Refusal =>
  refuse('invariant-unmet', `There is no pair of documents in ${look.root} yet.`, {
    expected: '--task: what it is to come to',
    hint: 'say with --task what it is to come to',
  });

const refuseUnresolved = (path: string): Refusal =>
  refuse('conflict', `${path} is there, and which handover goes with it cannot be told.`, {
    expected: 'a pair, or no CURRENT.md',
    candidates: [path],
    hint: 'stint handoff audit',
  });
