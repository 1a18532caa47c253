import { leaseFacts, leaseToJson } from '../../kernel/lease.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import type { ProjectFiles, World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { ok, type Result } from '../../lib/result.ts';
import { mayHoldSecret } from '../../lib/secret-hint.ts';
import { shellWord } from '../../lib/text.ts';
import { handover, sessionState } from './document.ts';
import { describedSession, settle } from './live.ts';
import { checkoutOf, lookBelow } from './look.ts';
import { readyToJson, type Secret, type SessionLease, type SessionSaid } from './ready.ts';
import { reportToJson } from './report.ts';
import { requirementsOf } from './requirements.ts';
import {
  examine,
  examineAlone,
  leaseIn,
  locatePair,
  lookOnce,
  rootsInOrder,
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

/** Whether the work that the documents below a root tell of can be handed over. */
export const readReadiness = async (
  world: World,
  root: string,
  { historyLimit, isNamed }: ReadyWish,
): Promise<Result<JsonObject, Refusal>> => {
  const required = requirementsOf(world);
  if (!required.ok) return required;
  const { now, actor } = world.caller;
  const checkout = checkoutOf(world, root);
  const isVersioned = world.files.exists(`${checkout}/.git`);
  // Git takes its time: it is asked first and answers while the rest is looked at.
  const tree = isVersioned
    ? world.outside({
        root: checkout,
        folder: root.slice(checkout.length + 1),
        since: now,
        validatedAt: null,
        recordedHead: null,
      })
    : undefined;
  const files = lookOnce(await lookBelow(world, root));
  const settled = await settle(world, files);
  const look = lookOnce(settled.look);
  const pair = locatePair(look);
  const documents =
    pair === undefined
      ? { handover: undefined, sessionState: undefined }
      : {
          handover: examine(look, handover, pair.handover),
          sessionState: examine(look, sessionState, pair.sessionState),
        };
  const here = `${world.places.here.root}/`;
  const session = root.startsWith(here) ? await describedSession(world, root.slice(here.length)) : undefined;
  const secrets = pair === undefined ? [] : await secretsIn(files, pair);
  return ok(
    await withoutSecrets(
      secrets,
      readyToJson({
        root,
        report: reportToJson(look, now, historyLimit),
        ...documents,
        leaseFile: leaseIn(look, now),
        session: session === undefined ? undefined : await saidBy(world, session),
        changedAt: changedBelow(await world.project(), basesOf(root, checkout)),
        secrets,
        stale: settled.stale,
        tree: await tree,
        required: required.value,
        now,
        actor,
        where: {
          root: isNamed ? ` --root ${shellWord(root)}` : '',
          pair: isNamed && pair !== undefined ? ` --session-state ${shellWord(`${root}/${pair.sessionState}`)}` : '',
        },
      }),
    ),
  );
};

/** What is told of documents that hold secrets repeats none of them. */
const withoutSecrets = async (secrets: readonly Secret[], answer: JsonObject): Promise<JsonObject> => {
  if (secrets.length === 0) return answer;
  const { redactJson } = await import('../../lib/redact.ts');
  const { value } = redactJson(answer);
  return isJsonObject(value) ? value : answer;
};

const saidBy = async (world: World, session: OpenedSession): Promise<SessionSaid> => {
  const { store, caller, host, places, files } = world;
  const { key, common, folded } = session;
  const lease = leaseToJson(leaseFacts({ common, renewals: await store.renewals(key) }, caller, host));
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
    files: isHere
      ? [...(recent.file ?? []), ...(recent.artifact ?? [])].flatMap((entry) =>
          entry.file === null || entry.file === undefined ? [] : [entry.path ?? entry.text],
        )
      : [],
    edits: await editsOf(world, session),
  };
};

/** What somebody has written in the documents that their session does not know, as it would be taken in now. */
const editsOf = async (
  { documents, caller: { now, actor }, places }: World,
  session: OpenedSession,
): Promise<readonly string[]> => {
  const seen = await documents(session);
  if (!seen.isEdited) return [];
  const { events, notes } = seen.takeIn(session, { now, actor, place: places.here.id ?? '', cause: '' });
  // What no file can be taken from is told by the audit.
  const known = new Set(seen.leave(session).notes);
  return [
    ...(events.length === 0 ? [] : [`what was written in the documents is not known to ${session.key} yet`]),
    ...notes.filter((note) => !known.has(note) && !note.startsWith('what was written in')),
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
  const documents = [examineAlone(look, handover, pair.handover), examineAlone(look, sessionState, pair.sessionState)];
  const sections = documents.flatMap(({ path, document }) =>
    (document?.sections ?? []).filter(({ body }) => mayHoldSecret(body)).map((section) => ({ path, section })),
  );
  if (sections.length === 0) return [];
  const { redact } = await import('../../lib/redact.ts');
  return sections.flatMap(({ path, section: { name, body, line } }) => {
    const rules = Object.keys(redact(body).found);
    return rules.length === 0 ? [] : [{ path, section: name, line, rules }];
  });
};
