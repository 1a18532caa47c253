import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { fieldLines, leaseText, nextText, objectAt, objectsAt, pausedText, textAt, textsAt } from '../kernel/answer.ts';
import { sessionField } from '../kernel/fields.ts';
import { folderIn, loadKind } from '../kernel/kinds.ts';
import { sessionAt, statusToJson, surroundingsOf } from '../kernel/query.ts';
import { defineVerb } from '../kernel/verb.ts';
import type { JsonObject } from '../lib/canonical-json.ts';
import { err, ok } from '../lib/result.ts';
import { truncate } from '../lib/text.ts';

export const status = defineVerb({
  name: 'status',
  summary: 'Where does it stand, what is missing, what comes next?',
  details: `Answers for one session: its phase and round, how complete it is, what is missing, which files are expected by now and whether they are there, and the next action with its command. Files never count as done. Exits 0 whatever the state.`,
  everyday: true,
  examples: ['stint status', 'stint status --session review:2026-03-17-main --json'],
  input: () => v.strictObject({ session: sessionField() }),
  aliases: [{ name: 'state status', flags: { 'session-id': 'session' } }],
  positionals: ['session'],
  does: {
    reads: async (world, input) => {
      const row = await resolve(world, input.session);
      if (!row.ok) return err({ refusal: row.error });
      const session = await sessionAt(world.store, row.value.key, undefined);
      if (!session.ok) return err({ refusal: session.error });
      const folder = await folderIn(world.kinds, session.value.row);
      const answer = statusToJson(session.value, await surroundingsOf(world, session.value), world, folder);
      const hasCurrent = (await loadKind(world.kinds, row.value.kind))?.current !== undefined;
      const left = hasCurrent ? await (await import('../kernel/current.ts')).leftSince(world, row.value) : [];
      return ok(left.length === 0 ? answer : { ...answer, not_taken: [...left] });
    },
  },
  text: (answer) => {
    const reason = textAt(answer, 'reason');
    const state = textAt(answer, 'outcome') === '' ? textAt(answer, 'status') : textAt(answer, 'outcome');
    return [
      fieldLines([
        [textAt(answer, 'session'), `${state}${reason === '' ? '' : ` (${reason})`}`],
        ['goal', truncate(textAt(answer, 'goal'), 300)],
        ['focus', truncate(textAt(answer, 'focus'), 300)],
        ['paused', pausedText(answer)],
        ['archived', sinceText(textAt(answer, 'archived_at'))],
        ['position', textAt(answer, 'position')],
        ['completeness', textAt(answer, 'completeness')],
        ['activity', activityText(answer)],
        ['held by', leaseText(objectAt(answer, 'lease'))],
        ['flaw', textAt(answer, 'flaw')],
        ...objectsAt(objectAt(answer, 'journal'), 'blockers').map((one): [string, string] => [
          'blocked',
          `${textAt(one, 'id')}: ${textAt(one, 'reason')}${textAt(one, 'needs') === '' ? '' : ` (needs ${textAt(one, 'needs')})`}, since ${textAt(one, 'at')} by ${textAt(one, 'actor')}`,
        ]),
        ['missing', textsAt(answer, 'missing').join('; ')],
        ['branch', textAt(answer, 'branch')],
        ['worktree', answer['here'] === true ? '' : textAt(answer, 'worktree')],
        ['updated', textAt(answer, 'updated_at')],
        ['read only', textAt(answer, 'read_only')],
        ['not taken', textsAt(answer, 'not_taken').join(' ')],
        ['resume with', textAt(objectAt(answer, 'resume'), 'command')],
        ...objectsAt(answer, 'evidence').map((one): [string, string] => [
          one['present'] === true ? 'there' : one['present'] === null ? 'elsewhere' : 'not there',
          `${textAt(one, 'path')}${one['at_least'] === undefined ? '' : ` (${textsAt(one, 'files').join(', ') || 'empty'}; at least ${textAt(one, 'at_least')})`}`,
        ]),
      ]),
      `then: ${textAt(objectAt(answer, 'next_action'), 'text')}`,
      ...nextText(answer),
    ].join('\n');
  },
});

const sinceText = (at: string): string => (at === '' ? '' : `since ${at}`);

/** Who works on it, in a line. */
const activityText = (answer: JsonObject): string => {
  const activity = textAt(answer, 'activity');
  const since = textAt(answer, 'activity_since');
  const running = objectsAt(answer, 'processes').filter((process) => textAt(process, 'status') === 'running');
  const names = running.map(
    (process) =>
      `${textAt(process, 'called')} ${textAt(process, 'liveness')}${process['here'] === false ? ` on ${textAt(process, 'host')}` : ''}`,
  );
  if (activity === 'none' && names.length === 0) return '';
  return `${activity}${since === '' ? '' : ` since ${since}`}${names.length === 0 ? '' : ` (${names.join(', ')})`}`;
};
