import { addressProblem } from '../lib/name.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { truncate } from '../lib/text.ts';
import { refuse, type Refusal } from './refusal.ts';

/**
 * Where a reader of events stands. Only the numbers within a session are without gaps and in the order of their commits, so
 * that a cursor is one number for each session: which event of it was read last.
 */
export type Cursor = ReadonlyMap<string, Position>;

/** The event of a session that was read last. */
export interface Position {
  readonly seq: number;
  /** How its hash begins; empty where nobody knows. A repair may put another event in its place. */
  readonly sign: string;
}

/** How much of a hash stands in a cursor: enough to tell another history, which nobody forges here. */
const signLength = 8;

/** The position behind an event. */
export const positionOf = ({ seq, hash }: { readonly seq: number; readonly hash: string }): Position => ({
  seq,
  sign: hash.slice(0, signLength),
});

/** A cursor as one text, which needs no quotes in a shell: `review:a@12.8f14e45f,review:b@3.c9f0f895`. */
export const cursorToText = (cursor: Cursor): string =>
  [...cursor].map(([session, { seq, sign }]) => `${session}@${seq}${sign === '' ? '' : `.${sign}`}`).join(',');

/** The cursor that a text says; an empty one stands before all events. */
export const textToCursor = (text: string): Result<Cursor, Refusal> => {
  const cursor = new Map<string, Position>();
  const trimmed = text.trim();
  for (const part of trimmed === '' ? [] : trimmed.split(',')) {
    const [, session, seq, sign = ''] = /^([^@\s]{1,300})@(0|[1-9]\d{0,14})(?:\.([0-9a-f]{8}))?$/.exec(part) ?? [];
    const problem =
      session === undefined || !session.includes(':') || addressProblem(session) !== undefined
        ? `${JSON.stringify(truncate(part, 60))} is no part of one`
        : cursor.has(session)
          ? `${session} is named twice`
          : undefined;
    if (session === undefined || problem !== undefined)
      return err(
        refuse('usage', `The cursor is not legal: ${problem}.`, {
          expected: 'what a line of stint log --follow --json has as its cursor, for example review:login@12.8f14e45f',
        }),
      );
    cursor.set(session, { seq: Number(seq), sign });
  }
  return ok(cursor);
};
