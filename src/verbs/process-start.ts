import * as v from 'valibot';
import { resolve } from '../kernel/address.ts';
import { orderOne } from '../kernel/dispatch.ts';
import { choice, optionalCount, optionalName, optionalText, sessionField } from '../kernel/fields.ts';
import { decideProcess, decideStart, processIn, refusePid } from '../kernel/process-rules.ts';
import { processKinds } from '../kernel/process.ts';
import { defineVerb } from '../kernel/verb.ts';
import { err, ok } from '../lib/result.ts';
import { textAt } from '../kernel/answer.ts';

export const processStart = defineVerb({
  name: 'process start',
  summary: 'Record a process that works on the session.',
  details: `Answers its id, and nothing else. A supervisor owns the work: when it is found dead, the instances that name it with --parent, or that started while it was the newest one that ran, end with it. Without a supervisor an instance stands for itself.

--pid is what tells later, on this machine, that the process is gone; leave it out where no pid lasts as long as the work (the pid of a single command or of the shell around it says nothing). Give the process its id in STINT_PROCESS: finish then spares it, and next actions are computed without it.`,
  examples: [
    'stint process start --kind supervisor --role lead --vendor claude-code --pid 4711',
    'stint process start --kind instance --role reviewer --persona principal --instance 1 --json',
  ],
  aliases: [
    { name: 'session start-instance', flags: { workflow: 'session' }, sets: { kind: 'instance' }, prints: 'id' },
  ],
  printsValue: true,
  input: () =>
    v.strictObject({
      kind: choice(processKinds, 'What it is'),
      role: optionalName('What it does in this work, for example reviewer.'),
      persona: optionalName('Whose eyes it has, for example principal.'),
      instance: optionalCount('Its number among those of the same persona.'),
      name: optionalName('What it is called. Default: persona and number.'),
      vendor: optionalName('Whose agent it is, for example claude-code.'),
      model: optionalName('The model that answers.'),
      phase: optionalName('The phase or step that it works on.'),
      pid: optionalCount('The pid of the running program on this machine.', 1, 2 ** 31 - 1),
      parent: optionalText('The id of its supervisor. Default, for an instance: the newest one that runs.'),
      note: optionalText('A remark.'),
      session: sessionField(),
    }),
  does: {
    writes: async (world, input) => {
      const row = await resolve(world, input.session, {
        position: input.phase,
        beside: `process start --kind ${input.kind}`,
      });
      if (!row.ok) return row;
      const { host, caller } = world;
      const pidStart = input.pid === undefined ? null : host.startOf(input.pid);
      if (pidStart === undefined) {
        return err(refusePid(input.pid ?? 0, host));
      }
      const id = caller.freshId();
      const start = {
        id,
        kind: input.kind,
        role: input.role ?? null,
        persona: input.persona ?? null,
        instance: input.instance ?? null,
        name: input.name ?? null,
        vendor: input.vendor ?? null,
        model: input.model ?? null,
        phase: input.phase ?? null,
        parent: input.parent,
        host: host.name,
        hostId: host.id,
        pid: input.pid ?? null,
        pidStart,
        note: input.note ?? null,
      };
      return ok({
        journalOnly: true,
        processes: [],
        ...orderOne(
          row.value.key,
          (session) => decideProcess(session, (running) => decideStart(running, start), { mustBeOpen: true }),
          (after) => processIn(after, id, world),
        ),
      });
    },
  },
  // Alone, so that a shell can keep it.
  text: (answer) => textAt(answer, 'id'),
});
