import * as v from 'valibot';
import {
  claimSession,
  decideLetGo,
  heldToJson,
  lookWhoHolds,
  minutes,
  refuseBarred,
  refusedToJson,
  refuseTtl,
  refuseUnnamed,
  takingAway,
  withForce,
  type Held,
} from '../formats/handoff/lease.ts';
import { refuseFile } from '../formats/handoff/found-lease.ts';
import { noLease } from '../formats/handoff/lease-file.ts';
import { groundOf, liveTarget, orderDocuments, rootBelow, type Ground } from '../formats/handoff/live.ts';
import { findRoot, lookBelow } from '../formats/handoff/look.ts';
import { reportText } from '../formats/handoff/verdict.ts';
import { currentPath, locateLive } from '../formats/handoff/workspace.ts';
import { textAt } from '../kernel/answer.ts';
import type { Order } from '../kernel/dispatch.ts';
import { choice, flag, optionalName, optionalText, wholeNumber } from '../kernel/fields.ts';
import { holderOf, isMine } from '../kernel/lease.ts';
import { orderLease } from '../kernel/lease-rules.ts';
import { refuseClosed, wayBack } from '../kernel/lifecycle.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import type { OpenedSession } from '../kernel/session.ts';
import { defineVerb, type VerbRefusal, type World } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { shellWord } from '../lib/text.ts';

const actions = ['show', 'claim', 'release'] as const;

/** What is said on the command line. */
interface Input {
  readonly action: (typeof actions)[number];
  readonly holder?: string | undefined;
  readonly purpose?: string | undefined;
  readonly ttl_minutes?: number | undefined;
  readonly force?: boolean | undefined;
  readonly root?: string | undefined;
  readonly start_dir?: string | undefined;
}

export const handoffLease = defineVerb({
  name: 'handoff lease',
  summary: 'Show, claim or release the lease of the documents: who works on them.',
  details: `It is the lease of the session that the documents describe: stint lease tells more of the same one. session-state/ACTIVE_LEASE.json is a copy of it for other programs, and is gone when it is released. With a pair that another program has left, claim begins a task.

A file that somebody else has written there counts where nobody holds the session: show says what it says (7 where it is no lease), claim is refused while another holder is in it (10) or it is no lease (7), and takes its place, on the record; release takes it away. It has no power over the lease of the session.

claim needs --holder and --purpose, and answers with lease_token. Of several at once one gets it. The same holder again begins the time anew; one that has expired is there for everybody, any other with --force. release needs --holder, or --force, where there is anything to give back. Who the holder is says stint help lease claim: the same name from another conversation of an agent, or another checkout, is somebody else.`,
  examples: [
    'stint handoff lease show --json',
    'stint handoff lease claim --holder ana --purpose "Write the tests" --ttl-minutes 45',
    'stint handoff lease release --holder ana',
  ],
  input: () =>
    v.strictObject({
      action: choice(actions, 'What to do'),
      holder: optionalName('Who holds it: a person or an agent.'),
      purpose: optionalName('What for.'),
      ttl_minutes: wholeNumber(`How many minutes it lasts, 1 to ${minutes.most}. Default: ${minutes.usual}.`),
      force: flag('Take it from whoever has it, on the record.'),
      root: optionalText('The folder of the documents. Default: the one of this project.'),
      start_dir: optionalText('The folder to look from. Default: the current one.'),
    }),
  positionals: ['action'],
  actor: ({ holder }) => holder,
  contradiction: ({ action, holder, purpose }) =>
    action === 'claim' && (holder === undefined || purpose === undefined)
      ? 'claim needs --holder and --purpose'
      : undefined,
  creates: true,
  does: {
    isReading: ({ action }) => action === 'show',
    orReads: async (world, input) => {
      const root = await findRoot(world, input);
      if (!root.ok) return err({ refusal: root.error });
      const look = await lookBelow(world, root.value);
      const held = await lookWhoHolds(world, look, rootBelow(world, root.value));
      const report = { ...heldToJson(held), result: 'shown' };
      const refusal = isHeldBySession(held) ? undefined : refuseInvalid(held);
      return refusal === undefined ? ok(report) : err({ report: { ...report, result: 'error' }, refusal });
    },
    writes: async (world, input) => {
      const ground = await groundOf(world, input);
      if (!ground.ok) return ground;
      const held = await lookWhoHolds(world, ground.value.look, ground.value.root);
      const refusal = refuseBarred(held);
      if (refusal !== undefined) return refused(held, refusal);
      return input.action === 'claim'
        ? claim(world, ground.value, held, input)
        : release(world, ground.value, held, input);
    },
  },
  text: (answer) =>
    reportText(answer, [
      ['Result', textAt(answer, 'result')],
      ['Docs root', textAt(answer, 'docs_root')],
      ['Lease path', textAt(answer, 'lease_path')],
      ['State', textAt(answer, 'state')],
      ['Holder', textAt(answer, 'holder')],
      ['Purpose', textAt(answer, 'purpose')],
      ['Acquired at', textAt(answer, 'acquired_at')],
      ['Expires at', textAt(answer, 'expires_at')],
      ['Handover', textAt(answer, 'handover')],
      ['Session-state', textAt(answer, 'session_state')],
      ['Token', textAt(answer, 'lease_token')],
    ]),
});

const isHeldBySession = ({ facts }: Held): boolean => facts !== undefined && facts.claim !== null;

const refuseInvalid = ({ file, look }: Held): Refusal | undefined =>
  file.state === 'invalid' ? refuseFile({ file, look }, undefined) : undefined;

const refused = (held: Held, refusal: Refusal, more: JsonObject = {}): Result<never, VerbRefusal> =>
  err({ report: refusedToJson(held, refusal, more), refusal });

const claim = async (
  world: World,
  ground: Ground,
  held: Held,
  { holder = '', purpose = '', ttl_minutes: ttl, force = false }: Input,
): Promise<Result<Order<JsonObject>, VerbRefusal>> => {
  const tooLong = refuseTtl(ttl);
  if (tooLong !== undefined) return refused(held, tooLong, { state: 'invalid' });
  const live = locateLive(ground.look);
  if (held.session === undefined && live !== undefined && live.sessionState !== currentPath)
    return refused(held, refuseNotLive(ground));
  const target = await liveTarget(world, ground, { fence: 'own' });
  if (!target.ok) return refused(held, target.error);
  const claiming = await claimSession(world, held, target.value.key, {
    purpose,
    ttl,
    takeOver: force || world.caller.takeOver,
  });
  if (!claiming.ok) return refused(held, claiming.error);
  const { decide, within, newest, behind } = claiming.value;
  const order = orderDocuments(
    world,
    target.value,
    ({ session, bases }, _, { origin }) => {
      if (session.common.status === 'closed') return err(refuseClosed(session.common, wayBack(session)));
      const claimed = decide(session, origin);
      return claimed.ok ? ok({ ...claimed.value, bases }) : claimed;
    },
    (session) => ({
      ...heldToJson({ ...held, session, facts: behind(session), file: noLease, exists: true }),
      result: 'claimed',
      source: live?.source ?? 'session',
      lease_token: session.common.lease?.token ?? null,
    }),
    { conflicts: 'stay' },
  );
  const way = `stint handoff lease claim --holder ${shellWord(holder)} --purpose ${shellWord(purpose)} --force`;
  return ok({
    ...withForce(within(order), way),
    report: (refusal) => refusedToJson({ ...held, facts: newest() }, refusal),
  });
};

const refuseNotLive = ({ look }: Ground): Refusal =>
  refuse('not-found', `The newest pair in ${look.root} is none that is worked on: there is no ${currentPath}.`, {
    expected: `a pair of ${currentPath} and a handover`,
    hint: 'stint handoff new --task TASK --updated-by WHO --next-owner WHO',
  });

const release = (
  world: World,
  { look }: Ground,
  held: Held,
  { holder, force = false }: Input,
): Result<Order<JsonObject>, VerbRefusal> => {
  const takeOver = force || world.caller.takeOver;
  const isNamed = holder !== undefined;
  const { session, file, facts } = held;
  const isHeld = isHeldBySession(held);
  const isOthers = facts !== undefined && isHeld && !isMine(facts, holderOf(world, world.places.here.id ?? ''));
  // Whoever finds something there that is no lease takes it away: the one of the session stays what it is.
  const clears = isOthers && isNamed && !takeOver && file.state === 'invalid';
  if (session !== undefined && isHeld && !clears) return releaseSession(world, session, held, { takeOver, isNamed });
  const counts = !takeOver && file.state !== 'none';
  const refusal = !counts ? undefined : isNamed ? refuseHolder(held, holder) : refuseUnnamed(file.holder ?? 'nobody');
  if (refusal !== undefined) return refused(held, refusal);
  const order: Order<JsonObject> = {
    keys: [],
    decide: () => ok(new Map()),
    answer: () => ({
      ...heldToJson({ ...held, file: noLease, exists: false }),
      ...(clears ? { warnings: [`what was no lease was taken away; ${session?.key ?? ''} is held as before`] } : {}),
      result: 'released',
    }),
  };
  return ok(file.state === 'none' ? order : takingAway(world, look, order));
};

/** What is in a file that is no lease is nobody's: anybody takes it away. */
const refuseHolder = (held: Held, holder: string): Refusal | undefined =>
  held.file.state === 'invalid' ? undefined : refuseFile(held, holder);

const releaseSession = (
  world: World,
  session: OpenedSession,
  held: Held,
  how: { readonly takeOver: boolean; readonly isNamed: boolean },
): Result<Order<JsonObject>, VerbRefusal> => {
  let newest = held.facts;
  const order = orderLease(
    world,
    session,
    (facts, who) => {
      newest = facts;
      return decideLetGo(facts, who, how);
    },
    {
      answer: (after) => ({
        ...heldToJson({ ...held, session: after, facts: undefined, file: noLease, exists: false }),
        session_id: after.common.name,
        result: 'released',
      }),
    },
  );
  if (!order.ok) return refused(held, order.error);
  return ok({
    ...withForce(order.value, 'stint handoff lease release --force'),
    report: (refusal) => refusedToJson({ ...held, facts: newest }, refusal),
  });
};
