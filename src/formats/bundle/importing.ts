import { sessionIn, type Order } from '../../kernel/dispatch.ts';
import { decideBegin } from '../../kernel/lifecycle.ts';
import { decideEntry } from '../../kernel/journal-rules.ts';
import { kernelEvent, type DecidedEvent } from '../../kernel/event.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { appendEvents, type OpenedSession } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import { objectAt, textAt, textsAt } from '../../kernel/answer.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { cleanDocument, digestOfDocument } from '../handoff/clean.ts';
import { valueOf } from '../handoff/document.ts';
import { begunTarget, describedSession, standingTexts, type Ground } from '../handoff/live.ts';
import { mostBytes } from '../handoff/look.ts';
import { outputIn } from '../handoff/outputs.ts';
import { pairFieldsOf } from '../handoff/fields.ts';
import { prepareReadiness } from '../handoff/readiness.ts';
import { comebackFiles, orderComeback, type Comeback, type TwoPaths } from '../handoff/restoring.ts';
import { readSections } from '../handoff/sections.ts';
import { unknownBeside } from '../handoff/told.ts';
import { lookBehind, textsIn, warningsOf } from '../handoff/working.ts';
import { currentPath, leasePath, lookOnce, withTexts } from '../handoff/workspace.ts';
import { orderFiles, refuseThere } from '../handoff/write.ts';
import { artifactsToWrite, withArtifacts } from './artifact-files.ts';
import { secretsIn } from './redaction.ts';
import type { Bundle, BundledDocuments, BundledSession } from './parts.ts';
import { orderLanding, tryLanding, type Landed } from './landing.ts';

/** What a bundle brings becomes a session here. Everything is decided in memory, and written in one commit. */

/** What is wished of it. */
export interface Wish {
  readonly as?: string | undefined;
  readonly handover_output?: string | undefined;
  readonly session_output?: string | undefined;
  readonly no_documents?: boolean | undefined;
  readonly with_artifacts?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly root?: string | undefined;
  readonly start_dir?: string | undefined;
}

/** A bundle that may be taken, and what is said of it. */
export interface Accepted {
  readonly bundle: Bundle;
  /** What is put on record with it. */
  readonly record: JsonObject;
  /** Whether it is taken against the verdict. */
  readonly isUntrusted: boolean;
  readonly warnings: readonly string[];
  /** What every answer says of it. */
  readonly report: JsonObject;
  /** What is reported beside a refusal. */
  readonly refused: (refusal: Refusal) => JsonObject;
}

/** The order with which what a bundle brings is taken, with its artifacts where they are asked for. */
export const orderImport = async (
  world: World,
  ground: Result<Ground, Refusal>,
  accepted: Accepted,
  wish: Wish,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const order = await orderSession(world, ground, accepted, wish);
  if (!order.ok || wish.with_artifacts !== true) return order;
  const artifacts = await artifactsToWrite(world, accepted.bundle.artifacts, accepted.bundle.session);
  return artifacts.ok ? ok(withArtifacts(world, order.value, artifacts.value)) : artifacts;
};

const orderSession = async (
  world: World,
  ground: Result<Ground, Refusal>,
  accepted: Accepted,
  wish: Wish,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const { session, documents } = accepted.bundle;
  const placed =
    documents === undefined || wish.no_documents === true
      ? ok(undefined)
      : await placeOf(world, ground, documents, wish);
  if (!placed.ok) return placed;
  const place = placed.value;
  if (place !== undefined && place.paths.sessionState !== currentPath)
    return orderPairFiles(world, accepted, place, wish);
  if (session?.events !== undefined)
    return orderLog(world, accepted, { ...session, events: session.events }, place, wish);
  if (wish.as !== undefined)
    return err(
      refuse('usage', '--as names the duplicate of a session that comes with its log, and this bundle holds none.', {
        expected: 'no --as',
      }),
    );
  return place?.pair === undefined
    ? orderState(world, accepted, session)
    : orderPair(world, accepted, { ...place, pair: place.pair }, wish);
};

/** Where the documents of a bundle are to lie, and what lies there. */
interface Place {
  readonly ground: Ground;
  readonly paths: TwoPaths;
  /** The texts of both; undefined where there is no handover. */
  readonly pair: Comeback['texts'] | undefined;
  /** The files that are there and say something else. */
  readonly there: readonly string[];
  /** The digests of those that say the same: version control has brought them. */
  readonly same: readonly string[];
}

const placeOf = async (
  world: World,
  found: Result<Ground, Refusal>,
  { handover, sessionState }: BundledDocuments,
  wish: Wish,
): Promise<Result<Place, Refusal>> => {
  if (!found.ok) return found;
  const ground = found.value;
  const name = handover === undefined ? currentPath : `handovers/${handover.name}`;
  const transfer = await outputIn(world, ground, wish.handover_output, name);
  if (!transfer.ok) return transfer;
  const state = await outputIn(world, ground, wish.session_output, currentPath);
  if (!state.ok) return state;
  const paths = { handover: transfer.value, sessionState: state.value };
  if (handover !== undefined && paths.handover === paths.sessionState)
    return err(refuse('conflict', 'Both documents would be the same file.', { expected: 'two files' }));
  const project = await world.project();
  const there: string[] = [];
  const same: string[] = [];
  const halves = [
    { path: paths.sessionState, text: sessionState.text },
    ...(handover === undefined ? [] : [{ path: paths.handover, text: handover.text }]),
  ];
  for (const { path, text } of halves) {
    const lies = project.whole(ground.look.root, path, mostBytes);
    if (!lies.ok && lies.error.isMissing) continue;
    const digest = lies.ok ? digestOfDocument(lies.value) : undefined;
    if (digest !== undefined && digest === digestOfDocument(text)) same.push(digest);
    else there.push(`${ground.look.root}/${path}`);
  }
  const pair =
    handover === undefined
      ? undefined
      : { handover: cleanDocument(handover.text), session_state: cleanDocument(sessionState.text) };
  return ok({ ground, paths, pair, there, same });
};

/** That documents are there which nobody has said to replace; a rehearsal tells it in its answer. */
const refuseWithout = (world: World, there: readonly string[], { force }: Wish): Refusal | undefined =>
  there.length === 0 || force === true || world.caller.dryRun
    ? undefined
    : refuseThere(there, 'the same with --force: what is there is archived');

/** A session with its log, and its documents where it has some. */
const orderLog = async (
  world: World,
  accepted: Accepted,
  session: Parameters<typeof tryLanding>[1],
  place: Place | undefined,
  wish: Wish,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const tried = await tryLanding(world, session, wish.as);
  if (!tried.ok) return tried;
  const { events, session: after } = tried.value.taken;
  const { documents } = after.common;
  const isNew = events.length > 0;
  const secret = world.caller.redact ? refuseSecrets(after.key, events) : undefined;
  if (secret !== undefined) return err(secret);
  const isHere = documents?.place === world.places.here.id && documents?.root === place?.ground.root;
  const { documents: brought } = accepted.bundle;
  const bringing =
    place === undefined || brought === undefined || documents === undefined || !isNew || isHere
      ? undefined
      : {
          ground: place.ground,
          handover: documents.handover === null ? null : place.paths.handover,
          same: place.same,
          documents: brought,
        };
  const there = bringing === undefined ? [] : await foreign(world, place, tried.value.key);
  const refusal = refuseWithout(world, there, wish);
  if (refusal !== undefined) return err(refusal);
  const judge = bringing === undefined ? undefined : await judging(world, bringing.ground, wish);
  if (judge?.ok === false) return judge;
  const landing = { record: accepted.record, isNoted: accepted.isUntrusted || wish.as !== undefined };
  return orderLanding(world, tried.value, landing, bringing, (landed) => {
    const texts = bringing === undefined ? undefined : standingTexts(landed);
    return answerOf(world, accepted, {
      ...landed,
      overwritten: there,
      untaken: landed.conflicts.map(
        ({ section, written, because }) =>
          `DOCUMENTS: ${section}: ${JSON.stringify(written)} was not taken: ${because}`,
      ),
      ...(texts === undefined || judge === undefined ? {} : judge.value(landed.session, texts, landed.decided)),
    });
  });
};

/** A log is taken as it is or not at all: nothing can be taken out of it without making it another one. */
const refuseSecrets = (key: string, events: readonly DecidedEvent[]): Refusal | undefined => {
  const { found, paths } = secretsIn(events.flatMap(({ written }) => written ?? []));
  const rules = Object.keys(found);
  return rules.length === 0
    ? undefined
    : refuse('invariant-unmet', `The log of ${key} holds secrets (${rules.join(', ')}), first at ${paths[0] ?? '$'}.`, {
        expected: 'a log without secrets',
        faults: paths,
        legal: ['stint bundle export', 'the same with --no-redact'],
        hint: 'export it again without --no-redact-secrets; --no-redact takes it as it is',
      });
};

/** What lies in the place of documents and is no version of theirs. */
const foreign = async (world: World, place: Place | undefined, key: string): Promise<readonly string[]> => {
  if (place === undefined) return [];
  const { ground, paths, there } = place;
  const files: string[] = [];
  for (const full of there) {
    const path = full.slice(ground.look.root.length + 1);
    const unknown = await unknownBeside(world, ground, key, [path]);
    const described = path === paths.sessionState ? await describedSession(world, ground.root) : undefined;
    if (unknown.length > 0 || (described !== undefined && described.key !== key)) files.push(full);
  }
  return files;
};

/** A pair without a log: it becomes the one of a task that is begun with it. */
const orderPair = async (
  world: World,
  accepted: Accepted,
  place: Place & { readonly pair: Comeback['texts'] },
  wish: Wish,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  const { ground, paths, pair } = place;
  const known = await describedSession(world, ground.root);
  if (known !== undefined && wish.force !== true && (await isTaken(world, known, accepted)))
    return ok(nothingNew(world, accepted, known));
  const there = [paths.sessionState, paths.handover]
    .map((path) => `${ground.look.root}/${path}`)
    .filter((path) => world.files.exists(path));
  const refusal = refuseWithout(world, there, wish);
  if (refusal !== undefined) return err(refusal);
  const judge = await judging(world, ground, wish);
  if (!judge.ok) return judge;
  const order = await orderComeback(world, ground, comebackOf(accepted, pair), paths);
  if (!order.ok) return order;
  let decided: readonly DecidedEvent[] = [];
  const { decide, answer } = order.value;
  const [key = ''] = order.value.keys;
  return ok({
    ...order.value,
    decide: (sessions, beforehand) => {
      const made = decide(sessions, beforehand);
      decided = made.ok ? (made.value.get(key) ?? []) : [];
      return made;
    },
    answer: (after, before) => {
      const session = sessionIn(after, key);
      const texts = textsIn(session, decided, '');
      const { superseded = null } = answer(after, before);
      return {
        ...answerOf(world, accepted, {
          session,
          landed: 'made',
          events: session.common.seq,
          overwritten: there,
          ...judge.value(session, texts, decided),
        }),
        superseded,
      };
    },
  });
};

/** A pair says of itself who wrote it and when: that stays. */
const comebackOf = ({ bundle, record }: Accepted, texts: Comeback['texts']): Comeback => {
  const state = readSections(texts.session_state);
  return {
    texts,
    said: (now) => ({ by: valueOf(state, 'Updated by') ?? 'None', at: valueOf(state, 'Last updated') ?? now }),
    why: `taken over from the bundle ${bundle.id ?? bundle.digest.slice(0, 12)}`,
    record: [kernelEvent('BundleTaken', record)],
  };
};

/** Two files that describe no session. */
const orderPairFiles = (
  world: World,
  accepted: Accepted,
  { ground, paths, pair, there, same }: Place,
  wish: Wish,
): Result<Order<JsonObject>, Refusal> => {
  if (pair === undefined)
    return err(refuse('invariant-unmet', 'This bundle holds no handover.', { expected: 'no --session-output' }));
  const refusal = refuseWithout(world, there, wish);
  if (refusal !== undefined) return err(refusal);
  const made = comebackFiles(world, ground, comebackOf(accepted, pair), paths);
  if (!made.ok) return made;
  const { files, answer } = made.value;
  const isFree = wish.force === true || world.caller.dryRun || same.length > 0;
  const { status = null, next_owner: owner = null } = answer;
  return orderFiles(world, ground, files, isFree, {
    ...reportOf(world, accepted, { status, owner, overwritten: there }),
    ...answer,
    landed: 'files',
  });
};

/** A session that came without its log and without documents: a task that says where it stood. */
const orderState = async (
  world: World,
  accepted: Accepted,
  session: BundledSession | undefined,
): Promise<Result<Order<JsonObject>, Refusal>> => {
  if (session === undefined)
    return err(
      refuse('invariant-unmet', 'This bundle holds nothing that becomes a session.', {
        expected: 'a session, or documents',
      }),
    );
  const { state, key } = session;
  const goal = cleanDocument(textAt(state, 'goal')) || `go on with ${key}`;
  const target = await begunTarget(world, goal, { root: '', handover: null, sessionState: currentPath });
  const stood = [
    `${key} came without its history, as it stood at revision ${session.revision}: ${textAt(state, 'position')}.`,
    `Next there: ${textAt(objectAt(state, 'next_action'), 'text')}`,
    ...(textsAt(state, 'missing').length === 0 ? [] : [`Missing: ${textsAt(state, 'missing').join('; ')}`]),
    ...(textsAt(state, 'remaining').length === 0 ? [] : [`Left: ${textsAt(state, 'remaining').join(', ')}`]),
  ].join('\n');
  return ok({
    keys: [target.key],
    guards: target.guards,
    decide: (sessions, { origin }) => {
      const before = sessions.get(target.key);
      if (before === undefined) throw new Error(`${target.key} was not loaded`);
      const { branch, worktree } = world.places.here;
      const begun = decideBegin(before, { branch, worktree, goal });
      if (!begun.ok) return begun;
      const events = [...begun.value, kernelEvent('BundleTaken', accepted.record)];
      const entry = decideEntry(
        appendEvents(before, events, origin).session,
        'remark',
        { text: cleanDocument(stood) },
        undefined,
      );
      return entry.ok ? ok(new Map([[target.key, [...events, ...entry.value]]])) : entry;
    },
    answer: (after) => {
      const made = sessionIn(after, target.key);
      return answerOf(world, accepted, { session: made, landed: 'made', events: made.common.seq, overwritten: [] });
    },
  });
};

/** Whether a session was made of this bundle. */
const isTaken = async ({ store }: World, { key }: OpenedSession, { record }: Accepted): Promise<boolean> =>
  (await store.events(key, { types: ['BundleTaken'] })).some(({ data }) => data['digest'] === record['digest']);

const nothingNew = (world: World, accepted: Accepted, session: OpenedSession): Order<JsonObject> => ({
  keys: [session.key],
  decide: () => ok(new Map()),
  answer: (after) =>
    answerOf(world, accepted, { session: sessionIn(after, session.key), landed: 'known', events: 0, overwritten: [] }),
});

/** What the documents of this checkout are once they are written: gathered before, so that nothing is read in a commit. */
const judging = async (world: World, { look: given }: Ground, wish: Wish) => {
  const look = lookOnce(given);
  const isNamed = wish.root !== undefined || wish.start_dir !== undefined;
  const judge = await prepareReadiness(world, look, { historyLimit: 3, isNamed });
  if (!judge.ok) return judge;
  judge.value(look, undefined);
  return ok(
    (
      session: OpenedSession,
      texts: Readonly<Record<'handover' | 'session_state', string>>,
      archived: readonly DecidedEvent[],
    ): { readonly readiness: JsonObject; readonly docsRoot: string } => {
      const now = withTexts(lookBehind(look, session, texts, { archived }), new Map([[leasePath, null]]));
      return { readiness: judge.value(now, session), docsRoot: look.root };
    },
  );
};

/** What was done, for the answer. */
interface Done extends Pick<Landed, 'session' | 'events'> {
  readonly landed: Landed['landed'] | 'made';
  /** The files that were there and are replaced, or would be. */
  readonly overwritten: readonly string[];
  /** What was written in its documents and could not be taken, a sentence each. */
  readonly untaken?: readonly string[];
  readonly readiness?: JsonObject;
  readonly docsRoot?: string;
}

const answerOf = (world: World, accepted: Accepted, done: Done): JsonObject => {
  const { session, landed, events, readiness } = done;
  const { common } = session;
  const { status, owner } = pairFieldsOf(session);
  const { documents } = common;
  const { here } = world.places;
  const docsRoot = done.docsRoot ?? (documents?.place === here.id ? `${here.root}/${documents?.root}` : undefined);
  const files =
    docsRoot === undefined || documents === undefined
      ? { docs_root: null, handover: null, session_state: null }
      : {
          docs_root: docsRoot,
          handover: documents.handover === null ? null : `${docsRoot}/${documents.handover}`,
          session_state: `${docsRoot}/${documents.sessionState}`,
        };
  const report = readiness === undefined ? {} : objectAt(readiness, 'report');
  return {
    ...reportOf(world, accepted, {
      status,
      owner: status === 'done' ? 'None' : owner,
      overwritten: done.overwritten,
      more: [...(done.untaken ?? []), ...warningsOf(report).map((text) => `WORKSPACE: ${text}`)],
      isKnown: landed === 'known',
    }),
    ...files,
    session: session.key,
    session_id: common.name,
    landed,
    events,
    seq: common.seq,
    revision: common.revision,
    hash: session.hash,
    ...(world.caller.dryRun
      ? {
          would_overwrite: [...done.overwritten],
          would_write: { handover: files.handover, session_state: files.session_state, lease: null },
        }
      : {}),
    ...(readiness === undefined || world.caller.dryRun ? {} : { report, readiness }),
  };
};

const reportOf = (
  { caller }: World,
  { report, warnings }: Accepted,
  {
    status,
    owner,
    overwritten,
    more = [],
    isKnown = false,
  }: {
    readonly status: JsonObject[string];
    readonly owner: JsonObject[string];
    readonly overwritten: readonly string[];
    readonly more?: readonly string[];
    readonly isKnown?: boolean;
  },
): JsonObject => {
  const targets =
    caller.dryRun && overwritten.length > 0
      ? [`TARGETS: ${overwritten.join(' and ')} would be replaced: only with --force`]
      : [];
  const all = isKnown ? [] : [...new Set([...warnings, ...targets, ...more])];
  const done = isKnown ? 'unchanged' : caller.dryRun ? 'preview' : 'imported';
  return {
    result: all.length === 0 || isKnown ? done : `${done}-with-warnings`,
    ...report,
    status,
    next_owner: owner,
    lease_restored: false,
    lease_state: 'none',
    dry_run: caller.dryRun,
    warnings: all,
    errors: [],
  };
};
