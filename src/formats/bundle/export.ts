import { resolve } from '../../kernel/address.ts';
import { objectAt, objectsAt, textAt, textsAt } from '../../kernel/answer.ts';
import { hashEvent, type StoredEvent } from '../../kernel/event.ts';
import { folderIn } from '../../kernel/kinds.ts';
import { leaseFacts, leaseToJson } from '../../kernel/lease.ts';
import { statusToJson, surroundingsOf } from '../../kernel/query.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { absentSession, applyEvent, type OpenedSession, type Session } from '../../kernel/session.ts';
import type { VerbRefusal, World } from '../../kernel/verb.ts';
import type { Json, JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import { sizeText } from '../../lib/text.ts';
import { pairFieldsOf } from '../handoff/fields.ts';
import { heldToJson, lookWhoHolds } from '../handoff/lease.ts';
import { rootBelow, settle, type Settled } from '../handoff/live.ts';
import { checkoutOf, findRoot, lookBelow, refusePair, type Whereabouts } from '../handoff/look.ts';
import type { Half } from '../handoff/print.ts';
import { judgeReadiness, readSessionReadiness } from '../handoff/readiness.ts';
import { reportToJson } from '../handoff/report.ts';
import { leasePath, locateLive, lookOnce, withTexts, type Look } from '../handoff/workspace.ts';
import { gatherArtifacts } from './artifacts.ts';
import { mostBundleBytes, printBundle, readBundle, sealBundle } from './bundle.ts';
import { gitPart2, gitPart3 } from './git-part.ts';
import { inspectBundle, saidInDocuments, saidTwice } from './inspect.ts';
import { baseName } from './names.ts';
import { faultText } from './parts.ts';
import {
  chooseRedaction,
  createRedactor,
  type ChosenRedaction,
  type RedactionWish,
  type Redactor,
} from './redaction.ts';
import { shareTexts } from './texts.ts';

/** A session, or a pair of documents, made into one file that may leave. */

/** What is wished of a bundle. */
export interface ExportWish extends RedactionWish, Whereabouts {
  readonly session?: string | undefined;
  readonly version: 2 | 3;
  readonly withHistory: boolean;
  readonly withPatch: boolean;
  readonly withArtifacts: boolean;
}

/** A bundle that is ready to be written: it was inspected as whoever gets it will. */
export interface MadeBundle {
  readonly text: string;
  /** Where the documents lie, or would; the session without any. */
  readonly root: string | undefined;
  readonly session: string | undefined;
  /** What of a policy that is checked in did not count. */
  readonly loosened: readonly string[];
  readonly answer: JsonObject;
}

/** What is exported. */
interface Target {
  readonly session: OpenedSession | undefined;
  readonly documents: Found | undefined;
}

/** Documents as they lie there. */
interface Found {
  readonly root: string;
  /** The files as they lie there, and what they come to. */
  readonly files: Look;
  readonly settled: Settled;
  readonly look: Look;
  readonly source: string;
  /** Their paths from the root. */
  readonly handover: string | undefined;
  readonly sessionState: string;
}

/** Makes a bundle; nothing is written. */
export const makeBundle = async (world: World, wish: ExportWish): Promise<Result<MadeBundle, VerbRefusal>> => {
  const target = await findTarget(world, wish);
  if (!target.ok) return err({ refusal: target.error });
  const { session, documents } = target.value;
  const policyRoot = documents === undefined ? await findRoot(world, wish) : ok(documents.root);
  if (!policyRoot.ok) return err({ refusal: policyRoot.error });
  const redaction = await chooseRedaction(world, policyRoot.value, wish);
  if (!redaction.ok) return err({ refusal: redaction.error });
  const redactor = createRedactor(redaction.value);
  if (wish.version === 2 && documents?.handover === undefined)
    return err({ refusal: refusePair('a bundle of version 2 holds a handover and a session state') });
  const readiness =
    documents !== undefined
      ? await readinessOf(world, documents, redactor, wish.root !== undefined)
      : session === undefined
        ? ok<JsonObject>({})
        : await readSessionReadiness(world, session);
  if (!readiness.ok) return err({ refusal: readiness.error });
  const lease = await leasePart(world, target.value);
  const gathered = {
    world,
    wish,
    target: target.value,
    redaction: redaction.value,
    redactor,
    readiness: readiness.value,
    lease,
  };
  const made =
    documents !== undefined && wish.version === 2
      ? await makeBundle2(gathered, documents)
      : await makeBundle3(gathered);
  return made.ok ? finish(gathered, made.value) : err({ refusal: made.error });
};

/** Finds what is meant: the session that is named; else the documents of this checkout with theirs; else the one session here. */
const findTarget = async (world: World, wish: ExportWish): Promise<Result<Target, Refusal>> => {
  const root = await findRoot(world, wish);
  if (!root.ok) return root;
  if (wish.session === undefined && world.caller.session === undefined) {
    const { documents, session } = await findDocuments(world, root.value);
    if (documents !== undefined) return ok({ session, documents });
    if (wish.root !== undefined) return err(refusePair(`there is none in ${root.value}`));
  }
  const row = await resolve(world, wish.session);
  if (!row.ok) return row;
  const session = await world.store.load(row.value.key);
  if (session === undefined) throw new Error(`${row.value.key} has no events`);
  const { documents } = session.common;
  if (documents === undefined || documents.place !== world.places.here.id) return ok({ session, documents: undefined });
  const found = await findDocuments(world, `${world.places.here.root}/${documents.root}`);
  return ok({ session, documents: found.session?.key === session.key ? found.documents : undefined });
};

const findDocuments = async (
  world: World,
  root: string,
): Promise<{ readonly documents: Found | undefined; readonly session: OpenedSession | undefined }> => {
  const files = lookOnce(await lookBelow(world, root));
  const settled = await settle(world, files);
  const look = lookOnce(settled.look);
  const { session } = settled;
  const live = locateLive(look);
  if (live !== undefined) return { session, documents: { root, files, settled, look, ...live } };
  const own = session?.common.documents;
  // A session state without a handover, as one is that was just begun.
  return own === undefined || !look.read(own.sessionState).ok
    ? { session, documents: undefined }
    : {
        session,
        documents: {
          root,
          files,
          settled,
          look,
          source: 'session',
          handover: undefined,
          sessionState: own.sessionState,
        },
      };
};

/**
 * Whether the work of documents is ready, and what is reported of them. Both are made of texts without secrets, because one may
 * reach over what becomes several texts; the report of what the bundle holds of them.
 */
const readinessOf = async (
  world: World,
  { look, files, settled, handover, sessionState }: Found,
  redactor: Redactor,
  isNamed: boolean,
): Promise<Result<JsonObject, Refusal>> => {
  const paths = [
    ...(handover === undefined ? [] : [['handover', handover] as const]),
    ['session_state', sessionState] as const,
  ];
  const lookAt = (redact: (half: Half, text: string) => string): Look =>
    withTexts(look, new Map(paths.map(([half, path]) => [path, redact(half, textIn(look, path))])));
  const wish = { historyLimit: 3, isNamed };
  const clean = { ...settled, look: lookAt((_half, text) => redactor.text(text)) };
  const judged = await judgeReadiness(world, files, clean, wish);
  const isAll = paths.every(
    ([half, path]) => redactor.document(half, textIn(look, path)) === redactor.text(textIn(look, path)),
  );
  return judged.ok && !isAll
    ? ok({ ...judged.value, report: reportToJson(lookAt(redactor.document), world.caller.now, wish.historyLimit) })
    : judged;
};

/** What is gathered for a bundle of either version. */
interface Gathered {
  readonly world: World;
  readonly wish: ExportWish;
  readonly target: Target;
  readonly redaction: ChosenRedaction;
  readonly redactor: Redactor;
  readonly readiness: JsonObject;
  readonly lease: LeasePart;
}

/** A bundle without its checksums, with what there is to say about it. */
interface Draft {
  readonly value: JsonObject;
  readonly found: Readonly<Record<string, number>>;
  readonly warnings: readonly string[];
}

const makeBundle2 = async (
  gathered: Gathered,
  { root, look, source, handover = '', sessionState }: Found,
): Promise<Result<Draft, Refusal>> => {
  const { world, redaction, redactor, readiness, lease } = gathered;
  const project = checkoutOf(world, root);
  const git = gitPart2(await world.repository(project), project);
  const parts = {
    bundle_version: 2,
    exported_at: `${world.caller.now.slice(0, 19)}+00:00`,
    source: {
      resolution: source,
      docs_root: root,
      handover: `${root}/${handover}`,
      session_state: `${root}/${sessionState}`,
      handover_name: baseName(handover),
      session_state_name: baseName(sessionState),
    },
    documents: { handover_markdown: textIn(look, handover), session_state_markdown: textIn(look, sessionState) },
    lease: { payload: lease.payload, inspection: lease.inspection },
    report: objectAt(readiness, 'report'),
    readiness,
    git,
  };
  const { value, found, paths } = redactor.parts(parts);
  const agreeing = agreeingWith(value, found, { handover, sessionState }, world.caller.now);
  const report = withSummary(objectAt(value, 'report'), agreeing);
  return ok({
    value: {
      ...value,
      report,
      readiness: agreeing({ ...objectAt(value, 'readiness'), report }),
      redaction: redactionPart(gathered, found, paths, redaction.path),
    },
    found,
    warnings: lease.warnings,
  });
};

const makeBundle3 = async (gathered: Gathered): Promise<Result<Draft, Refusal>> => {
  const { world, wish, target, redaction, redactor, readiness, lease } = gathered;
  const { session, documents } = target;
  const { store, caller, places } = world;
  const read = session === undefined ? undefined : await store.read(session.key, session.common.seq);
  const folder = read === undefined ? '' : await folderIn(world.kinds, read.row);
  const home = session === undefined ? places.here : places.homeOf(session.common);
  const checkout = documents === undefined ? home.root : checkoutOf(world, documents.root);
  const look = home.isElsewhere === true && documents === undefined ? nowhere : await world.repository(checkout);
  const below = relativeTo(checkout);
  const events =
    session === undefined || !wish.withHistory
      ? undefined
      : await store.events(session.key, { until: session.common.seq });
  const files =
    read === undefined
      ? { artifacts: [], warnings: [] }
      : await gatherArtifacts(world, read, folder, {
          withContent: wish.withArtifacts,
          policy: redaction.policy,
          events,
        });
  const state = read === undefined ? {} : statusToJson(read, await surroundingsOf(world, read), world, folder);
  const { report: _report, ...verdict } = readiness;
  const docsRoot = documents === undefined ? undefined : rootBelow(world, documents.root);
  const parts = {
    bundle_version: 3,
    bundle_id: caller.freshId(),
    exported_at: caller.now,
    source: {
      kind: session?.kind.name ?? null,
      name: session?.common.name ?? null,
      session: session?.key ?? null,
      store_id: session === undefined ? null : store.identity.id,
      project: places.here.label,
      resolution: documents?.source ?? 'session',
      docs_root: docsRoot ?? null,
      handover_name: documents?.handover === undefined ? null : baseName(documents.handover),
      session_state_name: documents === undefined ? null : baseName(documents.sessionState),
    },
    documents:
      documents === undefined
        ? null
        : {
            handover_markdown: documents.handover === undefined ? null : textIn(documents.look, documents.handover),
            session_state_markdown: textIn(documents.look, documents.sessionState),
          },
    session:
      session === undefined
        ? null
        : {
            version: session.kind.stateVersion,
            seq: session.common.seq,
            revision: session.common.revision,
            hash: session.hash,
            state: below(withoutToken(state)),
          },
    // The rest of an event is what it is.
    events: events?.map(({ data }) => ({ data })) ?? null,
    lease: { payload: lease.payload, inspection: withoutPaths(lease.inspection) },
    report: below(reportPart(readiness, target)),
    readiness: below(verdict),
    git: below(gitPart3(look, wish.withPatch)),
  };
  const { value, found, paths } = redactor.parts(parts);
  const agreeing =
    documents === undefined
      ? (part: JsonObject): JsonObject => part
      : agreeingWith(value, found, documents, caller.now);
  const isChanged = Object.keys(found).length > 0;
  const history = historyOf(session, events, isChanged ? objectsAt(value, 'events') : undefined);
  if (!history.ok) return history;
  const { values, texts } = shareTexts<Record<'documents' | 'events', Json>>({
    documents: value['documents'] ?? null,
    events: history.value.events?.map(({ session: _session, ...event }) => event) ?? null,
  });
  const { bundle_version: version, bundle_id: id, exported_at: at, source, session: said, lease: leased } = value;
  return ok({
    value: {
      bundle_version: version ?? null,
      bundle_id: id ?? null,
      exported_at: at ?? null,
      source: source ?? null,
      documents: values.documents,
      session: isJsonObject(said) ? { ...said, ...history.value.end } : null,
      events: values.events,
      texts,
      lease: leased ?? null,
      report: agreeing(objectAt(value, 'report')),
      readiness: agreeing(objectAt(value, 'readiness')),
      git: value['git'] ?? null,
      artifacts: files.artifacts,
      redaction: {
        ...redactionPart(gathered, found, paths, below({ path: redaction.path ?? null })['path']),
        rechained_from: history.value.rechainedFrom,
      },
    },
    found,
    warnings: [...lease.warnings, ...files.warnings],
  });
};

/** Whoever gets a bundle is not whoever holds the session. */
const withoutToken = (state: JsonObject): JsonObject => {
  const { lease } = state;
  if (!isJsonObject(lease)) return state;
  const { token: _token, ...others } = lease;
  return { ...state, lease: others };
};

/** Makes a part say what the redacted documents say: whoever reads a bundle compares them. */
const agreeingWith = (
  value: JsonObject,
  found: Draft['found'],
  { handover, sessionState }: Pick<Found, 'handover' | 'sessionState'>,
  now: string,
): ((part: JsonObject) => JsonObject) => {
  const { handover_markdown: one, session_state_markdown: other } = objectAt(value, 'documents');
  if (Object.keys(found).length === 0 || typeof one !== 'string' || typeof other !== 'string') return (part) => part;
  const says = saidInDocuments(
    {
      handover: { name: baseName(handover ?? ''), text: one },
      sessionState: { name: baseName(sessionState), text: other },
    },
    now,
  );
  return (part) => ({ ...part, ...Object.fromEntries(saidTwice.map((key) => [key, says?.[key] ?? 'None'])) });
};

const withSummary = (report: JsonObject, agreeing: (part: JsonObject) => JsonObject): JsonObject =>
  isJsonObject(report['summary']) ? { ...report, summary: agreeing(report['summary']) } : report;

/** A checkout that is not on this machine. */
const nowhere = { available: false, because: 'the checkout of the session is on another machine' } as const;

/** The events as they may leave, and where they end. */
const historyOf = (
  session: OpenedSession | undefined,
  events: readonly StoredEvent[] | undefined,
  redacted: readonly JsonObject[] | undefined,
): Result<
  {
    readonly events: readonly StoredEvent[] | undefined;
    readonly rechainedFrom: number | null;
    readonly end: JsonObject;
  },
  Refusal
> => {
  const isSame = (data: JsonObject, at: number): boolean =>
    JSON.stringify(data) === JSON.stringify(redacted?.[at]?.['data']);
  const first = redacted === undefined ? -1 : (events?.findIndex(({ data }, at) => !isSame(data, at)) ?? -1);
  if (session === undefined || events === undefined || first === -1)
    return ok({ events, rechainedFrom: null, end: {} });
  let after: Session = absentSession(session.kind, session.key);
  const chained: StoredEvent[] = [];
  for (const [at, event] of events.entries()) {
    const next = at < first ? event : { ...event, data: objectAt(redacted?.[at] ?? {}, 'data') };
    const stored = at < first ? event : { ...next, hash: hashEvent(after.hash, next) };
    chained.push(stored);
    after = applyEvent(after, stored);
  }
  if (after.unreadable !== undefined && session.unreadable === undefined)
    return err(
      refuse('policy', `The redaction takes out what event ${after.unreadable.seq} of ${session.key} is made of.`, {
        expected: 'a policy that leaves the log readable, or a bundle without it',
        hint: 'stint bundle export --no-history',
      }),
    );
  return ok({ events: chained, rechainedFrom: first + 1, end: { hash: after.hash } });
};

/** A lease as a bundle tells it: what its file says, or would say. */
interface LeasePart {
  readonly payload: JsonObject | null;
  readonly inspection: JsonObject;
  readonly warnings: readonly string[];
}

const leasePart = async (world: World, { session, documents }: Target): Promise<LeasePart> => {
  if (documents === undefined) {
    const facts =
      session === undefined
        ? undefined
        : leaseFacts(
            { common: session.common, renewals: await world.store.renewals(session.key) },
            world.caller,
            world.host,
          );
    const own = facts === undefined ? null : leaseToJson(facts);
    if (own === null) return { payload: null, inspection: { state: 'none', warnings: [], errors: [] }, warnings: [] };
    const { state, holder, purpose, claimed_at: acquired, expires_at: expires } = own;
    const payload = { version: 1, holder, purpose: purpose ?? 'not said', acquired_at: acquired, expires_at: expires };
    return { payload, inspection: { ...payload, state, warnings: [], errors: [] }, warnings: [] };
  }
  const { look, root } = documents;
  const held = await lookWhoHolds(world, look, rootBelow(world, root));
  const inspection = heldToJson(held);
  if (inspection['session'] !== null && inspection['alive'] !== undefined) {
    const { holder, purpose, acquired_at: acquired, expires_at: expires } = inspection;
    const payload = {
      version: 1,
      holder: holder ?? null,
      purpose: purpose === 'None' ? 'not said' : (purpose ?? null),
      acquired_at: acquired ?? null,
      expires_at: expires ?? null,
      handover: inspection['handover'] ?? null,
      session_state: inspection['session_state'] ?? null,
    };
    return { payload, inspection, warnings: [] };
  }
  // A file of ours that nobody has taken away yet says nothing any more.
  const text = held.file.state === 'none' ? undefined : look.read(leasePath);
  if (text === undefined || !text.ok) return { payload: null, inspection, warnings: [] };
  const payload = objectIn(text.value);
  return {
    payload: payload ?? null,
    inspection,
    warnings: payload === undefined ? [`LEASE: ${leasePath} holds no JSON object, and does not come along`] : [],
  };
};

const objectIn = (text: string): JsonObject | undefined => {
  try {
    const json: Json = JSON.parse(text);
    return isJsonObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
};

const withoutPaths = ({ docs_root: _root, lease_path: _path, ...others }: JsonObject): JsonObject => others;

/** In short what a bundle of version 3 is about. */
const reportPart = (readiness: JsonObject, { session, documents }: Target): JsonObject => {
  const report = objectAt(readiness, 'report');
  const says = objectAt(report, 'summary');
  const told = (key: string): Json => says[key] ?? 'None';
  const warnings = { warnings: [...textsAt(report, 'warnings')], errors: [...textsAt(report, 'errors')] };
  if (documents?.handover !== undefined || session === undefined)
    return {
      result: textAt(report, 'result'),
      task: told('task'),
      status: told('status'),
      last_updated: told('last_updated'),
      updated_by: told('updated_by'),
      next_owner: told('next_owner'),
      last_completed_step: told('last_completed_step'),
      current_step: told('current_step'),
      ...warnings,
    };
  const { task, status, owner, lastCompleted, current } = pairFieldsOf(session);
  return {
    result: 'clean',
    task,
    status,
    last_updated: session.common.updatedAt,
    updated_by: session.common.documents?.last.actor ?? 'None',
    next_owner: owner ?? 'None',
    last_completed_step: lastCompleted ?? 'None',
    current_step: current ?? 'None',
    warnings: [],
    errors: [],
  };
};

/** What was taken out, under the names of the original, and what was said against a policy. */
const redactionPart = (
  { world: { caller }, wish, redaction: { policy, lists, loosened } }: Gathered,
  found: Draft['found'],
  paths: readonly string[],
  source: Json | undefined,
): JsonObject => ({
  enabled: policy !== undefined,
  policy_source: source ?? 'default',
  redaction_count: countOf(found),
  redacted_paths: [...paths],
  rules_triggered: Object.keys(found),
  allow_paths: [...(lists.allowPaths ?? [])],
  deny_paths: [...(lists.denyPaths ?? [])],
  extra_sensitive_keywords: [...(lists.keywords ?? [])],
  extra_redaction_regex_count: lists.patterns?.length ?? 0,
  ...(loosened.length === 0
    ? {}
    : { loosened: [...loosened], override: { reason: wish.override ?? '', actor: caller.actor } }),
});

const countOf = (found: Draft['found']): number => Object.values(found).reduce((sum, count) => sum + count, 0);

const textIn = (look: Look, path: string): string => {
  const text = look.read(path);
  return text.ok ? text.value : '';
};

/** Takes the folder of this machine out of all texts. */
const relativeTo = (root: string): ((object: JsonObject) => JsonObject) => {
  const walk = (value: Json): Json => {
    if (typeof value === 'string')
      return value.includes(root) ? value.replaceAll(`${root}/`, '').replaceAll(root, '.') : value;
    if (Array.isArray(value)) return value.map(walk);
    return isJsonObject(value) ? below(value) : value;
  };
  const below = (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([key, value]) => [key, walk(value)]));
  return below;
};

/** Puts the checksums on, and looks at the bundle as whoever gets it will. */
const finish = (
  { world, wish: { version }, target: { session, documents }, redaction, readiness }: Gathered,
  { value, found, warnings }: Draft,
): Result<MadeBundle, VerbRefusal> => {
  const text = printBundle(version, sealBundle(version, value));
  const size = Buffer.byteLength(text);
  const report = documents === undefined ? {} : objectAt(readiness, 'report');
  const git = objectAt(value, 'git');
  const count = countOf(found);
  const told = [
    ...[...textsAt(report, 'warnings'), ...textsAt(report, 'errors')].map((one) => `WORKSPACE: ${one}`),
    ...warnings,
    ...(count === 0 ? [] : [`REDACTION: ${count} ${count === 1 ? 'secret was' : 'secrets were'} taken out`]),
    ...redaction.loosened.map((one) => `REDACTION: against the policy that is checked in, ${one}`),
  ];
  const answer = (result: string, errors: readonly string[], more: JsonObject = {}): JsonObject => ({
    result,
    bundle_path: 'None',
    bundle_version: version,
    docs_root: documents?.root ?? 'None',
    source: documents?.source ?? 'session',
    handover: documents?.handover === undefined ? 'None' : `${documents.root}/${documents.handover}`,
    session_state: documents === undefined ? 'None' : `${documents.root}/${documents.sessionState}`,
    session: session?.key ?? null,
    lease_state: 'none',
    readiness_verdict: textAt(readiness, 'verdict') || 'None',
    git_available: git['available'] === true,
    git_dirty: git['is_dirty'] === true,
    redaction_count: count,
    rules_triggered: Object.keys(found),
    size,
    ...more,
    warnings: told,
    errors: [...errors],
  });
  const refused = (message: string, errors: readonly string[], hint: string): Result<never, VerbRefusal> =>
    err({
      report: answer('error', errors),
      refusal: refuse('invariant-unmet', message, {
        expected: 'a bundle that can be read again',
        faults: errors,
        hint,
      }),
    });
  if (size > mostBundleBytes) {
    const limit = sizeText(mostBundleBytes);
    return refused(
      `The bundle would be larger than ${limit}.`,
      [`it has ${sizeText(size)}, and at most ${limit} are read`],
      'leave something out: --no-history, or no --with-artifacts',
    );
  }
  const bundle = readBundle(text);
  const inspection = bundle.ok ? inspectBundle(bundle.value, 'None', world.caller.now) : undefined;
  const errors = bundle.ok ? (inspection?.errors ?? []) : bundle.error.map(faultText);
  if (!bundle.ok || inspection === undefined || errors.length > 0)
    return refused(
      `What would be exported is not sound: ${errors[0] ?? ''}${errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''}.`,
      errors,
      documents === undefined ? 'stint doctor' : 'stint handoff validate',
    );
  return ok({
    text,
    root: documents?.root,
    session: session?.key,
    loosened: redaction.loosened,
    answer: answer(told.length === 0 ? 'exported' : 'exported-with-warnings', [], {
      bundle_id: bundle.value.id ?? null,
      bundle_sha256: bundle.value.digest,
      revision: bundle.value.session?.revision ?? null,
      events: bundle.value.session?.events?.length ?? null,
      artifacts: bundle.value.artifacts.length,
      lease_state: inspection.lease_state,
    }),
  });
};
