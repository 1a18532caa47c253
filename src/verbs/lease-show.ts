import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { fieldLines, textAt } from '../kernel/answer.ts';
import { sessionField } from '../kernel/fields.ts';
import { holderOf, isMine, leaseFacts, leaseToJson } from '../kernel/lease.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const leaseShow = defineVerb({
  name: 'lease show',
  summary: 'Who holds the session, and since when?',
  details: `state is none, active, expired, or stale: not expired, but whoever was named with the claim is proved to be gone, or its clock was ahead and nobody is seen (clock_ahead). alive says what can be seen of the holder from here: alive or dead only on its own machine and where a pid was given; where nothing is seen, dead if its process has ended on record, else unknown. refused counts the commands of others that were refused since it was claimed.`,
  examples: ['stint lease show', 'stint lease show --session review:2026-03-17-main --json'],
  input: () => v.strictObject({ session: sessionField() }),
  positionals: ['session'],
  does: {
    reads: async (world, input) => {
      const row = await resolve(world, input.session);
      if (!row.ok) return err({ refusal: row.error });
      const { store, caller, host, places } = world;
      const session = await store.load(row.value.key);
      if (session === undefined) throw new Error(`${row.value.key} has a row and no events`);
      const facts = leaseFacts({ ...session, renewals: await store.renewals(row.value.key) }, caller, host);
      const lease = leaseToJson(facts);
      const refused = lease === null ? { count: 0, at: null } : await store.refusals(row.value.key);
      return ok({
        session: row.value.key,
        session_id: row.value.name,
        ...(lease ?? { state: 'none' }),
        ...(lease === null
          ? {}
          : {
              mine: isMine(facts, holderOf(world, places.here.id ?? '')),
              refused: refused.count,
              last_refused_at: refused.at,
            }),
      });
    },
  },
  text: (answer) => {
    const session = textAt(answer, 'session');
    const state = textAt(answer, 'state');
    if (state === 'none') return `${session}: nobody holds it\nnext: stint lease claim --session ${session}`;
    return fieldLines([
      [
        session,
        `${state}${answer['clock_ahead'] === true ? ', its clock is ahead' : ''}${answer['mine'] === true ? ', yours' : ''}`,
      ],
      ['holder', textAt(answer, 'holder')],
      ['from', `${textAt(answer, 'user')} on ${textAt(answer, 'host')}, worktree ${textAt(answer, 'worktree')}`],
      ['conversation', textAt(answer, 'agent_session')],
      ['for', textAt(answer, 'purpose')],
      ['token', textAt(answer, 'token')],
      ['claimed', textAt(answer, 'claimed_at')],
      ['renewed', textAt(answer, 'renewed_at')],
      ['expires', textAt(answer, 'expires_at')],
      [
        'process',
        [textAt(answer, 'process'), textAt(answer, 'pid') === '' ? '' : `pid ${textAt(answer, 'pid')}`]
          .filter((part) => part !== '')
          .join(', '),
      ],
      ['alive', textAt(answer, 'alive')],
      [
        'refused',
        answer['refused'] === 0
          ? ''
          : `${textAt(answer, 'refused')} writes of others, the last at ${textAt(answer, 'last_refused_at')}`,
      ],
    ]);
  },
});
