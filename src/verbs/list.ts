import * as v from 'valibot';
import { findAtWork, type AtWork } from '../kernel/abandoned.ts';
import { checkKind } from '../kernel/address.ts';
import { objectsAt, table, textAt } from '../kernel/answer.ts';
import { flag, optionalText } from '../kernel/fields.ts';
import type { Renewal } from '../kernel/lease.ts';
import type { SessionRow } from '../kernel/ports.ts';
import { activityOf, heldBy, renewalOfRow, type Activity } from '../kernel/query.ts';
import { defineVerb } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok } from '../lib/result.ts';
import { truncate } from '../lib/text.ts';

export const list = defineVerb({
  name: 'list',
  summary: 'Which sessions are there?',
  details: `The open sessions of this store, those changed last first; --all lists the closed ones too, with those in the archive. One whose processes are all dead, or whose steps were all left by whoever had them, shows as interrupted.`,
  examples: ['stint list', 'stint list --all --json'],
  input: () =>
    v.strictObject({
      all: flag('Closed sessions too.'),
      kind: optionalText('Only those of this kind.'),
    }),
  does: {
    reads: async (world, input) => {
      const unknown = input.kind === undefined ? undefined : checkKind(world.kinds, input.kind);
      if (unknown !== undefined) return err({ refusal: unknown });
      const rows = await world.store.rows({
        thorough: true,
        ...(input.all === true ? {} : { status: 'active' as const }),
        ...(input.kind === undefined ? {} : { kind: input.kind }),
      });
      const running = Map.groupBy(await world.store.processes({ running: true }), ({ session }) => session);
      const renewals = new Map<string, Renewal | undefined>();
      for (const row of rows) if (row.lease !== null) renewals.set(row.key, await renewalOfRow(world.store, row));
      const atWork = new Map<string, AtWork>();
      for (const row of rows) atWork.set(row.key, await findAtWork(world, row));
      return ok({
        sessions: rows.map((row) => {
          const renewal = renewals.get(row.key);
          return rowToJson(
            row,
            activityOf(row, running.get(row.key) ?? [], world, renewal, atWork.get(row.key)),
            heldBy(row, renewal, world),
          );
        }),
        total: rows.length,
        all: input.all === true,
      });
    },
  },
  text: (answer) => {
    const sessions = objectsAt(answer, 'sessions');
    if (sessions.length === 0)
      return answer['all'] === true
        ? 'no sessions\nnext: stint begin KIND'
        : 'no open sessions\nnext: stint begin KIND, or stint list --all';
    return table([
      ['SESSION', 'STATUS', 'POSITION', 'BRANCH', 'WORKTREE', 'UPDATED'],
      ...sessions.map((session) => [
        textAt(session, 'session'),
        stateText(session),
        textAt(session, 'position'),
        truncate(textAt(session, 'branch'), 40),
        textAt(session, 'worktree'),
        textAt(session, 'updated_at'),
      ]),
    ]);
  },
});

/** How it ended and whether it lies in the archive, since when it is paused, or whether somebody works on it. */
const stateText = (session: JsonObject): string => {
  const activity = textAt(session, 'activity');
  const state =
    textAt(session, 'outcome') !== ''
      ? `${textAt(session, 'outcome')}${textAt(session, 'archived_at') === '' ? '' : ', archived'}`
      : textAt(session, 'paused_at') !== ''
        ? `paused since ${textAt(session, 'paused_at')}`
        : activity === 'none'
          ? textAt(session, 'status')
          : textAt(session, 'held_by') !== ''
            ? `held by ${truncate(textAt(session, 'held_by'), 30)}`
            : textAt(session, 'activity_since') === ''
              ? activity
              : `${activity} since ${textAt(session, 'activity_since')}`;
  return textAt(session, 'flaw') === '' ? state : `${state}, with a gap`;
};

/** The columns of a session as lists show them. */
const rowToJson = (row: SessionRow, { activity, since }: Activity, holder: string | null) => ({
  session: row.key,
  session_id: row.name,
  kind: row.kind,
  status: row.status,
  outcome: row.outcome,
  position: row.position,
  branch: row.branch,
  worktree: row.worktree,
  started_at: row.startedAt,
  updated_at: row.updatedAt,
  closed_at: row.closedAt,
  paused_at: row.pausedAt,
  archived_at: row.archivedAt,
  revision: row.revision,
  activity,
  activity_since: since,
  held_by: holder,
  ...(row.flaw === null ? {} : { flaw: row.flaw }),
});
