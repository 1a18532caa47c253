import { fieldLines, textAt } from '../../kernel/answer.ts';
import type { OpenedSession } from '../../kernel/session.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { pairFieldsOf } from './fields.ts';

/** What verbs answer that have written the documents of a session. */
export const pairAnswer = (world: World, session: OpenedSession): JsonObject => {
  const { documents } = session.common;
  if (documents === undefined) throw new Error(`${session.key} has no documents`);
  const { status, owner } = pairFieldsOf(session);
  const root = `${world.places.here.root}/${documents.root}`;
  return {
    docs_root: root,
    handover: documents.handover === null ? null : `${root}/${documents.handover}`,
    session_state: `${root}/${documents.sessionState}`,
    status,
    next_owner: status === 'done' ? 'None' : owner,
  };
};

/** The same for a person. */
export const pairText = (what: string, answer: JsonObject): string =>
  [
    `${what}: status=${textAt(answer, 'status')}, next_owner=${textAt(answer, 'next_owner') || 'None'}`,
    fieldLines([
      ...(textAt(answer, 'handover') === '' ? [] : [['Handover', textAt(answer, 'handover')] as const]),
      ['Session-state', textAt(answer, 'session_state')] as const,
    ]),
  ].join('\n');
