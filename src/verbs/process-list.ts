import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { objectsAt, table, textAt } from '../kernel/answer.ts';
import { flag, sessionFilter } from '../kernel/fields.ts';
import { processesToJson } from '../kernel/process-json.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const processList = defineVerb({
  name: 'process list',
  summary: 'Which processes work on what, and do they live?',
  details: `Without --session those of all open sessions; --all those of closed ones too. status is what is on record (running, done, crashed, cancelled, orphaned); liveness is what can be seen now of one that runs: alive or dead by its pid on this machine, quiet after 15 minutes without a sign, else unknown. What is dead is recorded by stint process sweep.`,
  examples: ['stint process list', 'stint process list --all --json'],
  aliases: [{ name: 'session list', flags: { workflow: 'session' } }],
  input: () => v.strictObject({ session: sessionFilter(), all: flag('Those of closed sessions too.') }),
  does: {
    reads: async (world, input) => {
      const { store, host, caller } = world;
      const row = input.session === undefined ? undefined : await resolve(world, input.session);
      if (row?.ok === false) return err({ refusal: row.error });
      const processes = await store.processes(row === undefined ? {} : { session: row.value.key });
      const open =
        row === undefined && input.all !== true
          ? new Set((await store.rows({ status: 'active' })).map(({ key }) => key))
          : undefined;
      const meant = processes.filter((process) => open?.has(process.session) ?? true);
      return ok({ processes: [...processesToJson(meant, host, caller.now)] });
    },
  },
  text: (answer) => {
    const processes = objectsAt(answer, 'processes');
    if (processes.length === 0) return 'no processes\nnext: stint process start --kind KIND';
    return table([
      ['ID', 'PROCESS', 'KIND', 'STATUS', 'SESSION', 'HOST', 'PID', 'HEARD OF'],
      ...processes.map((process) => [
        textAt(process, 'id'),
        textAt(process, 'called'),
        textAt(process, 'kind'),
        textAt(process, 'status') === 'running'
          ? `running (${textAt(process, 'liveness')})`
          : `${textAt(process, 'status')}${textAt(process, 'exit_code') === '' ? '' : ` (${textAt(process, 'exit_code')})`}`,
        textAt(process, 'session'),
        textAt(process, 'host'),
        textAt(process, 'pid'),
        textAt(process, 'last_heartbeat_at'),
      ]),
    ]);
  },
});
