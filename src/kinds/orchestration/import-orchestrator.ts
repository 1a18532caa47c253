import * as v from 'valibot';
import { keyOf } from '../../kernel/address.ts';
import { openIn } from '../../kernel/current.ts';
import { flag, optionalText } from '../../kernel/fields.ts';
import { orderTakings, takingsText, type Taking } from '../../kernel/take-over-order.ts';
import { cleanJson, defineVerb } from '../../kernel/verb.ts';
import type { Json } from '../../lib/canonical-json.ts';
import { ok } from '../../lib/result.ts';
import { kindName } from './documents.ts';
import type { SessionToTake } from './found-sessions.ts';

export const importOrchestrator = defineVerb({
  name: 'import orchestrator',
  summary: 'Take over sessions of an orchestrator of agents.',
  details: `Reads .claude/orchestrator-session.json and the files in .claude/orchestrator-history, in every form that was ever written. What is not JSON in one is mended where nothing is lost by it, and each place is told with line and column. A session comes over with its times: open, paused or closed as it was; what lies in the history is closed. An agent that was at work is in doubt here, because nobody knows what it has done. A session that says it is complete while agents are not goes on, and in the history counts as given up. Of several files of one session a whole one is taken, of those the one that was written last. What could not be taken as it was stands in problems; files of other programs, and those that were not taken, in ignored, with what helps.

Nothing is chosen for anybody: of a git conflict, or of two documents in one file, both sides are told, and --choose says which one counts. A file of which something is lost is taken with --salvage only, and the copies that may still have it are named; it takes nothing away from what was taken over before; --last-good takes the newest of them that is whole. One of a newer version is left as it is. A checkout has one open session at a time: a second one is left alone. Where nothing is taken, and something could not be, the exit code says why (2, 6, 13, 14), with the same report.

The original is never changed: its files stay what they are until something happens to the session here. Then they are kept beside ours. --dry-run shows what would be taken. Doing it again takes what is new of a session; one that has gone on here since is left alone.`,
  examples: [
    'stint import orchestrator --dry-run',
    'stint import orchestrator ../old-checkout --json',
    'stint import orchestrator .claude/orchestrator-session.json --choose ours',
  ],
  input: () =>
    v.strictObject({
      path: optionalText('A checkout, a folder of such files, or one of them. Default: this checkout.'),
      choose: optionalText('Which side counts where a file holds several: ours, theirs, base; first, second, third.'),
      salvage: flag('Take what is left of a file of which something is lost.'),
      last_good: flag('Instead of a file that is damaged take the newest copy of it that is whole.'),
    }),
  positionals: ['path'],
  contradiction: ({ salvage, last_good: lastGood }) =>
    salvage === true && lastGood === true ? '--salvage and --last-good do not go together' : undefined,
  creates: true,
  does: {
    writes: async (world, { path, choose, salvage, last_good: lastGood }) => {
      const { findSessions } = await import('./found-sessions.ts');
      const found = await findSessions(world, path, { choice: choose, salvage, lastGood });
      if (!found.ok) return found;
      const { decideTakeOver } = await import('../../kernel/take-over.ts');
      const { leftSession } = await import('./left-session.ts');
      const { here } = world.places;
      const { open, guard } = await openIn(world, { name: kindName }, here);
      const { source, sessions, ignored } = found.value;
      const clean = await cleaned(sessions, world.caller.redact);
      let openKey = open?.key;
      const takings = clean.map((session): Taking => {
        const { document } = session.found;
        const key = keyOf(kindName, document.session_id);
        const left = leftSession(session, here.worktree);
        const other = left.closed === null && openKey !== key ? openKey : undefined;
        if (left.closed === null) openKey ??= key;
        return {
          ...session,
          key,
          notes: [],
          decide: (before) => {
            const taken = decideTakeOver(before, left);
            if (other === undefined || !taken.ok || taken.value.events.length === 0) return taken;
            const why = `${other} is open in this checkout, which has one at a time.`;
            return ok({ result: 'left', why, events: [] });
          },
        };
      });
      return orderTakings(world, { source, takings, ignored, guards: [guard] });
    },
  },
  text: takingsText,
});

/** A session as it may be stored, with how often each rule of the scanner fired. */
type CleanSession = SessionToTake & { readonly secrets: Readonly<Record<string, number>> };

/** What was found without the secrets in it: what others wrote is no safer than what is given. Names stay what they are. */
const cleaned = async (sessions: readonly SessionToTake[], redact: boolean): Promise<readonly CleanSession[]> => {
  const clean: CleanSession[] = [];
  for (const session of sessions) {
    const { found, problems } = session;
    const told: Json = JSON.parse(JSON.stringify({ found, problems }));
    const { value, found: secrets } = await cleanJson(told, redact);
    // Texts are replaced by texts: what it is made of stays.
    const safe = value as unknown as Pick<SessionToTake, 'found' | 'problems'>;
    const { session_id, agents } = found.document;
    const document = {
      ...safe.found.document,
      session_id,
      agents: safe.found.document.agents.map((agent, index) => ({ ...agent, id: agents[index]?.id ?? agent.id })),
    };
    clean.push({ ...session, ...safe, found: { ...safe.found, document }, secrets });
  }
  return clean;
};
