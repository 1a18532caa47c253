import * as v from 'valibot';
import { textAt, textsAt } from '../../kernel/answer.ts';
import type { DecidedEvent } from '../../kernel/event.ts';
import { choice, optionalName, optionalText, requiredName, requiredText } from '../../kernel/fields.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import type { VerbRefusal } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, type Result } from '../../lib/result.ts';
import { changeFields, type Change } from './edit.ts';
import { pairFieldsOf } from './fields.ts';
import { printLease } from './lease-file.ts';
import { faultsOf, heldToJson, type Held } from './lease.ts';
import { standingTexts } from './live.ts';
import { textIn, type Half } from './print.ts';
import type { SeenPair } from './seen.ts';
import { statuses } from './statuses.ts';
import { reportText } from './verdict.ts';
import { currentPath, leasePath, locateLive, withTexts, type Look } from './workspace.ts';
import { keepsOwner, type Signed } from './write.ts';

/** What the verbs with which somebody comes to the documents and leaves them have in common. */

/** Their fields. */
export const workingFields = () => ({
  holder: requiredName('Who works on it: a person or an agent.'),
  task: v.optional(requiredText('What it is to come to.')),
  updated_by: optionalName('Who says so. Default: the holder.'),
  status: v.optional(choice(statuses, 'The status')),
  next_owner: optionalName('Who is to act next. Default: the holder.'),
  last_updated: optionalText('When, for example 2026-03-12T09:01:15+01:00. Default: now.'),
  ...changeFields(),
  override: v.optional(requiredText('Why the status is taken although that is no transition.')),
  root: optionalText('The folder of the documents. Default: the one of this project.'),
  start_dir: optionalText('The folder to look from. Default: the current one.'),
});

/** What is said in them. */
export interface WorkingInput extends Change {
  readonly holder: string;
  readonly purpose?: string | undefined;
  readonly updated_by?: string | undefined;
  readonly last_updated?: string | undefined;
  readonly override?: string | undefined;
  readonly root?: string | undefined;
  readonly start_dir?: string | undefined;
}

/** What is written into the pair: whoever works on it is its owner, and at what they are said to be. */
export const changeOf = (input: WorkingInput, session?: OpenedSession): Change & Signed => ({
  ...input,
  updated_by: input.updated_by ?? input.holder,
  next_owner: input.next_owner ?? (session === undefined || keepsOwner(session) ? input.holder : undefined),
  current_step: input.current_step ?? input.purpose,
});

/**
 * What may be looked at below the root, as it is to be behind a commit: its files are written after that. A file from which
 * nothing could be taken is left as it is.
 */
export const lookBehind = (
  look: Look,
  { common: { documents, lease } }: OpenedSession,
  texts: Readonly<Record<Half, string>>,
  { archived = [], seen }: { readonly archived?: readonly DecidedEvent[]; readonly seen?: SeenPair | undefined } = {},
): Look => {
  if (documents === undefined) return look;
  const files = new Map<string, string | null>(archived.flatMap(archivedTexts));
  const put = (half: Half, path: string): void => {
    if (seen?.found[half].problem === undefined) files.set(path, texts[half]);
  };
  if (documents.handover !== null) put('handover', documents.handover);
  put('session_state', documents.sessionState);
  if (lease !== null) files.set(leasePath, printLease(lease, documents));
  else if (documents.leaseSeq !== null) files.set(leasePath, null);
  return withTexts(look, files);
};

const archivedTexts = ({ type, data }: DecidedEvent): readonly (readonly [string, string])[] => {
  if (type !== 'PairArchived') return [];
  const put = (half: Half, path: unknown): readonly (readonly [string, string])[] => {
    const text = textIn({ data, cause: '' }, half)?.text;
    return typeof path === 'string' && text !== undefined ? [[path, text]] : [];
  };
  return [
    ...put('handover', data['handover']),
    ...put('session_state', data['session_state']),
    ...put('handover', data['superseded']),
  ];
};

/** The texts of the documents of a session that events hold. */
export const textsIn = (
  session: OpenedSession,
  events: readonly DecidedEvent[],
  cause: string,
): Readonly<Record<Half, string>> => {
  const newest = (half: Half) =>
    events
      .filter(({ type }) => type === 'DocumentEdited')
      .map(({ data }) => textIn({ data, cause }, half))
      .findLast((text) => text !== undefined);
  return standingTexts({ session, bases: { handover: newest('handover'), session_state: newest('session_state') } });
};

/** How the pair was found. */
export const sourceOf = (look: Look): string => {
  const live = locateLive(look);
  return live?.sessionState === currentPath ? live.source : 'session';
};

/** That nothing was done, and why: what is reported beside a refusal. */
export const refusedToJson = (held: Held, refusal: Refusal): JsonObject => {
  const { look, session } = held;
  const lease = heldToJson(held);
  const live = locateLive(look);
  const { documents } = session?.common ?? {};
  const whole = (path: string | null | undefined): string =>
    path === null || path === undefined ? 'None' : `${look.root}/${path}`;
  const fields = session === undefined ? undefined : pairFieldsOf(session);
  return {
    result: 'error',
    action: 'none',
    docs_root: look.root,
    handover: whole(documents === undefined ? live?.handover : documents.handover),
    session_state: whole(documents === undefined ? live?.sessionState : documents.sessionState),
    status: fields?.status ?? 'None',
    next_owner: fields?.owner ?? 'None',
    lease: { state: lease['state'] ?? 'none', ...leaseOf(lease) },
    warnings: [...textsAt(lease, 'warnings')],
    errors: [...faultsOf(refusal)],
  };
};

/** Of a lease who holds it, for what, and until when. */
export const leaseOf = ({
  holder = 'None',
  purpose = 'None',
  expires_at: expiresAt = 'None',
}: JsonObject): JsonObject => ({ holder, purpose, expires_at: expiresAt });

export const refused = (held: Held, refusal: Refusal): Result<never, VerbRefusal> =>
  err({ report: refusedToJson(held, refusal), refusal });

/** The answer for a person; `more` are the lines of one of the verbs. */
export const workingText = (answer: JsonObject, more: readonly (readonly [label: string, value: string])[]): string =>
  reportText(answer, [
    ['Result', textAt(answer, 'result')],
    ['Action', textAt(answer, 'action')],
    ['Docs root', textAt(answer, 'docs_root')],
    ['Handover', textAt(answer, 'handover') || 'None'],
    ['Session-state', textAt(answer, 'session_state')],
    ['Status', textAt(answer, 'status')],
    ['Next owner', textAt(answer, 'next_owner') || 'None'],
    ...more,
  ]);

/** What a report warns of, each once: what is broken somewhere keeps nobody from working. */
export const warningsOf = (report: JsonObject): readonly string[] => [
  ...new Set([...textsAt(report, 'errors'), ...textsAt(report, 'warnings')]),
];
