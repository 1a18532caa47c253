import * as v from 'valibot';
import { findKind } from '../kernel/address.ts';
import { objectsAt, table, textAt } from '../kernel/answer.ts';
import { flag, optionalText } from '../kernel/fields.ts';
import { rowToJson } from '../kernel/query.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';
import { truncate } from '../lib/text.ts';

export const list = defineVerb({
  name: 'list',
  summary: 'Which sessions are there?',
  details: `The open sessions of this store, those changed last first; --all lists the closed ones too.`,
  examples: ['stint list', 'stint list --all --json'],
  input: v.strictObject({
    all: flag('Closed sessions too.'),
    kind: optionalText('Only those of this kind.'),
  }),
  does: {
    reads: async (world, input) => {
      const kind = input.kind === undefined ? undefined : findKind(world.kinds, input.kind);
      if (kind?.ok === false) return err({ refusal: kind.error });
      const rows = await world.store.rows({
        ...(input.all === true ? {} : { status: 'active' as const }),
        ...(kind === undefined ? {} : { kind: kind.value.name }),
      });
      return ok({ sessions: rows.map(rowToJson), total: rows.length, all: input.all === true });
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
        textAt(session, 'outcome') === '' ? textAt(session, 'status') : textAt(session, 'outcome'),
        textAt(session, 'position'),
        truncate(textAt(session, 'branch'), 40),
        textAt(session, 'worktree'),
        textAt(session, 'updated_at'),
      ]),
    ]);
  },
});
