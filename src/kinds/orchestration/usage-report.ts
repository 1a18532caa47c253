import * as v from 'valibot';
import { textAt, textsAt } from '../../kernel/answer.ts';
import { optionalCount, sessionField } from '../../kernel/fields.ts';
import { decideOpened } from '../../kernel/lifecycle.ts';
import { orderOne } from '../../kernel/dispatch.ts';
import { defineVerb } from '../../kernel/verb.ts';
import { ok } from '../../lib/result.ts';
import { levelOf, usualWindow } from './modes.ts';
import { usageSample } from './samples.ts';
import { resolveOrchestration, stateOf } from './command.ts';

export const usageReport = defineVerb({
  name: 'usage report',
  summary: 'Say how much of the context is used, and hear whether it is to be compressed.',
  details: `The newest values are kept beside the log, since they may come often; they go on record with the next thing that happens, or with stint save. --tokens is always said; without --percentage the part of the context is worked out of it and --window.

compress is said from the percentage of the mode on (70 in default, 90 in debug, 60 in optimize, 85 in release; never above 95), warn from 15 points below. More than 20 exchanges since the last compression, and a reply of more than 3000 tokens, are reasons to warn.`,
  examples: ['stint usage report --tokens 25000 --percentage 20', 'stint usage report --tokens 90000 --json'],
  input: () =>
    v.strictObject({
      tokens: v.pipe(
        v.number((issue) => (issue.received === 'undefined' ? 'is missing' : 'expected a whole number')),
        v.integer('expected a whole number'),
        v.minValue(0, 'expected at least 0'),
        v.description('How many tokens are used.'),
      ),
      percentage: v.optional(
        v.pipe(
          v.number('expected a number'),
          v.minValue(0, 'expected at least 0'),
          v.maxValue(100, 'expected at most 100'),
          v.description('Of the context, in per cent.'),
        ),
      ),
      window: optionalCount(`How large the context is, in tokens. Default: ${usualWindow}.`),
      exchanges: optionalCount('Exchanges since the last compression.', 0),
      reply_tokens: optionalCount('Tokens of the largest reply.', 0),
      session: sessionField(),
    }),
  contradiction: ({ percentage, window }) =>
    percentage !== undefined && window !== undefined ? '--percentage and --window do not go together' : undefined,
  does: {
    writes: async (world, { tokens, percentage, window = usualWindow, exchanges, reply_tokens: reply, session }) => {
      const row = await resolveOrchestration({ ...world, joins: undefined }, session);
      if (!row.ok) return row;
      const { key } = row.value;
      const usage = { tokens, percentage: percentage ?? Math.min(100, Math.round((1000 * tokens) / window) / 10) };
      return ok({
        beside: () => [{ session: key, sample: usageSample, value: { ...usage } }],
        ...orderOne(
          key,
          (opened) => decideOpened(opened, () => ok([]), { mustBeOpen: true }),
          (after) => {
            const { level, compressAt, warnAt, reasons } = levelOf(stateOf(after).mode, usage, { exchanges, reply });
            return {
              session: key,
              session_id: after.common.name,
              context_usage: { estimated_tokens: usage.tokens, percentage: usage.percentage },
              level,
              compress_at: compressAt,
              warn_at: warnAt,
              reasons: [...reasons],
              next_action:
                level === 'compress'
                  ? { kind: 'compress', text: 'Compress the context.', command: `stint compress --session ${key}` }
                  : { kind: 'none', text: 'Nothing is to be done about it.', command: null },
            };
          },
        ),
      });
    },
  },
  text: (answer) =>
    [
      `${textAt(answer, 'level')}  compressed at ${textAt(answer, 'compress_at')} %`,
      ...textsAt(answer, 'reasons'),
      ...(answer['level'] === 'compress' ? [`next: stint compress --session ${textAt(answer, 'session')}`] : []),
    ].join('\n'),
});
