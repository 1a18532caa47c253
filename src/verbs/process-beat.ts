import * as v from 'valibot';
import { resolveProcess } from '../kernel/address.ts';
import { textAt } from '../kernel/answer.ts';
import { loadedIn, orderOne } from '../kernel/dispatch.ts';
import { optionalText } from '../kernel/fields.ts';
import { leaseFacts } from '../kernel/lease.ts';
import { renewalBy } from '../kernel/lease-rules.ts';
import { decideProcess, processIn, refuseEnded } from '../kernel/process-rules.ts';
import { isOpened, type Session } from '../kernel/session.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const processBeat = defineVerb({
  name: 'process beat',
  summary: 'Say that a process is alive.',
  details: `Kept beside the log: a heartbeat is no event. An old one means quiet, never dead. A process that has ended is refused (5). The lease of its session that was claimed with --process and this process is renewed, as long as it has not expired.`,
  examples: ['stint process beat 01KX2QZ6', 'STINT_PROCESS=01KX2QZ6 stint process beat'],
  aliases: [{ name: 'session beat' }],
  input: () =>
    v.strictObject({
      id: optionalText('The id of the process, or the first characters of it. Default: STINT_PROCESS.'),
    }),
  positionals: ['id'],
  does: {
    writes: async (world, input) => {
      const process = await resolveProcess(world, input.id);
      if (!process.ok) return process;
      const { id, session } = process.value;
      const { caller, host } = world;
      return ok({
        journalOnly: true,
        processes: [id],
        beside: (after) => {
          const found = loadedIn(after, session);
          const renewal = isOpened(found) ? renewalBy(leaseFacts(found, caller, host), id) : undefined;
          return [
            { process: id, heartbeatAt: caller.now },
            ...(renewal === undefined ? [] : [{ session, step: '', renewal }]),
          ];
        },
        ...orderOne(
          session,
          (found) => decideProcess(found, (_, of) => (of(id).endedAt === null ? ok([]) : err(refuseEnded(of(id))))),
          (after) => processIn(withHeartbeat(after, id, caller.now), id, world),
        ),
      });
    },
  },
  text: (answer) => `${textAt(answer, 'id')}  heard of at ${textAt(answer, 'last_heartbeat_at')}`,
});

/** A session whose process was heard of now, as it will be read. */
const withHeartbeat = <Found extends Pick<Session, 'processes'>>(session: Found, id: string, now: string): Found => {
  const process = session.processes.get(id);
  if (process === undefined || process.heartbeatAt > now) return session;
  return { ...session, processes: new Map([...session.processes, [id, { ...process, heartbeatAt: now }]]) };
};
