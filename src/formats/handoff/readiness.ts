import { objectsAt, textAt } from '../../kernel/answer.ts';
import { leaseFacts, leaseToJson, type Renewal } from '../../kernel/lease.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import type { ProjectFiles, World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import type { Entry } from '../../kernel/journal.ts';
import { mayHoldSecret } from '../../lib/secret-hint.ts';
import { shellWord } from '../../lib/text.ts';
import { cleanDocument } from './clean.ts';
import { handover, sessionState } from './document.ts';
import { awaitedOf } from './fields.ts';
import { settle, type Settled } from './live.ts';
import { checkoutOf, lookBelow } from './look.ts';
import { readyToJson, type Secret, type SessionLease, type SessionSaid } from './ready.ts';
import { lineFinder } from './sections.ts';
import { isNews, type SeenPair } from './seen.ts';
import { reportToJson } from './report.ts';
import { requirementsOf } from './requirements.ts';
import {
  examine,
  examineAlone,
  leaseIn,
  locatePair,
  lookOnce,
  rootsInOrder,
  type Examined,
  type Look,
  type Pair,
} from './workspace.ts';

/** Gathers what it takes to judge whether work can be handed over. */

/** How that is asked. */
export interface ReadyWish {
  readonly historyLimit: number;
  /** Whether the root was named, so that commands have to name it too. */
  readonly isNamed: boolean;
}

/** Judges the documents that a look shows, with the session that they describe and what is known beside it. */
export type Judge = (look: Look, session: OpenedSession | undefined, beside?: Beside) => JsonObject;

/** What is known beside a session: what was renewed of its lease, and what its documents say that it does not. */
interface Beside {
  readonly stale: Settled['stale'];
  readonly renewals: ReadonlyMap<string, Renewal>;
  readonly edits: readonly string[];
}

const nothing: Beside = { stale: [], renewals: new Map(), edits: [] };

/** Whether the work that the documents below a root tell of can be handed over. */
export const readReadiness = async (
  world: World,
  root: string,
  wish: ReadyWish,
): Promise<Result<JsonObject, Refusal>> => {
  const files = lookOnce(await lookBelow(world, root));
  return judgeReadiness(world, files, await settle(world, files), wish);
};

/** The same of files that were looked at, and of what they come to. */
export const judgeReadiness = async (
  world: World,
  files: Look,
  settled: Settled,
  wish: ReadyWish,
): Promise<Result<JsonObject, Refusal>> => {
  const look = lookOnce(settled.look);
  const judge = await prepareReadiness(world, look, wish, files);
  if (!judge.ok) return judge;
  const { session } = settled;
  // Whoever takes over reads the files: what is still to be written there is not there for them.
  const stale = [...settled.stale, ...(settled.unwritten ?? [])];
  if (session === undefined) return ok(judge.value(look, undefined, { ...nothing, stale }));
  const renewals = await world.store.renewals(session.key);
  return ok(judge.value(look, session, { stale, renewals, edits: await editsOf(world, session) }));
};

/** The same of a session without documents: nothing is missing where they would be. */
export const readSessionReadiness = async (
  world: World,
  session: OpenedSession,
): Promise<Result<JsonObject, Refusal>> => {
  const { root } = world.places.homeOf(session.common);
  const look: Look = { root, read: () => err({ problem: 'is not there', isMissing: true }), list: () => [] };
  const judge = await prepareReadiness(world, look, { historyLimit: 0, isNamed: false });
  if (!judge.ok) return judge;
  const answer = judge.value(look, session, { ...nothing, renewals: await world.store.renewals(session.key) });
  const reasons = objectsAt(answer, 'reasons').filter(({ code }) => code !== 'pair-missing');
  const texts = (severity: string): string[] =>
    reasons.flatMap((reason) => (reason['severity'] === severity ? [textAt(reason, 'text')] : []));
  const [blocking, warnings] = [texts('blocking'), texts('warning')];
  const verdict = blocking.length > 0 ? 'not-ready' : warnings.length > 0 ? 'ready-with-warnings' : 'ready';
  return ok({ ...answer, verdict, ready: blocking.length === 0, reasons, blocking_reasons: blocking, warnings });
};

/** Gathers what has to be waited for: then the same is judged of documents that are to be written, before they are. */
export const prepareReadiness = async (
  world: World,
  look: Look,
  { historyLimit, isNamed }: ReadyWish,
  files: Look = look,
): Promise<Result<Judge, Refusal>> => {
  const required = requirementsOf(world);
  if (!required.ok) return required;
  const { root } = look;
  const { now, actor } = world.caller;
  const checkout = checkoutOf(world, root);
  const isVersioned = world.files.exists(`${checkout}/.git`);
  // Git takes its time: it is asked first and answers while the rest is looked at.
  const asked = isVersioned
    ? world.outside({
        root: checkout,
        folder: root.slice(checkout.length + 1),
        since: null,
        validatedAt: null,
        recordedHead: null,
      })
    : undefined;
  const found = locatePair(files);
  const secrets = found === undefined ? [] : await secretsIn(files, found);
  const clean = secrets.length === 0 ? undefined : (await import('../../lib/redact.ts')).redactJson;
  const changedAt = changedBelow(await world.project(), basesOf(root, checkout));
  const tree = await asked;
  return ok((shown, session, beside = nothing) => {
    const pair = locatePair(shown);
    const answer = readyToJson({
      root,
      report: reportToJson(shown, now, historyLimit),
      ...documentsIn(shown),
      leaseFile: leaseIn(shown, now),
      session: session === undefined ? undefined : saidBy(world, session, beside),
      changedAt,
      secrets,
      stale: beside.stale,
      tree,
      required: required.value,
      now,
      actor,
      where: {
        root: isNamed ? ` --root ${shellWord(root)}` : '',
        pair: isNamed && pair !== undefined ? ` --session-state ${shellWord(`${root}/${pair.sessionState}`)}` : '',
      },
    });
    // What is told of documents that hold secrets repeats none of them.
    const cleaned = clean?.(answer).value;
    return isJsonObject(cleaned) ? cleaned : answer;
  });
};

/** The two documents of the pair that is worked on. */
const documentsIn = (look: Look): Record<'handover' | 'sessionState', Examined | undefined> => {
  const pair = locatePair(look);
  return pair === undefined
    ? { handover: undefined, sessionState: undefined }
    : {
        handover: examine(look, handover, pair.handover),
        sessionState: examine(look, sessionState, pair.sessionState),
      };
};

const saidBy = (world: World, session: OpenedSession, { renewals, edits }: Beside): SessionSaid => {
  const { caller, host, places, files } = world;
  const { key, common, folded } = session;
  const lease = leaseToJson(leaseFacts({ common, renewals }, caller, host));
  const home = places.homeOf(common);
  const isHere = home.isElsewhere !== true;
  const { recent = {}, blockers = [] } = common.journal ?? {};
  const validation = recent.validation?.at(-1);
  const { path, file } = validation ?? {};
  const evidence = isHere && path !== undefined && file !== undefined && file !== null;
  return {
    key,
    lease: lease === null ? undefined : heldAs(lease),
    blockers,
    doubts: folded.steps?.inDoubt() ?? [],
    validation,
    hasOtherEvidence: evidence && files.digest(home.root, path)?.sha256 !== file.sha256,
    files: isHere ? notedFiles([...(recent.file ?? []), ...(recent.artifact ?? [])]) : [],
    awaited: awaitedOf(session),
    archived: (common.archivedPairs ?? []).flatMap(({ handover: transfer, sessionState: state }) =>
      transfer === null ? [state] : [transfer, state],
    ),
    edits,
  };
};

/** The files that were there when they were noted last. */
const notedFiles = (entries: readonly Entry[]): readonly string[] => {
  const newest = new Map(entries.toSorted((a, b) => a.id - b.id).map((entry) => [entry.path ?? entry.text, entry]));
  return [...newest].flatMap(([path, { file }]) => (file === null || file === undefined ? [] : [path]));
};

/** What somebody has written in the documents that their session does not know, as it would be taken in now. */
const editsOf = async (
  { documents, caller: { now, actor }, places }: World,
  session: OpenedSession,
): Promise<readonly string[]> => {
  const seen = await documents(session);
  if (!seen.isEdited || !isNews(session, seen.leave(session).pair as SeenPair)) return [];
  const { events, notes } = seen.takeIn(session, { now, actor, place: places.here.id ?? '', cause: '' });
  return [
    ...(events.length === 0 ? [] : [`what was written in the documents is not known to ${session.key} yet`]),
    // What no file can be taken from is told by the audit.
    ...notes.filter((note) => !note.startsWith('what was written in')),
  ];
};

const heldAs = ({
  state,
  holder,
  host,
  purpose,
  claimed_at: acquiredAt,
  expires_at: expiresAt,
}: NonNullable<ReturnType<typeof leaseToJson>>): SessionLease => ({
  state,
  holder,
  host,
  purpose,
  acquiredAt,
  expiresAt,
});

/** The folders that a path in a document may be meant from: the checkout, the project in it, the documentation. */
const basesOf = (root: string, checkout: string): readonly string[] => {
  const usual = rootsInOrder.find((folder) => root.endsWith(`/${folder}`));
  return [checkout, ...(usual === undefined ? [] : [root.slice(0, -usual.length - 1)]), root];
};

const changedBelow =
  ({ changedAt }: ProjectFiles, bases: readonly string[]) =>
  (path: string): number | undefined =>
    path.startsWith('/')
      ? changedAt(path)
      : bases.map((base) => changedAt(`${base}/${path}`)).find((time) => time !== undefined);

/** The sections of a pair that hold secrets, with their lines: in the files, whatever their session knows of them. */
const secretsIn = async (look: Look, pair: Pair): Promise<readonly Secret[]> => {
  const isClean = (path: string): boolean => {
    const text = look.read(path);
    return text.ok && cleanDocument(text.value) === text.value;
  };
  const documents = [
    examineAlone(look, handover, pair.handover),
    examineAlone(look, sessionState, pair.sessionState),
  ].filter(({ path }) => !isClean(path));
  const sections = documents.flatMap(({ path, document }) => {
    if (document === undefined) return [];
    const lineOf = lineFinder(document);
    const some = document.sections.filter(({ body }) => mayHoldSecret(body));
    return some.map((section) => ({ path, section, line: lineOf(section) }));
  });
  if (sections.length === 0) return [];
  const { redact } = await import('../../lib/redact.ts');
  return sections.flatMap(({ path, section: { name, body }, line }) => {
    const rules = Object.keys(redact(body).found);
    return rules.length === 0 ? [] : [{ path, section: name, line, rules }];
  });
};
