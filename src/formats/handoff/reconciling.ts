import type { Order } from '../../kernel/dispatch.ts';
import { kernelEvent, type DecidedEvent } from '../../kernel/event.ts';
import { decideReopen, isOverForGood } from '../../kernel/lifecycle.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok } from '../../lib/result.ts';
import { bodyOf } from './document.ts';
import { awaitedOf, bodiesOf, pairFieldsOf } from './fields.ts';
import { orderDocuments, standingTexts, type Target } from './live.ts';
import { mend } from './mend.ts';
import { pairAnswer } from './pair-answer.ts';
import { reconcile, type Evidence } from './reconcile.ts';
import { halves, pointerFrom, type Half } from './print.ts';
import { printSections, readSections, type Sections } from './sections.ts';
import { refuseUntaken, type SeenPair } from './seen.ts';
import type { Status } from './statuses.ts';
import { whereToData } from './take-in.ts';
import { labelled, listItems } from './values.ts';
import { pathsNamed } from './named-files.ts';
import { behind, decideChange, keepsOwner, type Signed } from './write.ts';

/** One account of the documents of a session. */

/** What is said of it. */
export interface Reconciling extends Signed {
  readonly status?: Status | undefined;
  readonly next_owner?: string | undefined;
}

/** Makes one account of the pair of a session, and has the session become what it says. */
export const orderReconciled = (
  world: World,
  target: Target,
  input: Reconciling,
  answer?: (told: JsonObject, texts: ReadonlyMap<string, string>) => JsonObject,
): Order<JsonObject> => {
  let told: { readonly because: string; readonly against: readonly string[] } = { because: '', against: [] };
  return orderDocuments(
    world,
    target,
    (worked, seen, { origin }) => {
      // Of what cannot be read there is no account; who repairs is told with the rest.
      const untaken =
        answer === undefined ? refuseUntaken(seen, 'No account can be made of the two documents') : undefined;
      if (untaken !== undefined) return err(untaken);
      const standing = standingTexts(worked);
      const isConflict = seen !== undefined && seen.conflicts.length > 0;
      // Who repairs has the documents whole again first.
      const whole = (half: Half, text: string): Sections =>
        answer === undefined
          ? readSections(text)
          : mend(halves[half], readSections(text), bodiesAs(worked.session, half));
      const found = (half: Half): string => seen?.found[half].text ?? standing[half];
      const [transfer, state] = [whole('handover', found('handover')), whole('session_state', found('session_state'))];
      const evidence = evidenceOf(world, worked.session, state);
      const { change, because } = reconcile(
        transfer,
        state,
        { status: input.status, owner: input.next_owner, by: input.updated_by },
        evidence,
      );
      // Who is next of another kind follows from who writes, whatever the documents say.
      const owner = keepsOwner(worked.session) ? change.next_owner : input.next_owner;
      told = { because, against: evidence.against };
      const override = `reconciled: ${because}`;
      const isReopened = worked.session.common.status === 'closed' && change.status !== 'done';
      const reopened = isReopened
        ? decideReopen(worked.session, override, isOverForGood(worked.session) ? override : undefined)
        : ok([]);
      if (!reopened.ok) return reopened;
      // One of the sides is written over: both are in the log before that.
      const ahead = [...reopened.value, ...(isConflict ? [asFound(worked.session, seen)] : [])];
      const session = behind(worked.session, ahead, origin);
      const mended = (half: Half): string => printSections(whole(half, isConflict ? found(half) : standing[half]));
      const over = {
        ...(isConflict ? foundIn(seen) : {}),
        ...(answer === undefined
          ? {}
          : { handover: mended('handover'), session_state: mended('session_state'), isMended: !isConflict }),
      };
      const changed = decideChange(
        { ...worked, session },
        { ...change, next_owner: owner },
        { ...input, override },
        origin,
        over,
      );
      return changed.ok ? ok({ ...changed.value, events: [...ahead, ...changed.value.events] }) : changed;
    },
    (session, texts) => {
      const { documents } = session.common;
      const paths = [
        ...(documents?.handover === null || documents === undefined
          ? []
          : [[documents.handover, texts.handover] as const]),
        [documents?.sessionState ?? '', texts.session_state] as const,
      ];
      return (answer ?? ((plain: JsonObject) => plain))(
        { ...pairAnswer(world, session), because: told.because, contradictions: [...told.against] },
        new Map(paths),
      );
    },
    { conflicts: 'settle' },
  );
};

/** The sections of a half as the session says them. */
const bodiesAs = (session: OpenedSession, half: Half): ReturnType<typeof bodiesOf> => {
  const { documents } = session.common;
  if (documents === undefined) throw new Error(`${session.key} has no documents`);
  const { at, actor } = documents.last;
  const mark = { updatedAt: at, updatedBy: actor, pointer: pointerFrom(half, documents) };
  return bodiesOf(halves[half], pairFieldsOf(session), mark);
};

/** What lies in the files: the account is written into that, where it could not be taken in. */
const foundIn = ({ found: { handover, session_state: state } }: SeenPair) => ({
  handover: handover.text,
  session_state: state.text,
  taken: [handover, state].flatMap(({ digest }) => digest ?? []),
});

/** The texts of the files that say two things, as they are, with what they say. */
const asFound = ({ key, common }: OpenedSession, { found, conflicts }: SeenPair): DecidedEvent => {
  if (common.documents === undefined) throw new Error(`${key} has no documents`);
  const texts = Object.entries(found).flatMap(([half, { text }]) =>
    text === undefined ? [] : [[half, { text, differs: {} }] as const],
  );
  return kernelEvent('DocumentEdited', {
    ...whereToData(common.documents),
    origin: 'file',
    texts: Object.fromEntries(texts),
    conflicts: conflicts.map((one) => ({ ...one })),
  });
};

/** What is seen of the work that speaks against what the documents say. */
const evidenceOf = (
  { files, places }: Pick<World, 'files' | 'places'>,
  session: OpenedSession,
  state: Sections,
): Evidence => {
  const failed = session.common.journal?.recent.validation?.at(-1);
  const awaited = new Set(awaitedOf(session));
  const missing = listItems(bodyOf(state, 'Files touched'))
    .flatMap(pathsNamed)
    .filter((path) => !path.startsWith('/') && !awaited.has(path) && !files.exists(`${places.here.root}/${path}`));
  const said = labelled(bodyOf(state, 'Validation snapshot'), 'Failed');
  return {
    against: [
      ...(failed?.exitCode !== undefined && failed.exitCode !== 0
        ? [`the newest validation failed: ${failed.text}`]
        : said.map((one) => `a validation failed: ${one}`)),
      ...[...new Set(missing)].map((path) => `${path} is named, and is not there`),
    ],
  };
};
