import * as v from 'valibot';
import { refuseTime } from '../formats/handoff/edit.ts';
import { heldToJson, lookWhoHolds, refuseBarred, takingAway, withForce, type Held } from '../formats/handoff/lease.ts';
import { refuseFile } from '../formats/handoff/found-lease.ts';
import { noLease } from '../formats/handoff/lease-file.ts';
import { groundOf, liveTarget, orderDocuments, type Ground } from '../formats/handoff/live.ts';
import { pairAnswer } from '../formats/handoff/pair-answer.ts';
import { prepareReadiness } from '../formats/handoff/readiness.ts';
import type { SeenPair } from '../formats/handoff/seen.ts';
import {
  changeOf,
  lookBehind,
  refused,
  refusedToJson,
  sourceOf,
  workingFields,
  workingText,
  type WorkingInput,
} from '../formats/handoff/working.ts';
import { leasePath, lookOnce, withTexts } from '../formats/handoff/workspace.ts';
import { behind, decideChange } from '../formats/handoff/write.ts';
import { objectAt, textAt, textsAt } from '../kernel/answer.ts';
import { placeOf, type Order } from '../kernel/dispatch.ts';
import { flag, optionalName } from '../kernel/fields.ts';
import { holderOf, leaseFacts } from '../kernel/lease.ts';
import { decideRelease } from '../kernel/lease-rules.ts';
import { refuseClosed, wayBack } from '../kernel/lifecycle.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { defineVerb, type World } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { shellWord } from '../lib/text.ts';

/** What is said on the command line. */
interface Input extends WorkingInput {
  readonly release_force?: boolean | undefined;
  readonly strict_warnings?: boolean | undefined;
}

export const handoffEnd = defineVerb({
  name: 'handoff end',
  summary: 'Leave what the documents describe to whoever comes next.',
  details: `All in one commit: the pair is written as by handoff update, and the lease is given back. Current step is the purpose where one is given and nothing else is said, and next owner is who leaves, unless --next-owner names somebody. Whoever else holds it keeps it (10); --release-force gives theirs back, on the record.

readiness is what handoff ready says behind that, and report is in it. Where the work is not ready to be handed over it is said (6), with --strict-warnings also of warnings: what was written is written all the same, and the lease is given back. A status that is none yet, for example done with steps left, changes nothing at all.`,
  examples: [
    'stint handoff end --holder ana --status ready-for-review --next-owner ben',
    'stint handoff end --holder ana --current-step None --what-was-done "Wrote the tests" --json',
  ],
  input: () =>
    v.strictObject({
      ...workingFields(),
      purpose: optionalName('What they were at last.'),
      release_force: flag('Give the lease back whoever has it, on the record.'),
      strict_warnings: flag('Say no to what is ready with warnings.'),
    }),
  actor: ({ holder }) => holder,
  creates: true,
  verdict: (answer) => {
    const errors = textsAt(answer, 'errors');
    if (errors.length === 0) return undefined;
    const [action = ''] = textsAt(objectAt(answer, 'readiness'), 'next_actions');
    return refuse('invariant-unmet', 'It is written and given back, and not ready to be handed over.', {
      expected: 'work that is ready (stint handoff ready)',
      faults: errors,
      hint: action === '' ? 'stint handoff ready' : action,
    });
  },
  does: {
    writes: async (world, input) => {
      const ground = await groundOf(world, input);
      if (!ground.ok) return ground;
      const held = await lookWhoHolds(world, ground.value.look, ground.value.root);
      const refusal = refuseTime(input.last_updated) ?? refuseBarred(held);
      if (refusal !== undefined) return refused(held, refusal);
      const order = await orderEnd(world, ground.value, held, input);
      return order.ok ? order : refused(held, order.error);
    },
  },
  text: (answer) =>
    workingText(answer, [
      ['Readiness', textAt(objectAt(answer, 'readiness'), 'verdict')],
      ['Lease after release', textAt(objectAt(answer, 'lease'), 'state')],
    ]),
});

const orderEnd = async (
  world: World,
  ground: Ground,
  held: Held,
  input: Input,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const target = await liveTarget(world, ground, { fence: 'own' });
  if (!target.ok) return target;
  const place = placeOf(world);
  if (!place.ok) return place;
  const takeOver = input.release_force === true || world.caller.takeOver;
  const isNamed = input.root !== undefined || input.start_dir !== undefined;
  const look = lookOnce(ground.look);
  const judge = await prepareReadiness(world, look, { historyLimit: 3, isNamed });
  if (!judge.ok) return judge;
  // All files are read before: nothing is read while a commit waits.
  judge.value(look, held.session);
  const counts = held.file.state !== 'none';
  let facts = held.facts;
  let found: SeenPair | undefined;
  const order = orderDocuments(
    world,
    target.value,
    (worked, seen, { origin }) => {
      found = seen;
      facts = leaseFacts(worked.session, world.caller, world.host);
      const isFree = facts.claim === null;
      const refusal = isFree && counts && !takeOver ? refuseFile(held, input.holder) : undefined;
      if (refusal !== undefined) return err(refusal);
      const released = decideRelease(facts, holderOf(world, place.value), { takeOver });
      if (!released.ok) return released;
      const session = behind(worked.session, released.value.events, origin);
      if (session.common.status === 'closed') return err(refuseClosed(session.common, wayBack(session)));
      const change = changeOf(input, session);
      const changed = decideChange({ ...worked, session }, change, { ...change, override: input.override }, origin);
      if (!changed.ok) return changed;
      return ok({ ...changed.value, events: [...released.value.events, ...changed.value.events] });
    },
    (session, texts) => {
      const wasHeld = (facts !== undefined && facts.claim !== null) || counts;
      const now = withTexts(
        lookBehind(look, session, texts, { seen: found }),
        new Map(counts ? [[leasePath, null]] : []),
      );
      const readiness = judge.value(now, session);
      const blocking = textsAt(readiness, 'blocking_reasons');
      const warnings = textsAt(readiness, 'warnings');
      const errors = blocking.length > 0 ? blocking : input.strict_warnings === true ? warnings : [];
      const lease = heldToJson({ ...held, session, facts: undefined, file: noLease, exists: false });
      return {
        result: blocking.length > 0 ? 'not-ready' : errors.length > 0 ? 'warning' : 'ok',
        action: wasHeld ? 'updated-and-released' : 'updated',
        source: sourceOf(now),
        ...pairAnswer(world, session),
        lease: { state: lease['state'] ?? 'none' },
        warnings: [...(wasHeld ? [] : ['nobody held it']), ...warnings],
        errors: [...errors],
        readiness,
        report: objectAt(readiness, 'report'),
      };
    },
  );
  const ended: Order<JsonObject> = {
    ...withForce(order, `stint handoff end --holder ${shellWord(input.holder)} --release-force`),
    fence: 'own',
    report: (refusal) => refusedToJson({ ...held, facts }, refusal),
  };
  return ok(counts ? takingAway(world, ground.look, ended) : ended);
};
