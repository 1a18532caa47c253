import * as v from 'valibot';
import { resolveProcess } from '../kernel/address.ts';
import { textAt } from '../kernel/answer.ts';
import { optionalText } from '../kernel/fields.ts';
import { refuseEnded } from '../kernel/process-rules.ts';
import { livenessOf, processToJson } from '../kernel/process.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';

export const processBeat = defineVerb({
  name: 'process beat',
  summary: 'Say that a process is alive.',
  details: `Kept beside the log: a heartbeat is no event. An old one means quiet, never dead. A process that has ended is refused (5).`,
  examples: ['stint process beat 01KX2QZ6', 'STINT_PROCESS=01KX2QZ6 stint process beat'],
  aliases: [{ name: 'session beat' }],
  input: v.strictObject({
    id: optionalText('The id of the process, or the first characters of it. Default: STINT_PROCESS.'),
  }),
  positionals: ['id'],
  does: {
    maintains: async (world, input) => {
      const { store, caller, host } = world;
      if (store.readOnly !== undefined) return err({ refusal: store.readOnly });
      const process = await resolveProcess(world, input.id);
      if (!process.ok) return err({ refusal: process.error });
      await store.beat(process.value.id, caller.now);
      const [after] = await store.processes({ id: process.value.id });
      if (after === undefined || after.endedAt !== null) return err({ refusal: refuseEnded(after ?? process.value) });
      return ok(processToJson(after, livenessOf(after, host, caller.now)));
    },
  },
  text: (answer) => `${textAt(answer, 'id')}  heard of at ${textAt(answer, 'last_heartbeat_at')}`,
});
